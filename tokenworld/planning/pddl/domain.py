"""The lifted domain of a program: declarations, derived predicates, actions and forced phases."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial

from tokenworld.model import (
    Action,
    Derive,
    Ending,
    Fluent,
    Law,
    NumberType,
    ObjectType,
    Term,
    ValueType,
)
from tokenworld.planning.pddl.actions import (
    Turn,
    lift_action,
    lift_condition,
    lift_phase,
    takes_time,
)
from tokenworld.planning.pddl.cases import Bound, Num, Scope, Sym
from tokenworld.planning.pddl.conditions import Conditions
from tokenworld.planning.pddl.names import StepOrigin
from tokenworld.planning.pddl.terms import symbol_type
from tokenworld.planning.pddl.tree import (
    Expr,
    PddlAction,
    PddlDerived,
    Signature,
    Typed,
    conj,
    disj,
    exists,
    heads,
    neg,
)
from tokenworld.planning.pddl.vocabulary import LiftingError, Vocabulary, sort_of

__all__ = ["LiftedDomain", "lift_domain"]


@dataclass(slots=True)
class LiftedDomain:
    """The parts that the writer puts together, and what stopped the lifting."""

    words: Vocabulary
    actions: list[PddlAction] = field(default_factory=list)
    derived: list[PddlDerived] = field(default_factory=list)
    goal: Expr = ("and",)
    turn: Turn = field(default_factory=Turn)
    token: tuple[str, str, tuple[str, ...]] | None = None
    """Predicate, type and constants of the turn, where the world has phases."""
    errors: list[LiftingError] = field(default_factory=list)

    def attempt(self, lift: Callable[[], None]) -> None:
        """Do one part; keep what has no lifted form and go on, so that all of it is named."""
        try:
            lift()
        except LiftingError as error:
            self.errors.append(error)

    def asks(self, predicate: str) -> bool:
        """Whether an action, the goal or a derived predicate lifted so far uses a predicate."""
        parts: list[Expr] = [self.goal]
        for action in self.actions:
            parts += [action.precondition, *action.effects]
        parts += [one.condition for one in self.derived]
        return any(predicate in heads(part) for part in parts)


def _phases(words: Vocabulary) -> list[tuple[str, str, list[Law]]]:
    """Name, order and laws of each phase that has laws, in order; the unnamed one is last."""
    program = words.instance.program
    orders = [(name, str(phase.order)) for name, phase in program.phases.items()]
    found: list[tuple[str, str, list[Law]]] = []
    for name, order in (*orders, ("", "simultaneous")):
        laws = [law for law in program.laws.values() if law.phase == name]
        if laws:
            found.append((name, order, laws))
    return found


def _alive(words: Vocabulary, goal: Ending | None) -> tuple[Term, ...]:
    """Conditions that must not hold where an actor acts: the world has ended, or is lost."""
    world = words.instance.world
    latched = not world.endless and world.outcomes == "latched"

    def ends(line: Ending) -> bool:
        other = line.ending == "stop" or (goal is not None and line is not goal)
        return line.ending == "lose" or (latched and other)

    return tuple(line.condition for line in world.endings if ends(line))


def _turn(domain: LiftedDomain, goal: Ending | None) -> None:
    """Set up the turn token and costs."""
    words, program = domain.words, domain.words.instance.program
    costs = [action.cost for action in program.actions.values() if action.cost is not None]
    scale = max((t.type.decimals for t in costs if isinstance(t.type, NumberType)), default=0)
    phases = _phases(words)
    now: tuple[Expr, ...] = ()
    after: tuple[Expr, ...] = ()
    if phases:
        take = words.spellings.take
        predicate, kind = take("fluent", "tw-turn"), take("type", "tw-step")
        steps = ["tw-act", *(f"tw-{index + 1}" for index in range(len(phases)))]
        spelled = tuple(take("object", step) for step in steps)
        domain.token = (predicate, kind, spelled)
        now = ((predicate, spelled[0]),)
        after = (("not", (predicate, spelled[0])), (predicate, spelled[1]))
    domain.turn = Turn(
        now, after, _alive(words, goal), bool(costs or phases), 0 if costs else 1, scale
    )


def _add_actions(domain: LiftedDomain) -> None:
    program = domain.words.instance.program
    for action in program.actions.values():

        def lift(action: Action = action) -> None:
            domain.actions += lift_action(domain.words, action, domain.turn)

        domain.attempt(lift)
    if domain.token is not None:
        _add_pass(domain)
        _add_phases(domain)


def _add_pass(domain: LiftedDomain) -> None:
    words, turn = domain.words, domain.turn

    def lift() -> None:
        alive = [neg(lift_condition(words, line)) for line in turn.alive]
        word = words.spellings.take("action", "tw-pass")
        words.names.steps[word.lower()] = StepOrigin("")
        unit = turn.unit and not words.luck
        pays: tuple[Expr, ...] = (("increase", ("total-cost",), "1"),) if unit else ()
        domain.actions.append(PddlAction(word, (), conj((*turn.now, *alive)), (*pays, *turn.after)))

    domain.attempt(lift)


def _add_phases(domain: LiftedDomain) -> None:
    assert domain.token is not None
    predicate, _, steps = domain.token
    for index, (name, order, laws) in enumerate(_phases(domain.words)):
        here = (predicate, steps[index + 1])
        following = (predicate, steps[(index + 2) % len(steps)])
        turn = (here, (("not", here), following))
        if order == "simultaneous":
            _add_phase(domain, index + 1, name, laws, turn)
        else:
            span = domain.words.instance.program.phases[name].span
            domain.errors.append(LiftingError(f"sequential phase `{name}`", span))


def _add_phase(
    domain: LiftedDomain,
    number: int,
    name: str,
    laws: list[Law],
    turn: tuple[Expr, tuple[Expr, ...]],
) -> None:
    """One simultaneous phase; where it cannot be lifted, every law that is a reason is named."""
    said = ", ".join(law.name for law in laws)
    title = f"phase {name}: {said}" if name else f"last phase: {said}"
    try:
        one = lift_phase(domain.words, f"tw-phase-{number}", laws, turn)
        domain.actions.append(replace(one, comment=title))
    except LiftingError as error:
        before = len(domain.errors)
        for law in laws:
            domain.attempt(partial(_lift_alone, domain.words, law, turn))
        if len(domain.errors) == before:
            domain.errors.append(error)


def _lift_alone(words: Vocabulary, law: Law, turn: tuple[Expr, tuple[Expr, ...]]) -> None:
    lift_phase(words, f"tw-law-{law.name}", [law], turn)


# ---- goal -----------------------------------------------------------------------------------


def _add_goal(domain: LiftedDomain, goal: Ending | None) -> None:
    """The goal holds at the end of a tick, and no line written before it is latched first."""
    words, world = domain.words, domain.words.instance.world

    def one(line: Ending) -> Expr:
        before = world.endings[: world.endings.index(line)]
        lost = [other for other in before if other.ending != "goal" or goal is not None]
        if world.endless or world.outcomes == "live":
            lost = [other for other in world.endings if other.ending == "lose"]
        blocked = [neg(lift_condition(words, other.condition)) for other in lost]
        return conj((lift_condition(words, line.condition), *blocked))

    def lift() -> None:
        lines = [goal] if goal is not None else list(world.goals)
        named = set(words.constants)
        reached = disj(one(line) for line in lines)
        words.constants = named
        domain.goal = conj((reached, *domain.turn.now))

    domain.attempt(lift)


# ---- derived predicates -----------------------------------------------------------------------


def _add_derived(domain: LiftedDomain) -> None:
    program = domain.words.instance.program
    for derive in program.derives.values():
        if derive.recursive:

            def lift(derive: Derive = derive) -> None:
                domain.derived.append(_recursive(domain.words, derive))

            if domain.asks(domain.words.derives[derive.name]):
                domain.attempt(lift)
            else:
                _unless_impossible(lift)
    done: set[str] = set()
    while waiting := [name for name in domain.words.closures if name not in done]:
        done.add(waiting[0])
        domain.derived.append(_closure(domain.words, program.fluents[waiting[0]]))


def _unless_impossible(lift: Callable[[], None]) -> None:
    """A derive that no rule asks for is kept for the reader, but stops nothing."""
    with suppress(LiftingError):
        lift()


def _recursive(words: Vocabulary, derive: Derive) -> PddlDerived:
    terms = Conditions(words, Scope())
    env: dict[str, Bound] = {}
    params: list[Typed] = []
    guards: list[Expr] = []
    for binder in derive.params:
        if sort_of(binder.type) != "symbol":
            raise LiftingError(f"recursive `{derive.name}` over numbers", derive.span)
        of = symbol_type(binder.type)
        var, guard = words.types.variable(terms.scope.fresh(binder.name), of)
        params.append(var)
        guards += [] if guard is None else [guard]
        env[binder.name] = Sym(var.name, of)
    body = conj((*guards, terms.condition(derive.value, env)))
    return PddlDerived(Signature(words.recursive(derive), tuple(params)), body)


def _closure(words: Vocabulary, fluent: Fluent) -> PddlDerived:
    """``(chain ?x ?y)``: one step from ?x to ?y, or one to some ?z and a chain from there."""
    terms = Conditions(words, Scope())
    formals = [param.type for param in fluent.params]
    if fluent.fluent_kind != "relation":
        formals.append(fluent.type)
    start, end = (
        _closure_variable(terms, of, base) for of, base in zip(formals, "xy", strict=True)
    )
    middle = _closure_variable(terms, formals[1], "z")
    head, chain = words.fluents[fluent.id], words.closures[fluent.id]
    steps: list[Expr] = [(head, start.name, end.name)]
    for fit in terms.fit(Sym(middle.name, symbol_type(formals[1])), symbol_type(formals[0])):
        assert not isinstance(fit.value, Num)
        first = (head, start.name, middle.name)
        rest = (chain, fit.value.text, end.name)
        steps.append(exists((middle, *fit.vars), conj((first, *fit.conds, rest))))
    return PddlDerived(Signature(chain, (start, end)), disj(steps))


def _closure_variable(terms: Conditions, of: ValueType, base: str) -> Typed:
    if not isinstance(of, ObjectType):
        raise TypeError("a closure runs over objects")
    return terms.words.types.variable(terms.scope.fresh(base), of)[0]


# ---- the whole ----------------------------------------------------------------------------------


def _unsupported(words: Vocabulary) -> Iterator[LiftingError]:
    world, program = words.instance.world, words.instance.program
    if len(world.turns) > 1:
        yield LiftingError("several actors in turn", world.span)
    for action in program.actions.values():
        try:
            takes_time(action)
        except LiftingError as error:
            yield error


def lift_domain(words: Vocabulary, goal: Ending | None) -> LiftedDomain:
    """Lift everything; look at `errors` before using the rest."""
    domain = LiftedDomain(words)
    domain.errors += _unsupported(words)
    domain.attempt(lambda: _turn(domain, goal))
    _add_actions(domain)
    _add_goal(domain, goal)
    _add_derived(domain)
    domain.errors = list({(str(e.span), e.construct): e for e in domain.errors}.values())
    return domain
