"""The moments of a session, the file that keeps the earlier ones, and slots by their names.

Of a long session the commands and results lie in a temporary file. It keeps one state in `EVERY`;
a state in between is played again from the one before it, which is exact, because play is a
function of state, intent and seed.
"""

from __future__ import annotations

import pickle
import re
import zlib
from array import array
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final

from tokenworld.diagnostics import Diagnostic, Failure, did_you_mean
from tokenworld.diagnostics.frozen import frozen
from tokenworld.engine import Engine, ForcedLuck, Luck, State
from tokenworld.engine.columns import Column, Layout
from tokenworld.ground import (
    By,
    Command,
    Json,
    LuckyDraw,
    NoMatch,
    Outcome,
    RequireReport,
    read_value,
    show_value,
)
from tokenworld.model import Fluent, Program

if TYPE_CHECKING:
    from tokenworld.store.database import MomentTable


# ---- States as bytes -----------------------------------------------------------------------------
# States as bytes, without the compiled world and caches.


class _Packer(pickle.Pickler):
    def __init__(self, file: BytesIO, layout: Layout) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self._layout = layout

    def persistent_id(self, obj: Any) -> int | None:
        """-1 for the layout, the index for one of its columns."""
        if isinstance(obj, Layout):
            return -1
        known = isinstance(obj, Column) and 0 <= obj.index < len(self._layout.columns)
        return obj.index if known and self._layout.columns[obj.index] is obj else None


class _Unpacker(pickle.Unpickler):
    def __init__(self, data: bytes, layout: Layout) -> None:
        super().__init__(BytesIO(data))
        self._layout = layout

    def persistent_load(self, pid: Any) -> Layout | Column:
        return self._layout if pid == -1 else self._layout.columns[pid]


def packed_state(state: State) -> bytes:
    """Pack a state for `unpacked_state` in the same process, which does not check it."""
    found = BytesIO()
    _Packer(found, state.layout).dump(state)
    return found.getvalue()


def unpacked_state(data: bytes, layout: Layout) -> State:
    """The state of such bytes, laid out as an engine of the same world has it."""
    state: State = _Unpacker(data, layout).load()
    return state


# ---- Moments -------------------------------------------------------------------------------------


@frozen
class LegalCommand:
    """A command that would be executed now, as a call and as words to type."""

    command: Command
    call: str
    text: str


@frozen
class Entry:
    """A moment but for its state; see `Moment`. ``asked`` may be a call that returns the words."""

    asked: str | Callable[[], str]
    outcomes: tuple[Outcome, ...]
    run: int | None
    records: int
    scratch: bool = False
    edit: str = ""
    drawn: tuple[LuckyDraw, ...] = ()


class Moment:
    """One step of a session: the state after it, its records and the intent.

    ``run`` and ``records`` say where it is stored: the number of the run (``None`` if nothing is
    recorded) and how many of its records come up to and with this step. ``scratch``: the state
    was edited here or before, so it is no part of any run; ``edit`` is the edit, if one was made.
    ``drawn`` are all draws of the step, those that no record may show a player, too.
    ``asked`` is the intent as words, which may be composed when they are first read.

    A moment that a `Past` has stored holds nothing: its parts are read or computed again.
    """

    __slots__ = ("held", "number", "past")

    def __init__(
        self,
        state: State,
        asked: str | Callable[[], str],
        outcomes: tuple[Outcome, ...],
        run: int | None,
        records: int,
        scratch: bool = False,
        edit: str = "",
        drawn: tuple[LuckyDraw, ...] = (),
    ) -> None:
        entry = Entry(asked, outcomes, run, records, scratch, edit, drawn)
        self.held: tuple[State, Entry] | None = (state, entry)
        self.past: Past | None = None
        self.number = -1

    @property
    def state(self) -> State:
        return self.held[0] if self.held is not None else self._from().state(self.number)

    @property
    def entry(self) -> Entry:
        return self.held[1] if self.held is not None else self._from().entry(self.number)

    @property
    def asked(self) -> str:
        asked = self.entry.asked
        if isinstance(asked, str):
            return asked
        text = asked()
        self.held = self.state, replace(self.entry, asked=text)
        return text

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        return self.entry.outcomes

    @property
    def run(self) -> int | None:
        return self.entry.run

    @property
    def records(self) -> int:
        return self.entry.records

    @property
    def scratch(self) -> bool:
        return self.entry.scratch

    @property
    def edit(self) -> str:
        return self.entry.edit

    @property
    def drawn(self) -> tuple[LuckyDraw, ...]:
        return self.entry.drawn

    def _from(self) -> Past:
        assert self.past is not None
        return self.past

    def hold(self) -> None:
        """Load the parts that were dropped; the session calls this when it is at this moment."""
        if self.held is None:
            self.held = self.state, self.entry

    def at(self, state: State) -> Moment:
        """The same moment with another state."""
        new = Moment.__new__(Moment)
        new.held, new.past, new.number = (state, self.entry), None, -1
        return new


def state_with_engine(moment: Moment, engine: Engine) -> State:
    """The state of a moment, for another engine of the same world; any thread may ask for it."""
    if moment.held is None:
        return moment._from().read_by(engine).state(moment.number)
    state = moment.state.fork()
    state.layout = engine.layout
    return state


def with_engine(moments: Iterable[Moment], engine: Engine) -> list[Moment]:
    """The moments of a session for another engine of the same world, also in another thread. The
    thread of the session calls it: their words are composed here."""
    pasts: dict[int, Past] = {}
    found = []
    for one in moments:
        if one.held is not None:
            state, _ = state_with_engine(one, engine), one.asked
            found.append(one.at(state))
            continue
        new = Moment.__new__(Moment)
        past = one._from()
        if id(past) not in pasts:
            pasts[id(past)] = past.read_by(engine)
        new.held, new.past, new.number = None, pasts[id(past)], one.number
        found.append(new)
    return found


@frozen
class WhyNot:
    """A command examined without giving it: each require with its truth, or why it means nothing.

    ``allowed``: it would be executed now; for some values of the secrets, if it is not ``sure``.
    """

    asked: str
    command: Command | None
    requires: tuple[RequireReport, ...]
    no_match: NoMatch | None = None
    allowed: bool = False
    sure: bool = True


HELD: Final = 512
"""So many of the last moments are held as they are."""
EVERY: Final = 64
"""A state is played again from one at most so many intents before it."""
RECENT: Final = 2 * EVERY
"""So many states that were asked for are held."""


@dataclass(frozen=True, slots=True)
class Given:
    """The step from one state to the next: an intent with the draws that were forced, or
    nothing, where a record says that the runner stopped."""

    intent: Command | NoMatch | None = None
    by: By = "player"
    draws: tuple[LuckyDraw, ...] | None = None

    @classmethod
    def of(
        cls,
        intent: Command | NoMatch,
        by: By,
        draws: Sequence[LuckyDraw] | None,
        luck: Luck | None,
    ) -> Given | None:
        """``None`` where draws were decided by one who cannot be asked again."""
        if draws is not None:
            return cls(intent, by, tuple(draws))
        return cls(intent, by) if luck is None else None

    def follow(self, engine: Engine, state: State) -> State:
        """The successor state."""
        if self.intent is None:
            return state
        luck = None if self.draws is None else ForcedLuck(self.draws)
        return engine.play(state, self.intent, luck, by=self.by)[0]


@dataclass(slots=True)
class Past:
    """The moments that one engine played, by number, each with its predecessor."""

    engine: Engine
    _table: MomentTable | None = None
    _recent: OrderedDict[int, tuple[Moment, int, Given | None]] = field(default_factory=OrderedDict)
    _distances: array[int] = field(default_factory=lambda: array("B"))
    _states: OrderedDict[int, State] = field(default_factory=OrderedDict)
    _full: bool = field(default_factory=lambda: find_spec("sqlite3") is None)

    def add(self, moment: Moment, before: Moment, given: Given | None) -> None:
        """Take the successor of a moment; without ``given`` its state is kept."""
        if before.past is not self:
            before, given = moment, None
        moment.past, moment.number = self, len(self._distances)
        self._recent[moment.number] = moment, before.number, given
        self._distances.append(0)
        while len(self._recent) > HELD and not self._full:
            self._store_oldest()

    def _store_oldest(self) -> None:
        """Store the oldest held moment on disk, unless the disk is full or there is no SQLite."""
        number, (moment, parent, given) = next(iter(self._recent.items()))
        distance = 0 if given is None else self._distances[parent] + 1
        distance = 0 if distance == EVERY else distance
        assert moment.held is not None
        state, entry = moment.held
        entry = replace(entry, asked=moment.asked)
        row = _packed((entry, given)), None if distance else zlib.compress(packed_state(state), 1)
        if not self._opened().put(number, parent, *row):
            self._full = True
            return
        self._distances[number] = distance
        moment.held = None
        del self._recent[number]

    def _opened(self) -> MomentTable:
        """The file, which a short session never makes."""
        if self._table is None:
            from tokenworld.store.database import MomentTable

            self._table = MomentTable()
        return self._table

    def read_by(self, engine: Engine) -> Past:
        """The stored moments, for another engine of the same world."""
        return Past(engine, self._table)

    def entry(self, number: int) -> Entry:
        """The stored texts of a moment."""
        entry: Entry = _unpacked(self._opened().get(number)[1])[0]
        return entry

    def state(self, number: int) -> State:
        """The state of a moment that holds none."""
        way: list[tuple[int, Given]] = []
        while (state := self._known(number)) is None:
            parent, entry, kept = self._opened().get(number)
            if kept is not None:
                state = unpacked_state(zlib.decompress(kept), self.engine.layout)
                break
            way.append((number, _unpacked(entry)[1]))
            number = parent
        self._keep(number, state)
        for number, given in reversed(way):
            state = given.follow(self.engine, state)
            self._keep(number, state)
        return state

    def _known(self, number: int) -> State | None:
        return self._states.get(number)

    def _keep(self, number: int, state: State) -> None:
        self._states[number] = state
        self._states.move_to_end(number)
        while len(self._states) > RECENT:
            self._states.popitem(last=False)


def _packed(value: Sequence[Any]) -> bytes:
    return zlib.compress(pickle.dumps(value, pickle.HIGHEST_PROTOCOL), 1)


def _unpacked(data: bytes) -> Any:
    return pickle.loads(zlib.decompress(data))


@dataclass(frozen=True, slots=True)
class SlotChange:
    """A slot by its name with both values; ``None`` where a state does not have it, too."""

    slot: str
    old: Json
    new: Json


def slots_of(state: Mapping[str, Json]) -> dict[str, Json]:
    """Every slot of a state (``tw-state/1``) by its name, in the order of the state's JSON.

    The name of an object maps to its type, ``chest.open`` is an attribute, ``linked(a, b)``
    is a row of a table.
    """
    return dict(_listed(state))


def _listed(state: Mapping[str, Any]) -> Iterator[tuple[str, Json]]:
    for one in state["objects"]:
        yield one["name"], one["type"]
        for name, value in one["attrs"].items():
            yield f"{one['name']}.{name}", value
    for name, rows in state["functions"].items():
        for args, value in rows:
            yield _row(name, args), value
    for name, rows in state["relations"].items():
        for args in rows:
            yield _row(name, args), True


def slot_text(fluent: Fluent, args: Sequence[Json]) -> str:
    """The name of a fluent's slot: ``chest.open`` for an attribute, ``linked(a, b)`` else."""
    if fluent.fluent_kind == "attribute" and len(args) == 1:
        return f"{args[0]}.{fluent.name}"
    return _row(fluent.name, args) if args else fluent.name


def _row(table: str, args: Sequence[Json]) -> str:
    return f"{table}({', '.join(map(str, args))})"


def differences(old: Mapping[str, Json], new: Mapping[str, Json]) -> tuple[SlotChange, ...]:
    """The slots that differ between two states, as `slots_of` names them."""
    return tuple(
        SlotChange(slot, old.get(slot), new.get(slot))
        for slot in dict.fromkeys((*old, *new))
        if (slot in old, old.get(slot)) != (slot in new, new.get(slot))
    )


# ---- slots that a person names ---------------------------------------------------------------


Slot = tuple[Fluent, tuple[Json, ...]]
"""A fluent with its arguments."""


def slot_named(program: Program, state: State, text: str) -> Slot:
    """The slot that ``object.attribute`` or ``function(a, b)`` names; `Failure` TW0201 else."""
    name, args = _parts(text)
    if args is None:
        owner, _, name = name.rpartition(".")
        args = (owner,)
    found = _fluent(program, state, name, args)
    if found is None:
        known = _known_slots(program, state)
        hint = did_you_mean(text, known) or "Name it as `object.attribute` or `function(a, b)`."
        raise Failure(Diagnostic("TW0201", f"There is no slot `{text}`.", hint=hint))
    return found, _arguments(program, state, found, args)


def _parts(text: str) -> tuple[str, tuple[str, ...] | None]:
    """A name, and the arguments in parentheses if there are any."""
    name, bracket, rest = text.strip().partition("(")
    if not bracket:
        return name, None
    inner = rest.strip().removesuffix(")")
    return name.strip(), tuple(one.strip() for one in inner.split(",")) if inner.strip() else ()


def _fluent(program: Program, state: State, name: str, args: tuple[str, ...]) -> Fluent | None:
    """An attribute of the first argument's type, else a function or relation."""
    number = state.numbers.get(args[0]) if len(args) == 1 else None
    kind = None if number is None else state.kinds[number]
    for key in program.types[kind].attributes if kind is not None else ():
        if program.fluents[key].name == name:
            return program.fluents[key]
    named = (one for one in program.fluents.values() if one.name == name)
    return next((one for one in named if len(one.params) == len(args)), None)


def _arguments(
    program: Program, state: State, fluent: Fluent, args: tuple[str, ...]
) -> tuple[Json, ...]:
    shown = []
    for binder, word in zip(fluent.params, args, strict=True):
        value: Any = int(word) if re.fullmatch(r"-?\d+", word) else word
        try:
            raw = read_value(program, state.numbers, binder.type, value)
        except (ValueError, TypeError) as error:
            hint = "Name an object or a value of this type."
            raise Failure(Diagnostic("TW0201", str(error), hint=hint)) from None
        shown.append(show_value(program, state.names, binder.type, raw))
    return tuple(shown)


def _known_slots(program: Program, state: State) -> list[str]:
    found = []
    for number, kind in enumerate(state.kinds):
        for key in program.types[kind].attributes if kind is not None else ():
            found.append(f"{state.names[number]}.{program.fluents[key].name}")
    return found
