"""What can matter for the goal of an exported pair, by the names of predicates and functions.

Every action advances the tick, so no planner sees by itself that one which changes nothing of
importance does no more than waiting does.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from tokenworld.planning.pddl.tree import Expr, PddlAction, PddlPair, heads

__all__ = ["sliced"]

_CHANGES = ("increase", "decrease", "assign", "scale-up", "scale-down")


def sliced(pair: PddlPair, forced: Collection[str], waiting: str) -> PddlPair:
    """The pair without what cannot matter; effects stand alone, as `numeric` spreads them.

    ``forced`` names the actions of phases and ``waiting`` the one that only lets a tick pass: what
    it does is kept everywhere.
    """
    actions = {action.name.lower(): action for action in pair.domain.actions}
    always = actions[waiting.lower()].effects
    matters = set(heads(pair.problem.goal))
    for effect in always:
        matters.add(_written(effect))
    for name in forced:
        matters |= set(heads(actions[name.lower()].precondition))
    size = -1
    while len(matters) != size:
        size = len(matters)
        for action in pair.domain.actions:
            matters |= set(_asked(action, matters, always, action.name.lower() in forced))
        for derived in pair.domain.derived:
            if derived.head.name in matters:
                matters |= set(heads(derived.condition))
    kept = tuple(
        replace(action, effects=tuple(_kept(action, matters)))
        for name, action in actions.items()
        if name in forced or name == waiting.lower() or _useful(action, matters, always)
    )
    return replace(pair, domain=replace(pair.domain, actions=kept))


def _kept(action: PddlAction, matters: Collection[str]) -> Iterator[Expr]:
    for effect in action.effects:
        if _written(effect) in matters:
            yield effect


def _useful(action: PddlAction, matters: Collection[str], always: Collection[Expr]) -> bool:
    """Whether an action does more that matters than waiting does."""
    return any(effect not in always for effect in _kept(action, matters))


def _asked(
    action: PddlAction, matters: Collection[str], always: Collection[Expr], forced: bool
) -> Iterator[str]:
    """What decides whether a useful action can be taken, and what it then does."""
    if forced or _useful(action, matters, always):
        yield from heads(action.precondition)
        for effect in _kept(action, matters):
            yield from heads(effect)


def _written(effect: Expr) -> str:
    """The predicate or function that an effect changes."""
    while isinstance(effect, tuple) and effect[0] in ("forall", "when", "not", *_CHANGES):
        effect = effect[2] if effect[0] in ("forall", "when") else effect[1]
    return str(effect[0]) if isinstance(effect, tuple) and effect else str(effect)
