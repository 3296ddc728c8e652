from nmt_cli.evaluation.analysis.tag_scores import score_by_tag
from nmt_cli.evaluation.config import DEFAULT
from nmt_cli.evaluation.metrics.sacrebleu_metrics import compute_bleu
from nmt_cli.evaluation.metrics.score import Material
from nmt_cli.text.tags import parse_tag_list

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
