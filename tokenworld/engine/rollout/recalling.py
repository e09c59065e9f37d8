"""Runs through an automaton in plain Python: a tick is a look into a list."""

from __future__ import annotations

from collections.abc import Sequence

from tokenworld.engine.rollout.automaton import PASS, STAY, Automaton, Beginning, Counts
from tokenworld.engine.rollout.keys import player_keys
from tokenworld.engine.rollout.learning import Compared, Drawn, Leaf, Learner, Lesson
from tokenworld.engine.rollout.scripts import Script
from tokenworld.ground.draws import absorbed, moment, nth

__all__ = ["PlainPlayer"]

PATIENCE, GAIN = 2_000, 2
"""In Python learning a tick takes little longer than playing it."""
STRETCH = 256
"""So many intents are looked at together."""


class _Draw:
    """A node of the tree of a tick that draws."""

    __slots__ = ("drawn", "then")

    def __init__(self, drawn: Drawn) -> None:
        self.drawn = drawn
        self.then: _Node | None = None


class _Test:
    """A node that looks at the last draw."""

    __slots__ = ("above", "below", "limit")

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.below: _Node | None = None
        self.above: _Node | None = None


_Result = tuple[int, Leaf]
_Node = _Draw | _Test | _Result
_Step = tuple["_Line", int]
_Line = list["_Step | int | None"]
"""What the intents come to in a state, the state's number in front: the line of the next state and
the reward where that is all that happens, else ``None``."""


class PlainPlayer:
    """Plays runs of one world; also the store of its automaton."""

    def __init__(self, learner: Learner) -> None:
        self._lines: list[_Line] = []
        self._over: list[bool] = []
        self._offers: list[tuple[tuple[int, ...], ...]] = []
        self._trees: dict[tuple[int, int], _Node] = {}
        self._width = 1
        self.automaton = Automaton(learner, self, PATIENCE, GAIN)

    # ---- what was learned ---------------------------------------------------------------------

    def room(self, states: int, intents: int) -> None:
        """Lines for so many states, as wide as the intents are many."""
        if intents >= self._width:
            more = max(8, intents)
            for line in self._lines:
                line += [None] * more
            self._width += more
        while len(self._lines) < states:
            self._lines.append([len(self._lines), *[None] * self._width])
            self._over.append(False)
            self._offers.append(())

    def ended(self, at: int) -> None:
        """In a state the world is over."""
        self._over[at] = True

    def offer(self, at: int, offers: Sequence[Sequence[int]]) -> None:
        """What is legal in a state, by action."""
        self._offers[at] = tuple(map(tuple, offers))

    def keep(self, at: int, intent: int, lesson: Lesson, after: int) -> None:
        """A result: the next line where nothing is to be noted, else a leaf of a tree."""
        leaf = lesson.leaf
        if not lesson.path and leaf.plain:
            self._lines[at][intent + 1] = (self._lines[after], leaf.reward)
            return
        here: _Node | None = self._trees.get((at, intent))
        nodes = list[_Node]()
        for part in lesson.path:
            if here is None:
                here = _Draw(part) if isinstance(part, Drawn) else _Test(part.limit)
            nodes.append(here)
            here = _next(here, part)
        nodes.append((after, leaf))
        for node, part, following in zip(nodes, lesson.path, nodes[1:], strict=False):
            _link(node, part, following)
        self._trees[at, intent] = nodes[0]

    def _result(self, at: int, intent: int, counts: Counts) -> _Result:
        """What an intent comes to here and now, with the draws of this tick."""
        node, value = self._trees.get((at, intent)), 0
        while node is not None:
            match node:
                case _Test(limit=limit):
                    node = node.below if value < limit else node.above
                case _Draw(drawn=drawn):
                    now = moment(counts.seed, counts.tick)
                    value = nth(absorbed(now, drawn.key), drawn.number)
                    node = node.then
                case _:
                    return node
        leaf = self.automaton.learn(at, intent, counts.seed, counts.tick).leaf
        return self.automaton.state(leaf.content), leaf

    def codes(self, script: Script) -> list[int]:
        """The numbers of a script's intents."""
        found: list[int] | None = script.codes.get(self)
        if found is None:
            script.codes.clear()
            found = script.codes[self] = [self.automaton.intent(one) for one in script.intents]
        return found

    # ---- playing ------------------------------------------------------------------------------

    def _step(self, counts: Counts, intent: int) -> None:
        """One intent with all that is to be noted."""
        self.automaton.walked += 1
        step = self._lines[counts.at][intent + 1]
        if isinstance(step, tuple):
            counts.at, paid = step[0][0], step[1]  # type: ignore[assignment]
            counts.reward += paid
            _usual(counts, 1)
            return
        after, leaf = self._result(counts.at, intent, counts)
        if leaf.latched >= 0 and counts.ended_at < 0:
            counts.ended_at = counts.tick + leaf.latched
        counts.at, counts.tick = after, counts.tick + leaf.ticks
        counts.reward += leaf.reward
        counts.turns += 1
        counts.records += len(leaf.statuses)
        for status in leaf.statuses:
            counts.statuses[status] += 1

    def follow(self, counts: Counts, intents: Sequence[int], most: int, again: Beginning) -> None:
        """Give intents up to the end or to so many records of the run; ``counts.turns`` tells how
        many were given."""
        began, end = counts.turns, len(intents)
        while counts.turns - began < end and counts.records < most:
            if self._over[counts.at]:
                if again == STAY:
                    return
                counts.at, counts.tick = again
            turn = counts.turns - began
            self._run(counts, intents[turn : turn + min(most - counts.records, STRETCH)])
            turn = counts.turns - began
            if turn < end and counts.records < most:
                self._step(counts, intents[turn])

    def _run(self, counts: Counts, intents: Sequence[int]) -> None:
        """The usual ticks, as many of the intents as come to no other."""
        line, reward, given = self._lines[counts.at], counts.reward, 0
        for intent in intents:
            step = line[intent + 1]
            if step is None:
                break
            line, paid = step  # type: ignore[misc]
            reward += paid
            given += 1
        counts.at, counts.reward = line[0], reward  # type: ignore[assignment]
        _usual(counts, given)
        self.automaton.walked += given

    def play(self, counts: Counts, most: int) -> None:
        """Let chance play on, to the end or to so many records of the run."""
        while counts.records < most and not self._over[counts.at]:
            offers = self._offers[counts.at]
            if not offers:
                self.automaton.legal(counts.at)
                offers = self._offers[counts.at]
            self._step(counts, _chosen(offers, counts.seed, counts.turns))


def _usual(counts: Counts, ticks: int) -> None:
    """Ticks of which each is one record, executed."""
    counts.tick += ticks
    counts.turns += ticks
    counts.records += ticks
    counts.statuses[0] += ticks


def _chosen(offers: tuple[tuple[int, ...], ...], seed: int, turn: int) -> int:
    """What the random player takes: an action, then its arguments; one of one needs no draw."""
    if len(offers) == 1:
        return PASS
    row = offers[_player_draw(seed, turn, _ACTION, len(offers))]
    return row[0] if len(row) == 1 else row[_player_draw(seed, turn, _ARGUMENTS, len(row))]


_ACTION, _ARGUMENTS = player_keys()


def _player_draw(seed: int, turn: int, key: int, size: int) -> int:
    return nth(absorbed(moment(seed, turn), key), 0) * size >> 64


def _next(node: _Node, part: Drawn | Compared) -> _Node | None:
    """What stands behind a node on a path."""
    if isinstance(node, _Draw):
        return node.then
    assert isinstance(node, _Test)
    assert isinstance(part, Compared)
    return node.below if part.below else node.above


def _link(node: _Node, part: Drawn | Compared, following: _Node) -> None:
    if isinstance(node, _Draw):
        node.then = following
        return
    assert isinstance(node, _Test)
    assert isinstance(part, Compared)
    if part.below:
        node.below = following
    else:
        node.above = following
