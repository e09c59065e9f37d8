"""Hints for what other languages write: their keywords, operators and types."""

from __future__ import annotations

from typing import Final

from tokenworld.syntax.hint_words import EFFECTS, STEPS, WORLD, Found
from tokenworld.syntax.tree import Token

_LOCAL: Final = "Write `let x = …` for a value of this body; a change needs no keyword."
_ROUTINE: Final = "Write an `action`, a `law` or a `derive`, outside of other items."
_SAY: Final = 'Write `say "…"`.'
_LOOP: Final = "Write `for x: T where … { }`; what happens again and again is a `law`."
_CHOICE: Final = "Write `if … { } else if … { } else { }`."
_REFUSE: Final = 'Write `require … else label "…"` to refuse an action.'

# Words that begin a statement elsewhere.
_IN_BODIES: Final = {
    **dict.fromkeys(("var", "val", "const", "local", "auto"), _LOCAL),
    **dict.fromkeys(("def", "function", "func", "fn", "sub", "procedure", "proc"), _ROUTINE),
    **dict.fromkeys(("print", "echo", "puts", "write", "log", "display", "printf"), _SAY),
    **dict.fromkeys(("while", "loop", "repeat", "foreach", "each", "forall"), _LOOP),
    **dict.fromkeys(("switch", "match", "case"), _CHOICE),
    **dict.fromkeys(("raise", "throw", "fail", "error", "assert", "ensure"), _REFUSE),
    "set": "Write the change alone: `x.f = …`.",
    "return": "A body gives no value: write a `derive` for one.",
    "unless": "Write `if not … { }`.",
    "delete": "Write `destroy x`.",
    "del": "Write `destroy x`.",
    "new": "Write `create x: T { }`.",
    "spawn": "Write `create x: T { }`.",
    "increase": "Write `x.f += …`.",
    "increment": "Write `x.f += 1`.",
    "decrease": "Write `x.f -= …`.",
    "decrement": "Write `x.f -= 1`.",
}
# Words that begin an item elsewhere.
_AS_ITEMS: Final = {
    **dict.fromkeys(("def", "func", "fn", "procedure", "proc", "method", "sub"), _ROUTINE),
    **dict.fromkeys(("class", "struct", "record", "interface", "kind"), "Write `type`."),
    **dict.fromkeys(("import", "include", "from", "using"), "Write `use folder.module`."),
    **dict.fromkeys(("var", "const", "val"), "Write `param name: 0 to 9 = 3`."),
    "rule": "Write `law` for what happens by itself, or `action` for what somebody does.",
    "test": 'Write `scenario "…" in world { }`.',
}
_IN_SCENARIOS: Final = dict.fromkeys(("expect", "check", "assert", "should"), "Write `then`.")
_TYPES: Final = {
    **dict.fromkeys(("string", "str", "char"), "`text`"),
    "boolean": "`bool`",
    **dict.fromkeys(("integer", "number", "num"), "`int`, or a range such as `0 to 9`"),
    **dict.fromkeys(("float", "double", "decimal"), "`real`, or a range such as `0.0 to 9.9`"),
}
_POWER: Final = "Write `pow(x, n)`."


def misplaced(found: Found) -> str | None:
    """A word of the language at the beginning of an item where it cannot stand."""
    word = found.token.terminal
    if found.before or word in found.tables.first("item"):
        return None
    if word == "let":
        return "Write `param` or `derive` for a value of the whole file."
    if word == "reward":
        return "Put it into the body of a law, or into a `world name { }`."
    if word in WORLD:
        return "Put this line into a `world name { }`."
    if word in STEPS:
        return 'Put this step into a `scenario "…" in name { }`.'
    if word in EFFECTS:
        return "Put this into the body of an action or a law."
    return None


def foreign_word(found: Found) -> str | None:
    """A keyword of another language, here or as the word that began the statement."""
    token, previous = found.token, found.previous
    if not found.before:
        if _is_comment(found):
            return "Begin comments with `#`."
        return _AS_ITEMS.get(token.text) if token.terminal == "NAME" else None
    if _is_comment(found):
        return "Begin comments with `#`."
    if token.terminal == "NAME" and {"given", "replay"} <= found.expected:
        return _IN_SCENARIOS.get(token.text, "Begin a step with `given`, `when` or `then`.")
    if previous is None or not found.is_name(previous) or "+=" not in found.expected:
        return None
    statement = found.back(2) in ("{", "}") or not _joins(found.back(2), found)
    return _IN_BODIES.get(previous.text) if statement else None


def _joins(terminal: str, found: Found) -> bool:
    """Whether a token cannot end a statement, so that a name behind it belongs to it."""
    ends = {"NAME", "RAW", "TYPE", "STRING", "NUMBER", "QUANTITY", "PERCENT", ")", "]"}
    return terminal not in ends | found.tables.soft | {"true", "false", "none"}


def _is_comment(found: Found) -> bool:
    signs = (found.token.text, found.following.text if found.following else "")
    dashes = signs == ("-", "-") and not found.before
    return found.touches(found.following) and (signs in (("/", "/"), ("/", "*")) or dashes)


def foreign_type(found: Found) -> str | None:
    """The name that other languages give to a type of values."""
    named = found.token.terminal == "NAME" and "TYPE" in found.expected
    known = _TYPES.get(found.token.text) if named and "NAME" not in found.expected else None
    return f"Write {known}." if known else None


def foreign_sign(found: Found) -> str | None:
    """An operator of another language, which reads as two of ours."""
    sign = found.token.terminal
    after = found.following.terminal if found.touches(found.following) and found.following else ""
    if "+=" in found.expected:
        return _instead_of_set(sign, after)
    if _follows(found.previous, found.token):
        known = _PAIRS.get((found.back(1), sign))
        if known:
            return known
    if (sign, after) == ("-", ">"):
        return _arrow(found)
    known = _PAIRS.get((sign, after)) if sign == "=" else None
    if known:
        return known
    if "*" in found.expected:
        return _behind_value(sign)
    return None


_PAIRS: Final = {
    ("=", "<"): "Write `<=`.",
    ("==", "="): "Write `==` to compare.",
    ("<", ">"): "Write `!=`.",
    ("*", "*"): _POWER,
    ("-", ">"): "Write `implies` in a condition.",
}


def _follows(previous: Token | None, token: Token) -> bool:
    return previous is not None and previous.end == token.start


def _instead_of_set(sign: str, after: str) -> str | None:
    """What to write where a change was begun and `=`, `+=` or `-=` must come."""
    if sign in "+-" and after == sign:
        return f"Write `{sign}= 1`."
    if sign in ("*", "/", "div", "mod"):
        return f"Write the change in full: `x.f = x.f {sign} …`."
    if sign == ":" or (sign, after) == ("-", ">") or sign == "is":
        return "Write `=` to set a value."
    return None


def _arrow(found: Found) -> str | None:
    if ":" in found.expected:
        return "Write the type behind a colon: `: T`."
    if "{" in found.expected and found.item in ("action", "law", "watch"):
        return "Leave the type out: only a `derive` or a `function` has a value."
    return None


def _behind_value(sign: str) -> str | None:
    if sign == "?":
        return "Write `if … then … else …`."
    if sign == "[":
        return "Write a function with parameters, such as `f(a, i)`: collections have no index."
    if sign == "=":
        return "Write `implies` in a condition, or `>=` to compare."
    return None
