"""Requests to a language model and its answers; every provider has the same method."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping
from typing import Final, Literal, Protocol, get_args

from tokenworld.diagnostics import Diagnostic, Failure
from tokenworld.diagnostics.frozen import frozen
from tokenworld.store.usage import UNTOLD, Usage

Role = Literal["analyst", "researcher", "developer", "tester", "player"]
ROLES: Final[tuple[Role, ...]] = get_args(Role)
Speaker = Literal["system", "user", "assistant"]

MOST_BYTES: Final = 512 * 1024
"""The greatest number of bytes of an answer; a longer one is cut before it is read."""
_SECRET: Final = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD)\w*$")
_LEAST_SECRET: Final = 8


@frozen
class Message:
    """One turn of a conversation."""

    who: Speaker
    text: str


@frozen
class Request:
    """A conversation that a role sends to the model; ``seed`` is for models that take one."""

    role: Role
    messages: tuple[Message, ...]
    seed: int

    def to_json(self) -> dict[str, object]:
        turns = [{"role": one.who, "content": one.text} for one in self.messages]
        return {"role": self.role, "messages": turns, "seed": self.seed}

    @property
    def digest(self) -> str:
        """Return the hash that identifies the request in a transcript."""
        return digest(json.dumps(self.to_json(), ensure_ascii=False, sort_keys=True))


def digest(text: str) -> str:
    """Return the SHA-256 of a text, in hexadecimal digits."""
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()


@frozen
class Response:
    """An answer, with the tokens and the cost that the provider states."""

    text: str
    usage: Usage = UNTOLD


class Provider(Protocol):
    """A source of answers: a script, a program, an address or a library."""

    name: str
    model: str

    def ask(self, request: Request) -> Response:
        """Return the answer; raises `ProviderFailure` if none comes."""

    def close(self) -> None:
        """Release all resources."""


class ProviderFailure(Failure):
    """TW1301: a provider gave no answer; ``why`` is a clause."""

    def __init__(self, why: str, hint: str) -> None:
        self.why, self.hint = why, hint
        super().__init__(Diagnostic("TW1301", f"The provider {why}.", hint=hint))


def secrets(environment: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """Return the values of the environment that are keys by their names, the longest first."""
    found = {
        value.strip()
        for name, value in environment.items()
        if _SECRET.search(name.upper()) and len(value.strip()) >= _LEAST_SECRET
    }
    return tuple(sorted(found, key=lambda one: (-len(one), one)))


def scrubbed(text: str, keys: Iterable[str]) -> str:
    """Return the text without keys, and without lone surrogates, which no file can have."""
    text = text.encode("utf-8", "replace").decode()
    for key in keys:
        text = text.replace(key, "[key]")
    return text
