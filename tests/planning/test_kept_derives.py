"""What the analysis of values keeps of derives leaves its findings as they are."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from lower_random import random_world

from tokenworld.engine import EngineSimulator
from tokenworld.planning.lower.facts import Facts
from tokenworld.planning.lower.terms import Terms
from tokenworld.planning.lower.units import actions_of, laws_of
from tokenworld.planning.lower.values import KeptDerives, ValueAnalysis
from tokenworld.session import open_world

WORLDS = ["cottage", "kitchen", "usecases/line_of_sight"]


def _found(facts: Facts) -> tuple[object, ...]:
    analysis = ValueAnalysis(facts, [*actions_of(facts), *laws_of(facts)])
    profiles = [
        (unit.title, unit.args, one.feasible, one.sets, one.steps, one.swept, one.risky)
        for unit, one in analysis.profiles.items()
    ]
    readers = {
        slot: {(one.title, one.args) for one in who} for slot, who in analysis._readers.items()
    }
    return profiles, analysis._known, readers


def _forgetful(monkeypatch: pytest.MonkeyPatch) -> None:
    def begin(self: KeptDerives) -> None:
        Terms.forget(self)

    monkeypatch.setattr(KeptDerives, "begin", begin)
    monkeypatch.setattr(KeptDerives, "body", Terms.body)
    monkeypatch.setattr(KeptDerives, "derived", Terms.derived)


def _facts(simulator: EngineSimulator) -> Facts:
    state = simulator.start()
    return Facts(
        simulator.instance_at(state),
        lambda fluent, args: simulator.read(state, fluent, args),
        simulator.tick(state),
        stored=lambda fluent: simulator.stored(state, fluent),
    )


@pytest.mark.parametrize("seed", range(15))
def test_random_worlds_are_found_out_alike(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    facts = _facts(random_world(seed).simulator)
    kept = _found(facts)
    _forgetful(monkeypatch)
    assert _found(facts) == kept


@pytest.mark.parametrize("name", WORLDS)
def test_worlds_are_found_out_alike(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    facts = _facts(EngineSimulator(open_world(f"domains/{name}/world.tw").engine))
    kept = _found(facts)
    _forgetful(monkeypatch)
    assert _found(facts) == kept
