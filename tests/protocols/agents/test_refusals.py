"""A refusal is one object on every surface: command line, run, transcript, screen, gym, MCP."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tokenworld.cli import _main
from tokenworld.play.model.transcripts import jsonl
from tokenworld.session import Session
from tokenworld.session.refusals.explained import explained_record

FINDINGS = Path(__file__).resolve().parents[2] / "findings" / "play"
CELLAR = ("cellar.tw", ("take brass key",), "open oak chest")
BAKERY = (
    "bakery.tw",
    ("buy flour", "buy flour", "buy yeast", "bake bread", "bake bread"),
    "bake bread",
)
ROVER = (
    "rover.tw",
    ("drive south", "drive south", "drive east", "drive east", "drive north", "drive south"),
    "drive north",
)


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    _main([*arguments, "--json"])
    return json.loads(capsys.readouterr().out)["refusal"]


def in_gym(file: str, lines: tuple[str, ...], asked: str) -> Any:
    from tokenworld.gym.environment import WorldEnv

    env = WorldEnv(file, act="typed", explain=True)
    env.reset(seed=0)
    for line in lines:
        env.step(line)
    examined = env.why(asked).to_json()
    found = env.step(asked)[4]["refusal"]
    assert examined == found
    return found


def in_session(file: str, lines: tuple[str, ...], asked: str) -> tuple[Any, Any]:
    """The object that the screen shows, and the line of a transcript."""
    session = Session.open(file)
    for line in lines:
        session.intend(line)
    found = explained_record(session, session.intend(asked)[-1])
    assert found is not None
    return found.to_json(), json.loads(jsonl(session).splitlines()[-1])["refusal"]


@pytest.mark.parametrize("case", [CELLAR, BAKERY], ids=lambda case: case[0])
async def test_the_json_is_equal_on_all_surfaces(
    in_memory: Any,
    served: Path,
    case: tuple[str, tuple[str, ...], str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    name, lines, asked = case
    monkeypatch.chdir(served)
    if name == "bakery.tw":
        shutil.copy(FINDINGS / name, name)
    file = str(served.resolve() / name)  # as the server names it
    Path("before.txt").write_text("\n".join(lines), encoding="utf-8")
    Path("all.txt").write_text("\n".join((*lines, asked)), encoding="utf-8")
    why = printed(capsys, "why", file, asked, "--at", "before.txt", "--time-limit", "0")
    assert why["status"] == "refused"
    assert printed(capsys, "run", file, "--script", "all.txt", "--store", "s.sqlite") == why
    assert in_session(file, lines, asked) == (why, why)
    async with in_memory() as caller:
        game = (await caller.fine("open", source=name))["game"]
        for line in lines:
            await caller.fine("act", game=game, command=line)
        assert (await caller.fine("why_not", game=game, command=asked))["refusal"] == why
        assert (await caller.fine("act", game=game, command=asked))["refusal"] == why


@pytest.mark.parametrize("case", [CELLAR, BAKERY], ids=lambda case: case[0])
def test_an_environment_gives_the_json_of_the_session(
    served: Path, case: tuple[str, tuple[str, ...], str]
) -> None:
    pytest.importorskip("gymnasium", reason="the extra `gym` is not installed")
    name, lines, asked = case
    if name == "bakery.tw":
        shutil.copy(FINDINGS / name, served / name)
    file = str(served / name)
    assert in_gym(file, lines, asked) == in_session(file, lines, asked)[0]


def test_since_when_by_which_rule_and_the_way(
    served: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(served)
    shutil.copy(FINDINGS / "rover.tw", "rover.tw")
    file, lines, asked = ROVER
    Path("before.txt").write_text("\n".join(lines), encoding="utf-8")
    found = printed(capsys, "why", file, asked, "--at", "before.txt")
    assert (found["command"], found["rule"]) == ("drive north", "action move")
    assert found["rule_span"] == "rover.tw:12:1"
    (failed,) = found["failed"]
    assert failed["values"] == {"me.battery": 0, "toll(there)": 3, "there": "tile_2_1"}
    assert (failed["label"], failed["since"]["tick"]) == ("flat", 5)
    assert failed["since"]["asked"] == "drive south"
    assert [one["rule"] for one in failed["since"]["changes"]] == ["action move"]
    assert (found["way"]["answer"], found["way"]["steps"]) == ("impossible", [])
    found = printed(capsys, "why", "cellar.tw", "open oak chest")
    assert found["way"]["steps"] == [
        "take brass key", "go through arch", "unlock oak chest with brass key",
    ]  # fmt: skip
    assert found["way"]["helps"] == [{"index": 0, "command": "go through arch"}]
