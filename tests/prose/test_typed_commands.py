"""What typed words and calls resolve to."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tokenworld.ground import PASS, Command, NoMatch, Raw, Speaker
from tokenworld.model import Program, Template, TextPart
from tokenworld.prose.commands import Parser, choose, resolve
from tokenworld.prose.intents import TypedIntent, parse_intent_json

MakeSpeaker = Callable[..., Speaker]


def args_of(command: Command, speaker: Speaker) -> tuple[Raw, ...]:
    """Arguments with object numbers as names, for object parameters."""
    rule = speaker.instance.program.actions[command.action]
    shown: list[Raw] = []
    for binder, value in zip(rule.params, command.args, strict=True):
        named = binder.type.kind == "object" and isinstance(value, int)
        shown.append(speaker.instance.names[int(value or 0)] if named else value)
    return tuple(shown)


def readings(text: str, speaker: Speaker) -> list[tuple[Raw, ...]]:
    found = resolve(text, speaker.instance.program, speaker)
    assert not isinstance(found, NoMatch), found
    return [(one.action, *args_of(one, speaker)) for one in found]


def failure(text: str, speaker: Speaker) -> NoMatch:
    found = resolve(text, speaker.instance.program, speaker)
    assert isinstance(found, NoMatch), found
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("look", ("look",)), ("Look Around.", ("look",)), ("  look   around ", ("look",)),
        ("take lamp", ("take", "lamp")), ("TAKE THE LAMP.", ("take", "lamp")),
        ("pick up a lamp", ("take", "lamp")), ("pick_up lamp", ("take", "lamp")),
        ("take gold  coin", ("take", "coin_1")), ("take gold_coin", ("take", "coin_1")),
        ("take coin from old chest", ("take", "coin_1")),
        ("take coin from the old chest", ("take", "coin_1")),
        ("take coin from cup", ("take", "coin_2")),
        ("take Odd-One", ("take", "Odd-One")),
        ("open cellar door", ("open_door", "cellar_door")),
        ("open old chest", ("lift", "old_chest")),
        ("open the old chest (ID: 4)", ("lift", "old_chest")),
        ("lift the lid of the old chest", ("lift", "old_chest")),
        ("put lamp in old chest", ("put", "lamp", "old_chest")),
        ("put lamp on top of the cup", ("put", "lamp", "cup")),
        ("go far east", ("go", 2)), ("go far_east", ("go", 2)), ("go the north", ("go", 0)),
        ("mark 7", ("mark", 7)), ("mark 7.0", ("mark", 7)),
        ("fill cup to 4l", ("fill", "cup", 40)), ("fill cup to 4 L", ("fill", "cup", 40)),
        ("fill cup to 0.5", ("fill", "cup", 5)), ("fill cup to 500ml", ("fill", "cup", 5)),
        ("heat to 25%", ("heat", 25)), ("heat to 0.25", ("heat", 25)), ("heat to 1", ("heat", 100)),
        ("sharpen knife on stone", ("sharpen", "pocket_knife", "stone")),
    ],
)  # fmt: skip
def test_phrases(text: str, expected: tuple[Raw, ...], speaker: Speaker) -> None:
    assert readings(text, speaker) == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("take(lamp)", ("take", "lamp")), (" take( lamp ) . ", ("take", "lamp")),
        ("lift(old_chest)", ("lift", "old_chest")), ("lift(Old Chest)", ("lift", "old_chest")),
        ("put(lamp, old_chest)", ("put", "lamp", "old_chest")),
        ("go(far_east)", ("go", 2)), ("go(Compass.south)", ("go", 1)),
        ("fill(cup, 4l)", ("fill", "cup", 40)), ("heat(25%)", ("heat", 25)),
        ("`pick-up`(`Odd-One`)", ("pick-up", "Odd-One")), ("pick-up(lamp)", ("pick-up", "lamp")),
        ("listen()", ("listen",)), ("look()", ("look",)),
    ],
)  # fmt: skip
def test_calls(text: str, expected: tuple[Raw, ...], speaker: Speaker) -> None:
    assert readings(text, speaker) == [expected]


def test_readings_come_in_candidate_order(speaker: Speaker, speaker_of: MakeSpeaker) -> None:
    assert readings("take coin", speaker) == [("take", "coin_1"), ("take", "coin_2")]
    turned = speaker_of(order=["coin_2", "coin_1", "lamp"])
    assert readings("take coin", turned) == [("take", "coin_2"), ("take", "coin_1")]
    assert readings("swap coin and coin", turned) == [
        ("swap", "coin_2", "coin_2"), ("swap", "coin_2", "coin_1"),
        ("swap", "coin_1", "coin_2"), ("swap", "coin_1", "coin_1"),
    ]  # fmt: skip


def test_two_cuts_of_one_text_are_merged_in_candidate_order(speaker_of: MakeSpeaker) -> None:
    names = {"lamp": ("a",), "coin_1": ("b and a",), "coin_2": ("a and b",)}
    order = ["lamp", "coin_2", "coin_1"]
    found = readings("swap a and b and a", speaker_of(words=names, order=order))
    assert found == [("swap", "lamp", "coin_1"), ("swap", "coin_2", "lamp")]


def test_a_parameter_in_two_slots_is_one_object(speaker_of: MakeSpeaker) -> None:
    speaker = speaker_of(order=["coin_1", "coin_2", "lamp"], hidden=["coin_2"])
    failed = failure("double coin and lamp", speaker)
    assert failed.kind == "bad_arity"


def test_same_object_twice(speaker_of: MakeSpeaker) -> None:
    speaker = speaker_of(order=["coin_1", "lamp"])
    failed = failure("double coin and gold coin", speaker)
    assert failed.kind == "ambiguous"  # b stands in no slot, and two objects could be it
    alone = speaker_of(order=["coin_1"])
    assert readings("double coin and gold coin", alone) == [("swap", "coin_1", "coin_1")]


def test_a_name_that_ends_in_a_full_stop(speaker_of: MakeSpeaker) -> None:
    speaker = speaker_of(words={"lamp": ("Mr.",)})
    assert readings("take Mr.", speaker) == [("take", "lamp")]
    assert readings("take mr..", speaker) == [("take", "lamp")]


def test_an_empty_slot_text_takes_no_space(speaker_of: MakeSpeaker) -> None:
    speaker = speaker_of(words={"cup": ("cup",)})
    without = {"old_chest": "in", "cup": ""}

    def text(action: str, phrase: int, slot: int, args: tuple[Raw, ...]) -> tuple[str, ...]:
        return (without[speaker.instance.names[int(args[1] or 0)]],)

    with patch.object(speaker, "slot_texts", text):
        assert readings("put lamp cup", speaker) == [("put", "lamp", "cup")]


# ---- what the state must settle ---------------------------------------------------------


def test_a_parameter_in_no_slot_is_the_only_candidate_in_scope(speaker_of: MakeSpeaker) -> None:
    one = speaker_of(hidden=["grindstone"])
    assert readings("sharpen knife", one) == [("sharpen", "pocket_knife", "stone")]


def test_two_candidates_for_a_silent_parameter_are_ambiguous(speaker: Speaker) -> None:
    failed = failure("sharpen knife", speaker)
    assert failed.kind == "ambiguous"
    assert failed.message == (
        "`sharpen knife` leaves open which whetstone is meant: `stone` or `grindstone`."
    )
    assert failed.suggestions == (
        "sharpen dull knife on stone",
        "sharpen dull knife on grindstone",
    )


def test_no_candidate_for_a_silent_parameter(speaker_of: MakeSpeaker) -> None:
    failed = failure("sharpen knife", speaker_of(hidden=["grindstone", "stone"]))
    assert failed.kind == "no_such_object"
    assert failed.message == "There is no whetstone here for `sharpen knife`."


def test_scope_limits_words_but_not_calls(speaker_of: MakeSpeaker) -> None:
    speaker = speaker_of(hidden=["lamp"])
    assert failure("take lamp", speaker).kind == "no_such_object"
    assert readings("take(lamp)", speaker) == [("take", "lamp")]
    hidden_coin = speaker_of(hidden=["coin_1"])
    assert readings("take coin", hidden_coin) == [("take", "coin_2")]


def test_dead_objects_cannot_be_named(speaker_of: MakeSpeaker) -> None:
    speaker = speaker_of(order=["coin_1"])
    assert failure("take lamp", speaker).kind == "no_such_object"
    assert failure("take(lamp)", speaker).kind == "no_such_object"


def test_pass_is_a_word_of_its_own(speaker: Speaker, program: Program) -> None:
    assert resolve("Pass.", program, speaker) == (PASS,)
    assert failure("wait", speaker).kind == "unknown_verb"


def test_a_phrase_may_take_the_word_pass(program: Program, speaker_of: MakeSpeaker) -> None:
    listen = program.actions["listen"]
    phrase = Template((TextPart("pass"),), listen.span)
    taken = replace(
        program, actions={**program.actions, "listen": replace(listen, phrases=(phrase,))}
    )
    assert resolve("pass", taken, speaker_of()) == (Command("listen"),)


# ---- no match ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "kind", "message", "suggestion"),
    [
        ("kick Pip", "unknown_verb", "I do not know the verb `kick`; did you mean `pick`?", None),
        ("", "unknown_verb", None, "look around"),
        ("tak the lamp", "unknown_verb", "I do not know the verb `tak`; did you mean `take`?",
         "take the lamp"),
        ("take lampp", "no_such_object", "There is no `lampp` here; did you mean `lamp`?",
         "take lamp"),
        ("take the gold coyn", "no_such_object",
         "There is no `gold coyn` here; did you mean `gold coin`?", "take gold coin"),
        ("take sword", "no_such_object", "There is no `sword` here.", None),
        ("open Pip", "wrong_type",
         "`open …` needs a door or a chest there, and `Pip` is a cat.", "open cellar door"),
        ("put lamp in cup", "wrong_type", None, "Put lamp on top of cup"),
        ("sharpen knife on ston", "no_such_object", None, "sharpen knife on stone"),
        ("sharpen knfe on stone", "no_such_object", None, "sharpen knife on stone"),
        ("go nroth", "wrong_type", "`nroth` does not fit `go …`; did you mean `north`?",
         "go north"),
        ("mark 20", "wrong_type", "`mark …` needs a number from 1 to 19 there, not `20`.", None),
        ("mark 1.5", "wrong_type", None, None),
        ("fill cup to 6l", "wrong_type",
         "`fill … to …` needs a number from 0.0l to 5.0l there, not `6l`.", None),
        ("fill cup to 3%", "wrong_type", None, None), ("heat to 25", "wrong_type", None, None),
        ("take", "bad_arity", "I do not understand `take`; say `take …` or `take … from …`.",
         "take lamp"),
        ("look lamp", "bad_arity", None, "look around"),
        ("listen", "unknown_verb",
         "`listen` has no words of its own; type it as a call: `listen()`.", "listen()"),
        ("pick-up lamp", "unknown_verb", None, "`pick-up`(b)"),
        ("take(lampp)", "no_such_object", "There is no `lampp`; did you mean `lamp`?", "lamp"),
        ("lift(Pip)", "no_such_object", "There is no `Pip`.", None),
        ("take(tabby)", "wrong_type", "`tabby` is a cat, and `it` must be a portable.", "lamp"),
        ("take()", "bad_arity", "`take` takes 1 argument (`it`); got 0 arguments.", "take(it)"),
        ("listen(lamp)", "bad_arity", "`listen` takes no arguments; got 1 argument.", "listen()"),
        ("take(lamp", "bad_arity", "The call of `take` lacks its closing parenthesis.",
         "take(lamp)"),
        ("tke(lamp)", "unknown_verb", "There is no action `tke`; did you mean `take`?",
         "take(it)"),
        ("go(up)", "wrong_type", None, None), ("mark(0)", "wrong_type", None, None),
        ("mark(lamp)", "wrong_type", "`n` is a number from 1 to 19, not `lamp`.", None),
    ],
)  # fmt: skip
def test_no_match_is_one_helpful_sentence(
    text: str, kind: str, message: str | None, suggestion: str | None, speaker: Speaker
) -> None:
    failed = failure(text, speaker)
    assert failed.kind == kind
    assert message is None or failed.message == message
    assert suggestion is None or failed.suggestions[0] == suggestion


def test_suggested_texts_of_a_misspelt_command_resolve(speaker: Speaker) -> None:
    for text in ("tak the lamp", "take lampp", "put lamp in cup", "go nroth", "kick Pip", ""):
        for suggestion in failure(text, speaker).suggestions:
            assert readings(suggestion, speaker)


# ---- ambiguity --------------------------------------------------------------------------


def test_first_takes_the_first_reading(speaker_of: MakeSpeaker, program: Program) -> None:
    speaker = speaker_of(refused=["coin_1"])
    found = resolve("take coin", program, speaker)
    assert not isinstance(found, NoMatch)
    assert choose(found, "first", speaker) == found[0]


def test_ask_prefers_the_reading_whose_requires_hold(
    speaker_of: MakeSpeaker, program: Program
) -> None:
    speaker = speaker_of(refused=["coin_1"])
    found = resolve("take coin", program, speaker)
    assert not isinstance(found, NoMatch)
    assert choose(found, "ask", speaker) == found[1]
    assert choose(found[:1], "ask", speaker) == found[0]


@pytest.mark.parametrize("refused", [[], ["coin_1", "coin_2"]])
def test_ask_asks_where_several_are_left(refused: list[str], speaker_of: MakeSpeaker) -> None:
    speaker = speaker_of(refused=refused)
    failed = Parser(speaker.instance.program).command("take coin", speaker, "ask")
    assert isinstance(failed, NoMatch)
    assert failed.kind == "ambiguous"
    assert failed.suggestions == ("take gold coin", "take silver coin")
    assert failed.message == "That can mean `take gold coin` or `take silver coin`; say which one."


def test_intents_of_every_kind(program: Program, speaker_of: MakeSpeaker) -> None:
    speaker, parser = speaker_of(hidden=["lamp"]), Parser(program)
    lamp = speaker.instance.numbers["lamp"]
    head = '{"format": "tw-intent/1", '
    assert parser.command(TypedIntent("look"), speaker) == Command("look")
    assert parser.command(parse_intent_json(head + '"pass": true}'), speaker) == PASS
    by_name = parse_intent_json(head + '"action": "take", "args": {"it": "lamp"}}')
    assert parser.command(by_name, speaker) == Command("take", (lamp,))
    heat = parse_intent_json(head + '"action": "heat", "args": {"p": 0.25}}')
    assert parser.command(heat, speaker) == Command("heat", (25,))


@pytest.mark.parametrize(
    ("action", "args", "kind"),
    [
        ("kick", "{}", "unknown_verb"), ("take", "{}", "bad_arity"),
        ("take", '{"that": "lamp"}', "bad_arity"), ("take", '{"it": "lampp"}', "no_such_object"),
        ("take", '{"it": 3}', "wrong_type"), ("take", '{"it": null}', "wrong_type"),
        ("take", '{"it": "tabby"}', "wrong_type"), ("go", '{"d": "up"}', "wrong_type"),
        ("mark", '{"n": 99}', "wrong_type"), ("mark", '{"n": 1e400}', "wrong_type"),
        ("mark", '{"n": "x"}', "wrong_type"), ("mark", '{"n": [1]}', "wrong_type"),
        ("mark", '{"n": true}', "wrong_type"), ("heat", '{"p": 0.255}', "wrong_type"),
    ],
)  # fmt: skip
def test_json_intents_that_do_not_fit(action: str, args: str, kind: str, speaker: Speaker) -> None:
    text = f'{{"format": "tw-intent/1", "action": "{action}", "args": {args}}}'
    failed = Parser(speaker.instance.program).command(parse_intent_json(text), speaker)
    assert isinstance(failed, NoMatch)
    assert failed.kind == kind


# ---- any text ---------------------------------------------------------------------------

PIECES = ["take", "put", "open", "swap", "and", "lamp", "coin", "the", "in", " ", "(", ")", "`",
          ",", ".", "_", "\\d+.*", "\x00", "\x1b[31m", "25%", "4l", "İ", "ﬁ", "from", "double",
          "fill", "to", "old chest", "cup", "on top of"]  # fmt: skip


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.one_of(st.text(), st.lists(st.sampled_from(PIECES)).map(" ".join)))
def test_any_text_gives_commands_or_one_sentence(text: str, speaker: Speaker) -> None:
    found = resolve(text, speaker.instance.program, speaker)
    if isinstance(found, NoMatch):
        assert found.message.isprintable()
        assert found.message.endswith((".", "?"))
        assert len(found.message) < 400
        assert len(found.suggestions) <= 3
    else:
        assert found
        assert len(set(found)) == len(found)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.sampled_from(["take the lamp", "put lamp in old chest", "go far east"]),
       data=st.data())  # fmt: skip
def test_case_spaces_underscores_and_a_full_stop_change_nothing(
    text: str, data: st.DataObject, speaker: Speaker
) -> None:
    spaces = st.sampled_from([" ", "  ", "_", " _ ", "\t"])
    noisy = "".join(
        data.draw(spaces) if char == " " else data.draw(st.sampled_from([char, char.upper()]))
        for char in text
    )
    assert readings(noisy + data.draw(st.sampled_from(["", ".", " . "])), speaker) == readings(
        text, speaker
    )


@pytest.mark.parametrize(
    "text", ["take " + "a " * 5000, "(" * 10_000, "take lamp and " * 70, "swap a" + " and a" * 180]
)
def test_long_texts_are_answered_quickly(text: str, speaker: Speaker) -> None:
    before = time.process_time()
    failed = failure(text, speaker)
    assert time.process_time() - before < 10
    assert len(failed.message) < 200


def test_only_words_that_matter_are_asked_for(program: Program, speaker_of: MakeSpeaker) -> None:
    speaker = speaker_of()
    resolve("open cellar door", program, speaker)
    asked = {speaker.instance.names[number] for number in getattr(speaker, "asked")}  # noqa: B009
    assert asked == {"cellar_door", "old_chest"}
    resolve("look", program, speaker_of())


def test_many_namesakes_stay_cheap(speaker_of: MakeSpeaker, program: Program) -> None:
    names = [name for name in speaker_of().instance.names if name != "hero"]
    speaker = speaker_of(words=dict.fromkeys(names, ("thing",)))
    before = time.process_time()
    found = resolve("swap thing and thing", program, speaker)
    assert not isinstance(found, NoMatch)
    assert len(found) == 25  # five portables, twice
    assert time.process_time() - before < 10
