"""Many runs of one world: by chance, by a policy or by a script, as fast as the world allows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Literal, Protocol

from tokenworld.diagnostics import Diagnostic, Failure, Source, read_source
from tokenworld.engine import Engine, EngineSimulator, State
from tokenworld.engine.rollout import Escaped, Inexpressible, Machine, compiler_missing
from tokenworld.ground import STATUSES, Command, NoMatch, Outcome
from tokenworld.model import may_draw
from tokenworld.planning.space.policy import Policy, advised, read_policy
from tokenworld.prose import IntentLine, read_script
from tokenworld.session.intents import Resolver
from tokenworld.session.loading import OpenWorld, open_world
from tokenworld.session.players import random_command
from tokenworld.session.rolled import EngineName, Rollout, Run, table_of

__all__ = ["draws_in_setup", "rollout"]

COMPILING = 500_000
"""So many records are worth the time that compiling takes."""
Choice = Literal["auto", "fast", "plain", "play"]


class _Player(Protocol):
    """What to do in a state, on the turn with this number; ``None``: nothing more."""

    def __call__(self, state: State, seed: int, turn: int) -> Command | NoMatch | None: ...


def rollout(
    target: str | OpenWorld,
    *,
    worlds: int = 100,
    ticks: int = 1000,
    seed: int = 0,
    policy: str | Path | Source = "random",
    engine: Choice = "auto",
    digests: bool = False,
    say: Callable[[int], None] = lambda done: None,
) -> Rollout:
    """Play a world many times, each run with the next seed, for at most ``ticks`` records.

    ``policy`` is ``random``, the player of `tw run`, or a file or its text: a policy of `tw plan`
    or a script.
    ``engine``: ``fast`` compiles (extra `fast`), ``plain`` runs the same functions in Python,
    ``play`` is the interpreter, ``auto`` the best of them for this world and this many records.
    Every run is the one that `tw run` gives with the same seed and player, state hash included.
    """
    if worlds < 1 or ticks < 0:
        raise _usage("A rollout needs a world and a number of ticks.", "Give `--worlds N`, N > 0.")
    opened = open_world(target) if isinstance(target, str) else target
    given = policy if isinstance(policy, Source) or policy == "random" else read_source(policy)
    player = _player(opened, given) if isinstance(given, Source) else None
    machine, note = _machine(opened.engine, engine, worlds * ticks if player is None else 0)
    work = _Work(opened, machine, player, ticks, digests)
    runs = []
    for number in range(worlds):
        runs.append(work.run(seed + number))
        say(number + 1)
    endings = opened.world.endings
    digest = tuple(one.digest for one in runs) if digests else None
    shown = given.name if isinstance(given, Source) else str(given)
    return Rollout(
        opened.world.name, shown, seed, ticks, _name(machine), note, work.escaped,
        tuple(one.name for one in endings), tuple(one.ending for one in endings),
        digests=digest, **table_of(runs),
    )  # fmt: skip


def _name(machine: Machine | None) -> EngineName:
    return "play" if machine is None else "fast" if machine.fast else "plain"


def _machine(engine: Engine, choice: Choice, records: int) -> tuple[Machine | None, str]:
    """What plays: a machine, or ``None`` for the interpreter and why."""
    if choice == "play":
        return None, ""
    missing = compiler_missing()
    if choice == "fast" and missing:
        what = f"`{missing}` is not installed, so nothing can be compiled."
        raise Failure(
            Diagnostic("TW0811", what, hint="Run `pip install 'token-world[fast]'`, "
                       "or leave `--engine fast` out.")
        )  # fmt: skip
    fast = choice == "fast" or (choice == "auto" and not missing and records >= COMPILING)
    try:
        return _built(engine, fast), ""
    except Inexpressible as reason:
        where = "" if reason.span is None else f" ({reason.span})"
        what = f"This world does not fit into slots: {reason.what}{where}."
        if choice == "auto":
            return None, f"{what} The interpreter plays it."
        hint = "Leave `--engine` out: the interpreter plays any world."
        raise Failure(Diagnostic("TW0801", what, reason.span, hint=hint)) from None


@lru_cache(maxsize=1)
def _built(engine: Engine, fast: bool) -> Machine:
    """The last machine is kept: a sweep asks for runs of one engine again and again."""
    return Machine(engine, fast=fast)


def _usage(message: str, hint: str) -> Failure:
    return Failure(Diagnostic("TW0006", message, hint=hint))


def draws_in_setup(world: OpenWorld) -> bool:
    """Whether chance has a say in the start state, so that it may differ from seed to seed."""
    bodies = [*world.world.setups]
    bodies += [one.body for map_ in world.world.layouts for one in map_.legends]
    return any(map(may_draw, (*bodies, *(birth.body for birth in world.program.births))))


# ---- players --------------------------------------------------------------------------------


def _player(world: OpenWorld, source: Source) -> _Player:
    """The player of a file: a policy begins with its format, a script with an intent."""
    if not source.text.lstrip().startswith("{"):
        return _scripted(world, read_script(source))
    policy = read_policy(source.text, source.name)
    if (policy.world, policy.program) != (world.world.name, world.program.digest):
        what = f"The policy was made for another world or other rules than `{world.world.name}`."
        raise _usage(what, "Make it again with `tw plan WORLD --luck certain --policy FILE`.")
    return _advised(world, policy)


def _scripted(world: OpenWorld, lines: tuple[IntentLine, ...]) -> _Player:
    resolver = Resolver(world)

    def play(state: State, seed: int, turn: int) -> Command | NoMatch | None:
        return resolver.resolve(state, lines[turn].intent) if turn < len(lines) else None

    return play


def _advised(world: OpenWorld, policy: Policy) -> _Player:
    """A policy; what it says of a state is looked up once."""
    simulator = EngineSimulator(world.engine)
    known: dict[object, Command | None] = {}

    def play(state: State, seed: int, turn: int) -> Command | NoMatch | None:
        key = simulator.key(state)
        if key not in known:
            won = simulator.won(state, policy.goal)
            known[key] = None if won else advised(simulator, state, policy)
        return known[key]

    return play


# ---- runs -----------------------------------------------------------------------------------


@dataclass
class _Work:
    """The runs of one rollout; ``escaped`` counts those that the interpreter had to play."""

    world: OpenWorld
    machine: Machine | None
    player: _Player | None
    most: int
    digests: bool
    escaped: int = 0
    first: State | None = None
    begun: bool = False

    def run(self, seed: int) -> Run:
        """The run of one seed."""
        if self.machine is None:
            return self._interpreted(self._start(seed), seed)
        try:
            return self._slotted(self.machine, seed)
        except (Escaped, Inexpressible):
            self.escaped += 1
            return self._interpreted(self._start(seed), seed)

    @cached_property
    def _varies(self) -> bool:
        """Whether chance has a say in the start state; else only the seed differs."""
        return draws_in_setup(self.world)

    def _start(self, seed: int) -> State:
        if self.first is None or self._varies:
            self.first = self.world.engine.start(seed)
            return self.first
        state = self.first.fork()
        state.seed = seed
        return state

    # ---- in slots -----------------------------------------------------------------------------

    def _slotted(self, machine: Machine, seed: int) -> Run:
        if self.begun and not self._varies:
            machine.restart(seed)
        else:
            machine.begin(self._start(seed))
            self.begun = True
        if self.player is None:
            machine.play(self.most)
        else:
            self._follow(machine, self.player, seed)
        tally, state = machine.tally(), None
        if self.digests or self._live:
            state = machine.state()
        generated = machine.generated
        return Run(
            seed, machine.tick, tally.records, tally.statuses,
            machine.first_ending if state is None or not self._live else self._reached(state),
            self._ended(tally.ended_at, machine.tick, state),
            machine.score() / 10**generated.score_decimals,
            tally.rewards / 10**generated.reward_decimals,
            self.world.engine.hash(state) if state is not None and self.digests else "",
        )  # fmt: skip

    def _follow(self, machine: Machine, player: _Player, seed: int) -> None:
        turn, records = 0, 0
        while records < self.most and not machine.over():
            intent = player(machine.state(), seed, turn)
            if intent is None:
                return
            records += len(machine.intend(intent))
            turn += 1

    # ---- by the interpreter -------------------------------------------------------------------

    def _interpreted(self, start: State, seed: int) -> Run:
        engine, state, records = self.world.engine, start, 0
        statuses, reward, ended_at = [0] * len(STATUSES), 0.0, start.tick if start.latched else -1
        for outcomes, after in self._played(start, seed):
            records += len(outcomes)
            for outcome in outcomes:
                statuses[STATUSES.index(outcome.status)] += 1
                reward += outcome.reward
            if after.latched and ended_at < 0:
                ended_at = after.tick
            state = after
        return Run(
            seed, state.tick, records, tuple(statuses), self._reached(state),
            self._ended(ended_at, state.tick, state), float(engine.score(state)), reward,
            engine.hash(state) if self.digests else "",
        )  # fmt: skip

    def _played(self, start: State, seed: int) -> Iterator[tuple[tuple[Outcome, ...], State]]:
        engine, state, records, turn = self.world.engine, start, 0, 0
        while records < self.most and not engine.stepper.endings.over(state):
            if self.player is None:
                intent: Command | NoMatch | None = random_command(engine, state, seed, turn)
            else:
                intent = self.player(state, seed, turn)
            if intent is None:
                return
            state, outcomes = engine.play(state, intent)
            records, turn = records + len(outcomes), turn + 1
            yield outcomes, state

    # ---- endings ------------------------------------------------------------------------------

    @property
    def _live(self) -> bool:
        return self.world.world.outcomes == "live"

    def _reached(self, state: State) -> int:
        """The ending that came first; where outcomes are live, the one that is true at the end."""
        reached = self.world.engine.stepper.endings.reached(state, state.me)
        names = [line.name for line in self.world.world.endings]
        return names.index(reached[0]) if reached else -1

    def _ended(self, ended_at: int, tick: int, state: State | None) -> int:
        if self._live and state is not None:
            return tick if self._reached(state) >= 0 else -1
        return ended_at
