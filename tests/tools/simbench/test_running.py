"""``tw simbench run`` and ``play``: questions, transcripts, and predictors that fail."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.tools.simbench.conftest import COPIES, ROOT, Tw, scores
from tokenworld.verbs.simbench.asking import read_transcript
from tokenworld.verbs.simbench.sets import read_set

Script = Callable[[str], str]

TELLS = """
import json, sys
with open(sys.argv[1], "a") as file:
    for line in sys.stdin:
        file.write(line)
        file.flush()
        asked = json.loads(line)
        print(json.dumps({"objects": asked["objects"], "score": asked.get("score", {})}),
              flush=True)
"""


def lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


@pytest.mark.parametrize(
    ("options", "present", "absent"),
    [
        ((), ("These are the rules", "What can be done", '"objects": [every', "Example:"), ()),
        (("--rules", "none", "--examples", "0"), ('"objects": [every',), ("rules", "Example:")),
        (("--rules", "tw", "--mode", "diff"), ("world cellar", '"modified": [every'), ("whole],",)),
    ],
)
def test_what_a_predictor_is_told(
    tw: Tw, small: Path, tmp_path: Path, script: Script,
    options: tuple[str, ...], present: tuple[str, ...], absent: tuple[str, ...],
) -> None:  # fmt: skip
    command = f"{script(TELLS)} {tmp_path / 'told.jsonl'}"
    given = ("--predictor", command, "-o", tmp_path / "a.jsonl", *options)
    assert tw("simbench", "run", small, *given)[0] == 0
    told = lines(tmp_path / "told.jsonl")
    first = told[0]
    assert {"act", "env", "score", "step"} == {one["task"] for one in told}
    assert all(text in first["prompt"] for text in present)
    assert not any(text in first["prompt"].split("{")[0] for text in absent[:1])
    assert first["max_UUID"] == read_set(small).rows[0].before.next_id
    assert "max_UUID" in first["prompt"]


def test_rules_of_a_file(tw: Tw, small: Path, tmp_path: Path, script: Script) -> None:
    (tmp_path / "mine.txt").write_text("A chest is never empty.", encoding="utf-8")
    command = f"{script(TELLS)} {tmp_path / 'told.jsonl'}"
    given = ("--predictor", command, "--rules", tmp_path / "mine.txt", "-o", tmp_path / "a.jsonl")
    assert tw("simbench", "run", small, *given)[0] == 0
    assert "A chest is never empty." in lines(tmp_path / "told.jsonl")[0]["prompt"]


DIES = COPIES + "    if int(asked['row']) == 17: sys.exit(3)\n"


def test_a_run_that_was_killed_goes_on_to_the_same_bytes(
    tw: Tw, small: Path, tmp_path: Path, script: Script
) -> None:
    whole, part = tmp_path / "whole.jsonl", tmp_path / "part.jsonl"
    assert tw("simbench", "run", small, "--predictor", script(COPIES), "-o", whole)[0] == 0
    code, _, err = tw("simbench", "run", small, "--predictor", script(DIES), "-o", part)
    assert code == 2
    assert "ended with exit code 3 (asked question 18)" in err
    assert len(lines(part)) == 18
    with part.open("ab") as file:  # the last line is torn
        file.write(b'{"question": 18, "prom')
    code, out, _ = tw("simbench", "run", small, "--predictor", script(COPIES), "-o", part)
    assert (code, "17 answers kept" in out) == (0, True)
    assert part.read_bytes() == whole.read_bytes()


KILLS = COPIES + "    if int(asked['row']) == 17: __import__('os').kill(int(sys.argv[1]), 9)\n"
RUNS = """
import os, sys
from tokenworld.cli import main
place = sys.argv.index("--predictor") + 1
sys.argv[place] += f" {os.getpid()}"
main()
"""


def test_a_run_that_is_killed_itself_goes_on_to_the_same_bytes(
    tw: Tw, small: Path, tmp_path: Path, script: Script
) -> None:
    whole, part = tmp_path / "whole.jsonl", tmp_path / "part.jsonl"
    assert tw("simbench", "run", small, "--predictor", script(COPIES), "-o", whole)[0] == 0
    (tmp_path / "kills.py").write_text(KILLS, encoding="utf-8")
    kills = f"{sys.executable} {tmp_path / 'kills.py'}"
    given = ["simbench", "run", str(small), "--predictor", kills, "-o", str(part)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", RUNS, *given], env=environment, check=False)
    assert done.returncode == -signal.SIGKILL
    assert len(lines(part)) in (17, 18)
    assert tw("simbench", "run", small, "--predictor", script(COPIES), "-o", part)[0] == 0
    assert part.read_bytes() == whole.read_bytes()


def test_a_transcript_is_replayed_to_the_same_bytes(
    tw: Tw, small: Path, tmp_path: Path, script: Script
) -> None:
    first, again = tmp_path / "first.jsonl", tmp_path / "again.jsonl"
    assert tw("simbench", "run", small, "--predictor", script(COPIES), "-o", first)[0] == 0
    assert tw("simbench", "run", small, "--replay", first, "-o", again)[0] == 0
    assert first.read_bytes() == again.read_bytes()
    other = ("--replay", first, "--rules", "none", "-o", tmp_path / "other.jsonl")
    code, _, err = tw("simbench", "run", small, *other)
    assert (code, "answers another prompt in question 1" in err) == (2, True)


def test_another_run_writes_no_transcript_of_this_one(
    tw: Tw, small: Path, tmp_path: Path, script: Script
) -> None:
    path = tmp_path / "a.jsonl"
    assert tw("simbench", "run", small, "--predictor", script(COPIES), "-o", path)[0] == 0
    before = path.read_bytes()
    given = ("--predictor", script(COPIES), "--mode", "diff", "-o", path)
    code, _, err = tw("simbench", "run", small, *given)
    assert (code, "the transcript of another run" in err) == (2, True)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import sys; sys.stdin.read()", "gave no answer within 1 s (asked question 1)"),
        ("while True: print('x' * 4096, end='')", "floods: more than 1,048,576 bytes"),
        ("import sys; sys.exit(5)", "ended with exit code 5 (asked question 1)"),
        ("", "left (asked question 1)"),
    ],
)
def test_a_predictor_that_fails(
    tw: Tw, small: Path, tmp_path: Path, script: Script, text: str, message: str
) -> None:
    given = ("--predictor", script(text), "--reply-timeout", "1", "-o", tmp_path / "a.jsonl")
    code, _, err = tw("simbench", "run", small, *given)
    assert code == 2
    assert err.count("error[") == 1
    assert message in err
    assert "the same command goes on from there" in " ".join(err.split())


HALVES = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    half = asked["objects"][: len(asked["objects"]) // 2]
    answer = json.dumps({"objects": half, "score": asked.get("score", {})})
    torn = int(asked["row"]) == 2 or (int(asked["row"]) == 3 and "again" not in asked)
    print(answer[: len(answer) // 2] if torn else answer, flush=True)
"""


def test_half_a_state_is_told_and_scored(
    tw: Tw, small: Path, tmp_path: Path, script: Script
) -> None:
    path = tmp_path / "a.jsonl"
    code, _, err = tw("simbench", "run", small, "--predictor", script(HALVES), "-o", path)
    assert code == 1
    assert "1 answer cannot be read" in err
    entries = read_transcript(path).entries
    assert (len(entries[1].tries), len(entries[2].tries), len(entries[3].tries)) == (1, 3, 2)
    code, _, err = tw("simbench", "score", small, path)
    assert code == 0
    assert "question 2: the answer has no JSON object" in err
    assert "leave out objects that are still there" in err
    card = scores(tw, small, path)["predictors"][0]
    assert card["properties"]["(objects)"]["left out"] > 10
    assert card["properties"]["(the answer)"] == {"form": 1}


WRAPS = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    answer = json.dumps({"modified": [], "removed": [], "score": asked.get("score", {})})
    text = 'Let me think of {it} and of {"contains": 1}.\\n```json\\n' + answer + "\\n```"
    print(json.dumps({"text": text}), flush=True)
"""


def test_the_text_of_a_model_is_searched_for_its_answer(
    tw: Tw, small: Path, tmp_path: Path, script: Script
) -> None:
    path = tmp_path / "a.jsonl"
    assert tw("simbench", "run", small, "--predictor", script(WRAPS), "-o", path)[0] == 0
    mine, copy, *_ = scores(tw, small, path)["predictors"]
    for part in ("act", "env", "score", "step"):
        assert mine["parts"][part] == copy["parts"][part]


@pytest.fixture
def address() -> Iterator[str]:
    """A server of this machine that copies the state."""

    class Copies(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            answer = {"modified": [], "removed": [], "score": asked.get("score", {})}
            self.send_response(200)
            self.end_headers()
            self.wfile.write((json.dumps(answer) + "\n").encode())

        def log_message(self, *args: object) -> None:
            """Nothing is logged."""

    server = HTTPServer(("127.0.0.1", 0), Copies)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


def test_a_predictor_at_an_address(
    tw: Tw, small: Path, tmp_path: Path, script: Script, address: str
) -> None:
    one, other = tmp_path / "one.jsonl", tmp_path / "other.jsonl"
    assert tw("simbench", "run", small, "--url", address, "-o", one)[0] == 0
    assert tw("simbench", "run", small, "--predictor", script(COPIES), "-o", other)[0] == 0
    assert one.read_bytes() == other.read_bytes()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "one predictor"),
        (("--predictor", "true", "--url", "http://127.0.0.1:1/"), "one predictor"),
        (("--predictor", "no_such_program_at_all"), "does not start"),
        (("--predictor", "'"), "a quote left open"),
        (("--predictor", ""), "The predictor is empty"),
        (("--url", "ftp://x/"), "has no HTTP address"),
        (("--url", "http://127.0.0.1:1/"), "cannot be reached"),
        (("--predictor", "true", "--retries", "-1"), "fewer than 0"),
        (("--predictor", "true", "--reply-timeout", "0"), "needs time"),
        (("--predictor", "true", "--rules", "nowhere.txt"), "nowhere.txt"),
        (("--replay", "nowhere.jsonl"), "nowhere.jsonl"),
    ],
)
def test_options_that_no_run_has(
    tw: Tw, small: Path, tmp_path: Path, options: tuple[str, ...], message: str
) -> None:
    code, _, err = tw("simbench", "run", small, "-o", tmp_path / "a.jsonl", *options)
    assert code == 2
    assert err.count("error[") == 1
    assert message in err


# ---- a person -----------------------------------------------------------------------------------


def typed(monkeypatch: pytest.MonkeyPatch, *answers: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{one}\n" for one in answers)))


def test_a_person_answers_and_is_scored_alike(
    tw: Tw, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, path = read_set(small), tmp_path / "me.jsonl"
    row = found.row(found.questions[0])
    before = {one["uuid"]: one for one in row.before.objects}
    changed = [
        f"#{one['uuid']}.{key} = {json.dumps(value)}"
        for one in row.acted.objects
        for key, value in one["properties"].items()
        if before[one["uuid"]]["properties"][key] != value
    ]
    assert changed
    typed(monkeypatch, "nonsense", "nobody.at = 1", *changed, "", "")
    code, out, _ = tw("simbench", "play", small, "--questions", "1", "-o", path)
    assert code == 0
    assert row.action in out
    assert "`nonsense` says no change" in out
    assert "There is no `nobody`" in out
    typed(monkeypatch, "new Thing pebble", "pebble gone", "new Thing shell", "", "quit")
    code, out, err = tw("simbench", "play", small, "-o", path)
    assert (code, "1 answer kept from before" in out, "stopped" in err) == (0, True, True)
    entries = read_transcript(path).entries
    assert {*entries} == {1, 2}
    told = json.loads(entries[2].text)
    top = found.row(found.questions[1]).before.next_id
    assert [(one["uuid"], one["name"]) for one in told["modified"]] == [(top + 1, "shell")]
    mine = scores(tw, small, path)["predictors"][0]
    assert mine["parts"]["act"]["dynamic"]["strict"]["right"] == 1
    assert mine["unanswered"] == len(found.questions) - 2 - mine["parts"]["own"]["all"]["asked"]


def test_the_tokens_of_a_predictor_are_summed_and_priced(
    tw: Tw, small: Path, tmp_path: Path, script: Script
) -> None:
    told = 'asked.get("score", {}), "usage": {"prompt_tokens": 1000, "completion_tokens": 10}})'
    command, path = script(COPIES.replace('asked.get("score", {})})', told)), tmp_path / "a.jsonl"
    code, out, _ = tw("simbench", "run", small, "--predictor", command, "-o", path)
    number = len(lines(path)) - 1
    assert (code, f"{number * 1000:,} tokens in, {number * 10:,} out" in out) == (0, True)
    _, out, _ = tw("simbench", "score", small, path, "--prices", "1,100", "--json")
    used = json.loads(out)["predictors"][0]["usage"]
    assert (used["answers"], used["told"], used["tokens_in"]) == (number, number, number * 1000)
    assert used["cost"] == pytest.approx(number * 0.002)
