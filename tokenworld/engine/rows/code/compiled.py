"""Many runs at once, compiled by numba (extra `fast`): the functions of `numeric` with `kernels`.

The text of a world is a module in the user's cache folder, named by the hash of its sources; numba
keeps the machine code beside it, so that a world is compiled once.
"""

from __future__ import annotations

import os
import sys
from hashlib import blake2b
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from tempfile import NamedTemporaryFile
from types import ModuleType
from typing import Any

from tokenworld.assets import cache_folder
from tokenworld.engine.rows.code.numeric import NONE, NumericProgram, Uncompiled
from tokenworld.engine.rows.code.quick import UNSURE
from tokenworld.engine.rows.layout import (
    AWARDED,
    FIRED,
    HEAD,
    LATCHED,
    NAMES,
    NOTHING,
    SEED,
    TICK,
    Slots,
    Store,
)
from tokenworld.ground import draws
from tokenworld.model import NumberType

DID, REFUSED, SKIPPED = 0, 2, 3
"""Result of the command of a row of a batch, beside `UNSURE`."""
MOST_LISTED = 1 << 16
"""Rows of legal commands, and of the journal, that a run has room for."""


def compiler_missing() -> str:
    """The missing package that the compiler needs (`numba` or `numpy`), or an empty string."""
    return next((name for name in ("numpy", "numba") if find_spec(name) is None), "")


class Compiled:
    """The compiled rules of the rows of some slots, `encode` and `decode` for their rows.

    Raises `Uncompiled` where numbers cannot hold them.
    """

    def __init__(self, slots: Slots) -> None:
        import numpy as np

        self._np, self.slots = np, slots
        self.program = NumericProgram.of(slots)
        self.code = _loaded(_text(self.program, slots))
        self.scale = self.program.scale
        """The decimals of rewards."""
        self._world = slots.rules.worlds[slots.instance.world.name]
        self.actions = tuple(slots.rules.actions)
        self.width = 1 + max((len(one.params) for one in slots.rules.actions.values()), default=0)
        self.scratch = np.zeros(self.code.SCRATCH, np.int64)
        self.journal = np.zeros(self.code.JOURNAL, np.int64)
        self.found = np.zeros((MOST_LISTED, max(2, self.width)), np.int64)
        self.row = np.zeros(len(slots.blank), np.int64)
        self.start = np.zeros(len(slots.blank), np.int64)
        """The row at the start of the tick, for rules that look back."""
        self._ended = np.zeros(4, np.int64)

    # ---- rows ---------------------------------------------------------------------------------

    def encode(self, S: list[Any]) -> Any:
        """A row as numbers."""
        row = self._np.zeros(len(self.slots.blank), self._np.int64)
        row[NOTHING], row[TICK], row[SEED] = NONE, S[TICK], draws.signed(S[SEED] & draws.MASK)
        endings = [one.name for one in self._world.endings]
        for name in S[LATCHED]:
            at = endings.index(name)
            row[LATCHED] = row[LATCHED] * (1 + len(endings)) + at + 1
            row[NAMES] |= 1 << at
        for at in S[AWARDED]:
            row[AWARDED] = row[AWARDED] * (1 + len(self._world.awards)) + at + 1
            row[FIRED] |= 1 << at
        for slot in range(HEAD, len(S)):
            if self.slots.owner[slot] is not None:
                row[slot] = NONE if S[slot] is None else int(S[slot])
        return row

    def decode(self, row: Any, S: list[Any]) -> None:
        """Set a row of values, of the same start, to a row of numbers."""
        S[TICK] = int(row[TICK])
        S[LATCHED] = tuple(self.reached(int(row[LATCHED])))
        S[AWARDED] = tuple(_digits(int(row[AWARDED]), 1 + len(self._world.awards)))
        for store in self.slots.stores:
            if store.live:
                for _, slot in self.slots.places_of(store):
                    value = int(row[slot])
                    S[slot] = (
                        None if value == NONE else bool(value) if store.column.truth else value
                    )
                self._list(store, S)
        self.slots.epoch += 1

    def _list(self, store: Store, S: list[Any]) -> None:
        """The lists of what points at each object."""
        if store.kids is None:
            return
        found: dict[int, list[int]] = {}
        for number, place in enumerate(store.table):
            if place and S[place] is not None:
                found.setdefault(S[place], []).append(number)
        for number, place in enumerate(store.kids):
            S[place] = tuple(found.get(number, ()))

    # ---- playing ------------------------------------------------------------------------------

    def play(self, first: Any, seed: int, most: int) -> tuple[int, int, int]:
        """A run of the random player from a row, in ``row``: how many records it has, the tick of
        the first ending (-1) and the rewards, scaled by `scale`. `ArithmeticError` and the like,
        or a negative number of records: the interpreter must play it."""
        self.row[:] = first
        self.row[SEED] = seed = draws.signed(seed & draws.MASK)
        self.scratch[:4] = 0
        records = self.code.play(
            self.row, self.start, self.scratch, self.journal, self.found, seed, most, self._ended
        )
        return int(records), int(self._ended[0]), int(self.scratch[0])

    def batch(
        self, rows: Any, commands: Any, given: Any, skipped: Any, rewards: Any, codes: Any
    ) -> None:
        """Execute in each row that is not skipped the command with a number in a table; set its
        reward, and in ``codes`` its result (`DID`, `REFUSED`, `SKIPPED`; `UNSURE`: the interpreter
        must decide)."""
        at = 0
        while at < len(rows):
            try:
                self.code.batch(
                    rows[at:], self.start, self.scratch, self.journal, self.found, commands,
                    given[at:], skipped[at:], rewards[at:], codes[at:],
                )  # fmt: skip
                return
            except (ArithmeticError, ValueError, IndexError):
                at += int(self.journal[-1])
                self.code.undo(rows[at], self.journal)
                rewards[at], codes[at] = 0, UNSURE
                at += 1

    def masks(self, rows: Any, numbers: Any, masks: Any) -> None:
        """Set 1 for each legal command of each row, by the numbers of commands (`gym.vector`)."""
        self.code.masks(rows, self.scratch, self.journal, self.found, *numbers, masks)

    def reached(self, code: int) -> list[str]:
        """The endings that the digits of a row encode, in the order in which they were reached."""
        names = [one.name for one in self._world.endings]
        return [names[at] for at in _digits(code, 1 + len(names))]


def _digits(number: int, base: int) -> list[int]:
    found: list[int] = []
    while number:
        number, digit = divmod(number, base)
        found.append(digit - 1)
    return found[::-1]


# ---- the text of a world ------------------------------------------------------------------------

_HEAD = """\
import numpy as np
from tokenworld.engine.rows.code.kernels import *
from tokenworld.engine.rows.code import kernels
import numba

"""
_COMMIT = '''\
def commit(S, R, J):
    """Write the log, then look at shapes."""
    code = merged(S, R, J, LOW, HIGH, CLAMPED)
    if code != 0: return code
    for k in range(R[LOGGED] if SHAPED else 0):
        slot = R[LOG + 3 * k]
        if slot < 0: slot = -1 - slot
        if UNIQUE[slot] and repeats(S, slot, FIRST[slot], LAST[slot]): return REFUSED
        if NESTED[slot] >= 0:
            x = OWNER[slot]
            if climbs(S, TABLES[NESTED[slot]], x, x): return REFUSED
    return 0
'''
_PLAY = '''\
@numba.njit(cache=True)
def play(S, W, R, J, found, seed, most, ended):
    """A run of the random player; -1 where the interpreter must decide a tick."""
    ended[0] = S[TICK] if S[LATCHED] else -1
    for turn in range(most):
        if S[LATCHED] and not ENDLESS: return turn
        found[0, 0] = 0
        J[0] = 0
        listed(S, S, ME, R, J, found)
        k = chosen(found, seed, turn, PLAYER_ACTION, PLAYER_ARGUMENTS)
        J[0] = 0
        if LOOKS: W[:] = S
        if stepped(S, W if LOOKS else S, ME, R, J, found, k) != 0: return -1
        if ended[0] < 0 and S[LATCHED]: ended[0] = S[TICK]
    return most

@numba.njit(cache=True)
def batch(rows, W, R, J, found, commands, given, skipped, rewards, codes):
    """The command of each row: its reward and what it came to; where it is not carried out,
    nothing is changed."""
    for i in range(len(rows)):
        S = rows[i]
        J[len(J) - 1] = i
        rewards[i] = 0
        codes[i] = SKIPPED
        if skipped[i]: continue
        J[0] = 0
        R[PAID] = 0
        if LOOKS: W[:] = S
        code = UNSURE
        if 0 <= given[i] < len(commands) and (ENDLESS or not S[LATCHED]):
            code = stepped(S, W if LOOKS else S, ME, R, J, commands, given[i])
        codes[i] = REFUSED if code < 0 else code
        if code != 0: undo(S, J)
        else: rewards[i] = R[PAID] / UNIT

@numba.njit(cache=True)
def masks(rows, R, J, found, lows, sizes, firsts, numbers, masks):
    """1 for each command of each row that is legal now."""
    for i in range(len(rows)):
        S = rows[i]
        masks[i, :] = 0
        if S[LATCHED] and not ENDLESS: continue
        masks[i, 0] = 1
        found[0, 0] = 0
        J[0] = 0
        listed(S, S, ME, R, J, found)
        for k in range(1, found[0, 0] + 1):
            a = found[k, 0]
            at = 0
            for j in range(sizes.shape[1]):
                at = at * sizes[a, j] + (found[k, 1 + j] - lows[a, j] if sizes[a, j] > 1 else 0)
            masks[i, numbers[firsts[a] + at]] = 1
'''


def _text(program: NumericProgram, slots: Slots) -> str:
    """The module of a world."""
    terms = program.terms
    terms.constants.pop("Fraction", None)
    terms.constants["ARGS"] = [[one[0] if one else -1] for one in slots.args]
    me = slots.base.me
    values = {**terms.constants, **_shapes(slots), "C": [_number(one) for one in slots.static]}
    single = {
        "ME": NONE if me is None else me,
        "ENDLESS": int(slots.instance.world.endless),
        "LOOKS": int(terms.looks_back),
        "SKIPPED": SKIPPED,
        "UNSURE": UNSURE,
        "UNIT": 10**program.scale,
        "LATCHED": LATCHED,
        "TICK": TICK,
        "PLAYER_ACTION": draws.signed(draws.key("player random", ("action",))),
        "PLAYER_ARGUMENTS": draws.signed(draws.key("player random", ("arguments",))),
    }
    lines = [_HEAD]
    lines += [f"{name} = {value}" for name, value in single.items()]
    lines += [f"{name} = np.array({value!r}, np.int64)" for name, value in values.items()]
    functions = [_COMMIT, *terms.functions, _listed(program), _stepped(program)]
    order = "\n\n".join(f"@numba.njit\n{one}" for one in functions)
    return "\n".join([*lines, "", order, "", _PLAY])


def _number(value: Any) -> int:
    """A value of the row that never changes; a text, which only words read, is nothing."""
    return NONE if value is None or isinstance(value, (str, tuple, float)) else int(value)


def _listed(program: NumericProgram) -> str:
    lines = ["def listed(S, W, me, R, J, found):"]
    lines += [f"    {one}(S, W, me, R, J, found)" for one in program.listed] or ["    pass"]
    return "\n".join([*lines, "    return found[0, 0]"])


def _stepped(program: NumericProgram) -> str:
    """The function that carries out the command of a row of a list; row 0 is `pass`."""
    lines = ["def stepped(S, W, me, R, J, found, k):", "    a = found[k, 0] if k else -1"]
    for at, (name, action) in enumerate(program.rules.actions.items()):
        passed = "".join(f", found[k, {1 + one}]" for one in range(len(action.params)))
        lines.append(f"    if a == {at}: return {program.steps[name]}(S, W, me, R, J{passed})")
    return "\n".join([*lines, f"    return {program.steps['']}(S, W, me, R, J)"])


def _shapes(slots: Slots) -> dict[str, Any]:
    """The constraints on the values of each slot, by slot."""
    size = len(slots.blank)
    found = {
        "LOW": [-(1 << 61)] * size, "HIGH": [1 << 61] * size, "CLAMPED": [0] * size,
        "UNIQUE": [0] * size, "FIRST": [0] * size, "LAST": [0] * size,
        "NESTED": [-1] * size, "OWNER": [-1] * size,
    }  # fmt: skip
    tables: list[list[int]] = []
    for store in slots.stores:
        if not store.live:
            continue
        fluent, places = store.column.fluent, [at for _, at in slots.places_of(store)]
        kind = fluent.type
        for at in places:
            if isinstance(kind, NumberType):
                found["LOW"][at] = -(1 << 61) if kind.low is None else kind.low
                found["HIGH"][at] = 1 << 61 if kind.high is None else kind.high
            found["CLAMPED"][at] = int(fluent.clamped)
            found["UNIQUE"][at] = int(fluent.unique)
            found["FIRST"][at], found["LAST"][at] = min(places), max(places) + 1
            if fluent.nested and store.column.by_object:
                found["NESTED"][at] = len(tables)
                found["OWNER"][at] = int(slots.args[at][0])  # type: ignore[arg-type]
        if fluent.nested and store.column.by_object:
            tables.append(store.table)
    shaped = int(any(found["UNIQUE"]) or bool(tables))
    return {**found, "TABLES": tables or [[0]], "SHAPED": shaped}


def _loaded(text: str) -> ModuleType:
    """The module of a text, from the cache folder."""
    from tokenworld.engine.rows.code import kernels, runtime

    made = blake2b(text.encode(), digest_size=12)
    for one in (kernels, runtime):
        made.update(Path(str(one.__file__)).read_bytes())
    name = f"rows_{made.hexdigest()}"
    folder = cache_folder()
    if folder is None:
        raise Uncompiled("a cache folder, and no home folder is known")
    file = folder / "compiled" / f"{name}.py"
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile("w", dir=file.parent, delete=False, encoding="utf-8") as under_way:
            under_way.write(text)
        os.replace(under_way.name, file)
    spec = spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = module_from_spec(spec)  # numba looks there for its own cache
    spec.loader.exec_module(module)
    return module
