"""Tags of pairs, from files and columns to the ids in front of the sources."""

from dataclasses import replace
from pathlib import Path

import pytest

from nmt_cli.corpus.config import PrepareOptions
from nmt_cli.corpus.dataset import MixedCorpus, PreparedCorpus, SyntheticPair, reverse_corpus, write_mixture
from nmt_cli.corpus.prepare import prepare
from nmt_cli.corpus.steps.languages import list_unknown
from nmt_cli.corpus.steps.tagging import tag_inputs
from nmt_cli.errors import DataError, OptionError
from nmt_cli.formats.inputs import CorpusFile
from nmt_cli.text.tags import parse_tag_list, reverse_tags
from support.corpora import prepare_pairs, prepare_tagged, toy_pairs, write_tsv

GERMAN, DUTCH = parse_tag_list("to:de"), parse_tag_list("to:nl ui")
FLEMISH = [("a", "nl"), ("b", "nld")]  # files and the codes of their tags


@pytest.fixture(scope="module")
def tagged(tmp_path_factory: pytest.TempPathFactory) -> PreparedCorpus:
    return prepare_tagged(tmp_path_factory.mktemp("tagged"))


def test_the_manifest_counts_the_pairs_of_each_tag_and_split(tagged: PreparedCorpus) -> None:
    counts = tagged.manifest.tags
    assert list(counts) == [">de", ">nl", "ui"]
    assert [sum(counts[tag].values()) for tag in counts] == [300, 200, 200]
    assert all(of_split > 0 for of_tag in counts.values() for of_split in of_tag.values())
    for split, pairs in tagged.manifest.counts.splits.items():
        assert counts[">de"][split] + counts[">nl"][split] == pairs == len(tagged.read_pairs(split))


def test_no_sentence_is_in_two_splits_across_tags(tagged: PreparedCorpus) -> None:
    sources = [{pair.source for pair in tagged.read_pairs(split)} for split in ("train", "dev", "test")]
    assert not (sources[0] & sources[1] or sources[0] & sources[2] or sources[1] & sources[2])
    assert sum(map(len, sources)) == 400


def test_sources_begin_with_their_tags_and_texts_are_without(tagged: PreparedCorpus) -> None:
    for split in ("train", "dev", "test"):
        pairs, tags = tagged.read_pairs(split), tagged.read_tags(split)
        assert tags == [DUTCH if pair.target.startswith("De ") else GERMAN for pair in pairs]
        for pair, own, ids in zip(pairs, tags, tagged.load_encoded(split).source, strict=True):  # type: ignore[call-overload]
            front = tagged.source_tokenizer.list_tag_ids(own)
            assert ids.tolist() == [*front, *tagged.source_tokenizer.encode(pair.source)]
            assert tagged.source_tokenizer.decode(ids.tolist()) == pair.source


def test_no_text_is_read_as_a_tag(tagged: PreparedCorpus) -> None:
    tokenizer = tagged.source_tokenizer
    assert sorted(tokenizer.tag_ids) == ["⟦>de⟧", "⟦>nl⟧", "⟦de>⟧", "⟦nl>⟧", "⟦ui⟧"]
    assert not {*tokenizer.encode("⟦ui⟧ The dog ⟦>nl⟧")} & {*tokenizer.tag_ids.values()}
    assert "u" not in tokenizer.find_unseen("⟦")


def test_subwords_are_those_of_a_corpus_without_tags(tagged: PreparedCorpus, tmp_path: Path) -> None:
    files = [CorpusFile(tagged.directory.parent / name) for name in ("en-de.tsv", "en-nl.tsv")]
    prepare(files, tmp_path / "plain", PrepareOptions())
    plain = PreparedCorpus.load(tmp_path / "plain")
    assert plain.manifest.tags == {}
    assert plain.read_tags("dev") == [()] * len(plain.read_pairs("dev"))
    assert plain.source_tokenizer.vocabulary_size + 5 == tagged.source_tokenizer.vocabulary_size
    assert not plain.source_tokenizer.tag_ids


@pytest.mark.parametrize("separate", [False, True])
def test_the_other_direction_has_the_tags_of_its_sources(tmp_path: Path, separate: bool) -> None:
    there = prepare_tagged(tmp_path, separate_vocabularies=separate)
    back = reverse_corpus(there)
    assert back.read_tags("dev") == [reverse_tags(tags) for tags in there.read_tags("dev")]
    encoded = back.load_encoded("dev")
    texts = back.source_tokenizer.decode_all([ids.tolist() for ids in encoded.source])  # type: ignore[attr-defined]
    assert texts == [pair.source for pair in back.read_pairs("dev")]
    assert not {*encoded.target.ids.tolist()} & {*back.target_tokenizer.tag_ids.values()}


def test_a_synthetic_pair_has_its_tags_behind_the_mark(tagged: PreparedCorpus, tmp_path: Path) -> None:
    pairs = [SyntheticPair("A cow.", "Een koe.", is_tagged=True, tags=DUTCH)]
    write_mixture(tagged, pairs, {"repeats": 1}, tmp_path / "mixture")
    mixed = MixedCorpus.load(tmp_path / "mixture")
    assert mixed.read_tags("train") == [*tagged.read_tags("train"), DUTCH]
    last = mixed.load_encoded("train").source[-1].tolist()  # type: ignore[index]
    assert last[1:3] == tagged.source_tokenizer.list_tag_ids(DUTCH)


def test_a_column_names_the_tags_of_each_pair(tmp_path: Path) -> None:
    rows = [
        ("source", "target", "kind"),
        *((*pair, ["ui", "", "formal"][i % 3]) for i, pair in enumerate(toy_pairs(300))),
    ]
    table = write_tsv(tmp_path / "en-de.tsv", rows)
    prepare(CorpusFile(table, tags=parse_tag_list("help")), tmp_path / "prepared", PrepareOptions(tag_column="kind"))
    counts = PreparedCorpus.load(tmp_path / "prepared").manifest.tags
    assert {tag: sum(of_tag.values()) for tag, of_tag in counts.items()} == {"help": 200, "formal": 100, "ui": 100}
    with pytest.raises(DataError, match=r"--tag-column: no input has a column 'kin'"):
        prepare(table, tmp_path / "other", PrepareOptions(tag_column="kin"))


def test_a_pair_repeats_only_one_with_the_same_tags(tmp_path: Path) -> None:
    manual, menu = ("Page style", "Seitenvorlage"), ("Page Style", "Seitenvorlage")
    rows = [(*pair, kind) for pair, kind in zip([manual, menu, menu, manual, manual], [*"aabb", ""], strict=True)]
    table = write_tsv(tmp_path / "en-de.tsv", [*((*pair, "a") for pair in toy_pairs(300)), *rows])
    prepare(table, tmp_path / "prepared", PrepareOptions(tag_column="3"))
    manifest = PreparedCorpus.load(tmp_path / "prepared").manifest
    assert {tag: sum(of_tag.values()) for tag, of_tag in manifest.tags.items()} == {"a": 301, "b": 1}
    assert manifest.counts.kept == 303
    assert (manifest.counts.dropped["duplicate"], manifest.counts.dropped["duplicate-form"]) == (0, 2)


def test_a_cell_that_is_no_tag_is_refused_with_its_line(tmp_path: Path) -> None:
    rows = [(*pair, "two.words" if i == 4 else "ui") for i, pair in enumerate(toy_pairs(50))]
    with pytest.raises(DataError, match=r"row 5: --tag-column: 'two.words' is not a tag"):
        prepare(write_tsv(tmp_path / "en-de.tsv", rows), tmp_path / "prepared", PrepareOptions(tag_column="3"))


def test_each_file_has_the_language_that_the_option_names_for_it(tmp_path: Path) -> None:
    files = [CorpusFile(write_tsv(tmp_path / f"{name}.tsv", toy_pairs(300)[n::2])) for n, name in enumerate("ab")]
    config = PrepareOptions(source_language="en", target_language="de,nl")
    prepare(files, tmp_path / "prepared", config)
    prepared = PreparedCorpus.load(tmp_path / "prepared")
    assert prepared.languages == ("en", "de")
    assert prepared.manifest.direction == "en -> de, nl"
    assert list(prepared.manifest.tags) == [">de", ">nl"]
    with pytest.raises(OptionError, match="names 2 languages, but there is 1 file"):
        prepare(files[:1], tmp_path / "other", config)


def test_the_option_names_languages_of_files_without_one_of_their_own(tmp_path: Path) -> None:
    paths = [write_tsv(tmp_path / f"{name}.tsv", toy_pairs(300)[n::3]) for n, name in enumerate("abc")]
    files = [CorpusFile(path, tags=parse_tag_list("to:sv") if n == 1 else ()) for n, path in enumerate(paths)]
    config = PrepareOptions(source_language="en", target_language="de,nl")
    assert [file.tags[0].value for file in tag_inputs(files, config)] == ["de", "sv", "nl"]
    with pytest.raises(OptionError, match="names 3 languages, but there is 1 file"):
        tag_inputs(files[:2], replace(config, target_language="de,nl,da"))


def test_a_language_is_spelled_in_one_way(tmp_path: Path) -> None:
    rows = [(source, target, ("to:nl", "to:NLD")[n % 2]) for n, (source, target) in enumerate(toy_pairs(300))]
    write_tsv(tmp_path / "a.tsv", [("source", "target", "tags"), *rows])
    (tmp_path / "b.tsv").write_bytes((tmp_path / "a.tsv").read_bytes())
    with pytest.raises(OptionError, match="NLD and nl are the same language"):
        prepare(tmp_path / "a.tsv", tmp_path / "prepared", PrepareOptions(source_language="en", tag_column="tags"))
    both = [CorpusFile(tmp_path / f"{name}.tsv", tags=parse_tag_list(f"to:{code}")) for name, code in FLEMISH]
    with pytest.raises(OptionError, match="nl and nld are the same language"):
        tag_inputs(both, PrepareOptions())
    regions = [replace(file, tags=parse_tag_list(f"to:pt-{file.path.stem}r")) for file in both]
    assert tag_inputs(regions, PrepareOptions()) == regions


@pytest.mark.parametrize(
    ("files", "notes"),
    [
        ({"eng-deu.tsv": "", "eng-nld.tsv": ""}, ["eng-nld.tsv=to:nld"]),
        ({"eng-deu.tsv": "", "eng-nld.tsv": "nld"}, ["eng-deu.tsv=to:deu"]),
        ({"eng-deu.tsv": "", "deu-eng.tsv": ""}, ["deu-eng.tsv=from:deu", "deu-eng.tsv=to:eng"]),
        ({"eng-deu.tsv": "deu", "eng-nld.tsv": "nld"}, []),
        ({"eng-deu.tsv": "", "more.tsv": ""}, []),
        ({"eng-deu.tsv": "ui", "to-do.tsv": ""}, []),
    ],
)
def test_files_of_other_languages_are_named(tmp_path: Path, files: dict[str, str], notes: list[str]) -> None:
    named = enumerate(files.items())
    inputs = [
        CorpusFile(write_tsv(tmp_path / name, toy_pairs(200)[n::2]), tags=parse_tag_list(tags))
        for n, (name, tags) in named
    ]
    report = prepare(inputs, tmp_path / "prepared", PrepareOptions())
    assert [note.rpartition("/")[2] for note in report.notes if "; if it is not, use " in note] == notes


def test_tags_of_a_column_name_the_language_that_nothing_else_does(tmp_path: Path) -> None:
    rows = [(source, target, ("", "to:nl", "to:de")[n % 3]) for n, (source, target) in enumerate(toy_pairs(300))]
    write_tsv(tmp_path / "a.tsv", [("source", "target", "tags"), *rows])
    config = PrepareOptions(source_language="en", tag_column="tags")
    assert prepare(tmp_path / "a.tsv", tmp_path / "one", config).manifest.target_language == "nl"
    named = replace(config, target_language="da")
    assert prepare(tmp_path / "a.tsv", tmp_path / "two", named).manifest.target_language == "da"


def test_reversed_files_have_the_tags_of_what_is_now_their_source(tmp_path: Path) -> None:
    files = [CorpusFile(write_tsv(tmp_path / f"{name}.tsv", toy_pairs(300)[n::2])) for n, name in enumerate("ab")]
    prepare(files, tmp_path / "prepared", PrepareOptions(source_language="en", target_language="de,nl", reverse=True))
    prepared = PreparedCorpus.load(tmp_path / "prepared")
    assert (prepared.languages, list(prepared.manifest.tags)) == (("de", "en"), ["de>", "nl>"])


def test_a_rare_script_of_a_small_language_is_not_dropped(tmp_path: Path) -> None:
    greek = [
        (f"{source} Again.", "".join(chr(0x391 + ord(c) % 24) for c in target)) for source, target in toy_pairs(120)
    ]
    tagged = CorpusFile(write_tsv(tmp_path / "small.tsv", greek), tags=parse_tag_list("to:el"))
    large = CorpusFile(write_tsv(tmp_path / "en-de.tsv", toy_pairs(2_800)))
    many = CorpusFile(
        write_tsv(tmp_path / "more.tsv", [(f"{s} {n}", f"{t} {n}") for n in range(4) for s, t in toy_pairs(2_800)])
    )
    report = prepare([large, many, tagged], tmp_path / "prepared", PrepareOptions())
    assert report.manifest.counts.dropped["script"] == 0
    assert sum(report.manifest.tags[">el"].values()) == 120


def test_text_without_translations_has_tags_that_pairs_have(tmp_path: Path) -> None:
    more, ui = tmp_path / "more.nl", tmp_path / "ui.nl"
    more.write_text("".join(f"Een koe ziet {n} schapen.\n" for n in range(2, 40)), encoding="utf-8")
    ui.write_text("Bestand openen\nBewerken\n", encoding="utf-8")
    corpus = prepare_tagged(tmp_path, monolingual_target=(f"{more}=to:nl", f"{ui}=ui"))
    texts, tags = corpus.read_monolingual("target"), corpus.read_monolingual_tags("target")
    assert tags == [parse_tag_list("to:nl" if "schapen" in text else "ui") for text in texts]
    assert reverse_corpus(corpus).read_monolingual_tags("source") == [reverse_tags(own) for own in tags]
    with pytest.raises(OptionError, match="no pair has the tag >fr, which the monolingual text has"):
        prepare_pairs(tmp_path / "..", toy_pairs(100), monolingual_target=(f"{more}=fr",))


def test_registers_are_labelled_by_the_language_of_each_pair(tmp_path: Path) -> None:
    pairs = [
        (f"Can you see {n} dogs?", f"{'Können Sie' if n % 2 else 'Kannst du'} {n} Hunde sehen?") for n in range(80)
    ]
    pairs += [(f"He sees {n} dogs.", f"Er sieht {n} Hunde.") for n in range(80)]
    files = [
        CorpusFile(write_tsv(tmp_path / "eng-deu.tsv", pairs)),
        CorpusFile(
            write_tsv(tmp_path / "eng-vie.tsv", [(f"{s} Now.", t) for s, t in pairs]), tags=parse_tag_list("to:vi")
        ),
    ]
    prepare(files, tmp_path / "prepared", PrepareOptions(register="auto"))
    counts = PreparedCorpus.load(tmp_path / "prepared").manifest.tags
    assert {tag: sum(of_tag.values()) for tag, of_tag in counts.items()} == {">vi": 160, "formal": 40, "informal": 40}
    with pytest.raises(OptionError, match="nmt has no rules for forms of address in vie"):
        prepare(files[1].path, tmp_path / "other", PrepareOptions(register="auto"))


def test_reused_subwords_get_the_tags_that_they_lack(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    plain = prepare_pairs(tmp_path / "plain", toy_pairs(300))
    reusing = prepare_tagged(tmp_path, tokenizer_from=str(plain.directory))
    old, new = plain.source_tokenizer, reusing.source_tokenizer
    assert new.vocabulary_size == old.vocabulary_size + len(new.tag_ids) == old.vocabulary_size + 5
    assert new.encode("The dog sees.") == old.encode("The dog sees.")
    assert set(reusing.read_tags("dev")) == {GERMAN, DUTCH}


def test_text_without_translations_needs_no_column_of_the_pairs(tmp_path: Path) -> None:
    rows = [
        (source, target, f"page {n // 8}", "ui" if n % 2 else "") for n, (source, target) in enumerate(toy_pairs(80))
    ]
    table = write_tsv(tmp_path / "a.tsv", [("source", "target", "page", "kind"), *rows])
    text = tmp_path / "more.txt"
    text.write_text("".join(f"{target} {target}\n" for _, target in toy_pairs(20)), encoding="utf-8")
    options = {"group_column": ("page",), "tag_column": "kind", "context": 1, "tokenizer": "word"}
    config = PrepareOptions(monolingual_target=(f"{text}=ui",), **options)  # type: ignore[arg-type]
    prepare(table, tmp_path / "prepared", config)
    corpus = PreparedCorpus.load(tmp_path / "prepared")
    assert set(corpus.read_monolingual_tags("target")) == {parse_tag_list("ui")}
    with pytest.raises(DataError, match="--tag-column: no input has a column 'kinds'"):
        prepare(table, tmp_path / "other", replace(config, tag_column="kinds"))


COLUMNS = [
    *[
        ({}, heading, ("shp", "tar"), {">shp", ">tar"})
        for heading in ("lengua", "Lengua", "Sprache", "iso", "lang code")
    ],
    *[({"target_language_column": name}, "lengua", ("shp", "tar"), {">shp", ">tar"}) for name in ("lengua", "3")],
    ({}, "language", ("shp", "Rarámuri"), {">shp", ">tar"}),
    ({"target_language_column": "kind"}, "kind", ("shp", "Rarámuri"), {">shp", ">tar"}),
    ({"target_language_column": "3"}, "kind", ("law", "med"), {">law", ">med"}),
    ({}, "kind", ("shp", "tar"), {">shp", ">tar"}),
    ({}, "idioma", ("Shipibo", "Tok Pisin"), {">shp", ">tpi"}),
    ({"target_language_column": "none"}, "language", ("shp", "tar"), set()),
    ({}, "kind", ("law", "med"), set()),
    ({}, "speaker", ("MA", "TS"), set()),
    ({}, "source language", ("shp", "tar"), set()),
    ({"tag_column": "kind"}, "kind", ("shp", "tar"), {">shp", ">tar"}),
    ({"tag_column": "kind"}, "kind", ("law", "med"), {"law", "med"}),
]


@pytest.mark.parametrize(
    "row", [*((*row, "English\ttarget") for row in COLUMNS), *((*row, "Español\ttraducción") for row in COLUMNS[4:8])]
)
def test_a_column_of_languages_is_one(
    row: tuple[dict[str, str], str, tuple[str, str], set[str], str], tmp_path: Path
) -> None:
    options, heading, values, tags, texts = row
    rows = [f"{source}\t{target}\t{values[n % 2]}" for n, (source, target) in enumerate(toy_pairs(200))]
    table = tmp_path / "eng-xxx.tsv"
    table.write_text("\n".join([f"{texts}\t{heading}", *rows]) + "\n", encoding="utf-8")
    report = prepare(CorpusFile(table), tmp_path / "prepared", PrepareOptions(**options))
    assert set(report.manifest.tags) == tags
    assert any("column 3 names the language" in note for note in report.notes) == bool(tags and not options)


def test_a_cell_that_names_no_language_is_refused_with_its_line(tmp_path: Path) -> None:
    rows = [
        f"{source}\t{target}\t{'Mixtec' if n == 50 else 'shp'}" for n, (source, target) in enumerate(toy_pairs(100))
    ]
    table = tmp_path / "table.tsv"
    table.write_text("\n".join(rows) + "\n", encoding="utf-8")
    with pytest.raises(DataError, match="row 51: 'Mixtec' is not a language"):
        prepare(CorpusFile(table), tmp_path / "prepared", PrepareOptions(target_language_column="3"))
    with pytest.raises(DataError, match="--target-language-column: no input has a column 'lang'"):
        prepare(CorpusFile(table), tmp_path / "prepared", PrepareOptions(target_language_column="lang"))


def test_what_a_word_was_taken_for_is_told(tmp_path: Path) -> None:
    files = [
        CorpusFile(write_tsv(tmp_path / f"{n}.tsv", toy_pairs(300)[n::3]), tags=parse_tag_list(tags))
        for n, tags in enumerate(("law", "shp", "chatino"))
    ]
    notes = prepare(files, tmp_path / "prepared", PrepareOptions(target_language="Elbonian")).notes
    assert "the tag law is used as a domain; for the language Lauje, write to:law" in notes
    assert any(note.startswith("the tag chatino is used as a domain; 6 languages share this name") for note in notes)
    assert any(note.startswith("tags that name languages: shp Shipibo-Conibo;") for note in notes)
    assert any(note.startswith("Elbonian is not a language that nmt knows") for note in notes)
    unlisted = [note.split()[0] for note in list_unknown(["xx", "shipiboo", "qaa", "shp", "pt-BR", "deu", "zxy-Latn"])]
    assert unlisted == ["xx", "shipiboo", "zxy-Latn"]
    slips = [note.partition("did you mean ")[2] for note in list_unknown(["Germn", "Qatoꞌa", "Ñatsö"])]
    assert slips == ["German?", "", ""]


def test_languages_are_named_in_words(tmp_path: Path) -> None:
    config = PrepareOptions(source_language="inglés", target_language="Shipibo")
    manifest = prepare(CorpusFile(write_tsv(tmp_path / "a.tsv", toy_pairs(100))), tmp_path / "data", config).manifest
    assert (manifest.source_language, manifest.target_language) == ("en", "shp")
