"""`WorldVectorEnv`: many episodes of one world side by side, as a gymnasium vector environment.

Where the extra `fast` is installed and the rules can be compiled, all rows are one array and one
compiled call steps them all. Else each episode is one live row in Python.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from tokenworld.diagnostics import usage
from tokenworld.engine.rows.code.compiled import Compiled, compiler_missing
from tokenworld.engine.rows.code.numeric import NONE, Uncompiled
from tokenworld.engine.rows.code.quick import UNSURE
from tokenworld.engine.rows.layout import LATCHED, SEED, TICK
from tokenworld.engine.rows.runs import Runs
from tokenworld.ground import draws
from tokenworld.gym.environment import call_number, calls_of, no_command
from tokenworld.gym.episode import CommandList, Ends, Options, PlayedWorld
from tokenworld.gym.fields import LARGEST, Field
from tokenworld.gym.live import LiveEpisode
from tokenworld.gym.spaces import Sight
from tokenworld.model import ObjectType, is_optional
from tokenworld.session import OpenWorld

MOST_COMMANDS = 1 << 20
"""The largest number of tuples of arguments whose numbers a table holds."""
Array = NDArray[Any]
Infos = dict[str, Any]


class WorldVectorEnv(PlayedWorld, VectorEnv[Any, Any, Any]):
    """``num_envs`` episodes of a world; options are those of `WorldEnv`, without texts.

    Observations, rewards, ends and ``infos["action_mask"]`` are arrays with one row an episode. An
    episode that has ended begins anew with the next step, with any action
    (``AutoresetMode.NEXT_STEP``). ``infos`` also has ``tick``, and ``status`` of each intent.
    ``compiled``: one compiled call steps them all; ``note`` says why not.

    Raises `Failure` (TW0006) for what cannot be an environment of arrays.
    """

    metadata: dict[str, Any] = {"autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012

    def __init__(
        self, world: str | OpenWorld, num_envs: int = 1, **options: Unpack[Options]
    ) -> None:
        if options.get("explain"):
            raise usage("Many environments at once keep no past.", "Explain in one `WorldEnv`.")
        options.setdefault("observe", "symbolic")
        super().__init__(world, **options)
        if self._observer.mode == "text" or not self.world.engine.known.lists_all:
            what = "Episodes side by side are seen as arrays, in worlds whose commands are open."
            raise usage(what, "Give `observe='symbolic'` or `'dict'`, or use `WorldEnv`.")
        self.num_envs = num_envs
        self._list = self._commands()
        self.single_observation_space = self._observer.space
        self.single_action_space = spaces.Discrete(self._list.size)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._ended = np.zeros(num_envs, np.bool_)
        self._first: int | None = self._seed
        self.note = ""
        self._play = self._made()

    def _made(self) -> _Rows | _Batch:
        """The player of the episodes: the compiled batch if possible."""
        rows = _Rows(self)
        if missing := compiler_missing():
            self.note = f"`{missing}` is not installed: every episode is played in Python."
            return rows
        try:
            return _Batch(self, rows.episodes[0])
        except Uncompiled as reason:
            where = "" if reason.span is None else f" ({reason.span})"
            self.note = f"Every episode is played in Python: {reason.what}{where}."
            return rows

    @property
    def compiled(self) -> bool:
        """Return whether one compiled call steps all episodes."""
        return isinstance(self._play, _Batch)

    # ---- playing ------------------------------------------------------------------------------

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Any, Infos]:  # fmt: skip
        """New episodes: with seeds from ``seed`` on, with these, or drawn from those before."""
        chosen = self._first if seed is None else seed
        self._first = None
        if isinstance(chosen, int):
            super().reset(seed=chosen)
            seeds: list[int | None] = [chosen + at for at in range(self.num_envs)]
        else:
            seeds = [None] * self.num_envs if chosen is None else list(chosen)
        drawn = [int(self._drawn(1)[0]) if one is None else one for one in seeds]
        self._ended[:] = False
        self._play.begin(range(self.num_envs), drawn)
        return self._play.seen(), {**self._infos(None), "seed": np.array(drawn)}

    def _drawn(self, count: int) -> Array:
        """Seeds of new episodes."""
        seeds: Array = self.np_random.integers(2**31, size=count)
        return seeds

    def step(self, actions: Any) -> tuple[Any, Array, Array, Array, Infos]:
        """Give one intent in each episode; those that had ended begin anew instead."""
        again = np.flatnonzero(self._ended)
        rewards, statuses = self._play.step(np.asarray(actions, np.int64), self._ended)
        if len(again):
            self._play.begin(again, self._drawn(len(again)))
        terminated, truncated = self._play.ends()
        self._ended = terminated | truncated
        return self._play.seen(), rewards, terminated, truncated, self._infos(statuses)

    def _infos(self, statuses: Array | None) -> Infos:
        found = {"action_mask": self._play.masks(), "tick": self._play.ticks()}
        return found if statuses is None else {**found, "status": statuses}

    @property
    def calls(self) -> tuple[str, ...]:
        """The listed commands as calls, in the order of their numbers, `pass` first."""
        return calls_of(self._list.start, self._list, self.world.engine)

    def index(self, call: str) -> int:
        """The number of a command, written as in `calls`; `Failure` (TW0006) if it has none."""
        return call_number(self.calls, call)


# ---- in Python ----------------------------------------------------------------------------------


class _Rows:
    """Each episode is a live row of its own."""

    def __init__(self, of: WorldVectorEnv) -> None:
        self._of, rules = of, of._rules
        self._lists = [of._commands() for _ in range(of.num_envs)]
        self.episodes = [LiveEpisode(rules, one, of._observer, keeps=False) for one in self._lists]

    def begin(self, places: Array | range, seeds: Array | list[int]) -> None:
        """Start episodes."""
        for at, seed in zip(places, seeds, strict=True):
            self.episodes[at].begin(int(seed))

    def step(self, actions: Array, skipped: Array) -> tuple[Array, Array]:
        """The rewards and statuses; those that are skipped do nothing."""
        rewards = np.zeros(len(actions))
        statuses = np.full(len(actions), "", "U12")
        for at, (one, number) in enumerate(zip(self.episodes, actions.tolist(), strict=True)):
            if not skipped[at]:
                command = self._lists[at].command(number) or no_command(number)
                rewards[at] = one.give(command)
                statuses[at] = one.status
        return rewards, statuses

    def ends(self) -> tuple[Array, Array]:
        """The episodes that have terminated, and those that were truncated."""
        found = np.array([one.ends for one in self.episodes], np.bool_)
        return found[:, 0], found[:, 1]

    def seen(self) -> Any:
        """The observations."""
        every = [one.see() for one in self.episodes]
        if isinstance(every[0], dict):
            return {name: np.stack([one[name] for one in every]) for name in every[0]}
        return np.stack(every)

    def masks(self) -> Array:
        """The masks of legal commands, one row per episode."""
        return np.stack([one.mask() for one in self.episodes])

    def ticks(self) -> Array:
        """The number of the tick of each episode."""
        return np.array([one.runs.tick for one in self.episodes])


# ---- compiled -----------------------------------------------------------------------------------


class _Batch:
    """All rows in one array, stepped by one compiled call."""

    def __init__(self, of: WorldVectorEnv, episode: LiveEpisode) -> None:
        rules, self._list = of._rules, of._list
        if not rules.paid or rules.live:
            raise Uncompiled("steps pay what they add to the score, or outcomes may change")
        if episode.varies:
            raise Uncompiled("chance has a say in the start")
        self._rules, self._limit = rules, rules.limit
        episode.begin(0)
        self._runs: Runs = episode.runs
        slots = self._runs.stepper.slots
        if slots.moving:
            raise Uncompiled("objects come and go in play")
        self._code = Compiled(slots)
        self._home = self._code.encode(self._runs.row.S)
        self._rows = np.tile(self._home, (of.num_envs, 1))
        self._steps = np.zeros(of.num_envs, np.int64)
        self._commands = _table(self._list, self._code)
        self._numbers = _numbers(self._list, self._code)
        sight = of._observer.sight(self._runs.stepper)
        sight.look(self._runs.row.S)
        self._parts = [_Part(one, sight, self._code) for one in sight.fields]
        self._vector = of._observer.mode == "symbolic"
        self._endless = of.world.world.endless
        self._ends: dict[int, Ends] = {}
        """Whether an episode ends before its last step, by the digits of its endings."""

    def begin(self, places: Array | range, seeds: Array | list[int]) -> None:
        """Start episodes."""
        if isinstance(seeds, list):  # a seed may have any number of bits
            seeds = np.array([draws.signed(one & draws.MASK) for one in seeds])
        self._rows[places] = self._home
        self._rows[places, SEED] = seeds
        self._steps[places] = 0

    def step(self, actions: Array, skipped: Array) -> tuple[Array, Array]:
        """The rewards and statuses; those that are skipped do nothing."""
        codes, rewards = np.zeros(len(actions), np.int64), np.zeros(len(actions))
        self._code.batch(self._rows, self._commands, actions, skipped, rewards, codes)
        self._steps += ~skipped
        statuses = _WORDS[codes]
        for at in np.flatnonzero(codes == UNSURE).tolist():
            rewards[at], statuses[at] = self._slowly(at, int(actions[at]))
        return rewards, statuses

    def _slowly(self, at: int, number: int) -> tuple[float, str]:
        """One intent as the interpreter decides it."""
        runs, row = self._runs, self._rows[at]
        runs.restart(int(row[SEED]) & draws.MASK)
        self._code.decode(row, runs.row.S)
        command = self._list.command(number)
        if command is None:
            return 0.0, "no_match"
        status = runs.intend(command)[0]
        row[:] = self._code.encode(runs.row.S)
        return runs.paid(), status

    def ends(self) -> tuple[Array, Array]:
        """The episodes that have terminated, and those that were truncated."""
        latched = self._rows[:, LATCHED]
        terminated = np.zeros(len(latched), np.bool_)
        truncated = self._steps >= self._limit
        reached = latched.nonzero()[0]
        for at, code in zip(reached.tolist(), latched[reached].tolist(), strict=True):
            if code not in self._ends:
                names, over = self._code.reached(code), not self._endless
                self._ends[code] = self._rules.ends(names, over=over, halted=False, steps=0)
            terminated[at], cut = self._ends[code]
            truncated[at] = cut or (truncated[at] and not terminated[at])
        return terminated, truncated

    def seen(self) -> Any:
        """The observations."""
        if not self._vector:
            return {one.name: one.array(self._rows) for one in self._parts}
        arrays = [one.array(self._rows).reshape(len(self._rows), -1) for one in self._parts]
        return np.concatenate(arrays, axis=1, dtype=np.float64)

    def masks(self) -> Array:
        """The masks of legal commands, one row per episode."""
        found = np.empty((len(self._rows), self._list.size), np.int8)
        self._code.masks(self._rows, self._numbers, found)
        return found

    def ticks(self) -> Array:
        """The number of the tick of each episode."""
        return self._rows[:, TICK].copy()


_WORDS = np.array(["executed", "", "refused", ""], "U12")
"""Statuses by the code that compiled ticks return."""


class _Part:
    """One array of an observation, read from all rows at once."""

    def __init__(self, field: Field, sight: Sight, code: Compiled) -> None:
        self.name, self._field, self._code = field.name, field, code
        self._slots = np.zeros(field.shape, np.int64)
        """The slot that is shown at each place; 0 is the slot of `none`."""
        if field.column is not None:
            for slot, store in enumerate(code.slots.owner):
                if store is None or store.column is not field.column:
                    continue
                for _, at, number in sight.targets(slot):
                    if number is field.kind.number:
                        self._slots.reshape(-1)[at] = slot
        self._known: dict[int, Array] = {}
        """The shown endings, by their digits."""
        self._ranks = None
        kind = None if field.column is None else field.column.fluent.type
        if isinstance(kind, ObjectType) and not field.name.endswith("?"):
            size = len(code.slots.base.kinds)
            self._ranks = np.array([int(field.kind.number(one)) for one in range(size)] + [-1])
        self._gaps = not self._slots.all() or (kind is not None and is_optional(kind))
        """Whether some of them may hold no value."""

    def array(self, rows: Array) -> Array:
        """Its values in all rows."""
        field, kind = self._field, self._field.kind
        if field.column is None:
            return self._of_run(rows)
        shown: Any = rows[:, self._slots]
        none = shown == NONE if self._gaps else None
        if self._ranks is not None:
            shown = self._ranks[shown if none is None else np.where(none, -1, shown)]
        elif field.name.endswith("?"):
            shown = shown != NONE
        else:
            shown = shown if kind.scale in (None, 1) else shown / kind.scale
            shown = shown if none is None else np.where(none, kind.blank, shown)
            shown = shown if kind.scale is None else np.clip(shown, kind.low, kind.high)
        return np.asarray(shown, kind.dtype)

    def _of_run(self, rows: Array) -> Array:
        if self.name == "@tick":
            return np.minimum(rows[:, TICK, None], LARGEST)
        assert self.name == "@endings"
        names = [one.name for one in self._code.slots.instance.world.endings]
        found = np.zeros((len(rows), len(names)), np.int8)
        latched = rows[:, LATCHED]
        reached = latched.nonzero()[0]
        for at, code in zip(reached.tolist(), latched[reached].tolist(), strict=True):
            if code not in self._known:
                known = self._code.reached(code)
                self._known[code] = np.array([name in known for name in names], np.int8)
            found[at] = self._known[code]
        return found


def _table(commands: CommandList, code: Compiled) -> Array:
    """The commands by their number: action and arguments, as compiled rules take them."""
    found = np.zeros((len(commands.fixed), max(2, code.width)), np.int64)
    for number, command in enumerate(commands.fixed):
        if number:
            found[number, 0] = code.actions.index(command.action)
            for at, value in enumerate(command.args):
                found[number, 1 + at] = NONE if value is None else int(value)
    return found


def _numbers(commands: CommandList, code: Compiled) -> tuple[Array, Array, Array, Array]:
    """The numbers of commands by their arguments: for each action the least values, how many there
    are of each, where its numbers begin, and all these numbers."""
    width, count = max(2, code.width) - 1, len(code.actions)
    lows = np.zeros((max(1, count), width), np.int64)
    sizes = np.ones((max(1, count), width), np.int64)
    table = _table(commands, code)[1:]
    for action in range(count):
        of = table[table[:, 0] == action][:, 1:]
        if len(of):
            lows[action] = of.min(axis=0)
            sizes[action] = of.max(axis=0) - lows[action] + 1
    spans = [int(np.prod([int(one) for one in row])) for row in sizes]
    if NONE in lows or sum(spans) > MOST_COMMANDS:
        raise Uncompiled("commands with `none`, or with very many arguments")
    firsts = np.cumsum([0, *spans])[:-1]
    numbers = np.zeros(sum(spans), np.int64)
    for number, row in enumerate(table, 1):
        place = 0
        for at in range(width):
            place = place * int(sizes[row[0], at]) + int(row[1 + at] - lows[row[0], at])
        numbers[firsts[row[0]] + place] = number
    return lows, sizes, firsts.astype(np.int64), numbers
