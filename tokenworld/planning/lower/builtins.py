"""Built-in functions in an algebra: the numeric ones, and those that look at the tick."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tokenworld.model import (
    Arithmetic,
    BuiltinCall,
    EnumType,
    NumberLiteral,
    NumberType,
    Term,
    ValueType,
)
from tokenworld.planning.lower.algebra import DID, LONG, RING, Refused, V
from tokenworld.planning.lower.diagram import Value
from tokenworld.planning.lower.numbers import arithmetic, builtin, compare

if TYPE_CHECKING:
    from tokenworld.planning.lower.terms import Env, Terms

__all__ = ["builtin_value", "decimals_of", "ring_of"]


def decimals_of(value_type: ValueType) -> int:
    """The decimals by which values of a type are scaled."""
    return value_type.decimals if isinstance(value_type, NumberType) else 0


def ring_of(terms: Terms[V], left: Term, right: Term, env: Env[V]) -> V | None:
    """``(tick() + c) mod n`` for constants, a ring that every tick turns; else ``None``."""
    offset, algebra = _tick_offset(left), terms.algebra
    if offset is None:
        return None
    modulus = algebra.possible(terms.value(right, env), lambda: None) or ()
    if len(modulus) != 1 or not isinstance(modulus[0], int) or modulus[0] < 1:
        return None
    turn, shift = algebra.slot((RING, (modulus[0],)), False), algebra.const(offset)
    moved = algebra.lift(("arithmetic", "+"), arithmetic("+"), turn, shift)
    size = algebra.const(modulus[0])
    return algebra.lift(("arithmetic", "mod"), arithmetic("mod"), moved, size)


def _tick_offset(term: Term) -> int | None:
    """``c`` where the term is ``tick() + c``; ``None`` where it is something else."""
    match term:
        case BuiltinCall(name="tick"):
            return 0
        case Arithmetic(op="+", left=left, right=NumberLiteral(value=shift)):
            inner = _tick_offset(left)
            return None if inner is None else inner + shift
        case Arithmetic(op="-", left=left, right=NumberLiteral(value=shift)):
            inner = _tick_offset(left)
            return None if inner is None else inner - shift
        case _:
            return None


def builtin_value(terms: Terms[V], term: BuiltinCall, env: Env[V]) -> V:
    """The value of a built-in function."""
    algebra, args = terms.algebra, [terms.value(arg, env) for arg in term.args]
    kinds = tuple(arg.type for arg in term.args)
    rungs = _rungs(terms, kinds) if term.name in ("next", "prev") else 0
    function = builtin(term.name, kinds, rungs)
    if function is not None:
        digits = decimals_of(kinds[0]) if kinds else 0
        return algebra.lift((term.name, digits, rungs), function, *args)
    if term.name == "busy":
        return _busy(terms, args[0], term.detail)
    if term.name == "did":
        return _did(terms, term, args)
    reason = "a search state leaves it out"
    if term.name == "tick":
        reason = "it counts without end; only `tick() mod n` with a constant `n` is finite"
    return algebra.refuse(Refused(f"`{term.name}()`", term.span, reason))


def _rungs(terms: Terms[V], kinds: tuple[ValueType, ...]) -> int:
    ladder, enums = kinds[0], terms.facts.program.enums
    return len(enums[ladder.name].members) if isinstance(ladder, EnumType) else 0


def _acting(terms: Terms[V], actor: V) -> V:
    me = terms.algebra.const(terms.facts.instance.me)
    return terms.algebra.lift(("compare", "=="), compare("=="), actor, me)


def _busy(terms: Terms[V], actor: V, action: str) -> V:
    stages = terms.facts.stages_of(action)

    def runs(stage: Value) -> bool:
        return stage in stages if action else stage is not None

    running = terms.algebra.lift(("busy", action), runs, terms.algebra.slot((LONG, ()), False))
    return terms.algebra.both(_acting(terms, actor), lambda: running)


def _did(terms: Terms[V], term: BuiltinCall, args: list[V]) -> V:
    values = [(arg, one.type) for arg, one in zip(args[1:], term.args[1:], strict=True)]

    def done() -> V:
        return terms.each(
            values, lambda found: terms.algebra.slot((DID, (term.detail, *found)), False)
        )

    return terms.algebra.both(_acting(terms, args[0]), done)
