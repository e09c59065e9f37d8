"""Trying one binding of a rule: whether its conditions hold, and at which slots that rests."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import assert_never

from tokenworld.diagnostics.frozen import frozen
from tokenworld.engine.bodies import BodyWriter
from tokenworld.engine.compile import Code, Function, extend
from tokenworld.engine.footprint import Footprint, NoFootprint
from tokenworld.model import (
    And,
    Binder,
    Compare,
    CompositeTerm,
    Draw,
    Implies,
    LeafTerm,
    Let,
    Local,
    Not,
    NumberTerm,
    Or,
    Read,
    StateTerm,
    Term,
    TestTerm,
    children,
    conjuncts,
)

__all__ = ["Probe", "compile_probe", "is_atom"]


@frozen
class Probe:
    """Tries a rule: ``first(S, W, me, *args)`` is ``None`` if its conditions hold, else the slots
    that the first false one read; ``every`` gives all slots. ``fixed``: these are always the same
    ones."""

    first: Function
    every: Function
    fixed: bool


def compile_probe(
    code: Code, params: Sequence[Binder], guards: Iterable[Term | Let]
) -> Probe | None:
    """The probe of conditions with the lets between them; ``None`` where they rest on more than
    slots."""
    emitter = code.emitter
    names = {one.name: emitter.fresh("a") for one in params}
    header = ", ".join(("S", "W", "me", *names.values()))
    print_, first, every = Footprint(emitter), BodyWriter(emitter), BodyWriter(emitter)
    try:
        slots = _write(print_, names, _in_order(code, list(guards)), first, every)
    except NoFootprint:
        emitter.texts.clear()
        return None
    first.line(1, "return None")
    every.line(1, f"return ({''.join(f'{one}, ' for one in dict.fromkeys(slots))})")
    texts = [text for _, text in emitter.texts]
    emitter.texts.clear()
    one, other = emitter.fresh("probe"), emitter.fresh("slots")
    extend(code, "\n".join([*texts, f"def {one}({header}):", *first.lines,
                            f"def {other}({header}):", *every.lines, ""]))  # fmt: skip
    return Probe(code.space[one], code.space[other], print_.fixed)


def _write(
    print_: Footprint,
    names: dict[str, str],
    guards: list[Term | Let],
    first: BodyWriter,
    every: BodyWriter,
) -> list[str]:
    """Write both functions; the slots of all conditions."""
    inner, lets, found = dict(names), dict[str, list[str]](), list[str]()
    for guard in guards:
        if isinstance(guard, Let):
            if isinstance(guard.value, Draw):
                raise NoFootprint
            behind = print_.slots(guard.value, inner, lets)
            outer = dict(inner)
            first.let(guard, inner, 1)
            every.line(1, f"{inner[guard.name]} = {print_.emitter.term(guard.value, outer)}")
            lets[guard.name] = behind
            found += behind
            continue
        slots = print_.slots(guard, inner, lets)
        first.line(1, f"if not {print_.emitter.term(guard, inner)}:")
        first.line(2, f"return ({''.join(f'{one}, ' for one in slots)})")
        found += slots
    return found


def _in_order(code: Code, guards: list[Term | Let]) -> list[Term | Let]:
    """Conditions that have a value in any order, the ones that tell most first: facts about many
    things, then about one, then about none. Others stay as they were written."""
    parts: list[Term | Let] = []
    for guard in guards:
        parts += [guard] if isinstance(guard, Let) else conjuncts((guard,))
    if any(isinstance(one, Let) or not is_atom(one) for one in parts):
        return parts
    by_id = code.emitter.layout.by_id

    def telling(term: Term | Let) -> int:
        reads = [one for one in _with_parts(term) if isinstance(one, Read)]  # type: ignore[arg-type]
        return -max((len(by_id[one.fluent].fluent.params) for one in reads), default=9)

    return sorted(parts, key=telling)


def _with_parts(term: Term) -> list[Term]:
    return [term, *children(term), *(x for one in children(term) for x in children(one))]


def is_atom(term: Term | Let) -> bool:
    """A fact, its opposite, or an equation between names and slots of names."""
    match term:
        case Not(term=inner):
            return is_atom(inner)
        case Read(args=args, was=False):
            return all(not children(arg) for arg in args)
        case Compare(op="==" | "!=", left=left, right=right):
            return all(
                is_atom(one) if isinstance(one, Read) else not children(one)
                for one in (left, right)
            )
        case (
            LeafTerm() | StateTerm() | And() | Or() | Implies() | TestTerm() | NumberTerm()
            | CompositeTerm() | Let()
        ):  # fmt: skip
            return isinstance(term, Local)
        case _:
            assert_never(term)
