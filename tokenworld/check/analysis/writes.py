"""The writes pass and the creations pass: the block rule for bodies (language.md §5, §12).

A body reads the one state before it. To keep every accepted body meaning what a line-by-line
reader expects, reading a slot after changing it (TW0403), or what another round of a loop changes
(TW0404), is an error unless the slots are provably different; so are two values for one slot
(TW0405). Objects that a body creates must be complete, and what it says of them must agree.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import assert_never

from tokenworld import model as m
from tokenworld.check.analysis.aliasing import (
    Knowledge,
    own_bodies,
    skeleton,
    slots_read,
    world_bodies,
)
from tokenworld.check.analysis.intervals import Facts, Translator, entry, unlike
from tokenworld.check.analysis.substitution import renamed
from tokenworld.check.analysis.uses import Write, written_slots
from tokenworld.check.draft import Draft
from tokenworld.check.typing.types import is_subtype
from tokenworld.diagnostics import Related, Span
from tokenworld.diagnostics.frozen import frozen
from tokenworld.model import binders_of, bodies, effects_in, is_drawn, subterms, terms_of


@dataclass(slots=True)
class _Path:
    """The writes made on the way to the present effect, and the facts known there."""

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
    draft.each("writes", draft.rules, lambda rule: _rule(rule, draft))
    draft.each("writes in settings", tuple(_settings(draft)), lambda body: _setting(body, draft))


def _setting(body: m.Body, draft: Draft) -> None:
    base = Knowledge(draft.types, draft.fluents)
    _body(body, _Path(draft, base, Facts(Translator(draft))))


def _rule(rule: m.Action | m.Law, draft: Draft) -> None:
    facts = entry(rule, Translator(draft))
    known = replace(facts.knowledge(draft), names=facts.names)
    _body(rule.body, _Path(draft, known, facts))
    if isinstance(rule, m.Action):
        _setting(rule.cancelled, draft)


def _settings(draft: Draft) -> Iterator[m.Body]:
    """The bodies that nothing guards: births, setups, legends, and `given` steps of scenarios."""
    yield from world_bodies(draft)
    for scenario in draft.scenarios:
        yield from (step.body for step in scenario.steps if isinstance(step, m.Given))


def _body(body: m.Body, path: _Path) -> None:
    for effect in body:
        for term in terms_of(effect):
            _check_reads(term, path)
        _effect(effect, path)


def _effect(effect: m.Effect, path: _Path) -> None:
    known, facts = path.known, path.facts
    match effect:
        case m.If(condition=condition, then=then, otherwise=otherwise):
            first = path.into(known.given(condition), facts.given(condition))
            other = path.into(known.given(condition, False), facts.given(condition, False))
            path.writes += [*_branch(then, first), *_branch(otherwise, other)]
        case m.For():
            _loop(effect, path)
        case m.Pick(binders=binders, where=where, body=body, otherwise=otherwise):
            picked = path.into(known.bound(binders).given(where), facts.given(where))
            made = [*_branch(body, picked), *_branch(otherwise, path.into(known, facts))]
            path.writes += [replace(write, facts=None, drawn=True) for write in made]
        case m.Chance():
            made = [
                write
                for inner in bodies(effect)
                for write in _branch(inner, path.into(known, facts))
            ]
            path.writes += [replace(write, drawn=True) for write in made]
        case m.Let() | m.WriteEffect() | m.LifeEffect() | m.OutputEffect():
            _simple(effect, path)
        case _:
            assert_never(effect)


def _simple(effect: m.Effect, path: _Path) -> None:
    """A change without nested bodies; names that it adds are known from here on."""
    for write in (*written_slots(effect, path.draft), *_given(effect)):
        _add(_with(write, path.facts), path)
    if isinstance(effect, m.Let):
        path.known, path.facts = path.known.let(effect), path.facts.let(effect)
    elif isinstance(effect, m.Create):
        path.known = path.known.created(effect.name)


def _with(write: Write, facts: Facts) -> Write:
    """A write with the facts known there."""
    return Write(
        write.fluent, write.args, write.op, write.value, write.span, write.maybe, facts, write.drawn
    )


def _given(effect: m.Effect) -> Iterator[Write]:
    """The fields of a new object: collections over them change, the object itself is as given."""
    if isinstance(effect, m.Create):
        own = m.Local(effect.name, m.ObjectType(effect.of), effect.span)
        for given in effect.fields:
            yield Write(given.fluent, (own,), "create", given.value, given.span)


def _branch(body: m.Body, inner: _Path) -> list[Write]:
    """The changes that may have been made after a branch."""
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
    """Return whether both changes are made whenever the later one is, or the earlier one."""
    branches = earlier.maybe and path.inside
    if earlier.facts is None or later.facts is None:
        return not branches
    if earlier.facts.excludes(later.facts):
        return False
    return not branches or (not earlier.drawn and later.facts.implies(earlier.facts))


def _clash(earlier: Write, later: Write) -> bool:
    """Return whether two changes of surely one slot surely disagree."""
    if earlier.fluent != later.fluent or "=" not in (earlier.op, later.op):
        return False
    if earlier.args is None or skeleton(earlier.args) != skeleton(later.args):
        return False
    if earlier.op == "create":
        return False  # a field is what the new object has before this body changes it
    if {earlier.op, later.op} & {"+=", "-="}:
        return True
    one, two = earlier.value, later.value
    if one is None or two is None or earlier.facts is None or later.facts is None:
        return False
    return unlike(earlier.facts, one, later.facts, two)


def _name(fluent: str, path: _Path) -> str:
    return path.draft.fluents[fluent].name


# ---- reads ------------------------------------------------------------------------------


def _check_reads(term: m.Term, path: _Path) -> None:
    for fluent, args, span, known in slots_read(term, path.draft, path.known):
        for write in path.writes:
            if write.fluent == fluent and _hits(write, args, known) and not _apart(write, path):
                what = f"`{path.draft.text(span)}` is read after a change to it in the same body."
                related = (Related(write.span, "changed here"),)
                hint = "A body reads the state before it: name the value with `let` first."
                path.draft.tell("TW0403", what, span, "still the old value", hint, related)
                return


def _apart(write: Write, path: _Path) -> bool:
    """Return whether a change and this place are on different paths."""
    return write.maybe and write.facts is not None and write.facts.excludes(path.facts)


def _hits(write: Write, args: tuple[m.Term, ...] | None, known: Knowledge) -> bool:
    """Return whether a change may be to a slot that is read; a new object's fields count as
    given."""
    if write.args is None or args is None:
        return True
    if write.op == "create" and skeleton(write.args) == skeleton(args):
        return False
    return not known.different(write.args, args)


# ---- loops ------------------------------------------------------------------------------


def _loop(loop: m.For, path: _Path) -> None:
    known = path.known.bound(loop.binders).given(loop.where)
    inner = path.into(known, path.facts.given(loop.where))
    before = len(inner.writes)
    _body(loop.body, inner)
    writes = inner.writes[before:]
    across = inner.known.between_rounds(loop.binders, loop.body, path.known)
    _across(loop, writes, across, path)
    _leave(loop, writes, path)


def _across(loop: m.For, writes: list[Write], across: Knowledge, path: _Path) -> None:
    """Report a slot that one round reads and another one writes (TW0404)."""
    for term in _loop_terms(loop):
        for fluent, args, span, there in slots_read(term, path.draft, across):
            if _told(path.draft, span):
                return  # the same read is already reported: one error per root cause
            if any(write.fluent == fluent and _hits(write, args, there) for write in writes):
                what = f"`{path.draft.text(span)}` may be changed by another round of the loop."
                hint = "A body reads the state before it: collect first, or use a later phase."
                path.draft.tell("TW0404", what, span, "read in each round", hint)
                return


def _leave(loop: m.For, writes: list[Write], path: _Path) -> None:
    """After a loop its variables have names of their own: the next loop may use them again."""
    names = {binder.name: f"{binder.name} of {loop.span.start}" for binder in loop.binders}
    path.known = path.known.closed(loop, names)
    for write in writes:
        args = None
        if write.args is not None:
            args = tuple(renamed(arg, names) for arg in write.args)
        maybe = write.maybe or loop.where is not None
        path.writes.append(replace(write, args=args, facts=None, maybe=maybe))


def _loop_terms(loop: m.For) -> Iterator[m.Term]:
    """The terms that rounds of a loop read; its collection and condition are read once, before."""
    for effect in effects_in(loop.body):
        yield from terms_of(effect)


def _told(draft: Draft, span: Span) -> bool:
    return any(found.span == span for found in draft.report)


@frozen
class _Value:
    """The write to a slot of the new object: a value, or a change (``op``) of it."""

    op: str
    value: m.Term
    span: Span


def check_creations(draft: Draft) -> None:
    """Report missing values (TW0602), two values for one slot (TW0405), reads of objects before
    their creation (TW0403, TW0404), and births that create without end."""
    draft.each("creations", draft.rules, lambda rule: _creations_of(rule, draft))
    settings = tuple(_settings(draft))
    draft.each("creations in settings", settings, lambda body: _walk(body, draft, None))
    for world in draft.worlds.values():
        for layout in world.layouts:
            _cells(layout, draft)
    _endless(draft)


def _creations_of(rule: m.Action | m.Law, draft: Draft) -> None:
    for body in own_bodies(rule):
        _walk(body, draft, None)


def _walk(body: m.Body, draft: Draft, loop: m.For | None) -> None:
    for position, effect in enumerate(body):
        if isinstance(effect, m.Create):
            rest = body[position + 1 :]
            _agreement(effect, rest, draft)
            _read_too_late(effect, rest, draft)
            if loop is not None:
                _read_in_rounds(effect, loop, draft)
        for inner in bodies(effect):
            _walk(inner, draft, effect if isinstance(effect, m.For) else loop)


# ---- values -----------------------------------------------------------------------------


def _agreement(create: m.Create, rest: m.Body, draft: Draft) -> None:
    """Fields, births and later changes give each slot one value, and each slot that needs one."""
    given = {one.fluent: _Value("=", one.value, one.span) for one in create.fields}
    for birth in _births(create.of, draft):
        for fluent, value in _changes(birth.body, birth.param.name):
            _settle(given, fluent, value, draft)
    for fluent, value in _changes(rest, create.name):
        _settle(given, fluent, value, draft)
    _complete(create.of, f"`{create.name}`", given, create.span, draft)


def _births(of: str, draft: Draft) -> list[m.Birth]:
    """The births of a type, most general first."""
    found = [
        birth
        for birth in draft.births
        if isinstance(birth.param.type, m.ObjectType)
        and is_subtype(draft.types, of, birth.param.type.name)
    ]
    order = draft.types[of].ancestors if of in draft.types else ()
    return sorted(found, key=lambda birth: -_rank(birth, order))


def _rank(birth: m.Birth, order: tuple[str, ...]) -> int:
    name = getattr(birth.param.type, "name", "")
    return order.index(name) if name in order else len(order)


def _changes(body: m.Body, name: str) -> Iterator[tuple[str, _Value]]:
    """The writes that a body always makes to the attributes of one local."""
    for effect in body:
        if isinstance(effect, m.Assign) and len(effect.target.args) == 1:
            (of,) = effect.target.args
            if isinstance(of, m.Local) and of.name == name:
                yield effect.target.fluent, _Value(effect.op, effect.value, effect.span)


def _settle(given: dict[str, _Value], fluent: str, value: _Value, draft: Draft) -> None:
    earlier = given.setdefault(fluent, value)
    if earlier is value or "=" not in (earlier.op, value.op):
        return
    constant = all(isinstance(one.value, m.ConstantTerm) for one in (earlier, value))
    mixed = earlier.op != value.op
    if mixed or (constant and skeleton(earlier.value) != skeleton(value.value)):
        what = f"`{draft.fluents[fluent].name}` of the new object gets two values in one body."
        related = (Related(earlier.span, "the first value"),)
        hint = "Keep one of the two, or put them in different branches."
        draft.tell("TW0405", what, value.span, "the second value", hint, related)


def _complete(
    of: str, shown: str, given: Mapping[str, _Value], span: Span, draft: Draft
) -> None:  # fmt: skip
    for fluent in _needed(of, draft):
        if fluent.id not in given or given[fluent.id].op != "=":
            what = f"{shown} is created without `{fluent.name}`."
            hint = f"Write `{{ {fluent.name} = … }}` after it, or make the attribute optional."
            related = (Related(fluent.span, "it is never `none`"),)
            draft.tell("TW0602", what, span, "value missing", hint, related)


def _needed(of: str, draft: Draft) -> Iterator[m.Fluent]:
    """The attributes of a type that are never `none` and have no default."""
    if of not in draft.types:
        return
    defaults = {one.fluent for one in draft.types[of].defaults}
    for key in draft.types[of].attributes:
        kind = draft.fluents[key].type
        if isinstance(kind, m.ObjectType) and not kind.optional and key not in defaults:
            yield draft.fluents[key]


def _cells(layout: m.Layout, draft: Draft) -> None:
    """Check that every cell of a layout is complete, with each character."""
    legends = {legend.symbol: legend.body for legend in layout.legends}
    for symbol in dict.fromkeys("".join(layout.rows)):
        given: dict[str, _Value] = {}
        for birth in _births(layout.of, draft):
            given.update(_changes(birth.body, birth.param.name))
        for fluent, value in _changes(legends.get(symbol, ()), "here"):
            _settle(given, fluent, value, draft)
        count = len(draft.report)
        _complete(layout.of, f"The cell of `{symbol}`", given, layout.span, draft)
        if len(draft.report) > count:
            return


# ---- reads ------------------------------------------------------------------------------


def _read_too_late(create: m.Create, rest: m.Body, draft: Draft) -> None:
    """After a creation the body still sees the state without the new object (TW0403)."""
    told = {found.span for found in draft.report}
    for effect in effects_in(rest):
        for span in _population(effect, create, draft):
            if span in told:
                return  # the pass of the writes saw it: one error per root cause
            what = f"`{draft.text(span)}` does not see `{create.name}`, created before it."
            related = (Related(create.span, "created here"),)
            hint = "A body reads the state before it: name the value with `let` first."
            draft.tell("TW0403", what, span, "still without it", hint, related)
            return


def _read_in_rounds(create: m.Create, loop: m.For, draft: Draft) -> None:
    """A round of a loop does not see what other rounds create (TW0404)."""
    told = {found.span for found in draft.report}
    for effect in effects_in(loop.body):
        for span in _population(effect, create, draft):
            if span not in told:
                what = f"`{draft.text(span)}` does not see what other rounds of the loop create."
                hint = "A body reads the state before it: collect first, or use a later phase."
                draft.tell("TW0404", what, span, "read in each round", hint)
                return


def _population(effect: m.Effect, create: m.Create, draft: Draft) -> Iterator[Span]:
    """The places where an effect reads a set of objects, or the inverse of a reference."""
    yield from _over_type(binders_of(effect), create, draft)
    for term in terms_of(effect):
        yield from _seen(term, create, draft, frozenset())


def _over_type(binders: tuple[m.Binder, ...], create: m.Create, draft: Draft) -> Iterator[Span]:
    for binder in binders:
        of = binder.domain.of if isinstance(binder.domain, m.TypeRange) else None
        if isinstance(of, m.ObjectType) and is_subtype(draft.types, create.of, of.name):
            yield binder.span


def _seen(
    term: m.Term, create: m.Create, draft: Draft, inside: frozenset[str]
) -> Iterator[Span]:  # fmt: skip
    written = {field.fluent for field in create.fields}
    for part in subterms(term):
        match part:
            case m.InverseOf(fluent=fluent, was=False) | m.ClosureOf(fluent=fluent, was=False):
                if fluent in written:
                    yield part.span
            case m.Fold(binders=binders):
                yield from _over_type(binders, create, draft)
            case m.DeriveCall(derive=name, was=False) if name not in inside:
                derive = draft.derives.get(name)
                if derive is not None:
                    hidden = _seen(derive.value, create, draft, inside | {name})
                    if next(hidden, None) is not None:
                        yield part.span
            case (
                m.LeafTerm() | m.StateTerm() | m.LogicTerm() | m.TestTerm() | m.NumberTerm()
                | m.Choose() | m.ListTerm() | m.BuiltinCall() | m.TemplateTerm()
            ):  # fmt: skip
                pass
            case _:
                assert_never(part)


# ---- births without end -----------------------------------------------------------------


def _endless(draft: Draft) -> None:
    """A birth that always creates an object whose birth always creates the first again."""
    for birth in draft.births:
        of = getattr(birth.param.type, "name", "")
        chain, todo = set[str](), [of]
        while todo:
            for kind in _always_created(todo.pop(), draft):
                if is_subtype(draft.types, kind, of):
                    what = f"The birth of a `{of}` creates a `{kind}`, and so on without end."
                    hint = "Create it under a condition that fails some time, or elsewhere."
                    draft.tell("TW0206", what, birth.span, "without end", hint)
                    return
                if kind not in chain:
                    chain.add(kind)
                    todo.append(kind)


def _always_created(of: str, draft: Draft) -> Iterator[str]:
    for birth in _births(of, draft):
        yield from (effect.of for effect in birth.body if isinstance(effect, m.Create))
