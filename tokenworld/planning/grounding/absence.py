"""Terms that may be `none`: by their type, or for want of a slot."""

from __future__ import annotations

from tokenworld.model import (
    Arithmetic,
    BoolLiteral,
    EnumLiteral,
    Local,
    Me,
    Negate,
    NumberLiteral,
    ObjectLiteral,
    ParamRead,
    Read,
    Rescale,
    Term,
    children,
    is_optional,
)
from tokenworld.planning.grounding.context import Context

__all__ = ["may_lack"]


def may_lack(context: Context, term: Term) -> bool:
    """Whether a term may be `none`, by its type or for want of a slot."""
    if is_optional(term.type):
        return True
    match term:
        case Read(fluent=name, args=args):
            params = context.program.fluents[name].params
            return context.destroys or any(
                may_lack(context, arg) or not context.covers(param.type, arg.type)
                for arg, param in zip(args, params, strict=True)
            )
        case Local() | Me() | NumberLiteral() | EnumLiteral() | ObjectLiteral() | ParamRead():
            return False
        case BoolLiteral():
            return False
        case Arithmetic() | Negate() | Rescale():
            return any(may_lack(context, part) for part in children(term))
        case _:
            return True
