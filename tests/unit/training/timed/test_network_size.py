"""The network that fits the time of a run."""

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.model.config import ModelConfig, RnnConfig
from nmt_cli.training.config import TrainConfig
from nmt_cli.training.deadline import Deadline
from nmt_cli.training.request import TrainingRequest
from nmt_cli.training.setup import defaults
from nmt_cli.training.setup import prepare as setup
from nmt_cli.training.setup.defaults import SMALL_NETWORK
from support.timed import TIMED, Machine

SMALL_DEFAULT = ModelConfig.from_options(**SMALL_NETWORK)  # what a short --time gets


def choose_network(
    corpus: PreparedCorpus,
    directory: Path,
    network: ModelConfig,
    seconds: float,
    explicit: Collection[str] | None = None,
) -> ModelConfig:
    """Returns the network that is trained for five minutes with updates of so many seconds."""
    machine = Machine((0, seconds))
    deadline = Deadline(300, clock=machine)
    request = TrainingRequest(corpus, directory, network, TIMED, machine, deadline=deadline, explicit=explicit)
    run = setup.prepare_run(request)
    assert machine.info is not None
    assert machine.info.network == run.trainer.network.config
    return machine.info.network


def test_a_short_time_has_a_small_network_and_a_long_one_the_default(corpus: PreparedCorpus, tmp_path: Path) -> None:
    assert choose_network(corpus, tmp_path, ModelConfig.from_options(), 1.0) == SMALL_DEFAULT
    assert choose_network(corpus, tmp_path, ModelConfig.from_options(), 0.02) == ModelConfig.from_options()


def test_a_network_that_is_asked_for_is_not_made_smaller(corpus: PreparedCorpus, tmp_path: Path) -> None:
    network = ModelConfig.from_options(dropout=0.2)
    assert choose_network(corpus, tmp_path, network, 1.0) == network
    wide = ModelConfig.from_options(embedding=300, units=600)
    chosen = choose_network(corpus, tmp_path, wide, 1.0, explicit={"embedding", "units"})
    assert isinstance(chosen, RnnConfig) and (chosen.embedding, chosen.units) == (300, 600)


def test_a_resumed_run_keeps_the_size_that_was_chosen() -> None:
    default = ModelConfig.from_options()
    for chosen in (SMALL_DEFAULT, default):
        assert defaults.choose_first_size(default, {"identity": {"network": chosen.to_mapping()}}) == chosen
    other = ModelConfig.from_options(attention="general")  # which was asked for then, and need not be now
    assert defaults.choose_first_size(default, {"identity": {"network": other.to_mapping()}}) == other


def test_a_run_killed_before_its_first_update_is_measured_anew(corpus: PreparedCorpus, tmp_path: Path) -> None:
    assert choose_network(corpus, tmp_path, ModelConfig.from_options(), 1.0) == SMALL_DEFAULT  # and no update followed
    machine = Machine((0, 0.02))
    deadline = Deadline(300, clock=machine)
    request = TrainingRequest(
        corpus, tmp_path, ModelConfig.from_options(), TIMED, machine, resume=True, deadline=deadline
    )
    run = setup.prepare_run(request)
    assert run.trainer.network.config == ModelConfig.from_options()


def test_a_time_decides_where_no_option_of_the_network_is_asked_for() -> None:
    assert defaults.is_size_open((), TIMED)
    assert not defaults.is_size_open({"units"}, TIMED)
    assert not defaults.is_size_open((), replace(TIMED, init_from="model"))
    assert not defaults.is_size_open((), TrainConfig())
