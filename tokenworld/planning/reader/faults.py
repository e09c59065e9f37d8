"""What is wrong with a PDDL text: findings collected while reading goes on."""

from __future__ import annotations

from collections.abc import Iterable

from tokenworld.diagnostics import Diagnostic, Related, Severity, Span, did_you_mean, severity_of

__all__ = ["Faults", "Skip"]

_MOST = 40


class Skip(Exception):
    """The part being read is unusable and has been reported; the reader goes on behind it."""


class Faults:
    """The findings of one file, in the order in which they were met."""

    def __init__(self) -> None:
        self.found: list[Diagnostic] = []

    def tell(
        self,
        code: str,
        message: str,
        span: Span,
        *,
        label: str | None = None,
        hint: str | None = None,
        related: tuple[Related, ...] = (),
        severity: Severity | None = None,
    ) -> None:
        """Report one finding; a text that is no PDDL at all is not reported word by word."""
        if len(self.found) < _MOST:
            kind = severity or severity_of(code)
            self.found.append(
                Diagnostic(code, message, span, label, hint=hint, related=related, severity=kind)
            )

    def stop(self, code: str, message: str, span: Span, *, hint: str | None = None) -> Skip:
        """Report, and give the exception that leaves the part."""
        self.tell(code, message, span, hint=hint)
        return Skip()

    def unexpected(self, what: str, span: Span, hint: str) -> Skip:
        """TW0101: something else must stand here."""
        return self.stop("TW0101", what, span, hint=hint)

    def unsupported(self, what: str, span: Span, hint: str) -> Skip:
        """TW0810: legal PDDL that has no counterpart in a `.tw` file."""
        return self.stop("TW0810", f"{what} is not supported.", span, hint=hint)

    def unknown(self, kind: str, name: str, span: Span, known: Iterable[str], or_else: str) -> None:
        """TW0201, or TW0202 for types: a name without a declaration."""
        code = "TW0202" if kind == "type" else "TW0201"
        hint = did_you_mean(name, sorted(known)) or or_else
        self.tell(code, f"There is no {kind} `{name}`.", span, label="unknown", hint=hint)

    def twice(self, kind: str, name: str, span: Span, first: Span) -> None:
        """TW0203: one name for two things of a kind."""
        related = (Related(first, "the first one"),)
        message = f"The {kind} `{name}` is declared twice."
        hint = "Remove or rename one of the two."
        self.tell("TW0203", message, span, label="again", hint=hint, related=related)
