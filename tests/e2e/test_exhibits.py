"""`nmt visualize` with a model that was never trained, through everything but its weights."""

from pathlib import Path

from typer.testing import CliRunner, Result

from nmt_cli.cli.app import app
from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.text.tags import parse_tag_list
from support.corpora import prepare_tagged
from support.models import export_untrained

runner = CliRunner()


def visualize(untrained_model: Path, *arguments: str) -> Result:
    result = runner.invoke(app, ["visualize", *arguments, "--model", str(untrained_model)])
    assert result.exit_code == 0, result.stderr
    return result


def test_a_given_translation_is_drawn(untrained_model: Path, tmp_path: Path) -> None:
    (tmp_path / "pairs.tsv").write_text("bade giko.\tokig edab.\nlu ma.\tam ul.\n")
    result = visualize(untrained_model, "--pairs", str(tmp_path / "pairs.tsv"))
    assert "okig edab." in result.stdout and "am ul." in result.stdout
    assert "am ul." in visualize(untrained_model, "lu ma.", "--target", "am ul.").stdout


def test_the_beam_is_drawn_on_the_terminal_and_as_a_picture(untrained_model: Path, tmp_path: Path) -> None:
    result = visualize(
        untrained_model, "bade giko.", "--beam", "--beam-size", "3", "-o", "-", "-o", str(tmp_path / "b.svg")
    )
    assert "x the closest pruned" in result.stdout
    assert "bade giko." in (tmp_path / "b.svg").read_text(encoding="utf-8")


def test_the_nearest_training_pairs_are_listed(untrained_model: Path, corpus: PreparedCorpus) -> None:
    first = corpus.read_pairs("train")[0]
    out = visualize(
        untrained_model, first.source, "--nearest", "2", "--data", str(corpus.directory)
    ).stdout.splitlines()
    assert len(out) == 3
    assert out[1].split() == ["1.00", "1", *first.source.split(), "->", *first.target.split()]


def test_the_nearest_training_pairs_show_their_tags(tmp_path: Path) -> None:
    corpus = prepare_tagged(tmp_path)
    model = export_untrained(corpus, tmp_path / "model")
    pairs, tags = corpus.read_pairs("train"), corpus.read_tags("train")
    first = pairs[tags.index(parse_tag_list("to:nl ui"))]
    out = visualize(model, first.source, "--nearest", "1", "--data", str(corpus.directory)).stdout.splitlines()
    assert out[1].split()[2:] == ["⟦>nl⟧", "⟦ui⟧", *first.source.split(), "->", *first.target.split()]


def test_the_corpus_is_described(untrained_model: Path, corpus: PreparedCorpus) -> None:
    assert "distinct words" in visualize(untrained_model, "--corpus", "--data", str(corpus.directory)).stdout


def test_the_sentences_of_a_line_are_drawn_as_they_are_translated(untrained_model: Path, tmp_path: Path) -> None:
    line = "bade giko. lu ma."
    (tmp_path / "line.txt").write_text(line + "\n")
    written = runner.invoke(
        app, ["translate", str(tmp_path / "line.txt"), "--no-repair", "--model", str(untrained_model)]
    ).stdout
    assert visualize(untrained_model, line, "-o", "-").stdout.splitlines()[:2] == [line, written.strip()]
    assert visualize(untrained_model, line, "-o", "-").stdout.count("</s>") >= 2  # one behind each sentence
    assert "translated in 2 parts; only the first is drawn" in visualize(untrained_model, line, "--beam").stderr
