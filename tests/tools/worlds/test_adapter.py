"""States of records become states of a world and come back as they were."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tokenworld.diagnostics import Failure
from tokenworld.session.loading import open_world
from tokenworld.session.session import Session
from tokenworld.verbs.records.adapter import Adapter
from tokenworld.verbs.records.properties import mapping_beside, read_mapping
from tokenworld.verbs.records.rows import Recorded, Score

Put = Callable[..., Path]
PLAY = (
    "wet clip (ID: 3)",
    "join clip (ID: 3) left to clip (ID: 4)",
    "shoot coin (ID: 8) with lens (ID: 9)",
    "take coin (ID: 8)",
    "blink lens (ID: 9)",
    "take scale (ID: 5)",
    "crush coin (ID: 8)",
    "look",
)


def adapted(path: Path) -> tuple[Adapter, Session]:
    world = open_world(str(path))
    return Adapter(world.engine, mapping_beside(path)), Session(world, 0)


def of(recorded: Recorded, uuid: int) -> dict[str, Any]:
    return next(dict(one) for one in recorded.objects if one["uuid"] == uuid)


def test_every_state_of_a_run_comes_back(bench: Put) -> None:
    adapter, session = adapted(bench())
    seen = set()
    for action in ("look", *PLAY):
        assert session.intend(action)[-1].status == "executed", action
        recorded = adapter.write(session.state)
        recorded = Recorded(json.loads(json.dumps(recorded.objects)), recorded.next_id)
        state = adapter.read(recorded)
        assert adapter.write(state) == recorded
        assert adapter.engine.json(state)["objects"]  # it is a whole state, and can be shown
        seen.add(json.dumps(recorded.objects))
    assert len(seen) == 1 + len(PLAY)


def test_the_exceptions_are_shown_as_the_mapping_says(bench: Put) -> None:
    adapter, session = adapted(bench())
    start = adapter.write(session.state)
    assert [one["uuid"] for one in start.objects] == [0, 2, 3, 4, 5, 6, 7, 8, 9]
    assert of(start, 2)["type"] == "Box"
    assert of(start, 5)["contains"] == []
    assert of(start, 7)["contains"] == ["coin (ID: 8)"]
    assert "weight" not in of(start, 0)["properties"]
    assert "label" not in of(start, 2)["properties"]
    assert "mess" not in of(start, 3)["properties"]
    assert of(start, 9)["properties"]["shot"] is None
    assert of(start, 9)["properties"]["dial"] == ["1/2", "1"]
    for action in PLAY[:3]:
        session.intend(action)
    later = adapter.write(session.state)
    assert of(later, 3)["properties"] == {
        "heat": -2.5,
        "wet": True,
        "weight": 1,
        "mess": "mud",
        "links": {"left": ["clip (ID: 4)", "right"]},
        "plugs": {"left": ["clip (ID: 4)", "right"], "right": None},
        "fans": ["clip (ID: 4)"],
        "near": "right",
        "shout": "clip!",
    }
    assert of(later, 5)["properties"]["turns"] == {
        "pan (ID: 6)": 3, "pan (ID: 7)": 3, "coin (ID: 8)": 3,
    }  # fmt: skip
    assert of(later, 9)["properties"]["shot"] == ["coin (ID: 8)", "slow"]
    session.intend("blink lens (ID: 9)")
    assert of(adapter.write(session.state), 9)["properties"]["shot"] == ["nothing", "slow"]


def test_numbers_and_scores_are_kept(bench: Put) -> None:
    adapter, session = adapted(bench())
    start = adapter.write(session.state)
    state = adapter.read(Recorded(start.objects, 14), Score(1, True, True))
    assert state.next_id == 14
    assert adapter.score(state) == Score(0, True, True)
    lost = adapter.read(start, Score(0, True, False))
    assert adapter.score(lost) == Score(0, True, False)
    assert adapter.score(adapter.read(start, Score(0, False, False))) == Score(0, False, False)


def test_a_clip_that_no_world_declares_gets_a_name_of_its_own(bench: Put) -> None:
    adapter, session = adapted(bench())
    recorded = adapter.write(session.state)
    objects = copy.deepcopy(list(recorded.objects))
    new = {**copy.deepcopy(objects[2]), "uuid": 12, "name": "peg (ID: 12)"}
    new["properties"]["shout"] = "peg!"
    objects.append(new)
    objects[1]["contains"].append("peg (ID: 12)")
    state = adapter.read(Recorded(objects, 13))
    assert state.names[12] == "clip_12"
    assert adapter.write(state).objects == objects


def spoilt(kind: str, objects: list[dict[str, Any]]) -> None:
    match kind:
        case "type":
            objects[2]["type"] = "Zeppelin"
        case "property":
            objects[2]["properties"]["colour"] = "red"
        case "value":
            objects[2]["properties"]["wet"] = "soaking"
        case "derived":
            objects[2]["properties"]["shout"] = "clap!"
        case "missing":
            del objects[2]["properties"]["heat"]
        case "range":
            objects[2]["properties"]["heat"] = 900.0
        case "name":
            objects[6]["name"] = "purse"
            objects[1]["contains"] = []
        case "constant":
            objects[8]["properties"]["dial"] = ["2"]
        case "list":
            objects[8]["properties"]["shot"] = ["nothing"]
        case "map":
            objects[2]["properties"]["links"] = ["left"]
        case "members":
            objects[2]["properties"]["fans"] = "clip (ID: 4)"
        case "reference":
            objects[2]["properties"]["links"] = {"left": ["clip (ID: 77)", "right"]}
        case "contains":
            objects[1]["contains"][0] = "nobody (ID: 3)"
        case "orphan":
            objects[1]["contains"].pop()
        case "parts":
            del objects[5:]


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("type", "objects[2].type`: the world has no type `Zeppelin`"),
        ("property", "objects[2].properties.colour`: `Clip` of the world has no property `colour`"),
        ("value", "attrs.wet"),
        ("derived", "shout`: the world makes it 'clip!', and the record says 'clap!'"),
        ("missing", "heat`: the world makes it 20.0, and the record says 'is missing'"),
        ("range", "900.0 is outside its range"),
        ("constant", "objects[8].properties.dial`: it is always ['1/2', '1']"),
        ("list", "objects[8].properties.shot`: a list of 2 values is needed"),
        ("map", "objects[2].properties.links`: a map is needed"),
        ("members", "objects[2].properties.fans`: a list of names is needed"),
        ("reference", "clip (ID: 77)"),
        ("contains", "objects[1].contains[0]`: `nobody (ID: 3)` is not the next object"),
        ("parts", "objects[4]`: its parts are missing"),
    ],
)
def test_what_does_not_fit_is_told_with_its_place(bench: Put, kind: str, words: str) -> None:
    adapter, session = adapted(bench())
    recorded = adapter.write(session.state)
    objects = json.loads(json.dumps(recorded.objects))
    spoilt(kind, objects)
    with pytest.raises(Failure) as raised:
        adapter.read(Recorded(objects, recorded.next_id), place="rows.jsonl:3: current_state")
    (found,) = raised.value.diagnostics
    assert found.code == "TW0006"
    assert found.message.startswith("`rows.jsonl:3: current_state` does not fit")
    assert words in found.message
    assert found.hint


def test_an_object_in_nothing_is_an_error_where_the_root_is_shown(bench: Put) -> None:
    adapter, session = adapted(bench(mapping='game = "bench"\nname = "recordName"\n'))
    recorded = adapter.write(session.state)
    objects = json.loads(json.dumps(recorded.objects))
    objects[0]["contains"].pop()
    with pytest.raises(Failure, match="no object above it contains `shed"):
        adapter.read(Recorded(objects, 10))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("game = ", "it is no TOML"),
        ("name = 'x'", "`game`"),
        ("game = 'x'\ncolour = 1", "`colour`"),
        ("game = 'x'\n[properties]\na = { valu = 'b' }", "`properties.a.valu`"),
    ],
)
def test_a_bad_mapping_is_told(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "mapping.toml").write_text(text, encoding="utf-8")
    with pytest.raises(Failure, match="is no mapping of records") as raised:
        read_mapping(tmp_path / "mapping.toml")
    assert words in raised.value.diagnostics[0].message


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('name = "nickname"', "no derive `nickname`"),
        ('types = { Crate = "Chest" }', "no type `Chest`"),
        ('properties."Chest.lid" = { value = "heat" }', "no type `Chest`"),
        ('properties."Clip.lid" = { value = "lid" }', "no attribute, function or derive `lid`"),
        ('properties.lid = { value = "lid" }', "no type of the world has what `lid` is made of"),
        ('properties."Clip.links" = { entries = ["mate"], keys = "Hole" }', "`Hole` is neither"),
    ],
)
def test_a_mapping_that_names_what_is_not_there_is_told(bench: Put, text: str, words: str) -> None:
    path = bench(mapping=f'game = "bench"\n{text}\n')
    with pytest.raises(Failure) as raised:
        adapted(path)
    message = raised.value.diagnostics[0].message
    assert "mapping.toml` does not fit the world" in message
    assert words in message
