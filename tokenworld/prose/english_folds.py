"""Collections in English: who is among whom, what there is, and what is counted or summed.

Every function takes the `English` that tells the terms inside.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, assert_never

from tokenworld.model import (
    Binder,
    BoolLiteral,
    ClosureOf,
    CollectionRange,
    Fold,
    IntervalRange,
    InverseOf,
    ListTerm,
    Local,
    NumberLiteral,
    Term,
    TypeRange,
)
from tokenworld.prose.english_words import a, plural, such
from tokenworld.prose.wording import joined

if TYPE_CHECKING:
    from tokenworld.prose.english import English

__all__ = ["among", "every", "folded", "quantified"]

_WORDS: Final = {
    "sum": "sum", "min": "least", "max": "greatest", "first": "first", "last": "last",
}  # fmt: skip


def among(english: English, collection: Term) -> str:
    """What a member is: "one of the cat or the dog", "among the chest's contents"."""
    match collection:
        case ListTerm(items=items):
            return f"one of {joined([english.value(item) for item in items], 'or')}"
        case InverseOf() | ClosureOf():
            return f"among {english.value(collection)}"
        case _:
            return f"in {english.value(collection)}"


def quantified(english: English, term: Fold) -> str:
    """`any` and `all` as a clause: "there is a pot such that the pot is full"."""
    inner = english.with_binders(term.binders)
    if term.fold == "any":
        who = joined([_some(one, inner, english) for one in term.binders], "and")
        where = [] if term.where is None else [inner.condition(term.where)]
        trivial = term.value is None or isinstance(term.value, (BoolLiteral, NumberLiteral))
        where += [] if trivial or term.value is None else [inner.condition(term.value)]
        return f"there is {who}{such(where)}"
    who = joined([_each(one, inner, english) for one in term.binders], "and")
    where_ = [] if term.where is None else [inner.condition(term.where)]
    assert term.value is not None
    return f"for {who}{such(where_)}: {inner.condition(term.value)}"


def every(english: English, binders: Sequence[Binder]) -> str:
    """ "every pot and every pea": who a rule speaks of, its variables being in sight."""
    return joined([_each(binder, english, english) for binder in binders], "and")


def _some(binder: Binder, inner: English, outer: English) -> str:
    return f"{a(_noun(binder, inner))}{_within(binder, outer)}"


def _each(binder: Binder, inner: English, outer: English) -> str:
    return f"every {_noun(binder, inner)}{_within(binder, outer)}"


def _noun(binder: Binder, inner: English) -> str:
    return inner.names[binder.name].removeprefix("the ")


def _within(binder: Binder, outer: English) -> str:
    match binder.domain:
        case CollectionRange(collection=collection):
            return f" {among(outer, collection)}"
        case IntervalRange(low=low, high=high):
            return f" from {low} to {high}"
        case TypeRange():
            return ""
        case _:
            assert_never(binder.domain)


def folded(english: English, term: Fold) -> str:
    """A fold as a noun phrase: "the number of pots such that the pot is full"."""
    inner = english.with_binders(term.binders)
    if term.fold in ("any", "all"):
        return f"whether {quantified(english, term)}"
    who = [_noun(one, inner) for one in term.binders]
    within = "".join(_within(one, english) for one in term.binders)
    conditions = [] if term.where is None else [inner.condition(term.where)]
    if term.fold == "count":
        if term.value is not None and term.value.type.kind == "bool":
            conditions.append(inner.condition(term.value))
        what = f"the number of {joined([plural(one) for one in who], 'and')}"
        return f"{what}{within}{such(conditions)}"
    if isinstance(term.value, Local) and term.fold in ("first", "last"):
        return f"the {term.fold} {who[0]}{within}{such(conditions)}"
    value = inner.value(term.value) if term.value is not None else "1"
    all_of = joined([f"every {one}" for one in who], "and")
    return f"the {_WORDS[term.fold]} of {value} over {all_of}{within}{such(conditions)}"
