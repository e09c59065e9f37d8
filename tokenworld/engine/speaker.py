"""The engine as typed commands see it: `ground.Speaker`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tokenworld.engine.compile import Code, compile_term, extend
from tokenworld.engine.engine import Engine
from tokenworld.engine.knowledge import Knowledge
from tokenworld.engine.speech import shown
from tokenworld.engine.state import State
from tokenworld.ground import Command, Instance, Raw
from tokenworld.model import ROOT, BoolType, ObjectType, Slot, TextType

__all__ = ["EngineSpeaker"]

_MOST = 100_000
"""Objects whose words are kept, at most."""


class EngineSpeaker:
    """What resolving words may ask of one state.

    Words mean what they mean to a player, to whom secrets are hidden: else what they are taken for
    would tell. ``known`` is as much as he knows.
    """

    def __init__(self, engine: Engine, state: State, known: Knowledge | None = None) -> None:
        self._engine, self._state = engine, state
        self._known = known or engine.known
        self._plain = not self._known.hides_words

    @property
    def instance(self) -> Instance:
        return self._engine.instance

    @property
    def numbers(self) -> Mapping[str, int]:
        return self._state.numbers

    def identifier(self, number: int) -> str:
        return self._state.names[number]

    def kind(self, number: int) -> str:
        return self._state.kinds[number] or ROOT

    def in_scope(self, number: int) -> bool:
        state = self._state
        if not state.alive(number):
            return False
        rule = _scope(self._engine, state.kinds[number] or "")
        if rule is None:
            return True
        if self._plain:
            return bool(rule(state, state, state.acting, number))
        return self._known.some(state, lambda one: bool(rule(one, one, one.acting, number)))

    def words_for(self, number: int) -> tuple[str, ...]:
        """What it is called now; words that no rule works out are asked for once."""
        known, state = self._engine.fixed_words, self._state
        key = (number, state.names[number], state.kinds[number])
        if key in known:
            return known[key]
        words, fixed = self._words_for(state, number) if self._plain else self._known_for(number)
        if fixed:
            if len(known) >= _MOST:
                known.clear()
            known[key] = words
        return words

    def _known_for(self, number: int) -> tuple[tuple[str, ...], bool]:
        """The words as far as no secret is behind them; else what the object always is called,
        then what it may be called."""
        found = self._known.every(self._state, lambda one: self._words_for(one, number))
        if found is not None and len(found) == 1:
            return next(iter(found))
        possible = sorted(word for words, _ in found or () for word in words)
        return tuple(dict.fromkeys((self._state.names[number], *possible))), False

    def _words_for(self, state: State, number: int) -> tuple[tuple[str, ...], bool]:
        """The words, and whether they are the same in every state."""
        engine = self._engine
        decl = engine.instance.declared(number, state.names[number])
        space, me = engine.code.space, state.acting
        words = [engine.name(state, number)]
        derived = space["WORDS"].get(state.kinds[number])
        if derived is not None:
            words += derived(state, state, me, number)
        words += [str(engine.ask(state, word)) for word in (() if decl is None else decl.aka)]
        words.append(state.names[number])
        ruled = state.kinds[number] in space["NAME"] or derived is not None
        return tuple(dict.fromkeys(words)), not ruled and not (decl and decl.aka)

    def slot_texts(
        self, action: str, phrase: int, slot: int, args: Sequence[Raw]
    ) -> tuple[str, ...]:
        function = _slot(self._engine.code, action, phrase, slot)
        state = self._state
        if self._plain:
            return (function(state, state, state.acting, *args),)
        found = self._known.every(state, lambda one: function(one, one, one.acting, *args))
        return tuple(sorted(found or ()))

    def holds_all(self, command: Command) -> bool:
        if command.is_pass:
            return True
        refusal = self._engine.stepper.unit.refusal
        return self._known.some(self._state, lambda one: refusal(one, command) is None)

    def candidates(self) -> Sequence[int]:
        state, layout = self._state, self._engine.layout
        alive = [number for number in range(len(state.kinds)) if state.alive(number)]
        nested = next((one for one in layout.columns if one.fluent.nested), None)
        if nested is None or state.kids[nested.index] is None:
            return alive
        if nested.fluent.secret and not self._known.is_whole:
            return alive
        parents, children = state.cols[nested.index], state.kids[nested.index]
        found: list[int] = []
        todo = [number for number in reversed(alive) if parents[number] is None]
        while todo:
            number = todo.pop()
            found.append(number)
            todo.extend(reversed(children[number]))
        return found


def _scope(engine: Engine, kind: str) -> Callable[..., Any] | None:
    """The scope rule of a type: its `scope`, else a derive ``sees(me, x)``, else none."""
    store: dict[str, Callable[..., Any] | None] = engine.code.space.setdefault("SCOPES", {})
    if kind not in store:
        store[kind] = _compile_scope(engine, kind)
    return store[kind]


def _compile_scope(engine: Engine, kind: str) -> Callable[..., Any] | None:
    program = engine.instance.program
    for ancestor in program.types[kind].ancestors if kind in program.types else ():
        for scope in program.scopes:
            if isinstance(scope.param.type, ObjectType) and scope.param.type.name == ancestor:
                return compile_term(engine.code, scope.condition, (scope.param.name,))
    sees = program.derives.get("sees")
    if sees is None or len(sees.params) != 2 or not isinstance(sees.type, BoolType):
        return None
    second = sees.params[1].type
    if not isinstance(second, ObjectType) or not program.is_subtype(kind, second.name):
        return None
    function = engine.code.space[engine.code.emitter.derive_names["sees"]]
    return lambda S, W, me, x: function(S, W, me, me, x)


def _slot(code: Code, action: str, phrase: int, slot: int) -> Callable[..., Any]:
    store: dict[tuple[str, int, int], Callable[..., Any]] = code.space.setdefault("SLOTS", {})
    key = (action, phrase, slot)
    if key not in store:
        schema = code.actions[action].action
        slots = [part for part in schema.phrases[phrase].parts if isinstance(part, Slot)]
        names = {binder.name: code.emitter.fresh("a") for binder in schema.params}
        text = shown(code.emitter, slots[slot].term, names)
        if isinstance(slots[slot].term.type, TextType) and text == "None":
            text = "''"
        name = code.emitter.fresh("slot")
        header = ", ".join(("S", "W", "me", *names.values()))
        texts = [one for _, one in code.emitter.texts]
        code.emitter.texts.clear()
        extend(code, "\n".join([*texts, f"def {name}({header}):\n    return {text}\n"]))
        store[key] = code.space[name]
    return store[key]
