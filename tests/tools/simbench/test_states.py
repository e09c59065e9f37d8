"""States in plain form: everything of a state is in it, and it is read back."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tokenworld.diagnostics import Failure
from tokenworld.engine import State
from tokenworld.session.loading import OpenWorld, open_world
from tokenworld.verbs.records.rows import Recorded, is_state
from tokenworld.verbs.simbench.states import WORLD_NUMBER, Form, PlainForm, form_of

WORLD = """
edition 1
enum Mood { calm, cross }
type Box { level: 0 to 9 = 0  water: bool = false }
type Cat { mood: Mood = calm  near: Box? ordered inverse cats }
actor me: Cat
function price(b: Box): 0 to 9 = 3
function water(c: Cat): 0 to 9 = 1
function likes(c: Cat, b: Box): 0 to 9 = 0
function hour(): 0 to 23 = 0
relation shut(b: Box)
relation knows(c: Cat, b: Box)
relation night()
action look(b: Box) as "look at {b}" { add knows(me, b)  add shut(b)  me.near = b  me.water += 1 }
action like(b: Box) as "like {b}" { likes(me, b) += 1  price(b) += 1 }
action sleep() as "sleep" takes 3 { add night() }
law clock() { hour() += 1 }
law age(b: Box) when tick() > 2 { b.level += 1 }
world yard "Yard" {
  object tom: Cat
  object red, blue: Box
  goal late: hour() == 9
}
"""


def played(world: OpenWorld, steps: int, seed: int = 1) -> list[State]:
    """The states of a walk by chance."""
    chosen, states = random.Random(seed), [world.engine.start(0)]
    for _ in range(steps):
        legal = world.engine.legal(states[-1])
        if not legal or world.engine.over(states[-1]):
            break
        states.append(world.engine.play(states[-1], chosen.choice(legal))[0])
    return states


def read_back(form: Form, state: State) -> State:
    return form.read(form.write(state), form.score(state), form.task(state))


def test_a_state_is_read_back_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "yard.tw").write_text(WORLD, encoding="utf-8")
    world = open_world(tmp_path / "yard.tw")
    form = form_of(world, str(tmp_path / "yard.tw"))
    states = played(world, 12)
    assert len(states) > 5
    assert any(state.longs for state in states)
    for state in states:
        again = read_back(form, state)
        assert world.engine.hash(again) == world.engine.hash(state)
        assert not is_state(form.write(state).objects)


@pytest.mark.parametrize(
    "target", ["cellar", "willowbrook", "domains/textgames/boil-water/world.tw", "greenhouse",
               "domains/textgames/take-photo/world.tw"],
)  # fmt: skip
def test_bundled_worlds_are_read_back(target: str) -> None:
    world = open_world(target)
    form = form_of(world, target)
    for state in played(world, 15):
        again = read_back(form, state)
        assert form.write(again) == form.write(state)
        assert world.engine.same_facts(again, state)


def test_the_plain_form_has_facts_where_they_belong(tmp_path: Path) -> None:
    (tmp_path / "yard.tw").write_text(WORLD, encoding="utf-8")
    world = open_world(tmp_path / "yard.tw")
    form = PlainForm(world.engine)
    state = world.engine.start(0)
    for command in ("look", "like"):
        box = next(one for one in world.engine.legal(state) if one.action == command)
        state = world.engine.play(state, box)[0]
    objects = {one["name"]: one for one in form.write(state).objects}
    assert objects["red"]["properties"] == {
        "level": 0, "water": False, "price": 4, "shut": True, "order Cat.near": ["tom"],
    }  # fmt: skip
    assert objects["tom"]["properties"] == {
        "mood": "calm", "near": "red", "water": 2, "likes": [["red", 1]],
        "knows": [["red"]],
    }  # fmt: skip
    assert objects["yard"]["uuid"] == WORLD_NUMBER
    assert objects["yard"]["properties"] == {"hour": 2, "night": False, "long": {}}
    assert form.task(state) == "Goals: `late`. Tick 2."


def test_what_the_world_does_not_know_is_refused() -> None:
    world = open_world("cellar")
    form, state = PlainForm(world.engine), world.engine.start(0)
    written = form.write(state)
    for change in ({"type": "Ghost"}, {"properties": {"colour": "red"}}):
        objects = [{**written.objects[0], **change}, *written.objects[1:]]
        with pytest.raises(Failure, match="does not fit the world"):
            form.read(Recorded(objects, written.next_id), form.score(state), form.task(state))
