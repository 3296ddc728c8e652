"""What the spreadsheets of field linguists have beside sentences."""

from __future__ import annotations

from pathlib import Path

import pytest

from nmt_cli.corpus.checks.texts import APOSTROPHE, FEWEST_APOSTROPHES
from nmt_cli.corpus.config import PrepareOptions
from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.corpus.prepare import prepare
from support.corpora import check_rows, toy_pairs, write_tsv

FINDS = [
    ("notes", "He eats.", "mikwa (lit. 3 eats)"),
    ("notes", "He eats [literalmente: come él].", "mikwa"),
    ("brackets", "He eats (now).", "mikwa"),
    ("brackets", "He eats.", "mikwa / mikua"),
    ("brackets", "He eats.", "*mikwa"),
    ("brackets", "He eats.", "mikwa (?)"),
    ("glosses", "He saw the dog.", "chichi mi-kwa 3SG-see-PST"),
    ("boundaries", "He is eating it.", "mi-kwa-ti nu-ka=pa"),
    ("capitals", "THE FIRST LETTER", "Kwami nele"),
    ("written-twice", "Come with me, my dog.", "kwami nele chichi kwami nele chichi"),
    ("source-words", "El presidente nacional visitó ciudad.", "nacional presidente ciudad omaña"),
]
PASSES = [
    ("He eats (now).", "mikwa (axan)"),
    ("He said (and meant) it.", "Er sagte (und meinte) es."),
    ("Yes / no, and/or both.", "Ja / nein, beides."),
    ("Go and/or stay.", "Geh."),
    ("NASA has a plan.", "Die NASA hat einen Plan."),
    ("Bye bye!", "kwami kwami"),
    ("A well-known man.", "Ein Mann."),
    ("Tom and Mary saw Boston.", "Tom, Mary, Boston."),
    ("PL of man is men.", "Der PL."),
]


@pytest.mark.parametrize(("check", "source", "target"), FINDS)
def test_what_is_no_sentence_is_counted_with_its_line(check: str, source: str, target: str) -> None:
    rows = [*toy_pairs(20), (source, target)]
    finding = check_rows(rows)[check]
    assert (finding.count, finding.action) == (1, "reported")
    assert finding.examples[0].line == 21


@pytest.mark.parametrize(("source", "target"), PASSES)
def test_sentences_pass(source: str, target: str) -> None:
    assert not {*check_rows([*toy_pairs(20), (source, target)])} & {check for check, *_ in FINDS}


def test_a_few_of_many_are_chance() -> None:
    rows = [*toy_pairs(1_000), ("THE FIRST LETTER", "Kwami nele"), ("He eats (now).", "mikwa")]
    assert not {"capitals", "brackets"} & {*check_rows(rows)}


def test_accents_apart_are_composed_and_told() -> None:
    finding = check_rows([*toy_pairs(20), ("He eats.", "n\u0303anda")])["composition"]
    assert (finding.count, finding.action) == (1, "mended")


def spell(usual: int, slips: int) -> list[tuple[str, str]]:
    """Toy pairs whose targets have a letter ' in so many texts, and ’ in others."""
    marks = "'’"
    return [
        (source, target.replace("sieht", f"si{marks[n >= usual]}eht"))
        for n, (source, target) in enumerate(pair for pair in toy_pairs(2_000) if "sieht" in pair[1])
    ][: usual + slips]


@pytest.mark.parametrize(
    ("language", "keep", "slips", "check", "action", "left"),
    [
        ("tar", (), 20, "apostrophes", "mended", 0),
        ("tar", ("apostrophes",), 20, "apostrophes", "kept", 20),
        ("tar", (), 100, "mixed-apostrophes", "reported", 100),
        ("deu", (), 20, None, None, 20),
    ],
)
def test_one_letter_has_one_apostrophe_where_that_is_clear(
    language: str, keep: tuple[str, ...], slips: int, check: str | None, action: str | None, left: int, tmp_path: Path
) -> None:
    table = write_tsv(tmp_path / "a.tsv", spell(200, slips))
    report = prepare(table, tmp_path / "data", PrepareOptions(target_language=language, keep=keep))
    findings = {finding.check: finding for finding in report.manifest.findings if "apostrophes" in finding.check}
    assert {name: finding.action for name, finding in findings.items()} == ({} if check is None else {check: action})
    assert all(finding.count == slips for finding in findings.values())
    corpus = PreparedCorpus.load(tmp_path / "data")
    texts = [pair.target for split in ("train", "dev", "test") for pair in corpus.read_pairs(split)]
    assert sum("’" in text for text in texts) == left
    assert sum(bool(APOSTROPHE.search(text)) for text in texts) == 200 + slips > FEWEST_APOSTROPHES
    if action == "mended":
        assert findings["apostrophes"].note == "target: ' 200, ’ 20; now all are '"
        assert "’" in findings["apostrophes"].examples[0].target


def test_pairs_that_an_apostrophe_alone_tells_apart_are_duplicates(tmp_path: Path) -> None:
    pairs = [(source, target.replace("ꞌ", "'")) for source, target in spell(200, 0)]
    twice = [*pairs, *((source, target.replace("'", "ꞌ")) for source, target in pairs[:30])]
    report = prepare(write_tsv(tmp_path / "a.tsv", twice), tmp_path / "data", PrepareOptions(target_language="tar"))
    assert report.manifest.counts.dropped["duplicate"] == 30
