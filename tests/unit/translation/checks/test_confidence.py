from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from nmt_cli.errors import OptionError
from nmt_cli.text.profile import CorpusProfile
from nmt_cli.text.profiling.building import build_profile
from nmt_cli.translation.checks.confidence import (
    FEATURES,
    ConfidenceModel,
    apply_threshold,
    extract_features,
    judge_translations,
    load_confidence,
    rate_translations,
)
from nmt_cli.translation.checks.context import CheckContext
from nmt_cli.translation.config import CheckConfig
from nmt_cli.translation.result import FailedCheck, Hypothesis, Repair, Translation

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
        ("▁we ▁see ▁zebra", "wir sehen", "; never seen in training: zebra"),
        ("▁we ▁see", "wir xkwo", "; never seen in training: xkwo"),
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
    (judged,) = judge_translations([doubtful], rater, CONTEXT, CheckConfig(on_low_confidence="blank"))
    assert (judged.text, [check.message for check in judged.checks]) == ("ab", ["confidence 0.50 is below 0.6"])
    (asked,) = judge_translations([doubtful], rater, CONTEXT, CheckConfig(min_confidence=0.7))
    assert (asked.text, [check.message for check in asked.checks]) == ("[?] ab", ["confidence 0.50 is below 0.7"])
    (fine,) = judge_translations([doubtful], rater, CONTEXT, CheckConfig(min_confidence=0.5))
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
        load_confidence(card(refused="the development set has 12 sentences; 300 are needed"))
    with pytest.raises(OptionError, match="another version"):
        load_confidence(card(features=["length"], means=[0], scales=[1], weights=[1], bias=0))
