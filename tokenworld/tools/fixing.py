"""``tw check --fix``: apply the repairs that findings carry, as long as the check gets better."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tokenworld.diagnostics import Diagnostic, Edit, Failure, Source, read_source
from tokenworld.session.loading import check_text
from tokenworld.tools.files import replace_bytes

__all__ = ["Done", "Repair", "repair_file", "repair_text"]

_ROUNDS: Final = 200
"""More repairs than this in one file are left for the next call."""

Check = Callable[[str], tuple[Diagnostic, ...]]
Score = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Done:
    """One repair that was made: the finding's code, what was done, and the line it stood on."""

    code: str
    title: str
    file: str
    line: int
    safe: bool

    @property
    def place(self) -> str:
        """`file:line`, as the text was when the repair was made."""
        return f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class Repair:
    """The text after the repairs, and the repairs in the order they were made."""

    text: str
    done: tuple[Done, ...]


def repair_text(name: str, text: str, check: Check, *, unsafe: bool = False) -> Repair:
    """Apply one repair after another; the result checks better, or nothing is done.

    Better: fewer syntax errors, else fewer errors, else fewer remarks. A repair that does harm is
    left out, and none is tried twice. Edits of other files are never made.
    """
    found = check(text)
    made: tuple[Done, ...] = ()
    kept = Repair(text, made)
    best: Score = _score(found)
    tried: set[tuple[str, int]] = set()
    for _ in range(_ROUNDS):
        step = _step(name, text, found, check, tried, unsafe=unsafe)
        if step is None:
            break
        text, found, one = step
        made = (*made, one)
        if _score(found) < best:
            best, kept = _score(found), Repair(text, made)
    return kept


def _step(
    name: str,
    text: str,
    found: tuple[Diagnostic, ...],
    check: Check,
    tried: set[tuple[str, int]],
    *,
    unsafe: bool,
) -> tuple[str, tuple[Diagnostic, ...], Done] | None:
    """The first repair that does no harm; ``None`` when none is left.

    One that leaves as many findings may show the next mistake of the same item, so it is gone
    on with, and kept if a later one makes the check better.
    """
    for one in found:
        fix = one.fix
        if fix is None or one.span is None or not (fix.safe or unsafe):
            continue
        if any(edit.span.file != name for edit in fix.edits):
            continue
        changed = _edited(text, fix.edits)
        attempt = (changed, one.span.start)
        if attempt in tried:
            continue
        tried.add(attempt)
        after = check(changed)
        if _score(after) <= _score(found):
            return changed, after, Done(one.code, fix.title, name, one.span.line, fix.safe)
    return None


def _edited(text: str, edits: Iterable[Edit]) -> str:
    """The text with all edits made, the last one first so that places stay true."""
    for edit in sorted(edits, key=lambda one: one.span.start, reverse=True):
        text = text[: edit.span.start] + edit.text + text[edit.span.end :]
    return text


def _score(found: tuple[Diagnostic, ...]) -> Score:
    """How bad a check is; fewer is better, from left to right."""
    errors = [one for one in found if one.is_error]
    syntax = [one for one in errors if one.code in ("TW0101", "TW0102", "TW0103", "TW0104")]
    return len(syntax), len(errors), len(found)


# ---- files ------------------------------------------------------------------------------


def repair_file(path: Path, *, unsafe: bool = False) -> Repair:
    """Repair a file in place: written at once and only if something was repaired.

    Raises `Failure` if the file cannot be read or written. Its line ends, byte order mark and
    permissions stay as they are.
    """
    source = read_source(path)

    def check(text: str) -> tuple[Diagnostic, ...]:
        return check_text(Source(source.name, source.path, text)).diagnostics

    repair = repair_text(source.name, source.text, check, unsafe=unsafe)
    if repair.done:
        _write(path, source.text, repair.text)
    return repair


def _write(path: Path, before: str, text: str) -> None:
    """Replace the file by one step, unless somebody else has changed it meanwhile."""
    target = path.resolve()
    try:
        data = target.read_bytes()
        mark = b"\xef\xbb\xbf" if data.startswith(b"\xef\xbb\xbf") else b""
        if data != mark + before.encode():
            raise _unwritten(path, "it was changed meanwhile")
        replace_bytes(target, mark + text.encode())
    except OSError as error:
        raise _unwritten(path, error.strerror or str(error)) from error


def _unwritten(path: Path, why: str) -> Failure:
    hint = "Make the file writable, or apply the repairs by hand."
    return Failure(Diagnostic("TW0006", f"`{path}` could not be written: {why}.", hint=hint))
