"""Ground rules: an action, its `cancelled` block or a law with its parameters bound.

In a world whose play only makes facts true and false, `Grounder` says of each ground action at once
which facts it asks for and which it changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from math import prod
from operator import itemgetter
from typing import Literal, assert_never

from tokenworld import model as m
from tokenworld.core import TermVisitor
from tokenworld.core import nodes as core
from tokenworld.core.rules import Action, Law
from tokenworld.core.walk import conjuncts, is_draw, statements_in, subterms
from tokenworld.diagnostics import Span
from tokenworld.ground import Command, Raw, joined, parameter_domains, patterns_of
from tokenworld.planning.grounding.conditions import Conditions, Wanted
from tokenworld.planning.grounding.program import named
from tokenworld.planning.grounding.reach import Reached, rank, reach_of, rows
from tokenworld.planning.grounding.rules import Later as Named
from tokenworld.planning.grounding.rules import Names, Source, Var
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


# ---- Ground actions that change facts -----------------------------------------------------------
# Each condition becomes a function that is made once for all bindings of an action. It gives the
# ways in which the facts that may change let it hold; all other facts are judged at once.

_MOST_WAYS = 1_000
_MOST_TURNS = 5_000_000
"""Turns of all loops, in all bindings of an action; they take some seconds."""
Row = tuple[Raw, ...]
Fact = tuple[str, Row]
Together = frozenset[tuple[Fact, bool]]
"""Facts, each with whether it holds."""
Ways = tuple[Together, ...]
"""The ways in which a condition can hold."""
Changes = list[tuple[Fact, bool, Ways]]
"""Facts that become true or false, each with the ways in which it does."""
_Condition = Callable[[], Ways]
_Changing = dict[Fact, tuple[list[Together], list[Together]]]
_Step = Callable[[Ways, _Changing], None]
_SURE: Together = frozenset()
ALWAYS: Ways = (_SURE,)
_NEVER: Ways = ()


class NotPlain(Exception):
    """Raised where more than facts, or too many ways, decide about an action."""


def is_free(fluent: m.Fluent) -> bool:
    """Return whether each fact of a fluent changes alone."""
    bound = fluent.unique or fluent.nested or fluent.acyclic or fluent.symmetric
    return not bound and fluent.fluent_kind != "table"


class Grounder(TermVisitor[Wanted, _Condition]):
    """Reads one action, or a goal, from a start state.

    ``_row`` has the present values of its parameters, its constants and its loop variables.
    """

    def __init__(self, facts: Facts, found: Reached, params: Sequence[Var] = ()) -> None:
        self._facts, self._found, self._context = facts, found, found.relaxed.context
        self._values = Conditions(self._context).values
        self._row: list[Raw] = [None] * len(params)
        self._turns = 0
        self._places = {var: place for place, var in enumerate(params)}

    def action(self, action: Action, source: Source) -> Callable[[Row], tuple[Ways, Changes]]:
        """The ways in which an action can be done, and its changes, by its arguments."""
        if action.cancelled or (action.cost is not None and source.price is None):
            raise NotPlain
        params = zip(action.params, source.params, strict=True)
        names: Names = {param.name: var for param, var in params}
        asked = list[_Condition]()
        for guard in action.guards:
            if isinstance(guard, core.Require):
                asked.append(self.term(guard.condition, (names, True)))
            else:
                names = {**names, **named(guard, names)}
        applicable, steps, row = _all(asked), self._steps(action.body, names), self._row

        def ground(args: Row) -> tuple[Ways, Changes]:
            row[: len(args)] = args
            made: _Changing = {}
            for step in steps:
                step(ALWAYS, made)
            return applicable(), list(_changes(made))

        return ground

    def ways(self, condition: core.Term) -> Ways:
        """The ways in which a condition without parameters can hold."""
        return self.term(condition, ({}, True))()

    # ---- values and facts -------------------------------------------------------------------

    def _place(self, term: core.Term, names: Names) -> int:
        """The place of the value of a term in the row."""
        ways = self._values.term(term, names)
        if len(ways) != 1 or ways[0].literals:
            raise NotPlain
        arg = ways[0].arg
        if isinstance(arg, Var):
            return self._places[arg]
        self._row.append(arg.value)
        return len(self._row) - 1

    def _args(self, terms: Iterable[core.Term], names: Names) -> Callable[[], Row]:
        row, places = self._row, [self._place(one, names) for one in terms]
        if len(places) > 1:
            return partial(itemgetter(*places), row)
        return lambda: tuple([row[place] for place in places])

    def _known(self, fluent: m.Fluent) -> Mapping[Row, None]:
        """The facts of a fluent that may hold."""
        if not isinstance(fluent.type, m.BoolType) or fluent.fluent_kind == "table":
            raise NotPlain
        found = self._found.known.get(fluent.id)
        return dict.fromkeys(rows(self._facts, fluent.id, {})) if found is None else found

    def read(self, term: core.Read, env: Wanted) -> _Condition:
        (names, wanted), name = env, term.fluent
        if term.was:
            raise NotPlain
        args, known = self._args(term.args, names), self._known(self._facts.program.fluents[name])
        held, absent = (ALWAYS, _NEVER) if wanted else (_NEVER, ALWAYS)
        if name in self._facts.changing:
            ways = {one: (frozenset((((name, one), wanted),)),) for one in known}
            return lambda: ways.get(args(), absent)
        return lambda: held if args() in known else absent

    # ---- conditions -------------------------------------------------------------------------

    def constant(self, term: core.Constant, env: Wanted) -> _Condition:
        found = ALWAYS if term.value == env[1] else _NEVER
        return lambda: found

    def variable(self, term: core.Variable, env: Wanted) -> _Condition:
        found = env[0][term.name]
        if not isinstance(found, Named):
            raise NotPlain
        return self.term(found.term, (found.names, env[1]))

    def _more(self, term: core.Term, env: Wanted) -> _Condition:
        raise NotPlain

    object_name = param_value = actor = members = text = _more

    def call(self, term: core.Call, env: Wanted) -> _Condition:
        names, wanted = env
        match term.op:
            case "not":
                return self.term(term.args[0], (names, not wanted))
            case "and" | "or":
                parts = [self.term(one, env) for one in term.args]
                return (_all if (term.op == "and") == wanted else _any)(parts)
            case "==":
                row, (left, right) = self._row, (self._place(one, names) for one in term.args)
                return lambda: ALWAYS if (row[left] == row[right]) == wanted else _NEVER
            case _:
                raise NotPlain

    def choice(self, term: core.Choice, env: Wanted) -> _Condition:
        branches = ((term.then, True), (term.otherwise, False))
        names, test = env[0], term.condition
        return _any(
            [_all([self.term(test, (names, met)), self.term(one, env)]) for one, met in branches]
        )

    def type_test(self, term: core.TypeTest, env: Wanted) -> _Condition:
        place, of = self._place(term.term, env[0]), frozenset(self._facts.objects(term.of))
        return lambda: ALWAYS if (self._row[place] in of) == env[1] else _NEVER

    def derive_call(self, term: core.DeriveCall, env: Wanted) -> _Condition:
        names, derive = self._values.inside(term, env[0]), self._facts.rules.derives[term.derive]
        if names is None or any(m.is_optional(arg.type) for arg in term.args):
            raise NotPlain
        with self._context.deeper():
            return self.term(derive.value, (names, env[1]))

    def fold(self, term: core.Fold, env: Wanted) -> _Condition:
        if term.fold not in ("any", "all") or term.value is None:
            raise NotPlain
        together = (term.fold == "all") == env[1]
        names, each = self._looped(term.binders, env[0])
        parts = [self.term(term.value, (names, env[1]))]
        if term.where is not None:
            parts.insert(0, self.term(term.where, (names, not together)))
        one = (_any if together else _all)(parts)
        return (_all if together else _any)(_Each(each, one))

    def _looped(
        self, binders: Sequence[core.Binder], names: Names
    ) -> tuple[Names, Callable[[], Iterator[None]]]:
        """The names in a loop, and a function that puts each binding into the row."""
        row, first, choices = self._row, len(self._row), list[Sequence[Raw]]()
        for binder in binders:
            listed = isinstance(binder.domain, m.TypeRange) and binder.only is None
            values = self._facts.domain(binder.type) if listed else None
            if values is None:
                raise NotPlain
            var = self._context.fresh()
            self._places[var] = len(row)
            row.append(None)
            names = {**names, binder.name: var}
            choices.append(values)
        end, turns = len(row), prod(map(len, choices))

        def each() -> Iterator[None]:
            self._turns += turns
            if self._turns > _MOST_TURNS:
                raise NotPlain
            for row[first:end] in product(*choices):
                yield

        return names, each

    # ---- bodies -----------------------------------------------------------------------------

    def _steps(self, body: core.Body, names: Names) -> list[_Step]:
        found = list[_Step]()
        for one in body:
            match one:
                case core.Let():
                    names = {**names, **named(one, names)}
                case core.Write():
                    found.append(self._write(one, names))
                case core.If(condition=test, then=then, otherwise=otherwise):
                    for branch, wanted in ((then, True), (otherwise, False)):
                        when = self.term(test, (names, wanted))
                        found.append(_when(when, self._steps(branch, names)))
                case core.For(binders=binders, where=where, body=inner):
                    found.append(self._loop(binders, where, inner, names))
                case core.Say() | core.Emit() | core.Describe() | core.Reward():
                    pass
                case core.Create() | core.Destroy() | core.Require():
                    raise NotPlain
                case _:
                    assert_never(one)
        return found

    def _loop(
        self,
        binders: Sequence[core.Binder],
        where: core.Term | None,
        body: core.Body,
        names: Names,
    ) -> _Step:
        seen, each = self._looped(binders, names)
        when = _all([] if where is None else [self.term(where, (seen, True))])
        inner = _when(when, self._steps(body, seen))

        def step(held: Ways, made: _Changing) -> None:
            for _ in each():
                inner(held, made)

        return step

    def _write(self, write: core.Write, names: Names) -> _Step:
        name, removes = write.target.fluent, int(write.op == "remove")
        fluent = self._facts.program.fluents[name]
        if write.op not in ("add", "remove") or not is_free(fluent):
            raise NotPlain
        args, known = self._args(write.target.args, names), self._known(fluent)

        def step(held: Ways, made: _Changing) -> None:
            fact = name, args()
            if fact[1] in known:
                made.setdefault(fact, ([], []))[removes].extend(held)

        return step


class _Each:
    """A condition for each binding of a loop, again and again."""

    def __init__(self, each: Callable[[], Iterator[None]], one: _Condition) -> None:
        self._each, self._one = each, one

    def __iter__(self) -> Iterator[_Condition]:
        return (self._one for _ in self._each())


def _when(condition: _Condition, steps: Sequence[_Step]) -> _Step:
    def step(held: Ways, made: _Changing) -> None:
        here = _both(held, condition())
        if here:
            for one in steps:
                one(here, made)

    return step


def _all(parts: Iterable[_Condition]) -> _Condition:
    def every() -> Ways:
        found, sure = ALWAYS, list[Together]()
        for part in parts:
            more = part()
            if len(more) == 1:
                sure += more
            elif not more or not (found := _both(found, more)):
                return _NEVER
        whole = _SURE.union(*sure)
        if clash(whole, whole):
            return _NEVER
        return _both(found, (whole,)) if whole else found

    return every


def _any(parts: Iterable[_Condition]) -> _Condition:
    def some() -> Ways:
        found = dict[Together, None]()
        for part in parts:
            more = part()
            if more is ALWAYS:
                return more
            found.update(dict.fromkeys(more))
        return _few(found)

    return some


def _both(left: Ways, right: Ways) -> Ways:
    if left is ALWAYS or right is ALWAYS:
        return right if left is ALWAYS else left
    made = (one | other for one in left for other in right if not clash(one, other))
    return _few(dict.fromkeys(made))


def _few(ways: Mapping[Together, None]) -> Ways:
    if len(ways) > _MOST_WAYS:
        raise NotPlain
    return tuple(ways)


def clash(one: Together, other: Together) -> bool:
    """Return whether a fact would have to hold and not to hold."""
    return any((fact, not wanted) in one for fact, wanted in other)


def _changes(made: _Changing) -> Iterator[tuple[Fact, bool, Ways]]:
    """Each change with the ways in which it happens; a fact added and removed is true then."""
    for fact, (added, removed) in made.items():
        if added:
            yield fact, True, tuple(added)
        left = tuple(removed)
        for way in added if left else ():
            left = _both(left, tuple(frozenset(((one, not held),)) for one, held in way))
        if left:
            yield fact, False, left
