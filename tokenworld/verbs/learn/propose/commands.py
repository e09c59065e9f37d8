"""Command texts as a grammar: actions with slots for objects, numbers and words of an enum.

Names of objects in a text become slots. A word directly before an object that may be left out
("take dirty cup") is another name of the object. Words that stand at one place and are members of
one enum become a slot. If a slot always has the value of an attribute of another one ("take
cup from sink"), the longer text becomes another wording of the shorter.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from tokenworld.verbs.learn.propose.scenes import ANY, HOLDER, Scene, Step, Value, Vocabulary

NUMBER: Final = "int"
"""The sort of a slot for a number."""
SELF: Final = frozenset(("yourself", "myself", "me", "self"))
"""Words of English by which a player means the acting person."""
_DIGITS: Final = re.compile(r"(\d+)")


@dataclass(frozen=True, slots=True)
class Mention:
    """A part of a text that is no word: an object, or a number."""

    sort: str
    value: Value

    @property
    def thing(self) -> int:
        """The object, or the number."""
        return self.value if isinstance(self.value, int) else -1


Part = str | Mention
Shape = tuple[str | None, ...]
"""A text with ``None`` for its slots."""


@dataclass(frozen=True, slots=True)
class Slot:
    """A parameter of an action. ``kinds`` are the types of the objects that were seen there."""

    name: str
    sort: str
    kinds: frozenset[str] = frozenset()
    low: int = 0
    high: int = 0


@dataclass(frozen=True, slots=True)
class Schema:
    """An action. ``texts`` are its wordings, with ``{x}`` for slots; empty where rows are calls."""

    name: str
    slots: tuple[Slot, ...]
    texts: tuple[str, ...]
    uses: int = 0
    """The number of rows with it."""
    given: bool = False
    """Whether the given rules have it, so that it is extended."""


@dataclass(slots=True)
class Grammar:
    """The actions, and which of them each step is: its number and arguments."""

    schemas: list[Schema] = field(default_factory=list)
    calls: list[tuple[int, tuple[Value, ...]] | None] = field(default_factory=list)
    actor: int | None = None
    prefixes: dict[str, set[str]] = field(default_factory=dict)
    """Words that may stand before a name, with the types of these objects."""


# ---- called actions -----------------------------------------------------------------------------


def called(steps: Sequence[Step], vocabulary: Vocabulary) -> Grammar:
    """Return the grammar of rows whose intents are calls."""
    grammar = Grammar(actor=next((one.actor for one in steps if one.actor is not None), None))
    args: dict[str, dict[str, list[tuple[Value, Scene]]]] = {}
    for one in steps:
        if one.call is not None:
            slots = args.setdefault(one.call[0], {})
            for name, value in one.call[1]:
                slots.setdefault(name, []).append((value, one.before))
    numbers = {}
    for name, slots in args.items():
        numbers[name] = len(grammar.schemas)
        found = tuple(_called_slot(key, values, vocabulary) for key, values in slots.items())
        uses = sum(one.call is not None and one.call[0] == name for one in steps)
        grammar.schemas.append(Schema(name, found, (), uses))
    for one in steps:
        call = one.call
        grammar.calls.append(
            None if call is None else (numbers[call[0]], tuple(value for _, value in call[1]))
        )
    return grammar


def _called_slot(name: str, values: Sequence[tuple[Value, Scene]], vocabulary: Vocabulary) -> Slot:
    if all(isinstance(one, str) for one, _ in values):
        words = {one for one, _ in values if isinstance(one, str)}
        for enum, members in vocabulary.enums.items():
            if words & set(members):
                members += sorted(words - set(members))
                return Slot(name, enum)
        enum = name[0].upper() + name[1:]
        vocabulary.enums[enum] = sorted(words)
        return Slot(name, enum)
    if any(one in scene.kinds for one, scene in values if isinstance(one, ObjectNumber)):
        kinds = frozenset(scene.kinds[one] for one, scene in values
                          if isinstance(one, int) and one in scene.kinds)  # fmt: skip
        return Slot(name, ANY, kinds)
    numbers = [int(one) for one, _ in values if isinstance(one, int)]
    return Slot(name, NUMBER, frozenset(), min(numbers, default=0), max(numbers, default=0))


class ObjectNumber(int):
    """An argument that is an object, told from a number by its class."""


# ---- typed texts --------------------------------------------------------------------------------


def typed(steps: Sequence[Step], vocabulary: Vocabulary) -> Grammar:
    """Return the grammar of rows whose commands are texts."""
    return _Texts(steps, vocabulary).grammar


class _Texts:
    """Finds the grammar of typed commands."""

    def __init__(self, steps: Sequence[Step], vocabulary: Vocabulary) -> None:
        self._steps, self._vocabulary = steps, vocabulary
        self._patterns: dict[int, tuple[Scene, re.Pattern[str], dict[str, int]]] = {}
        self.grammar = Grammar(actor=self._actor())
        parts = [self._parts(one) for one in steps]
        parts = self._without_prefixes(parts)
        parts = self._with_enums(parts)
        self._schemas(parts)

    # ---- parts --------------------------------------------------------------------------------

    def _actor(self) -> int | None:
        """Return the object that is always there and never named, whose contents change most."""
        named: set[int] = set()
        moved: Counter[int] = Counter()
        there: set[int] | None = None
        for one in self._steps:
            there = set(one.before.kinds) if there is None else there & set(one.before.kinds)
            named |= {part.value for part in self._parts(one, named=True)
                      if isinstance(part, Mention) and isinstance(part.value, int)
                      and part.sort == ANY}  # fmt: skip
            if one.before is not one.acted:
                for thing in one.before.kinds:
                    after = one.acted.holder(thing)
                    if after is not None and after != one.before.holder(thing):
                        moved[after] += 1
        free = sorted((there or set()) - named) or sorted(there or set())
        return max(free, key=lambda one: (moved[one], -one), default=None)

    def _pattern(self, scene: Scene) -> tuple[re.Pattern[str], dict[str, int]]:
        known = self._patterns.get(id(scene))
        if known is None or known[0] is not scene:
            numbers: dict[str, int] = {}
            for thing, name in scene.names.items():
                numbers.setdefault(name, thing)
            names = sorted(numbers, key=len, reverse=True)
            every = "|".join(map(re.escape, names)) or "(?!)"
            pattern = re.compile(rf"(?<![^\s])(?:{every})(?![^\s])")
            known = self._patterns[id(scene)] = (scene, pattern, numbers)
        return known[1], known[2]

    def _parts(self, step: Step, *, named: bool = False) -> list[Part]:
        """Return the words of a text, and the objects and numbers between them."""
        pattern, numbers = self._pattern(step.before)
        found: list[Part] = []
        position = 0
        for match in pattern.finditer(step.text):
            found += self._words(step.text[position : match.start()], named)
            found.append(Mention(ANY, numbers[match[0]]))
            position = match.end()
        return found + self._words(step.text[position:], named)

    def _words(self, text: str, named: bool) -> list[Part]:
        found: list[Part] = []
        for word in text.split():
            if word in SELF and not named and self.grammar.actor is not None:
                found.append(Mention(ANY, self.grammar.actor))
            else:
                cut = [one for one in _DIGITS.split(word) if one] if word[0].isdigit() else [word]
                found += (Mention(NUMBER, int(one)) if one.isdigit() else one for one in cut)
        return found

    # ---- names and words ------------------------------------------------------------------------

    def _without_prefixes(self, every: list[list[Part]]) -> list[list[Part]]:
        """Leave out words before objects that the command does not need."""
        shapes = {_shape(parts) for parts in every}
        words = {
            shape[at]
            for shape in shapes
            for at in range(1, len(shape) - 1)
            if shape[at] is not None and shape[at + 1] is None
            and shape[:at] + shape[at + 1 :] in shapes
        }  # fmt: skip
        verbs = {word: {shape[0] for shape in shapes if word in shape[1:]} for word in words}
        prefixes = {word for word in words if word is not None and len(verbs[word]) >= 2}
        if not prefixes:
            return every
        return [self._plain(parts, step, prefixes)
                for parts, step in zip(every, self._steps, strict=True)]  # fmt: skip

    def _plain(self, parts: list[Part], step: Step, prefixes: set[str]) -> list[Part]:
        found: list[Part] = []
        for at, part in enumerate(parts):
            behind = parts[at + 1] if at + 1 < len(parts) else None
            if part in prefixes and isinstance(behind, Mention) and behind.sort == ANY:
                kind = step.before.kinds.get(behind.thing, "")
                self.grammar.prefixes.setdefault(str(part), set()).add(kind)
            else:
                found.append(part)
        return found

    def _with_enums(self, every: list[list[Part]]) -> list[list[Part]]:
        """Make slots of words at one place of a verb's texts that are members of one enum."""
        words: dict[tuple[object, ...], set[str]] = {}
        for parts in every:
            for at, word in _places(parts):
                words.setdefault((parts[0], _slots(parts), at), set()).add(word)
        enums = {place: enum for place, found in words.items()
                 if len(found) > 1 and (enum := self._enum(found))}  # fmt: skip
        return [
            [
                Mention(enums[key], part)
                if isinstance(part, str) and (key := (parts[0], _slots(parts), at)) in enums and at
                else part
                for at, part in enumerate(parts)
            ]
            for parts in every
        ]

    def _enum(self, words: set[str]) -> str:
        """Return the enum that has these words; make one of a text fluent with these values."""
        for name, members in self._vocabulary.enums.items():
            if words <= set(members):
                return name
        for fluent in list(self._vocabulary.fluents.values()):
            if fluent.kind == "text" and len(words) > 1 and words <= set(fluent.values):
                return self._made(fluent.name)
        return ""

    def _made(self, source: str) -> str:
        """Make an enum of the values of a text fluent, and of all that have no others."""
        fluents = self._vocabulary.fluents
        members = [one for one in fluents[source].values if isinstance(one, str)]
        name = source[0].upper() + source[1:]
        self._vocabulary.enums[name] = members
        for key, fluent in fluents.items():
            texts = {one for one in fluent.values if one is not None}
            if fluent.kind == "text" and texts and texts <= set(members):
                fluents[key] = replace(fluent, kind="enum", of=name)
        return name

    # ---- actions --------------------------------------------------------------------------------

    def _schemas(self, every: list[list[Part]]) -> None:
        groups: dict[tuple[object, ...], list[int]] = {}
        for number, parts in enumerate(every):
            groups.setdefault(tuple(_sorted_shape(parts)), []).append(number)
        shapes = sorted(groups, key=len)
        self.grammar.calls = [None] * len(every)
        made: dict[tuple[object, ...], int] = {}
        taken: set[str] = set()
        for shape in shapes:
            own = [every[number] for number in groups[shape]]
            base, template = self._wording(shape, own, groups[shape], made)
            if base is None:
                schema = self._new(shape, own, groups[shape], taken)
                made[shape] = base = len(self.grammar.schemas)
                self.grammar.schemas.append(schema)
            else:
                old = self.grammar.schemas[base]
                grown = self._grown(old, own, groups[shape])
                self.grammar.schemas[base] = replace(grown, texts=(*old.texts, template))
            width = len(self.grammar.schemas[base].slots)
            for number in groups[shape]:
                args = tuple(one.value for one in every[number] if isinstance(one, Mention))
                self.grammar.calls[number] = base, args[:width]
            old = self.grammar.schemas[base]
            self.grammar.schemas[base] = replace(old, uses=old.uses + len(groups[shape]))

    def _wording(
        self, shape: tuple[object, ...], every: Sequence[Sequence[Part]], numbers: Sequence[int],
        made: dict[tuple[object, ...], int],
    ) -> tuple[int | None, str]:  # fmt: skip
        """Return the action that this is another wording for, with the template."""
        shorter = [one for one in made if shape[: len(one)] == one and len(one) < len(shape)]
        rest_slots = [part for part in shape if not isinstance(part, str)]
        for one in sorted(shorter, key=len, reverse=True):
            schema = self.grammar.schemas[made[one]]
            width = len(schema.slots)
            if width == 0 or len(rest_slots) != width + 1 or isinstance(shape[-1], str):
                continue
            for at, slot in enumerate(schema.slots):
                if slot.sort == ANY and self._leads(every, numbers, at, width):
                    words = " ".join(str(part) for part in shape[len(one) : -1])
                    return made[one], f"{schema.texts[0]} {words} {{{slot.name}.{HOLDER}}}"
        return None, ""

    def _leads(
        self, every: Sequence[Sequence[Part]], numbers: Sequence[int], at: int, last: int
    ) -> bool:
        """Return whether the last slot always contains the one at a place."""
        for parts, number in zip(every, numbers, strict=True):
            slots = [part.value for part in parts if isinstance(part, Mention)]
            thing = slots[at]
            if (
                not isinstance(thing, int)
                or self._steps[number].before.holder(thing) != slots[last]
            ):
                return False
        return True

    def _new(
        self, shape: tuple[object, ...], every: Sequence[Sequence[Part]], numbers: Sequence[int],
        taken: set[str],
    ) -> Schema:  # fmt: skip
        columns: list[list[tuple[Value, int]]] = []
        for parts, number in zip(every, numbers, strict=True):
            for at, one in enumerate(part for part in parts if isinstance(part, Mention)):
                if at == len(columns):
                    columns.append([])
                columns[at].append((one.value, number))
        sorts = [part[0] for part in shape if isinstance(part, tuple)]
        names = _slot_names(sorts)
        every_slot = zip(names, sorts, columns, strict=True)
        slots = tuple(self._slot(name, sort, column) for name, sort, column in every_slot)
        supply = iter(names)
        words: list[str] = []
        for part in shape:
            glued = bool(words) and words[-1].endswith("}") and self._glued(part, words[-1], sorts)
            text = part if isinstance(part, str) else f"{{{next(supply)}}}"
            words[-1:] = [words[-1] + text] if glued else [*words[-1:], text]
        return Schema(_action_name(shape, taken), slots, (" ".join(words),))

    def _glued(self, part: object, before: str, sorts: Sequence[str]) -> bool:
        """Return whether a word follows a number without a space: `13g`."""
        return isinstance(part, str) and before.startswith("{n") and any(
            re.search(rf"\d{re.escape(part)}(?!\w)", one.text) for one in self._steps
        )  # fmt: skip

    def _grown(
        self, old: Schema, every: Sequence[Sequence[Part]], numbers: Sequence[int]
    ) -> Schema:
        slots = list(old.slots)
        for at, slot in enumerate(slots):
            if slot.sort == ANY:
                column = [([p.value for p in parts if isinstance(p, Mention)][at], number)
                          for parts, number in zip(every, numbers, strict=True)]  # fmt: skip
                more = self._slot(slot.name, slot.sort, column)
                slots[at] = replace(slot, kinds=slot.kinds | more.kinds)
        return replace(old, slots=tuple(slots))

    def _slot(self, name: str, sort: str, column: Sequence[tuple[Value, int]]) -> Slot:
        if sort == ANY:
            kinds = frozenset(self._steps[number].before.kinds.get(value, "")
                              for value, number in column if isinstance(value, int))  # fmt: skip
            return Slot(name, sort, kinds)
        numbers = [value for value, _ in column if isinstance(value, int)]
        return Slot(name, sort, frozenset(), min(numbers, default=0), max(numbers, default=0))


def _shape(parts: Iterable[Part]) -> Shape:
    return tuple(one if isinstance(one, str) else None for one in parts)


def _sorted_shape(parts: Iterable[Part]) -> Iterator[object]:
    for one in parts:
        yield one if isinstance(one, str) else (one.sort,)


def _slots(parts: Sequence[Part]) -> tuple[object, ...]:
    """Return the length of a text and the places of its objects, which texts of one verb share."""
    return len(parts), *(at for at, one in enumerate(parts) if isinstance(one, Mention))


def _places(parts: Sequence[Part]) -> Iterator[tuple[int, str]]:
    for at, one in enumerate(parts):
        if at and isinstance(one, str):
            yield at, one


def _slot_names(sorts: Sequence[str]) -> list[str]:
    supply = {ANY: iter(("x", "y", "x3", "x4", "x5")), NUMBER: iter(("n", "n2", "n3", "n4"))}
    words = iter(("p", "q", "p3", "p4", "p5"))
    return [next(supply.get(sort, words)) for sort in sorts]


def _action_name(shape: Sequence[object], taken: set[str]) -> str:
    words = [re.sub(r"\W+", "_", one).strip("_") for one in shape if isinstance(one, str)]
    name = "_".join(one for one in words if one) or "act"
    name = name[0].lower() + name[1:] if name[0].isalpha() else f"do_{name}"
    found, number = name, 2
    while found in taken:
        found, number = f"{name}_{number}", number + 1
    taken.add(found)
    return found
