"""A set of questions on disk: rows, questions about them, examples, rules, and a manifest.

``manifest.json`` tells where the rows come from and has the SHA-256 of every other file:

- ``rows.jsonl``: transitions in the form of the recorded rows;
- ``questions.jsonl``: the task and the row of each question (`Question`);
- ``examples.jsonl``: rows that no question is about, for examples and the nearest row;
- ``baselines.jsonl``: answers without a model;
- ``rules.txt``, ``rules.tw``: the rules in English, and as they are written.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Literal

from tokenworld.diagnostics import Diagnostic, Failure, read_source, usage
from tokenworld.verbs.output import write_file
from tokenworld.verbs.records.answers import TASKS, Task
from tokenworld.verbs.records.rows import BadRow, Recorded, TextRow, read_text_rows

FORMAT: Final = "tw-simbench/1"
MANIFEST: Final = "manifest.json"
FILES: Final = (
    "rows.jsonl", "questions.jsonl", "examples.jsonl", "baselines.jsonl", "rules.txt", "rules.tw",
)  # fmt: skip
Part = Literal["act", "env", "score", "step", "chain", "own"]
PARTS: Final[tuple[Part, ...]] = ("act", "env", "score", "step", "chain", "own")
"""``chain``: rows that follow each other, each asked from its true state; ``own``: the same, asked
from the state that the predictor itself gave for the row before."""


@dataclass(frozen=True, slots=True)
class Question:
    """One question. ``row`` is a line of ``rows.jsonl``; ``after`` is the number of the question
    whose answer is the state that this one shows, ``step`` the number of rows that came of it."""

    number: int
    row: int
    task: Task
    part: Part
    verb: str
    dynamic: bool
    chain: int = 0
    step: int = 1
    after: int | None = None


@dataclass(frozen=True)
class QuestionSet:
    """A set as it was read."""

    folder: Path
    manifest: Mapping[str, Any]
    digest: str
    rows: Sequence[TextRow]
    questions: Sequence[Question]
    examples: Sequence[TextRow]

    def row(self, question: Question) -> TextRow:
        return self.rows[question.row - 1]

    def text(self, name: str) -> str:
        """The text of one of its files."""
        return read_source(self.folder / name).text

    @cached_property
    def baselines(self) -> Mapping[str, Mapping[int, Any]]:
        """Answers by question of each baseline."""
        found: dict[str, dict[int, Any]] = {}
        try:
            for line in self.text("baselines.jsonl").splitlines():
                one = json.loads(line)
                found.setdefault(str(one["who"]), {})[one["question"]] = one["answer"]
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            why = f"`baselines.jsonl` cannot be read ({error})"
            raise _unfit(self.folder, why) from None
        return found


def row_json(row: TextRow, number: int) -> str:
    """A row as a line of a file; texts that tell of the state in words are left out."""

    def state(recorded: Recorded, action: str) -> dict[str, Any]:
        return {
            "observation": "", "look": "", "inventory": "", "taskDesc": row.task,
            "lastAction": action, "objects": recorded.objects, "max_UUID": recorded.next_id,
        }  # fmt: skip

    return json.dumps({
        "game": row.game, "state_id": number, "current_state": state(row.before, ""),
        "action_state": state(row.acted, row.action), "tick_state": state(row.ticked, row.action),
        "current_score_state": row.score_before.to_json(),
        "next_score_state": row.score_after.to_json(),
    }, ensure_ascii=False)  # fmt: skip


def lines_text(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def write_set(folder: Path, texts: Mapping[str, str], manifest: Mapping[str, Any]) -> str:
    """Write all files, the manifest last; its digest."""
    hint = "Name a folder that can be written to, with `-o DIR`."
    for name in FILES:
        write_file(folder / name, texts[name], hint, folder=folder)
    files = {name: digest_of(texts[name]) for name in FILES}
    text = json.dumps({**manifest, "files": files}, indent=2, ensure_ascii=False) + "\n"
    write_file(folder / MANIFEST, text, hint)
    return digest_of(text)


def digest_of(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def questions_text(questions: Iterable[Question]) -> str:
    return lines_text(json.dumps(asdict(one)) for one in questions)


def read_set(folder: Path) -> QuestionSet:
    """The set of a folder; `Failure` (TW0001, TW0006) where it is none, or not as it was made."""
    if not folder.is_dir():
        hint = "Make one: `tw simbench make WORLD -o DIR`."
        raise Failure(Diagnostic("TW0001", f"There is no set of questions `{folder}`.", hint=hint))
    text = read_source(folder / MANIFEST).text
    manifest = _manifest(folder, text)
    for name, wanted in manifest["files"].items():
        if digest_of(read_source(folder / name).text) != wanted:
            raise _unfit(folder, f"`{name}` is not the file that was made")
    rows = _rows(folder / "rows.jsonl")
    return QuestionSet(
        folder, manifest, digest_of(text), rows, _questions(folder, len(rows)),
        _rows(folder / "examples.jsonl"),
    )  # fmt: skip


def _manifest(folder: Path, text: str) -> Mapping[str, Any]:
    try:
        found = json.loads(text)
        fits = found["format"] == FORMAT and {*found["files"]} == {*FILES}
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise _unfit(folder, f"`{MANIFEST}` cannot be read ({error})") from None
    if not fits:
        raise _unfit(folder, f"`{MANIFEST}` is not of the format `{FORMAT}` with its files")
    return found  # type: ignore[no-any-return]


def _rows(path: Path) -> Sequence[TextRow]:
    found: list[TextRow] = []
    for row in read_text_rows(path):
        if isinstance(row, BadRow):
            raise _unfit(path.parent, f"`{path.name}` has a line that is no row: {row.why}")
        found.append(row)
    return found


def _questions(folder: Path, rows: int) -> Sequence[Question]:
    found: list[Question] = []
    try:
        for line in read_source(folder / "questions.jsonl").text.splitlines():
            found.append(Question(**json.loads(line)))
        fits = all(_fits(one, number, rows) for number, one in enumerate(found, start=1))
    except (ValueError, TypeError, RecursionError) as error:
        raise _unfit(folder, f"`questions.jsonl` cannot be read ({error})") from None
    if not fits:
        raise _unfit(folder, "`questions.jsonl` asks about rows that are not there")
    return found


def _fits(one: Question, number: int, rows: int) -> bool:
    before = one.after is None or 0 < one.after < number
    known = one.task in TASKS and one.part in PARTS
    return one.number == number and 1 <= one.row <= rows and before and known


def _unfit(folder: Path, why: str) -> Failure:
    hint = "Make the set again with `tw simbench make`, or get it whole."
    return usage(f"`{folder}` is no set of questions that fits its manifest: {why}.", hint)
