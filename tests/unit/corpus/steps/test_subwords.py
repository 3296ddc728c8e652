"""One vocabulary for both sides, or one for each: by default, the scripts of the two decide."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nmt_cli.corpus.config import PrepareConfig
from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.corpus.prepare import prepare
from nmt_cli.corpus.steps.subwords import choose_separation, measure_everyday_share
from support.corpora import examine_rows, toy_pairs, write_tsv

CYRILLIC = str.maketrans("abcdefghijklmnopqrstuvwxyz", "абцдефгхијклмнопкрстуввхуз")
LETTERS = "".join(chr(0x3042 + 2 * i) for i in range(13)) + "".join(chr(0x4E00 + 5 * i) for i in range(13))
JAPANESE = str.maketrans("abcdefghijklmnopqrstuvwxyz", LETTERS)


def write_in(table: dict[int, int], count: int = 300) -> list[tuple[str, str]]:
    """Toy pairs whose target is in another script, sentence by sentence."""
    return [(source, target.lower().translate(table)) for source, target in toy_pairs(count)]


def decide(rows: list[tuple[str, str]], **options: object) -> tuple[bool | None, list[str]]:
    notes: list[str] = []
    pairs = examine_rows(rows)
    config = choose_separation(pairs, np.arange(len(pairs)), PrepareConfig(**options), notes)
    return config.separate_vocabularies, notes


def test_sides_of_other_scripts_get_a_vocabulary_each_and_it_is_said() -> None:
    separate, notes = decide(write_in(JAPANESE))
    assert separate is True
    assert notes[0].startswith("the sides share no script (Latin / Han and Kana)")
    assert "--no-separate-vocabularies" in notes[0]


@pytest.mark.parametrize(
    "rows",
    [
        toy_pairs(300),
        [(source.lower().translate(CYRILLIC), target) for source, target in write_in(CYRILLIC)],
        [("1 + 2 = 3", "3 = 2 + 1")] * 50,
        [("Good morning.", "2 - 3")] * 50,
    ],
    ids=["Latin", "Cyrillic", "no letters", "letters on one side"],
)
def test_sides_of_one_script_or_of_none_share_a_vocabulary(rows: list[tuple[str, str]]) -> None:
    assert decide(rows) == (False, [])


def test_much_text_in_the_other_script_makes_it_common_but_names_do_not() -> None:
    rows = write_in(CYRILLIC)
    assert decide([(source, f"{target} Tom" if i % 20 == 0 else target) for i, (source, target) in enumerate(rows)])[0]
    assert not decide([(source, f"{target} Tomtom" if i % 2 else target) for i, (source, target) in enumerate(rows)])[0]


@pytest.mark.parametrize("asked", [True, False])
def test_what_is_asked_for_is_done_without_a_word(asked: bool) -> None:
    assert decide(write_in(JAPANESE), separate_vocabularies=asked) == (asked, [])
    assert decide(toy_pairs(50), separate_vocabularies=asked) == (asked, [])


def test_the_prepared_corpus_has_both_vocabularies_and_its_report_says_why(tmp_path: Path) -> None:
    report = prepare(write_tsv(tmp_path / "toy.tsv", write_in(JAPANESE)), tmp_path / "prepared", PrepareConfig())
    corpus = PreparedCorpus.load(tmp_path / "prepared")
    assert list(corpus.tokenizer_files) == ["source", "target"]
    assert corpus.manifest.options["separate_vocabularies"] is True
    assert any("share no script" in note for note in report.notes)
    assert "ん" not in corpus.source_tokenizer.characters and not set(LETTERS) & corpus.source_tokenizer.characters


def test_short_sentences_with_a_final_mark_are_those_of_everyday_life() -> None:
    rows = [("Where is it?", ""), ("Save as", ""), ("a " * 15 + "b.", ""), ("Here.", "")]
    assert measure_everyday_share(examine_rows(rows).source, np.arange(4)) == 0.5
    assert measure_everyday_share(examine_rows(rows).source, np.arange(0)) == 0.0
