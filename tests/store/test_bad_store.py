"""A bad store file is one diagnostic, and stays as it was."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tokenworld.diagnostics import Failure
from tokenworld.store.check import check_file, verify_chain
from tokenworld.store.database import SCHEMA_VERSION
from tokenworld.store.log import RunHandle, RunStore
from tokenworld.store.read import find_run, list_runs, ticks_of
from tokenworld.store.records import RunHeader, Tick, TickRecord

Headers = Callable[..., RunHeader]
Records = Callable[..., TickRecord]
Play = Callable[[RunHandle, int], list[Tick]]


def fails(code: str, action: Callable[[], object]) -> str:
    """Assert that the action ends in exactly one diagnostic of the code; its message."""
    with pytest.raises(Failure) as error:
        action()
    (diagnostic,) = error.value.diagnostics
    assert diagnostic.code == code
    assert diagnostic.hint
    assert diagnostic.message.endswith(".")
    return diagnostic.message


@pytest.fixture
def recorded(path: Path, make_header: Headers, play: Play) -> Path:
    """A closed store with a run of 300 ticks, some dozens of pages long."""
    with RunStore.open(path) as store:
        play(store.begin(make_header()), 300)
    return path


@pytest.mark.parametrize("writable", [True, False])
def test_a_folder(tmp_path: Path, writable: bool) -> None:
    assert "folder" in fails("TW1101", lambda: RunStore.open(tmp_path, writable=writable))


def test_a_device_and_a_pipe(tmp_path: Path) -> None:
    fails("TW1101", lambda: RunStore.open("/dev/null"))
    os.mkfifo(tmp_path / "pipe")
    fails("TW1101", lambda: RunStore.open(tmp_path / "pipe"))


@pytest.mark.parametrize("content", [b"x", b"not a database\n" * 100, b"\x00" * 5000, b"SQLite"])
@pytest.mark.parametrize("writable", [True, False])
def test_a_file_that_is_no_database(path: Path, content: bytes, writable: bool) -> None:
    path.write_bytes(content)
    fails("TW1101", lambda: RunStore.open(path, writable=writable))
    assert path.read_bytes() == content
    assert list(path.parent.iterdir()) == [path]


def test_a_database_of_another_program(path: Path) -> None:
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE run (id)")
    other.close()
    before = path.read_bytes()
    fails("TW1101", lambda: RunStore.open(path))
    assert path.read_bytes() == before


def test_a_newer_schema(recorded: Path) -> None:
    newer = sqlite3.connect(recorded)
    newer.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    newer.close()
    for writable in (True, False):
        fails("TW1103", lambda writable=writable: RunStore.open(recorded, writable=writable))  # type: ignore[misc]


@pytest.mark.parametrize("keep", [1 / 2, 0.9])
def test_a_truncated_file(recorded: Path, keep: float) -> None:
    content = recorded.read_bytes()
    recorded.write_bytes(content[: int(len(content) * keep)])
    fails("TW1101", lambda: _read_all(recorded))


def test_a_file_with_a_wrecked_page(recorded: Path) -> None:
    content = bytearray(recorded.read_bytes())
    middle = len(content) // 2 // 4096 * 4096
    content[middle : middle + 4096] = b"\xff" * 4096
    recorded.write_bytes(content)
    fails("TW1101", lambda: _read_all(recorded))


def _read_all(path: Path) -> None:
    with RunStore.open(path) as store:
        run = find_run(store)
        ticks_of(store, run)
        check_file(store)
        diagnostic = verify_chain(store, run).diagnostic()
        if diagnostic:
            raise Failure(diagnostic)


def test_an_empty_file_is_an_empty_store(path: Path) -> None:
    path.touch()
    fails("TW1104", lambda: RunStore.open(path, writable=False))
    with RunStore.open(path) as store:
        assert list_runs(store) == ()


def test_the_folder_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with RunStore.open():
        pass
    assert (tmp_path / ".tw" / "runs.sqlite").is_file()


@pytest.mark.parametrize("name", ["/proc/runs.sqlite", "/proc/none/runs.sqlite"])
def test_a_place_where_no_file_can_be(name: str) -> None:
    fails("TW1102", lambda: RunStore.open(name))


def test_a_file_where_a_folder_should_be(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    fails("TW1102", lambda: RunStore.open(tmp_path / "file" / "runs.sqlite"))
    fails("TW1102", lambda: RunStore.open(tmp_path / "file" / "more" / "runs.sqlite"))


def test_a_name_that_is_too_long(tmp_path: Path) -> None:
    fails("TW1102", lambda: RunStore.open(tmp_path / ("x" * 300)))


def test_odd_names(tmp_path: Path, make_header: Headers) -> None:
    for name in ("a?mode=ro#b %41.sqlite", "süß 🙂.sqlite", "\udc80.sqlite"):
        with RunStore.open(tmp_path / name) as store:
            store.begin(make_header())
        assert (tmp_path / name).is_file()


def test_a_lock_that_is_kept(path: Path, run: RunHandle, make_record: Records) -> None:
    with RunStore.open(path, busy_seconds=0.1) as second:
        handle = second.resume()
        run.store.connection.execute("BEGIN IMMEDIATE")
        assert "another process" in fails("TW1102", lambda: handle.append(make_record(1)))
        fails("TW1102", lambda: RunStore.open(path, busy_seconds=0.1))
        with RunStore.open(path, writable=False) as reader:  # reading goes on meanwhile
            assert find_run(reader).ticks == 0
        run.store.connection.execute("ROLLBACK")
        assert handle.append(make_record(1)).seq == 1


def test_a_full_disk(store: RunStore, run: RunHandle, make_record: Records, play: Play) -> None:
    play(run, 3)
    (pages,) = store.connection.execute("PRAGMA page_count").fetchone()
    store.connection.execute(f"PRAGMA max_page_count = {pages}")
    state = {"filler": "x" * 100_000}
    message = fails("TW1102", lambda: run.append(make_record(4), snapshot=state))
    assert "full" in message
    assert run.run().ticks == 3
    assert verify_chain(store, run.run()).ok
    store.connection.execute("PRAGMA max_page_count = 100000")
    assert run.append(make_record(4), snapshot=state).seq == 4


def test_a_full_disk_while_the_store_is_made(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    connect = sqlite3.connect

    def small(*args: object, **options: object) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*args, **options)  # type: ignore[call-overload]
        connection.execute("PRAGMA max_page_count = 4")
        return connection

    with monkeypatch.context() as patch:
        patch.setattr(sqlite3, "connect", small)
        fails("TW1102", lambda: RunStore.open(path))
    with RunStore.open(path) as store:  # nothing half made: it can still become a store
        assert list_runs(store) == ()


def test_a_store_opened_to_read_is_not_written(
    recorded: Path, make_header: Headers, make_record: Records
) -> None:
    before = recorded.read_bytes()
    with RunStore.open(recorded, writable=False) as store:
        fails("TW1102", lambda: store.begin(make_header()))
        fails("TW1102", lambda: store.resume().append(make_record(301)))
        fails("TW1102", lambda: store.resume().finish("quit"))
    assert recorded.read_bytes() == before


@contextmanager
def as_nobody() -> Iterator[None]:
    """Without the privilege of root, for whom nothing is read-only."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that everybody may enter (pytest's own are closed to others)."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)


def test_a_read_only_store_is_read_and_not_written(recorded: Path, open_folder: Path) -> None:
    copy = open_folder / "runs.sqlite"
    shutil.copyfile(recorded, copy)
    copy.chmod(0o444)
    open_folder.chmod(0o555)
    with as_nobody():
        fails("TW1102", lambda: RunStore.open(copy))
        fails("TW1102", lambda: RunStore.open(open_folder / "new.sqlite"))
        fails("TW1102", lambda: RunStore.open(open_folder / "new" / "runs.sqlite"))
        with RunStore.open(copy, writable=False) as store:
            assert verify_chain(store, find_run(store)).ticks == 300
    assert [entry.name for entry in open_folder.iterdir()] == ["runs.sqlite"]


def test_an_unreadable_store(recorded: Path, open_folder: Path) -> None:
    copy = open_folder / "runs.sqlite"
    shutil.copyfile(recorded, copy)
    copy.chmod(0o000)
    with as_nobody():
        fails("TW1101", lambda: RunStore.open(copy, writable=False))
        fails("TW1101", lambda: RunStore.open(copy))
    closed = open_folder / "closed"
    closed.mkdir(mode=0o700)
    with as_nobody():
        if os.geteuid() != os.stat(closed).st_uid:
            fails("TW1101", lambda: RunStore.open(closed / "runs.sqlite", writable=False))
            fails("TW1102", lambda: RunStore.open(closed / "runs.sqlite"))


def test_a_schema_that_is_no_text(recorded: Path) -> None:
    """SQLite quotes the bytes in its own message, which Python then cannot decode."""
    data = recorded.read_bytes()
    recorded.write_bytes(data.replace(b"CREATE TABLE ", b"CREATE T\x94BLE "))
    message = fails("TW1101", lambda: RunStore.open(recorded, writable=False))
    assert "damaged" in message
