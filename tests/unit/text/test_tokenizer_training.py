"""Training of subword models: the size of the vocabulary, and that equal text gives equal models."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nmt_cli.errors import DataError, OptionError
from nmt_cli.text.symbols import PLACEHOLDERS
from nmt_cli.text.tokenizer import Tokenizer
from nmt_cli.text.tokenizer_settings import TokenizerKind, TokenizerSettings
from nmt_cli.text.tokenizer_training import train_tokenizer
from support.properties import examples
from support.tokenizers import KINDS, TEXTS


@pytest.mark.parametrize("kind", KINDS)
def test_the_largest_possible_vocabulary_is_named_and_is_possible(kind: TokenizerKind) -> None:
    options = TokenizerSettings(kind=kind, lowercase=False)
    with pytest.raises(OptionError, match="fills") as caught:
        train_tokenizer(TEXTS, options, vocabulary_size=20_000)
    largest = int(caught.value.hint.split("--vocab-size ")[1].split()[0])
    model = train_tokenizer(TEXTS, options, vocabulary_size=largest)
    assert Tokenizer(model, options).vocabulary_size == largest
    with pytest.raises(OptionError, match=f"fills {largest:,} at most"):
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
