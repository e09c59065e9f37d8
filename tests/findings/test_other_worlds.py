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
        for name in ("skirmish", "kitchen", "cellar", "island")
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
    assert len(rows) >= 15
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
