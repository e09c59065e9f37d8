"""Programs outside of this one, such as a language model: text out, text in.

Each turn a player gets an `observation` and answers with a line: words, a call, `pass` or a ``tw-
intent`` object. A narrator gets an `account` of the outcome of an intent and answers with prose; an
operator gets the `question` about unknown words, and answers with a rule. A `Channel` carries the
text: the standard streams of a child process, or HTTP. A program that ends, hangs or floods
raises `PlayerFailure` with one diagnostic. A run is halted if its player fails, and goes on without
its narrator, or its operator (`reloading.Operator`).
"""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from http.client import HTTPException, HTTPResponse
from itertools import islice, zip_longest
from typing import Any, ClassVar, Final, Protocol
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, OpenerDirector, ProxyHandler, Request, build_opener

from tokenworld.diagnostics import Diagnostic, Failure, in_seconds
from tokenworld.ground import Command, Outcome, value_text
from tokenworld.planning.planners.children import Child, require_program
from tokenworld.prose.intents import TypedIntent, parse_intent_json
from tokenworld.prose.matching import command_texts
from tokenworld.session.players import Expecting, Player
from tokenworld.session.session import Session
from tokenworld.store.usage import UNTOLD, Usage, usage_of

OFFERED = 20
"""So many possible commands are named at most."""


def observation(session: Session) -> str:
    """The observation of a player: the last outcome and the legal commands.

    Deterministic text of one or more lines, none of them empty.
    """
    lines = list(_welcome(session) if len(session.moments) == 1 else _happened(session))
    if session.actor is not None and len(session.state.actors) > 1:
        lines.append(f"It is the turn of {session.actor}.")
    return "\n".join(line for line in (*lines, *_offers(session)) if line.strip())


def _welcome(session: Session) -> Iterator[str]:
    world = session.world.world
    yield world.title or world.name
    acting = session.state.acting
    if acting is not None:
        yield f"You are {session.known.name(session.state, acting)}."
    for goal in world.goals:
        yield f"A goal is `{goal.name}`."
    yield "Answer with one command in one line."


def _happened(session: Session) -> Iterator[str]:
    for outcome in session.moments[-1].outcomes:
        yield from _result(outcome)
    for name in session.latched:
        yield f"`{name}` is reached."


def _result(outcome: Outcome) -> Iterator[str]:
    """One record in words."""
    if outcome.refusal is not None:
        yield f"Refused: {outcome.refusal.text}"
    elif outcome.no_match is not None:
        yield f"Not understood: {outcome.no_match.message}"
        if outcome.no_match.suggestions:
            yield f"You could say: {'; '.join(outcome.no_match.suggestions)}"
    elif outcome.breach is not None:
        yield f"Not done: {outcome.breach['message']}"
    elif outcome.progress is not None:
        yield f"Under way: {outcome.progress[0]} of {outcome.progress[1]}."
    elif not outcome.said:
        yield "Done."
    yield from outcome.said


def _mixed(session: Session) -> tuple[Command, ...]:
    """Possible commands, the first one of every action before the second of any."""
    by_action: dict[str, list[Command]] = {}
    for command in session.known.commands(session.state):
        listed = by_action.setdefault(command.action, [])
        if len(listed) < OFFERED:
            listed.append(command)
    rounds = zip_longest(*by_action.values())
    return tuple(islice((one for each in rounds for one in each if one is not None), OFFERED))


def _offers(session: Session) -> Iterator[str]:
    if session.ended():
        return
    commands = _mixed(session)
    texts = command_texts(commands, session.world.program, session.speaker())
    yield f"Possible now: {'; '.join((*dict.fromkeys(texts), 'pass'))}"


LONGEST_REPLY: Final = 64 * 1024
"""Bytes of one answer; a longer one is an error."""


class PlayerFailure(Failure):
    """A player or another program failed.

    ``cause`` is the text for the record of the halt, ``what`` the same without the player.
    """

    def __init__(self, what: str, hint: str, who: str = "player") -> None:
        super().__init__(Diagnostic("TW1009", f"The {who} {what}.", hint=hint))
        self.what, self.cause, self.hint = what, f"the {who} {what}", hint

    def of(self, who: str) -> PlayerFailure:
        """Return the same failure of another program."""
        return PlayerFailure(self.what, self.hint, who)


class Channel(Protocol):
    """One way to a player."""

    def ask(self, text: str) -> str | None:
        """The answer to an observation, ``None`` if the player left of its own accord.

        Raises `PlayerFailure` where none comes, or too much.
        """

    def close(self) -> None:
        """Release all resources."""


def remote_player(channel: Channel) -> Player:
    """Asks the other side for each intent, until it leaves or the world is over."""

    def play(session: Session) -> Iterator[Expecting]:
        while not session.ended():
            answer = channel.ask(observation(session))
            if answer is None:
                return
            yield _intent(answer)

    return play


def _intent(answer: str) -> Expecting:
    """The intent of an answer, and the ``usage`` of an object. An object that is no intent is typed
    words, and no match."""
    text = answer.strip()
    if not text.startswith("{"):
        return Expecting(TypedIntent(text))
    told, usage = _without_usage(text)
    try:
        return Expecting(parse_intent_json(told, "the player's answer"), usage=usage)
    except Failure:
        return Expecting(TypedIntent(text), usage=usage)


def _without_usage(text: str) -> tuple[str, Usage]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return text, UNTOLD
    if not isinstance(found, dict) or "usage" not in found:
        return text, UNTOLD
    usage = usage_of({"usage": found.pop("usage")})
    return json.dumps(found), usage


# ---- a narrator ----------------------------------------------------------------------------------


def account(session: Session, outcomes: Sequence[Outcome]) -> str:
    """The text about the records of the last intent for a narrator: the command, the result, the
    changes, and the visible objects. It is deterministic, has no empty line, and omits secrets."""
    lines = list(_opening(session) if len(session.moments) == 2 else ())
    lines.append(f"The command: {session.moments[-1].asked}")
    for outcome in outcomes:
        who = f" ({outcome.actor})" if len(session.state.actors) > 1 else ""
        lines += [f"Tick {outcome.tick}{who}: {outcome.status}.", *_result(outcome)]
        for change in (*outcome.changes, *outcome.law_changes):
            slot = f"{change.fluent.rpartition('.')[2]}({', '.join(map(value_text, change.args))})"
            lines.append(f"  {slot}: {value_text(change.old)} -> {value_text(change.new)}")
    lines += [f"`{name}` is reached." for name in outcomes[-1].latched]
    return "\n".join(line for line in (*lines, *_scene(session)) if line.strip())


def _opening(session: Session) -> Iterator[str]:
    yield session.world.world.title or session.world.world.name
    yield "Tell in prose what happened, about what is here alone, up to a line `>`."


def _scene(session: Session) -> Iterator[str]:
    """The visible objects, with their public values."""
    speaker, state = session.speaker(), session.state
    yield "Here is now:"
    objects: Any = session.state_json()["objects"]
    shown = {one["name"]: one for one in objects}
    for number in speaker.candidates():
        one = shown.get(state.names[number])
        if one is not None and speaker.in_scope(number):
            values = ", ".join(f"{key} {value_text(v)}" for key, v in one["attrs"].items())
            yield f"  {session.known.name(state, number)}: {values}"


class Beside:
    """A program beside a run that answers as long as it can; ``failure`` is set when it no longer
    does, and handed to ``tell`` once."""

    who: ClassVar[str]

    def __init__(self, channel: Channel, tell: Callable[[PlayerFailure], None]) -> None:
        self._channel, self._tell, self.left = channel, tell, False
        self.failure: PlayerFailure | None = None
        self.answers = 0

    def _answer(self, text: str) -> str:
        """The answer to a text; empty where it says nothing, or left."""
        if self.left:
            return ""
        try:
            answer = self._channel.ask(text)
        except PlayerFailure as failure:
            self.failure, answer = failure.of(self.who), None
            self._tell(self.failure)
        self.left = answer is None
        told = (answer or "").strip()
        self.answers += bool(told)
        return told

    @property
    def failed(self) -> str | None:
        """The reason why it failed, as the end of a sentence."""
        return None if self.failure is None else self.failure.what

    def close(self) -> None:
        """Close the channel, which ends its program."""
        self._channel.close()


class Narrator(Beside):
    """Tells outcomes in prose."""

    who = "narrator"

    def tell(self, session: Session, outcomes: Sequence[Outcome]) -> str:
        """The prose about the records of the last intent."""
        return self._answer(account(session, outcomes))


_ADDRESS_HINT: Final = (
    "The address has to take a POST of plain text, and to answer with a line of it."
)
_LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")
_BODY_BYTES: Final = 4096


class _Stay(HTTPRedirectHandler):
    """An observation goes to the address that was named, and to no other."""

    def redirect_request(self, *args: object, **kwargs: object) -> None:
        return None


class HttpChannel:
    """Posts to ``url``; ``seconds`` is how long one answer may take, ``longest`` how many bytes it
    may have. 204 means: I leave. An answer is ``whole``, or a line."""

    def __init__(
        self, url: str, seconds: float, *, longest: int = LONGEST_REPLY, whole: bool = False
    ) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            hint = "Give an address such as `http://127.0.0.1:8000/`."
            raise PlayerFailure(f"has no HTTP address: `{url}`", hint)
        self._url, self._seconds, self._longest, self._whole = url, seconds, longest, whole
        near = parts.hostname in _LOOPBACK
        handlers = (_Stay(), ProxyHandler({})) if near else (_Stay(),)
        self._opener: OpenerDirector = build_opener(*handlers)

    def ask(self, text: str) -> str | None:
        """Post a text and read the answer, or its first line that is not blank."""
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
            raise PlayerFailure(f"answers with HTTP status {error.code}", _ADDRESS_HINT) from error
        except TimeoutError:
            raise self._late() from None
        except URLError as error:
            if isinstance(error.reason, TimeoutError):
                raise self._late() from None
            raise PlayerFailure(f"cannot be reached: {error.reason}", _ADDRESS_HINT) from error
        except (HTTPException, OSError, ValueError) as error:
            why = str(error) or type(error).__name__
            raise PlayerFailure(f"broke off its answer: {why}", _ADDRESS_HINT) from error
        text = body.decode("utf-8", "replace").strip()
        return text if self._whole else (text.splitlines() or [""])[0].strip()

    def close(self) -> None:
        """Nothing is kept open between two questions."""

    def _body(self, answer: HTTPResponse, deadline: float) -> bytes:
        body = b""
        while chunk := answer.read1(_BODY_BYTES):
            body += chunk
            if len(body) > self._longest:
                what = f"floods: more than {self._longest:,} bytes for one answer"
                raise PlayerFailure(what, _ADDRESS_HINT)
            if time.monotonic() > deadline:
                raise self._late()
        return body

    def _late(self) -> PlayerFailure:
        what = f"gave no answer within {in_seconds(self._seconds)}"
        return PlayerFailure(what, "Give it more time with `--reply-timeout S`.")


_PIPE_BYTES = 65536
_LEAVING = 2.0
"""Seconds that a player has to end once it has closed its output."""
_PROGRAM_HINT = "Try it by hand: it reads a text up to a line `>`, and answers in one line."
_WHOLE_HINT = "Try it by hand: it reads a text up to a line `>`, and answers up to a line `>`."


class ProcessChannel:
    """The streams of a child process.

    ``seconds`` is how long one answer may take, ``longest`` how many bytes it may have. ``end``
    follows each question. An answer that is ``whole`` ends with a line `>`, else it is a line.
    """

    def __init__(
        self,
        command: Sequence[str],
        seconds: float,
        *,
        end: str = "\n>\n",
        longest: int = LONGEST_REPLY,
        whole: bool = False,
    ) -> None:
        self._seconds, self._end, self._longest, self._read = seconds, end, longest, b""
        self._before, self._stop = (b"\n", b"\n>\n") if whole else (b"", b"\n")
        self._hint = _WHOLE_HINT if whole else _PROGRAM_HINT
        try:
            require_program(command[0])
            self._child = Child(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or str(error)
            raise PlayerFailure(
                f"`{command[0]}` does not start: {why.lower()}", self._hint
            ) from error
        self._process = self._child.process
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._to, self._from = self._process.stdin.fileno(), self._process.stdout.fileno()
        os.set_blocking(self._to, False)
        os.set_blocking(self._from, False)

    def ask(self, text: str) -> str | None:
        """Send a question and wait for the answer; earlier lines are ignored."""
        deadline = time.monotonic() + self._seconds
        self._drop_unasked()
        if not self._write(f"{text}{self._end}".encode("utf-8", "backslashreplace"), deadline):
            self._gone()
            return None
        self._read = self._before
        while self._stop not in self._read:
            if len(self._read) > self._longest:
                raise self._flood()
            self._wait(self._from, selectors.EVENT_READ, deadline)
            chunk = self._take()
            if chunk == b"":
                self._gone()
                return None
        answer, _, self._read = self._read.partition(self._stop)
        if len(answer) > self._longest:
            raise self._flood()
        return answer.decode("utf-8", "replace").removeprefix("\n")

    def close(self) -> None:
        """End it with all that it started."""
        self._child.kill()

    # ---- streams ----------------------------------------------------------------------------

    def _take(self) -> bytes | None:
        """The bytes available: ``None`` if there are none yet, empty at the end of the stream."""
        try:
            chunk = os.read(self._from, _PIPE_BYTES)
        except BlockingIOError:
            return None
        self._read += chunk
        return chunk

    def _drop_unasked(self) -> None:
        while self._take():
            if len(self._read) > self._longest:
                raise self._flood()
        self._read = b""

    def _write(self, data: bytes, deadline: float) -> bool:
        """Send all of it; whether anybody was there to take it."""
        while data:
            try:
                sent = os.write(self._to, data)
            except BlockingIOError:
                self._wait(self._to, selectors.EVENT_WRITE, deadline)
                continue
            except BrokenPipeError:
                return False
            data = data[sent:]
        return True

    def _wait(self, stream: int, event: int, deadline: float) -> None:
        with selectors.DefaultSelector() as ready:
            ready.register(stream, event)
            if not ready.select(max(0.0, deadline - time.monotonic())):
                what = f"gave no answer within {in_seconds(self._seconds)}"
                raise PlayerFailure(what, "Give it more time with `--reply-timeout S`.")

    # ---- ends -------------------------------------------------------------------------------

    def _gone(self) -> None:
        """It left if it ended well; else it died."""
        try:
            code = self._process.wait(_LEAVING)
        except subprocess.TimeoutExpired:
            raise PlayerFailure("closed its output and went on running", self._hint) from None
        if code < 0:
            raise PlayerFailure(f"was killed by signal {-code}", self._hint)
        if code:
            raise PlayerFailure(f"ended with exit code {code}", self._hint)

    def _flood(self) -> PlayerFailure:
        return PlayerFailure(
            f"floods: more than {self._longest:,} bytes for one answer", self._hint
        )
