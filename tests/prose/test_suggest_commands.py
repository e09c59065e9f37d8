"""Completions of what is typed, and commands as text."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tokenworld.ground import PASS, Command, NoMatch, Raw, Speaker, bindings
from tokenworld.model import Program
from tokenworld.prose.commands import resolve
from tokenworld.prose.matching import command_text, command_texts, completions
from tokenworld.session import Session

MakeSpeaker = Callable[..., Speaker]


def every_command(speaker: Speaker) -> list[Command]:
    instance = speaker.instance
    return [
        Command(action.name, args)
        for action in instance.program.actions.values()
        for args in bindings(instance, action.params)
    ]


def command(action: str, *args: Raw, speaker: Speaker) -> Command:
    numbers = speaker.instance.numbers
    return Command(action, tuple(numbers[a] if isinstance(a, str) else a for a in args))


@pytest.mark.parametrize(
    ("action", "args", "expected"),
    [
        ("look", (), "look around"), ("take", ("coin_1",), "take gold coin"),
        ("lift", ("old_chest",), "open old chest (ID: 4)"),
        ("put", ("lamp", "cup"), "Put lamp on top of cup"), ("go", (2,), "go far east"),
        ("fill", ("cup", 45), "fill cup to 4.5l"), ("heat", (5,), "heat to 5%"),
        ("sharpen", ("pocket_knife", "stone"), "sharpen dull knife on stone"),
        ("pick-up", ("Odd-One",), "`pick-up`(`Odd-One`)"), ("listen", (), "listen()"),
    ],
)  # fmt: skip
def test_command_text(
    action: str, args: tuple[Raw, ...], expected: str, speaker: Speaker, program: Program
) -> None:
    assert command_text(command(action, *args, speaker=speaker), program, speaker) == expected


def test_doubtful_names_fall_back_to_the_call(speaker_of: MakeSpeaker, program: Program) -> None:
    speaker = speaker_of(words={"coin_1": ("coin",), "coin_2": ("coin",)})
    first = command("take", "coin_1", speaker=speaker)
    assert command_text(first, program, speaker) == "take coin from old chest"
    both = command("swap", "coin_1", "coin_2", speaker=speaker)
    assert command_text(both, program, speaker) == "swap(coin_1, coin_2)"
    assert command_text(PASS, program, speaker) == "pass"


def test_objects_out_of_scope_are_written_as_calls(
    speaker_of: MakeSpeaker, program: Program
) -> None:
    speaker = speaker_of(hidden=["lamp"])
    lamp = command("take", "lamp", speaker=speaker)
    assert command_text(lamp, program, speaker) == "take(lamp)"


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    words=st.dictionaries(
        st.sampled_from(["lamp", "coin_1", "cup", "old_chest", "stone"]),
        st.tuples(
            st.sampled_from(["the end", "coin", "a", "x.", "", "in", "cup in cup", "É", "take"])
        ),
        max_size=4,
    )
)
def test_every_command_text_means_its_command(
    words: dict[str, tuple[str, ...]], speaker_of: MakeSpeaker, program: Program
) -> None:
    speaker = speaker_of(words=words)
    commands = [one for one in every_command(speaker) if one.action != "fill"]
    texts = command_texts(commands, program, speaker)
    for one, text in zip(commands, texts, strict=True):
        assert resolve(text, program, speaker) == (one,)


# ---- completions ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("prefix", "expected"),
    [
        ("lo", ("look around", "look")), ("look", ("look around", "look")),
        ("take g", ("take gold coin", "take gold coin from old chest")),
        ("Take The G", ("Take The Gold coin", "Take The Gold coin from old chest")),
        ("open c", ("open cellar door",)), ("pet", ()), ("take gold coin f",
                                                      ("take gold coin from old chest",)),
        ("put lamp i", ("put lamp in old chest (ID: 4)",)),
        ("put lamp on  top of c", ("put lamp on  top of cup",)),
        ("go f", ("go far east",)), ("go far_", ("go far_east",)),
        ("mark 1", ("mark 1", *(f"mark 1{n}" for n in range(10)))),
        ("list", ("listen()",)), ("`pick-up`(l", ("`pick-up`(lamp)",)),
        ("put lamp in o", ("put lamp in old chest (ID: 4)", "put lamp in old chest")),
        ("lift(", ("lift(old_chest)",)), ("pa", ("pass",)), ("zzz", ()),
    ],
)  # fmt: skip
def test_completions(
    prefix: str, expected: tuple[str, ...], speaker: Speaker, program: Program
) -> None:
    assert completions(prefix, program, speaker, 20) == expected


def test_completions_are_limited_and_in_scope(speaker_of: MakeSpeaker, program: Program) -> None:
    speaker = speaker_of(hidden=["lamp"])
    assert len(completions("", program, speaker, 5)) == 5
    assert completions("take", program, speaker, 0) == ()
    assert completions("take la", program, speaker, 5) == ()


def test_silent_parameters_are_offered_once_determined(
    speaker: Speaker, speaker_of: MakeSpeaker, program: Program
) -> None:
    assert "sharpen dull knife" not in completions("sharpen", program, speaker, 20)
    alone = speaker_of(hidden=["stone"])
    assert "sharpen dull knife" in completions("sharpen", program, alone, 20)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_completions_begin_with_the_prefix_and_resolve(
    data: st.DataObject, speaker: Speaker, program: Program
) -> None:
    full = data.draw(st.sampled_from(completions("", program, speaker, 200)))
    prefix = full[: data.draw(st.integers(0, len(full)))]
    found = completions(prefix, program, speaker, 500)
    assert full in found
    for text in found[:20]:
        assert text.startswith(prefix)
        assert not isinstance(resolve(text, program, speaker), NoMatch)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(prefix=st.text())
def test_any_prefix_is_kept_as_typed(prefix: str, speaker: Speaker, program: Program) -> None:
    for text in completions(prefix, program, speaker, 3):
        assert text.startswith(prefix.lstrip())


def test_completions_of_a_large_world_are_quick(speaker_of: MakeSpeaker, program: Program) -> None:
    speaker = speaker_of()
    before = time.process_time()
    for first, second in product("abcdefghij", repeat=2):
        completions(f"swap {first}{second}", program, speaker, 10)
    assert time.process_time() - before < 20


def test_ways_elsewhere_are_not_suggested() -> None:
    session = Session.open(Path(__file__).parents[2] / "domains" / "smugglers" / "world.tw", 7)
    found = session.intend("go cellar")[-1].no_match
    assert found is not None
    assert found.suggestions == ("go inn door", "go jetty")  # and not the tunnel
