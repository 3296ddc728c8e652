"""Names that both sides of training have are copied: one that a translation lacks is carried, or told."""

import pytest

from nmt_cli.carrying.people import COPIED_NAMES, find_missing_names
from nmt_cli.carrying.spans import Attempt, Context
from nmt_cli.text.profile import CorpusProfile
from nmt_cli.text.profile_building import build_profile
from nmt_cli.translation.checks.words import CheckContext, check_coverage
from support.translations import aligned

PAIRS = [
    ("He met Boston.", "Er traf Boston."),
    ("So Boston won.", "So siegte Boston."),
    ("We like Vienna.", "Wir mögen Wien."),
    ("In Vienna.", "In Wien."),
    ("A hand, the hand", "Eine Hand, die Hand"),
    ("I saw Mary.", "Ich sah Maria."),
    ("I know Mary.", "Ich kenne Mary."),
]
PROFILE = CorpusProfile.parse(build_profile(PAIRS).encode())


def list_missing(source: str, target: str) -> list[str]:
    assert PROFILE.source is not None
    return [name[0] for name in find_missing_names(source, target, PROFILE.source, PROFILE.target)]


@pytest.mark.parametrize(
    ("source", "target", "missing"),
    [
        ("City: Boston", "Stadt: nen", ["Boston"]),
        ("Boston's team", "Die Mannschaft", ["Boston"]),
        ("Boston won.", "Bostons Sieg.", []),
        ("Vienna won.", "Wien siegte.", []),
        ("My Hand", "Mein Arm", []),
        ("Mary won.", "Sie siegte.", []),
        ("Boston-born", "Er", []),
        ("Berlin won.", "Sie siegte.", []),
    ],
)
def test_names_that_both_sides_have_are_missed(source: str, target: str, missing: list[str]) -> None:
    assert list_missing(source, target) == missing


def test_a_lost_name_is_carried() -> None:
    def find(source: str, target: str) -> object:
        assert PROFILE.source is not None
        return find_missing_names(source, target, PROFILE.source, PROFILE.target)

    text = "He lives in Boston."
    attempt = Attempt(text, (), text, "Er lebt in Bein.", lambda span: True)
    context = Context(("eng", "deu"), find_missing_names=find)  # type: ignore[arg-type]
    assert COPIED_NAMES.may_be_in(text, context)
    assert [span.text for span in COPIED_NAMES.list_carried(attempt, context)] == ["Boston"]
    assert COPIED_NAMES.list_carried(attempt, context._replace(copies_placeholders=False)) == []
    assert COPIED_NAMES.list_carried(attempt._replace(target="Er lebt in Boston."), context) == []
    assert COPIED_NAMES.list_carried(attempt, Context()) == []


@pytest.mark.parametrize(("word", "message"), [("Nen", "no translation of Boston"), ("Boston", "")])
def test_a_name_that_stays_lost_is_told(word: str, message: str) -> None:
    context = CheckContext("eng", "deu", profile=PROFILE)
    failed = check_coverage(aligned("City Boston", ["Stadt", word], [0, 1]), context)
    assert (failed.message if failed is not None else "") == message
