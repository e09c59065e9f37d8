"""Questions of typed commands about a row: the words for objects, and which may be named."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tokenworld.core.nodes import Hole
from tokenworld.engine.rows.code.program import Function, Program
from tokenworld.engine.rows.layout import KINDS, NAMES
from tokenworld.engine.rows.stepper import Tick
from tokenworld.ground import Raw
from tokenworld.model import BoolType, ObjectType
from tokenworld.model.vocabulary import ObjectDecl


def name_of(tick: Tick, number: int) -> str:
    """The present name of an object."""
    S = tick.row.S
    return str(tick.code.space["name_of"](S, S, tick.of.me, number))


def words_of(tick: Tick, number: int) -> tuple[tuple[str, ...], bool]:
    """The words for an object, and whether they are the same in every row."""
    S, code = tick.row.S, tick.code
    known, kind = S[NAMES][number], S[KINDS][number]
    decl = tick.of.instance.declared(number, known)
    words, ruled = [name_of(tick, number)], code.called_by.get(kind or "")
    if ruled is not None:
        words += [word(S, S, tick.acting, number) for word in _also_called(code, ruled)]
    if decl is not None and decl.aka:
        words += [str(word(S, S, tick.of.me)) for word in _own_words(code, decl)]
    words.append(known)
    return tuple(dict.fromkeys(words)), ruled is None and not (decl and decl.aka)


def in_scope(tick: Tick, number: int) -> bool:
    """Return whether an object may be named by the actor whose turn it is."""
    S = tick.row.S
    kind = S[KINDS][number]
    rule = None if kind is None else _scope(tick.code, kind)
    return kind is not None and (rule is None or bool(rule(S, S, tick.acting, number)))


def all_in_scope(tick: Tick) -> frozenset[int]:
    """The objects that may be named by the actor whose turn it is."""
    return frozenset(number for number in range(len(tick.row.S[KINDS])) if in_scope(tick, number))


def slot_text(tick: Tick, action: str, phrase: int, slot: int, args: Sequence[Raw]) -> str:
    """The words of a slot in a phrase of an action."""
    S = tick.row.S
    return str(_slot(tick.code, action, phrase, slot)(S, S, tick.acting, *args))


# ---- functions, kept as long as the program -----------------------------------------------------


def _also_called(code: Program, rule: int) -> list[Function]:
    known: dict[int, list[Function]] = code.space.setdefault("ALSO", {})
    if rule not in known:
        called = code.rules.called[rule]
        known[rule] = [code.shown_by(word, (called.param.name,)) for word in called.aka]
    return known[rule]


def _own_words(code: Program, decl: ObjectDecl) -> list[Function]:
    known: dict[tuple[str, str], list[Function]] = code.space.setdefault("AKA", {})
    key = (decl.world or "", decl.name)
    if key not in known:
        known[key] = [code.value_of(one) for one in code.rules.objects[key].aka]
    return known[key]


def _scope(code: Program, kind: str) -> Function | None:
    """The scope rule of a type: its `scope`, else a derive ``sees(me, x)``, else none."""
    known: dict[str, Function | None] = code.space.setdefault("SCOPES", {})
    if kind not in known:
        known[kind] = _scope_rule(code, kind)
    return known[kind]


def _scope_rule(code: Program, kind: str) -> Function | None:
    program = code.rules.program
    for ancestor in program.types[kind].ancestors if kind in program.types else ():
        for scope in code.rules.scopes:
            if scope.param.type == ObjectType(ancestor):
                return code.value_of(scope.condition, (scope.param.name,))
    sees = program.derives.get("sees")
    if sees is None or len(sees.params) != 2 or not isinstance(sees.type, BoolType):
        return None
    second = sees.params[1].type
    if not isinstance(second, ObjectType) or not program.is_subtype(kind, second.name):
        return None
    sight = code["derive", "sees"]

    def seen(S: list[Any], W: list[Any], me: int | None, x: int) -> bool:
        return bool(sight(S, W, me, me, x))

    return seen


def _slot(code: Program, action: str, phrase: int, slot: int) -> Function:
    known: dict[tuple[str, int, int], Function] = code.space.setdefault("SLOTS", {})
    key = (action, phrase, slot)
    if key not in known:
        schema = code.rules.actions[action]
        holes = [one for one in schema.phrases[phrase].parts if isinstance(one, Hole)]
        params = [one.name for one in schema.params]
        known[key] = code.shown_by(holes[slot].term, params)
    return known[key]
