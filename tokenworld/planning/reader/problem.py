"""A problem from its file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, cast

from tokenworld.diagnostics import Source
from tokenworld.planning.reader.faults import Faults, Skip
from tokenworld.planning.reader.frame import FileReader, framed, second
from tokenworld.planning.reader.parts import show
from tokenworld.planning.reader.sexpr import Group, Item, Word
from tokenworld.planning.reader.tree import Condition, Metric, Name, Problem, Start, Typed

__all__ = ["read_problem"]


class _Reader(FileReader):
    def __init__(self, faults: Faults) -> None:
        super().__init__(faults)
        self.domain: Name | None = None
        self.objects: list[Typed] = []
        self.init: list[Start] = []
        self.goals: list[Condition] = []
        self.metric: Metric | None = None
        self.goal_seen = False

    def _domain(self, item: Group) -> None:
        self.domain = self.name(second(item), "domain's name", item.span)

    def _objects(self, item: Group) -> None:
        self.objects += self.typed(item.items[1:], variables=False)

    def _init(self, item: Group) -> None:
        parts = item.items[1:]
        if len(parts) == 1 and isinstance(parts[0], Group) and parts[0].head == "and":
            parts = parts[0].items[1:]
        for part in parts:
            try:
                self.init.append(self.start(part))
            except Skip:
                continue

    def _goal(self, item: Group) -> None:
        self.goal_seen = True
        (condition,) = self.exactly(item, 1, "a condition")
        self.goals.append(self.condition(condition))

    def _metric(self, item: Group) -> None:
        sense, value = self.exactly(item, 2, "`minimize` or `maximize` and an expression")
        word = sense.key if isinstance(sense, Word) else ""
        if word not in ("minimize", "maximize"):
            message = f"`{show(sense)[:40]}` is no way to measure a plan."
            raise self.faults.unexpected(message, sense.span, "Write `minimize` or `maximize`.")
        way = cast(Literal["minimize", "maximize"], word)
        self.metric = Metric(way, show(value), item.span)

    def _skipped(self, item: Group) -> None:
        """The requirements of a problem are those of its domain."""

    def read(self, source: Source, name: Name, items: tuple[Item, ...]) -> Problem | None:
        known: dict[str, Callable[[Group], None]] = {
            ":domain": self._domain,
            ":requirements": self._skipped,
            ":objects": self._objects,
            ":init": self._init,
            ":goal": self._goal,
            ":metric": self._metric,
        }
        self.sections(items, known)
        if not self.goal_seen:
            what = f"Problem `{name.text}` has no goal."
            self.faults.tell("TW0101", what, name.span, hint="Write `(:goal condition)`.")
        if not self.goals:
            return None
        objects, init = tuple(self.objects), tuple(self.init)
        return Problem(source, name, self.domain, objects, init, self.goals[0], self.metric)


def read_problem(source: Source, faults: Faults) -> Problem | None:
    """The problem of a text as written; ``None`` where it cannot be used at all.

    Everything wrong has been told to ``faults``.
    """
    reader = _Reader(faults)
    hint = "Name the problem file behind the domain."
    frame = framed(source, faults, reader, "problem", hint)
    return None if frame is None else reader.read(source, *frame)
