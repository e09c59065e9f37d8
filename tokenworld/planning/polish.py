"""Making a plan honest and plain: without steps it does not need, with only the luck it needs.

Planners that look for any plan fill the time with actions that do nothing, and a plan that was
replayed lists every draw of its ticks. Both are taken back here, each time checked on the
interpreter; what cannot be checked within a fixed amount of work stays as it is.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import Generic

from tokenworld.ground import PASS, Command, LuckyDraw, Simulator, StateT, few_successors
from tokenworld.planning.replay import Replay, replay
from tokenworld.planning.verdict import PlanStep

__all__ = ["needed_luck", "without_idle_steps"]

_MOST_REPLAYED = 8_000
"""Steps replayed at most to shorten one plan."""
_MOST_BRANCHES = 256
"""States kept side by side at most to see that a draw does not matter."""
_MOST_OUTCOMES = 1024
"""Outcomes of a step that are looked through to see which of its draws the plan counts on."""
_MOST_TRIED = 20_000
"""Commands tried at most to find the draws that matter."""


# ---- steps ----------------------------------------------------------------------------


def without_idle_steps(
    simulator: Simulator[StateT], replayed: Replay[StateT], goal: str | None
) -> Replay[StateT]:
    """The same replay, where steps are left out or become `pass` as long as it is no worse.

    No worse: its cost is not higher, nor are its ticks at equal cost.
    """
    best, work = _eliminated(simulator, replayed, goal)
    for index in reversed(range(len(best.steps))):
        for tail in _shorter(simulator, best, index):
            work += len(tail)
            if work > _MOST_REPLAYED:
                return best
            trial = _continued(simulator, best, index, tail, goal)
            if trial is not None and _price(simulator, trial) <= _price(simulator, best):
                best = trial
                break
    return best


def _eliminated(
    simulator: Simulator[StateT], replayed: Replay[StateT], goal: str | None
) -> tuple[Replay[StateT], int]:
    """The same replay without steps that only make each other possible, and the work it took.

    Each step in turn is left out together with all later ones that cannot be taken then (*action
    elimination*: Nakhost and Müller, *Action Elimination and Plan Neighborhood Graph Search*,
    ICAPS 2010).
    """
    best, index, work = replayed, 0, 0
    while index < len(best.steps):
        work += len(best.steps) - index
        if work > _MOST_REPLAYED:
            break
        rest = _taken(simulator, best.states[index], best.steps[index + 1 :], goal)
        trial = None if rest is None else _joined(best, index, rest)
        if trial is not None and _price(simulator, trial) < _price(simulator, best):
            best = trial
        else:
            index += 1
    return best, work


def _taken(
    simulator: Simulator[StateT], state: StateT, steps: Sequence[PlanStep], goal: str | None
) -> Replay[StateT] | None:
    """Those of the steps that can be taken one after another, if they reach the goal."""
    done, states = list[PlanStep](), [state]
    while True:
        part = replay(simulator, states[-1], steps, goal)
        done += part.steps
        states += part.states[1:]
        if part.ok:
            return Replay(tuple(done), tuple(states))
        if part.failed is None or part.failed >= len(steps):
            return None
        steps = steps[part.failed + 1 :]


def _shorter(
    simulator: Simulator[StateT], replayed: Replay[StateT], index: int
) -> Iterator[tuple[PlanStep, ...]]:
    """The rest of the plan from a step on, without it or with `pass` in its place.

    The same with the next step of the same command, for what switches something there and back.
    """
    if index >= len(replayed.steps):
        return
    rest = replayed.steps[index:]
    command = rest[0].command
    twin = next((n for n, step in enumerate(rest) if n and step.command == command), None)
    spots = [(0,)] if twin is None else [(0,), (0, twin)]
    for spot in spots:
        yield tuple(step for n, step in enumerate(rest) if n not in spot)
    if not command.is_pass and PASS in simulator.commands(replayed.states[index]):
        for spot in spots:
            yield tuple(_idle(step) if n in spot else step for n, step in enumerate(rest))


def _idle(step: PlanStep) -> PlanStep:
    """`pass` instead, with the same luck in the tick; what the action itself drew is gone."""
    return PlanStep(PASS, tuple(one for one in step.draws if not one.rule.startswith("action ")))


def _continued(
    simulator: Simulator[StateT],
    before: Replay[StateT],
    index: int,
    tail: Sequence[PlanStep],
    goal: str | None,
) -> Replay[StateT] | None:
    """The replay that goes on from a step with other steps, if it still reaches the goal."""
    rest = replay(simulator, before.states[index], tail, goal)
    return _joined(before, index, rest) if rest.ok else None


def _joined(before: Replay[StateT], index: int, rest: Replay[StateT]) -> Replay[StateT]:
    """A replay up to a step, and another one from there on."""
    steps = (*before.steps[:index], *rest.steps)
    return Replay(steps, (*before.states[:index], *rest.states))


def _price(simulator: Simulator[StateT], replayed: Replay[StateT]) -> tuple[int, int]:
    pairs = zip(replayed.states, replayed.steps, strict=False)
    cost = sum(simulator.cost(state, step.command) for state, step in pairs)
    return cost, len(replayed.steps)


# ---- luck -----------------------------------------------------------------------------

_Forced = list[tuple[int, LuckyDraw]]
"""Draws that are forced, each with the number of its step."""


def needed_luck(
    simulator: Simulator[StateT], replayed: Replay[StateT], goal: str | None
) -> tuple[PlanStep, ...]:
    """The steps with only those draws that the plan counts on.

    However all other draws fall, no step is refused and the goal is reached. Whole rules are tried
    first, then single draws, the last ones first; no single draw of the result can be left out.
    """
    trial = _Trial(simulator, replayed, goal)
    forced = [(number, draw) for number, step in enumerate(replayed.steps) for draw in step.draws]
    rules = list(dict.fromkeys(draw.rule for _, draw in forced))
    groups = [[pair for pair in forced if pair[1].rule == rule] for rule in rules]
    groups += [[pair] for pair in reversed(forced)]
    for group in groups:
        rest = [pair for pair in forced if pair not in group]
        if len(rest) < len(forced) and trial.wins(rest):
            forced = rest
    return tuple(
        PlanStep(step.command, tuple(draw for at, draw in forced if at == number))
        for number, step in enumerate(replayed.steps)
    )


class _Trial(Generic[StateT]):
    """Plays a plan along all outcomes of chance at once, as long as there is work left to do."""

    def __init__(
        self, simulator: Simulator[StateT], replayed: Replay[StateT], goal: str | None
    ) -> None:
        self._simulator, self._replayed, self._goal = simulator, replayed, goal
        self._merges = simulator.exact_key()
        self._tried = 0

    def wins(self, forced: _Forced) -> bool:
        """Whether the plan reaches the goal for sure if only these draws are forced."""
        branches = [self._replayed.states[0]]
        for number, step in enumerate(self._replayed.steps):
            draws = [draw for at, draw in forced if at == number]
            after = self._after(branches, step.command, draws)
            if after is None:
                return False
            branches = after
        return all(self._simulator.won(state, self._goal) for state in branches)

    def _after(
        self, branches: list[StateT], command: Command, draws: list[LuckyDraw]
    ) -> list[StateT] | None:
        """The states after a step, ``None`` if it may fail or they are too many to follow."""
        after: dict[Hashable, StateT] = {}
        for state in branches:
            if self._simulator.won(state, self._goal):
                continue
            self._tried += 1
            successors = few_successors(self._simulator, state, command, _MOST_OUTCOMES)
            if successors is None:
                return None
            fitting = [one for one in successors if _agrees(one.draws, draws)]
            if self._simulator.lost(state) or self._tried > _MOST_TRIED:
                return None
            if not fitting or not _covered([one.draws for one in fitting], draws):
                return None
            for one in fitting:
                after[self._simulator.key(one.state) if self._merges else len(after)] = one.state
        return list(after.values()) if len(after) <= _MOST_BRANCHES else None


def _same(one: LuckyDraw, other: LuckyDraw) -> bool:
    return (one.rule, one.args, one.draw) == (other.rule, other.args, other.draw)


def _agrees(drawn: Sequence[LuckyDraw], forced: Sequence[LuckyDraw]) -> bool:
    """Whether no draw fell otherwise than it was forced to; one that was not drawn is no matter."""
    pairs = ((one, other) for one in drawn for other in forced if _same(one, other))
    return all(one.choice == other.choice for one, other in pairs)


def _covered(
    paths: Sequence[Sequence[LuckyDraw]], forced: Sequence[LuckyDraw], depth: int = 0
) -> bool:
    """Whether these are all outcomes: one that is missing was rolled back, or never happens."""
    heads = [path[depth] for path in paths if len(path) > depth]
    if not heads:
        return True
    choices = {head.choice for head in heads}
    if len(choices) < heads[0].alternatives and not any(_same(heads[0], one) for one in forced):
        return False
    return all(
        _covered([path for path in paths if path[depth].choice == choice], forced, depth + 1)
        for choice in choices
    )
