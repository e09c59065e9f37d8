"""Worlds as text to simulators and exports, and the comparison of interpreter and PDDL."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from pddl_machine import Machine
from pddl_machine import State as PddlState

from tokenworld.check import check_source
from tokenworld.diagnostics import Source
from tokenworld.engine import Engine, EngineSimulator, State
from tokenworld.ground import Command, Raw, instantiate, param_values
from tokenworld.planning.pddl.export import Encode, PddlExport, export_pddl
from tokenworld.prose.wording import EnglishProse

View = tuple[frozenset[tuple[str, ...]], frozenset[tuple[tuple[str, ...], object]]]


def world(text: str) -> EngineSimulator:
    checked = check_source(Source("w.tw", None, text))
    assert checked.program is not None, checked.diagnostics
    program = checked.program
    first = next(iter(program.worlds.values()))
    instance = instantiate(program, first, param_values(program, first, {}))
    return EngineSimulator(Engine(instance, EnglishProse()))


def export(
    simulator: EngineSimulator,
    state: State | None = None,
    goal: str | None = None,
    encode: Encode | None = None,
) -> PddlExport:
    now = simulator.start() if state is None else state

    def value(fluent: str, args: tuple[Raw, ...]) -> Raw:
        return simulator.read(now, fluent, args)

    return export_pddl(simulator.instance, value, goal, encode)


def view(state: PddlState) -> View:
    """A state without the fluents that costs add."""
    numbers = frozenset((atom, value) for atom, value in state.numbers if atom != ("total-cost",))
    return state.facts, numbers


def finished(machine: Machine, state: PddlState, names: Callable[[str], bool]) -> list[PddlState]:
    """The states after all forced steps."""
    found = [state]
    while any(("tw-turn", "tw-act") not in one.facts for one in found):
        found = [after for one in found for name, _, after in machine.steps(one) if names(name)]
    return found


def results_in_pddl(exported: PddlExport) -> dict[Command, set[View]]:
    machine = Machine(exported.domain, exported.problem)
    phased = any(fact[0] == "tw-turn" for fact in machine.start.facts)
    found: dict[Command, set[View]] = {}

    def forced(name: str) -> bool:
        return exported.names.steps[name].action is None

    for name, args, after in machine.steps(machine.start):
        command = exported.names.command(name, args)
        assert command is not None
        ends = finished(machine, after, forced) if phased else [after]
        if ends:
            found.setdefault(command, set()).update(view(one) for one in ends)
    return found


def results_in_engine(
    simulator: EngineSimulator, state: State, more: Iterable[Command]
) -> dict[Command, set[View]]:
    """The results of the commands that take time, and of ``more`` (free ones, say)."""
    found: dict[Command, set[View]] = {}
    for command in dict.fromkeys((*simulator.commands(state), *more)):
        for successor in simulator.successors(state, command):
            after = export(simulator, successor.state)
            start = Machine(after.domain, after.problem).start
            found.setdefault(command, set()).add(view(start))
    return found


def agree(text: str, limit: int = 40) -> int:
    """Compare interpreter and PDDL on every reached state; the number of states."""
    simulator = world(text)
    start = simulator.start()
    seen, waiting, count = {simulator.key(start)}, [start], 0
    domain = export(simulator, start).domain
    while waiting and count < limit:
        state = waiting.pop(0)
        count += 1
        exported = export(simulator, state)
        assert exported.form == "lifted"
        assert exported.domain == domain
        machine = Machine(exported.domain, exported.problem)
        won = any(line.name in state.latched for line in simulator.instance.world.goals)
        assert machine.won(machine.start) == won
        if simulator.won(state, None) or simulator.lost(state):
            continue
        results = results_in_pddl(exported)
        assert results == results_in_engine(simulator, state, results)
        for command in simulator.commands(state):
            for successor in simulator.successors(state, command):
                if simulator.key(successor.state) not in seen:
                    seen.add(simulator.key(successor.state))
                    waiting.append(successor.state)
    return count
