"""Narrow the grammar: to the names of a program by kind and arity, or to the commands of a state.

Both are texts in lark's notation, which `dialects` and `gbnf` write for a decoder.
"""

from __future__ import annotations

import json
import re
import string
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Final

from tokenworld.check.typing.arithmetic import ARGUMENTS
from tokenworld.syntax import nodes as syn
from tokenworld.verbs.grammars.dialects import keywords_of, with_name

MOST: Final = 300
"""More symbols than these become one set, whatever their kind: decoders bound their grammars."""

_CALLED = (
    syn.RelationDecl, syn.FunctionDecl, syn.TableDecl, syn.DeriveDecl, syn.EffectDecl,
    syn.ActionDecl, syn.EventDecl,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Symbols:
    """The names of a program. ``calls`` are names with parameters, by their number.

    ``values`` stand alone (objects, members, params, actors), ``members`` after a dot, ``types``
    are types, enums and units; ``locals`` are bound in a rule (parameters, `let`, `for`).
    ``cells`` are types whose objects a layout names after their places.
    """

    types: frozenset[str]
    values: frozenset[str]
    members: frozenset[str]
    calls: Mapping[int, frozenset[str]]
    locals: frozenset[str]
    actions: frozenset[str]
    cells: frozenset[str]

    @property
    def number(self) -> int:
        """The number of names."""
        called = sum(map(len, self.calls.values()))
        return called + sum(map(len, (self.types, self.values, self.members, self.locals)))

    @property
    def lower(self) -> frozenset[str]:
        """All names that begin with a small letter."""
        every = frozenset(self.values | self.members | self.locals).union(*self.calls.values())
        return frozenset(one for one in every if one[:1].islower())


_KINDS: Final = ("type", "value", "member", "closure", "local", "action", "cell")


def symbols_of(files: Iterable[syn.File]) -> Symbols:
    """Return the symbols of a program, given by its files."""
    found: dict[str, set[str]] = {key: set() for key in _KINDS}
    calls: dict[int, set[str]] = {}
    for name, params in ARGUMENTS.items():
        calls.setdefault(len(params), set()).add(name)
    for file in files:
        for node in _nodes(file):
            for kind, declared in _names_of(node):
                found[kind].add(declared.value)
            if isinstance(node, _CALLED):
                calls.setdefault(len(node.params), set()).add(node.name.value)
    found["type"].add("Object")
    found["value"] |= {"score"}
    found["local"] |= {"here", *string.ascii_lowercase}
    calls.setdefault(1, set()).update(found["member"])
    calls.setdefault(2, set()).update(found["closure"])
    found["member"] |= found["closure"]
    return Symbols(
        frozenset(found["type"]), frozenset(found["value"]), frozenset(found["member"]),
        {number: frozenset(names) for number, names in sorted(calls.items())},
        frozenset(found["local"]), frozenset(found["action"]), frozenset(found["cell"]),
    )  # fmt: skip


def _nodes(node: object) -> Iterator[syn.Node]:
    """Yield a node and all below it."""
    if isinstance(node, tuple):
        for part in node:
            yield from _nodes(part)
    elif is_dataclass(node) and isinstance(node, syn.Node):
        yield node
        for field in fields(node):
            yield from _nodes(getattr(node, field.name))


def _names_of(node: syn.Node) -> Iterator[tuple[str, syn.Name]]:
    """Yield the names that a node declares, each with its kind."""
    kinds: Mapping[type, tuple[tuple[str, str], ...]] = _DECLARES
    for kind, attribute in kinds.get(type(node), ()):
        value: Any = getattr(node, attribute)
        for name in value if isinstance(value, tuple) else (value,):
            yield kind, name


_DECLARES: Final[Mapping[type, tuple[tuple[str, str], ...]]] = {
    syn.TypeDecl: (("type", "name"),),
    syn.EnumDecl: (("type", "name"), ("value", "members")),
    syn.ObjectDecl: (("value", "names"),),
    syn.ActorDecl: (("value", "name"),),
    syn.ParamDecl: (("value", "name"),),
    syn.AttributeDecl: (("member", "name"),),
    syn.Inverse: (("member", "name"),),
    syn.Closure: (("closure", "name"),),
    syn.Formal: (("local", "name"),),
    syn.Binder: (("local", "name"),),
    syn.Let: (("local", "name"),),
    syn.Naming: (("local", "name"),),
    syn.Create: (("local", "name"),),
    syn.ActionDecl: (("action", "name"),),
    syn.Layout: (("cell", "type"),),
}


# ---- the grammar ---------------------------------------------------------------------------------


def narrowed(grammar: str, symbols: Symbols) -> str:
    """Return the grammar in which only these names can be used.

    New items may have new names. Variables of a rule have names of the program's variables, or
    one letter. With more than `MOST` symbols, all names form one set.
    """
    keywords = keywords_of(grammar)
    if symbols.number > MOST:
        return with_name(grammar, f"/({'|'.join(_plain(symbols.lower, keywords))})/")
    text = grammar
    for rule, old, new in _REWRITES:
        text = _rewritten(text, rule, old, new)
    return f"{text}\n{_known(symbols, keywords)}\n"


_REWRITES: Final = (
    ("enum", "typename", "new_type"),
    ("type", r"typename(?= parents)", "new_type"),
    ("typename", "TYPE", "known_type"),
    ("atom", r'TYPE "." name', 'known_type "." known_value'),
    ("formal", r"\bname\b", "local"),
    ("given", r"\bname\b", "local"),
    ("binder", r"\bname\b", "local"),
    ("let", r"\bname\b", "local"),
    ("naming", r"\bname\b", "local"),
    ("create", r"\bname\b", "local"),
    ("ref", r"name\n", "known_value\n"),
    ("ref", r"\| name args", "| known_call"),
    ("ref", r'ref "\." name args', 'ref "." known_method'),
    ("ref", r'ref "\." name ', 'ref "." known_member '),
    ("apply", r"name args", "known_call"),
    ("apply", r'ref "\." known_call', 'ref "." known_method'),
    ("emit", "name args", "known_call"),
)
"""For each rule, a pattern in its text, and its replacement."""


def _rewritten(grammar: str, rule: str, old: str, new: str) -> str:
    """Replace a part of one rule; raises `ValueError` if it is not there."""
    found = re.search(rf"^[?!]*{rule}:.*(?:\n +\|.*)*\n", grammar, re.MULTILINE)
    if found is None or not re.search(old, found[0]):
        raise ValueError(f"the rule `{rule}` has no {old}")
    return grammar[: found.start()] + re.sub(old, new, found[0]) + grammar[found.end() :]


def _known(symbols: Symbols, keywords: Collection[str]) -> str:
    """Return the rules of the known names."""
    soft = sorted(set(keywords))
    values = symbols.values | symbols.locals
    cells = [f"{one.lower()}_[0-9]+_[0-9]+" for one in sorted(symbols.cells)]
    methods = {number - 1: names for number, names in symbols.calls.items() if number}
    members = symbols.members | methods.get(0, frozenset())
    lines = [
        "new_type: TYPE | RAW",
        _rule("known_type", "KNOWN_TYPE", sorted(symbols.types), raw=False),
        _rule("known_value", "KNOWN_VALUE", [*_plain(values, soft), *cells], values, soft),
        _rule("known_member", "KNOWN_MEMBER", _plain(members, soft), members, soft),
        _rule("local", "LOCAL", _plain(symbols.locals, soft), symbols.locals, soft),
        _rule("known_action", "KNOWN_ACTION", _plain(symbols.actions, soft), symbols.actions, soft),
        *_calls("known_call", symbols.calls, soft),
        *_calls("known_method", methods, soft),
    ]
    return "\n".join(lines)


def _rule(
    name: str,
    terminal: str,
    words: Sequence[str],
    every: Collection[str] = (),
    soft: Collection[str] = (),
    *,
    raw: bool = True,
) -> str:
    """Return a rule of known words; those that are also keywords stand in it as keywords."""
    ways = [terminal] if words else []
    ways += [json.dumps(one) for one in sorted(set(every) & set(soft))]
    ways += ["RAW"] if raw or not ways else []
    defined = f"\n{terminal}: /({'|'.join(words)})/" if words else ""
    return f"{name}: {' | '.join(ways)}{defined}"


def _calls(name: str, calls: Mapping[int, Collection[str]], soft: Collection[str]) -> Iterator[str]:
    """Yield a rule of calls: for each number of arguments, the names that take that many."""
    ways = []
    for number, names in calls.items():
        known = f"{name}_{number}"
        yield _rule(known, known.upper(), _plain(names, soft), names, soft, raw=False)
        args = ' "," '.join(["expr"] * number)
        ways.append(f'{known} "(" {args} ")"' if number else f'{known} "(" ")"')
    ways += ["RAW args", '("busy" | "did") "(" expr ("," known_action ("," expr)*)? ")"']
    yield f"{name}: {' | '.join(ways)}"


def _plain(names: Collection[str], keywords: Collection[str]) -> list[str]:
    """Return the names that are no keywords and can be written without backquotes, sorted."""
    return sorted(one for one in names if one.isidentifier() and one not in keywords)


# ---- commands ------------------------------------------------------------------------------------


def command_grammar(commands: Iterable[str]) -> str:
    """Return the grammar of some texts, and of no other; without texts, of the empty text."""
    texts = sorted(set(commands)) or [""]
    return f"start: {' | '.join(json.dumps(one, ensure_ascii=False) for one in texts)}\n"
