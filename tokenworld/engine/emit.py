"""Terms to Python expressions.

Code is generated from the typed model with generated names only: texts and names of the author
stand in a table of constants (``k0``, ``k1`` …) and never in the source. Every generated function
gets the present state ``S``, the state at the start of the tick ``W`` and the acting object ``me``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, assert_never

from tokenworld.diagnostics.limits import TOO_LARGE
from tokenworld.engine.births import creates_in_play
from tokenworld.engine.inlining import is_truth, short_derives
from tokenworld.engine.layout import Column, Layout
from tokenworld.engine.mortality import mortal_types
from tokenworld.ground import Instance
from tokenworld.model import (
    And,
    Arithmetic,
    Binder,
    BoolLiteral,
    BuiltinCall,
    Choose,
    ClosureOf,
    CollectionRange,
    CollectionType,
    Compare,
    CompositeTerm,
    DeriveCall,
    EnumLiteral,
    EnumType,
    Fold,
    Implies,
    IntervalRange,
    InverseOf,
    IsType,
    LeafTerm,
    ListTerm,
    Local,
    LogicTerm,
    Me,
    Member,
    Negate,
    NoneLiteral,
    Not,
    NumberLiteral,
    NumberTerm,
    NumberType,
    ObjectLiteral,
    ObjectType,
    Or,
    ParamRead,
    Read,
    RealType,
    Rescale,
    StateTerm,
    TemplateTerm,
    Term,
    TestTerm,
    ToReal,
    TypeRange,
    ValueType,
    is_optional,
    subterms,
)

__all__ = ["Emitter", "Locals", "held"]

Locals = Mapping[str, str]
"""Names of the author to generated names."""


Operation = (
    Not | And | Or | Implies | Choose | Compare | Member | IsType | Arithmetic | Negate | Rescale
    | ToReal | ListTerm
)  # fmt: skip


@dataclass
class Emitter:
    """What one compilation shares: constants, generated templates, fresh names.

    ``careful``: what is emitted now must have a value whatever is `none`, also where the checker
    proved that it is not: a require is reported although one before it, which made sure, failed.
    ``fragile`` are the generated names whose value may rest on an object that was destroyed.
    """

    instance: Instance
    layout: Layout
    constants: dict[str, Any] = field(default_factory=dict)
    texts: list[tuple[str, str]] = field(default_factory=list)
    derive_names: dict[str, str] = field(default_factory=dict)
    birth_names: dict[int, str] = field(default_factory=dict)
    careful: bool = False
    fragile: set[str] = field(default_factory=set)
    _known: dict[Any, str] = field(default_factory=dict)
    _careful_names: dict[str, str] = field(default_factory=dict)
    _fresh: int = 0
    _settled: bool = False

    def const(self, value: Any) -> str:
        """The generated name of a constant."""
        key = (type(value).__name__, value)
        if key not in self._known:
            name = f"k{len(self.constants)}"
            self._known[key] = name
            self.constants[name] = value
        return self._known[key]

    def column(self, column: Column) -> str:
        """The generated name of a column."""
        name = f"col{column.index}"
        self.constants[name] = column
        return name

    def fresh(self, prefix: str = "v") -> str:
        """A name that nothing else has."""
        self._fresh += 1
        return f"{prefix}{self._fresh}"

    @cached_property
    def creates(self) -> bool:
        """Whether play may create objects, so that some are younger than the start of a tick."""
        return creates_in_play(self.instance.program)

    @property
    def _was(self) -> str:
        """The expression of the state at the start of the tick."""
        return "early(S, W)" if self.creates else "W"

    # ---- terms ----------------------------------------------------------------------------

    @cached_property
    def mortal(self) -> frozenset[str]:
        """The types of objects that may be destroyed in play."""
        return mortal_types(self.instance.program)

    def suspect(self, binders: Sequence[Binder], names: Locals) -> None:
        """Note the arguments that may be no more when what is emitted over them is evaluated."""
        for binder in binders:
            if isinstance(binder.type, ObjectType) and binder.type.name in self.mortal:
                self.fragile.add(names[binder.name])

    def is_fragile(self, term: Term, names: Locals) -> bool:
        """Whether a term rests on a name that may stand for something destroyed."""
        return bool(self.mortal) and any(self._is_mortal(one, names) for one in subterms(term))

    def _is_mortal(self, term: Term, names: Locals) -> bool:
        match term:
            case ObjectLiteral() | Me():
                return isinstance(term.type, ObjectType) and term.type.name in self.mortal
            case Local(name=name):
                return names.get(name) in self.fragile
            case (
                LeafTerm() | StateTerm() | LogicTerm() | TestTerm() | NumberTerm()
                | CompositeTerm()
            ):  # fmt: skip
                return False
            case _:
                assert_never(term)

    def term(self, term: Term, names: Locals) -> str:
        """The Python expression of a term; its parts are as sound, or as fragile, as the whole."""
        if self.careful or self._settled or not self.mortal:
            return self._term(term, names)
        self.careful, self._settled = self.is_fragile(term, names), True
        try:
            return self._term(term, names)
        finally:
            self.careful = self._settled = False

    def _term(self, term: Term, names: Locals) -> str:
        match term:
            case BoolLiteral(value=value) | NumberLiteral(value=value):
                return f"({value})" if value is not True and value < 0 else repr(value)
            case EnumLiteral(index=index):
                return repr(index)
            case NoneLiteral():
                return "None"
            case ObjectLiteral(name=name):
                known = self.instance.numbers.get(name)
                return repr(known) if known is not None else f"S.numbers[{self.const(name)}]"
            case ParamRead(name=name):
                return self._param(name)
            case Local(name=name):
                return names[name]
            case Me():
                return "me"
            case Read() | DeriveCall() | InverseOf() | ClosureOf():
                return self._reading(term, names)
            case Fold():
                return self._fold(term, names)
            case BuiltinCall():
                from tokenworld.engine.builtins import builtin_call

                args = [self.term(arg, names) for arg in term.args]
                if term.name in ("busy", "did", "id"):  # they have an answer for `none`
                    return builtin_call(self, term, args)
                return self._total(args, lambda given: builtin_call(self, term, given))
            case TemplateTerm(template=template):
                from tokenworld.engine.speech import text_call

                return text_call(self, template, names)
            case LogicTerm() | TestTerm() | NumberTerm() | Choose() | ListTerm():
                return self._operator(term, names)
            case _:
                assert_never(term)

    def _total(self, args: list[str], build: Callable[[list[str]], str]) -> str:
        """A calculation; a careful one over `none` is `none` (language.md §4)."""
        if not self.careful or not args:
            return build(args)
        given = [self.fresh() for _ in args]
        return f"total(lambda {', '.join(given)}: {build(given)}, {', '.join(args)})"

    def _may_be_none(self, term: Term) -> bool:
        return self.careful or is_optional(term.type)

    def _param(self, name: str) -> str:
        value = self.instance.params[name]
        return f"({value!r})" if isinstance(value, (int, float)) else self.const(value)

    def _operator(self, term: Operation, names: Locals) -> str:
        emit = self.term
        match term:
            case Not(term=inner):
                return f"(not {emit(inner, names)})"
            case And(terms=terms):
                return "(" + " and ".join(emit(part, names) for part in terms) + ")"
            case Or(terms=terms):
                return "(" + " or ".join(emit(part, names) for part in terms) + ")"
            case Implies(left=left, right=right):
                return f"(not {emit(left, names)} or {emit(right, names)})"
            case Choose(condition=condition, then=then, otherwise=otherwise):
                test = emit(condition, names)
                return f"({emit(then, names)} if {test} else {emit(otherwise, names)})"
            case Compare():
                return self._compare(term, names)
            case Member(item=item, collection=collection):
                return self._member(item, collection, names)
            case IsType(term=inner, of=of):
                return self._is_type(inner, of, names)
            case Arithmetic():
                return self._arithmetic(term, names)
            case Negate(term=inner):
                return self._total([emit(inner, names)], lambda given: f"(-{given[0]})")
            case Rescale() | ToReal():
                return self._convert(term, names)
            case ListTerm(items=items):
                inner_ = ", ".join(emit(item, names) for item in items)
                return f"({inner_}{',' if len(items) == 1 else ''})"
            case _:
                assert_never(term)

    def _convert(self, term: Rescale | ToReal, names: Locals) -> str:
        value, kind = self.term(term.term, names), term.term.type
        if isinstance(term, Rescale):
            return self._total([value], lambda given: f"rescale({given[0]}, {10**term.digits})")
        decimals = kind.decimals if isinstance(kind, NumberType) else 0
        return self._total([value], lambda given: f"to_real({given[0]}, {10**decimals})")

    # ---- reading --------------------------------------------------------------------------

    def _reading(self, term: Read | DeriveCall | InverseOf | ClosureOf, names: Locals) -> str:
        state = self._was if term.was else "S"
        match term:
            case Read():
                return self._read(term, state, names)
            case DeriveCall(derive=derive, args=args):
                if any(map(self._may_be_none, args)):
                    return self._guarded(derive, args, state, names)
                if state == "S" and not self.mortal and self._spelled_out(derive, args):
                    return self._inlined(derive, args, names)
                passed = "".join(f", {self.term(arg, names)}" for arg in args)
                return f"{self._function_of(derive)}({state}, W, me{passed})"
            case InverseOf(fluent=fluent, of=of):
                index = self.layout.by_id[fluent].index
                return f"kids({state}.kids[{index}], {self.term(of, names)})"
            case ClosureOf(fluent=fluent, of=of):
                return self._closure(fluent, self.term(of, names), state)
            case _:
                assert_never(term)

    def _spelled_out(self, derive: str, args: tuple[Term, ...]) -> bool:
        """Whether a derive is short enough to stand where it is called, and does so safely: its
        arguments are names, which cost nothing to read twice."""
        simple = all(isinstance(one, (Local, Me, ObjectLiteral, EnumLiteral)) for one in args)
        return simple and derive in self._short

    @cached_property
    def _short(self) -> frozenset[str]:
        return short_derives(self.instance.program)

    def _inlined(self, derive: str, args: tuple[Term, ...], names: Locals) -> str:
        called = self.instance.program.derives[derive]
        given = {
            one.name: self.term(arg, names) for one, arg in zip(called.params, args, strict=True)
        }
        value = self.term(called.value, given)
        return value if is_truth(called.value) or called.type.kind != "bool" else f"bool({value})"

    def _guarded(self, derive: str, args: tuple[Term, ...], state: str, names: Locals) -> str:
        """A derive with a `none` argument is `none` (false, if truth-valued)."""
        fresh = [self.fresh() for _ in args]
        given = ", ".join(self.term(arg, names) for arg in args)
        passed = "".join(f", {name}" for name in fresh)
        tests = " and ".join(
            f"{name} is not None"
            for name, arg in zip(fresh, args, strict=True)
            if self._may_be_none(arg)
        )
        kind = self.instance.program.derives[derive].type.kind
        nothing = "False" if kind == "bool" else "None"
        call = f"{self._function_of(derive)}({state}, W, me{passed})"
        return f"(lambda {', '.join(fresh)}: {call} if {tests} else {nothing})({given})"

    def _function_of(self, derive: str) -> str:
        """The generated function of a derive. A careful term may pass it an object of another type,
        whose attributes are `none`: then it is a function that is emitted with care as well."""
        name, called = self.derive_names[derive], self.instance.program.derives[derive]
        if called.recursive or not self.careful or self._settled:
            return name
        if derive not in self._careful_names:
            careful = self._careful_names[derive] = f"{name}_careful"
            inner = {binder.name: self.fresh("a") for binder in called.params}
            value = self.term(called.value, inner)
            value = f"bool({value})" if called.type.kind == "bool" else value
            header = "".join(f", {one}" for one in inner.values())
            self.texts.append((careful, f"def {careful}(S, W, me{header}):\n    return {value}\n"))
        return self._careful_names[derive]

    def _closure(self, fluent: str, of: str, state: str) -> str:
        column = self.layout.by_id[fluent]
        if column.by_object:
            return f"inside({state}.kids[{column.index}], {of})"
        return f"reach({state}.cols[{column.index}], {column.fluent.symmetric}, {of})"

    def _read(self, term: Read, state: str, names: Locals) -> str:
        column = self.layout.by_id[term.fluent]
        stored = f"{state}.cols[{column.index}]"
        args = [self.term(arg, names) for arg in term.args]
        if column.single:
            return f"{stored}[0]"
        if column.by_object:
            if self._may_be_none(term.args[0]):
                return f"at({stored}, {args[0]})"
            return f"{stored}[{args[0]}]"
        if column.fluent.symmetric:
            return f"sym({stored}, {args[0]}, {args[1]})"
        key = f"({', '.join(args)}{',' if len(args) == 1 else ''})"
        if column.fluent.type.kind == "bool" and column.default is False:
            return f"({key} in {stored})"
        if not any(map(self._may_be_none, term.args)):
            return f"{stored}.get({key}, {self.const(column.default)})"
        return f"row({stored}, {key}, {self.const(column.default)})"

    # ---- comparisons ------------------------------------------------------------------------

    def _compare(self, term: Compare, names: Locals) -> str:
        left, right = self.term(term.left, names), self.term(term.right, names)
        if term.op in ("==", "!="):
            nothing = isinstance(term.right, NoneLiteral) or isinstance(term.left, NoneLiteral)
            nothing = nothing and not (left.isdigit() or left[:1] in "\"'")  # Python warns of these
            op = {"==": "is", "!=": "is not"}[term.op] if nothing else term.op
            return f"({left} {op} {right})"
        if not (self._may_be_none(term.left) or self._may_be_none(term.right)):
            return f"({left} {term.op} {right})"
        if term.op in (">", ">="):
            left, right = right, left
        return f"{'lt' if term.op in ('<', '>') else 'le'}({left}, {right})"

    def _member(self, item: Term, collection: Term, names: Locals) -> str:
        left = self.term(item, names)
        match collection:
            case InverseOf(fluent=fluent, of=of, was=was):
                stored = f"{self._was if was else 'S'}.cols[{self.layout.by_id[fluent].index}]"
                return f"same(at({stored}, {left}), {self.term(of, names)})"
            case ClosureOf(fluent=fluent, of=of, was=was) if self.layout.by_id[fluent].by_object:
                stored = f"{self._was if was else 'S'}.cols[{self.layout.by_id[fluent].index}]"
                return f"within({stored}, {left}, {self.term(of, names)})"
            case (
                LeafTerm() | Read() | DeriveCall() | ClosureOf() | LogicTerm() | TestTerm()
                | NumberTerm() | CompositeTerm()
            ):  # fmt: skip
                right = self.term(collection, names)
                if self._may_be_none(item):
                    return f"member({left}, {right})"
                return f"({left} in {right})"
            case _:
                assert_never(collection)

    def _is_type(self, inner: Term, of: str, names: Locals) -> str:
        types = self.instance.program.types
        subtypes = frozenset([name for name, kind in types.items() if of in kind.ancestors])
        value = self.term(inner, names)
        kind = f"at(S.kinds, {value})" if self._may_be_none(inner) else f"S.kinds[{value}]"
        return f"({kind} in {self.const(subtypes)})"

    def _arithmetic(self, term: Arithmetic, names: Locals) -> str:
        sides = [self.term(term.left, names), self.term(term.right, names)]
        return self._total(sides, lambda given: _calculated(term, *given))

    # ---- folds ------------------------------------------------------------------------------

    def loop(self, binder: Binder, names: Locals) -> tuple[str, str, list[str]]:
        """The variable, the iterable and the filters of one binder."""
        name = self.fresh()
        match binder.domain:
            case TypeRange(of=ObjectType(name=of)):
                return name, f"S.live[{self.const(of)}]", []
            case TypeRange(of=EnumType(name=of)):
                return name, f"range({len(self.instance.program.enums[of].members)})", []
            case IntervalRange(low=low, high=high):
                return name, f"range({low}, {high + 1})", []
            case CollectionRange(collection=collection, only=only):
                values = self.term(collection, names)
                element = collection.type
                if isinstance(element, CollectionType) and is_optional(element.element):
                    values = f"present({values})"
                if only is None:
                    return name, values, []
                program = self.instance.program
                kinds = frozenset(kind for kind in program.types if program.is_subtype(kind, only))
                return name, values, [f"S.kinds[{name}] in {self.const(kinds)}"]
            case TypeRange():
                raise TypeError(f"nothing ranges over {binder.type.kind}")
            case _:
                assert_never(binder.domain)

    def clauses(
        self, binders: tuple[Binder, ...], where: Term | None, names: Locals
    ) -> tuple[str, dict[str, str]]:
        """The ``for … if …`` clauses of binders, and the names behind them."""
        parts: list[str] = []
        inner = dict(names)
        for binder in binders:
            variable, values, filters = self.loop(binder, inner)
            inner[binder.name] = variable
            parts.append(f"for {variable} in {values}")
            parts.extend(f"if {one}" for one in filters)
        if where is not None:
            parts.append(f"if {self.term(where, inner)}")
        return " ".join(parts), inner

    def _fold(self, term: Fold, names: Locals) -> str:
        clauses, inner = self.clauses(term.binders, term.where, names)
        value = "1" if term.value is None else self.term(term.value, inner)
        match term.fold:
            case "sum" if self.careful:
                nothing = "0.0" if isinstance(term.type, RealType) else "0"
                return held(f"total_sum([{value} {clauses}], {nothing})", term.type)
            case "min" | "max" if self.careful:
                return f"total_{term.fold}([{value} {clauses}])"
            case "sum" if isinstance(term.type, RealType):
                return f"added({value} {clauses})"
            case "any" | "all":
                return f"{term.fold}({value} {clauses})"
            case "sum":
                return held(f"sum({value} {clauses})", term.type)
            case "count":
                test = "" if term.value is None else f" if {value}"
                return f"sum(1 {clauses}{test})"
            case "min" | "max":
                return f"{term.fold}(({value} {clauses}), default=None)"
            case "first":
                return f"next(({value} {clauses}), None)"
            case "last":
                return f"last(({value} {clauses}))"
            case _:
                assert_never(term.fold)


def held(code: str, kind: ValueType) -> str:
    """The code of a number; one that may come to have too many digits is looked at."""
    if not isinstance(kind, NumberType):
        return code
    ends = (kind.low, kind.high)
    safe = all(one is not None and abs(one) < TOO_LARGE for one in ends)
    return code if safe else f"fits({code})"


def _calculated(term: Arithmetic, left: str, right: str) -> str:
    real = isinstance(term.type, RealType)
    match term.op:
        case "+" | "-" | "*":
            return held(f"({left} {term.op} {right})", term.type)
        case "/":
            return f"over({left}, {right})"
        case "div":
            return f"floordiv({left}, {right})"
        case "mod":
            return f"{'real_mod' if real else 'modulo'}({left}, {right})"
        case _:
            assert_never(term.op)
