"""The lints pass: what is allowed and yet suspicious (TW09xx)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tokenworld.check.draft import Draft
from tokenworld.model import (
    Action,
    Body,
    Emit,
    Let,
    Local,
    ParamRead,
    Say,
    Slot,
    Template,
    Term,
    bodies,
    effects_in,
    subterms,
    terms_of,
)

__all__ = ["check_lints"]


def check_lints(draft: Draft) -> None:
    """Requires that explain nothing, and declarations that nothing uses."""
    for action in draft.actions.values():
        if action.quirk is None:
            _labels(action, draft)
            _parameters(action, draft)
    _unused(draft)


def _labels(action: Action, draft: Draft) -> None:
    """A require without label and text refuses without a reason (an import has none to give)."""
    if draft.pddl:
        return
    for require in action.requires:
        if not require.label and require.text is None:
            what = "This `require` refuses without a reason of its own."
            hint = 'Add `else label "text"`.'
            draft.tell("TW0901", what, require.span, "no label, no text", hint)


def _parameters(action: Action, draft: Draft) -> None:
    used = {part.name for term in _action_terms(action) for part in subterms(term)
            if isinstance(part, Local)}  # fmt: skip
    for param in action.params:
        if param.name not in used:
            what = f"Nothing uses the parameter `{param.name}` of `{action.name}`."
            draft.tell("TW0904", what, param.span, "unused", "Remove it, or use it.")


def _action_terms(action: Action) -> Iterator[Term]:
    for require in action.requires:
        yield require.condition
        yield from _template(require.text)
    lets = tuple(guard for guard in action.guards if isinstance(guard, Let))
    for phrase in action.phrases:
        yield from _template(phrase)
    for term in (action.takes, action.until, action.cost):
        if term is not None:
            yield term
    yield from _body_terms((*lets, *action.body, *action.cancelled))


def _template(template: Template | None) -> Iterator[Term]:
    for part in template.parts if template is not None else ():
        if isinstance(part, Slot):
            yield part.term


def _body_terms(body: Body) -> Iterator[Term]:
    for effect in body:
        yield from terms_of(effect)
        if isinstance(effect, Say):
            yield from _template(effect.template)
        if hasattr(effect, "target") and effect.kind in ("describe", "assign"):
            yield effect.target
        for inner in bodies(effect):
            yield from _body_terms(inner)


def _unused(draft: Draft) -> None:
    phases = {law.phase for law in draft.laws.values()}
    for phase in draft.phases.values():
        if phase.name not in phases:
            what = f"No law runs in the phase `{phase.name}`."
            draft.tell("TW0904", what, phase.span, "unused", "Remove it, or add `during` to a law.")
    emitted = {e.event for body in _bodies(draft) for e in effects_in(body) if isinstance(e, Emit)}
    for event in draft.events.values():
        if event.name not in emitted:
            what = f"Nothing emits the event `{event.name}`."
            draft.tell("TW0904", what, event.span, "unused", "Remove it, or `emit` it.")
    read = {part.name for term in _all_terms(draft) for part in subterms(term)
            if isinstance(part, ParamRead)}  # fmt: skip
    for param in draft.params.values():
        if param.name not in read:
            what = f"Nothing reads the param `{param.name}`."
            draft.tell("TW0904", what, param.span, "unused", "Remove it, or use it.")


def _bodies(draft: Draft) -> Iterator[Body]:
    for action in draft.actions.values():
        yield action.body
        yield action.cancelled
    for law in draft.laws.values():
        yield law.body
    for watch in draft.watches.values():
        yield watch.body


def _all_terms(draft: Draft) -> Iterable[Term]:
    for action in draft.actions.values():
        yield from _action_terms(action)
    for law in draft.laws.values():
        if law.when is not None:
            yield law.when
    for body in _bodies(draft):
        yield from _body_terms(body)
    yield from (one.value for one in draft.derives.values())
    yield from (one.condition for one in draft.invariants.values())
    yield from (one.value for one in draft.conserves.values())
    yield from (one.when for one in draft.watches.values())
    for world in draft.worlds.values():
        yield from (ending.condition for ending in world.endings)
        yield from (term for award in world.awards for term in (award.amount, award.when))
        yield from (term for body in world.setups for term in _body_terms(body))
        if world.score is not None:
            yield world.score
