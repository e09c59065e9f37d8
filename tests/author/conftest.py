"""Run `tw author` in this process and folder, with a model that is a script."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tokenworld.cli import _main
from tokenworld.verbs.author.desk import Settings
from tokenworld.verbs.author.providers.scripted import Script
from tokenworld.verbs.author.rounds import Job, Result, author
from tokenworld.verbs.author.transcript import Transcript

PAGE = (Path(__file__).parents[2] / "docs" / "author.md").read_text(encoding="utf-8")


@dataclass(frozen=True)
class Ran:
    """The result of one call of the program."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one object on stdout."""
        assert self.out.count("\n") == 1, self.out
        return json.loads(self.out)


Tw = Callable[..., Ran]


@pytest.fixture
def tw(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Tw:
    """``tw("d.md", "-o", "out", …)`` in a fresh folder; no output may contain a traceback."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: object) -> Ran:
        code = _main(["author", *map(str, arguments)])
        found = capsys.readouterr()
        assert "Traceback" not in found.err + found.out
        assert code != 4, found.err
        return Ran(code, found.out, found.err)

    return call


def marked(mark: str) -> str:
    """A block of the page by the comment before it."""
    found = re.search(rf"<!-- {re.escape(mark)} -->\n```\w+\n(.*?)^```", PAGE, re.DOTALL | re.M)
    assert found is not None
    return found[1]


Answers = Iterable[tuple[str, str]]


def run(
    path: Path, description: str, answers: Answers, settings: Settings | None = None, **more: Any
) -> tuple[Result, list[str]]:
    """A run with a scripted model, and the lines of its transcript."""
    transcript = Transcript(path)
    job = Job(description, settings or Settings(), Script(answers), transcript, **more)
    result = author(job)
    transcript.close()
    return result, path.read_text(encoding="utf-8").splitlines()


def replayed(lines: list[str], description: str, settings: Settings | None = None) -> Result:
    """The run again on its transcript; `Failure` where an event differs."""
    transcript = Transcript(None, lines)
    result = author(Job(description, settings or Settings(), None, transcript))
    assert transcript.exhausted
    return result


def events(lines: Iterable[str], kind: str) -> list[dict[str, Any]]:
    return [one for one in map(json.loads, lines) if one["event"] == kind]
