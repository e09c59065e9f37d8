"""One world, ready to run: start, tick, explain."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tokenworld.core import lowered
from tokenworld.diagnostics import Diagnostic, Failure
from tokenworld.engine.changes import Breach
from tokenworld.engine.knowledge import Knowledge
from tokenworld.engine.luck import Luck, SeededLuck
from tokenworld.engine.queries import Answers
from tokenworld.engine.rows.layout import AWARDED, LATCHED
from tokenworld.engine.rows.live import Enough, Halves
from tokenworld.engine.rows.log import Row
from tokenworld.engine.rows.questions.tracing import TimeTrace
from tokenworld.engine.rows.stepper import RowStepper
from tokenworld.engine.saved.restore import state_from_json, state_revised
from tokenworld.engine.start import Outside, check_start, start_state
from tokenworld.engine.state import State
from tokenworld.ground import By, Command, Instance, Json, NoMatch, Outcome, Prose, Raw
from tokenworld.model import Body

if TYPE_CHECKING:
    from tokenworld.engine.arrays import Made

_GIVEN = "Correct it, or give it in several steps."


class Engine(Answers):
    """A compiled instance. States are values: no method changes one that it was given."""

    def __init__(self, instance: Instance, prose: Prose) -> None:
        super().__init__(instance, prose)
        self._outsides: list[Outside] = []

    # ---- playing ------------------------------------------------------------------------------

    def start(self, seed: int = 0, luck: Luck | None = None) -> State:
        """The start state; `Failure` if the setup cannot be carried out."""
        luck = luck or SeededLuck()
        given = self.instance, self.layout, self._prose
        state = start_state(*given, seed, luck, self._outsides)
        return self.progressed(state, check_start)

    def play(
        self,
        state: State,
        intent: Command | NoMatch,
        luck: Luck | None = None,
        *,
        by: By = "player",
    ) -> tuple[State, tuple[Outcome, ...]]:
        """Play the intent of the actor whose turn it is: return the next state and the records
        (two where a long action is broken off, or where a fruitless intent lets it go on). The
        last actor's intent closes the round, which is the tick."""
        return self._live.play(state, intent, luck or SeededLuck(), by)

    def halt(self, state: State, cause: str) -> Outcome:
        """The record that the runner stopped in a state, and why."""
        return self._live.halt(state, cause)

    def halves(
        self, state: State, intent: Command | NoMatch, luck: Luck | None = None,
        enough: Enough = lambda done, acted: False,
    ) -> Halves:  # fmt: skip
        """Play an intent; return the states after its action and after the whole tick, or where it
        is ``enough`` twice that after its action. Requires that fail are not reported."""
        return self._live.halves(state, intent, luck or SeededLuck(), enough)

    def traced(self, state: State, intent: Command | NoMatch, luck: Luck) -> TimeTrace:
        """Play the tick of an intent again and return what each law did."""
        return self._live.traced(state, intent, luck)

    def acted(self, state: State, command: Command, luck: Luck | None = None) -> State:
        """The state after a command's own changes, before time passes: an equal one where it is
        refused, discarded or comes after the end."""
        return self.halves(state, command, luck).acted

    def edit(self, state: State, body: Body) -> State:
        """A `given` of a scenario: a body applied between ticks, no tick passes. `Failure` where
        it cannot be carried out."""
        lowered_body = lowered(self.instance.program).body(body)
        outside = Outside(self.instance, self.layout, self._prose, state, (lowered_body,))
        try:
            outside.run(lowered_body, SeededLuck(), "given")
        except Breach as breach:
            message = f"The `given` cannot be carried out: {breach.message}"
            raise Failure(Diagnostic(breach.code, message, body[0].span, hint=_GIVEN)) from None
        return self.progressed(outside.state())

    def put(self, state: State, fluent: str, args: tuple[Raw, ...], value: Raw) -> State:
        """Set one slot between ticks, as `edit` does; the caller has checked that the value
        fits."""
        after, column = state.fork(), self.layout.by_id[fluent]
        after.put(column, column.key(args), value)
        return self.progressed(after)

    def snapshot(
        self, base: State, columns: Mapping[str, Any] | None = None,
        objects: Sequence[Made] = (), tick: int | None = None,
    ) -> State:  # fmt: skip
        """A state like ``base`` with more objects and with these columns, as `columns` gives them;
        needs numpy. `Failure` (TW0006) where they do not fit."""
        from tokenworld.engine.arrays import snapshot_of

        return self.progressed(snapshot_of(base, columns or {}, objects, tick))

    def progressed(
        self, state: State, check: Callable[[RowStepper, Row], None] | None = None
    ) -> State:
        """A state of the caller's own, with the awards given and the endings latched that it has
        reached;"""

        def progress(stepper: RowStepper, row: Row) -> None:
            if check is None:
                stepper.asking(row).progress()
            else:
                check(stepper, row)
            state.awarded, state.latched = row.S[AWARDED], row.S[LATCHED]
            row.J.clear()

        state.facts = None
        self.on_row(state, progress)
        return state

    def restored(self, found: Json, *, source: str = "the state") -> State:
        """The state that ``json`` shows; `Failure` (TW0006) where it does not fit the program."""
        return state_from_json(self.layout, found, source=source)

    def revised(self, base: State, found: Mapping[str, Any], *, source: str = "the state") -> State:
        """A state with the objects of ``base`` and some other values; see `restore`."""
        return state_revised(base, found, source=source)

    # ---- what players know ---------------------------------------------------------------------

    @cached_property
    def known(self) -> Knowledge:
        """The knowledge of a player, without secrets."""
        return Knowledge(self)

    @cached_property
    def everything(self) -> Knowledge:
        """The knowledge of an operator, with all secrets."""
        return Knowledge(self, everything=True)
