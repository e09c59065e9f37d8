"""Declarations that nothing uses (TW0904)."""

from __future__ import annotations

from dataclasses import replace

from tokenworld.check.applicability import watched_actions
from tokenworld.check.draft import Draft
from tokenworld.check.mentions import Mentions, all_mentions, mentions
from tokenworld.diagnostics import Edit, Fix, Span
from tokenworld.model import (
    Action,
    Binder,
    Body,
    Derive,
    Invariant,
    Law,
    Let,
    TextType,
    Watch,
    World,
    effects_in,
)
from tokenworld.syntax import nodes as syn

__all__ = ["check_usage"]

_Rule = Derive | Watch | Invariant


def check_usage(draft: Draft) -> None:
    """Unused parameters, `let` names, phases, events, params, derives and facts."""
    used = _used(draft)
    _locals(draft)
    phases = {law.phase for law in draft.laws.values()}
    for phase in draft.phases.values():
        if phase.name not in phases:
            what = f"No law runs in the phase `{phase.name}`."
            _tell(draft, what, phase.span, "Remove it, or add `during` to a law.")
    for event in draft.events.values():
        if event.name not in used.events:
            _tell(draft, f"Nothing emits the event `{event.name}`.", event.span,
                  "Remove it, or `emit` it.")  # fmt: skip
    for param in draft.params.values():
        if param.name not in used.params:
            what = f"Nothing reads the param `{param.name}`."
            _tell(draft, what, param.span, "Remove it, or use it.")
    if not draft.pddl and any(_aims(world) for world in draft.worlds.values()):
        draft.once("facts", (used,), lambda: _facts(draft, used))


def _aims(world: World) -> bool:
    """Whether something is made of the state: without an ending or a score, it is the result."""
    return bool(world.endings or world.awards or world.pays or world.score is not None)


def _tell(draft: Draft, what: str, span: Span, hint: str, fix: Fix | None = None) -> None:
    draft.tell("TW0904", what, span, "unused", hint, fix=fix)


def _used(draft: Draft) -> Mentions:
    """What some term or change of the program mentions. Beliefs are not part of the model: their
    words count as uses of params."""
    used = all_mentions(draft)
    words = set[str]()
    for belief, _ in draft.items(syn.BelieveDecl):
        words |= set(draft.text(belief.span).replace("(", " ").split())
    return replace(used, params=used.params | words) if words else used


# ---- facts and derives ------------------------------------------------------------------


def _facts(draft: Draft, used: Mentions) -> None:
    """Facts and derives that nothing reads, in a program whose world has an ending or a score.

    A library may offer what only its users need. A static attribute may describe a thing for
    records alone, and a text derive may name it there; `sees` is read by the scope of commands.
    """
    for derive in draft.derives.values():
        if derive.name not in used.derives and not _by_convention(derive):
            what = f"Nothing uses the derive `{derive.name}`."
            _tell(draft, what, derive.span, "Remove it, or use it.")
    described = _described(draft)
    for fluent in draft.fluents.values():
        if fluent.id in used.fluents or (fluent.static and fluent.fluent_kind == "attribute"):
            continue
        if fluent.id in used.written:
            what = f"Rules change `{fluent.name}`, and nothing reads it."
            _tell(draft, what, fluent.span, "Remove it, or read it somewhere.")
        elif fluent.id not in described or draft.pedantic:
            what = f"Nothing reads `{fluent.name}`."
            _tell(draft, what, fluent.span, "Remove it, or read it somewhere.")


def _by_convention(derive: Derive) -> bool:
    return isinstance(derive.type, TextType) or (derive.name == "sees" and len(derive.params) == 2)


def _described(draft: Draft) -> frozenset[str]:
    """The fluents of which an object or a type states a value: it says what the thing is like."""
    fields = {value.fluent for one in draft.objects.values() for value in one.fields}
    for kind in draft.types.values():
        fields |= {
            value.fluent
            for value in kind.defaults
            if value.fluent in draft.fluents and value.span != draft.fluents[value.fluent].span
        }
    return frozenset(fields)


# ---- local names ------------------------------------------------------------------------


def _locals(draft: Draft) -> None:
    watched = watched_actions(draft)
    actions, laws = tuple(draft.actions.values()), tuple(draft.laws.values())
    # Where a law may tell apart what was done, a parameter need not be used.
    draft.each("locals", actions, lambda a: _of_action(a, a.name in watched, draft), watched)
    draft.each("locals of laws", laws, lambda law: _of_law(law, draft))
    facts, watches = draft.derives.values(), draft.watches.values()
    rules: tuple[_Rule, ...] = (*facts, *watches, *draft.invariants.values())
    draft.each("locals of rules", rules, lambda rule: _of_rule(rule, draft))


def _of_action(action: Action, watched: bool, draft: Draft) -> None:
    if not watched:
        _parameters(f"`{action.name}`", action.params, action, draft)
    guards = (guard for guard in action.guards if isinstance(guard, Let))
    _lets((*guards, *_named_in(action.body)), action, draft)


def _of_law(law: Law, draft: Draft) -> None:
    _parameters(f"`{law.name}`", law.params, law, draft)
    _lets(_named_in(law.body), law, draft)


def _named_in(body: Body) -> tuple[Let, ...]:
    return tuple([one for one in effects_in(body) if isinstance(one, Let)])


def _of_rule(rule: _Rule, draft: Draft) -> None:
    part: object = rule
    if isinstance(rule, Derive):
        part = rule.value
    elif isinstance(rule, Invariant):
        part = rule.condition
    _parameters(f"`{rule.name}`", rule.params, part, draft)


def _parameters(owner: str, params: tuple[Binder, ...], part: object, draft: Draft) -> None:
    used = mentions(part, draft).names
    for position, param in enumerate(params):
        if param.name not in used:
            what = f"Nothing uses the parameter `{param.name}` of {owner}."
            fix = _without(params, position, draft)
            _tell(draft, what, param.span, "Remove it, or use it.", fix)


def _without(params: tuple[Binder, ...], position: int, draft: Draft) -> Fix | None:
    """Take a parameter away with the comma beside it; its calls are left to their author."""
    span = params[position].span
    source = draft.source_of(span)
    if source is None:
        return None
    first, last = span.start, span.end
    if position + 1 < len(params):
        last = params[position + 1].span.start
    elif position:
        first = params[position - 1].span.end
    return Fix("remove the parameter", (Edit(source.span(first, last), ""),))


def _lets(lets: tuple[Let, ...], rule: Action | Law, draft: Draft) -> None:
    used = mentions(rule, draft).names
    for let in lets:
        if let.name not in used:
            what = f"Nothing uses `{let.name}`."
            fix = Fix("remove the `let`", (Edit(let.span, ""),))
            _tell(draft, what, let.span, "Remove it, or use it.", fix)
