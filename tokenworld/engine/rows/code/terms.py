"""Terms of core to Python expressions on rows.

The only places that know how a slot is read are `TermWriter.slot`, `TermWriter.at` and
`TermWriter.lookup`; writes are in `bodies`. A name carries whether its value may be `none`
(``loose``): then operators go through functions of `runtime`. With ``careful`` the types of
variables are not relied on, because a require that narrowed them may no longer hold; every
attribute is then read through its table, where what an object lacks is `none`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any, ClassVar, assert_never

from tokenworld import model as m
from tokenworld.core import Rules, TermVisitor
from tokenworld.core import nodes as core
from tokenworld.core.rules import Derive
from tokenworld.core.walk import binder_terms, conjuncts, subterms, template_terms
from tokenworld.diagnostics.limits import TOO_LARGE
from tokenworld.engine.rows.code.runtime import Readers, calculation
from tokenworld.engine.rows.layout import DID, KINDS, LONGS, TICK, Slots, Store
from tokenworld.engine.rows.questions.hidden import HiddenRow
from tokenworld.ground import domain_of

MOST_WRITTEN = 160
"""Characters of a derived fact that is written where it is asked for."""
MOST_LOOPS = 12
"""Loops in one another that are written; Python takes twenty."""


@dataclass(frozen=True, slots=True)
class Name:
    """The generated name of a variable. ``loose``: it may be `none`, though its type says no;
    ``newborn``: it is created by this very body."""

    code: str
    loose: bool = False
    newborn: bool = False


Names = Mapping[str, Name]
Lines = list[tuple[int, str]]
"""Statements with their depth."""

_TRUTHS = frozenset({"not", "==", "<", "<=", "in", "busy", "did"})
_PLAIN = _TRUTHS | {"and", "or", "tick", "score", "pi"}
"""Operators that have a value for all operands."""
_PLAIN_CODE = re.compile(r"\(?\w+\)?").fullmatch
"""Names and numbers: code that an expression may repeat."""
_INFIX = {"+": "plus", "-": "minus", "*": "times"}


@dataclass
class TermWriter(TermVisitor[Names, str]):
    """Writes terms of one world; functions that they need go to ``functions``."""

    absent: ClassVar[str] = "is NONE"
    """Follows the code of a value that is tested for `none`."""
    present: ClassVar[str] = "is not NONE"
    slots: Slots
    rules: Rules
    careful: bool = False
    looks_back: bool = False
    """Whether anything that was written reads the start of the tick."""
    functions: list[str] = field(default_factory=list)
    constants: dict[str, Any] = field(default_factory=dict)
    tables: dict[Any, dict[Any, Any]] = field(default_factory=dict)
    _numbers: Iterator[int] = field(default_factory=count)
    _done: dict[Any, str] = field(default_factory=dict)
    _loose: dict[Any, bool] = field(default_factory=dict)
    _long: set[str] = field(default_factory=set)
    """Derived facts that are too long to be written where they are asked for."""

    # ---- names -------------------------------------------------------------------------------

    def fresh(self, prefix: str = "x") -> str:
        return f"{prefix}{next(self._numbers)}"

    def const(self, value: Any) -> str:
        """A name for a value that the generated code reads."""
        if value is None or isinstance(value, (bool, int, str)):
            return repr(value)
        name = self.fresh("c")
        self.constants[name] = value
        return name

    def function(self, name: str, params: Iterable[str], lines: Lines) -> None:
        """Add a function; every one takes the row, that at the start of the tick and who acts."""
        head = f"def {name}({', '.join(['S', 'W', 'me', *params])}):"
        self.functions.append("\n".join([head, *("    " * depth + text for depth, text in lines)]))

    def used(self, terms: Iterable[core.Term | None], names: Names) -> dict[str, Name]:
        """The variables that terms read, of those that are known here."""
        read = {
            part.name
            for term in terms
            if term is not None
            for part in subterms(term)
            if isinstance(part, core.Variable)
        }
        return {name: one for name, one in names.items() if name in read}

    # ---- values that may be none --------------------------------------------------------------

    def loose(self, term: core.Term, names: Names) -> bool:
        """Return whether the value may be `none` at run time."""
        if m.is_optional(term.type):
            return True
        match term:
            case core.Variable(name=name):
                return names[name].loose
            case core.Read():
                return self.may_lack(term, names)
            case core.Call(op=op, args=args):
                return op not in _PLAIN and any(self.loose(one, names) for one in args)
            case core.Fold(fold="sum" | "min" | "max", value=value, binders=binders) if (
                value is not None
            ):
                inner = {**names, **{one.name: Name("") for one in binders}}
                return self.loose(value, inner)
            case core.Fold(fold=fold):
                return fold in ("first", "last", "min", "max")
            case core.Choice(then=then, otherwise=otherwise):
                return self.loose(then, names) or self.loose(otherwise, names)
            case core.DeriveCall():
                return self._loose_call(term, names)
            case core.Constant(value=value):
                return value is None
            case core.LeafTerm() | core.Members() | core.TypeTest() | core.Text():
                return False
            case _:
                assert_never(term)

    def may_lack(self, term: core.Read | core.Place, names: Names) -> bool:
        """Return whether a slot may be empty, or have no place, where it is read or written."""
        store = self.slots.by_id[term.fluent]
        if self.careful and m.is_optional(store.column.fluent.type):
            return True
        if store.column.single:
            return False
        if any(self.loose(one, names) for one in term.args):
            return not (store.column.tupled and store.column.truth)
        if not store.column.by_object:
            return False
        of = term.args[0]
        new = isinstance(of, core.Variable) and names[of.name].newborn
        lacks = new and store.column.fluent.fluent_kind != "attribute"
        dies = isinstance(of.type, m.ObjectType) and of.type.name in self.slots.mortal
        return self.careful or lacks or dies

    def _loose_call(self, term: core.DeriveCall, names: Names) -> bool:
        derive = self.rules.derives[term.derive]
        if isinstance(derive.type, m.BoolType):
            return False
        if any(self.loose(one, names) for one in term.args):
            return True
        key = (term.derive, self.careful)
        if key not in self._loose:
            self._loose[key] = False  # derives that use each other are truths
            inner = {one.name: Name("") for one in derive.params}
            self._loose[key] = self.loose(derive.value, inner)
        return self._loose[key]

    def truth(self, term: core.Term, names: Names) -> str:
        """A term as `True` or `False`, for `none` counts as false."""
        code = self.term(term, names)
        return code if self._strict(term, names) else f"bool({code})"

    def _strict(self, term: core.Term, names: Names) -> bool:
        match term:
            case core.Call(op="and" | "or", args=args):
                return all(self._strict(one, names) for one in args)
            case core.Call(op=op):
                return op in _TRUTHS
            case (
                core.Constant()
                | core.TypeTest()
                | core.DeriveCall()
                | core.Fold()
                | core.ParamValue()
            ):
                return True
            case core.LeafTerm() | core.Read() | core.Members() | core.Choice() | core.Text():
                return not self.loose(term, names)
            case _:
                assert_never(term)

    def value(self, term: core.Term, names: Names) -> str:
        """A term as it is stored, passed on or shown."""
        return (
            self.truth(term, names) if isinstance(term.type, m.BoolType) else self.term(term, names)
        )

    # ---- constants ----------------------------------------------------------------------------

    def constant(self, term: core.Constant, env: Names) -> str:
        return "NONE" if term.value is None else f"({term.value!r})"

    def object_name(self, term: core.ObjectName, env: Names) -> str:
        return str(self.slots.base.numbers[term.name])

    def param_value(self, term: core.ParamValue, env: Names) -> str:
        value = self.slots.instance.params[term.name]
        return f"({value!r})" if isinstance(value, (int, float)) else self.const(value)

    def variable(self, term: core.Variable, env: Names) -> str:
        return env[term.name].code

    def actor(self, term: core.Actor, env: Names) -> str:
        return "me"

    def choice(self, term: core.Choice, env: Names) -> str:
        then, otherwise = self.value(term.then, env), self.value(term.otherwise, env)
        return f"({then} if {self.term(term.condition, env)} else {otherwise})"

    def type_test(self, term: core.TypeTest, env: Names) -> str:
        value, program = self.term(term.term, env), self.slots.program
        if term.of not in self.slots.moving:
            return f"({value} in {self.const(frozenset(self.slots.base.live[term.of]))})"
        kinds = frozenset(name for name in program.types if program.is_subtype(name, term.of))
        test = f"(S[{KINDS}][{value}] in {self.const(kinds)})"
        if not self.loose(term.term, env):
            return test
        held = self.fresh("h")
        return f"(({held} := {value}) {self.present} and {test.replace(f'[{value}]', f'[{held}]')})"

    # ---- slots --------------------------------------------------------------------------------

    def slot(self, store: Store, codes: list[str]) -> str:
        """The place of arguments that surely have one."""
        if store.column.single:
            return str(store.offset)
        if store.column.by_object and (store.offset is None or self.careful):
            return f"{self.table(store)}[{codes[0]}]"
        spans = store.spans or ((0, 0),)
        place, low = "", 0
        for code, (least, size) in zip(codes, spans, strict=True):
            place, low = (
                (f"({place})*{size}+{code}", low * size + least) if place else (code, least)
            )
        offset = (store.offset or 0) - low
        return f"{place}{offset:+}" if offset else place

    def within_length(self, code: str, kind: m.ValueType) -> str:
        """The code of a number that may have too many digits; see `within_length`."""
        return within_length(code, kind)

    def owner_of(self, place: str) -> str:
        """The object whose slot this is."""
        return f"ARGS[{place}][0]"

    def push(self, place: str) -> str:
        """The line that notes the value of a slot in the journal."""
        return f"J += ({place}, S[{place}])"

    def sure(self, store: Store, args: tuple[core.Term, ...], names: Names) -> bool:
        """Return whether arguments surely have a place that arithmetic finds."""
        if store.column.fluent.symmetric or any(self.loose(one, names) for one in args):
            return False
        if store.column.by_object or store.column.single:
            return True
        return store.strided and not self.careful and all(map(_within, args, store.spans))

    def row(self, store: Store, was: bool) -> str:
        self.looks_back = self.looks_back or (was and store.live)
        return "C" if not store.live else "W" if was else "S"

    def table(self, store: Store) -> str:
        name = f"A{store.column.index}"
        self.constants[name] = store.table
        return name

    def kids_table(self, store: Store) -> str:
        name = f"K{store.column.index}"
        self.constants[name] = store.kids
        return name

    def lookup(self, store: Store) -> str:
        """The function that reads slots of a fluent whose arguments may have none."""
        name, truth, default = f"G{store.column.index}", store.column.truth, store.column.default
        if name not in self.constants:

            def get(R: list[Any], *args: Any) -> Any:
                if None in args:
                    return False if truth else None
                place = store.find(args)
                if place is not None and place < len(R):
                    return R[place]
                return R.absent(store, args) if isinstance(R, HiddenRow) else default

            self.constants[name] = get
        return name

    def read(self, term: core.Read, env: Names) -> str:
        store = self.slots.by_id[term.fluent]
        row = self.row(store, term.was)
        codes = [self.term(one, env) for one in term.args]
        if self.sure(store, term.args, env):
            return f"{row}[{self.slot(store, codes)}]"
        if store.column.by_object:
            return f"at({row}, {self.table(store)}, {codes[0]})"
        return f"{self.lookup(store)}({', '.join([row, *codes])})"

    def members(self, term: core.Members, env: Names) -> str:
        if term.by == "list":
            items = ", ".join(self.value(one, env) for one in term.items)
            return f"({items},)" if items else "()"
        store, of = self.slots.by_id[term.fluent], self.term(term.of, env)
        row = self.row(store, term.was)
        if term.by == "closure" and not store.column.by_object:
            return f"{self._reach(store)}({row}, {of})"
        return self.contents("inside" if term.by == "closure" else "kids", store, row, of)

    def contents(self, name: str, store: Store, row: str, of: str) -> str:
        """The objects that point at an object (``kids``), or also indirectly (``inside``)."""
        return f"{name}({row}, {self.kids_table(store)}, {of})"

    def _reach(self, store: Store) -> str:
        name = f"R{store.column.index}"
        if name not in self.constants:
            slots = self.slots

            def reach(R: list[Any], x: int | None) -> list[int]:
                return reached(slots, store, R, x)

            self.constants[name] = reach
        return name

    # ---- derives ------------------------------------------------------------------------------

    def derive_call(self, term: core.DeriveCall, env: Names) -> str:
        row = "W" if term.was else "S"
        self.looks_back = self.looks_back or term.was
        guarded = any(self.loose(one, env) for one in term.args)
        passed = [self.value(one, env) for one in term.args]
        if not (guarded or term.was) and all(map(_PLAIN_CODE, passed)):
            written = self._written_out(self.rules.derives[term.derive], passed)
            if written is not None:
                return f"({written})"
        name = self.derive(term.derive, guarded=guarded)
        return f"{name}({', '.join([row, 'W', 'me', *passed])})"

    def _written_out(self, derive: Derive, codes: list[str]) -> str | None:
        """The value of a derived fact without a call, where that is short; a fold is a function of
        its own, and not written twice."""
        folds = any(isinstance(one, core.Fold) for one in subterms(derive.value))
        if folds or derive.recursive or derive.name in self._long:
            return None
        pairs = zip(derive.params, codes, strict=True)
        found = self.value(derive.value, {one.name: Name(code) for one, code in pairs})
        if len(found) > MOST_WRITTEN:
            self._long.add(derive.name)
            return None
        return found

    def derive(self, name: str, *, guarded: bool) -> str:
        """The function of a derived fact; ``guarded``: of `none` it is `none`, or false."""
        derive = self.rules.derives[name]
        careful = self.careful and not derive.recursive
        key = (name, careful, guarded)
        if key in self._done:
            return self._done[key]
        code = self._done[key] = self.fresh("dn" if guarded else "d")
        names = {one.name: Name(self.fresh("a")) for one in derive.params}
        params = [one.code for one in names.values()]
        truth = isinstance(derive.type, m.BoolType)
        if guarded:
            called = self._written_out(derive, params)
            if called is None:
                passed = ", ".join(["S", "W", "me", *params])
                called = f"{self.derive(name, guarded=False)}({passed})"
            tests = " or ".join(f"{one} {self.absent}" for one in params)
            value = f"{'False' if truth else 'NONE'} if {tests} else {called}"
        elif derive.recursive:
            value = self._fixpoint(name, params)
        else:
            value = self.value(derive.value, names)
        self.function(code, params, [(1, f"return {value}")])
        return code

    def _fixpoint(self, name: str, params: list[str]) -> str:
        """The test whether arguments are in the least fixpoint; see `fixpoint`."""
        derive, before = self.rules.derives[name], self.careful
        self.careful = False
        names = {one.name: Name(self.fresh("a")) for one in derive.params}
        value, every = self.fresh("v"), self.fresh("b")
        own = [one.code for one in names.values()]
        self.function(value, own, [(1, f"return {self.truth(derive.value, names)}")])
        lines: Lines = [(1, "found = []")]
        inner, depth = self.loops(derive.params, None, {}, lines, 1)
        row = "".join(f"{inner[one.name].code}, " for one in derive.params)
        self.function(every, (), [*lines, (depth, f"found.append(({row}))"), (1, "return found")])
        self.careful = before
        args = "".join(f"{one}, " for one in params)
        self.constants.setdefault("RECURSIVE", {})[name] = (value, every)
        return f"fixpoint({name!r}, S, W, me, ({args}))"

    # ---- operators ----------------------------------------------------------------------------

    def reduced(self, term: core.Term) -> core.Term:
        """A term without the operands of `and` and `or` that a param makes constant."""
        if not isinstance(term, core.Call) or term.op not in ("and", "or"):
            return term
        args = [self.reduced(one) for one in term.args]
        known = [self._known(one) for one in args]
        decisive = term.op == "or"
        if decisive in known:
            args, known = args[: known.index(decisive) + 1], known[: known.index(decisive) + 1]
        left = [one for one, value in zip(args, known, strict=True) if value in (None, decisive)]
        if left == list(term.args):
            return term
        return left[0] if len(left) == 1 else replace(term, args=tuple(left)) if left else args[0]

    def _known(self, term: core.Term) -> bool | None:
        """The truth of a constant or param; ``None`` for any other term."""
        value = term.value if isinstance(term, core.Constant) else None
        if isinstance(term, core.ParamValue):
            found = self.slots.instance.params[term.name]
            value = found if isinstance(found, bool) else None
        return value if isinstance(value, bool) else None

    def call(self, term: core.Call, env: Names) -> str:
        found = self.reduced(term)
        if not isinstance(found, core.Call):
            return self.term(found, env)
        term = found
        match term.op:
            case "not":
                return f"(not {self.term(term.args[0], env)})"
            case "and" | "or":
                return "(" + f" {term.op} ".join(self.term(one, env) for one in term.args) + ")"
            case "in":
                return self._member(term.args[0], term.args[1], env)
            case "==":
                return self._equal(*(self.side(one, env) for one in term.args))
            case "<" | "<=":
                left, right = (self.term(one, env) for one in term.args)
                if any(self.loose(one, env) for one in term.args):
                    return f"{'lt' if term.op == '<' else 'le'}({left}, {right})"
                return f"({left} {term.op} {right})"
            case "tick":
                return f"S[{TICK}]"
            case "score":
                return "score(S, W, me)"
            case "pi":
                return "3.141592653589793"
            case "busy":
                return f"busy(S[{LONGS}], {self.term(term.args[0], env)}, {term.detail!r})"
            case "did":
                who, *args = (self.value(one, env) for one in term.args)
                row = f"({', '.join(args)},)" if args else "()"
                return f"did(S[{DID}], {who}, {term.detail!r}, {row})"
            case _:
                return self._number(term, [self.term(one, env) for one in term.args], env)

    def _equal(self, one: str, other: str) -> str:
        """An equation; Python warns of a number that is compared with `none` by `is`."""
        if other == "NONE" and one.lstrip("(")[:1].isalpha():
            return f"({one} {self.absent})"
        return f"({one} == {other})"

    def side(self, term: core.Term, env: Names) -> str:
        """Return the code of a side of an equation, where a truth over `none` is `none`."""
        worked_out = isinstance(term, core.Call) and isinstance(term.type, m.BoolType)
        return self.truth(term, env) if worked_out else self.term(term, env)

    def _member(self, item: core.Term, collection: core.Term, env: Names) -> str:
        value = self.term(item, env)
        if isinstance(collection, core.Members) and collection.by != "list":
            store = self.slots.by_id[collection.fluent]
            row, of = self.row(store, collection.was), self.term(collection.of, env)
            if store.column.by_object and collection.by == "closure":
                return f"climbs({row}, {self.table(store)}, {value}, {of})"
            if collection.by == "inverse" and store.column.by_object:
                return f"same(at({row}, {self.table(store)}, {value}), {of})"
        code = self.term(collection, env)
        return f"member({value}, {code})" if self.loose(item, env) else f"({value} in {code})"

    def _number(self, term: core.Call, args: list[str], env: Names) -> str:
        name, more = calculation(term, self.slots)
        loose = any(self.loose(one, env) for one in term.args)
        if name in _INFIX:
            code = f"({args[0]} {name} {args[1]})"
            code = f"total({_INFIX[name]}, {args[0]}, {args[1]})" if loose else code
            return self.within_length(code, term.type)
        if name == "id":
            return args[0]
        passed = ", ".join([*args, *more])
        code = f"total({name}, {passed})" if loose else f"{name}({passed})"
        return (
            self.within_length(code, term.type)
            if name in ("toward", "round_real", "rounded_exact")
            else code
        )

    # ---- folds and loops ----------------------------------------------------------------------

    def loops(
        self,
        binders: tuple[core.Binder, ...],
        where: core.Term | None,
        names: Names,
        lines: Lines,
        depth: int,
    ) -> tuple[dict[str, Name], int]:
        """Append the ``for`` and ``if`` lines of binders; return the names and the depth."""
        if len(binders) > MOST_LOOPS and not binder_terms(binders):
            return self._in_one_loop(binders, where, names, lines, depth)
        inner = dict(names)
        left = [] if where is None else list(conjuncts((self.reduced(where),)))
        for binder in binders:
            variable = self.fresh()
            last = binder is binders[-1]
            scanned = self.scanned(binder, left[0], inner) if last and left else None
            if scanned is None:
                values, tests = self._domain(binder, inner, variable)
            else:
                values, tests, left = scanned, [], left[1:]
            inner[binder.name] = Name(variable)
            lines.append((depth, f"for {variable} in {values}:"))
            depth += 1
            if tests:
                lines.append((depth, f"if {' and '.join(tests)}:"))
                depth += 1
        if left:
            lines.append((depth, f"if {' and '.join(self.term(one, inner) for one in left)}:"))
            depth += 1
        return inner, depth

    def scanned(self, binder: core.Binder, test: core.Term, names: Names) -> str | None:
        """The values of a binder that a test leaves, found in no Python loop: the one value that it
        equals, or those for which slots that follow each other are true, or hold a value, where
        the binder ranges over all of them."""
        if isinstance(test, core.Read):
            span = self._span(binder, test, names)
            return None if span is None else f"where({span}, True)"
        if not isinstance(test, core.Call) or test.op != "==":
            return None
        for one, other in (test.args, test.args[::-1]):
            if not self.is_bound(other, names):
                continue
            if isinstance(one, core.Variable) and one.name == binder.name:
                known = self._ranges_over(binder, other, names)
                return f"({self.term(other, names)},)" if known else None
            if isinstance(one, core.Read):
                span = self._span(binder, one, names)
                if span is not None:
                    return f"where({span}, {self.side(other, names)})"
        return None

    def _ranges_over(self, binder: core.Binder, term: core.Term, names: Names) -> bool:
        """Return whether each value of a term is in the range of a binder."""
        kind, domain = term.type, binder.domain
        if not isinstance(domain, m.TypeRange) or domain.of != kind or self.loose(term, names):
            return False
        lasts = isinstance(kind, m.ObjectType) and kind.name not in self.slots.moving
        return lasts or isinstance(kind, m.EnumType)

    def _span(self, binder: core.Binder, read: core.Read, names: Names) -> str | None:
        """The slots that a read may reach by its last argument: the row, the first of them and the
        one after their last, and the first value of that argument."""
        slots, last = self.slots, read.args[-1] if read.args else None
        if not isinstance(last, core.Variable) or last.name != binder.name or read.was:
            return None
        kind = binder.domain.of if isinstance(binder.domain, m.TypeRange) else None
        if not isinstance(kind, m.ObjectType) or kind.name in slots.moving:
            return None
        before, numbers = read.args[:-1], slots.base.live[kind.name]
        store = slots.by_id[read.fluent]
        inner = {**names, binder.name: Name("")}
        follow = numbers and numbers == tuple(range(numbers[0], numbers[-1] + 1))
        if not follow or store.offset is None or not self.sure(store, read.args, inner):
            return None
        if not all(self.is_bound(one, names) for one in before):
            return None
        codes = [self.term(one, names) for one in before]
        ends = [self.slot(store, [*codes, f"{at}"]) for at in (numbers[0], numbers[-1])]
        return f"{self.row(store, False)}, {ends[0]}, {ends[1]}+1, {numbers[0]}"

    def is_bound(self, term: core.Term, names: Names) -> bool:
        """Return whether a term reads nothing but these variables."""
        return all(one.name in names for one in subterms(term) if isinstance(one, core.Variable))

    def _in_one_loop(
        self,
        binders: tuple[core.Binder, ...],
        where: core.Term | None,
        names: Names,
        lines: Lines,
        depth: int,
    ) -> tuple[dict[str, Name], int]:
        """The same for more binders than Python nests loops."""
        variables = [self.fresh() for _ in binders]
        values = [self._domain(one, names, "")[0] for one in binders]
        pairs = zip(binders, variables, strict=True)
        inner = {**names, **{one.name: Name(variable) for one, variable in pairs}}
        lines.append((depth, f"for {', '.join(variables)} in product({', '.join(values)}):"))
        if where is None:
            return inner, depth + 1
        lines.append((depth + 1, f"if {self.term(where, inner)}:"))
        return inner, depth + 2

    def _domain(self, binder: core.Binder, names: Names, variable: str) -> tuple[str, list[str]]:
        """The range of a binder, and tests that each of its elements must pass."""
        program = self.slots.program
        match binder.domain:
            case m.TypeRange(of=m.ObjectType(name=of)) if of not in self.slots.moving:
                numbers = self.slots.base.live[of]
                if numbers and numbers == tuple(range(numbers[0], numbers[-1] + 1)):
                    return f"range({numbers[0]}, {numbers[-1] + 1})", []
                return str(numbers), []
            case m.TypeRange(of=m.ObjectType(name=of)):
                return f"S[{self.slots.live[of]}]", []
            case m.TypeRange(of=m.EnumType(name=of)):
                return f"range({len(program.enums[of].members)})", []
            case m.TypeRange(of=of):
                return repr(tuple(domain_of(self.slots.instance, of) or ())), []
            case m.IntervalRange(low=low, high=high):
                return f"range({low}, {high + 1})", []
            case collection:
                element = collection.type
                some = isinstance(element, m.CollectionType) and m.is_optional(element.element)
                tests = [f"{variable} {self.present}"] if some else []
                if binder.only is not None:
                    only = binder.only
                    kinds = frozenset(x for x in program.types if program.is_subtype(x, only))
                    tests.append(f"S[{KINDS}][{variable}] in {self.const(kinds)}")
                return self.term(collection, names), tests

    def _tally(self, term: core.Fold, env: Names) -> str | None:
        """The code that counts, among the objects that always point at an object, those of which an
        attribute has a value; ``None`` if a fold does something else."""
        binder, test = term.binders[0], term.where
        inside, single = binder.domain, len(term.binders) == 1 and term.value is None
        if not (isinstance(inside, core.Members) and isinstance(test, core.Call) and single):
            return None
        held = self.slots.by_id[inside.fluent] if inside.by == "inverse" else None
        if held is None or held.live or held.kids is None or binder.only or test.op != "==":
            return None
        for one, other in (test.args, test.args[::-1]):
            if self._is_own(one, binder.name) and self.is_bound(other, env):
                assert isinstance(one, core.Read)
                store = self.slots.by_id[one.fluent]
                readers = self.const(Readers(self.slots.static, held.kids, store.table))
                codes = [self.term(inside.of, env), self.side(other, env)]
                return f"tally({self.row(store, False)}, {readers}, {', '.join(codes)})"
        return None

    def _is_own(self, term: core.Term, name: str) -> bool:
        """Return whether a term is an attribute of a variable now."""
        if not isinstance(term, core.Read) or term.was:
            return False
        of = term.args[0] if self.slots.by_id[term.fluent].column.by_object else None
        return isinstance(of, core.Variable) and of.name == name

    def fold(self, term: core.Fold, env: Names) -> str:
        counted = self._tally(term, env)
        if counted is not None:
            return counted
        terms = [
            term.where,
            term.value,
            *(one.domain for one in term.binders if isinstance(one.domain, core.Term)),
        ]
        used = self.used(terms, env)
        own = {name: Name(self.fresh("a"), one.loose, one.newborn) for name, one in used.items()}
        lines: Lines = []
        inner, depth = self.loops(term.binders, term.where, own, lines, 1)
        first, body, last = self._folded(term, inner)
        lines = [(1, first)] * bool(first) + lines + [(depth, body), (1, last)]
        name = self.fresh("f")
        self.function(name, (one.code for one in own.values()), lines)
        passed = [one.code for one in used.values()]
        code = f"{name}({', '.join(['S', 'W', 'me', *passed])})"
        return self.within_length(code, term.type) if term.fold == "sum" else code

    def _folded(self, term: core.Fold, names: Names) -> tuple[str, str, str]:
        """The code of a fold before its loops, in them and after them."""
        if term.value is None:
            return "n = 0", "n += 1", "return n"
        value = self.value(term.value, names)
        match term.fold:
            case "any":
                return "", f"if {value}: return True", "return False"
            case "all":
                return "", f"if not {value}: return False", "return True"
            case "count":
                return "n = 0", f"if {value}: n += 1", "return n"
            case "sum":
                nothing = "0.0" if isinstance(term.type, m.RealType) else "0"
                if self.loose(term.value, names):
                    return "n = []", f"n.append({value})", f"return summed(n, {nothing})"
                return f"n = {nothing}", f"n += {value}", "return n"
            case "min" | "max":
                best = "least" if term.fold == "min" else "most"
                return "n = []", f"n.append({value})", f"return {best}(n)"
            case "first":
                return "", f"return {value}", "return NONE"
            case "last":
                return "n = NONE", f"n = {value}", "return n"

    # ---- texts --------------------------------------------------------------------------------

    def text(self, term: core.Text, env: Names) -> str:
        if not template_terms(term.template):
            return repr(
                "".join(one.text for one in term.template.parts if not isinstance(one, core.Hole))
            )
        name, passed = self.text_function(term.template, env)
        return f"{name}({', '.join(['S', 'W', 'me', *passed])})"

    def text_function(self, template: core.Template, names: Names) -> tuple[str, list[str]]:
        """A function that renders a template, and the variables to pass it."""
        used = self.used(template_terms(template), names)
        own = {name: Name(self.fresh("a"), one.loose) for name, one in used.items()}
        parts = [
            self.shown(one.term, own, one.article) if isinstance(one, core.Hole) else repr(one.text)
            for one in template.parts
        ]
        name = self.fresh("t")
        value = " + ".join(parts) or "''"
        self.function(name, (one.code for one in own.values()), [(1, f"return {value}")])
        return name, [one.code for one in used.values()]

    def shown(self, term: core.Term, names: Names, article: str = "") -> str:
        """A value as a reader sees it."""
        kind = term.type
        if not isinstance(kind, m.CollectionType):
            return self._word(kind, self.value(term, names), article)
        one = self.fresh()
        skip = f" if {one} != me" if isinstance(kind.element, m.ObjectType) else ""
        word = self._word(kind.element, one, "")
        return f"P.listing([{word} for {one} in {self.term(term, names)}{skip}], {article!r})"

    def _word(self, kind: m.ValueType, code: str, article: str) -> str:
        match kind:
            case m.BoolType():
                return f"('true' if {code} else 'false')"
            case m.ObjectType():
                return f"named(S, W, me, {code}, {article!r})"
            case m.EnumType(name=name):
                members = self.const(self.slots.program.enums[name].members)
                return f"of_enum({members}, {code}, {article!r})"
            case m.NumberType(decimals=decimals, unit=unit):
                return f"of_number({code}, {decimals}, {unit!r})"
            case m.RealType():
                return f"of_real({code})"
            case m.TextType() | m.NoneType() | m.CollectionType():
                return f"of_text({code})"
            case _:
                assert_never(kind)


def _within(term: core.Term, span: tuple[int, int]) -> bool:
    """Return whether a value is always within the values of an argument."""
    kind = term.type
    if not isinstance(kind, m.NumberType):
        return True
    low, size = span
    return (
        kind.low is not None
        and kind.high is not None
        and (low <= kind.low and kind.high < low + size)
    )


def within_length(code: str, kind: m.ValueType) -> str:
    """The code of a number, with a check if it may get too many digits."""
    if not isinstance(kind, m.NumberType):
        return code
    ends = (kind.low, kind.high)
    safe = all(one is not None and abs(one) < TOO_LARGE for one in ends)
    return code if safe else f"fits({code})"


def reached(slots: Slots, store: Store, row: list[Any], x: int | None) -> list[int]:
    """Everything that a relation leads to from x, in order of number."""
    if x is None:
        return []
    if isinstance(row, HiddenRow):
        row.complete(store)
    steps: dict[int, list[int]] = {}
    both = store.column.fluent.symmetric
    for (one, other), place in slots.places_of(store):
        if place < len(row) and row[place]:
            steps.setdefault(one, []).append(other)
            if both:
                steps.setdefault(other, []).append(one)
    found, todo = set[int](), [x]
    while todo:
        new = [one for one in steps.get(todo.pop(), ()) if one not in found]
        found.update(new)
        todo += new
    return sorted(found)
