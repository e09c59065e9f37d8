"""``tw simbench play``: the questions of a set for a person, who writes what will be different.

A line says one thing: ``stove.isOn = true``, ``pot in sink``, ``key gone``, ``new Water water``,
``score = 1``. An empty line ends an answer, ``quit`` (or the end of the input) the sitting. The
answers are a transcript of differences as any other, and are scored alike.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any, Final

from tokenworld.diagnostics import did_you_mean, usage
from tokenworld.verbs.output import Output
from tokenworld.verbs.records.answers import Answer, given
from tokenworld.verbs.records.rows import Recorded
from tokenworld.verbs.simbench.asking import Prompts, rules_name, rules_of
from tokenworld.verbs.simbench.baselines import difference
from tokenworld.verbs.simbench.running import Asking, Stopped, answered
from tokenworld.verbs.simbench.sets import read_set

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
    folder: Path, out: Output, *, rules: str, questions: int | None, output: Path | None
) -> int:
    """Ask a person at the terminal; goes on where the last sitting stopped."""
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
