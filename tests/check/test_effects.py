"""Effects with a name: what a call of one stands for (language.md §19)."""

from __future__ import annotations

from pathlib import Path

from tokenworld.check import Checked, check_source, file_loader
from tokenworld.diagnostics import Source
from tokenworld.model import Create, Let, effects_in
from tokenworld.session import Session
from tokenworld.session.loading import open_text
from tokenworld.syntax.format import format_source
from tokenworld.verbs.fuzz.playing import first_difference

FOLK = """
type Room
type Body { at: Room?  hp: 0 to 9 clamped = 5 }
type Ghost : Body
actor me: Body
relation door(a: Room, b: Room)
effect move(b: Body, to_: Room?, sure: bool) {
  let spot = to_
  if spot != none and sure { b.at = spot  say "{The b} goes to {the spot}." }
  else { say "{The b} stays." }
}
effect fade(b: Body, share: 0% to 100%) {
  let fit = b.hp > 2
  chance share { b.hp -= 1 }
  pick r: Room { move(b, r, fit) }
}
effect split(b: Body) { create g: Ghost { at = b.at  hp = 1 } }
action go(to_: Room) as "go to {to_}" {
  require me.at == none or door(me.at, to_) else no_door
  let spot = 7
  me.hp = spot
  move(me, to_, true)
}
action call_up() as "call" { split(me)  split(me)  fade(me, 50%) }
law drift(g: Ghost) { let here = g.at  fade(g, if here == none then 10% else 90%) }
world w {
  object a, b: Room  object hero: Body { at = a }
  setup { add door(a, b)  add door(b, a) }
}
"""
DONE = [
    {"action": "call_up", "args": {}}, {"action": "go", "args": {"to_": "b"}},
    {"action": "go", "args": {"to_": "b"}}, {"action": "call_up", "args": {}},
    {"action": "go", "args": {"to_": "a"}}, {"action": "call_up", "args": {}},
]  # fmt: skip


def checked(text: str) -> Checked:
    return check_source(Source("t.tw", None, text))


def test_all_evaluators_agree() -> None:
    assert checked(FOLK).ok
    for seed in range(4):
        assert first_difference(FOLK, DONE, seed) is None


def test_what_is_created_keeps_the_word_of_its_author() -> None:
    session = Session(open_text((Source("t.tw", None, FOLK),), "w"))
    session.intend("call")
    names = [one["name"] for one in session.state_json()["objects"]]
    assert names == ["a", "b", "hero", "g_3", "g_4"]


def test_a_body_says_the_same_as_with_the_text_in_its_place() -> None:
    written = FOLK.replace("move(me, to_, true)", """
      let there = to_
      if true { me.at = there  say "{The me} goes to {the there}." } else { say "{The me} stays." }
    """)  # fmt: skip
    said = []
    for text in (FOLK, written):
        session = Session(open_text((Source("t.tw", None, text),), "w"))
        outcomes = session.intend("go to b")
        said.append((outcomes[-1].said, session.state_json()))
    assert said[0] == said[1]


def test_names_of_two_calls_are_kept_apart() -> None:
    program = checked(FOLK).program
    assert program is not None
    body = program.actions["call_up"].body
    names = [one.name for one in effects_in(body) if isinstance(one, (Let, Create))]
    assert len(set(names)) == len(names)


def test_spans_are_those_of_the_effect() -> None:
    program = checked(FOLK).program
    assert program is not None
    rows = FOLK.splitlines()
    lines = [rows[one.span.line - 1] for one in effects_in(program.laws["drift"].body)]
    begins = [line.split()[0] for line in lines]
    assert " ".join(begins) == "law law let chance chance pick let if if if else"


def test_effects_of_effects_do_not_grow_without_end() -> None:
    lines = ["type C { n: 0 to 9 clamped }", "effect e0(c: C) { c.n += 1  c.n += 1 }"]
    for number in range(1, 40):
        lines.append(f"effect e{number}(c: C) {{ e{number - 1}(c)  e{number - 1}(c) }}")
    found = checked("\n".join([*lines, "law l(c: C) { e39(c) }"]))
    assert {one.code for one in found.diagnostics if one.is_error} == {"TW0101"}


def test_an_effect_of_a_module_stands_behind_its_name(tmp_path: Path) -> None:
    (tmp_path / "base.tw").write_text("type C { n: 0 to 9 }\n")
    (tmp_path / "lib.tw").write_text(
        "use base\neffect put(c: C, k: 0 to 9) { c.n = k }\n"
        "effect twice(c: C, d: C) { put(c, 1)  put(d, 2) }\n"
    )
    text = """use base  use lib as l
effect put(c: C) { l.put(c, 1) }
action a(c: C, d: C, e: C) { require c != d and d != e and c != e else same  l.twice(c, d)  put(e) }
"""
    found = check_source(Source("t.tw", tmp_path / "t.tw", text), file_loader(()))
    assert not found.diagnostics
    assert found.program is not None
    assert (
        len(tuple(effects_in(found.program.actions["a"].body))) == 6
    )  # three values, three changes
    wrong = check_source(Source("t.tw", tmp_path / "t.tw", text + "law l(c: C) { twice(c, c) }"))
    assert [one.code for one in wrong.diagnostics if one.is_error] == ["TW0201"]


def test_the_formatter_keeps_calls() -> None:
    text = 'effect  e( c :C? ,x:bool ){c.n=1}\nlaw l(c: C) { e( c,true )  say "x" }\n'
    formatted, _ = format_source(Source("t.tw", None, text))
    assert (
        formatted == 'effect e(c: C?, x: bool) { c.n = 1 }\nlaw l(c: C) { e(c, true)  say "x" }\n'
    )
