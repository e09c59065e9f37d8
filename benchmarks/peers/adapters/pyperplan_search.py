"""pyperplan: its grounded task, and its breadth-first search."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pyperplan.planner import _ground, _parse
from pyperplan.search import breadth_first_search, searchspace
from shared import Classical, Json, once, serve


class Pyperplan(Classical):
    stores = "a state is a frozen set of strings; no journal"

    def begin(self, domain: str, problem: str) -> None:
        parsed = _parse(domain, problem)
        self._task = _ground(parsed, remove_irrelevant_operators=False)
        self._by_name = {one.name: one for one in self._task.operators}

    def start(self) -> Any:
        return self._task.initial_state

    def action(self, words: str) -> Any:
        return self._by_name[f"({words})"]

    def say(self, handle: Any) -> str:
        return str(handle.name).strip("()")

    def facts(self, state: Any) -> Iterable[str]:
        return (one.strip("()") for one in state)

    def apply(self, state: Any, handle: Any) -> Any:
        return handle.apply(state) if handle.applicable(state) else None

    def applicable(self, state: Any, handle: Any) -> bool:
        return bool(handle.applicable(state))

    def legal(self, state: Any) -> list[Any]:
        return [one for one in self._task.operators if one.applicable(state)]

    def explore(self, domain: str, problem: str) -> Json:
        """Its own breadth-first search for a goal that is never met."""
        self.begin(domain, problem)
        seen: list[Any] = []
        made = searchspace.make_child_node

        def counted(*node: Any) -> Any:
            seen.append(None)
            return made(*node)

        self._task.goals = frozenset({"(never)"})
        searchspace.make_child_node = counted  # one call a new state, as long as states are counted
        breadth_first_search(self._task)
        searchspace.make_child_node = made
        states = len(seen) + 1
        seconds, _ = once(lambda: breadth_first_search(self._task))
        return {"seconds": seconds / states, "digest": str(states)}


if __name__ == "__main__":
    serve(Pyperplan())
