"""This project's boil-water world: a session's engine, with full records."""

from __future__ import annotations

from shared import Json, digest, per_call, serve

from tokenworld.engine import EngineSpeaker, SeededLuck, State
from tokenworld.ground import Command
from tokenworld.prose import command_texts
from tokenworld.session import Session


class Game:
    stores = (
        "in place: what a tick changed, by which rule, with what undoes it; no reply as text. With "
        "a record: requires, changes with their rules, score, the hashes of the state before and "
        "after, the reply as text; all states stay as they were"
    )

    def load(self, program: str, script: list[str]) -> Json:
        del program
        self._session = Session.open("boil_water", 1)
        self._engine, self._start = self._session.engine, self._session.state
        self._luck = SeededLuck()
        self._commands: list[Command] = []
        state = self._start
        for words in script:
            command = self._session._resolver.resolve(state, words)
            if not isinstance(command, Command):
                raise ValueError(f"not understood: {words}")
            self._commands.append(command)
            state, _ = self._engine.play(state, command, self._luck)
        return {"digest": "1", "stores": self.stores, "seconds": 0.0}

    def _play(self, listing: bool, texts: bool, rows: list[str] | None = None) -> None:
        state, over = self._start, False
        for command in self._commands:
            state, records = self._engine.play(state, command, self._luck)
            if listing:
                legal = tuple(self._engine.legal(state))
                if texts:
                    command_texts(legal, self._session.world.program, self._speaker(state))
            if rows is not None:
                over = over or bool(records[-1].latched)
                rows.append(f"{self._water(state)} {records[-1].score} {over}")

    def _play_in_place(self, listing: bool, texts: bool) -> None:
        live = self._engine.live(self._start)
        for command in self._commands:
            live.apply(command)
            if listing:
                legal = live.legal()
                if texts:
                    command_texts(legal, self._session.world.program, self._speaker(live.now()))

    def _same_in_place(self) -> bool:
        """Whether playing in place comes to the same state."""
        live, state = self._engine.live(self._start), self._start
        for command in self._commands:
            live.apply(command)
            state, _ = self._engine.play(state, command, self._luck)
        return self._engine.hash(live.state()) == self._engine.hash(state)

    def _speaker(self, state: State) -> EngineSpeaker:
        return EngineSpeaker(self._engine, state)

    def walk(
        self,
        listing: bool,
        budget: float,
        texts: bool = False,
        record: bool = False,
        begun: bool = False,
    ) -> Json:
        """``begun``: without what it takes to begin a game."""
        rows: list[str] = []
        self._play(False, False, rows)
        if not self._same_in_place():
            raise ValueError("playing in place comes to another state")
        play = self._play if record else self._play_in_place
        seconds = per_call(lambda: play(listing, texts), budget)
        if begun:
            seconds -= per_call(lambda: self._engine.live(self._start), budget)
        return {"seconds": seconds / len(self._commands), "digest": digest(rows)}

    def _water(self, state: State) -> str:
        names = {"solid": "ice", "liquid": "water", "gas": "steam"}
        found = [
            f"{names[one['attrs']['stateOfMatter']]} {float(one['attrs']['temperature']):g}"
            for one in self._engine.json(state)["objects"]  # type: ignore
            if one["type"] == "Water"
        ]
        return ", ".join(found)


if __name__ == "__main__":
    serve(Game())
