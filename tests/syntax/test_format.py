"""`tw fmt` changes white space only, changes it once, and leaves good style alone."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from trees import TEXTS, bare, problems, programs

from tokenworld.diagnostics import Source
from tokenworld.syntax import parse_source
from tokenworld.syntax.format import WIDTH, format_source
from tokenworld.syntax.lalr import lex
from tokenworld.syntax.tables import tables


def fmt(text: str) -> str:
    """The formatted text, after the promises that hold for any text."""
    found, _ = format_source(Source("t.tw", None, text))
    assert found is not None
    assert words(found) == words(text)
    assert remarks(found) == remarks(text)
    assert tree(found) == tree(text)
    assert format_source(Source("t.tw", None, found))[0] == found
    assert all(line == line.rstrip() for line in found.split("\n"))
    assert found.endswith("\n")
    assert not found.endswith("\n\n")
    return found


def words(text: str) -> list[str]:
    return [token.text for token in lex(Source("t.tw", None, text), tables())[0]]


def remarks(text: str) -> list[tuple[str, bool]]:
    file, _ = parse_source(Source("t.tw", None, text))
    return [(comment.text.rstrip(), comment.own_line) for comment in file.comments]


def tree(text: str) -> object:
    file, found = parse_source(Source("t.tw", None, text))
    assert [one.code for one in found] in ([], ["TW0004"])
    return bare(file.items)


@pytest.mark.parametrize("path", programs(), ids=lambda p: f"{p.parent.name}-{p.name}")
def test_every_program(path: Path) -> None:
    fmt(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("seed", range(12))
def test_any_white_space_and_comments(seed: int) -> None:
    dice = random.Random(seed)
    source = dice.choice([p for p in programs() if p.stat().st_size < 6000])
    blanks = [" "] * 12 + [
        "\n",
        "   ",
        "\n\n\n",
        " # c\n",
        "\n  # own\n",
        "\n## doc\n",
        "\t",
        "\r\n",
    ]
    spaced = "".join(dice.choice(blanks) + word for word in words(source.read_text("utf-8")))
    fmt(spaced + dice.choice(["", "\n", " # end", "\n\n# end\n# more"]))


@pytest.mark.parametrize("name", ["domains", "rules"])
def test_the_programs_of_the_project_are_formatted(name: str) -> None:
    folder = TEXTS.parents[2] / name
    for path in sorted(folder.rglob("*.tw")):
        text = path.read_text(encoding="utf-8")
        assert fmt(text) == text, f"run `tw fmt {path}`"


SAME = {
    "aligned_else": """\
action a(x: T) {
  require x.a == 1          else one   "One."
  require x.aaaa == 1       else three "Three."
}
""",
    "else_below": """\
action a(x: T) {
  require x.a == 1 else one "One."
  require x.a == 1 or x.b == 2
                   else two "Two."
}
""",
    "steps": """\
scenario "s" in w {
  when go(a)  when go(b)
  when go(c)             then won
  when pass times 2      then lost
  then unwinnable
}
""",
    "branches": """\
law l() {
  if a { b = 1 } else { b = 2 }
  if a { b = 1 }
  else { b = 2 }
  if a {
    b = 1
    c = 1
  } else if d {
    b = 2
    c = 2
  }
  chance 10% { b = 1 } or 20% { b = 2 } else { }
}
""",
    "hanging": """\
world w {
  object plate: Dish { at = room  dirty = true
                       mess = "apple" }
  layout Tile { "^^" "^@"
    legend "^" { here.ground = rock }
  }
}
""",
    "comments": """\
# The file.

## A doc.
type A {          # after the brace
  # on a line of its own
  x: bool = true  # one
  yy: bool        # two
  # last
}
# end
""",
    "members": """\
type Water {
  static solid: text = "ice"  static liquid: text = "water"
  static melts: int = 0       static boils: int = 100
  state: Matter = liquid
}
""",
    "below_a_word": """\
called x: Water = if x.state == solid then x.solid
                  else x.liquid
law cook(x: Pea) during cooking
  when x.hot { x.done += 1 }
""",
    "quirk": 'quirk "odd"\nlaw l() { }\nquirk "odder" law m() { }\n',
    "signs": "derive d(x: T): 0 to 9 = -x.n + (1 - -2) * [1, 2] - f()\n",
    "pddl": "pddl {\n  domain = a\n  Block  = block\n}\n",
    "shorthand": 'enum E { a, b }\ntable t(e: E): T? { a: none  b: "x" }\naction a() { }\n',
}


@pytest.mark.parametrize("name", SAME)
def test_what_authors_aligned_stays(name: str) -> None:
    assert fmt(SAME[name]) == SAME[name]


CHANGED = {
    "one_statement_to_a_line": (
        "law l() { x = 1\n y = 2  z = 3 }",
        "law l() {\n  x = 1\n  y = 2\n  z = 3\n}\n",
    ),
    "one_item_to_a_line": ("unit l unit c type A", "unit l\nunit c\ntype A\n"),
    "inside_expressions": (
        "derive d( x:T ,y : T )=not(x . a==- 1)and f (x) in[1 ,2]",
        "derive d(x: T, y: T) = not (x.a == -1) and f(x) in [1, 2]\n",
    ),
    "two_blanks_between_statements": (
        "law l() { x = 1 y = 2 }",
        "law l() { x = 1  y = 2 }\n",
    ),
    "else_is_aligned": (
        'action a() {\nrequire b else c "d"\nrequire bbbb else cccc "d"\n}',
        'action a() {\n  require b    else c    "d"\n  require bbbb else cccc "d"\n}\n',
    ),
    "blank_lines": ("type A\n\n\n\ntype B\ntype C\n\n\n", "type A\n\ntype B\ntype C\n"),
    "blank_lines_at_the_ends_of_braces": (
        "world w {\n\n  endless\n\n}",
        "world w {\n  endless\n}\n",
    ),
    "lines_end_alike": ("type A\r\ntype B # c\r\n", "type A\ntype B  # c\n"),
    "breaks_inside_a_name_path": ("law l() { x\n.a\n= 1 }", "law l() {\n  x.a = 1\n}\n"),
    "type_on_two_lines": ("type A :\n B { }", "type A : B { }\n"),
    "else_after_a_closing_line": (
        "law l() {\n if a {\n b = 1\n }\n else { b = 2 }\n}",
        "law l() {\n  if a {\n    b = 1\n  } else { b = 2 }\n}\n",
    ),
    "comment_inside_a_statement": (
        "law l() when a # why\n and b { }",
        "law l() when a  # why\n  and b { }\n",
    ),
    "comments_alone": ("\n\n  # a\n #b  \n", "# a\n#b\n"),
    "nothing": (" \n\n", ""),
}


@pytest.mark.parametrize("name", CHANGED)
def test_the_style(name: str) -> None:
    text, wanted = CHANGED[name]
    found, _ = format_source(Source("t.tw", None, text))
    assert found == wanted
    if wanted:
        assert fmt(text) == wanted


def test_long_lines_are_opened_up() -> None:
    effects = "  ".join(f"x.attribute_{n} = {n}" for n in range(8))
    assert fmt(f"law l(x: T) {{ {effects} }}") == "\n".join(
        ["law l(x: T) {", *(f"  x.attribute_{n} = {n}" for n in range(8)), "}\n"]
    )


def test_long_conditions_are_broken_between_their_parts() -> None:
    parts = [f"any(x{n}.somewhere == y{n}.somewhere for x{n}: Thing)" for n in range(5)]
    lines = fmt(f"derive d() = {' and '.join(parts)}").split("\n")
    assert len(lines) > 2
    assert all(len(line) <= WIDTH for line in lines)
    assert all(line.startswith("  and ") for line in lines[1:-1])


def test_long_branches_get_lines_of_their_own() -> None:
    say = 'say "' + "x" * 50 + '"'
    found = fmt(f"law l() {{ if a {{ {say} }} else {{ {say} }} }}")
    assert found == f"law l() {{\n  if a {{ {say} }}\n  else {{ {say} }}\n}}\n"


def test_a_text_with_mistakes_is_left_alone() -> None:
    text, found = format_source(Source("t.tw", None, "type A\nlaw l( { }"))
    assert text is None
    assert [one.code for one in found] == ["TW0101"]


def test_the_deepest_text_that_parses_is_formatted() -> None:
    deep = "law l() " + "{ if a " * 31 + "{ x = " + "(" * 90 + "1" + ")" * 90 + " }" + "}" * 31
    assert problems(deep) == ()
    fmt(deep)


@pytest.mark.parametrize(
    "text",
    [
        "derive d() = " + " and ".join(["some_name"] * 800),
        "world w { object " + ", ".join(["some_name"] * 800) + ": T }",
        "type A { " + "x: B " * 800 + "\n x: B }",
        "law l() { " + "x = 1 " * 800 + "}",
        "world w { layout T { " + '"#####" ' * 800 + "} }",
    ],
    ids=["chain", "names", "members", "changes", "rows"],
)
def test_long_texts_take_linear_time(text: str) -> None:
    assert max(map(len, fmt(text).split("\n"))) <= WIDTH
