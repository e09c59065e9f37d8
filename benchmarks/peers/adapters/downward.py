"""Fast Downward: its translator in this process, its blind search in another."""

from __future__ import annotations

import importlib.util
import re
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from shared import Json, named, once, serve, told


class FastDownward:
    def translate(self, domain: str, problem: str) -> Json:
        """From the texts to SAS+, told by the ground actions it keeps."""
        seconds, task = once(lambda: _translated(domain, problem)[1])
        return {"seconds": seconds, **told(one.name.strip("()") for one in task.operators)}

    def ground(self, domain: str, problem: str) -> Json:
        """Its relaxed reachability and instantiation, from the parsed and normalised task; told by
        the names of all ground actions and of all facts that some action may change."""
        from fast_downward.translate import instantiate, normalize, options, pddl_parser

        options.set_options([domain, problem])
        task = pddl_parser.open(domain_filename=domain, problem_filename=problem)
        normalize.normalize(task)
        seconds, found = once(lambda: instantiate.explore(task))
        actions = (one.name.strip("()") for one in found[2])
        facts = (" ".join((one.predicate, *one.args)) for one in found[1])
        return {"seconds": seconds, **named(actions, facts)}

    def solve(self, domain: str, problem: str) -> Json:
        """A shortest plan by blind A*; seconds for each state that was generated."""
        code, text, spent = _searched(domain, problem, "astar(blind())")
        if code != 0:
            raise RuntimeError(f"exit code {code}: {text[-200:]}")
        generated = _number(r"Generated (\d+) state", text)
        search = float(_found(r"Search time: ([0-9.]+)s", text))
        return {
            "seconds": max(search, 1e-6) / generated,
            "digest": _found(r"Plan length: (\d+) step", text),
            "count": generated,
            "whole": spent,
        }

    def explore(self, domain: str, problem: str, depth: int) -> Json:
        """All states up to a depth by blind A*, told by how many there are up to each depth;
        seconds for each state, until the last depth was full.

        A step more is allowed for, since it is on taking the first state of a depth that the search
        says how many there are; what comes after that counts neither as time nor as states.
        """
        _, text, _ = _searched(domain, problem, f"astar(blind(), bound={depth + 1})")
        rows = re.findall(r"\[t=([0-9.]+)s, (\d+) KB\] f = \d+, (\d+) evaluated", text)
        if len(rows) != depth + 1:
            raise RuntimeError(f"{len(rows)} depths and not {depth + 1}: {text[-200:]}")
        (began, before, _), (ended, after, states) = rows[0], rows[-1]
        generated = _number(r"Generated until last jump: (\d+) state", text)
        return {
            "seconds": (float(ended) - float(began)) / int(states),
            "digest": " ".join(one for _, _, one in rows),
            "count": generated,
            "bytes": 1024 * (int(after) - int(before)) / int(states),
        }

    def weigh(self, domain: str, problem: str, depth: int) -> Json:
        """The bytes that a state takes: how much the process grew while it searched."""
        found = self.explore(domain, problem, depth)
        return {"seconds": found["bytes"], "digest": found["digest"]}


def _searched(domain: str, problem: str, search: str) -> tuple[int, str, float]:
    """Exit code, output and CPU seconds of a search."""
    found = importlib.util.find_spec("up_fast_downward")  # importing it needs other packages
    assert found is not None
    assert found.origin is not None
    driver = Path(found.origin).parent / "downward" / "fast-downward.py"
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, str(driver), domain, problem, "--search", search]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return ran.returncode, ran.stdout, spent


def _translated(domain: str, problem: str) -> Any:
    from fast_downward.translate import main, normalize, options, pddl_parser

    options.set_options([domain, problem])
    task = pddl_parser.open(domain_filename=domain, problem_filename=problem)
    normalize.normalize(task)
    return task, main.pddl_to_sas(task)


def _found(pattern: str, text: str) -> str:
    match = re.search(pattern, text)
    if match is None:
        raise RuntimeError(f"no `{pattern}` in the output: {text[-200:]}")
    return match[1]


def _number(pattern: str, text: str) -> int:
    return int(_found(pattern, text))


if __name__ == "__main__":
    serve(FastDownward())
