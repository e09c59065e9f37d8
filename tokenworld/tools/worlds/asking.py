"""Answerers that are no worlds: a program at the other end of a pipe, or a file of answers."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from tokenworld.diagnostics import Diagnostic, Failure, read_source
from tokenworld.tools.worlds.answers import TASKS, Answer, Task, question, read_answer, row_id
from tokenworld.tools.worlds.rows import TextRow

__all__ = ["FileAnswerer", "PipeAnswerer", "wanted_tasks"]


def wanted_tasks(names: str) -> tuple[Task, ...]:
    """The tasks of a list such as ``act,env``; `Failure` (TW0006) for a name that is none."""
    given = [name.strip() for name in names.split(",") if name.strip()]
    wrong = [name for name in given if name not in TASKS]
    if wrong or not given:
        message = f"`{wrong[0] if wrong else names}` is no task."
        hint = f"Name some of {', '.join(TASKS)}."
        raise Failure(Diagnostic("TW0006", message, hint=hint))
    return tuple(task for task in TASKS if task in given)


class PipeAnswerer:
    """A program that reads a question on each line of its input and answers it with a line."""

    def __init__(self, command: str, tasks: Sequence[Task]) -> None:
        self._command, self._tasks = command, tasks
        try:
            self._process = subprocess.Popen(
                shlex.split(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                encoding="utf-8",
            )  # fmt: skip
        except (OSError, ValueError, IndexError) as error:
            raise self._ended(f"cannot be started ({error})") from None

    def answers(self, row: TextRow) -> Mapping[Task, Answer]:
        return {task: self._answer(row, task) for task in self._tasks}

    def _answer(self, row: TextRow, task: Task) -> Answer:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        try:
            stdin.write(json.dumps(question(row, task), ensure_ascii=False) + "\n")
            stdin.flush()
            line = stdout.readline()
        except (OSError, UnicodeDecodeError) as error:
            raise self._ended(f"stopped answering at {row.place} ({error})") from None
        if not line:
            raise self._ended(f"ended before it answered {row.place}")
        try:
            return read_answer(json.loads(line), row, task)
        except (ValueError, RecursionError) as error:
            return Answer(fault=f"the answer is no JSON ({error})")

    def _ended(self, what: str) -> Failure:
        hint = "It reads a question on each line and writes an answer for it, until its input ends."
        return Failure(Diagnostic("TW0006", f"The predictor `{self._command}` {what}.", hint=hint))

    def close(self) -> None:
        """Let the program end."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):  # what was still to be written has no reader
                    pipe.close()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


class FileAnswerer:
    """Answers from a file: each names the ``row`` and ``task`` of its question."""

    def __init__(self, path: Path) -> None:
        self._answers: dict[tuple[str, str], Any] = {}
        self._used: set[tuple[str, str]] = set()
        for number, line in enumerate(read_source(path).text.split("\n"), start=1):
            if line.strip():
                self._note(path, number, line)
        given = {task for _, task in self._answers}
        self._tasks = tuple(task for task in TASKS if task in given)

    def _note(self, path: Path, number: int, line: str) -> None:
        try:
            found = json.loads(line)
            key = (found["row"], found["task"])
        except (ValueError, KeyError, TypeError, RecursionError):
            key = ("", "")
        if not all(isinstance(part, str) for part in key) or key[1] not in TASKS:
            message = f"`{path}:{number}` is no answer: it names no `row` and `task`."
            hint = "Copy both from the question; `--questions FILE` writes the questions."
            raise Failure(Diagnostic("TW0006", message, hint=hint))
        self._answers[key] = found

    @property
    def unused(self) -> int:
        """How many answers nobody asked for: their rows are not among those that were read."""
        return len(self._answers.keys() - self._used)

    def answers(self, row: TextRow) -> Mapping[Task, Answer]:
        return {task: self._answer(row, task) for task in self._tasks}

    def _answer(self, row: TextRow, task: Task) -> Answer:
        found = self._answers.get((row_id(row), task))
        self._used.add((row_id(row), task))
        if found is None:
            return Answer(fault="the file has no answer for it")
        return read_answer(found, row, task)
