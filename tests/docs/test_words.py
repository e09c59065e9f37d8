"""The lists of words in the docs: reserved words, and the glossary."""

from __future__ import annotations

import re

from tests.docs.pages import ROOT
from tokenworld.syntax.tables import tables

DOCS = ROOT / "docs"


def test_the_reserved_words_are_listed() -> None:
    page = (DOCS / "language.md").read_text(encoding="utf-8")
    listed = page.split("\n## Reserved words\n")[1].split("\n\n")[1]
    assert re.findall(r"`(\w+)`", listed) == sorted(tables().reserved)


def test_the_glossary_is_in_order_and_says_where_to_read_on() -> None:
    text = (DOCS / "glossary.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \| \[[^]]+\]\(([^)]+)\) \|$", text, re.MULTILINE)
    assert len(rows) == text.count("\n|") - 2
    words = [word for word, _, _ in rows]
    assert words == sorted(words)
    assert {"fluent", "grounding", "label", "law", "precondition", "refusal", "tick"} < set(words)
