"""A class of statement or term that a reader does not know stops it: `test_dispatch.py` reads the
code for that, and this runs the readers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tokenworld.check import check_source
from tokenworld.core import lowered
from tokenworld.diagnostics import Source, Span
from tokenworld.diagnostics.frozen import frozen
from tokenworld.engine import Engine, EngineSimulator
from tokenworld.engine.reference import Reference
from tokenworld.engine.rows import RowStepper
from tokenworld.engine.rows.code.numeric import NumericProgram
from tokenworld.ground import Command, instantiate, param_values
from tokenworld.ground.influence import influences, written
from tokenworld.model import (
    BoolType,
    Program,
    Require,
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
from tokenworld.prose.rulebook import rulebook
from tokenworld.prose.wording import EnglishProse
from tokenworld.verbs.coverage import Coverage
from tokenworld.verbs.mutate import mutants

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
