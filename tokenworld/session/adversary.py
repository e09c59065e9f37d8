"""The adversarial player: what must not happen, asked for on purpose.

It holds the door shut from outside: commands whose requires are false, arguments of the wrong type
or number, names of nothing, words that mean nothing, intents of those whose turn it is not. Now and
then it does something legal, so that the world goes on. Its draws are keyed like those of a rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from tokenworld.ground import PASS, Command, Raw, parameter_domains
from tokenworld.model import Action, Binder, ObjectType
from tokenworld.prose import CallIntent, PassIntent, TypedIntent
from tokenworld.session.intents import AnyIntent
from tokenworld.session.players import random_command, uniform
from tokenworld.session.session import Session

__all__ = ["adversarial_player"]

_TRIES: Final = 12
"""So many draws for a command that is refused: in a kind world there may be none."""
_NONSENSE: Final = (
    "",
    "xyzzy",
    "take take take",
    "lift the moon",
    "(",
    "pass(",
    "open {the door}",
    "\u202eback to front\u202c",
    "ö" * 80,
    "go\x00on",
    '{"format": "tw-intent/1"}',
)
_KINDS: Final = (
    "illegal",
    "illegal",
    "illegal",
    "illegal",
    "wrong_type",
    "no_such_object",
    "bad_arity",
    "nonsense",
    "out_of_turn",
    "legal",
)


def adversarial_player(session: Session) -> Iterator[AnyIntent]:
    """Asks for what is not allowed, for ever; equal seeds ask equally."""
    turn = 0
    while True:
        yield _Turn(session, turn).intent()
        turn += 1


class _Turn:
    """One turn: each draw of it has a name of its own."""

    def __init__(self, session: Session, turn: int) -> None:
        self._session, self._turn = session, turn
        self._actions = list(session.world.program.actions.values())

    def intent(self) -> AnyIntent:
        match _KINDS[self._draw("kind", len(_KINDS))]:
            case "illegal":
                return self._illegal()
            case "wrong_type":
                return self._call(self._any_object)
            case "no_such_object":
                return self._call(lambda what: "nobody_of_that_name")
            case "bad_arity":
                return self._bad_arity()
            case "nonsense":
                return TypedIntent(_NONSENSE[self._draw("nonsense", len(_NONSENSE))])
            case "out_of_turn":
                return PassIntent(self._any_object("actor") or "nobody")
            case _:
                session = self._session
                return random_command(session.engine, session.state, session.seed, self._turn)

    def _draw(self, what: str, size: int) -> int:
        return uniform(self._session.seed, self._turn, what, size, "player adversarial")

    def _action(self, what: str) -> Action | None:
        return self._actions[self._draw(what, len(self._actions))] if self._actions else None

    def _illegal(self) -> AnyIntent:
        """A well-typed command that a require forbids now, if one is found soon."""
        command = PASS
        for attempt in range(_TRIES):
            action = self._action(f"action {attempt}")
            domains = [] if action is None else self._domains(action.params)
            if action is None or not all(domains):
                continue
            args = tuple(
                domain[self._draw(f"argument {attempt} {place}", len(domain))]
                for place, domain in enumerate(domains)
            )
            command = Command(action.name, args)
            if not self._session.why_not(command).allowed:
                break
        return command

    def _domains(self, params: tuple[Binder, ...]) -> list[Sequence[Raw]]:
        declared = parameter_domains(self._session.engine.instance, params)
        live = self._session.state.live
        return [
            live[binder.type.name] if isinstance(binder.type, ObjectType) else domain
            for binder, domain in zip(params, declared, strict=True)
        ]

    def _any_object(self, what: str) -> str:
        """The name of any object that ever was, the destroyed ones included."""
        names = self._session.state.names
        return names[self._draw(f"object {what}", len(names))] if names else ""

    def _call(self, argument: Callable[[str], str]) -> AnyIntent:
        """An action with names for arguments, whatever their types are."""
        action = self._action("call")
        if action is None:
            return PASS
        return CallIntent(action.name, {one.name: argument(one.name) for one in action.params})

    def _bad_arity(self) -> AnyIntent:
        action = self._action("arity")
        if action is None:
            return PASS
        name = self._any_object("arity")
        listed = ", ".join([name] * (len(action.params) + 1))
        return TypedIntent(f"{action.name}({listed})")
