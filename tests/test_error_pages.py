"""Every diagnostic has a page, and the examples on it do what the page says."""

from __future__ import annotations

import ast
import json
import re
from functools import cache
from pathlib import Path

import pytest

from tokenworld.assets import error_page
from tokenworld.diagnostics import CODES, Failure, Source, render, severity_of, title_of
from tokenworld.session import Session, check_text
from tokenworld.session.loading import OpenWorld, open_text
from tokenworld.session.pddl import export
from tokenworld.verbs.explain import explain_code
from tokenworld.verbs.output import Output

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = re.compile(r"^```tw\n(.*?)^```$", re.MULTILINE | re.DOTALL)
WORLD = re.compile(r"^world (\w+)", re.MULTILINE)
NOT_YET = re.compile(r"^Not reported (yet )?by this version[.:]", re.MULTILINE)
WORD = {"error": "Error", "warning": "Warning", "info": "Remark"}

PLAYED = {
    "TW1001": "move(cat, room)",
    "TW1002": "spill(jug)",
    "TW1003": "wait()",
    "TW1004": "wait()",
    "TW1005": "wait()",
    "TW1006": "share(pot)",
    "TW1007": "wait()",
}
"""Codes of the run time, with the command that brings the example to it."""
EXPORTED = ("TW0801", "TW0805", "TW0806", "TW0807", "TW0809")
"""Codes that `tw export` remarks."""
PLANNED = ("TW0802", "TW0803", "TW0804", "TW0808")
"""Codes that `tw plan` remarks."""
LISTED = ("TW1201",)
"""Codes that keep the outcomes of a command from being listed."""
BY_HAND = (
    *("TW0001", "TW0002", "TW0003", "TW0004", "TW0005", "TW0006"),
    *("TW0810", "TW0811", "TW0812", "TW0813", "TW0814"),
    *("TW0703", "TW1009", "TW1010"),
    *("TW1101", "TW1102", "TW1103", "TW1104", "TW1105", "TW1106", "TW1107"),
    *("TW1202", "TW1203", "TW1204", "TW1205", "TW1206", "TW1207"),
    *("TW1208", "TW1209", "TW1210", "TW1211"),
    *("TW1301", "TW1302"),
)
"""Codes of files, planners and stores: what reports them is tested where it stands."""


def page(code: str) -> str:
    return error_page(code).read_text(encoding="utf-8")


@cache
def reported() -> frozenset[str]:
    """Codes that stand as a text somewhere in the program, outside the list of codes."""
    found: set[str] = set()
    for path in (ROOT / "tokenworld").rglob("*.py"):
        if path.name == "codes.py" or path.parts[-2:] == ("check", "__init__.py"):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and node.value in CODES:
                found.add(str(node.value))
    return frozenset(found)


def found_in(code: str, text: str) -> list[str]:
    """The codes that a program brings about, in the way that suits the code."""
    source = Source(f"{code}.tw", None, text)
    checked = check_text(source, pedantic=code == "TW0907")
    found = [one.code for one in checked.diagnostics]
    if checked.program is None or code not in (*PLAYED, *EXPORTED, *PLANNED, *LISTED):
        return found
    world = WORLD.search(text)
    assert world is not None
    opened = open_text((source,), world[1])
    if code in PLAYED:
        (outcome,) = Session(opened).intend(PLAYED[code])
        return [*found, *([str(outcome.breach["code"])] if outcome.breach else [])]
    if code in EXPORTED:
        return [*found, *exported(opened)]
    if code in LISTED:
        return [*found, *listed(Session(opened))]
    return [*found, *(note.code for note in Session(opened).plan(time_limit=2).notes)]


def listed(session: Session) -> list[str]:
    """The codes that the outcomes of the first command end with."""
    try:
        session.engine.distribution(session.state, session.legal()[0].command)
    except Failure as failure:
        return [one.code for one in failure.diagnostics]
    return []


def exported(opened: OpenWorld) -> list[str]:
    """The codes that `tw export` remarks, or ends with."""
    try:
        return [note.code for note in export(opened, None).notes]
    except Failure as failure:
        return [one.code for one in failure.diagnostics]


def test_there_is_a_page_for_every_code_and_no_other() -> None:
    pages = {path.stem for path in (ROOT / "docs" / "errors").glob("TW*.md")}
    assert pages == set(CODES)


@pytest.mark.parametrize("code", CODES)
def test_the_page_begins_with_what_the_list_says(code: str) -> None:
    head = f"# {code}: {title_of(code)}\n\n{WORD[severity_of(code)]}. "
    assert page(code).startswith(head)


@pytest.mark.parametrize("code", CODES)
def test_the_page_says_whether_the_code_is_reported(code: str) -> None:
    assert bool(NOT_YET.search(page(code))) == (code not in reported())


@pytest.mark.parametrize("code", CODES)
def test_the_page_has_an_example_and_its_repair(code: str) -> None:
    programs = PROGRAM.findall(page(code))
    assert len(programs) == 2 or (code in BY_HAND and len(programs) in (0, 2))


@pytest.mark.parametrize("code", [code for code in CODES if PROGRAM.search(page(code))])
def test_the_example_is_reported_and_the_repair_is_sound(code: str) -> None:
    wrong, repaired = PROGRAM.findall(page(code))
    assert (code in found_in(code, wrong)) == (not NOT_YET.search(page(code)))
    source = Source(f"{code}.tw", None, repaired)
    remarks = check_text(source).diagnostics
    assert not remarks, render(remarks, {source.name: source})
    assert code not in found_in(code, repaired)


def test_the_list_of_pages_is_that_of_the_codes() -> None:
    text = (ROOT / "docs" / "errors" / "README.md").read_text(encoding="utf-8")
    rows = [
        f"| [{code}]({code}.md) | {title} | {level} |" for code, (title, level) in CODES.items()
    ]
    assert [line for line in text.splitlines() if line.startswith("| [")] == rows


def test_explain_prints_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert explain_code("tw0403", Output()) == 0
    assert capsys.readouterr().out == page("TW0403")


def test_explain_gives_the_page_to_programs(capsys: pytest.CaptureFixture[str]) -> None:
    assert explain_code("TW0503", Output(as_json=True)) == 0
    given = json.loads(capsys.readouterr().out)
    assert given["page"] + "\n" == page("TW0503")
    assert (given["code"], given["severity"]) == ("TW0503", "warning")


def test_an_unknown_code_is_one_diagnostic_with_a_suggestion() -> None:
    with pytest.raises(Failure) as caught:
        explain_code("TW0430", Output())
    (found,) = caught.value.diagnostics
    assert found.code == "TW0005"
    assert found.hint
