"""What a translated file is reported to need."""

from pathlib import Path

import pytest

from nmt_cli.api import translator
from nmt_cli.api.translator import FileReport
from nmt_cli.translation.result import FailedCheck
from support.translations import louder


def test_a_report_keeps_as_many_doubtful_texts_as_there_is_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(translator, "MOST_FLAGGED", 2)
    report, good = FileReport(Path("a.txt")), louder("a")
    for translation in (good, *[good._replace(checks=(FailedCheck("numbers", "number 7 missing"),))] * 3):
        report.add(translation)
    assert (report.texts, report.flagged_count) == (4, 3)
    assert [number for number, _ in report.flagged] == [2, 3]
