"""What a world begins with, as far as it can be read off: attributes of objects, plain setups."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from types import NoneType
from typing import Any, cast

from tokenworld.engine.compile import Code, extend
from tokenworld.engine.layout import Column, Layout, implicit_default
from tokenworld.engine.state import State
from tokenworld.engine.wide import column_of
from tokenworld.ground import GroundObject, Instance, Raw
from tokenworld.model import (
    AddFact,
    Assign,
    Body,
    BoolLiteral,
    Effect,
    EnumLiteral,
    NoneLiteral,
    NumberLiteral,
    ObjectDecl,
    ObjectLiteral,
    ParamRead,
    Read,
    RemoveFact,
    Term,
    subterms,
)

__all__ = ["Request", "fill_each", "fill_objects", "names_cells", "requests_of"]

_PLAIN = (bool, int, float, str, NoneType)
_Values = dict[str, list[Raw]]
"""The value of each attribute by object number."""
Request = tuple[int, tuple[Raw, ...], str, Raw]
"""What `Delta.put` is asked for: the column, the arguments, how to change it, the value."""


def fill_objects(instance: Instance, layout: Layout, code: Code, state: State) -> None:
    """Put every field of every object: whole columns at once where all of them are literals."""
    values = _literals(instance)
    if values is None or not all(layout.by_id[key].by_object for key in values):
        fill_each(instance, layout, code, state)
        return
    for key, column in values.items():
        _put_whole(layout.by_id[key], column, state)


def names_cells(instance: Instance) -> bool:
    """Whether a field of an object names a cell of a layout."""
    return bool(instance.world.layouts) and any(
        isinstance(part, ObjectLiteral) and part.name not in instance.numbers
        for decl in instance.decls
        for field in decl.fields
        for part in subterms(field.value)
    )


# ---- whole columns ----------------------------------------------------------------------


def _literals(instance: Instance) -> _Values | None:
    """All values, where none has to be worked out. A term may read what was put before it, so that
    the order counts; literals read nothing."""
    types, decls = instance.program.types, instance.decls
    size = len(decls)
    found: _Values = defaultdict(lambda: [None] * size)
    alike = defaultdict[str, list[int]](list)
    for number, decl in enumerate(decls):
        alike[decl.of].append(number)
    for of in [one for one in alike if one in types]:
        for key, value in _defaults(instance, of).items():
            if not isinstance(value, _PLAIN):
                return None
            column = found[key]
            if value is not None:
                for number in alike[of]:
                    column[number] = value
    return found if _put_fields(decls, instance, found) else None


def _put_fields(decls: Iterable[ObjectDecl], instance: Instance, found: _Values) -> bool:
    """Put what the objects say themselves; false where one of them is no literal."""
    types = instance.program.types
    for number, decl in enumerate(decls):
        for field in decl.fields:
            value = _literal(field.value, instance)
            if not isinstance(value, _PLAIN):
                return False
            if decl.of in types:
                found[field.fluent][number] = value
    return True


def _put_whole(column: Column, values: list[Raw], state: State) -> None:
    """Set an attribute of all objects. Children stand in the order of the object lines, which is
    that of their numbers."""
    state.own(column)
    state.cols[column.index] = column_of(values)
    if column.has_children:
        children = state.kids[column.index]
        for child, parent in enumerate(values):
            if parent is not None:
                children[parent].append(child)


def _defaults(instance: Instance, of: str) -> dict[str, Any]:
    """The attributes of a type, each with what it is where no field says so: a raw value, or a term
    to work out."""
    program = instance.program
    kind = program.types[of]
    given = {one.fluent: _literal(one.value, instance) for one in kind.defaults}
    return {
        key: given[key] if key in given else implicit_default(program.fluents[key].type)
        for key in kind.attributes
    }


def _literal(term: Term, instance: Instance) -> Raw | Term:
    """The value of a literal or a param; any other term as it is."""
    kind = type(term)
    if kind is ObjectLiteral:
        return instance.numbers.get(cast(ObjectLiteral, term).name, term)
    if kind is ParamRead:
        return instance.params[cast(ParamRead, term).name]
    if kind is BoolLiteral or kind is NumberLiteral:
        return cast(BoolLiteral, term).value
    if kind is EnumLiteral:
        return cast(EnumLiteral, term).index
    return None if kind is NoneLiteral else term


# ---- setups -----------------------------------------------------------------------------


def requests_of(body: Body, layout: Layout) -> list[Request] | None:
    """What a body asks for where it names every slot and every value, as the setups of imported
    problems do: that needs no code of its own. ``None``: something is to be worked out."""
    found = [_request(effect, layout) for effect in body]
    return None if None in found else cast(list[Request], found)


def _request(effect: Effect, layout: Layout) -> Request | None:
    if isinstance(effect, AddFact):
        return _asked(effect.target, "add", True, layout)
    if isinstance(effect, RemoveFact):
        return _asked(effect.target, "remove", False, layout)
    if isinstance(effect, Assign) and effect.op == "=":
        value = _literal(effect.value, layout.instance)
        return _asked(effect.target, "=", value, layout) if isinstance(value, _PLAIN) else None
    return None


def _asked(target: Read, op: str, value: Raw, layout: Layout) -> Request | None:
    args = tuple([_literal(arg, layout.instance) for arg in target.args])
    if not all(isinstance(arg, _PLAIN) for arg in args):
        return None
    return layout.by_id[target.fluent].index, cast(tuple[Raw, ...], args), op, value


# ---- one after another ------------------------------------------------------------------


def fill_each(instance: Instance, layout: Layout, code: Code, state: State) -> None:
    """Every field of every object, one after another; what is no literal is generated code."""
    listed = _Fields(instance, layout)
    puts = [put for one in instance.objects for put in listed.of(one)]
    values = iter(_functions(code, [term for _, _, term in puts if not isinstance(term, _PLAIN)]))
    stores = [
        state.own(one) if one.by_object and not one.has_children else None for one in layout.columns
    ]
    for column, number, given in puts:
        if isinstance(given, _PLAIN):
            value = given
        else:
            state.memo.clear()
            value = next(values)(state, state, state.me)
        stored = stores[column.index]
        if stored is None:
            state.put(column, number, value)
        else:
            stored[number] = value


def _functions(code: Code, terms: list[Term]) -> list[Callable[[State, State, Raw], Raw]]:
    """A generated function for each term."""
    if not terms:
        return []
    emitter, name = code.emitter, code.emitter.fresh("fill")
    parts = [f"    lambda S, W, me: {emitter.term(term, {})}," for term in terms]
    texts = [text for _, text in emitter.texts]
    emitter.texts.clear()
    extend(code, "\n".join([*texts, f"{name} = [", *parts, "]", ""]))
    found: list[Callable[[State, State, Raw], Raw]] = code.space.pop(name)
    return found


class _Fields:
    """What sets the attributes of an object: its fields, its type's defaults, or nothing."""

    def __init__(self, instance: Instance, layout: Layout) -> None:
        self._instance, self._layout = instance, layout
        self._of: dict[str, dict[str, tuple[Column, Raw | Term]]] = {}

    def of(self, one: GroundObject) -> Iterator[tuple[Column, int, Raw | Term]]:
        """Defaults come first, then the fields in written order, so that an ordered container is
        filled in the order of the object lines."""
        if one.of not in self._instance.program.types:
            return
        defaults = self._defaults_of(one.of)
        own = {field.fluent: field.value for field in one.decl.fields}
        for key, (column, value) in defaults.items():
            if key not in own:
                yield column, one.id, value
        for key, term in own.items():
            yield self._layout.by_id[key], one.id, _literal(term, self._instance)

    def _defaults_of(self, of: str) -> dict[str, tuple[Column, Raw | Term]]:
        """The attributes of a type, each with its column and what it is where no field says so."""
        if of not in self._of:
            values = _defaults(self._instance, of)
            self._of[of] = {key: (self._layout.by_id[key], one) for key, one in values.items()}
        return self._of[of]
