"""Every text game is won by a plan that is certified, and no longer than the published walkthrough.

Where the plan guesses a secret it is asked for an honest one, and told that there is none.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tokenworld.cli import _main

GAMES = Path(__file__).parents[2] / "domains" / "textgames"
WALKTHROUGHS = {
    "balance-scale-heaviest": 11,
    "balance-scale-weigh": 16,
    "bath-tub-water-temperature": 6,
    "bird-life-cycle": 10,
    "blood-type": 3,
    "boil-water": 14,
    "clean-energy": 4,
    "conductivity": 9,
    "cooking": 14,
    "dishwasher": 25,
    "forge-key": 14,
    "hang-painting": 5,
    "inclined-plane": 36,
    "lit-lightbulb": 4,
    "make-campfire": 9,
    "make-ice-cubes": 12,
    "metal-detector": 20,
    "mix-paint": 3,
    "multimeter": 4,
    "plant-tree": 13,
    "refrigerate-food": 9,
    "scale-weigh": 4,
    "space-walk": 7,
    "sunburn": 6,
    "sweep-floor": 9,
    "take-photo": 7,
    "thermometer": 3,
    "use-bandage": 4,
    "volume": 5,
    "volume-container": 8,
    "volume-stone": 10,
    "wash-clothes": 45,
}
"""How many commands the published walkthrough of each game has."""
HERE = sorted(path.parent.name for path in GAMES.glob("*/world.tw"))
Tw = Callable[..., tuple[int, str]]


@pytest.fixture
def tw(capsys: pytest.CaptureFixture[str]) -> Tw:
    """``tw("plan", …)``: exit code and output."""

    def call(*arguments: object) -> tuple[int, str]:
        code = _main([str(one) for one in arguments])
        return code, capsys.readouterr().out

    return call


@pytest.mark.parametrize("game", HERE)
def test_it_is_won_by_a_certified_plan(game: str, tw: Tw, tmp_path: Path) -> None:
    world, certificate = GAMES / game / "world.tw", tmp_path / "certificate.json"
    code, out = tw("plan", world, "--certificate", certificate, "--json")
    assert code == 0, out
    found = json.loads(out)
    assert found["answer"] == "winnable"
    assert 0 < len(found["plan"]) <= WALKTHROUGHS[game]

    code, out = tw("plan", world, "--check", certificate)
    assert code == 0, out
    assert "every hash agrees, the goal is reached" in out
    assert "replayed by the reference evaluator" in out

    stored = json.loads(certificate.read_text(encoding="utf-8"))
    stored["steps"] = stored["steps"][:-1]
    certificate.write_text(json.dumps(stored), encoding="utf-8")
    assert tw("plan", world, "--check", certificate)[0] == 1


@pytest.mark.parametrize(
    ("game", "best", "ways"),
    [
        ("balance-scale-heaviest", 0, 16),
        ("balance-scale-weigh", 1, 19),
        ("conductivity", 1, 2),
        ("inclined-plane", 6, 12),
    ],
)
def test_no_honest_plan_guesses_the_secret(game: str, best: int, ways: int, tw: Tw) -> None:
    code, out = tw("plan", GAMES / game / "world.tw", "--honest")
    assert code == 1
    assert "no goal can be reached by an honest plan" in out
    assert f"no plan wins in all {ways} ways" in out
    assert (f"no plan wins in more than {best} of them" in out) == bool(best)


def test_a_bath_is_warm_whatever_the_water_was(tw: Tw) -> None:
    """Water of any temperature is cooled or heated until it is nearly the same."""
    code, out = tw("plan", GAMES / "bath-tub-water-temperature/world.tw", "--honest", "--json")
    found = json.loads(out)
    assert (code, found["answer"], len(found["plan"])) == (0, "winnable", 10)
    assert found["honest"]["assignments"] == 41
