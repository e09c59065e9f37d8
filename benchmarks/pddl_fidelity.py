"""How faithful are `tw import` and `tw export --pddl`? A round trip over folders of PDDL files.

    python benchmarks/pddl_fidelity.py FOLDER [FOLDER …] [--verbose]

Every domain, and every problem with its domain, goes in and out: the result must be the original up
to white space, comments and what `normal` below takes away (docs/pddl.md says why), and a second
trip must change nothing at all. The original is read here by a reader of ten lines that knows
nothing of the one under test.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Union

from tokenworld.diagnostics import Failure, Source, read_source
from tokenworld.planning.pddl.export import export_domain
from tokenworld.planning.reader import Imported, import_pddl
from tokenworld.session.exporting import export
from tokenworld.session.importing import load_imported
from tokenworld.session.loading import OpenWorld, compile_world

Tree = Union[str, list["Tree"]]  # noqa: UP007

_SECTIONS = (":requirements", ":types", ":constants", ":predicates", ":functions", ":objects")
REORDERED = "same up to the order of effects"
_TYPED = (":types", ":constants", ":objects")


# ---- an independent reader and the normal form --------------------------------------------------


def read(text: str) -> Tree:
    """The first list of a text in lower case, comments dropped; raises on unbalanced text."""
    plain = re.sub(r";[^\n]*", "", text).lower()
    stack: list[list[Tree]] = [[]]
    for token in re.findall(r"[()]|\??[^\s()?]+", plain):
        if token == "(":
            stack.append([])
        elif token == ")":
            done = stack.pop()
            stack[-1].append(done)
        else:
            stack[-1].append(token)
    if len(stack) != 1:
        raise ValueError("unbalanced parentheses")
    return stack[0][0]


def typed(items: list[Tree]) -> list[Tree]:
    """``?a ?b - t`` written out as pairs; `- t` glued to a name is split."""
    words: list[Tree] = []
    for item in items:
        glued = isinstance(item, str) and item[0] == "-" and len(item) > 1
        words += ["-", item[1:]] if glued else [item]
    found: list[Tree] = []
    waiting: list[Tree] = []
    rest = iter(words)
    for word in rest:
        if word == "-":
            kind = next(rest)
            found += [[name, kind] for name in waiting]
            waiting = []
        else:
            waiting.append(word)
    return [*found, *([name] for name in waiting)]


def condition(tree: Tree) -> Tree:
    """Single operands unwrapped, ``()`` as ``(and)``, typed lists written out."""
    if isinstance(tree, str):
        return tree
    if not tree:
        return ["and"]
    head = tree[0]
    if head in ("and", "or") and len(tree) == 2:
        return condition(tree[1])
    if head in ("forall", "exists"):
        assert isinstance(tree[1], list)
        return [head, typed(tree[1]), condition(tree[2])]
    if head in ("+", "*") and len(tree) > 3:
        return condition([head, [head, *tree[1:-1]], tree[-1]])
    return [head, *(condition(part) for part in tree[1:])]


def effects(tree: Tree) -> list[Tree]:
    """The effects in order: nested conjunctions flattened, costs last and added up."""
    flat = list(_flat(tree))
    paid = [one for one in flat if _is_cost(one)]
    rest = [one for one in flat if not _is_cost(one)]
    if len(paid) > 1:
        amounts = [one[2] for one in paid if isinstance(one, list)]
        paid = [["increase", ["total-cost"], condition(["+", *amounts])]]
    return rest + paid


def _is_cost(tree: Tree) -> bool:
    return isinstance(tree, list) and len(tree) > 1 and tree[1] in (["total-cost"], "total-cost")


def _flat(tree: Tree) -> Iterator[Tree]:
    assert isinstance(tree, list)
    if not tree:
        return
    if tree[0] == "and":
        for part in tree[1:]:
            yield from _flat(part)
    elif tree[0] == "when":
        yield ["when", condition(tree[1]), ["and", *effects(tree[2])]]
    elif tree[0] == "forall":
        assert isinstance(tree[1], list)
        yield ["forall", typed(tree[1]), ["and", *effects(tree[2])]]
    else:
        yield condition(tree)


def _functions(items: list[Tree]) -> list[Tree]:
    found: list[Tree] = []
    waiting: list[Tree] = []
    rest = iter(items)
    for item in rest:
        if item == "-":
            kind = next(rest)
            found += [[one, kind] for one in waiting]
            waiting = []
        else:
            assert isinstance(item, list)
            waiting.append([item[0], *typed(item[1:])])
    return [*found, *([one, "number"] for one in waiting)]


def _action(tree: list[Tree]) -> Tree:
    fields = dict(zip(map(str, tree[2::2]), tree[3::2], strict=True))
    params = fields.get(":parameters", [])
    assert isinstance(params, list)
    before = condition(fields.get(":precondition", []))
    return [tree[1], typed(params), before, effects(fields.get(":effect", []))]


def _derived(tree: list[Tree]) -> list[Tree]:
    assert isinstance(tree[1], list)
    return [tree[1][0], typed(tree[1][1:]), condition(tree[2])]


def normal(text: str) -> dict[str, Tree]:
    """What must survive a round trip, section by section (docs/pddl.md)."""
    tree = read(text)
    assert isinstance(tree, list)
    sections = [part for part in tree[1:] if isinstance(part, list) and part]
    found: dict[str, Tree] = {"name": sections[0]}
    for section in _SECTIONS:
        items = [item for part in sections if part[0] == section for item in part[1:]]
        if section in _TYPED:
            items = typed(items)
        elif section == ":functions":
            items = _functions(items)
        elif section == ":predicates":
            heads = [item for item in items if isinstance(item, list) and item[0] != "="]
            items = [[head[0], *typed(head[1:])] for head in heads]
        found[section] = items
    found[":derived"] = [_derived(part) for part in sections if part[0] == ":derived"]
    derived = {str(one[0]) for one in found[":derived"] if isinstance(one, list)}
    found[":predicates"] = [
        head[0] if head[0] in derived else head
        for head in found[":predicates"]
        if isinstance(head, list)
    ]
    found[":action"] = [_action(part) for part in sections if part[0] == ":action"]
    for part in sections:
        if part[0] in (":goal", ":metric"):
            found[str(part[0])] = condition(part[-1])
    init = [item for part in sections if part[0] == ":init" for item in part[1:]]
    kept = [condition(one) for one in init if not _dropped(one)]
    found[":init"] = [one for index, one in enumerate(kept) if one not in kept[:index]]
    return found


def unordered(sections: dict[str, Tree]) -> dict[str, Tree]:
    """The same where the order of effects does not count: they all read the state before."""
    actions = sections[":action"]
    assert isinstance(actions, list)
    found = [[*one[:3], _sorted(one[3])] for one in actions if isinstance(one, list)]
    return {**sections, ":action": list[Tree](found)}


def _sorted(tree: Tree) -> Tree:
    if not isinstance(tree, list):
        return tree
    parts: list[Tree] = []
    for part in tree:
        if isinstance(part, list) and part[:1] == ["forall"] and isinstance(part[2], list):
            parts += [["forall", part[1], ["and", one]] for one in part[2][1:]]
        else:
            parts.append(_sorted(part) if isinstance(part, list) else part)
    return sorted(parts, key=str)


def _dropped(fact: Tree) -> bool:
    """The start of the costs, and what does not hold at the start anyway."""
    return isinstance(fact, list) and (_is_cost(fact) or fact[:1] == ["not"])


# ---- the trip -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Trip:
    """One file in and out: its kind, its name, and what went wrong (empty: nothing)."""

    kind: str
    name: str
    failure: str = ""


def _export_all(imported: Imported) -> list[str]:
    """The domain of an imported text, then the problem of each of its worlds."""
    loaded = load_imported(imported)
    worlds = list(loaded.program.worlds.values())
    if not worlds:
        return [export_domain(loaded.program)]
    found: list[str] = []
    for world in worlds:
        opened = OpenWorld(loaded, world, compile_world(loaded.program, world))
        pair = export(opened, None)
        if pair.form != "lifted":
            raise ValueError("grounded")
        found = [pair.domain, *found[1:], pair.problem]
    return found


def _without_comments(text: str) -> str:
    return re.sub(r";[^\n]*\n", "", text)


def _difference(before: str, after: str) -> str:
    one, other = normal(before), normal(after)
    found = [key for key in sorted(one) if one[key] != other.get(key)]
    if found == [":action"] and unordered(one) == unordered(other):
        return REORDERED
    return ", ".join(f"differs in {key}" for key in found)


def trips(domain: Path, problems: list[Path]) -> Iterator[Trip]:
    """A domain and its problems, in and out twice."""
    sources = [read_source(domain), *(read_source(path) for path in problems)]
    kinds = ["domain", *("problem" for _ in problems)]
    names = [f"{path.parent.name}/{path.name}" for path in (domain, *problems)]
    try:
        once = _export_all(import_pddl(sources[0], tuple(sources[1:])))
    except Failure as failure:
        first = failure.diagnostics[0]
        why = f"not taken: {first.code} {first.message}"
        yield from (Trip(kind, name, why) for kind, name in zip(kinds, names, strict=True))
        return
    again_in = [Source(f"{index}.pddl", None, text) for index, text in enumerate(once)]
    twice = _export_all(import_pddl(again_in[0], tuple(again_in[1:])))
    for kind, name, source, out, last in zip(kinds, names, sources, once, twice, strict=True):
        different = _difference(source.text, out)
        if different:
            yield Trip(kind, name, different)
        elif _without_comments(out) != _without_comments(last):
            yield Trip(kind, name, "the second trip differs")
        else:
            yield Trip(kind, name)


def pairs(folder: Path) -> Iterator[tuple[Path, list[Path]]]:
    """Every domain of a folder and below with the problems beside it that fit its name."""
    for place in sorted({path.parent for path in folder.rglob("*.pddl")}):
        files = sorted(place.glob("*.pddl"))
        domains = [path for path in files if _is_domain(path)]
        problems = [path for path in files if path not in domains]
        for domain in domains:
            mine = problems
            if len(domains) > 1:
                number = re.search(r"p\d+", domain.name)
                key = number.group() if number else domain.name
                mine = [path for path in problems if path.name.startswith(key)]
            yield domain, mine


def _is_domain(path: Path) -> bool:
    head = re.sub(r";[^\n]*", "", path.read_text(encoding="utf-8"))
    return re.search(r"\(\s*define\s*\(\s*domain", head, re.IGNORECASE) is not None


def main(arguments: list[str]) -> int:
    verbose = "--verbose" in arguments
    folders = [Path(one) for one in arguments if not one.startswith("--")]
    if not folders:
        sys.stderr.write(f"{__doc__}\n")
        return 2
    reasons: Counter[str] = Counter()
    print(f"{'folder':<20} {'domains':>14} {'problems':>14}")
    for folder in folders:
        found = [trip for domain, mine in pairs(folder) for trip in trips(domain, mine)]
        counts = []
        for kind in ("domain", "problem"):
            every = [one for one in found if one.kind == kind]
            counts.append(f"{sum(not one.failure for one in every)} of {len(every)}")
        print(f"{folder.name:<20} {counts[0]:>14} {counts[1]:>14}")
        for one in (one for one in found if one.failure):
            reasons[re.sub(r"`[^`]*`|\d+", "…", one.failure)] += 1
            if verbose:
                print(f"    {one.name}: {one.failure}")
    for reason, count in reasons.most_common():
        print(f"{count:>5} × {reason}")
    return 1 if any("differs" in reason for reason in reasons) else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
