"""The specification: the analyst's structured description, and the contract that follows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from tokenworld.model.schema import CLOSED, shaped
from tokenworld.verbs.judge.contract import Contract
from tokenworld.verbs.judge.contract import Mechanic as ContractMechanic

_ID: Final = re.compile(r"[A-Z][A-Za-z0-9]{0,7}")


@dataclass(frozen=True, slots=True)
class Mechanic:
    """A rule of the world in one sentence, and the words of the description that ask for it."""

    __pydantic_config__ = CLOSED
    id: str
    text: str
    quote: str = ""


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number that the description names, with its unit."""

    __pydantic_config__ = CLOSED
    name: str
    value: str
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """A point that the description leaves open, and how much depends on it."""

    __pydantic_config__ = CLOSED
    text: str
    impact: str = ""


@dataclass(frozen=True, slots=True)
class Specification:
    """The analyst's result. ``win`` and ``lose`` are mechanics too: they are tested as such.

    ``names`` are to be kept as they are written, ``distractors`` are objects without a use.
    """

    __pydantic_config__ = CLOSED
    title: str = ""
    entities: tuple[str, ...] = ()
    mechanics: tuple[Mechanic, ...] = ()
    numbers: tuple[Quantity, ...] = ()
    win: tuple[Mechanic, ...] = ()
    lose: tuple[Mechanic, ...] = ()
    names: tuple[str, ...] = ()
    distractors: tuple[str, ...] = ()
    questions: tuple[Question, ...] = ()
    answers: tuple[str, ...] = field(default=())

    @property
    def all_mechanics(self) -> tuple[Mechanic, ...]:
        return (*self.mechanics, *self.win, *self.lose)


def read_specification(found: object, description: str) -> Specification:
    """Parse the analyst's JSON; raises `ValueError` with the first error."""
    spec = shaped(Specification, found)
    ids = [one.id for one in spec.all_mechanics]
    if not ids:
        raise ValueError("`mechanics` is empty")
    if wrong := next((one for one in ids if not _ID.fullmatch(one)), None):
        raise ValueError(f"the id `{wrong}` is no id such as `M1`")
    if twice := next((one for one in ids if ids.count(one) > 1), None):
        raise ValueError(f"the id `{twice}` is given twice")
    if invented := unquoted(spec, description):
        raise ValueError(f"the quote of `{invented[0]}` is not in the description")
    return spec


def unquoted(spec: Specification, description: str) -> tuple[str, ...]:
    """Return the ids of mechanics whose quote is not in the description."""
    text = _flat(description)
    return tuple(one.id for one in spec.all_mechanics if _flat(one.quote) not in text)


def _flat(text: str) -> str:
    return " ".join(text.split()).casefold()


def contract_of(
    asked: Contract, spec: Specification | None, rules: Mapping[str, tuple[str, ...]]
) -> Contract:
    """Return the contract with the mechanics of a specification and the developer's rules for them.
    Mechanics that the contract already has stay unchanged."""
    given = {one.id for one in asked.mechanics}
    added = tuple(
        ContractMechanic(one.id, one.text, tuple(rules.get(one.id, ())))
        for one in (() if spec is None else spec.all_mechanics)
        if one.id not in given
    )
    return replace(asked, mechanics=(*asked.mechanics, *added))


def spec_text(spec: Specification) -> str:
    """Return the specification as text for models; it takes a third of the tokens of JSON."""
    return "\n".join(_lines(spec))


def _lines(spec: Specification) -> Iterator[str]:
    if spec.title:
        yield f"Title: {spec.title}"
    for head, listed in (("Entities", spec.entities), ("Names to keep", spec.names),
                         ("Without a use", spec.distractors)):  # fmt: skip
        if listed:
            yield f"{head}: {', '.join(listed)}"
    if spec.numbers:
        shown = (f"{one.name} = {one.value} {one.unit}".rstrip() for one in spec.numbers)
        yield f"Numbers: {'; '.join(shown)}"
    for head, mechanics in (("", spec.mechanics), ("win: ", spec.win), ("lose: ", spec.lose)):
        yield from (f"{one.id} {head}{one.text}" for one in mechanics)
    yield from (f"Open: {one.text} ({one.impact})" for one in spec.questions)
    yield from (f"Found: {one}" for one in spec.answers)
