"""Compare two PDDL domains: Text2World's F1 scores, and a strict F1 score.

`score` follows the definition that is published with the benchmark (arXiv 2502.13092, section on
metrics, and `utils/evaluator.py` of its repository): the F1 score of two sets of

- predicates, by name and number of arguments;
- parameters of an action, by name;
- preconditions of an action, cut at every `and`;
- effects of an action, each literal with the condition it depends on, a `forall` as one;

the last three as the mean over the actions of the original; all three are 0 where one of them is
missing. Only the names of actions are compared with their case. Types, costs, surplus actions and
the order of parameters do not count there. Four defects of the published script are not followed:
it cuts names such as `hands-full` at their `and`, takes the first and last letter off a sole
precondition, gives 0 to every domain with an action that asks nothing, and counts `<` and the other
comparisons as predicates of a domain with costs. `official` follows them.

In `strict` all that counts: it is the F1 score of everything that a domain says, with types, costs,
surplus actions and the order of parameters. Names of variables and the order of statements, of
operands of `and`, `or`, `=`, `+` and `*`, and of quantified variables of different types do not.
Scores are fractions, so that 1 means 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from tokenworld.verbs.bench.normal import Tree, is_cost, normal, read, typed

_ONE, _NONE = Fraction(1), Fraction(0)


@dataclass(frozen=True, slots=True)
class Scores:
    """The four F1 scores of Text2World, each from 0 to 1."""

    predicates: Fraction
    parameters: Fraction
    preconditions: Fraction
    effects: Fraction

    @property
    def perfect(self) -> bool:
        return self == Scores(_ONE, _ONE, _ONE, _ONE)


@dataclass(frozen=True, slots=True)
class Strict:
    """``f1`` of all statements of two domains; the statements of only one of them, as text."""

    f1: Fraction
    lost: tuple[str, ...]
    added: tuple[str, ...]


def f1(found: Iterable[Hashable], wanted: Iterable[Hashable]) -> Fraction:
    """Return the harmonic mean of precision and recall of two sets; 1 if both are empty."""
    one, other = set(found), set(wanted)
    if not one and not other:
        return _ONE
    return Fraction(2 * len(one & other), len(one) + len(other))


# ---- the published score ------------------------------------------------------------------------


def score(original: str, text: str) -> Scores:
    """Return the scores of ``text`` against ``original``; 0 if it is not PDDL.

    Raises `ValueError` if the original is not PDDL.
    """
    wanted = _Domain(original)
    try:
        found = _Domain(text)
    except ValueError:
        return Scores(_NONE, _NONE, _NONE, _NONE)
    predicates = f1(found.predicates, wanted.predicates)
    if not wanted.actions:
        return Scores(predicates, _ONE, _ONE, _ONE)
    if set(wanted.actions) - set(found.actions):
        return Scores(predicates, _NONE, _NONE, _NONE)
    each = [(found.actions[name], parts) for name, parts in wanted.actions.items()]
    means = [
        sum((f1(one[facet], other[facet]) for one, other in each), _NONE) / len(each)
        for facet in range(3)
    ]
    return Scores(predicates, *means)


class _Domain:
    """The parts of a domain that the published score compares."""

    def __init__(self, text: str) -> None:
        written = zip(read(text), read(text, keep_case=True), strict=True)
        lists = [(one, same) for one, same in written if isinstance(one, list) and one]
        self.predicates = {
            (str(head[0]), len(typed(head[1:])))
            for part, _ in lists
            if part[0] == ":predicates"
            for head in part[1:]
            if isinstance(head, list)
        }
        self.actions = {
            str(same[1]): _facets(part)
            for part, same in lists
            if isinstance(same, list) and part[0] == ":action"
        }


def _facets(action: list[Tree]) -> tuple[set[str], set[str], set[str]]:
    """Return the parameters, preconditions and effects of an action as the score counts them."""
    fields = dict(zip(map(str, action[2::2]), action[3::2], strict=True))
    params = fields.get(":parameters", [])
    assert isinstance(params, list)
    names = {str(one[0]) for one in typed(params) if isinstance(one, list)}
    before = fields.get(":precondition", [])
    asked = _infix(before).split(" and ")
    after = fields.get(":effect", [])
    assert isinstance(after, list)
    return names, {part.strip(" ()") for part in asked}, set(_effects(after))


def _infix(tree: Tree) -> str:
    """Return a condition as a text with `and` between the conjuncts; an empty text is true."""
    if isinstance(tree, str):
        return tree
    if tree in ([], ["and"]):
        return "true"
    head, parts = tree[0], tree[1:]
    match head:
        case "and" | "or" if len(parts) == 1:
            return _infix(parts[0])
        case "and":
            return "(" + " and ".join(_infix(part) for part in parts) + ")"
        case "or":
            return "(" + " or ".join(sorted(_infix(part) for part in parts)) + ")"
        case "not":
            return f"(not {_infix(parts[0])})"
        case "+" | "*" if len(parts) > 2:
            return _infix([head, [head, *parts[:-1]], parts[-1]])
        case "imply":
            return f"({_infix(parts[0])} implies {_infix(parts[1])})"
        case "forall" | "exists" if isinstance(parts[0], list):
            names = " ".join(str(one[0]) for one in typed(parts[0]) if isinstance(one, list))
            return f"({head} {names} : {_infix(parts[1])})"
        case _:
            return f"{head}({','.join(_infix(part) for part in parts)})"


def _effects(tree: list[Tree], under: str = "T") -> Iterator[str]:
    """Yield the effects one by one, each with the condition that it depends on."""
    match tree:
        case []:
            return
        case ["and", *parts]:
            for part in parts:
                assert isinstance(part, list)
                yield from _effects(part, under)
        case ["when", asked, list(inner)]:
            yield from _effects(inner, _infix(asked))
        case ["forall", list(variables), list(inner)]:
            names = " ".join(str(one) for one in typed(variables))
            told = ", ".join(_effects(inner))
            if told or not inner:  # costs do not count
                yield f"{under} -> forall {names} : {told}"
        case _ if not is_cost(tree):
            yield f"{under} -> {_infix(tree)}"


# ---- the strict score ---------------------------------------------------------------------------

Item = tuple[str, str]
"""The owner of a statement, and the statement."""


def strict(original: str, text: str) -> Strict:
    """Return the F1 score of all statements of two domains, and the statements of only one of them.

    Names of variables and the order of statements and operands do not count, all else does.
    Raises `ValueError` if the original is not PDDL. A ``text`` that is not PDDL has no statements.
    """
    wanted = _statements(original)
    try:
        found = _statements(text)
    except ValueError:
        found = Counter()
    both = (wanted & found).total()
    total = wanted.total() + found.total()
    value = Fraction(2 * both, total) if total else _ONE
    return Strict(value, _shown(wanted - found), _shown(found - wanted))


def _statements(text: str) -> Counter[Item]:
    """Return the statements of a domain; raises `ValueError` if it is not PDDL."""
    try:
        return Counter(_said(text))
    except (IndexError, StopIteration, AssertionError, RuntimeError):
        raise ValueError("it is no PDDL domain") from None


def _shown(items: Counter[Item]) -> tuple[str, ...]:
    return tuple(f"{owner}: {what}" for owner, what in sorted(items.elements()))


def _said(text: str) -> Iterator[Item]:
    """Yield every statement of a domain in normal form; a repeated one comes twice."""
    for section, items in normal(text).items():
        assert isinstance(items, list)
        if section == ":action":
            for action in items:
                assert isinstance(action, list)
                yield from _of_action(action)
        elif section == "name":
            yield "name", _plain(items)
        elif section in (":requirements", ":types", ":constants"):
            yield from ((section, _plain(one)) for one in items)
        elif section in (":predicates", ":functions"):
            yield from ((section, _plain(_head(one))) for one in items)
        elif section == ":derived":
            yield from ((section, _plain(_derived(one))) for one in items)


def _head(tree: Tree) -> Tree:
    """Return a declared predicate or function, its parameters by their types alone."""
    if isinstance(tree, str) or (len(tree) > 1 and isinstance(tree[0], list)):
        return tree if isinstance(tree, str) else [_head(tree[0]), *tree[1:]]
    return [tree[0], *(_type(one) for one in tree[1:])]


def _derived(tree: Tree) -> Tree:
    assert isinstance(tree, list)
    name, params, asked = tree
    return [name, *_types(params), _alpha(asked, _numbered(params))]


def _of_action(action: list[Tree]) -> Iterator[Item]:
    name, params, asked, effects = action
    owner, names = f"action {name}", _numbered(params)
    assert isinstance(effects, list)
    yield owner, f"parameters {_plain(_types(params))}"
    conjuncts = asked[1:] if isinstance(asked, list) and asked[:1] == ["and"] else [asked]
    yield from ((owner, f"precondition {_plain(_alpha(one, names))}") for one in conjuncts)
    yield from ((owner, f"effect {_plain(_alpha(one, names))}") for one in effects)


def _type(item: Tree) -> Tree:
    return item[1] if isinstance(item, list) and len(item) > 1 else "object"


def _types(params: Tree) -> list[Tree]:
    return [_type(one) for one in params] if isinstance(params, list) else []


def _numbered(params: Tree, of: str = "") -> dict[str, str]:
    """Map the variables to their places, so that their names do not count."""
    listed = [one[0] if isinstance(one, list) else one for one in params]
    return {str(one): f"?{of}{place}" for place, one in enumerate(listed)}


_SYMMETRIC = ("and", "or", "=", "+", "*")


def _alpha(tree: Tree, names: dict[str, str], depth: int = 1) -> Tree:
    """Return a condition or an effect with variables by their places and operands in one order."""
    if isinstance(tree, str):
        return names.get(tree, tree)
    if tree[:1] in (["forall"], ["exists"]) and isinstance(tree[1], list):
        bound = sorted(tree[1], key=lambda one: _plain(_type(one)))
        inner = {**names, **_numbered(bound, f"{depth}.")}
        return [tree[0], _types(bound), *(_alpha(one, inner, depth + 1) for one in tree[2:])]
    parts = [_alpha(one, names, depth) for one in tree]
    if tree[:1] and tree[0] in _SYMMETRIC:
        parts[1:] = sorted(parts[1:], key=_plain)
    return parts


def _plain(tree: Tree) -> str:
    return tree if isinstance(tree, str) else f"({' '.join(_plain(part) for part in tree)})"
