"""``tw mcp``: worlds for agents, over the Model Context Protocol.

`serve` starts the server that `server` puts together from `tools` (the verbs), `games` and `texts`
(resources and prompts). A tool that may take long runs a verb in a child process: `processes`
starts it, `working` is the child. `files` decides which files may be read and written.
"""

from __future__ import annotations

import socket
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Final

from tokenworld.diagnostics import Diagnostic, Failure, usage
from tokenworld.verbs.output import EXIT_OK, Output

_HOST: Final = "127.0.0.1"


def serve(
    out: Output,
    *,
    root: Annotated[Path, "The folder whose files may be read."] = Path(),
    write: Annotated[bool, "Let tools write `.tw` files below the root."] = False,
    http: Annotated[bool, "Serve on a port of this machine, not on stdin and stdout."] = False,
    port: Annotated[int | None, "With `--http`: the port (8765)."] = None,
) -> int:
    """Serve until the client leaves (stdio) or the process is ended (``http``).

    The server listens on loopback only. Raises `Failure` for a root that is no
    folder (TW0001), a port that is taken, and options that do not go together (TW0006).
    """
    if port is not None and not http:
        raise usage("`--port` needs `--http`.", "Add `--http`, or leave `--port` out.")
    folder = root.resolve()
    if not folder.is_dir():
        hint = "Name a folder with `--root`."
        raise Failure(Diagnostic("TW0001", f"There is no folder `{root}`.", hint=hint))
    if find_spec("mcp") is None:
        hint = "Install it: `pip install 'token-world[mcp]'`."
        raise Failure(Diagnostic("TW0811", "`tw mcp` needs the package `mcp`.", hint=hint))
    from tokenworld.protocols.agents.files import Root
    from tokenworld.protocols.agents.server import make_server

    server = make_server(Root(folder, write))
    if not http:
        server.run()
        return EXIT_OK
    wanted = 8_765 if port is None else port
    _require_free(wanted)
    out.note(f"serving {folder} at http://{_HOST}:{wanted}/mcp")
    server.run("streamable-http", host=_HOST, port=wanted)
    return EXIT_OK


def _require_free(port: int) -> None:
    """Raise `Failure` (TW0006) for a port that cannot be used."""
    try:
        with socket.socket() as tried:
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            tried.bind((_HOST, port))
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise usage(
            f"Port {port} cannot be used: {reason}.", "Name another with `--port`."
        ) from None
