"""``tw duel`` with exact means, where few enough states can come about."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tokenworld.diagnostics import Source
from tokenworld.session import open_world
from tokenworld.session.rollouts import rollout
from tokenworld.verbs.learn import duel as module
from tokenworld.verbs.learn.duel import By, expected

Tw = Any
CRAFTER = Path(__file__).parents[2] / "domains" / "crafter"
COIN = """
type Coin { up: bool  ups: 0 to 9 clamped }
actor me: Coin
action flip() as "flip" {
  require me.ups < 2
  chance 30% { me.up = true  me.ups += 1 } else { me.up = false }
}
world w {
  object coin: Coin
  reward 5 when coin.up
  score = coin.ups
  goal twice: coin.ups == 2
}
"""


@pytest.fixture
def coin(tmp_path: Path) -> Path:
    (tmp_path / "coin.tw").write_text(COIN, encoding="utf-8")
    (tmp_path / "thrice.txt").write_text("flip\nflip\nflip\n", encoding="utf-8")
    (tmp_path / "once.txt").write_text("pass\npass\nflip\n", encoding="utf-8")
    return tmp_path / "coin.tw"


@pytest.mark.parametrize(
    ("world", "first", "second", "by", "means"),
    [
        ("zombie_fighter", "fight", "wait", "reward", None),
        ("stone_miner", "pickaxe_first", "bare_hands", "score", [3, 0]),
        ("sword_maker", "one_table", "two_tables", "score", [4, 2]),
    ],
)
def test_the_order_of_the_three_plans_is_right_and_exact(
    tw: Tw, world: str, first: str, second: str, by: str, means: list[int] | None
) -> None:
    plans = [CRAFTER / "small_plans" / f"{one}.txt" for one in (first, second)]
    ran = tw("duel", f"{CRAFTER / 'small_duels.tw'}:{world}", *plans, "--by", by, "--json")
    (found,) = ran.json["duels"]
    assert (ran.code, found["exact"], found["better"], found["runs"]) == (0, True, 1, 0)
    if means is not None:
        assert found["means"] == means


def test_exact_means_are_sums_over_all_outcomes(coin: Path) -> None:
    """Three flips, of which the world ends with the second that comes up."""
    world = open_world(str(coin))
    plan = Source("plan", None, "flip\nflip\nflip\n")
    up, down = Fraction(3, 10), Fraction(7, 10)
    won = up * up + 2 * up * up * down
    heads = 2 * won + 3 * up * down * down
    values: dict[By, Fraction] = {"won": won, "score": heads, "reward": 5 * heads}
    for by, value in values.items():
        assert expected(world, plan, by, 1000, 0) == value
    assert expected(world, plan, "score", 2, 0) == 2 * up  # two records at most
    half = Fraction(1, 2)  # the random player passes or flips
    assert expected(world, None, "score", 1, 0) == half * up


def test_exact_means_agree_with_runs(coin: Path) -> None:
    world = open_world(str(coin))
    mean = expected(world, None, "score", 4, 0)
    runs = rollout(world, worlds=400, ticks=4, policy="random")
    assert mean is not None
    assert sum(float(one) for one in runs.score) / 400 == pytest.approx(float(mean), abs=0.12)


def test_equal_plans_are_known_to_be_equal(tw: Tw, coin: Path) -> None:
    ran = tw("duel", coin, "thrice.txt", "thrice.txt", "--by", "score")
    assert ran.code == 0
    assert "equal" in ran.out
    assert "exact" in ran.out


def test_too_many_states_are_played(tw: Tw, coin: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST", 3)
    ran = tw("duel", coin, "thrice.txt", "once.txt", "--by", "score", "--worlds", "30", "--json")
    (found,) = ran.json["duels"]
    assert (found["exact"], found["runs"]) == (False, 30)
