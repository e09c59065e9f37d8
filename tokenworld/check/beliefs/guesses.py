"""The beliefs pass: checks the `believe` lines of models, and adds the laws that draw the guessed
facts (language.md §14)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final, assert_never

from tokenworld import model as m
from tokenworld.check.analysis.substitution import substituted
from tokenworld.check.analysis.uses import written_slots
from tokenworld.check.beliefs.experts import Expert, Row, law_of, replaced
from tokenworld.check.draft import Draft
from tokenworld.check.typing.arithmetic import fit
from tokenworld.check.typing.context import Context, facts_where, formal_binders
from tokenworld.check.typing.expressions import check, check_condition, check_where
from tokenworld.check.typing.statements import check_effects
from tokenworld.check.typing.types import optional
from tokenworld.check.vocabulary import check_constant, fresh
from tokenworld.diagnostics import Related, Span, did_you_mean, has_errors
from tokenworld.diagnostics.frozen import frozen
from tokenworld.model import effects_in, show_type
from tokenworld.syntax import nodes as syn

MOST_WEIGHT: Final = 10
"""The greatest weight that is learned."""
DIGITS: Final = 3
"""The decimals with which a learned weight is kept."""


@frozen
class _Guessed:
    """One guess: which fluent, by which belief, in which phase."""

    fluent: str
    expert: Expert
    phase: str
    span: Span

    @property
    def belief(self) -> str:
        return self.expert.belief


def check_beliefs(draft: Draft) -> None:
    """Check the models of beliefs: they guess finite facts that no rule writes. What they guess is
    drawn by a law for each fluent."""
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
    if not has_errors(draft.report):
        _laws(guesses, draft)


def _laws(guesses: list[_Guessed], draft: Draft) -> None:
    """Add a law for each guessed fluent, in the order in which they are first guessed."""
    found: dict[str, list[_Guessed]] = {}
    for one in guesses:
        found.setdefault(one.fluent, []).append(one)
    for fluent, some in found.items():
        experts = [one.expert for one in some]
        law = draft.attempt(
            lambda f=fluent, e=experts, p=some[0].phase: law_of(draft.fluents[f], e, p, draft)  # type: ignore[misc]
        )
        if law is not None:
            draft.laws[law.name] = law


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
    params = formal_binders(Context(draft), item.params)
    ctx = Context(draft, {binder.name: binder.type for binder in params})
    phase, when = _phase(item, draft), None
    if item.condition is not None:
        when = check_condition(item.condition, ctx)
        ctx = ctx.narrow(facts_where(when, draft.types))
    power = draft.attempt(lambda: _strength(item, draft))
    lets: dict[str, m.Term] = {}
    for step in item.steps:
        if isinstance(step, syn.Let):
            ctx = _named(step, ctx, lets)
            continue
        guess = draft.attempt(lambda step=step, ctx=ctx: _guess(step, ctx))  # type: ignore[misc]
        if guess is not None and power is not None:
            plain = Expert(
                item.name.value, params, when, guess.target, power, guess.rows, guess.rest,
                guess.target.span, draft.text(item.span),
            )  # fmt: skip
            expert = replaced(plain, lets)
            yield _Guessed(guess.target.fluent, expert, phase, step.target.span)


def _named(step: syn.Let, ctx: Context, lets: dict[str, m.Term]) -> Context:
    """The context after a `let`, whose value takes the place of its name. It draws nothing."""
    found, ctx = check_effects((step,), ctx, "rule")
    for one in found:
        assert isinstance(one, m.Let)
        if isinstance(one.value, m.Draw):
            what = f"`{one.name}` is drawn, and beliefs draw nothing but what they guess."
            hint = "Draw it in a law of an earlier phase, or guess it."
            ctx.draft.tell("TW1008", what, one.span, "a draw", hint)
            continue
        lets[one.name] = substituted(one.value, lets)
    return ctx


@frozen
class _Guess:
    """A checked guess, as it is written."""

    target: m.Read
    rows: tuple[Row, ...]
    rest: m.Term | None


def _phase(item: syn.BelieveDecl, draft: Draft) -> str:
    if item.phase is None:
        return ""
    name = item.phase.value
    if name not in draft.phases:
        hint = did_you_mean(name, draft.phases) or f"Declare `phase {name}`."
        draft.stop("TW0502", f"There is no phase `{name}`.", item.phase.span, "unknown", hint)
    return name


def _strength(item: syn.BelieveDecl, draft: Draft) -> m.Term:
    """The weight of a belief, a constant of 0 or more."""
    ctx = Context(draft, was=False, me=False)
    term = _weight(check(item.weight, ctx), ctx, f"weight of `{item.name.value}`")
    check_constant(term, draft, f"weight of `{item.name.value}`")
    return _learned(item, term, draft) if item.learned else term


def _learned(item: syn.BelieveDecl, weight: m.Term, draft: Draft) -> m.Term:
    """The param that a learned weight is: `tw learn fit` finds its value."""
    belief, kind = item.name.value, weight.type
    if not isinstance(weight, m.NumberLiteral) or not isinstance(kind, m.NumberType):
        what = f"The learned weight of `{belief}` is no number that is written out."
        hint = "Write a number, or mark the param as `learned` that it names."
        draft.stop("TW0301", what, weight.span, "not a number", hint)
    digits = max(DIGITS, kind.decimals)
    value, most = weight.value * 10 ** (digits - kind.decimals), MOST_WEIGHT * 10**digits
    if value > most:
        what, hint = f"A learned weight is at most {MOST_WEIGHT}.", "Begin with a smaller one."
        draft.stop("TW0308", what, weight.span, "too large", hint)
    of = m.NumberType(0, most, digits)
    default = m.NumberLiteral(value, m.NumberType(value, value, digits), weight.span)
    name = f"{belief} weight"
    draft.params[name] = m.Param(name, of, default, True, weight.span)
    return m.ParamRead(name, of, weight.span)


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


def _guess(step: syn.Guess | syn.GuessEach, ctx: Context) -> _Guess:
    """The guessed slot with its rows; every row has a value of its type and a weight."""
    target = _target(step.target, ctx)
    fluent, attempt = ctx.draft.fluents[target.fluent], ctx.draft.attempt
    if isinstance(step, syn.Guess):
        _one_rest(step.outcomes, ctx)
        rows = [attempt(lambda row=row: _row(row, fluent, ctx)) for row in step.outcomes]  # type: ignore[misc]
        found = [one for one in rows if one is not None]
        values = tuple(one for one in found if isinstance(one, Row))
        return _Guess(target, values, next((x for x in found if not isinstance(x, Row)), None))
    binders, where, inner = check_where(step.where, ctx)
    row = _row(step.outcome, fluent, inner)
    rest = None
    if step.otherwise is not None:
        rest = _weight(check(step.otherwise, ctx), ctx, "weight of `else`")
    if not isinstance(row, Row):
        what, hint = "`else` stands after what `for` lists.", "Write `value: weight for …`."
        ctx.draft.stop("TW0203", what, step.outcome.span, "no value", hint)
    return _Guess(target, (replace(row, binders=binders, where=where),), rest)


def _target(ref: syn.Ref, ctx: Context) -> m.Read:
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
    return term


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


def _row(row: syn.Outcome, fluent: m.Fluent, ctx: Context) -> Row | m.Term:
    """A row, or the weight of `else`. A value outside the domain is dropped when it comes up; a
    constant one is a mistake."""
    value = None
    if row.value is not None:
        what = f"value guessed for `{fluent.name}`"
        term = check(row.value, ctx, fluent.type)
        wanted = fluent.type if isinstance(term, m.NumberLiteral) else _loose(fluent.type)
        value = fit(term, wanted, ctx, what)
    weight = _weight(check(row.weight, ctx), ctx, "weight of a row")
    return weight if value is None else Row(value, weight)


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
