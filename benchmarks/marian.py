"""Speed of `nmt translate` beside Marian 1.12: the same pieces and sentences, equally long outputs, 8 bits, one core.

    python benchmarks/marian.py --model MODEL --data PREPARED --work DIR [--rounds 3]

Marian's networks have random weights: they cannot end a sentence, and write as many tokens per source token as MODEL.
They are a GRU of 256 and 512 units, a Transformer of width 256 with 3 + 3 layers, and the student of 6 + 2 layers with
SSRU. The shortlist is made of a lexicon of Brown et al. (1993), model 1. In turn, in one run; the start, which is the
time of one line, is subtracted. Seconds are the processors' own.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import tempfile
import venv
from collections.abc import Mapping, Sequence
from functools import partial
from operator import attrgetter
from pathlib import Path

import numpy as np
from bench import NMT, Cost, make_parser, measure_command, run_in_turn, write_lines
from sentencepiece import SentencePieceProcessor

from nmt_cli.arrays.types import END, FloatArray, IntArray
from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.corpus.manifest import SentencePair
from nmt_cli.runtime.model_directory import ModelDirectory

MARIAN = "pymarian==1.12.42"
TRANSFORMER = "--type transformer --dim-emb 256 --transformer-dim-ffn 1024 --transformer-ffn-activation relu".split()
NETWORKS = {
    "GRU": "--type s2s --dim-emb 256 --dim-rnn 512".split(),
    "Transformer": [*TRANSFORMER, *"--enc-depth 3 --dec-depth 3".split()],
    "student": [
        *TRANSFORMER,
        *"--enc-depth 6 --dec-depth 2 --transformer-decoder-autoreg rnn --dec-cell ssru".split(),
        *"--transformer-tied-layers 1 1".split(),
    ],
}
FLOAT = {"GRU"}  # which crashes in 8 bits
UNCHECKED = ("--no-check", "--no-repair")  # Marian checks nothing
OURS = ("nmt", "nmt with checks")
ONE_UPDATE = "--after 1u --disp-freq 1u --save-freq 1u --mini-batch 16 --maxi-batch 1 --overwrite --seed 1".split()
ONE_CORE = "--cpu-threads 1 --workspace 300".split()
DECODING = "--mini-batch 64 --maxi-batch 100 --maxi-batch-sort src --no-spm-decode --quiet --quiet-translation".split()
SHORTLIST = (100, 100)  # the most frequent pieces, and the likeliest of each source piece
TRAINED = 64  # pairs, for random weights
NEVER = -1e4  # the bias of the end of a sentence
STARTS = 3  # of which the least counts
ROUNDS = 4  # of expectation maximisation; later ones hardly change the best translation of a word
MOST_LINKS = 10_000_000  # that are learned from; each takes 80 bytes
PROCESSORS = attrgetter("processors")


class Marian:
    """Marian's networks with the subwords of a model of ours."""

    def __init__(self, environment: Path, work: Path, subwords: Sequence[Path]) -> None:
        if not (environment / "bin" / "pymarian").exists():
            venv.create(environment, with_pip=True)
            subprocess.run([environment / "bin" / "pip", "install", "--quiet", MARIAN], check=True)
        self.command = str(environment.absolute() / "bin" / "pymarian")
        self.work = work
        self.vocabularies = ["--vocabs", *map(str, subwords)]

    def find_network(self, name: str) -> Path:
        """Returns the path of a network as Marian decodes with it."""
        return self.work / f"{name}.bin"

    def make_network(self, name: str, pairs: Sequence[SentencePair]) -> None:
        """Makes a network with random weights that never ends a sentence, unless it exists."""
        if self.find_network(name).exists():
            return
        with tempfile.TemporaryDirectory() as folder:
            trained, endless = Path(folder, "model.npz"), Path(folder, "endless.npz")
            sides = [
                write_lines(Path(folder, "source"), [pair.source for pair in pairs]),
                write_lines(Path(folder, "target"), [pair.target for pair in pairs]),
            ]
            shape = [*NETWORKS[name], "--tied-embeddings", *ONE_UPDATE, *ONE_CORE, "--tempdir", folder]
            self.run("train", "--model", trained, "--train-sets", *sides, *self.vocabularies, *shape)
            weights = dict(np.load(trained))
            vocabulary = SentencePieceProcessor(model_file=self.vocabularies[-1]).vocab_size()
            (bias,) = (array for array in weights.values() if array.shape == (1, vocabulary))
            bias[0, END] = NEVER
            np.savez(endless, **weights)
            precision = "float32" if name in FLOAT else "intgemm8"
            self.run("convert", "-f", endless, "-t", self.find_network(name), "--gemm-type", precision)

    def run(self, *arguments: object) -> None:
        subprocess.run([self.command, *map(str, arguments)], check=True, capture_output=True)

    def make_decoder(self, name: str, beam: int, longest: float, shortlist: Path | None) -> list[str]:
        """Returns the command that writes `longest` tokens per source token, those of the longest of a batch."""
        limited = ["--shortlist", str(shortlist), *map(str, SHORTLIST), "0"] if shortlist else []
        network = ["--models", str(self.find_network(name)), *self.vocabularies, *limited]
        return self.make_command(network, beam, longest)

    def make_command(self, network: Sequence[str], beam: int, longest: float) -> list[str]:
        """Returns the command that decodes with a network, which options describe."""
        search = ["--beam-size", str(beam), "--max-length-factor", f"{longest:.3f}"]
        return [self.command, "decode", *network, *ONE_CORE, *DECODING, *search]


def write_shortlist(path: Path, subwords: Sequence[SentencePieceProcessor], pairs: Sequence[SentencePair]) -> Path:
    """Writes the probability of each target piece given a source piece: target, source and probability in a line."""
    source, target = subwords
    sides = source.encode([pair.source for pair in pairs]), target.encode([pair.target for pair in pairs])
    lengths = [np.array([*map(len, sentences)]) for sentences in sides]
    source_ids, target_ids = (np.concatenate([*map(np.array, sentences)]).astype(np.int64) for sentences in sides)
    source_positions, target_positions = link_all(*lengths)
    all_links = source_ids[source_positions] * target.vocab_size() + target_ids[target_positions]
    different, links = np.unique(all_links, return_inverse=True)
    conditions, outcomes = np.divmod(different, target.vocab_size())
    probabilities = estimate_probabilities(conditions, outcomes, links, target_ids, target_positions)
    rows = zip(outcomes.tolist(), conditions.tolist(), probabilities.tolist(), strict=True)
    return write_lines(path, (f"{target.id_to_piece(t)} {source.id_to_piece(s)} {p:.6f}" for t, s, p in rows))


def link_all(source_lengths: IntArray, target_lengths: IntArray) -> tuple[IntArray, IntArray]:
    """Links every word of a source with every word of its target; lengths are (P,).

    Returns the positions (L,) of both words of each link among the words of all sentences. Only the first pairs, with
    MOST_LINKS links at most, are linked.
    """
    counts = source_lengths * target_lengths  # (P,)
    counts = np.where(np.cumsum(counts) <= MOST_LINKS, counts, 0)
    pair = np.repeat(np.arange(len(counts)), counts)  # (L,)
    link = np.arange(len(pair)) - np.repeat(np.cumsum(counts) - counts, counts)  # (L,), within its pair
    starts = (np.cumsum(lengths) - lengths for lengths in (source_lengths, target_lengths))
    source_start, target_start = (start[pair] for start in starts)
    width = target_lengths[pair]
    return source_start + link // width, target_start + link % width


def estimate_probabilities(
    conditions: IntArray, outcomes: IntArray, links: IntArray, words: IntArray, positions: IntArray
) -> FloatArray:
    """Estimates the probability of each word of `outcomes` (K,) as the translation of that of `conditions` (K,).

    `links` (L,) is the index in K of each link, and `positions` (L,) that of the word in `words` (N,) it explains.
    """
    frequency = np.bincount(words) / len(words)
    by_empty_word = frequency[words]  # (N,)
    probabilities: FloatArray = frequency[outcomes]  # (K,)
    for _ in range(ROUNDS):
        # 1. Share each word among the links that may explain it, and the empty word.
        weights = probabilities[links]  # (L,)
        totals = by_empty_word + np.bincount(positions, weights, minlength=len(words))  # (N,)
        expected = np.bincount(links, weights / totals[positions])  # (K,)
        # 2. Normalise the expected counts of each condition.
        probabilities = expected / np.bincount(conditions, expected)[conditions]
    return probabilities


def make_commands(marian: Marian, model: Path, beam: int, longest: float) -> dict[str, Sequence[str]]:
    """Returns our commands, and those of Marian's networks with and without a shortlist."""
    commands: dict[str, Sequence[str]] = dict(
        zip(OURS, [make_ours(model, beam, *UNCHECKED), make_ours(model, beam)], strict=True)
    )
    for name in NETWORKS:
        commands[name] = marian.make_decoder(name, beam, longest, None)
        commands[f"{name}, shortlist"] = marian.make_decoder(name, beam, longest, marian.work / "lexicon")
    return commands


def make_ours(model: Path, beam: int, *options: str) -> list[str]:
    return [*NMT, "translate", "--model", str(model), "--beam-size", str(beam), "--quiet", *options]


def count_tokens(path: Path, target: SentencePieceProcessor | None = None) -> int:
    """Counts the tokens of a translation: of Marian's, which consist of pieces, or of ours, encoded again."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return sum(len(line.split()) for line in lines) if target is None else sum(len(target.encode(x)) + 1 for x in lines)


def print_rates(
    lines: int, tokens: Mapping[str, int], costs: Mapping[str, Sequence[Cost]], starts: Mapping[str, Cost]
) -> None:
    """Prints target tokens per second of a processor, by rounds how many times as many ours writes, and peak memory."""
    rates = {
        name: [tokens[name] / (cost.processors - starts[name].processors) for cost in runs]
        for name, runs in costs.items()
    }
    for name, values in rates.items():
        ratios = [our / their for our, their in zip(rates["nmt"], values, strict=True)]
        rounds = ", ".join(f"{ratio:.2f}" for ratio in ratios)
        print(
            f"  {name:22} {statistics.median(values):7,.0f} tokens/s   nmt is x{statistics.median(ratios):.2f}"
            f" (by rounds {rounds})   {lines * statistics.median(values) / tokens[name]:,.0f} lines/s"
            f"   {tokens[name]:,} tokens   start {starts[name].processors:.2f} s, {starts[name].megabytes:.0f} MB"
            f"   {max(cost.megabytes for cost in costs[name]):.0f} MB",
            flush=True,
        )


def main() -> None:
    parser = make_parser(__doc__, "model", "data", "work", "rounds", "sentences")
    parser.add_argument("--marian", type=Path, default=Path("marian"), help="virtual environment, made if missing")
    parser.add_argument("--beam", type=int, default=1, help="hypotheses kept at each step")
    parser.set_defaults(rounds=3, sentences=400)
    options = parser.parse_args()
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:1])  # of this process and all that it starts
    work: Path = options.work
    work.mkdir(parents=True, exist_ok=True)
    corpus = PreparedCorpus.load(options.data)
    pairs, lines = corpus.read_pairs("train"), [pair.source for pair in corpus.read_pairs("test")[: options.sentences]]
    card = ModelDirectory.load(options.model).card
    paths = [options.model / name for name in (card.source_tokenizer, card.target_tokenizer)]
    source, target = subwords = [SentencePieceProcessor(model_file=str(path)) for path in paths]
    marian = Marian(options.marian, work, paths)
    write_shortlist(work / "lexicon", subwords, pairs)
    for name in NETWORKS:
        marian.make_network(name, pairs[:TRAINED])
    translated = work / "translated"
    measure_command(make_ours(options.model, options.beam), lines, output=translated)
    longest = count_tokens(translated, target) / sum(len(source.encode(line)) + 1 for line in lines)
    commands = make_commands(marian, options.model, options.beam, longest)
    outputs = {name: work / f"{name}-{options.beam}" for name in commands}
    first = {name: partial(measure_command, command, lines[:1]) for name, command in commands.items()}
    starts = {name: min(runs, key=PROCESSORS) for name, runs in run_in_turn(first, STARTS).items()}
    measures = {
        name: partial(measure_command, command, lines, output=outputs[name]) for name, command in commands.items()
    }
    costs = run_in_turn(measures, options.rounds)
    tokens = {name: count_tokens(path, target if name in OURS else None) for name, path in outputs.items()}
    print(f"beam {options.beam}, {len(lines):,} sentences", flush=True)
    print_rates(len(lines), tokens, costs, starts)


if __name__ == "__main__":
    main()
