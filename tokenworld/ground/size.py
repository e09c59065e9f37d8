"""Worlds that are too large to be grounded: told from their sizes, before anything is made."""

from __future__ import annotations

from tokenworld.diagnostics import Diagnostic, Failure, Span
from tokenworld.ground.instance import Instance, count_bindings, domain_of, parameter_domains

__all__ = ["refuse_huge"]

_MOST = 100_000_000
"""Bindings of a law are all looked at in every tick; so many take minutes."""


def refuse_huge(instance: Instance, *, slots: bool = False) -> None:
    """`Failure` with TW0813 for a world that nothing could come to the end of one tick of.

    With ``slots`` also for one whose facts are too many to be written down one by one.
    """
    program = instance.program
    for law in program.laws.values():
        number = count_bindings(parameter_domains(instance, law.params))
        if number > _MOST:
            raise _huge(f"The law `{law.name}` has {number:,} bindings", law.span, "each tick")
    for fluent in program.fluents.values() if slots else ():
        number = count_bindings(domain_of(instance, one.type) or () for one in fluent.params)
        if number > _MOST:
            raise _huge(f"`{fluent.name}` has {number:,} slots", fluent.span, "the text")


def _huge(what: str, place: Span, whose: str) -> Failure:
    message = f"{what}; {whose} would go through all of them."
    hint = f"Let it have fewer parameters, or smaller ones: {_MOST:,} are the limit."
    return Failure(Diagnostic("TW0813", message, place, "too many to go through", hint=hint))
