"""Spelling the names of a program in PDDL, and the way back from a planner's step.

PDDL ignores case, allows letters, digits, ``-`` and ``_``, and keeps one namespace each for types,
fluents, actions and objects. A name that is legal stays as it is, so raw names come out verbatim;
a second use of one spelling gets the name of what it belongs to in front, or a number behind.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from tokenworld.ground import PASS, Command, LuckyDraw, Raw

__all__ = [
    "Fixed",
    "Names",
    "Spellings",
    "StepOrigin",
    "kebab",
    "legal",
    "parts_of_union",
    "union_type",
]

Kind = Literal["type", "fluent", "action", "object"]

_RESERVED = frozenset(
    (
        *("and", "or", "not", "imply", "forall", "exists", "when", "either", "assign"),
        *("increase", "decrease", "scale-up", "scale-down", "define", "domain", "problem"),
        *("total-cost", "total-time", "preference", "sometime", "always", "within", "number"),
        *("is-violated", "minimize", "maximize"),
    )
)
_LEGAL = re.compile(r"[A-Za-z][A-Za-z0-9_-]*\Z")
_OTHER = re.compile(r"[^A-Za-z0-9_-]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def legal(name: str) -> str:
    """The nearest legal PDDL name: ``blue key`` becomes ``blue-key``."""
    word = name if _LEGAL.match(name) else _OTHER.sub("-", name).strip("-")
    if not word or not word[0].isalpha():
        word = f"n-{word}".rstrip("-")
    return f"{word}-" if word.lower() in _RESERVED else word


def kebab(name: str) -> str:
    """A capitalised name as PDDL writers spell types: ``ToolBox`` becomes ``tool-box``."""
    return _HUMP.sub("-", name).lower() if name[:1].isupper() else name


def union_type(parts: Sequence[str]) -> str:
    """What a variable's type is where it may be any of several: ``(either a b)``."""
    return f"(either {' '.join(parts)})"


def parts_of_union(word: str) -> tuple[str, ...]:
    """The types that `union_type` put together; none for any other type."""
    return tuple(word[1:-1].split()[1:]) if word.startswith("(either ") else ()


class Spellings:
    """The names taken so far, per kind and without regard to case."""

    def __init__(self) -> None:
        self._taken: dict[Kind, set[str]] = {
            "type": set(),
            "fluent": set(),
            "action": set(),
            "object": set(),
        }

    def take(self, kind: Kind, wanted: str, owner: str = "") -> str:
        """A free spelling close to ``wanted``; ``owner`` goes in front if it is taken."""
        taken, plain = self._taken[kind], legal(wanted)
        tries = [plain, legal(f"{owner}-{wanted}")] if owner else [plain]
        for word in tries:
            if word.lower() not in taken:
                break
        else:
            number = 2
            while f"{tries[-1]}-{number}".lower() in taken:
                number += 1
            word = f"{tries[-1]}-{number}"
        taken.add(word.lower())
        return word


@dataclass(frozen=True, slots=True)
class Fixed:
    """An argument that the PDDL action has built in."""

    value: Raw


@dataclass(frozen=True, slots=True)
class StepOrigin:
    """What a PDDL action means: a command, `pass` (empty), or a forced step (``None``).

    ``args`` gives for each parameter of the action the position among the PDDL arguments, or its
    built-in value. ``outcome`` numbers the outcomes of chance from 1 (0: no chance); ``draws``
    lists them where they are known.
    """

    action: str | None
    args: tuple[int | Fixed, ...] = ()
    outcome: int = 0
    draws: tuple[LuckyDraw, ...] = ()


@dataclass(slots=True)
class Names:
    """The way back: PDDL actions and objects by lower-case spelling."""

    steps: dict[str, StepOrigin] = field(default_factory=dict)
    objects: dict[str, Raw] = field(default_factory=dict)

    def command(self, name: str, args: tuple[str, ...]) -> Command | None:
        """The command of a PDDL step; ``None`` for a forced step such as a phase.

        Raises `KeyError` for a name that the exported pair does not have.
        """
        origin = self.steps[name.lower()]
        if origin.action is None:
            return None
        if not origin.action:
            return PASS

        def value(arg: int | Fixed) -> Raw:
            return arg.value if isinstance(arg, Fixed) else self.objects[args[arg].lower()]

        return Command(origin.action, tuple(value(arg) for arg in origin.args))
