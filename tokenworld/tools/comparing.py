"""Two worlds explored side by side: do they behave alike?

They are alike in a pair of states if the same actions with
the same arguments are possible, each with the same results, and the goal holds in both or in
neither. States are compared by what is true in them: facts and values by name and object names,
without regard to case. The first difference on a shortest way from the start is the answer.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Literal

from tokenworld.engine import EngineSimulator, State
from tokenworld.engine.births import creates, play_bodies
from tokenworld.ground import Command, show_value, slots, written
from tokenworld.model import Fluent, Program, World
from tokenworld.planning.pddl.plain import plain_domain
from tokenworld.session.loading import compile_world

__all__ = ["Answer", "Call", "Comparison", "Difference", "Side", "compare"]

_WALK = 100
"""Steps of a random walk at most."""

Facts = frozenset[tuple[str, tuple[str, ...], object]]
Call = tuple[str, tuple[str, ...]]
Answer = Literal["equivalent", "no difference found", "different"]


# ---- one side -----------------------------------------------------------------------------------


class Side:
    """One of the two worlds, in names that both understand.

    A world whose endings are all goals goes on behind them, as a PDDL task does.
    """

    def __init__(self, program: Program, world: World) -> None:
        goals_only = all(line.ending == "goal" for line in world.endings)
        open_ended = replace(world, outcomes="live") if goals_only else world
        self.engine = compile_world(program, open_ended)
        self.simulator = EngineSimulator(self.engine, self.engine.start())
        self.exact = self.simulator.exact_key() or plain_domain(program) is not None
        bodies, fluents = play_bodies(program), dict(program.fluents)
        changing = frozenset(key for body in bodies for key in written(fluents, body))
        if creates(bodies):
            changing = frozenset(fluents)
        self._moving = [one for one in fluents.values() if one.id in changing]
        self._fixed = [one for one in fluents.values() if one.id not in changing]
        self._known: dict[object, Facts] = {}
        self._still: Facts = frozenset()

    def start(self) -> State:
        return self.engine.start()

    def facts(self, state: State) -> Facts:
        """What is true: facts, and values that are not `none`."""
        key = self.simulator.key(state)
        found = self._known.get(key)
        if found is None:
            if not self._known:
                self._still = frozenset(self._holding(state, self._fixed))
            found = self._still.union(self._holding(state, self._moving))
            self._known[key] = found
        return found

    def _holding(self, state: State, fluents: Sequence[Fluent]) -> Facts:
        instance = self.simulator.instance_at(state)
        names = [one.name for one in instance.objects]
        found: set[tuple[str, tuple[str, ...], object]] = set()
        for fluent in fluents:
            kinds = [param.type for param in fluent.params]
            for args in slots(instance, fluent):
                raw = self.simulator.read(state, fluent.id, args)
                value = show_value(instance.program, names, fluent.type, raw)
                if value is None or value is False:
                    continue
                shown = (
                    str(show_value(instance.program, names, of, arg)).lower()
                    for of, arg in zip(kinds, args, strict=True)
                )
                plain = value.lower() if isinstance(value, str) else value
                found.add((fluent.name.lower(), tuple(shown), plain))
        return frozenset(found)

    def results(self, state: State) -> dict[Call, tuple[State, ...]]:
        """The possible calls, each with its results."""
        instance = self.simulator.instance_at(state)
        names = [one.name for one in instance.objects]
        found: dict[Call, tuple[State, ...]] = {}
        for command in self.simulator.commands(state):
            reached = self.simulator.successors(state, command)
            if reached:
                call = self._call(command, names)
                found[call] = tuple(one.state for one in reached)
        return found

    def _call(self, command: Command, names: Sequence[str]) -> Call:
        if command.is_pass:
            return "tw-pass", ()
        program = self.simulator.instance.program
        params = program.actions[command.action].params
        shown = (
            str(show_value(program, names, param.type, arg)).lower()
            for param, arg in zip(params, command.args, strict=True)
        )
        return command.action.lower(), tuple(shown)


# ---- the comparison -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Difference:
    """Where two worlds part: the way there, the call (``None``: the state itself), both outcomes.

    An outcome is ``None`` where the call is not possible, else what becomes true and false, once
    for each result of chance.
    """

    path: tuple[Call, ...]
    call: Call | None
    left: tuple[str, ...] | None
    right: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class Comparison:
    answer: Answer
    states: int
    difference: Difference | None = None


@dataclass(frozen=True, slots=True)
class _Pair:
    """A state of each side that were reached in the same way and are alike."""

    left: State
    right: State
    facts: Facts
    path: tuple[Call, ...]


def compare(left: Side, right: Side, *, limit: int, walks: int) -> Comparison:
    """All reachable states up to ``limit``; where there are more, random walks besides."""
    here, there = left.start(), right.start()
    facts = left.facts(here)
    found = _unlike(left, right, here, there, ())
    if found is not None:
        return Comparison("different", 1, found)
    first = _Pair(here, there, facts, ())
    seen = {_key(left, right, first)}
    queue = deque([first])
    while queue and len(seen) <= limit:
        pair = queue.popleft()
        for step in _steps(left, right, pair):
            if isinstance(step, Difference):
                return Comparison("different", len(seen), step)
            key = _key(left, right, step)
            if key not in seen:
                seen.add(key)
                queue.append(step)
    if not queue and left.exact and right.exact:
        return Comparison("equivalent", len(seen))
    return _walk(left, right, first, seen, walks)


def _walk(left: Side, right: Side, first: _Pair, seen: set[object], walks: int) -> Comparison:
    """Walks that go where the exploration did not come; the same ones every time."""
    random = Random(0)
    for _ in range(walks):
        pair = first
        for _ in range(_WALK):
            steps = list(_steps(left, right, pair))
            parted = next((step for step in steps if isinstance(step, Difference)), None)
            if parted is not None:
                return Comparison("different", len(seen), parted)
            onward = [step for step in steps if isinstance(step, _Pair)]
            if not onward:
                break
            pair = random.choice(onward)
            seen.add(_key(left, right, pair))
    return Comparison("no difference found", len(seen))


def _key(left: Side, right: Side, pair: _Pair) -> object:
    return left.simulator.key(pair.left), right.simulator.key(pair.right)


def _steps(left: Side, right: Side, pair: _Pair) -> Iterator[_Pair | Difference]:
    """What follows on both sides, in the order of names; ends with the first difference."""
    one, other = left.results(pair.left), right.results(pair.right)
    for call in sorted(one.keys() | other.keys()):
        path = (*pair.path, call)
        mine = {left.facts(state): state for state in one.get(call, ())}
        theirs = {right.facts(state): state for state in other.get(call, ())}
        if mine.keys() != theirs.keys():
            shown = (_outcome(pair.facts, mine), _outcome(pair.facts, theirs))
            yield Difference(pair.path, call, *shown)
            return
        for facts in sorted(mine, key=_sorted):
            found = _unlike(left, right, mine[facts], theirs[facts], path)
            if found is not None:
                yield found
                return
            yield _Pair(mine[facts], theirs[facts], facts, path)


def _unlike(
    left: Side, right: Side, here: State, there: State, path: tuple[Call, ...]
) -> Difference | None:
    """What two states differ in: facts, or whether the goal is reached."""
    one, other = left.facts(here), right.facts(there)
    if one != other:
        only = (tuple(_shown(one - other)), tuple(_shown(other - one)))
        return Difference(path, None, *only)
    won = left.simulator.won(here, None), right.simulator.won(there, None)
    if won[0] != won[1]:
        said = {True: ("the goal is reached",), False: ("the goal is not reached",)}
        return Difference(path, None, said[won[0]], said[won[1]])
    return None


def _sorted(facts: Facts) -> list[str]:
    return sorted(map(str, facts))


def _shown(facts: Facts) -> Iterator[str]:
    for name, args, value in sorted(facts, key=str):
        atom = f"{name}({', '.join(args)})"
        yield atom if value is True else f"{atom} = {value}"


def _outcome(before: Facts, after: dict[Facts, State]) -> tuple[str, ...] | None:
    if not after:
        return None
    found: list[str] = []
    for facts in sorted(after, key=_sorted):
        news = [f"+ {fact}" for fact in _shown(facts - before)]
        gone = [f"- {fact}" for fact in _shown(before - facts)]
        found.append(", ".join((*news, *gone)) or "nothing changes")
    return tuple(found)
