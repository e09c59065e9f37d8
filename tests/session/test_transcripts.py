"""A game as text: the story, records, a script and a plan to play again, a scenario that holds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tokenworld.diagnostics import Source
from tokenworld.play.model.transcripts import (
    FORMATS,
    jsonl,
    markdown,
    plan,
    scenario,
    script,
    text_as,
)
from tokenworld.prose.intents import read_script
from tokenworld.session import Session, run_scenario
from tokenworld.session.loading import check_text

WORLDS = Path(__file__).parents[1] / "tools" / "play" / "worlds"
DOMAINS = Path(__file__).parents[2] / "domains"
ATTIC = ("force trunk", "take robot", "fly", "wind robot", "sweep", "pass", "pass", "look")


def played(path: Path, commands: tuple[str, ...], seed: int = 7) -> Session:
    session = Session.open(str(path), seed)
    for text in commands:
        session.intend(text)
    return session


@pytest.fixture
def attic() -> Session:
    return played(WORLDS / "attic.tw", ATTIC)


def test_the_story_tells_commands_words_and_refusals(attic: Session) -> None:
    text = markdown(attic)
    assert text.startswith("# The Attic\n\nSeed 7, 5 ticks, score 2.\n")
    refused = "✗ weak: me.energy >= 9\n\nYou are too weak (energy 5).\n\nme.energy = 5\n"
    assert f"**> force trunk**\n\n*tick 0: refused*\n\n{refused}" in text
    assert "The robot clicks." in text
    assert "**> fly**" in text


def test_every_record_is_a_line_of_json(attic: Session) -> None:
    rows = [json.loads(one) for one in jsonl(attic).splitlines()]
    assert [row["asked"] for row in rows] == list(ATTIC)
    assert [row["status"] for row in rows][:3] == ["refused", "executed", "no_match"]


def replayed(text: str, path: Path, seed: int) -> Session:
    session = Session.open(str(path), seed)
    for line in read_script(Source("it", None, text)):
        session.intend(line.intent)
    return session


def test_a_script_and_a_plan_lead_to_the_same_state(attic: Session) -> None:
    reached = attic.engine.hash(attic.state)
    again = replayed(script(attic), WORLDS / "attic.tw", 7)
    assert again.engine.hash(again.state) == reached
    assert [one.asked for one in again.moments] == [one.asked for one in attic.moments]
    shorter = replayed(plan(attic), WORLDS / "attic.tw", 7)
    assert shorter.engine.hash(shorter.state) == reached
    assert plan(attic).splitlines() == [
        "# attic, seed 7", "take(robot)", "wind(robot)", "sweep()", "pass", "pass",
    ]  # fmt: skip


def holds(session: Session, path: Path, title: str) -> bool:
    source = Source(str(path), path, path.read_text(encoding="utf-8"))
    whole = f"{source.text}\n{scenario(session, title)}"
    loaded = check_text(Source(str(path), path, whole))
    found = next(one for one in loaded.program.scenarios if one.title == title)
    return run_scenario(loaded, found).ok


def test_a_scenario_holds_in_its_world(attic: Session) -> None:
    assert holds(attic, WORLDS / "attic.tw", "saved")
    text = scenario(attic, 'a "quoted" {title}')
    assert text.startswith("scenario \"a 'quoted' (title)\" in attic {\n  random 7\n")
    assert "  when force(trunk)  then refused because weak\n" in text
    assert "  # fly: no_match\n" in text


def test_a_scenario_of_another_world_holds_too() -> None:
    path = DOMAINS / "cellar" / "world.tw"
    session = played(path, ("open oak chest", "take brass key", "go through arch"), seed=0)
    assert "random" not in scenario(session, "saved")
    assert holds(session, path, "saved")


def test_a_game_in_which_nothing_was_done_can_be_kept() -> None:
    session = Session.open(str(WORLDS / "attic.tw"), 7)
    for form in FORMATS:
        text = text_as(session, form, "empty")
        assert text == "" or text.endswith("\n")
