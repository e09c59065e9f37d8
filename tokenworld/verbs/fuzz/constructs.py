"""Every construct of the language by name, and how it is found in a checked model and in records.

The list follows the language reference, section by section. The constructs of a random world are
read off its model, never off its text; those that a run used are read off its records.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tokenworld import model as m
from tokenworld.ground import Change, Outcome


@dataclass(frozen=True)
class Parts:
    """A program and one of its worlds, taken to pieces: each is walked through once."""

    program: m.Program
    world: m.World

    def __getattr__(self, name: str) -> Sequence[Any]:
        """The declarations of a kind: ``types``, ``laws``, ``phases`` …"""
        found = getattr(self.program, name)
        return tuple(found.values()) if isinstance(found, dict) else found

    @cached_property
    def effects(self) -> Sequence[m.Effect]:
        """The statements of every body, inner ones too."""
        return tuple(one for body in self._bodies() for one in m.effects_in(body))

    def _bodies(self) -> Iterator[m.Body]:
        for action in self.program.actions.values():
            yield from (action.body, action.cancelled)
            yield tuple(guard for guard in action.guards if isinstance(guard, m.Let))
        for rule in (*self.laws, *self.births, *self.watches, *self.describes):
            yield rule.body
        yield from self.world.setups
        yield from (legend.body for layout in self.world.layouts for legend in layout.legends)

    @cached_property
    def templates(self) -> Sequence[m.Template]:
        """The texts of says, refusals and endings."""
        said = (one.template for one in self.effects if isinstance(one, m.Say))
        refused = (one.text for action in self.actions for one in action.requires)
        ended = (line.text for line in self.world.endings)
        return tuple(one for one in (*said, *refused, *ended) if one is not None)

    @cached_property
    def slots(self) -> Sequence[m.Slot]:
        """The slots of these texts."""
        return tuple(
            part for one in self.templates for part in one.parts if isinstance(part, m.Slot)
        )

    @cached_property
    def terms(self) -> Sequence[m.Term]:
        """The terms of all rules, inner ones too."""
        return tuple(
            term for root in self._roots() if root is not None for term in m.subterms(root)
        )

    def _roots(self) -> Iterator[m.Term | None]:
        for effect in self.effects:
            yield from m.terms_of(effect)
        for action in self.actions:
            yield from (one.condition for one in action.requires)
            yield from (action.takes, action.until, action.cost)
        yield from (rule.when for rule in (*self.laws, *self.watches))
        yield from (derive.value for derive in self.derives)
        yield from (line.condition for line in self.world.endings)
        yield from (slot.term for slot in self.slots)
        yield from (rule.name for rule in self.called)

    @property
    def kinds(self) -> Sequence[object]:
        """The value types of fluents."""
        return [one.type for one in self.fluents]

    @property
    def drawn(self) -> Sequence[object]:
        """The values of `let`."""
        return [one.value for one in self.effects if isinstance(one, m.Let)]

    @property
    def collections(self) -> Sequence[m.CollectionRange]:
        """The collections that folds range over."""
        return [
            binder.domain
            for term in self.terms
            if isinstance(term, m.Fold)
            for binder in term.binders
            if isinstance(binder.domain, m.CollectionRange)
        ]

    @property
    def guarded(self) -> Sequence[m.Term]:
        """The terms of requires."""
        return [
            part
            for action in self.actions
            for one in action.requires
            for part in m.subterms(one.condition)
        ]

    @property
    def given(self) -> Sequence[Any]:
        """The parameters of the derives that are called."""
        called = {term.derive for term in self.terms if isinstance(term, m.DeriveCall)}
        return [one for name in called for one in self.program.derives[name].params]

    @property
    def phrases(self) -> Sequence[tuple[Any, Any]]:
        """The phrases of actions, each with its action."""
        return [(action, phrase) for action in self.actions for phrase in action.phrases]


Test = Callable[[Parts], bool]


def some(part: str, test: Callable[[Any], bool] = lambda one: True, **wanted: object) -> Test:
    """Find one of these parts that has the wanted attributes and passes a test."""
    return lambda parts: any(
        all(getattr(one, key) == value for key, value in wanted.items()) and test(one)
        for one in getattr(parts, part)
    )


def world(test: Callable[[m.World], object]) -> Test:
    """Look at the world itself."""
    return lambda parts: bool(test(parts.world))


def ends(ending: str) -> Test:
    """Find a line of the world with this kind of ending."""
    return world(lambda one: any(line.ending == ending for line in one.endings))


def draws(body: m.Body) -> bool:
    """Return whether a body asks chance for anything."""
    drawn = ("draw_chance", "draw_pick", "draw_uniform")
    return any(
        one.kind in ("chance", "pick") or (isinstance(one, m.Let) and one.value.kind in drawn)
        for one in m.effects_in(body)
    )


def literal_slot(pair: tuple[Any, Any]) -> bool:
    """Return whether a phrase has a slot that is no parameter."""
    return any(isinstance(part, m.Slot) and part.term.kind != "local" for part in pair[1].parts)


def unsaid(pair: tuple[Any, Any]) -> bool:
    """Return whether a parameter is in no slot of a phrase."""
    action, phrase = pair
    slots = [one.term for one in phrase.parts if isinstance(one, m.Slot)]
    said = {getattr(one, "name", "") for one in slots if one.kind == "local"}
    return any(one.name not in said for one in action.params)


def narrows(part: m.Term) -> bool:
    """Return whether a term says that something is there, or of a type."""
    there = isinstance(part, m.Compare) and part.op == "!=" and part.right.kind == "none_literal"
    return there or part.kind == "is_type"


def narrowed_path(parts: Parts) -> bool:
    """Return whether an argument is there by a condition, and is optional where it is declared."""
    return any(
        isinstance(arg, m.Read)
        and m.is_optional(parts.program.fluents[arg.fluent].type)
        and not m.is_optional(arg.type)
        for term in parts.terms
        if isinstance(term, m.Read)
        for arg in term.args
    )


def overridden(parts: Parts) -> bool:
    """Return whether a type has another default for an attribute than its declaration."""
    fluents = parts.program.fluents
    return any(
        field.span != fluents[field.fluent].span
        and fluents[field.fluent].default not in (None, field.value)
        for kind in parts.types
        for field in kind.defaults
    )


def ordered(order: str) -> Test:
    """Find a law in a phase of this order."""
    return lambda parts: any(
        phase.order == order and any(law.phase == phase.name for law in parts.laws)
        for phase in parts.phases
    )


def let_first(derive: Any) -> bool:
    """Return whether a derive has a `let` before its value."""
    own = derive.value.span
    spans = (part.span for part in m.subterms(derive.value))
    return any(one.file == own.file and one.start < own.start for one in spans)


def exact(decimals: int = 0, unit: str = "") -> Callable[[object], bool]:
    """Find an exact number of so many decimals at least."""
    return lambda kind: (
        isinstance(kind, m.NumberType) and kind.decimals >= decimals and kind.unit == unit
    )


def born(parts: Parts) -> bool:
    """Return whether a rule asks for the tick of an object's creation."""
    fluents = parts.program.fluents
    return any(
        isinstance(one, m.Read) and fluents[one.fluent].name == "born" for one in parts.terms
    )


def on_a_cell(parts: Parts) -> bool:
    """Return whether a field of an object names an undeclared object: a cell of a layout."""
    declared = {one.name for one in parts.objects}
    return any(
        isinstance(field.value, m.ObjectLiteral) and field.value.name not in declared
        for one in parts.objects
        for field in one.fields
    )


IN_PROGRAM: dict[str, Test] = {
    # §1 files, names
    "module": lambda parts: len(parts.program.sources) > 1,
    "raw name": some("objects", lambda one: "-" in one.name),
    "quirk": some("actions", lambda one: one.quirk),
    # §2 types, numbers, attributes
    "inheritance": some("types", lambda one: len(one.parents) == 1),
    "multiple inheritance": some("types", lambda one: len(one.parents) > 1),
    "default overridden": overridden,
    "enum": some("enums", ladder=False),
    "ladder": some("enums", ladder=True),
    "bool": some("kinds", kind="bool"),
    "optional enum": some("kinds", lambda kind: isinstance(kind, m.EnumType) and kind.optional),
    "optional object": some("kinds", lambda kind: isinstance(kind, m.ObjectType) and kind.optional),
    "object that is never none": some(
        "kinds", lambda kind: isinstance(kind, m.ObjectType) and not kind.optional
    ),
    "range": some("kinds", exact()),
    "negative range": some("kinds", lambda k: isinstance(k, m.NumberType) and (k.low or 0) < 0),
    "decimals": some("kinds", exact(1)),
    "units": some("kinds", lambda k: isinstance(k, m.NumberType) and k.unit not in ("", "%")),
    "multiple of a unit": some("units", lambda one: one.multiple != 1),
    "percent": some("kinds", exact(2, "%")),
    "int": some("kinds", lambda kind: isinstance(kind, m.NumberType) and kind.low is None),
    "real": some("kinds", lambda kind: isinstance(kind, m.RealType)),
    "text": some("kinds", lambda kind: isinstance(kind, m.TextType)),
    "optional text": some("kinds", lambda kind: isinstance(kind, m.TextType) and kind.optional),
    "static": some("fluents", static=True, fluent_kind="attribute"),
    "secret": some("fluents", secret=True),
    "clamped": some("fluents", clamped=True),
    "unique": some("fluents", unique=True),
    "inverse": some("fluents", lambda one: one.inverse),
    "nested unordered containment": some("fluents", nested=True, ordered=False),
    "nested ordered containment": some("fluents", nested=True, ordered=True),
    "inverse without nesting": some("fluents", lambda one: one.inverse, nested=False),
    # §3 relations, functions, tables, derives
    "relation": some("fluents", fluent_kind="relation"),
    "relation of one": some("fluents", lambda x: len(x.params) == 1, fluent_kind="relation"),
    "symmetric": some("fluents", symmetric=True),
    "acyclic": some("fluents", acyclic=True),
    "closure": some("fluents", lambda one: one.closure, fluent_kind="relation"),
    "scratch": some("fluents", scratch=True),
    "world variable": some("fluents", lambda one: not one.params, fluent_kind="function"),
    "function of one": some("fluents", lambda x: len(x.params) == 1, fluent_kind="function"),
    "function of two": some("fluents", lambda x: len(x.params) == 2, fluent_kind="function"),
    "table": some("fluents", fluent_kind="table"),
    "two-key table": some("fluents", lambda one: len(one.params) == 2, fluent_kind="table"),
    "table of a relation": some("fluents", lambda x: x.type.kind == "bool", fluent_kind="table"),
    "optional table": some("fluents", lambda x: m.is_optional(x.type), fluent_kind="table"),
    "derive": some("derives", recursive=False),
    "recursive derive": some("derives", recursive=True),
    "derive that asks who acts": some("derives", uses_me=True),
    "let in a derive": some("derives", let_first),
    "bool parameter": some("given", lambda one: one.type.kind == "bool"),
    "real parameter": some("given", lambda one: one.type.kind == "real"),
    "params": some("terms", kind="param_read"),
    "learned param": some("params", learned=True),
    "param set by a world": world(lambda one: one.params),
    # §4 expressions
    **{name: some("terms", kind=name) for name in ("and", "or", "not", "implies")},
    "if then else": some("terms", kind="choose"),
    "otherwise": some("terms", m.is_default),
    **{f"comparison {op}": some("terms", kind="compare", op=op)
       for op in ("==", "!=", "<", "<=", ">", ">=")},
    **{f"operator {op}": some("terms", kind="arithmetic", op=op)
       for op in ("+", "-", "*", "/", "div", "mod")},
    "sign": some("terms", kind="negate"),
    "real mod": some(
        "terms", lambda one: one.op == "mod" and isinstance(one.type, m.RealType), kind="arithmetic"
    ),
    "mixed decimals": some("terms", kind="rescale"),
    "mixed exact and real": some("terms", kind="to_real"),
    **{f"fold {one}": some("terms", kind="fold", fold=one)
       for one in ("any", "all", "count", "sum", "min", "max", "first", "last")},
    "fold of a collection": some("collections"),
    "fold over a type in a collection": some("collections", lambda one: one.only is not None),
    "several loop variables": some("terms", lambda one: len(one.binders) > 1, kind="fold"),
    "membership": some("terms", kind="member"),
    "membership in a list": some("terms", lambda x: x.collection.kind == "list", kind="member"),
    "is": some("terms", kind="is_type"),
    "contents": some("terms", kind="inverse_of"),
    "inside": some("terms", kind="closure_of"),
    "was": some("terms", lambda one: isinstance(one, m.Read) and one.was),
    "narrowing": some("guarded", narrows),
    "narrowed path": narrowed_path,
    "me": some("terms", kind="me"),
    "text as a value": some("terms", kind="template"),
    **{f"function {one}": some("terms", kind="builtin", name=one) for one in
       ("abs", "min", "max", "clamp", "toward", "sign", "floor", "round", "sqrt", "sin", "cos",
        "exp", "log", "pow", "pi", "next", "prev", "tick", "id", "busy", "did", "score")},
    "function born": born,
    # §5 changes
    "assign": some("effects", kind="assign", op="="),
    "increase": some("effects", kind="assign", op="+="),
    "decrease": some("effects", kind="assign", op="-="),
    **{name: some("effects", kind=name) for name in
       ("add", "remove", "let", "if", "for", "create", "destroy", "transfer", "swap", "emit",
        "say")},
    "describe in a body": some("effects", kind="describe"),
    "reward": some("effects", kind="reward"),
    "effect with a name": some("effects", lambda one: "`" in one.name, kind="let"),
    "birth": lambda parts: bool(parts.births) and some("effects", kind="create")(parts),
    # §6 actions
    "require": some("actions", lambda one: one.requires),
    "require without a label": some("actions", lambda x: any(not r.label for r in x.requires)),
    "require without a text": some(
        "actions", lambda one: any(r.label and r.text is None for r in one.requires)
    ),
    "let before a require": some(
        "actions", lambda one: any(isinstance(guard, m.Let) for guard in one.guards)
    ),
    "enum parameter": some(
        "actions", lambda one: any(isinstance(b.type, m.EnumType) for b in one.params)
    ),
    "range parameter": some(
        "actions", lambda one: any(isinstance(b.type, m.NumberType) for b in one.params)
    ),
    "two parameters": some("actions", lambda one: len(one.params) > 1),
    "takes 0": some("actions", lambda one: getattr(one.takes, "value", None) == 0),
    "takes n": some("actions", lambda one: getattr(one.takes, "value", 0) > 1),
    "takes a term": some("actions", lambda x: x.takes is not None and x.takes.kind == "param_read"),
    "until": some("actions", lambda one: one.until is not None),
    "cancelled": some("actions", lambda one: one.cancelled),
    "cancelled that draws": some("actions", lambda one: draws(one.cancelled)),
    "free action that draws": some(
        "actions", lambda one: getattr(one.takes, "value", None) == 0 and draws(one.body)
    ),
    "cost": some("actions", lambda one: one.cost is not None),
    # §7 phases and laws
    "simultaneous phase": ordered("simultaneous"),
    "sequential phase": ordered("sequential"),
    "by nesting": ordered("by_nesting"),
    "law in the unnamed phase": some("laws", lambda one: not one.phase),
    "law without a condition": some("laws", when=None),
    "watch": some("watches", once=False),
    "watch once": some("watches", once=True),
    "watch with was": some("watches", uses_was=True),
    "invariant": some("invariants"),
    "conserve": some("conserves"),
    "conserve with exceptions": some("conserves", lambda one: one.exempt),
    # §11 prose and typed commands
    "slot with an article": some("slots", lambda one: one.article),
    "slot with a list": some("slots", lambda one: one.listing),
    "brace in prose": some(
        "templates", lambda one: any("{" in getattr(part, "text", "") for part in one.parts)
    ),
    "title": some("objects", lambda one: one.title),
    "aka of an object": some("objects", lambda one: one.aka),
    "called": some("called"),
    "aka": some("called", lambda one: one.aka),
    "scope": some("scopes"),
    "sees": lambda parts: "sees" in parts.program.derives and not parts.scopes,
    "describe": some("describes"),
    "several phrases": some("actions", lambda one: len(one.phrases) > 1),
    "no phrase": some("actions", lambda one: not one.phrases),
    "literal slot": some("phrases", literal_slot),
    "parameter in no slot": some("phrases", unsaid),
    # §12 worlds
    "object of every world": some("objects", world=None),
    "setup": world(lambda one: one.setups),
    "time always": world(lambda one: one.time_always),
    "turns": world(lambda one: len(one.turns) > 1),
    "ambiguous ask": world(lambda one: one.ambiguous == "ask"),
    "endless": world(lambda one: one.endless),
    "live outcomes": world(lambda one: one.outcomes == "live"),
    **{name: ends(name) for name in ("goal", "lose", "stop")},
    "award": world(lambda one: one.awards),
    "score": world(lambda one: one.score is not None),
    "reward of a world": world(lambda one: one.pays),
    "spare": world(lambda one: one.spares),
    "layout": world(lambda one: one.layouts),
    "legend": world(lambda one: any(layout.legends for layout in one.layouts)),
    "object on a cell": on_a_cell,
    "named creation": world(lambda one: one.born),
    "no actor": lambda parts: parts.program.actor is None,
    # §13 chance
    "chance": some("effects", kind="chance"),
    "chance with several branches": some("effects", lambda x: len(x.branches) > 1, kind="chance"),
    **{f"pick by {key}": some("effects", kind="pick", key=key) for key in
       ("uniform", "weight", "least", "most")},
    "let chance": some("drawn", kind="draw_chance"),
    "let pick": some("drawn", kind="draw_pick"),
    "uniform": some("drawn", kind="draw_uniform"),
    "chance in a setup": world(
        lambda one: any(x.kind in ("chance", "pick") for b in one.setups for x in m.effects_in(b))
    ),
}  # fmt: skip
"""The constructs that a program may contain."""


def _label(outcome: Outcome) -> str:
    return "" if outcome.refusal is None else outcome.refusal.label


def _code(outcome: Outcome) -> object:
    return None if outcome.breach is None else outcome.breach["code"]


def _lives(outcome: Outcome) -> Iterator[Change]:
    """The objects that were created or destroyed, as changes."""
    changes = (*outcome.changes, *outcome.law_changes)
    return (one for one in changes if one.fluent == "Object")


IN_RECORD: dict[str, Callable[[Outcome], bool]] = {
    **{f"status {one}": (lambda status: lambda o: o.status == status)(one) for one in
       ("executed", "refused", "rolled_back", "no_match", "waiting", "interrupted", "error",
        "halted")},
    "refused by the range": lambda o: _label(o) == "range",
    "refused by unique": lambda o: _label(o) == "unique",
    "refused by a cycle": lambda o: _label(o) == "cycle",
    "invariant broken": lambda o: _code(o) == "TW1001",
    "conserve broken": lambda o: _code(o) == "TW1002",
    "two values for a slot": lambda o: _code(o) == "TW1003",
    "range left by a law": lambda o: _code(o) == "TW1004",
    "cycle by a law": lambda o: _code(o) == "TW1005",
    "undefined number": lambda o: _code(o) == "TW1006",
    "object born": lambda o: any(one.new is not None for one in _lives(o)),
    "object destroyed": lambda o: any(one.new is None for one in _lives(o)),
    "law changed something": lambda o: bool(o.law_changes),
    "something said": lambda o: bool(o.said),
    "event": lambda o: bool(o.events),
    "draw": lambda o: bool(o.draws),
    "reward paid": lambda o: o.reward != 0,
    "scored": lambda o: o.score != 0,
    "ending reached": lambda o: bool(o.latched),
    "round of several": lambda o: o.next is not None,
    "long action broken off": lambda o: o.cause == "a new intent",
    "time passes after a fruitless intent": lambda o: o.fruitless and o.time_passed,
    "pass by time": lambda o: o.by == "time",
    "long action completed": lambda o: o.status == "executed" and o.progress is not None,
    "refused after another failed": lambda o: o.refusal is not None and len(o.refusal.failed) > 1,
    "ambiguous words": lambda o: o.no_match is not None and o.no_match.kind == "ambiguous",
    "no such object": lambda o: o.no_match is not None and o.no_match.kind == "no_such_object",
}  # fmt: skip
"""The constructs that a record may show at work."""

CONSTRUCTS: tuple[str, ...] = (*IN_PROGRAM, *IN_RECORD)
"""Every name that `tw fuzz` counts."""


def in_program(program: m.Program, world: m.World) -> tuple[str, ...]:
    """The constructs that a program and one of its worlds contain."""
    parts = Parts(program, world)
    return tuple(name for name, test in IN_PROGRAM.items() if test(parts))


def in_record(outcome: Outcome) -> tuple[str, ...]:
    """The constructs that a record shows at work."""
    return tuple(name for name, test in IN_RECORD.items() if test(outcome))
