"""`train` with synthetic pairs: helper models, their translations, a mixture, and the model itself.

    nmt train --synthetic back     # 5,000 pairs, and 20,000 sentences of the target language
    stage 1 of 3                   a reverse model of the pairs, in model/stages/reverse
    stage 2 of 3                   its translations: 19,400 synthetic pairs to learn, each tagged
    stage 3 of 3                   the model, trained on two copies of each pair and all synthetic ones

1. Each helper model is trained: the reverse model reads targets and writes sources, the forward model vice versa.
2. Each task has a helper model translate text, and selects the pairs that may be learned.
3. Real and synthetic pairs are mixed.
4. The model is trained on the mixture.

Every stage can be interrupted and resumed. If several processes train together, the chief alone does all stages but the
last. Sources: Sennrich, Haddow and Birch (2016) for back-translation; Nguyen et al. (2020), "Data Diversification";
Caswell, Chelba and Grangier (2019) for the tag; Kim and Rush (2016), "Sequence-Level Knowledge Distillation", for
teaching greedy search what a beam finds. Prints nothing.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np

from nmt_cli.corpus.dataset import MixedCorpus, PreparedCorpus, SyntheticPair, reverse_corpus, write_mixture
from nmt_cli.errors import NotFoundError, OptionError
from nmt_cli.files import write_text
from nmt_cli.jobs.journal import FinishedBlock
from nmt_cli.records import parse_json
from nmt_cli.search.config import SamplingOptions, SearchOptions
from nmt_cli.text.wrapping import format_count
from nmt_cli.training import request as requests
from nmt_cli.training.checkpoints import locate_state
from nmt_cli.training.data.synthetic_pairs import (
    FEWEST_FINAL_EPOCHS,
    HELPERS_TIME,
    LEAST_CONFIDENT,
    MIXTURE,
    STAGES,
    Direction,
    HeldOutSentences,
    HelperWork,
    Interrupted,
    Plan,
    Selection,
    Stages,
    TaggedBlock,
    TaggedText,
    Task,
    WordRatio,
    count_repeats,
    cut_block,
    make_plan,
    open_translations,
    read_real_pairs,
    read_text,
    read_translations,
    require_room,
    select_pairs,
)
from nmt_cli.training.deadline import SEVERAL, Deadline, TooShortError, parse_duration
from nmt_cli.training.defaults import count_epochs
from nmt_cli.training.distributed import make_cluster, make_strategy
from nmt_cli.training.request import SINGLE_PROCESS, TrainRequest, read_started_facts
from nmt_cli.training.run import assist, explain_errors, train
from nmt_cli.training.watcher import TrainReport
from nmt_cli.translation.config import TranslateOptions
from nmt_cli.translation.request import TranslationRequest
from nmt_cli.workers.choice import ExecutorOptions, open_executor


def assist_with_synthetic(request: TrainRequest, model: Path) -> None:
    """Waits until the chief has mixed the pairs in its `model` directory, and takes part in the last stage."""
    with explain_errors(request.role):
        cluster = make_cluster(make_strategy(request.training, request.role), request.role)
        cluster.ask_chief(False)
    mixture = model / STAGES / MIXTURE
    if not mixture.is_dir():
        raise NotFoundError(f"{mixture}/ does not exist", hint="all machines need access to the model directory")
    assist(fit_request(request, MixedCorpus.load(mixture)))


def fit_request(request: TrainRequest, corpus: PreparedCorpus) -> TrainRequest:
    """Returns the request for the model itself, with as many epochs as its mixture needs unless these are set."""
    training, explicit = request.training, request.explicit
    if explicit is not None and "epochs" not in explicit:
        epochs = count_epochs(len(corpus.load_encoded("train").source), fewest=FEWEST_FINAL_EPOCHS)
        training, explicit = replace(training, epochs=epochs), {*explicit, "epochs"}
    return replace(request, corpus=corpus, training=training, explicit=explicit)


CHANGEABLE = {*requests.CHANGEABLE, "epochs", "time"}  # options that may differ when stages are resumed
BLOCK = 4_096  # sentences between two looks at whether to stop
SEARCHES = {
    "greedy": SearchOptions(beam_size=1),
    "beam": SearchOptions(beam_size=5),
    "sample": SearchOptions(sampling=SamplingOptions(sample=True)),
}


def train_with_synthetic(request: TrainRequest) -> TrainReport:
    """Trains helper models, translates with them, and trains the model on real and synthetic pairs.

    Raises Interrupted if the watcher stops it before the last stage, and the errors of `train`.
    """
    plan = make_plan(request.corpus, request.training)
    refuse_lost_stages(request)
    cluster = make_cluster(make_strategy(request.training, request.role), request.role)
    run = SyntheticRun.open(request, plan)
    # 1. Train the helper models.
    for direction in plan.directions:
        run.train_helper(direction)
    # 2. Translate, and select the pairs to learn.
    selections = [run.translate(task) for task in plan.tasks]
    # 3. Mix real and synthetic pairs.
    corpus = run.mix(selections)
    # 4. Train the model, for which the other processes have waited.
    cluster.ask_chief(True)
    report = run.train_model(corpus)
    if not request.keep_stages and not request.watcher.should_stop():
        run.stages.remove()
    return report


@dataclass
class SyntheticRun:
    """A training run with synthetic pairs, in progress."""

    request: TrainRequest
    plan: Plan
    stages: Stages
    number: int = 0  # of the current stage, from 1

    @classmethod
    def open(cls, request: TrainRequest, plan: Plan) -> SyntheticRun:
        """Opens the stages; a resumed run continues with them."""
        network, training = request.network.to_mapping(), asdict(request.training)
        identity = {
            "data": request.corpus.fingerprint,
            "network": network,
            "training": {name: value for name, value in training.items() if name not in CHANGEABLE},
        }
        explicit = None if request.explicit is None else sorted(request.explicit)
        options = {"network": network, "training": training, "explicit": explicit, "typed": request.typed}
        if not request.resume:  # a checkpoint of the model that is replaced is not one of this training run
            locate_state(request.directory).unlink(missing_ok=True)
        # The checkpoint of the last stage has settings of its own, which training compares.
        is_last = request.resume and read_started_facts(request.directory) is not None
        compared = {"data"} if is_last else set(identity)
        stages = Stages.open(request.directory, identity, resume=request.resume, compared=compared, options=options)
        open_tasks = [task for task in plan.tasks if not stages.is_done(task.name)]
        sentences = sum(len(read_text(request.corpus, task)) for task in open_tasks)
        models = sum(not stages.is_done(direction) for direction in plan.directions)
        require_room(request.directory, sentences, models)
        return cls(request, plan, stages)

    def begin(self, name: str) -> None:
        """Counts and reports the next stage. Raises Interrupted if the watcher wants to stop."""
        self.number += 1
        if self.request.watcher.should_stop():
            raise Interrupted(name, self.number, self.plan.stages)
        self.request.watcher.report_stage(name, self.number, self.plan.stages)

    def orient_corpus(self, direction: Direction) -> PreparedCorpus:
        """Returns the corpus in the direction of a helper model."""
        return reverse_corpus(self.request.corpus) if direction == "reverse" else self.request.corpus

    def train_helper(self, direction: Direction) -> None:
        """Trains a helper model, or continues from its checkpoint, unless it is done."""
        corpus = self.orient_corpus(direction)
        name = f"{corpus.source_language} -> {corpus.target_language} helper model"
        self.begin(name)
        if self.stages.is_done(direction):
            return
        config, share = replace(self.request.training, synthetic="none"), 1.0
        if direction == "reverse":  # the model of --init-from translates the other way
            config = replace(config, init_from=None)
        if config.time is not None:
            helpers = len(self.plan.directions)
            share = HELPERS_TIME[helpers] / helpers
            config = replace(config, time=f"{max(1, round(parse_duration(config.time) * share))}s")
        with self.stages.run(direction) as directory:
            resume = locate_state(directory).is_file()
            request = replace(
                self.request,
                corpus=corpus,
                directory=directory,
                training=config,
                resume=resume,
                deadline=None,
                role=SINGLE_PROCESS,
            )
            try:
                train(request)
            except TooShortError as error:
                whole = self.request.training.time
                message = f"--time {whole} is too short: it leaves only {config.time} for the {name}"
                if not self.stages.seconds:  # nothing is there to go on with
                    self.stages.remove()
                resumes = bool(self.stages.seconds)
                raise TooShortError(message, error.least, SEVERAL * error.least / share, resumes=resumes) from error
            except KeyboardInterrupt:  # there was nothing to keep yet
                if not self.request.watcher.should_stop():
                    raise
            if self.request.watcher.should_stop():
                raise Interrupted(name, self.number, self.plan.stages)

    def translate(self, task: Task) -> Selection:
        """Has a helper model translate the text of a task, and selects the pairs to learn."""
        texts = read_text(self.request.corpus, task)
        self.begin(f"{task.name}: {format_count(len(texts), 'sentence')}")
        if not self.stages.is_done(task.name):
            with self.stages.run(task.name) as stem:
                self.translate_texts(task, texts, stem.with_suffix(".journal"))
        translated = read_translations((self.stages.directory / task.name).with_suffix(".journal"))
        written, read = [translation for _, translation in translated], [text.text for text in texts]
        sides = (written, read) if task.direction == "reverse" else (read, written)
        rows = zip(*sides, (text.tags for text in texts), strict=True)
        pairs = [SyntheticPair(source, target, task.is_tagged, tags) for source, target, tags in rows]
        selection = select_pairs(
            pairs,
            [confidence for confidence, _ in translated],
            HeldOutSentences.from_corpus(self.request.corpus),
            WordRatio.from_corpus(self.request.corpus),
            self.find_least_confidence(task),
            "source" if task.direction == "reverse" else "target",
            read_real_pairs(self.request.corpus, task),
        )
        self.request.watcher.report_selection(selection.summary)
        return selection

    def choose_search(self, task: Task) -> SearchOptions:
        """Returns how the text of a task is translated."""
        search = SEARCHES[task.search or self.request.training.synthetic_search]
        return replace(search, sampling=replace(search.sampling, seed=self.request.training.seed))

    def make_work(self, task: Task) -> HelperWork:
        """Returns the work for a task's helper model."""
        options = TranslateOptions(self.choose_search(task))
        return HelperWork(TranslationRequest(self.stages.directory / task.direction, options=options))

    def translate_texts(self, task: Task, texts: Sequence[TaggedText], path: Path) -> None:
        """Appends the translations of the remaining texts to the journal, block by block."""
        watcher, processes = self.request.watcher, ExecutorOptions(ray=self.request.ray)
        with open_translations(path) as journal, open_executor(self.make_work(task), processes) as executor:
            started, first, waiting = monotonic(), journal.results, iter(texts[journal.results :])
            blocks = (cut_block(task, texts, start, BLOCK) for start in range(first, len(texts), BLOCK))
            for results in executor.map_blocks(blocks):
                journal.append(FinishedBlock.write([next(waiting).text for _ in results], list(results)))
                rate, left = (monotonic() - started) / (journal.results - first), len(texts) - journal.results
                watcher.report_translations(journal.results, len(texts), rate * left)
                if watcher.should_stop() and left:
                    raise Interrupted(path.stem, self.number, self.plan.stages)

    def find_least_confidence(self, task: Task) -> float:
        """Returns the confidence that one in a hundred of a helper model's development translations falls below."""
        path = self.stages.directory / f"{task.direction}.confidence.json"
        if not path.is_file():
            corpus = self.orient_corpus(task.direction)
            sources, tags = [pair.source for pair in corpus.read_pairs("dev")], corpus.read_tags("dev")
            results = self.make_work(task).start()(TaggedBlock(0, sources, tags))
            confidences = [confidence for confidence, _ in results]
            measured = [confidence for confidence in confidences if math.isfinite(confidence)]
            least = float(np.quantile(measured, LEAST_CONFIDENT)) if measured else -math.inf
            write_text(path, json.dumps(least if math.isfinite(least) else None))
        value = parse_json(path.read_text(encoding="utf-8"))
        return -math.inf if value is None else float(value)

    def mix(self, selections: Sequence[Selection]) -> PreparedCorpus:
        """Writes the mixture and returns it."""
        pairs = list(dict.fromkeys(pair for selection in selections for pair in selection.pairs))
        real = self.request.corpus.manifest.counts.splits["train"]
        repeats = count_repeats(real, len(pairs))
        directory = self.stages.directory / MIXTURE
        counts: dict[str, Any] = {
            "mode": self.plan.mode,
            "search": self.plan.tasks[0].search or self.request.training.synthetic_search,
            "real_pairs": real,
            "repeats": repeats,
            "pairs": len(pairs),
            "tasks": {
                task.name: {"pairs": len(selection.pairs), "dropped": dict(Counter(selection.dropped))}
                for task, selection in zip(self.plan.tasks, selections, strict=True)
            },
        }
        if not self.stages.is_done(MIXTURE):
            with self.stages.run(MIXTURE):
                write_mixture(self.request.corpus, pairs, counts, directory)
        return MixedCorpus.load(directory)

    def train_model(self, corpus: PreparedCorpus) -> TrainReport:
        """Trains the model itself on the mixture."""
        name = f"{corpus.source_language} -> {corpus.target_language} model"
        self.begin(name)
        try:
            return train(self.request_final(corpus))
        except TooShortError as error:
            learning = 1 - HELPERS_TIME[len(self.plan.directions)]
            whole = (SEVERAL * error.least + self.stages.total_seconds) / learning
            message = f"--time {self.request.training.time} is too short: the other stages left nothing for the {name}"
            raise TooShortError(message, error.least, whole, resumes=True) from error
        except KeyboardInterrupt:  # before its first update: what is to be kept is in the stages
            if not self.request.watcher.should_stop():
                raise
            raise Interrupted(name, self.number, self.plan.stages) from None

    def request_final(self, corpus: PreparedCorpus) -> TrainRequest:
        """Returns the request for the model itself, with the remaining time."""
        deadline = self.request.deadline
        if self.request.training.time is not None:
            seconds = parse_duration(self.request.training.time) - self.stages.total_seconds
            deadline = Deadline(max(seconds, 1.0))
        resume = self.request.resume and read_started_facts(self.request.directory) is not None
        return replace(fit_request(self.request, corpus), deadline=deadline, resume=resume)


def refuse_lost_stages(request: TrainRequest) -> None:
    """Raises OptionError if the last stage is to be resumed, but its synthetic pairs are gone."""
    lost = not (request.directory / STAGES).is_dir() and locate_state(request.directory).is_file()
    if request.resume and lost:
        raise OptionError(
            f"the synthetic pairs that {request.directory}/ was trained on no longer exist",
            hint="start over with --force; if you want to train longer later, add --keep-stages",
        )
