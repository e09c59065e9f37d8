"""The verbs that serve other programs: lsp for editors, mcp for agents."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from tokenworld.cli.frame import Flag, Json, app, verb


@app.command
def lsp(
    *,
    stdio: Annotated[Flag, Parameter(help="Use stdin and stdout, as it always does.")] = (True),
    json: Json = False,
) -> int:
    """Serve an editor: findings, repairs, names, formatting (Language Server Protocol)."""
    from tokenworld.protocols.editors.verb import serve

    return verb(json, serve)


@app.command
def mcp(
    *,
    root: Annotated[Path, Parameter(help="The folder whose files may be read.")] = Path(),
    write: Annotated[Flag, Parameter(help="Let tools write `.tw` files below the root.")] = False,
    http: Annotated[
        Flag, Parameter(help="Serve on a port of this machine, not on stdin and stdout.")
    ] = False,
    port: Annotated[int | None, Parameter(help="With `--http`: the port (8765).")] = None,
    json: Json = False,
) -> int:
    """Serve worlds to agents over the Model Context Protocol: check, judge, plan, play and more."""
    from tokenworld.protocols.agents.verb import serve

    return verb(json, lambda out: serve(root, out, write=write, http=http, port=port))
