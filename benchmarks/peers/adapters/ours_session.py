"""A world played through a session, with the names in the README.

An earlier program runs this file too, so it uses only public names.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from shared import Json, digest, once, serve, timed, uncollected

from tokenworld import Session

SEED = 1


class Played:
    def load(self, target: str, traces: Sequence[Sequence[str]] = ()) -> Json:
        """Open a world, and look up the commands of each trace by playing it in another session, so
        that no state is known before it is timed."""
        self._other = Session.open(target, SEED).world
        self._traces = [self._commands(trace) for trace in traces]
        self._world = Session.open(target, SEED).world
        return {"digest": _shown(Session(self._world, SEED))}

    def draw(self, ticks: int, count: int) -> Json:
        """Traces of random legal commands, as calls."""
        return {"traces": [self._drawn(ticks, number) for number in range(count)]}

    def intend(self, number: int) -> Json:
        """Play a new trace, and read each record."""
        session, commands = Session(self._world, SEED), self._traces[number]
        seconds, records = once(lambda: [_given(session, one) for one in commands])
        told = [_record(one.to_json()) for one, _ in records]
        return {"seconds": seconds / len(commands), "digest": digest([*told, _shown(session)])}

    def legal(self, number: int) -> Json:
        """The legal commands with their words, in each state of a trace."""
        session, commands = Session(self._world, SEED), self._traces[number]
        lists, spent = [], 0.0
        with uncollected():
            for command in commands:
                seconds, listed = timed(session.legal)
                spent += seconds
                lists.append("; ".join(f"{one.call} {one.text}" for one in listed))
                session.intend(command)
        return {"seconds": spent / len(commands), "digest": digest(lists)}

    def _drawn(self, ticks: int, number: int) -> list[str]:
        session, chosen = Session(self._other, SEED), random.Random(number)
        trace: list[str] = []
        while len(trace) < ticks and (listed := session.legal()):
            one = chosen.choice(listed)
            trace.append(one.call)
            session.intend(one.command)
        return trace

    def _commands(self, trace: Sequence[str]) -> list[Any]:
        session, found = Session(self._other, SEED), []
        for call in trace:
            command = next(one.command for one in session.legal() if one.call == call)
            found.append(command)
            session.intend(command)
        return found


def _given(session: Session, command: Any) -> Any:
    """The last record of a command, with its words."""
    one = session.intend(command)[-1]
    return one, (one.changes, one.law_changes, one.said, one.hash_after)


def _record(told: Json) -> str:
    """The contents of a record, without hashes and random draws."""
    return f"{told['status']} {told['changes']} {told['law_changes']} {told['said']}"


def _shown(session: Session) -> str:
    """The objects of the world. Records have their changes."""
    objects: Any = session.state_json()["objects"]
    return digest(f"{one['name']}: {one['type']}" for one in objects)


if __name__ == "__main__":
    serve(Played())
