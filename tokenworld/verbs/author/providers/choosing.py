"""The provider that a command line names."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from tokenworld.diagnostics import usage
from tokenworld.verbs.author.asking import Provider
from tokenworld.verbs.author.providers.over_http import Address

_KNOWN: Final = "Name one of `script:FILE`, `command:PROGRAM`, `http` or `pydantic-ai`."


def provider_of(name: str, address: Address) -> Provider:
    """Return a provider by its name; raises `Failure` (TW0001, TW0006, TW0811, TW1301)."""
    kind, _, rest = name.partition(":")
    if kind == "script" and rest:
        from tokenworld.verbs.author.providers.scripted import read_script

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
