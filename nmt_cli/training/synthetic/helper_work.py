"""What a process needs to translate text for training with a helper model, block by block."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from nmt_cli.jobs.job import Job
from nmt_cli.text.tags import TagSet
from nmt_cli.training.synthetic.plan import TaggedText, Task
from nmt_cli.training.synthetic.selection import measure_confidence
from nmt_cli.translation.by_tags import translate_tagged
from nmt_cli.translation.translator import Translator

HelperResult = tuple[float, str]  # the confidence of a translation, and its text


class TaggedBlock(NamedTuple):
    """N sentences, the first of which has this number in the whole text."""

    first: int
    lines: list[str]
    tags: list[TagSet]  # (N,) as the helper model reads them

    def __str__(self) -> str:
        return f"sentences {self.first + 1:,} to {self.first + len(self.lines):,}"


class HelperWork(NamedTuple):
    """The job of a helper model, of which only confidences and texts are needed. Implements `workers.work.Work`."""

    job: Job

    def start(self, *, threads: int | None = None) -> Callable[[TaggedBlock], list[HelperResult]]:
        return partial(self.translate_block, self.job.open_translator(threads))

    def pack(self) -> HelperWork:
        return HelperWork(self.job.pack())

    def hold(self) -> HelperWork:
        return HelperWork(self.job.hold())

    def translate_block(self, translator: Translator, block: TaggedBlock) -> list[HelperResult]:
        """Translates the sentences of a block."""
        translations = translate_tagged(translator, block.lines, block.tags, self.job.search, first_line=block.first)
        return [
            (measure_confidence(translation), "" if translation.failure else translation.text)  # a copy is no pair
            for translation in translations
        ]


def cut_block(task: Task, texts: Sequence[TaggedText], start: int, size: int) -> TaggedBlock:
    """Returns the block of the texts of a task that begins with this one."""
    block = texts[start : start + size]
    return TaggedBlock(start, [text.text for text in block], [task.orient_tags(text.tags) for text in block])
