"""BLEU and chrF against the `sacrebleu` program."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from nmt_cli.evaluation.config import ScoreOptions
from nmt_cli.evaluation.metrics.registry import METRICS
from nmt_cli.evaluation.metrics.sacrebleu_metrics import compute_chance_chrf

HYPOTHESES = [
    "Die Katze sitzt auf der Matte, oder nicht?",
    "Er kostet 3,50 € (etwa) am 1.5.2024.",
    "",
    'Sie sagte: "Ich komme nicht" &amp; ging.',
    "Привет, мир!",
    "ein Wort",
]
REFERENCES = [
    ["Die Katze saß auf der Matte, nicht wahr?", "Auf der Matte sitzt die Katze, oder nicht?"],
    ["Er kostet etwa 3,50 € am 1.5.2024.", "Am 1.5.2024 kostet er (etwa) 3,50 €."],
    ["Nichts.", "Gar nichts."],
    ['Sie sagte: "Ich komme nicht" &amp; sie ging.', "Sie sagte, sie komme nicht, und ging."],
    ["Привет, весь мир!", "Здравствуй, мир!"],
    ["ein Wort", "das Wort"],
]


def program(folder: Path, references: int, *options: str) -> dict[str, Any]:
    """What the sacrebleu program says of these sentences, by the metric's name, with twelve digits."""
    (folder / "hypotheses").write_text("\n".join(HYPOTHESES) + "\n", encoding="utf-8")
    for number in range(references):
        lines = "".join(alternatives[number] + "\n" for alternatives in REFERENCES)
        (folder / f"reference{number}").write_text(lines, encoding="utf-8")
    files = [str(folder / f"reference{number}") for number in range(references)]
    command = [sys.executable, "-m", "sacrebleu", *files, "-i", str(folder / "hypotheses"), "-w", "12", *options]
    done = subprocess.run(command, capture_output=True, check=True, encoding="utf-8")
    said = json.loads(done.stdout)
    return {entry["name"]: entry for entry in (said if isinstance(said, list) else [said])}


@pytest.mark.parametrize("references", [1, 2])
def test_bleu_and_chrf_equal_the_sacrebleu_program_to_the_last_digit(tmp_path: Path, references: int) -> None:
    assert_equal(tmp_path, references, ScoreOptions())


@pytest.mark.parametrize("tokenizer", ["none", "intl", "zh", "char"])
def test_in_lower_case_and_with_other_words_they_are_too(tmp_path: Path, tokenizer: str) -> None:
    options = ["--tokenize", tokenizer, "--lowercase", "--chrf-lowercase"]
    assert_equal(tmp_path, 1, ScoreOptions(lowercase=True, bleu_tokenizer=tokenizer), *options)


def assert_equal(folder: Path, references: int, config: ScoreOptions, *options: str) -> None:
    reported = program(folder, references, "-m", "bleu", "chrf", *options)
    for metric, name in (("bleu", "BLEU"), ("bleu4", "BLEU"), ("chrf", "chrF2")):
        score = METRICS[metric](HYPOTHESES, [alternatives[:references] for alternatives in REFERENCES], config)
        assert round(score.value, 12) == reported[name]["score"]
        assert score.signature == reported[name]["signature"]


def test_bleu_of_lower_orders_is_the_geometric_mean_of_fewer_precisions() -> None:
    """Hypothesis of 4 words, 3 right: precisions 3/4, 2/3, 1/2, then 1/(2*1) smoothed; no brevity penalty."""
    hypotheses, references = ["a b c x"], [["a b c d"]]
    precisions = [3 / 4, 2 / 3, 1 / 2, 1 / 2]
    product = 1.0
    for order, precision in enumerate(precisions, start=1):
        product *= precision
        assert METRICS[f"bleu{order}"](hypotheses, references).value == pytest.approx(100 * product ** (1 / order))


def test_a_short_sentence_is_not_zero_for_its_shortness() -> None:
    assert METRICS["bleu"](["ein Wort"], [["ein Wort"]]).sentence_values == pytest.approx((100,))


def test_chance_is_the_chrf_of_references_for_other_sentences() -> None:
    assert compute_chance_chrf([["ab"], ["cd"], ["ab"]]) == 0
    assert compute_chance_chrf([["ab"], ["ab"]]) is None
    assert 20 < (compute_chance_chrf([["nimitztlazohtla"], ["timitztlazohtlah"]]) or 0) < 100


def test_bleu_is_cased() -> None:
    assert METRICS["bleu1"](["haus"], [["Haus"]]).value == 0
