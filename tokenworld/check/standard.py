"""The modules that come with the language: which of them declares a name that is unknown.

A file without its `use` line has unknown names everywhere; they are told as that one mistake.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache, partial
from typing import Final

from tokenworld.check.draft import Draft
from tokenworld.check.modules import STANDARD, Loader
from tokenworld.diagnostics import Diagnostic, Source, in_order
from tokenworld.diagnostics.frozen import frozen

_ITEM: Final = re.compile(
    r"^(?:static |secret )*(?:type|enum|relation|function|table|derive|scratch|param|event|phase"
    r"|action|law|effect)\s+([A-Za-z]\w*)",
    re.MULTILINE,
)
_USE: Final = re.compile(r"^use ([\w.]+)", re.MULTILINE)
_WORD: Final = re.compile(r"[A-Za-z]\w*")
_UNKNOWN: Final = ("TW0201", "TW0202", "TW0204", "TW0502", "TW0702")


@frozen
class _Module:
    """The names that the text of a module declares, the modules that it uses, all of its words."""

    declared: frozenset[str]
    used: tuple[str, ...]
    words: frozenset[str]


@lru_cache(maxsize=2 * len(STANDARD))
def _module(text: str) -> _Module:
    """A module, read once for each text: an editor asks at every key."""
    declared, words = (frozenset(one.findall(text)) for one in (_ITEM, _WORD))
    return _Module(declared, tuple(_USE.findall(text)), words)


@frozen
class _Shelf:
    """A module with all those that it uses, and the names that they declare."""

    module: str
    read: tuple[_Module, ...]
    declared: frozenset[str]

    @property
    def words(self) -> frozenset[str]:
        return frozenset[str]().union(*(one.words for one in self.read))


def with_modules(
    found: tuple[Diagnostic, ...], draft: Draft, loader: Loader
) -> tuple[Diagnostic, ...]:
    """The findings, where unknown names that a module declares name that module.

    Two or more names of one module are one error; a single one may as well be the author's own.
    """
    unknown = {_name(one, draft): one for one in in_order(found) if _is_unknown(one)}
    if not unknown or draft.root is None:
        return found
    shelf = max(_shelves(draft, draft.root, loader), key=partial(_worth, unknown), default=None)
    names = [] if shelf is None else [one for one in unknown if one in shelf.declared]
    if shelf is None or not names:
        return found
    if len(names) == 1:
        (only,) = names
        if not (unknown[only].hint or "").startswith("Declare"):
            return found
        hint = f"{(unknown[only].hint or '').rstrip('.')}, or write `use {shelf.module}`."
        return tuple(replace(one, hint=hint) if one is unknown[only] else one for one in found)
    first, listed = unknown[names[0]], ", ".join(f"`{one}`" for one in names[:4])
    told = replace(first, hint=f"Write `use {shelf.module}`: it declares {listed}.")
    words = shelf.words
    return tuple(
        told if one is first else one
        for one in found
        if one is first or not (one.code in _UNKNOWN and _name(one, draft) in words)
    )


def _is_unknown(found: Diagnostic) -> bool:
    """Whether a finding says that a name is unknown to which none is similar."""
    told = found.code in _UNKNOWN and (found.label or "").startswith("unknown")
    return told and not (found.hint or "").startswith("Did you") and " has no " not in found.message


def _name(found: Diagnostic, draft: Draft) -> str:
    return "" if found.span is None else draft.text(found.span).strip("`")


def _worth(unknown: dict[str, Diagnostic], shelf: _Shelf) -> tuple[int, int]:
    """More of the names, and then fewer others."""
    return len(shelf.declared & unknown.keys()), -len(shelf.declared)


def _shelves(draft: Draft, root: Source, loader: Loader) -> Iterator[_Shelf]:
    """Every packaged module that the program does not use yet."""
    texts = {one: loader(tuple(one.split(".")), root) for one in STANDARD}
    for module, source in texts.items():
        if source is not None and source.name not in draft.sources:
            read = tuple(_with_used(module, texts, set()))
            declared = frozenset[str]().union(*(one.declared for one in read))
            yield _Shelf(module, read, declared)


def _with_used(
    module: str, texts: Mapping[str, Source | None], seen: set[str]
) -> Iterator[_Module]:
    """A module, and the modules it uses."""
    source = texts.get(module)
    if source is None or module in seen:
        return
    seen.add(module)
    found = _module(source.text)
    yield found
    for used in found.used:
        beside = f"{module.rpartition('.')[0]}.{used}"
        yield from _with_used(used if used in texts else beside, texts, seen)
