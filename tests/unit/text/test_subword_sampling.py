from __future__ import annotations

import math
import subprocess
import sys
from collections import Counter
from random import Random

import pytest

from nmt_cli.arrays.rows import pad_rows
from nmt_cli.arrays.types import END
from nmt_cli.text import subword_sampling
from nmt_cli.text import subword_sampling as unigram_sampling
from nmt_cli.text.subword_sampling import WORD_PATTERN, PieceTable, UnigramSampler, merge_with_dropout
from nmt_cli.text.symbols import PLACEHOLDERS, TokenizerKind, TokenizerSettings
from nmt_cli.text.tokenizer import Tokenizer, train_tokenizer

TEXTS = ["the sooner the better", "better the theatre than the other", "another brother gathers feathers"] * 20
DRAWS = 4000


def toy_table(probabilities: dict[str, float]) -> PieceTable:
    ids = {text: number for number, text in enumerate(probabilities, start=10)}
    return PieceTable(ids, {text: math.log(value) for text, value in probabilities.items()}, {}, unknown_id=1)


def trained(kind: TokenizerKind) -> Tokenizer:
    settings = TokenizerSettings(kind=kind, lowercase=False)
    return Tokenizer(train_tokenizer(TEXTS, settings, vocabulary_size=290), settings)


def list_segmentations(word: str, pieces: PieceTable) -> list[tuple[str, ...]]:
    """Returns all segmentations of a word into pieces."""
    heads = (word[:end] for end in range(1, len(word) + 1))
    segmentations = [
        (head, *tail) for head in heads if head in pieces.ids for tail in list_segmentations(word[len(head) :], pieces)
    ]
    return segmentations if word else [()]


def sample(sampler: UnigramSampler, sentences: list[str], seed: int) -> list[list[int]]:
    """Samples the ids of sentences as SentencePiece spells them."""
    return [row.tolist() for row in sampler.sample(list(map(WORD_PATTERN.findall, sentences)), seed)]


@pytest.mark.parametrize(("alpha", "expected"), [(0.0, 1 / 2), (1.0, 0.75), (2.0, 0.9)])
def test_a_cut_has_its_probability_to_the_power_of_alpha(alpha: float, expected: float) -> None:
    """(3/8)^alpha against (1/2 x 1/4)^alpha: 1 to 1, 3 to 1, 9 to 1."""
    sampler = UnigramSampler(toy_table({"a": 1 / 2, "b": 1 / 4, "ab": 3 / 8}), alpha)
    whole = sample(sampler, ["ab"] * DRAWS, seed=1).count([12])
    assert whole / DRAWS == pytest.approx(expected, abs=4 * math.sqrt(expected * (1 - expected) / DRAWS))


def test_every_cut_of_a_longer_word_is_as_frequent_as_it_should_be() -> None:
    pieces = PieceTable.from_model(trained("unigram")._processor, excluded_ids=())
    possible = list_segmentations("▁theother", pieces)
    weights = [math.exp(0.5 * sum(pieces.scores[part] for part in cut)) for cut in possible]
    drawn = sample(UnigramSampler(pieces, 0.5), ["▁theother"] * DRAWS, seed=1)
    texts = {number: text for text, number in pieces.ids.items()}
    counts = Counter(tuple(texts[number] for number in ids) for ids in drawn)
    assert len(possible) == 6
    for cut, weight in zip(possible, weights, strict=True):
        share = weight / sum(weights)
        assert counts[cut] / DRAWS == pytest.approx(share, abs=4.5 * math.sqrt(share * (1 - share) / DRAWS))


@pytest.mark.parametrize(("kind", "alpha"), [("unigram", 1000.0), ("bpe", 0.0)])
def test_the_certain_cut_is_that_of_sentencepiece(kind: TokenizerKind, alpha: float) -> None:
    tokenizer = trained(kind)
    texts = [*TEXTS[:3], "theotherhere", "the 漢字 é", "", "x the"]
    assert tokenizer.sample_all(texts, alpha=alpha, seed=1) == tokenizer.encode_all(texts)


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
@pytest.mark.parametrize("most", [2, 1000])
def test_ids_have_the_words_of_their_text(monkeypatch: pytest.MonkeyPatch, kind: TokenizerKind, most: int) -> None:
    monkeypatch.setattr(subword_sampling, "MOST_SPELLED", most)
    tokenizer = trained(kind)
    others = ["x the", "the 漢字", "", PLACEHOLDERS[0]]  # in bytes, or not of words
    texts = [*TEXTS, *others, "there other"]
    ids = pad_rows([[*tokenizer.encode(text), END] for text in texts])
    for text, found, words in zip(texts, tokenizer.split_ids(ids), tokenizer.split_all(texts), strict=True):
        assert found == (None if text in others else words), text
    assert tokenizer.split_ids(ids[-1:]) == tokenizer.split_all(texts[-1:])


def test_merges_left_out_are_tried_again_in_the_next_step() -> None:
    """`abc` by ab, then abc: each step fails with 1/2, and the first that does ends it."""
    pieces, random = toy_table({"a": 0.1, "b": 0.1, "c": 0.1, "ab": 0.5, "abc": 0.2}), Random(1)
    counts = Counter(tuple(merge_with_dropout("abc", pieces, 0.5, random)) for _ in range(DRAWS))
    for cut, share in {("a", "b", "c"): 1 / 2, ("ab", "c"): 1 / 4, ("abc",): 1 / 4}.items():
        assert counts[cut] / DRAWS == pytest.approx(share, abs=4 * math.sqrt(share * (1 - share) / DRAWS))


def test_without_byte_pieces_what_has_no_piece_is_unknown() -> None:
    assert sample(UnigramSampler(toy_table({"a": 0.5}), 0.5), ["a?a", "", "▁a"], seed=1) == [[10, 1, 10], [], [1, 10]]


@pytest.mark.parametrize("most", [0, 4, 1000])
def test_what_is_remembered_of_words_decides_nothing(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    pieces = PieceTable.from_model(trained("unigram")._processor, excluded_ids=())
    sentences = [f"▁{text.replace(' ', '▁')}" for text in TEXTS]
    fresh = [sample(UnigramSampler(pieces, 0.3), sentences[start:], seed=start) for start in (0, 30, 10)]
    monkeypatch.setattr(unigram_sampling, "MOST_WORDS", most)
    sampler = UnigramSampler(pieces, 0.3)
    assert [sample(sampler, sentences[start:], seed=start) for start in (0, 30, 10)] == fresh
    assert sample(sampler, [], seed=1) == []


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_a_seed_gives_the_same_cuts_in_another_process(kind: TokenizerKind) -> None:
    """As resuming needs; those of SentencePiece itself differ."""
    code = f"""
from test_subword_sampling import TEXTS, trained
print(trained({kind!r}).sample_all(TEXTS, alpha=0.3, seed=7))
"""
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {__file__.rpartition('/')[0]!r}){code}"]
    other = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert other == f"{trained(kind).sample_all(TEXTS, alpha=0.3, seed=7)}\n"
