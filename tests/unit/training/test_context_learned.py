"""A network learns what only the sentence before can tell it."""

from pathlib import Path

import pytest

import nmt_cli as nmt
from nmt_cli.corpus.dataset import PreparedCorpus
from support.corpora import prepare_paged

TRAINING = {"epochs": 30, "units": 64, "embedding": 32, "batch": 32, "dropout": 0.1, "patience": 30}


def measure_pronouns(model: Path, corpus: PreparedCorpus, context: int) -> float:
    """The share of the test sentences with a pronoun that have the right one."""
    pairs, right, start = corpus.read_pairs("test"), list[bool](), 0
    with nmt.load(model, context=context, beam_size=1) as translator:
        for size in corpus.read_text_sizes("test"):
            text = pairs[start : start + size]
            start += size
            written = zip(translator.translate([pair.source for pair in text]), text, strict=True)
            right += [
                line.split()[0] == pair.target.split()[0] for line, pair in written if pair.source.startswith("it ")
            ]
    return sum(right) / len(right)


@pytest.mark.slow
def test_a_pronoun_follows_the_sentence_before(tmp_path: Path) -> None:
    corpus = prepare_paged(tmp_path, pages=215, dev="80", test="160")
    nmt.train(data=corpus.directory, model=tmp_path / "model", **TRAINING)  # type: ignore[arg-type]
    card = nmt.info(tmp_path / "model")
    assert card.context == 1 and card.scores["dev"]["bleu"].value > 99  # of dev in context; 93 without
    assert measure_pronouns(tmp_path / "model", corpus, 1) == 1
    assert measure_pronouns(tmp_path / "model", corpus, 0) < 0.6
    report = nmt.evaluate(data=corpus.directory, model=tmp_path / "model", metric="bleu4")
    assert report.scores["bleu4"].value > 80
