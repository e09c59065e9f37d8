"""BLAKE2b (RFC 7693) with 8 bytes of digest in 64-bit words, for numba to compile.

Plain Python asks `hashlib`; compiled code cannot, so the compression function is written out. A
test compares both for every length of two blocks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["SCHEDULE", "START", "WORK", "compiled_digest"]

WORK = 40
"""The numbers of the array that the function works in: it allocates nothing."""

START = (
    0x6A09E667F3BCC908, 0xBB67AE8584CAA73B, 0x3C6EF372FE94F82B, 0xA54FF53A5F1D36F1,
    0x510E527FADE682D1, 0x9B05688C2B3E6C1F, 0x1F83D9ABFB41BD6B, 0x5BE0CD19137E2179,
)  # fmt: skip

_SIGMA = (
    (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
    (14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3),
    (11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4),
    (7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8),
    (9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13),
    (2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9),
    (12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11),
    (13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10),
    (6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5),
    (10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0),
)
SCHEDULE = tuple(word for row in (*_SIGMA, *_SIGMA[:2]) for word in row)

_MIXED = (0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15,
          0, 5, 10, 15, 1, 6, 11, 12, 2, 7, 8, 13, 3, 4, 9, 14)  # fmt: skip


def compiled_digest(njit: Callable[..., Any], np: Any, high: int, low: int, work: int) -> Any:
    """`digest(X, start, length)` that leaves the 64 bits in two places of ``X``.

    It works in `WORK` places of ``X`` from ``work`` on.
    """
    u64 = np.uint64
    schedule, mixed = np.array(SCHEDULE, np.int64), np.array(_MIXED, np.int64)
    start, turns = np.array(START, np.uint64), np.array((32, 24, 16, 63), np.uint64)
    first = np.uint64(START[0] ^ 0x01010008)
    ones, half = np.uint64(0xFFFFFFFFFFFFFFFF), np.uint64(0xFFFFFFFF)

    @njit
    def compress(h, m, v, reached, last):  # type: ignore[no-untyped-def]
        for i in range(8):
            v[i] = h[i]
            v[i + 8] = start[i]
        v[12] ^= u64(reached)
        if last:
            v[14] ^= ones
        for step in range(96):
            g = 4 * (step % 8)
            a, b, c, d = mixed[g], mixed[g + 1], mixed[g + 2], mixed[g + 3]
            for part in range(2):
                v[a] = v[a] + v[b] + m[schedule[2 * step + part]]
                word = v[d] ^ v[a]
                v[d] = (word >> turns[2 * part]) | (word << (u64(64) - turns[2 * part]))
                v[c] = v[c] + v[d]
                word = v[b] ^ v[c]
                v[b] = (word >> turns[2 * part + 1]) | (word << (u64(64) - turns[2 * part + 1]))
        for i in range(8):
            h[i] ^= v[i] ^ v[i + 8]

    @njit
    def digest(X, begin, length):  # type: ignore[no-untyped-def]
        words = X.view(np.uint64)
        h, m = words[work : work + 8], words[work + 8 : work + 24]
        v = words[work + 24 : work + 40]
        for i in range(8):
            h[i] = start[i]
        h[0] = first
        blocks = max(1, (length + 127) // 128)
        for block in range(blocks):
            for i in range(16):
                m[i] = u64(0)
            size = min(128, length - 128 * block)
            for i in range(size):
                m[i // 8] |= u64(X[begin + 128 * block + i]) << u64(8 * (i % 8))
            compress(h, m, v, 128 * block + size, block == blocks - 1)
        found, swapped = h[0], u64(0)  # little-endian bytes, read as a big-endian number
        for _ in range(8):
            swapped = (swapped << u64(8)) | (found & u64(255))
            found = found >> u64(8)
        X[high] = np.int64(swapped >> u64(32))
        X[low] = np.int64(swapped & half)

    return digest
