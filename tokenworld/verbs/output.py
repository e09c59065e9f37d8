"""The output of verbs: text or one JSON object on stdout, everything else on stderr.

Worlds, runs and file names are foreign texts: characters in them that a reader cannot see (controls
that steer a terminal, marks that turn the direction of text) are printed as a sign, in JSON as an
escape. A `Line` is text in roles, without colours; `Glyphs` are the signs in Unicode or in ASCII.
At the end: which `.tw` files are meant, and writing files all or nothing.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from types import FrameType
from typing import Literal, TextIO

from tokenworld.diagnostics import (
    Diagnostic,
    Failure,
    Source,
    escaped,
    limit_reached,
    read_source,
    render,
    to_json,
    visible,
)
from tokenworld.ground import Status
from tokenworld.limits import Halted, halted, limited, spoke


@dataclass(frozen=True, slots=True)
class Glyphs:
    """One sign per meaning; every sign stands beside a word, never alone for it."""

    executed: str = "✓"
    refused: str = "✗"
    rolled_back: str = "↺"
    no_match: str = "?"
    yielded: str = "⇢"
    waiting: str = "…"
    interrupted: str = "~"
    error: str = "!"
    halted: str = "■"
    unevaluated: str = "–"
    won: str = "★"
    lost: str = "†"
    becomes: str = "→"
    dot: str = "·"
    hint: str = "»"
    undone: str = "↶"
    redone: str = "↷"
    changed: str = "●"
    done: str = "▰"
    left: str = "▱"
    sparks: str = "▁▂▃▄▅▆▇█"

    def of(self, status: Status) -> str:
        """The sign of a status."""
        return str(getattr(self, status))

    def holds(self, value: bool | None) -> str:
        """The sign of a require: holds, fails, or not evaluated."""
        if value is None:
            return self.unevaluated
        return self.executed if value else self.refused


UNICODE = Glyphs()
ASCII = Glyphs(
    executed="+",
    refused="x",
    rolled_back="<",
    yielded=">",
    waiting="&",
    halted="#",
    unevaluated="-",
    won="*",
    lost="X",
    becomes="->",
    dot="|",
    hint=">>",
    undone="<<",
    redone=">>",
    changed="*",
    done="=",
    left=".",
    sparks="_.-~=+*#",
)


def fitting_glyphs() -> Glyphs:
    """The signs that standard output can show; ``TW_ASCII=1`` asks for the plain ones."""
    if os.environ.get("TW_ASCII", "0") not in ("", "0"):
        return ASCII
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    every = "".join(getattr(UNICODE, field.name) for field in fields(Glyphs))
    try:
        every.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return ASCII
    return UNICODE


Role = Literal["plain", "head", "dim", "good", "bad", "warn", "typed", "link"]
"""The meaning of a piece of text; each surface gives it a style."""

Piece = tuple[str, Role]
Line = tuple[Piece, ...]


def line(text: str, role: Role = "plain") -> Line:
    """A line in one role."""
    return ((text, role),)


def plain_text(lines: Iterable[Line]) -> str:
    """The lines without roles, as a reader without colours has them."""
    return "\n".join("".join(text for text, _ in one) for one in lines)


EXIT_OK, EXIT_NEGATIVE, EXIT_USAGE, EXIT_UNKNOWN, EXIT_INTERNAL = 0, 1, 2, 3, 4
EXIT_INTERRUPTED = 130

_USAGE = ("TW00", "TW11", "TW13", "TW0811", "TW1211")
"""Codes that say an input or a needed program is missing or unreadable."""


def exit_code_of(diagnostics: Iterable[Diagnostic]) -> int:
    """2 where an input is missing or unreadable, 3 at a limit, 1 where the content is at fault."""
    errors = [found for found in diagnostics if found.is_error]
    if any(found.code.startswith(_USAGE) for found in errors):
        return EXIT_USAGE
    if errors and all(found.code == "TW0813" for found in errors):
        return EXIT_UNKNOWN
    return EXIT_NEGATIVE if errors else EXIT_OK


class Output:
    """Prints for one verb. With ``as_json`` stdout carries exactly one object."""

    def __init__(self, as_json: bool = False) -> None:
        self.as_json = as_json

    # ---- stdout -------------------------------------------------------------------------------

    def line(self, text: str = "") -> None:
        """A line of the answer; silent with ``--json``."""
        if not self.as_json:
            _write(sys.stdout, visible(text) + "\n")

    def entry(self, text: str) -> None:
        """A line that texts of others stand in: none of them begins a line of its own."""
        self.line(text.replace("\n", "\N{SYMBOL FOR LINE FEED}"))

    def data(self, text: str) -> None:
        """An answer that another program reads, such as a grammar: exact, but on a terminal."""
        if not self.as_json:
            _write(sys.stdout, (visible(text) if sys.stdout.isatty() else text) + "\n")

    def json(self, value: Mapping[str, object]) -> None:
        """The answer for programs; silent without ``--json``."""
        if self.as_json:
            text = json.dumps(value, ensure_ascii=False, sort_keys=True)
            _write(sys.stdout, escaped(text) + "\n")

    # ---- stderr -------------------------------------------------------------------------------

    def progress(self, text: str) -> None:
        """A line that shows a long work is alive."""
        spoke()
        _write(sys.stderr, f"· {visible(text)}\n")

    def each_second(self) -> Callable[[str], None]:
        """Tells progress once a second, from the second second on."""
        told = time.monotonic()

        def say(text: str) -> None:
            nonlocal told
            if time.monotonic() - told >= 1:
                told = time.monotonic()
                self.progress(text)

        return say

    def note(self, text: str) -> None:
        """A remark beside the answer."""
        _write(sys.stderr, visible(text) + "\n")

    def diagnostics(
        self, found: Iterable[Diagnostic], sources: Iterable[Source] = (), *, to: str = "stderr"
    ) -> None:
        """Print findings with their source lines."""
        stream = sys.stdout if to == "stdout" else sys.stderr
        if text := rendered(found, sources, colour=_colour(stream)):
            _write(stream, text + "\n")

    def failure(self, failure: Failure) -> int:
        """End a verb by bad input: its diagnostics, and the exit code."""
        self.diagnostics(failure.diagnostics, getattr(failure, "sources", ()))
        code = exit_code_of(failure.diagnostics)
        found = [to_json(one) for one in failure.diagnostics]
        self.json({"schema_version": 1, "ok": False, "diagnostics": found})
        return code or EXIT_NEGATIVE

    def halted(self, halted: Halted) -> int:
        """One verb's end by a limit, where there is nothing else to tell."""
        note = limit_reached(halted.why, halted.phase)
        self.diagnostics((note,))
        found = [to_json(note)]
        self.json({"schema_version": 1, "ok": False, "answer": "unknown", "diagnostics": found})
        return EXIT_UNKNOWN


def ended(
    out: Output,
    work: Callable[[Output], int],
    seconds: float | None,
    megabytes: int | None,
    began: float,
) -> int:
    """Run one verb and return its exit code: bad input becomes its diagnostics, an interruption
    130.

    ``seconds``, counted from ``began``, and ``megabytes`` limit the verb at every stage
    (TW0813).
    """
    try:
        with limited(seconds, None if megabytes is None else megabytes << 20, began):
            return work(out)
    except Failure as failure:
        return out.failure(failure)
    except Halted as halted:
        return out.halted(halted)
    except MemoryError:
        return out.halted(Halted("memory", ""))
    except KeyboardInterrupt:
        out.note("interrupted")
        out.json({"schema_version": 1, "ok": False, "interrupted": True})
        return EXIT_INTERRUPTED


def limit_notes() -> tuple[Diagnostic, ...]:
    """The note that a limit of the command was hit; empty where none was."""
    halt = halted()
    return () if halt is None else (limit_reached(halt.why, halt.phase),)


def rendered(found: Iterable[Diagnostic], sources: Iterable[Source], *, colour: bool) -> str:
    """Return findings with source lines; sources not given are read from disk. Empty if there
    are none."""
    listed = tuple(found)
    texts = {source.name: source for source in sources}
    for one in listed:
        if one.span is not None and one.span.file not in texts:
            source = _reread(one.span.file)
            if source is not None:
                texts[one.span.file] = source
    return render(listed, texts, colour=colour) if listed else ""


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


@contextmanager
def unbroken() -> Iterator[None]:
    """Hold back the first Ctrl-C until the block has ended; the second one breaks it at once.

    Raises:
        KeyboardInterrupt: at the end of the block where one came, or inside it at the second.

    """
    usual = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(usual):
        yield  # signals reach the main thread only; one that is ignored stays ignored
        return
    held = 0

    def hold(number: int, frame: FrameType | None) -> None:
        nonlocal held
        held += 1
        if held > 1:
            usual(number, frame)

    signal.signal(signal.SIGINT, hold)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)
    if held:
        raise KeyboardInterrupt


# ---- files ---------------------------------------------------------------------------------------


_FOLDERS = ("rules", "domains")


def tw_files(paths: tuple[str, ...]) -> list[Path]:
    """The ``.tw`` files of files and folders, sorted within a folder; `rules` and `domains` where
    no path is given. Raises `Failure` (TW0001) where there is none; whether a named file exists is
    for its reader to find."""
    found: list[Path] = []
    for name in paths or _FOLDERS:
        path = Path(name)
        if path.is_dir():
            found += sorted(path.rglob("*.tw"))
        elif path.exists() or paths:
            found.append(path)
    if not found:
        where = ", ".join(f"`{name}`" for name in paths or _FOLDERS)
        message = f"There is no `.tw` file in {where}."
        raise Failure(Diagnostic("TW0001", message, hint="Name a file or a folder that has one."))
    return found


def columns(rows: Sequence[Sequence[str]], left: Container[int] = ()) -> Iterator[str]:
    """The rows of a table as lines: the columns of ``left`` begin, the others end at one place."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = enumerate(zip(row, widths, strict=True))
        shown = (one.ljust(wide) if at in left else one.rjust(wide) for at, (one, wide) in cells)
        yield "  ".join(shown).rstrip()


def keep_files(files: Iterable[Path | None], write: bool, hint: str) -> None:
    """Raise `Failure` (TW0001) with ``hint`` as the next step where a file is there already that
    is to be written; with ``write``, files may be replaced."""
    for file in files:
        if file is not None and file.exists() and not write:
            raise Failure(Diagnostic("TW0001", f"`{file}` is already there.", hint=hint))


def write_file(path: Path, data: str | bytes, hint: str, *, folder: Path | None = None) -> None:
    """Write a text (UTF-8) or bytes, whole or not at all; make ``folder`` where it is missing.

    Raises `Failure` (TW0001) with ``hint`` as the next step.
    """
    part = path.with_name(f".{path.name}.part")
    try:
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
        try:
            part.write_bytes(data.encode() if isinstance(data, str) else data)
            part.replace(path)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
    except OSError as error:
        message = f"`{path}` cannot be written: {error.strerror or error}."
        raise Failure(Diagnostic("TW0001", message, hint=hint)) from None


def replace_bytes(path: Path, data: bytes) -> None:
    """Put new bytes in place of a file's at once; its mode stays, and so do links to it.

    Raises `OSError`, and then leaves the file as it was.
    """
    real = path.resolve()
    mode = real.stat().st_mode
    handle, name = tempfile.mkstemp(dir=real.parent, prefix=f".{real.name[:40]}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, mode & 0o7777)
        os.replace(name, real)
    except BaseException:
        os.unlink(name)
        raise
