"""Scripts: which one a text is written in, and sentences in an unexpected one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.corpus.checks.scripts import SCRIPTS, find_main_scripts, measure_script_shares
from support.corpora import check_rows, toy_pairs


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("Tom, 3!", "Latin"),
        ("Привет Tom", "Cyrillic"),
        ("ありがとう", "Kana"),
        ("漢字です", "none"),
        ("漢字字", "Han"),
        ("123 ?!", "none"),
        ("", "none"),
    ],
)
def test_the_script_of_a_text_is_that_of_most_of_its_letters(text: str, script: str) -> None:
    assert SCRIPTS[find_main_scripts(["before", text, "after"])[1]] == script


@given(st.lists(st.text(max_size=10), max_size=8))
def test_scripts_of_many_texts_are_those_of_each(texts: list[str]) -> None:
    one_by_one = [int(find_main_scripts([text])[0]) for text in texts]
    assert find_main_scripts(texts).tolist() == one_by_one


def test_letters_are_in_a_script_and_others_in_none() -> None:
    assert [SCRIPTS[number] for number in find_main_scripts(list("aßЖλعह日カ한 5.×"))] == [
        *("Latin", "Latin", "Cyrillic", "Greek", "Arabic", "Devanagari", "Han", "Kana", "Hangul"),
        *("none",) * 4,
    ]


def test_a_sentence_in_another_script_is_found_and_loan_words_are_not() -> None:
    rows = [*toy_pairs(300), ("Привет, Tom", "Hallo"), ("He said Привет", "Er sagte Привет"), ("!", "?")]
    finding = check_rows(rows)["script"]
    assert (finding.count, finding.note) == (1, "source is Latin; target is Latin")


def test_shares_count_letters_alone() -> None:
    shares = measure_script_shares(["東京の", "Tom 3!", ""])
    assert {SCRIPTS[i]: share for i, share in enumerate(shares.tolist()) if share} == {
        "Han": pytest.approx(2 / 6),
        "Kana": pytest.approx(1 / 6),
        "Latin": pytest.approx(3 / 6),
    }
    assert not measure_script_shares(["1 2", "?"]).any()
