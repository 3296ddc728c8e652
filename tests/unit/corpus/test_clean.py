import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.corpus.clean import Cleaner, Reason, count_words, normalise
from nmt_cli.corpus.config import PrepareConfig

# Every code point, the lone surrogates included, and more often those that matter here.
ANY_TEXT = st.text(
    alphabet=st.one_of(
        st.characters(),
        st.characters(categories=["Cs", "Cc", "Cf", "Zs", "Zl", "Zp", "Mn"]),
        st.sampled_from(" \t\n\u00a0\u2028\u200b\u2581\u0301aé"),
    )
)


@given(ANY_TEXT)
def test_normalise_is_idempotent(text: str) -> None:
    assert normalise(normalise(text)) == normalise(text)


@given(ANY_TEXT)
def test_normalised_text_is_nfc_on_one_line_with_single_inner_blanks_and_can_be_written(text: str) -> None:
    normal = normalise(text)
    assert unicodedata.is_normalized("NFC", normal)
    assert normal == " ".join(normal.split())
    assert not {"Cc", "Cs"} & {unicodedata.category(character) for character in normal}
    normal.encode("utf-8")


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("  two \u00a0 blanks\t", "two blanks"),
        ("e\u0301", "é"),
        ("a\u2028b\u3000c\u202fd", "a b c d"),
        ("a\0b \x1b[31m", "ab [31m"),
        ("soft\u00adhyphen\ufeff", "softhyphen"),
        ("क\u200d्ष", "क\u200d्ष"),  # a joiner that changes the letters stays
        ("\u2581", "_"),
        ("\ud800 x", "x"),
        ("", ""),
    ],
)
def test_normalise_by_example(text: str, normal: str) -> None:
    assert normalise(text) == normal


@pytest.mark.parametrize(
    ("text", "words"),
    [("", 0), ("one", 1), ("one two", 2), ("Größe zählt", 2), ("我不知道", 3), ("ありがとうございます", 6)],
)
def test_words_of_scripts_without_blanks_are_pairs_of_characters(text: str, words: int) -> None:
    assert count_words(text) == words


@pytest.mark.parametrize(
    ("source", "target", "reason"),
    [
        ("", "x", Reason.EMPTY),
        ("x", "", Reason.EMPTY),
        ("a b c d e", "x", None),  # up to five words any ratio
        ("a b c d e f", "x y", None),  # exactly 3
        ("a b c d e f", "x", Reason.RATIO),
        ("x", "a b c d e f", Reason.RATIO),
        ("w " * 9 + "w", "v " * 9 + "v", None),  # exactly 10
        ("w " * 10 + "w", "v " * 9 + "v", Reason.TOO_LONG),
        ("w" * 201, "v", Reason.TOO_LONG),
    ],
)
def test_pairs_are_dropped_beyond_the_limits_and_not_at_them(source: str, target: str, reason: Reason | None) -> None:
    assert Cleaner(PrepareConfig(max_length=10, max_ratio=3)).reason(source, target) is reason


def test_only_the_exact_pair_is_a_duplicate() -> None:
    cleaner = Cleaner(PrepareConfig())
    pairs = [("a", "x"), ("a", "y"), ("b", "x"), ("A", "x"), ("a", "x")]
    assert [cleaner.reason(*pair) for pair in pairs] == [None, None, None, None, Reason.DUPLICATE]
