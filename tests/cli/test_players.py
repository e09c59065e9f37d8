"""Players of `tw run`: planner, adversary, scenario, and real programs and addresses."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tokenworld.session import players
from tokenworld.session.players import Player
from tokenworld.session.solving import Say
from tokenworld.store.log import RunStore
from tokenworld.store.read import find_run, ticks_of
from tokenworld.store.usage import Usage


@pytest.fixture
def player(program: Callable[..., str]) -> Callable[[str], str]:
    """The command that runs a player with this body of ``answer(seen, turn)``."""
    return lambda body: program("answer(seen, turn)", body)


def stored(run: str | None = None) -> list[tuple[str, str | None]]:
    with RunStore.open(writable=False) as store:
        return [(one.status, one.text) for one in ticks_of(store, find_run(store, run))]


# ---- a program ----------------------------------------------------------------------------------


def test_a_program_plays(tw, world, player) -> None:
    body = (
        """print(["add 2", '{"format": "tw-intent/1", "pass": true}', "GO TO ATTIC."][turn - 1])"""
    )
    ran = tw("run", world, "--player", "llm", "--command", player(body), "--json")
    assert (ran.code, ran.json["endings"], ran.json["reason"]) == (0, ["up"], "done")
    said = [("executed", "add 2"), ("executed", "pass"), ("executed", "GO TO ATTIC.")]
    assert stored() == said
    with RunStore.open(writable=False) as store:
        run = find_run(store)
        assert run.header.player == "llm"
        assert {one.source for one in ticks_of(store, run)} == {"llm"}
    assert tw("runs", "replay", "--verify").code == 0


def test_the_tokens_that_a_program_tells_are_stored_and_reported(tw, world, player) -> None:
    told = (
        '{"format": "tw-intent/1", "text": "add 2", "usage": {"tokens_in": 1200, "tokens_out": 30}}'
    )
    body = f"print([{told!r}, 'add 1'][turn - 1] if turn < 3 else 'go to attic')"
    assert tw("run", world, "--player", "llm", "--command", player(body)).code == 0
    with RunStore.open(writable=False) as store:
        found = [one.usage for one in ticks_of(store, find_run(store))]
    assert found == [Usage(1200, 30), Usage(), Usage()]
    line = "1,200 tokens in, 30 out, cost 0.00129 (told by 1 of 3 answers)"
    assert line in tw("report", "--prices", "1,3", "--time-limit", "0").out
    used = tw("report", "--time-limit", "0", "--json").json["runs"][0]["model"]["usage"]
    assert used == {"answers": 3, "told": 1, "tokens_in": 1200, "tokens_out": 30, "cost": None}
    assert tw("runs", "replay", "--verify").code == 0
    assert tw("runs", "export", "-o", "run.jsonl").code == 0
    assert tw("runs", "import", "run.jsonl", "--store", "other.sqlite").code == 0
    assert (
        line in tw("report", "--prices", "1,3", "--time-limit", "0", "--store", "other.sqlite").out
    )


def test_what_a_program_is_told(tw, world, player) -> None:
    body = 'open("seen.txt", "a").write("|".join(seen) + "\\n")\nprint("go to attic")'
    tw("run", world, "--player", "llm", "--command", player(body), "--ticks", "3")
    assert Path("seen.txt").read_text(encoding="utf-8").splitlines() == [
        "A small world|You are hero.|A goal is `up`.|Answer with one command in one line.|"
        "Possible now: go to attic; add 1; add 2; add 3; pass",
        "Done.|Possible now: go to hall; add 1; add 2; add 3; pass",
        "Refused: You are in the attic.|Possible now: go to hall; add 1; add 2; add 3; pass",
    ]


def test_a_program_is_asked_no_more_than_it_is_to_play(tw, world, player) -> None:
    body = 'open("turns.txt", "a").write("x")\nprint("add 1")'
    tw("run", world, "--player", "llm", "--command", player(body), "--ticks", "2")
    assert Path("turns.txt").read_text(encoding="utf-8") == "xx"


def test_a_program_that_leaves_ends_the_run(tw, world, player) -> None:
    body = 'print("add 1") if turn < 3 else sys.exit(0)'
    ran = tw("run", world, "--player", "llm", "--command", player(body), "--json")
    assert (ran.code, ran.json["records"], ran.json["reason"]) == (0, 2, "done")


@pytest.mark.parametrize(
    ("body", "cause"),
    [
        ('print("add 1") if turn < 3 else sys.exit(7)', "ended with exit code 7"),
        ('print("add 1") if turn < 3 else os.kill(os.getpid(), 9)', "was killed by signal 9"),
        ('print("add 1") if turn < 3 else time.sleep(60)', "gave no answer within 1 s"),
        ('print("add 1") if turn < 3 else print("y" * 100_000)', "floods"),
        ('print("add 1") if turn < 3 else [print("y" * 99) for n in range(10**6)]', "floods"),
        ('print("add 1") if turn < 3 else (os.close(1), time.sleep(60))', "closed its output"),
    ],
)  # fmt: skip
def test_a_player_that_fails_halts_the_run(tw, world, player, body: str, cause: str) -> None:
    command = player(body)
    began = time.monotonic()
    ran = tw("run", world, "--player", "llm", "--command", command, "--reply-timeout", "1",
             "--halt-refusals", "0")  # fmt: skip
    assert time.monotonic() - began < 30
    assert ran.code == 1
    assert ran.err.count("error[TW1009]") == 1
    assert cause in ran.err
    statuses = stored()
    assert statuses[:2] == [("executed", "add 1"), ("executed", "add 1")]
    assert statuses[-1][0] == "halted"
    with RunStore.open(writable=False) as store:
        run = find_run(store)
        assert run.ending is not None
        assert run.ending.reason == "halted"
        assert cause in str(ticks_of(store, run)[-1].outcome["cause"])
    assert tw("runs", "replay", "--verify").code == 0


def test_no_child_is_left(tw, world, player, tmp_path) -> None:
    body = 'open("pid.txt", "w").write(str(os.getpid()))\nprint("add 1")'
    tw("run", world, "--player", "llm", "--command", player(body), "--ticks", "2")
    pid = int(Path("pid.txt").read_text(encoding="utf-8"))
    assert not Path(f"/proc/{pid}").exists()


def test_a_program_that_does_not_start_leaves_no_run(tw, world) -> None:
    ran = tw("run", world, "--player", "llm", "--command", "./nothing-there --fast")
    assert (ran.code, "TW1009" in ran.err) == (1, True)
    assert not list(Path().glob(".t*/runs.sqlite"))


# ---- an address ---------------------------------------------------------------------------------


def test_an_address_plays(tw, world, address) -> None:
    url, asked = address
    ran = tw("run", world, "--player", "llm", "--url", url, "--ticks", "2", "--json")
    assert (ran.code, ran.json["statuses"]) == (0, {"executed": 2})
    assert asked[0].startswith("A small world\nYou are hero.\n")
    assert len(asked) == 2
    gone = tw("run", world, "--player", "llm", "--url", f"{url}/leave", "--json")
    assert (gone.code, gone.json["reason"], gone.json["records"]) == (0, "done", 0)


@pytest.mark.parametrize(
    ("path", "cause"),
    [
        ("/broken", "answers with HTTP status 500"),
        ("/elsewhere", "answers with HTTP status 302"),
        ("/hang", "gave no answer within 1 s"),
        ("/flood", "floods"),
        ("/die", "broke off its answer"),
    ],
)
def test_an_address_that_fails_halts_the_run(tw, world, address, path: str, cause: str) -> None:
    ran = tw("run", world, "--player", "llm", "--url", address[0] + path, "--reply-timeout", "1")
    assert ran.code == 1
    assert ran.err.count("error[TW1009]") == 1
    assert cause in ran.err
    assert [status for status, _ in stored()] == ["executed", "executed", "halted"]


def test_an_address_where_nobody_is(tw, world) -> None:
    ran = tw("run", world, "--player", "llm", "--url", "http://127.0.0.1:9/", "--ticks", "2")
    assert (ran.code, "cannot be reached" in ran.err) == (1, True)
    ran = tw("run", world, "--player", "llm", "--url", "file:///etc/passwd", "--ticks", "2")
    assert (ran.code, "has no HTTP address" in ran.err) == (1, True)


# ---- planner, adversary, scenario ---------------------------------------------------------------


def test_a_planner_reaches_the_goal_and_is_never_refused(tw, world) -> None:
    ran = tw("run", world, "--player", "planner", "--json")
    assert (ran.code, ran.json["endings"], ran.json["statuses"]) == (0, ["up"], {"executed": 2})


def test_a_planner_without_a_plan_says_so(tw, tmp_path) -> None:
    Path("no.tw").write_text(
        'type T { n: 0 to 3 = 0 }\nactor me: T\naction wait() as "wait" { }\n'
        'world w { object x: T  goal far: x.n == 2 "Far." }\n',
        encoding="utf-8",
    )
    ran = tw("run", "no.tw", "--player", "planner")
    assert (ran.code, "TW0803" in ran.err) == (1, True)


def test_the_adversary_is_refused_and_never_breaks_anything(tw, willowbrook) -> None:
    ran = tw(
        "run", willowbrook, "--player", "adversarial", "--ticks", "300", "--seed", "5", "--json"
    )
    statuses = ran.json["statuses"]
    assert statuses["refused"] > 60
    assert statuses["no_match"] > 60
    assert statuses["executed"] > 15
    assert "error" not in statuses
    assert "halted" not in statuses
    again = tw(
        "run", willowbrook, "--player", "adversarial", "--ticks", "300", "--seed", "5", "--json"
    )
    assert again.json["state_hash"] == ran.json["state_hash"]
    assert tw("runs", "replay", "--verify").code == 0
    judged = tw("quality", "--gate", "--json")
    assert (judged.code, judged.json["verdict"]) == (0, "FAILED")
    assert judged.json["gate"] == {"mode": "plain", "judged": False, "passed": False}
    assert judged.json["dimensions"][0]["status"] == "OK"
    assert tw("quality", "--reference").code == 0
    with RunStore.open(writable=False) as store:
        assert find_run(store).reference is None


def test_a_scenario_is_a_run_whose_refusals_are_expected(tw, cottage) -> None:
    title = "a locked chest refuses, then a key opens it"
    assert tw("run", cottage, "--scenario", title).code == 0
    found = tw("quality", "--json").json
    coherence = next(one for one in found["dimensions"] if one["id"] == "action_coherence")
    assert (coherence["status"], coherence["values"]["refused"]) == ("OK", 0)
    assert "refused" in [status for status, _ in stored()]
    assert tw("runs", "replay", "--verify").code == 0


# ---- the alarm, and options ---------------------------------------------------------------------


def test_refusals_in_a_row_halt_the_run(tw, world, player) -> None:
    body = 'print("add 1" if turn == 1 else "go to hall")'
    ran = tw("run", world, "--player", "llm", "--command", player(body), "--json")
    assert (ran.code, ran.json["reason"]) == (1, "halted")
    assert ran.json["halted"] == "5 refusals in a row: records 2 to 6"
    assert [status for status, _ in stored()] == ["executed", *["refused"] * 5, "halted"]
    assert tw("runs", "replay", "--verify").code == 0
    judged = tw("quality", "--json").json
    assert judged["window"]["n"] == 6
    cluster = next(one for one in judged["dimensions"] if one["id"] == "refusal_cluster")
    assert (cluster["status"], cluster["evidence"]) == ("FAIL", [2, 3, 4, 5, 6])


@pytest.mark.parametrize(("option", "records"), [("3", 4), ("0", 12)])
def test_how_many_refusals_halt_a_run_can_be_chosen(tw, world, option: str, records: int) -> None:
    Path("s.txt").write_text("go to hall\n" * 12, encoding="utf-8")
    ran = tw("run", world, "--script", "s.txt", "--halt-refusals", option, "--json")
    assert len(stored()) == records
    assert ran.json["records"] == records


@pytest.mark.parametrize(
    "options",
    [
        ["--player", "llm"],
        ["--player", "llm", "--command", "a", "--url", "http://x"],
        ["--player", "llm", "--command", "'a"],
        ["--player", "llm", "--command", "a", "--reply-timeout", "0"],
        ["--player", "random", "--ticks", "3", "--command", "a"],
        ["--player", "adversarial"],
        ["--player", "planner", "--script", "s.txt"],
        ["--scenario", "nothing of the kind"],
        ["--player", "random", "--ticks", "3", "--halt-refusals", "-1"],
    ],
)
def test_options_that_do_not_go_together(tw, world, options: list[str]) -> None:
    ran = tw("run", world, *options)
    assert (ran.code, "TW0006" in ran.err) == (2, True)
    assert not list(Path().glob(".t*/runs.sqlite"))


def test_a_scenario_that_edits_the_state_is_no_run(tw, world) -> None:
    world.write_text(
        world.read_text(encoding="utf-8")
        + 'scenario "by hand" in small { given { hero.n = 3 } when go(attic) then won }\n',
        encoding="utf-8",
    )
    ran = tw("run", world, "--scenario", "by hand")
    assert (ran.code, "changes the state by hand" in ran.err) == (2, True)


def test_the_planner_that_plays_gets_the_time_that_was_asked_for(
    tw: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    given, player = list[float](), players.planner_player

    def noted(goal: str | None, time_limit: float, say: Say | None) -> Player:
        given.append(time_limit)
        return player(goal, time_limit, say)

    monkeypatch.setattr(players, "planner_player", noted)
    store = str(tmp_path / "own.sqlite")
    tw(
        "run",
        "cellar",
        "--player",
        "planner",
        "--ticks",
        "1",
        "--time-limit",
        "3",
        "--store",
        store,
    )
    assert given == [3.0]
