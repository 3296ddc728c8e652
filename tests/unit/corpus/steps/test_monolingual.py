"""Text without translations: what is kept of it, and that nothing of it is in the development or test set."""

import gzip
import json
from pathlib import Path

import pytest

from nmt_cli.corpus.config import PrepareOptions
from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.corpus.prepare import prepare
from nmt_cli.errors import DataError, NotFoundError, OptionError
from nmt_cli.formats.inputs import parse_input
from nmt_cli.text.normalise import make_sentence_key
from support.corpora import toy_pairs, write_tsv


def prepare_with(directory: Path, text: Path, **options: object) -> PreparedCorpus:
    corpus = write_tsv(directory / "en-de.tsv", toy_pairs(400))
    prepare(corpus, directory / "prepared", PrepareOptions(monolingual_target=(str(text),), **options))  # type: ignore[arg-type]
    return PreparedCorpus.load(directory / "prepared")


def test_new_sentences_are_kept_once_and_counts_add_up(tmp_path: Path) -> None:
    new = [f"Die Kuh {number} geht heim." for number in ("eins", "zwei", "drei")]
    text = tmp_path / "text.de"
    text.write_text("\n".join([*new, "", new[0], new[1].upper()]) + "\n", encoding="utf-8")
    prepared = prepare_with(tmp_path, text)
    assert prepared.read_monolingual("target") == new
    assert prepared.read_monolingual("source") == []
    counts = prepared.manifest.monolingual["target"]
    assert (counts.read, counts.kept, counts.dropped) == (6, 3, {"empty": 1, "duplicate": 1, "duplicate-form": 1})


def test_no_sentence_of_dev_or_test_is_kept_in_any_shape(tmp_path: Path) -> None:
    text = tmp_path / "text.de"
    pairs = toy_pairs(400)
    shapes = [shape for _, target in pairs for shape in (target, target.upper(), target[:-1] + "!", f"{target} ")]
    text.write_text("\n".join([*shapes, "Ganz neu ist dieser Satz."]) + "\n", encoding="utf-8")
    prepared = prepare_with(tmp_path, text)
    dropped = prepared.manifest.monolingual["target"].dropped
    assert {"held-out", "near-held-out", "in-corpus"} <= dropped.keys()
    train = {pair.target for pair in prepared.read_pairs("train")}
    new = [text for text in prepared.read_monolingual("target") if f"{text[:-1]}." not in train]
    assert new == ["Ganz neu ist dieser Satz."]  # the others have a mark that no training sentence has
    held_out = {make_sentence_key(pair.target) for split in ("dev", "test") for pair in prepared.read_pairs(split)}
    assert held_out.isdisjoint(map(make_sentence_key, prepared.read_monolingual("target")))


def test_near_duplicates_of_held_out_sentences_are_dropped(tmp_path: Path) -> None:
    first = prepare_with(tmp_path, write_lines(tmp_path / "new.de", ["Ganz neu ist dieser Satz."]))
    near = [f"{pair.target[:-1]} ." for pair in first.read_pairs("test")[:5]]
    again = tmp_path / "again"
    again.mkdir()
    prepared = prepare_with(again, write_lines(again / "near.de", [*near, "Ganz neu ist dieser Satz."]))
    assert prepared.read_monolingual("target") == ["Ganz neu ist dieser Satz."]
    assert prepared.manifest.monolingual["target"].dropped == {"near-held-out": 5}


def test_a_packed_file_of_pairs_gives_the_sentences_of_the_side(tmp_path: Path) -> None:
    text = tmp_path / "more.tsv.gz"
    text.write_bytes(gzip.compress(b"A cow goes home.\tEine Kuh geht heim.\n"))
    assert prepare_with(tmp_path, text).read_monolingual("target") == ["Eine Kuh geht heim."]


NEW = [f"Eine Kuh {number} geht heim." for number in ("eins", "zwei", "drei")]
PAIRS = "".join(f"A cow goes home {sentence[9:12]}.\t{sentence}\n" for sentence in NEW)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.de", "\n".join(NEW)),
        ("lines.tsv", "\n".join(NEW)),
        ("pairs.txt", PAIRS),  # the content tells, not the name
        ("pairs", PAIRS),
        ("tab.txt", "\n".join([*NEW[:2], NEW[2].replace(" geht", "\tgeht")])),
        ("column.csv", "\n".join(["German", *NEW])),
        ("column.jsonl", "\n".join(json.dumps({"text": sentence}) for sentence in NEW)),
        ("book.sfm", "\\id MAT\n\\c 1\n\\p\n" + "\n".join(f"\\v {n} {text}" for n, text in enumerate(NEW, start=1))),
    ],
)
def test_text_of_one_language_is_read_from_whatever_holds_it(tmp_path: Path, name: str, content: str) -> None:
    path = tmp_path / name
    path.write_text(content + "\n", encoding="utf-8")
    assert prepare_with(tmp_path, path).read_monolingual("target") == NEW


def test_the_columns_of_the_corpus_are_not_asked_of_text(tmp_path: Path) -> None:
    text = write_lines(tmp_path / "new.de", NEW)
    prepared = prepare_with(tmp_path, text, source_column="1", target_column="2", format="tsv")
    assert prepared.read_monolingual("target") == NEW


def test_empty_text_and_a_second_use_of_standard_input_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"^\S*/empty\.de is empty\n"):
        prepare_with(tmp_path, write_lines(tmp_path / "empty.de", []))
    config = PrepareOptions(monolingual_target=("-",), monolingual_source=("-",))
    with pytest.raises(OptionError, match="standard input cannot be two inputs"):
        prepare(write_tsv(tmp_path / "en-de.tsv", toy_pairs(400)), tmp_path / "prepared", config)


def test_text_of_which_nothing_is_left_is_an_error_with_the_counts(tmp_path: Path) -> None:
    text = write_lines(tmp_path / "old.de", [target for _, target in toy_pairs(400)])
    with pytest.raises(DataError, match=r"no text of old\.de can be used: .* held-out"):
        prepare_with(tmp_path, text)
    with pytest.raises(NotFoundError):
        prepare_with(tmp_path, tmp_path / "missing.de")


def test_an_input_for_training_only_gives_no_held_out_pair_and_leaks_none(tmp_path: Path) -> None:
    pairs = toy_pairs(400)
    write_tsv(tmp_path / "a.tsv", pairs[:200])
    write_tsv(
        tmp_path / "b.tsv", [*pairs[150:400], *[(source.upper(), "Neu " + target) for source, target in pairs[:50]]]
    )
    inputs = [parse_input(str(tmp_path / "a.tsv")), parse_input(f"{tmp_path / 'b.tsv'}=2=train")]
    assert (inputs[1].training_only, inputs[1].weight) == (True, 2.0)
    prepare(inputs, tmp_path / "prepared", PrepareOptions(dev="20", test="20"))
    prepared = PreparedCorpus.load(tmp_path / "prepared")
    held_out = [pair for split in ("dev", "test") for pair in prepared.read_pairs(split)]
    assert {pair.source for pair in held_out} <= {source for source, _ in pairs[:200]}
    for side in (0, 1):
        keys = {make_sentence_key(pair[side]) for pair in held_out}
        assert keys.isdisjoint(make_sentence_key(pair[side]) for pair in prepared.read_pairs("train"))
    counts = prepared.manifest.counts
    assert counts.read == counts.kept + sum(counts.dropped.values())
    assert sum(counts.splits.values()) == counts.kept + counts.repeated


def test_with_files_for_dev_and_test_all_others_may_be_for_training_only(tmp_path: Path) -> None:
    pairs = toy_pairs(60)
    for name, part in (("a", pairs[:40]), ("dev", pairs[38:50]), ("test", pairs[50:])):
        write_tsv(tmp_path / f"{name}.tsv", part)
    config = PrepareOptions(dev=str(tmp_path / "dev.tsv"), test=str(tmp_path / "test.tsv"))
    manifest = prepare([parse_input(f"{tmp_path / 'a.tsv'}=train")], tmp_path / "prepared", config).manifest
    assert manifest.counts.splits == {"train": 38, "dev": 12, "test": 10}
    with pytest.raises(DataError, match="0 pairs can be drawn for dev and test"):
        prepare([parse_input(f"{tmp_path / 'a.tsv'}=train")], tmp_path / "other", PrepareOptions())


def test_reverse_swaps_the_sides_and_keeps_the_splits(tmp_path: Path) -> None:
    corpus = write_tsv(tmp_path / "en-de.tsv", toy_pairs(400))
    prepare(corpus, tmp_path / "there", PrepareOptions())
    prepare(corpus, tmp_path / "back", PrepareOptions(reverse=True))
    there, back = PreparedCorpus.load(tmp_path / "there"), PreparedCorpus.load(tmp_path / "back")
    assert (back.source_language, back.target_language) == ("de", "en")
    for split in ("train", "dev", "test"):
        assert [pair[::-1] for pair in back.read_pairs(split)] == there.read_pairs(split)


def write_lines(path: Path, lines: list[str]) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path
