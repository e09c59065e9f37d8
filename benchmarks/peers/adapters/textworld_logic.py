"""TextWorld's logic: rules over facts, matched and applied without Inform."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from shared import Classical, Json, actions, atoms, parsed, section, serve, typed
from textworld.logic import (
    GameLogic,
    Placeholder,
    Predicate,
    Proposition,
    Rule,
    State,
    Type,
    Variable,
)


class TextWorld(Classical):
    def begin(self, domain: str, problem: str) -> None:
        rules, task = parsed(domain), parsed(problem)
        self._logic = GameLogic()
        kinds = typed(section(rules, ":types"))
        for name, parent in kinds:
            self._logic.types.add(Type(name, [] if parent == "object" else [parent]))
        if not any(name == "object" for name, _ in kinds):
            self._logic.types.add(Type("object", []))
        named = (*typed(section(rules, ":constants")), *typed(section(task, ":objects")))
        self._objects = {name: Variable(name, of) for name, of in named}
        every = list(actions(rules))
        self._rules = {name: _rule(name, parts) for name, parts in every}
        self._params = {
            name: [param.lstrip("?") for param, _ in typed(parts["parameters"])]
            for name, parts in every
        }
        self._init = [self._fact(one) for one in section(task, ":init")]
        self._start = State(self._logic, self._init)
        self._list = list(self._rules.values())

    def _fact(self, atom: list[str]) -> Any:
        return Proposition(atom[0], [self._objects[one] for one in atom[1:]])

    def start(self) -> Any:
        return self._start.copy()

    def action(self, words: str) -> Any:
        name, *args = words.split()
        rule = self._rules[name]
        mapping = {
            placeholder: self._objects[args[self._params[name].index(placeholder.name)]]
            for placeholder in rule.placeholders
        }
        return rule.instantiate(mapping)

    def say(self, handle: Any) -> str:
        matched = self._rules[handle.name].match(handle)
        by_name = {one.name: value.name for one, value in matched.items()}
        return " ".join((handle.name, *(by_name[one] for one in self._params[handle.name])))

    def facts(self, state: Any) -> Iterable[str]:
        for one in state.facts:
            yield " ".join((one.name, *(arg.name for arg in one.arguments)))

    def apply(self, state: Any, handle: Any) -> Any:
        """Apply in place, as its games do."""
        return state if state.apply(handle) else None

    def legal(self, state: Any) -> list[Any]:
        return list(state.all_applicable_actions(self._list))


def _rule(name: str, parts: Json) -> Any:
    """A STRIPS action: it must require the facts that it deletes."""
    needed, refused = atoms(parts["precondition"])
    added, deleted = atoms(parts["effect"])
    named = {arg for atom in (*needed, *added) for arg in atom[1:]}
    constants = any(not arg.startswith("?") for arg in named)
    if refused or constants or any(one not in needed for one in deleted):
        raise ValueError(f"TextWorld has no rule like `{name}`")
    params = {param: Placeholder(param.lstrip("?"), of) for param, of in typed(parts["parameters"])}

    def predicate(atom: list[str]) -> Any:
        return Predicate(atom[0], [params[one] for one in atom[1:]])

    kept = [one for one in needed if one not in deleted]
    after = [*kept, *(one for one in added if one not in kept)]
    return Rule(name, [predicate(one) for one in needed], [predicate(one) for one in after])


if __name__ == "__main__":
    serve(TextWorld())
