"""Functions of spreadsheets and the like have other names in other languages; their digits and slashes are no loss."""

import pytest

from nmt_cli.translation.checks.marks import check_brackets, check_numbers
from nmt_cli.translation.checks.words import CheckContext


@pytest.mark.parametrize(
    ("source", "target", "kinds"),
    [
        ('=OCT2BIN("3") is shown.', '=OKTINBIN("3") wird gezeigt.', []),
        ("COUNTA and #N/A", "ANZAHL2 und #NV", []),
        ("OCT2BIN is a word.", "OCTBIN ist ein Wort.", ["numbers"]),
        ("OCT2BIN is a word.", "OCT8BIN ist ein Wort.", ["numbers"]),
        ("OCT2BIN is a word.", "Das ist ein Wort.", ["numbers"]),
        ("COUNTA in row 2", "ANZAHL in der Zeile", ["numbers"]),
        ("Press F1 or F2 now.", "Drücken Sie F1 jetzt.", ["numbers"]),
        ("A CD/DVD plays.", "Eine CD spielt.", ["brackets"]),
    ],
)
def test_only_what_belongs_to_another_name_may_be_missing(source: str, target: str, kinds: list[str]) -> None:
    checked = (compare(source, target, CheckContext("eng", "deu")) for compare in (check_numbers, check_brackets))
    assert [check.kind for check in checked if check] == kinds
