"""The writes pass: the block rule (language.md §5).

A body reads the one state before it. To keep every accepted body meaning what a line-by-line
reader expects, reading a slot after changing it (TW0403), or what another round of a loop changes
(TW0404), is an error unless the slots are provably different; so are two values for one slot
(TW0405).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from tokenworld.check.aliasing import Knowledge, skeleton
from tokenworld.check.draft import Draft
from tokenworld.diagnostics import Related, Span
from tokenworld.model import (
    AddFact,
    Assign,
    Body,
    Chance,
    ClosureOf,
    DeriveCall,
    Destroy,
    Effect,
    For,
    Given,
    If,
    InverseOf,
    Local,
    NumberLiteral,
    ObjectType,
    Pick,
    Read,
    RemoveFact,
    Swap,
    Term,
    Transfer,
    bodies,
    effects_in,
    subterms,
    terms_of,
)

__all__ = ["check_writes", "written_slots"]


@dataclass(frozen=True, slots=True)
class _Write:
    """A change on the path so far; ``args`` is ``None`` where any slot may be meant.

    ``maybe``: it stands in a branch that the path may not have taken.
    """

    fluent: str
    args: tuple[Term, ...] | None
    op: str
    value: Term | None
    span: Span
    maybe: bool = False


@dataclass(slots=True)
class _Path:
    """What has been changed on the way to the present effect."""

    draft: Draft
    known: Knowledge
    writes: list[_Write] = field(default_factory=list)
    inside: bool = False


def check_writes(draft: Draft) -> None:
    """Check every body of the program."""
    base = Knowledge(draft.types)
    for action in draft.actions.values():
        known = base
        for require in action.requires:
            known = known.given(require.condition)
        _body(action.body, _Path(draft, known))
        _body(action.cancelled, _Path(draft, known))
    for law in draft.laws.values():
        _body(law.body, _Path(draft, base.given(law.when)))
    for world in draft.worlds.values():
        for setup in world.setups:
            _body(setup, _Path(draft, base))
    for scenario in draft.scenarios:
        for step in scenario.steps:
            if isinstance(step, Given):
                _body(step.body, _Path(draft, base))


def _body(body: Body, path: _Path) -> None:
    for effect in body:
        for term in terms_of(effect):
            _check_reads(term, path)
        _effect(effect, path)


def _effect(effect: Effect, path: _Path) -> None:
    match effect:
        case If(condition=condition, then=then, otherwise=otherwise):
            _branch(then, path, path.known.given(condition))
            _branch(otherwise, path, path.known)
        case For():
            _loop(effect, path)
        case Chance() | Pick():
            for inner in bodies(effect):
                _branch(inner, path, path.known)
        case _:
            for write in written_slots(effect, path.draft):
                _add(write, path)
    if isinstance(effect, (If, Chance, Pick)):
        maybe = [
            replace(write, maybe=True)
            for inner in effects_in(bodies_of(effect))
            for write in written_slots(inner, path.draft)
        ]
        path.writes += maybe


def bodies_of(effect: Effect) -> Body:
    """The effects of all nested bodies of a change, one after another."""
    return tuple(inner for body in bodies(effect) for inner in body)


def _branch(body: Body, path: _Path, known: Knowledge) -> None:
    _body(body, _Path(path.draft, known, list(path.writes), inside=True))


# ---- slots ------------------------------------------------------------------------------


def written_slots(effect: Effect, draft: Draft) -> Iterator[_Write]:
    """The slots that one change writes (not those of nested bodies)."""
    match effect:
        case Assign(target=target, op=op, value=value):
            yield _Write(target.fluent, target.args, op, value, effect.span)
        case AddFact(target=target):
            yield _Write(target.fluent, target.args, "add", None, effect.span)
        case RemoveFact(target=target):
            yield _Write(target.fluent, target.args, "remove", None, effect.span)
        case Transfer(source=source, target=target):
            yield _Write(source.fluent, source.args, "-=", None, effect.span)
            yield _Write(target.fluent, target.args, "+=", None, effect.span)
        case Swap(left=left, right=right):
            yield _Write(left.fluent, left.args, "=", right, effect.span)
            yield _Write(right.fluent, right.args, "=", left, effect.span)
        case Destroy(target=destroyed):
            yield from _destroyed(destroyed, effect.span, draft)
        case _:
            return


def _destroyed(target: Term, span: Span, draft: Draft) -> Iterator[_Write]:
    """Destroying leaves every slot that holds or belongs to the object."""
    for fluent in draft.fluents.values():
        own = len(fluent.params) == 1 and isinstance(fluent.params[0].type, ObjectType)
        if isinstance(fluent.type, ObjectType):
            yield _Write(fluent.id, None, "destroy", None, span)
        elif own:
            yield _Write(fluent.id, (target,), "destroy", None, span)


def _add(write: _Write, path: _Path) -> None:
    for earlier in path.writes:
        provable = not (earlier.maybe and path.inside)
        if provable and _clash(earlier, write):
            what = f"`{_name(write.fluent, path)}` gets two values in one body."
            related = (Related(earlier.span, "the first value"),)
            hint = "Keep one of the two, or put them in different branches."
            path.draft.tell("TW0405", what, write.span, "the second value", hint, related)
            break
    path.writes.append(write)


def _clash(earlier: _Write, later: _Write) -> bool:
    """Whether two changes of surely one slot surely disagree."""
    if earlier.fluent != later.fluent or skeleton(earlier.args) != skeleton(later.args):
        return False
    if earlier.args is None or "=" not in (earlier.op, later.op):
        return False
    if {earlier.op, later.op} & {"+=", "-="}:
        return True
    both = isinstance(earlier.value, NumberLiteral) and isinstance(later.value, NumberLiteral)
    constant = both or _constants(earlier.value, later.value)
    return constant and skeleton(earlier.value) != skeleton(later.value)


def _constants(*values: Term | None) -> bool:
    kinds = ("bool_literal", "enum_literal", "none_literal", "object_literal")
    return all(value is not None and value.kind in kinds for value in values)


def _name(fluent: str, path: _Path) -> str:
    return path.draft.fluents[fluent].name


# ---- reads ------------------------------------------------------------------------------


def _reads(term: Term, draft: Draft) -> Iterator[tuple[str, tuple[Term, ...] | None, Span]]:
    """The slots a term reads: fluent, arguments (``None``: any), where."""
    for part in subterms(term):
        match part:
            case Read(fluent=fluent, args=args, was=False):
                yield fluent, args, part.span
            case InverseOf(fluent=fluent, was=False) | ClosureOf(fluent=fluent, was=False):
                yield fluent, None, part.span
            case DeriveCall(was=False):
                yield from _derived(part, draft, frozenset())
            case _:
                pass


def _derived(
    call: DeriveCall, draft: Draft, seen: frozenset[str]
) -> Iterator[tuple[str, tuple[Term, ...] | None, Span]]:
    derive = draft.derives.get(call.derive)
    if derive is None or call.derive in seen:
        return
    given = {binder.name: arg for binder, arg in zip(derive.params, call.args, strict=True)}
    for part in subterms(derive.value):
        match part:
            case Read(fluent=fluent, args=args, was=False):
                yield fluent, _substituted(args, given), call.span
            case InverseOf(fluent=fluent) | ClosureOf(fluent=fluent):
                yield fluent, None, call.span
            case DeriveCall():
                inner = _derived(part, draft, seen | {call.derive})
                yield from ((fluent, None, call.span) for fluent, _, _ in inner)
            case _:
                pass


def _substituted(args: tuple[Term, ...], given: dict[str, Term]) -> tuple[Term, ...] | None:
    """The arguments in the caller's terms, ``None`` if one is not a parameter."""
    if not all(isinstance(arg, Local) and arg.name in given for arg in args):
        return None
    return tuple(given[arg.name] for arg in args if isinstance(arg, Local))


def _check_reads(term: Term, path: _Path) -> None:
    for fluent, args, span in _reads(term, path.draft):
        for write in path.writes:
            if write.fluent == fluent and _may_alias(write.args, args, path.known):
                what = f"`{path.draft.text(span)}` is read after a change to it in the same body."
                related = (Related(write.span, "changed here"),)
                hint = "A body reads the state before it: name the value with `let` first."
                path.draft.tell("TW0403", what, span, "still the old value", hint, related)
                return


def _may_alias(
    one: tuple[Term, ...] | None, other: tuple[Term, ...] | None, known: Knowledge
) -> bool:
    return one is None or other is None or not known.different(one, other)


# ---- loops ------------------------------------------------------------------------------


def _loop(loop: For, path: _Path) -> None:
    inside = path.known.bound(loop.binders).given(loop.where)
    _branch(loop.body, path, inside)
    writes = [w for e in effects_in(loop.body) for w in written_slots(e, path.draft)]
    path.writes += writes
    across = inside.between_rounds(loop.binders)
    for term in _loop_terms(loop):
        for fluent, args, span in _reads(term, path.draft):
            if _told(path.draft, span):
                return  # the same read is already reported: one error per root cause
            if any(w.fluent == fluent and _may_alias(w.args, args, across) for w in writes):
                what = f"`{path.draft.text(span)}` may be changed by another round of the loop."
                hint = "A body reads the state before it: collect first, or use a later phase."
                path.draft.tell("TW0404", what, span, "read in each round", hint)
                return


def _loop_terms(loop: For) -> Iterator[Term]:
    """What the rounds of a loop read; its own collection and condition are read once, before."""
    for effect in effects_in(loop.body):
        yield from terms_of(effect)


def _told(draft: Draft, span: Span) -> bool:
    return any(found.span == span for found in draft.report)
