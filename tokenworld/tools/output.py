"""What a verb prints: text or one JSON object on stdout, everything else on stderr."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Mapping
from typing import TextIO

from tokenworld.diagnostics import Diagnostic, Failure, Source, read_source, render, to_json

__all__ = [
    "EXIT_INTERNAL",
    "EXIT_INTERRUPTED",
    "EXIT_NEGATIVE",
    "EXIT_OK",
    "EXIT_UNKNOWN",
    "EXIT_USAGE",
    "Output",
    "exit_code_of",
]

EXIT_OK, EXIT_NEGATIVE, EXIT_USAGE, EXIT_UNKNOWN, EXIT_INTERNAL = 0, 1, 2, 3, 4
EXIT_INTERRUPTED = 130

_USAGE = ("TW00", "TW11", "TW0811")
"""Codes that say an input or a needed program is missing or unreadable."""


def exit_code_of(diagnostics: Iterable[Diagnostic]) -> int:
    """2 where an input is missing or unreadable, 1 where its content is at fault."""
    errors = [found for found in diagnostics if found.is_error]
    if any(found.code.startswith(_USAGE) for found in errors):
        return EXIT_USAGE
    return EXIT_NEGATIVE if errors else EXIT_OK


class Output:
    """Prints for one verb. With ``as_json`` stdout carries exactly one object."""

    def __init__(self, as_json: bool = False) -> None:
        self.as_json = as_json
        self._progress = 0

    # ---- stdout -------------------------------------------------------------------------------

    def line(self, text: str = "") -> None:
        """A line of the answer; silent with ``--json``."""
        if not self.as_json:
            _write(sys.stdout, text + "\n")

    def json(self, value: Mapping[str, object]) -> None:
        """The answer for programs; silent without ``--json``."""
        if self.as_json:
            _write(sys.stdout, json.dumps(value, ensure_ascii=False, sort_keys=True) + "\n")

    # ---- stderr -------------------------------------------------------------------------------

    def progress(self, text: str) -> None:
        """A line that shows a long work is alive."""
        _write(sys.stderr, f"· {text}\n")

    def note(self, text: str) -> None:
        """A remark beside the answer."""
        _write(sys.stderr, text + "\n")

    def diagnostics(
        self, found: Iterable[Diagnostic], sources: Iterable[Source] = (), *, to: str = "stderr"
    ) -> None:
        """Findings with their source lines; sources not given are read from disk."""
        listed = tuple(found)
        if not listed:
            return
        stream = sys.stdout if to == "stdout" else sys.stderr
        texts = {source.name: source for source in sources}
        for one in listed:
            if one.span is not None and one.span.file not in texts:
                source = _reread(one.span.file)
                if source is not None:
                    texts[one.span.file] = source
        _write(stream, render(listed, texts, colour=_colour(stream)) + "\n")

    def failure(self, failure: Failure, sources: Iterable[Source] = ()) -> int:
        """One verb's end by bad input: its diagnostics, and the exit code."""
        given = getattr(failure, "sources", tuple(sources))
        self.diagnostics(failure.diagnostics, given)
        code = exit_code_of(failure.diagnostics)
        found = [to_json(one) for one in failure.diagnostics]
        self.json({"schema_version": 1, "ok": False, "diagnostics": found})
        return code or EXIT_NEGATIVE


def _reread(name: str) -> Source | None:
    try:
        return read_source(name)
    except Failure:
        return None


def _colour(stream: TextIO) -> bool:
    return stream.isatty() and not os.environ.get("NO_COLOR")


def _write(stream: TextIO, text: str) -> None:
    """Write whatever the terminal can show; a closed pipe is no error of ours."""
    try:
        stream.write(text)
        stream.flush()
    except UnicodeEncodeError:
        encoding = stream.encoding or "ascii"
        stream.write(text.encode(encoding, "replace").decode(encoding))
        stream.flush()
    except BrokenPipeError:
        devnull = os.open(os.devnull, os.O_WRONLY)
        os.dup2(devnull, stream.fileno())
