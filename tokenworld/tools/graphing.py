"""``tw graph``: which rule enables, feeds or blocks which, as Mermaid, DOT or JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from tokenworld.diagnostics import Diagnostic, Failure, did_you_mean
from tokenworld.ground.influence import Influence, Node, influences, nodes
from tokenworld.session.loading import choose_world, load_program, split_target
from tokenworld.tools.output import EXIT_OK, Output

__all__ = ["graph"]

Format = Literal["mermaid", "dot"]

_MERMAID = {"enables": "-->", "feeds": "-.->", "blocks": "--x"}
_DOT = {
    "enables": 'color="#1b7837"',
    "feeds": 'color="#4575b4", style=dashed',
    "blocks": 'color="#b2182b", arrowhead=tee',
}
_SHAPES = {
    "action": ("[", "]", "box"),
    "law": ("([", "])", "ellipse"),
    "watch": ("[/", "/]", "parallelogram"),
    "invariant": ("{{", "}}", "hexagon"),
    "goal": ("((", "))", "doublecircle"),
    "lose": ("((", "))", "doublecircle"),
    "stop": ("((", "))", "doublecircle"),
}


def graph(target: str, out: Output, form: Format, rule: str | None) -> int:
    """Print the graph of a file's rules and of one world's endings."""
    path, name = split_target(target)
    program = load_program(path).program
    several = len(program.worlds) > 1 and name is None
    world = choose_world(program, name, target) if program.worlds and not several else None
    every, found = nodes(program, world), influences(program, world)
    if rule is not None:
        every, found = _around(rule, every, found)
    out.line(_mermaid(every, found) if form == "mermaid" else _dot(every, found))
    out.json(
        {
            "schema_version": 1,
            "nodes": [{"kind": n.kind, "name": n.name, "place": str(n.span)} for n in every],
            "edges": [
                {
                    "from": one.source.title,
                    "to": one.target.title,
                    "kind": one.kind,
                    "by": list(one.by),
                }
                for one in found
            ],
        }
    )
    return EXIT_OK


def _around(
    rule: str, every: Sequence[Node], found: Sequence[Influence]
) -> tuple[tuple[Node, ...], tuple[Influence, ...]]:
    """One rule with what it influences and what influences it."""
    if rule not in {node.name for node in every}:
        hint = did_you_mean(rule, [node.name for node in every]) or "Name an action, law or goal."
        raise Failure(Diagnostic("TW0005", f"There is no rule `{rule}`.", hint=hint))
    edges = tuple(one for one in found if rule in (one.source.name, one.target.name))
    kept = {rule} | {node.name for one in edges for node in (one.source, one.target)}
    return tuple(node for node in every if node.name in kept), edges


def _ids(every: Sequence[Node]) -> dict[str, str]:
    return {node.title: f"n{index}" for index, node in enumerate(every)}


def _mermaid(every: Sequence[Node], found: Sequence[Influence]) -> str:
    ids = _ids(every)
    lines = ["flowchart LR"]
    for node in every:
        left, right, _ = _SHAPES[node.kind]
        label = node.title.replace('"', "#quot;")
        lines.append(f'  {ids[node.title]}{left}"{label}"{right}')
    for one in found:
        label = ", ".join(one.by).replace('"', "#quot;")
        arrow = _MERMAID[one.kind]
        lines.append(f'  {ids[one.source.title]} {arrow}|"{label}"| {ids[one.target.title]}')
    return "\n".join(lines)


def _dot(every: Sequence[Node], found: Sequence[Influence]) -> str:
    ids = _ids(every)
    lines = ["digraph rules {", "  rankdir=LR;", '  node [fontname="sans-serif"];']
    for node in every:
        lines.append(f"  {ids[node.title]} [label={_quoted(node.title)}, "
                     f"shape={_SHAPES[node.kind][2]}];")  # fmt: skip
    for one in found:
        label = _quoted(", ".join(one.by))
        ends = f"{ids[one.source.title]} -> {ids[one.target.title]}"
        lines.append(f"  {ends} [label={label}, {_DOT[one.kind]}];")
    return "\n".join([*lines, "}"])


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
