"""A training on the terminal: a header, a progress bar, one line per epoch, and a summary."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Self

from nmt_cli.cli.network_summary import describe_network
from nmt_cli.cli.render import Screen, StepBar
from nmt_cli.training.watcher import EpochRecord, RunInfo, StepStatus, Validation, Watcher

if TYPE_CHECKING:
    from nmt_cli.training.int8_check import Int8Check
    from nmt_cli.training.run import TrainReport


class TrainingScreen(Watcher):
    """Shows a training: a header, a bar while it runs (on a terminal), and one line per epoch."""

    HEADINGS = ("epoch", "loss", "dev loss", "ppl", "acc", "BLEU", "chrF", "tok/s", "time")
    WIDTHS = (7, 8, 10, 9, 7, 7, 7, 9, 8)

    def __init__(self, screen: Screen, stop: Callable[[], bool]) -> None:
        self.screen = screen
        self.should_stop = stop  # type: ignore[method-assign]
        self.bar: StepBar | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        if self.bar is not None:
            self.bar.stop()

    def report_start(self, info: RunInfo) -> None:
        weights = f"{info.weights / 1e6:.1f} M weights"
        devices = f"{info.devices}, {info.precision.replace('_', ' ')}"
        self.screen.say(f"{describe_network(info.network)} · {weights}        {devices}")
        self.screen.say(f"{info.pairs:,} pairs, {info.steps_per_epoch:,} steps per epoch, {info.epochs} epochs")
        self.screen.say("".join(text.rjust(width) for text, width in zip(self.HEADINGS, self.WIDTHS, strict=True)))
        if self.screen.live:
            self.bar = StepBar(
                self.screen, f"epoch 1/{info.epochs}", "compiling the training step", info.steps_per_epoch
            )

    def report_resume(self, records: Sequence[EpochRecord], epoch: int, step: int) -> None:
        for record in records:
            self.show_row(record)
        done = f"{step:,} steps of epoch {epoch}" if step else f"epoch {epoch - 1}" if epoch > 1 else "nothing"
        self.screen.say(f"      resumed: {done} done", style="dim")

    def report_step(self, status: StepStatus) -> None:
        detail = (
            f"loss {status.loss:.2f}  ppl {math.exp(min(status.loss, 20)):.1f}   "
            f"{status.tokens_per_second:,.0f} tok/s   {format_time(status.seconds_left)} left"
        )
        self.redraw(f"epoch {status.epoch}/{status.epochs}", detail, status.step, status.steps_per_epoch)

    def report_validation(self, epoch: int) -> None:
        self.redraw(f"epoch {epoch}", "translating the development set")

    def warn(self, problem: str) -> None:
        self.screen.warn(problem)

    def report_export(self) -> None:
        self.redraw("export", "writing the model")

    def redraw(self, activity: str, detail: str, completed: int | None = None, total: int | None = None) -> None:
        if self.bar is not None:
            self.bar.redraw(activity, detail, completed, total)

    def report_epoch(self, record: EpochRecord, validation: Validation) -> None:
        self.show_row(record)
        self.screen.say(f"      {validation.sample_source} -> {validation.sample_hypothesis}", style="dim")

    def show_row(self, record: EpochRecord) -> None:
        """Prints the line of one epoch."""
        values = (
            f"{record.epoch}",
            f"{record.loss:.2f}",
            f"{record.dev_loss:.2f}",
            f"{record.perplexity:.1f}",
            f"{record.accuracy:.1f}",
            f"{record.bleu:.1f}",
            f"{record.chrf:.1f}",
            f"{record.tokens_per_second:,.0f}",
            format_time(record.seconds),
        )
        note = ("   best" if record.best else "") + ("" if record.complete else "   part of the epoch")
        row = "".join(text.rjust(width) for text, width in zip(values, self.WIDTHS, strict=True))
        self.screen.say(row + note)

    def show_summary(self, report: TrainReport, directory: Path, *, pictures: bool = False) -> None:
        """Prints what was made, how good it is, and the next command.

        A picture is not offered as an example: its name is relative to the file that named it.
        """
        validation = report.validation
        score = f"dev BLEU {validation.bleu:.1f}, chrF {validation.chrf:.1f} (greedy)"
        epochs = ", ".join(map(str, sorted(report.epochs)))
        which = f"mean of epochs {epochs}" if len(report.epochs) > 1 else f"epoch {epochs}"
        self.screen.say(f"{directory}/ is ready: {which}, {score}. {describe_int8(report.int8_check)}")
        self.screen.say_detail(f"  {validation.bleu_signature}")
        where = "" if str(directory) == "model" else f" --model {quote(str(directory))}"
        if pictures:
            self.screen.say(f"Next: nmt evaluate{where}")
        else:
            self.screen.say(f"Try: echo {quote_for_shell(validation.sample_source)} | nmt translate{where}")


def quote_for_shell(text: str) -> str:
    """Quotes a text for a shell: in double quotes, or as `shlex` does it where these would not be enough."""
    return quote(text) if set(text) & set('"$`\\!') else f'"{text}"'


def describe_int8(check: Int8Check) -> str:
    """Returns what weights in 8 bits cost in BLEU, and whether they are used."""
    used = "used by default" if check.default == "int8" else "so float is the default"
    return f"int8 costs {max(check.cost, 0.0):.1f} BLEU: {check.int8_bytes / 1e6:.0f} MB, {used}."


def format_time(seconds: float) -> str:
    """Returns minutes and seconds, with hours where there are any."""
    minutes, remainder = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{remainder:02}" if hours else f"{minutes}:{remainder:02}"
