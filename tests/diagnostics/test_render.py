"""Diagnostics for people and for programs."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from tokenworld.diagnostics import (
    Diagnostic,
    Edit,
    Fix,
    Related,
    Source,
    Span,
    render,
    render_one,
    to_json,
)

SOURCE = Source("t.tw", None, "type A\n\tx = 日本 + foo\nlast")


def shown(diagnostic: Diagnostic) -> list[str]:
    return render_one(diagnostic, {"t.tw": SOURCE}).splitlines()


def test_the_whole_form() -> None:
    diagnostic = Diagnostic(
        "TW0201",
        "There is no `foo`.",
        SOURCE.span(17, 20),
        label="unknown",
        notes=("A note\nof two lines.",),
        hint="Declare it.",
        related=(Related(SOURCE.span(5, 6), "the type"),),
    )
    assert shown(diagnostic) == [
        "error[TW0201]: There is no `foo`.",
        " --> t.tw:2:11",
        "  |",
        "2 |     x = 日本 + foo",
        "  |                ^^^ unknown",
        " ::: t.tw:1:6",
        "  |",
        "1 | type A",
        "  |      - the type",
        "  = note: A note",
        "          of two lines.",
        "  = help: Declare it.",
    ]


def test_wide_characters_are_underlined_in_full() -> None:
    lines = shown(Diagnostic("TW0201", "m", SOURCE.span(12, 14)))
    assert lines[-1] == "  |         ^^^^"


def test_a_span_over_lines_underlines_the_rest_of_the_first() -> None:
    assert shown(Diagnostic("TW0201", "m", SOURCE.span(5, 20)))[-1] == "  |      ^"


def test_unknown_files_and_findings_without_place() -> None:
    far = Span("other.tw", 0, 1, 1, 1, 1, 2)
    assert shown(Diagnostic("TW0201", "m", far, label="here")) == [
        "error[TW0201]: m",
        " --> other.tw:1:1",
        "  = note: here",
    ]
    assert shown(Diagnostic("TW0001", "m", hint="h")) == ["error[TW0001]: m", "  = help: h"]


def test_several_findings_are_parted_by_a_blank_line() -> None:
    two = [Diagnostic("TW0001", "a"), Diagnostic("TW0004", "b")]
    assert render(two, {}) == "error[TW0001]: a\n\nwarning[TW0004]: b\n"
    assert render([], {}) == ""


def test_colour_only_on_request() -> None:
    diagnostic = Diagnostic("TW0201", "m", SOURCE.span(0, 4), label="l")
    plain = render_one(diagnostic, {"t.tw": SOURCE})
    coloured = render_one(diagnostic, {"t.tw": SOURCE}, colour=True)
    assert "\x1b" not in plain
    assert coloured.count("\x1b[") == 2 * coloured.count("\x1b[0m") > 0


def test_long_lines_are_cut_around_the_place() -> None:
    source = Source("t.tw", None, "a" * 5000 + "b" + "a" * 5000)
    lines = render_one(Diagnostic("TW0201", "m", source.span(5000, 5001)), {"t.tw": source})
    text, mark = lines.splitlines()[-2:]
    assert len(text) < 200
    assert text[mark.index("^")] == "b"


@given(st.tuples(*[st.integers(-5, 60)] * 6), st.text(max_size=30))
def test_any_span_is_printed(numbers: tuple[int, ...], text: str) -> None:
    start, end, line, column, end_line, end_column = numbers
    span = Span("t.tw", start, end, line, column, end_line, end_column)
    diagnostic = Diagnostic("TW0201", "m", span, label="l", related=(Related(span, "r"),))
    assert render_one(diagnostic, {"t.tw": Source("t.tw", None, text)}, colour=True)


def test_json() -> None:
    span = SOURCE.span(0, 4)
    fix = Fix("rename", (Edit(span, "enum"),), safe=True)
    data = json.loads(json.dumps(to_json(Diagnostic("TW0201", "m", span, hint="h", fix=fix))))
    assert data["span"] == {
        "file": "t.tw", "start": 0, "end": 4,
        "line": 1, "column": 1, "end_line": 1, "end_column": 5,
    }  # fmt: skip
    assert data["fix"]["edits"] == [{"span": data["span"], "text": "enum"}]
    assert (data["code"], data["severity"], data["label"]) == ("TW0201", "error", None)
    assert to_json(Diagnostic("TW0001", "m"))["span"] is None
