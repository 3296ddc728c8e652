import pytest

from nmt_cli.carrying.glossary import Glossary
from nmt_cli.text.profile import CorpusProfile
from nmt_cli.text.profile_building import build_profile
from nmt_cli.translation.checks.marks import check_terms
from nmt_cli.translation.checks.table import check_pair
from nmt_cli.translation.checks.words import CheckContext
from nmt_cli.translation.result import FailedCheck, Placed


def kinds(source: str, target: str, context: CheckContext) -> list[str]:
    return [check.kind for check in check_pair(source, target, context)]


def test_a_form_that_the_glossary_lacks_is_reported() -> None:
    context = CheckContext("eng", "deu", glossary=Glossary({"landlord": "Vermieter"}))
    failed = check_terms("Our landlords came.", "Unsere Hausherren kamen.", context)
    assert failed is not None
    assert failed.message == "landlords looks like landlord, but is not in the glossary"
    assert check_terms("Our landlord came.", "Unser Vermieter kam.", context) is None
    assert check_terms("Our landlords came.", "Wir sprachen mit Vermietern.", context) is None
    placed = CheckContext(placed=(Placed("ikuo", "network", False, True), Placed("Bo", "network", False, True)))
    assert check_terms("Corn, Bo", "Ikuo, Bo", placed) is None
    assert check_terms("Corn, Bo", "Iku, Bo", placed) == FailedCheck("terms", "ikuo missing")
    houses = CheckContext("eng", "deu", glossary=Glossary({"old house": "altes Haus", "city": "Stadt"}))
    assert check_terms("The old houses", "Die alten Häuser", houses) is None
    assert check_terms("The cities and old houses", "Die Städte und neuen Häuser", houses) is not None


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


# Functions of spreadsheets and the like have other names in other languages; their digits and slashes are no loss.
