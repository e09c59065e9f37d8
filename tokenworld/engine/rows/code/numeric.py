"""The rules of a world as functions on whole numbers: the text of `quick`, for numba.

The emitter is that of `terms`, `bodies`, `hoist` and `quick`, with these differences. A row is an
array of ``int64``: a truth is 0 or 1, ``NONE`` is `none`. The objects that point at an object
are found by a scan, the journal is an array, the log and the rewards are in the scratch array ``R``
(see `kernels`). Endings and awards are kept as digits, in the order in which they came. Objects are
known by their places (`layout.Places`), which are their numbers where no objects come and go.

`Uncompiled` names what cannot be written so: actions that take time, turns, texts and reals that
are stored, contents in order, sparse relations, fixpoints.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import accumulate
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
from tokenworld.engine.rows.layout import FIRED, LATCHED, NAMES, Places, Slots, Store
from tokenworld.ground import draws, implicit_default
from tokenworld.model import written_name

LARGEST = 1 << 31
"""Numbers without closer bounds may be as large: then no product of two leaves 64 bits."""
MOST_ENDINGS = 12
NONE = -(1 << 62)
SPARE = 256
"""Places for objects that are created, if nobody says how many."""
_ARGS = ("R", "J")
_ENDING_BITS, _AWARD_BITS = NAMES, FIRED
"""Header slots that hold a set of bits, for no row of numbers needs them for anything else."""


class Uncompiled(Exception):
    """A world cannot be compiled: ``what`` is the construct that prevents it, with its place."""

    def __init__(self, what: str, span: Span | None = None) -> None:
        super().__init__(what)
        self.what, self.span = what, span


@dataclass
class NumericTerms(TermWriter):
    """Writes terms for rows of numbers."""

    places: Places = field(kw_only=True)

    absent, present = "== NONE", "!= NONE"

    def constant(self, term: core.Constant, env: Names) -> str:
        if isinstance(term.value, str):
            raise Uncompiled("a text is compared or kept", term.span)
        if isinstance(term.value, float):
            return f"({term.value!r})"
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
        self.constants[name] = [int(one in members) for one in range(self.places.count)]
        return name

    def is_of(self, kind: str, code: str) -> str:
        """The test that an object is of a type, and lives."""
        if kind not in self.slots.moving:
            return f"isa({self.members_of(kind)}, {code})"
        return f"isof(S, KEEPERS, {self.kinds_below(kind)}, {code})"

    def kinds_below(self, kind: str) -> str:
        """The name of a table of the kinds of a type."""
        if ("below", kind) not in self._done:
            self._done["below", kind] = name = self.fresh("T")
            self.constants[name] = self.places.below(kind)
        return self._done["below", kind]

    def type_test(self, term: core.TypeTest, env: Names) -> str:
        return self.is_of(term.of, self.term(term.term, env))

    def owner_of(self, place: str) -> str:
        return f"ARGS[{place}]"

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

    def contents(self, name: str, store: Store, row: str, of: str) -> str:
        kind = store.column.fluent.params[0].type
        if store.column.fluent.ordered or not isinstance(kind, m.ObjectType):
            return super().contents(name, store, row, of)
        if kind.name in self.slots.moving:
            living = self.places.list_of(kind.name)
            return f"living_{name}({row}, {living}, {self.table(store)}, {of})"
        if name == "kids" and not store.live:
            return f"fixed_kids({self._fixed(store)}, {of})"
        return super().contents(name, store, row, of)

    def _fixed(self, store: Store) -> str:
        """The names of two tables: the objects that point at an object, and their first places."""
        first, items = f"F{store.column.index}", f"I{store.column.index}"
        pointing: list[list[int]] = [[] for _ in range(self.places.count)]
        for x, at in enumerate(store.table):
            if at and self.slots.static[at] is not None:
                pointing[self.slots.static[at]].append(x)
        self.constants[items] = [x for one in pointing for x in one]
        self.constants[first] = [0, *accumulate(map(len, pointing))]
        return f"{first}, {items}"

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
            if any(isinstance(one.type, m.RealType) for one in term.items):
                raise Uncompiled("a list of reals", term.span)
            items = [f"int64({self.value(one, env)}), " for one in term.items]
            return f"({''.join(items)})" if items else "range(0)"
        store = self.slots.by_id[term.fluent]
        if not store.column.by_object:
            raise Uncompiled("what a relation leads to", store.column.fluent.span)
        return super().members(term, env)

    def derive_call(self, term: core.DeriveCall, env: Names) -> str:
        derive = self.rules.derives[term.derive]
        if derive.recursive:
            raise Uncompiled("a fact that is derived from itself", term.span)
        self._without_gaps(term, env)
        return super().derive_call(term, env)

    def _without_gaps(self, term: core.Term, env: Names) -> None:
        """`Uncompiled` for a real that may be none."""
        if isinstance(term.type, m.RealType) and self.loose(term, env):
            raise Uncompiled("a real that may be `none`", term.span)

    # ---- operators ----------------------------------------------------------------------------

    def call(self, term: core.Call, env: Names) -> str:
        if term.op in ("score", "did", "round"):
            raise Uncompiled("rounding, the score or what was done", term.span)
        for one in (term, *term.args):
            self._without_gaps(one, env)
        if term.op == "busy":
            return "False"
        if term.op == "id" and self.places.moving:
            return f"ident(S, NUMBERS, {self.term(term.args[0], env)}, {self.places.first})"
        return super().call(term, env)

    def actor(self, term: core.Actor, env: Names) -> str:
        return "ME"

    def choice(self, term: core.Choice, env: Names) -> str:
        self._without_gaps(term, env)
        return super().choice(term, env)

    def _member(self, item: core.Term, collection: core.Term, env: Names) -> str:
        if isinstance(item.type, m.RealType):
            raise Uncompiled("a real is looked for", item.span)
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
        match binder.domain:
            case m.TypeRange(of=m.ObjectType(name=of)) if of in self.slots.moving:
                values = f"alive(S, {self.places.list_of(of)})"
        if values == "()":
            values = "range(0)"
        if binder.only is not None:
            tests[-1] = self.is_of(binder.only, variable)
        return values, tests

    def values_of(self, binder: core.Binder) -> str:
        """The values of a parameter."""
        return self._domain(binder, {}, "")[0]

    def _tally(self, term: core.Fold, env: Names) -> str | None:
        return None

    def fold(self, term: core.Fold, env: Names) -> str:
        if isinstance(term.type, m.RealType):
            raise Uncompiled("reals are put together", term.span)
        code = super().fold(term, env)
        late = isinstance(term.type, m.BoolType) and term.fold in ("first", "last", "min", "max")
        return f"({code} == 1)" if late else code

    def within_length(self, code: str, kind: Any) -> str:
        if not isinstance(kind, m.NumberType):
            return code
        safe = all(one is not None and abs(one) < LARGEST for one in (kind.low, kind.high))
        return code if safe else f"fits({code})"


# ---- bodies -------------------------------------------------------------------------------------


def _unit(amount: core.Term, scale: int) -> int:
    """The factor of an amount in rewards that have so many decimals."""
    if isinstance(amount.type, m.RealType):
        raise Uncompiled("a real is paid", amount.span)
    decimals = amount.type.decimals if isinstance(amount.type, m.NumberType) else 0
    return int(10 ** (scale - decimals))


class _Numeric(BodyWriter):
    """The common part of bodies on numbers: they say nothing; rewards and draws are in ``R``."""

    terms: NumericTerms
    scale: int = 0
    """The decimals of rewards."""

    def reward(self, statement: core.Reward, env: Names) -> Names:
        amount = self.terms.term(statement.amount, env)
        self.line(f"pay(R, {amount}, {_unit(statement.amount, self.scale)})")
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
        if any(isinstance(one, m.RealType) for one in kinds):
            raise Uncompiled("a probability is a real", statement.span)
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
        if draw.weight is not None and isinstance(draw.weight.type, m.RealType):
            raise Uncompiled("a weight is a real", draw.span)
        kind = {"least": -1, "most": 1}.get(draw.key, 0)
        return f"pick(R, {weights}, {kind})"


@dataclass
class _NumericDirect(_Numeric, Direct):
    """Writes straight into the row."""

    lists: bool = False


@dataclass
class _NumericLog(_Numeric):
    """Writes code that logs the changes of a body in the array ``R``. A new object is in its place
    at once, and lives when the log is committed."""

    program: NumericProgram = field(kw_only=True)

    def destroy(self, statement: core.Destroy, env: Names) -> Names:
        self.line(f"doom(R, {self.terms.term(statement.target, env)})")
        return env

    def create(self, statement: core.Create, env: Names) -> Names:
        if statement.named:
            raise Uncompiled("an object is created with a name of its own", statement.span)
        terms, places, given = self.terms, self.terms.places, []
        values = {one.fluent: one.value for one in statement.fields}
        for key in terms.slots.program.types[statement.of].attributes:
            store = terms.slots.by_id[key]
            given.append((store, self._first_value(store, values.get(key), env)))
        maker = places.maker(written_name(statement.name), statement.of)
        own, kind = terms.fresh("n"), places.kind_number(statement.of)
        self.line(f"{own} = arrive(S, R, J, KEEPERS, {places.first}, NUMBERS, {kind})")
        self.line(f"keep(S, J, MAKERS + {own}, {maker})")
        self.line(f"keep(S, J, WORDING + {own}, numbered(SPELT[{maker}], S[NUMBERS + {own}]))")
        for store, value in given:
            self.line(f"keep(S, J, {terms.table(store)}[{own}], {value})")
        self.line(f"remember(S, W, me, {own}, {kind})")
        for birth in self.program.births_of(statement.of):
            self.line(f"{birth}(S, W, me, R, J, {own})")
            self.line("if R[FAILED]: return")
        return {**env, statement.name: Name(own, newborn=True)}

    def _first_value(self, store: Store, term: core.Term | None, env: Names) -> str:
        """The name of the first value of an attribute of a new object."""
        kind, held = store.column.fluent.type, self.terms.fresh("v")
        nothing = implicit_default(kind)
        blank = "NONE" if nothing is None else str(int(nothing))
        self.line(f"{held} = {blank if term is None else self.terms.value(term, env)}")
        if term is not None and blank != "NONE" and self.terms.loose(term, env):
            self.line(f"if {held} == NONE: {held} = {blank}")
        if isinstance(kind, m.NumberType):
            for end, sign in ((kind.low, "<"), (kind.high, ">")):
                if end is not None:
                    out = f"if {held} != NONE and {held} {sign} {end}:"
                    self.line(f"{out} {held} = {end}" if store.column.fluent.clamped else out)
                    if not store.column.fluent.clamped:
                        self.lines.append((self.depth + 1, "R[FAILED] = 1"))
                        self.lines.append((self.depth + 1, "return"))
        return held

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
    joins = False

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
        return self.terms.is_of(kind.name, variable)


# ---- ticks --------------------------------------------------------------------------------------


@dataclass
class NumericProgram(QuickWriter):
    """The functions of a world for numba: ``terms.functions`` and ``terms.constants``, a step for
    each action (``steps``) and the function that lists the legal bindings (``listed``)."""

    terms: NumericTerms
    listed: list[str] = field(default_factory=list)
    scale: int = 0
    ending: str = ""
    """The call that runs all phases after a command, and ends the tick."""
    _bearing: dict[int, str] = field(default_factory=dict)
    """The functions of `birth` rules, empty while they are being written."""

    @classmethod
    def of(cls, slots: Slots, spare: int = SPARE) -> NumericProgram:
        """Those of the rows of some slots, with spare places for objects that are created;
        `Uncompiled` where that cannot be."""
        rules = slots.rules
        found = cls.__new__(cls)
        _check(slots)
        places = Places(slots, spare)
        terms = NumericTerms(places.slots, rules, places=places)
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
        if name == "WORDS" and self.terms.places.moving:
            first = self.terms.places.first
            return f"(0 if {code} == NONE else word_of(S, WORDING, {code}, {first}, {name}))"
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
        writer.line(f"if commit(S, R, J, me): return {UNSURE}")

    def _logging(self) -> _NumericLog:
        writer = _NumericLog(self.terms, {}, program=self)
        writer.scale = self.scale
        return writer

    def births_of(self, of: str) -> list[str]:
        """The functions of the `birth` rules of a type, the most general first."""
        return [self._birth(at) for at in self.rules.births_of(of)]

    def _birth(self, at: int) -> str:
        """The function that logs the changes of a `birth` rule."""
        if at not in self._bearing:
            self._bearing[at] = ""
            birth, writer, own = self.rules.births[at], self._logging(), self.terms.fresh("a")
            if any(map(is_draw, statements_in(birth.body))):
                raise Uncompiled("chance has a say in births", birth.param.span)
            writer.body(birth.body, {birth.param.name: Name(own, newborn=True)})
            writer.line("return")
            code = self._bearing[at] = self.terms.fresh("birth_")
            self.terms.function(code, [*_ARGS, own], writer.lines)
        if not self._bearing[at]:
            raise Uncompiled("births may cause births", self.rules.births[at].param.span)
        return self._bearing[at]

    def _log_of(self, kind: str, name: str, body: core.Body) -> str:
        """Return the name of the function that logs the changes of a rule."""
        key = f"log {kind}", name
        if key not in self.names:
            self.names[key] = code = self.terms.fresh("log_")
            rule = (self.rules.actions if kind == "action" else self.rules.laws)[name]
            params = {one.name: Name(self.terms.fresh("a")) for one in rule.params}
            codes = [one.code for one in params.values()]
            writer = self._logging()
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

    def _phases(self) -> str:
        """The step of an action leaves the phases to who calls it (`ending`): numba would compile
        them anew for each."""
        self.ending = super()._phases()
        return "0"

    def _together(self, laws: tuple[Law, ...], lines: Lines) -> None:
        lines.append((1, "begin(R)"))
        for law in laws:
            names, depth = self.terms.loops(law.params, law.when, {}, lines, 1)
            codes = [names[one.name].code for one in law.params]
            run = self._log_of("law", law.name, law.body)
            lines.append((depth, f"{run}({', '.join(['S', 'W', 'me', 'R', 'J', *codes])})"))
        lines.append((1, f"if commit(S, R, J, me): return {UNSURE}"))

    def _in_turn(self, phase: m.Phase, laws: tuple[Law, ...], lines: Lines) -> None:
        if not self._has_order(phase, laws):
            self._in_living_turn(phase, laws, lines)
            return
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

    def _in_living_turn(self, phase: m.Phase, laws: tuple[Law, ...], lines: Lines) -> None:
        """Turns of the objects that live when a phase begins; those that have died have none."""
        things = [law for law in laws if _first_kind(law)]
        kinds = {kind for law in laws for kind in _kinds(law).values()}
        if phase.order == "by_nesting" or not kinds & self.slots.moving:
            raise Uncompiled("a phase `by nesting`, or of very many turns")
        shared, x = self.terms.fresh("o"), self.terms.fresh()
        lists, turns = {self._shared({_first_kind(law) for law in things}): shared}, Lines()
        for law in laws:
            if law not in things:
                self._turns_of(law, [], lists, turns, 1)
        turns.append((1, f"for {x} in {shared}:"))
        for law in things:
            turns.append((2, f"if {self.terms.is_of(_first_kind(law), x)}:"))
            self._turns_of(law, [x], lists, turns, 3)
        for kind, code in lists.items():
            lines.append((1, f"{code} = alive(S, {self.terms.places.list_of(kind)}).copy()"))
        lines += turns

    def _shared(self, kinds: set[str]) -> str:
        """The type with the fewest objects among those of which all these are."""
        program, base = self.slots.program, self.slots.base
        every = [
            one for one in program.types
            if one in self.slots.moving and all(program.is_subtype(kind, one) for kind in kinds)
        ]  # fmt: skip
        return min((*every, m.ROOT), key=lambda one: len(base.live[one]))

    def _turns_of(
        self, law: Law, codes: list[str], lists: dict[str, str], lines: Lines, depth: int
    ) -> None:
        """The calls of a law for the values of its parameters behind the first ones, in order;
        ``lists`` names the copies of lists of living objects."""
        binders, kinds = law.params[len(codes) :], _kinds(law)
        codes = [*codes, *(self.terms.fresh() for _ in binders)]
        for binder, code in zip(binders, codes[-len(binders) :], strict=False):
            kind = kinds.get(binder.name, "")
            if kind in self.slots.moving:
                values = lists.setdefault(kind, self.terms.fresh("o"))
            else:
                values = self.terms.values_of(binder)
            lines.append((depth, f"for {code} in {values}:"))
            depth += 1
        living = [
            self.terms.is_of(kinds[one.name], code)
            for one, code in zip(law.params, codes, strict=True)
            if binders and kinds.get(one.name, "") in self.slots.moving
        ]
        if living:
            lines.append((depth, f"if {' and '.join(living)}:"))
            depth += 1
        passed = "".join(f", {one}" for one in codes)
        lines.append((depth, f"if {self._turn_once(law)}(S, W, me, R, J{passed}): return {UNSURE}"))

    def _turn_once(self, law: Law) -> str:
        """The function of a turn of a law."""
        if ("turn", law.name) not in self.names:
            self.names["turn", law.name] = self._turn(law)
        return self.names["turn", law.name]

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
        return f"pay(R, {self.terms.term(amount, {})}, {_unit(amount, self.scale)})"

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
            (2, "code = commit(S, R, J, me)"),
            (1, "except Exception:"), (2, "code = 0"),
            (1, "undo(S, J)"), (1, "R[0] = before"), (1, "return code != REFUSED"),
        ]  # fmt: skip
        self.terms.function(test, [*_ARGS, *codes], lines)
        return test


def _kinds(law: Law) -> dict[str, str]:
    """The types of the parameters of a law that are objects."""
    return {one.name: one.type.name for one in law.params if isinstance(one.type, m.ObjectType)}


def _first_kind(law: Law) -> str:
    """The type of the first parameter of a law, if that is an object."""
    return _kinds(law).get(law.params[0].name, "") if law.params else ""


def _check(slots: Slots) -> None:
    """Raise `Uncompiled` for values that a row of numbers cannot hold."""
    rules, world = slots.rules, slots.instance.world
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
