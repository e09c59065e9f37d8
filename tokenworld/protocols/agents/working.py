"""The child process of one tool: runs a verb and writes its answer as one JSON object on stdout.

It reads a pickled `Work` from its parent on stdin and writes progress to stderr. A child process
makes a tool cancellable, and bounds its time and memory.
"""

from __future__ import annotations

import json
import os
import pickle
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from tokenworld.diagnostics import Diagnostic, Failure, Reach, Source, reaching
from tokenworld.verbs.output import Output, ended, rendered


@dataclass(frozen=True, slots=True)
class Work:
    """A function below `tokenworld.verbs` (`plan.verb.plan_asked`), its arguments without ``out``.

    ``reach`` limits the files that it may read; ``seconds`` and ``megabytes`` bound its time and
    memory.
    """

    function: str
    given: Mapping[str, Any]
    reach: Reach
    seconds: float
    megabytes: int


@dataclass(slots=True)
class Told(Output):
    """Collects the text and the JSON of a verb; ``failed``: the input could not be used."""

    as_json: bool = True
    lines: list[str] = field(default_factory=list)
    found: dict[str, Any] = field(default_factory=dict)
    failed: bool = False

    def line(self, text: str = "") -> None:
        self.lines.append(text)

    def data(self, text: str) -> None:
        self.lines.append(text)

    def json(self, value: Mapping[str, object]) -> None:
        self.found = dict(value)

    def note(self, text: str) -> None:
        self.lines.append(text)

    def diagnostics(
        self, found: Iterable[Diagnostic], sources: Iterable[Source] = (), *, to: str = "stderr"
    ) -> None:
        if text := rendered(found, sources, colour=False):
            self.lines.append(text)

    def failure(self, failure: Failure) -> int:
        self.failed = True
        return Output.failure(self, failure)


def answer(work: Work) -> dict[str, Any]:
    """Run a verb; return its exit code, text, JSON, and whether the input could not be used."""
    out = Told()
    with reaching(work.reach):
        run = _function(work.function)
        code = ended(
            out, lambda told: run(**work.given, out=told), work.seconds, work.megabytes,
            time.monotonic(),
        )  # fmt: skip
    text = "\n".join(out.lines)
    return {"code": code, "text": text, "found": out.found, "failed": out.failed}


def _function(name: str) -> Callable[..., int]:
    module, _, function = name.rpartition(".")
    found: Callable[..., int] = getattr(import_module(f"tokenworld.verbs.{module}"), function)
    return found


def main() -> None:
    """Answer one `Work`; only the answer reaches stdout, even if the verb starts programs."""
    work = pickle.load(sys.stdin.buffer)
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as stdout:
        os.dup2(2, 1)
        json.dump(answer(work), stdout)


if __name__ == "__main__":
    main()
