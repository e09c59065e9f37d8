"""`tw fmt`: what it writes, what it leaves alone, and what it says."""

from __future__ import annotations

import io
import os
import stat
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

UGLY = "type   A\nlaw l( ) {x=1}\n"
NICE = "type A\nlaw l() { x = 1 }\n"


@pytest.fixture
def ugly(tmp_path: Path) -> Path:
    path = tmp_path / "ugly.tw"
    path.write_text(UGLY, encoding="utf-8")
    return path


def test_a_file_is_formatted_once(tw: Any, ugly: Path) -> None:
    first = tw("fmt", ugly)
    assert (first.code, first.out) == (0, f"{ugly}: formatted\n")
    assert ugly.read_text(encoding="utf-8") == NICE
    assert tw("fmt", ugly).out == ""


def test_check_lists_and_writes_nothing(tw: Any, ugly: Path) -> None:
    ran = tw("fmt", ugly, "--check")
    assert (ran.code, ran.out) == (1, f"{ugly}: would be formatted\n")
    assert ugly.read_text(encoding="utf-8") == UGLY


def test_diff_shows_and_writes_nothing(tw: Any, ugly: Path) -> None:
    ran = tw("fmt", ugly, "--diff")
    assert ran.code == 0
    assert ran.out.splitlines()[2:] == [
        "@@ -1,2 +1,2 @@",
        "-type   A",
        "-law l( ) {x=1}",
        "+type A",
        "+law l() { x = 1 }",
    ]
    assert ugly.read_text(encoding="utf-8") == UGLY
    assert tw("fmt", ugly, "--diff", "--check").code == 1


def test_folders_and_the_default_folders(tw: Any, ugly: Path) -> None:
    (ugly.parent / "rules/deep").mkdir(parents=True)
    (ugly.parent / "rules/deep/a.tw").write_text(UGLY, encoding="utf-8")
    assert tw("fmt").code == 0
    assert (ugly.parent / "rules/deep/a.tw").read_text(encoding="utf-8") == NICE
    assert ugly.read_text(encoding="utf-8") == UGLY


def test_json(tw: Any, ugly: Path) -> None:
    answer = tw("fmt", ugly, "--check", "--json").json
    assert (answer["ok"], answer["changed"]) == (False, [str(ugly)])
    assert answer["files"] == [{"file": str(ugly), "changed": True, "diagnostics": []}]


def test_a_file_with_mistakes_is_left_alone(tw: Any, ugly: Path) -> None:
    broken = ugly.with_name("broken.tw")
    broken.write_text("law l( { }", encoding="utf-8")
    ran = tw("fmt", broken, ugly)
    assert ran.code == 1
    assert "TW0101" in ran.err
    assert broken.read_text(encoding="utf-8") == "law l( { }"
    assert ugly.read_text(encoding="utf-8") == NICE


def test_mode_and_links_stay(tw: Any, ugly: Path) -> None:
    ugly.chmod(0o640)
    link = ugly.with_name("link.tw")
    link.symlink_to(ugly.name)
    assert tw("fmt", link).code == 0
    assert link.is_symlink()
    assert ugly.read_text(encoding="utf-8") == NICE
    assert stat.S_IMODE(ugly.stat().st_mode) == 0o640
    assert sorted(os.listdir(ugly.parent)) == ["link.tw", "ugly.tw"]


@pytest.mark.parametrize("data", [b"\xef\xbb\xbftype A\n", b"type A\r\n", b"type A"])
def test_marks_and_line_ends_are_made_alike(tw: Any, ugly: Path, data: bytes) -> None:
    ugly.write_bytes(data)
    assert tw("fmt", ugly).code == 0
    assert ugly.read_bytes() == b"type A\n"


def test_a_file_that_is_no_text(tw: Any, ugly: Path) -> None:
    ugly.write_bytes(b"type A \xff")
    ran = tw("fmt", ugly)
    assert ran.code == 2
    assert "TW0003" in ran.err
    assert ugly.read_bytes() == b"type A \xff"


def test_nothing_to_format(tw: Any, tmp_path: Path) -> None:
    assert tw("fmt").code == 2
    assert "TW0001" in tw("fmt", "nowhere.tw").err
    (tmp_path / "empty.tw").write_text("", encoding="utf-8")
    assert tw("fmt", "empty.tw").code == 0


def test_a_write_that_fails_keeps_the_old_text(
    tw: Any, ugly: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    ran = tw("fmt", ugly)
    assert ran.code == 2
    assert "No space left on device" in ran.err
    assert ugly.read_text(encoding="utf-8") == UGLY
    assert os.listdir(ugly.parent) == ["ugly.tw"]


def test_stdin(tw: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def piped(text: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(text)))

    piped(UGLY.encode())
    assert tw("fmt", "--stdin").out == NICE
    piped(UGLY.encode())
    assert tw("fmt", "--stdin", "--check").code == 1
    piped(b"law l(")
    ran = tw("fmt", "--stdin")
    assert (ran.code, ran.out) == (1, "")
    assert "<stdin>:1:6" in ran.err
    piped(b"\xff")
    assert tw("fmt", "--stdin").code == 2
    assert tw("fmt", "--stdin", "some.tw").code == 2
