"""Modules behind short names, and where modules are looked for (language.md §1)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tokenworld.check import Checked, check_source, file_loader
from tokenworld.diagnostics import read_source
from tokenworld.session.loading import open_text

THINGS = """
unit kg
enum Lock { open, closed }
type Thing { lock: Lock = closed  weight: 0kg to 5kg = 1kg  at: Room? inverse contents }
type Room : Thing
object sun: Thing { lock = open }
actor me: Thing
relation linked(a: Room, b: Room) symmetric closure reachable
function lit(a: Thing): bool
function dark(): 0 to 9 = 3
table hard(l: Lock): 0 to 9 { open: 1  closed: 2 }
derive shut(t: Thing) = t.lock == closed and not lit(t) and hard(t.lock) <= dark() and sun != t
param rate: 1 to 9 = 3
param twice: 1 to 18 = rate + rate
event opened(t: Thing)
phase heat
action unlock(t: Thing) as "unlock {t}" {
  require shut(t) else open "It is open."
  t.lock = open
  emit opened(t)
  dark() = rate
}
law cool(t: Thing) during heat when t.lock == open and did(me, unlock, t) { t.weight = 2kg }
invariant light(t: Thing): t.weight <= 5kg
called t: Thing = if shut(t) then "shut thing" else "thing"
world hidden { }
"""

ROOT = """
use things as th
unit kg
enum Lock { open, closed, broken }
type Thing : `th.Thing` { mine: Lock }
object sun: Thing
phase heat
derive far(a: `th.Room`, b: `th.Room`) =
  th.reachable(a, b) and a.reachable(b) and b in a.reachable and th.linked(a, b)
action unlock(t: Thing) {
  require th.shut(t) else open "It is open."
  t.lock = `th.Lock`.open
  t.mine = open
  th.dark() = th.rate
  th.lit(t) = true
  emit `th.opened`(t)
}
law own(t: Thing) during `th.heat` when th.sun.lock == open and did(th.me, th.unlock) {
  t.mine = broken
}
law late(t: Thing) during heat when t.mine == broken { t.mine = closed }
world w {
  object box: Thing { weight = 2kg  lock = closed  mine = broken }
  param `th.rate` = 5
  goal g: box.lock == open and box.mine == open and th.sun.weight == 1kg
  lose l: any(far(a, b) for a: `th.Room`, b: `th.Room`)
}
scenario "s" in w {
  given { th.rate = 4  th.dark() = 4  box.lock = closed }
  when th.unlock(box) then emits th.opened(box), box.lock == open
  when unlock(box) then refused because open
}
"""


def write(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        path = folder.joinpath(*name.split("__")).with_suffix(".tw")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder / "root.tw"


def check(path: Path, *rules: Path) -> Checked:
    return check_source(read_source(path), file_loader(rules))


def errors(checked: Checked) -> list[str]:
    return [one.code for one in checked.diagnostics if one.is_error]


def test_every_kind_of_name_stays_behind_the_short_name(tmp_path: Path) -> None:
    checked = check(write(tmp_path, root=ROOT, things=THINGS))
    program = checked.program
    assert program is not None, checked.diagnostics
    assert list(program.types) == ["th.Thing", "th.Room", "Thing"]
    assert list(program.enums) == ["th.Lock", "Lock"]
    assert list(program.objects) == ["th.sun", "sun", "w/box"]
    assert list(program.phases) == ["th.heat", "heat"]
    assert list(program.actions) == ["th.unlock", "unlock"]
    assert list(program.params) == ["th.rate", "th.twice"]
    assert [one.name for one in program.fluents.values()][-4:] == [
        "th.linked", "th.lit", "th.dark", "th.hard",
    ]  # fmt: skip
    assert list(program.units) == ["kg"]
    assert list(program.worlds) == ["w"]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("derive d(t: Thing) = t.lock == open", "TW0202"),
        ("object t: `th.Thong`", "TW0202"),
        ("derive d() = th.nothing(sun)", "TW0201"),
        ("derive d() = th.moon", "TW0201"),
        ("derive d() = sun == sun", "TW0201"),
        ("law l() during heat { for t: `th.Thing` { t.lock = open } }", "TW0502"),
        ("use things as other  derive d(a: `other.Lock`) = th.hard(a) > 1", ""),
        ("derive th(x: `th.Thing`) = x.lock == open  derive d(x: `th.Thing`) = th(x)", ""),
        ("derive d(th: `th.Thing`) = th.lock == open", ""),
    ],
)
def test_names_behind_a_short_name(tmp_path: Path, line: str, code: str) -> None:
    root = write(tmp_path, root=f"use things as th\n{line}\n", things=THINGS)
    assert errors(check(root)) == ([code] if code else [])


def test_two_modules_that_clash_live_behind_two_names(tmp_path: Path) -> None:
    module = "type A { n: 0 to 9 }\nfunction f(a: A): 0 to 9 = 1\n"
    text = "use one as a\nuse two as b\nderive d(x: `a.A`, y: `b.A`) = a.f(x) + b.f(y) + x.n\n"
    assert errors(check(write(tmp_path, root=text, one=module, two=module))) == []


def test_names_of_two_files_in_a_row_of_short_names(tmp_path: Path) -> None:
    text = "use upper as u\nderive d(x: `u.l.A`) = u.l.f(x) + u.g(x)\n"
    upper = "use lower as l\nderive g(x: `l.A`) = l.f(x) + 1\n"
    lower = "type A\nfunction f(a: A): 0 to 9 = 1\n"
    assert errors(check(write(tmp_path, root=text, upper=upper, lower=lower))) == []


def test_a_module_used_plainly_somewhere_keeps_its_plain_names(tmp_path: Path) -> None:
    text = "use base\nuse upper as u\ntype B : A\nderive d(b: B) = u.g(b)\n"
    upper = "use base\nderive g(a: A) = a.n + f(a)\n"
    base = "type A { n: 0 to 9 }\nfunction f(a: A): 0 to 9 = 1\n"
    checked = check(write(tmp_path, root=text, upper=upper, base=base))
    assert checked.program is not None, checked.diagnostics
    assert list(checked.program.types) == ["A", "B"]
    assert list(checked.program.derives) == ["u.g", "d"]


def test_a_dot_in_a_raw_name_makes_no_two_facts_one() -> None:
    from tokenworld.diagnostics import Source

    text = (
        "type `a` { `b.c`: 0 to 9 }\ntype `a.b` { c: 0 to 9 }\nfunction `a.b.c`(): 0 to 9\n"
        "derive d(x: `a`, y: `a.b`) = x.`b.c` + y.c + `a.b.c`()\n"
    )
    program = check_source(Source("t.tw", None, text)).program
    assert program is not None
    assert len(program.fluents) == 3


# ---- where modules are found ------------------------------------------------------------------


def test_the_rules_of_the_project_are_found_from_a_file_deep_in_it(tmp_path: Path) -> None:
    files = {
        "worlds__far__root": "use std.doors\ntype D : Door\n",
        "rules__std__doors": "use std.things\ntype Door : Thing\n",
        "rules__std__things": "type Thing\n",
    }
    write(tmp_path, **files)
    checked = check(tmp_path / "worlds" / "far" / "root.tw")
    assert checked.program is not None, checked.diagnostics
    assert [one.name for one in checked.sources][1:] == ["std/doors.tw", "std/things.tw"]


def test_beside_the_file_comes_before_the_rules(tmp_path: Path) -> None:
    files = {"root": "use a\nderive d(x: Beside) = true\n", "a": "type Beside\n"}
    root = write(tmp_path, **files, rules__a="type Ruled\n")
    assert errors(check(root)) == []


def test_modules_of_one_shown_name_are_two_sources(tmp_path: Path) -> None:
    files = {"root": "use a.x\nuse b.y\n", "a__x": "use util\ntype X : U\n",
             "a__util": "type U\n",
             "b__y": "use util\ntype Y : V\n", "b__util": "type V\n"}  # fmt: skip
    checked = check(write(tmp_path, **files))
    assert checked.program is not None, checked.diagnostics
    names = [one.name for one in checked.sources]
    assert names[1:] == ["a/x.tw", "a/util.tw", "b/y.tw", "b/util.tw"]
    assert len(checked.program.sources) == 5


def test_a_stored_program_finds_its_modules_by_name(tmp_path: Path) -> None:
    files = {"root": "use a.x\nuse b.y\nworld w { object x: X object y: Y }\n",
             "a__x": "use util\ntype X : U\n", "a__util": "type U\n",
             "b__y": "use util\ntype Y : V\n", "b__util": "type V\n"}  # fmt: skip
    checked = check(write(tmp_path, **files))
    again = open_text(checked.sources, "w")
    assert checked.program is not None
    assert again.program.digest == checked.program.digest
