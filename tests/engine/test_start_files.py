"""Recorded states: read back exactly, and worlds that begin with one (language.md §9, §12)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tiny import DOMAINS, Game, domain, play

from tokenworld.diagnostics import Failure
from tokenworld.ground import PASS
from tokenworld.session import Session, open_world

State = dict[str, Any]

TEXT = """edition 1
enum Mood { calm, wild }
type Place { }
type Box : Place { size: 0.0 to 9.9 = 1.5 }
type Thing { at: Place? nested ordered inverse contents }
type Egg : Thing { n: 0 to 20 = 1  twin: Egg?  mood: Mood  fan: Hero? ordered inverse fans }
type Hero : Thing { home: Place }
function luck(e: Egg): 0 to 9 = 3
function sky(): Mood = wild
relation likes(a: Egg, b: Egg)
function shut(a: Place, b: Place): bool = true
actor me: Hero
event egg_laid(e: Egg)
action lay(b: Place) { create e: Egg { n = 5  at = b  fan = me }  emit egg_laid(e) }
action like(a: Egg, b: Egg) { add likes(a, b)  a.twin = b  sky() = calm  luck(a) = 4  a.fan = me }
action shift(e: Thing, b: Place) { e.at = b  shut(b, b) = false }
action eat(e: Egg) { destroy e }
action brood(e: Egg) takes 5 { e.n += 1 }
watch born(e: Egg) once when e.n == 5 { say "{e}" }
"""
WORLD = """
world w { object hero: Hero { at = room  home = room }  object room: Place  object box: Box
          award 3 when any(e.n == 5 for e: Egg)  goal sixth: count(1 for e: Egg) >= 6
          goal hatched: hero.at == box }
"""
PLAYED = ("lay(box)", "lay(box)", "lay(box)", "like(e_4, e_3)", "shift(e_3, room)",
          "shift(e_3, box)", "eat(e_5)", "lay(room)", "brood(e_6)")  # fmt: skip


def played() -> Game:
    game = play(TEXT + WORLD, seed=11)
    for one in PLAYED:
        assert game.do(one).status in ("executed", "waiting"), one
    return game


def exact(game: Game) -> None:
    """A state is read back as it was: JSON, hash, and what follows."""
    engine, state = game.session.engine, game.state
    found = json.loads(json.dumps(engine.json(state)))
    again = engine.restored(found)
    assert engine.json(again) == engine.json(state)
    assert engine.hash(again) == engine.hash(state)
    assert engine.hash(engine.play(again, PASS)[0]) == engine.hash(engine.play(state, PASS)[0])


# ---- reading back ----------------------------------------------------------------------------


def test_a_state_with_created_and_destroyed_objects_is_read_back() -> None:
    exact(played())


def test_a_long_action_on_something_destroyed_since_is_read_back() -> None:
    rules = TEXT + "law rot(e: Egg) when e.n == 5 and tick() == 9 { destroy e }"
    game = play(rules + WORLD)
    for one in (*PLAYED, "pass", "pass"):
        game.do(one)
    found = game.session.state_json()
    assert found["long"]
    assert "e_6" not in [one["name"] for one in found["objects"]]
    exact(game)


@pytest.mark.parametrize("name", sorted(one.parent.name for one in DOMAINS.glob("*/world.tw")))
def test_states_of_the_bundled_worlds_are_read_back(name: str) -> None:
    path = DOMAINS / name / "world.tw"
    worlds = json_worlds(path)
    game = Game(Session(open_world(f"{path}:{worlds}"), 7)) if worlds else domain(name, 7)
    exact(game)
    for number in range(30):
        legal = game.session.legal()
        game.do(legal[number * 7 % len(legal)].command if legal else PASS)
    exact(game)


def json_worlds(path: Path) -> str:
    """The first world of a file with several."""
    from tokenworld.session import load_program

    worlds = list(load_program(path).program.worlds)
    return worlds[0] if len(worlds) > 1 else ""


# ---- what does not fit -----------------------------------------------------------------------


def change(path: str, value: Any) -> Callable[[State], None]:
    """Put a value at ``objects.2.attrs.at``."""

    def put(state: State) -> None:
        *way, last = path.split(".")
        here: Any = state
        for step in way:
            here = here[int(step)] if isinstance(here, list) else here[step]
        if isinstance(here, list):
            here[int(last)] = value
        else:
            here[last] = value

    return put


def drop(path: str) -> Callable[[State], None]:
    def take(state: State) -> None:
        *way, last = path.split(".")
        here: Any = state
        for step in way:
            here = here[int(step)] if isinstance(here, list) else here[step]
        del here[int(last) if isinstance(here, list) else last]

    return take


MISFITS: list[tuple[Callable[[State], None], str, str]] = [
    (change("format", "tw-state/2"), "format", "only `tw-state/1`"),
    (change("objects.0.type", "Dragon"), "objects[0].type", "no type `Dragon`"),
    (change("objects.0.id", -1), "objects[0].id", "a number from 0"),
    (change("objects.0.id", 1), "objects[1].id", "has this number too"),
    (change("objects.1.name", "hero"), "objects[1].name", "called `hero` too"),
    (change("objects.0.attrs.wings", 2), "objects[0].attrs.wings", "no attribute `wings`"),
    (drop("objects.0.attrs.home"), "objects[0].attrs.home", "no default"),
    (change("objects.0.attrs.home", "e_3"), "objects[0].attrs.home", "not a living `Place`"),
    (change("objects.0.attrs.home", "moon"), "objects[0].attrs.home", "'moon'"),
    (change("objects.3.attrs.n", 21), "objects[3].attrs.n", "outside its range"),
    (change("objects.3.attrs.n", "many"), "objects[3].attrs.n", "not a number"),
    (change("objects.3.attrs.mood", "sad"), "objects[3].attrs.mood", "'sad'"),
    (change("objects.2.contents", ["e_3"]), "objects[2].contents", "`e_4` is here too"),
    (change("objects.2.contents.0", "hero"), "objects[2].contents[0]", "does not lead here"),
    (change("functions.moon", []), "functions.moon", "no `moon`"),
    (change("functions.sky.0.1", "green"), "functions.sky[0][1]", "'green'"),
    (change("relations.sky", []), "relations.sky", "belongs to the functions"),
    (change("relations.likes.0.1", "e_5"), "relations.likes[0][1]", "'e_5'"),
    (change("relations.likes.0", ["e_3"]), "relations.likes[0]", "2 values"),
    (change("next_id", 3), "next_id", "at least 7"),
    (change("next_id", 10**400), "next_id", "up to 10,000,000"),
    (change("tick", "noon"), "tick", "whole number"),
    (change("outcomes", ["rich"]), "outcomes[0]", "no ending `rich`"),
    (change("awarded", [4]), "awarded[0]", "1 awards"),
    (change("fired", [["seen", ["e_3"]]]), "fired[0][0]", "no watch `seen`"),
    (change("long.hero.action", "fly"), "long.hero.action", "no action `fly`"),
    (change("objects", {}), "objects", "a list of objects"),
]


@pytest.mark.parametrize(("spoil", "path", "reason"), MISFITS, ids=[one[1] for one in MISFITS])
def test_what_does_not_fit_is_named_by_its_path(
    spoil: Callable[[State], None], path: str, reason: str
) -> None:
    game = played()
    state = json.loads(json.dumps(game.session.state_json()))
    spoil(state)
    with pytest.raises(Failure) as caught:
        game.session.engine.restored(state)
    (found,) = caught.value.diagnostics
    assert found.code == "TW0006"
    assert f"`{path}`" in found.message
    assert reason in found.message


def test_a_cycle_of_containment_does_not_fit() -> None:
    rules = TEXT.replace("type Egg : Thing", "type Egg : Thing, Place")
    rules = rules.replace("action eat(e: Egg) { destroy e }", "")
    game = play(rules + WORLD)
    game.all("lay(box)", "lay(e_3)")
    state = json.loads(json.dumps(game.session.state_json()))
    state["objects"][2]["contents"] = []
    state["objects"][3]["attrs"]["at"], state["objects"][4]["contents"] = "e_4", ["e_3"]
    with pytest.raises(Failure, match="round in a cycle"):
        game.session.engine.restored(state)


# ---- worlds that begin with a recorded state ---------------------------------------------------


def world_file(folder: Path, state: State, world: str = WORLD) -> Path:
    (folder / "begin.json").write_text(json.dumps(state))
    path = folder / "t.tw"
    path.write_text(TEXT + world.replace("world w {", 'world w { start "begin.json"'))
    return path


def test_a_world_begins_with_the_recorded_state_and_the_seed_of_the_run(tmp_path: Path) -> None:
    game = played()
    session = Session(open_world(str(world_file(tmp_path, game.session.state_json()))), 4)
    assert session.state_json() == {**game.session.state_json(), "seed": 4}
    assert session.actor == "hero"
    assert session.intend("lay(box)")[-1].status == "executed"
    assert session.state.names[-1] == "e_7"


def test_an_object_that_rules_name_must_be_there_with_its_number(tmp_path: Path) -> None:
    state = json.loads(json.dumps(played().session.state_json()))
    gone = {**state, "objects": state["objects"][1:], "long": {}}
    for one in gone["objects"]:
        one["attrs"].pop("fan", None)
        one["contents"] = [child for child in one["contents"] if child != "hero"]
        one.pop("orders", None)
    moved = json.loads(json.dumps(state))
    moved["objects"][0]["id"] = 5
    for broken, reason in ((gone, "`hero` is missing"), (moved, "which has the number 0")):
        with pytest.raises(Failure) as caught:
            open_world(str(world_file(tmp_path, broken))).engine.start()
        (found,) = caught.value.diagnostics
        assert (found.code, found.span is not None) == ("TW0006", True)
        assert reason in found.message
