"""Tests of glossary: the entries that stand at a place of a text."""

import time
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.carrying.glossary import Glossary, PrefixIndex, fold_case
from nmt_cli.carrying.kinds import find_spans
from nmt_cli.carrying.spans import cover_spans
from nmt_cli.errors import DataError

WORDS = st.text("ab ", min_size=1, max_size=6)


@given(st.lists(WORDS, max_size=12), st.text("ab c", max_size=12), st.integers(0, 12))
def test_all_entries_that_stand_at_a_place_are_found_longest_first(entries: list[str], text: str, start: int) -> None:
    expected = sorted((entry for entry in set(entries) if text.startswith(entry, start)), key=len, reverse=True)
    assert list(PrefixIndex(entries).find_at(text, start)) == expected


def test_a_form_that_has_a_line_or_stands_in_a_longer_term_is_not_reported() -> None:
    terms = Glossary(
        {"landlord": "Vermieter", "landlords": "Vermieter", "lord": "Herr", "lords of war": "Kriegsherren"}
    )
    assert list(terms.find_forms("Landlords, lords of war, lords", "eng")) == [("lords", "lord")]


def write(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def find_terms(terms: Glossary, text: str) -> list[tuple[str, str]]:
    spans = find_spans(text)
    found = sorted([*spans, *terms.find_terms(cover_spans(text, spans))])
    return [(text[span.start : span.end], span.text) for span in found]


def test_a_file_is_read_with_blank_lines_comments_and_a_byte_order_mark(tmp_path: Path) -> None:
    text = "\ufeff# terms\r\n\r\nneural network\tneuronales Netz\r\n beam  search \tStrahlsuche\n"
    read = Glossary.load(write(tmp_path / "terms.tsv", text))
    assert read.terms == {"neural network": "neuronales Netz", "beam search": "Strahlsuche"}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t.tsv", "English\tGerman\nserver\tRechner\n"),
        ("t.txt", "# terms\nsource\ttarget\r\nserver\tRechner\r\n"),
        ("t.tsv", "en\tde\nserver\tRechner\n"),
        ("t.csv", "English,German\nserver,Rechner\n"),
        ("t.csv", "# a\nserver;Rechner\n# b;c\n"),
        ("t.jsonl", '{"source": "server", "target": "Rechner"}\n'),
    ],
)
def test_headings_are_no_terms_and_other_formats_are_read(name: str, text: str, tmp_path: Path) -> None:
    assert Glossary.load(write(tmp_path / name, text)).terms == {"server": "Rechner"}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t.csv", "Wetán;Cat.;Latin\nkwa;s.;canis\n"),
        ("t.csv", "Latin,Wetán\ncanis,kwa\n"),
        ("t.tsv", "No.\tLatin\tWetán\n1\tcanis\tkwa\n"),
        ("t.txt", "lat\tWetan\ncanis\tkwa\n"),
        ("t.tsv", "kwa\tcanis\n"),
    ],
)
def test_headings_choose_the_columns_and_the_direction(name: str, text: str, tmp_path: Path) -> None:
    path = write(tmp_path / name, text)
    assert Glossary.load(path, ("Wetán", "la")).terms == {"kwa": "canis"}
    if "Lat" in text:
        assert Glossary.load(path, ("la", "Wetán")).terms == {"canis": "kwa"}


def test_columns_that_no_heading_names_are_refused_with_what_helps(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "kwa;a dog;canis\n" * 9)
    with pytest.raises(DataError) as caught:
        Glossary.load(path, ("Wetán", "la"))
    assert "leave only the two columns of the terms, or name" in str(caught.value.hint)


def test_the_first_of_several_translations_counts_and_the_term_is_noted(tmp_path: Path) -> None:
    read = Glossary.load(write(tmp_path / "t.tsv", "a\tb\n\na\tc\na\td\nx\ty\nx\ty\n"))
    assert read.terms == {"a": "b", "x": "y"} and read.ambiguous == ("a",)


@pytest.mark.parametrize("text", ["English\tEnglisch\na\tb\n", "text\tText\na\tb\n", "source\ttarget\n"])
def test_a_term_that_could_name_a_column_is_kept(text: str, tmp_path: Path) -> None:
    first = text.split("\n")[0].split("\t")
    assert Glossary.load(write(tmp_path / "terms.tsv", text)).terms[first[0]] == first[1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\tb\nc\n", "row 2: .c. is not a source term and a target term"),
        ("a\tb\tc\n", r"row 1: .a.+b.+c. is not a source term and a target term"),
        ("a\t\n", r"row 1: .a.+ is not a source term and a target term"),
        (b"a\tb\nx\t\xff\n", "line 2: byte 0xff is not valid UTF-8"),
        ("\n# nothing\n", "there are no terms in"),
    ],
)
def test_a_bad_file_is_told_with_its_line(tmp_path: Path, text: str | bytes, message: str) -> None:
    with pytest.raises(DataError, match=message):
        Glossary.load(write(tmp_path / "terms.tsv", text))


def test_two_cases_of_a_letter_for_re_are_one_letter_for_the_glossary() -> None:
    assert all(
        fold_case(first) == fold_case(second) for first, second in ("iI", "iİ", "ıI", "sſ", "kK", "åÅ", "σς", "ßẞ")
    )
    assert fold_case("Maße") != fold_case("Masse")


@pytest.mark.parametrize("text", ["über Qualität", "Việt", "한국", "\u212bngström"])
def test_terms_are_found_in_decomposed_text_and_only_whole_letters(text: str) -> None:
    terms = Glossary(
        {"Qualität": "quality", "Việt": "Viet", "한국": "Korea", "Ångström": "angstrom", "u": "no", "하": "no"}
    )
    for form in ("NFC", "NFD"):
        written = unicodedata.normalize(form, text)
        [(term, _)] = find_terms(terms, f"{written}.")
        assert term and written.endswith(term)
    assert find_terms(terms, "Viê\u0323t") == [("Viê\u0323t", "Viet")]


def test_terms_that_begin_alike_cost_no_more_than_others() -> None:
    beginning = "a " * 45
    glossary = Glossary({f"{beginning}x{number}": "y" for number in range(1_000)})
    started = time.process_time()
    assert [span.start for span in glossary.find_terms("a " * 4_000 + "x7 a")] == [2 * 4_000 - len(beginning)]
    assert time.process_time() - started < 2  # 6 seconds, if each term were tried at each place
