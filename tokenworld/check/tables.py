"""The tables pass: every key of a table has a value (language.md §3)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from tokenworld.check.attributes import fact_id
from tokenworld.check.draft import Draft
from tokenworld.check.relations import is_subtype
from tokenworld.diagnostics import Edit, Fix, Span
from tokenworld.model import (
    BoolType,
    EnumLiteral,
    EnumType,
    Fluent,
    NumberLiteral,
    NumberType,
    ObjectLiteral,
    ObjectType,
    Term,
    ValueType,
    is_optional,
)
from tokenworld.syntax import nodes as syn

__all__ = ["check_tables"]


def check_tables(draft: Draft) -> None:
    """Tables without a default, whose values are never `none`, have all their rows (TW0306)."""
    for table, _ in draft.items(syn.TableDecl):
        fluent = draft.fluents.get(fact_id(table.name.value))
        if fluent is None or fluent.default is not None or is_optional(fluent.type):
            continue
        # Rows that failed or were repeated are reported already.
        clean = len(fluent.rows) == len(table.rows)
        if clean and not isinstance(fluent.type, BoolType):
            missing = _missing(fluent, draft)
            if missing is not None:
                _tell(table, missing, draft)


def _tell(table: syn.TableDecl, missing: tuple[str, ...], draft: Draft) -> None:
    row = ", ".join(missing)
    what = f"The table `{table.name.value}` has no row for `{row}`, and no default."
    hint = f"Add the row `{row}: …`, a default behind the type (`= …`), or make the type optional."
    fix = None
    if table.type is not None and isinstance(table.type, (syn.NamedType, syn.PrimitiveType)):
        fix = Fix("let missing rows be `none`", (Edit(_behind(table.type.span), "?"),))
    draft.tell("TW0306", what, table.name.span, "a row is missing", hint, fix=fix)


def _behind(span: Span) -> Span:
    line, column = span.end_line, span.end_column
    return Span(span.file, span.end, span.end, line, column, line, column)


def _missing(fluent: Fluent, draft: Draft) -> tuple[str, ...] | None:
    """The first keys without a row. Of a long axis only so many values are looked at that one
    more than there are rows remain: then some row is missing for sure."""
    enough = len(fluent.rows) + 1
    given = {tuple(_key(term) for term in row.keys) for row in fluent.rows}
    axes = [_axis(param.type, enough, draft) for param in fluent.params]
    for keys in product(*axes):
        if tuple(key for key, _ in keys) not in given:
            return tuple(shown for _, shown in keys)
    return None


def _key(term: Term) -> object:
    match term:
        case EnumLiteral(index=index):
            return index
        case NumberLiteral(value=value):
            return value
        case ObjectLiteral(name=name):
            return name
        case _:
            return term


def _axis(kind: ValueType, enough: int, draft: Draft) -> Sequence[tuple[object, str]]:
    """The values of one key with how they are written, in order, at most ``enough``."""
    match kind:
        case EnumType(name=name):
            members = draft.enums[name].members
            return list(enumerate(members))[:enough]
        case NumberType(low=int() as low, high=int() as high, decimals=0):
            last = min(high, low + enough - 1)
            return [(value, str(value)) for value in range(low, last + 1)]
        case ObjectType(name=name):
            named = draft.objects.values()
            fitting = [one.name for one in named if is_subtype(draft.types, one.of, name)]
            return [(one, one) for one in dict.fromkeys(fitting)][:enough]
        case _:
            return []
