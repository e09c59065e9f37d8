"""The modules that come with the language: which of them declares a name that is unknown.

A file without its `use` line has unknown names everywhere; they are told as that one mistake.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
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
class _Shelf:
    """The names that a module brings, with those of the modules it uses, and all of its words."""

    module: str
    declared: frozenset[str]
    words: frozenset[str]


@lru_cache(maxsize=2 * len(STANDARD))
def _shelf(module: str, text: str) -> _Shelf:
    """A module by its text with those that it uses: read once, as an editor asks at every key."""
    return _Shelf(module, frozenset(_ITEM.findall(text)), frozenset(_WORD.findall(text)))


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
        hint = f"Write `use {shelf.module}`; or d{(unknown[only].hint or '')[1:]}"
        missed = [id(one) for one in found if _is_unknown(one) and _name(one, draft) == only]
        return tuple(replace(one, hint=hint) if id(one) in missed else one for one in found)
    first, listed = unknown[names[0]], ", ".join(f"`{one}`" for one in names[:4])
    told = replace(first, hint=f"Write `use {shelf.module}`: it declares {listed}.")
    return tuple(
        told if one is first else one
        for one in found
        if one is first or not (one.code in _UNKNOWN and _name(one, draft) in shelf.words)
    )


def _is_unknown(found: Diagnostic) -> bool:
    """Return whether a finding says that a name is unknown to which none is similar."""
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
            yield _shelf(module, "\n".join(_with_used(module, texts, set())))


def _with_used(module: str, texts: dict[str, Source | None], seen: set[str]) -> Iterator[str]:
    """The text of a module, and those of the modules it uses."""
    source = texts.get(module)
    if source is None or module in seen:
        return
    seen.add(module)
    yield source.text
    for used in _USE.findall(source.text):
        beside = f"{module.rpartition('.')[0]}.{used}"
        yield from _with_used(used if used in texts else beside, texts, seen)
