"""One call of a verb in this process, within a budget of processor time."""

from __future__ import annotations

import io
import json
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass

from probe import Slow, budget

from tokenworld.cli import _main

CODES = (0, 1, 2, 3)
"""The exit codes that a verb may have; 4 is an internal error."""


@dataclass(frozen=True)
class Call:
    """The result of a call; ``fault`` names a fault, if there is one."""

    code: int | None
    out: str
    err: str
    fault: str | None


def call(arguments: Sequence[str], *, seconds: float) -> Call:
    """Run ``tw`` with these arguments. Bad input is no fault; a traceback or a hang is."""
    code, fault, trace = None, None, ""
    with _captured() as (out, err):
        try:
            with budget(seconds):
                code = _main(list(arguments))
        except Slow:
            fault = f"more than {seconds:g} s"
        except SystemExit as stop:
            fault = f"it left by SystemExit({stop.code})"
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            fault, trace = f"{type(error).__name__}: {error}", traceback.format_exc()[-1500:]
    text, told = _text(out), _text(err)
    if fault is None:
        fault = _wrong(code, text, told, as_json="--json" in arguments)
    return Call(code, text, told, fault and f"tw {' '.join(arguments)}: {fault}\n{trace}".rstrip())


def _wrong(code: int | None, out: str, err: str, *, as_json: bool) -> str | None:
    if code not in CODES:
        return f"exit code {code}: {err[-1500:]}"
    if "Traceback" in out + err:
        return f"a traceback: {(out + err)[-1500:]}"
    if as_json:
        try:
            json.loads(out)
        except ValueError:
            return f"--json printed no single JSON object: {out[:200]!r} {err[-300:]}"
    return None


@contextmanager
def _captured() -> Iterator[tuple[io.BytesIO, io.BytesIO]]:
    """Standard output and error as bytes; standard input is empty."""
    out, err = io.BytesIO(), io.BytesIO()
    one, other = _stream(out), _stream(err)
    with redirect_stdout(one), redirect_stderr(other):
        yield out, err
    one.detach()
    other.detach()


def _stream(data: io.BytesIO) -> io.TextIOWrapper:
    return io.TextIOWrapper(data, encoding="utf-8", write_through=True)


def _text(data: io.BytesIO) -> str:
    return data.getvalue().decode("utf-8", "replace")
