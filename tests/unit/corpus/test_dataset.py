"""Tests of `corpus/dataset.py`.

Prepared directories: what they hold, and how damage is found. A prepared directory with real and synthetic pairs. The
other direction of a prepared directory."""

import dataclasses
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.arrays.types import START
from nmt_cli.corpus.config import PrepareOptions
from nmt_cli.corpus.dataset import MixedCorpus, PreparedCorpus, SyntheticPair, reverse_corpus, write_mixture
from nmt_cli.corpus.manifest import (
    FORMAT,
    FileRecord,
    Finding,
    FindingExample,
    LeakReport,
    Manifest,
    PairCounts,
    PictureStatistics,
    SubwordStatistics,
)
from nmt_cli.corpus.pairs import Texts
from nmt_cli.corpus.prepare import prepare
from nmt_cli.errors import DamagedError, NotFoundError, OptionError
from nmt_cli.text.symbols import TokenizerSettings
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
    prepare(pairs_file, tmp_path / "two", PrepareOptions(separate_vocabularies=True, tokenizer="word"))
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
    prepare(write_tsv(tmp_path / "en-de.tsv", toy_pairs(400)), tmp_path / "prepared", PrepareOptions())
    corpus = PreparedCorpus.load(tmp_path / "prepared")
    write_mixture(corpus, SYNTHETIC, {"repeats": 2, "pairs": 2}, tmp_path / "mixture")
    mixed = MixedCorpus.load(tmp_path / "mixture")
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
    prepare(corpus, tmp_path / "prepared", PrepareOptions(tokenizer=kind, separate_vocabularies=separate))  # type: ignore[arg-type]
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


EXAMPLE = FindingExample(file="a.tsv", line=3, source="", target="b")


@pytest.fixture
def manifest(tmp_path: Path) -> Manifest:
    (tmp_path / "train.tsv").write_bytes(b"a\tb\n")
    subwords = SubwordStatistics(
        file="joint.spm",
        vocabulary=300,
        pieces_per_word=1.5,
        unknown_share=0.0,
        coverage=1.0,
        longest=9,
        longest_of_99_percent=8,
    )
    written = Manifest(
        format=FORMAT,
        source_language="en",
        target_language="de",
        tokenizer=TokenizerSettings(kind="unigram", lowercase=False),
        counts=PairCounts(read=1, kept=1, dropped={"empty": 0}, splits={"train": 1}, repeated=0, more_columns=0),
        leak=LeakReport(groups=1, largest_group=1, test_sources_by_rows=0.0, test_targets_by_rows=0.0),
        findings=(Finding(check="empty", problem="x", count=1, action="dropped", note="", examples=(EXAMPLE,)),),
        source=subwords,
        target=subwords,
        options={"seed": 1},
        inputs={},
        outputs={"train.tsv": FileRecord.from_file(tmp_path / "train.tsv")},
        tools={},
    )
    written.write(tmp_path)
    return written


def test_a_manifest_reads_as_it_was_written(manifest: Manifest, tmp_path: Path) -> None:
    assert Manifest.read(tmp_path) == manifest


def test_where_there_is_none_the_way_to_one_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match=r"there is no prepared corpus in .*/\n") as caught:
        Manifest.read(tmp_path)
    assert (
        caught.value.hint
        == "prepare your sentence pairs: `nmt prepare corpus.tsv`; or name a prepared corpus with --data"
    )


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\xfe",
        b"[]",
        b"{}",
        b'{"format": 1}',
        b'{"format": 1, "tokenizer": 3}',
        b'{"format": 99}',
        b'{"format": 1, "tokenizer": {"kind": "chra", "lowercase": false}}',
    ],
)
def test_what_is_no_manifest_is_damaged_and_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "dataset.json").write_bytes(content)
    with pytest.raises(DamagedError, match=r"dataset\.json"):
        Manifest.read(tmp_path)


@pytest.mark.parametrize("change", [{"more": 1}, {"outputs": {"../../file": {"bytes": 1, "sha256": "0"}}}])
def test_unknown_keys_and_paths_out_of_the_directory_are_refused(
    manifest: Manifest, tmp_path: Path, change: dict[str, object]
) -> None:
    values = dataclasses.asdict(manifest) | change
    (tmp_path / "dataset.json").write_text(json.dumps(values))
    with pytest.raises(DamagedError, match=r"dataset\.json"):
        Manifest.read(tmp_path)


def test_changed_cut_and_missing_files_are_named(manifest: Manifest, tmp_path: Path) -> None:
    path = tmp_path / "train.tsv"
    manifest.check(tmp_path)
    path.write_bytes(b"a\tc\n")
    with pytest.raises(DamagedError, match=r"train\.tsv was changed"):
        manifest.check(tmp_path)
    path.write_bytes(b"a\t")
    with pytest.raises(DamagedError, match=r"train\.tsv has 2 bytes instead of 4"):
        manifest.check(tmp_path)
    path.unlink()
    with pytest.raises(DamagedError, match=r"train\.tsv is missing"):
        manifest.check(tmp_path)


def test_the_fingerprint_depends_on_the_outputs_only(manifest: Manifest) -> None:
    assert dataclasses.replace(manifest, options={}, tools={"x": "1"}).fingerprint == manifest.fingerprint
    other = {"train.tsv": FileRecord(bytes=4, sha256="0" * 64)}
    assert dataclasses.replace(manifest, outputs=other).fingerprint != manifest.fingerprint


# Texts in one buffer.


@given(st.lists(st.text(max_size=9).map(lambda text: text.encode("utf-8", "replace").decode()), max_size=20))
def test_texts_are_those_that_were_put_in(given_texts: list[str]) -> None:
    texts = Texts()
    for part in (given_texts[:7], given_texts[7:]):
        encoded = [text.encode() for text in part]
        texts.extend(b"".join(encoded), np.array([len(data) for data in encoded], np.int64))
        assert len(texts) >= len(part)
    assert list(texts) == texts[:] == given_texts
    assert list(texts.select(np.arange(len(given_texts))[::-1])) == given_texts[::-1]
