"""Syntax tree: worlds and scenarios."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tokenworld.syntax.changes import Block
from tokenworld.syntax.declarations import ObjectDecl
from tokenworld.syntax.expressions import Expr, Name, Node, Number, Ref, Str, Template

# ---- worlds -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Spare(Node):
    """`spare T n`: how many unborn objects a planner may use."""

    type: Name
    count: Number


@dataclass(frozen=True, slots=True)
class Legend(Node):
    """`legend "c" { … }`: what a character of the layout stands for."""

    symbol: Str
    block: Block


@dataclass(frozen=True, slots=True)
class Layout(Node):
    """`layout T { "rows" legend … }`."""

    type: Name
    rows: tuple[Str, ...]
    legends: tuple[Legend, ...]


@dataclass(frozen=True, slots=True)
class Setup(Node):
    """`setup { … }`."""

    block: Block


@dataclass(frozen=True, slots=True)
class StartFile(Node):
    """`start "file.json"`."""

    path: Str


@dataclass(frozen=True, slots=True)
class Tune(Node):
    """`param p = v`: an override for this world."""

    name: Name
    value: Expr


@dataclass(frozen=True, slots=True)
class TimePolicy(Node):
    """`time passes always` or `time passes executed`; other words are left to the checker."""

    policy: Name


@dataclass(frozen=True, slots=True)
class Turns(Node):
    """`turns a, b`."""

    actors: tuple[Name, ...]


@dataclass(frozen=True, slots=True)
class Ambiguous(Node):
    """`ambiguous first` or `ambiguous ask`."""

    policy: Literal["first", "ask"]


@dataclass(frozen=True, slots=True)
class Endless(Node):
    """`endless`."""


@dataclass(frozen=True, slots=True)
class OutcomePolicy(Node):
    """`outcomes latched` or `outcomes live`."""

    policy: Literal["latched", "live"]


@dataclass(frozen=True, slots=True)
class Ending(Node):
    """`goal n: c "text"`, `lose n: c "text"` or `stop n: c "text"`."""

    kind: Literal["goal", "lose", "stop"]
    name: Name
    condition: Expr
    text: Template | None


@dataclass(frozen=True, slots=True)
class Award(Node):
    """`award n when c`: points, once."""

    amount: Expr
    condition: Expr


@dataclass(frozen=True, slots=True)
class Pays(Node):
    """`reward e when c`: a reward in every tick in which c holds."""

    amount: Expr
    condition: Expr


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class WorldDecl(Node):
    """`world w "Title" { … }`; items in written order."""

    name: Name
    title: Str | None
    items: tuple[WorldItem, ...]


# ---- scenarios: what happens --------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Typed(Node):
    """A quoted command, as a player would type it."""

    text: Str


@dataclass(frozen=True, slots=True)
class Pass(Node):
    """`pass`: no intent."""


Intent = Ref | Typed | Pass


@dataclass(frozen=True, slots=True)
class Given(Node):
    """`given { … }`: an edit of the state between ticks."""

    block: Block


@dataclass(frozen=True, slots=True)
class Random(Node):
    """`random n`: the seed."""

    seed: Number


@dataclass(frozen=True, slots=True)
class When(Node):
    """`when intent by actor times n`: one tick per repetition."""

    intent: Intent
    actor: Name | None
    times: Number | None


@dataclass(frozen=True, slots=True)
class Then(Node):
    """`then check, check`."""

    checks: tuple[Check, ...]


@dataclass(frozen=True, slots=True)
class Always(Node):
    """`always c`: holds after every later step."""

    condition: Expr


@dataclass(frozen=True, slots=True)
class Never(Node):
    """`never c`: fails after every later step."""

    condition: Expr


@dataclass(frozen=True, slots=True)
class Replay(Node):
    """`replay "rows.jsonl"`."""

    path: Str


Step = Given | Random | When | Then | Always | Never | Replay


# ---- scenarios: what is checked -----------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Holds(Node):
    """An expression that must be true."""

    condition: Expr


@dataclass(frozen=True, slots=True)
class Refused(Node):
    """`refused because label`."""

    label: Name | None


@dataclass(frozen=True, slots=True)
class StatusIs(Node):
    """`status s`."""

    status: Name


@dataclass(frozen=True, slots=True)
class Unchanged(Node):
    """`unchanged`."""


@dataclass(frozen=True, slots=True)
class Won(Node):
    """`won` or `won name`."""

    name: Name | None


@dataclass(frozen=True, slots=True)
class Lost(Node):
    """`lost` or `lost name`."""

    name: Name | None


@dataclass(frozen=True, slots=True)
class Says(Node):
    """`says "…"`: some line contains the text."""

    text: Str


@dataclass(frozen=True, slots=True)
class Emits(Node):
    """`emits e(x)`."""

    event: Ref


@dataclass(frozen=True, slots=True)
class Within(Node):
    """`within n c`: c becomes true during up to n passes."""

    ticks: Number
    condition: Expr


@dataclass(frozen=True, slots=True)
class Winnable(Node):
    """`winnable` or `winnable within n`."""

    ticks: Number | None


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class ScenarioDecl(Node):
    """`scenario "title" in world { … }`; steps in written order."""

    title: Str
    world: Name
    steps: tuple[Step, ...]
