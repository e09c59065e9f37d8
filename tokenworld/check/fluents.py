"""The types, fluents, defaults and tables passes (language.md §2, §3).

They declare the hierarchy of object types and every stored fluent, then initial values, overrides
of subtypes and rows of tables; every key of a table must have a value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any, Final, assert_never

from tokenworld import model as m
from tokenworld.check.draft import Draft
from tokenworld.check.typing.arithmetic import fit
from tokenworld.check.typing.context import Context
from tokenworld.check.typing.expressions import check
from tokenworld.check.typing.names import attribute_id, attribute_of, fact_id
from tokenworld.check.typing.types import is_subtype, kind_type, optional, type_of_ref
from tokenworld.diagnostics import Edit, Fix, Related, counted, did_you_mean
from tokenworld.syntax import nodes as syn
from tokenworld.syntax.foreign.words import NAMES

# ---- the hierarchy --------------------------------------------------------------------


def declare_types(draft: Draft) -> None:
    """Names, parents and ancestors of all object types."""
    items: dict[str, syn.TypeDecl] = {}
    for item, _ in draft.items(syn.TypeDecl):
        name = item.name.value
        if name in items or name in draft.enums or name == m.ROOT:
            first = items[name].span if name in items else item.span
            draft.twice("type", item.name, draft.enums[name].span if name in draft.enums else first)
            continue
        items[name] = item
    for name in items:
        _declare(draft, name, items, ())


def _declare(
    draft: Draft, name: str, items: dict[str, syn.TypeDecl], chain: tuple[str, ...]
) -> None:
    if name in draft.types:
        return
    item = items[name]
    if name in chain:
        what = f"`{name}` inherits from itself."
        draft.tell("TW0206", what, item.name.span, "inheritance cycle", "Remove one parent.")
        draft.types[name] = m.ObjectKind(name, (), (name, m.ROOT), (), (), item.span)
        return
    parents = _parents(draft, item, items)
    for parent in parents:
        _declare(draft, parent, items, (*chain, name))
    if name not in draft.types:
        ancestors = _linear(draft, name, parents)
        rooted = any(parent.value == m.ROOT for parent in item.parents)
        draft.types[name] = m.ObjectKind(name, parents, ancestors, (), (), item.span, rooted)


def _parents(draft: Draft, item: syn.TypeDecl, items: dict[str, syn.TypeDecl]) -> tuple[str, ...]:
    found: list[str] = []
    for parent in item.parents:
        if parent.value in items or parent.value in draft.types:
            found.append(parent.value)
        elif parent.value != m.ROOT:
            hint = did_you_mean(parent.value, items) or f"Declare `type {parent.value}`."
            what = f"There is no type `{parent.value}`."
            draft.tell("TW0202", what, parent.span, "unknown type", hint)
    return tuple(dict.fromkeys(found))


def _linear(draft: Draft, name: str, parents: tuple[str, ...]) -> tuple[str, ...]:
    """The type, then its ancestors, each before its own parents, last the root."""
    found: list[str] = []
    for parent in parents:
        for ancestor in draft.types[parent].ancestors:
            if ancestor in found:
                found.remove(ancestor)
            found.append(ancestor)
    rest = [ancestor for ancestor in found if ancestor != m.ROOT]
    return (name, *rest, m.ROOT)


# ---- fluents --------------------------------------------------------------------------


def declare_fluents(draft: Draft) -> None:
    """Attributes, relations, functions and tables, without their defaults."""
    for kind, _ in draft.items(syn.TypeDecl):
        for member in kind.members:
            if isinstance(member, syn.AttributeDecl):
                draft.attempt(lambda k=kind, x=member: _attribute(draft, k, x))  # type: ignore[misc]
    for relation, _ in draft.items(syn.RelationDecl):
        draft.attempt(lambda r=relation: _relation(draft, r))  # type: ignore[misc]
    for function, _ in draft.items(syn.FunctionDecl):
        draft.attempt(lambda f=function: _function(draft, f))  # type: ignore[misc]
    for table, _ in draft.items(syn.TableDecl):
        draft.attempt(lambda t=table: _table(draft, t))  # type: ignore[misc]
    _inherit(draft)


def _flagged(draft: Draft, fluent: m.Fluent, flags: tuple[syn.Flag, ...]) -> m.Fluent:
    for flag in flags:
        match flag:
            case syn.Mark(kind=kind):
                fluent = _marked(draft, fluent, kind, flag)
            case syn.Inverse(name=name):
                _leads(draft, fluent, "inverse", flag)
                fluent = replace(fluent, inverse=name.value)
            case syn.Closure(name=name):
                _leads(draft, fluent, "closure", flag)
                fluent = replace(fluent, closure=name.value)
            case syn.Default():
                pass
            case _:
                assert_never(flag)
    return fluent


def _leads(draft: Draft, fluent: m.Fluent, kind: str, flag: syn.Flag) -> None:
    """Report an inverse or a closure of a fluent that does not lead from object to object."""
    ends = (*(param.type for param in fluent.params), fluent.type)
    if fluent.fluent_kind == "relation" or (
        len(ends) == 2 and all(isinstance(end, m.ObjectType) for end in ends)
    ):
        return
    what = f"`{fluent.name}` does not lead from one object to another."
    draft.stop("TW0310", what, flag.span, f"`{kind}` does not fit", "Remove the flag.")


def _marked(draft: Draft, fluent: m.Fluent, kind: str, flag: syn.Mark) -> m.Fluent:
    numeric = fluent.type.kind in ("number", "real")
    refers = isinstance(fluent.type, m.ObjectType)
    fits = {
        "clamped": numeric,
        "unique": fluent.fluent_kind != "relation",
        "nested": refers and fluent.fluent_kind == "attribute",
        "ordered": refers and fluent.fluent_kind == "attribute",
        "symmetric": fluent.fluent_kind == "relation",
        "acyclic": fluent.fluent_kind == "relation",
    }
    if not fits[kind]:
        what = f"`{kind}` does not fit `{fluent.name}`."
        draft.stop("TW0310", what, flag.span, "flag does not fit", "Remove the flag.")
    set_: dict[str, Any] = {kind: True}
    return replace(fluent, **set_)


def _modified(fluent: m.Fluent, modifiers: tuple[syn.Modifier, ...]) -> m.Fluent:
    kinds = {modifier.kind for modifier in modifiers}
    return replace(
        fluent, static="static" in kinds, secret="secret" in kinds, scratch="scratch" in kinds
    )


def _attribute(draft: Draft, owner: syn.TypeDecl, item: syn.AttributeDecl) -> None:
    key = attribute_id(owner.name.value, item.name.value)
    if key in draft.fluents:
        draft.twice("attribute", item.name, draft.fluents[key].span)
        return
    params = (m.FluentParam("self", m.ObjectType(owner.name.value)),)
    kind = type_of_ref(draft, item.type)
    fluent = m.Fluent(key, item.name.value, "attribute", params, kind, None, item.span)
    draft.fluents[key] = _modified(_flagged(draft, fluent, item.flags), item.modifiers)


def _params(draft: Draft, formals: tuple[syn.Formal, ...]) -> tuple[m.FluentParam, ...]:
    return tuple(
        m.FluentParam(formal.name.value, kind_type(draft, formal.kind), formal.kind is not None)
        for formal in formals
    )


def _new(draft: Draft, what: str, name: syn.Name) -> bool:
    if fact_id(name.value) in draft.fluents:
        draft.twice(what, name, draft.fluents[fact_id(name.value)].span)
        return False
    return True


def _relation(draft: Draft, item: syn.RelationDecl) -> None:
    if not _new(draft, "relation", item.name):
        return
    name, params = item.name.value, _params(draft, item.params)
    fluent = m.Fluent(fact_id(name), name, "relation", params, m.BOOL, None, item.span)
    fluent = _modified(_flagged(draft, fluent, item.flags), item.modifiers)
    two_ends = len(params) == 2 and params[0].type == params[1].type
    if (fluent.symmetric or fluent.acyclic or fluent.closure) and not two_ends:
        hint = "Give it two parameters of one type."
        draft.stop("TW0310", f"`{name}` does not join two like objects.", item.span, hint=hint)
    draft.fluents[fluent.id] = fluent


def _function(draft: Draft, item: syn.FunctionDecl) -> None:
    if not _new(draft, "function", item.name):
        return
    name, kind = item.name.value, type_of_ref(draft, item.type)
    params, key = _params(draft, item.params), fact_id(name)
    fluent = m.Fluent(key, name, "function", params, kind, None, item.span)
    fluent = _modified(_flagged(draft, fluent, item.flags), item.modifiers)
    if fluent.scratch:
        _forgetful(draft, fluent, item.flags)
    draft.fluents[key] = fluent


def _forgetful(draft: Draft, fluent: m.Fluent, flags: tuple[syn.Flag, ...]) -> None:
    """A scratch slot has a value to begin each tick with, and nothing leads back from its value."""
    if not any(isinstance(flag, syn.Default) for flag in flags):
        what = f"`{fluent.name}` has no value to begin each tick with."
        draft.tell("TW0602", what, fluent.span, "value missing", "Write `= value` after its type.")
    for flag in flags:
        if not isinstance(flag, syn.Default) and getattr(flag, "kind", "") != "clamped":
            what = f"Only `clamped` fits `{fluent.name}`, which forgets its value in each tick."
            draft.tell("TW0310", what, flag.span, "flag does not fit", "Remove the flag.")


def _table(draft: Draft, item: syn.TableDecl) -> None:
    if not _new(draft, "table", item.name):
        return
    name = item.name.value
    kind: m.ValueType = type_of_ref(draft, item.type) if item.type is not None else m.BOOL
    params, key = _params(draft, item.params), fact_id(name)
    fluent = m.Fluent(key, name, "table", params, kind, None, item.span)
    draft.fluents[key] = replace(_flagged(draft, fluent, item.flags), static=True)


def _inherit(draft: Draft) -> None:
    """Attributes of each type, inherited ones first; one name, one declaration (TW0311)."""
    own: dict[str, list[m.Fluent]] = {}
    for fluent in draft.fluents.values():
        if fluent.fluent_kind == "attribute" and isinstance(fluent.params[0].type, m.ObjectType):
            own.setdefault(fluent.params[0].type.name, []).append(fluent)
    told = set[tuple[str, str]]()  # a subtype has the two attributes of its parents as well
    for name, kind in sorted(draft.types.items(), key=lambda one: len(one[1].ancestors)):
        found: dict[str, str] = {}
        for ancestor in reversed(kind.ancestors):
            for fluent in own.get(ancestor, ()):
                pair = found.get(fluent.name, fluent.id), fluent.id
                if pair[0] != pair[1] and pair not in told:
                    _declared_again(draft, name, draft.fluents[pair[0]], fluent)
                    told.add(pair)
                found[fluent.name] = fluent.id
        draft.types[name] = replace(kind, attributes=tuple(found.values()))


def _declared_again(draft: Draft, name: str, first: m.Fluent, second: m.Fluent) -> None:
    """Report two attributes of one name: of a type and its parent, or of two parents."""
    owners = [m.show_type(one.params[0].type) for one in (first, second)]
    what = f"`{name}` would have two attributes `{second.name}`."
    hint = "Rename one, or declare it in a common parent."
    if owners[0] in draft.types[owners[1]].ancestors:
        what = f"`{owners[1]}` declares `{second.name}` again: it has it from `{owners[0]}`."
        value = _default_text(draft, second)
        own = f"Write `{second.name} = {value}`" if value else "Remove it"
        hint = f"{own}: `{owners[0]}` declares it."
    related = (Related(first.span, "the other one"),)
    draft.tell("TW0311", what, second.span, "declared here", hint, related)


def _default_text(draft: Draft, fluent: m.Fluent) -> str | None:
    """The source text of the default of an attribute."""
    members = (one for kind, _ in draft.items(syn.TypeDecl) for one in kind.members)
    flags = next((one.flags for one in members if one.span == fluent.span), ())  # type: ignore[union-attr]
    return next((draft.text(one.value.span) for one in flags if isinstance(one, syn.Default)), None)


def declare_defaults(draft: Draft) -> None:
    """Defaults of fluents, overrides of subtypes, and rows of tables."""
    for kind, _ in draft.items(syn.TypeDecl):
        for member in kind.members:
            if isinstance(member, syn.AttributeDecl):
                key = attribute_id(kind.name.value, member.name.value)
                draft.attempt(lambda k=key, x=member: _default(draft, k, x.flags))  # type: ignore[misc]
    for function, _ in draft.items(syn.FunctionDecl):
        draft.attempt(lambda f=function: _default(draft, fact_id(f.name.value), f.flags))  # type: ignore[misc]
    for table, _ in draft.items(syn.TableDecl):
        draft.attempt(lambda t=table: _default(draft, fact_id(t.name.value), t.flags))  # type: ignore[misc]
        draft.attempt(lambda t=table: _rows(draft, t))  # type: ignore[misc]
    _overrides(draft)


def _constant(draft: Draft, value: syn.Expr, kind: m.ValueType, what: str) -> m.Term:
    ctx = Context(draft, was=False, me=False)
    return fit(check(value, ctx, kind), kind, ctx, what)


def _default(draft: Draft, key: str, flags: tuple[syn.Flag, ...]) -> None:
    if key not in draft.fluents:
        return
    fluent = draft.fluents[key]
    for flag in flags:
        if isinstance(flag, syn.Default):
            what = f"default of `{fluent.name}`"
            if _means_none(flag.value):  # an error is told here, and not where it is compared
                draft.fluents[key] = replace(fluent, type=optional(fluent.type))
                _may_be_none(draft, fluent, flag.value)
            value = _constant(draft, flag.value, fluent.type, what)
            draft.fluents[key] = replace(fluent, default=value)


def _may_be_none(draft: Draft, fluent: m.Fluent, value: syn.Expr) -> None:
    """Report the default `none` of a type that has no `none` (TW0307)."""
    if m.is_optional(fluent.type) or isinstance(fluent.type, m.BoolType):
        return
    what, shown = f"The default of `{fluent.name}` is never `none`.", m.show_type(fluent.type)
    hint = f"Write `{fluent.name}: {shown}?`, which begins as `none`."
    draft.stop("TW0307", what, value.span, "`none`", hint)


def _means_none(value: syn.Expr) -> bool:
    """Return whether a default is `none`, as it is written here or in other languages."""
    if isinstance(value, syn.Name):
        return NAMES.get(value.value) == NAMES["null"]
    return isinstance(value, syn.Constant) and value.value is None


def _rows(draft: Draft, table: syn.TableDecl) -> None:
    if fact_id(table.name.value) not in draft.fluents:
        return
    fluent = draft.fluents[fact_id(table.name.value)]
    rows: dict[tuple[str, ...], m.Row] = {}
    for item in table.rows:
        row = _row(draft, fluent, item)
        key = tuple(draft.text(term.span) for term in row.keys)
        if key in rows:
            related = (Related(rows[key].span, "the first row"),)
            what = "The table has this row twice."
            draft.tell("TW0306", what, row.span, "repeated", "Remove one.", related)
        rows[key] = row
    draft.fluents[fluent.id] = replace(fluent, rows=tuple(rows.values()))


def _keys_behind(draft: Draft, row: syn.Row, lacking: int) -> list[str]:
    """The keys that a row lacks, where they stand right behind it as rows of their own."""
    tables = (one for one, _ in draft.items(syn.TableDecl) if row in one.rows)
    rows = [one for table in tables for one in table.rows if one.span.start >= row.span.start]
    keys = list[str]()
    for one in rows[1:]:
        near = one.span.line == row.span.line and one.value is None
        if not near or len(keys) >= lacking:
            break
        keys += [draft.text(key.span) for key in one.keys]
    return keys if len(keys) == lacking else []


def _row(draft: Draft, fluent: m.Fluent, item: syn.Row) -> m.Row:
    if len(item.keys) != len(fluent.params):
        what = f"A row of `{fluent.name}` has {counted(len(fluent.params), 'key')}."
        told = [draft.text(key.span) for key in item.keys]
        hint = f"Write {counted(len(fluent.params), 'key')}, a colon and the value: `a: 1`."
        if item.value is None and isinstance(fluent.type, m.BoolType):
            hint = f"Write {counted(len(fluent.params), 'key')} with commas: `a, b`."
            following = _keys_behind(draft, item, len(fluent.params) - len(told))
            hint = f"Write `{', '.join((*told, *following))}`." if following else hint
        elif item.value is None and len(told) == len(fluent.params) + 1:
            hint = f"Write a colon before the value: `{', '.join(told[:-1])}: {told[-1]}`."
        draft.stop("TW0302", what, item.span, f"{len(item.keys)} given", hint)
    keys = tuple(
        _constant(draft, _argument_key(key), param.type, f"key of `{fluent.name}`")
        for key, param in zip(item.keys, fluent.params, strict=True)
    )
    if item.value is None:
        if not isinstance(fluent.type, m.BoolType):
            what = f"A row of `{fluent.name}` needs a value."
            draft.stop("TW0306", what, item.span, "no value", "Write `: value` after the keys.")
        return m.Row(keys, m.BoolLiteral(True, m.BOOL, item.span), item.span)
    value = _constant(draft, item.value, fluent.type, f"value of `{fluent.name}`")
    return m.Row(keys, value, item.span)


def _argument_key(key: syn.Key) -> syn.Expr:
    if isinstance(key, syn.Str):
        parts = (syn.TextPart(key.span, key.value),)
        return syn.Text(key.span, syn.Template(key.span, parts))
    return key


def _overrides(draft: Draft) -> None:
    """The effective default of each attribute of each type (TW0312 where parents differ)."""
    own: dict[str, dict[str, m.FieldValue]] = {name: {} for name in draft.types}
    for kind, _ in draft.items(syn.TypeDecl):
        for member in kind.members:
            if isinstance(member, syn.Field) and kind.name.value in draft.types:
                found = draft.attempt(lambda k=kind, x=member: _override(draft, k, x))  # type: ignore[misc]
                if found is not None:
                    own[kind.name.value][found.fluent] = found
    for name, kind_ in draft.types.items():
        effective = _effective(draft, name, own)
        draft.types[name] = replace(kind_, defaults=effective)


NO_ATTRIBUTE: Final = "no attribute of this type or its parents"
"""The label of a default for an attribute that nobody declares."""


def _override(draft: Draft, kind: syn.TypeDecl, member: syn.Field) -> m.FieldValue:
    fluent = attribute_of(draft, kind.name.value, member.name.value)
    if fluent is None:
        names = [draft.fluents[key].name for key in draft.types[kind.name.value].attributes]
        kind_of = draft.text(member.value.span) in ("true", "false")
        shown = "bool" if kind_of else "0 to 9"
        example = f"Write its type after a colon: `{member.name.value}: {shown} = …`."
        hint = did_you_mean(member.name.value, names) or example
        what = f"`{kind.name.value}` has no attribute `{member.name.value}` to override."
        draft.stop("TW0201", what, member.name.span, NO_ATTRIBUTE, hint)
    value = _constant(draft, member.value, fluent.type, f"attribute `{fluent.name}`")
    return m.FieldValue(fluent.id, value, member.span)


def _effective(
    draft: Draft, name: str, own: dict[str, dict[str, m.FieldValue]]
) -> tuple[m.FieldValue, ...]:
    found: list[m.FieldValue] = []
    for key in draft.types[name].attributes:
        fluent = draft.fluents[key]
        sources = [step for step in draft.types[name].ancestors if key in own.get(step, {})]
        nearest = [
            step
            for step in sources
            if not any(step != s and step in draft.types[s].ancestors for s in sources)
        ]
        values = {draft.text(own[step][key].value.span) for step in nearest}
        if len(values) > 1:
            what = f"The parents of `{name}` give `{fluent.name}` different defaults."
            hint = f"State `{fluent.name} = …` in `{name}`."
            draft.tell("TW0312", what, draft.types[name].span, "defaults differ", hint)
        if nearest:
            found.append(own[nearest[0]][key])
        elif fluent.default is not None:
            found.append(m.FieldValue(key, fluent.default, fluent.span))
        elif not m.is_optional(fluent.type) and isinstance(fluent.type, m.BoolType):
            found.append(m.FieldValue(key, m.BoolLiteral(False, m.BOOL, fluent.span), fluent.span))
    return tuple(found)


def check_tables(draft: Draft) -> None:
    """Tables without a default, whose values are never `none`, have all their rows (TW0306)."""
    for table, _ in draft.items(syn.TableDecl):
        fluent = draft.fluents.get(fact_id(table.name.value))
        if fluent is None or fluent.default is not None or m.is_optional(fluent.type):
            continue
        # Rows that failed or were repeated are reported already.
        clean = len(fluent.rows) == len(table.rows)
        if clean and not isinstance(fluent.type, m.BoolType):
            missing = _missing(fluent, draft)
            if missing is not None:
                _tell(table, missing, draft)


def _tell(table: syn.TableDecl, missing: tuple[str, ...], draft: Draft) -> None:
    row = ", ".join(missing)
    what = f"The table `{table.name.value}` has no row for `{row}`, and no default."
    hint = f"Add the row `{row}: …`, a default after the type (`= …`), or make the type optional."
    fix = None
    if table.type is not None and isinstance(table.type, (syn.NamedType, syn.PrimitiveType)):
        fix = Fix("let missing rows be `none`", (Edit(table.type.span.after, "?"),))
    draft.tell("TW0306", what, table.name.span, "a row is missing", hint, fix=fix)


def _missing(fluent: m.Fluent, draft: Draft) -> tuple[str, ...] | None:
    """The first keys without a row. Of a long axis only so many values are looked at that one
    more than there are rows remain: then some row is missing for sure."""
    enough = len(fluent.rows) + 1
    given = {tuple(_key(term) for term in row.keys) for row in fluent.rows}
    axes = [_axis(param.type, enough, draft) for param in fluent.params]
    for keys in product(*axes):
        if tuple(key for key, _ in keys) not in given:
            return tuple(shown for _, shown in keys)
    return None


def _key(term: m.Term) -> object:
    match term:
        case m.EnumLiteral(index=index):
            return index
        case m.NumberLiteral(value=value):
            return value
        case m.ObjectLiteral(name=name):
            return name
        case (
            m.LeafTerm()
            | m.StateTerm()
            | m.LogicTerm()
            | m.TestTerm()
            | m.NumberTerm()
            | m.CompositeTerm()
        ):
            return term
        case _:
            assert_never(term)


def _axis(kind: m.ValueType, enough: int, draft: Draft) -> Sequence[tuple[object, str]]:
    """The values of one key with how they are written, in order, at most ``enough``."""
    match kind:
        case m.EnumType(name=name):
            members = draft.enums[name].members
            return list(enumerate(members))[:enough]
        case m.NumberType(low=int() as low, high=int() as high, decimals=0):
            last = min(high, low + enough - 1)
            return [(value, str(value)) for value in range(low, last + 1)]
        case m.ObjectType(name=name):
            named = draft.objects.values()
            fitting = [one.name for one in named if is_subtype(draft.types, one.of, name)]
            return [(one, one) for one in dict.fromkeys(fitting)][:enough]
        case (
            m.BoolType() | m.NumberType() | m.RealType() | m.TextType() | m.NoneType()
            | m.CollectionType()
        ):  # fmt: skip
            return []
        case _:
            assert_never(kind)
