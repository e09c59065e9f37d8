"""How the rules of a world read `tick()`, the number of the tick."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tokenworld.ground import Instance
from tokenworld.model import (
    Arithmetic,
    BuiltinCall,
    NumberLiteral,
    ParamRead,
    Term,
    calls,
    children,
    rule_terms,
    subterms,
)

__all__ = ["deciding_terms", "reads_ticks", "rings"]


def deciding_terms(instance: Instance) -> Sequence[Term]:
    """All terms that decide what happens, those of derived facts too."""
    program = instance.program
    derived = (derive.value for derive in program.derives.values())
    return (*derived, *rule_terms(program, instance.world))


def reads_ticks(instance: Instance) -> bool:
    """Whether a rule reads the number of the tick, so that doing nothing may matter."""
    return calls(deciding_terms(instance), "tick")


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
