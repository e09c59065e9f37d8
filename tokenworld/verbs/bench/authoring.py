"""Let models write the domains of a benchmark from its descriptions, with the loop of `tw author`.

Each gold has a folder of its own below ``runs`` with all that `tw author` writes, so that ``runs``
is a folder of predictions. A run that has ended is not made again, and one that was interrupted
goes on. `rounds` compares the rounds of these runs by their transcripts.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Annotated, Final

from tokenworld.diagnostics import Diagnostic, Failure, Source, read_source, usage
from tokenworld.planning.pddl.export import export_domain
from tokenworld.session.loading import check_text
from tokenworld.store.usage import Total, Usage, total
from tokenworld.verbs import options as opt
from tokenworld.verbs.author.desk import recorded_usage
from tokenworld.verbs.author.transcript import NAME as TRANSCRIPT
from tokenworld.verbs.author.transcript import OUTSIDE, Event, read_line, recorded_lines
from tokenworld.verbs.author.verb import Wanted, write_world
from tokenworld.verbs.bench.golds import Gold
from tokenworld.verbs.bench.report import mean
from tokenworld.verbs.bench.scores import score
from tokenworld.verbs.output import EXIT_INTERRUPTED, EXIT_OK, EXIT_USAGE, Output, write_file
from tokenworld.verbs.pages import Section

_DESCRIPTION: Final = "description.md"
_FORMS: Final = ("{}.md", "{}.txt", "{}.json")
_KEYS: Final = ("description", "corrected_description")
_SHOWN: Final = 6
"""Codes of errors that a table shows."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The options of `tw author` that a benchmark passes on; ``author`` is the provider."""

    author: Annotated[
        str | None, "Let it write them: script:FILE, command:PROGRAM, http or pydantic-ai."
    ] = None
    runs: Annotated[Path | None, "The folder for what it writes."] = None
    descriptions: Annotated[Path | None, "A folder of descriptions; else those of the list."] = None
    url: Annotated[str, "The address of `http`."] = "https://api.openai.com/v1"
    key_env: Annotated[str, "The environment variable that has the key of `http`."] = (
        "OPENAI_API_KEY"
    )
    direct: Annotated[bool, "Ask once, without rounds: description in, world out."] = False
    single: Annotated[bool, "Leave out all roles but the developer."] = False
    without: Annotated[str, "Roles to leave out, as in `tw author`."] = ""
    rounds: Annotated[int, "Rounds of each run at most."] = 4
    requests: Annotated[int, opt.Option("--max-requests"), "Requests of each run at most."] = 100
    prices: opt.Prices = None


class _Silent(Output):
    """Prints the errors of a run, and nothing else."""

    def line(self, text: str = "") -> None:
        """Print nothing."""

    def json(self, value: object) -> None:
        """Print nothing."""

    def note(self, text: str) -> None:
        """Print nothing."""


def write_domains(
    golds: Sequence[Gold], asked: Asked, model: str | None, say: Callable[[str], None]
) -> int:
    """Let the provider write each domain; return the exit code of a run that ends all, else 0.

    Raises `Failure` (TW0006) without a folder for the runs, or for a gold without a description.
    """
    if asked.runs is None:
        raise usage("There is no folder for the runs.", "Name one with `--runs DIR`.")
    texts = {gold.name: _described(gold, asked.descriptions) for gold in golds}
    for number, gold in enumerate(golds, start=1):
        folder = asked.runs / gold.name
        if _has_ended(folder):
            continue
        say(f"{number} of {len(golds)}: writing {gold.name}")
        code = _written(folder, texts[gold.name], asked, model or "")
        if code in (EXIT_INTERRUPTED, EXIT_USAGE):
            return code
    return EXIT_OK


def _described(gold: Gold, folder: Path | None) -> str:
    found = gold.description
    if folder is not None:
        path = next((folder / one.format(gold.name) for one in _FORMS
                     if (folder / one.format(gold.name)).is_file()), None)  # fmt: skip
        found = "" if path is None else _told(read_source(path))
    if not found.strip():
        hint = "Name a folder with `NAME.md`, `NAME.txt` or `NAME.json` by `--descriptions DIR`."
        raise usage(f"`{gold.name}` has no description.", hint)
    return found


def _told(source: Source) -> str:
    if not source.name.endswith(".json"):
        return source.text
    try:
        found = json.loads(source.text)
    except (ValueError, RecursionError):
        found = None
    if isinstance(found, dict):
        return next((str(found[one]) for one in _KEYS if one in found), "")
    hint = "Write an object with `description`."
    raise Failure(Diagnostic("TW0001", f"`{source.name}` is no description.", hint=hint))


def _has_ended(folder: Path) -> bool:
    """Return whether a run ended by itself; one ended by a provider or a limit is continued."""
    if not (folder / TRANSCRIPT).is_file():
        return False
    last = read_line(recorded_lines(folder)[-1])
    return last.get("event") == "end" and last.get("reason") not in OUTSIDE


def _written(folder: Path, description: str, asked: Asked, model: str) -> int:
    """Make or resume one run."""
    begun = (folder / TRANSCRIPT).is_file()
    if not begun:
        hint = "Name a folder that can be written with `--runs`."
        write_file(folder / _DESCRIPTION, description, hint, folder=folder)
    return write_world(
        None if begun else folder / _DESCRIPTION, _Silent(), output=folder, provider=asked.author,
        model=model, url=asked.url, key_env=asked.key_env, prices=asked.prices, resume=begun,
        wanted=Wanted(
            contract="pddl", direct=asked.direct, single=asked.single, without=asked.without,
            rounds=asked.rounds, requests=asked.requests, mutants=0,
        ),
    )  # fmt: skip


# ---- the rounds ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Run:
    """The scores of a run's rounds (0 to 100), the codes of their errors, and the usage."""

    scores: tuple[float, ...]
    codes: tuple[tuple[str, ...], ...]
    used: tuple[Usage, ...]


def rounds(golds: Sequence[Gold], folder: Path) -> tuple[Section, str]:
    """Return the table of the rounds of all runs in a folder, and their cost."""
    runs = [_run(gold, folder / gold.name) for gold in golds
            if (folder / gold.name / TRANSCRIPT).is_file()]  # fmt: skip
    runs = [one for one in runs if one.scores]
    rows = tuple(_rows(runs))
    heads = ("round", "runs", "F1 by definition", "errors of the judge")
    used = total(each for one in runs for each in one.used)
    intro = (
        f"{_won(runs)} Each run counts in its rounds; F1 of the domain that the round handed in, "
        f"0 if it has none. {_worth(runs, used)}"
    )
    return Section("Rounds", intro, heads, rows), used.text


def _rows(runs: Sequence[_Run]) -> Iterator[tuple[str, ...]]:
    for number in range(max((len(one.scores) for one in runs), default=0)):
        here = [one for one in runs if number < len(one.scores)]
        codes = Counter(code for one in here for code in one.codes[number])
        most = sorted(codes.items(), key=lambda one: (-one[1], one[0]))[:_SHOWN]
        told = ", ".join(f"{code} {count}" for code, count in most)
        shown = mean([one.scores[number] for one in here]).shown()
        yield f"{number + 1}", f"{len(here)}", shown, told or "none"


def _won(runs: Sequence[_Run]) -> str:
    """Compare the first round of each run with its last."""
    gains = [one.scores[-1] - one.scores[0] for one in runs]
    win, loss = sum(one > 0 for one in gains), sum(one < 0 for one in gains)
    return f"Last round against first: {win} better, {len(gains) - win - loss} alike, {loss} worse."


def _worth(runs: Sequence[_Run], used: Total) -> str:
    tokens = used.tokens_in + used.tokens_out
    if used.told < used.answers or not tokens:
        return "Not all answers tell their tokens." if used.answers else "Nothing was asked."
    points = fmean(one.scores[-1] for one in runs) * len(runs)
    return f"{1000 * points / tokens:.2f} points of F1 for 1,000 tokens."


def _run(gold: Gold, folder: Path) -> _Run:
    events = [read_line(one) for one in recorded_lines(folder)]
    judged = [one for one in events if one.get("event") == "judgement"]
    answers = [one for one in events if one.get("event") == "response"]
    return _Run(
        tuple(_score(gold, str(one.get("text", ""))) for one in events
              if one.get("event") == "attempt"),
        tuple(_codes(one) for one in judged),
        tuple(map(recorded_usage, answers)),
    )  # fmt: skip


def _codes(judgement: Event) -> tuple[str, ...]:
    if judgement.get("status") == "accepted":
        return ()
    return tuple(dict.fromkeys(str(code) for code, _ in judgement.get("findings", ())))


def _score(gold: Gold, text: str) -> float:
    """Return the mean of the four F1 scores of a world against the gold, from 0 to 100."""
    program = check_text(text).program
    if program is None:
        return 0.0
    try:
        found = score(gold.domain.text, export_domain(program))
    except (Failure, ValueError):
        return 0.0
    four = (found.predicates, found.parameters, found.preconditions, found.effects)
    return 100 * fmean(map(float, four))
