"""Ctrl-C inside a tick waits for its end; a second one does not wait."""

from __future__ import annotations

import signal

import pytest

from tokenworld.verbs.output import unbroken


def interrupted(times: int, done: list[str]) -> None:
    with unbroken():
        for _ in range(times):
            signal.raise_signal(signal.SIGINT)
        done.append("to its end")


def test_the_block_ends_before_the_interruption_is_heard() -> None:
    done: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        interrupted(1, done)
    assert done == ["to its end"]


def test_the_second_one_breaks_the_block() -> None:
    done: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        interrupted(2, done)
    assert done == []


def test_the_usual_handler_is_back() -> None:
    usual = signal.getsignal(signal.SIGINT)
    with unbroken():
        assert signal.getsignal(signal.SIGINT) is not usual
    assert signal.getsignal(signal.SIGINT) is usual
    with pytest.raises(ZeroDivisionError), unbroken():
        _ = 1 / 0
    assert signal.getsignal(signal.SIGINT) is usual
