"""Questions to a predictor: the prompt, the answer that is read, and the transcript of both.

A transcript is a file of JSON lines: the first tells which set was asked and how, each other one is
a question with its answer, as the predictor wrote it. It has no times in it, so a run that was
stopped and goes on writes the same bytes as one that was not.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Final, Literal

from tokenworld.diagnostics import Diagnostic, Failure, read_source, usage
from tokenworld.store.usage import UNTOLD, Prices, Total, Usage, total, usage_of
from tokenworld.verbs.records.answers import Answer, Task, changes, given, read_answer, wanted
from tokenworld.verbs.records.answers import question as record_question
from tokenworld.verbs.records.rows import Recorded, Score, TextRow
from tokenworld.verbs.simbench.baselines import difference, right_answer
from tokenworld.verbs.simbench.sets import Question, QuestionSet, digest_of

FORMAT: Final = "tw-simbench-answers/1"
_KEYS: Final = frozenset(("objects", "modified", "removed", "score", "text"))
_DECODER: Final = json.JSONDecoder()
_BRACES: Final = 100
"""So many braces of a text may begin its answer."""
Mode = Literal["full", "diff"]
ENGLISH, WRITTEN, NONE = "english", "tw", "none"

_ASKED: Final[dict[Task, str]] = {
    "act": "An actor gives the command below in the state below. Say which state the command alone "
    "leads to, before time passes.",
    "env": "The command of this step has been carried out; the state below is what it led to. Say "
    "which state the passing of time alone makes of it, until the next command.",
    "score": "An actor gives the command below in the state below, and then time passes. Say which "
    "score the step leads to, and whether the game is then over and won.",
    "step": "An actor gives the command below in the state below, and then time passes. Say which "
    "state the whole step leads to, with the score, and whether the game is then over and won.",
}
_STATE: Final = (
    "A state is a list of objects. `uuid` identifies an object, `properties` are its values, and "
    "`contains` has the names of what is in it, in order. `max_UUID` is the next free number: new "
    "objects are numbered from it on."
)
_FULL: Final = (
    'Answer with one JSON object: {"objects": [every object that is there afterwards, whole], '
    '"max_UUID": the next free number'
)
_DIFF: Final = (
    'Answer with one JSON object: {"modified": [every object that is new or changed, whole], '
    '"removed": [the uuid of every object that is gone], "max_UUID": the next free number'
)
_SCORE: Final = '"score": {"score": a number, "gameOver": true or false, "gameWon": true or false}'
_SURE: Final = (
    'You may add "confidence", from 0 to 1: how probable it is that all of your answer is right.'
)


def form_text(task: Task, mode: Mode) -> str:
    """The form that an answer is to have."""
    if task == "score":
        return f"Answer with one JSON object: {{{_SCORE}}}. {_SURE}"
    begin = _FULL if mode == "full" else _DIFF
    return f"{begin}{f', {_SCORE}' if task == 'step' else ''}}}. {_SURE}"


def shown_question(row: TextRow, task: Task) -> str:
    """The state and the command, in one line of JSON."""
    told = record_question(row, task)
    keys = ("goal", "action", "score", "max_UUID", "objects")
    return json.dumps({key: told[key] for key in keys if key in told}, ensure_ascii=False)


def answer_json(row: TextRow, task: Task, mode: Mode) -> dict[str, Any]:
    """The right answer in the form of a mode."""
    right = right_answer(row, task)
    if task == "score" or mode == "diff":
        return difference(given(row, task), right)
    score = {} if right.score is None else {"score": right.score}
    return {"objects": right.objects, "max_UUID": right.next_id, **score}


@dataclass(frozen=True)
class Prompts:
    """The prompts for a predictor: the rules, examples of each task, and the question."""

    mode: Mode
    rules: str
    examples: Sequence[TextRow]
    number: int

    def preamble(self, task: Task) -> str:
        """The part that all questions of a task share."""
        parts = [_ASKED[task], _STATE, form_text(task, self.mode)]
        if self.rules:
            parts.append(f"These are the rules of the world:\n\n{self.rules}")
        for row in self._shown(task):
            answer = json.dumps(answer_json(row, task, self.mode), ensure_ascii=False)
            parts.append(f"Example:\n{shown_question(row, task)}\nAnswer:\n{answer}")
        return "\n\n".join(parts)

    def _shown(self, task: Task) -> list[TextRow]:
        """Examples by turns of rows that the task changes, and of rows that it does not."""
        kinds = [[row for row in self.examples if changes(row, task) is one]
                 for one in (True, False)]  # fmt: skip
        mixed = [row for pair in zip(*kinds, strict=False) for row in pair]
        rest = [row for kind in kinds for row in kind[len(mixed) // 2 :]]
        return [*mixed, *rest][: self.number]


def rules_of(found: QuestionSet, rules: str) -> str:
    """Return the text of the rules for a predictor."""
    if rules == NONE:
        return ""
    if rules in (ENGLISH, WRITTEN):
        return found.text("rules.txt" if rules == ENGLISH else "rules.tw")
    return read_source(Path(rules)).text


def rules_name(rules: str) -> str:
    """The name of the rules in a transcript."""
    return rules if rules in (NONE, ENGLISH, WRITTEN) else Path(rules).name


# ---- one answer ---------------------------------------------------------------------------------


def parsed(text: str, row: TextRow, task: Task) -> Answer:
    """Return the answer in a text: the JSON object in it, or its fault."""
    found = _object(text)
    return Answer(fault="the answer has no JSON object") if found is None else read_answer(
        found, row, task
    )  # fmt: skip


def _object(text: str) -> dict[str, Any] | None:
    """The longest JSON object in a text that may be an answer, since a model may think aloud; of
    an answer in a wrapper (``{"text": …}``) the one in that text."""
    best, longest, begin = None, 0, text.find("{")
    for _ in range(_BRACES):
        if begin < 0:
            break
        try:
            found, end = _DECODER.raw_decode(text, begin)
        except (ValueError, RecursionError):
            end = begin + 1
        else:
            if end - begin > longest and not _KEYS.isdisjoint(found):
                best, longest = found, end - begin
        begin = text.find("{", end)
    inner = best.get("text") if best is not None else None
    return _object(inner) if isinstance(inner, str) else best


def confidence_of(text: str) -> float | None:
    """The probability that a predictor gives its answer, where it gives one."""
    found = (_object(text) or {}).get("confidence")
    if not isinstance(found, int | float) or isinstance(found, bool) or not 0 <= found <= 1:
        return None
    return float(found)


def is_difference(text: str) -> bool:
    """Return whether an answer tells what changes; such an answer has no order of objects."""
    found = _object(text) or {}
    return "modified" in found or "removed" in found


def in_order(answer: Answer, row: TextRow, task: Task) -> Answer:
    """The answer with its objects in the recorded order, which a difference cannot tell."""
    if answer.objects is None:
        return answer
    places = {one["uuid"]: place for place, one in enumerate(wanted(row, task).objects)}
    last = len(places)
    return answer._replace(
        objects=sorted(answer.objects, key=lambda one: places.get(one["uuid"], last))
    )


def continued(row: TextRow, before: TextRow, answer: Answer) -> TextRow:
    """The row that begins with the predicted state of an earlier one."""
    assert answer.objects is not None
    free = max((one["uuid"] + 1 for one in answer.objects if one["uuid"] < 999_999), default=0)
    next_id = answer.next_id if answer.next_id is not None else max(free, before.before.next_id)
    score = dict(answer.score or {})
    number, over, won = (score.get(key) for key in ("score", "gameOver", "gameWon"))
    sound = isinstance(number, int | float) and isinstance(over, bool) and isinstance(won, bool)
    return row._replace(
        before=Recorded([*answer.objects], next_id),
        score_before=Score(number, over, won) if sound else before.score_before,  # type: ignore[arg-type]
    )


# ---- transcripts --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Entry:
    """One question with its answers. ``tries`` are all answers, the last one counts;
    ``prompt`` is the digest of the whole prompt."""

    question: int
    prompt: str
    asked: str
    tries: tuple[str, ...]

    @property
    def text(self) -> str:
        return self.tries[-1] if self.tries else ""

    def line(self) -> str:
        return json.dumps({
            "question": self.question, "prompt": self.prompt, "asked": self.asked,
            "tries": list(self.tries),
        }, ensure_ascii=False)  # fmt: skip


@dataclass
class Transcript:
    """The header of a transcript and its entries by question."""

    header: Mapping[str, Any]
    entries: dict[int, Entry] = field(default_factory=dict)
    whole: int = 0
    """Bytes of whole lines; the rest of the file is a line that was cut off."""

    def used(self, prices: Prices | None = None) -> Total:
        """The tokens and the cost of all answers, those that could not be read included."""
        tries = (told for entry in self.entries.values() for told in entry.tries)
        return total(map(_usage_in, tries), prices)

    def answer(self, found: QuestionSet, question: Question) -> tuple[TextRow, Answer]:
        """The row as it was asked, and the answer that was given."""
        row = asked_row(found, question, self)
        if row is None:
            row = found.row(question)
            return row, Answer(fault="the row before it has no answer that can be read")
        entry = self.entries.get(question.number)
        if entry is None:
            return row, Answer(fault="it was not answered")
        answer = parsed(entry.text, row, question.task)
        if is_difference(entry.text):
            answer = in_order(answer, row, question.task)
        return row, answer


def _usage_in(answer: str) -> Usage:
    """The usage that an answer tells, if it is one JSON object."""
    try:
        return usage_of(json.loads(answer))
    except (ValueError, RecursionError):
        return UNTOLD


def asked_row(found: QuestionSet, question: Question, transcript: Transcript) -> TextRow | None:
    """The row that a question shows; ``None`` where the answer that it would show is missing."""
    row = found.row(question)
    if question.after is None:
        return row
    earlier = found.questions[question.after - 1]
    before, answer = transcript.answer(found, earlier)
    return None if answer.fault or answer.objects is None else continued(row, before, answer)


def read_transcript(path: Path) -> Transcript:
    """A transcript, a torn end left out; `Failure` (TW0001, TW0006) where it is none."""
    try:
        data = path.read_bytes()
    except OSError as error:
        message = f"`{path}` cannot be read: {error.strerror or error}."
        hint = "Name the transcript that `tw simbench run` wrote."
        raise Failure(Diagnostic("TW0001", message, hint=hint)) from None
    whole = data.rfind(b"\n") + 1
    lines = data[:whole].decode("utf-8", "replace").splitlines()
    try:
        header = json.loads(lines[0])
        fits = header["format"] == FORMAT
        entries = [_entry(json.loads(line)) for line in lines[1:]]
    except (ValueError, KeyError, TypeError, IndexError, RecursionError) as error:
        raise _no_transcript(path, f"a line cannot be read ({error})") from None
    if not fits:
        raise _no_transcript(path, f"it is not of the format `{FORMAT}`")
    return Transcript(header, {one.question: one for one in entries}, whole)


def _entry(found: Mapping[str, Any]) -> Entry:
    number, tries = found["question"], found["tries"]
    if not isinstance(number, int) or not all(isinstance(one, str) for one in tries):
        raise ValueError("a number and a list of texts are needed")
    return Entry(number, str(found["prompt"]), str(found["asked"]), tuple(tries))


def _no_transcript(path: Path, why: str) -> Failure:
    hint = "Name the transcript that `tw simbench run` wrote, or another file with `-o FILE`."
    return usage(f"`{path}` is no transcript of answers: {why}.", hint)


def of_set(transcript: Transcript, found: QuestionSet, path: Path) -> Transcript:
    """The transcript; `Failure` (TW0006) where its answers are to the questions of another set."""
    if transcript.header.get("set") != found.digest:
        hint = f"Answer it with `tw simbench run {found.folder}`, or name the set that was asked."
        raise usage(f"`{path}` has no answers to the questions of `{found.folder}`.", hint)
    return transcript


class TranscriptFile:
    """A transcript that is written, one whole line after the other."""

    def __init__(self, path: Path, header: Mapping[str, Any]) -> None:
        self.path = path
        line = json.dumps(header, ensure_ascii=False) + "\n"
        known = read_transcript(path) if path.exists() and path.stat().st_size else None
        if known is not None and dict(known.header) != dict(header):
            hint = "Ask in the same way as before to go on, or name another file with `-o FILE`."
            raise usage(f"`{path}` is the transcript of another run.", hint)
        self.transcript = known or Transcript(header)
        self._file = self._opened()
        if known is None:
            self._write(line)
        else:
            self._file.truncate(known.whole)
            self._file.seek(known.whole)

    def _opened(self) -> IO[bytes]:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            return self.path.open("r+b" if self.path.exists() else "w+b")
        except OSError as error:
            message = f"`{self.path}` cannot be written: {error.strerror or error}."
            hint = "Name a file that can be written, with `-o FILE`."
            raise Failure(Diagnostic("TW0001", message, hint=hint)) from None

    def add(self, entry: Entry) -> None:
        self._write(entry.line() + "\n")
        self.transcript.entries[entry.question] = entry

    def _write(self, line: str) -> None:
        self._file.write(line.encode("utf-8", "backslashreplace"))
        self._file.flush()
        os.fsync(self._file.fileno())

    def close(self) -> None:
        self._file.close()


def prompt_digest(preamble: str, asked: str) -> str:
    return digest_of(f"{preamble}\n\n{asked}")[:32]


def left(found: QuestionSet, transcript: Transcript) -> Iterator[tuple[Question, TextRow]]:
    """The questions that are still to be answered, each with the row that it shows."""
    for question in found.questions:
        if question.number in transcript.entries:
            continue
        row = asked_row(found, question, transcript)
        if row is not None:
            yield question, row
