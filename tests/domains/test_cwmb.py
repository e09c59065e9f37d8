"""The worlds of `domains/cwmb`: checked without a remark, tested so that mistakes are noticed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tokenworld.cli import _main

FOLDER = Path(__file__).parents[2] / "domains" / "cwmb"
WORLDS = ("acrobot", "blackjack", "cart_pole", "mountain_car")


@pytest.mark.parametrize("name", WORLDS)
def test_it_is_sound_without_a_remark(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert _main(["check", str(FOLDER / f"{name}.tw"), "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["files"]
    assert found["diagnostics"] == []


@pytest.mark.parametrize("name", WORLDS)
def test_its_scenarios_pass(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert _main(["test", str(FOLDER / f"{name}.tw")]) == 0
    assert "0 failed" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize("name", WORLDS)
def test_its_scenarios_notice_mistakes(name: str) -> None:
    assert _main(["mutate", str(FOLDER / f"{name}.tw"), "--least", "80"]) == 0


def test_blackjack_can_be_won(capsys: pytest.CaptureFixture[str]) -> None:
    assert _main(["plan", str(FOLDER / "blackjack.tw"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["answer"] == "winnable"
