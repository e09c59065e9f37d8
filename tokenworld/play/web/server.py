"""The server of the page: textual-serve's, with a page of our own, a key and an orderly end.

Differences from textual-serve: nothing is loaded from the network (its own page loads a font from
Google), every path begins with a secret key (no other page and no other user can reach the game),
requests for another host or from another page are refused, messages of a page are checked, the
number of games is limited, and each game is asked to quit and waited for.
"""

from __future__ import annotations

import asyncio
import errno
import secrets
import shlex
import socket
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from html import escape
from ipaddress import ip_address
from pathlib import Path
from string import Template
from typing import Final
from urllib.parse import urlsplit

from aiohttp import WSMsgType, web
from textual_serve.app_service import AppService
from textual_serve.server import Server

from tokenworld.diagnostics import Failure, usage, visible

FILES: Final = Path(__file__).parent
GAMES: Final = 16
"""The number of games that are open at once: each is a process, with a planner beside it at
times."""
LONGEST: Final = 1 << 20
"""Bytes of a message from a page: more than anybody pastes."""
QUIT_SECONDS: Final = 6.0
"""Seconds that a game may take to end before it is killed; longer than it gives itself."""
HEADERS: Final = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
        "font-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Game(AppService):
    """One game in a process of its own: it ends with its page, and the page with it."""

    async def run(self) -> None:
        """Forward the output of the game until it ends; then close the page."""
        try:
            await super().run()
        finally:
            await self.remote_close()

    async def end(self) -> None:
        """Tell the game to quit and wait for it; one that does not is killed."""
        process = self._process
        if process is None:
            return
        try:
            async with asyncio.timeout(QUIT_SECONDS):
                await self.stop()
                await process.wait()
        except (TimeoutError, asyncio.CancelledError):
            if process.returncode is None:
                process.kill()
                await process.wait()


class PageServer(Server):
    """Serves one command; every page that is opened runs it anew."""

    def __init__(self, command: Sequence[str], *, title: str, key: str, host: str) -> None:
        # A shell starts the command: `exec`, so that it is the game itself that is waited for.
        super().__init__(f"exec {shlex.join(command)}", title=title)
        self._key, self._host = key, host
        self._pages: set[web.WebSocketResponse] = set()

    def serve_on(self, sockets: Sequence[object]) -> None:
        """Serve until SIGINT or SIGTERM."""
        with redirect_stdout(sys.stderr):  # what a game had to say at its end is no answer
            web.run_app(
                self._make_app(),
                sock=sockets,  # type: ignore[arg-type]
                print=None,
                access_log=None,
                shutdown_timeout=QUIT_SECONDS + 2,
            )

    async def _make_app(self) -> web.Application:
        app = web.Application(middlewares=[self._guard])
        app.add_routes(
            [
                web.get(f"/{self._key}/", self.handle_index),
                web.get(f"/{self._key}/ws", self.handle_websocket),
                web.static(f"/{self._key}/page", FILES / "page"),
                web.static(f"/{self._key}/static", self.statics_path),
                web.get("/download/{key}", self.handle_download),  # its keys are secrets, too
            ]
        )
        app.on_response_prepare.append(self._add_headers)
        app.on_shutdown.append(self.on_shutdown)
        return app

    @web.middleware
    async def _guard(self, request: web.Request, handler: _Handler) -> web.StreamResponse:
        """Answer nobody who has not got the whole address, asks for another host (whose name was
        made to lead here), or asks from the page of another one."""
        first = request.path.split("/")[1]
        known = secrets.compare_digest(first.encode(), self._key.encode())
        if not known and first != "download":
            raise web.HTTPNotFound(text="Open the address that `tw play --web` printed.\n")
        origin = request.headers.get("Origin")
        if not leads_here(request.host, self._host) or not (
            origin is None or urlsplit(origin).netloc == request.host
        ):
            raise web.HTTPForbidden(text="Open the address that `tw play --web` printed.\n")
        return await handler(request)

    async def _add_headers(self, request: web.Request, response: web.StreamResponse) -> None:
        response.headers.update(HEADERS)

    async def handle_index(self, request: web.Request) -> web.Response:
        """The page; its script works out the address of the socket from its own."""
        self._find_room()
        page = Template((FILES / "page" / "index.html").read_text(encoding="utf-8"))
        text = page.substitute(
            title=escape(visible(self.title)), font_size=_size(request, "fontsize", 16)
        )
        return web.Response(text=text, content_type="text/html")

    async def handle_websocket(self, request: web.Request) -> web.WebSocketResponse:
        """One page: a game of its own, from when it is opened until either ends."""
        self._find_room()
        page = web.WebSocketResponse(heartbeat=15, timeout=2, max_msg_size=LONGEST)
        self._pages.add(page)  # before anything is waited for: nobody else takes this place
        try:
            await page.prepare(request)
            await self._play(page, request)
        finally:
            self._pages.discard(page)
        return page

    def _find_room(self) -> None:
        if len(self._pages) >= GAMES:
            told = f"{GAMES} games are open here, and no more can be: close one.\n"
            raise web.HTTPServiceUnavailable(text=told)

    async def _play(self, page: web.WebSocketResponse, request: web.Request) -> None:
        async def close() -> None:
            await page.close()

        game = Game(
            self.command,
            write_bytes=page.send_bytes,
            write_str=page.send_str,
            close=close,
            download_manager=self.download_manager,
        )
        try:
            await game.start(_size(request, "width", 80), _size(request, "height", 24))
            await self._listen(page, game)
        finally:
            await game.end()

    async def _listen(self, page: web.WebSocketResponse, game: Game) -> None:
        """Forward the messages of a page; close a page that sends anything else.

        The cases are the schema: pydantic would say no more, and no answer is sent.
        """
        async for message in page:
            try:
                heard = message.json() if message.type == WSMsgType.TEXT else None
            except (ValueError, RecursionError):  # no JSON, or nested without end
                heard = None
            match heard:
                case ["stdin", str(keys)]:
                    await game.send_bytes(keys.encode("utf-8", "replace"))
                case ["resize", {"width": int(width), "height": int(height)}]:
                    await game.set_terminal_size(_bounded(width), _bounded(height))
                case ["ping", str(data)]:
                    await page.send_json(["pong", data])
                case ["blur"]:
                    await game.blur()
                case ["focus"]:
                    await game.focus()
                case _:
                    await page.close(code=1003)

    async def on_shutdown(self, app: web.Application) -> None:
        """Close every page, which ends its game."""
        opened = [page for page in self._pages if page.prepared]
        await asyncio.gather(*(page.close(code=1001) for page in opened))


def _size(request: web.Request, name: str, default: int) -> int:
    """A number of the query: cells or pixels, in bounds that a screen can have."""
    try:
        return _bounded(int(request.query.get(name, "")))
    except ValueError:
        return default


def _bounded(cells: int) -> int:
    return max(8, min(1000, cells))


# ---- the address of the page ---------------------------------------------------------------------


LOOPBACK, PORT = "127.0.0.1", 8000


@dataclass(frozen=True, slots=True)
class Address:
    """Sockets that are bound to one port, and how a browser on this machine reaches them."""

    port: int
    sockets: tuple[socket.socket, ...]
    loopback: bool
    """Whether programs on this machine alone can connect."""

    def url(self, key: str) -> str:
        """The address of the page; that of this machine where every address is listened on."""
        shown = self.sockets[0].getsockname()[0]
        if ip_address(shown).is_unspecified:
            shown = "::1" if ":" in shown else LOOPBACK
        return f"http://{f'[{shown}]' if ':' in shown else shown}:{self.port}/{key}/"

    def close(self) -> None:
        """Stop listening."""
        for one in self.sockets:
            one.close()


def new_key() -> str:
    """The secret part of an address: others on this machine, and other pages, cannot guess it."""
    return secrets.token_urlsafe(16)


def bind(host: str, port: int) -> Address:
    """Bind every address of ``host``; with port 0 the system chooses one that is free.

    Raises `Failure` with TW0006 where that cannot be: an unknown host, or a port that is taken.
    """
    bound: list[socket.socket] = []
    try:
        for family, where in _addresses(host):
            bound.append(_listen(family, where, port))
            port = bound[0].getsockname()[1]
    except (OSError, OverflowError, UnicodeError) as error:
        for one in bound:
            one.close()
        raise _refused(host, port, error) from None
    loopback = all(ip_address(one.getsockname()[0]).is_loopback for one in bound)
    return Address(port, tuple(bound), loopback)


def leads_here(asked: str, host: str) -> bool:
    """Return whether a request's `Host` is an address or a name of this machine, or the one served
    on.

    Another name belongs to somebody who may let it lead here, and whose page then counts as ours in
    a browser (DNS rebinding).
    """
    name = ""
    try:
        name = urlsplit(f"//{asked}").hostname or ""
        ip_address(name)
    except ValueError:
        here = socket.gethostname().lower()
        return name in {"localhost", host.lower(), here, f"{here}.local"}
    return True


def _addresses(host: str) -> Iterator[tuple[int, str]]:
    found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    yield from dict.fromkeys((family, str(where[0])) for family, _, _, _, where in found)


def _listen(family: int, where: str, port: int) -> socket.socket:
    one = socket.socket(family, socket.SOCK_STREAM)
    try:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            one.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        one.bind((where, port))
        one.listen(16)
    except BaseException:
        one.close()
        raise
    return one


def _refused(host: str, port: int, error: Exception) -> Failure:
    """Return the failure for an address that cannot be used, with the next step."""
    free = "Name another one with `--port`, or `--port 0` for any that is free."
    match error:
        case socket.gaierror() | UnicodeError():
            message = f"There is no host `{host}` here."
            hint = f"Leave `--host` out for {LOOPBACK}."
        case OverflowError():
            message, hint = f"{port} is no port.", "Ports are 0 to 65535."
        case OSError(errno=errno.EADDRINUSE):
            message, hint = f"Port {port} of {host} is taken by another program.", free
        case OSError(errno=errno.EACCES):
            message, hint = f"Port {port} of {host} is not for you to use.", free
        case _:
            why = (getattr(error, "strerror", None) or str(error)).lower()
            message = f"Port {port} of {host} cannot be used: {why}."
            hint = f"Name an address of this machine with `--host`, or leave it out for {LOOPBACK}."
    return usage(message, hint)
