"""Jobs for processes that need no model: they shout, and can be made to die."""

import os
import signal
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from nmt_cli.errors import DamagedError
from nmt_cli.translation.request import Block, TranslateBlock, TranslationRequest
from nmt_cli.translation.result import Translation
from nmt_cli.workers.work import DoneReporter
from support.translations import louder


@dataclass(frozen=True)
class LoudJob(TranslationRequest):
    """Translates into capitals. The first to be given "die" is killed, each that is given "die!" is."""

    mark: Path = Path("died")

    def start(self, *, threads: int | None = None, report: DoneReporter | None = None) -> TranslateBlock:
        return partial(self.translate, report=report)

    def translate(self, block: Block, report: DoneReporter | None) -> list[Translation]:
        if "die!" in block.texts or ("die" in block.texts and not self.mark.exists()):
            self.mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        if "fail" in block.texts:
            raise ValueError("this text cannot be")
        if report is not None:
            report(block.first, len(block.texts))
        return [louder(text) for text in block.texts]


@dataclass(frozen=True)
class BrokenJob(TranslationRequest):
    """Its model cannot be loaded."""

    def start(self, *, threads: int | None = None, report: DoneReporter | None = None) -> TranslateBlock:
        raise DamagedError("model.json is damaged", hint="train it again")
