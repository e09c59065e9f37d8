"""A proposal as a program: types, actions, laws and a world, as one text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from tokenworld.verbs.learn.propose.commands import NUMBER, SELF, Schema, Slot
from tokenworld.verbs.learn.propose.covering import Rule, Rules
from tokenworld.verbs.learn.propose.scenes import (
    ANY,
    HOLDER,
    LABEL,
    Fluent,
    Scene,
    Step,
    Value,
    Vocabulary,
)
from tokenworld.verbs.learn.propose.stages import CREATE, DESTROY, PHASES, SET, Learned, Proposal
from tokenworld.verbs.learn.propose.terms import ME, Predicate, Term, Var
from tokenworld.verbs.learn.propose.textrows import OVER, SCORE, WON, TextLayout
from tokenworld.verbs.learn.propose.wording import (
    Wording,
    anchor,
    kind_word,
    number,
    put,
    put_predicate,
    put_template,
    quoted,
    word,
)

ROOT: Final = "void"
_WIDE: Final = 1_000_000
"""The bounds of numbers whose range the rows do not tell."""


@dataclass(slots=True)
class Unwritten:
    """Rules that the language could not say, with the reason."""

    found: list[str] = field(default_factory=list)


class Writer:
    """Writes one proposal."""

    def __init__(
        self, proposal: Proposal, steps: Sequence[Step], layout: TextLayout | None, title: str
    ) -> None:
        self._proposal, self._steps, self._layout, self._title = proposal, steps, layout, title
        self._vocabulary = proposal.vocabulary
        self._start = steps[0].before
        self._defaults = _Defaults(steps, proposal.vocabulary)
        self.unwritten = Unwritten()
        self.names = _object_names(self._start, layout is not None, self._vocabulary)

    def text(self) -> str:
        """The program."""
        parts = [
            self._head(), *self._enums(), *self._types(), *self._functions(), self._actor(),
            *self._called(), *self._actions(), *self._laws(), self._world(),
        ]  # fmt: skip
        return "\n".join(one for one in parts if one) + "\n"

    def _head(self) -> str:
        return f"# {self._title}: rules proposed by `tw learn propose` from {len(self._steps)} rows.\nedition 1\n"

    # ---- what there is --------------------------------------------------------------------------

    def _enums(self) -> Iterator[str]:
        for name, members in self._vocabulary.enums.items():
            yield f"enum {kind_word(name)} {{ {', '.join(map(word, members))} }}"

    def _types(self) -> Iterator[str]:
        vocabulary = self._vocabulary
        yield self._type(ANY, (), frozenset(vocabulary.types), None)
        groups = sorted(vocabulary.groups.items(), key=lambda one: (-len(one[1]), one[0]))
        for name, members in groups:
            yield self._type(name, self._parents(members), members, None)
        for kind in vocabulary.types:
            yield self._type(kind, self._parents(frozenset((kind,))), frozenset((kind,)), kind)
        if self._layout is not None and self._layout.rootless:
            yield f"type Void : {ANY}"

    def _parents(self, members: frozenset[str]) -> tuple[str, ...]:
        """The smallest types that contain these."""
        above = [(name, one) for name, one in self._vocabulary.groups.items() if members < one]
        near = [name for name, one in above if not any(other < one for _, other in above)]
        return tuple(near) or (ANY,)

    def _type(
        self, name: str, parents: tuple[str, ...], owners: frozenset[str], kind: str | None
    ) -> str:
        head = f"type {kind_word(name)}" + (f" : {', '.join(map(kind_word, parents))}" if parents else "")
        lines = [self._attribute(one) for one in self._vocabulary.fluents.values()
                 if one.attribute and one.owners == owners]  # fmt: skip
        if kind is not None and kind in self._vocabulary.types:
            lines += self._fixed(kind)
        return f"{head} {{ {'  '.join(lines)} }}" if lines else head

    def _fixed(self, kind: str) -> list[str]:
        """The defaults of a type that are not those of its parents."""
        found = []
        for fluent in self._vocabulary.owned(kind):
            own = self._defaults.of(fluent, kind)
            if fluent.owners != frozenset((kind,)) and own is not None:
                if own != self._defaults.common(fluent) and fluent.kind != "object":
                    found.append(f"{word(fluent.name)} = {self._value(own, fluent)}")
        return found

    def _attribute(self, fluent: Fluent) -> str:
        if fluent.name == HOLDER and self._vocabulary.ordered:
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
        low = 0 if fluent.low >= 0 and self._layout is None else low
        if fluent.kind == "int":
            return f"{number(low)} to {number(high)} clamped"
        zeros = "0" * fluent.decimals
        return f"{number(low)}.{zeros} to {number(high)}.{zeros} clamped"

    def _value(self, value: Value, fluent: Fluent) -> str:
        if fluent.kind == "real" and isinstance(value, (int, float)):
            return f"{value:.{fluent.decimals}f}"
        if fluent.kind == "object" and isinstance(value, int):
            return word(self.names[value])
        return Wording(self._vocabulary).value(value, fluent.kind)

    def _functions(self) -> Iterator[str]:
        names = iter("abcdefgh")
        for fluent in self._vocabulary.fluents.values():
            if not fluent.attribute:
                names = iter("abcdefgh")
                params = []
                for at, sort in enumerate(fluent.params):
                    own = self._vocabulary.group(fluent.owners) if fluent.owners and at == 0 else ""
                    params.append(f"{next(names)}: {kind_word(own or sort)}")
                yield f"function {word(fluent.name)}({', '.join(params)}): {self._sort(fluent)}"

    def _actor(self) -> str:
        actor = self._proposal.grammar.actor
        kind = "" if actor is None else self._start.kinds.get(actor, "")
        return f"actor me: {kind_word(kind)}\n" if kind else ""

    def _called(self) -> Iterator[str]:
        """The names of objects, as the records have them and as a player says them."""
        if self._layout is None:
            return
        full = '"{x.label} (ID: {id(x)})"'
        yield f"called x: {ANY} = {full}{self._aka(ANY, '{x.label} (ID: {id(x)})')}"
        bare = sorted(self._layout.unnumbered)
        for kind in bare:
            yield f'called x: {kind_word(kind)} = "{{x.label}}"{self._aka(kind, "{x.label}")}'
        actor = self._proposal.grammar.actor
        me = "" if actor is None else self._start.kinds.get(actor, "")
        if me and any(re.search(rf"\b(?:{'|'.join(sorted(SELF))})\b", one.text) for one in self._steps):
            said = next(name for name in ("yourself", "myself", "me", "self")
                        if any(name in one.text.split() for one in self._steps))  # fmt: skip
            yield f'called x: {kind_word(me)} = "{said}"'
            yield f'derive recordName(x: {ANY}): text = if x is {kind_word(me)} then {full} else "{{x}}"\n'
        else:
            yield f'derive recordName(x: {ANY}): text = "{{x}}"\n'

    def _aka(self, kind: str, name: str) -> str:
        words = sorted(self._proposal.grammar.prefixes)
        return f" aka {', '.join(quoted_template(f'{one} {name}') for one in words)}" if words else ""

    # ---- actions --------------------------------------------------------------------------------

    def _actions(self) -> Iterator[str]:
        for at, schema in enumerate(self._proposal.grammar.schemas):
            learned = self._proposal.acts.get(at, [])
            yield _Body(self, schema, learned).text()

    # ---- laws -----------------------------------------------------------------------------------

    def _laws(self) -> Iterator[str]:
        phases = sorted({one.phase for one in self._proposal.ticks})
        for phase in phases:
            yield f"phase {_phase(phase)}"
        taken: set[str] = set()
        for learned in sorted(self._proposal.ticks, key=lambda one: one.phase):
            yield from self._law(learned, taken)

    def _law(self, learned: Learned, taken: set[str]) -> Iterator[str]:
        over, rules = learned.over, list(learned.rules.rules)
        words = Wording(self._vocabulary)
        sorts = {one.name: one.sort for one in over}
        for one in over:
            kinds = [_typed(rule, one.name) for rule in rules]
            if kinds and kinds[0] and all(kind == kinds[0] for kind in kinds):
                sorts[one.name] = kinds[0]
        over = tuple(Var(one.name, sorts[one.name]) for one in over)
        name = _fresh_name(self._law_name(learned), taken)
        params = ", ".join(f"{word(one.name)}: {kind_word(one.sort)}" for one in over)
        head = f"law {name}({params}) during {_phase(learned.phase)}"
        cases = []
        for rule in rules:
            words = Wording(self._vocabulary)
            for one in over:
                words.knows(one)
            guard = words.guard(rule.guard)
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

    def _law_name(self, learned: Learned) -> str:
        if learned.what != SET:
            return f"{learned.what}_{learned.kind or 'things'}".lower()
        assert learned.fluent is not None
        return f"{learned.fluent.name}_changes"

    # ---- changes --------------------------------------------------------------------------------

    def change(
        self, words: Wording, learned: Learned, rule: Rule, over: Sequence[Var],
        to: Mapping[str, Term] = {},
    ) -> str:  # fmt: skip
        """The change that a rule makes, with its chance."""
        places = [put(Term(one.name, (), "object"), to) for one in over]
        assert all(place is not None for place in places)
        if learned.what == DESTROY:
            assert places[0] is not None
            text = f"destroy {words.term(places[0])}"
        elif learned.what == CREATE:
            text = self._creation(words, learned, places, to)
        else:
            assert learned.fluent is not None
            slot = self.slot(learned.fluent, places)
            template = put_template(rule.template, to)
            assert template is not None
            new = words.template(template, learned.fluent)
            shift = template.op == "shift" and template.term == slot
            if shift and isinstance(template.value, (int, float)):
                sign = "+=" if template.value >= 0 else "-="
                amount = words.value(abs(template.value), learned.fluent.kind)
                text = f"{words.term(slot)} {sign} {amount}"
            else:
                text = f"{words.term(slot)} = {new}"
        if self._proposal.chance and rule.wrong:
            return f"chance {100 * rule.share:.1f}% {{ {text} }}"
        return text

    def slot(self, fluent: Fluent, places: Sequence[Term | None]) -> Term:
        """The term of a fluent with these arguments."""
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
        fields = []
        if places and places[0] is not None:
            fields.append(f"{HOLDER} = {words.term(places[0])}")
        for fluent, rules in learned.fields:
            text = self._field(words, fluent, rules, to)
            default = self._defaults.of(fluent, learned.kind)
            if default is None:
                default = self._defaults.common(fluent)
            if text and (default is None or text != self._value(default, fluent)):
                if not self._defaults.static(fluent):
                    fields.append(f"{word(fluent.name)} = {text}")
        return f"create made: {kind_word(learned.kind)} {{ {'  '.join(fields)} }}"

    def _field(
        self, words: Wording, fluent: Fluent, rules: Rules, to: Mapping[str, Term]
    ) -> str:
        cases: list[tuple[list[str], str]] = []
        for rule in rules.rules:
            template = put_template(rule.template, to)
            guard = [put_predicate(one, to) for one in rule.guard]
            if template is None or None in guard:
                continue
            cases.append((words.guard([one for one in guard if one is not None]),
                          words.template(template, fluent)))  # fmt: skip
        if not cases:
            return ""
        *rest, last = cases
        return "".join(f"if {' and '.join(guard) or 'true'} then {new} else " for guard, new in rest) + last[1]

    # ---- the world ------------------------------------------------------------------------------

    def _world(self) -> str:
        lines = []
        if self._layout is not None:
            lines += ["time passes always", "ambiguous first", "endless"]
        start = self._start
        for thing in sorted(start.kinds):
            lines.append(self._object(thing))
        if self._layout is not None and self._layout.rootless:
            lines.append(f"object {ROOT}: Void")
        lines += self._setup()
        for learned in (*self._proposal.ticks, *(x for y in self._proposal.acts.values() for x in y)):
            spare = f"spare {kind_word(learned.kind)} 2"
            if learned.what == CREATE and spare not in lines:
                lines.append(spare)
        if SCORE in self._vocabulary.fluents:
            lines.append(f"score = {SCORE}()")
            lines.append(f'goal reached: {WON}() "The game is won."')
            lines.append(f'lose missed: {OVER}() and not {WON}() "The game is lost."')
        body = "\n  ".join(lines)
        return f"\nworld {word(_identifier(self._title))} {quoted(self._title)} {{\n  {body}\n}}"

    def _object(self, thing: int) -> str:
        start, fields = self._start, []
        kind = start.kinds[thing]
        for fluent in self._vocabulary.owned(kind):
            if not fluent.attribute:
                continue
            value = start.get(fluent.name, (thing,))
            if isinstance(value, (bool, int, float, str)) and not self._is_default(fluent, kind, value):
                fields.append(f"{word(fluent.name)} = {self._value(value, fluent)}")
            elif value is None and fluent.name == HOLDER and self._layout and self._layout.rootless:
                fields.append(f"{HOLDER} = {ROOT}")
        body = f" {{ {'  '.join(fields)} }}" if fields else ""
        return f"object {word(self.names[thing])}: {kind_word(kind)}{body}"

    def _is_default(self, fluent: Fluent, kind: str, value: Value) -> bool:
        if fluent.kind == "object":
            return False
        own = self._defaults.of(fluent, kind)
        return value == (self._defaults.common(fluent) if own is None else own)

    def _setup(self) -> list[str]:
        """The values of functions at the start."""
        found = []
        for fluent in self._vocabulary.fluents.values():
            if fluent.attribute:
                continue
            for args, value in self._start.facts.get(fluent.name, {}).items():
                empty: Value = {"bool": False, "int": 0, "real": 0, "text": ""}.get(fluent.kind)
                if value is None or value == empty:
                    continue
                shown = ", ".join(
                    word(self.names[one]) if isinstance(one, int) else word(one) for one in args
                )
                found.append(f"{word(fluent.name)}({shown}) = {self._value(value, fluent)}")
        return [f"setup {{ {'  '.join(found)} }}"] if found else []


def quoted_template(text: str) -> str:
    """A template in quotes, whose braces stay."""
    return f'"{text}"'


def _typed(rule: Rule, name: str) -> str:
    """The type that a guard says a variable has."""
    for one in rule.guard:
        if one.op == "is" and one.positive and one.left == Term(name, (), "object"):
            return str(one.right)
    return ""


def _phase(number_: int) -> str:
    return "judging" if number_ == PHASES else f"change{number_ + 1}"


def _fresh_name(name: str, taken: set[str]) -> str:
    name = re.sub(r"\W+", "_", name)
    found, at = name, 2
    while found in taken:
        found, at = f"{name}_{at}", at + 1
    taken.add(found)
    return word(found)


def _identifier(text: str) -> str:
    name = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_") or "thing"
    return name if name[0].isalpha() else f"n_{name}"


def _object_names(start: Scene, labelled: bool, vocabulary: Vocabulary) -> dict[int, str]:
    """A name for each object of the start."""
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


class _Defaults:
    """The commonest values of attributes, for all owners and for each type."""

    def __init__(self, steps: Iterable[Step], vocabulary: Vocabulary) -> None:
        self._counts: dict[tuple[str, str], Counter[Value]] = {}
        self._vocabulary = vocabulary
        seen: set[object] = set()
        for step in steps:
            for scene in (step.before, step.acted, step.ticked):
                if scene.key in seen:
                    continue
                seen.add(scene.key)
                for fluent in vocabulary.fluents.values():
                    if fluent.attribute:
                        for (thing,), value in scene.facts.get(fluent.name, {}).items():
                            key = (fluent.name, scene.kinds.get(thing, ""))  # type: ignore[call-overload]
                            self._counts.setdefault(key, Counter())[value] += 1

    def of(self, fluent: Fluent, kind: str) -> Value:
        """The commonest value of a type; ``None`` where it has none."""
        found = self._counts.get((fluent.name, kind))
        return found.most_common(1)[0][0] if found else None

    def common(self, fluent: Fluent) -> Value:
        """The commonest value of all types."""
        total: Counter[Value] = Counter()
        for kind in sorted(fluent.owners):
            own = self.of(fluent, kind)
            total[own] += 1
        return total.most_common(1)[0][0] if total else None

    def static(self, fluent: Fluent) -> bool:
        """Return whether every type has one value of its own."""
        counts = [one for (name, _), one in self._counts.items() if name == fluent.name]
        return fluent.kind != "object" and bool(counts) and all(len(one) == 1 for one in counts)


# ---- the body of an action ----------------------------------------------------------------------


@dataclass(slots=True)
class _Block:
    """One change of an action: over what, under which conditions."""

    learned: Learned
    rule: Rule
    over: tuple[Var, ...]
    to: dict[str, Term]
    guard: list[Predicate]

    def reads(self) -> frozenset[str]:
        """The fluents that its conditions and its value read."""
        found = frozenset(name for one in self.guard for name in one.fluents())
        return found | self.rule.template.fluents() | frozenset(
            name for _, rules in self.learned.fields for rule in rules.rules
            for name in rule.template.fluents()
        )  # fmt: skip

    def writes(self) -> frozenset[str]:
        """The fluents that it changes."""
        if self.learned.what == SET:
            assert self.learned.fluent is not None
            return frozenset((self.learned.fluent.name,))
        return frozenset((HOLDER,))


class _Body:
    """Writes an action: what all its changes require first, then the changes, readers before
    writers."""

    def __init__(self, writer: Writer, schema: Schema, learned: Sequence[Learned]) -> None:
        self._writer, self._schema = writer, schema
        self._vocabulary = writer._vocabulary
        self._sorts = {one.name: self._sort(one) for one in schema.slots}
        self._blocks: list[_Block] = []
        for one in learned:
            for rule in reversed(one.rules.rules):
                block = self._block(one, rule)
                if block is not None:
                    self._blocks.append(block)
        self._common = self._required()

    def _sort(self, slot: Slot) -> str:
        if slot.sort != ANY:
            return slot.sort
        if self._writer._layout is None:
            return self._vocabulary.group(slot.kinds) or ANY
        return ANY

    def _block(self, learned: Learned, rule: Rule) -> _Block | None:
        free = frozenset(one.name for one in learned.over)
        to: dict[str, Term] = {}
        guard = list(rule.guard)
        for one in learned.over:
            found = anchor(guard, one.name, free)
            if found is None or (found.path and learned.fluent is not None
                                 and not learned.fluent.attribute):  # fmt: skip
                continue
            to[one.name] = found
            if one.sort in self._vocabulary.types or one.sort in self._vocabulary.groups:
                guard.append(Predicate("is", Term(one.name, (), "object"), one.sort, True, 0))
        placed = []
        for predicate in guard:
            new = put_predicate(predicate, to)
            if new is None:
                return self._lost(learned, rule)
            if not (new.op == "==" and new.left == new.right) and new not in placed:
                placed.append(new)
        placed = [one for one in placed if not _same(one)]
        if put_template(rule.template, to) is None:
            return self._lost(learned, rule)
        over = tuple(one for one in learned.over if one.name not in to)
        return _Block(learned, rule, over, to, placed)

    def _lost(self, learned: Learned, rule: Rule) -> None:
        self._writer.unwritten.found.append(f"`{self._schema.name}`: a rule for `{learned.name}`")

    # ---- requirements -------------------------------------------------------------------------

    def _required(self) -> list[Predicate]:
        """The conditions that all changes share."""
        if not self._blocks:
            return []
        params = {one.name for one in self._schema.slots} | {ME}
        first = [one for one in self._blocks[0].guard if one.variables() <= params]
        common = [one for one in first if all(one in block.guard for block in self._blocks)]
        for one in common:
            if one.op == "is" and one.positive and one.left is not None and not one.left.path:
                if one.left.base in self._sorts and isinstance(one.right, str):
                    self._narrow(one.left.base, one.right)
        return common

    def _narrow(self, name: str, sort: str) -> None:
        known = self._vocabulary.members(self._sorts[name])
        if self._vocabulary.members(sort) < known:
            self._sorts[name] = sort

    def text(self) -> str:
        """The action."""
        schema = self._schema
        words = Wording(self._vocabulary)
        for one in schema.slots:
            words.knows(Var(one.name, self._sorts[one.name]))
        params = ", ".join(self._param(one) for one in schema.slots)
        told = " or ".join(quoted_template(text) for text in schema.texts)
        told = told or quoted_template(" ".join([schema.name, *(f"{{{one.name}}}" for one in schema.slots)]))
        head = f"action {word(schema.name)}({params}) as {told}"
        labels: set[str] = set()
        lines = [self._require(text, labels) for text in words.guard(self._common)]
        lines += self._changes(words)
        body = "\n  ".join(lines)
        return f"{head} {{\n  {body}\n}}" if lines else f"{head} {{ }}"

    def _param(self, slot: Slot) -> str:
        if slot.sort == NUMBER:
            return f"{word(slot.name)}: {min(0, slot.low)} to {max(2 * slot.high, 99)}"
        return f"{word(slot.name)}: {kind_word(self._sorts[slot.name])}"

    def _require(self, text: str, labels: set[str]) -> str:
        label = re.sub(r"\W+", "_", text.replace("!=", "not")).strip("_").lower()[:40].strip("_")
        label = label if label and label[0].isalpha() else f"no_{label}"
        at = 2
        base = label
        while label in labels:
            label, at = f"{base}_{at}", at + 1
        labels.add(label)
        shown = text.replace('"', "'").replace("{", "").replace("}", "")
        return f'require {text} else {word(label)} "Only where {shown}."'

    # ---- changes ------------------------------------------------------------------------------

    def _changes(self, words: Wording) -> list[str]:
        """The changes in an order in which none reads what an earlier one has changed; conditions
        that would are named first."""
        ordered = self._ordered()
        written: set[str] = set()
        lets: list[str] = []
        lines: list[str] = []
        merged: dict[str, int] = {}
        for block in ordered:
            head, change = self._one(block, words, written, lets)
            written |= block.writes()
            if head in merged and merged[head] == len(lines) - 1:
                lines[-1] = f"{lines[-1].removesuffix(' }') if head else lines[-1]}  {change}" + (" }" if head else "")
                continue
            merged = {head: len(lines)}
            lines.append(f"{head} {{ {change} }}" if head else change)
        return [*lets, *lines]

    def _ordered(self) -> list[_Block]:
        """Blocks that read before blocks that write, as far as that goes."""
        left = list(self._blocks)
        found: list[_Block] = []
        while left:
            chosen = next(
                (one for one in left
                 if not any(other is not one and one.writes() & other.reads() and not self._earlier(one, other, left)
                            for other in left)
                 and not any(self._earlier(other, one, left) for other in left if other is not one)),
                None,
            )  # fmt: skip
            if chosen is None:
                loops = [one for one in left if one.over]
                chosen = (loops or left)[0]
            left.remove(chosen)
            found.append(chosen)
        return found

    def _earlier(self, one: _Block, other: _Block, left: Sequence[_Block]) -> bool:
        """Return whether one must be written first, because the other overrides it."""
        return one.learned is other.learned and left.index(one) < left.index(other)

    def _one(
        self, block: _Block, words: Wording, written: set[str], lets: list[str]
    ) -> tuple[str, str]:
        own = Wording(self._vocabulary, dict(words.sorts))
        for one in block.over:
            own.knows(self._narrowed(block, one))
        guard = [one for one in block.guard if one not in self._common]
        texts = own.guard(guard)
        late = bool(block.reads() & written)
        if block.over:
            head = "for " + ", ".join(
                f"{word(one.name)}: {kind_word(self._narrowed(block, one).sort)}" for one in block.over
            )
            head += f" where {' and '.join(texts)}" if texts else ""
        elif texts and late:
            tests = [one for one in texts if " is " in one and "any(" not in one and not one.startswith("not ")]
            name = f"case{len(lets) + 1}"
            lets.append(f"let {name} = {' and '.join(texts)}")
            head = f"if {' and '.join([name, *tests])}"
        else:
            head = f"if {' and '.join(texts)}" if texts else ""
        change = self._writer.change(own, block.learned, block.rule, block.learned.over, block.to)
        if late and not block.over and block.rule.template.fluents() & written:
            change = self._named(change, lets)
        return head, change

    def _named(self, change: str, lets: list[str]) -> str:
        """The change with its new value named before all changes."""
        match = re.fullmatch(r"(.+?) (=) (.+)", change)
        if match is None:
            return change
        name = f"new{len(lets) + 1}"
        lets.append(f"let {name} = {match[3]}")
        return f"{match[1]} = {name}"

    def _narrowed(self, block: _Block, one: Var) -> Var:
        kind = _typed(replace(block.rule, guard=tuple(block.guard)), one.name)
        return Var(one.name, kind) if kind else one


def _same(one: Predicate) -> bool:
    """Return whether it says that a term is itself."""
    if one.op != "==" or not isinstance(one.left, Term) or not isinstance(one.right, Term):
        return False
    left, right = one.left, one.right
    return one.positive and (left.base, left.path, left.args) == (right.base, right.path, right.args)
