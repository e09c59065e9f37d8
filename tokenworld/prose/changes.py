"""Changes in English: what a body does, as a list of sentences with sub-lists."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import assert_never

from tokenworld.model import (
    AddFact,
    Assign,
    Body,
    BoolLiteral,
    Chance,
    CompositeTerm,
    Create,
    DescribeEffect,
    Destroy,
    DrawChance,
    DrawPick,
    DrawUniform,
    Effect,
    Emit,
    For,
    If,
    LeafTerm,
    Let,
    LogicTerm,
    Negate,
    NoneLiteral,
    NumberLiteral,
    NumberTerm,
    NumberType,
    OutputEffect,
    Pick,
    Read,
    RemoveFact,
    Reward,
    Say,
    StateTerm,
    Swap,
    Term,
    TestTerm,
    Transfer,
    WriteEffect,
)
from tokenworld.prose.english import English, spoken_name
from tokenworld.prose.wording import capitalised, kind_word

__all__ = [
    "Line",
    "told",
]

Line = tuple[int, str]
"""A sentence and how deep it stands in the list."""


def told(body: Body, english: English, depth: int = 0) -> Iterator[Line]:
    """The sentences of a body, in written order."""
    for effect in body:
        if isinstance(effect, Let):
            yield depth, f"Let “{spoken_name(effect.name)}” be {_drawn(effect, english)}."
            english = english.with_name(effect.name)
        elif isinstance(effect, Create):
            yield depth, _created(effect, english)
            english = english.with_name(effect.name)
        else:
            yield from _told(effect, english, depth)


def _told(effect: Effect, english: English, depth: int) -> Iterator[Line]:
    match effect:
        case If():
            yield from _choice(effect, english, depth, "If")
        case For(binders=binders, where=where, body=body):
            inner = english.with_binders(binders)
            such = f" such that {inner.condition(where)}" if where is not None else ""
            yield depth, f"For {inner.every(binders)}{such}:"
            yield from told(body, inner, depth + 1)
        case Chance():
            yield from _chances(effect, english, depth)
        case Pick():
            yield from _picked(effect, english, depth)
        case Let() | Create():
            raise TypeError("told by `told`, since it brings a name")
        case WriteEffect() | Destroy() | OutputEffect():
            yield depth, _sentence(effect, english)
        case _:
            assert_never(effect)


def _sentence(
    effect: Assign
    | AddFact
    | RemoveFact
    | Destroy
    | Transfer
    | Swap
    | Emit
    | Say
    | DescribeEffect
    | Reward,
    english: English,
) -> str:
    value = english.value
    match effect:
        case Assign(target=target, op=op, value=term):
            return _assigned(target, op, term, english)
        case AddFact(target=target):
            return f"From now on {english.condition(target)}."
        case RemoveFact(target=target):
            return f"No longer: {english.condition(target)}."
        case Destroy(target=term):
            return f"{capitalised(value(term))} ceases to exist."
        case Transfer(amount=amount, source=source, target=target):
            places = f"from {value(source)} to {value(target)}"
            return f"{capitalised(value(amount))} moves {places}."
        case Swap(left=left, right=right):
            return f"{capitalised(value(left))} and {value(right)} change places."
        case Emit(event=event, args=args):
            listed = f" ({', '.join(value(arg) for arg in args)})" if args else ""
            return f"The event “{spoken_name(event)}”{listed} is sent."
        case Say(template=template):
            return f"It is said: “{english.template(template)}”"
        case DescribeEffect(target=term):
            return f"{capitalised(value(term))} is described."
        case Reward(amount=amount):
            return f"The reward is {value(amount)}."
        case _:
            assert_never(effect)


def _assigned(target: Read, op: str, term: Term, english: English) -> str:
    place = capitalised(english.value(target))
    match op:
        case "+=":
            if isinstance(term, Negate):
                return f"{place} goes down by {english.value(term.term)}."
            return f"{place} goes up by {english.value(term)}."
        case "-=":
            return f"{place} goes down by {english.value(term)}."
    if isinstance(term, BoolLiteral):
        told_ = english.condition(target) if term.value else english.denial(target)
        return f"From now on {told_}."
    if target.type.kind == "bool":
        return f"From now on {english.condition(target)} exactly if {english.condition(term)}."
    if isinstance(term, NoneLiteral):
        return f"{place} becomes nothing."
    return f"{place} becomes {english.value(term)}."


def _created(effect: Create, english: English) -> str:
    noun = kind_word(effect.of)
    program = english.program
    fields = [
        f"{spoken_name(program.fluents[one.fluent].name)} {english.value(one.value)}"
        for one in effect.fields
    ]
    given = f", with {', '.join(fields)}" if fields else ""
    return f"A new {noun}, “{spoken_name(effect.name)}”, comes into being{given}."


def _choice(effect: If, english: English, depth: int, word: str) -> Iterator[Line]:
    yield depth, f"{word} {english.condition(effect.condition)}:"
    yield from told(effect.then, english, depth + 1)
    if len(effect.otherwise) == 1 and isinstance(effect.otherwise[0], If):
        yield from _choice(effect.otherwise[0], english, depth, "Otherwise, if")
    elif effect.otherwise:
        yield depth, "Otherwise:"
        yield from told(effect.otherwise, english, depth + 1)


def _share(term: Term, english: English) -> str:
    """A probability: a constant as a percentage."""
    if isinstance(term, NumberLiteral) and isinstance(term.type, NumberType):
        scaled, decimals = int(term.value) * 100, term.type.decimals
        if scaled % 10**decimals == 0:
            return f"{scaled // 10**decimals}%"
    return english.value(term)


def _chances(effect: Chance, english: English, depth: int) -> Iterator[Line]:
    for branch in effect.branches:
        yield depth, f"With probability {_share(branch.probability, english)}:"
        yield from told(branch.body, english, depth + 1)
    if effect.otherwise:
        yield depth, "With the rest of the probability:"
        yield from told(effect.otherwise, english, depth + 1)


def _candidates(effect: Pick | DrawPick, english: English) -> tuple[str, English]:
    inner = english.with_binders(effect.binders)
    who = " and ".join(inner.names[one.name].removeprefix("the ") for one in effect.binders)
    such = f" such that {inner.condition(effect.where)}" if effect.where is not None else ""
    weight = "" if effect.weight is None else inner.value(effect.weight)
    match effect.key:
        case "uniform":
            how = "drawn with equal chances"
        case "weight":
            how = f"drawn by the weight {weight}"
        case "least" | "most":
            how = f"the first with the {effect.key} {weight}"
        case _:
            assert_never(effect.key)
    return f"one {who}{such}, {how}", inner


def _picked(effect: Pick, english: English, depth: int) -> Iterator[Line]:
    who, inner = _candidates(effect, english)
    yield depth, f"For {who}:"
    yield from told(effect.body, inner, depth + 1)
    if effect.otherwise:
        yield depth, "If there is none:"
        yield from told(effect.otherwise, english, depth + 1)


def _drawn(effect: Let, english: English) -> str:
    match effect.value:
        case DrawChance(probability=probability):
            return f"true with probability {_share(probability, english)}"
        case DrawPick():
            return _candidates(effect.value, english)[0]
        case DrawUniform(low=low, high=high):
            return f"a real drawn from {english.value(low)} to {english.value(high)}"
        case (
            LeafTerm() | StateTerm() | LogicTerm() | TestTerm() | NumberTerm() | CompositeTerm()
        ) as term:  # fmt: skip
            return english.value(term)
        case _:
            assert_never(effect.value)


def flat(lines: Sequence[Line]) -> str:
    """The sentences in one paragraph, for a short body."""
    return " ".join(text for _, text in lines)


__all__ += ["flat"]
