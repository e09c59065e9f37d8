"""All that was played in a session, undone and branched off as well: a tree of its moments.

A session knows the one line of moments that it stands on. The timeline keeps the others, so that
one can go back to any of them; what the run store has stays as it is, and play goes on in a branch.
"""

from __future__ import annotations

from dataclasses import dataclass

from tokenworld.session.differing import SlotChange, differences, slots_of
from tokenworld.session.session import Moment, Session

__all__ = ["Node", "Timeline"]


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
        at = 0
        for moment in self.session.moments[1:]:
            number = self._numbers.get(id(moment))
            at = self._add(at, moment) if number is None else number
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
        engine = self.session.engine
        old, new = (slots_of(engine.json(one.moment.state)) for one in (first, second))
        return differences(old, new)
