"""Who plays a run: the options of ``tw run`` as a player, and what belongs to it."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tokenworld.diagnostics import Diagnostic, Failure, read_source
from tokenworld.planning.space.policy import Policy, read_policy
from tokenworld.prose import read_script
from tokenworld.session import OpenWorld
from tokenworld.session.adversary import adversarial_player
from tokenworld.session.players import (
    Player,
    planner_player,
    policy_player,
    random_player,
    script_player,
)
from tokenworld.session.remote import Channel, remote_player
from tokenworld.session.scenario_player import find_scenario, scenario_player, seed_of
from tokenworld.store import IntentSource

__all__ = ["CHOICES", "Choice", "PlayerName", "Seat", "seated", "usage"]

PlayerName = Literal["random", "planner", "adversarial", "llm"]
CHOICES = "`--script FILE`, `--scenario TITLE`, `--policy FILE` or `--player NAME`"
HALT_AFTER = 5
"""Refusals in a row at which a player that decides for itself is stopped."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What was asked for on the command line. ``command`` and ``url`` lead to an ``llm``."""

    script: Path | None = None
    scenario: str | None = None
    player: PlayerName | None = None
    policy: Path | None = None
    command: str | None = None
    url: str | None = None
    reply_timeout: float = 60.0
    goal: str | None = None
    time_limit: float = 60.0
    ticks: int | None = None
    seed: int = 0
    halt_refusals: int | None = None


@dataclass(frozen=True, slots=True)
class Seat:
    """A player ready to play: how the store calls it, its seed, when it is stopped.

    ``halt_after`` refusals in a row halt the run; ``None``: none do. ``policy`` is the one it plays
    by, ``close`` ends what it started.
    """

    source: IntentSource
    player: Player
    seed: int
    halt_after: int | None
    policy: Policy | None = None
    close: Callable[[], None] = lambda: None


def usage(message: str, hint: str) -> Failure:
    """TW0006: options that do not go together."""
    return Failure(Diagnostic("TW0006", message, hint=hint))


def seated(choice: Choice, world: OpenWorld, say: Callable[[str], None]) -> Seat:
    """The one player of a run; `Failure` where the options name none, or two."""
    _sound(choice)
    if choice.script is not None:
        player = script_player(read_script(read_source(choice.script)))
        return Seat("script", player, choice.seed, _halt(choice, None))
    if choice.scenario is not None:
        scenario = find_scenario(world, choice.scenario)
        seed = seed_of(scenario, choice.seed)
        return Seat("scenario", scenario_player(scenario), seed, _halt(choice, None))
    if choice.policy is not None:
        policy = read_policy(read_source(choice.policy).text, str(choice.policy))
        _fits(policy, world)
        halt = _halt(choice, HALT_AFTER)
        return Seat("planner", policy_player(policy), choice.seed, halt, policy)
    return _named(choice, say)


def _sound(choice: Choice) -> None:
    given = (choice.script, choice.scenario, choice.player, choice.policy)
    number = sum(one is not None for one in given)
    if number > 1:
        raise usage("A run has one player.", f"Give one of {CHOICES}.")
    if not number:
        hint = f"Give {CHOICES}; `tw play` is for people."
        raise usage("Nobody plays this run.", hint)
    if choice.ticks is not None and choice.ticks < 0:
        raise usage("A run cannot stop before it begins.", "Give `--ticks N` with N from 0.")
    if choice.halt_refusals is not None and choice.halt_refusals < 0:
        raise usage("A run cannot be halted before it begins.", "Give N from 1, or 0 for never.")
    if (choice.command or choice.url) and choice.player != "llm":
        raise usage("A command or an address is that of a player.", "Add `--player llm`.")


def _halt(choice: Choice, usual: int | None) -> int | None:
    return usual if choice.halt_refusals is None else choice.halt_refusals or None


def _named(choice: Choice, say: Callable[[str], None]) -> Seat:
    seed = choice.seed
    match choice.player:
        case "planner":
            player = planner_player(choice.goal, choice.time_limit, say)
            return Seat("planner", player, seed, _halt(choice, HALT_AFTER))
        case "llm":
            channel = _channel(choice)
            halt = _halt(choice, HALT_AFTER)
            return Seat("llm", remote_player(channel), seed, halt, close=channel.close)
        case "adversarial":
            _bounded(choice)
            return Seat("adversarial", adversarial_player, seed, _halt(choice, None))
        case _:
            _bounded(choice)
            return Seat("random", random_player, seed, _halt(choice, HALT_AFTER))


def _bounded(choice: Choice) -> None:
    if choice.ticks is None:
        what = f"A player by chance never stops: `{choice.player}`."
        raise usage(what, "Say how long with `--ticks N`.")


def _channel(choice: Choice) -> Channel:
    from tokenworld.session.remote_http import HttpChannel
    from tokenworld.session.remote_process import ProcessChannel

    if choice.reply_timeout <= 0:
        raise usage("A player needs time to answer.", "Give `--reply-timeout S` above 0.")
    if choice.command is not None and choice.url is None:
        try:
            words = shlex.split(choice.command)
        except ValueError as error:
            raise usage(f"The command has a quote left open: {error}.", "Close it.") from error
        if words:
            return ProcessChannel(words, choice.reply_timeout)
    if choice.url is not None and choice.command is None:
        return HttpChannel(choice.url, choice.reply_timeout)
    hint = 'Give `--command "python my_player.py"` or `--url http://127.0.0.1:8000/`.'
    raise usage("A player `llm` is a program or an address.", hint)


def _fits(policy: Policy, world: OpenWorld) -> None:
    """A policy fits one world and one text of its rules."""
    if (policy.world, policy.program) != (world.world.name, world.program.digest):
        what = f"The policy was made for another world or other rules than `{world.world.name}`."
        raise usage(what, "Make it again with `tw plan WORLD --luck certain --policy FILE`.")
