"""The phrases of a program, compiled once: literal words, parameter slots, text slots."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from tokenworld.diagnostics.frozen import frozen
from tokenworld.model import (
    Action,
    Binder,
    Local,
    ObjectType,
    Program,
    Slot,
    Template,
    TextPart,
    subterms,
)
from tokenworld.prose.tokens import fold

__all__ = ["ParamSlot", "Part", "Phrase", "TextSlot", "Words", "compiled"]

_SPACES = re.compile(r"\s+")


@frozen
class Words:
    """Literal words: ``text`` folded with single spaces, ``shown`` as the author wrote them."""

    text: str
    shown: str


@frozen
class ParamSlot:
    """A bare parameter: its position among the action's parameters."""

    param: int


@frozen
class TextSlot:
    """Any other slot: it must match the text its expression has for the bound arguments.

    ``slot`` counts the slots of the phrase from 0, bare ones included (`Speaker.slot_text`);
    ``params`` are the parameters it reads; ``names_object``: an article may stand before it.
    """

    slot: int
    params: tuple[int, ...]
    names_object: bool


Part = Words | ParamSlot | TextSlot


@frozen
class Phrase:
    """One phrase of an action; ``index`` is its position among the action's phrases.

    ``loose`` are the parameters that occur in no slot: they must be determined by the state.
    """

    action: str
    index: int
    parts: tuple[Part, ...]
    binders: tuple[Binder, ...]
    loose: tuple[int, ...]

    @property
    def verb(self) -> str:
        """The first literal word, ``""`` where the phrase begins with a slot."""
        first = self.parts[0]
        return first.text.split(" ", 1)[0] if isinstance(first, Words) else ""

    @property
    def shape(self) -> str:
        """The phrase for a player: ``unlock … with …``."""
        shown = (part.shown if isinstance(part, Words) else "…" for part in self.parts)
        return "".join(shown).strip()


class _Same:
    """A program as a cache key: compared by identity, since it holds mappings."""

    __slots__ = ("program",)

    def __init__(self, program: Program) -> None:
        self.program = program

    def __hash__(self) -> int:
        return id(self.program)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.program is self.program


def compiled(program: Program) -> tuple[Phrase, ...]:
    """All phrases: actions in order of declaration, the phrases of each in written order."""
    return _compiled(_Same(program))


@lru_cache(maxsize=8)
def _compiled(key: _Same) -> tuple[Phrase, ...]:
    return tuple(
        phrase
        for action in key.program.actions.values()
        for index, template in enumerate(action.phrases)
        if (phrase := _phrase(action, index, template)).parts
    )


def _phrase(action: Action, index: int, template: Template) -> Phrase:
    positions = {binder.name: number for number, binder in enumerate(action.params)}
    parts = tuple(_trimmed(_parts(template, positions)))
    used = {
        param
        for part in parts
        if not isinstance(part, Words)
        for param in ((part.param,) if isinstance(part, ParamSlot) else part.params)
    }
    loose = tuple(number for number in range(len(action.params)) if number not in used)
    return Phrase(action.name, index, parts, action.params, loose)


def _parts(template: Template, positions: dict[str, int]) -> Iterator[Part]:
    slot = 0
    for part in template.parts:
        if isinstance(part, TextPart):
            yield _words(part.text)
        else:
            yield _slot(part, slot, positions)
            slot += 1


def _words(text: str) -> Words:
    return Words(_SPACES.sub(" ", fold(text)), _SPACES.sub(" ", text))


def _slot(part: Slot, slot: int, positions: dict[str, int]) -> Part:
    term = part.term
    if isinstance(term, Local) and term.name in positions and not part.listing:
        return ParamSlot(positions[term.name])
    names = (inner.name for inner in subterms(term) if isinstance(inner, Local))
    params = sorted({positions[name] for name in names if name in positions})
    return TextSlot(slot, tuple(params), isinstance(term.type, ObjectType) and not part.listing)


def _trimmed(parts: Iterator[Part]) -> list[Part]:
    """Neighbouring words joined, ends trimmed, the final full stop dropped."""
    joined: list[Part] = []
    for part in parts:
        last = joined[-1] if joined else None
        if isinstance(part, Words) and isinstance(last, Words):
            joined[-1] = _words(last.shown + part.shown)
        else:
            joined.append(part)
    if joined and isinstance(joined[0], Words):
        joined[0] = _words(joined[0].shown.lstrip())
    if joined and isinstance(joined[-1], Words):
        joined[-1] = _words(joined[-1].shown.rstrip().removesuffix(".").rstrip())
    return [part for part in joined if not isinstance(part, Words) or part.text]
