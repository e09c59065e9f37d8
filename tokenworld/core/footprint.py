"""`Footprints`: what each rule reads, writes and draws, worked out once, derives included."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import assert_never

from tokenworld.core import nodes as core
from tokenworld.core.rules import Footprint
from tokenworld.core.walk import statements_in, subterms, terms_in
from tokenworld.diagnostics.frozen import frozen
from tokenworld.model import ObjectType, TypeRange

_ASKING = frozenset({"tick", "score", "busy", "did", "id"})


def _joined(found: Iterable[Footprint]) -> Footprint:
    every = tuple(found)

    def union(name: str) -> frozenset[str]:
        return frozenset().union(*(getattr(one, name) for one in every))

    def some(name: str) -> bool:
        return any(getattr(one, name) for one in every)

    return Footprint(
        union("reads"), union("was"), union("writes"), union("named"), union("types"),
        union("creates"), union("asks"), some("destroys"), some("draws"), some("acts"),
    )  # fmt: skip


def _past(found: Footprint) -> Footprint:
    """The footprint of a derive that is asked about the start of the tick."""
    return Footprint(
        was=found.reads | found.was, types=found.types, asks=found.asks, acts=found.acts
    )


def _ranged(binders: tuple[core.Binder, ...]) -> frozenset[str]:
    """The object types whose members are enumerated."""
    found = (one.domain.of for one in binders if isinstance(one.domain, TypeRange))
    return frozenset(one.name for one in found if isinstance(one, ObjectType))


@frozen
class Footprints:
    """Works out footprints; ``derives`` are the values of derived facts by name."""

    derives: Mapping[str, core.Term]

    def of(self, terms: Iterable[core.Term] = (), bodies: Iterable[core.Body] = ()) -> Footprint:
        """The footprint of terms and bodies together."""
        every = tuple(bodies)
        read = self._read((*terms, *(term for body in every for term in terms_in(body))))
        return _joined((*read, *(one for body in every for one in _changes(body))))

    def _read(self, terms: Iterable[core.Term]) -> Iterator[Footprint]:
        """The reads of terms; each derive they call is followed once for now and once for `was`."""
        todo = [(term, False) for term in terms]
        seen = set[tuple[str, bool]]()
        for term, past in todo:  # grows while it is walked
            for part in subterms(term):
                yield _past(_own(part)) if past else _own(part)
                if isinstance(part, core.DeriveCall):
                    call = (part.derive, past or part.was)
                    if call not in seen:
                        seen.add(call)
                        todo.append((self.derives[part.derive], call[1]))


def _own(part: core.Term) -> Footprint:
    """The reads of one term, those of its parts left out."""
    if isinstance(part, (core.Read, core.Members)):
        fluent = frozenset({part.fluent} if part.fluent else ())
        return Footprint(was=fluent) if part.was else Footprint(reads=fluent)
    if isinstance(part, core.Call):
        return Footprint(asks=_ASKING & {part.op})
    if isinstance(part, core.Fold):
        return Footprint(types=_ranged(part.binders))
    return Footprint(acts=isinstance(part, core.Actor))


def changes(body: core.Body) -> Footprint:
    """The changes that the statements of a body make; the reads of their terms are left out."""
    return _joined(_changes(body))


def _changes(body: core.Body) -> Iterator[Footprint]:
    for one in statements_in(body):
        match one:
            case core.Write(target=target):
                written = frozenset({target.fluent})
                yield Footprint(writes=written, named=written)
            case core.Create(of=of, fields=fields):
                written = frozenset(field.fluent for field in fields)
                named = frozenset(field.fluent for field in fields if not field.default)
                yield Footprint(writes=written, named=named, creates=frozenset({of}))
            case core.Destroy():
                yield Footprint(destroys=True)
            case core.For(binders=binders):
                yield Footprint(types=_ranged(binders))
            case core.Let(value=core.PickDraw(binders=binders)):
                yield Footprint(types=_ranged(binders), draws=True)
            case core.Let(value=core.BranchDraw() | core.UniformDraw()):
                yield Footprint(draws=True)
            case (
                core.Let() | core.If() | core.Require() | core.Emit() | core.Say()
                | core.Describe() | core.Reward()
            ):  # fmt: skip
                pass
            case _:
                assert_never(one)
