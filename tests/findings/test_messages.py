"""What writers bring from other languages: one mistake, one error, on its line, with the way out.

`messages/` holds files that were found; the rest are more of the same kinds. Each is a small world
with one mistake.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tokenworld.session import check_text

FILES = Path(__file__).parent / "messages"

FOUND = {
    "amp": (7, "Write `and`."),
    "brace": (10, "Close the brace of line 6"),
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
    "parens": (13, "Write the type behind a colon"),
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

WORLD = """edition 1
type Room
type Item { at: Room? }
type Hero { at: Room  gold: 0 to 9 = 0 }
relation held(i: Item)
actor me: Hero
action take(i: Item) as "take {i}" {
  require i.at == me.at else absent "It is not here."
  i.at = none
  me.gold += 1
}
world w {
  object hall: Room
  object cup: Item { at = hall }
  object mira: Hero { at = hall }
  goal rich: mira.gold >= 1
}
"""
GOLD = "  me.gold += 1\n"
HERE = "require i.at == me.at"

MORE = [
    (GOLD, "  add held(i) = true\n", 10, "Leave the value away"),
    (GOLD, "  add 1 to me.gold\n", 10, "Write `x.f += 1`."),
    (GOLD, "  me.gold = randint(1, 6)\n", 10, "`pick n: 1 to 6"),
    (GOLD, "  for n in range(3) { me.gold += 1 }\n", 10, "Write `for n: 0 to 2`."),
    (GOLD, "  if me.gold == 1 { me.gold = 2 } end\n", 10, "Remove it"),
    (GOLD, "  let n: int = 1\n  me.gold += n\n", 10, "Leave the type away"),
    (GOLD, "  held(i)\n", 10, "Write `add` before a fact"),
    (GOLD, "  not held(i)\n", 10, "Write `remove` before a fact"),
    (GOLD, "  me.gold = 1 if i.at == none else 2\n", 10, "Write `if … then … else …`"),
    (GOLD, "  me.gold = i.at == none ? 1 : 2\n", 10, "Write `if … then … else …`"),
    (GOLD, "  chance gust% { me.gold += 1 }\n", 10, "right behind its number"),
    (GOLD, "  chance 50 percent { me.gold += 1 }\n", 10, "Write `50%`."),
    (HERE, "require and(i.at == me.at, held(i))", 8, "Write `and` between the conditions."),
    (HERE, "require i.at is not none", 8, "Write `!= none`."),
    (HERE, "require i.at != null", 8, "Write `none`."),
    (HERE, "require forall(x: Item) x.at == me.at", 8, "Write `all(… for x: T)`."),
    (HERE, "require any(x.at == me.at for x in Item)", 8, "Write `x: Item`."),
    ('"It is', 'f"It is', 8, "every text shows the values"),
    ("object cup: Item", "object Item cup", 14, "Write the name first: `object cup: Item`."),
    ("object cup: Item", "object Cup: Item", 14, "small letter"),
    ("{ at: Room? }", "{ at = Room }", 3, "behind a colon"),
    ("{ at: Room? }", "{ at: Optional[Room] }", 3, "Write `T?`."),
    ("type Room\n", "type Room\nenum Hue = red, blue\n", 3, "Write the members in braces"),
    ("relation held(i: Item)", "relation held(Item)", 5, "a name before the type: `x: Item`."),
    ("actor me: Hero\n", "", 7, "Declare who acts: `actor me: T`."),
    ("take(i: Item)", "take(i)", 8, "Write its type: `i: Item`"),
    ("take(i: Item) as", "take(i: Item as", 7, "Close the parenthesis"),
    ("goal rich: mira", "goal mira", 16, "Write a name, a colon and a condition"),
    ("world w", "law when me.gold > 3 { me.gold = 0 }\nworld w", 12, "`law name() …`"),
    ("world w", "law rot when me.gold > 3 { me.gold = 0 }\nworld w", 12, "Write parentheses"),
    ("world w", "derive r(h: Hero): bool { return h.gold > 3 }\nworld w", 12, "has no body"),
    ("world w", "derive r(h: Hero): h.gold > 3\nworld w", 12, "Write `=` before the value."),
    ("\nworld w", '\nscenario "a" in w { given mira.gold = 3 }\nworld w', 12, "`given { x.f"),
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


def test_the_world_without_a_mistake() -> None:
    assert not [one for one in check_text(WORLD).diagnostics if one.is_error]
