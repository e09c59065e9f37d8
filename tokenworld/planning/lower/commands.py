"""The actor's part of a tick: commands, waiting, long actions and how they end (language.md §8)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from tokenworld.ground import PASS, Command, Raw
from tokenworld.planning.encodings.ir import Effect, Literal
from tokenworld.planning.encodings.slice import Cone
from tokenworld.planning.lower.algebra import DID, LONG
from tokenworld.planning.lower.blocks import Block
from tokenworld.planning.lower.diagram import Diagram, Value
from tokenworld.planning.lower.operators import Draft, Operators
from tokenworld.planning.lower.outcomes import outcomes_of
from tokenworld.planning.lower.phases import ACT, MUST, Phases
from tokenworld.planning.lower.world import Commanded, TakenApart

__all__ = ["Commands"]

_LONG = (LONG, ())
Turn = tuple[Diagram, tuple[Literal, ...]]
"""A moment in which something can be done: a condition and literals."""


class Commands:
    """Makes the operators that stand for commands."""

    def __init__(self, world: TakenApart, cone: Cone, operators: Operators, phases: Phases) -> None:
        self._world, self._cone = world, cone
        self._operators, self._phases = operators, phases
        self._diagrams = world.diagrams
        self._at_act: Literal = (phases.token, (ACT,))
        self._broken_off = any(one.is_long and not self._is_trivial(one) for one in cone.commands)

    def add(self) -> None:
        """The operators of all commands that matter, and of `pass`."""
        for commanded in self._cone.commands:
            if commanded.takes == 0:
                self._free(commanded)
            elif commanded.is_long:
                self._long(commanded)
            else:
                for given, fixed in self._turns(commanded):
                    condition = self._diagrams.both(given, commanded.possible())
                    self._done(commanded, commanded.command, (condition, fixed))
        self._pass()

    # ---- moments ----------------------------------------------------------------------------

    def _is_trivial(self, command: Commanded) -> bool:
        """Whether breaking off a long action does nothing but end it."""
        return command.cancelled is None or (
            not self._operators.matters(command.cancelled)
            and command.cancellable() == self._diagrams.true
        )

    def _turns(self, commanded: Commanded) -> Iterator[Turn]:
        """The moments in which a command can be given."""
        exists = commanded.exists()
        safe = self._diagrams.both(self._cone.safe, exists)
        yield safe, (self._at_act, *self._idle_or_trivial())
        if self._broken_off:
            yield exists, ((self._phases.token, (MUST,)),)

    def _idle_or_trivial(self) -> tuple[Literal, ...]:
        """No long action runs, or one that a new intent simply ends."""
        if _LONG not in self._operators.index:
            return ()
        ended = [one for one in self._cone.commands if one.is_long and self._is_trivial(one)]
        values: list[Raw] = [None, *(stage for one in ended for stage in one.stages)]
        return (self._running(values),)

    def _running(self, values: list[Raw]) -> Literal:
        positions = sorted(self._operators.position(_LONG, value) for value in values)
        return self._operators.index[_LONG], tuple(positions)

    # ---- what is noted ------------------------------------------------------------------------

    def _stage(self, value: Raw) -> tuple[Effect, ...]:
        """How far a long action is."""
        if _LONG not in self._operators.index:
            return ()
        position = self._operators.position(_LONG, value)
        return (Effect((), self._operators.index[_LONG], position),)

    def _deed(self, command: Command) -> tuple[Effect, ...]:
        """What was done, for the phases."""
        if not self._phases.any:
            return ()
        words = (command.action, *command.args)
        return tuple(
            Effect((), variable, 1)
            for (name, args), variable in self._operators.index.items()
            if name == DID and words[: len(args)] == args
        )

    # ---- commands -----------------------------------------------------------------------------

    def _free(self, commanded: Commanded) -> None:
        """A command that takes no time: the same actor is asked again."""
        block = commanded.block
        if not self._operators.matters(block):
            return
        given = self._diagrams.both(self._cone.safe, commanded.exists())
        condition = self._diagrams.both(given, commanded.possible())
        results = self._operators.results(block) + self._phases.started(block)
        draft = Draft(
            self._shown(commanded), condition, results, (self._at_act,), command=commanded.command
        )
        self._offer(commanded, draft, commanded.block)

    def _long(self, commanded: Commanded) -> None:
        """A command that may take several ticks: its first one, and all that may follow."""
        both, negate = self._diagrams.both, self._diagrams.negate
        until = commanded.until(under_way=False)
        for given, fixed in self._turns(commanded):
            at_once = both(both(given, until), commanded.possible())
            self._done(commanded, commanded.command, (at_once, fixed))
            begun = both(both(given, negate(until)), commanded.requires())
            self._wait(commanded, commanded.command, (begun, fixed), 1)
        for done in range(1, commanded.takes):
            self._continue(commanded, done, commanded.until(under_way=True))
        if not self._is_trivial(commanded):
            self._break_off(commanded)

    def _continue(self, commanded: Commanded, done: int, until: Diagram) -> None:
        """`pass` when ``done`` ticks are behind: it completes, fails, or goes on."""
        both, negate = self._diagrams.both, self._diagrams.negate
        fixed = (self._at_act, self._running([commanded.stages[done - 1]]))
        last = done + 1 == commanded.takes
        ends = self._cone.safe if last else both(self._cone.safe, until)
        self._done(commanded, PASS, (both(ends, commanded.possible()), fixed))
        self._fail(commanded, (both(ends, negate(commanded.requires())), fixed))
        self._fail(commanded, (both(ends, commanded.fails()), fixed))
        if not last:
            goes_on = both(self._cone.safe, negate(until))
            self._wait(commanded, PASS, (goes_on, fixed), done + 1)

    def _done(self, commanded: Commanded, command: Command, turn: Turn) -> None:
        """A command completes: its changes apply and the tick goes on."""
        extra = (*self._stage(None), *self._deed(commanded.command))
        self._ends(commanded, command, turn, commanded.block, extra)

    def _wait(self, commanded: Commanded, command: Command, turn: Turn, done: int) -> None:
        """A long action has ``done`` ticks behind it now."""
        extra = (*self._stage(commanded.stages[done - 1]), *self._deed(commanded.command))
        self._ends(commanded, command, turn, None, extra)

    def _fail(self, commanded: Commanded, turn: Turn) -> None:
        """A require fails on completion: the ``cancelled`` block applies."""
        condition = self._diagrams.both(turn[0], commanded.cancellable())
        turn = (condition, turn[1])
        self._ends(commanded, PASS, turn, commanded.cancelled, self._stage(None))

    def _break_off(self, commanded: Commanded) -> None:
        """A new intent ends a long action; its ``cancelled`` block comes before that intent."""
        block = commanded.cancelled
        if block is None:
            return
        fixed = (self._at_act, self._running(list(commanded.stages)))
        extra = (*self._stage(None), Effect((), self._phases.token, MUST))
        condition = self._diagrams.both(self._cone.safe, commanded.cancellable())
        name = f"break off {self._shown(commanded)}"
        self._operators.add(Draft(name, condition, self._operators.results(block), fixed, extra))

    def _ends(
        self,
        commanded: Commanded,
        command: Command,
        turn: Turn,
        block: Block | None,
        extra: tuple[Effect, ...],
    ) -> None:
        """The actor's part of a tick ends; without phases so does the tick."""
        results = [] if block is None else self._operators.results(block)
        if not self._phases.any:
            results = results + self._phases.turned()
        name = self._shown(commanded)
        if command.is_pass:
            name = f"pass: {name}"
        draft = Draft(
            name, turn[0], results, turn[1], (*extra, self._phases.begun()), 0, 1, command
        )
        self._offer(commanded, draft, block)

    def _pass(self) -> None:
        """`pass` where nothing is under way: time goes by."""
        results = [] if self._phases.any else self._phases.turned()
        if not (results or self._phases.any):
            return
        idle = (self._running([None]),) if _LONG in self._operators.index else ()
        fixed = (self._at_act, *idle)
        extra = (self._phases.begun(),)
        self._operators.add(Draft("pass", self._cone.safe, results, fixed, extra, 0, 1, PASS))

    # ---- prices and outcomes ------------------------------------------------------------------

    def _offer(self, commanded: Commanded, draft: Draft, block: Block | None) -> None:
        """One operator per price and, where it depends on draws, per outcome of these."""
        coins = self._phases.coins(commanded.block)
        levels = {self._world.variables.levels[one.site.coin] for one in coins}
        asked = (draft.condition, *(after for _, after in draft.results))
        drawn = self._cone.whole and block is commanded.block
        if not drawn and not any(levels & self._diagrams.support(one) for one in asked):
            coins = []

        def add(priced: Draft) -> None:
            for outcome in outcomes_of(self._world, coins, priced.condition):
                self._operators.add(
                    replace(
                        priced,
                        condition=outcome.condition,
                        coins=outcome.coins,
                        draws=outcome.draws,
                    )
                )

        self._price(commanded, draft, add)

    def _price(self, commanded: Commanded, draft: Draft, add: Callable[[Draft], None]) -> None:
        """The draft for each price the command can have; `pass` is never dear."""
        if draft.command is None or draft.command.is_pass:
            add(draft)
            return
        diagrams, cost = self._diagrams, commanded.cost()
        for value in diagrams.leaves(cost):
            same = diagrams.lift(("costs", value), partial(_equals, value), cost)
            part = diagrams.both(draft.condition, same)
            if part != diagrams.false:
                units = commanded.price(value) if draft.ticks else 0
                add(replace(draft, condition=part, units=units))

    def _shown(self, commanded: Commanded) -> str:
        """A command for people to read: ``take(ruby)``."""
        unit = commanded.unit
        args = self._world.facts.shown_args(unit.params, unit.args)
        return f"{unit.rule.name}({', '.join(str(one) for one in args)})"


def _equals(wanted: Value, value: Value) -> bool:
    return value == wanted
