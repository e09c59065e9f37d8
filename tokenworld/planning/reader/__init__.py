"""PDDL in: domains and problems of others as the text of a `.tw` file.

The reader keeps a place for everything, so that what cannot be taken is named by its line, and so
that a remark of the ordinary checker about the imported text can be told where the PDDL says it.
"""

from __future__ import annotations

from dataclasses import dataclass

from tokenworld.diagnostics import Diagnostic, Failure, Source, Span, has_errors, in_order
from tokenworld.planning.reader.names import check_domain, check_problem
from tokenworld.planning.reader.parsing import read_domain, read_problem
from tokenworld.planning.reader.rules import (
    Line,
    open_fluents,
    pddl_block,
    real_functions,
    rule_lines,
    uses_costs,
    world_lines,
    world_names,
)
from tokenworld.planning.reader.sexpr import Faults
from tokenworld.planning.reader.spelling import Spelling, word
from tokenworld.planning.reader.tree import Domain, Problem, Symbols

__all__ = ["Imported", "import_pddl", "parse_domain", "parse_problem"]


@dataclass(frozen=True, slots=True)
class Imported:
    """The text of a `.tw` file, and for each of its lines the place in the PDDL behind it.

    ``worlds`` are the names of the worlds in the order of the problems; ``remarks`` what was
    dropped on the way.
    """

    text: str
    places: tuple[Span, ...]
    worlds: tuple[str, ...]
    remarks: tuple[Diagnostic, ...]

    def place(self, line: int) -> Span:
        """The PDDL behind a line of the text, counted from 1."""
        return self.places[min(max(line, 1), len(self.places)) - 1]


def parse_domain(source: Source) -> tuple[Domain | None, tuple[Diagnostic, ...]]:
    """A domain as written, names looked up; ``None`` where the text is no domain."""
    faults = Faults()
    domain = read_domain(source, faults)
    if domain is not None and not has_errors(faults.found):
        check_domain(Symbols(domain), faults)
    return domain, in_order(faults.found)


def parse_problem(source: Source, domain: Domain) -> tuple[Problem | None, tuple[Diagnostic, ...]]:
    """A problem of a domain as written, names looked up."""
    faults = Faults()
    problem = read_problem(source, faults)
    if problem is not None and not has_errors(faults.found):
        check_problem(Symbols(domain), problem, faults)
    return problem, in_order(faults.found)


def import_pddl(domain_source: Source, problem_sources: tuple[Source, ...]) -> Imported:
    """The `.tw` text of a domain and its problems.

    Raises `Failure` with everything that is wrong or cannot be taken, each with its place.
    """
    domain, found = parse_domain(domain_source)
    if domain is None or has_errors(found):
        raise Failure(*found)
    read = [parse_problem(source, domain) for source in problem_sources]
    remarks = [*found, *(one for _, more in read for one in more)]
    problems = tuple(problem for problem, _ in read if problem is not None)
    if has_errors(remarks) or len(problems) < len(read):
        raise Failure(*in_order(remarks))
    return _written(Symbols(domain), problems, remarks)


def _written(
    symbols: Symbols, problems: tuple[Problem, ...], remarks: list[Diagnostic]
) -> Imported:
    spelling = Spelling(symbols)
    names = world_names(problems)
    entries = [*_renamed(problems, names), *_metrics(symbols, problems, names, remarks)]
    real, open_ = real_functions(symbols, problems), open_fluents(symbols, problems)
    lines: list[Line] = [("edition 1", symbols.domain.name.span)]
    lines += pddl_block(symbols, spelling, entries)
    lines += rule_lines(symbols, spelling, real, open_)
    for problem, name in zip(problems, names, strict=True):
        lines += world_lines(symbols, spelling, problem, name)
    text = "".join(f"{line}\n" for line, _ in lines)
    return Imported(text, tuple(span for _, span in lines), names, in_order(remarks))


def _renamed(problems: tuple[Problem, ...], names: tuple[str, ...]) -> list[tuple[str, str]]:
    """The PDDL names of the worlds that got a number."""
    return [
        (f"`problem {name}`", word(problem.name.text))
        for problem, name in zip(problems, names, strict=True)
        if name != problem.name.text
    ]


def _metrics(
    symbols: Symbols,
    problems: tuple[Problem, ...],
    names: tuple[str, ...],
    remarks: list[Diagnostic],
) -> list[tuple[str, str]]:
    """The metrics that do not follow from the costs: kept word by word, not planned with."""
    found: list[tuple[str, str]] = []
    paid = uses_costs(symbols)
    for problem, name in zip(problems, names, strict=True):
        metric = problem.metric
        if (metric is None and not paid) or (metric is not None and metric.is_total_cost and paid):
            continue
        text = "" if metric is None else f"{metric.sense} {metric.text}"
        found.append((f"`metric {name}`", f'"{text}"'))
        if metric is not None and not metric.is_total_cost:
            what = "Plans are not measured by this metric."
            hint = "Increase `(total-cost)` by what a plan should pay."
            severity = Diagnostic("TW0809", what).severity
            remarks.append(Diagnostic("TW0810", what, metric.span, hint=hint, severity=severity))
    return found
