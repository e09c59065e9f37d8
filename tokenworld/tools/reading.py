"""``tw rules`` and ``tw graph``: a program for readers, in English and as a picture."""

from __future__ import annotations

from tokenworld.session.loading import load_program, split_target
from tokenworld.tools.output import EXIT_OK, Output

__all__ = ["rules"]


def rules(file: str, out: Output) -> int:
    """The rulebook of a file: Markdown, or its sections as JSON."""
    from tokenworld.prose.rulebook import rulebook

    book = rulebook(load_program(split_target(file)[0]).program)
    out.line(book.to_markdown())
    sections = [
        {
            "title": section.title,
            "entries": [
                {
                    "name": entry.name,
                    "doc": entry.doc,
                    "lines": [{"depth": depth, "text": text} for depth, text in entry.lines],
                    "place": entry.place,
                }
                for entry in section.entries
            ],
        }
        for section in book.sections
    ]
    out.json({"schema_version": 1, "title": book.title, "sections": sections})
    return EXIT_OK
