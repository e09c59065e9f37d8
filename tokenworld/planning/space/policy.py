"""Policies: what to do in each state, as a table that can be written to a file and played.

A policy file is JSON lines (``tw-policy/1``). The first line is the header::

    {"format": "tw-policy/1", "world": …, "program": …, "goal": …, "luck": …, "states": n}

Every other line is a state, by its id, with the command to give there and the ids of all states
that it may lead to::

    {"state": "6b1f…", "command": "toss(coin)", "leads_to": ["6b1f…", "a90c…"]}

The id of a state is a digest of what a search tells states apart by: everything but seed, score and
the tick number (see `Simulator.key`). It fits one text of the rules, whose digest is ``program``.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from hashlib import blake2b

from tokenworld.diagnostics import Diagnostic, Failure
from tokenworld.ground import Command, Simulator, StateT
from tokenworld.planning.space.graph import Graph, Node

__all__ = ["FORMAT", "Policy", "PolicyLine", "advised", "policy_of", "read_policy", "state_id"]

FORMAT = "tw-policy/1"


@dataclass(frozen=True, slots=True)
class PolicyLine:
    """What to do in one state, and the ids of the states that this may lead to."""

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
    """What a policy says in a state, ``None`` where it knows nothing of it.

    Objects that were created may bear other numbers than when the policy was made, so the command
    is recognised by what it leads to.
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
                lines[state] = PolicyLine(command, tuple(str(one) for one in after))
            case _:
                raise _unfit(source, f"line {number} has no `state`, `command` and `leads_to`")
    goal = head.get("goal")
    return Policy(
        str(head.get("world")),
        str(head.get("program")),
        None if goal is None else str(goal),
        str(head.get("luck")),
        str(head.get("start")),
        lines,
    )


def _object(row: str, source: str, number: int) -> dict[str, object]:
    try:
        found = json.loads(row)
    except ValueError:
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
