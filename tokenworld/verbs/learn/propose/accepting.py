"""Learn the requirements of a command: the conditions that separate accepted from refused ones.

If no refused command was recorded, commands that might have been given replace them: a player
who never gives a command in other states indicates that it is not accepted there. A condition
that holds for all accepted commands, and would be a coincidence otherwise, is required.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from typing import Final

from tokenworld.verbs.learn.propose.commands import NUMBER, Schema
from tokenworld.verbs.learn.propose.covering import WORTH
from tokenworld.verbs.learn.propose.scenes import ANY, Scene, Value, Vocabulary
from tokenworld.verbs.learn.propose.terms import Language, Predicate, Table

_OTHERS: Final = 6
"""The number of commands drawn for each one that was given."""
_MOST: Final = 400
"""The greatest number of commands that are examined."""
_CHOSEN: Final = 4
"""The greatest number of conditions of one action."""
_SURE: Final = 6.0
"""The natural logarithm of the odds against a coincidence, besides the size of a condition."""
Asked = tuple[Scene, tuple[Value, ...]]


@dataclass(frozen=True, slots=True)
class Commands:
    """The commands of one action: those accepted, those refused, all states in which it might have
    been given, and its actor."""

    accepted: Sequence[Asked]
    refused: Sequence[Asked]
    scenes: Sequence[Scene]
    actor: tuple[Value, ...]


def required(
    schema: Schema, commands: Commands, language: Language, names: tuple[str, ...]
) -> tuple[Predicate, ...]:
    """Return the conditions that an action requires, the most telling one first."""
    import numpy as np

    draw = random.Random(0)
    accepted = _some(commands.accepted, draw)
    known = bool(commands.refused)
    others = _some(commands.refused, draw) if known else [
        other for scene in draw.sample(list(commands.scenes), min(_MOST, len(commands.scenes)))
        for other in _others(schema, scene, language.vocabulary, draw)
    ]  # fmt: skip
    if not accepted or not others:
        return ()
    every = [*accepted, *others]
    rows = [(*args, *commands.actor) for _, args in every]
    table = Table(language.vocabulary, names, [scene for scene, _ in every], rows)
    right = np.arange(len(every)) < len(accepted)
    candidates = [(one, truth) for one in language.predicates(table)
                  if bool((truth := table.truth(one))[right].all())]  # fmt: skip
    found: list[Predicate] = []
    left = ~right
    for _ in range(_CHOSEN):
        best: tuple[float, Predicate] | None = None
        before = int(left.sum())
        for one, truth in candidates:
            after = int((left & truth).sum())
            worth = (
                WORTH * (before - after) if known
                else -len(accepted) * log((after + 0.5) / (before + 1)) - _SURE
            )  # fmt: skip
            if worth > one.cost and (best is None or worth - one.cost > best[0]):
                best = worth - one.cost, one
        if best is None or not before:
            break
        found.append(best[1])
        left &= table.truth(best[1])
    return tuple(found)


def _some(every: Sequence[Asked], draw: random.Random) -> list[Asked]:
    return list(every) if len(every) <= _MOST else draw.sample(list(every), _MOST)


def _others(
    schema: Schema, scene: Scene, vocabulary: Vocabulary, draw: random.Random
) -> list[Asked]:
    """Draw commands of the action with other arguments."""
    domains: list[Sequence[Value]] = []
    for slot in schema.slots:
        if slot.sort == ANY:
            domains.append([thing for thing, kind in scene.kinds.items() if kind in slot.kinds])
        elif slot.sort == NUMBER:
            domains.append(range(slot.low, slot.high + 1))
        else:
            domains.append(vocabulary.enums[slot.sort])
    if not all(domains):
        return []
    return [(scene, tuple(draw.choice(one) for one in domains)) for _ in range(_OTHERS)]
