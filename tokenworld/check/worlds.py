"""The worlds pass: objects with their fields, endings, policies (language.md §12)."""

from __future__ import annotations

from dataclasses import dataclass, field

from tokenworld.check.bodies import check_block, check_fields, text_of
from tokenworld.check.context import Context
from tokenworld.check.draft import Draft
from tokenworld.check.expressions import check, check_condition, fit
from tokenworld.check.vocabulary import fresh
from tokenworld.diagnostics import Related, did_you_mean
from tokenworld.model import (
    ROOT,
    TEXT,
    Assign,
    Award,
    Body,
    Ending,
    NumberType,
    ObjectDecl,
    ObjectKind,
    ObjectType,
    ParamSetting,
    Spare,
    StartFile,
    Term,
    World,
    effects_in,
)
from tokenworld.syntax import nodes as syn

__all__ = ["check_objects", "check_worlds", "param_setting"]


def check_objects(draft: Draft) -> None:
    """Objects declared outside worlds, then those of each world."""
    for item, _ in draft.items(syn.ObjectDecl):
        _objects(draft, None, item)
    for world, _ in draft.items(syn.WorldDecl):
        for inner in world.items:
            if isinstance(inner, syn.ObjectDecl):
                _objects(draft, world.name.value, inner)


def _objects(draft: Draft, world: str | None, item: syn.ObjectDecl) -> None:
    kind = item.type.value if item.type is not None else ROOT
    if item.type is not None and kind != ROOT and kind not in draft.types:
        hint = did_you_mean(kind, draft.types) or f"Declare `type {kind}`."
        what = f"There is no type `{kind}`."
        draft.tell("TW0202", what, item.type.span, "unknown type", hint)
        return
    if kind == ROOT:
        draft.types.setdefault(ROOT, ObjectKind(ROOT, (), (ROOT,), (), (), item.span))
    ctx = Context(draft, world=world, was=False)
    aka = tuple(
        term
        for word in item.aka
        if (term := draft.attempt(lambda w=word: fit(check(w, ctx, TEXT), TEXT, ctx, "name")))  # type: ignore[misc]
    )
    fields = check_fields(item.fields, kind, ctx)
    title = item.title.value if item.title is not None else None
    for name in item.names:
        key = name.value if world is None else f"{world}/{name.value}"
        decl = ObjectDecl(name.value, kind, title, aka, fields, world, name.span)
        draft.objects.setdefault(key, decl)


def param_setting(draft: Draft, name: syn.Name, value: syn.Expr, ctx: Context) -> ParamSetting:
    """``param p = v`` of a world, or ``p = v`` in a `given`."""
    if name.value not in draft.params:
        draft.unknown("param", name, draft.params)
    kind = draft.params[name.value].type
    term = fit(check(value, ctx, kind), kind, ctx, f"param `{name.value}`")
    return ParamSetting(name.value, term, name.span)


@dataclass(slots=True)
class _Settings:
    """The lines of one world as they are read."""

    ctx: Context
    setups: list[Body] = field(default_factory=list)
    endings: dict[str, Ending] = field(default_factory=dict)
    awards: list[Award] = field(default_factory=list)
    pays: list[Award] = field(default_factory=list)
    params: list[ParamSetting] = field(default_factory=list)
    spares: list[Spare] = field(default_factory=list)
    turns: tuple[str, ...] = ()
    time_always: bool = False
    ambiguous: str = "first"
    endless: bool = False
    outcomes: str = "latched"
    start: StartFile | None = None
    score: Term | None = None


def check_worlds(draft: Draft) -> None:
    """Every world of the root file."""
    for item, _ in draft.items(syn.WorldDecl):
        if not fresh(draft, "world", item.name, draft.worlds):
            continue
        ctx = Context(draft, world=item.name.value, was=False, me=not _several_turns(item))
        lines = _Settings(ctx)
        for line in item.items:
            draft.attempt(lambda line=line, lines=lines: _line(line, lines))  # type: ignore[misc]
        draft.worlds[item.name.value] = _world(item, lines)
        _complete(draft, draft.worlds[item.name.value])


def _several_turns(item: syn.WorldDecl) -> bool:
    return any(isinstance(line, syn.Turns) and len(line.actors) > 1 for line in item.items)


def _world(item: syn.WorldDecl, lines: _Settings) -> World:
    title = item.title.value if item.title is not None else item.name.value.replace("_", " ")
    return World(
        item.name.value, title, tuple(lines.setups), tuple(lines.endings.values()),
        tuple(lines.awards), tuple(lines.pays), lines.score, tuple(lines.params),
        tuple(lines.spares), lines.turns, lines.time_always, lines.ambiguous,  # type: ignore[arg-type]
        lines.endless, lines.outcomes, lines.start, item.span,  # type: ignore[arg-type]
    )  # fmt: skip


def _line(line: syn.WorldItem, lines: _Settings) -> None:
    ctx, draft = lines.ctx, lines.ctx.draft
    match line:
        case syn.Ending():
            _ending(line, lines)
        case syn.Setup(block=block):
            lines.setups.append(check_block(block, ctx, "setup"))
        case syn.Award(amount=amount, condition=condition):
            lines.awards.append(_award(amount, condition, line, ctx))
        case syn.Pays(amount=amount, condition=condition):
            lines.pays.append(_award(amount, condition, line, ctx))
        case syn.Tune(name=name, value=value):
            lines.params.append(param_setting(draft, name, value, ctx))
        case syn.Score(value=value):
            lines.score = check(value, ctx)
        case syn.Spare(type=kind, count=count):
            if kind.value not in draft.types:
                draft.unknown("type", kind, draft.types)
            lines.spares.append(Spare(kind.value, count.scaled, line.span))
        case _:
            _policy(line, lines)


def _policy(line: syn.WorldItem, lines: _Settings) -> None:
    draft = lines.ctx.draft
    match line:
        case syn.TimePolicy(policy=policy):
            if policy.value not in ("always", "executed"):
                hint = "Write `time passes executed` or `time passes always`."
                draft.stop("TW0601", "Time has no such policy.", policy.span, "unknown", hint)
            lines.time_always = policy.value == "always"
        case syn.Turns(actors=actors):
            lines.turns = tuple(_turn(actor, lines.ctx) for actor in actors)
        case syn.Ambiguous(policy=word):
            lines.ambiguous = word
        case syn.Endless():
            lines.endless = True
        case syn.OutcomePolicy(policy=word):
            lines.outcomes = word
        case syn.StartFile(path=path):
            lines.start = StartFile(path.value, "", line.span)
        case _:
            pass  # objects are checked by `check_objects`, layouts are reported by `executed`


def _turn(actor: syn.Name, ctx: Context) -> str:
    draft = ctx.draft
    for world in (ctx.world, None):
        if (world, actor.value) in draft.object_types:
            return actor.value
    known = [name for world, name in draft.object_types if world in (None, ctx.world)]
    hint = did_you_mean(actor.value, known)
    draft.stop("TW0201", f"There is no object `{actor.value}`.", actor.span, "unknown", hint)


def _ending(line: syn.Ending, lines: _Settings) -> None:
    ctx = lines.ctx
    if line.name.value in lines.endings:
        first = lines.endings[line.name.value].span
        related = (Related(first, "first declared here"),)
        what = f"The ending `{line.name.value}` is declared twice."
        ctx.draft.stop("TW0203", what, line.name.span, "again", "Rename one.", related)
    condition = check_condition(line.condition, ctx)
    text = text_of(line.text, ctx)
    source = ctx.quoted(condition)
    ending = Ending(line.kind, line.name.value, condition, text, source, line.span)
    lines.endings[line.name.value] = ending


def _award(amount: syn.Expr, condition: syn.Expr, line: syn.WorldItem, ctx: Context) -> Award:
    points = check(amount, ctx)
    if not isinstance(points.type, NumberType):
        fit(points, NumberType(), ctx, "award")
    return Award(points, check_condition(condition, ctx), line.span)


# ---- completeness ---------------------------------------------------------------------


def _complete(draft: Draft, world: World) -> None:
    """Every attribute that cannot be `none` has a value in this world (TW0602)."""
    written = {
        effect.target.fluent
        for body in world.setups
        for effect in effects_in(body)
        if isinstance(effect, Assign)
    }
    for decl in draft.objects.values():
        if decl.world in (None, world.name) and decl.of in draft.types and world.start is None:
            _object_complete(draft, decl, world, written)


def _object_complete(draft: Draft, decl: ObjectDecl, world: World, written: set[str]) -> None:
    kind = draft.types[decl.of]
    given = {value.fluent for value in (*decl.fields, *kind.defaults)} | written
    for key in kind.attributes:
        fluent = draft.fluents[key]
        needs = isinstance(fluent.type, ObjectType) and not fluent.type.optional
        if needs and key not in given:
            what = f"`{decl.name}` has no `{fluent.name}` in the world `{world.name}`."
            hint = f"Write `{{ {fluent.name} = … }}` behind it, or make the attribute optional."
            related = (Related(fluent.span, "it is never `none`"),)
            draft.tell("TW0602", what, decl.span, "value missing", hint, related)
