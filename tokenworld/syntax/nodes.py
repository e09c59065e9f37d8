"""The syntax tree: one frozen class per construct, a span on every node.

The classes live in the modules below by subject; this module is the one to import from.
"""

from __future__ import annotations

from tokenworld.diagnostics.frozen import frozen
from tokenworld.syntax.changes import (
    Add,
    Block,
    Branch,
    Chance,
    Create,
    Destroy,
    Draw,
    DrawChance,
    DrawPick,
    DrawUniform,
    Effect,
    Emit,
    Field,
    For,
    If,
    Let,
    Pick,
    PickBy,
    Remove,
    Reward,
    Say,
    Set,
    Show,
    Swap,
    Transfer,
)
from tokenworld.syntax.declarations import (
    ActorDecl,
    AttributeDecl,
    CalledDecl,
    Closure,
    Default,
    DeriveDecl,
    DescribeDecl,
    EditionDecl,
    EnumDecl,
    EventDecl,
    Flag,
    FunctionDecl,
    Inverse,
    Key,
    Mark,
    ModelDecl,
    Modifier,
    ObjectDecl,
    ParamDecl,
    PddlDecl,
    PddlEntry,
    RelationDecl,
    RelationFlag,
    Row,
    ScopeDecl,
    TableDecl,
    TypeDecl,
    UnitDecl,
    UseDecl,
)
from tokenworld.syntax.expressions import (
    And,
    Attr,
    Binary,
    BinaryOp,
    Binder,
    Bound,
    Call,
    Choose,
    Compare,
    CompareOp,
    Expr,
    Fold,
    FoldAll,
    FoldKind,
    FoldOf,
    Formal,
    Implies,
    IsType,
    Kind,
    ListExpr,
    MemberOf,
    Method,
    Negative,
    Not,
    Or,
    RangeType,
    Ref,
    Slot,
    Template,
    Text,
    TypeRef,
    Was,
    Where,
)
from tokenworld.syntax.leaves import (
    Article,
    Constant,
    Name,
    NamedType,
    Node,
    Number,
    PrimitiveType,
    Qualified,
    Str,
    TextPart,
)
from tokenworld.syntax.rules import (
    ActionDecl,
    ActionStep,
    BelieveDecl,
    BirthDecl,
    Cancelled,
    ConserveDecl,
    Guess,
    GuessEach,
    InvariantDecl,
    LawDecl,
    Outcome,
    PhaseDecl,
    Require,
    Takes,
    WatchDecl,
)
from tokenworld.syntax.worlds import (
    Always,
    Ambiguous,
    Award,
    Check,
    Emits,
    Ending,
    Endless,
    Given,
    Holds,
    Intent,
    Layout,
    Legend,
    Lost,
    Never,
    OutcomePolicy,
    Pass,
    Pays,
    Random,
    Refused,
    Replay,
    Says,
    ScenarioDecl,
    Score,
    Setup,
    Spare,
    StartFile,
    StatusIs,
    Step,
    Then,
    TimePolicy,
    Tune,
    Turns,
    Typed,
    Unchanged,
    Unwinnable,
    When,
    Winnable,
    Within,
    Won,
    WorldDecl,
    WorldItem,
)


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
