"""Findings as SARIF 2.1.0 and as the Language Server Protocol has them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tokenworld.diagnostics import Diagnostic, Edit, Fix, Related, Source
from tokenworld.diagnostics.exchange import to_lsp, to_sarif

TEXT = 'say "🙂🙂" x\nsecond line\n'
SOURCE = Source("a b.tw", Path("a b.tw"), TEXT)
SOURCES = {SOURCE.name: SOURCE}

PLACE = SOURCE.span(9, 10)
FIX = Fix("write `y`", (Edit(PLACE, "y"),), safe=True)
ERROR = Diagnostic(
    "TW0201", "There is no `x`.", PLACE, "unknown", ("A note.",), "Write `y`.",
    (Related(SOURCE.span(11, 17), "declared here"),), FIX,
)  # fmt: skip
WARNING = Diagnostic("TW0904", "Nothing uses it.", SOURCE.span(11, 22))
NOWHERE = Diagnostic("TW0001", "There is no file `b.tw`.")
REMARK = Diagnostic("TW0809", "A requirement is missing.", PLACE)
ALL = (NOWHERE, ERROR, WARNING, REMARK)

REQUIRED = {
    "log": ("version", "runs"),
    "run": ("tool",),
    "tool": ("driver",),
    "driver": ("name",),
    "rule": ("id",),
    "result": ("message",),
    "location": ("physicalLocation",),
    "fix": ("artifactChanges",),
    "change": ("artifactLocation", "replacements"),
    "replacement": ("deletedRegion",),
}
"""What the published schema of SARIF 2.1.0 requires of the objects that are written here."""


def has(kind: str, value: Any) -> Any:
    assert set(REQUIRED[kind]) <= set(value), kind
    return value


def test_the_log_has_every_required_field() -> None:
    log = has("log", to_sarif(ALL, SOURCES, "1.2"))
    assert log["version"] == "2.1.0"
    (run,) = (has("run", one) for one in log["runs"])
    driver = has("driver", has("tool", run["tool"])["driver"])
    assert [has("rule", one)["id"] for one in driver["rules"]] == sorted(one.code for one in ALL)
    for result in run["results"]:
        assert has("result", result)["message"]["text"]
        assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
        for place in (*result["locations"], *result.get("relatedLocations", [])):
            has("location", place)
        for fix in result.get("fixes", []):
            for change in has("fix", fix)["artifactChanges"]:
                for one in has("change", change)["replacements"]:
                    has("replacement", one)


def test_levels_places_and_repairs_of_sarif() -> None:
    (run,) = to_sarif(ALL, SOURCES, "1.2")["runs"]  # type: ignore[misc]
    missing, error, warning, remark = run["results"]
    levels = [one["level"] for one in (missing, error, warning, remark)]
    assert levels == ["error", "error", "warning", "note"]
    assert missing["locations"] == []
    place = error["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "a%20b.tw"}
    # Columns count characters, as `columnKind` says.
    assert run["columnKind"] == "unicodeCodePoints"
    assert place["region"] == {
        "startLine": 1, "startColumn": 10, "endLine": 1, "endColumn": 11,
        "charOffset": 9, "charLength": 1,
    }  # fmt: skip
    (replacement,) = error["fixes"][0]["artifactChanges"][0]["replacements"]
    assert replacement["insertedContent"] == {"text": "y"}
    assert error["message"]["text"].splitlines() == ["There is no `x`.", "A note.", "Write `y`."]


def test_an_empty_check_is_a_log_without_results() -> None:
    (run,) = to_sarif((), SOURCES, "1.2")["runs"]  # type: ignore[misc]
    assert run["results"] == [] and run["tool"]["driver"]["rules"] == []  # noqa: PT018


def test_an_absolute_path_has_its_scheme() -> None:
    source = Source("x.tw", Path("/home/me/x.tw"), "ab")
    found = Diagnostic("TW0904", "Nothing uses it.", source.span(0, 1))
    (run,) = to_sarif((found,), {"x.tw": source}, "1")["runs"]  # type: ignore[misc]
    place = run["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "file:///home/me/x.tw"


def test_what_a_language_server_publishes() -> None:
    (published,) = to_lsp(ALL, SOURCES)
    assert str(published["uri"]).endswith("/a%20b.tw")
    missing, error, warning, remark = published["diagnostics"]  # type: ignore[misc]
    assert [one["severity"] for one in (missing, error, warning, remark)] == [1, 1, 2, 3]
    assert missing["range"]["start"] == {"line": 0, "character": 0}
    # UTF-16: each smiley counts twice.
    assert error["range"] == {
        "start": {"line": 0, "character": 11}, "end": {"line": 0, "character": 12},
    }  # fmt: skip
    assert warning["range"]["start"] == {"line": 1, "character": 0}
    assert error["relatedInformation"][0]["message"] == "declared here"
    assert error["data"]["safe"] and error["data"]["edits"][0]["newText"] == "y"  # noqa: PT018


def test_a_file_without_findings_is_published_too() -> None:
    (published,) = to_lsp((), SOURCES)
    assert published["diagnostics"] == []


@pytest.mark.parametrize("printer", ["sarif", "lsp"])
def test_a_place_in_an_unknown_file_is_printed(printer: str) -> None:
    if printer == "sarif":
        assert to_sarif((ERROR,), {}, "1")["runs"]
    else:
        assert to_lsp((ERROR,), {})[0]["diagnostics"]
