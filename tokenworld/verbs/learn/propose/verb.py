"""``tw learn propose``: rules of a world from recorded rows, without a language model.

With given rules (`given.extending`), only what these do not explain is learned, and added to them.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TypeVar

from tokenworld.diagnostics import Diagnostic, Failure, Source, counted, to_json, usage
from tokenworld.ground import Json
from tokenworld.session import open_world
from tokenworld.session.loading import open_text
from tokenworld.session.replaying import Row
from tokenworld.verbs.learn.propose.commands import called, typed
from tokenworld.verbs.learn.propose.emitting import Emitted, emitted
from tokenworld.verbs.learn.propose.given.extending import Rules, extended
from tokenworld.verbs.learn.propose.judging import Judged, apart, judged_text, judged_world
from tokenworld.verbs.learn.propose.stages import Learned, Proposal, Say, Stages
from tokenworld.verbs.learn.propose.textrows import OVER, SCORE, WON, TextSteps
from tokenworld.verbs.learn.propose.worldrows import WorldSteps, read_world_rows
from tokenworld.verbs.output import EXIT_NEGATIVE, EXIT_OK, Output, write_file
from tokenworld.verbs.records.properties import MAPPING_FILE
from tokenworld.verbs.records.rows import BadRow, TextRow, read_text_rows

_NOTED = 5
"""The greatest number of unusable rows that are printed."""
_FEWEST = 2
"""The least number of rows from which anything can be learned."""


@dataclass(frozen=True, slots=True)
class Proposed:
    """The result of learning: the proposal and the program. ``given`` is the score of given rules
    without the proposal, and ``refused`` are accepted commands that they refuse."""

    proposal: Proposal
    made: Emitted
    given: Judged | None = None
    refused: tuple[str, ...] = ()


def propose(
    rows: tuple[Path, ...],
    out: Output,
    *,
    world: str | None,
    output: Path | None,
    test: tuple[Path, ...],
    holdout: float,
    seed: int,
    write: bool,
) -> int:
    """Learn, score on other rows, and write; return 1 if no rule was found."""
    _ready(rows, output, holdout, write)
    used, bad = _read(rows)
    if len(used) < _FEWEST:
        raise _too_few(bad)
    if world is not None:
        found, judged = _from_given(world, used, bad, test, holdout, seed, out)
    elif all(isinstance(one, TextRow) for one in used):
        texts = [one for one in used if isinstance(one, TextRow)]
        found, judged = _from_texts(texts, test, holdout, seed, out)
    else:
        worlds = [one for one in used if isinstance(one, Row)]
        found, judged = _from_worlds(worlds, test, holdout, seed, out)
    _print(found, judged, bad, out)
    if output is not None:
        _write(found.made, output, out)
    out.json(_json(found, judged, bad, output))
    some = any(found.proposal.acts.values()) or found.proposal.ticks
    return EXIT_OK if some else EXIT_NEGATIVE


def _ready(rows: Sequence[Path], output: Path | None, holdout: float, write: bool) -> None:
    if not rows:
        hint = "Name files of recorded rows: `.jsonl`, or `.jsonl.gz`."
        raise Failure(Diagnostic("TW0001", "No file of rows is named.", hint=hint))
    if not 0 <= holdout < 1:
        raise usage("The share of rows held out is below 1.", "Give `--holdout 0.2`.")
    for file in () if output is None or write else (output, output.with_name(MAPPING_FILE)):
        if file.exists():
            hint = "Give another `--output`, or `--write` to replace what is there."
            raise Failure(Diagnostic("TW0001", f"`{file}` is already there.", hint=hint))
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
    games = {one.game for one in used if isinstance(one, TextRow)}
    kinds = {type(one) for one in used}
    if len(games) > 1 or len(kinds) > 1:
        what = f"The rows are of several games: {', '.join(f'`{one}`' for one in sorted(games))}."
        raise usage(what, "Name the rows of one game or world.")
    return used, bad


def _too_few(bad: Sequence[BadRow]) -> Failure:
    what = "There are too few rows to learn from."
    if bad:
        what = f"{what.rstrip('.')}; the first that cannot be used: {bad[0].place}: {bad[0].why}."
    hint = "Record more play with `tw run` and `tw runs rows`."
    return Failure(Diagnostic("TW1209", what, hint=hint))


T = TypeVar("T")


# ---- learning -----------------------------------------------------------------------------------


def learned_texts(rows: Sequence[TextRow], say: Say) -> Proposed:
    """Return the rules of a text game."""
    read = TextSteps(rows)
    grammar = typed(read.steps, read.vocabulary)
    read.vocabulary.name_groups()
    last = frozenset((SCORE, OVER, WON))
    proposal = Stages(read.steps, read.vocabulary, grammar, say, last).learn()
    return Proposed(proposal, emitted(proposal, read.steps, read.layout, read.layout.game))


def learned_worlds(rows: Sequence[Row], say: Say) -> tuple[Proposed, str]:
    """Return the rules of a world, with the world's name."""
    read = WorldSteps(rows)
    grammar = called(read.steps, read.vocabulary)
    read.vocabulary.name_groups()
    last = frozenset(read.vocabulary.endings)
    proposal = Stages(read.steps, read.vocabulary, grammar, say, last).learn()
    return Proposed(proposal, emitted(proposal, read.steps, None, read.title)), read.title


def _from_texts(
    rows: Sequence[TextRow], test: Sequence[Path], holdout: float, seed: int, out: Output
) -> tuple[Proposed, Judged | None]:
    used, held = _split(rows, 0.0 if test else holdout, seed)
    found = learned_texts(used, out.progress)
    others = [one for path in test for one in read_text_rows(path)]
    held = [*held, *(one for one in others if isinstance(one, TextRow))]
    fresh = list(apart(used, held))
    if not fresh:
        return found, None
    out.progress(f"scoring {counted(len(fresh), 'other row')}")
    return found, judged_text(found.made, fresh)


def _from_worlds(
    rows: Sequence[Row], test: Sequence[Path], holdout: float, seed: int, out: Output
) -> tuple[Proposed, Judged | None]:
    used, held = _split(rows, 0.0 if test else holdout, seed)
    found, title = learned_worlds(used, out.progress)
    made = open_text((Source("proposed.tw", None, found.made.text),), title)
    return found, judged_world(made, held, test)


def _from_given(
    target: str, rows: Sequence[TextRow | Row], bad: list[BadRow], test: Sequence[Path],
    holdout: float, seed: int, out: Output,
) -> tuple[Proposed, Judged | None]:  # fmt: skip
    worlds = [one for one in rows if isinstance(one, Row)]
    if len(worlds) < len(rows):
        hint = "Leave out `--world`, or record play of the world with `tw run` and `tw runs rows`."
        raise usage("Rules are added to a world by its own rows, not those of a text game.", hint)
    rules = Rules(open_world(target))
    used, held = _split(worlds, 0.0 if test else holdout, seed)
    proposal, made, read = extended(rules, used, out.progress)
    bad += read.bad
    given = judged_world(rules.world, held, test)
    judged = judged_world(rules.opened(made.text), held, test)
    return Proposed(proposal, made, given, tuple(read.refused)), judged


def _split(rows: Sequence[T], share: float, seed: int) -> tuple[list[T], list[T]]:
    """Return the rows to learn from and those held out."""
    numbers = list(range(len(rows)))
    random.Random(seed).shuffle(numbers)
    held = set(numbers[: int(len(rows) * share)])
    return ([one for at, one in enumerate(rows) if at not in held],
            [one for at, one in enumerate(rows) if at in held])  # fmt: skip


# ---- telling ------------------------------------------------------------------------------------


def _print(found: Proposed, judged: Judged | None, bad: Sequence[BadRow], out: Output) -> None:
    for line in _table(found.proposal):
        out.line(line)
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
    if found.proposal.chance:
        what = "One command in one state has different outcomes, so rules happen by chance."
        hint = "Record all that decides, if the world is no game of chance."
        remarks.append(Diagnostic("TW1208", what, hint=hint))
    if found.refused:
        what = (
            f"The given rules refuse {counted(len(found.refused), 'recorded command')} that was "
            f"accepted, the first: {found.refused[0]}."
        )
        hint = "Loosen the `require` that refuses it (`tw legal`, `tw explain`); none is taken out."
        remarks.append(Diagnostic("TW1210", what, hint=hint))
    return remarks


def _table(proposal: Proposal) -> Iterator[str]:
    """Yield a line for each rule: the changes that it explains, and those that it gets wrong."""
    lines: list[tuple[str, ...]] = [("rule", "slot", "rules", "explained", "wrong", "unexplained")]
    for name, one in _all(proposal):
        right = sum(rule.right for rule in one.rules.rules)
        counts = (one.rules.wrong, one.rules.unexplained)
        lines.append((name, one.name, str(len(one.rules.rules)), str(right), *map(str, counts)))
    widths = [max(len(line[at]) for line in lines) for at in range(len(lines[0]))]
    for line in lines:
        first, second, *numbers = line
        shown = "  ".join(f"{x:>{width}}" for x, width in zip(numbers, widths[2:], strict=True))
        yield f"{first:<{widths[0]}}  {second:<{widths[1]}}  {shown}".rstrip()


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
        "ok": bool(rules),
        "rules": rules,
        "chance": found.proposal.chance,
        "diagnostics": remarks,
        "judged": None if judged is None else judged.to_json(),
        "given": None if found.given is None else found.given.to_json(),
        "refused": list(found.refused),
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


def _write(made: Emitted, output: Path, out: Output) -> None:
    hint = "Name a file that can be written."
    write_file(output, made.text, hint, folder=output.parent)
    if made.mapping:
        write_file(output.with_name(MAPPING_FILE), made.mapping, hint)
    out.line(f"wrote {output}")
