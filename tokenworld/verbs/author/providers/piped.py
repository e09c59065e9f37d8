"""A program that answers, or searches: a line of JSON in, a line of JSON out."""

from __future__ import annotations

import json
import shlex
from typing import Any, Final

from tokenworld.diagnostics import usage
from tokenworld.session.remote import PlayerFailure, ProcessChannel
from tokenworld.store.usage import usage_of
from tokenworld.verbs.author.asking import ProviderFailure, Request, Response

_LONGEST: Final = 4 << 20
_HINT: Final = 'Try it by hand: it reads a line of JSON, and answers with a line {"text": "…"}.'


class Program:
    """A child process that lives as long as the run."""

    def __init__(self, command: str, seconds: float) -> None:
        words = shlex.split(command)
        if not words:
            raise usage("A program has no name.", "Write `command:PROGRAM ARGUMENTS`.")
        self._shown = words[0]
        try:
            self._channel = ProcessChannel(words, seconds, end="\n", longest=_LONGEST)
        except PlayerFailure as failure:
            raise ProviderFailure(failure.what, _HINT) from failure

    def call(self, asked: dict[str, object]) -> dict[str, Any]:
        """Return the object that the program answers; raises `ProviderFailure` if there is none."""
        try:
            answer = self._channel.ask(json.dumps(asked, ensure_ascii=False))
        except PlayerFailure as failure:
            raise ProviderFailure(failure.what, _HINT) from failure
        if answer is None:
            raise ProviderFailure(f"ended before it answered (`{self._shown}`)", _HINT)
        try:
            found = json.loads(answer)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            raise ProviderFailure("answers with a line that is no JSON object", _HINT)
        return found

    def close(self) -> None:
        """End the program and all processes that it started."""
        self._channel.close()


class Command:
    """A provider that is a program."""

    name = "command"

    def __init__(self, command: str, model: str, seconds: float) -> None:
        self.model = model
        self._program = Program(command, seconds)

    def ask(self, request: Request) -> Response:
        """Send the request with the name of the model; read ``text`` and, if told, tokens."""
        found = self._program.call({**request.to_json(), "model": self.model})
        if not isinstance(found.get("text"), str):
            raise ProviderFailure("answers without a `text`", _HINT)
        return Response(found["text"], usage_of(found))

    def close(self) -> None:
        """End the program."""
        self._program.close()
