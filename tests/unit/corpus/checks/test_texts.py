"""Tests of `corpus/checks/texts.py`.

The checks of a single text: what they mend, and what they leave alone. The checks of a single pair: what they find,
and what they leave alone. Duplicates, and sentences that training shares with dev or test data. Lengths and ratios of
lengths, which are learned from the corpus or set by options."""

from __future__ import annotations

import random
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.arrays.scratch import count_values
from nmt_cli.arrays.shifts import find_shifts
from nmt_cli.corpus.checks import CHECKS, TEXT_CHECKS, check_names
from nmt_cli.corpus.checks.check import PairCheck, TextCheck
from nmt_cli.corpus.checks.texts import (
    FEWEST_APOSTROPHES,
    Control,
    Empty,
    Identical,
    IdenticalShort,
    LostCharacters,
    Markup,
    Mojibake,
    Numbers,
    learn_length_limit,
)
from nmt_cli.corpus.config import PrepareOptions
from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.corpus.prepare import prepare
from nmt_cli.corpus.steps.reading import CHECK_BITS
from nmt_cli.corpus.steps.run_checks import run_checks
from nmt_cli.errors import DataError, OptionError
from nmt_cli.formats.inputs import CorpusFile
from nmt_cli.text.tags import parse_tag_list
from nmt_cli.text.words import choose_apostrophe
from support.corpora import check_rows, examine_rows, example_lines, toy_pairs, write_tsv

SAME = None  # the text is left alone
MENDED: dict[type[TextCheck], dict[str, str | None]] = {
    Mojibake: {
        **{
            "".join(bytes([b]).decode("cp1252", "ignore") or chr(b) for b in text.encode()): text
            for text in ("für", "naïve – “ja”", "Привет", "日本語", "😀 café", "Ñandú", "l’été")
        },
        **dict.fromkeys(("für", "naïve – “ja”", "Привет", "日本語", "😀 café", "Ñandú", "l’été"), SAME),
        **dict.fromkeys(("„Ich vergaß“, sagte er.", "»SPÄ«", "là »", "«À»", "AÇÃO", "größer…", "Ä“", "100 Â"), SAME),
    },
    Markup: {
        "stone &amp; tile": "stone & tile",
        "caf&eacute; &#8364;5 &#x20AC;": "café €5 €",
        "<b>bold</b> and <A HREF='x'>link</a>": "bold and link",
        "one<br/>two": "one two",
        "one <i> two </i> three <b>four": "one  two  three four",
        '"<i>Hello</i>", he said.': '"Hello", he said.',
        "<i>Half of a pair.": "Half of a pair.",
        "one <br> two": "one   two",
        "see <b> this </b> word": "see  this  word",
        "Tom &amp; Ann & Bob": "Tom & Ann & Bob",
        "a < b and c > d, I <3 you, <name>, AT&T; R&D": SAME,
        # texts about markup
        "The character é would be replaced by &eacute; or another.": SAME,
        'If the code "<SPAN>" occurs, it is ignored.': SAME,
        "Write “&amp;” or `<br>`.": SAME,
        "Use the <b> tag for that.": SAME,
        "Das Element <span> hat keine Bedeutung.": SAME,
        "Gemeint sind <OL>- und <UL>-Markierungen, nicht (<b>).": SAME,
        "The sizes are those of the <font size=1> to <font size=7> tags.": SAME,
    },
    Control: {"a\0b\u200bc\x1b": "abc"},
}


@pytest.mark.parametrize(
    ("check", "text", "mended"), [(check, *row) for check, rows in MENDED.items() for row in rows.items()]
)
def test_a_text_is_mended_and_one_that_looks_alike_is_left_alone(
    check: type[TextCheck], text: str, mended: str | None
) -> None:
    assert check().mend_text(text) == (text if mended is SAME else mended)


@given(st.text(max_size=40))
def test_menders_take_any_text_and_leave_nothing_to_mend_twice(text: str) -> None:
    for check in TEXT_CHECKS:
        if not isinstance(check, Mojibake | Markup):  # what was escaped twice is mended twice
            assert check.mend_text(check.mend_text(text)) == check.mend_text(text)
        assert isinstance(check.mend_text(text), str)


@pytest.mark.parametrize(
    ("check", "source", "target", "has_problem"),
    [
        *((Empty, "", "x", True), (Empty, "x", "", True), (Empty, "x", "y", False)),
        *((LostCharacters, "caf\ufffd", "x", True), (LostCharacters, "café", "?", False)),
        *((LostCharacters, "He eats.", "?mikwa", True), (LostCharacters, "?Come?", "Eat?", False)),
        *((LostCharacters, "ni?o", "x", True), (LostCharacters, "Really?No!", "¿Qué? ¿no?", False)),
        *((Identical, "a b c d", "a b c d", True), (Identical, "a b c", "a b c", False)),
        *((IdenticalShort, "Taxi!", "Taxi!", True), (IdenticalShort, "", "", False)),
        *((Numbers, "5 dogs", "6 Hunde", True), (Numbers, "three dogs", "3 Hunde", False)),
        *((Numbers, "1,000,000 men", "1.000.000 Mann", False), (Numbers, "5 000", "5000", False)),
        *((Numbers, "1999 200", "1999 200", False), (Numbers, "٣ dogs", "3 Hunde", False)),
        *((Numbers, "7 and 8", "8 und 7", False), (Numbers, "at 07:05", "um 7:05", False)),
    ],
)
def test_a_pair_by_itself_has_a_problem(check: type[PairCheck], source: str, target: str, has_problem: bool) -> None:
    assert check().has_problem(source, target) is has_problem


def test_duplicates_are_exact_or_equal_in_form_and_the_first_stays() -> None:
    findings = check_rows(
        [("A b", "X y"), ("c", "z"), ("A b", "X y"), ("a B", "x Y"), ("A b", "other"), ("A b", "X y")]
    )
    assert (findings["duplicate"].count, example_lines(findings, "duplicate")) == (2, [3, 6])
    assert (findings["duplicate-form"].count, example_lines(findings, "duplicate-form")) == (1, [4])
    assert findings["many-targets"].action == "reported"
    assert example_lines(findings, "many-targets") == [1, 5]


def test_exact_repeats_that_are_kept_are_no_duplicates_in_form() -> None:
    rows = [("A b", "X y"), ("c", "z"), ("A b", "X y"), ("a B", "x Y")]
    findings = check_rows(rows, PrepareOptions(keep=("duplicate",)))
    assert (findings["duplicate"].action, example_lines(findings, "duplicate")) == ("kept", [3])
    assert example_lines(findings, "duplicate-form") == [4]


def test_training_pairs_that_touch_given_test_data_are_dropped() -> None:
    rows = [("a", "1"), ("b", "2"), ("C!", "3"), ("d", "4"), ("c!", "x"), ("y", "2"), ("b", "z"), ("d", "w")]
    pairs = examine_rows(rows, roles=["train", "test", "dev"], inputs=[0, 0, 0, 0, 1, 1, 2, 2])
    findings = {finding.check: finding for finding in run_checks(pairs, PrepareOptions(), lambda done: None)}
    assert findings["held-out"].count == 3  # b and C! for test, d for dev
    assert pairs.is_kept.tolist() == [True, False, False, False, True, True, True, True]


def test_given_dev_pairs_that_touch_given_test_data_are_dropped_too() -> None:
    rows = [("a", "1"), ("b", "2"), ("b", "3")]
    pairs = examine_rows(rows, roles=["train", "dev", "test"], inputs=[0, 1, 2])
    run_checks(pairs, PrepareOptions(), lambda done: None)
    assert pairs.is_kept.tolist() == [True, False, True]


def test_lengths_are_learnt_from_the_corpus_and_options_set_them() -> None:
    short, long = np.full(1000, 8), np.full(1000, 60)
    noise = np.random.default_rng(1).lognormal(0, 0.4, 1000)
    assert learn_length_limit(count_values([(short * noise).astype(np.int32)])) == 100
    assert 300 < learn_length_limit(count_values([(long * noise).astype(np.int32)])) < 700
    rows = [*toy_pairs(300), ("a " * 120 + "b", "c " * 119 + "d"), ("x" * 5000, "y " * 90 + "z")]
    assert check_rows(rows)["too-long"].count == 2
    assert check_rows(rows, PrepareOptions(max_length=300))["length-ratio"].count == 1
    assert check_rows(rows, PrepareOptions(max_length=6))["too-long"].count == 302


def test_ratios_are_learnt_from_the_corpus() -> None:
    """Chinese has a third of the characters of its English; that is usual there, and equal lengths are not."""
    generator = random.Random(1)
    lengths = [generator.randint(4, 12) for _ in range(1000)]
    rows = [("word " * n + str(i), "字" * (2 * n) + str(i)) for i, n in enumerate(lengths)]
    assert "length-ratio" not in check_rows(rows)
    rows[500] = (rows[500][0], "字" * 90)
    rows[700] = (rows[700][0] + " word" * 20, "字字")
    assert example_lines(check_rows(rows), "length-ratio") == [501, 701]


def test_a_fixed_ratio_is_of_words_and_spares_short_pairs() -> None:
    rows = [("a b c d e", "x"), ("a b c d e f", "x y"), ("a b c d e f", "x"), ("x", "a b c d e f")]
    assert example_lines(check_rows(rows, PrepareOptions(max_ratio=3)), "length-ratio") == [3, 4]


# Parallel files whose lines are shifted against each other.


def lengths(number: int, seed: int = 1) -> tuple[list[int], list[int]]:
    generator = np.random.default_rng(seed)
    source = generator.lognormal(3.5, 0.5, number) + 1
    return source.astype(int).tolist(), (source * generator.lognormal(0.1, 0.2, number) + 1).astype(int).tolist()


@pytest.mark.parametrize("lines", [1, -1, 3, -7])
@pytest.mark.parametrize("first", [0, 150, 1200])
def test_shifted_lines_are_found_with_their_first_line(lines: int, first: int) -> None:
    source, target = lengths(3000)
    moved = target[first:]
    moved = [20] * lines + moved[:-lines] if lines > 0 else moved[-lines:] + [20] * -lines
    shifts = find_shifts(source, target[:first] + moved)
    assert [shift.lines for shift in shifts] == [lines]
    assert abs(shifts[0].first - first) <= 10
    assert shifts[0].end == 3000


def test_a_shift_that_is_made_good_ends_there() -> None:
    source, target = lengths(3000)
    shifts = find_shifts(source, [*target[:1000], 5, *target[1000:1999], *target[2000:]])
    assert len(shifts) == 1
    assert abs(shifts[0].first - 1000) <= 5 and abs(shifts[0].end - 2000) <= 5


@pytest.mark.parametrize("seed", range(5))
def test_lines_in_place_are_not_shifted_also_when_sorted_or_random_or_few(seed: int) -> None:
    source, target = lengths(3000, seed)
    assert find_shifts(source, target) == []
    assert find_shifts(sorted(source), sorted(target)) == []
    assert find_shifts(source, lengths(3000, seed + 10)[1]) == []
    assert find_shifts(source[:150], target[:150]) == []
    assert find_shifts([7] * 500, [9] * 500) == []


def test_shifted_pairs_are_dropped_and_the_line_is_told() -> None:
    source, target = lengths(1000)
    texts = [("s" * a, "t" * b) for a, b in zip(source, [*target[:600], 9, *target[600:-1]], strict=True)]
    finding = check_rows([(f"{a} {i}", f"{b} {i}") for i, (a, b) in enumerate(texts)])["shifted"]
    assert finding.action == "dropped" and 395 <= finding.count <= 405
    assert "0.tsv from about row " in finding.note and "to 1,000, by 1 line" in finding.note


# The table of all checks, and the names that `--keep` accepts.


def test_unknown_checks_and_leaks_cannot_be_kept() -> None:
    with pytest.raises(OptionError, match="there is no check 'swaped'") as caught:
        check_names(("swaped",))
    assert caught.value.hint == "did you mean 'swapped'?"
    with pytest.raises(OptionError, match="cannot be kept"):
        check_names(("held-out",))


def test_every_check_has_a_name_of_its_own_and_says_what_it_finds() -> None:
    names = [check.name for check in CHECKS]
    assert len(set(names)) == len(names) and max(CHECK_BITS.values()) < 1 << 32
    assert all(check.problem and check.action in ("dropped", "mended", "reported") for check in CHECKS)


# What the spreadsheets of field linguists have beside sentences.

FINDS = [
    ("brackets", "He eats.", "mikwa (fig. he dies)"),
    ("brackets", "He eats (now).", "mikwa"),
    ("brackets", "He eats.", "mikwa / mikua"),
    ("brackets", "He eats.", "*mikwa"),
    ("brackets", "He eats.", "mikwa (?)"),
    ("glosses", "He saw the dog.", "chichi mi-kwa 3SG-see-PST"),
    ("boundaries", "He is eating it.", "mi-kwa-ti nu-ka=pa"),
    ("brackets", "He eats.", "mikwa, lit. ‘eats’"),
    ("brackets", "He eats.", "mikwa <risas> {inaudible}"),
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


MISSING = ["?", "???", "***", "XXX", "NA", "n/a", "[missing]", "(sin traducción)"]
MISSING_FOR_ANY = ["???", "--", "#NAME?", "#¿NOMBRE?", "#REF!", "#DIV/0!", "#N/A", "#NV"]  # also beside a short text
SOURCES = ("We eat.", "Look at them!", "He is my uncle.", "She sits in the shade.", "They left us before the rain.")
TRANSLATED = [
    [("Is that so, do you think?", "Kwa?")] * 9,
    [("(She laughs.)", "[ja]")],
    [("Look!", "!")],
    [("#N/A", "#NV")],
    [(source, "We rest.") for source in ("I", "You", "He rests.", "We rest again.", "They rest by the river of ash.")],
    [("Room 12 is the one.", "12")],
    [(f"He eats {number} of them now.", f"Kwa {number}.") for number in range(9)],
    [(f"He eats {number} of them now.", "Kwa.") for number in range(4)],
]


@pytest.mark.parametrize(
    ("pairs", "number"),
    [
        *(([("He is eating the bread of his old mother.", text)], 1) for text in MISSING),
        *(([("We eat.", text)], 1) for text in MISSING_FOR_ANY),
        ([(source, "later") for source in SOURCES], 5),
        ([("?", "He is eating the bread.")], 1),
        ([(f"He eats {number} of them now.", "later") for number in range(6)], 6),
        *((pairs, 0) for pairs in TRANSLATED),
    ],
)
def test_what_stands_for_a_missing_translation_is_dropped(pairs: list[tuple[str, str]], number: int) -> None:
    finding = check_rows([*toy_pairs(20), *pairs]).get("placeholders")
    assert (0 if finding is None else finding.count) == number


@pytest.mark.parametrize(("source", "target"), PASSES)
def test_sentences_pass(source: str, target: str) -> None:
    assert not {*check_rows([*toy_pairs(20), (source, target)])} & {check for check, *_ in FINDS}


def test_a_few_of_many_are_chance() -> None:
    rows = [*toy_pairs(1_000), ("THE FIRST LETTER", "Kwami nele"), ("He eats (now).", "mikwa")]
    assert not {"capitals", "brackets"} & {*check_rows(rows)}


def test_accents_apart_are_composed_and_told() -> None:
    finding = check_rows([*toy_pairs(20), ("He eats.", "n\u0303anda")])["composition"]
    assert (finding.count, finding.action, finding.effect) == (1, "mended", "repaired")


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("mikwa (lit. 3 eats).", "mikwa."),
        ("He eats [literalmente: come él] it.", "He eats it."),
        ("He eats (literal: come el)", "He eats"),
        ("(lit. he eats)", "(lit. he eats)"),
        ("A number (literal or not)", "A number (literal or not)"),
    ],
)
def test_notes_are_cut_from_texts_unless_nothing_is_left(text: str, left: str) -> None:
    rows = [*toy_pairs(20), ("He is eating.", text)]
    assert examine_rows(rows).target[20] == left
    assert ("notes" in check_rows(rows)) == (text != left)
    assert examine_rows(rows, keep=("notes",)).target[20] == text


def spell(usual: int, slips: int, word: str = "si{}eht") -> list[tuple[str, str]]:
    """Toy pairs whose targets have a letter ' in so many texts, and ’ in others."""
    marks = "'’"
    return [
        (source, target.replace("sieht", word.format(marks[n >= usual])))
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
@pytest.mark.parametrize("word", ["si{}eht", "sieht{}"])
def test_one_letter_has_one_apostrophe_where_that_is_clear(
    language: str,
    keep: tuple[str, ...],
    slips: int,
    check: str | None,
    action: str | None,
    left: int,
    word: str,
    tmp_path: Path,
) -> None:
    table = write_tsv(tmp_path / "a.tsv", spell(200, slips, word))
    report = prepare(table, tmp_path / "data", PrepareOptions(target_language=language, keep=keep))
    findings = {finding.check: finding for finding in report.manifest.findings if "apostrophes" in finding.check}
    assert {name: finding.action for name, finding in findings.items()} == ({} if check is None else {check: action})
    assert all(finding.count == slips for finding in findings.values())
    corpus = PreparedCorpus.load(tmp_path / "data")
    texts = [pair.target for split in ("train", "dev", "test") for pair in corpus.read_pairs(split)]
    assert sum("’" in text for text in texts) == left
    assert sum(bool(choose_apostrophe(text).search(text)) for text in texts) == 200 + slips > FEWEST_APOSTROPHES
    if action == "mended":
        assert findings["apostrophes"].note == "target: ' 200, ’ 20; now all are '"
        assert "’" in findings["apostrophes"].examples[0].target


@pytest.mark.parametrize(("letter", "is_mixed"), [("ʔ", True), ("s", False)])
def test_a_glottal_stop_for_the_apostrophe_of_the_same_words_is_reported(
    letter: str, is_mixed: bool, tmp_path: Path
) -> None:
    words = ["ta'a", "ke'e", "mo'o", "su'u", "li'i", "ka'o"]
    rows = [
        (f"This is row {row}.", f"{words[row % 6]} {row}".replace("'", "'" if row % 4 < 2 else letter))
        for row in range(200)
    ]
    table = write_tsv(tmp_path / "a.tsv", [*rows, ("That is it.", "kʔa k'i")])
    report = prepare(table, tmp_path / "data", PrepareOptions(target_language="tar"))
    counts = [finding.count for finding in report.manifest.findings if finding.check == "mixed-apostrophes"]
    assert counts == [100] * is_mixed


def test_pairs_that_an_apostrophe_alone_tells_apart_are_duplicates(tmp_path: Path) -> None:
    pairs = [(source, target.replace("ꞌ", "'")) for source, target in spell(200, 0)]
    twice = [*pairs, *((source, target.replace("'", "ꞌ")) for source, target in pairs[:30])]
    report = prepare(write_tsv(tmp_path / "a.tsv", twice), tmp_path / "data", PrepareOptions(target_language="tar"))
    assert report.manifest.counts.dropped["duplicate"] == 30


# Files of one corpus whose languages differ, as their letters say.

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
    assert "the target of toy.tsv, unlike en-de.tsv; if so, use toy.tsv=to:" in finding.note
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
        "a file whose target looks like French, but is treated as German; to change this, use"
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
    assert sorted(problem.partition(";")[0].rpartition("looks like ")[2] for problem in problems) == [
        "French, but is treated as Danish",
        "German, but is treated as Latin",
    ]
    assert all("correct the language column" in problem for problem in problems)


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
    assert [note.split(",")[0] for note in notes if "unlike" in note] == ["the target of foreign.tsv"]
