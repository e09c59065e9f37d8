"""A sequential phase in place: laws in turn, written straight to the state (see `live_turns`).

Most ticks change little, and most laws have nothing to do in them. So it is kept for each law on
what its rest rests (see `waking`), and only laws that are woken are looked at: first whether their
condition holds for anybody at all, which needs no order, and only then binding by binding in the
order of the phase. A law with a plain function writes by it; others ask a `Delta` as in `sequence`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tokenworld.diagnostics.frozen import frozen
from tokenworld.engine.applying import apply
from tokenworld.engine.bodies import BodyWriter
from tokenworld.engine.compile import HEADER, Code, Function, extend
from tokenworld.engine.delta import Breach, Delta, RawChange
from tokenworld.engine.inplace.waking import ALWAYS, POPULATION, bits_of, rest_of
from tokenworld.engine.luck import Luck
from tokenworld.engine.plain import plain_law
from tokenworld.engine.sequence import InTurn, Row, Turn
from tokenworld.engine.state import State
from tokenworld.model import Law, Program

__all__ = ["Kept", "Turning"]


@frozen
class _Law:
    """``some(S, W, me)``: whether the condition holds for any binding; ``do``: the plain function
    of one. ``rest``: on what it rests after a pass, by what it came to there; ``touches``: the bits
    that it writes."""

    some: Function
    do: Function | None
    rest: tuple[int, int, int]
    touches: int


@dataclass(slots=True)
class Kept:
    """What one live world keeps of a phase: what was written since it ran last, on what each law
    rests, together ``wakes``, and the bindings in their order while nobody moves."""

    waits: list[int]
    written: int = ALWAYS
    wakes: int = ALWAYS
    rows: list[tuple[Turn, Row]] | None = None


_NOTHING, _HELD, _CHANGED = range(3)
"""What a law came to in a pass: it holds nowhere, it changes nothing, it changed something."""


class Turning:
    """One sequential phase of a compiled world, played in place."""

    def __init__(self, code: Code, phase: InTurn) -> None:
        self._phase, self._layout = phase, code.emitter.layout
        program = code.emitter.instance.program
        self._laws = tuple(_law(code, program, turn.law) for turn in phase.turns)
        columns = self._layout.columns
        places = bits_of(self._layout, (columns[at].fluent.id for at in phase.places))
        self._moving = places | POPULATION

    def kept(self) -> Kept:
        """What a world that begins to play keeps."""
        return Kept([ALWAYS] * len(self._laws))

    def rest(self, kept: Kept) -> None:
        """Let a tick pass in which nothing was written that any law rests on."""
        if kept.written & self._moving:
            kept.rows = None
        kept.written = 0

    def run(
        self, state: State, start: State, kept: Kept, luck: Luck, journal: list[RawChange]
    ) -> int:
        """Let the laws write; every change is added to ``journal`` as it is made. How many times
        one wrote; -1 where something is to be destroyed, which is left to the general way. Raises
        `Breach`; then, too, part of it is written."""
        written, waits = kept.written, kept.waits
        if written & self._moving:
            kept.rows = None
        woken = [written & one for one in waits]
        did = [_NOTHING] * len(woken)
        kept.written = writers = 0
        if kept.rows is not None or self._stirs(state, start, woken):
            writers = self._in_order(state, start, kept, woken, did, luck, journal)
        kept.wakes = 0
        for at, bits in enumerate(woken):
            if bits:
                waits[at] = self._laws[at].rest[did[at]]
            kept.wakes |= waits[at]
        return writers

    def _stirs(self, state: State, start: State, woken: list[int]) -> bool:
        """Whether the condition of any law that was woken holds for anybody."""
        me = state.me
        for law, bits in zip(self._laws, woken, strict=True):
            if bits:
                try:
                    if law.some(state, start, me):
                        return True
                except Breach:
                    return True  # in order, it may never be asked
        return False

    def _in_order(
        self,
        state: State,
        start: State,
        kept: Kept,
        woken: list[int],
        did: list[int],
        luck: Luck,
        journal: list[RawChange],
    ) -> int:
        """Every binding of a law that is awake, in its place. ``did`` is told what each law came
        to; how many times one wrote, or -1."""
        laws, waits, me, log = self._laws, kept.waits, state.me, state.log
        assert log is not None
        written = writers = 0
        rows = kept.rows if kept.rows is not None else self._rows(state, kept)
        for turn, args in rows:
            at = turn.number
            if not (woken[at] or written & waits[at]):
                continue
            law, before = laws[at], len(journal) + len(log)
            do = law.do
            done = -1 if do is None else do(state, state, start, me, journal, None, *args)
            if done < 0:
                done = self._generally(turn, args, state, start, luck, journal)
                if done < 0:
                    return -1
            if done:
                if len(journal) + len(log) > before:
                    did[at] = _CHANGED
                    writers += done
                    written |= law.touches
                elif did[at] == _NOTHING:
                    did[at] = _HELD
        kept.written = written
        return writers

    def _generally(
        self,
        turn: Turn,
        args: Row,
        state: State,
        start: State,
        luck: Luck,
        journal: list[RawChange],
    ) -> int:
        """One binding by way of a `Delta`: 0 if its condition does not hold, -1 if it destroys; 2
        where it may have written twice to a slot, of what it created."""
        delta = Delta(self._layout, luck, state.seed, start.tick)
        turn.one(state, start, state.me, delta, *args)
        if not delta.fired:
            return 0
        if delta.doomed:
            return -1
        before = [
            (column, key, state.get(column, key), None, "")
            for _, column, key, _, _ in delta.writes
            if not column.by_object or key < len(state.kinds)  # type: ignore[operator]
        ]
        try:
            journal += apply(state, delta)
        except Breach:  # a part may be written already: what undoes it must know of it
            journal += before
            raise
        return 2 if delta.newborns and delta.writes else 1

    def _rows(self, state: State, kept: Kept) -> Iterable[tuple[Turn, Row]]:
        """The bindings in their order, kept if they are few."""
        bindings = self._phase.bindings(state)
        if isinstance(bindings, list):
            kept.rows = bindings
        return bindings


def _law(code: Code, program: Program, law: Law) -> _Law:
    rest = rest_of(code.emitter.layout, program, law)
    after = (rest.asleep, rest.idle, ALWAYS)
    return _Law(_some(code, law), plain_law(code, law), after, rest.touches)


def _some(code: Code, law: Law) -> Function:
    """``some(S, W, me)``: whether the condition of a law holds for any binding."""
    writer, name = BodyWriter(code.emitter), code.emitter.fresh("some")
    _, depth = writer.heads(law.params, law.when, {}, 1)
    writer.line(depth, "return True")
    writer.line(1, "return False")
    texts = [text for _, text in code.emitter.texts]
    code.emitter.texts.clear()
    extend(code, "\n".join([*texts, f"def {name}({HEADER}):", *writer.lines, ""]))
    found: Function = code.space[name]
    return found
