"""Script files and tw-intent objects."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokenworld.diagnostics import Diagnostic, Failure, Source
from tokenworld.prose.intents import (
    CallIntent,
    PassIntent,
    TypedIntent,
    parse_intent_json,
    read_script,
)


def script(text: str) -> Source:
    return Source("walk.txt", None, text)


def test_a_script_has_one_intent_per_line() -> None:
    text = (
        "# to the cellar\n\n  take lamp\r\nopen(old_chest)\n"
        '{"format": "tw-intent/1", "actor": "bran", "action": "go", "args": {"d": "north"}}\n'
        '{"format": "tw-intent/1", "text": "look"}\n{"format": "tw-intent/1", "pass": true}'
    )
    lines = read_script(script(text))
    assert [line.intent for line in lines] == [
        TypedIntent("take lamp"),
        TypedIntent("open(old_chest)"),
        CallIntent("go", {"d": "north"}, "bran"),
        TypedIntent("look"),
        PassIntent(),
    ]
    assert [str(line.span) for line in lines] == [
        "walk.txt:3:3", "walk.txt:4:1", "walk.txt:5:1", "walk.txt:6:1", "walk.txt:7:1",
    ]  # fmt: skip
    assert lines[0].text == "take lamp"


def test_an_empty_script_has_no_intents() -> None:
    assert read_script(script("\n # nothing \n")) == ()


def test_every_bad_line_is_reported_with_its_place() -> None:
    text = 'look\n{"format": "tw-intent/1"}\n  {"format": "tw-intent/1", "pass" true}\n'
    with pytest.raises(Failure) as caught:
        read_script(script(text))
    found = caught.value.diagnostics
    assert [(one.code, str(one.span)) for one in found] == [
        ("TW0006", "walk.txt:2:1"),
        ("TW0006", "walk.txt:3:36"),
    ]
    assert all(one.hint for one in found)


HEAD = '{"format": "tw-intent/1", '


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "no JSON"), ("[1]", "is a JSON object"), ("{}", "format"),
        ('{"format": "tw-intent/2", "text": "look"}', "format"),
        (HEAD + '"text": "look", "pass": true}', "exactly one"),
        (HEAD + '"pass": false}', "only be true"), (HEAD + '"text": 3}', "is a text"),
        (HEAD + '"action": null}', "is a text"), (HEAD + '"pass": true, "args": {}}', "args"),
        (HEAD + '"action": "go", "args": []}', "args"),
        (HEAD + '"text": "look", "actor": 3}', "actor"),
        (HEAD + '"text": "look", "verb": 3}', "no key `verb`"),
        (HEAD + '"text": "look", "text": "go"}', "twice"),
        (HEAD + '"action": "go", "args": {"d": NaN}}', "`NaN`"),
        (HEAD + '"action": "go", "args": {"d": ' + "9" * 5000 + "}}", "beyond use"),
        (HEAD + '"action": "go", "args": {"d": ' + "[" * 100_000 + "}}", "beyond use"),
    ],
)  # fmt: skip
def test_objects_that_do_not_fit(text: str, part: str) -> None:
    with pytest.raises(Failure) as caught:
        parse_intent_json(text)
    (found,) = caught.value.diagnostics
    assert found.code == "TW0006"
    assert part in found.message
    assert found.message.endswith(".")
    assert found.span is not None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
KEYS = st.sampled_from(["format", "actor", "action", "args", "text", "pass", "x"])


@given(st.one_of(st.text(), st.dictionaries(KEYS, JSON | st.just("tw-intent/1")).map(json.dumps)))
def test_anything_is_an_intent_or_one_diagnostic(text: str) -> None:
    assert len(problems(lambda: parse_intent_json(text))) <= 1


@given(st.text())
def test_any_script_is_read_or_refused(text: str) -> None:
    def check() -> None:
        for line in read_script(script(text)):
            assert text[line.span.start : line.span.end] == line.text

    assert all(one.code == "TW0006" for one in problems(check))


def problems(read: Callable[[], object]) -> tuple[Diagnostic, ...]:
    try:
        read()
    except Failure as failure:
        return failure.diagnostics
    return ()
