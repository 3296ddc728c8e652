import pytest

from nmt_cli.errors import OptionError
from nmt_cli.training.deadline import CAUTION, Deadline, parse_duration


class Clock:
    """A clock that moves when it is told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def deadline(clock: Clock, **known: float) -> Deadline:
    return Deadline(100.0, clock, **known)


@pytest.mark.parametrize(
    ("text", "seconds"), [("90s", 90), ("30m", 1800), ("1h30m", 5400), ("2h", 7200), ("1h2m3s", 3723), ("120m", 7200)]
)
def test_durations_are_read(text: str, seconds: float) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "30", "m", "0m", "30 m", "1m1h", "-5m", "1.5h", "30min"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(OptionError, match="--time cannot be"):
        parse_duration(text)


def test_validation_and_export_are_taken_from_the_time() -> None:
    clock = Clock()
    run = deadline(clock, validation_seconds=10.0, export_seconds=5.0)
    clock.now += 20
    assert run.seconds_left == pytest.approx(100 - 20 - CAUTION * 15)
    run.validations = 2
    assert run.seconds_left == pytest.approx(100 - 20 - CAUTION * 25)


def test_an_export_slows_down_as_updates_do() -> None:
    clock = Clock()
    run = deadline(clock, export_seconds=5.0, first_update_seconds=1.0, update_seconds=3.0)
    assert run.seconds_left == pytest.approx(100 - CAUTION * 15)


def test_the_seconds_of_an_update_are_a_mean_of_the_last_ones() -> None:
    clock = Clock()
    run = deadline(clock, update_seconds=1.0)
    run.start()
    for _ in range(200):
        run.advance()
        clock.now += 0.2
        run.finish_update()
    assert run.update_seconds == pytest.approx(0.2, rel=0.01)


def test_a_machine_is_slower_than_in_the_first_updates() -> None:
    clock = Clock()
    run = deadline(clock, update_seconds=0.1)  # of a few short batches, while nothing else was computed
    run.start()
    for seconds, slowdown in ((0.2, 1.0), (0.4, 2.0)):
        for _ in range(200):
            run.advance()
            clock.now += seconds
            run.finish_update()
        assert run.slowdown == pytest.approx(slowdown, rel=0.01)


def test_it_is_over_when_no_update_fits_any_more() -> None:
    clock = Clock()
    run = deadline(clock, update_seconds=2.0)
    clock.now += 97.9
    assert not run.is_over
    clock.now += 0.2
    assert run.is_over


def test_the_share_rises_with_the_time_whatever_it_is_spent_on() -> None:
    clock = Clock()
    run = deadline(clock)
    clock.now += 20
    run.start()
    assert run.advance() == 0
    shares = []
    for spent in (8, 40, 32):  # of 80
        clock.now += spent
        shares.append(run.advance())
    assert shares == pytest.approx([0.1, 0.6, 1.0])
    clock.now += 5
    assert run.advance() == pytest.approx(1.0)


def test_costs_that_turn_out_otherwise_bend_the_schedule_without_a_break() -> None:
    clock = Clock()
    run = deadline(clock, validation_seconds=20 / CAUTION)
    run.start()
    clock.now += 40
    assert run.advance() == pytest.approx(0.5)  # of 80
    run.validation_seconds = 0.0  # 60 are left, not 40
    assert run.advance() == pytest.approx(0.5)
    clock.now += 30
    assert run.advance() == pytest.approx(0.75)
    run.validation_seconds = 20 / CAUTION  # 10 are left
    clock.now += 5
    assert run.advance() == pytest.approx(0.875)


def test_a_run_that_goes_on_has_what_was_left() -> None:
    clock = Clock()
    run = deadline(clock)
    run.start(elapsed=60.0, share=0.5)
    assert run.seconds_left == 40
    clock.now += 20
    assert run.advance() == pytest.approx(0.75)


def test_the_epochs_that_fit_by_hand() -> None:
    run = deadline(Clock(), validation_seconds=10.0 / CAUTION, update_seconds=0.5)
    assert run.fit_epochs(80) == pytest.approx(90 / (40 + 10 / CAUTION))
