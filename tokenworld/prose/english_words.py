"""The words of the rulebook: names as nouns, plurals, articles, lists, forms of "to be"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tokenworld.model import BuiltinName, EnumType, ObjectType, ValueType
from tokenworld.prose.articles import indefinite
from tokenworld.prose.wording import joined, kind_word

__all__ = [
    "PLACES", "a", "absent", "be", "built_in", "plural", "possessive", "spoken_name", "such",
    "type_noun",
]  # fmt: skip

PLACES: Final = ("at", "beside", "in", "near", "on", "under")
"""Attributes of these names read as prepositions: "the cup is on the table"."""


def spoken_name(name: str) -> str:
    """An identifier in words: ``boil_rate`` is "boil rate", ``isOpen`` is "is open"."""
    return kind_word(name) if name.isidentifier() else name


def plural(noun: str) -> str:
    """The regular plural: "boxes", "berries", "pots"."""
    if noun.endswith(("s", "x", "z", "ch", "sh")):
        return f"{noun}es"
    if noun.endswith("y") and noun[-2:-1] not in tuple("aeiou"):
        return f"{noun[:-1]}ies"
    return f"{noun}s"


def type_noun(of: ValueType) -> str:
    """What a variable of a type is called."""
    match of:
        case ObjectType(name=name) | EnumType(name=name):
            return kind_word(name)
        case _:
            return "number"


def a(noun: str) -> str:
    return f"{indefinite(noun)} {noun}"


def be(owner: str, verb: str, was: bool) -> str:
    """The right form of "is" or "is not"."""
    form = ("were" if was else "are") if owner == "you" else ("was" if was else "is")
    return form + verb[2:]


def absent(owner: str, name: str, absent: bool) -> str:
    """An attribute that is `none`, or is not."""
    if name in PLACES:
        return f"{owner} {be(owner, 'is not' if absent else 'is', False)} {name} anything"
    have = "have" if owner == "you" else "has"
    return f"{owner} {have} {'no' if absent else indefinite(name)} {name}"


def possessive(owner: str, name: str) -> str:
    if owner == "you":
        return f"your {name}"
    simple = len(owner.split()) <= 5 and not owner.startswith(("whether", "“"))
    return f"{owner}'s {name}" if simple else f"the {name} of {owner}"


def such(conditions: Sequence[str]) -> str:
    return f" such that {' and '.join(conditions)}" if conditions else ""


def built_in(name: BuiltinName, args: Sequence[str], detail: str) -> str:
    """A call of a built-in function, its arguments told already."""
    match name:
        case "min" | "max":
            word = "smallest" if name == "min" else "largest"
            return f"the {word} of {joined(args, 'and')}"
        case "clamp":
            return f"{args[0]} kept between {args[1]} and {args[2]}"
        case "toward":
            return f"{args[0]} moved towards {args[1]} by at most {args[2]}"
        case "next" | "prev":
            return f"the {'next' if name == 'next' else 'previous'} step from {args[0]}"
        case "tick":
            return "the tick number"
        case "score":
            return "the score"
        case "pi":
            return "pi"
        case "busy":
            at = f" with {spoken_name(detail)}" if detail else ""
            return f"whether {args[0]} is busy{at}"
        case "did":
            who, *rest = args
            deed = " ".join([spoken_name(detail), *rest])
            return f"whether {who} did “{deed}” in this tick"
        case _:
            return f"{name}({', '.join(args)})"
