"""Tests of `corpus/dataset.py`.

Prepared directories: what they hold, and how damage is found. A prepared directory with real and synthetic pairs. The
other direction of a prepared directory.
"""

from dataclasses import replace
from pathlib import Path

import pytest

from nmt_cli.arrays.types import START
from nmt_cli.corpus.config import PrepareConfig
from nmt_cli.corpus.dataset import MixedCorpus, PreparedCorpus, SyntheticPair, reverse_corpus, write_mixture
from nmt_cli.corpus.manifest import Manifest, PictureStatistics
from nmt_cli.corpus.prepare import prepare
from nmt_cli.errors import DamagedError, NotFoundError, OptionError
from support.corpora import toy_pairs, write_tsv

SPLITS = ("train", "dev", "test")


def test_all_pairs_are_in_the_splits_once(prepared_directory: Path) -> None:
    prepared = PreparedCorpus.load(prepared_directory)
    assert sorted(tuple(pair) for split in SPLITS for pair in prepared.read_pairs(split)) == sorted(toy_pairs(400))


def test_ids_are_those_of_the_text_row_for_row(prepared_directory: Path) -> None:
    prepared = PreparedCorpus.load(prepared_directory)
    for split in SPLITS:
        encoded, pairs = prepared.load_encoded(split), prepared.read_pairs(split)
        assert [prepared.source_tokenizer.decode(row) for row in encoded.source] == [pair.source for pair in pairs]
        assert [prepared.target_tokenizer.decode(row) for row in encoded.target] == [pair.target for pair in pairs]


def test_vocabularies_are_joint_or_one_a_side(pairs_file: Path, prepared_directory: Path, tmp_path: Path) -> None:
    joint = PreparedCorpus.load(prepared_directory)
    assert joint.has_joint_vocabulary and joint.source_tokenizer is joint.target_tokenizer
    assert joint.tokenizer_files == {"joint": prepared_directory / "joint.spm"}
    prepare(pairs_file, tmp_path / "two", PrepareConfig(separate_vocabularies=True, tokenizer="word"))
    apart = PreparedCorpus.load(tmp_path / "two")
    assert not apart.has_joint_vocabulary and apart.source_tokenizer.find_unseen("ü") == {"ü"}
    assert apart.tokenizer_files == {role: tmp_path / "two" / f"{role}.spm" for role in ("source", "target")}


def test_the_directory_holds_the_files_of_the_manifest_and_no_others(prepared_directory: Path) -> None:
    assert {path.name for path in prepared_directory.iterdir()} == {
        *PreparedCorpus.load(prepared_directory).manifest.outputs,
        "dataset.json",
    }


def test_where_nothing_was_prepared_the_way_to_it_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="there is no prepared corpus in"):
        PreparedCorpus.load(tmp_path / "prepared")


@pytest.mark.parametrize("name", ["train.tsv", "joint.spm", "dev.source.ids.npy", "test.target.offsets.npy"])
def test_a_missing_or_changed_file_is_named(copy: Path, name: str) -> None:
    path = copy / name
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    with pytest.raises(DamagedError, match=f"{name} was changed"):
        PreparedCorpus.load(copy)
    path.unlink()
    with pytest.raises(DamagedError, match=f"{name} is missing"):
        PreparedCorpus.load(copy)


def test_large_files_are_compared_byte_for_byte_only_by_verify(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nmt_cli.corpus.manifest.CHECKED_AT_LOAD", 100)
    data = (copy / "train.tsv").read_bytes()
    (copy / "train.tsv").write_bytes(data.replace(b"dog", b"god"))
    prepared = PreparedCorpus.load(copy)
    with pytest.raises(DamagedError, match=r"train\.tsv was changed"):
        prepared.verify()


def test_files_that_break_after_loading_are_damaged_too(copy: Path) -> None:
    prepared = PreparedCorpus.load(copy)
    (copy / "dev.tsv").write_bytes(b"one column\n")
    (copy / "dev.source.ids.npy").write_bytes(b"no array")
    with pytest.raises(DamagedError, match=r"dev\.tsv"):
        prepared.read_pairs("dev")
    with pytest.raises(DamagedError, match=r"dev\."):
        prepared.load_encoded("dev")


def test_a_corpus_without_its_profile_is_damaged(copy: Path) -> None:
    prepared = PreparedCorpus.load(copy)
    (copy / "profile.txt").unlink()
    with pytest.raises(DamagedError, match=r"profile\.txt cannot be read"):
        _ = prepared.profile


def test_a_corpus_of_pictures_has_the_subwords_of_its_captions_alone(copy: Path) -> None:
    (copy / "joint.spm").rename(copy / "target.spm")
    manifest = Manifest.read(copy)
    pictures = PictureStatistics(pictures=3, regions=9, fewest_regions=9, depth=12)
    captions = replace(manifest.target, file="target.spm")
    corpus = PreparedCorpus(copy, replace(manifest, source=pictures, target=captions))
    assert corpus.tokenizers == {"target.spm": corpus.target_tokenizer}
    with pytest.raises(OptionError, match="have no words"):
        _ = corpus.source_tokenizer


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
