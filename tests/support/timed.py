"""A clock that only the work of a run moves, and the run that is timed by it."""

from nmt_cli.model.config import ModelConfig
from nmt_cli.training.options import TrainOptions
from nmt_cli.training.watcher import EpochRecord, RunInfo, StepStatus, Validation, Watcher

SMALL = ModelConfig.from_options(embedding=8, units=8, attention="none", bidirectional=False)
TIMED = TrainOptions(time="5m", batch=32, learning_rate=0.01, mixed_precision=False)
CALIBRATION, VALIDATION, EXPORT = 12.0, 9.0, 6.0


class Machine(Watcher):
    """A clock, and the machine that moves it: `pace` has the seconds of updates, by the number of the first."""

    def __init__(self, *pace: tuple[int, float]) -> None:
        self.now = 500.0
        self.pace = dict(pace)
        self.statuses: list[StepStatus] = []
        self.records: list[EpochRecord] = []
        self.seconds = self.pace[0]
        self.info: RunInfo | None = None

    def __call__(self) -> float:
        return self.now

    def report_start(self, info: RunInfo) -> None:
        self.info = info

    def report_step(self, status: StepStatus) -> None:
        self.seconds = self.pace.get(len(self.statuses), self.seconds)
        self.now += self.seconds
        self.statuses.append(status)

    def report_validation(self, epoch: int) -> None:
        self.now += VALIDATION

    def report_epoch(self, record: EpochRecord, validation: Validation) -> None:
        self.records.append(record)

    def report_export(self) -> None:
        self.now += EXPORT + 3 * VALIDATION  # the development set is translated three times more
