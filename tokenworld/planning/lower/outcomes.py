"""The outcomes of the draws of a command: which sides fall, where that is possible, how it is told.

Whether a draw is taken, which number it has and which alternative of how many a side is may depend
on the state; then each such case is an outcome of its own, so that a plan can name its draws.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from tokenworld.diagnostics.frozen import frozen
from tokenworld.ground import LuckyDraw
from tokenworld.planning.lower.diagram import Diagram, Value
from tokenworld.planning.lower.variables import Taken
from tokenworld.planning.lower.world import TakenApart

__all__ = ["Outcome", "label_of", "outcomes_of"]

Allowed = Mapping[int, frozenset[int]]


@frozen
class Outcome:
    """One outcome of all draws of a command: where it can be, and the sides of the coins."""

    condition: Diagram
    coins: Allowed
    draws: tuple[LuckyDraw, ...]


def outcomes_of(world: TakenApart, coins: Sequence[Taken], condition: Diagram) -> Iterator[Outcome]:
    """All outcomes of draws in order of evaluation."""
    yield from _outcomes(world, list(coins), Outcome(condition, {}, ()))


def _outcomes(world: TakenApart, coins: list[Taken], so_far: Outcome) -> Iterator[Outcome]:
    diagrams = world.diagrams
    condition = diagrams.restrict(so_far.condition, so_far.coins)
    if condition == diagrams.false:
        return
    if not coins:
        yield Outcome(condition, so_far.coins, so_far.draws)
        return
    first, rest = coins[0], coins[1:]
    taken = diagrams.restrict(first.site.taken, so_far.coins)
    for side in first.site.order:
        shown = _shows(world, first, side, so_far.coins)
        chosen = diagrams.both(condition, diagrams.both(taken, first.site.possible(side)))
        for draws, part in label_of(world, first, side, chosen, so_far.coins):
            yield from _outcomes(world, rest, Outcome(part, shown, so_far.draws + draws))
    skipped = diagrams.both(condition, diagrams.negate(taken))
    shown = _shows(world, first, 0, so_far.coins)
    yield from _outcomes(world, rest, Outcome(skipped, shown, so_far.draws))


def _shows(world: TakenApart, coin: Taken, side: int, others: Allowed) -> Allowed:
    level = world.variables.levels.get(coin.site.coin)
    return others if level is None else {**others, level: frozenset((side,))}


def label_of(
    world: TakenApart, coin: Taken, side: int, chosen: Diagram, coins: Allowed
) -> Iterator[tuple[tuple[LuckyDraw, ...], Diagram]]:
    """How a draw that falls on ``side`` is told, with the part of the condition where it is so.

    A draw with one possible alternative is none: the interpreter lists it as little.
    """
    diagrams, site = world.diagrams, coin.site
    chosen = diagrams.restrict(chosen, coins)
    if chosen == diagrams.false:
        return
    odds = diagrams.leaf(0)
    for other in range(site.sides):
        odds = diagrams.lift("odds", _one_more, odds, site.possible(other))
    parts = (coin.number, site.choice(side), site.count(), odds)
    told = diagrams.restrict(diagrams.lift("told", _told, *parts), coins)
    title, *args = coin.unit.draw_key(world.facts)
    for label in diagrams.leaves(told):
        same = diagrams.lift(("told", label), partial(_same, label), told)
        part = diagrams.both(chosen, same)
        if part == diagrams.false:
            continue
        number, choice, count, several = (int(one) for one in str(label).split())
        draw = LuckyDraw(str(title), tuple(args), number, choice, count)
        yield ((draw,) if several > 1 else ()), part


def _same(wanted: Value, value: Value) -> bool:
    return value == wanted


def _one_more(count: Value, possible: Value) -> Value:
    return (count if isinstance(count, int) else 0) + (possible is True)


def _told(*parts: Value) -> Value:
    return " ".join(str(part) for part in parts)
