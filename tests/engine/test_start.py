"""Literals of a start are put as they stand, and come to what working them out comes to."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.engine.walks import BUNDLED
from tests.engine.walks import engine_of as bundled
from tokenworld.check import check_source
from tokenworld.diagnostics import Source, read_source
from tokenworld.engine import Engine, start
from tokenworld.engine.state import LONG, Wide
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


def engines(path: Path) -> list[Engine]:
    program = check_file(path).program
    assert program is not None
    return [compile_world(program, world) for world in program.worlds.values()]


def engine_of(text: str) -> Engine:
    checked = check_source(Source("w.tw", None, text))
    assert checked.program is not None, checked.diagnostics
    return compile_world(checked.program, checked.program.worlds["w"])


def started(engine: Engine) -> list[Any]:
    state = engine.start()
    return [engine.hash(state), *map(_listed, (*state.cols, *state.kids))]


def _listed(stored: Any) -> Any:
    return list(stored) if isinstance(stored, (list, Wide)) else stored


@pytest.fixture
def worked_out(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Lets fields and setups be worked out on rows, although they are literals."""

    def patch() -> None:
        monkeypatch.setattr(start._Start, "_literals", lambda self, state: None)
        monkeypatch.setattr(start._Start, "_plain", lambda self, state, body: None)

    return patch


@pytest.mark.parametrize("path", DOMAINS, ids=lambda path: path.relative_to(DOMAINS[0].parents[1]))
def test_literals_are_what_rows_would_work_out(path: Path, worked_out: Callable[[], None]) -> None:
    plainly = [started(engine) for engine in engines(path)]
    worked_out()
    assert plainly == [started(engine) for engine in engines(path)]


@pytest.mark.parametrize("more", [0, LONG])
def test_containers_keep_their_order(more: int, worked_out: Callable[[], None]) -> None:
    lines = "\n".join(f"  object t{one}: Thing {{ place = small }}" for one in range(more))
    engine = engine_of(BOXES.replace("LINES", lines))
    found = started(engine)
    worked_out()
    assert found == started(engine)
    place = engine.layout.by_id["Thing.place"].index
    kids = engine.start().kids[place]
    assert kids[1][:2] == [2, 4]
    assert len(kids[1]) == 2 + more


@pytest.mark.parametrize(("weight", "value"), [("p", 4), ("p + 1", 5)])
def test_a_field_may_have_to_be_worked_out(weight: str, value: int) -> None:
    text = "param p: 0 to 4 = 4\n" + BOXES.replace("LINES", "  object d: Thing { weight = SUM }")
    engine = engine_of(text.replace("SUM", weight))
    state = engine.start()
    assert state.get(engine.layout.by_id["Thing.weight"], state.numbers["d"]) == value


def test_a_slot_that_a_setup_names_twice() -> None:
    text = """
    type Lamp { lit: bool  n: 0 to 9  by: Lamp? }  relation near(x: Lamp, y: Lamp)
    world w {
      object a: Lamp  object b: Lamp
      setup { add near(a, b)  remove near(a, b)  b.n = 4  b.by = none  a.by = b }
      setup { a.n += 1  a.n += 2 }
    }
    """
    engine = engine_of(text)
    state = engine.start()
    near, number = engine.layout.by_id["near"], engine.layout.by_id["Lamp.n"]
    assert state.get(near, (0, 1)) is True  # what is added stays
    assert [state.get(number, one) for one in (0, 1)] == [3, 4]


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


@pytest.mark.parametrize("name", [one for one in BUNDLED if one != "crafter"])
def test_a_later_start_of_an_engine_is_that_of_a_new_one(name: str) -> None:
    """What the first start compiled is used again; states are not shared."""
    engine = bundled(name)
    starts = [engine.start(seed) for seed in (1, 2, 1)]
    first = [engine.json(one) for one in starts]
    for one in starts[:2]:
        for command in engine.legal(one)[:3]:
            engine.play(one, command)
    assert [engine.json(one) for one in starts] == first
    assert [engine.json(bundled(name).start(seed)) for seed in (1, 2, 1)] == first
