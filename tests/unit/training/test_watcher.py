from typing import Any

from nmt_cli.training.watcher import REPORTS, Watcher, Watchers


class Recorder(Watcher):
    """Records every report with its values."""

    def __init__(self, reports: list[tuple[object, ...]], number: int, *, stops: bool = False) -> None:
        self.stops = stops
        for name in REPORTS:
            setattr(self, name, lambda *values, name=name: reports.append((number, name, *values)))

    def should_stop(self) -> bool:
        return self.stops


def test_every_report_goes_to_all_watchers_in_order() -> None:
    reports: list[tuple[Any, ...]] = []
    watchers = Watchers(Recorder(reports, 1), Recorder(reports, 2))
    for name in REPORTS:
        getattr(watchers, name)("a value", "another")
    assert reports == [(number, name, "a value", "another") for name in REPORTS for number in (1, 2)]
    assert {name for name in vars(Watcher) if not name.startswith("_")} == {*REPORTS, "should_stop"}


def test_one_watcher_can_stop_training_for_all() -> None:
    assert not Watchers(Recorder([], 1), Recorder([], 2)).should_stop()
    assert Watchers(Recorder([], 1), Recorder([], 2, stops=True)).should_stop()
