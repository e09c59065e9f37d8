"""Answers without a model: the world's rules with one rule left out, and the nearest known row."""

from __future__ import annotations

import json
import random
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from tokenworld.diagnostics import Failure
from tokenworld.ground import PASS
from tokenworld.model import Program
from tokenworld.session.intents import Resolver
from tokenworld.session.loading import OpenWorld, compile_world
from tokenworld.verbs.records.answers import Answer, Task, given, same, wanted
from tokenworld.verbs.records.rows import Recorded, TextRow
from tokenworld.verbs.simbench.sets import Question
from tokenworld.verbs.simbench.states import Form, form_of

COPY: Final = "copy of the state"
NEAREST: Final = "nearest known row"
WITHOUT: Final = "rules without "
"""Begins the name of the rules with one rule left out."""
_RULES = 4
"""So many rules are left out, one at a time."""


class Simulated:
    """The rules of a world as a predictor: it reads the state that a question shows. ``wrote`` has
    the rules that changed something in answers so far: ``law burn``."""

    def __init__(self, world: OpenWorld, form: Form) -> None:
        self.engine, self.form, self._words = world.engine, form, Resolver(world)
        self.wrote: set[str] = set()

    def answer(self, row: TextRow, task: Task) -> Answer:
        """Raises `Failure` where the world has no place for the state."""
        state = self.form.read(given(row, task), row.score_before, row.task)
        command = PASS if task == "env" else self._words.resolve(state, row.action)
        found = self.engine.halves(state, command)
        self.wrote.update(change[-1] for record in found.records for change in record.made)
        score = self.form.score(found.after).to_json()
        if task == "score":
            return Answer(score=score)
        shown = self.form.write(found.acted if task == "act" else found.after)
        return Answer(shown.objects, shown.next_id, score if task == "step" else None)


def difference(before: Recorded, found: Answer) -> dict[str, Any]:
    """An answer as JSON: its differences from the state before."""
    told: dict[str, Any] = {}
    if found.objects is not None:
        known = {one["uuid"]: one for one in before.objects}
        listed = {one["uuid"] for one in found.objects}
        told["modified"] = [one for one in found.objects if not same(one, known.get(one["uuid"]))]
        told["removed"] = [uuid for uuid in known if uuid not in listed]
        told["max_UUID"] = found.next_id
    return told if found.score is None else {**told, "score": dict(found.score)}


def right_answer(row: TextRow, task: Task) -> Answer:
    """The recorded answer."""
    score = row.score_after.to_json() if task in ("score", "step") else None
    if task == "score":
        return Answer(score=score)
    target = wanted(row, task)
    return Answer(target.objects, target.next_id, score)


def copied(row: TextRow, task: Task) -> dict[str, Any]:
    """The state before as the answer."""
    shown = given(row, task)
    score = row.score_before.to_json() if task in ("score", "step") else None
    if task == "score":
        return {"score": score}
    return difference(shown, Answer(shown.objects, shown.next_id, score))


def baseline_lines(
    world: OpenWorld, target: str, asked: Sequence[tuple[Question, TextRow]],
    examples: Sequence[TextRow], wrote: Collection[str], seed: int,
) -> Iterator[str]:  # fmt: skip
    """The lines of ``baselines.jsonl``; some of the rules that ``wrote`` something are left out."""
    nearest = Nearest(examples)
    for question, row in asked:
        yield _line(NEAREST, question, nearest.answer(row, question.task))
    for name, program in _reduced(world.program, wrote, random.Random(seed)):
        engine = compile_world(program, program.worlds[world.world.name])
        other = OpenWorld(replace(world.loaded, program=program), world.world, engine)
        simulated = Simulated(other, form_of(other, target))
        for question, row in asked:
            yield _line(f"{WITHOUT}{name}", question, _answered(simulated, row, question.task))


def _answered(simulated: Simulated, row: TextRow, task: Task) -> dict[str, Any]:
    try:
        return difference(given(row, task), simulated.answer(row, task))
    except Failure as failure:
        return {"fault": failure.diagnostics[0].message}


def _line(who: str, question: Question, answer: Mapping[str, Any]) -> str:
    told = {"who": who, "question": question.number, "answer": answer}
    return json.dumps(told, ensure_ascii=False)


def _reduced(
    program: Program, wrote: Collection[str], chosen: random.Random
) -> Iterator[tuple[str, Program]]:
    """Programs without one law, or with an action that does nothing: as many of either kind."""
    exempt = {law for rule in program.conserves.values() for law in rule.exempt}
    laws = [name for name in program.laws if f"law {name}" in wrote and name not in exempt]
    actions = [name for name in program.actions if f"action {name}" in wrote]
    few = chosen.sample(laws, min(len(laws), max(_RULES // 2, _RULES - len(actions))))
    rules = [("law", name) for name in few]
    few = chosen.sample(actions, min(len(actions), _RULES - len(few)))
    rules += [("action", name) for name in few]
    for kind, name in sorted(rules):
        if kind == "law":
            rest = {key: law for key, law in program.laws.items() if key != name}
            yield f"law {name}", replace(program, laws=rest)
        else:
            idle = replace(program.actions[name], body=())
            yield f"action {name}", replace(program, actions={**program.actions, name: idle})


class Nearest:
    """Predicts the changes of the known row that is most similar to a question."""

    def __init__(self, rows: Sequence[TextRow]) -> None:
        self._rows = rows
        self._facts: dict[int, frozenset[str]] = {}

    def answer(self, row: TextRow, task: Task) -> dict[str, Any]:
        """The changes of the most similar row; of equally similar ones the first."""
        if not self._rows:
            return copied(row, task)
        mine = self._shown(given(row, task))
        near = max(self._rows, key=lambda one: self._likeness(one, row, task, mine))
        if task == "score":
            return {"score": near.score_after.to_json()}
        before, after = given(near, task), wanted(near, task)
        found = _changed(given(row, task), before, after)
        score = near.score_after.to_json() if task == "step" else None
        return difference(given(row, task), Answer(found.objects, found.next_id, score))

    def _likeness(
        self, one: TextRow, row: TextRow, task: Task, mine: frozenset[str]
    ) -> tuple[bool, bool, int]:
        verb = one.action.split()[:1] == row.action.split()[:1]
        alike = len(mine & self._shown(given(one, task)))
        return (task == "env" or one.action == row.action, task == "env" or verb, alike)

    def _shown(self, state: Recorded) -> frozenset[str]:
        """The facts of a state as texts."""
        if id(state) not in self._facts:
            self._facts[id(state)] = frozenset(
                json.dumps([one["uuid"], key, value], sort_keys=True)
                for one in state.objects
                for key, value in (*one["properties"].items(), ("contains", one["contains"]))
            )
        return self._facts[id(state)]


def _changed(state: Recorded, before: Recorded, after: Recorded) -> Recorded:
    """A state with the changes between two others."""
    old = {one["uuid"]: one for one in before.objects}
    new = {one["uuid"]: one for one in after.objects}
    found = []
    for one in state.objects:
        was, now = old.get(one["uuid"]), new.get(one["uuid"])
        if was is None or now is None:
            found += [one] if was is None else []
            continue
        found.append({**one, **{key: now[key] for key in ("contains", "name", "type")
                                if now[key] != was[key]},
                      "properties": {**one["properties"], **_news(was, now)}})  # fmt: skip
    known = {one["uuid"] for one in state.objects}
    found += [one for one in after.objects if one["uuid"] not in old and one["uuid"] not in known]
    return Recorded(found, state.next_id + after.next_id - before.next_id)


def _news(was: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    old = was["properties"]
    return {
        key: value
        for key, value in now["properties"].items()
        if key not in old or not same(old[key], value)
    }
