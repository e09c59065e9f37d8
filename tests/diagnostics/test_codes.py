"""The table of codes, severities and the order of findings."""

from __future__ import annotations

import re

import pytest

from tokenworld.diagnostics import (
    CODES,
    Diagnostic,
    Failure,
    Severity,
    Source,
    has_errors,
    in_order,
    title_of,
)


def test_codes_are_well_formed_and_titles_unique() -> None:
    assert all(re.fullmatch(r"TW(0[0-9]|1[0-3])\d\d", code) for code in CODES)
    assert list(CODES) == sorted(CODES)
    titles = [title for title, _ in CODES.values()]
    assert len(set(titles)) == len(titles)


def test_severity_comes_from_the_code_unless_given() -> None:
    assert Diagnostic("TW0101", "m").severity is Severity.ERROR
    assert Diagnostic("TW0503", "m").severity is Severity.WARNING
    assert Diagnostic("TW0101", "m", severity=Severity.INFO).severity is Severity.INFO
    with pytest.raises(KeyError):
        Diagnostic("TW9999", "m")
    assert title_of("TW0101") == "unexpected token"


def test_order_and_errors() -> None:
    source = Source("t.tw", None, "abcdef")
    late, early = (Diagnostic("TW0503", "m", source.span(i, i + 1)) for i in (4, 1))
    nowhere = Diagnostic("TW0001", "m")
    assert in_order([late, early, nowhere, late]) == (nowhere, early, late)
    assert not has_errors([late, early])
    assert has_errors([late, nowhere])
    assert Failure(nowhere, late).diagnostics == (nowhere, late)
    assert str(Failure(nowhere)) == "TW0001: m"
