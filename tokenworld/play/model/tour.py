"""The tour of the screen: six steps, each done by doing it or passed over."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Deed = Literal["command", "actions", "why", "undo", "hint", "help"]
"""The deeds of a player: gives a command, goes to the list of actions, examines a command, undoes,
asks for a hint, opens the help."""


@dataclass(frozen=True, slots=True)
class Step:
    """A step of the tour.

    ``pane`` is the id of the pane that it points at. In ``text``, ``{example}`` is replaced by a
    command of the world, and other names in braces for the keys of the actions ``play.NAME``.
    """

    deed: Deed
    pane: str
    text: str


STEPS: Final = (
    Step("command", "command",
         "Type what you want to do, such as `{example}`, and press Enter. The story tells what "
         "comes of it."),
    Step("actions", "actions",
         "{actions} lists what you can do now. Walk with the arrows, and press Enter to do it; "
         "what you type narrows the list."),
    Step("why", "actions",
         "Walk to a command in the list, or type one, and press {why}: the details tell each "
         "condition with its values, and nothing happens in the world."),
    Step("undo", "transcript",
         "{undo} takes the last step back. So try anything; {timeline} shows every moment."),
    Step("hint", "details",
         "{hint} asks for the next step towards the goal, and says so if there is no way to it."),
    Step("help", "command",
         "{help} lists the keys of the pane that you are in, and all others. {jump} goes to a "
         "pane by its letter, {source} shows the rule under the cursor."),
)  # fmt: skip


@dataclass(slots=True)
class Tour:
    """The progress of a tour."""

    at: int = 0

    @property
    def step(self) -> Step | None:
        """The present step; ``None`` once the tour is over."""
        return STEPS[self.at] if self.at < len(STEPS) else None

    @property
    def title(self) -> str:
        """``Tour: 2 of 6``."""
        return f"Tour: {self.at + 1} of {len(STEPS)}"

    def did(self, deed: Deed) -> bool:
        """Go on if the present step asks for this; whether it does."""
        found = self.step is not None and self.step.deed == deed
        self.at += found
        return found
