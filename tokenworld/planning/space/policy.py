"""Policies: a command for each state, as a table that can be written to a file and played.

A policy file is JSON lines (``tw-policy/1``). The first line is the header::

    {"format": "tw-policy/1", "world": …, "program": …, "goal": …, "luck": …, "states": n}

Every other line is a state, by its id, with the command to give there and the ids of all states
that it may lead to::

    {"state": "6b1f…", "command": "toss(coin)", "leads_to": ["6b1f…", "a90c…"]}

The id of a state is a digest of its search key: everything but seed, score and
the tick number (see `Simulator.key`). It fits one text of the rules, whose digest is ``program``.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from fractions import Fraction
from hashlib import blake2b
from random import Random
from typing import Generic

from tokenworld.diagnostics import Diagnostic, Failure
from tokenworld.ground import Command, Simulator, StateT, Successor
from tokenworld.planning.space.graph import Graph, Node
from tokenworld.planning.verdict import PlanStep

FORMAT = "tw-policy/1"


@dataclass(frozen=True, slots=True)
class PolicyLine:
    """The command of a policy in one state, and the ids of the states that it may lead to."""

    command: str
    leads_to: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Policy:
    """A table from state ids to commands; ``start`` is the state it was made for."""

    world: str
    program: str
    goal: str | None
    luck: str
    start: str
    lines: Mapping[str, PolicyLine]

    def text(self) -> str:
        """The file, as JSON lines."""
        head = {
            "format": FORMAT,
            "world": self.world,
            "program": self.program,
            "goal": self.goal,
            "luck": self.luck,
            "start": self.start,
            "states": len(self.lines),
        }
        rows = (
            {"state": state, "command": line.command, "leads_to": list(line.leads_to)}
            for state, line in self.lines.items()
        )
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in (head, *rows))


def policy_of(
    simulator: Simulator[StateT], graph: Graph[StateT], moves: Mapping[Node, int], luck: str
) -> Policy:
    """The table of the states that play can reach by these moves (number of the move by node)."""
    ids: dict[Node, str] = {}
    lines: dict[str, PolicyLine] = {}

    def named(node: Node) -> str:
        if node not in ids:
            ids[node] = state_id(simulator, graph.states[node])
        return ids[node]

    for node in _followed(graph, moves):
        move = graph.moves[node][moves[node]]
        shown = simulator.show(graph.states[node], move.command)
        leads_to = tuple(dict.fromkeys(named(target) for target in move.targets))
        lines[named(node)] = PolicyLine(shown, leads_to)
    instance = simulator.instance
    program = instance.program.digest
    return Policy(instance.world.name, program, graph.goal, luck, named(0), lines)


def _followed(graph: Graph[StateT], moves: Mapping[Node, int]) -> Iterator[Node]:
    """The nodes that play passes from the start, each once."""
    seen, waiting = {0}, [0]
    for node in waiting:
        if node not in moves:
            continue
        yield node
        for target in graph.moves[node][moves[node]].targets:
            if target not in seen:
                seen.add(target)
                waiting.append(target)


def advised(simulator: Simulator[StateT], state: StateT, policy: Policy) -> Command | None:
    """The command of a policy in a state, ``None`` where it has none.

    Objects that were created may have other numbers than when the policy was made, so the command
    is recognised by its successors.
    """
    line = policy.lines.get(state_id(simulator, state))
    if line is None:
        return None
    commands = simulator.commands(state)
    named = [one for one in commands if simulator.show(state, one) == line.command]
    action = line.command.partition("(")[0]
    others = [one for one in commands if one.action == action and one not in named]
    for command in (*named, *others):
        reached = {state_id(simulator, one.state) for one in simulator.successors(state, command)}
        if reached == set(line.leads_to):
            return command
    return None


def read_policy(text: str, source: str) -> Policy:
    """A policy from the text of a file; `Failure` (TW0006) where it is none."""
    rows = [row for row in text.splitlines() if row.strip()]
    if not rows:
        raise _unfit(source, "it is empty")
    head = _object(rows[0], source, 1)
    if head.get("format") != FORMAT:
        raise _unfit(source, f"its first line does not say `{FORMAT}`")
    lines: dict[str, PolicyLine] = {}
    for number, row in enumerate(rows[1:], 2):
        found = _object(row, source, number)
        match found:
            case {"state": str(state), "command": str(command), "leads_to": [*after]}:
                leads_to = tuple(one for one in after if isinstance(one, str))
                lines[state] = PolicyLine(command, leads_to)
            case _:
                raise _unfit(source, f"line {number} has no `state`, `command` and `leads_to`")
    world, program, luck, start = (
        _text(head, key, source) for key in ("world", "program", "luck", "start")
    )
    goal = None if head.get("goal") is None else _text(head, "goal", source)
    return Policy(world, program, goal, luck, start, lines)


def _text(head: dict[str, object], key: str, source: str) -> str:
    found = head.get(key)
    if not isinstance(found, str):
        raise _unfit(source, f"`{key}` of its first line is missing or is not a text")
    return found


def _object(row: str, source: str, number: int) -> dict[str, object]:
    try:
        found = json.loads(row)  # not by pydantic: `read_policy` asks for all of three keys
    except (ValueError, RecursionError):
        raise _unfit(source, f"line {number} is not JSON") from None
    if not isinstance(found, dict):
        raise _unfit(source, f"line {number} is not a JSON object")
    return found


def _unfit(source: str, why: str) -> Failure:
    hint = "Make a policy with `tw plan WORLD --luck certain --policy FILE`."
    return Failure(Diagnostic("TW0006", f"`{source}` is not a policy: {why}.", hint=hint))


# ---- ids ----------------------------------------------------------------------------------------


def state_id(simulator: Simulator[StateT], state: StateT) -> str:
    """The id of a state: 32 hexadecimal digits."""
    return blake2b(_plain(simulator.key(state)).encode(), digest_size=16).hexdigest()


def _plain(key: Hashable) -> str:
    """A text of a key that does not depend on the order of hash tables."""
    match key:
        case tuple():
            return f"({','.join(_plain(part) for part in key)})"
        case frozenset():
            return f"{{{','.join(sorted(_plain(part) for part in key))}}}"
        case _ if is_dataclass(key) and not isinstance(key, type):
            parts = (_plain(getattr(key, field.name)) for field in fields(key))
            return f"{type(key).__name__}({','.join(parts)})"
        case _:
            return repr(key)


# ---- Estimates by playing -----------------------------------------------------------------------
# It is the answer of last resort, for graphs that are too large: a claim about the policy that was
# played, not about the best one, and never merged with bounds or exact values.

_Z = 1.959963984540054
"""The quantile of the normal distribution that leaves 2.5 % above it."""
_LONGEST = 2_000
"""Commands of one play at most."""


@dataclass(frozen=True, slots=True)
class Sample:
    """So many plays, how many of them won, and the interval (95 %) for the true share.

    ``cut`` plays were broken off by a limit; they count as not won.
    """

    plays: int
    wins: int
    cut: int

    @property
    def share(self) -> float:
        return self.wins / self.plays

    @property
    def interval(self) -> tuple[float, float]:
        return wilson(self.wins, self.plays)


def wilson(wins: int, plays: int) -> tuple[float, float]:
    """The 95 % interval of a share (Wilson 1927)."""
    share, z = wins / plays, _Z * _Z
    middle = (share + z / (2 * plays)) / (1 + z / plays)
    spread = _Z / (1 + z / plays) * math.sqrt(share * (1 - share) / plays + z / (4 * plays**2))
    low = 0.0 if wins == 0 else max(middle - spread, 0.0)
    return low, 1.0 if wins == plays else min(middle + spread, 1.0)


class Player(Generic[StateT]):
    """Follows a policy where it is known, elsewhere a plan, and a new plan after other draws.

    ``known`` answers in states where a policy is known. ``plan`` answers with the steps of a plan
    from a state, each with the draws that it counts on, or with nothing; it is asked once for each
    state, so that all plays follow the same rules.
    """

    def __init__(
        self,
        simulator: Simulator[StateT],
        known: Callable[[StateT], Command | None],
        plan: Callable[[StateT], Sequence[PlanStep]],
    ) -> None:
        self._simulator, self._known, self._plan = simulator, known, plan
        self._plans: dict[Hashable, tuple[PlanStep, ...]] = {}
        self._rest: tuple[PlanStep, ...] = ()

    def begin(self) -> None:
        """A new play: nothing is left of the last one."""
        self._rest = ()

    def choose(self, state: StateT) -> Command | None:
        """The command to give, ``None`` where no way to the goal is found."""
        command = self._known(state)
        if command is not None:
            self._rest = ()
            return command
        if not self._rest or not self._simulator.successors(state, self._rest[0].command):
            self._rest = self._planned(state)
        return self._rest[0].command if self._rest else None

    def learn(self, drawn: Successor[StateT]) -> None:
        """Follow the plan as long as draws fall as it hopes."""
        hoped = all(draw in drawn.draws for draw in self._rest[0].draws) if self._rest else False
        self._rest = self._rest[1:] if hoped else ()

    def _planned(self, state: StateT) -> tuple[PlanStep, ...]:
        key = self._simulator.key(state)
        if key not in self._plans:
            self._plans[key] = tuple(self._plan(state))
        return self._plans[key]


def sampled(
    simulator: Simulator[StateT],
    start: StateT,
    goal: str | None,
    player: Player[StateT],
    *,
    plays: int,
    seconds: float,
) -> Sample:
    """Play so often from ``start``, or as often as time allows (at least once).

    A play is lost where the player has no answer or luck refuses his command, and broken off after
    `_LONGEST` commands or when time is up. Draws are the same each time.
    """
    random, end = Random(0), time.monotonic() + seconds
    wins = cut = done = 0
    while done < plays and (done == 0 or time.monotonic() < end):
        done += 1
        player.begin()
        result = _play(simulator, start, goal, player, random, end)
        wins += result is True
        cut += result is None
    return Sample(done, wins, cut)


def _play(
    simulator: Simulator[StateT],
    state: StateT,
    goal: str | None,
    player: Player[StateT],
    random: Random,
    end: float,
) -> bool | None:
    """Return whether one play reaches the goal; ``None`` if it was broken off."""
    for _ in range(_LONGEST):
        if simulator.won(state, goal):
            return True
        if simulator.lost(state):
            return False
        command = player.choose(state)
        if time.monotonic() > end:
            return None
        drawn = None if command is None else _drawn(simulator, state, command, random)
        if drawn is None:
            return False
        player.learn(drawn)
        state = drawn.state
    return None


def _drawn(
    simulator: Simulator[StateT], state: StateT, command: Command, random: Random
) -> Successor[StateT] | None:
    """A random successor of a command; ``None`` where it is refused."""
    share, reached = Fraction(random.getrandbits(64), 1 << 64), Fraction(0)
    for one in simulator.successors(state, command):
        reached += one.probability
        if share < reached:
            return one
    return None
