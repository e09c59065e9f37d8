"""Is there an honest plan: one that wins for every assignment of secrets (language.md §16)?

Our own search runs on sets of states (`Beliefs`) and answers exactly, and so does the sliced search
(`sliced_run`), which sees only what can matter for the goal. Planners know one world only: a plan
for one assignment counts if the interpreter replays it in all of them, and a proof for one
assignment holds for all, because an honest plan is a plan for each.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from hashlib import sha256
from typing import Generic, Literal, Unpack

from tokenworld.diagnostics import Diagnostic, Severity, in_seconds
from tokenworld.ground import Command, Simulator, StateT
from tokenworld.planning.honest.beliefs import Beliefs
from tokenworld.planning.honest.secrets import secrets_read
from tokenworld.planning.ladder import plan
from tokenworld.planning.lower.algebra import COIN, LONG, WAS, Explosion, Obstacle, Refused
from tokenworld.planning.lower.encode import Unencodable, too_big
from tokenworld.planning.lower.facts import Read, facts_of
from tokenworld.planning.lower.ticks import ACT, assembled
from tokenworld.planning.lower.world import Cone, TakenApart, cone_of
from tokenworld.planning.planners.answers import Asked, Classical, EngineRun
from tokenworld.planning.planners.by_encoding import fast_downward
from tokenworld.planning.proof.certificate import NoProof
from tokenworld.planning.proof.unsolvable_core import slot_text, value_shown
from tokenworld.planning.referee import refereed, replay
from tokenworld.planning.search.interpreted import Cancel
from tokenworld.planning.task import Operator, Task
from tokenworld.planning.verdict import Honesty, PlanStep, Shortfall, Verdict

# ---- The sliced search --------------------------------------------------------------------------
# One sliced task, with a start state for each assignment. Secrets are variables here and not
# constants, so that commands mean the same whatever is hidden. The slice is that of encoding E:
# what can matter for the goal, for endings and invariants, and for whether a command can be given.
# Each command that it leaves out has the effect of waiting in every assignment.
#
# The search is conformant planning in belief space (Bonet and Geffner 2000) on vectors with one
# sliced state per assignment. A command leads on only if it is executed in every state in which the
# goal is ahead, as in `Beliefs`; commands that cannot matter do not exist here. When no vector is
# left there is no honest plan, for the slice is exact.

_MOST_NODES = 600_000


@dataclass(frozen=True, slots=True)
class Hidden:
    """A slot that matters and is not the same in all starts: its name, and its value in each, both
    as authors write them."""

    name: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class Joint:
    """A task with a start state per assignment, in their order, and the variables that differ in
    them."""

    task: Task
    starts: tuple[tuple[int, ...], ...]
    hidden: tuple[Hidden, ...] = ()

    @cached_property
    def digest(self) -> str:
        """SHA-256 of task and start states, in hexadecimal."""
        return sha256(repr((self.task.digest, self.starts)).encode()).hexdigest()


def joint_task(
    simulator: Simulator[StateT],
    starts: Sequence[StateT],
    goal: str | None,
) -> Joint | Unencodable:
    """Return the sliced task of start states that differ only in secrets.

    Besides constructs that encoding E does not support, relevant chance and relevant long actions
    are obstacles: a belief branches on the first, and a tick that ends a long action for one
    assignment may continue it for another.
    """
    facts = facts_of(simulator, starts[0], others=starts[1:])
    try:
        world = TakenApart(facts, goal, _MOST_NODES)
        cone = cone_of(world)
        obstacles = (*world.analysis.obstacles, *cone.obstacles, *_branching(world, cone))
        if obstacles:
            return Unencodable(tuple(dict.fromkeys(obstacles)))
        task = assembled(world, cone, over=False)
    except Refused as refused:
        return Unencodable((refused.obstacle,))
    except Explosion as explosion:
        return Unencodable((too_big(facts.instance, explosion),))
    reads: list[Read] = [partial(simulator.read, one) for one in starts]
    positions = (_positions(world, cone, task, read) for read in reads)
    return Joint(task, tuple(positions), _hidden(world, cone, reads))


def _branching(world: TakenApart, cone: Cone) -> Iterator[Obstacle]:
    """The obstacles to a search that knows one state per assignment."""
    span = world.facts.instance.world.span
    for slot in cone.slots:
        if slot[0] == COIN:
            unit = world.variables.draws[slot].unit
            yield Obstacle(f"chance in `{unit.rule.name}`", unit.span, "its outcomes all count")
        elif slot[0] == LONG:
            yield Obstacle("a long action", span, "it may end earlier for some values of secrets")


def _positions(world: TakenApart, cone: Cone, task: Task, read: Read) -> tuple[int, ...]:
    """The start state that ``read`` returns. Variables of slots come second, in their order."""
    found = list(task.initial)
    for number, slot in enumerate(cone.slots, start=1):
        stored = world.variables.stored(slot) if slot[0] == WAS else slot
        if stored[0] in world.facts.program.fluents:
            found[number] = task.variables[number].values.index(read(*stored))
    return tuple(found)


def _hidden(world: TakenApart, cone: Cone, reads: Sequence[Read]) -> tuple[Hidden, ...]:
    """The slots in which start states differ, with the values in each."""
    facts = world.facts
    instance, fluents = facts.instance, facts.program.fluents
    found = []
    for name, args in cone.slots:
        if name in fluents and len(facts.starts((name, args))) > 1:
            held = (value_shown(instance, fluents[name].type, read(name, args)) for read in reads)
            found.append(Hidden(slot_text(instance, fluents[name], args), tuple(held)))
    return tuple(found)


WON, STUCK = -1, -2
"""In place of a state: the goal was reached, or it no longer can be."""
_SPAN = 1 << 256
_WATCHED = 64
"""Vectors between two looks at the limits."""

Vector = tuple[int, ...]
Stop = Callable[[int], bool]
"""Called with the number of vectors seen; returns whether to stop."""
_State = tuple[int, ...]


class _Sliced:
    """The transitions of sliced states; states are numbered in the order of discovery."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._token = next(n for n, one in enumerate(task.variables) if one.kind == "token")
        self._acts: dict[Command, list[Operator]] = {}
        self._forced: dict[int, list[Operator]] = {}
        self._wins: list[Operator] = []
        for operator in task.operators:
            self._sort_in(operator)
        self.commands = tuple(self._acts)
        self.states: list[_State] = []
        self._numbers: dict[_State, int] = {}
        self._after: dict[tuple[int, Command], int | None] = {}
        self._stuck: dict[int, bool] = {}

    def _sort_in(self, operator: Operator) -> None:
        (place,) = dict(operator.precondition)[self._token]
        if operator.command is not None:
            self._acts.setdefault(operator.command, []).append(operator)
        elif place == ACT:  # one of several ways to the goal
            self._wins.append(operator)
        else:
            self._forced.setdefault(place, []).append(operator)

    def met(self, state: _State) -> int:
        """The number of a state; `WON` for all in which the goal is reached."""
        if self._task.holds(state, self._task.goal) or self._fitting(self._wins, state):
            return WON
        number = self._numbers.setdefault(state, len(self.states))
        if number == len(self.states):
            self.states.append(state)
        return number

    def after(self, number: int, command: Command) -> int | None:
        """The successor of a state by a command; ``None`` if it is refused or rolled back."""
        asked = (number, command)
        if asked not in self._after:
            state = self._played(self.states[number], command)
            self._after[asked] = None if state is None else self.met(state)
        return self._after[asked]

    def stuck(self, number: int) -> bool:
        """Return whether no command is possible any more, for example after a loss."""
        if number not in self._stuck:
            self._stuck[number] = all(self.after(number, one) is None for one in self.commands)
        return self._stuck[number]

    def _played(self, state: _State, command: Command) -> _State | None:
        """Execute a whole tick: the command, then the phases, which have one outcome each."""
        operators = self._acts[command]
        while True:
            operator = self._fitting(operators, state)
            if operator is None:
                return None
            state = self._task.apply(state, operator)
            if state[self._token] == ACT:
                return state
            operators = self._forced[state[self._token]]

    def _fitting(self, operators: list[Operator], state: _State) -> Operator | None:
        holds = self._task.holds
        return next((one for one in operators if holds(state, one.precondition)), None)


@dataclass(frozen=True, slots=True)
class Ended:
    """A finished search: a shortest plan, or all ``vectors`` seen and none."""

    vectors: int
    plan: tuple[Command, ...] | None


class SlicedSearch:
    """Breadth first over vectors. Assignments that look equal in the slice count once."""

    def __init__(self, joint: Joint) -> None:
        self._world = _Sliced(joint.task)
        start = tuple(dict.fromkeys(self._world.met(one) for one in joint.starts))
        self._came: dict[Vector, tuple[Vector, Command] | None] = {start: None}
        self._order, self._next = [start], 0
        self._winner = start if _all_won(start) else None

    @property
    def vectors(self) -> int:
        """The number of states seen."""
        return len(self._order)

    def run(self, stop: Stop) -> Ended | None:
        """Search to the end; ``None`` if stopped, after which it can be run again."""
        while self._winner is None and self._next < len(self._order):
            if self._next % _WATCHED == 0 and stop(len(self._order)):
                return None
            self._expand(self._order[self._next])
            self._next += 1
        plan = None if self._winner is None else self._way(self._winner)
        return Ended(len(self._order), plan)

    def _expand(self, vector: Vector) -> None:
        if any(one != WON and self._world.stuck(one) for one in vector):
            return
        for command in self._world.commands:
            after = self._moved(vector, command)
            if after is not None and after not in self._came:
                self._came[after] = (vector, command)
                self._order.append(after)
                if _all_won(after):
                    self._winner = after
                    return

    def _moved(self, vector: Vector, command: Command) -> Vector | None:
        found = []
        for one in vector:
            after = WON if one == WON else self._world.after(one, command)
            if after is None:
                return None
            found.append(after)
        return tuple(found)

    def _way(self, vector: Vector) -> tuple[Command, ...]:
        found, step = list[Command](), self._came[vector]
        while step is not None:
            found.append(step[1])
            step = self._came[step[0]]
        return tuple(found[::-1])

    @cached_property
    def digest(self) -> str:
        """The sum modulo 2**256 of the SHA-256 of all vectors seen, in hexadecimal."""
        states, total = self._world.states, 0
        for vector in self._order:
            shown = [() if one == WON else states[one] for one in vector]
            total += int.from_bytes(sha256(repr(shown).encode()).digest(), "big")
        return f"{total % _SPAN:064x}"


def _all_won(vector: Vector) -> bool:
    return all(one == WON for one in vector)


# ---- the next best ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Best:
    """The plan that wins for most assignments, ``wins`` by their numbers. It fails for the others:
    a step is refused, a loss comes, or the goal is not reached."""

    plan: tuple[Command, ...]
    wins: tuple[int, ...]


def best_plan(joint: Joint, stop: Stop) -> Best | None:
    """The best plan if no plan wins for all; ``None`` if stopped before it is known.

    A vector that cannot win for more than the best so far is pruned (branch and bound).
    """
    world = _Sliced(joint.task)
    numbers = [world.met(one) for one in joint.starts]
    counts = Counter(numbers)
    kinds, seen = tuple(counts), dict[Vector, tuple[Command, ...]]()

    def worth(vector: Vector, *wanted: int) -> int:
        return sum(counts[kind] for kind, one in zip(kinds, vector, strict=True) if one in wanted)

    def failed(one: int | None) -> int:
        return STUCK if one is None or (one >= 0 and world.stuck(one)) else one

    start = tuple(failed(one) for one in kinds)
    order, best = [start], start
    seen[start] = ()
    for place, vector in enumerate(order):
        if place % _WATCHED == 0 and stop(len(order)):
            return None
        if len(joint.starts) - worth(vector, STUCK) <= worth(best, WON):
            continue
        for command in world.commands:
            after = tuple(one if one < 0 else failed(world.after(one, command)) for one in vector)
            if after not in seen:
                seen[after] = (*seen[vector], command)
                order.append(after)
                if worth(after, WON) > worth(best, WON):
                    best = after
    won = {kind for kind, one in zip(kinds, best, strict=True) if one == WON}
    return Best(seen[best], tuple(at for at, one in enumerate(numbers) if one in won))


# ---- Honest plans -------------------------------------------------------------------------------

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Question(Generic[StateT]):
    """The question: ``starts`` are all states that look to the player like the first of them.

    ``secrets`` are the ids of the secret fluents in which they differ.
    """

    simulator: Simulator[StateT]
    starts: tuple[StateT, ...]
    secrets: tuple[str, ...]
    goal: str | None

    def beliefs(self) -> Beliefs[StateT]:
        return Beliefs(self.simulator, self.starts, self.goal, self.secrets)

    def honesty(self, *, together: bool) -> Honesty:
        return Honesty(len(self.starts), self.secrets, together)


def honest_plan(
    question: Question[StateT],
    *,
    seconds: float,
    own_only: bool = False,
    say: Say | None = None,
) -> Verdict:
    """The verdict of the whole ladder; ``own_only`` leaves the planners out.

    Raises `Failure` with TW0201 for a goal that the world does not have.
    """
    beliefs, goal = question.beliefs(), question.goal
    planners = _Planners(question, beliefs, say or (lambda line: None))
    found = plan(
        beliefs,
        beliefs.start(),
        goal,
        time_limit=seconds,
        classical=None if own_only else planners.classical(),
        width=False,
        packs=False,
        progress=say,
    )
    return _settled(question, beliefs, found, planners.shortfall)


def _settled(
    question: Question[StateT],
    beliefs: Beliefs[StateT],
    found: Verdict,
    shortfall: Shortfall | None,
) -> Verdict:
    """A verdict of the ladder about beliefs, restricted by draws and costs."""
    if found.answer == "unwinnable" and found.claim == "exhausted" and _inexact(beliefs):
        note = _luck_note() if beliefs.chanced else _crowd_note()
        found = replace(found, answer="unknown", claim=None, engine="", proof=None)
        return _about_secrets(question, replace(found, notes=(*found.notes, note)), together=False)
    if found.optimal is not None and (_inexact(beliefs) or beliefs.uneven):
        found = replace(found, optimal=None)
    if found.answer == "unwinnable" and found.engine == SLICED:
        honest = _about_secrets(question, found, together=True)
        return replace(honest, honest=replace(question.honesty(together=True), shortfall=shortfall))
    together = found.answer == "winnable" or found.claim == "exhausted"
    return _about_secrets(question, found, together=together)


def _inexact(beliefs: Beliefs[StateT]) -> bool:
    return beliefs.chanced or beliefs.crowded


def _about_secrets(question: Question[StateT], found: Verdict, *, together: bool) -> Verdict:
    """The verdict as an honest one; a secret that the plan does without is no matter."""
    notes = tuple(note for note in found.notes if note.code != "TW0808")
    if found.answer == "winnable":
        program = question.simulator.instance.program
        commands = [step.command for step in found.steps]
        known = frozenset(question.secrets)
        notes += secrets_read(program, commands, known)
    else:
        notes = found.notes
    return replace(found, notes=notes, honest=question.honesty(together=together))


# ---- one engine ---------------------------------------------------------------------------------


def judged(question: Question[StateT], found: Verdict) -> Verdict:
    """An engine's verdict about the first start, as a verdict about honest plans.

    Its plan counts if it wins in all of ``starts``; its proof counts as it is.
    """
    if found.answer != "winnable":
        return replace(found, honest=question.honesty(together=False))
    beliefs = question.beliefs()
    steps, goal = _plain(found.steps), question.goal
    again = refereed(beliefs, beliefs.start(), steps, goal, found.engine, found.encoding)
    if isinstance(again, Verdict):
        kept = found.optimal if not (beliefs.chanced or beliefs.uneven) else None
        again = replace(
            again, attempts=found.attempts, seconds=found.seconds,
            optimal=kept if again.cost == found.cost and again.ticks == found.ticks else None,
        )  # fmt: skip
        return _about_secrets(question, again, together=True)
    unknown = Verdict("unknown", goal, None, "", "", attempts=found.attempts, seconds=found.seconds)
    note = _partial(found.engine, again)
    return replace(unknown, notes=(note,), honest=question.honesty(together=False))


def _plain(steps: Sequence[PlanStep]) -> tuple[PlanStep, ...]:
    """The commands alone: an honest plan counts on no luck."""
    return tuple(PlanStep(step.command) for step in steps)


def _partial(engine: str, detail: str) -> Diagnostic:
    return Diagnostic(
        "TW0808",
        f"The plan of `{engine}` wins only for some values of the secrets: {detail}.",
        hint="Plan without `--engine`: our own search looks at all values at once.",
        severity=Severity.INFO,
    )


def _luck_note() -> Diagnostic:
    return Diagnostic(
        "TW0801",
        "Chance plays a part here, and no plan wins for all luck and all secrets.",
        notes=("An honest plan that counts on luck may exist: the search skips those.",),
        hint="Plan without `--honest` for the best of luck, or with `--luck certain`.",
    )


def _crowd_note() -> Diagnostic:
    message = "Too many states look alike to the player to follow all of them."
    return Diagnostic("TW0813", message, hint="Make what is secret smaller.")


# ---- the planners of the ladder -----------------------------------------------------------------


class _Planners(Generic[StateT]):
    """Searches the slice of all assignments, then runs planners on one after the other.

    The plan for one is tried in all. ``shortfall`` is the best plan of the proof of the first.
    """

    def __init__(self, question: Question[StateT], beliefs: Beliefs[StateT], say: Say) -> None:
        self._question, self._beliefs, self._say = question, beliefs, say
        self.shortfall: Shortfall | None = None

    def classical(self) -> Classical:
        """This as a rung of the ladder, which knows nothing of beliefs."""

        def ask(simulator: object, state: object, goal: str | None, **asked: Unpack[Asked]) -> None:
            end, starts = time.monotonic() + asked["seconds"], self._question.starts
            done = self._sliced(asked)

            def heard(run: EngineRun) -> bool:
                nonlocal done
                done = asked["accept"](self._tried(run)) or done
                return done

            for number, start in enumerate(starts):
                left = (end - time.monotonic()) / (len(starts) - number)
                if done or asked["cancel"]() or left <= 0:
                    return
                given: Asked = {**asked, "seconds": left, "accept": heard}
                fast_downward(self._question.simulator, start, goal, **given)

        return ask

    def _sliced(self, asked: Asked) -> bool:
        """Search the slice for half of the time; whether that was an answer."""
        question = self._question
        found = sliced_run(
            question.simulator, question.starts, question.goal, seconds=asked["seconds"] / 2,
            memory=asked["memory"], cancel=asked["cancel"], say=self._say,
        )  # fmt: skip
        self.shortfall = found.shortfall
        return asked["accept"](found.run)

    def _tried(self, run: EngineRun) -> EngineRun:
        """A plan that does not win everywhere is no fault of the planner."""
        if run.result != "plan":
            return run
        plain, start = _plain(run.steps), self._beliefs.start()
        found = replay(self._beliefs, start, plain, self._question.goal)
        if found.ok:
            return replace(run, steps=plain)
        detail = "its plan wins only for some values of the secrets"
        note = _partial(run.engine, found.failure(len(plain)))
        return replace(run, result="invalid plan", detail=detail, notes=(note,))


SLICED = "sliced search"
ENCODING = "E"
_LOOK = 0.1
"""Seconds between two checks of the searches that run in parallel."""
_MOST_WORK = 2_000_000
"""Most moves of single states that the search for the best plan may take."""
_BOOKKEEPING = 300
"""Bytes per vector besides eight for each of its states, rounded up."""


@dataclass(frozen=True, slots=True)
class SlicedRun:
    """The result of the sliced search and, where there is no plan, how near the best one comes."""

    run: EngineRun
    shortfall: Shortfall | None = None


def sliced_run(
    simulator: Simulator[StateT],
    starts: Sequence[StateT],
    goal: str | None,
    *,
    seconds: float,
    memory: int,
    cancel: Cancel,
    say: Callable[[str], None] = lambda line: None,
) -> SlicedRun:
    """Search the slice of all ``starts`` at once, for so many seconds and bytes."""
    began = time.monotonic()
    joint = joint_task(simulator, starts, goal)
    if isinstance(joint, Unencodable):
        one = joint.obstacles[0]
        why = f"the slice does not take {one.construct}: {one.reason}"
        return SlicedRun(EngineRun(SLICED, ENCODING, "no proof", why, time.monotonic() - began))
    search, watch = SlicedSearch(joint), _Watch(began, seconds, memory, len(starts), cancel, say)
    ended = search.run(watch.stop)
    spent = time.monotonic() - began
    if ended is None:
        detail = f"it stopped after {search.vectors:,} sets of states"
        how: Literal["cancelled", "limit"] = "cancelled" if watch.cancelled else "limit"
        return SlicedRun(EngineRun(SLICED, ENCODING, how, detail, spent))
    if ended.plan is not None:
        steps = tuple(PlanStep(one) for one in ended.plan)
        return SlicedRun(EngineRun(SLICED, ENCODING, "plan", "it found a plan", spent, steps))
    detail = f"none of the {ended.vectors:,} sets of sliced states is all goal"
    proved = EngineRun(SLICED, ENCODING, "no plan", detail, spent, digest=joint.digest)
    return SlicedRun(proved, _shortfall(simulator, starts[0], joint))


class _Watch:
    """Checks time, memory and the other limits, only as often as is cheap."""

    def __init__(
        self, began: float, seconds: float, memory: int, width: int, cancel: Cancel,
        say: Callable[[str], None],
    ) -> None:  # fmt: skip
        self._end, self._most = began + seconds, memory // (_BOOKKEEPING + 8 * width)
        self._cancel, self._say = cancel, say
        self._looked = self._spoke = began
        self.cancelled = False

    def stop(self, vectors: int) -> bool:
        now = time.monotonic()
        if now - self._spoke >= 1:
            self._spoke = now
            self._say(f"{SLICED}: {vectors:,} sets of states seen")
        if now - self._looked >= _LOOK:
            self.cancelled = self._cancel()
            self._looked = time.monotonic()
        return self.cancelled or now > self._end or vectors > self._most


# ---- how near the best plan comes --------------------------------------------------------------


def _shortfall(simulator: Simulator[StateT], state: StateT, joint: Joint) -> Shortfall | None:
    """For how many assignments a plan can win at most; ``None`` where that takes too long."""
    commands = len({one.command for one in joint.task.operators})
    each = max(commands, 1) * len(joint.starts)
    best = best_plan(joint, lambda vectors: vectors * each > _MOST_WORK)
    if best is None:
        return None
    plan = tuple(simulator.show(state, one) for one in best.plan)
    return Shortfall(len(best.wins), plan, _failing(joint, best))


def _failing(joint: Joint, best: Best) -> tuple[str, ...]:
    """The assignments for which the best plan fails, as authors write them, each once.

    They are in the order of their values: the first start is the real one, which is secret.
    """
    failing = set(range(len(joint.starts))) - set(best.wins)
    return tuple(
        dict.fromkeys(
            " and ".join(f"{one.name} = {one.values[at]}" for one in joint.hidden)
            for at in sorted(failing, key=lambda at: joint.starts[at])
            if joint.hidden
        )
    )


# ---- the proof alone ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SliceProof:
    """All vectors that can be reached on the slice: their number and digest, and the task's."""

    vectors: int
    digest: str
    task: str


def slice_proof(
    simulator: Simulator[StateT],
    starts: Sequence[StateT],
    goal: str | None,
    *,
    seconds: float,
    say: Callable[[str], None] = lambda line: None,
) -> SliceProof:
    """Build the slice anew and see all of it; `NoProof` where it proves nothing."""
    began, joint = time.monotonic(), joint_task(simulator, starts, goal)
    if isinstance(joint, Unencodable):
        one = joint.obstacles[0]
        raise NoProof(f"the slice does not take {one.construct}: {one.reason}")
    search = SlicedSearch(joint)
    watch = _Watch(began, seconds, 1 << 40, len(starts), lambda: False, say)
    ended = search.run(watch.stop)
    if ended is None:
        raise NoProof(f"the limit of {in_seconds(seconds)} was reached", limited=True)
    if ended.plan is not None:
        raise NoProof("a plan wins for all values of the secrets")
    return SliceProof(ended.vectors, search.digest, joint.digest)
