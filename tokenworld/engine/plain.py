"""Plain rules: check, effects and journal in one generated function.

Most actions set a few slots that are known when the rule is read. For these a function

    do(S, A, W, me, J, D, *args)

is generated beside the general ones: it tests the requires on ``S``, works out every value there,
then writes to ``A`` (a fork of ``S``, or ``S`` itself) and adds each change to the journal ``J``,
which is what undoes it. No request is collected, grouped or looked up. It answers 1 if the action
was executed, 0 if a require does not hold, and -1, with nothing written, where the case is not
plain after all: two writes meet in one slot, a value is `none` where there must be one, an object
is gone. Then, and for all other actions, the general way decides. Both ways are held to the same
results by the tests. A law has such a function for one binding of it, its condition as a require.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from tokenworld.diagnostics.frozen import frozen
from tokenworld.engine.compile import Code, Function, extend
from tokenworld.engine.emit import Emitter
from tokenworld.engine.mortality import breaking_off_destroys
from tokenworld.engine.plain_code import PlainRule, plain_text
from tokenworld.engine.plain_loops import is_plain_loop
from tokenworld.model import (
    Action,
    Arithmetic,
    Body,
    BuiltinCall,
    DeriveCall,
    DescribeEffect,
    Emit,
    For,
    If,
    Law,
    Let,
    Reward,
    Say,
    Term,
    WriteEffect,
    effects_in,
    is_drawn,
    subterms,
    targets_of,
)

__all__ = ["Plain", "plain_law", "plain_of", "quiet_of"]

_SPEAKING = (Emit, Say, DescribeEffect, Reward)
_PLAIN = (WriteEffect, Let, If, For, *_SPEAKING)


@frozen
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


def quiet_of(code: Code, action: Action) -> Function | None:
    """``do`` without what is said, which then needs no `Delta`; ``None`` where an argument of what
    is said may have no value, which would end the tick."""
    store: dict[str, Function | None] = code.space.setdefault("QUIET", {})
    if action.name not in store:
        plain = plain_of(code, action)
        if plain is None or not plain.speaks:
            store[action.name] = None if plain is None else plain.do
        else:
            store[action.name] = _quiet(code, _rule_of(action))
    return store[action.name]


def plain_law(code: Code, law: Law) -> Function | None:
    """``do`` for one binding of a law: 0 where its condition does not hold. What it says is left
    out. ``None`` where it is not plain, as for an action."""
    guards = () if law.when is None else (law.when,)
    rule = PlainRule(f"law {law.name}", law.params, guards, law.body)
    return _quiet(code, rule) if _is_plain_rule(code.emitter, rule) else None


def _quiet(code: Code, rule: PlainRule) -> Function | None:
    if not _says_safely(rule.body):
        return None
    name = code.emitter.fresh("do")
    text = plain_text(code.emitter, name, rule, store=True)
    return code.space[name] if _loaded(code, [text]) else None


def _says_safely(body: Body) -> bool:
    """Whether all that is told of in a body surely has a value."""
    return not any(
        isinstance(part, (Arithmetic, BuiltinCall, DeriveCall))
        for effect in effects_in(body)
        if isinstance(effect, _SPEAKING)
        for term in _said(effect)
        for part in subterms(term)
    )


def _said(effect: Emit | Say | DescribeEffect | Reward) -> tuple[Term, ...]:
    match effect:
        case Emit(args=args):
            return args
        case Reward(amount=amount):
            return (amount,)
        case DescribeEffect(target=target):
            return (target,)
        case Say():
            return ()
        case _:
            assert_never(effect)


def _compiled(code: Code, action: Action) -> Plain | None:
    emitter, rule = code.emitter, _rule_of(action)
    do, may = emitter.fresh("do"), emitter.fresh("may")
    texts = [
        plain_text(emitter, do, rule, store=True, quiet=False),
        plain_text(emitter, may, rule),
    ]
    if not _loaded(code, texts):
        return None
    said = any(isinstance(one, _SPEAKING) for one in effects_in(action.body))
    touches = frozenset(_written(action.body))
    return Plain(code.space[do], code.space[may], said, touches)


def _loaded(code: Code, texts: Iterable[str | None]) -> bool:
    """Load functions with the texts that were made for them, if all could be written."""
    every = [*texts, *(text for _, text in code.emitter.texts)]
    code.emitter.texts.clear()
    written = [one for one in every if one is not None]
    if len(written) < len(every):
        return False
    extend(code, "\n".join(written))
    return True


def _rule_of(action: Action) -> PlainRule:
    return PlainRule(f"action {action.name}", action.params, action.steps, action.body)


def _written(body: Body) -> list[str]:
    """The fluents that a body names as its targets, as often as it does."""
    return [target.fluent for effect in effects_in(body) for target in targets_of(effect)]


def _is_plain(emitter: Emitter, action: Action) -> bool:
    at_once = action.takes is None and action.until is None
    at_once = at_once and not breaking_off_destroys(emitter.instance.program)
    return at_once and _is_plain_rule(emitter, _rule_of(action))


def _is_plain_rule(emitter: Emitter, rule: PlainRule) -> bool:
    effects = list(effects_in(rule.body))
    return (
        not any(is_drawn(one) for one in (*rule.guards, *effects))
        and all(isinstance(one, _PLAIN) for one in effects)
        and all(is_plain_loop(one, emitter) for one in effects if isinstance(one, For))
        and _fits(emitter, _written(rule.body))
    )


def _fits(emitter: Emitter, written: list[str]) -> bool:
    """Whether what must fit other values can be told before it is written: one place, one unique
    value."""
    fluents = emitter.instance.program.fluents
    shaped = [one for one in written if emitter.layout.by_id[one].shaped]
    return len(set(shaped)) == len(shaped) and not any(fluents[one].acyclic for one in shaped)
