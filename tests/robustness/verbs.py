"""Every verb that takes files, each with the files damaged that it takes."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from calls import call
from damage import bytes_damaged, json_damaged, pddl_damaged, store_damaged
from inputs import Inputs
from mutations import MILD, mutant
from probe import faults

from tokenworld.diagnostics import Failure
from tokenworld.play.screens.app import read_settings
from tokenworld.verbs.fuzz.small import small_world
from tokenworld.verbs.quality.dimensions import quality_settings

LIMIT = 1
"""Seconds that verbs with `--time-limit` are given."""
LATE = 4
"""Seconds of processor time that a verb may take longer."""
SHORT = 4_000
"""Only texts of fewer characters go to verbs that search."""


@dataclass
class Box:
    """A fresh folder for one input, and the dice that damage it."""

    number: int
    seed: int
    dice: random.Random
    folder: Path
    inputs: Inputs
    texts: list[str]

    # ---- files --------------------------------------------------------------------------------

    def put(self, name: str, data: bytes) -> str:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return str(path)

    def copy(self, name: str) -> str:
        return self.put(name, self.inputs[name])

    def text(self) -> str:
        """A file of rules, damaged."""
        return self.put("mutant.tw", mutant(self.texts, self.seed, self.number))

    def world(self) -> str:
        """A small world, often sound."""
        dice, text = self.dice, small_world(self.number)
        if dice.random() < 0.3:
            text = self.inputs["world.tw"].decode()
        if dice.random() < 0.5:
            text = dice.choice(MILD)(dice, text)
        elif dice.random() < 0.5:
            short = [one for one in self.texts if len(one) < SHORT]
            return self.put("w.tw", mutant(short, self.seed, self.number))
        return self.put("w.tw", text.encode("utf-8", "surrogatepass"))

    def json(self, name: str) -> str:
        return self.put(name, json_damaged(self.dice, self.inputs[name]))

    def damaged(self, name: str) -> str:
        return self.put(name, bytes_damaged(self.dice, self.inputs[name]))

    def pddl(self, name: str) -> str:
        return self.put(name, pddl_damaged(self.dice, self.inputs[name]))

    def store(self) -> tuple[str, str]:
        """The option for a damaged run store."""
        path = self.folder / "store.sqlite"
        shutil.copyfile(self.inputs.folder / "store.sqlite", path)
        store_damaged(self.dice, path)
        return "--store", str(path)

    def own(self) -> tuple[str, str]:
        """The option for a store of this input alone."""
        return "--store", str(self.folder / "own.sqlite")

    def out(self) -> tuple[str, str]:
        """The option for a file that the verb writes."""
        return "-o", str(self.folder / "out.jsonl")

    def one(self, *options: tuple[str, ...]) -> tuple[str, ...]:
        return self.dice.choice(options)


TIMED = ("--time-limit", str(LIMIT))


def _mended(box: Box) -> tuple[str, ...]:
    return ("check", "--fix", *box.one((), ("--unsafe",)), box.text())


def _run_state(box: Box) -> tuple[str, ...]:
    box.json("state.json")
    return ("run", box.copy("started.tw"), "--player", "random", "--ticks", "3", *box.own())


def _replayed(box: Box) -> tuple[str, ...]:
    box.json("rows.jsonl")
    return ("test", box.copy("replayed.tw"), *TIMED)


def _conform(box: Box, name: str) -> tuple[str, ...]:
    for one in ("world.tw", "mapping.toml", "rows.jsonl", "answers.jsonl"):
        box.copy(f"bench/{one}")
    damage = bytes_damaged if name.endswith(".toml") else json_damaged
    box.put(f"bench/{name}", damage(box.dice, box.inputs[f"bench/{name}"]))
    folder = box.folder / "bench"
    given = ("--predictions", str(folder / "answers.jsonl")) if name == "answers.jsonl" else ()
    return ("conform", str(folder / "world.tw"), str(folder / "rows.jsonl"), *given)


def _set(box: Box, name: str, *arguments: str) -> tuple[str, ...]:
    """A verb on a set of questions with one damaged file, which its manifest and answers fit."""
    folder = box.folder / "set"
    shutil.copytree(box.inputs.folder / "set", folder)
    (folder / name).write_bytes(json_damaged(box.dice, (folder / name).read_bytes()))
    if name in ("rows.jsonl", "questions.jsonl", "examples.jsonl", "baselines.jsonl"):
        manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
        text = (folder / name).read_bytes().decode("utf-8", "replace")
        (folder / name).write_text(text, "utf-8", newline="")
        manifest["files"][name] = sha256((folder / name).read_bytes()).hexdigest()
        before = sha256((folder / "manifest.json").read_bytes()).hexdigest()
        (folder / "manifest.json").write_text(json.dumps(manifest), "utf-8")
        after = sha256((folder / "manifest.json").read_bytes()).hexdigest()
        answers = (folder / "answers.jsonl").read_text("utf-8").replace(before, after)
        (folder / "answers.jsonl").write_text(answers, "utf-8")
    return ("simbench", arguments[0], str(folder), *arguments[1:])


def _runs(verb: str, *given: str) -> Callable[[Box], tuple[str, ...]]:
    return lambda box: ("runs", verb, *given, *box.store())


def _of_set(name: str) -> Callable[[Box], tuple[str, ...]]:
    """A run, or for answers and baselines the scores, of a set with one damaged file."""

    def asked(box: Box) -> tuple[str, ...]:
        answers = str(box.folder / "set" / "answers.jsonl")
        if name in ("answers.jsonl", "baselines.jsonl"):
            return _set(box, name, "score", answers)
        new = ("-o", str(box.folder / "new.jsonl"), "--retries", "0")
        return _set(box, name, "run", "--predictor", "cat", *new)

    return asked


_PLANS = (
    (), ("--engine", "own"), ("--engine", "width"), ("--engine", "hmax"), ("--honest",), ("--why",),
    ("--honest", "--branches"),
    ("--optimal",), ("--luck", "certain"), ("--luck", "probability"), ("--quality", "anytime"),
    ("--explain",), ("--encoding", "E"),
)  # fmt: skip

CASES: dict[str, Callable[[Box], tuple[str, ...]]] = {
    # ---- rules --------------------------------------------------------------------------------
    "check": lambda box: ("check", *box.one((), ("--proofs",), ("--order",)), box.text()),
    "check --fix": _mended,
    "lint": lambda box: ("lint", *box.one(("--pedantic",), ("--quirks",)), box.text()),
    "fmt": lambda box: ("fmt", *box.one((), ("--check",), ("--diff",)), box.text()),
    "test": lambda box: ("test", box.world(), *box.one((), ("--coverage",)), *TIMED),
    "test of rows": _replayed,
    "new": lambda box: (
        "new", *box.one(("mill",), ("",), ("Mill",), ("goal",), ("../a",), ("a" * 999,)),
        *box.one(("-o", str(box.folder / "new")), ("-o", box.text())),
    ),
    "mutate": lambda box: ("mutate", box.world(), "--sample", "2", *TIMED),
    "judge": lambda box: ("judge", box.world(), *box.one((), ("--contract", "free")),
                          "--mutants", "2", "--states", "100", "--ticks", "10", *TIMED),
    "explain": lambda box: ("explain", "--stages", box.text()),
    "rules": lambda box: ("rules", *box.one((), ("--context",)), box.text()),
    "graph": lambda box: ("graph", *box.one((), ("--format", "dot")), box.text()),
    "grammar": lambda box: ("grammar", "--for", "llguidance", "--names", box.text()),
    "model": lambda box: ("model", box.text()),
    # ---- play ---------------------------------------------------------------------------------
    "run": lambda box: ("run", box.world(), "--player",
                        box.dice.choice(("random", "planner", "adversarial")), "--ticks", "4",
                        *TIMED, *box.own()),
    "run of a script": lambda box: ("run", box.copy("world.tw"), "--script",
                                    box.damaged("moves.script"), *box.own()),
    "run of a policy": lambda box: ("run", box.copy("world.tw"), "--policy",
                                    box.json("policy.json"), "--ticks", "5", *box.own()),
    "run from a state": _run_state,
    "rollout": lambda box: ("rollout", box.world(), "--worlds", "3", "--ticks", "20"),
    "rollout of a policy": lambda box: ("rollout", box.copy("world.tw"), "--policy",
                                        box.json("policy.json"), "--worlds", "2", "--ticks", "9"),
    "play": lambda box: ("play", box.world(), *TIMED, *box.own()),
    "play of a run": lambda box: ("play", "--run", "1", *box.store()),
    "picture": lambda box: ("picture", box.world(), "-o", str(box.folder / "out.svg")),
    "publish": lambda box: ("publish", box.world(), "--runtime", box.damaged("moves.script"),
                            "-o", str(box.folder / "out.html")),
    "legal": lambda box: ("legal", box.world(), *box.one((), ("--all",))),
    "dist": lambda box: ("dist", box.world(), *box.one((), ("--most", "3"))),
    "learn": lambda box: ("learn", "fit", box.world(), str(box.damaged("moves.script"))),
    "learn propose": lambda box: ("learn", "propose", box.json("rows.jsonl"), *box.out()),
    "learn explore": lambda box: ("learn", "explore", box.world(), "--ticks", "6", *box.out()),
    "learn rank": lambda box: ("learn", "rank", box.copy("world.tw"), box.json("rows.jsonl")),
    "duel": lambda box: ("duel", box.copy("world.tw"), box.damaged("moves.script"), "random",
                         "--worlds", "2", "--ticks", "9"),
    "author": lambda box: (
        "author", box.damaged("moves.script"), "-o", str(box.folder / "made"), "--provider",
        f"script:{box.json('won.json')}", *TIMED),
    "bench": lambda box: (
        "bench", "text2world", str(Path(box.pddl("domain.pddl")).parent), "--predictions",
        str(Path(box.text()).parent)),
    "dist at": lambda box: ("dist", box.copy("world.tw"), "--at", box.damaged("moves.script")),
    "why": lambda box: ("why", box.world(), *box.one(("go to attic",), ("fly (",)), *TIMED),
    "legal at": lambda box: ("legal", box.copy("world.tw"), "--at", box.damaged("moves.script")),
    # ---- planning -----------------------------------------------------------------------------
    "plan": lambda box: ("plan", box.world(), *box.one(*_PLANS), *TIMED),
    "plan --check": lambda box: (
        "plan", box.copy(name := box.dice.choice(("world.tw", "blocked.tw"))), "--check",
        box.json("won.json" if name == "world.tw" else "lost.json"), *TIMED),
    "plan of PDDL": lambda box: ("plan", box.pddl("domain.pddl"), box.pddl("problem.pddl"), *TIMED),
    "hint": lambda box: ("hint", box.copy("world.tw"), "--script", box.damaged("moves.script"),
                         *TIMED),
    "audit": lambda box: ("audit", box.world(), "--states", "500", *TIMED),
    "sweep": lambda box: ("sweep", box.world(), "--jobs", "1", *TIMED, *box.own()),
    "sweep into a store": lambda box: ("sweep", box.copy("world.tw"), "--jobs", "1", "--what",
                                       "rollout", "--ticks", "5", *box.store()),
    # ---- PDDL ---------------------------------------------------------------------------------
    "export": lambda box: ("export", *box.one(("--pddl",), ("--ppddl",), ("--pddl", "--sanitize")),
                           box.world()),
    "export --read-plan": lambda box: ("export", "--pddl", box.copy("world.tw"), "--read-plan",
                                       box.damaged("sas_plan")),
    "import": lambda box: ("import", box.pddl("domain.pddl"), box.pddl("problem.pddl")),
    "equiv": lambda box: ("equiv", box.copy("domain.pddl"), box.put("other.pddl", pddl_damaged(
                          box.dice, box.inputs["domain.pddl"])), box.copy("problem.pddl"),
                          "--limit", "100", "--walks", "3"),
    # ---- text games ---------------------------------------------------------------------------
    "conform": lambda box: _conform(box, "rows.jsonl"),
    "conform by a mapping": lambda box: _conform(box, "mapping.toml"),
    "conform of answers": lambda box: _conform(box, "answers.jsonl"),
    "simbench make": lambda box: ("simbench", "make", box.world(), "--rows", "2", "-o",
                                  str(box.folder / "made")),
    "simbench make of rows": lambda box: (
        "simbench", "make", "cellar", "--from", box.json("set/rows.jsonl"), "--rows", "2", "-o",
        str(box.folder / "made")),
    **{f"simbench of {name}": _of_set(name) for name in (
        "rows.jsonl", "questions.jsonl", "examples.jsonl", "baselines.jsonl", "manifest.json",
        "answers.jsonl")},
    # ---- recorded runs ------------------------------------------------------------------------
    "runs": lambda box: ("runs", *box.store()),
    **{f"runs {verb}": _runs(verb, *given) for verb, *given in (
        ("show", "1"), ("replay", "1", "--verify"), ("verify", "--all"), ("at", "1", "2"),
        ("diff", "1@1", "1@3"), ("trace", "1", "2"), ("why", "1", "lamp.fuel"),
        ("branch", "1", "2", "--player", "random", "--ticks", "2"),
        ("resume", "2", "--player", "random", "--ticks", "2"))},
    "runs export": lambda box: ("runs", "export", *box.out(), *box.store()),
    "runs rows": lambda box: ("runs", "rows", "1", *box.out(), *box.store()),
    "runs import": lambda box: ("runs", "import", box.json("runs.jsonl"), *box.own()),
    "log": lambda box: ("log", *box.store()),
    "quality": lambda box: ("quality", *box.one((), ("1", "--gate", "strict")), *box.store()),
    "report": lambda box: ("report", *TIMED, *box.store()),
}  # fmt: skip
"""The calls by name; a random generator damages their files."""

WRITES = ("fmt", "check --fix", "grammar")
"""Verbs without `--json` here: they write files or print a text of their own."""

KINDS = ("texts", *CASES, "settings", "markers")
"""Every kind of input that the run counts; `texts` are checked, formatted and run step by step."""


def try_input(kind: str, box: Box) -> tuple[list[str], str]:
    """The fault of a verb on one damaged input, and the call that repeats it."""
    if kind == "texts":
        return faults(mutant(box.texts, box.seed, box.number)), f"mutant {box.number}"
    if kind in READERS:
        return READERS[kind](box), kind
    arguments = CASES[kind](box)
    if kind not in WRITES and box.dice.random() < 0.4:
        arguments = (*arguments, "--json")
    done = call(arguments, seconds=LIMIT + LATE)
    return ([] if done.fault is None else [done.fault]), " ".join(arguments)


def _read(box: Box, name: str, read: Callable[[Path], object]) -> list[str]:
    """The fault in reading a file that a verb finds by itself."""
    path = Path(box.damaged(name))
    try:
        read(path)
    except Failure:
        pass
    except Exception as error:
        return [f"{name}: {type(error).__name__}: {error}"]
    return []


def _settings(path: Path) -> object:
    return read_settings(path, frozenset({"play.undo"}), ("textual-dark",))


READERS: dict[str, Callable[[Box], list[str]]] = {
    "settings": lambda box: _read(box, "settings.toml", _settings),
    "markers": lambda box: _read(box, "quality.toml", lambda path: quality_settings(path, "house")),
}
