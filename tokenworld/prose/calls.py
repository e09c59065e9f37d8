"""Commands written as calls, ``force(old_chest, pocket_knife)``, and as JSON arguments.

Both name objects by identifier and are not limited by scope.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from tokenworld.diagnostics import closest, counted
from tokenworld.diagnostics.frozen import frozen
from tokenworld.ground import Command, Json, NoMatch, Raw, read_value
from tokenworld.model import Action, Binder, EnumType, ObjectType, TypeRange
from tokenworld.prose.lexicon import (
    Lexicon,
    domain_range,
    number_type,
    object_type,
    read_number,
    tidy,
)
from tokenworld.prose.wording import kind_word, quoted, suggesting

_PLAIN_NAME = re.compile(r"[a-z][A-Za-z0-9_]*")
_QUALIFIED = re.compile(r"[A-Z][A-Za-z0-9_]*\s*\.\s*")
_OPENING: Final = {"(": 1, ")": -1}


@frozen
class Call:
    """A call as typed; ``closed`` is false where the last parenthesis is missing."""

    name: str
    args: tuple[str, ...]
    closed: bool


def parse_call(text: str) -> Call | None:
    """The text as a call, ``None`` where it has not the form ``name(…``. Never raises."""
    body = text.strip().removesuffix(".").rstrip()
    raw = body.startswith("`")
    end = body.find("`", 1) if raw else body.find("(")
    name = body[1:end] if raw else body[:end].rstrip()
    rest = body[end + 1 :].lstrip() if raw else body[end:]
    if end < 1 or not name or not rest.startswith("("):
        return None
    closed = rest.endswith(")")
    return Call(name, _arguments(rest[1:-1] if closed else rest[1:]), closed)


def _arguments(text: str) -> tuple[str, ...]:
    """Split at commas outside parentheses and backquotes."""
    pieces, depth, quote, start = [], 0, False, 0
    for position, char in enumerate(text):
        if char == "`":
            quote = not quote
        elif not quote:
            depth += _OPENING.get(char, 0)
            if char == "," and depth <= 0:
                pieces.append(text[start:position].strip())
                start = position + 1
    last = text[start:].strip()
    return (*pieces, last) if pieces or last else ()


def find_action(name: str, actions: Mapping[str, Action]) -> Action | None:
    """The action of that name; failing that, the only one that reads the same."""
    if name in actions:
        return actions[name]
    alike = [action for action in actions.values() if tidy(action.name) == tidy(name)]
    return alike[0] if len(alike) == 1 else None


# ---- from text and JSON to commands -----------------------------------------------------


def resolve_call(call: Call, lexicon: Lexicon) -> Command | NoMatch:
    """The command a typed call means."""
    action = find_action(call.name, lexicon.program.actions)
    if action is None:
        return _unknown_action(call.name, lexicon)
    if not call.closed:
        return NoMatch(
            "bad_arity",
            f"The call of `{action.name}` lacks its closing parenthesis.",
            (f"{written(action.name)}({', '.join(call.args)})",),
        )
    if len(call.args) != len(action.params):
        return _arity(action, len(call.args))
    return _collect(
        action, [_typed(*pair, lexicon) for pair in zip(action.params, call.args, strict=True)]
    )


def resolve_args(name: str, args: Mapping[str, Json], lexicon: Lexicon) -> Command | NoMatch:
    """The command of an exchanged intent: arguments by parameter name (language.md §9)."""
    action = lexicon.program.actions.get(name)
    if action is None:
        return _unknown_action(name, lexicon)
    if set(args) != {binder.name for binder in action.params}:
        return _arity(action, len(args))
    return _collect(action, [_exchanged(one, args[one.name], lexicon) for one in action.params])


def _collect(action: Action, found: Sequence[tuple[Raw] | NoMatch]) -> Command | NoMatch:
    for one in found:
        if isinstance(one, NoMatch):
            return one
    return Command(action.name, tuple(one[0] for one in found if not isinstance(one, NoMatch)))


def _typed(binder: Binder, text: str, lexicon: Lexicon) -> tuple[Raw] | NoMatch:
    raw = len(text) > 2 and text.startswith("`") and text.endswith("`")
    word = text[1:-1] if raw else text
    if object_type(binder) is not None:
        return _object(binder, word, lexicon)
    if number_type(binder) is not None:
        number = read_number(tidy(word), binder, lexicon.program.units)
        return _unfit(binder, word, lexicon) if number is None else (number,)
    member = tidy(_QUALIFIED.sub("", word))
    ends = dict(lexicon.spans(binder, member, 0))
    values = ends.get(len(member))
    return (values[0],) if values else _unfit(binder, word, lexicon)


def _exchanged(binder: Binder, value: Json, lexicon: Lexicon) -> tuple[Raw] | NoMatch:
    if object_type(binder) is not None:
        return (
            _object(binder, value, lexicon)
            if isinstance(value, str)
            else _unfit(binder, value, lexicon)
        )
    kind = binder.domain.of if isinstance(binder.domain, TypeRange) else binder.type
    try:
        found = read_value(lexicon.program, lexicon.speaker.numbers, kind, value)
    except (ValueError, ArithmeticError):
        return _unfit(binder, value, lexicon)
    if number_type(binder) is not None and found not in domain_range(binder):
        return _unfit(binder, value, lexicon)
    return (found,)


def _object(binder: Binder, name: str, lexicon: Lexicon) -> tuple[Raw] | NoMatch:
    wanted = object_type(binder) or ""
    number = _numbered(name, lexicon)
    if number is None:
        return _no_object(name, wanted, lexicon)
    if lexicon.is_a(number, wanted):
        return (number,)
    named, kind = lexicon.speaker.identifier(number), lexicon.speaker.kind(number)
    message = f"`{named}` is a {kind_word(kind)}, and `{binder.name}` must be a"
    names = _names(lexicon, lexicon.of_type(wanted))
    return NoMatch("wrong_type", f"{message} {kind_word(wanted)}.", names[:3])


def _numbered(name: str, lexicon: Lexicon) -> int | None:
    number = lexicon.speaker.numbers.get(name)
    if number is not None:
        return number if lexicon.is_live(number) else None
    alike = [n for n in lexicon.live if tidy(lexicon.speaker.identifier(n)) == tidy(name)]
    return alike[0] if len(alike) == 1 else None


# ---- errors of a call -------------------------------------------------------------------


def _names(lexicon: Lexicon, numbers: Sequence[int]) -> tuple[str, ...]:
    return tuple(lexicon.speaker.identifier(number) for number in numbers)


def _no_object(name: str, wanted: str, lexicon: Lexicon) -> NoMatch:
    fitting = lexicon.of_type(wanted)
    meant = _names(lexicon, lexicon.called(tidy(name), wanted))
    near = meant[:3] or closest(name, _names(lexicon, fitting))
    return NoMatch("no_such_object", suggesting(f"There is no {quoted(name)}", near), near)


def _unknown_action(name: str, lexicon: Lexicon) -> NoMatch:
    actions = lexicon.program.actions
    near = closest(name, actions)
    message = suggesting(f"There is no action {quoted(name)}", near)
    return NoMatch("unknown_verb", message, tuple(call_shape(actions[one]) for one in near))


def _arity(action: Action, given: int) -> NoMatch:
    wanted = len(action.params)
    names = ", ".join(f"`{binder.name}`" for binder in action.params)
    needs = f"{counted(wanted, 'argument')} ({names})" if wanted else "no arguments"
    found = "these do not fit" if given == wanted else f"got {counted(given, 'argument')}"
    return NoMatch("bad_arity", f"`{action.name}` takes {needs}; {found}.", (call_shape(action),))


def _unfit(binder: Binder, value: object, lexicon: Lexicon) -> NoMatch:
    shown = quoted(value if isinstance(value, str) else repr(value))
    if object_type(binder) is not None:
        return NoMatch("wrong_type", f"`{binder.name}` is the name of an object, not {shown}.")
    if number_type(binder) is not None:
        limits = number_limits(binder, lexicon)
        return NoMatch("wrong_type", f"`{binder.name}` is a number{limits}, not {shown}.")
    members = tuple(lexicon.shown(binder, one) for one in lexicon.candidates(binder))
    near = closest(str(value), members) or members[:3]
    return NoMatch("wrong_type", suggesting(f"`{binder.name}` cannot be {shown}", near), near)


def number_limits(binder: Binder, lexicon: Lexicon) -> str:
    """``" from 1l to 5l"`` for a message, empty where there are no limits."""
    values = domain_range(binder)
    if not values:
        return ""
    return f" from {lexicon.shown(binder, values[0])} to {lexicon.shown(binder, values[-1])}"


# ---- from commands to text --------------------------------------------------------------


def written(name: str) -> str:
    """A name as source text: raw names in backquotes."""
    return name if _PLAIN_NAME.fullmatch(name) else f"`{name}`"


def call_shape(action: Action) -> str:
    """The call with the names of its parameters: ``unlock(c, k)``."""
    return f"{written(action.name)}({', '.join(binder.name for binder in action.params)})"


def call_text(command: Command, lexicon: Lexicon) -> str:
    """The command as an author writes it: ``open(old_chest)``, ``pass``."""
    if command.is_pass:
        return "pass"
    binders = lexicon.program.actions[command.action].params
    args = (argument_text(*pair, lexicon) for pair in zip(binders, command.args, strict=True))
    return f"{written(command.action)}({', '.join(args)})"


def argument_text(binder: Binder, value: Raw, lexicon: Lexicon) -> str:
    """One argument of a call: an identifier, an enum member or a number with its unit."""
    match binder.domain:
        case TypeRange(of=ObjectType()) if isinstance(value, int):
            return written(lexicon.speaker.identifier(value))
        case TypeRange(of=EnumType(name=name)) if isinstance(value, int):
            return written(lexicon.program.enums[name].members[value])
        case _:
            return lexicon.shown(binder, value)
