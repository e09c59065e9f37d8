"""States as arrays, in and out."""

from __future__ import annotations

from typing import Any

import pytest
from tiny import Game, play

from tokenworld.diagnostics import Failure

np = pytest.importorskip("numpy", reason="numpy is an extra")

TEXT = """
enum Way { north, east, south, west }
type Place { mat: 0 to 20 = 0 }
type Body { at: Place? inverse bodies }
type Hen : Body { egg: bool  way: Way?  warm: real = 0.5  weight: 0.0 to 9.9 = 1.0 }
type Hero : Body
actor me: Hero
function stock(p: Place, w: Way): 0 to 9 = 1
function sky(): 0 to 3 = 0
relation near(a: Place, b: Place) symmetric
action wait() as "wait" { }
law lay(h: Hen) when h.egg { create e: Hen { at = h.at } }
world w {
  object yard, nest, barn: Place
  object hero: Hero { at = yard }
  object ida, eva: Hen { at = nest }
  setup { add near(yard, nest)  stock(nest, south) = 4 }
}
"""
EVERY = (
    *("Place.mat", "Body.at", "Hen.egg", "Hen.way", "Hen.warm", "Hen.weight"),
    *("stock", "sky", "near"),
)


@pytest.fixture
def game() -> Game:
    return play(TEXT)


def test_columns_are_arrays_of_raw_values(game: Game) -> None:
    from tokenworld.engine.arrays import NONE

    found = game.session.engine.columns(game.state, EVERY)
    assert found["Body.at"].tolist() == [0, 1, 1]
    assert found["Hen.way"].tolist() == [NONE, NONE]
    assert found["Hen.weight"].tolist() == [10, 10]
    assert found["Hen.warm"].dtype == np.float64
    assert found["stock"].shape == (3, 4)
    assert found["stock"].sum() == 15
    assert found["near"].tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 0]]


def test_a_state_of_its_own_columns_is_the_same(game: Game) -> None:
    engine = game.session.engine
    game.do("wait")
    state = game.state
    again = engine.snapshot(state, engine.columns(state, EVERY))
    assert engine.hash(again) == engine.hash(state)
    assert engine.json(again) == engine.json(state)


def test_a_snapshot_has_more_objects_and_other_columns(game: Game) -> None:
    from tokenworld.engine.arrays import Made

    engine, base = game.session.engine, game.state
    hens = [Made("Hen", {"at": 2, "egg": True}), Made("Hen", {"way": 3}, name="olga")]
    found = engine.snapshot(
        base, {"Place.mat": [7, 8, 9], "Hen.weight": np.array([1, 2, 3, 4])}, hens, tick=5
    )
    shown: Any = engine.json(found)
    hen = {one["name"]: one for one in shown["objects"]}
    assert hen["olga"]["attrs"] == {
        **{"at": None, "egg": False, "way": "west", "warm": 0.5, "weight": 0.4}
    }
    assert hen["hen_6"]["attrs"]["at"] == "barn"
    assert (hen["nest"]["attrs"]["mat"], shown["tick"], shown["next_id"]) == (8, 5, 8)
    assert engine.hash(engine.restored(shown)) == engine.hash(found)
    after = engine.play(found, game.session.legal()[0].command)[0]
    assert after.next_id == 9
    assert engine.json(base)["next_id"] == 6


@pytest.mark.parametrize(
    ("columns", "why"),
    [
        ({"Place.matt": [1]}, "no fluent of this name"),
        ({"Place.mat": [1, 2]}, "the shape [2], not [3]"),
        ({"Place.mat": [1, 2, 21]}, "21 is no value of its type"),
        ({"Place.mat": [1.5, 2, 3]}, "no whole numbers"),
        ({"Place.mat": ["a", "b", "c"]}, "no numbers"),
        ({"Body.at": [5, 0, 0]}, "5 is no value of its type"),
        ({"Place.mat": [1, 2, -(2**63)]}, "no value somewhere"),
        ({"stock": [[1, 1, 1, 1]]}, "the shape [1, 4], not [3, 4]"),
    ],
)
def test_what_does_not_fit_is_told(game: Game, columns: dict[str, Any], why: str) -> None:
    with pytest.raises(Failure) as failure:
        game.session.engine.snapshot(game.state, columns)
    (told,) = failure.value.diagnostics
    assert told.code == "TW0006"
    assert why in told.message


def test_objects_that_do_not_fit_are_told(game: Game) -> None:
    from tokenworld.engine.arrays import Made

    engine = game.session.engine
    for made, why in (
        (Made("Goat", {}), "no type of this name"),
        (Made("Hen", {"wings": 2}), "no such attribute"),
        (Made("Hen", {"way": 9}), "9 is no value"),
        (Made("Hen", {}, name="ida"), "two objects have one name"),
    ):
        with pytest.raises(Failure, match=why):
            engine.snapshot(game.state, objects=[made])
