"""How the rules of a world read `tick()`, the number of the tick."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tokenworld.ground import Instance
from tokenworld.model import (
    Arithmetic,
    Body,
    BuiltinCall,
    NumberLiteral,
    ParamRead,
    Require,
    Term,
    bodies,
    children,
    subterms,
    terms_of,
)

__all__ = ["reads_ticks", "rings", "rule_terms"]


def rule_terms(instance: Instance) -> Sequence[Term]:
    """All terms that decide what happens: those of rules and endings, not those of texts."""
    program, world = instance.program, instance.world
    found: list[Term] = [derive.value for derive in program.derives.values()]
    for action in program.actions.values():
        for guard in action.guards:
            found += [guard.condition] if isinstance(guard, Require) else terms_of(guard)
        found += [t for t in (action.takes, action.until, action.cost) if t is not None]
        found += [*_terms(action.body), *_terms(action.cancelled)]
    for law in program.laws.values():
        found += [*([law.when] if law.when is not None else []), *_terms(law.body)]
    for birth in program.births:
        found += _terms(birth.body)
    found += [one.condition for one in program.invariants.values()]
    found += [one.value for one in program.conserves.values()]
    found += [line.condition for line in world.endings]
    return found


def _terms(body: Body) -> list[Term]:
    found: list[Term] = []
    for effect in body:
        found += terms_of(effect)
        for inner in bodies(effect):
            found += _terms(inner)
    return found


def reads_ticks(instance: Instance) -> bool:
    """Whether a rule reads the number of the tick, so that doing nothing may matter."""
    return any(
        isinstance(part, BuiltinCall) and part.name == "tick"
        for term in rule_terms(instance)
        for part in subterms(term)
    )


def rings(instance: Instance, terms: Iterable[Term]) -> tuple[tuple[int, ...], bool]:
    """The n of each ``tick() mod n`` in the terms, and whether `tick()` stands nowhere else."""
    moduli: dict[int, None] = {}
    plain = True
    for term in terms:
        for part in subterms(term):
            if _is_ring(part, instance):
                moduli[_modulus(part, instance)] = None
        plain = plain and _ticks_outside_rings(term, instance) == 0
    return tuple(moduli), plain


def _is_ring(term: Term, instance: Instance) -> bool:
    """``tick() mod n`` with a constant n above 0."""
    return (
        isinstance(term, Arithmetic)
        and term.op == "mod"
        and isinstance(term.left, BuiltinCall)
        and term.left.name == "tick"
        and _modulus(term, instance) > 0
    )


def _modulus(term: Term, instance: Instance) -> int:
    match term:
        case Arithmetic(right=NumberLiteral(value=value)):
            return value
        case Arithmetic(right=ParamRead(name=name)):
            given = instance.params[name]
            return given if isinstance(given, int) else 0
        case _:
            return 0


def _ticks_outside_rings(term: Term, instance: Instance) -> int:
    if _is_ring(term, instance):
        return 0
    own = 1 if isinstance(term, BuiltinCall) and term.name == "tick" else 0
    return own + sum(_ticks_outside_rings(child, instance) for child in children(term))
