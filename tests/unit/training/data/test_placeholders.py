from __future__ import annotations

import re

import numpy as np
import pytest

from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.corpus.sides import SentencePair
from nmt_cli.text.symbols import PLACEHOLDERS
from nmt_cli.training.config import TrainConfig
from nmt_cli.training.data.augmentation import TextRewrite, apply_rewrites
from nmt_cli.training.data.batches import TrainingBatches, shift_right
from nmt_cli.training.data.placeholders import (
    append_word,
    find_shared_words,
    insert_placeholders,
)
from support.final_marks import ENDED

SOURCE, TARGET = "Tom saw Maria in 2013.", "2013 hat Tom Maria gesehen."


def restore(text: str, names: dict[str, str]) -> str:
    return re.sub(r"⟦\d⟧", lambda match: names[match[0]], text)


def test_names_and_numbers_that_stand_on_both_sides_once_are_shared() -> None:
    assert find_shared_words(SOURCE, TARGET) == ["Tom", "Maria", "2013"]
    assert find_shared_words("Tom, Tom is in Rome", "Tom ist in Rom") == []
    assert find_shared_words("Is Tom's in an us?", "Toms in an us") == []


def test_the_same_words_become_the_same_placeholders_on_both_sides() -> None:
    seen = set()
    for seed in range(60):
        source, target = insert_placeholders(SOURCE, TARGET, np.random.default_rng(seed))
        used = [name for name in PLACEHOLDERS if name in source]
        assert used == [name for name in PLACEHOLDERS if name in target]
        assert 1 <= len(used) <= 3
        words = re.split(r"[ .]", SOURCE), re.split(r"[ .]", source)
        names = {new: old for old, new in zip(*words, strict=True) if new in PLACEHOLDERS}
        assert (restore(source, names), restore(target, names)) == (SOURCE, TARGET)
        seen |= set(used)
    assert seen == set(PLACEHOLDERS)


def test_of_pairs_without_shared_words_some_get_one_at_an_end() -> None:
    pairs = [insert_placeholders("where is it?", "wo ist es?", np.random.default_rng(seed)) for seed in range(200)]
    changed = [re.sub(r"⟦\d⟧", "@", "|".join(pair)) for pair in pairs if pair != ("where is it?", "wo ist es?")]
    assert set(changed) == {"@ where is it?|@ wo ist es?", "where is it @?|wo ist es @?"}
    assert 40 < len(changed) < 100  # a third


@pytest.mark.parametrize(("words", "mark"), ENDED)
def test_a_placeholder_at_the_end_stands_before_the_final_mark(words: str, mark: str) -> None:
    assert append_word(f"{words}{mark}", "⟦0⟧") == f"{words} ⟦0⟧{mark}"


@pytest.mark.parametrize("text", [" ".join(PLACEHOLDERS)])
def test_a_pair_that_has_all_placeholders_stays(text: str) -> None:
    assert insert_placeholders(f"Tom {text}", f"Tom {text}", np.random.default_rng(1)) == (f"Tom {text}", f"Tom {text}")


def test_batches_teach_placeholders_in_source_and_target_alike(corpus: PreparedCorpus) -> None:
    ids = [corpus.source_tokenizer.encode(name)[-1] for name in PLACEHOLDERS]
    for share, least in ((0.0, 0), (1.0, 30)):
        config = TrainConfig(batch=32, careless=0.0, placeholders=share)
        rows = [
            row for batch in TrainingBatches(corpus, config).make_epoch(1) for row in zip(*batch.sides, strict=True)
        ]
        counts = [[np.isin(side, ids).sum() for side in row] for row in rows]
        assert all(source == target for source, target in counts)
        assert sum(source for source, _ in counts) >= least and (share or not any(source for source, _ in counts))


def test_about_as_many_pairs_get_placeholders_as_asked() -> None:
    """Each pair with a shared word gets a placeholder if the rewrite is given it."""
    corpus = [SentencePair(f"Tom {word} bade.", f"Tom {word} edab.") for word in ("gigi", "kolu") for _ in range(500)]
    for share in (0.1, 0.6):
        chosen = np.random.default_rng(1).random((1, len(corpus))) < share
        pairs = apply_rewrites([TextRewrite(share, insert_placeholders)], chosen, corpus, np.random.default_rng(2))
        assert np.mean(["⟦" in pair.source for pair in pairs]) == pytest.approx(share, abs=0.05)


def test_the_previous_tokens_are_those_of_the_changed_target(corpus: PreparedCorpus) -> None:
    ids = corpus.target_tokenizer.placeholder_ids
    batches = list(TrainingBatches(corpus, TrainConfig(batch=32, careless=0.0, placeholders=1.0)).make_epoch(1))
    assert any(np.isin(batch.target, ids).any() for batch in batches)
    for batch in batches:
        np.testing.assert_array_equal(batch.previous, shift_right(batch.target))
