"""Draws inside a body: one ``probabilistic`` effect where the rules draw, nested as they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from tokenworld.model import BOOL, Body, BoolLiteral, Chance, Let, NumberType, Pick, Term
from tokenworld.planning.pddl.cases import Env, Lazy, Num
from tokenworld.planning.pddl.luck import candidates, outcomes, share, subsets, weight_text
from tokenworld.planning.pddl.tree import FALSE, TRUE, Expr, neg
from tokenworld.planning.pddl.vocabulary import LiftingError
from tokenworld.planning.pddl.writes import Guarded, Place, group

if TYPE_CHECKING:
    from tokenworld.planning.pddl.effects import Effects

__all__ = ["lift_chance", "lift_let", "lift_pick", "lift_reward"]

Side = tuple[Fraction, Body, Env]
"""An outcome: its share, what it does, and what names stand for in it."""


def lift_chance(into: Effects, effect: Chance, env: Env, place: Place) -> None:
    """``chance p { … } else { … }``."""
    found = outcomes(into.terms.words.instance, effect)
    _draw(into, [(weight, body, env) for weight, body in found], place)


def lift_let(
    into: Effects, effect: Let, probability: Term, rest: Body, env: Env, place: Place
) -> None:
    """``let b = chance p``: what follows, once with each truth."""
    chance = share(into.terms.words.instance, probability)
    sides: list[Side] = []
    for weight, truth in ((chance, True), (1 - chance, False)):
        if weight > 0:
            known = replace(effect, value=BoolLiteral(truth, BOOL, effect.span))
            sides.append((weight, (known, *rest), env))
    _draw(into, sides, place)


def lift_pick(into: Effects, effect: Pick, env: Env, place: Place) -> None:
    """A case for each set of candidates, all of the same share."""
    words = into.terms.words
    found = candidates(words.instance, effect)
    envs: list[Env] = [{**env, effect.binders[0].name: Lazy(term, {})} for term in found]
    where = effect.where
    tests = [TRUE if where is None else into.terms.condition(where, one) for one in envs]
    for chosen in subsets(len(envs)):
        conds = [test if n in chosen else neg(test) for n, test in enumerate(tests)]
        inside = place.inside((), conds)
        if FALSE in inside.conds:
            continue
        number = into.branch()
        inside = replace(inside, branch=(*place.branch, (number, True)))
        if not chosen:
            into.walk(effect.otherwise, env, inside)
            continue
        even = Fraction(1, len(chosen))
        _draw(into, [(even, effect.body, envs[n]) for n in chosen], inside)
        place = replace(place, branch=(*place.branch, (number, False)))


def _draw(into: Effects, sides: Sequence[Side], place: Place) -> None:
    """One literal for all outcomes; the conditions around it stand around it as before."""
    branch, written, asked = place.branch, len(into.writes), len(into.asked)
    words: list[Expr] = []
    for weight, body, env in sides:
        number = into.branch()
        made = _aside(into, body, env, replace(place, branch=(*branch, (number, True))))
        branch = (*branch, (number, False))
        if made:
            words += [weight_text(weight), made[0] if len(made) == 1 else ("and", *made)]
    into.lucky += into.writes[written:] if len(sides) > 1 else ()
    if len(into.asked) > asked:
        what = "a `transfer` of an amount that may be negative, under chance"
        raise LiftingError(what, into.writes[-1].span)
    if words:
        into.put(place, ("probabilistic", *words) if len(sides) > 1 else words[1])


def _aside(into: Effects, body: Body, env: Env, place: Place) -> tuple[Expr, ...]:
    """The effects of a body as they read inside ``place``; they are not kept."""
    before = len(into.effects)
    with into.terms.scope.block():
        into.walk(body, env, place)
    made, into.effects = into.effects[before:], into.effects[:before]
    vars_, conds = len(place.vars), len(place.conds)
    inner = [Guarded(one.vars[vars_:], one.conds[conds:], one.literal) for one in made]
    return group([one for one in inner if FALSE not in one.conds])


def lift_reward(into: Effects, amount: Term, env: Env, place: Place) -> None:
    """``reward e`` in a body."""
    of = amount.type
    if isinstance(of, NumberType) and of.decimals:
        raise LiftingError("a `reward` with decimals", amount.span)
    for case in into.terms.cases(amount, env):
        assert isinstance(case.value, Num)
        where = place.inside(case.vars, case.conds)
        into.put(where, ("increase", ("reward",), case.value.expr))
