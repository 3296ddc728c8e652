import random
import string
import time
from functools import cache

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from nmt_cli.evaluation.config import DEFAULT, ScoreOptions
from nmt_cli.evaluation.metrics.overlap import (
    LONGEST_COMPARED,
    LONGEST_SPLIT,
    UnicodeTokenizer,
    bound_edit_distance,
    compute_edit_distance,
)
from nmt_cli.evaluation.metrics.registry import METRICS
from nmt_cli.evaluation.metrics.sacrebleu_metrics import LONGEST_SHIFTED
from support.properties import examples

tokenize = UnicodeTokenizer().tokenize


@given(st.text(alphabet=string.printable))
def test_on_ascii_text_the_words_are_those_of_rouge_score(text: str) -> None:
    from rouge_score.tokenize import tokenize as original

    assert tokenize(text) == original(text, None)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Привет, Мир!", ["привет", "мир"]),
        ("हिन्दी में", ["हिन्दी", "में"]),  # vowel signs belong to their word
        ("Ça n'a pas d’été", ["ça", "n", "a", "pas", "d", "été"]),
        ("e\u0301te\u0301", ["été"]),  # composed or not, a word is the same
        ("می\u200cروم", ["میروم"]),  # a zero-width non-joiner ends no word
        ("東京へ行くABC123", ["東", "京", "へ", "行", "く", "abc123"]),
        ("コーヒー", ["コ", "ー", "ヒ", "ー"]),
        ("กิน", ["กิ", "น"]),  # a vowel sign stays with its consonant
        ("한국어 단어", ["한국어", "단어"]),
        ("… !?", []),
    ],
)
def test_words_of_every_script_are_kept(text: str, words: list[str]) -> None:
    assert tokenize(text) == words


def test_of_several_references_the_best_counts_for_each_sentence() -> None:
    score = METRICS["rouge1"](["a b", "c d"], [["a b", "x y"], ["x y", "c z"]])
    assert score.sentence_values == pytest.approx((100, 50))
    assert score.value == pytest.approx(75)


def test_the_signature_says_how_it_was_counted() -> None:
    signature = METRICS["rougeL"](["a"], [["a"]]).signature
    for part in ("nrefs:1", "tok:unicode-words", "stem:no", "measure:F1", "rouge-score:"):
        assert part in signature


WORDS = st.text(alphabet="abcä", max_size=12)


def by_the_table(one: str, other: str) -> int:
    """Wagner and Fischer 1974, a row at a time."""
    row = list(range(len(other) + 1))
    for i, first in enumerate(one, start=1):
        before, row[0] = row[0], i
        for j, second in enumerate(other, start=1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (first != second))
    return row[-1]


@given(WORDS, WORDS)
@example("kitten", "sitting")
@example("", "abc")
def test_the_distance_of_bits_is_that_of_the_table(one: str, other: str) -> None:
    assert compute_edit_distance(one, other) == by_the_table(one, other)


def test_the_error_rate_is_edits_by_characters_of_the_nearest_reference() -> None:
    score = METRICS["cer"](["kitten", "ab"], [["sitting", "kittens"], ["ab", "xyz"]])
    assert score.sentence_values == pytest.approx((100 / 7, 0))
    assert score.value == pytest.approx(100 / 9)
    assert score.lower_is_better


def test_exact_match_forgives_blanks_and_composition_alone() -> None:
    score = METRICS["exact"](["e\u0301te\u0301  a", "Ja", "ja."], [["été a"], ["ja"], ["ja."]])
    assert score.sentence_values == (100, 0, 100)


def test_in_lower_case_the_signature_says_so() -> None:
    config = ScoreOptions(lowercase=True)
    exact, errors = (METRICS[name](["Das Haus"], [["das haus"]], config) for name in ("exact", "cer"))
    assert (exact.value, errors.value) == (100, 0)
    assert "case:lc" in exact.signature and "case:lc" in errors.signature
    assert METRICS["cer"](["Das Haus"], [["das haus"]]).value == 25


# Metrics of usual lines equal those of the programs that define them, and no line takes more than seconds.


TEXTS = st.lists(st.sampled_from(["a", "b", "c", "D", "e.", "f!"]), max_size=30).map(" ".join)
BY_WORDS = [name for name in METRICS if name not in ("perplexity", "accuracy")]
APPROXIMATED = {"ter": "without-shifts:1>", "rougeLsum": "not-split:1>", "cer": "parts:"}


@cache
def make_text(words: int, seed: int) -> str:
    generator = random.Random(seed)
    return " ".join(f"w{generator.randrange(3000)}" + "." * (word % 20 == 19) for word in range(words))


@examples(60)
@given(TEXTS, st.lists(TEXTS, min_size=1, max_size=3))
def test_ter_of_usual_lines_is_that_of_sacrebleu(hypothesis: str, references: list[str]) -> None:
    from sacrebleu.metrics.ter import TER

    ours = METRICS["ter"]([hypothesis], [references])
    theirs = TER().corpus_score([hypothesis], [[reference] for reference in references])
    assert ours.value == theirs.score and "shifts" not in ours.signature


@examples(60)
@given(TEXTS, TEXTS)
@pytest.mark.parametrize("kind", ["rougeL", "rougeLsum"])
def test_rouge_is_that_of_rouge_score(kind: str, hypothesis: str, reference: str) -> None:
    from rouge_score.rouge_scorer import RougeScorer

    from nmt_cli.evaluation.metrics.overlap import split_lines

    split = split_lines if kind == "rougeLsum" else str
    theirs = RougeScorer([kind], tokenizer=UnicodeTokenizer()).score(split(reference), split(hypothesis))[kind]
    ours = METRICS[kind]([hypothesis], [[reference]], DEFAULT)
    assert ours.value == pytest.approx(100 * theirs.fmeasure)
    assert ours.parts == pytest.approx({"precision": 100 * theirs.precision, "recall": 100 * theirs.recall})
    assert "not-split" not in ours.signature


@settings(deadline=None, max_examples=30)
@given(st.lists(st.sampled_from("abc"), max_size=40), st.lists(st.sampled_from("abc"), max_size=40))
def test_parts_are_no_nearer_than_the_whole(one: list[str], other: list[str]) -> None:
    monkeypatch = pytest.MonkeyPatch()
    with monkeypatch.context() as changed:
        changed.setattr("nmt_cli.evaluation.metrics.overlap.LONGEST_COMPARED", 7)
        bound = bound_edit_distance(one, other)
    assert compute_edit_distance(one, other) <= bound <= max(len(one), len(other))


@pytest.mark.parametrize("limit", [LONGEST_SHIFTED, LONGEST_SPLIT, LONGEST_COMPARED])
def test_no_limit_is_so_low_that_usual_lines_are_met(limit: int) -> None:
    assert limit >= 300


@pytest.mark.parametrize("name", BY_WORDS)
def test_a_long_line_takes_seconds_and_an_estimate_is_told(name: str) -> None:
    started = time.process_time()
    score = METRICS[name]([make_text(20_000, 1)], [[make_text(20_000, 2)]])
    assert time.process_time() - started < 20  # hours, or more memory than there is, without a bound
    usual = METRICS[name](["w1 w2."], [["w2. w1"]]).signature
    assert (score.signature != usual) == (name in APPROXIMATED)
    assert APPROXIMATED.get(name, "") in score.signature
    same = METRICS[name]([make_text(5_000, 1)], [[make_text(5_000, 1)]])
    assert same.value == pytest.approx(0 if score.lower_is_better else 100, abs=0.01)
