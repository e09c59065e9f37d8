"""Matching typed words against phrases, without trying all bindings.

First the words: a *layout* cuts the text along the literal words of a phrase and gives every slot
the values its stretch may name. Only then are the values combined and the text slots compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import merge
from itertools import islice, product
from typing import Final, NamedTuple

from tokenworld.ground import Command, Raw
from tokenworld.prose.lexicon import Lexicon
from tokenworld.prose.phrases import ParamSlot, Part, Phrase, TextSlot, Words
from tokenworld.prose.tokens import after_article

__all__ = ["Layout", "choices", "layouts", "readings", "slot_matches"]

_LAYOUTS: Final = 64
"""Ways to cut one text along one phrase that are followed up: names rarely allow two."""

Layout = tuple[Sequence[Raw] | str, ...]
"""For each part of a phrase its stretch of the text: the values of a parameter slot, or the
typed text of a text slot or of literal words."""


def layouts(phrase: Phrase, text: str, lexicon: Lexicon) -> Iterator[Layout]:
    """The ways to read tidy ``text`` along ``phrase``, shorter names first."""
    dead: set[tuple[int, int]] = set()

    def walk(at: int, start: int) -> Iterator[Layout]:
        if at == len(phrase.parts):
            if start == len(text):
                yield ()
            return
        if (at, start) in dead:
            return
        fruitless = True
        for end, found in _stretches(phrase, at, text, start, lexicon):
            for rest in walk(at + 1, end):
                fruitless = False
                yield (found, *rest)
        if fruitless:
            dead.add((at, start))

    return islice(walk(0, 0), _LAYOUTS)


def _stretches(
    phrase: Phrase, at: int, text: str, start: int, lexicon: Lexicon
) -> Iterator[tuple[int, Sequence[Raw] | str]]:
    part: Part = phrase.parts[at]
    last = at == len(phrase.parts) - 1
    follows = None if last else phrase.parts[at + 1]
    behind = follows.text if isinstance(follows, Words) else None
    match part:
        case Words(text=words):
            end = _words_end(text, start, words)
            if end is not None:
                yield end, words
        case ParamSlot(param=param) if last:
            yield from lexicon.rest(phrase.binders[param], text, start)
        case ParamSlot(param=param):
            for end, values in lexicon.spans(phrase.binders[param], text, start):
                if behind is None or _words_end(text, end, behind) is not None:
                    yield end, values
        case TextSlot():
            spaced = behind is not None and behind.startswith(" ")
            for end in range(len(text) if last else start, len(text) + 1):
                if spaced and end > start and text[end - 1] == " ":
                    continue  # the space is that of the words behind: the same layout again
                if behind is None or _words_end(text, end, behind) is not None:
                    yield end, text[start:end].strip()


def _words_end(text: str, start: int, words: str) -> int | None:
    """Where literal words end. Next to a slot with an empty text two spaces of the phrase meet,
    of which tidy text keeps one; at an end of the text it keeps none."""
    if text.startswith(words, start):
        return start + len(words)
    spaced = start == 0 or text[start - 1] == " "
    if words.startswith(" ") and spaced and text.startswith(words[1:], start):
        return start + len(words) - 1
    if words.endswith(" ") and text[start:] == words[:-1]:
        return len(text)
    return None


def choices(phrase: Phrase, layout: Layout, lexicon: Lexicon) -> list[Sequence[Raw]]:
    """The values each parameter may take under a layout: named ones that are in scope.

    A parameter in two slots keeps what both name; one that is in no slot of its own has all its
    candidates in scope.
    """
    named: dict[int, Sequence[Raw]] = {}
    for part, found in zip(phrase.parts, layout, strict=True):
        if isinstance(part, ParamSlot) and not isinstance(found, str):
            before = named.get(part.param)
            named[part.param] = [v for v in found if before is None or v in before]
    return [
        [value for value in named[param] if lexicon.allowed(binder, value)]
        if param in named
        else lexicon.candidates(binder)
        for param, binder in enumerate(phrase.binders)
    ]


def slot_matches(
    phrase: Phrase, slot: TextSlot, typed: str, args: Sequence[Raw], lexicon: Lexicon
) -> bool:
    """Whether typed words are the text of a slot (an article may stand before an object)."""
    text = lexicon.slot_text(phrase.action, phrase.index, slot, args)
    if typed == text:
        return True
    return slot.names_object and typed[after_article(typed) :] == text[after_article(text) :]


def _bindings(phrase: Phrase, layout: Layout, lexicon: Lexicon) -> Iterator[tuple[Raw, ...]]:
    """The bindings of a layout, ordered by the candidates of the first parameter, then the next."""
    values = choices(phrase, layout, lexicon)
    if any(len(values[param]) != 1 for param in phrase.loose):
        return
    tests: list[list[tuple[TextSlot, str]]] = [[] for _ in range(len(values) + 1)]
    for part, found in zip(phrase.parts, layout, strict=True):
        if isinstance(part, TextSlot) and isinstance(found, str):
            # As soon as the last parameter it reads is bound.
            tests[max(part.params, default=-1) + 1].append((part, found))
    args: list[Raw] = [None] * len(values)

    def bind(param: int) -> Iterator[tuple[Raw, ...]]:
        if not all(
            slot_matches(phrase, slot, typed, args, lexicon) for slot, typed in tests[param]
        ):
            return
        if param == len(values):
            yield tuple(args)
            return
        for value in values[param]:
            args[param] = value
            yield from bind(param + 1)

    yield from bind(0)


_Sure = tuple[Command, tuple[tuple[TextSlot, str], ...]]
"""A command, and the texts that must be those of its slots for it to be meant."""


class _Cut(NamedTuple):
    """How a text is cut along a phrase. ``sure`` are the commands that it may mean, where words
    alone leave at most one value for each parameter."""

    phrase: Phrase
    layouts: Sequence[Layout]
    sure: Sequence[_Sure] | None


def _phrase_readings(cut: _Cut, lexicon: Lexicon) -> Iterator[Command]:
    phrase = cut.phrase

    def place(args: tuple[Raw, ...]) -> tuple[int, ...]:
        pairs = zip(phrase.binders, args, strict=True)
        return tuple(lexicon.rank(binder, value) for binder, value in pairs)

    if cut.sure is not None:
        meant = [command for command, tests in cut.sure if _pass(phrase, tests, command, lexicon)]
        if len(meant) > 1:
            meant.sort(key=lambda command: place(command.args))
        yield from meant
        return
    found = [_bindings(phrase, layout, lexicon) for layout in cut.layouts]
    streams = found if len(found) < 2 else [merge(*found, key=place)]
    for stream in streams:
        for args in stream:
            yield Command(phrase.action, args)


def readings(phrases: Sequence[Phrase], text: str, lexicon: Lexicon) -> Iterator[Command]:
    """Every command that tidy ``text`` may mean, in the order of language.md §11, each once.

    Phrases in written order; within one, by the candidate order of its parameters. Lazy: taking
    the first reading costs little even where a word names a hundred objects.
    """
    cuts: list[_Cut] | None = lexicon.cuts.get(text)
    if cuts is None:
        cuts = lexicon.cuts[text] = list(_cuts(phrases, text, lexicon))
    seen: set[Command] = set()
    for one in cuts:
        for command in _phrase_readings(one, lexicon):
            if not seen or command not in seen:
                yield command  # often the only one that is asked for
                seen.add(command)


def _cuts(phrases: Sequence[Phrase], text: str, lexicon: Lexicon) -> Iterator[_Cut]:
    """The phrases along which a text can be cut, and how."""
    for phrase in phrases:
        opening = phrase.parts[0]
        if isinstance(opening, Words) and not text.startswith(opening.text.rstrip()):
            continue  # most phrases are of another verb
        found = tuple(layouts(phrase, text, lexicon))
        if found:
            yield _Cut(phrase, found, _sure(phrase, found, lexicon))


def _sure(phrase: Phrase, cut: Sequence[Layout], lexicon: Lexicon) -> list[_Sure] | None:
    named = {part.param for part in phrase.parts if isinstance(part, ParamSlot)}
    if len(named) < len(phrase.binders):
        return None
    found: list[_Sure] = []
    for layout in cut:
        values = choices(phrase, layout, lexicon)
        if any(len(one) > 1 for one in values):
            return None
        pairs = zip(phrase.parts, layout, strict=True)
        tests = tuple(
            (part, typed)
            for part, typed in pairs
            if isinstance(part, TextSlot) and isinstance(typed, str)
        )
        found += [(Command(phrase.action, args), tests) for args in product(*values)]
    return found


def _pass(
    phrase: Phrase, tests: Sequence[tuple[TextSlot, str]], command: Command, lexicon: Lexicon
) -> bool:
    return all(slot_matches(phrase, slot, typed, command.args, lexicon) for slot, typed in tests)
