"""Who is measured, on what, and which goal that is about."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.peers.duel import Question
from benchmarks.peers.traces import PROBLEMS, Problem, toy_actions, trace_of

__all__ = ["PEERS", "Match", "Peer", "Places", "matches"]

BUDGET = 0.2
"""CPU seconds of one measurement of one side, where it can be repeated at will."""


@dataclass(frozen=True, slots=True)
class Peer:
    """A program beside ours: what `pip` installs, its adapter and ours.

    ``kind`` says what it can be asked; ``goals`` by the question's name, as they are written down.
    """

    name: str
    packages: tuple[str, ...]
    adapter: str
    kind: str
    ours: str = "ours"


@dataclass(frozen=True, slots=True)
class Places:
    """Data that is not part of the project."""

    ipc: Path | None
    bytesized32: Path | None


@dataclass(frozen=True, slots=True)
class Match:
    """Both sides load the same once, and are asked questions. ``missing`` says why not."""

    title: str
    load: dict[str, Any]
    questions: tuple[Question, ...]
    missing: str = ""


PEERS = (
    Peer("unified-planning", ("unified-planning",), "up_simulator", "classical"),
    Peer("pyperplan", ("pyperplan",), "pyperplan_search", "classical"),
    Peer("pddlgym", ("pddlgym",), "pddlgym_core", "classical"),
    Peer(
        "fast-downward", ("up-fast-downward", "fast-downward.translate"), "downward", "translator"
    ),
    Peer("tarski", ("tarski[arithmetic]",), "tarski_model", "classical"),
    Peer("gymnasium", ("gymnasium",), "gymnasium_toy", "toy", "ours_toy"),
    Peer("pyrddlgym", ("pyRDDLGym",), "rddl_simulator", "rddl", "ours_toy"),
    Peer("jax", ("jax",), "jax_cliff", "batch", "ours_toy"),
    Peer("textworld", ("textworld",), "textworld_logic", "classical"),
    Peer("token-world, large", (), "ours_village", "large", "ours_village"),
    Peer("bytesized32", (), "bytesized32_game", "game", "ours_boil_water"),
    Peer("token-world", (), "ours", "own"),
)

_STEP_GOALS = {"unified-planning": "P1 100x", "pddlgym": "P4 50x", "textworld": "P4 10x"}
_PROBE_GOALS = {"unified-planning": "P2 150x"}
_LIST_GOALS = {"unified-planning": "P3 2,000x", "pddlgym": "P3 30x", "textworld": "P3 50x"}
_SPACES = ("blocks/probBLOCKS-5-2", "gripper/prob01", "gripper/prob02")
_LARGE = tuple(
    map(Problem, ("logistics98/prob20", "agricola-opt18-strips/p01", "agricola-opt18-strips/p02"))
)
"""Problems with more than 20,000 ground actions."""
_ONE_WORD = (
    ("driverlog/p02", 16),
    ("gripper/prob09", 13),
    ("termes-opt18-strips/p01", 33),
    ("childsnack-opt14-strips/child-snack_pfile01", 3),
    ("blocks/probBLOCKS-10-0", 18),
)
"""Problems whose states we hold in one word, with the depth up to which all states are seen. Goals
are deeper, no action has a cost, and no variable is left out by either side."""
_WORDS = (
    ("parking-opt11-strips/pfile03-011", 6),
    ("pipesworld-tankage/p11-net2-b10-g2-t30", 15),
)
"""The same for states of several words."""
_WEIGHED = (("gripper/prob09", 14), ("blocks/probBLOCKS-10-0", 19))
_ANALYSED = (("sokoban-opt08-strips/p10", 2_000_000), ("termes-opt18-strips/p01", 1_000_000))
_SOLVED = ("blocks/probBLOCKS-4-1", "gripper/prob01", "logistics00/probLOGISTICS-4-0")


def matches(peer: Peer, places: Places) -> Iterator[Match]:
    """What is played with a peer."""
    match peer.kind:
        case "classical" | "translator" | "own" if places.ipc is None:
            reason = "no IPC problems: name their folder with `--ipc DIR` or `TW_IPC`"
            yield Match("IPC problems", {}, (), reason)
        case "classical":
            assert places.ipc is not None
            yield from (_classical(peer, one, places.ipc) for one in PROBLEMS)
            if peer.name == "pyperplan":
                yield from (_explored(Problem(one), places.ipc) for one in _SPACES)
        case "translator":
            assert places.ipc is not None
            every = dict.fromkeys((*PROBLEMS, *_LARGE))
            yield from (_translated(one, places.ipc) for one in every)
            yield from (_solved(Problem(one), places.ipc) for one in _SOLVED)
            for goal, layered in (("P7 8x", _ONE_WORD), ("P7 3x", _WORDS)):
                yield from (_layered(Problem(p), d, goal, places.ipc) for p, d in layered)
            yield from (_weighed(Problem(p), depth, places.ipc) for p, depth in _WEIGHED)
        case "own":
            assert places.ipc is not None
            yield from (_analysed(Problem(p), states, places.ipc) for p, states in _ANALYSED)
        case "toy":
            for world, actions in (("CliffWalking-v1", 4), ("FrozenLake-v1", 4), ("Taxi-v4", 6)):
                yield _stepped(world, actions, ("", ""))
        case "rddl":
            yield _stepped("CliffWalking-v1", 4, ("P11 40x", "P11 500x"))
        case "large":
            yield _large()
        case "batch":
            yield _batches("CliffWalking-v1", 1_000)
        case _:
            yield _game(places.bytesized32)


def _classical(peer: Peer, problem: Problem, ipc: Path) -> Match:
    domain, task = problem.files(ipc)
    if not task.exists():
        return Match(problem, {}, (), f"`{task.name}` is not there")
    trace = trace_of(problem, ipc)
    asked = list(dict.fromkeys(trace))[:20]
    walk = {"trace": trace, "budget": BUDGET}
    probe = {"trace": trace[:9], "asked": asked, "budget": BUDGET}
    every = {"trace": trace[:40], "every": 20, "budget": BUDGET}
    name = peer.name
    return Match(
        problem,
        {"domain": str(domain), "problem": str(task)},
        (
            Question(_STEP_GOALS.get(name, ""), "check and apply", problem, "step", "walk", walk),
            Question(
                _PROBE_GOALS.get(name, ""), "applicable?", problem, "question", "probe", probe
            ),
            Question(
                _LIST_GOALS.get(name, ""), "all legal actions", problem, "list", "enumerate", every
            ),
        ),
    )


def _pair(problem: Problem, ipc: Path) -> dict[str, Any]:
    domain, task = problem.files(ipc)
    return {"domain": str(domain), "problem": str(task)}


def _alone(problem: Problem, ipc: Path, *questions: Question) -> Match:
    """Questions that load for themselves."""
    if not problem.files(ipc)[1].exists():
        return Match(problem, {}, (), f"`{problem}.pddl` is not there")
    return Match(problem, {}, questions)


def _explored(problem: Problem, ipc: Path) -> Match:
    pair = _pair(problem, ipc)
    what = "breadth-first search of all states"
    return _alone(problem, ipc, Question("P6 5x", what, problem, "state", "explore", pair))


def _translated(problem: Problem, ipc: Path) -> Match:
    """Grounding alone and the whole way; the goals are about 20,000 ground actions and more."""
    pair, many = _pair(problem, ipc), problem in _LARGE
    whole, alone = ("P5 10x", "P5 20x") if many else ("", "")
    return _alone(
        problem,
        ipc,
        Question(alone, "grounding", problem, "task", "ground", pair),
        Question(whole, "from PDDL to SAS+", problem, "task", "translate", pair),
    )


def _solved(problem: Problem, ipc: Path) -> Match:
    pair = _pair(problem, ipc)
    what = "ours: breadth-first search; theirs: blind A*, to the goal"
    question = Question("", what, problem, "state generated", "solve", pair)
    return _alone(problem, ipc, question)


def _layered(problem: Problem, depth: int, goal: str, ipc: Path) -> Match:
    """The same states on both sides, so that a state is what is counted."""
    args = {**_pair(problem, ipc), "depth": depth}
    words = "one word" if goal == "P7 8x" else "several words"
    what = f"ours: breadth-first search; theirs: blind A*; all states to a depth, {words}"
    question = Question(goal, what, problem, "state", "layers", args, their_op="explore")
    return _alone(problem, ipc, question)


def _weighed(problem: Problem, depth: int, ipc: Path) -> Match:
    args = {**_pair(problem, ipc), "depth": depth}
    what = "how much a process grows while it searches, for each state, plans included"
    question = Question("P9 32B", what, problem, "state", "weigh", args, measure="bytes")
    return _alone(problem, ipc, question)


def _analysed(problem: Problem, states: int, ipc: Path) -> Match:
    """Once and a half the time of the forward pass: two thirds of its speed."""
    args = {**_pair(problem, ipc), "states": states}
    what = "ours: all states, edges, dead ends; theirs: our forward pass alone"
    question = Question("P8 0.67x", what, problem, "run", "analyse", args, their_op="forward")
    return _alone(problem, ipc, question)


def _stepped(world: str, actions: int, goals: tuple[str, str]) -> Match:
    """Ours with a record of every tick, then as rollouts play, in Python and compiled."""
    args = {"actions": toy_actions(actions), "budget": BUDGET}
    asked = (
        Question("", "step, with reward and end", world, "step", "walk", args),
        Question(
            goals[0], "ours: rollout in Python", world, "step", "walk", args, {"engine": "plain"}
        ),
        Question(
            goals[1], "ours: rollout, compiled", world, "step", "walk", args, {"engine": "fast"}
        ),
    )
    return Match(world, {"world": world}, asked if find_spec("numba") else asked[:2])


def _large() -> Match:
    """100,000 objects beside 100, and beside looking at all of them."""
    args = {"objects": 100, "budget": BUDGET}
    many = {"objects": 100_000}
    title = "a village of 100,000 objects"
    return Match(
        title,
        {},
        (
            Question(
                "P10 0.5x", "a tick in place; theirs: with 100 objects", title, "tick", "tick",
                args, many,
            ),
            Question(
                "P10 5,000x", "a tick; theirs: the reference evaluator, which looks at everything",
                title, "tick", "state", {**args, **many}, their_op="naive",
            ),
        ),
    )  # fmt: skip


def _batches(world: str, ticks: int) -> Match:
    """Rollouts of many worlds, compiled on both sides."""
    if not find_spec("numba"):
        return Match(world, {}, (), "`numba` is not installed: nothing of ours can be compiled")
    asked = []
    for worlds in (1, 64, 4_096, 65_536):
        length = ticks if worlds < 65_536 else ticks // 10
        args = {"worlds": worlds, "ticks": length, "budget": BUDGET}
        what = f"rollouts, {worlds:,} worlds"
        asked.append(Question("P11 1x", what, world, "world-tick", "batch", args))
    return Match(world, {"world": world}, tuple(asked))


_SCRIPT = (
    "take pot", "put pot in sink", "turn on sink", "turn off sink", "take pot",
    "put pot on stove", "turn on stove", "examine stove", "examine stove",
)  # fmt: skip


def _game(folder: Path | None) -> Match:
    if folder is None:
        reason = (
            "not on a package index: name a checkout of github.com/cognitiveailab/BYTESIZED32 with "
            "`--bytesized32 DIR` or `TW_BYTESIZED32`"
        )
        return Match("boil-water", {}, (), reason)
    program = folder / "data" / "programs" / "boil-water.py"
    if not program.exists():
        return Match("boil-water", {}, (), "the folder has no `data/programs/boil-water.py`")
    step = {"listing": False, "budget": BUDGET}
    listed = {"listing": True, "budget": BUDGET}
    what, full = "step and the texts of all legal commands", {"record": True}
    return Match(
        "boil-water",
        {"program": str(program), "script": list(_SCRIPT)},
        (
            Question("P12 4x", "step", "boil-water", "step", "walk", step),
            Question("P12 4x", "step and list", "boil-water", "step", "walk", listed),
            Question(
                "",
                "step of a game that is made already",
                "boil-water",
                "step",
                "walk",
                {**step, "begun": True},
            ),
            Question(
                "",
                "step and list of one that is made already",
                "boil-water",
                "step",
                "walk",
                {**listed, "begun": True},
            ),
            Question("", what, "boil-water", "step", "walk", listed, {"texts": True}),
            Question("", "step, with a full record", "boil-water", "step", "walk", step, full),
            Question(
                "", "step and list, with a full record", "boil-water", "step", "walk", listed, full
            ),
        ),
    )
