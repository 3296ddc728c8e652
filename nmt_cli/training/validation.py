"""What the development set says: teacher-forced loss and accuracy, and scores of free-running greedy translation."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import tensorflow as tf

from nmt_cli.arrays.batching import BatchSize, find_batch_edges
from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.evaluation.config import ScoreConfig
from nmt_cli.evaluation.metrics.bleu import compute_bleu
from nmt_cli.evaluation.metrics.chrf import compute_chrf
from nmt_cli.model.seq2seq import Seq2Seq
from nmt_cli.search.config import SearchConfig
from nmt_cli.training.data.batches import Batch, batch_of
from nmt_cli.training.keras_engine import KerasEngine, source_spec
from nmt_cli.training.loss import token_loss
from nmt_cli.training.step import IDS, Trainer
from nmt_cli.training.watcher import Validation
from nmt_cli.translation.translator import Translator

GREEDY = SearchConfig(beam_size=1, scored=False)
SAMPLE_WORDS = 8  # the sample is the sentence whose length is nearest to this


class Validator:
    """Measures a network on the development set of a corpus.

    `network` is a float32 twin of the one that is trained: what is measured is what will be exported. So many
    `threads` measure a batch each.
    """

    def __init__(
        self, network: Seq2Seq, corpus: PreparedCorpus, *, size: BatchSize, carries: bool = True, threads: int = 1
    ) -> None:
        sentences = corpus.read_references("dev")
        self.network = network
        self.sources = [sentence.source for sentence in sentences]
        self.references = [sentence.references for sentence in sentences]
        self.scoring = ScoreConfig(lowercase=corpus.target_tokenizer.settings.lowercase)  # as it can write
        self.batches = length_sorted_batches(corpus, size)
        self.translator = Translator(
            KerasEngine(network), corpus.source, corpus.target_tokenizer, carries=carries, threads=threads
        )
        self.sums = tf.function(self.sums_of, input_signature=[source_spec(network), IDS, IDS], autograph=False)
        self.sample = min(range(len(sentences)), key=lambda row: abs(len(self.sources[row].split()) - SAMPLE_WORDS))

    def __call__(self, trainer: Trainer) -> Validation:
        """Measures the weights of the network that is trained, or their moving averages where there are some."""
        copy_weights(trainer, self.network)
        return self.measure()

    def measure(self) -> Validation:
        """Measures the weights that `network` has."""
        with ThreadPoolExecutor(self.translator.batch_search.threads) as pool:
            sums = pool.map(
                lambda batch: np.asarray(self.sums(batch.source, batch.previous, batch.target)), self.batches
            )
            nats, correct, tokens = np.sum(list(sums), axis=0)
        hypotheses = [translation.text for translation in self.translator.translate(self.sources, GREEDY)]
        bleu_score, chrf_score = (
            batch(hypotheses, self.references, self.scoring) for batch in (compute_bleu, compute_chrf)
        )
        return Validation(
            loss=float(nats / tokens),
            accuracy=float(100 * correct / tokens),
            bleu=bleu_score.value,
            chrf=chrf_score.value,
            bleu_signature=bleu_score.signature,
            chrf_signature=chrf_score.signature,
            sample_source=self.sources[self.sample],
            sample_hypothesis=hypotheses[self.sample],
        )

    def sums_of(self, source: tf.Tensor, previous: tf.Tensor, target: tf.Tensor) -> tf.Tensor:
        """(3,): nats, correct tokens and tokens of a batch."""
        loss = token_loss(self.network(source, previous, training=False), tf.transpose(target))
        return tf.stack([loss.nats, loss.correct, loss.tokens])


def copy_weights(trainer: Trainer, target: Seq2Seq) -> None:
    for old, new in zip(target.trainable_variables, trainer.averages or trainer.variables, strict=True):
        old.assign(np.asarray(new.value))


def length_sorted_batches(corpus: PreparedCorpus, size: BatchSize) -> list[Batch]:
    split = corpus.load_encoded("dev")
    target = split.target.lengths
    widths = 1 + (target if corpus.has_pictures else np.maximum(split.source.lengths, target))
    order = np.lexsort((target, widths))
    edges = find_batch_edges(widths[order], size)
    return [batch_of(split, order[start:end]) for start, end in pairwise(edges)]
