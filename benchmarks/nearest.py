"""What corrections bring to the texts that are like them, without training (kNN-MT: Khandelwal et al. 2021).

    python benchmarks/nearest.py eng-deu.ui.tsv --model MODEL --data PREPARED

Segments are corrected one after the other, drawn at random, and each correction goes into a translation
memory. After each hundred, the segments that nobody corrected and the test split of PREPARED are translated with it,
once with `neighbours` and once without. A row is printed with scores, and seconds of the processor.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from random import Random

from bench import Pair, make_parser, read_pairs

from nmt_cli.evaluation.metrics.registry import METRICS
from nmt_cli.search.config import SearchOptions
from nmt_cli.translation.config import RepairOptions, TranslateOptions
from nmt_cli.translation.memory.lookup import TranslationMemory
from nmt_cli.translation.request import TranslationRequest


def draw_segments(pairs: Sequence[Pair], count: int, corrections: int, seed: int) -> tuple[list[Pair], list[Pair]]:
    """Returns the segments that are corrected, drawn from the first `count`, and the others; no source recurs."""
    first = dict(reversed(pairs))  # of pairs with the same source, the first
    segments = [(source, first[source]) for source in dict.fromkeys(source for source, _ in pairs)][:count]
    drawn = set(Random(seed).sample(range(len(segments)), corrections))
    corrected = [segment for number, segment in enumerate(segments) if number in drawn]
    return corrected, [segment for number, segment in enumerate(segments) if number not in drawn]


def main() -> None:
    parser = make_parser(__doc__, "model", "data", "seed")
    parser.add_argument("pairs", type=Path, metavar="PAIRS")
    parser.add_argument("--segments", type=int, default=1_600, help="the first of PAIRS")
    parser.add_argument("--sentences", type=int, default=1_000, help="of the test split")
    parser.add_argument("--beam", type=int, default=5)
    parser.add_argument("--counts", type=int, nargs="+", default=[0, 100, 200, 300, 400, 500, 600])
    options = parser.parse_args()
    translator = TranslationRequest(options.model, threads=1).load()
    corrected, rest = draw_segments(read_pairs(options.pairs), options.segments, max(options.counts), options.seed)
    sets = {"rest": rest, "old": read_pairs(options.data / "test.tsv")[: options.sentences]}
    memory, usual = TranslationMemory(translator.card.target_language), SearchOptions().neighbours
    for count in options.counts:
        for source, target in corrected[:count]:
            memory.add(source, target)
        for part, pairs in sets.items():
            sources, references = zip(*pairs, strict=True)
            for neighbours in (0, usual) if count else (0,):
                search, started = SearchOptions(beam_size=options.beam, neighbours=neighbours), time.process_time()
                done = translator.translate(sources, TranslateOptions(search, repair=RepairOptions(), memory=memory))
                seconds, hypotheses = time.process_time() - started, [one.text for one in done]
                scores = [METRICS[name](hypotheses, [[one] for one in references]) for name in ("bleu", "chrf")]
                values = " ".join(f"{score.name} {score.value:.2f}" for score in scores)
                print(f"{count} corrections, {neighbours} neighbours, {part}: {values}, {seconds:.1f} s", flush=True)


if __name__ == "__main__":
    main()
