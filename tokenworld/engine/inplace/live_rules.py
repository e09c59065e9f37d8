"""What all live worlds of one engine share: how its actions write in place, if they do."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from tokenworld.engine.clock import deciding_terms
from tokenworld.engine.compile import Function
from tokenworld.engine.endings import Endings
from tokenworld.engine.inplace.ground_ops import GroundOps
from tokenworld.engine.inplace.live_turns import turns_of
from tokenworld.engine.plain import plain_of, quiet_of
from tokenworld.engine.sequence import InTurn
from tokenworld.engine.simultaneous import Together
from tokenworld.engine.state import State
from tokenworld.engine.step import Stepper
from tokenworld.ground import Command, written
from tokenworld.model import calls, looks_back

__all__ = ["LiveRules", "LiveStep"]


class LiveStep(NamedTuple):
    """How an action writes in place: its function, whether that needs a `Delta` for what it says,
    and the endings that it may reach, if there are such."""

    do: Function
    speaks: bool
    settles: Endings | None


class LiveRules:
    """What all live worlds of one engine share."""

    def __init__(self, stepper: Stepper, legal: Callable[[State], Iterable[Command]]) -> None:
        self.stepper, self.legal = stepper, legal
        self.phases = tuple(one for one in stepper.phases if isinstance(one, Together))
        steps = {}
        if _is_steady(stepper):
            steps = {name: _in_place(stepper, name) for name in stepper.code.actions}
        self.steps = {name: step for name, step in steps.items() if step is not None}
        self.turns = turns_of(stepper)
        alone = not self.phases and self.turns is None and bool(self.steps)
        self.ground = GroundOps.of(stepper.code) if alone else None


def _is_steady(stepper: Stepper) -> bool:
    """Whether ticks can be made in place at all: no watches, no laws in turn, no rule that looks
    back in the tick, no law whose changes are looked at."""
    if stepper.instance.program.watches or any(isinstance(one, InTurn) for one in stepper.phases):
        return False
    touched = _touched_by_laws(stepper)
    terms = deciding_terms(stepper.instance)
    backwards = looks_back(terms) or calls(terms, "did", "busy")
    return not (stepper.phases and backwards) and not _is_looked_at(stepper, touched)


def _touched_by_laws(stepper: Stepper) -> frozenset[str]:
    program = stepper.instance.program
    bodies = (written(program.fluents, law.body) for law in program.laws.values())
    return frozenset[str]().union(*bodies)


def _is_looked_at(stepper: Stepper, touched: frozenset[str]) -> bool:
    """Whether invariants, sums or the order of contents rest on these fluents."""
    guards, by_id = stepper.guards, stepper.layout.by_id
    return (
        guards.watches_sum(touched)
        or guards.watches(touched)
        or any(by_id[one].fluent.ordered for one in touched)
    )


def _in_place(stepper: Stepper, name: str) -> LiveStep | None:
    """How an action writes in place; ``None`` where it does not."""
    plain = plain_of(stepper.code, stepper.code.actions[name].action)
    if plain is None or _is_looked_at(stepper, plain.touches):
        return None
    ends = stepper.endings.reached_by(plain.touches | _touched_by_laws(stepper))
    quiet = quiet_of(stepper.code, stepper.code.actions[name].action)
    speaks = plain.speaks and quiet is None
    return LiveStep(quiet or plain.do, speaks, stepper.endings if ends else None)
