"""The rulebook's vocabulary: kinds of things, facts, derived values and settings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tokenworld.diagnostics import Span
from tokenworld.model import (
    ROOT,
    Derive,
    EnumType,
    Fluent,
    NumberType,
    ObjectKind,
    ObjectType,
    Program,
    ValueType,
    is_optional,
    show_type,
)
from tokenworld.prose.articles import capitalised
from tokenworld.prose.deeds import Line
from tokenworld.prose.english import English
from tokenworld.prose.english_words import a, spoken_name
from tokenworld.prose.wording import kind_word

__all__ = ["Entry", "facts", "kinds"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One rule: its name, its doc comment, its sentences with their depth, and its place."""

    name: str
    doc: str
    lines: tuple[Line, ...]
    place: str


def kinds(program: Program) -> Iterator[Entry]:
    for enum in program.enums.values():
        joined = (" < " if enum.ladder else ", ").join(spoken_name(one) for one in enum.members)
        kind = "A ladder" if enum.ladder else "One of"
        yield Entry(spoken_name(enum.name), "", ((0, f"{kind}: {joined}."),), str(enum.span))
    for one in program.types.values():
        if one.name != ROOT:
            yield _kind(program, one)


def _kind(program: Program, kind: ObjectKind) -> Entry:
    parents = [kind_word(name) for name in kind.parents if name != ROOT]
    lines = []
    if parents:
        also = " and ".join(a(one) for one in parents)
        lines.append((0, f"Every {kind_word(kind.name)} is also {also}."))
    own = [program.fluents[key] for key in kind.attributes if key.startswith(f"{kind.name}.")]
    lines += [(0, _attribute(program, one)) for one in own]
    english = English(program, {})
    overrides = [one for one in kind.defaults if not one.fluent.startswith(f"{kind.name}.")]
    for value in overrides:
        if _within(value.span, kind.span):
            name = spoken_name(program.fluents[value.fluent].name)
            lines.append((0, f"Its {name} is {english.value(value.value)} to begin with."))
    return Entry(capitalised(kind_word(kind.name)), "", tuple(lines), str(kind.span))


def _within(inner: Span, outer: Span) -> bool:
    return inner.file == outer.file and outer.start <= inner.start < outer.end


_FLAGS = {
    "static": "never changes",
    "secret": "is kept secret",
    "clamped": "stops at its limits",
    "unique": "is shared by no two",
    "ordered": "keeps the order of arrival",
    "nested": "never goes in a circle",
}


def _attribute(program: Program, fluent: Fluent) -> str:
    name = spoken_name(fluent.name)
    flags = [text for flag, text in _FLAGS.items() if getattr(fluent, flag)]
    known = [
        f"seen from the other side it is “{spoken_name(other)}”"
        for other in (fluent.inverse,)
        if other
    ]
    known += [f"the whole chain is “{spoken_name(fluent.closure)}”"] if fluent.closure else []
    more = "".join(f"; {text}" for text in (*flags, *known))
    first = "" if fluent.default is None else _default(program, fluent)
    return f"{capitalised(name)}: {_type_words(fluent.type)}{first}{more}."


def _default(program: Program, fluent: Fluent) -> str:
    assert fluent.default is not None
    return f", {English(program, {}).value(fluent.default)} to begin with"


def _type_words(of: ValueType) -> str:
    maybe = ", or nothing" if is_optional(of) else ""
    match of:
        case ObjectType(name=name) | EnumType(name=name):
            noun = kind_word(name)
            return f"{a(noun)}{maybe}"
        case NumberType(low=int(), high=int()):
            return f"{show_type(of).removesuffix('?')}{maybe}"
        case NumberType():
            return f"a whole number{maybe}"
        case _:
            words = {"bool": "true or false", "real": "a real number", "text": "a text"}
            return f"{words.get(of.kind, of.kind)}{maybe}"


def facts(program: Program) -> Iterator[Entry]:
    english = English(program, {})
    for fluent in program.fluents.values():
        if fluent.fluent_kind == "attribute":
            continue
        of = [kind_word(getattr(one.type, "name", "number")) for one in fluent.params]
        about = f"of {' and '.join(f'{a(one)}' for one in of)}" if of else "alone"
        kind = "a fact" if fluent.type.kind == "bool" else _type_words(fluent.type)
        first = "" if fluent.default is None else _default(program, fluent)
        lines = [(0, f"{capitalised(kind)} {about}{first}.")]
        for row in fluent.rows:
            keys = ", ".join(english.value(key) for key in row.keys)
            value = "" if fluent.type.kind == "bool" else f": {english.value(row.value)}"
            lines.append((1, f"{keys}{value}"))
        yield Entry(capitalised(spoken_name(fluent.name)), "", tuple(lines), str(fluent.span))
    for derive in program.derives.values():
        yield _derived(english, derive)
    for param in program.params.values():
        text = f"{_type_words(param.type)}; {english.value(param.default)} unless a world says else"
        name = capitalised(spoken_name(param.name))
        yield Entry(name, "", ((0, f"A setting: {text}."),), str(param.span))


def _derived(english: English, derive: Derive) -> Entry:
    inner = english.with_binders(derive.params)
    who = f" for {inner.every(derive.params)}" if derive.params else ""
    if derive.type.kind == "bool":
        text = f"Holds{who} exactly if {inner.condition(derive.value)}."
    else:
        text = f"Worked out{who}: {inner.value(derive.value)}."
    return Entry(capitalised(spoken_name(derive.name)), "", ((0, text),), str(derive.span))
