"""Pieces of one vocabulary in another: what is the same, what is spelled, and what is neither."""

import random

import pytest
from sentencepiece import sentencepiece_model_pb2 as proto

from nmt_cli.arrays.types import UNKNOWN
from nmt_cli.corpus.steps.subwords import select_pieces
from nmt_cli.text.symbols import BLANK, PLACEHOLDERS, SPECIALS, TokenizerKind, TokenizerSettings
from nmt_cli.text.tokenizer import Tokenizer, train_tokenizer
from nmt_cli.training.transfer import NO_MATCH, PieceMatch, PieceMatcher, list_keys
from support.tokenizers import KINDS, toy_tokenizer


def match(text: str, parent: Tokenizer, *, child: TokenizerKind = "unigram", lowercase: bool = False) -> PieceMatch:
    """The match of a piece that a vocabulary of one kind has, as that kind writes it."""
    key = (False, text.removeprefix("▁￭") if child == "word" else text)
    return PieceMatcher(parent).match_piece(key, folds=lowercase)


def texts_of(match: PieceMatch, parent: Tokenizer) -> list[str]:
    return [list_keys(parent)[piece_id][1] for piece_id in match.ids]


def shuffle_pieces(tokenizer: Tokenizer, seed: int = 1) -> tuple[Tokenizer, list[int]]:
    """The same vocabulary in another order, and the earlier ids of its pieces; symbols stay in front."""
    model = proto.ModelProto.FromString(tokenizer.model)
    others = list(range(SPECIALS, len(model.pieces)))
    random.Random(seed).shuffle(others)
    order = [*range(SPECIALS), *others]
    return Tokenizer(select_pieces(model, order), tokenizer.settings), order


@pytest.mark.parametrize("kind", KINDS)
def test_every_piece_is_itself_in_its_own_vocabulary(kind: TokenizerKind) -> None:
    tokenizer = toy_tokenizer(kind)
    matches = PieceMatcher(tokenizer).match_pieces(tokenizer)
    assert matches == [PieceMatch((piece_id,), is_shared=True) for piece_id in range(tokenizer.vocabulary_size)]


@pytest.mark.parametrize("kind", KINDS)
def test_pieces_in_another_order_are_found_where_they_were(kind: TokenizerKind) -> None:
    shuffled, order = shuffle_pieces(toy_tokenizer(kind))
    matches = PieceMatcher(toy_tokenizer(kind)).match_pieces(shuffled)
    assert [match.ids for match in matches] == [(piece_id,) for piece_id in order]


@pytest.mark.parametrize("parent", KINDS)
@pytest.mark.parametrize("child", KINDS)
def test_symbols_and_placeholders_are_themselves_in_any_kind_of_vocabulary(
    child: TokenizerKind, parent: TokenizerKind
) -> None:
    matches = PieceMatcher(toy_tokenizer(parent)).match_pieces(toy_tokenizer(child))
    assert [match.ids for match in matches[:SPECIALS]] == [(piece_id,) for piece_id in range(SPECIALS)]
    places = [list_keys(toy_tokenizer(kind)).index((False, PLACEHOLDERS[3])) for kind in (child, parent)]
    assert matches[places[0]] == PieceMatch((places[1],), is_shared=True)


@pytest.mark.parametrize("parent", ["unigram", "bpe", "char"])
@pytest.mark.parametrize("child", KINDS)
def test_the_pieces_that_spell_a_piece_make_up_its_text(child: TokenizerKind, parent: TokenizerKind) -> None:
    other, keys = toy_tokenizer(child), list_keys(toy_tokenizer(child))
    matches = PieceMatcher(toy_tokenizer(parent)).match_pieces(other)
    spelled = [(keys[i][1], match) for i, match in enumerate(matches) if match.ids and not match.is_shared]
    assert len(spelled) > 9 or child != "word"
    for text, match in spelled:
        joined = "".join(texts_of(match, toy_tokenizer(parent)))
        assert joined.removeprefix(BLANK) == text.removeprefix(BLANK)


def test_a_piece_within_a_word_is_not_spelled_by_one_that_begins_a_word() -> None:
    parent = toy_tokenizer("char")
    assert texts_of(match("og", parent), parent) == ["o", "g"]
    assert texts_of(match("▁og", parent), parent) == ["o", "g"]  # the blank alone says little of the word


def test_what_takes_bytes_or_unknown_pieces_is_not_spelled() -> None:
    for kind in KINDS:
        assert match("▁日本", toy_tokenizer(kind)) == NO_MATCH
        assert UNKNOWN not in match("▁dog", toy_tokenizer(kind)).ids
    assert match("▁日本dog", toy_tokenizer("unigram")) == NO_MATCH


def test_a_byte_is_found_among_bytes_and_spelled_by_nothing() -> None:
    matcher = PieceMatcher(toy_tokenizer("bpe"))
    assert texts_of(matcher.match_piece((True, "<0x41>"), folds=False), matcher.tokenizer) == ["<0x41>"]
    assert not matcher.match_piece((False, "<0x41>"), folds=False).is_shared
    assert PieceMatcher(toy_tokenizer("char")).match_piece((True, "<0x41>"), folds=False) == NO_MATCH


def test_a_word_is_found_in_subwords_and_a_joined_mark_without_its_joiner() -> None:
    texts = ["the dog, the cat."] * 30
    words = make_tokenizer(texts, "word")
    assert (False, ",") in list_keys(words) and (False, "▁dog") in list_keys(words)
    characters = make_tokenizer(texts, "char")
    assert match("▁￭,", characters, child="word").is_shared
    assert match(",", words).is_shared and match("▁dog", words).is_shared
    assert match("do", words) == NO_MATCH  # words are known or not


def test_case_makes_no_other_piece_where_one_side_is_lower_cased() -> None:
    texts = ["Dog dog DOG cat"] * 30
    cased, lower = make_tokenizer(texts, "word"), make_tokenizer(texts, "word", lowercase=True)
    in_lower = match("▁Dog", lower)
    assert texts_of(in_lower, lower) == ["▁dog"] and not in_lower.is_shared
    assert match("▁dog", cased, lowercase=True).is_shared  # the piece itself comes first
    only_cased = make_tokenizer(["Dog DOG"] * 30, "word")
    assert sorted(texts_of(match("▁dog", only_cased, lowercase=True), only_cased)) == ["▁DOG", "▁Dog"]
    assert match("▁dog", only_cased) == NO_MATCH  # both sides have case: another word


def make_tokenizer(texts: list[str], kind: TokenizerKind, *, lowercase: bool = False) -> Tokenizer:
    settings = TokenizerSettings(kind=kind, lowercase=lowercase)
    return Tokenizer(train_tokenizer(texts, settings), settings)
