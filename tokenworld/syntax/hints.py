"""Diagnostics of unexpected tokens: the token, the expected ones, and the next step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tokenworld.diagnostics import Diagnostic, Edit, Fix, Related, Source
from tokenworld.syntax.foreign.forms import Meant, meant
from tokenworld.syntax.foreign.words import (
    BARE,
    foreign_keyword,
    foreign_sign,
    foreign_type,
    foreign_word,
    misplaced,
)
from tokenworld.syntax.hint_words import (
    COMPARE,
    EFFECTS,
    NUMBERS,
    OPERATORS,
    Found,
    describe,
    expectation,
    folded,
    is_reserved_name,
    letter_case,
    misspelt,
    misspelt_before,
    reserved,
)
from tokenworld.syntax.lalr import Token
from tokenworld.syntax.tables import END

_CLOSING: Final = frozenset({")", "]", "}"})
_OPEN_BLOCKS: Final = frozenset({"if", "for", "chance", "pick", "else", "when"})
_CHECKS: Final = frozenset({"won", "lost", "refused", "unchanged", "winnable", "unwinnable"})


def separator(found: Found) -> str | None:
    """Commas where none belong, or the lack of one."""
    terminal, expected = found.token.terminal, found.expected
    if terminal in _CLOSING and found.back(1) == ",":
        return f"Remove the comma before `{terminal}`."
    if terminal == "," and found.item == "action" and found.back(2) in ("as", "or"):
        return "Write `or` between the texts."
    if terminal == "," and ("let" in expected or "}" in expected):
        what = {"type": "attributes", "object": "values", "table": "rows", "world": "lines"}
        return f"Remove the comma: {what.get(found.item, 'changes')} need no separators."
    if found.item == "enum" and terminal == "}" and found.back(1) == "{":
        return "Write at least one member between the braces."
    if found.item == "enum" and "," in expected and found.is_name(found.token):
        return "Put a comma between the members."
    return None


_CLAUSES: Final = frozenset({"as", "takes", "cost", "until", "during", "when"})
"""The words that may stand between the head of a rule and its body."""


def part(found: Found) -> str | None:
    """Report a part in a wrong form, by the construct that the parser was reading."""
    terminal, before, item = found.token.terminal, found.back(1), found.item
    if terminal == ":" and found.change_expected and foreign_keyword(found):
        return foreign_keyword(found)
    after = "" if found.following is None else found.following.terminal
    doubled = after == "{" or (after in found.expected and after in _CLAUSES)
    if terminal in (":", "then") and doubled and "{" in found.expected:
        return "Remove the colon." if terminal == ":" else "Leave `then` away."
    if terminal in (":", "then") and "{" in found.expected and item != "type":
        return f"Write `{{` instead of `{found.token.text}`: what follows stands in braces."
    if terminal == "(" and before == "for":
        return "Leave out the parentheses: `for x in … { }`."
    if terminal == "of" and "in" in found.expected and item != "scenario":
        return "Write `in`: `for x in … { }`."
    if terminal in ("else", "or") and found.change_expected:
        return f"Put `{terminal}` after the `}}` of an `if`, `chance` or `pick`."
    if terminal in _CHECKS and found.value_expected:
        return f"Let `{terminal}` stand alone, and put commas between the checks."
    if item == "world" and {"goal", "endless"} <= found.expected and terminal == "legend":
        return 'Put it into the braces of the layout: `layout T { … legend "#" { … } }`.'
    if item == "world" and {"goal", "endless"} <= found.expected and found.is_name(found.token):
        return "Put changes of the start into `setup { }`."
    if item == "scenario" and terminal == "and" and "times" in found.expected:
        return "Write another `when`."
    if terminal == "+" and before == "STRING" and found.change_expected:
        return 'Write one text, with values in braces: `"… {x} …"`.'
    return _of_values(found) or _of_items(found)


def _of_values(found: Found) -> str | None:
    """Parts of an expression."""
    terminal, before = found.token.terminal, found.back(1)
    if terminal == "{" and "then" in found.expected:
        return "Write `if … then … else …` for a value."
    if terminal == "{" and found.item == "derive" and before == "=":
        return "Leave the braces away: a derive is a value."
    if terminal == "{" and found.value_expected and before in ("=", "in", "("):
        return "Write a list in brackets: `[a, b]`."
    if terminal == ":" and "for" in found.expected and "STRING" not in found.expected:
        return "Write what is taken of each thing first: `x for x: T where …`."
    if folded(found):
        values = " or `{terminal}(a, b)`" if terminal in ("min", "max") else ""
        return f"Write `{terminal}(… for x: T)`{values.format(terminal=terminal)}."
    if before == "." and "NAME" in found.expected and terminal not in found.tables.reserved:
        return "Write a name after the point."
    return None


def _of_items(found: Found) -> str | None:
    """Parts of a declaration."""
    terminal, item, expected = found.token.terminal, found.item, found.expected
    if item == "use" and terminal == "STRING":
        return "Write the name of the module without quotes: `use folder.module`."
    if item == "use" and terminal == "/":
        return "Write `.` between the names: `use folder.module`."
    if item == "edition":
        return "Write `edition 1`."
    if item == "type" and {":", "{"} <= expected:
        return "Write the parents after a colon: `type A : B`."
    if item == "relation" and terminal == ":" and "symmetric" in expected:
        return "Write `function` for a fact with a value: a relation has none."
    if item == "phase" and terminal == "{":
        return "Leave out the braces: laws name their phase with `during`."
    if item == "world" and terminal == "STRING" and found.back(1) == "world":
        return f"Write a name before the title: `world home {found.token.text[:40]}`."
    if item in ("param", "function") and terminal == "=" and ":" in expected:
        return "Write the type of its value after a colon: `: 0 to 9`."
    if terminal in ("TYPE", "=") and ":" in expected:
        return "Write the type after a colon: `x: T`."
    return None


def number(found: Found) -> str | None:
    """Numbers in forms that the language does not have."""
    token, previous, expected = found.token, found.previous, found.expected
    if token.terminal == "." and "to" in expected and "NAME" not in expected:
        return "Write a range with `to`, as in `0 to 9`."
    if token.terminal == "." and "NUMBER" in expected:
        return "Write a digit before the point, as in `0.5`."
    if previous is None or previous.terminal not in NUMBERS:
        return _digit_first(found) or _spaced_unit(found)
    if token.terminal in NUMBERS and previous.terminal == "QUANTITY":
        if previous.text in ("0x", "0b", "0o"):
            return "Write the number in decimal digits."
        return "Write the number out: numbers have no exponents."
    if token.terminal == ".":
        once = "." in previous.text
        return "Write one point only." if once else "Write a digit after the point, as in `5.0`."
    if token.terminal == "," and found.touches(found.following) and _digits(found):
        return "Leave out the comma: digits stand together, as in `1000`."
    if token.text == "percent":
        return f"Write `{previous.text[:20]}%`."
    return None


def _digits(found: Found) -> bool:
    return found.following is not None and found.following.terminal == "NUMBER"


def _digit_first(found: Found) -> str | None:
    """A name that begins with a digit reads as a number with a unit."""
    token = found.token
    if token.terminal == "QUANTITY" and "NAME" in found.expected and not found.value_expected:
        return f"Begin names with a letter, or put them in backquotes: `` `{token.text[:40]}` ``."
    return None


def _spaced_unit(found: Found) -> str | None:
    """A unit after its number and a blank: it was read as the next statement."""
    previous = found.previous
    if previous is None or previous.terminal != "NAME" or found.back(2) != "NUMBER":
        return None
    if "+=" not in found.expected or len(previous.text) > 3:
        return None
    shown = f"{found.before[-2].text[:20]}{previous.text}"
    return f"Write the unit right after its number: `{shown}`."


def chained(found: Found) -> str | None:
    """Comparisons and negations that need parentheses, or two steps."""
    terminal, expected = found.token.terminal, found.expected
    if terminal == ">" and found.back(1) == "=":
        return "Write `=` alone."
    if terminal in COMPARE | {"in", "is"} and "+" in expected:
        return "Compare one pair at a time, and join the pairs with `and`."
    if terminal == "not" and found.back(1) == "is":
        after = found.following
        plain = after is not None and after.terminal != "TYPE"
        return f"Write `!= {after.text[:40]}`." if plain and after else "Write `not (x is T)`."
    if terminal == "not" and "*" in expected:
        return "Write `not (x in …)`."
    if terminal == "not" and "NUMBER" in expected:
        return "Put the negated part in parentheses: `(not …)`."
    return None


def open_bracket(found: Found) -> Token | None:
    """The parenthesis or bracket that should have been closed before the unexpected token."""
    for opening, closing in (("(", ")"), ("[", "]")):
        if closing not in found.expected or found.token.terminal == closing:
            continue
        depth = 0
        for token in reversed(found.before):
            depth += {closing: 1, opening: -1}.get(token.terminal, 0)
            if depth < 0:
                return token
    return None


def bracket(found: Found) -> str | None:
    """Parentheses and brackets that are open, or that close nothing."""
    terminal = found.token.terminal
    opened = open_bracket(found)
    if opened is not None:
        what = ("parenthesis", ")") if opened.terminal == "(" else ("list", "]")
        return f"Close the {what[0]} with `{what[1]}`."
    if terminal in (")", "]") and not found.value_expected:
        opening = "(" if terminal == ")" else "["
        return f"Remove it, or open it with `{opening}` before."
    return _braceless(found)


def _braceless(found: Found) -> str | None:
    """A statement right after a condition, without braces."""
    if "{" not in found.expected or found.token.terminal == "{":
        return None
    for token in reversed(found.before):
        if token.terminal in _OPEN_BLOCKS:
            return "Put what follows in braces: `{ … }`."
        if token.terminal in ("{", "}"):
            break
    return None


# ---- Hints about parts that are missing where something else, or the end, came instead -----------


_CONDITIONS: Final = frozenset({"require", "when", "if", "where", "until", "always", "never"})
_AMOUNTS: Final = {
    "chance": "a probability",
    "or": "a probability",
    "takes": "a number of ticks",
    "cost": "a number",
    "weight": "a number",
    "reward": "a number",
    "award": "a number",
}
_BODIES: Final = frozenset(
    {"action", "effect", "law", "watch", "birth", "describe", "world", "scenario"}
)
_NAMED: Final = frozenset(
    {"unit", "model", "param", "event", "phase", "action", "effect", "law", "watch", "invariant"}
    | {"conserve", "relation", "function", "scratch", "table", "derive", "object", "actor", "world"}
    | {"believe", "use"}
)


def missing(found: Found) -> str | None:
    """Advise on a part that is missing before the token."""
    if found.value_expected:
        return _value(found)
    return _of_requirement(found) or _text(found) or _of_item(found) or _of_change(found)


def _value(found: Found) -> str | None:
    """A value, a condition or an amount."""
    before, terminal = found.back(1), found.token.terminal
    if terminal not in ("}", "{", "else", "then", ")", "]", ",", END, "when", "during"):
        return None
    if before in _CONDITIONS:
        return f"Write a condition after `{before}`."
    if before == "then":
        if found.item == "scenario":
            return "Write what must hold after `then`, such as `won` or `refused`."
        return "Write a value after `then`."
    if before in _AMOUNTS and not (before == "or" and found.item != "law"):
        return f"Write {_AMOUNTS[before]} after `{before}`."
    if before in OPERATORS | {"=", "+=", "-=", "not", "else", ":", "was"}:
        return f"Write a value after `{before}`."
    return None


def _of_requirement(found: Found) -> str | None:
    """The label and text of a `require`."""
    terminal = found.token.terminal
    if terminal == ":" and "STRING" in found.expected and found.back(2) == "else":
        return "Remove the colon: the text follows the label."
    if found.back(1) == "else" and "STRING" in found.expected:
        return 'Write a label and a text after `else`, as in `else far "Too far."`.'
    if terminal == "STRING" and "else" in found.expected:
        return "Write `else` before the text."
    return None


def _text(found: Found) -> str | None:
    """A text in quotes."""
    if "STRING" not in found.expected:
        return None
    before = found.back(1)
    if before == "say":
        return 'Put the words in quotes: `say "…"`.'
    if before == "as":
        return 'Put the words to type in quotes: `as "go {x}"`.'
    if before in ("scenario", "quirk", "replay", "start", "says", "legend"):
        return f'Write a text in quotes after `{before}`: `{before} "…"`.'
    return None


def _of_item(found: Found) -> str | None:
    """The name, parameters, type or body of an item."""
    before, item, expected = found.back(1), found.item, found.expected
    if "NAME" in expected and len(found.before) == 1 and item in _NAMED:
        return f"Write a name after `{item}`."
    if "TYPE" in expected and "NAME" not in expected and before in ("type", "enum", "is", ":"):
        what = "a type" if before in ("is", ":") else "a name with a capital letter"
        return f"Write {what} after `{before}`."
    if expected == {"("} and len(found.before) <= 3 and found.is_name(found.previous):
        return "Write parentheses after the name, `()` if there are no parameters."
    if item == "scenario" and expected == {"in"}:
        return 'Name the world after the title: `scenario "…" in name { }`.'
    if item == "watch" and "when" in expected and before == ")":
        return "Write `when` and a condition before the brace."
    if item == "world" and "when" in expected and "goal" not in expected:
        return "Write an amount and `when`: `award 1 when …`, `reward 1 when …`."
    if item == "believe" and "weight" in expected:
        return "Write `weight` and a number before the brace."
    if "to" in expected and expected <= {"to"}:
        return "Write a range, such as `0 to 9`."
    if item in ("function", "param", "scratch") and ":" in expected and "{" not in expected:
        return "Write the type of its value after a colon: `: 0 to 9`."
    if item in ("derive", "param") and "=" in expected and found.token.terminal == END:
        return "Write `=` and a value."
    return _of_body(found)


def _of_body(found: Found) -> str | None:
    """The braces of an item, or the two branches of a value."""
    expected, item = found.expected, found.item
    if found.token.terminal == END and "{" in expected and item in _BODIES | {"enum", "table"}:
        return "Write what belongs to it in braces: `{ … }`."
    if "else" in expected and "require" not in expected and _choosing(found):
        return "Write `else` and the other value."
    if item == "type" and {":", "="} <= expected and found.is_name(found.previous):
        return "Write the type of the attribute after a colon: `x: T`."
    return None


def _choosing(found: Found) -> bool:
    """Return whether an `if … then` is open."""
    for token in reversed(found.before):
        if token.terminal in ("then", "if", "else", "{"):
            return token.terminal == "then"
    return False


def _called(found: Found, source: Source) -> Meant | None:
    """A call without parentheses, as in `wound p 2`, or a word before a change."""
    word, token = found.previous, found.token
    if word is None or word.terminal != "NAME" or token.terminal not in ("NAME", "NUMBER"):
        return None
    if found.back(2) == "." or _on_next_line(source, word, token):
        return None
    if found.following is not None and found.following.terminal in ("(", "."):
        return Meant(token, BARE)
    shown = f"{word.text[:20]}({token.text[:20]}, …)"
    return Meant(token, f"Write the arguments in parentheses: `{shown}`.")


_CHANGE: Final = "Write what becomes of it, as in `x.f = …`."


def _of_change(found: Found) -> str | None:
    """Advise on a change whose target alone is written, or on a value without one."""
    expected = found.expected
    if "+=" in expected and found.back(1) == ")":
        return "Write `add` before a fact, `emit` before an event, or `=` and a value after it."
    if "+=" in expected and found.is_name(found.previous):
        return _CHANGE
    if found.change_expected and found.token.terminal == "STRING":
        comment = found.token.text == '""' and found.touches(found.following)
        return "Begin comments with `#`." if comment else 'Write `say` before it: `say "…"`.'
    if found.change_expected and found.token.terminal in (
        "NUMBER", "QUANTITY", "PERCENT", "true", "false", "none",
    ):  # fmt: skip
        return "Write a change, such as `x.f = …`."
    return None


# ---- An unexpected token in words: the token, the expected ones, the next step ------------------


QUOTE_HINT: Final = (
    "Name the text in a text derive and put that in the braces: braces cannot hold a quoted text."
)


def unexpected(source: Source, found: Found) -> Diagnostic:
    """The one diagnostic for a token that does not fit."""
    token = found.token
    for string in found.before[-3:]:
        if string.terminal == "STRING" and _open_brace(string.text) and token.terminal != END:
            return _quote_in_braces(source, string)
    if _cut_off(found, source):
        return _unclosed(found, source)
    foreign = meant(found, source)
    advice = next((hint for hint in (ask(found) for ask in _HINTS) if hint), None)
    if advice == _CHANGE:
        foreign = foreign or _called(found, source)
    if foreign is None and advice and found.previous and advice == misspelt_before(found):
        word = found.previous
        foreign = Meant(word, advice, no=f"{_capital(describe(word))} begins nothing")
    if foreign is not None:
        return _foreign(source, found, foreign)
    span = source.span(token.start, token.end)
    if not found.before:
        message = f"{_capital(describe(token))} does not begin an item."
        label = "expected an item such as `type`, `action` or `world`"
        advice = advice or _start(found)
        if token.text == "}":
            message, label = "This `}` closes nothing.", "no brace is open here"
            advice = "Remove it, or open a brace before it."
    else:
        message = f"{_first(found, advice)}{_inside(found.before)}."
        label = f"expected {expectation(found.tables, found.expected)}"
    opened = open_bracket(found) if advice and advice == bracket(found) else None
    related = () if opened is None else (_opened(source, opened),)
    lacks = advice in (missing(found), bracket(found)) and not found.change_expected
    if (
        advice
        and lacks
        and found.previous is not None
        and _on_next_line(source, found.previous, token)
    ):
        last = found.previous
        span = source.span(last.start, last.end)
        message = f"Something is missing{_inside(found.before)}."
        label = f"expected {expectation(found.tables, found.expected)} after this"
    fix = _replacement(source, found)
    return Diagnostic("TW0101", message, span, label=label, hint=advice, related=related, fix=fix)


def _first(found: Found, hint: str | None, word: Token | None = None) -> str:
    """The message at a word: it is unexpected, or a comma is missing before it."""
    shown = describe(word or found.token)
    lacks = hint is not None and hint.startswith("Put a comma between") and "," in found.expected
    return f"{_LACKS} {shown}" if lacks else f"Unexpected {shown}"


_LACKS: Final = "A comma is missing before"


def _cut_off(found: Found, source: Source) -> bool:
    """Return whether the next item or statement begins, on its line, while a bracket is open."""
    token = found.token
    if token.terminal == END or token.terminal in EFFECTS:
        begins = token.terminal == END or _begins_line(source, token)
    else:
        at_left = source.line_and_column(token.start)[1] == 1
        begins = at_left and token.terminal in found.tables.first("item")
    return begins and open_bracket(found) is not None


def _begins_line(source: Source, token: Token) -> bool:
    line = source.text.rfind("\n", 0, token.start) + 1
    return not source.text[line : token.start].strip()


def _unclosed(found: Found, source: Source) -> Diagnostic:
    """A bracket that is open where the next item begins, told after the last word before it."""
    opened, last = open_bracket(found), found.before[-1]
    assert opened is not None
    closing = ")" if opened.terminal == "(" else "]"
    return Diagnostic(
        "TW0101",
        f"`{opened.text}` is never closed{_inside(found.before)}.",
        source.span(last.start, last.end),
        label=f"`{closing}` is missing after this",
        hint=bracket(found),
        related=(_opened(source, opened),),
    )


def _on_next_line(source: Source, last: Token, token: Token) -> bool:
    """Return whether the statement ended with its line, and only the next token shows the
    mistake."""
    return "\n" in source.text[last.end : token.start]


def _start(found: Found) -> str:
    """Advise on something that begins no item."""
    token, follows = found.token, found.following
    behind = "" if follows is None else follows.terminal
    if token.terminal == "STRING":
        return "Begin comments with `#`."
    if token.terminal in ("(", ":"):
        return "Write items such as `type Room` or `action go() { }`; `tw import` reads PDDL."
    if token.terminal in ("symmetric", "acyclic"):
        return f"Write `{token.text}` after the parentheses."
    if token.terminal == "TYPE" and behind == "=":
        return "Write `type T { }`, or `enum E { a, b }`."
    if found.is_name(token) and behind in ("=", ":"):
        return "Write `param x: 0 to 9 = 3`, or `object x: T` for a thing."
    if found.is_name(token) and behind == "(":
        return "Write its kind before the name: `action`, `law`, `derive` or `relation`."
    if behind in found.tables.first("item"):
        return f"Leave `{token.text[:20]}` away: `{behind}` begins the item."
    return "Begin an item with a word such as `type` or `action`, and a comment with `#`."


def _foreign(source: Source, found: Found, foreign: Meant) -> Diagnostic:
    """A word that other languages read, told where it stands."""
    token = foreign.token
    message = f"{_capital(describe(token))} does not begin an item."
    if found.before:
        message = f"{_first(found, foreign.hint, token)}{_inside(found.before)}."
    label = "cannot stand here"
    if message.startswith(_LACKS):
        label = "expected `,` before this"
    if foreign.no:
        message = f"{foreign.no}{_inside(found.before)}."
    if foreign.no.endswith(" missing"):
        label = f"expected {expectation(found.tables, found.expected)} after this"
    if foreign.brace:
        message, label = f"A `{{` is missing{_inside(found.before)}.", "expected `{` after this"
    span = source.span(token.start, token.end)
    return Diagnostic("TW0101", message, span, label=label, hint=foreign.hint)


def _opened(source: Source, token: Token) -> Related:
    return Related(source.span(token.start, token.end), "opened here")


def _inside(before: list[Token]) -> str:
    """` in the action `take``: which item is being read."""
    index = next((i for i, t in enumerate(before) if t.terminal not in ("static", "secret")), 0)
    first = before[index]
    if first.text == "quirk" or not first.text.isalpha():
        return ""
    if index + 1 < len(before) and before[index + 1].terminal in ("NAME", "TYPE"):
        name = before[index + 1].text
        return f" in the {first.text} `{name if len(name) <= 40 else name[:39] + '…'}`"
    article = "an" if first.text[0] in "aeio" else "a"
    return f" in {article} `{first.text}`"


def _open_brace(text: str) -> bool:
    """Return whether a quoted text ends inside braces: its author put a quote into them."""
    return text.rfind("{") > text.rfind("}")


def _quote_in_braces(source: Source, string: Token) -> Diagnostic:
    brace = string.start + string.text.rfind("{")
    return Diagnostic(
        "TW0104",
        "The text ends inside its braces.",
        source.span(brace, string.end),
        label="this quote ends the text, not something in the braces",
        hint=QUOTE_HINT,
    )


def _replacement(source: Source, found: Found) -> Fix | None:
    token, expected = found.token, found.expected
    span = source.span(token.start, token.end)
    if _compares(found):
        return Fix("compare with `==`", (Edit(span, "=="),))
    if token.terminal == "==" and "=" in expected and "==" not in expected:
        return Fix("set with `=`", (Edit(span, "="),))
    if is_reserved_name(found):
        return Fix("quote the name", (Edit(span, f"`{token.text}`"),))
    return None


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def _compares(found: Found) -> bool:
    """Return whether a lone `=` stands where `==` would fit."""
    after = found.following
    arrow = found.touches(after) and after is not None and after.terminal in ("<", ">")
    return found.token.terminal == "=" and "==" in found.expected and not arrow


def _assignment(found: Found) -> str | None:
    if _compares(found):
        return "Write `==` to compare."
    if found.token.terminal == "==" and "=" in found.expected and "==" not in found.expected:
        return "Write `=` to set a value."
    return None


# The first hint that fits is given, so the most certain ones come first.
_HINTS: Final[tuple[Callable[[Found], str | None], ...]] = (
    misplaced,
    foreign_word,
    _assignment,
    foreign_sign,
    foreign_type,
    misspelt,
    chained,
    number,
    separator,
    reserved,
    letter_case,
    part,
    missing,
    bracket,
)
