"""The published numbers: RESULTS.md and README say what results.jsonl says, and every link to them leads somewhere."""

import pkgutil
import random
import re
from collections.abc import Iterator
from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import results
from bench import read_rows
from checks import draw_unseen
from fuzz_server import ENDPOINTS
from phrases import PHRASES, Phrase, is_right, read_phrases
from rules import PARTS, TABLES, leave_out, list_rules
from rules import list_losses as list_changed_losses
from starlette.routing import Match
from stress_lost import HostileLine, list_losses, make_line
from stress_rows import exchange_name, keeps_numbers, keeps_wrapped, wrap_word

from nmt_cli.server.run import list_routes
from nmt_cli.server.service import Service
from support.served import make_pool

PROJECT = Path(__file__).parents[2]
BENCHMARKS = PROJECT / "benchmarks"
LOG = [path for path in sorted((BENCHMARKS / "log").glob("*.md")) if path.name != "README.md"]
OWN = [*sorted(BENCHMARKS.glob("*.md")), *sorted((BENCHMARKS / "log").glob("*.md"))]
PAGES = [
    PROJECT / "README.md",
    PROJECT / "CHANGELOG.md",
    *sorted((PROJECT / "docs").glob("*.md")),
    *sorted((PROJECT / "examples").rglob("*.md")),
    *OWN,
]
SOURCES = [
    *sorted((PROJECT / "nmt_cli").rglob("*.py")),
    *sorted((PROJECT / "examples").rglob("*.toml")),
    *sorted(BENCHMARKS.rglob("*.py")),
    *PAGES,
]
KEYS = {"id", "task", "command", "machine", "seed", "value", "unit", "interval", "signature", "commit", "date"}
COLUMNS = ["command", "machine", "seed", "value", "interval", "commit"]
CELL = re.compile(r"(?<!\\)\|")
MACHINE = re.compile(r"`((?:amx|avx)[\w-]*)`")
# Decimals that are not ours: versions of other programs, and a published score.
OTHERS = re.compile(r"Joey NMT 2\.3|CTranslate2 4\.8|published: 41\.02")
DECIMAL = re.compile(r"\d+[.:]\d+")


ROWS: list[dict[str, Any]] = read_rows(BENCHMARKS / "results.jsonl")


def split_cells(line: str) -> list[str]:
    return [cell.strip() for cell in CELL.split(line)[1:-1]]


def table_rows(text: str) -> Iterator[list[str]]:
    """Yields the cells of each row below the rule of a Markdown table."""
    lines = text.splitlines()
    for above, line in pairwise(lines):
        if line.startswith("| ") and above.startswith("|"):
            yield split_cells(line)


def numbers_section() -> str:
    return (PROJECT / "README.md").read_text(encoding="utf-8").split("## Numbers\n")[1].split("\n## ")[0]


def unpublished(section: str, rows: list[dict[str, Any]]) -> list[str]:
    """Returns the quoted values that are no row, for the machine that the text beside them names if it names one."""
    published = {(None, quote) for row in rows for quote in quotes_of(row)}
    published |= {(row["machine"], quote) for row in rows for quote in quotes_of(row)}
    return [
        f"{what}: {value}"
        for what, value in table_rows(section)
        for machine in (MACHINE.findall(what) or [None])
        if (machine, value) not in published
    ]


def quotes_of(row: dict[str, Any]) -> list[str]:
    """The ways to quote a row: its value and, if there is one, its interval."""
    value = results.format_value(row)
    return [value] if row["interval"] is None else [value, f"{value} {results.format_interval(row)}"]


def test_every_value_in_readme_is_a_row() -> None:
    section = numbers_section()
    assert len(list(table_rows(section))) == 12
    assert not unpublished(section, ROWS)


def test_a_changed_value_and_one_of_another_machine_are_noticed() -> None:
    row = {"value": 31.17, "unit": "BLEU", "interval": 1.96, "machine": "amx"}
    table = "| quality | value |\n|---|---|\n"
    assert not unpublished(table + "| corpus (`amx`) | 31.17 BLEU ± 1.96 |", [row])
    assert not unpublished(table + "| corpus | 31.17 BLEU |", [row])
    assert unpublished(table + "| corpus | 31.18 BLEU ± 1.96 |", [row])
    assert unpublished(table + "| corpus | 31.17 BLEU ± 1.97 |", [row])
    assert unpublished(table + "| corpus (`avx2`) | 31.17 BLEU |", [row])


def test_readme_has_one_number_per_row_and_none_outside_the_value_column() -> None:
    section = numbers_section()
    tables = [line for line in section.splitlines() if line.startswith("|")]
    assert {len(split_cells(line)) for line in tables} == {2}
    beside = [what for what, _ in table_rows(section)]
    prose = [line for line in section.splitlines() if not line.startswith("|")]
    for text in [*beside, *prose]:
        assert not DECIMAL.findall(OTHERS.sub("", re.sub(r"`[^`]*`", "", text))), text
    for _, value in table_rows(section):
        assert len(re.findall(r"\d[\d.,:]*", value.split("±")[0].replace("CTranslate2", ""))) == 1, value


def test_the_page_is_what_the_rows_say() -> None:
    page = (BENCHMARKS / "RESULTS.md").read_text(encoding="utf-8")
    assert page == results.render_page(ROWS), "run `python benchmarks/results.py`"


def test_the_page_has_one_table_per_task_and_one_row_per_number() -> None:
    page = (BENCHMARKS / "RESULTS.md").read_text(encoding="utf-8")
    tables = [line for line in page.splitlines() if line.startswith("| command |")]
    assert [split_cells(line) for line in tables] == [COLUMNS] * len({row["task"] for row in ROWS})
    shown = [(cells[0].replace("\\|", "|"), cells[3], cells[5]) for cells in table_rows(page)]
    assert shown == [(row["command"], results.format_value(row), row["commit"]) for row in ROWS]


def test_rows_are_complete_and_named_once() -> None:
    machines = re.findall(r"^\| `([\w-]+)` \| \w+ ", (BENCHMARKS / "machines.md").read_text(encoding="utf-8"), re.M)
    assert len({row["id"] for row in ROWS}) == len(ROWS)
    for row in ROWS:
        assert set(row) == KEYS, row["id"]
        assert row["machine"] in {*machines, None}, row["id"]
        assert row["signature"] or row["unit"] != "BLEU", row["id"]
        assert row["seed"] is None or isinstance(row["seed"], int), row["id"]
        assert re.fullmatch("[0-9a-f]{7}", row["commit"]), row["id"]
        assert row["date"] is None or date.fromisoformat(row["date"]), row["id"]


@pytest.mark.parametrize("path", LOG, ids=lambda path: path.name)
def test_a_page_of_the_log_has_one_question_a_conclusion_and_an_entry(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    title = text.splitlines()[0].removeprefix("# ")
    assert title.endswith("?")
    assert all(f"**{part}.**" in text for part in ("Question", "Command", "Conclusion"))
    index = (BENCHMARKS / "log" / "README.md").read_text(encoding="utf-8")
    assert f"| [{title}]({path.name}) |" in index


def test_every_script_has_a_row_in_the_overview() -> None:
    overview = (BENCHMARKS / "README.md").read_text(encoding="utf-8")
    assert not [path.name for path in BENCHMARKS.glob("*.py") if f"`{path.name}" not in overview]


def test_paths_of_benchmarks_that_code_and_pages_name_exist() -> None:
    named = {
        (source.relative_to(PROJECT).as_posix(), path)
        for source in SOURCES
        for path in re.findall(r"benchmarks/(?!SCRIPT)[\w/-]+\.(?:md|py|jsonl)", source.read_text(encoding="utf-8"))
    }
    assert any(source.startswith("nmt_cli/") for source, _ in named)
    assert not [(source, path) for source, path in named if not (PROJECT / path).is_file()]


# The benchmark of faithfulness counts what comes through: a number in digits or words of its own, spans as often.


@pytest.mark.parametrize(
    ("source", "target", "kept"),
    [
        ("8 ducks in 1931", "1931 waren es 8 Enten", True),
        ("8 ducks in 1931", "1931 waren es acht Enten", True),
        ("the 8th duck", "die achte Ente", True),
        ("1,931 ducks", "1.931 Enten", True),
        ("8 ducks", "Achtung, Enten", False),
        ("8 ducks", "achtz Enten", False),
        ("8 ducks", "neun Enten", False),
        ("8 ducks", "8 Enten und 9 Gänse", False),
        ("8 ducks and 8 geese", "acht Enten und Gänse", False),
        ("8 ducks and 8 geese", "acht Enten und 8 Gänse", True),
        ("1 duck", "eine Ente", False),
        ("1 duck", "1 Ente", True),
        ("in 1931", "um 1913", False),
        ("100 ducks", "hundert Enten", True),
        ("at 5 p.m. and 10:30 a.m.", "um 17 Uhr und um 10:30 Uhr", True),
        ("at 5 p.m.", "um 17:00 Uhr", True),
        ("at 5 p.m.", "um 5:00 Uhr", False),
        ("at 12:15 am", "um 0:15 Uhr", True),
    ],
)
def test_numbers_are_kept_in_number_and_value(source: str, target: str, kept: bool) -> None:
    assert keeps_numbers(source, target, "deu") == kept


@pytest.mark.parametrize(
    ("text", "target", "kinds"),
    [
        ("<b>Duck</b>.<br>Goose 8.", "<b>Ente</b>.<br>Gans 8.", set()),
        ("<b>Duck</b>.<br>Goose 8.", "<b>Ente</b>.<br>Gans.", {"number"}),
        ("<b>Duck</b>.<br>Goose 8.", "<b>Ente.<br>Gans acht.", {"tag"}),
        ("<b>Duck</b>.<br>Goose %s.", "<b>Ente</b>.<br>Gans.", {"placeholder"}),
        ("<b>Duck</b>.<br>Goose 8.", "<b></b><br>8", {"line"}),
        ("<b>Duck</b>.<br>Goose 8.", "<b>E</b>.<br>8.", {"sentence"}),
    ],
)
def test_losses_are_found(text: str, target: str, kinds: set[str]) -> None:
    spans = ("<b>", "</b>", "<br>", *(("%s",) if "%s" in text else ()))
    line = HostileLine(text, ("Duck.", "Goose."), spans)
    assert set(list_losses(line, target, ["Ente.", "Gans."], "deu")) == kinds


def test_what_is_put_into_a_hostile_line_stands_in_it_as_often() -> None:
    generator = random.Random(1)
    for _ in range(500):
        line = make_line(["I see a duck.", "Where is the goose?"], generator)
        assert all(line.text.count(span) >= line.spans.count(span) for span in line.spans)
        assert not set(list_losses(line, line.text, line.sentences, "deu"))


def test_a_strange_name_takes_the_place_of_one_that_both_sides_have() -> None:
    assert exchange_name("I saw Tom and Anna.", "Ich sah Anna.", "Zeynep") == "I saw Tom and Zeynep."
    assert exchange_name("Tom is here.", "Tom ist da.", "C++") == "C++ is here."
    assert exchange_name("Mary is here.", "Maria ist da.", "C++") is None


def test_a_word_between_two_marks_must_stay_between_them() -> None:
    assert wrap_word("I don't see.", ("{0}", "{1}"), random.Random(1)) in ("{0}I{1} don't see.", "I don't {0}see{1}.")
    assert wrap_word("It's 5.", ("{0}", "{1}"), random.Random(1)) is None
    outputs = [
        "Ich {0}sehe{1} nicht.",
        "Ich {0}{1} sehe nicht.",
        "Ich {0} {1} sehe",
        "Ich sehe{1} {0}nicht.",
        "Ich {0}sehe",
    ]
    assert [keeps_wrapped(("{0}", "{1}"), output) for output in outputs] == [True, False, False, False, False]


# The benchmark of the checks draws only sentences that training does not know.


def test_no_pair_that_training_knows_on_either_side_is_drawn() -> None:
    pairs = [("a", "x"), ("b", "y"), ("B", "z"), ("c", "x"), ("d", "w"), ("d", "v"), ("e", "u")]
    trained = [("b", "q"), ("r", "X")]
    assert sorted(draw_unseen(pairs, trained, 2, 1)) == [("d", "v"), ("e", "u")]
    assert sorted(draw_unseen(pairs, trained, 5, 1)) == [("d", "v"), ("e", "u")]


# The benchmark of first words: 200 phrases that no model learns, each with what may be written for it.


def key_phrase(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


def test_no_phrase_to_test_with_is_one_to_learn_from() -> None:
    learned = [line.split("\t") for line in (PROJECT / "data/phrases.eng-deu.tsv").read_text("utf-8").splitlines()]
    tested = [line.split("\t") for line in PHRASES.read_text("utf-8").splitlines()]
    assert (len(learned), len(tested)) == (500, 200)
    for side in (0, 1):
        known = {key_phrase(row[side]) for row in learned}
        assert len(known) == 500
        assert known.isdisjoint(key_phrase(text) for row in tested for text in row[side].split(" | "))
        assert len({key_phrase(row[side].split(" | ")[0]) for row in tested}) == 200
    for name, fewest in (("words", 17_000), ("everyday", 9_000)):
        rows = [line.split("\t") for line in (PROJECT / f"data/{name}.eng-deu.tsv").read_text("utf-8").splitlines()]
        assert len({row[0] for row in rows}) == len(rows) >= fewest and {len(row) for row in rows} == {2}
        for side in (0, 1):
            texts = {key_phrase(row[side]) for row in rows}
            assert texts.isdisjoint(key_phrase(text) for row in tested for text in row[side].split(" | "))


@pytest.mark.parametrize(
    ("source", "language", "translation", "right"),
    [
        ("Turn right", "eng", "biegen Sie rechts ab!", True),
        ("Turn right", "eng", "Biegen sie rechts ab", False),
        ("MARK AS READ", "eng", "ALS GELESEN MARKIEREN", True),
        ("Datei auswählen", "deu", "Select File", True),
        ("Datei auswählen", "deu", "Select files", False),
    ],
)
def test_a_translation_is_right_if_somebody_would_write_it(
    source: str, language: str, translation: str, right: bool
) -> None:
    phrases: dict[str, Phrase] = {phrase.source: phrase for phrase in read_phrases(language)}
    assert is_right(phrases[source], translation) == right


# The fuzzer of the server asks all its endpoints.


def test_every_endpoint_is_fuzzed() -> None:
    lines = [make("Room 1234567 is free.").decode().split(" ", 2) for make in ENDPOINTS.values()]
    scopes = [{"type": "http", "method": method, "path": path.partition("?")[0]} for method, path, _ in lines]
    routes = list_routes(Service(make_pool()[0]))
    missed = [route for route in routes if not any(route.matches(scope)[0] is Match.FULL for scope in scopes)]
    assert routes and missed == []


# The benchmark of the rules leaves each out: it knows all rows of the tables, and its parts exist.

SOURCE, REFERENCE = "Press <b>3</b> or 4.", "Drücken Sie <b>3</b> oder 4."


def test_every_row_of_the_tables_is_a_rule_with_a_name_of_its_own() -> None:
    rows = sum(len(pkgutil.resolve_name(path)) for path in TABLES.values())
    assert len(list_rules()) == rows + len(PARTS)


@pytest.mark.parametrize("name", PARTS)
def test_what_a_part_stands_for_exists_and_is_something_else(name: str) -> None:
    path, attribute, instead = PARTS[name]
    assert getattr(pkgutil.resolve_name(path), attribute) != instead


def test_a_row_is_left_out_of_the_tables_that_have_it_alone() -> None:
    row, other = object(), object()
    assert leave_out(row, (other, row)) == (other,)
    assert leave_out(row, (other,)) == (other,)
    assert leave_out(row, [row]) == [row]


@pytest.mark.parametrize(
    ("source", "reference", "target", "kinds"),
    [
        (SOURCE, REFERENCE, REFERENCE, set()),
        (SOURCE, REFERENCE, "Drücken Sie 3 oder 5.", {"number", "markup"}),
        ("Press 4.", "Drücken Sie.", "Drücken.", set()),  # the reference has no number either
        ("I saw Kazimierz.", "Ich sah Kazimierz.", "Ich sah ihn.", {"name"}),
        ("I saw it. It was large.", "Ich sah es. Es war groß.", "Ich sah.", {"sentence"}),
    ],
)
def test_what_the_reference_has_and_a_translation_has_not_is_lost(
    source: str, reference: str, target: str, kinds: set[str]
) -> None:
    assert set(list_changed_losses(source, reference, target, "deu")) == kinds
