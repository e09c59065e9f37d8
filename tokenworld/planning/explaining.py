"""Explanations beside a verdict: one that fails or takes too long is told, and costs nothing else.

Reasons, repairs, landmarks and the like are worked out after the verdict is known. Whatever goes
wrong with one of them becomes a note.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from tokenworld.diagnostics import Diagnostic, Failure, in_seconds
from tokenworld.limits import Halted, attempt, halted, limited

T = TypeVar("T")

_REPORT = "Please report it with the world, if it is small."


class Explaining:
    """Works out explanations; ``notes`` tell of those that are missing (TW0814)."""

    def __init__(self) -> None:
        self.notes: list[Diagnostic] = []

    def __call__(
        self, what: str, work: Callable[[], T], otherwise: T, *, seconds: float | None = None
    ) -> T:
        """The result of ``work``; ``otherwise`` where it fails or takes more than ``seconds``.

        ``what`` is its name in a sentence: "the reason".
        """

        def bounded() -> T:
            if seconds is None:
                return work()
            with limited(seconds, None, time.monotonic()):
                return work()

        def late() -> T:
            if halted() is None:  # else the command tells which of its limits was hit
                why = f"its limit of {in_seconds(seconds or 0)} was reached"
                self._miss(what, why, "Make the world smaller.")
            return otherwise

        try:
            return attempt(f"looking for {what}", bounded, late)
        except Halted:
            return late()
        except Failure as failure:
            self._miss(what, failure.diagnostics[0].message.rstrip("."))
        except Exception as error:
            self._miss(what, f"{type(error).__name__}: {error}".rstrip(". "))
        return otherwise

    def _miss(self, what: str, why: str, more: str = _REPORT) -> None:
        message = f"{what[0].upper()}{what[1:]} could not be worked out: {why}."
        hint = f"The verdict stands without it. {more}"
        self.notes.append(Diagnostic("TW0814", message, hint=hint))
