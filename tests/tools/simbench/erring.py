"""A predictor that knows the answers of a set and errs on purpose: ``python erring.py DIR``.

Questions get errors of five kinds by turns; where there is no room for one kind, it is the next.
Some questions, and those about its own predictions, are answered rightly.
"""

from __future__ import annotations

import json
import sys
from copy import deepcopy
from pathlib import Path
from typing import Any

from tokenworld.verbs.records.answers import given, same
from tokenworld.verbs.records.rows import TextRow
from tokenworld.verbs.simbench.asking import answer_json
from tokenworld.verbs.simbench.sets import Question, read_set

WAYS = ("wrong value", "changed wrongly", "unchanged wrongly", "left out", "form")
Error = tuple[str, str]


def erred(question: Question, row: TextRow) -> tuple[dict[str, Any] | str, Error | None]:
    """The answer to a question, whole, and the error that is in it: property and way."""
    right = deepcopy(answer_json(row, question.task, "full"))
    if question.part == "own" or question.number % 7 == 0:
        return right, None
    if question.number % 11 == 0:
        return "I would say that nothing happens.", ("(the answer)", "form")
    if "objects" not in right:
        return right, None
    first = question.number % len(WAYS)
    for way in (*WAYS[first:], *WAYS[:first]):
        key = err(right["objects"], question, row, way)
        if key is not None:
            return right, (key, way)
    return right, None


def err(objects: list[Any], question: Question, row: TextRow, way: str) -> str | None:
    """Put an error of one kind into the objects; its property, ``None`` if there is no room."""
    before = {one["uuid"]: one for one in given(row, question.task).objects}
    for one in objects:
        known = before.get(one["uuid"])
        if known is None:
            continue
        for held, old in ((one["properties"], known["properties"]), (one, known)):
            for key in [key for key in held if held is one["properties"] or key == "contains"]:
                if way == "left out" and held is not one and same(held[key], old.get(key)):
                    del held[key]
                    return key
                new = instead(way, old.get(key), held[key])
                if new is not None:
                    held[key] = new
                    return key
    return None


def instead(way: str, old: Any, value: Any) -> Any:
    """The value that is wrong in this way; ``None`` where there is none."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    plain, changed = number or isinstance(value, str), not same(old, value)
    if way == "form":
        return ["?"] if plain else None
    if old is None or value is None or way == "left out" or changed == (way == "changed wrongly"):
        return None
    if way == "unchanged wrongly":
        return old
    if isinstance(value, list):
        return [*value, "nobody"] if way == "wrong value" else None
    return value + 1000 if number else f"{value}, not" if plain else None


def main() -> None:
    found = read_set(Path(sys.argv[1]))
    for line in sys.stdin:
        question = found.questions[int(json.loads(line)["row"]) - 1]
        answer, _ = erred(question, found.row(question))
        print(answer if isinstance(answer, str) else json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
