"""Certificates: a verdict in a file that anybody can check without trusting who made it.

The form of the file (``tw-certificate/1``), how it is read back, and the proofs that a check makes
anew: `exhaust` visits all reachable states, `prove_on_encoding` runs a proof on encoding E again.
`verbs.plan.certificates` compares the results with the file; nothing in the file is believed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, NoReturn

from tokenworld.diagnostics import Diagnostic, Failure
from tokenworld.ground import Json, LuckyDraw, Simulator, StateT
from tokenworld.planning.lower.encode import Encoding, encode
from tokenworld.planning.planners.doctor import FAST_DOWNWARD, SYMK, find_engine
from tokenworld.planning.planners.downward import BLIND, FF, find_downward, run_searches
from tokenworld.planning.proof.relaxed import fixpoint
from tokenworld.planning.search.interpreted import (
    Breadth,
    Capped,
    Exhausted,
    Found,
    Limits,
    Search,
    gaps,
)

FORMAT = "tw-certificate/1"
ProofKind = Literal["exhausted", "honest", "branching", "sliced", "relaxed", "planner"]


@dataclass(frozen=True, slots=True)
class CertifiedStep:
    """An intent in exchange form, all draws of its tick, and the state hash after it."""

    intent: Mapping[str, Json]
    draws: tuple[LuckyDraw, ...]
    state: str

    def to_json(self) -> dict[str, Json]:
        draws: list[Json] = [one.to_json() for one in self.draws]
        return {"intent": dict(self.intent), "draws": draws, "state": self.state}


@dataclass(frozen=True, slots=True)
class CertifiedProof:
    """Why there is no plan.

    *exhausted*: ``count`` states with the digest ``result`` are all there are. *honest*: the same
    of sets of states that look equal to a player. *branching*: the search for a plan that branches
    ended without one. *sliced*: the same of sets of sliced states,
    on the encoding of digest ``task``. *relaxed*: on the encoding of digest ``task``, ``count``
    facts with the digest ``result`` are all that can be reached without deletions.
    *planner*: ``engine`` in ``version`` ended on that encoding with ``exit_code`` and the
    ``closing`` lines.
    """

    kind: ProofKind
    count: int = 0
    result: str = ""
    encoding: str = ""
    task: str = ""
    engine: str = ""
    version: str = ""
    exit_code: int = 0
    closing: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Json]:
        values = {key: getattr(self, name) for key, name in _PROOF_KEYS[self.kind].items()}
        shown = {key: list(one) if key == "closing" else one for key, one in values.items()}
        return {"kind": self.kind, **shown}


_ON_ENCODING = {"encoding": "encoding", "encoding_digest": "task"}
_STATES = {"states": "count", "digest": "result"}
_PROOF_KEYS: dict[ProofKind, dict[str, str]] = {
    "exhausted": _STATES,
    "honest": _STATES,
    "branching": {},
    "sliced": {**_ON_ENCODING, **_STATES},
    "relaxed": {**_ON_ENCODING, "facts": "count", "fixpoint_digest": "result"},
    "planner": {
        "engine": "engine",
        "version": "version",
        **_ON_ENCODING,
        "exit_code": "exit_code",
        "closing": "closing",
    },
}
"""The keys of each kind of proof in a file, with the fields of `CertifiedProof`."""


@dataclass(frozen=True, slots=True)
class CertifiedBranch:
    """An observation, by its digest and in words, and the plan that follows; ``None``: the goal."""

    seen: str
    shown: tuple[str, ...]
    then: CertifiedNode | None

    def to_json(self) -> dict[str, Json]:
        then = None if self.then is None else self.then.to_json()
        return {"seen": self.seen, "shown": list(self.shown), "then": then}


@dataclass(frozen=True, slots=True)
class CertifiedNode:
    """A step of a branching plan: the intent, and a branch for each possible observation."""

    intent: Mapping[str, Json]
    branches: tuple[CertifiedBranch, ...]

    def to_json(self) -> dict[str, Json]:
        branches: list[Json] = [one.to_json() for one in self.branches]
        return {"intent": dict(self.intent), "observations": branches}


@dataclass(frozen=True, slots=True)
class CertifiedHonesty:
    """Marks a verdict as one about honest plans.

    ``assignments`` states with the digest ``starts`` are all that look like the start to a player.
    ``intents`` are those of a plan that wins in each of them, played until it does; ``tree`` is one
    that branches instead.
    """

    assignments: int
    starts: str
    intents: tuple[Mapping[str, Json], ...] = ()
    tree: CertifiedNode | None = None

    def to_json(self) -> dict[str, Json]:
        found: dict[str, Json] = {"assignments": self.assignments, "starts": self.starts}
        if self.tree is not None:
            return {**found, "branches": self.tree.to_json()}
        return {**found, "intents": [dict(one) for one in self.intents]}


@dataclass(frozen=True, slots=True)
class Certificate:
    """One verdict about one world, its params and its seed.

    ``program`` is the digest over all source texts, ``start`` the hash of the start state. Steps
    belong to *winnable*, the proof to *unwinnable*. ``honest`` is there where it was asked.
    """

    program: str
    world: str
    params: Mapping[str, Json]
    seed: int
    goal: str | None
    answer: Literal["winnable", "unwinnable"]
    start: str
    steps: tuple[CertifiedStep, ...] = ()
    proof: CertifiedProof | None = None
    honest: CertifiedHonesty | None = None

    def to_json(self) -> dict[str, Json]:
        found: dict[str, Json] = {
            "format": FORMAT,
            "program": self.program,
            "world": self.world,
            "params": dict(self.params),
            "seed": self.seed,
            "goal": self.goal,
            "answer": self.answer,
            "start": self.start,
        }
        if self.honest is not None:
            found["honest"] = self.honest.to_json()
        if self.proof is None:
            return {**found, "steps": [step.to_json() for step in self.steps]}
        return {**found, "proof": self.proof.to_json()}


# ---- reading ----------------------------------------------------------------------------------


def _unfit(source: str, what: str) -> NoReturn:
    hint = "Write it anew with `tw plan WORLD --certificate FILE`."
    raise Failure(Diagnostic("TW0006", f"`{source}` is no certificate: {what}.", hint=hint))


class _Reader:
    """One JSON object of a certificate; every key is asked for with its type."""

    def __init__(self, found: Json, source: str, where: str) -> None:
        if not isinstance(found, Mapping):
            _unfit(source, f"{where} is not an object")
        self._found, self._source, self._where = found, source, where
        self.keys = frozenset(found)

    def text(self, key: str) -> str:
        value = self._found.get(key)
        return value if isinstance(value, str) else self._bad(key, "a text")

    def number(self, key: str) -> int:
        value = self._found.get(key)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        return self._bad(key, "a whole number")

    def name(self, key: str) -> str | None:
        return None if self._found.get(key, "") is None else self.text(key)

    def has(self, key: str) -> bool:
        return self._found.get(key) is not None

    def items(self, key: str) -> list[Json]:
        value = self._found.get(key)
        return list(value) if isinstance(value, list) else self._bad(key, "a list")

    def inner(self, key: str) -> Mapping[str, Json]:
        value = self._found.get(key)
        return value if isinstance(value, Mapping) else self._bad(key, "an object")

    def texts(self, key: str) -> tuple[str, ...]:
        values = self.items(key)
        texts = tuple(one for one in values if isinstance(one, str))
        return texts if len(texts) == len(values) else self._bad(key, "a list of texts")

    def values(self, key: str) -> tuple[Json, ...]:
        values = tuple(self.items(key))
        plain = all(one is None or isinstance(one, (str, int, float)) for one in values)
        return values if plain else self._bad(key, "a list of texts, numbers and truth values")

    def _bad(self, key: str, wanted: str) -> NoReturn:
        what = "is missing" if key not in self._found else f"is not {wanted}"
        _unfit(self._source, f"`{key}` of {self._where} {what}")


def certificate_from_json(found: Json, source: str) -> Certificate:
    """The certificate in a parsed file; `Failure` (TW0006) where it is not one."""
    reader = _Reader(found, source, "the certificate")
    form = reader.text("format")
    if form != FORMAT:
        _unfit(source, f"its format is `{form}`, and this program reads `{FORMAT}`")
    answer = reader.text("answer")
    if answer not in ("winnable", "unwinnable"):
        _unfit(source, f"`{answer}` is no answer that can be certified")
    won = answer == "winnable"
    steps = (
        [_step(one, source, at) for at, one in enumerate(reader.items("steps"), 1)] if won else []
    )
    proof = None if won else _proof(_Reader(reader.inner("proof"), source, "the proof"), source)
    return Certificate(
        reader.text("program"),
        reader.text("world"),
        reader.inner("params"),
        reader.number("seed"),
        reader.name("goal"),
        "winnable" if won else "unwinnable",
        reader.text("start"),
        tuple(steps),
        proof,
        _honesty(found, source) if "honest" in reader.keys else None,
    )


def _honesty(found: Json, source: str) -> CertifiedHonesty:
    reader = _Reader(_Reader(found, source, "the certificate").inner("honest"), source, "`honest`")
    if "branches" in reader.keys:
        tree = _node(reader.inner("branches"), source)
        return CertifiedHonesty(reader.number("assignments"), reader.text("starts"), (), tree)
    intents = [one if isinstance(one, Mapping) else None for one in reader.items("intents")]
    kept = tuple(one for one in intents if one is not None)
    if len(kept) < len(intents):
        _unfit(source, "an intent of `honest` is not an object")
    return CertifiedHonesty(reader.number("assignments"), reader.text("starts"), kept)


def _node(found: Json, source: str) -> CertifiedNode:
    reader = _Reader(found, source, "a step of `branches`")
    branches = (_Reader(one, source, "an observation") for one in reader.items("observations"))
    return CertifiedNode(
        reader.inner("intent"),
        tuple(
            CertifiedBranch(
                one.text("seen"), one.texts("shown"),
                _node(one.inner("then"), source) if one.has("then") else None,
            )
            for one in branches
        ),
    )  # fmt: skip


def _step(found: Json, source: str, number: int) -> CertifiedStep:
    reader = _Reader(found, source, f"step {number}")
    draws = [_Reader(one, source, f"a draw of step {number}") for one in reader.items("draws")]
    return CertifiedStep(
        reader.inner("intent"),
        tuple(
            LuckyDraw(
                one.text("rule"),
                one.values("args"),
                one.number("draw"),
                one.number("choice"),
                one.number("alternatives"),
            )
            for one in draws
        ),
        reader.text("state"),
    )


def _proof(reader: _Reader, source: str) -> CertifiedProof:
    kind = next((one for one in _PROOF_KEYS if one == reader.text("kind")), None)
    if kind is None:
        _unfit(source, f"`{reader.text('kind')}` is no kind of proof")
    found: dict[str, Any] = {}
    for key, name in _PROOF_KEYS[kind].items():
        default = getattr(CertifiedProof(kind), name)
        read = reader.number if isinstance(default, int) else reader.text
        found[name] = reader.texts(key) if isinstance(default, tuple) else read(key)
    return CertifiedProof(kind, **found)


_SPAN = 1 << 256


@dataclass(frozen=True, slots=True)
class Space:
    """All states reachable without passing the goal.

    ``digest`` is the sum modulo 2**256 of the SHA-256 of each state's key, in hexadecimal: equal
    for equal sets of states, in whatever order they were met.
    """

    states: int
    digest: str


def exhaust(
    simulator: Simulator[StateT],
    state: StateT,
    goal: str | None,
    *,
    seconds: float,
    say: Callable[[str], None] = lambda line: None,
) -> Space:
    """Visit every state reachable from ``state``; none may reach ``goal`` (any if ``None``).

    Raises `NoProof` where a state reaches the goal, where the outcomes cannot be listed
    exactly, or where ``seconds`` are over.
    """
    found = gaps(simulator.instance, simulator.unlisted)
    if found:
        raise NoProof(f"not every outcome can be listed: {found[0].message.rstrip('.')}")
    frontier: Breadth[StateT] = Breadth()
    ended = Search(simulator, state, goal, frontier=frontier).run(
        Limits(None, seconds, None), progress=lambda now: say(f"{now.states:,} states counted")
    )
    match ended:
        case Found():
            raise NoProof("a state that can be reached is the goal")
        case Capped(limit="spare"):
            raise NoProof("the world has too few spare objects")
        case Capped(reason=reason):
            raise NoProof(reason.replace("its limit", "the limit", 1), limited=True)
        case Exhausted(states=states):
            digests = (sha256(key_text(key).encode()).digest() for key in frontier.seen)
            total = sum(int.from_bytes(one, "big") for one in digests)
            return Space(states, f"{total % _SPAN:064x}")


def key_text(key: object) -> str:
    """A state's key as text: equal keys have equal texts, for any order of their sets."""
    match key:
        case frozenset() | set():
            return "{" + ",".join(sorted(key_text(part) for part in key)) + "}"
        case tuple() | list():
            return "(" + ",".join(key_text(part) for part in key) + ")"
        case bool():
            return str(int(key))
        case Fraction() if key.denominator == 1:
            return str(key.numerator)
        case _ if is_dataclass(key) and not isinstance(key, type):
            return "<" + ",".join(_parts(key)) + ">"
        case _:
            return repr(key)


def _parts(key: object) -> Iterator[str]:
    yield type(key).__name__
    if is_dataclass(key) and not isinstance(key, type):
        for field in fields(key):
            yield key_text(getattr(key, field.name))


_ENGINE = "fast-downward"
REPEATED = {f"{_ENGINE} {one.name}": one for one in (FF, BLIND)}
"""The searches of planners that a certificate may name, by the name of the engine."""


class NoProof(Exception):
    """Why there is no proof, as a clause. ``limited``: more time or memory might help."""

    def __init__(self, reason: str, *, limited: bool = False) -> None:
        super().__init__(reason)
        self.reason, self.limited = reason, limited


def prove_on_encoding(
    simulator: Simulator[StateT], state: StateT, goal: str | None, engine: str, seconds: float
) -> CertifiedProof:
    """Build encoding E anew and prove on it that the goal is out of reach.

    ``engine`` names the planner's search that is to end without a plan (``fast-downward blind``);
    anything else means relaxed reachability. Raises `NoProof` where there is no such proof, and
    `Failure` (TW0811) where the planner is missing.
    """
    encoding = encode(simulator.instance_at(state), simulator, state, goal)
    if not isinstance(encoding, Encoding):
        one = encoding.obstacles[0]
        raise NoProof(f"no encoding takes {one.construct}: {one.reason}")
    if engine.startswith(_ENGINE):
        return _by_planner(encoding, engine, seconds)
    known = fixpoint(encoding.task)
    if known.reached:
        raise NoProof("the goal can be reached if nothing is deleted")
    return CertifiedProof("relaxed", len(known.rounds), known.digest, "E", encoding.digest)


def _by_planner(encoding: Encoding, engine: str, seconds: float) -> CertifiedProof:
    search = REPEATED.get(engine)
    if search is None:
        raise NoProof(f"`{engine}` is no search that proves anything")
    program = find_downward()
    if isinstance(program, Diagnostic):
        raise Failure(program)
    (answer,) = run_searches(program, encoding.text, (search,), seconds=seconds)
    if answer.result != "no plan":
        limited = answer.result in ("limit", "cancelled")
        raise NoProof(f"`{engine}` ended otherwise: {answer.detail}", limited=limited)
    return CertifiedProof(
        "planner",
        encoding="E",
        task=encoding.digest,
        engine=engine,
        version=_version(program),
        exit_code=answer.exit_code or 0,
        closing=answer.closing,
    )


def _version(program: Path) -> str:
    """Return the version of the package that contains the program."""
    for package in (FAST_DOWNWARD, SYMK):
        found = find_engine(package)
        if found.path == str(program):
            return f"{found.package} {found.version}"
    return ""
