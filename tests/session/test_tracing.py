"""The law trace: every law of a tick apart, and together what the record says."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from tokenworld.ground import Json, Outcome
from tokenworld.prose.intents import PassIntent
from tokenworld.session import OpenWorld, Session, open_world
from tokenworld.session.moments import slot_text
from tokenworld.store.log import RunStore
from tokenworld.verbs.runs.trace import TickTrace, Tracing

DOMAINS = Path(__file__).parents[2] / "domains"

WELL = """
type Cell { level: 0 to 9 = 5  mark: text? = none  wet: bool = false }
type Me { pushed: 0 to 99 = 0 }
actor me: Me
relation hot(c: Cell)
phase morning
phase evening sequentially
action push(c: Cell) { c.level += 1  me.pushed += 1 }
action spoil() { me.pushed = 9 }
law rain(c: Cell) during morning { c.level += 2 }
law drain(c: Cell) during morning when c.level > 2 { c.level -= 1 }
law heat(c: Cell) during morning when c.level > 4 { add hot(c) }
law cool(c: Cell) during morning when c.level > 4 { remove hot(c) }
law red(c: Cell) during morning { c.mark = "red" }
law also_red(c: Cell) during morning when c.level > 4 { c.mark = "red" }
law nobody(c: Cell) during morning when c.level > 8 and c.level < 1 { c.wet = true }
law step(c: Cell) during evening { c.level -= 1 }
law quarrel(c: Cell) during evening when me.pushed == 9 { c.mark = "blue"  c.mark = "green" }
world w { object one: Cell { }  object two: Cell { level = 1 }  object child: Me { } }
"""


@pytest.fixture
def well(tiny: Callable[[str], OpenWorld]) -> Session:
    return Session(tiny(WELL))


def traced(session: Session) -> TickTrace:
    return Tracing(session).trace(session.moments[-2].state, session.moments[-1])


def fired(trace: TickTrace, phase: int) -> list[str]:
    return [
        f"{one.number} {one.law}({', '.join(map(str, one.bindings.values()))})"
        for one in trace.phases[phase].fired
    ]


def test_laws_come_in_their_order_with_their_bindings(well: Session) -> None:
    well.intend(PassIntent(None))
    found = traced(well)
    assert [(one.name, one.order) for one in found.phases] == [
        ("morning", "simultaneous"),
        ("evening", "sequential"),
    ]
    assert fired(found, 0) == [
        "1 rain(one)", "2 rain(two)", "3 drain(one)", "4 heat(one)", "5 cool(one)",
        "6 red(one)", "7 red(two)", "8 also_red(one)",
    ]  # fmt: skip
    assert fired(found, 1) == ["9 step(one)", "10 step(two)"]
    assert found.phases[0].idle == ("nobody",)


def test_what_several_asked_for_is_told_with_how_it_goes_together(well: Session) -> None:
    well.intend(PassIntent(None))
    shared = {one.slot: one for one in traced(well).phases[0].shared}
    level = shared["one.level"]
    assert (level.how, level.change and (level.change.old, level.change.new)) == ("sum", (5, 6))
    assert [(number, one.op, one.value) for number, one in level.by] == [(1, "+", 2), (3, "+", -1)]
    assert shared["hot(one)"].how == "add wins"
    assert shared["one.mark"].how == "agree"
    assert set(shared) == {"one.level", "hot(one)", "one.mark"}


def test_a_change_of_one_law_alone_is_its_own(well: Session) -> None:
    well.intend(PassIntent(None))
    phases = traced(well).phases
    two = next(one for one in phases[0].fired if one.number == 2)
    assert [(one.slot, one.old, one.new) for one in two.changes] == [("two.level", 1, 3)]
    turns = [[(one.slot, one.old, one.new) for one in law.changes] for law in phases[1].fired]
    assert turns == [[("one.level", 6, 5)], [("two.level", 3, 2)]]


def test_the_action_stands_before_the_laws(well: Session) -> None:
    well.intend("push(one)")
    found = traced(well)
    assert (found.action, found.args) == ("push", {"c": "one"})
    assert [(one.slot, one.new) for one in found.changes] == [("one.level", 6), ("child.pushed", 1)]
    assert found.phases[0].shared[0].change is not None
    assert found.phases[0].shared[0].change.old == 6


def test_a_conflict_names_both_requests_and_where_the_tick_broke_off(well: Session) -> None:
    (outcome,) = well.intend("spoil()")
    assert outcome.status == "error"
    found = traced(well)
    assert found.broke_off
    assert found.stopped.startswith("TW1003")
    (conflict,) = found.conflicts
    assert (conflict.slot, conflict.change) == ("one.mark", None)
    assert [one.value for _, one in conflict.by] == ["blue", "green"]
    # laws of the phase before ran, and the first turn of this one
    assert len(found.phases[0].fired) == 8
    assert fired(found, 1) == ["9 step(one)", "10 quarrel(one)"]


def test_where_no_time_passes_no_law_runs(well: Session) -> None:
    well.intend("nonsense(one)")
    assert well.moments[-1].outcomes[-1].status == "no_match"
    found = traced(well)
    assert (found.phases, found.time_passed, found.status) == ((), False, "no_match")


def test_a_broken_invariant_is_told_behind_all_phases(tiny: Callable[[str], OpenWorld]) -> None:
    text = """
type Jar { full: 0 to 9 = 0 }
invariant dry(j: Jar): j.full < 2
law drip(j: Jar) { j.full += 1 }
world w { object jar: Jar { } }
"""
    session = Session(tiny(text))
    session.intend(PassIntent(None))
    session.intend(PassIntent(None))
    found = traced(session)
    assert found.status == "rolled_back"
    assert found.stopped.startswith("TW1001")
    assert not found.broke_off
    assert fired(found, 0) == ["1 drip(jar)"]


def test_births_and_deaths_belong_to_the_law_that_asked(tiny: Callable[[str], OpenWorld]) -> None:
    text = """
type Egg { age: 0 to 9 = 0 }
type Hen { laid: 0 to 99 = 0 }
law hatch(e: Egg) when e.age == 1 { destroy e }
law older(e: Egg) when e.age == 0 { e.age += 1 }
law lay(h: Hen) { create e: Egg { }  h.laid += 1 }
world w { object hen: Hen { } }
"""
    session = Session(tiny(text))
    for _ in range(3):
        session.intend(PassIntent(None))
    laws = {one.law: one for one in traced(session).phases[0].fired}
    assert [one.op for one in laws["hatch"].asked] == ["destroy"]
    assert [one.op for one in laws["lay"].asked] == ["create", "+"]
    gone = laws["hatch"].asked[0].slot
    assert any(one.slot.startswith(gone) and one.new is None for one in laws["hatch"].changes)
    born = laws["lay"].asked[0].slot
    assert born != gone
    assert {one.slot for one in laws["lay"].changes} >= {"hen.laid"}


@pytest.mark.parametrize(
    "name", ["cellar/world.tw", "willowbrook/world.tw", "island/world.tw", "greenhouse/world.tw"]
)
def test_a_trace_agrees_with_the_record(name: str) -> None:
    """The firings are those of the record, and their changes come to the record's."""
    session, chance = Session(open_world(str(DOMAINS / name)), 3), random.Random(5)
    tracing, laws = Tracing(session), 0
    for _ in range(30):
        legal = [] if session.ended() else list(session.engine.legal(session.state))
        session.intend(chance.choice(legal) if legal else PassIntent(None))
        found = tracing.trace(session.moments[-2].state, session.moments[-1])
        outcome = session.moments[-1].outcomes[-1]
        assert shown(found) == outcome.fired
        assert net(found) == logged(session, outcome)
        laws += len(outcome.fired)
    assert laws or not session.world.program.laws


def shown(found: TickTrace) -> tuple[str, ...]:
    laws = (one for phase in found.phases for one in phase.fired)
    return tuple(f"law {one.law}({', '.join(map(str, one.bindings.values()))})" for one in laws)


def net(found: TickTrace) -> dict[str, tuple[Json, Json]]:
    """First and last value of each slot that the laws changed."""
    changes: dict[str, tuple[Json, Json]] = {}
    for phase in found.phases:
        every = [change for law in phase.fired for change in law.changes]
        every += [one.change for one in phase.shared if one.change is not None]
        for one in every:
            changes[one.slot] = (changes.get(one.slot, (one.old,))[0], one.new)
    return {slot: both for slot, both in changes.items() if both[0] != both[1]}


def logged(session: Session, outcome: Outcome) -> dict[str, tuple[Json, Json]]:
    fluents = session.world.program.fluents
    found: dict[str, tuple[Json, Json]] = {}
    for one in outcome.law_changes:
        slot = slot_text(fluents[one.fluent], one.args)
        found[slot] = (found.get(slot, (one.old,))[0], one.new)
    return {slot: both for slot, both in found.items() if both[0] != both[1]}


def test_tracing_changes_nothing(well: Session) -> None:
    well.intend("push(one)")
    before = well.engine.hash(well.state)
    assert traced(well) == traced(well)
    assert well.engine.hash(well.state) == before
    (again,) = well.intend(PassIntent(None))
    assert again.status == "executed"


def test_the_trace_is_json(well: Session) -> None:
    well.intend("push(one)")
    found = json.loads(json.dumps(traced(well).to_json()))
    assert found["schema"] == "tw-trace/1"
    assert found["phases"][0]["fired"][0]["bindings"] == {"c": "one"}


def test_a_stored_session_traces_as_an_unstored_one(
    tiny: Callable[[str], OpenWorld], store: RunStore, well: Session
) -> None:
    stored = Session(tiny(WELL), store=store)
    for session in (stored, well):
        session.intend("push(one)")
    assert traced(stored) == traced(well)
