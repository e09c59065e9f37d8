"""``tw simbench run`` and ``play``: put the questions of a set to a predictor, or to a person."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

from tokenworld.diagnostics import counted, usage
from tokenworld.session.remote import Channel, HttpChannel, PlayerFailure, ProcessChannel
from tokenworld.verbs.output import EXIT_NEGATIVE, EXIT_OK, Output
from tokenworld.verbs.records.answers import Task
from tokenworld.verbs.records.answers import question as record_question
from tokenworld.verbs.records.rows import TextRow
from tokenworld.verbs.simbench.asking import (
    FORMAT,
    Entry,
    Mode,
    Prompts,
    TranscriptFile,
    left,
    of_set,
    parsed,
    prompt_digest,
    read_transcript,
    rules_name,
    rules_of,
    shown_question,
)
from tokenworld.verbs.simbench.sets import Question, QuestionSet, read_set

LONGEST: Final = 1 << 20
"""Bytes of one answer, which may hold a whole state."""


@dataclass(frozen=True, slots=True)
class Asking:
    """One question on its way: ``preamble`` and ``shown`` together are the prompt."""

    question: Question
    row: TextRow
    mode: Mode
    preamble: str
    shown: str

    def entry(self, tries: tuple[str, ...]) -> Entry:
        digest = prompt_digest(self.preamble, self.shown)
        return Entry(self.question.number, digest, self.shown, tries)

    def line(self, again: str) -> str:
        """The question as a predictor gets it; ``again`` says what was wrong with its answer."""
        told = record_question(self.row, self.question.task)
        more = {"again": again} if again else {}
        prompt = f"{self.preamble}\n\n{self.shown}"
        told |= {"row": f"{self.question.number}", "mode": self.mode, "prompt": prompt, **more}
        return json.dumps(told, ensure_ascii=False)


class Stopped(Exception):
    """Raised where whoever answers stops for now."""


class Predictor(Protocol):
    """Whoever answers."""

    def tries(self, asking: Asking) -> tuple[str, ...]:
        """All answers to one question; the last one counts. `Failure` where none comes."""


class Asked:
    """A program or an address: asked again, with the reason, where an answer cannot be read."""

    def __init__(self, name: str, channel: Channel, retries: int, path: Path) -> None:
        self.name, self.channel, self.retries, self.path = name, channel, retries, path

    def tries(self, asking: Asking) -> tuple[str, ...]:
        found: list[str] = []
        fault = ""
        for _ in range(1 + self.retries):
            found.append(self._one(asking, fault))
            fault = parsed(found[-1], asking.row, asking.question.task).fault
            if not fault:
                break
        return tuple(found)

    def _one(self, asking: Asking, fault: str) -> str:
        try:
            line = self.channel.ask(asking.line(fault))
        except PlayerFailure as failure:
            raise self._failed(failure.what, asking) from None
        if line is None:
            raise self._failed("left", asking)
        return line

    def _failed(self, what: str, asking: Asking) -> Exception:
        number = asking.question.number
        return usage(
            f"The predictor `{self.name}` {what} (asked question {number}).",
            f"What it answered so far is in `{self.path}`; the same command goes on from there.",
        )


class Replayed:
    """The answers of a transcript."""

    def __init__(self, path: Path, found: QuestionSet) -> None:
        self.path, self.transcript = path, of_set(read_transcript(path), found, path)

    def tries(self, asking: Asking) -> tuple[str, ...]:
        entry = self.transcript.entries.get(asking.question.number)
        if entry is None:
            raise usage(
                f"`{self.path}` has no answer to question {asking.question.number}.",
                "Name a whole transcript, or let the predictor go on.",
            )
        if entry.prompt != prompt_digest(asking.preamble, asking.shown):
            raise usage(
                f"`{self.path}` answers another prompt in question {entry.question}.",
                "Give the options that were given when it was written: `--rules`, `--mode`, "
                "`--examples`.",
            )
        return entry.tries


def run(
    folder: Path, out: Output, *, predictor: str | None, url: str | None, replay: Path | None,
    mode: Mode, rules: str, examples: int, output: Path | None, reply_timeout: float, retries: int,
) -> int:  # fmt: skip
    """Ask what is not answered yet, and keep each answer at once."""
    given = [one for one in (predictor, url, replay) if one is not None]
    if len(given) != 1:
        raise usage("A set is answered by one predictor.",
                    "Give one of `--predictor CMD`, `--url U` and `--replay FILE`.")  # fmt: skip
    if retries < 0 or examples < 0:
        raise usage("There are no fewer than 0.", "Give `--retries N` and `--examples K` from 0.")
    if not reply_timeout > 0:
        raise usage("A predictor needs time to answer.", "Give `--reply-timeout S` above 0.")
    found = read_set(folder)
    told = Prompts(mode, rules_of(found, rules), found.examples, examples)
    path = output or folder / f"answers-{mode}-{Path(rules).stem}.jsonl"
    who: dict[str, object] = {"retries": retries}
    with _predictor(predictor, url, replay, reply_timeout, retries, path, found) as answering:
        if isinstance(answering, Replayed):
            who = {"retries": answering.transcript.header.get("retries", 0)}
        return answered(found, answering, told, path, {"rules": rules_name(rules), **who}, out)


@contextmanager
def _predictor(
    command: str | None, url: str | None, replay: Path | None, seconds: float, retries: int,
    path: Path, found: QuestionSet,
) -> Iterator[Predictor]:  # fmt: skip
    if replay is not None:
        yield Replayed(replay, found)
        return
    name = command or url or ""
    try:
        channel = _channel(command, url, seconds)
    except PlayerFailure as failure:
        hint = "It reads a question on each line and writes an answer for it, until its input ends."
        raise usage(f"The predictor `{name}` {failure.what}.", hint) from None
    try:
        yield Asked(name, channel, retries, path)
    finally:
        channel.close()


def _channel(command: str | None, url: str | None, seconds: float) -> Channel:
    if url is not None:
        return HttpChannel(url, seconds, longest=LONGEST)
    try:
        words = shlex.split(command or "")
    except ValueError as error:
        raise usage(f"The command has a quote left open: {error}.", "Close it.") from None
    if not words:
        raise usage("The predictor is empty.", 'Give `--predictor "python my_model.py"`.')
    return ProcessChannel(words, seconds, end="\n", longest=LONGEST)


def answered(
    found: QuestionSet, predictor: Predictor, told: Prompts, path: Path,
    how: Mapping[str, Any], out: Output,
) -> int:  # fmt: skip
    """Put the questions that are left; the exit code."""
    preambles: dict[Task, str] = {}
    header = {"format": FORMAT, "set": found.digest, "mode": told.mode, "examples": told.number,
              **how, "preambles": preambles}  # fmt: skip
    for question in found.questions:
        if question.task not in preambles:
            preambles[question.task] = told.preamble(question.task)
    say, file = out.each_second(), TranscriptFile(path, header)
    before = len(file.transcript.entries)
    try:
        for question, row in left(found, file.transcript):
            shown = shown_question(row, question.task)
            asking = Asking(question, row, told.mode, preambles[question.task], shown)
            file.add(asking.entry(predictor.tries(asking)))
            say(f"{len(file.transcript.entries)} of {len(found.questions)} answered")
    except Stopped:
        out.note("stopped: the same command goes on from here")
    finally:
        file.close()
    return _tell(found, file, before, out)


def _tell(found: QuestionSet, file: TranscriptFile, before: int, out: Output) -> int:
    entries = file.transcript.entries
    answers = [file.transcript.answer(found, found.questions[number - 1]) for number in entries]
    unread = sum(bool(answer.fault) for _, answer in answers)
    kept = f", {counted(before, 'answer')} kept from before" if before else ""
    out.line(f"{file.path}: {counted(len(entries), 'answer')}{kept}")
    if unread:
        out.note(f"{counted(unread, 'answer')} cannot be read, and will count as wrong")
    out.json({
        "schema_version": 1, "ok": not unread, "answers": len(entries), "unread": unread,
        "transcript": str(file.path), "set": found.digest,
    })  # fmt: skip
    return EXIT_NEGATIVE if unread else EXIT_OK
