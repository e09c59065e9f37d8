"""Syntax tree: worlds and scenarios."""

from __future__ import annotations

from typing import Literal

from tokenworld.diagnostics.frozen import frozen
from tokenworld.syntax.changes import Block
from tokenworld.syntax.declarations import ObjectDecl
from tokenworld.syntax.expressions import Expr, Ref, Template
from tokenworld.syntax.leaves import Name, Node, Number, Str

# ---- worlds -------------------------------------------------------------------------------


@frozen
class Spare(Node):
    """`spare T n`: how many unborn objects a planner may use."""

    type: Name
    count: Number


@frozen
class Legend(Node):
    """`legend "c" { … }`: what a character of the layout stands for."""

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


# ---- scenarios: what happens --------------------------------------------------------------


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


# ---- scenarios: what is checked -----------------------------------------------------------


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
