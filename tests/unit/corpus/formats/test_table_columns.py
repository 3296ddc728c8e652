"""Which columns of a table are the pairs, and whether its first row is a header."""

from pathlib import Path

import pytest

from nmt_cli.corpus.formats import open_reader
from nmt_cli.corpus.formats.inputs import CorpusFile, ReadOptions
from support.formats import refusal, texts

ANIMALS = ["dog", "cat", "horse", "cow", "bird", "fish"]
PAIRS = [(f"The {one} sees the {two}.", f"{one} {two} videt.") for one in ANIMALS for two in ANIMALS]


def table(*columns: object, separator: str = "\t") -> str:
    """A table whose columns are texts of a format with {n}, or the sides of the pairs."""
    sides = {"source": 0, "target": 1}
    rows = (
        [pair[sides[column]] if column in sides else column.format(n=n) for column in columns]
        for n, pair in enumerate(PAIRS)
    )
    return "".join(separator.join(row) + "\n" for row in rows)


@pytest.mark.parametrize(
    "columns",
    [
        ["{n}", "source", "9{n}", "target"],
        ["source", "target", "0.{n}81"],
        ["https://a.example/{n}", "https://b.example/{n}", "source", "target", "1.0{n}"],
        ["news-{n}", "source", "target", "CC-BY 2.0 (France) #{n} (anna) & #1{n} (bob)"],
        ["2024-01-0{n}", "eng", "source", "lat", "target", "forum"],
    ],
)
def test_columns_that_are_no_text_are_left_out(path: Path, columns: list[str]) -> None:
    assert texts(path, table(*columns)) == PAIRS


def test_a_choice_that_is_not_the_first_two_is_told(path: Path) -> None:
    path.write_text(table("{n}", "source", "target"))
    reader = open_reader(CorpusFile(path), ReadOptions())
    list(reader)
    assert reader.notes == [f"{path.name}: columns 2 and 3 hold text and are used; ignored: 1 numbers"]


def test_more_or_fewer_than_two_texts_are_asked_about(path: Path) -> None:
    message = refusal(path, table("{n}", "source", "target", "source"))
    assert "3 columns hold text, of 4: 1: '0'  2: 'The dog sees the dog.'" in message
    assert "--source-column 2 --target-column 3" in message
    assert "only one column holds text, of 2" in refusal(path, table("{n}", "source"))
    assert texts(path, table("{n}", "source", "target", "source"), source_column="4", target_column="3")[0] == (
        PAIRS[0][0],
        PAIRS[0][1],
    )


@pytest.mark.parametrize(
    ("header", "languages"),
    [
        ("source\ttarget\n", None),
        ("Source text\tTarget text\n", None),
        ("English\tLatin\n", ("en", "la")),
        ("text_en\ttext_la\n", ("en", "la")),
        ("eng\tlat\n", ("eng", "lat")),
        ("English (US)\tlatin translation\n", ("en", "la")),
    ],
)
def test_a_header_is_no_pair_and_names_the_languages(
    path: Path, header: str, languages: tuple[str, str] | None
) -> None:
    path.write_text(header + table("source", "target"))
    reader = open_reader(CorpusFile(path), ReadOptions())
    assert [(row.source, row.target) for row in reader] == PAIRS
    assert reader.languages == languages


@pytest.mark.parametrize(
    ("header", "row", "languages"),
    [
        ("English\tdeu\tmsgctxt\tcatalogue\n", ("source", "target", "source", "target"), ("en", "de")),
        ("key\tEnglish\tGerman\tremark\n", ("target", "source", "target", "source"), ("en", "de")),
    ],
)
def test_the_two_headings_that_name_languages_choose_the_columns(
    path: Path, header: str, row: tuple[str, ...], languages: tuple[str, str]
) -> None:
    path.write_text(header + table(*row))
    reader = open_reader(CorpusFile(path), ReadOptions())
    start = header.split("\t").index("English")
    assert [row.index("source", start and 1), row.index("target", start and 2)] == [start, start + 1]
    read = list(reader)
    assert [(row.source, row.target) for row in read] == PAIRS
    assert reader.languages == languages
    assert not any(row.has_more_columns for row in read)


@pytest.mark.parametrize("header", ["", "one\tother\tpage\n", "Number\tEnglish\tLatin\tpage\n"])
def test_the_group_column_is_no_text_and_its_values_are_read(path: Path, header: str) -> None:
    numbers = ["{n}"] if header.startswith("Number") else []
    path.write_text(header + table(*numbers, "source", "target", "see page {n}"))
    column = "page" if header else "3"
    reader = open_reader(CorpusFile(path), ReadOptions(group_columns=("chapter", column)))
    read = list(reader)
    assert [(row.source, row.target, row.group) for row in read] == [
        (*pair, f"see page {number}") for number, pair in enumerate(PAIRS)
    ]
    assert list(reader.group_columns) == [column]


def test_a_name_with_two_languages_chooses_the_first_two_columns_of_text(tmp_path: Path) -> None:
    text = table("source", "target", "source", "target")
    assert texts(tmp_path / "eng-lat.ui.tsv", text) == PAIRS
    assert "4 columns hold text" in refusal(tmp_path / "ui.tsv", text)


def test_names_with_a_bar_are_no_text(path: Path) -> None:
    assert texts(path, table("dialog|label", "source", "target")) == PAIRS


def test_a_header_of_many_columns_is_recognised_by_most_of_its_names(tmp_path: Path) -> None:
    text = "Nr;Source text;Target text;Score\n" + table("{n}", "source", "target", "0.9", separator=";")
    assert texts(tmp_path / "a.csv", text) == PAIRS


@pytest.mark.parametrize(
    ("header", "columns"),
    [
        ("English\tWet\u00e1n\n", ("source", "target")),
        ("Wet\u00e1n (Letwurung)\tEnglish\tSpeaker\n", ("target", "source", "AB")),
    ],
)
def test_one_language_that_is_known_makes_a_header_above_sentences(
    path: Path, header: str, columns: tuple[str, ...]
) -> None:
    order = slice(None) if columns[0] == "source" else slice(None, None, -1)
    assert texts(path, header + table(*columns)) == [pair[order] for pair in PAIRS]
    words = "".join(f"{word}\t{word}x\n" for word in ANIMALS)
    assert texts(path, f"English\tAnglica\n{words}")[0] == ("English", "Anglica")


@pytest.mark.parametrize("first", [("Hello.", "Salve."), ("There is hope.", "Spes est.")])
def test_a_first_pair_that_is_no_header_stays(path: Path, first: tuple[str, str]) -> None:
    assert texts(path, f"{first[0]}\t{first[1]}\n" + table("source", "target"))[0] == first


@pytest.mark.parametrize("mark", ["sep=;", '"sep=;"', "\ufeffsep=;"])
def test_the_line_that_tells_excel_the_delimiter_is_no_row(tmp_path: Path, mark: str) -> None:
    text = f"{mark}\r\nEnglish;Latin\r\n" + table("source", "target", separator=";")
    assert texts(tmp_path / "a.csv", text) == PAIRS
    assert texts(tmp_path / "a.tsv", text) == PAIRS


def test_quotes_around_cells_that_a_spreadsheet_put_there_are_taken_off(path: Path) -> None:
    written = 'He came, he saw.\t"Venit, ""vidit""."\nYes.\tIta.\n"Two\nlines."\tDuae lineae.\n'.replace(
        "He came, he saw.", '"He came, he saw."'
    )
    assert texts(path, written) == [
        ("He came, he saw.", 'Venit, "vidit".'),
        ("Yes.", "Ita."),
        ("Two\nlines.", "Duae lineae."),
    ]
    everything = '"Yes."\t"Ita."\n"No."\t"Non."\n'
    assert texts(path, everything) == [("Yes.", "Ita."), ("No.", "Non.")]
    assert texts(path, everything, format="tsv")[0] == ('"Yes."', '"Ita."')


@pytest.mark.parametrize(
    "text",
    [
        '"Yes."\tIta.\nNo.\tNon.\n',  # no spreadsheet quotes such a cell
        '"Yes, Tom."\t"Ita, Toma."\nNo, Tom.\tNon.\n',  # or this one and not that below
        '"Yes, Tom."\t"Ita, Toma."\nHe said "no".\tNegavit.\n',
        '"Come," he said.\tDixit.\n',
    ],
)
def test_quotes_of_the_sentences_themselves_stay(path: Path, text: str) -> None:
    assert texts(path, text) == [tuple(line.split("\t")) for line in text.splitlines()]
