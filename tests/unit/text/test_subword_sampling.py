from __future__ import annotations

import math
import subprocess
import sys
from collections import Counter
from random import Random

import pytest

from nmt_cli.text.subword_sampling import Pieces, cut_by_merges, cut_by_probability, draw
from nmt_cli.text.tokenizer import Tokenizer
from nmt_cli.text.tokenizer_settings import TokenizerKind, TokenizerSettings
from nmt_cli.text.tokenizer_training import train_tokenizer

TEXTS = ["the sooner the better", "better the theatre than the other", "another brother gathers feathers"] * 20
DRAWS = 4000


def toy(probabilities: dict[str, float]) -> Pieces:
    ids = {text: number for number, text in enumerate(probabilities, start=10)}
    return Pieces(ids, {text: math.log(value) for text, value in probabilities.items()}, {}, unknown=1)


def trained(kind: TokenizerKind) -> Tokenizer:
    settings = TokenizerSettings(kind=kind, lowercase=False)
    return Tokenizer(train_tokenizer(TEXTS, settings, vocabulary_size=290), settings)


def cuts_of(word: str, pieces: Pieces) -> list[tuple[str, ...]]:
    """All cuts of a word into pieces."""
    heads = (word[:end] for end in range(1, len(word) + 1))
    found = [(head, *rest) for head in heads if head in pieces.ids for rest in cuts_of(word[len(head) :], pieces)]
    return found if word else [()]


@pytest.mark.parametrize(("alpha", "expected"), [(0.0, 1 / 2), (1.0, 0.75), (2.0, 0.9)])
def test_a_cut_has_its_probability_to_the_power_of_alpha(alpha: float, expected: float) -> None:
    """(3/8)^alpha against (1/2 x 1/4)^alpha: 1 to 1, 3 to 1, 9 to 1."""
    pieces, random = toy({"a": 1 / 2, "b": 1 / 4, "ab": 3 / 8}), Random(1)
    whole = sum(cut_by_probability("ab", pieces, alpha, random) == ["ab"] for _ in range(DRAWS))
    assert whole / DRAWS == pytest.approx(expected, abs=4 * math.sqrt(expected * (1 - expected) / DRAWS))


def test_every_cut_of_a_longer_word_is_as_frequent_as_it_should_be() -> None:
    pieces, random = Pieces.from_model(trained("unigram")._pieces, without=()), Random(1)
    possible = cuts_of("▁theother", pieces)
    weights = [math.exp(0.5 * sum(pieces.scores[part] for part in cut)) for cut in possible]
    drawn = Counter(tuple(cut_by_probability("▁theother", pieces, 0.5, random)) for _ in range(DRAWS))
    assert len(possible) == 6
    for cut, weight in zip(possible, weights, strict=True):
        share = weight / sum(weights)
        assert drawn[cut] / DRAWS == pytest.approx(share, abs=4.5 * math.sqrt(share * (1 - share) / DRAWS))


@pytest.mark.parametrize(("kind", "alpha"), [("unigram", 1000.0), ("bpe", 0.0)])
def test_the_certain_cut_is_that_of_sentencepiece(kind: TokenizerKind, alpha: float) -> None:
    tokenizer = trained(kind)
    texts = [*TEXTS[:3], "theotherhere", "the 漢字 é", "", "x the"]
    assert tokenizer.sample_all(texts, alpha=alpha, seed=1) == tokenizer.encode_all(texts)


def test_merges_left_out_are_tried_again_in_the_next_step() -> None:
    """`abc` by ab, then abc: each step fails with 1/2, and the first that does ends it."""
    pieces, random = toy({"a": 0.1, "b": 0.1, "c": 0.1, "ab": 0.5, "abc": 0.2}), Random(1)
    drawn = Counter(tuple(cut_by_merges("abc", pieces, 0.5, random)) for _ in range(DRAWS))
    for cut, share in {("a", "b", "c"): 1 / 2, ("ab", "c"): 1 / 4, ("abc",): 1 / 4}.items():
        assert drawn[cut] / DRAWS == pytest.approx(share, abs=4 * math.sqrt(share * (1 - share) / DRAWS))


def test_without_byte_pieces_what_has_no_piece_is_unknown() -> None:
    assert draw("a?a", toy({"a": 0.5}), cut_by_probability, 0.5, Random(1)) == [10, 1, 10]


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
