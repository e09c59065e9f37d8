"""PDDL in: domains and problems of others as the text of a `.tw` file.

The reader keeps a place for everything, so that what cannot be taken is named by its line, and so
that a remark of the ordinary checker about the imported text can be told where the PDDL says it.
`sexpr` reads nested lists, `files` sections and declarations (kept in `names`), `expressions` and
`effects` rules; `text` writes the lines.
"""

from __future__ import annotations

from dataclasses import dataclass

from tokenworld.diagnostics import Diagnostic, Failure, Source, Span, in_order
from tokenworld.planning.reader.files import Problem, read_domain, read_problem
from tokenworld.planning.reader.sexpr import Faults
from tokenworld.planning.reader.text import file_lines, world_names

__all__ = ["Imported", "import_pddl"]


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


def import_pddl(domain_source: Source, problem_sources: tuple[Source, ...]) -> Imported:
    """The `.tw` text of a domain and its problems.

    Raises `Failure` with everything that is wrong or cannot be taken, each with its place.
    """
    faults = Faults()
    domain = read_domain(domain_source, faults)
    if domain is None:
        raise Failure(*faults.found)
    remarks, problems = list(faults.found), list[Problem | None]()
    for source in problem_sources:
        faults = Faults()
        problems.append(read_problem(source, domain, faults))
        remarks += faults.found
    read = tuple(problem for problem in problems if problem is not None)
    if len(read) < len(problems):
        raise Failure(*in_order(remarks))
    names = world_names(read)
    lines = list(file_lines(domain, read, names, remarks))
    text = "".join(f"{line}\n" for line, _ in lines)
    return Imported(text, tuple(span for _, span in lines), names, in_order(remarks))
