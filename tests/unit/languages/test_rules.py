"""What is particular to a language is one file, or one line."""

import ast
import re
import shutil
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

import langcodes
import pytest

from nmt_cli.carrying.dates import compile_forms, compile_relation, find_dates, write_date
from nmt_cli.carrying.number_values import find_ending
from nmt_cli.carrying.numbers import is_label
from nmt_cli.languages import rules
from nmt_cli.languages.codes import DATA, find_code, load_table
from nmt_cli.languages.rules import WORDS, LanguageRules, find_rules, read_entry, read_rules
from nmt_cli.translation.segmentation.segments import find_sentence_starts
from support.package_code import MODULES, list_nodes, within_package

LINES = tomllib.loads((DATA / "languages.toml").read_text(encoding="utf-8"))
FILES = {path.stem for path in DATA.glob("*.toml")} - {"languages"}
DESCRIBED = sorted(FILES | set(LINES))
FEWEST_CODES = 3  # as many codes of languages in one literal are a table of languages


def test_a_language_is_described_once() -> None:
    assert FILES.isdisjoint(LINES) and list(LINES) == sorted(LINES)


def test_the_neutral_rules_say_all_there_is_to_say() -> None:
    assert set(read_entry("und")) == set(LanguageRules._fields)


@pytest.mark.parametrize("code", [code for code in DESCRIBED if code != "und"])
def test_a_file_says_only_how_its_language_differs(code: str) -> None:
    content = read_entry(code)
    parent = read_rules(str(content.pop("like", "und")))
    assert set(content) <= set(LanguageRules._fields)
    assert find_code(code) == code and code in load_table().by_code
    for name, value in content.items():
        if name in WORDS:
            words = str(value).split()
            assert len(set(words)) == len(words) and not getattr(parent, name).intersection(words), name
        else:
            assert value != getattr(parent, name), name


@pytest.mark.parametrize("code", DESCRIBED)
def test_patterns_can_be_compiled(code: str) -> None:
    for name, value in read_rules(code)._asdict().items():
        if isinstance(value, str):
            assert re.compile(value) is not None, name


@pytest.mark.parametrize("language", ["deu", "ger", "de-AT", "DE"])
def test_all_codes_of_a_language_have_its_rules(language: str) -> None:
    assert find_rules(language) is find_rules("de")
    assert "mind" in find_rules(language).abbreviations


@pytest.mark.parametrize("language", ["", "source", "xxx", "haw", "../de", "languages", "und"])
def test_a_language_that_nobody_described_is_neutral(language: str) -> None:
    assert find_rules(language) == read_rules("und")


def test_a_language_may_be_like_another() -> None:
    assert find_rules("nor") == find_rules("nob")
    assert find_rules("nno").decade_mark == find_rules("nob").decade_mark
    assert find_rules("nno").day_phrases != find_rules("nob").day_phrases


AFRIKAANS = """
abbreviations = "mnr mev"
before_numbers = "bl"
labels = "hoofstuk"
ordinal_endings = "ste|de"
ordinal_mark = "ste"
day_phrases = { on = "op" }
month_phrases = { on = "in" }
"""


@pytest.fixture
def fresh_rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the data to which files can be added."""
    shutil.copytree(DATA, tmp_path / "data")
    monkeypatch.setattr(rules, "DATA", tmp_path / "data")
    caches = (find_rules, read_rules, compile_forms, compile_relation)
    for function in caches:
        function.cache_clear()
    yield tmp_path / "data"
    for function in caches:
        function.cache_clear()


def describe_afrikaans() -> dict[str, object]:
    """Returns what is known of Afrikaans by its rules, and of English as its source."""
    text = "Ek ken mnr. Botha. Sien bl. 5. Dit reën."
    starts = find_sentence_starts(text, (), "afr")
    date = next(find_dates("on October 3, 1990", "eng"))
    written = write_date("on October 3, 1990", date, (), ("eng", "afr"))
    return {
        "sentences": [text[start:end].strip() for start, end in zip(starts, [*starts[1:], len(text)], strict=True)],
        "ordinal": find_ending("the 7th", 5, "7", ("eng", "afr")),
        "read": find_ending("die 7de", 5, "7", ("afr", "eng")),
        "label": is_label("Hoofstuk 3.1", 9, "afr"),
        "date": (written.start, written.text),
        "dates": [
            "die 3de Oktober 1990"[found.start : found.end] for found in find_dates("die 3de Oktober 1990", "afr")
        ],
    }


@pytest.mark.parametrize("is_line", [False, True])
def test_a_new_language_is_one_file_or_line(fresh_rules: Path, is_line: bool) -> None:
    assert describe_afrikaans() == {
        "sentences": ["Ek ken mnr.", "Botha.", "Sien bl.", "5.", "Dit reën."],
        "ordinal": (7, ""),
        "read": (5, ""),
        "label": False,
        "date": (3, "3 Oktober 1990"),
        "dates": ["Oktober 1990"],
    }
    find_rules.cache_clear()
    read_rules.cache_clear()
    with (fresh_rules / ("languages.toml" if is_line else "af.toml")).open("a", encoding="utf-8") as file:
        file.write(f"[af]{AFRIKAANS}" if is_line else AFRIKAANS)
    compile_forms.cache_clear()
    assert describe_afrikaans() == {
        "sentences": ["Ek ken mnr. Botha.", "Sien bl. 5.", "Dit reën."],
        "ordinal": (7, "ste"),
        "read": (7, "th"),
        "label": True,
        "date": (0, "op 3 Oktober 1990"),
        "dates": ["3de Oktober 1990"],
    }


def list_literals(nodes: Iterable[ast.AST]) -> list[tuple[int, list[str]]]:
    """Returns the strings of each literal that may be a table: keys, elements, words between blanks; with its line."""
    found = []
    for node in nodes:
        parts = node.keys if isinstance(node, ast.Dict) else getattr(node, "elts", [node])
        strings = [part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)]
        found.append((getattr(node, "lineno", 0), [word for text in strings for word in re.split(r"[\s:,]+", text)]))
    return found


def are_codes(words: list[str]) -> bool:
    """Whether words are a table of languages: nearly all are codes, among them several of two letters."""
    short = [word for word in words if re.fullmatch("[a-z]{2,3}", word)]
    if len(short) <= 0.9 * len(words):
        return False
    codes = [word for word in short if langcodes.tag_is_valid(word)]
    return len({*codes}) >= FEWEST_CODES and len(codes) > 0.9 * len(words) and sum(len(c) == 2 for c in codes) >= 2


@pytest.mark.parametrize("literal", ['{"en": 1, "de": 2, "fr": 3}', '"en eng de deu"', '("th", "lo", "km")'])
def test_a_table_of_languages_is_recognised(literal: str) -> None:
    assert any(are_codes(words) for _, words in list_literals(ast.walk(ast.parse(literal))))


def test_no_module_outside_has_a_table_of_languages() -> None:
    found = [
        f"{within_package(path)}:{line}: {' '.join(words)}"
        for path in MODULES
        if not within_package(path).startswith("languages/")
        for line, words in list_literals(list_nodes(path))
        if are_codes(words)
    ]
    assert found == []
