"""The legal list of rows: that by trying all, by tests taken out to the parameter that decides."""

from __future__ import annotations

from random import Random

import pytest

from tests.engine.rows.test_rows import stepper_of
from tests.engine.tiny import play
from tests.engine.walks import BUNDLED, engine_of, tried
from tokenworld.engine import SeededLuck
from tokenworld.engine.rows import RowStepper
from tokenworld.engine.rows.legal import Legal
from tokenworld.ground import PASS, Command
from tokenworld.prose.wording import EnglishProse

SHELVES = """type Shelf { wet: bool }
type Book { on: Shelf? inverse books  weight: 0 to 9 = 3  twin: Book? }
type Hero
actor me: Hero
action take(s: Shelf, b: Book) { require not s.wet  require b.on == s }
action pair(b: Book, c: Book) { require b.weight > 2  require b.twin == c }
action weigh(b: Book, c: Book) { require 9 div b.weight > 2  require c.on == b.on }
action lift(b: Book) { b.weight -= 2 }
action dry(s: Shelf) { require s.wet  s.wet = false }
action drop(b: Book) { require b.weight == 3  b.weight = 1 }
world w {
  object hero: Hero
  object shelf: Shelf
  object bench: Shelf { wet = true }
  object plank: Shelf
  object red: Book { on = shelf  weight = 0 }
  object blue: Book { on = bench  twin = red }
  object green: Book { on = shelf  twin = none }
}
"""


def shown(stepper: RowStepper, found: list[Command]) -> list[str]:
    names = stepper.slots.base.names
    return [f"{one.action}({', '.join(names[int(x)] for x in one.args)})" for one in found]


def test_requires_of_rules_and_of_the_language_decide() -> None:
    stepper, row = stepper_of(SHELVES)
    assert shown(stepper, Legal(stepper).commands(row)) == [
        "take(shelf, red)", "take(shelf, green)",
        "pair(blue, red)",
        "weigh(blue, blue)", "weigh(green, red)", "weigh(green, green)",
        "lift(blue)", "lift(green)",
        "dry(bench)",
        "drop(blue)", "drop(green)",
    ]  # fmt: skip
    assert row.J == []


def test_a_test_stands_behind_the_parameter_that_decides_it() -> None:
    """`b` ranges over what is on `s`, `c` over the twin alone; a division keeps its place."""
    stepper, _ = stepper_of(SHELVES)
    texts = {}
    for name in ("take", "pair", "weigh", "dry", "drop"):
        own = stepper.code["listed", name].__name__
        texts[name] = next(x for x in stepper.code.writer.functions if x.startswith(f"def {own}("))
    shape = [line.split("(")[0].split()[0] for line in texts["take"].splitlines()]
    assert shape == ["def", "for", "if", "for", "if", "found.append"]
    assert "in kids(S" in texts["take"] or "in kids(C" in texts["take"]
    assert "held(" in texts["weigh"]
    assert "held(" not in texts["pair"]
    assert "in compress(" in texts["dry"]
    assert "in where(S, " in texts["drop"]


TRUCKS = """
type Place
type Parcel
type Truck
relation road(a: Place, b: Place) symmetric
relation at(t: Truck, p: Place)
relation lies(x: Parcel, p: Place)
action load(x: Parcel, t: Truck, p: Place) {
  require lies(x, p)  require at(t, p)  remove lies(x, p)
}
action drive(t: Truck, to: Place, from: Place) {
  require at(t, from)  require road(to, from)  remove at(t, from)  add at(t, to)
}
action unload(x: Parcel, t: Truck, p: Place) {
  require at(t, p)  require not any(lies(x, q) for q: Place)  add lies(x, p)
}
world w {
  object mill, barn: Place
  object red: Parcel
  object lorry: Truck
  object yard: Place
  object blue: Parcel
  object van: Truck
  setup {
    add road(mill, barn)  add road(yard, barn)  add at(lorry, yard)  add at(van, mill)
    add lies(red, mill)  add lies(blue, yard)
  }
}
"""


def test_relations_lead_from_one_parameter_to_the_next() -> None:
    """No parameter is bound by trying all places, and the bindings are in written order."""
    stepper, row = stepper_of(TRUCKS)
    legal = Legal(stepper)
    assert shown(stepper, legal.commands(row)) == [
        "load(red, van, mill)", "load(blue, lorry, yard)",
        "drive(lorry, barn, yard)", "drive(van, barn, mill)",
    ]  # fmt: skip
    own = stepper.code["listed", "load"].__name__
    text = next(x for x in stepper.code.writer.functions if x.startswith(f"def {own}("))
    loops = [line.split(" in ")[1] for line in text.splitlines() if line.strip().startswith("for ")]
    assert len(loops) == 3
    assert sum("(S, x" in one for one in loops) == 2
    assert text.endswith("found.sort()")
    for call in ("load red van mill", "drive van barn mill", "unload red van barn"):
        name, *args = call.split()
        numbers = tuple(stepper.slots.base.numbers[one] for one in args)
        stepper.tick(row, Command(name, numbers), SeededLuck())
        row.J.clear()
    assert shown(stepper, legal.commands(row)) == [
        "load(red, van, barn)", "load(blue, lorry, yard)",
        "drive(lorry, barn, yard)", "drive(van, mill, barn)", "drive(van, yard, barn)",
    ]  # fmt: skip


@pytest.mark.parametrize("name", BUNDLED)
def test_a_session_lists_legal_commands_of_each_world(name: str) -> None:
    """Functions are written when they are first needed: the list comes before any tick."""
    engine = engine_of(name)
    start = engine.start(1)
    assert [one for one in engine.legal(start) if not one.is_pass] == tried(engine, start)


@pytest.mark.parametrize("name", BUNDLED)
def test_rows_list_what_trying_every_binding_finds(name: str) -> None:
    engine, random, luck = engine_of(name), Random(name), SeededLuck()
    start = state = engine.start(2)
    stepper = RowStepper(engine.instance, engine.layout, EnglishProse(), start, quiet=True)
    row, legal = stepper.row(start), Legal(stepper)
    for step in range(60):
        found = tried(engine, state)
        assert legal.commands(row) == engine.legal(state) == found
        command = random.choice(found) if found and step % 5 else PASS
        state, _ = engine.play(state, command)
        stepper.tick(row, command, luck)
        if state.latched and not engine.instance.world.endless:
            state = start
            row.undo(0)


def test_a_command_that_adds_to_what_is_destroyed_is_listed() -> None:
    """Whether the range refuses it is asked of a slot that is empty by then."""
    text = """
        type Thing { weight: 0 to 6 = 1 }
        type Item : Thing
        type Hero
        actor me: Hero
        action shake() { pot.weight -= 1  for i: Item { destroy i } }
        object pot: Item
        world w { object hero: Hero }
    """
    game = play(text)
    for _ in range(2):
        assert game.all("shake()").status == "executed"
        assert [one.call for one in game.session.legal()] == ["shake()"]


def test_a_birth_is_refused_for_a_number_alone() -> None:
    """Where the body does nothing more with what is born, its numbers decide without trying."""
    text = """
        type Box { at: Box? nested inverse contents  load: 0 to 3 = 1 }
        actor me: Box
        action make(b: Box, n: 0 to 3) { create new: Box { at = b  load = n + b.load } }
        world w { object box: Box { load = 2 } }
    """
    game = play(text)
    assert [one.call for one in game.session.legal()] == ["make(box, 0)", "make(box, 1)"]
    assert game.all("make(box, 1)").status == "executed"
    calls = [one.call for one in game.session.legal()]
    assert calls == ["make(box, 0)", "make(box, 1)", "make(new_1, 0)"]
    assert game.do("make(new_1, 1)").status == "refused"
