"""The exported PDDL of the project's worlds, as published in `domains/`.

After a wanted change: ``for w in domains/*/; do tw export $w/world.tw --pddl -o $w; done``.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tokenworld.session import open_world
from tokenworld.session.pddl import export

DOMAINS = Path(__file__).parents[2] / "domains"
FORMS = {
    "blocks": "lifted",
    "cellar": "lifted",
    "greenhouse": "lifted",
    "kitchen": "lifted",
    "cottage": "grounded",
}


@pytest.mark.parametrize("name", sorted(FORMS))
def test_the_golden_files_are_what_export_writes(name: str) -> None:
    exported = export(open_world(str(DOMAINS / name / "world.tw")), None)
    assert exported.form == FORMS[name]
    for file, text in (("domain.pddl", exported.domain), ("problem.pddl", exported.problem)):
        golden = (DOMAINS / name / file).read_text(encoding="utf-8")
        assert text == golden, f"{name}/{file} differs from what `tw export --pddl` writes"


def test_all_that_is_published_is_compared() -> None:
    assert {path.parent.name for path in DOMAINS.glob("*/*.pddl")} == set(FORMS)
