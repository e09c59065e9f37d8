"""The contract of a world: its kind, its mechanics, and how many mistakes its tests must notice."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Literal

from tokenworld.diagnostics import Diagnostic, Failure, read_source, usage
from tokenworld.model.schema import CLOSED, shaped
from tokenworld.planning.space.dead_ends import Cruelty

Kind = Literal["game", "pddl", "rows", "free"]
NAMED: Final[tuple[Kind, ...]] = ("game", "pddl", "free")
_ROWS: Final = "rows:"
_HINT: Final = "Write it as docs/judge.md tells, under “Contracts”."


@dataclass(frozen=True, slots=True)
class Mechanic:
    """A sentence of the specification, by its id, and the ``rules`` that carry it out, if named.

    Scenarios whose title begins with the id test it.
    """

    __pydantic_config__ = CLOSED
    id: str
    text: str = ""
    rules: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Contract:
    """The demands on a world. ``rows`` are files of recorded transitions.

    ``kill_rate`` is the share of mutants that the tests must notice, ``cruelty`` the worst class of
    dead ends that is allowed (`tw audit`).
    """

    __pydantic_config__ = CLOSED
    kind: Kind = "game"
    rows: tuple[str, ...] = ()
    kill_rate: float = 0.8
    cruelty: Cruelty = "cruel"
    mechanics: tuple[Mechanic, ...] = ()


@dataclass(frozen=True, slots=True)
class Budget:
    """The limits of a judgement. ``seconds`` end a judgement that would not end by itself. If they
    suffice, equal sources and budgets give equal judgements.

    ``states`` bound each search and each audit, ``ticks`` the seeded play of each world,
    ``mutants`` the changed programs that the tests are held against.
    """

    states: int = 20_000
    ticks: int = 400
    mutants: int = 40
    seconds: float = 120.0

    @property
    def unpacked(self) -> int:
        """The states of a search or an audit whose states cannot be packed, which makes each some
        fifty times as dear."""
        return max(self.states // 40, 1)


def read_contract(name: str) -> Contract:
    """``game``, ``pddl``, ``free``, ``rows:FILE``, or a JSON file.

    `Failure` (TW0001, TW0003, TW0006) for any other.
    """
    if name in NAMED:
        return Contract(name)
    if name.startswith(_ROWS):
        return _checked(Contract("rows", (name.removeprefix(_ROWS),)), name)
    path = Path(name)
    if not path.suffix and not path.exists():
        known = ", ".join(f"`{one}`" for one in (*NAMED, "rows:FILE"))
        raise usage(f"There is no contract `{name}`.", f"Name one of {known}, or a JSON file.")
    return _read(path)


def _read(path: Path) -> Contract:
    try:
        found = json.loads(read_source(path).text)
    except (ValueError, RecursionError) as error:
        raise _unfit(str(path), f"it is no JSON ({error})") from None
    try:
        contract = shaped(Contract, _spread(found))
    except ValueError as error:
        raise _unfit(str(path), str(error)) from None
    beside = tuple(str(path.parent / row) for row in contract.rows)
    return _checked(replace(contract, rows=beside), str(path))


def _spread(found: object) -> object:
    """The JSON with ``"kind": "rows:FILE"`` taken apart."""
    if not isinstance(found, dict) or not str(found.get("kind", "")).startswith(_ROWS):
        return found
    rows = found.get("rows", [])
    named = [str(found["kind"]).removeprefix(_ROWS), *(rows if isinstance(rows, list) else [])]
    return {**found, "kind": "rows", "rows": named}


def _checked(contract: Contract, shown: str) -> Contract:
    """The contract, where its values make sense together."""
    ids = [one.id for one in contract.mechanics]
    if not 0 <= contract.kill_rate <= 1:
        raise _unfit(shown, "`kill_rate` is a share from 0 to 1")
    if wrong := next((one for one in ids if not one or one.split() != [one]), None):
        raise _unfit(shown, f"the id `{wrong}` of a mechanic is no single word")
    if twice := next((one for one in ids if ids.count(one) > 1), None):
        raise _unfit(shown, f"the mechanic `{twice}` is written twice")
    if contract.kind == "rows" and not all(contract.rows):
        raise _unfit(shown, "it names no file of rows")
    if missing := next((one for one in contract.rows if not Path(one).is_file()), None):
        message, hint = f"There is no file `{missing}`.", "Name files of recorded rows."
        raise Failure(Diagnostic("TW0001", message, hint=hint))
    return contract


def _unfit(shown: str, why: str) -> Failure:
    return usage(f"`{shown}` is no contract: {why}.", _HINT)
