"""unified-planning's `SequentialSimulator`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from shared import Classical, serve
from unified_planning.io import PDDLReader
from unified_planning.shortcuts import SequentialSimulator


class Simulator(Classical):
    def begin(self, domain: str, problem: str) -> None:
        self._problem = PDDLReader().parse_problem(domain, problem)
        self._simulator = SequentialSimulator(self._problem)
        self._names = {one.name: one for one in self._problem.all_objects}
        self._slots = [
            (one, " ".join((one.fluent().name, *(str(arg) for arg in one.args))))
            for one in self._problem.initial_values
            if one.fluent().name in self.changing
        ]

    def start(self) -> Any:
        return self._simulator.get_initial_state()

    def action(self, words: str) -> Any:
        name, *args = words.split()
        action = self._problem.action(name)
        manager = self._problem.environment.expression_manager
        return action, tuple(manager.ObjectExp(self._names[one]) for one in args)

    def say(self, handle: Any) -> str:
        action, args = handle
        return " ".join((action.name, *(str(one) for one in args)))

    def facts(self, state: Any) -> Iterable[str]:
        return (words for fluent, words in self._slots if state.get_value(fluent).is_true())

    def apply(self, state: Any, handle: Any) -> Any:
        return self._simulator.apply(state, *handle)

    def legal(self, state: Any) -> list[Any]:
        return list(self._simulator.get_applicable_actions(state))


if __name__ == "__main__":
    serve(Simulator())
