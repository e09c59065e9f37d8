"""Every diagnostic code of `tw check`: a program with that mistake, and exactly what is said.

Beside each ``TWnnnn_name.tw`` stands ``TWnnnn_name.txt``, the rendered findings. To write them
anew after a deliberate change, run the tests with ``UPDATE_SNAPSHOTS=1`` and read the difference.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tokenworld.diagnostics import Diagnostic, Failure, Source, read_source, render
from tokenworld.session import check_text

HERE = Path(__file__).parent
PROGRAMS = sorted(HERE.glob("TW*.tw"))
PEDANTIC = ("TW0907",)
"""Codes that only `--pedantic` shows."""


def findings(path: Path) -> tuple[str, tuple[Diagnostic, ...]]:
    """What `tw check` prints for a file, and the findings themselves."""
    try:
        source = read_source(path, path.name)
    except Failure as failure:
        return render(failure.diagnostics, {}), failure.diagnostics
    code = path.stem[:6]
    found = check_text(Source(path.name, path, source.text), pedantic=code in PEDANTIC)
    sources = {one.name: one for one in (source, *found.sources)}
    return render(found.diagnostics, sources), found.diagnostics


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_one_mistake_is_one_finding_in_the_recorded_words(path: Path) -> None:
    text, found = findings(path)
    assert [one.code for one in found] == [path.stem[:6]], text
    (only,) = found
    assert only.hint or only.label.startswith("expected"), "every finding says what to do"
    assert only.span is not None or only.code == "TW0001"
    if only.span is not None and only.code not in ("TW0003", "TW0004"):
        assert only.span.start < only.span.end
    snapshot = path.with_suffix(".txt")
    if os.environ.get("UPDATE_SNAPSHOTS"):
        snapshot.write_text(text, encoding="utf-8")
    assert snapshot.read_text(encoding="utf-8") == text


def test_no_snapshot_is_left_over() -> None:
    assert {path.stem for path in HERE.glob("TW*.txt")} == {path.stem for path in PROGRAMS}


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_the_words_keep_the_house_style(path: Path) -> None:
    """One sentence, names in backquotes, an imperative hint; no blame, no Python."""
    for one in findings(path)[1]:
        assert re.match(r"[`A-Z“\"]", one.message), one.message
        assert one.message.endswith((".", "!")), one.message
        assert one.hint is None or re.match(r"[`A-Z]", one.hint), one.hint
        for word in ("invalid", "illegal", "you forgot", "traceback", "NoneType", "oops"):
            assert word not in f"{one.message} {one.hint or ''}", one.message
        assert not one.label.endswith("."), one.label
