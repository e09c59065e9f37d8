"""A class of statement or term that a reader does not know stops it (no default passes it over)."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest

from tokenworld.check import check_source
from tokenworld.core import lowered
from tokenworld.diagnostics import Source, Span
from tokenworld.diagnostics.frozen import frozen
from tokenworld.engine import Engine, EngineSimulator
from tokenworld.engine.reference import Reference
from tokenworld.engine.rows import RowStepper
from tokenworld.engine.rows.numeric import NumericProgram
from tokenworld.ground import Command, instantiate, param_values
from tokenworld.ground.influence import influences, written
from tokenworld.model import (
    BoolType,
    Draw,
    Effect,
    Program,
    Require,
    Term,
    bodies,
    children,
    deep_subterms,
    effects_in,
    fluents_read,
    map_children,
    subterms,
    targets_of,
    terms_of,
)
from tokenworld.planning.grounding.program import relaxed
from tokenworld.planning.lower.encode import encode
from tokenworld.planning.pddl.export import export_world
from tokenworld.planning.search.interpreted import Limits, Search
from tokenworld.planning.width.relaxed_plan import Relaxation
from tokenworld.prose import EnglishProse
from tokenworld.prose.rulebook import rulebook
from tokenworld.verbs.mutate import mutants
from tokenworld.verbs.test import Coverage

PACKAGE = Path(__file__).parents[2] / "tokenworld"
NODES = frozenset(
    one.__name__ for union in (Effect, Term, Draw) for one in get_args(union)
)  # fmt: skip
FILTERS = {
    "check/analysis/uses.py:_of_change": "walks every node of the model and picks out changes",
    "check/analysis/aliasing.py:_differs": "asks about pairs of terms; any two may be equal",
}
"""Functions whose `match` over nodes need not know them all, each with its reason."""

WORLD = """
type Lamp { lit: bool  level: 0 to 9 clamped }
action light(l: Lamp) { require not l.lit else lit "{The l} is lit."  l.lit = true }
law fade(l: Lamp) when l.lit { l.level += 1 }
world w { object lamp: Lamp  goal g: lamp.level == 3 }
"""
SPAN = Span("test.tw", 0, 0, 1, 1, 1, 1)


@frozen
class UnknownStatement:
    """A statement that no reader knows."""

    span: Span = SPAN
    kind: str = "unknown_statement"


@frozen
class UnknownTerm:
    """A term that no reader knows."""

    type: BoolType = BoolType()
    span: Span = SPAN
    kind: str = "unknown_term"


STATEMENT: Any = UnknownStatement()
TERM: Any = UnknownTerm()


def program() -> Program:
    checked = check_source(Source("test.tw", None, WORLD))
    assert checked.program is not None
    return checked.program


def with_statement() -> Program:
    """The rules with an unknown statement at the end of the action and of the law."""
    plain = program()
    action, law = plain.actions["light"], plain.laws["fade"]
    return replace(
        plain,
        actions={"light": replace(action, body=(*action.body, STATEMENT))},
        laws={"fade": replace(law, body=(*law.body, STATEMENT))},
    )


def with_term() -> Program:
    """The rules with an unknown term as the first require and as the condition of the law."""
    plain = program()
    action, law = plain.actions["light"], plain.laws["fade"]
    guards = tuple(
        replace(one, condition=TERM) if isinstance(one, Require) else one for one in action.guards
    )
    return replace(
        plain,
        actions={"light": replace(action, guards=guards)},
        laws={"fade": replace(law, when=TERM)},
    )


# ---- every `match` ------------------------------------------------------------------------


def class_names(pattern: ast.pattern) -> Iterator[str]:
    """The classes of a pattern as they are written: `Swap`, `m.Swap`."""
    for node in ast.walk(pattern):
        if isinstance(node, ast.MatchClass):
            yield ast.unparse(node.cls)


def names_from_the_model(tree: ast.Module) -> frozenset[str]:
    """The classes of statements, terms and draws as a module writes them."""
    found = set[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tokenworld.model"):
            found |= NODES & {one.asname or one.name for one in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module == "tokenworld":
            aliases = (one.asname or one.name for one in node.names if one.name == "model")
            found |= {f"{alias}.{name}" for alias in aliases for name in NODES}
    return frozenset(found)


def dispatches() -> Iterator[tuple[str, ast.Match]]:
    """Every `match` outside the parser that names a class of statement, term or draw."""
    for path in sorted(PACKAGE.rglob("*.py")):
        file = path.relative_to(PACKAGE).as_posix()
        if file.startswith("syntax/"):
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        known = names_from_the_model(tree)
        for function in ast.walk(tree):
            if isinstance(function, ast.FunctionDef):
                for node in ast.walk(function):
                    if isinstance(node, ast.Match) and any(
                        known & set(class_names(case.pattern)) for case in node.cases
                    ):
                        yield f"{file}:{function.name}", node


def stops(match: ast.Match) -> bool:
    """Whether what no case takes is refused: the last case is `_` and raises."""
    last = match.cases[-1]
    if not isinstance(last.pattern, ast.MatchAs) or last.pattern.pattern is not None:
        return False
    first = last.body[0]
    return isinstance(first, ast.Raise) or (
        isinstance(first, ast.Expr) and ast.unparse(first).startswith("assert_never(")
    )


def test_every_match_over_nodes_refuses_what_it_does_not_know() -> None:
    found = list(dispatches())
    assert len(found) > 60
    silent = {place for place, match in found if not stops(match)}
    assert silent == set(FILTERS)


# ---- the readers, with a node they do not know ----------------------------------------------


def engine(of: Program) -> Engine:
    world = of.worlds["w"]
    return Engine(instantiate(of, world, param_values(of, world, {})), EnglishProse())


def played(of: Program) -> object:
    made = engine(of)
    return made.play(made.start(), Command("light", (0,)))


def referred(of: Program) -> object:
    made = Reference(engine(of).instance, EnglishProse())
    return made.play(made.start(), Command("light", (0,)))


def encoded(of: Program) -> object:
    plain = EngineSimulator(engine(program()))
    return encode(engine(of).instance, plain, plain.start(), None)


def exported(of: Program) -> object:
    made = EngineSimulator(engine(of))
    return export_world(made, made.start(), None)


def searched(of: Program) -> object:
    made = EngineSimulator(engine(of))
    return Search(made, made.start(), None).run(Limits(100, 10.0))


def novel(of: Program) -> object:
    made = EngineSimulator(engine(of))
    return Relaxation(made, lowered(of).worlds["w"].goals).relevant(made.start())


def compiled(of: Program) -> object:
    world = engine(of)
    stepper = RowStepper(world.instance, world.layout, EnglishProse(), world.start(), quiet=True)
    return NumericProgram.of(stepper.slots)


STATEMENTS: dict[str, Callable[[], object]] = {
    "bodies": lambda: bodies(STATEMENT),
    "effects_in": lambda: list(effects_in((STATEMENT,))),
    "targets_of": lambda: targets_of(STATEMENT),
    "terms_of": lambda: terms_of(STATEMENT),
    "written": lambda: written((STATEMENT,)),
}
TERMS: dict[str, Callable[[], object]] = {
    "children": lambda: children(TERM),
    "subterms": lambda: list(subterms(TERM)),
    "deep_subterms": lambda: list(deep_subterms([TERM], {})),
    "fluents_read": lambda: fluents_read([TERM], {}),
    "map_children": lambda: map_children(TERM, lambda part: part),
}
READERS: dict[str, Callable[[Program], object]] = {
    "engine": played,
    "reference": referred,
    "encoding": encoded,
    "grounding": lambda of: relaxed(engine(of).instance),
    "influence": lambda of: influences(of, of.worlds["w"]),
    "pddl": exported,
    "compiled": compiled,
    "search": searched,
    "width": novel,
    "rulebook": rulebook,
    "mutation": lambda of: list(mutants(of)),
}
UNKNOWN = (AssertionError, KeyError, TypeError)


@pytest.mark.parametrize("name", [*STATEMENTS, *TERMS])
def test_a_walk_refuses_an_unknown_node(name: str) -> None:
    with pytest.raises(UNKNOWN):
        (STATEMENTS | TERMS)[name]()


@pytest.mark.parametrize("name", READERS)
def test_a_reader_reads_the_rules_as_they_are(name: str) -> None:
    READERS[name](program())


@pytest.mark.parametrize("name", READERS)
def test_a_reader_refuses_an_unknown_statement(name: str) -> None:
    with pytest.raises(UNKNOWN):
        READERS[name](with_statement())


@pytest.mark.parametrize("name", READERS)
def test_a_reader_refuses_an_unknown_term(name: str) -> None:
    with pytest.raises(UNKNOWN):
        READERS[name](with_term())


def test_coverage_refuses_an_unknown_statement() -> None:
    with pytest.raises(UNKNOWN):
        Coverage().instrument(with_statement())
