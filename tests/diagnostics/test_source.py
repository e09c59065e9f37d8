"""Sources: lines, spans, and what is said about files that cannot be read."""

from __future__ import annotations

from pathlib import Path

import pytest

from tokenworld.diagnostics import Failure, Source, Span, read_source


def test_lines_and_columns() -> None:
    source = Source("t.tw", None, "ab\r\nc\n")
    assert [source.line_and_column(i) for i in range(7)] == [
        (1, 1), (1, 2), (1, 3), (1, 4), (2, 1), (2, 2), (3, 1),
    ]  # fmt: skip
    assert [source.line_text(i) for i in range(5)] == ["", "ab", "c", "", ""]
    assert source.line_count == 3


def test_spans() -> None:
    source = Source("cellar.tw", None, "one\ntwo three")
    two, three = source.span(4, 7), source.span(8, 13)
    assert str(two) == "cellar.tw:2:1"
    assert two.join(three) == three.join(two) == source.span(4, 13)
    assert source.span(0, 5) == Span("cellar.tw", 0, 5, 1, 1, 2, 2)


def test_a_file_is_read_with_its_newlines_and_without_its_mark(tmp_path: Path) -> None:
    path = tmp_path / "a.tw"
    path.write_bytes("\ufefftype É\r\n".encode())
    assert read_source(path).text == "type É\r\n"
    assert read_source(path, "shown.tw").name == "shown.tw"


@pytest.mark.parametrize(
    ("data", "place"),
    [(b"type A\n\xff", "2:1"), (b"ab\0c", "1:3"), (b"\x7fELF\0\xff\xfe", "1:5")],
)
def test_binary_files(tmp_path: Path, data: bytes, place: str) -> None:
    path = tmp_path / "a.tw"
    path.write_bytes(data)
    with pytest.raises(Failure) as failure:
        read_source(path, "a.tw")
    (problem,) = failure.value.diagnostics
    assert (problem.code, str(problem.span)) == ("TW0003", f"a.tw:{place}")
    assert problem.hint


def test_files_that_are_not_there(tmp_path: Path) -> None:
    (tmp_path / "file.tw").write_text("", encoding="utf-8")
    for path in (tmp_path / "no.tw", tmp_path, tmp_path / "file.tw" / "x", "a\0b", "x" * 5000):
        with pytest.raises(Failure) as failure:
            read_source(path)
        (problem,) = failure.value.diagnostics
        assert (problem.code, problem.span) == ("TW0001", None)
        assert problem.hint
