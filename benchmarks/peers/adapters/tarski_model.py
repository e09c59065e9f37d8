"""tarski: a model of first-order logic, progressed by ground operators."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from shared import Classical, serve
from tarski.grounding.naive_grounding import NaiveGroundingStrategy
from tarski.io import PDDLReader
from tarski.search.operations import is_applicable, progress
from tarski.syntax.transform.action_grounding import (
    ground_schema_into_plain_operator_from_grounding as grounded,
)


class Tarski(Classical):
    stores = "a state is a model, copied whole for every action; no journal"

    def begin(self, domain: str, problem: str) -> None:
        task = PDDLReader(raise_on_error=True).read_problem(domain, problem)
        self._first = task.init
        bindings = NaiveGroundingStrategy(task).ground_actions()
        self._words: dict[int, str] = {}
        self._operators = {}
        for name, every in bindings.items():
            for binding in every:
                words = " ".join((name, *(_plain(one) for one in binding)))
                operator = grounded(task.get_action(name), binding)
                self._operators[words] = operator
                self._words[id(operator)] = words

    def start(self) -> Any:
        return self._first

    def action(self, words: str) -> Any:
        return self._operators[words]

    def say(self, handle: Any) -> str:
        return self._words[id(handle)]

    def facts(self, state: Any) -> Iterable[str]:
        for atom in state.as_atoms():
            yield " ".join((atom.predicate.name, *(_plain(one) for one in atom.subterms)))

    def apply(self, state: Any, handle: Any) -> Any:
        return progress(state, handle) if is_applicable(state, handle) else None

    def applicable(self, state: Any, handle: Any) -> bool:
        return bool(is_applicable(state, handle))

    def legal(self, state: Any) -> list[Any]:
        return [one for one in self._operators.values() if is_applicable(state, one)]


def _plain(constant: Any) -> str:
    return str(getattr(constant, "name", constant))


if __name__ == "__main__":
    serve(Tarski())
