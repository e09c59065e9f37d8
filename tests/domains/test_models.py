"""The demo worlds are models of testing: scenarios reach nearly all of their rules, and notice most
small mistakes in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Tw, tw  # noqa: F401

DOMAINS = Path(__file__).parents[2] / "domains"
TESTED_ELSEWHERE = ("cwmb", "templates", "textgames", "usecases")
WORLDS = sorted(one.name for one in DOMAINS.iterdir() if one.name not in TESTED_ELSEWHERE)
LARGE = (
    "boil_water", "cottage", "crafter", "dishwasher", "frozen_lake", "greenhouse", "island",
    "kitchen", "smugglers", "willowbrook",
)  # fmt: skip
"""Worlds whose scenarios take more than half a second."""
MUTANTS = {"cottage": "60", "willowbrook": "30"}
"""How many mutants of a large world are judged; of the others all are."""


def case(name: str) -> object:
    return pytest.param(name, marks=pytest.mark.slow) if name in LARGE else name


@pytest.mark.parametrize("name", map(case, WORLDS))
def test_scenarios_reach_the_rules(tw: Tw, name: str) -> None:  # noqa: F811
    """The files of a folder are one world: a twin is tested by the scenarios of its model too."""
    ran = tw("test", DOMAINS / name, "--coverage", "--json")
    assert ran.code == 0
    files = [one for one in ran.json["coverage"] if not one["imported"]]
    assert files
    places = [place for one in files for place in one["places"]]
    missed = [f"{one['place']}: {one['what']}" for one in places if not one["covered"]]
    assert len(missed) <= 0.1 * len(places), missed


@pytest.mark.slow
@pytest.mark.parametrize("name", [one for one in WORLDS if one != "crafter"])  # 30 minutes
def test_scenarios_notice_mistakes(tw: Tw, name: str) -> None:  # noqa: F811
    sample = ("--sample", MUTANTS[name]) if name in MUTANTS else ()
    assert tw("mutate", DOMAINS / name / "world.tw", "--least", "80", *sample).code == 0


@pytest.mark.slow
def test_a_night_of_smugglers_notices_mistakes(tw: Tw) -> None:  # noqa: F811
    assert tw("mutate", DOMAINS / "smugglers" / "night.tw", "--least", "80").code == 0
