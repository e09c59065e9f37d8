"""Calls of built-in functions to Python expressions (language.md §2, §4)."""

from __future__ import annotations

from tokenworld.engine.emit import Emitter, held
from tokenworld.model import BuiltinCall, NumberType

__all__ = ["builtin_call"]


def builtin_call(emitter: Emitter, term: BuiltinCall, args: list[str]) -> str:
    """The expression of a built-in function of already emitted arguments."""
    listed = ", ".join(args)
    match term.name:
        case "tick":
            return "S.tick"
        case "score":
            return "score(S, W, me)"
        case "id":
            return args[0]
        case "next" | "prev":
            size = len(emitter.instance.program.enums[term.detail].members)
            return f"step({args[0]}, {1 if term.name == 'next' else -1}, {size})"
        case "busy":
            return f"busy(S, {args[0]}, {emitter.const(term.detail)})"
        case "did":
            passed = f"({', '.join(args[1:])}{',' if len(args) == 2 else ''})"
            return f"did(S, {args[0]}, {emitter.const(term.detail)}, {passed})"
        case "toward":
            return held(f"toward({listed})", term.type)
        case "min" | "max" | "abs" | "clamp" | "sign":
            return f"{term.name}({listed})"
        case _:
            return _numeric(term, args)


def _numeric(term: BuiltinCall, args: list[str]) -> str:
    kind = term.args[0].type if term.args else None
    exact = isinstance(kind, NumberType)
    decimals = kind.decimals if isinstance(kind, NumberType) else 0
    match term.name:
        case "floor":
            return f"({args[0]} // {10**decimals})" if exact else f"round_down({args[0]})"
        case "round" if exact:
            return held(f"round_exact({args[0]}, {decimals}, {args[1]})", term.type)
        case "round":
            return held(f"round_real({args[0]}, {args[1]})", term.type)
        case "pow":
            return f"power({args[0]}, {args[1]})"
        case "pi":
            return "3.141592653589793"
        case _:
            return f"finite({term.name!r}, {args[0]})"
