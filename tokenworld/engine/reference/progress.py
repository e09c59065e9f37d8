"""Advance a round, latch endings, check invariants (language.md §8)."""

from __future__ import annotations

from tokenworld.core.rules import Ending
from tokenworld.engine.reference.env import Env
from tokenworld.engine.reference.values import Fault, State, copied
from tokenworld.engine.reference.words import Words
from tokenworld.model import ObjectType

# ---- rounds -------------------------------------------------------------------------------


def handed_on(state: State, after: State) -> State:
    """The state that the next actor of the round gets."""
    new = copied(after)
    new.turn, new.round = state.seat + 1, state.round or state
    return new


def own_round(state: State, after: State) -> State:
    """The state after a free action: a round that is under way goes on."""
    new = copied(after)
    new.executed = state.executed
    if state.round is not None:
        new.reported = copied(after)
        new.reported.reported = None
    return new


def ended(after: State) -> State:
    """The state at the end of a round."""
    new = copied(after)
    new.executed, new.drawn, new.turn, new.round, new.reported = (), {}, 0, None, None
    if len(new.actors) > 1:
        new.long = {who: one for who, one in new.long.items() if who is None or who in new.kinds}
    return new


# ---- progress and invariants ----------------------------------------------------------------


def progressed(words: Words, state: State) -> tuple[str, ...]:
    """Give awards and latch endings, in place; the endings that are reached now."""
    world = words.instance.world
    rules = words.rules.worlds[world.name]
    env = Env(state, state, state.me)
    for index, award in enumerate(rules.awards):
        if index not in state.awarded and words.holds(award.when, env):
            state.awarded = (*state.awarded, index)
    open_lines = [one for one in rules.endings if one.name not in state.outcomes]
    if world.outcomes == "live":
        return tuple(_true(words, open_lines, env))[:1]
    if world.endless:
        now = tuple(_true(words, open_lines, env))
    else:
        now = () if state.outcomes else tuple(_first(words, open_lines, env))
    state.outcomes = (*state.outcomes, *now)
    return now


def _true(words: Words, lines: list[Ending], env: Env) -> list[str]:
    return [line.name for line in lines if words.holds(line.condition, env)]


def _first(words: Words, lines: list[Ending], env: Env) -> list[str]:
    return next(([line.name] for line in lines if words.holds(line.condition, env)), [])


def broken_invariant(words: Words, state: State) -> Fault | None:
    """The first invariant that a state breaks, with its first witness."""
    for rule in words.rules.invariants.values():
        for env in words.bindings(rule.params, None, Env(state, state, state.me)):
            if not words.holds(rule.condition, env):
                fault = Fault("TW1001", "invariant", rule.source)
                fault.witness = tuple(
                    state.names[env.locals[binder.name]]
                    if isinstance(binder.type, ObjectType)
                    else str(env.locals[binder.name])
                    for binder in rule.params
                )
                return fault
    return None
