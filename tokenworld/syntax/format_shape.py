"""What the formatter needs to know of each token: which statement, brace or role it belongs to.

The trees are walked without recursion, so a long chain of operators costs no stack.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tokenworld.diagnostics.frozen import frozen
from tokenworld.syntax.tree import Kid, Token, Tree

# What stands between these braces comes one to a line, if the braces do not share a line.
CODE: Final = frozenset({"block", "action", "believe", "world"})
# Here authors group as the matter asks for, so their line breaks stay.
DATA: Final = frozenset({"scenario", "type", "fields", "table", "pddl", "layout", "data"})
# Parts that commas or operators hold together, as one expression.
LISTS: Final = frozenset({"enum", "ladder", "guess", "guess_each", "draw_pick"})
# Braces whose content may begin on the line of the brace and go on below its first word.
HANGING: Final = LISTS | {"fields", "table", "pddl"}
BRACED: Final = CODE | DATA | LISTS

_CALLS: Final = frozenset({"args", "params", "fold", "fold_of", "fold_all", "draw_uniform"})
_OF_DATA: Final = frozenset({"setup", "given", "legend"})
_BRANCHED: Final = frozenset({"if", "chance", "pick"})


@frozen
class Brace:
    """A pair of braces: the indices of both, what kind of list it holds, and how deep it lies."""

    open: int
    close: int
    kind: str
    depth: int


@frozen
class Shape:
    """The roles of tokens, as indices into the file's list of tokens.

    `opening` maps each closing brace to its opening one, `starts` the first token of each
    statement to the brace it stands in (-1 outside), `inside` each token to its innermost brace
    (-1 outside; a brace belongs to the outer one). `nesting` counts the open parentheses around
    each token. `columns` names what authors align in consecutive lines: `else` and `text` of
    requirements, `then` of scenarios, `=` of PDDL entries.
    """

    braces: dict[int, Brace]
    opening: dict[int, int]
    starts: dict[int, int]
    inside: list[int]
    nesting: list[int]
    names: frozenset[int]
    calls: frozenset[int]
    unary: frozenset[int]
    parents: frozenset[int]
    branches: frozenset[int]
    rows: frozenset[int]
    titles: frozenset[int]
    quirked: frozenset[int]
    columns: dict[int, str]


class _Finder:
    """Collects the roles while the trees are walked."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.index = {id(token): i for i, token in enumerate(tokens)}
        self.kinds: dict[int, str] = {}
        self.starts: set[int] = set()
        self.sets: dict[str, set[int]] = {
            name: set()
            for name in (
                "names", "calls", "unary", "parents", "branches", "rows", "titles", "quirked"
            )
        }  # fmt: skip
        self.columns: dict[int, str] = {}

    def at(self, kid: Kid) -> int:
        """The index of the first token of a part."""
        while isinstance(kid, Tree):
            kid = kid.kids[0]
        return self.index[id(kid)]

    def visit(self, tree: Tree, parent: str) -> None:
        kind = tree.kind
        tokens = [kid for kid in tree.kids if isinstance(kid, Token)]
        if kind in BRACED:
            self._braced(tree, "data" if kind == "block" and parent in _OF_DATA else kind)
        if kind in _CALLS:
            self._mark("calls", (t for t in tokens if t.terminal == "("))
        elif kind == "negative":
            self._mark("unary", tokens[:1])
        elif kind == "parents":
            self._mark("parents", tokens[:1])
        elif kind in ("name", "typename"):
            self.sets["names"].add(self.at(tree))
        elif kind in _BRANCHED:
            self._mark("branches", (t for t in tokens if t.terminal in ("else", "or")))
        elif kind == "require":
            self._require(tree)
        elif kind == "then":
            self.columns[self.at(tree)] = "then"
        elif kind == "entry":
            self.columns.update({self.at(t): "=" for t in tokens if t.terminal == "="})
        elif kind == "quirk":
            self.sets["quirked"].add(self.at(tree.kids[2]))
        if kind in ("goal", "lose", "stop", "object", "world"):
            self._mark("titles", tree.strings())

    def _mark(self, name: str, tokens: Iterator[Token] | list[Token]) -> None:
        self.sets[name].update(self.at(token) for token in tokens)

    def _braced(self, tree: Tree, kind: str) -> None:
        """Note the brace of a tree, and what begins a statement between its braces."""
        opened = False
        for kid in tree.kids:
            if isinstance(kid, Token):
                if kid.terminal == "{":
                    self.kinds[self.at(kid)] = kind
                    opened = True
                elif opened and kid.terminal == "STRING":
                    self.sets["rows"].add(self.at(kid))
            elif opened:
                self.starts.add(self.at(kid))

    def _require(self, tree: Tree) -> None:
        marks = [kid for kid in tree.kids if isinstance(kid, Token) and kid.terminal == "else"]
        if marks:
            self.columns[self.at(marks[0])] = "else"
        if tree.find("name") is not None and marks:
            self.columns[self.at(tree.strings()[-1])] = "text"


def shape_of(tokens: list[Token], trees: list[Tree]) -> Shape:
    """The shape of a file that parses: its tokens, and the trees of its items in order."""
    finder = _Finder(tokens)
    work: list[tuple[Tree, str]] = [(tree, "file") for tree in reversed(trees)]
    while work:
        tree, parent = work.pop()
        finder.visit(tree, parent)
        work += [(kid, tree.kind) for kid in tree.kids if isinstance(kid, Tree)]
    finder.starts.update(finder.at(tree) for tree in trees)
    braces, inside = _matched(tokens, finder.kinds)
    starts = {index: inside[index] for index in sorted(finder.starts)}
    sets = {name: frozenset(found) for name, found in finder.sets.items()}
    opening = {brace.close: first for first, brace in braces.items()}
    return Shape(braces, opening, starts, inside, _nesting(tokens), columns=finder.columns, **sets)


def _matched(tokens: list[Token], kinds: dict[int, str]) -> tuple[dict[int, Brace], list[int]]:
    """All pairs of braces by their opening one, and the innermost brace around each token."""
    braces: dict[int, Brace] = {}
    inside: list[int] = []
    opened: list[int] = []
    for index, token in enumerate(tokens):
        if token.terminal == "}":
            first = opened.pop()
            braces[first] = Brace(first, index, kinds[first], len(opened))
        inside.append(opened[-1] if opened else -1)
        if token.terminal == "{":
            opened.append(index)
    return braces, inside


def _nesting(tokens: list[Token]) -> list[int]:
    """How many parentheses and brackets are open around each token."""
    depth = 0
    depths = []
    for token in tokens:
        depth -= token.terminal in (")", "]")
        depths.append(depth)
        depth += token.terminal in ("(", "[")
    return depths
