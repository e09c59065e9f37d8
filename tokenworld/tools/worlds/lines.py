"""The lines of a file, packed or plain, unpacked in blocks: faster than line by line."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

__all__ = ["lines_of"]

_BLOCK: Final = 1 << 20
"""Bytes read of a file at a time."""
_UNPACKED: Final = 1 << 18
"""Bytes unpacked at a time: more would have to be fetched from memory again."""
_GZIP: Final = 31
"""What `zlib` calls the packing of ``.gz`` files."""


def lines_of(path: Path) -> Iterator[bytes]:
    """The lines of a file, without their ends. Packed files end in ``.gz``.

    Raises `OSError` where the file cannot be opened, `EOFError` and `zlib.error` at the place
    where a packed one is torn.
    """
    rest = b""
    for block in _blocks(path):
        *whole, rest = (rest + block).split(b"\n")
        yield from whole
    if rest:
        yield rest


def _blocks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        if path.suffix == ".gz":
            yield from _unpacked(file)
            return
        while block := file.read(_BLOCK):
            yield block


def _unpacked(file: BinaryIO) -> Iterator[bytes]:
    """The bytes of a packed file, of several members if it has them."""
    unpacker, begun = zlib.decompressobj(wbits=_GZIP), False
    while block := file.read(_BLOCK):
        while block:
            begun = True
            yield unpacker.decompress(block, _UNPACKED)
            block = unpacker.unconsumed_tail
            if unpacker.eof:
                block = unpacker.unused_data
                unpacker, begun = zlib.decompressobj(wbits=_GZIP), False
    if begun:
        raise EOFError("it ends too early")
