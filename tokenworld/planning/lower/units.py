"""Ground rules: an action, its `cancelled` block or a law with its parameters bound."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from math import prod
from typing import Literal

from tokenworld.core import nodes as core
from tokenworld.core.rules import Action, Law
from tokenworld.core.walk import conjuncts, is_draw, statements_in, subterms
from tokenworld.diagnostics import Span
from tokenworld.ground import Command, Raw, joined, parameter_domains, patterns_of
from tokenworld.planning.grounding.reach import rank, reach_of
from tokenworld.planning.lower.algebra import Env, Later, Refused, V
from tokenworld.planning.lower.facts import Facts
from tokenworld.planning.lower.terms import Terms

_MOST_COMMANDS = 60_000
UnitKind = Literal["action", "cancelled", "law"]


@dataclass(frozen=True, slots=True, eq=False)
class Unit:
    """A rule with bound parameters. ``phase`` is its phase's position (-1: no law), ``actor`` the
    acting object if several objects take turns.

    Units are compared by identity: each is made once.
    """

    kind: UnitKind
    rule: Action | Law
    args: tuple[Raw, ...]
    phase: int = -1
    actor: int | None = None

    @property
    def params(self) -> tuple[core.Binder, ...]:
        return self.rule.params

    @property
    def span(self) -> Span:
        return self.rule.span

    @property
    def command(self) -> Command:
        return Command(self.rule.name, self.args)

    @property
    def title(self) -> str:
        """The rule as draws and logs name it: ``action force``, ``law clear_up``."""
        return f"{'law' if self.kind == 'law' else 'action'} {self.rule.name}"

    def draw_key(self, facts: Facts) -> tuple[Raw, ...]:
        """The title and the arguments that key the draws of this rule (language.md §13)."""
        shown = facts.shown_args(self.params, self.args)
        if self.kind == "law":
            return (self.title, *shown)
        me = facts.instance.me if self.actor is None else self.actor
        return (self.title, None if me is None else facts.instance.names[me], *shown)


def _bound(facts: Facts, rule: Action | Law, hopeless: bool) -> list[tuple[Raw, ...]]:
    """The bindings of a rule; those that can never be met may be left out.

    With ``hopeless`` they stay as long as there are not too many: who asks why has to see them.
    """
    choices = parameter_domains(facts.instance, rule.params)
    count = prod(len(one) for one in choices)
    if hopeless and count <= _MOST_COMMANDS:
        return list(product(*choices))
    found = reach_of(facts)
    if found is not None:
        title = f"{'law' if isinstance(rule, Law) else 'action'} {rule.name}"
        return _few_enough(rule, sorted(found.bindings(title), key=rank))
    patterns = patterns_of(facts.instance, rule.params, _decisive(rule), facts.changing)
    if patterns and all(facts.rows(one) is not None for one in patterns):
        few = joined(choices, patterns, lambda one: facts.rows(one) or (), _MOST_COMMANDS)
        if few is not None:
            return few
    if count > _MOST_COMMANDS:
        raise _too_many(rule, count)
    return list(product(*choices))


def _few_enough(rule: Action | Law, found: list[tuple[Raw, ...]]) -> list[tuple[Raw, ...]]:
    if len(found) > _MOST_COMMANDS:
        raise _too_many(rule, len(found))
    return found


def _too_many(rule: Action | Law, count: int) -> Refused:
    what = f"`{rule.name}` with {count:,} bindings"
    return Refused(what, rule.span, f"more than {_MOST_COMMANDS:,} are not grounded")


def _decisive(rule: Action | Law) -> Iterator[core.Term]:
    """The parts of a condition without which a rule does nothing.

    Of a law they count up to the first that may be in error, which is not to be lost.
    """
    if isinstance(rule, Action):
        if not any(isinstance(guard, core.Let) for guard in rule.guards):
            yield from conjuncts(require.condition for require in rule.requires)
        return
    for part in conjuncts(() if rule.when is None else (rule.when,)):
        if not all(map(_always_has_a_value, subterms(part))):
            return
        yield part


def _always_has_a_value(term: core.Term) -> bool:
    if isinstance(term, core.Call):
        return term.op in ("not", "==", "<", "<=")
    return isinstance(term, (core.Constant, core.ObjectName, core.Variable, core.Read))


def actions_of(facts: Facts, *, hopeless: bool = False) -> Iterator[Unit]:
    """Every action with every binding of its parameters, in order; where several objects take
    turns, for each of them."""
    actors = facts.instance.actors
    for action in facts.rules.actions.values():
        for args in _bound(facts, action, hopeless):
            for actor in actors if len(actors) > 1 else (None,):
                yield Unit("action", action, args, actor=actor)


def cancelled_of(actions: Iterable[Unit]) -> dict[Unit, Unit]:
    """The ``cancelled`` block of each action that has one."""
    return {
        one: Unit("cancelled", one.rule, one.args, actor=one.actor)
        for one in actions
        if isinstance(one.rule, Action) and one.rule.cancelled
    }


def phases_of(facts: Facts) -> tuple[str, ...]:
    """The phases that have laws, in order; the unnamed one is last."""
    used = {law.phase for law in facts.rules.laws.values()}
    return tuple(name for name in (*facts.program.phases, "") if name in used)


def laws_of(facts: Facts, *, hopeless: bool = False) -> Iterator[Unit]:
    """Every law with every binding of its parameters, by phase and in order."""
    for position, phase in enumerate(phases_of(facts)):
        for law in facts.rules.laws.values():
            if law.phase == phase:
                for args in _bound(facts, law, hopeless):
                    yield Unit("law", law, args, position)


def leading_guards(action: Action) -> tuple[core.Require | core.Let, ...]:
    """Guards up to the last require; the body begins after them."""
    found = [index for index, one in enumerate(action.guards, 1) if isinstance(one, core.Require)]
    return action.guards[: found[-1] if found else 0]


def body_of(unit: Unit) -> core.Body:
    """The body of the rule, with the lets between its requires and its body."""
    rule = unit.rule
    if isinstance(rule, Law):
        return rule.body
    if unit.kind == "action":
        return (*rule.guards[len(leading_guards(rule)) :], *rule.body)
    for one in statements_in(rule.cancelled):
        if is_draw(one):
            reason = "it could fall together with a draw of the same action"
            raise Refused("chance in `cancelled`", one.span, reason)
    return rule.cancelled


def opened(terms: Terms[V], unit: Unit) -> tuple[Env[V], V]:
    """The names that a rule's body sees, and the condition under which it runs.

    For an action that is the conjunction of its requires (whether its arguments still exist is
    asked apart: a long action goes on without them); a ``cancelled`` block always runs.
    """
    algebra, rule = terms.algebra, unit.rule
    names = zip((param.name for param in rule.params), map(algebra.const, unit.args), strict=True)
    env: Env[V] = Env(dict(names), actor=unit.actor)
    if isinstance(rule, Law):
        exist = terms.exist(rule.params, unit.args)
        return env, algebra.both(exist, lambda: terms.condition(rule.when, env))
    guard = terms.true
    for one in leading_guards(rule):
        if isinstance(one, core.Let):
            env = _let(terms, one, env)
        elif unit.kind == "action":
            guard = algebra.both(guard, partial(terms.condition, one.condition, env))
    return env, guard


def _let(terms: Terms[V], let: core.Let, env: Env[V]) -> Env[V]:
    value = let.value
    if isinstance(value, (core.BranchDraw, core.PickDraw, core.UniformDraw)):
        reason = "requires are tested before anything is drawn"
        unknown = terms.algebra.refuse(Refused("draw before a require", let.span, reason))
        return replace(env, names={**env.names, **dict.fromkeys(let.names, unknown)})
    return env.bind(let.names[0], Later(partial(terms.value, value, env)))
