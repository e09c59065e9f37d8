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

from shared import Json, once, serve, told


class FastDownward:
    def translate(self, domain: str, problem: str) -> Json:
        """From the texts to SAS+, told by the ground actions it keeps."""
        seconds, task = once(lambda: _translated(domain, problem)[1])
        return {"seconds": seconds, **told(one.name.strip("()") for one in task.operators)}

    def instantiate(self, domain: str, problem: str) -> Json:
        """Its relaxed reachability and its ground actions, from the parsed task."""
        from fast_downward.translate import instantiate, normalize, pddl_parser

        task = pddl_parser.open(domain_filename=domain, problem_filename=problem)
        normalize.normalize(task)
        seconds, found = once(lambda: instantiate.explore(task))
        return {"seconds": seconds, **told(one.name.strip("()") for one in found[2])}

    def solve(self, domain: str, problem: str) -> Json:
        """A shortest plan by blind A*; seconds for each state that was generated."""
        found = importlib.util.find_spec("up_fast_downward")  # importing it needs other packages
        assert found is not None
        assert found.origin is not None
        driver = Path(found.origin).parent / "downward" / "fast-downward.py"
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, str(driver), domain, problem, "--search", "astar(blind())"]
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if ran.returncode != 0:
            raise RuntimeError(f"exit code {ran.returncode}: {ran.stdout[-200:]}")
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        generated = _number(r"Generated (\d+) state", ran.stdout)
        search = float(_found(r"Search time: ([0-9.]+)s", ran.stdout))
        return {
            "seconds": max(search, 1e-6) / generated,
            "digest": _found(r"Plan length: (\d+) step", ran.stdout),
            "count": generated,
            "whole": spent,
        }


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
