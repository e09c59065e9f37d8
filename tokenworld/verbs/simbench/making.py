"""``tw simbench make``: rows of walks or files, chosen and balanced, as a set of questions.

Walks with even numbers give the rows of questions, those between them the examples; a pair of state
and command in a question is no example. A row with a draw is left out, and a task whose question
does not determine the answer: the question is read back, played again by the rules, and compared.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, islice, product
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeVar

from tokenworld.diagnostics import Failure, usage
from tokenworld.engine import State
from tokenworld.engine.rows.live import Halves
from tokenworld.ground import PASS, Command
from tokenworld.prose.matching import command_texts
from tokenworld.prose.rulebook import rule_context
from tokenworld.session.intents import Resolver
from tokenworld.session.loading import OpenWorld, open_world, split_target
from tokenworld.session.players import typed_command
from tokenworld.verbs import options as opt
from tokenworld.verbs.output import EXIT_OK, Output
from tokenworld.verbs.records.answers import Task, changes, passes, strict
from tokenworld.verbs.records.rows import BadRow, Recorded, TextRow, read_text_rows
from tokenworld.verbs.simbench.baselines import Simulated, baseline_lines
from tokenworld.verbs.simbench.sets import (
    FORMAT,
    Part,
    Question,
    digest_of,
    lines_text,
    questions_text,
    row_json,
    write_set,
)
from tokenworld.verbs.simbench.states import Form, form_of

# ---- Walks ---------------------------------------------------------------------------------------
# Walkers: who draws the next command of a walk, in a world or in a program of a game.


Walker = Literal["uniform", "changing", "after"]
WALKERS: Final[tuple[Walker, ...]] = ("uniform", "changing", "after")
TRIES: Final = 8
"""Commands that the walker ``changing`` tries at each step."""
ILLEGAL: Final = 0.3
"""The share of commands of the others that are drawn whether they are legal or not."""

C = TypeVar("C")


def drawn_command(
    verbs: Mapping[str, Sequence[C]],
    changes: Callable[[C], bool],
    walker: Walker,
    chosen: random.Random,
) -> C:
    """A verb, then one of its commands; ``changing`` takes the first of a few that changes
    something, or the last one."""
    names = list(verbs)
    command = chosen.choice(verbs[chosen.choice(names)])
    for _ in range(TRIES - 1 if walker == "changing" else 0):
        if changes(command):
            break
        command = chosen.choice(verbs[chosen.choice(names)])
    return command


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a walk: the words, the command that they mean, and its result."""

    before: State
    text: str
    verb: str
    command: Command
    halves: Halves


class WorldWalk:
    """Walks through one world."""

    def __init__(self, world: OpenWorld) -> None:
        self.world, self.engine = world, world.engine
        self.words = Resolver(world)

    def steps(self, walker: Walker, seed: int, most: int) -> Iterator[Step]:
        """The steps of one walk; ``after`` goes on after the end where the world does."""
        chosen = random.Random(f"{self.world.world.name} {walker} {seed}")
        state, over = self.engine.start(seed), self.engine.over
        for _ in range(most):
            if over(state) or (state.latched and walker != "after"):
                return
            command = self._command(state, walker, chosen)
            text = self._text(state, command)
            halves = self.engine.halves(state, command)
            yield Step(state, text, command.action or "pass", command, halves)
            state = halves.after

    def _text(self, state: State, command: Command) -> str:
        lexicon = self.words.lexicon(state)
        (text,) = command_texts((command,), self.world.program, lexicon.speaker, lexicon)
        return text

    def _command(self, state: State, walker: Walker, chosen: random.Random) -> Command:
        if walker != "changing" and chosen.random() < ILLEGAL:
            command = typed_command(self.world, state, chosen)
            if command is not None:
                return command
        verbs: dict[str, list[Command]] = {"pass": [PASS]}
        for command in self.engine.legal(state):
            verbs.setdefault(command.action, []).append(command)
        return drawn_command(verbs, lambda one: self._changes(state, one), walker, chosen)

    def _changes(self, state: State, command: Command) -> bool:
        after = self.engine.halves(state, command).acted
        return not self.engine.same_facts(state, after)


# ---- Rows and questions --------------------------------------------------------------------------

_STEPS: Final = 40
"""Steps of a walk."""
_SEEDS: Final = 20
"""Seeds at most, each with a walk of every walker."""
_QUIET: Final = 3
"""The number of successive seeds without a needed row after which walking stops."""
_CHAIN: Final = 5
"""Rows of a chain."""
_MOST_ROWS: Final = 20_000
"""Rows that are taken of files."""
_PARTS: Final[tuple[Task, ...]] = ("act", "env", "score", "step")
_KINDS: Final = tuple(product(_PARTS, (True, False)))
"""Rows of each task that change something, and that change nothing."""
_BY_RULES: Final = "what the question shows does not decide the answer"
_BY_CHANCE: Final = "chance had a part in it (where only in the tick, the command is asked about)"
_TIMED: Final[tuple[Task, ...]] = ("env", "score", "step")
"""The tasks whose result depends on the tick."""

Say = Callable[[str], None]


@dataclass
class Candidate:
    """A row that may be asked about, but for ``barred`` tasks. ``judge`` says whether a question
    about it can be answered."""

    row: TextRow
    verb: str
    judge: Callable[[TextRow, Task], bool]
    barred: Collection[Task] = ()
    judged: dict[Task, bool] = field(default_factory=dict)

    @cached_property
    def key(self) -> str:
        """Equal for equal states and commands."""
        row = self.row
        shown = json.dumps([row.before.objects, row.before.next_id, row.action, row.task])
        return hashlib.sha256(shown.encode()).hexdigest()

    def fits(self, task: Task) -> bool:
        if task in self.barred:
            return False
        if task not in self.judged:
            self.judged[task] = self.judge(self.row, task)
        return self.judged[task]


@dataclass
class Found:
    """The result of the walks: rows to ask about by walk (``None`` parts them), examples, and
    reasons."""

    walks: list[list[Candidate | None]] = field(default_factory=list)
    examples: list[Candidate] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    sources: list[dict[str, str]] = field(default_factory=list)

    def candidates(self) -> Iterator[Candidate]:
        seen: set[str] = set()
        for one in (one for walk in self.walks for one in walk if one is not None):
            if one.key not in seen:
                seen.add(one.key)
                yield one


def make(
    target: opt.World,
    out: Output,
    *,
    recorded: Annotated[
        tuple[Path, ...], opt.Option("--from"), "Files of recorded rows to choose from."
    ] = (),
    rows: Annotated[int, "Rows for each task."] = 60,
    seed: opt.Seed = 0,
    output: Annotated[opt.OutputFile, "The folder to write."],
) -> int:
    """Make a set and print its parts."""
    if rows < 2:
        raise usage("A set has two rows for each task at least.", "Give `--rows N` from 2.")
    world = open_world(target, scenarios=False)
    maker = _Maker(world, target, rows, seed, out.each_second())
    found = maker.of_files(recorded) if recorded else maker.of_walks()
    chosen, asked = maker.questions(found)
    if not asked:
        raise usage(f"No row of `{target}` can be asked about: {_reasons(found.left_out)}.",
                    "Name a world that can be played, or rows of its game.")  # fmt: skip
    manifest, digest = maker.write(output, found, chosen, asked)
    _tell(manifest, output, digest, out)
    return EXIT_OK


def _reasons(left_out: Mapping[str, int]) -> str:
    return "; ".join(f"{why} ({number})" for why, number in left_out.items()) or "there is none"


class _Maker:
    """Makes the set of one world."""

    def __init__(self, world: OpenWorld, target: str, rows: int, seed: int, say: Say) -> None:
        self.world, self.target, self.rows, self.seed, self.say = world, target, rows, seed, say
        self.form: Form = form_of(world, target)
        self.rules = Simulated(world, self.form)
        self.chosen = random.Random(f"{world.world.name} {seed}")

    # ---- rows -----------------------------------------------------------------------------------

    def of_walks(self) -> Found:
        """Rows of walks, until there are enough of each kind or no seed is left."""
        found, walks = Found(), WorldWalk(self.world)
        known, quiet = Counter[tuple[Task, bool]](), 0
        for number in range(_SEEDS):
            for walker in WALKERS:
                seen = walks.steps(walker, self.seed + number, _STEPS)
                walk = [self._candidate(step, found) for step in seen]
                if number % 2:
                    found.examples += [one for one in walk if one is not None]
                else:
                    found.walks.append(walk)
            self.say(f"{number + 1} seeds walked")
            if number % 2 == 0:
                counts = self._wanted(found)
                quiet = quiet + 1 if counts == known else 0
                known = counts
            elif quiet >= _QUIET or all(known[kind] >= self.rows for kind in _KINDS):
                break
        return found

    def _candidate(self, step: Step, found: Found) -> Candidate | None:
        halves, form = step.halves, self.form
        draws = [draw for record in halves.records for draw in record.draws]
        if draws:
            found.left_out[_BY_CHANCE] += 1
        if any(not one.rule.startswith("law ") for one in draws):
            return None
        before, acted, after = map(form.write, (step.before, halves.acted, halves.after))
        acted = before if _same(acted, before) else acted
        row = TextRow(
            "", form.game, 0, step.text, form.task(step.before), before, acted,
            acted if _same(after, acted) else after, form.score(step.before),
            form.score(halves.after),
        )  # fmt: skip
        return Candidate(row, step.verb, self._decided, _TIMED if draws else ())

    def _decided(self, row: TextRow, task: Task) -> bool:
        """Return whether the rules predict the recorded answer of a question."""
        try:
            answer = self.rules.answer(row, task)
        except Failure:
            return False
        return passes(row, task, answer, row.score_after.to_json(), strictly=True)

    def _wanted(self, found: Found) -> Counter[tuple[Task, bool]]:
        """The number of rows of each kind, up to the number that is needed: twice the half, since
        not every row can be asked about."""
        counts = Counter(
            (task, changes(one.row, task))
            for one in found.candidates()
            for task in _PARTS
            if task not in one.barred
        )
        return Counter({kind: min(counts[kind], self.rows) for kind in _KINDS})

    def of_files(self, paths: Sequence[Path]) -> Found:
        """Recorded rows; a row that follows the one before it belongs to the same walk."""
        found, last = Found(), None
        groups: list[list[Candidate | None]] = []
        found.sources = [{"name": one.name, "sha256": _file_digest(one)} for one in paths]
        rows = chain.from_iterable(map(read_text_rows, paths))
        for number, row in enumerate(islice(rows, _MOST_ROWS), start=1):
            candidate = self._recorded(row, found)
            if candidate is None:
                continue
            if last is None or not _same(last.ticked, candidate.row.before):
                groups.append([])
            groups[-1].append(candidate)
            last = candidate.row
            self.say(f"{number} rows read")
        for group in groups:
            self._share(group, found)
        return found

    def _recorded(self, row: TextRow | BadRow, found: Found) -> Candidate | None:
        if isinstance(row, TextRow) and row.game != self.form.game:
            row = BadRow(row.place, f"it is a row of `{row.game}`, and the world is for "
                                    f"`{self.form.game}`")  # fmt: skip
        if isinstance(row, BadRow):
            found.left_out[row.why] += 1
            return None
        return Candidate(row, row.action.partition(" ")[0], self._readable)

    def _readable(self, row: TextRow, task: Task) -> bool:
        """Return whether the world can represent the states of a question."""
        try:
            self.rules.answer(row, task)
        except Failure:
            return False
        return True

    def _share(self, group: Sequence[Candidate | None], found: Found) -> None:
        """Every fourth walk is for examples, by the state that it begins in."""
        first = group[0]
        assert first is not None
        shown = json.dumps([first.row.before.objects, first.row.before.next_id])
        if int(digest_of(f"{self.seed} {shown}")[:8], 16) % 4:
            found.walks.append([*group])
        else:
            found.examples += [one for one in group if one is not None]

    # ---- questions ------------------------------------------------------------------------------

    def questions(self, found: Found) -> tuple[list[TextRow], list[Question]]:
        """The rows that are asked about, and the questions in their order."""
        rows: list[TextRow] = []
        places: dict[str, int] = {}
        asked: list[Question] = []

        def ask(one: Candidate, task: Task, part: Part, **more: Any) -> None:
            if one.key not in places:
                rows.append(one.row)
                places[one.key] = len(rows)
            dynamic = changes(one.row, task)
            asked.append(
                Question(len(asked) + 1, places[one.key], task, part, one.verb, dynamic, **more)
            )

        candidates = [*found.candidates()]
        self.chosen.shuffle(candidates)
        for task in _PARTS:
            picked, refused = self._picked(candidates, task)
            found.left_out[_BY_RULES] += refused
            for one in picked:
                ask(one, task, task)
        self._chains(found, ask, asked)
        found.left_out += Counter()
        return rows, asked

    def _picked(self, candidates: Iterable[Candidate], task: Task) -> tuple[list[Candidate], int]:
        """As many rows that change something as rows that do not, verb by verb in turns; where
        there are too few of the one, more of the other."""
        queues: dict[bool, dict[str, list[Candidate]]] = {True: {}, False: {}}
        for one in candidates:
            queues[changes(one.row, task)].setdefault(one.verb, []).append(one)
        turns = {dynamic: _in_turns(by_verb, task) for dynamic, by_verb in queues.items()}
        half = {True: self.rows // 2, False: self.rows - self.rows // 2}
        found = {dynamic: _first(turns[dynamic], half[dynamic]) for dynamic in half}
        for dynamic in (True, False):
            missing = self.rows - sum(map(len, found.values()))
            found[dynamic] += _first(turns[dynamic], missing)
        refused = sum(
            one.judged.get(task) is False
            for by_verb in queues.values() for listed in by_verb.values() for one in listed
        )  # fmt: skip
        return found[True] + found[False], refused

    def _chains(self, found: Found, ask: Callable[..., None], asked: Sequence[Question]) -> None:
        """Rows that follow each other, asked from the true states, then from the predicted ones."""
        chains = [*islice(self._runs(found.walks), max(1, self.rows // 12))]
        firsts = []
        for number, run in enumerate(chains, start=1):
            firsts.append(len(asked) + 1)
            for one in run:
                ask(one, "step", "chain", chain=number)
        for number, (first, run) in enumerate(zip(firsts, chains, strict=True), start=1):
            after = first
            for step, one in enumerate(run[1:], start=2):
                ask(one, "step", "own", chain=number, step=step, after=after)
                after = len(asked)

    def _runs(self, walks: Iterable[Sequence[Candidate | None]]) -> Iterator[list[Candidate]]:
        """Runs of rows that can be asked about, the first of each walk in which two steps change
        something."""
        for walk in (one for one in walks if len(one) >= _CHAIN):
            run: list[Candidate] = []
            for one in walk:
                run = [*run, one][-_CHAIN:] if one is not None and one.fits("step") else []
                if len(run) == _CHAIN and sum(changes(x.row, "step") for x in run) > 1:
                    yield run
                    break

    # ---- files ----------------------------------------------------------------------------------

    def write(
        self, folder: Path, found: Found, rows: Sequence[TextRow], asked: Sequence[Question]
    ) -> tuple[dict[str, Any], str]:
        """Write the set; its manifest and the digest of that."""
        keys = {Candidate(row, "", self._decided).key for row in rows}
        examples = {one.key: one for one in found.examples if one.key not in keys}
        fitting = (one.row for one in examples.values() if one.fits("step"))
        usable = [*islice(fitting, self.rows * 2)]
        parts = [(one, rows[one.row - 1]) for one in asked if one.part in _PARTS]
        lines = []
        wrote = self.rules.wrote
        for line in baseline_lines(self.world, self.target, parts, usable, wrote, self.seed):
            lines.append(line)
            self.say(f"{len(lines)} answers without a model")
        program = self.world.program
        context = rule_context(program, self.world.world)
        told = (("What can be done", context.actions), ("What there is", context.objects),
                ("How it is scored", context.score))  # fmt: skip
        texts = {
            "rows.jsonl": lines_text(row_json(row, n) for n, row in enumerate(rows, start=1)),
            "questions.jsonl": questions_text(asked),
            "examples.jsonl": lines_text(row_json(r, n) for n, r in enumerate(usable, start=1)),
            "baselines.jsonl": lines_text(lines),
            "rules.txt": "\n\n".join(f"{title}\n\n{text}" for title, text in told) + "\n",
            "rules.tw": "\n\n".join(one.text for one in self.world.loaded.sources),
        }
        manifest = self._manifest(found, asked)
        return manifest, write_set(folder, texts, manifest)

    def _manifest(self, found: Found, asked: Sequence[Question]) -> dict[str, Any]:
        counts: dict[str, dict[str, Counter[str]]] = {}
        for one in asked:
            kinds = counts.setdefault(one.part, {"dynamic": Counter(), "static": Counter()})
            kinds["dynamic" if one.dynamic else "static"][one.verb] += 1
        return {
            "format": FORMAT, "game": self.form.game, "world": self.world.world.name,
            "file": split_target(self.target)[0].name, "program": self.world.program.digest,
            "seed": self.seed, "rows": self.rows, "from": found.sources,
            "walkers": [] if found.sources else list(WALKERS), "counts": counts,
            "left_out": dict(found.left_out),
        }  # fmt: skip


def _same(one: Recorded, other: Recorded) -> bool:
    return strict(one.objects, one.next_id, other.objects, other.next_id)


def _in_turns(by_verb: Mapping[str, Sequence[Candidate]], task: Task) -> Iterator[Candidate]:
    """The candidates of all verbs, one of each verb before the second of any."""
    left = [iter(by_verb[verb]) for verb in sorted(by_verb)]
    while left:
        for queue in [*left]:
            one = next((one for one in queue if one.fits(task)), None)
            if one is None:
                left.remove(queue)
            else:
                yield one


def _first(found: Iterator[Candidate], number: int) -> list[Candidate]:
    return [*islice(found, number)]


def _file_digest(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""  # the reader of its rows reports the fault


def _tell(manifest: Mapping[str, Any], folder: Path, digest: str, out: Output) -> None:
    out.line(f"{'part':<8}{'changing something':>20}{'changing nothing':>20}  verbs")
    for part, kinds in manifest["counts"].items():
        numbers = [sum(kinds[kind].values()) for kind in ("dynamic", "static")]
        verbs = len({*kinds["dynamic"], *kinds["static"]})
        out.line(f"{part:<8}{numbers[0]:>20}{numbers[1]:>20}  {verbs}")
    for why, number in manifest["left_out"].items():
        out.note(f"{number:,} left out: {why}")
    out.line(f"{folder}: set {digest[:16]}")
    out.json({"schema_version": 1, "ok": True, "set": digest, **manifest})
