"""Lints: what is reported, and what is left alone because it makes sense."""

from __future__ import annotations

from pathlib import Path

import pytest

from tokenworld.diagnostics import Source, render
from tokenworld.session import check_file, check_text

ROOT = Path(__file__).resolve().parents[2]

HOUSE = """
enum Lock { open, closed, locked }
enum Heat { cold < warm < hot }
type Room
type Thing { at: Room?  weight: 0 to 9 = 1  lit: bool  holder: Thing?  note: text = ""  tally: int }
type Lamp : Thing
type Door { state: Lock = closed  heat: Heat = cold }
type Hero { at: Room? }
actor me: Hero
"""


def codes(text: str, *, pedantic: bool = False, base: str = HOUSE) -> list[str]:
    found = check_text(Source("t.tw", None, base + text), pedantic=pedantic)
    assert found.ok, render(found.diagnostics, {"t.tw": Source("t.tw", None, base + text)})
    return [one.code for one in found.diagnostics]


IMPOSSIBLE = [
    "d.state == open and d.state == locked",
    "d.state == open and not (d.state in [open, closed])",
    "not (d.state == open or d.state != open)",
    "d.heat > warm and d.heat < hot",
    "d.heat > hot",
    "(d.state == open or d.state == closed) and d.state == locked",
    "(d.state == open implies d.state == closed) and d.state == open",
    "not d.state in [open, closed, locked]",
    "tick() > 5 and tick() < 5",
    "tick() > 5 and not tick() > 5",
    "1 > 2",
    "me.at == none and me.at != none",
]
POSSIBLE = [
    "d.state != open and d.state != locked",
    "d.heat >= warm and d.heat <= warm",
    "d.state == open or d.state == locked",
    "tick() > 5 and tick() < 7",
    "not tick() > 5 and tick() >= 5",
    "d.state == open implies d.state == closed",
    "me.at != none",
    "d.state == was d.state",
]


@pytest.mark.parametrize("condition", IMPOSSIBLE)
def test_a_condition_that_can_never_hold_is_found(condition: str) -> None:
    rule = f'action a(d: Door) {{ require {condition} else no "No {{d}}."  d.state = open }}'
    assert codes(rule) == ["TW0903"]


@pytest.mark.parametrize("condition", POSSIBLE)
def test_a_condition_that_may_hold_is_left_alone(condition: str) -> None:
    law = f"law m(d: Door) {{ d.state = closed }}\nlaw l(d: Door) during p when {condition} "
    assert "TW0903" not in codes("phase p\n" + law + "{ d.heat = hot }")


def test_requires_are_taken_together_and_lets_are_seen_through() -> None:
    rule = """action a(d: Door) {
      let s = d.state
      require s == open else shut "Shut."
      require d.state == locked else free "Free."
      d.state = closed }"""
    assert codes(rule) == ["TW0903"]


def test_an_optional_value_may_be_absent_where_a_comparison_fails() -> None:
    rule = """type Box { size: Heat? }
    law l(b: Box) when not b.size <= hot { b.size = hot }"""
    assert codes(rule) == []


def test_types_that_share_no_subtype_exclude_each_other() -> None:
    rule = """action a(t: Thing) {
      require t.holder is Lamp and t.holder is Rug else no "No."
      t.lit = true }"""
    assert codes("type Rug : Thing\n" + rule) == ["TW0903"]
    assert codes("type Rug : Thing\ntype Both : Lamp, Rug\n" + rule) == []


@pytest.mark.parametrize(
    "rule",
    [
        'action a(d: Door) as "a {d}" { }',
        "action a(d: Door) { d.state = d.state }",
        "action a(t: Thing) { t.tally += 0 }",
        "action a(d: Door) { if d.state == open { } }",
        'action a() takes 0 as "a" { }',
    ],
)
def test_an_action_without_effect_is_found(rule: str) -> None:
    assert "TW0903" in codes(rule)


@pytest.mark.parametrize(
    "rule",
    [
        'action wait() as "wait" { }',
        'action a(d: Door) as "a {d}" { say "{The d}." }',
        'action a(d: Door) as "a {d}" { require false else no "You cannot use {the d}." }',
        "action a(d: Door) { }\nlaw l(h: Hero, d: Door) when did(h, a, d) { d.state = open }",
    ],
)
def test_an_action_with_a_purpose_is_left_alone(rule: str) -> None:
    assert codes(rule) == []


def test_rules_that_wait_for_what_nothing_sets_are_pedantic() -> None:
    text = """type Tap { jammed: bool  dry: bool }
    law l(t: Tap) when t.jammed { t.dry = true }
    world w { object tap: Tap  goal g: tap.dry }"""
    assert codes(text, base="") == []
    assert codes(text, base="", pedantic=True) == ["TW0903"]
    settled = text.replace("object tap: Tap", "object tap: Tap { jammed = true }")
    assert codes(settled, base="", pedantic=True) == []


# ---- unused -----------------------------------------------------------------------------

SMALL = """
type Lamp { lit: bool }
type Box { at: Lamp? }
"""
WORLD = "world w { object l: Lamp  object b: Box { at = l }  goal g: l.lit and b.at == l }\n"


@pytest.mark.parametrize(
    "rule",
    [
        "law l(a: Lamp, b: Box) { a.lit = true }",
        "derive d(b: Box) = 1 < 2",
        "invariant i(b: Box): 1 < 2",
        'watch v(b: Box) when tick() > 2 { say "Hm." }',
        "law l(a: Lamp) { let s = a.lit  a.lit = true }",
        "phase p",
        "event e()",
        "param p: 0 to 9 = 1",
        "function f(): bool\n" + WORLD,
        "function f(): bool\nlaw l() { f() = true }\n" + WORLD,
        "derive d(a: Lamp) = a.lit\n" + WORLD,
        "relation r(a: Lamp)\nlaw l(a: Lamp) { add r(a) }\n" + WORLD,
    ],
)
def test_what_nothing_uses_is_found_once(rule: str) -> None:
    assert codes(rule, base=SMALL) == ["TW0904"]


WRITTEN = "function n(b: Box): int\nlaw l(b: Box) { n(b) = 1 }\n"


@pytest.mark.parametrize(
    "rule",
    [
        # prose, names and scenarios count as uses
        WRITTEN + 'describe b: Box { say "{n(b)}" }\n' + WORLD,
        WRITTEN + 'called b: Box = "box {n(b)}"\n' + WORLD,
        WRITTEN + WORLD + 'scenario "s" in w { then n(b) == 0 }',
        # a change that can be refused depends on the old value
        "function coins(): 0 to 9 = 3\naction pay() { coins() -= 1 }\n" + WORLD,
        # a derive of this name is read by the scope of commands
        "derive sees(a: Lamp, b: Box) = b.at == a\n" + WORLD,
        # no ending and no score: the state is the result
        WRITTEN + "world w { object l: Lamp }",
        # no world: a library
        "derive d(a: Lamp) = a.lit",
        # static attributes describe things for records
        "type Brick { static size: 0 to 9 = 2 }\n" + WORLD,
    ],
)
def test_what_has_a_use_is_left_alone(rule: str) -> None:
    assert codes(rule, base=SMALL) == []


def test_what_objects_state_and_nothing_reads_is_pedantic() -> None:
    text = """type Wall { colour: text = "" }
    world w { object a: Wall { colour = "red" }  goal g: tick() > 3 }"""
    assert codes(text, base="") == []
    assert codes(text, base="", pedantic=True) == ["TW0904"]


# ---- twins, growth, refusals, absence ----------------------------------------------------


def test_actions_for_unrelated_types_are_no_twins() -> None:
    text = """type Jar { on: bool }
    type Tap { on: bool }
    action open_jar(x: Jar) { x.on = true }
    action open_tap(x: Tap) { x.on = true }"""
    assert codes(text, base="") == []


def test_actions_that_a_conservation_tells_apart_are_no_twins() -> None:
    text = """type Purse { coins: 0 to 9 = 2 }
    conserve coin: sum(p.coins for p: Purse) except melt
    action spend(p: Purse) { destroy p }
    action melt(p: Purse) { destroy p }"""
    assert "TW0905" not in [one.code for one in check_text(Source("t.tw", None, text)).diagnostics]


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ("law l(t: Thing) { t.tally += 1 }", ["TW0906"]),
        ("law l(t: Thing) { if t.lit { t.tally += 2 } }", ["TW0906"]),
        ("law l(t: Thing) when t.tally < 9 { t.tally += 1 }", []),
        ("law l(t: Thing) { if t.tally < 9 { t.tally += 1 } }", []),
        ("law l(t: Thing) { t.tally += 1 }\naction a(t: Thing) { t.tally = 0 }", []),
        ("law l(t: Thing) { t.tally += 1 }\naction a(t: Thing) { t.tally -= 1 }", []),
        ("action a(t: Thing) { t.tally += 1 }", []),
    ],
)
def test_counters_that_only_grow(change: str, found: list[str]) -> None:
    assert codes(change) == found


def test_a_fact_that_may_be_named_after_failing_is_no_refusal() -> None:
    text = """type Engine { failed: bool  hot: bool }
    law wear(e: Engine) when e.hot { e.failed = true }
    action heat(e: Engine) { e.hot = true }"""
    assert codes(text, base="") == []


def test_absent_values_are_shown_with_pedantic_only_and_not_where_one_is_tested() -> None:
    bare = "derive near(a: Thing, b: Thing) = a.at == b.at"
    tested = "derive near(a: Thing, b: Thing) = a.at != none and a.at == b.at"
    assert codes(bare) == []
    assert codes(bare, pedantic=True) == ["TW0907"]
    assert codes(tested, pedantic=True) == []


# ---- where lints stay silent --------------------------------------------------------------


def test_a_quirk_silences_the_lints_of_its_item_and_no_others() -> None:
    rules = "law a(d: Door, t: Thing) { d.state = open }\nlaw b(d: Door, t: Thing) { d.heat = hot }"
    assert codes(rules) == ["TW0904", "TW0904"]
    assert codes('quirk "so it was" ' + rules) == ["TW0904"]


def test_a_module_is_linted_in_its_own_file_only(tmp_path: Path) -> None:
    (tmp_path / "lib.tw").write_text("type Lamp { lit: bool }\nparam spare: 0 to 9 = 1\n")
    root = tmp_path / "main.tw"
    root.write_text("use lib\nlaw l(x: Lamp) { x.lit = true }\n")
    assert check_file(root).diagnostics == ()
    assert [one.code for one in check_file(tmp_path / "lib.tw").diagnostics] == ["TW0904"]


def test_an_import_stays_as_it_is_written() -> None:
    text = """pddl { domain = d  requirements = strips }
    type Block
    relation clear(b: Block)
    relation seen(b: Block)
    action look(b: Block) { require clear(b)  add seen(b) }
    action look_again(b: Block) { require clear(b)  add seen(b) }
    world w { object a: Block  goal g: clear(a) }"""
    assert codes(text, base="") == []


@pytest.mark.parametrize(
    "path", sorted((ROOT / "domains").glob("*/world.tw")), ids=lambda path: path.parent.name
)
def test_the_bundled_worlds_are_clean(path: Path) -> None:
    remarks = [one for one in check_file(path).diagnostics if one.code.startswith("TW09")]
    assert not remarks, render(remarks, {})


@pytest.mark.parametrize("hidden", "\x1b\x07\x9b\r\u202e\u2066\u200b\u200d\ufeff\u2028\u00ad")
@pytest.mark.parametrize("line", ['action a() { say "x<>y" }', "object `a<>b`: Room", "# a<>b"])
def test_what_cannot_be_seen_is_found(line: str, hidden: str) -> None:
    text = f"type Room\n{line.replace('<>', hidden)}\n"
    assert "TW0909" not in codes(text.replace(hidden, "-"), base="")
    assert "TW0909" in codes(text, base="")


def test_one_line_is_one_finding_and_is_repaired() -> None:
    text = "# a\u200bb\u202ec\r\n# d\u2066e\ntype Room\n"
    found = check_text(Source("t.tw", None, text)).diagnostics
    assert [one.code for one in found] == ["TW0909"] * 2
    fix = found[0].fix
    assert fix is not None
    assert not fix.safe
    assert [(one.span.start, one.span.end, one.text) for one in fix.edits] == [
        (3, 4, ""), (5, 6, ""),
    ]  # fmt: skip


def test_line_ends_emoji_and_joined_letters_are_left_alone() -> None:
    text = "# 👩\u200d🚀 ❤\ufe0f می\u200cخواهم क्\u200dष\r\ntype Room # é “q” 日本 a\u00a0b\r\n"
    assert not check_text(Source("t.tw", None, text)).diagnostics
