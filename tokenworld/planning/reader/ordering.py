"""What effects read and write, and the order in which a `.tw` body may name them.

All effects of PDDL read the state before them, whatever their order; a `.tw` body may not read what
it changed above (TW0403). A loop that reads what is changed before it is therefore moved up, and
two loops that each read what the other changes become one. `Placed` keeps what was written where,
so that the ``pddl`` block can tell it and the exporter can put everything back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import assert_never

from tokenworld.planning.reader.symbols import TOTAL_COST, Symbols
from tokenworld.planning.reader.tree import (
    Applied,
    Calculated,
    Change,
    Compared,
    Condition,
    Effect,
    Equal,
    Fact,
    ForEach,
    Literal_,
    TermExpr,
    When,
    leaves,
)

__all__ = ["Dependence", "Placed", "is_cost", "told_order", "without_costs", "writes"]


def is_cost(effect: Effect) -> bool:
    """Whether an effect increases ``total-cost``."""
    return isinstance(effect, Change) and effect.target.function.key == TOTAL_COST


def without_costs(effects: Iterable[Effect]) -> tuple[Effect, ...]:
    """The effects that become changes of a body; costs are written elsewhere."""
    return tuple(one for one in effects if not is_cost(one))


@dataclass(frozen=True, slots=True)
class Placed:
    """An effect of a `.tw` body, and the written effects that it is made of.

    ``sources`` are their places among the effects as written, from 0; with several, the effect is a
    loop, and ``sizes`` says how many effects of its body came from each.
    """

    effect: Effect
    sources: tuple[int, ...]
    sizes: tuple[int, ...]


class Dependence:
    """What the effects and conditions of one domain read."""

    def __init__(self, symbols: Symbols) -> None:
        self._below = {key: frozenset(_feeds(symbols, key)) for key in symbols.derived}

    # ---- order ------------------------------------------------------------------------------

    def ordered(self, effects: Sequence[Effect]) -> tuple[Placed, ...]:
        """The effects with loops that read what comes to be changed moved before the change."""
        early: list[Placed] = []
        rest: list[Placed] = []
        changed: set[str] = set()
        for index, effect in enumerate(effects):
            placed = Placed(effect, (index,), (_size(effect),))
            if not isinstance(effect, ForEach) or not changed & self.reads_of(effect):
                rest.append(placed)
            elif not self._joined(effect, placed, early) and not self._joined(effect, placed, rest):
                early.append(placed)
            changed |= writes(effect)
        return (*early, *rest)

    def _joined(self, loop: ForEach, placed: Placed, listed: list[Placed]) -> bool:
        """Join the loop to one that reads what it writes and runs over the same variables."""
        written = writes(loop)
        for index, one in enumerate(listed):
            other = one.effect
            if isinstance(other, ForEach) and written & self.reads_of(other):
                if not _alike(loop, other):
                    continue
                both = ForEach(other.params, (*other.effects, *loop.effects), other.span)
                sources, sizes = (*one.sources, *placed.sources), (*one.sizes, *placed.sizes)
                listed[index] = Placed(both, sources, sizes)
                return True
        return False

    # ---- what is read -----------------------------------------------------------------------

    def reads(self, condition: Condition) -> set[str]:
        """The predicates and functions that a condition depends on, through derived ones too."""
        found: set[str] = set()
        for key in _mentions(condition):
            found |= {key} | self._below.get(key, frozenset())
        return found

    def term_reads(self, term: TermExpr) -> set[str]:
        """The functions in a term."""
        return set(_of_term(term))

    def reads_of(self, effect: Effect) -> set[str]:
        """All that an effect reads."""
        match effect:
            case When(condition=condition, effects=effects):
                inner = [self.reads_of(one) for one in effects]
                return self.reads(condition).union(*inner)
            case ForEach(effects=effects):
                return set().union(*(self.reads_of(one) for one in effects))
            case Change(value=value):
                return self.term_reads(value)
            case Literal_(fact=fact):
                return set().union(*(self.term_reads(arg) for arg in fact.args))
            case _:
                assert_never(effect)


def told_order(dependence: Dependence, effects: Sequence[Effect]) -> str:
    """Where the effects of an action stand in its body, in written order; empty if just so.

    ``2 1 3``: the first one written stands second. ``1.1 2 1.2-3``: the loop that stands first has
    the first one as its effect 1, and the last one as its effects 2 and 3. It is empty too where
    the parts cannot be told: a joined loop is rearranged inside, or a loop has no variables.
    """
    placed = dependence.ordered(without_costs(effects))
    loops = [one for one in placed if isinstance(one.effect, ForEach)]
    if any(_unclear(dependence, one) for one in loops):
        return ""
    found: dict[int, str] = {}
    for number, one in enumerate(placed, 1):
        found |= zip(one.sources, _parts(number, one), strict=True)
    words = [found[source] for source in sorted(found)]
    plain = [str(number) for number in range(1, len(words) + 1)]
    return "" if words == plain else " ".join(words)


def _unclear(dependence: Dependence, placed: Placed) -> bool:
    loop = placed.effect
    assert isinstance(loop, ForEach)
    if not loop.params:
        return True
    inner = dependence.ordered(loop.effects)
    return len(placed.sources) > 1 and tuple(one.effect for one in inner) != loop.effects


def _parts(number: int, placed: Placed) -> Iterator[str]:
    """How `told_order` names the sources of one effect."""
    if len(placed.sources) == 1:
        yield str(number)
        return
    start = 1
    for size in placed.sizes:
        end = start + size - 1
        yield f"{number}.{start}-{end}" if size > 1 else f"{number}.{start}"
        start = end + 1


def _size(effect: Effect) -> int:
    return len(effect.effects) if isinstance(effect, ForEach) else 1


def _alike(one: ForEach, other: ForEach) -> bool:
    """Whether two loops have the same variables of the same types."""

    def shape(loop: ForEach) -> list[tuple[str, str | None]]:
        return [(p.name.key, None if p.type is None else p.type.key) for p in loop.params]

    return shape(one) == shape(other)


def writes(effect: Effect) -> set[str]:
    """The predicates and functions that an effect changes."""
    match effect:
        case Literal_(fact=fact):
            return {fact.predicate.key}
        case Change(target=target):
            return {target.function.key}
        case When(effects=effects) | ForEach(effects=effects):
            return set().union(*(writes(one) for one in effects))
        case _:
            assert_never(effect)


def _mentions(condition: Condition) -> Iterator[str]:
    """The predicates and functions in a condition."""
    for leaf in leaves(condition):
        match leaf:
            case Fact(predicate=predicate, args=args):
                yield predicate.key
                for arg in args:
                    yield from _of_term(arg)
            case Equal(left=left, right=right) | Compared(left=left, right=right):
                yield from _of_term(left)
                yield from _of_term(right)
            case _:
                pass


def _of_term(term: TermExpr) -> Iterator[str]:
    match term:
        case Applied(function=function, args=args):
            yield function.key
            for arg in args:
                yield from _of_term(arg)
        case Calculated(parts=parts):
            for part in parts:
                yield from _of_term(part)
        case _:
            return


def _feeds(symbols: Symbols, key: str) -> set[str]:
    """Everything that a derived predicate depends on, itself included."""
    found, waiting = {key}, [key]
    while waiting:
        for derived in symbols.derived.get(waiting.pop(), ()):
            new = set(_mentions(derived.condition)) - found
            found |= new
            waiting += sorted(new)
    return found
