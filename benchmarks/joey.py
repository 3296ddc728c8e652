"""Joey NMT 2.3 beside `nmt train`: the pairs of a prepared corpus as it reads them, and settings like our defaults."""

from __future__ import annotations

from pathlib import Path
from string import Template

from bench import PEERS, write_lines
from sentencepiece import SentencePieceProcessor, SentencePieceTrainer

from nmt_cli.corpus.dataset import PreparedCorpus

SPLITS, SIDES = ("train", "dev", "test"), ("source", "target")
SPECIALS = ("unk", "pad", "bos", "eos")  # in the order that it expects


def write_texts(corpus: PreparedCorpus, work: Path) -> None:
    """Writes the splits as files of lines."""
    for split in SPLITS:
        pairs = corpus.read_pairs(split)
        for side in SIDES:
            write_lines(work / f"{split}.{side}", (getattr(pair, side) for pair in pairs))


def learn_subwords(corpus: PreparedCorpus, work: Path) -> None:
    """Learns as many joint unigram subwords as ours, of the written lines."""
    SentencePieceTrainer.train(
        input=[str(work / f"train.{side}") for side in SIDES],
        model_prefix=str(work / "subwords"),
        minloglevel=2,
        vocab_size=corpus.source_tokenizer.vocabulary_size,
        **{f"{name}_id": number for number, name in enumerate(SPECIALS)},
    )
    subwords = SentencePieceProcessor(model_file=str(work / "subwords.model"))
    write_lines(work / "vocabulary.txt", map(subwords.id_to_piece, range(subwords.get_piece_size())))


def write_settings(path: Path, *, units: int = 512, embedding: int = 256, **values: object) -> Path:
    """Writes the settings of a network of these widths; `values` are those that peers/joeynmt.yaml leaves open."""
    defaults = {"work": path.parent, "updates": ".inf", "validated": 200, "logged": 100}
    settings = Template((PEERS / "joeynmt.yaml").read_text(encoding="utf-8"))
    widths = {"units": units, "half": units // 2, "embedding": embedding}
    path.write_text(settings.substitute(defaults | widths | values), encoding="utf-8")
    return path
