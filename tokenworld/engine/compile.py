"""One checked program and instance, compiled to Python functions.

The generated module is plain Python, kept as `Code.source` so that `tw explain --stages` can show
it. It is built from the typed model only: no text of the author is ever executed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tokenworld.diagnostics.frozen import frozen
from tokenworld.engine.bodies import BodyWriter
from tokenworld.engine.emit import Emitter
from tokenworld.engine.layout import Layout
from tokenworld.engine.mortality import breaking_off_destroys
from tokenworld.engine.runtime import RUNTIME
from tokenworld.engine.speech import emit_names
from tokenworld.ground import Instance
from tokenworld.model import (
    Action,
    Binder,
    Body,
    BoolType,
    Derive,
    Law,
    Let,
    NumberType,
    Require,
    Term,
    Watch,
)

__all__ = ["ActionCode", "Code", "LawCode", "compile_program", "compile_term"]

Function = Callable[..., Any]


@frozen
class ActionCode:
    """The functions of one action; all take ``S, W, me`` and its arguments.

    ``holds`` is the fast check of all requires, ``run`` fills a `Delta`. ``free``: takes no time.
    """

    action: Action
    holds: Function
    run: Function
    cancel: Function
    ticks: Function
    until: Function | None
    cost: Function | None


@frozen
class LawCode:
    """``run(S, W, me, D)`` evaluates a law for every binding whose condition holds."""

    law: Law
    run: Function


@frozen
class Code:
    """Everything generated for one instance, and the source it was generated as."""

    emitter: Emitter
    space: dict[str, Any]
    source: str
    actions: dict[str, ActionCode]
    laws: dict[str, LawCode]


HEADER = "S, W, me"


def compile_program(instance: Instance, layout: Layout, prose: Any) -> Code:
    """Generate and load the functions of one instance."""
    emitter = Emitter(instance, layout)
    for name in instance.program.derives:
        emitter.derive_names[name] = emitter.fresh("d")
    chunks = [_derive(emitter, derive) for derive in instance.program.derives.values()]
    actions = {name: _action(emitter, one) for name, one in instance.program.actions.items()}
    laws = {name: _law(emitter, law) for name, law in instance.program.laws.items()}
    chunks += [text for text, _ in actions.values()] + [text for text, _ in laws.values()]
    chunks += [emit_names(emitter), _score(emitter)]
    source = "\n".join([*(text for _, text in emitter.texts), *chunks])
    emitter.texts.clear()
    space = _load(source, emitter, prose, layout)
    return Code(
        emitter,
        space,
        source,
        {name: make(space) for name, (_, make) in actions.items()},
        {name: make(space) for name, (_, make) in laws.items()},
    )


def _load(source: str, emitter: Emitter, prose: Any, layout: Layout) -> dict[str, Any]:
    from tokenworld.engine.describe import describe_runtime

    space: dict[str, Any] = {**RUNTIME, **emitter.constants, "P": prose}
    space.update(describe_runtime(emitter, space, layout))
    exec(compile(source, "<token world rules>", "exec"), space)  # generated from the model only
    return space


def compile_term(code: Code, term: Term, names: tuple[str, ...] = ()) -> Function:
    """A function ``(S, W, me, *names)`` for one more term, such as a goal or a check."""
    emitter = code.emitter
    inner = {name: emitter.fresh("a") for name in names}
    expression = emitter.term(term, inner)
    function = emitter.fresh("term")
    header = ", ".join((HEADER, *inner.values()))
    pieces = [text for _, text in emitter.texts]
    emitter.texts.clear()
    pieces.append(f"def {function}({header}):\n    return {expression}\n")
    extend(code, "\n".join(pieces))
    return code.space[function]  # type: ignore[no-any-return]


def compile_body(code: Code, body: Body, names: tuple[str, ...] = ()) -> Function:
    """A function ``(S, W, me, D, *names)`` for one more body: a setup, a given, a watch."""
    emitter = code.emitter
    inner = {name: emitter.fresh("a") for name in names}
    writer = BodyWriter(emitter)
    writer.body(body, inner, 1)
    function = emitter.fresh("body")
    header = ", ".join((HEADER, "D", *inner.values()))
    pieces = [text for _, text in emitter.texts]
    emitter.texts.clear()
    extend(code, "\n".join([*pieces, f"def {function}({header}):", *writer.lines, ""]))
    return code.space[function]  # type: ignore[no-any-return]


def extend(code: Code, source: str) -> None:
    """Load more generated source into the functions of an instance."""
    code.space.update(code.emitter.constants)
    exec(compile(source, "<token world rules>", "exec"), code.space)


# ---- derives ----------------------------------------------------------------------------


def _derive(emitter: Emitter, derive: Derive) -> str:
    name = emitter.derive_names[derive.name]
    names = _parameters(emitter, derive.params)
    emitter.suspect(derive.params, names)  # whoever calls it may name something destroyed
    header = ", ".join((HEADER, *names.values()))
    value = emitter.term(derive.value, names)
    if isinstance(derive.type, BoolType):
        value = f"bool({value})"
    if not derive.recursive:
        return f"def {name}({header}):\n    return {value}\n"
    key = f"({', '.join(names.values())}{',' if len(names) == 1 else ''})"
    bindings, inner = emitter.clauses(derive.params, None, {})
    row = f"({', '.join(inner.values())}{',' if len(inner) == 1 else ''})"
    every = f"[{row} {bindings}]" if bindings else "[()]"
    return (
        f"def {name}_once({header}):\n    return {value}\n"
        f"def {name}_all(S):\n    return {every}\n"
        f"def {name}({header}):\n"
        f"    return {key} in fixpoint(S, W, me, {emitter.const(derive.name)})\n"
        f"RECURSIVE[{emitter.const(derive.name)}] = ({name}_once, {name}_all)\n"
    )


def _score(emitter: Emitter) -> str:
    world = emitter.instance.world
    value = "0" if world.score is None else emitter.term(world.score, {})
    return f"def scored(S, W, me):\n    return {value}\n"


# ---- actions ----------------------------------------------------------------------------


def _parameters(emitter: Emitter, binders: tuple[Binder, ...]) -> dict[str, str]:
    return {binder.name: emitter.fresh("a") for binder in binders}


def _function(name: str, header: tuple[str, ...], lines: list[str]) -> str:
    return "\n".join([f"def {name}({', '.join(header)}):", *lines, ""])


def _holds(emitter: Emitter, name: str, action: Action, names: dict[str, str]) -> str:
    writer, inner = BodyWriter(emitter), dict(names)
    for guard in action.guards:
        if isinstance(guard, Let):
            writer.let(guard, inner, 1)
        else:
            writer.line(1, f"if not {emitter.term(guard.condition, inner)}:")
            writer.line(2, "return False")
    writer.line(1, "return True")
    return _function(name, (HEADER, *names.values()), writer.lines)


def _with_lets(
    emitter: Emitter, name: str, action: Action, names: dict[str, str], body: Body
) -> str:
    writer, inner = BodyWriter(emitter), dict(names)
    for guard in action.guards:
        if isinstance(guard, Let):
            writer.let(guard, inner, 1)
    writer.body(body, inner, 1)
    return _function(name, (HEADER, "D", *names.values()), writer.lines)


def _cancelled(emitter: Emitter, name: str, action: Action, names: dict[str, str]) -> str:
    """The body of a long action that ends early: what its requires promised need not hold now."""
    emitter.careful = True
    try:
        return _with_lets(emitter, name, action, names, action.cancelled)
    finally:
        emitter.careful = False


def _value(emitter: Emitter, name: str, action: Action, names: dict[str, str], term: Term) -> str:
    writer, inner = BodyWriter(emitter), dict(names)
    for guard in action.guards:
        if isinstance(guard, Let):
            writer.let(guard, inner, 1)
    writer.line(1, f"return {emitter.term(term, inner)}")
    return _function(name, (HEADER, *names.values()), writer.lines)


def _action(emitter: Emitter, action: Action) -> tuple[str, Callable[[dict[str, Any]], ActionCode]]:
    base, names = emitter.fresh("act"), _parameters(emitter, action.params)
    if action.takes is not None or breaking_off_destroys(emitter.instance.program):
        emitter.suspect(action.params, names)  # an argument may be destroyed before it is judged
    plain = Action(
        action.name, action.params, (), None, None, None, (), (), (), action.span
    )  # `takes` and `until` are tested before the lets of the body
    parts = [
        _holds(emitter, f"{base}_holds", action, names),
        _with_lets(emitter, f"{base}_run", action, names, action.body),
        _cancelled(emitter, f"{base}_cancel", action, names),
    ]
    if action.takes is None:
        parts.append(f"def {base}_ticks({', '.join((HEADER, *names.values()))}):\n    return 1\n")
    else:
        parts.append(_value(emitter, f"{base}_ticks", plain, names, action.takes))
    if action.until is not None:
        parts.append(_value(emitter, f"{base}_until", plain, names, action.until))
    if action.cost is not None:
        parts.append(_value(emitter, f"{base}_cost", action, names, action.cost))

    def make(space: dict[str, Any]) -> ActionCode:
        return ActionCode(
            action,
            space[f"{base}_holds"],
            space[f"{base}_run"],
            space[f"{base}_cancel"],
            space[f"{base}_ticks"],
            space.get(f"{base}_until"),
            space.get(f"{base}_cost"),
        )

    return "\n".join(parts), make


# ---- laws -------------------------------------------------------------------------------


def keyed(emitter: Emitter, binders: tuple[Binder, ...], names: dict[str, str]) -> str:
    """The expression of a rule's arguments in exchange form: the key of its draws."""
    parts = []
    for binder in binders:
        value, kind = names[binder.name], binder.type.kind
        if kind == "object":
            parts.append(f"S.names[{value}]")
        elif kind == "enum":
            members = emitter.instance.program.enums[binder.type.name].members  # type: ignore[union-attr]
            parts.append(f"{emitter.const(members)}[{value}]")
        elif isinstance(binder.type, NumberType) and binder.type.decimals:
            parts.append(f"shown_number({value}, {binder.type.decimals})")
        else:
            parts.append(value)
    return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"


def _law(emitter: Emitter, law: Law) -> tuple[str, Callable[[dict[str, Any]], LawCode]]:
    name = emitter.fresh("law")
    writer = BodyWriter(emitter)
    names, depth = writer.heads(law.params, law.when, {}, 1)
    row = ", ".join(names[binder.name] for binder in law.params)
    comma = "," if len(law.params) == 1 else ""
    title = emitter.const(f"law {law.name}")
    writer.line(depth, f"D.by({title}, ({row}{comma}), {keyed(emitter, law.params, names)})")
    writer.body(law.body, names, depth)
    text = _function(name, (HEADER, "D"), writer.lines)
    return text, lambda space: LawCode(law, space[name])


def compile_watch(code: Code, watch: Watch) -> Function:
    """``bindings(S, W, me)`` where the watch holds."""
    emitter = code.emitter
    clauses, inner = emitter.clauses(watch.params, watch.when, {})
    row = ", ".join(inner[binder.name] for binder in watch.params)
    comma = "," if len(watch.params) == 1 else ""
    name = emitter.fresh("watch")
    if watch.params:
        value = f"[({row}{comma}) {clauses}]"
    else:
        value = f"[()] if {emitter.term(watch.when, {})} else []"
    extend(code, f"def {name}({HEADER}):\n    return {value}\n")
    found: Function = code.space[name]
    return found


def guards_of(action: Action) -> tuple[tuple[Require, tuple[Let, ...]], ...]:
    """Each require of an action with the lets written before it."""
    found: list[tuple[Require, tuple[Let, ...]]] = []
    lets: list[Let] = []
    for guard in action.guards:
        if isinstance(guard, Let):
            lets.append(guard)
        else:
            found.append((guard, tuple(lets)))
    return tuple(found)
