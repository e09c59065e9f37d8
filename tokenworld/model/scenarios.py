"""Scenarios: tests that play a world from its start."""

from __future__ import annotations

from typing import Literal

from tokenworld.diagnostics import Span
from tokenworld.diagnostics.frozen import frozen
from tokenworld.model.effects import Body
from tokenworld.model.terms import Term
from tokenworld.model.worlds import ParamSetting


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
