"""Turns a request into a run that is ready for its next update: a new run, or one restored from its checkpoint.

    nmt train --time 30m --resume          # 5,000 pairs, stopped after 400 updates in 10 of 20 minutes

`prepare_run` reads the checkpoint's facts, refuses another corpus or network, and builds network, batches and learning
rate as they were after 400 updates. Half of the time had passed, which is a third of 30 minutes; the learning rate
moves from the old plan's to the new plan's (`hand_over_time`). With a time limit, a few updates, a validation and an
export are timed first, so that the rest of the time can be planned. If the time also decides the size, a small network
is timed (`defaults.choose_larger_size`). If several processes train together, the chief's costs count.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from shlex import quote
from statistics import mean
from typing import Any

import keras
import tensorflow as tf

from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.errors import DataError, NotFoundError
from nmt_cli.files import count_cores
from nmt_cli.model.seq2seq import Seq2Seq
from nmt_cli.records import build
from nmt_cli.runtime.model_directory import STAGED
from nmt_cli.runtime.onnx_engine import OnnxEngine
from nmt_cli.text.profile import PROFILE_NAME
from nmt_cli.text.profile_building import merge_profiles
from nmt_cli.text.wrapping import format_count
from nmt_cli.training.checkpoints import (
    STATE,
    Checkpoints,
    assign_variables,
    list_interrupted,
    read_arrays,
    write_arrays,
)
from nmt_cli.training.data.batches import (
    EarlierBatches,
    Replayed,
    TrainingBatches,
    choose_batch_size,
    read_vocabularies,
)
from nmt_cli.training.deadline import Deadline, parse_duration
from nmt_cli.training.defaults import choose_first_size, choose_larger_size, fit_to_corpus, is_size_open
from nmt_cli.training.distributed import SingleProcess, count_parts, describe_devices, make_cluster, make_strategy
from nmt_cli.training.export.trace import export
from nmt_cli.training.loop import TrainingRun
from nmt_cli.training.options import TrainOptions
from nmt_cli.training.request import TrainRequest, check_same_run, read_started_facts
from nmt_cli.training.step import Handover, Schedule, TimedSchedule, Trainer, choose_policy, dtype_policy
from nmt_cli.training.transfer import (
    choose_network,
    has_same_subwords,
    load_initial_model,
    load_replayed_corpus,
    start_from_parent,
)
from nmt_cli.training.validation import Validator
from nmt_cli.training.watcher import ParentInfo, RunInfo, Watcher
from nmt_cli.translation.translator import LineTranslator

TIMED_UPDATES = 8  # after a first update, in which TensorFlow compiles
LARGEST_SHARE = 0.02  # of the whole time, that timing updates may take
# After the export, the graphs translate the development set three times (`quantise_and_check`), and once more with a
# beam, which takes four times as long (`fit_confidence`).
GREEDY_TRANSLATIONS = 7


def prepare_run(request: TrainRequest) -> TrainingRun:
    """Returns a run that is ready for its next update: a new run, or one restored from its checkpoint."""
    request = fit_to_corpus(request)
    corpus, role = request.corpus, request.role
    # 1. Choose the devices, before TensorFlow does anything else.
    strategy = make_strategy(request.training, role)
    check_corpus(corpus)
    # 2. Decide what is trained: the network, its settings, and the old pairs to replay.
    facts, network = read_started_facts(request.directory) if request.resume else None, request.network
    if facts is None or request.explicit is not None:  # of a checkpoint, all options come with the request
        network = choose_network(corpus, network, request.training, request.explicit_options)
    config = request.training.fit_to(network.architecture)
    is_open = is_size_open(request.explicit_options, config)
    request = replace(request, training=config, network=choose_first_size(network, facts) if is_open else network)
    replayed = load_replayed_corpus(corpus, config)
    replay = replayed.corpus.fingerprint if replayed else None
    # 3. Refuse a checkpoint of another run, and processes that disagree.
    check_checkpoint(request, replay, facts)
    warn_of_skipped_pairs(request.watcher, replayed)
    cluster = make_cluster(strategy, role)
    updates = None if facts is None else facts["updates"]
    cluster.require_same_facts({**request.identify(replay), "updates": updates})
    # 4. Build the network and its batches. With a deadline, the speed of a small network decides about its size.
    build = partial(build_run, facts=facts, replayed=replayed, strategy=strategy, cluster=cluster)
    deadline = open_deadline(request, cluster, updates)
    run = build(request)
    if deadline is not None:
        measure_pace(run, deadline)
        larger = choose_larger_size(network, request.network, run.batches.epoch_rows.pairs, deadline.updates_left)
        if is_open and facts is None and larger != request.network:
            run = build(replace(request, network=larger))
            measure_pace(run, deadline)
        start_clock(run, deadline)
    report_start(run, describe_devices(strategy, role), is_resumed=facts is not None)
    return run


def open_deadline(request: TrainRequest, cluster: SingleProcess, updates: int | None) -> Deadline | None:
    """Returns the deadline, if any, of a training run that has made `updates` so far.

    Raises TooShortError if loading TensorFlow alone took so long that no time is left.
    """
    deadline = request.deadline or Deadline.from_option(request.training.time)
    if deadline is None:
        return None
    deadline = cluster.share_deadline(deadline)
    deadline.expect_closing()
    deadline.require_update(request.training.time, updates)
    return deadline


def check_checkpoint(request: TrainRequest, replay: str | None, facts: dict[str, Any] | None) -> None:
    """Raises DataError or OptionError for a checkpoint of another run.

    Warns if there is none to resume from, naming those beside it, and if more epochs make a run that is like no other.
    """
    if facts is not None:
        check_same_run(facts["identity"], request, replay)
        epochs = request.training.epochs
        if request.training.time is None and epochs != facts["identity"]["training"].get("epochs"):
            schedule = f"the learning rate moves to the schedule of {epochs} epochs"
            request.watcher.warn(f"{schedule}; to compare models, train all for {epochs} epochs from the start")
    elif request.resume:
        others = [f"nmt train --model {quote(str(path))} --resume" for path in list_interrupted(request.directory)]
        beside = f"; to continue another training run: {others[0]}" if others else ""
        missing = f"there is no checkpoint in {request.directory}/"
        request.watcher.warn(f"{missing}; training starts from the beginning{beside}")


def warn_of_skipped_pairs(watcher: Watcher, replayed: Replayed | None) -> None:
    if replayed is not None and replayed.left_out:
        pairs = format_count(replayed.left_out, "old pair shares", "old pairs share")
        watcher.warn(f"{pairs} a sentence with the development or test set; no such pair is replayed")


def report_start(run: TrainingRun, devices: str, *, is_resumed: bool) -> None:
    """Reports the run to its watcher."""
    choice = None if is_resumed else run.request.choice
    policy = choose_policy(run.trainer.config.mixed_precision)
    run.request.watcher.report_start(describe_run(run, policy, devices, choice))
    if is_resumed:
        run.request.watcher.report_resume(run.checkpoints.records, run.progress.epoch, run.progress.meter.steps)


def check_corpus(corpus: PreparedCorpus) -> None:
    """Raises DataError if a split has no pairs."""
    for split in ("train", "dev"):
        if not len(corpus.load_encoded(split).source):
            raise DataError(f"{corpus.directory}/ has no {split} pairs", hint="prepare a corpus with more pairs")


def build_run(
    request: TrainRequest,
    facts: dict[str, Any] | None = None,
    replayed: Replayed | None = None,
    strategy: tf.distribute.Strategy | None = None,
    cluster: SingleProcess | None = None,
) -> TrainingRun:
    """Returns a new run, or one restored from the checkpoint in the request's directory that has these `facts`."""
    corpus, config = request.corpus, request.training
    keras.utils.set_random_seed(config.seed)
    vocabularies = read_vocabularies(corpus)
    batches = TrainingBatches(corpus, config, replayed, None if facts is None else plan_batches(facts, config))
    strategy = strategy or tf.distribute.get_strategy()
    parts = count_parts(config, strategy.num_replicas_in_sync)
    with strategy.scope():
        with dtype_policy(choose_policy(config.mixed_precision)):
            network = Seq2Seq(request.network, vocabularies)
        parent = start_weights(network, corpus, config) if facts is None else restore_parent(facts)
        schedule = make_schedule(config, batches, None if facts is None else plan_handover(facts, config, batches))
        trainer = Trainer(network, schedule, config, parts)
    twin = Seq2Seq(request.network, vocabularies)  # float32, whatever the policy: this is the network that is exported
    run = TrainingRun(
        request=request,
        trainer=trainer,
        schedule=schedule,
        batches=batches,
        validator=Validator(
            twin, corpus, size=batches.size, copies_placeholders=config.placeholders > 0, threads=parts
        ),
        checkpoints=Checkpoints(request.directory, config.metric, config.average),
        replay=replayed.corpus.fingerprint if replayed else None,
        profile=make_profile(corpus, config),
        parent=parent,
        cluster=cluster or SingleProcess(),
    )
    if facts is not None:
        run.restore()
        run.progress.share = rescale_share(facts, config)
    return run


def make_schedule(config: TrainOptions, batches: TrainingBatches, handover: Handover | None) -> Schedule:
    """Returns the learning rate schedule of a timed run, or of one with a fixed number of epochs."""
    if config.time:
        return TimedSchedule(config, handover)
    steps = None if handover is None else handover.steps
    return Schedule(config, steps or batches.updates * config.epochs, handover)


def make_profile(corpus: PreparedCorpus, config: TrainOptions) -> str:
    """Returns the training text's profile, merged with that of the --init-from model if it has the same subwords."""
    try:
        model = load_initial_model(config)
    except NotFoundError:  # a training run that is resumed does not need the model any more
        return corpus.profile
    if model is None or PROFILE_NAME not in model.card.checksums or not has_same_subwords(corpus, model):
        return corpus.profile
    return merge_profiles((model.directory / PROFILE_NAME).read_bytes(), corpus.profile.encode())


def start_weights(network: Seq2Seq, corpus: PreparedCorpus, config: TrainOptions) -> ParentInfo | None:
    """Gives the network the weights of the --init-from model; returns the facts about it, or None."""
    model = load_initial_model(config)
    return None if model is None else start_from_parent(network, corpus, model, config.seed)


def restore_parent(facts: dict[str, Any]) -> ParentInfo | None:
    """Returns the checkpoint's information about the model that its training started from."""
    saved = facts.get("parent")
    return None if saved is None else build(ParentInfo, saved)


def start_clock(run: TrainingRun, deadline: Deadline) -> None:
    """Measures a run's closing steps and starts its clock; a resumed run's clock continues from its checkpoint.

    Raises TooShortError if the time is too short for a single update.
    """
    run.deadline = deadline
    measure_closing(run, deadline)
    deadline.require_update(run.trainer.config.time, run.updates)
    if run.updates:
        deadline.start(elapsed=run.progress.elapsed + deadline.elapsed, share=run.progress.share)
    else:
        deadline.start()


def describe_run(run: TrainingRun, policy: str, devices: str, choice: str | None) -> RunInfo:
    """Returns the information shown about a run before its first update."""
    return RunInfo(
        weights=run.trainer.network.count_params(),
        pairs=run.batches.epoch_rows.pairs,
        steps_per_epoch=run.batches.updates,
        epochs=run.epochs,
        precision=policy,
        devices=devices,
        network=run.trainer.network.config,
        parent=run.parent,
        choice=choice,
        is_timed=run.deadline is not None,
    )


def measure_pace(run: TrainingRun, deadline: Deadline) -> None:
    """Measures the cost of an update, and leaves the run in its previous state.

    That state is written to a file, because a copy in memory would take up space just when the export needs most of it.
    The checkpoint of an earlier training run stays until it is certain that this run begins.
    """
    run.request.directory.mkdir(parents=True, exist_ok=True)  # of a helper model, nobody has made it yet
    with tempfile.TemporaryDirectory(prefix=STAGED, dir=run.request.directory) as folder:
        path = Path(folder) / STATE
        write_arrays(path, ((f"{number:04}", variable.value) for number, variable in enumerate(run.trainer.state)))
        deadline.update_seconds = measure_update(run, LARGEST_SHARE * deadline.seconds)
        arrays = read_arrays(path)
        assign_variables(run.trainer.state, [arrays[name] for name in sorted(arrays)], path)
    deadline.require_update(run.trainer.config.time, run.updates)


def measure_closing(run: TrainingRun, deadline: Deadline) -> None:
    """Measures the costs of a validation and of what follows the last validation. Raises TooShortError."""
    validator, keras = run.validator, run.validator.translator
    # 1. Time a validation, on a part of the development set.
    deadline.validation_seconds = run.cluster.share_number(validator.estimate_seconds(run.trainer))
    deadline.require_update(run.trainer.config.time, run.updates)
    with tempfile.TemporaryDirectory() as folder:
        # 2. Time an export, into a directory that is then removed.
        seconds = measure_seconds(lambda: export(validator.network, Path(folder)))
        deadline.export_seconds = run.cluster.share_number(seconds)
        deadline.require_update(run.trainer.config.time, run.updates)
        # 3. Time the graphs, on the same part.
        engine = OnnxEngine(Path(folder))
        graphs = LineTranslator(
            engine, keras.source, keras.target, copies_placeholders=keras.copies_placeholders, threads=count_cores()
        )
        share = run.cluster.share_number(validator.time_sample(graphs)) / deadline.validation_seconds
    averaged = 1 if run.trainer.config.average > 1 else 0  # averaged weights are validated once more
    deadline.validations = 1 + averaged + GREEDY_TRANSLATIONS * share


def measure_update(run: TrainingRun, limit: float) -> float:
    """Returns the mean seconds of a few updates, on the first batches of the first epoch, which are in random order.

    Stops once they have taken more than `limit` seconds.
    """
    first, *others = islice(run.batches.make_updates(1), TIMED_UPDATES + 1)
    run.trainer.update(first)  # TensorFlow compiles
    seconds: list[float] = []
    for batches in others or [first]:
        seconds.append(run.cluster.share_number(measure_seconds(partial(run.trainer.update, batches))))
        if sum(seconds) > limit:
            break
    return mean(seconds)


def measure_seconds(work: Callable[[], object]) -> float:
    """Calls `work` and returns the seconds it took."""
    started_at = time.monotonic()
    work()
    return time.monotonic() - started_at


# Plans of a resumed run, which may become longer, get another time limit, and use other batches from its next epoch on.


def plan_batches(facts: dict[str, Any], config: TrainOptions) -> EarlierBatches | None:
    """Returns the batch size with which the checkpoint's epoch continues, if that of `config` differs."""
    progress, training = facts["progress"], facts["identity"]["training"]
    saved = progress.get("earlier_batches")
    if saved is not None and saved["epoch"] >= progress["epoch"]:
        return EarlierBatches(**saved)
    size = {name: training.get(name) for name in ("batch", "batch_tokens")}
    is_changed = any(value != getattr(config, name) for name, value in size.items())
    return EarlierBatches(progress["epoch"], **size) if is_changed and progress["meter"]["steps"] else None


def plan_handover(facts: dict[str, Any], config: TrainOptions, batches: TrainingBatches) -> Handover | None:
    """Returns where the schedule of a run whose plans changed takes over from the checkpoint's schedule.

    If the plans are unchanged, returns the checkpoint's own handover, if any.
    """
    saved = facts["progress"]["handover"]
    handover = None if saved is None else Handover(**saved)
    before = restore_plans(facts, config)
    if before == config:
        return handover
    if config.time is not None:
        return hand_over_time(facts, before, config, handover)
    # 1. Count the updates of the run as it was planned, and as it is planned now.
    before_updates = before.epochs * batches.count_updates_of(before)
    progress, done = facts["progress"], facts["updates"]
    left = batches.count_updates(progress["epoch"]) - progress["meter"]["steps"]
    after_updates = done + max(0, left) + max(0, config.epochs - progress["epoch"]) * batches.updates
    # 2. Continue from the rate that the former plan has now.
    former = Schedule(before, before_updates if handover is None else handover.steps or before_updates, handover)
    has_changed_batches = batches.size != choose_batch_size(before) or (handover is not None and handover.steps)
    steps = after_updates if has_changed_batches else None
    return Handover(step=done, rate=float(former.compute_rate(done)), steps=steps)


def restore_plans(facts: dict[str, Any], config: TrainOptions) -> TrainOptions:
    """Returns `config` with the length and the batch size that the run had in the checkpoint."""
    training = facts["identity"]["training"]
    names = [name for name in ("epochs", "time", "batch", "batch_tokens") if name in training]
    return replace(config, **{name: training[name] for name in names})


def hand_over_time(
    facts: dict[str, Any], before: TrainOptions, config: TrainOptions, handover: Handover | None
) -> Handover | None:
    """Returns the handover of a run whose --time changed; the existing handover if the time is the same."""
    if before.time == config.time:
        return handover
    former = TimedSchedule(before, handover)
    former.set_elapsed_share(facts["progress"]["share"])
    step = round(rescale_share(facts, config) * TimedSchedule.TICKS)
    return Handover(step=step, rate=float(former.compute_rate(0)))


def rescale_share(facts: dict[str, Any], config: TrainOptions) -> float:
    """Returns the share of a --time run that has passed, rescaled if its time limit changed."""
    share, before = float(facts["progress"]["share"]), facts["identity"]["training"].get("time")
    if config.time is None or before in (None, config.time):
        return share
    return min(1.0, share * parse_duration(before) / parse_duration(config.time))
