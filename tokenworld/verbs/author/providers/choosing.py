"""The provider that a command line names, and answers written beforehand."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from tokenworld.diagnostics import Source, did_you_mean, read_source, usage
from tokenworld.verbs.author.asking import ROLES, Provider, ProviderFailure, Request, Response
from tokenworld.verbs.author.providers.over_http import Address

# ---- Scripted answers ----------------------------------------------------------------------------
# Answers written beforehand, for tests and examples.
#
# A script is a text: ``=== developer`` begins an answer of that role, up to the next such line.


_HEAD: Final = re.compile(r"^=== (\S+)[ \t]*$", re.MULTILINE)


class Script:
    """Gives each role its answers in their order."""

    name = "script"

    def __init__(self, answers: Iterable[tuple[str, str]], model: str = "") -> None:
        self.model = model
        self._left: dict[str, list[str]] = {}
        for role, text in answers:
            self._left.setdefault(role, []).append(text)

    def ask(self, request: Request) -> Response:
        """Return the next answer of the role that is asked."""
        left = self._left.get(request.role, [])
        if not left:
            hint = f"Add an answer after a line `=== {request.role}`."
            raise ProviderFailure(f"has no further answer of the {request.role}", hint)
        return Response(left.pop(0))

    def close(self) -> None:
        """Do nothing: nothing is open."""


def read_script(path: Path) -> Script:
    """Return the script in a file; raises `Failure` (TW0001, TW0003, TW0006)."""
    source = read_source(path)
    return Script(_answers(source), path.name)


def _answers(source: Source) -> list[tuple[str, str]]:
    parts = _HEAD.split(source.text)
    if len(parts) < 2 or parts[0].strip():
        message = f"`{source.name}` does not begin with a line such as `=== developer`."
        raise usage(message, "Write a line `=== ROLE` before each answer.")
    pairs = list(zip(parts[1::2], parts[2::2], strict=True))
    for role, _ in pairs:
        if role not in ROLES:
            hint = did_you_mean(role, ROLES) or f"Name one of {', '.join(ROLES)}."
            raise usage(f"`{source.name}` has an answer of `{role}`, which is no role.", hint)
    return [(role, text.strip("\n") + "\n") for role, text in pairs]


# ---- The choice of a provider --------------------------------------------------------------------

_KNOWN: Final = "Name one of `script:FILE`, `command:PROGRAM`, `http` or `pydantic-ai`."


def provider_of(name: str, address: Address) -> Provider:
    """Return a provider by its name; raises `Failure` (TW0001, TW0006, TW0811, TW1301)."""
    kind, _, rest = name.partition(":")
    if kind == "script" and rest:
        return read_script(Path(rest))
    if kind == "command" and rest:
        from tokenworld.verbs.author.providers.piped import Command

        return Command(rest, address.model, address.seconds)
    if name in ("http", "pydantic-ai") and not address.model:
        raise usage(f"The provider `{name}` needs a model.", "Name it with `--model`.")
    if name == "http":
        from tokenworld.verbs.author.providers.over_http import Http

        return Http(address)
    if name == "pydantic-ai":
        from tokenworld.verbs.author.providers.agents import PydanticAi

        return PydanticAi(address.model)
    raise usage(f"There is no provider `{name}`.", _KNOWN)
