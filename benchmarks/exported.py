"""How many lines CTranslate2 translates as `nmt translate` does, with a model that `--export ctranslate2` wrote.

    python benchmarks/exported.py --model TRANSFORMER --data PREPARED [--sentences 1000]

Test sentences, greedy, in 32 bits, whole and as they are: without repairs and without spans that are carried. Prints
the share of equal lines, and some that differ.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import ctranslate2
from bench import make_parser
from sentencepiece import SentencePieceProcessor

import nmt_cli as nmt
from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.search.config import SearchOptions
from nmt_cli.translation.config import LineOptions, TranslateOptions
from nmt_cli.translation.request import TranslationRequest

SEARCH = SearchOptions(beam_size=1, length_factor=None)
AS_THEY_ARE = LineOptions(protect=False, fold=False, split_sentences=False, max_words=1000)
NAMED = 5  # differing lines that are printed


def translate_there(folder: Path, lines: Sequence[str]) -> list[str]:
    """Translates lines with an exported model, as its users do."""
    source, target = (SentencePieceProcessor(model_file=str(folder / f"{side}.spm")) for side in ("source", "target"))
    translator = ctranslate2.Translator(str(folder), compute_type="float32", inter_threads=1, intra_threads=1)
    results = translator.translate_batch(
        source.encode(list(lines), out_type=str),
        beam_size=1,
        max_batch_size=64,
        max_decoding_length=SEARCH.max_length,
    )
    return [str(target.decode(result.hypotheses[0])) for result in results]


def main() -> None:
    parser = make_parser(__doc__, "model", "data", "sentences")
    parser.set_defaults(sentences=1000)
    options = parser.parse_args()
    lines = [pair.source for pair in PreparedCorpus.load(options.data).read_pairs("test")[: options.sentences]]
    here = TranslationRequest(options.model, lines=AS_THEY_ARE, precision="float", threads=1).load()
    ours = [translation.text for translation in here.translate(lines, TranslateOptions(SEARCH))]
    with tempfile.TemporaryDirectory() as name:
        theirs = translate_there(nmt.export(options.model, Path(name) / "exported", "ctranslate2"), lines)
    pairs = list(zip(lines, ours, theirs, strict=True))
    different = [pair for pair in pairs if pair[1] != pair[2]]
    print(f"{1 - len(different) / len(lines):.2%} of {len(lines):,} lines are equal")
    for line, own, other in different[:NAMED]:
        print(f"\n  source       {line}\n  nmt          {own}\n  CTranslate2  {other}")


if __name__ == "__main__":
    main()
