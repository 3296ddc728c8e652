from pathlib import Path

import pytest

from nmt_cli.errors import DataError, MissingExtraError, OptionError
from nmt_cli.evaluation.config import ScoreOptions
from nmt_cli.evaluation.metrics import sacrebleu_metrics
from nmt_cli.evaluation.metrics.registry import METRICS, measure_all, resolve_names
from nmt_cli.evaluation.metrics.sacrebleu_metrics import choose_for_text, choose_tokenizer, compute_bleu
from nmt_cli.evaluation.metrics.score import Material, check_pairing, transpose_references
from support.tokenizers import toy_tokenizer


def test_all_is_every_metric_and_the_default() -> None:
    assert resolve_names() == resolve_names(["all"]) == tuple(METRICS)


def test_several_metrics_keep_their_order_and_come_once() -> None:
    assert resolve_names(["chrf", "bleu4", "chrf"]) == ("chrf", "bleu4")
    assert resolve_names(["rougeL,bleu", "chrf"]) == ("rougeL", "bleu", "chrf")
    assert resolve_names(["chrf", "all"])[0] == "chrf" and len(resolve_names(["chrf", "all"])) == len(METRICS)


@pytest.mark.parametrize(
    ("typed", "meant"), [("BLEU", "bleu"), ("BLEU-4", "bleu4"), ("ROUGE-L", "rougeL"), ("rouge_l", "rougeL")]
)
def test_names_as_they_are_written_in_papers_are_understood(typed: str, meant: str) -> None:
    assert resolve_names([typed]) == (meant,)


@pytest.mark.parametrize(("typed", "nearest"), [("blue4", "bleu4"), ("rougl", "rougeL"), ("chrf2", "chrf")])
def test_an_unknown_metric_names_the_nearest(typed: str, nearest: str) -> None:
    with pytest.raises(OptionError) as caught:
        resolve_names([typed])
    assert typed in caught.value.message
    assert f"did you mean {nearest}?" in caught.value.hint


def test_a_metric_like_no_other_lists_all() -> None:
    with pytest.raises(OptionError) as caught:
        resolve_names(["ter2024x"])
    assert all(name in caught.value.hint for name in (*METRICS, "all"))


def test_measuring_gives_a_score_for_each_name_in_order() -> None:
    scores = measure_all(("chrf", "bleu"), Material(["a"], [["a"]]))
    assert [score.name for score in scores.values()] == ["chrF2", "BLEU"]


@pytest.mark.parametrize("metric", METRICS)
def test_hypotheses_without_a_reference_each_and_nothing_to_score_are_refused(metric: str) -> None:
    with pytest.raises(DataError, match=r"2 hypotheses .* 3 sentences"):
        METRICS[metric](["a", "b"], [["a"], ["b"], ["c"]])
    with pytest.raises(DataError, match="no sentence"):
        METRICS[metric]([], [])


def test_sentences_need_as_many_references_as_the_first_and_at_least_one() -> None:
    with pytest.raises(DataError, match="sentence 2 has 1 reference, but those before it have 2"):
        check_pairing(["a", "b"], [["a", "b"], ["c"]])
    with pytest.raises(DataError, match="sentence 1 has no reference"):
        check_pairing(["a"], [[]])


def test_streams_hold_all_first_references_then_all_second_ones() -> None:
    assert transpose_references([["a", "b"], ["c", "d"], ["e", "f"]]) == [["a", "c", "e"], ["b", "d", "f"]]


@pytest.mark.parametrize("metric", METRICS)
def test_a_score_lies_in_its_range_has_a_value_for_each_sentence_and_comes_from_the_counts_of_all(metric: str) -> None:
    score = METRICS[metric](["so ist es eben .", "", "nein"], [["so ist das eben ."], ["doch"], ["nein nein nein"]])
    assert 0 <= score.value <= 100
    assert len(score.sentence_values) == 3
    assert all(0 <= value <= 100 for value in score.sentence_values)
    assert score.sentence_values[1] == (100 if score.lower_is_better else 0)
    assert score.statistics is not None
    assert score.statistics.score_sentences([0, 1, 2]) == pytest.approx(score.value)


@pytest.mark.parametrize("metric", METRICS)
def test_a_translation_equal_to_any_of_its_references_scores_100(metric: str) -> None:
    lines = ["Das ist ein Haus mit Garten.", "Wo ist hier der Bahnhof?"]
    references = [[lines[0], "etwas ganz anderes"], ["etwas ganz anderes", lines[1]]]
    score = METRICS[metric](lines, references)
    perfect = 0 if score.lower_is_better else 100
    loose = {"meteor": 1.0}.get(metric, 1e-9)  # METEOR's penalty for one chunk: 0.5 (1 / words)^3
    assert score.value == pytest.approx(perfect, abs=loose)
    assert score.sentence_values == pytest.approx((perfect, perfect), abs=loose)
    assert "nrefs:2" in score.signature


# Which tokenizer BLEU counts words with.


def test_the_language_chooses_unless_a_tokenizer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sacrebleu_metrics, "find_spec", lambda module: None)
    config = ScoreOptions()
    tokenizers = {"de": "13a", "": "13a", "zho": "zh", "zh-TW": "zh", "ja": "char", "ko": "13a"}
    for language, tokenizer in tokenizers.items():
        chosen, note = choose_tokenizer(config, language)
        assert chosen.tokenizer == tokenizer
        assert bool(note) == (language not in ("de", ""))
    assert "sacrebleu[ja]" in choose_tokenizer(config, "ja")[1]
    assert choose_tokenizer(ScoreOptions(bleu_tokenizer="13a"), "zh") == (ScoreOptions(bleu_tokenizer="13a"), "")
    with pytest.raises(MissingExtraError, match="ko-mecab needs a package"):
        compute_bleu(["a"], [["a"]], ScoreOptions(bleu_tokenizer="ko-mecab"))


def test_half_a_sentence_of_a_language_without_blanks_counts_for_half() -> None:
    for language, reference, hypothesis in (
        ("th", "ฉันชอบกินข้าวผัด", "ฉันชอบกินขนมปัง"),
        ("", "私は東京に住んでいます", "私は大阪に住んでいます"),
    ):
        scoring, _ = choose_for_text(ScoreOptions(), language, [[reference]])
        assert compute_bleu([hypothesis], [[reference]], scoring).value > 30
        assert compute_bleu([hypothesis], [[reference]], ScoreOptions()).value < 1  # one word, and it is wrong


def test_subwords_need_their_model_as_a_file(tmp_path: Path) -> None:
    (tmp_path / "bad.model").write_bytes(b"no model")
    with pytest.raises(DataError, match="is not a SentencePiece model"):
        compute_bleu(["a"], [["a"]], ScoreOptions(bleu_tokenizer="spm", bleu_spm=str(tmp_path / "bad.model")))


def test_subwords_of_a_model_are_counted_and_stand_in_the_signature(tmp_path: Path) -> None:
    tokenizer = toy_tokenizer("unigram")
    path = tmp_path / "toy.model"
    path.write_bytes(tokenizer.model)
    config = ScoreOptions(bleu_tokenizer="flores200", bleu_spm=str(path))
    score = compute_bleu(["the red dog sees a cat"] * 3, [["the red dog sees the cat"]] * 3, config)
    assert "tok:flores200" in score.signature
    assert 0 < score.value < 100
