"""Read the golds of a PDDL benchmark and the predictions of them from the given paths.

A path is a folder with PDDL files, one PDDL file, or the published file of Text2World, a list of
objects with `id`, `file_name` and `pddl_domain`. A folder of predictions has for a gold `NAME` one
of `NAME.pddl`, `NAME.tw`, `NAME/domain.pddl` and `NAME/world.tw`. Other files are
ignored.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tokenworld.diagnostics import Diagnostic, Failure, Source, read_source
from tokenworld.verbs.equiv import domain_source

_FORMS = ("{}.pddl", "{}.tw", "{}/domain.pddl", "{}/world.tw")


@dataclass(frozen=True, slots=True)
class Gold:
    """A domain, with the problems that belong to it; ``name`` is its key among predictions."""

    name: str
    domain: Source
    problems: tuple[Source, ...] = ()
    description: str = ""
    """The text from which a model is to write the domain, if the list has it."""


def read_golds(path: Path) -> list[Gold]:
    """Return the golds of a path in the order of their names.

    Raises `Failure` where there is none (TW0001), and for a file that cannot be read.
    """
    if path.is_dir():
        found = list(_of_folder(path))
    elif path.suffix.lower() == ".json":
        found = list(_of_list(path))
    else:
        found = [Gold(path.stem, read_source(path))]
    if not found:
        hint = "Name a folder with PDDL files, or the published list of Text2World."
        raise Failure(Diagnostic("TW0001", f"There is no PDDL domain in `{path}`.", hint=hint))
    return found


def _of_folder(folder: Path) -> Iterator[Gold]:
    for domain, problems in pairs(folder):
        place = domain.relative_to(folder)
        parts = place.with_suffix("").parts
        name = parts[-2] if parts[-1] == "domain" and len(parts) > 1 else "-".join(parts)
        yield Gold(name, read_source(domain), tuple(read_source(one) for one in problems))


def _of_list(path: Path) -> Iterator[Gold]:
    """Yield the golds of the published list, named by number and file, or as given."""
    hint = "Text2World publishes it as `pddl_benchmark/our_benchmark.json`."
    try:
        entries = json.loads(read_source(path).text)
        listed = [
            (int(one["id"]), str(one["file_name"]), str(one["pddl_domain"]),
             str(one.get("corrected_description", one.get("description", ""))))
            for one in entries
        ]  # fmt: skip
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        message = f"`{path}` is not a list of objects with `id`, `file_name` and `pddl_domain`."
        raise Failure(Diagnostic("TW0001", message, hint=hint)) from None
    for number, file, text, told in sorted(listed):
        stem = re.sub(r"[^\w-]+", "-", file.removesuffix(".pddl"))
        name = f"{number:03}-{stem}"
        yield Gold(name, Source(f"{name}.pddl", None, text), description=told)


def pairs(folder: Path) -> Iterator[tuple[Path, list[Path]]]:
    """Yield every domain in a folder and below, with the problems beside it that name it."""
    for place in sorted({path.parent for path in folder.rglob("*.pddl")}):
        files = sorted(place.glob("*.pddl"))
        domains = [path for path in files if _is_domain(path)]
        problems = [path for path in files if path not in domains]
        for domain in domains:
            mine = problems
            if len(domains) > 1:
                number = re.search(r"p\d+", domain.name)
                key = number.group() if number else domain.name
                mine = [path for path in problems if path.name.startswith(key)]
            yield domain, mine


def _is_domain(path: Path) -> bool:
    head = re.sub(r";[^\n]*", "", path.read_text(encoding="utf-8", errors="replace"))
    return re.search(r"\(\s*define\s*\(\s*domain", head, re.IGNORECASE) is not None


def prediction_of(gold: Gold, folder: Path) -> Source | Failure | None:
    """Return the predicted domain as PDDL, its fault if unreadable, ``None`` without a file."""
    for form in _FORMS:
        path = folder / form.format(gold.name)
        if path.is_file():
            try:
                return domain_source(str(path))
            except Failure as failure:
                return failure
    return None
