"""Claims in free prose: statements about a state in the world's own names and values.

Prose that another program wrote does not mark its values. A clause is read as a whole or not at
all, along a few forms: "the lamp is lit", "the key is in the chest", "the fuel of the hearth is
12", "Bran has 3 eggs", "the hall is linked to the attic", "you open the chest". Every name, value
and verb in it must be the world's own: of an object, an attribute, a relation, a derive, an enum, a
phrase of an action. All else is *unread*: questions, quotes, suppositions, the past, and clauses
that depend on the sentence before. Where names leave several readings the claim has all of them: it
is true, or false, only where they agree (see `verbs.recheck`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice, product
from typing import Final, assert_never

from tokenworld import model as m
from tokenworld.diagnostics.frozen import frozen
from tokenworld.ground import PASS, Command, Raw
from tokenworld.ground.secrets import Secrets
from tokenworld.prose.lexicon import (
    LONGEST,
    Lexicon,
    Phrase,
    after_article,
    compiled,
    scaled_number,
    tidy,
)
from tokenworld.prose.matching import readings


@frozen
class Fact:
    """A fluent (by id) or a derive that is said to have a value for these arguments."""

    name: str
    derived: bool
    args: tuple[Raw, ...]
    value: Raw


@frozen
class Inside:
    """A claim that a thing is in a place, directly or inside another thing.

    ``fluent`` is the attribute that holds the place of a thing.
    """

    fluent: str
    thing: int
    place: int


@frozen
class Done:
    """An action that is said to have been done just now: one of these commands."""

    commands: tuple[Command, ...]


Reading = Fact | Inside | Done


@frozen
class Claim:
    """A clause that was read: ``about`` are the objects that its subject may name."""

    text: str
    readings: tuple[Reading, ...]
    about: tuple[int, ...] = ()
    negated: bool = False


@frozen
class Told:
    """The claims of a text, and how many of its clauses are unread."""

    claims: tuple[Claim, ...] = ()
    unread: int = 0


# ---- the names of a program ----------------------------------------------------------------------


@frozen
class _Named:
    """A fluent or a derive: ``words`` are its name, tidied."""

    name: str
    words: str
    derived: bool
    params: tuple[m.ValueType, ...]
    type: m.ValueType

    def said(self, args: tuple[Raw, ...], value: Raw) -> Fact:
        return Fact(self.name, self.derived, args, value)


class _Names:
    """The vocabulary of clauses: all fluents and derives of a program that depend on no secret."""

    def __init__(self, program: m.Program) -> None:
        self.program, secrets = program, Secrets(program)
        found = [
            _Named(one.id, tidy(one.name), False, tuple(p.type for p in one.params), one.type)
            for one in program.fluents.values()
            if not one.secret and not one.scratch
        ]
        found += [
            _Named(one.name, tidy(one.name), True, tuple(p.type for p in one.params), one.type)
            for one in program.derives.values()
            if one.name not in secrets.derives
        ]
        self.alone = {one.words: one for one in found if not one.params}
        self._unary = [one for one in found if len(one.params) == 1]
        pairs = [one for one in found if len(one.params) == 2 and isinstance(one.type, m.BoolType)]
        self.ties = {one.words: _tie(one.words) for one in pairs}
        self._pairs = pairs

    def of(self, kind: str) -> Iterator[_Named]:
        """The facts of an object of a type."""
        return (one for one in self._unary if self.takes(one.params[0], kind))

    def between(self, words: str, left: str, right: str) -> Iterator[_Named]:
        """The truths of this name about two objects of these types."""
        for one in self._pairs:
            fits = self.takes(one.params[0], left) and self.takes(one.params[1], right)
            if one.words == words and fits:
                yield one

    def takes(self, of: m.ValueType, kind: str) -> bool:
        """Return whether an object of a type is a value of ``of``."""
        return isinstance(of, m.ObjectType) and self.program.is_subtype(kind, of.name)

    def nested(self, one: _Named) -> bool:
        return not one.derived and self.program.fluents[one.name].nested


def _tie(words: str) -> re.Pattern[str]:
    """The words between the two things that a relation is about: "(is) (not) linked (to)"."""
    stem = re.escape(words.removesuffix("s") if len(words) > 3 else words)
    preposition = "(?:(?:to|with|from|by|of|in|on|at) )?"
    return re.compile(rf" (?:(?:is|are)( not)? )?{stem}s? {preposition}")


# ---- the forms of a clause -----------------------------------------------------------------------


_MOST: Final = 64
"""Readings of a clause that are followed; a clause with more is unread."""

_SUPPOSED: Final = re.compile(
    r"\b(if|when|whenever|while|unless|until|before|after|once|whether|as|like|than|says?|said|"
    r"asks?|asked|thinks?|thought|believes?|believed|hopes?|wish|wishes|dreams?|imagines?|"
    r"remembers?|pretends?|would|could|should|might|may|maybe|perhaps|seems?|was|were|had|will)\b"
)
_MARKED: Final = re.compile(r'[?"“”«»‘]')
_QUOTED: Final = re.compile(r'["“«][^"”»]*["”»]')
_SENTENCES: Final = re.compile(r"(?<=[.!?…])\s+|\n+|[;:]\s")
_CLAUSES: Final = re.compile(r",? (?:and|but) |, ")
_LEADING: Final = re.compile(r"^(?:(?:and|but|then|now|so|finally|meanwhile|here),? )+")
_TRAILING: Final = re.compile(r" (?:now|again|already|too|here|there)$")
_COPULA: Final = re.compile(r" (?:is|are|am)(?: (?:now|still|again|already|also))*( not)? ")
_HAVING: Final = re.compile(
    r" (has|have|holds?|carry|carries|contains?|owns?|(?:is|are)( not)? (?:carrying|holding)) "
)
_PLACES: Final = ("in", "on", "at", "inside", "within")
_WHERE: Final = (*_PLACES, "location", "place", "where", "room", "holder", "owner", "carrier")
_NOTHING: Final = ("nothing", "none", "nobody")
_COUNTS: Final = {
    "no": "0", "zero": "0", "one": "1", "two": "2", "three": "3", "four": "4", "five": "5",
    "six": "6", "seven": "7", "eight": "8", "nine": "9", "ten": "10", "eleven": "11",
    "twelve": "12",
}  # fmt: skip


class ClaimReader:
    """Reads prose about the worlds of one program."""

    def __init__(self, program: m.Program) -> None:
        self._names, self._phrases = _Names(program), compiled(program)

    def told(self, prose: str, before: Lexicon, after: Lexicon, actor: int | None) -> Told:
        """The claims of a text about the step between two states; ``actor`` is "you". A clause
        about what cannot be seen in either is unread."""
        clauses = _Clauses(self._names, self._phrases, before, after, actor)
        plain = _QUOTED.sub('"', prose.replace("’", "'"))
        found = [one for text in _SENTENCES.split(plain) for one in clauses.of(text)]
        claims = tuple(one for one in found if one is not None)
        return Told(claims, len(found) - len(claims))


class _Clauses:
    """Reads clauses about one step."""

    def __init__(
        self,
        names: _Names,
        phrases: tuple[Phrase, ...],
        before: Lexicon,
        after: Lexicon,
        actor: int | None,
    ) -> None:
        self._names, self._phrases = names, phrases
        self._before, self._after, self._actor = before, after, actor

    def of(self, sentence: str) -> Iterator[Claim | None]:
        """The clauses of a sentence; ``None`` for one that is unread."""
        text = tidy(sentence).strip(" .!…()*_")
        if not text:
            return
        if len(text) > LONGEST or _MARKED.search(sentence) or _SUPPOSED.search(text):
            yield None
            return
        whole = self._claim(text)
        parts = [one for one in _CLAUSES.split(text) if one.strip()]
        yield from (whole,) if whole or len(parts) < 2 else map(self._claim, parts)

    def _claim(self, clause: str) -> Claim | None:
        text = _TRAILING.sub("", _LEADING.sub("", clause.strip(" ,")))
        for form in (self._copula, self._having, self._ties, self._deed):
            for claim in form(text):
                seen = not claim.about or any(map(self._seen, claim.about))
                if seen and 0 < len(claim.readings) <= _MOST:
                    return claim
        return None

    def _seen(self, thing: int) -> bool:
        return thing == self._actor or self._after.in_scope(thing) or self._before.in_scope(thing)

    # ---- things -----------------------------------------------------------------------------

    def _things(self, words: str) -> tuple[int, ...]:
        """The things that words name now; of several, those that can be seen."""
        if words in ("you", "yourself"):
            return () if self._actor is None else (self._actor,)
        found = self._after.called(words)
        return tuple(filter(self._seen, found)) or found

    def _kind(self, thing: int) -> str:
        return self._after.speaker.kind(thing)

    def _pairs(self, left: str, right: str) -> Iterator[tuple[int, int]]:
        pairs = product(self._things(left), self._things(right))
        return (pair for pair in pairs if pair[0] != pair[1])

    def _made(
        self, text: str, found: Iterable[tuple[Reading, tuple[int, ...]]], *, negated: bool = False
    ) -> Claim:
        """The claim with these readings, each with the objects that it names, its subject first."""
        listed = list(islice(found, _MOST + 1))
        about = dict.fromkeys(things[0] for _, things in listed if things)
        readings = dict.fromkeys(reading for reading, _ in listed)
        return Claim(text, tuple(readings), tuple(about), negated)

    # ---- "the lamp is lit", "the key is in the chest", "the fuel of the hearth is 12" --------

    def _copula(self, text: str) -> Iterator[Claim]:
        for hit in _COPULA.finditer(text):
            left, right = text[: hit.start()], text[hit.end() :]
            found = (*self._valued(left, right), *self._such(left, right), *self._at(left, right))
            yield self._made(text, found, negated=hit[1] is not None)

    def _valued(self, left: str, right: str) -> Iterator[tuple[Reading, tuple[int, ...]]]:
        """A named fact has a value."""
        bare = left[after_article(left) :]
        if bare in self._names.alone:
            fact = self._names.alone[bare]
            yield from ((fact.said((), one), ()) for one in self._values(fact.type, right))
        for owner, name in _owned(bare):
            for thing in self._things(owner):
                for fact in self._names.of(self._kind(thing)):
                    for value in self._values(fact.type, right) if fact.words == name else ():
                        yield fact.said((thing,), value), (thing,)

    def _values(self, of: m.ValueType, words: str) -> Iterator[Raw]:
        """The values of a type that words name."""
        if words in _NOTHING and m.is_optional(of):
            yield None
        match of:
            case m.EnumType(name=name):
                members = self._names.program.enums[name].members
                yield from (at for at, one in enumerate(members) if tidy(one) == words)
            case m.BoolType():
                yield from (value for value in (False, True) if str(value).lower() == words)
            case m.NumberType():
                units = self._names.program.units
                value = scaled_number(_COUNTS.get(words, words), of, units)
                yield from () if value is None else (value,)
            case m.ObjectType():
                things = self._things(words)
                yield from (one for one in things if self._names.takes(of, self._kind(one)))
            case m.RealType() | m.TextType() | m.NoneType() | m.CollectionType():
                return
            case _:
                assert_never(of)

    def _such(self, left: str, right: str) -> Iterator[tuple[Reading, tuple[int, ...]]]:
        """A thing is as a member of an enum or a truth says."""
        for thing in self._things(left):
            for fact in self._names.of(self._kind(thing)):
                if isinstance(fact.type, m.BoolType) and fact.words == right:
                    yield fact.said((thing,), True), (thing,)
                elif isinstance(fact.type, m.EnumType) and right not in _NOTHING:
                    for value in self._values(fact.type, right):
                        yield fact.said((thing,), value), (thing,)

    def _at(self, left: str, right: str) -> Iterator[tuple[Reading, tuple[int, ...]]]:
        preposition, _, place = right.partition(" ")
        if preposition in _PLACES:
            for pair in self._pairs(left, place):
                yield from ((one, pair) for one in self._where(*pair, preposition))

    def _where(self, thing: int, place: int, word: str) -> Iterator[Reading]:
        """Return the facts by which a thing can be at a place or held by an object."""
        kind, there = self._kind(thing), self._kind(place)
        facts = [
            one
            for one in self._names.of(kind)
            if not one.derived and self._names.takes(one.type, there)
        ]
        nested = [one for one in facts if self._names.nested(one)]
        for one in nested or (one for one in facts if one.words in _WHERE):
            yield Inside(one.name, thing, place)
        for one in self._names.between(word, kind, there):
            yield one.said((thing, place), True)

    # ---- "Bran has 3 eggs", "you carry the key" ------------------------------------------------

    def _having(self, text: str) -> Iterator[Claim]:
        for hit in _HAVING.finditer(text):
            left, right = text[: hit.start()], text[hit.end() :]
            yield self._made(text, self._counted(left, right), negated=hit[2] is not None)
            none = right.startswith("no ")
            held = self._held(left, right.removeprefix("no "), hit[1])
            yield self._made(text, held, negated=none or hit[2] is not None)

    def _counted(self, left: str, right: str) -> Iterator[tuple[Reading, tuple[int, ...]]]:
        count, _, noun = right.partition(" ")
        for thing in self._things(left):
            for fact in self._names.of(self._kind(thing)):
                if isinstance(fact.type, m.NumberType) and _alike(fact.words, noun):
                    for value in self._values(fact.type, count):
                        yield fact.said((thing,), value), (thing,)

    def _held(self, left: str, right: str, verb: str) -> Iterator[tuple[Reading, tuple[int, ...]]]:
        for owner, thing in self._pairs(left, right):
            yield from ((one, (owner, thing)) for one in self._where(thing, owner, ""))
            for word in (verb, verb.removesuffix("s")):
                for one in self._names.between(word, self._kind(owner), self._kind(thing)):
                    yield one.said((owner, thing), True), (owner, thing)

    # ---- "the hall is linked to the attic" ------------------------------------------------------

    def _ties(self, text: str) -> Iterator[Claim]:
        for words, pattern in self._names.ties.items():
            for hit in pattern.finditer(text):
                pairs = self._pairs(text[: hit.start()], text[hit.end() :])
                found = (
                    (one.said(pair, True), pair)
                    for pair in pairs
                    for one in self._names.between(words, *map(self._kind, pair))
                )
                yield self._made(text, found, negated=hit[1] is not None)

    # ---- "you open the chest" -------------------------------------------------------------------

    def _deed(self, text: str) -> Iterator[Claim]:
        for words in self._meant(text):
            commands = tuple(islice(readings(self._phrases, words, self._before), _MOST))
            if not commands and words == "pass":
                commands = (PASS,)
            if commands:
                yield Claim(text, (Done(commands),))

    def _meant(self, text: str) -> Iterator[str]:
        """The words of a command that the actor is said to have given."""
        if self._actor is None:
            return
        if text.startswith("you "):
            yield text.removeprefix("you ")
        for name in map(tidy, self._before.words(self._actor)):
            if text.startswith(f"{name} "):
                verb, space, others = text.removeprefix(f"{name} ").partition(" ")
                yield from (f"{one}{space}{others}" for one in _plain(verb))


def _owned(words: str) -> Iterator[tuple[str, str]]:
    """The ways to read words as the attribute of something: (owner, attribute)."""
    if words.startswith("your "):
        yield "you", words.removeprefix("your ")
    for hit in re.finditer(r"'s? ", words):
        yield words[: hit.start()], words[hit.end() :]
    for hit in re.finditer(" of ", words):
        yield words[hit.end() :], words[: hit.start()]


def _alike(one: str, other: str) -> bool:
    """Return whether two nouns are the same but for the number."""
    return one == other or f"{one}s" == other or one == f"{other}s"


def _plain(verb: str) -> Iterator[str]:
    """The forms that a verb may have without its ending: "goes" is "go", "carries" is "carry"."""
    if verb.endswith("ies"):
        yield f"{verb[:-3]}y"
    for ending in ("es", "s"):
        if verb.endswith(ending):
            yield verb.removesuffix(ending)
