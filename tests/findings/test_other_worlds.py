"""Single mistakes in more worlds: one error each, on its line, with the way out.

Each row of ``other_mistakes.tsv`` has the world, what is replaced by what, the line and the hint.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tokenworld.session import check_text

HERE = Path(__file__).parent
WORLDS = {
    **{name: HERE / f"{name}.tw" for name in ("farm", "board")},
    **{
        name: HERE.parents[1] / "domains" / name / "world.tw"
        for name in ("skirmish", "kitchen", "cellar", "island", "taxi", "greenhouse")
    },
    **{
        name: HERE.parents[1] / "domains" / "templates" / f"{name}.tw"
        for name in ("adventure", "economy", "grid")
    },
}
ROWS = [
    line.split("\t")
    for line in (HERE / "other_mistakes.tsv").read_text(encoding="utf-8").splitlines()
]


def errors(text: str) -> list[tuple[int, str | None]]:
    found = (one for one in check_text(text).diagnostics if one.is_error)
    return [(one.span.line if one.span else 0, one.hint) for one in found]


@pytest.mark.parametrize("name", WORLDS)
def test_each_mistake_is_one_error_with_its_repair(name: str) -> None:
    world = WORLDS[name].read_text(encoding="utf-8")
    assert errors(world) == []
    rows = [row for row in ROWS if row[0] == name]
    assert rows
    for _, old, new, line, hint in rows:
        assert world.count(old) == 1, old
        assert errors(world.replace(old, new)) == [(int(line), hint)], new


def test_what_an_unread_require_excludes_is_not_missed() -> None:
    """Where the `require` is right, what it does not exclude is an error."""
    world = (HERE / "farm.tw").read_text(encoding="utf-8")
    broken = world.replace("f.crop != none and ripe(f.crop)", "ripen(f.crop)")
    assert [line for line, _ in errors(broken)] == [27]
    silent = errors(world.replace("f.crop != none and ripe(f.crop)", "me.coins > 0"))
    assert [line for line, _ in silent] == [28, 29]


def test_several_mistakes_are_told_one_by_one_in_order() -> None:
    """Also names that are unknown beside a syntax error, where no unread item can declare them."""
    text = WORLDS["skirmish"].read_text(encoding="utf-8")
    for old, new in (
        ("drunk: bool", "drunk: boolean"),
        ("g.health -= 4", "g.healt -= 4"),
        ("law come(g: Goblin)", "law come(g: Goblyn)"),
        ("wait() times 2 ", "wait() x 2 "),
    ):
        assert text.count(old) == 1
        text = text.replace(old, new)
    assert [line for line, _ in errors(text)] == [8, 23, 37, 60]


def test_names_of_an_item_that_was_not_read_are_not_unknown() -> None:
    text = WORLDS["cellar"].read_text(encoding="utf-8")
    assert [line for line, _ in errors(text.replace("type Key : Thing", "type Key = Thing"))] == [6]


def test_a_rule_with_an_error_is_not_analysed_further() -> None:
    text = WORLDS["adventure"].read_text(encoding="utf-8")
    text = text.replace("  it.holder = none\n", "  it.holder = nil\n")
    assert errors(text) == [(28, "Write `none`.")]


def test_a_default_none_needs_one_correction() -> None:
    (told,) = errors("edition 1\ntype A { next: A = null }\n")
    assert told == (2, "Write `next: A?`, which begins as `none`.")
