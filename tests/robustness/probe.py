"""What the program does with any bytes: check, format and run them, and report what is wrong.

Every stage is called in this process, within a budget of processor time.
"""

from __future__ import annotations

import signal
import traceback
from collections.abc import Iterator
from contextlib import contextmanager

from tokenworld.check import Checked
from tokenworld.diagnostics import (
    CODES,
    Diagnostic,
    Failure,
    Source,
    decode_source,
    render,
    to_json,
)
from tokenworld.session import Session, check_text
from tokenworld.session.loading import open_text
from tokenworld.session.players import random_player
from tokenworld.syntax.format import format_source
from tokenworld.syntax.lalr import lex
from tokenworld.syntax.tables import tables

SECONDS = 5
TICKS = 3


class Slow(BaseException):
    """A stage took too long; no handler of errors in the program may catch it."""


class Wrong(Exception):
    """A broken promise of the program, as text."""


@contextmanager
def budget(seconds: float) -> Iterator[None]:
    """Raise `Slow` after so much processor time of this process."""

    def stop(*_: object) -> None:
        raise Slow

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def faults(data: bytes) -> list[str]:
    """The fault on these bytes; empty if there is none. Incorrect programs are not a fault."""
    found: list[str] = []
    try:
        source = decode_source(data, "mutant.tw")
    except Failure as failure:
        return _unspoken(failure.diagnostics, {})
    for stage in (_formatted, _checked_and_run):
        try:
            with budget(SECONDS):
                stage(source)
        except Slow:
            found.append(f"{stage.__name__}: more than {SECONDS} s")
        except Wrong as wrong:
            found.append(f"{stage.__name__}: {wrong}")
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            last = "".join(traceback.format_exception(error)[-8:])[-1500:]
            found.append(f"{stage.__name__}: {type(error).__name__}: {str(error)[:200]}\n{last}")
    return found


def _unspoken(found: tuple[Diagnostic, ...], sources: dict[str, Source]) -> list[str]:
    """Findings without a known code, a place, or words; and printing them must work."""
    wrong = [
        f"{one.code} has no place: {one.message[:200]}"
        for one in found
        if one.span is None or one.span.line < 1
    ]
    wrong += [f"unknown code {one.code}" for one in found if one.code not in CODES]
    wrong += [f"{one.code} says nothing" for one in found if not one.message.strip()]
    shown = render(found, sources)
    if len(shown) > 16_000 * (len(found) + 1):
        wrong.append(f"{len(found)} findings print {len(shown)} characters")
    for one in found:
        to_json(one)
    return wrong


def _formatted(source: Source) -> None:
    text, found = format_source(source)
    _expect(_unspoken(found, {source.name: source}))
    if text is None:
        return
    formatted = Source(source.name, None, text)
    if format_source(formatted)[0] != text:
        raise Wrong("formatting again changes the text")
    words = [[t.text for t in lex(one, tables())[0]] for one in (source, formatted)]
    if words[0] != words[1]:
        raise Wrong("formatting changes the tokens")


def _checked_and_run(source: Source) -> None:
    checked = check_text(source)
    _expect(_unspoken(checked.diagnostics, {one.name: one for one in checked.sources}))
    if checked.program is not None:
        _run(source, checked)


def _run(source: Source, checked: Checked) -> None:
    """Play a few random steps in each world, and compare its state as JSON."""
    assert checked.program is not None
    for name in list(checked.program.worlds)[:2]:
        try:
            session = Session(open_text((source, *checked.sources[1:]), name), 0)
            for _, intent in zip(range(TICKS), random_player(session), strict=False):
                if session.intend(intent)[-1].status == "halted":
                    break
            session.state_json()
        except Failure as failure:
            _expect(_unspoken(failure.diagnostics, {source.name: source}))


def _expect(wrong: list[str]) -> None:
    if wrong:
        raise Wrong("; ".join(wrong[:3]))
