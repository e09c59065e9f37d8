"""Chance: each draw becomes a coin, a variable whose value the planner chooses (language.md §13).

A coin's sides carry the condition under which they have a chance at all. Where a draw is not taken
its coin shows 0 and counts for nothing. ``pick by least`` and ``by most`` draw nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from tokenworld.diagnostics import Span
from tokenworld.diagnostics.frozen import frozen
from tokenworld.ground import Raw
from tokenworld.model import (
    Body,
    Chance,
    CompareOp,
    DrawChance,
    DrawPick,
    Let,
    Pick,
    Term,
)
from tokenworld.planning.lower.algebra import COIN, Algebra, Refused, Slot, V, conj, disj
from tokenworld.planning.lower.builtins import decimals_of
from tokenworld.planning.lower.diagram import Mark, Value
from tokenworld.planning.lower.folds import in_settled_order
from tokenworld.planning.lower.numbers import arithmetic, compare

if TYPE_CHECKING:
    from tokenworld.planning.lower.bodies import Bodies
    from tokenworld.planning.lower.terms import Env, Terms

__all__ = ["Branches", "Coins", "DrawSite", "drawn_chance", "drawn_let", "drawn_pick"]


V_co = TypeVar("V_co", covariant=True)


class Coins(Protocol[V_co]):
    """Gives the value of a coin with ``size`` sides."""

    def __call__(self, slot: Slot, size: int) -> V_co: ...


@frozen
class DrawSite(Generic[V]):
    """A place where a body draws.

    ``taken`` is the condition under which it does, ``possible(side)`` whether that side has a
    chance, ``choice(side)`` and ``count()`` tell which alternative of how many it is. ``order``
    lists the sides, likely ones first where that is known: of plans that differ in nothing else
    the one that counts on ordinary luck is found first.
    """

    coin: Slot
    order: tuple[int, ...]
    taken: V
    possible: Callable[[int], V]
    choice: Callable[[int], V]
    count: Callable[[], V]

    @property
    def sides(self) -> int:
        """How many sides the coin has."""
        return len(self.order)


Branches = list[tuple[Body, "Env[V]", V]]
"""What a draw decides: bodies with the names they see and the condition under which they run."""


def _is_side(algebra: Algebra[V], coin: V, side: int) -> V:
    return algebra.lift(("side", side), lambda value: value == side, coin)


def _counted(algebra: Algebra[V], conditions: list[V]) -> V:
    """How many of the conditions hold."""
    total, one, nothing = algebra.const(0), algebra.const(1), algebra.const(0)
    for condition in conditions:
        step = algebra.choose(condition, lambda: one, lambda: nothing)
        total = algebra.lift(("arithmetic", "+"), arithmetic("+"), total, step)
    return total


# ---- chance ---------------------------------------------------------------------------------


def _possible(terms: Terms[V], odds: tuple[Term, ...], env: Env[V], side: int) -> V:
    """Whether branch ``side`` has a chance (the last one: whether there is a rest)."""
    values = [terms.value(term, env) for term in odds]
    scales = tuple(10 ** decimals_of(term.type) for term in odds)

    def has_chance(*parts: Value) -> Value:
        shares = [
            Fraction(part) / scale
            for part, scale in zip(parts, scales, strict=True)
            if isinstance(part, (int, float))
        ]
        if len(shares) < len(parts) or min(shares) < 0 or sum(shares) > 1:
            return Mark.BROKEN
        return bool(shares[side] > 0 if side < len(shares) else sum(shares) < 1)

    return terms.algebra.lift(("odds", side, scales), has_chance, *values)


def _chance_site(
    bodies: Bodies[V], key: tuple[Raw, ...], odds: tuple[Term, ...], env: Env[V], taken: V
) -> DrawSite[V]:
    sides, algebra = len(odds) + 1, bodies.algebra
    return DrawSite(
        (COIN, key),
        _likely_first(bodies, odds, env),
        taken,
        partial(_possible, bodies.terms, odds, env),
        algebra.const,
        lambda: algebra.const(sides),
    )


def _likely_first(bodies: Bodies[V], odds: tuple[Term, ...], env: Env[V]) -> tuple[int, ...]:
    """The sides of a chance by their probabilities, in written order where these are not fixed."""
    shares: list[Fraction] = []
    for term in odds:
        found = bodies.algebra.possible(bodies.terms.value(term, env), lambda: None) or ()
        if len(found) == 1 and isinstance(found[0], (int, float)):
            shares.append(Fraction(found[0]) / 10 ** decimals_of(term.type))
    sides = range(len(odds) + 1)
    if len(shares) < len(odds):
        return tuple(sides)
    shares.append(1 - sum(shares, Fraction(0)))
    return tuple(sorted(sides, key=lambda side: -shares[side]))


def drawn_chance(
    bodies: Bodies[V], key: tuple[Raw, ...], chance: Chance, env: Env[V], condition: V
) -> tuple[Branches[V], DrawSite[V]]:
    """The branches of a ``chance`` with their conditions; the last is the ``else``."""
    parts = (*(branch.body for branch in chance.branches), chance.otherwise)
    odds = tuple(branch.probability for branch in chance.branches)
    site = _chance_site(bodies, key, odds, env, condition)
    coin = bodies.coins(site.coin, site.sides)
    branches = [
        (body, env, _is_side(bodies.algebra, coin, side)) for side, body in enumerate(parts)
    ]
    return branches, site


# ---- pick -----------------------------------------------------------------------------------


@frozen
class _Candidates(Generic[V]):
    """The bindings of a pick, and the conditions under which each is a candidate.

    ``heavy``: and has a chance, that is, a weight above 0.
    """

    envs: list[Env[V]]
    members: list[V]
    heavy: list[V]

    def none(self, algebra: Algebra[V]) -> V:
        """Whether nothing can be picked."""
        some = algebra.const(False)
        for side in self.heavy:
            some = disj(algebra, some, side)
        return algebra.negate(some)


def _candidates(
    bodies: Bodies[V], pick: Pick | DrawPick, span: Span, env: Env[V]
) -> _Candidates[V]:
    if not in_settled_order(bodies.terms, pick.binders):
        reason = "its candidates come in an order that changes"
        raise Refused("`pick` from a collection", span, reason)
    envs, members = [], []
    for inner, member in bodies.terms.bindings(pick.binders, pick.where, env):
        envs.append(inner)
        members.append(member)
    if pick.key != "weight" or pick.weight is None:
        return _Candidates(envs, members, members)
    weights = [bodies.terms.value(pick.weight, inner) for inner in envs]
    heavy = [
        conj(bodies.algebra, member, _above_zero(bodies.algebra, weight))
        for member, weight in zip(members, weights, strict=True)
    ]
    return _Candidates(envs, members, heavy)


def _above_zero(algebra: Algebra[V], weight: V) -> V:
    """Whether a weight is above 0; a negative one is undefined (TW1006)."""

    def above(value: Value) -> Value:
        if not isinstance(value, (int, float)) or value < 0:
            return Mark.BROKEN
        return value > 0

    return algebra.lift("weight", above, weight)


def _chosen(
    bodies: Bodies[V],
    key: tuple[Raw, ...],
    pick: Pick | DrawPick,
    found: _Candidates[V],
    condition: V,
) -> tuple[list[V], DrawSite[V] | None]:
    """For each candidate the condition under which it is the one, and the draw, if there is one."""
    if pick.key in ("least", "most"):
        return _best(bodies, pick, found), None
    if not found.members:
        return [], None
    algebra, sides = bodies.algebra, len(found.members)
    site = DrawSite(
        (COIN, key),
        tuple(range(sides)),
        conj(algebra, condition, algebra.negate(found.none(algebra))),
        lambda side: found.heavy[side],
        lambda side: _counted(algebra, found.members[:side]),
        lambda: _counted(algebra, found.members),
    )
    coin = bodies.coins(site.coin, sides)
    shown = [_is_side(algebra, coin, side) for side in range(sides)]
    return [conj(algebra, one, side) for one, side in zip(found.heavy, shown, strict=True)], site


def _best(bodies: Bodies[V], pick: Pick | DrawPick, found: _Candidates[V]) -> list[V]:
    """For each candidate whether it is the first of those with the least or most weight."""
    algebra, weight = bodies.algebra, pick.weight
    assert weight is not None
    weights = [bodies.terms.value(weight, env) for env in found.envs]
    strict: CompareOp = ">" if pick.key == "least" else "<"
    weak: CompareOp = ">=" if pick.key == "least" else "<="
    chosen = []
    for side, member in enumerate(found.members):
        best = member
        for other, rival in enumerate(found.members):
            if other == side:
                continue
            op = strict if other < side else weak
            loses = algebra.lift(("compare", op), compare(op), weights[other], weights[side])
            best = conj(algebra, best, disj(algebra, algebra.negate(rival), loses))
        chosen.append(best)
    return chosen


def drawn_pick(
    bodies: Bodies[V], key: tuple[Raw, ...], pick: Pick, env: Env[V], condition: V
) -> tuple[Branches[V], DrawSite[V] | None]:
    """The body of a ``pick`` for each candidate, and its ``else``."""
    found = _candidates(bodies, pick, pick.span, env)
    chosen, site = _chosen(bodies, key, pick, found, condition)
    branches: Branches[V] = [
        (pick.body, inner, held) for inner, held in zip(found.envs, chosen, strict=True)
    ]
    branches.append((pick.otherwise, env, found.none(bodies.algebra)))
    return branches, site


# ---- draws as values ------------------------------------------------------------------------


def drawn_let(
    bodies: Bodies[V], key: tuple[Raw, ...], let: Let, env: Env[V], condition: V
) -> tuple[V, DrawSite[V] | None]:
    """The value of a drawn ``let``, and the draw."""
    algebra = bodies.algebra
    match let.value:
        case DrawChance(probability=probability):
            site = _chance_site(bodies, key, (probability,), env, condition)
            return _is_side(algebra, bodies.coins(site.coin, 2), 0), site
        case DrawPick() as pick:
            found = _candidates(bodies, pick, let.span, env)
            chosen, drawn = _chosen(bodies, key, pick, found, condition)
            name, value = pick.binders[0].name, algebra.const(None)
            for inner, held in zip(found.envs, chosen, strict=True):
                value = _either(algebra, held, inner.look(name), value)
            return value, drawn
        case _:
            reason = "a real number has too many values"
            return algebra.refuse(Refused("`uniform`", let.span, reason)), None


def _either(algebra: Algebra[V], condition: V, then: V, otherwise: V) -> V:
    return algebra.choose(condition, lambda: then, lambda: otherwise)
