"""`tw judge` from the command line: exit codes, JSON, bad input, and the example of its page."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from tests.judge.conftest import CORPUS, Tw

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "judge.md").read_text(encoding="utf-8")
CAMP = CORPUS / "camp.tw"


def marked(mark: str) -> str:
    found = re.search(rf"<!-- {re.escape(mark)} -->\n```\w+\n(.*?)```", PAGE, re.DOTALL)
    assert found is not None
    return found[1]


def test_the_example_of_the_page(tw: Tw, tmp_path: Path) -> None:
    (tmp_path / "lamp.tw").write_text(marked("sample: lamp.tw"), encoding="utf-8")
    (tmp_path / "lamp.json").write_text(marked("sample: lamp.json"), encoding="utf-8")
    command, _, shown = marked("output: lamp.tw lamp.json").partition("\n")
    ran = tw(*command.removeprefix("$ tw judge ").split())
    assert ran.out == shown
    assert ran.code == 1


def test_an_accepted_world(tw: Tw) -> None:
    ran = tw(CAMP, "--contract", CAMP.with_suffix(".json"), "--mutants", "5", "--json")
    assert ran.code == 0
    assert ran.json["status"] == "accepted"
    assert list(ran.json["tiers"]) == sorted(ran.json["tiers"])
    assert ran.json["tiers"]["mutate"] == {"mutants": 38, "judged": 5, "noticed": 5}
    assert {one["code"] for one in ran.json["findings"]} == {"dead-end"}
    assert set(ran.json["findings"][0]) == {
        "kind", "code", "severity", "span", "label", "text", "evidence", "hint", "fix",
    }  # fmt: skip
    assert tw(CAMP, "--mutants", "5", "--contract", "free").code == 0


def test_the_text_ends_in_the_verdict(tw: Tw, tmp_path: Path) -> None:
    (tmp_path / "w.tw").write_text("type Lamp { lit: bool }", encoding="utf-8")
    ran = tw("w.tw")
    assert ran.code == 1
    assert "error[no-world]" in ran.out
    assert ran.out.endswith("refused\n")


def test_a_search_without_a_verdict_is_unproven(tw: Tw) -> None:
    ran = tw(CORPUS / "garden.tw", "--states", "1", "--contract", "free")
    assert ran.code == 3
    assert ran.out.endswith("unproven\n")


BAD: dict[str, tuple[str, int, str]] = {
    "missing world": ("nothing.tw", 2, "TW0001"),
    "unknown contract": ("camp.tw --contract gaem", 2, "TW0006"),
    "missing contract": ("camp.tw --contract none.json", 2, "TW0001"),
    "no JSON": ("camp.tw --contract camp.tw", 2, "TW0006"),
    "unknown field": ("camp.tw --contract field.json", 2, "TW0006"),
    "wrong value": ("camp.tw --contract value.json", 2, "TW0006"),
    "wrong share": ("camp.tw --contract share.json", 2, "TW0006"),
    "a mechanic twice": ("camp.tw --contract twice.json", 2, "TW0006"),
    "an id of two words": ("camp.tw --contract id.json", 2, "TW0006"),
    "deep JSON": ("camp.tw --contract deep.json", 2, "TW0006"),
    "missing rows": ("camp.tw --contract rows:none.jsonl", 2, "TW0001"),
    "unknown world": ("camp.tw:cave", 2, "TW0005"),
    "10 MB": ("huge.tw", 2, "TW0006"),
    "not text": ("bytes.tw", 2, "TW0003"),
    "no budget": ("camp.tw --states 0", 2, "TW0006"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_gets_one_diagnostic(name: str, tw: Tw, tmp_path: Path) -> None:
    arguments, code, diagnostic = BAD[name]
    shutil.copy(CAMP, tmp_path)
    files = {
        "field.json": '{"kind": "game", "mechanic": []}',
        "value.json": '{"mechanics": [{"id": 3}]}',
        "share.json": '{"kill_rate": 80}',
        "twice.json": '{"mechanics": [{"id": "M1"}, {"id": "M1"}]}',
        "id.json": '{"mechanics": [{"id": "M 1"}]}',
        "deep.json": "[" * 100_000,
        "huge.tw": "# a long comment\n" * 600_000,
    }
    for file, text in files.items():
        (tmp_path / file).write_text(text, encoding="utf-8")
    (tmp_path / "bytes.tw").write_bytes(b"\xff\xfe")
    ran = tw(*arguments.split(), "--json")
    assert ran.code == code
    assert [one["code"] for one in ran.json["diagnostics"]] == [diagnostic]
    assert ran.json["diagnostics"][0]["hint"]


def test_a_broken_file_is_refused_by_one_finding(tw: Tw, tmp_path: Path) -> None:
    text = CAMP.read_text(encoding="utf-8").replace("me.matches -= 1", "me.matches -= ")
    (tmp_path / "w.tw").write_text(text, encoding="utf-8")
    ran = tw("w.tw", "--json")
    assert ran.code == 1
    assert [one["kind"] for one in ran.json["findings"]] == ["check"]


def test_a_rule_that_is_unknown_is_a_finding_with_a_suggestion(tw: Tw, tmp_path: Path) -> None:
    contract = {"mechanics": [{"id": "M1", "rules": ["brun"]}]}
    (tmp_path / "c.json").write_text(json.dumps(contract), encoding="utf-8")
    ran = tw(CAMP, "--contract", "c.json", "--mutants", "0", "--json")
    (one,) = [one for one in ran.json["findings"] if one["severity"] == "error"]
    assert (one["code"], one["hint"]) == ("unknown-rule", "Did you mean `burn`?")


def test_rows_without_a_mapping_are_one_finding(tw: Tw, tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text("{}\n", encoding="utf-8")
    shutil.copy(CAMP, tmp_path)
    ran = tw("camp.tw", "--contract", "rows:rows.jsonl", "--json")
    assert ran.code == 1
    assert [one["code"] for one in ran.json["findings"]] == ["bad-row"]
