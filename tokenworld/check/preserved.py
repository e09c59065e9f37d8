"""Whether a rule's changes keep an invariant (language.md §7).

The condition is looked at for each object that a way through the rule writes: the slots it reads
get their new values, and what was known before, the invariant included, must imply it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from tokenworld.check.aliasing import Knowledge, skeleton
from tokenworld.check.outcomes import Made, Outcome
from tokenworld.check.relations import can_equal
from tokenworld.check.rulebook import Rulebook
from tokenworld.check.substitution import inlined, substituted
from tokenworld.model import (
    AddFact,
    Arithmetic,
    Assign,
    BoolLiteral,
    BuiltinCall,
    Create,
    DeriveCall,
    Destroy,
    Fluent,
    Invariant,
    Local,
    NumberLiteral,
    NumberType,
    Read,
    RemoveFact,
    Swap,
    Term,
    Transfer,
    is_optional,
    map_children,
    subterms,
    targets_of,
)

__all__ = ["Answer", "effect_on", "opened", "understood"]

Answer = Literal["kept", "broken", "open"]
_PLAIN = ("read", "local", "object_literal", "enum_literal", "number_literal", "bool_literal",
          "none_literal", "param_read", "not", "and", "or", "implies", "compare", "member", "list",
          "arithmetic", "negate", "rescale", "choose", "is_type", "builtin")  # fmt: skip
"""Terms whose value depends on the slots they read, and on nothing else of the state."""
_BUILTINS = ("abs", "min", "max", "clamp", "toward", "sign", "floor", "round", "next", "prev")


class _Unclear(Exception):
    """A slot gets a value that cannot be told."""


def opened(term: Term, book: Rulebook) -> Term:
    """A condition with its derives written out, where that is the same."""
    if isinstance(term, DeriveCall) and not any(is_optional(arg.type) for arg in term.args):
        found = inlined(term, book.derives)
        if found is not None:
            return opened(found, book)
    return map_children(term, lambda part: opened(part, book))


def effect_on(invariant: Invariant, outcome: Outcome, once: bool, book: Rulebook) -> Answer:
    """What one way through a rule does to an invariant.

    ``once``: no slot is written by another binding or rule in the same evaluation.
    """
    condition = opened(invariant.condition, book)
    read = {part.fluent for part in subterms(condition) if isinstance(part, Read)}
    made = [one for one in outcome.made if _concerns(one, read)]
    if not made:
        return "kept"
    lives = any(isinstance(one.effect, (Create, Destroy)) for one in made)
    owners = _owners(invariant, condition, made, book)
    if not owners and not lives:
        return "kept"
    if not once or lives or any(one.loops for one in made):
        return "open"
    answers: set[Answer] = set()
    for owner in owners:
        try:
            answers.add(_answer(condition, invariant, owner, outcome, book))
        except _Unclear:
            answers.add("open")
    return "broken" if "broken" in answers else "open" if "open" in answers else "kept"


def understood(invariant: Invariant, book: Rulebook) -> bool:
    """Whether `effect_on` can say anything: one variable at most, and a condition over slots."""
    return len(invariant.params) <= 1 and _plain(opened(invariant.condition, book))


def _plain(term: Term) -> bool:
    return all(
        part.kind in _PLAIN
        and not (isinstance(part, BuiltinCall) and part.name not in _BUILTINS)
        and not (isinstance(part, Read) and not all(arg.kind in _NAMED for arg in part.args))
        for part in subterms(term)
    )


_NAMED = ("local", "object_literal", "enum_literal", "number_literal")


def _concerns(made: Made, read: set[str]) -> bool:
    if isinstance(made.effect, (Create, Destroy)):
        return True
    return any(target.fluent in read for target in targets_of(made.effect))


def _owners(
    invariant: Invariant, condition: Term, made: list[Made], book: Rulebook
) -> list[Term | None]:
    """The objects for which the condition may have changed, one of each spelling.

    ``None`` stands for any: a condition may also read slots of named objects.
    """
    if not invariant.params:
        return [None]
    param, kind = invariant.params[0].name, invariant.params[0].type
    found: dict[object, Term | None] = {}
    for part in subterms(condition):
        if isinstance(part, Read) and not any(_is(arg, param) for arg in part.args):
            found[None] = None
    for one in made:
        for target in targets_of(one.effect):
            for arg in target.args:
                term = one.facts.open(arg)
                if can_equal(book.types, term.type, kind):
                    found.setdefault(skeleton(term), term)
    return list(found.values())


def _is(term: Term, name: str) -> bool:
    return isinstance(term, Local) and term.name == name


def _answer(
    condition: Term, invariant: Invariant, owner: Term | None, outcome: Outcome, book: Rulebook
) -> Answer:
    names = {invariant.params[0].name: owner} if owner is not None else {}
    before = substituted(condition, names)
    held = outcome.facts.given(before)
    if held.impossible:
        return "kept"  # never reached while the invariant holds
    known = Knowledge(book.types, book.fluents)
    for term, holds in outcome.facts.known:
        known = known.given(term, holds)
    after = _after(before, outcome, known, book)
    if outcome.facts.given(after).impossible:
        return "broken"
    return "kept" if held.proves(after) else "open"


def _after(term: Term, outcome: Outcome, known: Knowledge, book: Rulebook) -> Term:
    """A term with the new values of the slots it reads."""
    if isinstance(term, Read):
        return _new_value(term, outcome, known, book)
    return map_children(term, lambda part: _after(part, outcome, known, book))


def _new_value(read: Read, outcome: Outcome, known: Knowledge, book: Rulebook) -> Term:
    fluent = book.fluents[read.fluent]
    value: Term = read
    steps = 0
    for made in outcome.made:
        for target in targets_of(made.effect):
            if target.fluent != read.fluent:
                continue
            args = tuple(made.facts.open(arg) for arg in target.args)
            if skeleton(args) == skeleton(read.args):
                steps += 1
                value = _written(value, made, target)
            elif not known.different(args, read.args):
                raise _Unclear
    if steps > 1 and fluent.clamped:
        raise _Unclear
    return _stopped(value, fluent) if steps else read


def _written(value: Term, made: Made, target: Read) -> Term:
    """The value of a slot after one more change to it."""
    match made.effect:
        case Assign(op="=", value=new):
            return made.facts.open(new)
        case Assign(op=op, value=by):
            return _moved(value, "+" if op == "+=" else "-", made.facts.open(by))
        case Transfer(amount=amount, source=source):
            sign: Literal["+", "-"] = "-" if target is source else "+"
            return _moved(value, sign, made.facts.open(amount))
        case Swap(left=left, right=right):
            return made.facts.open(right if target is left else left)
        case AddFact() | RemoveFact():
            return BoolLiteral(isinstance(made.effect, AddFact), target.type, target.span)
        case _:
            raise _Unclear


def _moved(value: Term, op: Literal["+", "-"], by: Term) -> Term:
    kind = value.type
    if not isinstance(kind, NumberType):
        raise _Unclear
    return Arithmetic(op, value, by, replace(kind, low=None, high=None), value.span)


def _stopped(value: Term, fluent: Fluent) -> Term:
    """A clamped number stops at the ends of its range."""
    kind = fluent.type
    if not fluent.clamped or not isinstance(kind, NumberType) or kind.low is None:
        return value
    assert kind.high is not None
    ends = tuple(NumberLiteral(end, kind, value.span) for end in (kind.low, kind.high))
    return BuiltinCall("clamp", (value, *ends), kind, value.span)
