"""Templates, names and descriptions to Python functions (language.md §11).

``P`` is the `Prose` that the session handed in: pure text, no state.
"""

from __future__ import annotations

from typing import assert_never

from tokenworld.engine.emit import Emitter, Locals
from tokenworld.model import (
    BoolType,
    Called,
    CollectionType,
    EnumType,
    Local,
    NoneType,
    NumberType,
    ObjectType,
    RealType,
    Slot,
    Template,
    TemplateTerm,
    Term,
    TextPart,
    TextType,
    ValueType,
    is_optional,
    subterms,
)

__all__ = ["emit_names", "shown", "text_call", "text_function", "word"]


def _used(template: Template) -> list[str]:
    """The author's names of the locals that a template needs, in order."""
    found: dict[str, None] = {}
    for part in template.parts:
        if isinstance(part, Slot):
            for term in subterms(part.term):
                if isinstance(term, Local):
                    found[term.name] = None
    return list(found)


def text_function(emitter: Emitter, template: Template, names: Locals) -> tuple[str, list[str]]:
    """Generate a function that renders a template; its name and the locals to pass it."""
    bound = [name for name in _used(template) if name in names]
    inner = {name: emitter.fresh("p") for name in bound}
    emitter.fragile |= {inner[name] for name in bound if names[name] in emitter.fragile}
    pieces = [
        emitter.const(part.text) if isinstance(part, TextPart) else _slot(emitter, part, inner)
        for part in template.parts
    ]
    function = emitter.fresh("text")
    header = ", ".join(["S", "W", "me", *inner.values()])
    body = " + ".join(pieces) or "''"
    emitter.texts.append((function, f"def {function}({header}):\n    return {body}\n"))
    return function, [names[name] for name in bound]


def text_call(emitter: Emitter, template: Template, names: Locals) -> str:
    """The expression of a string used as a value."""
    if all(isinstance(part, TextPart) for part in template.parts):
        return emitter.const("".join(p.text for p in template.parts if isinstance(p, TextPart)))
    function, passed = text_function(emitter, template, names)
    return f"{function}({', '.join(['S', 'W', 'me', *passed])})"


def _slot(emitter: Emitter, slot: Slot, names: Locals) -> str:
    return shown(emitter, slot.term, names, slot.article)


def shown(emitter: Emitter, term: Term, names: Locals, article: str = "") -> str:
    """The expression of a value as a reader sees it."""
    value = emitter.term(term, names)
    kind = term.type
    if isinstance(kind, CollectionType):
        return _listed(emitter, value, kind, article)
    if isinstance(term, TemplateTerm):
        return value
    text = word(emitter, value, kind, article)
    return text


def word(emitter: Emitter, value: str, kind: ValueType, article: str = "") -> str:
    """One value of a type as text; `none` reads "nothing"."""
    match kind:
        case ObjectType():
            return f"named(S, W, {value}, {emitter.const(article)})"
        case EnumType(name=name):
            members = emitter.instance.program.enums[name].members
            return f"of_enum({emitter.const(members)}, {value}, {emitter.const(article)})"
        case NumberType(decimals=decimals, unit=unit):
            return f"of_number({value}, {decimals}, {emitter.const(unit)})"
        case RealType():
            return f"of_real({value})"
        case BoolType():
            return f"('true' if {value} else 'false')"
        case TextType() | NoneType() | CollectionType():
            return f"of_text({value})" if emitter.careful or is_optional(kind) else value
        case _:
            assert_never(kind)


def _listed(emitter: Emitter, value: str, kind: CollectionType, article: str) -> str:
    """A list leaves out the acting object."""
    one = emitter.fresh()
    element = kind.element
    skip = f" if {one} != me" if isinstance(element, ObjectType) else ""
    text = word(emitter, one, element)
    return f"P.listing([{text} for {one} in {value}{skip}], {emitter.const(article)})"


# ---- names ------------------------------------------------------------------------------


def _most_specific(emitter: Emitter, kind: str) -> Called | None:
    """The `called` rule of the nearest ancestor."""
    program = emitter.instance.program
    for ancestor in program.types[kind].ancestors:
        for called in program.called:
            if isinstance(called.param.type, ObjectType) and called.param.type.name == ancestor:
                return called
    return None


def emit_names(emitter: Emitter) -> str:
    """Generate ``name_of`` and ``words_of``: an object's present name, and all its words."""
    lines: list[str] = ["NAME = {}", "WORDS = {}"]
    for kind in emitter.instance.program.types:
        called = _most_specific(emitter, kind)
        if called is None:
            continue
        names = {called.param.name: "x"}
        name = shown(emitter, called.name, names)
        words = ", ".join(shown(emitter, word_, names) for word_ in called.aka)
        function = emitter.fresh("name")
        lines.append(f"def {function}(S, W, me, x):\n    return {name}")
        lines.append(f"def {function}w(S, W, me, x):\n    return [{words}]")
        lines.append(f"NAME[{emitter.const(kind)}] = {function}")
        lines.append(f"WORDS[{emitter.const(kind)}] = {function}w")
    return "\n".join(lines) + "\n"
