"""Files of one corpus whose languages differ, as their letters say."""

from __future__ import annotations

import random
from importlib.util import find_spec
from pathlib import Path

import pytest

from nmt_cli.corpus.config import PrepareOptions
from nmt_cli.corpus.prepare import prepare
from nmt_cli.errors import DataError
from nmt_cli.formats.inputs import CorpusFile
from nmt_cli.text.tags import parse_tag_list
from support.corpora import toy_pairs, write_tsv

FRENCH = dict(
    [
        *(("Der", "Le"), ("den", "le"), ("um", "à"), ("Hund", "chien"), ("Kater", "chat"), ("Hof", "jardin")),
        *(("Baum", "arbre"), ("Kahn", "bateau"), ("sieht", "regarde"), ("nimmt", "prend"), ("liebt", "aime")),
        *(("findet", "trouve"), ("eins", "une"), ("zwei", "deux"), ("drei", "trois"), ("vier", "quatre")),
        *(("fünf", "cinq"), ("sechs", "six"), ("zehn", "dix")),
    ]
)


def translate_toy(target: str) -> str:
    return " ".join(FRENCH.get(word, word) for word in target.rstrip(".").split()) + "."


GERMAN_PAIRS = toy_pairs(400)
FRENCH_PAIRS = [(source, translate_toy(target)) for source, target in toy_pairs(800)[400:]]


def test_a_french_file_among_german_ones_is_found_and_a_tag_ends_that(tmp_path: Path) -> None:
    german, french = write_tsv(tmp_path / "en-de.tsv", GERMAN_PAIRS), write_tsv(tmp_path / "toy.tsv", FRENCH_PAIRS)
    more = write_tsv(tmp_path / "more.tsv", toy_pairs(1_000)[900:])
    files = [CorpusFile(german), CorpusFile(french), CorpusFile(more)]
    findings = prepare(files, tmp_path / "one", PrepareOptions()).manifest.findings
    (finding,) = [finding for finding in findings if finding.check == "other-file"]
    assert (finding.count, finding.action) == (400, "reported")
    assert "the target of toy.tsv, beside en-de.tsv; if it is, type toy.tsv=to:" in finding.note
    with pytest.raises(DataError, match="--strict: 400 other-file"):
        prepare(files, tmp_path / "two", PrepareOptions(strict=True))
    files[1] = CorpusFile(french, tags=parse_tag_list("to:fr"))
    assert not prepare(files, tmp_path / "three", PrepareOptions(keep=("other-file",))).manifest.findings
    assert not prepare(files, tmp_path / "four", PrepareOptions()).manifest.findings


@pytest.mark.skipif(find_spec("py3langid") is None, reason="an extra")
def test_a_single_file_that_is_not_what_its_name_says_is_found(tmp_path: Path) -> None:
    table = write_tsv(tmp_path / "en-de.tsv", FRENCH_PAIRS)
    (finding,) = prepare(table, tmp_path / "one", PrepareOptions()).manifest.findings
    assert finding.problem.startswith(
        "a file whose target reads as French, but is treated as German; to change this, type"
    )
    write_tsv(table, [*FRENCH_PAIRS, ("Room 7.", "Salle 8.")])  # the file comes before any other finding
    with pytest.raises(DataError, match="--strict: 401 other-file, 1 numbers"):
        prepare(table, tmp_path / "two", PrepareOptions(strict=True))
    write_tsv(table, FRENCH_PAIRS)
    assert not prepare(table, tmp_path / "three", PrepareOptions(target_language="fra")).manifest.findings
    assert not prepare(table, tmp_path / "four", PrepareOptions(keep=("other-file",))).manifest.findings


@pytest.mark.skipif(find_spec("py3langid") is None, reason="an extra")
@pytest.mark.parametrize(("code", "is_told"), [("nl", True), ("nb", False)])
def test_a_relative_is_another_language_and_one_that_the_identifier_does_not_know_is_not(
    tmp_path: Path, code: str, is_told: bool
) -> None:
    table = write_tsv(tmp_path / "en-xx.tsv", GERMAN_PAIRS)
    (*findings,) = prepare(table, tmp_path / "one", PrepareOptions(target_language=code)).manifest.findings
    assert [finding.check for finding in findings] == ["other-file"] * is_told


@pytest.mark.skipif(find_spec("py3langid") is None, reason="an extra")
def test_without_names_the_text_of_the_first_file_is_what_others_are_compared_with(tmp_path: Path) -> None:
    tables = {"a": GERMAN_PAIRS, "b": [(f"{source} It is so.", target) for source, target in FRENCH_PAIRS]}
    files = [CorpusFile(write_tsv(tmp_path / f"{name}.tsv", pairs)) for name, pairs in tables.items()]
    manifest = prepare(files, tmp_path / "one", PrepareOptions(keep=("other-file",))).manifest
    assert (manifest.source_language, manifest.target_language) == ("en", "de")


@pytest.mark.skipif(find_spec("py3langid") is None, reason="an extra")
def test_rows_that_are_not_what_their_column_of_languages_says_are_found(tmp_path: Path) -> None:
    rows = [(*pair, "Latin") for pair in toy_pairs(400)] + [(*pair, "Danish") for pair in FRENCH_PAIRS]
    table = tmp_path / "toy.tsv"
    table.write_text("English\ttarget\tlanguage\n" + "".join("\t".join(row) + "\n" for row in rows))
    problems = [finding.problem for finding in prepare(table, tmp_path / "d", PrepareOptions()).manifest.findings]
    assert sorted(problem.partition(";")[0].rpartition("reads as ")[2] for problem in problems) == [
        "French, but is treated as Danish",
        "German, but is treated as Latin",
    ]
    assert all("mend its column of languages" in problem for problem in problems)


def test_two_files_of_one_language_with_two_thousand_characters_are_alike(tmp_path: Path) -> None:
    draws = random.Random(1)
    shares = [1 / (rank + 2) for rank in range(2_000)]  # of words, after Zipf

    def draw_words(first: int) -> list[str]:
        return ["".join(chr(first + draws.randrange(2_000)) for _ in range(draws.choice((1, 2, 2)))) for _ in shares]

    def write(name: str, words: list[str]) -> CorpusFile:
        sources = draws.sample([source for source, _ in toy_pairs(3_000)], 700)
        targets = ("".join(draws.choices(words, shares, k=6)) + "。" for _ in sources)
        return CorpusFile(write_tsv(tmp_path / f"{name}.tsv", list(zip(sources, targets, strict=True))))

    language, another = draw_words(0x4E00), draw_words(0x6E00)
    files = [write("some", language), write("others", language), write("foreign", another)]
    notes = [finding.note for finding in prepare(files, tmp_path / "one", PrepareOptions()).manifest.findings]
    assert [note.split(",")[0] for note in notes if "beside" in note] == ["the target of foreign.tsv"]
