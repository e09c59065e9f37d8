"""The worlds pass: objects, fields, endings, policies, recorded states (language.md §9, §12)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import assert_never

from tokenworld import model as m
from tokenworld.check.draft import Draft
from tokenworld.check.typing.arithmetic import fit
from tokenworld.check.typing.context import Context
from tokenworld.check.typing.expressions import check, check_condition
from tokenworld.check.typing.names import object_named
from tokenworld.check.typing.statements import check_block, check_fields, text_of
from tokenworld.check.typing.types import MOST_REPEATED, is_subtype, object_type, whole
from tokenworld.check.vocabulary import (
    cells_of,
    check_constant,
    check_layout,
    created_by_name,
    fresh,
    named_creations,
)
from tokenworld.diagnostics import Failure, Related, Source, Span, did_you_mean
from tokenworld.model import effects_in
from tokenworld.syntax import nodes as syn


def check_objects(draft: Draft) -> None:
    """Objects declared outside worlds, then those of each world."""
    for item, _ in draft.items(syn.ObjectDecl):
        _objects(draft, None, item)
    for world, _ in draft.items(syn.WorldDecl):
        making = _making(world)
        for inner in world.items:
            if isinstance(inner, syn.ObjectDecl):
                _objects(draft, world.name.value, inner, _unborn(making, inner))


def _objects(
    draft: Draft, world: str | None, item: syn.ObjectDecl, later: frozenset[str] = frozenset()
) -> None:
    kind = item.type.value if item.type is not None else m.ROOT
    if item.type is not None and kind != m.ROOT and kind not in draft.types:
        hint = did_you_mean(kind, draft.types) or f"Declare `type {kind}`."
        what = f"There is no type `{kind}`."
        draft.tell("TW0202", what, item.type.span, "unknown type", hint)
        return
    if kind == m.ROOT:
        draft.types.setdefault(m.ROOT, m.ObjectKind(m.ROOT, (), (m.ROOT,), (), (), item.span))
    ctx = Context(draft, world=world, was=False, unborn=later)
    aka = tuple(
        term
        for word in item.aka
        if (term := draft.attempt(lambda w=word: fit(check(w, ctx, m.TEXT), m.TEXT, ctx, "name")))  # type: ignore[misc]
    )
    fields = check_fields(item.fields, kind, ctx)
    title = item.title.value if item.title is not None else None
    for name in item.names:
        key = name.value if world is None else f"{world}/{name.value}"
        typed = item.type is not None
        decl = m.ObjectDecl(name.value, kind, title, aka, fields, world, name.span, typed)
        draft.objects.setdefault(key, decl)


def param_setting(draft: Draft, name: syn.Name, value: syn.Expr, ctx: Context) -> m.ParamSetting:
    """``param p = v`` of a world, or ``p = v`` in a `given`."""
    if name.value not in draft.params:
        draft.unknown("param", name, draft.params)
    kind = draft.params[name.value].type
    term = fit(check(value, ctx, kind), kind, ctx, f"param `{name.value}`")
    check_constant(term, draft, f"param `{name.value}`")
    return m.ParamSetting(name.value, term, name.span)


@dataclass(slots=True)
class _Settings:
    """The lines of one world as they are read."""

    ctx: Context
    setups: list[m.Body] = field(default_factory=list)
    endings: dict[str, m.Ending] = field(default_factory=dict)
    awards: list[m.Award] = field(default_factory=list)
    pays: list[m.Award] = field(default_factory=list)
    params: list[m.ParamSetting] = field(default_factory=list)
    spares: list[m.Spare] = field(default_factory=list)
    turns: tuple[str, ...] = ()
    time_always: bool = False
    ambiguous: str = "first"
    endless: bool = False
    outcomes: str = "latched"
    start: m.StartFile | None = None
    score: m.Term | None = None
    layouts: list[m.Layout] = field(default_factory=list)
    written: dict[str, Span] = field(default_factory=dict)


def check_worlds(draft: Draft) -> None:
    """Every world of the root file."""
    for item, _ in draft.items(syn.WorldDecl):
        if not fresh(draft, "world", item.name, draft.worlds):
            continue
        ctx = Context(draft, world=item.name.value, was=False, me=not _several_turns(item))
        lines, making = _Settings(ctx), _making(item)
        for line in _in_order(item):
            lines.ctx = replace(ctx, unborn=_unborn(making, line))
            draft.attempt(lambda line=line, lines=lines: _line(line, lines))  # type: ignore[misc]
        draft.worlds[item.name.value] = _world(item, lines)
        _complete(draft, draft.worlds[item.name.value])


def _in_order(item: syn.WorldDecl) -> list[syn.WorldItem]:
    """The lines as they take effect: layouts before setups, each as written."""
    return sorted(item.items, key=lambda line: isinstance(line, syn.Setup))


_Making = list[tuple[syn.WorldItem, frozenset[str]]]


def _making(item: syn.WorldDecl) -> _Making:
    """The lines of a world that create objects, as they take effect; each with the names of those
    that do not exist yet where it does. Cells are there before all of them."""
    found: _Making = []
    later = frozenset[str]()
    for line in reversed(_in_order(item)):
        if isinstance(line, (syn.Layout, syn.Setup)):
            later = later.union(one.name.value for one in created_by_name(line))
            found.append((line, later))
    return found[::-1]


def _unborn(making: _Making, line: syn.WorldItem) -> frozenset[str]:
    """The named objects that do not exist yet where a line of the world takes effect."""
    if not making or not isinstance(line, (syn.ObjectDecl, syn.Layout, syn.Setup, syn.Tune)):
        return frozenset()
    first = next((names for one, names in making if one is line), making[0][1])
    if isinstance(line, syn.Tune):  # settled before there are cells
        layouts = [one for one, _ in making if isinstance(one, syn.Layout)]
        return first.union(name for layout in layouts for name in cells_of(layout))
    return first


def _born(line: syn.WorldItem) -> Iterator[tuple[syn.Name, syn.Name]]:
    """The names and types of the objects that a layout or a setup creates, in written order."""
    if isinstance(line, syn.Layout):
        yield from ((syn.Name(line.span, name), line.type) for name in cells_of(line))
    yield from ((one.name, one.type) for one in created_by_name(line))


def _several_turns(item: syn.WorldDecl) -> bool:
    return any(isinstance(line, syn.Turns) and len(line.actors) > 1 for line in item.items)


def _world(item: syn.WorldDecl, lines: _Settings) -> m.World:
    title = item.title.value if item.title is not None else item.name.value.replace("_", " ")
    return m.World(
        item.name.value, title, tuple(lines.setups), tuple(lines.endings.values()),
        tuple(lines.awards), tuple(lines.pays), lines.score, tuple(lines.params),
        tuple(lines.spares), lines.turns, lines.time_always, lines.ambiguous,  # type: ignore[arg-type]
        lines.endless, lines.outcomes, lines.start, item.span,  # type: ignore[arg-type]
        tuple(lines.layouts),
        tuple(m.Born(name.value, of.value, name.span) for line in _in_order(item)
              for name, of in _born(line)),
    )  # fmt: skip


def _line(line: syn.WorldItem, lines: _Settings) -> None:
    ctx, draft = lines.ctx, lines.ctx.draft
    match line:
        case syn.Ending():
            _ending(line, lines)
        case syn.Setup(block=block):
            lines.setups.append(named_creations(check_block(block, ctx, "setup")))
        case syn.Layout():
            lines.layouts.append(check_layout(line, ctx))
        case syn.Award(amount=amount, condition=condition):
            lines.awards.append(_award(amount, condition, line, ctx))
        case syn.Pays(amount=amount, condition=condition):
            lines.pays.append(_award(amount, condition, line, ctx))
        case syn.Tune(name=name, value=value):
            _once(f"param {name.value}", line, lines)
            lines.params.append(param_setting(draft, name, value, ctx))
        case syn.Score(value=value):
            _once("score", line, lines)
            lines.score = check(value, ctx)
            if not isinstance(lines.score.type, (m.NumberType, m.RealType)):
                fit(lines.score, m.NumberType(), ctx, "score")
        case syn.Spare(type=kind, count=count):
            of = object_type(draft, kind)
            _once(f"spare {of}", line, lines)
            lines.spares.append(m.Spare(of, whole(draft, count, 0, MOST_REPEATED), line.span))
        case syn.ObjectDecl():
            pass  # checked by `check_objects`
        case _:
            _policy(line, lines)


def _once(what: str, line: syn.WorldItem, lines: _Settings) -> None:
    """Report a second line that would set the same thing."""
    if what in lines.written:
        related = (Related(lines.written[what], "the first one"),)
        said = f"The world says `{what}` twice."
        lines.ctx.draft.stop("TW0203", said, line.span, "again", "Keep one line of it.", related)
    lines.written[what] = line.span


_Policy = (
    syn.TimePolicy | syn.Turns | syn.Ambiguous | syn.Endless | syn.OutcomePolicy | syn.StartFile
)


def _policy(line: _Policy, lines: _Settings) -> None:
    draft = lines.ctx.draft
    match line:
        case syn.TimePolicy(policy=policy):
            if policy.value not in ("always", "executed"):
                hint = "Write `time passes executed` or `time passes always`."
                draft.stop("TW0601", "Time has no such policy.", policy.span, "unknown", hint)
            _once("time passes", line, lines)
            lines.time_always = policy.value == "always"
        case syn.Turns(actors=actors):
            _once("turns", line, lines)
            lines.turns = tuple(actor_named(actor, lines.ctx) for actor in actors)
            for position, actor in enumerate(actors):
                if lines.turns[position] in lines.turns[:position]:
                    what = f"`{actor.value}` takes two turns in a round."
                    draft.stop("TW0203", what, actor.span, "named again", "Name it once.")
        case syn.Ambiguous(policy=word):
            _once("ambiguous", line, lines)
            lines.ambiguous = word
        case syn.Endless():
            lines.endless = True
        case syn.OutcomePolicy(policy=word):
            _once("outcomes", line, lines)
            lines.outcomes = word
        case syn.StartFile(path=path):
            _once("start", line, lines)
            lines.start = recorded_state(path, line.span, draft)
        case _:
            assert_never(line)


def actor_named(name: syn.Name, ctx: Context) -> str:
    """The object that an actor's name means; it must be of the type that acts."""
    draft = ctx.draft
    found = object_named(name, ctx)
    if found is None:
        known = [one for world, one in draft.object_types if world in (None, ctx.world)]
        hint = did_you_mean(name.value, known) or "Name an object of the world."
        draft.stop("TW0201", f"There is no object `{name.value}`.", name.span, "unknown", hint)
    of = draft.object_types.get((ctx.world, found.name), draft.object_types.get((None, found.name)))
    if draft.actor is not None and not is_subtype(draft.types, of or m.ROOT, draft.actor):
        what = f"`{name.value}` is {of}, and only {draft.actor} acts."
        hint = f"Name an object of the type `{draft.actor}`."
        draft.stop("TW0301", what, name.span, "does not act", hint)
    return found.name


def _ending(line: syn.Ending, lines: _Settings) -> None:
    ctx = lines.ctx
    if line.name.value in lines.endings:
        first = lines.endings[line.name.value].span
        related = (Related(first, "first declared here"),)
        what = f"The ending `{line.name.value}` is declared twice."
        ctx.draft.stop("TW0203", what, line.name.span, "again", "Rename one.", related)
    condition = check_condition(line.condition, replace(ctx, over_time=True))
    text = text_of(line.text, ctx)
    source = ctx.quoted(condition)
    ending = m.Ending(line.kind, line.name.value, condition, text, source, line.span)
    lines.endings[line.name.value] = ending


def _award(amount: syn.Expr, condition: syn.Expr, line: syn.WorldItem, ctx: Context) -> m.Award:
    points = check(amount, ctx)
    if not isinstance(points.type, m.NumberType):
        fit(points, m.NumberType(), ctx, "award")
    return m.Award(points, check_condition(condition, ctx), line.span)


# ---- completeness ---------------------------------------------------------------------


def _complete(draft: Draft, world: m.World) -> None:
    """Every attribute that cannot be `none` has a value in this world (TW0602)."""
    written = {
        effect.target.fluent
        for body in world.setups
        for effect in effects_in(body)
        if isinstance(effect, m.Assign)
    }
    for decl in draft.objects.values():
        if decl.world in (None, world.name) and decl.of in draft.types and world.start is None:
            _object_complete(draft, decl, world, written)


def _object_complete(draft: Draft, decl: m.ObjectDecl, world: m.World, written: set[str]) -> None:
    kind = draft.types[decl.of]
    given = {value.fluent for value in (*decl.fields, *kind.defaults)} | written
    for key in kind.attributes:
        fluent = draft.fluents[key]
        needs = isinstance(fluent.type, m.ObjectType) and not fluent.type.optional
        if needs and key not in given:
            what = f"`{decl.name}` has no `{fluent.name}` in the world `{world.name}`."
            hint = f"Write `{{ {fluent.name} = … }}` after it, or make the attribute optional."
            related = (Related(fluent.span, "it is never `none`"),)
            draft.tell("TW0602", what, decl.span, "value missing", hint, related)


FORMAT = "tw-state/1"


def read_data(path: syn.Str, draft: Draft) -> Source:
    """The text of a file named in the root file, relative to it (TW0006 if it cannot be read)."""
    if path.value in draft.data:
        return draft.data[path.value]
    assert draft.root is not None
    try:
        found = draft.read(path.value, draft.root)
    except Failure as failure:
        (first, *_) = failure.diagnostics
        hint = "Put the file beside this one, or correct its name."
        draft.stop("TW0006", first.message, path.span, "cannot be read", hint)
    return draft.data.setdefault(path.value, found)


def recorded_state(path: syn.Str, span: Span, draft: Draft) -> m.StartFile:
    """``start "file.json"``: a state in the exchange format. The file becomes a source of the
    program, so that recorded runs keep its hash."""
    source = read_data(path, draft)
    try:
        state = json.loads(source.text)  # all but the format is read by `engine.saved.restore`
    except (ValueError, RecursionError) as error:
        what = f"`{path.value}` is not JSON: {str(error).partition(':')[0].lower()}."
        hint = "Record the state again, or correct the file."
        draft.stop("TW0006", what, path.span, "no recorded state", hint)
    if not isinstance(state, dict) or state.get("format") != FORMAT:
        what = f"`{path.value}` is not a recorded state."
        hint = f'A recorded state is a JSON object with `"format": "{FORMAT}"`.'
        draft.stop("TW0006", what, path.span, "no recorded state", hint)
    draft.sources.setdefault(source.name, source)
    return m.StartFile(path.value, source.text, span)
