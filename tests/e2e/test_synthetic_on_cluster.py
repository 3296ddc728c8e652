"""The text of a training with synthetic pairs is translated by a cluster of two machines as by one process."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nmt_cli.model.config import ModelConfig
from nmt_cli.training import synthetic
from nmt_cli.training.export import publish as publishing
from nmt_cli.training.options import TrainOptions
from nmt_cli.training.request import TrainRequest
from nmt_cli.training.step import Trainer
from nmt_cli.training.synthetic import train_with_synthetic
from nmt_cli.training.validation import Validator
from nmt_cli.training.watcher import Watcher
from support.cluster import kill_machine
from support.corpora import prepare_pairs, toy_pairs
from support.training import export_once, nudge, weigh

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


def read_translated(folder: Path) -> dict[str, bytes]:
    """Returns the files of translations, and those of the mixture with them."""
    paths = [*folder.glob("*.journal"), *(path for path in folder.glob("mixture/**/*") if path.is_file())]
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


class MachineKiller(Watcher):
    """Kills the second machine once the first sentences are translated."""

    def __init__(self, cluster: Any) -> None:
        self.cluster = cluster
        self.translated: list[int] = []

    def report_translations(self, done: int, total: int, seconds_left: float) -> None:
        if not self.translated:
            kill_machine(self.cluster)
        self.translated.append(done)


def test_text_is_translated_as_by_one_process_though_a_machine_is_killed(
    tmp_path: Path, two_machines: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for owner, name, substitute in (
        (Trainer, "update", nudge),
        (Validator, "validate", weigh),
        (publishing, "export", export_once(tmp_path)),
        (synthetic, "BLOCK", 10),
    ):
        monkeypatch.setattr(owner, name, substitute)
    pairs, text = toy_pairs(400), tmp_path / "text.de"
    text.write_text("".join(f"{target}\n" for _, target in pairs[300:]), encoding="utf-8")
    corpus = prepare_pairs(tmp_path, pairs[:300], monolingual_target=(str(text),), dev="20", test="20")
    network = ModelConfig.from_options(embedding=16, units=16, attention="none", bidirectional=False)
    training = TrainOptions(epochs=1, batch=64, mixed_precision=False)
    alone = TrainRequest(corpus, tmp_path / "one", network, training, keep_stages=True)
    train_with_synthetic(alone)
    killer = MachineKiller(two_machines)
    train_with_synthetic(replace(alone, directory=tmp_path / "two", ray=two_machines.address, watcher=killer))
    assert len(killer.translated) > 5
    stages = [read_translated(tmp_path / name / "stages") for name in ("one", "two")]
    assert len(stages[0]) > 5 and stages[0] == stages[1]
