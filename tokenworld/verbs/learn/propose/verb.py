"""``tw learn propose``: rules of a world from recorded rows, without a language model.

With given rules (`given.extending`), only the changes that they do not explain are learned.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, TypeVar

from tokenworld.diagnostics import Diagnostic, Failure, Source, counted, to_json, usage
from tokenworld.ground import Json
from tokenworld.session import open_world
from tokenworld.session.loading import OpenWorld, open_text
from tokenworld.session.replaying import Row
from tokenworld.verbs import options as opt
from tokenworld.verbs.learn.journal import Journal
from tokenworld.verbs.learn.page import Point, propose_page
from tokenworld.verbs.learn.propose.commands import called, typed
from tokenworld.verbs.learn.propose.emitting import Emitted, emitted
from tokenworld.verbs.learn.propose.given.extending import Rules, extended
from tokenworld.verbs.learn.propose.given.played import played
from tokenworld.verbs.learn.propose.judging import Judged, apart, judged_text, judged_world
from tokenworld.verbs.learn.propose.outside import (
    Answers,
    Asked,
    Place,
    Weighed,
    improved,
    program,
    weighed,
)
from tokenworld.verbs.learn.propose.stages import Learned, Proposal, Say, Stages
from tokenworld.verbs.learn.propose.textrows import OVER, SCORE, WON, TextSteps
from tokenworld.verbs.learn.propose.worldrows import WorldSteps, read_world_rows
from tokenworld.verbs.output import (
    EXIT_NEGATIVE,
    EXIT_OK,
    Output,
    columns,
    keep_files,
    write_file,
)
from tokenworld.verbs.records.properties import MAPPING_FILE
from tokenworld.verbs.records.rows import BadRow, TextRow, no_rows, read_text_rows

_NOTED = 5
"""The greatest number of unusable rows that are printed."""
_FEWEST = 2
"""The least number of rows from which anything can be learned."""
_WRITABLE = "Name a file that can be written."
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Proposed:
    """The result of learning: the proposal and the program. ``given`` is the score of the given
    rules alone, and ``refused`` are accepted commands that they refuse. ``asked`` are the rules
    from an external program. For a report, ``held`` are the held-out rows, and ``curve`` is the
    score after fewer rows."""

    proposal: Proposal
    made: Emitted
    given: Judged | None = None
    refused: tuple[str, ...] = ()
    asked: Asked | None = None
    held: tuple[Weighed, ...] = ()
    world: OpenWorld | None = None
    curve: tuple[Point, ...] = ()


@dataclass(frozen=True, slots=True)
class _How:
    """The options of learning: the files to score on, or the share of rows; the program that is
    asked, the journal, and the numbers of rows of a learning curve."""

    test: tuple[Path, ...]
    holdout: float
    seed: int
    ask: Answers | None
    journal: Journal
    out: Output
    curve: tuple[int, ...] = ()
    reports: bool = False
    noisy: bool = False

    def split(self, rows: Sequence[T]) -> tuple[list[T], list[T]]:
        """Return the rows to learn from and those held out."""
        numbers = list(range(len(rows)))
        random.Random(self.seed).shuffle(numbers)
        held = set(numbers[: int(len(rows) * (0.0 if self.test else self.holdout))])
        return ([one for at, one in enumerate(rows) if at not in held],
                [one for at, one in enumerate(rows) if at in held])  # fmt: skip

    def asked(self, text: str, place: Place, rows: Sequence[Row]) -> Asked | None:
        """Return the proposals of the external program, if there is one; the journal keeps its
        answers."""
        if self.ask is None:
            return None
        ask = self.ask

        def kept(question: dict[str, Any]) -> list[str] | None:
            found = self.journal.once("answer", lambda: {"laws": ask(question)})["laws"]
            return None if found is None else list(found)

        return improved(text, place, rows, kept, self.out.progress)


class _Fresh:
    """Rules without given ones."""

    def __init__(self, title: str) -> None:
        self._title = title

    def opened(self, text: str) -> OpenWorld:
        """Return the world by these rules."""
        return open_text((Source("proposed.tw", None, text),), self._title)


def propose(
    rows: Annotated[tuple[Path, ...], "Files of `tw runs rows`, or recorded rows of a text game."],
    out: Output,
    *,
    world: Annotated[
        str | None, "FILE[:world]: keep these rules, and add what the rows show besides."
    ] = None,
    output: Annotated[
        Path | None,
        opt.OUTPUT,
        "Write the world to this file; beside it the mapping of a text game.",
    ] = None,
    test: Annotated[tuple[Path, ...], "Score on the rows of these files."] = (),
    holdout: Annotated[float, "Without --test: the share of rows to score on."] = 0.2,
    seed: Annotated[int, "Which rows these are."] = 0,
    noisy: Annotated[bool, "Any change may come by chance, though no state was met twice."] = False,
    proposer: Annotated[str | None, "A program that is asked for laws, in lines of JSON."] = None,
    reply_timeout: Annotated[float, "Seconds that one answer may take."] = 60.0,
    journal: opt.Journal = None,
    report: opt.Report = None,
    curve: Annotated[tuple[int, ...], "Learn from so many rows too, for the report."] = (),
    write: Annotated[bool, "Replace files that are there."] = False,
) -> int:
    """Learn, score on other rows, and write; return 1 if no rule was found, or where the program
    that was asked has failed."""
    _ready(rows, (output, report), holdout, write)
    for path in test:
        next(read_text_rows(path), None)  # it can be opened
    used, bad = _read(rows)
    _enough(len(used), bad)
    given = None if world is None else Rules(open_world(world))
    about = {
        "command": "propose", "seed": seed, "holdout": 0.0 if test else holdout,
        "proposer": proposer, "curve": list(curve), "noisy": noisy,
        "world": None if given is None else given.world.program.digest,
    }  # fmt: skip
    kept = Journal.of(journal, about, rows, out)
    ask, close = (None, _nothing) if proposer is None else program(proposer, reply_timeout)
    try:
        how = _How(test, holdout, seed, ask, kept, out, curve, report is not None, noisy)
        found, judged = _learned(given, used, bad, how)
    finally:
        close()
    _print(found, judged, bad, out)
    if output is not None:
        _write(found.made, output, out)
    if report is not None:
        write_file(report, _page(found, judged), _WRITABLE, folder=report.parent)
        out.line(f"wrote {report}")
    kept.finished()
    out.json(_json(found, judged, bad, output))
    kept_laws = [] if found.asked is None else found.asked.kept
    some = any(found.proposal.acts.values()) or found.proposal.ticks or kept_laws
    failed = found.asked is not None and found.asked.failure is not None
    return EXIT_OK if some and not failed else EXIT_NEGATIVE


def _nothing() -> None:
    """There is no program to end."""


def _learned(
    given: Rules | None, used: Sequence[TextRow | Row], bad: list[BadRow], how: _How
) -> tuple[Proposed, Judged | None]:
    """Learn from rows of either kind, with given rules or without."""
    texts = [one for one in used if isinstance(one, TextRow)]
    worlds = [one for one in used if isinstance(one, Row)]
    games = dict.fromkeys(map(_game, used))
    if len(games) > 1 and given is None:
        what = f"The rows are of several games or worlds: {', '.join(f'`{x}`' for x in games)}."
        raise usage(what, "Name the rows of one game or world.")
    if not texts:
        return _from_worlds(worlds, how) if given is None else _from_given(given, worlds, bad, how)
    if given is not None or how.ask is not None:
        hint = "Leave that out, or record play of a world with `tw run` and `tw runs rows`."
        what = "`--world` and `--proposer` take rows of worlds, not those of a text game."
        raise usage(what, hint)
    return _from_texts(texts, how)


def _ready(
    rows: Sequence[Path], outputs: Sequence[Path | None], holdout: float, write: bool
) -> None:
    """Raise `Failure` where nothing can be learned, or a file would be written over."""
    if not rows:
        hint = "Name files of recorded rows: `.jsonl`, or `.jsonl.gz`."
        raise Failure(Diagnostic("TW0001", "No file of rows is named.", hint=hint))
    if not 0 <= holdout < 1:
        raise usage("The share of rows held out is below 1.", "Give `--holdout 0.2`.")
    output, *others = outputs
    beside = None if output is None else output.with_name(MAPPING_FILE)
    hint = "Name another file, or add `--write` to replace what is there."
    keep_files((output, beside, *others), write, hint)
    if find_spec("numpy") is None:
        hint = 'Install it: `pip install "token-world[learn]"`.'
        raise Failure(
            Diagnostic("TW0811", "Proposing rules needs numpy, which is not installed.", hint=hint)
        )


def _read(paths: Sequence[Path]) -> tuple[list[TextRow | Row], list[BadRow]]:
    """Return the rows of files, of text games or of worlds, whichever the first line is of."""
    used: list[TextRow | Row] = []
    bad: list[BadRow] = []
    for path in paths:
        texts = list(read_text_rows(path))
        rows: Iterator[TextRow | Row | BadRow] = iter(texts)
        if texts and all(isinstance(one, BadRow) for one in texts):
            rows = iter(list(read_world_rows([path])))
        for one in rows:
            if isinstance(one, BadRow):
                bad.append(one)
            else:
                used.append(one)
    return used, bad


def _game(row: TextRow | Row) -> str:
    """Return the game or the world that a row is of."""
    if isinstance(row, TextRow):
        return row.game
    return str(row.state.get("world", "world")) if isinstance(row.state, Mapping) else "world"


def _enough(rows: int, bad: Sequence[BadRow]) -> None:
    """Raise `Failure` (TW1209) where nothing can be learned from so many rows."""
    if rows < _FEWEST:
        hint = "Record more play with `tw run` and `tw runs rows`."
        raise no_rows("There are too few rows to learn from.", bad, hint)


# ---- learning -----------------------------------------------------------------------------------


def learned_texts(
    rows: Sequence[TextRow], say: Say, journal: Journal | None = None, *, noisy: bool = False
) -> Proposed:
    """Return the rules of a text game."""
    read = TextSteps(rows)
    grammar = typed(read.steps, read.vocabulary)
    read.vocabulary.name_groups()
    last = frozenset((SCORE, OVER, WON))
    stages = Stages(read.steps, read.vocabulary, grammar, say, last, noisy=noisy, journal=journal)
    proposal = stages.learn()
    return Proposed(proposal, emitted(proposal, read.steps, read.layout, read.layout.game))


def learned_worlds(
    rows: Sequence[Row], say: Say, journal: Journal | None = None, *, noisy: bool = False
) -> tuple[Proposed, str]:
    """Return the rules of a world, with the world's name."""
    read = WorldSteps(rows)
    grammar = called(read.steps, read.vocabulary)
    read.vocabulary.name_groups()
    last = frozenset(read.vocabulary.endings)
    stages = Stages(read.steps, read.vocabulary, grammar, say, last, noisy=noisy, journal=journal)
    proposal = stages.learn()
    return Proposed(proposal, emitted(proposal, read.steps, None, read.title)), read.title


def _from_texts(rows: Sequence[TextRow], how: _How) -> tuple[Proposed, Judged | None]:
    used, held = how.split(rows)
    found = learned_texts(used, how.out.progress, how.journal, noisy=how.noisy)
    others = [one for path in how.test for one in read_text_rows(path)]
    held = [*held, *(one for one in others if isinstance(one, TextRow))]
    fresh = list(apart(used, held))
    if not fresh:
        return found, None
    how.out.progress(f"scoring {counted(len(fresh), 'other row')}")

    def point(number: int) -> Point:
        made = learned_texts(used[:number], how.out.progress, how.journal, noisy=how.noisy).made
        one = judged_text(made, fresh).dynamic["step"]
        return Point(number, one.right, one.rows)

    found = replace(found, curve=tuple(point(one) for one in _fewer(how.curve, len(used))))
    return found, judged_text(found.made, fresh)


def _from_worlds(rows: Sequence[Row], how: _How) -> tuple[Proposed, Judged | None]:
    used, held = how.split(rows)
    found, title = learned_worlds(used, how.out.progress, how.journal, noisy=how.noisy)

    def fewer(number: int) -> OpenWorld:
        other, title = learned_worlds(used[:number], how.out.progress, how.journal, noisy=how.noisy)
        return _Fresh(title).opened(other.made.text)

    return _scored(found, _Fresh(title), used, held, how, fewer)


def _from_given(
    rules: Rules, rows: Sequence[Row], bad: list[BadRow], how: _How
) -> tuple[Proposed, Judged | None]:
    used, held = how.split(rows)
    how.out.progress("playing the given rules")
    read = played(rules.world, used)
    bad += read.bad
    _enough(len(read.rows), bad)
    proposal, made = extended(rules, read, how.out.progress, how.journal, noisy=how.noisy)
    given = judged_world(rules.world, held, how.test)
    found = Proposed(proposal, made, given, tuple(read.refused))

    def fewer(number: int) -> OpenWorld:
        some = played(rules.world, used[:number])
        other = extended(rules, some, how.out.progress, how.journal, noisy=how.noisy)[1]
        return rules.opened(other.text)

    return _scored(found, rules, [one.row for one in read.rows], held, how, fewer)


def _scored(
    found: Proposed, place: Place, used: Sequence[Row], held: Sequence[Row], how: _How,
    fewer: Callable[[int], OpenWorld],
) -> tuple[Proposed, Judged | None]:  # fmt: skip
    """Ask for more rules, and score all of them. ``fewer`` returns the world that is learned from
    so many rows."""
    asked = how.asked(found.made.text, place, used)
    if asked is not None:
        found = replace(found, asked=asked, made=replace(found.made, text=asked.text))
    world = place.opened(found.made.text)
    judged = judged_world(world, held, how.test)
    if how.reports:
        rows = [*held, *(one for one in read_world_rows(how.test) if isinstance(one, Row))]
        found = replace(found, held=tuple(weighed(world, rows)), world=world)
    points = []
    for number in _fewer(how.curve, len(used)):
        other = judged_world(fewer(number), held, how.test)
        if other is not None:
            one = other.dynamic["step"]
            points.append(Point(number, one.right, one.rows))
    return replace(found, curve=tuple(points)), judged


def _fewer(curve: Sequence[int], rows: int) -> list[int]:
    """Return the numbers of rows of a learning curve that are there."""
    return [one for one in sorted(set(curve)) if _FEWEST <= one <= rows]


# ---- telling ------------------------------------------------------------------------------------


def _print(found: Proposed, judged: Judged | None, bad: Sequence[BadRow], out: Output) -> None:
    for line in columns(_cells(found.proposal), (0, 1)):
        out.line(line)
    if found.asked is not None:
        told = f"{len(found.asked.kept)} of {len(found.asked.kept) + len(found.asked.left_out)}"
        questions = counted(found.asked.questions, "question")
        out.line(f"the proposer was asked {questions}: {told} rules were kept")
    out.diagnostics(_remarks(found))
    for one in bad[:_NOTED]:
        out.note(f"{one.place}: {one.why}")
    if bad:
        out.note(f"{counted(len(bad), 'row')} skipped")
    if judged is not None:
        out.line()
        for line in _scores(judged, found.given):
            out.line(line)


def _remarks(found: Proposed) -> list[Diagnostic]:
    remarks = list(found.made.rejected)
    if found.asked is not None:
        remarks += found.asked.left_out
        remarks += found.asked.failure.diagnostics if found.asked.failure is not None else ()
    remarks += _contradiction(found.proposal)
    if found.refused:
        what = (
            f"The given rules refuse {counted(len(found.refused), 'recorded command')} that was "
            f"accepted, the first: {found.refused[0]}."
        )
        hint = "Loosen the `require` that refuses it (`tw legal`, `tw explain`); none is taken out."
        remarks.append(Diagnostic("TW1210", what, hint=hint))
    return remarks


def _contradiction(proposal: Proposal) -> list[Diagnostic]:
    """Return the findings about rows that contradict each other."""
    if proposal.noisy or not (proposal.chance or proposal.contradiction):
        return []
    rows = " and ".join(f"`{one}`" for one in proposal.contradiction)
    what = f"One command in one state has different outcomes{f' ({rows})' if rows else ''}"
    if proposal.chance:
        what, hint = f"{what}, so rules happen by chance.", "if the world is no game of chance"
    else:
        what, hint = f"{what}, and the rules tell one of them.", "or correct the rows"
    return [Diagnostic("TW1208", what, hint=f"Record all that decides, {hint}.")]


def _cells(proposal: Proposal) -> list[tuple[str, ...]]:
    """Return a line for each rule: the changes that it explains, and those that it gets wrong."""
    lines: list[tuple[str, ...]] = [("rule", "slot", "rules", "explained", "wrong", "unexplained")]
    for name, one in _all(proposal):
        right = sum(rule.right for rule in one.rules.rules)
        counts = (one.rules.wrong, one.rules.unexplained)
        lines.append((name, one.name, str(len(one.rules.rules)), str(right), *map(str, counts)))
    return lines


def _all(proposal: Proposal) -> Iterator[tuple[str, Learned]]:
    for number, schema in enumerate(proposal.grammar.schemas):
        for one in proposal.acts.get(number, ()):
            yield schema.name, one
    for one in proposal.ticks:
        yield "by itself", one


def _scores(judged: Judged, given: Judged | None) -> Iterator[str]:
    names = {"act": "after the command", "env": "after the tick", "score": "score",
             "step": "whole step"}  # fmt: skip
    yield "strictly right on rows not learned from"
    yield f"{'':<18}{'changing':>22}{'all':>22}"
    scored = [(names[task], judged, task) for task in judged.dynamic]
    scored += [("by the given rules", given, "step")] if given is not None else []
    for name, found, task in scored:
        cells = (f"{_share(x.right, x.rows):>22}" for x in (found.dynamic[task], found.every[task]))
        yield f"{name:<18}{''.join(cells)}"
    if judged.unreadable:
        yield f"{counted(judged.unreadable, 'row')} cannot be read into the world, the first:"
        yield f"  {judged.bad[0].place}: {judged.bad[0].why}"
    if judged.logp or judged.impossible:
        yield f"log probability {judged.logp:.4f}, {judged.impossible} impossible"


def _share(right: int, rows: int) -> str:
    return "none" if not rows else f"{right} of {rows} ({right / rows:.1%})"


def _json(
    found: Proposed, judged: Judged | None, bad: Sequence[BadRow], output: Path | None
) -> dict[str, object]:
    rules: list[Json] = [_learned_json(name, one) for name, one in _all(found.proposal)]
    skipped: list[Json] = [f"{one.place}: {one.why}" for one in bad]
    remarks = [to_json(one) for one in _remarks(found)]
    return {
        "schema_version": 1,
        "ok": bool(rules) or (found.asked is not None and bool(found.asked.kept)),
        "rules": rules,
        "chance": found.proposal.chance,
        "diagnostics": remarks,
        "judged": None if judged is None else judged.to_json(),
        "given": None if found.given is None else found.given.to_json(),
        "refused": list(found.refused),
        "curve": [[one.rows, one.right, one.of] for one in found.curve],
        "proposer": None if found.asked is None else found.asked.to_json(),
        "skipped": skipped,
        "text": found.made.text,
        "mapping": found.made.mapping,
        "output": None if output is None else str(output),
    }


def _learned_json(name: str, one: Learned) -> Json:
    counts: list[Json] = [[rule.right, rule.wrong] for rule in one.rules.rules]
    return {
        "rule": name,
        "slot": one.name,
        "phase": one.phase,
        "right_and_wrong": counts,
        "unexplained": one.rules.unexplained,
    }


def _page(found: Proposed, judged: Judged | None) -> str:
    """Return the report as HTML."""
    scores = [] if judged is None else list(_scores(judged, found.given))
    remarks = [one.message for one in _remarks(found)]
    title = found.made.text.partition("\n")[0].removeprefix("# ").partition(":")[0]
    world = None if found.world is None else found.world.world
    return propose_page(
        title if world is None else world.name, _cells(found.proposal), scores, found.made.text,
        found.held, world, found.curve, remarks,
    )  # fmt: skip


def _write(made: Emitted, output: Path, out: Output) -> None:
    write_file(output, made.text, _WRITABLE, folder=output.parent)
    if made.mapping:
        write_file(output.with_name(MAPPING_FILE), made.mapping, _WRITABLE)
    out.line(f"wrote {output}")
