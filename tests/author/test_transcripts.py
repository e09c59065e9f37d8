"""Transcripts: Ctrl-C at every event, going on, and whatever is not what was recorded."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.author.conftest import (
    ALONE,
    CAVE,
    DESCRIPTION,
    NO_OIL,
    SUBMIT,
    TESTS,
    Model,
    Run,
    Tw,
    dev,
    events,
    patch,
    replayed,
    whole,
)
from tokenworld.diagnostics import Failure
from tokenworld.verbs.author.rounds import Job, Result, author
from tokenworld.verbs.author.transcript import Transcript, recorded_lines, without_end

REPAIR = patch("  me.oil -= 1", "  me.oil -= 1\n  l.oil += 1")
ANSWERS = [dev(whole(NO_OIL), SUBMIT), dev(REPAIR, SUBMIT)]


class Broken(Transcript):
    """Ctrl-C at one event, before or after it is written."""

    def __init__(self, path: Path, at: int, *, after: bool) -> None:
        super().__init__(path)
        self.left, self.after = at, after

    def _append(self, line: str, event: str) -> None:
        self.left -= 1
        if self.left == 0 and not self.after:
            raise KeyboardInterrupt
        super()._append(line, event)
        if self.left == 0:
            raise KeyboardInterrupt


def whole_run(tmp_path: Path) -> tuple[Result, list[str]]:
    path = tmp_path / "whole.jsonl"
    transcript = Transcript(path)
    result = author(Job(DESCRIPTION, ALONE, Model(ANSWERS), transcript))
    return result, path.read_text(encoding="utf-8").splitlines()


def test_ctrl_c_at_every_event(tmp_path: Path) -> None:
    """What was recorded is replayed, and the run goes on as if nothing had happened."""
    result, lines = whole_run(tmp_path)
    assert result.reason == "accepted"
    assert len(lines) == 10
    for at in range(1, len(lines) + 1):
        for after in (False, True):
            path = tmp_path / f"{at}{after}.jsonl"
            job = Job(DESCRIPTION, ALONE, Model(ANSWERS), Broken(path, at, after=after))
            try:
                found = author(job)
            except KeyboardInterrupt:
                assert at == len(lines)  # while the end was written
                continue
            done = recorded_lines(path) if at > 1 or after else path.read_text().splitlines()
            last = json.loads(done[-1])
            assert (found.reason, last["reason"]) == ("cancelled", "cancelled")
            assert done[:-1] == lines[: at - (not after)]
            if at == 1 and not after:
                continue  # there is not even a header
            again = replayed(done, DESCRIPTION, ALONE)
            assert (again.best and again.best.hash) == (found.best and found.best.hash)
            assert _gone_on(path, done) == lines


def _gone_on(path: Path, done: list[str]) -> list[str]:
    """The lines of an interrupted run after it went on, with the answers that it has not had."""
    kept = without_end(done)
    path.write_text("".join(f"{one}\n" for one in kept), encoding="utf-8")
    left = ANSWERS[len(events(kept, "response")) :]
    transcript = Transcript(path, kept)
    assert author(Job(DESCRIPTION, ALONE, Model(left), transcript)).reason == "accepted"
    return path.read_text(encoding="utf-8").splitlines()


def test_a_model_that_is_interrupted(tmp_path: Path) -> None:
    class Interrupted(Model):
        def ask(self, request):  # type: ignore[no-untyped-def]
            if len(self.asked) == 1:
                raise KeyboardInterrupt
            return super().ask(request)

    path = tmp_path / "t.jsonl"
    found = author(Job(DESCRIPTION, ALONE, Interrupted(ANSWERS), Transcript(path)))
    assert found.reason == "cancelled"
    assert found.best is found.attempts[0]
    replayed(recorded_lines(path), DESCRIPTION, ALONE)


# ---- going on from the command line -------------------------------------------------------------


@pytest.fixture
def begun(tw: Tw, tmp_path: Path) -> Tw:
    """A run whose script ends too early, in `out`."""
    (tmp_path / "d.md").write_text(DESCRIPTION, encoding="utf-8")
    for name, answers in (("short", ANSWERS[:1]), ("long", ANSWERS[1:])):
        text = "".join(f"=== {role}\n{one}\n" for role, one in answers)
        (tmp_path / f"{name}.script").write_text(text, encoding="utf-8")
    ran = tw("d.md", "-o", "out", "--provider", "script:short.script", "--single", "--contract",
             "free")  # fmt: skip
    assert ran.code == 1
    assert "has no further answer of the developer" in ran.err
    return tw


def test_a_run_goes_on_and_is_replayed(begun: Tw, tmp_path: Path) -> None:
    assert begun("--replay", "out").out.endswith("equal, 7 events; refused\n")
    ran = begun("--resume", "-o", "out", "--provider", "script:long.script", "--json")
    assert ran.code == 0
    assert ran.json["reason"] == "accepted"
    assert ran.json["requests"] == 2
    replay = begun("--replay", "out/transcript.jsonl", "-o", "again", "--json")
    assert replay.json["equal"] is True
    for name in ("world.tw", "transcript.jsonl", "report.html", "contract.json"):
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "out" / name).read_bytes()


def test_a_finished_run_does_not_go_on(begun: Tw) -> None:
    assert begun("--resume", "-o", "out", "--provider", "script:long.script").code == 0
    ran = begun("--resume", "-o", "out", "--provider", "script:long.script")
    assert ran.code == 2
    assert "error[TW0006]: The run has ended (accepted)" in ran.err


def test_a_torn_transcript_goes_on(begun: Tw, tmp_path: Path) -> None:
    path = tmp_path / "out" / "transcript.jsonl"
    data = path.read_bytes()
    for cut in (1, 40, len(data.splitlines(keepends=True)[-1]) + 3):
        path.write_bytes(data[:-cut] + (b"\xc3" if cut == 40 else b""))
        assert begun("--replay", "out").code == 0
    assert begun("--resume", "-o", "out", "--provider", "script:long.script").code == 0


CHANGED = {
    "a figure": ('"round": 1', '"round": 2'),
    "a request": ('"hash": "', '"hash": "0'),
    "the version": ('"version": "', '"version": "9.'),
    "the end": ('"best": 1', '"best": 2'),
    "the answer": ("oil: 0 to 9 = 2", "oil: 0 to 9 = 3"),
}


@pytest.mark.parametrize("name", CHANGED)
def test_a_changed_transcript_differs(name: str, begun: Tw, tmp_path: Path) -> None:
    old, new = CHANGED[name]
    path = tmp_path / "out" / "transcript.jsonl"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    ran = begun("--replay", "out", "--json")
    assert ran.code == 1
    assert ran.json["equal"] is False
    assert "error[TW1302]" in ran.err


UNUSABLE = {
    "no transcript": ("", "TW1302"),
    "other lines": ("hello\n", "TW1302"),
    "another version": ('{"event": "header", "format": "tw-author/9"}\n', "TW1302"),
    "no settings": ('{"event": "header", "format": "tw-author/1"}\n', "TW1302"),
    "an unknown setting": (
        '{"event": "header", "format": "tw-author/1", "settings": {"x": 1}}\n', "TW1302"),
    "deep": ("[" * 50_000 + "\n", "TW1302"),
    "missing": (None, "TW0001"),
}  # fmt: skip


@pytest.mark.parametrize("name", UNUSABLE)
@pytest.mark.parametrize("way", ["replay", "resume"])
def test_what_is_no_transcript(name: str, way: str, tw: Tw, tmp_path: Path) -> None:
    text, code = UNUSABLE[name]
    (tmp_path / "run").mkdir()
    if text is not None:
        (tmp_path / "run" / "transcript.jsonl").write_text(text, encoding="utf-8")
    (tmp_path / "s").write_text("=== developer\nx\n", encoding="utf-8")
    resume = ("--resume", "-o", "run", "--provider", "script:s")
    ran = tw(*(("--replay", "run") if way == "replay" else resume))
    assert ran.code == 2
    assert ran.err.count("error[") == 1
    assert f"error[{code}]" in ran.err


def test_a_transcript_that_cannot_be_written(tmp_path: Path) -> None:
    job = Job(DESCRIPTION, ALONE, Model(ANSWERS), Transcript(tmp_path / "no" / "t.jsonl"))
    with pytest.raises(Failure, match="TW0001"):
        author(job)


# ---- budgets ------------------------------------------------------------------------------------


def test_budgets_end_a_run_with_its_best(run: Run) -> None:
    for settings in (replace(ALONE, requests=1), replace(ALONE, tokens=10)):
        done = run(ANSWERS, settings)
        assert done.result.reason == "budget"
        assert done.result.requests == 1
        assert done.result.best is not None
        assert events(done.lines, "end")[0]["best"] == 1


def test_what_a_budget_leaves_is_judged(run: Run) -> None:
    """Also a world that was not handed in; and it may be right."""
    done = run([dev(whole(CAVE + TESTS))], replace(ALONE, requests=1))
    assert done.result.reason == "budget"
    assert done.result.best is not None
    assert done.result.best.status == "accepted"
    again = run([dev(whole(NO_OIL), SUBMIT), dev("x")], replace(ALONE, requests=2))
    assert len(again.result.attempts) == 1


def test_a_draft_is_kept_where_nothing_was_judged(tw: Tw, tmp_path: Path) -> None:
    (tmp_path / "d.md").write_text(DESCRIPTION, encoding="utf-8")
    (tmp_path / "s").write_text(f"=== developer\n{whole(CAVE)}", encoding="utf-8")
    ran = tw("d.md", "-o", "out", "--provider", "script:s", "--single")
    assert (ran.code, ran.out.partition(" (")[0]) == (1, "not judged")
    assert (tmp_path / "out" / "world.tw").read_text(encoding="utf-8") == CAVE
    assert CAVE.splitlines()[3].replace('"', "&quot;") in (
        (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    )


def test_time_ends_a_run_and_the_replay_ends_there_too(run: Run) -> None:
    done = run(ANSWERS, replace(ALONE, seconds=0.0))
    assert (done.result.reason, done.result.requests) == ("time", 0)
    assert [json.loads(one)["event"] for one in done.lines] == ["header", "end"]


def test_equal_runs_have_equal_bytes(run: Run) -> None:
    assert run(ANSWERS, ALONE).lines == run(ANSWERS, ALONE).lines
    assert run(ANSWERS, replace(ALONE, seed=1)).lines != run(ANSWERS, ALONE).lines
