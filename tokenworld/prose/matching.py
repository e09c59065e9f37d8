"""Matching typed words against phrases, and suggesting commands as text.

Matching does not try all bindings. First the words: a *layout* cuts the text along the literal
words of a phrase and gives every slot the values its stretch may name. Then the values are combined
and the text slots compared.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from heapq import merge
from itertools import islice, product
from typing import Final, NamedTuple, assert_never

from tokenworld.ground import Command, Raw, Speaker
from tokenworld.model import Program
from tokenworld.prose.calls import argument_text, call_text, written
from tokenworld.prose.lexicon import (
    ARTICLES,
    Lexicon,
    ParamSlot,
    Part,
    Phrase,
    TextSlot,
    Words,
    after_article,
    compiled,
    fold,
    object_type,
    tidy,
    variants,
)

_LAYOUTS: Final = 64
"""Ways to cut one text along one phrase that are followed up: names rarely allow two."""

Layout = tuple[Sequence[Raw] | str, ...]
"""For each part of a phrase its stretch of the text: the values of a parameter slot, or the
typed text of a text slot or of literal words."""


def layouts(phrase: Phrase, text: str, lexicon: Lexicon) -> Iterator[Layout]:
    """The ways to read tidy ``text`` along ``phrase``, shorter names first."""
    return islice(_cut(phrase, text, lexicon, (0, 0), set()), _LAYOUTS)


def _cut(
    phrase: Phrase, text: str, lexicon: Lexicon, place: tuple[int, int], dead: set[tuple[int, int]]
) -> Iterator[Layout]:
    """The layouts from a ``place`` on: a part of the phrase, and where its stretch begins.

    ``dead`` are the places from which there is none. (An inner function that calls itself would be
    a cycle that holds the lexicon, and with it a state, until the collector runs.)
    """
    at, start = place
    if at == len(phrase.parts):
        if start == len(text):
            yield ()
        return
    if place in dead:
        return
    fruitless = True
    for end, found in _stretches(phrase, at, text, start, lexicon):
        for rest in _cut(phrase, text, lexicon, (at + 1, end), dead):
            fruitless = False
            yield (found, *rest)
    if fruitless:
        dead.add(place)


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
                    continue  # the space is that of the words after: the same layout again
                if behind is None or _words_end(text, end, behind) is not None:
                    yield end, text[start:end].strip()
        case _:
            assert_never(part)


def _words_end(text: str, start: int, words: str) -> int | None:
    """Return the end of literal words at ``start``, or ``None`` if the text has other words.

    Next to a slot with an empty text the phrase has two spaces; normalised text has one, and none
    at its ends.
    """
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
    """Return whether typed words are the text of a slot (an article may stand before an object)."""
    texts = lexicon.slot_texts(phrase.action, phrase.index, slot, args)
    if typed in texts:
        return True
    bare = typed[after_article(typed) :]
    return slot.names_object and any(bare == text[after_article(text) :] for text in texts)


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
    yield from _bound(phrase, lexicon, values, tests, [])


def _bound(
    phrase: Phrase,
    lexicon: Lexicon,
    values: Sequence[Sequence[Raw]],
    tests: Sequence[Sequence[tuple[TextSlot, str]]],
    args: list[Raw],
) -> Iterator[tuple[Raw, ...]]:
    """The bindings that begin with ``args``, which are as before afterwards."""
    given = [*args, *[None] * (len(values) - len(args))]
    if not all(
        slot_matches(phrase, slot, typed, given, lexicon) for slot, typed in tests[len(args)]
    ):
        return
    if len(args) == len(values):
        yield tuple(args)
        return
    for value in values[len(args)]:
        args.append(value)
        yield from _bound(phrase, lexicon, values, tests, args)
        args.pop()


_Sure = tuple[Command, tuple[tuple[TextSlot, str], ...]]
"""A command, and the texts that must be those of its slots for it to be meant."""


class _Cut(NamedTuple):
    """A text cut along a phrase. ``sure`` are the commands that it may mean, where words
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
    known = lexicon.meanings.cuts
    cuts: list[_Cut] | None = known.get(text)
    if cuts is None:
        cuts = known[text] = list(_cuts(phrases, text, lexicon))
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


# ---- Commands as text: completions of typed words, and the best text of a command ----------------


_BUDGET: Final = 5000
"""Parts tried for one list of completions: keeps typing smooth in large worlds."""

_SPACES = re.compile(r" {2,}")


# ---- a command as text ------------------------------------------------------------------


def command_text(command: Command, program: Program, speaker: Speaker) -> str:
    """The text to type for a command now: ``open old chest``.

    The first phrase whose text means this command and nothing else; where names leave doubt, or
    there is no phrase, the call ``open(old_chest)``.
    """
    return command_texts((command,), program, speaker)[0]


def command_texts(
    commands: Sequence[Command],
    program: Program,
    speaker: Speaker,
    lexicon: Lexicon | None = None,
) -> tuple[str, ...]:
    """`command_text` of many commands of one state, which share the look-up of names.

    ``lexicon`` is that of the state, if the caller has one.
    """
    lexicon, phrases = lexicon or Lexicon(speaker), compiled(program)
    return tuple([spoken(command, phrases, lexicon) for command in commands])


def spoken(command: Command, phrases: Sequence[Phrase], lexicon: Lexicon) -> str:
    """The text of a command under a lexicon; see `command_text`."""
    texts = lexicon.meanings.texts
    found = texts.get(command)
    if found is None:
        found = texts[command] = _spoken(command, phrases, lexicon)
    return found


def _spoken(command: Command, phrases: Sequence[Phrase], lexicon: Lexicon) -> str:
    for phrase in phrases:
        if phrase.action == command.action:
            text = _compose(phrase, command.args, lexicon)
            if text is not None and _means(text, phrases, lexicon) == (command,):
                return text
    return call_text(command, lexicon)


def _compose(phrase: Phrase, args: Sequence[Raw], lexicon: Lexicon) -> str | None:
    """The text of a phrase; ``None`` where a slot of it depends on a secret."""
    shown = [_display(phrase, part, args, lexicon) for part in phrase.parts]
    whole = [one for one in shown if one is not None]
    return " ".join("".join(whole).split()) if len(whole) == len(shown) else None


def _display(phrase: Phrase, part: Part, args: Sequence[Raw], lexicon: Lexicon) -> str | None:
    match part:
        case Words(shown=shown):
            return shown
        case ParamSlot(param=param):
            return lexicon.shown(phrase.binders[param], args[param])
        case TextSlot(slot=slot):
            texts = lexicon.speaker.slot_texts(phrase.action, phrase.index, slot, args)
            return texts[0] if len(texts) == 1 else None
        case _:
            assert_never(part)


def _means(text: str, phrases: Sequence[Phrase], lexicon: Lexicon) -> tuple[Command, ...]:
    """The commands that the words mean, two at most."""
    for variant in variants(text):
        found = tuple(islice(readings(phrases, variant, lexicon), 2))
        if found:
            return found
    return ()


# ---- completions ------------------------------------------------------------------------


def completions(prefix: str, program: Program, speaker: Speaker, limit: int) -> tuple[str, ...]:
    """Return up to ``limit`` full commands that begin with exactly the typed text, in phrase order.

    Objects are those in scope, under any of their words; calls are offered for actions without a
    phrase and once a parenthesis is typed. Lazy and bounded, so a large world stays quick.
    """
    return complete(prefix, compiled(program), Lexicon(speaker), limit)


def complete(
    prefix: str, phrases: Sequence[Phrase], lexicon: Lexicon, limit: int
) -> tuple[str, ...]:
    """`completions` under a lexicon."""
    typed = prefix.lstrip()
    open_word = tidy(typed) + (" " if fold(typed)[-1:].isspace() else "")
    spoken_actions = {phrase.action for phrase in phrases}
    forms: list[_Form] = [_Form(phrase, lexicon, False) for phrase in phrases]
    for name in lexicon.program.actions:
        if name not in spoken_actions or "(" in typed:
            forms.append(_Form(_as_phrase(name, lexicon.program), lexicon, True))
    found = dict.fromkeys(islice(_texts(typed, open_word, forms), max(limit, 0)))
    return tuple(found)


def _texts(typed: str, open_word: str, forms: Sequence[_Form]) -> Iterator[str]:
    seen: set[str] = set()
    budget = _Budget(_BUDGET)
    for form in forms:
        for rest in form.rests(open_word, budget):
            text = typed + _SPACES.sub(" ", rest)
            if tidy(text) not in seen:
                seen.add(tidy(text))
                yield text
    if "pass".startswith(open_word) and "pass" not in seen:
        yield typed + "pass"[len(open_word) :]


def _as_phrase(name: str, program: Program) -> Phrase:
    """The call of an action as if it were a phrase: ``take(``, a slot, ``)``."""
    binders = program.actions[name].params
    parts: list[Part] = [_literal(f"{written(name)}(")]
    for number in range(len(binders)):
        parts += [_literal(", ")] if number else []
        parts.append(ParamSlot(number))
    return Phrase(name, -1, (*parts, _literal(")")), binders, ())


def _literal(text: str) -> Words:
    return Words(fold(text), text)


@dataclass(slots=True)
class _Budget:
    left: int

    def spend(self) -> bool:
        self.left -= 1
        return self.left >= 0


@dataclass(slots=True)
class _Form:
    """One phrase being completed; ``call``: objects are named by identifier."""

    phrase: Phrase
    lexicon: Lexicon
    call: bool
    args: dict[int, Raw] = field(default_factory=dict)

    def rests(self, typed: str, budget: _Budget) -> Iterator[str]:
        """The completions of ``typed`` (folded, single spaces) to a full command."""
        self.args = {}
        for param in self.phrase.loose:
            values = self.lexicon.candidates(self.phrase.binders[param])
            if len(values) != 1:
                return
            self.args[param] = values[0]
        yield from self._walk(0, typed, False, budget)

    def _walk(self, at: int, typed: str, spaced: bool, budget: _Budget) -> Iterator[str]:
        if at == len(self.phrase.parts):
            if not typed.strip():
                yield ""
            return
        for display, undo in self._displays(at, typed):
            if not budget.spend():
                return
            shown = display.lstrip() if spaced else display
            met = _meet(shown, typed)
            if met is not None:
                ends_spaced = shown.endswith(" ") or (spaced and not shown)
                for rest in self._walk(at + 1, met[1], ends_spaced, budget):
                    yield met[0] + rest
            if undo is not None:
                del self.args[undo]

    def _displays(self, at: int, typed: str) -> Iterator[tuple[str, int | None]]:
        """The texts a part may have, each with the parameter it binds (unbound afterwards)."""
        part = self.phrase.parts[at]
        match part:
            case Words(shown=shown):
                yield shown, None
            case ParamSlot(param=param):
                yield from self._values(param, typed)
            case TextSlot():
                for _ in self._bound(part.params):
                    texts = self._slot_texts(part)
                    if len(texts) == 1:
                        yield texts[0], None
            case _:
                assert_never(part)

    def _values(self, param: int, typed: str) -> Iterator[tuple[str, int | None]]:
        binder = self.phrase.binders[param]
        known = param in self.args
        for value in (self.args[param],) if known else self.lexicon.candidates(binder):
            for text in self._texts_of(param, value, typed):
                self.args[param] = value
                yield text, None if known else param

    def _texts_of(self, param: int, value: Raw, typed: str) -> tuple[str, ...]:
        binder = self.phrase.binders[param]
        if self.call:
            return (argument_text(binder, value, self.lexicon),)
        if object_type(binder) is None or not isinstance(value, int):
            return (self.lexicon.shown(binder, value),)
        words = self.lexicon.words(value)
        article = next((a for a in ARTICLES if typed.startswith(a + " ")), None)
        named = words if typed else words[:1]
        return (*named, *(f"{article} {word}" for word in named if article))

    def _bound(self, params: Sequence[int]) -> Iterator[None]:
        """Every way to bind the parameters a text slot reads before they are typed."""
        free = [param for param in params if param not in self.args]
        if not free:
            yield None
            return
        for value in self.lexicon.candidates(self.phrase.binders[free[0]]):
            self.args[free[0]] = value
            yield from self._bound(params)
        self.args.pop(free[0], None)

    def _slot_texts(self, part: TextSlot) -> tuple[str, ...]:
        args = [self.args.get(param) for param in range(len(self.phrase.binders))]
        speaker = self.lexicon.speaker
        return speaker.slot_texts(self.phrase.action, self.phrase.index, part.slot, args)


def _meet(display: str, typed: str) -> tuple[str, str] | None:
    """The text that ``display`` adds to ``typed``, and the rest of ``typed``; ``None``: no fit."""
    folded = fold(display)
    if typed.startswith(folded):
        return "", typed[len(folded) :]
    if not folded.startswith(typed):
        return None
    for cut in range(len(display) + 1):
        if fold(display[:cut]) == typed:
            return display[cut:], ""
    return None
