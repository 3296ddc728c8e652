"""A training as it is drawn on the terminal: a header, a bar while it runs, a line an epoch, and what was made."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Self

from nmt_cli.cli.network_summary import described_network
from nmt_cli.cli.render import Screen, StepBar
from nmt_cli.training.watcher import EpochRecord, RunInfo, StepStatus, Validation, Watcher

if TYPE_CHECKING:
    from nmt_cli.training.int8_check import Proof
    from nmt_cli.training.run import TrainReport


class TrainingScreen(Watcher):
    """Draws a training: a header, a bar while it runs (on a terminal), and a line an epoch."""

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

    def started(self, info: RunInfo) -> None:
        weights = f"{info.weights / 1e6:.1f} M weights"
        devices = f"{info.devices}, {info.precision.replace('_', ' ')}"
        self.screen.say(f"{described_network(info.network)} · {weights}        {devices}")
        self.screen.say(f"{info.pairs:,} pairs, {info.steps_per_epoch:,} steps an epoch, {info.epochs} epochs")
        self.screen.say("".join(text.rjust(width) for text, width in zip(self.HEADINGS, self.WIDTHS, strict=True)))
        if self.screen.live:
            self.bar = StepBar(
                self.screen, f"epoch 1/{info.epochs}", "compiling the training step", info.steps_per_epoch
            )

    def resumed(self, records: Sequence[EpochRecord], epoch: int, step: int) -> None:
        for record in records:
            self.row(record)
        done = f"{step:,} steps of epoch {epoch}" if step else f"epoch {epoch - 1}" if epoch > 1 else "nothing"
        self.screen.say(f"      resumed: {done} done", style="dim")

    def stepped(self, status: StepStatus) -> None:
        told = (
            f"loss {status.loss:.2f}  ppl {math.exp(min(status.loss, 20)):.1f}   "
            f"{status.tokens_per_second:,.0f} tok/s   {clock(status.seconds_left)} left"
        )
        self.redraw(f"epoch {status.epoch}/{status.epochs}", told, status.step, status.steps_per_epoch)

    def validating(self, epoch: int) -> None:
        self.redraw(f"epoch {epoch}", "translating the development set")

    def warned(self, problem: str) -> None:
        self.screen.warn(problem)

    def exporting(self) -> None:
        self.redraw("export", "writing the model")

    def redraw(self, doing: str, told: str, completed: int | None = None, total: int | None = None) -> None:
        if self.bar is not None:
            self.bar.redraw(doing, told, completed, total)

    def epoch_ended(self, record: EpochRecord, validation: Validation) -> None:
        self.row(record)
        self.screen.say(f"      {validation.sample_source} -> {validation.sample_hypothesis}", style="dim")

    def row(self, record: EpochRecord) -> None:
        values = (
            f"{record.epoch}",
            f"{record.loss:.2f}",
            f"{record.dev_loss:.2f}",
            f"{record.perplexity:.1f}",
            f"{record.accuracy:.1f}",
            f"{record.bleu:.1f}",
            f"{record.chrf:.1f}",
            f"{record.tokens_per_second:,.0f}",
            clock(record.seconds),
        )
        note = ("   best" if record.best else "") + ("" if record.complete else "   part of the epoch")
        row = "".join(text.rjust(width) for text, width in zip(values, self.WIDTHS, strict=True))
        self.screen.say(row + note)

    def summary(self, report: TrainReport, directory: Path, *, pictures: bool = False) -> None:
        """What was made, how good it is, and the command that comes next.

        A picture is not offered to be translated: its name is relative to the file that named it.
        """
        kept = report.validation
        score = f"dev BLEU {kept.bleu:.1f}, chrF {kept.chrf:.1f} (greedy)"
        epochs = ", ".join(map(str, sorted(report.epochs)))
        which = f"mean of epochs {epochs}" if len(report.epochs) > 1 else f"epoch {epochs}"
        self.screen.say(f"{directory}/ is ready: {which}, {score}. {proved(report.proof)}")
        self.screen.detail(f"  {kept.bleu_signature}")
        where = "" if str(directory) == "model" else f" --model {quote(str(directory))}"
        if pictures:
            self.screen.say(f"Next: nmt evaluate{where}")
        else:
            self.screen.say(f"Try: echo {quoted(kept.sample_source)} | nmt translate{where}")


def quoted(text: str) -> str:
    """As a shell takes it for one word: between the quotes that people know, unless it has what these do not hold."""
    return quote(text) if set(text) & set('"$`\\!') else f'"{text}"'


def proved(proof: Proof) -> str:
    """What weights in 8 bits cost, and whether they are used."""
    used = "used by default" if proof.default == "int8" else "so that float is the default"
    return f"int8 costs {max(proof.cost, 0.0):.1f} BLEU: {proof.int8_bytes / 1e6:.0f} MB, {used}."


def clock(seconds: float) -> str:
    """Minutes and seconds, with hours where there are any."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
