"""The creations pass: new objects are complete, and what a body says of them agrees (§5, §12)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tokenworld.check.aliasing import skeleton
from tokenworld.check.draft import Draft
from tokenworld.check.relations import is_subtype
from tokenworld.diagnostics import Related, Span
from tokenworld.diagnostics.frozen import frozen
from tokenworld.model import (
    Action,
    Assign,
    Binder,
    Birth,
    Body,
    ClosureOf,
    Create,
    DeriveCall,
    Effect,
    Fluent,
    Fold,
    For,
    Given,
    InverseOf,
    Law,
    Layout,
    Local,
    ObjectType,
    Pick,
    Term,
    TypeRange,
    bodies,
    effects_in,
    subterms,
    terms_of,
)

__all__ = ["check_creations"]

_CONSTANT = (
    "bool_literal", "number_literal", "enum_literal", "none_literal", "object_literal",
)  # fmt: skip


@frozen
class _Value:
    """What a slot of the new object gets: a value, or a change (``op``) to it."""

    op: str
    value: Term
    span: Span


def check_creations(draft: Draft) -> None:
    """Missing values (TW0602), two values for one slot (TW0405), reads of what was not there yet
    (TW0403, TW0404), and births without end."""
    rules: tuple[Action | Law, ...] = (*draft.actions.values(), *draft.laws.values())
    draft.each("creations", rules, lambda rule: _rule(rule, draft))
    settings = tuple(_settings(draft))
    draft.each("creations in settings", settings, lambda body: _walk(body, draft, None))
    for world in draft.worlds.values():
        for layout in world.layouts:
            _cells(layout, draft)
    _endless(draft)


def _rule(rule: Action | Law, draft: Draft) -> None:
    _walk(rule.body, draft, None)
    if isinstance(rule, Action):
        _walk(rule.cancelled, draft, None)


def _settings(draft: Draft) -> Iterator[Body]:
    """The bodies that nothing guards: births, setups, legends, what scenarios give."""
    yield from (birth.body for birth in draft.births)
    for world in draft.worlds.values():
        yield from (legend.body for layout in world.layouts for legend in layout.legends)
        yield from world.setups
    for scenario in draft.scenarios:
        yield from (step.body for step in scenario.steps if isinstance(step, Given))


def _walk(body: Body, draft: Draft, loop: For | None) -> None:
    for position, effect in enumerate(body):
        if isinstance(effect, Create):
            rest = body[position + 1 :]
            _agreement(effect, rest, draft)
            _read_too_late(effect, rest, draft)
            if loop is not None:
                _read_in_rounds(effect, loop, draft)
        for inner in bodies(effect):
            _walk(inner, draft, effect if isinstance(effect, For) else loop)


# ---- values -----------------------------------------------------------------------------


def _agreement(create: Create, rest: Body, draft: Draft) -> None:
    """Fields, births and later changes give each slot one value, and each slot that needs one."""
    given = {one.fluent: _Value("=", one.value, one.span) for one in create.fields}
    for birth in _births(create.of, draft):
        for fluent, value in _changes(birth.body, birth.param.name):
            _settle(given, fluent, value, draft)
    for fluent, value in _changes(rest, create.name):
        _settle(given, fluent, value, draft)
    _complete(create.of, f"`{create.name}`", given, create.span, draft)


def _births(of: str, draft: Draft) -> list[Birth]:
    """The births of a type, most general first."""
    found = [
        birth
        for birth in draft.births
        if isinstance(birth.param.type, ObjectType)
        and is_subtype(draft.types, of, birth.param.type.name)
    ]
    order = draft.types[of].ancestors if of in draft.types else ()
    return sorted(found, key=lambda birth: -_rank(birth, order))


def _rank(birth: Birth, order: tuple[str, ...]) -> int:
    name = getattr(birth.param.type, "name", "")
    return order.index(name) if name in order else len(order)


def _changes(body: Body, name: str) -> Iterator[tuple[str, _Value]]:
    """What a body always does to the attributes of one local."""
    for effect in body:
        if isinstance(effect, Assign) and len(effect.target.args) == 1:
            (of,) = effect.target.args
            if isinstance(of, Local) and of.name == name:
                yield effect.target.fluent, _Value(effect.op, effect.value, effect.span)


def _settle(given: dict[str, _Value], fluent: str, value: _Value, draft: Draft) -> None:
    earlier = given.setdefault(fluent, value)
    if earlier is value or "=" not in (earlier.op, value.op):
        return
    constant = all(one.value.kind in _CONSTANT for one in (earlier, value))
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
            hint = f"Write `{{ {fluent.name} = … }}` behind it, or make the attribute optional."
            related = (Related(fluent.span, "it is never `none`"),)
            draft.tell("TW0602", what, span, "value missing", hint, related)


def _needed(of: str, draft: Draft) -> Iterator[Fluent]:
    """The attributes of a type that are never `none` and have no default."""
    if of not in draft.types:
        return
    defaults = {one.fluent for one in draft.types[of].defaults}
    for key in draft.types[of].attributes:
        kind = draft.fluents[key].type
        if isinstance(kind, ObjectType) and not kind.optional and key not in defaults:
            yield draft.fluents[key]


def _cells(layout: Layout, draft: Draft) -> None:
    """Every cell of a layout is complete, whatever its character."""
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


def _read_too_late(create: Create, rest: Body, draft: Draft) -> None:
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


def _read_in_rounds(create: Create, loop: For, draft: Draft) -> None:
    """A round of a loop does not see what other rounds create (TW0404)."""
    told = {found.span for found in draft.report}
    for effect in effects_in(loop.body):
        for span in _population(effect, create, draft):
            if span not in told:
                what = f"`{draft.text(span)}` does not see what other rounds of the loop create."
                hint = "A body reads the state before it: collect first, or use a later phase."
                draft.tell("TW0404", what, span, "read in each round", hint)
                return


def _population(effect: Effect, create: Create, draft: Draft) -> Iterator[Span]:
    """Where a change reads which objects there are, or which point at another one."""
    if isinstance(effect, (For, Pick)):
        yield from _over_type(effect.binders, create, draft)
    for term in terms_of(effect):
        yield from _seen(term, create, draft, frozenset())


def _over_type(binders: tuple[Binder, ...], create: Create, draft: Draft) -> Iterator[Span]:
    for binder in binders:
        of = binder.domain.of if isinstance(binder.domain, TypeRange) else None
        if isinstance(of, ObjectType) and is_subtype(draft.types, create.of, of.name):
            yield binder.span


def _seen(
    term: Term, create: Create, draft: Draft, inside: frozenset[str]
) -> Iterator[Span]:  # fmt: skip
    written = {field.fluent for field in create.fields}
    for part in subterms(term):
        match part:
            case InverseOf(fluent=fluent, was=False) | ClosureOf(fluent=fluent, was=False):
                if fluent in written:
                    yield part.span
            case Fold(binders=binders):
                yield from _over_type(binders, create, draft)
            case DeriveCall(derive=name, was=False) if name not in inside:
                derive = draft.derives.get(name)
                if derive is not None:
                    hidden = _seen(derive.value, create, draft, inside | {name})
                    if next(hidden, None) is not None:
                        yield part.span
            case _:
                pass


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
        yield from (effect.of for effect in birth.body if isinstance(effect, Create))
