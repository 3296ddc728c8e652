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
from nmt_cli.evaluation.analysis.training_distance import MemoryScore, Nearest, TrainingIndex, score_memory
from nmt_cli.evaluation.config import ScoreConfig
from nmt_cli.evaluation.metrics.score import Material

""""""


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
        (traits.group_by_seen, Example("", "", "where is TOM", TRAINING), "seen but for case"),
        (traits.group_by_seen, Example("", "", "Where is Mary?", TRAINING), "unseen"),
    ],
)
def test_what_is_special_about_a_sentence(trait: traits.__class__, example: Example, group: str | None) -> None:
    assert trait(example) == group  # type: ignore[operator]


def test_every_group_that_a_trait_can_give_has_its_place() -> None:
    material = Material(["1 a a"] * 3, [["1 b"]] * 3, ["Some Words here 1", "one " * 60, ""])
    nearest = [Nearest(0, 1.0), Nearest(1, 0.6), Nearest(None, 0.0)]
    told = build_profile(material, TRAINING, "eng", nearest=nearest)
    assert [section.title for section in told.sections] == [title for title, *_ in SECTIONS]
    assert all(sum(group.sentences for group in section.groups) == 3 for section in told.sections)


def test_what_cannot_be_known_is_left_out() -> None:
    titles = [section.title for section in build_profile(Material(["a"], [["a"]])).sections]
    assert titles == ["numbers", "repeats", "length"]


def test_negation_is_known_of_its_languages_alone() -> None:
    codes = ["en", "eng", "en-GB", "pt_BR", "est", "xxx", "et", "", "nl"]
    assert [traits.compile_negation(code) is not None for code in codes] == [True] * 4 + [False] * 4 + [True]


def test_groups_are_scored_as_the_whole_is() -> None:
    told = build_profile(Material(["GOOD DAY TO YOU"], [["good day to you"]]), config=ScoreConfig(lowercase=True))
    assert {value for section in told.sections for group in section.groups for value in group.values.values()} == {100}
    assert told.worst[0].value == 100


def test_the_score_of_a_group_is_that_of_its_sentences_alone() -> None:
    told = build_profile(Material(["good good good good", "x 5"], [["good good good good"], ["y 5"]]))
    numbers = next(section for section in told.sections if section.title == "numbers")
    assert [group.name for group in numbers.groups] == ["none", "kept"]
    assert numbers.groups[0].values["BLEU"] == pytest.approx(100)
    assert numbers.groups[1].values["BLEU"] < 50
    assert any(line.startswith("  kept") for line in format_profile(told))


def test_the_worst_come_first_and_are_twenty_at_most() -> None:
    material = Material(["abc"] * 30 + ["xyz"], [["abc"]] * 31)
    worst = build_profile(material).worst
    assert len(worst) == 20
    assert (worst[0].number, worst[0].hypothesis, worst[0].value) == (31, "xyz", 0)


def test_memorisation_sets_trained_beside_unseen_sentences() -> None:
    section = compare_memory(Material(["ab cd"], [["ab cd"]]), Material(["ab", "x"], [["cd"], ["y"]]))
    assert [group.sentences for group in section.groups] == [1, 2]
    assert section.groups[0].values["chrF2"] > section.groups[1].values["chrF2"]


# How far sentences are from the training data, and what a memory of that data alone scores.


SOURCES = ["The cat sat on the mat.", "A dog barks at night.", "The cat sat on the red mat.", "the cat sat on the mat"]
TARGETS = ["Eins.", "Zwei.", "Drei.", "Vier."]
INDEX = TrainingIndex(SOURCES)


def test_the_nearest_source_shares_most_words_in_their_order() -> None:
    assert INDEX.find_nearest("the cat sat on the mat!") == Nearest(3, 1.0)  # the last of those with the same words
    near = INDEX.find_nearest("The cat sat on the red hat.")
    assert near.row == 2 and near.share == pytest.approx(12 / 14)
    far = INDEX.find_nearest("At noon, it barks.")
    assert far.row == 1 and far.share == pytest.approx(2 * 1 / 9)  # at and barks, but not in the same order
    assert INDEX.find_nearest("Nothing here") == INDEX.find_nearest("") == Nearest(None, 0.0)


def test_a_common_word_hides_no_sentence_that_is_the_same() -> None:
    index = TrainingIndex([*(f"x w{number}" for number in range(5_000)), "x"])
    assert index.find_nearest("X.") == Nearest(5_000, 1.0)


def test_what_the_model_adds_is_told() -> None:
    wanted, night = "Vier und noch viele Worte mehr.", "Ein Hund bellt laut in der Nacht."
    material = Material([wanted, night], [[wanted], [night]], ["the cat sat on the mat", "A dog barks"])
    nearest = [INDEX.find_nearest(source) for source in material.sources or ()]
    memory = score_memory(material, nearest, ["", "Zwei.", "", wanted], ScoreConfig())
    assert memory.system == pytest.approx(100) and 20 < memory.memory < 80
    profile = build_profile(material, config=ScoreConfig(), nearest=nearest)
    groups = {group.name: group.sentences for section in profile.sections for group in section.groups}
    assert groups["near: 80 % and more"] == 1 and groups["50 to 79 %"] == 1


def test_the_verdict_says_whether_the_model_adds_or_loses() -> None:
    assert str(MemoryScore(21.3, 35.1)) == "a memory of the training data alone has 21.3 BLEU; the model adds 13.8"
    assert str(MemoryScore(21.3, 20.0)).endswith("the model loses 1.3")
    material = Material(["a"], [["a"]])
    shown = format_profile(build_profile(material))
    assert not any("memory" in line for line in shown)
