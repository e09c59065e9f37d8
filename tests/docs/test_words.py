"""The words of the docs: how a page begins, reserved words, and the glossary."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.pages import ROOT
from tokenworld.syntax.tables import tables

DOCS = ROOT / "docs"
PAGES = [one for one in sorted(DOCS.glob("*.md")) if one.stem not in ("glossary", "planning")]


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


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_a_page_says_its_purpose_and_shows_an_example_before_its_rules(path: Path) -> None:
    title, first, *rest = re.split(r"\n{2,}", re.sub(r"<!--.*?-->\n", "", path.read_text("utf-8")))
    assert title.startswith("# ")
    assert not first.startswith(("#", "|", "- ", "```", "!["))
    before = "\n\n".join(rest).partition("```")[0]
    assert "\n|" not in before
    assert before.count("\n## ") <= 1
    assert before.count("\n\n") <= 6
