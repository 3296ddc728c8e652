import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.text.normalise import count_words, hash_text, make_sentence_key, normalise

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
def test_normalised_text_is_nfc_on_one_line_with_single_blanks(text: str) -> None:
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
    "texts",
    [
        ("Straße", "STRASSE"),
        ("Don’t “go” – now…", 'don\'t "go" - now...'),
        ("ＡＢＣ １２", "abc 12"),
        ("Tom", "tom"),
        ("It`s me.", "It's me."),
        ("It´s me.", "It’s me."),
        ("＇Ｇｏ＇", "'go'"),
    ],
)
def test_sentences_that_differ_in_shape_only_have_one_key(texts: tuple[str, str]) -> None:
    assert make_sentence_key(normalise(texts[0])) == make_sentence_key(normalise(texts[1]))


@given(ANY_TEXT)
def test_equal_texts_in_any_case_have_one_key(text: str) -> None:
    text = normalise(text)
    assert make_sentence_key(text) == make_sentence_key(normalise(text)) == make_sentence_key(text)
    if text.isascii():
        assert make_sentence_key(text.upper()) == make_sentence_key(text.lower())


def test_digests_are_eight_bytes_and_differ() -> None:
    assert len({hash_text(str(number)) for number in range(10_000)}) == 10_000
    assert len(hash_text("")) == 8
