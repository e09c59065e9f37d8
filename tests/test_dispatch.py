"""Every dispatch over a closed union names all its classes, so that a new class is not overlooked.

A union is closed where `core`, `model` or the syntax tree declare it (`Term = Read | Call | …`). A
`match` (or a row of `isinstance` tests) that names three or more classes of one union is a dispatch
over it; over the statements and terms of the model it is one with the first class that it names. It
ends in ``assert_never``, which `mypy` accepts only where every class is named, or hands the rest to
a function of its module that does. A match on a pair, or with fewer classes, asks a question about
these alone.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import house

HOMES = ("tokenworld.core", "tokenworld.model", "tokenworld.syntax")
"""The packages with the classes of the checked program and of the syntax tree."""
LEAST_CLASSES = 3
ONE_IS_ENOUGH = ("tokenworld.model.Effect", "tokenworld.model.Term", "tokenworld.model.Draw")
LEAST_TESTS = 4


def _home(module: str) -> str | None:
    package = ".".join(module.split(".")[:2])
    return package if package in HOMES else None


@cache
def unions() -> Mapping[str, frozenset[str]]:
    """The classes of each closed union, and of each base class, as ``package.Class``."""
    found: dict[str, frozenset[str]] = {}
    written: dict[str, ast.expr] = {}
    below: dict[str, set[str]] = {}
    for module, tree in house.trees().items():
        home = _home(module)
        for node in tree.body if home is not None else ():
            if isinstance(node, ast.ClassDef):
                found[f"{home}.{node.name}"] = frozenset({f"{home}.{node.name}"})
                for base in node.bases:
                    if isinstance(base, ast.Name):
                        below.setdefault(f"{home}.{base.id}", set()).add(f"{home}.{node.name}")
            elif isinstance(node, ast.Assign) and isinstance(
                union := _union(node.value), ast.BinOp
            ):
                written[f"{home}.{ast.unparse(node.targets[0])}"] = union
    names = imported()
    for union, value in written.items():
        home = union.rpartition(".")[0]
        known = {**names.get(f"{home}.nodes", {}), **{n.rpartition(".")[2]: n for n in found
                                                      if n.startswith(f"{home}.")}}  # fmt: skip
        found[union] = frozenset(_members(value, known, written, home))
    for base, classes in below.items():
        if not base.endswith(".Node"):
            found[base] = frozenset(classes)
    return found


def _union(value: ast.expr) -> ast.expr:
    """The union in ``Annotated[A | B, ByKind]``; any other value as it is."""
    annotated = isinstance(value, ast.Subscript) and ast.unparse(value.value) == "Annotated"
    if annotated and isinstance(value.slice, ast.Tuple):
        return value.slice.elts[0]
    return value


def _members(
    value: ast.expr, known: Mapping[str, str], written: Mapping[str, ast.expr], home: str
) -> Iterator[str]:
    if isinstance(value, ast.BinOp):
        yield from _members(value.left, known, written, home)
        yield from _members(value.right, known, written, home)
    elif isinstance(value, ast.Name) and f"{home}.{value.id}" in written:
        yield from _members(written[f"{home}.{value.id}"], known, written, home)
    elif isinstance(value, ast.Name) and value.id in known:
        yield known[value.id]
    elif isinstance(value, ast.Attribute) and ast.unparse(value.value) in known:
        yield f"{known[ast.unparse(value.value)]}.{value.attr}"


@cache
def imported() -> Mapping[str, Mapping[str, str]]:
    """By module, what its names mean: ``package.Class``, or a package (`m`, `core`, `syn`)."""
    found: dict[str, dict[str, str]] = {}
    for module, tree in house.trees().items():
        names = found.setdefault(module, {})
        home = _home(module)
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module is not None:
                for one in node.names:
                    place = _home(f"{node.module}.{one.name}")
                    inner = f"{node.module}.{one.name}" in house.trees()
                    if place is not None:
                        names[one.asname or one.name] = place if inner else f"{place}.{one.name}"
            elif isinstance(node, ast.ClassDef) and home is not None:
                names[node.name] = f"{home}.{node.name}"
    return found


@dataclass(frozen=True)
class Dispatch:
    """A `match` or a row of `isinstance` tests: where it stands, and the classes it names."""

    module: str
    line: int
    function: str
    classes: frozenset[str]
    closed: bool
    is_match: bool = True

    def __str__(self) -> str:
        return f"{self.module}:{self.line} {self.function}"

    def _least(self, union: str) -> int:
        return 1 if self.is_match and union in ONE_IS_ENOUGH else LEAST_CLASSES

    @property
    def unions(self) -> tuple[str, ...]:
        """The unions that it dispatches over."""
        return tuple(
            name
            for name, members in unions().items()
            if len(self.classes & members) >= self._least(name)
        )


def dispatches(module: str, tree: ast.Module) -> Iterator[Dispatch]:
    """Every dispatch of a module over classes of closed unions."""
    names = imported().get(module, {})
    functions = [one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef)]
    for function in functions:
        for node in _own_nodes(function):
            if isinstance(node, ast.Match) and not isinstance(node.subject, ast.Tuple):
                classes = frozenset(_named(node, names))
                closed = _is_closed(node, functions)
                yield Dispatch(module, node.lineno, function.name, classes, closed)
            for body in (getattr(node, "body", None), getattr(node, "orelse", None)):
                for line, classes, closed in _rows(body if isinstance(body, list) else [], names):
                    yield Dispatch(module, line, function.name, classes, closed, is_match=False)


def _own_nodes(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """The nodes of a function that have statements, those of functions in it left out."""
    todo: list[ast.AST] = [function]
    while todo:
        node = todo.pop()
        yield node
        for one in ast.iter_child_nodes(node):
            inner = isinstance(one, ast.stmt | ast.match_case | ast.excepthandler)
            if inner and not isinstance(one, ast.FunctionDef):
                todo.append(one)


def _named(match: ast.Match, names: Mapping[str, str]) -> Iterator[str]:
    for case in match.cases:
        for pattern in _alternatives(case.pattern):
            if isinstance(pattern, ast.MatchClass):
                yield from _resolved(pattern.cls, names)


def _alternatives(pattern: ast.pattern) -> Iterator[ast.pattern]:
    if isinstance(pattern, ast.MatchOr):
        for one in pattern.patterns:
            yield from _alternatives(one)
    elif isinstance(pattern, ast.MatchAs) and pattern.pattern is not None:
        yield from _alternatives(pattern.pattern)
    else:
        yield pattern


def _resolved(node: ast.expr, names: Mapping[str, str]) -> Iterator[str]:
    """The classes that a name, ``m.Class``, a tuple or ``A | B`` stands for."""
    if isinstance(node, ast.Name):
        yield from unions().get(names.get(node.id, ""), ())
    elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        yield from unions().get(f"{names.get(node.value.id, '')}.{node.attr}", ())
    elif isinstance(node, ast.Tuple):
        for one in node.elts:
            yield from _resolved(one, names)
    elif isinstance(node, ast.BinOp):
        yield from _resolved(node.left, names)
        yield from _resolved(node.right, names)


def _is_closed(match: ast.Match, functions: Sequence[ast.FunctionDef]) -> bool:
    """Whether the last case takes everything that is left, and takes it for impossible."""
    last = match.cases[-1]
    if not (isinstance(last.pattern, ast.MatchAs) and last.pattern.pattern is None):
        return False
    call = next((one for one in ast.walk(last.body[-1]) if isinstance(one, ast.Call)), None)
    if call is None:
        return False
    called, subject = ast.unparse(call.func).removeprefix("self."), ast.unparse(match.subject)
    if called == "assert_never":
        return True
    given = [ast.unparse(arg) for arg in call.args]
    asked = [one for one in functions if one.name == called] if subject in given else []
    return bool(asked) and all(_closes(one, given.index(subject), functions) for one in asked)


def _closes(function: ast.FunctionDef, position: int, functions: Sequence[ast.FunctionDef]) -> bool:
    """Whether a function dispatches over its parameter and names all classes."""
    params = [arg.arg for arg in function.args.args if arg.arg != "self"]
    return any(
        isinstance(node, ast.Match)
        and ast.unparse(node.subject) == params[position]
        and _is_closed(node, functions)
        for node in _own_nodes(function)
    )


def _rows(
    body: list[ast.stmt], names: Mapping[str, str]
) -> Iterator[tuple[int, frozenset[str], bool]]:
    """The rows of `isinstance` tests of one value: statements that follow each other."""
    row: list[tuple[str, frozenset[str]]] = []
    line = 0
    for statement in (*body, None):
        tests = list(_chain(statement, names)) if isinstance(statement, ast.If) else []
        if row and (not tests or tests[0][0] != row[0][0]):
            if len(row) >= LEAST_TESTS:
                yield line, frozenset[str]().union(*(some for _, some in row)), _refuses(statement)
            row = []
        if tests and not row and statement is not None:
            line = statement.lineno
        row += tests


def _chain(test: ast.If, names: Mapping[str, str]) -> Iterator[tuple[str, frozenset[str]]]:
    """The value and the classes of each test of ``if isinstance(…): … elif isinstance(…): …``."""
    while True:
        parts = test.test.values if isinstance(test.test, ast.BoolOp) else [test.test]
        first = parts[0]
        if not (isinstance(first, ast.Call) and ast.unparse(first.func) == "isinstance"):
            return
        yield ast.unparse(first.args[0]), frozenset(_resolved(first.args[1], names))
        if len(test.orelse) != 1 or not isinstance(test.orelse[0], ast.If):
            return
        test = test.orelse[0]


def _refuses(statement: ast.stmt | None) -> bool:
    return statement is not None and ast.unparse(statement).startswith("assert_never(")


@cache
def every() -> tuple[Dispatch, ...]:
    return tuple(one for module, tree in house.trees().items() for one in dispatches(module, tree))


def test_the_unions_are_found() -> None:
    found = unions()
    assert len(found["tokenworld.core.Term"]) == 13
    assert "tokenworld.model.Swap" in found["tokenworld.model.Effect"]
    assert "tokenworld.model.TypeRange" in found["tokenworld.core.Domain"]
    assert len(found["tokenworld.syntax.Item"]) > 25
    assert found["tokenworld.model.LogicTerm"] < found["tokenworld.model.Term"]


def test_every_dispatch_over_a_closed_union_names_all_classes() -> None:
    over = [one for one in every() if one.unions]
    assert len(over) > 100
    assert not [str(one) for one in over if not one.closed]


FORGETFUL = """
from typing import assert_never
from tokenworld import model as m
from tokenworld.core.nodes import Constant, Read, Variable

def types(kind: m.ValueType) -> int:
    match kind:
        case m.BoolType() | m.EnumType():
            return 1
        case m.NumberType(low=None):
            return 2
        case {last}

def terms(term: Term) -> int:
    match term:
        case Constant():
            return 1
        case _:
            return rest(term)

def rest(term: Read | Variable | Actor) -> int:
    match term:
        case Variable() | Read():
            return 2
        case _:
            assert_never(term)
"""


@pytest.mark.parametrize(
    ("last", "closed"),
    [("_:\n            return 3", False), ("_:\n            assert_never(kind)", True),
     ("m.TextType():\n            return 3", False)],
)  # fmt: skip
def test_a_forgetful_dispatch_is_found(
    last: str, closed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = ast.parse(FORGETFUL.format(last=last))
    kept = house.trees()
    monkeypatch.setattr(house, "trees", lambda: {**kept, "sample": tree})
    imported.cache_clear()
    try:
        found = {one.function: one for one in dispatches("sample", tree)}
    finally:
        monkeypatch.undo()
        imported.cache_clear()
    assert "tokenworld.model.ValueType" in found["types"].unions
    assert found["types"].closed is closed
    assert found["terms"].closed
    assert found["rest"].classes == {"tokenworld.core.Variable", "tokenworld.core.Read"}


def test_a_row_of_tests_is_a_dispatch() -> None:
    text = """
from tokenworld.model import BoolType, EnumType, RealType, TextType
def told(kind):
    if isinstance(kind, BoolType):
        return 1
    if isinstance(kind, EnumType) and kind.optional:
        return 2
    if isinstance(kind, (RealType, TextType)):
        return 3
    if isinstance(kind, TextType):
        return 4
    return 5
"""
    tree = ast.parse(text)
    (function,) = (one for one in tree.body if isinstance(one, ast.FunctionDef))
    (row,) = _rows(function.body,
                    {n: f"tokenworld.model.{n}" for n in ("BoolType", "EnumType", "RealType",
                                                          "TextType")})  # fmt: skip
    assert len(row[1]) == 4
    assert not row[2]
