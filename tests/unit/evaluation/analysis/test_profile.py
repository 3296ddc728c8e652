import pytest

from nmt_cli.evaluation.analysis import profile as traits
from nmt_cli.evaluation.analysis.profile import (
    SECTIONS,
    Example,
    TrainingSources,
    build_profile,
    compare_memory,
    format_profile,
)
from nmt_cli.evaluation.config import ScoreOptions
from nmt_cli.evaluation.metrics.score import Material

TRAINING = TrainingSources.from_sources(["the dog runs", "the cat"] * 3 + ["Where is Tom?"])


@pytest.mark.parametrize(
    ("trait", "example", "group"),
    [
        (traits.group_by_length, Example("", "", "one two three four five six"), "6-10 words"),
        (traits.group_by_length, Example("", "", "我在家"), "0-5 words"),
        (traits.group_by_length, Example("", ""), None),
        (traits.group_by_rarest_word, Example("", "", "The dog!", TRAINING), "3-10 times"),
        (traits.group_by_rarest_word, Example("", "", "The zebra.", TRAINING), "never seen"),
        (traits.group_by_rarest_word, Example("", "", "The dog!"), None),
        (traits.group_by_numbers, Example("um 6.30 Uhr", "um 6.30 Uhr"), "kept"),
        (traits.group_by_numbers, Example("um 3 Uhr", "um 6 Uhr"), "lost or changed"),
        (traits.group_by_numbers, Example("um 6 Uhr", "um sechs"), "none"),
        (traits.group_by_negation, Example("Ich weiß.", "Ich weiß es nicht.", language="deu"), "lost"),
        (traits.group_by_negation, Example("Keine Ahnung.", "Ich weiß es nicht.", language="deu"), "kept"),
        (traits.group_by_negation, Example("I don't.", "I do.", language="eng"), "added"),
        (traits.group_by_negation, Example("a", "b", language="xxx"), None),
        (traits.group_by_names, Example("Tim schläft.", "Tom schläft.", "Tom sleeps."), "lost or changed"),
        (traits.group_by_names, Example("Tom schläft.", "Tom schläft.", "Tom sleeps."), "kept"),
        (traits.group_by_names, Example("Der Hund", "Der Hund", "The dog"), "none"),
        (traits.group_by_repeats, Example("ich war war dort", "ich war dort"), "repeated words"),
        (traits.group_by_repeats, Example("er ging und ging und ging", "er ging"), "repeated words"),
        (traits.group_by_repeats, Example("sehr sehr gut", "sehr sehr gut"), "none"),
        (traits.group_by_copies, Example("What about him", "Was ist mit ihm", "What about him?"), "whole sentence"),
        (
            traits.group_by_copies,
            Example("das house ist rot und alt", "das Haus ist rot", "The house is red"),
            "some words",
        ),
        (traits.group_by_copies, Example("in Berlin", "in Berlin", "in Berlin"), "none"),
        (traits.group_by_length_ratio, Example("a", "a b c d"), "too short"),
        (traits.group_by_length_ratio, Example("a b c d", "a"), "too long"),
        (traits.group_by_length_ratio, Example("a b", "a"), "as long"),
        (traits.group_by_seen, Example("", "", " Where is  Tom?", TRAINING), "seen in training"),
        (traits.group_by_seen, Example("", "", "where is TOM", TRAINING), "seen with other case"),
        (traits.group_by_seen, Example("", "", "Where is Mary?", TRAINING), "unseen"),
    ],
)
def test_what_is_special_about_a_sentence(trait: traits.__class__, example: Example, group: str | None) -> None:
    assert trait(example) == group  # type: ignore[operator]


def test_every_group_that_a_trait_can_give_has_its_place() -> None:
    material = Material(["1 a a"] * 3, [["1 b"]] * 3, ["Some Words here 1", "one " * 60, ""])
    told = build_profile(material, TRAINING, "eng")
    assert [section.title for section in told.sections] == [title for title, *_ in SECTIONS]
    assert all(sum(group.sentences for group in section.groups) == 3 for section in told.sections)


def test_what_cannot_be_known_is_left_out() -> None:
    titles = [section.title for section in build_profile(Material(["a"], [["a"]])).sections]
    assert titles == ["numbers", "repeats", "length"]


def test_negation_is_known_of_its_languages_alone() -> None:
    codes = ["en", "eng", "en-GB", "pt_BR", "est", "xxx", "et", "", "nl"]
    assert [traits.compile_negation(code) is not None for code in codes] == [True] * 4 + [False] * 4 + [True]


def test_groups_are_scored_as_the_whole_is() -> None:
    told = build_profile(Material(["GOOD DAY TO YOU"], [["good day to you"]]), config=ScoreOptions(lowercase=True))
    assert {value for section in told.sections for group in section.groups for value in group.values.values()} == {100}
    assert told.worst[0].value == 100


def test_the_score_of_a_group_is_that_of_its_sentences_alone() -> None:
    told = build_profile(Material(["good good good good", "x 5"], [["good good good good"], ["y 5"]]))
    numbers = next(section for section in told.sections if section.title == "numbers")
    assert [group.name for group in numbers.groups] == ["none", "kept"]
    assert numbers.groups[0].values["BLEU"] == pytest.approx(100)
    assert numbers.groups[1].values["BLEU"] < 50
    lines = format_profile(told)
    heading = lines.index("numbers: digits of the reference")
    assert lines[heading + 1].split()[:2] == ["sentences", "BLEU"] and lines[heading + 3].startswith("  kept")


def test_the_worst_come_first_and_are_twenty_at_most() -> None:
    material = Material(["abc"] * 30 + ["xyz"], [["abc"]] * 31)
    worst = build_profile(material).worst
    assert len(worst) == 20
    assert (worst[0].number, worst[0].hypothesis, worst[0].value) == (31, "xyz", 0)


def test_memorisation_sets_trained_beside_unseen_sentences() -> None:
    section = compare_memory(Material(["ab cd"], [["ab cd"]]), Material(["ab", "x"], [["cd"], ["y"]]))
    assert [group.sentences for group in section.groups] == [1, 2]
    assert section.groups[0].values["chrF2"] > section.groups[1].values["chrF2"]
