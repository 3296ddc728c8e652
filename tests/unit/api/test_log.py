"""Warnings of functions reach Python's logging, and nothing else."""

import logging
import subprocess
import sys
from pathlib import Path

import pytest

import nmt_cli as nmt
from nmt_cli.api.train import combine_watchers
from nmt_cli.translation.result import FailedCheck, Translation
from support.fakes import FakeTranslator, fake_loaded


def translate_badly(line: str) -> Translation:
    checks = (FailedCheck("numbers", "the number 3 is missing"),) if "3" in line else ()
    return FakeTranslator().rule(line)._replace(checks=checks, source_cut_from=9 if "long" in line else None)


@pytest.fixture
def doubtful() -> FakeTranslator:
    fake = FakeTranslator()
    fake.rule = translate_badly
    return fake


def test_failed_checks_and_truncated_texts_are_logged(
    doubtful: FakeTranslator, caplog: pytest.LogCaptureFixture
) -> None:
    translator = fake_loaded(doubtful)
    assert translator.translate(["a", "3 b", "long"]) == ["A", "3 B", "LONG"]
    assert list(translator.stream(["a", "b", "3 c"], batch=2)) == ["A", "B", "3 C"]
    assert [record.name for record in caplog.records] == ["nmt_cli"] * 3
    assert {record.levelno for record in caplog.records} == {logging.WARNING}
    first, second, third = caplog.messages
    assert (first, third) == ("text 2: the number 3 is missing", "text 3: the number 3 is missing")
    assert "truncated; the first is" in second and second.count(" 3") == 1


def test_warnings_of_evaluate_and_prepare_are_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "h.txt").write_text("a house\n")
    files = {"hypothesis": tmp_path / "h.txt", "reference": tmp_path / "h.txt"}
    report = nmt.evaluate(metric="bleu4", **files)
    assert caplog.messages == list(report.warnings) != []
    (tmp_path / "g.txt").write_text("the house\n")
    several = [files["hypothesis"], tmp_path / "g.txt"]
    compared = nmt.evaluate(metric="bleu4", hypothesis=several, reference=files["reference"])
    assert len(compared.reports) == 2  # type: ignore[union-attr]


def test_a_training_without_a_watcher_logs_its_warnings(caplog: pytest.LogCaptureFixture) -> None:
    combine_watchers(None, None, None).warn("the loss is infinite")
    assert caplog.messages == ["the loss is infinite"]


def test_nothing_is_printed_unless_logging_is_configured() -> None:
    code = "from nmt_cli.api.log import log_warnings; log_warnings(['doubtful'])"
    for configure, told in (("", ""), ("import logging; logging.basicConfig(); ", "WARNING:nmt_cli:doubtful\n")):
        run = subprocess.run([sys.executable, "-c", configure + code], capture_output=True, text=True, check=True)
        assert (run.stdout, run.stderr) == ("", told)
