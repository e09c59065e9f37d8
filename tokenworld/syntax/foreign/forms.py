"""Statements and items in the forms of other languages, and their form in this one.

The unexpected token is often after the mistake; a form names the word to report.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Final

from tokenworld.diagnostics import Source, edit_distance
from tokenworld.diagnostics.frozen import frozen
from tokenworld.syntax.foreign.words import (
    BARE,
    CALLED,
    COMMENT,
    FUNCTIONS,
    IN_BODIES,
    IN_WORLDS,
    LITERALS,
    NAMES,
    REFUSE,
    VALUES,
    foreign_type,
    touching,
)
from tokenworld.syntax.hint_words import (
    COMPARE,
    HYPHEN,
    INFIX,
    NO_LIST,
    NUMBERS,
    OPERATORS,
    RANGE,
    WORLD,
    Found,
    did_you_mean,
    is_reserved_name,
    tabled,
)
from tokenworld.syntax.lalr import Token
from tokenworld.syntax.tables import END

# ---- What is written elsewhere and fails only later in the statement ---------------------


@frozen
class Meant:
    """The word of a statement that went wrong, which may stand before the unexpected token;
    ``brace``: the brace after it is missing; ``no``: what the word is not."""

    token: Token
    hint: str
    brace: bool = False
    no: str = ""


def meant(found: Found, source: Source) -> Meant | None:
    """The word of another language in the statement that failed, and what to write instead."""
    last = found.previous
    if found.item == "type" and found.back(1) == ":" and last and _begins_line(found.token, source):
        return Meant(last, "Write `{` instead of `:`: the attributes stand in braces.")
    if found.token.text in _GUARDS and found.item == "action" and _lacks_brace(found):
        return Meant(found.token, _REQUIRES)
    if _lacks_brace(found) and found.previous and _begins_line(found.token, source):
        return Meant(found.previous, "Write `{` after it: the body stands in braces.", brace=True)
    said = _statement(found, source)
    if check := _check(found):
        return check
    formed = next((one for one in (ask(said, found) for ask in _FORMS) if one), None)
    formed = formed or _early(said, found, source)
    row = None if formed or foreign_type(found) else tabled(found)
    if row is None:
        return formed
    alone = found.expected in ({"("}, {"="}) and _begins_line(found.token, source)
    no = "A name with `-` stands without backquotes" if row == HYPHEN else ""
    if alone:
        no = f"{'Parentheses are' if '(' in found.expected else 'A value is'} missing"
    return Meant(found.previous if alone and found.previous else found.token, row, no=no)


def _check(found: Found) -> Meant | None:
    """A word behind `then` that is nearly a check, or one that tells of a change."""
    word, before = found.previous, found.back(2)
    if found.item != "scenario" or word is None or before not in _CHECKED:
        return None
    if word.terminal in ("emit", "say"):
        told = found.token.text if len(found.token.text) <= _SHOWN else '"…"'
        behind = "" if found.token.terminal == "STRING" else "(…)"
        hint = f"Write `{word.terminal}s {told}{behind}`."
        return Meant(word, hint, no=f"`{word.terminal}` is no condition")
    if not found.is_name(word) or found.token.terminal in (".", "("):
        return None
    near = (one for one in sorted(_SCENARIO_CHECKS) if edit_distance(word.text, one, 1) == 1)
    meant = NAMES.get(word.text) if word.text in _ENDED else None
    check = meant or next((f"Write `{one}`." for one in near), None)
    return Meant(word, check, no=f"`{word.text[:40]}` is no check") if check else None


_SHOWN: Final = 60
"""Characters of a text that a hint repeats."""
_CHECKED: Final = frozenset({"then", "always", "never", ","})
_ENDED: Final = frozenset({"win", "wins", "victory", "lose", "loses", "loss", "defeat"})
_SCENARIO_CHECKS: Final = frozenset(
    {"won", "lost", "refused", "unchanged", "winnable", "unwinnable", "within", "emits", "says"}
)

_GUARDS: Final = frozenset(
    {"requires", "precondition", "preconditions", "pre", "condition", "conditions"}
    | {"guard", "needs", "provided", "where"}
)
_REQUIRES: Final = 'Put the condition into the body: `require … else label "…"`.'


def _lacks_brace(found: Found) -> bool:
    """Return whether the body of an item should have begun."""
    words = ("action", "effect", "law", "watch", "world", "scenario", "birth", "describe")
    headed = found.item in words
    opened = any(one.terminal == "{" for one in found.before)
    return headed and not opened and "{" in found.expected


def _statement(found: Found, source: Source) -> list[Token]:
    """The tokens of the statement under way: from the beginning of its line, or after a brace,
    to the unexpected token."""
    said = [found.token]
    for token in reversed(found.before):
        if _begins_line(said[0], source) and said[0] is not found.token:
            break
        if token.terminal in ("{", "}") and said[0] is not found.token:
            break
        said.insert(0, token)
    return said


def _begins_line(token: Token, source: Source) -> bool:
    line = source.text.rfind("\n", 0, token.start) + 1
    return not source.text[line : token.start].strip()


def _literal(said: list[Token], found: Found) -> Meant | None:
    """`None`, `True` and `False`, which read as types."""
    for token in reversed(said[-3:]):
        if token.terminal == "TYPE" and token.text in LITERALS:
            return Meant(token, LITERALS[token.text])
    return None


def _head(said: list[Token], found: Found) -> Meant | None:
    """A word that began the statement."""
    head = said[0]
    if not found.is_name(head) or len(said) < 2 or head is found.before[0]:
        return None
    if found.item == "world" and head.terminal in WORLD:
        return None
    table = IN_WORLDS if found.item == "world" and "goal" in found.expected else IN_BODIES
    if found.item in ("type", "enum", "scenario") or said[1].terminal in _SETS:
        return None
    hint = table.get(head.text)
    no = f"`{head.text[:40]}` begins nothing" if head.terminal == "NAME" else ""
    return None if hint is None else Meant(head, hint, no=no)


_CHANGES: Final = frozenset({"=", "+=", "-="})
_SETS: Final = _CHANGES | {"."}


def _call(said: list[Token], found: Found) -> Meant | None:
    """A statement written as a call, and a function of a value."""
    hint = CALLED.get(said[0].text) if len(said) > 1 and said[1].terminal == "(" else None
    if hint is not None and "+=" in found.expected:
        return Meant(said[0], hint)
    behind = () if found.following is None else (found.following,)
    for token, after in pairwise((*said, *behind)):
        opens = after.terminal == "(" or found.is_name(after)
        picked = found.back(1) == "pick" and token is found.token
        if token.text in FUNCTIONS and opens and token is not said[0] and not picked:
            return Meant(token, FUNCTIONS[token.text])
    return None


def _in_type(said: list[Token], found: Found) -> Meant | None:
    """`x in T`: the things of a type are named after a colon."""
    for place, token in enumerate(said[:-1]):
        after = said[place + 1]
        if token.terminal != "in" or after.terminal != "TYPE" or not place:
            continue
        if place + 2 >= len(said) or said[place + 2].terminal != ".":
            return Meant(token, f"Write `{said[place - 1].text[:20]}: {after.text[:40]}`.")
    return None


def _is_value(said: list[Token], found: Found) -> Meant | None:
    """`x is none`: values are compared, types are asked for."""
    token = found.token
    if found.back(1) != "is":
        return None
    if token.terminal in ("none", "true", "false", "NUMBER", "STRING"):
        return Meant(said[-2], f"Write `== {token.text[:20]}`.")
    follows = found.following
    if token.terminal != "not" or follows is None:
        return None
    literal = follows.terminal in ("none", "true", "false")
    return Meant(said[-2], f"Write `!= {follows.text}`.") if literal else None


def _choice(said: list[Token], found: Found) -> Meant | None:
    """`a if c else b`."""
    if found.token.terminal != "else":
        return None
    for before, token in pairwise(said):
        if token.terminal == "if" and before.terminal not in ("else", "{", "}"):
            return Meant(token, "Write `if … then … else …` for a value.")
    return None


def _negated_fact(said: list[Token], found: Found) -> Meant | None:
    contained = found.following is not None and found.following.terminal == "in"
    near = len(said) > 1 and said[-2].terminal == "NAME" and found.token.start == said[-2].end + 1
    headed = said[0].terminal == "require" and "else" not in _signs(said) and not contained
    if found.token.terminal == "not" and near and headed and found.change_expected:
        return Meant(found.token, "Write `!=` to compare, or `and not` to join conditions.")
    if found.token.terminal == "not" and found.change_expected and not contained:
        return Meant(found.token, "Write `remove` before a fact, or `= false` after a value.")
    return None


def _range(said: list[Token], found: Found) -> Meant | None:
    """Types of numbers and collections that are written otherwise."""
    token, before = found.token, found.back(1)
    if before in ("int", "real") and token.terminal in ("(", "[", "NUMBER", "<"):
        return Meant(token, RANGE)
    words = ("type", "function", "scratch", "param", "table", "action", "effect", "law", "derive")
    if found.item not in words:
        return None
    typed = "TYPE" in found.expected and "NAME" not in found.expected
    if typed and token.text in ("range", "[", "between") and before == ":":
        return Meant(token, RANGE)
    if typed and token.text in ("list", "set", "array", "dict", "map", "tuple", "queue"):
        return Meant(token, NO_LIST)
    if before == "TYPE" and token.terminal in ("[", "<") and "?" in found.expected:
        optional = said[-2].text in ("Optional", "Maybe", "Option")
        return Meant(said[-2], "Write `T?`." if optional else NO_LIST)
    if token.terminal == "or" and found.back(1) == "TYPE" and "?" in found.expected:
        return Meant(token, f"Write `{said[-2].text[:40]}?`.")
    if token.terminal == "?" and found.is_name(found.previous) and ":" in found.expected:
        return Meant(token, "Write the question mark after the type: `x: T?`.")
    return _limits(found)


def _limits(found: Found) -> Meant | None:
    """The range or the default of an attribute, told by words."""
    token, previous = found.token, found.previous
    if found.item == "type" and token.terminal in ("min", "max"):
        return Meant(token, RANGE)
    bound = found.following is not None and found.following.text in ("min", "max")
    if found.item == "type" and token.terminal == "," and bound:
        return Meant(token, RANGE)
    if previous is not None and previous.text in ("default", "defaults", "initially", "init"):
        return Meant(previous, "Write `=` before the value: `x: 0 to 9 = 3`.")
    return None


def _of_world(said: list[Token], found: Found) -> Meant | None:
    """Lines of a world: objects, their values, and goals."""
    token, head = found.token, said[0]
    if found.item not in ("world", "object"):
        return None
    if found.expected == {"="} and token.terminal == ":":
        return Meant(token, "Write `=` before a value: `{ at = hall }`.")
    if {"goal", "endless"} <= found.expected:
        return _line_of_world(found)
    nameless = found.back(1) in _ENDINGS or found.expected == {":"}
    named = found.following is not None and found.following.terminal == ":"
    nameless = nameless and not (named and is_reserved_name(found))
    if head.terminal in _ENDINGS and nameless:
        return Meant(token, f"Write a name, a colon and a condition: `{head.text} name: …`.")
    return None


_ENDINGS: Final = frozenset({"goal", "lose", "stop"})


def _line_of_world(found: Found) -> Meant | None:
    """Something that begins no line of a world, and may belong to the line before."""
    token, follows = found.token, found.following
    if token.text in IN_WORLDS:
        return Meant(token, IN_WORLDS[token.text])
    if token.text in ("(", "at", "in", "on", "with") and "aka" in found.expected:
        return Meant(token, VALUES)
    if token.terminal in ("is", "=") and "aka" in found.expected:
        return Meant(token, "Write the type after a colon: `object x: T { }`.")
    if found.is_name(token) and follows is not None and follows.terminal == "=":
        return Meant(token, "Write `object x: T { f = … }`; other changes belong into `setup { }`.")
    named = found.is_name(token) and found.is_name(follows)
    begins = found.back(1) in ("{", "}", "TYPE", "STRING")
    named = named and begins and did_you_mean(token.text, sorted(WORLD)) is None
    if follows is not None and (named or token.terminal == "TYPE" or follows.terminal == ":"):
        return Meant(token, "Write `object x: T { f = … }`.")
    return None


def _of_header(said: list[Token], found: Found) -> Meant | None:
    """The first lines of actions and laws."""
    token, expected = found.token, found.expected
    follows = "" if found.following is None else found.following.terminal
    if "or" in expected and token.terminal == found.back(1) == "STRING":
        return Meant(token, "Write `or` between the texts.")
    if "as" in expected and "STRING" in (token.terminal, follows if token.terminal == ":" else ""):
        return Meant(token, "Write `as` before the words to type.")
    if token.terminal == "TYPE" and ":" in expected and found.is_name(found.previous):
        return Meant(token, f"Write a colon before the type: `x: {token.text[:40]}`.")
    if found.item not in ("law", "watch") or "{" not in expected or found.back(1) != ")":
        return _of_law(found)
    if token.text in ("if", "while", "where", "unless", "on"):
        return Meant(token, "Write `when` and a condition before the brace.")
    if token.text in ("every", "each"):
        return Meant(token, "Write `when tick() mod 3 == 0`.")
    return _of_law(found)


def _of_law(found: Found) -> Meant | None:
    if found.item == "law" and found.token.terminal == "chance" and "when" in found.expected:
        return Meant(found.token, "Put it into the body: `{ chance 50% { … } }`.")
    return None


def _statement_end(said: list[Token], found: Found) -> Meant | None:
    """Advise on a word that other languages write after a change."""
    token, follows = found.token, found.following
    if found.change_expected and token.terminal == "effect":
        return Meant(token, BARE)
    if found.change_expected and token.terminal == "when" and said[0] is not token:
        return Meant(token, "Write `if … { }` around the change.")
    if token.terminal == ":" and found.before and said[-2].text in ("require", "requires"):
        return Meant(token, "Write `require` and the condition, without a colon.")
    if found.back(1) == "create" and token.terminal == "TYPE":
        fields = " { … }" if follows is not None and follows.terminal == "(" else ""
        return Meant(token, f"Write a name before the type: `create x: {token.text[:40]}{fields}`.")
    if token.terminal == "+" and found.back(1) == "=" and found.value_expected:
        return Meant(token, "Write `+=`.")
    if token.terminal == "=" and found.back(1) in ("<", ">"):
        return Meant(token, f"Write `{found.back(1)}=` without a blank.")
    if token.terminal == "," and follows is not None and follows.terminal == "else":
        return Meant(token, "Remove the comma before `else`.")
    joins = "else" in found.expected and (follows is None or follows.terminal != "STRING")
    if token.terminal == "," and said[0].terminal == "require" and joins:
        return Meant(token, "Join conditions with `and`.")
    if found.back(1) == "STRING" and token.terminal == "STRING" and said[-3].terminal == "else":
        return Meant(said[-2], 'Write the label without quotes: `else label "…"`.')
    last = found.before[-3:]
    if [one.terminal for one in last] == ["else", "STRING", "NAME"] and token.terminal != "STRING":
        label = last[-1].text[:40]
        hint = f'Write the label before the text: `else {label} "…"`.'
        return Meant(last[-1], hint, no=f"The label `{label}` stands behind its text")
    behind = "{" if found.following is None else found.following.terminal
    if found.back(1) == "during" and token.terminal == "when" and behind not in ("{", "when"):
        return Meant(token, "Write the name of a phase after `during`.")
    if token.terminal == "," and found.item == "phase":
        return Meant(token, "Write a `phase` for each.")
    return None


def _broken_line(said: list[Token], found: Found) -> Meant | None:
    """A statement or an item that ended too early or too late."""
    token, follows = found.token, found.following
    first = next((n for n, one in enumerate(found.before) if one is said[0]), 0)
    before = found.before[first - 1] if first else None
    if token.terminal in ("=", "+=", "-=") and before is not None and before.terminal in _CHANGES:
        return Meant(before, f"Write a value after `{before.text}`.")
    if found.back(1) == "}" and END in found.expected and "{" not in found.expected:
        return Meant(found.before[-1], "Remove it: it closes the item, and more follows.")
    if token.terminal == "[" and "{" in found.expected:
        return Meant(token, "Write `{` instead.")
    changes = follows is not None and follows.terminal in _CHANGES and "+=" in found.expected
    if changes and found.is_name(token) and found.is_name(said[0]) and said[0] is found.previous:
        return Meant(token, f"Write a point between the two: `{said[0].text}.{token.text}`.")
    return None


def _of_item(said: list[Token], found: Found) -> Meant | None:
    """An item that begins with a capital letter."""
    small = found.token.text.lower()
    if found.before or found.token.terminal != "TYPE":
        return None
    if small in found.tables.first("item"):
        return Meant(found.token, f"Write `{small}` with a small letter.")
    return None


_PARENTHESES: Final = frozenset({"action", "law", "watch", "effect"})
_FOLLOW_VALUE: Final = frozenset({".", "(", "==", "!=", "<", ">", "<=", ">=", "+", "-", "*"})
_CLOSERS: Final = frozenset({"end", "endif", "endfor", "done", "fi", "endwhile"})
_PREFIXED: Final = "Leave it away: every text shows the values in its braces."
_PREFIXES: Final = frozenset({"f", "r", "b", "u"})


def _of_declaration(said: list[Token], found: Found) -> Meant | None:
    """Match heads of items as other languages write them."""
    token, item, before = found.token, found.item, found.back(1)
    follows = "" if found.following is None else found.following.terminal
    nameless = len(found.before) == 1 and token.terminal in ("when", "as", "during", "{", "(")
    if item in _PARENTHESES and nameless:
        return Meant(token, f"Write a name and parentheses after it: `{item} name() …`.")
    if before == "object" and token.terminal == "TYPE" and found.is_name(found.following):
        named = "" if found.following is None else found.following.text[:40]
        return Meant(token, f"Write the name first: `object {named}: {token.text[:40]}`.")
    if item == "enum" and token.terminal == "=" and "{" in found.expected:
        return Meant(token, "Write the members in braces: `enum E { a, b }`.")
    if item == "derive" and token.terminal == "{" and "=" in found.expected:
        return Meant(token, "Write `=` and a value: a derive has no body.")
    if item == "derive" and before == ":" and found.is_name(token) and follows in _FOLLOW_VALUE:
        return Meant(found.before[-1], "Write `=` before the value.")
    facts = item in ("relation", "function", "scratch", "table") and before in ("(", ",")
    if facts and token.terminal == "TYPE" and follows in (",", ")"):
        return Meant(token, f"Write a name before the type: `x: {token.text[:40]}`.")
    typed = item == "type" and before == "TYPE" and token.terminal in ("}", "?")
    if typed and found.back(2) == "=" and "." in found.expected:
        return Meant(found.before[-2], "Write the type of an attribute after a colon: `x: T`.")
    return None


def _of_body(said: list[Token], found: Found) -> Meant | None:
    """Match statements and values of bodies as other languages write them."""
    token, previous, before = found.token, found.previous, found.back(1)
    follows = "" if found.following is None else found.following.terminal
    if said[0].terminal in ("-", "*", "+") and said[0] is previous and found.value_expected:
        return Meant(said[0], "Leave it away: each change begins with a word.")
    if previous is not None and previous.text in _CLOSERS and found.back(2) == "}":
        return Meant(previous, "Remove it: a brace closes the body.")
    if token.terminal in ("and", "or") and found.value_expected and follows == "(":
        return Meant(token, f"Write `{token.terminal}` between the conditions.")
    if token.text in _PREFIXES and follows == "STRING" and found.touches(found.following):
        return Meant(token, _PREFIXED)
    marked = token.terminal == "STRING" and touching(previous, token)
    if marked and previous is not None and previous.text in _PREFIXES:
        return Meant(previous, _PREFIXED)
    if token.terminal == "." and before == "STRING" and said[0].terminal == "say":
        return Meant(token, 'Write one text, with values in braces: `"… {x} …"`.')
    if said[0].terminal in ("add", "remove") and token.terminal in _CHANGES:
        return Meant(token, "Leave the value away: `add` makes a fact true, `remove` false.")
    if before == "add" and token.terminal in ("NUMBER", "QUANTITY", "-"):
        return Meant(said[-2], "Write `x.f += 1`.")
    if before == "let" or (said[0].terminal == "let" and token.terminal == ":"):
        hint = "Write `=` alone" if follows == "=" else "Leave the type away"
        return Meant(token, f"{hint}: `let x = …`.") if token.terminal == ":" else None
    if found.item == "scenario" and before == "given" and token.terminal != "{":
        return Meant(token, "Put the changes in braces: `given { x.f = … }`.")
    return None


# ---- What stands in the statement before the unexpected token ------------------------------------


_CONDITION_HEADS: Final = frozenset(
    {"require", "if", "when", "where", "then", "goal", "lose", "always", "never", "derive", "add"}
    | {"remove"}
)


def _early(said: list[Token], found: Found, source: Source) -> Meant | None:
    """A hint about the mistake before the unexpected token, which only shows it."""
    behind = () if found.following is None else (found.following,)
    whole = (*said, *behind)
    for place, (one, other) in enumerate(pairwise(whole)):
        signs = (one.text, other.text) in _COMMENT_SIGNS
        number = other.text == "/" and any(t.terminal in NUMBERS for t in whole[place + 2 :][:1])
        minus = found.token is one and "+=" in found.expected
        if one.end == other.start and signs and not number and not minus:
            less = one.text == "-" and source.text[other.end : other.end + 1].isalpha()
            less = less and found.change_expected
            return Meant(one, "Write `x.f -= 1`." if less else COMMENT)
    for one in said[:0:-1]:
        operator = "+=" in found.expected or "==" in found.expected or "given" in found.expected
        if one.text in INFIX and one.terminal == "NAME" and operator and one in said[-3:]:
            return Meant(one, INFIX[one.text])
    return _capital(said, found) or _word(said, found) or _line_before(said, found, source)


_COMMENT_SIGNS: Final = frozenset({("-", "-"), ("/", "/"), ("/", "*"), ("<", "!")})


def _capital(said: list[Token], found: Found) -> Meant | None:
    """A keyword with a capital letter."""
    token, previous = found.token, found.previous
    small = token.text.lower()
    if token.terminal == "TYPE" and found.before and small in found.expected:
        return Meant(token, f"Write `{small}` with a small letter.")
    if token.terminal == "TYPE" and found.change_expected and small in IN_BODIES:
        return Meant(token, IN_BODIES[small], no=f"`{token.text[:40]}` begins nothing")
    if previous is None or previous.terminal != "TYPE" or found.expected != {"."}:
        return None
    if previous.text.lower() in ("not", "and", "or", "if", "any", "all", "count"):
        return Meant(previous, f"Write `{previous.text.lower()}` with a small letter.")
    if found.back(2) in ("==", "!="):
        hint = "Write `x is T` to ask for a type; members begin with a small letter."
        return Meant(previous, hint)
    if found.back(2) == "(" and found.back(3) in _FOLDS:
        where = "" if token.terminal == ")" else " where …"
        whole = f"{found.back(3)}(x for x: {previous.text[:40]}{where})"
        return Meant(previous, f"Write `{whole}`.")
    hint = "Begin this name with a small letter, or write a member as `Type.name`."
    return None if found.back(2) == "(" else Meant(previous, hint)


_FOLDS: Final = frozenset({"any", "all", "count", "sum", "min", "max"})


def _word(said: list[Token], found: Found) -> Meant | None:
    """A word too many, or arguments without parentheses."""
    head, second = said[0], said[1] if len(said) > 1 else None
    if head.terminal == "require" and second is not None and second.text in ("that", "unless"):
        hint = "Leave the word away." if second.text == "that" else "Write `require not …`."
        return Meant(second, hint)
    joined = any(one.terminal == "and" for one in said[2:-1])
    if head.terminal == "NAME" and found.token.terminal in _CHANGES and joined:
        place = next(one for one in said[2:-1] if one.terminal == "and")
        if any(one.terminal in _CHANGES for one in said[: said.index(place)]):
            return Meant(place, "Leave `and` away: changes follow each other.")
    if head.terminal not in _CONDITION_HEADS or "{" in found.expected:
        return None
    if head.terminal == "when" and found.item == "scenario":
        return None
    for one, other in pairwise(said[1:]):
        plain = one.terminal == "NAME" and other.text in ("least", "most")
        if one.text == "at" and plain:
            return Meant(other, "Write `>=` or `<=`.")
        if head.terminal in ("add", "remove") and other.text in ("from", "to", "into", "in"):
            return Meant(other, "Write the fact with its arguments: `add r(a, b)`.")
        if found.back(1) == "else" or did_you_mean(one.text, ["else", "and", "where", "when"]):
            continue
        plain = one.terminal == other.terminal == "NAME"
        if plain and (other is found.token or said.index(other) >= len(said) - 3):
            hint = f"Write the arguments in parentheses: `{one.text[:20]}({other.text[:20]})`."
            third = found.following if other is found.token and found.back(2) != "(" else None
            if head.terminal in ("add", "remove") and other is found.previous:
                third = found.token
            if third is not None and third.terminal == "NAME":
                hint = f"Write the relation first: `{other.text[:20]}({one.text[:20]}, …)`."
            elif {",", ")"} <= found.expected:
                hint = "Put a comma between the arguments."
            return Meant(other, hint)
    return None


def _line_before(said: list[Token], found: Found, source: Source) -> Meant | None:
    """A hint about a missing or surplus sign in the line before, if the next line shows it."""
    token, previous = found.token, found.previous
    if previous is None or not found.before:
        return None
    if previous.terminal == "." and _begins_line(token, source):
        return Meant(previous, "Remove the point, or write a name after it.")
    if _begins_line(token, source) and "+=" in found.expected and found.change_expected is False:
        if previous.terminal == "RAW":
            return Meant(previous, 'Put texts in double quotes: `"`.')
        if previous.terminal == "NAME" and not _begins_line(previous, source):
            unit = found.back(2) in NUMBERS
            hint = "Leave the word away, or write a unit right after its number: `3kg`."
            return Meant(previous, hint) if unit else None
    if previous.terminal == "none" and token.terminal == "(" and touching(previous, token):
        return Meant(previous, "Write `not any(… for x: T)`.")
    labelled = token.terminal == "STRING" and "+=" in found.expected
    if labelled and said[0].terminal == "require" and previous.terminal == "NAME":
        words = found.before[-3:]
        if words[0].terminal == "else" and words[1].terminal == "NAME":
            return Meant(words[1], 'Write one label: `else label "…"`.')
        hint = 'Write `else` before the label: `require … else label "…"`.'
        return Meant(previous, did_you_mean(words[1].text, ["else"]) or hint)
    if "{" in found.expected and _begins_line(token, source):
        around = next((one for one in reversed(found.before[-12:]) if one.terminal == "if"), None)
        if around is not None and not _begins_line(around, source):
            place = found.before.index(around)
            if found.before[place - 1].terminal not in ("else", "{", "}"):
                return Meant(around, "Write `if … { }` around the change.")
    first = next((n for n, one in enumerate(found.before) if one is said[0]), 0)
    before = found.before[first - 1] if first else None
    signs = OPERATORS | {"not"}
    if before is not None and before.terminal in signs and token.terminal == "STRING":
        return Meant(before, f"Write a value after `{before.text}`.")
    return None


# ---- Heads, calls and choices in the order of other languages ------------------------------------


def _reordered(said: list[Token], found: Found) -> Meant | None:
    """Match statements with the right words in another order, or with a sign instead of a word."""
    token, before, follows = found.token, found.back(1), found.following
    behind = "" if follows is None else follows.terminal
    if token.terminal in _FLAGS and found.item == "type" and "static" in found.expected:
        return Meant(token, f"Write `{token.text}` after the type: `x: T {token.text}`.")
    if token.terminal == ":" and said[0].terminal == "if" and behind == "NAME":
        refuses = "" if follows is None else follows.text
        if refuses == "return" or IN_BODIES.get(refuses) == REFUSE:
            return Meant(said[0], REFUSE)
    arrow = (before, token.terminal) in (("-", ">"), ("=", ">"))
    if arrow and said[0].text == "require" and behind == "NAME":
        return Meant(said[-2], 'Write `else` before the label: `require … else label "…"`.')
    if said[0].terminal == "for" and token.terminal in COMPARE and "," in _signs(said):
        comma = next(one for one in reversed(said) if one.terminal == ",")
        return Meant(comma, "Write `where` before the condition.")
    if said[-2:][0].text in ("match", "switch", "case") and said[0].terminal == "derive":
        return Meant(said[-2], "Write `if … then … else …` for a value.")
    if token.terminal == "TYPE" and before == "NAME" and said[-2].text == "new":
        name = said[1].text[:20] if said[0].terminal == "let" and len(said) > 1 else "x"
        return Meant(said[-2], f"Write `create {name}: {token.text[:40]} {{ f = … }}`.")
    return _bare_call(said, found) or _title(found)


def _signs(said: list[Token]) -> set[str]:
    return {one.terminal for one in said}


def _bare_call(said: list[Token], found: Found) -> Meant | None:
    """A function before its argument without parentheses, as in ``require free n.at``."""
    if said[0].terminal != "require" or len(said) < 4:
        return None
    word, argument, point = said[1:4]
    named = word.terminal == argument.terminal == "NAME"
    if not named or point.terminal != "." or touching(word, argument):
        return None
    path = "".join(one.text for one in said[2:5])[:40]
    hint = f"Write the arguments in parentheses: `{word.text[:20]}({path})`."
    return Meant(argument, hint)


def _title(found: Found) -> Meant | None:
    """The name of the world of a scenario, written like a type."""
    token = found.token
    named = len(found.before) == 3 and found.back(1) == "in"
    if found.item != "scenario" or token.terminal != "TYPE" or not named:
        return None
    name = token.text[:1].lower() + token.text[1:40]
    return Meant(token, f"Begin the name of a world with a small letter: `in {name}`.")


_FLAGS: Final = frozenset({"unique", "clamped", "nested", "ordered", "acyclic", "symmetric"})


_FORMS: Final[tuple[Callable[[list[Token], Found], Meant | None], ...]] = (
    _literal, _reordered, _of_declaration, _of_body, _choice, _is_value, _in_type, _call, _head,
    _negated_fact, _range, _of_world, _of_header, _statement_end, _broken_line, _of_item,
)  # fmt: skip
