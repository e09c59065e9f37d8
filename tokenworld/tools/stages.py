"""``tw explain --stages FILE:rule``: one rule, from its text to Python, PDDL and English."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass

from tokenworld.diagnostics import Diagnostic, Failure, Source, Span, did_you_mean
from tokenworld.model import Action, Law
from tokenworld.session.loading import Loaded, OpenWorld, compile_world
from tokenworld.syntax import nodes as syn

__all__ = ["Stage", "rule_stages"]


@dataclass(frozen=True, slots=True)
class Stage:
    """What one stage makes of a rule."""

    name: str
    text: str


def rule_stages(loaded: Loaded, path: str, name: str) -> tuple[Stage, ...]:
    """Source, tree, model, generated Python, PDDL and English of an action or a law.

    Raises `Failure` (TW0005) if the file has no such rule.
    """
    world = _first_world(loaded, path)
    rule = world.program.actions.get(name) or world.program.laws.get(name)
    if rule is None:
        known = [*world.program.actions, *world.program.laws]
        hint = did_you_mean(name, known) or "Name an action or a law of the file."
        raise Failure(Diagnostic("TW0005", f"`{path}` has no rule `{name}`.", hint=hint))
    return (
        Stage("source", _text(world, rule.span)),
        Stage("tree", "\n".join(dump(_item(world, rule)))),
        Stage("model", "\n".join(dump(rule))),
        Stage("python", _python(world, rule)),
        Stage("pddl", _pddl(world, rule)),
        Stage("english", _english(world, rule)),
    )


def _first_world(loaded: Loaded, path: str) -> OpenWorld:
    if not loaded.program.worlds:
        hint = "Write a `world` below the rules; the stages need one to number its objects."
        raise Failure(Diagnostic("TW0005", f"`{path}` has no world.", hint=hint))
    world = next(iter(loaded.program.worlds.values()))
    return OpenWorld(loaded, world, compile_world(loaded.program, world))


# ---- source and trees -------------------------------------------------------------------


def _source(world: OpenWorld, span: Span) -> Source:
    return next(one for one in world.loaded.sources if one.name == span.file)


def _text(world: OpenWorld, span: Span) -> str:
    return _source(world, span).text[span.start : span.end]


def _item(world: OpenWorld, rule: Action | Law) -> syn.Node:
    from tokenworld.syntax import parse_source

    kind = syn.ActionDecl if isinstance(rule, Action) else syn.LawDecl
    tree, _ = parse_source(_source(world, rule.span))
    items = (one.item if isinstance(one, syn.QuirkDecl) else one for one in tree.items)
    return next(one for one in items if isinstance(one, kind) and one.name.value == rule.name)


def dump(node: object, depth: int = 0, label: str = "") -> Iterator[str]:
    """A tree of frozen nodes, a line each, without the places."""
    margin, head = "  " * depth, f"{label}: " if label else ""
    if is_dataclass(node) and not isinstance(node, type):
        parts = [(f.name, getattr(node, f.name)) for f in fields(node)]
        parts = [(key, value) for key, value in parts if not _hidden(key, value)]
        plain = [f"{key}={value!r}" for key, value in parts if not _deep(value)]
        yield f"{margin}{head}{type(node).__name__}" + (f" {' '.join(plain)}" if plain else "")
        for key, value in parts:
            if _deep(value):
                yield from dump(value, depth + 1, key)
    elif isinstance(node, tuple):
        for index, value in enumerate(node):
            yield from dump(value, depth, f"{label}[{index}]")
    else:
        yield f"{margin}{head}{node!r}"


def _hidden(key: str, value: object) -> bool:
    """Places, kinds and what is not there."""
    return key in ("span", "kind") or value is None or value is False or value == ()


def _deep(value: object) -> bool:
    if isinstance(value, tuple):
        return any(_deep(part) for part in value)
    return is_dataclass(value) and not isinstance(value, (type, Span))


# ---- back-ends --------------------------------------------------------------------------


def _python(world: OpenWorld, rule: Action | Law) -> str:
    """The functions that were generated for the rule."""
    code = world.engine.code
    if isinstance(rule, Action):
        base = code.actions[rule.name].run.__name__.removesuffix("_run")
    else:
        base = code.laws[rule.name].run.__name__
    chunks = re.split(r"^(?=def )", code.source, flags=re.MULTILINE)
    own = [chunk.rstrip() for chunk in chunks if re.match(rf"def {base}(_|\()", chunk)]
    return "\n\n".join(own)


def _pddl(world: OpenWorld, rule: Action | Law) -> str:
    """The PDDL actions that stand for the rule; why there are none."""
    from tokenworld.session.exporting import export

    try:
        exported = export(world, None)
    except Failure as failure:
        return f"; {failure.diagnostics[0].message}"
    wanted = re.compile(rf"\(:action {re.escape(rule.name)}\b", re.IGNORECASE)
    blocks = [block for block in _blocks(exported.domain) if wanted.match(block)]
    if not blocks:
        return f"; the {exported.form} form has no action of its own for `{rule.name}`"
    rest = (
        [] if len(blocks) == 1 else [f"; … and {len(blocks) - 1} more of the {exported.form} form"]
    )
    return "\n".join([blocks[0], *rest])


def _blocks(domain: str) -> Iterator[str]:
    """The ``(:action …)`` blocks of a domain."""
    for found in re.finditer(r"\(:action ", domain):
        depth = 0
        for end in range(found.start(), len(domain)):
            depth += {"(": 1, ")": -1}.get(domain[end], 0)
            if depth == 0:
                yield domain[found.start() : end + 1]
                break


def _english(world: OpenWorld, rule: Action | Law) -> str:
    from tokenworld.prose.rulebook import rule_entry

    entry = rule_entry(world.program, rule)
    return "\n".join(f"{'  ' * depth}- {text}" for depth, text in entry.lines)


__all__ += ["dump"]
