"""`tw lsp` as a program: how it ends, what it says without its libraries, and its plans."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tokenworld.diagnostics import Failure
from tokenworld.protocols import editors
from tokenworld.protocols.editors.book import Book, Snapshot
from tokenworld.protocols.editors.plans import Plans
from tokenworld.verbs.output import Output

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = "from tokenworld.cli import main; main()"


def lsp(*options: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-c", PROGRAM, "lsp", *options]
    return subprocess.run(command, input=given, capture_output=True, check=False, timeout=120)


def test_it_ends_with_the_editor_and_prints_nothing() -> None:
    done = lsp("--stdio")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_nonsense_is_answered_and_ends_nothing() -> None:
    """Broken JSON, then a request before `initialize`: an error each, on stdout alone."""
    bodies = (b"{broken", b'{"jsonrpc": "2.0", "id": 7, "method": "textDocument/hover"}')
    given = b"".join(b"Content-Length: %d\r\n\r\n%s" % (len(one), one) for one in bodies)
    done = lsp(given=given)
    assert done.returncode == 0
    assert b"Traceback" not in done.stderr
    assert done.stdout == b"" or done.stdout.startswith(b"Content-Length: ")


def test_json_is_refused_as_one_object() -> None:
    done = lsp("--json")
    assert done.returncode == 2
    answer = json.loads(done.stdout)
    assert answer["diagnostics"][0]["code"] == "TW0006"


def test_without_pygls_it_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(editors, "find_spec", lambda name: None)
    with pytest.raises(Failure) as failure:
        editors.serve(Output())
    (found,) = failure.value.diagnostics
    assert found.code == "TW0006"
    assert found.hint is not None
    assert "token-world[lsp]" in found.hint


def snapshot(path: Path) -> Snapshot:
    book = Book()
    book.put(path.as_uri(), path, path.read_text(encoding="utf-8"), 1)
    found = book.check(path.as_uri())
    assert found is not None
    return found


async def test_worlds_are_planned_and_edited_ones_are_not(tmp_path: Path) -> None:
    path = tmp_path / "world.tw"
    text = (ROOT / "domains" / "cellar" / "world.tw").read_text(encoding="utf-8")
    path.write_text(text, encoding="utf-8")
    found, plans, told = snapshot(path), Plans(seconds=30.0), asyncio.Event()
    plans.start("a", found, told.set)
    await asyncio.wait_for(told.wait(), 60)
    assert plans.answers("a") == {"cellar": "winnable in 5 ticks"}
    path.write_text(f"{text}\n# not what the editor shows\n", encoding="utf-8")
    plans.start("b", found, told.set)
    assert plans.answers("b") == {}
    assert plans.answers("nowhere") == {}
    plans.stop()
