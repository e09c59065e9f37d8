"""Comments are kept beside the tree."""

from trees import parse

from tokenworld.syntax import docs_of

TEXT = """# file
## Not a doc: a line lies between.

## First line.
##   Second line.
type A   # after
type B { x: text = "# no comment" }  ## not a doc either
type C
"""


def test_comments_in_order() -> None:
    file = parse(TEXT)
    found = [(c.text, c.doc, c.own_line, c.span.line) for c in file.comments]
    assert found == [
        ("# file", False, True, 1),
        ("## Not a doc: a line lies between.", True, True, 2),
        ("## First line.", True, True, 4),
        ("##   Second line.", True, True, 5),
        ("# after", False, False, 6),
        ("## not a doc either", True, False, 7),
    ]


def test_doc_comments_belong_to_the_item_below() -> None:
    file = parse(TEXT)
    assert [docs_of(file).get(item.span.line) for item in file.items] == [
        "First line.\nSecond line.",
        None,
        None,
    ]
