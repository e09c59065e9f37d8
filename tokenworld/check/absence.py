"""Equality of two values that may both be absent (TW0907, shown with `--pedantic`)."""

from __future__ import annotations

from collections.abc import Iterator

from tokenworld.check.aliasing import skeleton
from tokenworld.check.draft import Draft
from tokenworld.check.uses import program_parts, terms_below
from tokenworld.model import Compare, NoneLiteral, Term, is_optional

__all__ = ["check_absence"]


def check_absence(draft: Draft) -> None:
    """`==` and `!=` take two absent values for equal: say so where both sides may be absent.

    A rule that tests one of the two sides with `none` has thought of it.
    """
    for rule in _rules(draft):
        comparisons = [one for one in terms_below(rule, draft) if isinstance(one, Compare)]
        tested = {skeleton(side) for one in comparisons for side in _with_none(one)}
        for term in comparisons:
            sides = {skeleton(term.left), skeleton(term.right)}
            if term.op in ("==", "!=") and _both(term) and not sides & tested:
                _tell(term, draft)


def _rules(draft: Draft) -> Iterator[object]:
    for part in program_parts(draft):
        yield from part if isinstance(part, tuple) else (part,)


def _tell(term: Compare, draft: Draft) -> None:
    left, right = draft.text(term.left.span), draft.text(term.right.span)
    what = f"`{left}` and `{right}` may both be `none`, and then they are equal."
    hint = "Test one of them with `!= none` too, if that is not meant."
    draft.tell("TW0907", what, term.span, "both may be absent", hint)


def _both(term: Compare) -> bool:
    return _absent(term.left) and _absent(term.right)


def _absent(term: Term) -> bool:
    return is_optional(term.type) and not isinstance(term, NoneLiteral)


def _with_none(term: Compare) -> tuple[Term, ...]:
    """The side that is compared with `none`, if one is."""
    if isinstance(term.right, NoneLiteral):
        return (term.left,)
    return (term.right,) if isinstance(term.left, NoneLiteral) else ()
