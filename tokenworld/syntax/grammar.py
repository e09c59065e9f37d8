"""Compile the grammar with lark into the tables that `tables` keeps.

The only module that imports lark. It runs when the grammar was edited, never in a normal start.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from lark import Lark
from lark.grammar import Rule as LarkRule
from lark.lexer import TerminalDef

from tokenworld.syntax.tables import STARTS, digest_of, shipped_path, to_text


def compile_grammar(grammar: str) -> dict[str, Any]:
    """Compile a grammar with lark and return its tables as JSON data.

    The result depends on the grammar alone: rules are sorted and states numbered by a walk from
    the start states. Raises lark's `GrammarError` for a grammar that is not LALR(1).
    """
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
        "keywords": sorted(text for text in label.values() if re.fullmatch("[a-z]+", text)),
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


def main() -> None:
    """Write the tables beside the grammar: `python -m tokenworld.syntax.grammar`."""
    text = shipped_path().with_name("tw.lark").read_text(encoding="utf-8")
    shipped_path().write_text(to_text(compile_grammar(text)), encoding="utf-8")


if __name__ == "__main__":
    main()
