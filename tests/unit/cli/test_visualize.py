"""`nmt visualize` with a translator that needs no model."""

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from typer.testing import CliRunner

import nmt_cli as nmt
from nmt_cli.cli.app import app
from nmt_cli.errors import ExitCode, OutputError
from nmt_cli.search.config import SearchOptions
from nmt_cli.translation import forced
from nmt_cli.translation.config import TranslateOptions
from nmt_cli.translation.request import TranslationRequest
from nmt_cli.translation.result import Hypothesis, Translation

runner = CliRunner()
HYPOTHESIS = Hypothesis(
    text="Wo ist er?",
    tokens=(9, 8, 7, 6, 3),
    pieces=("▁Wo", "▁ist", "▁er", "?", "</s>"),
    log_probability=-1.0,
    score=-1.0,
    token_log_probabilities=(-0.2,) * 5,
    attentions=(np.eye(5, 4),),
    finished=True,
)


class Fixed:
    """Gives one translation, whatever the line; none for a line of dots, as of one that normalises to nothing."""

    card = SimpleNamespace(network={"attention": "additive"}, source={})
    reads_text = True

    def translate(self, lines: Sequence[str], options: TranslateOptions) -> list[Translation]:
        found = () if lines == ["..."] else (HYPOTHESIS,)
        pieces = ("▁where", "▁is", "▁he", "</s>")
        return [Translation(source=line, source_pieces=pieces, hypotheses=found, unseen=frozenset()) for line in lines]


@pytest.fixture(autouse=True)
def fixed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TranslationRequest, "load", lambda *arguments, **options: Fixed())


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf", "html"])
def test_a_picture_is_written_and_the_translation_told(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"attention.{suffix}"
    for _ in ("new", "again"):
        result = runner.invoke(app, ["visualize", "where is he?", "-o", str(path)])
        assert (result.exit_code, result.stdout) == (ExitCode.OK, "")
        assert result.stderr == f"{path}: Wo ist er?\n"
    assert path.stat().st_size > 1000


@pytest.mark.parametrize(("output", "notes"), [("a.png", "a-2.png"), ("a.html", "a.html")])
def test_only_a_drawing_is_replaced_unless_asked(tmp_path: Path, output: str, notes: str) -> None:
    path, typed = tmp_path / notes, ["visualize", "where is he?", "where is she?", "-o", str(tmp_path / output)]
    path.write_text("my notes", encoding="utf-8")
    result = runner.invoke(app, typed)
    assert (result.exit_code, path.read_text(encoding="utf-8")) == (ExitCode.CANNOT_WRITE, "my notes")
    assert f"{notes} already exists" in result.stderr and list(tmp_path.iterdir()) == [path]
    for more in (["--force"], []):
        assert runner.invoke(app, [*typed, *more]).exit_code == ExitCode.OK
    with pytest.raises(OutputError, match=r"force=True"):
        path.write_text("my notes", encoding="utf-8")
        nmt.visualize(["where is he?", "where is she?"], output=tmp_path / output)


@pytest.mark.parametrize(
    ("typed", "pictures"),
    [(["where", "is", "he?"], 1), (["where is", "he?"], 2), (["a.jpg", "b.jpg"], 2), (["你好", "你们好"], 2)],
)
def test_words_without_quotes_are_one_sentence(tmp_path: Path, typed: list[str], pictures: int) -> None:
    result = runner.invoke(app, ["visualize", *typed, "-o", str(tmp_path / "a.png")])
    assert len(list(tmp_path.iterdir())) == pictures
    assert ("'where is he?' is read as one sentence" in result.stderr) == (pictures == 1)


def test_an_empty_translation_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    nothing = HYPOTHESIS._replace(text="", tokens=(3,), pieces=("</s>",), attentions=(np.eye(1, 4),))
    monkeypatch.setattr(f"{__name__}.HYPOTHESIS", nothing)
    path = tmp_path / "a.svg"
    said = runner.invoke(app, ["visualize", "where is he?", "-o", str(path)]).stderr
    assert said == f"  ! the translation of 'where is he?' is empty\n{path} written\n"


def test_without_an_output_the_drawing_is_on_stdout() -> None:
    result = runner.invoke(app, ["visualize", "where is he?"], env={"COLUMNS": "60"})
    lines = result.stdout.splitlines()
    assert lines[:3] == ["where is he?", "Wo ist er?", ""]
    assert lines[3].split() == ["Wo", "ist", "er", "?", "</s>"]
    assert "near the diagonal" in " ".join(result.stdout.split())
    assert result.stderr == ""


def test_one_call_draws_in_four_forms_and_numbers_the_pictures_of_several(tmp_path: Path) -> None:
    names = ["a.png", "a.svg", "a.html"]
    options = [word for name in names for word in ("-o", str(tmp_path / name))]
    result = runner.invoke(app, ["visualize", "where is he?", "where <b> is he?", *options, "-o", "-"])
    assert result.exit_code == ExitCode.OK
    written = sorted(path.name for path in tmp_path.iterdir())
    assert written == ["a-1.png", "a-1.svg", "a-2.png", "a-2.svg", "a.html"]
    assert result.stdout.count("Wo ist er?") == 2
    assert "where <b>" not in (tmp_path / "a.html").read_text(encoding="utf-8")


def test_transposed_the_source_stands_across() -> None:
    lines = runner.invoke(app, ["visualize", "where is he?", "--transpose"]).stdout.splitlines()
    assert lines[3].split() == ["where", "is", "he", "</s>"]


def test_a_sentence_that_normalises_to_nothing_is_refused() -> None:
    result = runner.invoke(app, ["visualize", "..."])
    assert (result.exit_code, result.stdout) == (ExitCode.USAGE, "")
    assert "hint: " in result.stderr


def test_a_given_translation_of_a_sentence_without_text_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    blank = Translation(source="\u200b", source_pieces=(), hypotheses=(), unseen=frozenset())
    monkeypatch.setattr(forced, "force_translations", lambda *arguments, **options: [blank])
    result = runner.invoke(app, ["visualize", "\u200b", "--target", "Hallo"])
    assert (result.exit_code, result.stdout) == (ExitCode.USAGE, "")
    assert "nothing is left of" in result.stderr


def test_data_without_a_sentence_draws_the_corpus(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[Path] = []
    monkeypatch.setattr(
        "nmt_cli.api.drawings.charts.draw_corpora", lambda request, drawing: drawn.extend(request.corpora)
    )
    assert CliRunner().invoke(app, ["visualize", "--data", "elsewhere"]).exit_code == 0
    assert drawn == [Path("elsewhere")]


def test_a_model_without_attention_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Fixed, "card", SimpleNamespace(network={"attention": "none"}, source={}))
    result = CliRunner().invoke(app, ["visualize", "where is he"])
    assert result.exit_code == ExitCode.USAGE
    assert "error: the model in model/ has no attention to draw" in result.stderr


def test_what_is_drawn_is_opened_in_the_browser(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", lambda address: opened.append(address) or False)
    page = tmp_path / "a b.html"
    result = runner.invoke(app, ["visualize", "where is he?", "-o", str(page), "--open"])
    assert opened == [page.as_uri()] and f"open {page} yourself" in result.stderr
    result = runner.invoke(app, ["visualize", "where is he?", "--open"])
    assert result.exit_code == 0 and opened[1].endswith("/attention.html") and result.stdout == ""


def test_several_models_are_drawn_side_by_side(tmp_path: Path) -> None:
    models = [tmp_path / name for name in ("additive", "dot")]
    outputs = [tmp_path / name for name in ("c.html", "c.png", "c.svg", "-")]
    options = [*(f"--model={model}" for model in models), *(f"--output={output}" for output in outputs[:-1]), "-o-"]
    for model in models:
        model.mkdir()
    result = runner.invoke(app, ["visualize", "where is he?", *options])
    assert result.exit_code == ExitCode.OK, result.stderr
    assert result.stderr.splitlines()[0] == f"{outputs[0]}: Wo ist er? | Wo ist er?"
    for text in (result.stdout, *(outputs[n].read_text(encoding="utf-8") for n in (0, 2))):
        assert "additive" in text and "dot" in text and tmp_path.name not in text
    assert result.stdout.count("source down") == 2
    refused = runner.invoke(app, ["visualize", "where is he?", *options, "--heads"])
    assert (refused.exit_code, "--heads draws only one model" in refused.stderr) == (ExitCode.USAGE, True)


def test_lines_of_standard_input_are_drawn() -> None:
    result = runner.invoke(app, ["visualize"], input="where is he?\n\nwhere?\r\n")
    assert [line for line in result.stdout.splitlines() if line.endswith("?")] == [
        "where is he?",
        "Wo ist er?",
        "where?",
        "Wo ist er?",
    ]


def test_a_notebook_shows_what_was_drawn(tmp_path: Path) -> None:
    outputs = [tmp_path / name for name in ("a.png", "a.svg", "a.html")]
    drawing = nmt.visualize("where <is> he?", output=[*outputs, "-"])
    html = drawing._repr_html_()
    assert "where &lt;is&gt; he?" in html and html.count("<img") == 2 and html.count("<iframe") == 1
    (translation,) = Fixed().translate(["a <b>"], TranslateOptions(SearchOptions()))
    assert translation._repr_html_() == (
        "<table><tr><th>source</th><td>a &lt;b&gt;</td></tr><tr><th>translation</th><td>Wo ist er?</td></tr></table>"
    )
