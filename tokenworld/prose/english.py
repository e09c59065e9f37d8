"""Terms in English: the phrases of the rulebook for conditions, values and collections."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, assert_never, cast

from tokenworld import model as m
from tokenworld.diagnostics import joined
from tokenworld.model import is_default, written_name
from tokenworld.prose.wording import (
    EnglishProse,
    capitalised,
    indefinite,
    kind_word,
    with_article,
)

PLACES: Final = ("at", "beside", "in", "near", "on", "under")
"""Attributes of these names read as prepositions: "the cup is on the table". The value of `at` is a
place: "the cup's place"."""
_PREPOSITIONS: Final = (*PLACES, "by", "for", "from", "of", "to", "with")


def spoken_name(name: str) -> str:
    """An identifier in words: ``boil_rate`` is "boil rate", ``isOpen`` is "is open"."""
    name = written_name(name)
    return kind_word(name) if name.isidentifier() else name


def plural(noun: str) -> str:
    """The regular plural: "boxes", "berries", "pots"."""
    if noun.endswith(("s", "x", "z", "ch", "sh")):
        return f"{noun}es"
    if noun.endswith("y") and noun[-2:-1] not in tuple("aeiou"):
        return f"{noun[:-1]}ies"
    return f"{noun}s"


def many(name: str) -> bool:
    """Return whether a name reads as a plural: "eggs", "strokes left"."""
    return any(one.endswith("s") and one[-2:-1] not in tuple("suia") for one in name.split())


def type_noun(of: m.ValueType) -> str:
    """The noun for a variable of a type."""
    match of:
        case m.ObjectType(name=name) | m.EnumType(name=name):
            return kind_word(name)
        case _:
            return "number"


def a(noun: str) -> str:
    return f"{indefinite(noun)} {noun}"


def be(owner: str, verb: str, was: bool) -> str:
    """The right form of "is" or "is not"."""
    form = ("were" if was else "are") if owner == "you" else ("was" if was else "is")
    return form + verb[2:]


def somewhere(owner: str, name: str, absent: bool) -> str:
    """The place of something that has none, or any: "the cup is nowhere", "is on something"."""
    where = ("nowhere", "somewhere") if name == "at" else (f"{name} nothing", f"{name} something")
    return f"{owner} {be(owner, 'is', False)} {where[0 if absent else 1]}"


def absent(owner: str, name: str, absent: bool) -> str:
    """An attribute that is `none`, or is not."""
    if name in PLACES:
        return somewhere(owner, name, absent)
    if name.split()[0] in _PREPOSITIONS or many(name):  # no noun in the singular: "in pot", "leads"
        return f"“{name}” of {owner} is {'nothing' if absent else 'not nothing'}"
    have = "have" if owner == "you" else "has"
    return f"{owner} {have} {'no' if absent else indefinite(name)} {name}"


def possessive(owner: str, name: str) -> str:
    name = "place" if name == "at" else name
    if owner == "you":
        return f"your {name}"
    simple = len(owner.split()) <= 5 and "“" not in owner and not owner.startswith("whether")
    return f"{owner}'s {name}" if simple else f"the {name} of {owner}"


def such(conditions: Sequence[str]) -> str:
    return f" such that {' and '.join(conditions)}" if conditions else ""


def built_in(name: m.BuiltinName, args: Sequence[str], detail: str) -> str:
    """Return the phrase of a call of a built-in function, from the phrases of its arguments."""
    match name:
        case "min" | "max":
            words = ("smaller", "larger") if len(args) == 2 else ("smallest", "largest")
            return f"the {words[name == 'max']} of {joined(args, 'and')}"
        case "clamp":
            return f"{args[0]} kept between {args[1]} and {args[2]}"
        case "toward":
            return f"{args[0]} moved towards {args[1]} by at most {args[2]}"
        case "next" | "prev":
            return f"the {'next' if name == 'next' else 'previous'} step from {args[0]}"
        case "tick":
            return "the tick number"
        case "abs":
            return f"the size of ({args[0]})"
        case "score":
            return "the score"
        case "pi":
            return "pi"
        case "busy":
            at = f" with {spoken_name(detail)}" if detail else ""
            return f"whether {args[0]} is busy{at}"
        case "did":
            who, *rest = args
            command = " ".join([spoken_name(detail), *rest])
            return f"whether {who} did “{command}” in this tick"
        case "floor":
            return f"({args[0]}) rounded down"
        case (
            "sign" | "round" | "sqrt" | "sin" | "cos" | "exp" | "log" | "pow"
            | "id" | "born" | "number"
        ):  # fmt: skip
            return f"{name}({', '.join(args)})"
        case _:
            assert_never(name)


def over_time(word: m.OverTimeWord, clauses: Sequence[str]) -> str:
    """Return the phrase of a condition on all states up to now, from those of its parts."""
    first, last = clauses[0], clauses[-1]
    match word:
        case "sometime":
            return f"at some time so far {first}"
        case "always":
            return f"at all times so far {first}"
        case "at_most_once":
            return f"there is at most one stretch of time in which {first}"
        case "sometime_after":
            return f"each time that {first}, {last} then or later"
        case "sometime_before":
            return f"before {first} for the first time, {last} at some time"
        case _:
            assert_never(word)


# ---- Terms in English: how the rulebook tells a condition or a value -----------------------------
# The wording is regular and loses nothing: a reader can go back from the sentence to the rule.
# Parameters read as their type ("the jug"); where two share a type, the name tells them apart ("the
# entity c"). Attributes read as possessives, truth-valued ones as adjectives ("the door is open").


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


def _doing(owner: str, name: str, holds: bool, was: bool) -> str:
    """A fact with its own verb: "the door is open", "the bird cannot fly"."""
    verb, rest = name.split(" ", 1)
    match verb:
        case "is":
            return f"{owner} {be(owner, 'is' if holds else 'is not', was)} {rest}"
        case "can":
            can = ("could" if holds else "could not") if was else ("can" if holds else "cannot")
            return f"{owner} {can} {rest}"
    have = "had" if was else "have" if owner == "you" else "has"
    without = "did" if was else "do" if owner == "you" else "does"
    return f"{owner} {have} {rest}" if holds else f"{owner} {without} not have {rest}"


def _joint(term: m.Term, denied: bool = False) -> str:
    """Return the English word that joins the parts of a condition, or ``""``."""
    if isinstance(term, m.Not):
        return _joint(term.term, not denied)
    if isinstance(term, m.And | m.Or):
        return "and" if isinstance(term, m.And) is not denied else "or"
    return "if" if isinstance(term, m.Implies) and not denied else ""


@dataclass(frozen=True)
class English:
    """Tells terms of one program; ``names`` are the phrases of the variables in sight."""

    program: m.Program
    names: Mapping[str, str]

    def with_binders(self, binders: Sequence[m.Binder]) -> English:
        """Return the same with more variables in scope, named where nouns are equal."""
        names = dict(self.names)
        for binder in binders:
            noun = type_noun(binder.type)
            twins = [one for one in binders if type_noun(one.type) == noun]
            taken = any(known == f"the {noun}" for known in names.values())
            bare = (
                isinstance(binder.type, (m.ObjectType, m.EnumType))
                and len(twins) == 1
                and not taken
            )
            shown = spoken_name(binder.name)
            names[binder.name] = f"the {noun}" if bare else self._named(noun, shown, binder.type)
        return replace(self, names=names)

    def _named(self, noun: str, shown: str, of: m.ValueType) -> str:
        return f"the {noun} {shown}" if isinstance(of, (m.ObjectType, m.EnumType)) else shown

    def with_name(self, name: str) -> English:
        """The same with a `let` name in sight."""
        return replace(self, names={**self.names, name: f"“{spoken_name(name)}”"})

    # ---- conditions ---------------------------------------------------------------------------

    def condition(self, term: m.Term) -> str:
        """A truth-valued term as a clause: "the door is open"."""
        match term:
            case m.Not(term=inner):
                return self.denial(inner)
            case m.And(terms=terms):
                return self._joined(terms, "and")
            case m.Or(terms=terms):
                return self._joined(terms, "or")
            case m.Implies(left=left, right=right):
                return f"if {self.condition(left)}, then {self.condition(right)}"
            case m.Compare():
                return self._compared(term, _COMPARED[term.op])
            case m.Member(item=item, collection=collection):
                return f"{self.value(item)} is {among(self, collection)}"
            case m.IsType(term=inner, of=of):
                verb = be(self.value(inner), "is", False)
                return f"{self.value(inner)} {verb} {a(kind_word(of))}"
            case m.Fold(fold="any" | "all"):
                return quantified(self, term)
            case m.Read() | m.DeriveCall():
                return self._fact(term, "is")
            case m.BoolLiteral(value=value):
                return "always" if value else "never"
            case m.LeafTerm() | m.InverseOf() | m.ClosureOf() | m.NumberTerm() | m.CompositeTerm():
                return f"{self.value(term)} holds"
            case _:
                assert_never(term)

    def denial(self, term: m.Term) -> str:
        """The negation of a truth-valued term as a clause."""
        match term:
            case m.Not(term=inner):
                return self.condition(inner)
            case m.Compare():
                if self._may_be_none(term):  # over `none` an order is false either way round
                    return f"it is not so that {self.condition(term)}"
                return self._compared(term, _REVERSED[term.op])
            case m.Member(item=item, collection=collection):
                return f"{self.value(item)} is not {among(self, collection)}"
            case m.IsType(term=inner, of=of):
                verb = be(self.value(inner), "is not", False)
                return f"{self.value(inner)} {verb} {a(kind_word(of))}"
            case m.Fold(fold="any", binders=(_,)):
                return f"there is no {quantified(self, term).split(' ', 3)[3]}"
            case m.And(terms=terms) | m.Or(terms=terms):
                denied = [m.Not(one, one.type, one.span) for one in terms]
                return self._joined(denied, "or" if isinstance(term, m.And) else "and")
            case m.Read() | m.DeriveCall():
                return self._fact(term, "is not")
            case (
                m.LeafTerm() | m.InverseOf() | m.ClosureOf() | m.Implies() | m.NumberTerm()
                | m.CompositeTerm()
            ):  # fmt: skip
                return f"it is not so that {self.condition(term)}"
            case _:
                assert_never(term)

    def _may_be_none(self, term: m.Compare) -> bool:
        optional = getattr(term.left.type, "optional", False) or getattr(
            term.right.type, "optional", False
        )
        return term.op not in ("==", "!=") and bool(optional)

    def _joined(self, terms: Sequence[m.Term], word: str) -> str:
        return f" {word} ".join(self._part(one, word) for one in terms)

    def _part(self, term: m.Term, word: str) -> str:
        text = self.condition(term)
        loose = _joint(term) not in ("", word) or self._over_time(term)
        return f"({text})" if loose else text

    def agreeing(self, subject: m.Term, verb: str) -> str:
        """The verb for a value: "is" or "are", "goes" or "go"."""
        named = isinstance(subject, (m.Read, m.DeriveCall)) and many(self._fluent(subject))
        if not named and self.value(subject) != "you":
            return verb
        first, _, rest = verb.partition(" ")
        first = {"is": "are", "goes": "go"}.get(first, first.removesuffix("s"))
        return f"{first} {rest}" if rest else first

    def _compared(self, term: m.Compare, verb: str) -> str:
        left, right = term.left, term.right
        if isinstance(left, m.Read) and len(left.args) == 1 and verb in ("is", "is not"):
            owner, name = self.value(left.args[0]), self._fluent(left)
            if isinstance(right, m.NoneLiteral):
                return absent(owner, name, verb == "is")
            if name in PLACES:
                return f"{owner} {be(owner, verb, left.was)} {self.place(name, right)}"
        return f"{self.value(left)} {self.agreeing(left, verb)} {self.value(right)}"

    def place(self, name: str, of: m.Term) -> str:
        """Return the phrase for a place: "on the table", "at the hall", "where you are", "with
        you"."""
        if name == "at" and self._acts(of.type):
            return f"with {self.value(of)}"
        if name == "at" and isinstance(of, m.Read) and len(of.args) == 1 and not of.was:
            owner = self.value(of.args[0])
            if self._fluent(of) == "at":
                return f"where {owner} {be(owner, 'is', False)}"
        return f"{name} {self.value(of)}"

    def _acts(self, of: m.ValueType) -> bool:
        """Return whether the objects of a type are actors."""
        if not isinstance(of, m.ObjectType) or self.program.actor is None:
            return False
        return self.program.is_subtype(of.name, self.program.actor)

    def _fact(self, term: m.Read | m.DeriveCall, verb: str) -> str:
        said = self._over_time(term)
        if said:
            return said if verb == "is" else f"it is not so that {said}"
        name = self._fluent(term)
        if len(term.args) == 1:
            owner = self.value(term.args[0])
            if name.startswith(_VERBS):
                return _doing(owner, name, verb == "is", term.was)
            return f"{owner} {be(owner, verb, term.was)} {name}"
        if len(term.args) == 2 and name in (*PLACES, "with"):
            owner, other = (self.value(arg) for arg in term.args)
            return f"{owner} {be(owner, verb, term.was)} {name} {other}"
        holds = {"is": "holds", "is not": "does not hold"}[verb]
        held = {"holds": "held", "does not hold": "did not hold"}[holds] if term.was else holds
        if not term.args:
            return f"“{name}” {held}"
        return f"“{name}” {held} for {joined([self.value(arg) for arg in term.args], 'and')}"

    def _over_time(self, term: m.Term) -> str:
        """The clause of a condition on all states up to now; empty for other terms."""
        found = (
            self.program.derives[term.derive].over_time if isinstance(term, m.DeriveCall) else None
        )
        return over_time(found.word, [self.condition(one) for one in found.terms]) if found else ""

    def every(self, binders: Sequence[m.Binder]) -> str:
        """ "every pot and every pea": who a rule speaks of, its variables being in sight."""
        return joined([_each(binder, self, self) for binder in binders], "and")

    # ---- values -------------------------------------------------------------------------------

    def value(self, term: m.Term) -> str:
        """A term as a noun phrase: "the jug's level"."""
        match term:
            case m.NumberLiteral(type=m.NumberType(decimals=decimals, unit=unit), value=value):
                return _PROSE.number(int(value), decimals, unit)
            case m.NumberLiteral(value=value):
                return str(value)
            case m.EnumLiteral(member=member):
                return _PROSE.identifier(member)
            case m.BoolLiteral(value=truth):
                return "true" if truth else "false"
            case m.NoneLiteral():
                return "nothing"
            case m.ObjectLiteral(name=name):
                return self._object(name)
            case m.ParamRead(name=name):
                return spoken_name(name)
            case m.Local(name=name):
                return self.names.get(name, spoken_name(name))
            case m.Me():
                return self.names.get("me", "the actor")
            case m.Read() | m.DeriveCall():
                return self._called(term)
            case m.TemplateTerm(template=template):
                return f"“{self.template(template)}”"
            case m.Rescale(term=inner) | m.ToReal(term=inner):
                return self.value(inner)
            case (
                m.InverseOf() | m.ClosureOf() | m.LogicTerm() | m.TestTerm() | m.Arithmetic()
                | m.Negate() | m.Choose() | m.ListTerm() | m.Fold() | m.BuiltinCall()
            ):  # fmt: skip
                return self._computed(term)
            case _:
                assert_never(term)

    def _object(self, name: str) -> str:
        decls = (one for one in self.program.objects.values() if one.name == name)
        title = next((one.title for one in decls if one.title is not None), None)
        named = title if title is not None else _PROSE.identifier(name)
        return with_article(named.removeprefix("the "), "the")

    def field(self, given: m.FieldValue) -> str:
        """The initial value of an attribute: "level 3l"; of a truth "lit" or "not lit"."""
        name = spoken_name(self.program.fluents[given.fluent].name)
        if isinstance(given.value, m.BoolLiteral):
            name = name.removeprefix("is ")
            return name if given.value.value else f"not {name}"
        return f"{name} {self.value(given.value)}"

    def _computed(self, term: m.Term) -> str:
        match term:
            case m.InverseOf(fluent=fluent, of=of) | m.ClosureOf(fluent=fluent, of=of):
                one = self.program.fluents[fluent]
                name = one.inverse if isinstance(term, m.InverseOf) else one.closure
                return possessive(self.value(of), spoken_name(name or one.name))
            case m.Arithmetic(op="div", left=left, right=right):
                return f"{self._operand(left)} divided by {self._operand(right)} (rounded down)"
            case m.Arithmetic(op=op, left=left, right=right):
                return f"{self._operand(left)} {_COMPUTED[op]} {self._operand(right)}"
            case m.Negate(term=inner):
                return f"minus {self._operand(inner)}"
            case m.Choose(then=then, otherwise=otherwise) if is_default(term):
                return f"{self.value(then)} (or {self.value(otherwise)} if there is none)"
            case m.Choose(condition=condition, then=then, otherwise=otherwise):
                head = f"{self.value(then)} if {self.condition(condition)}"
                return f"{head}, otherwise {self.value(otherwise)}"
            case m.ListTerm(items=items):
                return joined([self.value(item) for item in items], "and") or "nothing"
            case m.Fold():
                return folded(self, term)
            case m.BuiltinCall():
                args = [self.value(arg) for arg in term.args]
                return built_in(cast(m.BuiltinName, term.name), args, term.detail)
            case (
                m.LeafTerm() | m.Read() | m.DeriveCall() | m.LogicTerm() | m.TestTerm()
                | m.Rescale() | m.ToReal() | m.TemplateTerm()
            ):  # fmt: skip
                return f"whether {self.condition(term)}"
            case _:
                assert_never(term)

    def _operand(self, term: m.Term) -> str:
        text = self.value(term)
        return f"({text})" if isinstance(term, (m.Arithmetic, m.Choose)) else text

    def _fluent(self, term: m.Read | m.DeriveCall) -> str:
        if isinstance(term, m.DeriveCall):
            return spoken_name(term.derive)
        return spoken_name(self.program.fluents[term.fluent].name)

    def _called(self, term: m.Read | m.DeriveCall) -> str:
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

    def template(self, template: m.Template) -> str:
        """Return a text with its slots in English: "The pot is full."."""
        return "".join(
            self._slot(part) if isinstance(part, m.Slot) else part.text for part in template.parts
        )

    def _slot(self, slot: m.Slot) -> str:
        text = self.value(slot.term)
        if slot.listing:
            return f"[the list of {text}]"
        if text.startswith("“"):  # the name of a `let`
            return f"[{text[1:-1]}]"
        plain = text.removeprefix("the ")
        if isinstance(slot.term, m.Local) and not slot.article and plain != text:
            return f"[{plain}]"
        if isinstance(slot.term, (m.Local, m.Me, m.ObjectLiteral)):
            return with_article(plain, slot.article)
        return f"[{text}]"


# ---- english_folds -------------------------------------------------------------------------------
# Collections in English: membership, quantifiers, counts and sums.
#
# Every function takes the `English` that tells the terms inside.


_WORDS: Final = {
    "sum": "sum", "min": "least", "max": "greatest", "first": "first", "last": "last",
}  # fmt: skip


def among(english: English, collection: m.Term) -> str:
    """Tell membership: "one of the cat or the dog", "among the chest's contents"."""
    match collection:
        case m.ListTerm(items=items):
            return f"one of {joined([english.value(item) for item in items], 'or')}"
        case m.InverseOf() | m.ClosureOf():
            return f"among {english.value(collection)}"
        case (
            m.LeafTerm() | m.Read() | m.DeriveCall() | m.LogicTerm() | m.TestTerm() | m.NumberTerm()
            | m.Choose() | m.Fold() | m.BuiltinCall() | m.TemplateTerm()
        ):  # fmt: skip
            return f"in {english.value(collection)}"
        case _:
            assert_never(collection)


def quantified(english: English, term: m.Fold) -> str:
    """`any` and `all` as a clause: "there is a pot such that the pot is full"."""
    inner = english.with_binders(term.binders)
    if term.fold == "any":
        who = joined([_some(one, inner, english) for one in term.binders], "and")
        where = [] if term.where is None else [inner.condition(term.where)]
        trivial = term.value is None or isinstance(term.value, (m.BoolLiteral, m.NumberLiteral))
        where += [] if trivial or term.value is None else [inner.condition(term.value)]
        return f"there is {who}{such(where)}"
    who = joined([_each(one, inner, english) for one in term.binders], "and")
    where_ = [] if term.where is None else [inner.condition(term.where)]
    assert term.value is not None
    return f"for {who}{such(where_)}: {inner.condition(term.value)}"


def _some(binder: m.Binder, inner: English, outer: English) -> str:
    return f"{a(_noun(binder, inner))}{_within(binder, outer)}"


def _each(binder: m.Binder, inner: English, outer: English) -> str:
    return f"every {_noun(binder, inner)}{_within(binder, outer)}"


def _noun(binder: m.Binder, inner: English) -> str:
    return inner.names[binder.name].removeprefix("the ")


def _within(binder: m.Binder, outer: English) -> str:
    match binder.domain:
        case m.CollectionRange(collection=collection):
            return f" {among(outer, collection)}"
        case m.IntervalRange(low=low, high=high):
            return f" from {low} to {high}"
        case m.TypeRange():
            return ""
        case _:
            assert_never(binder.domain)


def folded(english: English, term: m.Fold) -> str:
    """A fold as a noun phrase: "the number of pots such that the pot is full"."""
    inner = english.with_binders(term.binders)
    if term.fold in ("any", "all"):
        return f"whether {quantified(english, term)}"
    who = [_noun(one, inner) for one in term.binders]
    within = "".join(_within(one, english) for one in term.binders)
    conditions = [] if term.where is None else [inner.condition(term.where)]
    if term.fold == "count":
        if term.value is not None and term.value.type.kind == "bool":
            conditions.append(inner.condition(term.value))
        what = f"the number of {joined([plural(one) for one in who], 'and')}"
        return f"{what}{within}{such(conditions)}"
    if isinstance(term.value, m.Local) and term.fold in ("first", "last"):
        return f"the {term.fold} {who[0]}{within}{such(conditions)}"
    value = inner.value(term.value) if term.value is not None else "1"
    all_of = joined([f"every {one}" for one in who], "and")
    return f"the {_WORDS[term.fold]} of {value} over {all_of}{within}{such(conditions)}"


# ---- Changes -------------------------------------------------------------------------------------
# Changes in English: the sentences of a body, as a list with sub-lists.


Line = tuple[int, str]
"""A sentence and its depth in the list."""


def told(body: m.Body, english: English, depth: int = 0) -> Iterator[Line]:
    """The sentences of a body, in written order."""
    for effect in body:
        if isinstance(effect, m.Let):
            yield depth, f"Let “{spoken_name(effect.name)}” be {_drawn(effect, english)}."
            english = english.with_name(effect.name)
        elif isinstance(effect, m.Create):
            yield depth, _created(effect, english)
            english = english.with_name(effect.name)
        else:
            yield from _told(effect, english, depth)


def _told(effect: m.Effect, english: English, depth: int) -> Iterator[Line]:
    match effect:
        case m.If():
            yield from _choice(effect, english, depth, "If")
        case m.For(binders=binders, where=where, body=body):
            inner = english.with_binders(binders)
            such = f" such that {inner.condition(where)}" if where is not None else ""
            yield depth, f"For {inner.every(binders)}{such}:"
            yield from told(body, inner, depth + 1)
        case m.Chance():
            yield from _chances(effect, english, depth)
        case m.Pick():
            yield from _picked(effect, english, depth)
        case m.Let() | m.Create():
            raise TypeError("told by `told`, since it brings a name")
        case m.WriteEffect() | m.Destroy() | m.OutputEffect():
            yield depth, _sentence(effect, english)
        case _:
            assert_never(effect)


def _sentence(
    effect: m.Assign
    | m.AddFact
    | m.RemoveFact
    | m.Destroy
    | m.Transfer
    | m.Swap
    | m.Emit
    | m.Say
    | m.DescribeEffect
    | m.Reward,
    english: English,
) -> str:
    value = english.value
    match effect:
        case m.Assign(target=target, op=op, value=term):
            return _assigned(target, op, term, english)
        case m.AddFact(target=target):
            return f"From now on {english.condition(target)}."
        case m.RemoveFact(target=target):
            return f"No longer: {english.condition(target)}."
        case m.Destroy(target=term):
            return f"{capitalised(value(term))} ceases to exist."
        case m.Transfer(amount=amount, source=source, target=target):
            if value(amount) == value(source):
                moves = english.agreeing(source, "moves")
                return f"All of {value(source)} {moves} to {value(target)}."
            places = f"from {value(source)} to {value(target)}"
            return f"{capitalised(value(amount))} moves {places}."
        case m.Swap(left=left, right=right):
            return f"{capitalised(value(left))} and {value(right)} change places."
        case m.Emit(event=event, args=args):
            listed = f" ({', '.join(value(arg) for arg in args)})" if args else ""
            return f"The event “{spoken_name(event)}”{listed} is sent."
        case m.Say(template=template):
            return f"It is said: “{english.template(template)}”"
        case m.DescribeEffect(target=term):
            return f"{capitalised(value(term))} is described."
        case m.Reward(amount=amount):
            return f"The reward is {value(amount)}."
        case _:
            assert_never(effect)


def _assigned(target: m.Read, op: str, term: m.Term, english: English) -> str:
    place = capitalised(english.value(target))
    goes, becomes = (english.agreeing(target, one) for one in ("goes", "becomes"))
    match op:
        case "+=":
            if isinstance(term, m.Negate):
                return f"{place} {goes} down by {english.value(term.term)}."
            return f"{place} {goes} up by {english.value(term)}."
        case "-=":
            return f"{place} {goes} down by {english.value(term)}."
    if isinstance(term, m.BoolLiteral):
        told_ = english.condition(target) if term.value else english.denial(target)
        return f"From now on {told_}."
    if target.type.kind == "bool":
        if english.condition(term) == english.denial(target):
            return f"Whether {english.condition(target)} changes to the opposite."
        return f"From now on {english.condition(target)} exactly if {english.condition(term)}."
    name = spoken_name(english.program.fluents[target.fluent].name)
    if name in PLACES and len(target.args) == 1:
        owner = english.value(target.args[0])
        if isinstance(term, m.NoneLiteral):
            return f"From now on {somewhere(owner, name, absent=True)}."
        return f"From now on {owner} {be(owner, 'is', False)} {english.place(name, term)}."
    if isinstance(term, m.NoneLiteral):
        return f"{place} {becomes} nothing."
    return f"{place} {becomes} {english.value(term)}."


def _created(effect: m.Create, english: English) -> str:
    noun = kind_word(effect.of)
    fields = [english.field(one) for one in effect.fields]
    given = f", with {', '.join(fields)}" if fields else ""
    return f"A new {noun}, “{spoken_name(effect.name)}”, comes into being{given}."


def _choice(effect: m.If, english: English, depth: int, word: str) -> Iterator[Line]:
    yield depth, f"{word} {english.condition(effect.condition)}:"
    yield from told(effect.then, english, depth + 1)
    if len(effect.otherwise) == 1 and isinstance(effect.otherwise[0], m.If):
        yield from _choice(effect.otherwise[0], english, depth, "Otherwise, if")
    elif effect.otherwise:
        yield depth, "Otherwise:"
        yield from told(effect.otherwise, english, depth + 1)


def _share(term: m.Term, english: English) -> str:
    """A probability: a constant as a percentage."""
    if isinstance(term, m.NumberLiteral) and isinstance(term.type, m.NumberType):
        scaled, decimals = int(term.value) * 100, term.type.decimals
        if scaled % 10**decimals == 0:
            return f"{scaled // 10**decimals}%"
    return english.value(term)


def _chances(effect: m.Chance, english: English, depth: int) -> Iterator[Line]:
    for branch in effect.branches:
        yield depth, f"With probability {_share(branch.probability, english)}:"
        yield from told(branch.body, english, depth + 1)
    if effect.otherwise:
        yield depth, "With the rest of the probability:"
        yield from told(effect.otherwise, english, depth + 1)


def _candidates(effect: m.Pick | m.DrawPick, english: English) -> tuple[str, English]:
    inner = english.with_binders(effect.binders)
    who = " and ".join(inner.names[one.name].removeprefix("the ") for one in effect.binders)
    such = f" such that {inner.condition(effect.where)}" if effect.where is not None else ""
    weight = "" if effect.weight is None else inner.value(effect.weight)
    match effect.key:
        case "uniform":
            how = "drawn with equal chances"
        case "weight" | "belief" | "log":
            how = f"drawn by the weight {weight}"
        case "least" | "most":
            how = f"the first with the {effect.key} {weight}"
        case _:
            assert_never(effect.key)
    return f"one {who}{such}, {how}", inner


def _picked(effect: m.Pick, english: English, depth: int) -> Iterator[Line]:
    who, inner = _candidates(effect, english)
    yield depth, f"For {who}:"
    yield from told(effect.body, inner, depth + 1)
    if effect.otherwise:
        yield depth, "If there is none:"
        yield from told(effect.otherwise, english, depth + 1)


def _drawn(effect: m.Let, english: English) -> str:
    match effect.value:
        case m.DrawChance(probability=probability):
            return f"true with probability {_share(probability, english)}"
        case m.DrawPick():
            return _candidates(effect.value, english)[0]
        case m.DrawUniform(low=low, high=high):
            return f"a real drawn from {english.value(low)} to {english.value(high)}"
        case (
            m.LeafTerm() | m.StateTerm() | m.LogicTerm() | m.TestTerm() | m.NumberTerm()
            | m.CompositeTerm()
        ) as term:  # fmt: skip
            return english.value(term)
        case _:
            assert_never(effect.value)
