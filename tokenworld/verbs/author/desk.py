"""Send every request to a model within the budgets, and record it in the transcript."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Final, Literal

from tokenworld.model.schema import CLOSED
from tokenworld.store.usage import Prices, Usage
from tokenworld.verbs.author.answers import spoken
from tokenworld.verbs.author.asking import (
    MOST_BYTES,
    Message,
    Provider,
    ProviderFailure,
    Request,
    Role,
    scrubbed,
    secrets,
)
from tokenworld.verbs.author.transcript import Event, Outside, Transcript
from tokenworld.verbs.judge.contract import Budget, Contract
from tokenworld.verbs.judge.findings import tokens

Reason = Literal[
    "accepted", "max_rounds", "budget", "stalled", "provider_error", "cancelled", "time", "cut",
]  # fmt: skip
CALLS: Final = 6
"""The greatest number of calls of the developer in a round."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a run beside its description and the answers; the header of its transcript.

    ``calls`` bounds the developer's calls in a round, ``tools`` whether it has any. ``tokens``,
    ``cost`` and ``seconds`` are unlimited if they are ``None``.
    """

    __pydantic_config__ = CLOSED
    contract: Contract = field(default_factory=Contract)
    roles: tuple[Role, ...] = ("analyst", "researcher", "developer", "tester", "player")
    rounds: int = 4
    calls: int = CALLS
    tools: bool = True
    requests: int = 100
    tokens: int | None = None
    cost: float | None = None
    seconds: float | None = None
    seed: int = 0
    judge: Budget = field(default_factory=lambda: Budget(mutants=20, seconds=60.0))

    def to_json(self) -> dict[str, object]:
        return asdict(self)


class Stop(Exception):
    """Raised to end the run for an internal reason, such as a budget."""

    def __init__(self, reason: Reason, why: str = "") -> None:
        super().__init__(why)
        self.reason, self.why = reason, why


@dataclass(slots=True)
class Desk:
    """Sends requests, and counts what they use. ``provider`` is ``None`` in a replay; ``prices``
    are for one that states no cost. ``tokens``, for the budget, are estimated if none are stated.
    """

    settings: Settings
    transcript: Transcript
    provider: Provider | None
    began: float = field(default_factory=time.monotonic)
    requests: int = 0
    tokens: int = 0
    cost: float = 0.0
    used: list[Usage] = field(default_factory=list)
    """The usage of each answer, as the provider states it."""
    prices: Prices | None = None
    keys: tuple[str, ...] = ()
    """Texts that no file may contain, beside the keys of the environment."""
    say: Callable[[str], None] = lambda line: None

    def __post_init__(self) -> None:
        self.keys = (*self.keys, *secrets())

    def ask(self, role: Role, messages: Sequence[Message]) -> str:
        """Return the answer to a conversation.

        Raises `Stop` where a budget is used up, and `Outside` where the provider or the time ends.
        """
        self._afford()
        request = Request(role, tuple(messages), self.settings.seed)
        self.requests += 1
        number = self.requests
        self.transcript.write("request", n=number, role=role, hash=request.digest)
        found = self.transcript.fetch("response", lambda: self._live(request, number), _is_response)
        self.tokens += found["tokens_in"] + found["tokens_out"]
        self.cost += found["cost"]
        self.used.append(recorded_usage(found))
        return spoken(found["text"])

    def search(self, query: str, live: Callable[[str], object]) -> Event:
        """Return the results of a search, which come from outside like an answer."""
        return self.transcript.fetch(
            "search", lambda: {"query": query, "results": live(query)}, _is_search
        )

    @property
    def spent(self) -> str:
        """The tokens so far: ``1,200 tokens``, and ``about`` where some are estimated."""
        told = all(one.told for one in self.used)
        return f"{'' if told else 'about '}{self.tokens:,} tokens"

    def note(self, tool: str, given: object, told: str) -> None:
        """Record the use of a tool."""
        self.transcript.write("tool", tool=tool, given=given, told=told)

    def _live(self, request: Request, number: int) -> Event:
        if self.provider is None:
            raise Outside({"event": "end", "reason": "cut"})
        self.say(f"request {number}: asking the {request.role}")
        try:
            found = self.provider.ask(request)
        except ProviderFailure as failure:
            why = scrubbed(failure.why, self.keys)
            event = {"event": "end", "reason": "provider_error", "why": why, "hint": failure.hint}
            raise Outside(event) from None
        text = scrubbed(found.text, self.keys)
        used = found.usage.at(self.prices)
        asked = "".join(one.text for one in request.messages)
        counted_in = tokens(asked) if used.tokens_in is None else used.tokens_in
        counted_out = tokens(text) if used.tokens_out is None else used.tokens_out
        estimated = None in (used.tokens_in, used.tokens_out)
        size = len(text.encode())
        if size > MOST_BYTES:
            text = f"(cut: {size:,} bytes)"
        return {
            "n": number, "text": text, "tokens_in": counted_in, "tokens_out": counted_out,
            "cost": used.cost or 0.0, **({"estimated": True} if estimated else {}),
        }  # fmt: skip

    def _afford(self) -> None:
        bounds = self.settings
        if self.requests >= bounds.requests:
            raise Stop("budget", f"{bounds.requests} requests")
        if bounds.tokens is not None and self.tokens >= bounds.tokens:
            raise Stop("budget", f"{bounds.tokens:,} tokens")
        if bounds.cost is not None and self.cost >= bounds.cost:
            raise Stop("budget", f"a cost of {bounds.cost:g}")
        late = bounds.seconds is not None and time.monotonic() - self.began >= bounds.seconds
        if late and self.transcript.exhausted:
            raise Outside({"event": "end", "reason": "time", "why": f"{bounds.seconds:g} seconds"})


def recorded_usage(response: Event) -> Usage:
    """The usage that a recorded answer tells: no tokens where they were estimated."""
    counts = (None, None)
    if not response.get("estimated"):
        counts = response.get("tokens_in"), response.get("tokens_out")
    return Usage(*counts, response.get("cost") or None)


def _is_response(found: Event) -> bool:
    counts = (found.get("tokens_in"), found.get("tokens_out"))
    numbers = all(isinstance(one, int) for one in counts)
    return numbers and isinstance(found.get("text"), str) and isinstance(found.get("cost"), float)


def _is_search(found: Event) -> bool:
    results = found.get("results")
    return isinstance(results, list) and all(
        isinstance(one, dict) and isinstance(one.get("source"), str) and "text" in one
        for one in results
    )
