"""The aliasing rule of language.md §5 as a table: bodies that are accepted, and those that are not.

Two slots are provably different for different objects, disjoint types, one loop variable in
different rounds, terms separated by `!=`, a container and what is inside it, the contents of two
holders, and a new object.
"""

from __future__ import annotations

import pytest

from tokenworld.diagnostics import Source
from tokenworld.session import check_text

BASE = """
type Box { at: Box? nested ordered inverse parts closure inside  n: 0 to 99 = 0  m: 0 to 99 = 0
           on: bool  pal: Box? inverse pals }
type Lid : Box
type Pot { n: 0 to 99 = 0  hob: Pot? }
object left, right: Box
actor me: Lid
function slot(i: 1 to 9): 0 to 9 = 0
derive heavy(b: Box) = b.n > 5
derive above(b: Box, c: Box) = b.at == c or any(b.at == d and above(d, c) for d: Box)
phase ticks sequentially by nesting
"""

ACCEPTED = [
    # different objects and types
    "action a() { left.n = 1  right.m = left.m + right.n }",
    "action a(p: Pot) { me.n = 1  p.n = p.hob.n2 }".replace("p.hob.n2", "3"),
    "action a(p: Pot, b: Box) { p.n = 1  b.m = b.n }",
    "action a() { slot(1) = 2  slot(2) = slot(3) }",
    # separated by `!=`, wherever it is said
    "action a(b: Box) { require b != me else x \"X.\"  me.n = 1  me.on = b.n > 3 }",
    "action a(b: Box) { if b != me { me.n = 1  me.on = b.n > 3 } }",
    "action a(b: Box) { if b == me { me.on = true } else { me.n = 1  me.on = b.n > 3 } }",
    "action a(b: Box) { require not (b == me) else x \"X.\"  me.n = 1  me.on = heavy(b) }",
    "action a(b: Box) { let c = b  require c != me else x \"X.\"  me.n = 1  me.on = b.n > 3 }",
    "action a() { me.n = 1  me.m = sum(b.n for b: Box where b != me) }",
    "action a() { me.n = 1  me.on = any(b != me and b.n > 3 for b: Box) }",
    # a container and what is inside it; contents of two holders
    "action a(b: Box) { for x in b.inside { x.n = 1 }  b.m = b.n }",
    "action a(b: Box) { for x in b.parts { x.n = b.n } }",
    "action a(b: Box) { b.n = 1  b.on = b.at.n > 3 }",
    "action a(b: Box) { b.n = 1  b.on = b.at.at.n > 3 }",
    "action a() { for x in left.parts { for y in right.parts { x.n = y.n } } }",
    "action a() { for x in left.parts { for y in right.parts { y.n = x.n } } }",
    "action a() { for x: Box where x != me { x.n = 1 }  me.m = me.n }",
    # rounds of a loop
    "action a() { for b: Box { b.n = b.n + 1 } }",
    "action a() { for b: Box { b.n = b.m  b.m = 0 } }",
    "action a() { for b: Box where b != me { b.n = me.n } }",
    # different paths
    "action a() { if me.on { me.n = 1 } else { me.m = me.n } }",
    "action a() { if me.on { me.n = 1 }  if not me.on { me.m = me.n } }",
    # `let` first
    "action a() { let k = me.n  me.n = 1  me.m = k }",
    # created objects
    "action a() { create w: Box { n = 3 }  w.m = w.n  me.n = 1 }",
    "action a() { create w: Box { n = 3 }  w.m = 1  me.on = me.m > 2 }",
    "action a() { create v: Box { }  create w: Box { }  v.n = 1  w.m = v.m + w.n }",
    "action a() { for b: Box { create w: Box { n = 1 }  w.m = w.n } }",
    # the examples of the reference
    "law cycle(b: Box) during ticks { let s = min(b.n + 1, 3)\n"
    "  if b.on { b.on = false  b.n = 0 }\n"
    "  else if b.m > 2 { b.n = if s == 3 then 0 else s\n"
    "    if s == 2 {\n"
    "      if any(x is Lid for x in b.inside) { for d: Box in b.inside { d.on = true } }\n"
    "      for l: Lid in b.inside { destroy l } } } }",
    "law heating(b: Box) during ticks when b.on\n"
    "  { for x in b.inside { x.n = min(x.n + b.m, 99) } }",
    "law running(b: Box) during ticks when b.on { for c: Box in b.inside\n"
    "  where not any(l is Lid for l in c.parts) { create l: Lid { at = c } } }",
    "action eat(x: Box, d: Lid) { d.on = true  d.n = 2  d.at = me.at  destroy x }",
]  # fmt: skip

REFUSED = [
    ("action a(b: Box) { me.n = 1  me.m = b.n }", "TW0403"),
    ("action a() { me.n = 1  me.m = me.n }", "TW0403"),
    ("action a(b: Box) { b.n = 1  me.on = heavy(me) }", "TW0403"),
    ("action a(b: Box) { b.at = me  me.on = above(me, b) }", "TW0403"),
    ("action a(b: Box) { b.at = me  me.n = count(me.parts) }", "TW0403"),
    ("action a(b: Box) { b.n = 1  me.m = sum(c.n for c: Box) }", "TW0403"),
    ("action a(b: Box, c: Box) { if b != c { me.on = true }  b.n = 1  me.m = c.n }", "TW0403"),
    ("action a(b: Box) { b.n = 1  b.on = b.pal.n > 3 }", "TW0403"),
    ("action a(b: Box) { for x in b.pals { x.n = 1 }  b.m = b.n }", "TW0403"),
    ("action a(b: Box, c: Box) { for x in b.inside { for y in c.inside { x.n = 1  x.m = y.n } } }",
     "TW0403"),
    ("action a() { if me.on { me.n = 1 }  if me.m > 3 { me.m = me.n } }", "TW0403"),
    ("action a() { create w: Box { at = me }  me.n = count(me.parts) }", "TW0403"),
    ("action a() { create w: Box { }  w.n = 4  w.m = w.n }", "TW0403"),
    ("action a() { create v: Box { }  create w: Box { pal = v }  v.n = 1  me.on = w.pal.n > 3 }",
     "TW0403"),
    ("action a() { for b: Box { b.n = sum(c.n for c: Box) } }", "TW0404"),
    ("action a() { for b: Box where b.at != none { if b.at.n > 3 { b.n = 1 } } }", "TW0404"),
    ("action a() { for b: Box, c: Box { b.n = c.n } }", "TW0404"),
    ("action a() { for b: Box { for c: Box where c != b { c.n = b.n } } }", "TW0404"),
    ("action a() { for b: Box { for x in b.parts { x.n = b.n } } }", "TW0404"),
    ("action a() { for b: Box { b.on = b.n > 3  me.n = 1 } }", "TW0404"),
]  # fmt: skip


def codes(rules: str) -> set[str]:
    found = check_text(Source("t.tw", None, BASE + rules)).diagnostics
    return {one.code for one in found if one.is_error}


@pytest.mark.parametrize("body", ACCEPTED)
def test_accepted(body: str) -> None:
    assert codes(body) == set()


@pytest.mark.parametrize(("body", "code"), REFUSED)
def test_refused(body: str, code: str) -> None:
    assert code in codes(body)
    assert codes(body) <= {"TW0403", "TW0404"}
