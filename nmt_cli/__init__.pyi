from collections.abc import Mapping

from nmt_cli.api.evaluate import evaluate
from nmt_cli.api.model_info import ModelInfo
from nmt_cli.api.model_info import describe_installed as installed
from nmt_cli.api.model_info import describe_model as info
from nmt_cli.api.open_model import export_model as export
from nmt_cli.api.prepare import prepare
from nmt_cli.api.train import train
from nmt_cli.api.translator import FileReport, Translator, load, translate
from nmt_cli.api.visualize import visualize
from nmt_cli.errors import (
    DamagedError,
    DataError,
    MissingExtraError,
    NmtError,
    NotFoundError,
    OptionError,
    OutputError,
    TrainingError,
)
from nmt_cli.training.watcher import TrainReport, Watcher
from nmt_cli.translation.result import CheckError, FailedCheck, Hypothesis, Translation

__all__ = [
    "CheckError",
    "DamagedError",
    "DataError",
    "FailedCheck",
    "FileReport",
    "Hypothesis",
    "MissingExtraError",
    "ModelInfo",
    "NmtError",
    "NotFoundError",
    "OptionError",
    "OutputError",
    "TrainReport",
    "TrainingError",
    "Translation",
    "Translator",
    "Watcher",
    "evaluate",
    "export",
    "info",
    "installed",
    "load",
    "prepare",
    "train",
    "translate",
    "visualize",
]
__version__: str
ENVIRONMENT: Mapping[str, str]
EXPORTS: Mapping[str, tuple[str, str]]
