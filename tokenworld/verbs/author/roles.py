"""The player and the researcher.

The player is a model that plays an accepted world and reports what contradicts its rules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from tokenworld.diagnostics import Failure
from tokenworld.prose.intents import TypedIntent
from tokenworld.session.players import give_once
from tokenworld.session.remote import observation
from tokenworld.session.session import Session
from tokenworld.verbs.author import prompts
from tokenworld.verbs.author.answers import json_of
from tokenworld.verbs.author.asking import Message, scrubbed
from tokenworld.verbs.author.desk import Desk
from tokenworld.verbs.author.specification import Specification
from tokenworld.verbs.author.tools import opened

MOST_STEPS: Final = 30
_MOST_ANSWERS: Final = 10


@dataclass(frozen=True, slots=True)
class Violation:
    """A rule that a player saw violated, and the commands that led there."""

    mechanic: str
    expected: str
    found: str
    trace: tuple[str, ...]

    @property
    def told(self) -> str:
        way = ", ".join(self.trace)
        return f"- {self.mechanic}: expected {self.expected}; found {self.found} (after: {way})"


def play(desk: Desk, text: str, spec: Specification | None, description: str) -> list[Violation]:
    """Let the player play the first world of a text, for 30 steps at most."""
    try:
        session = Session(opened(text), seed=desk.settings.seed)
    except Failure:
        return []  # a domain without a world
    messages = prompts.player(spec, description, observation(session))
    trace: list[str] = []
    found: list[Violation] = []
    for _ in range(_MOST_ANSWERS):
        answer = desk.ask("player", messages)
        said = _read(answer)
        found += [
            _violation(one, trace) for one in _list(said, "violated") if isinstance(one, dict)
        ]
        if said.get("end") or session.ended() or len(trace) >= MOST_STEPS:
            break
        told = "\n".join(_step(session, str(one), trace) for one in _list(said, "do"))
        told = told or 'Answer with an object such as {"do": ["pass"], "violated": []}.'
        messages += [Message("assistant", answer), Message("user", told)]
    desk.note("play", trace, observation(session))
    return found


def _step(session: Session, command: str, trace: list[str]) -> str:
    if session.ended() or len(trace) >= MOST_STEPS:
        return f"> {command}\nPlay is over."
    trace.append(command)
    give_once(session, TypedIntent(command))
    return f"> {command}\n{observation(session)}"


def _read(answer: str) -> dict[str, Any]:
    try:
        found = json_of(answer)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _list(said: dict[str, Any], key: str) -> list[object]:
    found = said.get(key)
    return found if isinstance(found, list) else []


def _violation(one: dict[str, object], trace: list[str]) -> Violation:
    mechanic, expected, found = (
        str(one.get(key, "?")) for key in ("mechanic", "expected", "found")
    )
    return Violation(mechanic, expected, found, tuple(trace))


# ---- The researcher -----------------------------------------------------------------------------
# Send a few queries to a search of the user's choice; leave out results with the answer itself.

MOST_QUERIES: Final = 4
_MOST_RESULTS, _MOST_CHARACTERS = 5, 1_500


@dataclass(frozen=True, slots=True)
class Search:
    """A search: ``ask`` returns results as ``{"source": …, "text": …}``; those that contain a text
    of ``denied`` would leak the solution, and are left out."""

    ask: Callable[[str], object]
    denied: tuple[str, ...] = ()

    def results(self, query: str) -> list[dict[str, str]]:
        """Return the allowed results, each cut to some hundred words."""
        return list(self._allowed(query))[:_MOST_RESULTS]

    def _allowed(self, query: str) -> Iterator[dict[str, str]]:
        found = self.ask(query)
        for one in found if isinstance(found, list) else ():
            if not isinstance(one, dict):
                continue
            source, text = str(one.get("source", "")), str(one.get("text", ""))
            told = f"{source}\n{text}".casefold()
            if not any(word.casefold() in told for word in self.denied):
                yield {"source": source, "text": text[:_MOST_CHARACTERS]}


def research(desk: Desk, spec: Specification, search: Search) -> Specification:
    """Return the specification with the search results for its open questions."""
    if not spec.questions:
        return spec
    messages = prompts.researcher(spec.questions)
    answer = desk.ask("researcher", messages)
    queries = [str(one) for one in _listed(answer, "queries")][:MOST_QUERIES]
    if not queries:
        return spec
    told = "\n\n".join(_told(desk, query, search) for query in queries)
    messages += [Message("assistant", answer), Message("user", told)]
    answers = _listed(desk.ask("researcher", messages), "answers")
    return replace(spec, answers=tuple(_answers(answers)))


def _told(desk: Desk, query: str, search: Search) -> str:
    def live(asked: str) -> list[dict[str, str]]:
        return [
            {key: scrubbed(value, desk.keys) for key, value in one.items()}
            for one in search.results(asked)
        ]

    found = desk.search(query, live)["results"]
    lines = [f"[{one['source']}] {one['text']}" for one in found]
    return "\n".join((f"Results for “{query}”:", *(lines or ["none"])))


def _listed(answer: str, key: str) -> list[Any]:
    try:
        found = json_of(answer)
    except ValueError:
        return []
    listed = found.get(key) if isinstance(found, dict) else None
    return listed if isinstance(listed, list) else []


def _answers(found: Iterable[object]) -> Iterator[str]:
    """Yield the answers that name a source."""
    for one in found:
        if isinstance(one, dict) and one.get("text") and one.get("source"):
            yield f"{one['text']} [{one['source']}]"
