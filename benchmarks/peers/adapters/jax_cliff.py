"""JAX on the CPU: the cliff written by hand as one vectorised step, many worlds at once."""

from __future__ import annotations

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


class Jax:
    stores = "arrays of numbers, one entry a world; a step compiled by XLA, no journal"

    def load(self, world: str) -> Json:
        return {"digest": str(START), "stores": self.stores, "seconds": 0.0}

    def batch(self, worlds: int, ticks: int, budget: float) -> Json:
        """World-ticks of many worlds at once, with all threads that XLA takes."""
        rows = np.array(batch_actions(min(worlds, DISTINCT), ticks), np.int32)
        actions = jnp.asarray(np.tile(rows, (-(-worlds // len(rows)), 1))[:worlds].T)
        tile, total = (np.asarray(one)[:DISTINCT] for one in _play(actions))
        found = digest(f"{a} {b}" for a, b in zip(tile.tolist(), total.tolist(), strict=True))
        seconds = per_call(lambda: jax.block_until_ready(_play(actions)), budget)
        return {"seconds": seconds / (worlds * ticks), "digest": found}


if __name__ == "__main__":
    serve(Jax())
