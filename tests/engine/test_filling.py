"""Whole columns of literals come to what putting one field after another comes to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tokenworld.check import check_source
from tokenworld.diagnostics import Source, read_source
from tokenworld.engine import Engine, start
from tokenworld.engine.filling import _literals, fill_each, fill_objects, requests_of
from tokenworld.engine.state import State
from tokenworld.engine.wide import LONG, Wide
from tokenworld.ground import GroundObject, instantiate, param_values
from tokenworld.model import ObjectDecl
from tokenworld.prose.wording import EnglishProse
from tokenworld.session.loading import check_file, compile_world

DOMAINS = sorted((Path(__file__).parents[2] / "domains").rglob("*.tw"))
BOXES = """
type Thing { place: Box? nested ordered inverse contents  weight: 0 to 9 = 3  hot: bool }
type Box : Thing { near: Box? inverse neighbours  colour: Colour = green }
enum Colour { red, green, blue }
world w {
  object big: Box { colour = blue  place = none }
  object small: Box { place = big  near = big  hot = true }
  object c: Thing { place = small  weight = 4 }
  object a: Thing { place = big }
  object b: Thing { place = small }
LINES
  goal g: a.place == small
}
"""


def filled(engine: Engine, fill: Any) -> tuple[list[Any], list[Any]]:
    state = State(engine.layout)
    fill(engine.instance, engine.layout, engine.code, state)
    columns = [list(one) if isinstance(one, (list, Wide)) else one for one in state.cols]
    children = [None if one is None else [list(kids) for kids in one] for one in state.kids]
    return columns, children


def engines(path: Path) -> list[Engine]:
    program = check_file(path).program
    assert program is not None
    return [compile_world(program, world) for world in program.worlds.values()]


def engine_of(text: str) -> Engine:
    checked = check_source(Source("w.tw", None, text))
    assert checked.program is not None, checked.diagnostics
    return compile_world(checked.program, checked.program.worlds["w"])


@pytest.mark.parametrize("path", DOMAINS, ids=lambda path: path.relative_to(DOMAINS[0].parents[1]))
def test_whole_columns_are_the_fields_one_by_one(path: Path) -> None:
    for engine in engines(path):
        assert filled(engine, fill_objects) == filled(engine, fill_each)


def started(engine: Engine) -> list[Any]:
    state = engine.start()
    return [engine.hash(state), state.trail.slots, *map(_listed, (*state.cols, *state.kids))]


def _listed(stored: Any) -> Any:
    return list(stored) if isinstance(stored, Wide) else stored


@pytest.mark.parametrize("path", DOMAINS, ids=lambda path: path.relative_to(DOMAINS[0].parents[1]))
def test_plain_setups_are_those_that_run_as_code(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plainly = [started(engine) for engine in engines(path)]
    monkeypatch.setattr(start, "requests_of", lambda body, layout: None)
    assert plainly == [started(engine) for engine in engines(path)]


def test_what_a_plain_setup_asks_for() -> None:
    text = """
    type Lamp { lit: bool  n: 0 to 9  by: Lamp? }  relation near(x: Lamp, y: Lamp)
    world w {
      object a: Lamp  object b: Lamp
      setup { add near(a, b)  a.lit = true  b.n = 4  b.by = none  a.by = b  remove near(b, a) }
      setup { a.n += 1 }
      setup { b.lit = a.lit }
    }
    """
    engine = engine_of(text)
    column = {key: one.index for key, one in engine.layout.by_id.items()}
    setups = [requests_of(one, engine.layout) for one in engine.instance.world.setups]
    assert setups == [
        [
            (column["near"], (0, 1), "add", True),
            (column["Lamp.lit"], (0,), "=", True),
            (column["Lamp.n"], (1,), "=", 4),
            (column["Lamp.by"], (1,), "=", None),
            (column["Lamp.by"], (0,), "=", 1),
            (column["near"], (1, 0), "remove", False),
        ],
        None,
        None,
    ]


@pytest.mark.parametrize("more", [0, LONG])
def test_containers_keep_their_order(more: int) -> None:
    lines = "\n".join(f"  object t{one}: Thing {{ place = small }}" for one in range(more))
    engine = engine_of(BOXES.replace("LINES", lines))
    assert _literals(engine.instance) is not None
    found = filled(engine, fill_objects)
    assert found == filled(engine, fill_each)
    kids = next(one for one in found[1] if one is not None and any(one))
    assert kids[1][:2] == [2, 4]
    assert len(kids[1]) == 2 + more


def test_a_field_that_must_be_worked_out_goes_the_long_way() -> None:
    text = "param p: 0 to 4 = 4\n" + BOXES.replace("LINES", "  object d: Thing { weight = SUM }")
    for weight, value in (("p", 4), ("p + 1", 5)):
        engine = engine_of(text.replace("SUM", weight))
        assert (_literals(engine.instance) is None) == (weight == "p + 1")
        column = engine.layout.by_id["Thing.weight"]
        found = filled(engine, fill_objects)
        assert found[0][column.index][-1] == value
        assert found == filled(engine, fill_each)


def test_objects_are_made_when_they_are_asked_for() -> None:
    path = next(one for one in DOMAINS if one.parts[-2:] == ("cellar", "world.tw"))
    checked = check_source(read_source(path))
    assert checked.program is not None
    world = next(iter(checked.program.worlds.values()))
    instance = instantiate(checked.program, world, param_values(checked.program, world, {}))
    objects = tuple(instance.objects)
    assert [one.id for one in objects] == list(range(len(objects)))
    assert instance.objects == objects
    assert instance.objects[-1] == objects[-1] == GroundObject(len(objects) - 1, objects[-1].decl)
    assert instance.objects[1:3] == objects[1:3]
    assert instance.names == tuple(one.name for one in objects)
    assert all(isinstance(one, ObjectDecl) for one in instance.decls)
    with pytest.raises(IndexError):
        instance.objects[len(objects)]
    assert instance == Engine(instance, EnglishProse()).instance
