"""Providers: a script, a program, an OpenAI-compatible address, or a library of models."""

from __future__ import annotations

import json
import os
import re
import shlex
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tokenworld.diagnostics import (
    Diagnostic,
    Failure,
    Source,
    did_you_mean,
    in_seconds,
    read_source,
    usage,
)
from tokenworld.session.remote import PlayerFailure, ProcessChannel
from tokenworld.store.usage import Usage, usage_of
from tokenworld.verbs.author.asking import (
    MOST_BYTES,
    ROLES,
    Message,
    Provider,
    ProviderFailure,
    Request,
    Response,
)

if TYPE_CHECKING:
    import httpx
    from pydantic_ai.messages import ModelMessage
    from pydantic_ai.models import Model

# ---- An address ---------------------------------------------------------------------------------
# An OpenAI-compatible address: ``POST …/chat/completions``, with a key from the environment.

TRIES: Final = 4
_MOST_WAIT: Final = 60.0
_LONGEST_REPLY: Final = 8 * MOST_BYTES
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
        self._httpx = _httpx_library()
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
                if len(data) > _LONGEST_REPLY:
                    raise ProviderFailure(
                        f"floods: more than {_LONGEST_REPLY:,} bytes", _FLOOD_HINT
                    )
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


def _httpx_library() -> Any:
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


# ---- Models of a library ------------------------------------------------------------------------
# Models of pydantic-ai: any of its names, such as ``anthropic:…``, or a model object.


class PydanticAi:
    """Asks a model of pydantic-ai; it takes its key from the environment by itself."""

    name = "pydantic-ai"

    def __init__(self, model: str | Model) -> None:
        self._direct, self._messages = _pydantic_ai_library()
        self.model = model if isinstance(model, str) else model.model_name
        self._model = model

    def ask(self, request: Request) -> Response:
        """Return the joined texts of the answer; raises `ProviderFailure` for any library error."""
        wanted = {"seed": request.seed} if request.seed else None
        try:
            found = self._direct.model_request_sync(
                self._model, self._turns(request.messages), model_settings=wanted
            )
        except Exception as error:  # each provider raises errors of its own
            hint = "Check `--model`, the key in the environment, and the network."
            lines = str(error).splitlines() or [type(error).__name__]
            raise ProviderFailure(f"failed: {lines[0]}", hint) from None
        text = "".join(one.content for one in found.parts if one.part_kind == "text")
        usage = found.usage
        return Response(text, Usage(usage.input_tokens or None, usage.output_tokens or None))

    def close(self) -> None:
        """Do nothing: no connection stays open between two requests."""

    def _turns(self, messages: tuple[Message, ...]) -> list[ModelMessage]:
        m = self._messages
        turns: list[ModelMessage] = []
        for one in messages:
            if one.who == "assistant":
                turns.append(m.ModelResponse([m.TextPart(one.text)]))
            elif one.who == "system":
                turns.append(m.ModelRequest([m.SystemPromptPart(one.text)]))
            else:
                turns.append(m.ModelRequest([m.UserPromptPart(one.text)]))
        return turns


def _pydantic_ai_library() -> tuple[Any, Any]:
    try:
        from pydantic_ai import direct, messages
    except ImportError:
        message = "`--provider pydantic-ai` needs the package pydantic-ai."
        hint = "Run `pip install 'token-world[author]'`, and the extra of your provider."
        raise Failure(Diagnostic("TW0811", message, hint=hint)) from None
    return direct, messages


# ---- A program ----------------------------------------------------------------------------------
# A program that answers, or searches: a line of JSON in, a line of JSON out.

_LONGEST_LINE: Final = 4 << 20
_HINT: Final = 'Try it by hand: it reads a line of JSON, and answers with a line {"text": "…"}.'


class Program:
    """A child process that lives as long as the run."""

    def __init__(self, command: str, seconds: float) -> None:
        words = shlex.split(command)
        if not words:
            raise usage("A program has no name.", "Write `command:PROGRAM ARGUMENTS`.")
        self._shown = words[0]
        try:
            self._channel = ProcessChannel(words, seconds, end="\n", longest=_LONGEST_LINE)
        except PlayerFailure as failure:
            raise ProviderFailure(failure.what, _HINT) from failure

    def call(self, asked: dict[str, object]) -> dict[str, Any]:
        """Return the object that the program answers; raises `ProviderFailure` if there is none."""
        try:
            answer = self._channel.ask(json.dumps(asked, ensure_ascii=False))
        except PlayerFailure as failure:
            raise ProviderFailure(failure.what, _HINT) from failure
        if answer is None:
            raise ProviderFailure(f"ended before it answered (`{self._shown}`)", _HINT)
        try:
            found = json.loads(answer)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            raise ProviderFailure("answers with a line that is no JSON object", _HINT)
        return found

    def close(self) -> None:
        """End the program and all processes that it started."""
        self._channel.close()


class Command:
    """A provider that is a program."""

    name = "command"

    def __init__(self, command: str, model: str, seconds: float) -> None:
        self.model = model
        self._program = Program(command, seconds)

    def ask(self, request: Request) -> Response:
        """Send the request with the name of the model; read ``text`` and, if told, tokens."""
        found = self._program.call({**request.to_json(), "model": self.model})
        if not isinstance(found.get("text"), str):
            raise ProviderFailure("answers without a `text`", _HINT)
        return Response(found["text"], usage_of(found))

    def close(self) -> None:
        """End the program."""
        self._program.close()


# ---- Scripted answers ----------------------------------------------------------------------------
# Answers written beforehand, for tests and examples.
#
# A script is a text: ``=== developer`` begins an answer of that role, up to the next such line.


_HEAD: Final = re.compile(r"^=== (\S+)[ \t]*$", re.MULTILINE)


class Script:
    """Gives each role its answers in their order."""

    name = "script"

    def __init__(self, answers: Iterable[tuple[str, str]], model: str = "") -> None:
        self.model = model
        self._left: dict[str, list[str]] = {}
        for role, text in answers:
            self._left.setdefault(role, []).append(text)

    def ask(self, request: Request) -> Response:
        """Return the next answer of the role that is asked."""
        left = self._left.get(request.role, [])
        if not left:
            hint = f"Add an answer after a line `=== {request.role}`."
            raise ProviderFailure(f"has no further answer of the {request.role}", hint)
        return Response(left.pop(0))

    def close(self) -> None:
        """Do nothing: nothing is open."""


def read_script(path: Path) -> Script:
    """Return the script in a file; raises `Failure` (TW0001, TW0003, TW0006)."""
    source = read_source(path)
    return Script(_answers(source), path.name)


def _answers(source: Source) -> list[tuple[str, str]]:
    parts = _HEAD.split(source.text)
    if len(parts) < 2 or parts[0].strip():
        message = f"`{source.name}` does not begin with a line such as `=== developer`."
        raise usage(message, "Write a line `=== ROLE` before each answer.")
    pairs = list(zip(parts[1::2], parts[2::2], strict=True))
    for role, _ in pairs:
        if role not in ROLES:
            hint = did_you_mean(role, ROLES) or f"Name one of {', '.join(ROLES)}."
            raise usage(f"`{source.name}` has an answer of `{role}`, which is no role.", hint)
    return [(role, text.strip("\n") + "\n") for role, text in pairs]


# ---- The choice of a provider --------------------------------------------------------------------

_KNOWN: Final = "Name one of `script:FILE`, `command:PROGRAM`, `http` or `pydantic-ai`."


def provider_of(name: str, address: Address) -> Provider:
    """Return a provider by its name; raises `Failure` (TW0001, TW0006, TW0811, TW1301)."""
    kind, _, rest = name.partition(":")
    if kind == "script" and rest:
        return read_script(Path(rest))
    if kind == "command" and rest:
        return Command(rest, address.model, address.seconds)
    if name in ("http", "pydantic-ai") and not address.model:
        raise usage(f"The provider `{name}` needs a model.", "Name it with `--model`.")
    if name == "http":
        return Http(address)
    if name == "pydantic-ai":
        return PydanticAi(address.model)
    raise usage(f"There is no provider `{name}`.", _KNOWN)
