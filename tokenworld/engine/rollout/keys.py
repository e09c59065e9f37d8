"""The words that keys of draws are made of: of titles of rules, names, members and numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tokenworld.engine.rollout.expressible import Inexpressible
from tokenworld.engine.rollout.folds import function, indented
from tokenworld.engine.rollout.ranges import Env
from tokenworld.engine.rollout.slots import Plan
from tokenworld.engine.rollout.terms import Writer
from tokenworld.ground import Json, show_value
from tokenworld.ground.draws import key, signed, word
from tokenworld.model import Binder, NumberType, ValueType

__all__ = ["Keys", "player_keys"]

MOST_WORDS = 10_000


def player_keys() -> tuple[int, int]:
    """The keys of the random player's draws, for an action and for its arguments."""
    action, arguments = (key("player random", (what,)) for what in ("action", "arguments"))
    return signed(action), signed(arguments)


@dataclass
class Keys:
    """A table of words, in two's complement; those of the values of one type stand in a row."""

    plan: Plan
    words: list[int] = field(default_factory=list)
    _known: dict[str, int] = field(default_factory=dict)
    _rows: dict[ValueType, tuple[int, int]] = field(default_factory=dict)

    def word(self, value: Json) -> int:
        """The place of a value's word."""
        text = repr(value)
        if text not in self._known:
            self._known[text] = self._new([value])
        return self._known[text]

    def opening(
        self, writer: Writer, title: str, actor: bool, params: Sequence[Binder], env: Env
    ) -> str:
        """The call that makes the key of a rule with its arguments, as its first draw needs it."""
        lines = [indented(1, f"key_open(X, {self.word(title)})")]
        if actor:
            nobody, somebody = self.word(None), self._row(None)
            lines += [
                indented(1, "if me >= 0:"),
                indented(2, f"key_word(X, {somebody} + me)"),
                indented(1, "else:"),
                indented(2, f"key_word(X, {nobody})"),
            ]
        for number, binder in enumerate(params):
            lines.append(indented(1, self._argument(binder, f"n{number}")))
        lines.append(indented(1, "key_done(S, X)"))
        name = writer.fresh("k")
        own = "".join(f", n{number}" for number in range(len(params)))
        function(writer, name, f"S, X, me{own}", lines)
        return f"{name}(S, X, me{''.join(f', {env[one.name].code}' for one in params)})"

    def _argument(self, binder: Binder, code: str) -> str:
        kind = binder.type
        if isinstance(kind, NumberType) and not kind.decimals:
            return f"key_number(X, {code})"
        if kind.kind == "object":
            return f"key_word(X, {self._row(None)} + {code})"
        low, size = self.plan.span(kind, binder.span)
        if size > MOST_WORDS:
            raise Inexpressible("a rule with so many decimal arguments draws", binder.span)
        if kind not in self._rows:
            program, names = self.plan.program, self.plan.start.names
            values = (bool(v) if kind.kind == "bool" else v for v in range(low, low + size))
            self._rows[kind] = (
                self._new([show_value(program, names, kind, v) for v in values]),
                low,
            )
        first, low = self._rows[kind]
        return f"key_word(X, {first - low} + {code})"

    def _row(self, kind: None) -> int:
        """The first of the names of all objects."""
        if "objects" not in self._known:
            self._known["objects"] = self._new(list(self.plan.start.names))
        return self._known["objects"]

    def _new(self, values: Sequence[Json]) -> int:
        """Words in a row: the place of the first."""
        first = len(self.words)
        self.words += (signed(word(value)) for value in values)
        return first
