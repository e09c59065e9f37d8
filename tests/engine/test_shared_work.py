"""What a search keeps of one state does not leak into another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tokenworld.core import lowered
from tokenworld.diagnostics import Source
from tokenworld.engine import Engine, EngineSimulator, State
from tokenworld.ground import Command
from tokenworld.session.loading import open_text

CAVE = """
type Thing { at: Room? nested ordered inverse contents  warm: 0 to 9 = 3 }
type Room : Thing { lit: bool = false }
type Hero : Thing
actor me: Hero
relation door(a: Room, b: Room)
derive linked(a: Room, b: Room) = door(a, b) or any(door(a, c) and linked(c, b) for c: Room)
action look() { say "You look around." }
action examine(x: Thing) { require x.at == me.at  say "{x.warm}" }
action wait() { }
action shine() { me.warm = me.warm }
action again() { me.at = me.at }
action dig(a: Room, b: Room) { require a == me.at  require a != b  require not door(a, b)
  door(a, b) = true }
action go(b: Room) { require linked(me.at, b)  me.at = b }
action breed() { create t: Thing { at = me.at } }
law cool(x: Thing) when x.warm > 0 { chance 50% { x.warm -= 1 } }
world w {
  time passes always
  object hall: Room { warm = 0 }
  object cellar: Room { warm = 0 }
  object den: Room { warm = 0 }
  object hero: Hero { at = hall }
  object stone: Thing { at = hall  warm = 1 }
  spare Thing 2
  goal out: hero.at == den
}
"""


def _opened() -> tuple[Engine, State]:
    engine = open_text((Source("cave.tw", None, CAVE),), "w").engine
    return engine, engine.start()


def _walked(simulator: EngineSimulator, state: State, most: int) -> Iterator[State]:
    seen, waiting = set(), [state]
    while waiting and len(seen) < most:
        one = waiting.pop(0)
        if (key := simulator.key(one)) in seen:
            continue
        seen.add(key)
        yield one
        for command in simulator.commands(one):
            waiting += [after.state for after in simulator.successors(one, command)]


def _alone(engine: Engine, state: State, command: Command) -> list[tuple[object, ...]]:
    """The successors of a command by a simulator that knows of no other command."""
    simulator = EngineSimulator(engine, engine.start())
    found = simulator.successors(state, command)
    return [(simulator.key(one.state), one.draws, one.probability) for one in found]


def test_commands_lead_to_what_each_of_them_leads_to_alone() -> None:
    engine, start = _opened()
    simulator = EngineSimulator(engine, start)
    for state in _walked(simulator, start, 12):
        for command in simulator.commands(state):
            found = simulator.successors(state, command)
            told = [(simulator.key(one.state), one.draws, one.probability) for one in found]
            assert told == _alone(engine, state, command), command


def test_filing_a_thing_anew_is_not_nothing() -> None:
    engine, start = _opened()
    simulator = EngineSimulator(engine, start)
    keys = {
        name: {simulator.key(one.state) for one in simulator.successors(start, Command(name, ()))}
        for name in ("wait", "again")
    }
    assert not keys["wait"] & keys["again"]


def test_recursive_derives_follow_what_they_rest_on() -> None:
    engine, start = _opened()
    simulator = EngineSimulator(engine, start)
    hall, cellar, den = (engine.instance.numbers[one] for one in ("hall", "cellar", "den"))

    def goes(state: State) -> list[int]:
        commands = simulator.commands(state)
        return sorted(int(one.args[0] or 0) for one in commands if one.action == "go")

    def dug(state: State, first: int, second: int) -> State:
        return simulator.successors(state, Command("dig", (first, second)))[0].state

    assert goes(start) == []
    once = dug(start, hall, cellar)
    assert goes(once) == [cellar]
    twice = dug(once, hall, den)
    assert goes(twice) == [cellar, den]
    assert goes(start) == []


def test_fluents_that_terms_rest_on() -> None:
    program = _opened()[0].instance.program
    assert lowered(program).fluents_read((program.derives["linked"].value,)) == {"door"}


def test_a_state_in_which_something_died_is_laid_out_alike() -> None:
    text = """
    type Thing  type Log : Thing { wet: bool = true }  type Hero
    actor me: Hero
    action burn(x: Log) { destroy x }
    world w {
      object hero: Hero
      object log, stick: Log
      goal g: count(true for x: Log) == 0
    }
    """
    engine = open_text((Source("logs.tw", None, text),), "w").engine
    start = engine.start()
    simulator = EngineSimulator(engine, start)
    burnt, _ = engine.play(start, simulator.commands(start)[0])
    assert engine.searcher(burnt) is engine.searcher(start)
    assert len(simulator.commands(burnt)) == 1


def test_states_that_differ_in_what_play_never_writes_share_their_code() -> None:
    """Rows of different places are states of one world; rules are not compiled for each."""
    text = (
        "type Hero { deep: 0 to 9 = 0  wet: bool }\nactor me: Hero\n"
        'action dive() as "dive" { require me.deep > 2 else shallow "No."  me.wet = true }\n'
        "world pool { endless  object hero: Hero }\n"
    )
    engine, dive = open_text((Source("pool.tw", None, text),), "pool").engine, Command("dive", ())
    shown: Any = engine.json(engine.start())
    steppers, statuses = list[object](), list[str]()
    for deep in (1, 5, 2, 7):
        shown["objects"][0]["attrs"]["deep"] = deep
        state = engine.restored(shown)
        steppers.append(engine.on_row(state, lambda stepper, row: stepper))
        _, outcomes = engine.play(state, dive)
        statuses.append(outcomes[0].status)
    assert statuses == ["refused", "executed", "refused", "executed"]
    assert len(set(map(id, steppers))) == 1
