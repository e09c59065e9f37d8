"""The lines of the formatted text: the role of each token, blanks, where lines may break."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final, Literal

from tokenworld.diagnostics.frozen import frozen
from tokenworld.syntax.lalr import Kid, Token, Tree

# ---- format_shape --------------------------------------------------------------------------------
# For each token, the formatter needs its statement, its brace and its role.
#
# The trees are walked without recursion, so a long chain of operators costs no stack.


# The parts between these braces come one to a line, unless the braces share a line.
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
    """A pair of braces: the indices of both, the kind of its list, and its depth."""

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
        if tree.find("name") is not None and tree.strings():
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
    """Count the open parentheses and brackets around each token."""
    depth = 0
    depths = []
    for token in tokens:
        depth -= token.terminal in (")", "]")
        depths.append(depth)
        depth += token.terminal in ("(", "[")
    return depths


# ---- format_space --------------------------------------------------------------------------------
# Between two tokens: how many blanks stand there, and whether a line may be broken there.


_CLOSING: Final = frozenset({",", ")", "]", ".", "?"})
_OPENING: Final = frozenset({"(", "[", "."})
_COMPARE: Final = frozenset({"==", "!=", "<=", ">=", "<", ">"})
_OPERATORS: Final = frozenset({"+", "-", "*", "/", "div", "mod", "otherwise"}) | _COMPARE
# Words that begin a part of a statement: the order is that in which a long line is broken.
_CLAUSES: Final = (
    "when",
    "during",
    "as",
    "takes",
    "cost",
    "weight",
    "until",
    "aka",
    "else",
    "then",
)
_JOINTS: Final = ("implies", "or", "and", "where", "for", "in", "is", "by")
_BREAKS: Final = frozenset({*_CLAUSES, *_JOINTS}) | _OPERATORS


def gap(tokens: list[Token], shape: Shape, index: int) -> int:
    """The blanks before a token that follows another one on its line."""
    before, token = tokens[index - 1], tokens[index]
    if shape.columns.get(index) == "then":
        return 1
    if index in shape.starts and before.terminal not in ("{", ","):
        return 1 if shape.inside[index] < 0 or _in_list(shape, index) else 2
    if token.terminal in _CLOSING or before.terminal in _OPENING or index - 1 in shape.unary:
        return 0
    if token.terminal == ":":
        return 1 if index in shape.parents else 0
    if token.terminal == "(":
        return 0 if index in shape.calls else 1
    return 1


def _in_list(shape: Shape, index: int) -> bool:
    return shape.braces[shape.inside[index]].kind in LISTS


def may_break(tokens: list[Token], shape: Shape, index: int) -> bool:
    """Return whether the author may put a line break before a token inside a statement."""
    token, before = tokens[index], tokens[index - 1]
    if token.terminal in _CLOSING or token.terminal in ("{", "}"):
        return False
    if before.terminal in (",", "(", "["):
        return True
    if before.terminal in ("=", ":", "+=", "-="):
        return index - 1 not in shape.parents and not _names_type(tokens, index)
    if index in shape.rows | shape.titles | shape.starts.keys():
        return True
    is_word = token.terminal in _BREAKS and index not in shape.names
    return (is_word and index not in shape.unary) or token.terminal == "~"


def _names_type(tokens: list[Token], index: int) -> bool:
    """Return whether a token is the type after the colon of a declaration, which stays with it."""
    return tokens[index].terminal == "TYPE" and tokens[index - 1].terminal == ":"


def break_rank(tokens: list[Token], shape: Shape, index: int) -> tuple[int, int]:
    """The rank of a break of a long line before a token; the lowest rank is taken first."""
    terminal = tokens[index].terminal
    if index in shape.columns or index in shape.titles:
        kind = 0
    elif terminal in _CLAUSES:
        kind = 1
    elif terminal in _JOINTS:
        kind = 2 + _JOINTS.index(terminal)
    elif tokens[index - 1].terminal == ",":
        kind = 12
    else:
        kind = 14 if terminal in _OPERATORS else 16
    return shape.nesting[index], kind


# ---- Which tokens and comments stand on which line of the formatted text -------------------------


STEP: Final = 2

Style = Literal["flat", "hang", "block"]
LineKind = Literal["start", "close", "more", "comment"]


@dataclass(frozen=True, slots=True)
class Line:
    """The tokens `first:end` on one line, `indent` blanks in, or a comment of its own.

    `more` lines go on with the statement above; their place is settled later. `comment` is what
    stands after the tokens, or the whole of a comment line.
    """

    kind: LineKind
    first: int
    end: int
    indent: int
    blank: bool = False
    comment: str = ""
    comment_start: int = -1


@dataclass(frozen=True, slots=True)
class Remark:
    """A comment of the source: its place, its text, and whether it has a line of its own."""

    start: int
    text: str
    own_line: bool


@dataclass(frozen=True, slots=True)
class Choices:
    """Remedies for long lines: braces to open up, and tokens to begin a line with."""

    expanded: frozenset[int] = frozenset()
    broken: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Layout:
    """One text on its way to lines. `remarks[i]` are the comments before token `i`."""

    text: str
    tokens: list[Token]
    shape: Shape
    remarks: dict[int, tuple[Remark, ...]]
    choices: Choices

    # ---- braces ---------------------------------------------------------------------------

    def styles(self) -> dict[int, Style]:
        """The layout of each pair of braces, by its opening one."""
        return {first: self._style(first) for first in self.shape.braces}

    def _style(self, first: int) -> Style:
        brace, tokens = self.shape.braces[first], self.tokens
        content, last = tokens[first + 1], brace.close
        remarked = any(self.remarks.get(i) for i in range(first + 1, last + 1))
        if remarked:
            return "block"
        if first not in self.choices.expanded and not self.newline(tokens[first], tokens[last]):
            return "flat"
        if last == first + 1:
            return "flat"
        hangs = (
            brace.kind in HANGING
            and first not in self.choices.expanded
            and not self.newline(tokens[first], content)
            and not self.newline(tokens[last - 1], tokens[last])
        )
        return "hang" if hangs else "block"

    def newline(self, before: Token, after: Token) -> bool:
        """Return whether the source has a line break between two tokens."""
        return self.text.find("\n", before.end, after.start) >= 0

    # ---- lines ----------------------------------------------------------------------------

    def lines(self, styles: dict[int, Style]) -> list[Line]:
        """All lines in order."""
        found: list[Line] = []
        first = above = 0
        for index in range(1, len(self.tokens) + 1):
            kind = self._kind_of(index, styles)
            if kind is None:
                continue
            trailing = [r for r in self.remarks.get(index, ()) if not r.own_line]
            line = self._line(first, index, styles, above)
            if line.kind != "more":
                above = line.indent
            if trailing:
                line = replace(line, comment=trailing[0].text, comment_start=trailing[0].start)
            found += [*self._comment_lines(first, line), line]
            first = index
        found += self._comment_lines(len(self.tokens), None)
        return found

    def _kind_of(self, index: int, styles: dict[int, Style]) -> LineKind | None:
        """The kind of the line that a token begins; None if it continues the line."""
        if index in (0, len(self.tokens)):
            return "start"
        forced = bool(self.remarks.get(index))
        asked = forced or self._asked(index)
        shape, token = self.shape, self.tokens[index]
        around = shape.inside[index]
        if token.terminal == "}":
            return "close" if styles[self.shape.opening[index]] == "block" else None
        if index in shape.branches:
            joined = self._after_block(index, styles)
            return "start" if forced or (asked and not joined) else None
        if index in shape.quirked:
            return "start" if asked else None
        if index in shape.starts or (index in shape.rows and around >= 0):
            return self._start_kind(index, around, asked, styles)
        if forced or (asked and may_break(self.tokens, shape, index)):
            return "more"
        return None

    def _asked(self, index: int) -> bool:
        """Return whether the author or a long line wants a break here."""
        before, token = self.tokens[index - 1], self.tokens[index]
        return index in self.choices.broken or self.newline(before, token)

    def _start_kind(
        self, index: int, around: int, asked: bool, styles: dict[int, Style]
    ) -> LineKind | None:
        if around < 0:
            return "start"
        kind = self.shape.braces[around].kind
        if styles[around] != "block":
            return "more" if asked else None
        if kind == "layout" and index in self.shape.rows:
            return "start" if asked else None
        if kind in CODE or kind == "layout" or index == around + 1:
            return "start"
        if around in self.choices.expanded and self.shape.columns.get(index) != "then":
            return "start"
        return "start" if asked else None

    def _after_block(self, index: int, styles: dict[int, Style]) -> bool:
        """Return whether a branch follows a `}` that has a line of its own."""
        before = index - 1
        return self.tokens[before].terminal == "}" and styles[self.shape.opening[before]] == "block"

    def _line(self, first: int, end: int, styles: dict[int, Style], above: int) -> Line:
        kind = self._kind_of(first, styles) or "start"
        indent = above + STEP if kind == "more" else self._indent(first)
        return Line(kind, first, end, indent, kind == "start" and self._blank_before(first))

    def _indent(self, index: int) -> int:
        """The blanks before a line that a statement or a closing brace begins."""
        around = self.shape.inside[index]
        return STEP * (self.shape.braces[around].depth + 1) if around >= 0 else 0

    # ---- comments and blank lines ---------------------------------------------------------

    def _comment_lines(self, index: int, line: Line | None) -> Iterator[Line]:
        """The comments with lines of their own above a line, or at the end of the file."""
        indent = line.indent if line else 0
        if line and line.kind == "close":
            indent += STEP
        apart = line is None or line.kind != "more"
        for remark in self.remarks.get(index, ()):
            if remark.own_line:
                blank = apart and self._empty_line_above(remark.start, index)
                yield Line("comment", index, index, indent, blank, remark.text, remark.start)

    def _blank_before(self, index: int) -> bool:
        if index in self.shape.branches:
            return False
        return self._empty_line_above(self.tokens[index].start, index)

    def _empty_line_above(self, start: int, index: int) -> bool:
        """Return whether there is an empty line above an offset that does not follow an opening
        brace."""
        position, breaks = start - 1, 0
        while position >= 0 and self.text[position] in " \t\r\n":
            breaks += self.text[position] == "\n"
            position -= 1
        opens = index > 0 and self.tokens[index - 1].end == position + 1
        return breaks > 1 and not (opens and self.tokens[index - 1].terminal == "{")
