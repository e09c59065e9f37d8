"""A normal form of PDDL, computed without the reader under test.

`read` is a reader of ten lines that is independent of `tokenworld.planning.reader`; `normal`
removes the parts that a round trip may change (docs/pddl.md).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Union

Tree = Union[str, list["Tree"]]  # noqa: UP007

_SECTIONS = (":requirements", ":types", ":constants", ":predicates", ":functions", ":objects")
_TYPED = (":types", ":constants", ":objects")


def read(text: str, *, keep_case: bool = False) -> list[Tree]:
    """Return the first list of a text, without comments, in lower case unless ``keep_case``.

    Raises `ValueError` on unbalanced text, and if there is no list.
    """
    plain = re.sub(r";[^\n]*", "", text)
    plain = plain if keep_case else plain.lower()
    stack: list[list[Tree]] = [[]]
    for token in re.findall(r"[()]|\??[^\s()?]+", plain):
        if token == "(":
            stack.append([])
        elif token == ")" and len(stack) > 1:
            done = stack.pop()
            stack[-1].append(done)
        else:
            stack[-1].append(token)
    if len(stack) != 1 or ")" in stack[0]:
        raise ValueError("unbalanced parentheses")
    if not stack[0] or isinstance(stack[0][0], str):
        raise ValueError("no list")
    return stack[0][0]


def typed(items: list[Tree]) -> list[Tree]:
    """Return ``?a ?b - t`` as pairs; a `- t` without a blank before it is split."""
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
            if isinstance(kind, list):  # a union, in which order does not count
                kinds = sorted(map(str, kind[1:]))
                kind = kinds[0] if len(kinds) == 1 else [kind[0], *kinds]
            found += [[name, kind] for name in waiting]
            waiting = []
        else:
            waiting.append(word)
    return [*found, *([name] for name in waiting)]


def _listed(tree: Tree) -> list[Tree]:
    """Return a tree that is a list; raises `ValueError` for a word."""
    if isinstance(tree, str):
        raise ValueError(f"`{tree}` stands where a list belongs")
    return tree


def condition(tree: Tree) -> Tree:
    """Unwrap single operands, write ``()`` as ``(and)``, and expand typed lists."""
    if isinstance(tree, str):
        return tree
    if not tree:
        return ["and"]
    head = tree[0]
    if head in ("and", "or") and len(tree) == 2:
        return condition(tree[1])
    if head in ("forall", "exists"):
        return [head, typed(_listed(tree[1])), condition(tree[2])]
    if head in ("+", "*") and len(tree) > 3:
        return condition([head, [head, *tree[1:-1]], tree[-1]])
    return [head, *(condition(part) for part in tree[1:])]


def effects(tree: Tree) -> list[Tree]:
    """Return the effects in order: nested conjunctions flattened, costs last and added.

    A cost under a condition, or for all of some objects, is an effect of its own.
    """
    flat = [part for one in _flat(tree) for part in _apart(one)]
    paid = [one for one in flat if is_cost(one)]
    rest = [one for one in flat if not _pays(one)]
    partial = [one for one in flat if _pays(one) and not is_cost(one)]
    if len(paid) > 1:
        amounts = [one[2] for one in paid if isinstance(one, list)]
        paid = [["increase", ["total-cost"], condition(["+", *amounts])]]
    return rest + paid + partial


def _apart(tree: Tree) -> Iterator[Tree]:
    """Split a `when` or a `forall` into one without and one with costs, where it has both."""
    match tree:
        case ["when" | "forall" as head, asked, ["and", *inner]]:
            paid = [one for one in inner if _pays(one)]
            rest = [one for one in inner if one not in paid]
            yield from ([head, asked, ["and", *part]] for part in (rest, paid) if part or not inner)
        case _:
            yield tree


def _pays(tree: Tree) -> bool:
    """Return whether an effect is a cost, perhaps under a condition."""
    match tree:
        case ["when" | "forall", _, ["and", *inner]]:
            return bool(inner) and all(map(_pays, inner))
        case _:
            return is_cost(tree)


def is_cost(tree: Tree) -> bool:
    """Return whether an effect or a start value is about ``total-cost``."""
    return isinstance(tree, list) and len(tree) > 1 and tree[1] in (["total-cost"], "total-cost")


def _flat(tree: Tree) -> Iterator[Tree]:
    tree = _listed(tree)
    if not tree:
        return
    if tree[0] == "and":
        for part in tree[1:]:
            yield from _flat(part)
    elif tree[0] == "when":
        yield ["when", condition(tree[1]), ["and", *effects(tree[2])]]
    elif tree[0] == "forall":
        yield ["forall", typed(_listed(tree[1])), ["and", *effects(tree[2])]]
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
            item = _listed(item)
            waiting.append([item[0], *typed(item[1:])])
    return [*found, *([one, "number"] for one in waiting)]


def _action(tree: list[Tree]) -> Tree:
    fields = dict(zip(map(str, tree[2::2]), tree[3::2], strict=True))
    params = _listed(fields.get(":parameters", []))
    before = condition(fields.get(":precondition", []))
    return [tree[1], typed(params), before, effects(fields.get(":effect", []))]


def _derived(tree: list[Tree]) -> list[Tree]:
    head = _listed(tree[1])
    return [head[0], typed(head[1:]), condition(tree[2])]


def normal(text: str) -> dict[str, Tree]:
    """Return the normal form of a file by sections, which a round trip must keep (docs/pddl.md).

    Raises `ValueError` if the text is not PDDL.
    """
    try:
        return _normal(text)
    except (IndexError, StopIteration, RuntimeError):  # a generator turns the second into the third
        raise ValueError("a list is too short") from None


def _normal(text: str) -> dict[str, Tree]:
    sections = [part for part in read(text)[1:] if isinstance(part, list) and part]
    if not sections:
        raise ValueError("no sections")
    found: dict[str, Tree] = {"name": sections[0]}
    for section in _SECTIONS:
        items = [item for part in sections if part[0] == section for item in part[1:]]
        if section in _TYPED:
            items = typed(items)
            items = _informative(items) if section == ":types" else items
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
    if any(one in (["object"], ["object", "object"]) for one in found[":types"]):
        return {key: _rootless(part) for key, part in found.items()}
    return found


def _rootless(tree: Tree) -> Tree:
    """Leave ``- object`` out: a domain that declares `object` means it wherever no type stands."""
    if isinstance(tree, str):
        return tree
    if len(tree) == 2 and isinstance(tree[0], str) and tree[1] == "object":
        return [tree[0]]
    return [_rootless(part) for part in tree]


def _informative(types: list[Tree]) -> list[Tree]:
    """Drop the declaration of a type below `object` if it has another parent too."""
    rooted = [one for one in types if isinstance(one, list) and one[1:] in ([], ["object"])]
    below = {str(one[0]) for one in types if isinstance(one, list) and one not in rooted}
    if "object" in (str(one[0]) for one in types if isinstance(one, list)):
        return types
    return [one for one in types if one not in rooted or str(one[0]) not in below]


def unordered(sections: dict[str, Tree]) -> dict[str, Tree]:
    """Sort the effects, whose order has no meaning, because they all read the state before."""
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
    """Return whether a fact starts the costs, or is false at the start anyway."""
    return isinstance(fact, list) and (is_cost(fact) or fact[:1] == ["not"])
