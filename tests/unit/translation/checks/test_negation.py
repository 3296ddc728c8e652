"""Negations on one side alone, by language."""

from __future__ import annotations

import pytest

from nmt_cli.text.profile import CorpusProfile
from nmt_cli.text.profiling.building import build_profile
from nmt_cli.translation.checks.check import check_pair
from nmt_cli.translation.checks.context import CheckContext
from nmt_cli.translation.checks.negation import check_negation
from nmt_cli.translation.result import Placed

# Texts in two languages: both negate, or neither does, as far as their words surely tell.
ALIKE = {
    ("eng", "deu"): (
        ("He is not only rich, he is kind.", "Er ist reich und freundlich."),
        ("I can't help laughing.", "Ich muss lachen."),
        ("Nothing happened.", "Es geschah nichts."),
        ("NOTHING HAPPENED.", "ES GESCHAH NICHTS."),
        ("I have no time.", "Ich habe keine Zeit."),
        ("No, thanks.", "Nein, danke."),
        ("It is impossible.", "Das geht nicht."),
        ("She came without him.", "Sie kam ohne ihn."),
        ("I can hardly see it.", "Ich kann es nicht gut sehen."),
        ("Nice weather, isn't it?", "Schönes Wetter, nicht wahr?"),
        ("See No. 5 below.", "Siehe Nr. 5 unten."),
        ("He didn't come until noon.", "Er kam erst am Mittag."),
        ("There isn't nobody here.", "Hier ist niemand."),
        ("They are unhappy.", "Sie sind nicht glücklich."),
        ("Why not?", "Warum?"),
        ("The form is invalid.", "Das Formular ist nicht gültig."),
        ("A note for the annotator", "Eine Notiz für den Nichteingeweihten"),
        ("I don't care.", "Das ist mir egal."),
    ),
    ("eng", "fra"): (("He never smokes.", "Il ne fume jamais."), ("A person came.", "Une personne est venue.")),
    ("eng", "spa"): (("Thank you. You're welcome.", "Gracias. De nada."), ("I have no car.", "No tengo coche.")),
    ("eng", "ita"): (("It is useless.", "Non serve."), ("Nobody knows.", "Nessuno lo sa.")),
    ("eng", "por"): (("He isn't here.", "Ele não está aqui."), ("He hardly eats.", "Ele quase não come.")),
    ("eng", "nld"): (("Not only you.", "Jij ook."), ("I know nothing.", "Ik weet niets.")),
    ("eng", "swe"): (("Don't run!", "Spring inte!"), ("It is impossible.", "Det går inte.")),
    ("eng", "dan"): (("No one knows.", "Ingen ved det."), ("It is wrong.", "Det er ikke rigtigt.")),
    ("eng", "nob"): (("I didn't see it.", "Jeg så det ikke."), ("He is a boy.", "Han er en gutt.")),
}
UNLIKE = {
    ("eng", "deu"): (
        ("Do not touch: it is hot.", "Berühren: Es ist heiß."),
        ("DO NOT TOUCH - IT IS HOT.", "BERÜHREN – ES IST HEISS."),
        ("We aren't 12 people.", "Wir sind 12 Leute."),
        ("She never sings.", "Sie singt."),
        ("Come here.", "Komm nicht her."),
        ("I always pay.", "Ich zahle nie."),
        ("We went without shoes.", "Wir gingen in Schuhen."),
    ),
    ("deu", "eng"): (("Ich habe keine Zeit.", "I have time."), ("Er kam.", "He did not come.")),
    ("eng", "fra"): (("He does not smoke.", "Il fume."), ("He smokes.", "Il ne fume pas.")),
    ("eng", "spa"): (("I have no car.", "Tengo coche."), ("Come!", "¡No vengas!")),
    ("eng", "ita"): (("Nobody knows.", "Lo sanno tutti."), ("I know.", "Non lo so.")),
    ("eng", "por"): (("He isn't here.", "Ele está aqui."), ("I know.", "Não sei.")),
    ("eng", "nld"): (("I know nothing.", "Ik weet het."), ("Come!", "Kom niet!")),
    ("eng", "swe"): (("Don't run!", "Spring!"), ("He runs.", "Han springer inte.")),
    ("eng", "dan"): (("Nobody knows.", "Alle ved det."), ("I know.", "Jeg ved det ikke.")),
    ("eng", "nob"): (("I didn't see it.", "Jeg så det."), ("I saw it.", "Jeg så det ikke.")),
}


def list_cases(table: dict[tuple[str, str], tuple[tuple[str, str], ...]]) -> list[tuple[str, str, str, str]]:
    return [(*languages, *pair) for languages, pairs in table.items() for pair in pairs]


@pytest.mark.parametrize(("source_language", "target_language", "source", "target"), list_cases(ALIKE))
def test_sides_that_negate_alike_pass(source_language: str, target_language: str, source: str, target: str) -> None:
    assert check_negation(source, target, CheckContext(source_language, target_language)) is None


@pytest.mark.parametrize(("source_language", "target_language", "source", "target"), list_cases(UNLIKE))
def test_a_negation_on_one_side_alone_fails(
    source_language: str, target_language: str, source: str, target: str
) -> None:
    failed = check_pair(source, target, CheckContext(source_language, target_language))
    assert [check.kind for check in failed] == ["negation"]


def test_a_language_without_described_negations_has_no_check() -> None:
    assert check_negation("She never sings.", "Ő énekel.", CheckContext("eng", "hun")) is None
    assert check_negation("She never sings.", "Sie singt.", CheckContext("", "deu")) is None


def test_a_negation_in_a_protected_span_stays_as_it_is() -> None:
    context = CheckContext("eng", "deu", placed=(Placed("<code>not x</code>", "network", dropped=False),))
    assert check_negation("Type <code>not x</code>.", "Tippe <code>not x</code>.", context) is None
    assert check_negation("Do not type <code>not x</code>.", "Tippe <code>not x</code>.", context) is not None


def test_an_unknown_word_of_the_source_may_negate() -> None:
    profile = CorpusProfile.parse(build_profile([("I know that.", "Ich weiß das nicht.")]).encode())
    context = CheckContext("eng", "deu", profile=profile)
    assert check_negation("I knwo that nott.", "Ich weiß das nicht.", context) is None
    assert check_negation("I know that.", "Ich weiß das nicht.", context) is not None
