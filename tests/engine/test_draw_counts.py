"""Draws are counted through a tick (language.md §13)."""

from __future__ import annotations

from tiny import Game, play

from tokenworld.engine import EngineSimulator
from tokenworld.ground import Command

COIN = """
type C { heads: 0 to 9 = 0  tails: 0 to 9 = 0  n: 0 to 99 = 0 }
type H
actor me: H
action flip(c: C) takes 0 { chance 50% { c.heads += 1 } else { c.tails += 1 } }
action note(c: C) { chance 50% { c.n += 1 } }
LINES
world w { object h: H  object c, d: C  SETTINGS }
"""


def coin(lines: str = "", settings: str = "", seed: int = 0) -> Game:
    return play(COIN.replace("LINES", lines).replace("SETTINGS", settings), seed)


def test_the_second_run_in_a_tick_takes_the_next_draw() -> None:
    game = coin()
    taken = [game.do(f"flip({one})").draws[0] for one in ("c", "c", "d", "c")]
    assert [one.draw for one in taken] == [0, 1, 0, 2]
    assert game.session.state_json()["drawn"] == [
        ["action flip", ["h", "c"], 3], ["action flip", ["h", "d"], 1],
    ]  # fmt: skip
    game.do("pass")
    assert "drawn" not in game.session.state_json()
    assert game.do("flip(c)").draws[0].draw == 0


def test_two_free_flips_may_fall_differently() -> None:
    found = set()
    for seed in range(20):
        game = coin(seed=seed)
        game.all("flip(c)", "flip(c)")
        found.add((game.get("c.heads"), game.get("c.tails")))
    assert found == {(2, 0), (1, 1), (0, 2)}


def test_only_draws_of_committed_work_count() -> None:
    found = set()
    for seed in range(8):
        game = coin("invariant lucky(c: C): c.tails == 0 or c.n > 50", seed=seed)
        first, again = game.do("flip(c)"), game.do("flip(c)")
        if first.status == "rolled_back":
            assert (again.status, again.hash_after) == ("rolled_back", first.hash_before)
            assert "drawn" not in game.session.state_json()
        else:
            assert game.session.state_json()["drawn"] != []
        found.add(first.status)
    assert found == {"executed", "rolled_back"}


DIG = """
type H { gold: 0 to 1 = 1  cave: bool = false  luck: 0 to 9 = 0 }
actor me: H
action dig() takes 2 {
  chance 50% { me.gold += 1 } else { me.cave = true }
  cancelled { chance 50% { me.luck += 1 } }
}
world w { object h: H }
"""


def test_what_makes_an_action_fail_is_a_draw_of_its_own() -> None:
    """The draw of `cancelled` does not fall as the one did that left the range."""
    found = set()
    for seed in range(40):
        game = play(DIG, seed)
        game.do("dig()")
        record = game.do("pass")
        assert [one.draw for one in record.draws] == list(range(len(record.draws)))
        found.add((record.status, game.get("h.cave"), game.get("h.luck")))
    interrupted = {("interrupted", False, 0), ("interrupted", False, 1)}
    assert found == {("executed", True, 0), *interrupted}


def test_a_state_is_restored_amid_a_tick() -> None:
    game = coin()
    game.all("flip(c)", "flip(d)", "flip(c)")
    engine, state = game.session.engine, game.state
    restored = engine.restored(engine.json(state))
    assert engine.hash(restored) == engine.hash(state)
    flip = Command("flip", (state.numbers["c"],))
    ours, theirs = engine.play(state, flip), engine.play(restored, flip)
    assert ours[1][0].draws == theirs[1][0].draws
    assert engine.hash(ours[0]) == engine.hash(theirs[0])


def test_undo_takes_back_the_count() -> None:
    game = coin()
    first = game.do("flip(c)")
    game.session.undo()
    assert game.do("flip(c)").draws == first.draws


def test_a_search_does_not_tell_states_by_draws() -> None:
    game = coin()
    game.do("flip(c)")
    simulator, bare = EngineSimulator(game.session.engine, game.state), game.state.fork()
    bare.drawn = {}
    assert simulator.key(game.state) == simulator.key(bare)
    flipped = simulator.successors(game.state, Command("flip", (game.state.numbers["c"],)))
    assert [one.draws[0].draw for one in flipped] == [0, 0]


def test_actors_of_a_round_count_on() -> None:
    lines = "action both(c: C) { chance 50% { c.n += 1 } }"
    game = play(COIN.replace("LINES", lines).replace("object h: H", "object h, k: H  turns h, k")
                .replace("SETTINGS", ""))  # fmt: skip
    game.do("flip(c)")
    game.do("both(c)")
    assert game.session.state_json()["drawn"] == [
        ["action both", ["h", "c"], 1], ["action flip", ["h", "c"], 1],
    ]  # fmt: skip
    game.do("flip(c)")
    game.do("pass")
    assert "drawn" not in game.session.state_json()


LOOP = """
type Room { mark: real = 0.0 }
type Item { weight: 0 to 6 = 0 }
type H
enum Hue { red, green, blue }
actor me: H
object attic: Room
action give(c: Hue) {
  for other: Hue { chance 50% { attic.mark += 1.0 } }
  pick x: Item { x.weight -= 1 }
}
world w {
  object h: H
  object a, b: Item { weight = 1 }
  object c, d: Item
}
"""


def test_the_list_counts_the_draws_of_a_loop_before_the_draw_that_refuses() -> None:
    refused = 0
    for seed in range(8):
        listed = {one.call for one in play(LOOP, seed).session.legal()}
        for call in ("give(red)", "give(green)", "give(blue)"):
            status = play(LOOP, seed).do(call).status
            assert (status == "executed") == (call in listed)
            refused += status == "refused"
    assert 0 < refused < 24
