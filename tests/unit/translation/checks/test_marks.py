import pytest

from nmt_cli.text.profile import CorpusProfile
from nmt_cli.text.profile_building import build_profile
from nmt_cli.translation.checks.marks import check_quotes
from nmt_cli.translation.checks.table import check_pair
from nmt_cli.translation.checks.words import CheckContext


def kinds(source: str, target: str, context: CheckContext) -> list[str]:
    return [check.kind for check in check_pair(source, target, context)]


def test_a_final_mark_is_compared_where_both_sides_use_it_alike() -> None:
    alike = [(f"is it {n} ?", f"ist es {n} ?") for n in range(30)] + [
        (f"it is {n} .", f"es ist {n} .") for n in range(30)
    ]
    unlike = [(source, target.replace("?", ".")) for source, target in alike]
    for pairs, expected in ((alike, ["final mark"]), (unlike, [])):
        context = CheckContext("eng", "deu", profile=CorpusProfile.parse(build_profile(pairs).encode()))
        assert kinds("is it 7 ?", "ist es 7 .", context) == expected


@pytest.mark.parametrize(
    ("source", "target", "kind", "customs"),
    [
        ("Click “Open” now.", "Jetzt Öffnen klicken.", "quotes", (" “a”", " a")),
        ("Colour: red or blue", "Farbe Rot oder Blau", "colons", (" a: b", " a b")),
        ("Open …", "Öffnen", "final mark", (" …", "")),
    ],
)
def test_a_mark_that_targets_of_training_have_less_often_is_not_missed(
    source: str, target: str, kind: str, customs: tuple[str, str]
) -> None:
    for custom, expected in ((customs[0], True), (customs[1], False)):
        pairs = [(f"it is {n}{customs[0]}", f"es ist {n}{custom}") for n in range(40)]
        context = CheckContext("eng", "deu", profile=CorpusProfile.parse(build_profile(pairs).encode()))
        assert (kind in kinds(source, target, context)) == expected


@pytest.mark.parametrize(
    ("source", "target", "is_lost"),
    [
        ("Is he here?", "Er ist hier:", False),
        ("Is he here?", "Er ist hier", True),
        ("He is here.", "Ist er hier?", True),
        ("To open a file:", "Eine Datei öffnen", False),
        ("To open a file:", "Öffnen Sie eine Datei.", False),
        ("Is he here", "Ist er hier?", False),
        ("12 p.m.", "12:00", False),
        ("We meet at 12:40 a.m.", "Wir treffen uns um 0:40", False),
        ("It is 12.", "Es ist 12", True),
    ],
)
def test_final_marks_of_questions_and_sentences_are_looked_for(source: str, target: str, is_lost: bool) -> None:
    assert ("final mark" in kinds(source, target, CheckContext("eng", "deu"))) == is_lost


@pytest.mark.parametrize(
    ("source", "target", "kinds"),
    [
        ("Note: I am here.", "Ich bin hier.", ["colons"]),
        ("Note: I am here.", "Hinweis: Ich bin hier.", []),
        ("Note: I am here.", "注意：我在这里。", []),
        ("We have these: tea and milk.", "Wir haben Tee und Milch.", ["colons"]),
        ("It is 10:30 now.", "Es ist jetzt halb elf.", []),
        ("He said: 'I am here.'", "Er sagte, 'ich bin hier.'", []),
    ],
)
def test_a_lost_colon_is_seen_but_not_that_of_a_time_or_before_speech(
    source: str, target: str, kinds: list[str]
) -> None:
    assert [check.kind for check in check_pair(source, target) if check.kind == "colons"] == kinds


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ('"Nein," sagte er, "nicht ich."', ""),
        ('"Nein," "nicht ich."', "words between quotations missing"),
        ("„Nein“ – „nicht ich.“", "words between quotations missing"),
        ("„Nein“, sagte er, „nicht ich.“", ""),
        ('Er sagte: "Nein, nicht ich."', ""),  # one quotation, with all words
    ],
)
def test_words_between_quotations_are_missed(target: str, message: str) -> None:
    failed = check_quotes('"No," he said, "not me."', target, CheckContext("eng", "deu"))
    assert (failed.message if failed else "") == message


# Functions of spreadsheets and the like have other names in other languages; their digits and slashes are no loss.


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
    checked = check_pair(source, target, CheckContext("eng", "deu"))
    assert [check.kind for check in checked if check.kind in ("numbers", "brackets")] == kinds
