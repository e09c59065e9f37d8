"""The rules of a world as functions on whole numbers: the text of `quick`, for numba.

The emitter is that of `terms`, `bodies`, `hoist` and `quick`, with these differences. A row is an
array of ``int64``: a truth is 0 or 1, ``NONE`` is `none`. The objects that point at an object
are found by a scan, the journal is an array, the log and the rewards are in the scratch array ``R``
(see `kernels`). Endings and awards are kept as digits, in the order in which they came.

`Uncompiled` names what cannot be written so: worlds in which objects come and go, actions that take
time, turns, reals, texts that are stored, contents in order, sparse relations, fixpoints.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import lcm
from typing import Any, assert_never

from tokenworld import model as m
from tokenworld.core import nodes as core
from tokenworld.core.rules import Action, Law
from tokenworld.core.walk import is_draw, statements_in
from tokenworld.diagnostics import Span
from tokenworld.engine.changes import never_refused
from tokenworld.engine.rows.code.bodies import BodyWriter
from tokenworld.engine.rows.code.hoist import HoistWriter, words_are_sure
from tokenworld.engine.rows.code.quick import UNSURE, Direct, QuickWriter
from tokenworld.engine.rows.code.terms import Lines, Name, Names, TermWriter
from tokenworld.engine.rows.layout import FIRED, LATCHED, NAMES, Slots, Store
from tokenworld.ground import draws

LARGEST = 1 << 31
"""Numbers without closer bounds may be as large: then no product of two leaves 64 bits."""
MOST_ENDINGS = 12
NONE = -(1 << 62)
_ARGS = ("R", "J")
_ENDING_BITS, _AWARD_BITS = NAMES, FIRED
"""Header slots that hold a set of bits, for no row of numbers needs them for anything else."""


class Uncompiled(Exception):
    """A world cannot be compiled: ``what`` it uses, and where."""

    def __init__(self, what: str, span: Span | None = None) -> None:
        super().__init__(what)
        self.what, self.span = what, span


@dataclass
class NumericTerms(TermWriter):
    """Writes terms for rows of numbers."""

    def constant(self, term: core.Constant, env: Names) -> str:
        if isinstance(term.value, (str, float)):
            raise Uncompiled("a text or a real is compared or kept", term.span)
        return "NONE" if term.value is None else f"({int(term.value)})"

    def param_value(self, term: core.ParamValue, env: Names) -> str:
        if not isinstance(self.slots.instance.params[term.name], int):
            raise Uncompiled("a param is a text or a real", term.span)
        return super().param_value(term, env)

    def text(self, term: core.Text, env: Names) -> str:
        raise Uncompiled("a text is put together in play and kept", term.span)

    def truth(self, term: core.Term, names: Names) -> str:
        return f"(1 if {self.term(term, names)} else 0)"

    def members_of(self, kind: str) -> str:
        """The name of a table of the objects that are of a type."""
        name, members = self.fresh("M"), frozenset(self.slots.base.live[kind])
        self.constants[name] = [int(one in members) for one in range(len(self.slots.base.kinds))]
        return name

    def type_test(self, term: core.TypeTest, env: Names) -> str:
        return f"isa({self.members_of(term.of)}, {self.term(term.term, env)})"

    def push(self, place: str) -> str:
        return f"push(J, {place}, S[{place}])"

    # ---- slots --------------------------------------------------------------------------------

    def kids_table(self, store: Store) -> str:
        if store.column.fluent.ordered:
            raise Uncompiled("contents in order", store.column.fluent.span)
        name = f"K{store.column.index}"
        places = ((x, at) for x, at in enumerate(store.table) if at)
        self.constants[name] = [list(one) for one in places] or [[0, 0]]
        return name

    def lookup(self, store: Store) -> str:
        """The function that reads slots of a fluent whose arguments may have none."""
        name, column = f"G{store.column.index}", store.column
        if name not in self._done:
            self._done[name] = name
            params = [f"x{at}" for at in range(len(column.fluent.params))]
            nothing = "0" if column.truth else "NONE"
            default = "NONE" if column.default is None else str(int(column.default))
            tests = " or ".join(f"{one} == NONE" for one in params)
            lines = [f"def {name}(R, {', '.join(params)}):", f"    if {tests}: return {nothing}"]
            lines += [f"    at = {self.finder(store)}({', '.join(params)})"]
            lines += [f"    return R[at] if at >= 0 else {default}"]
            self.functions.append("\n".join(lines))
        return name

    def finder(self, store: Store) -> str:
        """The function that gives the slot of arguments, -1 where they have none."""
        name, column = f"P{store.column.index}", store.column
        if name in self._done:
            return name
        self._done[name] = name
        if not store.strided:
            raise Uncompiled("a relation of very many tuples", column.fluent.span)
        params = [f"x{at}" for at in range(len(column.fluent.params))]
        lines = [f"def {name}({', '.join(params)}):"]
        if column.fluent.symmetric:
            lines.append("    if x0 > x1: x0, x1 = x1, x0")
        for one, (low, size) in zip(params, store.spans, strict=True):
            lines.append(f"    if {one} < {low} or {one} >= {low + size}: return -1")
        lines.append(f"    return {self.slot(store, params)}")
        self.functions.append("\n".join(lines))
        return name

    def read(self, term: core.Read, env: Names) -> str:
        store, code = self.slots.by_id[term.fluent], super().read(term, env)
        kind = store.column.fluent.type
        if isinstance(kind, (m.RealType, m.TextType)):
            raise Uncompiled("a text or a real is read", term.span)
        sure = self.sure(store, term.args, env) or not store.column.by_object
        return code if sure or not store.column.truth else f"({code} == 1)"

    def members(self, term: core.Members, env: Names) -> str:
        if term.by == "list":
            items = [f"int64({self.value(one, env)}), " for one in term.items]
            return f"({''.join(items)})" if items else "range(0)"
        store = self.slots.by_id[term.fluent]
        if not store.column.by_object:
            raise Uncompiled("what a relation leads to", store.column.fluent.span)
        return super().members(term, env)

    def derive_call(self, term: core.DeriveCall, env: Names) -> str:
        if self.rules.derives[term.derive].recursive:
            raise Uncompiled("a fact that is derived from itself", term.span)
        return super().derive_call(term, env)

    # ---- operators ----------------------------------------------------------------------------

    def call(self, term: core.Call, env: Names) -> str:
        if isinstance(term.type, m.RealType) or term.op in ("score", "did", "floor", "round"):
            raise Uncompiled("reals, rounding, the score or what was done", term.span)
        if term.op == "busy":
            return "False"
        return super().call(term, env)

    def _member(self, item: core.Term, collection: core.Term, env: Names) -> str:
        value = self.value(item, env)
        if isinstance(collection, core.Members) and collection.by == "list":
            items = [f"int64({self.value(one, env)})" for one in collection.items]
            return f"among({value}, ({', '.join(items)},))" if items else "False"
        if isinstance(collection, core.Members) and collection.by != "list":
            store = self.slots.by_id[collection.fluent]
            if store.column.by_object:
                return super()._member(item, collection, env)
        return f"among({value}, {self.term(collection, env)})"

    def _domain(self, binder: core.Binder, names: Names, variable: str) -> tuple[str, list[str]]:
        values, tests = super()._domain(binder, names, variable)
        if values == "()":
            values = "range(0)"
        if binder.only is not None:
            tests[-1] = f"isa({self.members_of(binder.only)}, {variable})"
        return values, tests

    def fold(self, term: core.Fold, env: Names) -> str:
        code = super().fold(term, env)
        late = isinstance(term.type, m.BoolType) and term.fold in ("first", "last", "min", "max")
        return f"({code} == 1)" if late else code

    def within_length(self, code: str, kind: Any) -> str:
        if not isinstance(kind, m.NumberType):
            return code
        safe = all(one is not None and abs(one) < LARGEST for one in (kind.low, kind.high))
        return code if safe else f"fits({code})"


# ---- bodies -------------------------------------------------------------------------------------


class _Numeric(BodyWriter):
    """The common part of bodies on numbers: they say nothing; rewards and draws are in ``R``."""

    terms: NumericTerms
    scale: int = 0
    """The decimals of rewards."""

    def reward(self, statement: core.Reward, env: Names) -> Names:
        kind = statement.amount.type
        decimals = kind.decimals if isinstance(kind, m.NumberType) else 0
        amount = self.terms.term(statement.amount, env)
        self.line(f"pay(R, {amount}, {10 ** (self.scale - decimals)})")
        return env

    def say(self, statement: core.Say, env: Names) -> Names:
        return env

    def describe(self, statement: core.Describe, env: Names) -> Names:
        return env

    def emit(self, statement: core.Emit, env: Names) -> Names:
        return env

    def let(self, statement: core.Let, env: Names) -> Names:
        value = statement.value
        if isinstance(value, core.BranchDraw):
            return self._branch(value, statement, env)
        if isinstance(value, core.Draw) and not isinstance(value, core.PickDraw):
            raise Uncompiled("a real is drawn", statement.span)
        return super().let(statement, env)

    def _branch(self, draw: core.BranchDraw, statement: core.Let, env: Names) -> Names:
        kinds = [one.type for one in draw.probabilities]
        scales = [10**one.decimals if isinstance(one, m.NumberType) else 1 for one in kinds]
        whole = lcm(*scales)
        shares = "".join(
            f"int64({self.terms.term(one, env)}) * {whole // scale}, "
            for one, scale in zip(draw.probabilities, scales, strict=True)
        )
        return self._named(env, statement.names[0], f"branch(R, {whole}, ({shares}))")

    def _listed(self, code: str) -> str:
        return f"int64({code})"

    def _even(self, found: str, draw: core.PickDraw) -> str:
        return f"even(R, len({found}))"

    def _weighted(self, weights: str, draw: core.PickDraw) -> str:
        if draw.key in ("belief", "log"):
            raise Uncompiled("a belief", draw.span)
        kind = {"least": -1, "most": 1}.get(draw.key, 0)
        return f"pick(R, {weights}, {kind})"


@dataclass
class _NumericDirect(_Numeric, Direct):
    """Writes straight into the row."""

    lists: bool = False


@dataclass
class _NumericLog(_Numeric):
    """Writes code that logs the changes of a body in the array ``R``."""

    def write(self, statement: core.Write, env: Names) -> Names:
        terms, target = self.terms, statement.target
        store = terms.slots.by_id[target.fluent]
        value = terms.value(statement.value, env)
        if statement.op == "+":
            value = terms.within_length(value, statement.value.type)
        codes = [terms.term(one, env) for one in target.args]
        if terms.sure(store, target.args, env):
            place = terms.slot(store, codes)
        elif store.column.by_object:
            place = f"place({terms.table(store)}, {codes[0]})"
        else:
            place = f"{terms.finder(store)}({', '.join(codes)})"
        op = {"=": 0, "+": 1, "add": 2, "remove": 3}[statement.op]
        self.line(f"note(R, {place}, {op}, {value}, {int(store.column.always)})")
        return env


class _NumericHoist(HoistWriter):
    """Writes code that lists bindings in an array, also refused ones."""

    terms: NumericTerms
    test: str = ""

    def _found(self, args: list[str]) -> None:
        listed = "".join(f"{one}, " for one in args)
        if self._left:
            self._line(f"if {self.ok}(S, W, me, {listed}):")
            self.depth += 1
        if self.test:
            self._line(f"if {self.test}(S, W, me, R, J, {listed}):")
            self.depth += 1
        at = list(self.terms.rules.actions).index(self.action.name)
        numbers = "".join(f"int64({one}), " for one in args)
        self._line(f"offer(found, {at}, ({numbers}))" if args else f"offer0(found, {at})")

    def _kind_test(self, binder: core.Binder, variable: str) -> str:
        kind = binder.type
        assert isinstance(kind, m.ObjectType)
        return f"isa({self.terms.members_of(kind.name)}, {variable})"


# ---- ticks --------------------------------------------------------------------------------------


@dataclass
class NumericProgram(QuickWriter):
    """The functions of a world for numba: ``terms.functions`` and ``terms.constants``, a step for
    each action (``steps``) and what lists the legal bindings (``listed``)."""

    terms: NumericTerms
    listed: list[str] = field(default_factory=list)
    scale: int = 0

    @classmethod
    def of(cls, slots: Slots) -> NumericProgram:
        """Those of the rows of some slots; `Uncompiled` where that cannot be."""
        rules = slots.rules
        found = cls.__new__(cls)
        terms = NumericTerms(slots, rules)
        _check(slots)
        cls.__init__(found, terms, {}, {})
        if not found.steps:
            raise Uncompiled("turns, outcomes that may change, conserved sums or fixpoints")
        found._list()
        return found

    def __post_init__(self) -> None:
        rules, world = self.terms.rules, self.terms.slots.instance.world
        bodies = [one.body for one in rules.actions.values()]
        bodies += [one.body for one in rules.laws.values()]
        said = [one for body in bodies for one in statements_in(body)]
        rewards = [one.amount.type for one in said if isinstance(one, core.Reward)]
        rewards += [one.amount.type for one in rules.worlds[world.name].pays]
        self.scale = max(
            (one.decimals for one in rewards if isinstance(one, m.NumberType)), default=0
        )
        super().__post_init__()

    # ---- bodies -------------------------------------------------------------------------------

    def _direct(self, lines: Lines | None = None) -> Direct:
        found = _NumericDirect(self.terms, {}, [] if lines is None else lines)
        found.scale = self.scale
        return found

    def _draws(
        self, writer: BodyWriter, kind: str, name: str, codes: list[str], *, once: bool = False
    ) -> None:
        writer.line(f"draws(R, S, {self._key(kind, name, codes)})")

    def _key(self, kind: str, name: str, codes: list[str]) -> str:
        """The key of the draws of a rule, computed from its arguments."""
        rules, base = self.rules, self.slots.base
        found = str(draws.signed(draws.word(f"{kind} {name}")))
        if kind == "action":
            actor = None if base.me is None else base.names[base.me]
            found = f"absorbed({found}, {draws.signed(draws.word(actor))})"
        params = (rules.actions if kind == "action" else rules.laws)[name].params
        for binder, code in zip(params, codes, strict=True):
            found = f"absorbed({found}, {self._word(binder, code)})"
        return found

    def _word(self, binder: core.Binder, code: str) -> str:
        """The word of an argument in a key."""
        words: list[int]
        match binder.type:
            case m.ObjectType():
                words = [draws.signed(draws.word(one)) for one in self.slots.base.names]
                name = "WORDS"
            case m.EnumType(name=enum):
                members = self.rules.program.enums[enum].members
                words = [draws.signed(draws.word(one)) for one in members]
                name = f"WORDS_{list(self.rules.program.enums).index(enum)}"
            case m.NumberType(decimals=0) | m.BoolType():
                return f"(0 if {code} == NONE else {code})"
            case m.NumberType() | m.RealType() | m.TextType() | m.NoneType() | m.CollectionType():
                raise Uncompiled("draws of a rule for numbers with decimals", binder.span)
            case _:
                assert_never(binder.type)
        self.terms.constants[name] = words
        return f"(0 if {code} == NONE else {name}[{code}])"

    def _logged(
        self,
        writer: Direct,
        body: core.Body,
        kind: str,
        name: str,
        codes: list[str],
        *,
        alone: bool,
    ) -> None:
        run = self._log_of(kind, name, body)
        writer.line("begin(R)")
        writer.line(f"{run}({', '.join(['S', 'W', 'me', 'R', 'J', *codes])})")
        writer.line(f"if commit(S, R, J): return {UNSURE}")

    def _log_of(self, kind: str, name: str, body: core.Body) -> str:
        """Return the name of the function that logs the changes of a rule."""
        key = f"log {kind}", name
        if key not in self.names:
            self.names[key] = code = self.terms.fresh("log_")
            rule = (self.rules.actions if kind == "action" else self.rules.laws)[name]
            params = {one.name: Name(self.terms.fresh("a")) for one in rule.params}
            codes = [one.code for one in params.values()]
            writer = _NumericLog(self.terms, {})
            writer.scale = self.scale
            if any(map(is_draw, statements_in(body))):
                self._draws(writer, kind, name, codes)
            names: Names = params
            for guard in rule.guards if isinstance(rule, Action) else ():
                if isinstance(guard, core.Let):
                    names = writer.statement(guard, names)
            writer.body(body, names)
            writer.line("return")
            self.terms.function(code, [*_ARGS, *codes], writer.lines)
        return self.names[key]

    # ---- phases and the end -------------------------------------------------------------------

    def _together(self, laws: tuple[Law, ...], lines: Lines) -> None:
        lines.append((1, "begin(R)"))
        for law in laws:
            names, depth = self.terms.loops(law.params, law.when, {}, lines, 1)
            codes = [names[one.name].code for one in law.params]
            run = self._log_of("law", law.name, law.body)
            lines.append((depth, f"{run}({', '.join(['S', 'W', 'me', 'R', 'J', *codes])})"))
        lines.append((1, f"if commit(S, R, J): return {UNSURE}"))

    def _in_turn(self, phase: m.Phase, laws: tuple[Law, ...], lines: Lines) -> None:
        if not self._has_order(phase, laws):
            raise Uncompiled("a phase `by nesting`, or of very many turns")
        functions = [(law, self._turn(law)) for law in laws]
        turns, width = self._turns(laws), max(len(law.params) for law in laws)
        order, at = self.terms.fresh("ORDER"), self.terms.fresh("i")
        numbers = {law.name: number for number, law in enumerate(laws)}
        self.terms.constants[order] = [
            [numbers[law.name], *(NONE if one is None else int(one) for one in args)]
            + [0] * (width - len(args))
            for law, args in turns
        ] or [[-1] * (width + 1)]
        lines.append((1, f"for {at} in range(len({order})):"))
        for number, (law, function) in enumerate(functions):
            passed = "".join(f", {order}[{at}, {1 + one}]" for one in range(len(law.params)))
            test = f"if {order}[{at}, 0] == {number} and {function}(S, W, me, R, J{passed}):"
            lines.append((2, f"{test} return {UNSURE}"))

    def _latched(self, slot: int, at: int, value: object, test: str) -> Lines:
        bits = _ENDING_BITS if slot == LATCHED else _AWARD_BITS
        world = self.rules.worlds[self.world.name]
        base = 1 + len(world.endings if slot == LATCHED else world.awards)
        return [
            (1, f"if not (S[{bits}] >> {at}) & 1 and {test}:"),
            (2, self.terms.push(str(slot))),
            (2, self.terms.push(str(bits))),
            (2, f"S[{slot}] = S[{slot}] * {base} + {at + 1}"),
            (2, f"S[{bits}] |= {1 << at}"),
        ]

    def _paid(self, amount: core.Term) -> str:
        kind, code = amount.type, self.terms.term(amount, {})
        decimals = kind.decimals if isinstance(kind, m.NumberType) else 0
        return f"pay(R, {code}, {10 ** (self.scale - decimals)})"

    # ---- legal commands -------------------------------------------------------------------------

    def _list(self) -> None:
        """The functions that list the legal bindings of each action."""
        safe = never_refused(self.rules)
        for name, action in self.rules.actions.items():
            ok = self._ok(action)
            writer = _NumericHoist(self.terms, action, ok)
            if not safe[name]:
                writer.test = self._allowed(name, action)
            self.listed.append(self.terms.fresh("listed_"))
            writer.write(self.listed[-1], ("R", "J"))

    def _ok(self, action: Action) -> str:
        """The function that tests an action's guards in written order; where one has no value they
        do not hold."""
        params = {one.name: Name(self.terms.fresh("a")) for one in action.params}
        writer, names, number = self._direct(), dict(params), 0
        for guard in action.guards:
            if isinstance(guard, core.Require):
                writer.line(f"if not {self.terms.term(guard.condition, names)}: return {number}")
                number += 1
            else:
                names = dict(writer.statement(guard, names))
        name, held = self.terms.fresh("ok_"), self.terms.fresh("held_")
        codes = [one.code for one in params.values()]
        self.terms.function(name, codes, [*writer.lines, (1, "return -1")])
        self.terms.function(held, codes, [
            (1, "try:"), (2, f"return {name}({', '.join(['S', 'W', 'me', *codes])}) < 0"),
            (1, "except Exception:"), (2, "return False"),
        ])  # fmt: skip
        return held

    def _allowed(self, name: str, action: Action) -> str:
        """The function that tests whether no require of the language refuses a command; a command
        that would fail with an error counts as not refused."""
        run = self._log_of("action", name, action.body)
        codes = [self.terms.fresh("a") for _ in action.params]
        test = self.terms.fresh("allowed_")
        lines = [
            (1, "before, code = R[0], 0"), (1, "begin(R)"), (1, "try:"),
            (2, f"{run}({', '.join(['S', 'W', 'me', 'R', 'J', *codes])})"),
            (2, "code = commit(S, R, J)"),
            (1, "except Exception:"), (2, "code = 0"),
            (1, "undo(S, J)"), (1, "R[0] = before"), (1, "return code != REFUSED"),
        ]  # fmt: skip
        self.terms.function(test, [*_ARGS, *codes], lines)
        return test


def _check(slots: Slots) -> None:
    """Raise `Uncompiled` for values that a row of numbers cannot hold."""
    rules, world = slots.rules, slots.instance.world
    if slots.moving:
        raise Uncompiled("objects come and go in play")
    for action in rules.actions.values():
        if action.takes is not None:
            raise Uncompiled("an action may take time", action.span)
    for watch in rules.watches.values():
        if watch.once or any(isinstance(one, core.Reward) for one in statements_in(watch.body)):
            raise Uncompiled("a watch tells once, or pays", watch.span)
    for store in slots.stores:
        fluent = store.column.fluent
        if store.live and isinstance(fluent.type, (m.RealType, m.TextType)):
            raise Uncompiled("a real or a text changes in play", fluent.span)
        if store.live and (fluent.ordered or fluent.acyclic):
            raise Uncompiled("contents in order, or a relation without cycles", fluent.span)
        if store.live and store.column.tupled and not store.strided:
            raise Uncompiled("a relation of very many tuples", fluent.span)
    found = rules.worlds[world.name]
    if max(len(found.endings), len(found.awards)) > MOST_ENDINGS:
        raise Uncompiled("very many endings or awards")
    if not words_are_sure(rules, world.name):
        raise Uncompiled("a text or the score may have no value (a division, a root)")
