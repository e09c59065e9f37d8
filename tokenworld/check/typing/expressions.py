"""Expressions to terms: one recursion over the syntax (language.md §3, §4, §11).

`check` dispatches on the class of the node. Names are looked up in `names`; types of numbers, units
and ranges are settled in `arithmetic`. Folds and statements bind variables with `check_where`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import assert_never, cast

from tokenworld import model as m
from tokenworld.check.analysis.substitution import check_size, locals_of, substituted
from tokenworld.check.draft import Abandon, Draft
from tokenworld.check.typing.advice import (
    Parameters,
    check_count,
    exchanged,
    in_words,
    of_order,
    of_pair,
    unordered,
)
from tokenworld.check.typing.arithmetic import (
    ARGUMENTS,
    BUILTINS,
    align_member,
    align_to,
    aligned,
    builtin_call,
    calculated,
    fit,
    fold_type,
    hull,
    is_builtin,
    negated,
    operand,
)
from tokenworld.check.typing.context import (
    Context,
    domain_of,
    facts_where,
    formal_binders,
    fresh_local,
    given_type,
)
from tokenworld.check.typing.names import (
    behind_alias,
    closure_named,
    collection_of,
    enum_member,
    fact_named,
    find_member,
    object_named,
    somebody_acts,
    step_type,
    term_of_name,
    wrong_type,
)
from tokenworld.check.typing.types import (
    can_equal,
    join,
    kind_type,
    number_type,
    object_type,
    optional,
    type_of_ref,
)
from tokenworld.diagnostics import Edit, Fix, Span, did_you_mean
from tokenworld.model import is_optional, map_children, show_type, without_none
from tokenworld.syntax import nodes as syn
from tokenworld.syntax.foreign.words import function_word

Logic = (
    syn.Not | syn.OverTime | syn.And | syn.Or | syn.Implies | syn.Choose | syn.Otherwise
    | syn.Compare | syn.MemberOf | syn.IsType
)  # fmt: skip


def check(expr: syn.Expr, ctx: Context, expected: m.ValueType | None = None) -> m.Term:
    """The term an expression means; ``expected`` helps bare enum members to be found.

    Raises `Abandon` once its one diagnostic is reported.
    """
    match expr:
        case syn.Number():
            return _number(expr, ctx)
        case syn.Text(template=template):
            return m.TemplateTerm(check_template(template, ctx), m.TEXT, expr.span)
        case syn.Constant(value=value):
            if value is None:
                return m.NoneLiteral(m.NONE, expr.span)
            return m.BoolLiteral(value, m.BOOL, expr.span)
        case syn.Name() | syn.Call() | syn.Attr() | syn.Method() | syn.Was() | syn.Qualified():
            return ctx.seen(check_reference(expr, ctx, expected))
        case syn.ListExpr(items=items):
            return _list(items, ctx, expected, expr.span)
        case syn.Fold() | syn.FoldOf() | syn.FoldAll():
            return check_fold(expr, ctx, expected)
        case syn.Negative(operand=inner):
            return negated(operand(check(inner, ctx), ctx), expr.span)
        case syn.Binary(op=op, left=left, right=right):
            first = operand(check(left, ctx), ctx)
            return calculated(op, first, operand(check(right, ctx), ctx), ctx, expr.span)
        case _:
            return _logic(expr, ctx, expected)


def _number(expr: syn.Number, ctx: Context) -> m.Term:
    found = number_type(ctx.draft, expr)
    return m.NumberLiteral(found.low or 0, found, expr.span)


def _logic(expr: Logic, ctx: Context, expected: m.ValueType | None) -> m.Term:
    match expr:
        case syn.Not(operand=inner):
            return m.Not(check_condition(inner, ctx), m.BOOL, expr.span)
        case syn.OverTime():
            return _over_time(expr, ctx)
        case syn.And(operands=operands):
            return m.And(_group(operands, ctx, positive=True), m.BOOL, expr.span)
        case syn.Or(operands=operands):
            return m.Or(_group(operands, ctx, positive=False), m.BOOL, expr.span)
        case syn.Implies(left=left, right=right):
            first = check_condition(left, ctx)
            second = check_condition(right, _knowing(first, ctx))
            return m.Implies(first, second, m.BOOL, expr.span)
        case syn.Choose():
            return _choose(expr, ctx, expected)
        case syn.Otherwise():
            return _otherwise(expr, ctx, expected)
        case syn.Compare():
            return _compare(expr, ctx)
        case syn.MemberOf(item=item, collection=collection):
            return _member(item, collection, ctx, expr.span)
        case syn.IsType():
            return _is_type(expr, ctx)
        case _:
            assert_never(expr)


def _over_time(expr: syn.OverTime, ctx: Context) -> m.Term:
    """A condition on all states up to now."""
    if not ctx.over_time:
        what = f"`{expr.word}` asks about all states up to now, which nothing does in a tick."
        hint = "Ask it in an ending of a world, or in a `require` or the `cost` of an action."
        ctx.draft.stop("TW0411", what, expr.span, "asked here", hint)
    terms = tuple(check_condition(one, ctx) for one in expr.operands)
    return m.BuiltinCall(expr.word, terms, m.BOOL, expr.span)


def _knowing(term: m.Term, ctx: Context, *, holds: bool = True) -> Context:
    return ctx.narrow(facts_where(term, ctx.draft.types, holds=holds))


def _group(operands: tuple[syn.Expr, ...], ctx: Context, *, positive: bool) -> tuple[m.Term, ...]:
    terms: list[m.Term] = []
    for part in operands:
        term = check_condition(part, ctx)
        ctx = _knowing(term, ctx, holds=positive)
        terms.append(term)
    return tuple(terms)


def check_condition(expr: syn.Expr, ctx: Context) -> m.Term:
    """A term that must be truth-valued."""
    term = check(expr, ctx, m.BOOL)
    if not isinstance(term.type, m.BoolType):
        number = isinstance(term.type, (m.NumberType, m.RealType))
        hint = f"Compare it with something, such as `{'> 0' if number else '!= none'}`."
        if isinstance(term.type, m.EnumType) and not is_optional(term.type):
            hint = "Compare it with a member, each in a comparison of its own: `x == a or x == b`."
        what = f"`{ctx.quoted(term)}` is {show_type(term.type)}, where a condition is needed."
        ctx.draft.stop("TW0301", what, term.span, "not true or false", hint)
    return term


def _choose(expr: syn.Choose, ctx: Context, expected: m.ValueType | None) -> m.Term:
    condition = check_condition(expr.condition, ctx)
    then = check(expr.then, _knowing(condition, ctx), expected)
    other = check(
        expr.otherwise, _knowing(condition, ctx, holds=False), expected or without_none(then.type)
    )
    joined = join(ctx.draft.types, then.type, other.type)
    if joined is None:
        what = f"The branches are {in_words(then.type)} and {in_words(other.type)}."
        ctx.draft.stop("TW0301", what, expr.span, "branches differ", "Give both the same type.")
    return _chosen(condition, then, other, joined, expr.span)


def _chosen(
    condition: m.Term, then: m.Term, other: m.Term, kind: m.ValueType, span: Span
) -> m.Term:
    then, other = (align_to(branch, kind) for branch in (then, other))
    return m.Choose(condition, then, other, kind, span)


def _otherwise(expr: syn.Otherwise, ctx: Context, expected: m.ValueType | None) -> m.Term:
    """``x otherwise y`` is ``if x != none then x else y``."""
    if isinstance(expr.value, syn.Otherwise):  # (a otherwise b) otherwise c: each is read twice
        inner = syn.Otherwise(expr.span, expr.value.default, expr.default)
        return _otherwise(syn.Otherwise(expr.span, expr.value.value, inner), ctx, expected)
    value = check(expr.value, ctx, expected)
    if not is_optional(value.type) or isinstance(value.type, m.NoneType):
        always = "always" if isinstance(value.type, m.NoneType) else "never"
        what = f"`{ctx.quoted(value)}` is {always} `none`, so nothing is left to `otherwise`."
        ctx.draft.stop("TW0307", what, expr.span, f"{always} `none`", "Write one of the two alone.")
    present = without_none(value.type)
    other = check(expr.default, ctx, expected or present)
    joined = join(ctx.draft.types, present, other.type)
    if joined is None:
        what = f"The value is {show_type(present)}, and `otherwise` it is {show_type(other.type)}."
        ctx.draft.stop("TW0301", what, expr.span, "types differ", "Give both the same type.")
    nothing = m.NoneLiteral(m.NONE, value.span)
    condition = m.Compare("!=", value, nothing, m.BOOL, value.span)
    found = _chosen(condition, replace(value, type=present), other, joined, expr.span)
    check_size(found, expr.span, ctx.draft)
    return found


def _is_member_name(expr: syn.Expr, ctx: Context) -> bool:
    """Return whether a bare name may be an enum member that needs the other side's type."""
    if not isinstance(expr, syn.Name) or expr.value in ctx.names:
        return False
    names = ctx.draft.candidates(expr)
    return not any((ctx.world, name) in ctx.draft.object_types for name in names)


def check_pair(left: syn.Expr, right: syn.Expr, ctx: Context) -> tuple[m.Term, m.Term]:
    """Check both sides of a comparison; the type of each is expected from the other."""
    if _is_member_name(left, ctx) and not _is_member_name(right, ctx):
        second = _wide(right, ctx)
        return check(left, ctx, without_none(second.type)), second
    first = _wide(left, ctx)
    return first, _wide(right, ctx, without_none(first.type))


def _wide(expr: syn.Expr, ctx: Context, expected: m.ValueType | None = None) -> m.Term:
    """A side of a test: a path keeps its declared type there, for it may be tested twice."""
    if isinstance(expr, (syn.Call, syn.Attr, syn.Method)):
        return check_reference(expr, ctx, expected)
    return check(expr, ctx, expected)


def _compare(expr: syn.Compare, ctx: Context) -> m.Term:
    left, right = check_pair(expr.left, expr.right, ctx)
    if expr.op in ("==", "!="):
        _comparable(left, right, expr, ctx)
    else:
        _ordered(left, right, expr, ctx)
    left, right = aligned(left, right, ctx, expr.span)
    return m.Compare(expr.op, left, right, m.BOOL, expr.span)


def _comparable(left: m.Term, right: m.Term, expr: syn.Compare, ctx: Context) -> None:
    again = ctx.paths and isinstance(right.type, m.NoneType)  # a condition around it tells as much
    if again or can_equal(ctx.draft.types, left.type, right.type):
        return
    what = f"{in_words(left.type)} and {in_words(right.type)} are never equal."
    what = what[0].upper() + what[1:]
    ctx.draft.stop("TW0301", what, expr.span, "types differ", of_pair(left, right, ctx))


def _ordered(left: m.Term, right: m.Term, expr: syn.Compare, ctx: Context) -> None:
    kinds = (left.type, right.type)
    for term, other in ((left, right), (right, left)):
        kind = term.type
        if isinstance(kind, m.EnumType) and not ctx.draft.enums[kind.name].ladder:
            unordered(kind, expr.span, ctx)
        if not isinstance(kind, (m.EnumType, m.NumberType, m.RealType)):
            what = f"`{ctx.quoted(term)}` is {show_type(kind)}, which has no order."
            hint = of_order(term, other, ctx)
            ctx.draft.stop("TW0301", what, term.span, "cannot be ordered", hint)
    if not can_equal(ctx.draft.types, *kinds):
        what = f"{show_type(kinds[0])} and {show_type(kinds[1])} cannot be compared."
        ctx.draft.stop("TW0301", what, expr.span, "types differ", of_pair(left, right, ctx))


def _member(item: syn.Expr, collection: syn.Expr, ctx: Context, span: Span) -> m.Term:
    if isinstance(collection, syn.ListExpr):
        first = _wide(item, ctx)
        second = _list(collection.items, ctx, m.CollectionType(first.type), collection.span)
    else:
        second = check(collection, ctx)
        element = second.type.element if isinstance(second.type, m.CollectionType) else None
        first = _wide(item, ctx, element)
    if not isinstance(second.type, m.CollectionType):
        what = f"`{ctx.quoted(second)}` is {show_type(second.type)}, not a collection."
        ctx.draft.stop("TW0301", what, second.span, "not a collection", "Use `==` for one value.")
    if not can_equal(ctx.draft.types, first.type, second.type.element):
        what = f"No {show_type(first.type)} is in a {show_type(second.type)}."
        ctx.draft.stop("TW0301", what, span, "types differ", "Test a value of the same kind.")
    first, second = align_member(first, second, ctx)
    return m.Member(first, second, m.BOOL, span)


def _list(
    items: tuple[syn.Expr, ...], ctx: Context, expected: m.ValueType | None, span: Span
) -> m.Term:
    wanted = expected.element if isinstance(expected, m.CollectionType) else None
    terms: list[m.Term] = []
    element: m.ValueType | None = None
    for item in items:
        term = check(item, ctx, without_none(wanted) if wanted is not None else None)
        joined = term.type if element is None else join(ctx.draft.types, element, term.type)
        if joined is None:
            what = "The items of a list have one type."
            ctx.draft.stop("TW0301", what, term.span, show_type(term.type), "Leave this one out.")
        element, wanted = joined, wanted or term.type
        terms.append(term)
    kind = element if element is not None else wanted or m.NONE
    same = tuple(align_to(term, kind) for term in terms)
    return m.ListTerm(same, m.CollectionType(kind), span)


def _is_type(expr: syn.IsType, ctx: Context) -> m.Term:
    term = _wide(expr.value, ctx)
    name = m.ROOT if expr.type.value == m.ROOT else object_type(ctx.draft, expr.type)
    if not isinstance(term.type, m.ObjectType):
        what = f"`{ctx.quoted(term)}` is {show_type(term.type)}, not an object."
        ctx.draft.stop("TW0301", what, term.span, "not an object", "Only objects have types.")
    if not can_equal(ctx.draft.types, term.type, m.ObjectType(name)):
        what = f"No {term.type.name} is a {name}."
        ctx.draft.stop("TW0301", what, expr.span, "never true", "Test a subtype.")
    return m.IsType(term, name, m.BOOL, expr.span)


Reference = syn.Ref | syn.Was | syn.Qualified


def check_reference(expr: Reference, ctx: Context, expected: m.ValueType | None) -> m.Term:
    """The term that a name, call, path, ``was`` or qualified member means."""
    match expr:
        case syn.Name():
            return term_of_name(expr, ctx, expected)
        case syn.Call(function=function, args=args):
            return _call(function, args, ctx, expr.span)
        case syn.Attr(base=base, name=name):
            return _path(base, name, ctx, expr.span, expected)
        case syn.Method(base=base, name=name, args=args):
            full = behind_alias(base, name, ctx)
            if full is not None:
                return _call(full, args, ctx, expr.span)
            return _attribute(base, name, args, ctx, expr.span)
        case syn.Was(ref=ref):
            return _was(ref, ctx, expr.span)
        case syn.Qualified(type=enum, name=member):
            return enum_member(enum, member, ctx, expr.span)
        case _:
            assert_never(expr)


def _path(
    base: syn.Ref, name: syn.Name, ctx: Context, span: Span, expected: m.ValueType | None
) -> m.Term:
    """``x.f``, ``c.x`` behind an alias, or a member of an enum with a raw name."""
    full = behind_alias(base, name, ctx)
    if full is not None:
        return term_of_name(full, ctx, expected)
    if isinstance(base, syn.Name) and base.raw and base.value not in ctx.names:
        enum = next((one for one in ctx.draft.candidates(base) if one in ctx.draft.enums), None)
        if enum is not None and object_named(base, ctx) is None:
            return enum_member(replace(base, value=enum), name, ctx, span)
    return _attribute(base, name, (), ctx, span)


def _attribute(
    base: syn.Ref, name: syn.Name, args: tuple[syn.Expr, ...], ctx: Context, span: Span
) -> m.Term:
    return _behind_dot(check(base, ctx), name, args, ctx, span)


def _was(ref: syn.Ref, ctx: Context, span: Span) -> m.Term:
    term = check(ref, ctx.other_state())
    if not isinstance(term, (m.Read, m.DeriveCall, m.InverseOf, m.ClosureOf, m.Member)):
        what = f"`{ctx.quoted(term)}` is the same all through a tick."
        hint = "Write `was` before an attribute, a relation, a function or a derive."
        ctx.draft.stop("TW0504", what, span, "never changes", hint)
    marked = _marked(term)
    return replace(marked, span=span) if not isinstance(marked, m.Local) else marked


def _marked(term: m.Term) -> m.Term:
    """The term with every read in it moved to the start of the tick."""
    inner = map_children(term, _marked)
    if isinstance(inner, (m.Read, m.DeriveCall, m.InverseOf, m.ClosureOf)):
        return replace(inner, was=True)
    return inner


def _call(function: syn.Name, args: tuple[syn.Expr, ...], ctx: Context, span: Span) -> m.Term:
    draft, name = ctx.draft, function.value
    match fact_named(function, ctx):
        case m.Fluent() as fluent:
            return call_fluent(fluent, args, ctx, function, span=span)
        case str() as derive:
            return _call_derive(derive, function, args, ctx, span)
        case None:
            pass
    closure = closure_named(function, ctx)
    if closure is not None:
        check_count("closure", function, closure.params, len(args), ctx.draft)
        return _related(closure, check(args[0], ctx), args[1], ctx, span)
    if is_builtin(name) and not _own_born(name, draft):
        return check_builtin(function, args, ctx, span)
    if name in draft.events:
        hint = f"Write `emits {draft.text(span)}` as a check of a scenario."
        draft.stop("TW0201", f"`{name}` is an event, and no fact.", function.span, "event", hint)
    foreign = function_word(name)
    cell = "_".join((name, *(draft.text(one.span) for one in args)))
    if (ctx.world, cell) in draft.object_types:
        foreign = f"Write `{cell}`."
    if args and name != "pick" and not (foreign and isinstance(args[0], syn.Number)):
        return _behind_dot(check(args[0], ctx), function, args[1:], ctx, span)
    known = (*draft.fluents, *draft.derive_items, *BUILTINS)
    told = "Declare it as a relation, function, table or derive."
    hint = foreign or did_you_mean(name, known) or told
    draft.stop("TW0201", f"There is no fact or function `{name}`.", function.span, "unknown", hint)


def _own_born(name: str, draft: Draft) -> bool:
    """Return whether the program has an attribute of the name of the built-in function `born`."""
    return name == "born" and any(one.name == name for one in draft.fluents.values())


def _related(fluent: m.Fluent, first: m.Term, second: syn.Expr, ctx: Context, span: Span) -> m.Term:
    """The closure of a relation called as a relation: false over `none`."""
    what = f"argument of `{fluent.closure}`"
    wanted = [optional(param.type) for param in fluent.params]
    start = fit(first, wanted[0], ctx, what)
    end = fit(check(second, ctx, wanted[1]), wanted[1], ctx, what)
    return m.Member(end, m.ClosureOf(fluent.id, start, collection_of(fluent), span), m.BOOL, span)


def call_fluent(
    fluent: m.Fluent,
    args: tuple[syn.Expr, ...],
    ctx: Context,
    name: syn.Name,
    first: m.Term | None = None,
    *,
    span: Span,
) -> m.Read:
    """A read of a stored fluent; ``first`` is the object before the dot, if any."""
    given = len(args) + (first is not None)
    if given != len(fluent.params):
        _of_nothing(fluent.fluent_kind, name, fluent.params, first, ctx)
        params = fluent.params[first is not None :]
        check_count(fluent.fluent_kind, name, params, len(args), ctx.draft)
    terms = [first] if first is not None else []
    for arg, param in zip(args, fluent.params[len(terms) :], strict=True):
        terms.append(check(arg, ctx, param.type))
    _in_order(terms, fluent.params, ctx, name)
    fitted = tuple(
        _argument(term, param.type, ctx, name)
        for term, param in zip(terms, fluent.params, strict=True)
    )
    kind = step_type(fluent, fitted, ctx.draft)
    return m.Read(fluent.id, fitted, _value_type(kind, fitted), span)


def _of_nothing(
    what: str, name: syn.Name, params: Parameters, first: m.Term | None, ctx: Context
) -> None:
    """Report an object before the dot of something that takes no arguments."""
    if first is not None and not params:
        said = f"The {what} `{name.value}` takes 0 arguments, and belongs to no object."
        hint = f"Write `{name.value}()` alone."
        ctx.draft.stop("TW0302", said, name.span, "of no object", hint)


def _in_order(terms: Sequence[m.Term], params: Parameters, ctx: Context, name: syn.Name) -> None:
    if exchanged(terms, params, ctx):
        what = f"The arguments of `{name.value}` are in the wrong order."
        first, second = (ctx.quoted(term) for term in terms)
        hint = f"Exchange them: `{name.value}({second}, {first})`."
        ctx.draft.stop("TW0301", what, terms[0].span.join(terms[1].span), "exchanged", hint)


def _argument(term: m.Term, wanted: m.ValueType, ctx: Context, name: syn.Name) -> m.Term:
    """An argument may be optional (the call is then `none`), but must be of the kind."""
    return fit(term, optional(wanted), ctx, f"argument of `{name.value}`", wanted)


def _value_type(kind: m.ValueType, args: tuple[m.Term, ...]) -> m.ValueType:
    if isinstance(kind, m.BoolType):
        return kind
    return optional(kind) if any(is_optional(arg.type) for arg in args) else kind


def _call_derive(
    derive: str,
    name: syn.Name,
    args: tuple[syn.Expr, ...],
    ctx: Context,
    span: Span,
    first: m.Term | None = None,
) -> m.Term:
    binders, kind = derive_type(derive, ctx.draft)
    somebody_acts(derive, name, ctx)
    _of_nothing("derive", name, binders, first, ctx)
    check_count("derive", name, binders[first is not None :], len(args), ctx.draft)
    terms = [first] if first is not None else []
    for arg, binder in zip(args, binders[len(terms) :], strict=True):
        terms.append(check(arg, ctx, binder.type))
    _in_order(terms, binders, ctx, name)
    fitted = tuple(
        _argument(term, binder.type, ctx, name) for term, binder in zip(terms, binders, strict=True)
    )
    return m.DeriveCall(derive, fitted, _value_type(kind, fitted), span)


def _behind_dot(
    base: m.Term, name: syn.Name, args: tuple[syn.Expr, ...], ctx: Context, span: Span
) -> m.Term:
    found, base = _member_behind(base, name, ctx)
    match found:
        case m.Fluent() if found.name == name.value:
            return call_fluent(found, args, ctx, name, base, span=span)
        case m.Fluent() if found.inverse == name.value:
            check_count("inverse", name, (), len(args), ctx.draft)
            return m.InverseOf(found.id, base, collection_of(found), span)
        case m.Fluent() if found.fluent_kind == "relation" and args:
            check_count("closure", name, found.params[1:], len(args), ctx.draft)
            return _related(found, base, args[0], ctx, span)
        case m.Fluent():
            check_count("closure", name, (), len(args), ctx.draft)
            return m.ClosureOf(found.id, base, collection_of(found), span)
        case None:
            pass
        case _:
            assert_never(found)
    match fact_named(name, ctx):
        case m.Fluent() as fluent:
            return call_fluent(fluent, args, ctx, name, base, span=span)
        case str() as derive:
            return _call_derive(derive, name, args, ctx, span, base)
        case None:
            pass
    wrong_type(base, name, ctx)


def _member_behind(base: m.Term, name: syn.Name, ctx: Context) -> tuple[m.Fluent | None, m.Term]:
    """The member after a dot, with its base as the type that has it: one of several, maybe."""
    found = find_member(ctx.draft, base.type, name.value)
    if found is None:
        for kind in ctx.further(base):
            found = find_member(ctx.draft, kind, name.value)
            if found is not None:
                return found, replace(base, type=kind)
    return found, base


def derive_type(name: str, draft: Draft) -> tuple[tuple[m.Binder, ...], m.ValueType]:
    """The parameters and type of a derive, checking it now if it is still unchecked.

    A derive that is being checked uses itself, so it is truth-valued unless it says otherwise.
    """
    if name in draft.derives:
        return draft.derives[name].params, draft.derives[name].type
    item = draft.derive_items[name]
    if name in draft.derives_open:
        params = formal_binders(Context(draft), item.params, given_type)
        return params, type_of_ref(draft, item.type) if item.type is not None else m.BOOL
    derive = _derived(item, draft)
    return derive.params, derive.type


def _derived(item: syn.DeriveDecl, draft: Draft) -> m.Derive:
    name = item.name.value
    draft.derives_open.append(name)
    try:
        params = formal_binders(Context(draft), item.params, given_type)
        ctx = Context(draft, {binder.name: binder.type for binder in params})
        wanted = type_of_ref(draft, item.type) if item.type is not None else None
        term = _derived_value(item, ctx, wanted)
    except Abandon:
        draft.derive_items.pop(name, None)
        raise
    finally:
        draft.derives_open.remove(name)
    kind = wanted if wanted is not None else term.type
    derive = m.Derive(name, params, term, kind, item.span)
    draft.derives[name] = derive
    return derive


def _derived_value(item: syn.DeriveDecl, ctx: Context, wanted: m.ValueType | None) -> m.Term:
    """The term of a derive; the names of its lets are replaced by their values."""
    draft, given, used = ctx.draft, dict[str, m.Term](), set[str]()
    for let in item.lets:
        fresh_local(let.name, ctx)
        value = check(let.value, ctx)
        used |= locals_of(value)
        given[let.name.value] = substituted(value, given)
        check_size(given[let.name.value], let.span, draft)
        ctx = ctx.bind(let.name.value, value.type)
    term = check(item.value, ctx, wanted)
    if wanted is not None:
        term = fit(term, wanted, ctx, f"derive `{item.name.value}`")
    used |= locals_of(term)
    for let in item.lets:
        if let.name.value not in used:
            fix = Fix("remove the `let`", (Edit(let.span, ""),))
            what = f"Nothing uses `{let.name.value}`."
            draft.tell("TW0904", what, let.span, "unused", "Remove it, or use it.", fix=fix)
    term = substituted(term, given)
    check_size(term, item.value.span, draft)
    return term


def check_builtin(name: syn.Name, args: tuple[syn.Expr, ...], ctx: Context, span: Span) -> m.Term:
    """A call of a built-in function."""
    if name.value in ("busy", "did"):
        return _past_command(name, args, ctx, span)
    builtin = cast(m.BuiltinName, name.value)
    check_count("function", name, ARGUMENTS[builtin], len(args), ctx.draft)
    return builtin_call(builtin, tuple(check(arg, ctx) for arg in args), ctx, span)


def _past_command(name: syn.Name, args: tuple[syn.Expr, ...], ctx: Context, span: Span) -> m.Term:
    """``busy(h)``, ``busy(h, act)`` and ``did(h, act, args…)``."""
    least, most = (1, 2) if name.value == "busy" else (2, len(args))
    if not least <= len(args) <= most:
        check_count("function", name, ("an actor", "an action")[:2], len(args), ctx.draft)
    actor = check(args[0], ctx)
    if not isinstance(actor.type, m.ObjectType):
        what = f"`{ctx.quoted(actor)}` is {show_type(actor.type)}, not an object."
        ctx.draft.stop("TW0301", what, actor.span, "does not act", "Name the acting object.")
    if len(args) == 1:
        return m.BuiltinCall("busy", (actor,), m.BOOL, span)
    action = _action_named(args[1], ctx)
    kinds = [kind_type(ctx.draft, formal.kind) for formal in action.params]
    if len(args) - 2 > len(kinds):
        params = [formal.name.value for formal in action.params]
        named = syn.Name(name.span, action.name.value)
        check_count("action", named, params, len(args) - 2, ctx.draft)
    rest = tuple(
        fit(check(arg, ctx, kind), optional(kind), ctx, f"argument of `{action.name.value}`")
        for arg, kind in zip(args[2:], kinds, strict=False)
    )
    builtin = cast(m.BuiltinName, name.value)
    return m.BuiltinCall(builtin, (actor, *rest), m.BOOL, span, action.name.value)


def _action_named(expr: syn.Expr, ctx: Context) -> syn.ActionDecl:
    """The action that ``did`` or ``busy`` speaks of."""
    name = behind_alias(expr.base, expr.name, ctx) if isinstance(expr, syn.Attr) else expr
    if not isinstance(name, syn.Name):
        hint = "Write it without arguments; these follow it."
        ctx.draft.stop("TW0201", "The name of an action is needed.", expr.span, "no action", hint)
    known = {item.name.value: item for item, _ in ctx.draft.items(syn.ActionDecl)}
    full = next((one for one in ctx.draft.candidates(name) if one in known), None)
    if full is None:
        ctx.draft.unknown("action", name, known)
    return known[full]


def check_binders(
    nodes: tuple[syn.Binder, ...], ctx: Context
) -> tuple[tuple[m.Binder, ...], Context]:
    """Binders in order; later ones see earlier variables."""
    found: list[m.Binder] = []
    for node in nodes:
        binder = _binder(node, ctx)
        found.append(binder)
        ctx = ctx.bind(binder.name, binder.type)
    return tuple(found), ctx


def _binder(node: syn.Binder, ctx: Context) -> m.Binder:
    fresh_local(node.name, ctx)
    if node.collection is None:
        kind = kind_type(ctx.draft, node.kind)
        typed = node.kind is not None
        return m.Binder(node.name.value, domain_of(kind), kind, node.span, typed)
    collection = check(node.collection, ctx)
    if not isinstance(collection.type, m.CollectionType):
        what = f"`{ctx.quoted(collection)}` is {show_type(collection.type)}, not a collection."
        hint = "Iterate over a type (`x: T`), a range or a collection (`x in c.contents`)."
        ctx.draft.stop("TW0301", what, collection.span, "not a collection", hint)
    element = without_none(collection.type.element)
    if node.kind is None:
        return m.Binder(node.name.value, m.CollectionRange(collection), element, node.span)
    kind = kind_type(ctx.draft, node.kind)
    if not isinstance(kind, m.ObjectType) or not isinstance(element, m.ObjectType):
        what = "Only objects of a collection can be filtered by type."
        ctx.draft.stop("TW0301", what, node.span, hint="Leave out the type.")
    return m.Binder(node.name.value, m.CollectionRange(collection, kind.name), kind, node.span)


def check_where(
    where: syn.Where, ctx: Context
) -> tuple[tuple[m.Binder, ...], m.Term | None, Context]:
    """Binders, their condition, and the place after it (narrowed by the condition)."""
    binders, inner = check_binders(where.binders, ctx)
    if where.condition is None:
        return binders, None, inner
    condition = check_condition(where.condition, inner)
    return binders, condition, _knowing(condition, inner)


def check_fold(
    expr: syn.Fold | syn.FoldOf | syn.FoldAll, ctx: Context, expected: m.ValueType | None
) -> m.Term:
    """A fold over bindings, over a collection, or ``min``/``max`` of values."""
    match expr:
        case syn.FoldOf():
            return _of_values(expr, ctx)
        case syn.FoldAll():
            return _of_collection(expr, ctx)
        case syn.Fold(kind=kind, value=value, where=where):
            return _of_bindings(kind, value, where, ctx, expected, expr)
        case _:
            assert_never(expr)


def _of_bindings(
    kind: m.FoldKind,
    value: syn.Expr,
    where: syn.Where,
    ctx: Context,
    expected: m.ValueType | None,
    expr: syn.Fold,
) -> m.Term:
    binders, condition, inner = check_where(where, ctx)
    term = check(value, inner, m.BOOL if kind in ("any", "all") else expected)
    counted = None if kind == "count" and not isinstance(term.type, m.BoolType) else term
    return m.Fold(kind, counted, binders, condition, fold_type(kind, term, ctx), expr.span)


def _of_collection(expr: syn.FoldAll, ctx: Context) -> m.Term:
    collection = check(expr.collection, ctx)
    if not isinstance(collection.type, m.CollectionType):
        what = f"`{ctx.quoted(collection)}` is {show_type(collection.type)}, not a collection."
        hint = f"Write `{expr.kind}(… for x: T)`, or name a collection."
        ctx.draft.stop("TW0301", what, collection.span, "not a collection", hint)
    element = collection.type.element
    binder = m.Binder("each", m.CollectionRange(collection), element, collection.span)
    item: m.Term = m.Local("each", element, collection.span)
    if expr.kind in ("any", "all") and not isinstance(element, m.BoolType):
        item = m.BoolLiteral(True, m.BOOL, collection.span)
    kind = fold_type(expr.kind, item, ctx)
    value = None if expr.kind == "count" and not isinstance(element, m.BoolType) else item
    return m.Fold(expr.kind, value, (binder,), None, kind, expr.span)


def _of_values(expr: syn.FoldOf, ctx: Context) -> m.Term:
    if expr.kind not in ("min", "max"):
        what = f"`{expr.kind}` takes one collection, or `… for x: T`."
        ctx.draft.stop("TW0302", what, expr.span, "several values", "Put them in `[ ]`.")
    terms = [check(value, ctx) for value in expr.values]
    kind = terms[0].type
    for term in terms:
        fold_type("max", term, ctx)
        joined = join(ctx.draft.types, kind, term.type)
        if joined is None:
            what = f"`{expr.kind}` compares {show_type(kind)} with {show_type(term.type)}."
            ctx.draft.stop("TW0301", what, term.span, "types differ", "Compare one kind.")
        aligned(terms[0], term, ctx, term.span)
        kind = joined
    args = tuple(align_to(term, kind) for term in terms)
    return m.BuiltinCall(expr.kind, args, hull(expr.kind, args, kind), expr.span)


def check_template(template: syn.Template, ctx: Context) -> m.Template:
    """The checked template; articles need objects or enum members, lists need collections."""
    parts = tuple(
        m.TextPart(part.value) if isinstance(part, syn.TextPart) else _slot(part, ctx)
        for part in template.parts
    )
    return m.Template(parts, template.span)


def _slot(slot: syn.Slot, ctx: Context) -> m.Slot:
    term = check(slot.value, ctx)
    listed = isinstance(term.type, m.CollectionType)
    if slot.list != listed:
        what = f"`{ctx.quoted(term)}` is {show_type(term.type)}."
        hint = "Write `{list …}` for a collection, and for nothing else."
        ctx.draft.stop("TW0301", what, slot.span, "cannot be printed so", hint)
    named = term.type.element if isinstance(term.type, m.CollectionType) else term.type
    if slot.article and not isinstance(named, (m.ObjectType, m.EnumType)):
        what = f"`{ctx.quoted(term)}` is {show_type(term.type)}, which takes no article."
        hint = f"Leave out `{slot.article}`."
        ctx.draft.stop("TW0301", what, slot.span, "no object", hint)
    return m.Slot(slot.article, slot.list, term)
