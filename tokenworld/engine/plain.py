"""Plain actions: check, effects and journal in one generated function.

Most actions set a few slots that are known when the rule is read. For these a function

    do(S, A, W, me, J, D, *args)

is generated beside the general ones: it tests the requires on ``S``, works out every value there,
then writes to ``A`` (a fork of ``S``, or ``S`` itself) and adds each change to the journal ``J``,
which is what undoes it. No request is collected, grouped or looked up. It answers 1 if the action
was executed, 0 if a require does not hold, and -1, with nothing written, where the case is not
plain after all: two writes meet in one slot, a value is `none` where there must be one, an object
is gone. Then, and for all other actions, the general way decides. Both ways are held to the same
results by the tests.
"""

from __future__ import annotations

from dataclasses import dataclass

from tokenworld.engine.compile import Code, Function, extend
from tokenworld.engine.emit import Emitter
from tokenworld.engine.plain_code import plain_text
from tokenworld.model import (
    Action,
    AddFact,
    Assign,
    DescribeEffect,
    DrawChance,
    DrawPick,
    DrawUniform,
    Emit,
    If,
    Let,
    RemoveFact,
    Reward,
    Say,
    Swap,
    Transfer,
    effects_in,
    targets_of,
)

__all__ = ["Plain", "plain_of"]

_SPEAKING = (Emit, Say, DescribeEffect, Reward)
_PLAIN = (Assign, AddFact, RemoveFact, Transfer, Swap, Let, If, *_SPEAKING)


@dataclass(frozen=True, slots=True)
class Plain:
    """The plain function of an action. ``may`` is the same without writing, and without what is
    said. ``speaks``: it says, emits or pays something, and needs a `Delta` for it. ``touches`` are
    the fluents it writes."""

    do: Function
    may: Function
    speaks: bool
    touches: frozenset[str]


def plain_of(code: Code, action: Action) -> Plain | None:
    """The plain function of an action, made when it is first asked for; ``None``: it has none."""
    store: dict[str, Plain | None] = code.space.setdefault("PLAIN", {})
    if action.name not in store:
        store[action.name] = _compiled(code, action) if _is_plain(code.emitter, action) else None
    return store[action.name]


def _compiled(code: Code, action: Action) -> Plain | None:
    emitter = code.emitter
    do, may = emitter.fresh("do"), emitter.fresh("may")
    texts = [plain_text(emitter, do, action, store=True), plain_text(emitter, may, action)]
    texts += [text for _, text in emitter.texts]
    emitter.texts.clear()
    if None in texts:
        return None
    extend(code, "\n".join(text for text in texts if text))
    said = any(isinstance(one, _SPEAKING) for one in effects_in(action.body))
    return Plain(code.space[do], code.space[may], said, frozenset(_written(action)))


def _written(action: Action) -> list[str]:
    """The fluents that the body names as its targets, as often as it does."""
    return [target.fluent for effect in effects_in(action.body) for target in targets_of(effect)]


def _is_plain(emitter: Emitter, action: Action) -> bool:
    if action.takes is not None or action.until is not None:
        return False
    effects = list(effects_in(action.body))
    return (
        not any(_draws(one) for one in (*action.guards, *effects))
        and all(isinstance(one, _PLAIN) for one in effects)
        and _fits(emitter, _written(action))
    )


def _fits(emitter: Emitter, written: list[str]) -> bool:
    """Whether what must fit other values can be told before it is written: one place, one unique
    value."""
    fluents = emitter.instance.program.fluents
    shaped = [one for one in written if emitter.layout.by_id[one].shaped]
    return len(set(shaped)) == len(shaped) and not any(fluents[one].acyclic for one in shaped)


def _draws(effect: object) -> bool:
    return isinstance(effect, Let) and isinstance(effect.value, (DrawChance, DrawPick, DrawUniform))
