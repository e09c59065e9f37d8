"""What the adapters share: the talk in JSON lines, the measuring, the digests.

An adapter runs as a script in the environment of its engine, which knows nothing of this project:
this file uses the standard library alone. Each request is ``{"op": …, "args": {…}}``, each answer
one object; ``error`` in it says that the engine could not do it.
"""

from __future__ import annotations

import gc
import hashlib
import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

Json = dict[str, Any]


def serve(engine: Any) -> None:
    """Answer requests until there are none. What the engine prints goes to stderr."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = getattr(engine, request["op"])(**request["args"])
        except Exception as error:  # whatever a peer raises is told, not hidden
            answer = {"error": f"{type(error).__name__}: {error}"[:300]}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


def per_call(work: Callable[[], object], budget: float) -> float:
    """CPU seconds of one call, garbage collection off: as many calls as the budget takes."""
    gc.collect()
    gc.disable()
    seconds = averaged(work, budget)
    gc.enable()
    return seconds


def averaged(work: Callable[[], object], budget: float) -> float:
    """CPU seconds of one call, of as many as the budget takes."""
    calls, began = 0, time.process_time()
    while True:
        work()
        calls += 1
        spent = time.process_time() - began
        if spent >= budget:
            return spent / calls


def once(work: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds of one call and its result, garbage collection off."""
    gc.collect()
    gc.disable()
    began = time.process_time()
    result = work()
    spent = time.process_time() - began
    gc.enable()
    return spent, result


def digest(rows: Iterable[str]) -> str:
    """A short digest of lines."""
    found = hashlib.sha256()
    for row in rows:
        found.update(row.encode() + b"\n")
    return found.hexdigest()[:16]


def told(actions: Iterable[str]) -> Json:
    """Ground actions by number and digest. One that names an object twice does not count: some
    drop those that change nothing or contradict themselves, and some do not."""
    every = {one.lower() for one in actions}
    kept = sorted(one for one in every if len(set(one.split())) == len(one.split()))
    return {"digest": digest(kept), "count": len(kept)}


def named(actions: Iterable[str], facts: Iterable[str]) -> Json:
    """All ground actions and all facts, by number and digest."""
    rows = [sorted(" ".join(one.split()).lower() for one in every) for every in (actions, facts)]
    return {"digest": digest([*rows[0], "", *rows[1]]), "count": len(rows[0])}


DISTINCT = 1024
"""So many worlds of a batch differ; the others repeat them."""


def batch_actions(worlds: int, ticks: int) -> list[list[int]]:
    """The actions of each world, of four: the same on both sides, drawn by a linear congruence."""
    rows, state = [], 20_261
    for _ in range(worlds):
        row = []
        for _ in range(ticks):
            state = (state * 6_364_136_223_846_793_005 + 1_442_695_040_888_963_407) % 2**64
            row.append(state >> 62)
        rows.append(row)
    return rows


# ---- PDDL, as far as it is needed to agree on words ---------------------------------------------


def parsed(path: str) -> list[Any]:
    """A PDDL file as nested lists of lower-case words."""
    with open(path, encoding="utf-8") as file:
        plain = "\n".join(line.split(";")[0] for line in file).lower()
    stack: list[list[Any]] = [[]]
    for word in plain.replace("(", " ( ").replace(")", " ) ").split():
        if word == "(":
            stack.append([])
        elif word == ")":
            done = stack.pop()
            stack[-1].append(done)
        else:
            stack[-1].append(word)
    return stack[0][0]


def section(tree: list[Any], name: str) -> list[Any]:
    """The contents of ``(:name …)``."""
    for one in tree:
        if isinstance(one, list) and one and one[0] == name:
            return one[1:]
    return []


def typed(words: list[str]) -> list[tuple[str, str]]:
    """``a b - t c`` as pairs of a name and its type."""
    found: list[tuple[str, str]] = []
    waiting: list[str] = []
    rest = iter(words)
    for word in rest:
        if word == "-":
            of = next(rest)
            found += [(name, of) for name in waiting]
            waiting = []
        else:
            waiting.append(word)
    return [*found, *((name, "object") for name in waiting)]


def atoms(formula: list[Any]) -> tuple[list[list[str]], list[list[str]]]:
    """The positive and the negative atoms of a conjunction."""
    if not formula:
        return [], []
    if formula[0] == "and":
        pairs = [atoms(one) for one in formula[1:]]
        return [a for one, _ in pairs for a in one], [a for _, one in pairs for a in one]
    return ([], [formula[1]]) if formula[0] == "not" else ([formula], [])


def actions(domain: list[Any]) -> Iterator[tuple[str, Json]]:
    """The actions of a STRIPS domain by name, with ``parameters``, ``precondition``, ``effect``."""
    for one in domain:
        if isinstance(one, list) and one and one[0] == ":action":
            yield one[1], {one[at][1:]: one[at + 1] for at in range(2, len(one), 2)}


def changing(path: str) -> frozenset[str]:
    """The predicates of a domain that some action changes: the others are nobody's state."""
    found: set[str] = set()
    for _, parts in actions(parsed(path)):
        added, deleted = atoms(parts["effect"])
        found |= {atom[0] for atom in (*added, *deleted)}
    return frozenset(found)


# ---- classical planning --------------------------------------------------------------------------


class Classical:
    """The operations on a PDDL pair, for an engine that knows the following of it.

    ``begin`` loads a pair. ``action`` makes a handle of ``name arg …``, ``say`` the opposite.
    ``facts`` are the true atoms as ``predicate arg …``.
    """

    stores = ""

    def begin(self, domain: str, problem: str) -> None:
        raise NotImplementedError

    def start(self) -> Any:
        raise NotImplementedError

    def action(self, words: str) -> Any:
        raise NotImplementedError

    def say(self, handle: Any) -> str:
        raise NotImplementedError

    def facts(self, state: Any) -> Iterable[str]:
        raise NotImplementedError

    def apply(self, state: Any, handle: Any) -> Any:
        """The next state; ``None`` where the action is not applicable."""
        raise NotImplementedError

    def applicable(self, state: Any, handle: Any) -> bool:
        raise NotImplementedError

    def legal(self, state: Any) -> list[Any]:
        """Handles of all applicable actions."""
        raise NotImplementedError

    def run(self, handles: list[Any]) -> None:
        """Check and apply one action after another."""
        state = self.start()
        for handle in handles:
            state = self.apply(state, handle)

    # ---- the operations ---------------------------------------------------------------------

    def load(self, domain: str, problem: str) -> Json:
        self.changing = changing(domain)
        seconds, _ = once(lambda: self.begin(domain, problem))
        return {"seconds": seconds, "digest": self._digest([self.start()]), "stores": self.stores}

    def _digest(self, states: Iterable[Any]) -> str:
        return digest("\n".join(self._moving(state)) for state in states)

    def _moving(self, state: Any) -> list[str]:
        facts = {one.lower() for one in self.facts(state)}
        return sorted(one for one in facts if one.split()[0] in self.changing)

    def _states(self, trace: list[str]) -> list[Any]:
        states = [self.start()]
        for words in trace:
            after = self.apply(states[-1], self.action(words))
            if after is None:
                raise ValueError(f"not applicable: {words}")
            states.append(after)
        return states

    def walk(self, trace: list[str], budget: float) -> Json:
        """Check and apply every action of a trace; every tenth state and the last are compared."""
        states = self._states(trace)
        found = self._digest([*states[::10], states[-1]])
        handles = [self.action(words) for words in trace]
        return {
            "seconds": per_call(lambda: self.run(handles), budget) / len(trace),
            "digest": found,
        }

    def probe(self, trace: list[str], asked: list[str], budget: float) -> Json:
        """Is this action applicable? Each of those asked, in each state of a trace."""
        states, handles = self._states(trace), [self.action(words) for words in asked]
        answers = [self.applicable(state, one) for state in states for one in handles]
        found = digest("01"[bool(answer)] for answer in answers)

        def probe() -> None:
            for state in states:
                for handle in handles:
                    self.applicable(state, handle)

        return {"seconds": per_call(probe, budget) / len(answers), "digest": found}

    def enumerate(self, trace: list[str], every: int, budget: float) -> Json:
        """All applicable actions, in each state of a trace that counts."""
        states = self._states(trace)[::every]
        lists = [sorted(self.say(one).lower() for one in self.legal(state)) for state in states]
        found = digest("\n".join(names) for names in lists)

        def enumerate_() -> None:
            for state in states:
                self.legal(state)

        seconds = per_call(enumerate_, budget) / len(states)
        return {"seconds": seconds, "digest": found, "count": sum(map(len, lists)) / len(lists)}
