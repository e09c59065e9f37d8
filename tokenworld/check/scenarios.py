"""The scenarios pass: tests that play a world (language.md §15)."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from typing import assert_never, get_args

from tokenworld import model as m
from tokenworld.check.draft import Draft
from tokenworld.check.typing.advice import check_count
from tokenworld.check.typing.arithmetic import fit
from tokenworld.check.typing.context import Context
from tokenworld.check.typing.expressions import check, check_condition
from tokenworld.check.typing.names import behind_alias, object_named
from tokenworld.check.typing.statements import check_block, check_event
from tokenworld.check.typing.types import MOST_REPEATED, whole
from tokenworld.check.worlds import actor_named, param_setting, read_data
from tokenworld.diagnostics import did_you_mean
from tokenworld.syntax import nodes as syn

Result = syn.Won | syn.Lost | syn.Unchanged | syn.Says | syn.Emits
STATUSES: tuple[str, ...] = get_args(m.StatusName)


def check_scenarios(draft: Draft) -> None:
    """Every scenario of the root file."""
    items = [item for item, _ in draft.items(syn.ScenarioDecl)]
    found = draft.made_of_each("scenario", items, lambda item: _scenario(item, draft))
    draft.scenarios += [one for one in found if one is not None]


def _scenario(item: syn.ScenarioDecl, draft: Draft) -> m.Scenario:
    world = item.world.value
    if world not in draft.worlds:
        known = ", ".join(f"`{one}`" for one in list(draft.worlds)[:8])
        told = f"Name a world of this file: {known}." if known else "Write the world first."
        hint = did_you_mean(world, draft.worlds) or told
        what = f"There is no world `{world}`."
        draft.stop("TW0201", what, item.world.span, "unknown world", hint)
    ctx = Context(draft, world=world, me=len(draft.worlds[world].turns) < 2)
    steps: list[m.ScenarioStep] = []
    for place, step in enumerate(item.steps):
        before = item.steps[:place]
        if isinstance(step, syn.Then) and not any(isinstance(one, syn.When) for one in before):
            _needs_a_step(step, draft)
        checked = draft.attempt(partial(_step, step, ctx))
        if checked is not None:
            steps.append(checked)
    return m.Scenario(item.title.value, world, tuple(steps), item.span)


def _needs_a_step(then: syn.Then, draft: Draft) -> None:
    """Before any `when` there is no outcome to check (TW0701)."""
    for check_ in then.checks:
        if isinstance(check_, (syn.Refused, syn.StatusIs, syn.Says, syn.Emits, syn.Unchanged)):
            what = "Nothing has happened before this check."
            hint = "Write a `when` before it; here only the start state can be checked."
            draft.tell("TW0701", what, check_.span, "no `when` before", hint)


def _step(step: syn.Step, ctx: Context) -> m.ScenarioStep:
    match step:
        case syn.Given():
            return _given(step, ctx)
        case syn.Random(seed=seed):
            if seed.decimals or seed.unit:
                what = "A seed is a whole number."
                ctx.draft.stop("TW0301", what, seed.span, hint="Write `random 7`.")
            return m.Seed(seed.scaled, step.span)
        case syn.When():
            return _when(step, ctx)
        case syn.Then(checks=checks):
            return m.Expect(tuple(_check(one, ctx) for one in checks), step.span)
        case syn.Always(condition=condition):
            term = check_condition(condition, ctx)
            return m.Always(term, ctx.quoted(term), step.span)
        case syn.Never(condition=condition):
            term = check_condition(condition, ctx)
            return m.Never(term, ctx.quoted(term), step.span)
        case syn.Replay(path=path):
            read_data(path, ctx.draft)
            return m.Replay(path.value, step.span)
        case _:
            assert_never(step)


def _given(step: syn.Given, ctx: Context) -> m.Given:
    params: list[m.ParamSetting] = []
    effects: list[syn.Effect] = []
    for effect in step.block.effects:
        name = _tuned(effect.target, ctx) if isinstance(effect, syn.Set) else None
        if isinstance(effect, syn.Set) and name is not None and effect.op == "=":
            params.append(param_setting(ctx.draft, name, effect.value, ctx))
        else:
            effects.append(effect)
    block = syn.Block(step.block.span, tuple(effects))
    return m.Given(check_block(block, ctx), tuple(params), step.span)


def _tuned(ref: syn.Ref, ctx: Context) -> syn.Name | None:
    """The param that a `given` overrides, if the target is one."""
    if isinstance(ref, syn.Attr):
        ref = behind_alias(ref.base, ref.name, ctx) or ref
    if not isinstance(ref, syn.Name) or object_named(ref, ctx) is not None:
        return None
    full = next((one for one in ctx.draft.candidates(ref) if one in ctx.draft.params), None)
    return None if full is None else replace(ref, value=full)


# ---- when -----------------------------------------------------------------------------


def _when(step: syn.When, ctx: Context) -> m.When:
    times = 1 if step.times is None else whole(ctx.draft, step.times, 1, MOST_REPEATED)
    by = None if step.actor is None else actor_named(step.actor, ctx)
    intent = _intent(step.intent, ctx)
    return m.When(intent, by, times, ctx.draft.text(step.intent.span), step.span)


def _intent(intent: syn.Intent, ctx: Context) -> m.CallStep | m.TypedStep | m.PassStep:
    match intent:
        case syn.Typed(text=text):
            return m.TypedStep(text.value)
        case syn.Pass():
            return m.PassStep()
        case syn.Call(function=name, args=args):
            return _call(name, args, ctx)
        case syn.Name():
            return _call(intent, (), ctx)
        case syn.Attr() | syn.Method():
            full = behind_alias(intent.base, intent.name, ctx)
            if full is not None:
                return _call(full, intent.args if isinstance(intent, syn.Method) else (), ctx)
            hint = "Write a call, and who acts after it, `go(x) by anna`; or words in quotes."
            ctx.draft.stop("TW0301", "An intent is a call.", intent.span, "no call", hint)
        case _:
            assert_never(intent)


def _call(name: syn.Name, args: tuple[syn.Expr, ...], ctx: Context) -> m.CallStep:
    actions = ctx.draft.actions
    full = next((one for one in ctx.draft.candidates(name) if one in actions), None)
    if full is None:
        ctx.draft.unknown("action", name, actions)
    params = actions[full].params
    check_count("action", name, params, len(args), ctx.draft)
    terms = tuple(
        fit(check(arg, ctx, param.type), param.type, ctx, f"`{param.name}` of `{name.value}`")
        for arg, param in zip(args, params, strict=True)
    )
    return m.CallStep(full, terms)


# ---- then -----------------------------------------------------------------------------


def _check(check_: syn.Check, ctx: Context) -> m.Check:
    match check_:
        case syn.Holds(condition=condition):
            _executed_hint(condition, ctx)
            term = check_condition(condition, ctx)
            return m.HoldsCheck(term, ctx.quoted(term), check_.span)
        case syn.Refused(label=label):
            if label is not None:
                _known_label(label, ctx)
            return m.RefusedCheck(None if label is None else label.value, check_.span)
        case syn.StatusIs(status=status):
            if status.value not in STATUSES:
                hint = did_you_mean(status.value, STATUSES) or f"One of {', '.join(STATUSES)}."
                what = f"There is no status `{status.value}`."
                ctx.draft.stop("TW0702", what, status.span, "unknown status", hint)
            return m.StatusCheck(status.value, check_.span)
        case syn.Within(ticks=ticks, condition=condition):
            term = check_condition(condition, ctx)
            return m.WithinCheck(whole(ctx.draft, ticks), term, ctx.quoted(term), check_.span)
        case syn.Winnable(ticks=bound):
            most = None if bound is None else whole(ctx.draft, bound)
            return m.WinnableCheck(most, check_.span)
        case syn.Unwinnable():
            return m.UnwinnableCheck(check_.span)
        case _:
            return _result(check_, ctx)


def _result(check_: Result, ctx: Context) -> m.Check:
    match check_:
        case syn.Won(name=name):
            return m.WonCheck(_ending(name, "goal", ctx), check_.span)
        case syn.Lost(name=name):
            return m.LostCheck(_ending(name, "lose", ctx), check_.span)
        case syn.Unchanged():
            return m.UnchangedCheck(check_.span)
        case syn.Says(text=text):
            return m.SaysCheck(text.value, check_.span)
        case syn.Emits(event=event):
            return _emits(event, ctx, check_)
        case _:
            assert_never(check_)


def _emits(event: syn.Ref, ctx: Context, check_: syn.Emits) -> m.EmitsCheck:
    name, args = _event_call(event, ctx)
    if name is not None:
        full = next((one for one in ctx.draft.candidates(name) if one in ctx.draft.events), "")
        event_name = replace(name, value=full or name.value)
        return m.EmitsCheck(event_name.value, check_event(event_name, args, ctx), check_.span)
    ctx.draft.stop("TW0702", "An event is written as a call.", event.span, "no event")


def _event_call(event: syn.Ref, ctx: Context) -> tuple[syn.Name | None, tuple[syn.Expr, ...]]:
    match event:
        case syn.Name():
            return event, ()
        case syn.Call(function=function, args=args):
            return function, args
        case syn.Attr(base=base, name=name):
            return behind_alias(base, name, ctx), ()
        case syn.Method(base=base, name=name, args=args):
            return behind_alias(base, name, ctx), args
        case _:
            assert_never(event)


def _executed_hint(condition: syn.Expr, ctx: Context) -> None:
    if isinstance(condition, syn.Name) and condition.value in STATUSES:
        what = f"`{condition.value}` is a status, not a condition."
        hint = f"Write `status {condition.value}`."
        ctx.draft.stop("TW0201", what, condition.span, "a status", hint)


def _known_label(label: syn.Name, ctx: Context) -> None:
    labels = {require.label for a in ctx.draft.actions.values() for require in a.requires}
    known = {*labels, "range", "unique", "cycle", "spare"}
    if label.value not in known:
        inside = sorted((one for one in known if one and one in label.value), key=len)
        hint = did_you_mean(label.value, sorted(known)) or _labels_before(label, ctx)
        hint = f"Did you mean `{inside[-1]}`?" if inside else hint
        what = f"No `require` has the label `{label.value}`."
        ctx.draft.stop("TW0702", what, label.span, "unknown label", hint)


def _labels_before(label: syn.Name, ctx: Context) -> str:
    """Return the labels of the action that the last `when` before a label gives, as a hint."""
    source = ctx.draft.source_of(label.span)
    before = "" if source is None else source.text[: label.span.start]
    given = re.findall(r"\bwhen\s+([\w.]+)", before)[-1:]
    actions = [one for name, one in ctx.draft.actions.items() if [name] == given]
    labels = [f"`{one.label}`" for action in actions for one in action.requires if one.label]
    if not labels:
        return "Name the label of a `require`."
    return f"The labels of `{given[0]}` are {', '.join(dict.fromkeys(labels))}."


def _ending(name: syn.Name | None, kind: str, ctx: Context) -> str | None:
    if name is None:
        return None
    endings = ctx.draft.worlds[ctx.world or ""].endings
    known = [ending.name for ending in endings if ending.ending == kind]
    if name.value not in known:
        hint = did_you_mean(name.value, known) or f"Name a `{kind}` line of the world."
        what = f"The world has no `{kind} {name.value}`."
        ctx.draft.stop("TW0702", what, name.span, "unknown ending", hint)
    return name.value
