"""Characters that cannot be seen: which they are, and what is shown for them."""

from __future__ import annotations

import json
import sys
import unicodedata

import pytest

from tokenworld.diagnostics import (
    Diagnostic,
    Related,
    Source,
    escaped,
    invisible,
    render,
    visible,
    without_invisible,
)

SEEN = {*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD}
"""Format characters that are drawn, before the number that they belong to."""
CALLED_FOR = (
    "👩\u200d🚀 and ❤\ufe0f", "🏳\ufe0f\u200d🌈", "👩🏽\u200d🚀", "می\u200cخواهم", "क्\u200dष",
    "‼\ufe0f",
)  # fmt: skip


def test_every_control_and_format_character_is_known() -> None:
    for code in range(sys.maxunicode + 1):
        one = chr(code)
        wanted = unicodedata.category(one) in ("Cc", "Cf", "Cs", "Zl", "Zp") and code not in SEEN
        if wanted and one not in "\t\n":
            assert list(invisible(f"a{one}b")) == [1], hex(code)
            assert visible(f"a{one}b") not in (f"a{one}b", "ab"), hex(code)
            assert without_invisible(f"a{one}b") == "ab", hex(code)
    shown = "Łódź naïve 日本 שלום a\u0301 \u00a0 🚀 é ½ — “q”\tx\n"
    assert (visible(shown), without_invisible(shown), list(invisible(shown))) == (shown, shown, [])


@pytest.mark.parametrize("hidden", "\u034f\u115f\u3164\uffa0\ufe0f\u180e\U000e0100")
def test_letters_and_marks_without_a_shape_are_known(hidden: str) -> None:
    assert list(invisible(f"ta{hidden}ke")) == [2]


def test_a_sign_says_which_control_it_was() -> None:
    assert visible("\x1b[2J\x07\x7f\x9b\u202e\r") == "␛[2J␇␡��␍"


@pytest.mark.parametrize("text", CALLED_FOR)
def test_what_a_script_calls_for_stays(text: str) -> None:
    assert (visible(text), without_invisible(text), list(invisible(text))) == (text, text, [])


def test_json_says_the_same_in_characters_that_are_seen() -> None:
    value = {"a\x1b": ["\x9b\u202e\U000e0041 👩\u200d🚀\udc80", "é\n"]}
    text = escaped(json.dumps(value, ensure_ascii=False))
    assert json.loads(text) == value
    assert visible(text) == text
    assert "é" in text


@pytest.mark.parametrize("colour", [False, True])
def test_no_part_of_a_diagnostic_is_printed_raw(colour: bool) -> None:
    bad = "\x1b]0;x\x07\u202e\u200b\x9b"
    source = Source(f"f{bad}.tw", None, f'world a "{bad}"\n')
    span = source.span(9, 10)
    found = Diagnostic(
        "TW0101", bad, span, bad, (bad,), bad, related=(Related(span, bad),)
    )  # fmt: skip
    alone = Diagnostic("TW0101", bad, label=bad)
    text = render([found, alone], {source.name: source}, colour=colour)
    for code in ("\x1b[0m", "\x1b[1m", "\x1b[1;34m", "\x1b[1;31m"):
        text = text.replace(code, "")
    assert list(invisible(text)) == []
    assert text.count("␛]0;x␇") >= 9
