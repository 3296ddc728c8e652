"""`prepare`: what it writes, what it refuses, and that it writes all or nothing."""

import errno
import json
import os
import shutil
from functools import partial
from pathlib import Path

import pytest

from nmt_cli.corpus import prepare as prepare_module
from nmt_cli.corpus.config import PrepareOptions
from nmt_cli.corpus.dataset import PreparedCorpus, reverse_corpus
from nmt_cli.corpus.manifest import TRUNCATION
from nmt_cli.corpus.prepare import prepare
from nmt_cli.corpus.steps import build as preparation
from nmt_cli.errors import DataError, NmtError, NotFoundError, OptionError, OutputError, convert_os_error
from nmt_cli.formats.inputs import CorpusFile, parse_input
from nmt_cli.text.profile import CorpusProfile
from nmt_cli.text.symbols import TokenizerSettings
from nmt_cli.workers.choice import ExecutorOptions
from support.corpora import toy_pairs, write_tsv

SPLITS = ("train", "dev", "test")


def contents(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in directory.iterdir()}


def test_counts_add_up_exactly(prepared_directory: Path) -> None:
    counts = PreparedCorpus.load(prepared_directory).manifest.counts
    assert {name: number for name, number in counts.dropped.items() if number} == {
        "empty": 1,
        "too-long": 1,
        "length-ratio": 1,
        "duplicate": 3,
    }
    assert (counts.read, counts.kept) == (406, 400)
    assert counts.splits == {"train": 320, "dev": 40, "test": 40}


def test_no_page_is_in_two_splits_though_not_every_input_has_pages(tmp_path: Path) -> None:
    pairs = toy_pairs(900)
    pages = [(*pair, f"page {number // 20}") for number, pair in enumerate(pairs[:600])]
    inputs = [
        CorpusFile(write_tsv(tmp_path / "en-de.help.tsv", [("English", "German", "page"), *pages])),
        CorpusFile(write_tsv(tmp_path / "en-de.more.tsv", pairs[600:])),
    ]
    prepare(inputs, tmp_path / "prepared", PrepareOptions(group_column=("page",)))
    prepared = PreparedCorpus.load(tmp_path / "prepared")
    assert prepared.manifest.options["group_column"] == ["page"]
    assert prepared.manifest.leak.largest_group == 20
    page_of = {source: page for source, _, page in pages}
    found = {split: {page_of.get(pair.source, "") for pair in prepared.read_pairs(split)} for split in SPLITS}
    assert "" in found["train"] & found["dev"] & found["test"], "a file without pages is split by sentences"
    held_out = found["dev"] | found["test"]
    assert len(held_out) > 2 and found["train"] & held_out == found["dev"] & found["test"] == {""}
    sources = [pair.source for split in SPLITS[1:] for pair in prepared.read_pairs(split)]
    assert all(sources.count(source) == 1 for source, _, page in pages if page in held_out), "whole pages"


def test_languages_come_from_the_name_unless_given(pairs_file: Path, prepared_directory: Path, tmp_path: Path) -> None:
    prepared = PreparedCorpus.load(prepared_directory)
    assert (prepared.source_language, prepared.target_language) == ("en", "de")
    prepare(pairs_file, tmp_path / "given", PrepareOptions(target_language="bar"))
    assert PreparedCorpus.load(tmp_path / "given").target_language == "bar"


@pytest.mark.parametrize("kind", ["unigram", "bpe", "char", "word"])
@pytest.mark.parametrize("separate", [False, True])
def test_same_input_options_and_seed_give_equal_bytes(
    pairs_file: Path, tmp_path: Path, kind: str, separate: bool
) -> None:
    config = PrepareOptions(tokenizer=kind, separate_vocabularies=separate, lowercase=separate)  # type: ignore[arg-type]
    moved = Path(shutil.copy(pairs_file, tmp_path / "elsewhere.tsv")).parent / "folder" / pairs_file.name
    moved.parent.mkdir()
    shutil.copy(pairs_file, moved)
    prepare(pairs_file, tmp_path / "one", config)
    prepare(moved, tmp_path / "two", config)
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    PreparedCorpus.load(tmp_path / "one")


def test_another_seed_gives_another_split(pairs_file: Path, tmp_path: Path) -> None:
    one = prepare(pairs_file, tmp_path / "one", PrepareOptions(seed=1))
    two = prepare(pairs_file, tmp_path / "two", PrepareOptions(seed=2))
    assert one.manifest.fingerprint != two.manifest.fingerprint


def test_no_path_of_the_machine_is_written(prepared_directory: Path) -> None:
    for name, data in contents(prepared_directory).items():
        assert str(prepared_directory.parent).encode() not in data, name


def test_subwords_are_learnt_from_train_only(tmp_path: Path) -> None:
    pairs = [*toy_pairs(40), *((f"{chr(0x400 + i)} one", f"{chr(0x400 + i)} eins") for i in range(40))]
    prepare(write_tsv(tmp_path / "a.tsv", pairs), tmp_path / "out", PrepareOptions(tokenizer="char"))
    prepared = PreparedCorpus.load(tmp_path / "out")
    unseen = {
        c for split in ("dev", "test") for pair in prepared.read_pairs(split) for c in pair.source if c >= "\u0400"
    }
    assert unseen and unseen <= prepared.source_tokenizer.find_unseen("".join(unseen))
    manifest = prepared.manifest
    assert manifest.source.unknown_share > 0
    shares = [f"{side.unknown_share:.1%} of" for side in (manifest.source, manifest.target)]
    described = manifest.source.describe_subwords(manifest.target, manifest.tokenizer.kind)
    assert described.endswith(
        f"characters outside the vocabulary become <unk> (in dev and test: {shares[0]} source, {shares[1]} target)"
    )


def test_the_callback_hears_of_every_stage(pairs_file: Path, tmp_path: Path) -> None:
    told: list[str] = []
    prepare(
        pairs_file, tmp_path / "out", PrepareOptions(), report_progress=lambda stage, done, total: told.append(stage)
    )
    assert list(dict.fromkeys(told)) == ["reading", "checking", "splitting", "writing", "learning subwords", "encoding"]


def test_a_corpus_that_is_there_is_replaced_only_when_asked(pairs_file: Path, tmp_path: Path) -> None:
    prepare(pairs_file, tmp_path / "out", PrepareOptions())
    before = contents(tmp_path / "out")
    with pytest.raises(OutputError, match="already exists"):
        prepare(pairs_file, tmp_path / "out", PrepareOptions(seed=2))
    assert contents(tmp_path / "out") == before
    prepare(pairs_file, tmp_path / "out", PrepareOptions(seed=2), replace=True)
    assert contents(tmp_path / "out") != before


def test_what_stands_beside_a_prepared_corpus_is_not_thrown_away_with_it(pairs_file: Path, tmp_path: Path) -> None:
    prepare(pairs_file, tmp_path / "out", PrepareOptions())
    (tmp_path / "out" / "model").mkdir()
    with pytest.raises(OutputError, match="but it contains model, which is not part"):
        prepare(pairs_file, tmp_path / "out", PrepareOptions(), replace=True)
    assert (tmp_path / "out" / "model").is_dir()


@pytest.mark.parametrize("problem", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
def test_a_full_disk_or_an_interruption_leaves_what_was_there(
    pairs_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, problem: BaseException
) -> None:
    prepare(pairs_file, tmp_path / "out", PrepareOptions())
    before = contents(tmp_path / "out")

    def fail(*_: object) -> None:
        raise problem

    monkeypatch.setattr(preparation, "encode_splits", fail)
    with pytest.raises(type(problem)) as caught:
        prepare(pairs_file, tmp_path / "out", PrepareOptions(seed=2), replace=True)
    if isinstance(caught.value, OSError):
        assert convert_os_error(caught.value).message == f"the disk is full: {tmp_path / 'out'} could not be written"
    assert contents(tmp_path / "out") == before
    assert sorted(tmp_path.iterdir()) == [tmp_path / "out", pairs_file]


def test_several_inputs_in_several_formats_make_one_corpus(pairs_file: Path, tmp_path: Path) -> None:
    pairs = [(f"{source} Indeed.", f"{target} Gewiss.") for source, target in toy_pairs(100)]
    (tmp_path / "b.jsonl").write_text("".join(json.dumps(pair) + "\n" for pair in pairs))
    for name, side in (("c.en", 0), ("c.de", 1)):
        (tmp_path / name).write_text("".join(f"{pair[side]} Well.\n" for pair in pairs))
    inputs = [
        CorpusFile(pairs_file),
        CorpusFile(tmp_path / "b.jsonl", weight=2),
        CorpusFile(tmp_path / "c.en", tmp_path / "c.de"),
    ]
    manifest = prepare(inputs, tmp_path / "out", PrepareOptions(dev="50", test="10%")).manifest
    assert (manifest.counts.read, manifest.counts.kept) == (600, 600)
    assert list(manifest.inputs) == ["toy.en-de.tsv", "b.jsonl", "c.en", "c.de"]
    assert (manifest.counts.splits["dev"], manifest.counts.splits["test"]) == (50, 60)
    corpus = PreparedCorpus.load(tmp_path / "out")
    train = corpus.read_pairs("train")
    assert manifest.counts.repeated == sum(pair.source.endswith("Indeed.") for pair in set(train)) > 0
    assert len(train) == 490 + manifest.counts.repeated
    # The profile counts a repeated pair once, also the profile of the other direction.
    for profile, word in ((corpus.profile, "gewiss"), (reverse_corpus(corpus).profile, "indeed")):
        target = CorpusProfile.parse(profile.encode()).target
        assert (target.texts, target.count_word(word)) == (490, sum("Indeed." in pair.source for pair in set(train)))


def test_a_profile_counts_equal_pairs_once(tmp_path: Path) -> None:
    path = write_tsv(tmp_path / "c.en-de.tsv", [*toy_pairs(200), *[("Only this.", "Nur dies.")] * 5])
    prepare(path, tmp_path / "out", PrepareOptions(keep=("duplicate",), dev="10", test="10"))
    target = CorpusProfile.parse(PreparedCorpus.load(tmp_path / "out").profile.encode()).target
    assert target.count_word("nur") == 1


def test_inputs_of_one_name_are_all_in_the_manifest(pairs_file: Path, tmp_path: Path) -> None:
    other = tmp_path / "other" / pairs_file.name
    other.parent.mkdir()
    shutil.copy(pairs_file, other)
    manifest = prepare([CorpusFile(pairs_file), CorpusFile(other)], tmp_path / "out", PrepareOptions()).manifest
    assert list(manifest.inputs) == [pairs_file.name, f"{pairs_file.name} (2)"]
    assert manifest.counts.dropped["duplicate"] == 400


def test_given_dev_and_test_data_stay_unchanged_and_out_of_training(pairs_file: Path, tmp_path: Path) -> None:
    held_out = toy_pairs(440)[390:]
    dev, test = write_tsv(tmp_path / "dev.tsv", held_out[:20]), write_tsv(tmp_path / "test.tsv", held_out[20:])
    config = PrepareOptions(dev=str(dev), test=str(test))
    manifest = prepare(pairs_file, tmp_path / "out", config).manifest
    prepared = PreparedCorpus.load(tmp_path / "out")
    assert [tuple(pair) for split in ("dev", "test") for pair in prepared.read_pairs(split)] == held_out
    assert manifest.counts.dropped["held-out"] == 10 and manifest.counts.splits["train"] == 390
    assert manifest.options["dev"] == "dev.tsv"


def test_subwords_of_another_corpus_or_model_are_taken_over(
    prepared_directory: Path, pairs_file: Path, tmp_path: Path
) -> None:
    manifest = prepare(pairs_file, tmp_path / "out", PrepareOptions(tokenizer_from=str(prepared_directory))).manifest
    assert (tmp_path / "out" / "joint.spm").read_bytes() == (prepared_directory / "joint.spm").read_bytes()
    assert manifest.options["tokenizer_from"] == "prepared"
    alone = PrepareOptions(tokenizer_from=str(prepared_directory / "joint.spm"))
    prepare(pairs_file, tmp_path / "again", alone)
    assert (tmp_path / "again" / "joint.spm").read_bytes() == (prepared_directory / "joint.spm").read_bytes()
    card = {"tokenizer": {"kind": "word", "lowercase": True}, "source_tokenizer": "s.spm", "target_tokenizer": "t.spm"}
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "model.json").write_text(json.dumps(card))
    prepare(
        pairs_file, tmp_path / "words", PrepareOptions(tokenizer="word", separate_vocabularies=True, lowercase=True)
    )
    for role in ("source", "target"):
        shutil.copy(tmp_path / "words" / f"{role}.spm", tmp_path / "model" / f"{role[0]}.spm")
    borrowed = prepare(pairs_file, tmp_path / "b", PrepareOptions(tokenizer_from=str(tmp_path / "model"))).manifest
    assert (borrowed.tokenizer.kind, borrowed.tokenizer.lowercase) == ("word", True)
    assert borrowed.outputs["target.spm"] == PreparedCorpus.load(tmp_path / "words").manifest.outputs["target.spm"]


def test_one_file_of_subwords_makes_no_separate_vocabularies(
    prepared_directory: Path, pairs_file: Path, tmp_path: Path
) -> None:
    shutil.copy(prepared_directory / "joint.spm", tmp_path / "my.spm")
    config = PrepareOptions(tokenizer_from=str(tmp_path / "my.spm"), separate_vocabularies=True)
    with pytest.raises(OptionError, match="contradicts the subwords"):
        prepare(pairs_file, tmp_path / "out", config)


def test_a_name_that_is_no_utf_8_is_written_as_far_as_it_is(tmp_path: Path) -> None:
    odd = write_tsv(tmp_path / os.fsdecode(b"caf\xe9.tsv"), [*toy_pairs(60), ("", "dropped")])
    report = tmp_path / "report.html"
    manifest = prepare(odd, tmp_path / "out", PrepareOptions(), report=report).manifest
    assert [*manifest.inputs] == ["caf\ufffd.tsv"] and "caf\ufffd.tsv" in report.read_text(encoding="utf-8")


def test_the_report_lists_the_lines_that_somebody_must_mend(tmp_path: Path) -> None:
    rows = [(source, f"{target} (lit. it)" if n % 4 else target) for n, (source, target) in enumerate(toy_pairs(800))]
    report = tmp_path / "report.html"
    prepare(write_tsv(tmp_path / "eng-deu.tsv", rows), tmp_path / "out", PrepareOptions(), report=report)
    assert "rows 2, 3, 4, 6, 7, 8, 10" in report.read_text()


@pytest.mark.parametrize("place", ["first", "first/joint.spm"])
def test_the_manifest_has_the_subwords_that_were_taken_over(pairs_file: Path, tmp_path: Path, place: str) -> None:
    prepare(pairs_file, tmp_path / "first", PrepareOptions(tokenizer="char", lowercase=True))
    options = prepare(
        pairs_file, tmp_path / "out", PrepareOptions(tokenizer_from=str(tmp_path / place))
    ).manifest.options
    assert (options["tokenizer"], options["lowercase"]) == ("char", True)


def test_several_processes_write_what_one_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("reading", "build"):
        monkeypatch.setattr(f"nmt_cli.corpus.steps.{module}.CHUNK", 50)
    pages = [(*pair, f"page {number // 20}") for number, pair in enumerate(toy_pairs(900))]
    corpus = write_tsv(tmp_path / "en-de.tsv", [("English", "German", "page"), *pages])
    # With contexts, tags and truncated sources, all that can stand in a block.
    config = PrepareOptions(group_column=("page",), context=1, context_share=0.5, max_source_length=4)
    for workers in (1, 2):
        prepare(
            parse_input(f"{corpus}=ui"), tmp_path / str(workers), config, processes=ExecutorOptions(workers=workers)
        )
    assert contents(tmp_path / "1") == contents(tmp_path / "2")
    assert any(finding.check == TRUNCATION for finding in PreparedCorpus.load(tmp_path / "2").manifest.findings)


# What `prepare` refuses, and that it then leaves nothing behind.


@pytest.mark.parametrize(
    ("column", "hint"),
    [
        ("pag", "did you mean 'page'? the columns are English, German, page"),
        ("chapter", "the columns are English, German, page"),
    ],
)
def test_a_group_column_that_no_input_has_is_refused(tmp_path: Path, column: str, hint: str) -> None:
    rows = [("English", "German", "page"), *((*pair, "1") for pair in toy_pairs(30))]
    with pytest.raises(DataError) as caught:
        prepare(write_tsv(tmp_path / "a.tsv", rows), tmp_path / "prepared", PrepareOptions(group_column=(column,)))
    assert caught.value.message == f"--group-column: no input has a column '{column}'"
    assert caught.value.hint == hint


@pytest.mark.parametrize("suffix", [".html", ".json"])
def test_only_a_report_is_replaced_by_a_report(pairs_file: Path, tmp_path: Path, suffix: str) -> None:
    report = (tmp_path / "report").with_suffix(suffix)
    report.write_text("mine", encoding="utf-8")
    make = partial(prepare, pairs_file, tmp_path / "out", PrepareOptions(), report=report, replace=True)
    with pytest.raises(OutputError, match="move it away, or name another file with --report"):
        make()
    report.unlink()
    for _ in ("new", "again"):
        make()


def test_a_report_does_not_stand_in_what_is_made_anew(pairs_file: Path, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="which nmt prepare replaces as a whole"):
        prepare(pairs_file, tmp_path / "out", PrepareOptions(), report=tmp_path / "out" / "report.html")
    assert not (tmp_path / "out").exists()


def test_what_is_no_prepared_corpus_is_never_replaced(pairs_file: Path, tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="something other"):
        prepare(pairs_file, pairs_file.parent, PrepareOptions(), replace=True)
    prepare(pairs_file, tmp_path / "out", PrepareOptions())
    inside = Path(shutil.copy(pairs_file, tmp_path / "out" / "corpus.tsv"))
    with pytest.raises(OutputError, match="which nmt prepare would replace"):
        prepare(inside, tmp_path / "out", PrepareOptions(), replace=True)
    assert pairs_file.exists() and inside.exists()


@pytest.mark.parametrize("options", [{"tokenizer": "bpe"}, {"lowercase": True}, {"separate_vocabularies": True}])
def test_options_that_ask_for_other_subwords_than_the_given_are_refused(
    prepared_directory: Path, pairs_file: Path, tmp_path: Path, options: dict
) -> None:
    with pytest.raises(OptionError, match="contradicts the subwords"):
        prepare(pairs_file, tmp_path / "out", PrepareOptions(tokenizer_from=str(prepared_directory), **options))


def test_given_data_of_which_nothing_is_left_is_refused(pairs_file: Path, tmp_path: Path) -> None:
    given = write_tsv(tmp_path / "d.tsv", [("a given source", "a given target")])
    with pytest.raises(DataError, match="no pair of the dev data"):
        prepare(pairs_file, tmp_path / "out", PrepareOptions(dev=str(given), test=str(given)))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"tokenizer_from": "nowhere"}, NotFoundError, "nowhere does not exist"),
        ({"tokenizer_from": "."}, NotFoundError, "neither a model nor a prepared corpus"),
        ({"tokenizer_from": __file__}, DataError, "is not a SentencePiece model"),
        ({"dev": "nothing.tsv"}, NotFoundError, "nothing.tsv does not exist"),
        ({"keep": ("swaped",)}, OptionError, "there is no check"),
    ],
)
def test_options_that_name_what_is_not_there_are_refused(
    pairs_file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: dict,
    error: type[NmtError],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(prepare_module, "read_pairs", None)  # rather refused before the work than after it
    with pytest.raises(error, match=message):
        prepare(pairs_file, tmp_path / "out", PrepareOptions(**options))
    assert list(tmp_path.iterdir()) == [pairs_file]


@pytest.mark.parametrize(("name", "error"), [("toy.en-de.tsv/r.html", OutputError), ("r.json", OptionError)])
def test_a_report_that_cannot_be_written_is_refused_before_the_work(
    pairs_file: Path, tmp_path: Path, name: str, error: type[NmtError]
) -> None:
    (tmp_path / "r.json").mkdir()
    with pytest.raises(error):
        prepare(pairs_file, tmp_path / "out", PrepareOptions(), report=pairs_file.parent / name)
    assert not (tmp_path / "out").exists()


def test_strict_refuses_findings_but_writes_the_report(pairs_file: Path, tmp_path: Path) -> None:
    with pairs_file.open("a") as file:
        file.write("<i>a</i> & b\tx\n")
    for suffix in ("json", "html"):
        with pytest.raises(DataError, match=r"--strict: 1 markup \(first: toy.en-de.tsv, row 401\)"):
            prepare(pairs_file, tmp_path / "out", PrepareOptions(strict=True), report=tmp_path / f"r.{suffix}")
    assert json.loads((tmp_path / "r.json").read_text())["findings"][0]["examples"][0]["line"] == 401
    page = (tmp_path / "r.html").read_text()
    assert "&lt;i&gt;a&lt;/i&gt; &amp; b<br>x" in page and "<i>a" not in page and "<script" not in page
    assert not (tmp_path / "out").exists()
    prepare(pairs_file, tmp_path / "out", PrepareOptions(strict=True, keep=("markup",)), report=tmp_path / "r.json")
    told = json.loads((tmp_path / "r.json").read_text())
    assert told["counts"]["kept"] == 401 and told["findings"][0]["action"] == "kept"
    with pytest.raises(OptionError, match="--report cannot be"):
        prepare(pairs_file, tmp_path / "other", PrepareOptions(), report=tmp_path / "r.pdf")


def test_a_place_without_permission_is_refused_before_the_work(
    pairs_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Permissions do not bind root, as whom tests may run.
    monkeypatch.setattr(os, "access", lambda _, mode: not mode & os.W_OK)
    monkeypatch.setattr(prepare_module, "read_pairs", lambda *_: pytest.fail("the corpus was read"))
    with pytest.raises(OutputError, match="no permission to write"):
        prepare(pairs_file, tmp_path / "new" / "out", PrepareOptions())
    assert list(tmp_path.iterdir()) == [pairs_file]


def test_a_directory_below_a_file_is_refused(pairs_file: Path) -> None:
    with pytest.raises(OutputError, match="is a file"):
        prepare(pairs_file, pairs_file / "out", PrepareOptions())


def test_tokenizer_settings_are_those_of_the_options() -> None:
    config = PrepareOptions(tokenizer="bpe", lowercase=True)
    assert config.tokenizer_settings == TokenizerSettings(kind="bpe", lowercase=True)


@pytest.mark.parametrize("options", [{"max_ratio": 0.5}, {"tokenizer": "chra"}, {"max_length": 0}])
def test_values_out_of_range_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(OptionError):
        PrepareOptions(**options)  # type: ignore[arg-type]
