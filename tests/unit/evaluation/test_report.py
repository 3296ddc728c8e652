import json
from collections.abc import Callable, Sequence
from typing import Any, cast

import pytest

from nmt_cli.evaluation.config import DEFAULT
from nmt_cli.evaluation.metrics.sacrebleu_metrics import compute_bleu
from nmt_cli.evaluation.metrics.score import Material
from nmt_cli.evaluation.report import (
    FEWEST_MEASURED,
    Report,
    format_report,
    list_measured,
    make_report_json,
    score_by_tag,
    score_material,
    score_translations,
)
from nmt_cli.evaluation.texts import ParallelText
from nmt_cli.search.config import SearchOptions
from nmt_cli.text.tags import parse_tag_list
from nmt_cli.translation.config import TranslateOptions
from nmt_cli.translation.result import Hypothesis, LeastSure, Translation
from nmt_cli.translation.translator import LineTranslator


class Shouting:
    """Translates a line into its upper case, and remembers how it was asked."""

    confidence: object | None = None

    def translate(
        self, lines: Sequence[str], options: TranslateOptions, progress: Callable[[int], None] | None
    ) -> list[Translation]:
        self.config = options.search
        if progress:
            progress(len(lines))
        return [cast(Translation, Said(line.upper())) for line in lines]


class Said:
    def __init__(self, text: str) -> None:
        self.text = text
        self.cut = text.endswith("CUT")
        self.source_cut_from = self.failure = None


def report_of(names: Sequence[str], text: ParallelText) -> Report:
    """The scores of lines as they are."""
    return score_material(names, Material(text.lines, text.references))


def shouted(text: ParallelText, search: SearchOptions, **extra: Any) -> Any:
    translator = Shouting()
    return score_translations(["bleu1"], text, cast(LineTranslator, translator), search, **extra), translator


def of(*lines: str) -> ParallelText:
    return ParallelText(lines, tuple((line,) for line in lines))


def test_the_translation_is_scored_not_the_source() -> None:
    report, _ = shouted(ParallelText(("a", "b"), (("A",), ("b",))), SearchOptions())
    assert report.scores["bleu1"].sentence_values == (100, 0)


def test_one_hypothesis_a_line_is_asked_for_and_progress_is_passed_on() -> None:
    counts: list[int] = []
    report, translator = shouted(of("a", "b"), SearchOptions(beam_size=7, n_best=3), progress=counts.append)
    assert (translator.config.n_best, translator.config.beam_size, report.search.beam_size) == (1, 7, 7)
    assert counts == [2]


def test_translations_that_were_cut_are_told() -> None:
    report, _ = shouted(of("cut", "whole"), SearchOptions())
    assert any("1 translation was truncated" in warning for warning in report.warnings)


def test_few_sentences_are_called_unreliable_and_enough_are_not() -> None:
    few = report_of(["chrf"], of("A"))
    enough = report_of(["chrf"], of(*"A" * 100))
    assert "unreliable" in few.warnings[0]
    assert enough.warnings == ()


def test_tokenised_hypotheses_are_told_where_bleu_is_asked_for() -> None:
    text = ParallelText(("Das ist so .",) * 100, (("Das ist so.",),) * 100)
    assert "as if tokenised" in report_of(["bleu4"], text).warnings[0]
    assert report_of(["chrf"], text).warnings == ()


@pytest.mark.parametrize(
    ("hypothesis", "told"),
    [
        ("Das ist ei@@ n Ha@@ us .", "have subword marks"),
        ("▁Das ▁ist ▁ein ▁Haus .", "have subword marks"),
        ("Das ist ein Ha ##us", "have subword marks"),
        ("12 ||| Das ist ein Haus. ||| -1.5", "||| of n-best lists"),
        ("Das ist &quot;ein Haus&quot;", "have entities"),
        ("Das ist an @-@ aus", ""),
        ("E-Mail an a@b.de, Text || mehr", ""),
    ],
)
def test_raw_output_of_tools_is_told_whatever_the_metric(hypothesis: str, told: str) -> None:
    for metric in ("bleu", "chrf"):
        warnings = report_of([metric], ParallelText((hypothesis,) * 100, (("Das ist ein Haus.",),) * 100)).warnings
        assert len(warnings) == bool(told) and all(told in warning for warning in warnings)


def test_text_about_markup_is_no_raw_output() -> None:
    same = ParallelText(("Schreib &quot; oder ▁Wort",) * 100, (("Schreibe &quot; oder ▁Wort",),) * 100)
    assert not any("hypotheses have" in warning for warning in report_of(["chrf"], same).warnings)


def test_bleu_of_a_language_without_spaces_is_warned_of() -> None:
    assert "chrF" in report_of(["bleu"], of(*["車站在哪裡？"] * 100)).warnings[0]
    assert report_of(["bleu"], of(*["역은 어디에 있어요?"] * 100)).warnings == ()


def test_json_tells_scores_signatures_counts_beam_and_what_was_scored() -> None:
    report, _ = shouted(of("a"), SearchOptions(beam_size=3))
    mapping = json.loads(json.dumps(make_report_json(report, {"split": "test"})))
    assert mapping["scored"] == {"split": "test"}
    assert (mapping["sentences"], mapping["references_per_sentence"], mapping["beam_size"]) == (1, 1, 3)
    assert mapping["scores"]["bleu1"]["value"] == 0
    assert mapping["scores"]["bleu1"]["signature"].startswith("nrefs:1|")
    assert make_report_json(report_of(["chrf"], of("a")), {})["beam_size"] is None


def test_lines_are_aligned_with_two_digits_and_half_the_interval() -> None:
    report = report_of(["bleu", "rougeL"], of("a b c d", "e f g h"))
    lines = format_report(report)
    assert lines[0].startswith("BLEU     100.00 ± 0.00  nrefs:1|")
    assert lines[1] == "         100.0/100.0/100.0/100.0 (BP = 1.000 ratio = 1.000 hyp_len = 8 ref_len = 8)"
    assert lines[2].startswith("ROUGE-L  100.00 ± 0.00  P 100.00  R 100.00  nrefs:1|")


class Rating(Shouting):
    """Is sure of what has no "?", and right in that."""

    confidence: object | None = object()

    def translate(self, lines: Sequence[str], options: TranslateOptions, *_: Any) -> list[Translation]:
        assert options.checks and options.checks.check
        best = [Hypothesis(line.strip("?"), (), (), -1.0, -1.0, (-1.0,), (), True) for line in lines]
        sure = [0.1 if "?" in line else 0.9 for line in lines]
        return [
            Translation(line, (), (hypothesis,), frozenset(), confidence=probability)
            for line, hypothesis, probability in zip(lines, best, sure, strict=True)
        ]


def test_the_confidence_of_a_model_that_has_one_is_measured_and_told() -> None:
    text = ParallelText(("good one?",) * 5 + ("good one",) * 5, (("bad thing",),) * 5 + (("good one",),) * 5)
    report = score_translations(("bleu",), text, cast(LineTranslator, Rating()), SearchOptions())
    assert report.reliability is not None
    assert (report.reliability.auc, report.reliability.plain_auc) == (1.0, 0.5)
    assert report.reliability.calibration_error == pytest.approx(0.1)
    assert any("ECE 0.100" in line for line in format_report(report))
    assert make_report_json(report, {})["confidence"]["auc"] == 1.0
    unrated = shouted(text, SearchOptions())
    assert "confidence" not in make_report_json(unrated if isinstance(unrated, Report) else unrated[0], {})


def test_only_texts_of_one_sentence_judge_the_confidence_if_there_are_enough() -> None:
    one = Translation("a", (), (), frozenset(), confidence=0.9)
    two = one._replace(least_sure=LeastSure(1, "a", "b", (0.9, 0.95)))
    assert list_measured([two, *[one] * FEWEST_MEASURED]) == tuple(range(1, FEWEST_MEASURED + 1))
    assert list_measured([two, *[one] * (FEWEST_MEASURED - 1)]) == tuple(range(FEWEST_MEASURED))


HYPOTHESES = ["Der Hund sieht die Katze .", "Ein Baum steht im Hof .", "De hond ziet de kat .", "Een boom staat daar ."]
REFERENCES = [[HYPOTHESES[0]], ["Der Baum steht im Garten ."], [HYPOTHESES[2]], [HYPOTHESES[3]]]
TAGS = [parse_tag_list(names) for names in ("to:de", "to:de ui", "to:nl", "to:nl")]


def test_each_tag_has_its_scores_and_a_kind_of_several_their_mean() -> None:
    scores = score_by_tag(["bleu", "meteor"], Material(HYPOTHESES, REFERENCES, tags=TAGS), DEFAULT)
    assert scores is not None
    rows = {row.name: row for row in scores.rows}
    assert list(rows) == [">de", ">nl", "mean target language", "ui"]
    assert [row.sentences for row in scores.rows] == [2, 2, None, 1]
    german = compute_bleu(HYPOTHESES[:2], REFERENCES[:2]).value
    assert rows[">de"].scores == {"BLEU": german}
    assert rows["mean target language"].scores["BLEU"] == (german + rows[">nl"].scores["BLEU"]) / 2
    assert scores.make_table()[:3] == [["", "BLEU", "sentences"], [">de", f"{german:.2f}", "2"], [">nl", "100.00", "2"]]
    assert scores.format_lines()[1].split() == [">nl", "BLEU", "100.00", "(2", "sentences)"]


def test_without_tags_there_are_no_rows() -> None:
    assert score_by_tag(["bleu"], Material(HYPOTHESES, REFERENCES), DEFAULT) is None
