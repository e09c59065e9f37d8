"""The stepper on rows: beside the engine in `test_reference_differential`, and by itself here."""

from __future__ import annotations

from typing import Any

import pytest

from tests.engine.tiny import open_tiny
from tokenworld.engine import SeededLuck
from tokenworld.engine.rows import Row, RowStepper
from tokenworld.engine.rows.commit import commit
from tokenworld.engine.rows.layout import FACTS
from tokenworld.engine.rows.legal import Legal
from tokenworld.ground import PASS, Command
from tokenworld.prose.wording import EnglishProse
from tokenworld.verbs.fuzz.playing import first_difference

TINY = """type Hero { n: 0 to 9 = 0  m: 0 to 9 = 0 }
actor me: Hero
action up() as "up" {
  me.n += 1
  me.m += 1
}
world w { object hero: Hero }
"""
BOXES = """type Thing { at: Thing? nested ordered inverse contents  mark: 0 to 9 = 2 }
type Hero: Thing { }
actor me: Hero
object box: Thing
action make() { create cup: Thing { at = box  mark = 5 } }
action smash(x: Thing) { require x != me  destroy x }
action move(x: Thing, y: Thing) { require x != me  x.at = y }
law note(x: Thing) when was x.mark == 5 and x.mark == 5 { x.mark = 6 }
world w { object hero: Hero }
"""


def stepper_of(text: str, **options: Any) -> tuple[RowStepper, Row]:
    engine = open_tiny(text).engine
    state = engine.start(3)
    stepper = RowStepper(engine.instance, engine.layout, EnglishProse(), state, **options)
    return stepper, stepper.row(state)


def shown(stepper: RowStepper, row: Row, name: str, fluent: str) -> Any:
    state = stepper.state(row)
    return state.get(state.layout.by_id[fluent], state.numbers[name])


SPOTS = """type Spot { lit: bool = true }
type Body { at: Spot?  n: 0 to 9 = 1 }
actor me: Body
action wait(s: Spot) { require s.lit == me.at.lit  me.n += 1 }
action dream() { require me.at.lit == false  me.n += 1 }
world w { object spot: Spot { lit = false }  object lou: Body }
"""


@pytest.mark.parametrize(("name", "args"), [("dream", []), ("wait", ["spot"])])
def test_a_truth_of_nothing_is_not_false(name: str, args: list[str]) -> None:
    assert first_difference(SPOTS, [{"action": name, "args": args}], 0) is None
    stepper, row = stepper_of(SPOTS)
    command = Command(name, tuple(stepper.instance.numbers[one] for one in args))
    assert stepper.tick(row, command)[-1].status == "refused"
    assert Legal(stepper).commands(row) == []


def test_a_mistake_of_rows_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows forget the last change of a body."""

    def forgetful(row: Row, log: Any, *more: Any) -> None:
        log.writes[1:] = []
        commit(row, log, *more)

    up = {"action": "up", "args": []}
    assert first_difference(TINY, [up], 0) is None
    monkeypatch.setattr("tokenworld.engine.rows.stepper.commit", forgetful)
    found = first_difference(TINY, [up], 0)
    assert found is not None
    assert found[1].field == "record.changes"


def test_an_undo_that_forgets_a_slot_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def forgetful(row: Row, mark: int) -> None:
        del row.J[mark:]

    monkeypatch.setattr(Row, "undo", forgetful)
    found = first_difference(TINY, [{"action": "up", "args": []}], 0)
    assert found is not None
    assert found[1].field == "rows.undone slots"


def test_a_crash_of_rows_is_a_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> None:
        raise TypeError("oh")

    monkeypatch.setattr("tokenworld.engine.rows.stepper.commit", broken)
    found = first_difference(TINY, [{"action": "up", "args": []}], 0)
    assert found is not None
    assert found[1].field == "crash"


def test_births_and_deaths_are_taken_back() -> None:
    stepper, row = stepper_of(BOXES)
    before, names = list(row.S), stepper.state(row).names
    for command in (Command("make"), Command("make"), Command("smash", (0,)), PASS):
        assert stepper.tick(row, command)[-1].status == "executed"
    assert stepper.state(row).names == (*names, "cup_2", "cup_3")
    assert stepper.state(row).kinds == [None, "Hero", "Thing", "Thing"]
    row.undo(0)
    assert row.S[: len(before)] == before
    assert row.S[len(before) :] == stepper.slots.blank[len(before) :]
    assert stepper.state(row).kinds == ["Thing", "Hero"]


def test_what_is_born_looks_back_at_its_birth() -> None:
    """`was` of a new object is what it was born with, and not what another history gave it."""
    stepper, row = stepper_of(BOXES)
    stepper.tick(row, Command("make"))
    assert shown(stepper, row, "cup_2", "Thing.mark") == 6
    row.undo(0)
    stepper.tick(row, Command("make"))
    assert shown(stepper, row, "cup_2", "Thing.mark") == 6


def test_a_refused_command_leaves_the_journal_as_it_was() -> None:
    stepper, row = stepper_of(BOXES)
    stepper.tick(row, Command("make"))
    mark = row.mark
    (refused,) = stepper.tick(row, Command("move", (0, 0)))
    assert (refused.status, refused.generated, row.mark) == ("refused", "cycle", mark)


def test_quiet_rows_step_alike_and_say_nothing() -> None:
    text = TINY.replace("me.m += 1", 'me.m += 1  say "Up to {me.n}."')
    told, row = stepper_of(text)
    quiet, other = stepper_of(text, quiet=True)
    assert told.tick(row, Command("up"))[-1].said == ["Up to 1."]
    assert quiet.tick(other, Command("up"))[-1].said == []
    row.S[FACTS] = None  # quiet rows keep no hash
    assert row.S == other.S


def test_rows_are_for_one_population_and_its_unchanging_facts() -> None:
    text = """type Hero { static gift: 0 to 9 = 0 }
actor me: Hero
world w { object hero: Hero  setup { chance 50% { hero.gift = 3 } } }
"""
    engine = open_tiny(text).engine
    starts = [engine.start(seed) for seed in range(12)]
    stepper = RowStepper(engine.instance, engine.layout, EnglishProse(), starts[0])
    same = [stepper.slots.fits(one) for one in starts]
    gifts = [one.get(one.layout.by_id["Hero.gift"], 0) for one in starts]
    assert same == [gift == gifts[0] for gift in gifts]
    assert True in same
    assert False in same


def test_what_play_never_writes_stays_out_of_the_row_where_things_die() -> None:
    wall = "type Wall { static h: 0 to 9 = 4 }\nobject wall: Wall\nobject box"
    stepper, row = stepper_of(BOXES.replace("object box", wall))
    live = {store.column.fluent.id: store.live for store in stepper.slots.stores}
    assert live == {"Thing.at": True, "Thing.mark": True, "Wall.h": False}
    stepper.tick(row, Command("smash", (1,)))
    assert shown(stepper, row, "wall", "Wall.h") == 4


NESTS = """type Holder { }
type Thing { at: Holder? nested }
type Hero: Holder, Thing { }
actor me: Hero
action go(x: Holder) { me.at = x }
world w { object hall: Holder  object hero: Hero }
"""


def test_a_quiet_tick_puts_one_thing_into_another() -> None:
    stepper, row = stepper_of(NESTS, quiet=True)
    numbers = stepper.instance.numbers
    assert stepper.quick(row, Command("go", (numbers["hall"],)), SeededLuck()) == 0
    assert shown(stepper, row, "hero", "Thing.at") == numbers["hall"]
    assert stepper.tick(row, Command("go", (numbers["hero"],)))[-1].generated == "cycle"
