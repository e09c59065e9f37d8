"""Shared code of the adapters: requests in JSON lines, timing, digests.

An adapter runs as a script in the environment of its engine, without this project, so this file
uses the standard library alone. Each request is ``{"op": …, "args": {…}}``, each answer one object;
``error`` in it says that the engine failed.
"""

from __future__ import annotations

import gc
import hashlib
import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

Json = dict[str, Any]


def serve(engine: Any) -> None:
    """Answer requests until the input ends. Output of the engine goes to stderr."""
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
    """CPU seconds of one call, garbage collection off, repeated up to the budget."""
    gc.collect()
    gc.disable()
    seconds = averaged(work, budget)
    gc.enable()
    return seconds


def averaged(work: Callable[[], object], budget: float) -> float:
    """CPU seconds of one call, repeated up to the budget."""
    calls, began = 0, time.process_time()
    while True:
        work()
        calls += 1
        spent = time.process_time() - began
        if spent >= budget:
            return spent / calls


def once(work: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds of one call and its result, garbage collection off."""
    with uncollected():
        return timed(work)


@contextmanager
def uncollected() -> Iterator[None]:
    """Collect garbage, then none. A collection empties the caches of the processor, so that there
    is none before each of many short calls."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds of one call and its result."""
    began = time.process_time()
    result = work()
    return time.process_time() - began, result


def digest(rows: Iterable[str]) -> str:
    """A short digest of lines."""
    found = hashlib.sha256()
    for row in rows:
        found.update(row.encode() + b"\n")
    return found.hexdigest()[:16]


def told(actions: Iterable[str]) -> Json:
    """The number and digest of ground actions, without those that name an object twice: some
    programs drop those without effect or with a contradiction, others do not."""
    every = {" ".join(one.lower().split()) for one in actions}  # "wait " has no parameters
    kept = sorted(one for one in every if len(set(one.split())) == len(one.split()))
    return {"digest": digest(kept), "count": len(kept)}


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
    """The fluents of a domain: predicates that some action changes."""
    found: set[str] = set()
    for _, parts in actions(parsed(path)):
        added, deleted = atoms(parts["effect"])
        found |= {atom[0] for atom in (*added, *deleted)}
    return frozenset(found)


# ---- classical planning --------------------------------------------------------------------------


class Classical:
    """The operations on a PDDL pair, for an engine with the following methods.

    ``begin`` loads a pair. ``action`` makes a handle from ``name arg …``, ``say`` the reverse.
    ``facts`` are the true atoms as ``predicate arg …``.
    """

    def begin(self, domain: str, problem: str) -> None:
        raise NotImplementedError

    def start(self) -> Any:
        """The start state; a new one on every call if states are changed in place."""
        raise NotImplementedError

    def action(self, words: str) -> Any:
        raise NotImplementedError

    def say(self, handle: Any) -> str:
        raise NotImplementedError

    def facts(self, state: Any) -> Iterable[str]:
        raise NotImplementedError

    def apply(self, state: Any, handle: Any) -> Any:
        """The next state; ``None`` if the action is not applicable."""
        raise NotImplementedError

    def legal(self, state: Any) -> list[Any]:
        """Handles of all applicable actions."""
        raise NotImplementedError

    # ---- the operations ---------------------------------------------------------------------

    def load(self, domain: str, problem: str) -> Json:
        self.changing = changing(domain)
        self.begin(domain, problem)
        return {"digest": self._digest(self.start())}

    def _digest(self, state: Any) -> str:
        facts = {one.lower() for one in self.facts(state)}
        return digest(sorted(one for one in facts if one.split()[0] in self.changing))

    def _through(self, state: Any, handles: list[Any]) -> Any:
        """The state after all these actions. Raises `ValueError` if one is not applicable."""
        for handle in handles:
            state = self.apply(state, handle)
            if state is None:
                raise ValueError(f"not applicable: {self.say(handle)}")
        return state

    def walk(self, trace: list[str], warm: int) -> Json:
        """Check and apply every action of a trace; the first ``warm`` ones are not timed."""
        start, handles = self.start(), [self.action(words) for words in trace]
        state = self._through(start, handles[:warm])
        seconds, last = once(lambda: self._through(state, handles[warm:]))
        return {"seconds": seconds / (len(handles) - warm), "digest": self._digest(last)}

    def enumerate(self, trace: list[str], warm: int, every: int) -> Json:
        """List the applicable actions in some states of a trace, after the first ``warm`` ones."""
        handles = [self.action(words) for words in trace]
        state = self._through(self.start(), handles[:warm])
        self.legal(state)
        spent, lists = 0.0, []
        with uncollected():
            for at in range(warm, len(handles), every):
                state = self._through(state, handles[at : at + every])
                seconds, found = timed(partial(self.legal, state))
                spent += seconds
                lists.append(sorted(self.say(one).lower() for one in found))
        count = sum(map(len, lists)) / len(lists)
        return {"seconds": spent / len(lists), "digest": digest(map(str, lists)), "count": count}
