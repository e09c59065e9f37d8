"""The changes of a body as PDDL effects (language.md §5): all read the state before.

Draws are lifted in two ways. For PDDL each outcome of an action is an action of its own, which the
planner may choose: a `Script` says which one is lifted. For PPDDL a draw is a
``(probabilistic p1 e1 p2 e2 …)`` around what depends on it; a uniform `pick` is a case for each set
of candidates.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from itertools import combinations, takewhile
from typing import Literal, assert_never, cast

from tokenworld import model as m
from tokenworld.core import nodes as core
from tokenworld.core.program import Rules
from tokenworld.core.rules import Action
from tokenworld.core.walk import mentions, statements_in
from tokenworld.diagnostics import Span
from tokenworld.ground import Instance, Raw, domain_of
from tokenworld.planning.pddl import tree
from tokenworld.planning.pddl.terms import Terms
from tokenworld.planning.pddl.values import (
    Bound,
    Case,
    Env,
    Lazy,
    Sym,
    Truth,
    V,
    Value,
    as_number,
    as_symbol,
    at_least,
    close,
    is_none,
    number,
)
from tokenworld.planning.pddl.words import LiftingError, Vocabulary, sort_of, symbol_type
from tokenworld.planning.pddl.writes import Place, Write, absent, group, number_effects

Pins = Mapping[tuple[tree.Expr, ...], Sym | None]
"""Values that the precondition fixes: the atom of a slot without its value, and the value
(``None``: the slot has none)."""

Target = tuple[Place, m.Fluent, tuple[Sym, ...]]
"""A slot that a body writes, and where."""

_MOST_CANDIDATES = 5
"""Candidates of a `pick` at most for PPDDL: there is a case for each set of them."""
_Draws = (core.BranchDraw, core.PickDraw, core.UniformDraw)


# ---- probabilities --------------------------------------------------------------------------


def share(instance: Instance, term: core.Term) -> Fraction:
    """A probability as an exact number; `LiftingError` where it changes in play."""
    found = _exact(instance, term)
    if found is None:
        raise LiftingError("a probability that changes", term.span)
    return found


def _exact(instance: Instance, term: core.Term) -> Fraction | None:
    match term:
        case core.Constant(value=value, type=m.NumberType(decimals=decimals)) if value is not None:
            return Fraction(value, 10**decimals)
        case core.ParamValue(name=name, type=m.NumberType(decimals=decimals)):
            raw = instance.params[name]
            return Fraction(raw, 10**decimals) if isinstance(raw, int) else None
        case core.Call(op="scale" | "real"):
            return _exact(instance, term.args[0])
        case core.Call(op="neg" | "+" | "-" | "*" | "/" as op):
            values = [_exact(instance, one) for one in term.args]
            known = [value for value in values if value is not None]
            return _worked_out(op, known) if len(known) == len(values) else None
        case (
            core.LeafTerm() | core.Read() | core.Members() | core.Call() | core.Fold()
            | core.Choice() | core.TypeTest() | core.DeriveCall() | core.Text()
        ):  # fmt: skip
            return None
        case _:
            assert_never(term)


def _worked_out(op: str, values: Sequence[Fraction]) -> Fraction | None:
    if op == "neg":
        return -values[0]
    one, other = values
    if op == "/":
        return one / other if other else None
    return {"+": one + other, "-": one - other, "*": one * other}[op]


def _branches(instance: Instance, draw: core.BranchDraw) -> list[tuple[int, Fraction]]:
    """The branches that may be taken, the last one of none included."""
    shares = [share(instance, one) for one in draw.probabilities]
    every = enumerate([*shares, 1 - sum(shares, Fraction(0))])
    return [(index, weight) for index, weight in every if weight > 0]


def rounded(instance: Instance, rules: Rules) -> Iterator[core.Term]:
    """The probabilities that play computes as real numbers and therefore rounds."""
    bodies = [one.body for one in rules.actions.values()]
    bodies += [one.body for one in rules.laws.values()]
    for one in (one for body in bodies for one in statements_in(body)):
        if isinstance(one, core.Let) and isinstance(one.value, core.BranchDraw):
            for term in one.value.probabilities:
                exact = _exact(instance, term) if isinstance(term.type, m.RealType) else None
                if exact is not None and Fraction(float(exact)) != exact:
                    yield term


def weight_text(weight: Fraction) -> str:
    """``0.25`` where the decimal is exact, else ``1/3``: PDDL takes any rational number."""
    text = format(Decimal(weight.numerator) / Decimal(weight.denominator), "f")
    return text if Fraction(text) == weight else f"{weight.numerator}/{weight.denominator}"


# ---- one action for each outcome ----------------------------------------------------------------


class Script:
    """The outcome that each draw takes, in the order in which the draws are met."""

    def __init__(self, taken: Sequence[int]) -> None:
        self._taken, self._sizes = list(taken), list[int]()

    def take(self, count: int) -> int:
        """The outcome of the next draw, which has so many."""
        if len(self._sizes) == len(self._taken):
            self._taken.append(0)
        self._sizes.append(count)
        return self._taken[len(self._sizes) - 1]

    def following(self) -> Script | None:
        """The next one in written order; ``None`` after the last."""
        last = max((at for at, taken in enumerate(self._taken) if taken + 1 < self._sizes[at]),
                   default=None)  # fmt: skip
        if last is None:
            return None
        return Script((*self._taken[:last], self._taken[last] + 1))


def by_order(draw: object) -> bool:
    """Return whether a draw takes the first best, without chance."""
    return isinstance(draw, core.PickDraw) and draw.key in ("least", "most")


def drawn(body: core.Body) -> Span | None:
    """The place of the first draw of chance in a body, if there is one."""
    lets = (one for one in statements_in(body) if isinstance(one, core.Let))
    spans = (one.span for one in lets if isinstance(one.value, _Draws) and not by_order(one.value))
    return next(spans, None)


def pins_of(words: Vocabulary, known: Iterable[tree.Expr]) -> Pins:
    """The slots whose value a condition names, or whose absence it demands."""
    found: dict[tuple[tree.Expr, ...], Sym | None] = {}
    for fact in known:
        held = absent(fact, words) or fact
        match held:
            case (str(head), *_, str(value)) if head in words.valued:
                symbol = Sym(value, words.valued[head]) if held is fact else None
                found.setdefault(held[:-1], symbol)
    return found


def _first_writes(body: core.Body) -> Iterator[core.Write]:
    """Yield the assignments of a body outside of loops and before its first `let`.

    Under conditions only assignments of objects: the few members of an enum get a `when` each.
    """
    for one in takewhile(lambda one: not isinstance(one, core.Let), body):
        if isinstance(one, core.Write) and one.op == "=":
            yield one
        elif isinstance(one, core.If):
            for inner in (*_first_writes(one.then), *_first_writes(one.otherwise)):
                if isinstance(inner.target.type, m.ObjectType):
                    yield inner


_Values = Mapping[str, tuple[tree.Typed, tuple[str, ...]]]
"""Variables, and the slots whose values they are."""


def _values_of(asked: tree.Expr, valued: Container[tree.Expr], pins: Pins) -> _Values:
    """The variables of an `exists` with the slots whose values they are, each after those that its
    slot names; nothing where one is no such value. Slots that have a name already come first."""
    if not (isinstance(asked, tuple) and asked[:1] == ("exists",)):
        return {}
    params = {one.name: one for one in tree.typed(cast(tuple[str, ...], asked[1]))}
    found: dict[str, tuple[tree.Typed, tuple[str, ...]]] = {}
    facts = [one for one in tree.top_conjuncts(asked[2]) if isinstance(one, tuple) and one]
    for _ in params:
        for fact in sorted(facts, key=lambda one: one[:-1] not in pins):
            *slot, value = fact
            waiting = params.keys() - found.keys()
            if fact[0] in valued and value in waiting and waiting.isdisjoint(map(str, slot)):
                found[str(value)] = params[str(value)], cast(tuple[str, ...], tuple(slot))
    return found if len(found) == len(params) else {}


# ---- effects --------------------------------------------------------------------------------


@dataclass
class Effects:
    """Lifts bodies into effects; `writes` has the writes that the guards must check.

    ``asked`` are the conditions of the action, with those that the body adds: the amount of a
    transfer is not negative. ``params`` are its parameters: picks add some. ``lucky`` are the
    writes that only some outcome of chance makes. ``branches``: the place of each `chance`, with
    the branch that the script takes.
    """

    terms: Terms
    script: Script = field(default_factory=lambda: Script(()))
    asked: list[tree.Expr] = field(default_factory=list)
    params: list[tree.Typed] = field(default_factory=list)
    effects: list[Case[tree.Expr]] = field(default_factory=list)
    writes: list[Write] = field(default_factory=list)
    lucky: list[Write] = field(default_factory=list)
    branches: list[tuple[str, int]] = field(default_factory=list)
    _draws: int = 0

    @property
    def known(self) -> tuple[tree.Expr, ...]:
        """The facts that hold where the body is applied."""
        return tree.top_conjuncts(tree.conj(self.asked))

    @property
    def pins(self) -> Pins:
        """The slots whose value is known where the body is applied."""
        return pins_of(self.terms.words, self.known)

    def chosen(self, case: Case[V]) -> V:
        """The value of a case whose variables become parameters of the action."""
        self.params += case.vars
        self.asked += case.conds
        self.terms.scope.reserve(var.name for var in case.vars)
        return case.value

    def ask(self, action: Action, env: Env) -> Env:
        """Lift the guards of an action. Values of slots that it asks for or replaces become
        parameters, which the precondition fixes; a slot that may be empty has to be asked for."""
        probe = Effects(self.terms)
        with self.terms.scope.block():
            inner = probe.walk(action.guards, env, Place())
            pins = probe.pins
        for change in _first_writes(action.body):
            self._name_old(change, inner, pins)
        self._hold()
        env = self.walk(action.guards, env, Place())
        asked = [(one, _values_of(one, self.terms.words.valued, self.pins)) for one in self.known]
        if any(found for _, found in asked):
            with self.terms.scope.block():
                self._name_asked(asked)
        self._hold()
        return env

    def _hold(self) -> None:
        self.terms.held = {slot: one for slot, one in self.pins.items() if one is not None}

    def _name_asked(self, asked: Sequence[tuple[tree.Expr, _Values]]) -> None:
        plain = [one for one, found in asked if not found]
        self.terms.scope.reserve((*plain, *(one.name for one in self.params)))
        pins = {**pins_of(self.terms.words, plain)}
        self.asked = []
        for one, found in asked:
            self.asked += self._named(found, one, pins) if found else [one]
            pins = {**pins_of(self.terms.words, self.asked), **pins}

    def _named(
        self, found: _Values, asked: tree.Expr, pins: dict[tuple[tree.Expr, ...], Sym | None]
    ) -> list[tree.Expr]:
        """The conditions below an `exists` whose variables are values of slots, as parameters."""
        names: dict[str, str] = {}
        for name, (param, written) in found.items():
            slot = tuple(names.get(one, one) for one in written)
            known = pins.get(slot)
            if known is None:
                fresh = self.terms.scope.fresh(name[1:])
                known = pins[slot] = Sym(fresh, self.terms.words.valued[slot[0]])
                self.params.append(replace(param, name=fresh))
            names[name] = known.text
        new = [tree.rename(one, names) for one in tree.top_conjuncts(asked[2])]
        return [one for one in new if one not in self.asked]

    def _name_old(self, one: core.Write, env: Env, pins: Pins) -> None:
        """Make a parameter of the value that a slot has before it is written."""
        fluent = self.terms.fluent(one.target.fluent, one.target.span)
        if sort_of(fluent.type) != "symbol" or m.is_optional(fluent.type):
            return
        formals = [param.type for param in fluent.params]
        with self.terms.scope.block():
            cases = list(self.terms.arguments(formals, one.target.args, env))
        if len(cases) == 1 and not (cases[0].vars or cases[0].conds):
            atom = self._atom(fluent, cases[0].value)
            if atom not in pins and atom not in self.pins:
                self.chosen(self._old(fluent, atom))

    def walk(self, body: core.Body, env: Env, place: Place) -> Env:
        """Lift a body; the result binds its lets too."""
        skipped = 0
        for index, one in enumerate(body):
            if index < skipped:
                continue
            if not isinstance(one, core.Let):
                with self.terms.scope.block():
                    self.terms.scope.reserve((*place.conds, *(one.name for one in self.params)))
                    self._statement(one, env, place)
            elif isinstance(one.value, _Draws) and self.terms.words.luck:
                rest = _extent(one.names, body[index + 1 :])
                self._draw(one, one.value, rest, env, place)
                skipped = index + 1 + len(rest)
            elif isinstance(one.value, _Draws):
                env = self._taken(one, one.value, env, place)
            else:
                self._checked(one.value, env, place)
                env = {**env, one.names[0]: Lazy(one.value, env)}
        return env

    def _statement(self, one: core.Statement, env: Env, place: Place) -> None:
        match one:
            case core.Write():
                self._write(one, env, place)
            case core.If():
                self._if(one, env, place)
            case core.For():
                if drawn(one.body) and not self.terms.words.luck:
                    raise LiftingError("chance in a loop", one.span)
                for case in self.terms.bind(one.binders, one.where, env):
                    loops = (*place.loops, *(var.name for var in case.vars))
                    self.walk(one.body, case.value, replace(place.within(case), loops=loops))
            case core.Reward(amount=amount):
                if self.terms.words.luck:
                    self._reward(amount, env, place)
            case core.Create():
                raise LiftingError("`create`", one.span)
            case core.Destroy():
                raise LiftingError("`destroy`", one.span)
            case core.Require():
                self.asked.append(self.terms.condition(one.condition, env))
            case core.Let() | core.Emit() | core.Say() | core.Describe():
                pass  # `walk` binds lets, and PDDL has no texts
            case _:
                assert_never(one)

    def _if(self, one: core.If, env: Env, place: Place) -> None:
        test = self.terms.condition(one.condition, env)
        for cond, body in ((test, one.then), (tree.neg(test), one.otherwise)):
            if cond != tree.FALSE:
                self.walk(body, env, place.inside((), (cond,)))

    def put(self, place: Place, literal: tree.Expr) -> None:
        """Keep one literal."""
        self.effects.append(place.effect(literal))

    def _reward(self, amount: core.Term, env: Env, place: Place) -> None:
        of = amount.type
        if isinstance(of, m.NumberType) and of.decimals:
            raise LiftingError("a `reward` with decimals", amount.span)
        for case in self.terms.cases(amount, env):
            self.put(place.within(case), ("increase", ("reward",), as_number(case.value).expr))

    def _checked(self, value: core.Term, env: Env, place: Place) -> None:
        """Ask that the amount of a transfer is not negative, where it may be."""
        if not isinstance(value, core.Call) or value.op != "amount":
            return
        low, _ = _interval(value)
        if low is not None and low >= 0:
            return
        if not place.unconditional:
            what = "conditional `transfer` of an amount that may be negative"
            raise LiftingError(what, value.args[0].span)
        with self.terms.scope.block():
            cases = self.terms.cases(value, env)
            self.asked.append(close(cases, lambda one: at_least(as_number(one), number(0))))

    # ---- writes -----------------------------------------------------------------------------

    def _write(self, one: core.Write, env: Env, place: Place) -> None:
        target = one.target
        fluent = self.terms.fluent(target.fluent, target.span)
        formals = [param.type for param in fluent.params]
        for case in self.terms.arguments(formals, target.args, env):
            slot = place.within(case), fluent, case.value
            match one.op, sort_of(fluent.type):
                case "add" | "remove", _:
                    self._fact(slot, one)
                case _, "truth":
                    self._set_truth(slot, one, env)
                case _, "symbol":
                    self._set_symbol(slot, one, env)
                case _:
                    self._set_number(slot, one, env)

    def _atom(self, fluent: m.Fluent, args: Sequence[Sym]) -> tuple[tree.Expr, ...]:
        return (self.terms.words.fluents[fluent.id], *(arg.text for arg in args))

    def _fact(self, slot: Target, one: core.Write) -> None:
        place, fluent, args = slot
        for order in (args, args[::-1]) if fluent.symmetric else (args,):
            atom = self._atom(fluent, order)
            self.put(place, atom if one.op == "add" else ("not", atom))
        self.writes.append(Write(place, fluent, args, "add", one.op == "add", one.target.span))

    def _set_truth(self, slot: Target, one: core.Write, env: Env) -> None:
        place, fluent, args = slot
        test, atom = self.terms.condition(one.value, env), self._atom(fluent, args)
        for value, cond in ((True, test), (False, tree.neg(test))):
            if cond != tree.FALSE:
                self.put(place.inside((), (cond,)), atom if value else ("not", atom))
        fixed = test == tree.TRUE if isinstance(one.value, core.Constant) else Truth(test)
        self.writes.append(Write(place, fluent, args, "set", fixed, one.span))

    def _set_symbol(self, slot: Target, one: core.Write, env: Env) -> None:
        """Add the new value under the cases of the term, delete the old one where it differs."""
        place, fluent, args = slot
        terms, atom, pins = self.terms, self._atom(fluent, args), self.pins
        with terms.scope.block():
            options = tuple(self._fitting(terms.cases(one.value, env), fluent))
        with terms.scope.block():
            old = Case((), (), pins[atom]) if atom in pins else self._old(fluent, atom)
            keep = tree.TRUE if is_none(one.value) else tree.FALSE
            if old.value is not None:
                keep = terms.equals(one.value, old.value, env)
                if not old.vars and self._replaces(place, atom, options, old.value):
                    keep = tree.FALSE
                held = (*atom, old.value.text)
                if keep != tree.TRUE:
                    self.put(place.within(old).inside((), (tree.neg(keep),)), ("not", held))
        if keep != tree.TRUE:  # the precondition may say that the slot has this value
            for case in options:
                self.put(place.within(case), (*atom, case.value.text))
        self.writes.append(Write(place, fluent, args, "set", None, one.span, options=options))

    def _replaces(
        self, place: Place, atom: tree.Expr, options: Sequence[Case[Sym]], old: Sym
    ) -> bool:
        """Return whether the old value may be deleted for each new value: if both are facts, adding
        wins over deleting, and a precondition may exclude that they are equal."""
        if len(options) != 1 or options[0].vars or options[0].conds:
            return False
        new = options[0].value
        other = ("not", (*atom, new.text)) in self.known
        return other or (place.unconditional and new.text != old.text)

    def _old(self, fluent: m.Fluent, atom: tuple[tree.Expr, ...]) -> Case[Sym]:
        """The value that a slot has."""
        var, symbol = self.terms.value_variable(fluent)
        return Case((var,), ((*atom, var.name),), symbol)

    def _fitting(self, cases: Sequence[Case[Value]], fluent: m.Fluent) -> list[Case[Sym]]:
        of = symbol_type(fluent.type)
        fits = ((case, fit) for case in cases for fit in self.terms.fit(as_symbol(case.value), of))
        return [case.then(fit) for case, fit in fits]

    def _set_number(self, slot: Target, one: core.Write, env: Env) -> None:
        place, fluent, args = slot
        low, high = _interval(one.value)
        how: Literal["set", "add"] = "add" if one.op == "+" else "set"
        for case in self.terms.cases(one.value, env):
            value, where = as_number(case.value), place.within(case)
            self.writes.append(Write(where, fluent, args, how, value, one.span, low, high))
            self.effects += number_effects(self.terms.words, self.writes[-1])

    # ---- chance -----------------------------------------------------------------------------

    def _taken(self, let: core.Let, draw: core.Draw, env: Env, place: Place) -> Env:
        """The names of a draw with the outcome that the script takes."""
        match draw:
            case core.BranchDraw():
                found = _branches(self.terms.words.instance, draw)
                at, _ = found[self.script.take(len(found))]
                self.branches.append((str(draw.span), at))
                return {**env, let.names[0]: number(at)}
            case core.PickDraw():
                if draw.key not in ("uniform", "weight") or not place.unconditional:
                    what = "`pick` by order" if place.unconditional else "`pick` under a condition"
                    raise LiftingError(what, let.span)
                return {**env, **self._candidate(let, draw, env)}
            case core.UniformDraw():
                raise LiftingError("`uniform()`", let.span)
            case _:
                assert_never(draw)

    def _candidate(self, let: core.Let, draw: core.PickDraw, env: Env) -> Env:
        """Bind a candidate by parameters of the action, or take the case of none."""
        terms = self.terms
        tests = [] if draw.where is None else [draw.where]
        if draw.weight is not None:
            zero = core.Constant(0, draw.weight.type, let.span)
            tests.append(core.Call("<", (zero, draw.weight), m.BOOL, let.span))
        where = core.Call("and", tuple(tests), m.BOOL, let.span)
        with terms.scope.block():
            cases = terms.bind(draw.binders, where, env)
        at = self.script.take(len(cases) + 1)
        if at == len(cases):
            self.asked.append(tree.neg(tree.disj(case.holds(tree.TRUE) for case in cases)))
            return dict.fromkeys(let.names, Lazy(core.Constant(None, m.NONE, let.span), {}))
        found = self.chosen(cases[at])
        names = zip(let.names, draw.binders, strict=True)
        return {name: found[binder.name] for name, binder in names}

    def _draw(
        self, let: core.Let, draw: core.Draw, rest: core.Body, env: Env, place: Place
    ) -> None:
        """PPDDL: the effects that depend on a draw, once for each outcome."""
        match draw:
            case core.BranchDraw():
                found = _branches(self.terms.words.instance, draw)
                sides = [(weight, {**env, let.names[0]: number(at)}) for at, weight in found]
                self._either(sides, rest, place)
            case core.PickDraw():
                self._pick(let, draw, rest, env, place)
            case core.UniformDraw():
                raise LiftingError("`uniform()`", let.span)
            case _:
                assert_never(draw)

    def _pick(
        self, let: core.Let, draw: core.PickDraw, rest: core.Body, env: Env, place: Place
    ) -> None:
        """A case for each set of candidates, all of the same share."""
        name, where = let.names[0], draw.where
        envs = [{**env, draw.binders[0].name: one, name: one}
                for one in self._candidates(let, draw)]  # fmt: skip
        tests = [tree.TRUE if where is None else self.terms.condition(where, one) for one in envs]
        sets = (chosen for size in range(len(envs) + 1)
                for chosen in combinations(range(len(envs)), size))  # fmt: skip
        for chosen in sets:
            conds = [test if n in chosen else tree.neg(test) for n, test in enumerate(tests)]
            inside = place.inside((), conds)
            if tree.FALSE in inside.conds:
                continue
            if not chosen:
                absent = core.Constant(None, m.NONE, let.span)
                self.walk(rest, {**env, name: Lazy(absent, {})}, inside)
                continue
            even = Fraction(1, len(chosen))
            self._either([(even, envs[n]) for n in chosen], rest, inside)

    def _candidates(self, let: core.Let, draw: core.PickDraw) -> list[Bound]:
        """The values of a uniform pick; `LiftingError` where PPDDL cannot list them."""
        if draw.key != "uniform" or len(draw.binders) != 1:
            raise LiftingError("a `pick` that is not uniform over one name", let.span)
        (binder,) = draw.binders
        values = _values(self.terms.words.instance, binder)
        if values is None or len(values) > _MOST_CANDIDATES:
            what = f"`pick` among more than {_MOST_CANDIDATES} candidates"
            raise LiftingError(what, let.span)
        if None in values:
            raise LiftingError("`pick` of a value that may be absent", let.span)
        found = (self.terms.constant(value, binder.type, binder.span) for value in values)
        return [case.value for cases in found for case in cases]

    def _either(self, sides: Sequence[tuple[Fraction, Env]], body: core.Body, place: Place) -> None:
        """One literal for all outcomes, under the same conditions as before."""
        written, asked = len(self.writes), len(self.asked)
        self._draws += 1
        draw, words = self._draws, list[tree.Expr]()
        for at, (weight, env) in enumerate(sides):
            inside = replace(place, outcomes=(*place.outcomes, (draw, at)))
            if made := self._aside(body, env, inside):
                words += [weight_text(weight), tree.joined(made)]
        self.lucky += self.writes[written:] if len(sides) > 1 else ()
        if len(self.asked) > asked:
            what = "a `transfer` of an amount that may be negative, under chance"
            raise LiftingError(what, self.writes[-1].span)
        if words:
            self.put(place, ("probabilistic", *words) if len(sides) > 1 else words[1])

    def _aside(self, body: core.Body, env: Env, place: Place) -> tuple[tree.Expr, ...]:
        """The effects of a body as they read inside ``place``; they are not kept."""
        before = len(self.effects)
        with self.terms.scope.block():
            self.walk(body, env, place)
        made, self.effects = self.effects[before:], self.effects[:before]
        vars_, conds = len(place.vars), len(place.conds)
        inner = [Case(one.vars[vars_:], one.conds[conds:], one.value) for one in made]
        return group([one for one in inner if tree.FALSE not in one.conds])


def _extent(names: tuple[str, ...], rest: core.Body) -> core.Body:
    """The statements that depend on a draw: the choice right after it, or all that follow."""
    if rest and isinstance(rest[0], core.If) and not mentions(rest[1:], names):
        return rest[:1]
    return rest


def _values(instance: Instance, binder: core.Binder) -> Sequence[Raw] | None:
    match binder.domain:
        case m.IntervalRange(low=low, high=high):
            return range(low, high + 1)
        case m.TypeRange(of=of):
            return domain_of(instance, of)
        case _:
            return None


def _interval(term: core.Term) -> tuple[int | None, int | None]:
    """The bounds that the type of a number gives it."""
    if isinstance(term, core.Call) and term.op == "neg":
        low, high = _interval(term.args[0])
        return _flip(high), _flip(low)
    of = term.type
    return (of.low, of.high) if isinstance(of, m.NumberType) else (None, None)


def _flip(bound: int | None) -> int | None:
    return None if bound is None else -bound
