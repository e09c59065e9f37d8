"""Calls of derives and of built-in functions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from tokenworld.engine.rollout.expressible import Inexpressible
from tokenworld.engine.rollout.folds import function, heads, indented
from tokenworld.engine.rollout.ranges import Env, Var
from tokenworld.engine.rollout.terms import Writer, is_real
from tokenworld.model import (
    BuiltinCall,
    CompositeTerm,
    Derive,
    DeriveCall,
    LeafTerm,
    LogicTerm,
    NumberLiteral,
    NumberTerm,
    NumberType,
    ParamRead,
    StateTerm,
    Term,
    TestTerm,
)

__all__ = ["builtin_call", "deed_test", "derive_call"]


# ---- derives --------------------------------------------------------------------------------


def derive_call(writer: Writer, term: DeriveCall, env: Env) -> str:
    """The call of a derive; its function is made where it is first called."""
    derive = writer.plan.program.derives[term.derive]
    given = "".join(
        f", {writer.value(arg, env, binder.type)}"
        for arg, binder in zip(term.args, derive.params, strict=True)
    )
    row = "W" if term.was else "S"
    if term.derive in writer.growing:
        if term.was:
            raise Inexpressible("a recursive derive that looks back", term.span)
        return f"{writer.derives[term.derive]}_row({row}, X{given})"
    if term.derive not in writer.derives:
        if derive.recursive:
            _stratum(writer, derive)
        else:
            _derive(writer, derive)
    return f"{writer.derives[term.derive]}({row}, W, X, me{given})"


def _params(writer: Writer, derive: Derive) -> dict[str, Var]:
    return {
        binder.name: Var(
            writer.fresh("r" if is_real(binder.type) else "a"), *writer.ranges.binder(binder)
        )
        for binder in derive.params
    }


def _derive(writer: Writer, derive: Derive) -> None:
    name = writer.derives[derive.name] = writer.fresh("d")
    env = _params(writer, derive)
    truth = derive.type.kind == "bool"
    nothing = "0" if truth else "NAN" if is_real(derive.type) else "NONE"
    lines = []
    if env:
        absent = " or ".join(
            f"isnan({var.code})" if var.code.startswith("r") else f"{var.code} == NONE"
            for var in env.values()
        )
        lines = [indented(1, f"if {absent}:"), indented(2, f"return {nothing}")]
    value = writer.value(derive.value, env, derive.type)
    if truth:
        value = f"(1 if {writer.test(derive.value, env)} else 0)"
    lines.append(indented(1, f"return {value}"))
    function(writer, name, ", ".join(("S", "W", "X", "me", *_codes(env))), lines)


def _codes(env: Mapping[str, Var]) -> list[str]:
    return [var.code for var in env.values()]


def _strata(writer: Writer) -> Mapping[str, tuple[str, ...]]:
    found: Mapping[str, tuple[str, ...]] = writer.plan.engine.code.space["STRATA"]
    return found


def _stratum(writer: Writer, derive: Derive) -> None:
    """The functions of derives that use each other: they grow together from nothing."""
    derives = writer.plan.program.derives
    names = _strata(writer)[derive.name]
    grow, memo = writer.fresh("g"), writer.memos
    writer.memos += 2
    tables: dict[str, tuple[str, int]] = {}
    for one in names:
        writer.derives[one] = writer.fresh("d")
        tables[one] = _table(writer, derives[one])
    lines, growth = list[str](), list[str]()
    outer, writer.growing = writer.growing, frozenset(names)
    for one in names:
        _grower(writer, derives[one], tables[one], growth)
    writer.growing = outer
    lines += [
        indented(1, f"m = MEMO + {memo} + S[0]"),
        indented(1, "known = me if me >= 0 else -2"),
        indented(1, "if X[m] == known:"),
        indented(2, "return"),
    ]
    for table, size in tables.values():
        lines += [
            indented(1, f"for i in range({size}):"),
            indented(2, f"X[{table} + S[0] * {size} + i] = 0"),
        ]
    lines += [indented(1, "growing = True"), indented(1, "while growing:")]
    lines += [indented(2, "growing = False"), *growth]
    lines.append(indented(1, "X[m] = known"))
    function(writer, grow, "S, W, X, me", lines)
    for one in names:
        codes = ", ".join(_codes(_params(writer, derives[one])))
        extra = f", {codes}" if codes else ""
        function(
            writer,
            writer.derives[one],
            f"S, W, X, me{extra}",
            [indented(1, f"{grow}(S, W, X, me)"),
             indented(1, f"return {writer.derives[one]}_row(S, X{extra})")],
        )  # fmt: skip


def _table(writer: Writer, derive: Derive) -> tuple[str, int]:
    """The region of a derive's table, now and before, and the function that reads it."""
    plan = writer.plan
    spans = [plan.span(binder.type, derive.span) for binder in derive.params]
    size = 1
    for _, one in spans:
        size *= one
    if size > 100_000:
        raise Inexpressible(f"a recursive derive over {size} rows", derive.span)
    region = writer.region(2 * size)
    codes = [f"a{i}" for i in range(len(spans))]
    part = "0"
    for code, (low, one) in zip(codes, spans, strict=True):
        part = f"place({part}, {code}, {low}, {one})"
    extra = "".join(f", {code}" for code in codes)
    function(
        writer,
        f"{writer.derives[derive.name]}_row",
        f"S, X{extra}",
        [indented(1, f"i = {part}"),
         indented(1, f"return X[{region} + S[0] * {size} + i] if i >= 0 else 0")],
    )  # fmt: skip
    return region, size


def _grower(writer: Writer, derive: Derive, table: tuple[str, int], lines: list[str]) -> None:
    """Each row of a derive that is not yet true, and now is."""
    region, size = table
    inner, depth = heads(writer, derive.params, None, {}, lines, 2)
    given = [inner[binder.name].code for binder in derive.params]
    spans = [writer.plan.span(binder.type, derive.span) for binder in derive.params]
    part = "0"
    for code, (low, one) in zip(given, spans, strict=True):
        part = f"place({part}, {code}, {low}, {one})"
    index = writer.fresh()
    lines.append(indented(depth, f"{index} = {region} + S[0] * {size} + {part}"))
    test = writer.test(derive.value, inner)
    lines += [
        indented(depth, f"if X[{index}] == 0 and {test}:"),
        indented(depth + 1, f"X[{index}] = 1"),
        indented(depth + 1, "growing = True"),
    ]


# ---- built-in functions ---------------------------------------------------------------------


def deed_test(writer: Writer, term: BuiltinCall, env: Env) -> str:
    """`busy` and `did`."""
    plan = writer.plan
    who = writer.value(term.args[0], env) if term.args else "me"
    act = -1
    if term.detail:
        act = [action.name for action in plan.actions].index(term.detail)
    if term.name == "busy":
        return f"busy(S, {who}, {act})"
    given = [writer.value(arg, env) for arg in term.args[1:]]
    args = "".join(f", {one}" for one in given)
    name = f"did_{len(given)}"
    if not any(chunk.startswith(f"def {name}(") for chunk in writer.chunks):
        codes = [f"a{i}" for i in range(len(given))]
        tests = "".join(f" and S[s + {i + 1}] == {code}" for i, code in enumerate(codes))
        function(
            writer,
            name,
            ", ".join(("S", "who", "act", *codes)),
            [indented(1, "s = deeds_of(S, who)"),
             indented(1, f"return s >= 0 and S[s] == act{tests}")],
        )  # fmt: skip
    return f"{name}(S, {who}, {act}{args})"


def builtin_call(writer: Writer, term: BuiltinCall, env: Env) -> str:
    """A built-in function with a number as its value."""
    args = [writer.value(arg, env) for arg in term.args]
    match term.name:
        case "tick":
            return "S[1]"
        case "id":
            return args[0]
        case "next" | "prev":
            size = len(writer.plan.program.enums[term.detail].members)
            return f"ladder({args[0]}, {1 if term.name == 'next' else -1}, {size})"
        case "score":
            return _score(writer, term)
        case _:
            if not is_real(term.type):
                writer.ranges.of(term, env)
            return _numeric(writer, term, args)


def _score(writer: Writer, term: BuiltinCall) -> str:
    world = writer.plan.world
    parts = [one.amount for one in world.awards]
    kinds = [one.type for one in (*parts, *((world.score,) if world.score else ()))]
    if any(not isinstance(kind, NumberType) or kind.decimals for kind in kinds):
        raise Inexpressible("a rule that reads a score with decimals", term.span)
    return "score_of(S, W, X, me)"


def _numeric(writer: Writer, term: BuiltinCall, args: list[str]) -> str:
    real = is_real(term.type) or (bool(term.args) and is_real(term.args[0].type))
    prefix = "real_" if real else ""
    match term.name:
        case "min" | "max":
            call = f"{prefix}{'lesser' if term.name == 'min' else 'greater'}"
            result = args[0]
            for arg in args[1:]:
                result = f"{call}({result}, {arg})"
            return result
        case "clamp":
            return f"{prefix}lesser({prefix}greater({args[0]}, {args[1]}), {args[2]})"
        case "abs":
            return f"abs({args[0]})" if real else f"absolute({args[0]})"
        case "toward" | "sign":
            return f"{prefix}{term.name}({', '.join(args)})"
        case "pi":
            return "3.141592653589793"
        case "pow":
            return f"power(X, {args[0]}, {args[1]})"
        case "floor" | "round":
            return _rounded(writer, term, args)
        case "sqrt" | "sin" | "cos" | "exp" | "log":
            names = {"sqrt": "root", "sin": "sine", "cos": "cosine", "exp": "exponential",
                     "log": "logarithm"}  # fmt: skip
            return f"{names[term.name]}(X, {args[0]})"
        case _:
            raise Inexpressible(f"`{term.name}`", term.span)


def _rounded(writer: Writer, term: BuiltinCall, args: list[str]) -> str:
    kind = term.args[0].type
    digits = 0 if term.name == "floor" else _constant(writer, term.args[1])
    if is_real(kind):
        if term.name == "floor":
            return f"round_down(X, {args[0]})"
        if not 0 <= digits <= 2:
            raise Inexpressible("`round` to more than two digits", term.span)
        return f"round_real(X, {args[0]}, {10**digits})"
    decimals = kind.decimals if isinstance(kind, NumberType) else 0
    if term.name == "floor":
        return f"floordiv(X, {args[0]}, {10**decimals})"
    if digits >= decimals:
        return f"times({args[0]}, {10 ** (digits - decimals)})"
    return f"round_half({args[0]}, {10 ** (decimals - digits)})"


def _constant(writer: Writer, term: Term) -> int:
    match term:
        case NumberLiteral(value=value):
            return value
        case ParamRead(name=name):
            value_ = writer.plan.engine.instance.params[name]
            if isinstance(value_, int):
                return value_
        case LeafTerm() | StateTerm() | LogicTerm() | TestTerm() | NumberTerm() | CompositeTerm():
            pass
        case _:
            assert_never(term)
    raise Inexpressible("`round` to a number of digits that depends on the state", term.span)
