"""BLAKE2b (RFC 7693) with 8 bytes of digest in 64-bit words, for numba to compile.

Plain Python asks `hashlib`; compiled code cannot, so the compression function is written out as
instructions: every word in a register, for one text or for several side by side. A test compares
with `hashlib` for every length of two blocks.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

__all__ = ["LANES", "SCHEDULE", "START", "WORK", "compiled_digest", "hash_many", "hash_one"]

LANES = 16
"""So many texts are hashed side by side: as many as keep the units of a core busy."""

WORK = 24
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

_MIXED = ((0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15),
          (0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14))  # fmt: skip
_FIRST = START[0] ^ 0x01010008
_ONES = (1 << 64) - 1


class _Words:
    """Arithmetic on 64-bit words, or on vectors of them, as LLVM instructions."""

    def __init__(self, builder: Any, lanes: int) -> None:
        ir: Any = import_module("llvmlite.ir")
        word = ir.IntType(64)
        self.builder, self.lanes, self._ir = builder, lanes, ir
        self.kind = word if lanes == 1 else ir.VectorType(word, lanes)
        self._name = "i64" if lanes == 1 else f"v{lanes}i64"

    def constant(self, value: int) -> Any:
        value &= _ONES
        return self._ir.Constant(self.kind, value if self.lanes == 1 else [value] * self.lanes)

    def call(self, name: str, *args: Any) -> Any:
        """An intrinsic of LLVM."""
        cgutils: Any = import_module("numba.core.cgutils")
        kind = self._ir.FunctionType(self.kind, [self.kind] * len(args))
        name = f"llvm.{name}.{self._name}"
        found = cgutils.get_or_insert_function(self.builder.module, kind, name)
        return self.builder.call(found, args)

    def place(self, data: Any, at: Any, more: int) -> Any:
        """The address of a word of an array, or of a row of words."""
        index = self.builder.add(at, self._ir.Constant(self._ir.IntType(64), more * self.lanes))
        return self.builder.bitcast(self.builder.gep(data, [index]), self.kind.as_pointer())

    def load(self, data: Any, at: Any, more: int = 0) -> Any:
        return self.builder.load(self.place(data, at, more), align=8)

    def store(self, value: Any, data: Any, at: Any, more: int = 0) -> None:
        self.builder.store(value, self.place(data, at, more), align=8)

    def mix(self, v: list[Any], of: tuple[int, ...], x: Any, y: Any) -> None:
        """The function G of the RFC: rotations by 32, 24, 16 and 63."""
        a, b, c, d = of
        for word, one, two in ((x, 32, 24), (y, 16, 63)):
            v[a] = self.builder.add(self.builder.add(v[a], v[b]), word)
            v[d] = self._turned(self.builder.xor(v[d], v[a]), one)
            v[c] = self.builder.add(v[c], v[d])
            v[b] = self._turned(self.builder.xor(v[b], v[c]), two)

    def _turned(self, word: Any, by: int) -> Any:
        return self.call("fshr", word, word, self.constant(by))

    def compress(self, h: list[Any], m: list[Any], reached: Any, last: Any) -> list[Any]:
        """The function F of the RFC; ``last`` is all ones for the last block, else 0."""
        v = [*h, *map(self.constant, START)]
        v[12], v[14] = self.builder.xor(v[12], reached), self.builder.xor(v[14], last)
        for step in range(96):
            x, y = m[SCHEDULE[2 * step]], m[SCHEDULE[2 * step + 1]]
            self.mix(v, _MIXED[step % 8], x, y)
        xor = self.builder.xor
        return [xor(h[i], xor(v[i], v[i + 8])) for i in range(8)]


def _hashing(lanes: int) -> Any:
    """`hash(words, at, length, to)`: 16 words (or rows of words) from ``at`` on, to a word.

    The text is of one block. For several texts ``length`` is the place of their lengths. The
    digest is the number whose big-endian bytes it is.
    """
    from numba import types
    from numba.extending import intrinsic

    @intrinsic
    def hashed(typing, words, at, length, to):  # type: ignore[no-untyped-def]
        def code(context, builder, signature, args):  # type: ignore[no-untyped-def]
            data = context.make_array(signature.args[0])(context, builder, args[0]).data
            do = _Words(builder, lanes)
            m = [do.load(data, args[1], i) for i in range(16)]
            reached = args[2] if lanes == 1 else do.load(data, args[2])
            h = [do.constant(word) for word in (_FIRST, *START[1:])]
            found = do.compress(h, m, reached, do.constant(_ONES))
            do.store(do.call("bswap", found[0]), data, args[3])
            return context.get_dummy_value()

        return types.void(words, types.int64, types.int64, types.int64), code

    return hashed


def hash_one() -> Any:
    """The function that hashes one text."""
    return _hashing(1)


def hash_many() -> Any:
    """The function that hashes `LANES` texts side by side."""
    return _hashing(LANES)


def _compressing() -> Any:
    """`compress(words, h, m, reached, last)`: one block of 16 words into 8."""
    from numba import types
    from numba.extending import intrinsic

    @intrinsic
    def compress(typing, words, h, m, reached, last):  # type: ignore[no-untyped-def]
        def code(context, builder, signature, args):  # type: ignore[no-untyped-def]
            data = context.make_array(signature.args[0])(context, builder, args[0]).data
            do = _Words(builder, 1)
            old = [do.load(data, args[1], i) for i in range(8)]
            block = [do.load(data, args[2], i) for i in range(16)]
            for i, word in enumerate(do.compress(old, block, args[3], args[4])):
                do.store(word, data, args[1], i)
            return context.get_dummy_value()

        return types.void(words, *[types.int64] * 4), code

    return compress


def compiled_digest(njit: Callable[..., Any], np: Any, high: int, low: int, work: int) -> Any:
    """`digest(X, start, length)` that leaves the 64 bits in two places of ``X``.

    It works in `WORK` places of ``X`` from ``work`` on.
    """
    u64 = np.uint64
    start, first, half = np.array(START, np.uint64), np.uint64(_FIRST), np.uint64(0xFFFFFFFF)
    compress = _compressing()

    @njit
    def digest(X, begin, length):  # type: ignore[no-untyped-def]
        words = X.view(np.uint64)
        h, m = work, work + 8
        for i in range(8):
            words[h + i] = start[i]
        words[h] = first
        blocks = max(1, (length + 127) // 128)
        for block in range(blocks):
            for i in range(16):
                words[m + i] = u64(0)
            size = min(128, length - 128 * block)
            for i in range(size):
                words[m + i // 8] |= u64(X[begin + 128 * block + i]) << u64(8 * (i % 8))
            compress(words, h, m, 128 * block + size, -1 if block == blocks - 1 else 0)
        found, swapped = words[h], u64(0)  # little-endian bytes, read as a big-endian number
        for _ in range(8):
            swapped = (swapped << u64(8)) | (found & u64(255))
            found = found >> u64(8)
        X[high] = np.int64(swapped >> u64(32))
        X[low] = np.int64(swapped & half)

    return digest
