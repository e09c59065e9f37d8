"""The changes of a body as PDDL effects (language.md §5): all read the state before.

Draws are lifted in two ways. For PDDL each outcome of an action is an action of its own, which the
planner may choose (`alternatives`). For PPDDL a draw is a ``(probabilistic p1 e1 p2 e2 …)`` around
what depends on it; a uniform `pick` is a case for each set of candidates.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import combinations, product
from typing import Literal, assert_never

from tokenworld.core import nodes as core
from tokenworld.core.program import Rules
from tokenworld.core.walk import mentions, statements_in
from tokenworld.diagnostics import Span
from tokenworld.ground import Instance, Raw, domain_of
from tokenworld.model import (
    BOOL,
    NONE,
    ROOT,
    BoolType,
    Fluent,
    IntervalRange,
    NumberType,
    ObjectType,
    RealType,
    TypeRange,
)
from tokenworld.planning.pddl.terms import Terms
from tokenworld.planning.pddl.tree import FALSE, TRUE, Expr, neg
from tokenworld.planning.pddl.values import (
    Bound,
    Case,
    Env,
    Lazy,
    Sym,
    Truth,
    Value,
    as_number,
    as_symbol,
    at_least,
    close,
    is_none,
    number,
)
from tokenworld.planning.pddl.words import LiftingError, sort_of, symbol_type
from tokenworld.planning.pddl.writes import Guarded, Place, Write, group, number_effects

__all__ = ["Alternative", "Effects", "alternatives", "drawn", "rounded", "weight_text"]

Pins = Mapping[tuple[Expr, ...], Sym | None]
"""Values that the precondition fixes: the atom of a slot without its value, and the value
(``None``: the slot has none)."""

Target = tuple[Place, Fluent, tuple[Sym, ...]]
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
        case core.Constant(value=value, type=NumberType(decimals=decimals)) if value is not None:
            return Fraction(value, 10**decimals)
        case core.ParamValue(name=name, type=NumberType(decimals=decimals)):
            raw = instance.params[name]
            return Fraction(raw, 10**decimals) if isinstance(raw, int) else None
        case core.Call(op="scale" | "real"):
            return _exact(instance, term.args[0])
        case core.Call(op="neg" | "+" | "-" | "*" | "/" as op):
            values = [_exact(instance, one) for one in term.args]
            known = [value for value in values if value is not None]
            return _worked_out(op, known) if len(known) == len(values) else None
        case _:
            return None


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
    """The probabilities that play works out as real numbers and therefore rounds."""
    bodies = [one.body for one in rules.actions.values()]
    bodies += [one.body for one in rules.laws.values()]
    for one in (one for body in bodies for one in statements_in(body)):
        if isinstance(one, core.Let) and isinstance(one.value, core.BranchDraw):
            for term in one.value.probabilities:
                exact = _exact(instance, term) if isinstance(term.type, RealType) else None
                if exact is not None and Fraction(float(exact)) != exact:
                    yield term


def weight_text(weight: Fraction) -> str:
    """``0.25`` where the decimal is exact, else ``1/3``: PPDDL takes any rational number."""
    digits = 0
    while (10**digits) % weight.denominator and digits < weight.denominator.bit_length():
        digits += 1
    if (10**digits) % weight.denominator:
        return f"{weight.numerator}/{weight.denominator}"
    if digits == 0:
        return str(weight.numerator)
    scaled = f"{weight.numerator * 10**digits // weight.denominator:0{digits + 1}d}"
    return f"{scaled[:-digits]}.{scaled[-digits:]}"


# ---- one action for each outcome ----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Alternative:
    """A body without draws, the parameters that picks add, and conditions on top-level names."""

    body: core.Body = ()
    params: tuple[core.Binder, ...] = ()
    conds: tuple[core.Term, ...] = ()

    def then(self, other: Alternative) -> Alternative:
        """This one, and the other one after it."""
        return Alternative(
            self.body + other.body, self.params + other.params, self.conds + other.conds
        )


_Known = Mapping[str, core.Constant | None]
"""What is known of drawn names: the value, or ``None`` for a candidate that was found."""


def _by_order(draw: object) -> bool:
    """Whether a draw takes the first best, without chance."""
    return isinstance(draw, core.PickDraw) and draw.key in ("least", "most")


def drawn(body: core.Body) -> Span | None:
    """The place of the first draw of chance in a body, if there is one."""
    lets = (one for one in statements_in(body) if isinstance(one, core.Let))
    spans = (one.span for one in lets if isinstance(one.value, _Draws) and not _by_order(one.value))
    return next(spans, None)


def alternatives(instance: Instance, body: core.Body) -> list[Alternative]:
    """All outcomes of a body in written order; one without draws if nothing is drawn."""
    return _Outcomes(instance).of(body, {}, True)


@dataclass(frozen=True, slots=True)
class _Outcomes:
    instance: Instance

    def of(self, body: core.Body, known: _Known, top: bool) -> list[Alternative]:
        """The outcomes of a body; ``top``: it stands under no condition that may fail."""
        found: list[tuple[Alternative, _Known]] = [(Alternative(), known)]
        for statement in body:
            found = [
                (one.then(part), after)
                for one, facts in found
                for part, after in self._parts(statement, facts, top)
            ]
        return [one for one, _ in found]

    def _parts(
        self, statement: core.Statement, known: _Known, top: bool
    ) -> list[tuple[Alternative, _Known]]:
        if isinstance(statement, core.If):
            return [(one, known) for one in self._sides(statement, known, top)]
        if isinstance(statement, core.For) and drawn(statement.body):
            raise LiftingError("chance in a loop", statement.span)
        if not isinstance(statement, core.Let):
            return [(Alternative((statement,)), known)]
        rest = {name: one for name, one in known.items() if name not in statement.names}
        if not isinstance(statement.value, _Draws):
            return [(Alternative((statement,)), rest)]
        outcomes = self._drawn(statement, statement.value, top)
        return [(one, {**rest, **facts}) for one, facts in outcomes]

    def _sides(self, statement: core.If, known: _Known, top: bool) -> list[Alternative]:
        side = _decided(statement.condition, known)
        if side is not None:
            return self.of(statement.then if side else statement.otherwise, known, top)
        sides = product(
            self.of(statement.then, known, False), self.of(statement.otherwise, known, False)
        )
        return [
            Alternative((replace(statement, then=one.body, otherwise=other.body),))
            for one, other in sides
        ]

    def _drawn(self, let: core.Let, draw: core.Draw, top: bool) -> list[tuple[Alternative, _Known]]:
        match draw:
            case core.BranchDraw():
                of = NumberType(0, len(draw.probabilities))
                taken = (core.Constant(index, of, let.span)
                         for index, _ in _branches(self.instance, draw))  # fmt: skip
                return [_told(let, one) for one in taken]
            case core.PickDraw():
                return self._picked(let, draw, top)
            case core.UniformDraw():
                raise LiftingError("`uniform()`", let.span)
            case _:
                assert_never(draw)

    def _picked(
        self, let: core.Let, draw: core.PickDraw, top: bool
    ) -> list[tuple[Alternative, _Known]]:
        if draw.key not in ("uniform", "weight") or not top:
            what = "`pick` by order" if top else "`pick` under a condition"
            raise LiftingError(what, let.span)
        conds: tuple[core.Term, ...] = () if draw.where is None else (draw.where,)
        if draw.weight is not None:
            zero = core.Constant(0, draw.weight.type, let.span)
            conds += (core.Call("<", (zero, draw.weight), BOOL, let.span),)
        chosen = tuple(
            core.Let((name,), core.Variable(one.name, one.type, let.span), let.span)
            for name, one in zip(let.names, draw.binders, strict=True)
            if name != one.name
        )
        found = Alternative(chosen, draw.binders, conds), dict.fromkeys(let.names)
        where = None if not conds else core.Call("and", conds, BOOL, let.span)
        truth = core.Constant(True, BOOL, let.span)
        some = core.Fold("any", truth, draw.binders, where, BOOL, let.span)
        nobody, absent = _told(let, core.Constant(None, NONE, let.span))
        none = core.Call("not", (some,), BOOL, draw.span)
        return [found, (replace(nobody, conds=(none,)), absent)]


def _told(let: core.Let, value: core.Constant) -> tuple[Alternative, _Known]:
    """The names of a draw with one value."""
    body = tuple(core.Let((name,), value, let.span) for name in let.names)
    return Alternative(body), dict.fromkeys(let.names, value)


def _decided(condition: core.Term, known: _Known) -> bool | None:
    """Whether a condition on a drawn name holds; ``None`` of any other condition."""
    match condition:
        case core.Call(op="not", args=(inner,)):
            side = _decided(inner, known)
            return None if side is None else not side
        case core.Call(op="==", args=(core.Variable(name=name), core.Constant(value=value))):
            if name not in known:
                return None
            found = known[name]
            if found is not None:
                return found.value == value
            return False if value is None else None
        case _:
            return None


# ---- effects --------------------------------------------------------------------------------


@dataclass
class Effects:
    """Lifts bodies into effects; `writes` keeps what the guards must look at.

    ``asked`` are conditions that the body adds: the amount of a transfer is not negative.
    ``lucky`` are the writes that only some outcome of chance makes.
    """

    terms: Terms
    pins: Pins = field(default_factory=dict)
    effects: list[Guarded] = field(default_factory=list)
    writes: list[Write] = field(default_factory=list)
    asked: list[Expr] = field(default_factory=list)
    lucky: list[Write] = field(default_factory=list)
    _branches: int = 0

    def _branch(self) -> int:
        """A new number for the sides of a choice."""
        self._branches += 1
        return self._branches

    def walk(self, body: core.Body, env: Env, place: Place) -> Env:
        """Lift a body; the result binds its lets too."""
        skipped = 0
        for index, one in enumerate(body):
            if index < skipped:
                continue
            if not isinstance(one, core.Let):
                with self.terms.scope.block():
                    self.terms.scope.reserve(place.conds)
                    self._statement(one, env, place)
            elif isinstance(one.value, _Draws):
                rest = _extent(one.names, body[index + 1 :])
                self._draw(one, one.value, rest, env, place)
                skipped = index + 1 + len(rest)
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
            case core.Let() | core.Require() | core.Emit() | core.Say() | core.Describe():
                pass  # `walk` binds lets, guards of actions are preconditions; PDDL tells nothing
            case _:
                assert_never(one)

    def _if(self, one: core.If, env: Env, place: Place) -> None:
        branch = self._branch()
        test = self.terms.condition(one.condition, env)
        for side, body in ((True, one.then), (False, one.otherwise)):
            cond = test if side else neg(test)
            if cond != FALSE and body:
                inner = place.inside((), (cond,))
                self.walk(body, env, replace(inner, branch=(*place.branch, (branch, side))))

    def put(self, place: Place, literal: Expr) -> None:
        """Keep one literal."""
        self.effects.append(Guarded(place.vars, place.conds, literal))

    def _reward(self, amount: core.Term, env: Env, place: Place) -> None:
        of = amount.type
        if isinstance(of, NumberType) and of.decimals:
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

    def _atom(self, fluent: Fluent, args: Sequence[Sym]) -> tuple[Expr, ...]:
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
        for value, cond in ((True, test), (False, neg(test))):
            if cond != FALSE:
                self.put(place.inside((), (cond,)), atom if value else ("not", atom))
        fixed = test == TRUE if isinstance(one.value, core.Constant) else Truth(test)
        self.writes.append(Write(place, fluent, args, "set", fixed, one.span))

    def _set_symbol(self, slot: Target, one: core.Write, env: Env) -> None:
        """Add the new value under the cases of the term, delete the old one where it differs."""
        place, fluent, args = slot
        atom = self._atom(fluent, args)
        with self.terms.scope.block():
            options = tuple(self._fitting(self.terms.cases(one.value, env), fluent))
        if not self._holds(atom, one.value, env):
            self._delete_old(place, fluent, atom, one.value, env)
            for case in options:
                self.put(place.within(case), (*atom, case.value.text))
        value = _one_symbol(one.value, options)
        self.writes.append(Write(place, fluent, args, "set", value, one.span, options=options))

    def _holds(self, atom: tuple[Expr, ...], term: core.Term, env: Env) -> bool:
        """Whether the precondition already says that the slot has this value."""
        pinned = self.pins.get(atom)
        if pinned is None:
            return atom in self.pins and is_none(term)
        return self.terms.equals(term, pinned, env) == TRUE

    def _fitting(self, cases: Sequence[Case[Value]], fluent: Fluent) -> list[Case[Sym]]:
        of = symbol_type(fluent.type)
        fits = ((case, fit) for case in cases for fit in self.terms.fit(as_symbol(case.value), of))
        return [case.then(fit) for case, fit in fits]

    def _delete_old(
        self, place: Place, fluent: Fluent, atom: tuple[Expr, ...], term: core.Term, env: Env
    ) -> None:
        pinned = self.pins.get(atom)
        if pinned is None and atom in self.pins:
            return
        with self.terms.scope.block():
            if pinned is not None:
                keep = self.terms.equals(term, pinned, env)
                self.put(place.inside((), (neg(keep),)), ("not", (*atom, pinned.text)))
                return
            var, symbol = self.terms.value_variable(fluent)
            held = (*atom, var.name)
            keep = self.terms.equals(term, symbol, env)
            self.put(place.inside((var,), (held, neg(keep))), ("not", held))

    def _set_number(self, slot: Target, one: core.Write, env: Env) -> None:
        place, fluent, args = slot
        factor = _factor(one) if not fluent.clamped and not _bounded(fluent) else None
        how: Literal["set", "add"] = "add" if one.op == "+" else "set"
        for case in self.terms.cases(one.value if factor is None else factor[1], env):
            where = place.within(case)
            write = Write(where, fluent, args, how, as_number(case.value), one.span)
            if factor is not None:
                scaled = (factor[0], self._atom(fluent, args), as_number(case.value).expr)
                self.put(where, scaled)
                self.writes.append(write)
                continue
            low, high = _interval(one.value)
            self.writes.append(replace(write, low=low, high=high))
            self.effects += number_effects(self.terms.words, self.writes[-1])

    # ---- chance in PPDDL --------------------------------------------------------------------

    def _draw(
        self, let: core.Let, draw: core.Draw, rest: core.Body, env: Env, place: Place
    ) -> None:
        """What depends on a draw, once for each outcome."""
        if not self.terms.words.luck:
            what = "`pick` by order" if _by_order(draw) else "a draw of chance in this place"
            raise LiftingError(what, let.span)
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
        tests = [TRUE if where is None else self.terms.condition(where, one) for one in envs]
        sets = (chosen for size in range(len(envs) + 1)
                for chosen in combinations(range(len(envs)), size))  # fmt: skip
        for chosen in sets:
            conds = [test if n in chosen else neg(test) for n, test in enumerate(tests)]
            inside = place.inside((), conds)
            if FALSE in inside.conds:
                continue
            branch = self._branch()
            inside = replace(inside, branch=(*place.branch, (branch, True)))
            place = replace(place, branch=(*place.branch, (branch, False)))
            if not chosen:
                absent = core.Constant(None, NONE, let.span)
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
        if isinstance(binder.type, BoolType):
            return [Truth(TRUE if value else FALSE) for value in values]
        found = (self.terms.constant(value, binder.type, binder.span) for value in values)
        return [case.value for cases in found for case in cases]

    def _either(self, sides: Sequence[tuple[Fraction, Env]], body: core.Body, place: Place) -> None:
        """One literal for all outcomes; the conditions around it stand around it as before."""
        branch, written, asked = place.branch, len(self.writes), len(self.asked)
        words: list[Expr] = []
        for weight, env in sides:
            one = self._branch()
            made = self._aside(body, env, replace(place, branch=(*branch, (one, True))))
            branch = (*branch, (one, False))
            if made:
                words += [weight_text(weight), made[0] if len(made) == 1 else ("and", *made)]
        self.lucky += self.writes[written:] if len(sides) > 1 else ()
        if len(self.asked) > asked:
            what = "a `transfer` of an amount that may be negative, under chance"
            raise LiftingError(what, self.writes[-1].span)
        if words:
            self.put(place, ("probabilistic", *words) if len(sides) > 1 else words[1])

    def _aside(self, body: core.Body, env: Env, place: Place) -> tuple[Expr, ...]:
        """The effects of a body as they read inside ``place``; they are not kept."""
        before = len(self.effects)
        with self.terms.scope.block():
            self.walk(body, env, place)
        made, self.effects = self.effects[before:], self.effects[:before]
        vars_, conds = len(place.vars), len(place.conds)
        inner = [Guarded(one.vars[vars_:], one.conds[conds:], one.literal) for one in made]
        return group([one for one in inner if FALSE not in one.conds])


def _extent(names: tuple[str, ...], rest: core.Body) -> core.Body:
    """What depends on a draw: the choice right behind it, or all that follows."""
    if rest and isinstance(rest[0], core.If) and not mentions(rest[1:], names):
        return rest[:1]
    return rest


def _values(instance: Instance, binder: core.Binder) -> Sequence[Raw] | None:
    match binder.domain:
        case IntervalRange(low=low, high=high):
            return range(low, high + 1)
        case TypeRange(of=of):
            return domain_of(instance, of)
        case _:
            return None


def _one_symbol(term: core.Term, options: Sequence[Case[Sym]]) -> Sym | None:
    """The symbol that a term always is, if it is one."""
    if is_none(term):
        return Sym("none", ObjectType(ROOT))
    if len(options) == 1 and not options[0].conds:
        return options[0].value
    return None


def _factor(one: core.Write) -> tuple[str, core.Term] | None:
    """``f(x) = f(x) * k`` as a scale effect."""
    value = one.value
    if one.op != "=" or not isinstance(value, core.Call) or value.op not in ("*", "/"):
        return None
    left, factor = value.args
    same = isinstance(left, core.Read) and left.fluent == one.target.fluent
    if not same or not isinstance(left, core.Read) or not _same_args(left, one.target):
        return None
    return ("scale-up" if value.op == "*" else "scale-down", factor)


def _same_args(one: core.Read, other: core.Place) -> bool:
    def name(term: core.Term) -> object:
        return term.name if isinstance(term, (core.Variable, core.ObjectName)) else id(term)

    return [name(arg) for arg in one.args] == [name(arg) for arg in other.args]


def _bounded(fluent: Fluent) -> bool:
    of = fluent.type
    return isinstance(of, NumberType) and (of.low is not None or of.high is not None)


def _interval(term: core.Term) -> tuple[int | None, int | None]:
    """The bounds that the type of a number gives it."""
    if isinstance(term, core.Call) and term.op == "neg":
        low, high = _interval(term.args[0])
        return _flip(high), _flip(low)
    of = term.type
    return (of.low, of.high) if isinstance(of, NumberType) else (None, None)


def _flip(bound: int | None) -> int | None:
    return None if bound is None else -bound
