"""The tools of the developer: check, explain, std, try, worlds. None of them writes anything."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Final

from tokenworld.assets import error_page, rules_folder
from tokenworld.diagnostics import CODES, Failure, did_you_mean
from tokenworld.limits import attempt, limited
from tokenworld.prose.intents import TypedIntent
from tokenworld.session.loading import (
    Loaded,
    OpenWorld,
    choose_world,
    compile_world,
)
from tokenworld.session.players import give_once
from tokenworld.session.remote import observation
from tokenworld.session.session import Session
from tokenworld.verbs.author.answers import Call
from tokenworld.verbs.author.sources import NAME, checked, errors_text
from tokenworld.verbs.card import standard_modules

MOST_CHARACTERS: Final = 4_000
"""The greatest number of characters of a tool's answer."""
MOST_COMMANDS: Final = 50
_TRY_SECONDS: Final = 20.0
NAMES: Final = ("check", "explain", "std", "try", "worlds", "submit")
HELP: Final = """\
{"tool": "check"}                                   what `tw check` says of the world
{"tool": "explain", "code": "TW0403"}               what a code means
{"tool": "std", "module": "std.doors"}              a standard module; without one, all names
{"tool": "try", "world": "w", "commands": ["…"]}    play commands from the start
{"tool": "worlds"}                                  the worlds and their goals
{"tool": "submit", "rules": {"M1": ["burn"]}}       hand the world in; the rules of each mechanic"""


def use(call: Call, text: str) -> str:
    """Return the answer of a tool about a world; a wrong call gets an answer too."""
    tool = _TOOLS.get(call.name)
    if tool is None:
        known = ", ".join(NAMES)
        return (
            f"There is no tool `{call.name}`. {did_you_mean(call.name, NAMES) or ''} Use {known}."
        )
    try:
        told = tool(text, call.given)
    except Failure as failure:
        told = "\n".join(
            f"{one.message} {one.hint or ''}".rstrip() for one in failure.diagnostics[:5]
        )
    if len(told) > MOST_CHARACTERS:
        return f"{told[:MOST_CHARACTERS]}\n… ({len(told) - MOST_CHARACTERS:,} characters more)"
    return told


def _check(text: str, given: Mapping[str, object]) -> str:
    return errors_text(text)


def _explain(text: str, given: Mapping[str, object]) -> str:
    code = str(given.get("code", "")).upper()
    if code not in CODES:
        return f"There is no code `{code}`. {did_you_mean(code, CODES) or ''}".rstrip()
    return error_page(code).read_text(encoding="utf-8")


def _std(text: str, given: Mapping[str, object]) -> str:
    modules = dict(standard_modules())
    name = str(given.get("module", ""))
    if name not in modules:
        listed = "\n".join(f"{one}: {what}" for one, what in modules.items())
        return f"There is no module `{name}`.\n{listed}" if name else listed
    family, _, module = name.partition(".")
    return (rules_folder() / family / f"{module}.tw").read_text(encoding="utf-8")


def opened(text: str, world: str | None = None) -> OpenWorld:
    """Return a world of a text; raises `Failure` if it is not sound, or has no such world."""
    found = checked(text)
    if found.program is None:
        raise Failure(*(one for one in found.diagnostics if one.is_error))
    program = found.program
    name = world if world or not program.worlds else next(iter(program.worlds))
    declared = choose_world(program, name, NAME)
    loaded = Loaded(program, found.sources, found.diagnostics)
    return OpenWorld(loaded, declared, compile_world(program, declared))


def _try(text: str, given: Mapping[str, object]) -> str:
    commands = given.get("commands", [])
    if not isinstance(commands, list) or not all(isinstance(one, str) for one in commands):
        return '`commands` is a list of texts, such as ["take lamp", "pass"].'
    world = given.get("world")
    session = Session(opened(text, str(world) if world else None), operator=True)
    lines = [observation(session)]

    def play() -> None:
        for command in commands[:MOST_COMMANDS]:
            give_once(session, TypedIntent(command))
            lines.append(f"> {command}\n{observation(session)}")

    with limited(_TRY_SECONDS, None, time.monotonic()):
        attempt("trying", play, lambda: lines.append("The time of `try` is used up."))
    return "\n".join(lines)


def _worlds(text: str, given: Mapping[str, object]) -> str:
    program = checked(text).program
    if program is None:
        return errors_text(text)
    lines = [
        f"{name}: {', '.join(f'{one.ending} {one.name}' for one in world.endings) or 'no goal'}"
        for name, world in program.worlds.items()
    ]
    return "\n".join(lines) or "There is no world."


_TOOLS: Final[dict[str, Callable[[str, Mapping[str, object]], str]]] = {
    "check": _check, "explain": _explain, "std": _std, "try": _try, "worlds": _worlds,
}  # fmt: skip
