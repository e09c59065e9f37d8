"""Rules that cannot matter: actions without effect, rules that never apply (TW0903)."""

from __future__ import annotations

from collections.abc import Iterator

from tokenworld.check.aliasing import skeleton
from tokenworld.check.draft import Draft
from tokenworld.check.mentions import all_mentions
from tokenworld.check.reachable import possible_values
from tokenworld.check.refuting import Values, conjuncts, never_hold, substituted
from tokenworld.model import (
    Action,
    Assign,
    BoolLiteral,
    Draw,
    Effect,
    Law,
    Let,
    NumberLiteral,
    Read,
    Require,
    Term,
    Watch,
    effects_in,
)

__all__ = ["check_applicability", "watched_actions"]


def check_applicability(draft: Draft) -> None:
    """Actions without effect, and actions, laws and watches that never apply."""
    watched = watched_actions(draft)
    actions = tuple(draft.actions.values())
    draft.each("applies", actions, lambda one: _action(one, one.name in watched, draft), watched)
    draft.each("runs", _conditional(draft), lambda rule: _runs(rule, draft, _open))
    if draft.pedantic:
        _unset(draft)


def _action(action: Action, watched: bool, draft: Draft) -> None:
    if not _refused(action, draft, _open):
        _effective(action, watched, draft)


def watched_actions(draft: Draft) -> frozenset[str]:
    """Actions that some rule asks for with `did` or `busy`: doing them is an effect."""
    if draft.watched is None:
        draft.watched = all_mentions(draft).watched
    return draft.watched


def _conditional(draft: Draft) -> tuple[Law | Watch, ...]:
    """What runs by itself when its condition holds."""
    return (*draft.laws.values(), *draft.watches.values())


def _open(_term: Term) -> frozenset[int] | None:
    return None


# ---- effects ----------------------------------------------------------------------------


def _effective(action: Action, watched: bool, draft: Draft) -> None:
    """An action changes or says something, or it is a plain wait (an import stays as it is)."""
    effects = (*action.body, *action.cancelled)
    if draft.pddl or watched or any(_matters(one, draft) for one in effects):
        return
    waits = not action.params and not action.requires and not action.body
    if waits and not _free(action):
        return
    what = f"`{action.name}` changes nothing and says nothing."
    hint = "Give it an effect, or remove it."
    draft.tell("TW0903", what, action.span, "no effect", hint)


def _free(action: Action) -> bool:
    return isinstance(action.takes, NumberLiteral) and action.takes.value == 0


def _matters(effect: Effect, draft: Draft) -> bool:
    for inner in effects_in((effect,)):
        match inner:
            case Let():
                pass
            case Assign(target=target, op="=", value=value):
                ordered = draft.fluents[target.fluent].ordered
                if ordered or skeleton(value) != skeleton(target):
                    return True
            case Assign(value=NumberLiteral(value=0)):
                pass
            case _ if inner.kind in ("if", "for", "chance", "pick"):
                pass  # what is inside them is among `effects_in`
            case _:
                return True
    return False


# ---- conditions -------------------------------------------------------------------------


def _guards(action: Action) -> Iterator[tuple[Require, tuple[Term, ...]]]:
    """Each require with its parts, `let` names replaced by what they stand for."""
    lets: dict[str, Term] = {}
    for guard in action.guards:
        if isinstance(guard, Require):
            yield guard, conjuncts(substituted(guard.condition, lets))
        elif not isinstance(guard.value, Draw):
            lets[guard.name] = substituted(guard.value, lets)


def _refused(action: Action, draft: Draft, values: Values) -> bool:
    """Report the first require that cannot hold together with those before it.

    `require false` in so many words is a deliberate refusal: an action that only explains.
    """
    known: tuple[Term, ...] = ()
    for require, parts in _guards(action):
        if isinstance(require.condition, BoolLiteral):
            return not require.condition.value
        if never_hold((*known, *parts), draft, values):
            alone = never_hold(parts, draft, values)
            why = "never holds" if alone else "excluded by the requires before it"
            what = f"`{action.name}` is always refused: this `require` can never hold."
            if not alone:
                what = f"`{action.name}` is always refused: its requires exclude each other."
            hint = "Correct the condition, or write `require false` to refuse on purpose."
            draft.tell("TW0903", what, require.span, why, hint)
            return True
        known = (*known, *parts)
    return False


def _runs(rule: Law | Watch, draft: Draft, values: Values) -> bool:
    """A law or watch whose condition can never hold is dead."""
    if rule.when is None or not never_hold(conjuncts(rule.when), draft, values):
        return True
    what = f"`{rule.name}` never runs: its condition can never hold."
    draft.tell("TW0903", what, rule.when.span, "never holds", "Correct or remove the rule.")
    return False


# ---- with --pedantic: what nothing ever sets ---------------------------------------------


def _unset(draft: Draft) -> None:
    """Rules that wait for a value which nothing in the program ever sets."""
    known = possible_values(draft)

    def values(term: Term) -> frozenset[int] | None:
        return known.get(term.fluent) if isinstance(term, Read) else None

    for rule in _conditional(draft):
        dead = rule.when is not None and never_hold(conjuncts(rule.when), draft, values)
        if rule.when is not None and dead and not never_hold(conjuncts(rule.when), draft, _open):
            what = f"`{rule.name}` never runs: nothing sets the values that it waits for."
            hint = "Set them in a rule or in the world, or remove the rule."
            draft.tell("TW0903", what, rule.when.span, "never set so", hint)
    for action in draft.actions.values():
        parts = tuple(part for _, some in _guards(action) for part in some)
        if never_hold(parts, draft, values) and not never_hold(parts, draft, _open):
            what = f"`{action.name}` is always refused: nothing sets the values that it needs."
            hint = "Set them in a rule or in the world, or remove the action."
            draft.tell("TW0903", what, action.requires[0].span, "never set so", hint)
