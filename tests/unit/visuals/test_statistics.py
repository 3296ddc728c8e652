import re
from pathlib import Path

import pytest

from nmt_cli.corpus.statistics import measure_corpus, measure_language
from nmt_cli.text.tags import parse_tag_name
from nmt_cli.text.words import split_words
from nmt_cli.visuals.statistics import draw_statistics, format_several, format_statistics
from support.corpora import prepare_tagged
from support.models import prepare_toy


def test_words_are_counted_without_case_and_punctuation() -> None:
    assert split_words("Tom, don't go to TOM!") == ["tom", "don't", "go", "to", "tom"]
    assert split_words("我在家里。") == ["我", "在", "家", "里"]


def test_a_side_is_counted_by_hand() -> None:
    import numpy as np

    statistics = measure_language("xx", ["a b a.", "c"], ["a d", "C"], np.array([4, 1]))
    assert statistics.words.tolist() == [3, 1]
    assert statistics.frequencies.tolist() == [2, 1, 1]
    assert statistics.once_share == pytest.approx(2 / 3)
    assert statistics.unseen_share == pytest.approx(1 / 3)
    assert statistics.commonest[0] == ("a", 2)


def test_a_prepared_corpus_is_drawn_and_told(tmp_path: Path) -> None:
    statistics = measure_corpus(prepare_toy(tmp_path, 200))
    assert draw_statistics({"toy": statistics}, tmp_path / "c.svg") == ""
    assert "subwords of a training sentence" in (tmp_path / "c.svg").read_text(encoding="utf-8")
    lines = format_statistics(statistics)
    assert f"train {statistics.splits['train']:,}" in lines[0]
    assert any(line.startswith("test words unseen") for line in lines)


def test_several_corpora_have_a_line_each_and_every_tick_is_a_whole_number(tmp_path: Path) -> None:
    statistics = measure_corpus(prepare_toy(tmp_path, 200))
    draw_statistics({"one": statistics, "two": statistics}, tmp_path / "c.svg")
    text = (tmp_path / "c.svg").read_text(encoding="utf-8")
    assert text.count("one, median") == 2 and text.count("two, median") == 2  # of either side
    ticks = re.findall(r">([\d,]+\.\d+|[\d,]+)</text>", text)
    assert ticks and not [tick for tick in ticks if "." in tick]
    assert "two:" in format_several({"one": statistics, "two": statistics})


def test_the_pairs_of_a_tag_are_measured_by_themselves(tmp_path: Path) -> None:
    corpus = prepare_tagged(tmp_path)
    whole = measure_corpus(corpus)
    parts = [measure_corpus(corpus, parse_tag_name(name)) for name in (">de", ">nl")]
    assert [part.target.language for part in parts] == ["de", "nl"]
    assert {split: sum(part.splits[split] for part in parts) for split in whole.splits} == whole.splits
    assert parts[0].target.words.sum() + parts[1].target.words.sum() == whole.target.words.sum()
    assert parts[0].target.pieces.sum() + parts[1].target.pieces.sum() == whole.target.pieces.sum()
