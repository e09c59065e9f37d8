"""The typed results of the tools: parts of the JSON of a verb, beside the text that it prints.

Each class method `of` makes it from the `Answer` of its verb. A client shows the text to a model;
the JSON takes more than twice the tokens. The classes have no slots: the SDK would read them
as defaults when it makes the schema.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from tokenworld.protocols.agents.processes import Answer

Verdict = Literal["winnable", "unwinnable", "unknown"]


@dataclass(frozen=True)
class Finding:
    """One diagnostic: its code, place (lines and columns from 1) and next step."""

    code: str
    severity: str
    message: str
    file: str | None
    line: int | None
    column: int | None
    hint: str | None
    fix: str | None

    @classmethod
    def of(cls, one: dict[str, Any]) -> Finding:
        """Make a finding from the JSON of `tw check` and `tw judge`."""
        span, fix = one["span"] or {}, one["fix"] or {}
        place = (span.get("file"), span.get("line"), span.get("column"))
        message = one["message"] if "message" in one else one["text"]
        return cls(one["code"], one["severity"], message, *place, one["hint"], fix.get("title"))


@dataclass(frozen=True)
class Checked:
    """``ok``: no error. ``repaired`` is the text after the repairs that were asked for."""

    ok: bool
    findings: list[Finding]
    repaired: str | None = None

    @classmethod
    def of(cls, answer: Answer) -> Checked:
        (file,) = answer.found["files"]
        return cls(answer.found["ok"], [Finding.of(one) for one in file["diagnostics"]])


@dataclass(frozen=True)
class Judged:
    """The verdict of all tiers, and their figures."""

    status: Literal["accepted", "refused", "unproven"]
    contract: str
    findings: list[Finding]
    tiers: dict[str, Any]

    @classmethod
    def of(cls, answer: Answer) -> Judged:
        found = answer.found
        listed = [Finding.of(one) for one in found["findings"]]
        return cls(found["status"], found["contract"], listed, found["tiers"])


@dataclass(frozen=True)
class Planned:
    """The answer of the planner: the verdict and the plan. ``ticks`` is the length of the plan,
    ``optimal`` the measure in which it is proved least, ``proof`` the proof of *unwinnable*."""

    answer: Verdict
    plan: list[str]
    ticks: int | None
    optimal: str | None
    proof: Any
    why: list[Any]

    @classmethod
    def of(cls, answer: Answer) -> Planned:
        found = answer.found
        plan = [step["command"] for step in found.get("plan") or ()]
        return cls(
            found["answer"], plan, found.get("ticks"), found.get("optimal"), found.get("proof"),
            found.get("why") or [],
        )  # fmt: skip


@dataclass(frozen=True)
class Audited:
    """The explored states: the numbers that are won, winnable or dead, and the problems found."""

    complete: bool
    start: str
    cruelty: str | None
    states: dict[str, int]
    solution: list[str]
    dead_ends: list[Any]
    never_happens: list[Any]

    @classmethod
    def of(cls, answer: Answer) -> Audited:
        found = answer.found
        solution = [step["command"] for step in found["solution"]["steps"]]
        return cls(
            found["complete"], found["start"], found["cruelty"], found["states"], solution,
            found["dead_ends"], found["never_happens"],
        )  # fmt: skip


@dataclass(frozen=True)
class Tested:
    """The scenarios that passed, and the titles of those that failed."""

    ok: bool
    passed: int
    failed: int
    red: list[str]

    @classmethod
    def of(cls, answer: Answer) -> Tested:
        found = answer.found
        red = [one["title"] for one in found["scenarios"] if not one["ok"]]
        return cls(found["ok"], found["passed"], found["failed"], red)


@dataclass(frozen=True)
class Explained:
    """The page of a code, or a rule in each stage from its text to its English."""

    title: str
    stages: dict[str, str]

    @classmethod
    def of(cls, answer: Answer) -> Explained:
        found = answer.found
        return cls(found.get("title", ""), found.get("rule") or {})


@dataclass(frozen=True)
class Signatures:
    """The declarations of each file, without bodies."""

    files: dict[str, list[str]]

    @classmethod
    def of(cls, answer: Answer) -> Signatures:
        return cls({one["file"]: one["signatures"] for one in answer.found["files"]})


@dataclass(frozen=True)
class Modules:
    """The standard modules, each with the first line of its text."""

    modules: dict[str, str]


@dataclass(frozen=True)
class Formatted:
    """The text in the one layout; ``written``: the file now has it."""

    changed: bool
    written: bool
    formatted: str


@dataclass(frozen=True)
class Exported:
    """PDDL, and the names that were changed for it."""

    form: str
    domain: str
    problem: str | None
    renamed: list[dict[str, str]]

    @classmethod
    def of(cls, answer: Answer) -> Exported:
        found = answer.found
        texts = found["domain.pddl"], found.get("problem.pddl")
        return cls(found["form"], *texts, found.get("renamed") or [])


@dataclass(frozen=True)
class Imported:
    """The `.tw` text of PDDL; each problem is one of its worlds."""

    text: str
    actions: int
    worlds: list[str]

    @classmethod
    def of(cls, answer: Answer) -> Imported:
        found = answer.found
        return cls(found["text"], found["actions"], found["worlds"])


@dataclass(frozen=True)
class Compared:
    """The comparison of two domains; for each pair of worlds the first difference, if any."""

    answer: Literal["equivalent", "no difference found", "different"]
    worlds: list[dict[str, Any]]

    @classmethod
    def of(cls, answer: Answer) -> Compared:
        return cls(answer.found["answer"], answer.found["worlds"])


@dataclass(frozen=True)
class Written:
    """A file that was written, from the root."""

    file: str


# ---- games ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Seen:
    """A game as its player sees it. ``status`` is that of the last command, ``refusal`` says why it
    was refused (``tw-refusal/1``), or has no meaning."""

    game: int
    tick: int
    actor: str | None
    status: str | None
    ended: bool
    reached: list[str]
    steps_left: int
    refusal: dict[str, Any] | None = None


@dataclass(frozen=True)
class Told:
    """The public state of a game, as ``tw-state/1``."""

    game: int
    state: dict[str, Any]


@dataclass(frozen=True)
class Commands:
    """The commands that would be executed now, as calls."""

    game: int
    legal: list[str]
    unlisted: list[str]


@dataclass(frozen=True)
class Reasons:
    """The requires of a command with their truth, and whether it would be executed now; if not,
    ``refusal`` says why, since when, and by which rule (``tw-refusal/1``)."""

    game: int
    allowed: bool
    requires: list[dict[str, Any]]
    refusal: dict[str, Any] | None = None


@dataclass(frozen=True)
class Hinted:
    """The next command of a shortest plan, and the number of ticks to the goal."""

    game: int
    answer: Verdict
    next: str | None
    distance: int | None
    landmarks: list[str]
