"""The syntax tree: one frozen class per construct, a span on every node.

The classes live in the modules below by subject; this module is the one to import from.
"""

from __future__ import annotations

from tokenworld.diagnostics.frozen import frozen
from tokenworld.syntax.declarations import (
    ActorDecl,
    Always,
    Ambiguous,
    AttributeDecl,
    Award,
    CalledDecl,
    Check,
    Closure,
    Default,
    DeriveDecl,
    DescribeDecl,
    EditionDecl,
    Emits,
    Ending,
    Endless,
    EnumDecl,
    EventDecl,
    Flag,
    FunctionDecl,
    Given,
    Holds,
    Intent,
    Inverse,
    Key,
    Layout,
    Legend,
    Lost,
    Mark,
    ModelDecl,
    Modifier,
    Naming,
    Never,
    ObjectDecl,
    OutcomePolicy,
    ParamDecl,
    Pass,
    Pays,
    PddlDecl,
    PddlEntry,
    Random,
    Refused,
    RelationDecl,
    RelationFlag,
    Replay,
    Row,
    Says,
    ScenarioDecl,
    ScopeDecl,
    Score,
    Setup,
    Spare,
    StartFile,
    StatusIs,
    Step,
    TableDecl,
    Then,
    TimePolicy,
    Tune,
    Turns,
    Typed,
    TypeDecl,
    Unchanged,
    UnitDecl,
    Unwinnable,
    UseDecl,
    When,
    Winnable,
    Within,
    Won,
    WorldDecl,
    WorldItem,
)
from tokenworld.syntax.expressions import (
    And,
    Article,
    Attr,
    Binary,
    BinaryOp,
    Binder,
    Bound,
    Call,
    Choose,
    Compare,
    CompareOp,
    Constant,
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
    Name,
    NamedType,
    Negative,
    Node,
    Not,
    Number,
    Or,
    Otherwise,
    PrimitiveType,
    Qualified,
    RangeType,
    Ref,
    Slot,
    Str,
    Template,
    Text,
    TextPart,
    TypeRef,
    Was,
    Where,
)
from tokenworld.syntax.rules import (
    ActionDecl,
    ActionStep,
    Add,
    BelieveDecl,
    BirthDecl,
    Block,
    Branch,
    Cancelled,
    Chance,
    ConserveDecl,
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
    Guess,
    GuessEach,
    If,
    InvariantDecl,
    LawDecl,
    Let,
    Outcome,
    PhaseDecl,
    Pick,
    PickBy,
    Remove,
    Require,
    Reward,
    Say,
    Set,
    Show,
    Swap,
    Takes,
    Transfer,
    WatchDecl,
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
