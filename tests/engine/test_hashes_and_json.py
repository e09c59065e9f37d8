"""The state hash and the exchange forms (language.md §9)."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest
from tiny import Game, domain, play

from tokenworld.engine import State
from tokenworld.engine.saved.digest import facts_hash, state_hash, state_json
from tokenworld.session.players import random_player

NAMES = ("cellar", "kitchen", "blocks", "cottage")


def walked(name: str, seed: int, steps: int) -> Game:
    game = domain(name, seed)
    intents = random_player(game.session)
    for _ in range(steps):
        game.session.intend(next(intents))
    return game


def from_scratch(state: State) -> str:
    """The hash of a copy that has forgotten its running sum."""
    copy = state.fork()
    assert copy.facts is None
    return state_hash(copy)


@pytest.mark.parametrize("name", NAMES)
def test_the_states_within_a_tick_have_their_own_hash(name: str) -> None:
    """The state after an action alone had the hash of the state before it."""
    game = walked(name, 3, 20)
    engine, state = game.session.engine, game.session.state
    before = engine.hash(state)
    for command in engine.legal(state):
        for after in engine.halves(state, command)[::2]:
            assert isinstance(after, State)
            assert engine.hash(after) == from_scratch(after)
    assert engine.hash(state) == before


@pytest.mark.parametrize("name", NAMES)
def test_the_incremental_hash_is_the_one_from_scratch(name: str) -> None:
    game = walked(name, 3, 60)
    for moment in game.session.moments:
        assert moment.state.facts is None or moment.state.facts == facts_hash(moment.state)
        assert game.session.engine.hash(moment.state) == from_scratch(moment.state)


@pytest.mark.parametrize("name", NAMES)
def test_equal_states_have_equal_hashes_and_different_ones_differ(name: str) -> None:
    game = walked(name, 11, 80)
    by_json: dict[str, str] = {}
    for moment in game.session.moments:
        form = state_json(moment.state)
        del form["format"]
        text = json.dumps(form, sort_keys=True)
        found = game.session.engine.hash(moment.state)
        assert by_json.setdefault(text, found) == found
    assert len(set(by_json.values())) == len(by_json)


@pytest.mark.parametrize("name", NAMES)
def test_runs_of_one_seed_are_the_same_and_records_chain(name: str) -> None:
    one, two = walked(name, 5, 40), walked(name, 5, 40)
    outcomes = [[o.to_json() for m in g.session.moments for o in m.outcomes] for g in (one, two)]
    assert outcomes[0] == outcomes[1]
    befores = [one["hash_before"] for one in outcomes[0]]
    afters = [one["hash_after"] for one in outcomes[0]]
    assert befores[1:] == afters[:-1]
    assert befores[0] == domain(name, 5).hash


def test_undo_and_redo_come_to_the_same_hashes() -> None:
    game = walked("cottage", 2, 30)
    session = game.session
    moments = list(session.moments)
    for _ in range(12):
        assert session.undo()
    assert game.hash == session.engine.hash(moments[-13].state)
    for moment in moments[-12:]:
        session.intend(moment.asked)
        assert game.hash == session.engine.hash(moment.state)


def test_another_object_with_a_number_has_its_own_hash() -> None:
    """Its facts are told apart by the name, which an undo may give to nobody."""
    rules = """type Thing { n: 0 to 9 = 5 }
    actor me: Thing
    action cup() { create cup: Thing }
    action jug() { create jug: Thing }
    action mark(x: Thing) { x.n = 6 }
    world w { object hero: Thing }"""
    game = play(rules)
    for intents in (["cup()", "mark(cup_1)"], ["jug()", "mark(jug_1)"], ["cup()", "jug()"]):
        for intent in intents:
            game.do(intent)
            assert game.hash == from_scratch(game.session.state)
        game.session.undo()
        game.session.undo()


def test_states_are_never_written_to_again() -> None:
    game = walked("cottage", 9, 10)
    kept = [(moment.state, json.dumps(state_json(moment.state))) for moment in game.session.moments]
    intents = random_player(game.session)
    for _ in range(30):
        game.session.intend(next(intents))
    for state, text in kept:
        assert json.dumps(state_json(state)) == text


RULES = """
type Box { at: Box? nested ordered inverse contents  n: 0.0 to 9.9 = 0.5  r: real = 0.1 }
type Hero : Box
enum Way { up, down }
actor me: Hero
function sky(): Way = down
function owes(a: Box, w: Way): 0 to 9 = 0
relation tied(a: Box, b: Box) symmetric
relation rain()
table worth(a: Way): 0 to 9 = 1 { up: 2 }
watch full(b: Box) once when b.n > 1 { say "full" }
action set(b: Box, n: 0 to 9) { b.n = n }
action flip() { sky() = up  owes(me, up) = 3  add tied(spare_box, me)  add rain() }
action put(a: Box, b: Box) { a.at = b }
action toil(w: Way) takes 3 { }
object spare_box: Box
world w {
  object h: Hero  object jug: Box { at = h }
  endless  award 2 when h.n > 1  goal g: h.n > 3
}
"""


def test_the_state_form() -> None:
    game = play(RULES, 4)
    game.all("flip()", "set(h, 4)")
    game.do("toil(down)")
    assert game.session.state_json() == {
        "format": "tw-state/1",
        "world": "w",
        "tick": 3,
        "seed": 4,
        "next_id": 3,
        "outcomes": ["g"],
        "awarded": [0],
        "fired": [["full", ["h"]]],
        "long": {"h": {"action": "toil", "args": {"w": "down"}, "done": 1, "total": 3}},
        "objects": [
            {"id": 0, "name": "spare_box", "type": "Box", "contents": [],
             "attrs": {"at": None, "n": 0.5, "r": 0.1}},
            {"id": 1, "name": "h", "type": "Hero", "contents": ["jug"],
             "attrs": {"at": None, "n": 4.0, "r": 0.1}},
            {"id": 2, "name": "jug", "type": "Box", "contents": [],
             "attrs": {"at": "h", "n": 0.5, "r": 0.1}},
        ],
        "functions": {"sky": [[[], "up"]], "owes": [[["h", "up"], 3]]},
        "relations": {"tied": [["spare_box", "h"]], "rain": [[]]},
    }  # fmt: skip


def test_everything_in_the_state_form_shows_in_the_hash() -> None:
    def after(*intents: str, seed: int = 0) -> str:
        game = play(RULES, seed)
        for intent in intents:
            game.do(intent)
        return game.hash

    hashes = [
        after(), after(seed=1), after("set(jug, 0)"), after("set(jug, 1)"), after("flip()"),
        after("put(jug, spare_box)"), after("put(spare_box, h)"), after("toil(up)"),
        after("toil(down)"), after("set(h, 2)"), after("set(h, 4)"), after("pass"),
        after("pass", "pass"),
    ]  # fmt: skip
    assert len(set(hashes)) == len(hashes)


def test_the_hash_does_not_depend_on_how_a_state_was_reached() -> None:
    one, two = play(RULES), play(RULES)
    one.all("set(jug, 3)", "set(jug, 5)")
    two.all("set(jug, 5)", "pass")
    assert one.hash == two.hash


def test_order_of_arrival_is_part_of_the_state() -> None:
    one, two = play(RULES), play(RULES)
    one.all("put(spare_box, h)", "put(jug, h)")
    two.all("put(jug, h)", "put(spare_box, h)")
    assert one.get("jug.at") == two.get("jug.at")
    assert one.hash != two.hash
    assert (one.contents("h"), two.contents("h")) == (["spare_box", "jug"], ["jug", "spare_box"])


FIXED = {
    "format", "tick", "status", "actor", "action", "args", "time_passed", "changes",
    "law_changes", "fired", "said", "events", "reward", "score", "hash_before", "hash_after",
}  # fmt: skip


def test_the_outcome_form() -> None:
    game = play(RULES)
    found = game.do("set(jug, 2)").to_json()
    assert found == {
        "format": "tw-outcome/1",
        "tick": 0,
        "status": "executed",
        "actor": "h",
        "by": "player",
        "action": "set",
        "args": {"b": "jug", "n": 2},
        "time_passed": True,
        "changes": [{"fluent": "Box.n", "args": ["jug"], "old": 0.5, "new": 2.0,
                     "rule": "action set"}],
        "law_changes": [],
        "fired": [],
        "said": ["full"],
        "events": [],
        "reward": 0,
        "score": 0,
        "hash_before": found["hash_before"],
        "hash_after": game.hash,
    }  # fmt: skip


def test_fixed_keys_are_never_left_out_and_everything_is_json() -> None:
    game = walked("cottage", 8, 40)
    for words in ("xyzzy", "open old chest", "go through cottage door", "rest"):
        game.do(words)
    for moment in game.session.moments:
        for outcome in moment.outcomes:
            found = outcome.to_json()
            assert set(found) >= FIXED
            assert json.loads(json.dumps(found)) == found
            assert not {name for name, value in found.items() if value is None} - {"actor"}


def test_numbers_have_their_declared_decimals() -> None:
    game = play(RULES)
    game.all("set(jug, 3)")
    attrs: Any = game.session.state_json()["objects"][2]["attrs"]  # type: ignore[index,call-overload]
    assert json.dumps(attrs["n"]) == "3.0"
    assert json.dumps(game.do("set(h, 3)").to_json()["args"]["n"]) == "3"  # type: ignore[index,call-overload]


def test_random_states_hash_by_their_form_alone() -> None:
    random = Random(1)
    game = play(RULES)
    seen: dict[str, str] = {}
    for _ in range(120):
        name = random.choice(["h", "jug", "spare_box"])
        words = random.choice(
            [f"set({name}, {random.randrange(3)})", f"put(jug, {name})", f"put(spare_box, {name})"]
        )
        game.do(words)
        game.session.moments[-1].state.tick = 0  # compare states, not times
        form = json.dumps(game.session.state_json(), sort_keys=True)
        found = from_scratch(game.state)
        assert seen.setdefault(form, found) == found
    assert len(set(seen.values())) == len(seen) > 10
