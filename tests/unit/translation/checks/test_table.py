""""""

import pytest

from nmt_cli.rewriting.slips import ReadAs
from nmt_cli.text.profile import CorpusProfile
from nmt_cli.text.profile_building import build_profile
from nmt_cli.translation.checks.marks import count_sentences
from nmt_cli.translation.checks.table import check_pair, check_translation
from nmt_cli.translation.checks.words import CheckContext
from nmt_cli.translation.result import FailedCheck, Placed, Repair
from support.translations import aligned, same

GERMAN = CheckContext("eng", "deu")


def kinds(source: str, target: str, context: CheckContext = GERMAN) -> list[str]:
    return [check.kind for check in check_pair(source, target, context)]


def test_sentences_that_were_joined_are_not_missing() -> None:
    pairs = [(f"Press key {n} now. Then wait.", f"Taste {n} jetzt drücken. Dann warten.") for n in range(40)]
    context = GERMAN._replace(profile=CorpusProfile.parse(build_profile(pairs).encode()))
    assert kinds("Press key 7 now. Then wait.", "Taste 7 jetzt drücken und warten.", context) == []
    assert kinds("Press key 7 now. Then wait.", "Taste 7 drücken.", context)[:1] == ["sentences"]


def test_a_copy_is_no_fault_within_one_language() -> None:
    english = CheckContext("eng", "eng")
    assert kinds("this is the same thing", "this is the same thing", english) == []
    assert kinds("this is the same thing", "this is the same thing") == ["copied"]


def test_a_carried_command_is_no_copy_but_words_beside_it_are() -> None:
    context = GERMAN._replace(placed=(Placed("git add the file", "network", lost=False),))
    source = "Run git add the file when the dog is away."
    assert kinds(source, "Los git add the file, wenn der Hund weg ist.", context) == []
    assert kinds(source, "Los git add the file, wenn the dog is weg.", context) == ["copied"]
    context = GERMAN._replace(placed=tuple(Placed(name, "network", lost=False) for name in ("{name}", "{target}")))
    assert kinds("Rename {name} in {target}", "{name} in {target} umbenennen", context) == []


def test_the_texts_of_a_choice_are_checked_each_with_the_words_around_it() -> None:
    source, target = (
        "I see {n} {n, plural, one {dog} other {dogs}}.",
        "{n, plural, one {Ich sehe {n} Hund.} other {%s}}",
    )
    for text, expected in (("Ich sehe {n} Hunde.", []), ("Ich sehe Hunde.", ["brackets"])):
        checked = check_translation(aligned(source, [target % text], [0]), GERMAN)
        assert [check.kind for check in checked.checks] == expected


def test_sentences_without_words_do_not_count() -> None:
    assert count_sentences("Yes. <br>", "") == 1
    assert count_sentences("<p>Yes.</p><p>No</p>", "") == 2
    assert count_sentences("...\n\nYes", "") == 1


def test_the_checks_of_the_best_hypothesis_are_kept_with_the_translation() -> None:
    translation = aligned("It opened in 1931 .", ["Es", "öffnete", "1913", "."], [0, 1, 3, 4])
    checked = check_translation(translation, GERMAN)
    assert checked.checks == (FailedCheck("numbers", "number 1931 missing, 1913 added"),)
    assert checked._replace(checks=()) == translation


def test_marks_whose_words_have_no_translation_fail_a_check() -> None:
    translation = aligned("Go on !", ["Los", "!"], [0, 2])._replace(unplaced=("on",))
    assert check_translation(translation, GERMAN).checks == (
        FailedCheck("enclosed words", "no translation for the marked-up words on"),
    )


def test_a_translation_without_a_failed_check_is_the_same_object() -> None:
    good, blank = aligned("Go !", ["Los", "!"], [0, 1]), aligned("", [], [])
    assert check_translation(good, GERMAN) is good
    assert check_translation(blank, GERMAN) is blank


def test_a_fault_that_no_remedy_helped_against_is_a_failed_check() -> None:
    translation = aligned("a b", ["x", "y"], [0, 1])
    unhealed = translation._replace(repairs=(Repair("loop", None),))
    assert [check.kind for check in check_translation(unhealed, GERMAN).checks] == ["loop"]
    repaired = translation._replace(repairs=(Repair("loop", "repeats barred"),))
    assert check_translation(repaired, GERMAN).checks == ()


def test_without_repair_the_faults_themselves_are_looked_for() -> None:
    words = ["so"] * 8
    looping = aligned("why do you say that to me now", words, range(8))
    assert "loop" in [check.kind for check in check_translation(looping, GERMAN).checks]


def test_a_name_with_a_character_reference_is_there() -> None:
    translation = same("AT&amp;T is here")
    (hypothesis,) = translation.hypotheses
    for name, expected in (("AT&T", []), ("AT&amp;T", []), ("A&T", ["A&T missing"])):
        spans = (Placed(name, "network", lost=False),)
        placed = translation._replace(hypotheses=(hypothesis._replace(spans=spans),))
        assert [check.message for check in check_translation(placed, CheckContext("e", "e")).checks] == expected


def test_a_span_whose_place_is_a_guess_is_named_and_so_is_a_lost_term() -> None:
    translation = same("see a.com here")
    (hypothesis,) = translation.hypotheses

    def messages(*spans: Placed) -> list[tuple[str, str]]:
        placed = translation._replace(hypotheses=(hypothesis._replace(spans=spans),))
        return [(check.kind, check.message) for check in check_translation(placed, CheckContext("e", "e")).checks]

    assert messages(Placed("a.com", "network", lost=False)) == []
    assert messages(Placed("a.com", "attention", lost=True)) == [("spans", "the position of a.com is a guess")]
    assert messages(Placed("a.com", "position", lost=False)) == [("spans", "the position of a.com is a guess")]
    assert messages(Placed("Hund", "network", lost=False, is_term=True)) == [("terms", "Hund missing")]
    assert messages(Placed("see", "network", lost=False)) == []


def test_a_span_that_the_translation_has_twice_is_named() -> None:
    (hypothesis,) = (translation := same("see a.com here")).hypotheses
    spans = (Placed("a.com", "network", lost=False),)
    twice = translation._replace(hypotheses=(hypothesis._replace(text="see a.com a.com here", spans=spans),))
    assert FailedCheck("spans", "a.com too often") in check_translation(twice, CheckContext("e", "e")).checks


def test_a_number_in_the_notation_of_the_target_is_no_term() -> None:
    (hypothesis,) = (translation := same("pay $2.50 for 1,250 kg")).hypotheses
    spans = (Placed("$2,50", "attention", lost=True), Placed("1.250 kg", "network", lost=False))
    placed = translation._replace(hypotheses=(hypothesis._replace(text="pay $2,50 1.250 kg", spans=spans),))
    checks = check_translation(placed, CheckContext("e", "e")).checks
    assert checks == (FailedCheck("spans", "the position of $2,50 is a guess"),)


def test_of_a_picture_the_translation_alone_is_checked() -> None:
    picture = aligned("dog1.jpg", ["ein", "ein", "Hund"], [0, 0, 0])
    context = CheckContext("eng", "deu", reads_text=False)
    assert [check.kind for check in check_translation(picture, context).checks] == ["repeats"]
    assert not check_translation(aligned("dog1.jpg", ["ein", "Hund"], [0, 0]), context).checks


PROFILE = CorpusProfile.parse(build_profile([(f"we see dog {n}", f"wir sehen hund {n}") for n in range(40)]).encode())


def test_a_length_is_compared_with_those_of_training() -> None:
    context = CheckContext("eng", "deu", profile=PROFILE)
    assert kinds("we see dog", "wir sehen hund", context) == []
    (failed,) = check_pair("we see dog", "wir sehen hund wir sehen den hund", context)
    assert failed.kind == "unseen words" or failed == FailedCheck("length", "too long: 33 characters for 10")
    assert "length" in kinds("we see dog we see", "wir", context)
    assert kinds("we see dog we see", "wir") == []


@pytest.mark.parametrize(("source_share", "target_share", "expected"), [(0, 0, 2), (1, 0, 1), (0, 1, 1), (1, 1, 0)])
def test_unseen_words_say_nothing_of_a_side_where_they_are_usual(
    source_share: float, target_share: float, expected: int
) -> None:
    assert PROFILE.source is not None
    profile = PROFILE._replace(
        source=PROFILE.source._replace(unseen_share=source_share),
        target=PROFILE.target._replace(unseen_share=target_share),
    )
    context = CheckContext("eng", "deu", profile=profile)
    pairs = [("we cats", "wir hund"), ("we see dog", "wir xkwo bqlo")]  # new in the source, new in the target
    assert sum("unseen words" in kinds(source, target, context) for source, target in pairs) == expected


def test_nearly_every_word_of_a_tiny_text_is_new_and_none_is_reported() -> None:
    pairs = [(f"{first} runs", f"{first[::-1]} rennt") for first in ("ann", "ben", "cid", "dan", "eve", "fay")]
    profile = CorpusProfile.parse(build_profile(pairs).encode())
    assert "unseen words" not in kinds("gus hops", "sug hopst", CheckContext("eng", "deu", profile=profile))


def test_a_model_that_rates_itself_has_no_check_of_unseen_words() -> None:
    context = CheckContext("eng", "deu", profile=PROFILE, is_rated=True)
    assert kinds("we cats", "wir hund", context) == []


def test_a_mistyped_word_that_was_read_as_a_known_one_is_not_unseen() -> None:
    context = CheckContext("eng", "deu", profile=PROFILE)
    translation = aligned("we ssee", ["wir", "sehen"], [0, 1])
    assert [check.kind for check in check_translation(translation, context).checks] == ["unseen words"]
    read = translation._replace(read_as=(ReadAs("ssee", "see"),))
    assert check_translation(read, context).checks == ()


def test_a_script_without_blanks_is_compared_by_its_characters() -> None:
    context = CheckContext(
        "jpn", "eng", profile=CorpusProfile.parse(build_profile([("彼は来た", "he came")] * 9).encode())
    )
    assert kinds("彼は来た", "he came", context) == []
    assert kinds("彼は去来た", "he came", context) == []
    assert kinds("猫犬鳥来", "he came", context) == ["unseen words"]
