"""A player behind an HTTP address: each observation is posted as text, the answer is the body."""

from __future__ import annotations

import time
from http.client import HTTPException, HTTPResponse
from typing import Final
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, OpenerDirector, ProxyHandler, Request, build_opener

from tokenworld.session.remote import LONGEST_REPLY, PlayerFailure

__all__ = ["HttpChannel"]

_HINT: Final = "The address has to take a POST of plain text, and to answer with a line of it."
_LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")
_CHUNK: Final = 4096


class _Stay(HTTPRedirectHandler):
    """An observation goes to the address that was named, and to no other."""

    def redirect_request(self, *args: object, **kwargs: object) -> None:
        return None


class HttpChannel:
    """Posts to ``url``; ``seconds`` is how long one answer may take. 204 means: I leave."""

    def __init__(self, url: str, seconds: float) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise PlayerFailure(f"has no HTTP address: `{url}`", "Give `--url http://HOST:PORT/`.")
        self._url, self._seconds = url, seconds
        near = parts.hostname in _LOOPBACK
        handlers = (_Stay(), ProxyHandler({})) if near else (_Stay(),)
        self._opener: OpenerDirector = build_opener(*handlers)

    def ask(self, text: str) -> str | None:
        """Post an observation and read the first line of the answer that is not blank."""
        data = text.encode("utf-8", "backslashreplace")
        kind = {"Content-Type": "text/plain; charset=utf-8"}
        request = Request(self._url, data=data, headers=kind, method="POST")
        deadline = time.monotonic() + self._seconds
        try:
            with self._opener.open(request, timeout=self._seconds) as answer:
                if answer.status == 204:
                    return None
                body = self._body(answer, deadline)
        except HTTPError as error:
            raise PlayerFailure(f"answers with HTTP status {error.code}", _HINT) from error
        except TimeoutError:
            raise self._late() from None
        except URLError as error:
            if isinstance(error.reason, TimeoutError):
                raise self._late() from None
            raise PlayerFailure(f"cannot be reached: {error.reason}", _HINT) from error
        except (HTTPException, OSError, ValueError) as error:
            why = str(error) or type(error).__name__
            raise PlayerFailure(f"broke off its answer: {why}", _HINT) from error
        lines = (line.strip() for line in body.decode("utf-8", "replace").splitlines())
        return next((line for line in lines if line), "")

    def close(self) -> None:
        """Nothing is kept open between two questions."""

    def _body(self, answer: HTTPResponse, deadline: float) -> bytes:
        body = b""
        while chunk := answer.read1(_CHUNK):
            body += chunk
            if len(body) > LONGEST_REPLY:
                what = f"floods: more than {LONGEST_REPLY:,} bytes for one answer"
                raise PlayerFailure(what, _HINT)
            if time.monotonic() > deadline:
                raise self._late()
        return body

    def _late(self) -> PlayerFailure:
        what = f"gave no answer within {self._seconds:g} seconds"
        return PlayerFailure(what, "Give it more time with `--reply-timeout S`.")
