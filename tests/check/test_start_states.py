"""What the model says of layouts, named creations and recorded states (language.md §12)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tokenworld.assets import rules_folder
from tokenworld.check import Checked, check_source, file_loader
from tokenworld.diagnostics import Source, read_source
from tokenworld.model import Create, DeriveCall, Layout, Read, World, effects_in, subterms
from tokenworld.session.loading import open_text

MAP = """
use grid.cells
type Tile : Cell { wall: bool }
type Hero { at: Tile?  gold: 0 to 9 }
actor me: Hero
derive ahead(h: Hero, d: Direction) = step(h.at, d)
action go(d: Direction) as "go {d}" {
  let next_tile = step(me.at, d)
  require next_tile != none else edge "No."
  me.at = next_tile
}
world maze {
  setup { create gate: Hero  if tick() == 0 { create guest: Hero } }
  layout Tile { "@#m" "#.m"
    legend "#" { here.wall = true }
    legend "@" { create hero: Hero { at = here } }
    legend "m" { create mouse: Hero { at = here } }
  }
  setup { hero.gold = 2  gate.gold = 3  tile_1_1.wall = true }
  goal out: hero.at == tile_2_1 and gate.gold == 3
}
"""


def checked(text: str, path: Path | None = None) -> Checked:
    name = "maze.tw" if path is None else str(path)
    return check_source(Source(name, path, text), file_loader((rules_folder(),)))


def world() -> World:
    found = checked(MAP)
    assert found.program is not None, found.diagnostics
    return found.program.worlds["maze"]


def test_a_layout_names_what_it_fills() -> None:
    (layout,) = world().layouts
    assert isinstance(layout, Layout)
    assert (layout.of, layout.rows) == ("Tile", ("@#m", "#.m"))
    assert (layout.x, layout.y, layout.step) == ("Cell.x", "Cell.y", "step")
    assert layout.directions == ((0, 0, -1), (1, 1, 0), (2, 0, 1), (3, -1, 0))
    assert [one.symbol for one in layout.legends] == ["#", "@", "m"]


def test_only_what_is_always_created_once_keeps_its_name() -> None:
    found = world()
    bodies = [*(legend.body for layout in found.layouts for legend in layout.legends)]
    created = [one for body in (*bodies, *found.setups) for one in effects_in(body)
               if isinstance(one, Create)]  # fmt: skip
    assert [(one.name, one.named) for one in created] == [
        ("hero", True), ("mouse", False), ("gate", True), ("guest", False),
    ]  # fmt: skip


def test_born_are_cells_in_order_then_creations_of_legends_then_of_setups() -> None:
    assert [(one.name, one.of) for one in world().born] == [
        ("tile_0_0", "Tile"), ("tile_1_0", "Tile"), ("tile_2_0", "Tile"),
        ("tile_0_1", "Tile"), ("tile_1_1", "Tile"), ("tile_2_1", "Tile"),
        ("hero", "Hero"), ("gate", "Hero"),
    ]  # fmt: skip


def test_a_step_from_a_tile_leads_to_a_tile() -> None:
    program = checked(MAP).program
    assert program is not None
    assert getattr(program.derives["ahead"].type, "name") == "Tile"  # noqa: B009
    (call,) = [one for one in subterms(program.derives["ahead"].value) if isinstance(one, Read)
               and one.fluent == "step"]  # fmt: skip
    assert getattr(call.type, "optional")  # noqa: B009
    near = program.derives["near"].value
    steps = [one for one in subterms(near) if isinstance(one, Read) and one.fluent == "step"]
    assert {getattr(one.type, "name") for one in steps} == {"Cell"}  # noqa: B009
    assert not [one for one in subterms(near) if isinstance(one, DeriveCall)]


# ---- recorded states ----------------------------------------------------------------------------

STATE = {"format": "tw-state/1", "world": "w", "tick": 3, "objects": []}
STARTED = 'type T\nworld w { object t: T  start "then.json" }\n'


def started(folder: Path, text: str | bytes | None) -> Checked:
    if text is not None:
        data = text if isinstance(text, bytes) else text.encode()
        (folder / "then.json").write_bytes(data)
    root = folder / "root.tw"
    root.write_text(STARTED)
    return check_source(read_source(root))


def test_a_recorded_state_is_read_beside_the_file_and_is_a_source(tmp_path: Path) -> None:
    found = started(tmp_path, json.dumps(STATE))
    assert found.program is not None, found.diagnostics
    start = found.program.worlds["w"].start
    assert start is not None
    assert (start.path, json.loads(start.text)) == ("then.json", STATE)
    assert [one.name for one in found.program.sources] == ["root.tw", "then.json"]


def test_another_recorded_state_is_another_program(tmp_path: Path) -> None:
    first, second = (
        started(tmp_path, json.dumps({**STATE, "tick": tick})).program for tick in (3, 4)
    )
    assert first is not None
    assert second is not None
    assert first.digest != second.digest


@pytest.mark.parametrize(
    "text",
    [None, "", "{", "[]", "3", '{"format": "tw-state/2"}', "{}", b"\xff\xfe", "[" * 9000],
    ids=["missing", "empty", "torn", "list", "number", "newer", "other", "bytes", "deep"],
)
def test_a_state_that_cannot_be_used_is_one_finding(
    tmp_path: Path, text: str | bytes | None
) -> None:
    found = started(tmp_path, text)
    assert [one.code for one in found.diagnostics] == ["TW0006"]
    (only,) = found.diagnostics
    assert only.span is not None
    assert only.span.line == 2
    assert only.hint


def test_a_folder_is_no_recorded_state(tmp_path: Path) -> None:
    (tmp_path / "then.json").mkdir()
    assert [one.code for one in started(tmp_path, None).diagnostics] == ["TW0006"]


def test_a_replay_needs_its_rows(tmp_path: Path) -> None:
    text = 'type T\nworld w { object t: T }\nscenario "s" in w { replay "rows.jsonl" }\n'
    root = tmp_path / "root.tw"
    root.write_text(text)
    assert [one.code for one in check_source(read_source(root)).diagnostics] == ["TW0006"]
    (tmp_path / "rows.jsonl").write_text("")
    found = check_source(read_source(root))
    assert found.program is not None, found.diagnostics
    assert [one.name for one in found.program.sources] == ["root.tw"]


def test_a_stored_program_needs_no_rows_of_a_replay(tmp_path: Path) -> None:
    text = 'type T\nworld w { object t: T }\nscenario "s" in w { replay "rows.jsonl" }\n'
    assert open_text((Source("root.tw", None, text),), "w").world.name == "w"
