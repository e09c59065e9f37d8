"""Compare the behaviour of two PDDL domains, on problems that are made for the original.

Where the two do not declare the same types, both are compared without types.
"""

from __future__ import annotations

from dataclasses import dataclass

from tokenworld.diagnostics import Failure, Source
from tokenworld.verbs.bench.instances import instances, types_of, without_types
from tokenworld.verbs.equiv import Side, compare, side_of

_WALKS = 1


@dataclass(frozen=True, slots=True)
class Behaviour:
    """The numbers of problems proved alike, alike as far as explored, different, and unusable.

    ``possible`` of ``actions`` are possible at the start of one of them.
    """

    equivalent: int = 0
    alike: int = 0
    different: int = 0
    unusable: int = 0
    possible: int = 0
    actions: int = 0
    untyped: bool = False

    @property
    def same(self) -> bool:
        """Whether no problem shows a difference, and at least one was compared."""
        return self.equivalent + self.alike > 0 and self.different == self.unusable == 0

    @property
    def shown(self) -> str:
        if self.different:
            return f"{self.different} different"
        if self.unusable:
            return f"{self.unusable} not comparable"
        proved = f"{self.equivalent} proved" if self.equivalent else ""
        seen = f"{self.alike} no difference" if self.alike else ""
        return ", ".join(one for one in (proved, seen) if one) or "–"

    def to_json(self) -> dict[str, int | bool]:
        return {
            "same": self.same, "equivalent": self.equivalent, "no_difference": self.alike,
            "different": self.different, "unusable": self.unusable,
            "possible_actions": self.possible, "actions": self.actions, "untyped": self.untyped,
        }  # fmt: skip


def behaviour(original: str, text: str, number: int, states: int) -> Behaviour:
    """Compare ``text`` with ``original`` on ``number`` problems, up to ``states`` states each.

    Raises `ValueError` or `Failure` where the original cannot be read.
    """
    one, other, untyped = _alike_typed(original, text)
    counts = dict.fromkeys(("equivalent", "alike", "different", "unusable"), 0)
    possible: set[str] = set()
    actions = 0
    for index, made in enumerate(instances(one, number)):
        problem = Source(f"made-{index}.pddl", None, made)
        left = side_of(Source("original.pddl", None, one), problem)
        actions = len(left.simulator.instance.program.actions)
        possible |= _possible(left)
        try:
            right = side_of(Source("compared.pddl", None, other), problem)
        except Failure:
            counts["unusable"] += 1
            continue
        counts[_ANSWERS[compare(left, right, limit=states, walks=_WALKS).answer]] += 1
    return Behaviour(**counts, possible=len(possible), actions=actions, untyped=untyped)


_ANSWERS = {"equivalent": "equivalent", "no difference found": "alike", "different": "different"}


def _alike_typed(original: str, text: str) -> tuple[str, str, bool]:
    """Return the two domains, without types where they do not have the same ones."""
    try:
        same = types_of(original) == types_of(text)
    except ValueError:
        return original, text, False
    if same:
        return original, text, False
    return without_types(original), without_types(text), True


def _possible(side: Side) -> set[str]:
    """Return the names of the actions that are possible at the start."""
    return {name for name, _ in side.results(side.start())}
