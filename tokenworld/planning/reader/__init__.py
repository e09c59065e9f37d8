"""PDDL in: domains and problems of others as the text of a `.tw` file.

The reader keeps a place for everything, so that an unsupported part is named by its line, and so
that a remark of the ordinary checker about the imported text is reported at its place in the PDDL.
`sexpr` reads nested lists, `frame` what is around sections, `files` sections and declarations (kept
in `names`), `expressions` and `effects` rules; `text` writes the lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

from tokenworld.check import check_source
from tokenworld.diagnostics import (
    Diagnostic,
    Failure,
    Severity,
    Source,
    Span,
    has_errors,
    in_order,
)
from tokenworld.planning.reader.durations import without_time
from tokenworld.planning.reader.effects import reads, writes
from tokenworld.planning.reader.files import (
    Action,
    Domain,
    Problem,
    read_domain,
    read_problem,
    shared_objects,
)
from tokenworld.planning.reader.monitors import Monitors
from tokenworld.planning.reader.sexpr import Faults
from tokenworld.planning.reader.text import file_lines, is_inexact, rules_added, world_names

__all__ = ["Imported", "import_pddl"]


@dataclass(frozen=True, slots=True)
class Imported:
    """The text of a `.tw` file, and for each of its lines the place in the PDDL that it came from.

    ``worlds`` are the names of the worlds in the order of the problems; ``remarks`` list dropped
    parts. ``classical`` is a temporal pair as `without_time` writes it.
    """

    text: str
    places: tuple[Span, ...]
    worlds: tuple[str, ...]
    remarks: tuple[Diagnostic, ...]
    classical: tuple[str, str] | None = None

    def place(self, line: int) -> Span:
        """Return the place in the PDDL that gave a line of the text; lines count from 1."""
        return self.places[min(max(line, 1), len(self.places)) - 1]


def import_pddl(domain_source: Source, problem_sources: tuple[Source, ...]) -> Imported:
    """The `.tw` text of a domain and its problems.

    Raises `Failure` with everything that is wrong or cannot be taken, each with its place.
    """
    found = _read(domain_source, problem_sources, counted=False)
    added = rules_added(*found[:2])
    if is_inexact(*found[:2], added):
        found = _read(domain_source, problem_sources, counted=True)
        added = rules_added(*found[:2])
    imported, instant = _imported(*found, added), found[0].instant
    if len(problem_sources) != 1:
        return imported
    return replace(imported, classical=without_time(domain_source, problem_sources[0], instant))


def _read(
    domain_source: Source, problem_sources: tuple[Source, ...], *, counted: bool
) -> tuple[Domain, tuple[Problem, ...], list[Diagnostic]]:
    """The domain, the problems and the remarks; ``counted``: `total-cost` is no sum of costs."""
    faults, lent = Faults(), partial(shared_objects, problem_sources)
    over_time = any(_OVER_TIME.search(one.text) for one in (domain_source, *problem_sources))
    read_rules = partial(
        read_domain,
        domain_source,
        lent=lent,
        whole=over_time and len(problem_sources) == 1,
        counted=counted,
    )
    domain = read_rules(faults=faults)
    if domain is None:
        raise Failure(*faults.found)
    if at_once := _without_order(domain):
        faults = Faults()
        domain = read_rules(faults=faults, at_once=at_once) or domain
    remarks, problems = list(faults.found), list[Problem | None]()
    for source in problem_sources:
        faults = Faults()
        problems.append(read_problem(source, domain, faults))
        remarks += faults.found
    read = tuple(problem for problem in problems if problem is not None)
    remarks += _apart(domain, read) if len(problem_sources) != 1 else ()
    if len(read) < len(problems) or has_errors(remarks):
        raise Failure(*in_order(remarks))
    return domain, read, remarks


def _imported(
    domain: Domain, problems: tuple[Problem, ...], remarks: list[Diagnostic], added: Monitors
) -> Imported:
    names = world_names(problems)
    lines = list(file_lines(domain, problems, names, added, remarks))
    text = "".join(f"{line}\n" for line, _ in lines)
    return Imported(text, tuple(span for _, span in lines), names, in_order(remarks))


def _apart(domain: Domain, problems: tuple[Problem, ...]) -> Iterator[Diagnostic]:
    """Yield remarks on constraints and preferences, which become rules of the domain and so can be
    those of one problem only, if there are several problems or none."""
    found = [*domain.constraints, *(one for action in domain.actions for one in action.preferences)]
    for problem in problems:
        found += (*problem.preferences, *problem.constraints)
    for one in found[:1]:
        what = "Constraints and preferences are rules for one problem."
        hint = "Import the domain with each problem by itself."
        severity = Severity.ERROR if problems else Severity.WARNING
        yield Diagnostic("TW0810", what, one.span, hint=hint, severity=severity)


_OVER_TIME = re.compile(r"^[^;\n]*\(\s*(preference|:constraints)\b", re.I | re.M)

_READ_AFTER_CHANGE = ("TW0403", "TW0404")


def _without_order(domain: Domain) -> frozenset[str]:
    """The actions whose effects the checker cannot order so that each read is before the change.
    The checker is run only for effects that read slots which their action changes."""
    asked = tuple(action for action in domain.actions if _reads_its_changes(action))
    if not asked:
        return frozenset()
    rules = _imported(replace(domain, actions=asked), (), [], Monitors())
    found = check_source(Source("domain.tw", None, rules.text)).diagnostics
    late = [one.span.line for one in found if one.span and one.code in _READ_AFTER_CHANGE]
    places = [rules.place(line) for line in late]
    return frozenset(
        action.name.key
        for action in asked
        if any(action.span.start <= place.start < action.span.end for place in places)
    )


def _reads_its_changes(action: Action) -> bool:
    changed = frozenset[str]().union(*map(writes, action.effects))
    return any(changed & reads(one) for one in action.effects)
