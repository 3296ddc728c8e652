import dataclasses
import json
from pathlib import Path

import pytest

from nmt_cli.corpus.manifest import (
    FORMAT,
    FileRecord,
    Finding,
    FindingExample,
    LeakReport,
    Manifest,
    PairCounts,
    SubwordStatistics,
)
from nmt_cli.errors import DamagedError, NotFoundError
from nmt_cli.text.symbols import TokenizerSettings

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
    with pytest.raises(NotFoundError, match=r"there is no prepared corpus in .*/$") as caught:
        Manifest.read(tmp_path)
    assert caught.value.hint == "make one with `nmt prepare corpus.tsv`, or say where it is with --data"


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
