"""Transition tables of the toy-text worlds, worked out by the interpreter, state by state.

A table has the form of gymnasium's ``env.unwrapped.P``: for each state and each action, in that
program's numbering, its outcomes as (probability, next state, reward, terminated).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tokenworld.engine import EngineSimulator, ForcedLuck, State
from tokenworld.ground import Command
from tokenworld.session import Session, open_world

Outcome = tuple[Fraction, int, int, bool]
Table = dict[int, dict[int, tuple[Outcome, ...]]]
Facts = Mapping[str, str | bool | None]
"""Values of attributes by ``object.attribute``."""

NORTH, EAST, SOUTH, WEST = range(4)
PADS = ("red", "green", "yellow", "blue")


@dataclass(frozen=True)
class Toy:
    """How a world's states and commands are numbered: ``facts`` writes a number, ``number`` reads
    a state back. ``halts``: the states at the end are entered as ended, as play enters them."""

    world: str
    states: int
    actions: tuple[Command, ...]
    facts: Callable[[int], Facts]
    number: Callable[[Session, State], int]
    params: tuple[tuple[str, bool], ...] = ()
    halts: bool = False


def table_of(toy: Toy) -> Table:
    """The outcomes of every action in every state, unreachable ones included."""
    session = Session(open_world(toy.world, dict(toy.params)))
    shown = session.state_json()
    found: Table = {}
    for number in range(toy.states):
        state = placed(session, shown, toy, number)
        found[number] = {
            index: outcomes(session, toy, state, command)
            for index, command in enumerate(toy.actions)
        }
    return found


def placed(session: Session, shown: dict[str, Any], toy: Toy, number: int) -> State:
    """The state with this number; over, if the world halts there and not only on the way in."""
    holders = {one["name"]: one["attrs"] for one in shown["objects"]}
    for path, value in toy.facts(number).items():
        name, attribute = path.split(".")
        holders[name][attribute] = value
    state = session.engine.restored(shown)
    if toy.halts:
        session.engine.progressed(state)
    return state


def outcomes(session: Session, toy: Toy, state: State, command: Command) -> tuple[Outcome, ...]:
    """The results of one command, those that differ in luck alone added up, in order."""
    engine, odds = session.engine, Counter[tuple[int, int, bool]]()
    every = EngineSimulator(engine, state).successors(state, command)
    lucks = [(one.draws, one.probability) for one in every] or [((), Fraction(1))]
    for draws, probability in lucks:
        after, records = engine.play(state, command, ForcedLuck(draws))
        ended = bool(engine.reached(after))
        reward = records[-1].reward
        assert isinstance(reward, int)
        odds[toy.number(session, after), reward, ended] += probability  # type: ignore[assignment]
    return tuple(sorted((Fraction(odds[key]), *key) for key in odds))


# ---- the three worlds -----------------------------------------------------------------------


def _moves(*order: int) -> tuple[Command, ...]:
    return tuple(Command("move", (direction,)) for direction in order)


def _tile(width: int, number: int) -> str:
    return f"tile_{number % width}_{number // width}"


def _at(session: Session, state: State, kind: str, width: int) -> int:
    simulator, me = EngineSimulator(session.engine, state), state.me
    assert me is not None
    tile = simulator.read(state, f"{kind}.at", (me,))
    assert isinstance(tile, int)
    _, x, y = state.names[tile].split("_")
    return int(y) * width + int(x)


def cliff(slippery: bool) -> Toy:
    """CliffWalking: 48 tiles; actions up, right, down, left."""
    return Toy(
        "cliff_walking",
        48,
        _moves(NORTH, EAST, SOUTH, WEST),
        lambda number: {"walker.at": _tile(12, number)},
        lambda session, state: _at(session, state, "Walker", 12),
        (("slippery", slippery),),
    )


def lake(world: str, width: int, slippery: bool) -> Toy:
    """FrozenLake: actions left, down, right, up."""
    return Toy(
        world,
        width * width,
        _moves(WEST, SOUTH, EAST, NORTH),
        lambda number: {"skater.at": _tile(width, number)},
        lambda session, state: _at(session, state, "Skater", width),
        (("slippery", slippery),),
        halts=True,
    )


def _taxi_facts(number: int) -> Facts:
    rest, destination = divmod(number, 4)
    tile, waits = divmod(rest, 5)
    return {
        "cab.at": _tile(5, tile),
        "passenger.waits": PADS[waits] if waits < 4 else None,
        "passenger.goes_to": PADS[destination],
    }


def _taxi_number(session: Session, state: State) -> int:
    simulator, who = EngineSimulator(session.engine, state), state.numbers["passenger"]
    waits, to = (simulator.read(state, f"Passenger.{at}", (who,)) for at in ("waits", "goes_to"))
    assert isinstance(to, int)
    assert waits is None or isinstance(waits, int)
    place = 4 if waits is None else PADS.index(state.names[waits])
    return (_at(session, state, "Taxi", 5) * 5 + place) * 4 + PADS.index(state.names[to])


def taxi() -> Toy:
    """Taxi: 25 tiles, 4 stands and the taxi, 4 destinations; south, north, east, west, two more."""
    passenger = Session.open("taxi").state.numbers["passenger"]
    drives = tuple(Command("drive", (way,)) for way in (SOUTH, NORTH, EAST, WEST))
    handle = (Command("pick_up", (passenger,)), Command("drop_off", (passenger,)))
    return Toy("taxi", 500, (*drives, *handle), _taxi_facts, _taxi_number)
