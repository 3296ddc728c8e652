"""The models that learn corrections beside old pairs, in a scratch directory, and what the gate finds of them.

1. One learns all of them. If it has lost too much, it goes back part of the way.
2. Two learn one half each, and go as far: they translate the other half.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from nmt_cli.api.corrections.gate import MOST_LOST, Change, Gate, Verdict, compare
from nmt_cli.api.corrections.pairs import Part, divide, have_tags, write_pairs
from nmt_cli.api.corrections.replayed import OldPairs
from nmt_cli.api.memory import TAGS
from nmt_cli.api.startup import silent_tensorflow
from nmt_cli.api.train import TrainRequest
from nmt_cli.corpus.checks import CHECKS
from nmt_cli.corpus.config import PrepareConfig
from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.corpus.prepare import prepare
from nmt_cli.corpus.sides import TaggedPair
from nmt_cli.files import hash_file, write_json
from nmt_cli.model.config import ModelConfig
from nmt_cli.runtime.model_directory import CARD, CORRECTIONS, SAMPLE, ModelDirectory, read_card
from nmt_cli.training.config import TrainConfig
from nmt_cli.training.watcher import Watcher

if TYPE_CHECKING:  # TensorFlow starts with it
    from nmt_cli.training.request import TrainingRequest

STAGE_NAMES = ("corrections and old pairs", "a model that learns them", "the development set", "models of each half")
# Settings that are not typed. Fewer old pairs, a higher learning rate or more passes teach more, and lose more
# (benchmarks/log/corrections.md); a few hundred corrections are few updates, unless batches are small.
REPLAYED = 2  # old pairs for each time that a correction occurs
BATCH = 32  # pairs
RATE = 1e-3


@dataclass(frozen=True)
class Course:
    """An old model, the corrections that it is to learn, and all old pairs that may be replayed."""

    request: TrainRequest
    old: ModelDirectory
    corrections: Sequence[TaggedPair]
    replayed: OldPairs
    scratch: Path
    watcher: Watcher

    @property
    def new(self) -> Path:
        """The directory of the model that learns all corrections."""
        return self.scratch / "all" / "model"

    def learn(self) -> tuple[float, Verdict]:
        """Trains the new model; returns the share of the step that its weights have taken, and the verdict."""
        gate = Gate(self.old.directory, self.replayed.dev)
        for share in self.learn_all():
            self.report_stage(2)
            verdict = gate.judge(self.new)
            if not verdict.has_lost:
                return share, verdict._replace(corrections=self.learn_halves(share))
        return share, verdict

    def learn_all(self) -> Iterator[float]:
        """Writes a model that learns all corrections; asked again, one that has taken a smaller share of the step."""
        with silent_tensorflow():
            from nmt_cli.training.transfer.short_steps import train_in_shorter_steps
        self.report_stage(1)
        request = self.request_training("all", Part(self.corrections, []), self.replayed.dev)
        for share in train_in_shorter_steps(request, MOST_LOST):
            complete_model(self.new, self.old, self.corrections)
            yield share

    def learn_halves(self, share: float) -> Change:
        """Has a model learn each half, and scores its translations of the other.

        The same engine translates with the weights before the step and after this share of it.
        """
        from nmt_cli.training.transfer.short_steps import WeightStep

        left_out: list[TaggedPair] = []
        before: list[str] = []
        after: list[str] = []
        for number, half in enumerate(divide(self.corrections)):
            self.report_stage(3)
            # Nothing depends on the development set here: one pair of it keeps its validation short.
            request = self.request_training(f"half-{number}", half, self.replayed.dev[:1])
            step, sources = WeightStep.take(request), [pair.source for pair in half.left_out]
            tags = [pair.tags for pair in half.left_out]
            left_out += half.left_out
            before += step.translate(sources, tags, 0.0)
            after += step.translate(sources, tags, share)
        self.check_stop()
        return compare("chrf", before, after, left_out)

    def request_training(self, name: str, part: Part, dev: list[TaggedPair]) -> TrainingRequest:
        """Returns the request to train the old model on corrections and old pairs, in one pass."""
        from nmt_cli.training.request import TrainingRequest

        training, scratch = self.request.training, self.scratch / name
        repeated = [*part.learned] * training.epochs
        replayed = self.replayed.sample(REPLAYED * len(repeated), training.seed)._replace(dev=dev)
        corpus = write_corpus(scratch, repeated, part.left_out, replayed, self.old)
        explicit = self.request.explicit.select_fields(ModelConfig) | self.request.explicit.select_fields(TrainConfig)
        config = replace(training, epochs=1)
        if not {"batch", "batch_tokens"} & explicit:
            config = replace(config, batch=BATCH)
        if "learning_rate" not in explicit:
            config = replace(config, learning_rate=RATE)
        network, directory = self.request.network, scratch / "model"
        return TrainingRequest(corpus, directory, network, config, self.watcher, explicit=explicit)

    def report_stage(self, number: int) -> None:
        """Reports that a stage begins, unless the watcher stops the course."""
        self.check_stop()
        self.watcher.report_stage(STAGE_NAMES[number], number + 1, len(STAGE_NAMES))

    def check_stop(self) -> None:
        """Raises KeyboardInterrupt if the watcher stops the course: a model that was stopped is not judged."""
        if self.watcher.should_stop():
            raise KeyboardInterrupt


def write_corpus(
    directory: Path,
    repeated: Sequence[TaggedPair],
    left_out: Sequence[TaggedPair],
    replayed: OldPairs,
    model: ModelDirectory,
) -> PreparedCorpus:
    """Prepares a corpus with the subwords of the model; nothing that is left out is in its training set."""
    directory.mkdir()
    test = left_out or replayed.train[:1]  # no corpus is without a test set
    parts = {"train": [*repeated, *replayed.train], "dev": replayed.dev, "test": test}
    files = {split: directory / f"{split}.tsv" for split in parts}
    with_tags = any(map(have_tags, parts.values()))
    for split, pairs in parts.items():
        write_pairs(files[split], pairs, with_tags=with_tags)
    config = PrepareConfig(
        source_language=model.card.source_language,
        target_language=model.card.target_language,
        dev=str(files["dev"]),
        test=str(files["test"]),
        tag_column=TAGS if with_tags else None,
        tokenizer_from=str(model.directory),
        keep=tuple(check.name for check in CHECKS if check.can_be_kept),  # a person wrote them as they are
    )
    prepare(files["train"], directory / "prepared", config)
    return PreparedCorpus.load(directory / "prepared")


def complete_model(directory: Path, old: ModelDirectory, corrections: Sequence[TaggedPair]) -> None:
    """Gives a new model its corrections, the old one's sample, and what the old card says of the corpus."""
    card = read_card(directory)
    write_pairs(directory / CORRECTIONS, corrections, with_tags=have_tags(corrections))
    if (old.directory / SAMPLE).is_file():
        shutil.copyfile(old.directory / SAMPLE, directory / SAMPLE)
    added = {name: hash_file(directory / name) for name in (CORRECTIONS, SAMPLE) if (directory / name).is_file()}
    card = card._replace(
        dataset_fingerprint=old.card.dataset_fingerprint,  # that of the development set
        epochs=old.card.epochs,
        tags=old.card.tags,
        checksums={**card.checksums, **added},
    )
    write_json(directory / CARD, card._asdict())
