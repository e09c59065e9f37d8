"""One attempt: a judged world with its tests, and the reports to the developer and the tester."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from tokenworld.diagnostics import Diagnostic, Severity
from tokenworld.session.loading import Loaded
from tokenworld.verbs.author import sources
from tokenworld.verbs.author.asking import digest
from tokenworld.verbs.author.specification import Specification
from tokenworld.verbs.judge.contract import Budget, Contract
from tokenworld.verbs.judge.findings import Finding, Judgement, Status, Tier, by_cause
from tokenworld.verbs.judge.findings import brief as brief_of
from tokenworld.verbs.judge.judging import judge
from tokenworld.verbs.judge.noticing import notices_holding_goal

FOR_TESTER: Final = frozenset({
    "no-scenario", "empty-scenario", "untested-mechanic", "idle-mechanic", "not-executed",
    "never-refuses", "not-reached", "coverage", "survivor", "kill-rate", "weak-win",
})  # fmt: skip
"""Findings that a tester can act on; all others are the developer's."""
_RANK: Final[Mapping[Status, int]] = {"refused": 0, "unproven": 1, "accepted": 2}


@dataclass(frozen=True, slots=True)
class Attempt:
    """The result of one round."""

    number: int
    source: str
    tests: tuple[sources.Test, ...]
    disputes: tuple[sources.Dispute, ...]
    rules: Mapping[str, tuple[str, ...]]
    judgement: Judgement

    @property
    def text(self) -> str:
        """The world that is judged and written: the developer's text with the tests."""
        return sources.joined(self.source, self.tests)

    @property
    def hash(self) -> str:
        return digest(self.text)

    @property
    def status(self) -> Status:
        return self.judgement.status

    @property
    def score(self) -> tuple[int, int, int, int]:
        """The rank of the attempt, higher is better: status, tiers that ran, errors, warnings."""
        found = self.judgement.findings
        errors = sum(one.is_error for one in found)
        return (_RANK[self.status], len(self.judgement.figures), -errors, errors - len(found))

    @property
    def complaints(self) -> tuple[tuple[str, str], ...]:
        """The errors by code and message."""
        found = self.judgement.findings
        return tuple((one.code, one.found.message) for one in found if one.is_error)


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts by which an attempt is judged, beside its text."""

    contract: Contract
    spec: Specification | None
    earlier: tuple[str, ...]
    """Titles of scenarios that must be there: those that fitted an earlier attempt."""


def judged(text: str, facts: Facts, budget: Budget, say: Callable[[str], None]) -> Judgement:
    """Return the judge's verdict, with the findings that only the loop can make."""
    found = judge(sources.source_of(text), facts.contract, budget, say=say)
    own = tuple(_own(text, facts, found))
    if not own:
        return found
    return replace(found, findings=by_cause((*found.findings, *own)), status="refused")


def _own(text: str, facts: Facts, found: Judgement) -> Iterable[Finding]:
    for title in facts.earlier:
        if title not in sources.titles(text):
            message = f"The scenario `{title}` is gone, or no longer fits the world."
            hint = "Keep what it names, and correct the rule; a tester may write it anew."
            yield _finding("tests", "lost-scenario", message, hint)
    if facts.spec is None:
        return
    for one in facts.contract.mechanics:
        if not one.rules:
            message = f"No rule is named for the mechanic `{one.id}` ({one.text})."
            hint = 'Name its rules when you submit: {"tool": "submit", "rules": {…}}.'
            yield _finding("cover", "unmapped-mechanic", message, hint)
    if "tests" in found.figures and not any(one.is_error for one in found.findings):
        yield from _weak_wins(text, facts)


def _weak_wins(text: str, facts: Facts) -> Iterable[Finding]:
    """Yield wins whose scenarios pass although the goal holds from the start."""
    result = sources.checked(text)
    assert result.program is not None
    loaded = Loaded(result.program, result.sources, result.diagnostics)
    wins = {one.id for one in (facts.spec.win if facts.spec else ())}
    for one in facts.contract.mechanics:
        goals = [name for name in one.rules if _is_goal(loaded, name)]
        if one.id in wins and not goals:
            message = f"No goal is among the rules of the win `{one.id}` ({one.text})."
            yield _finding("cover", "unmapped-win", message, "Name the goal among its rules.")
        own = [s for s in loaded.program.scenarios if one.id in s.title.split()]
        if one.id in wins and own and not all(notices_holding_goal(loaded, g, own) for g in goals):
            message = f"The scenarios of the win `{one.id}` pass though its goal holds at once."
            hint = "Check values before the last step of the way to the goal."
            yield _finding("cover", "weak-win", message, hint)


def _is_goal(loaded: Loaded, name: str) -> bool:
    worlds = loaded.program.worlds.values()
    return any(line.name == name for world in worlds for line in world.goals)


def _finding(tier: Tier, code: str, message: str, hint: str) -> Finding:
    return Finding(tier, Diagnostic(code, message, hint=hint, severity=Severity.ERROR))


def brief_for(
    found: Judgement, without: Collection[str] = (), only: Collection[str] | None = None,
    *, blind: bool = False,
) -> str:  # fmt: skip
    """Return the brief with some findings; ``blind`` leaves source lines out."""
    kept = tuple(
        one
        for one in found.findings
        if one.code not in without and (only is None or one.code in only)
    )
    if not kept:
        return ""
    return brief_of(replace(found, findings=kept, sources=() if blind else found.sources))
