"""How PDDL names are written in a `.tw` file: as they are, in backquotes where they must be."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tokenworld.planning.pddl.names import kebab
from tokenworld.planning.reader.symbols import ROOT, Symbols
from tokenworld.planning.reader.tree import Choice, Typed
from tokenworld.syntax.tables import tables

__all__ = ["Locals", "Spelling", "word"]

_NAME = re.compile(r"[a-z][A-Za-z0-9_]*\Z")
_TYPE = re.compile(r"[A-Z][A-Za-z0-9_]*\Z")


def word(text: str) -> str:
    """A name, in backquotes unless it can stand bare."""
    bare = _NAME.match(text) and text not in tables().keywords
    return text if bare else f"`{text}`"


class Spelling:
    """The `.tw` names of everything that a domain declares."""

    def __init__(self, symbols: Symbols) -> None:
        self.symbols = symbols
        declared = [one.name for one in symbols.types.values()]
        every = [*declared, *symbols.implicit.values()]
        self._taken = {name.key for name in every} | {ROOT}
        self.types = {name.key: self._type(name.text) for name in every}
        self.choices = {key: self._choice(one) for key, one in symbols.choices.items()}
        self.foreign = {
            of: name.text
            for name in every
            if kebab((of := self.types[name.key]).strip("`")) != name.text
        }
        """Types whose PDDL spelling the exporter would not guess."""

    def _type(self, text: str) -> str:
        if text.lower() == ROOT:
            return f"`{ROOT}`"
        bare = text[:1].upper() + text[1:]
        return bare if _TYPE.match(bare) else f"`{text}`"

    def _choice(self, choice: Choice) -> str:
        """A name for a union of types: ``AreaOrCrate``, with a number where that is taken."""
        parts = (re.sub("[^A-Za-z0-9]", "", part.text) for part in choice.parts)
        wanted = "Or".join(part[:1].upper() + part[1:] for part in parts)
        wanted = wanted if _TYPE.match(wanted) else f"Either{wanted}"
        name, number = wanted, 2
        while name.lower() in self._taken:
            name, number = f"{wanted}{number}", number + 1
        self._taken.add(name.lower())
        return name

    def type(self, key: str) -> str:
        """A type; the root is `Object` unless the domain declares its own `object`."""
        if key == ROOT and not self.symbols.has_root:
            return "Object"
        return self.choices[key] if key in self.choices else self.types[key]

    def kind(self, param: Typed) -> str:
        """``: Block`` behind a name, or nothing."""
        return "" if param.type is None else f": {self.type(param.type.key)}"

    def predicate(self, key: str) -> str:
        return word(self.symbols.predicates[key].name.text)

    def function(self, key: str) -> str:
        return word(self.symbols.functions[key].name.text)

    def constant(self, key: str) -> str:
        return word(self.symbols.constants[key].name.text)


class Locals:
    """The variables of one rule by lower-case name, and the names they have in the rule.

    A variable that is called like a constant keeps its ``?``, so that both can be named; one that
    hides another gets a number.
    """

    def __init__(self, taken: frozenset[str], names: dict[str, str] | None = None) -> None:
        self._taken = taken
        self.names = names or {}

    def bind(self, params: Iterable[Typed]) -> Locals:
        found = dict(self.names)
        for param in params:
            found[param.name.key] = self._fresh(param.name.text, found)
        return Locals(self._taken, found)

    def _fresh(self, text: str, bound: dict[str, str]) -> str:
        wanted = f"?{text}" if text.lower() in self._taken else text
        used, number, name = set(bound.values()), 2, word(wanted)
        while name in used:
            name, number = word(f"{wanted}_{number}"), number + 1
        return name

    def alias(self, params: Iterable[Typed], names: Iterable[str]) -> Locals:
        """The variables under names that are there already."""
        given = {param.name.key: name for param, name in zip(params, names, strict=True)}
        return Locals(self._taken, {**self.names, **given})

    def __getitem__(self, key: str) -> str:
        return self.names[key]

    def fresh(self, wanted: str, more: Iterable[str]) -> str:
        """A name that no variable and none of ``more`` has."""
        used, number = {*self.names.values(), *more, *self._taken}, 1
        while f"{wanted}{number}" in used:
            number += 1
        return f"{wanted}{number}"
