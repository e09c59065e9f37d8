"""``tw bench text2world``: golds in PDDL go to `.tw` and back; or predictions are scored, or what
models write from the descriptions.

Three scores are reported: the published script's with its defects (`official`), the F1 of
everything a domain says (`scores.strict`), and whether the two do the same on made problems
(`behaviour`). The first row is the ceiling: the golds against themselves by the script.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any, Final

from tokenworld.diagnostics import Failure, Source, counted, usage
from tokenworld.verbs import options as opt
from tokenworld.verbs.bench.authoring import Asked, rounds, write_domains
from tokenworld.verbs.bench.behaviour import Behaviour, behaviour
from tokenworld.verbs.bench.golds import Gold, prediction_of, read_golds
from tokenworld.verbs.bench.normal import read
from tokenworld.verbs.bench.official import FACETS, Official, official
from tokenworld.verbs.bench.report import PAPER, Author, Mean, mean, publish, share
from tokenworld.verbs.bench.report import TEXT2WORLD as PUBLISHED
from tokenworld.verbs.bench.scores import score, strict
from tokenworld.verbs.bench.trips import trips
from tokenworld.verbs.output import EXIT_NEGATIVE, EXIT_OK, Output
from tokenworld.verbs.pages import Section

_NONE: Final = Official(False, 0.0, 0.0, 0.0, 0.0)
_TOLD: Final = 3
"""Statements of a difference that a table shows."""


@dataclass(frozen=True, slots=True)
class Scored:
    """A gold and the scores of one text against it; ``fault`` says why there is no text."""

    name: str
    readable: bool
    ceiling: Official
    official: Official
    fair: float
    strict: float
    differences: tuple[str, ...] = ()
    behaviour: Behaviour | None = None
    fault: str = ""
    problems: tuple[int, int] = (0, 0)
    """The number of problems that came back unchanged, and the number of all."""

    def to_json(self) -> dict[str, Any]:
        did = None if self.behaviour is None else self.behaviour.to_json()
        return {
            "name": self.name, "readable": self.readable, "ceiling": asdict(self.ceiling),
            "official": asdict(self.official), "fair": round(self.fair, 6),
            "strict": round(self.strict, 6), "differences": list(self.differences),
            "behaviour": did, "fault": self.fault, "problems": list(self.problems),
        }  # fmt: skip


def text2world(
    path: Annotated[Path, "A folder of PDDL files, or the published list (JSON)."],
    out: Output,
    *,
    author: Author,
    asked: Asked,
    instances: Annotated[int, "Problems made to compare behaviour; 0: none."] = 3,
    states: Annotated[int, "States that are compared on each problem."] = 60,
    output: opt.Page = None,
) -> int:
    """Score the golds of a path; return 1 if a readable gold does not come back as it was.

    With ``predictions`` the files of that folder are scored instead, and with ``author`` the texts
    of a provider; the exit code is then 0.
    """
    golds, say = read_golds(path), out.each_second()
    sections: list[Section] = []
    if asked.author is not None:
        if author.predictions is not None:
            raise usage("Either a provider writes, or predictions are there.", "Give one of both.")
        code = write_domains(golds, asked, author.model, say)
        if code or asked.runs is None:
            return code
        section, paid = rounds(golds, asked.runs)
        sections.append(section)
        author = replace(author, predictions=asked.runs, model=author.model or asked.author,
                         cost=author.cost or paid)  # fmt: skip
    scored: list[Scored] = []
    for number, gold in enumerate(golds, start=1):
        say(f"{number} of {len(golds)}: {gold.name}")
        if author.predictions is None:
            scored.append(_returned(gold, instances, states))
        else:
            scored.append(_predicted(gold, author.predictions, instances, states))
    sections = [_summary(scored, author), *sections, _each(scored, author)]
    told = {
        "ok": True, "benchmark": "text2world", "path": str(path),
        "author": author.to_json(),
        "golds": [one.to_json() for one in scored], "published": {PAPER: PUBLISHED},
    }  # fmt: skip
    publish("Text2World", sections, told, out, output)
    for one in scored:
        if one.fault:
            out.note(f"{one.name}: {one.fault}")
    if author.is_engine and not all(map(_whole, scored)):
        return EXIT_NEGATIVE
    return EXIT_OK


def _whole(one: Scored) -> bool:
    """Return whether a gold came back unchanged; a text that is no PDDL cannot."""
    did = one.behaviour is None or one.behaviour.different + one.behaviour.unusable == 0
    return not one.readable or (not one.fault and one.strict == 1 and did)


# ---- one gold -----------------------------------------------------------------------------------


def _returned(gold: Gold, instances: int, states: int) -> Scored:
    """Import and export a gold, and score the result."""
    domain, *problems = trips(gold.domain, gold.problems)
    whole = sum(not one.failure for one in problems), len(problems)
    if not domain.after:
        return _unscored(gold, domain.failure, _balanced(gold.domain.text), whole)
    faults = [one.failure for one in (domain, *problems) if one.failure]
    return _scored(gold, domain.after, faults[0] if faults else "", instances, states, whole)


def _balanced(text: str) -> bool:
    """Return whether a text is a list, by a reader that is not under test."""
    try:
        read(text)
    except ValueError:
        return False
    return True


def _predicted(gold: Gold, folder: Path, instances: int, states: int) -> Scored:
    found = prediction_of(gold, folder)
    match found:
        case Source():
            return _scored(gold, found.text, "", instances, states, (0, 0))
        case Failure():
            first = found.diagnostics[0]
            return _unscored(gold, f"not read: {first.code} {first.message}", True, (0, 0))
        case None:
            return _unscored(gold, "no prediction", True, (0, 0))


def _unscored(gold: Gold, fault: str, readable: bool, problems: tuple[int, int]) -> Scored:
    return Scored(gold.name, readable, _ceiling(gold), _NONE, 0.0, 0.0, fault=fault,
                  problems=problems)  # fmt: skip


def _ceiling(gold: Gold) -> Official:
    return official(gold.domain.text, _without_comments(gold.domain.text))


def _without_comments(text: str) -> str:
    return re.sub(r";[^\n]*(\n|\Z)", r"\1", text)


def _scored(
    gold: Gold, text: str, fault: str, instances: int, states: int, problems: tuple[int, int]
) -> Scored:
    original = gold.domain.text
    try:
        exact = strict(original, text)
        four = score(original, text)
        fair = fmean((four.predicates, four.parameters, four.preconditions, four.effects))
        did = behaviour(original, text, instances, states) if instances else None
    except (ValueError, Failure) as error:
        return _unscored(gold, fault or f"the gold is not read: {error}", False, problems)
    lost = [f"lost {one}" for one in exact.lost] + [f"added {one}" for one in exact.added]
    measured = official(original, text)
    return Scored(gold.name, True, _ceiling(gold), measured, float(fair), float(exact.f1),
                  tuple(lost), did, fault, problems)  # fmt: skip


# ---- tables -------------------------------------------------------------------------------------


def _summary(scored: Sequence[Scored], author: Author) -> Section:
    heads = ("who", "executable", *(f"{one} F1" for one in FACETS), "F1 by definition", "strict F1",
             "strict F1 = 1", "same behaviour", "cost")  # fmt: skip
    ceiling = [one.ceiling for one in scored]
    whole = share(sum(one.readable for one in scored), len(scored))
    rows = [
        ("golds against themselves: the ceiling", *_official(ceiling), "–", "–", whole, "–", "–"),
        (author.shown("round trip"), *_official([one.official for one in scored]), *_own(scored),
         author.paid),
        (PAPER, f"{100 * PUBLISHED['executable']:.1f}", *("–",) * 4,
         f"{100 * PUBLISHED['f1']:.1f}", *("–",) * 4),
    ]  # fmt: skip
    intro = (
        f"{counted(len(scored), 'gold')}. The four F1 scores are those of the published script, "
        "with its defects, in percent, as means with intervals of 95 %; a text that it does not "
        "read has 0. By definition: the mean of the four as the paper defines them. Strict: all "
        "that a domain says, with types, costs and surplus actions; not the names of variables and "
        "the order of statements. Behaviour: compared state by state on made problems."
    )
    return Section("Text2World", intro, heads, tuple(rows))


def _official(found: Sequence[Official]) -> Iterator[str]:
    yield mean([100.0 * one.executable for one in found]).shown()
    for facet in FACETS:
        yield mean([getattr(one, facet) for one in found]).shown()


def _own(scored: Sequence[Scored]) -> Iterator[str]:
    fair: Mean = mean([100 * one.fair for one in scored])
    yield fair.shown()
    yield mean([100 * one.strict for one in scored]).shown()
    yield share(sum(one.strict == 1 for one in scored), len(scored))
    compared = [one.behaviour for one in scored if one.behaviour is not None]
    yield share(sum(one.same for one in compared), len(scored)) if compared else "–"


def _each(scored: Sequence[Scored], author: Author) -> Section:
    heads = ("gold", "official", "strict", "behaviour", "actions seen", "problems", "note")
    what = "came back unchanged" if author.is_engine else "were predicted"
    intro = (
        f"Each gold. Official: the mean of the four scores. Problems: how many {what}. "
        "Actions seen: those that are possible at the start of a made problem."
    )
    return Section("Each gold", intro, heads, tuple(map(_row, scored)))


def _row(one: Scored) -> tuple[str, ...]:
    did = one.behaviour
    note = one.fault or "; ".join(one.differences[:_TOLD])
    return (
        one.name, f"{fmean(getattr(one.official, facet) for facet in FACETS):.1f}",
        f"{100 * one.strict:.1f}", "–" if did is None else did.shown,
        "–" if did is None else f"{did.possible} of {did.actions}",
        f"{one.problems[0]} of {one.problems[1]}" if one.problems[1] else "–", note,
    )  # fmt: skip
