"""Words and signs of other languages, and their replacement in this one."""

from __future__ import annotations

from typing import Final

from tokenworld.syntax.hint_words import (
    EFFECTS,
    NO_LIST,
    STEPS,
    TYPES,
    WORLD,
    Found,
    did_you_mean,
)
from tokenworld.syntax.lalr import Token
from tokenworld.syntax.tables import Tables

_LOCAL: Final = "Write `let x = …` for a value of this body; a change needs no keyword."
_ROUTINE: Final = "Write an `action`, a `law` or a `derive`, outside of other items."
_SAY: Final = 'Write `say "…"`.'
_LOOP: Final = "Write `for x: T where … { }`; what happens again and again is a `law`."
_CHOICE: Final = "Write `if … { } else if … { } else { }`."
REFUSE: Final = 'Write `require … else label "…"` to refuse an action.'

_DRAW: Final = "Write `chance 50% { … }`, or `pick n: 1 to 6 { … }` for a number."
_ENDING: Final = "Write `goal name: …` or `lose name: …` into the world: what holds ends the game."
COMMENT: Final = "Begin comments with `#`."
BARE: Final = "Leave the word away: changes stand in the body as they are."
VALUES: Final = "Write the values in braces after the type: `object x: T { f = … }`."

# Words that begin a statement elsewhere.
IN_BODIES: Final = {
    **dict.fromkeys(("var", "val", "const", "local", "auto"), _LOCAL),
    **dict.fromkeys(("def", "function", "func", "fn", "sub", "procedure", "proc"), _ROUTINE),
    **dict.fromkeys(("print", "echo", "puts", "write", "log", "display", "printf", "tell"), _SAY),
    **dict.fromkeys(("while", "loop", "repeat", "foreach", "each", "forall", "every"), _LOOP),
    **dict.fromkeys(("switch", "match", "case"), _CHOICE),
    **dict.fromkeys(("raise", "throw", "fail", "error", "assert", "ensure", "refuse"), REFUSE),
    **dict.fromkeys(("precondition", "preconditions", "pre", "condition", "conditions"), REFUSE),
    **dict.fromkeys(("requirement", "requirements", "needs", "must", "should"), REFUSE),
    **dict.fromkeys(("signal", "trigger", "fire", "notify"), "Write `emit e(x)`."),
    **dict.fromkeys(("message", "output", "narrate", "show", "narration"), _SAY),
    **dict.fromkeys(
        ("insert", "make", "unset", "retract"), "Write `add` or `remove` before a fact."
    ),
    **dict.fromkeys(("oneof", "either"), _DRAW),
    **dict.fromkeys(("pass", "skip", "nop", "todo"), "Leave it away: a body may be empty, `{ }`."),
    **dict.fromkeys(("break", "continue"), "Write the condition into `for … where …` or `if`."),
    "roll": _DRAW,
    "choose": "Write `pick x: T where … { }`, or `chance 50% { … }`.",
    **dict.fromkeys(("effect", "effects", "post", "postcondition", "do", "begin"), BARE),
    **dict.fromkeys(("win", "victory", "gameover", "game_over", "lose", "goal"), _ENDING),
    **dict.fromkeys(("call", "invoke", "apply"), "Leave the word away: `n(x)` calls an effect."),
    **dict.fromkeys(("wait", "sleep", "delay"), "Write `takes 3` after the parameters."),
    **dict.fromkeys(("try", "catch", "except"), "Test it first: `if … { }`, or `require …`."),
    **dict.fromkeys(("with", "probability", "maybe", "randomly", "perhaps"), _DRAW),
    "move": "Write the change: `x.at = …`; for amounts, `transfer 3 of x.f to y.f`.",
    **dict.fromkeys(("put", "place"), "Write the change: `x.at = …`."),
    **dict.fromkeys(("delete", "del", "kill"), "Write `destroy x`, or `remove` before a fact."),
    **dict.fromkeys(("new", "spawn"), "Write `create x: T { }`."),
    **dict.fromkeys(("toggle", "flip", "negate", "invert"), "Write `x.f = not x.f`."),
    **dict.fromkeys(("set", "now"), "Write the change alone: `x.f = …`."),
    **dict.fromkeys(("emits", "emitted"), "Write `emit e(x)`."),
    **dict.fromkeys(("says", "said", "text"), _SAY),
    **{f"{word}s": f"Write `{word}`." for word in ("add", "remove", "create", "destroy")},
    "update": "Write the change alone: `x.f = …`, in `for x: T where … { }` for each thing.",
    "return": "A body gives no value: write a `derive` for one.",
    "unless": "Write `if not … { }`.",
    **dict.fromkeys(("elif", "elsif", "elseif"), "Write `else if`."),
    "increase": "Write `x.f += …`.",
    "increment": "Write `x.f += 1`.",
    "decrease": "Write `x.f -= …`.",
    "decrement": "Write `x.f -= 1`.",
}
# Words of the language that begin a statement and take no parentheses.
CALLED: Final = {
    "say": _SAY,
    "add": "Write `add r(a, b)`: the fact stands in no parentheses.",
    "remove": "Write `remove r(a, b)`: the fact stands in no parentheses.",
    "emit": "Write `emit e(x)`: the parentheses hold what the event is about.",
    "destroy": "Write `destroy x`, without parentheses.",
    "swap": "Write `swap x.f, y.f`, without parentheses.",
    "transfer": "Write `transfer 3 of x.f to y.f`, without parentheses.",
}


def called_word(name: str) -> str | None:
    """Hints for calls that change something in other languages: the statement to write instead."""
    return CALLED.get(name) or IN_BODIES.get(name)


# Words that begin an item elsewhere.
_AS_ITEMS: Final = {
    **dict.fromkeys(("def", "func", "fn", "procedure", "proc", "method", "sub"), _ROUTINE),
    **dict.fromkeys(("class", "struct", "record", "interface", "kind", "entity"), "Write `type`."),
    **dict.fromkeys(
        ("import", "include", "from", "using", "require"), "Write `use folder.module`."
    ),
    **dict.fromkeys(("const", "constant"), "Write `param name: 0 to 9 = 3`."),
    **dict.fromkeys(
        ("var", "val"),
        "Write `function name(): 0 to 9 = 3` for what changes, or `param name: 0 to 9 = 3`.",
    ),
    **dict.fromkeys(("predicate", "predicates", "fact"), "Write `relation name(x: T)`."),
    **dict.fromkeys(
        ("fluent", "state", "variable"),
        "Write `relation name(x: T)`, or `function name(x: T): 0 to 9` for a fact with a value.",
    ),
    **dict.fromkeys(("player", "hero", "agent"), "Write `actor me: T`."),
    **dict.fromkeys(("operator", "command", "verb"), "Write `action`."),
    **dict.fromkeys(("level", "map", "game", "problem", "instance"), "Write `world name { }`."),
    "version": "Write `edition 1`.",
    **dict.fromkeys(
        ("module", "package", "namespace", "library"),
        "Leave it away: a file needs no name, and `use folder.module` takes in another one.",
    ),
    **dict.fromkeys(
        ("on", "every", "whenever", "each", "upon", "if"),
        "Write `law name() when … { }` for what happens by itself.",
    ),
    **dict.fromkeys(("rem", "note", "comment"), COMMENT),
    **dict.fromkeys(("assert", "ensure", "constraint"), "Write `invariant name(): …`."),
    **dict.fromkeys(("signal", "message", "notification"), "Write `event name(x: T)`."),
    **dict.fromkeys(("description", "desc", "look"), 'Write `describe x: T { say "…" }`.'),
    "trigger": "Write `law name() when … { }`, or a `watch` for what is only told.",
    "rule": "Write `law` for what happens by itself, or `action` for what somebody does.",
    "test": 'Write `scenario "…" in world { }`.',
}
_STOP: Final = "Write `stop name: …` for an end that is neither won nor lost, or `goal`, or `lose`."
# Words that begin a line of a world elsewhere.
IN_WORLDS: Final = {
    **dict.fromkeys(("win", "victory", "target", "won"), "Write `goal name: …`."),
    **dict.fromkeys(("loss", "defeat", "fail", "lost"), "Write `lose name: …`."),
    **dict.fromkeys(("end", "ending", "draw", "finish", "over", "tie"), _STOP),
    **dict.fromkeys(
        ("init", "initial", "initially", "begin"), "Put changes of the start into `setup { }`."
    ),
}
# Functions of a value elsewhere.
FUNCTIONS: Final = {
    **dict.fromkeys(("exists", "some"), "Write `any(… for x: T)`."),
    **dict.fromkeys(("forall", "every"), "Write `all(… for x: T)`."),
    **dict.fromkeys(("random", "rand", "randint", "randrange", "roll", "dice"), _DRAW),
    **dict.fromkeys(("len", "size", "length"), "Write `count(x in …)`, or `count(… for x: T)`."),
    **dict.fromkeys(("isinstance", "instanceof", "typeof", "type"), "Write `x is T`."),
    **dict.fromkeys(("enumerate", "zip"), "Write `for x: T { … }`."),
    **dict.fromkeys(
        ("old", "previous", "before"), "Write `was x.f` for the value before the tick."
    ),
    **dict.fromkeys(("time", "now"), "Write `tick()`."),
    "no": "Write `not any(… for x: T)`.",
    "lambda": "Name it with a `derive`: a function is no value.",
}


def function_word(name: str) -> str | None:
    """Return a hint for a call of a function that other languages have."""
    return _CALLS.get(name) or FUNCTIONS.get(name)


_CALLS: Final = {
    "range": "Write `for n: 0 to 2`.",
    "pick": "Write `pick x: T where … { }`; as a value, `let x = pick { x: T }`.",
    **{f"{word}imum": f"Write `{word}(a, b)`." for word in ("min", "max")},
    "int": "Write `floor(x)`.",
    **dict.fromkeys(("str", "string", "format"), "Leave it away: texts show values in braces."),
}


LITERALS: Final = {
    **dict.fromkeys(("None", "Null", "NULL", "Nil", "Nothing"), "Write `none`."),
    **dict.fromkeys(("True", "TRUE"), "Write `true`."),
    **dict.fromkeys(("False", "FALSE"), "Write `false`."),
}
NUMERALS: Final = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
)  # fmt: skip
NAMES: Final = {
    **dict.fromkeys(("null", "nil", "undefined", "nothing"), "Write `none`."),
    **dict.fromkeys(("yes", "on"), "Write `true`."),
    **dict.fromkeys(("no", "off"), "Write `false`."),
    **dict.fromkeys(("tick", "turn", "time", "now"), "Write `tick()`."),
    **dict.fromkeys(("win", "wins", "victory"), "Write `won`."),
    **dict.fromkeys(("lose", "loses", "loss", "defeat"), "Write `lost`."),
    **{word: f"Write `{number}`." for number, word in enumerate(NUMERALS)},
}
"""Names of values elsewhere, which the checker meets as unknown names."""
METHODS: Final = {
    **dict.fromkeys(("equals", "eq"), "Write `==`."),
    **dict.fromkeys(("append", "push", "insert"), "Write `add r(a, b)` with a relation."),
    "add": "Write `add r(a, b)` with a relation, or `+=` for a number.",
    **dict.fromkeys(
        ("remove", "delete", "pop", "discard"), "Write `remove r(a, b)` with a relation."
    ),
    **dict.fromkeys(
        ("contains", "has", "includes"), "Write the relation with its arguments: `r(a, b)`."
    ),
    **dict.fromkeys(("length", "size", "len", "count"), "Write `count(… for x: T)`."),
    **dict.fromkeys(("inventory", "items", "contents", "children"), NO_LIST),
    **dict.fromkeys(("type", "kind"), "Write `x is T`."),
}
"""Members that values have elsewhere, which the checker meets as unknown attributes."""
_IN_SCENARIOS: Final = {
    **dict.fromkeys(("expect", "check", "assert", "should"), "Write `then`."),
    **dict.fromkeys(("do", "step", "act", "plan", "play"), "Write `when`: `when take(x)`."),
    "seed": "Write `random 7`.",
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
    behind = "" if found.following is None else found.following.terminal
    if word == "when" and behind == "NAME" and not found.before:
        return (
            "Write `law name(x: T) when … { }` for what happens, or `watch` for what is told; a "
            'test is a `scenario "…" in name { }`.'
        )
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
            return COMMENT
        return _AS_ITEMS.get(token.text) if token.terminal == "NAME" else None
    if _is_comment(found):
        return COMMENT
    if token.terminal == "NAME" and {"given", "replay"} <= found.expected:
        near = did_you_mean(token.text, sorted(STEPS))
        begin = "Begin a step with `given`, `when` or `then`."
        return _IN_SCENARIOS.get(token.text) or near or begin
    if previous is None or not found.is_name(previous) or "+=" not in found.expected:
        return None
    statement = found.back(2) in ("{", "}") or not _joins(found.back(2), found)
    return IN_BODIES.get(previous.text) if statement else None


def foreign_keyword(found: Found) -> str | None:
    """The hint for the word after a colon that begins a statement, as in `:effect`."""
    return None if found.following is None else IN_BODIES.get(found.following.text)


def items_for(word: str, tables: Tables) -> list[str]:
    """The words that may stand for one that begins an item elsewhere, the likeliest first."""
    hint = _AS_ITEMS.get(word, "")
    items = sorted(tables.first("item")) if hint.startswith("Write") else []
    named = [one for one in items if f"`{one}" in hint]
    told = "watch" in named  # which of a law and a watch is meant, only the author knows
    return [] if told else sorted(named, key=lambda one: hint.index(f"`{one}"))


def _joins(terminal: str, found: Found) -> bool:
    """Return whether a token cannot end a statement, so that a name after it belongs to it."""
    ends = {"NAME", "RAW", "TYPE", "STRING", "NUMBER", "QUANTITY", "PERCENT", ")", "]"}
    return terminal not in ends | found.tables.soft | {"true", "false", "none"}


def _is_comment(found: Found) -> bool:
    signs = (found.token.text, found.following.text if found.following else "")
    dashes = signs == ("-", "-") and not found.before
    return found.touches(found.following) and (signs in (("/", "/"), ("/", "*")) or dashes)


def foreign_type(found: Found) -> str | None:
    """The name that other languages give to a type of values."""
    named = found.token.terminal == "NAME" and "TYPE" in found.expected
    known = TYPES.get(found.token.text) if named and "NAME" not in found.expected else None
    return f"Write {known}." if known else None


def foreign_sign(found: Found) -> str | None:
    """An operator of another language, which reads as two of ours."""
    sign = found.token.terminal
    after = found.following.terminal if found.touches(found.following) and found.following else ""
    if "+=" in found.expected:
        if sign in ("+", "-") and after not in (sign, ">"):
            return f"Write `{sign}=` to change a value."
        if (sign, after) == ("-", ">") and touching(found.previous, found.token):
            return "Write a point: `x.f`."
        return _instead_of_set(sign, after)
    if touching(found.previous, found.token):
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
    ("!=", "="): "Write `!=`.",
    (":", "="): "Write `=` alone before the value.",
    ("<", ">"): "Write `!=`.",
    ("*", "*"): _POWER,
    ("-", ">"): "Write `implies` in a condition.",
}


def touching(previous: Token | None, token: Token) -> bool:
    return previous is not None and previous.end == token.start


def _instead_of_set(sign: str, after: str) -> str | None:
    """Advise on a sign where a change was begun and `=`, `+=` or `-=` must come."""
    if sign in "+-" and after == sign:
        return f"Write `{sign}= 1`."
    if sign in ("*", "/", "div", "mod"):
        return f"Write the change in full: `x.f = x.f {sign} …`."
    if sign == ":" or (sign, after) == ("-", ">") or sign == "is":
        return "Write `=` to set a value."
    return None


def _arrow(found: Found) -> str | None:
    if ":" in found.expected:
        return "Write the type after a colon: `: T`."
    if "{" in found.expected and found.item in ("action", "law", "watch", "effect", "birth"):
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
