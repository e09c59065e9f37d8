"""Write a proposal as a program: types, actions, laws and a world, as one text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from math import log, sqrt
from typing import Final

from tokenworld.verbs.learn.propose.bodies import Body
from tokenworld.verbs.learn.propose.commands import SELF, Schema
from tokenworld.verbs.learn.propose.covering import Rule, Rules
from tokenworld.verbs.learn.propose.scenes import (
    ANY,
    HOLDER,
    LABEL,
    Fluent,
    Missing,
    Scene,
    Step,
    Value,
    Vocabulary,
)
from tokenworld.verbs.learn.propose.stages import CREATE, DESTROY, PHASES, SET, Learned, Proposal
from tokenworld.verbs.learn.propose.templates import Template
from tokenworld.verbs.learn.propose.terms import Term, Var, typed_by
from tokenworld.verbs.learn.propose.text.wording import (
    Wording,
    kind_word,
    number,
    put,
    put_predicate,
    put_template,
    quoted,
    same_term,
    template_text,
    word,
)
from tokenworld.verbs.learn.propose.textrows import EMPTY, OVER, SCORE, WON, TextLayout

ROOT: Final = "void"
_PICKED: Final = "picked"
_WIDE: Final = 1_000_000
"""The bounds of numbers whose range the rows do not show."""


class Writer:
    """Writes one proposal."""

    def __init__(
        self, proposal: Proposal, steps: Sequence[Step], layout: TextLayout | None, title: str,
        taken: Collection[str] = (),
    ) -> None:  # fmt: skip
        """``taken`` are names of laws and phases that the program has already."""
        self._taken = frozenset(taken)
        self._proposal, self._steps, self.layout, self._title = proposal, steps, layout, title
        self.vocabulary = proposal.vocabulary
        self._start = steps[0].before
        shapes = () if layout is None else layout.shapes.values()
        gates = frozenset(one.present for one in shapes) | {one.filled for one in shapes}
        self._defaults = _Defaults(steps, proposal.vocabulary, gates, layout is not None)
        self.unwritten: list[str] = []
        self.hoist: Callable[[str], str] | None = None
        """Names a value before all changes, where a change comes too late to read it."""
        self.law_names: dict[int, str] = {}
        """The name of each law, by its place in the proposal."""
        self.names = _object_names(self._start, layout is not None, self.vocabulary)

    @property
    def labelled(self) -> bool:
        """Return whether the rows are of a text game."""
        return self.layout is not None

    def text(self) -> str:
        """Return the program."""
        rules = self.rules()  # they say which objects are named
        parts = [
            self._head(), *self._enums(), *self._types(), *self._functions(), self._actor(),
            *self._named(), *self._called(), *rules, self._world(),
        ]  # fmt: skip
        return "\n".join(one for one in parts if one) + "\n"

    def _head(self) -> str:
        rows = len(self._steps)
        return (
            f"# {self._title}: rules proposed by `tw learn propose` from {rows} rows.\nedition 1\n"
        )

    # ---- what there is --------------------------------------------------------------------------

    def _enums(self) -> Iterator[str]:
        for name, members in self.vocabulary.enums.items():
            yield f"enum {kind_word(name)} {{ {', '.join(map(word, members))} }}"

    def _types(self) -> Iterator[str]:
        vocabulary = self.vocabulary
        yield self._type(ANY, (), frozenset(vocabulary.types), None)
        groups = sorted(vocabulary.groups.items(), key=lambda one: (-len(one[1]), one[0]))
        for name, members in groups:
            yield self._type(name, self._parents(members), members, None)
        for kind in vocabulary.types:
            yield self._type(kind, self._parents(frozenset((kind,))), frozenset((kind,)), kind)
        if self.layout is not None and self.layout.rootless:
            yield f"type Void : {ANY}"

    def _parents(self, members: frozenset[str]) -> tuple[str, ...]:
        """Return the smallest types that contain these."""
        above = [(name, one) for name, one in self.vocabulary.groups.items() if members < one]
        near = [name for name, one in above if not any(other < one for _, other in above)]
        return tuple(near) or (ANY,)

    def _type(
        self, name: str, parents: tuple[str, ...], owners: frozenset[str], kind: str | None
    ) -> str:
        head = f"type {kind_word(name)}" + (
            f" : {', '.join(map(kind_word, parents))}" if parents else ""
        )
        own = [one for one in self.vocabulary.fluents.values() if one.owners == owners]
        lines = [self._attribute(one) for one in own if one.attribute and (kind or len(owners) > 1)]
        if kind is not None and kind in self.vocabulary.types:
            lines += self._fixed(kind)
        return f"{head} {{ {'  '.join(lines)} }}" if lines else head

    def _fixed(self, kind: str) -> list[str]:
        """Return the defaults of a type that are not those of its parents."""
        found = []
        for fluent in self.vocabulary.owned(kind):
            own = self._defaults.of(fluent, kind)
            shared = fluent.owners != frozenset((kind,)) and fluent.kind != "object"
            if shared and own is not None and own != self._defaults.common(fluent):
                found.append(f"{word(fluent.name)} = {self._value(own, fluent)}")
        return found

    def _attribute(self, fluent: Fluent) -> str:
        if fluent.name == HOLDER and self.vocabulary.ordered:
            return f"{HOLDER}: {ANY}? nested ordered inverse contents closure inside"
        static = "static " if self._defaults.static(fluent) else ""
        default = self._defaults.common(fluent)
        text = f"{static}{word(fluent.name)}: {self._sort(fluent)}"
        if default is None or fluent.kind == "object":
            return text
        return f"{text} = {self._value(default, fluent)}"

    def _sort(self, fluent: Fluent) -> str:
        mark = "?" if fluent.optional else ""
        match fluent.kind:
            case "bool":
                return "bool"
            case "int":
                return self._range(fluent)
            case "real":
                return self._range(fluent)
            case "text":
                return f"text{mark}"
            case "enum":
                return f"{kind_word(fluent.of)}{mark}"
            case "object":
                return f"{kind_word(fluent.of or ANY)}{mark}"

    def _range(self, fluent: Fluent) -> str:
        low, high = (min(-_WIDE, fluent.low), max(_WIDE, fluent.high))
        low = 0 if fluent.low >= 0 and self.layout is None else low
        if fluent.kind == "int":
            return f"{number(low)} to {number(high)} clamped"
        zeros = "0" * fluent.decimals
        return f"{number(low)}.{zeros} to {number(high)}.{zeros} clamped"

    def _value(self, value: Value, fluent: Fluent) -> str:
        if fluent.kind == "real" and isinstance(value, (int, float)):
            return f"{value:.{fluent.decimals}f}"
        if fluent.kind == "object" and isinstance(value, int):
            return word(self.names[value])
        return Wording(self.vocabulary).value(value, fluent.kind)

    def _functions(self) -> Iterator[str]:
        for fluent in self.vocabulary.fluents.values():
            names = iter("abcdefgh")
            if not fluent.attribute and fluent.name not in self.vocabulary.endings:
                params = []
                for at, sort in enumerate(fluent.params):
                    own = self.vocabulary.group(fluent.owners) if fluent.owners and at == 0 else ""
                    params.append(f"{next(names)}: {kind_word(own or sort)}")
                yield f"function {word(fluent.name)}({', '.join(params)}): {self._sort(fluent)}"

    def _actor(self) -> str:
        actor = self._proposal.grammar.actor
        kind = "" if actor is None else self._start.kinds.get(actor, "")
        return f"actor me: {kind_word(kind)}\n" if kind else ""

    def _named(self) -> Iterator[str]:
        """Yield the objects that rules name: they are in every world."""
        named = self.vocabulary.named
        named |= {one for one in self._start.kinds if named and one < max(named)}
        for thing in sorted(named):  # numbered as the rows number them
            yield f"object {word(self.names[thing])}: {kind_word(self._start.kinds[thing])}"

    def _called(self) -> Iterator[str]:
        """Yield the names of objects, as the records have them and as a player says them."""
        if self.layout is None:
            return
        full = '"{x.label} (ID: {id(x)})"'
        yield f"called x: {ANY} = {full}{self._aka(ANY, '{x.label} (ID: {id(x)})')}"
        bare = sorted(self.layout.unnumbered)
        for kind in bare:
            yield f'called x: {kind_word(kind)} = "{{x.label}}"{self._aka(kind, "{x.label}")}'
        actor = self._proposal.grammar.actor
        me = "" if actor is None else self._start.kinds.get(actor, "")
        if me and any(
            re.search(rf"\b(?:{'|'.join(sorted(SELF))})\b", one.text) for one in self._steps
        ):
            said = next(name for name in ("yourself", "myself", "me", "self")
                        if any(name in one.text.split() for one in self._steps))  # fmt: skip
            yield f'called x: {kind_word(me)} = "{said}"'
            test = f"x is {kind_word(me)}"
            yield f'derive recordName(x: {ANY}): text = if {test} then {full} else "{{x}}"\n'
        else:
            yield f'derive recordName(x: {ANY}): text = "{{x}}"\n'

    def _aka(self, kind: str, name: str) -> str:
        words = sorted(self._proposal.grammar.prefixes)
        return f" aka {', '.join(template_text(f'{one} {name}') for one in words)}" if words else ""

    # ---- actions --------------------------------------------------------------------------------

    def _actions(self) -> Iterator[str]:
        yield from (body.text() for schema, body in self.bodies() if not schema.given)

    def bodies(self) -> Iterator[tuple[Schema, Body]]:
        """Yield the actions, with their bodies."""
        for at, schema in enumerate(self._proposal.grammar.schemas):
            learned = self._proposal.acts.get(at, [])
            required = self._proposal.required.get(at, ())
            yield schema, Body(self, schema, learned, required, at in self._proposal.refused)

    def rules(self) -> list[str]:
        """Return the actions that the given rules do not have, and all laws."""
        return [*self._actions(), *self._laws()]

    # ---- laws -----------------------------------------------------------------------------------

    def _laws(self) -> Iterator[str]:
        phases = sorted({one.phase for one in self._proposal.ticks if not self._ending(one)})
        for phase in phases:
            yield f"phase {self._phase(phase)}"
        taken = set(self._taken)
        every = list(enumerate(self._proposal.ticks))
        every = [one for one in every if not self._ending(one[1])]
        for at, learned in sorted(every, key=lambda one: one[1].phase):
            self.law_names[at] = _fresh_name(self._law_name(learned), taken)
            yield from self._law(learned, self.law_names[at])

    def _ending(self, learned: Learned) -> str:
        """Return the ending that a rule says is reached; empty for none."""
        name = learned.fluent.name if learned.fluent is not None else ""
        return self.vocabulary.endings.get(name, "")

    def _goals(self) -> Iterator[str]:
        """Yield the endings that were reached, as goals."""
        for learned in self._proposal.ticks:
            if self._ending(learned) and learned.rules.rules:
                words = [Wording(self.vocabulary) for _ in learned.rules.rules]
                for one in words:
                    for thing, name in self.vocabulary.constants.items():
                        one.knows(Var(name, self._start.kinds[thing]))
                guards = (
                    one.guard(rule.guard)
                    for one, rule in zip(words, learned.rules.rules, strict=True)
                )
                text = " or ".join(" and ".join(guard) or "true" for guard in guards)
                yield f"goal {word(self._ending(learned))}: {text}"

    def _law(self, learned: Learned, name: str) -> Iterator[str]:
        over, rules = learned.over, list(learned.rules.rules)
        words = Wording(self.vocabulary)
        sorts = {one.name: one.sort for one in over}
        for one in over:
            kinds = [typed_by(rule.guard, one.name) for rule in rules]
            if kinds and kinds[0] and all(kind == kinds[0] for kind in kinds):
                sorts[one.name] = kinds[0]
        over = tuple(Var(one.name, sorts[one.name]) for one in over)
        params = ", ".join(f"{word(one.name)}: {kind_word(one.sort)}" for one in over)
        head = f"law {word(name)}({params}) during {self._phase(learned.phase)}"
        cases = []
        for rule in rules:
            words = Wording(self.vocabulary)
            for one in over:
                words.knows(one)
            guard = words.guard(rule.guard)
            guard += [one for one in self.needs(words, learned, rule, {}) if one not in guard]
            cases.append((guard, self.change(words, learned, rule, over)))
        if len(cases) == 1:
            guard, change = cases[0]
            when = f" when {' and '.join(guard)}" if guard else ""
            yield f"{head}{when} {{ {change} }}"
            return
        text = " else ".join(
            f"if {' and '.join(guard) or 'true'} {{ {change} }}" for guard, change in cases
        )
        yield f"{head} {{ {text} }}"

    def _phase(self, number_: int) -> str:
        name = "judging" if number_ == PHASES else f"change{number_ + 1}"
        return _fresh_name(name, set(self._taken))

    def _law_name(self, learned: Learned) -> str:
        if learned.what != SET:
            return f"{learned.what}_{learned.kind or 'things'}".lower()
        assert learned.fluent is not None
        return f"{learned.fluent.name}_changes"

    # ---- changes --------------------------------------------------------------------------------

    def needs(
        self, words: Wording, learned: Learned, rule: Rule, to: Mapping[str, Term]
    ) -> list[str]:
        """Return the type tests that the new value and the slot of a rule need."""
        placed = [put_template(one, to) for one in rule.templates]
        every = [part for one in placed if one is not None for part in (one, *one.parts)]
        terms = [term for one in every for term in (one.term, one.other)]
        if learned.what == SET and learned.fluent is not None:
            places = [put(Term(one.name, (), "object"), to) for one in learned.over]
            terms += [self.slot(one, places) for one in (learned.fluent, *learned.others)]
        return [test for term in terms for test in words.needs(term)]

    def draws(self, rule: Rule) -> bool:
        """Return whether a rule happens by chance."""
        return bool(rule.branches)

    def change(
        self, words: Wording, learned: Learned, rule: Rule, over: Sequence[Var],
        to: Mapping[str, Term] = {},
    ) -> str:  # fmt: skip
        """Return the change that a rule makes, with its chance."""
        places = [put(Term(one.name, (), "object"), to) for one in over]
        assert all(place is not None for place in places)
        if learned.what == DESTROY:
            assert places[0] is not None
            texts = [f"destroy {words.term(places[0])}"]
        elif learned.what == CREATE:
            texts = [self._creation(words, learned, places, to)]
        else:
            texts = [
                "  ".join(
                    self._assigned(part, words)
                    for part in self.assignments(learned, replace(rule, template=one), over, to)
                )
                for one in rule.templates
            ]
        return _by_chance(rule, texts) if self.draws(rule) else texts[0]

    def assignments(
        self, learned: Learned, rule: Rule, over: Sequence[Var], to: Mapping[str, Term]
    ) -> list[tuple[Fluent, Term, Template]]:
        """Return the slots that a rule writes, with their new values."""
        places = [put(Term(one.name, (), "object"), to) for one in over]
        template = put_template(rule.template, to)
        assert learned.fluent is not None
        assert template is not None
        fluents = (learned.fluent, *learned.others)
        parts = template.parts or (template,)
        return [
            (fluent, self.slot(fluent, places), part)
            for fluent, part in zip(fluents, parts, strict=True)
        ]

    def _assigned(self, one: tuple[Fluent, Term, Template], words: Wording) -> str:
        fluent, slot, template = one
        if template.op == "any":
            picked = f"{_PICKED}: {kind_word(str(template.value))}"
            return f"pick {picked} {{ {words.term(slot)} = {_PICKED} }}"
        if template.op == "shift" and template.term == slot:
            assert isinstance(template.value, (int, float))
            sign = "+=" if template.value >= 0 else "-="
            change = words.value(abs(template.value), fluent.kind, fluent.unit)
            return f"{words.term(slot)} {sign} {change}"
        return f"{words.term(slot)} = {words.template(template, fluent)}"

    def slot(self, fluent: Fluent, places: Sequence[Term | None]) -> Term:
        """Return the term of a fluent with these arguments."""
        if fluent.attribute:
            place = places[0]
            assert place is not None
            return Term(place.base, (*place.path, fluent.name), fluent.kind, fluent.of)
        return Term("", (fluent.name,), fluent.kind, fluent.of,
                    tuple(one.base for one in places if one is not None))  # fmt: skip

    def _creation(
        self, words: Wording, learned: Learned, places: Sequence[Term | None],
        to: Mapping[str, Term],
    ) -> str:  # fmt: skip
        fields, picked = [], ""
        if places and places[0] is not None:
            fields.append(f"{HOLDER} = {words.term(places[0])}")
        for fluent, rules in learned.fields:
            kind = _any_of(rules)
            if kind and not picked:
                picked = f"pick {_PICKED}: {kind_word(kind)}"
                fields.append(f"{word(fluent.name)} = {_PICKED}")
                continue
            text = self._field(words, fluent, rules, to)
            if self.hoist is not None and any(mark in text for mark in (".", "(")):
                text = self.hoist(text)
            default = self._defaults.of(fluent, learned.kind)
            if default is None:
                default = self._defaults.common(fluent)
            other = default is None or text != self._value(default, fluent)
            if text and other and not self._defaults.static(fluent):
                fields.append(f"{word(fluent.name)} = {text}")
        made = f"create made: {kind_word(learned.kind)} {{ {'  '.join(fields)} }}"
        return f"{picked} {{ {made} }}" if picked else made

    def _field(self, words: Wording, fluent: Fluent, rules: Rules, to: Mapping[str, Term]) -> str:
        cases: list[tuple[list[str], str]] = []
        for rule in rules.rules:
            template = put_template(rule.template, to)
            guard = [put_predicate(one, to) for one in rule.guard]
            if template is None or template.op == "any" or None in guard:
                continue
            tests = [one for one in guard if one is not None and not same_term(one)]
            own = Wording(self.vocabulary, dict(words.sorts))  # no case knows the types of another
            guard_text = own.guard(tests)
            cases.append((guard_text, self._present(own, template, fluent)))
        if not cases:
            return ""
        *rest, last = cases
        return (
            "".join(f"if {' and '.join(guard) or 'true'} then {new} else " for guard, new in rest)
            + last[1]
        )

    def _present(self, own: Wording, template: Template, fluent: Fluent) -> str:
        """Return the text of a new value, with another one where its terms have none: it is named
        before the condition under which it is used."""
        tests = [test for term in (template.term, template.other) for test in own.needs(term)]
        text, other = own.template(template, fluent), self._defaults.common(fluent)
        if not tests or other is None or fluent.kind == "object":
            return text
        return f"(if {' and '.join(tests)} then {text} else {self._value(other, fluent)})"

    # ---- the world ------------------------------------------------------------------------------

    def _world(self) -> str:
        lines = []
        if self.layout is not None:
            lines += ["time passes always", "ambiguous first"]
        elif self._proposal.always:
            lines.append("time passes always")
        endings = self.vocabulary.endings
        if self.layout is not None or any(
            step.before.get(one, ()) is True for step in self._steps for one in endings
        ):
            lines.append("endless")
        start = self._start
        rootless = self.layout is not None and self.layout.rootless
        for at, thing in enumerate(sorted(start.kinds)):
            if rootless and thing != at:  # the first number that no object has
                lines.append(f"object {ROOT}: Void")
                rootless = False
            if thing not in self.vocabulary.named:
                lines.append(self._object(thing))
        lines += [f"object {ROOT}: Void"] if rootless else []
        lines += self._setup()
        for learned in (
            *self._proposal.ticks,
            *(x for y in self._proposal.acts.values() for x in y),
        ):
            spare = f"spare {kind_word(learned.kind)} 2"
            if learned.what == CREATE and spare not in lines:
                lines.append(spare)
        lines += self._goals()
        if self.layout is not None:
            lines.append(f"score = {SCORE}()")
            lines.append(f'goal reached: {WON}() "The game is won."')
            lines.append(f'lose missed: {OVER}() and not {WON}() "The game is lost."')
        body = "\n  ".join(lines)
        return f"\nworld {word(_identifier(self._title))} {quoted(self._title)} {{\n  {body}\n}}"

    def _object(self, thing: int) -> str:
        fields = self._fields_of(thing)
        body = f" {{ {'  '.join(fields)} }}" if fields else ""
        return f"object {word(self.names[thing])}: {kind_word(self._start.kinds[thing])}{body}"

    def _fields_of(self, thing: int) -> list[str]:
        """Return the values of an object at the start that are no defaults."""
        start, kind, fields = self._start, self._start.kinds[thing], []
        rootless = self.layout is not None and self.layout.rootless
        for fluent in self.vocabulary.owned(kind):
            value = start.get(fluent.name, (thing,))
            if not fluent.attribute or isinstance(value, Missing):
                continue
            if value is not None and not self._is_default(fluent, kind, value):
                fields.append(f"{word(fluent.name)} = {self._value(value, fluent)}")
            elif value is None and fluent.name == HOLDER and rootless:
                fields.append(f"{HOLDER} = {ROOT}")
        return fields

    def _is_default(self, fluent: Fluent, kind: str, value: Value) -> bool:
        if fluent.kind == "object":
            return False
        own = self._defaults.of(fluent, kind)
        return value == (self._defaults.common(fluent) if own is None else own)

    def _setup(self) -> list[str]:
        """Return the values of functions at the start."""
        found = [f"{word(self.names[thing])}.{one}" for thing in sorted(self.vocabulary.named)
                 for one in self._fields_of(thing)]  # fmt: skip
        for fluent in self.vocabulary.fluents.values():
            if fluent.attribute or fluent.name in self.vocabulary.endings:
                continue
            for args, value in self._start.facts.get(fluent.name, {}).items():
                empty = EMPTY.get(fluent.kind)
                if value is None or value == empty:
                    continue
                shown = ", ".join(
                    word(self.names[one]) if isinstance(one, int) else word(one) for one in args
                )
                found.append(f"{word(fluent.name)}({shown}) = {self._value(value, fluent)}")
        return [f"setup {{ {'  '.join(found)} }}"] if found else []


def _by_chance(rule: Rule, texts: Sequence[str]) -> str:
    """Return the changes as branches of a draw, with their shares."""
    *shares, none = rule.shares
    count = rule.right + rule.wrong
    if none == 0:  # the last branch takes the rest
        *texts, last = texts
        rest = f" else {{ {last} }}" if texts else last
    else:
        rest = ""
    parts = [f"{percent(share, count)} {{ {text} }}"
             for share, text in zip(shares, texts, strict=False)]  # fmt: skip
    return (f"chance {' or '.join(parts)}" if parts else "") + rest


def percent(share: float, count: int) -> str:
    """Return a share that was seen among so many draws, with as many digits as the evidence pays
    for: a digit costs ln 10, a deviation of z standard errors z² / 2."""
    error = sqrt(max(share * (1 - share), 1e-9) / max(1, count))

    def cost(digits: int) -> float:
        return digits * log(10) + ((share - round(share, digits)) / error) ** 2 / 2

    some = [one for one in (1, 2, 3) if 0 < round(share, one) < 1] or [4]
    best = round(share, min(some, key=cost))
    return f"{number(100 * best)}%"


def _fresh_name(name: str, taken: set[str]) -> str:
    name = re.sub(r"\W+", "_", name)
    found, at = name, 2
    while found in taken:
        found, at = f"{name}_{at}", at + 1
    taken.add(found)
    return found


def _identifier(text: str) -> str:
    name = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_") or "thing"
    return name if name[0].isalpha() else f"n_{name}"


def _object_names(start: Scene, labelled: bool, vocabulary: Vocabulary) -> dict[int, str]:
    """Return a name for each object of the start."""
    found: dict[int, str] = {}
    taken = {ROOT, *vocabulary.fluents, "me"}
    for thing, name in start.names.items():
        text = start.get(LABEL, (thing,)) if labelled else name
        base = _identifier(str(text)) if labelled else name
        one, at = base, 2
        while labelled and one in taken:
            one, at = f"{base}_{at}", at + 1
        taken.add(one)
        found[thing] = one
    return found


def _any_of(rules: Rules) -> str:
    """Return the type of which the only rule draws an object; empty for other rules."""
    if len(rules.rules) != 1 or rules.rules[0].guard or rules.rules[0].template.op != "any":
        return ""
    return str(rules.rules[0].template.value)


class _Defaults:
    """The commonest values of attributes, for all owners and for each type."""

    def __init__(
        self, steps: Sequence[Step], vocabulary: Vocabulary, gates: frozenset[str], fixed: bool
    ) -> None:
        self._gates, self._fixed = gates, fixed
        self._counts: dict[tuple[str, str], Counter[Value]] = {}
        self._vocabulary = vocabulary
        seen: set[object] = set()
        for step in steps if fixed else steps[:1]:
            for scene in (step.before, step.acted, step.ticked) if fixed else (step.before,):
                if scene.key in seen:
                    continue
                seen.add(scene.key)
                for fluent in vocabulary.fluents.values():
                    if fluent.attribute:
                        for (thing,), value in scene.facts.get(fluent.name, {}).items():
                            key = (fluent.name, scene.kinds.get(int(thing), ""))
                            self._counts.setdefault(key, Counter())[value] += 1

    def of(self, fluent: Fluent, kind: str) -> Value:
        """Return the commonest value of a type; ``None`` where it has none."""
        if fluent.name in self._gates:
            return False
        found = self._counts.get((fluent.name, kind))
        return found.most_common(1)[0][0] if found else None

    def common(self, fluent: Fluent) -> Value:
        """Return the commonest value of all types."""
        if fluent.name in self._gates:
            return False
        total: Counter[Value] = Counter()
        for kind in sorted(fluent.owners):
            own = self.of(fluent, kind)
            total[own] += 1
        return total.most_common(1)[0][0] if total else None

    def static(self, fluent: Fluent) -> bool:
        """Return whether every type has one value of its own, in rows that show all games."""
        counts = [one for (name, _), one in self._counts.items() if name == fluent.name]
        return self._fixed and (
            fluent.kind != "object"
            and fluent.name not in self._gates
            and bool(counts)
            and all(len(one) == 1 for one in counts)
        )
