"""What slots cannot hold: told by construct and line, before anything is generated."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tokenworld.diagnostics import Span
from tokenworld.engine.births import creates_in_play, play_bodies
from tokenworld.engine.mortality import breaking_off_destroys
from tokenworld.ground import Instance
from tokenworld.model import (
    Arithmetic,
    Body,
    BuiltinCall,
    DescribeEffect,
    NumberLiteral,
    Program,
    RealType,
    Say,
    Term,
    deep_subterms,
    effects_in,
    may_draw,
    slot_terms,
)

__all__ = ["Inexpressible", "check", "may_fail"]


class Inexpressible(Exception):
    """A world is not for slots: ``what`` it uses, and where."""

    def __init__(self, what: str, span: Span | None = None) -> None:
        super().__init__(what)
        self.what, self.span = what, span


_UNSURE = ("sqrt", "sin", "cos", "exp", "log", "pow", "round", "floor")


def may_fail(program: Program, *terms: Term) -> bool:
    """Whether a term may have no value (TW1006), which ends the tick."""
    return any(_undefined(part) for part in deep_subterms(terms, program.derives))


def _undefined(term: Term) -> bool:
    if isinstance(term, Arithmetic) and term.op in ("/", "div", "mod"):
        divisor = term.right
        while hasattr(divisor, "term"):
            divisor = divisor.term
        return not (isinstance(divisor, NumberLiteral) and divisor.value != 0)
    if isinstance(term, BuiltinCall) and term.name in _UNSURE:
        return bool(term.args) and isinstance(term.args[0].type, RealType)
    return False


def check(instance: Instance) -> None:
    """Raise `Inexpressible` for what no emitter could express: creation, prose that may fail."""
    program = instance.program
    if len(instance.actors) > 1:
        raise Inexpressible("several actors take turns", instance.world.span)
    births = any(may_draw(birth.body) for birth in program.births)
    for action in program.actions.values():
        if action.may_be_free and (may_draw(action.body) or births):
            raise Inexpressible("a free action may draw", action.span)
        if may_draw(action.cancelled) and (may_draw(action.body) or births):
            raise Inexpressible("an action and its `cancelled` may draw", action.span)
    if breaking_off_destroys(program):
        raise Inexpressible("breaking off an action may destroy what the next one names")
    if creates_in_play(program):
        raise Inexpressible("objects are created in play", _creation(program))
    for term, span in _prose(instance):
        if may_fail(program, term):
            raise Inexpressible("a text may have no value (a division, a root)", span)
    for rule in program.conserves.values():
        if may_fail(program, rule.value):
            raise Inexpressible("a conserved sum may have no value", rule.span)
    for pay in instance.world.pays:
        if may_fail(program, pay.amount, pay.when):
            raise Inexpressible("a reward may have no value", pay.span)
    for watch in program.watches.values():
        if may_fail(program, watch.when):
            raise Inexpressible("a watch may have no value", watch.span)


def _creation(program: Program) -> Span | None:
    from tokenworld.model import Create

    births = (birth.body for birth in program.births)
    found = (one for body in (*play_bodies(program), *births) for one in effects_in(body))
    return next((one.span for one in found if isinstance(one, Create)), None)


def _prose(instance: Instance) -> Iterator[tuple[Term, Span | None]]:
    """Every term that is rendered when something is said; refusals look after themselves."""
    program, world = instance.program, instance.world
    for rule in program.called:
        for term in (rule.name, *rule.aka):
            yield term, rule.span
    bodies = [*play_bodies(program), *(one.body for one in program.watches.values())]
    if any(isinstance(one, DescribeEffect) for body in bodies for one in effects_in(body)):
        bodies += [one.body for one in program.describes]
    yield from _said(bodies)
    for ending in world.endings:
        for term in () if ending.text is None else slot_terms(ending.text):
            yield term, ending.span


def _said(bodies: Iterable[Body]) -> Iterator[tuple[Term, Span | None]]:
    for body in bodies:
        for effect in effects_in(body):
            if isinstance(effect, Say):
                for term in slot_terms(effect.template):
                    yield term, effect.span
