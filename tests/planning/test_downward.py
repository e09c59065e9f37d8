"""Running Fast Downward: what its ends mean, and that nothing of it is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from lower_worlds import bundled, encoded, opened

from tokenworld.diagnostics import Diagnostic
from tokenworld.planning.planners import downward
from tokenworld.planning.planners.downward import (
    BLIND,
    FF,
    Answer,
    Configuration,
    find_downward,
    run_searches,
)
from tokenworld.planning.referee import replay

posix = pytest.mark.skipif(os.name != "posix", reason="the fake planner is a shell script")


def fake(folder: Path, script: str) -> Path:
    """A program that takes the place of the planner; ``$4`` is its plan file."""
    program = folder / "downward"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return program


def one(program: Path, seconds: float = 10, **options: object) -> Answer:
    (answer,) = run_searches(program, "task", (FF,), seconds=seconds, **options)  # type: ignore[arg-type]
    return answer


def alive(pid: int) -> bool:
    """Whether a process still runs (a dead child nobody waited for does not)."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state != "Z"


def all_gone(pids: Path) -> bool:
    """Whether the noted processes are gone; a kill is asynchronous, so a moment is granted."""
    noted = [int(pid) for pid in pids.read_text().split()]
    for _ in range(100):
        if not any(alive(pid) for pid in noted):
            return True
        time.sleep(0.02)
    return False


# ---- what an end means ------------------------------------------------------------------------


@posix
def test_a_plan_is_read_from_its_file(tmp_path: Path) -> None:
    program = fake(tmp_path, 'printf "(o2 go hall)\\n(o0)\\n; cost = 2 (unit cost)\\n" > "$4"')
    answer = one(program)
    assert answer.result == "plan"
    assert answer.operators == ("o2 go hall", "o0")
    assert answer.note is None


@posix
def test_the_text_comes_on_standard_input(tmp_path: Path) -> None:
    program = fake(tmp_path, 'read word; echo "($word $2)" > "$4"')
    answer = one(program)
    assert answer.operators == (f"task {FF.search}",)


@posix
@pytest.mark.parametrize(
    ("code", "result", "detail"),
    [
        (11, "no plan", "it searched all there is and found no plan"),
        (12, "failed", "it stopped without a plan and without a proof"),
        (22, "limit", "its memory limit was reached"),
        (23, "limit", "its time limit was reached"),
        (24, "limit", "its memory limit was reached"),
        (33, "failed", "it ended with exit code 33, its last words were `what is this`"),
        (0, "failed", "it reported success and wrote no plan, its last words were `what is this`"),
    ],
)
def test_exit_codes(tmp_path: Path, code: int, result: str, detail: str) -> None:
    answer = one(fake(tmp_path, f"echo hello; echo what is this; echo; exit {code}"))
    assert (answer.result, answer.detail) == (result, detail)
    codes = {"no plan": None, "limit": "TW0813", "failed": "TW0812"}
    assert (answer.note and answer.note.code) == codes[result]


@posix
def test_a_search_starts_after_its_head_start_or_when_the_others_ended(tmp_path: Path) -> None:
    slow, soon = (Configuration(name, name, complete=True, after=9) for name in ("slow", "soon"))
    program = fake(tmp_path, f'echo "$2" >> {tmp_path}/names; exit 12')
    began = time.monotonic()
    answers = run_searches(program, "task", (FF, slow, soon), seconds=20)
    assert time.monotonic() - began < 9
    assert [one.configuration for one in answers] == ["ff", "slow", "soon"]
    program = fake(tmp_path, f'echo "$2" >> {tmp_path}/names; sleep 30')
    (answer,) = run_searches(program, "task", (FF, slow), seconds=1)
    assert (answer.configuration, answer.result) == ("ff", "limit")


@posix
def test_a_search_beside_others_ends_after_its_share(tmp_path: Path) -> None:
    short = Configuration("short", "short", complete=True, most=0.2)
    program = fake(tmp_path, 'case "$2" in short) sleep 30;; esac; sleep 1; exit 12')
    answers = run_searches(program, "task", (FF, short), seconds=20)
    assert [(one.configuration, one.result) for one in answers] == [
        ("short", "limit"), ("ff", "failed")
    ]  # fmt: skip
    assert "0.2 s" in answers[0].detail
    (alone,) = run_searches(program, "task", (short,), seconds=1)
    assert "1 s" in alone.detail  # nobody is there to make room for


@posix
def test_an_incomplete_search_proves_nothing(tmp_path: Path) -> None:
    greedy = Configuration("greedy", "greedy()", complete=False)
    program = fake(tmp_path, "exit 11")
    (answer,) = run_searches(program, "task", (greedy,), seconds=10)
    assert answer.result == "no proof"


@posix
def test_a_planner_that_is_killed_is_a_failure(tmp_path: Path) -> None:
    answer = one(fake(tmp_path, "kill -9 $$"))
    assert answer.result == "failed"
    assert answer.detail == "it was killed by signal 9"
    assert answer.note is not None
    assert answer.note.code == "TW0812"
    assert answer.note.hint


# ---- limits -----------------------------------------------------------------------------------


@posix
def test_a_time_limit_kills_the_whole_group(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    program = fake(tmp_path, f"sleep 60 & echo $! $$ > {pids}\nsleep 60")
    begun = time.monotonic()
    answer = one(program, seconds=0.5)
    assert time.monotonic() - begun < 20
    assert answer.result == "limit"
    assert answer.detail == "its limit of 0.5 s was reached"
    assert answer.note is not None
    assert answer.note.code == "TW0813"
    assert all_gone(pids)


@posix
def test_cancelling_kills_and_says_so(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    program = fake(tmp_path, f"echo $$ > {pids}\nsleep 60")
    answer = one(program, cancel=lambda: pids.exists() and pids.read_text().strip() != "")
    assert answer.result == "cancelled"
    assert answer.note is None
    assert all_gone(pids)


@posix
def test_the_first_definite_answer_ends_the_other_search(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    script = f'case "$2" in *blind*) exit 11;; esac\necho $$ > {pids}\nsleep 60'
    answers = run_searches(fake(tmp_path, script), "task", (FF, BLIND), seconds=30)
    assert [(answer.configuration, answer.result) for answer in answers] == [("blind", "no plan")]
    assert not pids.exists() or all_gone(pids)


@posix
def test_who_asks_decides_what_is_definite(tmp_path: Path) -> None:
    script = 'case "$2" in *blind*) sleep 0.3; exit 11;; esac\necho "(o0)" > "$4"'
    heard: list[Answer] = []

    def accept(answer: Answer) -> bool:
        heard.append(answer)
        return answer.result == "no plan"

    answers = run_searches(fake(tmp_path, script), "task", (FF, BLIND), seconds=30, accept=accept)
    assert [answer.result for answer in answers] == ["plan", "no plan"]
    assert list(answers) == heard


@posix
def test_an_interrupt_leaves_no_process_and_no_folder(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    program = fake(tmp_path, f"echo $$ > {pids}\nsleep 60")
    script = (
        "import sys\nfrom pathlib import Path\n"
        "from tokenworld.planning.planners.downward import FF, run_searches\n"
        f"run_searches(Path({str(program)!r}), 'task', (FF,), seconds=60)\n"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", script],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stderr=subprocess.PIPE,
    )
    while not (pids.exists() and pids.read_text().strip()):
        time.sleep(0.05)
    child.send_signal(signal.SIGINT)
    _, said = child.communicate(timeout=20)
    assert b"KeyboardInterrupt" in said
    assert all_gone(pids)
    assert not list(tmp_path.glob("tokenworld-*"))


@posix
def test_memory_is_limited_before_the_planner_starts(tmp_path: Path) -> None:
    program = fake(tmp_path, 'echo "(o$(ulimit -v))" > "$4"')
    assert one(program, memory=512 << 20).operators == (f"o{512 << 10}",)


# ---- finding it -------------------------------------------------------------------------------


def test_a_missing_planner_comes_with_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = downward.find_engine

    def nothing(package: object) -> object:
        found = real(downward.FAST_DOWNWARD)
        return type(found)(
            found.engine, found.extra, found.package, None, None, found.install, "missing"
        )

    monkeypatch.setattr(downward, "find_engine", nothing)
    missing = find_downward()
    assert isinstance(missing, Diagnostic)
    assert missing.code == "TW0811"
    assert missing.hint == "Run `pip install 'token-world[classical]'`."


def test_a_program_that_is_no_program_is_an_error_of_the_system(tmp_path: Path) -> None:
    if os.name == "posix":
        assert one(tmp_path / "nothing").result == "failed"


# ---- the real one -------------------------------------------------------------------------------


@pytest.fixture(name="program")
def installed() -> Path:
    found = find_downward()
    if isinstance(found, Diagnostic):
        pytest.skip("Fast Downward is not installed")
    return found


@pytest.mark.planner
@pytest.mark.parametrize("name", ["cellar", "kitchen", "blocks", "cottage"])
def test_fast_downward_solves_the_bundled_worlds(program: Path, name: str) -> None:
    world = bundled(f"{name}/world")
    encoding = encoded(world)
    answers = run_searches(program, encoding.text, (FF, BLIND), seconds=60)
    (found,) = (answer for answer in answers if answer.result == "plan")
    steps = encoding.plan(found.operators)
    assert replay(world.simulator, world.state, steps, None).ok


@pytest.mark.planner
@pytest.mark.parametrize("name", ["cellar", "cottage"])
def test_fast_downward_proves_the_twins_unwinnable(program: Path, name: str) -> None:
    world = bundled(f"{name}/twin")
    for configuration in (FF, BLIND):
        (answer,) = run_searches(program, encoded(world).text, (configuration,), seconds=60)
        assert answer.result == "no plan"


@pytest.mark.planner
def test_blind_proves_what_is_reachable_only_if_nothing_is_undone(program: Path) -> None:
    text = """
    type Key  type Door { key: Key? open: bool = false }
    function held(): Key? = none   function worn(): 0 to 3 = 0
    action take(k: Key) { require held() == none  held() = k }
    action unlock(d: Door) { require held() != none and worn() < 3  d.open = true  worn() += 2 }
    world w { object brass: Key object front, back: Door  goal g: front.open and back.open }
    """
    encoding = encoded(opened(text))
    assert not encoding.unreachable
    (answer,) = run_searches(program, encoding.text, (BLIND,), seconds=60)
    assert answer.result == "no plan"


@pytest.mark.planner
def test_nonsense_is_a_failure_with_the_last_words(program: Path) -> None:
    answer = run_searches(program, "nonsense", (BLIND,), seconds=60)[0]
    assert answer.result == "failed"
    assert "exit code 33" in answer.detail
