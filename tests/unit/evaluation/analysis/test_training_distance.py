"""How far sentences are from the training data, and what a memory of that data alone scores."""

import pytest

from nmt_cli.evaluation.analysis.profile import build_profile, format_profile
from nmt_cli.evaluation.analysis.training_distance import MemoryScore, Nearest, TrainingIndex, score_memory
from nmt_cli.evaluation.config import ScoreConfig
from nmt_cli.evaluation.metrics.score import Material

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
