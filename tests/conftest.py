"""Which tests `make check` leaves out: those that need a network, or the whole; and the order in which files run."""

from __future__ import annotations

import gc
import os
import re
import signal
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture.providers import HypothesisProvider
from hypothesis.internal.constants_ast import Constants

from support.browser import MISSING
from support.once import make_once

if TYPE_CHECKING:
    from nmt_cli.corpus.dataset import PreparedCorpus

# Started in the background of a script, tests and all that they start would ignore Ctrl-C, which some of them press.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:  # under `nohup`
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

# tf2onnx copies a graph before each of its passes, for the case that one fails: here it is to be seen which, and the
# export of a Transformer takes half the time.
os.environ["TF2ONNX_CATCH_ERRORS"] = "FALSE"

# Workers of pytest-xdist set it, and messages would wrap. Tests of a width set their own.
os.environ.pop("COLUMNS", None)

# How many examples Hypothesis tries of a property: in `make check`, `make test` and `make test-slow`, which alone tries
# others each time. An example has no time limit, since machines are busy, and all of a property may share the directory
# of a fixture.
for profile, number in {"quick": 20, "usual": 30, "thorough": 500}.items():
    settings.register_profile(
        profile,
        max_examples=number,
        derandomize=profile != "thorough",
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
    )
settings.load_profile("usual")

# Tests here train, trace or export networks, or start the command line that does.
NETWORK_FOLDERS = ("tests/e2e/", "tests/unit/training/", "tests/unit/model/", "tests/unit/jobs/test_ray_executor.py")
# So do those of files that import or ask for one, and of those that say so.
NETWORK_NAMES = re.compile(
    r"^(?:import|from) (?:keras|tensorflow)\b|\bexport_untrained\b|\bexport_kind\b|\buntrained_model\b"
    r"|^pytestmark = pytest\.mark\.network$",
    re.MULTILINE,
)
# Tests of the whole: bundled models translate; programs, workers or servers start; calls of translations are counted.
WHOLE_FOLDERS = ("tests/frozen/",)
WHOLE_NAMES = re.compile(
    r"\bserve_on_port\b|\bsubprocess\b|\bcount_calls\b|^pytestmark = pytest\.mark\.whole$", re.MULTILINE
)
# The longest files of all, in seconds of one core: begun first, they do not keep one worker busy at the end.
LONGEST_FIRST = """
test_main_job.py test_page_without_server.py test_trace.py test_step.py test_seq2seq.py test_timed.py test_run.py
test_string_task.py
test_finetune.py test_kill.py test_resume.py test_recurrence.py test_translate_streams.py
test_exported_transformers.py test_vector_engine.py test_captions.py test_translate_lines.py test_models_stay.py
test_cluster.py test_checkpoints.py test_quantise.py test_replaced_models.py test_overlap.py
test_model_packages.py test_prepare.py test_frozen.py
""".split()


def pytest_sessionstart() -> None:
    """Stops Hypothesis from drawing constants of the modules that happen to be imported, if examples are to stay."""
    if settings().derandomize:
        HypothesisProvider._local_constants = Constants()


@cache
def list_marks(path: Path) -> list[str]:
    """Returns the marks of all tests of a file."""
    text = path.read_text(encoding="utf-8")
    rules = {"network": (NETWORK_FOLDERS, NETWORK_NAMES), "whole": (WHOLE_FOLDERS, WHOLE_NAMES)}
    return [
        mark
        for mark, (folders, names) in rules.items()
        if any(folder in path.as_posix() for folder in folders) or names.search(text)
    ]


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Imports no file of whose tests none would run: Keras alone takes seven seconds."""
    if collection_path.suffix != ".py":
        return None
    return True if any(f"not {mark}" in config.option.markexpr for mark in list_marks(collection_path)) else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    ranks = {name: rank for rank, name in enumerate(LONGEST_FIRST)}
    items.sort(key=lambda item: ranks.get(item.path.name, len(ranks)))
    for item in items:
        for mark in list_marks(item.path):
            item.add_marker(mark)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Keeps the garbage collector from the million objects of imported modules, through which it looks in vain."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Says once how many tests were skipped for want of a browser, and what to install."""
    skipped = sum(MISSING in str(report.longrepr) for report in terminalreporter.stats.get("skipped", ()))
    if skipped:
        terminalreporter.write_line(f"{skipped} tests of pages skipped: {MISSING}")


@pytest.fixture(scope="session")
def run_directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory that all workers of a run share."""
    own = tmp_path_factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


@pytest.fixture(scope="session")
def corpus(run_directory: Path) -> PreparedCorpus:
    """A prepared corpus of the toy language, in a directory that tests only read."""
    from nmt_cli.corpus.dataset import PreparedCorpus
    from support.models import prepare_toy  # NumPy and SentencePiece, which many tests do without

    return PreparedCorpus.load(make_once(run_directory / "toy", lambda path: prepare_toy(path, 300)) / "prepared")


@pytest.fixture(scope="session")
def export_kind(corpus: PreparedCorpus, run_directory: Path) -> Callable[..., Path]:
    """Exports a model of `corpus` with its initial weights, one for the same settings; tests only read or copy it."""
    from support.models import export_untrained

    def export(**options: object) -> Path:
        name = "-".join(["untrained", *(f"{option}={value}" for option, value in options.items())])
        return (
            make_once(run_directory / name, lambda path: export_untrained(corpus, path / "model", **options)) / "model"
        )

    return export


@pytest.fixture(scope="session")
def untrained_model(export_kind: Callable[..., Path]) -> Path:
    """The directory of a model of the default settings, which tests only read or copy."""
    return export_kind()


@pytest.fixture(scope="module")
def two_machines(request: pytest.FixtureRequest) -> Iterator[Any]:
    """A Ray cluster of two machines with a core each, whose processes can import the module that asks for it."""
    from support.cluster import start_machines

    with start_machines(request.path.parent) as cluster:
        yield cluster
