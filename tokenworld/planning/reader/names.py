"""Looking up every name of a domain and its problems: unknown, declared twice, wrong arity."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import assert_never

from tokenworld.diagnostics import Severity, Span
from tokenworld.planning.reader.sexpr import Faults
from tokenworld.planning.reader.tree import (
    ROOT,
    TOTAL_COST,
    ActionDecl,
    Applied,
    Both,
    Calculated,
    Change,
    Choice,
    Compared,
    Condition,
    Constant,
    DerivedDecl,
    Effect,
    Either,
    Equal,
    Fact,
    ForEach,
    Implied,
    Literal_,
    Name,
    Negated,
    Number,
    Problem,
    Quantified,
    Symbols,
    TermExpr,
    Truth,
    Typed,
    Undefined,
    Variable,
    When,
)

__all__ = ["check_domain", "check_problem"]

_MOST_PARAMETERS = 32


@dataclass(slots=True)
class _Check:
    symbols: Symbols
    faults: Faults
    objects: Mapping[str, Typed]
    bound: frozenset[str] = field(default_factory=frozenset)

    def inside(self, params: Iterable[Typed]) -> _Check:
        """The same check where more variables are bound."""
        keys = frozenset(param.name.key for param in params)
        return _Check(self.symbols, self.faults, self.objects, self.bound | keys)

    # ---- declarations -----------------------------------------------------------------------

    def typed(self, params: Iterable[Typed], kind: str) -> None:
        """Types are known and no name comes twice."""
        seen: dict[str, Span] = {}
        for param in params:
            name = param.name
            if name.key in seen:
                self.faults.twice(kind, name.text, name.span, seen[name.key])
            seen.setdefault(name.key, name.span)
            self.type(param.type)

    def type(self, of: Name | None) -> None:
        if isinstance(of, Choice):
            for part in of.parts:
                self.type(part)
            if of.key not in self.symbols.choices:
                hint = "Declare a type above these in the domain, and use it."
                what = "`either` that the domain itself does not have is not supported."
                self.faults.tell("TW0810", what, of.span, hint=hint)
        elif of is not None and not self.symbols.knows_type(of.key):
            known = [*(one.name.text for one in self.symbols.types.values()), ROOT]
            hint = "Declare it in `:types`."
            self.faults.unknown("type", of.text, of.span, known, hint)

    def arity(self, kind: str, name: Name, wanted: int, given: int, span: Span) -> None:
        if wanted != given:
            plural = "argument" if wanted == 1 else "arguments"
            message = f"The {kind} `{name.text}` takes {wanted} {plural}, and this gives {given}."
            hint = "Correct the arguments."
            self.faults.tell("TW0302", message, span, label=f"{given} given", hint=hint)

    # ---- terms ------------------------------------------------------------------------------

    def term(self, term: TermExpr) -> None:
        match term:
            case Variable(name=name, span=span):
                if term.key not in self.bound:
                    known = [f"?{one}" for one in self.bound]
                    hint = "Declare it as a parameter, or quantify it."
                    self.faults.unknown("variable", f"?{name}", span, known, hint)
            case Constant(name=name):
                if name.key not in self.objects:
                    self._unknown_constant(name)
            case Applied():
                self.applied(term)
            case Calculated(parts=parts):
                for part in parts:
                    self.term(part)
            case Number() | Undefined():
                pass
            case _:
                assert_never(term)

    def _unknown_constant(self, name: Name) -> None:
        known = [one.name.text for one in self.objects.values()]
        hint = "Declare it in `:constants` or `:objects`."
        if name.key in self.symbols.functions:
            hint = f"Write `({name.text})` for the function."
        elif name.key in self.bound:
            hint = f"Write `?{name.text}` for the variable."
        self.faults.unknown("object", name.text, name.span, known, hint)

    def applied(self, term: Applied) -> None:
        name, functions = term.function, self.symbols.functions
        if name.key == TOTAL_COST:
            what = f"Reading `{name.text}` is not supported."
            hint = "Count with a function of another name."
            self.faults.tell("TW0810", what, term.span, hint=hint)
        elif name.key not in functions:
            known = [one.name.text for one in functions.values()]
            hint = "Declare it in `:functions`."
            self.faults.unknown("function", name.text, name.span, known, hint)
        else:
            wanted = len(functions[name.key].params)
            self.arity("function", name, wanted, len(term.args), term.span)
        for arg in term.args:
            self.term(arg)

    # ---- conditions -------------------------------------------------------------------------

    def fact(self, fact: Fact, *, changed: bool = False) -> None:
        name, predicates = fact.predicate, self.symbols.predicates
        if name.key not in predicates:
            known = [one.name.text for one in predicates.values()]
            hint = "Declare it in `:predicates`."
            self.faults.unknown("predicate", name.text, name.span, known, hint)
        else:
            wanted = len(predicates[name.key].params)
            self.arity("predicate", name, wanted, len(fact.args), fact.span)
        if changed and name.key in self.symbols.derived:
            what = f"The derived predicate `{name.text}` is changed, which is not supported."
            self.faults.tell("TW0810", what, fact.span, hint="Change what it is derived from.")
        for arg in fact.args:
            self.term(arg)

    def condition(self, condition: Condition) -> None:
        match condition:
            case Truth():
                pass
            case Fact():
                self.fact(condition)
            case Equal(left=left, right=right) | Compared(left=left, right=right):
                self.term(left)
                self.term(right)
            case Negated(part=part):
                self.condition(part)
            case Both(parts=parts) | Either(parts=parts):
                for part in parts:
                    self.condition(part)
            case Implied(left=before, right=after):
                self.condition(before)
                self.condition(after)
            case Quantified(params=params, body=body):
                self.typed(params, "variable")
                self.inside(params).condition(body)
            case _:
                assert_never(condition)

    # ---- effects ----------------------------------------------------------------------------

    def effect(self, effect: Effect, *, top: bool) -> None:
        match effect:
            case Literal_(fact=fact):
                self.fact(fact, changed=True)
            case Change():
                self._change(effect, top)
            case When(condition=condition, effects=effects):
                self.condition(condition)
                for one in effects:
                    self.effect(one, top=False)
            case ForEach(params=params, effects=effects):
                self.typed(params, "variable")
                for one in effects:
                    self.inside(params).effect(one, top=False)
            case _:
                assert_never(effect)

    def _change(self, change: Change, top: bool) -> None:
        target = change.target
        if target.function.key != TOTAL_COST:
            self.applied(target)
        elif change.op != "increase":
            what = f"`{change.op}` of `total-cost` is not supported."
            self.faults.tell("TW0810", what, change.span, hint="Only increase it.")
        elif not top:
            what = "A cost that depends on a condition is not supported."
            hint = "Make an action for each case, or increase another function."
            self.faults.tell("TW0810", what, change.span, hint=hint)
        self.term(change.value)

    # ---- rules ------------------------------------------------------------------------------

    def action(self, action: ActionDecl) -> None:
        if len(action.params) > _MOST_PARAMETERS:
            more = action.params[_MOST_PARAMETERS].name
            what = f"Action `{action.name.text}` has {len(action.params)} parameters."
            hint = f"Split the action: a rule has at most {_MOST_PARAMETERS} parameters."
            self.faults.tell("TW0810", what, more.span, label="one too many", hint=hint)
        self.typed(action.params, "parameter")
        inner = self.inside(action.params)
        inner.condition(action.precondition)
        for effect in action.effects:
            inner.effect(effect, top=True)

    def derived(self, derived: DerivedDecl) -> None:
        self.fact_head(derived)
        self.typed(derived.params, "parameter")
        self.inside(derived.params).condition(derived.condition)

    def fact_head(self, derived: DerivedDecl) -> None:
        name, predicates = derived.name, self.symbols.predicates
        if name.key in predicates:
            wanted, given = len(predicates[name.key].params), len(derived.params)
            self.arity("predicate", name, wanted, given, name.span)
            return
        known = [one.name.text for one in predicates.values()]
        self.faults.unknown(
            "predicate", name.text, name.span, known, "Declare it in `:predicates` too."
        )


def _twice(faults: Faults, kind: str, names: Iterable[Name]) -> None:
    seen: dict[str, Span] = {}
    for name in names:
        if name.key in seen:
            faults.twice(kind, name.text, name.span, seen[name.key])
        seen.setdefault(name.key, name.span)


def _cycles(symbols: Symbols) -> Iterator[Typed]:
    """The types that are among their own ancestors."""
    for of in symbols.types.values():
        above = of.type
        if above is not None and above.key != of.name.key and above.key != ROOT:
            chain = tuple(symbols.chain(above.key))
            last = symbols.types.get(chain[-1])
            if of.name.key in chain and last is not None and last.type is not None:
                yield of


def check_domain(symbols: Symbols, faults: Faults) -> None:
    """Look up every name of a domain."""
    domain = symbols.domain
    check = _Check(symbols, faults, symbols.constants)
    _twice(faults, "type", (one.name for one in domain.types))
    for of in _cycles(symbols):
        what = f"The type `{of.name.text}` is above itself."
        faults.tell("TW0206", what, of.name.span, hint="Give it another parent.")
    check.typed(domain.constants, "constant")
    facts = [one.name for one in domain.predicates]
    _twice(faults, "predicate", facts)
    _twice(faults, "function", (one.name for one in domain.functions))
    both = {name.key: name for name in facts}
    for function in domain.functions:
        if function.name.key in both:
            first = both[function.name.key].span
            faults.twice("name", function.name.text, function.name.span, first)
        check.type(function.result)
    formals = [one.params for one in domain.predicates] + [one.params for one in domain.functions]
    for param in (param for params in formals for param in params):
        check.type(param.type)
    for derived in domain.derived:
        check.derived(derived)
    _twice(faults, "action", (one.name for one in domain.actions))
    for action in domain.actions:
        check.action(action)


def check_problem(symbols: Symbols, problem: Problem, faults: Faults) -> None:
    """Look up every name of a problem."""
    check = _Check(symbols, faults, symbols.objects(problem))
    check.typed(problem.objects, "object")
    for constant in problem.objects:
        first = symbols.constants.get(constant.name.key)
        if first is not None and _key(first.type) != _key(constant.type):
            faults.twice("object", constant.name.text, constant.name.span, first.name.span)
    for line in problem.init:
        if isinstance(line, Literal_):
            check.fact(line.fact, changed=True)
        elif line.target.function.key != TOTAL_COST:
            check.applied(line.target)
            check.term(line.value)
        elif not isinstance(line.value, Number) or float(line.value.text) != 0:
            what = "A start value of `total-cost` other than 0 is not supported."
            faults.tell("TW0810", what, line.span, hint="Start with 0.")
    check.condition(problem.goal)
    if problem.domain is not None and problem.domain.key != symbols.domain.name.key:
        what = f"Problem `{problem.name.text}` is for domain `{problem.domain.text}`."
        hint = f"Write `{symbols.domain.name.text}`, the domain that was given."
        faults.tell("TW0201", what, problem.domain.span, hint=hint, severity=Severity.WARNING)


def _key(of: Name | None) -> str:
    return ROOT if of is None else of.key
