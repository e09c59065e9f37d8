"""The syntax tree: one frozen class per construct, a span on every node.

The classes live in the modules below by subject; this module is the one to import from.
"""

from __future__ import annotations

from tokenworld.diagnostics.frozen import frozen
from tokenworld.syntax.declarations import *
from tokenworld.syntax.expressions import *
from tokenworld.syntax.rules import *


@frozen
class QuirkDecl(Node):
    """`quirk "reason" item`: the item behaves oddly on purpose."""

    reason: Str
    item: Item


Item = (
    QuirkDecl
    | EditionDecl
    | UseDecl
    | ModelDecl
    | PddlDecl
    | UnitDecl
    | EnumDecl
    | TypeDecl
    | ObjectDecl
    | ActorDecl
    | RelationDecl
    | FunctionDecl
    | TableDecl
    | DeriveDecl
    | ParamDecl
    | EventDecl
    | PhaseDecl
    | ActionDecl
    | EffectDecl
    | LawDecl
    | BelieveDecl
    | BirthDecl
    | WatchDecl
    | InvariantDecl
    | ConserveDecl
    | CalledDecl
    | ScopeDecl
    | DescribeDecl
    | WorldDecl
    | ScenarioDecl
)


@frozen
class Comment(Node):
    """One comment, from `#` to the end of its line; `doc` marks `##`.

    `own_line` is False for a comment that follows something on its line.
    """

    text: str
    doc: bool
    own_line: bool


@frozen
class File(Node):
    """One parsed file: the items that parsed, in order, and the comments beside them."""

    items: tuple[Item, ...]
    comments: tuple[Comment, ...]
