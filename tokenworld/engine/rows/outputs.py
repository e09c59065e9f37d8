"""The output of the rules of a stepper: the logs and draws of their bodies, and their texts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tokenworld.core import Rules
from tokenworld.core.nodes import Binder
from tokenworld.engine.changes import Breach, RawChange, net
from tokenworld.engine.luck import Luck, SeededLuck
from tokenworld.engine.rows.code.program import Program
from tokenworld.engine.rows.commit import change_of, commit, recalled
from tokenworld.engine.rows.layout import FIRED, HEAD, NAMES, Slots
from tokenworld.engine.rows.log import Draws, Line, Log, Row, key_args, rewarded
from tokenworld.engine.rows.record import Record
from tokenworld.ground import Json, Raw, show_value

Args = tuple[Raw, ...]
MOST_KEYS = 1 << 16
"""Arguments of rules that are kept as the keys of draws show them."""


class Outputs:
    """The functions that generated code calls, and the texts of its logs.

    ``says``: texts are computed. `use` sets the luck that decides the draws.
    """

    rules: Rules
    slots: Slots
    code: Program
    me: int | None
    says: bool

    def __init__(self, code: Program, *, says: bool) -> None:
        self.code, self.slots, self.rules, self.says = code, code.slots, code.rules, says
        self._shown: dict[tuple[str, Args], tuple[Json, ...]] = {}
        self._luck: Luck = SeededLuck()
        self.reporting = False
        """Whether whole ticks report their changes."""
        self.params: dict[str, tuple[Binder, ...]] = {
            **{f"action {name}": one.params for name, one in self.rules.actions.items()},
            **{f"law {name}": one.params for name, one in self.rules.laws.items()},
            **{f"watch {name}": one.params for name, one in self.rules.watches.items()},
        }
        code.space |= {
            "new": self._new_log, "draws": self._new_draws, "speak": self.say, "tell": self._tell,
        }  # fmt: skip

    # ---- logs and draws -----------------------------------------------------------------------

    def use(self, luck: Luck) -> None:
        """Set the luck that decides draws of generated functions called from outside a tick."""
        self._luck = luck

    def _new_log(self, title: str, args: Args, row: Row, actor: int | None) -> Log:
        """The log of a body that a quick tick does not write directly."""
        log = Log(row, self._luck, self.params)
        log.title, log.args, log.actor = title, args, actor
        log.changes = [] if self.reporting else None
        return log

    def _new_draws(self, title: str, args: Args, row: Row, actor: int | None) -> Draws:
        """The draws of a body that a quick tick writes directly."""
        return Draws(row, self._luck, title, args, self._key)

    def _key(self, title: str, args: Args, names: tuple[str, ...]) -> tuple[Json, ...]:
        """The arguments of a rule in the keys of its draws, in a tick of the world's only actor."""
        if self.slots.creates:  # another object may get the number
            return key_args(self.slots, names, self.params, title, args, self.me)
        known = self._shown.get((title, args))
        if known is None:
            if len(self._shown) >= MOST_KEYS:
                self._shown.clear()
            known = key_args(self.slots, names, self.params, title, args, self.me)
            self._shown[title, args] = known
        return known

    # ---- words --------------------------------------------------------------------------------

    def say(self, row: Row) -> None:
        """Compute the lines that a body said, after all its writes."""
        for words, was, me, args in row.lines:
            row.said += [line for line in words(row.S, was, me, *args).split("\n") if line]
        row.lines.clear()

    def _tell(self, row: Row, log: Log) -> None:
        """Commit a log and compute its texts; objects that it destroyed read as before."""
        mark = row.mark
        commit(row, log)
        row.paid += log.rewards
        if log.lines:
            back = recalled(row, log, mark) if log.doomed else []
            row.lines += log.lines
            self.say(row)
            for slot, value in back:
                row.S[slot] = value
            self.slots.epoch += 1

    def watch(self, row: Row, reported: list[Any], record: Record, luck: Luck) -> None:
        """Record the texts of watches at a commit; ``reported`` is the last row they reported."""
        for name, watch in self.rules.watches.items():
            now = self.watched(name, row.S, reported)
            if watch.once:
                now = [args for args in now if (name, args) not in row.S[FIRED]]
                if now:
                    row.set(FIRED, row.S[FIRED] | {(name, args) for args in now})
            for args in now if name in self.code.paying or self.says else ():
                log = Log(row, luck, self.params)
                log.title, log.args = f"watch {name}", args
                self.code["spoken", name](row.S, reported, self.me, log, *args)
                row.paid += log.rewards
                if self.says:
                    self.speak(row, record, log)

    def watched(self, name: str, S: list[Any], reported: list[Any]) -> list[Args]:
        """The bindings for which a watch begins to hold."""
        bindings = self.code["watch", name]
        now: list[Args] = bindings(S, reported, self.me)
        if now and not self.rules.watches[name].uses_was:
            earlier = bindings(reported, reported, self.me)
            now = [args for args in now if args not in earlier]
        return now

    def end_words(
        self, row: Row, start: list[Any], reached: tuple[str, ...], record: Record
    ) -> None:
        """Record the texts of endings that were reached now."""
        if reached:
            log = Log(row, SeededLuck(), self.params)
            log.lines += self.ending_lines(start, reached)
            self.speak(row, record, log)

    def ending_lines(self, start: list[Any], reached: tuple[str, ...]) -> Iterator[Line]:
        """The texts of these endings, to be computed."""
        for at, line in enumerate(self.code.world.endings):
            if line.name in reached and line.text is not None:
                yield self.code["ended", str(at)], start, self.me, ()

    def speak(self, row: Row, record: Record, log: Log) -> None:
        """Add the texts, events and rewards of a log to the record."""
        for words, was, me, args in log.lines:
            try:
                text = words(row.S, was, me, *args)
            except Breach as breach:
                record.fault = record.fault or breach
            else:
                record.said += [line for line in text.split("\n") if line]
        self._emit(row, record, log)
        record.reward = rewarded(log.rewards, record.reward)

    def _emit(self, row: Row, record: Record, log: Log) -> None:
        program, names = self.rules.program, row.S[NAMES]
        for event, args in log.events:
            shown = tuple(
                show_value(program, names, binder.type, value)
                for binder, value in zip(program.events[event].params, args, strict=True)
            )
            record.events.append((event, shown))

    # ---- reports of whole ticks ---------------------------------------------------------------

    def report(self, row: Row, record: Record, mark: int) -> None:
        """Add to a record the changes that the parts of the journal since a mark made, the laws
        that fired and the events."""
        values, began = _written_values(row, mark), mark
        made: list[RawChange] = []
        for part in row.parts:
            if part is None:
                record.law_changes += net(made)
                made = []
                continue
            end, title, args, log = part
            if log is None:
                changes = list(self._changes(row, title, range(began, end, 2), values))
            else:
                title, changes = log.title, log.changes or []
                self._emit(row, record, log)
            if title.startswith("action "):
                record.changes = net(changes)
            else:
                made += changes
                record.fired += [(title, args)] if log is None else log.fired
            began = end

    def _changes(
        self, row: Row, title: str, places: range, values: dict[int, Any]
    ) -> Iterator[RawChange]:
        """The changes that a rule wrote at these places of the journal."""
        J, slots = row.J, self.slots
        for at in places:
            slot = J[at]
            if slot >= HEAD and slots.owner[slot] is not None:
                yield change_of(slots, slot, J[at + 1], values[at], title)


def _written_values(row: Row, mark: int) -> dict[int, Any]:
    """The value that each entry of the journal since a mark wrote, by its place: the old value of
    the next entry of the same slot."""
    S, J = row.S, row.J
    later: dict[int, Any] = {}
    found: dict[int, Any] = {}
    for at in range(len(J) - 2, mark - 2, -2):
        slot = J[at]
        found[at] = later[slot] if slot in later else S[slot]
        later[slot] = J[at + 1]
    return found
