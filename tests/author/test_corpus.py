"""Good worlds of the judge's corpus get through the loop; those with a planted error do not."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.author.conftest import Run, call, dev, whole
from tokenworld.syntax import nodes as syn
from tokenworld.verbs.author.desk import Settings
from tokenworld.verbs.author.sources import items_of, without_scenarios
from tokenworld.verbs.judge.contract import Budget

JUDGE = Path(__file__).parents[1] / "judge"
PLANTED = tomllib.loads((JUDGE / "planted.toml").read_text(encoding="utf-8"))["planted"]
TEAM = Settings(
    roles=("analyst", "developer", "tester"), rounds=1, judge=Budget(ticks=200, mutants=10)
)


def parts(name: str) -> tuple[str, str, list[dict[str, Any]]]:
    """A world without its scenarios, its scenarios, and its mechanics."""
    text = (JUDGE / "corpus" / f"{name}.tw").read_text(encoding="utf-8")
    contract = json.loads((JUDGE / "corpus" / f"{name}.json").read_text(encoding="utf-8"))
    spans = [one.span for one in items_of(text)[0] if isinstance(one, syn.ScenarioDecl)]
    tests = "\n\n".join(text[span.start : span.end] for span in spans)
    return without_scenarios(text), f"{tests}\n", contract["mechanics"]


def answers(source: str, tests: str, mechanics: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """A team that makes no mistake but those in the world."""
    goals = {
        line.name.value
        for world in items_of(source)[0]
        if isinstance(world, syn.WorldDecl)
        for line in world.items
        if isinstance(line, syn.Ending) and line.kind == "goal"
    }
    listed: dict[str, list[dict[str, str]]] = {"mechanics": [], "win": []}
    for one in mechanics:
        kind = "win" if goals & set(one["rules"]) else "mechanics"
        listed[kind].append({"id": one["id"], "text": one["text"], "quote": one["text"]})
    rules = {one["id"]: one["rules"] for one in mechanics}
    submit = call(json.dumps({"tool": "submit", "rules": rules}))
    return [("analyst", json.dumps(listed)), dev(whole(source), submit), ("tester", whole(tests))]


@pytest.mark.parametrize("name", ["camp", "river", "lift"])
def test_a_good_world_gets_through(name: str, run: Run) -> None:
    source, tests, mechanics = parts(name)
    description = " ".join(one["text"] for one in mechanics)
    done = run(answers(source, tests, mechanics), TEAM, description)
    assert done.result.reason == "accepted", done.codes


SOME = [
    one
    for one in PLANTED
    if one["world"] in ("camp", "river") and one["old"] in parts(one["world"])[0]
]


@pytest.mark.parametrize("one", SOME[:6], ids=lambda one: one["error"])
def test_a_planted_error_does_not(one: dict[str, str], run: Run) -> None:
    source, tests, mechanics = parts(one["world"])
    description = " ".join(one["text"] for one in mechanics)
    wrong = source.replace(one["old"], one["new"])
    done = run(answers(wrong, tests, mechanics), TEAM, description)
    assert done.result.best is None or done.result.best.status != "accepted"
