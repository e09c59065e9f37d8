"""``tw duel``: which of two plans has the higher mean return, in a world and in its reference."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import Annotated, Final, Literal, assert_never

from tokenworld.diagnostics import Failure, Source, read_source, usage
from tokenworld.engine import State
from tokenworld.ground import Command, Json, NoMatch
from tokenworld.prose.intents import IntentLine, read_script
from tokenworld.session import open_world
from tokenworld.session.intents import Resolver
from tokenworld.session.loading import OpenWorld
from tokenworld.session.players import random_choices
from tokenworld.session.rollouts import Rollout, draws_in_setup
from tokenworld.session.rollouts import rollout as roll
from tokenworld.verbs import options as opt
from tokenworld.verbs.output import EXIT_OK, EXIT_UNKNOWN, Output, columns

# ---- The exact mean return ----------------------------------------------------------------------
# The exact mean return of a plan, if few enough states are reachable.
#
# A plan is followed through all outcomes at once: states with their probabilities, equal ones
# merged, turn by turn. The runs of `session.rollouts` estimate the same mean by sampling.

By = Literal["reward", "score", "won"]
MOST: Final = 600
"""Commands in states that are followed at most."""
_OUTCOMES: Final = 400
"""Outcomes of one command that are followed at most."""


@dataclass(slots=True)
class _Node:
    """A state that can come about, after so many records."""

    state: State
    records: int
    probability: Fraction


def expected(
    world: OpenWorld, plan: Source | None, by: By, ticks: int, seed: int
) -> Fraction | None:
    """Return the mean return of a script, or of the random player (``None``), over all outcomes.

    ``None`` if there are too many outcomes, for draws of real numbers or in the start state, for
    actors that take turns, and for a policy, which may decide by past observations.
    """
    scripted = plan is not None and not plan.text.lstrip().startswith("{")
    start = world.engine.start(seed)
    if draws_in_setup(world) or len(start.actors) > 1 or not (scripted or plan is None):
        return None
    lines = None if plan is None else read_script(plan)
    try:
        return _Plan(world, lines, by, ticks).mean(start)
    except (_TooMany, Failure):
        return None


class _TooMany(Exception):
    """More commands in states than are followed."""


class _Plan:
    """Follows one plan."""

    def __init__(
        self, world: OpenWorld, lines: tuple[IntentLine, ...] | None, by: By, ticks: int
    ) -> None:
        self._world, self._lines, self._by, self._ticks = world, lines, by, ticks
        self._resolver = Resolver(world)
        self._kinds = {one.name: one.ending for one in world.world.endings}
        self._followed, self._mean = 0, Fraction(0)

    def mean(self, start: State) -> Fraction:
        """Return the mean return."""
        layer, turn = [_Node(start, 0, Fraction(1))], 0
        while layer:
            reached: dict[tuple[str, int], _Node] = {}
            for node in layer:
                self._follow(node, turn, reached)
            layer, turn = list(reached.values()), turn + 1
        return self._mean

    def _follow(self, node: _Node, turn: int, reached: dict[tuple[str, int], _Node]) -> None:
        commands = list(self._commands(node, turn))
        if not commands:
            self._mean += node.probability * self._final(node.state)
        for command, share in commands:
            self._followed += 1
            if self._followed > MOST:
                raise _TooMany
            found = self._world.engine.distribution(node.state, command, _OUTCOMES)
            if found.left_out:
                raise _TooMany
            for one in found.successors:
                probability = node.probability * share * one.probability
                if self._by == "reward":
                    paid = sum((Fraction(x.reward) for x in one.outcomes), Fraction(0))
                    self._mean += probability * paid
                key = one.hash, node.records + len(one.outcomes)
                known = reached.setdefault(key, _Node(one.state, key[1], Fraction(0)))
                known.probability += probability

    def _commands(self, node: _Node, turn: int) -> Iterator[tuple[Command | NoMatch, Fraction]]:
        """Yield the commands that are given in a state, with their probabilities; none at the
        end."""
        if node.records >= self._ticks or self._world.engine.over(node.state):
            return
        if self._lines is not None:
            if turn < len(self._lines):
                line = self._lines[turn].intent
                yield self._resolver.resolve(node.state, line), Fraction(1)
            return
        actions = random_choices(self._world.engine, node.state)
        for every in actions:
            share = Fraction(1, len(actions) * len(every))
            yield from ((one, share) for one in every)

    def _final(self, state: State) -> Fraction:
        """Return the return at the end of a run, without the rewards before it."""
        match self._by:
            case "reward":
                return Fraction(0)
            case "score":
                return Fraction(self._world.engine.score(state))
            case "won":
                first = next(iter(self._world.engine.reached(state)), "")
                return Fraction(self._kinds.get(first) == "goal")
            case _:
                assert_never(self._by)


# ---- The verb -----------------------------------------------------------------------------------

_Z: Final = 1.959963984540054
"""The deviation of 95 % of a normal distribution, on both sides."""
_FEWEST: Final = 2
"""The least number of runs that tell a spread."""


@dataclass(frozen=True, slots=True)
class Duel:
    """Two plans in one world, run by run with equal seeds, or ``exact``, over all outcomes.
    ``difference`` is the mean of the first plan's return less the second's, ``low`` and ``high``
    its 95 % interval."""

    world: str
    means: tuple[float, float]
    difference: float
    low: float
    high: float
    runs: int
    exact: bool = False

    @property
    def better(self) -> int | None:
        """The plan that is better, 0 or 1; ``None`` where the interval holds 0."""
        return 0 if self.low > 0 else 1 if self.high < 0 else None

    @property
    def decided(self) -> bool:
        """Return whether the better plan is known, or the values are exact."""
        return self.exact or self.better is not None

    def to_json(self) -> dict[str, Json]:
        return {
            "world": self.world,
            "means": list(self.means),
            "difference": self.difference,
            "interval": [self.low, self.high],
            "better": None if self.better is None else self.better + 1,
            "runs": self.runs,
            "exact": self.exact,
        }


def duel(
    target: opt.World,
    first: Annotated[str, "A plan: a script, a policy of `tw plan`, or `random`."],
    second: Annotated[str, "The other plan."],
    out: Output,
    *,
    by: Annotated[By, "The value of a run."] = "reward",
    worlds: Annotated[int, "Runs of each plan, with equal seeds."] = 100,
    ticks: Annotated[int, "Records of a run at most."] = 1000,
    seed: opt.Seed = 0,
    reference: Annotated[
        str | None, "A second world: play there too, and tell whether both rank the plans alike."
    ] = None,
) -> int:
    """Compare both plans, in the reference too where one is named, and tell which is better; 3
    where runs do not decide it."""
    if worlds < _FEWEST:
        raise usage("One run tells no spread.", "Give `--worlds 2` or more.")
    plans, say = (first, second), out.each_second()
    found = []
    for place in (target, reference):
        if place is not None:
            known = _exact(place, plans, by, ticks, seed)
            if known is not None:
                found.append(known)
                continue
            rolls = [
                roll(
                    place, worlds=worlds, ticks=ticks, seed=seed, policy=plan,
                    say=lambda done, plan=plan: say(f"{plan}: {done} of {worlds} runs"),  # type: ignore[misc]
                )
                for plan in plans
            ]  # fmt: skip
            found.append(compared(place, *(_returns(one, by) for one in rolls)))
    for line in _told(found, plans, by):
        out.line(line)
    agree = None if reference is None else found[0].better == found[1].better
    if agree is not None:
        out.line(f"model and reference {'agree' if agree else 'do not agree'}")
    duels: list[Json] = [one.to_json() for one in found]
    out.json({
        "schema_version": 1, "ok": True, "by": by, "plans": list(plans), "duels": duels,
        "agree": agree,
    })  # fmt: skip
    return EXIT_OK if all(one.decided for one in found) else EXIT_UNKNOWN


def _exact(place: str, plans: Sequence[str], by: By, ticks: int, seed: int) -> Duel | None:
    """Compare the exact means; ``None`` where one cannot be computed."""
    world, means = open_world(place), []
    for plan in plans:
        one = expected(world, None if plan == "random" else read_source(plan), by, ticks, seed)
        if one is None:
            return None
        means.append(one)
    gap = float(means[0] - means[1])
    return Duel(place, (float(means[0]), float(means[1])), gap, gap, gap, 0, True)


def _returns(found: Rollout, by: By) -> list[float]:
    """The return of each run."""
    match by:
        case "reward":
            return [float(one) for one in found.reward]
        case "score":
            return [float(one) for one in found.score]
        case "won":
            goals = {at for at, kind in enumerate(found.kinds) if kind == "goal"}
            return [float(int(one) in goals) for one in found.ending]
        case _:
            assert_never(by)


def compared(world: str, first: Sequence[float], second: Sequence[float]) -> Duel:
    """Compare the returns of two plans, pair by pair. Runs with equal seeds have equal draws as far
    as the plans do the same, so the differences spread less than the returns."""
    runs = len(first)
    gaps = [one - other for one, other in zip(first, second, strict=True)]
    mean = sum(gaps) / runs
    error = sqrt(sum((one - mean) ** 2 for one in gaps) / (runs - 1) / runs)
    return Duel(world, (sum(first) / runs, sum(second) / runs), mean, mean - _Z * error,
                mean + _Z * error, runs)  # fmt: skip


def _told(found: Sequence[Duel], plans: Sequence[str], by: By) -> Iterator[str]:
    heads = ("world", *plans, "difference", "95 %", "better")
    runs = next((one.runs for one in found if not one.exact), 0)
    yield f"mean {by} of {runs} runs, equal seeds for both plans" if runs else f"exact mean {by}"
    yield from columns([heads, *(_cells(one, plans) for one in found)], range(len(heads)))


def _cells(one: Duel, plans: Sequence[str]) -> tuple[str, ...]:
    open_ = "equal" if one.exact else "undecided"
    better = open_ if one.better is None else plans[one.better]
    interval = "exact" if one.exact else f"{one.low:.4g} to {one.high:.4g}"
    means = (f"{mean:.4g}" for mean in one.means)
    return (one.world, *means, f"{one.difference:.4g}", interval, better)
