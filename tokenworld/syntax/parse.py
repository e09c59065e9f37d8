"""Source text to syntax tree: item by item, so that one mistake spoils one item."""

from __future__ import annotations

import re
from typing import Final

from tokenworld.diagnostics import Diagnostic, Related, Source, in_order
from tokenworld.diagnostics.frozen import frozen
from tokenworld.syntax.build import DECLARATIONS, RULES
from tokenworld.syntax.hint_words import WORLD, Found, describe
from tokenworld.syntax.hints import unexpected
from tokenworld.syntax.lalr import BAD, Kid, Machine, Token, Tree, lex
from tokenworld.syntax.nodes import Comment, File, Item, QuirkDecl
from tokenworld.syntax.tables import END, Tables, tables
from tokenworld.syntax.templates import BLOCK_DEPTH, Build, BuildError, Context, plain, token_of

# ---- split ---------------------------------------------------------------------------------------
# A file's tokens to item trees: one mistake spoils one item, and the next one is read again.
#
# The automaton itself says where an item ends: at a token that cannot continue it and begins
# another one (language.md §18). Only after a mistake is the layout of the lines looked at.


# More mistakes in one file are not reported: it is no program, or one mistake hides them.
ERROR_LIMIT: Final = 50

_NESTED = (
    "The item {token} begins inside the brace opened on line {line}.",
    "an item cannot begin inside a brace",
    "Move it out of the braces, or close that of line {line} with `}}` before it.",
    "still open here",
)
"""Message, label and hint of an item that stands where a brace is still open, and the label of that
brace."""
_BEFORE = "The brace opened on line {line} is still open at {token}."
_AT_END = "The brace opened on line {line} is never closed."


@frozen
class Splitter:
    """One file's tokens, and what its lines look like."""

    source: Source
    tables: Tables
    tokens: list[Token]

    def items(self) -> tuple[list[Tree], list[Diagnostic]]:
        """The trees of all items that parse, and one diagnostic per item that does not."""
        trees: list[Tree] = []
        problems: list[Diagnostic] = []
        position = 0
        while position < len(self.tokens) and len(problems) < ERROR_LIMIT:
            tree, stop = self._item(position)
            if isinstance(tree, Tree):
                trees.append(tree)
                position = stop
                continue
            problem = self._problem(position, stop)
            if problem is not None:
                problems.append(problem)
            position = self._resume(position, stop, problem)
        return trees, problems

    def item_end(self, first: int) -> int | None:
        """The index after the item that begins at `first`; None if it has a mistake."""
        tree, stop = self._item(first)
        return stop if isinstance(tree, Tree) else None

    def broken_at(self, first: int) -> int | None:
        """The index of the word that the item at `first` cannot go on with; None if it is whole."""
        tree, stop = self._item(first)
        return None if isinstance(tree, Tree) else stop

    def _item(self, first: int) -> tuple[Kid | None, int]:
        """The item that begins at `first` and the index after it, or None and the culprit."""
        machine = Machine(self.tables, "item")
        depth = 0
        for index in range(first, len(self.tokens)):
            token = self.tokens[index]
            if token.terminal == "{":
                depth += 1
                if depth > BLOCK_DEPTH:
                    return None, index
            elif token.terminal == "}":
                depth -= 1
            if not machine.feed(token):
                ends = depth < 0 or (depth == 0 and self._parted(first, index))
                return (machine.finish() if ends else None), index
        return machine.finish(), len(self.tokens)

    def _parted(self, first: int, index: int) -> bool:
        """Return whether a token that cannot continue the item is no fault of the item.

        It begins another one, or it stands where the next one should begin. (A `}` too many is
        no fault of the item before it either.)
        """
        if self._begins_item(index):
            return True
        return self._begins_line(index) and self._column(index) <= self._column(first)

    # ---- what went wrong ------------------------------------------------------------------

    def _problem(self, first: int, stop: int) -> Diagnostic | None:
        """The diagnostic for an item that fails at index `stop`; None if it is reported."""
        at_end = stop == len(self.tokens)
        if not at_end and self.tokens[stop].terminal == BAD:
            return None
        opened, suspect = self._open_braces(first, stop)
        if len(opened) >= BLOCK_DEPTH and not at_end and self.tokens[stop].terminal == "{":
            return self._too_deep(stop)
        intruder = self._intruder(first, stop)
        if intruder is not None:
            opened, suspect = self._open_braces(first, intruder)
            return self._unclosed(suspect or opened[-1], intruder)
        if at_end and opened:
            return self._unclosed(suspect or opened[-1], stop)
        outsider = self._outsider(stop, opened)
        if outsider is not None:
            return self._unclosed(opened[-1], outsider)
        token = self._end_token() if at_end else self.tokens[stop]
        nested = self._nested(first, stop)
        if nested is not None and opened and not self._of_world(first, nested, opened):
            return self._still_open(opened[-1], self.tokens[nested])
        machine = Machine(self.tables, "item")
        for earlier in self.tokens[first:stop]:
            machine.feed(earlier)
        before, after = self.tokens[first:stop], self.tokens[stop + 1 : stop + 2]
        following = after[0] if after else None
        found = Found(self.tables, before, token, machine.expected(), following)
        return unexpected(self.source, found)

    def _intruder(self, first: int, stop: int) -> int | None:
        """An item keyword that stands where items begin although a brace is still open."""
        depth = 0
        left = self._column(first)
        for index in range(first, min(stop + 1, len(self.tokens))):
            token = self.tokens[index]
            if index > first and depth > 0 and self._stands_left(index, left):
                return index
            depth += {"{": 1, "}": -1}.get(token.terminal, 0)
        return None

    def _nested(self, first: int, stop: int) -> int | None:
        """A keyword that begins a whole item where a statement should begin."""
        for index in (stop, stop - 1):
            if not first < index < len(self.tokens) - 1 or not self._begins_item(index):
                continue
            before, after = self.tokens[index - 1].terminal, self.tokens[index + 1].terminal
            if self.tokens[index].terminal == "effect" and not self._declares(index):
                continue  # the word that stands before changes elsewhere
            begins = before in ("{", "}") or self._begins_line(index)
            if begins and after in ("NAME", "RAW", "TYPE", "static", "secret", "relation"):
                return index
        return None

    def _declares(self, index: int) -> bool:
        """Return whether a name is followed by parameters in parentheses, or by empty ones and a
        brace."""
        behind = [one.terminal for one in self.tokens[index + 2 : index + 5]]
        return behind[:1] == ["("] and (behind[2:] == [":"] or behind[1:] == [")", "{"])

    def _of_world(self, first: int, nested: int, opened: list[Token]) -> bool:
        """Return whether a keyword that begins items begins lines of this world as well."""
        world = self.tokens[first].terminal == "world" and len(opened) == 1
        return world and self.tokens[nested].terminal in WORLD

    def _outsider(self, stop: int, opened: list[Token]) -> int | None:
        """A keyword that begins a line no further right than the line of the open brace."""
        if not opened:
            return None
        left = self._indentation(opened[-1]) + 1
        for index in (min(stop, len(self.tokens) - 1), stop - 1):
            token = self.tokens[index]
            keyword = token.terminal in self.tables.keywords and token.start > opened[-1].start
            if keyword and self._begins_line(index) and self._column(index) <= left:
                return index
        return None

    def _still_open(self, brace: Token, token: Token) -> Diagnostic:
        """An item that begins, well indented, inside a brace that is still open."""
        message, label, hint, place = _NESTED
        words = {"line": self._line(brace), "token": describe(token)}
        return Diagnostic(
            "TW0102",
            message.format(**words),
            self.source.span(token.start, token.end),
            label=label,
            hint=hint.format(**words),
            related=(Related(self.source.span(brace.start, brace.end), place),),
        )

    def _open_braces(self, first: int, stop: int) -> tuple[list[Token], Token | None]:
        """The braces still open before `stop`, and the first that indentation speaks against.

        A `}` that stands further left than the line of the brace it closes was meant for an
        outer brace: then the inner one is the culprit.
        """
        opened: list[tuple[Token, int]] = []
        suspect: Token | None = None
        for index in range(first, stop):
            token = self.tokens[index]
            if token.terminal == "{":
                opened.append((token, self._indentation(token)))
            elif token.terminal == "}" and opened:
                brace, indentation = opened.pop()
                if self._begins_line(index) and self._column(index) <= indentation:
                    suspect = suspect or brace
        return [brace for brace, _ in opened], suspect

    def _unclosed(self, brace: Token, stop: int) -> Diagnostic:
        """A brace that is still open at the token ``stop``, told where its `}` is missing."""
        last = self.tokens[self._body_end(brace, stop)]
        line, at_end = self._line(brace), stop == len(self.tokens)
        message, token = _AT_END, ""
        related = [Related(self.source.span(brace.start, brace.end), "never closed")]
        if not at_end:
            message, noticed = _BEFORE, self.tokens[stop]
            token = describe(noticed)
            related.append(Related(self.source.span(noticed.start, noticed.end), "noticed here"))
        return Diagnostic(
            "TW0102",
            message.format(line=line, token=token),
            self.source.span(last.start, last.end),
            label="`}` is missing after this",
            hint=f"Close the brace of line {line} with `}}`.",
            related=tuple(related),
        )

    def _body_end(self, brace: Token, stop: int) -> int:
        """The index of the last token that stands, by its indentation, in the body of a brace."""
        first = self.tokens.index(brace) + 1
        left = self._indentation(brace) + 1
        for index in range(first, stop):
            outside = left - 1 if self.tokens[index].terminal == "}" else left
            if self._begins_line(index) and self._column(index) <= outside:
                return index - 1
        return stop - 1

    def _too_deep(self, index: int) -> Diagnostic:
        token = self.tokens[index]
        return Diagnostic(
            "TW0101",
            f"Blocks are nested more than {BLOCK_DEPTH} deep.",
            self.source.span(token.start, token.end),
            label="the limit is reached here",
            hint="Move the inner blocks into laws or derives of their own.",
        )

    def _end_token(self) -> Token:
        """The end of the file, shown after the last token."""
        last = self.tokens[-1].end
        return Token(END, "", last, last)

    # ---- where to go on -------------------------------------------------------------------

    def _resume(self, first: int, stop: int, problem: Diagnostic | None) -> int:
        """The index of the next item after one that failed; always beyond `first`."""
        if problem is not None and problem.code == "TW0102" and problem.related:
            intruder = self._intruder(first, stop)
            if intruder is not None:
                return intruder
        depth = 0
        left = self._column(first)
        lines = WORLD if self.tokens[first].terminal == "world" else frozenset[str]()
        for index in range(first, len(self.tokens)):
            if index >= max(stop, first + 1) and self._begins_item(index):
                if self._stands_left(index, left):
                    return index
                behind = self.tokens[index - 1].terminal == "}" or self._begins_line(index)
                if depth == 0 and behind and self.tokens[index].terminal not in lines:
                    return index
            depth = max(0, depth + {"{": 1, "}": -1}.get(self.tokens[index].terminal, 0))
        return len(self.tokens)

    def _begins_item(self, index: int) -> bool:
        """Return whether the token is a word that an item may begin with."""
        terminal = self.tokens[index].terminal
        if terminal not in self.tables.first("item"):
            return False
        if terminal in ("static", "secret"):
            # Attributes have these words too; only a relation or function is an item.
            following = self.tokens[index + 1 : index + 2]
            return any(
                t.terminal in ("relation", "function", "static", "secret") for t in following
            )
        return True

    def _stands_left(self, index: int, left: int) -> bool:
        """Return whether an item keyword begins a line no further right than column `left`."""
        on_line = self._begins_item(index) and self._begins_line(index)
        return on_line and self._column(index) <= left

    # ---- lines ----------------------------------------------------------------------------

    def _line(self, token: Token) -> int:
        return self.source.line_and_column(token.start)[0]

    def _column(self, index: int) -> int:
        return self.source.line_and_column(self.tokens[index].start)[1]

    def _begins_line(self, index: int) -> bool:
        start = self.tokens[index].start
        text = self.source.text
        return not text[text.rfind("\n", 0, start) + 1 : start].strip()

    def _indentation(self, token: Token) -> int:
        """The characters before the first word of the line that a token stands on."""
        line = self.source.line_text(self._line(token))
        return len(line) - len(line.lstrip())


# ---- Comments: kept beside the tree, since no rule of the grammar sees them ----------------------


_COMMENT = re.compile(r"#[^\n]*")


def comments(source: Source, tokens: list[Token]) -> tuple[Comment, ...]:
    """All comments in order; between two tokens stand only white space and comments."""
    text = source.text
    found: list[Comment] = []
    position = 0
    ends = [(token.start, token.end) for token in tokens]
    for start, end in [*ends, (len(text), len(text))]:
        if "#" in text[position:start]:
            found += [_comment(source, m) for m in _COMMENT.finditer(text, position, start)]
        position = end
    return tuple(found)


def docs_of(file: File) -> dict[int, str]:
    """Every doc comment of a file by the line that it stands above."""
    found: dict[int, list[str]] = {}
    for comment in file.comments:
        if comment.doc and comment.own_line:
            line = comment.span.line
            found[line + 1] = [*found.pop(line, ()), comment.text.lstrip("#").strip()]
    texts = {line: "\n".join(lines) for line, lines in found.items()}
    return {line: text for line, text in texts.items() if text}


def _comment(source: Source, match: re.Match[str]) -> Comment:
    start, text = match.start(), match.group().rstrip("\r")
    line_start = source.text.rfind("\n", 0, start) + 1
    own_line = not source.text[line_start:start].strip()
    span = source.span(start, start + len(text))
    return Comment(span, text, text.startswith("##"), own_line)


# ---- Concrete trees to nodes: one item at a time -------------------------------------------------


def build_item(cx: Context, tree: Tree) -> Item | None:
    """The node of an item; None if something in it cannot be built, which is then noted."""
    noted = len(cx.problems)
    cx.restart()
    try:
        item = _item(cx, tree)
    except BuildError as error:
        cx.problems.append(error.diagnostic)
        return None
    return item if len(cx.problems) == noted else None


def _item(cx: Context, tree: Tree) -> Item:
    quirks: list[Tree] = []
    while tree.kind == "quirk":
        quirks.append(tree)
        inner = tree.kids[2]
        if not isinstance(inner, Tree):
            raise LookupError("the grammar and the builder disagree")
        tree = inner
    if len(quirks) > 1:
        raise BuildError(_repeated_quirk(cx, quirks[1]))
    item: Item = _BUILDERS[tree.kind](cx, tree)
    for quirk in quirks:
        item = QuirkDecl(cx.span(quirk), plain(cx, token_of(quirk.kids[1])), item)
    return item


def _repeated_quirk(cx: Context, tree: Tree) -> Diagnostic:
    return Diagnostic(
        "TW0101",
        "An item can have one `quirk` only.",
        cx.source.span(tree.start, tree.kids[1].end),
        label="a second quirk",
        hint="Put both reasons into one text.",
    )


_BUILDERS: Final[dict[str, Build]] = {**DECLARATIONS, **RULES}


# ---- Source text to syntax tree: the one way in --------------------------------------------------


def parse_source(source: Source) -> tuple[File, tuple[Diagnostic, ...]]:
    """Every item of the text that parses, and the errors of the others.

    Never raises, whatever the text. A text without items gives the warning TW0004; the other
    diagnostics are errors TW0101 to TW0104, in the order of the text.
    """
    grammar = tables()
    tokens, problems = lex(source, grammar)
    trees, mistakes = Splitter(source, grammar, tokens).items()
    cx = Context(source, grammar)
    items: list[Item] = []
    for tree in trees:
        item = build_item(cx, tree)
        if item is not None:
            items.append(item)
    span = source.span(0, len(source.text))
    file = File(span, tuple(items), comments(source, tokens))
    problems = _one_a_line([*problems, *mistakes, *cx.problems])
    if not tokens:
        problems.append(_empty(source))
    return file, in_order(problems)


def _one_a_line(found: list[Diagnostic]) -> list[Diagnostic]:
    """The first mistake of each line: a line in another language is one mistake."""
    first: dict[int, Diagnostic] = {}
    for one in in_order(found):
        first.setdefault(0 if one.span is None else one.span.line, one)
    return list(first.values())


def _empty(source: Source) -> Diagnostic:
    return Diagnostic(
        "TW0004",
        f"`{source.name}` has no items.",
        source.span(0, 0),
        label="an item was expected",
        hint="Write an item, such as `type Room` or `world home { }`.",
    )
