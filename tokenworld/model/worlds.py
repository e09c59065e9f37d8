"""Worlds and scenarios: a start state with its endings, and tests that play it."""

from __future__ import annotations

from typing import Literal

from tokenworld.diagnostics import Span
from tokenworld.diagnostics.frozen import frozen
from tokenworld.model.effects import Body
from tokenworld.model.terms import Template, Term

__all__ = [
    "Always",
    "Award",
    "Born",
    "CallStep",
    "Check",
    "Ending",
    "EndingKind",
    "Expect",
    "Given",
    "HoldsCheck",
    "EmitsCheck",
    "Layout",
    "Legend",
    "LostCheck",
    "Never",
    "ParamSetting",
    "PassStep",
    "RefusedCheck",
    "Replay",
    "SaysCheck",
    "Scenario",
    "ScenarioStep",
    "Seed",
    "Spare",
    "StartFile",
    "StatusCheck",
    "StatusName",
    "TypedStep",
    "UnchangedCheck",
    "UnwinnableCheck",
    "When",
    "WinnableCheck",
    "WithinCheck",
    "WonCheck",
    "World",
]

EndingKind = Literal["goal", "lose", "stop"]
StatusName = Literal[
    "executed",
    "refused",
    "rolled_back",
    "no_match",
    "yielded",
    "waiting",
    "interrupted",
    "error",
    "halted",
]
"""What one intent can come to: a closed set (language.md §9)."""


@frozen
class Ending:
    """A ``goal``, ``lose`` or ``stop`` line; ``source`` quotes the condition."""

    ending: EndingKind
    name: str
    condition: Term
    text: Template | None
    source: str
    span: Span


@frozen
class Award:
    """Added to the score once, when ``when`` first holds."""

    amount: Term
    when: Term
    span: Span


@frozen
class ParamSetting:
    name: str
    value: Term
    span: Span


@frozen
class Spare:
    """At most ``count`` unborn objects of a type for planning."""

    of: str
    count: int
    span: Span


@frozen
class Legend:
    """What a character of a layout stands for; the body sees the new cell as ``here``."""

    symbol: str
    body: Body
    span: Span


@frozen
class Layout:
    """A map: one object of type ``of`` per character, row by row, named after type and place.

    ``x`` and ``y`` are the ids of the attributes that get the column and the row, from 0. ``step``
    is the id of the function ``(cell, direction)`` that gets the neighbours; ``directions`` holds
    ``(member of the enum, dx, dy)``. Each is empty where the type has none.
    """

    of: str
    rows: tuple[str, ...]
    legends: tuple[Legend, ...]
    x: str
    y: str
    step: str
    directions: tuple[tuple[int, int, int], ...]
    span: Span


@frozen
class Born:
    """An object that a setup or a legend always creates under its name (language.md §12)."""

    name: str
    of: str
    span: Span


@frozen
class StartFile:
    """A recorded state to begin with: ``text`` is the file's JSON (``tw-state/1``)."""

    path: str
    text: str
    span: Span


@frozen
class World:
    """A start state and its endings. Objects live in `Program.objects` with ``world`` set.

    The start state is made in this order: objects, layouts, setups, the ``start`` file. ``born``
    are the objects that layouts and setups create by name; an `ObjectLiteral` may name one.
    ``endings`` are in written order. ``time_always``: time passes after refusals too.
    ``pays`` are ``reward e when c`` lines.
    """

    name: str
    title: str
    setups: tuple[Body, ...]
    endings: tuple[Ending, ...]
    awards: tuple[Award, ...]
    pays: tuple[Award, ...]
    score: Term | None
    params: tuple[ParamSetting, ...]
    spares: tuple[Spare, ...]
    turns: tuple[str, ...]
    time_always: bool
    ambiguous: Literal["first", "ask"]
    endless: bool
    outcomes: Literal["latched", "live"]
    start: StartFile | None
    span: Span
    layouts: tuple[Layout, ...] = ()
    born: tuple[Born, ...] = ()

    @property
    def goals(self) -> tuple[Ending, ...]:
        """The ``goal`` lines in written order."""
        return tuple(line for line in self.endings if line.ending == "goal")


# ---- scenarios ------------------------------------------------------------------------


@frozen
class CallStep:
    """An intent written as a call; the arguments are constants."""

    action: str
    args: tuple[Term, ...]
    kind: Literal["call_step"] = "call_step"


@frozen
class TypedStep:
    text: str
    kind: Literal["typed_step"] = "typed_step"


@frozen
class PassStep:
    kind: Literal["pass_step"] = "pass_step"


@frozen
class HoldsCheck:
    condition: Term
    source: str
    span: Span
    kind: Literal["holds"] = "holds"


@frozen
class RefusedCheck:
    """``label`` is ``None`` where any refusal will do."""

    label: str | None
    span: Span
    kind: Literal["refused"] = "refused"


@frozen
class StatusCheck:
    status: str
    span: Span
    kind: Literal["status"] = "status"


@frozen
class UnchangedCheck:
    span: Span
    kind: Literal["unchanged"] = "unchanged"


@frozen
class WonCheck:
    name: str | None
    span: Span
    kind: Literal["won"] = "won"


@frozen
class LostCheck:
    name: str | None
    span: Span
    kind: Literal["lost"] = "lost"


@frozen
class SaysCheck:
    text: str
    span: Span
    kind: Literal["says"] = "says"


@frozen
class EmitsCheck:
    event: str
    args: tuple[Term, ...]
    span: Span
    kind: Literal["emits"] = "emits"


@frozen
class WithinCheck:
    """The condition becomes true during up to ``ticks`` passes, on a copy."""

    ticks: int
    condition: Term
    source: str
    span: Span
    kind: Literal["within"] = "within"


@frozen
class WinnableCheck:
    """A plan of at most ``within`` ticks exists (of any length if ``None``)."""

    within: int | None
    span: Span
    kind: Literal["winnable"] = "winnable"


@frozen
class UnwinnableCheck:
    span: Span
    kind: Literal["unwinnable"] = "unwinnable"


Check = (
    HoldsCheck
    | RefusedCheck
    | StatusCheck
    | UnchangedCheck
    | WonCheck
    | LostCheck
    | SaysCheck
    | EmitsCheck
    | WithinCheck
    | WinnableCheck
    | UnwinnableCheck
)


@frozen
class Given:
    """Edits the state between ticks; ``params`` override params for this scenario."""

    body: Body
    params: tuple[ParamSetting, ...]
    span: Span
    kind: Literal["given"] = "given"


@frozen
class Seed:
    seed: int
    span: Span
    kind: Literal["seed"] = "seed"


@frozen
class When:
    """One tick per repetition; ``by`` names the actor."""

    intent: CallStep | TypedStep | PassStep
    by: str | None
    times: int
    source: str
    span: Span
    kind: Literal["when"] = "when"


@frozen
class Expect:
    checks: tuple[Check, ...]
    span: Span
    kind: Literal["then"] = "then"


@frozen
class Always:
    condition: Term
    source: str
    span: Span
    kind: Literal["always"] = "always"


@frozen
class Never:
    condition: Term
    source: str
    span: Span
    kind: Literal["never"] = "never"


@frozen
class Replay:
    path: str
    span: Span
    kind: Literal["replay"] = "replay"


ScenarioStep = Given | Seed | When | Expect | Always | Never | Replay


@frozen
class Scenario:
    title: str
    world: str
    steps: tuple[ScenarioStep, ...]
    span: Span
