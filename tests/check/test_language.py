"""The language, construct by construct: small programs and exactly the errors they give."""

from __future__ import annotations

from pathlib import Path

import pytest

from tokenworld.assets import rules_folder
from tokenworld.check import check_source, file_loader
from tokenworld.diagnostics import Source, render

Case = tuple[frozenset[str], bool, str]


def cases() -> dict[str, Case]:
    """By what each shows: its codes, whether warnings count, its text."""
    text = (Path(__file__).parent / "language_cases.txt").read_text(encoding="utf-8")
    found: dict[str, Case] = {}
    for part in text.split("\n===== ")[1:]:
        head, _, program = part.partition("\n")
        codes, _, title = head.partition(" | ")
        wanted = frozenset(codes.split()) - {"sound", "warned"}
        assert title not in found, title
        found[title] = (wanted, "warned" in codes, program)
    return found


CASES = cases()


@pytest.mark.parametrize("title", CASES)
def test_a_program_gives_these_errors_and_no_others(title: str) -> None:
    wanted, warned, text = CASES[title]
    source = Source("t.tw", None, text)
    checked = check_source(source, file_loader((rules_folder(),)))
    found = {one.code for one in checked.diagnostics if one.is_error or warned}
    assert found == wanted, render(checked.diagnostics, {source.name: source})


def test_there_are_many_of_them() -> None:
    assert len(CASES) > 140


# ---- limits -------------------------------------------------------------------------------------


def codes(text: str) -> list[str]:
    return [
        one.code for one in check_source(Source("t.tw", None, text)).diagnostics if one.is_error
    ]


def test_64_phases_are_enough() -> None:
    lines = [f"phase p{number}" for number in range(65)]
    assert codes("\n".join(lines[:64])) == []
    assert codes("\n".join(lines)) == ["TW0502"]


def nested(depth: int) -> str:
    body = "me.on = true"
    for _ in range(depth - 1):
        body = f"if me.on {{ {body} }}"
    return f"type T {{ on: bool }}\nactor me: T\naction a() {{ {body} }}"


def test_blocks_nest_32_deep() -> None:
    assert codes(nested(32)) == []
    assert codes(nested(33)) == ["TW0101"]


@pytest.mark.parametrize(
    "text",
    [
        "type T { on: bool }\nactor me: T\naction a() { if me.on { } "
        + "else if me.on { } " * 3000
        + "}",
        "\n".join(f"type T{n} : T{n + 1}" for n in range(3000)) + "\ntype T3000",
        "\n".join(f"derive d{n}() = d{n + 1}()" for n in range(3000)) + "\nderive d3000() = 3",
    ],
    ids=["else if", "types", "derives"],
)
def test_what_is_too_deep_is_one_finding(text: str) -> None:
    assert codes(text) == ["TW0101"]
