"""JAX on the CPU: the cliff written by hand as one vectorised step, many worlds at once.

Two forms: the rules as arithmetic, as one writes them, and a table of what each step comes to, as
one makes it by hand for a world as small as this one. Of each question the faster one counts.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from shared import DISTINCT, Json, batch_actions, digest, per_call, serve

WIDTH, START, GOAL = 12, 36, 47
MOVES = np.array([(0, -1), (1, 0), (0, 1), (-1, 0)], np.int32)


def _step(carry: tuple[jax.Array, jax.Array, jax.Array], action: jax.Array) -> tuple:  # type: ignore[type-arg]
    tile, over, total = carry
    tile = jnp.where(over, START, tile)
    x = jnp.clip(tile % WIDTH + jnp.asarray(MOVES)[action, 0], 0, WIDTH - 1)
    y = jnp.clip(tile // WIDTH + jnp.asarray(MOVES)[action, 1], 0, 3)
    fell = (y == 3) & (x > 0) & (x < WIDTH - 1)
    new = jnp.where(fell, START, y * WIDTH + x)
    return (new, new == GOAL, total + jnp.where(fell, -100, -1)), None


@jax.jit
def _play(actions: jax.Array) -> tuple[jax.Array, jax.Array]:
    worlds = actions.shape[1]
    start = (
        jnp.full(worlds, START, jnp.int32),
        jnp.zeros(worlds, bool),
        jnp.zeros(worlds, jnp.int32),
    )
    (tile, _, total), _ = jax.lax.scan(_step, start, actions)
    return tile, total


def _table() -> jax.Array:
    """What each step comes to: the next tile, and above 6 bits the reward."""
    found = []
    for tile in range(START + WIDTH):
        for east, south in MOVES.tolist():
            here = START if tile == GOAL else tile
            x = min(max(here % WIDTH + east, 0), WIDTH - 1)
            y = min(max(here // WIDTH + south, 0), 3)
            fell = y == 3 and 0 < x < WIDTH - 1
            found.append((START if fell else y * WIDTH + x) + ((-100 if fell else -1) << 6))
    return jnp.asarray(np.array(found, np.int32))


TABLE = _table()


def _look(carry: tuple[jax.Array, jax.Array], action: jax.Array) -> tuple:  # type: ignore[type-arg]
    tile, total = carry
    found = TABLE.at[tile * 4 + action].get(mode="promise_in_bounds")
    return (found & 63, total + (found >> 6)), None


@jax.jit
def _play_by_table(actions: jax.Array) -> tuple[jax.Array, jax.Array]:
    worlds = actions.shape[1]
    start = (jnp.full(worlds, START, jnp.int32), jnp.zeros(worlds, jnp.int32))
    (tile, total), _ = jax.lax.scan(_look, start, actions)
    return tile, total


class Jax:
    stores = (
        "arrays of numbers, one entry a world: tile and reward; a step compiled by XLA, the faster "
        "of arithmetic and a table made by hand, no journal"
    )

    def load(self, world: str) -> Json:
        return {"digest": str(START), "stores": self.stores, "seconds": 0.0}

    def batch(self, worlds: int, ticks: int, budget: float) -> Json:
        """World-ticks of many worlds at once, with all threads that XLA takes."""
        rows = np.array(batch_actions(min(worlds, DISTINCT), ticks), np.int32)
        actions = jnp.asarray(np.tile(rows, (-(-worlds // len(rows)), 1))[:worlds].T)
        found, seconds = set(), []
        for play in (_play, _play_by_table):
            tile, total = (np.asarray(one)[:DISTINCT] for one in play(actions))
            rows = zip(tile.tolist(), total.tolist(), strict=True)
            found.add(digest(f"{a} {b}" for a, b in rows))
            seconds.append(per_call(partial(_waited, play, actions), budget / 2))
        return {"seconds": min(seconds) / (worlds * ticks), "digest": " ".join(sorted(found))}


def _waited(play: Callable[[jax.Array], Any], actions: jax.Array) -> None:
    jax.block_until_ready(play(actions))


if __name__ == "__main__":
    serve(Jax())
