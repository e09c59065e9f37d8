"""``tw explain``: the page of a diagnostic code, or one rule from text to PDDL (``--stages``)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tokenworld.assets import error_page
from tokenworld.core import lowered
from tokenworld.core.show import shown, shown_term
from tokenworld.diagnostics import (
    CODES,
    Diagnostic,
    Failure,
    Source,
    Span,
    did_you_mean,
    severity_of,
    title_of,
)
from tokenworld.engine import EngineSimulator
from tokenworld.ground import Instance
from tokenworld.ground.values import show_value, value_text
from tokenworld.model import Action, Law
from tokenworld.session.loading import Loaded, OpenWorld, compile_world
from tokenworld.syntax import nodes as syn
from tokenworld.verbs.output import EXIT_OK, Output

if TYPE_CHECKING:
    from tokenworld.engine.rows.code.program import Program
    from tokenworld.engine.rows.code.terms import TermWriter
    from tokenworld.planning.pddl.tree import PddlAction
    from tokenworld.planning.task import Operator, Task, Variable


@dataclass(frozen=True, slots=True)
class Stage:
    """The text of a rule after one stage."""

    name: str
    text: str


def rule_stages(loaded: Loaded, path: str, name: str) -> tuple[Stage, ...]:
    """Source, tree, model, core, stepper, operators, PDDL and English of an action or a law.

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
        Stage("core", "\n".join(_core(world, rule))),
        Stage("stepper", _stepper(world, rule)),
        Stage("operators", "\n".join(_operators(world, rule))),
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
    """Return whether a field is left out: places, kinds and empty values."""
    return key in ("span", "kind") or value is None or value is False or value == ()


def _deep(value: object) -> bool:
    if isinstance(value, tuple):
        return any(_deep(part) for part in value)
    return is_dataclass(value) and not isinstance(value, (type, Span))


def _core(world: OpenWorld, rule: Action | Law) -> list[str]:
    """Return the lines of a rule in core, and its footprint."""
    rules = lowered(world.program)
    if isinstance(rule, Action):
        action = rules.actions[rule.name]
        terms = {"takes": action.takes, "until": action.until, "cost": action.cost}
        cancelled = [f"cancelled: {line}" for line in shown(action.cancelled)]
        lines, touched = [*shown((*action.guards, *action.body)), *cancelled], action.footprint
    else:
        law = rules.laws[rule.name]
        terms, lines, touched = {"when": law.when}, shown(law.body), law.footprint
    before = [f"{word} {shown_term(term)}" for word, term in terms.items() if term is not None]
    named = (("reads", touched.reads), ("was", touched.was), ("writes", touched.writes),
             ("creates", touched.creates), ("asks", touched.asks))  # fmt: skip
    return [*before, *lines, *(f"# {what}: {', '.join(sorted(of))}" for what, of in named if of)]


_OF_ACTIONS = ("ok", "run", "cancel", "takes", "until")
_OF_LAWS = ("law", "turn")


# ---- back-ends --------------------------------------------------------------------------


def _code(world: OpenWorld) -> Program:
    """The rules of the world as functions on rows."""
    from tokenworld.engine.rows import RowStepper
    from tokenworld.prose.wording import EnglishProse

    engine = world.engine
    return RowStepper(engine.instance, engine.layout, EnglishProse(), engine.start()).code


def _stepper(world: OpenWorld, rule: Action | Law) -> str:
    """The functions on rows that were generated for the rule, and those that they call.

    Comments before them tell the parameters, and which fluent is at which place of a row.
    """
    from tokenworld.engine.rows import rule_code

    kinds = _OF_ACTIONS if isinstance(rule, Action) else _OF_LAWS
    code = _code(world)
    text = rule_code(code, kinds, rule.name)
    rules = lowered(world.program)
    of = rules.actions if isinstance(rule, Action) else rules.laws
    return "\n".join((_PARAMETERS, *_places(code.writer, of[rule.name].footprint.touched), text))


_PARAMETERS = """\
# S, W: the rows of the state now and at the start of the tick; C: the slots that play never changes
# me: the number of the actor; a0, a1: the arguments; D: collects the changes, draws and texts"""


def _places(writer: TermWriter, fluents: Iterable[str]) -> Iterator[str]:
    """For each fluent that a rule touches, its place in the row of a state, as a comment."""
    for name in sorted(fluents):
        store = writer.slots.by_id[name]
        if store.column.single or store.column.by_object or store.strided:
            params = [one.name for one in store.column.fluent.params]
            place = f"{writer.row(store, False)}[{writer.slot(store, params)}]"
            yield f"# {place}: {name}({', '.join(params)})"


def _operators(world: OpenWorld, rule: Action | Law) -> Iterator[str]:
    """The first operator of a rule in the task for planners, or the reason that there is none.

    A law has the operator of its phase.
    """
    from tokenworld.planning.lower.encode import Unencodable, encode

    start = world.engine.start()
    simulator = EngineSimulator(world.engine, start)
    instance = simulator.instance_at(start)
    found = encode(instance, simulator, start, None, grouped=False)
    if isinstance(found, Unencodable):
        yield from (f"; {one.construct}: {one.reason}" for one in found.obstacles[:1])
        return
    task = found.plain or found.task
    operators = [one for one in task.operators if _is_operator_of(one, rule)]
    if not operators:
        yield "; none: it applies in no reachable state, or the goal needs nothing that it changes"
        return
    yield from _operator_lines(task, operators[0], instance)
    if len(operators) > 1:
        yield f"; … and {len(operators) - 1} more"


def _is_operator_of(operator: Operator, rule: Action | Law) -> bool:
    if isinstance(rule, Action):
        return operator.command is not None and operator.command.action == rule.name
    words = operator.name.split(maxsplit=1)[1]
    phase = f"phase {rule.phase}" if rule.phase else "laws"
    return words == phase or words.startswith((f"{phase} ", f"draw law {rule.name}"))


_MOST_EFFECTS = 12


def _operator_lines(task: Task, operator: Operator, instance: Instance) -> Iterator[str]:
    """An operator with its literals in the author's words: ``if`` lines, then effects."""

    def value(variable: Variable, position: int) -> str:
        raw = variable.values[position]
        if variable.fluent is None:
            return "none" if raw is None else str(raw)
        kind = instance.program.fluents[variable.fluent].type
        return value_text(show_value(instance.program, instance.names, kind, raw))

    def literal(number: int, positions: tuple[int, ...]) -> str:
        variable = task.variables[number]
        first, last = (value(variable, positions[end]) for end in (0, -1))
        if len(positions) > 2 and positions == tuple(range(positions[0], positions[-1] + 1)):
            return f"{variable.name} in {first}..{last}"
        return f"{variable.name} = {' or '.join(value(variable, one) for one in positions)}"

    yield operator.name.split(maxsplit=1)[1]
    yield from (f"  if {literal(*one)}" for one in operator.precondition)
    for one in operator.effects[:_MOST_EFFECTS]:
        tests = " and ".join(literal(*test) for test in one.conditions)
        changed = literal(one.variable, (one.value,)).replace(" = ", " := ", 1)
        yield f"  {changed}" + (f" if {tests}" if tests else "")
    if len(operator.effects) > _MOST_EFFECTS:
        yield f"  … and {len(operator.effects) - _MOST_EFFECTS} more effects"


def _pddl(world: OpenWorld, rule: Action | Law) -> str:
    """The first PDDL action of a rule, or the reason that there is none.

    A law has the action of its phase.
    """
    from tokenworld.session.pddl import export

    try:
        exported = export(world, None)
    except Failure as failure:
        return f"; {failure.diagnostics[0].message}"
    actions = zip(exported.pair.domain.actions, _blocks(exported.domain), strict=True)
    blocks = [block for action, block in actions if _is_pddl_of(action, rule)]
    if not blocks:
        return f"; the {exported.form} form has no action for `{rule.name}`"
    rest = (
        [] if len(blocks) == 1 else [f"; … and {len(blocks) - 1} more of the {exported.form} form"]
    )
    return "\n".join([blocks[0], *rest])


def _is_pddl_of(action: PddlAction, rule: Action | Law) -> bool:
    """Return whether a PDDL action is one of an action, or of the phase of a law."""
    if isinstance(rule, Law):
        laws = action.comment.partition(": ")[2].split(", ")
        phase = f"phase-{rule.phase}" if rule.phase else "laws"
        drawn = action.name.startswith(f"draw-law-{rule.name}-")
        return rule.name in laws or action.name == phase or drawn
    wanted = rf"(break-off-)?{re.escape(rule.name)}(-|$)"
    return re.match(wanted, action.name, re.IGNORECASE) is not None


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


def explain(
    what: Annotated[str | None, "A code (TW0403); with --stages a FILE or FILE:rule."],
    out: Output,
    *,
    stages: Annotated[bool, "Show each stage from the text to the tick."] = False,
) -> int:
    """``tw explain``: a code, or with ``stages`` (or nothing to explain) the way to the tick."""
    return explain_stages(what, out) if stages or what is None else explain_code(what, out)


def explain_code(code: str, out: Output) -> int:
    """One diagnostic code: its page, which begins with its title and severity."""
    name = code.upper()
    if name not in CODES:
        hint = did_you_mean(name, CODES) or "Codes look like `TW0403`."
        raise Failure(Diagnostic("TW0005", f"There is no diagnostic `{code}`.", hint=hint))
    page = error_page(name).read_text(encoding="utf-8").rstrip("\n")
    out.line(page)
    out.json(
        {
            "schema_version": 1,
            "code": name,
            "severity": severity_of(name),
            "title": title_of(name),
            "page": page,
        }
    )
    return EXIT_OK


def explain_stages(target: str | None, out: Output) -> int:
    """Print the passes from a text to a running world; with a file also the Python generated from
    it; with `FILE:rule` the result of every stage for one action or law."""
    from tokenworld.check import PASSES

    stages = [
        "parse: text to a syntax tree, every item on its own",
        "load: the modules that it uses, each once, used ones first",
    ]
    stages += [f"check, {step.name}: {step.settles}" for step in PASSES]
    stages += [
        "instantiate: objects numbered, params fixed",
        "compile: Python on rows of slots, generated from core",
        "tick: intent, requires, effects, phases, invariants, commit, goals, watches",
    ]
    result: dict[str, object] = {"schema_version": 1, "stages": stages}
    rule = _rule_of(target)
    if rule is not None:
        result["rule"] = _one_rule(*rule, out)
        out.json(result)
        return EXIT_OK
    for stage in stages:
        out.line(stage)
    if target is not None:
        result["python"] = _generated(target, out)
    out.json(result)
    return EXIT_OK


def _rule_of(target: str | None) -> tuple[Loaded, str, str] | None:
    """`FILE:rule` taken apart; a world's name after the colon is no rule."""
    from tokenworld.session.loading import load_program, split_target

    path, name = (Path(), None) if target is None else split_target(target)
    if name is None:
        return None
    loaded = load_program(path)
    return None if name in loaded.program.worlds else (loaded, str(path), name)


def _one_rule(loaded: Loaded, path: str, rule: str, out: Output) -> dict[str, str]:

    found = rule_stages(loaded, path, rule)
    for index, stage in enumerate(found):
        out.line(f"{'' if index == 0 else chr(10)}== {stage.name}")
        out.line(stage.text)
    return {stage.name: stage.text for stage in found}


def _constant(value: object) -> str:
    """A constant of the generated code, the same in each process."""
    if isinstance(value, frozenset):
        return f"frozenset({{{', '.join(sorted(map(repr, value)))}}})"
    return repr(value)


def _generated(target: str, out: Output) -> str:
    from tokenworld.session import open_world

    world = open_world(target)
    out.line("")
    out.line(f"# generated from {Path(target).name}")
    code = _code(world)
    for name in world.program.actions:
        code.find("run", name)
    for name in world.program.laws:
        code.find("law", name)
    for name, value in code.writer.constants.items():
        if isinstance(value, (frozenset, tuple)):
            out.line(f"{name} = {_constant(value)}")
    out.line(code.source)
    return code.source
