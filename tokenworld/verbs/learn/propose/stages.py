"""Make learning problems from steps: the changes of each command, and of the tick after it.

Every slot of a fluent that changes is an instance, in every step; unchanged ones show where no
rule applies. The changes of a tick are explained by the state after the command, or, in a
later phase, by the state after the earlier phases.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from tokenworld.ground import Json
from tokenworld.verbs.learn.journal import Journal
from tokenworld.verbs.learn.propose.accepting import Asked, Commands, required
from tokenworld.verbs.learn.propose.commands import Grammar, Schema
from tokenworld.verbs.learn.propose.covering import Problem, Rule, Rules, cover
from tokenworld.verbs.learn.propose.drawn import cover_drawn, cover_noisy, shared_out
from tokenworld.verbs.learn.propose.outside import packed, unpacked
from tokenworld.verbs.learn.propose.scenes import (
    ANY,
    HOLDER,
    MISSING,
    Args,
    Fluent,
    Missing,
    Scene,
    Step,
    Value,
    Vocabulary,
    contradiction,
    lasting,
    moved,
    varying,
)
from tokenworld.verbs.learn.propose.templates import Template, templates, together
from tokenworld.verbs.learn.propose.terms import (
    ME,
    OVER,
    Language,
    Predicate,
    Table,
    Term,
    Var,
    typed_by,
)

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

SET, CREATE, DESTROY = "set", "create", "destroy"
PHASES: Final = 3
"""The number of phases of a tick that are tried before the last, which judges."""
_CHANGED: Final = 600
"""The number of changed instances with which a search begins."""
_SAME: Final = 1500
"""The number of unchanged instances with which a search begins."""
_NAMED: Final = 16
"""The greatest number of named objects that are tried for endings."""
_AGAIN: Final = 4
"""The number of searches for one slot, each with the counter-examples of the one before."""
_ADDED: Final = 400
"""The number of counter-examples that are added for the next search."""
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Learned:
    """The rules of one slot. ``what`` is `SET`, `CREATE` (objects of the type ``kind``) or
    `DESTROY`; ``over`` are the variables that it runs over, the slot's arguments. ``fields`` are
    the rules for the attributes of a created object."""

    what: str
    fluent: Fluent | None
    kind: str
    over: tuple[Var, ...]
    rules: Rules
    phase: int = 0
    fields: tuple[tuple[Fluent, Rules], ...] = ()
    others: tuple[Fluent, ...] = ()
    """Fluents that change together with the first."""

    @property
    def name(self) -> str:
        """A name for reports."""
        return self.fluent.name if self.fluent is not None else f"{self.what} {self.kind}".strip()


@dataclass(slots=True)
class Proposal:
    """The learned rules: for each action, by its number, and for the tick."""

    vocabulary: Vocabulary
    grammar: Grammar
    acts: dict[int, list[Learned]] = field(default_factory=dict)
    ticks: list[Learned] = field(default_factory=list)
    required: dict[int, tuple[Predicate, ...]] = field(default_factory=dict)
    """The requirements of each action, where the rows show which commands were accepted."""
    chance: bool = False
    contradiction: tuple[str, ...] = ()
    """The places of two rows that contradict each other."""
    noisy: bool = False
    """Whether the option allows random changes."""
    refused: frozenset[int] = frozenset()
    """The actions that were given, and never accepted."""
    always: bool = False
    """Whether time passes also where a command is refused."""


@dataclass(slots=True)
class _Case:
    """A change of state: the scene that is read, the scene after it, and the arguments."""

    read: Scene
    before: Scene
    after: Scene
    args: tuple[Value, ...]
    moved: frozenset[int] = frozenset()


@dataclass(slots=True)
class _Instances:
    """The instances of one slot: scenes, values of the variables, old and new values."""

    scenes: list[Scene] = field(default_factory=list)
    rows: list[tuple[Value, ...]] = field(default_factory=list)
    old: list[Value] = field(default_factory=list)
    new: list[Value] = field(default_factory=list)
    kept: list[bool] = field(default_factory=list)
    free: list[bool] = field(default_factory=list)
    """Whether the old value may also be written."""

    def contradicted(self) -> bool:
        """Return whether the same instance has come to different values."""
        seen: dict[object, Value] = {}
        every = zip(self.scenes, self.rows, self.new, strict=True)
        return any(seen.setdefault((scene.key, row), new) != new for scene, row, new in every)

    def add(self, scene: Scene, row: tuple[Value, ...], old: Value, new: Value,
            moved_: bool = False, last: bool = True) -> None:  # fmt: skip
        self.scenes.append(scene)
        self.rows.append(row)
        self.old.append(old)
        self.new.append(new)
        same = (old == new and type(old) is type(new)) or _equal(old, new)
        self.kept.append(same and not moved_)
        self.free.append(not same or moved_ or last)


def _equal(one: Value, other: Value) -> bool:
    numbers = (int, float)
    both = isinstance(one, numbers) and isinstance(other, numbers)
    return both and not isinstance(one, bool) and not isinstance(other, bool) and one == other


@dataclass(frozen=True, slots=True)
class _Asked:
    """One slot whose rules are to be found. ``borrowed`` are guards of other slots."""

    language: Language
    fluent: Fluent
    slot: Term | None
    instances: _Instances
    names: tuple[str, ...]
    borrowed: Sequence[Predicate]
    others: Sequence[Fluent]


class Stages:
    """Learns the rules of all steps."""

    def __init__(
        self, steps: Sequence[Step], vocabulary: Vocabulary, grammar: Grammar, say: Say,
        last: frozenset[str] = frozenset(), *, noisy: bool = False, phases: int = PHASES,
        journal: Journal | None = None,
    ) -> None:  # fmt: skip
        """``journal`` keeps the rules of each slot, so that a run that was broken off goes on.
        ``noisy``: every slot may change by chance, also where no state was met twice."""
        self._journal, self._noisy, self._phases = journal or Journal(), noisy, phases
        self._steps, self._vocabulary, self._grammar = steps, vocabulary, grammar
        self._say, self._last = say, last
        self._varying = varying(steps)
        self._contradiction = contradiction(steps)
        self._chance = noisy or bool(self._contradiction)
        self._always = any(not one.accepted and one.acted.key != one.ticked.key for one in steps)
        self._random = random.Random(0)
        self._truths = lasting(steps, vocabulary)

    def learn(self) -> Proposal:
        """Return all rules."""
        proposal = Proposal(
            self._vocabulary, self._grammar, contradiction=self._contradiction, noisy=self._noisy
        )
        proposal.ticks = self._ticks()
        judged = self._judged()
        for number, schema in enumerate(self._grammar.schemas):
            self._say(f"learning what `{schema.name}` does")
            if not schema.texts:
                proposal.required[number] = self._required(number, schema)
            cases = self._act_cases(number)
            found = [*self._slots(schema, cases), *self._created(schema, cases),
                     *self._destroyed(schema, cases)]  # fmt: skip
            proposal.acts[number] = found
        self._judge(proposal, judged)
        every = [*proposal.ticks, *(one for acts in proposal.acts.values() for one in acts)]
        proposal.refused, proposal.always = self._refused(), self._always
        proposal.chance = any(rule.branches for one in every for rule in one.rules.rules)
        return proposal

    # ---- cases ----------------------------------------------------------------------------------

    def _act_cases(self, number: int) -> list[_Case]:
        """Return the steps of an action, equal ones once where outcomes are certain."""
        found: list[_Case] = []
        seen: set[object] = set()
        for step, call in zip(self._steps, self._grammar.calls, strict=True):
            if call is None or call[0] != number or not step.accepted:
                continue
            read = step.commanded
            key = (read.key, call[1])
            if self._chance or key not in seen:
                seen.add(key)
                args = (*call[1], *self._me())
                moves = moved(read, step.acted) if self._vocabulary.ordered else frozenset()
                found.append(_Case(read, read, step.acted, args, moves))
        return found

    def _tick_cases(self) -> list[_Case]:
        found: list[_Case] = []
        seen: set[object] = set()
        for step in self._steps:
            if not step.accepted and not self._always:
                continue
            read = step.passed
            key = (read.key, step.ticked.key)
            if self._chance or key not in seen:
                seen.add(key)
                moves = moved(read, step.ticked) if self._vocabulary.ordered else frozenset()
                found.append(_Case(read, read, step.ticked, self._me(), moves))
        return found

    def _refused(self) -> frozenset[int]:
        """Return the actions that were given, and never accepted."""
        calls = zip(self._steps, self._grammar.calls, strict=True)
        given = [(call[0], step.accepted) for step, call in calls if call is not None]
        accepted = {number for number, fine in given if fine}
        return frozenset(number for number, _ in given) - accepted

    def _me(self) -> tuple[Value, ...]:
        return () if self._grammar.actor is None else (self._grammar.actor,)

    def _required(self, number: int, schema: Schema) -> tuple[Predicate, ...]:
        """Return the conditions that distinguish the accepted commands of an action from others."""
        calls: dict[bool, dict[object, Asked]] = {True: {}, False: {}}
        for step, call in zip(self._steps, self._grammar.calls, strict=True):
            if call is not None and call[0] == number:
                calls[step.accepted].setdefault((step.before.key, call[1]), (step.before, call[1]))
        if schema.given and not calls[False]:
            return ()
        language = self._language(schema, ())
        scenes = [*{step.before.key: step.before for step in self._steps}.values()]
        commands = Commands([*calls[True].values()], [*calls[False].values()], scenes, self._me())
        return required(schema, commands, language, self._names(language, ()))

    # ---- the tick -------------------------------------------------------------------------------

    def _ticks(self) -> list[Learned]:
        """Return the rules for changes without a command, phase by phase."""
        cases = self._tick_cases()
        best: dict[str, Learned] = {}
        done: dict[str, Learned] = {}
        for phase in range(self._phases):
            self._say(f"learning what happens by itself, phase {phase + 1}")
            found = [*self._slots(None, cases, done), *self._created(None, cases, done),
                     *self._destroyed(None, cases, done)]  # fmt: skip
            fresh = {}
            for one in found:
                known = best.get(one.name)
                if known is None or one.rules.cost < known.rules.cost:
                    best[one.name] = replace(one, phase=phase)
                if best[one.name].rules.exact:
                    fresh[one.name] = best[one.name]
            done |= fresh
            if not fresh or len(done) == len(best):
                break
            cases = [self._later(one, fresh) for one in cases]
        return [one for one in best.values() if one.rules.rules]

    def _later(self, case: _Case, fresh: Mapping[str, Learned]) -> _Case:
        """Return the case as a later phase reads it."""
        facts: dict[str, dict[Args, Value]] = {}
        for one in fresh.values():
            if one.fluent is not None:
                name = one.fluent.name
                now = case.after.facts.get(name, {})
                facts[name] = {
                    args: now.get(args, old) for args, old in case.read.facts[name].items()
                }
        return replace(case, read=case.read.changed(facts))

    # ---- rules judged at the end of a tick ------------------------------------------------------

    def _judged(self) -> dict[str, tuple[Learned, float]]:
        """Rules of the last phase for the fluents that only it may change, with their cost."""
        found = {}
        seen: dict[object, _Case] = {}
        for step in self._steps:
            facts = {name: step.before.facts[name] for name in self._last}
            read = step.ticked.changed(facts)
            old = tuple(facts[name].get(()) for name in sorted(self._last))
            key = (step.ticked.key, old) if not self._chance else len(seen)
            seen.setdefault(key, _Case(read, read, step.ticked, self._me()))
        cases = list(seen.values())
        for name in sorted(self._last):
            learned = self._slot(None, self._vocabulary.fluents[name], cases)
            if learned is not None:
                found[name] = (replace(learned, phase=PHASES), learned.rules.cost)
        return found

    def _judge(self, proposal: Proposal, judged: Mapping[str, tuple[Learned, float]]) -> None:
        """Assign the judged rules to the tick or to each action, whichever is the shorter text."""
        for name, (learned, cost) in judged.items():
            acts: dict[int, Learned] = {}
            told = learned.rules.exact or name in self._vocabulary.endings
            for number, schema in enumerate(() if told else self._grammar.schemas):
                cases = self._scored_cases(number)
                one = self._slot(schema, self._vocabulary.fluents[name], cases)
                if one is not None:
                    acts[number] = one
            if acts and sum(one.rules.cost for one in acts.values()) < cost:
                for number, one in acts.items():
                    if one.rules.rules:
                        proposal.acts[number].append(one)
            elif learned.rules.rules:
                proposal.ticks.append(learned)

    def _scored_cases(self, number: int) -> list[_Case]:
        """Return the steps of an action with the judged outcomes."""
        found: list[_Case] = []
        seen: set[object] = set()
        for step, call in zip(self._steps, self._grammar.calls, strict=True):
            if call is not None and call[0] == number:
                key = (step.before.key, call[1])
                if self._chance or key not in seen:
                    seen.add(key)
                    args = (*call[1], *self._me())
                    found.append(_Case(step.before, step.before, step.ticked, args))
        return found

    # ---- slots ----------------------------------------------------------------------------------

    def _slots(
        self, schema: Schema | None, cases: Sequence[_Case], done: Mapping[str, Learned] = {}
    ) -> Iterator[Learned]:
        borrowed: list[Predicate] = []
        joined = {name for names in self._vocabulary.together for name in names[1:]}
        for fluent in self._vocabulary.fluents.values():
            if fluent.name not in self._last | joined and fluent.name not in done:
                found = self._slot(schema, fluent, cases, borrowed)
                if found is not None:
                    guards = (rule.borrowed() for rule in found.rules.rules)
                    borrowed += [one for one in guards if one is not None and one not in borrowed]
                    yield found

    def _slot(
        self, schema: Schema | None, fluent: Fluent, cases: Sequence[_Case],
        borrowed: Sequence[Predicate] = (),
    ) -> Learned | None:  # fmt: skip
        """Return the rules for one fluent; ``None`` if it never changes. ``borrowed`` are guards of
        other slots."""
        over = _over(fluent, self._vocabulary)
        if len(over) < len(fluent.params):
            return None
        known = self._known(cases) if fluent.name in self._vocabulary.endings else {}
        group = next((one for one in self._vocabulary.together if one[0] == fluent.name), ())
        others = tuple(self._vocabulary.fluents[name] for name in group[1:])
        instances = _Instances()
        for case in cases:
            now = case.after.facts.get(fluent.name, {})
            holder = fluent.name == HOLDER and self._vocabulary.ordered
            for args, old in case.before.facts.get(fluent.name, {}).items():
                new = now.get(args, MISSING)
                if isinstance(new, Missing):
                    continue
                put = holder and args[0] in case.moved
                last = not holder or case.before.last(int(args[0]))
                if others:
                    was, now_ = ((_together(scene, (fluent, *others), args))
                                 for scene in (case.before, case.after))  # fmt: skip
                    instances.add(case.read, (*case.args, *args), was, now_, put, last)
                    continue
                row = (*case.args, *known.values(), *args)
                instances.add(case.read, row, old, new, put, last)
        if all(instances.kept):
            return None
        slot = Term(over[0].name, (fluent.name,), fluent.kind, fluent.of) if len(over) == 1 else (
            Term("", (fluent.name,), fluent.kind, fluent.of, tuple(one.name for one in over))
        )  # fmt: skip
        language = self._language(schema, over, fluent.name, tuple(known))
        names = {one.name for one in language.variables} | {ME}
        fitting = [one for one in borrowed if _names_of(one) <= names]
        rules = self._covered(language, fluent, slot, instances, fitting, others)
        return Learned(SET, fluent, "", over, rules, 0, (), others)

    def _known(self, cases: Sequence[_Case]) -> dict[Var, Value]:
        """Return the objects that endings may name, as variables with one value."""
        kinds = cases[0].before.kinds
        constants = list(self._vocabulary.constants.items())[:_NAMED]
        return {Var(name, kinds[thing]): thing for thing, name in constants if thing in kinds}

    def _language(
        self, schema: Schema | None, over: Sequence[Var], own: str = "",
        known: Sequence[Var] = (),
    ) -> Language:  # fmt: skip
        slots = () if schema is None else schema.slots
        params = [Var(one.name, one.sort) for one in slots]
        actor = self._grammar.actor is not None
        hidden = self._last - {own}
        variables = (*params, *known, *over)
        return Language(self._vocabulary, variables, self._varying, actor, hidden)

    def _names(self, language: Language, over: Sequence[Var]) -> tuple[str, ...]:
        known = set(self._vocabulary.constants.values())
        mine = (ME,) if language.actor else ()
        params = [one.name for one in language.variables if one not in over]
        first = [one for one in params if one not in known]
        return (
            *first,
            *mine,
            *(one for one in params if one in known),
            *(one.name for one in over),
        )

    def _covered(
        self, language: Language, fluent: Fluent, slot: Term | None, instances: _Instances,
        borrowed: Sequence[Predicate] = (), others: Sequence[Fluent] = (),
    ) -> Rules:  # fmt: skip
        """Return the rules for instances, which the journal may have from a run before."""
        at = self._random.getstate()

        def found() -> dict[str, Json]:
            rules = self._found(language, fluent, slot, instances, borrowed, others)
            drawn = self._random.getstate()
            moved_on: Json = None if drawn == at else _listed(drawn)
            return {"rules": packed(rules), "random": moved_on}

        kept = self._journal.once("rules", found)
        if kept["random"] is not None:
            version, numbers, gauss = kept["random"]
            self._random.setstate((version, tuple(numbers), gauss))
        rules = unpacked(kept["rules"])
        assert isinstance(rules, Rules)
        return rules

    def _found(
        self, language: Language, fluent: Fluent, slot: Term | None, instances: _Instances,
        borrowed: Sequence[Predicate], others: Sequence[Fluent],
    ) -> Rules:  # fmt: skip
        """Learn rules for instances: find them on some, test on all, find them again with those
        they get wrong."""
        over = tuple(one for one in language.variables if one.name in OVER)
        names = self._names(language, over)
        asked = _Asked(language, fluent, slot, instances, names, borrowed, others)
        rules = self._improved(asked, drawn=self._noisy)
        if not self._noisy and not rules.exact and instances.contradicted():
            other = self._improved(asked, drawn=True)
            rules = other if other.cost < rules.cost else rules
        return self._typical(language, rules, instances, names)

    def _improved(self, asked: _Asked, *, drawn: bool) -> Rules:
        """Search rules on some instances, and again with the instances that they get wrong.
        ``drawn``: the outcome may be random."""
        instances, names = asked.instances, asked.names
        chosen = self._first(instances, 4 if drawn else 1)
        rules = Rules((), 0, 0)
        for _ in range(_AGAIN):
            found = self._searched(asked, chosen, drawn=drawn)
            rules, wrong = self._tested(found, instances, names)
            more = sorted(set(wrong) - set(chosen))
            if not more:
                break
            chosen = sorted({*chosen, *self._some(more, _ADDED)})
        return rules

    def _typical(
        self, language: Language, rules: Rules, instances: _Instances, names: tuple[str, ...]
    ) -> Rules:
        """Add to each rule the truths that all objects share to which it was seen to apply: a rule
        does not apply to objects of which none was seen to change."""
        import numpy as np

        table = self._table(instances, names, range(len(instances.rows)))
        free = np.ones(len(table), dtype=np.bool_)
        found = []
        for rule in rules.rules:
            mask = free.copy()
            for one in rule.guard:
                mask &= table.truth(one)
            every = range(len(table))
            right = np.any(
                [self._right(one, table, instances, every) for one in rule.templates], axis=0
            ) & ~np.array(instances.kept)
            asked = [*self._anchored(language, rule, table, mask & right),
                     *self._shared(language, rule, table, mask & right)]  # fmt: skip
            found.append(replace(rule, guard=(*rule.guard, *asked)))
            free &= ~mask
        return replace(rules, rules=tuple(found))

    def _anchored(
        self, language: Language, rule: Rule, table: Table, seen: npt.NDArray[np.bool_]
    ) -> Iterator[Predicate]:
        """Predicates that tie a slot to a parameter, where it always was that of one: also
        where there is no other object of which a rule might be true."""
        params = [one for one in language.variables if one.name not in OVER]
        params += [Var(ME, ANY)] if params and language.actor else []
        for over in (one for one in language.variables if one.name in OVER):
            mine = Term(over.name, (), "object")
            if any(part.op == "==" and part.positive and mine in (part.left, part.right)
                   for part in rule.guard):  # fmt: skip
                continue
            for one in params:
                if bool(self._vocabulary.members(one.sort)) and bool(
                    self._vocabulary.members(over.sort)
                ):
                    same = Predicate("==", Term(one.name, (), "object"), mine, True, 0.0)
                    if seen.any() and bool(table.truth(same)[seen].all()):
                        yield same
                        break

    def _shared(
        self, language: Language, rule: Rule, table: Table, seen: npt.NDArray[np.bool_]
    ) -> Iterator[Predicate]:
        """Yield the truths that never change, hold of all that a rule applied to, and not of all
        objects; the widest of each variable that the rule names."""
        import numpy as np

        if not seen.any():
            return
        named = {name for one in rule.guard for name in one.variables()}
        named |= {name for one in rule.templates for name in one.variables()}
        named |= {one.name for one in language.variables if one.name in OVER}
        for term in language.objects:
            if term.path or term.base == ME or term.base not in named:
                continue
            things = table.column(term)
            kinds = {
                table.scenes[at].kinds.get(x)
                for at in map(int, np.flatnonzero(seen))
                if isinstance(x := things[at], int)
            }
            if len(kinds) < 2:  # one type does not tell what several share
                continue
            wide: list[tuple[int, Predicate]] = []
            mine = self._kinds(language, rule, term.base)
            for name, true in self._truths.items():
                size = len(true)
                if mine <= true:
                    continue
                one = Predicate("true", Term(term.base, (name,), "bool"), None, True, 0.0)
                if one.left is not None and bool(table.truth(one)[seen].all()):
                    wide.append((size, one))
            for _, one in sorted(wide, key=lambda pair: -pair[0])[:1]:
                if not self._implied(rule, one, table):
                    yield one

    def _kinds(self, language: Language, rule: Rule, name: str) -> frozenset[str]:
        """Return the types that a variable may have by a rule: its own, and those of an equal
        argument of the slot."""
        mine = Term(name, (), "object")
        sorts = [typed_by(rule.guard, name)]
        sorts += [one.sort for one in language.variables if one.name == name]
        for over in language.variables:
            other = {Term(over.name, (), "object"), mine}
            same = (one for one in rule.guard if one.op == "==" and one.positive)
            if over.name in OVER and any({one.left, one.right} == other for one in same):
                sorts.append(over.sort)
        found = frozenset(self._vocabulary.types)
        for sort in filter(None, sorts):
            found &= self._vocabulary.members(sort)
        return found

    def _implied(self, rule: Rule, one: Predicate, table: Table) -> bool:
        """Return whether the guard says that already."""
        return any(part.left == one.left and part.op == "true" for part in rule.guard)

    def _first(self, instances: _Instances, times: int) -> list[int]:
        every = range(len(instances.rows))
        changed = [at for at in every if not instances.kept[at]]
        same = [at for at in every if instances.kept[at]]
        return sorted(self._some(changed, times * _CHANGED) + self._some(same, times * _SAME))

    def _some(self, every: Sequence[int], most: int) -> list[int]:
        return list(every) if len(every) <= most else self._random.sample(every, most)

    def _table(self, instances: _Instances, names: tuple[str, ...], chosen: Sequence[int]) -> Table:
        scenes = [instances.scenes[at] for at in chosen]
        return Table(self._vocabulary, names, scenes, [instances.rows[at] for at in chosen])

    def _searched(self, asked: _Asked, chosen: Sequence[int], *, drawn: bool) -> Rules:
        import numpy as np

        fluent, slot, instances, others = asked.fluent, asked.slot, asked.instances, asked.others
        table = self._table(instances, asked.names, chosen)
        changes = [(at, instances.new[one]) for at, one in enumerate(chosen)
                   if not instances.kept[one]]  # fmt: skip
        if others and slot is not None:
            slots = [slot, *(replace(slot, path=(one.name,), kind=one.kind, of=one.of)
                             for one in others)]  # fmt: skip
            tried = together((fluent, *others), slots, asked.language, table, changes)
        else:
            tried = templates(fluent, slot, asked.language, table, changes)
        if not drawn:
            tried = [one for one in tried if one.op != "any"]
        right = [np.array(self._right(one, table, instances, chosen)) for one in tried]
        kept = np.array([instances.kept[at] for at in chosen])
        predicates = [*asked.language.predicates(table), *asked.borrowed]
        problem = Problem(table, predicates, tried, kept, right, slot)
        if not drawn:
            return cover(problem)
        sizes = [self._size(one) for one in tried]
        return (cover_noisy if self._noisy else cover_drawn)(problem, sizes)

    def _size(self, template: Template) -> int:
        """Return the number of values that a template draws from: the objects of its type."""
        if template.op != "any":
            return 1
        members = self._vocabulary.members(str(template.value))
        return max(1, sum(kind in members for kind in self._steps[0].before.kinds.values()))

    def _right(
        self, template: Template, table: Table, instances: _Instances, chosen: Sequence[int]
    ) -> list[bool]:
        """Return for each instance whether its new value is one of a template."""
        if template.op == "any":
            members = self._vocabulary.members(str(template.value))
            return [
                isinstance(new := instances.new[at], int)
                and instances.scenes[at].kinds.get(new) in members
                for at in chosen
            ]
        column = template.column(table)
        return [_is_right(value, instances, at) for value, at in zip(column, chosen, strict=True)]

    def _tested(
        self, rules: Rules, instances: _Instances, names: tuple[str, ...]
    ) -> tuple[Rules, list[int]]:
        """Return the rules as they do on all instances, with the shares of their draws, and the
        instances that they get wrong."""
        import numpy as np

        every = range(len(instances.rows))
        table = self._table(instances, names, every)
        kept = np.array(instances.kept)
        free = np.ones(len(every), dtype=np.bool_)
        wrong = np.zeros(len(every), dtype=np.bool_)
        found: list[Rule] = []
        total = 0.0
        for rule in rules.rules:
            mask = free.copy()
            for one in rule.guard:
                mask &= table.truth(one)
            right = np.array([self._right(one, table, instances, every) for one in rule.templates])
            if rule.branches:
                sizes = [self._size(one) for one in rule.branches]
                rule, lost = shared_out(rule, right, kept, mask, sizes, noisy=self._noisy)
                wrong |= mask & ~right.any(axis=0) & ~kept
                total += lost
            else:
                wrong |= mask & ~right[0]
            found.append(rule)
            free &= ~mask
        wrong |= free & ~kept
        unexplained = int((wrong & ~kept).sum())
        mistakes = int(wrong.sum()) - unexplained
        numbers = [int(at) for at in np.flatnonzero(wrong)]
        return Rules(tuple(found), unexplained, mistakes, total), numbers

    # ---- objects that come and go ---------------------------------------------------------------

    def _created(
        self, schema: Schema | None, cases: Sequence[_Case], done: Mapping[str, Learned] = {}
    ) -> Iterator[Learned]:
        """Yield rules that create objects, by their type: the holder, and the attributes."""
        kinds = dict.fromkeys(
            case.after.kinds[x] for case in cases for x in _fresh(case) if x in case.after.kinds
        )
        for kind in kinds:
            if f"{CREATE} {kind}" in done:
                continue
            over = (Var(OVER[0], ANY),) if self._vocabulary.ordered else ()
            instances, made = _Instances(), []
            for case in cases:
                fresh = {case.after.holder(x): x for x in _fresh(case)
                         if case.after.kinds[x] == kind}  # fmt: skip
                places: Sequence[tuple[Value, ...]] = [(x,) for x in case.before.kinds]
                for place in places if over else [()]:
                    new = (place[0] in fresh) if over else bool(fresh)
                    if new:
                        thing = fresh[place[0]] if over else next(iter(fresh.values()))  # type: ignore[index]
                        made.append((len(instances.rows), case.after, thing))
                    instances.add(case.read, (*case.args, *place), False, new)
            language = self._language(schema, over)
            rules = self._covered(language, Fluent(CREATE, (), "bool"), None, instances)
            fields = tuple(self._fields(language, kind, instances, made))
            yield Learned(CREATE, None, kind, over, rules, 0, fields)

    def _fields(
        self, language: Language, kind: str, instances: _Instances,
        made: Sequence[tuple[int, Scene, int]],
    ) -> Iterator[tuple[Fluent, Rules]]:  # fmt: skip
        for fluent in self._vocabulary.owned(kind):
            if fluent.name == HOLDER and self._vocabulary.ordered:
                continue
            found = _Instances()
            for at, scene, thing in made:
                new = scene.get(fluent.name, (thing,))
                if not isinstance(new, Missing):
                    found.add(instances.scenes[at], instances.rows[at], None, new)
                    found.kept[-1] = False
            if found.rows:
                yield fluent, self._covered(language, fluent, None, found)

    def _destroyed(
        self, schema: Schema | None, cases: Sequence[_Case], done: Mapping[str, Learned] = {}
    ) -> Iterator[Learned]:
        if DESTROY in done:
            return
        over = (Var(OVER[0], ANY),)
        instances = _Instances()
        for case in cases:
            for thing in case.before.kinds:
                gone = thing not in case.after.kinds
                instances.add(case.read, (*case.args, thing), False, gone)
        if any(instances.new):
            language = self._language(schema, over)
            rules = self._covered(language, Fluent(DESTROY, (), "bool"), None, instances)
            yield Learned(DESTROY, None, "", over, rules)


def _listed(state: tuple[Any, ...]) -> list[Json]:
    """Return the state of a random generator as JSON has it."""
    version, numbers, gauss = state
    return [version, list(numbers), gauss]


def _over(fluent: Fluent, vocabulary: Vocabulary) -> tuple[Var, ...]:
    """Return a variable for each parameter of a fluent; fewer where rules have no names for all."""
    things, words = iter(OVER[:2]), iter(OVER[2:])
    found = []
    for at, sort in enumerate(fluent.params):
        own = vocabulary.group(fluent.owners) if fluent.owners and at == 0 else None
        name = next(things if vocabulary.members(sort) else words, None)
        if name is not None:
            found.append(Var(name, own or sort))
    return tuple(found)


def _names_of(one: Predicate) -> frozenset[str]:
    """Return the variables of a borrowed guard."""
    return frozenset(name for part in one.parts() for name in part.variables())


def _together(scene: Scene, fluents: Sequence[Fluent], args: Args) -> Value:
    """Return the values of several fluents."""
    values = (scene.facts[one.name].get(args) for one in fluents)
    return tuple(one for one in values if not isinstance(one, tuple))


def _fresh(case: _Case) -> list[int]:
    return [x for x in case.after.kinds if x not in case.before.kinds]


def _is_right(value: Value | Missing, instances: _Instances, at: int) -> bool:
    if isinstance(value, Missing):
        return False
    new = instances.new[at]
    same = _equal(value, new) or (type(value) is type(new) and value == new)
    return same and (instances.free[at] or not instances.kept[at])
