"""No message counts "1 things": a number and its noun are made by `format_count`."""

import ast
import re
from collections.abc import Iterable, Iterator

import pytest

from support.package_code import MODULES, list_nodes, within_package

PLURAL = re.compile(r" (?:(?:[a-z-]+|\{\}) ){0,2}?([a-z]{3,}s)\b")
PLURAL_VERB = re.compile(r"[^.,;:(]*? (?:are|were|have)\b")
NO_NOUNS = frozenset("has was this its does less across thus plus always unless".split())
# Numbers that are never 1, by the file and the value: guarded by what stands around them, or large by nature.
NEVER_ONE = {
    ("api/drawings/drawing.py", "len(paths)"),
    ("arrays/rows.py", "len(target_lengths)"),  # an error of the caller, not of a person
    ("cli/train.py", "len(runs)"),
    ("corpus/checks/texts.py", "most"),
    ("formats/table_columns.py", "len(texts)"),
    ("formats/archives.py", "entry.file_size // max(1, entry.compress_size)"),
    ("evaluation/analysis/warnings.py", "end"),  # of several
    ("evaluation/metrics/models.py", "len(checkpoints)"),
    ("server/admission.py", "limit"),
    ("server/stores.py", "most"),
    ("sources/images.py", "len(names)"),
    ("visuals/network.py", "vocabularies.target"),
    ("visuals/page.py", "len(profile.worst)"),
    ("visuals/qa_report.py", "1 + len(equal)"),
}


def is_count(value: ast.FormattedValue) -> bool:
    """Whether a value of an f-string is a number of things: with a comma, a length or a sum, or named so."""
    expression = ast.unparse(value.value)
    if expression.isupper() or "format_count" in expression:
        return False
    has_comma = value.format_spec is not None and ast.unparse(value.format_spec) == "f','"
    return has_comma or re.match(r"(len|sum)\(|(\w+\.)*(\w+_)?(count|number)s?$", expression) is not None


def find_counts(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, str]]:
    """Yields the counts before the plural of a noun or verb: the value, and the words that follow it."""
    for text in nodes:
        if not isinstance(text, ast.JoinedStr):
            continue
        for index, value in enumerate(text.values):
            if not isinstance(value, ast.FormattedValue) or not is_count(value):
                continue
            rest = "".join(
                str(part.value) if isinstance(part, ast.Constant) else "{}" for part in text.values[index + 1 :]
            )
            noun = PLURAL.match(rest)
            if (noun and noun[1] not in NO_NOUNS) or PLURAL_VERB.match(rest):
                yield ast.unparse(value.value), rest


def test_a_number_and_the_plural_of_its_noun_stand_in_no_text() -> None:
    found = {(within_package(path), value): rest for path in MODULES for value, rest in find_counts(list_nodes(path))}
    assert {place: rest for place, rest in found.items() if place not in NEVER_ONE} == {}
    assert found.keys() >= NEVER_ONE, "an exception is needed no longer"


@pytest.mark.parametrize(
    ("code", "is_found"),
    [
        ('f"{count:,} pairs"', True),
        ('f"{len(rows)} empty rows"', True),
        ('f"{kept:,} {side} sentences"', True),
        ('f"{number:,} of them are long"', True),
        ('f"{LIMIT:,} bytes"', False),
        ('f"{count:,} left"', False),
        ('f"line {number:,} has a tab"', False),
        ("f\"{format_count(number, 'pair')} of them\"", False),
    ],
)
def test_the_test_finds_a_count(code: str, is_found: bool) -> None:
    assert bool(list(find_counts(ast.walk(ast.parse(code))))) is is_found
