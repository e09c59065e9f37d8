"""The dead-end radar: from which moments of a session the goal can still be reached.

Three answers, never mixed: *winnable* rests on a plan, *dead* on a proof, *unknown* on neither. A
moment that nobody has asked about is *pending*. Two things follow without asking: whatever leads to
a winnable moment was winnable, and what is played from a dead one stays dead.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from tokenworld.engine import State
from tokenworld.planning import Verdict
from tokenworld.session.session import Moment, Session
from tokenworld.session.solving import solve
from tokenworld.session.timeline import Node, Timeline

__all__ = ["Prospect", "Radar", "Scout", "Sounding", "has_goal"]

Prospect = Literal["winnable", "dead", "unknown", "pending"]

_PLAYED = ("executed", "waiting", "interrupted")
"""Statuses of what a proof is about: commands that go through, and time that passes."""


def has_goal(session: Session) -> bool:
    """Whether there is anything that could be out of reach."""
    return bool(session.world.world.goals)


def verdict_prospect(verdict: Verdict) -> Prospect:
    """What a verdict says of a moment: *dead* needs a proof about plans of any length."""
    match verdict.answer:
        case "winnable":
            return "winnable"
        case "unwinnable" if verdict.proof is not None and verdict.proof.within is None:
            return "dead"
        case _:
            return "unknown"


@dataclass(frozen=True, slots=True)
class Sounding:
    """What is known of one moment. ``by`` says on whose word, empty where it follows."""

    prospect: Prospect
    by: str = ""


_PENDING = Sounding("pending")


class Radar:
    """What is known of the moments of a timeline. It asks nobody: `question` says what to ask next,
    and `learn` takes the answer."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self._engine = timeline.session.engine
        self._known: dict[str, Sounding] = {}
        self._keys: dict[int, str] = {}

    def fits(self, timeline: Timeline) -> bool:
        """Whether it is about this timeline, under the rules that hold now."""
        return self._timeline is timeline and self._engine is timeline.session.engine

    # ---- learning -----------------------------------------------------------------------------

    def learn(self, state: State, verdict: Verdict) -> None:
        """Take a verdict about a state, whoever asked for it. An *unknown* replaces nothing."""
        self.note(state, verdict_prospect(verdict), _word(verdict))

    def note(self, state: State, prospect: Prospect, by: str) -> None:
        """Take an answer about a state; `learn` for answers that are no verdicts."""
        key = self._engine.hash(state)
        if prospect != "unknown" or key not in self._known:
            self._known[key] = Sounding(prospect, by)

    def forget_unknown(self) -> None:
        """Ask again about what was not decided, perhaps with more time."""
        self._known = {key: one for key, one in self._known.items() if one.prospect != "unknown"}

    def key(self, node: Node) -> str:
        """The hash of a node's state."""
        if node.number not in self._keys:
            self._keys[node.number] = self._engine.hash(node.moment.state)
        return self._keys[node.number]

    # ---- asking -------------------------------------------------------------------------------

    def soundings(self) -> dict[int, Sounding]:
        """What is known of every node, by its number."""
        nodes = self._timeline.nodes
        found = {one.number: self._known.get(self.key(one), _PENDING) for one in nodes}
        for node in reversed(nodes):  # children come after their parents
            if node.parent is not None and found[node.number].prospect == "winnable":
                self._follows(found, node.parent, "winnable", self._led(node))
        for node in nodes:
            if node.parent is not None and found[node.parent].prospect == "dead":
                self._follows(found, node.number, "dead", self._led(node) and _by_rules(node))
        return found

    def _follows(
        self, found: dict[int, Sounding], number: int, prospect: Prospect, sure: bool
    ) -> None:
        if sure and found[number].prospect in ("pending", "unknown"):
            found[number] = Sounding(prospect)

    def _led(self, node: Node) -> bool:
        """Whether play led from the parent to this node: nothing was edited in between."""
        assert node.parent is not None
        outcomes, parent = node.moment.outcomes, self._timeline.nodes[node.parent]
        return bool(outcomes) and (
            outcomes[0].hash_before == self.key(parent)
            and outcomes[-1].hash_after == self.key(node)
        )

    def prospect(self, node: Node) -> Prospect:
        """What is known of one node."""
        return self.soundings()[node.number].prospect

    def lost_since(self, node: Node) -> Node | None:
        """The first dead node on the way to this dead one, if the one before it is winnable, or
        there is none before it. ``None``: not dead, or not known since when."""
        found, way = self.soundings(), self._timeline.path(node)
        if found[node.number].prospect != "dead":
            return None
        first = next(at for at, one in enumerate(way) if found[one.number].prospect == "dead")
        if first and found[way[first - 1].number].prospect != "winnable":
            return None
        return way[first]

    def question(self) -> Node | None:
        """The node that is asked about next; ``None`` where nothing is pending.

        The way that play is on comes first. Its end is asked before anything else, as a winnable
        end answers for all of it; then the middle of what is still pending.
        """
        found, timeline = self.soundings(), self._timeline
        ends = [timeline.now, *(line[-1] for line in reversed(timeline.lines))]
        for end in ends:
            way = [one for one in timeline.path(end) if found[one.number].prospect == "pending"]
            if way:
                return way[-1] if way[-1].number == end.number else way[len(way) // 2]
        return None

    @property
    def pending(self) -> int:
        """How many nodes nobody has asked about."""
        return sum(one.prospect == "pending" for one in self.soundings().values())


def _by_rules(node: Node) -> bool:
    """Whether what was done is what a proof is about; a refusal that lets time pass is not."""
    return all(
        one.status in _PLAYED or one.hash_before == one.hash_after for one in node.moment.outcomes
    )


def _word(verdict: Verdict) -> str:
    """On whose word an answer rests."""
    if verdict.proof is not None:
        return f"{verdict.claim} by {verdict.proof.by}"
    return f"{verdict.claim} by {verdict.engine}" if verdict.claim else ""


class Scout:
    """Asks planners about moments of a session, on an engine of its own: for one other thread."""

    def __init__(self, session: Session) -> None:
        self._session, self._twin = session, session.apart()

    def fits(self, session: Session) -> bool:
        """Whether the rules are still those that it was made for."""
        return self._session is session and self._twin.engine.instance is session.engine.instance

    def ask(
        self,
        moment: Moment,
        seconds: float,
        *,
        say: Callable[[str], None] = lambda line: None,
        cancel: Callable[[], bool] = lambda: False,
    ) -> Verdict:
        """Whether the goal can be reached from a moment. Raises `Failure` where there is none."""
        engine = self._twin.engine
        state = moment.state.fork()
        state.layout = engine.layout
        return solve(engine, state, None, time_limit=seconds, say=say, cancel=cancel)
