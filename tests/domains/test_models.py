"""The worlds that are read first are models of testing: scenarios reach nearly all of their rules,
and notice most small mistakes in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Tw, tw  # noqa: F401

DOMAINS = Path(__file__).parents[2] / "domains"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["blocks", "cellar", "island", "kitchen"])
def test_scenarios_reach_the_rules_and_notice_mistakes(tw: Tw, name: str) -> None:  # noqa: F811
    world = DOMAINS / name / "world.tw"
    (found,) = tw("test", world, "--coverage", "--json").json["coverage"]
    places = found["places"]
    assert sum(one["covered"] for one in places) >= 0.9 * len(places)
    assert tw("mutate", world, "--least", "80").code == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["world", "night"])
def test_the_scenarios_of_smugglers_notice_mistakes(tw: Tw, name: str) -> None:  # noqa: F811
    assert tw("mutate", DOMAINS / "smugglers" / f"{name}.tw", "--least", "80").code == 0
