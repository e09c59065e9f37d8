"""Writes that go straight into the row: which bodies may, and that a wrong proof is found."""

from __future__ import annotations

from random import Random

import pytest

from tests.engine.rows.test_rows import stepper_of
from tests.engine.tiny import open_tiny
from tests.engine.walks import BUNDLED, engine_of, tried
from tokenworld.engine import SeededLuck
from tokenworld.engine.rows import RowStepper
from tokenworld.engine.rows.code.quick import Mode, Modes
from tokenworld.ground import PASS, Command
from tokenworld.prose.wording import EnglishProse
from tokenworld.verbs.fuzz.playing import first_difference

WORLD = """type Cell { n: 0 to 9 = 1  m: 0 to 9 = 2  on: bool }
relation linked(a: Cell, b: Cell)
actor me: Cell
object top: Cell
action set(c: Cell) { c.n = 3  c.on = true }
action both(c: Cell, d: Cell) { c.n += 1  d.n += 2 }
action twist(c: Cell) { swap c.n, c.m }
action maybe(c: Cell) { if c.n > 2 { c.n = 0 } else { c.m = c.n } }
action all_on() { for c: Cell where not c.on { c.on = true } }
action first_on() { for c: Cell where not c.on { c.on = true  c.n = 0 } }
action spread() { for c: Cell { for d: Cell where c != d { d.m += 1 } } }
action link(c: Cell, d: Cell) { add linked(c, d) }
action grow() { create new: Cell { } }
LAWS
world w { object hero: Cell  object a, b: Cell }
"""


def without_births(laws: str = "") -> str:
    """The world in which nothing is created."""
    lines = [line for line in WORLD.splitlines() if "create" not in line]
    return "\n".join(lines).replace("LAWS", laws)


def test_bodies_get_the_cheapest_mode_that_is_proved() -> None:
    stepper, _ = stepper_of(without_births())
    found = Modes(stepper.slots, stepper.rules)
    assert {name: found.of(one.body) for name, one in stepper.rules.actions.items()} == {
        "set": "direct",
        "both": "pend",
        "twist": "pend",
        "maybe": "pend",
        "all_on": "log",
        "first_on": "log",
        "spread": "log",
        "link": "direct",
    }


def test_what_comes_and_goes_is_logged() -> None:
    stepper, _ = stepper_of(WORLD.replace("LAWS", ""))
    found = Modes(stepper.slots, stepper.rules)
    assert {found.of(one.body) for one in stepper.rules.actions.values()} == {"log"}


@pytest.mark.parametrize(
    ("laws", "own"),
    [
        ("law age(c: Cell) when c.n < 9 { c.n += 1 }", True),
        ("law age(c: Cell) when c.n < 9 { c.n += 1 }  law mark(c: Cell) { c.on = true }", True),
        ("law age(c: Cell) { c.n = count(d.on for d: Cell) }", True),
        ("law age(c: Cell) when any(d.n > 3 for d: Cell) { c.n = 0 }", False),
        ("law age(c: Cell) when c.n < 9 { c.n += 1 }  law see(c: Cell) { c.on = c.n > 3 }", False),
        ("derive old(c: Cell) = c.n > 3  law age(c: Cell) when not old(c) { c.n = 9 }", False),
        ("law age(c: Cell) { top.n = 3 }", False),
    ],
)
def test_laws_that_touch_only_their_own_slots_run_one_after_the_other(laws: str, own: bool) -> None:
    stepper, _ = stepper_of(without_births(laws))
    found = Modes(stepper.slots, stepper.rules)
    assert found.own(tuple(stepper.rules.laws.values())) is own


def test_two_writes_that_meet_in_one_slot_are_merged() -> None:
    """`both(c, c)` raises one number by three: the quick way notices, and leaves it to the log."""
    stepper, row = stepper_of(without_births(), quiet=True)
    assert "both" in stepper.code.quick
    assert stepper.tick(row, Command("both", (1, 1)))[-1].status == "executed"
    assert stepper.state(row).cols[0][1] == 4


@pytest.mark.parametrize("mode", ["direct", "pend"])
def test_a_wrong_proof_is_found(mode: Mode, monkeypatch: pytest.MonkeyPatch) -> None:
    text = without_births("law chase(c: Cell) { c.n = sum(d.n for d: Cell) mod 7 }")
    intents = [{"action": "twist", "args": ["hero"]}, {"pass": True}, {"pass": True}]
    assert first_difference(text, intents, 0) is None
    monkeypatch.setattr(Modes, "of", lambda self, body: mode)
    monkeypatch.setattr(Modes, "own", lambda self, laws: True)
    found = first_difference(text, intents, 0)
    assert found is not None
    assert found[1].field.startswith("rows.record.")


@pytest.mark.parametrize("name", BUNDLED)
def test_quiet_rows_follow_the_engine_through_bundled_worlds(name: str) -> None:
    engine, random, luck = engine_of(name), Random(name), SeededLuck()
    start = state = engine.start(2)
    stepper = RowStepper(engine.instance, engine.layout, EnglishProse(), start, quiet=True)
    row = stepper.row(start)
    for step in range(150):
        legal = tried(engine, state) if step % 4 else []
        command = random.choice(legal) if legal else PASS
        state, outcomes = engine.play(state, command, luck)
        records = stepper.tick(row, command, luck)
        assert [one.status for one in records] == [one.status for one in outcomes], command
        if step % 10 == 9:
            assert engine.json(stepper.state(row)) == engine.json(state)
        if state.latched and not engine.instance.world.endless:
            state = start
            row.undo(0)
    assert engine.json(stepper.state(row)) == engine.json(state)


@pytest.mark.parametrize("name", BUNDLED)
def test_whole_ticks_report_what_the_engine_does(name: str) -> None:
    engine, random, luck = engine_of(name), Random(name), SeededLuck()
    start = state = engine.start(2)
    stepper = RowStepper(engine.instance, engine.layout, EnglishProse(), start)
    stepper.report_whole_ticks()
    row = stepper.row(start)
    for step in range(150):
        legal = tried(engine, state) if step % 4 else []
        command = random.choice(legal) if legal else PASS
        met = stepper.shown.before(row)
        state, outcomes = engine.play(state, command, luck)
        records = stepper.shown.outcomes(stepper.tick(row, command, luck), met)
        assert [one.to_json() for one in records] == [one.to_json() for one in outcomes]
        if state.latched and not engine.instance.world.endless:
            state = start
            row.undo(0)


def test_a_session_compiles_whole_ticks_after_some_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Records of both ways of one session are alike: its actions repeat."""
    monkeypatch.setattr("tokenworld.engine.rows.stepper.WARM", 1)
    engine = open_tiny(without_births("law note(c: Cell) when c.n == 2 { c.on = true }")).engine
    state, told, ways = engine.start(1), list[str](), list[bool]()
    for step in range(18):
        start = engine.start(1) if step % 3 == 0 else state
        state, (outcome,) = engine.play(start, Command("both", (1, 2 if step % 3 else 1)))
        told.append(str(outcome.to_json()))
        ways.append(engine.asked(state, lambda tick: tick.of.reporting))
    assert told[:3] * 6 == told
    assert ways == [False] * 8 + [True] * 10
