"""A number of more than 1,000 digits is an error of the world (TW1006), wherever it comes up."""

from __future__ import annotations

import pytest
from tiny import play

from tokenworld.diagnostics import Source
from tokenworld.engine import EngineSimulator
from tokenworld.planning.search.interpreted import Limits, search
from tokenworld.session import check_text
from tokenworld.session.loading import open_text
from tokenworld.session.rollouts import Choice, rollout
from tokenworld.verbs.fuzz.playing import opened

GO = {"action": "go", "args": []}
LINE = " world w {{ {goal} }}"
RULES = "type K { n: int = 10  m: int = -10  b: 0 to 9 = 0 } object k: K object j: K "
GOAL = "goal g: k.n == 7"
GROWING = {
    "square": ("action go() { k.n = k.n * k.n }", GOAL),
    "square and more": ("action go() { k.n = k.n * k.n + 1 - k.m }", GOAL),
    "law": ("action go() { } law up(x: K) { x.n = x.n * x.n }", GOAL),
    "law in turn": (
        "phase p sequentially action go() { } law up(x: K) during p { x.n = x.n * x.n }",
        GOAL,
    ),
    "named": ("action go() { let s = k.n * k.n  k.n = s }", GOAL),
    "derived": ("derive s(x: K) = x.n * x.n action go() { k.n = s(k) }", GOAL),
    "loop": ("action go() { for x: K { x.n = x.n * x.n } }", GOAL),
    "require": ("action go() { require k.n * k.n * k.n > 0 else no 'No.'  k.n = k.n * k.n }", GOAL),
    "sum": ("action go() { k.n = sum(x.n * x.n for x: K) }", GOAL),
    "birth": ("action go() { let s = k.n * k.n  create x: K { n = s * 3 }  k.n = s }", GOAL),
    "goal": ("action go() { k.n = k.n * k.n }", "goal g: k.n * k.n * k.n == 7"),
    "score": ("action go() { k.n = k.n * k.n }", f"{GOAL} score = k.n * k.n * k.n"),
    "award": ("action go() { k.n = k.n * k.n }", f"{GOAL} award 1 when k.n * k.n == 8"),
    "reward": ("action go() { reward k.n * k.n * k.n  k.n = k.n * k.n }", GOAL),
    "text": ("action go() { k.n = k.n * k.n  say '{k.n * k.n * k.n}' }", GOAL),
    "watch": ("action go() { k.n = k.n * k.n } watch s() when k.n * k.n > 0 { say 'Oh.' }", GOAL),
    "invariant": ("action go() { k.n = k.n * k.n } invariant i(x: K): x.n * x.n > 0", GOAL),
    "clamped": ("action go() { k.b = clamp(k.n * k.n, 0, 9)  k.n = k.n * k.n }", GOAL),
}
"""Rules in which a number has some 1,000 digits after ten ticks."""
DOUBLING = {
    "added": ("action go() { k.n += k.n }", GOAL),
    "taken": ("action go() { k.n -= -k.n }", GOAL),
    "summed": ("action go() { let s = sum(y.n for y: K)  for x: K { x.n = s } }", GOAL),
}
"""Rules in which a number doubles with each tick."""


def text_of(rules: str, goal: str) -> str:
    return (RULES + rules + LINE.format(goal=goal)).replace("'", '"')


@pytest.mark.parametrize("name", GROWING)
def test_engine_and_reference_refuse_the_same_numbers(name: str) -> None:
    game = opened(text_of(*GROWING[name]))
    records = [game.step(GO)[-1] for _ in range(12)]
    statuses = [one.status for one in records]
    assert statuses[0] == "executed"
    assert "error" in statuses
    broken = next(one for one in records if one.status == "error")
    assert broken.breach is not None
    assert broken.breach["code"] == "TW1006"


@pytest.mark.parametrize("name", DOUBLING)
def test_what_doubles_ends_in_an_error_too(name: str) -> None:
    game = play(text_of(*DOUBLING[name]))
    for _ in range(4_000):
        last = game.do("go()")
        if last.status != "executed":
            break
    assert last.status == "error"
    assert last.breach is not None
    assert last.breach["code"] == "TW1006"
    assert len(str(game.get("k.n"))) < 1_010


@pytest.mark.parametrize("name", ["added", "taken", "summed"])
def test_engine_and_reference_double_alike(name: str) -> None:
    rules, goal = DOUBLING[name]
    start = RULES.replace("n: int = 10", f"n: int = {7 * 10**995}")
    game = opened((start + rules + LINE.format(goal=goal)).replace("'", '"'))
    assert game.step(GO)[-1].status == "executed"
    statuses = [game.step(GO)[-1].status for _ in range(20)]
    assert statuses[-1] == "error"


LONGEST = f"k.n += {7 * 10**999}"
MORE = {
    "moved": "transfer k.n of j.m to j.n",
    "toward": "j.n = toward(k.n, 0, 1)",
    "difference": "j.n = k.n - 1",
    "added": "j.n += k.n",
    "sum of one": "j.n = sum(x.n for x: K where x == k)",
}


@pytest.mark.parametrize("name", MORE)
def test_a_number_just_above_the_limit_counts_nowhere(name: str) -> None:
    """Two additions of numbers that are just short enough lead above the limit."""
    rules = f"action grow() {{ {LONGEST} }} action go() {{ {MORE[name]} }} world w {{ {GOAL} }}"
    game = opened(RULES.replace("int = 10", "int = 0") + rules)
    grow = {"action": "grow", "args": []}
    assert [game.step(one)[-1].status for one in (GO, grow, GO, grow, GO)] == [
        "executed", "executed", "executed", "executed", "error",
    ]  # fmt: skip


def test_a_search_goes_on_past_it() -> None:
    world = open_text((Source("t.tw", None, text_of(*GROWING["square"])),), "w")
    simulator = EngineSimulator(world.engine)
    result = search(simulator, simulator.start(), None, Limits(states=100))
    assert result.states == 10  # 10 squared nine times; then nothing can be done
    assert type(result).__name__ == "Exhausted"


@pytest.mark.parametrize("engine", ["auto", "plain", "play"])
def test_rollouts_count_the_errors(engine: Choice) -> None:
    world = open_text((Source("t.tw", None, text_of(*GROWING["square"])),), "w")
    found = rollout(world, worlds=2, ticks=30, engine=engine)
    assert found.to_json()["statuses"]["error"] > 0


@pytest.mark.parametrize("count", [250, 251, 2_000])
def test_a_text_has_so_many_slots_at_most(count: int) -> None:
    text = f'type K {{ n: int }} object k: K action go() {{ say "{"{k.n} " * count}" }}'
    text += " world w { goal g: k.n == 7 }"
    found = check_text(Source("t.tw", None, text)).diagnostics
    assert [one.code for one in found] == ([] if count <= 250 else ["TW0104"])
    if count <= 250:
        assert play(text).do("go()").said == ("0 " * count,)
