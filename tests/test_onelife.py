"""OneLife's protocol on Crafter, as `python -m benchmarks --learn` measures it."""

from __future__ import annotations

import copy
import random
import sys
from math import inf
from pathlib import Path

import pytest

pytest.importorskip("crafter", reason="the extra `crafter` is not installed")

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.onelife.documents import distance, game_of, small_world
from benchmarks.onelife.fits import with_params
from benchmarks.onelife.laws import CLOCK, NARROW, WIDE, Observables
from benchmarks.onelife.models import Copied, Exact, Randomized
from benchmarks.onelife.mutating import mutants
from benchmarks.onelife.plans import COMPARISONS, in_game
from benchmarks.onelife.protocol import kept, measured, placed, transitions
from benchmarks.onelife.scenarios import SCENARIOS, Scenario, observed
from tokenworld.assets import domains_folder
from tokenworld.gym.crafter import CrafterStates
from tokenworld.session import open_world


def scenario(name: str) -> Scenario:
    return next(one for one in SCENARIOS if one.name == name)


@pytest.fixture(scope="module")
def exact(tmp_path_factory: pytest.TempPathFactory) -> Exact:
    return Exact(small_world(tmp_path_factory.mktemp("small")))


def test_scenarios_of_one_name_replace_each_other() -> None:
    assert len({one.name for one in SCENARIOS}) == 38
    assert len(kept()) == 23
    assert scenario("collect_coal") not in kept()


def test_a_scenario_succeeds_and_its_twin_does_not() -> None:
    (done,), (vain,) = (
        observed(scenario(x), 1) for x in ("collect_iron", "collect_iron (in vain)")
    )
    assert done.after["player"]["inventory"]["iron"] == 1
    assert vain.after["player"]["inventory"]["iron"] == 0
    assert distance(done.before, done.after) == distance(vain.before, vain.after) + 3


@pytest.mark.parametrize(
    ("above", "equal", "right", "first", "reciprocal"),
    [(0, 0, 1, 1, 1), (0, 1, 1, 0.5, 0.75), (1, 0, 1, 0, 0.5), (0, 1, 2, 2 / 3, 5 / 6)],
)
def test_equal_scores_come_in_any_order(
    above: int, equal: int, right: int, first: float, reciprocal: float
) -> None:
    found = placed(above, equal, right, 3)
    assert found.first == pytest.approx(first)
    assert found.reciprocal == pytest.approx(reciprocal)


def test_the_exact_rules_allow_what_happened_and_no_mutant(exact: Exact) -> None:
    rows = transitions([scenario("zombie_defeat"), scenario("craft_stone_sword")], 3)
    for one in (x for listed in rows.values() for x in listed):
        assert exact.score(one, one.after) > -inf
        assert sum(share for share, _ in exact.outcomes(one).values()) == 1
        for name, made in mutants(one.before, one.action, random.Random(1)):
            assert exact.score(one, made) == -inf, name


def test_the_three_columns_differ_for_the_exact_rules(exact: Exact) -> None:
    models = [exact, Copied(), Randomized()]
    rows = transitions([scenario("place_stone (in vain)")], 1)
    rules, copied, chance = measured(models, rows, 2, 1)
    ranks = [rules.mean(x, "first")[0] for x in ("as coded", "repaired", "as written")]
    assert ranks == [0.5, 1.0, 1.0]
    assert rules.edit(0) == 0
    assert copied.mean("repaired", "first")[0] == 0
    assert chance.edit(0) > 100


def test_a_document_is_a_state_of_the_game_or_none() -> None:
    shown = observed(scenario("eat_cow"), 1)[0].before
    assert game_of(shown) is not None
    shown["player"]["inventory"]["wood"] = 10
    assert game_of(shown) is None


@pytest.mark.parametrize("slots", [NARROW, WIDE, CLOCK])
def test_observables_are_told_and_put_back(slots: dict[str, tuple[str, ...]]) -> None:
    what = Observables(slots)
    one = observed(scenario("zombie_defeat"), 2)[0]
    told = what.told(one.before, one.action, one.after)
    put = what.put(copy.deepcopy(one.before), told)
    assert put["objects"][0]["health"] == 3
    assert what.told(one.before, one.action, put) == told


def test_each_probability_becomes_a_param() -> None:
    text = (domains_folder() / "crafter" / "rules.tw").read_text(encoding="utf-8")
    changed, truth = with_params(text, {"cow_walks_1": 0.25})
    assert len(truth) == 14
    assert truth["zombie_walks_1"] == 0.9
    assert "param cow_walks_1: 0.0% to 100.0% = 25.0% learned" in changed
    assert "chance cow_walks_1 {" in changed


def test_a_plan_is_played_in_the_game() -> None:
    one = COMPARISONS[2]
    place = domains_folder() / "crafter" / "duels.tw"
    states = CrafterStates(open_world(f"{place}:{one.world}"))
    assert [in_game(states, one, plan, 1) for plan in one.plans] == [4.0, 2.0]
