"""Kernels: runs through an automaton whose tables are arrays, for numba to compile.

They know no world: `tables` compiles them once. The edges of a state lie in a row of ``1 << shift``
numbers, one an intent. An edge is one number: bit 0 tells that something is to be noted or not
known yet, the bits to `REWARD_BIT` are the state that follows, the others the reward. Other edges
lead to a tree of nodes (`DRAW`, `TEST`, `LEAF`), or to nothing known.

A run is a row: state, tick, seed, records, turns, reward, the tick of the first ending, then the
records by status, then the intents given.
"""

from __future__ import annotations

from typing import Any

from tokenworld.engine.rollout.keys import player_keys
from tokenworld.ground.draws import absorbed, moment, nth

Row = Any
Grid = Any
Codes = Any

AT, RUN_TICK, RUN_SEED, RUN_RECORDS, RUN_TURNS, RUN_REWARD, RUN_ENDED, RUN_STATUS = range(8)
GIVEN = RUN_STATUS + 9
RUN = GIVEN + 1
"""The numbers of a run."""
REWARD_BIT, STATE_MASK = 24, (1 << 23) - 1
LEAF, DRAW, TEST = 0, 1, 2
MOST = 1 << 62
DONE, ASK_TICK, ASK_LEGAL, OVER = 0, 1, 2, 3
"""What a kernel comes back with: it is through, or it needs to know a tick or what is legal. A
single intent may also find its world over."""


PLAYER_ACTION, PLAYER_ARGUMENTS = player_keys()


def u64(value: int) -> Any:
    """A whole number as a word (bound by `tables`)."""
    raise NotImplementedError


def as_int(value: Any) -> int:
    """A word as a whole number (bound by `tables`)."""
    raise NotImplementedError


def player_draw(seed: int, turn: int, key: int, size: int) -> int:
    """What the random player chooses among ``size`` on a turn."""
    value = u64(nth(absorbed(moment(seed, turn), key), 0))
    high = (value >> u64(32)) * u64(size)
    low = ((value & u64(0xFFFFFFFF)) * u64(size)) >> u64(32)
    return as_int((high + low) >> u64(32))


# ---- one tick -------------------------------------------------------------------------------


def result(node: int, nodes: Grid, run: Row) -> int:
    """The leaf that the draws of this tick lead to, -1 for none known."""
    value = u64(0)
    while node >= 0:
        kind = nodes[node, 0]
        if kind == LEAF:
            return nodes[node, 1]  # type: ignore[no-any-return]
        if kind == DRAW:
            now = moment(run[RUN_SEED], run[RUN_TICK])
            value = u64(nth(absorbed(now, nodes[node, 1]), nodes[node, 3]))
            node = nodes[node, 2]
        else:
            node = nodes[node, 2] if value < u64(nodes[node, 1]) else nodes[node, 3]
    return -1


def tick(
    edge: Row, shift: int, root: Row, nodes: Grid, leaves: Grid, 
    run: Row, intent: int,
) -> bool:  # fmt: skip
    """One intent with all that is to be noted; false where it is not known."""
    at = (run[AT] << shift) + intent
    found = edge[at]
    if found & 1 == 0:
        run[AT] = (found >> 1) & STATE_MASK
        run[RUN_REWARD] += found >> REWARD_BIT
        usual(run, 1)
        return True
    leaf = result(root[at], nodes, run)
    if leaf < 0:
        return False
    if leaves[leaf, 3] >= 0 and run[RUN_ENDED] < 0:
        run[RUN_ENDED] = run[RUN_TICK] + leaves[leaf, 3]
    run[AT] = leaves[leaf, 0]
    run[RUN_REWARD] += leaves[leaf, 1]
    run[RUN_TICK] += leaves[leaf, 2]
    run[RUN_TURNS] += 1
    run[GIVEN] += 1
    for i in range(leaves[leaf, 4]):
        run[RUN_STATUS + leaves[leaf, 5 + i]] += 1
        run[RUN_RECORDS] += 1
    return True


def usual(run: Row, ticks: int) -> None:
    """Ticks of which each is one record, executed."""
    run[RUN_TICK] += ticks
    run[RUN_TURNS] += ticks
    run[RUN_RECORDS] += ticks
    run[RUN_STATUS] += ticks
    run[GIVEN] += ticks


# ---- runs -----------------------------------------------------------------------------------


def stride(
    edge: Row, shift: int, root: Row, nodes: Grid, leaves: Grid, 
    over: Row, run: Row, ask: Row, codes: Codes, count: int, most: int,
    again: Row,
) -> int:  # fmt: skip
    """Give a run its intents, up to the end or to ``most`` records of it.

    ``again``: state and tick with which a world that is over begins anew, -1 for none.
    """
    while run[GIVEN] < count and run[RUN_RECORDS] < most:
        if over[run[AT]] == 1:
            if again[0] < 0:
                return DONE
            run[AT], run[RUN_TICK] = again[0], again[1]
        begin, at, reward = run[GIVEN], run[AT], run[RUN_REWARD]
        turn, stop = begin, min(count, begin + most - run[RUN_RECORDS])
        while turn < stop:
            found = edge[(at << shift) + codes[turn]]
            if found & 1 == 1:
                break
            at = (found >> 1) & STATE_MASK
            reward += found >> REWARD_BIT
            turn += 1
        run[AT], run[RUN_REWARD] = at, reward
        usual(run, turn - begin)
        if turn < stop and not tick(edge, shift, root, nodes, leaves, run, codes[turn]):
            ask[0], ask[1] = run[AT], codes[turn]
            ask[2], ask[3] = run[RUN_SEED], run[RUN_TICK]
            return ASK_TICK
    return DONE


def single(
    edge: Row, shift: int, root: Row, nodes: Grid, leaves: Grid, 
    over: Row, run: Row, ask: Row, intent: int, again: Row,
) -> int:  # fmt: skip
    """Give a run one intent."""
    if over[run[AT]] == 1:
        if again[0] < 0:
            return OVER
        run[AT], run[RUN_TICK] = again[0], again[1]
    if tick(edge, shift, root, nodes, leaves, run, intent):
        return DONE
    ask[0], ask[1], ask[2], ask[3] = run[AT], intent, run[RUN_SEED], run[RUN_TICK]
    return ASK_TICK


def roam(
    edge: Row, shift: int, root: Row, nodes: Grid, leaves: Grid, 
    over: Row, run: Row, ask: Row, offer_at: Row, offer: Row, most: int,
) -> int:  # fmt: skip
    """Let chance play on, to the end or to ``most`` records of the run."""
    while run[RUN_RECORDS] < most and over[run[AT]] == 0:
        ask[0], ask[1], spot = run[AT], 0, offer_at[run[AT]]
        ask[2], ask[3] = run[RUN_SEED], run[RUN_TICK]
        if spot < 0:
            return ASK_LEGAL
        if offer[spot] > 0:
            seed, turn = run[RUN_SEED], run[RUN_TURNS]
            pick = player_draw(seed, turn, PLAYER_ACTION, offer[spot] + 1)
            if pick > 0:
                count, begin = offer[spot + 2 * pick - 1], offer[spot + 2 * pick]
                ask[1] = offer[begin + player_draw(seed, turn, PLAYER_ARGUMENTS, count)]
        if not tick(edge, shift, root, nodes, leaves, run, ask[1]):
            return ASK_TICK
    return DONE
