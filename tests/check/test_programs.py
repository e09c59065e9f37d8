"""What the checker accepts, several findings per file, recovery, modules."""

from __future__ import annotations

from pathlib import Path

import pytest

from tokenworld.check import PASSES, check_source
from tokenworld.diagnostics import Source
from tokenworld.session import check_text


def findings(text: str) -> list[str]:
    return [one.code for one in check_text(Source("t.tw", None, text)).diagnostics]


BASE = """
type Spot { tint: 0 to 9 = 0 }
type Nook : Spot { depth: 0 to 9 = 0 }
type T { at: Spot?  pal: T?  n: 0 to 9 = 0  on: bool }
actor me: T
"""


@pytest.mark.parametrize(
    "rule",
    [
        # narrowing: after a test of a name, in each place where it counts
        "derive d(t: T, s: Spot) = s is Nook and s.depth > 1",
        "derive d(t: T, s: Spot) = s is Nook implies s.depth > 1",
        "derive d(t: T, s: Spot) = not s is Nook or s.depth > 1",
        "derive d(t: T, s: Spot) = if s is Nook then s.depth else 0",
        "derive d() = sum(s.depth for s: Spot where s is Nook)",
        "action a(s: Spot) { require s is Nook else no \"No.\"  s.depth = 1 }",
        "action a(s: Spot) { if s is Nook { s.depth = 1 } else { s.tint = 1 } }",
        "derive d(t: T) = t.at is Nook and t.at.depth > 1",
        "action a() { let s = me.at  require s is Nook else no \"No.\"  s.depth = 1 }",
        "action a() { let p = me.pal  if p != none { me.n = p.n } }",
        "law l(s: Spot) when s is Nook { s.depth = 1 }",
        "action a() { for s: Spot where s is Nook { s.depth = 1 } }",
        # one path per branch, different slots, loops over their own variable
        "action a() { if me.on { me.n = 1 } else { me.n = 2 } }",
        "action a(t: T) { me.n = 1  t.pal = me }",
        "action a() { for t: T { t.n = t.n + 1 } }",
        "action a() { let k = me.n  me.n += 1  say \"{k} {me.n}\" }",
        "action a() { me.n += 1  me.n += 2 }",
        "action a(t: T) { require t != me else self \"No.\"  me.n = 1  me.on = t.n > 3 }",
        # laws that meet in a phase
        "phase p\nlaw x(t: T) during p when t.on { t.n = 1 }\n"
        "law y(t: T) during p when not t.on { t.n = 2 }",
        "law x(t: T) when t.n < 9 { t.n += 1 }",
        # namespaces are apart
        "action water() { me.n += 0 }\nlaw water() { me.n += 0 }\nevent water()\n"
        "action w2() { emit water() }",
    ],
)  # fmt: skip
def test_sound_rules_are_accepted(rule: str) -> None:
    found = check_text(Source("t.tw", None, BASE + rule)).diagnostics
    assert [one for one in found if one.is_error] == []


@pytest.mark.parametrize(
    ("rule", "code"),
    [
        ("derive d(t: T) = t.at is Nook and t.pal.at.depth > 1", "TW0204"),
        ("derive d(t: T) = t.at is Nook or t.at.depth > 1", "TW0204"),
        ("derive d(t: T, s: Spot) = s is Nook or s.depth > 1", "TW0204"),
        ("derive d(t: T, s: Spot) = s.depth > 1 and s is Nook", "TW0204"),
        ("action a() { let p = me.pal  if p == none { me.n = p.n } }", "TW0307"),
        ("action a() { if me.on { me.n = 1 }  me.n = 2 }", "TW0405"),
        ("action a() { if me.n > 0 { me.n = 1 }  if me.n > 1 { me.on = true } }", "TW0403"),
    ],
)  # fmt: skip
def test_unsound_rules_are_not(rule: str, code: str) -> None:
    assert code in findings(BASE + rule)


def test_every_mistake_of_a_file_is_told_in_order_of_place() -> None:
    text = (
        BASE
        + "action a() { me.n = twelve }\naction b() { me.nn = 1 }\naction c() { me.n = 12 }\n"
        + "law l() when me.n { }\n"
    )
    found = check_text(Source("t.tw", None, text)).diagnostics
    assert [(one.code, one.span.line) for one in found if one.span] == [
        ("TW0201", 6), ("TW0201", 7), ("TW0308", 8), ("TW0301", 9),
    ]  # fmt: skip


def test_one_bad_effect_does_not_hide_the_next_nor_make_follow_ups() -> None:
    text = (
        BASE + "action a() {\n let k = twelve\n me.n = k\n me.n = 12\n let j = k + 1\n me.n = j }\n"
    )
    assert findings(text) == ["TW0201", "TW0308"]


def test_a_syntax_error_leaves_the_findings_of_sound_items() -> None:
    text = (
        BASE + "action a() { me.n = = 1 }\naction b() { me.n = 12 }\naction c() { gone(me) = 1 }\n"
    )
    found = findings(text)
    assert found[:1] == ["TW0101"]
    assert "TW0308" in found
    assert "TW0201" in found  # no item that was not read declares `gone`
    assert "TW0201" not in findings(text + "relation gone(x T)\n")


def test_an_error_hides_lints_but_not_other_errors() -> None:
    text = BASE + "phase dusk\naction a() { require me.n < 5  me.n = 12 }\n"
    assert findings(text) == ["TW0308"]
    assert findings(text.replace("12", "2")) == ["TW0904", "TW0901"]


def test_quirk_silences_the_lints_of_its_item() -> None:
    text = BASE + 'quirk "as in the original" action a() { require me.n < 5  me.n = 2 }\n'
    assert findings(text) == []


@pytest.mark.parametrize("text", ["", "\n\n", "# x", "\ufeff# x", "type", "}{", "\x0c", "a" * 5000])
def test_any_text_is_checked_without_an_exception(text: str) -> None:
    check_text(Source("t.tw", None, text))


def test_modules_bring_everything_but_worlds_and_scenarios(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared" / "base.tw").write_text(
        "type T { n: 0 to 9 = 0 }\nactor me: T\naction a() { me.n = 1 }\nworld w { object h: T }\n"
        'scenario "s" in w { when a() then h.n == 1 }\n'
    )
    root = tmp_path / "root.tw"
    root.write_text("use shared.base\nworld v { object k: T }\n")
    checked = check_source(Source(str(root), root, root.read_text()))
    assert checked.program is not None, checked.diagnostics
    assert list(checked.program.worlds) == ["v"]
    assert checked.program.scenarios == ()
    assert list(checked.program.actions) == ["a"]
    assert [Path(one.name).name for one in checked.sources] == ["root.tw", "base.tw"]


def test_modules_that_use_each_other_are_told(tmp_path: Path) -> None:
    (tmp_path / "one.tw").write_text("use two\ntype A\n")
    (tmp_path / "two.tw").write_text("use one\ntype B\n")
    path = tmp_path / "one.tw"
    found = check_source(Source(str(path), path, path.read_text())).diagnostics
    assert [one.code for one in found] == ["TW0206"]


def test_two_modules_with_one_name_clash(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.tw").write_text("type A\n")
    root = tmp_path / "root.tw"
    root.write_text("use one\nuse two\n")
    found = check_source(Source(str(root), root, root.read_text())).diagnostics
    assert [one.code for one in found] == ["TW0203"]


def test_a_module_used_twice_is_read_once(tmp_path: Path) -> None:
    (tmp_path / "base.tw").write_text("type A\n")
    (tmp_path / "left.tw").write_text("use base\ntype L : A\n")
    (tmp_path / "right.tw").write_text("use base\ntype R : A\n")
    root = tmp_path / "root.tw"
    root.write_text("use left\nuse right\ntype Both : L, R\n")
    assert check_source(Source(str(root), root, root.read_text())).diagnostics == ()


def test_the_passes_are_told_in_a_phrase_each() -> None:
    names = [one.name for one in PASSES]
    assert len(set(names)) == len(names)
    assert all(one.settles and one.settles[0].islower() for one in PASSES)
    assert names[-1] == "lints"
