"""Every construct of the language by name, and how it is found in a checked model and in records.

The list follows the language reference, section by section. The constructs of a random world are
read off its model, never off its text; those that a run used are read off its records.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tokenworld.ground import Outcome
from tokenworld.model import (
    Action,
    Body,
    CollectionRange,
    Compare,
    Create,
    DeriveCall,
    Effect,
    EnumType,
    Fold,
    Let,
    Member,
    NumberType,
    ObjectLiteral,
    ObjectType,
    Program,
    Read,
    RealType,
    Require,
    Say,
    Slot,
    Template,
    Term,
    TextType,
    World,
    effects_in,
    is_default,
    is_optional,
    subterms,
    terms_of,
)

__all__ = [
    "CONSTRUCTS",
    "Test",
    "action_",
    "bodies",
    "builtin",
    "draws",
    "effect_",
    "effects",
    "ending_",
    "exact",
    "fluent",
    "fold_",
    "in_list",
    "in_program",
    "in_record",
    "kind_",
    "let_",
    "literal_slot",
    "names_",
    "narrowed",
    "over_",
    "overridden",
    "phase_",
    "roots",
    "slot_",
    "slots",
    "templates",
    "term_",
    "terms",
    "unsaid_parameter",
    "was_",
]


Test = Callable[[Program, World], bool]


# ---- parts of a program -------------------------------------------------------------------


def bodies(program: Program, world: World) -> Iterator[Body]:
    for action in program.actions.values():
        yield from (action.body, action.cancelled)
        yield tuple(guard for guard in action.guards if isinstance(guard, Let))
    yield from (law.body for law in program.laws.values())
    yield from (birth.body for birth in program.births)
    yield from (watch.body for watch in program.watches.values())
    yield from (rule.body for rule in program.describes)
    yield from world.setups
    yield from (legend.body for layout in world.layouts for legend in layout.legends)


def effects(program: Program, world: World) -> Iterator[Effect]:
    for body in bodies(program, world):
        yield from effects_in(body)


def templates(program: Program, world: World) -> Iterator[Template]:
    yield from (one.template for one in effects(program, world) if isinstance(one, Say))
    for action in program.actions.values():
        yield from (one.text for one in action.requires if one.text is not None)
    yield from (line.text for line in world.endings if line.text is not None)


def slots(program: Program, world: World) -> Iterator[Slot]:
    for template in templates(program, world):
        yield from (part for part in template.parts if isinstance(part, Slot))


def roots(program: Program, world: World) -> Iterator[Term]:
    for effect in effects(program, world):
        yield from terms_of(effect)
    for action in program.actions.values():
        yield from (one.condition for one in action.requires)
        yield from (t for t in (action.takes, action.until, action.cost) if t is not None)
    yield from (law.when for law in program.laws.values() if law.when is not None)
    yield from (watch.when for watch in program.watches.values())
    yield from (derive.value for derive in program.derives.values())
    yield from (line.condition for line in world.endings)
    yield from (slot.term for slot in slots(program, world))
    yield from (rule.name for rule in program.called)


def terms(program: Program, world: World) -> Iterator[Term]:
    for root in roots(program, world):
        yield from subterms(root)


# ---- makers of tests ----------------------------------------------------------------------


def term_(kind: str, **wanted: object) -> Test:
    return lambda program, world: any(
        term.kind == kind and all(getattr(term, key) == value for key, value in wanted.items())
        for term in terms(program, world)
    )


def effect_(kind: str, **wanted: object) -> Test:
    return lambda program, world: any(
        one.kind == kind and all(getattr(one, key) == value for key, value in wanted.items())
        for one in effects(program, world)
    )


def let_(kind: str) -> Test:
    return lambda program, world: any(
        isinstance(one, Let) and one.value.kind == kind for one in effects(program, world)
    )


def draws(body: Body) -> bool:
    """Whether a body asks chance for anything."""
    drawn = ("draw_chance", "draw_pick", "draw_uniform")
    return any(
        one.kind in ("chance", "pick") or (isinstance(one, Let) and one.value.kind in drawn)
        for one in effects_in(body)
    )


def fluent(**wanted: object) -> Test:
    return lambda program, world: any(
        all(getattr(one, key) == value for key, value in wanted.items())
        for one in program.fluents.values()
    )


def kind_(test: Callable[[object], bool]) -> Test:
    return lambda program, world: any(test(one.type) for one in program.fluents.values())


def action_(test: Callable[[Action], bool]) -> Test:
    return lambda program, world: any(test(one) for one in program.actions.values())


def phase_(order: str) -> Test:
    return lambda program, world: any(
        phase.order == order and any(law.phase == phase.name for law in program.laws.values())
        for phase in program.phases.values()
    )


def ending_(kind: str) -> Test:
    return lambda program, world: any(line.ending == kind for line in world.endings)


def slot_(test: Callable[[Slot], bool]) -> Test:
    return lambda program, world: any(test(one) for one in slots(program, world))


def fold_(kind: str) -> Test:
    return term_("fold", fold=kind)


def builtin(name: str) -> Test:
    return term_("builtin", name=name)


def over_(test: Callable[[CollectionRange], bool]) -> Test:
    return lambda program, world: any(
        isinstance(binder.domain, CollectionRange) and test(binder.domain)
        for term in terms(program, world)
        if isinstance(term, Fold)
        for binder in term.binders
    )


def literal_slot(program: Program, world: World) -> bool:
    return any(
        isinstance(part, Slot) and part.term.kind != "local"
        for action in program.actions.values()
        for phrase in action.phrases
        for part in phrase.parts
    )


def unsaid_parameter(program: Program, world: World) -> bool:
    return any(
        any(
            all(not (isinstance(part, Slot) and names_(part, binder.name)) for part in phrase.parts)
            for binder in action.params
        )
        for action in program.actions.values()
        for phrase in action.phrases
    )


def names_(slot: Slot, name: str) -> bool:
    return slot.term.kind == "local" and getattr(slot.term, "name", "") == name


def narrowed(program: Program, world: World) -> bool:
    return any(
        (isinstance(part, Compare) and part.op == "!=" and part.right.kind == "none_literal")
        or part.kind == "is_type"
        for action in program.actions.values()
        for guard in action.guards
        if isinstance(guard, Require)
        for part in subterms(guard.condition)
    )


def narrowed_path(program: Program, world: World) -> bool:
    """An argument that is there by a condition, and is optional where it is declared."""
    return any(
        isinstance(arg, Read)
        and is_optional(program.fluents[arg.fluent].type)
        and not is_optional(arg.type)
        for term in terms(program, world)
        if isinstance(term, Read)
        for arg in term.args
    )


def overridden(program: Program, world: World) -> bool:
    return any(
        field.span != program.fluents[field.fluent].span
        and program.fluents[field.fluent].default is not None
        and field.value != program.fluents[field.fluent].default
        for kind in program.types.values()
        for field in kind.defaults
    )


def given_(program: Program, world: World, kind: str) -> bool:
    """Whether a derive that is called has a parameter of a kind without a list of values."""
    called = {term.derive for term in terms(program, world) if isinstance(term, DeriveCall)}
    return any(one.type.kind == kind for name in called for one in program.derives[name].params)


def let_in_a_derive(program: Program, world: World) -> bool:
    """A derive with a `let` before its value."""
    return any(
        part.span.file == derive.value.span.file and part.span.start < derive.value.span.start
        for derive in program.derives.values()
        for part in subterms(derive.value)
    )


def in_list(program: Program, world: World) -> bool:
    return any(
        isinstance(term, Member) and term.collection.kind == "list"
        for term in terms(program, world)
    )


def was_(program: Program, world: World) -> bool:
    return any(isinstance(term, Read) and term.was for term in terms(program, world))


def exact(decimals: int = 0, unit: str = "") -> Callable[[object], bool]:
    return lambda kind: (
        isinstance(kind, NumberType) and kind.decimals >= decimals and kind.unit == unit
    )


def _declared(program: Program) -> frozenset[str]:
    return frozenset(one.name for one in program.objects.values())


IN_PROGRAM: dict[str, Test] = {
    # §1 files, names
    "module": lambda p, w: len(p.sources) > 1,
    "raw name": lambda p, w: any("-" in name for name in p.objects),
    "quirk": lambda p, w: any(one.quirk for one in p.actions.values()),
    # §2 types, numbers, attributes
    "inheritance": lambda p, w: any(len(one.parents) == 1 for one in p.types.values()),
    "multiple inheritance": lambda p, w: any(len(one.parents) > 1 for one in p.types.values()),
    "default overridden": overridden,
    "enum": lambda p, w: any(not one.ladder for one in p.enums.values()),
    "ladder": lambda p, w: any(one.ladder for one in p.enums.values()),
    "bool": kind_(lambda kind: getattr(kind, "kind", "") == "bool"),
    "optional enum": kind_(lambda kind: isinstance(kind, EnumType) and kind.optional),
    "optional object": kind_(lambda kind: isinstance(kind, ObjectType) and kind.optional),
    "object that is never none": kind_(
        lambda kind: isinstance(kind, ObjectType) and not kind.optional
    ),
    "range": kind_(exact()),
    "negative range": kind_(lambda k: isinstance(k, NumberType) and (k.low or 0) < 0),
    "decimals": kind_(exact(1)),
    "units": kind_(lambda kind: isinstance(kind, NumberType) and kind.unit not in ("", "%")),
    "multiple of a unit": lambda p, w: any(one.multiple != 1 for one in p.units.values()),
    "percent": kind_(exact(2, "%")),
    "int": kind_(lambda kind: isinstance(kind, NumberType) and kind.low is None),
    "real": kind_(lambda kind: isinstance(kind, RealType)),
    "text": kind_(lambda kind: isinstance(kind, TextType)),
    "optional text": kind_(lambda kind: isinstance(kind, TextType) and kind.optional),
    "static": fluent(static=True, fluent_kind="attribute"),
    "secret": fluent(secret=True),
    "clamped": fluent(clamped=True),
    "unique": fluent(unique=True),
    "inverse": lambda p, w: any(one.inverse for one in p.fluents.values()),
    "nested unordered containment": fluent(nested=True, ordered=False),
    "nested ordered containment": fluent(nested=True, ordered=True),
    "inverse without nesting": lambda p, w: any(
        one.inverse and not one.nested for one in p.fluents.values()
    ),
    # §3 relations, functions, tables, derives
    "relation": fluent(fluent_kind="relation"),
    "relation of one": lambda p, w: any(
        one.fluent_kind == "relation" and len(one.params) == 1 for one in p.fluents.values()
    ),
    "symmetric": fluent(symmetric=True),
    "acyclic": fluent(acyclic=True),
    "closure": lambda p, w: any(
        one.closure and one.fluent_kind == "relation" for one in p.fluents.values()
    ),
    "scratch": fluent(scratch=True),
    "world variable": lambda p, w: any(
        one.fluent_kind == "function" and not one.params for one in p.fluents.values()
    ),
    "function of one": lambda p, w: any(
        one.fluent_kind == "function" and len(one.params) == 1 for one in p.fluents.values()
    ),
    "function of two": lambda p, w: any(
        one.fluent_kind == "function" and len(one.params) == 2 for one in p.fluents.values()
    ),
    "table": fluent(fluent_kind="table"),
    "two-key table": lambda p, w: any(
        one.fluent_kind == "table" and len(one.params) == 2 for one in p.fluents.values()
    ),
    "table of a relation": lambda p, w: any(
        one.fluent_kind == "table" and one.type.kind == "bool" for one in p.fluents.values()
    ),
    "optional table": lambda p, w: any(
        one.fluent_kind == "table" and is_optional(one.type) for one in p.fluents.values()
    ),
    "derive": lambda p, w: any(not one.recursive for one in p.derives.values()),
    "recursive derive": lambda p, w: any(one.recursive for one in p.derives.values()),
    "derive that asks who acts": lambda p, w: any(one.uses_me for one in p.derives.values()),
    "let in a derive": let_in_a_derive,
    "bool parameter": lambda p, w: given_(p, w, "bool"),
    "real parameter": lambda p, w: given_(p, w, "real"),
    "params": lambda p, w: bool(p.params) and term_("param_read")(p, w),
    "learned param": lambda p, w: any(one.learned for one in p.params.values()),
    "param set by a world": lambda p, w: bool(w.params),
    # §4 expressions
    "and": term_("and"), "or": term_("or"), "not": term_("not"), "implies": term_("implies"),
    "if then else": term_("choose"),
    "otherwise": lambda p, w: any(is_default(term) for term in terms(p, w)),
    **{f"comparison {op}": term_("compare", op=op) for op in ("==", "!=", "<", "<=", ">", ">=")},
    **{f"operator {op}": term_("arithmetic", op=op) for op in ("+", "-", "*", "/", "div", "mod")},
    "sign": term_("negate"),
    "real mod": lambda p, w: any(
        t.kind == "arithmetic" and t.op == "mod" and isinstance(t.type, RealType)
        for t in terms(p, w)
    ),
    "mixed decimals": term_("rescale"),
    "mixed exact and real": term_("to_real"),
    **{f"fold {one}": fold_(one) for one in
       ("any", "all", "count", "sum", "min", "max", "first", "last")},
    "fold of a collection": over_(lambda domain: True),
    "fold over a type in a collection": over_(lambda domain: domain.only is not None),
    "several loop variables": lambda p, w: any(
        isinstance(t, Fold) and len(t.binders) > 1 for t in terms(p, w)
    ),
    "membership": term_("member"),
    "membership in a list": in_list,
    "is": term_("is_type"),
    "contents": term_("inverse_of"),
    "inside": term_("closure_of"),
    "was": was_,
    "narrowing": narrowed,
    "narrowed path": narrowed_path,
    "me": term_("me"),
    "text as a value": term_("template"),
    **{f"function {one}": builtin(one) for one in
       ("abs", "min", "max", "clamp", "toward", "sign", "floor", "round", "sqrt", "sin", "cos",
        "exp", "log", "pow", "pi", "next", "prev", "tick", "id", "busy", "did", "score")},
    "function born": lambda p, w: any(
        isinstance(one, Read) and p.fluents[one.fluent].name == "born" for one in terms(p, w)
    ),
    # §5 changes
    "assign": effect_("assign", op="="), "increase": effect_("assign", op="+="),
    "decrease": effect_("assign", op="-="), "add": effect_("add"), "remove": effect_("remove"),
    "let": effect_("let"), "if": effect_("if"), "for": effect_("for"),
    "create": effect_("create"), "destroy": effect_("destroy"),
    "transfer": effect_("transfer"), "swap": effect_("swap"),
    "emit": effect_("emit"), "say": effect_("say"), "describe in a body": effect_("describe"),
    "reward": effect_("reward"),
    "effect with a name": lambda p, w: any(
        isinstance(one, Let) and "`" in one.name for one in effects(p, w)
    ),
    "birth": lambda p, w: bool(p.births) and any(isinstance(e, Create) for e in effects(p, w)),
    # §6 actions
    "require": action_(lambda one: bool(one.requires)),
    "require without a label": action_(lambda one: any(not r.label for r in one.requires)),
    "require without a text": action_(
        lambda one: any(r.label and r.text is None for r in one.requires)
    ),
    "let before a require": action_(lambda one: any(isinstance(g, Let) for g in one.guards)),
    "enum parameter": action_(lambda one: any(isinstance(b.type, EnumType) for b in one.params)),
    "range parameter": action_(lambda one: any(isinstance(b.type, NumberType) for b in one.params)),
    "two parameters": action_(lambda one: len(one.params) > 1),
    "takes 0": action_(lambda one: getattr(one.takes, "value", None) == 0),
    "takes n": action_(lambda one: getattr(one.takes, "value", 0) > 1),
    "takes a term": action_(lambda one: one.takes is not None and one.takes.kind == "param_read"),
    "until": action_(lambda one: one.until is not None),
    "cancelled": action_(lambda one: bool(one.cancelled)),
    "cancelled that draws": action_(lambda one: draws(one.cancelled)),
    "free action that draws": action_(
        lambda one: getattr(one.takes, "value", None) == 0 and draws(one.body)
    ),
    "cost": action_(lambda one: one.cost is not None),
    # §7 phases and laws
    "simultaneous phase": phase_("simultaneous"),
    "sequential phase": phase_("sequential"),
    "by nesting": phase_("by_nesting"),
    "law in the unnamed phase": lambda p, w: any(not law.phase for law in p.laws.values()),
    "law without a condition": lambda p, w: any(law.when is None for law in p.laws.values()),
    "watch": lambda p, w: any(not one.once for one in p.watches.values()),
    "watch once": lambda p, w: any(one.once for one in p.watches.values()),
    "watch with was": lambda p, w: any(one.uses_was for one in p.watches.values()),
    "invariant": lambda p, w: bool(p.invariants),
    "conserve": lambda p, w: bool(p.conserves),
    "conserve with exceptions": lambda p, w: any(one.exempt for one in p.conserves.values()),
    # §11 prose and typed commands
    "slot with an article": slot_(lambda one: bool(one.article)),
    "slot with a list": slot_(lambda one: one.listing),
    "brace in prose": lambda p, w: any(
        getattr(part, "text", "").find("{") >= 0 for t in templates(p, w) for part in t.parts
    ),
    "title": lambda p, w: any(one.title for one in p.objects.values()),
    "aka of an object": lambda p, w: any(one.aka for one in p.objects.values()),
    "called": lambda p, w: bool(p.called),
    "aka": lambda p, w: any(one.aka for one in p.called),
    "scope": lambda p, w: bool(p.scopes),
    "sees": lambda p, w: "sees" in p.derives and not p.scopes,
    "describe": lambda p, w: bool(p.describes),
    "several phrases": action_(lambda one: len(one.phrases) > 1),
    "no phrase": action_(lambda one: not one.phrases),
    "literal slot": literal_slot,
    "parameter in no slot": unsaid_parameter,
    # §12 worlds
    "object of every world": lambda p, w: any(one.world is None for one in p.objects.values()),
    "setup": lambda p, w: bool(w.setups),
    "time always": lambda p, w: w.time_always,
    "turns": lambda p, w: len(w.turns) > 1,
    "ambiguous ask": lambda p, w: w.ambiguous == "ask",
    "endless": lambda p, w: w.endless,
    "live outcomes": lambda p, w: w.outcomes == "live",
    "goal": ending_("goal"), "lose": ending_("lose"), "stop": ending_("stop"),
    "award": lambda p, w: bool(w.awards),
    "score": lambda p, w: w.score is not None,
    "reward of a world": lambda p, w: bool(w.pays),
    "spare": lambda p, w: bool(w.spares),
    "layout": lambda p, w: bool(w.layouts),
    "legend": lambda p, w: any(one.legends for one in w.layouts),
    "object on a cell": lambda p, w: any(
        isinstance(field.value, ObjectLiteral) and field.value.name not in _declared(p)
        for one in p.objects.values()
        for field in one.fields
    ),
    "named creation": lambda p, w: bool(w.born),
    "no actor": lambda p, w: p.actor is None,
    # §13 chance
    "chance": effect_("chance"),
    "chance with several branches": lambda p, w: any(
        one.kind == "chance" and len(one.branches) > 1 for one in effects(p, w)
    ),
    **{f"pick by {key}": effect_("pick", key=key) for key in
       ("uniform", "weight", "least", "most")},
    "let chance": let_("draw_chance"), "let pick": let_("draw_pick"),
    "uniform": let_("draw_uniform"),
    "chance in a setup": lambda p, w: any(
        one.kind in ("chance", "pick") for body in w.setups for one in effects_in(body)
    ),
}  # fmt: skip
"""What a program contains."""

IN_RECORD: dict[str, Callable[[Outcome], bool]] = {
    **{f"status {one}": (lambda status: lambda o: o.status == status)(one) for one in
       ("executed", "refused", "rolled_back", "no_match", "waiting", "interrupted", "error",
        "halted")},
    "refused by the range": lambda o: o.refusal is not None and o.refusal.label == "range",
    "refused by unique": lambda o: o.refusal is not None and o.refusal.label == "unique",
    "refused by a cycle": lambda o: o.refusal is not None and o.refusal.label == "cycle",
    "invariant broken": lambda o: o.breach is not None and o.breach["code"] == "TW1001",
    "conserve broken": lambda o: o.breach is not None and o.breach["code"] == "TW1002",
    "two values for a slot": lambda o: o.breach is not None and o.breach["code"] == "TW1003",
    "range left by a law": lambda o: o.breach is not None and o.breach["code"] == "TW1004",
    "cycle by a law": lambda o: o.breach is not None and o.breach["code"] == "TW1005",
    "undefined number": lambda o: o.breach is not None and o.breach["code"] == "TW1006",
    "object born": lambda o: any(
        one.fluent == "Object" and one.new is not None for one in (*o.changes, *o.law_changes)
    ),
    "object destroyed": lambda o: any(
        one.fluent == "Object" and one.new is None for one in (*o.changes, *o.law_changes)
    ),
    "law changed something": lambda o: bool(o.law_changes),
    "something said": lambda o: bool(o.said),
    "event": lambda o: bool(o.events),
    "draw": lambda o: bool(o.draws),
    "reward paid": lambda o: o.reward != 0,
    "scored": lambda o: o.score != 0,
    "ending reached": lambda o: bool(o.latched),
    "round of several": lambda o: o.next is not None,
    "long action broken off": lambda o: o.cause == "a new intent",
    "time passes without a deed": lambda o: o.fruitless and o.time_passed,
    "pass by time": lambda o: o.by == "time",
    "long action completed": lambda o: o.status == "executed" and o.progress is not None,
    "refused after another failed": lambda o: o.refusal is not None and len(o.refusal.failed) > 1,
    "ambiguous words": lambda o: o.no_match is not None and o.no_match.kind == "ambiguous",
    "no such object": lambda o: o.no_match is not None and o.no_match.kind == "no_such_object",
}  # fmt: skip
"""What a run did."""

CONSTRUCTS: tuple[str, ...] = (*IN_PROGRAM, *IN_RECORD)
"""Every name that `tw fuzz` counts."""


def in_program(program: Program, world: World) -> tuple[str, ...]:
    """The constructs that a program and one of its worlds contain."""
    return tuple(name for name, test in IN_PROGRAM.items() if test(program, world))


def in_record(outcome: Outcome) -> tuple[str, ...]:
    """The constructs that a record shows at work."""
    return tuple(name for name, test in IN_RECORD.items() if test(outcome))
