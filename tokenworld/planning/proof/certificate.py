"""Certificates: a verdict written down so that anybody can check it without trusting its maker.

The form of the file (``tw-certificate/1``) and how it is read back. What a certificate says is
worked out anew by `session.certifying`; nothing in the file is believed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NoReturn

from tokenworld.diagnostics import Diagnostic, Failure
from tokenworld.ground import Json, LuckyDraw

__all__ = [
    "FORMAT",
    "Certificate",
    "CertifiedHonesty",
    "CertifiedProof",
    "CertifiedStep",
    "ProofKind",
    "certificate_from_json",
]

FORMAT = "tw-certificate/1"
ProofKind = Literal["exhausted", "honest", "sliced", "relaxed", "planner"]


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
    of sets of states that a player cannot tell apart. *sliced*: the same of sets of sliced states,
    on the encoding of digest ``task``. *relaxed*: on the encoding of digest ``task``, ``count``
    facts with the digest ``result`` are all that can be reached even if nothing were ever undone.
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
        match self.kind:
            case "exhausted" | "honest":
                return {"kind": self.kind, "states": self.count, "digest": self.result}
            case "sliced":
                return {
                    "kind": self.kind,
                    "encoding": self.encoding,
                    "encoding_digest": self.task,
                    "states": self.count,
                    "digest": self.result,
                }
            case "relaxed":
                return {
                    "kind": self.kind,
                    "encoding": self.encoding,
                    "encoding_digest": self.task,
                    "facts": self.count,
                    "fixpoint_digest": self.result,
                }
            case "planner":
                return {
                    "kind": self.kind,
                    "engine": self.engine,
                    "version": self.version,
                    "encoding": self.encoding,
                    "encoding_digest": self.task,
                    "exit_code": self.exit_code,
                    "closing": list(self.closing),
                }


@dataclass(frozen=True, slots=True)
class CertifiedHonesty:
    """That a verdict is about honest plans.

    ``assignments`` states with the digest ``starts`` are all that look like the start to a player.
    ``intents`` are those of a plan that wins in each of them, played until it does.
    """

    assignments: int
    starts: str
    intents: tuple[Mapping[str, Json], ...] = ()

    def to_json(self) -> dict[str, Json]:
        intents: list[Json] = [dict(one) for one in self.intents]
        return {"assignments": self.assignments, "starts": self.starts, "intents": intents}


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
    intents = [one if isinstance(one, Mapping) else None for one in reader.items("intents")]
    kept = tuple(one for one in intents if one is not None)
    if len(kept) < len(intents):
        _unfit(source, "an intent of `honest` is not an object")
    return CertifiedHonesty(reader.number("assignments"), reader.text("starts"), kept)


def _step(found: Json, source: str, number: int) -> CertifiedStep:
    reader = _Reader(found, source, f"step {number}")
    draws = [_Reader(one, source, f"a draw of step {number}") for one in reader.items("draws")]
    return CertifiedStep(
        reader.inner("intent"),
        tuple(
            LuckyDraw(
                one.text("rule"),
                tuple(one.items("args")),
                one.number("draw"),
                one.number("choice"),
                one.number("alternatives"),
            )
            for one in draws
        ),
        reader.text("state"),
    )


def _proof(reader: _Reader, source: str) -> CertifiedProof:
    match reader.text("kind"):
        case "exhausted" | "honest" as kind:
            return CertifiedProof(kind, reader.number("states"), reader.text("digest"))
        case "sliced":
            return CertifiedProof(
                "sliced",
                reader.number("states"),
                reader.text("digest"),
                reader.text("encoding"),
                reader.text("encoding_digest"),
            )
        case "relaxed":
            return CertifiedProof(
                "relaxed",
                reader.number("facts"),
                reader.text("fixpoint_digest"),
                reader.text("encoding"),
                reader.text("encoding_digest"),
            )
        case "planner":
            return CertifiedProof(
                "planner",
                encoding=reader.text("encoding"),
                task=reader.text("encoding_digest"),
                engine=reader.text("engine"),
                version=reader.text("version"),
                exit_code=reader.number("exit_code"),
                closing=reader.texts("closing"),
            )
        case other:
            _unfit(source, f"`{other}` is no kind of proof")
