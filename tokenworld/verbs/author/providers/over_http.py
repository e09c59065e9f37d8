"""An OpenAI-compatible address: ``POST …/chat/completions``, with a key from the environment."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, Final

from tokenworld.diagnostics import Diagnostic, Failure, in_seconds
from tokenworld.store.usage import usage_of
from tokenworld.verbs.author.asking import MOST_BYTES, ProviderFailure, Request, Response

if TYPE_CHECKING:
    import httpx

TRIES: Final = 4
_MOST_WAIT: Final = 60.0
_LONGEST: Final = 8 * MOST_BYTES
_LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True)
class Address:
    """The address to ask, the model, and the name of the variable that has the key."""

    url: str
    model: str
    key: str = "OPENAI_API_KEY"
    seconds: float = 300.0


class Http:
    """Sends requests over HTTP: four tries if the address is busy, fails, or breaks off."""

    name = "http"

    def __init__(self, address: Address, sleep: Callable[[float], None] = time.sleep) -> None:
        self.model, self._address, self._sleep = address.model, address, sleep
        self._httpx = _library()
        host, headers = _headers(self._httpx, address)
        self._client = self._httpx.Client(
            headers=headers, timeout=address.seconds, follow_redirects=False,
            trust_env=host not in _LOOPBACK,
        )  # fmt: skip

    def ask(self, request: Request) -> Response:
        """Return the first choice of the answer; raises `ProviderFailure` after the last try."""
        for left in reversed(range(TRIES)):
            reason, wait = "", 2.0 ** (TRIES - 1 - left)
            try:
                answer = self._post(request)
            except self._httpx.TimeoutException:
                reason = f"gave no answer within {in_seconds(self._address.seconds)}"
            except self._httpx.TransportError as error:
                reason = f"cannot be reached, or broke off: {error}"
            else:
                if answer.status_code == 200:
                    return self._read(answer)
                reason = _refused(answer)
                if answer.status_code != 429 and answer.status_code < 500:
                    raise ProviderFailure(reason, _hint(answer.status_code, self._address))
                wait = _retry_after(answer, wait)
            if left:
                self._sleep(min(wait, _MOST_WAIT))
        hint = "Try again later with `--resume`: what was answered so far is kept."
        raise ProviderFailure(f"{reason} ({TRIES} tries)", hint)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _post(self, request: Request) -> httpx.Response:
        asked = request.to_json()
        body = {"model": self.model, "messages": asked["messages"]}
        if request.seed:  # some addresses know no seed
            body["seed"] = request.seed
        url = f"{self._address.url.rstrip('/')}/chat/completions"
        deadline = time.monotonic() + self._address.seconds
        with self._client.stream("POST", url, json=body) as answer:
            data = b""
            for chunk in answer.iter_bytes():
                data += chunk
                if time.monotonic() > deadline:  # it answers, but too slowly
                    raise self._httpx.ReadTimeout("too slow")
                if len(data) > _LONGEST:
                    raise ProviderFailure(f"floods: more than {_LONGEST:,} bytes", _FLOOD_HINT)
            read: httpx.Response = self._httpx.Response(
                answer.status_code, headers=_plain(answer), content=data
            )
            return read

    def _read(self, answer: httpx.Response) -> Response:
        try:
            found: Any = answer.json()
            text = found["choices"][0]["message"]["content"]
        except (ValueError, LookupError, TypeError, RecursionError):
            text = None
        if text is None:
            hint = "The address has to speak the chat completions of OpenAI."
            raise ProviderFailure("answers nonsense: no `choices[0].message.content`", hint)
        return Response(str(text), usage_of(found))


_FLOOD_HINT: Final = "Name an address that answers with one completion."


def _library() -> Any:
    try:
        import httpx
    except ImportError:
        message = "`--provider http` needs the package httpx."
        hint = "Run `pip install 'token-world[author]'`."
        raise Failure(Diagnostic("TW0811", message, hint=hint)) from None
    return httpx


def _headers(library: Any, address: Address) -> tuple[str, dict[str, str]]:
    """Return the host and the key header; `ProviderFailure` without a key, except locally."""
    try:
        parts = library.URL(address.url)
    except (library.InvalidURL, TypeError):
        parts = None
    if parts is None or parts.scheme not in ("http", "https") or not parts.host:
        hint = "Give `--url` an address such as `https://api.openai.com/v1`."
        raise ProviderFailure(f"has no HTTP address: `{address.url}`", hint)
    key = os.environ.get(address.key, "").strip()
    if key:
        return parts.host, {"Authorization": f"Bearer {key}"}
    if parts.host in _LOOPBACK:
        return parts.host, {}
    hint = f"Put the key into the variable `{address.key}`, or name another with `--key-env`."
    raise ProviderFailure("has no key", hint)


def _plain(answer: httpx.Response) -> dict[str, str]:
    """Return the headers that are read: the body is already decoded."""
    kept = ("retry-after", "content-type")
    return {name: value for name, value in answer.headers.items() if name in kept}


def _refused(answer: httpx.Response) -> str:
    return f"answers with HTTP status {answer.status_code}"


def _hint(status: int, address: Address) -> str:
    if status in (401, 403):
        return f"Check the key in the variable `{address.key}`."
    if status == 404:
        return "Check `--url`, which ends before `/chat/completions`, and `--model`."
    return "Check `--url` and `--model`."


def _retry_after(answer: httpx.Response, usual: float) -> float:
    """Return the seconds that the address asks to wait: a number, or a date."""
    told = answer.headers.get("retry-after", "").strip()
    try:
        return max(float(told), 0.0)
    except ValueError:
        pass
    try:
        return max((parsedate_to_datetime(told) - datetime.now(UTC)).total_seconds(), 0.0)
    except (ValueError, TypeError):
        return usual
