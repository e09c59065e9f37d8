"""Many runs at once, compiled by numba (extra `fast`): the functions of `numeric` with `kernels`.

The text of a world is a module in the user's cache folder, named by the hash of its sources; numba
keeps the machine code beside it, so that a world is compiled once.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from hashlib import blake2b
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from tempfile import NamedTemporaryFile
from types import ModuleType
from typing import Any

from tokenworld.assets import cache_folder
from tokenworld.engine.rows.code.numeric import NONE, SPARE, NumericProgram, Uncompiled
from tokenworld.engine.rows.code.quick import UNSURE
from tokenworld.engine.rows.layout import (
    AWARDED,
    FIRED,
    KINDS,
    LATCHED,
    NAMES,
    NEXT,
    NOTHING,
    SEED,
    TICK,
    Places,
    Slots,
    Store,
)
from tokenworld.ground import draws
from tokenworld.model import NumberType, ObjectType

DID, REFUSED, SKIPPED = 0, 2, 3
"""Result of the command of a row of a batch, beside `UNSURE`."""
MOST_WRITTEN = 64
"""Numbers of a table up to which it is in the text of a module."""
MOST_LISTED = 1 << 16
"""Rows of legal commands, and of the journal, that a run has room for."""


def compiler_missing() -> str:
    """The missing package that the compiler needs (`numba` or `numpy`), or an empty string."""
    return next((name for name in ("numpy", "numba") if find_spec(name) is None), "")


class Compiled:
    """The compiled rules of the rows of some slots, `encode` and `decode` for their rows.

    Raises `Uncompiled` where numbers cannot hold them. ``spare``: see `Places`.
    """

    def __init__(self, slots: Slots, spare: int = SPARE) -> None:
        import numpy as np

        self._np, self.slots = np, slots
        self.program = NumericProgram.of(slots, spare)
        self.places = self.program.terms.places
        text, static = _text(self.program)
        self.code = _loaded(text)
        self.static = np.array(static, np.int64)
        self.scale = self.program.scale
        """The decimals of rewards."""
        self._world = slots.rules.worlds[slots.instance.world.name]
        self.actions = tuple(slots.rules.actions)
        self.width = 1 + max((len(one.params) for one in slots.rules.actions.values()), default=0)
        self.scratch = np.zeros(self.code.SCRATCH, np.int64)
        self.journal = np.zeros(self.code.JOURNAL, np.int64)
        self.found = np.zeros((MOST_LISTED, max(2, self.width)), np.int64)
        self.row = np.zeros(self.places.size, np.int64)
        self.start = np.zeros(self.places.size, np.int64)
        """The row at the start of the tick, for rules that look back."""
        self._run = np.zeros(3, np.int64)
        self._translation = _Translation(slots, self.places)

    # ---- rows ---------------------------------------------------------------------------------

    def encode(self, S: list[Any]) -> Any:
        """A row as numbers. Raises `IndexError` where it has more objects than places."""
        row = self._np.zeros(self.places.size, self._np.int64)
        row[NOTHING], row[TICK], row[SEED] = NONE, S[TICK], draws.signed(S[SEED] & draws.MASK)
        endings = [one.name for one in self._world.endings]
        for name in S[LATCHED]:
            at = endings.index(name)
            row[LATCHED] = row[LATCHED] * (1 + len(endings)) + at + 1
            row[NAMES] |= 1 << at
        for at in S[AWARDED]:
            row[AWARDED] = row[AWARDED] * (1 + len(self._world.awards)) + at + 1
            row[FIRED] |= 1 << at
        self._translation.encode(S, row)
        return row

    def decode(self, row: Any, S: list[Any], first: Any = None) -> None:
        """Set a row of values, of the same start, to a row of numbers; ``first`` is the row of
        numbers that it has now, if that is known."""
        S[TICK] = int(row[TICK])
        S[LATCHED] = tuple(self.reached(int(row[LATCHED])))
        S[AWARDED] = tuple(_digits(int(row[AWARDED]), 1 + len(self._world.awards)))
        self._translation.decode(row, S, first)
        self.slots.epoch += 1

    # ---- playing ------------------------------------------------------------------------------

    def play(self, first: Any, seed: int, turn: int, most: int) -> tuple[int, bool]:
        """Let the random player go on from a row, in ``row``, by the turns from one number to
        before another, or to the end of the world. Return the number of the next turn, and whether
        the interpreter must play it."""
        self.row[:] = first
        self.row[SEED] = seed = draws.signed(seed & draws.MASK)
        self.scratch[: self.code.LOG] = 0
        self._run[:] = turn, self.row[TICK] if self.row[LATCHED] else -1, 0
        try:
            played = self.code.play(
                self.row, self.start, self.static, self.scratch, self.journal, self.found, seed,
                most, self._run,
            )  # fmt: skip
        except (ArithmeticError, ValueError, IndexError):
            played = False
        if not played:
            self.code.undo(self.row, self.journal)
            self.scratch[0] = self._run[2]
        return int(self._run[0]), not played

    @property
    def ended_at(self) -> int:
        """The tick of the first ending in these turns, or before them; -1 for none."""
        return int(self._run[1])

    @property
    def paid(self) -> int:
        """The rewards of these turns, scaled by `scale`."""
        return int(self.scratch[0])

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
                    rows[at:], self.start, self.static, self.scratch, self.journal, self.found,
                    commands, given[at:], skipped[at:], rewards[at:], codes[at:],
                )  # fmt: skip
                return
            except (ArithmeticError, ValueError, IndexError):
                at += int(self.journal[-1])
                self.code.undo(rows[at], self.journal)
                rewards[at], codes[at] = 0, UNSURE
                at += 1

    def masks(self, rows: Any, numbers: Any, masks: Any) -> None:
        """Set 1 for each legal command of each row, by the numbers of commands (`gym.vector`)."""
        self.code.masks(rows, self.static, self.scratch, self.journal, self.found, *numbers, masks)

    def reached(self, code: int) -> list[str]:
        """The endings that the digits of a row encode, in the order in which they were reached."""
        names = [one.name for one in self._world.endings]
        return [names[at] for at in _digits(code, 1 + len(names))]


class _Translation:
    """Converts the facts of rows of values to those of rows of numbers, and back."""

    def __init__(self, slots: Slots, places: Places) -> None:
        self._slots, self._places = slots, places
        self._pointing = {one.column.index for one in _pointing(places)}
        size = len(slots.first().blank)
        owners = enumerate(places.slots.owner[:size])
        self._facts = [slot for slot, store in owners if store is not None]
        """The slots of all but later objects: the same in both rows."""
        self._free = range(size, len(places.slots.blank))
        pairs = zip(slots.stores, places.slots.stores, strict=True)
        self._later = [(one, other) for one, other in pairs if other in _owned(places)]
        self._mortal = [
            x for x, kind in enumerate(slots.base.kinds) if places.moving and kind in slots.mortal
        ]
        self._filed = [
            (one, [(x, at) for x, at in enumerate(one.table[: places.first]) if at])
            for one in slots.stores if one.live and one.kids is not None
        ]  # fmt: skip
        """The fluents that have lists of what points at an object, with the slots of the first
        objects."""

    # ---- to numbers ---------------------------------------------------------------------------

    def encode(self, S: list[Any], row: Any) -> None:
        self._slots.fill(S)
        places, owner = self._numbered(S, row), self._places.slots.owner
        row[self._facts] = [self._number(places, owner[one], S[one]) for one in self._facts]
        row[self._free] = NONE
        for number, place in places.items():
            for store, own in self._later:
                if own.table[place]:
                    row[own.table[place]] = self._number(places, own, S[store.table[number]])

    def _number(self, places: dict[int, int], store: Store | None, value: Any) -> int:
        """A value of a fluent as a number."""
        if value is None:
            return NONE
        points = places and store is not None and store.column.index in self._pointing
        return places.get(value, value) if points else int(value)

    def _numbered(self, S: list[Any], row: Any) -> dict[int, int]:
        """Give places to the objects that were created later; return them by number."""
        places = self._places
        if not places.moving:
            return {}
        kinds, base, mortal = S[KINDS], self._slots.base.kinds, self._slots.mortal
        row[NEXT] = S[NEXT]
        for x, keeper in enumerate(places.keepers[: places.first]):
            row[keeper] = places.kind_number(kinds[x])
            if kinds[x] != base[x] and base[x] not in mortal:
                raise IndexError("an object that nothing destroys has gone")
        for x in range(places.first, places.count):
            row[places.keepers[x]], row[places.ids + x] = -1, NONE
        living = [x for x in range(places.first, len(kinds)) if kinds[x] is not None]
        if len(living) > places.count - places.first:
            raise IndexError("no place is left for another object")
        found = {number: places.first + at for at, number in enumerate(living)}
        for number, x in found.items():
            row[places.keepers[x]], row[places.ids + x] = places.kind_number(kinds[number]), number
            row[places.words + x] = draws.signed(draws.word(S[NAMES][number]))
            row[places.makers + x] = self._maker(number, kinds[number], S[NAMES][number])
        for name, first in places.lists.items():
            members = [found.get(one, one) for one in S[self._slots.live[name]]]
            row[first : first + 1 + len(members)] = [len(members), *members]
        return found

    def _maker(self, number: int, kind: str, name: str) -> int:
        """The number of the `create` that made an object."""
        for at, (begun, of) in enumerate(self._places.made):
            if of == kind and name == f"{begun}_{number}":
                return at
        raise IndexError("an object has a name of its own")

    # ---- back ---------------------------------------------------------------------------------

    def decode(self, row: Any, S: list[Any], first: Any) -> None:
        numbers, owner = self._populate(row, S), self._slots.owner
        slots: Any = self._facts
        if first is not None:
            slots = (row[: self._free.start] != first[: self._free.start]).nonzero()[0].tolist()
        filed = set[int]()
        for slot, value in zip(slots, row[slots].tolist(), strict=True):
            store = owner[slot]
            if store is not None:
                S[slot] = self._value(store, value, numbers)
                filed.add(store.column.index)
        for place, number in numbers.items():
            for store, own in self._later:
                if own.table[place]:
                    S[store.table[number]] = self._value(own, int(row[own.table[place]]), numbers)
        for store, known in self._filed:
            if self._places.moving or store.column.index in filed:
                self._file(store, known, S)

    def _value(self, store: Store, value: int, numbers: dict[int, int]) -> Any:
        if value == NONE:
            return None
        if numbers and store.column.index in self._pointing:
            return numbers.get(value, value)
        return bool(value) if store.column.truth else value

    def _populate(self, row: Any, S: list[Any]) -> dict[int, int]:
        """Let the objects of a row live, and no others; return the numbers of later ones by
        place."""
        places, slots = self._places, self._slots
        if not places.moving:
            return {}
        S[NEXT] = int(row[NEXT])
        slots.number(S[NEXT] - 1)
        slots.fill(S)
        later = range(places.first, places.count)
        alive = row[list(places.keepers[places.first :])].tolist()
        numbers = {x: int(row[places.ids + x]) for x in later if alive[x - places.first] >= 0}
        kinds: list[str | None] = [*S[KINDS][: places.first]]
        kinds += [None] * (S[NEXT] - places.first)
        names = [*S[NAMES], *(f"gone_{x}" for x in range(len(S[NAMES]), S[NEXT]))]
        for x in (*self._mortal, *numbers):
            kind, number = int(row[places.keepers[x]]), numbers.get(x, x)
            kinds[number] = places.kinds[kind] if kind >= 0 else None
        for x, number in numbers.items():
            names[number] = f"{places.made[int(row[places.makers + x])][0]}_{number}"
        for number in range(places.first, S[NEXT]):
            for store, _ in self._later:
                S[store.table[number]] = None
        S[NOTHING], S[KINDS], S[NAMES] = None, tuple(kinds), tuple(names)
        self._enlist(kinds, sorted(numbers.values()), S)
        return numbers

    def _enlist(self, kinds: list[str | None], later: list[int], S: list[Any]) -> None:
        """The lists of living objects by type."""
        slots = self._slots
        for name in self._places.moving:
            first = (x for x in slots.base.live[name] if kinds[x] is not None)
            mine = (x for x in later if name in slots.ancestry[str(kinds[x])])
            S[slots.live[name]] = (*first, *mine)

    def _file(self, store: Store, known: list[tuple[int, int]], S: list[Any]) -> None:
        """The lists of the objects that point at each object."""
        found: dict[int, list[int]] = {}
        later = range(self._places.first, len(S[KINDS]))
        for number, place in (*known, *((x, store.table[x]) for x in later)):
            if place and S[place] is not None:
                found.setdefault(S[place], []).append(number)
        for place in store.kids or ():
            if S[place]:
                S[place] = ()
        for number, listed in found.items():
            assert store.kids is not None
            S[store.kids[number]] = tuple(listed)


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
def commit(S, R, J, C):
    """Let new objects live, write the log, destroy what is doomed, and look at shapes."""
    if R[FAILED]: return REFUSED
    for k in range(R[BORN]): lives(S, J, C, R[BIRTHS + k])
    code = merged(S, R, J, LOW, HIGH, CLAMPED, OWNERS)
    if code != 0: return code
    for k in range(R[LOGGED] if SHAPED else 0):
        slot = R[LOG + 3 * k]
        if slot < 0: slot = -1 - slot
        if NESTED[slot] >= 0:
            x = OWNER[slot]
            if climbs(S, TABLES[NESTED[slot]], x, x): return REFUSED
    for k in range(R[DOOMED]): destroyed(S, J, C, R[DEATHS + k])
    for k in range(R[LOGGED] if SHAPED else 0):
        slot = R[LOG + 3 * k]
        if slot < 0: slot = -1 - slot
        if UNIQUE[slot] and repeats(S, slot, ALIKE, FIRST[slot], LAST[slot]): return REFUSED
    for k in range(R[BORN] if SHAPED else 0):
        if not alone(S, C, R[BIRTHS + k]): return REFUSED
    return 0
'''
_PLAY = '''\
@numba.njit(cache=True)
def play(S, W, C, R, J, found, seed, most, state):
    """Turns of the random player, from number ``state[0]`` to before ``most``. False where the
    interpreter must play the next one, which then has changed nothing but what ``J`` undoes, and
    ``R[PAID]``, which was ``state[2]``."""
    for turn in range(state[0], most):
        state[0], state[2], R[FULL] = turn, R[PAID], 0
        found[0, 0] = 0
        J[0] = 0
        if S[LATCHED] and not ENDLESS: return True
        listed(S, S, C, R, J, found)
        if R[FULL]: return False
        k = chosen(found, seed, turn, PLAYER_ACTION, PLAYER_ARGUMENTS)
        J[0] = 0
        if LOOKS: W[:] = S
        if stepped(S, W if LOOKS else S, C, R, J, found, k) != 0: return False
        if state[1] < 0 and S[LATCHED]: state[1] = S[TICK]
    state[0] = most
    return True

@numba.njit(cache=True)
def batch(rows, W, C, R, J, found, commands, given, skipped, rewards, codes):
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
            code = stepped(S, W if LOOKS else S, C, R, J, commands, given[i])
        codes[i] = REFUSED if code < 0 else code
        if code != 0: undo(S, J)
        else: rewards[i] = R[PAID] / UNIT

@numba.njit(cache=True)
def masks(rows, C, R, J, found, lows, sizes, firsts, numbers, masks):
    """1 for each command of each row that is legal now."""
    for i in range(len(rows)):
        S = rows[i]
        masks[i, :] = 0
        if S[LATCHED] and not ENDLESS: continue
        masks[i, 0] = 1
        found[0, 0] = 0
        J[0] = 0
        listed(S, S, C, R, J, found)
        for k in range(1, found[0, 0] + 1):
            a = found[k, 0]
            at = 0
            for j in range(sizes.shape[1]):
                at = at * sizes[a, j] + (found[k, 1 + j] - lows[a, j] if sizes[a, j] > 1 else 0)
            masks[i, numbers[firsts[a] + at]] = 1
'''


def _text(program: NumericProgram) -> tuple[str, list[int]]:
    """The module of a world, and its static row. Who acts is known, so that functions take the
    static row instead, and long tables lie behind it: numba would copy what is in the text."""
    terms, places = program.terms, program.terms.places
    terms.constants.pop("Fraction", None)
    written = [_lives(places), _remember(places), _destroyed(places), _alone(places)]
    functions = [*written, _COMMIT, *terms.functions, _listed(program), _stepped(program)]
    order = "\n\n".join(f"@numba.njit\n{one}" for one in functions)
    order = re.sub(r"\bme\b", "C", order)
    static = [_number(one) for one in program.slots.static]
    lines = [_HEAD, *(f"{name} = {value}" for name, value in _singles(program).items())]
    for name, value in _tables(program).items():
        if len(value) <= MOST_WRITTEN or isinstance(value[0], (list, tuple)):
            lines.append(f"{name} = np.array({value!r}, np.int64)")
            continue
        first, static = len(static), [*static, *value]
        order = re.sub(rf"\b{name}\[", f"C[{first} + ", order)
        order = re.sub(rf"\b{name}\b", f"C[{first}:{len(static)}]", order)
    return "\n".join([*lines, "", order, "", _PLAY]), static


def _tables(program: NumericProgram) -> dict[str, list[Any]]:
    """The lists of numbers that the functions of a world read."""
    terms, slots, places = program.terms, program.slots, program.terms.places
    return {
        **terms.constants,
        **_shapes(places),
        "ARGS": [one[0] if one and isinstance(one[0], int) else -1 for one in slots.args],
        **{f"A{one.column.index}": one.table for one in _owned(places)},
        **{f"V{one.column.index}": _slots_of(places, one) for one in _pointing(places)},
        "KEEPERS": list(places.keepers),
        "SPELT": [draws.signed(draws.begun(f"{one}_")) for one, _ in places.made] or [0],
    }


def _singles(program: NumericProgram) -> dict[str, int]:
    """The numbers that the functions of a world read."""
    places, me = program.terms.places, program.slots.base.me
    return {
        "ME": NONE if me is None else me,
        "ENDLESS": int(program.world.endless),
        "LOOKS": int(program.terms.looks_back),
        "SKIPPED": SKIPPED,
        "UNSURE": UNSURE,
        "UNIT": 10**program.scale,
        "NUMBERS": places.ids,
        "WORDING": places.words,
        "MAKERS": places.makers,
        "LATCHED": LATCHED,
        "TICK": TICK,
        "SHAPED": int(any(one.live and one.column.shaped for one in program.slots.stores)),
        "PLAYER_ACTION": draws.signed(draws.key("player random", ("action",))),
        "PLAYER_ARGUMENTS": draws.signed(draws.key("player random", ("arguments",))),
    }


def _number(value: Any) -> int:
    """A value of the row that never changes; a text, which only words read, is nothing."""
    return NONE if value is None or isinstance(value, (str, tuple, float)) else int(value)


def _listed(program: NumericProgram) -> str:
    lines = ["def listed(S, W, me, R, J, found):"]
    lines += [f"    {one}(S, W, me, R, J, found)" for one in program.listed] or ["    pass"]
    return "\n".join([*lines, "    return found[0, 0]"])


def _stepped(program: NumericProgram) -> str:
    """The function that carries out the command of a row of a list; row 0 is `pass`."""
    lines = ["def stepped(S, W, me, R, J, found, k):", "    a, code = found[k, 0] if k else -1, 0"]
    for at, (name, action) in enumerate(program.rules.actions.items()):
        passed = "".join(f", found[k, {1 + one}]" for one in range(len(action.params)))
        lines.append(f"    if a == {at}: code = {program.steps[name]}(S, W, me, R, J{passed})")
    return "\n".join([*lines, "    if code != 0: return code", f"    return {program.ending}"])


def _shapes(places: Places) -> dict[str, Any]:
    """The constraints on the values of each slot, by slot."""
    slots, size = places.slots, len(places.slots.blank)
    found = {
        "LOW": [-(1 << 61)] * size, "HIGH": [1 << 61] * size, "CLAMPED": [0] * size,
        "UNIQUE": [0] * size, "FIRST": [0] * size, "LAST": [0] * size,
        "NESTED": [-1] * size, "OWNER": [-1] * size, "OWNERS": [0] * size,
    }  # fmt: skip
    tables: list[list[int]] = []
    alike: list[int] = []
    for store in slots.stores:
        if not store.live:
            continue
        fluent, held = store.column.fluent, [at for _, at in slots.places_of(store)]
        kind = fluent.type
        for at in held:
            if isinstance(kind, NumberType):
                found["LOW"][at] = -(1 << 61) if kind.low is None else kind.low
                found["HIGH"][at] = 1 << 61 if kind.high is None else kind.high
            found["CLAMPED"][at] = int(fluent.clamped)
            found["UNIQUE"][at] = int(fluent.unique)
            found["FIRST"][at], found["LAST"][at] = len(alike), len(alike) + len(held)
            if store.column.by_object:
                own: Any = slots.args[at][0]
                found["OWNER"][at], found["OWNERS"][at] = own, places.keepers[own]
            if fluent.nested and store.column.by_object:
                found["NESTED"][at] = len(tables)
        alike += held if fluent.unique else []
        if fluent.nested and store.column.by_object:
            tables.append(store.table)
    return {**found, "TABLES": tables or [[0]], "ALIKE": alike or [0]}


# ---- objects that come and go -------------------------------------------------------------------


def _owned(places: Places) -> list[Store]:
    """The fluents of one object that play may change, where objects come and go."""
    every = places.slots.stores if places.moving else ()
    return [one for one in every if one.live and one.column.by_object]


def _pointing(places: Places) -> list[Store]:
    """The fluents that play may change whose values are objects that come or go."""
    return [
        one for one in places.slots.stores
        if one.live
        and isinstance(one.column.fluent.type, ObjectType)
        and one.column.fluent.type.name in places.moving
    ]  # fmt: skip


def _slots_of(places: Places, store: Store) -> list[int]:
    return [at for _, at in places.slots.places_of(store) if at] or [NOTHING]


def _kinds(names: Sequence[int]) -> str:
    return f"kind in ({', '.join(map(str, names))},)"


def _are(places: Places, kind: str) -> str:
    """The test that a kind is one of a type."""
    return _kinds([at for at, one in enumerate(places.below(kind)) if one])


def _lives(places: Places) -> str:
    """The function that lets a new object live: in the lists of its types, with the
    defaults of fluents that no `create` sets."""
    lines = ["def lives(S, J, C, x):", "    kind = S[KEEPERS[x]]"]
    for name, living in places.lists.items():
        lines.append(f"    if {_are(places, name)}: enlist(S, J, {living}, x)")
    for store in _owned(places):
        if store.column.fluent.fluent_kind != "attribute":
            slot, default = f"A{store.column.index}[x]", _number(store.column.default)
            lines.append(
                f"    if {slot} > 0 and {_owns(places, store)}: keep(S, J, {slot}, {default})"
            )
    return "\n".join(lines)


def _owns(places: Places, store: Store) -> str:
    """The test that objects of a kind have a slot of a fluent."""
    owners = places.slots.columns_layout.owners[store.column.index]
    return _kinds([places.kind_number(one) for one in places.kinds if one in owners] or [-2])


def _remember(places: Places) -> str:
    """The function that gives a new object the values of its creation in the row of the start of
    the tick, if that is another row: there its place is free, for none is taken twice in a tick."""
    lines = ["def remember(S, W, C, x, kind):", "    if W[KEEPERS[x]] == kind: return"]
    lines.append("    W[KEEPERS[x]] = kind")
    lines += [f"    W[{one} + x] = S[{one} + x]" for one in ("NUMBERS", "WORDING", "MAKERS")]
    for store in _owned(places):
        slot = f"A{store.column.index}[x]"
        own = store.column.fluent.fluent_kind == "attribute"
        value = f"S[{slot}]" if own else str(_number(store.column.default))
        lines.append(f"    if {slot} > 0 and {_owns(places, store)}: W[{slot}] = {value}")
    return "\n".join(lines)


def _destroyed(places: Places) -> str:
    """The function that destroys an object: objects that point at it point at its container, or at
    nothing; its slots are empty, and its place is free from the next tick on."""
    lines = ["def destroyed(S, J, C, x):", "    kind = S[KEEPERS[x]]", "    if kind < 0: return"]
    for store in _pointing(places):
        of, index = store.column.fluent.type, store.column.index
        assert isinstance(of, ObjectType)
        nested = store.column.fluent.nested and store.column.by_object
        heir = f"S[A{index}[x]]" if nested else "NONE"
        lines.append(f"    if {_are(places, of.name)}: inherit(S, J, V{index}, x, {heir})")
    for store in _owned(places):
        slot = f"A{store.column.index}[x]"
        lines.append(f"    if {slot} > 0: keep(S, J, {slot}, NONE)")
    for name, living in places.lists.items():
        lines.append(f"    if {_are(places, name)}: delist(S, J, {living}, x)")
    lines.append("    keep(S, J, KEEPERS[x], -1)")
    return "\n".join([*lines, f"    if x >= {places.first}: keep(S, J, NUMBERS + x, -1 - S[TICK])"])


def _alone(places: Places) -> str:
    """The function that tests the `unique` values of a new object."""
    lines = ["def alone(S, C, x):"]
    for store in _owned(places):
        if store.column.fluent.unique:
            slot = f"A{store.column.index}[x]"
            test = f"repeats(S, {slot}, ALIKE, FIRST[{slot}], LAST[{slot}])"
            lines.append(f"    if {slot} > 0 and {test}: return False")
    return "\n".join([*lines, "    return True"])


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
