"""PDDLGym: its environment with operators as actions."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pddlgym.core import InvalidAction, PDDLEnv
from pddlgym.structs import Literal
from shared import Classical, serve


class PDDLGym(Classical):
    def begin(self, domain: str, problem: str) -> None:
        folder = Path(tempfile.mkdtemp(prefix="pddlgym-"))
        shutil.copy(problem, folder)
        self._env = PDDLEnv(
            domain,
            str(folder),
            operators_as_actions=True,
            dynamic_action_space=True,
            raise_error_on_invalid_action=True,
        )
        self._first, _ = self._env.reset()
        shutil.rmtree(folder)
        self._objects = {one.name.lower(): one for one in self._first.objects}
        self._predicates = {one.name.lower(): one for one in self._env.action_predicates}

    def start(self) -> Any:
        return self._first

    def action(self, words: str) -> Any:
        name, *args = words.split()
        return Literal(self._predicates[name], [self._objects[one] for one in args])

    def say(self, handle: Any) -> str:
        return " ".join((handle.predicate.name, *(one.name for one in handle.variables)))

    def facts(self, state: Any) -> Iterable[str]:
        for one in state.literals:
            yield " ".join((one.predicate.name, *(arg.name for arg in one.variables)))

    def apply(self, state: Any, handle: Any) -> Any:
        self._env.set_state(state)
        try:
            return self._env.step(handle)[0]
        except InvalidAction:
            return None

    def legal(self, state: Any) -> list[Any]:
        return list(self._env.action_space.all_ground_literals(state))


if __name__ == "__main__":
    serve(PDDLGym())
