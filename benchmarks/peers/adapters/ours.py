"""This project's engine on PDDL pairs: the interpreter, and the search on it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from shared import Classical, Json, once, serve, told

from tokenworld.engine import EngineSimulator, SeededLuck
from tokenworld.ground import Command
from tokenworld.planning import Found, Limits, Search
from tokenworld.planning.lower.encode import Encoding, encode
from tokenworld.session.importing import load_pddl
from tokenworld.session.loading import compile_world


class Endless(EngineSimulator):
    """No goal is ever reached: a search sees all there is."""

    def won(self, state: object, goal: str | None) -> bool:
        return False


class Ours(Classical):
    stores = (
        "a journalled tick: each state keeps columns shared with the one before, and every change "
        "with its rule, the old and the new value"
    )

    def begin(self, domain: str, problem: str) -> None:
        loaded = load_pddl(Path(domain), (Path(problem),))
        self._world = next(iter(loaded.program.worlds.values()))
        self._program = loaded.program
        self._engine = compile_world(loaded.program, replace(self._world, outcomes="live"))
        self._first = self._engine.start()
        self._luck = SeededLuck()
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

    def applicable(self, state: Any, handle: Command) -> bool:
        return self._engine.code.actions[handle.action].holds(state, state, None, *handle.args)

    def legal(self, state: Any) -> list[Command]:
        return list(self._engine.legal(state))

    def explore(self, domain: str, problem: str) -> Json:
        """All reachable states by our search, with parents and the test of the goal."""
        self.begin(domain, problem)
        simulator = Endless(self._engine, self._first)
        seconds, result = once(lambda: Search(simulator, self._first, None).run(Limits()))
        assert not isinstance(result, Found)
        return {"seconds": seconds / result.expanded, "digest": str(result.states)}

    def solve(self, domain: str, problem: str) -> Json:
        """A shortest plan; seconds for each state that was seen."""
        self.begin(domain, problem)
        simulator = EngineSimulator(self._engine, self._first)
        seconds, result = once(lambda: Search(simulator, self._first, None).run(Limits()))
        assert isinstance(result, Found)
        return {
            "seconds": seconds / result.states,
            "digest": str(len(result.steps)),
            "count": result.states,
        }

    def translate(self, domain: str, problem: str) -> Json:
        """From the texts to the SAS+ task of encoding E; told by the ground actions it keeps."""
        seconds, found = once(lambda: self._translated(domain, problem))
        if not isinstance(found, Encoding):
            return {"error": "; ".join(str(one) for one in found.obstacles)[:200]}
        kept = (self.say(one.command) for one in found.task.operators if one.command)
        return {"seconds": seconds, **told(kept)}

    def _translated(self, domain: str, problem: str) -> Any:
        self.begin(domain, problem)
        engine = compile_world(self._program, self._world)
        first = engine.start()
        return encode(engine.instance, EngineSimulator(engine, first), first, None)


if __name__ == "__main__":
    serve(Ours())
