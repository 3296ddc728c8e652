"""Which synthetic pairs are learned."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.corpus.dataset import PreparedCorpus, SyntheticPair, reverse_corpus
from nmt_cli.corpus.pairs import Side
from nmt_cli.text.normalise import make_sentence_key
from nmt_cli.training.data.synthetic_pairs import HeldOutSentences, Selection, WordRatio, select_pairs
from support.corpora import prepare_pairs, toy_pairs
from support.properties import examples


@pytest.fixture(scope="module")
def english_german(tmp_path_factory: pytest.TempPathFactory) -> PreparedCorpus:
    return prepare_pairs(tmp_path_factory.mktemp("corpus"), toy_pairs(400))


def select(corpus: PreparedCorpus, pairs: list[SyntheticPair], confidence: float = 0.0) -> Selection:
    held_out, ratio = HeldOutSentences.from_corpus(corpus), WordRatio.from_corpus(corpus)
    return select_pairs(pairs, [confidence] * len(pairs), held_out, ratio, -1.0, "source")


def back(source: str, target: str) -> SyntheticPair:
    return SyntheticPair(source, target, is_tagged=True)


@pytest.mark.parametrize(
    ("pair", "reason"),
    [
        (back("The cow sees the calf at noon.", "Die Kuh sieht das Kalb am Mittag."), ""),
        (back("", "Die Kuh sieht das Kalb."), "empty"),
        (back("The cow the cow the cow the cow the cow.", "Die Kuh sieht das Kalb."), "repeated"),
        (back("Die kuh sieht das kalb nun auch.", "Die kuh sieht das kalb nun auch."), "copied"),
        (back("Cow.", "Die Kuh sieht am Mittag das Kalb auf der Weide."), "off in length"),
    ],
)
def test_each_fault_is_dropped_and_counted(english_german: PreparedCorpus, pair: SyntheticPair, reason: str) -> None:
    selection = select(english_german, [pair])
    assert selection.pairs == ([] if reason else [pair])
    assert dict(selection.dropped) == ({reason: 1} if reason else {})


def test_a_pair_that_is_less_likely_than_nearly_all_others_is_dropped(english_german: PreparedCorpus) -> None:
    pair = back("The cow sees the calf at noon.", "Die Kuh sieht das Kalb am Mittag.")
    assert dict(select(english_german, [pair], confidence=-1.5).dropped) == {"of low confidence": 1}
    assert select(english_german, [pair], confidence=float("nan")).pairs == [pair]  # unknown is not low


def test_equal_pairs_are_learned_once(english_german: PreparedCorpus) -> None:
    pair = back("The cow sees the calf at noon.", "Die Kuh sieht das Kalb am Mittag.")
    selection = select(english_german, [pair, pair])
    assert (selection.pairs, dict(selection.dropped)) == ([pair], {"duplicate": 1})


def test_a_translation_that_the_corpus_has_already_is_not_learned_again(english_german: PreparedCorpus) -> None:
    known, new = ("The cow sees.", "Die Kuh sieht."), ("The cow looks.", "Die Kuh sieht.")
    pairs = [SyntheticPair(*pair, is_tagged=False) for pair in (known, new)]
    held_out, ratio = HeldOutSentences.from_corpus(english_german), WordRatio.from_corpus(english_german)
    selection = select_pairs(pairs, [0.0, 0.0], held_out, ratio, -1.0, "source", {known})
    assert (selection.pairs, dict(selection.dropped)) == (pairs[1:], {"as in the corpus": 1})


@examples(30)
@given(st.data(), st.booleans(), st.booleans(), st.sampled_from(["source", "target"]))
def test_no_held_out_sentence_is_on_either_side_of_a_synthetic_pair(
    english_german: PreparedCorpus, data: st.DataObject, is_reversed: bool, is_tagged: bool, generated: Side
) -> None:
    """Holds for back-translation and diversification, which differ in the side that is generated and in the tag."""
    direction = reverse_corpus(english_german) if is_reversed else english_german
    held_out = [pair for split in ("dev", "test") for pair in direction.read_pairs(split)]
    shapes = st.sampled_from([str, str.upper, str.lower, lambda text: f"{text} ", lambda text: text.replace(".", " .")])
    turn = -1 if is_reversed else 1
    new = st.sampled_from([pair[::turn] for pair in toy_pairs(800)[400:]])
    leak = st.builds(lambda pair, shape: (shape(pair.source), shape(pair.target)), st.sampled_from(held_out), shapes)
    rows = data.draw(st.lists(st.tuples(leak, new, st.integers(0, 2)), min_size=1, max_size=20))
    pairs = [
        SyntheticPair(*((leaking[0], fresh[1]), (fresh[0], leaking[1]), fresh)[kind], is_tagged)
        for leaking, fresh, kind in rows
    ]
    held, ratio = HeldOutSentences.from_corpus(direction), WordRatio.from_corpus(direction)
    kept = select_pairs(pairs, [0.0] * len(pairs), held, ratio, -1.0, generated).pairs
    for side in (0, 1):
        keys = {make_sentence_key(pair[side]) for pair in held_out}
        assert keys.isdisjoint(make_sentence_key(pair[side]) for pair in kept)


def test_lengths_may_always_differ_by_a_few_words() -> None:
    ratio = WordRatio(mean=0.0, spread=0.1)
    assert not ratio.is_off("tea", "one two three four")
    assert ratio.is_off("tea", "one two three four five")
    assert not ratio.is_off("one two three four", "tea")
    assert ratio.is_off("one two three four five", "tea")
