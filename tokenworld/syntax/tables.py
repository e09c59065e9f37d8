"""The parse tables of the grammar: compiled once with lark, then loaded as plain data.

Compiling `tw.lark` takes most of a second and importing lark another twentieth, which is more
than a whole `tw check` may cost. So the LALR(1) tables are kept as JSON: generated beside the
grammar (`grammars/tw.tables.json`, written by `python -m tokenworld.syntax.grammar`), and, for a
grammar that was edited since, in the cache folder of the user. Both name the hash of the
grammar they were made from; tables of another grammar are never used.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from contextlib import suppress
from dataclasses import field
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from tokenworld.assets import grammar_path
from tokenworld.diagnostics.frozen import frozen

FORMAT: Final = 1
END: Final = "$END"
Start = Literal["item", "expr"]
STARTS: Final[tuple[Start, ...]] = ("item", "expr")
# Names of the terminals that are not written literally in the grammar.
OPEN_TERMINALS: Final = ("NAME", "TYPE", "RAW", "NUMBER", "PERCENT", "QUANTITY", "STRING")


class Rule(NamedTuple):
    """What a reduction does: take `size` symbols and make a tree named `kind`.

    `keep` passes a single symbol on as it is (`?rule`), `splice` puts the symbols among those
    of the parent (the helper rules of `*` and `+`).
    """

    kind: str
    size: int
    origin: str
    keep: bool
    splice: bool


@frozen
class Tables:
    """An LALR(1) automaton and the lexer before it.

    A terminal is named by its own text (`{`, `action`) or, if open, by its grammar name.
    `actions[state][terminal]` is the state to shift to, or `~rule` to reduce by;
    `gotos[state][origin]` is the state after a reduction. `climbs` is what the machine found out
    on its ways (see `Machine`).
    """

    pattern: re.Pattern[str]
    keywords: frozenset[str]
    soft: frozenset[str]
    rules: tuple[Rule, ...]
    actions: tuple[dict[str, int], ...]
    gotos: tuple[dict[str, int], ...]
    starts: dict[str, tuple[int, int]]
    firsts: dict[str, frozenset[str]]
    climbs: dict[tuple[int, int, str], int] = field(default_factory=dict)

    @property
    def reserved(self) -> frozenset[str]:
        """The keywords that can only be names in backquotes."""
        return self.keywords - self.soft

    def first(self, start: Start) -> frozenset[str]:
        """The terminals that can begin an item or an expression."""
        return self.firsts[start]


@cache
def tables() -> Tables:
    """The tables of the installed grammar, from the fastest place that has them."""
    grammar = grammar_path()
    text = grammar.read_text(encoding="utf-8")
    digest = digest_of(text)
    kept = _cache_file(digest)
    for place in (shipped_path(), kept):
        data = _read(place, digest) if place else None
        if data is not None:
            return _from_json(data)
    from tokenworld.syntax.grammar import compile_grammar

    data = compile_grammar(text)
    if kept:
        _write(kept, data)
    return _from_json(data)


def shipped_path() -> Path:
    """Where the tables generated with the grammar lie."""
    return grammar_path().with_name("tw.tables.json")


# ---- places -------------------------------------------------------------------------------


def digest_of(grammar: str) -> str:
    """What names the tables of a grammar: its text and the format of the tables."""
    return hashlib.sha256(f"{FORMAT}\n{grammar}".encode()).hexdigest()


def _cache_file(digest: str) -> Path | None:
    """The cached tables of a grammar; None where no home folder is known."""
    root = os.environ.get("XDG_CACHE_HOME")
    try:
        folder = Path(root) if root else Path.home() / ".cache"
    except RuntimeError:
        return None
    return folder / "token-world" / f"tables-{digest[:16]}.json"


def _read(path: Path, digest: str) -> dict[str, Any] | None:
    try:
        data = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    return data if isinstance(data, dict) and data.get("grammar") == digest else None


def _write(path: Path, data: dict[str, Any]) -> None:
    """Keep the tables for the next start; a folder that cannot be written costs only time."""
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        import tempfile

        # Written beside and renamed, so that another process never reads half a file.
        handle, name = tempfile.mkstemp(dir=path.parent)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(to_text(data))
        os.replace(name, path)


def _from_json(data: dict[str, Any]) -> Tables:
    sets = [tuple(names) for names in data["lookaheads"]]
    action_rows = []
    for shifts, reductions in data["action_rows"]:
        row: dict[str, int] = shifts
        for rule, names in reductions:
            row.update(dict.fromkeys(sets[names], ~rule))
        action_rows.append(row)
    goto_rows = data["goto_rows"]
    actions = tuple(action_rows[i] for i in data["actions"])
    starts = {start: (first, last) for start, (first, last) in data["starts"].items()}
    return Tables(
        pattern=re.compile(data["pattern"]),
        keywords=frozenset(data["keywords"]),
        soft=frozenset(data["soft"]),
        rules=tuple(Rule(*rule) for rule in data["rules"]),
        actions=actions,
        gotos=tuple(goto_rows[i] for i in data["gotos"]),
        starts=starts,
        firsts={start: frozenset(actions[first]) for start, (first, _) in starts.items()},
    )


def to_text(data: dict[str, Any]) -> str:
    """The JSON text of compiled tables, one row per line so that versions can be compared."""
    lines = []
    for key, value in data.items():
        if key in ("rules", "lookaheads", "action_rows", "goto_rows"):
            rows = ",\n".join(json.dumps(row, separators=(",", ":")) for row in value)
            lines.append(f"{json.dumps(key)}:[\n{rows}]")
        else:
            lines.append(f"{json.dumps(key)}:{json.dumps(value, separators=(',', ':'))}")
    return "{" + ",\n".join(lines) + "}\n"
