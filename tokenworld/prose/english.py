"""Terms in English: how the rulebook tells a condition or a value.

The wording is regular and loses nothing: a reader can go back from the sentence to the rule.
Parameters read as their type ("the jug"); where two share a type, the name tells them apart ("the
entity c"). Attributes read as possessives, truth-valued ones as adjectives ("the door is open").
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from tokenworld.model import (
    And,
    Arithmetic,
    Binder,
    BoolLiteral,
    BuiltinCall,
    Choose,
    ClosureOf,
    Compare,
    DeriveCall,
    EnumLiteral,
    EnumType,
    Fold,
    Implies,
    InverseOf,
    IsType,
    ListTerm,
    Local,
    Me,
    Member,
    Negate,
    NoneLiteral,
    Not,
    NumberLiteral,
    NumberType,
    ObjectLiteral,
    ObjectType,
    Or,
    ParamRead,
    Program,
    Read,
    Rescale,
    Slot,
    Template,
    TemplateTerm,
    Term,
    ToReal,
    ValueType,
)
from tokenworld.prose.articles import with_article
from tokenworld.prose.english_folds import among, every, folded, quantified
from tokenworld.prose.english_words import (
    PLACES,
    a,
    absent,
    be,
    built_in,
    possessive,
    spoken_name,
    type_noun,
)
from tokenworld.prose.names import EnglishProse
from tokenworld.prose.wording import joined, kind_word

__all__ = ["English"]

_PROSE: Final = EnglishProse()
_VERBS: Final = ("has ", "can ", "is ")
_COMPARED: Final = {
    "==": "is", "!=": "is not", "<": "is less than", "<=": "is at most",
    ">": "is more than", ">=": "is at least",
}  # fmt: skip
_REVERSED: Final = {
    "==": "is not", "!=": "is", "<": "is at least", "<=": "is more than",
    ">": "is at most", ">=": "is less than",
}  # fmt: skip
_COMPUTED: Final = {"+": "plus", "-": "minus", "*": "times", "/": "divided by", "div": "div",
                    "mod": "modulo"}  # fmt: skip


@dataclass(frozen=True)
class English:
    """Tells terms of one program; ``names`` are the phrases of the variables in sight."""

    program: Program
    names: Mapping[str, str]

    def with_binders(self, binders: Sequence[Binder]) -> English:
        """The same with more variables in sight; equal nouns are told apart by name."""
        names = dict(self.names)
        for binder in binders:
            noun = type_noun(binder.type)
            twins = [one for one in binders if type_noun(one.type) == noun]
            taken = any(known == f"the {noun}" for known in names.values())
            bare = isinstance(binder.type, (ObjectType, EnumType)) and len(twins) == 1 and not taken
            shown = spoken_name(binder.name)
            names[binder.name] = f"the {noun}" if bare else self._named(noun, shown, binder.type)
        return replace(self, names=names)

    def _named(self, noun: str, shown: str, of: ValueType) -> str:
        return f"the {noun} {shown}" if isinstance(of, (ObjectType, EnumType)) else shown

    def with_name(self, name: str) -> English:
        """The same with a `let` name in sight."""
        return replace(self, names={**self.names, name: f"“{spoken_name(name)}”"})

    # ---- conditions ---------------------------------------------------------------------------

    def condition(self, term: Term) -> str:
        """A truth-valued term as a clause: "the door is open"."""
        match term:
            case Not(term=inner):
                return self.denial(inner)
            case And(terms=terms):
                return " and ".join(self._part(one, (Or, Implies)) for one in terms)
            case Or(terms=terms):
                return " or ".join(self._part(one, (And, Implies)) for one in terms)
            case Implies(left=left, right=right):
                return f"if {self.condition(left)}, then {self.condition(right)}"
            case Compare():
                return self._compared(term, _COMPARED[term.op])
            case Member(item=item, collection=collection):
                return f"{self.value(item)} is {among(self, collection)}"
            case IsType(term=inner, of=of):
                return f"{self.value(inner)} is {a(kind_word(of))}"
            case Fold(fold="any" | "all"):
                return quantified(self, term)
            case Read() | DeriveCall():
                return self._fact(term, "is")
            case BoolLiteral(value=value):
                return "always" if value else "never"
            case _:
                return f"{self.value(term)} holds"

    def denial(self, term: Term) -> str:
        """The negation of a truth-valued term as a clause."""
        match term:
            case Not(term=inner):
                return self.condition(inner)
            case Compare():
                if self._may_be_none(term):  # over `none` an order is false either way round
                    return f"it is not so that {self.condition(term)}"
                return self._compared(term, _REVERSED[term.op])
            case Member(item=item, collection=collection):
                return f"{self.value(item)} is not {among(self, collection)}"
            case IsType(term=inner, of=of):
                return f"{self.value(inner)} is not {a(kind_word(of))}"
            case Fold(fold="any", value=None | BoolLiteral()):
                return quantified(self, term).replace("there is ", "there is no ", 1)
            case Read() | DeriveCall():
                return self._fact(term, "is not")
            case _:
                return f"it is not so that {self.condition(term)}"

    def _may_be_none(self, term: Compare) -> bool:
        optional = getattr(term.left.type, "optional", False) or getattr(
            term.right.type, "optional", False
        )
        return term.op not in ("==", "!=") and bool(optional)

    def _part(self, term: Term, loose: tuple[type, ...]) -> str:
        text = self.condition(term)
        return f"({text})" if isinstance(term, loose) else text

    def _compared(self, term: Compare, verb: str) -> str:
        left, right = term.left, term.right
        if isinstance(left, Read) and len(left.args) == 1 and verb in ("is", "is not"):
            owner, name = self.value(left.args[0]), self._fluent(left)
            if isinstance(right, NoneLiteral):
                return absent(owner, name, verb == "is")
            if name in PLACES:
                return f"{owner} {be(owner, verb, left.was)} {name} {self.value(right)}"
        return f"{self.value(left)} {verb} {self.value(right)}"

    def _fact(self, term: Read | DeriveCall, verb: str) -> str:
        name = self._fluent(term)
        if len(term.args) == 1:
            owner = self.value(term.args[0])
            if name.startswith(_VERBS):
                return f"{owner} {name}" if verb == "is" else f"it is not so that {owner} {name}"
            return f"{owner} {be(owner, verb, term.was)} {name}"
        if len(term.args) == 2 and name in PLACES:
            owner, other = (self.value(arg) for arg in term.args)
            return f"{owner} {be(owner, verb, term.was)} {name} {other}"
        holds = {"is": "holds", "is not": "does not hold"}[verb]
        held = {"holds": "held", "does not hold": "did not hold"}[holds] if term.was else holds
        if not term.args:
            return f"“{name}” {held}"
        return f"“{name}” {held} for {joined([self.value(arg) for arg in term.args], 'and')}"

    def every(self, binders: Sequence[Binder]) -> str:
        """ "every pot and every pea": who a rule speaks of, its variables being in sight."""
        return every(self, binders)

    # ---- values -------------------------------------------------------------------------------

    def value(self, term: Term) -> str:
        """A term as a noun phrase: "the jug's level"."""
        match term:
            case NumberLiteral(type=NumberType(decimals=decimals, unit=unit), value=value):
                return _PROSE.number(int(value), decimals, unit)
            case NumberLiteral(value=value):
                return str(value)
            case EnumLiteral(member=member):
                return _PROSE.identifier(member)
            case BoolLiteral(value=truth):
                return "true" if truth else "false"
            case NoneLiteral():
                return "nothing"
            case ObjectLiteral(name=name):
                return self._object(name)
            case ParamRead(name=name):
                return spoken_name(name)
            case Local(name=name):
                return self.names.get(name, spoken_name(name))
            case Me():
                return self.names.get("me", "the actor")
            case Read() | DeriveCall():
                return self._called(term)
            case TemplateTerm(template=template):
                return f"“{self.template(template)}”"
            case Rescale(term=inner) | ToReal(term=inner):
                return self.value(inner)
            case _:
                return self._computed(term)

    def _object(self, name: str) -> str:
        decls = (one for one in self.program.objects.values() if one.name == name)
        title = next((one.title for one in decls if one.title is not None), None)
        return with_article(title if title is not None else _PROSE.identifier(name), "the")

    def _computed(self, term: Term) -> str:
        match term:
            case InverseOf(fluent=fluent, of=of) | ClosureOf(fluent=fluent, of=of):
                one = self.program.fluents[fluent]
                name = one.inverse if isinstance(term, InverseOf) else one.closure
                return possessive(self.value(of), spoken_name(name or one.name))
            case Arithmetic(op=op, left=left, right=right):
                return f"{self._operand(left)} {_COMPUTED[op]} {self._operand(right)}"
            case Negate(term=inner):
                return f"minus {self._operand(inner)}"
            case Choose(condition=condition, then=then, otherwise=otherwise):
                head = f"{self.value(then)} if {self.condition(condition)}"
                return f"{head}, otherwise {self.value(otherwise)}"
            case ListTerm(items=items):
                return joined([self.value(item) for item in items], "and") or "nothing"
            case Fold():
                return folded(self, term)
            case BuiltinCall():
                args = [self.value(arg) for arg in term.args]
                return built_in(term.name, args, term.detail)
            case _:
                return f"whether {self.condition(term)}"

    def _operand(self, term: Term) -> str:
        text = self.value(term)
        return f"({text})" if isinstance(term, (Arithmetic, Choose)) else text

    def _fluent(self, term: Read | DeriveCall) -> str:
        if isinstance(term, DeriveCall):
            return spoken_name(term.derive)
        return spoken_name(self.program.fluents[term.fluent].name)

    def _called(self, term: Read | DeriveCall) -> str:
        if term.type.kind == "bool":
            return f"whether {self._fact(term, 'is')}"
        name, args = self._fluent(term), [self.value(arg) for arg in term.args]
        name = f"former {name}" if term.was else name
        if not args:
            return f"the {name}"
        if len(args) == 1:
            return possessive(args[0], name)
        return f"the {name} of {joined(args, 'and')}"

    # ---- prose --------------------------------------------------------------------------------

    def template(self, template: Template) -> str:
        """A text with its slots told: "The pot is full."."""
        return "".join(
            self._slot(part) if isinstance(part, Slot) else part.text for part in template.parts
        )

    def _slot(self, slot: Slot) -> str:
        text = self.value(slot.term)
        if slot.listing:
            return f"[the list of {text}]"
        plain = text.removeprefix("the ")
        if isinstance(slot.term, (Local, Me, ObjectLiteral)):
            return with_article(plain, slot.article)
        return f"[{text}]"
