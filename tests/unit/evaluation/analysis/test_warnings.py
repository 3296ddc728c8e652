import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.errors import OptionError
from nmt_cli.evaluation.analysis.explain import (
    count_ngrams,
    explain_metrics,
    find_common_subsequence,
    list_precisions,
    mark_common,
    multiply_precisions,
    tokenize_for_bleu,
)
from nmt_cli.evaluation.analysis.reliability import (
    compute_auc,
    compute_calibration_error,
    measure_reliability,
    score_surest,
    split_bins,
)
from nmt_cli.evaluation.analysis.warnings import check_references, find_seen, list_warnings, warn_of_leak
from nmt_cli.evaluation.config import ScoreOptions
from nmt_cli.evaluation.metrics.sacrebleu_metrics import compute_brevity_penalty, make_bleu
from nmt_cli.evaluation.metrics.score import Material
from nmt_cli.evaluation.report import score_material
from support.properties import examples


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("Das ist , glaube ich , so .", "look tokenised"),
        ("Das ist unglaub@@ lich.", "look tokenised"),
        ("Das ist, glaube ich, so.", ""),
        ("Um 3:30 Uhr ... vielleicht", ""),
        ("Comment ça va ? Très bien !", ""),
        ("这是一个房子。", ""),
    ],
)
def test_references_that_a_program_changed_are_told(line: str, said: str) -> None:
    found = check_references([line] * 100)
    assert (said in found[0]) if said else found == []


def test_a_few_odd_references_are_no_habit() -> None:
    assert check_references(["Das ist so ."] * 5 + ["Das ist so."] * 95) == []


def test_good_sentences_raise_no_doubt() -> None:
    assert list_warnings(["bleu", "chrf"], ["Das ist so."] * 100, [["Das war so."]] * 100) == []


@pytest.mark.parametrize(("words", "said"), [(4, "have 57% as many words"), (6, "")])
def test_a_brevity_penalty_is_told_in_words_if_it_costs_much(words: int, said: str) -> None:
    reference = "das ist ein Satz mit sieben Wörtern".split()
    material = Material([" ".join(reference[:words])] * 100, [[" ".join(reference)]] * 100)
    warnings = score_material(["bleu", "chrf"], material, ScoreOptions(resamples=0)).warnings
    assert len(warnings) == bool(said)
    assert not said or (said in warnings[0] and "BLEU keeps only 47% of its points" in warnings[0])


NOUNS = "river bridge garden kettle window ladder basket candle hammer pillow".split()
PLACES = "roof shed cellar kitchen attic porch hall yard loft barn".split()
ENGLISH = [f"A {NOUNS[n % 10]} stands near the {PLACES[n // 10 % 10]} {n}." for n in range(90)]
OTHER = [f"Zu {noun[::-1]} gehört ein {PLACES[n % 10][::-1]} {n}." for n, noun in enumerate(NOUNS * 9)]


@pytest.mark.parametrize(
    ("hypotheses", "said"),
    [
        (ENGLISH, ""),
        (ENGLISH[:30] + ENGLISH[31:] + ["A pot."], "hypotheses 31 to 89 fit the references 1 line later"),
        (ENGLISH[:40] + ["A pot."] * 2 + ENGLISH[40:-2], "hypotheses 43 to 90 fit the references 2 lines earlier"),
        ([ENGLISH[0]] * 90, ""),
        (["A bridge is here."] * 90, ""),
    ],
)
def test_lines_that_slipped_are_told(hypotheses: list[str], said: str) -> None:
    found = list_warnings(["chrf"], hypotheses, [[line] for line in ENGLISH], sources=OTHER)
    assert [line for line in found if "fit the references" not in line][1:] == []
    assert (said in "".join(found)) if said else not any("fit" in line for line in found)


@pytest.mark.parametrize(
    ("hypotheses", "references", "said"),
    [
        (OTHER, ENGLISH, ["the references seem to be in the language of the sources"]),
        (ENGLISH, OTHER, ["the references seem to be in a different language"]),
        (ENGLISH[:40], OTHER[:40], []),  # too few to tell
    ],
)
def test_references_in_another_language_are_told(hypotheses: list[str], references: list[str], said: list[str]) -> None:
    found = list_warnings(["chrf"], hypotheses, [[line] for line in references], sources=ENGLISH[: len(hypotheses)])
    assert [line.partition(":")[0] for line in found if "language" in line] == said


def test_lower_case_on_one_side_is_told() -> None:
    lower, references = ["das ist so."] * 100, [["Das war so."]] * 100
    (told,) = list_warnings(["bleu"], lower, references)
    assert "--lowercase" in told
    (told,) = list_warnings(["bleu"], ["Das war so."] * 100, [["das ist so."]] * 100)
    assert "the references are all in lower case" in told
    assert list_warnings(["bleu"], lower, [["das war so."]] * 100) == []
    assert list_warnings(["bleu"], lower, references, ScoreOptions(lowercase=True)) == []


def test_blanks_before_marks_are_right_where_tokens_are_counted() -> None:
    options = ScoreOptions(bleu_tokenizer="none")
    assert list_warnings(["bleu"], ["Das ist so ."] * 100, [["Das war so ."]] * 100, options) == []


def test_sources_are_compared_in_their_normal_form() -> None:
    assert find_seen(["Wo  ist er?", "wo ist er?"], {"Wo ist er?"}) == [True, False]


def test_a_leak_is_told_with_its_share() -> None:
    assert warn_of_leak([False, False], "prepared/") == []
    assert "1 of 4 test sources (25.0%)" in warn_of_leak([True, False, False, False], "prepared/")[0]


def test_translations_that_are_their_sources_are_told_with_their_lines() -> None:
    sources = ["Good day.", "Tom!", "", *(f"Line {number}." for number in range(97))]
    references = [["Guten Tag."], ["Tom!"], [""], *([f"Zeile {number}."] for number in range(97))]
    hypotheses = ["Good day.", "Tom!", "", *(f"Zeile {number}." for number in range(97))]
    told = list_warnings(["chrf"], hypotheses, references, sources=sources)
    assert "1 hypothesis equals its source, untranslated: sentence 1" in told
    assert not any("untranslated" in line for line in list_warnings(["chrf"], hypotheses, references))


SENTENCE = st.lists(st.sampled_from(["a", "b", "c", "D", "."]), min_size=1, max_size=9).map(" ".join)
SMOOTHING = st.sampled_from(["exp", "none", "floor:0.1", "add-k:1", "add-k:0.5", "epsilon:0.01"])


@examples(150)
@given(SENTENCE, SENTENCE, st.integers(1, 4), SMOOTHING)
def test_the_derivation_ends_at_the_score_itself(candidate: str, reference: str, order: int, smooth: str) -> None:
    config = ScoreOptions(smooth=smooth)
    tokens, other = tokenize_for_bleu(candidate, config), tokenize_for_bleu(reference, config)
    score = make_bleu(order)([candidate], [[reference]], config)
    precisions = list_precisions(score, config)
    derived = multiply_precisions(precisions, compute_brevity_penalty(len(tokens), len(other)))
    assert 100 * derived == pytest.approx(score.value, abs=1e-9)
    for n, precision in enumerate(precisions, start=1):
        counts = count_ngrams(tokens, n)
        matches = (counts & count_ngrams(other, n)).total()
        if smooth in ("exp", "none") and matches:
            assert precision == pytest.approx(matches / counts.total())


def test_a_repeated_ngram_counts_as_often_as_in_the_reference() -> None:
    lines = explain_metrics(["bleu1"], "the " * 7, "the cat the", ScoreOptions())
    assert ["1", "the", "7", "2", "2"] in map(str.split, lines) and "  p1 = 2/7 = 0.2857" in lines


def test_the_common_subsequence_is_marked_where_it_stands() -> None:
    common = find_common_subsequence("a b c b d a b".split(), "b d c a b a".split())
    assert len(common) == 4  # Cormen et al., figure 15.8
    assert mark_common(["x", "a", "y"], ["a"]) == "x [a] y"


def test_only_a_precision_that_was_changed_is_called_smoothed() -> None:
    by_hand = {"exp": [False, False, True], "add-k:1": [False, True, True], "none": [False, False, False]}
    for smooth, changed in by_hand.items():  # 3/4, 1/3, 0/2; add-k leaves the first order alone
        lines = explain_metrics(["bleu3"], "a b c d", "a b x d", ScoreOptions(smooth=smooth))
        assert ["smoothed" in line for line in lines if line.startswith("  p") and "=" in line[:6]] == changed
    assert "smoothed" not in "".join(explain_metrics(["bleu"], "a b c d", "w x y z", ScoreOptions()))


@pytest.mark.parametrize("pair", [("", "a"), ("a", ""), ("", "")])
def test_nothing_is_explained_without_a_crash(pair: tuple[str, str]) -> None:
    assert "LCS = 0" in "\n".join(explain_metrics(["bleu", "rougeL"], *pair, ScoreOptions()))


def test_what_has_no_derivation_is_refused() -> None:
    with pytest.raises(OptionError, match="not chrf"):
        explain_metrics(["chrf"], "a", "b", ScoreOptions())


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=2, max_size=30))
def test_the_area_is_the_share_of_pairs_in_the_right_order(pairs: list[tuple[int, bool]]) -> None:
    good = [score for score, is_good in pairs if is_good]
    bad = [score for score, is_good in pairs if not is_good]
    scores = np.array([score for score, _ in pairs], dtype=float)
    area = compute_auc(scores, np.array([is_good for _, is_good in pairs]))
    if not good or not bad:
        assert area == 0.5
        return
    wins = sum((a > b) + (a == b) / 2 for a in good for b in bad)
    assert area == pytest.approx(wins / (len(good) * len(bad)))


def test_the_calibration_error_of_a_hand_worked_example() -> None:
    confidences = np.array([0.1] * 10 + [0.9] * 10)
    good = np.array([True] * 3 + [False] * 7 + [True] * 10)
    bins = split_bins(confidences, good)
    assert [part.sentences for part in bins] == [2] * 10
    # The first bin is all good and the second half: |0.1 - 1|, |0.1 - 0.5|, three of |0.1 - 0|, five of |0.9 - 1|.
    assert compute_calibration_error(bins) == pytest.approx((0.9 + 0.4 + 3 * 0.1 + 5 * 0.1) / 10)


def test_confidences_that_are_the_truth_have_no_error() -> None:
    good = np.arange(100) >= 30
    assert compute_calibration_error(split_bins(good.astype(float), good)) == 0


def test_leaving_out_the_least_sure_raises_the_score() -> None:
    values = np.array([10.0, 90.0, 50.0, 70.0])
    confidences = np.array([0.1, 0.9, 0.3, 0.6])
    assert score_surest(confidences, values, 0.0) == 55
    assert score_surest(confidences, values, 0.5) == 80
    assert score_surest(confidences, values, 1.0) == 90


def test_all_of_it_is_measured_and_told() -> None:
    values = [20.0, 80.0] * 50
    measured = measure_reliability([0.2, 0.9] * 50, [-1.0] * 100, values, 50)
    assert (measured.good, measured.auc, measured.plain_auc) == (0.5, 1.0, 0.5)
    assert measured.calibration_error == pytest.approx(0.15)
    assert measured.coverage[0] == (0.0, 50.0) and measured.coverage[-1] == (0.5, 80.0)
    summary = " ".join(measured.format_lines())
    assert "ECE 0.150" in summary and "AUC 1.000 (mean log-probability 0.500)" in summary and "50% 80.0" in summary
    assert measured.to_mapping()["chrf_without_least_sure"][-1] == [0.5, 80.0]
