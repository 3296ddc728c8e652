"""The last stage of a training with synthetic pairs: the model itself, which several processes train together."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.corpus.mixture import MixedCorpus
from nmt_cli.errors import NotFoundError
from nmt_cli.training.distributed.strategy import make_cluster, make_strategy
from nmt_cli.training.request import TrainingRequest
from nmt_cli.training.run import assist, explain_errors
from nmt_cli.training.setup.defaults import count_epochs
from nmt_cli.training.synthetic.plan import FEWEST_FINAL_EPOCHS
from nmt_cli.training.synthetic.stages import MIXTURE, STAGES


def assist_with_synthetic(request: TrainingRequest, model: Path) -> None:
    """Waits until the chief has mixed the pairs in its `model` directory, and takes part in the last stage."""
    with explain_errors(request.role):
        cluster = make_cluster(make_strategy(request.training, request.role), request.role)
        cluster.ask_chief(False)
    mixture = model / STAGES / MIXTURE
    if not mixture.is_dir():
        raise NotFoundError(f"{mixture}/ does not exist", hint="all machines need to see the model directory")
    assist(fit_request(request, MixedCorpus.load(mixture)))


def fit_request(request: TrainingRequest, corpus: PreparedCorpus) -> TrainingRequest:
    """Returns the request for the model itself, with as many epochs as its mixture needs unless these are set."""
    training, explicit = request.training, request.explicit
    if explicit is not None and "epochs" not in explicit:
        epochs = count_epochs(len(corpus.load_encoded("train").source), fewest=FEWEST_FINAL_EPOCHS)
        training, explicit = replace(training, epochs=epochs), {*explicit, "epochs"}
    return replace(request, corpus=corpus, training=training, explicit=explicit)
