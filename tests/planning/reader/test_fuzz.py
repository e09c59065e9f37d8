"""Garbage is answered with diagnostics, never with a traceback."""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from samples import PAIRS

from tokenworld.diagnostics import Diagnostic, Failure, Source, has_errors
from tokenworld.planning.reader import import_pddl
from tokenworld.session.pddl import load_imported

_BITS = (
    *("(", ")", "()", "?x", "- object", ":action a", "(and", "(not", "and", "-", "=", "(= 1 2)"),
    *("(forall (?x)", ":effect", "1.5", "(either a b)", ";", "?", ":", "`", '"', "\x00", "é"),
    *("(increase (total-cost) 1)", "undefined", "#t", "(when", "define", "(:types", "\n"),
)


def mangled(text: str, random: Random) -> str:
    """A few words of a text dropped, doubled, swapped or replaced."""
    for _ in range(random.randint(1, 4)):
        at = random.randrange(len(text))
        end = min(len(text), at + random.choice((0, 1, 3, 9, 40)))
        match random.randrange(4):
            case 0:
                text = text[:at] + text[end:]
            case 1:
                text = text[:at] + random.choice(_BITS) + text[end:]
            case 2:
                text = text[:end] + text[at:]
            case _:
                words = text.split(" ")
                one, other = random.randrange(len(words)), random.randrange(len(words))
                words[one], words[other] = words[other], words[one]
                text = " ".join(words)
    return text


def taken(domain: str, problem: str) -> bool:
    """Whether a pair is read; what is not must be told with an error."""
    found: tuple[Diagnostic, ...] = ()
    try:
        found = import_pddl(Source("d", None, domain), (Source("p", None, problem),)).remarks
    except Failure as failure:
        found = failure.diagnostics
        if not has_errors(found):
            raise
    return not has_errors(found)


@pytest.mark.parametrize("count", [150, pytest.param(1_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", sorted(PAIRS))
def test_mangled_pairs_are_read_or_refused(name: str, count: int) -> None:
    domain, problem = PAIRS[name]
    random = Random(7)
    read = 0
    for _ in range(count):
        part = random.randrange(2)
        pair = [domain, problem]
        pair[part] = mangled(pair[part], random)
        read += taken(pair[0], pair[1])
    assert 0 < read < count


@pytest.mark.parametrize("name", sorted(PAIRS))
def test_what_is_read_is_a_text_that_parses(name: str) -> None:
    """A mangled pair that is taken gives a text that at least has the form of a program."""
    domain, problem = PAIRS[name]
    random = Random(11)
    seen = 0
    while seen < 15:
        changed = mangled(domain, random)
        if not taken(changed, problem):
            continue
        seen += 1
        one = import_pddl(Source("d", None, changed), (Source("p", None, problem),))
        try:
            load_imported(one)
        except Failure as failure:
            codes = {found.code for found in failure.diagnostics}
            assert not codes & {"TW0101", "TW0102", "TW0103", "TW0201"}, (changed, codes)


def test_very_deep_nesting_is_refused() -> None:
    deep = "(define (domain d) (:predicates (p)) (:action a :precondition " + "(not " * 5000
    assert not taken(deep, "(define (problem p) (:goal (p)))")
