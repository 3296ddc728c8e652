"""A prepared directory with real and synthetic pairs."""

from __future__ import annotations

from pathlib import Path

from nmt_cli.arrays.special_ids import START
from nmt_cli.corpus.config import PrepareConfig
from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.corpus.mixture import MixedCorpus, SyntheticPair, write_mixture
from nmt_cli.corpus.prepare import prepare
from support.corpora import toy_pairs, write_tsv

SYNTHETIC = [
    SyntheticPair("A cow sees 5 dogs.", "Eine Kuh sieht 5 Hunde.", is_tagged=True),
    SyntheticPair("The cow sees.", "Die Kuh sieht.", is_tagged=False),
]


def test_real_pairs_are_repeated_and_back_translations_begin_with_a_tag(tmp_path: Path) -> None:
    prepare(write_tsv(tmp_path / "en-de.tsv", toy_pairs(400)), tmp_path / "prepared", PrepareConfig())
    corpus = PreparedCorpus.load(tmp_path / "prepared")
    write_mixture(corpus, SYNTHETIC, {"repeats": 2, "pairs": 2}, tmp_path / "mixture")
    mixed = MixedCorpus.load(tmp_path / "mixture")
    mixed.verify()
    assert mixed.fingerprint == corpus.fingerprint
    assert mixed.synthetic == {"repeats": 2, "pairs": 2}
    assert mixed.profile == corpus.profile
    real = corpus.read_pairs("train")
    assert mixed.read_pairs("train") == [*real, *real, *[(pair.source, pair.target) for pair in SYNTHETIC]]
    assert mixed.manifest.counts.splits["train"] == 2 * len(real) + 2
    for split in ("dev", "test"):
        assert mixed.read_pairs(split) == corpus.read_pairs(split)
    rows = [ids.tolist() for ids in mixed.load_encoded("train").source]  # type: ignore[attr-defined]
    assert [row[0] == START for row in rows] == [False] * 2 * len(real) + [True, False]
    assert len(mixed.load_encoded("train").target) == len(rows)
