"""The lifted domain of a program: declarations, derived predicates, actions and forced phases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import product

from tokenworld import model as m
from tokenworld.core import nodes as core
from tokenworld.core.rules import Action, Derive, Ending, Law
from tokenworld.core.walk import is_draw
from tokenworld.ground import Raw, count_bindings, parameter_domains
from tokenworld.model import scaled_text
from tokenworld.planning.pddl import tree
from tokenworld.planning.pddl.effects import Effects, Script, drawn
from tokenworld.planning.pddl.terms import Terms
from tokenworld.planning.pddl.values import Env, Num, Sym, number
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

Variant = Mapping[str, Raw]
"""The values that an action has built in, by parameter."""


@dataclass(frozen=True, slots=True)
class Turn:
    """The form of ticks: ``now`` holds while the actor chooses, ``after`` ends the choice.

    ``alive`` are the conditions under which play has not ended. ``costs``: whether actions increase
    ``total-cost``; ``unit`` is the increase by an action without `cost`.
    """

    now: tuple[tree.Expr, ...] = ()
    after: tuple[tree.Expr, ...] = ()
    alive: tuple[core.Term, ...] = ()
    costs: bool = False
    unit: int = 0
    scale: int = 0


def takes_time(action: Action) -> bool:
    """Return whether the action takes a tick; raises `LiftingError` for one that takes several."""
    if action.takes is None and action.until is None:
        return True
    ticks = action.takes.value if isinstance(action.takes, core.Constant) else None
    if action.until is not None or ticks not in (0, 1):
        span = action.takes.span if action.takes is not None else action.span
        raise LiftingError(f"action `{action.name}`, which takes several ticks", span)
    return ticks == 1


# ---- parameters ---------------------------------------------------------------------------


def _variants(words: Vocabulary, action: Action) -> list[Variant]:
    """One assignment per combination of values that PDDL has no parameters for."""
    domains: list[tuple[core.Binder, Sequence[Raw]]] = []
    for binder in action.params:
        if isinstance(binder.domain, m.TypeRange) and sort_of(binder.type) == "symbol":
            continue
        (values,) = parameter_domains(words.instance, [binder])
        if not values:
            raise LiftingError(f"parameter `{binder.name}` without finite range", binder.span)
        domains.append((binder, values))
    count = count_bindings(values for _, values in domains)
    if count > _MOST_VARIANTS:
        raise LiftingError(f"{count} numeric arguments of `{action.name}`", action.span)
    pairs = ([(binder.name, value) for value in values] for binder, values in domains)
    return [dict(one) for one in product(*pairs)]


def _suffix(action: Action, fixed: Variant) -> str:
    def one(binder: core.Binder, value: Raw) -> str:
        if isinstance(value, bool) or not isinstance(value, int):
            return str(value).lower()
        decimals = binder.type.decimals if isinstance(binder.type, m.NumberType) else 0
        return scaled_text(value, decimals).replace("-", "m").replace(".", "p")

    words = (one(par, fixed[par.name]) for par in action.params if par.name in fixed)
    return "".join(f"-{word}" for word in words)


def _bound(body: Effects, action: Action, fixed: Variant) -> tuple[Env, tuple[int | Fixed, ...]]:
    """The parameters of an action variant as names of its body, and the way back."""
    env: Env = {}
    args: list[int | Fixed] = []
    for binder in action.params:
        if binder.name in fixed:
            value = fixed[binder.name]
            (known,) = body.terms.constant(value, binder.type, binder.span)
            env = {**env, binder.name: known.value}
            args.append(Fixed(value))
        else:
            args.append(len(body.params))
            (case,) = body.terms.bind((binder,), None, env)
            env = body.chosen(case)
    return env, tuple(args)


# ---- actions ------------------------------------------------------------------------------


def lift_action(words: Vocabulary, action: Action, turn: Turn) -> list[tree.PddlAction]:
    """The PDDL actions of one action: one per built-in argument and outcome of chance."""
    found: list[tree.PddlAction] = []
    for fixed in _variants(words, action):
        script: Script | None = Script(())
        outcomes: list[tuple[tree.PddlAction, StepOrigin] | None] = []
        while script is not None:
            outcomes.append(_one(words, action, turn, fixed, script))
            script = script.following()
        for count, outcome in enumerate(outcomes, 1):
            if outcome is not None:
                found.append(_named(words, *outcome, count if len(outcomes) > 1 else 0))
    return found


def _named(
    words: Vocabulary, action: tree.PddlAction, origin: StepOrigin, count: int
) -> tree.PddlAction:
    """The action under a free spelling, with the way back."""
    word = words.spellings.take("action", action.name + (f"-o{count}" if count else ""))
    words.names.steps[word.lower()] = replace(origin, outcome=count)
    return replace(action, name=word)


def _one(
    words: Vocabulary, action: Action, turn: Turn, fixed: Variant, script: Script
) -> tuple[tree.PddlAction, StepOrigin] | None:
    """The action for some outcomes of chance; ``None`` where it can never be taken."""
    timed, where = takes_time(action), next(filter(is_draw, action.guards), None)
    if where is not None:
        raise LiftingError("a draw of chance before the requires", where.span)
    terms = Terms(words)
    body = Effects(terms, script)
    env, args = _bound(body, action, fixed)
    env = body.ask(action, env)
    if tree.FALSE in body.known:
        return None
    held = tuple(_held(body, sum(isinstance(one, int) for one in args)))
    env = body.walk(action.body, env, Place())
    if tree.FALSE in body.known:
        return None
    check_conflicts(body.writes, words, body.known)
    alive = (tree.neg(terms.condition(line, {})) for line in turn.alive)
    every = (*turn.now, *body.asked, *_generated(words, body), *alive)
    effects = _with_cost(terms, action, turn, env, group(body.effects))
    name = f"{legal(action.name)}{_suffix(action, fixed)}"
    effects = (*effects, *(turn.after if timed else ()))
    origin = StepOrigin(action.name, args, branches=tuple(body.branches), held=held)
    return tree.PddlAction(name, tuple(body.params), tree.conj(every), effects), origin


def _held(body: Effects, own: int) -> Iterator[tuple[str, tuple[int | Fixed, ...]]]:
    """The slots whose values the parameters after the action's ``own`` ones are."""
    words, names = body.terms.words, [one.name for one in body.params]
    fluents = {spelled: key for key, spelled in words.fluents.items()}
    slots = {one.text: slot for slot, one in body.pins.items() if one is not None}
    for name in names[own:]:
        head, *args = map(str, slots[name])
        places = (names.index(one) if one in names else Fixed(words.names.objects[one.lower()])
                  for one in args)  # fmt: skip
        yield fluents[head], tuple(places)


def _generated(words: Vocabulary, body: Effects) -> list[tree.Expr]:
    """The requires that the language adds; none may depend on how luck falls."""
    known = body.known
    found = ranges(body.writes, words, known) + relation_guards(body.writes, words)
    if not body.lucky:
        return found
    sure = [one for one in body.writes if not any(one is other for other in body.lucky)]
    if set(found) != {*ranges(sure, words, known), *relation_guards(sure, words)}:
        what = "a range or relation that only some outcome of chance may break"
        raise LiftingError(what, body.lucky[0].span)
    return found


def _with_cost(
    terms: Terms, action: Action, turn: Turn, env: Env, effects: tuple[tree.Expr, ...]
) -> tuple[tree.Expr, ...]:
    if not turn.costs or (terms.words.luck and action.cost is None):
        return effects
    if action.cost is None:
        return (*effects, _pays(number(turn.unit).expr)) if turn.unit else effects
    cases = terms.cases(action.cost, env)
    value = cases[0].value if len(cases) == 1 and not cases[0].conds else None
    if not isinstance(value, Num):
        raise LiftingError("a `cost` that depends on conditions", action.cost.span)
    of = action.cost.type
    digits = turn.scale - (of.decimals if isinstance(of, m.NumberType) else 0)
    if value.constant is not None:
        scaled = value.constant * 10**digits
        paid = _pays(number(scaled).expr, terms.words.luck)
        return (*effects, paid) if scaled else effects
    expr: tree.Expr = value.expr if digits == 0 else ("*", str(10**digits), value.expr)
    return (*effects, _pays(expr, terms.words.luck))


def _pays(amount: tree.Expr, luck: bool = False) -> tree.Expr:
    if luck:
        return ("decrease", ("reward",), amount)
    return ("increase", ("total-cost",), amount)


# ---- phases -------------------------------------------------------------------------------


@dataclass(slots=True)
class LiftedDomain:
    """The parts that the writer puts together, and the obstacle that stopped the lifting."""

    words: Vocabulary
    actions: list[tree.PddlAction] = field(default_factory=list)
    derived: list[tree.PddlDerived] = field(default_factory=list)
    goal: tree.Expr = ("and",)
    turn: Turn = field(default_factory=Turn)
    token: tuple[str, str, tuple[str, ...]] | None = None
    """Predicate, type and constants of the turn, where the world has phases."""
    errors: list[LiftingError] = field(default_factory=list)

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Lift one part; record constructs without a lifted form and continue, so that all are
        reported."""
        try:
            yield
        except LiftingError as error:
            self.errors.append(error)

    def condition(self, term: core.Term) -> tree.Expr:
        """A condition of the world, such as its goal."""
        return Terms(self.words).condition(term, {})

    def forced(self, wanted: str, origin: str | None) -> str:
        """The spelling of an action that no rule has, with the way back."""
        word = self.words.spellings.take("action", wanted)
        self.words.names.steps[word.lower()] = StepOrigin(origin)
        return word

    def asks(self, predicate: str) -> bool:
        """Return whether a part lifted so far (action, goal, derived) uses a predicate."""
        parts: list[tree.Expr] = [self.goal]
        for action in self.actions:
            parts += [action.precondition, *action.effects]
        parts += [one.condition for one in self.derived]
        return any(predicate in tree.heads(part) for part in parts)


# ---- turns and phases -----------------------------------------------------------------------


def _phases(words: Vocabulary) -> list[tuple[str, list[Law]]]:
    """Name and laws of each phase that has laws, in order; the unnamed one is last."""
    laws = words.rules.laws.values()
    names = (*words.instance.program.phases, "")
    phases = ((name, [law for law in laws if law.phase == name]) for name in names)
    return [(name, listed) for name, listed in phases if listed]


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
    scale = max((t.type.decimals for t in costs if isinstance(t.type, m.NumberType)), default=0)
    phases = _phases(words)
    now: tuple[tree.Expr, ...] = ()
    after: tuple[tree.Expr, ...] = ()
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


def _pass(domain: LiftedDomain) -> tree.PddlAction:
    """The action that only lets a tick go by."""
    turn = domain.turn
    alive = [tree.neg(domain.condition(line)) for line in turn.alive]
    paid = turn.unit and not domain.words.luck
    effects = (*((_pays("1"),) if paid else ()), *turn.after)
    return tree.PddlAction(
        domain.forced("tw-pass", ""), (), tree.conj((*turn.now, *alive)), effects
    )


def _add_phases(domain: LiftedDomain, token: tuple[str, str, tuple[str, ...]]) -> None:
    """The forced action of each phase; where there is none, every law that is a reason is named."""
    (predicate, _, steps), program = token, domain.words.instance.program
    for at, (name, laws) in enumerate(_phases(domain.words), 1):
        if name and program.phases[name].order != "simultaneous":
            what = f"sequential phase `{name}`"
            domain.errors.append(LiftingError(what, program.phases[name].span))
            continue
        said = ", ".join(law.name for law in laws)
        here, following = (predicate, steps[at]), (predicate, steps[(at + 1) % len(steps)])
        try:
            guards, effects = _phase(domain.words, laws)
        except LiftingError as error:
            before = len(domain.errors)
            for law in laws:
                with domain.kept():
                    _phase(domain.words, [law])
            domain.errors += [error] if len(domain.errors) == before else []
            continue
        word = domain.forced(f"tw-phase-{at}", None)
        title = f"phase {name}: {said}" if name else f"last phase: {said}"
        effects = (*effects, ("not", here), following)
        domain.actions.append(tree.PddlAction(word, (), tree.conj((here, *guards)), effects, title))


def _phase(words: Vocabulary, laws: Sequence[Law]) -> tuple[list[tree.Expr], tuple[tree.Expr, ...]]:
    """The guards and effects of a simultaneous phase: every binding of every law is applied."""
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
    live = (effect for effect in body.effects if tree.FALSE not in effect.conds)
    return [*body.asked, *_generated(words, body)], group(live)


# ---- goal -----------------------------------------------------------------------------------


def _goal(domain: LiftedDomain, goal: Ending | None) -> tree.Expr:
    """The goal holds at the end of a tick, and no line written before it is latched first."""
    words, world = domain.words, domain.words.instance.world

    def one(line: Ending) -> tree.Expr:
        before = words.endings[: words.endings.index(line)]
        lost = [other for other in before if other.ending != "goal" or goal is not None]
        if world.endless or world.outcomes == "live":
            lost = [other for other in words.endings if other.ending == "lose"]
        blocked = [tree.neg(domain.condition(other.condition)) for other in lost]
        return tree.conj((domain.condition(line.condition), *blocked))

    lines = [line for line in words.endings if line.ending == "goal"] if goal is None else [goal]
    named = set(words.constants)
    reached = tree.disj(one(line) for line in lines)
    words.constants = named
    return tree.conj((reached, *domain.turn.now))


# ---- derived predicates -----------------------------------------------------------------------


def _add_derived(domain: LiftedDomain) -> None:
    """The recursive derives and the closures; a derive that no rule asks for stops nothing."""
    words = domain.words
    for derive in words.rules.derives.values():
        if derive.recursive:
            asked = domain.asks(words.derives[derive.name])
            with domain.kept() if asked else suppress(LiftingError):
                domain.derived.append(_recursive(words, derive))
    done: set[str] = set()
    while waiting := [name for name in words.closures if name not in done]:
        done.add(waiting[0])
        domain.derived.append(_closure(words, words.instance.program.fluents[waiting[0]]))


def _recursive(words: Vocabulary, derive: Derive) -> tree.PddlDerived:
    terms = Terms(words)
    if any(sort_of(binder.type) != "symbol" for binder in derive.params):
        raise LiftingError(f"recursive `{derive.name}` over numbers", derive.span)
    (case,) = terms.bind(derive.params, None, {})
    body = tree.conj((*case.conds, terms.condition(derive.value, case.value)))
    return tree.PddlDerived(tree.Signature(words.derives[derive.name], case.vars), body)


def _closure(words: Vocabulary, fluent: m.Fluent) -> tree.PddlDerived:
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
    steps: list[tree.Expr] = [(head, start.name, end.name)]
    for fit in terms.fit(Sym(middle.name, symbol_type(formals[1])), symbol_type(formals[0])):
        first = (head, start.name, middle.name)
        rest = (chain, fit.value.text, end.name)
        steps.append(tree.exists((middle, *fit.vars), tree.conj((first, *fit.conds, rest))))
    return tree.PddlDerived(tree.Signature(chain, (start, end)), tree.disj(steps))


def _closure_variable(terms: Terms, of: m.ValueType, base: str) -> tree.Typed:
    if not isinstance(of, m.ObjectType):
        raise TypeError("a closure runs over objects")
    return terms.words.types.variable(terms.scope.fresh(base), of)[0]


# ---- the whole ----------------------------------------------------------------------------------


def lift_domain(words: Vocabulary, goal: Ending | None) -> LiftedDomain:
    """Lift everything; look at `errors` before using the rest."""
    domain, world = LiftedDomain(words), words.instance.world
    if len(world.turns) > 1:
        domain.errors.append(LiftingError("several actors in turn", world.span))
    for action in words.rules.actions.values():
        with domain.kept():
            takes_time(action)
    _turn(domain, goal)
    for action in words.rules.actions.values():
        with domain.kept():
            domain.actions += lift_action(words, action, domain.turn)
    if domain.token is not None:
        with domain.kept():
            domain.actions.append(_pass(domain))
        _add_phases(domain, domain.token)
    with domain.kept():
        domain.goal = _goal(domain, goal)
    _add_derived(domain)
    domain.errors = list({(str(e.span), e.construct): e for e in domain.errors}.values())
    return domain
