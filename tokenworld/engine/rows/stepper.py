"""The tick on rows (language.md §8), in place.

`RowStepper.tick` changes a `Row` and returns one `Record` for each record of the tick; an intent
without effect leaves every slot as it was. ``Row.undo(mark)`` undoes a tick.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from tokenworld.core import lowered
from tokenworld.core.nodes import Binder, Body
from tokenworld.engine.changes import Breach, BreachReport, RawChange, net
from tokenworld.engine.columns import Layout
from tokenworld.engine.luck import Luck, RecordingLuck, SeededLuck
from tokenworld.engine.rows.code.program import Function, Program
from tokenworld.engine.rows.code.quick import UNSURE
from tokenworld.engine.rows.commit import commit, recalled
from tokenworld.engine.rows.laws import Goals, Guards, Order, Turn, are_alive, may_hold
from tokenworld.engine.rows.layout import (
    AWARDED,
    DID,
    DRAWN,
    FACTS,
    KINDS,
    LATCHED,
    LONGS,
    REPORTED,
    ROUND,
    TICK,
    TURN,
    Slots,
)
from tokenworld.engine.rows.log import Log, Row, rewarded
from tokenworld.engine.rows.outputs import Outputs
from tokenworld.engine.rows.questions.why import Requires
from tokenworld.engine.rows.record import Broken, Digest, Record, Shown
from tokenworld.engine.saved.digest import kept_facts_hash
from tokenworld.engine.state import LongAction, State
from tokenworld.ground import (
    PASS,
    By,
    Command,
    Instance,
    NoMatch,
    Outcome,
    Prose,
    Raw,
    Status,
)
from tokenworld.model import ObjectType, Phase, TypeRange

ADDED = ("range", "unique", "cycle")
"""Breaches by an action that are refusals: the requires which the language adds."""
_PASSED_BY = ("refused", "no_match", "yielded")
"""With time that always passes, it passes after these."""
WARM = 50
"""Ticks for each action and law after which functions for whole ticks are compiled. Compiling takes
about as long as they save in as many ticks."""
Args = tuple[Raw, ...]
Together = tuple[tuple[str, Function], ...]
"""The laws of a simultaneous phase: titles and functions."""


class RowStepper(Outputs):
    """Steps the states that share the population and, if ``fixed``, the fluents that play never
    writes.

    ``quiet``: ticks report no change, hash or score; ``Row.paid`` has the rewards. Texts are
    computed only if it ``says`` them. ``hashed``: records have the hash of the row after them.
    ``outside`` are bodies that may run besides ticks.
    """

    in_pieces = False
    """Whether ticks are executed in pieces, so that functions of whole ticks are not needed."""

    def __init__(
        self, instance: Instance, layout: Layout, prose: Prose, base: State, *,
        quiet: bool = False, says: bool = False, fixed: bool = True, hashed: bool = True,
        outside: tuple[Body, ...] = (),
    ) -> None:  # fmt: skip
        self.instance, self.quiet, self.hashed = instance, quiet, hashed and not quiet
        slots = Slots(layout, lowered(instance.program), base, fixed=fixed, outside=outside)
        whole = quiet and not self.in_pieces
        code = Program(slots, prose, whole_ticks=whole, says=says)
        super().__init__(code, says=says or not quiet)
        self.guards, self.why = Guards(self.code), Requires(self.code)
        self.digest, self.shown = Digest(self.slots), Shown(self.slots)
        self.actors = base.actors
        self.me = base.me
        self.pays = self.code.world.pays
        self.goals = Goals(self.code, self.me)
        self.code.space |= {"are_alive": are_alive, "holds": self._holds}
        self._rules_look_back = self._needs_start()
        self._keeps_start = self.looks_back
        self._endless, self._watched = instance.world.endless, bool(self.rules.watches)
        self._steps = self._whole_ticks()
        self._played = 0

    def _whole_ticks(self) -> dict[str, Function]:
        """The functions for whole ticks by action, if the program has any."""
        code = self.code
        for name, (phase, functions) in code.orders.items():
            turns = [(self.rules.laws[x], code.space[law]) for x, law in functions.items()]
            code.space[name] = self._order(phase, turns).due
        return {action: code.space[name] for action, name in code.quick.items()}

    def report_whole_ticks(self) -> None:
        """Compile functions for whole ticks, and let them execute ticks and report everything. Not
        where watches pay: their rewards would be added in another order."""
        if not (self.quiet or self.reporting or self.code.paying):
            self.reporting = True
            self.code.write_ticks()
            self._steps = self._whole_ticks()

    @property
    def looks_back(self) -> bool:
        """Return whether a rule or a text reads the state at the start of the tick."""
        return self._rules_look_back or (self.says and self.rules.texts_look_back)

    def _needs_start(self) -> bool:
        """Return whether a rule reads the state at the start of the tick."""
        held = [one.footprint for one in self.rules.invariants.values()]
        held += [one.footprint for one in self.rules.worlds[self.instance.world.name].pays]
        found = (*self.rules.in_play, *held)
        return bool(self.rules.watches) or any(one.looks_back for one in found)

    @cached_property
    def phases(self) -> tuple[Order | Together, ...]:
        """The phases that have laws, in order."""
        return tuple(self._phases())

    def _phases(self) -> Iterator[Order | Together]:
        for phase in (*self.rules.program.phases.values(), None):
            name = "" if phase is None else phase.name
            laws = [law for law in self.rules.laws.values() if law.phase == name]
            if laws and phase is not None and phase.order != "simultaneous":
                yield self._order(phase, [(law, self.code["turn", law.name]) for law in laws])
            elif laws:
                yield tuple((f"law {law.name}", self.code["law", law.name]) for law in laws)

    def _order(self, phase: Phase, turns: Sequence[Turn]) -> Order:
        """The turns of a sequential phase."""
        return Order(
            turns, self.domain, self.slots, nesting=phase.order == "by_nesting",
            tests=self._tests("due", turns), firsts=self._tests("first", turns),
        )  # fmt: skip

    def _tests(self, kind: str, turns: Sequence[Turn]) -> dict[str, Function]:
        """The tests of one kind of these laws, by name; many laws have none."""
        found = {law.name: self.code.find(kind, law.name) for law, _ in turns}
        return {name: test for name, test in found.items() if test is not None}

    def row(self, state: State) -> Row:
        """The row of a state."""
        row = Row(self.slots, self.slots.encode(state))
        self.slots.epoch += 1
        if not self.hashed:
            row.S[FACTS] = None
        else:
            self.know_facts(row, state)
        return row

    def know_facts(self, row: Row, state: State) -> None:
        """Let the row of a state have the hash of its facts, from which that of a tick is made."""
        if row.S[FACTS] is None:
            row.S[FACTS] = kept_facts_hash(state)

    def state(self, row: Row) -> State:
        """Convert a row to a state."""
        return self.slots.decode(row.S)

    def halt(self, row: Row, cause: str) -> Outcome:
        """The record that the runner stopped in a state, and why: nothing happens."""
        record = Record("halted", cause=cause, score=self.code.score(row.S, row.S, self.me))
        return self.shown.outcomes([record], self.shown.before(row))[0]

    def tick(
        self, row: Row, intent: Command | NoMatch, luck: Luck | None = None, by: By = "player"
    ) -> list[Record]:
        """The intent of the actor whose turn it is."""
        if self.quiet and isinstance(intent, Command):
            before = row.S[LATCHED]
            code = self.quick(row, intent, luck or SeededLuck())
            if code == 0:
                now = row.S[LATCHED][len(before) :]
                return [Record("executed", intent, time_passed=True, latched=now, by=by)]
            if code is not None:
                return [Record("refused", intent, refused=-1 - code, by=by)]
        elif isinstance(intent, Command) and self._reports_whole():
            record = self._reported(row, intent, luck or SeededLuck(), by)
            if record is not None:
                return [record]
        return self.general(row, intent, luck or SeededLuck(), by)

    def _reports_whole(self) -> bool:
        """Return whether ticks by one function report everything, as they do after some time."""
        self._played += 1
        if self._played == WARM * (len(self.rules.actions) + len(self.rules.laws)):
            self.report_whole_ticks()
        return self.reporting

    def _reported(self, row: Row, command: Command, luck: Luck, by: By) -> Record | None:
        """The record of a tick by one function; ``None`` leaves it to the general way."""
        self._mark, before, recording = row.mark, row.S[LATCHED], RecordingLuck(luck)
        record = Record("executed", command, time_passed=True, by=by)
        if self.quick(row, command, recording, record) != 0:
            return None
        try:
            record.score = self.code.score(row.S, row.S, self.me)
        except Breach:
            row.undo(self._mark)
            return None
        self.report(row, record, self._mark)
        record.said, record.draws, record.reward = row.said, recording.taken, rewarded(row.paid)
        record.latched = row.S[LATCHED][len(before) :]
        if self.hashed and row.S[FACTS] is not None:
            self.digest.settle(row, self._mark)
            record.after = self.shown.stamp(row)
        return record

    def _holds(self, row: Row, start: list[Any]) -> None:
        """Raise `Breach` if the writes of a whole tick break an invariant."""
        self.guards.check_invariants(row, start, self._mark, (), self.me)

    def general(
        self, row: Row, intent: Command | NoMatch, luck: Luck, by: By = "player"
    ) -> list[Record]:
        """The same in the general way."""
        found = Tick(self, row, luck).intent(intent)
        for one in found:
            one.by = by if one.by == "player" else one.by
        return found

    def quick(
        self, row: Row, command: Command, luck: Luck, record: Record | None = None
    ) -> int | None:
        """The tick by one function: 0, or -1 and below for the require that was false. ``None``
        leaves it to the general way, and nothing is changed. Events of watches go to a ``record``.
        """
        S, J = row.S, row.J
        step, latched, mark = self._steps.get(command.action), S[LATCHED], len(J)
        if step is None or S[LONGS] or (latched and not self._endless):
            return None
        self._luck, row.paid, row.parts = luck, [], []
        if self.says:
            row.said = []
            row.lines.clear()
        if len(S) < len(self.slots.blank):
            self.slots.fill(S)
        start = row.copy() if self._keeps_start else S
        code: int
        try:
            code = step(S, start, self.me, row, J, *command.args)
            if code == 0 and (self._watched or S[LATCHED] is not latched):
                self._follow(row, start, latched, luck, record)
        except Breach:
            code = UNSURE
        self.slots.epoch += 1
        if code == 0:
            if S[DRAWN]:
                row.set(DRAWN, {})
            return 0
        row.undo(mark)
        return None if code == UNSURE or self.instance.world.time_always else code

    def _follow(
        self, row: Row, start: list[Any], latched: tuple[str, ...], luck: Luck,
        record: Record | None,
    ) -> None:  # fmt: skip
        """Add watches and endings to a tick by one function; raises `Breach` if a text has no
        value."""
        self.slots.epoch += 1
        if self.rules.watches:
            record = record or Record("executed")
            self.watch(row, start, record, luck)
            if record.fault is not None:
                raise record.fault
            row.said += record.said
        if self.says and row.S[LATCHED] is not latched:
            row.lines += self.ending_lines(start, row.S[LATCHED][len(latched) :])
            self.say(row)

    def refusal(self, row: Row, command: Command, index: int) -> Record:
        """The record of a command that `quick` refused, with its requires."""
        reports = self.why.reports(row.S, row.S, self.slots.acting(row.S), command)
        return Record("refused", command, refused=index, requires=reports)

    def asking(self, row: Row, luck: Luck | None = None) -> Tick:
        """A tick that is not committed, to ask for the outcome of a command."""
        return Tick(self, row, luck or SeededLuck())

    def domain(self, row: Row, binder: Binder) -> Sequence[Raw]:
        """The values of a parameter, objects by number."""
        kind = binder.type
        if isinstance(kind, ObjectType) and isinstance(binder.domain, TypeRange):
            living: tuple[int, ...] = row.S[self.slots.live[kind.name]]
            return living
        return self.slots.first_values(binder.domain)


class Tick:
    """One tick of a row under way. Its questions about the row before any write are answered first:
    the actor, and whether the command takes time. ``log_type``: the class of the logs of its
    bodies."""

    log_type: type[Log] = Log

    def __init__(self, stepper: RowStepper, row: Row, luck: Luck) -> None:
        self.of, self.row, self.code = stepper, row, stepper.code
        self.slots = stepper.slots
        self.world = stepper.instance.world
        self.luck = RecordingLuck(luck)
        self.slots.fill(row.S)
        self.mark = row.mark
        self.seat, self.acting = self.slots.seat(row.S), self.slots.acting(row.S)
        self.several = len(stepper.actors) > 1
        self.start: list[Any] = row.S
        self.reported: list[Any] = row.S

    def anew(self, luck: Luck, began: list[Any]) -> None:
        """Ask something else of the row, as it was: with some luck, in a round that ``began``."""
        self.luck, self.start, self.reported = RecordingLuck(luck), began, began

    # ---- turns --------------------------------------------------------------------------------

    def _closes(self) -> bool:
        """Return whether no living actor comes after this one in the round."""
        kinds = self.row.S[KINDS]
        return not any(kinds[one] is not None for one in self.of.actors[self.seat + 1 :])

    def long(self) -> LongAction | None:
        return next((one for who, one in self.row.S[LONGS] if who == self.acting), None)

    def set_long(self, long: LongAction | None) -> None:
        """Note the actor's long action; ``None``: he is free again."""
        others = tuple(pair for pair in self.row.S[LONGS] if pair[0] != self.acting)
        now = () if long is None else ((self.acting, long),)
        self.row.set(LONGS, tuple(sorted((*others, *now), key=lambda pair: pair[0] or 0)))

    def goes_on(self, command: Command) -> bool:
        """Return whether a command continues the long action under way."""
        long = self.long() if self.row.S[LONGS] else None
        return long is not None and (command.is_pass or command == long.command)

    def _asked(self, kind: str, command: Command) -> Any:
        """Evaluate the duration or the completion of an action; `was` is the round's start."""
        row = self.row
        since = row.S if row.S[ROUND] is None else row.S[ROUND]
        return self.code[kind, command.action](row.S, since, self.acting, *command.args)

    def ticks(self, command: Command) -> int:
        action = self.of.rules.actions[command.action]
        return 1 if action.takes is None else int(self._asked("takes", command))

    def is_free(self, command: Command | None) -> bool:
        """Return whether an intent is a round of its own."""
        if command is None or command.is_pass or self.goes_on(command):
            return False
        try:
            return self.ticks(command) == 0
        except Breach:
            return False

    # ---- one intent ---------------------------------------------------------------------------

    def intent(self, intent: Command | NoMatch) -> list[Record]:
        row = self.row
        row.paid = []
        command = intent if isinstance(intent, Command) else None
        if row.S[LATCHED] and not self.world.endless:
            return self._finished([Record("halted", command, cause="the world is over")])
        free = self.begins(command)
        if command is not None:
            records, waits = self._step(command, free), free
        else:
            assert isinstance(intent, NoMatch)
            records = [Record(intent.status, no_match=intent)]
            waits = intent.out_of_turn and self.several
        if self.world.time_always and not waits and records[-1].status in _PASSED_BY:
            records = self._time_passes(records[-1])
        return self._finished(records)

    def begins(self, command: Command | None) -> bool:
        """Store the earlier rows for the intent; return whether it is a round of its own."""
        row, free = self.row, self.is_free(command)
        if self.of.looks_back or self.several:
            self.start = row.copy()
        self._own_pasts()
        self.reported = row.S[REPORTED] or row.S[ROUND] or self.start
        self.start = self.start if free else row.S[ROUND] or self.start
        return free

    def _own_pasts(self) -> None:
        """Copy the rows that the round looks back at, in which births will be noted."""
        for slot in (ROUND, REPORTED) if self.slots.creates else ():
            if self.row.S[slot] is not None:
                self.row.set(slot, self.row.S[slot][:])

    def _step(self, command: Command, free: bool) -> list[Record]:
        """Execute the command of an actor; a refused or discarded one changes nothing."""
        mark, meant = self.row.mark, command
        try:
            cancelled = self.cancel(command)
            done = self.do(command)
            if done.status == "refused":
                self._explain(done)
                self.row.undo(mark)
                self.row.paid.clear()
                self.luck.forget(0)
                return [done]
            records = [done] if cancelled is None else [cancelled, done]
            if self.several:
                self._invariants(records)
            meant = done.command or command  # a pass may have let a long action go on
            return self._ended(records, free=free)
        except Breach as breach:
            return [self._broken(meant, breach, mark)]

    def _broken(self, command: Command | None, breach: Breach, mark: int) -> Record:
        """Discard everything since a mark."""
        self.row.undo(mark)
        self.row.paid.clear()
        self.luck.forget(0)
        status: Status = "error" if breach.code in ("TW1003", "TW1006", "TW1007") else "rolled_back"
        if isinstance(breach, Broken):
            made = net(list(breach.changes))
            return Record(status, command, breach=breach.report, discarded=made, names=breach.names)
        report = BreachReport(breach.code, breach.kind, breach.message, culprits=breach.rules)
        return Record(status, command, breach=report)

    def _explain(self, refused: Record) -> None:
        """Report every require of a refused command."""
        if self.of.says:
            assert refused.command is not None
            since = self.since(refused.command)
            refused.requires = self.of.why.reports(self.row.S, since, self.acting, refused.command)

    def _time_passes(self, fruitless: Record) -> list[Record]:
        """Pass time, with the actor waiting. A long action that continues gets a record of its own;
        otherwise the one record reports the passage of time, unless that is discarded."""
        mark = self.row.mark
        self._scored(fruitless)
        if self.long() is not None:
            passed = self._step(PASS, free=False)
        else:
            try:
                return self._ended([fruitless.alone()], free=False)
            except Breach as breach:
                passed = [self._broken(PASS, breach, mark)]
        for one in passed:
            one.by = "time"
        return [fruitless, *passed]

    def _ended(self, records: list[Record], *, free: bool) -> list[Record]:
        """The last actor closes the round; a free action is a round of its own."""
        if free or self._closes():
            self._closed(records, free=free)
        else:
            if self.row.S[ROUND] is None:
                self.row.set(ROUND, self.start)
            self.row.set(TURN, self.seat + 1)
            self._scored(records[-1])
        records[-1].draws = list(self.luck.taken)
        return records

    def _finished(self, records: list[Record]) -> list[Record]:
        """The records, without those whose text, reward or score has no value."""
        last = records[-1]
        if not (last.time_passed or last.status in ("executed", "waiting", "interrupted")):
            self._scored(last)
        faults = [one.fault for one in records if one.fault is not None]
        if not faults:
            self._stamped(last)
            return records
        by_time = last.time_passed if last.fruitless else last.by == "time"
        broken = self._broken(last.command, faults[0], self.mark)
        self._scored(broken)
        if not by_time:
            return [broken]
        broken.by = "time"
        return [replace(records[0].alone(), score=broken.score), broken]

    def _stamped(self, record: Record) -> None:
        """Note the row after it in a record, unless the row is only asked about."""
        if self.of.hashed and self.row.S[FACTS] is not None:
            self.of.digest.settle(self.row, self.mark)
            record.after = self.of.shown.stamp(self.row)

    # ---- long actions -------------------------------------------------------------------------

    def cancel(self, command: Command) -> Record | None:
        """Another command that takes time breaks off the long action under way."""
        long = self.long() if self.row.S[LONGS] else None
        if long is None or self.goes_on(command) or self.ticks(command) == 0:
            return None
        return self.break_off(long, "a new intent")

    def break_off(self, long: LongAction, cause: str) -> Record:
        record = self._carried_out(long.command, "cancel")
        self.set_long(None)
        record.status, record.cause, record.progress = "interrupted", cause, (long.done, long.total)
        self._scored(record)
        self._stamped(record)
        return record

    def _continued(self, long: LongAction) -> Record:
        """One more tick of a long action: it waits, completes, or its requires fail."""
        command, done, mark = long.command, long.done + 1, self.row.mark
        if done < long.total and not self.until(command):
            return self._waits(LongAction(command, done, long.total))
        self.set_long(None)
        record = self._attempt(command)
        if record.status == "refused":
            drawn = self.row.S[DRAWN]  # it decided that the action failed, so it counts
            self.row.undo(mark)
            self.row.set(DRAWN, drawn)
            return self.break_off(long, self._cause(record))
        record.progress = (done, long.total)
        return record

    def _cause(self, record: Record) -> str:
        """The label of the require that stopped it, or its kind, or its place."""
        assert record.command is not None
        assert record.refused is not None
        own = self.of.rules.actions[record.command.action].requires
        label = "" if record.generated else own[record.refused].label
        return record.generated or label or f"require {record.refused + 1}"

    def _waits(self, long: LongAction) -> Record:
        self.set_long(long)
        self._did(long.command)
        return Record("waiting", long.command, progress=(long.done, long.total))

    def until(self, command: Command) -> bool:
        action = self.of.rules.actions[command.action]
        return action.until is not None and bool(self._asked("until", command))

    def _did(self, command: Command) -> None:
        self.row.set(DID, (*self.row.S[DID], (self.acting, command)))

    # ---- doing --------------------------------------------------------------------------------

    def do(self, command: Command) -> Record:
        """Executed, refused or waiting."""
        if self.goes_on(command):
            long = self.long()
            assert long is not None
            return self._continued(long)
        if command.is_pass:
            return Record("executed", PASS)
        total = self.ticks(command)
        if total <= 1 or self.until(command):
            return self._complete(command)
        return self.failed(command) or self._waits(LongAction(command, 1, total))

    def since(self, command: Command) -> list[Any]:
        """The row that `was` reads: the round's start; a free action is a round of its own."""
        row = self.row
        if row.S[ROUND] is not None and self.ticks(command) != 0:
            found: list[Any] = row.S[ROUND]
            return found
        if not self.of.looks_back:
            return row.S
        return self.start if row.mark == self.mark and self.start is not row.S else row.copy()

    def does(self, command: Command) -> bool:
        """Carry out a command's own changes alone; false where it is refused or begins a long
        action. A `Breach` leaves the row half written."""
        return self.do(command).status == "executed"

    def failed(self, command: Command) -> Record | None:
        """The refusal by a require of the author, ``None`` if all hold."""
        holds = self.code["ok", command.action]
        index = holds(self.row.S, self.since(command), self.acting, *command.args)
        return None if index < 0 else Record("refused", command, refused=index)

    def _complete(self, command: Command) -> Record:
        """Check the requires and apply the effects, or refuse and draw nothing."""
        mark, drawn = self.row.mark, len(self.luck.taken)
        record = self._attempt(command)
        if record.status == "refused":
            self.row.undo(mark)
            self.luck.forget(drawn)
        return record

    def _attempt(self, command: Command) -> Record:
        """The same; the caller undoes the writes and draws before a refusal."""
        failed = self.failed(command)
        if failed is not None:
            return failed
        try:
            record = self._carried_out(command, "run")
        except Breach as breach:
            if breach.kind not in ADDED:
                raise
            index = len(self.of.rules.actions[command.action].requires)
            return Record("refused", command, index, breach.kind, breach.message)
        self._did(command)
        return record

    def _carried_out(self, command: Command, kind: str) -> Record:
        """Evaluate a body and commit its changes."""
        record, since = Record("executed", command), self.since(command)
        log = self.body(command, kind, since)
        self._commit(log, record)
        record.fired, record.changes = [], net(log.changes or ())
        return record

    def body(self, command: Command, kind: str, since: list[Any]) -> Log:
        """Run a body and return the log of its requests."""
        log = self._log(f"action {command.action}", command.args)
        log.actor = self.acting
        run = self.code.find(kind, command.action)
        if run is not None:
            try:
                run(self.row.S, since, self.acting, log, *command.args)
            except Breach as breach:
                raise breach.blamed(log.title) from None
        return log

    def _log(self, title: str, args: Args) -> Log:
        log = self.log_type(self.row, self.luck, self.of.params)
        log.title, log.args = title, args
        began = self.row.S[ROUND]
        log.pasts = (self.start, self.reported, *(() if began is None else (began,)))
        return log

    def _commit(self, log: Log, record: Record) -> None:
        """Write the changes of a log, check the conserved sums, and add its texts to the record."""
        row, mark = self.row, len(self.row.J)
        log.changes = None if self.of.quiet else []
        if self.of.guards.sums:
            self.of.guards.commit(row, log, self.of.me)
        else:
            commit(row, log)
        record.fired += log.fired
        row.paid += log.rewards
        if log.lines or log.events or log.rewards:
            self._speak(log, record, mark)

    def _speak(self, log: Log, record: Record, mark: int) -> None:
        """Keep the texts, events and rewards of a body; destroyed objects read as before."""
        row = self.row
        if self.of.says:
            back = recalled(row, log, mark) if log.doomed else []
            self.of.speak(row, record, log)
            for slot, value in back:
                row.S[slot] = value
            self.slots.epoch += 1

    # ---- the end of a round -------------------------------------------------------------------

    def _closed(self, records: list[Record], *, free: bool) -> None:
        """Steps 7 to 12."""
        row, last = self.row, records[-1]
        if not free:
            self.pass_time(last)
        self._invariants(records)
        last.time_passed = not free
        if free:
            self._own_round(row)
        else:
            self._end_round(row)
            row.set(TICK, row.S[TICK] + 1)
        last.latched = self.progress()
        self.of.watch(row, self.reported, last, self.luck)
        if self.of.says:
            self.of.end_words(row, self.start, last.latched, last)
        self._scored(last)

    def _own_round(self, row: Row) -> None:
        """Continue the round under way after a free action."""
        row.set(DID, self.executed_before())
        if row.S[ROUND] is not None:
            reported = row.copy()
            reported[REPORTED] = None  # or a round of many free actions keeps a row for each
            row.set(REPORTED, reported)

    def executed_before(self) -> tuple[Any, ...]:
        """The intents executed in the round before this one."""
        S, J = self.row.S, self.row.J
        for at in range(self.mark, len(J), 2):
            if J[at] == DID:
                found: tuple[Any, ...] = J[at + 1]
                return found
        return tuple(S[DID])

    def _end_round(self, row: Row) -> None:
        for slot, value in ((DID, ()), (DRAWN, {}), (TURN, 0), (ROUND, None), (REPORTED, None)):
            if row.S[slot] != value:
                row.set(slot, value)
        if self.several and row.S[LONGS]:
            kinds = row.S[KINDS]
            row.set(
                LONGS, tuple(x for x in row.S[LONGS] if x[0] is None or kinds[x[0]] is not None)
            )

    def _invariants(self, records: list[Record]) -> None:
        made = [change for one in records for change in one.made]
        self.of.guards.check_invariants(self.row, self.start, self.mark, made, self.of.me)

    # ---- phases -------------------------------------------------------------------------------

    def pass_time(self, record: Record) -> None:
        """Run every phase in order; the record notes the laws that fired."""
        for phase in self.of.phases:
            if isinstance(phase, Order):
                self._in_turn(phase, record)
            else:
                self._together(phase, record)

    def _together(self, laws: Together, record: Record) -> None:
        """Every law and binding reads the row that the phase began with."""
        log = self._log("", ())
        for title, law in laws:
            try:
                law(self.row.S, self.start, self.of.me, log)
            except Breach as breach:
                raise breach.blamed(title) from None
        if log.fired:
            self._commit(log, record)
            record.law_changes += net(log.changes or ())

    def _in_turn(self, order: Order, record: Record) -> None:
        """Objects in turn; each binding reads everything that earlier ones wrote."""
        S, me, made = self.row.S, self.of.me, list[RawChange]()
        log, died = self._log("", ()), False
        for test, x, turns in order.due(self.row, self.start, me):
            if test is not None and not (died or may_hold(test, S, self.start, me, x)):
                continue
            for (law, turn), args in turns:
                if died and not are_alive(S[KINDS], law, args):
                    continue
                try:
                    turn(S, self.start, me, log, *args)
                    if log.fired:
                        self._commit(log, record)
                        made += log.changes or ()
                        died = died or bool(log.doomed)
                        log.clear()
                except Breach as breach:
                    raise breach.blamed(f"law {law.name}") from None
        record.law_changes += net(made)

    # ---- progress, watches, score -------------------------------------------------------------

    def progress(self) -> tuple[str, ...]:
        """Give awards and latch endings; the endings that are reached now."""
        row, me, world = self.row, self.of.me, self.code.world
        for at in range(len(world.awards)):
            if at not in row.S[AWARDED] and self.code["award", str(at)](row.S, row.S, me):
                row.set(AWARDED, (*row.S[AWARDED], at))
        latched: tuple[str, ...] = row.S[LATCHED]
        live = self.world.outcomes == "live"
        if latched and not self.world.endless and not live:
            return ()
        found = []
        for at, line in enumerate(world.endings):
            if line.name not in latched and self.code["ending", str(at)](row.S, row.S, me):
                found.append(line.name)
                if live or not self.world.endless:
                    break
        if found and not live:
            row.set(LATCHED, (*latched, *found))
        return tuple(found)

    def _scored(self, record: Record) -> None:
        """Set the score of a record, and add the rewards that the world pays now."""
        S, me, pays = self.row.S, self.of.me, self.of.pays
        try:
            if not self.of.quiet:
                record.score = self.code.score(S, S, me)
            for at, pay in enumerate(pays if record.time_passed else ()):
                if self.code["pay", str(at)](S, self.start, me):
                    amount = self.code.amount("payed", at, pay, S, self.start, me)
                    self.row.paid.append((amount, 0))
                    record.reward = record.reward + amount
        except Breach as breach:
            record.fault = record.fault or breach
