"""Tests of `translation/checks/strange_words.py`.

Words of a translation that the target language does not have. Negations on one side alone, by language.
"""

import pytest

from nmt_cli.text.profile import CorpusProfile
from nmt_cli.text.profile_building import build_profile
from nmt_cli.translation.checks.strange_words import check_negation, find_copied, find_invented
from nmt_cli.translation.checks.table import check_translation, find_word_fault
from nmt_cli.translation.checks.words import CheckContext
from nmt_cli.translation.repair.faults import WORD_FAULTS, WordFault, changes_little
from nmt_cli.translation.result import Placed, Repair, Translation
from support.names import GERMAN_WORDS as GERMAN
from support.translations import aligned


def test_words_are_invented_only_where_training_is_known_and_new_words_are_seldom() -> None:
    profile = GERMAN.profile
    assert profile is not None
    unknown = profile.target._replace(unseen_share=0.2)
    assert find_invented("a", "der Koffizient", GERMAN._replace(profile=profile._replace(target=unknown))) == []
    assert find_invented("a", "der Koffizient", CheckContext("eng", "deu")) == []


def test_an_older_profile_does_not_know_the_rare_words() -> None:
    profile = GERMAN.profile
    assert profile is not None
    assert profile.target.words.is_complete
    profile.target.words.rare, kept = None, profile.target.words.rare
    try:
        assert find_invented("a", "der Koffizient", GERMAN) == []
    finally:
        profile.target.words.rare = kept


def test_nothing_is_copied_within_one_language() -> None:
    assert find_copied("Buy milk", "Buy Milch", GERMAN._replace(target_language="eng")) == []


def translate(source: str, target: str) -> Translation:
    return aligned(source, target.split(), range(len(target.split())))


def tell(source: str, target: str, log_probability: float = -0.1) -> list[str]:
    translation = translate(source, target)
    best = translation.hypotheses[0]
    values = (log_probability,) * len(best.pieces)
    translation = translation._replace(hypotheses=(best._replace(token_log_probabilities=values),))
    return [check.kind for check in check_translation(translation, GERMAN).checks]


def test_a_word_is_told_only_if_the_network_found_it_likely() -> None:
    assert tell("the coefficient", "der Koffizient") == ["invented words"]
    assert tell("the coefficient", "der Koffizient", -9.0) == []  # as a person's, which is scored
    assert tell("buy milk", "buy Milch") == ["copied words"]
    assert tell("buy milk", "buy Milch", -9.0) == []


def test_words_of_a_memory_are_those_of_a_person() -> None:
    translation = translate("the coefficient", "der Koffizient")._replace(origin="memory")
    assert check_translation(translation, GERMAN).checks == ()


def test_what_was_repaired_in_its_words_stays_in_doubt() -> None:
    translation = translate("buy milk", "kaufen Milch")
    for fault in WORD_FAULTS:
        repaired = translation._replace(repairs=(Repair(fault, "other words"),))
        assert [check.kind for check in check_translation(repaired, GERMAN, repaired=True).checks] == [fault]


@pytest.mark.parametrize(
    ("source", "target", "fault"),
    [
        ("we do not buy milk", "wir kaufen Milch", WordFault("negation")),
        ("Buy milk", "Buy Milch", WordFault("copied words", ("Buy",))),
        ("the coefficient", "der Koffizient", WordFault("invented words", ("Koffizient",))),
        ("the garden", "der Garten", None),
    ],
)
def test_a_sentence_is_searched_again_for_its_words(source: str, target: str, fault: WordFault | None) -> None:
    assert find_word_fault(source, target, GERMAN) == fault


@pytest.mark.parametrize(
    ("fault", "before", "after", "expected"),
    [
        (WordFault("invented words", ("Koffizient",)), "der Koffizient ist", "der Koeffizient ist", True),
        (WordFault("invented words", ("Nphe",)), "mit ihrer Nphe", "mit ihrer Familie", False),  # wrong in silence
        (WordFault("invented words", ("Stovl",)), "er kocht auf dem Stovl", "Stahl", False),
        (WordFault("copied words", ("stove",)), "auf den stove", "auf dem Ofen", True),
        (WordFault("copied words", ("refund",)), "eine refund", "eine Refundheit", False),
        (WordFault("negation"), "ich komme", "ich werde nie kommen", True),
    ],
)
def test_other_words_change_little_else(fault: WordFault, before: str, after: str, expected: bool) -> None:
    assert changes_little(fault, before, after) is expected


def test_a_language_without_described_negations_has_no_check() -> None:
    assert check_negation("She never sings.", "Ő énekel.", CheckContext("eng", "hun")) is None
    assert check_negation("She never sings.", "Sie singt.", CheckContext("", "deu")) is None


@pytest.mark.parametrize(
    ("source", "target", "is_right"),
    [
        ("We come unless it rains.", "Wir kommen, wenn es regnet.", False),
        ("We come unless it rains.", "Wir kommen, wenn es nicht regnet.", True),
        ("We come unless it rains.", "Wir kommen, es sei denn, es regnet.", True),
        ("Never run it without oil.", "Niete es ohne Öl.", False),
        ("Never run it without oil.", "Nie ohne Öl laufen lassen.", True),
        ("Run it without oil.", "Lass es ohne Öl laufen.", True),
        ("Run it without oil.", "Lass es ohne Öl ohne Öl laufen.", False),
    ],
)
def test_clauses_and_nouns_are_negated_too(source: str, target: str, is_right: bool) -> None:
    assert (check_negation(source, target, CheckContext("eng", "deu")) is None) is is_right


def test_a_negation_in_a_protected_span_stays_as_it_is() -> None:
    context = CheckContext("eng", "deu", placed=(Placed("<code>not x</code>", "network", lost=False),))
    assert check_negation("Type <code>not x</code>.", "Tippe <code>not x</code>.", context) is None
    assert check_negation("Do not type <code>not x</code>.", "Tippe <code>not x</code>.", context) is not None
    context = CheckContext("eng", "deu", placed=(Placed("2023-118", "network", lost=False),))
    assert check_negation("Invoice no. 2023-118 is paid.", "Rechnung 2023-118 ist bezahlt.", context) is None


def test_an_unknown_word_of_the_source_may_negate() -> None:
    profile = CorpusProfile.parse(build_profile([("I know that.", "Ich weiß das nicht.")]).encode())
    context = CheckContext("eng", "deu", profile=profile)
    assert check_negation("I knwo that nott.", "Ich weiß das nicht.", context) is None
    assert check_negation("I know that.", "Ich weiß das nicht.", context) is not None
