"""The words of hints: how tokens are spoken of, misspelt names, words of other languages."""

from __future__ import annotations

from typing import Final

from tokenworld.diagnostics import closest, joined
from tokenworld.diagnostics.frozen import frozen
from tokenworld.syntax.lalr import Token
from tokenworld.syntax.tables import END, Tables

NUMBERS: Final = frozenset({"NUMBER", "PERCENT", "QUANTITY"})
COMPARE: Final = frozenset({"==", "!=", "<=", ">=", "<", ">"})
CALCULATE: Final = frozenset({"+", "-", "*", "/", "div", "mod"})
OPERATORS: Final = COMPARE | CALCULATE | {"in", "is", "and", "or", "implies", "otherwise"}
FOLDERS: Final = frozenset({"any", "all", "count", "sum", "min", "max", "first", "last"})
_PRIMITIVES: Final = frozenset({"bool", "int", "real", "text"})
EFFECTS: Final = frozenset(
    {"let", "add", "remove", "if", "for", "chance", "pick", "create", "destroy", "transfer"}
    | {"swap", "emit", "say", "describe", "reward", "require", "cancelled"}
)
WORLD: Final = frozenset(
    {"object", "spare", "layout", "setup", "start", "param", "time", "turns", "ambiguous"}
    | {"endless", "outcomes", "goal", "lose", "stop", "award", "score", "reward"}
)
INFIX: Final = {
    **dict.fromkeys(("equals", "eq", "equal"), "Write `==` to compare."),
    **dict.fromkeys(("neq", "ne", "unequal"), "Write `!=` to compare."),
    **dict.fromkeys(("gt", "exceeds"), "Write `>`."),
    **dict.fromkeys(("reaches", "hits"), "Write `>=`, or `==`."),
    **dict.fromkeys(("lt", "below"), "Write `<`."),
    **dict.fromkeys(("ge", "gte"), "Write `>=`."),
    **dict.fromkeys(("le", "lte"), "Write `<=`."),
    "xor": "Write `!=` between two conditions.",
    "between": "Write `x >= 0 and x <= 3`.",
    **dict.fromkeys(("instanceof", "isa"), "Write `x is T`."),
    **dict.fromkeys(("contains", "has", "includes"), "Write the relation: `r(a, b)`."),
}
TYPES: Final = {
    **dict.fromkeys(("string", "str", "char", "text"), "`text`"),
    **dict.fromkeys(("boolean", "bool", "flag"), "`bool`"),
    **dict.fromkeys(("integer", "number", "num", "int"), "`int`, or a range such as `0 to 9`"),
    **dict.fromkeys(
        ("u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64", "usize", "uint", "byte", "long"),
        "`int`, or a range such as `0 to 9`",
    ),
    **dict.fromkeys(
        ("float", "double", "decimal", "real", "f32", "f64", "float32", "float64"),
        "`real`, or a range such as `0.0 to 9.9`",
    ),
    **dict.fromkeys(("percent", "percentage", "probability"), "a range such as `0% to 100%`"),
}
STEPS: Final = frozenset({"given", "random", "when", "then", "always", "never", "replay"})


@frozen
class Found:
    """An unexpected token: the item's tokens before it, and the one after it."""

    tables: Tables
    before: list[Token]
    token: Token
    expected: frozenset[str]
    following: Token | None = None

    @property
    def previous(self) -> Token | None:
        """The token just before, in the same item."""
        return self.before[-1] if self.before else None

    @property
    def item(self) -> str:
        """The keyword that the item began with; empty at its very beginning."""
        words = (t.terminal for t in self.before if t.terminal not in ("static", "secret"))
        return next(words, "")

    @property
    def value_expected(self) -> bool:
        """Return whether a value may begin here."""
        return "[" in self.expected

    @property
    def change_expected(self) -> bool:
        """Return whether a change of a body may begin here."""
        return {"let", "say"} <= self.expected

    def back(self, count: int) -> str:
        """The terminal so many tokens before the unexpected one; empty before the item."""
        return self.before[-count].terminal if count <= len(self.before) else ""

    def is_name(self, token: Token | None) -> bool:
        """Return whether a token can be a name."""
        return token is not None and token.terminal in self.tables.soft | {"NAME", "RAW"}

    def touches(self, token: Token | None) -> bool:
        """Return whether a token follows the unexpected one without a blank, as in `++`."""
        return token is not None and token.start == self.token.end


def describe(token: Token) -> str:
    """Describe a token in words."""
    match token.terminal:
        case "$END":
            return "end of the file"
        case "STRING":
            shown = token.text if len(token.text) <= 30 else token.text[:28] + '…"'
            return f"text `{shown}`" if "`" not in shown else "text"
        case "RAW":
            shown = token.text if len(token.text) <= 40 else token.text[:38] + "…`"
            return f"raw name {shown}"
        case _:
            shown = token.text if len(token.text) <= 40 else token.text[:39] + "…"
            return f"`{shown}`"


def expectation(tables: Tables, expected: frozenset[str], end: str = "the end of the item") -> str:
    """The accepted terminals as one phrase, such as "a name or `{`"; `end` names their end."""
    rest = set(expected)
    words: list[str] = []

    def take(group: frozenset[str], word: str, needs: frozenset[str]) -> None:
        if needs <= rest:
            rest.difference_update(group)
            words.append(word)

    names = tables.soft | {"NAME", "RAW"}
    take(tables.first("item"), "the next item", frozenset({"law", "invariant", "world"}))
    if "require" in rest:
        take(EFFECTS | names, "a requirement or a change", frozenset({"let", "say"}))
    take(EFFECTS | names, "a change", frozenset({"let", "say"}))
    take(WORLD, "a line of the world", frozenset({"goal", "endless"}))
    take(STEPS, "a step of the scenario", frozenset({"given", "replay"}))
    take(tables.first("expr"), "a value", frozenset({"[", "NAME", "NUMBER"}))
    take(OPERATORS | {".", "("}, "an operator", frozenset({"*", "+"}))
    take(OPERATORS, "an operator", frozenset({"and", "or"}))
    take(names, "a name", frozenset({"NAME", "RAW"}))
    take(_PRIMITIVES | {"TYPE", "RAW"}, "a type", frozenset({"TYPE"}))
    take(frozenset({"RAW"}), "a raw name", frozenset({"RAW"}))
    take(NUMBERS | {"-"}, "a number", frozenset({"NUMBER"}))
    take(frozenset({"STRING"}), "a text in quotes", frozenset({"STRING"}))
    take(frozenset({END}), end, frozenset({END}))
    words += [f"`{terminal}`" for terminal in sorted(rest)]
    shown = words if len(words) <= 6 else [*words[:5], "something else"]
    return joined(shown, "or") or "nothing more"


# ---- Hints about names: reserved words, misspelt keywords, capital letters -----------------------


_ELSE_IF: Final = frozenset({"elif", "elsif", "elseif"})
# The tokens that may follow the name at the beginning of a change.
_CHANGES: Final = frozenset({"=", "+=", "-=", ".", "~"})
# Checks of a scenario, which are no values.
_CHECKS: Final = frozenset({"won", "lost", "refused", "unchanged", "winnable", "unwinnable"})


def is_reserved_name(found: Found) -> bool:
    """Return whether the unexpected token is a reserved word that was meant as a name."""
    token, previous, expected = found.token, found.previous, found.expected
    if token.terminal not in found.tables.reserved or previous is None or folded(found):
        return False
    if found.change_expected:
        # Only what follows tells a name from a misplaced keyword.
        return bool(found.following and found.following.terminal in _CHANGES)
    if not expected & {"NAME", "TYPE"} or _negated(found):
        return False
    if not found.value_expected:
        return "TYPE" not in expected or "NAME" in expected
    # Where a value may stand, an operator word is a missing operand and not a name.
    return not (
        token.terminal in OPERATORS | _CHECKS | {"else", "then", "where", "for", "when"}
        or token.terminal in found.tables.first("item")
        or previous.terminal in OPERATORS | {"when", "if"}
    )


def _negated(found: Found) -> bool:
    return found.token.terminal == "not" and found.back(1) == "is"


def folded(found: Found) -> bool:
    """Return whether a fold is written as a method, as in `goblins.all(…)`."""
    called = found.following is not None and found.following.terminal == "("
    return found.token.terminal in FOLDERS and found.back(1) == "." and called


def reserved(found: Found) -> str | None:
    """A reserved word used as a name must be quoted."""
    previous = found.previous
    if is_reserved_name(found):
        word = found.token.text
    elif previous and previous.terminal in FOLDERS and found.expected == {"("}:
        word = previous.text
        if found.token.text == "of":
            return f"Write `{word}(a, b)`, or `{word}(x.f for x: T)` to go over things."
        if found.is_name(found.token):
            kind = f"{word}({found.token.text}.… for {found.token.text}: T)"
            return f"Write `{kind}` to go over things."
    else:
        return None
    return f"`{word}` is a reserved word: write it in backquotes to use it as a name."


def misspelt(found: Found) -> str | None:
    """A word that is nearly a keyword: this one, or the one before it."""
    token = found.token
    if token.text in _ELSE_IF:
        return "Write `else if`."
    if not found.before:
        known = sorted(found.tables.first("item"))
        return did_you_mean(token.text, known) if token.terminal == "NAME" else None
    words = sorted(t for t in found.expected if t in found.tables.keywords)
    if token.terminal == "NAME" and "NAME" not in found.expected:
        near = did_you_mean(token.text, words)
        if near:
            return near
    return misspelt_before(found)


def misspelt_before(found: Found) -> str | None:
    """The same for the word before, which began the line."""
    token, previous = found.token, found.previous
    begins = previous and found.item != "enum" and _begins_statement(found)
    if previous and begins and token.terminal not in (".", ")", "}"):
        known = sorted(EFFECTS | WORLD | STEPS | {"else", "during", "when", "where"})
        return did_you_mean(previous.text, known)
    return None


def _begins_statement(found: Found) -> bool:
    """Return whether the token before may be the first word of a statement that went wrong."""
    previous = found.previous
    if previous is None or previous.terminal != "NAME" or len(found.before) < 2:
        return False
    earlier = found.before[-2].terminal
    if earlier in OPERATORS | _CHANGES:
        return False
    return earlier != "." and earlier not in found.tables.keywords - {"endless"}


def did_you_mean(word: str, known: list[str]) -> str | None:
    """Return a hint for a word that is nearly another one; a single letter is near to none."""
    if len(word) < 2:
        return None
    near = closest(word, known, at_most=1)
    return f"Did you mean `{near[0]}`?" if near else None


def letter_case(found: Found) -> str | None:
    """Types begin with a capital, everything else does not."""
    terminal, expected = found.token.terminal, found.expected
    if terminal == "TYPE" and "NAME" in expected:
        if found.back(1) in ("(", ",") and _names_after(found, found.following):
            return f"Write the name first, then its type: `x: {_short(found.token)}`."
        return "Begin this name with a small letter: only types begin with a capital."
    is_name = terminal == "NAME" or terminal in found.tables.soft
    if is_name and "TYPE" in expected and "NAME" not in expected:
        return "Begin the name of a type with a capital letter."
    if found.back(1) == "TYPE" and expected == {"."}:
        return "Write a member as `Type.name`, or begin the name with a small letter."
    return None


def _names_after(found: Found, token: Token | None) -> bool:
    return ":" not in found.expected and found.is_name(token)


def _short(token: Token) -> str:
    return token.text if len(token.text) <= 40 else token.text[:39] + "…"


# ---- One token in a place where others write it: what to write instead --------------------------


RANGE: Final = "Write a range: `0 to 9`."
NO_LIST: Final = "Write a relation, such as `relation has(a: A, b: B)`: no value is a collection."
_TO_TYPE: Final = "Write a colon before the type: `x: T`."
HYPHEN: Final = "Write `_` for `-`, or put the name in backquotes: `` `a-b` ``."
_WHEN: Final = "Write `when` and a condition before the brace."
_WHERE: Final = "Write `where` before the condition."
_UNWRAPPED: Final = "Write changes without parentheses: `x.f = …`, `add r(a)`, `if … { }`."
_ENUM: Final = "Declare `enum E { a, b }`, and write `x: E`."
_FIELD: Final = "Write `=` before a value: `{ at = hall }`."
_INTENT: Final = 'Write a call, or the words to type in quotes: `when take(x)`, `when "take x"`.'
_SUM: Final = "Write a name, a colon and what stays the same: `conserve n: sum(…)`."
_ALONE: Final = "Let it stand alone, and put commas between the checks."
_DESCRIBE: Final = 'Write `describe x: T { say "…" }`.'
_FLAGS: Final = "type|function|scratch|param|table"
_LINES: Final = "world|object"

# Item, the tokens before, the token and the one after it, what must be expected, the hint. `|` is
# between alternatives, which are terminals or texts; nothing fits everything. Needs that end in `!`
# are all that is expected.
_ROWS: Final[tuple[tuple[str, str, str, str, str], ...]] = (
    # enums, units
    ("enum", "", "STRING", "NAME", "Write members without quotes."),
    ("enum", "NAME", "=|:|(", "}",
     "Leave the value away; members may have an order: `enum E { a < b }`."),
    ("enum", "TYPE", "(", "{", "Write the members in braces: `enum E { a, b }`."),
    ("enum", "NAME", "<|,", "}",
     "Write `<` between all members, or a comma between all of them."),
    ("enum", "NAME", ">|<=|>=", "}", "Write the lowest member first: `enum E { a < b }`."),
    ("enum", "{|,", "NUMBER", "NAME",
     "Begin members with a letter; numbers are a range: `x: 0 to 9`."),
    ("enum", "enum", "class|struct", "", "Leave the word away: `enum E { a, b }`."),
    ("unit", "NAME", ",", "", "Write a `unit` for each."),
    ("unit", "NAME", ":", "", "Write `=` and what one of it is: `unit km = 1000m`."),
    ("unit", "=", "NAME", "", "Write a number before the unit: `unit km = 1000m`."),
    ("unit", "NUMBER", "NAME", "", "Write the unit right after its number: `1000g`."),
    # types and their attributes
    ("type", "type TYPE", "=", "{",
     "Leave the `=` away: `type A { x: T }`; a choice is an `enum E { a, b }`."),
    ("type", "type TYPE", "( NAME", "{", "Write the attributes in braces: `type A { x: T }`."),
    ("type", "type TYPE :", "NAME :", "", "Leave the colon away: `type A { x: T }`."),
    ("type", "type TYPE :", "{", "", "Leave the colon away: `type A { x: T }`."),
    ("type", ":", ": TYPE", "", "Write one colon."),
    ("type", ":", "{|enum", "TYPE", _ENUM),
    ("type", ":", "NAME NAME", "TYPE NUMBER",
     "Leave the word away: `x: T`, or `x: T?` if it may be `none`."),
    ("type", ":", "NAME TYPE", "TYPE NUMBER",
     "Leave the word away: `x: T`, or `x: T?` if it may be `none`."),
    ("type", ":", "? TYPE", "TYPE", "Write the question mark after the type: `x: T?`."),
    ("type", ":", "[ TYPE", "TYPE", NO_LIST),
    ("type", ":", "( NUMBER", "TYPE", RANGE),
    ("type", ":", "(", "TYPE", "Write an attribute for each value: `x: 0 to 9  y: 0 to 9`."),
    ("type|function|param", ":", ">|<|>=|<=|from|between", "TYPE", RANGE),
    ("type|function|param", "int|real", "in|from|between", "", RANGE),
    ("", "to", "inf|infinity|infinite", "", "Write `int` for a number without bounds."),
    ("type", "static|secret", ":", "",
     "Put the name in backquotes: `static` and `secret` are flags."),
    ("type", "?", "none|null|nil", "=", "Leave it away: `T?` may be `none`."),
    ("type", "optional|nullable|required", "NAME", ":",
     "Leave the word away: `T?` may be `none`, `T` may not."),
    ("type", "hidden|private|protected", "NAME", ":",
     "Write `secret` for what the player does not see."),
    ("type", "const|constant|readonly|final|immutable", "NAME", ":",
     "Write `static` for what never changes."),
    ("type", "attribute|field|property|var|prop|attr|has|public|pub|export", "NAME", ":",
     "Leave the word away: `x: T`."),
    ("type", "bool|int|real|text", "NAME", ":", "Write the name first, then its type: `x: T`."),
    ("type", "{|}|TYPE|?|NUMBER|NAME", "TYPE|bool|int|real|text NAME|?", "NAME",
     "Write the name first, then its type: `x: T`."),
    ("type", "", "let", "NAME", "Leave the word away: `x: T`."),
    ("type", "action|law|describe|relation|function|event|watch", "NAME|{|(", "",
     "Move it out of the braces: a type has attributes only."),
    (_FLAGS, "", ": =", "=", "Write `=` alone before the default."),
    (_FLAGS, "TYPE|NUMBER|?|bool|int|real|text", ":|(", "=",
     "Write `=` before the default: `x: T = …`."),
    (_FLAGS, "TYPE", "*", "=", NO_LIST),
    (_FLAGS, "clamped|unique|nested|ordered", "NUMBER|STRING|true|false|none", "=",
     "Write `=` before the value: `= 3`."),
    (_FLAGS, ":|= NUMBER", "NAME", "to", "Write the unit right after its number: `3kg`."),
    (_FLAGS, "", "default|defaults|initially|init", "=", "Write `=` before the value: `= 3`."),
    ("function|scratch", "", "{", "=", "Leave the body away: a `derive` computes a value."),
    ("table", "=", "{", "", "Leave the `=` away: the rows stand in braces."),
    ("table", "NAME", "=|-|is|,", ":", "Write a colon before the value of a row: `red: 1`."),
    ("type", "inverse|closure NAME", ":", "",
     "Write a name after `inverse` or `closure`: `x: T? inverse things`."),
    ("type", "TYPE", "|", "?", "Write `T?` for what may be `none`."),
    ("function", ")", "{", ":",
     "Write `effect n(x: T) { … }` for changes, or `derive` for a value."),
    # relations, derives
    ("relation", ")", ",", "symmetric", "Remove the comma: flags need no separators."),
    ("relation", ")", "=", "symmetric",
     "Leave the value away: facts begin in `setup { add r(a, b) }`."),
    ("relation", ")", "bidirectional|undirected|commutative|mutual|reflexive", "symmetric",
     "Write `symmetric`."),
    ("relation", ")", "transitive", "symmetric",
     "Write `closure name`: `name` is then the transitive relation."),
    ("relation", ")", "{", "symmetric", "Leave out the braces: flags follow the parentheses."),
    ("relation|function|event|scratch", "(|,", "TYPE ,|)", "",
     "Write a name before the type: `x: T`."),
    ("derive", "= return", "", "", "Leave `return` away."),
    ("derive", ": -", "", "", "Write `=` before the value."),
    ("derive", ")", ": =", "=", "Write `=` before the value."),
    ("derive", ")", "NAME|if|when|where|iff|<|not|any|all|count|(|TYPE|NUMBER", "=",
     "Write `=` before the value."),
    ("event", ")", "{|=|:", "", "Leave it away: an event has a name and parameters only."),
    ("use", "as", "*|TYPE|STRING", "", "Leave `as` away: all names of the module are known then."),
    ("use", "use", "{|(|[|*", "", "Write `use folder.module`: all its names are known then."),
    ("invariant", ")", "{|=|when", ":", "Write a colon and a condition: `invariant n(x: T): …`."),
    ("describe", "describe", "(|TYPE", "", _DESCRIBE),
    ("describe", "TYPE", "STRING|=|:", "", _DESCRIBE),
    ("effect", ")", "=|:", "{", "Put the changes in braces: `effect n(x: T) { … }`."),
    ("", "destroy", "TYPE", "", "Name one object, such as a parameter, and not a type."),
    ("birth", "birth", "(", "", "Leave the parentheses away: `birth x: T { … }`."),
    ("birth", "birth", "TYPE", "", "Write a name before the type: `birth x: T { }`."),
    ("called|scope", "TYPE", "", "=!", "Write `=` before the value."),
    ("", "for NAME", "= NUMBER", "", "Write `n: 0 to 3`."),
    # names, parameters
    ("", "(|,", "?", "NAME", "Leave the `?` away, and write the type after a colon: `x: T`."),
    ("", "NAME", "- TYPE|bool|int|(", ":", _TO_TYPE),
    ("", "(|, NAME", "NAME :", ", )", "Put a comma between the parameters."),
    ("", ": TYPE", "NAME :", ", )", "Put a comma between the parameters."),
    ("action|effect|law|watch|derive|event", ": TYPE", "NAME", ", )",
     "Write one name for each parameter: `x: T`."),
    ("", "NAME", "= NAME|NUMBER", ": ,", "Leave the value away: parameters have no default."),
    # headers
    ("action", "action NAME :", "", "", "Write parentheses after the name: `action go(x: T) …`."),
    ("action", ")|STRING|NUMBER", "=|called|named|aka|text|titled STRING", "as",
     "Write `as` before the words to type."),
    ("action", "", "requires|require|when|if|where|needs|given|provided|precondition|pre", "as",
     'Put the condition into the body: `require … else label "…"`.'),
    ("action", "", "during|in|phase|on", "as", "Leave it away: only laws have a phase."),
    ("action", "takes NUMBER", "ticks|tick|turns|turn|steps|step|rounds|seconds|minutes", "{",
     "Leave the word away: `takes {number}` counts ticks."),
    ("action", "takes|cost", ":|=|of|+=", "", "Leave the sign away: `takes 3 cost 2`."),
    ("action", "", "duration|lasts|lasting|time|needs|for", "as",
     "Write `takes 3` for a long action."),
    ("action", "", "as", "let say", 'Write `as "…"` before the brace.'),
    ("action", "as", "[", "", "Leave out the brackets, and write `or` between the texts."),
    ("action", "action NAME", ".", "", "Write one name: who acts is the actor."),
    ("law|watch", "", "when", "{", "Join the conditions with `and`."),
    ("conserve", "except", "(|[|{", "", "Leave out the brackets: `except a, b`."),
    ("conserve", "except NAME", "and|or|NAME", "", "Put a comma between the names."),
    ("conserve", "conserve", "sum|count (", "", _SUM),
    ("conserve", "conserve NAME", "=|{|(", "", _SUM),
    ("invariant", "invariant", "all|any (", "",
     "Write a name, a colon and a condition: `invariant n(x: T): …`."),
    ("action", "", ", takes|cost|as", "",
     "Remove the comma: the parts of a header need no separators."),
    ("event|action|law|effect", ":", "int|real", "TYPE NUMBER",
     "Write a range, such as `0 to 9`: a parameter needs a list of values."),
    ("world", ":|and|or|not|(", "never", "",
     "Write `always not …`: `never` is a step of scenarios."),
    ("law|watch", "", "if|where|while|whenever|on|require|unless|provided", "when {", _WHEN),
    ("law", ")", "in|at|phase|on", "during", "Write `during` before the name of a phase."),
    ("law", "", ",", "{ when", "Remove the comma: the parts of a header need no separators."),
    ("law", "phase", "NAME", "{", "Write the name of the phase alone: `during day`."),
    ("law", "", "during", "{", "Write `during` before `when`."),
    ("law|watch", ")|NAME", "with|by|at|chance|probability", "{",
     "Put it into the body: `{ chance 50% { … } }`."),
    ("law|watch|action", "", "= >", "{", "Leave it away: the body follows in braces."),
    ("action", "STRING", "- >", "{", "Leave it away: the body follows in braces."),
    ("law", "during", "STRING", "", "Write the name of the phase without quotes."),
    ("law|watch|effect|birth", "", "require", "let say",
     "Write `when …` in the header, or `if … { }`: only actions have `require`."),
    ("phase", "NAME", ":|=|in|ordered|order|parallel|(|NUMBER", "sequentially",
     "Write `phase name`, or `phase name sequentially`."),
    ("phase", "NAME", "-|>|<", "", "Write a `phase` for each, in their order."),
    ("phase", "NAME", "after|before|then|follows|precedes", "",
     "Leave it away: phases run in the order of their lines."),
    ("actor", "NAME", "is|=|-", ":", "Write the type after a colon: `actor me: T`."),
    ("actor", "TYPE", "=|{|(", "", "Leave it away: in a world, an object of this type acts."),
    ("actor", "actor", "TYPE", "", "Write a name and a colon before the type: `actor me: T`."),
    ("world", "world NAME", ":", "{", 'Leave the colon away: `world w "Title" { }`.'),
    ("world", "object NAME", "NAME", "", "Put commas between the names: `object a, b: T`."),
    ("world", "turns NAME", "NAME", "", "Put a comma between the names: `turns a, b`."),
    ("world", "reward NUMBER", "if|where|while", "", "Write `when` before the condition."),
    ("", "reward|award|cost|takes", "+", "", "Leave the `+` away."),
    ("world", "world NAME", "=|(|is|begin|do|[", "{",
     "Write `{` after the name: the lines of a world stand in braces."),
    ("world", "world NAME", "title|called|named", "STRING",
     'Leave the word away: `world w "Title" { }`.'),
    ("world", "world NAME", "NAME", "{", "Write one word, or put the name in backquotes."),
    ("", "", "do|begin|does", "{", "Write `{`: what follows stands in braces."),
    ("", "{", "{", "let say", "Remove one of the two braces."),
    ("world", "{", "{", "goal", "Remove one of the two braces."),
    # conditions and values
    ("", "because|or|otherwise|unless NAME", "STRING", "+=",
     'Write `else` before the label: `require … else label "…"`.'),
    ("", "because|unless", "STRING", "+=", "Write `else` before the text."),
    ("", "else NAME NAME", "STRING", "", 'Write one label: `else label "…"`.'),
    ("", "else NAME", "(|=|,", "STRING",
     'Write the text right after the label: `else label "…"`.'),
    ("", "", ", STRING", ")",
     'Write `require … else label "…"`, without parentheses around it.'),
    ("", "", ", STRING", "else", "Write `else` before the text."),
    ("", "", ". .", "let say", "Remove it."),
    ("", "STRING", ".", "let say", 'Write values into the text: `"… {x} …"`.'),
    ("", "was", "(", "", "Write `was x.f`, without parentheses."),
    ("derive|called|param|scope", "NAME|NUMBER|)|STRING|true|false|none", "if", "*",
     "Write `if … then … else …` for a value."),
    ("", "choice|choose|sample ( TYPE", "", "", "Write `pick x: T { … }`."),
    ("", "]", ". NAME", "*", "Write `x in [a, b]`."),
    ("", "in ( NAME . NAME", ",", ")", "Write a list in brackets: `[a, b]`."),
    ("", "in ( NAME|NUMBER|STRING", ",", ")", "Write a list in brackets: `[a, b]`."),
    ("", ",", ",", "", "Remove one of the two commas."),
    ("", "(|[", "=|==|!=|<|>|<=|>=|+|*|/|or|in", "[",
     "Write the operator between the values: `a == b`."),
    ("", "and|or|not|implies", "<|>|<=|>=|==|!=", "[",
     "Write both sides of each comparison: `x > 0 and x < 3`."),
    ("", "and|or", "and|or", "[", "Remove one of the two words."),
    ("", "=", "=|==", "[", "Remove one of the two signs."),
    ("", "<=", ">", "[", "Write `==` between two conditions."),
    ("", ">", ">", "[", "Write one `>`."),
    ("", "<", "<", "[", "Write one `<`."),
    ("", "/", "/ NUMBER", "[", "Write `div` for a quotient without a remainder."),
    ("", "+|*|div|mod", "<|>|<=|>=|==|!=|/|div|mod", "[", "Write a value between the two signs."),
    ("", "require|if|when|where|:", "<|>|<=|>=|==|!=|*|/|div|mod|and|or|in|is", "[",
     "Write a value before the sign."),
    ("", "", "~", "[", "Write `not`."),
    ("", "", "?", "[", "Leave the `?` away: names have no sign."),
    ("", "", "? .|!=|==|)|else|{|and|or", "*",
     "Leave the `?` away: an attribute of `none` is `none`."),
    ("", "", "not in", "*", "Write `not (x in …)`."),
    ("", "", "not in", "let say", "Write `not (x in …)`."),
    ("", "is", "greater|less|more|bigger|smaller|equal|at|above|below", "",
     "Write `>`, `<` or `==`."),
    ("", "is", "a|an", "", "Leave the article away: `x is T`."),
    ("", "is", "NAME", "TYPE",
     "Begin the name of a type with a capital letter, or write `==` for a value."),
    ("", "at", "least|most", "", "Write `>=` or `<=`."),
    ("", "NUMBER to", "NUMBER", "",
     "Write `x >= 0 and x <= 3`, or `n: 0 to 3` after `for` or `pick`."),
    ("", "in NUMBER", "to", "", "Write `n: 0 to 3` after `for` or `pick`."),
    ("", "NUMBER", ". .", "*",
     "Write `n: 0 to 3` after `for` or `pick`, or compare: `x >= 0 and x <= 3`."),
    ("", "for", "each|every|all|any", "", "Leave the word away: `for x: T { … }`."),
    ("", "for each|every|any", "TYPE", "",
     "Leave the word away, and write the name first: `for x: T { … }`."),
    ("", "for each|every|any", "NAME", "", "Leave the word away: `for x: T { … }`."),
    ("", "for", "TYPE NAME|{", "", "Write the name first: `for x: T { … }`."),
    ("", "", "if|when|with|such|and|suchthat|while", "where in", _WHERE),
    ("", "TYPE", "if|when|with|such|while", "where", _WHERE),
    ("action", ": TYPE", "where|when|if|with", ", )",
     'Put the condition into the body: `require … else label "…"`.'),
    ("law|watch", ": TYPE", "where|when|if|with", ", )", "Put the condition after `when`."),
    ("", "", "for", "]", "Leave out the brackets: `any(… for x: T)`, `count(x for x: T)`."),
    ("", "NAME|)", "NAME|NUMBER|STRING", ") , .", "Put a comma between the arguments."),
    ("", "NUMBER|STRING|]", "NAME|NUMBER|STRING", ") ,", "Put a comma between the arguments."),
    ("", "any|all|count|sum|min|max|first|last ( NAME", ":", "",
     "Write what is taken of each thing first: `x for x: T where …`."),
    ("", "(|, NAME", "=|:", ") , .", "Leave the names away: arguments stand in their order."),
    ("", "count|any|all|sum ( TYPE", "", "", "Write `count(x for x: T)`."),
    # changes
    ("", "", ": STRING", "else", "Write `else` before the text."),
    ("", "else STRING", ":", "", 'Write the label without quotes: `else label "…"`.'),
    ("", "", "then NAME", "else let say", 'Write `else` before the label: `else label "…"`.'),
    ("", "NAME", "- =", "+=", "Write `-=` without a blank."),
    ("", "NAME", "+ =", "+=", "Write `+=` without a blank."),
    ("", "= pick NAME", ":|in|from", "", "Write `pick x: T where … { y.f = x }`."),
    ("", "exists|some", "NAME", "+=", "Write `pick x: T where … { }` for one, or `for` for all."),
    ("", "transfer ( NAME", ",", "", "Write `transfer 3 of x.f to y.f`, without parentheses."),
    ("", "+= ( NAME", ",", "", "Write `add r(a, b)` for a fact."),
    ("", "-= ( NAME", ",", "", "Write `remove r(a, b)` for a fact."),
    ("scenario", "STRING", "of|for|on|with|:|using", "in!",
     'Name the world after the title: `scenario "…" in name { }`.'),
    ("scenario", "because", ":|=|is|(", "",
     "Write the label right after the word: `refused because label`."),
    ("scenario", "then NAME", "because", "", "Write `refused because label`."),
    ("scenario", "then|always|never", "{", "",
     "Leave the braces away, and put commas between the checks."),
    ("scenario", "", "- >", "given", "Write `then`."),
    ("scenario", "winnable|unwinnable", "in|<=|<|(|:|==|=|NUMBER|by", "",
     "Write `{word} within {number}`."),
    ("scenario", "then NAME", "within", "",
     "Write `winnable within 4`, or `within 3` before a condition."),
    ("scenario", "refused", "(|:|=", "", "Write `refused because label`."),
    ("scenario", "within|times NUMBER", "ticks|tick|turns|turn|steps|step|rounds|times", "",
     "Leave the word away: `{number}` alone counts ticks."),
    ("scenario", "", ", won|lost|refused|unchanged|status|emits|says", "times",
     "Write `then` instead of the comma."),
    ("scenario", "", ",", "times", "Write another `when` instead of the comma."),
    ("scenario", "when NAME", ":", "", "Write who acts after it: `when go(x) by anna`."),
    ("scenario", "then assert|that|expect|check", "NAME", "", "Leave the word away."),
    ("", "let NAME", ".|(|[", "=!", "Leave `let` away: `x.f = …` changes a value."),
    ("", ". NAME", ": =", "+=", "Write `=` to set a value."),
    ("", "NAME", ": =", "+=", "Write `let x = …` for a new value, `x.f = …` for a change."),
    ("", "let mut|var|const|val|mutable", "NAME", "=!", "Leave the word away: `let x = …`."),
    ("", "let NAME", "NAME", "=!", "Leave the type away: `let x = …`."),
    ("", "let NAME", ": =", "=", "Write `=` alone: `let x = …`."),
    ("", "NAME", "< -", "+=", "Write `=` to set a value."),
    ("", ". NAME", "none|true|false|NUMBER|STRING|to", "+=", "Write `=` before the value."),
    ("", "NAME", "[", "+=",
     "Write `x.f` for an attribute and `f(x)` for a function: nothing has an index."),
    ("", "NAME", ",", "+=", "Write a change for each: `x.f = …  y.f = …`."),
    ("", "create NAME : TYPE", "(", "", "Write the values in braces: `create x: T { f = … }`."),
    ("", "", "(", "let say", _UNWRAPPED),
    ("", "{|}|STRING", "[", "let say", "Write `for x: T { … }` for a change of each thing."),
    ("", "none|true|false|)|NAME", ".", "let say", "Remove the point: changes need no end."),
    ("", "{|}|STRING", ".", "let say", "Remove it."),
    ("", "", "then|and|do", "let say", "Leave the word away: changes follow each other."),
    ("", "", "pass", "let say", "Leave it away: a body may be empty, `{ }`."),
    ("", "", "~", "let say", "Write `remove` before a fact."),
    ("", "", "+ +", "let say", "Write `x.f += 1`."),
    ("", "", "where", "let say", "Write `where …` before the brace: `for x: T where … { }`."),
    ("", "}", "otherwise", "let say", "Write `else`."),
    ("", "", "all|any|each", "let say", "Write `for x: T where … { }`."),
    ("", "}", "PERCENT", "or", "Write `or` before the next probability."),
    ("", "", "PERCENT", "let say", "Write `chance` before it: `chance 50% { … }`."),
    ("", "chance of", "", "", "Leave `of` away: `chance 50% { … }`."),
    ("", "else", "chance", "", "Write `or 50% { … }` for another chance, or braces: `else { … }`."),
    ("", "if", "chance", "[", "Leave `if` away: `chance 50% { … }`."),
    ("", "if", "let", "[", "Write the `let` before the `if`."),
    ("", "}|)|NAME|NUMBER|STRING|none|true|false", "{", "let say",
     "Write `if`, `for` or `chance` before a brace, or leave the braces away."),
    ("", "transfer NAME|NUMBER", ",", "of", "Write `of` and `to`: `transfer 3 of x.f to y.f`."),
    ("", "transfer NAME . NAME", "to", "of", "Write how much first: `transfer 3 of x.f to y.f`."),
    ("", "pick random|any|one|a|some", "NAME", "", "Leave the word away: `pick x: T where … { }`."),
    ("", "pick", "random|any|one|a|some NAME", "", "Leave the word away: `pick x: T where … { }`."),
    ("", "", "TYPE .", "let say", "Write `for x: T where … { }`."),
    ("", "", "from", "of", "Write `of`: `transfer 3 of x.f to y.f`."),
    ("", "swap NAME", "with|and|for|to", ",", "Put a comma between the two: `swap x.f, y.f`."),
    ("", "swap NAME . NAME", "with|and|for|to", ",",
     "Put a comma between the two: `swap x.f, y.f`."),
    ("", "create NAME", "{|(", ":", "Write the type after the name: `create x: T { f = … }`."),
    ("action", "on|if|when", "cancel|cancelled|abort|interrupt|stop", "",
     "Write `cancelled { … }`."),
    ("", "{|}|)|NAME|STRING|NUMBER|true|false|none", "- >", "let say",
     "Leave it away: changes follow each other."),
    ("", "-", ">", "let say", "Leave it away: changes follow each other."),
    ("believe", "", "=", ":", "Write `:` before the chance of a value: `{ a: 90% }`."),
    ("believe", "", "otherwise|default|rest", "else", "Write `else`."),
    ("believe", "~", "", "{!", "Put the guesses in braces: `x.f ~ { a: 90%, else: 10% }`."),
    ("believe", "", "=|:|in|is", "~", "Write `~` before the guesses: `x.f ~ { … }`."),
    ("", "create a|an|the", "NAME", ":", "Leave the article away: `create x: T { }`."),
    ("", "emit NAME", "", "(!", "Write the arguments in parentheses: `emit e(x)`, or `emit e()`."),
    ("", "reward", ":|=|+=|-=", "", "Leave the sign away: `reward 1`."),
    ("", "let say", ":|=", "STRING", 'Leave the sign away: `say "…"`.'),
    # worlds
    (_LINES, ",", ":", "NAME", "Remove the comma before `:`."),
    (_LINES, ":", "new|a|an|the|class TYPE", "", "Leave the word away: `object x: T`."),
    (_LINES, "object", "[|(|{", "", "Leave out the brackets: `object a, b: T`."),
    (_LINES, "object|,", "STRING", "NAME",
     'Write the name without quotes; a title follows the type: `object x: T "…"`.'),
    (_LINES, "NAME", "and", ",", "Put a comma between the names."),
    (_LINES, "NAME", ".|[|*", ": ,", "Declare each object by its name: `object a, b: T`."),
    (_LINES, "TYPE", "named|called|titled|name|title STRING", "aka",
     'Leave the word away: `object x: T "…"`.'),
    (_LINES, "TYPE", "=|:", "aka",
     "Write the values right after the type: `object x: T { f = … }`."),
    (_LINES, "TYPE", ", object|goal|lose|setup", "aka",
     "Remove the comma: lines need no separators."),
    (_LINES, "TYPE", ", NAME", "aka", "Write an `object` for each type, or `object a, b: T`."),
    (_LINES, "TYPE", "?", "aka", "Leave the question mark away: an object is there."),
    (_LINES, "TYPE", "*|[|NUMBER", "aka", "Declare each object: `object a, b: T`."),
    (_LINES, "{|,", "STRING", "NAME }", "Write names without quotes."),
    (_LINES, "", ". NAME", "NAME }", "Write the attribute without the point: `{ at = hall }`."),
    (_LINES, "NAME", ".", "=!", "Write the attribute alone: `{ at = hall }`."),
    ("world", "score", "", "=!", "Write `score = …`."),
    (_LINES, "NUMBER NAME", "}|NAME", "=!", "Write the unit right after its number: `3kg`."),
    (_LINES, "NAME", "-|<|is|NAME|NUMBER|STRING|true|false|none", "=!", _FIELD),
    ("", "create NAME : TYPE { NAME", ":", "=!", _FIELD),
    ("world", "", "let|var|const|new", "goal", "Write `object x: T { f = … }`."),
    ("world", "", "NAME ,", "goal", "Write `object a, b: T`."),
    ("world", "", "-|*|+", "goal", "Leave the sign away: each line begins with a word."),
    ("world", "", ":|,|then|else|say|says STRING", "STRING",
     'Write the text right after the condition: `goal name: … "…"`.'),
    ("world", "turns", "NUMBER|=|:|[", "", "Name who acts: `turns a, b`."),
    ("world", "time", "", "passes!", "Write `time passes always`, or `time passes executed`."),
    ("world", "legend STRING", "", "{!", 'Put the changes in braces: `legend "#" { … }`.'),
    ("world", "setup", "", "{!", "Put the changes in braces: `setup { … }`."),
    ("world", "", "(|[", "goal",
     "Put changes of the start into `setup { }`, without parentheses: `add r(a, b)`."),
    # scenarios
    ("scenario", "in world", "NAME", "", "Leave `world` away: `in name`."),
    ("scenario", "when action|call|do", "NAME", "given", "Leave the word away: `when take(x)`."),
    ("scenario", "when NAME", "STRING", "times",
     'Write who acts after the words: `when "…" by anna`.'),
    ("scenario", "when NAME", "NAME|takes|has|NUMBER", "given", _INTENT),
    ("scenario", "when", "[|(|{", "", "Write a `when` for each, with a call or the words to type."),
    ("scenario", "random", "", "NUMBER!", "Write a number after it: `random 7`."),
    ("scenario", "because", "STRING", "",
     "Write the label without quotes: `refused because label`."),
    ("scenario", "refused", "STRING|NAME|with", "because", "Write `refused because label`."),
    ("scenario", "let say", "STRING", "", 'Write `says "…"`.'),
    ("scenario", "emit", "NAME", "", "Write `emits e(x)`."),
    ("scenario", "", "*|NUMBER|repeat|twice|thrice", "times",
     "Write `times` and a number: `when pass times 3`."),
    ("scenario", "won|lost within", "NUMBER", "",
     "Write `within 3` before a condition: `then within 3 x.f == 1`."),
    ("scenario", "won|lost|refused|unchanged", "=|==|and|or|is", "given", _ALONE),
    ("scenario", "status", ":|=|==|is|STRING", "",
     "Write the status without a sign: `status executed`."),
    ("scenario", "then|always|never|when|given", ":|=", "", "Remove it: the word stands alone."),
    ("scenario", "and", "then", "", "Put a comma between the checks: `then a, b`."),
    ("scenario", "", ":", "given", "Remove the colon: steps need no separators."),
    ("scenario", "", "setup|init|initially", "given", "Write `given { … }`."),
    # anywhere
    ("", "", ":", "then", "Write `then`: `if … then … else …`."),
    ("", "NAME", "", "=!", "Write `=` and a value after the name."),
    ("", "NUMBER", "", "=!", "Write `=` and a value."),
)  # fmt: skip


def tabled(found: Found) -> str | None:
    """Return the hint of the first row that fits; `forms.meant` asks first for it."""
    if _is_hyphen(found):
        return HYPHEN
    for item, before, token, needs, hint in _ROWS:
        if item and found.item not in item.split("|"):
            continue
        if _expects(found, needs) and _is_behind(found, before) and _is_token(found, token):
            return _numbered(hint, found)
    return None


def _numbered(hint: str, found: Found) -> str:
    """The hint with the number that the author wrote, and the word before it."""
    near = [one for one in (found.previous, found.token, found.following) if one is not None]
    number = next((one.text[:20] for one in near if one.terminal == "NUMBER"), "4")
    word = near[0].text[:20].replace("`", "")
    return hint.replace("{number}", number).replace("{word}", word)


def _is_hyphen(found: Found) -> bool:
    """Return whether a hyphen stands inside a name."""
    joined = found.token.terminal == "-" and "*" not in found.expected
    before, behind = found.previous, found.following
    touching = before is not None and before.end == found.token.start and found.touches(behind)
    return joined and touching and found.is_name(before) and found.is_name(behind)


def _expects(found: Found, needs: str) -> bool:
    wanted = frozenset(needs.removesuffix("!").split())
    return wanted == found.expected if needs.endswith("!") else wanted <= found.expected


def _is_behind(found: Found, before: str) -> bool:
    """Return whether the last tokens match one of the sequences; their words may be
    alternatives."""
    words = before.split()
    if not words:
        return True
    if len(words) > len(found.before):
        return False
    last = found.before[-len(words) :]
    return all(_fits(found, one, word) for one, word in zip(last, words, strict=True))


def _is_token(found: Found, spec: str) -> bool:
    """Return whether the unexpected token fits, and the one after it where the row names one."""
    if not spec:
        return True
    word, _, behind = spec.partition(" ")
    if not _fits(found, found.token, word):
        return False
    return not behind or (found.following is not None and _fits(found, found.following, behind))


def _fits(found: Found, token: Token, word: str) -> bool:
    options = word.split("|")
    if token.terminal in options or token.text in options:
        return True
    if "NUMBER" in options and token.terminal in ("PERCENT", "QUANTITY"):
        return True
    return "NAME" in options and found.is_name(token)
