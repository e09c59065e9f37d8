"""`tw run --narrator`: programs and addresses tell outcomes in prose, and the prose is judged."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tokenworld.store.log import RunStore
from tokenworld.store.read import find_run, ticks_of

DOMAINS = Path(__file__).parents[2] / "domains"
SCRIPT = "add 1\ngo to attic\ngo to attic\nadd 1\n"


@pytest.fixture
def narrator(program: Callable[..., str]) -> Callable[[str], str]:
    """The command of a narrator with this body of ``tell(seen, turn)``."""
    return lambda body: program("tell(seen, turn)", body)


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "s.txt"
    path.write_text(SCRIPT, encoding="utf-8")
    return path


def prose(run: str | None = None) -> list[str | None]:
    with RunStore.open(writable=False) as store:
        return [one.prose for one in ticks_of(store, find_run(store, run))]


def groundedness(tw: Any, *options: object) -> dict[str, Any]:
    found = tw("quality", *options, "--json").json["dimensions"][0]
    assert found["id"] == "groundedness"
    return dict(found)


def test_a_narrator_tells_and_its_claims_are_judged(tw, world, script, narrator) -> None:
    body = (
        'told = ["The n of hero is 1.", "Hero is in the attic.\\\\n\\\\nA draught!", '
        '"You go to the attic.", "Hero has 2 n, and all is well."]\n'
        'print(told[turn - 1] + "\\n>")'
    ).replace("\\\\n", "\\n")
    ran = tw("run", world, "--script", script, "--narrator", narrator(body), "--json")
    assert (ran.code, ran.json["narration"]) == (0, {"told": 4, "failed": None})
    assert prose() == [
        "The n of hero is 1.",
        "Hero is in the attic.\n\nA draught!",
        "You go to the attic.",
        "Hero has 2 n, and all is well.",
    ]
    found = groundedness(tw)
    values = found["values"]
    assert (values["narrated"], values["claims"], values["unread"]) == (4, 4, 2)
    told = "the narrator told `you go to the attic`, and that is not so"
    assert values["faults"] == {"3": [told]}
    assert found["text"] == "0.75    3 of 4 records; narrator: 4 claims, 2 unchecked"


def test_what_a_narrator_is_told(tw, world, script, narrator) -> None:
    body = 'open("seen.txt", "a").write("|".join(seen) + "\\n")\nprint("Yes.\\n>")'
    tw("run", world, "--script", script, "--narrator", narrator(body), "--ticks", "3")
    here = "Here is now:|  hall: |  attic: |  hero: at {at}, n 1"
    assert Path("seen.txt").read_text(encoding="utf-8").splitlines() == [
        "A small world|Tell in prose what happened, about what is here alone, up to a line `>`.|"
        "The command: add 1|Tick 0: executed.|Done.|  n(hero): 0 -> 1|" + here.format(at="hall"),
        "The command: go to attic|Tick 1: executed.|Done.|  at(hero): hall -> attic|"
        + here.format(at="attic"),
        "The command: go to attic|Tick 2: refused.|Refused: You are in the attic.|"
        + here.format(at="attic"),
    ]


def test_prose_is_shown_exported_and_plays_no_part_in_a_replay(
    tw, world, script, narrator, tmp_path
) -> None:
    told = narrator('print("Hero is in the attic.\\n>")')
    ran = tw("run", world, "--script", script, "--narrator", told)
    assert ran.out.count("» Hero is in the attic.") == 4
    bare = tw("run", world, "--script", script, "--json").json
    with RunStore.open(writable=False) as store:
        assert find_run(store, "small-1").link == find_run(store, "small-2").link == bare["link"]
    Path("tell.py").unlink()
    assert tw("runs", "replay", "small-1", "--verify").code == 0
    assert tw("runs", "verify", "small-1").code == 0
    assert "» Hero is in the attic." in tw("runs", "show", "small-1").out
    assert tw("runs", "show", "small-1", "--json").json["ticks"][0]["prose"]
    assert tw("log", "small-1", "--json").json["ticks"][3]["prose"] == "Hero is in the attic."
    assert "prose" not in tw("log", "small-2", "--json").json["ticks"][3]
    assert tw("runs", "export", "small-1", "-o", "run.jsonl").code == 0
    assert tw("runs", "import", "run.jsonl", "--store", "other.sqlite").code == 0
    again = groundedness(tw, "small", "--store", "other.sqlite")
    assert again["values"] == groundedness(tw, "small-1")["values"]
    assert (again["values"]["claims"], again["values"]["u"]) == (4, 1)
    assert "narrated" not in groundedness(tw, "small-2")["values"]
    branch = tw("runs", "branch", "small-1", "2", "--script", script, "--json").json["run"]
    assert groundedness(tw, branch)["values"]["narrated"] == 2


@pytest.mark.parametrize(
    ("body", "cause"),
    [
        ("sys.exit(7)", "ended with exit code 7"),
        ("os.kill(os.getpid(), 9)", "was killed by signal 9"),
        ("time.sleep(60)", "gave no answer within 1 s"),
        ('print("Hero is in the hall.")', "gave no answer within 1 s"),
        ('print("y" * 100_000)', "floods"),
        ('[print("y" * 99) for n in range(10**6)]', "floods"),
        ("(os.close(1), time.sleep(60))", "closed its output"),
    ],
)
def test_a_narrator_that_fails_is_told_of_once_and_the_run_goes_on(
    tw, world, script, narrator, body: str, cause: str
) -> None:
    told = narrator(f'print("Hero is in the hall.\\n>") if turn < 2 else {body}')
    began = time.monotonic()
    ran = tw("run", world, "--script", script, "--narrator", told, "--reply-timeout", "1", "--json")
    assert time.monotonic() - began < 30
    assert (ran.code, ran.json["reason"], ran.json["records"]) == (1, "done", 4)
    assert ran.err.count("error[TW1009]: The narrator") == 1
    assert cause in ran.err
    assert cause in ran.json["narration"]["failed"]
    assert prose() == ["Hero is in the hall.", None, None, None]
    assert groundedness(tw)["values"]["narrated"] == 1


def test_a_narrator_may_leave_or_say_nothing(tw, world, script, narrator) -> None:
    told = narrator(
        'print(["\\n>", "Hero is in the attic.\\n>"][turn - 1]) if turn < 3 else sys.exit(0)'
    )
    ran = tw("run", world, "--script", script, "--narrator", told, "--json")
    assert (ran.code, ran.json["narration"]) == (0, {"told": 1, "failed": None})
    assert prose() == [None, "Hero is in the attic.", None, None]
    told = narrator('print(">")')
    assert tw("run", world, "--script", script, "--narrator", told).code == 0
    assert prose() == [None] * 4


def test_nonsense_is_kept_shown_safely_and_unchecked(tw, world, script, narrator) -> None:
    nonsense = (
        'sys.stdout.buffer.write(b"\\x1b[2J\\xff\\xfe {h.n} \\x00 is is is\\nthe is of\\n>\\n")'
    )
    ran = tw("run", world, "--script", script, "--narrator", narrator(nonsense))
    assert ran.code == 0
    assert "\x1b" not in ran.out
    assert "\x1b" not in tw("runs", "show").out
    found = groundedness(tw)
    assert (found["values"]["claims"], found["values"]["unread"], found["values"]["u"]) == (0, 8, 0)
    assert tw("runs", "export", "-o", "run.jsonl").code == 0
    assert tw("runs", "import", "run.jsonl", "--store", "other.sqlite").code == 0


def test_an_address_narrates(tw, world, script, address) -> None:
    url, asked = address
    ran = tw("run", world, "--script", script, "--narrator-url", f"{url}/prose", "--json")
    assert (ran.code, ran.json["narration"]["told"], len(asked)) == (0, 4, 4)
    assert str(prose()[0]).startswith("Hero is in the hall.\n\nThe n of hero is 9")
    values = groundedness(tw)["values"]
    assert (values["claims"], values["unread"]) == (8, 4)
    for path, cause in (("/broken", "HTTP status 500"), ("/hang", "no answer within 1 s"),
                        ("/flood", "floods"), ("/die", "broke off its answer")):  # fmt: skip
        asked.clear()
        ran = tw("run", world, "--script", script, "--narrator-url", url + path,
                 "--reply-timeout", "1")  # fmt: skip
        assert (ran.code, ran.err.count("error[TW1009]: The narrator")) == (1, 1)
        assert cause in ran.err
        assert [one is not None for one in prose()] == [True, True, False, False]


def test_a_player_and_a_narrator_from_outside(tw, world, script, narrator, address) -> None:
    told = narrator('print("Hero has 1 n.\\n>")')
    ran = tw("run", world, "--player", "llm", "--url", address[0], "--narrator", told,
             "--ticks", "2")  # fmt: skip
    assert ran.code == 0
    assert groundedness(tw)["values"]["faults"].keys() == {"2"}


@pytest.mark.parametrize(
    "options",
    [
        ["--narrator", "a", "--narrator-url", "http://x"],
        ["--narrator", "'a"],
        ["--narrator", " "],
        ["--narrator", "a", "--reply-timeout", "0"],
    ],
)
def test_options_that_do_not_go_together(tw, world, script, options: list[str]) -> None:
    ran = tw("run", world, "--script", script, *options)
    assert (ran.code, "TW0006" in ran.err) == (2, True)
    assert not list(Path().glob(".t*/runs.sqlite"))


def test_a_narrator_that_does_not_start_leaves_no_run(tw, world, script) -> None:
    for options in (["--narrator", "./nothing"], ["--narrator-url", "file:///etc/passwd"]):
        ran = tw("run", world, "--script", script, *options)
        assert (ran.code, ran.err.count("error[TW1009]: The narrator")) == (1, 1)
        assert not list(Path().glob(".t*/runs.sqlite"))


def test_a_killed_run_keeps_what_was_told(tw, world, script, narrator) -> None:
    told = narrator('print("Hero is in the hall.\\n>") if turn < 3 else time.sleep(60)')
    command = [sys.executable, "-m", "tokenworld.cli", "run", str(world), "--script", str(script),
               "--narrator", told]  # fmt: skip
    code = "from tokenworld.cli import main; main()"
    command[1:3] = ["-c", code]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=dict(os.environ))
    assert child.stdout is not None
    seen = 0
    for line in child.stdout:
        seen += line.startswith("   ") and "[" in line
        if seen == 3:
            break
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()
    assert prose() == ["Hero is in the hall.", "Hero is in the hall.", None]
    ran = tw("runs", "resume", "--script", script, "--json")
    assert ran.json["records"] == 5  # it is won, and over
    assert tw("runs", "verify").code == 0
    assert json.loads(json.dumps(groundedness(tw)["values"]))["narrated"] == 2


@pytest.mark.parametrize("domain", ["willowbrook", "cottage", "island", "cellar"])
def test_the_narrator_of_the_page_tells_what_is_so(tw, domain: str) -> None:
    """It reads values out, so no claim of it is false; with one value changed, some are."""
    page = (DOMAINS.parent / "docs" / "programs.md").read_text(encoding="utf-8")
    text = page.split("```python\n")[1].split("```")[0]
    Path("honest.py").write_text(text, encoding="utf-8")
    lie = text.replace("is {what}.", "is {what if name != 'at' else 'nothing'}.")
    Path("liar.py").write_text(lie, encoding="utf-8")
    for name in ("honest", "liar"):
        told = shlex.join([sys.executable, f"{name}.py"])
        ran = tw("run", domain, "--player", "random", "--ticks", "12", "--seed", "3",
                 "--narrator", told)  # fmt: skip
        assert ran.code == 0
        values = groundedness(tw)["values"]
        assert values["claims"] > 100
        assert bool(values["u"]) is (name == "liar"), values["faults"]


def test_a_claim_about_two_actors_who_take_turns(tw, willowbrook, narrator) -> None:
    body = (
        'who = "Mira" if any("(mira)" in line for line in seen) else "Old Bran"\n'
        'print(f"{who} hums. {who} has 0 boiled. The sky is mist.\\n>")'
    )
    Path("w.txt").write_text("hum\nhum\n", encoding="utf-8")
    ran = tw("run", willowbrook, "--script", "w.txt", "--narrator", narrator(body))
    assert ran.code == 0
    values = groundedness(tw, "--window", "10")["values"]
    assert (values["narrated"], values["claims"], values["u"]) == (2, 6, 0)
