"""Statements: blocks of changes to effects, draws, picks, probabilities (language.md §5, §13)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Literal, assert_never

from tokenworld import model as m
from tokenworld.check.draft import Abandon, Draft, NamedEffect
from tokenworld.check.typing.advice import (
    attribute_for,
    attribute_of_kind,
    check_count,
    of_step,
    of_target,
)
from tokenworld.check.typing.arithmetic import fit
from tokenworld.check.typing.context import (
    BROKEN,
    Context,
    any_type,
    facts_where,
    formal_binders,
    fresh_local,
)
from tokenworld.check.typing.expressions import (
    check,
    check_condition,
    check_reference,
    check_template,
    check_where,
)
from tokenworld.check.typing.names import attribute_of, fact_named, owner_type
from tokenworld.check.typing.types import assignable, can_equal, object_type, optional
from tokenworld.diagnostics import Related, did_you_mean
from tokenworld.diagnostics.frozen import frozen
from tokenworld.model import copied, effects_in, is_optional, show_type, targets_of
from tokenworld.syntax import nodes as syn
from tokenworld.syntax.foreign.words import METHODS, called_word

Place = Literal["rule", "setup", "watch", "describe"]
_SPEAKING = (syn.Say, syn.Emit, syn.If, syn.For, syn.Let, syn.Show, syn.Apply)
_TELLING = (m.Say, m.Emit, m.If, m.For, m.Let, m.DescribeEffect)


@frozen
class _Here:
    """The surroundings of a block: a ``watch`` only prints, a ``setup`` may write static facts."""

    ctx: Context
    place: Place


def check_block(block: syn.Block, ctx: Context, place: Place = "rule") -> m.Body:
    """The effects of a block; each sees the lets and creations before it."""
    return check_effects(block.effects, ctx, place)[0]


def check_effects(
    effects: tuple[syn.Effect, ...], ctx: Context, place: Place
) -> tuple[m.Body, Context]:
    """Effects in order and the place behind them. One bad effect does not hide the others."""
    found: list[m.Effect] = []
    for node in effects:
        here = _Here(ctx, place)
        asked = ctx.draft.attempt(lambda node=node, here=here: _effects(node, here))  # type: ignore[misc]
        if asked is None:
            ctx = _assumed(node, ctx)
            continue
        for effect in asked:
            found.append(effect)
            if isinstance(effect, m.Let):
                ctx = ctx.bind(effect.name, effect.type)
            elif isinstance(effect, m.Create):
                ctx = ctx.bind(effect.name, m.ObjectType(effect.of))
    return tuple(found), ctx


def _effects(node: syn.Effect, here: _Here) -> m.Body:
    """The model's changes for one statement; for a call of an effect, the changes of its body."""
    _allowed(node, here)
    return _applied(node, here) if isinstance(node, syn.Apply) else (_effect(node, here),)


# ---- effects with a name --------------------------------------------------------------


def check_named_effects(draft: Draft) -> None:
    """Check every `effect`; a body that calls one needs it checked."""
    for name in draft.effect_items:
        draft.attempt(lambda name=name: _named_effect(name, draft))  # type: ignore[misc]


def _named_effect(name: str, draft: Draft) -> NamedEffect:
    """A checked effect, checked now if nothing needed it before."""
    if name not in draft.effects:
        item = draft.effect_items[name]
        draft.effects[name] = None
        draft.effects_open.append(name)
        try:
            params = formal_binders(Context(draft), item.params, any_type)
            ctx = Context(draft, {binder.name: binder.type for binder in params})
            # what only a `setup` may change is looked at where the effect is called
            body = check_block(item.block, ctx, "setup")
        finally:
            draft.effects_open.remove(name)
        draft.effects[name] = NamedEffect(name, params, body, item.span)
    found = draft.effects[name]
    if found is None:
        raise Abandon  # its mistake is reported where it is declared
    return found


def _applied(node: syn.Apply, here: _Here) -> m.Body:
    """The changes of a called effect."""
    ctx, draft, name = here.ctx, here.ctx.draft, node.name.value
    if name not in draft.effect_items:
        hint = _instead_of_call(node.name, ctx)
        draft.stop("TW0201", f"There is no effect `{name}`.", node.name.span, "unknown", hint)
    if name in draft.effects_open:
        what = f"The effect `{name}` calls itself, directly or through others."
        draft.stop("TW0206", what, node.span, "calls itself", "Write out what it does here.")
    effect = _named_effect(name, draft)
    check_count("effect", node.name, effect.params, len(node.args), draft)
    args = tuple(
        fit(check(arg, ctx, param.type), param.type, ctx, f"argument of `{name}`")
        for arg, param in zip(node.args, effect.params, strict=True)
    )
    found = inlined(effect, args, f"`{len(ctx.names)}", draft)
    _fits(found, node, here)
    return found.body


def _instead_of_call(name: syn.Name, ctx: Context) -> str:
    """The hint for a call of an effect that does not exist."""
    if name.value in ctx.draft.events:
        return "Write `emit` before an event."
    if fact_named(name, ctx) is not None:
        return "Write `add` before a fact, or `=` and a value after it."
    attributes = (one for one in ctx.draft.fluents.values() if one.fluent_kind == "attribute")
    if any(one.name == name.value for one in attributes):
        return f"Write `x.{name.value} = …` to change an attribute."
    whole, _, last = name.value.rpartition(".")
    fact = next((one for one in (last, whole) if whole and one in ctx.draft.fluents), None)
    if fact is not None:
        return f"Write `add {fact}(…)` or `remove {fact}(…)`, with all arguments."
    if last in ctx.draft.effect_items:
        return f"Write the object as an argument: `{last}({whole}, …)`."
    inverse = whole.rpartition(".")[2]
    for one in ctx.draft.fluents.values():
        if inverse and inverse in (one.inverse, one.closure):
            return f"`{inverse}` follows from `{one.name}`: write `x.{one.name} = …`."
    method = METHODS.get(last) if whole else None
    known = did_you_mean(name.value, ctx.draft.effect_items) or called_word(name.value) or method
    return known or f"Declare `effect {name.value}(…) {{ … }}`."


_FEW = 7
MOST_CHANGES = 10_000
"""Of one call, where those of the effects in it are written out."""


def _fits(found: Inlined, node: syn.Apply, here: _Here) -> None:
    """Stop at changes that may not stand where they are called."""
    draft, name = here.ctx.draft, node.name.value
    changes = tuple(effects_in(found.body))
    if len(changes) > MOST_CHANGES:
        what = f"`{name}` stands for more than {MOST_CHANGES} changes."
        draft.stop("TW0101", what, node.span, "too long", "Call fewer effects in each other.")
    if here.place in ("watch", "describe") and not all(isinstance(e, _TELLING) for e in changes):
        what = f"A `{here.place}` only speaks, and `{name}` makes changes."
        hint = "Call it in a law, and let the watch tell about it."
        draft.stop("TW0505", what, node.span, "a change", hint)
    targets = [draft.fluents[one.fluent] for effect in changes for one in targets_of(effect)]
    fixed = next((one for one in targets if one.static), None)
    if fixed is not None and here.place != "setup":
        what = f"`{name}` changes `{fixed.name}`, which is static."
        draft.stop("TW0407", what, node.span, "changes it", "Remove `static`, or the change.")
    if found.acts and not here.ctx.me:
        what = f"Nobody acts here, and `{name}` depends on `{draft.actor_name}`."
        hint = "Give the effect a parameter for the object."
        draft.stop("TW0201", what, node.name.span, "no acting object", hint)


def _assumed(node: syn.Effect, ctx: Context) -> Context:
    """The place after a failed effect: its name stays bound, so that uses are not reported too."""
    if isinstance(node, (syn.Let, syn.Create)) and node.name.value not in ctx.names:
        return ctx.bind(node.name.value, BROKEN)
    return ctx


def _effect(node: syn.Change, here: _Here) -> m.Effect:
    match node:
        case syn.Let():
            return _let(node, here.ctx)
        case syn.Set():
            return _set(node, here)
        case syn.Add(target=target):
            return m.AddFact(_relation_target(target, here), node.span)
        case syn.Remove(target=target):
            return m.RemoveFact(_relation_target(target, here), node.span)
        case syn.If() | syn.For() | syn.Chance() | syn.Pick():
            return _control(node, here)
        case syn.Create() | syn.Destroy():
            return _life(node, here)
        case syn.Transfer() | syn.Swap():
            return _exchange(node, here)
        case _:
            return _speech(node, here)


def _allowed(node: syn.Effect, here: _Here) -> None:
    if here.place in ("watch", "describe") and not isinstance(node, _SPEAKING):
        what = f"A `{here.place}` only speaks."
        hint = "Make the change in a law, and let the watch tell about it."
        here.ctx.draft.stop("TW0505", what, node.span, "a change", hint)


def _let(node: syn.Let, ctx: Context) -> m.Effect:
    name = node.name.value
    fresh_local(node.name, ctx)
    if isinstance(node.value, (syn.DrawChance, syn.DrawPick, syn.DrawUniform)):
        draw, kind = check_draw(node.value, ctx)
        return m.Let(name, draw, kind, node.span)
    term = check(node.value, ctx)
    return m.Let(name, term, term.type, node.span)


# ---- targets --------------------------------------------------------------------------


def _target(ref: syn.Ref, here: _Here) -> m.Read:
    term = check_reference(ref, here.ctx, None)
    draft = here.ctx.draft
    if not isinstance(term, m.Read) or term.was:
        what = f"`{draft.text(ref.span)}` is not stored, so it cannot be changed."
        draft.stop("TW0401", what, ref.span, "not a stored fact", of_target(term, here.ctx))
    fluent = draft.fluents[term.fluent]
    if fluent.fluent_kind == "table":
        what = f"`{fluent.name}` is a table: its rows are fixed."
        hint = "Correct the row, or declare a `function` to change."
        draft.stop("TW0401", what, ref.span, "a table", hint)
    if fluent.static and here.place != "setup":
        what = f"`{fluent.name}` is static: it never changes after the setup."
        draft.stop("TW0407", what, ref.span, "static", "Remove `static`, or the change.")
    return term


def _relation_target(ref: syn.Ref, here: _Here) -> m.Read:
    target = _target(ref, here)
    fluent = here.ctx.draft.fluents[target.fluent]
    if not isinstance(fluent.type, m.BoolType):
        what = f"`{fluent.name}` is {show_type(fluent.type)}, not a relation."
        hint = "Write `=` to give it a value."
        here.ctx.draft.stop("TW0401", what, ref.span, "not a relation", hint)
    return target


def _set(node: syn.Set, here: _Here) -> m.Effect:
    target = _target(node.target, here)
    ctx = here.ctx
    fluent = ctx.draft.fluents[target.fluent]
    what = f"{fluent.fluent_kind} `{fluent.name}`"
    if node.op != "=" and not isinstance(fluent.type, (m.NumberType, m.RealType)):
        said = f"`{fluent.name}` is {show_type(fluent.type)}, and `{node.op}` needs a number."
        hint = of_step(target, node.op, fluent.type, ctx)
        ctx.draft.stop("TW0301", said, node.span, "not a number", hint)
    value = check(node.value, ctx, fluent.type)
    wanted = fluent.type
    if node.op != "=" and isinstance(wanted, m.NumberType):
        wanted = replace(wanted, low=None, high=None, optional=False)
    return m.Assign(target, node.op, fit(value, wanted, ctx, what), node.span)


# ---- control --------------------------------------------------------------------------


def _control(node: syn.If | syn.For | syn.Chance | syn.Pick, here: _Here) -> m.Effect:
    match node:
        case syn.If(branches=branches, otherwise=otherwise):
            return _if(branches, otherwise, here)
        case syn.For(where=where, block=block):
            binders, condition, inner = check_where(where, here.ctx)
            return m.For(binders, condition, check_block(block, inner, here.place), node.span)
        case syn.Chance(branches=branches):
            return _chance(node, here)
        case syn.Pick():
            binders, condition, key, weight, inner = check_pick(node.where, node.by, here.ctx)
            body = check_block(node.block, inner, here.place)
            other = _block_or_nothing(node.otherwise, here)
            return m.Pick(binders, condition, key, weight, body, other, node.span)
        case _:
            assert_never(node)


def _block_or_nothing(block: syn.Block | None, here: _Here) -> m.Body:
    return () if block is None else check_block(block, here.ctx, here.place)


def _if(branches: tuple[syn.Branch, ...], otherwise: syn.Block | None, here: _Here) -> m.Effect:
    first, rest = branches[0], branches[1:]
    condition = check_condition(first.condition, here.ctx)
    types = here.ctx.draft.types
    then = check_block(first.block, here.ctx.narrow(facts_where(condition, types)), here.place)
    after = _Here(here.ctx.narrow(facts_where(condition, types, holds=False)), here.place)
    other = (_if(rest, otherwise, after),) if rest else _block_or_nothing(otherwise, after)
    last = otherwise if otherwise is not None else branches[-1].block
    return m.If(condition, then, other, first.condition.span.join(last.span))


def _chance(node: syn.Chance, here: _Here) -> m.Effect:
    branches = tuple(
        m.Branch(check(branch.condition, here.ctx), check_block(branch.block, here.ctx, here.place))
        for branch in node.branches
    )
    check_probabilities([branch.probability for branch in branches], here.ctx)
    return m.Chance(branches, _block_or_nothing(node.otherwise, here), node.span)


# ---- life and exchange ----------------------------------------------------------------


def check_fields(
    fields: tuple[syn.Field, ...], type_name: str, ctx: Context
) -> tuple[m.FieldValue, ...]:
    """Initial values of an object of a type, in written order."""
    found: dict[str, m.FieldValue] = {}
    for one in fields:
        value = ctx.draft.attempt(lambda one=one: _field(one, type_name, ctx))  # type: ignore[misc]
        if value is None:
            continue
        if value.fluent in found:
            ctx.draft.twice("field", one.name, found[value.fluent].span)
        found[value.fluent] = value
    return tuple(found.values())


def _field(field: syn.Field, type_name: str, ctx: Context) -> m.FieldValue:
    fluent = attribute_of(ctx.draft, type_name, field.name.value)
    if fluent is None:
        names = [ctx.draft.fluents[key].name for key in ctx.draft.types[type_name].attributes]
        near = did_you_mean(field.name.value, names) or _meant_field(field, type_name, ctx)
        hint = near or f"Declare it in `type {type_name}`."
        what = f"`{type_name}` has no attribute `{field.name.value}`."
        owner = owner_type(ctx, field.name.value) if type_name == m.ROOT else None
        if owner is not None:
            what = f"An object without a type has no attribute `{field.name.value}`."
            hint = f"Write its type where it is declared, as `object x: {owner}`."
        ctx.draft.stop("TW0201", what, field.name.span, "unknown", hint)
    what = f"attribute `{fluent.name}`"
    value = fit(check(field.value, ctx, fluent.type), fluent.type, ctx, what)
    return m.FieldValue(fluent.id, value, field.span)


def _meant_field(field: syn.Field, type_name: str, ctx: Context) -> str | None:
    """The hint at an unknown attribute: the one that its value fits, or whose type it names."""
    told = len(ctx.draft.report)
    value = ctx.draft.attempt(lambda: check(field.value, ctx))
    del ctx.draft.report[told:]
    by_value = None if value is None else attribute_for(type_name, value, ctx)
    return by_value or attribute_of_kind(type_name, field.name.value, ctx)


def _no_hole(kind: m.ObjectType, node: syn.Destroy, ctx: Context) -> None:
    """Report a reference that destroying an object would leave without a value (TW0408)."""
    draft = ctx.draft
    for fluent in draft.fluents.values():
        value = fluent.type
        if not isinstance(value, m.ObjectType) or value.optional:
            continue
        if can_equal(draft.types, kind, value):
            what = f"`{fluent.name}` may point at what is destroyed, and is never `none`."
            hint = f"Make it optional: `{value.name}?`."
            related = (Related(fluent.span, f"`{fluent.name}` is declared here"),)
            draft.stop("TW0408", what, node.span, "leaves a hole", hint, related)


def _life(node: syn.Create | syn.Destroy, here: _Here) -> m.Effect:
    ctx = here.ctx
    if isinstance(node, syn.Destroy):
        target = check(node.target, ctx)
        if not isinstance(target.type, m.ObjectType):
            what = f"`{ctx.quoted(target)}` is {show_type(target.type)}, not an object."
            ctx.draft.stop("TW0301", what, node.target.span, "no object", "Destroy an object.")
        _no_hole(target.type, node, ctx)
        return m.Destroy(target, node.span)
    fresh_local(node.name, ctx)
    of = object_type(ctx.draft, node.type)
    return m.Create(node.name.value, of, check_fields(node.fields, of, ctx), False, node.span)


def _exchange(node: syn.Transfer | syn.Swap, here: _Here) -> m.Effect:
    ctx = here.ctx
    if isinstance(node, syn.Swap):
        left, right = _target(node.first, here), _target(node.second, here)
        fit(left, ctx.draft.fluents[right.fluent].type, ctx, "second slot of `swap`")
        fit(right, ctx.draft.fluents[left.fluent].type, ctx, "first slot of `swap`")
        return m.Swap(left, right, node.span)
    source, target = _target(node.source, here), _target(node.target, here)
    amount: m.Term = check(node.amount, ctx, None)
    for end in (source, target):
        fluent = ctx.draft.fluents[end.fluent]
        wanted = fluent.type
        if not isinstance(wanted, (m.NumberType, m.RealType)):
            what = f"`{fluent.name}` is {show_type(wanted)}, and only numbers are transferred."
            ctx.draft.stop("TW0301", what, end.span, "not a number", "Name a number.")
        if isinstance(wanted, m.NumberType):
            wanted = replace(wanted, low=None, high=None, optional=False)
        amount = fit(amount, wanted, ctx, f"{fluent.fluent_kind} `{fluent.name}`")
    return m.Transfer(amount, source, target, node.span)


# ---- output ---------------------------------------------------------------------------


def _speech(node: syn.Emit | syn.Say | syn.Show | syn.Reward, here: _Here) -> m.Effect:
    ctx = here.ctx
    match node:
        case syn.Emit(event=event, args=args):
            return m.Emit(event.value, check_event(event, args, ctx), node.span)
        case syn.Say(text=text):
            return m.Say(check_template(text, _behind(here)), node.span)
        case syn.Show(target=target):
            return m.DescribeEffect(check(target, _behind(here)), node.span)
        case syn.Reward(amount=amount):
            term = check(amount, ctx)
            wanted: m.NumberType = m.NumberType()
            if not isinstance(term.type, (m.NumberType, m.RealType)):
                fit(term, wanted, ctx, "reward")
            return m.Reward(term, node.span)
        case _:
            assert_never(node)


def _behind(here: _Here) -> Context:
    """The place of prose: a rule speaks on the state after its body."""
    return here.ctx if here.place in ("watch", "describe") else here.ctx.other_state()


def check_event(event: syn.Name, args: tuple[syn.Expr, ...], ctx: Context) -> tuple[m.Term, ...]:
    """The arguments of an emitted event."""
    if event.value not in ctx.draft.events:
        known = ", ".join(f"`{one}`" for one in sorted(ctx.draft.events))
        first = (
            f"Write one of {known}, or declare" if 0 < len(ctx.draft.events) < _FEW else "Declare"
        )
        declare = f"{first} `event {event.value}(…)`."
        hint = did_you_mean(event.value, ctx.draft.events) or declare
        what = f"There is no event `{event.value}`."
        ctx.draft.stop("TW0702", what, event.span, "unknown event", hint)
    params = ctx.draft.events[event.value].params
    check_count("event", event, params, len(args), ctx.draft)
    return tuple(
        fit(check(arg, ctx, param.type), param.type, ctx, f"argument of `{event.value}`")
        for arg, param in zip(args, params, strict=True)
    )


def text_of(template: syn.Template | None, ctx: Context) -> m.Template | None:
    """An optional template."""
    return None if template is None else check_template(template, ctx)


def check_probabilities(terms: list[m.Term], ctx: Context) -> None:
    """Probabilities are numbers, and constant ones add up to 1 at most (TW0409)."""
    total = Fraction(0)
    for term in terms:
        if not isinstance(term.type, (m.NumberType, m.RealType)):
            what = f"A probability is a number, and this is {show_type(term.type)}."
            ctx.draft.stop("TW0301", what, term.span, "not a number", "Write `25%` or `0.25`.")
        _never_none(term, "probability", ctx)
        if isinstance(term, m.NumberLiteral) and isinstance(term.type, m.NumberType):
            if term.value < 0:
                what = "A probability is not below 0."
                ctx.draft.stop("TW0409", what, term.span, "below 0", "Write `25%` or `0.25`.")
            total += Fraction(term.value, 10**term.type.decimals)
    if total > 1:
        what = "The probabilities add up to more than 1."
        hint = "Lower them, so that they add up to 1 or less."
        first = terms[0]
        if isinstance(first, m.NumberLiteral) and len(terms) == 1 and not _has_decimals(first):
            hint = f"Write `{first.value}%` for so many of a hundred."
        ctx.draft.stop("TW0409", what, terms[0].span.join(terms[-1].span), f"{total}", hint)


def _has_decimals(term: m.NumberLiteral) -> bool:
    return isinstance(term.type, m.NumberType) and term.type.decimals > 0


def _never_none(term: m.Term, what: str, ctx: Context) -> None:
    if is_optional(term.type):
        said = f"The {what} may be `none`."
        hint = "Test it for `none` first, or guard it in `where`."
        ctx.draft.stop("TW0307", said, term.span, "may be `none`", hint)


def check_pick(
    where: syn.Where, by: syn.PickBy | None, ctx: Context
) -> tuple[tuple[m.Binder, ...], m.Term | None, m.PickKey, m.Term | None, Context]:
    """The candidates of a pick, how one is chosen, and the place of its body."""
    binders, condition, inner = check_where(where, ctx)
    if by is None:
        return binders, condition, "uniform", None, inner
    weight = check(by.key, inner)
    if not isinstance(weight.type, (m.NumberType, m.RealType)):
        what = f"`by {by.kind}` needs a number, and this is {show_type(weight.type)}."
        ctx.draft.stop("TW0301", what, weight.span, "not a number", "Write a number.")
    if by.kind == "weight":  # the others may be guarded by `where`, which narrows no path
        _never_none(weight, "weight", ctx)
    return binders, condition, by.kind, weight, inner


def check_draw(draw: syn.Draw, ctx: Context) -> tuple[m.Draw, m.ValueType]:
    """A draw used as a value, and its type."""
    match draw:
        case syn.DrawChance(probability=probability):
            term = check(probability, ctx)
            check_probabilities([term], ctx)
            return m.DrawChance(term), m.BOOL
        case syn.DrawPick(where=where, by=by):
            binders, condition, key, weight, _ = check_pick(where, by, ctx)
            if len(binders) != 1:
                what = "A draw picks one thing."
                ctx.draft.stop("TW0302", what, draw.span, hint="Keep one variable.")
            return m.DrawPick(binders, condition, key, weight), optional(binders[0].type)
        case syn.DrawUniform(low=low, high=high):
            ends = [fit(check(end, ctx), m.REAL, ctx, "bound") for end in (low, high)]
            return m.DrawUniform(ends[0], ends[1]), m.REAL
        case _:
            assert_never(draw)


# ---- calls of named effects: their changes, with the arguments in their places ------------


@dataclass(slots=True)
class Inlined:
    """The changes of one call. ``acts``: their meaning depends on who acts."""

    body: m.Body
    acts: bool


def inlined(effect: NamedEffect, args: tuple[m.Term, ...], suffix: str, draft: Draft) -> Inlined:
    """The changes of an effect for these arguments, by value.

    An argument that is a name stands wherever its parameter stood; any other is named by a `let`
    first. ``suffix`` is put after the names of the effect's own locals, so that none of them
    hides a name of the calling body.
    """
    names: dict[str, m.Term] = {}
    lets: list[m.Let] = []
    for param, arg in zip(effect.params, args, strict=True):
        if isinstance(arg, (m.Local, m.Me, m.ObjectLiteral)):
            names[param.name] = arg
        else:
            names[param.name] = m.Local(param.name + suffix, param.type, arg.span)
            lets.append(m.Let(param.name + suffix, arg, param.type, arg.span))
    copy = _Copy(names, suffix, draft)
    body = copied(effect.body, copy.change)
    used = [let for let in lets if let.name in copy.used]
    return Inlined((*used, *body), copy.acts)


@dataclass(slots=True)
class _Copy:
    """Copies a body with other names for its locals, and notes whether it speaks of the actor."""

    names: Mapping[str, m.Term]
    suffix: str
    draft: Draft
    used: set[str] = field(default_factory=set)
    acts: bool = False

    def change(self, part: Any) -> Any:
        """The part of the body that replaces another; `copied` calls it for every part."""
        if isinstance(part, m.Local):
            return self._local(part)
        if isinstance(part, (m.Let, m.Create, m.Binder)):
            return replace(part, name=part.name + self.suffix)
        self.acts |= isinstance(part, m.Me)
        if isinstance(part, m.DeriveCall) and part.derive in self.draft.derives:
            self.acts |= self.draft.derives[part.derive].uses_me
        return part

    def _local(self, local: m.Local) -> m.Term:
        given = self.names.get(local.name)
        if given is None:
            return replace(local, name=local.name + self.suffix)
        if isinstance(given, m.Local):
            self.used.add(given.name)
        nearer = assignable(self.draft.types, given.type, local.type)
        present = is_optional(local.type) or not is_optional(given.type)
        kind = given.type if nearer and present else local.type
        return replace(given, type=kind, span=local.span)
