"""``tw bench cwmb``: the discrete environments of the Code World Models benchmark as rules.

The six environments with discrete actions are worlds. The others of the benchmark use a physics
engine (MuJoCo) or a continuous space of actions, and are left out.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from tokenworld.diagnostics import usage
from tokenworld.verbs import options as opt
from tokenworld.verbs.bench.report import Author
from tokenworld.verbs.output import Output


def cwmb(
    path: Annotated[Path | None, "The folder of recorded buffers; else gymnasium makes steps."],
    out: Output,
    *,
    author: Author,
    only: Annotated[tuple[str, ...], "Only these environments."] = (),
    rows: Annotated[int, "Transitions, where none are recorded."] = 1000,
    episodes: Annotated[int, "Planned episodes of each; 0: accuracy alone."] = 2,
    planners: opt.Planners = ("mcts",),
    samples: Annotated[int, "Plans that each round of cem draws."] = 1000,
    output: opt.Page = None,
) -> int:
    """Score the six worlds, or predicted ones; `Failure` (TW0006) without gymnasium."""
    try:
        from tokenworld.gym.cwmb import verb
    except ImportError:
        hint = "Install the extra: `pip install 'token-world[gym]'`."
        raise usage("`tw bench cwmb` needs gymnasium and numpy.", hint) from None
    return verb.cwmb(
        path, out, author=author, only=only, rows=rows, episodes=episodes, planners=planners,
        samples=samples, output=output,
    )  # fmt: skip
