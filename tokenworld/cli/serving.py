"""The verbs that serve other programs: lsp, for editors."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from tokenworld.cli.frame import Flag, Json, app, verb


@app.command
def lsp(
    *,
    stdio: Annotated[Flag, Parameter(help="Speak on stdin and stdout; there is no other way.")] = (
        True
    ),
    json: Json = False,
) -> int:
    """Serve an editor: findings, repairs, names, formatting (Language Server Protocol)."""
    from tokenworld.protocols.editors.verb import serve

    return verb(json, serve)
