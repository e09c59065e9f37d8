"""Relaxed reachability on a task: which facts can hold if nothing is ever undone, and landmarks.

The fixpoint shares no code with the reachability analysis of the lowering (`lower.encode`) and
checks it: facts are added round by round until nothing changes. Landmarks, the facts that every
plan makes true, are computed on the same relaxed rules. `out_of_reach` reports a goal that the
relaxed task does not reach (TW0803).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256

from tokenworld.diagnostics import Diagnostic
from tokenworld.ground import Simulator, StateT
from tokenworld.planning.task import Literal, Task

Fact = tuple[int, int]
"""A variable and the position of a value."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A conditional effect of an operator with all that it needs."""

    needs: tuple[Fact, ...]
    gives: Fact
    operator: int


@dataclass(frozen=True, slots=True)
class Fixpoint:
    """``rounds``: each fact that can be reached with the round in which it first is.

    ``reached``: whether all facts of the goal are among them.
    """

    rounds: dict[Fact, int]
    reached: bool

    @property
    def digest(self) -> str:
        """SHA-256 of the sorted facts, in hexadecimal."""
        lines = "".join(f"{variable} {place}\n" for variable, place in sorted(self.rounds))
        return sha256(lines.encode()).hexdigest()


def _facts(literals: Iterable[Literal]) -> Iterator[Fact]:
    for variable, positions in literals:
        (position,) = positions  # encoding E knows single values only
        yield variable, position


def rules_of(task: Task) -> tuple[Rule, ...]:
    """The effects of all operators of a single-valued task, each with everything it needs."""
    found: dict[tuple[tuple[Fact, ...], Fact], Rule] = {}
    for number, operator in enumerate(task.operators):
        before = tuple(_facts(operator.precondition))
        for effect in operator.effects:
            needs = tuple(sorted({*before, *_facts(effect.conditions)}))
            gives = (effect.variable, effect.value)
            if gives not in needs:
                found.setdefault((needs, gives), Rule(needs, gives, number))
    return tuple(found.values())


def fixpoint(task: Task) -> Fixpoint:
    """All facts that can be reached from the start state without deletions."""
    rounds: dict[Fact, int] = dict.fromkeys(enumerate(task.initial), 0)
    waiting = list(rules_of(task))
    number, grown = 0, True
    while grown:
        number += 1
        ready = [rule for rule in waiting if all(need in rounds for need in rule.needs)]
        waiting = [rule for rule in waiting if not all(need in rounds for need in rule.needs)]
        new = [rule.gives for rule in ready if rule.gives not in rounds]
        rounds.update(dict.fromkeys(new, number))
        grown = bool(new)
    return Fixpoint(rounds, all(fact in rounds for fact in _facts(task.goal)))


# ---- landmarks ------------------------------------------------------------------------------


def landmarks(task: Task) -> tuple[Fact, ...]:
    """The facts that every plan makes true at some time, in an order in which they first can be.

    Facts of the start state are left out. Where a fact cannot be had without another one, that
    one comes first. Empty where the goal is out of reach.
    """
    known = fixpoint(task)
    if not known.reached:
        return ()
    before = _before(task, known)
    needed = {fact for goal in _facts(task.goal) for fact in before[goal]}
    late = [fact for fact in needed if known.rounds[fact] > 0]
    return tuple(sorted(late, key=lambda fact: (len(before[fact]), known.rounds[fact], fact)))


def _before(task: Task, known: Fixpoint) -> dict[Fact, frozenset[Fact]]:
    """The facts that come before each fact (itself included): the greatest solution of
    *a fact needs itself and what all rules that give it have in common*."""
    numbers = {fact: index for index, fact in enumerate(known.rounds)}
    rules = [rule for rule in rules_of(task) if all(need in numbers for need in rule.needs)]
    all_of = (1 << len(numbers)) - 1
    start = set(enumerate(task.initial))
    sets = {fact: 1 << numbers[fact] if fact in start else all_of for fact in numbers}
    readers: dict[Fact, list[Rule]] = {}
    for rule in rules:
        for need in rule.needs:
            readers.setdefault(need, []).append(rule)
    waiting = dict.fromkeys(rules)
    while waiting:
        rule = next(iter(waiting))
        del waiting[rule]
        if rule.gives in start:
            continue
        common = 1 << numbers[rule.gives]
        for need in rule.needs:
            common |= sets[need]
        smaller = sets[rule.gives] & common
        if smaller != sets[rule.gives]:
            sets[rule.gives] = smaller
            waiting.update(dict.fromkeys(readers.get(rule.gives, ())))
    order = list(numbers)
    return {
        fact: frozenset(order[index] for index in _bits(members)) for fact, members in sets.items()
    }


def _bits(members: int) -> Iterator[int]:
    while members:
        lowest = members & -members
        yield lowest.bit_length() - 1
        members ^= lowest


_SMALL = 50_000
"""The limit of decision diagram nodes for a reason, once the answer is known."""


def out_of_reach(
    simulator: Simulator[StateT], state: StateT, goal: str | None
) -> Diagnostic | None:
    """The finding that a goal is unreachable even when relaxed, ``None`` if it is not, or if the
    world is too large to say so quickly."""
    from tokenworld.planning.lower.encode import Unencodable, encode

    encoding = encode(simulator.instance_at(state), simulator, state, goal, limit=_SMALL)
    if isinstance(encoding, Unencodable) or not encoding.unreachable:
        return None
    return hopeless(simulator, goal)


def hopeless(simulator: Simulator[StateT], goal: str | None) -> Diagnostic:
    """The finding, at the goal line."""
    lines = [one for one in simulator.instance.world.goals if goal in (None, one.name)]
    names = " and ".join(f"`{line.name}`" for line in lines)
    are, reach = ("is", "the goal") if len(lines) == 1 else ("are", "the goals")
    return Diagnostic(
        "TW0803",
        f"{reach.capitalize()} {names} {are} unreachable even if nothing is ever deleted.",
        lines[0].span,
        "no rule leads to this",
        hint="Add a rule that can make it true, or correct the goal.",
    )
