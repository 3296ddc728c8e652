"""From the corrections of a model's translations to a better model, or to the reason why there is none.

1. Hold back a tenth of the corrections; find old pairs to replay with the others.
2. Train on both, in one pass in which each correction occurs several times.
3. Compare both models; the new one takes the place of the old one only if it passes the gate. If it has lost too much,
   go back part of the way, and compare again.

Source of the mixture: Chu, Dabre, Kurohashi (2017), "An Empirical Comparison of Domain Adaptation Methods".
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Unpack

from nmt_cli.api.corrections.gate import Gate, Verdict
from nmt_cli.api.corrections.pairs import read_corrections
from nmt_cli.api.corrections.replayed import OldPairs, find_old_pairs
from nmt_cli.api.options.arguments import PathLike, build_settings, explain_os_errors
from nmt_cli.api.options.explicit import ExplicitOptions
from nmt_cli.api.progress import StageReporter
from nmt_cli.api.startup import require_tensorflow, silent_tensorflow
from nmt_cli.api.train import TrainRequest
from nmt_cli.api.training_watchers import combine_watchers
from nmt_cli.corpus.checks import CHECKS
from nmt_cli.corpus.config import PrepareConfig
from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.corpus.prepare import prepare
from nmt_cli.corpus.sides import SentencePair
from nmt_cli.errors import OptionError
from nmt_cli.files import hash_file, refuse_to_overwrite, stage_directory, write_json
from nmt_cli.model.config import ModelConfig
from nmt_cli.runtime.installed_models import find_model
from nmt_cli.runtime.model_directory import CARD, CHECKPOINTS, PREVIOUS, SAMPLE, ModelDirectory, read_card
from nmt_cli.text.wrapping import format_count
from nmt_cli.training.checkpoints.lock import lock_model
from nmt_cli.training.config import TrainConfig
from nmt_cli.training.transfer.finetune import find_parent
from nmt_cli.training.watcher import Watcher

if TYPE_CHECKING:
    from nmt_cli.api.options.keywords import TrainKeywords

STAGE_NAMES = ("corrections and old pairs", "a model that learns them", "the gate")
STEPS = ("", ", half of the step", ", a quarter of the step")
# Fewer old pairs or a higher learning rate teach more, and lose more (benchmarks/log/corrections.md).
REPLAYED = 4  # old pairs for each time that a correction occurs
BATCH = 32  # pairs, unless --batch is set: a few hundred corrections are few updates


@dataclass(frozen=True)
class Lesson:
    """What came of learning corrections."""

    model: Path
    learned: int
    held_back: int
    replayed: int
    verdict: Verdict
    previous: Path | None  # where the old model is now; None if it stays where it was

    @property
    def is_accepted(self) -> bool:
        return self.verdict.objection is None

    def __str__(self) -> str:
        fate = f"{self.model}/ stays as it was, since the new model fails: {self.verdict.objection}"
        if self.is_accepted:
            fate = f"{self.model}/ is the new model" + (f", {self.previous}/ the old one" if self.previous else "")
        learned = format_count(self.learned, "correction")
        return (
            f"{learned} learned; {self.held_back:,} held back: {self.verdict.corrections}; "
            f"development set: {self.verdict.development}; {fate}"
        )

    def to_mapping(self) -> dict[str, Any]:
        """Returns the lesson in the form of `--json`."""
        return {
            "model": str(self.model),
            "accepted": self.is_accepted,
            "previous": None if self.previous is None else str(self.previous),
            "learned": self.learned,
            "held_back": self.held_back,
            "replayed": self.replayed,
            **self.verdict.to_mapping(),
        }


@explain_os_errors
def learn(
    corrections: PathLike,
    *,
    model: PathLike = "model",
    data: PathLike = "prepared",
    progress: StageReporter | None = None,
    watcher: Watcher | None = None,
    **options: Unpack[TrainKeywords],
) -> Lesson:
    """Trains a model further on corrections of its translations, and replaces it if that does it good.

    `options` are those of `nmt train`, such as `learning_rate=1e-4`; each correction occurs `epochs` times. The model
    may be one of a package, which stays as it is: a directory of its name then gets the new model. Raises
    NotFoundError for a model without weights, DataError for too few corrections, and the errors of `nmt.train`.
    """
    others = {"corrections": corrections}
    network, training = build_settings("train", options, ModelConfig, TrainConfig, others=others, where="learn")
    explicit = ExplicitOptions.from_arguments(options, ModelConfig, TrainConfig)
    request = TrainRequest(
        network=network, training=training, explicit=explicit, data=Path(data), model=Path(model), force=True
    )
    return learn_corrections(request, Path(corrections), combine_watchers(watcher, progress, None))


def learn_corrections(request: TrainRequest, path: Path, watcher: Watcher) -> Lesson:
    """Learns the corrections in a file, as `learn` does. Raises KeyboardInterrupt if the watcher stops it."""
    require_tensorflow()
    old = ModelDirectory.load(find_model(request.model))
    if old.card.has_pictures:
        raise OptionError(f"{old.directory}/ reads pictures, which have no corrections", hint="name a model of text")
    training = replace(request.training, init_from=str(old.directory), synthetic="none")
    find_parent(training)  # refuses a model without weights
    corrections = read_corrections(path, old.card.languages)
    is_named = not old.directory.is_relative_to(request.model)  # one of a package, which stays as it is
    target = request.model if is_named else old.directory
    refuse_to_overwrite(target, replace=not is_named)
    lock = nullcontext() if is_named else lock_model(target, replace=True)
    with lock, TemporaryDirectory(prefix="nmt.") as scratch:
        # 1. The corrections, and the old pairs beside them.
        watcher.report_stage(STAGE_NAMES[0], 1, len(STAGE_NAMES))
        repeated = corrections.learned * training.epochs
        replayed = find_old_pairs(old, request.data, training.seed)
        replayed = replayed._replace(train=corrections.exclude_from(replayed.train))
        replayed = replayed.sample(REPLAYED * len(repeated), training.seed)
        corpus = write_corpus(Path(scratch, "corpus"), repeated, corrections.held_back, replayed, old)
        # 2. A model that learns them.
        watcher.report_stage(STAGE_NAMES[1], 2, len(STAGE_NAMES))
        new, gate = Path(scratch, "model"), Gate(old.directory, corrections.held_back, replayed.dev)
        models = train_further(replace(request, training=training), corpus, old, new, watcher)
        for step, _ in zip(STEPS, models, strict=False):
            if watcher.should_stop():
                raise KeyboardInterrupt
            # 3. The gate. Where the model has lost too much, it is asked for a shorter step.
            watcher.report_stage(f"{STAGE_NAMES[2]}{step}", 3, len(STAGE_NAMES))
            verdict = gate.judge(new)
            if not verdict.has_lost:
                break
        if verdict.objection is None:
            with stage_directory(target, replace=not is_named, keep_as=PREVIOUS) as staged:
                shutil.copytree(new, staged, dirs_exist_ok=True, ignore=shutil.ignore_patterns(CHECKPOINTS))
    counts = len(corrections.learned), len(corrections.held_back), len(replayed.train)
    return Lesson(target, *counts, verdict, None if is_named or verdict.objection else target / PREVIOUS)


def write_corpus(
    directory: Path,
    repeated: Sequence[SentencePair],
    held_back: Sequence[SentencePair],
    replayed: OldPairs,
    model: ModelDirectory,
) -> PreparedCorpus:
    """Prepares a corpus with the subwords of the model; nothing that was held back is in its training set."""
    directory.mkdir()
    parts = {"train": [*repeated, *replayed.train], "dev": replayed.dev, "test": held_back}
    files = {split: directory / f"{split}.tsv" for split in parts}
    for split, pairs in parts.items():
        files[split].write_text("".join(f"{pair.source}\t{pair.target}\n" for pair in pairs), encoding="utf-8")
    config = PrepareConfig(
        source_language=model.card.source_language,
        target_language=model.card.target_language,
        dev=str(files["dev"]),
        test=str(files["test"]),
        tokenizer_from=str(model.directory),
        keep=tuple(check.name for check in CHECKS if check.can_be_kept),  # a person wrote them as they are
    )
    prepare(files["train"], directory / "prepared", config)
    return PreparedCorpus.load(directory / "prepared")


def train_further(
    request: TrainRequest, corpus: PreparedCorpus, old: ModelDirectory, directory: Path, watcher: Watcher
) -> Iterator[None]:
    """Trains the old model on the corpus into a directory; asked again, it learns less and forgets less."""
    with silent_tensorflow():
        from nmt_cli.training.request import TrainingRequest
        from nmt_cli.training.transfer.short_steps import train_in_shorter_steps
    explicit = request.explicit.select_fields(ModelConfig) | request.explicit.select_fields(TrainConfig)
    is_batch_set = {"batch", "batch_tokens"} & explicit
    config = replace(request.training, epochs=1, batch=request.training.batch if is_batch_set else BATCH)
    training = TrainingRequest(corpus, directory, request.network, config, watcher, explicit=explicit)
    for _ in train_in_shorter_steps(training):
        inherit_facts(directory, old)
        yield


def inherit_facts(directory: Path, old: ModelDirectory) -> None:
    """Gives a new model the old one's sample, and what its card says of the corpus, whose development set is used."""
    card = read_card(directory)
    checksums = dict(card.checksums)
    if (old.directory / SAMPLE).is_file():
        shutil.copyfile(old.directory / SAMPLE, directory / SAMPLE)
        checksums[SAMPLE] = hash_file(directory / SAMPLE)
    fingerprint, epochs = old.card.dataset_fingerprint, old.card.epochs
    card = card._replace(dataset_fingerprint=fingerprint, epochs=epochs, checksums=checksums)
    write_json(directory / CARD, card._asdict())
