"""Resolve each name of a text to its declaration: for definition, references, rename and hover.

Locals are looked up by their scope in the syntax tree. For other names the checked program has a
term with the span of the name. Where the program has no term, as in
an effect that nobody calls or in a file with errors, the types that declarations write decide, and
else a name means the only declaration called so.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from functools import lru_cache
from typing import Final, Literal, cast

from tokenworld import model as m
from tokenworld.diagnostics import Source, Span
from tokenworld.diagnostics.frozen import frozen
from tokenworld.syntax import nodes as syn
from tokenworld.syntax import parse_source

Kind = Literal[
    "action", "actor", "alias", "attribute", "believe", "conserve", "derive", "effect", "ending",
    "enum", "event", "function", "invariant", "label", "law", "local", "member", "module", "object",
    "param", "phase", "relation", "reverse", "table", "type", "unit", "watch", "world",
]  # fmt: skip


@frozen
class Symbol:
    """A declaration: the place of its name, and that of the whole of it.

    ``owner`` is the type of an attribute, the enum of a member, the world of an object or ending.
    """

    kind: Kind
    name: str
    span: Span
    item: Span
    owner: str = ""


@frozen
class Use:
    """A place at which a name stands; ``declares`` is true where its declaration begins."""

    span: Span
    symbol: Symbol
    declares: bool = False


_DECLARES: Final[Mapping[tuple[type[syn.Node], str], Kind]] = {
    (syn.UnitDecl, "name"): "unit", (syn.EnumDecl, "name"): "enum",
    (syn.EnumDecl, "members"): "member", (syn.TypeDecl, "name"): "type",
    (syn.AttributeDecl, "name"): "attribute", (syn.ObjectDecl, "names"): "object",
    (syn.ActorDecl, "name"): "actor", (syn.RelationDecl, "name"): "relation",
    (syn.Inverse, "name"): "reverse", (syn.Closure, "name"): "reverse",
    (syn.FunctionDecl, "name"): "function", (syn.TableDecl, "name"): "table",
    (syn.DeriveDecl, "name"): "derive", (syn.ParamDecl, "name"): "param",
    (syn.EventDecl, "name"): "event", (syn.PhaseDecl, "name"): "phase",
    (syn.ActionDecl, "name"): "action", (syn.EffectDecl, "name"): "effect",
    (syn.LawDecl, "name"): "law", (syn.BelieveDecl, "name"): "believe",
    (syn.WatchDecl, "name"): "watch", (syn.InvariantDecl, "name"): "invariant",
    (syn.ConserveDecl, "name"): "conserve", (syn.WorldDecl, "name"): "world",
    (syn.Ending, "name"): "ending", (syn.Require, "label"): "label",
    (syn.UseDecl, "alias"): "alias",
}  # fmt: skip
"""Fields that declare a name which others may use, and its kind."""

_LOCALS: Final = {(one, "name") for one in (syn.Formal, syn.Binder, syn.Let, syn.Naming)}

_FACTS: Final[tuple[Kind, ...]] = ("relation", "function", "table", "derive", "reverse")
_RULES: Final[tuple[Kind, ...]] = ("action", "law", "believe")
_TYPES: Final[tuple[Kind, ...]] = ("type", "enum")

_MEANS: Final[Mapping[tuple[type[syn.Node], str], tuple[Kind, ...]]] = {
    (syn.NamedType, "name"): _TYPES, (syn.TypeDecl, "parents"): _TYPES,
    (syn.IsType, "type"): _TYPES, (syn.Create, "type"): _TYPES, (syn.ObjectDecl, "type"): _TYPES,
    (syn.ActorDecl, "type"): _TYPES, (syn.Spare, "type"): _TYPES, (syn.Layout, "type"): _TYPES,
    (syn.Qualified, "type"): _TYPES, (syn.LawDecl, "phase"): ("phase",),
    (syn.BelieveDecl, "phase"): ("phase",), (syn.Emit, "event"): ("event",),
    (syn.ConserveDecl, "exceptions"): _RULES, (syn.Tune, "name"): ("param",),
    (syn.Turns, "actors"): ("object",), (syn.When, "actor"): ("object",),
    (syn.Apply, "name"): ("effect",), (syn.Refused, "label"): ("label",),
    (syn.Won, "name"): ("ending",), (syn.Lost, "name"): ("ending",),
    (syn.ScenarioDecl, "world"): ("world",), (syn.Attr, "name"): ("attribute", *_FACTS),
    (syn.Method, "name"): _FACTS, (syn.Call, "function"): _FACTS,
    (syn.Field, "name"): ("attribute",), (syn.Qualified, "name"): ("member",),
    (syn.ModelDecl, "name"): (), (syn.PddlEntry, "key"): (), (syn.PddlEntry, "values"): (),
    (syn.TimePolicy, "policy"): (), (syn.StatusIs, "status"): (), (syn.UseDecl, "path"): (),
}  # fmt: skip
"""Fields that hold a name of these kinds; any other name is a value (`_value`)."""

_OPENS: Final = (
    syn.Block, syn.For, syn.Pick, syn.Fold, syn.DrawPick, syn.GuessEach, syn.ActionDecl,
    syn.EffectDecl, syn.LawDecl, syn.BelieveDecl, syn.BirthDecl, syn.WatchDecl, syn.InvariantDecl,
    syn.CalledDecl, syn.ScopeDecl, syn.DescribeDecl, syn.DeriveDecl, syn.RelationDecl,
    syn.FunctionDecl, syn.TableDecl, syn.EventDecl,
)  # fmt: skip
"""Nodes whose locals end with them."""

_FIRST: Final[Mapping[type[syn.Node], str]] = {
    syn.Fold: "where", syn.GuessEach: "where", syn.Let: "value", syn.Naming: "value",
    syn.Binder: "collection",
}  # fmt: skip
"""The field that is read before the others: it binds names for them, or does not see theirs."""

_HOMES: Final[Mapping[type, tuple[str, str]]] = {
    **dict.fromkeys((m.Read, m.InverseOf, m.ClosureOf, m.FieldValue), ("fluents", "fluent")),
    m.DeriveCall: ("derives", "derive"),
    m.ParamRead: ("params", "name"),
    m.EnumLiteral: ("enums", "enum"),
}
"""The table of a program that a term names an entry of, and the field that holds the name."""

_Place = tuple[str, int, int]
_Scope = dict[str, Symbol]


def _place(span: Span) -> _Place:
    return span.file, span.start, span.end


@dataclass(slots=True)
class Names:
    """All uses of names in some texts, by file and in the order of the text."""

    uses: dict[str, list[Use]]
    trees: Mapping[str, syn.File]

    def at(self, file: str, offset: int) -> Use | None:
        """Return the use that covers an offset or ends at it; the innermost one."""
        found = [one for one in self.uses.get(file, ()) if one.span.start <= offset <= one.span.end]
        return min(found, key=lambda one: (one.span.end == offset, _length(one)), default=None)

    def of(self, symbol: Symbol) -> Iterator[Use]:
        """Yield every use of a declaration."""
        for uses in self.uses.values():
            yield from (one for one in uses if one.symbol == symbol)

    @property
    def symbols(self) -> Iterator[Symbol]:
        """Every declaration with a name, locals included."""
        for uses in self.uses.values():
            yield from (one.symbol for one in uses if one.declares)


def _length(use: Use) -> int:
    return use.span.end - use.span.start


def names_of(sources: Sequence[Source], program: m.Program | None) -> Names:
    """Look up every name of the sources; ``program`` is the checked program, if there is one."""
    trees = {one.name: _tree(one) for one in sources}
    finder = _Finder(sources, {} if program is None else terms_by_place(program), program)
    for tree in trees.values():
        finder.declare(tree, ())
    for tree in trees.values():
        finder.visit(tree, (), {})
    uses = {
        name: sorted(found, key=lambda one: one.span.start) for name, found in finder.uses.items()
    }
    return Names(uses, trees)


@lru_cache(maxsize=64)
def _tree(source: Source) -> syn.File:
    """Return the tree of a text; modules stay the same while their users are edited."""
    return parse_source(source)[0]


def terms_by_place(program: m.Program) -> dict[_Place, list[object]]:
    """Map each place to the nodes of a program that have it."""
    found: dict[_Place, list[object]] = defaultdict(list)
    todo: list[object] = [program]
    parts: dict[type, tuple[str, ...]] = {str: (), int: (), bool: (), type(None): (), Span: ()}
    while todo:
        node = todo.pop()
        kind = type(node)
        if kind is tuple:
            todo.extend(cast(tuple[object, ...], node))
            continue
        if kind not in parts:
            if isinstance(node, Mapping):
                todo.extend(node.values())
                continue
            each = [one.name for one in fields(kind)] if is_dataclass(kind) else []
            parts[kind] = tuple(one for one in each if one not in ("type", "kind"))
        names = parts[kind]
        if "span" in names:
            found[_place(cast(m.Local, node).span)].append(node)
        todo.extend([getattr(node, name) for name in names])
    return found


_KNOWN: Final[dict[type, tuple[str, ...]]] = {}


def _names(kind: type) -> tuple[str, ...]:
    """Return the fields of a class that hold nodes or terms, in the order of reading."""
    found = _KNOWN.get(kind)
    if found is None:
        first = _FIRST.get(kind)
        each = [one.name for one in fields(kind) if one.name != "span"]
        found = _KNOWN[kind] = tuple(sorted(each, key=lambda one: one != first))
    return found


@dataclass(slots=True)
class _Finder:
    """The declarations of some trees by kind and name, and the uses found so far."""

    sources: Sequence[Source]
    terms: Mapping[_Place, list[object]]
    program: m.Program | None
    known: dict[tuple[Kind, str], list[Symbol]] = field(default_factory=lambda: defaultdict(list))
    named: dict[_Place, Symbol] = field(default_factory=dict)
    declared: dict[_Place, list[Symbol]] = field(default_factory=lambda: defaultdict(list))
    uses: dict[str, list[Use]] = field(default_factory=lambda: defaultdict(list))
    found: dict[_Place, Symbol] = field(default_factory=dict)
    types: dict[Symbol, str] = field(default_factory=dict)
    parents: dict[str, tuple[str, ...]] = field(default_factory=dict)

    # ---- declarations ----------------------------------------------------------------------

    def declare(self, node: syn.Node, above: tuple[syn.Node, ...]) -> None:
        """Record the declarations of a tree, except the names of locals."""
        for field_name in _names(type(node)):
            kind = _DECLARES.get((type(node), field_name))
            for part in _parts(getattr(node, field_name)):
                if kind is not None and isinstance(part, syn.Name):
                    self._new(kind, part, node, above)
                elif isinstance(part, syn.Node) and not isinstance(part, syn.Name):
                    self.declare(part, (*above, node))
        if isinstance(node, syn.Create) and _world(above):
            self._new("object", node.name, node, above)

    def _new(self, kind: Kind, name: syn.Name, node: syn.Node, above: tuple[syn.Node, ...]) -> None:
        item, owner = node, ""
        if kind in ("attribute", "reverse"):
            holder = next((one for one in reversed(above) if isinstance(one, syn.TypeDecl)), None)
            owner = "" if holder is None else holder.name.value
            item = above[-1] if kind == "reverse" else node
        elif kind == "member" and isinstance(node, syn.EnumDecl):
            owner = node.name.value
        elif kind in ("object", "ending"):
            owner = _world(above)
        symbol = Symbol(kind, name.value, name.span, item.span, owner)
        if kind == "label":  # labels of one name in one file are one symbol
            alike = (s for s in self.known[kind, name.value] if s.span.file == name.span.file)
            symbol = next(alike, symbol)
        self.types[symbol] = owner if kind == "reverse" else _type_name(node)
        if isinstance(node, syn.TypeDecl):
            self.parents[node.name.value] = tuple(one.value for one in node.parents)
        self.named[_place(name.span)] = symbol
        self.declared[_place(item.span)].append(symbol)
        if symbol not in self.known[kind, name.value]:
            self.known[kind, name.value].append(symbol)

    # ---- uses ------------------------------------------------------------------------------

    def visit(self, node: syn.Node, above: tuple[syn.Node, ...], scope: _Scope) -> None:
        """Resolve each name of a tree; add lets and parameters to ``scope``."""
        if isinstance(node, _OPENS):
            scope = dict(scope)
        inside = (*above, node)
        for where in _names(type(node)):
            for part in _parts(getattr(node, where)):
                if isinstance(part, syn.Name):
                    self._name(part, where, inside, scope)
                elif isinstance(part, syn.Node):
                    self.visit(part, inside, scope)
        if isinstance(node, syn.Number) and node.unit is not None:
            self._unit(node, node.unit)
        if isinstance(node, syn.UseDecl):
            self._module(node)

    def _name(self, name: syn.Name, where: str, above: tuple[syn.Node, ...], scope: _Scope) -> None:
        node = above[-1]
        key = (type(node), where)
        if _place(name.span) in self.named:
            self._note(name.span, self.named[_place(name.span)], declares=True)
        elif key in _LOCALS or (isinstance(node, syn.Create) and where == "name"):
            symbol = Symbol("local", name.value, name.span, node.span)
            scope[name.value] = symbol
            self.types[symbol] = _type_name(node) or self._type_of(_value_of(node))
            self._note(name.span, symbol, declares=True)
        elif key in _MEANS:
            self._note(name.span, self._settled(name, _MEANS[key], above))
        else:
            local = scope.get(name.value)
            self._note(name.span, local or self._value(name, above))

    def _note(self, span: Span, symbol: Symbol | None, *, declares: bool = False) -> None:
        if symbol is not None:
            self.uses[span.file].append(Use(span, symbol, declares))
            self.found[_place(span)] = symbol

    def _settled(
        self, name: syn.Name, kinds: tuple[Kind, ...], above: tuple[syn.Node, ...]
    ) -> Symbol | None:
        """Resolve a name in a field that holds names of some kinds only."""
        node = above[-1]
        if isinstance(node, syn.Call) and len(above) > 1:
            if isinstance(above[-2], syn.When):
                return self._only(("action",), name)
            if isinstance(above[-2], syn.Emits):
                return self._only(("event",), name)
        if isinstance(node, syn.Qualified) and kinds == ("member",):
            return self._only(kinds, name, (node.type.value.rpartition(".")[2],))
        if kinds in (("object",), ("ending",)):
            return self._only(kinds, name, (_world(above), ""))
        if isinstance(node, syn.Attr | syn.Method | syn.Call | syn.Field):
            found = self._checked(name, node.span)
            if found is not None or self._checked_at(node.span):
                return found
            owner = self._type_of(node.base) if isinstance(node, syn.Attr) else _owner(above)
            own = self._only(("attribute",), name, self._lineage(owner)) if owner else None
            if own is not None:
                return own
        return self._only(kinds, name)

    def _type_of(self, node: object) -> str:
        """Return the object type of a path with resolved names, as far as declarations give it."""
        if isinstance(node, syn.Attr | syn.Method):
            last = node.name
        elif isinstance(node, syn.Call):
            last = node.function
        elif isinstance(node, syn.Name):
            last = node
        else:
            return ""
        symbol = self.found.get(_place(last.span))
        return "" if symbol is None else self.types.get(symbol, "")

    def _lineage(self, name: str) -> tuple[str, ...]:
        """Return a type, followed by its supertypes."""
        found = [name]
        for one in found:
            found += [above for above in self.parents.get(one, ()) if above not in found]
        return tuple(found)

    def _value(self, name: syn.Name, above: tuple[syn.Node, ...]) -> Symbol | None:
        """Resolve a name that is a value, or an argument of a built-in function."""
        node = above[-1]
        if isinstance(node, syn.When):
            return self._only(("action",), name)
        if isinstance(node, syn.Call) and node.function.value in ("did", "busy"):
            action = self._only(("action",), name)
            if action is not None:
                return action
        found = self._checked(name, name.span, (_world(above), ""))
        if found is not None:
            return found
        here = self._only(("object",), name, (_world(above), ""))
        others: tuple[Kind, ...] = ("param", "member", "actor", "alias", "event", "enum")
        return here or next(filter(None, (self._only((one,), name) for one in others)), None)

    def _checked_at(self, span: Span) -> bool:
        return any(isinstance(one, m.BuiltinCall) for one in self.terms.get(_place(span), ()))

    def _checked(
        self, name: syn.Name, span: Span, owners: tuple[str, ...] = ("",)
    ) -> Symbol | None:
        """Return the declaration that the checked term at a place refers to by a name."""
        for term in self.terms.get(_place(span), ()):
            found = self._meant(term, name, owners)
            if found is not None:
                return found
        return None

    def _meant(self, term: object, name: syn.Name, owners: tuple[str, ...]) -> Symbol | None:
        home = _HOMES.get(type(term))
        if home is not None:
            table: Mapping[str, m.Fluent] = getattr(self.program, home[0])
            declared = table.get(getattr(term, home[1]))
            return None if declared is None else self._declared(declared.span, name)
        if isinstance(term, m.ObjectLiteral):
            return self._only(("object",), name, owners)
        return self._only(("actor",), name) if isinstance(term, m.Me) else None

    def _declared(self, item: Span, name: syn.Name) -> Symbol | None:
        """Return the declaration of an item with that name: itself, member, inverse or closure."""
        last = name.value.rpartition(".")[2]
        return next((one for one in self.declared.get(_place(item), ()) if one.name == last), None)

    def _only(
        self, kinds: tuple[Kind, ...], name: syn.Name, owners: tuple[str, ...] | None = None
    ) -> Symbol | None:
        """Return the declaration of these kinds with that name: of an owner, of this file, or the
        only one."""
        last = name.value.rpartition(".")[2]
        found = [one for kind in kinds for one in self.known.get((kind, last), ())]
        if owners is not None:
            found = [one for one in found if one.owner in owners]
            found.sort(key=lambda one: owners.index(one.owner))
            return next(iter(found), None)
        here = [one for one in found if one.span.file == name.span.file]
        several = here or found
        return several[0] if len(several) == 1 else None

    def _unit(self, number: syn.Number, unit: str) -> None:
        for symbol in self.known.get(("unit", unit), ()):
            span, width = number.span, len(unit)
            place = Span(span.file, span.end - width, span.end, span.end_line,
                         span.end_column - width, span.end_line, span.end_column)  # fmt: skip
            self._note(place, symbol)

    def _module(self, use: syn.UseDecl) -> None:
        """Resolve the path of a `use` to the beginning of the file that it names."""
        inside = tuple(name.value for name in use.path)
        for source in self.sources:
            parts = source.path.with_suffix("").parts if source.path is not None else ()
            if parts[-len(inside) :] == inside:
                start = source.span(0, 0)
                where = use.path[0].span.join(use.path[-1].span)
                self._note(where, Symbol("module", ".".join(inside), start, start))
                return


def _parts(value: object) -> tuple[object, ...]:
    return value if isinstance(value, tuple) else (value,)


def _type_name(node: syn.Node) -> str:
    """Return the name of the object type that a declaration gives, or ``""``."""
    kind = getattr(node, "kind" if isinstance(node, syn.Formal | syn.Binder) else "type", None)
    name = kind.name if isinstance(kind, syn.NamedType) else kind
    return name.value if isinstance(name, syn.Name) else ""


def _value_of(node: syn.Node) -> object:
    """Return the expression that defines a local without a type: its value, or its collection."""
    return getattr(node, "collection" if isinstance(node, syn.Binder) else "value", None)


def _owner(above: Sequence[syn.Node]) -> str:
    """Return the type of the object whose field is written."""
    if not isinstance(above[-1], syn.Field) or len(above) < 2:
        return ""
    holder = above[-2]
    return holder.name.value if isinstance(holder, syn.TypeDecl) else _type_name(holder)


def _world(above: Sequence[syn.Node]) -> str:
    """Return the world that a node stands in or plays; nothing elsewhere."""
    for node in above:
        if isinstance(node, syn.WorldDecl):
            return node.name.value
        if isinstance(node, syn.ScenarioDecl):
            return node.world.value
    return ""
