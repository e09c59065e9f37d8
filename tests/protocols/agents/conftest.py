"""A served folder with a few worlds, and clients of the SDK in memory and over stdio."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="the extra `mcp` is not installed")

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from tokenworld.protocols.agents.files import Root
from tokenworld.protocols.agents.server import make_server

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = "from tokenworld.cli import main; main()"


class Caller:
    """Calls the tools of one client."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def fine(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The typed result of a call that must succeed."""
        result = await self.client.call_tool(tool, arguments)
        assert not result.is_error, result.content
        assert result.structured_content is not None
        return result.structured_content

    async def text(self, tool: str, **arguments: Any) -> str:
        result = await self.client.call_tool(tool, arguments)
        assert not result.is_error, result.content
        return str(result.content[0].text)

    async def wrong(self, tool: str, **arguments: Any) -> str:
        """The text of a call that must be a tool error."""
        result = await self.client.call_tool(tool, arguments)
        assert result.is_error, result.content
        return str(result.content[0].text)


Connect = Callable[..., AbstractAsyncContextManager[Caller]]


@pytest.fixture
def served(tmp_path: Path) -> Path:
    """A folder with a world, a module, and links and files that lead out of it."""
    folder = tmp_path / "served"
    folder.mkdir()
    cellar = (ROOT / "domains" / "cellar" / "world.tw").read_text(encoding="utf-8")
    (folder / "cellar.tw").write_text(cellar, encoding="utf-8")
    (tmp_path / "vault.tw").write_text("type Secret { key: 0 to 9 }\n", encoding="utf-8")
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "outer.tw").write_text("type Outer\n", encoding="utf-8")
    (folder / "link.tw").symlink_to(tmp_path / "vault.tw")
    (folder / "out").symlink_to(tmp_path)
    return folder


@pytest.fixture
def in_memory(served: Path) -> Connect:
    """Connects a client to a server in this process."""

    @asynccontextmanager
    async def connect(*, write: bool = False) -> AsyncIterator[Caller]:
        async with Client(make_server(Root(served.resolve(), write))) as client:
            yield Caller(client)

    return connect


@pytest.fixture
def over_stdio(served: Path) -> Connect:
    """Connects a client to `tw mcp` in a process of its own."""

    @asynccontextmanager
    async def connect(*options: str) -> AsyncIterator[Caller]:
        command = ["-c", PROGRAM, "mcp", "--root", str(served), *options]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        parameters = StdioServerParameters(command=sys.executable, args=command, env=environment)
        async with Client(stdio_client(parameters)) as client:
            yield Caller(client)

    return connect
