"""Many runs of one world, by chance, by a policy or by a script, and the table of their results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Literal, Protocol

from tokenworld.diagnostics import (
    Diagnostic,
    Failure,
    Source,
    did_you_mean,
    is_source,
    read_source,
    usage,
)
from tokenworld.engine import Engine, EngineSimulator, State
from tokenworld.engine.rows.code.compiled import Compiled, compiler_missing
from tokenworld.engine.rows.code.numeric import Uncompiled
from tokenworld.engine.rows.layout import Slots
from tokenworld.engine.rows.log import Reward, rewarded
from tokenworld.engine.rows.runs import Runs
from tokenworld.ground import FRUITLESS, PASS, STATUSES, Command, Json, NoMatch, Status
from tokenworld.model import EndingKind, may_draw
from tokenworld.planning.space.observed_draws import NOTHING, Observed, ObservedSimulator
from tokenworld.planning.space.policy import Policy, advised, wilson
from tokenworld.prose.intents import IntentLine, read_script
from tokenworld.prose.wording import EnglishProse
from tokenworld.session.intents import Resolver
from tokenworld.session.loading import OpenWorld, open_world
from tokenworld.session.players import policy_for, uniform

EngineName = Literal["fast", "plain", "play"]
Numbers = Any
"""A numpy array where numpy is installed, else a list (of tuples)."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run: its counts, the ending that came first (-1: none) and the score at the end."""

    seed: int
    ticks: int
    records: int
    statuses: tuple[int, ...]
    ending: int
    ended_at: int
    score: float
    reward: float
    digest: str


@dataclass(frozen=True, slots=True)
class Rollout:
    """Runs of one world with the seeds ``seed`` to ``seed + worlds - 1``, one entry a run.

    Numbers are numpy arrays where numpy is installed, else lists. Of shape ``(worlds,)``:
    ``seeds``; ``ticks``, the tick number at the end; ``records``; ``ending``, the number in
    ``endings`` of the ending that came first, -1 for none; ``ended_at``, the tick of it, -1 for
    none; ``score`` at the end; ``reward``, all rewards together. Of shape ``(worlds, 9)``:
    ``statuses``, how many records had each of ``tokenworld.ground.STATUSES``. ``digests`` are the
    state hashes at the end, ``None`` unless asked for. ``engine`` is what played: ``fast``
    (compiled), ``plain`` (in Python) or ``play`` (with every text); ``note`` says why nothing was
    compiled though it would have paid, and ``escaped`` in how many runs Python played some turns.
    """

    world: str
    policy: str
    seed: int
    limit: int
    engine: EngineName
    note: str
    escaped: int
    endings: tuple[str, ...]
    kinds: tuple[EndingKind, ...]
    seeds: Numbers
    ticks: Numbers
    records: Numbers
    statuses: Numbers
    ending: Numbers
    ended_at: Numbers
    score: Numbers
    reward: Numbers
    digests: tuple[str, ...] | None

    @property
    def worlds(self) -> int:
        """The number of runs."""
        return len(self.seeds)

    def count(self, kind: str) -> int:
        """The number of runs whose first ending is of a kind: ``goal``, ``lose`` or ``stop``."""
        chosen = {i for i, one in enumerate(self.kinds) if one == kind}
        return sum(1 for one in self.ending if int(one) in chosen)

    def to_json(self) -> dict[str, Json]:
        """The outcomes, for programs; the runs themselves one list a number."""
        return {
            "world": self.world,
            "policy": self.policy,
            "seed": self.seed,
            "worlds": self.worlds,
            "records_at_most": self.limit,
            "engine": self.engine,
            "note": self.note,
            "escaped": self.escaped,
            "outcomes": dict(_outcomes(self)),
            "endings": {
                name: sum(1 for one in self.ending if int(one) == i)
                for i, name in enumerate(self.endings)
            },
            "statuses": self._statuses(),
            "runs": {
                "ticks": [int(one) for one in self.ticks],
                "records": [int(one) for one in self.records],
                "ending": [int(one) for one in self.ending],
                "ended_at": [int(one) for one in self.ended_at],
                "score": [float(one) for one in self.score],
                "reward": [float(one) for one in self.reward],
            },
            "digests": None if self.digests is None else list(self.digests),
        }

    def _statuses(self) -> dict[str, Json]:
        sums = {name: sum(int(row[i]) for row in self.statuses) for i, name in enumerate(STATUSES)}
        return {name: found for name, found in sums.items() if found}


def _outcomes(rollout: Rollout) -> list[tuple[str, Json]]:
    """Each outcome with its number of runs, their share and its interval."""
    won, lost, stopped = (rollout.count(kind) for kind in ("goal", "lose", "stop"))
    running = rollout.worlds - won - lost - stopped
    found: list[tuple[str, Json]] = []
    for word, runs in (("won", won), ("lost", lost), ("stopped", stopped), ("running", running)):
        low, high = wilson(runs, rollout.worlds)
        share = runs / rollout.worlds
        found.append((word, {"runs": runs, "share": share, "low": low, "high": high}))
    return found


def table_of(runs: Sequence[Run]) -> dict[str, Numbers]:
    """The columns of runs, as arrays where numpy is there."""
    columns: dict[str, list[Any]] = {"seeds": [one.seed for one in runs]}
    for name in ("ticks", "records", "statuses", "ending", "ended_at", "score", "reward"):
        columns[name] = [getattr(one, name) for one in runs]
    try:
        import numpy as np
    except ImportError:
        return columns
    return {
        name: np.array(values, float if name in ("score", "reward") else np.int64)
        for name, values in columns.items()
    }


_PLACES = {status: at for at, status in enumerate(STATUSES)}
COMPILING = 500_000
"""The number of records from which compiling pays."""
Choice = Literal["auto", "fast", "plain", "play"]


class _Player(Protocol):
    """The command of a policy in a state, on the turn with this number; ``None``: it stops."""

    def __call__(self, state: State, seed: int, turn: int) -> Command | NoMatch | None: ...


def rollout(
    target: str | Path | OpenWorld,
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
    ``engine``: ``plain`` computes the results of a run and no text, ``play`` every text too, as
    play does, ``fast`` compiles (extra `fast`), ``auto`` is the best for this many records.
    Every run is the one that `tw run` gives with the same seed and player, state hash included.
    """
    if worlds < 1 or ticks < 0:
        raise usage("A rollout needs a world and a number of ticks.", "Give `--worlds N`, N > 0.")
    opened = target if isinstance(target, OpenWorld) else open_world(target)
    given = policy if isinstance(policy, Source) or policy == "random" else _policy_file(policy)
    player = _player(opened, given) if isinstance(given, Source) else None
    rows = _runs(opened.engine, engine == "play", not draws_in_setup(opened))
    work = _Work(opened, rows, player, ticks, digests)
    note = _compile(work, engine, seed, worlds * ticks)
    name: EngineName = "fast" if work.compiled else "play" if engine == "play" else "plain"
    runs = []
    for number in range(worlds):
        runs.append(work.run(seed + number))
        say(number + 1)
    endings = opened.world.endings
    digest = tuple(one.digest for one in runs) if digests else None
    shown = given.name if isinstance(given, Source) else str(given)
    return Rollout(
        opened.world.name, shown, seed, ticks, name, note, work.escaped,
        tuple(one.name for one in endings), tuple(one.ending for one in endings),
        digests=digest, **table_of(runs),
    )  # fmt: skip


@lru_cache(maxsize=1)
def _runs(engine: Engine, texts: bool, fixed: bool) -> Runs:
    """The last rows are kept: a sweep asks for runs of one engine again and again."""
    return Runs(
        engine.instance, engine.layout, EnglishProse(), output="all" if texts else "", fixed=fixed
    )


def _policy_file(policy: str | Path) -> Source:
    """Return the file of a policy.

    Raises `Failure` if no file has the name (a typo of ``random``?).
    """
    near = None if is_source(Path(policy)) else did_you_mean(str(policy), ("random",))
    if near is not None:
        raise usage(f"There is no policy `{policy}`.", near)
    return read_source(policy)


def _compile(work: _Work, choice: Choice, seed: int, records: int) -> str:
    """Give the work compiled rules, if they are asked for or pay; why there are none, if they
    would."""
    if choice in ("plain", "play"):
        return ""
    missing = compiler_missing()
    if choice == "fast" and missing:
        what = f"`{missing}` is not installed, so nothing can be compiled."
        raise Failure(
            Diagnostic("TW0811", what, hint="Run `pip install 'token-world[fast]'`, "
                       "or leave `--engine fast` out.")
        )  # fmt: skip
    if work.player is not None:
        return "" if choice == "auto" else "A policy or script is played without compiling."
    if choice == "auto" and (missing or records < COMPILING):
        return ""
    work.begin(seed)
    try:
        work.compiled = _built(work.rows.stepper.slots)
    except Uncompiled as reason:
        where = "" if reason.span is None else f" ({reason.span})"
        what = f"This world cannot be compiled: {reason.what}{where}."
        if choice == "auto":
            return f"{what} It is played without compiling."
        hint = "Leave `--engine` out: `plain` plays any world."
        raise Failure(Diagnostic("TW0801", what, reason.span, hint=hint)) from None
    return ""


@lru_cache(maxsize=1)
def _built(slots: Slots) -> Compiled:
    """The last compiled rules are kept too."""
    return Compiled(slots)


def _numbers(compiled: Compiled, rows: Runs) -> Any:
    """The present row as numbers; ``None`` where it has more objects than they have places."""
    try:
        return compiled.encode(rows.row.S)
    except IndexError:
        return None


_home = lru_cache(maxsize=1)(_numbers)
"""The same for a row that only has another seed than the first one."""


def draws_in_setup(world: OpenWorld) -> bool:
    """Return whether chance has a say in the start state, so that it may differ from seed to
    seed."""
    bodies = [*world.world.setups]
    bodies += [one.body for map_ in world.world.layouts for one in map_.legends]
    return any(map(may_draw, (*bodies, *(birth.body for birth in world.program.births))))


# ---- players --------------------------------------------------------------------------------


def _player(world: OpenWorld, source: Source) -> _Player:
    """The player of a file: a policy begins with its format, a script with an intent."""
    if not source.text.lstrip().startswith("{"):
        return _scripted(world, read_script(source))
    return _advised(world, policy_for(world, source))


def _scripted(world: OpenWorld, lines: tuple[IntentLine, ...]) -> _Player:
    resolver = Resolver(world)

    def play(state: State, seed: int, turn: int) -> Command | NoMatch | None:
        return resolver.resolve(state, lines[turn].intent) if turn < len(lines) else None

    return play


def _advised(world: OpenWorld, policy: Policy) -> _Player:
    """A policy that looks up each state once."""
    inner = EngineSimulator(world.engine)
    simulator, known = ObservedSimulator(inner), dict[object, Command | None]()
    last: tuple[Observed[State], Command | None] | None = None

    def play(state: State, seed: int, turn: int) -> Command | NoMatch | None:
        nonlocal last
        seen = NOTHING
        if turn and last is not None and last[1] is not None and last[0].state.tick == state.tick:
            seen = inner.tried(last[0].state, last[1], last[0].known)
        tried = Observed(state, seen)
        key = simulator.key(tried)
        if key not in known:
            won = inner.won(state, policy.goal)
            known[key] = None if won else advised(simulator, tried, policy)
        last = tried, known[key]
        return known[key]

    return play


def _random(rows: Runs, seed: int, turn: int) -> Command:
    """Return the command of the random player: `players.random_command`, on rows."""
    legal = rows.legal()
    chosen = uniform(seed, turn, "action", len(legal) + 1)
    if not chosen:
        return PASS
    name, every = legal[chosen - 1]
    return rows.command(name, every[uniform(seed, turn, "arguments", len(every))])


# ---- runs -----------------------------------------------------------------------------------


@dataclass
class _Tally:
    """The counts, rewards and first ending of a run so far."""

    records: int = 0
    statuses: list[int] = field(default_factory=lambda: [0] * len(STATUSES))
    reward: Reward = Fraction(0)
    ended_at: int = -1

    def add(self, found: Sequence[Status], rows: Runs) -> None:
        """Count the records of an intent that has just been played."""
        self.records += len(found)
        for one in found:
            self.statuses[_PLACES[one]] += 1
        self.reward = rewarded(rows.row.paid, self.reward)
        if self.ended_at < 0 and rows.latched:
            self.ended_at = rows.tick

    def executed(self, count: int, ended_at: int) -> None:
        """Count executed intents; the tick of the first ending, if there is one by now."""
        self.records += count
        self.statuses[_PLACES["executed"]] += count
        self.ended_at = self.ended_at if self.ended_at >= 0 else ended_at


@dataclass
class _Work:
    """The runs of one rollout; ``escaped`` counts those of which the interpreter played a part,
    because that needs more than compiled rules."""

    world: OpenWorld
    rows: Runs
    player: _Player | None
    most: int
    digests: bool
    compiled: Compiled | None = None
    escaped: int = 0

    def run(self, seed: int) -> Run:
        """The run of one seed."""
        self.begin(seed)
        rows, tally = self.rows, _Tally()
        if rows.latched:
            tally.ended_at = rows.tick
        if self.compiled is not None and rows.stepper.slots is self.compiled.slots:
            self._fast(self.compiled, seed, tally)
        else:
            self.escaped += self.compiled is not None
            self._played(seed, tally)
        ending = rows.reached()
        if self.world.world.outcomes == "live":
            tally.ended_at = rows.tick if ending >= 0 else -1
        return Run(
            seed, rows.tick, tally.records, tuple(tally.statuses), ending, tally.ended_at,
            rows.score(), float(tally.reward), self._digest(),
        )  # fmt: skip

    @cached_property
    def _varies(self) -> bool:
        """Return whether chance has a say in the start state; else only the seed differs."""
        return draws_in_setup(self.world)

    def begin(self, seed: int) -> None:
        """Set the row to the start of a run."""
        if self.rows.started and not self._varies:
            self.rows.restart(seed)
        else:
            self.rows.begin(self.world.engine.start(seed))

    # ---- compiled -----------------------------------------------------------------------------

    def _fast(self, compiled: Compiled, seed: int, tally: _Tally) -> None:
        """A run by compiled rules; the interpreter plays the turns that they leave to it."""
        rows, turn, played = self.rows, 0, self.escaped
        numbers = _numbers(compiled, rows) if self._varies else _home(compiled, rows)
        while tally.records < self.most and not rows.over:
            if numbers is not None:
                before = turn
                turn, left = compiled.play(numbers, seed, turn, turn + self.most - tally.records)
                compiled.decode(compiled.row, rows.row.S, numbers)
                tally.executed(turn - before, compiled.ended_at)
                tally.reward += Fraction(compiled.paid, 10**compiled.scale)
                if not left:
                    return
            self.escaped = played + 1
            tally.add(rows.intend(_random(rows, seed, turn)), rows)
            turn, numbers = turn + 1, _numbers(compiled, rows)

    def _digest(self) -> str:
        return self.world.engine.hash(self.rows.state()) if self.digests else ""

    # ---- on rows ------------------------------------------------------------------------------

    def _played(self, seed: int, tally: _Tally) -> None:
        for found in self._records(seed):
            tally.add(found, self.rows)

    def _records(self, seed: int) -> Iterator[tuple[Status, ...]]:
        """The statuses of the records of each intent of a run."""
        rows, player, records, turn = self.rows, self.player, 0, 0
        several = len(rows.stepper.actors) > 1
        while records < self.most and not rows.over:
            if player is None:
                intent: Command | NoMatch | None = _random(rows, seed, turn)
            else:
                intent = player(rows.state(), seed, turn)
            if intent is None:
                return
            found = rows.intend(intent)
            records, turn = records + len(found), turn + 1
            yield found
            if several and found[-1] in FRUITLESS:
                found = rows.intend(PASS, by="runner")
                records += len(found)
                yield found
                if found[-1] in FRUITLESS:
                    return  # the round cannot end
