"""Run `tw author` in this process and folder, with a model that is a script."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Ran
from tokenworld.cli import _main
from tokenworld.verbs.author.asking import Request, Response
from tokenworld.verbs.author.desk import Settings
from tokenworld.verbs.author.providers import Script
from tokenworld.verbs.author.rounds import Job, Result, author
from tokenworld.verbs.author.transcript import Transcript
from tokenworld.verbs.judge.contract import Budget, Contract

DESCRIPTION = """\
A cave with an oil lamp. Pouring moves one measure of oil from the hero into the lamp.
A lamp without oil cannot be lit. The cave is bright when the lamp is lit.
"""
SPEC = """\
{"title": "A cave", "entities": ["lamp", "hero"],
 "mechanics": [
  {"id": "M1", "text": "Pouring moves one measure of oil from the hero into the lamp.",
   "quote": "Pouring moves one measure of oil from the hero into the lamp"},
  {"id": "M2", "text": "A lamp without oil cannot be lit.",
   "quote": "A lamp without oil cannot be lit"}],
 "win": [{"id": "W1", "text": "The cave is bright when the lamp is lit.",
          "quote": "The cave is bright when the lamp is lit"}]}
"""
CAVE = """\
type Lamp { oil: 0 to 9 = 0  lit: bool }
type Hero { oil: 0 to 9 = 2 }
actor me: Hero
action pour(l: Lamp) as "pour oil into {l}" {
  require me.oil > 0 else none_left
  me.oil -= 1
  l.oil += 1
}
action light(l: Lamp) as "light {l}" {
  require l.oil > 0 else dry
  require not l.lit else lit
  l.lit = true
}
world cave {
  object lamp: Lamp
  object ada: Hero
  goal bright: lamp.lit
}
"""
TESTS = """\
scenario "M1 oil is poured" in cave {
  when pour(lamp) then lamp.oil == 1, ada.oil == 1
}
scenario "M2 a dry lamp" in cave {
  when light(lamp) then refused because dry
}
scenario "W1 the whole way" in cave {
  when pour(lamp) then lamp.oil == 1
  when pour(lamp) then ada.oil == 0
  when light(lamp) then won bright
}
"""
RULES = '{"tool": "submit", "rules": {"M1": ["pour"], "M2": ["light"], "W1": ["bright"]}}'


def whole(text: str) -> str:
    return f"```tw\n{text}```\n"


def call(text: str) -> str:
    return f"```tool\n{text}\n```\n"


SUBMIT = call(RULES)


def patch(search: str, replace: str) -> str:
    return f"<<<<<<< SEARCH\n{search}\n=======\n{replace}\n>>>>>>> REPLACE\n"


QUICK = Budget(states=2_000, ticks=40, mutants=0, seconds=60.0)
TEAM = Settings(Contract("free"), roles=("analyst", "developer", "tester"), judge=QUICK)
ALONE = replace(TEAM, roles=("developer",))
ANALYST = ("analyst", SPEC)
TESTER = ("tester", whole(TESTS))


def dev(*parts: str) -> tuple[str, str]:
    return ("developer", "\n".join(parts))


GOOD = dev(whole(CAVE), SUBMIT)
NO_OIL = CAVE.replace("  l.oil += 1\n", "")
"""The oil that is poured reaches no lamp, so that none can be lit."""

PAGE = (Path(__file__).parents[2] / "docs" / "author.md").read_text(encoding="utf-8")


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


class Model(Script):
    """A script that remembers what it was asked."""

    def __init__(self, answers: Iterable[tuple[str, str]]) -> None:
        super().__init__(answers)
        self.asked: list[Request] = []

    def ask(self, request: Request) -> Response:
        self.asked.append(request)
        return super().ask(request)

    def heard(self, number: int) -> str:
        """The last turn of a request, counted from 0: what the model was told."""
        return self.asked[number].messages[-1].text


@dataclass(frozen=True)
class Done:
    """A run, its model, and the lines of its transcript."""

    result: Result
    model: Model
    lines: list[str]

    @property
    def codes(self) -> list[list[str]]:
        """The codes of the errors of each round."""
        return [
            [one.code for one in attempt.judgement.findings if one.is_error]
            for attempt in self.result.attempts
        ]


Run = Callable[..., Done]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """``run(answers, settings, description)``: every run is replayed, and must be equal."""

    def call(
        answers: Iterable[tuple[str, str]],
        settings: Settings,
        description: str = DESCRIPTION,
        **more: Any,
    ) -> Done:
        path, model = tmp_path / "transcript.jsonl", Model(answers)
        path.unlink(missing_ok=True)
        transcript = Transcript(path)
        result = author(Job(description, settings, model, transcript, **more))
        lines = path.read_text(encoding="utf-8").splitlines()
        again = replayed(lines, description, settings)
        assert (again.reason, again.why) == (result.reason, result.why)
        assert [one.hash for one in again.attempts] == [one.hash for one in result.attempts]
        return Done(result, model, lines)

    return call


def replayed(lines: list[str], description: str, settings: Settings) -> Result:
    """The run again on its transcript; `Failure` where an event differs."""
    transcript = Transcript(None, lines)
    result = author(Job(description, settings, None, transcript))
    assert transcript.exhausted
    return result


def events(lines: Iterable[str], kind: str) -> list[dict[str, Any]]:
    return [one for one in map(json.loads, lines) if one["event"] == kind]
