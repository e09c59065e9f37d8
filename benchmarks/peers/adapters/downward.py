"""Fast Downward: its translator in this process, its blind search in another."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from shared import Json, once, serve, told


class FastDownward:
    def translate(self, domain: str, problem: str) -> Json:
        """Translate the texts to SAS+; the digest is of the ground actions that remain."""
        seconds, task = once(lambda: _translated(domain, problem))
        return {"seconds": seconds, **told(one.name.strip("()") for one in task.operators)}

    def explore(self, domain: str, problem: str, depth: int) -> Json:
        """Explore all states up to a depth by blind A*; the digest is of the number of states up to
        each depth.

        The time is per state, until the last depth is complete. One more depth is allowed, because
        the search prints the number of states of a depth at the first state of the next one. That
        depth counts neither as time nor as states.
        """
        text = _searched(domain, problem, f"astar(blind(), bound={depth + 1})")
        rows = re.findall(r"\[t=([0-9.]+)s, \d+ KB\] f = \d+, (\d+) evaluated", text)
        if len(rows) != depth + 1:
            raise RuntimeError(f"{len(rows)} depths and not {depth + 1}: {text[-200:]}")
        (began, _), (ended, states) = rows[0], rows[-1]
        return {
            "seconds": (float(ended) - float(began)) / int(states),
            "digest": " ".join(one for _, one in rows),
        }


def _searched(domain: str, problem: str, search: str) -> str:
    """The output of a search."""
    found = importlib.util.find_spec("up_fast_downward")  # importing it needs other packages
    assert found is not None
    assert found.origin is not None
    driver = Path(found.origin).parent / "downward" / "fast-downward.py"
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, str(driver), domain, problem, "--search", search]
        ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return ran.stdout


def _translated(domain: str, problem: str) -> Any:
    from fast_downward.translate import main, normalize, options, pddl_parser

    options.set_options([domain, problem])
    task = pddl_parser.open(domain_filename=domain, problem_filename=problem)
    normalize.normalize(task)
    return main.pddl_to_sas(task)


if __name__ == "__main__":
    serve(FastDownward())
