"""Measures a network on the development set: teacher-forced loss and accuracy, BLEU and chrF of greedy translations."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise

import numpy as np
import tensorflow as tf

from nmt_cli.arrays.rows import BatchSize, find_batch_edges
from nmt_cli.arrays.types import FloatArray
from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.evaluation.config import ScoreOptions
from nmt_cli.evaluation.metrics.sacrebleu_metrics import (
    choose_for_text,
    compute_bleu,
    compute_chance_chrf,
    compute_chrf,
)
from nmt_cli.evaluation.report import describe_failures
from nmt_cli.model.seq2seq import Seq2Seq
from nmt_cli.search.config import SearchOptions
from nmt_cli.training.data.batches import Batch, make_batch
from nmt_cli.training.export.keras_engine import KerasEngine, make_source_spec
from nmt_cli.training.step import IDS, Trainer, compute_token_loss
from nmt_cli.training.watcher import Validation
from nmt_cli.translation.config import TranslateOptions
from nmt_cli.translation.lines import cut_texts, lay_out_lines
from nmt_cli.translation.translator import LineTranslator

GREEDY = SearchOptions(beam_size=1, scored=False)
TIMED_SENTENCES = 128
SAMPLE_WORDS = 8  # the sample is the sentence whose length is closest to this


class Validator:
    """Measures a network on the development set of a corpus.

    `network` is a float32 twin of the trained network, so that weights are measured as exported. `threads` is the
    number of batches measured in parallel.
    """

    def __init__(
        self,
        network: Seq2Seq,
        corpus: PreparedCorpus,
        *,
        size: BatchSize,
        copies_placeholders: bool = True,
        threads: int = 1,
    ) -> None:
        sentences = corpus.read_references("dev")
        self.network = network
        self.sources = [sentence.source for sentence in sentences]
        self.tags = [sentence.tags for sentence in sentences]
        self.references = [sentence.references for sentence in sentences]
        self.windows = cut_texts(corpus.read_text_sizes("dev"), self.sources, self.tags)  # read in context, if any
        self.scoring = choose_scoring(corpus, self.references)
        self.chance_chrf = compute_chance_chrf(self.references, self.scoring)
        self.batches = make_sorted_batches(corpus, size)
        self.translator = LineTranslator(
            KerasEngine(network),
            corpus.source,
            corpus.target_tokenizer,
            copies_placeholders=copies_placeholders,
            threads=threads,
        )
        self.compiled_sums = tf.function(
            self.sum_losses, input_signature=[make_source_spec(network), IDS, IDS], autograph=False
        )
        self.sample = min(range(len(sentences)), key=lambda row: abs(len(self.sources[row].split()) - SAMPLE_WORDS))

    def validate(self, trainer: Trainer) -> Validation:
        """Measures the weights of the trained network, or their moving averages if there are any."""
        copy_weights(trainer, self.network)
        return self.measure()

    def measure(self) -> Validation:
        """Measures the weights of `network`."""
        # 1. Teacher-forced: sum up the loss and the correct tokens of all batches.
        with ThreadPoolExecutor(self.translator.network.threads) as pool:
            nats, correct, tokens = np.sum(list(pool.map(self.sum_batch, self.batches)), axis=0)
        # 2. Free-running: translate all sources, and score the translations.
        lines = lay_out_lines(self.sources, self.tags, self.windows)
        translations = self.translator.translate(lines, TranslateOptions(GREEDY))
        hypotheses = [translation.text for translation in translations]
        bleu, chrf = (compute(hypotheses, self.references, self.scoring) for compute in (compute_bleu, compute_chrf))
        return Validation(
            loss=float(nats / tokens),
            accuracy=float(100 * correct / tokens),
            bleu=bleu.value,
            chrf=chrf.value,
            bleu_signature=bleu.signature,
            chrf_signature=chrf.signature,
            sample_source=self.sources[self.sample],
            sample_hypothesis=hypotheses[self.sample],
            distinct_share=measure_distinct_share(self.sources, hypotheses),
            chance_chrf=self.chance_chrf,
            failures=describe_failures(translations),
        )

    def estimate_seconds(self, trainer: Trainer) -> float:
        """Estimates how many seconds a validation takes."""
        copy_weights(trainer, self.network)
        self.sum_batch(self.batches[0])  # TensorFlow compiles
        return self.time_sample(self.translator)

    def time_sample(self, translator: LineTranslator) -> float:
        """Estimates how many seconds a translator needs for the development set, by timing a part of it.

        An untrained network never predicts the end of a sentence, so its output is limited to the mean number of steps
        that the references take in batches of similar length.
        """
        spread = range(0, len(self.sources), max(1, len(self.sources) // TIMED_SENTENCES))
        sources = [self.sources[row] for row in spread][:TIMED_SENTENCES]
        tokens = sum(batch.target.size for batch in self.batches)  # with padding
        search = TranslateOptions(replace(GREEDY, max_length=max(1, round(tokens / len(self.sources)))))
        translator.translate(sources[:1], search)  # TensorFlow compiles
        started_at = time.monotonic()
        translator.translate(sources, search)
        return (time.monotonic() - started_at) * len(self.sources) / len(sources)

    def sum_batch(self, batch: Batch) -> FloatArray:
        """Returns the nats, the correct tokens and all tokens of a batch (3,)."""
        return np.asarray(self.compiled_sums(batch.source, batch.previous, batch.target))

    def sum_losses(self, source: tf.Tensor, previous: tf.Tensor, target: tf.Tensor) -> tf.Tensor:
        """Returns the nats, the correct tokens and all tokens of a batch, as one tensor (3,)."""
        loss = compute_token_loss(self.network(source, previous, training=False), tf.transpose(target))
        return tf.stack([loss.nats, loss.correct, loss.tokens])


def choose_scoring(corpus: PreparedCorpus, references: Sequence[Sequence[str]]) -> ScoreOptions:
    """Returns the scoring of the development set: cased if the model is, with words split as in the target language."""
    scoring = ScoreOptions(lowercase=corpus.target_tokenizer.settings.lowercase)
    return choose_for_text(scoring, corpus.target_language, references)[0]


def measure_distinct_share(sources: Sequence[str], hypotheses: Sequence[str]) -> float:
    """Returns the ratio of distinct translations to distinct sources, each less one; 1 for a single source."""
    different = len(set(sources)) - 1
    return min(1.0, (len(set(hypotheses)) - 1) / different) if different else 1.0


def copy_weights(trainer: Trainer, target: Seq2Seq) -> None:
    """Copies the trained weights, or their moving averages if there are any, to another network."""
    for old, new in zip(target.trainable_variables, trainer.averages or trainer.variables, strict=True):
        old.assign(np.asarray(new.value))


def make_sorted_batches(corpus: PreparedCorpus, size: BatchSize) -> list[Batch]:
    """Returns the batches of the development set, sorted by length so that there is little padding."""
    split = corpus.load_encoded("dev")
    target_lengths = split.target.lengths
    source_lengths = split.source.measure_rows(np.arange(len(split.source)), target_lengths)
    widths = 1 + np.maximum(source_lengths, target_lengths)
    order = np.lexsort((target_lengths, widths))
    edges = find_batch_edges(widths[order], size)
    return [make_batch(split, order[start:end]) for start, end in pairwise(edges)]
