"""The options of functions as types: mypy and editors know their names and values."""

import subprocess
import sys
from pathlib import Path

import pytest

from support.scripts import load_script

REPOSITORY = Path(__file__).parents[3]
USES = """
import nmt_cli as nmt

translator = nmt.load("model", beam_size=1, glossary=__file__, length_normalisation="wu")
text: str = translator.translate("a", beam_size=2, prefix="b")
texts: list[str] = translator.translate(["a"], sample=True)
text = nmt.translate("a", model="m")
texts = nmt.translate(["a"])
score: float = nmt.evaluate(hypothesis="a", reference="b").scores["bleu"].value
nmt.evaluate(model=["a", "b"], hypothesis=["a", "b"], reference=["b"])
nmt.prepare("a.tsv", dev=100, keep=["empty"], vocab_size=500)
nmt.train(epochs=1, attention="dot", learning_rate=1e-3)
nmt.info("eng-deu").source.tag.upper()
with nmt.load() as opened:
    opened.translate_file("a.srt", "b.srt", column="text", format="tsv")
"""
MISTAKES = """
translator.translate("a", beem_size=1)
nmt.load(beam_size="5")
nmt.train(epoch=5)
nmt.prepare("a", vocab_sizes=5)
nmt.evaluate(smoothing="exp")
nmt.visualize("a", beam=5, colour=1)
translator.translate_file("a", "b", colum="x")
nmt.load(length_normalisation="none")
"""


def check_types(path: Path, code: str) -> tuple[int, list[int]]:
    """Returns mypy's exit code, and the lines of the code with an error."""
    path.write_text(code, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary"]
    command += ["--cache-dir", str(path.parent / "cache"), str(path)]  # a shared one repeats errors by an older path
    checked = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True)
    lines = [line.split(":") for line in checked.stdout.splitlines() if ": error: " in line]
    assert all(line[0] == str(path) for line in lines), checked.stdout + checked.stderr
    return checked.returncode, [int(line[1]) for line in lines]


@pytest.mark.slow  # mypy reads all that these functions import
def test_a_wrong_name_or_value_of_an_option_is_an_error_of_types(tmp_path: Path) -> None:
    first, count = len((USES + MISTAKES).splitlines()) - len(MISTAKES.splitlines()) + 2, MISTAKES.count("\n") - 1
    code, lines = check_types(tmp_path / "program.py", USES + MISTAKES)
    assert code == 1
    assert sorted(set(lines)) == list(range(first, first + count))


def test_the_keywords_are_those_of_the_settings() -> None:
    rendered = load_script("data/make_keywords.py").render_module()
    kept = (REPOSITORY / "nmt_cli/api/options/keywords.pyi").read_text(encoding="utf-8")
    assert rendered == kept, "run: python data/make_keywords.py > nmt_cli/api/options/keywords.pyi"
