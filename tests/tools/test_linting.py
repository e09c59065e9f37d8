"""`tw lint`, `tw check --fix` and the forms of `tw check` at the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tokenworld.cli import _main

ODD = """type Lamp { lit: bool }
phase dusk
quirk "as it was" law odd(a: Lamp, b: Lamp) { a.lit = true }
type Room
type Cat { at: Room? }
derive together(a: Cat, b: Cat) = a.at == b.at
"""


@pytest.fixture
def odd(tmp_path: Path) -> str:
    path = tmp_path / "odd.tw"
    path.write_text(ODD)
    return str(path)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = _main(list(arguments))
    said = capsys.readouterr()
    return code, said.out, said.err


def test_lint_prints_lints_and_ends_well(odd: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "lint", odd)
    assert (code, err) == (0, "")
    assert "TW0904" in out
    assert out.endswith(f"{odd}: 1 lint\n")


def test_lint_as_json_with_pedantic(odd: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "lint", odd, "--pedantic", "--json")
    (report,) = json.loads(out)["files"]
    assert code == 0
    assert [one["code"] for one in report["lints"]] == ["TW0904", "TW0907"]


def test_quirks_are_listed_with_their_places(odd: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "lint", "--quirks", odd)
    assert (code, out) == (0, f"{odd}:3:1: law odd: as it was\n")
    _, out, _ = run(capsys, "lint", "--quirks", odd, "--json")
    (quirk,) = json.loads(out)["files"][0]["quirks"]
    assert (quirk["item"], quirk["reason"], quirk["span"]["line"]) == ("law odd", "as it was", 3)


def test_a_file_with_errors_is_not_linted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "wrong.tw"
    path.write_text("phase dusk\nlaw l(x: Lamp) { x.lit = true }\n")
    code, out, err = run(capsys, "lint", str(path))
    assert (code, out) == (1, "")
    assert "TW0202" in err
    assert "TW0904" not in err
    assert run(capsys, "lint", str(tmp_path / "none.tw"))[0] == 2


def test_fix_reports_what_it_did_and_checks_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "w.tw"
    path.write_text("type Lamp { lit: bool }\nlaw l(x: Lampp) { x.lit = true }\n")
    code, out, err = run(capsys, "check", "--fix", str(path))
    assert (code, err) == (0, "")
    assert out == f"{path}:2: write `Lamp` (TW0202)\n{path}: no problems found\n"
    _, out, _ = run(capsys, "check", "--fix", str(path), "--json")
    (report,) = json.loads(out)["files"]
    assert report["fixed"] == []


def test_fix_of_a_missing_file_is_one_finding(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = run(capsys, "check", "--fix", str(tmp_path / "none.tw"))
    assert code == 2
    assert err.count("TW0001") == 1


@pytest.mark.parametrize(
    ("form", "key"), [("json", "files"), ("sarif", "runs"), ("lsp", "published")]
)
def test_every_form_is_one_object_on_stdout(
    odd: str, capsys: pytest.CaptureFixture[str], form: str, key: str
) -> None:
    code, out, _ = run(capsys, "check", odd, "--format", form)
    assert code == 0
    assert json.loads(out)[key]


def test_sarif_of_a_missing_file_is_a_log_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run(capsys, "check", str(tmp_path / "none.tw"), "--format", "sarif")
    assert code == 2
    assert json.loads(out)["runs"][0]["results"][0]["ruleId"] == "TW0001"
