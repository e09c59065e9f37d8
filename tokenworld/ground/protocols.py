"""Protocols through which the back-ends use each other; `session` connects them.

`engine` implements `Simulator` and speaks through `Prose`; `planning` searches and replays on a
`Simulator`; `prose` resolves typed words with a `Speaker`; `store` re-checks a log with a replayer
built from these.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Generic, NamedTuple, Protocol, TypeVar

from tokenworld.diagnostics.frozen import frozen
from tokenworld.ground.instance import Instance
from tokenworld.ground.outcome import Command, LuckyDraw
from tokenworld.ground.values import Json, Raw
from tokenworld.model import Term

StateT = TypeVar("StateT")

_CERTAIN = Fraction(1)


class Prose(Protocol):
    """Turns names and values into words (language.md §11). Pure text: it reads no state."""

    def named(self, name: str, article: str) -> str:
        """``name`` with the article ``""``, ``"a"``, ``"A"``, ``"the"`` or ``"The"``."""

    def listing(self, names: Sequence[str], article: str) -> str:
        """``"a cup and a pot"``; ``"nothing"`` if empty."""

    def number(self, value: int, decimals: int, unit: str) -> str:
        """A scaled exact number with its unit: ``4l``, ``25%`` (its unit is ``%``)."""

    def real(self, value: float) -> str:
        """A double in shortest form."""

    def identifier(self, name: str) -> str:
        """An identifier as a reader sees it: underscores become spaces."""


@frozen
class Successor(Generic[StateT]):
    """One possible result of a command: the state after the whole tick and the luck it took.

    ``draws`` lists the draws with more than one alternative, in order of evaluation, each numbered
    among those that its rule takes in this step; ``probability`` is the exact chance that they all
    fall so, as the rules state it.
    """

    state: StateT
    draws: tuple[LuckyDraw, ...]
    probability: Fraction = _CERTAIN


class SeenDraw(NamedTuple):
    """The bounds, in shares of 1, that a fruitless try revealed of a draw to come. ``draw``
    counts on from the draws that the rule has taken in this tick."""

    rule: str
    args: tuple[Json, ...]
    draw: int
    span: tuple[Fraction, Fraction]


Known = frozenset[SeenDraw]
"""The bounds known of the draws of a tick before they are taken."""


@frozen
class Try(Generic[StateT]):
    """One possible result of a command that may fail: the state is then the one before it or, where
    time passes, the one after a pass. ``done``: it did not fail. ``known`` bounds the draws of the
    tick from then on."""

    state: StateT
    draws: tuple[LuckyDraw, ...]
    probability: Fraction
    done: bool
    known: Known


class Way(NamedTuple, Generic[StateT]):
    """A successor for a caller that keeps few of them: ``short_key`` identifies it (see
    `Simulator.short_key`), ``state`` makes it."""

    short_key: Hashable
    draws: tuple[LuckyDraw, ...]
    probability: Fraction
    state: Callable[[], StateT]


Enough = Callable[[int], bool]
"""Whether a number of outcomes of one command exceeds the limit of time or memory."""


class Unfinished(Exception):
    """A command has more outcomes than there is time or room for."""


class Simulator(Protocol[StateT]):
    """The interpreter as a searcher sees it: immutable states, one intent per step."""

    @property
    def instance(self) -> Instance: ...

    def instance_at(self, state: StateT) -> Instance:
        """The instance with exactly the objects that live in a state, created ones included."""

    @property
    def short_of(self) -> Mapping[str, int]:
        """The types that a result so far needed more spare objects of than the world has, with
        that number: such results are left out of the successors."""

    @property
    def overflowed(self) -> bool:
        """Return whether a number got too many digits in a result so far, which is left out of the
        successors, though the numbers of the PDDL that was imported have no limit."""

    @property
    def unlisted(self) -> frozenset[str]:
        """The actions with too many bindings to list: `commands` never names them."""

    def start(self) -> StateT:
        """The start state (seed 0 unless the simulator was made with another)."""

    def commands(self, state: StateT) -> Sequence[Command]:
        """The legal commands of the actor in order, `PASS` last where the world has phases, long
        actions or rules that read `tick()`; commands that neither take time nor change anything
        are left out. Empty after the end."""

    def successors(self, state: StateT, command: Command) -> Sequence[Successor[StateT]]:
        """All results of a command over all outcomes of chance; none if it is refused, rolled back
        or fails, or needs more spare objects than there are (see ``short_of``)."""

    def leaning(
        self, state: StateT, command: Command, draws: Sequence[LuckyDraw]
    ) -> Successor[StateT] | None:
        """The one of the successors in which ``draws`` fall as listed, where they are made at all,
        and all others the first way that is possible; ``None`` where that is none."""

    def moves(self, state: StateT) -> Iterable[tuple[Command, Sequence[Way[StateT]]]]:
        """All `commands` of a state with their `successors`, in the form of `ways_of`."""

    def bound(self, enough: Enough | None) -> None:
        """From now on, ask after every so many outcomes of a command whether they are enough: then
        `Unfinished` is raised. Without it all are computed."""

    def key(self, state: StateT) -> Hashable:
        """The key of a state in a search: equal keys mean equal futures. It has the tick number,
        the awards and the numbers of objects only as far as rules read them."""

    def short_key(self, state: StateT) -> Hashable:
        """The same for one search: quick to make and to compare, and of no use to another."""

    def told_by(self, terms: Iterable[Term]) -> Callable[[Hashable], Hashable] | None:
        """A function that reads from a short key the facts that decide terms; ``None`` if there is
        none."""

    def won(self, state: StateT, goal: str | None) -> bool:
        """Return whether the goal (any goal line if ``None``) is reached in this state."""

    def lost(self, state: StateT) -> bool:
        """Return whether a ``lose`` line is latched or true, or the world ended otherwise."""

    def read(self, state: StateT, fluent: str, args: Sequence[Raw]) -> Raw:
        """The stored value of a slot."""

    def stored(self, state: StateT, fluent: str) -> Iterable[tuple[tuple[Raw, ...], Raw]]:
        """Return the slots of a fluent with their values.

        Slots of several objects are left out if they have the default value; a symmetric fact is
        returned once.
        """

    def tick(self, state: StateT) -> int:
        """The number of ticks committed before this state."""

    def running(self, state: StateT) -> tuple[Command, int, int] | None:
        """The actor's long action with the ticks done and the ticks it takes, if one runs."""

    def awarded(self, state: StateT) -> Collection[int]:
        """The numbers of the awards of the world that were given."""

    def cost(self, state: StateT, command: Command) -> int:
        """The cost that a plan pays for the command."""

    def mover(self, state: StateT) -> str | None:
        """The actor to move, where several take turns: a step is the move of one of them."""

    def show(self, state: StateT, command: Command) -> str:
        """The command as an author types it: ``take(ruby)``, ``pass``."""


class LuckSimulator(Simulator[StateT], Protocol[StateT]):
    """A simulator that also lists the results of commands that a draw may make fail."""

    def tries(self, state: StateT, command: Command, known: Known) -> Sequence[Try[StateT]]:
        """All results of a command, failures included, within the known bounds of the draws of this
        tick: a command that failed draws the same again."""


def few_successors(
    simulator: Simulator[StateT], state: StateT, command: Command, most: int
) -> Sequence[Successor[StateT]] | None:
    """The successors of a command; ``None`` where there are many more outcomes than ``most``."""
    simulator.bound(lambda count: count > most)
    try:
        return simulator.successors(state, command)
    except Unfinished:
        return None
    finally:
        simulator.bound(None)


def moves_of(
    simulator: Simulator[StateT], state: StateT
) -> Iterator[tuple[Command, Sequence[Way[StateT]]]]:
    """The moves of a simulator that has no quicker way to them."""
    for command in simulator.commands(state):
        yield command, ways_of(simulator, state, command)


def ways_of(simulator: Simulator[StateT], state: StateT, command: Command) -> Sequence[Way[StateT]]:
    """The successors of a command as ways."""
    return [
        Way(
            simulator.short_key(one.state),
            one.draws,
            one.probability,
            partial(_itself, one.state),
        )
        for one in simulator.successors(state, command)
    ]


def _itself(state: StateT) -> StateT:
    return state


class Speaker(Protocol):
    """The view of the present state with which typed words are resolved."""

    @property
    def instance(self) -> Instance: ...

    @property
    def numbers(self) -> Mapping[str, int]:
        """The number of every object that there is or was, by identifier."""

    def identifier(self, number: int) -> str:
        """The identifier of an object, declared or created."""

    def kind(self, number: int) -> str:
        """The type of an object."""

    def in_scope(self, number: int) -> bool:
        """Return whether the acting object may name this object."""

    def words_for(self, number: int) -> tuple[str, ...]:
        """The present name of an object, then everything else it is known by."""

    def slot_texts(
        self, action: str, phrase: int, slot: int, args: Sequence[Raw]
    ) -> tuple[str, ...]:
        """The text of a phrase slot that is not a bare parameter, for bound arguments: several
        where it depends on a secret, none where these are too many."""

    def holds_all(self, command: Command) -> bool:
        """Return whether a command is legal for some values of the secrets."""

    def candidates(self) -> Sequence[int]:
        """Live objects in the order of language.md §11 (pre-order, else declaration order)."""
