"""Whoever changes the file behind our back is found out, at the right tick."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tokenworld.diagnostics import Failure
from tokenworld.ground import Outcome
from tokenworld.store.check import LAWS, broken_law, check_file, verify_chain
from tokenworld.store.log import RunHandle, RunStore
from tokenworld.store.read import chained, find_run
from tokenworld.store.records import Parent, RunHeader, Tick, TickRecord, canonical, digest_of

Records = Callable[..., TickRecord]
Outcomes = Callable[..., Outcome]
Headers = Callable[..., RunHeader]
Play = Callable[[RunHandle, int], list[Tick]]


def tamper(store: RunStore, statement: str, *values: Any) -> None:
    """Change the file as an attacker with an SQL shell would: no triggers, no checks."""
    connection = store.connection
    triggers = connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'trigger'"
    ).fetchall()
    for (name,) in triggers:
        connection.execute(f"DROP TRIGGER {name}")
    connection.execute("PRAGMA ignore_check_constraints = ON")
    connection.execute("PRAGMA foreign_keys = OFF")
    assert connection.execute(statement, values).rowcount > 0


def breach_of(store: RunStore) -> tuple[int, str]:
    verification = verify_chain(store, find_run(store, "1"))
    assert verification.breach is not None
    diagnostic = verification.diagnostic()
    assert diagnostic is not None
    assert diagnostic.code == "TW1101"
    assert verification.to_json()["ok"] is False
    return verification.breach.seq, verification.breach.law


def test_an_untouched_run_verifies(store: RunStore, run: RunHandle, play: Play) -> None:
    play(run, 5)
    assert verify_chain(store, run.run()).ok
    run.finish("quit")
    verification = verify_chain(store, run.run())
    assert (verification.ok, verification.ticks) == (True, 5)
    assert verification.diagnostic() is None
    check_file(store)


def test_executed_written_over_refused_is_found(
    store: RunStore, run: RunHandle, make_record: Records, play: Play
) -> None:
    play(run, 2)
    run.append(make_record(3, "refused"))
    tamper(store, "UPDATE tick SET status = 'executed' WHERE seq = 3")
    assert breach_of(store) == (3, "columns")


def test_a_whole_chain_forged_over_a_lie_still_breaks_the_laws(
    store: RunStore, run: RunHandle, make_record: Records
) -> None:
    """Recomputing the hashes does not help: the record contradicts itself."""
    refused = run.append(make_record(1, "refused"))
    outcome = {**refused.outcome, "status": "executed"}
    record = TickRecord(refused.intent, outcome, "human", refused.text)
    forged = chained(run.id, 1, refused.previous, record)
    tamper(
        store,
        "UPDATE tick SET status = 'executed', outcome = ?, chain = ?",
        canonical(outcome),
        forged.chain,
    )
    assert breach_of(store) == (1, "refusal")


@pytest.mark.parametrize(
    ("statement", "place"),
    [
        (
            "UPDATE tick SET outcome = replace(outcome, 'vault', 'attic') WHERE seq = 2",
            (2, "chain"),
        ),
        ("UPDATE tick SET intent = replace(intent, 'lamp', 'ruby') WHERE seq = 2", (2, "chain")),
        ("UPDATE tick SET text = 'drop lamp' WHERE seq = 2", (2, "chain")),
        ("UPDATE tick SET text = NULL WHERE seq = 2", (2, "chain")),
        ("UPDATE tick SET source = 'script' WHERE seq = 2", (2, "chain")),
        ("UPDATE tick SET source = 'ghost' WHERE seq = 2", (2, "source")),
        ("UPDATE tick SET actor = 'ghost' WHERE seq = 2", (2, "columns")),
        ("UPDATE tick SET hash_after = 's9' WHERE seq = 2", (2, "columns")),
        ("UPDATE tick SET chain = previous WHERE seq = 2", (2, "chain")),
        ("UPDATE tick SET outcome = ' ' || outcome WHERE seq = 2", (2, "canonical")),
        ("UPDATE tick SET outcome = 'x' WHERE seq = 2", (2, "canonical")),
        ("UPDATE tick SET intent = '[]' WHERE seq = 2", (2, "canonical")),
        ("DELETE FROM tick WHERE seq = 2", (2, "gapless")),
        ("DELETE FROM tick WHERE seq = 1", (1, "gapless")),
        ("DELETE FROM tick WHERE seq = 4", (4, "ending")),
        ("UPDATE ending SET ticks = 3", (4, "ending")),
        ("UPDATE ending SET state_hash = 's3'", (4, "ending")),
        ("UPDATE event SET new = '7' WHERE seq = 3", (3, "events")),
        ("DELETE FROM event WHERE seq = 3", (3, "events")),
        ("UPDATE run SET header = replace(header, '\"seed\":7', '\"seed\":8')", (0, "header")),
        ("UPDATE run SET genesis = (SELECT chain FROM tick WHERE seq = 1)", (0, "header")),
        ("UPDATE source_set SET sources = replace(sources, 'world', 'whirl')", (0, "header")),
    ],
)
def test_a_changed_file_is_found_out(
    store: RunStore, run: RunHandle, play: Play, statement: str, place: tuple[int, str]
) -> None:
    play(run, 4)
    run.finish("quit")
    tamper(store, statement)
    assert breach_of(store) == place


def test_the_ticks_before_a_breach_are_counted(store: RunStore, run: RunHandle, play: Play) -> None:
    play(run, 4)
    tamper(store, "UPDATE tick SET text = 'x' WHERE seq = 3")
    verification = verify_chain(store, run.run())
    assert verification.ticks == 2
    diagnostic = verification.diagnostic()
    assert diagnostic is not None
    assert "tick 3" in diagnostic.message


def test_a_branch_hangs_on_its_parent(
    store: RunStore, run: RunHandle, make_header: Headers, play: Play
) -> None:
    play(run, 2)
    branch = store.begin(make_header(start_hash="s1"), parent=Parent(run.id, 1))
    tamper(store, "UPDATE tick SET chain = previous WHERE seq = 1")
    verification = verify_chain(store, branch.run())
    assert verification.breach is not None
    assert "does not follow tick 1" in verification.breach.message


def test_a_state_that_jumps_is_found(store: RunStore, run: RunHandle, make_record: Records) -> None:
    """A record with a right hash and its own laws intact, but from another run."""
    first = run.append(make_record(1))
    foreign = chained(run.id, 2, first.chain, make_record(7))
    run.append(make_record(2))
    tamper(
        store,
        "UPDATE tick SET outcome = ?, hash_before = 's6', hash_after = 's7', chain = ? "
        "WHERE seq = 2",
        canonical(foreign.outcome),
        foreign.chain,
    )
    assert breach_of(store) == (2, "continuity")


_CHANGE = {"fluent": "at", "args": ["lamp"], "old": 1, "new": 2, "rule": "action take"}


@pytest.mark.parametrize(
    ("status", "different", "law"),
    [
        ("executed", {"status": "approved"}, "status"),
        ("executed", {"status": None}, "status"),
        ("executed", {"status": ["executed"]}, "status"),
        ("executed", {"format": "tw-outcome/2"}, "form"),
        ("executed", {"time_passed": 1}, "form"),
        ("executed", {"hash_before": None}, "form"),
        ("executed", {"changes": "none"}, "form"),
        ("executed", {"changes": [{"fluent": "at"}]}, "form"),
        ("executed", {"law_changes": None}, "form"),
        ("executed", {"actor": 3}, "form"),
        ("refused", {"changes": [_CHANGE]}, "no_change"),
        ("no_match", {"changes": [_CHANGE]}, "no_change"),
        ("executed", {"refusal": {}}, "refusal"),
        ("refused", {"refusal": None}, "refusal"),
        (
            "refused",
            {"refusal": {"label": "x", "text": "y", "index": 0, "requires": []}},
            "refusal",
        ),
        ("no_match", {"no_match": {"kind": "bored"}}, "no_match"),
        ("executed", {"no_match": {"kind": "ambiguous"}}, "no_match"),
        ("yielded", {"yielded": {"kind": "bored"}}, "yielded"),
        ("no_match", {"yielded": {"kind": "unknown_verb"}}, "yielded"),
        ("rolled_back", {"breach": {}}, "breach"),
        ("executed", {"breach": {"code": "TW1001"}}, "breach"),
        ("executed", {"discarded": [_CHANGE]}, "discarded"),
        ("waiting", {"progress": None}, "cause"),
        ("halted", {"cause": None}, "cause"),
        ("executed", {"noop": True}, "noop"),
        ("executed", {"changes": []}, "noop"),
        ("executed", {"time_passed": False}, "laws_need_time"),
        ("refused", {"hash_after": "s1"}, "state_stays"),
        ("error", {"hash_after": "s1"}, "state_stays"),
    ],
)
def test_each_law_is_broken_by_its_lie(
    make_outcome: Outcomes, status: str, different: dict[str, Any], law: str
) -> None:
    honest = make_outcome(1, status).to_json()
    assert broken_law(honest) is None
    broken = broken_law({**honest, **different})
    assert broken is not None
    assert broken.name == law


def test_a_refusal_names_its_first_false_require(make_outcome: Outcomes) -> None:
    honest = make_outcome(1, "refused").to_json()
    refusal: Any = json.loads(canonical(honest["refusal"]))
    for key, value in (("holds", True), ("holds", None), ("index", 1), ("label", "other")):
        lie = json.loads(json.dumps(refusal))
        lie["requires"][0][key] = value
        broken = broken_law({**honest, "refusal": lie})
        assert broken is not None
        assert broken.name == "refusal"


def test_a_refused_intent_may_pass_time(make_outcome: Outcomes) -> None:
    """`time passes always`: the laws move the state, the refused action does not."""
    passed = make_outcome(
        1, "refused", time_passed=True, hash_after="s1", law_changes=make_outcome(1).law_changes
    )
    assert broken_law(passed.to_json()) is None


def test_law_names_are_unique() -> None:
    assert len({law.name for law in LAWS}) == len(LAWS)


def test_canonical_json() -> None:
    assert canonical({"b": (1, 2.5), "a": "é\n", "c": None}) == '{"a":"é\\n","b":[1,2.5],"c":null}'
    expected = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
    assert digest_of({}) == expected  # sha256 of "{}"
    with pytest.raises(ValueError, match="JSON compliant"):
        canonical(float("nan"))


def test_damaged_json_in_a_header_is_one_diagnostic(store: RunStore, run: RunHandle) -> None:
    tamper(store, "UPDATE run SET header = '{}'")
    with pytest.raises(Failure) as error:
        find_run(store)
    assert [d.code for d in error.value.diagnostics] == ["TW1101"]
