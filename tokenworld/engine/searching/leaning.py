"""One successor of a command: that in which some draws fall as a plan counts on.

To replay a plan nobody needs the others, of which there may be millions.
"""

from __future__ import annotations

from collections.abc import Sequence

from tokenworld.engine.luck import LeaningLuck, NoUniform
from tokenworld.engine.state import State
from tokenworld.engine.step import Stepper
from tokenworld.ground import Command, LuckyDraw, Successor

__all__ = ["LED_ON", "leant"]

LED_ON = ("executed", "waiting", "interrupted")
"""The statuses of results that are successors."""


def leant(
    stepper: Stepper, state: State, command: Command, draws: Sequence[LuckyDraw]
) -> Successor[State] | None:
    """What comes of a command where ``draws`` fall as listed and all others the first way that is
    possible; ``None`` where it is refused, rolled back or fails then."""
    luck, watches = LeaningLuck(draws), stepper.watches
    silent, watches.silent = watches.silent, True
    try:
        result = stepper.tick(state, command, luck)[-1]
    except NoUniform:
        return None
    finally:
        watches.silent = silent
    if result.status not in LED_ON:
        return None
    result.after.facts = None
    return Successor(result.after, tuple(luck.taken), luck.probability)
