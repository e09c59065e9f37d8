"""``tw rules`` and ``tw graph``: a program for readers, in English and as a picture."""

from __future__ import annotations

from tokenworld.session.loading import choose_world, load_program, split_target
from tokenworld.tools.output import EXIT_OK, Output

__all__ = ["context", "rules"]


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


def context(target: str, out: Output) -> int:
    """The rules of one world as a language model is told them: actions, objects, score."""
    from tokenworld.prose.rule_context import rule_context

    path, name = split_target(target)
    program = load_program(path).program
    found = rule_context(program, choose_world(program, name, str(path)))
    texts = {"action": found.actions, "object": found.objects, "score": found.score}
    for kind, text in texts.items():
        out.line(f"# {kind} rules\n\n{text}\n")
    out.json({"schema_version": 1, **{f"{kind}_rules": text for kind, text in texts.items()}})
    return EXIT_OK
