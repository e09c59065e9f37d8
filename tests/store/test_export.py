"""Export and import: nothing is lost on the way, and a damaged file is noticed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tokenworld.diagnostics import Failure
from tokenworld.ground import STATUSES
from tokenworld.store.check import verify_chain
from tokenworld.store.exchange import export_lines, import_file, write_export
from tokenworld.store.log import RunHandle, RunStore
from tokenworld.store.read import (
    find_run,
    history,
    list_runs,
    snapshot_before,
    ticks_of,
)
from tokenworld.store.records import Parent, RunHeader, Tick, TickRecord, Timing

Headers = Callable[..., RunHeader]
Records = Callable[..., TickRecord]
Play = Callable[[RunHandle, int], list[Tick]]


@pytest.fixture
def target(tmp_path: Path) -> Iterator[RunStore]:
    with RunStore.open(tmp_path / "target.sqlite") as opened:
        yield opened


@pytest.fixture
def exported(store: RunStore, run: RunHandle, play: Play, tmp_path: Path) -> Path:
    """A finished run of three ticks as a file of five lines."""
    play(run, 3)
    run.finish("won")
    write_export(store, [run.run()], tmp_path / "run.jsonl")
    return tmp_path / "run.jsonl"


def test_a_round_trip_loses_nothing(
    store: RunStore,
    target: RunStore,
    tmp_path: Path,
    make_header: Headers,
    make_record: Records,
    play: Play,
) -> None:
    for number, status in enumerate(STATUSES):
        handle = store.begin(make_header(seed=number), timing=Timing("t0", number))
        play(handle, 2)
        handle.append(make_record(3, status), timing=Timing("t3", 9), snapshot={"tick": 3})
        if number % 2:
            handle.finish("quit")
    first = list_runs(store)[0]
    store.begin(make_header(start_hash="s1"), parent=Parent(first.id, 1))
    write_export(store, list_runs(store), tmp_path / "all.jsonl")
    imported = import_file(target, tmp_path / "all.jsonl")
    assert imported.findings == ()
    assert imported.runs == list_runs(store) == list_runs(target)
    for run in list_runs(store):
        assert ticks_of(target, run) == ticks_of(store, run)
        assert verify_chain(target, run).ok
        assert snapshot_before(target, run, 9) == snapshot_before(store, run, 9)
    again = "".join(export_lines(target, list_runs(target)))
    assert again == (tmp_path / "all.jsonl").read_text(encoding="utf-8")


def test_typed_bytes_survive(
    store: RunStore, run: RunHandle, target: RunStore, tmp_path: Path, make_record: Records
) -> None:
    record = make_record(1, "no_match", text="\udc80 \u2028 \r\n é")
    run.append(TickRecord({"text": "\udc80 \u2028"}, record.outcome, "human", "\udc80 \u2028 \r\n"))
    write_export(store, [run.run()], tmp_path / "run.jsonl")
    import_file(target, tmp_path / "run.jsonl")
    assert ticks_of(target, find_run(target)) == ticks_of(store, run.run())


def test_a_branch_brings_its_parents(
    store: RunStore,
    run: RunHandle,
    target: RunStore,
    tmp_path: Path,
    make_header: Headers,
    play: Play,
) -> None:
    play(run, 2)
    branch = store.begin(make_header(start_hash="s2"), parent=Parent(run.id, 2))
    target.begin(make_header(world="kitchen"))  # so that ids cannot stay as they were
    write_export(store, [branch.run()], tmp_path / "branch.jsonl")
    trunk, twig = import_file(target, tmp_path / "branch.jsonl").runs
    assert twig.header.parent == Parent(trunk.id, 2)
    assert [tick.chain for tick in history(target, twig)] == [
        tick.chain for tick in history(store, branch.run())
    ]
    assert verify_chain(target, twig).ok


@pytest.mark.parametrize("tick", [0, 2])
def test_a_branch_without_its_parent_keeps_where_it_came_from(
    store: RunStore,
    run: RunHandle,
    target: RunStore,
    tmp_path: Path,
    make_header: Headers,
    play: Play,
    tick: int,
) -> None:
    play(run, 2)
    branch = store.begin(make_header(start_hash=f"s{tick}"), parent=Parent(run.id, tick))
    lines = list(export_lines(store, [branch.run()]))
    (tmp_path / "orphan.jsonl").write_text(lines[-2], encoding="utf-8")
    (orphan,) = import_file(target, tmp_path / "orphan.jsonl").runs
    assert orphan.header.parent is None
    assert orphan.origin == branch.run().origin
    assert verify_chain(target, orphan).ok
    with pytest.raises(Failure, match="is a branch of a run that is not in"):
        history(target, orphan)
    # Where the parent is in the store already, the branch finds it by its hash.
    (home,) = import_file(store, tmp_path / "orphan.jsonl").runs
    assert home.header.parent == Parent(run.id, tick)


def test_importing_twice_gives_a_second_run(exported: Path, target: RunStore) -> None:
    slugs = [import_file(target, exported).runs[0].slug for _ in range(2)]
    assert slugs == ["cellar-1", "cellar-2"]
    assert all(verify_chain(target, run).ok for run in list_runs(target))


@pytest.mark.parametrize("cut", [1, 10, 200])
def test_a_torn_last_line_is_reported_and_skipped(
    exported: Path, target: RunStore, cut: int
) -> None:
    lines = exported.read_bytes().splitlines(keepends=True)
    torn = b"".join(lines[:3]) + lines[3][: -1 - cut]
    exported.write_bytes(torn)
    imported = import_file(target, exported)
    (finding,) = imported.findings
    assert finding.code == "TW1106"
    assert finding.span is not None
    assert (finding.span.line, finding.span.column) == (4, 1)
    (run,) = imported.runs
    assert (run.ticks, run.ending) == (2, None)
    assert verify_chain(target, run).ok


def test_a_line_torn_inside_a_character(
    store: RunStore, run: RunHandle, target: RunStore, tmp_path: Path, make_record: Records
) -> None:
    run.append(make_record(1))
    run.append(make_record(2, said=("🙂",)))
    content = "".join(export_lines(store, [run.run()])).encode("utf-8")
    (tmp_path / "torn.jsonl").write_bytes(content[: content.index("🙂".encode()) + 2])
    imported = import_file(target, tmp_path / "torn.jsonl")
    assert imported.runs[0].ticks == 1
    assert [finding.code for finding in imported.findings] == ["TW1106"]


@pytest.mark.parametrize(
    ("line", "old", "new"),
    [
        (2, "vault", "attic"),
        (2, '"seq":1', '"seq":2'),
        (2, '"status":"executed"', '"status":"refused"'),
        (2, '"source":"human"', '"source":"ghost"'),
        (2, '"source":"human"', '"source":3'),
        (2, '"text":"take lamp"', '"text":{}'),
        (2, '"intent":', '"intend":'),
        (2, "{", "[{"),
        (2, "tw-tick/1", "tw-tick/9"),
        (2, '"reward":0', '"reward":NaN'),
        (2, '"timing":null', '"timing":{}'),
        (3, '"chain":"', '"chain":"0'),
        (1, '"seed":7', '"seed":8'),
        (1, '"seed":7', '"seed":true'),
        (1, "world cellar", "world attic"),
        (1, '"sources":[[', '"sources":[[1,'),
        (1, '"id":1', '"id":null'),
        (1, '"header":', '"heading":'),
        (1, '"slug":"cellar-1"', '"slug":1'),
        (5, '"ticks":3', '"ticks":2'),
        (5, '"reason":"won"', '"reason":null'),
    ],
)
def test_a_changed_line_stops_the_import(
    exported: Path, target: RunStore, line: int, old: str, new: str
) -> None:
    lines = exported.read_text(encoding="utf-8").splitlines()
    assert old in lines[line - 1]
    lines[line - 1] = lines[line - 1].replace(old, new, 1)
    exported.write_text("\n".join([*lines, ""]), encoding="utf-8")
    with pytest.raises(Failure) as error:
        import_file(target, exported)
    (finding,) = error.value.diagnostics
    assert finding.code == "TW1106"
    assert finding.span is not None
    assert finding.span.line == line
    assert list_runs(target) == ()


def test_a_missing_line_stops_the_import(exported: Path, target: RunStore) -> None:
    lines = exported.read_text(encoding="utf-8").splitlines(keepends=True)
    for left_out in (0, 1, 2):
        exported.write_text("".join(lines[:left_out] + lines[left_out + 1 :]), encoding="utf-8")
        with pytest.raises(Failure) as error:
            import_file(target, exported)
        assert [finding.code for finding in error.value.diagnostics] == ["TW1106"]
    assert list_runs(target) == ()


@pytest.mark.parametrize("content", [b"", b"\n \n", b"{", b"\xff\xfe", b"[]", b"null\n", b"{}"])
def test_a_file_without_a_run(tmp_path: Path, target: RunStore, content: bytes) -> None:
    (tmp_path / "bad.jsonl").write_bytes(content)
    with pytest.raises(Failure) as error:
        import_file(target, tmp_path / "bad.jsonl")
    assert [finding.code for finding in error.value.diagnostics] == ["TW1106"]
    assert list_runs(target) == ()


def test_a_file_that_cannot_be_read(tmp_path: Path, target: RunStore) -> None:
    for path in (tmp_path, tmp_path / "none.jsonl"):
        with pytest.raises(Failure, match="cannot be read") as error:
            import_file(target, path)
        assert [finding.code for finding in error.value.diagnostics] == ["TW1106"]


def test_an_export_is_whole_or_not_there(store: RunStore, run: RunHandle, tmp_path: Path) -> None:
    with pytest.raises(Failure) as error:
        write_export(store, [run.run()], tmp_path)
    assert [finding.code for finding in error.value.diagnostics] == ["TW1102"]
    old = tmp_path / "old.jsonl"
    old.write_text("keep")

    def broken() -> Iterator[object]:
        yield run.run()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_export(store, broken(), old)  # type: ignore[arg-type]
    assert old.read_text() == "keep"
    assert not [entry for entry in tmp_path.iterdir() if entry.suffix == ".part"]


def test_lines_are_canonical_objects(exported: Path) -> None:
    lines = exported.read_text(encoding="utf-8").splitlines()
    formats = [json.loads(line)["format"] for line in lines]
    assert formats == ["tw-run/1", "tw-tick/1", "tw-tick/1", "tw-tick/1", "tw-end/1", "tw-export/1"]


def test_an_export_that_was_cut_between_lines_is_told(exported: Path, target: RunStore) -> None:
    whole = exported.read_text(encoding="utf-8").splitlines(keepends=True)
    assert not import_file(target, exported).findings
    for kept in range(1, len(whole)):
        exported.write_text("".join(whole[:kept]), encoding="utf-8")
        imported = import_file(target, exported)
        (finding,) = imported.findings
        assert finding.code == "TW1106"
        assert f"after its line {kept} are missing" in finding.message
        assert imported.runs[0].ticks == min(kept - 1, 3)


def test_a_closing_line_is_that_of_the_lines_before_it(exported: Path, target: RunStore) -> None:
    whole = exported.read_text(encoding="utf-8").splitlines(keepends=True)
    for lines in (whole[:3] + whole[-1:], whole[:-2] + whole[-1:], whole + whole[:1]):
        exported.write_text("".join(lines), encoding="utf-8")
        with pytest.raises(Failure, match=r"closes other lines|after the closing line"):
            import_file(target, exported)
        assert list_runs(target) == ()
