"""Loops over bindings: folds as functions of their own, heads of `for` for everything else."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from tokenworld.engine.rollout.expressible import Inexpressible
from tokenworld.engine.rollout.ranges import Env, Var
from tokenworld.engine.rollout.terms import Writer, is_real
from tokenworld.model import (
    Binder,
    ClosureOf,
    CollectionRange,
    EnumType,
    Fold,
    IntervalRange,
    InverseOf,
    ListTerm,
    ObjectType,
    Term,
    TypeRange,
)

__all__ = ["fold_call", "function", "heads", "indented"]

_NAME = re.compile(r"\b[a-z]+\d+\b")


def indented(depth: int, text: str) -> str:
    return "    " * depth + text


def function(writer: Writer, name: str, header: str, lines: Iterable[str]) -> None:
    """Add a generated function."""
    writer.chunks.append("\n".join([f"def {name}({header}):", *lines, ""]))


def heads(
    writer: Writer,
    binders: Sequence[Binder],
    where: Term | None,
    env: Env,
    lines: list[str],
    depth: int,
) -> tuple[dict[str, Var], int]:
    """The ``for`` and ``if`` lines of binders; the variables and the depth inside."""
    inner = dict(env)
    for binder in binders:
        depth, code = _head(writer, binder, inner, lines, depth)
        inner[binder.name] = Var(code, *writer.ranges.binder(binder))
    if where is not None:
        lines.append(indented(depth, f"if {writer.test(where, inner)}:"))
        depth += 1
    return inner, depth


def _head(
    writer: Writer, binder: Binder, env: Env, lines: list[str], depth: int
) -> tuple[int, str]:
    code = writer.fresh()
    match binder.domain:
        case TypeRange(of=ObjectType(name=of)):
            return _objects(writer, of, code, lines, depth), code
        case TypeRange(of=EnumType(name=of)):
            size = len(writer.plan.program.enums[of].members)
            lines.append(indented(depth, f"for {code} in range({size}):"))
            return depth + 1, code
        case IntervalRange(low=low, high=high):
            lines.append(indented(depth, f"for {code} in range({low}, {high + 1}):"))
            return depth + 1, code
        case CollectionRange(collection=collection, only=only):
            depth = _collection(writer, collection, code, env, lines, depth)
            if only is not None:
                kind = writer.plan.kinds[only]
                lines.append(indented(depth, f"if isa(S, {code}, {kind}):"))
                depth += 1
            return depth, code
        case _:
            raise Inexpressible(f"a variable that is a {binder.type.kind}", binder.span)


def _objects(writer: Writer, of: str, code: str, lines: list[str], depth: int) -> int:
    """All live objects of a type, in order of their numbers."""
    members = writer.plan.start.live[of]
    low, high = (members[0], members[-1] + 1) if members else (0, 0)
    dense = len(members) == high - low
    if dense or writer.plan.destroys:
        lines.append(indented(depth, f"for {code} in range({low}, {high}):"))
    else:
        table = writer.fresh("M")
        writer.members[table] = members
        lines.append(indented(depth, f"for {code} in {table}:"))
    if not writer.plan.destroys:
        return depth + 1
    alive = f"S[{writer.plan.kinds_at} + {code}] >= 0"
    test = alive if dense else f"isa(S, {code}, {writer.plan.kinds[of]})"
    lines.append(indented(depth + 1, f"if {test}:"))
    return depth + 2


def _collection(
    writer: Writer, collection: Term, code: str, env: Env, lines: list[str], depth: int
) -> int:
    match collection:
        case InverseOf(fluent=fluent, of=of, was=was):
            cell = writer.plan.cell(fluent)
            row, step = "W" if was else "S", writer.fresh()
            holder = writer.value(of, env)
            lines += [
                indented(depth, f"{step} = first_kid({row}, {cell.column.index}, {holder})"),
                indented(depth, f"for _ in range({writer.plan.objects}):"),
                indented(depth + 1, f"if {step} < 0:"),
                indented(depth + 2, "break"),
                indented(depth + 1, f"{code} = {step}"),
                indented(
                    depth + 1, f"{step} = {row}[{cell.chains + writer.plan.objects} + {code}]"
                ),
            ]
            return depth + 1
        case ClosureOf(fluent=fluent, of=of, was=was):
            cell = writer.plan.cell(fluent)
            row, size, index = "W" if was else "S", writer.fresh(), writer.fresh()
            kernel = "inside" if cell.column.by_object else "reach"
            out = writer.region(writer.plan.objects)
            given = f"{row}, X, {cell.column.index}, {writer.value(of, env)}, {out}"
            lines += [
                indented(depth, f"{size} = {kernel}({given})"),
                indented(depth, f"for {index} in range({size}):"),
                indented(depth + 1, f"{code} = X[{out} + {index}]"),
            ]
            return depth + 1
        case ListTerm(items=items):
            return _list(writer, items, code, env, lines, depth)
        case _:
            raise Inexpressible("a chosen collection", collection.span)


def _list(
    writer: Writer, items: tuple[Term, ...], code: str, env: Env, lines: list[str], depth: int
) -> int:
    if any(is_real(item.type) for item in items):
        raise Inexpressible("a list of reals", items[0].span)
    names = [writer.fresh() for _ in items]
    for name, item in zip(names, items, strict=True):
        lines.append(indented(depth, f"{name} = {writer.value(item, env)}"))
    index = writer.fresh()
    chosen = "NONE"
    for number, name in reversed(list(enumerate(names))):
        chosen = f"({name} if {index} == {number} else {chosen})"
    lines += [
        indented(depth, f"for {index} in range({len(items)}):"),
        indented(depth + 1, f"{code} = {chosen}"),
        indented(depth + 1, f"if {code} != NONE:"),
    ]
    return depth + 2


def fold_call(writer: Writer, term: Fold, env: Env) -> str:
    """The call of the function of a fold."""
    name = writer.fresh("f")
    lines, before, after = list[str](), list[str](), list[str]()
    inner, depth = heads(writer, term.binders, term.where, env, lines, 1)
    _step(writer, term, inner, lines, depth, before, after)
    free = _free([*lines, *before, *after], env)
    header = ", ".join(("S", "W", "X", "me", *free))
    function(writer, name, header, [*before, *lines, *after])
    return f"{name}({header})"


def _free(lines: Sequence[str], env: Env) -> list[str]:
    """The variables of the surroundings that lines use, in order."""
    known = {var.code for var in env.values()}
    used = dict.fromkeys(name for line in lines for name in _NAME.findall(line))
    return [name for name in used if name in known]


def _step(
    writer: Writer,
    term: Fold,
    env: Env,
    lines: list[str],
    depth: int,
    before: list[str],
    after: list[str],
) -> None:
    """What a fold does with each binding, before the first and after the last."""
    value = term.value
    test = "True" if value is None else writer.test(value, env) if _truth(value) else "True"
    match term.fold:
        case "any":
            lines += [indented(depth, f"if {test}:"), indented(depth + 1, "return True")]
            after.append(indented(1, "return False"))
        case "all":
            lines += [indented(depth, f"if not {test}:"), indented(depth + 1, "return False")]
            after.append(indented(1, "return True"))
        case "count":
            before.append(indented(1, "n = 0"))
            lines += [indented(depth, f"if {test}:"), indented(depth + 1, "n += 1")]
            after.append(indented(1, "return n"))
        case _:
            assert value is not None
            _number(writer, term, writer.value(value, env), lines, depth, before, after)


def _truth(term: Term) -> bool:
    return term.type.kind == "bool"


def _number(
    writer: Writer,
    term: Fold,
    value: str,
    lines: list[str],
    depth: int,
    before: list[str],
    after: list[str],
) -> None:
    real = is_real(term.type)
    nothing = "NAN" if real else "NONE"
    absent = "x != x" if real else "x == NONE"
    lines.append(indented(depth, f"x = {value}"))
    match term.fold:
        case "sum":
            before.append(indented(1, "best = 0.0" if real else "best = 0"))
            lines += [
                indented(depth, f"if {absent}:"),
                indented(depth + 1, f"return {nothing}"),
                indented(depth, "best += x"),
            ]
            after.append(indented(1, "return best"))
        case "min" | "max":
            op = "<" if term.fold == "min" else ">"
            before += [indented(1, "n = 0"), indented(1, f"best = {nothing}")]
            lines += [
                indented(depth, f"if {absent}:"),
                indented(depth + 1, f"return {nothing}"),
                indented(depth, f"if n == 0 or x {op} best:"),
                indented(depth + 1, "best = x"),
                indented(depth, "n = 1"),
            ]
            after.append(indented(1, "return best"))
        case "first":
            lines.append(indented(depth, "return x"))
            after.append(indented(1, f"return {nothing}"))
        case _:
            before.append(indented(1, f"best = {nothing}"))
            lines.append(indented(depth, "best = x"))
            after.append(indented(1, "return best"))
