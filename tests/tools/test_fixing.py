"""`tw check --fix`: texts before and after, and what is never touched."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tokenworld.diagnostics import Diagnostic, Failure, Source
from tokenworld.session import check_text
from tokenworld.verbs import check as fixing
from tokenworld.verbs.check import Repair, repair_file, repair_text

LAMP = "type Lamp { lit: bool  fuel: 0 to 9 = 5 }\n"


def findings(text: str) -> tuple[Diagnostic, ...]:
    return check_text(Source("t.tw", None, text)).diagnostics


def repaired(text: str, *, unsafe: bool = False) -> Repair:
    return repair_text("t.tw", text, findings, unsafe=unsafe)


SAFE = [
    # (before, after): a name or a type one letter off
    ("law l(x: Lamp) { x.fuell = 1 }", "law l(x: Lamp) { x.fuel = 1 }"),
    ("law l(x: Lmap) { x.fuel = 1 }", "law l(x: Lamp) { x.fuel = 1 }"),
    ("law l(x: Lamp) during dusc { x.fuel = 1 }\nphase dusk",
     "law l(x: Lamp) during dusk { x.fuel = 1 }\nphase dusk"),
    # a keyword one letter off, noticed at the word after it
    ('action a(x: Lamp) { requre x.lit else no "No."  x.fuel = 1 }',
     'action a(x: Lamp) { require x.lit else no "No."  x.fuel = 1 }'),
    # one `=` or two
    ("law l(x: Lamp) when x.fuel = 3 { x.lit = true }",
     "law l(x: Lamp) when x.fuel == 3 { x.lit = true }"),
    ("law l(x: Lamp) { x.lit == true }", "law l(x: Lamp) { x.lit = true }"),
    # reserved words as names, several in one item
    ("enum Side { on, in, first }", "enum Side { on, `in`, `first` }"),
    # several mistakes, found one after the other
    ("law l(x: Lamp) when x.fuell = 3 { x.litt == true }",
     "law l(x: Lamp) when x.fuel == 3 { x.lit = true }"),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after"), SAFE)
def test_safe_repairs(before: str, after: str) -> None:
    repair = repaired(LAMP + before)
    assert repair.text == LAMP + after
    assert repair.done and all(one.safe for one in repair.done)  # noqa: PT018
    assert not any(one.is_error for one in findings(repair.text))


UNSAFE = [
    ("law l(x: Lamp) { x.fuel += 1 }", "type Lamp { lit: bool  fuel: 0 to 9 = 5 clamped }\n"
     "law l(x: Lamp) { x.fuel += 1 }"),
    ("law l(x: Lamp, y: Lamp) { x.lit = true }", LAMP + "law l(x: Lamp) { x.lit = true }"),
    ("law l(y: Lamp, x: Lamp) { x.lit = true }", LAMP + "law l(x: Lamp) { x.lit = true }"),
    ("law l(x: Lamp) { let k = x.fuel  x.lit = true }", LAMP + "law l(x: Lamp) {   x.lit = true }"),
    ("action a(x: Lamp) { require x.lit  x.lit = false }",
     LAMP + 'action a(x: Lamp) { require x.lit else cannot_a "You cannot a now."  x.lit = false }'),
    ("enum G { a, b }\ntable t(g: G): G { a: b }",
     LAMP + "enum G { a, b }\ntable t(g: G): G? { a: b }"),
    ("law l(x: Lamp) { x.lt = true }", LAMP + "law l(x: Lamp) { x.lit = true }"),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after"), UNSAFE)
def test_other_repairs_are_made_only_when_they_are_asked_for(before: str, after: str) -> None:
    assert repaired(LAMP + before).done == ()
    repair = repaired(LAMP + before, unsafe=True)
    assert repair.text == after
    assert repair.done and not any(one.safe for one in repair.done)  # noqa: PT018


@pytest.mark.parametrize(
    "text",
    [
        LAMP,
        # two names are as near: nobody knows which is meant
        "type T { fuel_a: bool  fuel_b: bool }\nlaw l(x: T) { x.fuel_c = true }",
        # short names are all alike
        "type T { ab: bool }\nlaw l(x: T) { x.ac = true }",
        # nothing is near
        "type T { n: 0 to 9 = 0 }\nlaw l(x: T) { x.missing = true }",
        "",
    ],
)
def test_what_has_no_sure_repair_stays_as_it_is(text: str) -> None:
    assert repaired(text) == Repair(text, ())


def test_a_repair_that_does_not_help_is_left_out() -> None:
    # The near name exists, and has another type: one error would take the place of the other.
    text = "type T { door: bool  n: 0 to 9 = 0 }\nlaw l(x: T) { x.dour = 3 }"
    assert repaired(text) == Repair(text, ())


def test_repairs_say_what_was_done_where() -> None:
    (one,) = repaired(LAMP + "\nlaw l(x: Lamp) { x.fuell = 1 }").done
    assert (one.code, one.title, one.place) == ("TW0201", "write `fuel`", "t.tw:3")


# ---- files ------------------------------------------------------------------------------

WRONG = LAMP + "law l(x: Lamp) { x.fuell = 1 }\n"
RIGHT = LAMP + "law l(x: Lamp) { x.fuel = 1 }\n"


def test_line_ends_the_byte_order_mark_and_permissions_stay(tmp_path: Path) -> None:
    path = tmp_path / "w.tw"
    path.write_bytes(b"\xef\xbb\xbf" + WRONG.replace("\n", "\r\n").encode())
    path.chmod(0o640)
    assert len(repair_file(path).done) == 1
    assert path.read_bytes() == b"\xef\xbb\xbf" + RIGHT.replace("\n", "\r\n").encode()
    assert path.stat().st_mode & 0o777 == 0o640
    assert os.listdir(tmp_path) == ["w.tw"]


def test_a_sound_file_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "w.tw"
    path.write_text(RIGHT)
    os.utime(path, ns=(1, 1))
    assert repair_file(path).done == ()
    assert path.stat().st_mtime_ns == 1


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    real, link = tmp_path / "real.tw", tmp_path / "link.tw"
    real.write_text(WRONG)
    link.symlink_to(real)
    repair_file(link)
    assert link.is_symlink()
    assert real.read_text() == RIGHT


def test_mistakes_of_a_module_are_not_repaired_from_outside(tmp_path: Path) -> None:
    (tmp_path / "lib.tw").write_text(WRONG)
    root = tmp_path / "main.tw"
    root.write_text("use lib\n")
    assert repair_file(root).done == ()
    assert (tmp_path / "lib.tw").read_text() == WRONG


def test_a_file_that_was_changed_meanwhile_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "w.tw"
    path.write_text(WRONG)
    check = fixing.check_text

    def slow(source: Source) -> object:
        path.write_text("# mine\n")
        return check(source)

    monkeypatch.setattr(fixing, "check_text", slow)
    with pytest.raises(Failure) as caught:
        repair_file(path)
    assert caught.value.diagnostics[0].code == "TW0006"
    assert path.read_text() == "# mine\n"
