"""The rules pass: actions, laws, watches, invariants, conservation, prose (language.md §6, §7, §9).

The atoms of a condition are the parts whose values explain a refusal.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Protocol, TypeVar, assert_never, cast

from tokenworld import model as m
from tokenworld.check.draft import Abandon, Draft, Entry
from tokenworld.check.typing.arithmetic import fit
from tokenworld.check.typing.context import Context, facts_where, formal_binders
from tokenworld.check.typing.expressions import (
    check,
    check_condition,
    check_template,
    derive_type,
)
from tokenworld.check.typing.statements import check_block, check_effects, text_of
from tokenworld.check.vocabulary import fresh
from tokenworld.diagnostics import Diagnostic, Span, did_you_mean
from tokenworld.model import atoms_of, children, is_drawn, looks_back, show_type, subterms
from tokenworld.syntax import nodes as syn

# ---- Derived facts -------------------------------------------------------------------------------
# The derives and strata passes: derived facts and their recursion (language.md §3).


def check_derives(draft: Draft) -> None:
    """Check every derive that nothing needed before."""
    for name in list(draft.derive_items):
        if name in draft.derive_items and name not in draft.derives:
            draft.attempt(lambda name=name: derive_type(name, draft))  # type: ignore[misc]
    _reorder(draft)


def _reorder(draft: Draft) -> None:
    """Restore the order of declaration after another order of checking."""
    draft.derives = {
        name: draft.derives[name] for name in draft.derive_items if name in draft.derives
    }


def _calls(term: m.Term, *, positive: bool = True) -> Iterator[tuple[m.DeriveCall, bool]]:
    """The derives a term calls, each with whether only monotone operators stand around it."""
    if isinstance(term, m.DeriveCall):
        yield term, positive
    for child in children(term):
        yield from _calls(child, positive=positive and _monotone(term, child))


def _monotone(parent: m.Term, child: m.Term) -> bool:
    match parent:
        case m.Not() | m.Arithmetic():
            return False
        case m.Compare():
            return False
        case m.Implies(left=left):
            return child is not left
        case m.Fold(fold=fold, value=value):
            return fold == "any" or (fold == "all" and child is value)
        case m.Choose(condition=condition):
            return child is not condition
        case (
            m.LeafTerm() | m.StateTerm() | m.And() | m.Or() | m.Member() | m.IsType() | m.Negate()
            | m.Rescale() | m.ToReal() | m.ListTerm() | m.BuiltinCall() | m.TemplateTerm()
        ):  # fmt: skip
            return True
        case _:
            assert_never(parent)


def _reaches(start: str, draft: Draft) -> set[str]:
    found: set[str] = set()
    todo = [start]
    while todo:
        for call, _ in _calls(draft.derives[todo.pop()].value):
            if call.derive in draft.derives and call.derive not in found:
                found.add(call.derive)
                todo.append(call.derive)
    return found


def stratify(draft: Draft) -> None:
    """Mark recursive derives and those that depend on the actor; report bad recursion."""
    reach = {name: _reaches(name, draft) for name in draft.derives}
    for name, derive in draft.derives.items():
        recursive = name in reach[name]
        if recursive:
            _check_cycle(derive, reach, draft)
        terms = [draft.derives[other].value for other in {name, *reach[name]}]
        uses_me = any(isinstance(sub, m.Me) for term in terms for sub in subterms(term))
        draft.derives[name] = replace(derive, recursive=recursive, uses_me=uses_me)


def _check_cycle(derive: m.Derive, reach: dict[str, set[str]], draft: Draft) -> None:
    for param in derive.params:
        if isinstance(param.type, (m.BoolType, m.RealType)):
            what = f"`{derive.name}` uses itself, and `{param.name}` has no list of values."
            hint = "Give it objects, members or whole numbers of a range."
            draft.tell("TW0207", what, param.span, show_type(param.type), hint)
            return
    if not isinstance(derive.type, m.BoolType):
        what = f"`{derive.name}` uses itself and is {show_type(derive.type)}."
        hint = "Only truth-valued derives may be recursive."
        draft.tell("TW0207", what, derive.span, "not truth-valued", hint)
        return
    for call, positive in _calls(derive.value):
        if not positive and (call.derive == derive.name or derive.name in reach[call.derive]):
            what = f"`{derive.name}` depends on itself through a negation or a calculation."
            hint = "A derive may use itself only where more facts can only make it truer."
            draft.tell("TW0207", what, call.span, "not stratified", hint)
            return


# ---- Rules ---------------------------------------------------------------------------------------


def check_rules(draft: Draft) -> None:
    """Check every rule; a bad one is reported and left out."""
    _named(draft, "action", syn.ActionDecl, draft.actions, _action)
    _named(draft, "law", syn.LawDecl, draft.laws, _law)
    _named(draft, "watch", syn.WatchDecl, draft.watches, _watch, draft.laws)
    _named(draft, "invariant", syn.InvariantDecl, draft.invariants, _invariant)
    _named(draft, "conserve", syn.ConserveDecl, draft.conserves, _conserve)
    _prose(draft)


class _Named(Protocol):
    @property
    def name(self) -> str: ...


class _Declared(Protocol):
    @property
    def name(self) -> syn.Name: ...


class _Placed(_Named, Protocol):
    @property
    def span(self) -> Span: ...


DeclT = TypeVar("DeclT", bound=_Declared)
NamedT = TypeVar("NamedT", bound=_Placed)
ItemT = TypeVar("ItemT")
RuleT = TypeVar("RuleT")


def _named(
    draft: Draft,
    what: str,
    kind: type[DeclT],
    table: dict[str, NamedT],
    check_one: Callable[[Draft, DeclT, Entry], NamedT],
    others: Mapping[str, _Placed] | None = None,
) -> None:
    """Check the rules of one kind; of two with one name the second is reported and left out.

    Rules of the kind in ``others`` have their names in the same namespace.
    """
    items = draft.items(kind)
    names = {item.name.value for item, _ in items}
    if len(names) == len(items) and not (others and names & others.keys()):
        found = _each(draft, what, items, check_one)
        table.update({one.name: one for one in found if one is not None})
        return
    for item, entry in items:
        taken = others if others is not None and item.name.value in others else table
        if fresh(draft, what, item.name, taken):
            one = draft.made(what, (entry,), partial(check_one, draft, item, entry))
            if one is not None:
                table[one.name] = one


def _each(
    draft: Draft,
    what: str,
    items: Sequence[tuple[ItemT, Entry]],
    check_one: Callable[[Draft, ItemT, Entry], RuleT],
) -> list[RuleT | None]:
    """All rules of one kind, in order; `None` where one has a mistake."""
    entries = [entry for _, entry in items]
    return draft.made_of_each(
        what, entries, lambda entry: check_one(draft, cast(ItemT, entry.item), entry)
    )


# ---- actions --------------------------------------------------------------------------


@dataclass(slots=True)
class _Steps:
    """An action's steps as they are sorted into guards, changes and the cancelled block."""

    guards: list[m.Let | m.Require] = field(default_factory=list)
    body: list[m.Effect] = field(default_factory=list)
    cancelled: m.Body = ()
    unread: bool = False
    """Whether a `require` could not be read."""


def _action(draft: Draft, item: syn.ActionDecl, entry: Entry) -> m.Action:
    for formal in item.params:
        if formal.kind is None and formal.name.value in ("self", "this") and draft.actor:
            what = f"`{formal.name.value}` would be an argument of every command."
            hint = f"Leave it away: who acts is `{draft.actor_name}`."
            draft.stop("TW0302", what, formal.span, "a parameter", hint)
    binders = formal_binders(Context(draft), item.params)
    ctx = Context(draft, {binder.name: binder.type for binder in binders})
    phrases = tuple(
        phrase
        for template in item.phrases
        if (phrase := draft.attempt(lambda t=template: check_template(t, ctx))) is not None  # type: ignore[misc]
    )
    takes, until = _takes(item, ctx)
    steps, told = _Steps(), len(draft.report)
    inner = ctx
    for step in item.steps:
        inner = _step(step, inner, steps)
    draft.report[told:] = _causes(draft.report[told:], steps)
    paid = replace(inner, over_time=True)
    cost = None if item.cost is None else _whole(check(item.cost, paid), inner, "cost")
    return m.Action(
        item.name.value, binders, phrases, takes, until, cost, tuple(steps.guards),
        tuple(steps.body), steps.cancelled, item.span, entry.quirk, entry.doc,
    )  # fmt: skip


def _causes(told: Sequence[Diagnostic], steps: _Steps) -> Iterator[Diagnostic]:
    """Drop findings that follow from others: further uses of a parameter without a type, and errors
    in states that an unreadable `require` might have excluded."""
    untyped: set[str] = set()
    for one in told:
        typeless = one.code == "TW0301" and "where it is declared" in (one.hint or "")
        if (one.code == "TW0307" and steps.unread) or (typeless and one.hint in untyped):
            continue
        if typeless and one.hint:
            untyped.add(one.hint)
        yield one


def _takes(item: syn.ActionDecl, ctx: Context) -> tuple[m.Term | None, m.Term | None]:
    if item.takes is None:
        return None, None
    ticks = _whole(check(item.takes.ticks, ctx), ctx, "number of ticks")
    if item.takes.until is None:
        return ticks, None
    return ticks, check_condition(item.takes.until, ctx)


def _whole(term: m.Term, ctx: Context, what: str) -> m.Term:
    """Ticks and costs are whole numbers: a planner adds and compares them exactly."""
    return fit(term, m.NumberType(), ctx, what)


def _step(step: syn.ActionStep, ctx: Context, steps: _Steps) -> Context:
    draft = ctx.draft
    if isinstance(step, syn.Require):
        if steps.body:
            drawn = all(is_drawn(effect) for effect in steps.body)
            first = "draw" if drawn else "change"
            what = f"A `require` stands after a {first}."
            hint = f"Move every `require` before the first {first}."
            draft.tell("TW0402", what, step.span, "too late", hint)
        lets = {guard.name for guard in steps.guards if isinstance(guard, m.Let)}
        require = draft.attempt(lambda: _require(step, ctx, lets))
        if require is None:
            steps.unread = True
            return ctx
        steps.guards.append(require)
        return ctx.narrow(facts_where(require.condition, draft.types))
    if isinstance(step, syn.Cancelled):
        steps.cancelled = check_block(step.block, ctx.other_state())
        return ctx
    effects, after = check_effects((step,), ctx, "rule")
    for effect in effects:
        named = isinstance(step, syn.Let) and not steps.body
        if named and isinstance(effect, m.Let) and not is_drawn(effect):
            steps.guards.append(effect)
        else:
            steps.body.append(effect)
    return after


def _require(step: syn.Require, ctx: Context, lets: Collection[str]) -> m.Require:
    condition = check_condition(step.condition, replace(ctx, over_time=True))
    label = step.label.value if step.label is not None else ""
    text = ctx.draft.attempt(lambda: text_of(step.text, ctx))
    atoms = atoms_of(condition, ctx.draft.text, lets)
    return m.Require(condition, label, text, ctx.quoted(condition), atoms, step.span)


# ---- laws -----------------------------------------------------------------------------


def _law(draft: Draft, item: syn.LawDecl, entry: Entry) -> m.Law:
    binders = formal_binders(Context(draft), item.params)
    ctx = _nobody(draft, {binder.name: binder.type for binder in binders})
    phase = ""
    if item.phase is not None:
        phase = item.phase.value
        if phase not in draft.phases:
            known = ", ".join(f"`{one}`" for one in list(draft.phases)[:8])
            other = f"Write one of {known}, or d" if known else "D"
            hint = did_you_mean(phase, draft.phases) or f"{other}eclare `phase {phase}`."
            what = f"There is no phase `{phase}`."
            draft.stop("TW0502", what, item.phase.span, "unknown phase", hint)
    when = None if item.condition is None else check_condition(item.condition, ctx)
    inner = ctx if when is None else ctx.narrow(facts_where(when, draft.types))
    body = check_block(item.block, inner)
    name = item.name.value
    return m.Law(name, binders, phase, when, body, item.span, entry.quirk, entry.doc)


def _nobody(draft: Draft, names: dict[str, m.ValueType]) -> Context:
    """A place where nobody acts: `me` is the only or first actor (TW0201 with several)."""
    several = any(
        draft.memo.of("turns", (world,), lambda world=world: _takes_turns(world))  # type: ignore[misc]
        for world, _ in draft.items(syn.WorldDecl)
    )
    return Context(draft, names, me=not several)


def _takes_turns(world: syn.WorldDecl) -> bool:
    return any(isinstance(one, syn.Turns) and len(one.actors) > 1 for one in world.items)


def _watch(draft: Draft, item: syn.WatchDecl, _entry: Entry) -> m.Watch:
    binders = formal_binders(Context(draft), item.params)
    ctx = _nobody(draft, {binder.name: binder.type for binder in binders})
    when = check_condition(item.condition, ctx)
    body = check_block(item.block, ctx.narrow(facts_where(when, draft.types)), "watch")
    uses_was = looks_back((when,))
    return m.Watch(item.name.value, binders, item.once, when, body, uses_was, item.span)


def _invariant(draft: Draft, item: syn.InvariantDecl, _entry: Entry) -> m.Invariant:
    binders = formal_binders(Context(draft), item.params)
    ctx = _nobody(draft, {binder.name: binder.type for binder in binders})
    ctx = replace(ctx, was=False)
    condition = check_condition(item.condition, ctx)
    name, atoms = item.name.value, atoms_of(condition, draft.text)
    source = ctx.quoted(condition)
    return m.Invariant(name, binders, condition, source, atoms, item.span)


def _conserve(draft: Draft, item: syn.ConserveDecl, _entry: Entry) -> m.Conserve:
    ctx = replace(_nobody(draft, {}), was=False)
    value = check(item.value, ctx)
    if not isinstance(value.type, m.NumberType):
        what = f"Only exact numbers are conserved, and this is {show_type(value.type)}."
        draft.stop("TW0304", what, value.span, "not exact", "Conserve an exact number.")
    known = {*draft.actions, *draft.laws}
    for name in item.exceptions:
        if name.value not in known:
            hint = did_you_mean(name.value, known) or "Name an action or a law."
            what = f"There is no action or law `{name.value}`."
            draft.tell("TW0201", what, name.span, "unknown rule", hint)
    if not known.issuperset(name.value for name in item.exceptions):
        raise Abandon  # which rules may change the amount is not known
    exempt = tuple(name.value for name in item.exceptions)
    return m.Conserve(item.name.value, value, exempt, ctx.quoted(value), item.span)


# ---- prose ----------------------------------------------------------------------------


def _prose(draft: Draft) -> None:
    called = _each(draft, "called", list(draft.items(syn.CalledDecl)), _called)
    draft.called += [one for one in called if one is not None]
    scopes = _each(draft, "scope", list(draft.items(syn.ScopeDecl)), _scope)
    draft.scopes += [one for one in scopes if one is not None]
    describes = _each(draft, "describe", list(draft.items(syn.DescribeDecl)), _describe)
    draft.describes += [one for one in describes if one is not None]
    births = _each(draft, "birth", list(draft.items(syn.BirthDecl)), _birth)
    draft.births += [one for one in births if one is not None]


def _text_term(expr: syn.Expr, ctx: Context) -> m.Term:
    term = check(expr, ctx, m.TEXT)
    if not isinstance(term.type, (m.TextType, m.EnumType)):
        what = f"A name is text, and this is {show_type(term.type)}."
        ctx.draft.stop("TW0301", what, term.span, "not text", 'Put it in a template: `"{…}"`.')
    return term


def _called(draft: Draft, item: syn.CalledDecl, _entry: Entry) -> m.Called:
    (binder,) = formal_binders(Context(draft), (item.formal,))
    ctx = Context(draft, {binder.name: binder.type}, was=False)
    name = _text_term(item.value, ctx)
    aka = tuple(_text_term(word, ctx) for word in item.aka)
    return m.Called(binder, name, aka, item.span)


def _scope(draft: Draft, item: syn.ScopeDecl, _entry: Entry) -> m.Scope:
    (binder,) = formal_binders(Context(draft), (item.formal,))
    ctx = Context(draft, {binder.name: binder.type}, was=False)
    return m.Scope(binder, check_condition(item.condition, ctx), item.span)


def _describe(draft: Draft, item: syn.DescribeDecl, _entry: Entry) -> m.Describe:
    (binder,) = formal_binders(Context(draft), (item.formal,))
    ctx = Context(draft, {binder.name: binder.type})
    body = check_block(item.block, ctx, "describe")
    return m.Describe(binder, body, item.span)


def _birth(draft: Draft, item: syn.BirthDecl, _entry: Entry) -> m.Birth:
    (binder,) = formal_binders(Context(draft), (item.formal,))
    if not isinstance(binder.type, m.ObjectType):
        what = f"Only objects are created, and this is {show_type(binder.type)}."
        hint = "Name a type of objects."
        draft.stop("TW0301", what, item.formal.span, "never created", hint)
    ctx = _nobody(draft, {binder.name: binder.type})
    return m.Birth(binder, check_block(item.block, ctx), item.span)
