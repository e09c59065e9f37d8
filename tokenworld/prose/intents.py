"""Intents as they are exchanged: ``tw-intent/1`` objects (language.md §9) and script files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import field
from typing import Final, NoReturn

from tokenworld.diagnostics import Diagnostic, Failure, Source, Span
from tokenworld.diagnostics.frozen import frozen
from tokenworld.ground import Json

_FORMAT: Final = "tw-intent/1"
_WAYS: Final = ("action", "text", "pass")
_KEYS: Final = ("format", "actor", "args", *_WAYS)
_EXAMPLE: Final = '{"format": "tw-intent/1", "action": "take", "args": {"it": "lamp"}}'


@frozen
class TypedIntent:
    """Words or a call as typed; ``actor`` is ``None`` where the intent names nobody."""

    text: str
    actor: str | None = None


@frozen
class CallIntent:
    """An action with its arguments by parameter name, in exchange form."""

    action: str
    args: Mapping[str, Json] = field(default_factory=dict)
    actor: str | None = None


@frozen
class PassIntent:
    """No action: a long one goes on."""

    actor: str | None = None


Intent = TypedIntent | CallIntent | PassIntent


@frozen
class IntentLine:
    """One intent of a script, as written and where."""

    intent: Intent
    text: str
    span: Span


def read_script(source: Source) -> tuple[IntentLine, ...]:
    """The intents of a script: one per line, typed words, a call or a ``tw-intent`` object.

    Blank lines and lines that begin with ``#`` are skipped. Raises `Failure` with TW0006 for
    every object that does not fit, each with its place.
    """
    lines: list[IntentLine] = []
    wrong: list[Diagnostic] = []
    start = 0
    for whole in source.text.split("\n"):
        text = whole.strip()
        begin = start + len(whole) - len(whole.lstrip())
        start += len(whole) + 1
        if not text or text.startswith("#"):
            continue
        try:
            lines.append(_line(source, text, begin))
        except Failure as failure:
            wrong.extend(failure.diagnostics)
    if wrong:
        raise Failure(*wrong)
    return tuple(lines)


def _line(source: Source, text: str, begin: int) -> IntentLine:
    span = source.span(begin, begin + len(text))
    intent = _parse(text, source, begin) if text.startswith("{") else TypedIntent(text)
    return IntentLine(intent, text, span)


def parse_intent_json(text: str, name: str = "intent") -> Intent:
    """The intent of one ``tw-intent/1`` object; ``name`` is what people see as its file.

    Raises `Failure` with TW0006 and the place where it does not fit.
    """
    return _parse(text, Source(name, None, text), 0)


def _parse(text: str, source: Source, begin: int) -> Intent:
    span = source.span(begin, begin + len(text))
    try:
        # Not by pydantic: a key given twice is refused, and `tw run` need not wait for an import.
        found = json.loads(text, object_pairs_hook=_once, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        place = begin + min(error.pos, len(text))
        _fail(f"This is no JSON object: {error.msg}", source.span(place, place), "here")
    except (ValueError, RecursionError) as error:
        reason = str(error) if isinstance(error, _Unfit) else "it is nested or sized beyond use"
        _fail(f"This is no intent: {reason}", span)
    problem = _problem(found)
    if problem:
        _fail(problem, span)
    return _intent(found)


class _Unfit(ValueError):
    """JSON that Python reads and no exchange format allows."""


def _once(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _Unfit("a key stands there twice")
    return found


def _no_constant(name: str) -> NoReturn:
    raise _Unfit(f"`{name}` is not a JSON number")


def _problem(found: object) -> str | None:
    """The fault of the object, as a sentence without its full stop."""
    if not isinstance(found, dict):
        return "An intent is a JSON object"
    unknown = [key for key in found if key not in _KEYS]
    ways = [key for key in _WAYS if key in found]
    if unknown:
        return f"An intent has no key `{_plain(unknown[0])}`"
    if found.get("format") != _FORMAT:
        return f"An intent names its format, `{_FORMAT}`"
    if len(ways) != 1:
        return "An intent has exactly one of `action`, `text` and `pass`"
    if "args" in found and ways != ["action"]:
        return "Only an `action` has `args`"
    return _bad_value(found)


def _bad_value(found: Mapping[str, object]) -> str | None:
    if not isinstance(found.get("actor"), str | None):
        return "`actor` is the name of an object"
    if not isinstance(found.get("args", {}), dict):
        return "`args` is an object of arguments by parameter name"
    if found.get("pass", True) is not True:
        return "`pass` can only be true"
    for key in ("action", "text"):
        if not isinstance(found.get(key, ""), str):
            return f"`{key}` is a text"
    return None


def _plain(key: str) -> str:
    return "".join(char for char in key if char.isprintable() and char != "`")[:40]


def _intent(found: Mapping[str, Json]) -> Intent:
    """The intent of an object without `_problem`."""
    actor, args = found.get("actor"), found.get("args", {})
    who = actor if isinstance(actor, str) else None
    if "action" in found:
        return CallIntent(str(found["action"]), args if isinstance(args, Mapping) else {}, who)
    if "text" in found:
        return TypedIntent(str(found["text"]), who)
    return PassIntent(who)


def _fail(message: str, span: Span, label: str | None = None) -> NoReturn:
    hint = f"Write typed words, a call such as `take(lamp)`, or `{_EXAMPLE}`."
    raise Failure(Diagnostic("TW0006", f"{message.rstrip('.')}.", span, label=label, hint=hint))
