"""Hints about names: reserved words, misspelt keywords, capital letters."""

from __future__ import annotations

from typing import Final

from tokenworld.diagnostics import closest
from tokenworld.syntax.hint_words import EFFECTS, FOLDERS, OPERATORS, STEPS, WORLD, Found
from tokenworld.syntax.tree import Token

_ELSE_IF: Final = frozenset({"elif", "elsif", "elseif"})
# What follows a name that a change begins with.
_CHANGES: Final = frozenset({"=", "+=", "-=", ".", "~"})
# Checks of a scenario, which are no values.
_CHECKS: Final = frozenset({"won", "lost", "refused", "unchanged", "winnable", "unwinnable"})


def is_reserved_name(found: Found) -> bool:
    """Whether the unexpected token is a reserved word that was meant as a name."""
    token, previous, expected = found.token, found.previous, found.expected
    if token.terminal not in found.tables.reserved or previous is None:
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


def reserved(found: Found) -> str | None:
    """A reserved word used as a name must be quoted."""
    previous = found.previous
    if is_reserved_name(found):
        word = found.token.text
    elif previous and previous.terminal in FOLDERS and found.expected == {"("}:
        word = previous.text
        if found.is_name(found.token):
            kind = f"{word}({found.token.text}.… for {found.token.text}: T)"
            return f"Write `{kind}` to go over things."
    else:
        return None
    return f"`{word}` is a reserved word: write it in backquotes to use it as a name."


def misspelt(found: Found) -> str | None:
    """A word that is nearly a keyword: this one, or the one before it that began the line."""
    token, previous = found.token, found.previous
    if token.text in _ELSE_IF or (previous and previous.text in _ELSE_IF):
        return "Write `else if`."
    if not found.before:
        known = sorted(found.tables.first("item"))
        return _did_you_mean(token.text, known) if token.terminal == "NAME" else None
    words = sorted(t for t in found.expected if t in found.tables.keywords)
    if token.terminal == "NAME" and "NAME" not in found.expected:
        near = _did_you_mean(token.text, words)
        if near:
            return near
    if previous and _begins_statement(found) and token.terminal not in (".", ")", "}"):
        known = sorted(EFFECTS | WORLD | STEPS | {"else", "during", "when", "where"})
        return _did_you_mean(previous.text, known)
    return None


def _begins_statement(found: Found) -> bool:
    """Whether the token before may be the first word of a statement that went wrong."""
    previous = found.previous
    if previous is None or previous.terminal != "NAME" or len(found.before) < 2:
        return False
    earlier = found.before[-2].terminal
    return earlier != "." and earlier not in found.tables.keywords - {"endless"}


def _did_you_mean(word: str, known: list[str]) -> str | None:
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
