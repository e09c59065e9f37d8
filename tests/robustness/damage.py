"""Damaged files: bytes, lines, JSON values, PDDL words and the columns of a run store."""

from __future__ import annotations

import json
import random
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mutations import BYTES, CHARACTERS, NUMBERS, WORDS, spoil

VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1.5, 10**30, 10**400, 1e308, float("nan"), float("inf"), "", "x",
    "\0", "\x1b[31m", "\u202e", "none", [], {}, [[]], [None], {"": 0}, "9" * 500, "x" * 20_000,
)  # fmt: skip
PDDL_WORDS = (
    "(", ")", "()", "(not", "(and", "(or", "(forall", "(exists", "(when", ":parameters", ":effect",
    ":precondition", "?x", "- object", "either", "(either a b)", "(= a b)", "(imply", "(define",
    "(increase (total-cost) 1)", ":durative-action", ":derived", "1e400", "-0.0", ";",
    ":requirements", ":fluents", "(* 1 2)", "(/ 1 0)", "(assign (f) 3)", "(at 5 (a))",
    ":timed-initial-literals", ":constraints", "|a b|",
)  # fmt: skip


def bytes_damaged(dice: random.Random, data: bytes) -> bytes:
    """One to four changes of bytes, lines or words; sometimes nothing is left."""
    if dice.random() < 0.02:
        return b""
    for _ in range(dice.choice((1, 1, 2, 4))):
        data = dice.choice(CHANGES)(dice, data)
    return data


def _cut(dice: random.Random, data: bytes) -> bytes:
    first, last = sorted(dice.randrange(len(data) + 1) for _ in range(2))
    return data[:first] if dice.random() < 0.4 else data[:first] + data[min(last, first + 60) :]


def _lines(dice: random.Random, data: bytes) -> bytes:
    lines = data.split(b"\n")
    one, other = dice.randrange(len(lines)), dice.randrange(len(lines))
    match dice.randrange(3):
        case 0:
            del lines[one]
        case 1:
            lines.insert(other, lines[one])
        case _:
            lines[one], lines[other] = lines[other], lines[one]
    return b"\n".join(lines)


def _put(dice: random.Random, data: bytes) -> bytes:
    piece = dice.choice((*CHARACTERS, *NUMBERS[:8], *WORDS)).encode("utf-8", "surrogatepass")
    at = dice.randrange(len(data) + 1)
    return (
        data[:at] + dice.choice((piece, piece, dice.choice(BYTES))) + data[at + dice.randrange(3) :]
    )


def _deep(dice: random.Random, data: bytes) -> bytes:
    at, depth = dice.randrange(len(data) + 1), dice.choice((50, 1_500, 100_000))
    opening, closing = dice.choice(((b"(", b")"), (b"[", b"]"), (b'{"a":', b"}"), (b"{", b"}")))
    return data[:at] + opening * depth + b"0" + closing * depth + data[at:]


CHANGES: tuple[Callable[[random.Random, bytes], bytes], ...] = (
    _cut, _lines, _lines, _put, _put, _put, _deep, spoil,
)  # fmt: skip


# ---- JSON -----------------------------------------------------------------------------------


def json_damaged(dice: random.Random, data: bytes) -> bytes:
    """The same JSON, or JSON lines, with some values of another kind; or damaged bytes."""
    if dice.random() < 0.25:
        return bytes_damaged(dice, data)
    lines = data.decode().splitlines() or [""]
    for _ in range(dice.choice((1, 1, 2, 3))):
        at = dice.randrange(len(lines))
        try:
            value = json.loads(lines[at])
        except ValueError:
            continue
        lines[at] = json.dumps(_changed(dice, value), ensure_ascii=dice.random() < 0.5)
    return "\n".join(lines).encode("utf-8", "surrogatepass")


def _changed(dice: random.Random, value: Any) -> Any:
    """The value with one part of it, at any depth, replaced, dropped, added or moved."""
    if isinstance(value, dict) and value and dice.random() < 0.85:
        key = dice.choice(list(value))
        match dice.randrange(8):
            case 0:
                return {name: part for name, part in value.items() if name != key}
            case 1:
                return {**value, dice.choice(("extra", "", "format", "schema_version")): _any(dice)}
            case _:
                return {**value, key: _changed(dice, value[key])}
    if isinstance(value, list) and value and dice.random() < 0.85:
        at = dice.randrange(len(value))
        match dice.randrange(8):
            case 0:
                return value[:at] + value[at + 1 :]
            case 1:
                return [*value, value[at]]
            case _:
                return [*value[:at], _changed(dice, value[at]), *value[at + 1 :]]
    return _any(dice)


def _any(dice: random.Random) -> Any:
    return dice.choice((*VALUES, dice.randrange(10), dice.choice(("hero", "lamp", "hall"))))


# ---- PDDL and stores ----------------------------------------------------------------------------


def pddl_damaged(dice: random.Random, data: bytes) -> bytes:
    """Words of PDDL put where they do not belong, or damaged bytes."""
    if dice.random() < 0.3:
        return bytes_damaged(dice, data)
    words = data.decode().replace("(", " ( ").replace(")", " ) ").split()
    for _ in range(dice.choice((1, 1, 2, 4))):
        at = dice.randrange(len(words) or 1)
        put = dice.choice((dice.choice(PDDL_WORDS), dice.choice(words or ["("]), ""))
        words[at : at + dice.randrange(2)] = [put]
    return " ".join(words).encode()


def store_damaged(dice: random.Random, path: Path) -> None:
    """Change a run store in place: a value of a column, the schema, or bytes of the file."""
    if dice.random() < 0.3:
        path.write_bytes(_hit(dice, path.read_bytes()))
        return
    for _ in range(dice.choice((1, 1, 2))):
        base = sqlite3.connect(path)
        try:
            base.execute("PRAGMA foreign_keys = OFF")
            base.execute("PRAGMA ignore_check_constraints = ON")
            _edit(dice, base)
            base.commit()
        except (sqlite3.DatabaseError, OverflowError, UnicodeEncodeError):
            pass  # SQLite itself does not let it in
        finally:
            base.close()


def _hit(dice: random.Random, data: bytes) -> bytes:
    if dice.random() < 0.3:
        return data[: dice.randrange(len(data))]
    for _ in range(dice.choice((1, 5, 50))):
        at = dice.randrange(len(data))
        data = data[:at] + bytes((dice.randrange(256),)) + data[at + 1 :]
    return data


def _edit(dice: random.Random, base: sqlite3.Connection) -> None:
    tables = [row[0] for row in base.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    table = dice.choice(sorted(tables))
    columns = [row[1] for row in base.execute(f'PRAGMA table_info("{table}")')]
    column = dice.choice(columns)
    roll = dice.random()
    if roll < 0.05:
        base.execute(f'DROP TABLE "{table}"')
    elif roll < 0.1:
        base.execute(f'ALTER TABLE "{table}" DROP COLUMN "{column}"')
    elif roll < 0.15:
        base.execute(f"PRAGMA user_version = {dice.choice((0, 1, 99, -1, 2**31 - 1))}")
    elif roll < 0.25:
        base.execute(f'DELETE FROM "{table}" WHERE rowid % 2 = {dice.randrange(2)}')
    else:
        where = dice.choice(("", " WHERE rowid = 1", " WHERE rowid % 2 = 0"))
        value, sql = _cell(dice, column)
        base.execute(f'UPDATE "{table}" SET "{column}" = {sql}{where}', value)


def _cell(dice: random.Random, column: str) -> tuple[tuple[Any, ...], str]:
    match dice.randrange(6):
        case 0:
            return (dice.choice((b"\xff\xfe", b"", b"\x00" * 9, b"{}")),), "?"
        case 1:
            return (dice.choice((b"\xff\xfe", b"\xed\xa0\x80", b"a\x00b")),), "CAST(? AS TEXT)"
        case 2:
            return (), f'substr("{column}", 1, {dice.randrange(30)})'
        case 3:
            return (json.dumps(dice.choice(VALUES)),), "?"
        case 4:
            return (dice.choice((None, 0, -1, 2**62, 1.5, "x", "", "[" * 5_000)),), "?"
        case _:
            return (dice.choice(("{", "[]", '{"a":1}', "null")),), f'"{column}" || ?'
