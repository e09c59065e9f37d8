"""What writers bring from other languages: one mistake, one error, on its line, with the way out.

`messages/` holds files that were found; `MORE` and `mistakes.tsv` have more of the same kinds. Each
is a small world with one mistake. After a deliberate change of words, write the table anew with
``UPDATE_SNAPSHOTS=1`` and read the difference.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.check.test_mistakes_of_newcomers import WORLD
from tokenworld.session import check_text

FILES = Path(__file__).parent / "messages"

FOUND = {
    "amp": (7, "Write `and`."),
    "brace": (9, "Close the brace of line 6"),
    "dotdot": (4, "as in `0 to 9`"),
    "effect": (8, "Leave the word away"),
    "elif": (8, "Write `else if`."),
    "elseif": (8, "rules see only objects declared outside worlds"),
    "eqeq": (8, "Write `=` to set a value."),
    "exists": (7, "Write `any(… for x: T)`."),
    "forall": (8, "Write `for x: T where … { }`"),
    "foreach": (8, "Write `x: Item`."),
    "fstr": (7, "Write `i` alone"),
    "goalnoname": (15, "`goal name: …`"),
    "inst": (13, "Write `=` before a value"),
    "intrange": (4, "Write a range: `0 to 9`."),
    "list": (3, "Remove the comma"),
    "new": (13, "Write `object x: T { f = … }`."),
    "not": (8, "Write `remove` before a fact"),
    "null": (8, "Write `none`."),
    "param": (6, "Write the name first, then its type"),
    "parens": (13, "Write the type after a colon"),
    "plusplus": (9, "Write `+= 1`."),
    "precond": (7, "Write `require … else label"),
    "pyif": (8, "Write `{` instead of `:`"),
    "quote": (6, "double quotes"),
    "returns": (9, "write a `derive`"),
    "self": (9, "Write `me`"),
    "semi": (8, "statements need no separators"),
    "slash": (8, "Begin comments with `#`."),
    "str": (4, "Write `text`."),
}
"""The line of each mistake, and words of the hint. `nolabel` became a part of the language."""

GOLD = "  me.gold += 1\n"
HERE = "require i.at == me.at"

MORE = [
    (GOLD, "  add held(i) = true\n", 11, "Leave the value away"),
    (GOLD, "  add 1 to me.gold\n", 11, "Write `x.f += 1`."),
    (GOLD, "  me.gold = randint(1, 6)\n", 11, "`pick n: 1 to 6"),
    (GOLD, "  for n in range(3) { me.gold += 1 }\n", 11, "Write `for n: 0 to 2`."),
    (GOLD, "  if me.gold == 1 { me.gold = 2 } end\n", 11, "Remove it"),
    (GOLD, "  let n: int = 1\n  me.gold += n\n", 11, "Leave the type away"),
    (GOLD, "  held(i)\n", 11, "Write `add held(i)`."),
    (GOLD, "  not held(i)\n", 11, "Write `remove` before a fact"),
    (GOLD, "  me.gold = 1 if i.at == none else 2\n", 11, "if i.at == none then 1 else 2`"),
    (GOLD, "  me.gold = i.at == none ? 1 : 2\n", 11, "Write `if … then … else …`"),
    (GOLD, "  chance gust% { me.gold += 1 }\n", 11, "right after its number"),
    (GOLD, "  chance 50 percent { me.gold += 1 }\n", 11, "Write `50%`."),
    (HERE, "require and(i.at == me.at, held(i))", 9, "Write `and` between the conditions."),
    (HERE, "require i.at is not none", 9, "Write `!= none`."),
    (HERE, "require i.at != null", 9, "Write `none`."),
    (HERE, "require forall(x: Item) x.at == me.at", 9, "Write `all(… for x: T)`."),
    (HERE, "require any(x.at == me.at for x in Item)", 9, "Write `x: Item`."),
    ('"It is', 'f"It is', 9, "every text shows the values"),
    ("object cup: Item", "object Item cup", 16, "Write the name first: `object cup: Item`."),
    ("object cup: Item", "object Cup: Item", 16, "`object cup: Item { at = hall }`"),
    ("{ at: Room? }", "{ at = Room }", 3, "after a colon"),
    ("{ at: Room? }", "{ at: Optional[Room] }", 3, "Write `T?`."),
    ("type Room\n", "type Room\nenum Hue = red, blue\n", 3, "Write the members in braces"),
    ("relation held(i: Item)", "relation held(Item)", 5, "a name before the type: `x: Item`."),
    ("actor me: Hero\n", "", 8, "Declare who acts: `actor me: T`."),
    ("take(i: Item)", "take(i)", 9, "Write its type: `i: Item`"),
    ("take(i: Item) as", "take(i: Item as", 8, "Close the parenthesis"),
    ("goal rich: mira", "goal mira", 18, "Write a name, a colon and a condition"),
    ("world w", "law when me.gold > 3 { me.gold = 0 }\nworld w", 14, "`law name() …`"),
    ("world w", "law rot when me.gold > 3 { me.gold = 0 }\nworld w", 14, "Write parentheses"),
    ("world w", "derive r(h: Hero): bool { return h.gold > 3 }\nworld w", 14, "has no body"),
    ("world w", "derive r(h: Hero): h.gold > 3\nworld w", 14, "Write `=` before the value."),
    ("\nworld w", '\nscenario "a" in w { given mira.gold = 3 }\nworld w', 14, "`given { x.f"),
]  # fmt: skip


def one_error(text: str, line: int, words: str) -> None:
    errors = [one for one in check_text(text).diagnostics if one.is_error]
    assert len(errors) == 1, errors
    assert errors[0].span is not None
    assert errors[0].span.line == line
    assert words in (errors[0].hint or ""), errors[0]


def test_every_found_file_is_told() -> None:
    assert {path.stem for path in FILES.glob("*.tw")} - {"nolabel"} == set(FOUND)


@pytest.mark.parametrize("name", FOUND)
def test_a_found_mistake(name: str) -> None:
    line, words = FOUND[name]
    one_error((FILES / f"{name}.tw").read_text(encoding="utf-8"), line, words)


def test_a_require_needs_no_label() -> None:
    text = (FILES / "nolabel.tw").read_text(encoding="utf-8")
    assert not [one for one in check_text(text).diagnostics if one.is_error]


@pytest.mark.parametrize(("old", "new", "line", "words"), MORE)
def test_more_of_the_kind(old: str, new: str, line: int, words: str) -> None:
    assert WORLD.count(old) >= 1
    one_error(WORLD.replace(old, new, 1), line, words)


# ---- a larger world, and what newcomers and language models make of its lines -------------------

HOUSE = """edition 1
unit kg
enum Hue { red, green, blue }
type Room { dark: bool }
type Item { at: Room?  hue: Hue = red  mass: 0kg to 50kg = 2kg }
type Chest : Item { open: bool }
type Hero { at: Room  gold: 0 to 9 clamped = 0  energy: 0 to 100 clamped = 50 }
relation linked(a: Room, b: Room) symmetric
relation held(i: Item)
function price(i: Item): 0 to 9 = 3
actor me: Hero
event found(i: Item)
phase day
derive near(h: Hero, i: Item) = i.at == h.at
action take(i: Item) as "take {i}" {
  require near(me, i) else absent "It is not here."
  require not held(i) else have "You have it."
  i.at = none
  add held(i)
  me.gold += price(i)
  say "You take {the i}."
  emit found(i)
}
action go(r: Room) as "go to {r}" or "enter {r}" takes 1 {
  require linked(me.at, r) else far "{The r} is too far."
  me.at = r
}
law tire(h: Hero) during day when h.energy > 0 {
  chance 50% { h.energy -= 1 } else { h.energy -= 2 }
  if h.gold > 3 { h.gold = 3 }
  for i: Item where i.at == h.at { i.hue = red }
}
world w {
  object hall, attic: Room
  object cup: Item "cup" { at = hall  hue = blue }
  object mira: Hero { at = hall }
  setup { add linked(hall, attic) }
  goal rich: mira.gold >= 1
}
scenario "take it" in w {
  given { mira.energy = 9 }
  when take(cup) then mira.gold == 3, won
}
"""
TABLE = Path(__file__).with_name("mistakes.tsv")


def rows() -> list[tuple[str, str, int, str]]:
    """What is replaced by what, the line of the error, and its hint."""
    lines = (line.split("\t") for line in TABLE.read_text(encoding="utf-8").splitlines())
    return [(old, new.replace("⏎", "\n"), int(line), hint) for old, new, line, hint in lines]


def told(old: str, new: str) -> tuple[int, str]:
    """The line and the hint of the only error."""
    assert old in HOUSE
    (only,) = [o for o in check_text(HOUSE.replace(old, new, 1)).diagnostics if o.is_error]
    assert only.span is not None
    return only.span.line, only.hint or ""


if os.environ.get("UPDATE_SNAPSHOTS"):
    found = [(old, new, *told(old, new)) for old, new, _, _ in rows()]
    text = ("\t".join((o, n.replace("\n", "⏎"), str(line), hint)) for o, n, line, hint in found)
    TABLE.write_text("".join(f"{one}\n" for one in text), encoding="utf-8")


@pytest.mark.parametrize("part", range(4))
def test_mistakes_of_the_table(part: int) -> None:
    for old, new, line, hint in rows()[part::4]:
        assert told(old, new) == (line, hint), new


def test_each_hint_is_an_instruction() -> None:
    listed = rows()
    assert len(listed) >= 200
    assert all(re.match(r"[`A-Z].*[.?]$", hint) for _, _, _, hint in listed)


@pytest.mark.parametrize("text", [HOUSE, HOUSE.replace("\n", "\r\n"), HOUSE.replace("  ", "\t")])
def test_the_world_without_a_mistake(text: str) -> None:
    assert not [one for one in check_text(text).diagnostics if one.is_error]


def test_equal_bad_characters_are_one_error() -> None:
    text = HOUSE.replace("i.at = none\n", "i.at = none;\n").replace(
        "add held(i)\n", "add held(i);\n"
    )
    (only,) = [one for one in check_text(text).diagnostics if one.is_error]
    assert only.notes == ("the same on line 19",)
