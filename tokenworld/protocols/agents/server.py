"""Build the server: tools, resources and prompts of one served folder."""

from __future__ import annotations

from collections.abc import Callable

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError
from mcp.types import ToolAnnotations

from tokenworld import __version__
from tokenworld.diagnostics import Failure
from tokenworld.protocols.agents import texts
from tokenworld.protocols.agents.files import Root
from tokenworld.protocols.agents.tools import Tools

_ABOUT = (
    "Token World: worlds written as rules (.tw), checked, played, planned and judged. `check` "
    "first; `judge` joins all verdicts; `open` and `act` play. A `source` is the text of a world "
    "or the name of a file."
)
_PLAYS = ("open", "act", "undo", "close")


def make_server(root: Root) -> MCPServer:
    """The server of a folder, not yet connected to a client."""
    server = MCPServer("token-world", instructions=_ABOUT, version=__version__, log_level="ERROR")
    tools = Tools(root)
    for tool in tools.reading():
        reads = tool.__name__ not in _PLAYS
        hints = ToolAnnotations(read_only_hint=reads, open_world_hint=False)
        server.add_tool(tool, annotations=hints, structured_output=True)
    for tool in tools.writing() if root.writable else ():
        hints = ToolAnnotations(read_only_hint=False, destructive_hint=True, open_world_hint=False)
        server.add_tool(tool, annotations=hints, structured_output=True)
    _add_resources(server, root)
    for prompt in (texts.author, texts.repair, texts.review):
        server.prompt(description=prompt.__doc__)(prompt)
    return server


def _add_resources(server: MCPServer, root: Root) -> None:
    """Add the resources: cards, grammar, error pages and worlds."""

    @server.resource("tw://card/{purpose}", mime_type="text/markdown")
    def card(purpose: str) -> str:
        """The language in 3,000 tokens: `author`, `player` or `repair`."""
        return _read(lambda: texts.card(purpose))

    @server.resource("tw://grammar", mime_type="text/plain")
    def grammar() -> str:
        """The grammar of the language."""
        return texts.grammar()

    @server.resource("tw://errors", mime_type="text/plain")
    def errors() -> str:
        """The codes of all diagnostics."""
        return texts.pages()

    @server.resource("tw://errors/{code}", mime_type="text/markdown")
    def error(code: str) -> str:
        """The page of a diagnostic, with an example and its repair."""
        return _read(lambda: texts.page(code))

    @server.resource("tw://worlds", mime_type="text/plain")
    def worlds() -> str:
        """The worlds that can be named."""
        return texts.worlds(root)

    @server.resource("tw://worlds/{+file}", mime_type="text/plain")
    def world(file: str) -> str:
        """The text of a file below the root."""
        return _read(lambda: texts.world(root, file))


def _read(read: Callable[[], str]) -> str:
    """Return a text; turn a diagnostic into the error of the resource."""
    try:
        return read()
    except Failure as failure:
        raise ResourceError(str(failure)) from None
