"""Ctrl-C ends a command that goes on without a fault, whatever becomes of the exception that it is."""

from __future__ import annotations

import os
import signal

import pytest

from api.cli.waiting import Interruption


def interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def test_it_ends_what_goes_on() -> None:
    with Interruption() as interruption:
        interrupt()
        pytest.fail("it goes on")
    assert interruption.came


def test_it_ends_where_it_comes_out_as_another_fault() -> None:
    with Interruption() as interruption:
        try:
            interrupt()
        except KeyboardInterrupt as error:
            raise RuntimeError("release unlocked lock") from error
    assert interruption.came


def test_it_ends_at_the_next_pause_where_it_was_swallowed() -> None:
    with Interruption() as interruption:
        try:
            interrupt()
        except KeyboardInterrupt:
            interruption.pause(3600)
        pytest.fail("it goes on")


def test_any_other_fault_comes_through_and_the_handler_is_as_before() -> None:
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(ValueError, match="bad row"), Interruption():
        raise ValueError("bad row")
    assert signal.getsignal(signal.SIGINT) is before
