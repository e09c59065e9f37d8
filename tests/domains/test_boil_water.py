"""The boil-water world against recorded rows of the game that it retells."""

from __future__ import annotations

import gzip
import json
from collections import deque
from pathlib import Path
from typing import Any

import pytest

from tokenworld.session import Session, open_world

ROOT = Path(__file__).parents[2]
ROWS = ROOT.parent / "shared" / "data" / "bytesized32" / "boil-water.jsonl.gz"
WATCHED = ("Stove", "Sink", "Pot", "Water")

Row = dict[str, Any]
Heat = dict[str, tuple[float, str | None, str | None]]


def winning_path() -> list[Row]:
    """The shortest chain of recorded rows from the first state to a win."""
    with gzip.open(ROWS, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]

    def key(state: Row) -> str:
        return json.dumps(state["objects"], sort_keys=True)

    following: dict[str, list[Row]] = {}
    for row in rows:
        following.setdefault(key(row["current_state"]), []).append(row)
    first = key(rows[0]["current_state"])
    paths: dict[str, list[Row]] = {first: []}
    todo = deque([first])
    while todo:
        state = todo.popleft()
        for row in following.get(state, []):
            after = key(row["tick_state"])
            if after not in paths:
                paths[after] = [*paths[state], row]
                todo.append(after)
                if row["next_score_state"]["gameWon"]:
                    return paths[after]
    raise AssertionError("the rows hold no winning path")


def recorded(state: Row) -> Heat:
    """Temperature, state of matter and container of each watched object, by type."""
    kinds = {one["name"]: one["type"] for one in state["objects"]}
    inside = {name: one["type"] for one in state["objects"] for name in one["contains"]}
    return {
        kinds[one["name"]]: (
            one["properties"]["temperature"],
            one["properties"].get("stateOfMatter"),
            inside.get(one["name"]),
        )
        for one in state["objects"]
        if one["type"] in WATCHED
    }


def played(session: Session) -> Heat:
    state = session.engine.json(session.state)
    kinds = {one["name"]: one["type"] for one in state["objects"]}  # type: ignore[union-attr,index,call-overload]
    found: Heat = {}
    for one in state["objects"]:  # type: ignore[union-attr]
        if one["type"] in WATCHED:  # type: ignore[index,call-overload]
            attrs = one["attrs"]  # type: ignore[index,call-overload]
            at = kinds.get(attrs["at"])
            found[one["type"]] = (attrs["temperature"], attrs.get("stateOfMatter"), at)  # type: ignore[index,call-overload]
    return found


@pytest.mark.skipif(not ROWS.exists(), reason="the recorded rows are not part of the project")
def test_it_boils_on_the_same_tick_with_the_same_temperatures() -> None:
    path = winning_path()
    session = Session(open_world("boil_water"), 1)
    assert played(session) == recorded(path[0]["current_state"])
    for row in path:
        text = row["action_state"]["lastAction"]
        outcome = session.intend(text)[-1]
        assert outcome.status == "executed", text
        assert played(session) == recorded(row["tick_state"]), text
        assert outcome.score == row["next_score_state"]["score"]
        assert session.won(None) is row["next_score_state"]["gameWon"]
    assert len(path) == 10
