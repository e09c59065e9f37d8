"""The dead-end radar on a screen: it asks planners in a thread and paints their answers on nodes.

Whoever builds on `RadarScreen` shows the answers; the radar itself (`session.radar`) decides what
is asked and what follows. It never touches focus, highlight or scrolling.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

from textual import work
from textual.content import Content
from textual.message import Message
from textual.screen import Screen
from textual.worker import Worker, get_current_worker

from tokenworld.diagnostics import Failure
from tokenworld.planning import Verdict
from tokenworld.session.radar import Prospect, Scout, Sounding, has_goal
from tokenworld.session.timeline import Node
from tokenworld.tools.play.game import Game, fault_text
from tokenworld.tools.play.glyphs import Glyphs
from tokenworld.tools.play.lines import Line, Role, line

__all__ = [
    "BUDGET",
    "SECONDS",
    "RadarScreen",
    "legend",
    "prospect_mark",
    "sounding_lines",
]

SECONDS = 4.0
"""How long a planner is asked about one moment."""
BUDGET = 120.0
"""Seconds of asking after which the radar rests until it is told to go on."""

_ROLES: dict[Prospect, tuple[Role, str]] = {
    "winnable": ("good", "in reach"),
    "dead": ("bad", "dead"),
    "unknown": ("warn", "unknown"),
    "pending": ("dim", "not asked yet"),
}
_STYLES: dict[Prospect, str] = {
    "winnable": "$text-success",
    "dead": "bold $text-error",
    "unknown": "$text-warning",
    "pending": "$foreground-muted",
}


def _sign(prospect: Prospect, glyphs: Glyphs) -> str:
    match prospect:
        case "winnable":
            return glyphs.won
        case "dead":
            return glyphs.lost
        case "unknown":
            return glyphs.no_match
        case "pending":
            return glyphs.dot


def prospect_mark(prospect: Prospect, glyphs: Glyphs) -> Content:
    """The sign of an answer, in front of a row."""
    return Content.styled(f"{_sign(prospect, glyphs)} ", _STYLES[prospect])


def legend(glyphs: Glyphs) -> str:
    """What the signs mean."""
    return f" {glyphs.dot} ".join(
        f"{_sign(one, glyphs)} {_ROLES[one][1]}" for one in ("winnable", "dead", "unknown")
    )


def sounding_lines(sounding: Sounding, since: Node | None, glyphs: Glyphs) -> Iterator[Line]:
    """What the radar knows of one moment, in words."""
    role, _ = _ROLES[sounding.prospect]
    sign = _sign(sounding.prospect, glyphs)
    by = f" ({sounding.by})" if sounding.by else ""
    match sounding.prospect:
        case "winnable":
            yield ((f"{sign} The goal can be reached from here", role), (by, "dim"))
        case "dead":
            yield ((f"{sign} No way leads to the goal from here", role), (by, "dim"))
            if since is not None and since.moment.outcomes:
                first = since.moment.outcomes[0].tick
                yield line(f"  Unwinnable since tick {first}: {since.moment.asked}", role)
            elif since is not None:
                yield line("  It was never in reach.", role)
        case "unknown":
            yield line(f"{sign} No plan was found in time, and none was ruled out.", role)
        case "pending":
            yield line(f"{sign} Nobody has asked yet whether the goal is in reach.", role)


class Answered(Message):
    """A planner's verdict on a node, or why there is none."""

    def __init__(self, node: Node, verdict: Verdict | None, failure: str, seconds: float) -> None:
        super().__init__()
        self.node, self.verdict, self.failure, self.seconds = node, verdict, failure, seconds


class Asking(Message):
    """What a planner says while it works."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text


class RadarScreen(Screen[None]):
    """A screen on which the radar works, one question at a time."""

    def __init__(self, game: Game) -> None:
        super().__init__()
        self.game = game
        self._sounder: Worker[None] | None = None
        self._spent = 0.0
        self._halted = ""
        self._asked_of: Node | None = None
        self._patience = SECONDS

    def paint(self) -> None:
        """Show what is known now."""
        raise NotImplementedError

    def say_radar(self, text: str) -> None:
        """Show how far the radar is, in one line."""
        raise NotImplementedError

    # ---- working --------------------------------------------------------------------------------

    @property
    def sounding(self) -> bool:
        """Whether a question is being worked on."""
        return self._sounder is not None

    def sound(self) -> None:
        """Ask about the next moment, if there is one and the radar is not at rest."""
        if self._sounder is not None:
            return
        node = None if self._halted or not has_goal(self.game.session) else self._next()
        if node is None:
            self.say_radar(self._rest())
            return
        self._asked_of = node
        self.say_radar(self._progress(""))
        self._sounder = self._ask(node, self.game.scout())

    def _next(self) -> Node | None:
        if self._spent >= BUDGET:
            self._halted = f"rests after {BUDGET:.0f} s; d goes on"
            return None
        return self.game.radar.question()

    def rest(self) -> None:
        """Stop asking; what is known stays."""
        if self._sounder is not None:
            self._sounder.cancel()
            self._sounder = None

    def action_radar(self) -> None:
        """Stop the radar; or let it go on, with more time for what it could not decide."""
        if self._sounder is not None:
            self.rest()
            self._halted = "stopped; d goes on"
        else:
            self._halted, self._spent, self._patience = "", 0.0, self._patience * 2
            self.game.radar.forget_unknown()
            self.paint()
        self.sound()

    def _rest(self) -> str:
        if not has_goal(self.game.session):
            return "radar: this world has no goal"
        return f"radar {self._halted}" if self._halted else legend(self.game.glyphs)

    def _progress(self, text: str) -> str:
        radar, node = self.game.radar, self._asked_of
        total = len(self.game.timeline.nodes)
        tick = "" if node is None else f", tick {node.moment.state.tick}"
        told = f": {text}" if text else ""
        return f"radar: {total - radar.pending} of {total} known{tick}{told}"

    @work(thread=True, exclusive=True, group="radar")
    def _ask(self, node: Node, scout: Scout) -> None:
        worker, began = get_current_worker(), time.monotonic()
        verdict, failure = None, ""
        try:
            verdict = scout.ask(
                node.moment,
                self._patience,
                say=lambda text: self._heard(worker, text),
                cancel=lambda: worker.is_cancelled,
            )
        except Failure as found:
            failure = fault_text(found)
        except Exception as error:  # whatever goes wrong in a planner, the game goes on
            failure = f"the planner stopped unexpectedly: {error or type(error).__name__}"
        if not worker.is_cancelled:
            self.post_message(Answered(node, verdict, failure, time.monotonic() - began))

    def _heard(self, worker: Worker[None], text: str) -> None:
        if not worker.is_cancelled:
            self.post_message(Asking(text))

    def on_asking(self, event: Asking) -> None:
        if self._sounder is not None:
            self.say_radar(self._progress(event.text))

    def on_answered(self, event: Answered) -> None:
        if self._sounder is None:
            return
        self._sounder = None
        self._spent += event.seconds
        state = event.node.moment.state
        if event.verdict is not None:
            self.game.radar.learn(state, event.verdict)
        else:
            self._halted = f"stopped: {event.failure}"
        self.paint()
        self.sound()

    def on_unmount(self) -> None:
        self.rest()
