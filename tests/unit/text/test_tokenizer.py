"""Tests of `text/tokenizer.py`.

Text to ids and back: what survives, what is unknown, and what stands for a special id. Training of subword models:
the size of the vocabulary, and that equal text gives equal models.
"""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nmt_cli.arrays.types import END, PAD, START, UNKNOWN
from nmt_cli.errors import DamagedError, DataError, OptionError
from nmt_cli.text.normalise import normalise
from nmt_cli.text.symbols import PLACEHOLDERS, TokenizerKind, TokenizerSettings
from nmt_cli.text.tokenizer import FEWEST_FOR_THREADS, Tokenizer, mark_words, train_tokenizer, unmark_words
from support.properties import examples
from support.tokenizers import KINDS, TEXTS, toy_tokenizer


@pytest.mark.parametrize("kind", KINDS)
def test_training_text_survives_encoding(kind: TokenizerKind) -> None:
    tokenizer = toy_tokenizer(kind)
    texts = TEXTS if kind != "word" else TEXTS[:600]  # words that occur once may be left out
    assert [tokenizer.decode(ids) for ids in tokenizer.encode_all(texts)] == texts


@pytest.mark.parametrize("kind", KINDS)
def test_many_sentences_are_cut_and_joined_as_each_alone(kind: TokenizerKind) -> None:
    tokenizer, texts = toy_tokenizer(kind), ["", *TEXTS[:FEWEST_FOR_THREADS]]
    ids = tokenizer.encode_all(texts)
    assert ids == [tokenizer.encode(text) for text in texts]
    assert tokenizer.decode_all(ids) == [tokenizer.decode(row) for row in ids]


@pytest.mark.parametrize("kind", ["unigram", "bpe", "char"])
@given(data=st.data())
def test_text_of_seen_characters_survives_encoding(kind: TokenizerKind, data: st.DataObject) -> None:
    tokenizer = toy_tokenizer(kind)
    text = normalise(data.draw(st.text(alphabet=sorted(tokenizer.characters))))
    assert tokenizer.decode(tokenizer.encode(text)) == text or tokenizer.find_unseen(text)
    assert UNKNOWN not in tokenizer.encode(text) or tokenizer.find_unseen(text)


@given(st.lists(st.sampled_from(["The", "dog", "￭.", "sieht", "￭￭", "fünf"]), min_size=1))
def test_text_of_seen_words_survives_encoding(words: list[str]) -> None:
    tokenizer, text = toy_tokenizer("word"), unmark_words(" ".join(words))
    assert tokenizer.decode(tokenizer.encode(text)) == text or UNKNOWN in tokenizer.encode(text)


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
@given(text=st.text().map(normalise))
def test_nothing_is_unencodable_in_byte_fallback_kinds(kind: TokenizerKind, text: str) -> None:
    ids = toy_tokenizer(kind).encode(text)
    assert UNKNOWN not in ids and not toy_tokenizer(kind).has_unknown
    assert toy_tokenizer(kind).decode(ids) == text


@given(st.text().map(normalise))
def test_marked_words_join_to_the_text_they_came_from(text: str) -> None:
    assert unmark_words(mark_words(text)) == text


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ("Don't go, Tom!", "Don't go ￭, Tom ￭!"),
        ("“Well-known”", "“ ￭Well-known ￭”"),
        ("नमस्ते दुनिया।", "नमस्ते दुनिया ￭।"),
        ("a￭ ￭", "a ￭￭ ￭"),
        ("", ""),
    ],
)
def test_words_by_example(text: str, marked: str) -> None:
    assert mark_words(text) == marked


@pytest.mark.parametrize("kind", KINDS)
def test_special_ids_are_fixed_and_never_come_from_text(kind: TokenizerKind) -> None:
    tokenizer = toy_tokenizer(kind)
    ids = tokenizer.encode("<pad> <s> </s> <unk> The dog")
    assert not {PAD, START, END} & set(ids)
    with_specials = [START, *tokenizer.encode("The dog"), END, PAD]
    assert tokenizer.decode(with_specials) == "The dog"
    assert tokenizer.spell_pieces([0, 1, 2, 3]) == ["<pad>", "<unk>", "<s>", "</s>"]


def test_lower_case_is_applied_when_encoding() -> None:
    tokenizer = toy_tokenizer("unigram", lowercase=True)
    assert tokenizer.encode("THE DOG") == tokenizer.encode("the dog")
    assert tokenizer.decode(tokenizer.encode("THE DOG")) == "the dog"
    assert tokenizer.find_unseen("THE DOG") == set()


def test_unseen_names_the_characters_that_no_piece_holds() -> None:
    assert toy_tokenizer("char").find_unseen("The dög жил") == {"ö", "ж", "и", "л"}
    assert UNKNOWN in toy_tokenizer("char").encode("ж")


def test_unseen_names_the_words_outside_a_vocabulary_of_words_though_their_characters_are_known() -> None:
    tokenizer = toy_tokenizer("word")
    text = f"{TEXTS[0]} godd thehe {TEXTS[1]} ogd."
    assert not tokenizer.find_unseen_characters(text)
    assert tokenizer.find_unseen(text) == {"godd", "thehe", "ogd"}
    assert tokenizer.list_unknown(text) == ("godd thehe", "ogd") and not toy_tokenizer("bpe").list_unknown("字")


def test_decoded_text_is_one_line_whatever_bytes_are_predicted() -> None:
    tokenizer = toy_tokenizer("unigram")
    line_feed = next(i for i, piece in enumerate(tokenizer.spell_pieces(range(300))) if piece == "<0x0A>")
    assert tokenizer.decode([*tokenizer.encode("The"), line_feed, *tokenizer.encode("dog")]) == "The dog"


def test_pieces_of_a_word_tokenizer_show_the_joiner_only() -> None:
    tokenizer = toy_tokenizer("word")
    assert tokenizer.spell_pieces(tokenizer.encode("The dog.")) == ["The", "dog", "￭."]


def test_a_loaded_tokenizer_is_the_one_saved(tmp_path: Path) -> None:
    path = tmp_path / "joint.spm"
    path.write_bytes(train_tokenizer(TEXTS, toy_tokenizer("bpe").settings))
    loaded = Tokenizer.load(path, toy_tokenizer("bpe").settings)
    assert loaded.encode_all(TEXTS) == toy_tokenizer("bpe").encode_all(TEXTS)


def test_a_missing_or_foreign_model_is_damaged_and_named(tmp_path: Path) -> None:
    path = tmp_path / "joint.spm"
    with pytest.raises(DamagedError, match=r"joint\.spm is missing"):
        Tokenizer.load(path, toy_tokenizer("bpe").settings)
    path.write_bytes(b"no model")
    with pytest.raises(DamagedError, match=r"joint\.spm is not a SentencePiece model"):
        Tokenizer.load(path, toy_tokenizer("bpe").settings)


@pytest.mark.parametrize("kind", KINDS)
def test_placeholders_are_pieces_of_their_own_and_survive(kind: TokenizerKind) -> None:
    tokenizer = toy_tokenizer(kind)
    for placeholder in PLACEHOLDERS:
        ids = tokenizer.encode(f"The dog {placeholder} takes {placeholder}")
        assert tokenizer.spell_pieces(ids).count(placeholder) == 2, tokenizer.spell_pieces(ids)
        assert ids.count(tokenizer.placeholder_ids[PLACEHOLDERS.index(placeholder)]) == 2  # what search limits
        assert tokenizer.decode(ids) == f"The dog {placeholder} takes {placeholder}"


@pytest.mark.parametrize("kind", ["word", "char"])
def test_surfaces_tell_the_text_behind_unknown_pieces_too(kind: TokenizerKind) -> None:
    tokenizer = toy_tokenizer(kind)
    text = f"{TEXTS[0]} \u5b57\u5b57, {TEXTS[1]}"
    ids = tokenizer.encode(text)
    surfaces = tokenizer.list_surfaces(text)
    assert tokenizer.has_unknown and UNKNOWN in ids
    unknown = [surface for surface, token in zip(surfaces, ids, strict=True) if token == UNKNOWN]
    assert tokenizer.decode_with_unknown(ids, unknown) == text


@pytest.mark.parametrize("kind", KINDS)
def test_the_largest_possible_vocabulary_is_named_and_is_possible(kind: TokenizerKind) -> None:
    options = TokenizerSettings(kind=kind, lowercase=False)
    with pytest.raises(OptionError, match="yields") as caught:
        train_tokenizer(TEXTS, options, vocabulary_size=20_000)
    largest = int(caught.value.hint.split("--vocab-size ")[1].split()[0])
    model = train_tokenizer(TEXTS, options, vocabulary_size=largest)
    assert Tokenizer(model, options).vocabulary_size == largest
    with pytest.raises(OptionError, match=f"yields at most {largest:,}"):
        train_tokenizer(TEXTS, options, vocabulary_size=largest + 1)


@pytest.mark.parametrize("least", [1, 2, 3, 4])
def test_with_a_minimum_count_exactly_the_words_seen_so_often_are_known(least: int) -> None:
    texts = ["a b c, d", "a b c", "a b", "a"]  # the comma stands once, before it no blank
    options = TokenizerSettings(kind="word", lowercase=False)
    tokenizer = Tokenizer(train_tokenizer(texts, options, minimum_count=least), options)
    words = set(tokenizer.spell_pieces(range(4, tokenizer.vocabulary_size))) - set(PLACEHOLDERS)
    assert words == {1: {"a", "b", "c", "￭,", "d"}, 2: {"a", "b", "c"}, 3: {"a", "b"}, 4: {"a"}}[least]


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_the_smallest_possible_vocabulary_is_named_and_is_possible(kind: TokenizerKind) -> None:
    options = TokenizerSettings(kind=kind, lowercase=False)
    with pytest.raises(OptionError, match="characters") as caught:
        train_tokenizer(TEXTS, options, vocabulary_size=50)
    smallest = int(caught.value.hint.split("--vocab-size ")[1].split()[0])
    assert Tokenizer(train_tokenizer(TEXTS, options, vocabulary_size=smallest), options).vocabulary_size == smallest


@pytest.mark.parametrize("kind", KINDS)
def test_equal_text_gives_an_equal_model(kind: TokenizerKind) -> None:
    options = TokenizerSettings(kind=kind, lowercase=False)
    assert train_tokenizer(TEXTS, options) == train_tokenizer(TEXTS, options)


def test_a_script_of_thousands_of_characters_needs_no_option() -> None:
    texts = ["".join(chr(0x4E00 + (7 * start + 13 * i) % 3000) for i in range(12)) for start in range(3000)]
    options = TokenizerSettings(kind="unigram", lowercase=False)
    tokenizer = Tokenizer(train_tokenizer(texts, options), options)
    assert tokenizer.decode(tokenizer.encode(texts[0])) == texts[0]


@examples(25)
@given(
    characters=st.integers(10, 2500),
    lines=st.integers(1, 400),
    kind=st.sampled_from(["unigram", "bpe", "char"]),
    seed=st.integers(0, 9),
)
@example(characters=1097, lines=375, kind="unigram", seed=0)
def test_the_default_size_of_a_script_without_blanks_holds_its_characters(
    characters: int, lines: int, kind: TokenizerKind, seed: int
) -> None:
    """Characters follow Zipf's law, as kanji do; all but the rarest 0.05 % are pieces, and no size is refused.

    SentencePiece counts the mark before each line as one more character.
    """
    generator = np.random.default_rng(seed)
    drawn = np.minimum(generator.zipf(1.3, (lines, 15)), characters) - 1
    texts = ["".join(chr(0x4E00 + int(number)) for number in row) for row in drawn]
    options = TokenizerSettings(kind=kind, lowercase=False)
    tokenizer = Tokenizer(train_tokenizer(texts, options), options)
    unseen = tokenizer.find_unseen("".join(texts))
    assert 2_000 * sum(text.count(character) for text in texts for character in unseen) <= (15 + 1) * lines


def test_text_without_sentences_is_refused() -> None:
    with pytest.raises(DataError, match="no subwords"):
        train_tokenizer([], TokenizerSettings(kind="unigram", lowercase=False))
