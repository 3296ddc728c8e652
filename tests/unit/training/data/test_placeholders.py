from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from nmt_cli.arrays.special_ids import END, START
from nmt_cli.text.symbols import PLACEHOLDERS
from nmt_cli.training.data.placeholders import find_shared_words, with_placeholders

SOURCE, TARGET = "Tom saw Maria in 2013.", "2013 hat Tom Maria gesehen."


def restored(text: str, names: dict[str, str]) -> str:
    return re.sub(r"⟦\d⟧", lambda found: names[found[0]], text)


def test_names_and_numbers_that_stand_on_both_sides_once_are_shared() -> None:
    assert find_shared_words(SOURCE, TARGET) == ["Tom", "Maria", "2013"]
    assert find_shared_words("Tom, Tom is in Rome", "Tom ist in Rom") == []
    assert find_shared_words("Is Tom's in an us?", "Toms in an us") == []


def test_the_same_words_become_the_same_placeholders_on_both_sides() -> None:
    seen = set()
    for seed in range(60):
        source, target = with_placeholders(SOURCE, TARGET, np.random.default_rng(seed))
        own = {
            name: word
            for word in ("Tom", "Maria", "2013")
            for name in PLACEHOLDERS
            if source == SOURCE or name in source
        }
        used = [name for name in PLACEHOLDERS if name in source]
        assert used == [name for name in PLACEHOLDERS if name in target]
        assert 1 <= len(used) <= 3 and own
        words = re.split(r"[ .]", SOURCE), re.split(r"[ .]", source)
        names = {new: old for old, new in zip(*words, strict=True) if new in PLACEHOLDERS}
        assert (restored(source, names), restored(target, names)) == (SOURCE, TARGET)
        seen |= set(used)
    assert seen == set(PLACEHOLDERS)


def test_of_pairs_without_shared_words_some_get_one_at_an_end() -> None:
    made = [with_placeholders("where is it?", "wo ist es?", np.random.default_rng(seed)) for seed in range(200)]
    changed = [re.sub(r"⟦\d⟧", "@", "|".join(pair)) for pair in made if pair != ("where is it?", "wo ist es?")]
    assert set(changed) == {"@ where is it?|@ wo ist es?", "where is it @?|wo ist es @?"}
    assert 40 < len(changed) < 100  # a third


@pytest.mark.parametrize("text", [" ".join(PLACEHOLDERS)])
def test_a_pair_that_has_all_placeholders_stays(text: str) -> None:
    assert with_placeholders(f"Tom {text}", f"Tom {text}", np.random.default_rng(1)) == (f"Tom {text}", f"Tom {text}")


def test_batches_teach_placeholders_in_source_and_target_alike(tmp_path: Path) -> None:
    from nmt_cli.training.config import TrainConfig
    from nmt_cli.training.data.batches import TrainingBatches
    from support.models import prepare_toy

    corpus = prepare_toy(tmp_path, 200)
    ids = [corpus.source_tokenizer.encode(name)[-1] for name in PLACEHOLDERS]
    for share, least in ((0.0, 0), (1.0, 30)):
        config = TrainConfig(batch=32, careless=0.0, placeholders=share)
        rows = [
            row for batch in TrainingBatches(corpus, config).make_epoch(1) for row in zip(*batch.sides, strict=True)
        ]
        held = [[np.isin(side, ids).sum() for side in row] for row in rows]
        assert all(source == target for source, target in held)
        assert sum(source for source, _ in held) >= least and (share or not any(source for source, _ in held))


def test_the_previous_tokens_are_those_of_the_changed_target(tmp_path: Path) -> None:
    from nmt_cli.training.data.batches import previous_of

    target = np.array([[7, 8, 9, END], [5, END, 0, 0]])
    assert previous_of(target).tolist() == [[START, 7, 8, 9], [START, 5, 0, 0]]
