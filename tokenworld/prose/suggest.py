"""Commands as text: what typed words can become, and how a command is best typed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from tokenworld.ground import Command, Raw, Speaker
from tokenworld.model import Program
from tokenworld.prose.calls import argument_text, call_text, written
from tokenworld.prose.lexicon import Lexicon, object_type
from tokenworld.prose.matching import readings
from tokenworld.prose.phrases import ParamSlot, Part, Phrase, TextSlot, Words, compiled
from tokenworld.prose.tokens import ARTICLES, fold, tidy, variants

__all__ = ["command_text", "command_texts", "completions", "complete"]

_BUDGET: Final = 5000
"""Parts tried for one list of completions: keeps typing smooth in large worlds."""

_SPACES = re.compile(r" {2,}")


# ---- a command as text ------------------------------------------------------------------


def command_text(command: Command, program: Program, speaker: Speaker) -> str:
    """How to type a command now: ``open old chest``.

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

    ``lexicon`` is that of the state, where somebody has one already.
    """
    lexicon = lexicon or Lexicon(speaker)
    return tuple(spoken(command, compiled(program), lexicon) for command in commands)


def spoken(command: Command, phrases: Sequence[Phrase], lexicon: Lexicon) -> str:
    """The text of a command under a lexicon; see `command_text`."""
    for phrase in phrases:
        if phrase.action == command.action:
            text = _compose(phrase, command.args, lexicon)
            if _means(text, phrases, lexicon) == (command,):
                return text
    return call_text(command, lexicon)


def _compose(phrase: Phrase, args: Sequence[Raw], lexicon: Lexicon) -> str:
    shown = (_display(phrase, part, args, lexicon) for part in phrase.parts)
    return " ".join("".join(shown).split())


def _display(phrase: Phrase, part: Part, args: Sequence[Raw], lexicon: Lexicon) -> str:
    match part:
        case Words(shown=shown):
            return shown
        case ParamSlot(param=param):
            return lexicon.shown(phrase.binders[param], args[param])
        case TextSlot(slot=slot):
            return lexicon.speaker.slot_text(phrase.action, phrase.index, slot, args)


def _means(text: str, phrases: Sequence[Phrase], lexicon: Lexicon) -> tuple[Command, ...]:
    """What the words mean, two readings at most."""
    for variant in variants(text):
        found = tuple(islice(readings(phrases, variant, lexicon), 2))
        if found:
            return found
    return ()


# ---- completions ------------------------------------------------------------------------


def completions(prefix: str, program: Program, speaker: Speaker, limit: int) -> tuple[str, ...]:
    """Up to ``limit`` full commands that begin with exactly what is typed, in phrase order.

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
        """What to add to ``typed`` (folded, single spaces) to make it a full command."""
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
                    yield self._slot_text(part), None

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

    def _slot_text(self, part: TextSlot) -> str:
        args = [self.args.get(param) for param in range(len(self.phrase.binders))]
        speaker = self.lexicon.speaker
        return speaker.slot_text(self.phrase.action, self.phrase.index, part.slot, args)


def _meet(display: str, typed: str) -> tuple[str, str] | None:
    """What ``display`` adds to ``typed`` and what of ``typed`` it leaves; ``None``: no fit."""
    folded = fold(display)
    if typed.startswith(folded):
        return "", typed[len(folded) :]
    if not folded.startswith(typed):
        return None
    for cut in range(len(display) + 1):
        if fold(display[:cut]) == typed:
            return display[cut:], ""
    return None
