"""The game of a published page: the page asks in JSON, Python in the browser answers.

A request is an object with ``do`` and at most one argument, ``text``. Each reply has the new
paragraphs of the story and the whole view of the present state; a failure has ``error``.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Callable, Iterable
from typing import Any, Final

from tokenworld.diagnostics import Diagnostic, Failure, Source
from tokenworld.ground import Command, Json
from tokenworld.play.model.game import Game, fault_text
from tokenworld.play.model.hints import LEVELS, hint_lines
from tokenworld.play.model.records import Describer
from tokenworld.play.model.transcripts import script
from tokenworld.play.model.view import View, title_text
from tokenworld.session import Session
from tokenworld.session.loading import open_text
from tokenworld.session.refusals.explained import explained, explained_record, helped
from tokenworld.verbs.output import UNICODE, Line, line

__all__ = ["Published", "packed", "unpacked"]

HINT_SECONDS: Final = 10.0
"""A search for a hint ends after this time; the page can stop it before."""
_LONGEST: Final = 1_000_000
"""A link with more bytes of commands is refused."""


def packed(commands: Iterable[str]) -> str:
    """The part of a link that has the commands of a game."""
    text = "\n".join(commands).encode()
    return base64.urlsafe_b64encode(zlib.compress(text, 9)).decode().rstrip("=")


def unpacked(link: str) -> list[str]:
    """The commands of a link; raises `Failure` TW0006 where it is cut or changed."""
    try:
        data = base64.b64decode(link + "=" * (-len(link) % 4), altchars=b"-_", validate=True)
        unzip = zlib.decompressobj()
        text = unzip.decompress(data, _LONGEST)
        if not unzip.eof:
            raise ValueError("the text is cut, or too long")
        return text.decode().splitlines()
    except (ValueError, zlib.error) as error:
        hint = "Copy the whole link, or begin a new game."
        message = f"The game in the link cannot be read: {error}."
        raise Failure(Diagnostic("TW0006", message, hint=hint)) from error


class Published:
    """A session of the world in the page, and the part of it that the page has shown."""

    def __init__(self, bundle: str) -> None:
        """``bundle``: the JSON of `bundle`, with the sources, the name of the world and a seed."""
        held = json.loads(bundle)
        sources = tuple(Source(one["name"], None, one["text"]) for one in held["sources"])
        self._world = open_text(sources, held["world"])
        self._describer = Describer(UNICODE, {one.name: one for one in sources})
        self._seed: int = held["seed"]
        self._begin(self._seed)

    def _begin(self, seed: int) -> None:
        self._game = Game(Session(self._world, seed), UNICODE)
        self._shown = 1  # the page has its own welcome

    def ask(self, request: str) -> str:
        """Answer a request of the page; both are JSON."""
        asked = json.loads(request)
        actions: dict[str, Callable[[str], dict[str, Json]]] = {
            "view": lambda _: {},
            "give": self._give,
            "why": self._why,
            "hint": self._hint,
            "undo": lambda _: {"done": self._game.undo()},
            "redo": lambda _: {"done": self._game.redo()},
            "restart": self._restart,
            "link": lambda _: {"link": self._link()},
            "script": lambda _: {"script": script(self._game.session)},
            "open": self._open_link,
            "hash": lambda _: {"hash": self._hash()},
            "follow": self._follow,
        }
        try:
            found = actions[asked["do"]](asked.get("text", ""))
            return json.dumps({**self._view(), **found})
        except Failure as failure:
            return json.dumps({**self._view(), "error": fault_text(failure)})

    # ---- requests -------------------------------------------------------------------------------

    def _give(self, text: str) -> dict[str, Json]:
        self._game.give(text)
        session = self._game.session
        moment = session.moments[-1]
        outcome = moment.outcomes[-1] if moment.outcomes else None
        if outcome is None or outcome.status in ("executed", "waiting", "interrupted"):
            return {}
        told = self._describer.record(outcome, moment.asked, explained_record(session, outcome))
        return {"details": _told(told)}

    def _why(self, text: str) -> dict[str, Json]:
        session = self._game.session
        found = helped(session, explained(session, text))
        told = (line(found.asked, "head"), *self._describer.examined(found))
        return {"details": _told(told)}

    def _hint(self, level: str) -> dict[str, Json]:
        """A hint of a level: see `LEVELS`."""
        session = self._game.session
        verdict = session.apart().plan(time_limit=HINT_SECONDS)
        first = session.text_of(verdict.steps[0].command) if verdict.steps else None
        later = self._game.step_texts(verdict, LEVELS[min(int(level or 0), len(LEVELS) - 1)])
        return {"details": _told(hint_lines(verdict, first, UNICODE, later=later))}

    def _restart(self, seed: str) -> dict[str, Json]:
        self._begin(int(seed) if seed else self._seed)
        return {"restarted": True}

    def _open_link(self, link: str) -> dict[str, Json]:
        """Begin with the seed of a link, and give its commands one by one."""
        parts = dict(one.partition("=")[::2] for one in link.split("&"))
        commands = unpacked(parts.get("play", ""))
        self._begin(int(parts.get("seed", "0")))
        for one in commands:
            self._game.give(one)
        return {"restarted": True}

    def _follow(self, script: str) -> dict[str, Json]:
        """The hash after each entry of a script: a number begins a game with this seed, and
        ``[action, arguments]`` is a command. The game that the page shows does not change."""
        return {"hashes": [self._after(one) for one in json.loads(script)]}

    def _after(self, entry: int | list[Any]) -> str:
        engine = self._world.engine
        if isinstance(entry, int):
            self._followed = engine.start(entry)
        else:
            action, args = entry
            self._followed, _ = engine.play(self._followed, Command(action, tuple(args)))
        return engine.hash(self._followed)

    # ---- the view -------------------------------------------------------------------------------

    def _link(self) -> str:
        session = self._game.session
        return f"seed={session.seed}&play={packed(one.asked for one in session.moments[1:])}"

    def _hash(self) -> str:
        session = self._game.session
        return session.engine.hash(session.state)

    def _view(self) -> dict[str, Json]:
        """The new paragraphs, and the present state as a player sees it."""
        game = self._game
        session, view = game.session, View(game.session)
        new = game.entries[self._shown :]
        self._shown = len(game.entries)
        carried = view.carried
        return {
            "entries": [{"kind": one.kind, "text": one.text} for one in new],
            "status": title_text(session, UNICODE),
            "place": view.title,
            "facts": _told(view.lines),
            "carried": None if carried is None else list(carried),
            "maps": [
                {"rows": list(one.rows), "signs": [list(pair) for pair in one.signs]}
                for one in view.maps
            ],
            "legal": [one.text for one in game.legal()],
            "over": session.ended(),
            "won": session.won(),
        }


def _told(lines: Iterable[Line]) -> Json:
    """Lines as pairs of text and role."""
    return [[[text, role] for text, role in one] for one in lines]
