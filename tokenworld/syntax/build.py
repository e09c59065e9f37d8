"""Concrete trees to nodes: expressions, blocks and changes, rules, declarations, worlds, scenarios.

A builder reads the tree of one kind; the tables at the ends of the parts name them by the kind.
"""

from __future__ import annotations

from typing import Final, Literal, cast, get_args

from tokenworld.diagnostics import Diagnostic, Related
from tokenworld.syntax import declarations as d
from tokenworld.syntax import expressions as e
from tokenworld.syntax import rules as r
from tokenworld.syntax.lalr import Kid, Token, Tree
from tokenworld.syntax.templates import (
    Build,
    BuildError,
    Context,
    after,
    built,
    child,
    each,
    each_after,
    each_inside,
    has,
    kind,
    must,
    name,
    plain,
    quoted,
    template,
    token_of,
    word,
)

# ---- expressions ---------------------------------------------------------------------------------


_BINARY: Final[dict[str, e.BinaryOp]] = {
    "plus": "+",
    "minus": "-",
    "times": "*",
    "over": "/",
    "div": "div",
    "mod": "mod",
}


def expr(cx: Context, kid: Kid | None) -> e.Expr:
    """Any expression."""
    if isinstance(kid, Token):
        return number(cx, kid)
    tree: Tree = must(kid)
    cx.enter(tree)
    node: e.Expr = _BUILDERS[tree.kind](cx, tree)
    cx.leave()
    return node


def exprs(cx: Context, kids: list[Kid]) -> tuple[e.Expr, ...]:
    """Several expressions, in order."""
    return tuple(expr(cx, kid) for kid in kids)


def ref(cx: Context, kid: Kid | None) -> e.Ref:
    """A name, call, attribute or method."""
    return cast(e.Ref, expr(cx, kid))


def aka(cx: Context, tree: Tree) -> tuple[e.Expr, ...]:
    """The words after `aka` of an object or a `called` item."""
    part = tree.find("aka")
    return exprs(cx, part.all_after("aka", ",")) if part else ()


def number(cx: Context, kid: Kid | None) -> e.Number:
    """A number token, split into its digits and its unit."""
    token = token_of(kid)
    digits = token.text.rstrip("%abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
    decimals = len(digits) - digits.index(".") - 1 if "." in digits else 0
    return e.Number(cx.span(token), digits, decimals, token.text[len(digits) :] or None)


# ---- types and binders --------------------------------------------------------------------


def type_ref(cx: Context, kid: Kid | None) -> e.TypeRef:
    """A declared type: an object type, enum, primitive or range."""
    tree = must(kid)
    if not isinstance(tree, Tree):
        raise LookupError("a type is a tree")
    optional = tree.has("?")
    span = cx.span(tree)
    match tree.kind:
        case "range":
            return e.RangeType(span, bound(cx, tree.kids[0]), bound(cx, tree.kids[2]))
        case "type_primitive" | "type_primitive_optional" | "scalar":
            kind = cast(Literal["bool", "int", "real", "text"], token_of(tree).text)
            return e.PrimitiveType(span, kind, optional)
        case _:
            return e.NamedType(span, name(cx, tree), optional)


def bound(cx: Context, kid: Kid) -> e.Bound:
    """One end of a range."""
    if isinstance(kid, Tree):
        return e.Negative(cx.span(kid), number(cx, kid.kids[1]))
    return number(cx, kid)


formal: Final = built(e.Formal, (name, 0), after(type_ref, ":"))
"""`x: T`."""


params: Final = child(each(formal, "formal"), "params")
"""The parameter list of a rule or fluent."""
_BINDER: Final = built(e.Binder, (name, 0), after(type_ref, ":"), after(expr, "in"))
where: Final = built(e.Where, each(_BINDER, "binder"), after(expr, "where"))
"""Binders with their condition."""
candidates: Final = child(where, "where")
"""The binders of a loop, a fold or a pick."""


def _values(cx: Context, tree: Tree) -> tuple[e.Expr, ...]:
    """The expressions between parentheses or brackets."""
    return exprs(cx, [kid for kid in tree.kids if not _is_mark(kid)])


args: Final = child(_values, "args")
"""The arguments of a call, method or event."""


def _is_mark(kid: Kid) -> bool:
    return isinstance(kid, Token) and kid.terminal in ("(", ")", ",", "[", "]")


# ---- one function per kind of tree --------------------------------------------------------


def text(cx: Context, kid: Kid) -> e.Template:
    """A quoted text as a template, with expressions in its braces."""
    return template(cx, token_of(kid), expr)


def _constant(cx: Context, tree: Tree) -> e.Expr:
    word = token_of(tree).text
    return e.Constant(cx.span(tree), None if word == "none" else word == "true")


def _group(cx: Context, tree: Tree) -> e.Expr:
    return expr(cx, tree.kids[1])


def _and_or(cx: Context, tree: Tree) -> e.Expr:
    node = e.And if tree.kind == "and" else e.Or
    return node(cx.span(tree), exprs(cx, _operands(tree)))


def _operands(tree: Tree) -> list[Kid]:
    """The operands of one written group: the left spine of equal operators, in order."""
    found: list[Kid] = []
    left: Kid = tree
    while isinstance(left, Tree) and left.kind == tree.kind:
        found.append(left.kids[2])
        left = left.kids[0]
    return [left, *reversed(found)]


def _conditions(cx: Context, tree: Tree) -> tuple[e.Expr, ...]:
    """The conditions after a word about all states, with a `then` between two."""
    return exprs(cx, tree.kids[1::2])


def _binary(cx: Context, tree: Tree) -> e.Expr:
    op = _BINARY[tree.kind]
    return e.Binary(cx.span(tree), op, expr(cx, tree.kids[0]), expr(cx, tree.kids[2]))


_BUILDERS: Final[dict[str, Build]] = {
    "name": name,
    "text": built(e.Text, text),
    "constant": _constant,
    "call": built(e.Call, (name, 0), args),
    "attr": built(e.Attr, (ref, 0), (name, 2)),
    "method": built(e.Method, (ref, 0), (name, 2), args),
    "was": built(e.Was, (ref, 1)),
    "qualified": built(e.Qualified, (name, 0), (name, 2)),
    "group": _group,
    "list": built(e.ListExpr, _values),
    "fold": built(e.Fold, (word, 0), (expr, 2), candidates),
    "fold_of": built(e.FoldOf, (word, 0), each_after(expr, "(", ",")),
    "fold_all": built(e.FoldAll, (word, 0), (expr, 2)),
    "not": built(e.Not, (expr, 1)),
    "over_time": built(e.OverTime, (word, 0), _conditions),
    "and": _and_or,
    "or": _and_or,
    "implies": built(e.Implies, (expr, 0), (expr, 2)),
    "choose": built(e.Choose, (expr, 1), (expr, 3), (expr, 5)),
    "default_for": built(e.Otherwise, (expr, 0), (expr, 2)),
    "compare": built(e.Compare, (word, 1), (expr, 0), (expr, 2)),
    "member_of": built(e.MemberOf, (expr, 0), (expr, 2)),
    "is_type": built(e.IsType, (expr, 0), (name, 2)),
    "negative": built(e.Negative, (expr, 1)),
    **dict.fromkeys(_BINARY, _binary),
}


# ---- blocks, changes and rules -------------------------------------------------------------------


def block(cx: Context, kid: Kid | None) -> r.Block:
    """`{ … }`."""
    tree = _tree(kid)
    effects = tuple([EFFECTS[one.kind](cx, one) for one in tree.kids if isinstance(one, Tree)])
    return r.Block(cx.span(tree), effects)


def _tree(kid: Kid | None) -> Tree:
    if not isinstance(kid, Tree):
        raise LookupError("the grammar and the builder disagree")
    return kid


block_below: Final = child(block, "block")
"""The block directly below a tree."""
field: Final = built(r.Field, (name, 0), (expr, 2))
"""`name = value`."""


def fields(cx: Context, tree: Tree) -> tuple[r.Field, ...]:
    """The fields of an object or a created object; none where the braces are missing."""
    part = tree.find("fields")
    return tuple(field(cx, kid) for kid in part.trees("field")) if part else ()


def optional_text(cx: Context, tree: Tree) -> e.Template | None:
    """The quoted text directly below a tree, where there is one."""
    found = tree.strings()
    return text(cx, found[0]) if found else None


# ---- changes ------------------------------------------------------------------------------


_PICK_BY: Final = child(built(r.PickBy, (word, 1), (expr, 2)), "pick_by")
_DRAWS: Final[dict[str, Build]] = {
    "draw_chance": built(r.DrawChance, (expr, 1)),
    "draw_pick": built(r.DrawPick, candidates, _PICK_BY),
    "draw_uniform": built(r.DrawUniform, after(expr, "("), after(expr, ",")),
}


def _named(cx: Context, kid: Kid) -> r.Draw | e.Expr:
    """The value of a `let`: a draw or an expression."""
    if isinstance(kid, Tree) and kid.kind in _DRAWS:
        draw: r.Draw = _DRAWS[kid.kind](cx, kid)
        return draw
    return expr(cx, kid)


def _apply(cx: Context, tree: Tree) -> r.Effect:
    """A call; the name of an effect of a module may stand after that of the module and a dot."""
    *path, called, _ = tree.kids
    word = name(cx, called)
    if path:
        before = "".join(cx.source.text[tree.start : called.start].split())
        word = e.Name(cx.source.span(tree.start, called.end), before + word.value)
    return r.Apply(cx.span(tree), word, args(cx, tree))


def _if(cx: Context, tree: Tree) -> r.Effect:
    """The chain of `else if` becomes one list; it is walked, not recursed into."""
    branches: list[r.Branch] = []
    otherwise: r.Block | None = None
    link: Tree | None = tree
    while link is not None:
        branches.append(_branch(cx, link.kids[1], link.kids[2]))
        rest = link.after("else")
        link = rest if isinstance(rest, Tree) and rest.kind == "if" else None
        if link is None and rest is not None:
            otherwise = block(cx, rest)
    return r.If(cx.span(tree), tuple(branches), otherwise)


def _branch(cx: Context, condition: Kid, body: Kid) -> r.Branch:
    value: e.Expr = expr(cx, condition)
    span = cx.source.span(condition.start, body.end)
    return r.Branch(span, value, block(cx, body))


def _chance(cx: Context, tree: Tree) -> r.Effect:
    kids = tree.kids
    starts = [i for i, k in enumerate(kids) if isinstance(k, Token) and k.text in ("chance", "or")]
    branches = tuple(_branch(cx, kids[i + 1], kids[i + 2]) for i in starts)
    return r.Chance(cx.span(tree), branches, _OTHERWISE(cx, tree))


_OTHERWISE: Final = after(block, "else")
EFFECTS: Final[dict[str, Build]] = {
    "let": built(r.Let, (name, 1), (_named, 3)),
    "set": built(r.Set, (ref, 0), (word, 1), (expr, 2)),
    "apply": _apply,
    "add": built(r.Add, (ref, 1)),
    "remove": built(r.Remove, (ref, 1)),
    "if": _if,
    "for": built(r.For, candidates, block_below),
    "chance": _chance,
    "pick": built(r.Pick, candidates, _PICK_BY, block_below, _OTHERWISE),
    "create": built(r.Create, (name, 1), (name, 3), fields),
    "destroy": built(r.Destroy, (ref, 1)),
    "transfer": built(r.Transfer, (expr, 1), (ref, 3), (ref, 5)),
    "swap": built(r.Swap, (ref, 1), (ref, 3)),
    "emit": built(r.Emit, (name, 1), args),
    "say": built(r.Say, optional_text),
    "show": built(r.Show, (ref, 1)),
    "reward": built(r.Reward, (expr, 1)),
}
"""The statements of a body, by the kind of their tree."""


# ---- phases, actions, laws, beliefs, invariants ---------------------------------------------


def _phase(cx: Context, tree: Tree) -> r.PhaseDecl:
    """`phase p sequentially by nesting`."""
    order = tree.find("order")
    nesting = order is not None and order.find("by_nesting") is not None
    return r.PhaseDecl(cx.span(tree), name(cx, tree.kids[1]), order is not None, nesting)


def _once(flag: str, read: Build) -> Build:
    """A part of an action that may be given once: None where it is missing."""

    def build(cx: Context, tree: Tree) -> object:
        found = _only(cx, tree, flag)
        return None if found is None else read(cx, found)

    return build


def _only(cx: Context, tree: Tree, kind: str) -> Tree | None:
    found = tree.trees(kind)
    if len(found) > 1:
        word = found[0].kids[0]
        raise BuildError(
            Diagnostic(
                "TW0101",
                f"The action `{name(cx, tree.kids[1]).value}` has `{_word(word)}` twice.",
                cx.span(found[1]),
                label="given again here",
                hint="Join alternative phrases with `or`." if kind == "phrases" else "Keep one.",
                related=(Related(cx.span(found[0]), "first given here"),),
            )
        )
    return found[0] if found else None


def _word(kid: Kid) -> str:
    return kid.text if isinstance(kid, Token) else ""


def _phrases(cx: Context, tree: Tree) -> tuple[e.Template, ...]:
    found = _only(cx, tree, "phrases")
    return tuple(text(cx, token) for token in found.strings()) if found else ()


def _label(cx: Context, tree: Tree) -> e.Name | None:
    """The label after `else`, which may be followed by the text alone."""
    follows = tree.after("else")
    return name(cx, follows) if isinstance(follows, Tree) else None


_STEPS: Final[dict[str, Build]] = {
    **EFFECTS,
    "require": built(r.Require, (expr, 1), _label, optional_text),
    "cancelled": built(r.Cancelled, (block, 1)),
}
_TAKES: Final = built(r.Takes, (expr, 1), after(expr, "until"))
_DURING: Final = child(lambda cx, tree: name(cx, tree.kids[1]), "during")
_WHEN: Final = child(lambda cx, tree: expr(cx, tree.kids[1]), "when")


def _outcome(cx: Context, kid: Kid) -> r.Outcome:
    tree = _tree(kid)
    value = None if tree.kind == "otherwise" else expr(cx, tree.kids[0])
    return r.Outcome(cx.span(tree), value, expr(cx, tree.kids[2]))


_GUESSES: Final[dict[str, Build]] = {
    "let": EFFECTS["let"],
    "guess": built(r.Guess, (ref, 0), each_after(_outcome, "{", ",")),
    "guess_each": built(r.GuessEach, (ref, 0), after(_outcome, "{"), candidates, after(expr, ":")),
}
RULES: Final[dict[str, Build]] = {
    "phase": _phase,
    "action": built(
        r.ActionDecl,
        (name, 1),
        params,
        _phrases,
        _once("takes", _TAKES),
        _once("cost", lambda cx, tree: expr(cx, tree.kids[1])),
        each_inside(_STEPS),
    ),
    "effect": built(r.EffectDecl, (name, 1), params, block_below),
    "law": built(r.LawDecl, (name, 1), params, _DURING, _WHEN, block_below),
    "believe": built(
        r.BelieveDecl,
        (name, 1),
        params,
        _DURING,
        _WHEN,
        after(expr, "weight"),
        has("learned"),
        each_inside(_GUESSES),
    ),
    "birth": built(r.BirthDecl, child(formal, "formal"), block_below),
    "watch": built(r.WatchDecl, (name, 1), params, has("once"), _WHEN, block_below),
    "invariant": built(r.InvariantDecl, (name, 1), params, after(expr, ":")),
    "conserve": built(r.ConserveDecl, (name, 1), after(expr, ":"), each_after(name, "except", ",")),
}
"""The rules of a file, by the kind of their tree."""


# ---- declarations --------------------------------------------------------------------------------


def _key(cx: Context, kid: Kid) -> e.Name | e.Str | e.Number:
    """A name, number or plain text: the value of an entry, or the key of a row."""
    token = token_of(kid)
    if token.terminal == "STRING":
        return plain(cx, token)
    if token.terminal in ("NUMBER", "PERCENT", "QUANTITY"):
        return number(cx, token)
    return name(cx, kid)


# ---- types and facts ----------------------------------------------------------------------


_FLAGS: Final[dict[str, Build]] = {
    "default": built(d.Default, (expr, 1)),
    "inverse": built(d.Inverse, (name, 1)),
    "closure": built(d.Closure, (name, 1)),
    **dict.fromkeys(get_args(d.MarkKind), built(d.Mark, kind)),
}


def _flags(cx: Context, tree: Tree) -> tuple[d.Flag, ...]:
    kids = (kid for kid in tree.kids if isinstance(kid, Tree))
    # a `closure` has its own rule, so it comes wrapped in the `flag` that holds it
    bare = (kid.kids[0] if kid.kind in ("flag", "relation_flag") else kid for kid in kids)
    return tuple(
        _FLAGS[kid.kind](cx, kid) for kid in bare if isinstance(kid, Tree) and kid.kind in _FLAGS
    )


_MODIFIERS: Final = each(built(d.Modifier, word), "modifier")
_NAME: Final = child(name, "name")
_VALUE: Final = after(type_ref, ":")
_MEMBERS: Final[dict[str, Build]] = {
    "field": field,
    "attribute": built(d.AttributeDecl, _MODIFIERS, _NAME, _VALUE, _flags),
}


def _scratch(cx: Context, tree: Tree) -> tuple[d.Modifier, ...]:
    """The word `scratch`, read as a modifier."""
    return (d.Modifier(cx.span(tree.kids[0]), "scratch"),)


def _members(cx: Context, tree: Tree) -> tuple[d.AttributeDecl | r.Field, ...]:
    kids = (kid for kid in tree.kids if isinstance(kid, Tree) and kid.kind in _MEMBERS)
    return tuple(_MEMBERS[kid.kind](cx, kid) for kid in kids)


def _parents(cx: Context, tree: Tree) -> tuple[e.Name, ...]:
    parents = tree.find("parents")
    return tuple(name(cx, kid) for kid in parents.trees("typename")) if parents else ()


def _row(cx: Context, tree: Tree) -> d.Row:
    value = tree.after(":")
    keys = (tree.kids[0], *tree.all_after(","))
    return d.Row(
        cx.span(tree), tuple(_key(cx, kid) for kid in keys), expr(cx, value) if value else None
    )


def _is_ladder(_cx: Context, tree: Tree) -> bool:
    return tree.kind == "ladder"


def _title(cx: Context, tree: Tree) -> e.Str | None:
    """The quoted title of an object or a world."""
    found = tree.strings()
    return plain(cx, found[0]) if found else None


_NAMES: Final = each(name, "name")
_FORMAL: Final = child(formal, "formal")
_OBJECT: Final = built(d.ObjectDecl, _NAMES, child(name, "typename"), _title, aka, fields)
_ENTRY: Final = built(d.PddlEntry, (name, 0), each_after(_key, "=", ","))
_NAMING: Final = built(d.Naming, _NAME, after(expr, "="))
_ENUM: Final = built(d.EnumDecl, (name, 1), _NAMES, _is_ladder)


# ---- worlds and scenarios -----------------------------------------------------------------


def _rows(cx: Context, tree: Tree) -> tuple[e.Str, ...]:
    return tuple(plain(cx, token) for token in tree.strings())


_LEGEND: Final = built(d.Legend, (quoted, 1), (block, -1))
_ENDING: Final = built(d.Ending, kind, (name, 1), (expr, 3), optional_text)
_WORLD_ITEMS: Final[dict[str, Build]] = {
    "object": _OBJECT,
    "spare": built(d.Spare, (name, 1), (number, 2)),
    "layout": built(d.Layout, (name, 1), _rows, each(_LEGEND, "legend")),
    "setup": built(d.Setup, (block, -1)),
    "start_file": built(d.StartFile, (quoted, 1)),
    "tune": built(d.Tune, (name, 1), (expr, 3)),
    "time": built(d.TimePolicy, (name, 2)),
    "turns": built(d.Turns, _NAMES),
    "ambiguous": built(d.Ambiguous, (word, 1)),
    "endless": built(d.Endless),
    "outcomes": built(d.OutcomePolicy, (word, 1)),
    "goal": _ENDING,
    "lose": _ENDING,
    "stop": _ENDING,
    "award": built(d.Award, (expr, 1), (expr, 3)),
    "pays": built(d.Pays, (expr, 1), (expr, 3)),
    "score": built(d.Score, (expr, 2)),
}


def _intent(cx: Context, kid: Kid) -> d.Intent:
    if isinstance(kid, Tree) and kid.kind == "typed":
        return d.Typed(cx.span(kid), quoted(cx, kid))
    if isinstance(kid, Tree) and kid.kind == "pass":
        return d.Pass(cx.span(kid))
    return ref(cx, kid)


_CHECKS: Final[dict[str, Build]] = {
    "refused": built(d.Refused, after(name, "because")),
    "status": built(d.StatusIs, (name, 1)),
    "unchanged": built(d.Unchanged),
    "won": built(d.Won, _NAME),
    "lost": built(d.Lost, _NAME),
    "says": built(d.Says, (quoted, 1)),
    "emits": built(d.Emits, (ref, 1)),
    "within": built(d.Within, (number, 1), (expr, 2)),
    "winnable": built(d.Winnable, after(number, "within")),
    "unwinnable": built(d.Unwinnable),
}


def _check(cx: Context, kid: Kid) -> d.Check:
    if isinstance(kid, Tree) and kid.kind in _CHECKS:
        check: d.Check = _CHECKS[kid.kind](cx, kid)
        return check
    return d.Holds(cx.span(kid), expr(cx, kid))


_SCENARIO_STEPS: Final[dict[str, Build]] = {
    "given": built(d.Given, (block, -1)),
    "random": built(d.Random, (number, 1)),
    "input": built(d.When, (_intent, 1), after(name, "by"), after(number, "times")),
    "then": built(d.Then, each_after(_check, "then", ",")),
    "always_check": built(d.Always, (expr, 1)),
    "never_check": built(d.Never, (expr, 1)),
    "replay": built(d.Replay, (quoted, 1)),
}
DECLARATIONS: Final[dict[str, Build]] = {
    "edition": built(d.EditionDecl, (number, 1)),
    "use": built(d.UseDecl, each_after(name, "use", "."), after(name, "as")),
    "model": built(d.ModelDecl, (name, 1)),
    "pddl": built(d.PddlDecl, each(_ENTRY, "entry")),
    "unit": built(d.UnitDecl, (name, 1), after(number, "=")),
    "enum": _ENUM,
    "ladder": _ENUM,
    "type": built(d.TypeDecl, (name, 1), _parents, _members),
    "object": _OBJECT,
    "actor": built(d.ActorDecl, (name, 1), (name, 3)),
    "relation": built(d.RelationDecl, _MODIFIERS, _NAME, params, _flags),
    "function": built(d.FunctionDecl, _MODIFIERS, _NAME, params, _VALUE, _flags),
    "scratch": built(d.FunctionDecl, _scratch, _NAME, params, _VALUE, _flags),
    "table": built(d.TableDecl, _NAME, params, _VALUE, _flags, each(_row, "row")),
    "derive": built(d.DeriveDecl, _NAME, params, _VALUE, each(_NAMING, "naming"), (expr, -1)),
    "param": built(d.ParamDecl, (name, 1), (type_ref, 3), (expr, 5), has("learned")),
    "event": built(d.EventDecl, (name, 1), params),
    "called": built(d.CalledDecl, _FORMAL, after(expr, "="), aka),
    "scope": built(d.ScopeDecl, _FORMAL, after(expr, "=")),
    "describe": built(d.DescribeDecl, _FORMAL, block_below),
    "world": built(d.WorldDecl, (name, 1), _title, each_inside(_WORLD_ITEMS)),
    "scenario": built(d.ScenarioDecl, (quoted, 1), (name, 3), each_inside(_SCENARIO_STEPS)),
}
"""The items of a file that are no rules, by the kind of their tree."""
