"""Comparisons and clamps that cannot mean anything in the ranges they meet (TW0406)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tokenworld.check.draft import Draft
from tokenworld.check.terms import Translator
from tokenworld.check.uses import parts_of
from tokenworld.diagnostics import Span
from tokenworld.model import (
    BuiltinCall,
    Compare,
    CompareOp,
    Local,
    NumberLiteral,
    NumberType,
    ParamRead,
    Read,
    Rescale,
    Term,
    is_optional,
    show_type,
)

__all__ = ["check_comparing"]

_MIRRORED: dict[CompareOp, CompareOp] = {
    "==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<=",
}  # fmt: skip


def check_comparing(draft: Draft) -> None:
    """Look at every rule and derive.

    Invariants may promise more than a range, and a planner answers what a goal can never be.
    """
    for fluent in draft.fluents.values():
        bounded = isinstance(fluent.type, NumberType) and fluent.type.low is not None
        if fluent.clamped and not bounded:
            what = f"`{fluent.name}` is {show_type(fluent.type)}: it has no ends to stop at."
            hint = "Give it a range, such as `0 to 100`, or leave out `clamped`."
            draft.tell("TW0406", what, fluent.span, "clamped without a range", hint)
    draft.each("comparing", tuple(_rules(draft)), lambda node: _look(node, draft))


def _look(node: object, draft: Draft) -> None:
    words = Translator(draft)
    for term in _below(node):
        if isinstance(term, Compare):
            _comparison(term, draft)
        elif term.name == "clamp":
            _clamp(term, words, draft)


def _rules(draft: Draft) -> Iterator[object]:
    yield from draft.derives.values()
    yield from draft.actions.values()
    yield from draft.laws.values()
    yield from draft.watches.values()
    yield from (*draft.births, *draft.called, *draft.scopes, *draft.describes)
    yield from (world.setups for world in draft.worlds.values())


def _below(node: object) -> Iterator[Compare | BuiltinCall]:
    """Every comparison and call below a node, each once: guards repeat what they quote."""
    seen: set[Span] = set()
    todo: list[Any] = [node]
    while todo:
        one = todo.pop()
        kind = type(one)
        if kind is tuple:
            todo += one[::-1]
            continue
        if (kind is Compare or kind is BuiltinCall) and one.span not in seen:
            seen.add(one.span)
            yield one
        todo += [getattr(one, name) for name in parts_of(kind)]


def _plain(term: Term) -> Term:
    return term.term if isinstance(term, Rescale) else term


def _comparison(term: Compare, draft: Draft) -> None:
    """A ranged value and a constant outside its range: the answer is known already."""
    left, right, op = term.left, term.right, term.op
    if isinstance(left, NumberLiteral):
        left, right, op = right, left, _MIRRORED[op]
    if not isinstance(_plain(left), (Read, ParamRead, Local)):
        return
    answer = _answer(left, right, op)
    if answer is None:
        return
    said = draft.text(left.span)
    what = f"`{said}` is {show_type(_plain(left).type)}, so this is always {answer}."
    hint = "Compare with a number inside the range, or widen the range."
    draft.tell("TW0406", what, term.span, f"always {answer}", hint)


def _answer(left: Term, right: Term, op: CompareOp) -> str | None:
    """What the comparison always says: ``true``, ``false`` or nothing that is sure."""
    kind = left.type
    if not isinstance(right, NumberLiteral) or not isinstance(kind, NumberType):
        return None
    if kind.low is None or kind.high is None or kind.low <= right.value <= kind.high:
        return None
    if op in ("==", "!="):
        return "false" if op == "==" else "true"
    holds = (op in ("<", "<=")) == (right.value > kind.high)
    if holds:
        return None if is_optional(kind) else "true"
    return "false"


def _clamp(call: BuiltinCall, words: Translator, draft: Draft) -> None:
    """``clamp(x, lo, hi)`` whose lower end always lies above the upper one."""
    _, low, high = call.args
    if not isinstance(call.type, NumberType):
        return
    gap = words.interval_of(words.form(low).minus(words.form(high)))
    if gap.low is not None and gap.low > 0:
        what = f"`{draft.text(low.span)}` always lies above `{draft.text(high.span)}`."
        hint = "Write the lower end first: `clamp(x, low, high)`."
        draft.tell("TW0406", what, call.span, "no number lies between", hint)
