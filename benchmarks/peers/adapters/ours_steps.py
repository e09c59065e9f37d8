"""This project's sessions on PDDL pairs: commands, and the list of commands, without texts."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from shared import Classical, serve

from tokenworld import Session
from tokenworld.ground import Command
from tokenworld.session.pddl import open_pddl


class Steps(Classical):
    """A state is a session. Each walk opens the pair again, so no state is known before."""

    def begin(self, domain: str, problem: str) -> None:
        self._files = Path(domain), Path(problem)
        self._names = self.start().state.names

    def start(self) -> Session:
        session = Session(open_pddl(*self._files))
        session.remembers = False  # nothing asks for its words or takes a step back
        self._actions = {name.lower(): name for name in session.world.program.actions}
        self._numbers = {name.lower(): at for name, at in session.state.numbers.items()}
        return session

    def action(self, words: str) -> Command:
        name, *args = words.split()
        return Command(self._actions[name], tuple(self._numbers[one] for one in args))

    def say(self, handle: Command) -> str:
        return " ".join((handle.action, *(self._names[one] for one in handle.args)))  # type: ignore[index]

    def facts(self, state: Session) -> Iterable[str]:
        rows: Any = state.state_json()["relations"]
        for name, every in rows.items():
            yield from (" ".join((name, *row)) for row in every)

    def apply(self, state: Session, handle: Command) -> Session | None:
        return state if state.intend(handle)[-1].status == "executed" else None

    def legal(self, state: Session) -> list[Command]:
        return list(state.known.commands(state.state))


if __name__ == "__main__":
    serve(Steps())
