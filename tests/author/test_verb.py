"""`tw author` from the command line: roles left out, files, bad input; the player and searches."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.author.conftest import (
    ALONE,
    ANALYST,
    CAVE,
    DESCRIPTION,
    GOOD,
    SPEC,
    SUBMIT,
    TEAM,
    TESTER,
    TESTS,
    Run,
    Tw,
    dev,
    events,
    patch,
    whole,
)
from tokenworld.verbs.author.roles import Search

SCRIPT = f"=== analyst\n{SPEC}\n=== developer\n{whole(CAVE)}{SUBMIT}\n=== tester\n{whole(TESTS)}\n"


@pytest.fixture
def folder(tw: Tw, tmp_path: Path) -> Path:
    """The folder of the run, with a description and a script."""
    (tmp_path / "d.md").write_text(DESCRIPTION, encoding="utf-8")
    (tmp_path / "s").write_text(SCRIPT, encoding="utf-8")
    return tmp_path


def test_a_game_is_accepted(tw: Tw, folder: Path) -> None:
    """By the whole judge, with mutants."""
    more = TESTS + (
        'scenario "M1 there are two measures" in cave {\n  when pour(lamp) times 2\n'
        "  when pour(lamp) then refused because none_left\n}\n"
    )
    text = SCRIPT.replace(TESTS, more).replace("  require not l.lit else lit\n", "")
    (folder / "s").write_text(text, encoding="utf-8")
    ran = tw("d.md", "-o", "out", "--provider", "script:s", "--without", "player", "--json")
    assert ran.json["status"] == "accepted", ran.err
    assert set(ran.json) == {
        "schema_version", "ok", "status", "reason", "why", "rounds", "requests", "tokens", "cost",
        "usage", "folder", "world", "disputed", "violations",
    }  # fmt: skip
    contract = json.loads((folder / "out" / "contract.json").read_text(encoding="utf-8"))
    assert contract["mechanics"][2] == {
        "id": "W1", "text": "The cave is bright when the lamp is lit.", "rules": ["bright"],
    }  # fmt: skip
    page = (folder / "out" / "report.html").read_text(encoding="utf-8")
    for part in ("A cave", "<h2>Plans</h2>", "pour oil into lamp, light lamp", "places reached",
                 "changed rules noticed", "<h2>Mechanics</h2>"):  # fmt: skip
        assert part in page


def test_direct_is_one_request_without_tools(tw: Tw, folder: Path) -> None:
    ran = tw("d.md", "-o", "out", "--provider", "script:s", "--direct", "--contract", "free",
             "--json")  # fmt: skip
    assert (ran.code, ran.json["requests"], ran.json["rounds"]) == (0, 1, 1)
    header = json.loads((folder / "out" / "transcript.jsonl").read_text().splitlines()[0])
    assert header["settings"]["roles"] == ["developer"]
    assert not (folder / "out" / "specification.json").exists()


def test_best_effort_is_written(tw: Tw, folder: Path) -> None:
    text = SCRIPT.replace("lit: bool", "lit: bool = true")
    (folder / "s").write_text(text, encoding="utf-8")
    ran = tw("d.md", "-o", "out", "--provider", "script:s", "--rounds", "1")
    assert ran.code == 1
    assert "lit: bool = true" in (folder / "out" / "world.tw").read_text(encoding="utf-8")
    assert ran.out.startswith("round 1: refused, 1 error (trivial-goal), 3 tests; 3 requests")


def test_unproven_is_neither(tw: Tw, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = tw("d.md", "-o", "out", "--provider", "script:s", "--max-requests", "2")
    assert ran.code == 3
    assert "ended: budget: 2 requests" in ran.out


BAD: dict[str, tuple[str, str]] = {
    "no description": ("-o out --provider script:s", "TW0006"),
    "no folder": ("d.md --provider script:s", "TW0006"),
    "no provider": ("d.md -o out", "TW0006"),
    "unknown provider": ("d.md -o out --provider gpt", "TW0006"),
    "no model": ("d.md -o out --provider http", "TW0006"),
    "no key": ("d.md -o out --provider http --model m --key-env NO_SUCH_KEY", "TW1301"),
    "a wrong URL": ("d.md -o out --provider http --model m --url ftp://x", "TW1301"),
    "no such script": ("d.md -o out --provider script:none", "TW0001"),
    "no script": ("d.md -o out --provider script:d.md", "TW0006"),
    "an unknown role": ("d.md -o out --provider script:roles", "TW0006"),
    "no such program": ("d.md -o out --provider command:no-such-program", "TW1301"),
    "an empty program": ("d.md -o out --provider command:%20", "TW0006"),
    "missing description": ("none.md -o out --provider script:s", "TW0001"),
    "empty description": ("empty.md -o out --provider script:s", "TW0006"),
    "10 MB": ("huge.md -o out --provider script:s", "TW0006"),
    "not text": ("bytes.md -o out --provider script:s", "TW0003"),
    "a wrong contract": ("d.md -o out --provider script:s --contract gaem", "TW0006"),
    "missing rows": ("d.md -o out --provider script:s --contract rows:none", "TW0001"),
    "no such role": ("d.md -o out --provider script:s --without testre", "TW0006"),
    "without developer": ("d.md -o out --provider script:s --without developer", "TW0006"),
    "no rounds": ("d.md -o out --provider script:s --rounds 0", "TW0006"),
    "wrong prices": ("d.md -o out --provider script:s --prices free", "TW0006"),
    "no such list": ("d.md -o out --provider script:s --search cat --deny none", "TW0001"),
    "a file for a folder": ("d.md -o s --provider script:s", "TW0001"),
    "a finished folder": ("d.md -o done --provider script:s", "TW0006"),
    "replay and more": ("d.md --replay done", "TW0006"),
    "nothing to go on with": ("--resume -o out --provider script:s", "TW0001"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_gets_one_diagnostic(name: str, tw: Tw, folder: Path) -> None:
    arguments, code = BAD[name]
    if "http" in arguments:
        pytest.importorskip("httpx", reason="the extra `author` is not installed")
    (folder / "empty.md").write_text(" \n", encoding="utf-8")
    (folder / "huge.md").write_text("A cave. " * 1_300_000, encoding="utf-8")
    (folder / "bytes.md").write_bytes(b"\xff\xfe")
    (folder / "roles").write_text("=== poet\nx\n", encoding="utf-8")
    (folder / "done").mkdir()
    (folder / "done" / "transcript.jsonl").write_text("", encoding="utf-8")
    ran = tw(*(one.replace("%20", " ") for one in arguments.split()), "--json")
    assert ran.code == 2
    assert ran.err.count("error[") == 1
    assert f"error[{code}]" in ran.err
    assert "= help: " in ran.err
    assert ran.json["ok"] is False
    assert not (folder / "out").exists()


def test_a_description_in_another_language(tw: Tw, folder: Path) -> None:
    (folder / "d.md").write_text("Eine Höhle. 洞窟。 Пещера \u202e\n", encoding="utf-8")
    ran = tw("d.md", "-o", "out", "--provider", "script:s", "--single", "--contract", "free")
    assert ran.code == 0
    assert tw("--replay", "out").code == 0


def test_ctrl_c_ends_with_130(tw: Tw, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tokenworld.verbs.author.providers import Script

    def interrupted(self: Script, request: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Script, "ask", interrupted)
    assert tw("d.md", "-o", "out", "--provider", "script:s").code == 130
    monkeypatch.undo()
    monkeypatch.chdir(folder)
    ran = tw("--resume", "-o", "out", "--provider", "script:s", "--json")
    assert ran.json["requests"] >= 3


# ---- the player ---------------------------------------------------------------------------------

PLAYED = ("player", '{"do": ["light lamp", "pour oil into lamp"], "violated": []}')


def seen(**violation: str) -> tuple[str, str]:
    return ("player", json.dumps({"violated": [violation], "end": True}))


def test_a_player_that_finds_nothing(run: Run) -> None:
    team = replace(TEAM, roles=(*TEAM.roles, "player"))
    done = run([ANALYST, GOOD, TESTER, PLAYED, ("player", '{"end": true}')], team)
    assert done.result.reason == "accepted"
    assert not done.result.violations
    told = done.model.heard(4)
    assert "> light lamp\nRefused" in told
    assert "> pour oil into lamp\nDone." in told
    asked = "".join(one.text for one in done.model.asked[3].messages)
    assert "l.oil += 1" not in asked
    assert events(done.lines, "tool")[-1]["given"] == ["light lamp", "pour oil into lamp"]


def test_a_players_report_goes_to_the_developer_once(run: Run) -> None:
    team = replace(TEAM, roles=(*TEAM.roles, "player"))
    report = seen(mechanic="M2", expected="a word about oil", found="nothing")
    answer = dev(
        patch("  require l.oil > 0 else dry", '  require l.oil > 0 else dry "No oil."'), SUBMIT
    )
    done = run([ANALYST, GOOD, TESTER, PLAYED, report, answer], team)
    assert "M2: expected a word about oil; found nothing" in done.model.heard(5)
    assert done.result.reason == "accepted"
    assert [one.trace for one in done.result.violations] == [("light lamp", "pour oil into lamp")]
    assert len(done.result.attempts) == 2


def test_a_player_that_talks_nonsense_ends(run: Run) -> None:
    team = replace(ALONE, roles=("developer", "player"))
    odd = [("player", one) for one in ("", "x", "[]", '{"do": 3}', '{"violated": ["x"]}')]
    done = run([GOOD, *odd, *odd], team)
    assert done.result.reason == "accepted"
    assert done.result.requests == 11


# ---- the researcher -----------------------------------------------------------------------------

OPEN = SPEC.replace(
    '"win":', '"questions": [{"text": "How much oil?", "impact": "the plan"}],\n "win":'
)


FOUND = {"text": "two measures", "source": "a.example"}


def test_research_reaches_the_developer_without_what_is_denied(run: Run) -> None:
    def ask(query: str) -> object:
        return [
            {"source": "a.example", "text": f"{query}: two measures"},
            {"source": "leak.example", "text": "the answer itself"},
            "no result", {"source": "b.example", "text": "Text2World gold"},
        ]  # fmt: skip

    team = replace(TEAM, roles=("analyst", "researcher", "developer", "tester"))
    answers = [
        ("analyst", OPEN), ("researcher", '{"queries": ["oil in a lamp"]}'),
        ("researcher", json.dumps({"answers": [FOUND, {"text": "without a source"}]})),
        GOOD, TESTER,
    ]  # fmt: skip
    done = run(answers, team, search=Search(ask, ("leak.example", "text2world")))
    assert done.result.reason == "accepted"
    assert "oil in a lamp: two measures" in done.model.heard(2)
    assert "the answer itself" not in done.model.heard(2)
    assert "gold" not in done.model.heard(2)
    assert done.result.spec is not None
    assert done.result.spec.answers == ("two measures [a.example]",)
    assert "Found: two measures [a.example]" in done.model.heard(3)
    assert events(done.lines, "search")[0]["query"] == "oil in a lamp"


def test_a_program_searches(tw: Tw, folder: Path) -> None:
    (folder / "find.py").write_text(
        "import json, sys\nfor line in sys.stdin:\n    asked = json.loads(line)['query']\n"
        "    print(json.dumps({'results': [{'source': 's', 'text': asked}]}), flush=True)\n",
        encoding="utf-8",
    )
    text = SCRIPT.replace(SPEC, OPEN) + (
        '=== researcher\n{"queries": ["q"]}\n=== researcher\n{"answers": []}\n'
    )
    (folder / "s").write_text(text, encoding="utf-8")
    ran = tw("d.md", "-o", "out", "--provider", "script:s", "--contract", "free", "--without",
             "player", "--search", f"{sys.executable} find.py")  # fmt: skip
    assert ran.code == 0, ran.err
    assert '"text": "q"' in (folder / "out" / "transcript.jsonl").read_text(encoding="utf-8")
