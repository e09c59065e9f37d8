"""The vocabulary passes: units, enums, phases, events, params, layouts, and clashes of their names.

Layouts are maps of characters, with a legend for each character (language.md §1, §12).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final, Protocol

from tokenworld import model as m
from tokenworld.check.draft import Draft
from tokenworld.check.typing.arithmetic import fit
from tokenworld.check.typing.context import Context, formal_binders
from tokenworld.check.typing.expressions import check
from tokenworld.check.typing.names import COMPASS, coordinate_of, fact_id, step_of
from tokenworld.check.typing.statements import check_block
from tokenworld.check.typing.types import number_type, object_type, type_of_ref
from tokenworld.diagnostics import Related, Span, did_you_mean
from tokenworld.model import cell_name, subterms
from tokenworld.syntax import nodes as syn

EDITIONS = ("1",)
PHASES = 64


class _Placed(Protocol):
    @property
    def span(self) -> Span: ...


def fresh(draft: Draft, what: str, name: syn.Name, table: Mapping[str, _Placed]) -> bool:
    """Return whether the name is new in its namespace; reports it if not."""
    if name.value in table:
        draft.twice(what, name, table[name.value].span)
        return False
    return True


def declare_files(draft: Draft) -> None:
    """Declare the lines that concern the whole program: ``edition``, ``pddl`` and ``actor``."""
    for edition, _ in draft.items(syn.EditionDecl):
        if edition.number.digits not in EDITIONS:
            what = f"There is no edition {edition.number.digits} of the language."
            draft.tell("TW0002", what, edition.span, "unknown edition", "Write `edition 1`.")
    for block, _ in draft.items(syn.PddlDecl):
        draft.pddl.extend(_pddl_entry(entry) for entry in block.entries)
    for actor, _ in draft.items(syn.ActorDecl):
        if draft.actor is not None:
            what = "The acting object is named twice."
            draft.tell("TW0203", what, actor.span, "a second `actor`", "Keep one `actor` line.")
        draft.actor, draft.actor_name = actor.type.value, actor.name.value


def _pddl_entry(entry: syn.PddlEntry) -> m.PddlEntry:
    values = tuple(v.digits if isinstance(v, syn.Number) else v.value for v in entry.values)
    return m.PddlEntry(entry.key.value, values, entry.span)


def declare_words(draft: Draft) -> None:
    """Units, enums and phases."""
    for unit, _ in draft.items(syn.UnitDecl):
        draft.attempt(lambda unit=unit: _unit(draft, unit))  # type: ignore[misc]
    for enum, _ in draft.items(syn.EnumDecl):
        if fresh(draft, "enum", enum.name, draft.enums):
            _enum(draft, enum)
    for phase, _ in draft.items(syn.PhaseDecl):
        if phase.name.value in draft.phases:
            what = f"The phase `{phase.name.value}` is declared twice."
            draft.tell("TW0502", what, phase.name.span, "declared again", "Keep one line of it.")
            continue
        if len(draft.phases) == PHASES:
            what = f"A program has at most {PHASES} phases."
            hint = "Join some of them: laws of one phase read the same state."
            draft.tell("TW0502", what, phase.span, "one too many", hint)
            break
        order = "by_nesting" if phase.by_nesting else "sequential"
        kind = order if phase.sequentially else "simultaneous"
        draft.phases[phase.name.value] = m.Phase(phase.name.value, kind, phase.span)  # type: ignore[arg-type]


def _unit(draft: Draft, unit: syn.UnitDecl) -> None:
    found = _unit_of(draft, unit)
    known = draft.units.get(found.name)
    if known is None:
        draft.units[found.name] = found
    elif (known.base, known.multiple) != (found.base, found.multiple) or not draft.namespaces:
        draft.twice("unit", unit.name, known.span)


def _unit_of(draft: Draft, unit: syn.UnitDecl) -> m.Unit:
    """A unit keeps its name behind `use … as`: no number could be written with another one."""
    name = unit.name.value
    if unit.value is None:
        return m.Unit(name, name, 1, unit.span)
    base = number_type(draft, unit.value)
    if base.decimals or not base.unit or base.unit == "%":
        hint = "Write a whole multiple of another unit, such as `unit l = 1000ml`."
        draft.stop("TW0303", f"`{name}` is no multiple of a unit.", unit.value.span, hint=hint)
    return m.Unit(name, base.unit, base.low or 0, unit.span)


def _enum(draft: Draft, enum: syn.EnumDecl) -> None:
    seen: dict[str, syn.Name] = {}
    for member in enum.members:
        if member.value in seen:
            draft.twice("member", member, seen[member.value].span)
        seen.setdefault(member.value, member)
    draft.enums[enum.name.value] = m.Enum(enum.name.value, tuple(seen), enum.ladder, enum.span)


def declare_params(draft: Draft) -> None:
    """``param`` lines; their defaults are constants, which may build on other params.

    They are kept in an order in which each one stands after those that its default needs.
    """
    items: dict[str, syn.ParamDecl] = {}
    for param, _ in draft.items(syn.ParamDecl):
        name = param.name.value
        if name in items:
            draft.twice("param", param.name, items[name].span)
            continue
        items[name] = param
        kind = draft.attempt(lambda param=param: type_of_ref(draft, param.type))  # type: ignore[misc]
        if kind is not None:
            draft.param_types[name] = kind
    for name, param in items.items():
        if name in draft.param_types:
            draft.attempt(lambda item=param: _param(draft, item))  # type: ignore[misc]
    _in_order(draft)


def _param(draft: Draft, param: syn.ParamDecl) -> None:
    name = param.name.value
    kind, ctx = draft.param_types[name], Context(draft, was=False, me=False)
    default = fit(check(param.value, ctx, kind), kind, ctx, f"param `{name}`")
    check_constant(default, draft, f"param `{name}`")
    draft.params[name] = m.Param(name, kind, default, param.learned, param.span)


def check_constant(term: m.Term, draft: Draft, what: str) -> None:
    """Report a value that depends on a state where a constant is needed."""
    for part in subterms(term):
        if not isinstance(part, _CONSTANT):
            hint = "Write a number, a name or a calculation of constants."
            said = f"The {what} is a constant, and `{draft.text(part.span)}` is not."
            draft.stop("TW0301", said, part.span, "depends on the state", hint)


_CONSTANT = (
    m.BoolLiteral, m.NumberLiteral, m.EnumLiteral, m.NoneLiteral, m.ObjectLiteral, m.ParamRead,
    m.TemplateTerm, m.Negate, m.Rescale, m.ToReal, m.Arithmetic,
)  # fmt: skip


def _in_order(draft: Draft) -> None:
    ordered: dict[str, m.Param] = {}
    for name in list(draft.params):
        if draft.attempt(lambda name=name: _place(name, (), ordered, draft)) is None:  # type: ignore[misc]
            break
    draft.params = {**ordered, **draft.params}


def _place(name: str, chain: tuple[str, ...], ordered: dict[str, m.Param], draft: Draft) -> bool:
    """Put a param after those that its default reads."""
    param = draft.params.get(name)
    if param is None or name in ordered:
        return True
    if name in chain:
        what = f"The default of `{name}` builds on itself."
        draft.stop("TW0206", what, param.default.span, "a circle", "Write a number.")
    for part in subterms(param.default):
        if isinstance(part, m.ParamRead):
            _place(part.name, (*chain, name), ordered, draft)
    ordered[name] = param
    return True


def declare_events(draft: Draft) -> None:
    """Declare events, and two tables that expressions need early: types of objects, names of
    derives."""
    for event, _ in draft.items(syn.EventDecl):
        if fresh(draft, "event", event.name, draft.events):
            params = draft.attempt(
                lambda event=event: formal_binders(Context(draft), event.params)  # type: ignore[misc]
            )
            if params is not None:
                draft.events[event.name.value] = m.Event(event.name.value, params, event.span)
    for item, _ in draft.items(syn.ObjectDecl):
        _object_types(draft, None, item)
    for world, _ in draft.items(syn.WorldDecl):
        for inner in world.items:
            if isinstance(inner, syn.ObjectDecl):
                _object_types(draft, world.name.value, inner)
        for inner in world.items:
            _born(draft, world.name.value, inner)
    for derive, _ in draft.items(syn.DeriveDecl):
        _derive_name(draft, derive)
    for effect, _ in draft.items(syn.EffectDecl):
        if fresh(draft, "effect", effect.name, draft.effect_items):
            draft.effect_items[effect.name.value] = effect


def _born(draft: Draft, world: str, line: syn.WorldItem) -> None:
    """Objects that a layout or a setup creates under a name that the world's lines may use."""
    if isinstance(line, syn.Layout):
        for name in cells_of(line):
            _object_type(draft, world, syn.Name(line.type.span, name), line.type.value)
    for one in created_by_name(line):
        _object_type(draft, world, one.name, one.type.value)


def _object_types(draft: Draft, world: str | None, item: syn.ObjectDecl) -> None:
    kind = item.type.value if item.type is not None else m.ROOT
    for name in item.names:
        _object_type(draft, world, name, kind)


def _object_type(draft: Draft, world: str | None, name: syn.Name, kind: str) -> None:
    if any((place, name.value) in draft.object_types for place in (world, None)):
        draft.tell(
            "TW0203",
            f"The object `{name.value}` is declared twice.",
            name.span,
            "declared again",
            "Rename one of the two.",
        )
    else:
        draft.object_types[world, name.value] = kind


def _derive_name(draft: Draft, derive: syn.DeriveDecl) -> None:
    name = derive.name
    if name.value in draft.derive_items:
        draft.twice("derive", name, draft.derive_items[name.value].span)
    elif fact_id(name.value) in draft.fluents:
        draft.twice("fact", name, draft.fluents[fact_id(name.value)].span)
    else:
        draft.derive_items[name.value] = derive


def check_namespaces(draft: Draft) -> None:
    """The actor's type exists, an inverse or a closure is declared once, nothing nests twice."""
    for actor, _ in draft.items(syn.ActorDecl):
        if actor.type.value not in (*draft.types, m.ROOT):
            hint = did_you_mean(actor.type.value, draft.types) or "Declare the type."
            what = f"There is no type `{actor.type.value}`."
            draft.tell("TW0202", what, actor.type.span, "unknown type", hint)
            draft.actor = None
    _ends(draft)
    _nested_once(draft)


def _nested_once(draft: Draft) -> None:
    """An object lies in one place: at most one `nested` attribute applies to a type."""
    told: set[str] = set()
    for name, kind in draft.types.items():
        nested = [key for key in kind.attributes if draft.fluents[key].nested]
        if len(nested) > 1 and not told & set(kind.ancestors):
            told.add(name)
            first, second = (draft.fluents[key] for key in nested[:2])
            what = f"`{name}` is nested twice, by `{first.name}` and by `{second.name}`."
            related = (Related(first.span, "the other one"),)
            hint = "Keep `nested` on one of them."
            draft.tell("TW0310", what, second.span, "a second nesting", hint, related)


def _ends(draft: Draft) -> None:
    seen: dict[tuple[str, str], str] = {}
    for key, fluent in draft.fluents.items():
        for name in (fluent.inverse, fluent.closure):
            if name is None:
                continue
            end = fluent.type if fluent.fluent_kind != "relation" else fluent.params[0].type
            owner = getattr(end, "name", m.ROOT)
            if (owner, name) in seen and seen[owner, name] != key:
                what = f"`{name}` is declared twice on `{owner}`."
                draft.tell("TW0203", what, fluent.span, "again", "Rename one of the two.")
            seen[owner, name] = key
            if fluent.fluent_kind != "attribute" and fluent.inverse:
                what = f"Only attributes have an inverse, and `{fluent.name}` is none."
                draft.tell("TW0310", what, fluent.span, "flag does not fit", "Remove it.")


def symbols(layout: syn.Layout) -> Counter[str]:
    """The number of occurrences of each character."""
    return Counter(symbol for row in layout.rows for symbol in row.value)


def cells_of(layout: syn.Layout) -> Iterator[str]:
    """The names of the cells, row by row."""
    for y, row in enumerate(layout.rows):
        for x, _ in enumerate(row.value):
            yield cell_name(layout.type.value, x, y)


def created_by_name(line: syn.WorldItem) -> Iterator[syn.Create]:
    """The objects that a line of a world always creates once, and so under their own names."""
    match line:
        case syn.Setup(block=block):
            yield from _creations(block)
        case syn.Layout(legends=legends):
            often = symbols(line)
            for legend in legends:
                if often[legend.symbol.value] == 1:
                    yield from _creations(legend.block)
        case _:
            pass


def _creations(block: syn.Block) -> Iterator[syn.Create]:
    yield from (effect for effect in block.effects if isinstance(effect, syn.Create))


def named_creations(body: m.Body) -> m.Body:
    """Collect the names of created objects in a body that runs once: objects created outside
    branches, loops and effects keep their names."""
    return tuple(
        replace(one, named=True) if isinstance(one, m.Create) and "`" not in one.name else one
        for one in body
    )


def check_layout(line: syn.Layout, ctx: Context) -> m.Layout:
    """A layout whose rows, legends and coordinates fit each other."""
    draft, of = ctx.draft, object_type(ctx.draft, line.type)
    width = _width(line, ctx)
    legends = _legends(line, of, ctx)
    _explained(line, ctx)
    x, y = (_coordinate(line, of, name, size, ctx)
            for name, size in (("x", width), ("y", len(line.rows))))  # fmt: skip
    step = step_of(draft, of)
    directions: tuple[tuple[int, int, int], ...] = ()
    if step is not None and isinstance(step.params[1].type, m.EnumType):
        members = draft.enums[step.params[1].type.name].members
        directions = tuple((members.index(name), dx, dy) for name, (dx, dy) in COMPASS.items())
    rows = tuple(row.value for row in line.rows)
    return m.Layout(
        of, rows, legends, x, y, "" if step is None else step.id, directions, line.span
    )  # fmt: skip


def _width(line: syn.Layout, ctx: Context) -> int:
    width = len(line.rows[0].value)
    for row in line.rows:
        if not row.value:
            hint = "Write one character for each cell."
            ctx.draft.stop("TW0606", "A row of the layout is empty.", row.span, "no cell", hint)
        if len(row.value) != width:
            what = f"The rows of the layout have different lengths: {width} and {len(row.value)}."
            hint = "Give every row as many characters as the first one."
            related = (Related(line.rows[0].span, f"{width} cells"),)
            label = f"{len(row.value)} cells"
            ctx.draft.stop("TW0606", what, row.span, label, hint, related)
    return width


def _explained(line: syn.Layout, ctx: Context) -> None:
    """Every character but `.` has a legend (TW0606), and every legend a character."""
    often = symbols(line)
    known = {legend.symbol.value for legend in line.legends} | {"."}
    told = any(len(one) != 1 for one in known)  # a symbol may be the one that such a legend means
    for symbol in often:
        if symbol not in known and not told:
            row = next(row for row in line.rows if symbol in row.value)
            what = f"The character `{symbol}` of the layout has no legend."
            hint = f'Add `legend "{symbol}" {{ … }}`, or write `.` for a plain cell.'
            ctx.draft.tell("TW0606", what, row.span, f"`{symbol}` stands here", hint)
    for legend in line.legends:
        if len(legend.symbol.value) == 1 and legend.symbol.value not in often:
            what = f"The layout has no `{legend.symbol.value}`."
            hint = "Remove the legend, or use its character in a row."
            ctx.draft.tell("TW0904", what, legend.symbol.span, "unused", hint)


_ONE: Final = "Write one character between the quotes, and a legend for each."


def _legends(line: syn.Layout, of: str, ctx: Context) -> tuple[m.Legend, ...]:
    often, found = symbols(line), dict[str, m.Legend]()
    inner = ctx.bind("here", m.ObjectType(of))
    for legend in line.legends:
        symbol = legend.symbol.value
        if len(symbol) != 1:
            known = {one.symbol.value for one in line.legends} | {"."}
            fit = [one for one in dict.fromkeys(symbol or often) if one in {*often} - known]
            hint = f'Write `legend "{fit[0]}"`.' if len(fit) == 1 else _ONE
            what = "A legend stands for one character."
            ctx.draft.tell("TW0606", what, legend.symbol.span, f"{len(symbol)} characters", hint)
            continue
        if symbol in found:
            what = f"The character `{symbol}` has two legends."
            related = (Related(found[symbol].span, "the first one"),)
            ctx.draft.tell(
                "TW0203", what, legend.symbol.span, "again", "Keep one of the two.", related
            )
            continue
        body = check_block(legend.block, inner, "setup")
        body = named_creations(body) if often[symbol] == 1 else body
        found[symbol] = m.Legend(symbol, body, legend.span)
    return tuple(found.values())


def _coordinate(line: syn.Layout, of: str, name: str, size: int, ctx: Context) -> str:
    """The id of the attribute that counts columns or rows, wide enough for the map."""
    fluent = coordinate_of(ctx.draft, of, name)
    if fluent is None or not isinstance(fluent.type, m.NumberType):
        return ""
    low, high = fluent.type.low, fluent.type.high
    if (low is not None and low > 0) or (high is not None and high < size - 1):
        what = f"The layout has {size} {'columns' if name == 'x' else 'rows'}, counted from 0."
        hint = f"Widen the range of `{fluent.name}`."
        related = (Related(fluent.span, f"`{fluent.name}` is declared here"),)
        ctx.draft.stop("TW0308", what, line.span, "does not fit the range", hint, related)
    return fluent.id
