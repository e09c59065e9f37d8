"""Duplicated and shadowed actions: two ways to do the same (TW0905)."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace

from tokenworld.check.aliasing import skeleton
from tokenworld.check.applicability import watched_actions
from tokenworld.check.draft import Draft
from tokenworld.check.relations import assignable
from tokenworld.diagnostics import Related, Span
from tokenworld.model import Action, Assign, Let, Local, Require

__all__ = ["check_twins"]


def check_twins(draft: Draft) -> None:
    """Actions with the same requires and effects whose parameters are covered by another's.

    Names of parameters and of `let` do not count, nor do the words of a refusal. Actions that a
    rule tells apart with `did` differ; an import stays as it is written.
    """
    watched = watched_actions(draft)
    if draft.pddl:
        return
    acting = [one for one in draft.actions.values() if one.body and one.name not in watched]
    outlines = draft.memo.each("outlines", acting, _outline)
    alike = draft.memo.whole("alike", outlines, lambda: _alike(outlines))
    some = [acting[position] for position in alike]
    draft.whole("twins", (*some, *draft.conserves.values()), lambda: _compare(some, draft))


def _alike(outlines: list[object]) -> list[int]:
    """The positions of actions whose outline another one has too."""
    places: dict[object, list[int]] = {}
    for position, outline in enumerate(outlines):
        places.setdefault(outline, []).append(position)
    return sorted(one for some in places.values() if len(some) > 1 for one in some)


def _compare(acting: list[Action], draft: Draft) -> None:
    found: dict[object, list[Action]] = {}
    for later in acting:
        earlier = found.setdefault(_shape(later, draft), [])
        for one in earlier:
            if _tell(one, later, draft):
                break
        earlier.append(later)


def _outline(action: Action) -> object:
    """What two actions of one shape have in common, found without looking at any term."""
    changes = tuple(
        (one.kind, one.target.fluent if isinstance(one, Assign) else "") for one in action.body
    )
    return len(action.params), len(action.guards), changes


def _tell(earlier: Action, later: Action, draft: Draft) -> bool:
    """Report the narrower of two actions that do the same; the later one if they are equal."""
    if _covers(earlier, later, draft):
        first, second = earlier, later
    elif _covers(later, earlier, draft):
        first, second = later, earlier
    else:
        return False
    same = _covers(second, first, draft)
    what = f"`{second.name}` does the same as `{first.name}`."
    if not same:
        what = f"`{second.name}` does what `{first.name}` does already for more kinds of things."
    related = (Related(first.span, f"`{first.name}`"),)
    hint = "Remove it, and give its phrases to the other one with `or`."
    label = "a duplicate" if same else "shadowed"
    draft.tell("TW0905", what, second.span, label, hint, related)
    return True


def _covers(wide: Action, narrow: Action, draft: Draft) -> bool:
    pairs = zip(narrow.params, wide.params, strict=True)
    return all(
        assignable(draft.types, one.type, other.type) and _within(one.domain, other.domain)
        for one, other in pairs
    )


def _within(one: object, other: object) -> bool:
    low, high = getattr(one, "low", None), getattr(one, "high", None)
    if low is None or high is None:
        return True
    return bool(getattr(other, "low", low) <= low and high <= getattr(other, "high", high))


def _shape(action: Action, draft: Draft) -> object:
    """An action without its names, places and refusal words: equal for two that do the same."""
    names = [param.name for param in action.params]
    names += [guard.name for guard in action.guards if isinstance(guard, Let)]
    order = {name: f"\0{number}" for number, name in enumerate(names)}
    guards = tuple(
        guard.condition if isinstance(guard, Require) else guard.value for guard in action.guards
    )
    parts = (guards, action.takes, action.until, action.cost, action.body, action.cancelled)
    exempt = tuple(rule.name for rule in draft.conserves.values() if action.name in rule.exempt)
    kept = draft.memo.of("shape", (action,), lambda: skeleton(_renamed(parts, order)))
    return (len(action.params), exempt, kept)


def _renamed(part: object, order: dict[str, str]) -> object:
    """Any part of the model with its local names replaced."""
    if isinstance(part, tuple):
        return tuple(_renamed(inner, order) for inner in part)
    if isinstance(part, Local):
        return replace(part, name=order.get(part.name, part.name))
    if isinstance(part, Span) or not is_dataclass(part) or isinstance(part, type):
        return part
    changed = {
        field.name: _renamed(getattr(part, field.name), order)
        for field in fields(part)
        if field.name != "type"
    }
    return replace(part, **changed)
