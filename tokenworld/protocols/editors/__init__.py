"""The language server (`tw lsp`): answers the requests of editors about a text under edit."""

from __future__ import annotations

import logging
from importlib.util import find_spec
from typing import Annotated

from tokenworld.diagnostics import usage
from tokenworld.verbs.output import EXIT_OK, Output


def serve(
    out: Output,
    *,
    stdio: Annotated[bool, "Use stdin and stdout, as it always does."] = True,
) -> int:
    """Serve until the editor ends the connection; raises `Failure` (TW0006) without pygls.

    Editors pass ``stdio``, which changes nothing.
    """
    if find_spec("pygls") is None:
        hint = "Install it: `pip install 'token-world[lsp]'`."
        raise usage("`tw lsp` needs the package `pygls`, which is not installed.", hint)
    if out.as_json:
        hint = "Leave `--json` out; an editor starts `tw lsp` and talks to it."
        raise usage("`tw lsp` speaks the Language Server Protocol on stdout.", hint)
    from tokenworld.protocols.editors.server import server

    logging.getLogger("pygls").setLevel(logging.CRITICAL)
    server.start_io()
    return EXIT_OK
