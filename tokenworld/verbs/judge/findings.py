"""A judgement: its status, its findings, and the brief in which a model reads them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Final, Literal, get_args

from tokenworld.diagnostics import Diagnostic, Severity, Source, Span, counted, render_one, to_json
from tokenworld.diagnostics.frozen import frozen
from tokenworld.ground import Json

Tier = Literal["check", "start", "plan", "tests", "audit", "conform", "cover", "mutate"]
TIERS: Final[tuple[Tier, ...]] = get_args(Tier)
Status = Literal["accepted", "refused", "unproven"]

_ERROR, _WARNING = Severity.ERROR, Severity.WARNING
CODES: Final[Mapping[str, tuple[Tier, Severity]]] = {
    "no-world": ("start", _ERROR),
    "no-goal": ("start", _ERROR),
    "trivial-goal": ("start", _ERROR),
    "no-command": ("start", _ERROR),
    "no-action": ("start", _ERROR),
    "unwinnable": ("plan", _ERROR),
    "won-by-waiting": ("plan", _ERROR),
    "no-verdict": ("plan", _WARNING),
    "no-scenario": ("tests", _ERROR),
    "red-scenario": ("tests", _ERROR),
    "empty-scenario": ("tests", _ERROR),
    "never-happens": ("audit", _ERROR),
    "dead-end": ("audit", _WARNING),
    "never-ends": ("audit", _ERROR),
    "bad-row": ("conform", _ERROR),
    "wrong-row": ("conform", _ERROR),
    "unknown-rule": ("cover", _ERROR),
    "untested-mechanic": ("cover", _ERROR),
    "idle-mechanic": ("cover", _ERROR),
    "not-executed": ("cover", _ERROR),
    "never-refuses": ("cover", _ERROR),
    "not-reached": ("cover", _WARNING),
    "coverage": ("cover", _ERROR),
    "survivor": ("mutate", _WARNING),
    "kill-rate": ("mutate", _ERROR),
    "limit": ("check", _WARNING),
}
"""The findings of the judge's own, with their tier and how much they weigh; docs/judge.md says what
each means. The checker's have their TW codes."""

_MOST_EVIDENCE: Final = 6
_EVIDENCE_WIDTH: Final = 160


@frozen
class Finding:
    """One finding of a tier. Its notes are the evidence: six lines at most."""

    kind: Tier
    found: Diagnostic

    @property
    def code(self) -> str:
        return self.found.code

    @property
    def is_error(self) -> bool:
        """Return whether it alone keeps a world from being accepted."""
        return self.found.is_error

    def to_json(self) -> dict[str, object]:
        one = to_json(self.found)
        return {
            "kind": self.kind,
            "text": one["message"],
            "evidence": one["notes"],
            **{key: one[key] for key in ("code", "severity", "span", "label", "hint", "fix")},
        }


def finding(
    code: str,
    text: str,
    span: Span | None = None,
    *,
    evidence: Iterable[str] = (),
    hint: str | None = None,
    severity: Severity | None = None,
) -> Finding:
    """A finding of the judge's own, with as much weight as its code has."""
    kind, usual = CODES[code]
    lines = [_short(one) for one in evidence]
    if len(lines) > _MOST_EVIDENCE:
        lines[_MOST_EVIDENCE - 1 :] = [f"… {counted(len(lines) - _MOST_EVIDENCE + 1, 'line')} more"]
    found = Diagnostic(
        code, text, span, None, tuple(lines), hint, severity=severity or usual
    )  # fmt: skip
    return Finding(kind, found)


def _short(text: str) -> str:
    text = text.replace("\n", " ")
    return text if len(text) <= _EVIDENCE_WIDTH else f"{text[: _EVIDENCE_WIDTH - 1]}…"


@frozen
class Judgement:
    """The result of the judge. ``figures`` are the numbers of each tier that ran, in their order.

    ``read_back`` are the rules in English, to be read beside the specification: nothing judges
    them.
    """

    status: Status
    contract: str
    findings: tuple[Finding, ...]
    figures: Mapping[Tier, Mapping[str, Json]]
    read_back: str
    sources: tuple[Source, ...]

    def to_json(self) -> dict[str, object]:
        return {
            "schema_version": 1,
            "status": self.status,
            "contract": self.contract,
            "findings": [one.to_json() for one in self.findings],
            "tiers": dict(self.figures),
            "brief": brief(self),
            "rules": self.read_back,
        }


def by_cause(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Sort errors first, then by tier, the cheapest first: later findings may be consequences."""
    return tuple(
        sorted(findings, key=lambda one: (not one.is_error, TIERS.index(one.kind)))
    )  # fmt: skip


# ---- the brief ----------------------------------------------------------------------------------

MOST_FINDINGS: Final = 8
MOST_TOKENS: Final = 1_200
_ROOM: Final = MOST_TOKENS - 20
_PLACES: Final = 6
"""Further places of one code that are listed."""


def tokens(text: str) -> int:
    """The number of tokens of a text, estimated from above: three bytes each."""
    return -(-len(text.encode()) // 3)


def brief(judgement: Judgement) -> str:
    """The judgement for a model: 1,200 tokens and 8 findings at most, equal codes as one."""
    sources = {one.name: one for one in judgement.sources}
    text = _head(judgement)
    groups = [list(group) for _, group in groupby(_grouped(judgement.findings), _code)]
    shown = 0
    for group in groups[:MOST_FINDINGS]:
        part = _told(group, sources)
        if tokens(text + part) > _ROOM:
            if shown:
                break
            part = _cut(part, _ROOM - tokens(text))
        text, shown = f"{text}\n{part}", shown + 1
    left = len(groups) - shown
    return text + (f"\nand {counted(left, 'further kind')} of findings\n" if left else "")


def _cut(text: str, most: int) -> str:
    """The beginning of a text, of so many tokens at most."""
    return text.encode()[: 3 * most - 6].decode(errors="ignore") + "…\n"


def _code(one: Finding) -> str:
    return one.code


def _grouped(findings: Iterable[Finding]) -> list[Finding]:
    """Findings with equal codes side by side, in the order of the first of each code."""
    by_code: dict[str, list[Finding]] = {}
    for one in findings:
        by_code.setdefault(one.code, []).append(one)
    return [one for group in by_code.values() for one in group]


def _head(judgement: Judgement) -> str:
    errors = sum(one.is_error for one in judgement.findings)
    ran = ", ".join(judgement.figures)
    told = f"{counted(errors, 'error')}, {counted(len(judgement.findings) - errors, 'warning')}"
    return f"{judgement.status} by the contract {judgement.contract} ({told}; looked at: {ran})\n"


def _told(group: list[Finding], sources: Mapping[str, Source]) -> str:
    """The first finding of a code with its source line, and the places of the others."""
    text = render_one(group[0].found, sources)
    more = [_place(one) for one in group[1:]]
    if not more:
        return text
    rest = len(more) - _PLACES
    listed = "; ".join(more[:_PLACES]) + (f"; and {rest} more" if rest > 0 else "")
    return f"{text}  the same: {listed}\n"


def _place(one: Finding) -> str:
    where = "" if one.found.span is None else f"line {one.found.span.line}: "
    return where + _short(one.found.message)
