"""Rules that cannot matter (TW0903): actions without effect, rules that never apply.

The proof is a refutation: conditions never hold together if they leave some value no number,
position or type. What is not linear stays open.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from typing import assert_never

from tokenworld import model as m
from tokenworld.check.analysis.aliasing import skeleton
from tokenworld.check.analysis.intervals import Facts, Translator, entry
from tokenworld.check.analysis.uses import all_mentions, possible_values
from tokenworld.check.draft import Draft
from tokenworld.check.typing.types import can_equal
from tokenworld.model import conjuncts, effects_in


def _never(facts: Facts, draft: Draft) -> bool:
    """Whether the conditions contradict each other in every state."""
    return facts.impossible or _of_no_type(facts, draft)


def _of_no_type(facts: Facts, draft: Draft) -> bool:
    """Whether some value is tested for two types that share no subtype."""
    tested: dict[object, list[m.ObjectType]] = {}
    for part in conjuncts(facts.true):
        if isinstance(part, m.IsType):
            tested.setdefault(skeleton(part.term), []).append(m.ObjectType(part.of))
    return any(
        not can_equal(draft.types, one, other)
        for kinds in tested.values()
        for one, other in combinations(kinds, 2)
    )


def check_applicability(draft: Draft) -> None:
    """Actions without effect, and actions, laws and watches that never apply."""
    watched = watched_actions(draft)
    actions = tuple(draft.actions.values())
    draft.each("applies", actions, lambda one: _action(one, one.name in watched, draft), watched)
    draft.each("runs", _conditional(draft), lambda rule: _runs(rule, draft))
    if draft.pedantic:
        _unset(draft)


def _action(action: m.Action, watched: bool, draft: Draft) -> None:
    if not _refused(action, draft):
        _effective(action, watched, draft)


def watched_actions(draft: Draft) -> frozenset[str]:
    """Actions that some rule asks for with `did` or `busy`: doing them is an effect."""
    if draft.watched is None:
        draft.watched = all_mentions(draft).watched
    return draft.watched


def _conditional(draft: Draft) -> tuple[m.Law | m.Watch, ...]:
    """The rules that run by themselves when their condition holds."""
    return (*draft.laws.values(), *draft.watches.values())


# ---- effects ----------------------------------------------------------------------------


def _effective(action: m.Action, watched: bool, draft: Draft) -> None:
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


def _free(action: m.Action) -> bool:
    return isinstance(action.takes, m.NumberLiteral) and action.takes.value == 0


def _matters(effect: m.Effect, draft: Draft) -> bool:
    for inner in effects_in((effect,)):
        match inner:
            case m.Let():
                pass
            case m.Assign(target=target, op="=", value=value):
                ordered = draft.fluents[target.fluent].ordered
                if ordered or skeleton(value) != skeleton(target):
                    return True
            case m.Assign(value=m.NumberLiteral(value=0)):
                pass
            case _ if inner.kind in ("if", "for", "chance", "pick"):
                pass  # what is inside them is among `effects_in`
            case m.WriteEffect() | m.NestedEffect() | m.LifeEffect() | m.OutputEffect():
                return True
            case _:
                assert_never(inner)
    return False


# ---- conditions -------------------------------------------------------------------------


def _refused(action: m.Action, draft: Draft) -> bool:
    """Report the first require that cannot hold together with those before it.

    `require false` in so many words is a deliberate refusal: an action that only explains.
    """
    facts = named = Facts(Translator(draft))
    if not _never(entry(action, facts.words), draft):
        return False
    for guard in action.guards:
        if isinstance(guard, m.Let):
            facts, named = facts.let(guard), named.let(guard)
            continue
        if isinstance(guard.condition, m.BoolLiteral):
            return not guard.condition.value
        facts = facts.given(guard.condition)
        if _never(facts, draft):
            alone = _never(named.given(guard.condition), draft)
            why = "never holds" if alone else "excluded by the requires before it"
            what = f"`{action.name}` is always refused: this `require` can never hold."
            if not alone:
                what = f"`{action.name}` is always refused: its requires exclude each other."
            hint = "Correct the condition, or write `require false` to refuse on purpose."
            draft.tell("TW0903", what, guard.span, why, hint)
            return True
    return False


def _runs(rule: m.Law | m.Watch, draft: Draft) -> None:
    """A law or watch whose condition can never hold is dead."""
    if rule.when is not None and _never(Facts(Translator(draft)).given(rule.when), draft):
        what = f"`{rule.name}` never runs: its condition can never hold."
        draft.tell("TW0903", what, rule.when.span, "never holds", "Correct or remove the rule.")


# ---- with --pedantic: what nothing ever sets ---------------------------------------------


def _unset(draft: Draft) -> None:
    """Rules that wait for a value which nothing in the program ever sets."""
    known = possible_values(draft)

    def waits(conditions: Iterable[m.Term]) -> bool:
        """Whether conditions hold for other values than those that are ever set."""
        limited, free = Facts(Translator(draft, known)), Facts(Translator(draft))
        for condition in conditions:
            limited, free = limited.given(condition), free.given(condition)
        return _never(limited, draft) and not _never(free, draft)

    for rule in _conditional(draft):
        if rule.when is not None and waits((rule.when,)):
            what = f"`{rule.name}` never runs: nothing sets the values that it waits for."
            hint = "Set them in a rule or in the world, or remove the rule."
            draft.tell("TW0903", what, rule.when.span, "never set so", hint)
    for action in draft.actions.values():
        if waits(entry(action, Translator(draft)).true):
            what = f"`{action.name}` is always refused: nothing sets the values that it needs."
            hint = "Set them in a rule or in the world, or remove the action."
            draft.tell("TW0903", what, action.requires[0].span, "never set so", hint)
