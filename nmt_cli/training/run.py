"""`train`: from a prepared directory to a model directory. Silent; tells a `Watcher` what happens."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import keras
import tensorflow as tf

from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.errors import DataError, OptionError, TrainingError
from nmt_cli.model.config import ModelConfig
from nmt_cli.model.seq2seq import Seq2Seq
from nmt_cli.runtime.model_directory import WEIGHTS
from nmt_cli.training.checkpoints.checkpoint import Checkpoints, load_weights, read_facts
from nmt_cli.training.checkpoints.resume import Identity, check_same, handover_of, is_unbegun
from nmt_cli.training.config import TrainConfig
from nmt_cli.training.cost_model import calibrate
from nmt_cli.training.data.augmentation import check_sampling
from nmt_cli.training.data.batches import TrainingBatches, vocabularies_of
from nmt_cli.training.data.replay import Replayed
from nmt_cli.training.data.word_swaps import RARE
from nmt_cli.training.deadline import Deadline
from nmt_cli.training.distributed.process import ALONE, ProcessRole
from nmt_cli.training.distributed.strategy import describe_devices, make_cluster, make_strategy, parts_of_batch
from nmt_cli.training.finetune import choose_network, load_replayed
from nmt_cli.training.int8_check import Int8Check
from nmt_cli.training.loop import TrainingRun
from nmt_cli.training.network_size import ENOUGH, first_size, is_open
from nmt_cli.training.precision import dtype_policy, policy_name
from nmt_cli.training.publish import publish
from nmt_cli.training.schedule import Schedule, TimedSchedule
from nmt_cli.training.step import Trainer
from nmt_cli.training.validation import Validator
from nmt_cli.training.watcher import EpochRecord, RunInfo, Validation, Watcher

PROOF = 3  # translations of the development set by `quantise_and_prove`, each about as long as a validation


@dataclass(frozen=True)
class TrainReport:
    """What came of a training."""

    epochs: tuple[int, ...]  # whose weights are exported, the best first; several if it is their mean
    validation: Validation  # of the weights that are exported
    records: tuple[EpochRecord, ...]
    proof: Int8Check  # of the weights in 8 bits


@dataclass(frozen=True)
class TrainingRequest:
    """What is to be trained on what and where, and how it begins."""

    corpus: PreparedCorpus
    directory: Path
    network: ModelConfig
    training: TrainConfig
    watcher: Watcher
    role: ProcessRole = ALONE
    resume: bool = False
    deadline: Deadline | None = None
    asked: Collection[str] | None = None  # options of the network that were asked for; None: those not at their default

    @property
    def options(self) -> Collection[str]:
        """The names of the network's options that are not left open."""
        return list_changed(self.network) if self.asked is None else self.asked


def train(
    corpus: PreparedCorpus,
    directory: Path,
    network_config: ModelConfig,
    config: TrainConfig,
    *,
    watcher: Watcher | None = None,
    resume: bool = False,
    deadline: Deadline | None = None,
    role: ProcessRole = ALONE,
    asked: Collection[str] | None = None,
) -> TrainReport:
    """Trains a network and leaves a complete model in `directory`, which the caller holds (`claim.claimed`).

    With `resume` it goes on from the checkpoint in `directory`, if there is one. Where several processes train
    together this is for the chief, `assist` for the others. `asked` are the names of the network's options that were
    asked for, be it at their default; None: those that are not at it. Raises DataError or OptionError if the checkpoint
    is of other data or settings, TrainingError if training diverges or another process ends, KeyboardInterrupt if the
    watcher stops it before the first step.
    """
    watcher = watcher or Watcher()
    request = TrainingRequest(corpus, directory, network_config, config, watcher, role, resume, deadline, asked)
    with explain_errors(role):
        run = begin(request)
    try:
        with explain_errors(role):
            run.fit()
    except TrainingError:
        if run.checkpoints.best is not None:  # what was learned before is no worse for it
            watcher.warn(f"what was best before is made a model in {directory}/")
            publish(run, corpus)
        raise
    watcher.report_export()
    chosen, proof = publish(run, corpus)
    return TrainReport(chosen.epochs, chosen.validation, tuple(run.checkpoints.records), proof)


def assist(
    corpus: PreparedCorpus,
    directory: Path,
    network_config: ModelConfig,
    config: TrainConfig,
    *,
    role: ProcessRole,
    watcher: Watcher | None = None,
    resume: bool = False,
    asked: Collection[str] | None = None,
) -> None:
    """Takes part in a training whose chief is another process; `directory` holds its own checkpoints, for a way back.

    Raises what `train` does.
    """
    watcher = watcher or Watcher()
    with explain_errors(role):
        begin(TrainingRequest(corpus, directory, network_config, config, watcher, role, resume, asked=asked)).fit()


def begin(request: TrainingRequest) -> TrainingRun:
    """A run that is ready for its next update."""
    corpus, config, role, watcher = request.corpus, request.training, request.role, request.watcher
    if config.time and role.processes > 1:
        raise OptionError(f"--time cannot be kept by {role.processes} processes at once", hint="give --epochs")
    strategy = make_strategy(config, role)  # before TensorFlow does anything
    check_corpus(corpus, config)
    facts = read_facts(request.directory) if request.resume else None
    if facts is not None and is_unbegun(facts):
        facts = None
    chosen = choose_network(corpus, request.network, config, request.options)
    config = config.fit_to(chosen.architecture)
    open_size = is_open(request.options, config)
    old = load_replayed(corpus, config)
    network = first_size(facts) if open_size else chosen
    identity = Identity(corpus.fingerprint, network, config, old.corpus.fingerprint if old else None)
    check_beginning(request, identity, facts, old)
    cluster = make_cluster(strategy, role)
    cluster.check_same({**identity.to_mapping(), "updates": None if facts is None else facts["updates"]})
    run = start(corpus, request.directory, identity, facts, watcher, old, strategy)
    deadline = request.deadline or Deadline.from_option(config.time)
    if deadline is not None:
        begin_timed(run, deadline)
        if open_size and facts is None and deadline.updates >= ENOUGH:
            larger = replace(identity, network=chosen)
            run = start(corpus, request.directory, larger, facts, watcher, old, strategy)
            begin_timed(run, deadline)
    run.cluster = cluster
    if run.batches.swaps is not None and run.batches.swaps.is_empty:
        needed = f"words that stand in at most {RARE:.1%} of the pairs and have a sure translation"
        watcher.warn(f"--swap-words changes nothing here: it needs {needed}")
    watcher.report_start(run_info(run, policy_name(config.mixed_precision), describe_devices(strategy, role)))
    if facts is not None:
        watcher.report_resume(run.checkpoints.records, run.progress.epoch, run.progress.meter.steps)
    return run


def check_beginning(
    request: TrainingRequest, identity: Identity, facts: dict[str, Any] | None, old: Replayed | None
) -> None:
    """Warns of what is not as it was wished. Raises DataError or OptionError for a checkpoint of something else."""
    if facts is not None:
        check_same(facts["identity"], identity, request.directory)
    elif request.resume:
        request.watcher.warn(f"there is no checkpoint in {request.directory}/; training begins anew")
    if old is not None and old.left_out:
        left_out = f"{old.left_out:,} old pairs share a sentence with what is held out now"
        request.watcher.warn(f"{left_out}, and are not replayed")


def list_changed(network: ModelConfig) -> set[str]:
    """The names of the options that are not at their default."""
    usual = ModelConfig.from_options().to_mapping()
    values = {field.name: (getattr(network, field.name), field.default) for field in fields(network)}
    return {name for name, (value, default) in values.items() if value != usual.get(name, default)}


@contextmanager
def explain_errors(role: ProcessRole) -> Iterator[None]:
    """Raises TrainingError where memory does not suffice, or another process of the training ends before its time."""
    try:
        yield
    except tf.errors.ResourceExhaustedError as error:
        hint = "give a smaller --batch, or --batch-tokens; with --accumulate the update stays as large"
        raise TrainingError("a batch needs more memory than there is", hint=hint) from error
    except tf.errors.OpError as error:
        if role.processes > 1:
            reason = (error.message or type(error).__name__).splitlines()[0]
            hint = "start all of them again, with --resume"
            raise TrainingError(f"another process is gone or cannot be reached: {reason}", hint=hint) from error
        raise


def check_corpus(corpus: PreparedCorpus, config: TrainConfig) -> None:
    """Raises DataError for a split without pairs, OptionError for what only texts have, or only other subwords."""
    for split in ("train", "dev"):
        if not len(corpus.load_encoded(split).source):
            raise DataError(f"{corpus.directory}/ has no {split} pairs", hint="prepare a corpus with more pairs")
    texts = config.sample_target or not corpus.has_pictures
    check_sampling(corpus.tokenizer_settings.kind, config.subword_sampling, texts=texts)
    if config.swap_words and corpus.has_pictures:
        raise OptionError(
            "--swap-words is about texts, but the sources of this corpus are pictures", hint="leave it out"
        )


def start(
    corpus: PreparedCorpus,
    directory: Path,
    identity: Identity,
    facts: dict[str, Any] | None,
    watcher: Watcher,
    old: Replayed | None = None,
    strategy: tf.distribute.Strategy | None = None,
) -> TrainingRun:
    """A run at its beginning, or where the checkpoint with these `facts` was written."""
    config = identity.training
    keras.utils.set_random_seed(config.seed)
    vocabularies = vocabularies_of(corpus)
    policy = policy_name(config.mixed_precision)
    batches = TrainingBatches(corpus, config, old)
    handover = None if facts is None else handover_of(facts, config, batches.updates)
    strategy = strategy or tf.distribute.get_strategy()
    parts = parts_of_batch(config, strategy.num_replicas_in_sync)
    with strategy.scope():
        with dtype_policy(policy):
            network = Seq2Seq(identity.network, vocabularies)
        if config.init_from is not None:
            load_weights(network, Path(config.init_from) / WEIGHTS)
        schedule = TimedSchedule(config) if config.time else Schedule(config, batches.updates * config.epochs, handover)
        trainer = Trainer(network, schedule, config, parts)
    twin = Seq2Seq(identity.network, vocabularies)
    run = TrainingRun(
        trainer=trainer,
        schedule=schedule,
        batches=batches,
        validate=Validator(twin, corpus, size=batches.size, carries=config.placeholders > 0, threads=parts),
        checkpoints=Checkpoints(directory, config.metric, config.average),
        watcher=watcher,
        identity=identity.to_mapping(),
    )
    if facts is not None:
        run.restore()
    return run


def begin_timed(run: TrainingRun, deadline: Deadline) -> None:
    """Starts the clock of a run, after a look at what things cost here, or where a checkpoint stopped it.

    Raises OptionError where the time does not suffice for an update.
    """
    run.deadline = deadline
    calibrate(run, deadline)
    deadline.validations = 1 + PROOF + (1 if run.trainer.config.average > 1 else 0)  # the last, and that of the mean
    if run.updates:
        deadline.start(elapsed=run.progress.elapsed + deadline.elapsed, share=run.progress.share)
    elif deadline.over:
        least = math.ceil(deadline.seconds - deadline.left + deadline.update)
        raise OptionError(
            f"--time {run.trainer.config.time} is too short: nothing could be learned in it",
            hint=f"to start, to measure and to write the model takes {least} seconds here; give several times that",
        )
    else:
        deadline.start()


def run_info(run: TrainingRun, policy: str, devices: str) -> RunInfo:
    return RunInfo(
        weights=run.trainer.network.count_params(),
        pairs=run.batches.epoch_rows.pairs,
        steps_per_epoch=run.batches.updates,
        epochs=run.epochs,
        precision=policy,
        devices=devices,
        network=run.trainer.network.config,
    )
