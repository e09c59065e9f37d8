"""The tables of the checker, which the passes fill one after another.

A pass reads the tables of earlier passes and adds its own tables or diagnostics. Nothing else in
the system sees a `Draft`: the result is a frozen `Program`.

A `Memo` caches what an analysis found out of parts of a program. Parts are told apart by identity:
a checked declaration is one object as long as it is not checked again. A `Workspace` hands the
cache from one check to the next one, so a result may depend on nothing but its parts and on
declarations whose change makes the workspace clear the cache.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from operator import is_
from typing import Any, Final, NoReturn, TypeVar, cast

from tokenworld import model as m
from tokenworld.diagnostics import Diagnostic, Failure, Fix, Related, Source, Span, did_you_mean
from tokenworld.diagnostics.frozen import frozen
from tokenworld.syntax import nodes as syn

ValueT = TypeVar("ValueT")
_ROOM: Final = 50_000
"""More results than this are forgotten: a long session of edits stays small."""


class Memo:
    """Results by the name of a question and the identity of the parts it was asked of."""

    __slots__ = ("_kept", "_rows")

    def __init__(self) -> None:
        self._kept: dict[tuple[object, ...], tuple[tuple[object, ...], object]] = {}
        self._rows: dict[str, tuple[list[Any], list[Any], object]] = {}

    def of(self, what: str, parts: tuple[object, ...], make: Callable[[], ValueT]) -> ValueT:
        """The cached answer, or the result of ``make``. The parts stay alive with their answer."""
        key = (what, *map(id, parts))
        found = self._kept.get(key)
        if found is None:
            found = self._kept[key] = (parts, make())
        return cast(ValueT, found[1])

    def each(
        self,
        what: str,
        parts: Sequence[PartT],
        make: Callable[[PartT], ValueT],
        given: object = None,
    ) -> list[ValueT]:
        """Return one answer for each part, in order; only parts that changed are computed again.

        If an answer equals the former one, the former object is returned, so that `whole` need not
        compute its result again. If ``given`` changes, all parts are computed again.
        """
        before = self._rows.get(what)
        if before is None or len(before[0]) != len(parts) or before[2] != given:
            found = [make(part) for part in parts]
        else:
            found = before[1]
            same = list(map(is_, before[0], parts))
            if not all(same):
                found = found.copy()
                for place, alike in enumerate(same):
                    if not alike:
                        made = make(parts[place])
                        found[place] = found[place] if made == found[place] else made
        self._rows[what] = (list(parts), found, given)
        return found

    def whole(self, what: str, parts: Sequence[object], make: Callable[[], ValueT]) -> ValueT:
        """A result of all parts together; computed again if any of them is another object."""
        before = self._rows.get(what)
        alike = before is not None and len(before[0]) == len(parts)
        if before is not None and alike and all(map(is_, before[0], parts)):
            return cast(ValueT, before[2])
        made = make()
        self._rows[what] = (list(parts), [], made)
        return made

    def clear(self) -> None:
        """Forget everything."""
        self._kept.clear()
        self._rows.clear()

    def trim(self) -> None:
        """Forget single answers if there are too many of them."""
        if len(self._kept) > _ROOM:
            self._kept.clear()


ItemT = TypeVar("ItemT")
PartT = TypeVar("PartT")


_LONG = re.compile(r"`([^`]{60})[^`]{40,}`")
"""A text between backquotes that is too long to quote in full."""


def _cut(text: str) -> str:
    return _LONG.sub(r"`\1…`", text) if len(text) > 100 else text


class Abandon(Exception):
    """A construct cannot be checked further: its one diagnostic is already reported."""


@frozen
class Entry:
    """An item with the remarks around it."""

    item: syn.Item
    quirk: str | None = None
    doc: str | None = None


@frozen
class NamedEffect:
    """A checked `effect`. Programs have none: the checker replaces each call by its changes."""

    name: str
    params: tuple[m.Binder, ...]
    body: m.Body
    span: Span


@frozen
class Namespace:
    """The name lookup of a file that uses modules behind short names (`use a.b as c`).

    ``prefix`` is put before the names that the file declares. ``seen`` pairs the written prefix of
    a name with the prefix of the file that declares it, nearest first: ``("c.", "c.")``.
    """

    prefix: str
    seen: tuple[tuple[str, str], ...]


_PLAIN = Namespace("", (("", ""),))


def _no_data(name: str, user: Source) -> Source:
    """The loader of data files that finds none."""
    raise Failure(Diagnostic("TW0001", f"There is no file `{name}`."))


@dataclass(slots=True)
class Draft:
    """Tables by namespace (language.md §1), each filled by the pass named beside it."""

    sources: dict[str, Source] = field(default_factory=dict)  # modules
    entries: list[Entry] = field(default_factory=list)  # modules
    report: list[Diagnostic] = field(default_factory=list)
    pedantic: bool = False  # lints that only a second look wants
    namespaces: dict[str, Namespace] = field(default_factory=dict)  # modules
    root: Source | None = None
    read: Callable[[str, Source], Source] = field(default=_no_data)
    data: dict[str, Source] = field(default_factory=dict)  # worlds: recorded states
    units: dict[str, m.Unit] = field(default_factory=dict)  # vocabulary
    enums: dict[str, m.Enum] = field(default_factory=dict)
    types: dict[str, m.ObjectKind] = field(default_factory=dict)
    fluents: dict[str, m.Fluent] = field(default_factory=dict)
    events: dict[str, m.Event] = field(default_factory=dict)
    params: dict[str, m.Param] = field(default_factory=dict)
    phases: dict[str, m.Phase] = field(default_factory=dict)
    objects: dict[str, m.ObjectDecl] = field(default_factory=dict)  # objects
    derives: dict[str, m.Derive] = field(default_factory=dict)  # derives
    actions: dict[str, m.Action] = field(default_factory=dict)  # rules
    laws: dict[str, m.Law] = field(default_factory=dict)
    births: list[m.Birth] = field(default_factory=list)
    watches: dict[str, m.Watch] = field(default_factory=dict)
    invariants: dict[str, m.Invariant] = field(default_factory=dict)
    conserves: dict[str, m.Conserve] = field(default_factory=dict)
    called: list[m.Called] = field(default_factory=list)
    scopes: list[m.Scope] = field(default_factory=list)
    describes: list[m.Describe] = field(default_factory=list)
    worlds: dict[str, m.World] = field(default_factory=dict)  # worlds
    scenarios: list[m.Scenario] = field(default_factory=list)  # scenarios
    actor: str | None = None
    actor_name: str = "me"
    pddl: list[m.PddlEntry] = field(default_factory=list)
    # what later passes need to know of declarations before these are checked
    param_types: dict[str, m.ValueType] = field(default_factory=dict)
    object_types: dict[tuple[str | None, str], str] = field(default_factory=dict)
    derive_items: dict[str, syn.DeriveDecl] = field(default_factory=dict)
    derives_open: list[str] = field(default_factory=list)
    effect_items: dict[str, syn.EffectDecl] = field(default_factory=dict)
    effects: dict[str, NamedEffect | None] = field(default_factory=dict)  # `None`: has a mistake
    effects_open: list[str] = field(default_factory=list)
    memo: Memo = field(default_factory=Memo)  # what analyses found, by the identity of parts
    pieces: Mapping[str, Source] = field(default_factory=dict)  # items of the root as own texts
    watched: frozenset[str] | None = None  # lints: asked for with `did` or `busy`
    _by_kind: dict[type, list[tuple[object, Entry]]] = field(default_factory=dict)

    def namespace(self, span: Span) -> Namespace:
        """The name lookup of the file of a span."""
        return self.namespaces.get(self.file_of(span), _PLAIN)

    @property
    def rules(self) -> tuple[m.Action | m.Law, ...]:
        """All actions, then all laws, in the order of the text."""
        return (*self.actions.values(), *self.laws.values())

    @property
    def root_name(self) -> str | None:
        """The name of the root file."""
        return next(iter(self.sources), None)

    def file_of(self, span: Span) -> str:
        """The file that a span lies in, also where its item is a text of its own."""
        inside = span.file in self.pieces and self.root is not None
        return self.root.name if inside and self.root is not None else span.file

    def source_of(self, span: Span) -> Source | None:
        """The text that the offsets of a span count in."""
        return self.sources.get(span.file) or self.pieces.get(span.file)

    def candidates(self, name: syn.Name) -> tuple[str, ...]:
        """The full names that a name may mean where it is written, nearest first."""
        if not self.namespaces:
            return (name.value,)
        file = self.file_of(name.span)
        if file not in self.namespaces:
            return (name.value,)
        seen = self.namespaces[file].seen
        return tuple(
            dict.fromkeys(
                prefix + name.value.removeprefix(before)
                for before, prefix in seen
                if name.value.startswith(before)
            )
        )

    def tell(
        self,
        code: str,
        message: str,
        span: Span,
        label: str | None = None,
        hint: str | None = None,
        related: tuple[Related, ...] = (),
        notes: tuple[str, ...] = (),
        fix: Fix | None = None,
    ) -> None:
        """Report one finding; a name of hundreds of characters is cut where it is quoted."""
        said, advice = _cut(message), None if hint is None else _cut(hint)
        self.report.append(
            Diagnostic(code, said, span, label, notes, advice, related=related, fix=fix)
        )

    def stop(
        self,
        code: str,
        message: str,
        span: Span,
        label: str | None = None,
        hint: str | None = None,
        related: tuple[Related, ...] = (),
    ) -> NoReturn:
        """Report one finding and give up on the construct around it."""
        self.tell(code, message, span, label, hint, related)
        raise Abandon

    def unknown(self, what: str, name: syn.Name, known: Mapping[str, object]) -> NoReturn:
        """Report an unknown name of a kind, with suggestions."""
        told = f"Declare the {what}, or correct its name."
        if 0 < len(known) <= 8:
            told = f"Write one of {', '.join(f'`{one}`' for one in known)}, or declare the {what}."
        hint = did_you_mean(name.value, known) or told
        self.stop("TW0201", f"There is no {what} `{name.value}`.", name.span, "unknown", hint)

    def twice(self, what: str, name: syn.Name, first: Span) -> None:
        """Report a second declaration in one namespace."""
        self.tell(
            "TW0203",
            f"The {what} `{name.value}` is declared twice.",
            name.span,
            "declared again",
            "Rename one of the two.",
            (Related(first, "first declared here"),),
        )

    def items(self, kind: type[ItemT]) -> Sequence[tuple[ItemT, Entry]]:
        """All items of one kind with their entries, in order."""
        if not self._by_kind and self.entries:
            kinds = defaultdict[type, list[tuple[object, Entry]]](list)
            for entry in self.entries:
                item = entry.item
                kinds[type(item)].append((item, entry))
            self._by_kind = kinds
        return self._by_kind.get(kind, ())  # type: ignore[return-value]  # grouped by their class

    def sort_like(self, other: Draft, changed: Sequence[tuple[Entry, Entry]]) -> None:
        """Take over how another draft has sorted its items; these entries replace some of it."""
        self._by_kind = other._by_kind.copy()
        for before, after in changed:
            kind = type(after.item)
            self._by_kind[kind] = [
                (after.item, after) if one is before else (item, one)
                for item, one in self._by_kind[kind]
            ]

    def text(self, span: Span) -> str:
        """The source text of a span, white space folded: how a condition is quoted."""
        source = self.source_of(span)
        return " ".join(source.text[span.start : span.end].split()) if source else ""

    def once(self, what: str, parts: tuple[object, ...], work: Callable[[], object]) -> None:
        """Check these parts; if they were checked before, report the same findings again.

        ``work`` depends on the parts and on declarations only (see `Memo`).
        """
        self.report.extend(self.memo.of(what, parts, lambda: self._told_by(work))[1])

    def each(
        self,
        what: str,
        parts: Sequence[PartT],
        work: Callable[[PartT], object],
        given: object = None,
    ) -> None:
        """The same for every one of these parts, in order; see `Memo.each` for ``given``."""
        told = self.memo.each(what, parts, lambda part: self._told_by(lambda: work(part))[1], given)
        self.report.extend(chain.from_iterable(told))

    def whole(self, what: str, parts: Sequence[object], work: Callable[[], object]) -> None:
        """The same for all of these parts together."""
        self.report.extend(self.memo.whole(what, parts, lambda: self._told_by(work)[1]))

    def made(self, what: str, parts: tuple[object, ...], work: Callable[[], ItemT]) -> ItemT | None:
        """The same for work with a result; ``None`` where it was given up."""
        made, told = self.memo.of(what, parts, lambda: self._told_by(lambda: self.attempt(work)))
        self.report.extend(told)
        return made

    def made_of_each(
        self, what: str, parts: Sequence[PartT], work: Callable[[PartT], ItemT]
    ) -> list[ItemT | None]:
        """The same for every one of these parts, in order."""
        found = self.memo.each(
            what, parts, lambda part: self._told_by(lambda: self.attempt(lambda: work(part)))
        )
        self.report.extend(chain.from_iterable([told for _, told in found if told]))
        return [made for made, _ in found]

    def _told_by(self, work: Callable[[], ItemT]) -> tuple[ItemT, tuple[Diagnostic, ...]]:
        before = len(self.report)
        made = work()
        told = tuple(self.report[before:])
        del self.report[before:]
        return made, told

    def attempt(self, work: Callable[[], ItemT]) -> ItemT | None:
        """Run ``work``; ``None`` if it gave up (its diagnostic is reported)."""
        try:
            return work()
        except Abandon:
            return None
