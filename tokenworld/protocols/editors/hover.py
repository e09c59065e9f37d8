"""The text that an editor shows beside a place: the finding there, the declaration, its English."""

from __future__ import annotations

from collections.abc import Iterator

from tokenworld import model as m
from tokenworld.assets import MissingAssetsError, error_page
from tokenworld.diagnostics import Diagnostic, Span, visible
from tokenworld.prose.rulebook import Entry, rule_entry, rulebook
from tokenworld.protocols.editors.book import Snapshot
from tokenworld.protocols.editors.names import Symbol

_LINES = 12
"""The number of lines of a declaration that are shown."""


def hover(found: Snapshot, offset: int) -> tuple[str, Span | None] | None:
    """Return the Markdown for an offset and the span that it describes; `None` if there is none."""
    use = found.at(offset)
    told = [one for one in found.checked.diagnostics if _covers(one.span, found, offset)]
    parts = [_explained(one) for one in told]
    if use is not None and use.symbol.kind != "module":
        parts += _declared(found, use.symbol)
    span = use.span if use is not None else told[0].span if told else None
    return (visible("\n\n".join(parts)), span) if parts else None


def _covers(span: Span | None, found: Snapshot, offset: int) -> bool:
    return span is not None and span.file == found.source.name and span.start <= offset <= span.end


def _explained(one: Diagnostic) -> str:
    """Return the finding, and the first paragraph of the page of its code."""
    try:
        title, _, page = error_page(one.code).read_text(encoding="utf-8").partition("\n\n")
    except (MissingAssetsError, OSError):
        return f"**{one.code}** {one.message}"
    first = page.partition("\n\n")[0]
    said = "\n".join((one.message, *(f"\n{note}" for note in (*one.notes, one.hint) if note)))
    return f"**{title.lstrip('# ')}**\n\n{said}\n\n{first}"


def _declared(found: Snapshot, symbol: Symbol) -> Iterator[str]:
    """Yield the lines of a declaration with its doc comment, and its text in English."""
    source = found.source_named(symbol.span.file)
    lines = source.text[symbol.item.start : symbol.item.end].replace("\r\n", "\n").split("\n")
    shown = lines[:_LINES] + ["…"] * (len(lines) > _LINES)
    yield "```tw\n" + "\n".join((*_docs(source.text, symbol.item.start), *shown)) + "\n```"
    if found.checked.program is not None:
        told = _english(found.checked.program, symbol)
        if told is not None:
            yield "\n".join(f"{'  ' * depth}- {text}" for depth, text in told.lines)


def _docs(text: str, start: int) -> list[str]:
    """Return the `##` lines right above a declaration."""
    above = text[:start].split("\n")[:-1]
    found: list[str] = []
    while above and above[-1].lstrip().startswith("##"):
        found.insert(0, above.pop().strip())
    return found


def _english(program: m.Program, symbol: Symbol) -> Entry | None:
    """Return the entry of the rulebook about a declaration."""
    rules = program.actions if symbol.kind == "action" else program.laws
    rule = next((one for one in rules.values() if one.span == symbol.item), None)
    if rule is not None and symbol.kind in ("action", "law"):
        return rule_entry(program, rule)
    place = str(symbol.item)
    entries = (one for section in rulebook(program).sections for one in section.entries)
    return next((one for one in entries if one.place == place), None)
