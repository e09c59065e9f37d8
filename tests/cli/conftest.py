"""Run the program in this process, in a folder of its own."""

from __future__ import annotations

import json
import shlex
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Protocol

import pytest

from tokenworld.cli import _main
from tokenworld.verbs.learn.journal import Journal

DOMAINS = Path(__file__).parents[2] / "domains"


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


class Tw(Protocol):
    def __call__(self, *arguments: object) -> Ran: ...


@pytest.fixture
def tw(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Tw:
    """``tw("run", file, "--json")`` in a fresh folder; no output may contain a traceback."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")

    def call(*arguments: object) -> Ran:
        code = _main([str(one) for one in arguments])
        found = capsys.readouterr()
        ran = Ran(code, found.out, found.err)
        assert "Traceback" not in ran.err + ran.out
        assert code != 4, ran.err
        if "--json" in arguments:
            assert isinstance(ran.json, dict)
        return ran

    return call


def broken_after_each_part(
    tw: Tw, monkeypatch: pytest.MonkeyPatch, *arguments: object
) -> tuple[Ran, int]:
    """Give a command until it ends, interrupted each time that its journal has kept a part; its
    result, and how often it was interrupted."""
    append = Journal._append

    def broken(self: Journal, event: Mapping[str, Any]) -> None:
        append(self, event)
        raise KeyboardInterrupt

    monkeypatch.setattr(Journal, "_append", broken)
    breaks = 0
    while (ran := tw(*arguments)).code == 130:
        breaks += 1
    return ran, breaks


# The protocol of players, narrators and operators: a text up to a line `>`, then an answer.
LOOP = """
import sys, time, os
seen, turn = [], 0
for line in sys.stdin:
    line = line.rstrip("\\n")
    if line != ">":
        seen.append(line)
        continue
    turn += 1
    CALL
    sys.stdout.flush()
    seen = []
"""


@pytest.fixture
def program(tmp_path: Path) -> Callable[..., str]:
    """``program("answer(seen, turn)", body)``: the command of a program that answers each text by
    a function with this body; ``call`` calls it, ``before`` are lines in front."""

    def make(function: str, body: str, call: str = "", before: str = "") -> str:
        path = tmp_path / f"{function.partition('(')[0]}.py"
        lines = "".join(f"    {line}\n" for line in body.split("\n"))
        loop = LOOP.replace("CALL", call or function)
        path.write_text(f"{before}def {function}:\n{lines}{loop}", encoding="utf-8")
        return shlex.join([sys.executable, str(path)])

    return make


@pytest.fixture
def world(tmp_path: Path) -> Path:
    """A small world with a passing and a failing scenario."""
    path = tmp_path / "small.tw"
    path.write_text(SMALL, encoding="utf-8")
    return path


@pytest.fixture
def willowbrook() -> Path:
    """Two actors who take turns."""
    return DOMAINS / "willowbrook" / "world.tw"


@pytest.fixture
def cottage() -> Path:
    """One actor: every line of a script is hers."""
    return DOMAINS / "cottage" / "world.tw"


SMALL = """type Room
type T { at: Room  n: 0 to 9 = 0 }
actor me: T
action go(r: Room) as "go to {r}" { require r != me.at else here "You are in {the r}."  me.at = r }
action add(k: 1 to 3) as "add {k}" { me.n += k }
world small "A small world" {
  object hall, attic: Room
  object hero: T { at = hall }
  goal up: hero.at == attic and hero.n >= 2 "Up."
}
scenario "going" in small { when go(attic) then hero.at == attic }
"""


RULE = 'action polish(l: Lamp) as "polish {l}" {\n  say "{The l} gleams."\n}\n'
PROSE = "Hero is in the hall.\n\nThe n of hero is 9, or so it seems.\nHero has 1 n.\n"


class Handler(BaseHTTPRequestHandler):
    """Answers by the path that is asked for."""

    asked: list[str]

    def do_POST(self) -> None:
        text = self.rfile.read(int(self.headers["Content-Length"])).decode("utf-8")
        self.asked.append(text)
        late = len(self.asked) > 2
        match self.path:
            case "/leave" if late:
                self._answer(204, b"")
            case "/broken" if late:
                self._answer(500, b"no")
            case "/elsewhere" if late:
                self.send_response(302)
                self.send_header("Location", "/good")
                self.end_headers()
            case "/hang" if late:
                time.sleep(3)
            case "/flood" if late:
                self._answer(200, b"z" * 200_000)
            case "/die" if late:
                self.connection.close()
            case "/rule":
                self._answer(200, RULE.encode())
            case "/prose":
                self._answer(200, PROSE.encode())
            case _:
                self._answer(200, b"\n  add 1  \nand more\n")

    def _answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        with suppress(OSError):
            self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def address() -> Iterator[tuple[str, list[str]]]:
    asked: list[str] = []
    handler = type("Asked", (Handler,), {"asked": asked})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads, server.handle_error = True, lambda *args: None
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", asked
    server.shutdown()
    server.server_close()
    thread.join()
