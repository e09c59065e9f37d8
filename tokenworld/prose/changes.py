"""Changes in English: the sentences of a body, as a list with sub-lists."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from tokenworld import model as m
from tokenworld.prose.english import English, spoken_name
from tokenworld.prose.wording import capitalised, kind_word

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
    match op:
        case "+=":
            if isinstance(term, m.Negate):
                return f"{place} goes down by {english.value(term.term)}."
            return f"{place} goes up by {english.value(term)}."
        case "-=":
            return f"{place} goes down by {english.value(term)}."
    if isinstance(term, m.BoolLiteral):
        told_ = english.condition(target) if term.value else english.denial(target)
        return f"From now on {told_}."
    if target.type.kind == "bool":
        return f"From now on {english.condition(target)} exactly if {english.condition(term)}."
    if isinstance(term, m.NoneLiteral):
        return f"{place} becomes nothing."
    return f"{place} becomes {english.value(term)}."


def _created(effect: m.Create, english: English) -> str:
    noun = kind_word(effect.of)
    program = english.program
    fields = [
        f"{spoken_name(program.fluents[one.fluent].name)} {english.value(one.value)}"
        for one in effect.fields
    ]
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
