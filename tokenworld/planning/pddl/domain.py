"""The lifted domain of a program: declarations, derived predicates, actions and forced phases."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product

from tokenworld.core import nodes as core
from tokenworld.core.rules import Action, Derive, Ending, Law
from tokenworld.ground import Raw, count_bindings, domain_of, scaled_text
from tokenworld.model import (
    Fluent,
    IntervalRange,
    NumberType,
    ObjectType,
    TypeRange,
    ValueType,
)
from tokenworld.planning.pddl.effects import Effects, Script, drawn
from tokenworld.planning.pddl.terms import Terms
from tokenworld.planning.pddl.tree import (
    FALSE,
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
from tokenworld.planning.pddl.values import Bound, Env, Lazy, Num, Sym, number
from tokenworld.planning.pddl.words import (
    Fixed,
    LiftingError,
    StepOrigin,
    Vocabulary,
    legal,
    sort_of,
    symbol_type,
)
from tokenworld.planning.pddl.writes import (
    Place,
    check_conflicts,
    group,
    ranges,
    relation_guards,
)

_MOST_VARIANTS = 64

Variant = tuple[tuple[core.Binder, Raw], ...]


@dataclass(frozen=True, slots=True)
class Turn:
    """How ticks are written: ``now`` holds where the actor chooses, ``after`` ends the choice.

    ``alive`` are the conditions under which the world still goes on. ``costs``: whether actions
    pay ``total-cost``; ``unit`` is what one without `cost` pays.
    """

    now: tuple[Expr, ...] = ()
    after: tuple[Expr, ...] = ()
    alive: tuple[core.Term, ...] = ()
    costs: bool = False
    unit: int = 0
    scale: int = 0


def takes_time(action: Action) -> bool:
    """Whether the action takes a tick; raises `LiftingError` for one that takes several."""
    if action.takes is None and action.until is None:
        return True
    ticks = action.takes.value if isinstance(action.takes, core.Constant) else None
    if action.until is not None or ticks not in (0, 1):
        span = action.takes.span if action.takes is not None else action.span
        raise LiftingError(f"action `{action.name}`, which takes several ticks", span)
    return ticks == 1


def lift_condition(words: Vocabulary, term: core.Term) -> Expr:
    """A condition of a world, such as its goal."""
    return Terms(words).condition(term, {})


# ---- parameters ---------------------------------------------------------------------------


def _values(words: Vocabulary, binder: core.Binder) -> Sequence[Raw] | None:
    """The values of a parameter that PDDL cannot have, ``None`` for one that it can."""
    match binder.domain:
        case IntervalRange(low=low, high=high):
            return range(low, high + 1)
        case TypeRange(of=NumberType(low=int() as low, high=int() as high, optional=False)):
            return range(low, high + 1)
        case TypeRange(of=of) if sort_of(of) != "symbol":
            values = domain_of(words.instance, of)
            if values is None:
                raise LiftingError(f"parameter `{binder.name}` without finite range", binder.span)
            return values
        case TypeRange():
            return None
        case _:
            raise LiftingError(f"parameter `{binder.name}` over a collection", binder.span)


def _variants(words: Vocabulary, action: Action) -> list[Variant]:
    """One assignment per combination of built-in values; a single empty one if there are none."""
    domains = [
        (binder, values)
        for binder in action.params
        if (values := _values(words, binder)) is not None
    ]
    count = count_bindings(values for _, values in domains)
    if count > _MOST_VARIANTS:
        raise LiftingError(f"{count} numeric arguments of `{action.name}`", action.span)
    return list(product(*([(binder, value) for value in values] for binder, values in domains)))


def _suffix(fixed: Variant) -> str:
    def one(binder: core.Binder, value: Raw) -> str:
        if isinstance(value, bool) or not isinstance(value, int):
            return str(value).lower()
        decimals = binder.type.decimals if isinstance(binder.type, NumberType) else 0
        return scaled_text(value, decimals).replace("-", "m").replace(".", "p")

    return "".join(f"-{one(binder, value)}" for binder, value in fixed)


class _Params:
    """The PDDL parameters of one action variant, the names bound to them, and the way back."""

    def __init__(self, terms: Terms) -> None:
        self.terms, self.words, self.scope = terms, terms.words, terms.scope
        self.typed: list[Typed] = []
        self.conds: list[Expr] = []
        self.env: dict[str, Bound] = {}
        self.args: list[int | Fixed] = []

    def add(self, binder: core.Binder, fixed: dict[str, Raw]) -> None:
        if binder.name in fixed:
            value = fixed[binder.name]
            (known,) = self.terms.constant(value, binder.type, binder.span)
            self.env[binder.name] = known.value
            self.args.append(Fixed(value))
            return
        of = symbol_type(binder.type)
        name = self.scope.fresh(binder.name)
        var, guard = self.words.types.variable(name, of)
        self.conds += [] if guard is None else [guard]
        self.env[binder.name] = Sym(name, of)
        self.args.append(len(self.typed))
        self.typed.append(var)


# ---- actions ------------------------------------------------------------------------------


def lift_action(words: Vocabulary, action: Action, turn: Turn) -> list[PddlAction]:
    """The PDDL actions of one action: one per built-in argument and outcome of chance."""
    found: list[PddlAction] = []
    for fixed in _variants(words, action):
        script: Script | None = Script(())
        outcomes: list[tuple[PddlAction, StepOrigin] | None] = []
        while script is not None:
            outcomes.append(_one(words, action, turn, fixed, script))
            script = script.following()
        for count, outcome in enumerate(outcomes, 1):
            if outcome is not None:
                found.append(_named(words, *outcome, count if len(outcomes) > 1 else 0))
    return found


def _named(words: Vocabulary, action: PddlAction, origin: StepOrigin, count: int) -> PddlAction:
    """The action under a free spelling, with the way back."""
    word = words.spellings.take("action", action.name + (f"-o{count}" if count else ""))
    words.names.steps[word.lower()] = replace(origin, outcome=count)
    return replace(action, name=word)


def _one(
    words: Vocabulary, action: Action, turn: Turn, fixed: Variant, script: Script
) -> tuple[PddlAction, StepOrigin] | None:
    """The action for some outcomes of chance; ``None`` where it can never be taken."""
    timed = takes_time(action)
    terms = Terms(words)
    params = _Params(terms)
    for binder in action.params:
        params.add(binder, {one.name: value for one, value in fixed})
    env, asked = _guards(terms, action, params)
    alive = [neg(terms.condition(line, {})) for line in turn.alive]
    body = Effects(terms, [*params.conds, *asked], script)
    if FALSE in body.known:
        return None
    env = body.walk(action.body, env, Place())
    if FALSE in body.known:
        return None
    check_conflicts(body.writes, words, body.known)
    every = (*turn.now, *body.asked, *_generated(words, body, body.known), *alive)
    effects = _with_cost(terms, action, turn, env, group(body.effects))
    if timed:
        effects = (*effects, *turn.after)
    name = f"{legal(action.name)}{_suffix(fixed)}"
    made = PddlAction(name, (*params.typed, *body.params), conj(every), effects)
    return made, StepOrigin(action.name, tuple(params.args))


def _generated(words: Vocabulary, body: Effects, known: Sequence[Expr]) -> list[Expr]:
    """The requires that the language adds; none may depend on how luck falls."""
    found = ranges(body.writes, words, known) + relation_guards(body.writes, words)
    if not body.lucky:
        return found
    sure = [one for one in body.writes if not any(one is other for other in body.lucky)]
    if set(found) != {*ranges(sure, words, known), *relation_guards(sure, words)}:
        what = "a range or relation that only some outcome of chance may break"
        raise LiftingError(what, body.lucky[0].span)
    return found


def _plain(let: core.Let) -> core.Term:
    """The value of a let that is no draw."""
    if isinstance(let.value, (core.BranchDraw, core.PickDraw, core.UniformDraw)):
        raise LiftingError("a draw of chance before the requires", let.span)
    return let.value


def _guards(terms: Terms, action: Action, params: _Params) -> tuple[Env, list[Expr]]:
    env: Env = dict(params.env)
    asked: list[Expr] = []
    for guard in action.guards:
        if isinstance(guard, core.Require):
            asked.append(terms.condition(guard.condition, env))
        else:
            env = {**env, guard.names[0]: Lazy(_plain(guard), env)}
    return env, asked


def _with_cost(
    terms: Terms, action: Action, turn: Turn, env: Env, effects: tuple[Expr, ...]
) -> tuple[Expr, ...]:
    if not turn.costs or (terms.words.luck and action.cost is None):
        return effects
    if action.cost is None:
        return (*effects, _pays(number(turn.unit).expr)) if turn.unit else effects
    cases = terms.cases(action.cost, env)
    value = cases[0].value if len(cases) == 1 and not cases[0].conds else None
    if not isinstance(value, Num):
        raise LiftingError("a `cost` that depends on conditions", action.cost.span)
    of = action.cost.type
    digits = turn.scale - (of.decimals if isinstance(of, NumberType) else 0)
    if value.constant is not None:
        scaled = value.constant * 10**digits
        paid = _pays(number(scaled).expr, terms.words.luck)
        return (*effects, paid) if scaled else effects
    expr: Expr = value.expr if digits == 0 else ("*", str(10**digits), value.expr)
    return (*effects, _pays(expr, terms.words.luck))


def _pays(amount: Expr, luck: bool = False) -> Expr:
    if luck:
        return ("decrease", ("reward",), amount)
    return ("increase", ("total-cost",), amount)


# ---- phases -------------------------------------------------------------------------------


def lift_phase(
    words: Vocabulary, name: str, laws: Sequence[Law], turn: tuple[Expr, tuple[Expr, ...]]
) -> PddlAction:
    """A simultaneous phase: one forced action that applies every binding of every law."""
    terms = Terms(words)
    body = Effects(terms)
    for law in laws:
        where = drawn(law.body)
        if where is not None and not words.luck:
            raise LiftingError(f"chance in law `{law.name}`", where)
        with terms.scope.block():
            for case in terms.bind(law.params, law.when, {}):
                place = Place(loops=tuple(var.name for var in case.vars)).within(case)
                body.walk(law.body, case.value, place)
    check_conflicts(body.writes, words, ())
    guards = _generated(words, body, ())
    word = words.spellings.take("action", name)
    words.names.steps[word.lower()] = StepOrigin(None)
    live = [effect for effect in body.effects if FALSE not in effect.conds]
    effects = (*group(live), *turn[1])
    return PddlAction(word, (), conj((turn[0], *guards)), effects)


# ---- the domain ---------------------------------------------------------------------------


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
        laws = [law for law in words.rules.laws.values() if law.phase == name]
        if laws:
            found.append((name, order, laws))
    return found


def _alive(words: Vocabulary, goal: Ending | None) -> tuple[core.Term, ...]:
    """Conditions that must not hold where an actor acts: the world has ended, or is lost."""
    world = words.instance.world
    latched = not world.endless and world.outcomes == "latched"

    def ends(line: Ending) -> bool:
        other = line.ending == "stop" or (goal is not None and line is not goal)
        return line.ending == "lose" or (latched and other)

    return tuple(line.condition for line in words.endings if ends(line))


def _turn(domain: LiftedDomain, goal: Ending | None) -> None:
    """Set up the turn token and costs."""
    words = domain.words
    costs = [action.cost for action in words.rules.actions.values() if action.cost is not None]
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
    for action in domain.words.rules.actions.values():

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
        before = words.endings[: words.endings.index(line)]
        lost = [other for other in before if other.ending != "goal" or goal is not None]
        if world.endless or world.outcomes == "live":
            lost = [other for other in words.endings if other.ending == "lose"]
        blocked = [neg(lift_condition(words, other.condition)) for other in lost]
        return conj((lift_condition(words, line.condition), *blocked))

    def lift() -> None:
        every = [line for line in words.endings if line.ending == "goal"]
        lines = every if goal is None else [goal]
        named = set(words.constants)
        reached = disj(one(line) for line in lines)
        words.constants = named
        domain.goal = conj((reached, *domain.turn.now))

    domain.attempt(lift)


# ---- derived predicates -----------------------------------------------------------------------


def _add_derived(domain: LiftedDomain) -> None:
    program = domain.words.instance.program
    for derive in domain.words.rules.derives.values():
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
    terms = Terms(words)
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
    return PddlDerived(Signature(words.derives[derive.name], tuple(params)), body)


def _closure(words: Vocabulary, fluent: Fluent) -> PddlDerived:
    """``(chain ?x ?y)``: one step from ?x to ?y, or one to some ?z and a chain from there."""
    terms = Terms(words)
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
        first = (head, start.name, middle.name)
        rest = (chain, fit.value.text, end.name)
        steps.append(exists((middle, *fit.vars), conj((first, *fit.conds, rest))))
    return PddlDerived(Signature(chain, (start, end)), disj(steps))


def _closure_variable(terms: Terms, of: ValueType, base: str) -> Typed:
    if not isinstance(of, ObjectType):
        raise TypeError("a closure runs over objects")
    return terms.words.types.variable(terms.scope.fresh(base), of)[0]


# ---- the whole ----------------------------------------------------------------------------------


def _unsupported(words: Vocabulary) -> Iterator[LiftingError]:
    world = words.instance.world
    if len(world.turns) > 1:
        yield LiftingError("several actors in turn", world.span)
    for action in words.rules.actions.values():
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
