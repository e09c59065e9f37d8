"""Generated code never contains author text, whatever names and strings a program has."""

from __future__ import annotations

import ast
import json
import re

import pytest
from tiny import DOMAINS, Game, domain, play

from tokenworld.engine.rows import Row, RowStepper

HOSTILE = (
    "__import__('os').abort()", "1+1", "x', y", 'q"uote', "None", "def", "lambda: 0", "S", "W",
    "me", "D", "k0", "#", "\\", "{S}", "ünï cødé", "🔥", "a.b", "eval(x)", "%s", "\u2028x", "class",
    "True", "self",
)  # fmt: skip
STRINGS = (
    r"quote \" inside", r"brace \{ not a slot", r"back \\ slash", "'''", "# no comment",
    "%s {me}", r"\" + __import__('os').abort() + \"", "🔥 ünï",
)  # fmt: skip

RULES = """
enum {q_enum} {{ {q_a}, {q_b} }}
type {q_type} {{ {q_attr}: {q_enum}  {q_num}: 0 to 9 = 1  {q_text}: text = "{string}" }}
actor {q_actor}: {q_type}
param {q_param}: 0 to 9 = 2
relation {q_rel}({q_x}: {q_type}, {q_y}: {q_type})
function {q_fun}({q_x}: {q_type}, {q_y}: {q_type}): 0 to 9 = 3
derive {q_der}({q_x}: {q_type}): bool = {q_x}.{q_num} > {q_param} or {q_rel}({q_x}, {q_x})
event {q_event}({q_x}: {q_type})
phase {q_phase}
action {q_act}({q_x}: {q_type}) as "do {{{q_x}}}" {{
  let {q_let} = {q_x}.{q_num}
  require {q_let} < 5 else {q_label} "{string} {{{q_let}}}"
  {q_x}.{q_num} = {q_let} + {q_param}
  add {q_rel}({q_x}, {q_x})
  {q_fun}({q_x}, {q_x}) += 1
  emit {q_event}({q_x})
  say "{string} {{{q_x}}} {{{q_x}.{q_attr}}}"
}}
law {q_law}({q_x}: {q_type}) during {q_phase} when {q_der}({q_x}) {{
  chance 50% {{ {q_x}.{q_attr} = {q_b} }} else {{ {q_x}.{q_attr} = {q_a} }}
}}
watch {q_watch}({q_x}: {q_type}) once when {q_der}({q_x}) {{ say "watched {{{q_x}}}" }}
invariant {q_inv}({q_x}: {q_type}): {q_x}.{q_num} < 9
world w {{
  object {q_obj}: {q_type}
  goal {q_goal}: {q_obj}.{q_num} > 4 "{string}"
}}
"""
KINDS = (
    "enum", "a", "b", "type", "attr", "num", "text", "actor", "param", "rel", "fun", "x", "y",
    "der",    "event", "phase", "act", "let", "label", "law", "watch", "inv", "obj", "goal",
)  # fmt: skip


def program(shift: int, string: str = "plain") -> tuple[Game, dict[str, str]]:
    """Every kind of name spelt as a hostile one; no two kinds share a name."""
    names = {kind: f"{HOSTILE[(i + shift) % len(HOSTILE)]}" for i, kind in enumerate(KINDS)}
    quoted = {f"q_{kind}": f"`{name}`" for kind, name in names.items()}
    return play(RULES.format(**quoted, string=string)), names


@pytest.mark.parametrize("shift", range(0, len(HOSTILE), 3))
def test_hostile_names_are_only_names(shift: int) -> None:
    game, names = program(shift)
    record = game.do(f"do {names['obj']}")
    assert record.status == "executed", record
    assert (record.action, record.args) == (names["act"], {names["x"]: names["obj"]})
    assert record.events == ((names["event"], (names["obj"],)),)
    assert record.said[0].startswith("plain ")
    assert game.session.legal() != ()
    assert json.loads(json.dumps(game.session.state_json())) == game.session.state_json()
    second = game.do(f"do {names['obj']}")
    assert second.status == "executed"
    assert game.session.won(names["goal"])


@pytest.mark.parametrize("string", STRINGS)
def test_hostile_strings_are_only_texts(string: str) -> None:
    text = string.replace("{me}", "{`k0`}" if "{me}" in string else "")
    game, names = program(0, text.replace("{`k0`}", ""))
    record = game.do(f"do {names['obj']}")
    shown = text.replace("{`k0`}", "").replace("\\{", "{").replace('\\"', '"').replace("\\\\", "\\")
    assert record.said[0].startswith(shown)


def names_in(game: Game) -> set[str]:
    """The names in the code that is generated for a world, after every action was asked for."""
    session = game.session

    def source(stepper: RowStepper, row: Row) -> str:
        for name in session.world.program.actions:
            stepper.code.find("run", name)
        for name in session.world.program.laws:
            stepper.code.find("law", name)
        return stepper.code.source

    tree = ast.parse(session.engine.on_row(session.state, source))
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def test_hostile_names_are_no_names_of_generated_code() -> None:
    game, names = program(5, STRINGS[6])
    found = names_in(game)
    assert not found & {names["obj"], "abort", "quote", "ünï", "🔥"}
    assert all(one.isascii() for one in found)


@pytest.mark.parametrize("name", ["cellar", "kitchen", "blocks", "cottage"])
def test_names_of_generated_code_are_generated(name: str) -> None:
    """They end in a number, or are those of the runtime."""
    written = (DOMAINS / name / "world.tw").read_text(encoding="utf-8")
    generated = re.compile(r"\w*\d+_?$")
    for one in names_in(domain(name)):
        if not generated.match(one):
            assert one not in re.findall(r"\b[a-z]+_[a-z_]+\b", written), one


def test_python_keywords_are_names_like_any_other() -> None:
    game = play(
        """
        enum None { False, def }
        type class { import: 0 to 9 = 0 }
        actor self: class
        action lambda(while: class) as "lambda {while}" { while.import += 1  say "{while.import}" }
        world w { object pass_: class  object exec: class  goal yield: exec.import == 1 }
        """.replace("type class", "type Class")
        .replace(": class", ": Class")
        .replace("enum None", "enum Nothing")
        .replace("{ False, def }", "{ try_, def }")
    )
    assert game.do("lambda exec").said == ("1",)
    assert game.session.won("yield")
