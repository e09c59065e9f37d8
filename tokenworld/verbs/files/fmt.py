"""``tw fmt``: files in the one style, written only where something changes."""

from __future__ import annotations

import difflib
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from tokenworld.diagnostics import (
    Diagnostic,
    Failure,
    Source,
    decode_source,
    has_errors,
    read_source,
    to_json,
    usage,
)
from tokenworld.syntax.format import format_source
from tokenworld.verbs import options as opt
from tokenworld.verbs.output import (
    EXIT_NEGATIVE,
    EXIT_OK,
    Output,
    exit_code_of,
    replace_bytes,
    tw_files,
)

_STDIN = "<stdin>"


@dataclass(frozen=True, slots=True)
class _Result:
    """The result for one file: `text` is the formatted text, None if it cannot be read."""

    name: str
    source: Source | None
    text: str | None
    changed: bool
    diagnostics: tuple[Diagnostic, ...]

    @property
    def failed(self) -> bool:
        return has_errors(self.diagnostics)

    def diff(self) -> str:
        """The change as a unified diff; empty if there is none."""
        if self.source is None or self.text is None:
            return ""
        before, after = _lines(self.source.text), _lines(self.text)
        return "".join(difflib.unified_diff(before, after, self.name, f"{self.name} (formatted)"))


def fmt(
    paths: opt.Paths,
    out: Output,
    *,
    check: Annotated[bool, "Write nothing; 1 if a file differs."] = False,
    diff: Annotated[bool, "Write nothing; show the changes."] = False,
    stdin: Annotated[bool, "From stdin to stdout."] = False,
) -> int:
    """Format the files; 1 if one has errors, or if one differs with `check`; 2 if unreadable."""
    if stdin:
        return _pipe(paths, out, check=check, diff=diff)
    results = []
    for path in dict.fromkeys(tw_files(paths)):
        result = _formatted(path)
        if result.changed and not (check or diff):
            result = _written(path, result)
        out.diagnostics(_worth_saying(result), [result.source] if result.source else ())
        _tell(result, out, check=check, diff=diff)
        results.append(result)
    _summary(results, out, wrote=not (check or diff))
    code = _code(results, check)
    out.json(_report(results, code, diff))
    return code


def _pipe(paths: tuple[str, ...], out: Output, *, check: bool, diff: bool) -> int:
    """Format stdin to stdout; with errors nothing is printed."""
    if paths:
        message = "`--stdin` formats what is piped in, and no files."
        raise usage(message, "Leave out the paths, or `--stdin`.")
    data = sys.stdin.buffer.read()
    result = _result(decode_source(data, _STDIN), data)
    out.diagnostics(_worth_saying(result), [result.source] if result.source else ())
    shown = result.diff() if diff else "" if check else result.text
    if shown:
        out.data(shown.removesuffix("\n"))
    code = _code([result], check)
    report = _report([result], code, diff)
    out.json({**report, "text": result.text})
    return code


def _formatted(path: Path) -> _Result:
    try:
        source = read_source(path)
        data = path.read_bytes()
    except Failure as failure:
        return _Result(str(path), None, None, False, failure.diagnostics)
    return _result(source, data)


def _result(source: Source, data: bytes) -> _Result:
    text, found = format_source(source)
    changed = text is not None and text.encode("utf-8") != data
    return _Result(source.name, source, text, changed, found)


def _written(path: Path, result: _Result) -> _Result:
    try:
        if not os.access(path.resolve(), os.W_OK):
            raise PermissionError(None, "it is write-protected")
        replace_bytes(path, (result.text or "").encode("utf-8"))
    except OSError as error:
        message = f"`{path}` cannot be written: {error.strerror or error}."
        hint = "Change the permissions of the file and its folder."
        problem = Diagnostic("TW0001", message, hint=hint)
        return _Result(result.name, result.source, result.text, False, (problem,))
    return result


# ---- output -------------------------------------------------------------------------------


def _worth_saying(result: _Result) -> tuple[Diagnostic, ...]:
    """Errors only: that a file is empty is no matter of its layout."""
    return tuple(found for found in result.diagnostics if found.is_error)


def _tell(result: _Result, out: Output, *, check: bool, diff: bool) -> None:
    if not result.changed:
        return
    if diff:
        out.line(result.diff().removesuffix("\n"))
    else:
        out.line(f"{result.name}: {'would be formatted' if check else 'formatted'}")


def _summary(results: list[_Result], out: Output, *, wrote: bool) -> None:
    changed = sum(result.changed for result in results)
    failed = sum(result.failed for result in results)
    verb = "formatted" if wrote else "to format"
    parts = [f"{changed} {verb}", f"{len(results) - changed - failed} left as they are"]
    if failed:
        parts.append(f"{failed} with errors")
    out.note(", ".join(parts))


def _code(results: list[_Result], check: bool) -> int:
    code = exit_code_of(found for result in results for found in result.diagnostics)
    if code == EXIT_OK and check and any(result.changed for result in results):
        return EXIT_NEGATIVE
    return code


def _report(results: list[_Result], code: int, diff: bool) -> dict[str, object]:
    files = [
        {
            "file": result.name,
            "changed": result.changed,
            "diagnostics": [to_json(found) for found in _worth_saying(result)],
            **({"diff": result.diff()} if diff else {}),
        }
        for result in results
    ]
    changed = [result.name for result in results if result.changed]
    return {"schema_version": 1, "ok": code == EXIT_OK, "changed": changed, "files": files}


def _lines(text: str) -> list[str]:
    """The lines of a text with their ends, and the usual remark where the last has none."""
    *lines, last = text.split("\n")
    ended = [f"{line}\n" for line in lines]
    return [*ended, f"{last}\n\\ No newline at end of file\n"] if last else ended
