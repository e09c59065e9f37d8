"""Syntax tree: items that name files, types, facts and prose, worlds and scenarios."""

from __future__ import annotations

from typing import Literal

from tokenworld.diagnostics.frozen import frozen
from tokenworld.syntax.expressions import (
    Expr,
    Formal,
    Name,
    Node,
    Number,
    Ref,
    Str,
    Template,
    TypeRef,
)
from tokenworld.syntax.rules import Block, Field

# ---- files --------------------------------------------------------------------------------


@frozen
class EditionDecl(Node):
    """`edition 1`."""

    number: Number


@frozen
class UseDecl(Node):
    """`use grid.cells as g`."""

    path: tuple[Name, ...]
    alias: Name | None


@frozen
class ModelDecl(Node):
    """`model name`: the file holds beliefs."""

    name: Name


@frozen
class PddlEntry(Node):
    """`key = value, value`; the key is a setting or the name of a type."""

    key: Name
    values: tuple[Name | Str | Number, ...]


@frozen
class PddlDecl(Node):
    """`pddl { … }`: what an import must remember."""

    entries: tuple[PddlEntry, ...]


# ---- flags --------------------------------------------------------------------------------


@frozen
class Modifier(Node):
    """`static` or `secret`; `scratch` of a function that forgets."""

    kind: Literal["static", "secret", "scratch"]


@frozen
class Default(Node):
    """`= value`."""

    value: Expr


MarkKind = Literal["clamped", "unique", "nested", "ordered", "symmetric", "acyclic"]


@frozen
class Mark(Node):
    """A flag that is one word."""

    kind: MarkKind


@frozen
class Inverse(Node):
    """`inverse name`."""

    name: Name


@frozen
class Closure(Node):
    """`closure name`."""

    name: Name


Flag = Default | Mark | Inverse | Closure
RelationFlag = Mark | Closure


# ---- vocabulary ---------------------------------------------------------------------------


@frozen
class UnitDecl(Node):
    """`unit l` or `unit l = 1000ml`."""

    name: Name
    value: Number | None


@frozen
class EnumDecl(Node):
    """`enum Lock { open, closed }`, or with `<` a ladder, lowest first."""

    name: Name
    members: tuple[Name, ...]
    ladder: bool


@frozen
class AttributeDecl(Node):
    """`static x: T flags` in a type."""

    modifiers: tuple[Modifier, ...]
    name: Name
    type: TypeRef
    flags: tuple[Flag, ...]


@frozen
class TypeDecl(Node):
    """`type T : A, B { … }`; members are attributes and overriding fields, as written."""

    name: Name
    parents: tuple[Name, ...]
    members: tuple[AttributeDecl | Field, ...]


@frozen
class ObjectDecl(Node):
    """`object a, b: T "Title" aka "word" { f = e }`; without a type it is an `Object`."""

    names: tuple[Name, ...]
    type: Name | None
    title: Str | None
    aka: tuple[Expr, ...]
    fields: tuple[Field, ...]


@frozen
class ActorDecl(Node):
    """`actor me: Hero`."""

    name: Name
    type: Name


@frozen
class RelationDecl(Node):
    """`relation r(a: A, b) symmetric acyclic closure n`."""

    modifiers: tuple[Modifier, ...]
    name: Name
    params: tuple[Formal, ...]
    flags: tuple[RelationFlag, ...]


@frozen
class FunctionDecl(Node):
    """`function f(a: A): V flags`, or `scratch f(a: A): V flags`."""

    modifiers: tuple[Modifier, ...]
    name: Name
    params: tuple[Formal, ...]
    type: TypeRef
    flags: tuple[Flag, ...]


Key = Name | Number | Str


@frozen
class Row(Node):
    """`k1, k2: value` of a table; without a value the row is a fact."""

    keys: tuple[Key, ...]
    value: Expr | None


@frozen
class TableDecl(Node):
    """`table t(a: A): V { … }`; without a value type it is a static relation."""

    name: Name
    params: tuple[Formal, ...]
    type: TypeRef | None
    flags: tuple[Flag, ...]
    rows: tuple[Row, ...]


@frozen
class Naming(Node):
    """`let name = value then`, before the value of a derive."""

    name: Name
    value: Expr


@frozen
class DeriveDecl(Node):
    """`derive d(x: A): T = let n = e then value`; the lets may be missing, or several."""

    name: Name
    params: tuple[Formal, ...]
    type: TypeRef | None
    lets: tuple[Naming, ...]
    value: Expr


@frozen
class ParamDecl(Node):
    """`param rate: 1 to 9 = 3 learned`."""

    name: Name
    type: TypeRef
    value: Expr
    learned: bool


@frozen
class EventDecl(Node):
    """`event e(x: T)`."""

    name: Name
    params: tuple[Formal, ...]


# ---- prose --------------------------------------------------------------------------------


@frozen
class CalledDecl(Node):
    """`called d: Dish = text aka text, …`."""

    formal: Formal
    value: Expr
    aka: tuple[Expr, ...]


@frozen
class ScopeDecl(Node):
    """`scope x: Thing = condition`."""

    formal: Formal
    condition: Expr


@frozen
class DescribeDecl(Node):
    """`describe x: T { … }`."""

    formal: Formal
    block: Block


# ---- Syntax tree: worlds and scenarios -----------------------------------------------------------


# ---- worlds -------------------------------------------------------------------------------


@frozen
class Spare(Node):
    """`spare T n`: how many unborn objects a planner may use."""

    type: Name
    count: Number


@frozen
class Legend(Node):
    """`legend "c" { … }`: the objects that a character of the layout makes."""

    symbol: Str
    block: Block


@frozen
class Layout(Node):
    """`layout T { "rows" legend … }`."""

    type: Name
    rows: tuple[Str, ...]
    legends: tuple[Legend, ...]


@frozen
class Setup(Node):
    """`setup { … }`."""

    block: Block


@frozen
class StartFile(Node):
    """`start "file.json"`."""

    path: Str


@frozen
class Tune(Node):
    """`param p = v`: an override for this world."""

    name: Name
    value: Expr


@frozen
class TimePolicy(Node):
    """`time passes always` or `time passes executed`; other words are left to the checker."""

    policy: Name


@frozen
class Turns(Node):
    """`turns a, b`."""

    actors: tuple[Name, ...]


@frozen
class Ambiguous(Node):
    """`ambiguous first` or `ambiguous ask`."""

    policy: Literal["first", "ask"]


@frozen
class Endless(Node):
    """`endless`."""


@frozen
class OutcomePolicy(Node):
    """`outcomes latched` or `outcomes live`."""

    policy: Literal["latched", "live"]


@frozen
class Ending(Node):
    """`goal n: c "text"`, `lose n: c "text"` or `stop n: c "text"`."""

    kind: Literal["goal", "lose", "stop"]
    name: Name
    condition: Expr
    text: Template | None


@frozen
class Award(Node):
    """`award n when c`: points, once."""

    amount: Expr
    condition: Expr


@frozen
class Pays(Node):
    """`reward e when c`: a reward in every tick in which c holds."""

    amount: Expr
    condition: Expr


@frozen
class Score(Node):
    """`score = e`."""

    value: Expr


WorldItem = (
    ObjectDecl
    | Spare
    | Layout
    | Setup
    | StartFile
    | Tune
    | TimePolicy
    | Turns
    | Ambiguous
    | Endless
    | OutcomePolicy
    | Ending
    | Award
    | Pays
    | Score
)


@frozen
class WorldDecl(Node):
    """`world w "Title" { … }`; items in written order."""

    name: Name
    title: Str | None
    items: tuple[WorldItem, ...]


# ---- scenarios: steps ---------------------------------------------------------------------


@frozen
class Typed(Node):
    """A quoted command, as a player would type it."""

    text: Str


@frozen
class Pass(Node):
    """`pass`: no intent."""


Intent = Ref | Typed | Pass


@frozen
class Given(Node):
    """`given { … }`: an edit of the state between ticks."""

    block: Block


@frozen
class Random(Node):
    """`random n`: the seed."""

    seed: Number


@frozen
class When(Node):
    """`when intent by actor times n`: one tick per repetition."""

    intent: Intent
    actor: Name | None
    times: Number | None


@frozen
class Then(Node):
    """`then check, check`."""

    checks: tuple[Check, ...]


@frozen
class Always(Node):
    """`always c`: holds after every later step."""

    condition: Expr


@frozen
class Never(Node):
    """`never c`: fails after every later step."""

    condition: Expr


@frozen
class Replay(Node):
    """`replay "rows.jsonl"`."""

    path: Str


Step = Given | Random | When | Then | Always | Never | Replay


# ---- scenarios: checks --------------------------------------------------------------------


@frozen
class Holds(Node):
    """An expression that must be true."""

    condition: Expr


@frozen
class Refused(Node):
    """`refused because label`."""

    label: Name | None


@frozen
class StatusIs(Node):
    """`status s`."""

    status: Name


@frozen
class Unchanged(Node):
    """`unchanged`."""


@frozen
class Won(Node):
    """`won` or `won name`."""

    name: Name | None


@frozen
class Lost(Node):
    """`lost` or `lost name`."""

    name: Name | None


@frozen
class Says(Node):
    """`says "…"`: some line contains the text."""

    text: Str


@frozen
class Emits(Node):
    """`emits e(x)`."""

    event: Ref


@frozen
class Within(Node):
    """`within n c`: c becomes true during up to n passes."""

    ticks: Number
    condition: Expr


@frozen
class Winnable(Node):
    """`winnable` or `winnable within n`."""

    ticks: Number | None


@frozen
class Unwinnable(Node):
    """`unwinnable`."""


Check = (
    Holds
    | Refused
    | StatusIs
    | Unchanged
    | Won
    | Lost
    | Says
    | Emits
    | Within
    | Winnable
    | Unwinnable
)


@frozen
class ScenarioDecl(Node):
    """`scenario "title" in world { … }`; steps in written order."""

    title: Str
    world: Name
    steps: tuple[Step, ...]
