"""Terms to expressions of the scalar subset that both Python and numba run.

As in `tokenworld.engine.emit`, code is built from the typed model with generated names only. Every
function gets the row now ``S``, the row at the start of the tick ``W``, the scratch array ``X`` and
the acting object ``me``. Truths are emitted in two forms: `test` as a condition, `value` as a
number.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import assert_never

from tokenworld.engine.mortality import mortal_types
from tokenworld.engine.rollout.expressible import Inexpressible
from tokenworld.engine.rollout.ranges import Env, Ranges
from tokenworld.engine.rollout.scratch import NONE
from tokenworld.engine.rollout.slots import Cell, Plan
from tokenworld.model import (
    And,
    Arithmetic,
    BoolLiteral,
    BoolType,
    BuiltinCall,
    Choose,
    ClosureOf,
    CollectionType,
    Compare,
    CompositeTerm,
    DeriveCall,
    EnumLiteral,
    Fold,
    Implies,
    InverseOf,
    IsType,
    LeafTerm,
    ListTerm,
    Local,
    Me,
    Member,
    Negate,
    NoneLiteral,
    Not,
    NumberLiteral,
    NumberTerm,
    NumberType,
    ObjectLiteral,
    Or,
    ParamRead,
    Read,
    RealType,
    Rescale,
    StateTerm,
    TemplateTerm,
    Term,
    TextPart,
    ToReal,
    ValueType,
    is_optional,
)

__all__ = ["Writer", "is_real"]

EXACT_DOUBLE = 1 << 53


def is_real(kind: ValueType) -> bool:
    return isinstance(kind, RealType)


@dataclass
class Writer:
    """What the generation of one world's code shares: its functions, names and tables."""

    plan: Plan
    chunks: list[str] = field(default_factory=list)
    derives: dict[str, str] = field(default_factory=dict)
    members: dict[str, tuple[int, ...]] = field(default_factory=dict)
    growing: frozenset[str] = frozenset()
    regions: dict[str, int] = field(default_factory=dict)
    memos: int = 0
    _fresh: int = 0

    def __post_init__(self) -> None:
        self.ranges = Ranges(self.plan)

    @cached_property
    def wary(self) -> bool:
        """Whether a name may stand for something destroyed, so that any term may be `none`."""
        return bool(mortal_types(self.plan.program))

    def fresh(self, prefix: str = "v") -> str:
        self._fresh += 1
        return f"{prefix}{self._fresh}"

    def region(self, size: int) -> str:
        """The name of a new region of the scratch array."""
        name = f"B{len(self.regions)}"
        self.regions[name] = size
        return name

    # ---- truths -------------------------------------------------------------------------------

    def test(self, term: Term, env: Env) -> str:
        """A term as a condition: `none` counts as false."""
        match term:
            case BoolLiteral(value=value):
                return "True" if value else "False"
            case Not(term=inner):
                return f"(not {self.test(inner, env)})"
            case And(terms=terms):
                return "(" + " and ".join(self.test(part, env) for part in terms) + ")"
            case Or(terms=terms):
                return "(" + " or ".join(self.test(part, env) for part in terms) + ")"
            case Implies(left=left, right=right):
                return f"(not {self.test(left, env)} or {self.test(right, env)})"
            case Compare():
                return self._compare(term, env)
            case Member(item=item, collection=collection):
                return self._member(item, collection, env)
            case IsType(term=inner, of=of):
                return f"isa(S, {self.value(inner, env)}, {self.plan.kinds[of]})"
            case Fold(fold=("any" | "all")):
                from tokenworld.engine.rollout.folds import fold_call

                return fold_call(self, term, env)
            case BuiltinCall(name=("busy" | "did")):
                from tokenworld.engine.rollout.calls import deed_test

                return deed_test(self, term, env)
            case LeafTerm() | StateTerm() | NumberTerm() | CompositeTerm():
                return f"({self.value(term, env)} == 1)"
            case _:
                assert_never(term)

    def _compare(self, term: Compare, env: Env) -> str:
        if isinstance(term.left, NoneLiteral) and not isinstance(term.right, NoneLiteral):
            return self._compare(Compare(term.op, term.right, term.left, term.type, term.span), env)
        left = self.value(term.left, env)
        real = is_real(term.left.type)
        if isinstance(term.right, NoneLiteral) and real:
            test = f"isnan({left})"
            return test if term.op == "==" else f"(not {test})"
        right = self.value(term.right, env)
        loose = self.wary or is_optional(term.left.type) or is_optional(term.right.type)
        if real and term.op in ("==", "!=") and loose:
            test = f"alike({left}, {right})"
            return test if term.op == "==" else f"(not {test})"
        if real or term.op in ("==", "!=") or not loose:
            return f"({left} {term.op} {right})"
        if term.op in (">", ">="):
            left, right = right, left
        return f"{'lt' if term.op in ('<', '>') else 'le'}({left}, {right})"

    def _member(self, item: Term, collection: Term, env: Env) -> str:
        left = self.value(item, env)
        match collection:
            case InverseOf(fluent=fluent, of=of, was=was):
                base = self.plan.cell(fluent).base
                return f"same(at({_row(was)}, {base}, {left}), {self.value(of, env)})"
            case ClosureOf(fluent=fluent, of=of, was=was):
                cell = self.plan.cell(fluent)
                end = self.value(of, env)
                if cell.column.by_object:
                    return f"within({_row(was)}, {cell.base}, {left}, {end})"
                return f"leads({_row(was)}, X, {cell.column.index}, {end}, {left})"
            case ListTerm(items=items):
                return self._listed(left, items, env, is_real(item.type))
            case _:
                raise Inexpressible("membership in a chosen collection", collection.span)

    def _listed(self, left: str, items: tuple[Term, ...], env: Env, real: bool) -> str:
        if real or any(is_real(one.type) for one in items):
            raise Inexpressible("a list of reals", items[0].span)
        name = self.fresh("f")
        rest = [f"a{i}" for i in range(len(items))]
        test = " or ".join(f"x == {one}" for one in rest) or "False"
        self.chunks.append(
            f"def {name}(x{''.join(', ' + one for one in rest)}):\n"
            f"    return x != NONE and ({test})\n"
        )
        given = "".join(f", {self.value(one, env)}" for one in items)
        return f"{name}({left}{given})"

    # ---- values -------------------------------------------------------------------------------

    def value(self, term: Term, env: Env, like: ValueType | None = None) -> str:
        """A term as a number: a double if it is real."""
        match term:
            case NumberLiteral(value=value):
                return f"({value})" if value < 0 else repr(value)
            case EnumLiteral(index=index):
                return repr(index)
            case NoneLiteral():
                return "NAN" if like is not None and is_real(like) else "NONE"
            case ObjectLiteral(name=name):
                return repr(self.plan.start.numbers[name])
            case ParamRead(name=name):
                return self._param(name)
            case Local(name=name):
                return env[name].code
            case Me():
                return "me"
            case Read():
                return self._read(term, env)
            case DeriveCall():
                from tokenworld.engine.rollout.calls import derive_call

                return derive_call(self, term, env)
            case BuiltinCall() if not isinstance(term.type, BoolType):
                from tokenworld.engine.rollout.calls import builtin_call

                return builtin_call(self, term, env)
            case Fold() if term.fold not in ("any", "all"):
                from tokenworld.engine.rollout.folds import fold_call

                return fold_call(self, term, env)
            case Choose(condition=condition, then=then, otherwise=otherwise):
                if isinstance(term.type, CollectionType):
                    raise Inexpressible("a choice between collections", term.span)
                one, other = (self.value(part, env, term.type) for part in (then, otherwise))
                return f"({one} if {self.test(condition, env)} else {other})"
            case Arithmetic() | Negate() | Rescale() | ToReal():
                return self._number(term, env)
            case TemplateTerm(template=template):
                parts = [part.text for part in template.parts if isinstance(part, TextPart)]
                if len(parts) != len(template.parts):
                    raise Inexpressible("a text that is put together in play", term.span)
                return repr(self.plan.text("".join(parts)))
            case _ if isinstance(term.type, BoolType):
                return f"(1 if {self.test(term, env)} else 0)"
            case _:
                raise Inexpressible(f"a term of kind {term.kind}", term.span)

    def _param(self, name: str) -> str:
        value = self.plan.engine.instance.params[name]
        if isinstance(value, float):
            return f"({value!r})"
        number = self.plan.encoded(value)
        return "NONE" if number == NONE else f"({number})"

    def _read(self, term: Read, env: Env) -> str:
        cell = self.plan.cell(term.fluent)
        stored = self._stored(term, cell, env)
        single = cell.real and cell.column.single
        return f"real_of({stored})" if single else stored

    def _stored(self, term: Read, cell: Cell, env: Env) -> str:
        row, column = _row(term.was), cell.column
        args = [self.value(arg, env) for arg in term.args]
        if column.single:
            return f"{row}[{cell.base}]"
        if column.by_object:
            if cell.real:
                return f"real_at({row}, {cell.base}, {args[0]})"
            return f"at({row}, {cell.base}, {args[0]})"
        where = self.cell_code(cell, args)
        if column.fluent.type.kind == "bool" and column.default is False:
            return f"fact({row}, {where})"
        if cell.real:
            from tokenworld.engine.rollout.slots import bits_of

            default = column.default
            assert default is None or isinstance(default, (int, float))
            nothing = float("nan") if default is None else float(default)
            return f"real_get({row}, {where}, {bits_of(nothing)})"
        return f"get({row}, {where}, {self.plan.encoded(column.default)})"

    def cell_code(self, cell: Cell, args: list[str]) -> str:
        """The expression of the slot for arguments: -1 if one is `none`."""
        if cell.column.single:
            return repr(cell.base)
        if cell.column.by_object:
            return f"own({cell.base}, {args[0]})"
        if cell.column.fluent.symmetric:
            low, size = cell.spans[0]
            return f"twofold({cell.base}, {args[0]}, {args[1]}, {low}, {size})"
        part = "0"
        for arg, (low, size) in zip(args, cell.spans, strict=True):
            part = f"place({part}, {arg}, {low}, {size})"
        return f"based({cell.base}, {part})"

    # ---- numbers ------------------------------------------------------------------------------

    def loose(self, *terms: Term) -> bool:
        """Whether one of the terms may be `none`."""
        return self.wary or any(is_optional(term.type) for term in terms)

    def _number(self, term: Arithmetic | Negate | Rescale | ToReal, env: Env) -> str:
        if not is_real(term.type):
            self.ranges.of(term, env)  # it fits
        match term:
            case Arithmetic():
                return self._arithmetic(term, env)
            case Negate(term=inner):
                value = self.value(inner, env)
                if is_real(term.type) or not self.loose(inner):
                    return f"(-{value})"
                return f"times({value}, -1)"
            case Rescale(term=inner, digits=digits):
                return f"times({self.value(inner, env)}, {10**digits})"
            case ToReal(term=inner):
                self._exact(inner, env)
                decimals = inner.type.decimals if isinstance(inner.type, NumberType) else 0
                if is_real(inner.type):
                    return self.value(inner, env)
                return f"to_real({self.value(inner, env)}, {10**decimals})"
            case _:
                assert_never(term)

    def _exact(self, term: Term, env: Env) -> None:
        """A whole number that becomes a double must be one exactly."""
        low, high = self.ranges.of(term, env)
        decimals = term.type.decimals if isinstance(term.type, NumberType) else 0
        if max(abs(low), abs(high)) > EXACT_DOUBLE or decimals > 22:
            raise Inexpressible("a number of more than 53 bits becomes a real", term.span)

    def _arithmetic(self, term: Arithmetic, env: Env) -> str:
        left, right = self.value(term.left, env), self.value(term.right, env)
        real = is_real(term.type)
        match term.op:
            case "/":
                return f"over(X, {self._double(term.left, env)}, {self._double(term.right, env)})"
            case "mod" if real:
                return f"real_mod(X, {left}, {right})"
            case "div" if real or is_real(term.left.type):
                raise Inexpressible("`div` of reals", term.span)
            case "div":
                return f"floordiv(X, {left}, {right})"
            case "mod":
                return f"modulo(X, {left}, {right})"
            case _ if real or not self.loose(term.left, term.right):
                return f"({left} {term.op} {right})"
            case _:
                name = {"+": "plus", "-": "minus", "*": "times"}[term.op]
                return f"{name}({left}, {right})"

    def _double(self, term: Term, env: Env) -> str:
        value = self.value(term, env)
        if is_real(term.type):
            return value
        self._exact(term, env)
        return f"to_real({value}, 1)"


def _row(was: bool) -> str:
    return "W" if was else "S"
