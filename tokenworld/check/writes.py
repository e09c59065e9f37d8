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
from tokenworld.check.intervals import Facts, entry
from tokenworld.check.reading import slots_read
from tokenworld.check.slots import Write, written_slots
from tokenworld.check.substitution import renamed
from tokenworld.check.terms import Translator
from tokenworld.diagnostics import Related, Span
from tokenworld.model import (
    Action,
    Body,
    BoolType,
    Chance,
    Create,
    Effect,
    EnumType,
    For,
    Given,
    If,
    Law,
    Let,
    Local,
    NoneType,
    NumberType,
    ObjectType,
    Pick,
    Term,
    ValueType,
    bodies,
    effects_in,
    is_drawn,
    terms_of,
)

__all__ = ["check_writes", "written_slots"]


@dataclass(slots=True)
class _Path:
    """What has been changed on the way to the present effect."""

    draft: Draft
    known: Knowledge
    facts: Facts
    writes: list[Write] = field(default_factory=list)
    inside: bool = False

    def into(self, known: Knowledge, facts: Facts) -> _Path:
        """The same way, into a branch."""
        return _Path(self.draft, known, facts, list(self.writes), inside=True)


def check_writes(draft: Draft) -> None:
    """Check every body of the program."""
    rules: tuple[Action | Law, ...] = (*draft.actions.values(), *draft.laws.values())
    draft.each("writes", rules, lambda rule: _rule(rule, draft))
    draft.each("writes in settings", tuple(_settings(draft)), lambda body: _setting(body, draft))


def _setting(body: Body, draft: Draft) -> None:
    base = Knowledge(draft.types, draft.fluents)
    _body(body, _Path(draft, base, Facts(Translator(draft))))


def _rule(rule: Action | Law, draft: Draft) -> None:
    known, words = Knowledge(draft.types, draft.fluents), Translator(draft)
    if isinstance(rule, Law):
        _body(rule.body, _Path(draft, known.given(rule.when), entry(rule, words)))
        return
    inner = known
    for guard in rule.guards:
        inner = inner.let(guard) if isinstance(guard, Let) else inner.given(guard.condition)
    _body(rule.body, _Path(draft, inner, entry(rule, words)))
    _body(rule.cancelled, _Path(draft, known, Facts(words)))


def _settings(draft: Draft) -> Iterator[Body]:
    """The bodies that nothing guards: births, setups, legends, what scenarios give."""
    yield from (birth.body for birth in draft.births)
    for world in draft.worlds.values():
        yield from world.setups
        for layout in world.layouts:
            yield from (legend.body for legend in layout.legends)
    for scenario in draft.scenarios:
        yield from (step.body for step in scenario.steps if isinstance(step, Given))


def _body(body: Body, path: _Path) -> None:
    for effect in body:
        for term in terms_of(effect):
            _check_reads(term, path)
        _effect(effect, path)


def _effect(effect: Effect, path: _Path) -> None:
    known, facts = path.known, path.facts
    match effect:
        case If(condition=condition, then=then, otherwise=otherwise):
            first = path.into(known.given(condition), facts.given(condition))
            other = path.into(known.given(condition, False), facts.given(condition, False))
            path.writes += [*_branch(then, first), *_branch(otherwise, other)]
        case For():
            _loop(effect, path)
        case Pick(binders=binders, where=where, body=body, otherwise=otherwise):
            picked = path.into(known.bound(binders).given(where), facts.given(where))
            made = [*_branch(body, picked), *_branch(otherwise, path.into(known, facts))]
            path.writes += [replace(write, facts=None, drawn=True) for write in made]
        case Chance():
            made = [
                write
                for inner in bodies(effect)
                for write in _branch(inner, path.into(known, facts))
            ]
            path.writes += [replace(write, drawn=True) for write in made]
        case _:
            _simple(effect, path)


def _simple(effect: Effect, path: _Path) -> None:
    """A change without nested bodies; names that it adds are known from here on."""
    for write in (*written_slots(effect, path.draft), *_given(effect)):
        _add(_with(write, path.facts), path)
    if isinstance(effect, Let):
        path.known, path.facts = path.known.let(effect), path.facts.let(effect)
    elif isinstance(effect, Create):
        path.known = path.known.created(effect.name)


def _with(write: Write, facts: Facts) -> Write:
    """A change with what is known where it stands."""
    return Write(
        write.fluent, write.args, write.op, write.value, write.span, write.maybe, facts, write.drawn
    )


def _given(effect: Effect) -> Iterator[Write]:
    """The fields of a new object: collections over them change, the object itself is as given."""
    if isinstance(effect, Create):
        own = Local(effect.name, ObjectType(effect.of), effect.span)
        for given in effect.fields:
            yield Write(given.fluent, (own,), "create", given.value, given.span)


def _branch(body: Body, inner: _Path) -> list[Write]:
    """The changes that may have been made behind a branch."""
    before = len(inner.writes)
    _body(body, inner)
    draws = any(map(is_drawn, effects_in(body)))
    made = [replace(write, maybe=True) for write in inner.writes[before:]]
    return [replace(write, facts=None) for write in made] if draws else made


# ---- slots ------------------------------------------------------------------------------


def _add(write: Write, path: _Path) -> None:
    fluent = write.fluent
    for earlier in path.writes:
        if earlier.fluent != fluent:
            continue
        if _clash(earlier, write) and _certain(earlier, write, path):
            what = f"`{_name(write.fluent, path)}` gets two values in one body."
            related = (Related(earlier.span, "the first value"),)
            hint = "Keep one of the two, or put them in different branches."
            path.draft.tell("TW0405", what, write.span, "the second value", hint, related)
            break
    path.writes.append(write)


def _certain(earlier: Write, later: Write, path: _Path) -> bool:
    """Whether both changes are made whenever the later one is, or the earlier one."""
    branches = earlier.maybe and path.inside
    if earlier.facts is None or later.facts is None:
        return not branches
    if earlier.facts.excludes(later.facts):
        return False
    return not branches or (not earlier.drawn and later.facts.implies(earlier.facts))


def _clash(earlier: Write, later: Write) -> bool:
    """Whether two changes of surely one slot surely disagree."""
    if earlier.fluent != later.fluent or "=" not in (earlier.op, later.op):
        return False
    if earlier.args is None or skeleton(earlier.args) != skeleton(later.args):
        return False
    if earlier.op == "create":
        return False  # a field is what the new object has before this body changes it
    if {earlier.op, later.op} & {"+=", "-="}:
        return True
    return _unlike(earlier, later)


def _unlike(earlier: Write, later: Write) -> bool:
    """Whether the two values are provably different."""
    one, two = earlier.value, later.value
    if one is None or two is None or earlier.facts is None or later.facts is None:
        return False
    if not _countable(one.type) or not _countable(two.type):
        return False
    known = earlier.facts.also(later.facts)
    gap = known.interval(earlier.facts.form(one).minus(later.facts.form(two)))
    return gap is not None and gap.without_zero


def _countable(kind: ValueType) -> bool:
    """Whether values are compared as numbers: `none` has a place of its own among them."""
    if isinstance(kind, NumberType):
        return not kind.optional
    return isinstance(kind, (BoolType, EnumType, ObjectType, NoneType))


def _name(fluent: str, path: _Path) -> str:
    return path.draft.fluents[fluent].name


# ---- reads ------------------------------------------------------------------------------


def _check_reads(term: Term, path: _Path) -> None:
    for fluent, args, span, known in slots_read(term, path.draft, path.known):
        for write in path.writes:
            if write.fluent == fluent and _hits(write, args, known) and not _apart(write, path):
                what = f"`{path.draft.text(span)}` is read after a change to it in the same body."
                related = (Related(write.span, "changed here"),)
                hint = "A body reads the state before it: name the value with `let` first."
                path.draft.tell("TW0403", what, span, "still the old value", hint, related)
                return


def _apart(write: Write, path: _Path) -> bool:
    """Whether a change and this place are on different paths."""
    return write.maybe and write.facts is not None and write.facts.excludes(path.facts)


def _hits(write: Write, args: tuple[Term, ...] | None, known: Knowledge) -> bool:
    """Whether a change may be to a slot that is read; fields of a new object read as given."""
    if write.args is None or args is None:
        return True
    if write.op == "create" and skeleton(write.args) == skeleton(args):
        return False
    return not known.different(write.args, args)


# ---- loops ------------------------------------------------------------------------------


def _loop(loop: For, path: _Path) -> None:
    known = path.known.bound(loop.binders).given(loop.where)
    inner = path.into(known, path.facts.given(loop.where))
    before = len(inner.writes)
    _body(loop.body, inner)
    writes = inner.writes[before:]
    across = inner.known.between_rounds(loop.binders, loop.body, path.known)
    _across(loop, writes, across, path)
    _leave(loop, writes, path)


def _across(loop: For, writes: list[Write], across: Knowledge, path: _Path) -> None:
    """What one round reads must not be what another one writes (TW0404)."""
    for term in _loop_terms(loop):
        for fluent, args, span, there in slots_read(term, path.draft, across):
            if _told(path.draft, span):
                return  # the same read is already reported: one error per root cause
            if any(write.fluent == fluent and _hits(write, args, there) for write in writes):
                what = f"`{path.draft.text(span)}` may be changed by another round of the loop."
                hint = "A body reads the state before it: collect first, or use a later phase."
                path.draft.tell("TW0404", what, span, "read in each round", hint)
                return


def _leave(loop: For, writes: list[Write], path: _Path) -> None:
    """Behind a loop its variables have names of their own: the next loop may use them again."""
    names = {binder.name: f"{binder.name} of {loop.span.start}" for binder in loop.binders}
    path.known = path.known.closed(loop, names)
    for write in writes:
        args = None
        if write.args is not None:
            args = tuple(renamed(arg, names) for arg in write.args)
        maybe = write.maybe or loop.where is not None
        path.writes.append(replace(write, args=args, facts=None, maybe=maybe))


def _loop_terms(loop: For) -> Iterator[Term]:
    """What the rounds of a loop read; its own collection and condition are read once, before."""
    for effect in effects_in(loop.body):
        yield from terms_of(effect)


def _told(draft: Draft, span: Span) -> bool:
    return any(found.span == span for found in draft.report)
