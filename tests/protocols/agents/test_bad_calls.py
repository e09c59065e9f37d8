"""Wrong arguments, files out of reach, limits, and calls that are cancelled."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import anyio
import pytest

from tokenworld.protocols.agents.files import LARGEST
from tokenworld.protocols.agents.games import MOST, STEPS

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = "from tokenworld.cli import main; main()"
LONG = {"source": "willowbrook", "states": 5_000_000, "time_limit": 600}
"""An audit that takes minutes."""

WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("check", {"source": ""}, "`source` is empty"),
    ("check", {"source": "nothing.tw"}, "no file `nothing.tw`"),
    ("check", {"source": "../vault.tw"}, "leads out"),
    ("check", {"source": "/etc/passwd"}, "leads out"),
    ("check", {"source": "sub/../../vault.tw"}, "leads out"),
    ("check", {"source": "link.tw"}, "is a link"),
    ("check", {"source": "out/vault.tw"}, "is a link"),
    ("check", {}, "source"),
    ("check", {"source": "a\n" * LARGEST}, "longer than"),
    ("plan", {"source": "cellar", "time_limit": -1}, "time_limit"),
    ("plan", {"source": "cellar", "goal": "nothing"}, "nothing"),
    ("plan", {"source": "cellar:nowhere"}, "no world `nowhere`"),
    ("plan", {"source": "type A { }\n"}, "no world"),
    ("plan", {"source": "action {\n"}, "TW0101"),
    ("judge", {"source": "cellar", "contract": "nothing"}, "no contract"),
    ("judge", {"source": "cellar", "contract": "rows:../rows.jsonl"}, "leads out"),
    ("judge", {"source": "cellar", "contract": "out/contract.json"}, "is a link"),
    ("explain", {}, "Give `code`"),
    ("explain", {"code": "TW9999"}, "no diagnostic"),
    ("import_pddl", {"domain": "(define (domain"}, "TW"),
    ("import_pddl", {"domain": "../d.pddl"}, "leads out"),
    ("equiv", {"first": "cellar", "second": "nothing.tw"}, "no file"),
    ("open", {"source": "type A { b: nothing }\n"}, "nothing"),
    ("act", {"game": 7, "command": "pass"}, "no game 7"),
    ("hint", {"game": 7}, "no game 7"),
    ("format", {"source": "type {\n"}, "TW0101"),
    ("dance", {}, "Unknown tool"),
]


@pytest.mark.parametrize(("tool", "arguments", "words"), WRONG)
async def test_a_wrong_call_is_a_tool_error(
    in_memory: Any, tool: str, arguments: dict[str, Any], words: str
) -> None:
    async with in_memory() as caller:
        told = await caller.wrong(tool, **arguments)
    assert words in told
    assert "Traceback" not in told
    assert "Secret" not in told


async def test_a_text_reaches_no_file_outside(in_memory: Any) -> None:
    """Modules, recorded states and rows are read through the same gate."""
    async with in_memory() as caller:
        for text in (
            "use link\nworld w { endless }\n",
            "use out.vault\nworld w { endless }\n",
            "use outer\nworld w { endless }\n",
            'type A\nworld w { endless start "../vault.tw" }\n',
        ):
            found = await caller.fine("check", source=text)
            assert not found["ok"], text
            told = await caller.text("check", source=text)
            assert "outside of what may be read" in told, text
            assert "Secret" not in told


async def test_bad_words_in_a_game_change_nothing(in_memory: Any) -> None:
    async with in_memory() as caller:
        game = (await caller.fine("open", source="cellar"))["game"]
        for words in ("dance", "take", "take(ruby, ruby)", "take(nothing)", "", "{", "\x00"):
            seen = await caller.fine("act", game=game, command=words)
            assert seen["status"] in ("no_match", "refused"), words
            assert seen["tick"] == 0
        assert "command" in await caller.wrong("act", game=game, command="x" * 2_000)


async def test_games_and_steps_are_counted(in_memory: Any) -> None:
    async with in_memory() as caller:
        games = [(await caller.fine("open", source="cellar"))["game"] for _ in range(2)]
        for left in range(STEPS - 1, -1, -1):
            seen = await caller.fine("act", game=games[0], command="pass")
            assert seen["steps_left"] == left
        assert "has taken 500 commands" in await caller.wrong("act", game=games[0], command="pass")
        assert (await caller.fine("act", game=games[1], command="pass"))["steps_left"] == STEPS - 1


async def test_there_are_no_more_games_than_told(served: Path) -> None:
    from tokenworld.diagnostics import Failure
    from tokenworld.protocols.agents.files import Root
    from tokenworld.protocols.agents.games import Games

    root, games = Root(served.resolve()), Games()
    target, reach = str(served / "cellar.tw"), root.reach()
    for _ in range(MOST):
        await games.open(target, reach, 0)
    with pytest.raises(Failure, match="16 games are open"):
        await games.open(target, reach, 0)
    games.close(3)
    seen, _ = await games.open(target, reach, 0)
    assert seen.game == MOST + 1


def children() -> set[int]:
    """The processes that work for tools, of whatever server of this test."""
    found = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes()
                session = int((entry / "environ").read_bytes().count(b"TW_TEST_MARK=1"))
            except (OSError, PermissionError):
                continue
            if b"protocols.agents.working" in words and session:
                found.add(int(entry.name))
    return found


async def cancelled(caller: Any) -> None:
    """Ask for a long audit, wait for its progress, and leave it."""
    told: list[str] = []

    async def progress(done: float, total: float | None, message: str | None) -> None:
        told.append(message or "")

    with anyio.move_on_after(60) as scope:
        async with anyio.create_task_group() as tasks:

            async def ask() -> None:
                await caller.client.call_tool("audit", LONG, progress_callback=progress)

            tasks.start_soon(ask)
            while not told:
                await anyio.sleep(0.1)
            assert children()
            tasks.cancel_scope.cancel()
    assert not scope.cancelled_caught, "there was no progress"
    end = time.monotonic() + 30
    while children() and time.monotonic() < end:
        await anyio.sleep(0.1)
    assert not children()
    assert (await caller.fine("check", source="cellar"))["ok"]


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs /proc of Linux")
async def test_a_long_tool_tells_progress_and_is_cancelled(
    in_memory: Any, over_stdio: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TW_TEST_MARK", "1")
    async with in_memory() as caller:
        await cancelled(caller)
    async with over_stdio() as caller:
        await cancelled(caller)


async def test_time_is_limited(in_memory: Any) -> None:
    async with in_memory() as caller:
        found = await caller.fine("plan", source="willowbrook", time_limit=0.5)
        assert found["answer"] == "unknown"


def tw(*arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments], input=given, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)}, check=False, timeout=120,
    )  # fmt: skip


def test_nothing_but_messages_reaches_stdout(served: Path) -> None:
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"}}},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
            "name": "check", "arguments": {"source": "type A { b: nothing }\n"}}},
        {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {
            "name": "plan", "arguments": {"source": 5}}},
    ]  # fmt: skip
    command = [sys.executable, "-c", PROGRAM, "mcp", "--root", str(served)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write("".join(json.dumps(one) + "\n" for one in lines) + "no JSON\n")
        server.stdin.flush()
        answers = {}
        while not {1, 2, 3} <= answers.keys():
            message = json.loads(server.stdout.readline())
            answers[message.get("id")] = message
        server.stdin.close()
        rest = server.stdout.read()
        assert all(json.loads(line) for line in rest.splitlines())
    assert server.returncode == 0
    assert not answers[2]["result"].get("isError")
    assert answers[3]["result"]["isError"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--root", "/nothing/such"), "There is no folder"),
        (("--port", "9"), "`--port` needs `--http`"),
        (("--http", "--port", "70000"), "Port 70000 cannot be used"),
    ],
)
def test_bad_options_give_one_diagnostic(options: tuple[str, ...], words: str) -> None:
    done = tw("mcp", *options)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("error[") == 1
    assert words in done.stderr


def test_a_port_that_is_taken(served: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        done = tw("mcp", "--root", str(served), "--http", "--port", port)
    assert done.returncode == 2
    assert f"Port {port} cannot be used" in done.stderr


async def test_over_http_on_loopback(served: Path) -> None:
    from mcp import Client

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-c", PROGRAM, "mcp", "--root", str(served), "--http",
               "--port", str(port)]  # fmt: skip
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, stderr=subprocess.PIPE, env=environment) as server:
        try:
            assert server.stderr is not None
            assert b"/mcp" in server.stderr.readline()
            end = time.monotonic() + 60
            while time.monotonic() < end:
                with socket.socket() as tried:
                    if tried.connect_ex(("127.0.0.1", port)) == 0:
                        break
                await anyio.sleep(0.1)
            async with Client(f"http://127.0.0.1:{port}/mcp") as client:
                result = await client.call_tool("plan", {"source": "cellar.tw"})
                assert not result.is_error
                assert result.structured_content["answer"] == "winnable"
        finally:
            server.terminate()
