"""What a session hands out: its moments, and the answers to what can be done and why not."""

from __future__ import annotations

from tokenworld.diagnostics.frozen import frozen
from tokenworld.engine import State
from tokenworld.ground import Command, NoMatch, Outcome, RequireReport

__all__ = ["LegalCommand", "Moment", "WhyNot"]


@frozen
class LegalCommand:
    """A command that would be executed now, as a call and as words to type."""

    command: Command
    call: str
    text: str


@frozen
class Moment:
    """One step of a session: the state after it, its records and what was asked.

    ``run`` and ``records`` say where it is stored: the number of the run (``None`` if nothing is
    recorded) and how many of its records come up to and with this step. ``scratch``: the state
    was edited here or before, so it is no part of any run; ``edit`` is the edit, if one was made.
    """

    state: State
    asked: str
    outcomes: tuple[Outcome, ...]
    run: int | None
    records: int
    scratch: bool = False
    edit: str = ""


@frozen
class WhyNot:
    """A command examined without giving it: each require as it stands, or why it means nothing."""

    asked: str
    command: Command | None
    requires: tuple[RequireReport, ...]
    no_match: NoMatch | None = None

    @property
    def allowed(self) -> bool:
        """Whether it would be executed now."""
        return self.command is not None and all(one.holds is True for one in self.requires)
