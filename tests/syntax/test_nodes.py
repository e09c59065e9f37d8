"""Every construct has a node, and every node covers exactly its own text."""

from __future__ import annotations

import typing
from pathlib import Path

import pytest
from trees import TEXTS, bare, parse, programs, walk

from tokenworld.diagnostics import Source
from tokenworld.syntax import nodes as n
from tokenworld.syntax import parse_source

EVERYTHING = (TEXTS / "everything.tw").read_text(encoding="utf-8")
ABSTRACT = {"Node"}


def test_every_class_of_the_tree_occurs() -> None:
    classes = {
        name
        for name, found in vars(n).items()
        if isinstance(found, type) and issubclass(found, n.Node)
    }
    seen = {type(node).__name__ for node in walk(parse(EVERYTHING))}
    assert classes - seen == ABSTRACT


@pytest.mark.parametrize("path", programs(), ids=lambda p: p.name)
def test_spans_are_exact(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    file, problems = parse_source(Source(path.name, path, text))
    assert problems == ()
    expressions = typing.get_args(n.Expr)
    for node in walk(file):
        own = text[node.span.start : node.span.end]
        assert own.strip() == own or isinstance(node, n.TextPart | n.File), node
        if isinstance(node, n.Name):
            assert own == (f"`{node.value}`" if node.raw else node.value)
        if isinstance(node, n.Slot):
            assert own.startswith("{")
            assert own.endswith("}")
        # (A name may also stand for a type, which is no expression.)
        if isinstance(node, expressions) and not isinstance(node, n.Name):
            (item,) = parse(f"derive x() = {own}").items
            assert isinstance(item, n.DeriveDecl)
            assert bare(item.value) == bare(node), own


@pytest.mark.parametrize("path", programs(), ids=lambda p: p.name)
def test_children_lie_inside_their_parents_in_order(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for node in walk(parse_source(Source(path.name, path, text))[0]):
        for child in walk(node):
            assert node.span.start <= child.span.start <= child.span.end <= node.span.end


@pytest.mark.parametrize("path", programs(), ids=lambda p: p.name)
def test_lines_and_columns_agree_with_offsets(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    lines = text.split("\n")
    for node in walk(parse_source(Source(path.name, path, text))[0]):
        span = node.span
        assert sum(len(x) + 1 for x in lines[: span.line - 1]) + span.column - 1 == span.start
        assert sum(len(x) + 1 for x in lines[: span.end_line - 1]) + span.end_column - 1 == span.end


def test_soft_words_are_names() -> None:
    file = parse((TEXTS / "soft_words.tw").read_text(encoding="utf-8"))
    assert [type(item).__name__ for item in file.items] == [
        "DeriveDecl", "DeriveDecl", "EventDecl", "PhaseDecl", "LawDecl", "TypeDecl", "ParamDecl",
        "TableDecl", "RelationDecl", "ObjectDecl", "DescribeDecl", "BirthDecl",
    ]  # fmt: skip


def test_raw_names_have_the_value_of_plain_ones() -> None:
    raw, plain = parse("phase `door` phase door").items
    assert isinstance(raw, n.PhaseDecl)
    assert isinstance(plain, n.PhaseDecl)
    assert raw.name.value == plain.name.value == "door"
    assert (raw.name.raw, plain.name.raw) == (True, False)


def expression(text: str) -> n.Expr:
    (item,) = parse(f"derive x() = {text}").items
    assert isinstance(item, n.DeriveDecl)
    return item.value


@pytest.mark.parametrize(
    ("text", "same_as"),
    [
        ("a implies b implies c", "a implies (b implies c)"),
        ("a or b and c", "a or (b and c)"),
        ("not a == b", "not (a == b)"),
        ("not a and b", "(not a) and b"),
        ("a - b - c", "(a - b) - c"),
        ("a + b * c", "a + (b * c)"),
        ("-a * b", "(-a) * b"),
        ("a in b.c", "a in (b.c)"),
        ("if a then b else c or d", "if a then b else (c or d)"),
        ("was a.b > 1", "(was a.b) > 1"),
    ],
)
def test_precedence(text: str, same_as: str) -> None:
    assert bare(expression(text)) == bare(expression(same_as))


def test_written_groups_stay_apart() -> None:
    flat, nested = expression("a and b and c"), expression("(a and b) and c")
    assert isinstance(flat, n.And)
    assert isinstance(nested, n.And)
    assert len(flat.operands) == 3
    assert isinstance(nested.operands[0], n.And)


def test_parentheses_are_outside_the_span_of_what_they_hold() -> None:
    source = "derive x() = ( a or b ) and c"
    (item,) = parse(source).items
    assert isinstance(item, n.DeriveDecl)
    group = item.value
    assert isinstance(group, n.And)
    assert source[group.span.start : group.span.end] == "( a or b ) and c"
    inner = group.operands[0]
    assert source[inner.span.start : inner.span.end] == "a or b"


@pytest.mark.parametrize(
    ("text", "digits", "decimals", "unit", "scaled"),
    [
        ("12", "12", 0, None, 12),
        ("0.050", "0.050", 3, None, 50),
        ("12.50l", "12.50", 2, "l", 1250),
        ("25%", "25", 0, "%", 25),
        ("9" * 900, "9" * 900, 0, None, int("9" * 900)),
    ],
)
def test_numbers(text: str, digits: str, decimals: int, unit: str | None, scaled: int) -> None:
    number = expression(text)
    assert isinstance(number, n.Number)
    assert (number.digits, number.decimals, number.unit) == (digits, decimals, unit)
    assert number.scaled == scaled


def test_else_if_is_one_list() -> None:
    chain = " else ".join(f"if a{i} {{ }}" for i in range(500))
    (item,) = parse(f"law l() {{ {chain} else {{ x = 1 }} }}").items
    assert isinstance(item, n.LawDecl)
    (effect,) = item.block.effects
    assert isinstance(effect, n.If)
    assert len(effect.branches) == 500
    assert effect.otherwise is not None


def test_long_chains_of_one_operator_are_no_nesting() -> None:
    value = expression(" and ".join(f"a{i}" for i in range(2000)))
    assert isinstance(value, n.And)
    assert len(value.operands) == 2000
