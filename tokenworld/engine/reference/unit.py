"""One intent's own doing: requires, long actions, effects (language.md §6; §8, steps 3 to 6)."""

from __future__ import annotations

from dataclasses import replace

from tokenworld.core.nodes import Body, Let
from tokenworld.core.rules import Action
from tokenworld.engine.reference.bodies import Teller, Wants
from tokenworld.engine.reference.chance import Lot
from tokenworld.engine.reference.changes import applied, net, seen_by_prose
from tokenworld.engine.reference.env import Env
from tokenworld.engine.reference.record import Record, Refused, requires
from tokenworld.engine.reference.shown import object_names
from tokenworld.engine.reference.values import Fault, Long, State, copied
from tokenworld.engine.reference.words import Words
from tokenworld.ground import PASS, Command, Json, show_value

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
        """Whether an intent is a round of its own."""
        if command is None or command.is_pass or self.goes_on(state, command):
            return False
        try:
            return self.ticks(state, command) == 0
        except Fault:
            return False

    def goes_on(self, state: State, command: Command) -> bool:
        """Whether an intent continues the actor's long action: `pass`, or the same command."""
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
