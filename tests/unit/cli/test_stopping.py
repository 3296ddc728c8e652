"""Signals while a command runs: the first asks, the second ends."""

import signal

import pytest
import typer

from nmt_cli.cli.app import Stop, catch_stop_signals


def test_the_first_signal_asks_and_the_second_ends() -> None:
    said: list[str] = []
    stop = Stop(said.append)
    assert not stop() and not said
    stop.request_stop(signal.SIGTERM, None)
    assert stop() and stop.signal == signal.SIGTERM
    assert said == ["stopping after this step ...; Ctrl-C again stops at once"]
    with pytest.raises(KeyboardInterrupt):
        stop.request_stop(signal.SIGINT, None)


def test_signals_are_given_back_after_training() -> None:
    before = signal.getsignal(signal.SIGINT)
    with catch_stop_signals() as stop:
        assert not stop()
        signal.raise_signal(signal.SIGINT)
        assert stop()
    assert signal.getsignal(signal.SIGINT) is before


def test_a_training_ended_before_its_first_update_exits_as_the_signal_says() -> None:
    with pytest.raises(typer.Exit) as caught, catch_stop_signals():
        signal.raise_signal(signal.SIGTERM)
    assert caught.value.exit_code == 128 + signal.SIGTERM
    with pytest.raises(KeyboardInterrupt), catch_stop_signals():
        signal.raise_signal(signal.SIGINT)
    with pytest.raises(typer.Exit), catch_stop_signals() as stop:
        assert not stop()
        signal.raise_signal(signal.SIGTERM)
        raise KeyboardInterrupt


def test_a_closed_terminal_stops_training_as_sigterm_does() -> None:
    with catch_stop_signals() as stop:
        assert not stop()
        signal.raise_signal(signal.SIGHUP)
        assert stop() and stop.signal == signal.SIGHUP
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as under `nohup`
    try:
        with catch_stop_signals() as stop:
            signal.raise_signal(signal.SIGHUP)
            assert not stop()
    finally:
        signal.signal(signal.SIGHUP, before)
