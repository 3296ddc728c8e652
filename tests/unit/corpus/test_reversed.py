"""The other direction of a prepared directory."""

from __future__ import annotations

from pathlib import Path

import pytest

from nmt_cli.corpus.config import PrepareConfig
from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.corpus.prepare import prepare
from nmt_cli.corpus.reversed import reverse_corpus
from support.corpora import toy_pairs, write_tsv


@pytest.mark.parametrize("separate", [False, True])
@pytest.mark.parametrize("kind", ["unigram", "word"])
def test_sides_languages_texts_and_ids_are_swapped(tmp_path: Path, kind: str, separate: bool) -> None:
    corpus = write_tsv(tmp_path / "en-de.tsv", toy_pairs(400))
    prepare(corpus, tmp_path / "prepared", PrepareConfig(tokenizer=kind, separate_vocabularies=separate))  # type: ignore[arg-type]
    there = PreparedCorpus.load(tmp_path / "prepared")
    back = reverse_corpus(there)
    assert (back.source_language, back.target_language) == ("de", "en")
    assert back.fingerprint != there.fingerprint
    for split in ("train", "dev", "test"):
        pairs, encoded = back.read_pairs(split), back.load_encoded(split)
        assert [pair[::-1] for pair in pairs] == there.read_pairs(split)
        sources = back.source_tokenizer.decode_all([ids.tolist() for ids in encoded.source])  # type: ignore[attr-defined]
        targets = back.target_tokenizer.decode_all([ids.tolist() for ids in encoded.target])
        assert list(zip(sources, targets, strict=True)) == [tuple(pair) for pair in pairs]
        # A network must learn the pieces that it will read.
        assert back.source_tokenizer.encode_all(sources) == [ids.tolist() for ids in encoded.source]  # type: ignore[attr-defined]
    assert list(back.tokenizers.values()) == [back.source_tokenizer, back.target_tokenizer][-len(back.tokenizers) :]
