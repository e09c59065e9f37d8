"""The interpreter as referee: where a plan becomes a verdict.

Every search and every planner hands its steps to `refereed`. It replays them on the interpreter
(`replay`), takes out steps that the plan does not need (`without_idle_steps`) and draws that it
does not count on (`needed_luck`), and returns the verdict *winnable* (`winnable`), or says why the
steps are no plan. What cannot be checked within a fixed amount of work stays as it is.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from math import isqrt
from typing import Generic

from tokenworld.diagnostics.frozen import frozen
from tokenworld.ground import PASS, Command, LuckyDraw, Simulator, StateT, Successor, few_successors
from tokenworld.model import ROOT, ObjectType
from tokenworld.planning.lower.encode import is_plain
from tokenworld.planning.verdict import PlanStep, ShownStep, Verdict

_MOST_OUTCOMES_OF_A_STEP = 1 << 14
"""Most outcomes of a step that are searched for the one with the draws of the plan."""


@frozen
class Replay(Generic[StateT]):
    """The result of a replay.

    ``states`` are the states passed, the start first. ``steps`` are the steps that were taken, each
    with all draws of its tick; a plan that goes on after the goal is cut there. ``failed`` is the
    number of the step (from 0) that went wrong, the number of steps if the goal was never reached,
    and ``None`` if all is well; ``reason`` is then a clause that says why.
    """

    steps: tuple[PlanStep, ...]
    states: tuple[StateT, ...]
    failed: int | None = None
    reason: str = ""

    @property
    def ok(self) -> bool:
        return self.failed is None

    def failure(self, steps: int) -> str:
        """A clause that names the failed one of so many steps, counting from 1."""
        failed = self.failed or 0
        return self.reason if failed >= steps else f"step {failed + 1}: {self.reason}"


def replay(
    simulator: Simulator[StateT], state: StateT, plan: Sequence[PlanStep], goal: str | None
) -> Replay[StateT]:
    """Play ``plan`` from ``state``, forcing exactly its draws, until ``goal`` is reached."""
    states, steps = [state], list[PlanStep]()

    def result(failed: int | None, reason: str = "") -> Replay[StateT]:
        return Replay(tuple(steps), tuple(states), failed, reason)

    for number, step in enumerate(plan):
        if simulator.won(state, goal):
            return result(None)
        taken = _take(simulator, state, step)
        if isinstance(taken, str):
            return result(number, taken)
        state = taken.state
        states.append(state)
        steps.append(PlanStep(step.command, taken.draws))
    if simulator.won(state, goal):
        return result(None)
    return result(len(plan), "the goal is not reached at the end")


def renumbered(
    simulator: Simulator[StateT],
    state: StateT,
    steps: Sequence[PlanStep],
    unborn: Mapping[int, str],
) -> tuple[PlanStep, ...]:
    """The steps with the numbers that created objects get in play.

    An encoding has a fixed number of objects that play may create, ``unborn`` with their types, and
    a ``create`` makes the first of them that does not exist; in play no number is used twice. From
    the step on that cannot be taken nothing is renumbered.
    """
    found, stands_for = list[PlanStep](), dict[int, int]()
    for step in steps if unborn else ():
        command = _renumbered(simulator, step.command, stands_for)
        taken = _take(simulator, state, PlanStep(command, step.draws))
        if isinstance(taken, str):
            break
        found.append(PlanStep(command, step.draws))
        before, after = (simulator.instance_at(one) for one in (state, taken.state))
        living, state = frozenset(after.members[ROOT]), taken.state
        stands_for = {one: number for one, number in stands_for.items() if number in living}
        for number in sorted(living - frozenset(before.members[ROOT])):
            free = (one for one, of in unborn.items() if of == after.objects[number].of)
            one = next((one for one in free if one not in stands_for), None)
            if one is not None:
                stands_for[one] = number
    return (*found, *steps[len(found) :])


def _renumbered(
    simulator: Simulator[StateT], command: Command, stands_for: Mapping[int, int]
) -> Command:
    """The command with other numbers for some objects."""
    action = simulator.instance.program.actions.get(command.action)
    if action is None or not stands_for:
        return command
    args = (
        stands_for.get(arg, arg) if isinstance(param.type, ObjectType) and type(arg) is int else arg
        for arg, param in zip(command.args, action.params, strict=True)
    )
    return Command(command.action, tuple(args))


def _take(simulator: Simulator[StateT], state: StateT, step: PlanStep) -> Successor[StateT] | str:
    """The successor that the step counts on, or a clause that says why there is none."""
    if _absent(simulator, state, step.command):
        return f"`{step.command.action}` names an object that does not exist then"
    if simulator.lost(state):
        return f"`{_shown(simulator, state, step)}` comes after the end of the world"
    leaning = simulator.leaning(state, step.command, step.draws)
    if leaning is not None and _fits(step.draws, leaning.draws):
        return leaning  # of all that fit, the first: and if one fits exactly, that one
    shown = _shown(simulator, state, step)
    successors = few_successors(simulator, state, step.command, _MOST_OUTCOMES_OF_A_STEP)
    if successors is None:
        return f"`{shown}` has more outcomes of chance than can be looked through"
    if not successors:
        return f"`{shown}` is refused or rolled back there"
    fitting = [one for one in successors if _fits(step.draws, one.draws)]
    exact = [one for one in fitting if one.draws == step.draws]
    if not fitting:
        return f"`{shown}` cannot have the outcome of chance that the plan counts on"
    return (exact or fitting)[0]


def _absent(simulator: Simulator[StateT], state: StateT, command: Command) -> bool:
    """Return whether a command names an object that does not exist in a state: it was not created
    yet, or it was destroyed."""
    action = simulator.instance.program.actions.get(command.action)
    params = () if action is None else action.params
    named = {
        arg
        for arg, param in zip(command.args, params, strict=True)
        if isinstance(param.type, ObjectType) and isinstance(arg, int)
    }
    return bool(named) and not named.issubset(simulator.instance_at(state).members[ROOT])


def _fits(counted_on: Sequence[LuckyDraw], drawn: Sequence[LuckyDraw]) -> bool:
    """Return whether all draws that a plan counts on are among those drawn.

    An encoding may leave out draws that its goal does not depend on.
    """
    return all(draw in drawn for draw in counted_on)


def _shown(simulator: Simulator[StateT], state: StateT, step: PlanStep) -> str:
    """The command of a step, and who gives it where several actors take turns."""
    mover, call = simulator.mover(state), simulator.show(state, step.command)
    return call if mover is None else f"{mover}: {call}"


def shown(
    simulator: Simulator[StateT], states: Sequence[StateT], steps: Sequence[PlanStep]
) -> tuple[ShownStep, ...]:
    """Steps as people read them; ``states`` are those the steps are taken in, and more."""
    return tuple(
        ShownStep(
            _shown(simulator, state, step),
            simulator.cost(state, step.command),
            simulator.tick(state),
            step.draws,
        )
        for state, step in zip(states, steps, strict=False)
    )


_MOST_REPLAYED = 1_500
"""Steps replayed at most to shorten one plan."""
_MOST_BRANCHES_SHORTENED = 256
"""States kept side by side at most to see that a draw does not matter."""
_MOST_OUTCOMES_SHORTENED = 1024
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
    plain = is_plain(simulator.instance, goal)  # there a wait is never needed
    waits = not plain and PASS in simulator.commands(replayed.states[0])
    for index in reversed(range(len(best.steps))):
        for tail in _shorter(best, index, waits=waits):
            rest = replay(simulator, best.states[index], tail, goal)
            work += len(rest.states)
            if work > _MOST_REPLAYED:
                return best
            trial = _joined(best, index, rest)
            if rest.ok and _price(simulator, trial) <= _price(simulator, best):
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
    while index < len(best.steps) < isqrt(2 * _MOST_REPLAYED):
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
    replayed: Replay[StateT], index: int, *, waits: bool
) -> Iterator[tuple[PlanStep, ...]]:
    """Variants of a plan without one step or, if it ``waits``, with `pass` in its place.

    The same with the next step of the same command, for commands that switch something there and
    back.
    """
    if index >= len(replayed.steps):
        return
    rest = replayed.steps[index:]
    command = rest[0].command
    twin = next((n for n, step in enumerate(rest) if n and step.command == command), None)
    spots = [(0,)] if twin is None else [(0,), (0, twin)]
    for spot in spots:
        yield tuple(step for n, step in enumerate(rest) if n not in spot)
    if waits and not command.is_pass:
        for spot in spots:
            yield tuple(_idle(step) if n in spot else step for n, step in enumerate(rest))


def _idle(step: PlanStep) -> PlanStep:
    """Return `pass` with the same draws of the tick, without those of the action itself."""
    return PlanStep(PASS, tuple(one for one in step.draws if not one.rule.startswith("action ")))


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
    """Plays a plan along all outcomes of chance at once, within a bound on the work."""

    def __init__(
        self, simulator: Simulator[StateT], replayed: Replay[StateT], goal: str | None
    ) -> None:
        self._simulator, self._replayed, self._goal = simulator, replayed, goal
        self._tried = 0

    def wins(self, forced: _Forced) -> bool:
        """Return whether the plan reaches the goal for sure if only these draws are forced."""
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
            if _absent(self._simulator, state, command):
                return None
            successors = few_successors(self._simulator, state, command, _MOST_OUTCOMES_SHORTENED)
            if successors is None:
                return None
            fitting = [one for one in successors if _agrees(one.draws, draws)]
            if self._simulator.lost(state) or self._tried > _MOST_TRIED:
                return None
            if not fitting or not _covered([one.draws for one in fitting], draws):
                return None
            for one in fitting:
                after[self._simulator.key(one.state)] = one.state
        return list(after.values()) if len(after) <= _MOST_BRANCHES_SHORTENED else None


def _same(one: LuckyDraw, other: LuckyDraw) -> bool:
    return (one.rule, one.args, one.draw) == (other.rule, other.args, other.draw)


def _agrees(drawn: Sequence[LuckyDraw], forced: Sequence[LuckyDraw]) -> bool:
    """Return whether no draw differs from the forced one; draws that did not occur are ignored."""
    pairs = ((one, other) for one in drawn for other in forced if _same(one, other))
    return all(one.choice == other.choice for one, other in pairs)


def _covered(
    paths: Sequence[Sequence[LuckyDraw]], forced: Sequence[LuckyDraw], depth: int = 0
) -> bool:
    """Return whether these are all outcomes; a missing one was rolled back, or never happens."""
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


_MOST_BRANCHES_FITTED = 512
_MOST_OUTCOMES_FITTED = 4096
"""States kept side by side, and outcomes of a command that are looked through, at most."""


def refereed(
    simulator: Simulator[StateT],
    state: StateT,
    steps: Sequence[PlanStep],
    goal: str | None,
    engine: str,
    encoding: str,
    *,
    polish: bool = True,
) -> Verdict | str:
    """The verdict *winnable* of a plan, or a clause that says why it is none.

    ``polish`` takes out steps that it does not need.
    """
    replayed = replay(simulator, state, steps, goal)
    if not replayed.ok:
        return replayed.failure(len(steps))
    if polish:
        replayed = without_idle_steps(simulator, replayed, goal)
    return winnable(simulator, replayed, goal, engine, encoding)


def winnable(
    simulator: Simulator[StateT],
    replayed: Replay[StateT],
    goal: str | None,
    engine: str,
    encoding: str,
) -> Verdict:
    """The verdict of a plan that was replayed to the goal."""
    first, last = replayed.states[0], replayed.states[-1]
    kept = needed_luck(simulator, replayed, goal)
    names = (line.name for line in simulator.instance.world.goals)
    return Verdict(
        "winnable",
        goal,
        "found",
        engine,
        encoding,
        plan=shown(simulator, replayed.states, kept),
        steps=kept,
        ticks=simulator.tick(last) - simulator.tick(first),
        reached=tuple(name for name in names if simulator.won(last, name)),
        wins_with_seed=None if any(step.draws for step in kept) else True,
    )


def fitted(
    simulator: Simulator[StateT], state: StateT, commands: Sequence[Command], goal: str | None
) -> tuple[PlanStep, ...] | None:
    """The commands with outcomes of chance under which they reach the goal, if there are such.

    Plans in PDDL name actions and not always draws; all outcomes are followed side by side.
    """
    branches: list[tuple[StateT, tuple[PlanStep, ...]]] = [(state, ())]
    for command in commands:
        after: dict[Hashable, tuple[StateT, tuple[PlanStep, ...]]] = {}
        for now, steps in branches:
            if simulator.won(now, goal):
                return steps
            for one in few_successors(simulator, now, command, _MOST_OUTCOMES_FITTED) or ():
                if len(after) < _MOST_BRANCHES_FITTED and not simulator.lost(one.state):
                    taken = (*steps, PlanStep(command, one.draws))
                    after.setdefault(simulator.key(one.state), (one.state, taken))
        branches = list(after.values())
    return next((steps for now, steps in branches if simulator.won(now, goal)), None)
