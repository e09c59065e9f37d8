"""Kernels: many runs through an automaton side by side, for numba to compile.

A run waits for its look into the table; side by side the looks overlap.
"""

from __future__ import annotations

from typing import Any

from tokenworld.engine.rollout.striding import (
    ASK_TICK,
    AT,
    DONE,
    GIVEN,
    OVER,
    RUN_REWARD,
    single,
    usual,
)

Row = Any
Grid = Any
Bytes = Any

SIDE = 64
"""So many runs are played side by side. Of `LANE_SIZE` numbers the first are their states, then
their rewards since they were noted, then their edges."""
LANE_SIZE = 3 * SIDE


def pace(edge: Row, shift: int, lanes: Row, rows: Bytes, at: int) -> int:
    """One tick of `SIDE` runs whose intents stand from ``at`` on (bound by `tables`).

    Those whose tick is a usual one have played it; 1 if there are others, whose edges are odd.
    """
    raise NotImplementedError


def noted(run: Row, lanes: Row, lane: int, turn: int) -> None:
    """Note in a run the usual ticks that it played side by side with others, up to a turn."""
    run[AT] = lanes[lane]
    run[RUN_REWARD] += lanes[SIDE + lane]
    lanes[SIDE + lane] = 0
    usual(run, turn - run[GIVEN])


def begins(run: int, distinct: int, count: int) -> int:
    """Where the first intent of a run stands: `SIDE` runs together, turn by turn."""
    script = run % distinct
    return script // SIDE * SIDE * count + script % SIDE


def abreast(
    edge: Row, shift: int, root: Row, nodes: Grid, leaves: Grid, 
    over: Row, runs: Grid, ask: Row, rows: Bytes, distinct: int, count: int,
    again: Row, first: int, lanes: Row,
) -> int:  # fmt: skip
    """Give `SIDE` runs their intents, all the same turn: their looks into the table overlap.

    `OVER`: one of them is over, and the others may be anywhere.
    """
    column, turn = begins(first, distinct, count), 0
    for lane in range(SIDE):
        turn = max(turn, runs[first + lane, GIVEN])
    for lane in range(SIDE):  # back into step
        run = runs[first + lane]
        while run[GIVEN] < turn:
            answer = single(
                edge, shift, root, nodes, leaves, over, run, ask,
                rows[column + SIDE * run[GIVEN] + lane], again,
            )  # fmt: skip
            if answer != DONE:
                return answer
        lanes[lane], lanes[SIDE + lane] = run[AT], 0
    answer = DONE
    while turn < count and answer == DONE:
        if pace(edge, shift, lanes, rows, column + SIDE * turn) == 1:
            for lane in range(SIDE):
                if lanes[2 * SIDE + lane] & 1 == 1 and answer == DONE:
                    run = runs[first + lane]
                    noted(run, lanes, lane, turn)
                    answer = single(
                        edge, shift, root, nodes, leaves, over, run, ask,
                        rows[column + SIDE * turn + lane], again,
                    )  # fmt: skip
                    lanes[lane] = run[AT]
                    if answer == DONE:
                        lanes[2 * SIDE + lane] = 0
        turn += 1
    for lane in range(SIDE):
        behind = answer != DONE and lanes[2 * SIDE + lane] & 1 == 1
        noted(runs[first + lane], lanes, lane, turn - 1 if behind else turn)
    return answer


def march(
    edge: Row, shift: int, root: Row, nodes: Grid, leaves: Grid, 
    over: Row, runs: Grid, ask: Row, rows: Bytes, distinct: int, count: int,
    again: Row, lanes: Row,
) -> int:  # fmt: skip
    """Give many runs their intents, as many as fill blocks; ``ask[4]``: where to go on."""
    while ask[4] + SIDE <= runs.shape[0]:
        first = ask[4]
        answer = OVER
        if first % distinct % SIDE == 0 and first % distinct + SIDE <= distinct:
            answer = abreast(
                edge, shift, root, nodes, leaves, over, runs, ask, rows,
                distinct, count, again, first, lanes,
            )  # fmt: skip
        if answer == OVER:
            answer = apart(
                edge, shift, root, nodes, leaves, over, runs, ask, rows,
                distinct, count, again, first, first + SIDE,
            )  # fmt: skip
        if answer != DONE:
            return answer
        ask[4] += SIDE
    return apart(
        edge, shift, root, nodes, leaves, over, runs, ask, rows, distinct,
        count, again, ask[4], runs.shape[0],
    )  # fmt: skip


def apart(
    edge: Row, shift: int, root: Row, nodes: Grid, leaves: Grid, 
    over: Row, runs: Grid, ask: Row, rows: Bytes, distinct: int, count: int,
    again: Row, first: int, end: int,
) -> int:  # fmt: skip
    """Give runs their intents, one run after another."""
    for number in range(first, end):
        run, column = runs[number], begins(number, distinct, count)
        while run[GIVEN] < count:
            answer = single(
                edge, shift, root, nodes, leaves, over, run, ask,
                rows[column + SIDE * run[GIVEN]], again,
            )  # fmt: skip
            if answer == ASK_TICK:
                return ASK_TICK
            if answer == OVER:
                break
    return DONE
