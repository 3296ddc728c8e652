"""Signals while a command runs: the first asks, the second ends."""

import signal
from pathlib import Path

import pytest
import typer

from nmt_cli.api.prepare import PrepareRequest
from nmt_cli.cli.app import Stop, catch_stop_signals
from nmt_cli.cli.prepare import offer_resumption
from nmt_cli.cli.render import Screen
from nmt_cli.corpus.config import PrepareOptions
from nmt_cli.corpus.steps.workspace import locate_workspace


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


# What `nmt prepare` says of a preparation that was interrupted.


@pytest.mark.parametrize("is_kept", [True, False])
def test_an_interruption_names_the_command_that_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], is_kept: bool
) -> None:
    data = tmp_path / "data"
    request = PrepareRequest(corpus=("a b.tsv=2",), config=PrepareOptions(seed=3), data=data, force=True)
    if is_kept:
        locate_workspace(data).mkdir()
    with pytest.raises(KeyboardInterrupt), offer_resumption(Screen(), request):
        raise KeyboardInterrupt
    said = "".join(capsys.readouterr().err.split())
    command = f"nmt prepare 'a b.tsv=2' --seed 3 --data {data} --force --resume"
    assert ("".join(command.split()) in said) == is_kept
    assert is_kept or said == "interrupted:nothingwassaved"
