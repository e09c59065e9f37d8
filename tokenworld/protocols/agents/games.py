"""Games that agents play: at most `MOST` at once, each a `Session` with a limit of steps.

A player sees only public facts: secrets stay hidden. Games stay in this process, so a step runs
one tick without a restart. One call at a time uses a game.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

import anyio
import anyio.to_thread

from tokenworld.diagnostics import Reach, counted, reaching, usage
from tokenworld.protocols.agents.results import Commands, Hinted, Reasons, Seen, Told
from tokenworld.session import Session, open_world
from tokenworld.session.refusals.explained import explained, explained_record, with_way
from tokenworld.session.remote import observation
from tokenworld.session.session import hint
from tokenworld.session.solving import check_goal
from tokenworld.verbs.output import UNICODE, plain_text
from tokenworld.verbs.refusals.lines import RefusalLines

MOST: Final = 16
STEPS: Final = 500
"""Commands that one game takes; undone ones count."""

T = TypeVar("T")
Shown = tuple[Any, str]
"""A typed result and its text."""


@dataclass(slots=True)
class Game:
    """One game, and the number of commands that it has taken."""

    number: int
    session: Session
    steps: int = 0
    lock: anyio.Lock = field(default_factory=anyio.Lock)

    def seen(self) -> Shown:
        """Return the current view of the player."""
        session = self.session
        outcomes = session.moments[-1].outcomes
        status = outcomes[-1].status if outcomes else None
        found = explained_record(session, outcomes[-1]) if outcomes else None
        seen = Seen(
            self.number, session.tick, session.actor, status, session.ended(),
            list(session.latched), STEPS - self.steps, None if found is None else found.to_json(),
        )  # fmt: skip
        return seen, observation(session)


class Games:
    """The open games by number."""

    def __init__(self) -> None:
        self._games: dict[int, Game] = {}
        self._opened = 0

    def require_room(self) -> None:
        """Raise `Failure` (TW0006) if no further game can be opened."""
        if len(self._games) >= MOST:
            names = ", ".join(map(str, self._games))
            raise usage(f"{MOST} games are open: {names}.", "Close one of them with `close`.")

    async def open(self, target: str, reach: Reach, seed: int) -> Shown:
        """Open a new game of a checked world."""
        self.require_room()

        def opened() -> Session:
            with reaching(reach):
                return Session(open_world(target), seed)

        session = await anyio.to_thread.run_sync(opened)
        self.require_room()
        self._opened += 1
        game = self._games[self._opened] = Game(self._opened, session)
        return game.seen()

    def close(self, number: int) -> None:
        """Forget a game."""
        del self._games[self._find(number).number]

    async def observe(self, number: int) -> Shown:
        """Return the last result and the possible commands; the typed result: the public state."""

        def look(game: Game) -> Shown:
            return Told(number, game.session.state_json()), game.seen()[1]

        return await self._with(number, look)

    async def act(self, number: int, command: str) -> Shown:
        """Execute a command, given in words or as a call, and return the result."""

        def act(game: Game) -> Shown:
            if game.steps >= STEPS:
                message = f"Game {number} has taken {counted(STEPS, 'command')}."
                raise usage(message, "Open a new game.")
            game.steps += 1
            game.session.intend(command)
            return game.seen()

        return await self._with(number, act)

    async def undo(self, number: int) -> Shown:
        """Undo the last command."""

        def undo(game: Game) -> Shown:
            if not game.session.undo():
                raise usage(f"Game {number} is at its start.", "There is nothing to undo.")
            return game.seen()

        return await self._with(number, undo)

    async def legal(self, number: int) -> Shown:
        """Return all commands that would be executed now."""

        def listed(game: Game) -> Shown:
            session = game.session
            calls = [one.call for one in session.legal()]
            unlisted = sorted(session.known.unlisted(session.state))
            more = f"not listed: {', '.join(unlisted)}" if unlisted else ""
            text = "\n".join(filter(None, (*calls, more)))
            return Commands(number, calls, unlisted), text or "nothing can be done"

        return await self._with(number, listed)

    async def why_not(
        self, number: int, command: str, seconds: float, say: Callable[[str], None]
    ) -> Shown:
        """Return why a command is refused, and the way that makes it possible, looked for during
        ``seconds``; cancelling the call stops the search."""
        stop = threading.Event()

        def examine(game: Game) -> Shown:
            session = game.session
            found = explained(session, command)
            if seconds > 0:
                found = with_way(session, found, seconds=seconds, say=say, cancel=stop.is_set)
            refusal = None if found.allowed else found.to_json()
            requires = [one.to_json() for one in found.requires]
            told = RefusalLines(UNICODE, session.world.loaded.by_name).examined(found)
            return Reasons(number, found.allowed, requires, refusal), plain_text(told)

        return await self._with(number, examine, stop)

    async def hint(
        self, number: int, goal: str | None, seconds: float, say: Callable[[str], None]
    ) -> Shown:
        """Return the next command of a shortest plan; cancelling the call stops the search."""
        stop = threading.Event()

        def look(game: Game) -> Shown:
            session = game.session
            check_goal(session.world, goal)
            found = hint(session, goal, seconds=seconds, say=say, cancel=stop.is_set)
            step = found.next_step
            following = None if step is None else step.command
            hinted = Hinted(
                number, found.verdict.answer, following, found.distance, list(found.landmarks)
            )
            lines: list[str] = [found.verdict.answer]
            if following is not None:
                lines.append(f"next: {following}")
                lines.append(f"the goal is {counted(found.distance or 0, 'tick')} away")
            lines += [f"on every way: {one}" for one in found.landmarks]
            return hinted, "\n".join(lines)

        return await self._with(number, look, stop)

    async def _with(
        self, number: int, work: Callable[[Game], Shown], stop: threading.Event | None = None
    ) -> Shown:
        """Run ``work`` on a game in a thread. A cancelled call sets ``stop`` and waits for its end,
        so that no two calls use the game at once."""
        game = self._find(number)
        async with game.lock:
            stop = stop or threading.Event()
            ended = threading.Event()

            def working() -> Shown:
                try:
                    return work(game)
                finally:
                    ended.set()

            try:
                shown: Shown = await anyio.to_thread.run_sync(working, abandon_on_cancel=True)
                return shown
            finally:
                stop.set()
                with anyio.CancelScope(shield=True):
                    await anyio.to_thread.run_sync(ended.wait, 10.0)

    def _find(self, number: int) -> Game:
        game = self._games.get(number)
        if game is None:
            known = ", ".join(map(str, self._games)) or "none"
            raise usage(f"There is no game {number}.", f"Open one; open are: {known}.")
        return game
