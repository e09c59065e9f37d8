"""The texts that keys of draws are made of: titles of rules, names, members and numbers as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from tokenworld.engine.rollout.expressible import Inexpressible
from tokenworld.engine.rollout.folds import function, indented
from tokenworld.engine.rollout.ranges import Env
from tokenworld.engine.rollout.slots import Plan
from tokenworld.engine.rollout.terms import Writer
from tokenworld.ground import show_value
from tokenworld.model import Binder, NumberType, ValueType

__all__ = ["Keys"]

MOST_TEXTS = 10_000


@dataclass
class Keys:
    """A pool of texts by number; the values of one type have numbers in a row."""

    plan: Plan
    texts: list[str] = field(default_factory=list)
    _known: dict[str, int] = field(default_factory=dict)
    _rows: dict[ValueType, tuple[int, int]] = field(default_factory=dict)

    def text(self, value: object) -> int:
        """The number of a value's JSON."""
        text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
        if text not in self._known:
            self._known[text] = len(self.texts)
            self.texts.append(text)
        return self._known[text]

    @property
    def longest(self) -> int:
        return max((len(text.encode()) for text in self.texts), default=0)

    def opening(
        self, writer: Writer, title: str, actor: bool, params: Sequence[Binder], env: Env
    ) -> str:
        """The call that writes the key of a rule with its arguments, as its first draw needs it."""
        lines = [indented(1, f"key_open(S, X, {self.text(title)})")]
        if actor:
            nobody, somebody = self.text(None), self._row(None)
            lines += [
                indented(1, "if me >= 0:"),
                indented(2, f"key_text(X, {somebody} + me)"),
                indented(1, "else:"),
                indented(2, f"key_text(X, {nobody})"),
            ]
        for number, binder in enumerate(params):
            if actor or number > 0:
                lines.append(indented(1, "key_byte(X, 44)"))
            lines.append(indented(1, self._argument(binder, f"n{number}")))
        name = writer.fresh("k")
        own = "".join(f", n{number}" for number in range(len(params)))
        function(writer, name, f"S, X, me{own}", lines)
        return f"{name}(S, X, me{''.join(f', {env[one.name].code}' for one in params)})"

    def _argument(self, binder: Binder, code: str) -> str:
        kind = binder.type
        if isinstance(kind, NumberType) and not kind.decimals:
            return f"key_number(X, {code})"
        if kind.kind == "object":
            return f"key_text(X, {self._row(None)} + {code})"
        low, size = self.plan.span(kind, binder.span)
        if size > MOST_TEXTS:
            raise Inexpressible("a rule with so many decimal arguments draws", binder.span)
        if kind not in self._rows:
            program, names = self.plan.program, self.plan.start.names
            values = (bool(v) if kind.kind == "bool" else v for v in range(low, low + size))
            self._rows[kind] = (
                self._new([show_value(program, names, kind, v) for v in values]),
                low,
            )
        first, low = self._rows[kind]
        return f"key_text(X, {first - low} + {code})"

    def _row(self, kind: None) -> int:
        """The first of the names of all objects."""
        if "objects" not in self._known:
            self._known["objects"] = self._new(list(self.plan.start.names))
        return self._known["objects"]

    def _new(self, values: Sequence[object]) -> int:
        """New texts in a row: the first number."""
        first = len(self.texts)
        for value in values:
            self.texts.append(json.dumps(value, separators=(",", ":"), ensure_ascii=False))
        return first
