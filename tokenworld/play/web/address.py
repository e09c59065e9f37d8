"""The address of the page: bound before anything else, on this machine alone unless asked."""

from __future__ import annotations

import errno
import secrets
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

from tokenworld.diagnostics import Failure, usage

__all__ = ["Address", "LOOPBACK", "PORT", "bind", "leads_here", "new_key"]


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
    """Whether a request's `Host` is an address or a name of this machine, or the one served on.

    Another name belongs to somebody who may let it lead here, and whose page then counts as ours
    in a browser (DNS rebinding).
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
    """What is wrong with an address, and what to do."""
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
