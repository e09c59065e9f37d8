"""Diagnostics of programs and inputs: pure data, printed elsewhere."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from tokenworld.diagnostics.codes import Severity, severity_of
from tokenworld.diagnostics.span import Span


@dataclass(frozen=True, slots=True)
class Related:
    """Another place that explains the finding, such as the first of two declarations."""

    span: Span
    label: str


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the text of `span` by `text`."""

    span: Span
    text: str


def edited(text: str, edits: Iterable[Edit]) -> str:
    """The text with all edits made, the last one first so that places stay true."""
    for edit in sorted(edits, key=lambda one: one.span.start, reverse=True):
        text = text[: edit.span.start] + edit.text + text[edit.span.end :]
    return text


@dataclass(frozen=True, slots=True)
class Fix:
    """Edits that resolve the finding; `safe` ones never change the meaning of a correct program."""

    title: str
    edits: tuple[Edit, ...]
    safe: bool = False


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding: the error (`message`), its place, and the next step (`hint`).

    `message` is one sentence with names in backticks, `label` names what stands at the place,
    `hint` is an imperative. `severity` is taken from the code where it is left out.
    """

    code: str
    message: str
    span: Span | None = None
    label: str | None = None
    notes: tuple[str, ...] = ()
    hint: str | None = None
    related: tuple[Related, ...] = ()
    fix: Fix | None = None
    severity: Severity = None  # type: ignore[assignment]  # filled in below, never None after

    def __post_init__(self) -> None:
        if self.severity is None:
            object.__setattr__(self, "severity", severity_of(self.code))

    @property
    def is_error(self) -> bool:
        """Return whether this finding alone makes the input unusable."""
        return self.severity is Severity.ERROR


def usage(message: str, hint: str) -> Failure:
    """TW0006: options that do not go together, or a value that does not fit."""
    return Failure(Diagnostic("TW0006", message, hint=hint))


def limit_reached(why: Literal["time", "memory"], doing: str) -> Diagnostic:
    """TW0813: the limit of a command that was reached, and the step that was running
    (``doing``)."""
    option = "--time-limit" if why == "time" else "--memory-limit"
    message = f"The {why} of the command was used up{f' while {doing}' if doing else ''}."
    return Diagnostic("TW0813", message, hint=f"Raise `{option}`, or make the world smaller.")


def no_verdict() -> Diagnostic:
    """TW0813: no search came to an answer within its limits."""
    message = "There is no verdict within the time and the memory allowed."
    hint = "Raise `--time-limit`, or make the world smaller."
    return Diagnostic("TW0813", message, hint=hint)


def in_seconds(seconds: float) -> str:
    """A limit of time for messages: "12.4 s"."""
    return f"{seconds:,.1f}".removesuffix(".0") + " s" if seconds >= 0.1 else "less than 0.1 s"


class Failure(Exception):
    """Bad input: what library functions raise instead of returning a half-made result."""

    def __init__(self, *diagnostics: Diagnostic) -> None:
        self.diagnostics: tuple[Diagnostic, ...] = diagnostics
        super().__init__("; ".join(f"{d.code}: {d.message}" for d in diagnostics))


def has_errors(diagnostics: Iterable[Diagnostic]) -> bool:
    """Return whether any of the findings is an error."""
    return any(diagnostic.is_error for diagnostic in diagnostics)


def in_order(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """The findings by file, place and code, each once; those without a place come first."""

    def key(diagnostic: Diagnostic) -> tuple[str, int, str, str]:
        span = diagnostic.span
        place = (span.file, span.start) if span else ("", -1)
        return (*place, diagnostic.code, diagnostic.message)

    return tuple(sorted(dict.fromkeys(diagnostics), key=key))
