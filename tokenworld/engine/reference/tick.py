"""The tick: one round of intents, then time, phases, progress and watches (language.md §8)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from tokenworld.engine.reference.bodies import Line, Teller, Wants
from tokenworld.engine.reference.chance import Lot
from tokenworld.engine.reference.changes import Made, applied, net, seen_by_prose
from tokenworld.engine.reference.env import Env
from tokenworld.engine.reference.progress import (
    broken_invariant,
    ended,
    handed_on,
    own_round,
    progressed,
    used_time,
)
from tokenworld.engine.reference.record import Record
from tokenworld.engine.reference.shown import object_names
from tokenworld.engine.reference.unit import Unit, shown_draw
from tokenworld.engine.reference.values import Fault, State
from tokenworld.engine.reference.words import Words
from tokenworld.ground import Command, NoMatch, Raw, show_value
from tokenworld.model import Law, ObjectType, Phase, Watch

__all__ = ["Round"]


class Round:
    """Steps one world, intent by intent."""

    def __init__(self, words: Words) -> None:
        self.words, self.known, self.program = words, words.known, words.program
        self.world = words.instance.world
        self.unit = Unit(words)

    # ---- one intent -------------------------------------------------------------------------

    def intent(self, state: State, intent: Command | NoMatch) -> list[Record]:
        """The records of an intent; the last one holds the state that it leaves."""
        if state.outcomes and not self.world.endless:
            command = intent if isinstance(intent, Command) else None
            return [Record("halted", command, state, state, cause="the world is over")]
        if isinstance(intent, NoMatch):
            record = Record("no_match", None, state, state, no_match=intent)
            if intent.out_of_turn and len(state.actors) > 1:
                return [record]
            return self._ended([record], state, None)
        return self._ended(self._done(state, intent), state, intent)

    def _done(self, state: State, command: Command) -> list[Record]:
        """Steps 3 to 6: what an actor does, or that it was discarded."""
        try:
            cancelled = self.unit.cancel(state, command)
            done = self.unit.do(state if cancelled is None else cancelled.after, command)
            if len(state.actors) > 1:
                self._invariants(done.after)
        except Fault as fault:
            return [_broken(state, command, fault)]
        if cancelled is None:
            return [done]
        done.draws, cancelled.draws = cancelled.draws + done.draws, []
        return [cancelled, done]

    def _ended(self, records: list[Record], state: State, command: Command | None) -> list[Record]:
        """The last actor closes the round; a free action is a round of its own."""
        last = records[-1]
        free = self.unit.is_free(state, command)
        if last.fault is not None and (free or len(state.actors) < 2):
            return records
        if not free and not state.closes(last.after):
            last.after = handed_on(state, last.after, acted=used_time(records))
            return records
        try:
            return self._closed(records, state, free=free)
        except Fault as fault:
            return self._discarded(state, last.command, fault)

    def _discarded(self, state: State, command: Command | None, fault: Fault) -> list[Record]:
        """A breach takes back the last intent; what earlier actors did is kept, and told."""
        if (
            state.round is not None
            and state.closes(state)
            and not self.unit.is_free(state, command)
        ):
            try:
                return self._committed([_broken(state, command, fault)], state, state, free=False)
            except Fault:
                pass
        return self.dropped(state, command, fault)

    def dropped(self, state: State, command: Command | None, fault: Fault) -> list[Record]:
        """The record of a breach; the next actor is asked."""
        record = _broken(state, command, fault)
        if len(state.actors) > 1 and not self.unit.is_free(state, command):
            record.after = (
                ended(state) if state.closes(state) else handed_on(state, state, acted=False)
            )
        return [record]

    # ---- asking -----------------------------------------------------------------------------

    def refusal(self, state: State, command: Command) -> Record | None:
        """The refused record that a command would have now."""
        if command.is_pass:
            return None
        try:
            record = self.unit.do(self._cancelled(state, command), command)
        except Fault:
            return None  # not a refusal: the tick would be rolled back or be in error
        return record if record.status == "refused" else None

    def _cancelled(self, state: State, command: Command) -> State:
        """The state in which a new intent is examined: a long action is cancelled first."""
        if self.unit.is_free(state, command):
            return state
        try:
            cancelled = self.unit.cancel(state, command)
        except Fault:
            return state
        return state if cancelled is None else cancelled.after

    def legal(self, state: State) -> list[Command]:
        """Every command that would not be refused, actions in order, then arguments."""
        found: list[Command] = []
        if state.outcomes and not self.world.endless:
            return found
        for action in self.program.actions.values():
            domains = [self.known.everything(state, binder.type) for binder in action.params]
            for args in product(*domains):
                command = Command(action.name, args)
                try:
                    now = self._cancelled(state, command)
                    holds = self.unit.failed(now, command) is None
                except Fault:
                    continue
                if holds and self.refusal(state, command) is None:
                    found.append(command)
        return found

    def candidates(self, state: State) -> list[int]:
        """Living objects in the order in which words are tried (language.md §11)."""
        return self._preorder(state)

    # ---- the end of a round -----------------------------------------------------------------

    def _closed(self, records: list[Record], state: State, *, free: bool) -> list[Record]:
        """Steps 7 to 12."""
        last = records[-1]
        start = state if free else state.round or state
        acted = state.acted or used_time(records) or self.world.time_always
        after = last.after
        if acted and not free:
            for phase in [*self.program.phases.values(), None]:
                after = self._phase(phase, after, start, last)
        self._invariants(after)
        last.time_passed = acted and not free
        return self._committed(records, state, after, free=free)

    def _committed(
        self, records: list[Record], state: State, after: State, *, free: bool
    ) -> list[Record]:
        last = records[-1]
        settled = own_round(state, after) if free else ended(after)
        if last.time_passed:
            settled.tick += 1
        last.start = state if free else state.round or state
        last.latched = progressed(self.words, settled)
        self._watch(state.told or state.round or state, settled, last)
        env = Env(settled, last.start, settled.me)
        for line in self.world.endings:
            if line.name in last.latched and line.text is not None:
                last.spoken.append(Line(line.text, env))
        last.after = settled
        return records

    def _invariants(self, state: State) -> None:
        fault = broken_invariant(self.words, state)
        if fault is not None:
            raise fault

    # ---- phases -----------------------------------------------------------------------------

    def _phase(self, phase: Phase | None, state: State, start: State, record: Record) -> State:
        name = phase.name if phase is not None else ""
        laws = [law for law in self.program.laws.values() if law.phase == name]
        if phase is None or phase.order == "simultaneous":
            return self._together(laws, state, start, record)
        return self._in_turn(laws, state, start, record, nesting=phase.order == "by_nesting")

    def _together(self, laws: list[Law], state: State, start: State, record: Record) -> State:
        """Every law and binding reads the state that the phase began with."""
        wants = Wants()
        base = Env(state, start, state.me)
        for law in laws:
            for env in self.words.bindings(law.params, law.when, base):
                self._law(law, env, wants, record)
        after, made = self._applied(state, wants, record, start)
        record.laws_made += net(made)
        return after

    def _law(self, law: Law, env: Env, wants: Wants, record: Record) -> None:
        args = tuple(env.locals[binder.name] for binder in law.params)
        names = object_names(env.state)
        shown = [
            show_value(self.program, names, binder.type, arg)
            for binder, arg in zip(law.params, args, strict=True)
        ]
        record.fired.append(("law", law.name, args))
        lot = Lot(env.state.seed, env.state.tick, f"law {law.name}", shown)
        Teller(self.words, wants, lot).run(law.body, env)

    def _applied(
        self, state: State, wants: Wants, record: Record, start: State
    ) -> tuple[State, list[Made]]:
        after, made = applied(self.known, state, wants)
        self.unit.conserved(state, after, wants)
        record.draws += [shown_draw(one) for one in wants.drawn]
        record.add(wants, seen_by_prose(self.known, state, after, wants), start)
        return after, made

    def _in_turn(
        self, laws: list[Law], state: State, start: State, record: Record, *, nesting: bool
    ) -> State:
        """Objects in turn; each binding reads everything that earlier ones wrote."""
        order = self._preorder(state) if nesting else list(state.kinds)
        place = {number: index for index, number in enumerate(order)}
        everything: list[Made] = []
        for law, args in self._sorted(laws, state, place):
            alive = (
                arg in state.kinds
                for binder, arg in zip(law.params, args, strict=True)
                if isinstance(binder.type, ObjectType)
            )
            if not all(alive):
                continue
            names = {binder.name: arg for binder, arg in zip(law.params, args, strict=True)}
            env = Env(state, start, state.me, names)
            if self.words.holds(law.when, env):
                wants = Wants()
                self._law(law, env, wants, record)
                state, made = self._applied(state, wants, record, start)
                everything += made
        record.laws_made += net(everything)
        return state

    def _sorted(
        self, laws: list[Law], state: State, place: dict[int, int]
    ) -> Iterator[tuple[Law, tuple[Raw, ...]]]:
        """First what starts with no object, by law; then by the place of the first object."""
        rows = []
        for position, law in enumerate(laws):
            domains = []
            for binder in law.params:
                values = self.known.everything(state, binder.type)
                if isinstance(binder.type, ObjectType):
                    values = tuple(sorted(values, key=lambda one: place[one]))  # type: ignore[index]
                domains.append(values)
            thing = bool(law.params) and isinstance(law.params[0].type, ObjectType)
            for args in product(*domains):
                first = place[args[0]] if thing else -1  # type: ignore[index]
                rows.append((first, position, law, args))
        rows.sort(key=lambda row: row[:2])  # stable: the other arguments stay in their order
        yield from ((law, args) for _, _, law, args in rows)

    def _preorder(self, state: State) -> list[int]:
        """Containers before their contents; roots by number."""
        nested = [one for one in self.program.fluents.values() if one.nested]
        found: list[int] = []

        def enter(number: int) -> None:
            if number not in found:
                found.append(number)
                for fluent in nested:
                    for child in self.known.pointing(state, fluent, number):
                        enter(child)

        for number in state.kinds:
            if all(self.known.get(state, one, (number,)) is None for one in nested):
                enter(number)
        return [*found, *(number for number in state.kinds if number not in found)]

    # ---- watches ----------------------------------------------------------------------------

    def _watch(self, before: State, after: State, record: Record) -> None:
        for watch in self.program.watches.values():
            for args in self._new(watch, before, after):
                wants = Wants()
                names = {b.name: arg for b, arg in zip(watch.params, args, strict=True)}
                lot = Lot(after.seed, after.tick, f"watch {watch.name}", ())
                Teller(self.words, wants, lot).run(watch.body, Env(after, before, after.me, names))
                record.add(wants, after, before)

    def _new(self, watch: Watch, before: State, after: State) -> list[tuple[Raw, ...]]:
        """The bindings that a watch speaks for now."""
        found = self._true(watch, Env(after, before, after.me))
        if not watch.uses_was:
            earlier = self._true(watch, Env(before, before, before.me))
            found = [args for args in found if args not in earlier]
        if watch.once:
            found = [args for args in found if (watch.name, args) not in after.fired]
            after.fired |= {(watch.name, args) for args in found}
        return found

    def _true(self, watch: Watch, env: Env) -> list[tuple[Raw, ...]]:
        every = self.words.bindings(watch.params, watch.when, env)
        return [tuple(one.locals[binder.name] for binder in watch.params) for one in every]


def _broken(state: State, command: Command | None, fault: Fault) -> Record:
    status = "error" if fault.code in ("TW1003", "TW1006") else "rolled_back"
    return Record(status, command, state, state, fault=fault)
