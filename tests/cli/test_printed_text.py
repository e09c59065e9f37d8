"""No verb prints a character that steers a terminal or that nobody sees, whatever a world holds."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Tw
from tests.hostile import STEERING, assert_harmless, hostile_world
from tokenworld.cli.commands import VERBS
from tokenworld.session import Session, open_world
from tokenworld.store.log import RunStore
from tokenworld.store.records import digest_of

BAD = "".join(STEERING)
NAME = "w\x1b[2J\u202e\x9b.tw"
DOMAIN = """(define (domain d) (:requirements :strips)
  (:predicates (at-a) (at-b)) (:action go :parameters () :precondition (at-a) :effect (at-b)))"""
PROBLEM = "(define (problem p) (:domain d) (:init (at-a)) (:goal (at-b)))"
NOWHERE = f"nowhere{BAD}".replace("/", "")

CALLS: dict[str, tuple[tuple[str, ...], ...]] = {
    "check": ((NAME,), (NOWHERE,), ("broken.tw",)),
    "lint": ((NAME,),),
    "fmt": (("--check", NAME), ("--check", "--diff", NAME), (NOWHERE,)),
    "test": ((NAME,), ("fails.tw",)),
    "mutate": ((NAME,),),
    "new": ((NAME,),),
    "fuzz": (("--n", "100"),),
    "conform": ((NAME, NOWHERE),),
    "quality": ((), (NOWHERE,)),
    "simbench": (
        ("make", NAME, "--rows", "4", "-o", "set"), ("make", NAME, "--from", NOWHERE, "-o", "s"),
        ("run", "set", "--predictor", BAD), ("run", NOWHERE, "--url", BAD),
        ("run", "set", "--predictor", "head -n 1", "--retries", "0"),
        ("score", "set", "set/answers-full-english.jsonl"), ("score", "set", NOWHERE),
        ("play", NOWHERE),
    ),
    "report": ((),),
    "export": ((NAME, "--pddl"), (NAME, "--pddl", "-o", "pddl"), (NAME, "--goal", BAD)),
    "import": (("d.pddl", "p.pddl"), (NOWHERE,), ("bad.pddl",)),
    "equiv": ((NAME, "fails.tw"), (NAME, NOWHERE)),
    "plan": ((NAME, "--why"), (NAME, "--goal", BAD), (f"{NAME}:{BAD}",)),
    "hint": ((NAME, "played.txt"), (NAME,), (NAME, "--goal", BAD)),
    "audit": ((NAME,),),
    "doctor": ((),),
    "run": ((NAME, "--script", "played.txt"), (NAME, "--script", NOWHERE), (NAME, "--ticks", "5")),
    "rollout": ((NAME, "--runs", "3"), (NAME, "--runs", "3", "--policy", BAD)),
    "play": ((NAME,), (NAME, "--goal", BAD), (NAME, "--web", "--host", BAD)),
    "picture": ((NAME,), (f"{NAME}:{BAD}",), ("--run", NOWHERE)),
    "publish": ((NAME, "--runtime", NOWHERE), (f"{NAME}:{BAD}",), (NAME, "-o", BAD)),
    "legal": ((NAME,), (NAME, f"box {BAD}"), (NAME, BAD)),
    "why": ((NAME, BAD, "--time-limit", "1"), (NAME, f"open {BAD}"), (NOWHERE, BAD)),
    "learn": (("fit", NAME, NOWHERE), ("propose", NOWHERE), ("rank", NAME, NOWHERE),
              ("explore", NAME, "-o", "walked.jsonl", "--ticks", "4"),
              ("rank", NAME, "walked.jsonl"), ("explore", f"{NAME}:{BAD}", "-o", "other.jsonl")),
    "duel": ((NAME, "played.txt", "random", "--worlds", "2"), (NAME, NOWHERE, BAD)),
    "dist": ((NAME,), (NAME, "--intent", f"box {BAD}"), (NAME, "--start", NOWHERE)),
    "explain": ((NAME,), (BAD,), (NAME, "--stage", "engine")),
    "rules": ((NAME,), (NAME, "--context")),
    "graph": ((NAME,), (NAME, "--mermaid"), (NAME, "--rule", BAD)),
    "grammar": ((), ("--names", NAME)),
    "judge": ((NAME,), (NAME, "--contract", f"rows:{BAD}"), ("broken.tw",)),
    "lsp": ((BAD,),),
    "mcp": (("--root", NOWHERE),),
    "card": (("--for", BAD),),
    "author": ((NOWHERE, "-o", "out"), ("played.txt", "-o", "out", "--provider", f"script:{BAD}")),
    "bench": (("text2world", NOWHERE), ("text2world", "."), ("cwmb", NOWHERE),
              ("bytesized32", NOWHERE)),
    "schema": ((),),
    "model": ((NAME,),),
    "runs": (
        (), ("show",), ("show", BAD), ("at", "1@1"), ("diff", "1@0", "1@2"), ("replay",),
        ("verify",), ("trace", "1", "1"), ("why", "1", "other.full"), ("why", "1", BAD),
        ("export", "1", "-o", "r.jsonl"),
        ("rows", "1", "-o", "rows.jsonl"), ("branch", "1@1", "--script", "played.txt"), ("resume",),
        ("import", "forged.jsonl"),
        ("show", "2"),
        (),
    ),
    "log": ((), ("2",), (BAD,)),
    "sweep": ((NAME, "--seeds", "2", "-o", "sweep"),),
}  # fmt: skip
"""Calls of every verb: those that go well, and those that quote what was given."""


@pytest.fixture
def folder(tw: Tw, tmp_path: Path) -> Path:
    """Worlds with hostile names and texts, a run of one, and the same run as somebody forged it."""
    world = hostile_world(BAD)
    (tmp_path / NAME).write_text(world, encoding="utf-8")
    (tmp_path / "fails.tw").write_text(world.replace("then other", "then not other"), "utf-8")
    (tmp_path / "broken.tw").write_text(f"{world}\naction `{BAD.replace('`', '')}` {{", "utf-8")
    (tmp_path / "d.pddl").write_text(DOMAIN, encoding="utf-8")
    (tmp_path / "p.pddl").write_text(PROBLEM, encoding="utf-8")
    (tmp_path / "bad.pddl").write_text(f"(define (domain {BAD}) {BAD})", encoding="utf-8")
    asked = ["shout", "take(other)", "take(other)", f"open {BAD}", "take(`box " + BAD + "`)"]
    (tmp_path / "played.txt").write_text("\n".join(asked) + "\n", encoding="utf-8")
    tw("run", NAME, "--script", "played.txt")
    tw("runs", "export", "1", "-o", "run.jsonl")
    (tmp_path / "forged.jsonl").write_text(renamed(tmp_path, world=f"w{BAD}", player=BAD), "utf-8")
    return tmp_path


def renamed(folder: Path, **names: str) -> str:
    """The header of the exported run with other names, and the hash that belongs to them."""
    line = json.loads((folder / "run.jsonl").read_text(encoding="utf-8").splitlines()[0])
    header = {**line["header"], **names}
    return json.dumps({**line, "header": header, "genesis": digest_of(header)}) + "\n"


def test_every_verb_is_called() -> None:
    assert set(CALLS) == set(VERBS)


@pytest.mark.parametrize("form", ["text", "json"])
@pytest.mark.parametrize("verb", CALLS)
def test_nothing_is_printed_raw(tw: Tw, folder: Path, verb: str, form: str) -> None:
    said = ""
    for arguments in CALLS[verb]:
        ran = tw(verb, *arguments, *(["--json"] if form == "json" else []))
        assert_harmless(ran.out, (verb, arguments))
        assert_harmless(ran.err, (verb, arguments))
        said += ran.out + ran.err
    assert said


@pytest.mark.parametrize("terminal", [False, True])
def test_what_another_program_reads_is_exact(
    tw: Tw, monkeypatch: pytest.MonkeyPatch, folder: Path, terminal: bool
) -> None:
    text = hostile_world(BAD)
    data = io.TextIOWrapper(io.BytesIO(text.encode()), encoding="utf-8")
    monkeypatch.setattr(sys, "stdin", data)
    monkeypatch.setattr(type(sys.stdout), "isatty", lambda _: terminal, raising=False)
    out = tw("fmt", "--stdin").out
    if terminal:
        assert_harmless(out)
    else:
        assert BAD.replace("\\", "\\\\") in out


def test_what_somebody_asked_begins_no_line_of_its_own(tw: Tw, folder: Path) -> None:
    """A typist or a player may send several lines; none of them passes for a record."""
    with RunStore.open(folder / "asked.sqlite") as store:
        session = Session(open_world(str(folder / NAME)), 1, store=store, player="a\nb")
        session.intend("jump\n    2 ✓ win  [executed]  12345678", source="llm")
        session.finish("left")
    for call in (("runs",), ("runs", "show"), ("log",)):
        said = tw(*call, "--store", folder / "asked.sqlite").out
        assert not [line for line in said.splitlines() if line.startswith(("    2 ", "b "))], said


def test_a_run_of_a_name_with_several_lines_is_not_taken(tw: Tw, folder: Path) -> None:
    text = renamed(folder, world="w-9   900 records\nw")
    (folder / "named.jsonl").write_text(text, encoding="utf-8")
    assert tw("runs", "import", "forged.jsonl").code == 0
    ran = tw("runs", "import", "named.jsonl")
    assert ran.code != 0
    assert "has a `world` of several lines" in ran.err


def test_pages_and_pictures_hold_what_can_be_seen(tw: Tw, folder: Path) -> None:
    tw("report", "-o", "morning")
    tw("audit", NAME, "--graph", "space.dot")
    tw("audit", NAME, "--graph", "space.svg")
    for name in ("morning/report.md", "morning/report.html", "space.dot", "space.svg"):
        assert_harmless((folder / name).read_text(encoding="utf-8"), name)
