"""``tw play --web``: the screen in a browser, by textual-serve; loaded when it is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING

from tokenworld.diagnostics import Diagnostic, Failure

if TYPE_CHECKING:
    from socket import socket

__all__ = ["check_installed", "serve"]


def check_installed() -> None:
    """Raise `Failure` TW0811 where textual-serve, or Textual itself, is not installed."""
    if find_spec("textual_serve") is None or find_spec("textual") is None:
        hint = "Run `pip install 'token-world[web]'`, or play in the terminal without `--web`."
        raise Failure(Diagnostic("TW0811", "The page needs textual-serve.", hint=hint))


def serve(
    command: Sequence[str], title: str, sockets: Sequence[socket], key: str, host: str
) -> None:
    """Serve a game until Ctrl-C, and leave no process of it behind.

    Every page that is opened runs ``command`` (words, as for `exec`) for itself. ``sockets`` are
    bound to ``host``; ``key`` is the first part of every path, and nothing is answered without it.
    """
    from tokenworld.play.web.server import PageServer

    PageServer(command, title=title, key=key, host=host).serve_on(sockets)
