"""A task other than translation, learned through the real command line: words spelled backwards."""

import json
import random
from pathlib import Path

import pytest

from support.commands import succeed
from support.models import write_pairs

pytestmark = pytest.mark.slow
TRAIN = ["--attention", "general", "--units", "128", "--embedding", "64", "--learning-rate", "0.01"]


def reversals(number: int) -> list[tuple[str, str]]:
    """Different strings of 3 to 9 of 16 letters, and each of them backwards."""
    generator = random.Random(1)
    strings: dict[str, None] = {}
    while len(strings) < number:
        strings["".join(generator.choices("abcdefghijklmnop", k=generator.randint(3, 9)))] = None
    return [(string, string[::-1]) for string in strings]


@pytest.fixture(scope="module")
def strings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("strings")
    write_pairs(directory / "strings.tsv", reversals(6000))
    prepare = ["prepare", "strings.tsv", "--tokenizer", "char", "--dev", "200", "--test", "500"]
    succeed(*prepare, "--max-source-length", "12", cwd=directory)
    succeed("train", *TRAIN, "--epochs", "7", "--batch", "64", cwd=directory)
    return directory


def test_strings_it_has_never_seen_are_spelled_backwards(strings: Path) -> None:
    scores = json.loads(succeed("evaluate", "--metric", "exact", "--json", cwd=strings).stdout)["scores"]
    assert scores["exact"]["value"] >= 99


def test_a_string_longer_than_was_prepared_for_is_told(strings: Path) -> None:
    text = "abc\nabcdefghijklmnop\n"
    done = succeed("translate", "--no-check", cwd=strings, text=text, COLUMNS="200")
    assert done.stdout.splitlines()[0] == "cba"
    assert done.stderr == (
        "  ! 1 line has a sentence longer than max-source-length 12, which was truncated; "
        "the first is line 2, with 17 source tokens\n"  # with the blank before it
    )
    whole = succeed("translate", "--no-check", "--max-source-length", "17", cwd=strings, text="abcdefghijklmnop\n")
    assert whole.stderr == ""
    checked = succeed("translate", cwd=strings, text=text, COLUMNS="200").stderr.splitlines()
    assert [line for line in checked if line in done.stderr] == done.stderr.splitlines()  # beside what checks say
