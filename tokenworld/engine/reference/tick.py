"""The tick: one round of intents, then time, phases, progress and watches (language.md §8)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

from tokenworld.core.nodes import Body, Let
from tokenworld.core.rules import Action, Ending, Law, Watch
from tokenworld.engine.reference.applying import Made, applied, net, seen_by_prose
from tokenworld.engine.reference.bodies import Line, Teller, Wants
from tokenworld.engine.reference.chance import Lot
from tokenworld.engine.reference.record import Record, Refused, object_names, requires
from tokenworld.engine.reference.values import Env, Fault, Long, State, copied
from tokenworld.engine.reference.words import Words
from tokenworld.ground import PASS, By, Command, Json, NoMatch, Raw, show_value
from tokenworld.model import ObjectType, Phase

# ---- Progress ------------------------------------------------------------------------------------
# Advance a round, latch endings, check invariants (language.md §8).


# ---- rounds -------------------------------------------------------------------------------


def handed_on(state: State, after: State) -> State:
    """The state that the next actor of the round gets."""
    new = copied(after)
    new.turn, new.round = state.seat + 1, state.round or state
    return new


def own_round(state: State, after: State) -> State:
    """Return the state after a free action, in which the current round continues."""
    new = copied(after)
    new.executed = state.executed
    if state.round is not None:
        new.reported = copied(after)
        new.reported.reported = None
    return new


def ended(after: State) -> State:
    """The state at the end of a round."""
    new = copied(after)
    new.executed, new.drawn, new.turn, new.round, new.reported = (), {}, 0, None, None
    if len(new.actors) > 1:
        new.long = {who: one for who, one in new.long.items() if who is None or who in new.kinds}
    return new


# ---- progress and invariants ----------------------------------------------------------------


def progressed(words: Words, state: State) -> tuple[str, ...]:
    """Give awards and latch endings, in place; the endings that are reached now."""
    world = words.instance.world
    rules = words.rules.worlds[world.name]
    env = Env(state, state, state.me)
    for index, award in enumerate(rules.awards):
        if index not in state.awarded and words.holds(award.when, env):
            state.awarded = (*state.awarded, index)
    open_lines = [one for one in rules.endings if one.name not in state.outcomes]
    if world.outcomes == "live":
        return tuple(_true(words, open_lines, env))[:1]
    if world.endless:
        now = tuple(_true(words, open_lines, env))
    else:
        now = () if state.outcomes else tuple(_first(words, open_lines, env))
    state.outcomes = (*state.outcomes, *now)
    return now


def _true(words: Words, lines: list[Ending], env: Env) -> list[str]:
    return [line.name for line in lines if words.holds(line.condition, env)]


def _first(words: Words, lines: list[Ending], env: Env) -> list[str]:
    return next(([line.name] for line in lines if words.holds(line.condition, env)), [])


def broken_invariant(words: Words, state: State) -> Fault | None:
    """The first invariant that a state breaks, with its first witness."""
    for rule in words.rules.invariants.values():
        for env in words.bindings(rule.params, None, Env(state, state, state.me)):
            if not words.holds(rule.condition, env):
                fault = Fault("TW1001", "invariant", rule.source)
                fault.witness = tuple(
                    state.names[env.locals[binder.name]]
                    if isinstance(binder.type, ObjectType)
                    else str(env.locals[binder.name])
                    for binder in rule.params
                )
                return fault
    return None


# ---- One intent ----------------------------------------------------------------------------------
# One intent's own doing: requires, long actions, effects (language.md §6; §8, steps 3 to 6).


ADDED = ("range", "unique", "cycle")
"""Breaches by an action that are refusals: the requires which the language adds, in order."""


class Unit:
    """Executes the intent of the actor whose turn it is."""

    def __init__(self, words: Words) -> None:
        self.words, self.known, self.program = words, words.known, words.program
        self.rules = words.rules

    # ---- places -----------------------------------------------------------------------------

    def ticks(self, state: State, command: Command) -> int:
        """The number of ticks that an action takes now; 0 for a free action."""
        action = self.rules.actions[command.action]
        env = self._env(state, state.round or state, command)
        return 1 if action.takes is None else int(self.words.term(action.takes, env))

    def is_free(self, state: State, command: Command | None) -> bool:
        """Return whether an intent is a round of its own."""
        if command is None or command.is_pass or self.goes_on(state, command):
            return False
        try:
            return self.ticks(state, command) == 0
        except Fault:
            return False

    def goes_on(self, state: State, command: Command) -> bool:
        """Return whether an intent continues the long action: `pass`, or the same command."""
        long = state.long.get(state.acting)
        return long is not None and (command.is_pass or command == long.command)

    def since(self, state: State, command: Command) -> State:
        """The state that `was` reads: the start of the round; a free action is its own round."""
        if state.round is None or self.ticks(state, command) == 0:
            return state
        return state.round

    def _env(self, state: State, was: State, command: Command) -> Env:
        action = self.rules.actions[command.action]
        names = {b.name: arg for b, arg in zip(action.params, command.args, strict=True)}
        return Env(state, was, state.acting, names)

    # ---- long actions -----------------------------------------------------------------------

    def cancel(self, state: State, command: Command) -> Record | None:
        """Another command that takes time breaks off the long action under way."""
        long = state.long.get(state.acting)
        if long is None or self.goes_on(state, command) or self.ticks(state, command) == 0:
            return None
        return self._interrupted(state, long, "a new intent")

    def _interrupted(self, state: State, long: Long, cause: str) -> Record:
        cancelled = self.rules.actions[long.command.action].cancelled
        wants = Wants(counts=dict(state.drawn))
        record = self._carried_out(state, long.command, cancelled, wants)
        record.status, record.cause, record.progress = "interrupted", cause, (long.done, long.total)
        record.after = copied(record.after)
        del record.after.long[state.acting]
        return record

    def _continued(self, state: State, long: Long) -> Record:
        """One more tick of a long action: it waits, completes, or its requires fail."""
        command, done = long.command, long.done + 1
        if done < long.total and not self._until(state, command):
            return self._waits(state, Long(command, done, long.total))
        idle = copied(state)
        del idle.long[state.acting]
        wants = Wants(counts=dict(state.drawn))
        record = self._finished(idle, command, wants)
        if record.refused is not None:
            return self._failed_at_the_end(state, long, record.refused, wants)
        record.before, record.progress = state, (done, long.total)
        return record

    def _failed_at_the_end(
        self, state: State, long: Long, refused: Refused, wants: Wants
    ) -> Record:
        """Count the draws of the attempt, since they decided that the action failed."""
        spent = copied(state)
        spent.drawn = wants.counts
        record = self._interrupted(spent, long, self._cause(long.command, refused))
        record.before = state
        record.draws = [*map(shown_draw, wants.drawn), *record.draws]
        return record

    def _cause(self, command: Command, refused: Refused) -> str:
        """The label of the require that stopped it, or its kind, or its place."""
        own = self.rules.actions[command.action].requires
        label = "" if refused.generated else own[refused.index].label
        return refused.generated or label or f"require {refused.index + 1}"

    def _waits(self, state: State, long: Long) -> Record:
        after = copied(state)
        after.long[state.acting] = long
        after.executed = (*state.executed, (state.acting, long.command))
        return Record("waiting", long.command, state, after, progress=(long.done, long.total))

    def _until(self, state: State, command: Command) -> bool:
        until = self.rules.actions[command.action].until
        env = self._env(state, state.round or state, command)
        return until is not None and self.words.holds(until, env)

    # ---- doing ------------------------------------------------------------------------------

    def do(self, state: State, command: Command) -> Record:
        """Executed, refused or waiting."""
        if self.goes_on(state, command):
            return self._continued(state, state.long[state.acting])
        if command.is_pass:
            return Record("executed", PASS, state, state)
        total = self.ticks(state, command)
        if total <= 1 or self._until(state, command):
            return self._finished(state, command, Wants(counts=dict(state.drawn)))
        return self.failed(state, command) or self._waits(state, Long(command, 1, total))

    def failed(self, state: State, command: Command) -> Record | None:
        """The refusal by a require of the author, ``None`` if all hold."""
        was = self.since(state, command)
        action = self.rules.actions[command.action]
        index = requires(self.words, action, self._env(state, was, command))
        if index is None:
            return None
        return Record("refused", command, state, state, refused=Refused(index), since=was)

    def _finished(self, state: State, command: Command, wants: Wants) -> Record:
        """Check the requires and apply the effects, or refuse; ``wants`` is filled."""
        failed = self.failed(state, command)
        if failed is not None:
            return failed
        action = self.rules.actions[command.action]
        try:
            record = self._carried_out(state, command, action.body, wants)
        except Fault as fault:
            if fault.kind not in ADDED:
                raise
            refused = Refused(len(action.requires), fault.kind, fault.text)
            was = self.since(state, command)
            return Record("refused", command, state, state, refused=refused, since=was)
        record.after = copied(record.after)
        record.after.executed = (*state.executed, (state.acting, command))
        return record

    def _carried_out(self, state: State, command: Command, body: Body, wants: Wants) -> Record:
        """Evaluate a body and apply the changes that it requests."""
        action, was = self.rules.actions[command.action], self.since(state, command)
        teller = Teller(self.words, wants, self._lot(state, command, wants))
        env = self._env(state, was, command)
        teller.run((*self._lets(action), *body), env)
        after, made = applied(self.known, state, wants)
        after.drawn = wants.counts
        self.conserved(state, after, wants)
        record = Record("executed", command, state, after, made=net(made))
        record.draws = [shown_draw(one) for one in wants.drawn]
        record.add(wants, seen_by_prose(self.known, state, after, wants), was)
        return record

    def _lets(self, action: Action) -> tuple[Let, ...]:
        return tuple(guard for guard in action.guards if isinstance(guard, Let))

    def _lot(self, state: State, command: Command, wants: Wants) -> Lot:
        """An action's draws are keyed by the actor (or null), then its arguments."""
        names = object_names(state)
        actor: Json = None if state.acting is None else names[state.acting]
        shown = [
            show_value(self.program, names, binder.type, arg)
            for binder, arg in zip(
                self.rules.actions[command.action].params, command.args, strict=True
            )
        ]
        rule = f"action {command.action}"
        return Lot(state, rule, [actor, *shown], wants.counts)

    # ---- conserved sums -----------------------------------------------------------------------

    def conserved(self, before: State, after: State, wants: Wants) -> None:
        """Only the rules that a `conserve` exempts may change its value."""
        for rule in self.rules.conserves.values():
            exempt = {f"{kind} {name}" for name in rule.exempt for kind in ("action", "law")}
            rest = replace(
                wants,
                writes=[one for one in wants.writes if one.rule not in exempt],
                births=[one for one in wants.births if one.rule not in exempt],
                doomed=[one for one in wants.doomed if one[1] not in exempt],
            )
            alone = after
            if (rest.writes, rest.births, rest.doomed) != (
                wants.writes, wants.births, wants.doomed
            ):  # fmt: skip
                alone, _ = applied(self.known, before, rest)
            first = self.words.term(rule.value, Env(before, before, before.me))
            last = self.words.term(rule.value, Env(alone, before, before.me))
            if first != last:
                raise Fault("TW1002", "conserve", f"`{rule.name}` is conserved.")


def shown_draw(one: object) -> dict[str, Json]:
    """A draw as records show it."""
    from dataclasses import asdict

    found = asdict(one)  # type: ignore[call-overload]
    return {**found, "args": list(found["args"]), "chances": list(found["chances"])}


# ---- The tick ------------------------------------------------------------------------------------


_PASSED_BY = ("refused", "no_match", "yielded")
"""With time that always passes, it passes after these."""


class Round:
    """Steps one world, intent by intent."""

    def __init__(self, words: Words) -> None:
        self.words, self.known, self.program = words, words.known, words.program
        self.rules = words.rules
        self.world = words.instance.world
        self.unit = Unit(words)

    # ---- one intent -------------------------------------------------------------------------

    def intent(self, state: State, intent: Command | NoMatch, by: By = "player") -> list[Record]:
        """The records of an intent; the last one holds the state that it leaves."""
        records = self._given(state, intent)
        for one in records:
            one.by = by if one.by == "player" else one.by
        return records

    def _given(self, state: State, intent: Command | NoMatch) -> list[Record]:
        command = intent if isinstance(intent, Command) else None
        if state.outcomes and not self.world.endless:
            return [Record("halted", command, state, state, cause="the world is over")]
        if command is None:
            assert isinstance(intent, NoMatch)
            records = [Record(intent.status, None, state, state, no_match=intent)]
            waits = intent.out_of_turn and len(state.actors) > 1
        else:
            records = self._step(state, command)
            waits = self.unit.is_free(state, command)
        if self.world.time_always and not waits and records[-1].status in _PASSED_BY:
            return self._time_passes(records[-1], state)
        return records

    def _step(self, state: State, command: Command) -> list[Record]:
        """Execute the command of an actor; a refused or discarded one changes nothing."""
        try:
            cancelled = self.unit.cancel(state, command)
            now = state if cancelled is None else cancelled.after
            done = self.unit.do(now, command)
            if done.status == "refused":
                done.judged, done.before, done.after = now, state, state
                return [done]
            if len(state.actors) > 1:
                self._invariants(done.after)
            records = [done]
            if cancelled is not None:
                done.draws, cancelled.draws = cancelled.draws + done.draws, []
                records = [cancelled, done]
        except Fault as fault:
            return [_broken(state, command, fault)]
        try:
            return self._ended(records, state, free=self.unit.is_free(state, command))
        except Fault as fault:
            return [_broken(state, done.command, fault)]

    def _time_passes(self, fruitless: Record, state: State) -> list[Record]:
        """Pass time, with the actor waiting. A long action that continues gets a record of its own;
        otherwise the one record reports the passage of time, unless that is discarded."""
        if state.acting in state.long:
            passed = self._step(state, PASS)
        else:
            try:
                return self._ended([fruitless.fresh()], state, free=False)
            except Fault as fault:
                passed = [_broken(state, PASS, fault)]
        for one in passed:
            one.by = "time"
        return [fruitless, *passed]

    def _ended(self, records: list[Record], state: State, *, free: bool) -> list[Record]:
        """The last actor closes the round; a free action is a round of its own."""
        if free or state.closes(records[-1].after):
            return self._closed(records, state, free=free)
        records[-1].after = handed_on(state, records[-1].after)
        return records

    def dropped(self, records: list[Record], state: State, fault: Fault) -> list[Record]:
        """Return the records of a rollback, for records whose text or score has no value."""
        last = records[-1]
        broken = _broken(state, last.command, fault)
        time_passed = last.by == "time" or last.status in _PASSED_BY
        if not time_passed or last.after is state:
            return [broken]
        broken.by = "time"
        bare = Record(
            records[0].status, records[0].command, state, state, refused=records[0].refused,
            no_match=records[0].no_match, since=records[0].since, judged=records[0].judged,
            by=records[0].by,
        )  # fmt: skip
        return [bare, broken]

    # ---- asking -----------------------------------------------------------------------------

    def refusal(self, state: State, command: Command) -> Record | None:
        """The refused record that a command would have now."""
        if command.is_pass or self.unit.goes_on(state, command):
            return None
        try:
            cancelled = self.unit.cancel(state, command)
            record = self.unit.do(state if cancelled is None else cancelled.after, command)
        except Fault:
            return None  # not a refusal: the tick would be rolled back or fail
        return record if record.status == "refused" else None

    def legal(self, state: State) -> list[Command]:
        """Every command that would not be refused, actions in order, then arguments."""
        found: list[Command] = []
        if state.outcomes and not self.world.endless:
            return found
        for action in self.rules.actions.values():
            domains = [self.known.everything(state, binder.type) for binder in action.params]
            commands = (Command(action.name, args) for args in product(*domains))
            found += [one for one in commands if self._is_legal(state, one)]
        return found

    def _is_legal(self, state: State, command: Command) -> bool:
        if self.unit.goes_on(state, command):
            return True
        try:
            cancelled = self.unit.cancel(state, command)
            now = state if cancelled is None else cancelled.after
            if self.unit.failed(now, command) is not None:
                return False
        except Fault:
            return False
        return self.refusal(state, command) is None

    def candidates(self, state: State) -> list[int]:
        """Living objects in the order in which words are tried (language.md §11)."""
        return self._preorder(state)

    # ---- the end of a round -----------------------------------------------------------------

    def _closed(self, records: list[Record], state: State, *, free: bool) -> list[Record]:
        """Steps 7 to 12."""
        last = records[-1]
        start = state if free else state.round or state
        after = last.after
        if not free:
            for phase in [*self.program.phases.values(), None]:
                after = self._phase(phase, after, start, last)
        self._invariants(after)
        last.time_passed = not free
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
        self._watch(state.reported or state.round or state, settled, last)
        env = Env(settled, last.start, settled.me)
        for line in self.rules.worlds[self.world.name].endings:
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
        laws = [law for law in self.rules.laws.values() if law.phase == name]
        if phase is None or phase.order == "simultaneous":
            return self._together(laws, state, start, record)
        return self._in_turn(laws, state, start, record, nesting=phase.order == "by_nesting")

    def _together(self, laws: list[Law], state: State, start: State, record: Record) -> State:
        """Every law and binding reads the state that the phase began with."""
        wants = Wants(counts=dict(state.drawn))
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
        lot = Lot(env.state, f"law {law.name}", shown, wants.counts)
        Teller(self.words, wants, lot).run(law.body, env)

    def _applied(
        self, state: State, wants: Wants, record: Record, start: State
    ) -> tuple[State, list[Made]]:
        after, made = applied(self.known, state, wants)
        after.drawn = wants.counts
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
                wants = Wants(counts=dict(state.drawn))
                self._law(law, env, wants, record)
                state, made = self._applied(state, wants, record, start)
                everything += made
        record.laws_made += net(everything)
        return state

    def _sorted(
        self, laws: list[Law], state: State, place: dict[int, int]
    ) -> Iterator[tuple[Law, tuple[Raw, ...]]]:
        """Sort bindings without objects first, by law; then by the place of the first object."""
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
        for watch in self.rules.watches.values():
            for args in self._new(watch, before, after):
                wants = Wants()
                names = {b.name: arg for b, arg in zip(watch.params, args, strict=True)}
                lot = Lot(after, f"watch {watch.name}", (), wants.counts)
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
    status = "error" if fault.code in ("TW1003", "TW1006", "TW1007") else "rolled_back"
    return Record(status, command, state, state, fault=fault)
