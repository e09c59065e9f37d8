"""One source text: its name, its lines, and how it is read from disk."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path

from tokenworld.assets import MissingAssetsError, domains_folder
from tokenworld.diagnostics.diagnostic import Diagnostic, Failure
from tokenworld.diagnostics.span import Span
from tokenworld.diagnostics.suggest import closest, did_you_mean

BYTE_ORDER_MARK = "\ufeff"


@dataclass(frozen=True, slots=True)
class Source:
    """A text with the name shown to people and, if it has one, its place on disk.

    Only `\\n` ends a line; a `\\r` before it belongs to the line and is white space.
    """

    name: str
    path: Path | None
    text: str
    _starts: tuple[int, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        lengths = [len(line) + 1 for line in self.text.split("\n")]
        lengths[-1] = 0  # after the last line nothing begins
        object.__setattr__(self, "_starts", tuple(accumulate(lengths, initial=0))[:-1])

    @property
    def line_count(self) -> int:
        """The number of lines; a text that ends in a newline has an empty last line."""
        return len(self._starts)

    def line_and_column(self, offset: int) -> tuple[int, int]:
        """Line and column, both from 1, of a character offset (clipped to the text)."""
        offset = min(max(offset, 0), len(self.text))
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    def line_text(self, line: int) -> str:
        """The text of a line without its end; empty for a line that does not exist."""
        if not 1 <= line <= len(self._starts):
            return ""
        end = self._starts[line] if line < len(self._starts) else len(self.text)
        return self.text[self._starts[line - 1] : end].rstrip("\r\n")

    def span(self, start: int, end: int) -> Span:
        """The span of the characters `start:end` of this text."""
        starts = self._starts
        if 0 <= start <= end <= len(self.text):
            line = bisect_right(starts, start)
            first = starts[line - 1]
            if line == len(starts) or end < starts[line]:
                # Most spans lie on one line: that spares looking for the second one.
                return Span(self.name, start, end, line, start - first + 1, line, end - first + 1)
        line, column = self.line_and_column(start)
        end_line, end_column = self.line_and_column(end)
        return Span(self.name, start, end, line, column, end_line, end_column)


@dataclass(frozen=True, slots=True)
class Reach:
    """The files that may be read: those in these resolved folders (``None``: all), and ``texts`` by
    resolved path, which replace files on disk.
    """

    folders: tuple[Path, ...] | None
    texts: Mapping[Path, str] = field(default_factory=dict)

    def within(self, path: Path) -> bool:
        """Return whether a path, with all links followed, leads into one of the folders."""
        if self.folders is None:
            return True
        real = path.resolve()
        return real in self.texts or any(real.is_relative_to(one) for one in self.folders)


_reach: ContextVar[Reach | None] = ContextVar("reach", default=None)


@contextmanager
def reaching(reach: Reach) -> Iterator[None]:
    """Read sources in this block through ``reach``; for programs that serve agents or editors."""
    token = _reach.set(reach)
    try:
        yield
    finally:
        _reach.reset(token)


def require_reach(path: Path, shown: str) -> str | None:
    """Return the text given in place of a file, if there is one.

    Raises `Failure` (TW0001) for a file that may not be read.
    """
    reach = _reach.get()
    if reach is None:
        return None
    if not reach.within(path):
        hint = "Name a file below the folder that is served."
        raise Failure(Diagnostic("TW0001", f"`{shown}` is outside of what may be read.", hint=hint))
    return reach.texts.get(path.resolve())


def is_source(path: Path) -> bool:
    """Return whether there is a file or a text for a name; false for names that file systems
    refuse."""
    reach = _reach.get()
    try:
        return (reach is not None and path.resolve() in reach.texts) or path.is_file()
    except (OSError, ValueError):
        return False


def read_source(path: str | os.PathLike[str], name: str | None = None) -> Source:
    """Read a UTF-8 file; `name` is what people see (by default the path as given).

    Raises `Failure` with TW0001 if there is no readable file and TW0003 if it is not text.
    A text without items is no failure here: the parser reports it as TW0004.
    """
    shown = name if name is not None else os.fspath(path)
    given = require_reach(Path(path), shown)
    if given is not None:
        return Source(shown, Path(path), given.removeprefix(BYTE_ORDER_MARK))
    text = _decode(_read_bytes(Path(path), shown), shown)
    return Source(shown, Path(path), text.removeprefix(BYTE_ORDER_MARK))


def decode_source(data: bytes, name: str) -> Source:
    """The source of bytes at hand, such as those of a pipe; raises `Failure` with TW0003."""
    return Source(name, None, _decode(data, name).removeprefix(BYTE_ORDER_MARK))


def _read_bytes(path: Path, shown: str) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        message, hint = f"There is no file `{shown}`.", _near(path, shown)
    except IsADirectoryError:
        message = f"`{shown}` is a folder, not a file."
        hint = f"Name a `.tw` file in it, such as `{Path(shown) / 'world.tw'}`."
    except PermissionError:
        message, hint = f"`{shown}` may not be read.", "Change the permissions of the file."
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        message, hint = f"`{shown}` cannot be read: {reason}.", "Name a readable `.tw` file."
    raise Failure(Diagnostic("TW0001", message, hint=hint))


def _near(path: Path, shown: str) -> str:
    """The hint for a missing file: one of a similar name or in a similar folder, or a bundled
    world."""
    missing, rest = path, list[str]()
    try:
        while not missing.parent.is_dir() and missing.parent != missing:
            missing, rest = missing.parent, [missing.name, *rest]
        near = closest(missing.name, [one.name for one in missing.parent.iterdir()])
        found = [missing.parent.joinpath(name, *rest) for name in near]
        known = [str(one) for one in found if not rest or one.is_file()]
        if path.name == shown and not path.suffix:
            known += [one.parent.name for one in domains_folder().glob("*/world.tw")]
    except (OSError, ValueError, MissingAssetsError):
        known = []
    return did_you_mean(shown, sorted(known)) or "Check the path and the current folder."


def _decode(data: bytes, shown: str) -> str:
    where = data.find(b"\0")
    if where < 0:
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError as error:
            where = error.start
    before = data[:where]
    line, column = before.count(b"\n") + 1, where - before.rfind(b"\n")
    raise Failure(
        Diagnostic(
            "TW0003",
            f"`{shown}` is not UTF-8 text.",
            Span(shown, where, where, line, column, line, column),
            label=f"byte 0x{data[where]:02x} is not text",
            hint="Save the file as UTF-8, or name a `.tw` file.",
        )
    )
