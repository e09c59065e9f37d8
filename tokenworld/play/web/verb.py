"""``tw play --web``: check that the world can be played, bind an address, say it, serve."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec

from tokenworld.diagnostics import Diagnostic, Failure, usage
from tokenworld.session import open_world
from tokenworld.session.solving import check_goal
from tokenworld.verbs.output import EXIT_OK, Output

_PROGRAM = "from tokenworld.cli import main; main()"
_REACHED = (
    "warning: this address can be reached from other machines. Anyone who has it can play, read "
    "the run store and save files as you; it is not encrypted. Leave `--host` out to keep the page "
    "to this machine."
)


@dataclass(frozen=True, slots=True)
class WebOptions:
    """The address of the page; ``None`` means the default."""

    wanted: bool
    host: str | None = None
    port: int | None = None


def serve_play(
    target: str, out: Output, options: WebOptions, played: Mapping[str, object], seed: int
) -> int:
    """Serve a world as a page until Ctrl-C; ``played`` are the options of each game.

    Raises `Failure`: TW0811 without textual-serve, TW0006 for an address that cannot be used, and
    what opening the world and starting it raise.
    """
    if not options.wanted:
        hint = "Add `--web`, or leave `--host` and `--port` out."
        raise usage("`--host` and `--port` belong to `--web`.", hint)
    _check_installed()
    from tokenworld.play.web.server import LOOPBACK, PORT, PageServer, bind, new_key

    world = open_world(target)
    goal = played.get("--goal")
    check_goal(world, None if goal is None else str(goal))
    world.engine.start(seed)
    key = new_key()
    host = LOOPBACK if options.host is None else options.host
    address = bind(host, PORT if options.port is None else options.port)
    try:
        _told(out, world.world.title, address.url(key), address.loopback)
        server = PageServer(command(target, played), title=world.world.title, key=key, host=host)
        server.serve_on(address.sockets)
    except KeyboardInterrupt:  # before the server heeds it itself
        pass
    finally:
        address.close()
    out.note("stopped")
    return EXIT_OK


def _check_installed() -> None:
    """Raise `Failure` TW0811 where textual-serve, or Textual itself, is not installed."""
    if find_spec("textual_serve") is None or find_spec("textual") is None:
        hint = "Run `pip install 'token-world[web]'`, or play in the terminal without `--web`."
        raise Failure(Diagnostic("TW0811", "The page needs textual-serve.", hint=hint))


def command(target: str, played: Mapping[str, object]) -> tuple[str, ...]:
    """The words that play one game; nothing is imported from the folder they are run in."""
    words = [sys.executable, "-P", "-X", "utf8", "-c", _PROGRAM, "play"]
    for name, value in played.items():
        match value:
            case None | False:
                pass
            case True:
                words.append(name)
            case _:
                words.append(f"{name}={value}")
    return (*words, "--", target)


def _told(out: Output, title: str, url: str, loopback: bool) -> None:
    if not loopback:
        out.note(_REACHED)
    out.line(f"{title}: {url}")
    out.line("Each page that is opened there plays a game of its own. Ctrl-C ends them all.")
    out.json({"schema_version": 1, "ok": True, "url": url, "loopback": loopback})
