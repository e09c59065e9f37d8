"""``tw dist`` and ``tw conform --score``: outcomes of a command, likelihood of recorded rows."""

from __future__ import annotations

import gzip
import json
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest

Tw = Any

HENS = """
type Place
type Hen { at: Place }
type Hero
actor me: Hero
object yard, nest: Place
action wait() as "wait" { }
law roam(h: Hen) { chance 20% { h.at = yard } or 30% { h.at = nest } }
world w { object hero: Hero  object ida: Hen { at = nest }  goal out: ida.at == yard }
"""


@pytest.fixture
def hens(tmp_path: Path) -> Path:
    path = tmp_path / "hens.tw"
    path.write_text(HENS, encoding="utf-8")
    return path


def rows(tw: Tw, hens: Path) -> list[dict[str, Any]]:
    script = hens.with_name("waits.txt")
    script.write_text("wait\n" * 2, encoding="utf-8")
    assert tw("run", hens, "--script", script, "--store", "runs.sqlite").code in (0, 1)
    assert tw("runs", "rows", "1", "--output", "rows.jsonl", "--store", "runs.sqlite").code == 0
    lines = hens.with_name("rows.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def test_outcomes_as_a_table(tw: Tw, hens: Path) -> None:
    ran = tw("dist", hens, "--intent", "wait")
    assert ran.code == 0
    assert ran.out.splitlines() == [
        "tick 0: 2 outcomes of `wait`",
        "80.0000%  4/5  executed: nothing changes",
        "20.0000%  1/5  executed: ida.at nest → yard; reached out",
    ]


def test_outcomes_as_json(tw: Tw, hens: Path) -> None:
    found = tw("dist", hens, "--json").json
    assert [one["exact"] for one in found["outcomes"]] == ["4/5", "1/5"]
    assert found["left_out"] == 0
    assert found["outcomes"][1]["changes"][0]["new"] == "yard"
    assert found["outcomes"][1]["draws"][0]["site"].endswith("hens.tw:8:20")


def test_outcomes_are_cut(tw: Tw, hens: Path) -> None:
    ran = tw("dist", hens, "--most", "1")
    assert ran.out.splitlines()[-1] == "20.0000% left out: more than 1 outcomes"
    assert tw("dist", hens, "--most", "0").code == 2


def test_outcomes_of_the_state_of_a_file(tw: Tw, hens: Path) -> None:
    (row, *_) = rows(tw, hens)
    row["state"]["objects"][3]["attrs"]["at"] = "yard"
    Path("state.json").write_text(json.dumps(row["state"]), encoding="utf-8")
    found = tw("dist", hens, "--start", "state.json", "--json").json
    assert [one["exact"] for one in found["outcomes"]] == ["7/10", "3/10"]
    Path("state.json").write_text("{", encoding="utf-8")
    ran = tw("dist", hens, "--start", "state.json")
    assert (ran.code, "TW0006" in ran.err) == (2, True)


def test_a_world_with_secrets_is_for_the_operator(tw: Tw, tmp_path: Path) -> None:
    path = tmp_path / "secret.tw"
    text = HENS.replace("type Hen { at", "type Hen { secret mood: bool  at")
    text = text.replace("law roam(h: Hen)", "law roam(h: Hen) when h.mood")
    text = text.replace('wait" {', 'wait" { require cross() else no "No."')
    derive = "derive cross() = any(h.mood for h: Hen)\nlaw roam"
    path.write_text(text.replace("law roam", derive), encoding="utf-8")
    ran = tw("dist", path)
    assert ran.code == 2
    assert "--operator" in ran.err


def test_how_likely_rows_are(tw: Tw, hens: Path) -> None:
    found = rows(tw, hens)
    ran = tw("conform", hens, "rows.jsonl", "--score")
    assert ran.code == 0
    scores = tw("conform", hens, "rows.jsonl", "--score", "--json").json
    assert len(scores["rows"]) == len(found)
    assert scores["logp"] == pytest.approx(sum(one["logp"] for one in scores["rows"]))
    Path("rows.jsonl.gz").write_bytes(gzip.compress(Path("rows.jsonl").read_bytes()))
    assert tw("conform", hens, "rows.jsonl.gz", "--score", "--json").json["logp"] == scores["logp"]


def test_the_first_impossible_row_is_named(tw: Tw, hens: Path) -> None:
    (row, *_) = rows(tw, hens)
    row["tick"]["tick"] = 9
    Path("bad.jsonl").write_text(f"{json.dumps(row)}\n", encoding="utf-8")
    ran = tw("conform", hens, "bad.jsonl", "--score")
    assert ran.code == 1
    assert "bad.jsonl:1: tick: 9 was observed, the rules give 1" in ran.out
    found = tw("conform", hens, "bad.jsonl", "--score", "--json").json
    assert found["first_impossible"] == "bad.jsonl:1"
    assert found["rows"][0]["logp"] is None


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda row: row.pop("tick"), "tells no state after the tick"),
        (lambda row: row["state"].update(world="other"), "of the world `other`"),
        (lambda row: row["state"]["objects"][3].update(type="Goat"), "Goat"),
        (lambda row: row.pop("intent"), "is no recorded row"),
    ],
)
def test_rows_that_do_not_fit_are_skipped(tw: Tw, hens: Path, change: Any, why: str) -> None:
    (row, *_) = rows(tw, hens)
    change(row)
    Path("bad.jsonl").write_text(f"{json.dumps(row)}\nnot json\n", encoding="utf-8")
    ran = tw("conform", hens, "bad.jsonl", "--score")
    assert ran.code == 1
    assert why in ran.err
    assert "bad.jsonl:2: the line is not JSON" in ran.err
    assert "2 rows skipped" in ran.err


def test_a_missing_file_of_rows_is_told(tw: Tw, hens: Path) -> None:
    ran = tw("conform", hens, "nowhere.jsonl", "--score")
    assert (ran.code, "TW0001" in ran.err) == (2, True)


PAGE = Path(__file__).parents[2] / "docs" / "learning.md"
BLOCK = re.compile(
    r"<!-- file: (?P<name>\S+) -->\n```tw\n(?P<file>.*?)```"
    r"|```sh\n(?P<shell>.*?)```"
    r"|```console\n\$ tw (?P<line>.*?)\n(?P<shown>.*?)```",
    re.DOTALL,
)


def test_the_page_shows_what_comes_out(tw: Tw) -> None:
    """Every file is written, every command is given in its order."""
    pytest.importorskip("scipy", reason="scipy is an extra")
    compared = 0
    Path("domains").symlink_to(PAGE.parents[1] / "domains")
    for block in BLOCK.finditer(PAGE.read_text(encoding="utf-8")):
        if block["file"]:
            Path(block["name"]).write_text(block["file"], encoding="utf-8")
        elif block["shell"]:
            for line in block["shell"].splitlines():
                words = shlex.split(line)
                if words[0] == "tw":
                    assert tw(*words[1:]).code in (0, 1), line
                else:
                    subprocess.run(["bash", "-c", line], check=True)
        else:
            compared += 1
            assert tw(*shlex.split(block["line"])).out == block["shown"], block["line"]
    assert compared >= 3
