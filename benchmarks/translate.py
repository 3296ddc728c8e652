"""Sentences a second of `nmt`'s translator beside CTranslate2: the same sentences, in turn, in one run.

    python benchmarks/translate.py --model MODEL --transformer TRANSFORMER --data PREPARED [--rounds 5] [--threads 1]

CTranslate2 runs the weights of TRANSFORMER, 256 wide, of 3 + 3 layers, trained on the same pairs, in int8, from text to
text as ours does, as many sentences at a time as suit it best here; the BLEU of both shows that both translate.
(`commands.py` compares with Joey NMT.) Prints medians of the wall clock, and of the processors' own seconds.
"""

from __future__ import annotations

import subprocess
import tempfile
from functools import partial
from pathlib import Path

from bench import PEERS, Cost, install_peers, make_parser, measure_call, print_speeds, run_in_turn, write_lines

import nmt_cli as nmt
from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.evaluation.metrics.registry import METRICS
from nmt_cli.files import count_cores
from nmt_cli.search.config import SearchOptions
from nmt_cli.translation.config import TranslateOptions
from nmt_cli.translation.request import TranslationRequest


def run_ctranslate2(python: str, exported: Path, folder: Path, beam: int, threads: int) -> Cost:
    """Has the sentences in a folder translated there; returns what that took without the start."""
    command = [python, PEERS / "ctranslate2_speed.py", exported, folder, beam, threads]
    output = subprocess.run([*map(str, command)], check=True, capture_output=True, text=True).stdout
    return Cost(*map(float, output.split()))


def main() -> None:
    parser = make_parser(__doc__, "model", "transformer", "data", "peers", "rounds", "sentences")
    parser.add_argument("--threads", type=int, default=count_cores())
    options = parser.parse_args()
    python = install_peers(options.peers)
    translator = TranslationRequest(options.model, threads=options.threads).load()
    pairs = PreparedCorpus.load(options.data).read_pairs("test")[: options.sentences]
    sources, references = [pair.source for pair in pairs], [[pair.target] for pair in pairs]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_lines(folder / "sources.txt", sources)
        exported = nmt.export(options.transformer, folder / "exported", "ctranslate2")
        for beam in (1, 5):
            search = SearchOptions(beam_size=beam, scored=False)  # the peer is not asked for scores either
            runners = {
                "nmt": partial(measure_call, partial(translator.translate, sources, search)),
                "ctranslate2": partial(run_ctranslate2, python, exported, folder, beam, options.threads),
            }
            print(f"beam {beam}, {len(sources):,} sentences", flush=True)
            print_speeds(run_in_turn(runners, options.rounds), len(sources), "sentences")
            ours = [translation.text for translation in translator.translate(sources, TranslateOptions(search))]
            theirs = (folder / "translations.txt").read_text(encoding="utf-8").splitlines()
            for system, texts in {"nmt": ours, "ctranslate2": theirs}.items():
                score = METRICS["bleu"](texts, references)
                print(f"  BLEU of {system} {score.value:.1f} ({score.signature})", flush=True)


if __name__ == "__main__":
    main()
