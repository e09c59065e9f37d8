"""One successor of a command: that in which some draws fall as a plan counts on.

To replay a plan nobody needs the others, of which there may be millions.
"""

from __future__ import annotations

from collections.abc import Sequence

from tokenworld.engine.luck import LeaningLuck, NoUniform, in_step, in_tick
from tokenworld.engine.result import Result
from tokenworld.engine.state import State
from tokenworld.engine.step import Stepper
from tokenworld.ground import Command, LuckyDraw, Successor

__all__ = ["leads_on", "leant"]


def leads_on(result: Result) -> bool:
    """Whether a result is that of a command which was carried out, and so a successor."""
    return result.status in ("executed", "waiting", "interrupted") and result.by == "player"


def leant(
    stepper: Stepper, state: State, command: Command, draws: Sequence[LuckyDraw]
) -> Successor[State] | None:
    """What comes of a command where ``draws`` fall as listed and all others the first way that is
    possible; ``None`` where it is refused, rolled back or fails then."""
    luck = LeaningLuck(in_tick(state.drawn, draws))
    try:
        result = stepper.tick(state, command, luck)[-1]
    except NoUniform:
        return None
    if not leads_on(result):
        return None
    result.after.facts = None
    return Successor(result.after, in_step(state.drawn, luck.taken), luck.probability)
