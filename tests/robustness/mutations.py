"""Deterministic mutations of programs: the same seed and number always give the same bytes."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

PYTHON_NAMES = (
    "__import__", "None", "True", "lambda", "def", "class", "self", "exec", "print", "yield",
    "async", "W", "S", "k0", "a0", "d1", "state", "globals", "__builtins__",
)  # fmt: skip
RAW_NAMES = (
    "`a'b`", '`a"b`', "`a\\`", "`\\n`", "`{x}`", "`%s`", "`{0}`", "` `", "`a b`", "`-`", "`1`",
    "`None`", "`__import__('os')`", "`\u2028`", "`\x85`", "`#`", "`;`", "`ünï`", "`🔥`", "`a\tb`",
    "`count`", "`)`", "`x'''y`", "`\\\\`", "`(define`", "`?x`",
)  # fmt: skip
NUMBERS = (
    "0", "1", "2", "-1", "0.5", "99999999999999999999999999", "4611686018427387904", "1e9", "0%",
    "101%", "5l", "0.000000000000000001", "9" * 400, "9" * 2000, "0." + "0" * 300 + "1",
    "100000000",
)  # fmt: skip
CHARACTERS = (
    "\0", "\x07", "\x1b[31m", "\ufeff", "\u2028", "\u2029", "\x85", "\x0c", "\x0b", "\u202e",
    "\u200b", "\U0010ffff", "é", "“", "’", "…", "\r", "\r\n", "\t", "'", '"', "`", "\\", "{", "}",
    "(", ")", "[", "]", "#", ";", "@", "~", "?", "..", "\n", "\n\n\n",
)  # fmt: skip
BYTES = (
    b"\xff", b"\x00", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\xf4\x90\x80\x80", b"\xc0\xaf", b"\x80",
    b"\xfe\xff", b"\r", b"\x1a",
)  # fmt: skip
PIECES = (
    "{the x}", "{x.", "{", "}", "\\{", "\\", "\\n", "{a list me.contents}", "%s", "%(x)s", "{0}",
    "{{", "}}", "\u2028", "'''", "{`a`}", "{1 + }", "{x!r}", "{count}", "é🔥",
)  # fmt: skip
_WORD = re.compile(r'"(?:[^"\\\n]|\\.)*"|`[^`\n]+`|[A-Za-z0-9_]+|[^\sA-Za-z0-9_]')
_NAME = re.compile(r"(?<![\"`\w])[a-z][a-z_]+\b")
_NUMBER = re.compile(r"\b[0-9]+(?:\.[0-9]+)?\b")
_TEXT = re.compile(r'"(?:[^"\\\n]|\\.)*"')


def corpus() -> list[str]:
    """The programs that are mutated: worlds, rules, one of everything, and the small mistakes."""
    folders = ("domains", "rules", "tests/syntax/texts", "tests/errors")
    paths = sorted(path for folder in folders for path in (ROOT / folder).rglob("*.tw"))
    texts = [path.read_bytes().decode("utf-8", "replace") for path in paths]
    # Small programs are read sooner, and are mutated more often for it.
    return [text for text in texts for _ in range(3 if len(text) < 3000 else 1)]


def mutant(texts: list[str], seed: int, number: int) -> bytes:
    """The mutant of that number: one to six mutations of one of the texts, as bytes."""
    dice = random.Random(f"{seed}/{number}")
    text = dice.choice(texts)
    if dice.random() < 0.4:
        # A mild change leaves many worlds sound enough to run.
        worlds = [one for one in texts if "\nscenario " in one]
        return dice.choice(MILD)(dice, dice.choice(worlds)).encode("utf-8", "replace")
    if dice.random() < 0.02:
        text = "".join(dice.choice(WORDS) + " " for _ in range(dice.randrange(80)))
    for _ in range(dice.choice((1, 1, 1, 2, 2, 3, 6))):
        text = dice.choice(MUTATIONS)(dice, text)
    data = text.encode("utf-8", "surrogatepass")
    if dice.random() < 0.05:
        data = spoil(dice, data)
    return data


def spoil(dice: random.Random, data: bytes) -> bytes:
    """Insert bytes that are not text, anywhere or at the start."""
    at = dice.choice((0, dice.randrange(len(data) + 1)))
    return data[:at] + dice.choice(BYTES) + data[at + dice.randrange(2) :]


# ---- mutations of the text ----------------------------------------------------------------


def _lines(dice: random.Random, text: str) -> str:
    lines = text.split("\n")
    first, second = dice.randrange(len(lines)), dice.randrange(len(lines))
    match dice.randrange(4):
        case 0:
            del lines[first]
        case 1:
            lines.insert(second, lines[first])
        case 2:
            lines[first], lines[second] = lines[second], lines[first]
        case _:
            del lines[first : first + dice.randrange(1, 6)]
    return "\n".join(lines)


def _tokens(dice: random.Random, text: str) -> str:
    found = list(_WORD.finditer(text))
    if not found:
        return text
    one, other = dice.choice(found), dice.choice(found)
    put = {0: "", 1: other.group(), 2: f"{one.group()} {one.group()}", 3: dice.choice(WORDS)}
    return text[: one.start()] + put[dice.randrange(4)] + text[one.end() :]


def _renamed(dice: random.Random, text: str) -> str:
    """One name spelt in a hostile way, everywhere or in one place."""
    names = _NAME.findall(text)
    if not names:
        return text
    name, new = dice.choice(names), dice.choice((*PYTHON_NAMES, *RAW_NAMES, "x" * 5000))
    count = dice.choice((0, 0, 0, 1))
    return re.sub(rf"(?<![\"`\w]){name}\b", lambda _: new, text, count=count)


def _number(dice: random.Random, text: str) -> str:
    found = list(_NUMBER.finditer(text))
    if not found:
        return text
    one = dice.choice(found)
    return text[: one.start()] + dice.choice(NUMBERS) + text[one.end() :]


def _words(dice: random.Random, text: str) -> str:
    """Something odd inside a quoted text, or a very long one."""
    found = list(_TEXT.finditer(text))
    if not found:
        return text
    one = dice.choice(found)
    at = dice.randrange(one.start() + 1, one.end())
    piece = dice.choice((*PIECES, "long " * 4000, "{" + "(" * 2000))
    return text[:at] + piece + text[at:]


def _character(dice: random.Random, text: str) -> str:
    at = dice.randrange(len(text) + 1)
    return text[:at] + dice.choice(CHARACTERS) + text[at + dice.randrange(2) :]


def _deep(dice: random.Random, text: str) -> str:
    """A value or a body nested many levels deep."""
    depth = dice.choice((5, 31, 33, 90, 101, 1000, 5000))
    found = [m.end() for m in re.finditer(r"= |when |require |if |: ", text)] or [0]
    at = dice.choice(found)
    opening, closing = dice.choice(
        (("(", ")"), ("not ", ""), ("-", ""), ("[", "]"), ("if a then ", " else b"),
         ("f(", ")"), ("1 + ", ""), ("x and ", ""), ("count(x for x: T where ", ")"),
         ("any(", ")"), ("a.", ""), ("{ if a ", "}"), ("{", "}"), ("a implies ", ""))
    )  # fmt: skip
    closed = closing * dice.choice((depth, depth, depth - 1))
    return text[:at] + opening * depth + text[at : at + 1] + closed + text[at + 1 :]


def _cut(dice: random.Random, text: str) -> str:
    first, last = sorted(dice.randrange(len(text) + 1) for _ in range(2))
    return text[:first] if dice.random() < 0.3 else text[:first] + text[min(last, first + 40) :]


def _copied(dice: random.Random, text: str) -> str:
    first, to = dice.randrange(len(text) + 1), dice.randrange(len(text) + 1)
    return text[:to] + text[first : first + dice.randrange(60)] + text[to:]


def _surrogate(dice: random.Random, text: str) -> str:
    at = dice.randrange(len(text) + 1)
    return text[:at] + chr(dice.randrange(0xD800, 0xE000)) + text[at:]


MUTATIONS: tuple[Callable[[random.Random, str], str], ...] = (
    _lines, _lines, _tokens, _tokens, _tokens, _renamed, _renamed, _number, _number, _words,
    _character, _deep, _cut, _copied,
    lambda dice, text: _surrogate(dice, text) if dice.random() < 0.1 else text,
)  # fmt: skip
MILD: tuple[Callable[[random.Random, str], str], ...] = (
    _renamed,
    _renamed,
    _number,
    _lines,
    _words,
)
WORDS = (
    *(ROOT / "grammars/tw.lark").read_text("utf-8").split('"')[1::2], *PYTHON_NAMES, *RAW_NAMES,
    *NUMBERS[:8], '""', '"x"', "x", "T", "x.y", "T.a", "f(x)", "0 to 9", "@", "me", "none",
)  # fmt: skip
