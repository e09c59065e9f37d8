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


# the world, what is replaced by what, the line, what is wrong, and what to write
TOLD = (
    ("boil_water", "  isContainer = true\n", "  isContainer: bool = true\n", 16,
     "`Container` declares `isContainer` again: it has it from `Entity`.",
     "Write `isContainer = true`: `Entity` declares it."),
    ("cliff_walking", 'legend "x"', 'legend "xx"', 38, "A legend stands for one character.",
     'Write `legend "x"`.'),
    ("cliff_walking", "== tile_11_3", "== tile_3_11", 42,
     "There is nothing called `tile_3_11` here.",
     "Write `tile_11_3`: the column first, then the row."),
    ("workshop", "coal: 0 to 9 = 3", 'coal: 0 to 9 = "3"', 5,
     'The default of `coal` needs 0 to 9, and `"3"` is text.', "Write `3`, without quotes."),
    ("textgames/scale-weigh", "if gameWon() then 1 else 0", "gameWon()", 39,
     "The score needs int, and `gameWon()` is bool.", "Write `if gameWon() then 1 else 0`."),
    ("cottage", "c.mood = next(c.mood)", "c.mood -= 1", 136,
     "`mood` is Mood, and `-=` needs a number.", "Write `c.mood = prev(c.mood)`."),
    ("cottage", "): count(h.contents)", "): len(h.contents)", 183, "There is no function `len`.",
     "Write `count(h.contents)`."),
    ("textgames/mix-paint", "orange, red ", "orange red ", 11, "A row of `made_of` has 2 keys.",
     "Write `orange, red`."),
    ("frozen_lake", "then winnable within 6", "then unwinnable in 6", 60,
     "Unexpected `in` in a `scenario`.", "Write `unwinnable within 6`."),
    ("frozen_lake", "then won fetched", "then win fetched", 46,
     "`win` is no check in a `scenario`.", "Write `won`."),
    ("kitchen", "emits boiled(pot)", "emit boiled(pot)", 74,
     "`emit` is no condition in a `scenario`.", "Write `emits boiled(…)`."),
    ("kitchen", "emits boiled(pot)", "boiled(pot)", 74, "`boiled` is an event, and no fact.",
     "Write `emits boiled(pot)` as a check of a scenario."),
    ("boil_water", "{ describe me.at }", "{ decribe me.at }", 50,
     "`decribe` begins nothing in the action `look`.", "Did you mean `describe`?"),
    ("dishwasher", "  else if m.isOn {", "  elif (m.isOn) {", 126,
     "`elif` begins nothing in the law `cycle`.", "Write `else if`."),
    ("skirmish", 'else empty "You have no arrow left."', 'else "You have no arrow left." empty', 21,
     "The label `empty` stands behind its text in the action `shoot`.",
     'Write `require me.arrows > 0 else empty "You have no arrow left."`.'),
    ("blocks", "add on(b, under)", "add on(b under)", 48,
     "A comma is missing before `under` in the action `stack`.", "Write `add on(b, under)`."),
)  # fmt: skip


@pytest.mark.parametrize(("name", "old", "new", "line", "message", "hint"), TOLD)
def test_what_is_wrong_is_said_where_it_is(
    name: str, old: str, new: str, line: int, message: str, hint: str
) -> None:
    text = (HERE.parents[1] / "domains" / name / "world.tw").read_text(encoding="utf-8")
    assert text.count(old) == 1
    (only,) = (one for one in check_text(text.replace(old, new)).diagnostics if one.is_error)
    assert only.span is not None
    assert (only.span.line, only.message, only.hint) == (line, message, hint)
