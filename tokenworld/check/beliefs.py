"""The beliefs pass: the guesses of models of beliefs (language.md §14)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import assert_never

from tokenworld import model as m
from tokenworld.check.analysis.uses import written_slots
from tokenworld.check.draft import Draft
from tokenworld.check.typing.arithmetic import fit
from tokenworld.check.typing.context import Context, facts_where, formal_binders
from tokenworld.check.typing.expressions import check, check_condition, check_where
from tokenworld.check.typing.statements import check_effects
from tokenworld.check.typing.types import optional
from tokenworld.check.vocabulary import check_constant, fresh
from tokenworld.diagnostics import Related, Span, did_you_mean
from tokenworld.diagnostics.frozen import frozen
from tokenworld.model import effects_in, show_type
from tokenworld.syntax import nodes as syn


@frozen
class _Guessed:
    """One guess: which fluent, by which belief, in which phase."""

    fluent: str
    belief: str
    phase: str
    span: Span


def check_beliefs(draft: Draft) -> None:
    """Check the models of beliefs: they guess finite facts that no rule writes."""
    models = {draft.file_of(model.span) for model, _ in draft.items(syn.ModelDecl)}
    named: dict[str, syn.BelieveDecl] = {}
    guesses: list[_Guessed] = []
    told: set[str] = set()
    for belief, _ in draft.items(syn.BelieveDecl):
        if draft.file_of(belief.span) not in models:
            _outside(belief, told, draft)
        elif fresh(draft, "belief", belief.name, {**draft.laws, **draft.watches, **named}):
            named[belief.name.value] = belief
            draft.attempt(lambda b=belief: guesses.extend(_belief(b, draft)))  # type: ignore[misc]
    _phases(guesses, draft)


def _outside(belief: syn.BelieveDecl, told: set[str], draft: Draft) -> None:
    """One finding for a file that is no model, however many beliefs it holds (TW0510)."""
    file = draft.file_of(belief.span)
    if file not in told:
        told.add(file)
        what = f"`{belief.name.value}` is a belief, and this file is no model."
        hint = "Begin the file with `model name`, or write a law with `chance`."
        draft.tell("TW0510", what, belief.name.span, "outside a model", hint)


# ---- one belief -------------------------------------------------------------------------


def _belief(item: syn.BelieveDecl, draft: Draft) -> Iterator[_Guessed]:
    binders = formal_binders(Context(draft), item.params)
    ctx = Context(draft, {binder.name: binder.type for binder in binders})
    phase = _phase(item, draft)
    if item.condition is not None:
        ctx = ctx.narrow(facts_where(check_condition(item.condition, ctx), draft.types))
    draft.attempt(lambda: _strength(item, draft))
    for step in item.steps:
        if isinstance(step, syn.Let):
            _, ctx = check_effects((step,), ctx, "rule")
            continue
        fluent = draft.attempt(lambda step=step, ctx=ctx: _guess(step, ctx))  # type: ignore[misc]
        if fluent is not None:
            yield _Guessed(fluent.id, item.name.value, phase, step.target.span)


def _phase(item: syn.BelieveDecl, draft: Draft) -> str:
    if item.phase is None:
        return ""
    name = item.phase.value
    if name not in draft.phases:
        hint = did_you_mean(name, draft.phases) or f"Declare `phase {name}`."
        draft.stop("TW0502", f"There is no phase `{name}`.", item.phase.span, "unknown", hint)
    return name


def _strength(item: syn.BelieveDecl, draft: Draft) -> None:
    """The weight of a belief is a constant of 0 or more."""
    ctx = Context(draft, was=False, me=False)
    term = _weight(check(item.weight, ctx), ctx, f"weight of `{item.name.value}`")
    check_constant(term, draft, f"weight of `{item.name.value}`")


def _weight(term: m.Term, ctx: Context, what: str) -> m.Term:
    if not isinstance(term.type, (m.NumberType, m.RealType)):
        said = f"The {what} is a number, and this is {show_type(term.type)}."
        ctx.draft.stop("TW0301", said, term.span, "not a number", "Write a number of 0 or more.")
    number = term.term if isinstance(term, m.ToReal) else term
    if isinstance(number, m.NumberLiteral) and number.value < 0:
        said = f"The {what} is below 0."
        ctx.draft.stop("TW0308", said, term.span, "negative", "Write a number of 0 or more.")
    return term


# ---- guesses ----------------------------------------------------------------------------


def _guess(step: syn.Guess | syn.GuessEach, ctx: Context) -> m.Fluent:
    """The guessed fluent; every row has a value of its type and a weight."""
    fluent = _target(step.target, ctx)
    if isinstance(step, syn.Guess):
        rows = step.outcomes
        _one_rest(rows, ctx)
        for row in rows:
            ctx.draft.attempt(lambda row=row: _row(row, fluent, ctx))  # type: ignore[misc]
        return fluent
    _, _, inner = check_where(step.where, ctx)
    _row(step.outcome, fluent, inner)
    if step.otherwise is not None:
        _weight(check(step.otherwise, ctx), ctx, "weight of `else`")
    return fluent


def _target(ref: syn.Ref, ctx: Context) -> m.Fluent:
    term, draft = check(ref, ctx), ctx.draft
    if not isinstance(term, m.Read) or term.was:
        what = f"`{draft.text(ref.span)}` is not stored, so it cannot be guessed."
        hint = "Guess the attribute, function or relation that it comes from."
        draft.stop("TW0401", what, ref.span, "not a stored fact", hint)
    fluent = draft.fluents[term.fluent]
    if fluent.static or fluent.fluent_kind == "table":
        what = f"`{fluent.name}` is static: it never changes after the setup."
        draft.stop("TW0407", what, ref.span, "static", "Remove `static`, or the guess.")
    if not _finite(fluent.type):
        what = f"`{fluent.name}` is {show_type(fluent.type)}, which has no finite set of values."
        hint = "Guess a truth value, an enum, a bounded number or an object."
        related = (Related(fluent.span, f"`{fluent.name}` is declared here"),)
        draft.stop("TW0513", what, ref.span, "an infinite domain", hint, related)
    return fluent


def _finite(kind: m.ValueType) -> bool:
    match kind:
        case m.BoolType() | m.EnumType() | m.ObjectType():
            return True
        case m.NumberType(low=low, high=high):
            return low is not None and high is not None
        case m.RealType() | m.TextType() | m.NoneType() | m.CollectionType():
            return False
        case _:
            assert_never(kind)


def _one_rest(rows: tuple[syn.Outcome, ...], ctx: Context) -> None:
    rest = [row for row in rows if row.value is None]
    for row in rest[1:]:
        related = (Related(rest[0].span, "the first one"),)
        what, hint = "A guess has one `else`.", "Keep one of them."
        ctx.draft.tell("TW0203", what, row.span, "a second `else`", hint, related)


def _row(row: syn.Outcome, fluent: m.Fluent, ctx: Context) -> None:
    """A value outside the domain is dropped when it comes up; a constant one is a mistake."""
    if row.value is not None:
        what = f"value guessed for `{fluent.name}`"
        term = check(row.value, ctx, fluent.type)
        wanted = fluent.type if isinstance(term, m.NumberLiteral) else _loose(fluent.type)
        fit(term, wanted, ctx, what)
    _weight(check(row.weight, ctx), ctx, "weight of a row")


def _loose(kind: m.ValueType) -> m.ValueType:
    if isinstance(kind, m.NumberType):
        return replace(kind, low=None, high=None, optional=True)
    return optional(kind)


# ---- phases -----------------------------------------------------------------------------


def _phases(guesses: list[_Guessed], draft: Draft) -> None:
    """A fluent is guessed in one phase (TW0511), which nothing else writes (TW0512), and which
    is the last to touch it (TW0511)."""
    if not guesses:
        return
    order = {name: number for number, name in enumerate([*draft.phases, ""])}
    first: dict[str, _Guessed] = {}
    told: set[str] = set()
    for guess in guesses:
        known = first.setdefault(guess.fluent, guess)
        if known.phase != guess.phase and guess.fluent not in told:
            told.add(guess.fluent)
            name = draft.fluents[guess.fluent].name
            what = f"`{name}` is guessed in two phases, by `{known.belief}` and `{guess.belief}`."
            related = (Related(known.span, f"guessed by `{known.belief}`"),)
            draft.tell("TW0511", what, guess.span, "guessed again", "Use one phase.", related)
    for law in draft.laws.values():
        for effect in effects_in(law.body):
            for write in written_slots(effect, draft):
                guessed = first.get(write.fluent)
                if guessed is not None and write.fluent not in told:
                    gap = order.get(law.phase, 0) - order.get(guessed.phase, 0)
                    if gap >= 0:
                        told.add(write.fluent)
                        _written(law.name, write.span, guessed, gap, draft)


def _written(law: str, span: Span, guess: _Guessed, gap: int, draft: Draft) -> None:
    name = draft.fluents[guess.fluent].name
    related = (Related(guess.span, f"guessed by `{guess.belief}`"),)
    if gap == 0:
        what = f"`{name}` is guessed and written in one phase, by `{guess.belief}` and `{law}`."
        hint = "Write it in an earlier phase, or guess what the law does too."
        draft.tell("TW0512", what, span, "written here", hint, related)
        return
    what = f"`{name}` is guessed by `{guess.belief}` and written in a later phase by `{law}`."
    hint = "Write it before it is guessed."
    draft.tell("TW0511", what, span, "written later", hint, related)


# ---- constructs that this version does not run ---------------------------------------------------


def check_executed(draft: Draft) -> None:
    """The executed pass: report constructs that are parsed and do not run yet (TW0105).

    At present these are whole items. When a construct becomes executable, its case goes.
    """
    for model, _ in draft.items(syn.ModelDecl):
        what = "A model of beliefs cannot be executed by this version."
        hint = "Leave it out for now; `tw check` accepts it once it is executed."
        draft.tell("TW0105", what, model.span, "not executed yet", hint)
