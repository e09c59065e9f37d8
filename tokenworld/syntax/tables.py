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
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import field
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, TypeVar

from tokenworld.assets import cache_folder, grammar_path
from tokenworld.diagnostics.frozen import frozen

FORMAT: Final = 1
END: Final = "$END"
_decoded = json.JSONDecoder().raw_decode  # of `json.loads` most of the time is not for decoding
Start = Literal["item", "expr"]
STARTS: Final[tuple[Start, ...]] = ("item", "expr")


class Rule(NamedTuple):
    """A reduction: take `size` symbols and make a tree named `kind`.

    `keep` passes a single symbol on as it is (`?rule`), `splice` puts the symbols among those
    of the parent (the helper rules of `*` and `+`).
    """

    kind: str
    size: int
    origin: str
    keep: bool
    splice: bool


RowT = TypeVar("RowT")


class Rows(dict[int, RowT]):
    """The rows of a table by number, each made when it is first looked at: a text needs few."""

    def __init__(self, count: int, make: Callable[[int], RowT]) -> None:
        super().__init__()
        self._count, self._make = count, make

    def __missing__(self, number: int) -> RowT:
        row = self[number] = self._make(number)
        return row

    def every(self) -> list[RowT]:
        """All rows in order."""
        return [self[number] for number in range(self._count)]


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
    rules: Rows[Rule]
    actions: Rows[dict[str, int]]
    gotos: Rows[dict[str, int]]
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
        found = _read(place, digest) if place else None
        if found is not None:
            return _from_text(found)
    made = to_text(compile_grammar(text))
    if kept:
        _write(kept, made)
    return _from_text(made)


def shipped_path() -> Path:
    """The path of the tables that are generated with the grammar."""
    return grammar_path().with_name("tw.tables.json")


# ---- places -------------------------------------------------------------------------------


def digest_of(grammar: str) -> str:
    """The hash that names the tables of a grammar: of its text and their format."""
    return hashlib.sha256(f"{FORMAT}\n{grammar}".encode()).hexdigest()


def _cache_file(digest: str) -> Path | None:
    """The cached tables of a grammar; None where no home folder is known."""
    folder = cache_folder()
    return None if folder is None else folder / f"tables-{digest[:16]}.json"


def _read(path: Path, digest: str) -> str | None:
    """The text of the tables of a grammar; ``None`` for those of another one, or half a file."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return None
    ours = text.startswith(f'{{"grammar":"{digest}"') and text.endswith("]}\n")
    return text if ours else None


def _write(path: Path, text: str) -> None:
    """Keep the tables for the next start; a folder that cannot be written costs only time."""
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        import tempfile

        # Written beside and renamed, so that another process never reads half a file.
        handle, name = tempfile.mkstemp(dir=path.parent)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(name, path)


def _from_text(text: str) -> Tables:
    """Tables from the text that `to_text` writes; a row is decoded when it is needed."""
    sets, rules = _rows(text, "lookaheads"), _rows(text, "rules")
    shifts, after = _rows(text, "action_rows"), _rows(text, "goto_rows")

    def action_row(number: int) -> dict[str, int]:
        (row, reductions), _ = _decoded(shifts[number])
        for rule, names in reductions:
            row.update(dict.fromkeys(_decoded(sets[names])[0], ~rule))
        return row  # type: ignore[no-any-return]

    action_rows = Rows(len(shifts), action_row)
    goto_rows = Rows[dict[str, int]](len(after), lambda number: _decoded(after[number])[0])
    action_of, goto_of = _value(text, "actions"), _value(text, "gotos")
    actions = Rows(len(action_of), lambda state: action_rows[action_of[state]])
    starts = {start: (first, last) for start, (first, last) in _value(text, "starts").items()}
    return Tables(
        pattern=re.compile(_value(text, "pattern")),
        keywords=frozenset(_value(text, "keywords")),
        soft=frozenset(_value(text, "soft")),
        rules=Rows(len(rules), lambda number: Rule(*_decoded(rules[number])[0])),
        actions=actions,
        gotos=Rows(len(goto_of), lambda state: goto_rows[goto_of[state]]),
        starts=starts,
        firsts={start: frozenset(actions[first]) for start, (first, _) in starts.items()},
    )


def _rows(text: str, name: str) -> list[str]:
    """The rows of a part of the text, one of each line; only the next part begins with a quote."""
    begin = text.index(f'\n"{name}":[\n') + len(name) + 6
    end = text.find('],\n"', begin)
    return text[begin : len(text) - len("]}\n") if end < 0 else end].split(",\n")


def _value(text: str, name: str) -> Any:
    """A part of the text that stands on one line."""
    begin = text.index(f'\n"{name}":') + len(name) + 4
    return json.loads(text[begin : text.index(",\n", begin)])


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


# ---- Compile the grammar with lark into the tables that `tables` keeps ---------------------------
# The only place that imports lark. It runs when the grammar was edited, never in a normal start.


def compile_grammar(grammar: str) -> dict[str, Any]:
    """Compile a grammar with lark and return its tables as JSON data.

    The result depends on the grammar alone: rules are sorted and states numbered by a walk from
    the start states. Raises lark's `GrammarError` for a grammar that is not LALR(1).
    """
    from lark import Lark

    lark = Lark(grammar, parser="lalr", lexer="basic", start=list(STARTS))
    label = {t.name: t.pattern.value if t.pattern.type == "str" else t.name for t in lark.terminals}
    rules = sorted({_rule_key(rule): rule for rule in lark.rules}.items())
    starts, states = _automaton(lark, label, {key: i for i, (key, _) in enumerate(rules)})
    lookaheads: dict[tuple[str, ...], int] = {}
    action_rows, actions = _distinct([_packed(row, lookaheads) for row, _ in states])
    goto_rows, gotos = _distinct([row for _, row in states])
    return {
        "grammar": digest_of(grammar),
        "pattern": _lexer_pattern(lark.terminals),
        "keywords": sorted(text for text in label.values() if re.fullmatch("[a-z_]+", text)),
        "soft": sorted(label[r.expansion[0].name] for r in lark.rules if r.origin.name == "soft"),
        "starts": starts,
        "rules": [_rule_data(rule) for _, rule in rules],
        "actions": actions,
        "gotos": gotos,
        "lookaheads": list(lookaheads),
        "action_rows": action_rows,
        "goto_rows": goto_rows,
    }


def _automaton(
    lark: Any, label: dict[str, str], number: dict[_RuleKey, int]
) -> tuple[dict[str, list[int]], list[tuple[dict[str, int], dict[str, int]]]]:
    """The start and end state of each start, and (actions, gotos) of each state."""
    from lark.grammar import Rule as LarkRule
    from lark.lexer import TerminalDef

    data, memo = lark.memo_serialize([TerminalDef, LarkRule])
    table = data["parser"]["parser"]
    tokens = table["tokens"]
    origins = {rule.origin.name for rule in lark.rules}
    order = [table["start_states"][start] for start in STARTS]
    position = {state: i for i, state in enumerate(order)}
    states = []
    for state in order:  # grows while it is walked
        row = sorted((tokens[t], *act) for t, act in table["states"][state].items())
        actions: dict[str, int] = {}
        gotos: dict[str, int] = {}
        for name, reduces, argument in row:
            if reduces:
                actions[label.get(name, name)] = ~number[_rule_key(memo[argument["@"]])]
                continue
            if argument not in position:
                position[argument] = len(order)
                order.append(argument)
            target = gotos if name in origins else actions
            target[label.get(name, name)] = position[argument]
        states.append((actions, gotos))
    ends = table["end_states"]
    return {s: [i, position[ends[s]]] for i, s in enumerate(STARTS)}, states


def _packed(row: dict[str, int], lookaheads: dict[tuple[str, ...], int]) -> list[Any]:
    """A row of actions as `[shifts, [[rule, lookahead set], …]]`."""
    shifts = {name: state for name, state in sorted(row.items()) if state >= 0}
    by_rule: dict[int, list[str]] = {}
    for name, action in sorted(row.items()):
        if action < 0:
            by_rule.setdefault(~action, []).append(name)
    reductions = [
        [rule, lookaheads.setdefault(tuple(names), len(lookaheads))]
        for rule, names in sorted(by_rule.items())
    ]
    return [shifts, reductions]


_RuleKey = tuple[str, tuple[str, ...], str]


def _rule_key(rule: Any) -> _RuleKey:
    """A rule's identity, for a lark rule or its serialised form."""
    if isinstance(rule, dict):
        symbols = tuple(symbol["name"] for symbol in rule["expansion"])
        return rule["origin"]["name"], symbols, rule["alias"] or ""
    return str(rule.origin.name), tuple(s.name for s in rule.expansion), rule.alias or ""


def _rule_data(rule: Any) -> list[Any]:
    origin = str(rule.origin.name)
    size = len(rule.expansion)
    keep = bool(rule.options.expand1 and size == 1 and not rule.alias)
    return [rule.alias or origin, size, origin, keep, origin.startswith("_")]


def _distinct(rows: list[Any]) -> tuple[list[Any], list[int]]:
    """The different rows, and for each given row its place among them."""
    seen: dict[str, int] = {}
    index = [seen.setdefault(json.dumps(row), len(seen)) for row in rows]
    return [json.loads(row) for row in seen], index


def _lexer_pattern(terminals: Iterable[Any]) -> str:
    """One pattern with a group per open terminal and one, `literal`, for the punctuation.

    As in lark's basic lexer, longer patterns are tried first; keywords are told from names
    afterwards.
    """
    parts = [(len(t.pattern.value), t.name, t.pattern.value) for t in terminals if _is_open(t)]
    marks = [t.pattern.value for t in terminals if not _is_open(t)]
    marks = sorted((m for m in marks if not m[0].isalpha()), key=lambda m: (-len(m), m))
    groups = [f"(?P<{n}>{p})" for _, n, p in sorted(parts, key=lambda x: (-x[0], x[1]))]
    return "|".join([*groups, f"(?P<literal>{'|'.join(re.escape(m) for m in marks)})"])


def _is_open(terminal: Any) -> bool:
    return bool(terminal.pattern.type == "re")
