"""``tw conform``: rows that a world recorded itself pass; whatever is wrong is told and counted."""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .conftest import played

Put = Callable[..., Path]
Tw = Callable[..., tuple[int, str, str]]
Row = dict[str, Any]

ECHO = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    answer = {"modified": [], "removed": [], "score": asked.get("score", {})}
    print(json.dumps(answer), flush=True)
"""


def kept(path: Path, rows: list[Row]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def asked(tw: Tw, *arguments: object) -> tuple[int, Any, str]:
    code, out, err = tw("conform", *arguments, "--json")
    return code, json.loads(out), err


def test_a_world_conforms_to_what_it_recorded(
    tw: Tw, bench: Put, rows: list[Row], tmp_path: Path
) -> None:
    code, found, _ = asked(tw, bench(), kept(tmp_path / "rows.jsonl", rows), "--strict")
    assert (code, found["ok"], found["bad_rows"]) == (0, True, 0)
    (game,) = found["games"]
    assert (game["game"], game["rows"], game["wrong"]) == ("bench", 8, 0)
    tasks = game["tasks"]
    assert tasks["act"]["dynamic"] == {"rows": 5, "published": 5, "strict": 5}
    assert tasks["act"]["static"]["rows"] == 3
    assert tasks["score"]["dynamic"]["rows"] == 2
    assert found["averages"]["step"]["dynamic"]["strict"] == 1.0


def test_only_some_tasks(tw: Tw, bench: Put, rows: list[Row], tmp_path: Path) -> None:
    rows[1]["next_score_state"]["score"] = 7
    path = kept(tmp_path / "rows.jsonl", rows)
    assert tw("conform", bench(), path)[0] == 1
    code, found, _ = asked(tw, bench(), path, "--tasks", "act, env")
    assert code == 0
    counted = {task: one["static"]["rows"] for task, one in found["games"][0]["tasks"].items()}
    assert (counted["act"], counted["score"], counted["step"]) == (3, 0, 0)


def test_the_table(tw: Tw, bench: Put, rows: list[Row], tmp_path: Path) -> None:
    code, out, _ = tw("conform", bench(), kept(tmp_path / "rows.jsonl", rows))
    assert code == 0
    assert "F_act" in out
    assert "8 rows, 0 wrong answers by the paper's scorer" in out


def test_a_difference_is_shown_with_the_rule_that_wrote_it(
    tw: Tw, bench: Put, rows: list[Row], tmp_path: Path
) -> None:
    rows[1]["tick_state"]["objects"][2]["properties"]["heat"] = 13.0
    path = kept(tmp_path / "rows.jsonl", rows[:2])
    code, out, _ = tw("conform", bench(), path, "--strict")
    assert code == 1
    assert f"{path}:2: F_env of `wet clip (ID: 3)`" in out
    assert "executed wet(red)" in out
    assert "  @ clip (ID: 3): heat\n  - 13.0\n  + 12.5\n    written by law cool (" in out
    assert "world.tw:" in out


def test_a_refusal_that_should_not_be_is_named(
    tw: Tw, bench: Put, rows: list[Row], tmp_path: Path
) -> None:
    rows[2]["action_state"]["objects"][2]["properties"]["wet"] = False
    code, found, _ = asked(tw, bench(), kept(tmp_path / "rows.jsonl", rows[2:3]))
    assert code == 1
    miss = found["misses"][0]
    assert miss["task"] == "act"
    assert miss["how"].startswith("refused wet(red): already (")
    assert miss["differences"][0]["rule"] == ""


def test_the_order_of_contents_counts_strictly_only(
    tw: Tw, bench: Put, rows: list[Row], tmp_path: Path
) -> None:
    row = rows[1]
    for key in ("current_state", "action_state", "tick_state"):
        row[key]["objects"][1]["contains"][:2] = ["clip (ID: 4)", "clip (ID: 3)"]
        row[key]["objects"][2:4] = [row[key]["objects"][3], row[key]["objects"][2]]
    path = kept(tmp_path / "rows.jsonl", [row])
    assert tw("conform", bench(), path, "--strict")[0] == 0  # the order is read, and it is kept
    objects = row["action_state"]["objects"]
    objects[1]["contains"][:2] = ["clip (ID: 3)", "clip (ID: 4)"]
    objects[2:4] = [objects[3], objects[2]]
    path = kept(tmp_path / "rows.jsonl", [row])
    code, found, _ = asked(tw, bench(), path)
    assert found["games"][0]["tasks"]["act"]["dynamic"] == {
        "rows": 1, "published": 1, "strict": 0,
    }  # fmt: skip
    assert code == 0


def test_bad_rows_are_told_counted_and_skipped(
    tw: Tw, bench: Put, rows: list[Row], tmp_path: Path
) -> None:
    rows[1]["game"] = "other-game"
    rows[2]["current_state"]["objects"][2]["type"] = "Zeppelin"
    path = kept(tmp_path / "rows.jsonl", rows)
    with path.open("a", encoding="utf-8") as file:
        file.write('{"game": "bench"\n')
    code, found, err = asked(tw, bench(), path)
    assert code == 1
    assert found["bad_rows"] == 3
    assert found["games"][0]["rows"] == 6
    assert f"{path}:2: it is a row of `other-game`, and the world is for `bench`" in err
    assert "the world has no type `Zeppelin`" in err
    assert f"{path}:9: it is no JSON" in err
    assert "3 rows were skipped" in err


def _zeppelin(state: Row) -> None:
    state["objects"][2]["type"] = "Zeppelin"


def _colour(state: Row) -> None:
    state["objects"][2]["properties"]["colour"] = "red"


def _ghost(state: Row) -> None:
    state["objects"][0]["contains"].append("ghost (ID: 99)")


@pytest.mark.parametrize("part", ["current_state", "action_state", "tick_state"])
@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (_zeppelin, "the world has no type `Zeppelin`"),
        (_colour, "`Clip` of the world has no property `colour`"),
        (_ghost, "`ghost (ID: 99)` is not the next object that is listed"),
    ],
)
@pytest.mark.parametrize("program", [False, True])
def test_what_the_world_does_not_know_is_no_row_whoever_answers(
    tw: Tw, bench: Put, rows: list[Row], tmp_path: Path,
    part: str, spoil: Callable[[Row], None], words: str, program: bool,
) -> None:  # fmt: skip
    spoil(rows[1][part])
    path = kept(tmp_path / "rows.jsonl", rows)
    (tmp_path / "echo.py").write_text(ECHO, encoding="utf-8")
    other = ("--predictor", f"{sys.executable} {tmp_path / 'echo.py'}") if program else ()
    code, found, err = asked(tw, bench(), path, *other)
    assert (code, found["bad_rows"], found["games"][0]["rows"]) == (1, 1, 7)
    assert found["games"][0]["wrong"] == 0 or program
    assert f"{path}:2: {part}` does not fit" in err
    assert words in err
    assert "1 row was skipped" in err


def test_files_without_rows_and_torn_ones(
    tw: Tw, bench: Put, rows: list[Row], tmp_path: Path
) -> None:
    code, _, err = asked(tw, bench(), kept(tmp_path / "rows.jsonl", []))
    assert (code, "the files have no rows" in err) == (1, True)
    text = "".join(json.dumps(row) + "\n" for row in rows * 40)
    (tmp_path / "torn.jsonl.gz").write_bytes(gzip.compress(text.encode())[:-30])
    code, found, err = asked(tw, bench(), tmp_path / "torn.jsonl.gz")
    assert code == 1
    assert 0 < found["games"][0]["rows"] < 320
    assert "the file is torn here" in err
    assert found["games"][0]["wrong"] == 0


def test_what_was_worked_out_before_hides_no_fault(
    tw: Tw, bench: Put, rows: list[Row], tmp_path: Path
) -> None:
    """Equal questions are answered once; each recorded answer is still looked at."""
    spoilt = json.loads(json.dumps(rows))
    spoilt[1]["tick_state"]["objects"][2]["properties"]["heat"] = 13.0
    spoilt[2]["action_state"]["objects"][2]["properties"]["mess"] = "dust"
    spoilt[3]["next_score_state"]["score"] = 7
    path = kept(tmp_path / "rows.jsonl", [*rows, *spoilt, *rows, *spoilt])
    code, found, _ = asked(tw, bench(), path, "--strict")
    assert code == 1
    places = {(miss["place"].rpartition(":")[2], miss["task"]) for miss in found["misses"]}
    assert places <= {("10", "env"), ("10", "step"), ("11", "act"), ("11", "env"),
                      ("11", "step"), ("12", "score"), ("12", "step")}  # fmt: skip
    tasks = found["games"][0]["tasks"]
    wrong = {
        task: sum(one[kind]["rows"] - one[kind]["strict"] for kind in ("dynamic", "static"))
        for task, one in tasks.items()
    }
    assert (wrong["act"], wrong["score"]) == (2, 2)
    assert wrong["env"] >= 2
    assert wrong["step"] == 4


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("nowhere.tw", "rows.jsonl"), "nowhere"),
        (("WORLD",), "No file of rows is named"),
        (("WORLD", "nowhere.jsonl"), "nowhere.jsonl"),
        (("WORLD", "rows.jsonl", "--tasks", "guess"), "`guess` is no task"),
        (("WORLD", "rows.jsonl", "--predictions", "nowhere.jsonl"), "nowhere.jsonl"),
        (("WORLD", "rows.jsonl", "--predictor", "no-such-program"), "cannot be started"),
        ((".", "rows.jsonl"), "has no folder with a world"),
    ],
)
def test_bad_arguments(
    tw: Tw, bench: Put, rows: list[Row], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...], words: str,
) -> None:  # fmt: skip
    (tmp_path / "empty").mkdir()
    world = bench()
    kept(tmp_path / "empty" / "rows.jsonl", rows)
    monkeypatch.chdir(tmp_path / "empty")
    given = [str(world) if one == "WORLD" else one for one in arguments]
    code, _, err = tw("conform", *given)
    assert code == 2
    assert words in err
    assert "help: " in err


def test_a_folder_of_worlds(tw: Tw, bench: Put, rows: list[Row], tmp_path: Path) -> None:
    bench(folder="worlds/bench")
    other = [{**row, "game": "other"} for row in rows]
    text = (tmp_path / "worlds" / "bench" / "mapping.toml").read_text(encoding="utf-8")
    bench(mapping=text.replace('"bench"', '"other"'), folder="worlds/other")
    path = kept(tmp_path / "rows.jsonl", rows + other)
    code, found, _ = asked(tw, tmp_path / "worlds", path, "--strict")
    assert code == 0
    assert [one["game"] for one in found["games"]] == ["bench", "other"]
    assert "mean of the games" in tw("conform", tmp_path / "worlds", path)[1]


def test_what_only_a_scenario_names_may_have_another_number(
    tw: Tw, bench: Put, rows: list[Row], tmp_path: Path
) -> None:
    row = json.loads(json.dumps(rows[0]).replace("coin", "peg"))
    for part in ("current_state", "action_state", "tick_state"):
        of = {one["uuid"]: one for one in row[part]["objects"]}
        of[8] |= {"type": "Clip", "properties": {**of[3]["properties"], "shout": "peg!"}}
    world = bench().read_text(encoding="utf-8")
    world += 'scenario "the coin is in the pan" in bench { then coin.at == right_pan }'
    path = kept(tmp_path / "rows.jsonl", [row])
    code, found, err = asked(tw, bench(world), path, "--strict")
    assert (code, found["bad_rows"]) == (0, 0), err


def test_the_bundled_games_have_a_name(
    tw: Tw, rows: list[Row], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = kept(tmp_path / "rows.jsonl", rows)
    code, found, err = asked(tw, "textgames", path)
    assert code == 1
    assert found["bad_rows"] == len(rows)
    assert "it is a row of `bench`, and the world is for `balance-scale-heaviest`" in err


def test_it_is_counted_how_often_rows_reach_a_rule(
    tw: Tw, bench: Put, rows: list[Row], tmp_path: Path
) -> None:
    path = kept(tmp_path / "rows.jsonl", [*rows, *rows])
    code, found, _ = asked(tw, bench(), path, "--strict", "--coverage")
    count = {f"{one['rule']}, {one['what']}": one["count"] for one in
             found["coverage"]["bench"]["places"]}  # fmt: skip
    assert code == 0
    assert count["action wet, executed"] == 4
    assert count["action wet, refused because already"] == 2
    assert count["action shoot, executed"] == 0
    assert count["law cool, fired"] == 2 * 8  # from the second row on, and one more at the end
    out = tw("conform", bench(), path, "--coverage")[1]
    assert "bench: 9 of 11 places reached" in out
    assert "not reached: " in out
    assert "world.tw:33:1: action wet, executed" in out
    for other in ("--predictor", "--predictions", "--questions"):
        code, _, err = tw("conform", bench(), path, "--coverage", other, "x")
        assert code == 2
        assert "`--coverage` counts what the rules of the world do" in err


PRIMED = (
    ("world bench", "function primed(): bool = false\n"
     'action prime() as "prime" { primed() = true }\nworld bench'),
    ("score = ", "score = (if primed() then 10 else 0) + "),
)  # fmt: skip


def primed(bench: Put) -> Path:
    """The bench where a command sets what no record shows, and the score tells of it."""
    text = bench().read_text(encoding="utf-8")
    for old, new in PRIMED:
        text = text.replace(old, new, 1)
    return bench(text)


def test_what_no_record_shows_is_told_apart_from_what_is_wrong(
    tw: Tw, bench: Put, tmp_path: Path
) -> None:
    rows = played(primed(bench), ("look", "prime", "look", "wet clip (ID: 3)"))
    path, world = kept(tmp_path / "rows.jsonl", rows), primed(bench)
    code, found, _ = asked(tw, world, path, "--strict")
    assert (code, found["games"][0]["wrong"], found["unseen"]) == (1, 4, {})  # two rows, two tasks
    mapping = (world.parent / "mapping.toml").read_text(encoding="utf-8")
    bench(world.read_text(encoding="utf-8"), f'unseen = ["primed"]\n{mapping}')
    code, found, _ = asked(tw, world, path, "--strict")
    assert (code, found["games"][0]["wrong"]) == (0, 0)
    assert found["unseen"] == {"bench": {"names": ["primed"], "rows": 2}}
    out = tw("conform", world, path, "--strict")[1]
    assert "bench: 2 rows right only with `primed`, which no record shows" in out
    rows[2]["next_score_state"]["score"] = 7  # neither with it nor without it
    code, found, _ = asked(tw, world, kept(path, rows), "--strict")
    assert (code, found["games"][0]["wrong"], found["unseen"]["bench"]["rows"]) == (1, 2, 1)


@pytest.mark.parametrize(
    ("name", "words"),
    [("ghost", "no function or derive `ghost`"), ("near_port", "no function or derive"),
     ("weightless", "`weightless` is no function of type bool")],
)  # fmt: skip
def test_only_a_truth_can_be_unseen(
    tw: Tw, bench: Put, rows: list[Row], tmp_path: Path, name: str, words: str
) -> None:
    world = bench()
    text = world.read_text(encoding="utf-8") + "function weightless(): int = 1\n"
    mapping = (world.parent / "mapping.toml").read_text(encoding="utf-8")
    bench(text, f'unseen = ["{name}"]\n{mapping}')
    code, _, err = tw("conform", world, kept(tmp_path / "rows.jsonl", rows))
    assert code in (1, 2)
    assert words in err


# ---- other predictors -------------------------------------------------------------------------


def test_a_program_answers(tw: Tw, bench: Put, rows: list[Row], tmp_path: Path) -> None:
    """One that says "nothing changes" is right about what changes nothing, and no more."""
    (tmp_path / "echo.py").write_text(ECHO, encoding="utf-8")
    path, program = kept(tmp_path / "rows.jsonl", rows), f"{sys.executable} {tmp_path / 'echo.py'}"
    code, found, _ = asked(tw, bench(), path, "--predictor", program)
    assert code == 1
    tasks = found["games"][0]["tasks"]
    assert tasks["act"]["dynamic"] == {"rows": 5, "published": 0, "strict": 0}
    assert tasks["act"]["static"] == {"rows": 3, "published": 3, "strict": 3}
    assert tasks["score"]["static"]["published"] == 6
    assert tasks["score"]["dynamic"]["published"] == 0


@pytest.mark.parametrize(
    ("program", "words"),
    [("print('{')", "the answer is no JSON"), ("print('[]')", "the answer is no JSON object"),
     ("print('{}')", "objects` is no list")],
)  # fmt: skip
def test_answers_that_cannot_be_used(
    tw: Tw, bench: Put, rows: list[Row], tmp_path: Path, program: str, words: str
) -> None:
    code = f"import sys\nfor line in sys.stdin:\n    {program}\n    sys.stdout.flush()\n"
    (tmp_path / "answer.py").write_text(code, encoding="utf-8")
    path = kept(tmp_path / "rows.jsonl", rows)
    command = f"{sys.executable} {tmp_path / 'answer.py'}"
    result, found, _ = asked(tw, bench(), path, "--predictor", command, "--tasks", "act")
    assert result == 1
    assert found["games"][0]["wrong"] == 8
    assert words in found["misses"][0]["fault"]


def test_a_program_that_ends_too_early(tw: Tw, bench: Put, rows: list[Row], tmp_path: Path) -> None:
    path = kept(tmp_path / "rows.jsonl", rows)
    code, _, err = tw("conform", bench(), path, "--predictor", f"{sys.executable} -c pass")
    assert code == 2
    assert "ended before it answered" in err or "stopped answering" in err


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("import time\ntime.sleep(600)", "no answer within 0.5 s"),
        ("import sys\nwhile True: sys.stdout.write('x' * 65536)", "floods"),
        ("import sys\nfor line in sys.stdin: print('{' * (1 << 21), flush=True)", "floods"),
        ("import os\nos.kill(os.getpid(), 9)", "killed by signal 9"),
        ("raise SystemExit(7)", "exit code 7"),
    ],
    ids=["silent", "endless", "too long", "killed", "failed"],
)
def test_a_program_has_limits(
    tw: Tw, bench: Put, rows: list[Row], tmp_path: Path, program: str, words: str
) -> None:
    (tmp_path / "answer.py").write_text(program, encoding="utf-8")
    path = kept(tmp_path / "rows.jsonl", rows)
    command = f"{sys.executable} {tmp_path / 'answer.py'}"
    seconds = "0.5" if words.startswith("no answer") else "60"
    code, _, err = tw("conform", bench(), path, "--predictor", command, "--reply-timeout", seconds)
    assert code == 2
    assert words in err
    assert "asked about" in err


def test_questions_and_a_file_of_answers(
    tw: Tw, bench: Put, rows: list[Row], tmp_path: Path
) -> None:
    path, questions = kept(tmp_path / "rows.jsonl", rows), tmp_path / "questions.jsonl"
    assert tw("conform", bench(), path, "--questions", questions)[0] == 0
    lines = [json.loads(line) for line in questions.read_text(encoding="utf-8").splitlines()]
    assert len(lines) == 4 * len(rows)
    first, env = lines[0], lines[1]
    assert (first["task"], first["action"], first["row"]) == ("act", "look", "rows.jsonl:1")
    assert "action" not in env
    assert "score" not in env
    assert env["objects"] == rows[0]["action_state"]["objects"]

    wanted = {"act": "action_state", "env": "tick_state", "step": "tick_state"}
    answers = []
    for number, row in enumerate(rows, start=1):
        for task, key in wanted.items():
            answer = {"row": f"rows.jsonl:{number}", "task": task, "objects": row[key]["objects"]}
            answers.append({**answer, "score": row["next_score_state"]})
    code, found, _ = asked(
        tw, bench(), path, "--predictions", kept(tmp_path / "answers.jsonl", answers), "--strict"
    )
    assert code == 0
    assert found["games"][0]["tasks"]["step"]["dynamic"]["strict"] > 0
    assert found["games"][0]["tasks"]["score"]["dynamic"]["rows"] == 0

    code, found, _ = asked(
        tw, bench(), path, "--predictions", kept(tmp_path / "answers.jsonl", answers[3:])
    )
    assert code == 1
    assert found["misses"][0]["fault"] == "the file has no answer for it"


def test_answers_to_what_was_not_asked_are_told(
    tw: Tw, bench: Put, rows: list[Row], tmp_path: Path
) -> None:
    path = kept(tmp_path / "rows.jsonl", rows[:1])
    answers = [
        {"row": f"rows.jsonl:{number}", "task": "score", "score": rows[0]["next_score_state"]}
        for number in (1, 2, 3)
    ]
    given = kept(tmp_path / "answers.jsonl", answers)
    code, found, err = asked(tw, bench(), path, "--predictions", given)
    assert (code, found["ok"]) == (0, True)
    assert "2 answers are for none of these rows" in err


def test_a_file_that_holds_no_answers(tw: Tw, bench: Put, rows: list[Row], tmp_path: Path) -> None:
    path = kept(tmp_path / "rows.jsonl", rows)
    code, _, err = tw("conform", bench(), path, "--predictions", path)
    assert code == 2
    assert "is no answer" in err
