import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from nmt_cli.errors import OptionError
from nmt_cli.text.profile import CorpusProfile
from nmt_cli.text.profile_building import build_profile
from nmt_cli.translation.checks.confidence import (
    FEATURES,
    ConfidenceModel,
    apply_threshold,
    check_sentence,
    extract_features,
    group_segments,
    is_kept,
    judge_translations,
    load_confidence,
    rate_translations,
    split_uncut,
)
from nmt_cli.translation.checks.words import CheckContext
from nmt_cli.translation.config import CheckOptions
from nmt_cli.translation.result import FailedCheck, Hypothesis, Repair, Translation
from nmt_cli.translation.segmentation.segments import Segment

CONTEXT = CheckContext("eng", "deu")


def hypothesis(text: str, *log_probabilities: float, attention: Any = ((0.5, 0.5, 0.0), (0.0, 0.0, 1.0))) -> Hypothesis:
    total = sum(log_probabilities)
    count = len(log_probabilities)
    rows = (np.array(attention),)
    return Hypothesis(text, (4,) * count, ("▁a",) * count, total, total / count, log_probabilities, rows, True)


def translation(*hypotheses: Hypothesis, **known: Any) -> Translation:
    return Translation("we see", ("▁we", "▁see", "</s>"), hypotheses, frozenset(), **known)


def features(translated: Translation, context: CheckContext = CONTEXT) -> dict[str, float]:
    return dict(zip(FEATURES, extract_features(translated, context), strict=True))


def test_the_features_are_those_that_a_hand_computes() -> None:
    best = hypothesis("abcd", math.log(0.5), math.log(0.2))
    values = features(translation(best, checks=(FailedCheck("numbers", "x"),), repairs=(Repair("loop", "wider beam"),)))
    assert values["mean log-probability"] == pytest.approx((math.log(0.5) + math.log(0.2)) / 2)
    assert values["lowest log-probability"] == pytest.approx(math.log(0.2))
    assert values["share of unlikely tokens"] == 0.5
    assert values["total log-probability"] == pytest.approx(math.log(0.1))
    assert values["mean probability"] == pytest.approx(0.35)
    assert values["dispersion of attention"] == pytest.approx(math.log(2) / 2, abs=1e-6)
    assert values["uncovered source"] == 0.0
    assert values["source length"] == pytest.approx(math.log(3))
    assert (values["failed checks"], values["repairs"]) == (1, 1)
    assert math.isnan(values["length ratio"]) and math.isnan(values["rare target words"])


def test_a_source_position_that_nothing_looked_at_is_uncovered() -> None:
    looked = translation(hypothesis("ab", -1.0, -1.0, attention=((1.0, 0.0, 0.0), (0.0, 0.0, 1.0))))
    assert features(looked)["uncovered source"] == 0.5


def test_without_attention_its_features_are_unknown() -> None:
    values = features(translation(hypothesis("ab", -1.0, -1.0, attention=np.zeros((2, 3)))))
    unknown = {name for name, value in values.items() if math.isnan(value)}
    assert {"dispersion of attention", "uncovered source"} <= unknown


def test_words_and_lengths_are_compared_with_the_profile() -> None:
    pairs = [(f"we see {'dog' if n else 'cat'}", "wir sehen hund" + " an" * (n % 3)) for n in range(40)]
    context = CheckContext("eng", "deu", profile=CorpusProfile.parse(build_profile(pairs).encode()))
    values = features(Translation("cat zebra", ("a", "b"), (hypothesis("wir xy", -1.0, -1.0),), frozenset()), context)
    assert (values["unseen source words"], values["rare source words"]) == (0.5, 0.5)
    assert (values["unseen target words"], values["rare target words"]) == (0.5, 0.0)
    assert values["length ratio"] > 0


def model(**weights: float) -> ConfidenceModel:
    values = tuple(weights.get(name.replace(" ", "_").replace("-", "_"), 0.0) for name in FEATURES)
    return ConfidenceModel((0.0,) * len(FEATURES), (1.0,) * len(FEATURES), values, 0.0)


def test_the_confidence_is_the_logistic_function_of_the_features() -> None:
    sure, unsure = translation(hypothesis("a", -0.1, -0.1)), translation(hypothesis("a", -3.0, -3.0))
    blank = Translation("", (), (), frozenset())
    rated = rate_translations([sure, blank, unsure], model(mean_log_probability=2.0), CONTEXT)
    assert rated[0].confidence == pytest.approx(1 / (1 + math.exp(0.2)))
    assert rated[1].confidence is None
    assert rated[2].confidence == pytest.approx(1 / (1 + math.exp(6.0)))


def test_what_was_only_kept_is_certain() -> None:
    (rated,) = rate_translations([translation(hypothesis("12", 0.0, 0.0))], model(), CONTEXT)
    assert rated.confidence == 1.0


def test_what_was_only_kept_says_nothing_about_the_rest() -> None:
    plain = hypothesis("ab", math.log(0.5), math.log(0.2))
    kept = hypothesis("3.", 0.0, 0.0, attention=((1.0, 0.0), (0.0, 1.0)))
    framed = Hypothesis.from_parts("ab", (kept, plain))
    expected, values = (extract_features(translation(best), CONTEXT) for best in (plain, framed))
    assert values == pytest.approx(expected, nan_ok=True)


def segment(text: str) -> Segment:
    """A segment: `|` marks a frame, `:` at the end a label."""
    is_frame, is_label = text.startswith("|"), text.endswith(":")
    return Segment(text.strip("|:"), (), True, text[-1] in ".?!", is_frame=is_frame, is_label=is_label)


@pytest.mark.parametrize(
    ("texts", "groups"),
    [
        (["I am here.", "Where is Tom?"], [[0], [1]]),
        (["|-", "I am here.", "|[1]", "Where is Tom?"], [[1], [3]]),
        (["a clause of many words,", "and another.", "Yes."], [[0, 1], [2]]),
        (["Note:", "|: ", "I am here.", "Go."], [[0, 1, 2], [3]]),
        (["|<b>", "Note:", "|</b>", "|: ", "I am here."], [[1, 2, 3, 4]]),
        (["Yes", "| | ", "No", "| | ", "Cancel it"], [[0, 1, 2, 3, 4]]),
        (["delete all of these", "| | ", "keep all of these"], [[0], [2]]),
        (["I", "|tab", "am here."], [[0, 1, 2]]),
        (["Stop!", "| - ", "No"], [[0], [2]]),
        (["|12", "|13"], []),
    ],
)
def test_segments_are_grouped_to_sentences(texts: list[str], groups: list[list[int]]) -> None:
    assert group_segments(list(map(segment, texts))) == groups


UNCUT = Translation(
    "I am. Go!",
    ("▁I", "▁am", ".", "▁Go", "!", "</s>"),
    (
        Hypothesis(
            text="Ich bin. Geh!",
            tokens=(4, 5, 6, 7, 8, 3),
            pieces=("▁Ich", "▁bin", ".", "▁Geh", "!", "</s>"),
            log_probability=-4.0,
            score=-0.5,
            token_log_probabilities=(-0.1, -0.2, -0.3, -1.0, -2.0, -0.4),
            attentions=(np.eye(6, dtype=np.float32),),
            finished=True,
        ),
    ),
    frozenset(),
)


def test_an_uncut_text_is_divided_with_the_tokens_and_the_attention_of_each_sentence() -> None:
    first, second = split_uncut(UNCUT, CONTEXT)
    assert (first.source, first.text, second.source, second.text) == ("I am.", "Ich bin.", "Go!", "Geh!")
    assert first.hypotheses[0].token_log_probabilities == (-0.1, -0.2, -0.3)
    assert second.hypotheses[0].token_log_probabilities == (-1.0, -2.0, -0.4)
    assert first.source_pieces == ("▁I", "▁am", ".", "</s>") and second.source_pieces == ("▁Go", "!", "</s>")
    assert [part.hypotheses[0].attentions[0].shape for part in (first, second)] == [(3, 4), (3, 3)]
    assert second.hypotheses[0].attentions[0].tolist() == np.eye(3).tolist()


@pytest.mark.parametrize("text", ["Ich bin, geh!", "Ich. Bin. Geh!"])
def test_an_uncut_text_with_other_sentences_than_its_source_stays_whole(text: str) -> None:
    (best,) = UNCUT.hypotheses
    other = UNCUT._replace(hypotheses=(best._replace(text=text),))
    assert split_uncut(other, CONTEXT) == [other]


def test_an_uncut_sentence_without_a_letter_is_certain() -> None:
    (best,) = UNCUT.hypotheses
    pieces = ("▁5", "▁%", ".", *best.pieces[3:])
    numbers = UNCUT._replace(
        source="5 %. Go!",
        source_pieces=(*pieces[:3], *UNCUT.source_pieces[3:]),
        hypotheses=(best._replace(text="5 %. Geh!", pieces=pieces),),
    )
    first, second = split_uncut(numbers, CONTEXT)
    assert is_kept(first) and not is_kept(second)


def test_a_check_that_the_line_passes_fails_in_no_sentence() -> None:
    half = translation(hypothesis("Sie sehen 7", -1.0))  # the source has no number
    assert check_sentence(half, {"quotes"}, CONTEXT, repaired=True).checks == ()
    assert check_sentence(half, set(), CONTEXT, repaired=True) is half
    (failed,) = check_sentence(half, {"numbers"}, CONTEXT, repaired=True).checks
    assert failed.kind == "numbers"


def test_the_worst_sentence_decides_and_only_it_is_named() -> None:
    texts = [translation(hypothesis(text, value))._replace(source=text) for text, value in (("a", -0.1), ("b", -3.0))]
    line = translation(hypothesis("a b", -0.1, -3.0))
    rater = model(mean_log_probability=2.0)._replace(threshold=0.3)
    (judged,) = judge_translations([line], rater, CONTEXT, CheckOptions(), [texts])
    assert judged.least_sure is not None and judged.least_sure.number == 2
    assert judged.confidence == min(judged.least_sure.confidences) == pytest.approx(1 / (1 + math.exp(6.0)))
    assert [check.message for check in judged.checks] == ["confidence 0.00 is below 0.3 in sentence 2 of 2: b -> b"]
    (both,) = judge_translations([line], rater._replace(threshold=0.9), CONTEXT, CheckOptions(), [texts])
    assert both.checks[0].message.startswith("confidence 0.00 is below 0.9 in 2 of 2 sentences, least in 2: b -> b")


@pytest.mark.parametrize(
    ("otherwise", "text"), [("blank", ""), ("source", "we see"), ("mark", "[?] ab"), ("keep", "ab")]
)
def test_a_translation_of_low_confidence_is_replaced_and_fails_a_check(otherwise: Any, text: str) -> None:
    doubtful = translation(hypothesis("ab", -1.0))._replace(confidence=0.4)
    replaced = apply_threshold(doubtful, 0.5, otherwise, CONTEXT)
    assert replaced.text == text
    assert replaced.hypotheses == doubtful.hypotheses
    assert [check.message for check in replaced.checks] == ["confidence 0.40 is below 0.5"]
    assert apply_threshold(doubtful, 0.4, otherwise, CONTEXT) is doubtful


@pytest.mark.parametrize(
    ("read", "text", "reason"),
    [
        ("▁we ▁see ▁zebra", "wir sehen", "; words in the source never seen in training: zebra"),
        ("▁we ▁see", "wir xkwo", "; words in the translation never seen in training: xkwo"),
        ("▁we ▁zebra", "wir zebra", ""),  # copied
        ("▁we ▁see", "wir sehen", ""),
    ],
)
def test_low_confidence_names_words_unseen_in_training(read: str, text: str, reason: str) -> None:
    profile = CorpusProfile.parse(build_profile([(f"we see {n}", f"wir sehen {n}") for n in range(40)]).encode())
    doubtful = Translation("wе sее", tuple(read.split()), (hypothesis(text, -1.0),), frozenset(), confidence=0.1)
    (failed,) = apply_threshold(doubtful, 0.5, "keep", CONTEXT._replace(profile=profile)).checks
    assert failed.message == f"confidence 0.10 is below 0.5{reason}"


def test_the_threshold_of_the_model_fails_a_check_and_changes_no_text() -> None:
    doubtful = translation(hypothesis("ab", -1.0, -1.0))
    rater = model()._replace(threshold=0.6)  # which rates all 0.5
    (judged,) = judge_translations([doubtful], rater, CONTEXT, CheckOptions(on_low_confidence="blank"))
    assert (judged.text, [check.message for check in judged.checks]) == ("ab", ["confidence 0.50 is below 0.6"])
    (asked,) = judge_translations([doubtful], rater, CONTEXT, CheckOptions(min_confidence=0.7))
    assert (asked.text, [check.message for check in asked.checks]) == ("[?] ab", ["confidence 0.50 is below 0.7"])
    (fine,) = judge_translations([doubtful], rater, CONTEXT, CheckOptions(min_confidence=0.5))
    assert (fine.text, fine.checks) == ("ab", ())


def test_a_feature_that_is_no_longer_computed_counts_as_its_mean() -> None:
    today = {name: [1.0] * len(FEATURES) for name in ("means", "scales", "weights")}
    older = {"features": ["margin", *FEATURES], "bias": 0.5, **{name: [9.0, *row] for name, row in today.items()}}
    expected = ConfidenceModel(*(tuple(row) for row in today.values()), bias=0.5)
    assert ConfidenceModel.from_mapping(older) == expected


def card(**entry: Any) -> Any:
    return SimpleNamespace(confidence=entry)


def test_a_model_that_cannot_tell_says_why() -> None:
    with pytest.raises(OptionError, match="trained without"):
        load_confidence(card())
    with pytest.raises(OptionError, match="12 sentences"):
        load_confidence(card(refused="the development set has 12 sentences, but confidence needs 300"))
    with pytest.raises(OptionError, match="another version"):
        load_confidence(card(features=["length"], means=[0], scales=[1], weights=[1], bias=0))
