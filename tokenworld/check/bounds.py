"""The bounds pass: numbers that may leave, or must leave, the range of their slot.

What may leave is in `leaving` (TW0503). A value that is always outside is an error: as a value
(TW0308), as a step that no value of the range survives (TW0406); so are probabilities that always
add up to more than 1 (TW0409).
"""

from __future__ import annotations

from tokenworld.check.comparing import check_comparing
from tokenworld.check.draft import Draft
from tokenworld.check.intervals import Facts, entry, steps_of
from tokenworld.check.leaving import check_leaving
from tokenworld.check.linear import constant
from tokenworld.check.numbers import NumberWrite, number_writes, outside, range_of, said
from tokenworld.check.terms import Translator
from tokenworld.diagnostics import Related
from tokenworld.model import (
    Action,
    Assign,
    Body,
    Chance,
    Law,
    NumberType,
    Transfer,
    effects_in,
    show_type,
)

__all__ = ["check_bounds"]


def check_bounds(draft: Draft) -> None:
    """TW0503, and TW0308 and TW0406 for writes that are always outside, and TW0409."""
    rules: tuple[Action | Law, ...] = (*draft.actions.values(), *draft.laws.values())
    draft.each("bounds", rules, lambda rule: _rule(rule, draft))
    check_comparing(draft)
    check_leaving(draft)


def _rule(rule: Action | Law, draft: Draft) -> None:
    words = Translator(draft)
    if _concerns(rule.body):
        _bounded(rule.body, entry(rule, words), rule.name, draft)
    if isinstance(rule, Action) and _concerns(rule.cancelled):
        _bounded(rule.cancelled, Facts(words), rule.name, draft)


def _bounded(body: Body, facts: Facts, name: str, draft: Draft) -> None:
    _never_fits(tuple(number_writes(body, facts, name, (), draft)), draft)
    _chances(body, facts, draft)


def _concerns(body: Body) -> bool:
    """Whether a body changes numbers or draws."""
    return any(
        isinstance(effect, (Chance, Transfer))
        or (isinstance(effect, Assign) and isinstance(effect.target.type, NumberType))
        for effect in effects_in(body)
    )


# ---- always outside ---------------------------------------------------------------------


def _never_fits(writes: tuple[NumberWrite, ...], draft: Draft) -> None:
    """Values and lone steps that provably end outside the range, whatever the state is."""
    for write in writes:
        fluent = draft.fluents[write.target.fluent]
        low, high = range_of(fluent)
        alone = sum(one.target.fluent == write.target.fluent for one in writes) == 1
        if not write.sets and not (alone and not write.binders):
            continue
        form = write.form if write.sets else write.form.plus(write.facts.form(write.target))
        found = write.facts.interval(form)
        if found is None or not outside(found, low, high):
            continue
        where = said(found, fluent)
        if write.sets:
            what = f"This value is {where}, and `{fluent.name}` is {show_type(fluent.type)}."
            hint = "Write a value inside the range, or widen the range."
            draft.tell("TW0308", what, write.span, "always outside the range", hint)
        else:
            what = f"No value of `{fluent.name}` survives this change: it would be {where}."
            hint = f"Change it by less, widen the range, or make `{fluent.name}` `clamped`."
            related = (Related(fluent.span, f"its range: {show_type(fluent.type)}"),)
            draft.tell("TW0406", what, write.span, "always outside the range", hint, related)


# ---- chances ----------------------------------------------------------------------------


def _chances(body: Body, facts: Facts, draft: Draft) -> None:
    """Probabilities that provably add up to more than 1 (TW0409)."""
    for step in steps_of(body, facts):
        if isinstance(step.effect, Chance):
            total = constant(0)
            for branch in step.effect.branches:
                total = total.plus(step.facts.form(branch.probability))
            found = step.facts.interval(total)
            if found is not None and found.low is not None and found.low > 1:
                first, last = step.effect.branches[0], step.effect.branches[-1]
                span = first.probability.span.join(last.probability.span)
                what = "The probabilities always add up to more than 1."
                hint = "Lower them, so that they add up to 1 or less."
                draft.tell("TW0409", what, span, f"{float(found.low):g} or more", hint)
