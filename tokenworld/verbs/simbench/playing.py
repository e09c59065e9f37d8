"""``tw simbench run`` and ``play``: put the questions of a set to a predictor, or to a person, who
writes the predicted changes."""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Protocol

from tokenworld.diagnostics import counted, did_you_mean, fields_json, usage
from tokenworld.session.remote import Channel, HttpChannel, PlayerFailure, ProcessChannel
from tokenworld.verbs import options as opt
from tokenworld.verbs.output import EXIT_NEGATIVE, EXIT_OK, Output
from tokenworld.verbs.records.answers import Answer, Task, given
from tokenworld.verbs.records.answers import question as record_question
from tokenworld.verbs.records.rows import Recorded, TextRow
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
from tokenworld.verbs.simbench.baselines import difference
from tokenworld.verbs.simbench.sets import Question, QuestionSet, read_set

# ---- Runs ----------------------------------------------------------------------------------------


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
        """Return the question for a predictor; ``again`` is the fault of its last answer."""
        told = record_question(self.row, self.question.task)
        more = {"again": again} if again else {}
        prompt = f"{self.preamble}\n\n{self.shown}"
        told |= {"row": f"{self.question.number}", "mode": self.mode, "prompt": prompt, **more}
        return json.dumps(told, ensure_ascii=False)


class Stopped(Exception):
    """Raised where the player stops answering for now."""


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
    folder: opt.Questions,
    out: Output,
    *,
    predictor: Annotated[str | None, "A program: a question a line, an answer a line."] = None,
    url: Annotated[str | None, "An HTTP address that answers a POST."] = None,
    replay: Annotated[Path | None, "Take the answers from a transcript instead."] = None,
    mode: Annotated[Mode, "Ask for the whole state, or for what changes."] = "full",
    rules: opt.ToldRules = "english",
    examples: Annotated[int, "Rows that are shown with their answers."] = 1,
    output: opt.Answers = None,
    reply_timeout: Annotated[float, "Seconds for one answer."] = 60.0,
    retries: Annotated[int, "How often an answer that cannot be read is asked for again."] = 2,
) -> int:
    """Ask the questions without an answer, and write each answer at once."""
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
    used = file.transcript.used()
    if used.told:
        out.line(used.text)
    out.json({
        "schema_version": 1, "ok": not unread, "answers": len(entries), "unread": unread,
        "transcript": str(file.path), "set": found.digest, "usage": fields_json(used),
    })  # fmt: skip
    return EXIT_NEGATIVE if unread else EXIT_OK


# ---- Answers of a person -------------------------------------------------------------------------
# A line says one thing: ``stove.isOn = true``, ``pot in sink``, ``key gone``, ``new Water water``,
# ``score = 1``. An empty line ends an answer, ``quit`` (or the end of the input) the sitting. The
# answers are a transcript of differences as any other, and are scored alike.


HELP: Final = (
    "One change a line: `NAME.PROPERTY = VALUE`, `NAME in NAME`, `NAME gone`, `new TYPE NAME`, "
    "`score = N`, `gameOver = true`. A number stands for a name: `#4`. An empty line: that is all."
)
_SET = re.compile(r"(?:(?P<name>.+?)\.)?(?P<key>[\w ()]+?)\s*=\s*(?P<value>.*)")
_IN = re.compile(r"(?P<name>.+?) in (?P<holder>.+)")
_NEW = re.compile(r"new (?P<kind>\w+) (?P<name>.+)")
_QUESTION: Final = {
    "act": "What will the command alone have changed?",
    "env": "Time passes. What will be different?",
    "score": "How will the score be?",
    "step": "What will be different after the command and the time that passes?",
}


class _Unclear(Exception):
    """Raised for a line that means no change: a sentence that says why."""


class Editing:
    """A state that a person changes line by line."""

    def __init__(self, state: Recorded, score: Mapping[str, Any] | None) -> None:
        self.before = state
        self.objects: list[dict[str, Any]] = deepcopy([*map(dict, state.objects)])
        self.next_id = state.next_id
        self.score = None if score is None else dict(score)

    def change(self, line: str) -> None:
        """Make the change that a line says; `_Unclear` where it says none."""
        new, inside, told = (one.fullmatch(line) for one in (_NEW, _IN, _SET))
        if line.endswith(" gone"):
            self._remove(self._find(line.removesuffix(" gone").strip()))
        elif new is not None:
            self._create(new["kind"], new["name"].strip())
        elif told is not None:
            self._put(told["name"], told["key"].strip(), _value(told["value"].strip()))
        elif inside is not None:
            self._move(self._find(inside["name"].strip()), self._find(inside["holder"].strip()))
        else:
            raise _Unclear(f"`{line}` says no change. {HELP}")

    def answer(self) -> str:
        """The answer as a difference."""
        score = self.score
        found = difference(self.before, Answer(self.objects, self.next_id, score))
        return json.dumps(found, ensure_ascii=False)

    def _put(self, name: str | None, key: str, value: Any) -> None:
        if name is None:
            if self.score is None or key not in self.score:
                raise _Unclear(f"There is no `{key}` here: name the object first.")
            self.score[key] = value
            return
        one = self._find(name)
        if key == "contains":
            if not isinstance(value, list):
                raise _Unclear("What it contains is a list of names.")
            one["contains"] = value
        else:
            one["properties"][key] = value

    def _create(self, kind: str, name: str) -> None:
        self.objects.append({"name": name, "uuid": self.next_id, "type": kind, "properties": {},
                             "contains": []})  # fmt: skip
        self.next_id += 1

    def _remove(self, one: dict[str, Any]) -> None:
        self._leave(one)
        self.objects.remove(one)

    def _move(self, one: dict[str, Any], holder: dict[str, Any]) -> None:
        self._leave(one)
        holder["contains"].append(one["name"])

    def _leave(self, one: dict[str, Any]) -> None:
        for other in self.objects:
            if one["name"] in other["contains"]:
                other["contains"].remove(one["name"])
                return

    def _find(self, name: str) -> dict[str, Any]:
        wanted = name.removeprefix("#")
        for one in self.objects:
            if one["name"] == name or (name != wanted and str(one["uuid"]) == wanted):
                return one
        hint = did_you_mean(name, [one["name"] for one in self.objects]) or ""
        raise _Unclear(f"There is no `{name}`. {hint}".strip())


def _value(text: str) -> Any:
    """A value as JSON, or as the text that it is."""
    try:
        return json.loads(text)
    except ValueError:
        return None if text in ("none", "None") else text


class Person:
    """Somebody who reads the state and answers in lines."""

    def __init__(self, read: Callable[[], str | None], out: Output, most: int | None) -> None:
        self._read, self._out, self._left = read, out, most

    def tries(self, asking: Asking) -> tuple[str, ...]:
        """One answer. `Stopped` where the person stops."""
        if self._left == 0:
            raise Stopped
        for line in shown(asking):
            self._out.line(line)
        row, task = asking.row, asking.question.task
        score = row.score_before.to_json() if task in ("score", "step") else None
        editing = Editing(given(row, task), score)
        for line in self._lines():
            try:
                editing.change(line)
            except _Unclear as unclear:
                self._out.line(f"  {unclear}")
        if self._left is not None:
            self._left -= 1
        return (editing.answer(),)

    def _lines(self) -> Iterator[str]:
        """The lines of one answer."""
        while True:
            line = self._read()
            if line is None or line.strip() == "quit":
                raise Stopped
            if not line.strip():
                return
            yield line.strip()


def shown(asking: Asking) -> Iterator[str]:
    """A question as a person reads it."""
    row, task = asking.row, asking.question.task
    yield ""
    yield f"Question {asking.question.number}. {row.task}"
    for one in given(row, task).objects:
        values = ", ".join(f"{key} {json.dumps(value, ensure_ascii=False)}"
                           for key, value in one["properties"].items())  # fmt: skip
        inside = f"; in it: {', '.join(one['contains'])}" if one["contains"] else ""
        yield f"  {one['name']} (#{one['uuid']}, {one['type']}) {values}{inside}".rstrip()
    if task in ("score", "step"):
        yield f"  score: {json.dumps(row.score_before.to_json())}"
    if task != "env":
        yield f"Command: {row.action}"
    yield _QUESTION[task]


def play(
    folder: opt.Questions,
    out: Output,
    *,
    rules: opt.ToldRules = "english",
    questions: Annotated[
        int | None, "Questions of this sitting; all that are left by default."
    ] = None,
    output: opt.Answers = None,
) -> int:
    """Ask a person at the terminal; continue where the last sitting stopped."""
    if questions is not None and questions < 1:
        raise usage("A sitting has one question at least.", "Give `--questions N` from 1.")
    found = read_set(folder)
    told = rules_of(found, rules)
    path = output or folder / "answers-person.jsonl"
    if told:
        out.line(told)
    out.line(HELP)
    person = Person(_typed, out, questions)
    how = {"rules": rules_name(rules), "retries": 0}
    return answered(found, person, Prompts("diff", told, (), 0), path, how, out)


def _typed() -> str | None:
    line = sys.stdin.readline()
    return line if line else None
