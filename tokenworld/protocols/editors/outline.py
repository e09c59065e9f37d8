"""The outline of a text for an editor: symbols, kinds of tokens, lenses and hints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from tokenworld.check.analysis.proofs import proofs
from tokenworld.diagnostics import Span
from tokenworld.diagnostics.frozen import frozen
from tokenworld.protocols.editors.book import Snapshot
from tokenworld.protocols.editors.names import Kind
from tokenworld.syntax import nodes as syn
from tokenworld.syntax.lalr import lex
from tokenworld.syntax.tables import tables


@dataclass(frozen=True, slots=True)
class Entry:
    """A declaration in the outline, with those inside it."""

    kind: Kind | Literal["scenario"]
    name: str
    item: Span
    span: Span
    inside: list[Entry] = field(default_factory=list)


def outline(found: Snapshot) -> list[Entry]:
    """Return the declarations of a text, those of types, enums and worlds inside them."""
    file = found.source.name
    entries = [
        Entry(one.kind, one.name, one.item, one.span)
        for one in found.names.symbols
        if one.span.file == file and one.kind not in ("local", "label", "alias", "reverse")
    ]
    for item in map(_plain, found.names.trees[file].items):
        if isinstance(item, syn.ScenarioDecl):
            entries.append(Entry("scenario", item.title.value, item.span, item.title.span))
    top: list[Entry] = []
    open_: list[Entry] = []
    for entry in sorted(entries, key=lambda one: (one.span.start, -one.item.end)):
        while open_ and not _holds(open_[-1], entry):
            open_.pop()
        (open_[-1].inside if open_ else top).append(entry)
        open_.append(entry)
    return top


def _holds(outer: Entry, inner: Entry) -> bool:
    """Return whether a declaration contains another one."""
    if outer.item == inner.item:
        return outer.kind == "enum"
    return inner.item.end <= outer.item.end


def _plain(item: syn.Item) -> syn.Item:
    return item.item if isinstance(item, syn.QuirkDecl) else item


# ---- semantic tokens --------------------------------------------------------------------

TOKENS: Final = (
    "namespace", "type", "enum", "enumMember", "property", "variable", "parameter", "function",
    "method", "event", "keyword", "comment", "string", "number", "operator",
)  # fmt: skip
"""The kinds of tokens that are reported, by names of the protocol."""

_SHOWN: Final[Mapping[Kind, str]] = {
    "action": "method", "actor": "variable", "alias": "namespace", "attribute": "property",
    "believe": "method", "conserve": "property", "derive": "function", "effect": "method",
    "ending": "event", "enum": "enum", "event": "event", "function": "function",
    "invariant": "property", "label": "event", "law": "method", "local": "parameter",
    "member": "enumMember", "module": "namespace", "object": "variable", "param": "variable",
    "phase": "namespace", "relation": "function", "reverse": "property", "table": "function",
    "type": "type", "unit": "number", "watch": "method", "world": "namespace",
}  # fmt: skip
_TERMINALS: Final = {
    "STRING": "string", "NUMBER": "number", "PERCENT": "number", "QUANTITY": "number",
    "TYPE": "type", "NAME": "variable", "RAW": "variable",
}  # fmt: skip


@frozen
class Shown:
    """A range of text of one kind; ``declares`` where a name is declared."""

    start: int
    end: int
    kind: str
    declares: bool


def shown_tokens(found: Snapshot) -> list[Shown]:
    """Return the kinds of all tokens and comments, in the order of the text."""
    uses = {
        (use.span.start, use.span.end): use for use in found.names.uses.get(found.source.name, ())
    }
    result: list[Shown] = []
    for token in lex(found.source, tables())[0]:
        use = uses.get((token.start, token.end))
        if use is not None:
            result.append(Shown(token.start, token.end, _SHOWN[use.symbol.kind], use.declares))
        elif token.terminal in _TERMINALS:
            result.append(Shown(token.start, token.end, _TERMINALS[token.terminal], False))
        elif token.terminal.isalpha() and token.terminal.islower():
            result.append(Shown(token.start, token.end, "keyword", False))
    comments = found.names.trees[found.source.name].comments
    result += [Shown(one.span.start, one.span.end, "comment", False) for one in comments]
    return sorted(result, key=lambda one: one.start)


# ---- lenses and hints -------------------------------------------------------------------


@frozen
class Lens:
    """A command on a world or a scenario, shown above its first line."""

    verb: Literal["plan", "test", "play"]
    world: str
    span: Span


def lenses(found: Snapshot) -> Iterator[Lens]:
    """Yield plan, test and play for each world, and test for each scenario."""
    items = [_plain(one) for one in found.names.trees[found.source.name].items]
    tested = {one.world.value for one in items if isinstance(one, syn.ScenarioDecl)}
    for item in items:
        if isinstance(item, syn.WorldDecl):
            name = item.name.value
            yield Lens("plan", name, item.span)
            if name in tested:
                yield Lens("test", name, item.span)
            yield Lens("play", name, item.span)
        elif isinstance(item, syn.ScenarioDecl):
            yield Lens("test", item.world.value, item.span)


@frozen
class Hint:
    """A text that an editor shows at the end of a place."""

    offset: int
    text: str


def hints(found: Snapshot, plans: Mapping[str, str]) -> Iterator[Hint]:
    """Yield the planner's answer for each world, and whether each invariant is proved.

    ``plans`` are the answers by the names of the worlds.
    """
    for item in map(_plain, found.names.trees[found.source.name].items):
        if isinstance(item, syn.WorldDecl) and item.name.value in plans:
            last = item.title or item.name
            yield Hint(last.span.end, plans[item.name.value])
    program = found.checked.program
    for one in () if program is None else proofs(program):
        if one.span.file == found.source.name:
            yield Hint(one.span.end, "proved" if one.answer == "proved" else "checked at run time")
