"""Actions and laws as PDDL actions: requires, generated requires, effects, cost, turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from tokenworld.ground import Raw, count_bindings, domain_of, scaled_text
from tokenworld.model import (
    Action,
    Binder,
    BoolType,
    CollectionRange,
    IntervalRange,
    Law,
    Let,
    NumberLiteral,
    NumberType,
    Require,
    Term,
    TypeRange,
)
from tokenworld.planning.pddl.cases import Bound, Env, Lazy, Num, Scope, Sym, Truth
from tokenworld.planning.pddl.conditions import Conditions
from tokenworld.planning.pddl.effects import Effects
from tokenworld.planning.pddl.guards import check_conflicts, ranges, relation_guards
from tokenworld.planning.pddl.names import Fixed, StepOrigin, legal
from tokenworld.planning.pddl.numbers import number
from tokenworld.planning.pddl.outcomes import Alternative, alternatives, draws
from tokenworld.planning.pddl.terms import symbol_type
from tokenworld.planning.pddl.tree import (
    FALSE,
    TRUE,
    Expr,
    PddlAction,
    Typed,
    conj,
    neg,
    top_conjuncts,
)
from tokenworld.planning.pddl.vocabulary import LiftingError, Vocabulary, sort_of
from tokenworld.planning.pddl.writes import Guarded, Place, group

__all__ = ["Turn", "lift_action", "lift_condition", "lift_phase", "takes_time"]

_MOST_VARIANTS = 64

Variant = tuple[tuple[Binder, Raw], ...]


@dataclass(frozen=True, slots=True)
class Turn:
    """How ticks are written: ``now`` holds where the actor chooses, ``after`` ends the choice.

    ``alive`` are the conditions under which the world still goes on. ``costs``: whether actions
    pay ``total-cost``; ``unit`` is what one without `cost` pays.
    """

    now: tuple[Expr, ...] = ()
    after: tuple[Expr, ...] = ()
    alive: tuple[Term, ...] = ()
    costs: bool = False
    unit: int = 0
    scale: int = 0


def takes_time(action: Action) -> bool:
    """Whether the action takes a tick; raises `LiftingError` for one that takes several."""
    if action.takes is None and action.until is None:
        return True
    ticks = action.takes.value if isinstance(action.takes, NumberLiteral) else None
    if action.until is not None or ticks not in (0, 1):
        span = action.takes.span if action.takes is not None else action.span
        raise LiftingError(f"action `{action.name}`, which takes several ticks", span)
    return ticks == 1


def lift_condition(words: Vocabulary, term: Term) -> Expr:
    """A condition of a world, such as its goal."""
    return Conditions(words, Scope()).condition(term, {})


# ---- parameters ---------------------------------------------------------------------------


def _values(words: Vocabulary, binder: Binder) -> Sequence[Raw] | None:
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
        case CollectionRange():
            raise LiftingError(f"parameter `{binder.name}` over a collection", binder.span)
        case _:
            return None


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
    def one(binder: Binder, value: Raw) -> str:
        if isinstance(value, bool) or not isinstance(value, int):
            return str(value).lower()
        decimals = binder.type.decimals if isinstance(binder.type, NumberType) else 0
        return scaled_text(value, decimals).replace("-", "m").replace(".", "p")

    return "".join(f"-{one(binder, value)}" for binder, value in fixed)


def _constant(binder: Binder, value: Raw) -> Bound:
    if isinstance(binder.type, BoolType):
        return Truth(TRUE if value else FALSE)
    assert isinstance(value, (int, float))
    return number(value)


class _Params:
    """The PDDL parameters of one action variant, the names bound to them, and the way back."""

    def __init__(self, words: Vocabulary, scope: Scope) -> None:
        self.words, self.scope = words, scope
        self.typed: list[Typed] = []
        self.conds: list[Expr] = []
        self.env: dict[str, Bound] = {}
        self.args: list[int | Fixed] = []

    def add(self, binder: Binder, fixed: dict[str, Raw], argument: bool = True) -> None:
        if binder.name in fixed:
            value = fixed[binder.name]
            self.env[binder.name] = _constant(binder, value)
            self.args.append(Fixed(value))
            return
        of = symbol_type(binder.type)
        name = self.scope.fresh(binder.name)
        var, guard = self.words.types.variable(name, of)
        self.conds += [] if guard is None else [guard]
        self.env[binder.name] = Sym(name, of)
        if argument:
            self.args.append(len(self.typed))
        self.typed.append(var)


# ---- actions ------------------------------------------------------------------------------


def lift_action(words: Vocabulary, action: Action, turn: Turn) -> list[PddlAction]:
    """The PDDL actions of one action: one per built-in argument and outcome of chance."""
    timed = takes_time(action)
    outcomes = [Alternative(action.body)] if words.luck else alternatives(action.body)
    found: list[PddlAction] = []
    for fixed in _variants(words, action):
        for index, outcome in enumerate(outcomes):
            count = index + 1 if len(outcomes) > 1 else 0
            one = _one(words, action, turn, timed, fixed, outcome, count)
            found += [] if one is None else [one]
    return found


def _one(
    words: Vocabulary,
    action: Action,
    turn: Turn,
    timed: bool,
    fixed: Variant,
    outcome: Alternative,
    count: int,
) -> PddlAction | None:
    terms = Conditions(words, Scope())
    params = _Params(words, terms.scope)
    for binder in action.params:
        params.add(binder, {one.name: value for one, value in fixed})
    for binder in outcome.params:
        params.add(binder, {}, argument=False)
    env, asked = _guards(terms, action, params)
    asked += [terms.condition(cond, _top(outcome, env)) for cond in outcome.conds]
    if FALSE in asked:
        return None
    alive = [neg(terms.condition(line, {})) for line in turn.alive]
    known = top_conjuncts(conj((*params.conds, *asked)))
    body = Effects(terms, _pins(words, known))
    env = body.walk(outcome.body, env, Place())
    check_conflicts(body.writes, words, known)
    generated = _generated(words, body, known)
    every = (*turn.now, *params.conds, *asked, *body.asked, *generated, *alive)
    effects = _with_cost(terms, action, turn, env, group(body.effects))
    if timed:
        effects = (*effects, *turn.after)
    name = f"{legal(action.name)}{_suffix(fixed)}" + (f"-o{count}" if count else "")
    word = words.spellings.take("action", name)
    words.names.steps[word.lower()] = StepOrigin(action.name, tuple(params.args), count)
    return PddlAction(word, tuple(params.typed), conj(every), effects)


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


def _top(outcome: Alternative, env: Env) -> Env:
    """The names of the body's own lets too: a pick may speak of them."""
    found = dict(env)
    for effect in outcome.body:
        if isinstance(effect, Let) and isinstance(effect.value, Term):
            found[effect.name] = Lazy(effect.value, dict(found))
    return found


def _guards(terms: Conditions, action: Action, params: _Params) -> tuple[Env, list[Expr]]:
    env: Env = dict(params.env)
    asked: list[Expr] = []
    for guard in action.guards:
        match guard:
            case Require(condition=condition):
                asked.append(terms.condition(condition, env))
            case Let(name=name, value=value, span=span):
                if not isinstance(value, Term):
                    raise LiftingError("a draw of chance before the requires", span)
                env = {**env, name: Lazy(value, env)}
    return env, asked


def _pins(words: Vocabulary, known: Sequence[Expr]) -> dict[tuple[Expr, ...], Sym | None]:
    """The slots whose value the precondition names, or whose absence it demands."""
    program = words.instance.program
    valued = {
        words.fluents[fluent.id]: symbol_type(fluent.type)
        for fluent in program.fluents.values()
        if sort_of(fluent.type) == "symbol"
    }
    found: dict[tuple[Expr, ...], Sym | None] = {}
    for fact in known:
        held = _absent(fact) or fact
        if isinstance(held, tuple) and isinstance(held[0], str) and held[0] in valued:
            value = held[-1]
            if isinstance(value, str):
                symbol = Sym(value, valued[held[0]]) if held is fact else None
                found.setdefault(held[:-1], symbol)
    return found


def _absent(fact: Expr) -> Expr | None:
    """The fact ``(f … ?v)`` of ``(not (exists (?v) (f … ?v)))``."""
    match fact:
        case ("not", ("exists", (str(var), *_), (str(), *args) as held)):
            plain = all(isinstance(arg, str) for arg in args)
            return held if plain and args[-1:] == [var] else None
        case _:
            return None


def _with_cost(
    terms: Conditions, action: Action, turn: Turn, env: Env, effects: tuple[Expr, ...]
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
    terms = Conditions(words, Scope())
    body = Effects(terms, {})
    for law in laws:
        where = draws(law.body)
        if where is not None and not words.luck:
            raise LiftingError(f"chance in law `{law.name}`", where)
        with terms.scope.block():
            for vars_, conds, env in terms.bind(law.params, law.when, {}):
                loops = tuple(var.name for var in vars_)
                place = Place(loops=loops).inside(vars_, conds)
                body.walk(law.body, env, place)
    check_conflicts(body.writes, words, ())
    guards = _generated(words, body, ())
    word = words.spellings.take("action", name)
    words.names.steps[word.lower()] = StepOrigin(None)
    effects = (*group(_live(body.effects)), *turn[1])
    return PddlAction(word, (), conj((turn[0], *guards)), effects)


def _live(effects: Sequence[Guarded]) -> list[Guarded]:
    return [effect for effect in effects if FALSE not in effect.conds]
