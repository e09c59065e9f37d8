"""Every moment of a game, undone ones too, and which of them still lead to the goal.

A session knows one line of moments; the timeline keeps the others, so that a player can go back to
any of them. The radar gives each moment one of three answers: *winnable* rests on a plan, *dead*
on a proof, *unknown* on neither; a moment nobody asked about is *pending*. What leads to a
winnable moment was winnable, and what follows a dead one is dead.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from tokenworld.engine import State
from tokenworld.planning.verdict import Verdict
from tokenworld.session.moments import SlotChange, differences, slots_of, with_engine
from tokenworld.session.session import Moment, Session, foreseen
from tokenworld.session.solving import solve

__all__ = ["Node", "Prospect", "Radar", "Scout", "Sounding", "Timeline", "has_goal"]


@dataclass(frozen=True, slots=True)
class Node:
    """A moment with its place: the number of the moment before it and of the line it lies on.

    A line is what was played in one go: the first line, and one for each time that play went on
    otherwise from an earlier moment, or that a slot was set by hand to try something.
    """

    number: int
    parent: int | None
    line: int
    moment: Moment


class Timeline:
    """The moments of a session as they came. Ask `sync` after play: it notes what is new."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.nodes: list[Node] = [Node(0, None, 0, session.moments[0])]
        self._names: dict[int, str] = {}
        self._now = 0
        self._undone: list[int] = []
        self._numbers = {id(session.moments[0]): 0}
        self._followed: set[int] = set()
        self._forgotten: set[int] = set()
        self._count = 1
        self.sync()

    @property
    def now(self) -> Node:
        """Where the session stands."""
        return self.nodes[self._now]

    def sync(self) -> Node:
        """Note what was played or undone since; where the session stands now."""
        moments = self.session.moments
        known = len(moments) - 1
        while known and id(moments[known]) not in self._numbers:
            known -= 1
        at = self._numbers[id(moments[known])] if known else 0
        for moment in moments[known + 1 :]:
            at = self._add(at, moment)
        self._now = at
        return self.now

    def _add(self, parent: int, moment: Moment) -> int:
        number = len(self.nodes)
        line = self.nodes[parent].line
        tries = moment.scratch and not self.nodes[parent].moment.scratch
        if tries or parent in self._followed:
            line, self._count = self._count, self._count + 1
        self.nodes.append(Node(number, parent, line, moment))
        self._numbers[id(moment)] = number
        if not tries:  # what is tried leaves the line as it is
            self._followed.add(parent)
        self._undone.clear()
        return number

    def path(self, node: Node) -> tuple[Node, ...]:
        """The nodes from the start to this one."""
        found = [node]
        while (parent := found[-1].parent) is not None:
            found.append(self.nodes[parent])
        return tuple(reversed(found))

    # ---- lines --------------------------------------------------------------------------------

    @property
    def lines(self) -> tuple[tuple[Node, ...], ...]:
        """The nodes of each line, in the order in which the lines were begun."""
        found: list[list[Node]] = [[] for _ in range(self._count)]
        for node in self.nodes:
            if node.number not in self._forgotten:
                found[node.line].append(node)
        return tuple(map(tuple, filter(None, found)))

    def name_of(self, line: int) -> str:
        """The name that was given to a line, else its number."""
        if line == 0:
            return self._names.get(line) or "main"
        first = next(node for node in self.nodes if node.line == line)
        kind = "scratch" if first.moment.scratch else "branch"
        return self._names.get(line) or f"{kind} {line}"

    def rename(self, line: int, name: str) -> None:
        """Give a line a name; an empty one takes it away."""
        self._names[line] = " ".join(name.split())

    # ---- going ----------------------------------------------------------------------------------

    def jump(self, node: Node) -> None:
        """Stand at a moment; what is played then lies on a line of its own."""
        self.sync()
        self.session.travel([one.moment for one in self.path(node)])
        self._now = node.number
        self._undone.clear()

    def forget_scratch(self) -> bool:
        """Drop the scratch branch that the session stands on: it goes back to where that left, and
        the branch is listed no more. False where it stands on none."""
        line = self.path(self.sync())
        gone = [node for node in line if node.moment.scratch]
        if not gone:
            return False
        self.jump(line[len(line) - len(gone) - 1])
        top = {node.number for node in gone}
        for node in self.nodes:  # a node comes behind its parent
            if node.number in top or node.parent in self._forgotten:
                self._forgotten.add(node.number)
        return True

    def undone(self, left: Node) -> None:
        """Note that the session went back from a moment, so that `redo` can return there."""
        self.sync()
        self._undone.append(left.number)

    def redo(self) -> Node | None:
        """Return to where the last undo went back from; ``None`` if something else came since."""
        self.sync()
        if not self._undone:
            return None
        node, left = self.nodes[self._undone[-1]], self._undone[:-1]
        self.jump(node)
        self._undone = left
        return node

    # ---- comparing ----------------------------------------------------------------------------

    def common(self, first: Node, second: Node) -> Node:
        """The last moment that two have in common."""
        pairs = zip(self.path(first), self.path(second), strict=False)
        return [one for one, other in pairs if one is other][-1]

    def differences(self, first: Node, second: Node) -> tuple[SlotChange, ...]:
        """The slots that differ between two moments."""
        shown = self.session.known.json
        old, new = (slots_of(shown(one.moment.state)) for one in (first, second))
        return differences(old, new)


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
        state = with_engine((moment,), engine)[0].state
        found = solve(engine, state, None, time_limit=seconds, say=say, cancel=cancel)
        return foreseen(self._session, found)
