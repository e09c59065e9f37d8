"""Every dispatch over a closed union names all its classes, so that a new class is not overlooked.

A union is closed where `core`, `model` or the syntax tree declare it (`Term = Read | Call | …`). A
`match` (or a row of `isinstance` tests) that names three or more classes of one union is a dispatch
over it; over the statements and terms of the model it is one with the first class that it names. It
ends in ``assert_never``, which `mypy` accepts only where every class is named, or hands the rest to
a function of its module that does. A match with fewer classes asks a question about these alone.

The same holds for a match on a field that has one of several words (`Call.op`, `Outcome.status`) if
it names four of them or more, and for a match on a pair; `OPEN` lists the others with the reason.
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


# ---- pairs and words ------------------------------------------------------------------------

OPEN = {
    "check.beliefs.experts _surely_inside": "a value that is no literal is tested in the rule",
    "check.phrases overlap": "slots of other types are compared by the words of their values",
    "check.typing.advice of_place": "the general hint fits each type",
    "check.typing.types _join_present": "other types have a join only if they are equal",
    "check.typing.types assignable": "other types take values of their own class",
    "check.typing.types can_equal": "values of other types can equal those of their own class",
    "engine.rows.code.terms call": "`_calculation` names the operators on numbers",
    "planning.grounding.conditions call": "a condition that is not judged is taken to hold",
    "planning.lower.terms _called": "an operator without a function is an obstacle",
    "planning.lower.terms call": "`_called` has the rest",
    "planning.pddl.terms _computed": "`choose_number` refuses the operators that it does not know",
    "play.model.game _state_of": "an outcome with texts of the world needs no word",
}
"""By module and function, why a match on a pair or on words needs no case for a new one."""


def pairs(module: str, tree: ast.Module) -> Iterator[Dispatch]:
    """Every match on a pair that names four classes of one union or more."""
    names = imported().get(module, {})
    functions = [one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef)]
    for function in functions:
        for node in _own_nodes(function):
            if isinstance(node, ast.Match) and isinstance(node.subject, ast.Tuple):
                inside = [one.cls for case in node.cases for one in ast.walk(case.pattern)
                          if isinstance(one, ast.MatchClass)]  # fmt: skip
                classes = frozenset(name for one in inside for name in _resolved(one, names))
                closed = _is_closed(node, functions)
                if any(len(classes & union) >= LEAST_TESTS for union in unions().values()):
                    yield Dispatch(module, node.lineno, function.name, classes, closed)


@cache
def vocabularies() -> Mapping[str, frozenset[frozenset[str]]]:
    """By the name of a field, the sets of words that the classes with this field allow."""
    aliases: dict[str, list[ast.expr]] = {}
    fields: list[tuple[str, ast.expr]] = []
    for tree in house.trees().values():
        for node in tree.body:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                aliases.setdefault(node.targets[0].id, []).append(node.value)
            elif isinstance(node, ast.ClassDef):
                fields += [(ast.unparse(one.target), one.annotation) for one in node.body
                           if isinstance(one, ast.AnnAssign)]  # fmt: skip
    found: dict[str, set[frozenset[str]]] = {}
    for name, annotation in fields:
        words = frozenset(_words(annotation, aliases))
        if len(words) > 1:
            found.setdefault(name, set()).add(words)
    return {name: frozenset(sets) for name, sets in found.items()}


def _words(kind: ast.expr, aliases: Mapping[str, Sequence[ast.expr]]) -> Iterator[str]:
    """The words of ``Literal["a", "b"]``, of its alias, and of a union of them."""
    if isinstance(kind, ast.Subscript) and ast.unparse(kind.value) == "Literal":
        for one in ast.walk(kind.slice):
            if isinstance(one, ast.Constant) and isinstance(one.value, str):
                yield one.value
    elif isinstance(kind, ast.BinOp):
        yield from _words(kind.left, aliases)
        yield from _words(kind.right, aliases)
    elif isinstance(kind, ast.Name | ast.Attribute):
        name = ast.unparse(kind).rpartition(".")[2]
        rest = {one: of for one, of in aliases.items() if one != name}
        for value in aliases.get(name, ()):
            yield from _words(value, rest)


def word_matches(module: str, tree: ast.Module) -> Iterator[Dispatch]:
    """Every match that names four or more words of a field, with these words."""
    functions = [one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef)]
    for function in functions:
        for node in _own_nodes(function):
            if isinstance(node, ast.Match):
                words = frozenset(_matched_words(node))
                field = ast.unparse(node.subject).rpartition(".")[2]
                if len(words) >= LEAST_TESTS and any(
                    words <= one for one in vocabularies().get(field, ())
                ):
                    closed = _names_all_words(node, function, functions)
                    yield Dispatch(module, node.lineno, function.name, words, closed)


def _names_all_words(
    match: ast.Match, function: ast.FunctionDef, functions: Sequence[ast.FunctionDef]
) -> bool:
    """Whether mypy or a refusal at the end finds a word that no case names.

    Without a last case for the rest, `mypy` misses a ``return`` after the match.
    """
    last = match.cases[-1]
    if not (isinstance(last.pattern, ast.MatchAs) and last.pattern.pattern is None):
        return function.body[-1] is match and ast.unparse(function.returns or match) != "None"
    if _is_closed(match, functions):
        return True
    owner = ast.unparse(match.subject).rpartition(".")[0]
    for call in ast.walk(last.body[-1]):
        if isinstance(call, ast.Call) and owner in map(ast.unparse, call.args):
            called = ast.unparse(call.func).removeprefix("self.")
            asked = [one for one in functions if one.name == called]
            return any(
                isinstance(node, ast.Match) and _names_all_words(node, one, functions)
                for one in asked
                for node in _own_nodes(one)
            )
    return False


def _matched_words(match: ast.Match) -> Iterator[str]:
    for case in match.cases:
        for one in _alternatives(case.pattern):
            if isinstance(one, ast.MatchValue) and isinstance(one.value, ast.Constant):
                yield str(one.value.value)


def _is_closed(match: ast.Match, functions: Sequence[ast.FunctionDef]) -> bool:
    """Whether the last case takes everything that is left, and takes it for impossible."""
    last = match.cases[-1]
    if not (isinstance(last.pattern, ast.MatchAs) and last.pattern.pattern is None):
        return False
    if isinstance(last.body[-1], ast.Raise):
        return True
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


def test_every_match_on_a_pair_or_on_words_is_closed_or_has_a_reason() -> None:
    found = [
        one
        for module, tree in house.trees().items()
        for one in (*pairs(module, tree), *word_matches(module, tree))
    ]
    assert len(found) > 40
    named = {f"{one.module.removeprefix('tokenworld.')} {one.function}" for one in found
             if not one.closed}  # fmt: skip
    assert named == set(OPEN)


def test_the_words_of_fields_are_found() -> None:
    operators, *_ = (one for one in vocabularies()["op"] if "scale" in one)
    assert {"not", "mod", "abs", "number"} <= operators
    assert any("rolled_back" in one for one in vocabularies()["status"])


WORDS = """
def short(term):
    match term.op:
        case "+" | "-" | "*":
            return 1
        case "mod":
            return 2
        case _:
            {rest}

def long(term, args):
    match term.op:
        case "and" | "or" | "not" | "in":
            return 3
        case _:
            return short(term)
"""


@pytest.mark.parametrize(
    ("rest", "closed"), [("return 3", False), ("raise ValueError(term.op)", True)]
)
def test_a_match_on_words_that_takes_the_rest_is_found(rest: str, closed: bool) -> None:
    found = word_matches("sample", ast.parse(WORDS.format(rest=rest)))
    assert [(one.function, one.closed) for one in found] == [("short", closed), ("long", closed)]


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
