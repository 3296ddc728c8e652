"""Tests of word swaps: ."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.corpus.manifest import PictureStatistics
from nmt_cli.errors import OptionError
from nmt_cli.training.data import word_swaps
from nmt_cli.training.data.batches import TrainingBatches
from nmt_cli.training.data.word_swaps import (
    WordSwaps,
    WordTable,
    estimate_probabilities,
    find_words,
    is_likeliest,
    learn_lexicon,
    link_all,
    replace_word,
    truecase_words,
)
from nmt_cli.training.options import TrainConfig
from nmt_cli.training.setup import check_corpus
from support.models import SYLLABLES

NOUNS = [("dog", "Hund"), ("cat", "Kater"), ("bird", "Vogel"), ("horse", "Hengst")]
VERBS = [("sleeps", "schläft"), ("eats", "isst"), ("runs", "rennt")]
PAIRS = [(f"There the {noun} {verb}.", f"Dort {tut} der {ding}.") for noun, ding in NOUNS for verb, tut in VERBS]


@pytest.fixture(autouse=True)
def _no_word_is_frequent(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a corpus of a few words each of them occurs in many sentences."""
    monkeypatch.setattr(word_swaps, "RARE_WORD_SHARE", 0.4)
    monkeypatch.setattr(word_swaps, "REPLACED", 0.4)


def swaps() -> WordSwaps:
    return WordSwaps([source for source, _ in PAIRS], [target for _, target in PAIRS])


def swap_repeatedly(source: str, target: str, times: int = 60) -> set[tuple[str, str]]:
    learned, generator = swaps(), np.random.default_rng(1)
    return {learned.swap_words(source, target, generator) for _ in range(times)}


def test_a_word_and_its_translation_become_others_seen_in_such_a_place() -> None:
    pairs = swap_repeatedly("Yesterday the dog barked.", "Gestern bellte der Hund.")
    assert pairs == {(f"Yesterday the {noun} barked.", f"Gestern bellte der {ding}.") for noun, ding in NOUNS}


def test_words_that_came_before_decide() -> None:
    pair = ("My dog barked.", "Mein Hund bellte.")
    assert swap_repeatedly(*pair) == {pair}  # nobody has seen what may follow "my"


def test_words_of_grammar_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    assert {pair[0].split()[1] for pair in swap_repeatedly("There the dog sleeps.", "Dort schläft der Hund.")} == {
        "the"
    }
    monkeypatch.setattr(word_swaps, "REPLACED", 0.1)
    pair = ("There the dog sleeps.", "Dort schläft der Hund.")
    assert swap_repeatedly(*pair) == {pair}


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("There the dog sees the dog.", "Dort sieht der Hund den Hund."),  # which is whose translation?
        ("There the dog snores.", "Dort schnarcht der Köter."),
        ("Dog, sleep!", "Hund, schlaf!"),  # nothing before it
        ("", ""),
    ],
)
def test_what_is_not_sure_stays(source: str, target: str) -> None:
    assert swap_repeatedly(source, target) == {(source, target)}


def test_a_corpus_may_have_no_word_that_stands_in_for_others() -> None:
    assert not swaps().is_empty
    assert WordSwaps(["the dog"] * 3, ["der Hund"] * 3).is_empty  # every word is in every sentence


def test_only_the_word_itself_is_replaced() -> None:
    assert replace_word("cats, catfish and cats", 3, "dogs") == "cats, catfish and dogs"
    assert replace_word("don't eat it", 0, "do") == "do eat it"
    assert replace_word("«हिन्दी» ⟦1⟧, ok", 0, "भाषा") == "«भाषा» ⟦1⟧, ok"


def text_pairs(corpus: PreparedCorpus, share: float) -> set[tuple[str, str]]:
    config = TrainConfig(batch=32, swap_words=share, careless=0.0, placeholders=0.0)
    batches = TrainingBatches(corpus, config)
    spelled = corpus.source_tokenizer.decode_all, corpus.target_tokenizer.decode_all
    return {
        pair
        for batch in batches.make_epoch(1)
        for pair in zip(
            *(decode(side.tolist()) for decode, side in zip(spelled, batch.sides, strict=True)), strict=True
        )
    }


def test_a_training_sees_pairs_that_are_still_translations(corpus: PreparedCorpus) -> None:
    """In the toy corpus a word is spelled backwards, and the first comes last."""
    plain, swapped = text_pairs(corpus, 0.0), text_pairs(corpus, 1.0)
    new = swapped - plain
    assert len(new) > 50
    assert not text_pairs(corpus, 0.0) - plain
    for source, target in new:
        first, *others = source.rstrip(".").split()
        assert target == " ".join(word[::-1] for word in [*others, first]) + "."
        assert all(word[:2] in SYLLABLES for word in source.split())


def test_about_as_many_pairs_are_swapped_as_asked(corpus: PreparedCorpus) -> None:
    plain = text_pairs(corpus, 0.0)
    half, most = (len(text_pairs(corpus, share) - plain) for share in (0.5, 1.0))
    assert 0.35 < half / most < 0.65


def test_pictures_have_no_words_to_swap(monkeypatch: pytest.MonkeyPatch) -> None:
    manifest = SimpleNamespace(
        source=PictureStatistics(pictures=1, regions=4, fewest_regions=4, depth=2),
        tokenizer=SimpleNamespace(kind="unigram"),
    )
    pictures = PreparedCorpus(Path("gallery"), manifest)  # type: ignore[arg-type]
    monkeypatch.setattr(PreparedCorpus, "load_encoded", lambda *request: SimpleNamespace(source=[0]))
    with pytest.raises(OptionError, match=r"gallery/ are pictures, .*have no words to swap"):
        check_corpus(pictures, TrainConfig(swap_words=0.5))


def learn(pairs: list[tuple[str, str]]) -> dict[str, str]:
    return learn_lexicon(
        WordTable.from_texts([source for source, _ in pairs]), WordTable.from_texts([target for _, target in pairs])
    )


def test_words_that_stand_together_again_and_again_are_translations() -> None:
    """The example of Brown et al. and of every lecture since: the book is das Buch, a book is ein Buch."""
    pairs = [("the house", "das Haus"), ("the book", "das Buch"), ("a book", "ein Buch"), ("a house", "ein Haus")]
    assert learn(pairs * 2) == {"the": "das", "house": "Haus", "book": "Buch", "a": "ein"}


def test_what_only_one_side_agrees_on_is_no_translation() -> None:
    pairs = [("cats sleep", "Katzen schlafen"), ("cats run", "Katzen rennen"), ("dogs run", "Katzen rennen")] * 2
    assert "dogs" not in learn(pairs)
    assert learn(pairs)["run"] == "rennen"


def test_the_first_round_shares_a_word_evenly_among_all_candidates(monkeypatch: pytest.MonkeyPatch) -> None:
    """By hand, of (a b, x y) and (a, x): in the first, a third of x and of y is for each of a, b and nothing; in the
    second, half of x is for a. So a expects 1/3 + 1/2 of x and 1/3 of y, and b 1/3 of each.
    """
    monkeypatch.setattr("nmt_cli.training.data.word_swaps.ROUNDS", 1)
    source, target = WordTable.from_texts(["a b", "a"]), WordTable.from_texts(["x y", "x"])
    source_positions, target_positions = link_all(source.lengths, target.lengths)
    assert (source_positions.tolist(), target_positions.tolist()) == ([0, 0, 1, 1, 2], [0, 1, 0, 1, 2])
    conditions, outcomes = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])  # a x, a y, b x, b y
    links = np.array([0, 1, 2, 3, 0])
    probabilities = estimate_probabilities(conditions, outcomes, links, target.indices, target_positions)
    np.testing.assert_allclose(probabilities, [5 / 7, 2 / 7, 1 / 2, 1 / 2])


def test_the_likeliest_of_each_word_is_one() -> None:
    assert is_likeliest(np.array([4, 2, 4, 2]), np.array([0.5, 0.1, 0.4, 0.9])).tolist() == [True, False, False, True]


def test_links_join_every_word_of_a_pair_with_every_other() -> None:
    source_positions, target_positions = link_all(np.array([2, 0, 1]), np.array([2, 3, 1]))
    assert list(zip(source_positions.tolist(), target_positions.tolist(), strict=True)) == [
        (0, 0),
        (0, 1),
        (1, 0),
        (1, 1),
        (2, 5),
    ]


def test_a_first_word_is_as_within_sentences() -> None:
    words = WordTable.from_texts(["Dogs sleep", "the dogs", "Tom sleeps", "I saw Tom"])
    assert words.texts == [["dogs", "sleep"], ["the", "dogs"], ["Tom", "sleeps"], ["I", "saw", "Tom"]]
    assert truecase_words([], words.within_counts) == []


def test_words_are_found_with_their_marks_and_numbers_too() -> None:
    assert [word[0] for word in find_words("«हिन्दी» ⟦1⟧: don't take 19, e-mail!")] == [
        "हिन्दी",
        "don't",
        "take",
        "19",
        "e-mail",
    ]


def test_texts_without_words_have_no_translations() -> None:
    assert learn([("?", "!"), ("", "...")]) == {}
