"""One mistake in a small world: one error, on its line, with what to write instead.

What other languages write comes first; `tests/syntax/mistakes.txt` has more of it.
"""

from __future__ import annotations

import pytest

from tokenworld.session.loading import check_text

WORLD = """edition 1
type Room
type Item { at: Room? }
type Hero { at: Room  gold: 0 to 9 = 0 }
relation held(i: Item)
actor me: Hero
phase day
action take(i: Item) as "take {i}" {
  require i.at == me.at else absent "It is not here."
  i.at = none
  me.gold += 1
}
law tick(i: Item) during day when i.at != none { i.at = i.at }
world w {
  object hall: Room
  object cup: Item { at = hall }
  object mira: Hero { at = hall }
  goal rich: mira.gold >= 1
}
"""
CASES = (
    # what is replaced, by what, the line of the error, words of the hint
    ("i.at == me.at else", "exists(x: Item, x.at == me.at) else", 9, "any(… for x: T)"),
    ("i.at == me.at else", "any(x.at == me.at for x in Item) else", 9, "`x: Item`"),
    ("i.at == me.at else", "i.at is not none else", 9, "`!= none`"),
    ("require i.at", "precondition: i.at", 9, "`require"),
    ("  i.at = none", "  effect i.at = none", 10, "Leave the word away"),
    ("  i.at = none", "  for x in Item { x.at = none }", 10, "`x: Item`"),
    ("  i.at = none", "  forall x: Item { x.at = none }", 10, "`for x: T"),
    ("  i.at = none", "  not held(i)", 10, "`remove`"),
    ("  i.at = none", "  i.at = null", 10, "`none`"),
    ("  i.at = none", "  i.at = None", 10, "`none`"),
    ("  i.at = none", "  held(i) = True", 10, "`true`"),
    ("  me.gold", "  self.gold", 11, "`me` for who acts"),
    ("  me.gold", "  player.gold", 11, "`me` for who acts"),
    ("  me.gold += 1", '  print("Taken.")', 11, "`say"),
    ("  me.gold += 1", "  me.gold = random()", 11, "`chance 50%"),
    ("  me.gold += 1", "  me.gold = 1 if held(i) else 0", 11, "if held(i) then 1 else 0"),
    ("0 to 9 = 0", "int(0, 9) = 0", 4, "`0 to 9`"),
    ("0 to 9 = 0", "Bool = false", 4, "`bool`"),
    ("  gold: 0 to 9 = 0", "  gold = 0", 4, "`gold: 0 to 9 = …`"),
    ("cup: Item { at = hall }", "cup: Item { at: hall }", 16, "`{ at = hall }`"),
    ("object cup:", "cup:", 16, "`object x: T"),
    ("goal rich: ", "goal ", 18, "`goal name: …`"),
    ("object hall: Room", "object Hall: Room", 15, "`object hall: Room`"),
    ("object hall: Room", "object hall", 16, "`hall: Room`"),
    ("take(i: Item)", "take(i)", 9, "`i: Item`"),
    ("take(i: Item)", "take(Item i)", 8, "`x: Item`"),
    ("take(i: Item)", "take(i Item)", 8, "`x: Item`"),
    ("actor me: Hero\n", "\n", 9, "`actor me: T`"),
    ("law tick(i: Item) during day when i.at != none", "law tick() chance 5%", 13, "body"),
    ("law tick(i: Item) during day when i.at != none", "law tick() every 3", 13, "`when"),
    ("It is not here.", "{i.name} is not here.", 9, "`i` alone"),
    ("  me.gold +=", "  gold +=", 11, "`me.gold`"),
    ("type Item {", "type Itm {", 3, "`Item`"),
    ("mira.gold >= 1", "mira.gold", 18, "`goal rich: mira.gold > 0`"),
    ("mira.gold >= 1", "mira.gold > = 1", 18, "`>=`"),
    ("world w {", "world w", 14, "`{`"),
    ("world w {", "world w [", 14, "`{`"),
    ('as "take {i}" {', 'as "take {i}"', 8, "`{`"),
    ("  i.at = none", "  i.at =", 10, "value after `=`"),
    ("  i.at = none", "  i.at = none }", 10, "closes the item"),
    ("  i.at = none", "  i at = none", 10, "`i.at`"),
    ('absent "It', '"absent" "It', 9, "without quotes"),
    ("i.at == me.at else", "i.at == me.at, me.gold < 9 else", 9, "`and`"),
    ("during day when", "during when", 13, "name of a phase"),
    ("  i.at = none", "  destroy(i)", 10, "without parentheses"),
    ("  i.at = none", "  say(i)", 10, '`say "…"`'),
    ("  i.at = none", "  wait(3)", 10, "`takes 3`"),
    ("  i.at = none", "  drop(i)", 10, "`effect drop"),
    ("  i.at = none", "  -> i.at = none", 10, "Leave it away"),
    ("  i.at = none", "  now i.at is none", 10, "the change alone"),
    ("  i.at = none", "  UPDATE Item SET at = none", 10, "the change alone"),
    ("  i.at = none", "  removes held(i)", 10, "`remove`"),
    ("  i.at = none", "  create i { at = none }", 10, "`create x: T"),
    ('as "take {i}" {', 'as "take {i}" "get {i}" {', 8, "`or` between"),
    ("during day when", "during day with 5% when", 13, "`{ chance 50%"),
    ("object cup: Item {", "object cup: new Item {", 16, "Leave the word away"),
    ("gold >= 1", "gold >= one", 18, "`1`"),
    ("gold: 0 to 9 = 0", "gold: 0 to 9 = 0.5", 4, "a whole number"),
    ("me.gold += 1", "gold += 1", 11, "`me.gold`"),
    ("  me.gold += 1", "  destroy i.", 11, "Remove the point"),
    ("  me.gold += 1", "  gain := me.gold + 1", 11, "`let x = …`"),
    ("take(i: Item)", "take(i: Item; j: Item)", 8, "Write a comma"),
    ('as "take {i}" {', 'as "take {i}": {', 8, "Remove the colon"),
    ("  goal rich", "  end rich", 18, "`stop name: …`"),
    ("object mira: Hero {", 'object mira: Hero named "Mira" {', 17, "Leave the word away"),
    ("  i.at = none", "  if held(i) then { i.at = none }", 10, "Leave `then` away"),
    ("type Item { at: Room? }", "type Item { at: Room? inverse  n: int }", 3, "inverse things`"),
    ("= hall }\n  object mira", '= "hall" }\n  object mira', 16, "`hall`"),
    ("{ at = hall }\n  object mira", "{ at = cup }\n  object mira", 16, "`hall`"),
    ("{ at = hall }\n  object mira", "{ at = nowhere }\n  object mira", 16, "`hall`"),
    ("me.gold += 1", "me.gold += minimum(1, 2)", 11, "`min(a, b)`"),
    ("when i.at != none", "when nowhere != none", 13, "one of `i`"),
    ("i.at == me.at else", "i.at else", 9, "`!= none`"),
    ("me.gold += 1", 'if me.gold > "0" { me.gold += 1 }', 11, "`0`, without quotes"),
    ("me.gold += 1", "me.gold += 1kg", 11, "write the number alone"),
    ("me.gold += 1", "pick random j: Item { j.at = none }", 11, "Leave the word away"),
    ("during day when", "during night when", 13, "one of `day`"),
    ("when i.at != none", "when at != none", 13, "`i.at`"),
    ("  i.at = none", "  destroy Item", 10, "Name one object"),
    ("object cup: Item { at = hall }", "object cup { at = hall }", 16, "as `object x: Item`"),
    ('action take(i: Item) as "take {i}" {', 'action take(i: Item): as "take {i}" {', 8,
     "Remove the colon."),
    ('"It is not here."', '"It is {count(x for x: Item}."', 9, "Write `)}`"),
    ("i.at == me.at else", "any(x.at == me.at) else", 9, "any(… for x: T)"),
    ("i.at == me.at else", "any(i.at == me.at and x.at == none) else", 9, "any(… for x: T)"),
    ("when i.at != none", "when i is not me", 13, "Write `!= me`."),
    ("type Item { at: Room? }",
     "type Item { at: Room? inverse kept }\naction a(r: Room, i: Item) { r.kept.add(i) }", 4,
     "`kept` follows from `at`"),
    ("when i.at != none", "when h.gold > 2", 13, "as a parameter: `h: Hero`"),
    ("rich: mira.gold >= 1", "rich: never mira.gold == 0", 18, "`always not …`"),
    ("  i.at = none", "  create Item(at = none)", 10, "`create x: Item { … }`"),
    ("law tick(i: Item) during day when i.at != none", "birth(i: Item)", 13, "`birth x: T { … }`"),
    ("mira.gold >= 1", "count(Item where x.at == none) >= 1", 18, "`count(x for x: Item where …)`"),
    ("type Room\n", "type Room\nenum Metal {\n  iron, gold tin,\n  lead\n}\n", 4,
     "`iron, gold, tin,`"),
    ("world w {",
     'scenario "s" in w {\n  when take(cup) then refused because sold\n}\nworld w {', 15,
     "labels of `take` are `absent`"),
)  # fmt: skip


@pytest.mark.parametrize(("old", "new", "line", "hint"), CASES)
def test_one_error_with_the_right_fix(old: str, new: str, line: int, hint: str) -> None:
    assert old in WORLD
    (only,) = [one for one in check_text(WORLD.replace(old, new, 1)).diagnostics if one.is_error]
    assert only.span is not None
    assert (only.span.line, hint in (only.hint or "")) == (line, True), only


def test_a_name_that_is_unknown_everywhere_is_told_once() -> None:
    text = WORLD.replace(
        "me.gold += 1", "me.gold += spoils  me.gold -= spoils\n  me.gold += spoils"
    )
    (only,) = [one for one in check_text(text).diagnostics if one.is_error]
    assert only.notes == ("the same on lines 11, 12",)


def test_a_misspelt_name_is_corrected_wherever_it_stands() -> None:
    text = WORLD.replace("me.gold += 1", "me.golt += 1\n  me.golt += 1")
    (only,) = [one for one in check_text(text).diagnostics if one.is_error]
    assert (only.hint, only.notes) == ("Did you mean `gold`?", ("the same on line 12",))
    assert only.fix is not None
    assert [(one.span.line, one.text) for one in only.fix.edits] == [(11, "gold"), (12, "gold")]


def test_the_world_is_sound() -> None:
    assert check_text(WORLD).ok


def test_a_name_of_another_module_is_never_the_misspelt_one() -> None:
    text = "edition 1\nuse std.doors\nobject k: Key\nobject d: Door\nobject r, s: Room\n"
    text += "world w { goal g: opens(k, d)  setup { add open(k, d) } }\n"
    found = [one for one in check_text(text).diagnostics if one.code == "TW0201"]
    assert ["`opens` is declared" in one.message for one in found] == [False]
