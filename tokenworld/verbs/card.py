"""Make cards: a short description of the language for a model, from texts that tests check.

A card is made of the parts of `docs/language.md` that stand after a line ``<!-- card: author -->``
(its programs are checked by the tests), the index of the standard rules (`rules/README.md`), and
the corpus of mistakes (`docs/cards/mistakes.toml`).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Final, Literal, get_args

from tokenworld.assets import asset_folder, language_page, rules_folder
from tokenworld.verbs import options as opt
from tokenworld.verbs.judge.findings import tokens
from tokenworld.verbs.output import EXIT_OK, Output

Purpose = Literal["author", "player", "repair"]
PURPOSES: Final[tuple[Purpose, ...]] = get_args(Purpose)

MOST_TOKENS: Final = 3_000
"""The greatest number of tokens of a card, three bytes each (`judge.findings.tokens`)."""

LEFT_OUT: Final = (
    "acyclic", "ask", "at_most_once", "believe", "birth", "called", "effect", "learned", "least",
    "model", "most", "nesting", "once", "pddl", "quirk", "scratch", "sequentially",
    "sometime", "sometime_after", "sometime_before", "uniform",
)  # fmt: skip
"""Keywords that no part of the card for authors shows; the card names them, for none may be used
as a name by mistake."""

_PART: Final = re.compile(
    r"^<!-- card: ([a-z ]+) -->\n(```.*?^```$|.*?)(?=\n\n|\n<!--|\Z)", re.MULTILINE | re.DOTALL
)
_LINK: Final = re.compile(r"\[([^\]]+)\]\([^)]*\)")
_MODULE: Final = re.compile(r"^\| `([a-z]+)\.([a-z]+)` \| ([^|]+) \|", re.MULTILINE)
_FAMILIES: Final = ("std", "grid")
"""The standard modules that work together."""


@dataclass(frozen=True, slots=True)
class Mistake:
    """A text that is often written, and the right one: ``instead`` is the text of the corpus' world
    that both replace, ``card`` the cards that show them."""

    instead: str
    wrong: str
    right: str
    code: str
    card: tuple[Purpose, ...]


@cache
def mistakes() -> tuple[str, tuple[Mistake, ...]]:
    """Return the world in which the mistakes are made, and the mistakes."""
    found = tomllib.loads((asset_folder("cards") / "mistakes.toml").read_text(encoding="utf-8"))
    listed = (Mistake(**{**one, "card": tuple(one["card"])}) for one in found["mistake"])
    return found["world"], tuple(listed)


def parts(purpose: Purpose) -> Iterator[str]:
    """Yield the parts of the language page that are marked for a card."""
    for marks, text in _PART.findall(language_page().read_text(encoding="utf-8")):
        if purpose in marks.split():
            yield text if text.startswith("```") else _LINK.sub(r"\1", text)


@cache
def card(purpose: Purpose) -> str:
    """Return the text of a card."""
    return "\n\n".join((_HEADS[purpose], *parts(purpose), *_behind(purpose))) + "\n"


def _behind(purpose: Purpose) -> Iterator[str]:
    if purpose == "player":
        return
    if purpose == "author":
        yield f"Other keywords: {', '.join(LEFT_OUT)}."
        yield _standard_rules()
    yield "\n".join(("Mistakes (wrong → right):", *map(_told, _shown(purpose))))


def _shown(purpose: Purpose) -> Iterator[Mistake]:
    return (one for one in mistakes()[1] if purpose in one.card)


def _told(one: Mistake) -> str:
    return f"- `{one.wrong}` → `{one.right}` ({one.code})"


@cache
def standard_modules() -> tuple[tuple[str, str], ...]:
    """Return the standard modules as ``std.doors``, each with a summary of its contents."""
    page = (rules_folder() / "README.md").read_text(encoding="utf-8")
    return tuple((f"{family}.{name}", what) for family, name, what in _MODULE.findall(page))


def _standard_rules() -> str:
    names = [name.split(".") for name, _ in standard_modules()]
    listed = [
        f"`{family}.`: {', '.join(name for one, name in names if one == family)}"
        for family in _FAMILIES
    ]
    return "\n".join(("Standard rules, all on top of `std.things` (`use std.doors`):", *listed))


_HEADS: Final[dict[Purpose, str]] = {
    "author": "# `.tw`, a language for the rules of worlds\n\n"
    "A file declares types, facts, actions, laws, worlds and scenarios, in any order.",
    "repair": "# Repairing a `.tw` file\n\n"
    "A report gives the code, the line and the next step. Repair the first error first: later\n"
    "ones may follow from it. `tw explain CODE` tells more.",
    "player": "# Playing a world\n\n"
    "Answer with one command: words of an action, a call such as `take(lamp)`, or `pass`, which\n"
    "lets time go by. A refused command changes nothing and tells why.",
}


# ---- The verb -----------------------------------------------------------------------------------
# ``tw card``: print a card.


def print_card(
    out: Output,
    *,
    purpose: Annotated[Purpose, opt.Option("--for"), "Who reads it."] = "author",
) -> int:
    """Print the card for a purpose."""
    text = card(purpose)
    out.data(text.removesuffix("\n"))
    out.json({"schema_version": 1, "for": purpose, "card": text, "tokens": tokens(text)})
    return EXIT_OK
