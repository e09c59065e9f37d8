"""This project's engine on PDDL pairs: the interpreter, and the search on it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import ours_grounding as grounding
import ours_kernel as kernel
from shared import Classical, Json, once, serve

from tokenworld.engine import EngineSimulator, SeededLuck
from tokenworld.ground import Command
from tokenworld.planning import Exhausted, Limits
from tokenworld.planning.explore.packed import PLAYING, Packed
from tokenworld.planning.explore.search import PackedSearch
from tokenworld.planning.explore.whole import packed
from tokenworld.session.importing import load_pddl
from tokenworld.session.loading import compile_world


def endless(world: Packed) -> Packed:
    """No goal is ever reached: a search sees all there is."""
    return replace(world, ends=lambda state: PLAYING)


class Ours(Classical):
    stores = (
        "a world that is changed in place, and the journal of each tick: every change with its "
        "rule, the old and the new value, which undoes it; facts as bits of one number, of which "
        "columns and indexes are told when they are asked for"
    )

    def begin(self, domain: str, problem: str) -> None:
        loaded = load_pddl(Path(domain), (Path(problem),))
        self._world = next(iter(loaded.program.worlds.values()))
        self._program = loaded.program
        self._engine = compile_world(loaded.program, replace(self._world, outcomes="live"))
        self._first = self._engine.start()
        self._luck = SeededLuck()
        self._holds = {name: code.holds for name, code in self._engine.code.actions.items()}
        self._actions = {name.lower(): name for name in loaded.program.actions}
        self._numbers = {name.lower(): at for name, at in self._first.numbers.items()}

    def start(self) -> Any:
        return self._first

    def action(self, words: str) -> Command:
        name, *args = words.split()
        return Command(self._actions[name], tuple(self._numbers[one] for one in args))

    def say(self, handle: Command) -> str:
        names = self._first.names
        return " ".join((handle.action, *(names[one] for one in handle.args)))  # type: ignore[index]

    def facts(self, state: Any) -> Iterable[str]:
        for name, rows in self._engine.json(state)["relations"].items():  # type: ignore[union-attr]
            yield from (" ".join((name, *row)) for row in rows)

    def apply(self, state: Any, handle: Command) -> Any:
        result = self._engine.stepper.tick(state, handle, self._luck)[-1]
        return result.after if result.status == "executed" else None

    def run(self, handles: list[Command]) -> None:
        """In place: `facts` of the states that are compared come from the general way."""
        apply = self._engine.live(self._first).apply
        for handle in handles:
            apply(handle)

    def applicable(self, state: Any, handle: Command) -> bool:
        return self._holds[handle.action](state, state, None, *handle.args)

    def legal(self, state: Any) -> list[Command]:
        return list(self._engine.legal(state))

    def explore(self, domain: str, problem: str) -> Json:
        """All reachable states by our search on packed states, with parents and a test of the goal
        that is never met; plain Python, as theirs."""
        self.begin(domain, problem)
        simulator, world = self._packed()
        onward = endless(world)
        seconds, result = once(lambda: PackedSearch(simulator, onward, self._first).run(Limits()))
        assert isinstance(result, Exhausted)
        return {"seconds": seconds / result.states, "digest": str(result.states)}

    def solve(self, domain: str, problem: str) -> Json:
        """A shortest plan by the compiled explorer; seconds for each state that was generated."""
        return kernel.solved(*self._begun(domain, problem))

    def layers(self, domain: str, problem: str, depth: int) -> Json:
        """All states up to a depth by the compiled explorer; seconds for each state."""
        return kernel.layers(*self._begun(domain, problem), depth)

    def weigh(self, domain: str, problem: str, depth: int) -> Json:
        """The bytes that a state takes: how much the process grew while it searched."""
        return kernel.weighed(*self._begun(domain, problem), depth)

    def forward(self, domain: str, problem: str, states: int) -> Json:
        """All states, as far as so many; no edges are kept."""
        return kernel.forward(*self._begun(domain, problem), states)

    def analyse(self, domain: str, problem: str, states: int) -> Json:
        """The same states with their edges, and from which of them the goal is out of reach."""
        return kernel.analysed(*self._begun(domain, problem), states)

    def _begun(self, domain: str, problem: str) -> tuple[EngineSimulator, Packed, Any]:
        self.begin(domain, problem)
        simulator, world = self._packed()
        return simulator, world, self._first

    def _packed(self) -> tuple[EngineSimulator, Packed]:
        engine = compile_world(self._program, self._world)
        self._first = engine.start()
        simulator = EngineSimulator(engine, self._first)
        world = packed(simulator, self._first, None)
        assert world is not None
        return simulator, world

    def translate(self, domain: str, problem: str) -> Json:
        """From the texts to a SAS+ task; told by the ground actions it keeps."""
        return grounding.translated(domain, problem)

    def ground(self, domain: str, problem: str) -> Json:
        """The ground actions and facts that can be met; told by their names."""
        return grounding.grounded(domain, problem)


if __name__ == "__main__":
    serve(Ours())
