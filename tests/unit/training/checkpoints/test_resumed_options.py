"""Which options a resumed run may change, and how they take effect."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.errors import DataError, OptionError
from nmt_cli.model.config import ModelConfig
from nmt_cli.training.checkpoints.resume import Identity, check_same_run, plan_handover, rescale_share
from nmt_cli.training.config import TrainConfig
from nmt_cli.training.data.batches import TrainingBatches
from nmt_cli.training.schedule import TimedSchedule

SMALL = ModelConfig.from_options(embedding=8, units=8, attention="none", bidirectional=False)


QUICK = TrainConfig(epochs=2, batch=32, learning_rate=0.01, mixed_precision=False, checkpoint_minutes=0)


NUDGED = replace(QUICK, label_smoothing=0.0)


def make_timed_facts(share: float) -> dict[str, Any]:
    """The facts of a run with `--time 10m` of which this share has passed."""
    training = replace(QUICK, time="10m").to_mapping()
    return {"progress": {"handover": None, "share": share}, "identity": {"training": training}, "updates": 12}


def test_more_time_continues_at_the_rate_that_the_shorter_time_had(corpus: PreparedCorpus) -> None:
    facts, longer = make_timed_facts(0.5), replace(QUICK, time="20m")
    handover = plan_handover(facts, longer, TrainingBatches(corpus, longer))
    before = TimedSchedule(replace(QUICK, time="10m"))
    before.set_elapsed_share(0.5)
    assert handover is not None and rescale_share(facts, longer) == 0.25
    assert handover.rate == pytest.approx(float(before.compute_rate(0)))
    after = TimedSchedule(longer, handover)
    after.set_elapsed_share(0.25)
    assert float(after.compute_rate(0)) == pytest.approx(handover.rate)
    after.set_elapsed_share(1.0)
    assert float(after.compute_rate(0)) == pytest.approx(0, abs=1e-7)
    same = replace(QUICK, time="10m")
    assert plan_handover(facts, same, TrainingBatches(corpus, same)) is None and rescale_share(facts, same) == 0.5


@pytest.mark.parametrize(
    ("network", "training", "options"),
    [
        (replace(SMALL, units=16), QUICK, ("--units 8", "--units 16")),
        (replace(SMALL, tied=False), replace(QUICK, clip=2.0), ("--tied, --clip 1", "--no-tied, --clip 2")),
        (SMALL, replace(QUICK, epochs=1), ("--epochs 2", "--epochs 1")),
        (SMALL, replace(QUICK, ema=0.99), ("no --ema", "--ema 0.99")),
        (SMALL, replace(QUICK, time="5m"), ("no --time", "--time 5m")),
    ],
)
def test_what_was_changed_is_named(network: ModelConfig, training: TrainConfig, options: tuple[str, str]) -> None:
    saved = Identity("f" * 64, SMALL, QUICK).to_mapping()
    with pytest.raises(OptionError) as caught:
        check_same_run(saved, Identity("f" * 64, network, training), Path("model"))
    assert caught.value.message == f"model/ was started with {options[0]}; now asked for: {options[1]}"
    assert options[0] in caught.value.hint


def test_other_data_are_refused() -> None:
    saved = Identity("a" * 64, SMALL, QUICK).to_mapping()
    with pytest.raises(DataError, match="other data"):
        check_same_run(saved, Identity("b" * 64, SMALL, QUICK), Path("model"))
    with pytest.raises(DataError, match="--replay was not set, and is a corpus with fingerprint cccc"):
        check_same_run(saved, Identity("a" * 64, SMALL, QUICK, replay="c" * 64), Path("model"))


def test_a_longer_run_and_what_nothing_depends_on_are_accepted() -> None:
    saved = Identity("a" * 64, SMALL, QUICK).to_mapping()
    other = replace(QUICK, epochs=7, patience=2, checkpoint_minutes=1.0, batch=16)
    check_same_run(saved, Identity("a" * 64, SMALL, other), Path("model"))


def test_a_schedule_as_long_as_before_has_the_handover_that_it_had(corpus: PreparedCorpus) -> None:
    facts = {
        "progress": {"handover": {"step": 10, "rate": 0.5}},
        "identity": {"training": {"epochs": 2}},
        "updates": 12,
    }
    handover = plan_handover(facts, QUICK, TrainingBatches(corpus, QUICK))
    assert handover is not None and (handover.step, handover.rate) == (10, 0.5)
