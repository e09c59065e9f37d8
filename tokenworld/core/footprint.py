"""`Footprints`: what each rule reads, writes and draws, worked out once, derives included."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import assert_never

from tokenworld.core import nodes as core
from tokenworld.core.rules import Footprint
from tokenworld.core.walk import statements_in, subterms, terms_in
from tokenworld.diagnostics.frozen import frozen
from tokenworld.model import ObjectType, TypeRange

_ASKING = frozenset({"tick", "score", "busy", "did", "id"})


class _Touched:
    """Collects the parts of a `Footprint` while rules are walked."""

    def __init__(self) -> None:
        self.reads, self.was = set[str](), set[str]()
        self.writes, self.named = set[str](), set[str]()
        self.types, self.creates, self.asks = set[str](), set[str](), set[str]()
        self.destroys = self.draws = self.acts = False

    def footprint(self) -> Footprint:
        return Footprint(
            frozenset(self.reads), frozenset(self.was), frozenset(self.writes),
            frozenset(self.named), frozenset(self.types), frozenset(self.creates),
            frozenset(self.asks), self.destroys, self.draws, self.acts,
        )  # fmt: skip

    def read(self, part: core.Term, past: bool) -> None:
        """Add the reads of one term, those of its parts left out; ``past``: it is asked about the
        start of the tick."""
        if isinstance(part, (core.Read, core.Members)):
            if part.fluent:
                (self.was if past or part.was else self.reads).add(part.fluent)
        elif isinstance(part, core.Call):
            if part.op in _ASKING:
                self.asks.add(part.op)
        elif isinstance(part, core.Fold):
            self.range(part.binders)
        else:
            self.acts = self.acts or isinstance(part, core.Actor)

    def range(self, binders: tuple[core.Binder, ...]) -> None:
        """Add the object types whose members are enumerated."""
        for one in binders:
            if isinstance(one.domain, TypeRange) and isinstance(one.domain.of, ObjectType):
                self.types.add(one.domain.of.name)

    def change(self, one: core.Statement) -> None:
        """Add the changes of one statement; the reads of its terms are left out."""
        match one:
            case core.Write(target=target):
                self.writes.add(target.fluent)
                self.named.add(target.fluent)
            case core.Create(of=of, fields=fields):
                self.creates.add(of)
                self.writes.update(field.fluent for field in fields)
                self.named.update(field.fluent for field in fields if not field.default)
            case core.Destroy():
                self.destroys = True
            case core.For(binders=binders):
                self.range(binders)
            case core.Let(value=core.PickDraw(binders=binders)):
                self.draws = True
                self.range(binders)
            case core.Let(value=core.BranchDraw() | core.UniformDraw()):
                self.draws = True
            case (
                core.Let() | core.If() | core.Require() | core.Emit() | core.Say()
                | core.Describe() | core.Reward()
            ):  # fmt: skip
                pass
            case _:
                assert_never(one)


@frozen
class Footprints:
    """Works out footprints; ``derives`` are the values of derived facts by name."""

    derives: Mapping[str, core.Term]

    def of(self, terms: Iterable[core.Term] = (), bodies: Iterable[core.Body] = ()) -> Footprint:
        """The footprint of terms and bodies together."""
        every, found = tuple(bodies), _Touched()
        for body in every:
            for one in statements_in(body):
                found.change(one)
        self._read((*terms, *(term for body in every for term in terms_in(body))), found)
        return found.footprint()

    def _read(self, terms: Iterable[core.Term], found: _Touched) -> None:
        """Add the reads of terms; each derive they call is followed once for now and once for
        `was`."""
        todo = [(term, False) for term in terms]
        seen = set[tuple[str, bool]]()
        for term, past in todo:  # grows while it is walked
            for part in subterms(term):
                found.read(part, past)
                if isinstance(part, core.DeriveCall):
                    call = (part.derive, past or part.was)
                    if call not in seen:
                        seen.add(call)
                        todo.append((self.derives[part.derive], call[1]))


def changes(body: core.Body) -> Footprint:
    """The changes that the statements of a body make; the reads of their terms are left out."""
    found = _Touched()
    for one in statements_in(body):
        found.change(one)
    return found.footprint()
