"""``tw rules``, ``graph``, ``schema``, ``model``: print a program."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal, assert_never

from tokenworld.diagnostics import (
    Diagnostic,
    Failure,
    Source,
    did_you_mean,
    fields_json,
)
from tokenworld.ground.influence import Influence, Node, influences, nodes
from tokenworld.model.schema import program_schema, program_to_json
from tokenworld.session.loading import choose_world, load_program, split_target
from tokenworld.syntax import nodes as syn
from tokenworld.syntax import parse_source
from tokenworld.verbs import options as opt
from tokenworld.verbs.output import EXIT_OK, Output

Format = Literal["mermaid", "dot", "svg"]

_SEVERAL = "enables, feeds or blocks"
_MERMAID = {"enables": "-->", "feeds": "-.->", "blocks": "--x", _SEVERAL: "==>"}
_DOT = {
    "enables": 'color="#1b7837"',
    "feeds": 'color="#4575b4", style=dashed',
    "blocks": 'color="#b2182b", arrowhead=tee',
    _SEVERAL: 'color="#333333", penwidth=2',
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


def graph(
    target: opt.World,
    out: Output,
    *,
    form: Annotated[
        Format, opt.Option("--format"), "mermaid, dot, or svg (by Graphviz)."
    ] = "mermaid",
    rule: Annotated[str | None, "Only this rule and its neighbours."] = None,
) -> int:
    """Print the graph of a file's rules and of one world's endings."""
    path, name = split_target(target)
    program = load_program(path).program
    several = len(program.worlds) > 1 and name is None
    world = choose_world(program, name, target) if program.worlds and not several else None
    every, found = nodes(program, world), influences(program, world)
    if rule is not None:
        every, found = _around(rule, every, found)
    out.line(_drawn(form, every, found))
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
    """Return one rule with its neighbours: the rules that it influences or that influence it."""
    if rule not in {node.name for node in every}:
        hint = did_you_mean(rule, [node.name for node in every]) or "Name an action, law or goal."
        raise Failure(Diagnostic("TW0005", f"There is no rule `{rule}`.", hint=hint))
    edges = tuple(one for one in found if rule in (one.source.name, one.target.name))
    kept = {rule} | {node.name for one in edges for node in (one.source, one.target)}
    return tuple(node for node in every if node.name in kept), edges


def _ids(every: Sequence[Node]) -> dict[str, str]:
    return {node.title: f"n{index}" for index, node in enumerate(every)}


def _drawn(form: Format, every: Sequence[Node], found: Sequence[Influence]) -> str:
    match form:
        case "mermaid":
            return _mermaid(every, found)
        case "dot":
            return _dot(every, found)
        case "svg":
            return _svg(_dot(every, found))
        case _:
            assert_never(form)


def _arrows(found: Sequence[Influence]) -> Iterator[tuple[str, str, str, str]]:
    """One arrow between two rules, with all that the first does to the second.

    Yields both titles, the kind of the arrow, and its label.
    """
    pairs: dict[tuple[str, str], list[Influence]] = {}
    for one in found:
        pairs.setdefault((one.source.title, one.target.title), []).append(one)
    for (source, target), several in pairs.items():
        if len(several) == 1:
            yield source, target, several[0].kind, ", ".join(several[0].by)
            continue
        kinds: dict[tuple[str, ...], list[str]] = {}
        for fluent in dict.fromkeys(name for one in several for name in one.by):
            doing = tuple(one.kind for one in several if fluent in one.by)
            kinds.setdefault(doing, []).append(fluent)
        told = (f"{', '.join(doing)}: {', '.join(names)}" for doing, names in kinds.items())
        yield source, target, _SEVERAL, "; ".join(told)


def _mermaid(every: Sequence[Node], found: Sequence[Influence]) -> str:
    ids = _ids(every)
    lines = ["flowchart LR"]
    for node in every:
        left, right, _ = _SHAPES[node.kind]
        label = node.title.replace('"', "#quot;")
        lines.append(f'  {ids[node.title]}{left}"{label}"{right}')
    for source, target, kind, by in _arrows(found):
        label = by.replace('"', "#quot;")
        lines.append(f'  {ids[source]} {_MERMAID[kind]}|"{label}"| {ids[target]}')
    lines.append('  subgraph legend ["Legend: an arrow names what the first rule writes"]')
    for number, (kind, arrow) in enumerate(_MERMAID.items()):
        lines.append(f'    a{number}["a rule"] {arrow}|"{kind}"| b{number}["another"]')
    return "\n".join([*lines, "  end"])


def _dot(every: Sequence[Node], found: Sequence[Influence]) -> str:
    from tokenworld.planning.space.drawing import dot_quoted

    ids = _ids(every)
    lines = ["digraph rules {", "  rankdir=LR;", '  node [fontname="sans-serif"];']
    for node in every:
        lines.append(f"  {ids[node.title]} [label={dot_quoted(node.title)}, "
                     f"shape={_SHAPES[node.kind][2]}];")  # fmt: skip
    for source, target, kind, by in _arrows(found):
        ends = f"{ids[source]} -> {ids[target]}"
        lines.append(f"  {ends} [label={dot_quoted(by)}, {_DOT[kind]}];")
    lines += ["  subgraph cluster_legend {", '    label="Legend"; node [shape=plaintext];']
    for number, (kind, look) in enumerate(_DOT.items()):
        ends = f'a{number} [label="a rule"]; b{number} [label="another"]; a{number} -> b{number}'
        lines.append(f'    {ends} [label="{kind}", {look}];')
    return "\n".join([*lines, "  }", "}"])


def _svg(text: str) -> str:
    """Draw DOT text by Graphviz. Raises `Failure` TW0811 where `dot` is missing or fails."""
    program = shutil.which("dot")
    if program is None:
        hint = "Install Graphviz (`apt install graphviz`), or print `--format mermaid`."
        raise Failure(Diagnostic("TW0811", "`--format svg` needs Graphviz.", hint=hint))
    done = subprocess.run(
        [program, "-Tsvg"], input=text.encode(), capture_output=True, check=False
    )  # fmt: skip
    if done.returncode:
        reason = done.stderr.decode(errors="replace").strip().partition("\n")[0]
        hint = "Print `--format dot`, and draw it with another program."
        raise Failure(Diagnostic("TW0812", f"Graphviz failed: {reason}.", hint=hint))
    return done.stdout.decode().rstrip()


def model(
    file: Annotated[str, "A file to check and print."],
    out: Output,
) -> int:
    """The checked model of a file; its errors if it is not sound."""
    loaded = load_program(split_target(file)[0])
    out.json({"schema_version": 1, "program": program_to_json(loaded.program)})
    return EXIT_OK


def schema(out: Output) -> int:
    """The JSON schema of what ``tw model`` prints under ``program``."""
    out.json(program_schema())
    return EXIT_OK


def rules(
    file: Annotated[str, "The file."],
    out: Output,
    *,
    context: Annotated[bool, "Three texts for a language model: actions, objects, score."] = False,
    signatures: Annotated[bool, "Only what can be named: declarations without bodies."] = False,
) -> int:
    """``tw rules``: the rulebook of a file, with ``context`` the prompt of a language model, with
    ``signatures`` the declarations without bodies."""
    if signatures:
        return _signatures(file, out)
    return _context(file, out) if context else _rulebook(file, out)


_HEAD = re.compile(r'(?:"[^"\\\n]*(?:\\.[^"\\\n]*)*"|#[^\n]*|[^"#{])*')


def _signatures(file: str, out: Output) -> int:
    """Print the signatures of a file and of the modules that it uses."""
    loaded = load_program(split_target(file)[0])
    found = []
    for source in loaded.sources:
        if lines := [
            text for item in parse_source(source)[0].items for text in _head(item, source)
        ]:
            found.append({"file": source.name, "signatures": lines})
            out.line("\n".join([f"# {source.name}", *lines]))
    out.json({"schema_version": 1, "files": found})
    return EXIT_OK


def _head(item: syn.Item, source: Source) -> Iterable[str]:
    """Return the declaration of an item that others can name; empty for a law or a scenario."""
    shown = _HEADS.get(type(item))
    return () if shown is None else shown(item, source)


def _whole(item: syn.Node, source: Source) -> tuple[str, ...]:
    return (source.text[item.span.start : item.span.end],)


def _bodiless(item: syn.Node, source: Source) -> tuple[str, ...]:
    return (_before_body(source.text[item.span.start : item.span.end]),)


def _derive(item: syn.DeriveDecl, source: Source) -> tuple[str, ...]:
    first = item.lets[0] if item.lets else item.value
    head = source.text[item.span.start : first.span.start].rstrip()
    return (head.removesuffix("=").rstrip(),)


def _world(item: syn.WorldDecl, source: Source) -> Iterator[str]:
    yield f"{_bodiless(item, source)[0]} {{"
    yield from (f"  {_in_world(one, source)}" for one in item.items if _is_named(one))
    yield "}"


_HEADS: Mapping[type[syn.Node], Callable[[Any, Source], Iterable[str]]] = {
    **dict.fromkeys((syn.UnitDecl, syn.EnumDecl, syn.TypeDecl, syn.ObjectDecl), _whole),
    **dict.fromkeys((syn.ActorDecl, syn.RelationDecl, syn.FunctionDecl, syn.ParamDecl), _whole),
    **dict.fromkeys((syn.EventDecl, syn.UseDecl), _whole),
    **dict.fromkeys((syn.ActionDecl, syn.TableDecl, syn.EffectDecl), _bodiless),
    syn.DeriveDecl: _derive,
    syn.WorldDecl: _world,
    syn.QuirkDecl: lambda quirk, source: _head(quirk.item, source),
}


def _before_body(text: str) -> str:
    found = _HEAD.match(text)
    return text if found is None else found[0].rstrip()


def _is_named(item: syn.WorldItem) -> bool:
    return isinstance(item, (syn.ObjectDecl, syn.Ending))


def _in_world(item: syn.WorldItem, source: Source) -> str:
    """Return an object without its fields, an ending without its condition."""
    if isinstance(item, syn.Ending):
        return f"{item.kind} {item.name.value}"
    return _bodiless(item, source)[0]


def _rulebook(file: str, out: Output) -> int:
    """The rulebook of a file: Markdown, or its sections as JSON."""
    from tokenworld.prose.rulebook import rulebook

    book = rulebook(load_program(split_target(file)[0]).program)
    out.line(book.to_markdown())
    sections = [
        {
            "title": section.title,
            "entries": [
                {
                    **fields_json(entry, "lines"),
                    "lines": [{"depth": depth, "text": text} for depth, text in entry.lines],
                }
                for entry in section.entries
            ],
        }
        for section in book.sections
    ]
    out.json({"schema_version": 1, "title": book.title, "sections": sections})
    return EXIT_OK


def _context(target: str, out: Output) -> int:
    """The rules of one world as the prompt of a language model: actions, objects, score."""
    from tokenworld.prose.rulebook import rule_context

    path, name = split_target(target)
    program = load_program(path).program
    found = rule_context(program, choose_world(program, name, str(path)))
    texts = {"action": found.actions, "object": found.objects, "score": found.score}
    for kind, text in texts.items():
        out.line(f"# {kind} rules\n\n{text}\n")
    out.json({"schema_version": 1, **{f"{kind}_rules": text for kind, text in texts.items()}})
    return EXIT_OK
