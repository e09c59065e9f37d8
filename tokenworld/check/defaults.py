"""The defaults pass: initial values, overrides of subtypes, rows of tables (language.md §2, §3)."""

from __future__ import annotations

from dataclasses import replace

from tokenworld.check.attributes import attribute_id, fact_id
from tokenworld.check.context import Context
from tokenworld.check.draft import Draft
from tokenworld.diagnostics import Related, did_you_mean
from tokenworld.model import (
    BOOL,
    BoolLiteral,
    BoolType,
    FieldValue,
    Fluent,
    Row,
    Term,
    ValueType,
    is_optional,
)
from tokenworld.syntax import nodes as syn

__all__ = ["declare_defaults"]


def declare_defaults(draft: Draft) -> None:
    """Defaults of fluents, overrides of subtypes, and rows of tables."""
    for kind, _ in draft.items(syn.TypeDecl):
        for member in kind.members:
            if isinstance(member, syn.AttributeDecl):
                key = attribute_id(kind.name.value, member.name.value)
                draft.attempt(lambda k=key, m=member: _default(draft, k, m.flags))  # type: ignore[misc]
    for function, _ in draft.items(syn.FunctionDecl):
        draft.attempt(lambda f=function: _default(draft, fact_id(f.name.value), f.flags))  # type: ignore[misc]
    for table, _ in draft.items(syn.TableDecl):
        draft.attempt(lambda t=table: _default(draft, fact_id(t.name.value), t.flags))  # type: ignore[misc]
        draft.attempt(lambda t=table: _rows(draft, t))  # type: ignore[misc]
    _overrides(draft)


def _constant(draft: Draft, value: syn.Expr, kind: ValueType, what: str) -> Term:
    from tokenworld.check.expressions import check, fit

    ctx = Context(draft, was=False, me=False)
    return fit(check(value, ctx, kind), kind, ctx, what)


def _default(draft: Draft, key: str, flags: tuple[syn.Flag, ...]) -> None:
    if key not in draft.fluents:
        return
    fluent = draft.fluents[key]
    for flag in flags:
        if isinstance(flag, syn.Default):
            what = f"default of `{fluent.name}`"
            value = _constant(draft, flag.value, fluent.type, what)
            draft.fluents[key] = replace(fluent, default=value)


def _rows(draft: Draft, table: syn.TableDecl) -> None:
    if fact_id(table.name.value) not in draft.fluents:
        return
    fluent = draft.fluents[fact_id(table.name.value)]
    rows: dict[tuple[str, ...], Row] = {}
    for item in table.rows:
        row = _row(draft, fluent, item)
        key = tuple(draft.text(term.span) for term in row.keys)
        if key in rows:
            related = (Related(rows[key].span, "the first row"),)
            what = "The table has this row twice."
            draft.tell("TW0306", what, row.span, "repeated", "Remove one.", related)
        rows[key] = row
    draft.fluents[fluent.id] = replace(fluent, rows=tuple(rows.values()))


def _row(draft: Draft, fluent: Fluent, item: syn.Row) -> Row:
    if len(item.keys) != len(fluent.params):
        what = f"A row of `{fluent.name}` has {len(fluent.params)} keys."
        draft.stop("TW0302", what, item.span, f"{len(item.keys)} given", "Correct the row.")
    keys = tuple(
        _constant(draft, _key(key), param.type, f"key of `{fluent.name}`")
        for key, param in zip(item.keys, fluent.params, strict=True)
    )
    if item.value is None:
        if not isinstance(fluent.type, BoolType):
            what = f"A row of `{fluent.name}` needs a value."
            draft.stop("TW0306", what, item.span, "no value", "Write `: value` behind the keys.")
        return Row(keys, BoolLiteral(True, BOOL, item.span), item.span)
    value = _constant(draft, item.value, fluent.type, f"value of `{fluent.name}`")
    return Row(keys, value, item.span)


def _key(key: syn.Key) -> syn.Expr:
    if isinstance(key, syn.Str):
        parts = (syn.TextPart(key.span, key.value),)
        return syn.Text(key.span, syn.Template(key.span, parts))
    return key


def _overrides(draft: Draft) -> None:
    """The effective default of each attribute of each type (TW0312 where parents differ)."""
    own: dict[str, dict[str, FieldValue]] = {name: {} for name in draft.types}
    for kind, _ in draft.items(syn.TypeDecl):
        for member in kind.members:
            if isinstance(member, syn.Field) and kind.name.value in draft.types:
                found = draft.attempt(lambda k=kind, m=member: _override(draft, k, m))  # type: ignore[misc]
                if found is not None:
                    own[kind.name.value][found.fluent] = found
    for name, kind_ in draft.types.items():
        effective = _effective(draft, name, own)
        draft.types[name] = replace(kind_, defaults=effective)


def _override(draft: Draft, kind: syn.TypeDecl, member: syn.Field) -> FieldValue:
    from tokenworld.check.attributes import attribute_of

    fluent = attribute_of(draft, kind.name.value, member.name.value)
    if fluent is None:
        names = [draft.fluents[key].name for key in draft.types[kind.name.value].attributes]
        hint = did_you_mean(member.name.value, names) or "Declare the attribute with its type."
        what = f"`{kind.name.value}` has no attribute `{member.name.value}` to override."
        draft.stop("TW0201", what, member.name.span, "unknown", hint)
    value = _constant(draft, member.value, fluent.type, f"attribute `{fluent.name}`")
    return FieldValue(fluent.id, value, member.span)


def _effective(
    draft: Draft, name: str, own: dict[str, dict[str, FieldValue]]
) -> tuple[FieldValue, ...]:
    found: list[FieldValue] = []
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
            found.append(FieldValue(key, fluent.default, fluent.span))
        elif not is_optional(fluent.type) and isinstance(fluent.type, BoolType):
            found.append(FieldValue(key, BoolLiteral(False, BOOL, fluent.span), fluent.span))
    return tuple(found)
