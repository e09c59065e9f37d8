"""Chance (language.md §13): the draw is worked out here a second time, from the reference alone."""

from __future__ import annotations

import struct
from collections import Counter
from typing import Any

import pytest
from tiny import Game, play

from tokenworld.engine import ForcedLuck
from tokenworld.ground import LuckyDraw, draw

WORDS = 1 << 64


def finalised(z: int) -> int:
    """The finaliser of SplitMix64."""
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % WORDS
    z = (z ^ z >> 27) * 0x94D049BB133111EB % WORDS
    return z ^ z >> 31


def step(z: int) -> int:
    return finalised((z + 0x9E3779B97F4A7C15) % WORDS)


def word(value: Any) -> int:
    """The word of a name, a number or `none`."""
    if value is None:
        return 0
    if isinstance(value, float) and value % 1:
        return int(struct.pack("<d", value)[::-1].hex(), 16)
    if isinstance(value, str):
        fold = 14695981039346656037
        for byte in value.encode("utf-8"):
            fold = (fold ^ byte) * 1099511628211 % WORDS
        return finalised(fold)
    return int(value) % WORDS


def u(seed: int, tick: int, rule: str, args: list[Any], number: int) -> int:
    """Draw ``number`` of a rule: SplitMix64 from the state of moment and key."""
    key = word(rule)
    for value in args:
        key = step(key ^ word(value))
    state = step(step(finalised(seed % WORDS) ^ tick) ^ key)
    return step((state + number * 0x9E3779B97F4A7C15) % WORDS)


def holds(value: int, percent: int) -> bool:
    """`chance p` holds if u < floor(p * 2**64)."""
    return value < percent * 2**64 // 100


def test_the_draw_of_the_reference_example() -> None:
    assert draw(7, 12, "law wander", ("ghoul",), 0) == u(7, 12, "law wander", ["ghoul"], 0)


def test_names_outside_ascii_are_drawn_on_in_utf_8() -> None:
    assert draw(1, 2, "law w", ("ghöul",), 3) == u(1, 2, "law w", ["ghöul"], 3)


ACTION = """
enum Way { north, south }
type T { n: 0 to 99 = 0  r: real }
actor me: T
action flip(t: T, w: Way, k: 1 to 3) {
  chance 30% { me.n = 1 } or 25% { me.n = 2 } else { me.n = 3 }
}
action quiet() { chance 10% { me.n = 7 } }
action value() { let luck = chance 40%  let more = chance 0.5  if luck { me.n += 1 }
                 if more { me.n += 2 } }
action roll() { let v = uniform(-2, 3)  me.r = v }
world w { object h: T  object k: T }
"""


@pytest.mark.parametrize("seed", range(12))
def test_an_action_is_keyed_by_its_actor_then_its_arguments(seed: int) -> None:
    game = play(ACTION, seed)
    for tick in range(6):
        record = game.do("flip(k, south, 2)")
        value = u(seed, tick, "action flip", ["h", "k", "south", 2], 0)
        expected = 1 if holds(value, 30) else 2 if holds(value, 55) else 3
        assert game.get("h.n") == expected
        (drawn,) = record.draws
        assert drawn == LuckyDraw("action flip", ("h", "k", "south", 2), 0, expected - 1, 3)


@pytest.mark.parametrize("seed", range(8))
def test_without_an_actor_the_key_begins_with_null(seed: int) -> None:
    game = play(
        """
        type T { n: 0 to 9 = 0 }
        action a(t: T) { chance 50% { t.n = 1 } else { t.n = 2 } }
        world w { object h: T }
        """,
        seed,
    )
    game.do("a(h)")
    assert game.get("h.n") == (1 if holds(u(seed, 0, "action a", [None, "h"], 0), 50) else 2)


@pytest.mark.parametrize("seed", range(12))
def test_several_draws_of_one_rule_are_counted(seed: int) -> None:
    game = play(ACTION, seed)
    game.do("value()")
    first = holds(u(seed, 0, "action value", ["h"], 0), 40)
    second = holds(u(seed, 0, "action value", ["h"], 1), 50)
    assert game.get("h.n") == first + 2 * second


@pytest.mark.parametrize("seed", range(4))
def test_uniform_uses_53_bits_of_the_draw(seed: int) -> None:
    game = play(ACTION, seed)
    game.do("roll()")
    share = (u(seed, 0, "action roll", ["h"], 0) >> 11) / 2**53
    assert game.get("h.r") == -2.0 + 5.0 * share


def test_without_else_nothing_happens() -> None:
    found = {play(ACTION, seed).do("quiet()").noop for seed in range(40)}
    assert found == {True, False}


LAWS = """
enum Mood { sad < glad }
type T { n: 0 to 99 = 0  w: 0 to 9 = 1  seen: bool }
type K : T
actor me: K
%s
action wait() { }
world w { object h: K  object a: T { w = 3 }  object b: T { w = 0 }  object c: T { w = 6 } }
"""


def chosen(game: Game) -> list[str]:
    return [name for name in "habc" if game.get(f"{name}.n") > 0]


@pytest.mark.parametrize("seed", range(10))
def test_pick_is_uniform_over_the_candidates_in_order(seed: int) -> None:
    game = play(LAWS % "law l() { pick t: T where t.w > 0 { t.n += 1 } }", seed)
    record = game.do("wait()")
    index = u(seed, 0, "law l", [], 0) * 3 // 2**64
    assert chosen(game) == [["h", "a", "c"][index]]
    assert record.draws == (LuckyDraw("law l", (), 0, index, 3),)


@pytest.mark.parametrize("seed", range(10))
def test_pick_by_weight_is_cumulative(seed: int) -> None:
    game = play(LAWS % "law l() { pick t: T by weight t.w { t.n += 1 } }", seed)
    game.do("wait()")
    value, reached, expected = u(seed, 0, "law l", [], 0), 0, []
    for name, weight in (("h", 1), ("a", 3), ("b", 0), ("c", 6)):
        if reached * 2**64 <= value * 10 < (reached + weight) * 2**64:
            expected.append(name)
        reached += weight
    assert chosen(game) == expected


def test_pick_by_least_and_most_are_deterministic_and_take_the_first() -> None:
    for words, expected in (("least t.w", "b"), ("most t.w", "c"), ("least t.n", "h")):
        game = play(LAWS % f"law l() {{ pick t: T by {words} {{ t.n += 1 }} }}")
        assert game.do("wait()").draws == ()
        assert chosen(game) == [expected]


def test_pick_without_a_candidate_takes_else() -> None:
    for where in ("where t.w > 9", "where t.w == 0 by weight t.w"):
        game = play(LAWS % f"law l() {{ pick t: T {where} {{ t.n += 1 }} else {{ me.n += 5 }} }}")
        game.do("wait()")
        assert game.get("h.n") == 5


def test_pick_as_a_value_is_none_without_a_candidate() -> None:
    rule = "law l() { let t = pick { t: T where t.w > %d }"
    rule += " if t == none { me.n = 9 } else { t.n = 1 } }"
    game = play(LAWS % (rule % 8))
    game.do("wait()")
    assert game.get("h.n") == 9
    game = play(LAWS % (rule % 5))
    game.do("wait()")
    assert chosen(game) == ["c"]


@pytest.mark.parametrize("seed", range(6))
def test_laws_are_keyed_by_name_tick_and_arguments(seed: int) -> None:
    game = play(LAWS % "law l(t: T, m: Mood, q: 0.5 to 0.6) { chance 50% { t.n += 1 } }", seed)
    for tick in range(3):
        before = game.get("a.n")
        game.do("wait()")
        gained = sum(
            holds(u(seed, tick, "law l", ["a", mood, q], 0), 50)
            for mood in ("sad", "glad")
            for q in (0.5, 0.6)
        )
        assert game.get("a.n") - before == gained


@pytest.mark.parametrize("seed", range(6))
def test_the_setup_draws_by_its_position_at_tick_0(seed: int) -> None:
    game = play(
        """
        type T { n: 0 to 9 = 0 }
        actor me: T
        world w { object h: T  setup { } setup { chance 50% { h.n = 1 } else { h.n = 2 } } }
        """,
        seed,
    )
    assert game.get("h.n") == (1 if holds(u(seed, 0, "setup", [1], 0), 50) else 2)


@pytest.mark.parametrize("seed", range(5))
def test_editing_one_rule_shifts_no_draw_of_another(seed: int) -> None:
    keep = "law keep(t: T) { chance 50% { t.n += 1 } }"
    more = "law more(t: T) { chance 30% { t.seen = true } chance 20% { t.seen = true } }\n"
    alone, after, before = (play(LAWS % one, seed) for one in (keep, keep + more, more + keep))
    for _ in range(5):
        for game in (alone, after, before):
            game.do("wait()")
        found = [[game.get(f"{name}.n") for name in "habc"] for game in (alone, after, before)]
        assert found[0] == found[1] == found[2]


def test_refused_and_discarded_work_costs_no_draw() -> None:
    rules = """
        type T { n: 0 to 9 = 0  bad: bool }
        actor me: T
        invariant fine(t: T): not t.bad
        action no() { require me.n > 9 else no "No."  chance 50% { me.n = 1 } }
        action ruin() { me.bad = me.n < 9  chance 50% { me.n = 1 } }
        action flip() { chance 50% { me.n = 1 } else { me.n = 2 } }
        world w { object h: T }
        """
    for seed in range(6):
        plain, tried = play(rules, seed), play(rules, seed)
        assert [tried.do(one).status for one in ("no()", "ruin()", "xyzzy")] == [
            "refused", "rolled_back", "no_match",
        ]  # fmt: skip
        assert tried.do("no()").draws == ()
        assert plain.do("flip()").changes == tried.do("flip()").changes


def test_outcomes_can_be_forced_and_are_all_found_by_a_search() -> None:
    game = play(ACTION)
    successors = game.session.simulator().successors(game.state, game.session.legal()[0].command)
    assert len(successors) == 3
    values = []
    for one in successors:
        (outcome,) = game.session.engine.play(
            game.state, game.session.legal()[0].command, ForcedLuck(one.draws)
        )[1]
        assert outcome.draws == one.draws
        values += [change.new for change in outcome.changes if change.fluent == "T.n"]
    assert sorted(values) == [1, 2, 3]


def test_probabilities_beyond_1_at_run_time_are_an_error() -> None:
    rules = """
        type T { n: 0 to 9 = 0  p: 0.0 to 2.0 = 0.6 }
        actor me: T
        action flip() { chance me.p { me.n = 1 } or me.p { me.n = 2 } }
        action pick_one() { pick t: T by weight t.n - 1 { t.p = 0 } }
        world w { object h: T }
        """
    game = play(rules)
    for words in ("flip()", "pick_one()"):
        record = game.do(words)
        assert record.status == "error"
        assert record.breach["code"] == "TW1006"  # type: ignore[index]


def test_certain_and_impossible_branches() -> None:
    game = play(
        """
        type T { n: 0 to 9 = 0 }
        actor me: T
        action sure() { chance 100% { me.n += 1 } else { me.n = 9 } }
        action fat() { chance 0% { me.n = 9 } else { me.n += 1 } }
        world w { object h: T }
        """
    )
    for _ in range(4):
        assert game.all("sure()").draws == ()
        assert game.all("fat()").draws == ()
    assert game.get("h.n") == 8


def test_frequencies_are_about_right() -> None:
    game = play(ACTION, 5)
    found: Counter[int] = Counter()
    for _ in range(400):
        game.do("flip(h, north, 1)")
        found[game.get("h.n")] += 1
    assert 90 < found[1] < 150
    assert 70 < found[2] < 130
    assert 140 < found[3] < 220


def test_a_draw_is_told_with_its_site_and_its_probabilities() -> None:
    game = play(ACTION, 3)
    (drawn,) = game.do("flip(k, south, 2)").draws
    line = next(n for n, text in enumerate(ACTION.splitlines(), 1) if "chance 30%" in text)
    assert drawn.site.endswith(f":{line}:3")
    assert drawn.to_json()["chances"] == [0.3, 0.25, 0.45]
    share = ("30%", "25%", "45%")[drawn.choice]
    assert drawn.text() == f"outcome {drawn.choice + 1} of 3 ({share}), at {drawn.site}"


def test_weights_are_told_as_probabilities() -> None:
    game = play(LAWS % "law l() { pick t: T by weight t.w { t.n += 1 } }", 1)
    (drawn,) = game.do("wait()").draws
    assert drawn.chances == (0.1, 0.3, 0.0, 0.6)
