import numpy as np
import pytest

from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.training.config import TrainConfig
from nmt_cli.training.data.augmentation import Augmentation, TextRewrite, write_casually, write_source_casually
from nmt_cli.training.data.batches import TrainingBatches
from support.final_marks import ENDED


def test_only_the_chosen_rows_are_typed_casually(corpus: PreparedCorpus) -> None:
    tokenizer = corpus.source_tokenizer
    batch = next(TrainingBatches(corpus, TrainConfig(batch=8, careless=0.0, placeholders=0.0)).make_epoch(1))
    chosen = np.random.default_rng(1).random(8) < 0.5
    assert 0 < chosen.sum() < 8
    half = Augmentation(tokenizer, tokenizer, (TextRewrite(0.5, write_source_casually),))
    source, target = half.augment_group(batch.source, batch.target, np.random.default_rng(1))
    before, after = ([tokenizer.decode(row) for row in rows] for rows in (batch.source, source))
    assert after == [text.rstrip(".") if is_chosen else text for text, is_chosen in zip(before, chosen, strict=True)]
    np.testing.assert_array_equal(target, batch.target)
    none = Augmentation(tokenizer, tokenizer, (TextRewrite(0.0, write_source_casually),))
    assert none.augment_group(batch.source, batch.target, np.random.default_rng(1))[0] is batch.source


def read_sides(corpus: PreparedCorpus, careless: float) -> tuple[list[str], list[str]]:
    batches = list(TrainingBatches(corpus, TrainConfig(batch=32, careless=careless, placeholders=0.0)).make_epoch(1))
    sources = [corpus.source_tokenizer.decode(row) for batch in batches for row in batch.source]
    return sources, [corpus.target_tokenizer.decode(row) for batch in batches for row in batch.target]


def test_all_sentences_can_be_casual_and_targets_stay(corpus: PreparedCorpus) -> None:
    def targets(careless: float) -> list[str]:
        sources, texts = read_sides(corpus, careless)
        assert all(("." not in source) == (careless == 1.0) for source in sources)
        return sorted(texts)

    assert targets(1.0) == targets(0.0)


def test_about_as_many_sources_are_casual_as_asked(corpus: PreparedCorpus) -> None:
    sources, _ = read_sides(corpus, 0.3)
    assert np.mean(["." not in source for source in sources]) == pytest.approx(0.3, abs=0.07)


@pytest.mark.parametrize(
    ("text", "typed"),
    [("Hello!", "hello"), ("Where is Tom?", "where is tom"), ("Really?!", "really"), ("Mr. X.", "mr. x")],
)
def test_people_in_a_hurry_leave_out_capitals_and_the_last_mark(text: str, typed: str) -> None:
    assert write_casually(text) == typed


@pytest.mark.parametrize(("words", "mark"), ENDED)
def test_a_casual_sentence_lacks_its_final_mark(words: str, mark: str) -> None:
    assert write_casually(f"{words}{mark}") == words.lower()
