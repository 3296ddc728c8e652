"""`nmt evaluate` with a translator that needs no model: the translations are the sources in upper case."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

from nmt_cli.api import scoring
from nmt_cli.api.evaluate import merge_warnings
from nmt_cli.cli.app import app
from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.corpus.manifest import SentencePair
from nmt_cli.errors import ExitCode
from nmt_cli.evaluation import report
from nmt_cli.runtime import installed_models
from nmt_cli.translation.request import TranslationRequest
from support.shouting import Shouting

runner = CliRunner()


def write(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_the_test_split_is_scored_and_only_the_scores_are_on_stdout(shouting: Shouting) -> None:
    result = runner.invoke(app, ["evaluate", "--metric", "rouge1", "--beam-size", "3"])
    assert result.exit_code == ExitCode.OK
    assert result.stdout.startswith("ROUGE-1   50.00 ± 10.00  P 50.00  R 50.00  nrefs:1|")
    assert len(result.stdout.splitlines()) == 1
    assert result.stderr == "100 test sentences, none of them seen in training\n"
    assert shouting.beam_size == 3


def test_search_is_tuned_on_the_development_split(shouting: Shouting) -> None:
    result = runner.invoke(app, ["evaluate", "-m", "rouge1", "--split", "dev", "--json"])
    assert json.loads(result.stdout)["scored"] == {"split": "dev", "data": "prepared", "model": "model"}
    assert "40 dev sentences, none of them seen in training" in result.stderr


def test_for_a_model_of_other_data_no_leak_check_is_claimed(shouting: Shouting) -> None:
    shouting.fingerprint = "f2"
    result = runner.invoke(app, ["evaluate", "--metric", "bleu4"])
    assert "was trained on data other" in result.stderr
    assert "none of them" not in result.stderr


def test_doubts_stand_above_the_scores_of_one_system_and_of_several(tmp_path: Path) -> None:
    reference = write(tmp_path / "ref.de", "Ich habe einen Hund.\nDas ist ein Haus.\n")
    scored = write(tmp_path / "one.de", "Ich hab@@ e einen Hund.\nDas ist ein H@@ aus.\n")
    for others in ([], ["--hypothesis", reference]):
        command = ["evaluate", "-m", "bleu4", "--reference", reference, "--hypothesis", scored, *others]
        output = runner.invoke(app, command).output  # both streams, in order
        assert 0 <= output.index("2 hypotheses have subword marks") < output.index("BLEU-4")


@pytest.mark.parametrize("systems", [1, 2])
def test_reports_write_settings_as_they_are_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, systems: int
) -> None:
    monkeypatch.setattr(report, "list_warnings", lambda *_: ["some were cut at --max-length 200"])
    page = tmp_path / ("scores.tex" if systems == 2 else "scores.md")
    scored = [write(tmp_path / f"{number}.de", "Hallo.\n") for number in range(systems + 1)]
    hypotheses = [option for path in scored[1:] for option in ("--hypothesis", path)]
    done = runner.invoke(app, ["evaluate", "-m", "bleu", "--reference", scored[0], *hypotheses, "--report", str(page)])
    assert "--max-length 200" in page.read_text(encoding="utf-8")
    assert "--max-length 200" in done.stderr


def test_all_metrics_are_the_default(shouting: Shouting) -> None:
    lines = runner.invoke(app, ["evaluate"]).stdout.splitlines()
    names = [line.split()[0] for line in lines if not line.startswith(" ")]  # the precisions of BLEU are indented
    assert names[:7] == ["BLEU", "BLEU-1", "BLEU-2", "BLEU-3", "BLEU-4", "chrF2", "chrF2++"]
    assert names[7:12] == ["TER", "ROUGE-1", "ROUGE-2", "ROUGE-L", "ROUGE-Lsum"]
    assert names[12:] == ["METEOR", "exact", "CER", "perplexity", "accuracy"]


def test_json_is_one_object_that_says_what_was_scored(shouting: Shouting) -> None:
    told = json.loads(runner.invoke(app, ["evaluate", "-m", "bleu", "--json", "--data", "d", "--model", "m"]).stdout)
    assert told["scored"] == {"split": "test", "data": "d", "model": "m"}
    assert list(told["scores"]) == ["bleu"]
    assert (told["sentences"], told["beam_size"]) == (100, 5)


def test_a_source_file_is_translated_and_scored_against_its_references(shouting: Shouting, tmp_path: Path) -> None:
    source, reference = write(tmp_path / "s", "abc\ndef\n"), write(tmp_path / "r", "ABC\nDEF\n")
    result = runner.invoke(app, ["evaluate", "-m", "rouge1", "--source", source, "--reference", reference])
    assert result.stdout.startswith("ROUGE-1  100.00")
    assert "only 2 sentences" in result.stderr


def test_ready_hypotheses_need_no_model_and_may_have_several_references(tmp_path: Path) -> None:
    one, two = write(tmp_path / "1", "a b\nc\n"), write(tmp_path / "2", "x\nd e\n")
    hypothesis = write(tmp_path / "h", "a b\nd e\n")
    arguments = ["evaluate", "-m", "rouge1", "--hypothesis", hypothesis, "--reference", one, "--reference", two]
    result = runner.invoke(app, [*arguments, "--json", "-q"])
    told = json.loads(result.stdout)
    assert result.stderr == ""
    assert told["scores"]["rouge1"]["value"] == 100
    assert told["scored"] == {"hypothesis": hypothesis, "reference": [one, two]}
    assert (told["references_per_sentence"], told["beam_size"]) == (2, None)


def test_sources_that_were_trained_on_are_told_and_not_vouched_against(shouting: Shouting) -> None:
    corpus = PreparedCorpus.load(Path("prepared"))
    corpus.splits["train"].append(SentencePair("abc def", "x"))  # type: ignore[attr-defined]
    result = runner.invoke(app, ["evaluate", "-m", "chrf", "--profile"])
    assert "in the training data of prepared/: 100 of 100 test sources (100.0%)" in result.stderr
    assert "none of them" not in result.stderr
    assert "seen in training" in result.stdout


def test_the_profile_compares_with_a_sample_of_the_training_sentences(shouting: Shouting) -> None:
    out = runner.invoke(app, ["evaluate", "-m", "chrf", "--profile"]).stdout
    assert [line.split()[:3] for line in out.splitlines() if "training sentences" in line] == [
        ["training", "sentences", "1"]
    ]


@pytest.mark.parametrize("training", [{"init_from": "old"}, {"replay": "news"}, {"init_from": "old", "replay": "news"}])
def test_a_fine_tuned_model_is_not_vouched_for(shouting: Shouting, training: dict[str, str]) -> None:
    shouting.training = training
    result = runner.invoke(app, ["evaluate", "-m", "chrf"])
    assert "none of them" not in result.stderr
    assert all(name in result.stderr for name in training.values())


def test_sentences_and_their_scores_are_written_as_columns(shouting: Shouting, tmp_path: Path) -> None:
    path = tmp_path / "out.tsv"
    runner.invoke(app, ["evaluate", "-m", "chrf", "-m", "exact", "--sentences", str(path)])
    rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
    assert rows[0] == ["number", "source", "reference", "hypothesis", "chrf", "exact"]
    assert rows[1] == ["1", "abc def", "xyz", "ABC DEF", "0.0000", "0.0000"]
    assert rows[2][-2:] == ["100.0000", "100.0000"] and len(rows) == 101


def test_a_derivation_needs_neither_model_nor_files() -> None:
    pair = ["She likes to read books on AI", "She enjoys reading books about AI"]
    options = ["--metric", "bleu2", "--smooth", "epsilon:0.01"]
    out = runner.invoke(app, ["evaluate", *options, "--explain", *pair]).stdout
    assert "p1 = 3/7 = 0.4286" in out and "p2 = 0/6 = 0.0000" in out and "= 0.0655" in out


def test_an_empty_test_split_is_an_error(shouting: Shouting, monkeypatch: pytest.MonkeyPatch) -> None:
    empty = SimpleNamespace(read_references=lambda split: [], select_texts=list, fingerprint="f1", load_pictures=dict)
    monkeypatch.setattr(PreparedCorpus, "load", lambda directory: empty)
    result = runner.invoke(app, ["evaluate"])
    assert (result.exit_code, result.stdout) == (ExitCode.DATA, "")
    assert "the test split is empty" in result.stderr


@pytest.mark.parametrize("option", ["--sentences", "--report"])
def test_what_is_scored_is_not_written_over(tmp_path: Path, option: str) -> None:
    ready = write(tmp_path / "h.md", "German\na b\n")
    reference = write(tmp_path / "r", "a b\n")
    table = write(tmp_path / "t.csv", "German\na b\n")
    for hypotheses, output in ((ready, ready), (f"{table}:German", table)):
        options = ["--hypothesis", hypotheses, "--reference", reference, "--hypothesis", write(tmp_path / "o", "a\n")]
        result = runner.invoke(app, ["evaluate", *options, option, output])
        assert result.exit_code == ExitCode.USAGE and result.stdout == ""
        assert Path(output).read_text(encoding="utf-8") == "German\na b\n"
    result = runner.invoke(app, ["evaluate", *options[:4], option, f"{reference}/x.md"])
    assert (result.exit_code, result.stdout) == (ExitCode.CANNOT_WRITE, "") and "r is a file" in result.stderr


def test_bleu_is_told_as_sacrebleu_tells_it(tmp_path: Path) -> None:
    from sacrebleu import corpus_bleu

    texts = ["The cat sat on the mat today", "It rains", "Nobody came to the party"], ["The cat sat on a mat"] * 3
    hypothesis, reference = (
        write(tmp_path / name, "\n".join(text) + "\n") for name, text in zip("hr", texts, strict=True)
    )
    out = runner.invoke(app, ["evaluate", "--hypothesis", hypothesis, "--reference", reference, "-m", "bleu"]).stdout
    expected = str(corpus_bleu(texts[0], [texts[1]]))  # "BLEU = 12.34 50.0/... (BP = ...)"
    assert " ".join(expected.split()[3:]) in " ".join(out.split())


def test_other_languages_than_those_of_the_data_are_told(shouting: Shouting) -> None:
    shouting.language = "en-GB"
    assert "but the data is" not in runner.invoke(app, ["evaluate", "-m", "chrf"]).stderr
    shouting.language = "fr"
    message = " ".join(runner.invoke(app, ["evaluate", "-m", "chrf"]).stderr.split())
    assert "translates abc -> fr, but the data is abc -> eng" in message


# `nmt evaluate` of several systems, with a translator that needs no model.


def test_every_model_has_the_weights_that_are_asked_for(
    shouting: Shouting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[TranslationRequest] = []
    monkeypatch.setattr(TranslationRequest, "load", lambda request: asked.append(request) or shouting)
    models = [word for name in ("a", "b") for word in ("--model", str(tmp_path / name))]
    made = runner.invoke(app, ["evaluate", "--metric", "chrf", "--precision", "float", *models])
    assert made.exit_code == ExitCode.OK, (made.exception, made.stderr)
    assert [(request.model.name, request.precision) for request in asked] == [("a", "float"), ("b", "float")]
    result = runner.invoke(app, ["evaluate", "--metric", "chrf", "--precision", "int8", "--json", *models[:2]])
    assert json.loads(result.stdout)["scored"]["precision"] == "int8"


def test_a_rival_is_compared_with_two_tests(shouting: Shouting, tmp_path: Path) -> None:
    rival = write(tmp_path / "rival", "qq\n" * 100)
    result = runner.invoke(app, ["evaluate", "-m", "chrf", "--against", rival])
    verdict = f"model is 83.81 chrF2 better than {rival}, p = 0.0010 (paired bootstrap), p = 0.0001 (approximate"
    assert verdict in result.stdout
    short = write(tmp_path / "short", "ABC DEF\n")
    assert ": 1 line, the references: 100" in runner.invoke(app, ["evaluate", "--against", short]).stderr


def test_a_rival_may_be_a_model_by_its_name(
    shouting: Shouting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(installed_models, "list_models", lambda: {"xxx-yyy": tmp_path})
    (tmp_path / "model.json").write_text("{}")
    result = runner.invoke(app, ["evaluate", "-m", "chrf", "--against", "xxx-yyy"])
    assert "model and xxx-yyy have the same chrF2" in result.stdout


def test_without_resamples_there_is_no_bootstrap(shouting: Shouting, tmp_path: Path) -> None:
    rival = write(tmp_path / "rival", "qq\n" * 100)
    out = runner.invoke(app, ["evaluate", "-m", "chrf", "--against", rival, "--resamples", "0"]).stdout
    assert f"chrF2 better than {rival}, p = 0.0001 (approximate randomisation)" in out and "bootstrap" not in out


def test_scores_of_tokens_compare_only_where_the_tokens_are_the_same(
    shouting: Shouting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    others = iter([shouting, Shouting("f1", target=SimpleNamespace(fingerprint="toy-2"))])
    monkeypatch.setattr(TranslationRequest, "load", lambda *arguments, **options: next(others))
    (tmp_path / "model.json").write_text("{}")
    result = runner.invoke(app, ["evaluate", "-m", "perplexity", "-m", "chrf", "--against", str(tmp_path)])
    assert result.stdout.count("have the same") == 1
    assert "perplexity cannot be compared: the systems have different subwords" in result.stderr


def test_what_a_rival_may_have_learnt_and_where_it_was_cut_is_told(
    shouting: Shouting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Cutting(Shouting):
        def translate(self, *arguments: Any, **options: Any) -> list[SimpleNamespace]:
            return [SimpleNamespace(**{**vars(one), "cut": True}) for one in super().translate(*arguments, **options)]

    others = iter([shouting, Cutting("f2", training={"replay": "news"})])
    monkeypatch.setattr(TranslationRequest, "load", lambda *arguments, **options: next(others))
    (tmp_path / "model.json").write_text("{}")
    told = runner.invoke(app, ["evaluate", "-m", "chrf", "--against", str(tmp_path)]).stderr
    assert f"{tmp_path} was trained on data other than prepared/ and on news: these test sentences may be" in told
    assert f"{tmp_path}: 100 translations were truncated at" in told


@pytest.mark.parametrize(("fingerprint", "is_known"), [("f1", True), ("f2", False)])
def test_several_models_have_the_doubts_and_the_assurance_of_one(
    shouting: Shouting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fingerprint: str, is_known: bool
) -> None:
    class Weak(Shouting):
        @property
        def card(self) -> SimpleNamespace:
            return SimpleNamespace(**{**vars(super().card), "development_bleu": 4.6, "development_gain": -5.7})

    others = iter([shouting, Weak(fingerprint)])
    monkeypatch.setattr(TranslationRequest, "load", lambda *arguments, **options: next(others))
    models = [word for name in ("a", "b") for word in ("--model", str(tmp_path / name))]
    said = runner.invoke(app, ["evaluate", "-m", "chrf", *models]).stderr
    weakness = "b: this model can hardly translate: BLEU 4.6, and chrF 5.7 points below that of random sentences"
    assert weakness in said
    assert ("100 test sentences, none of them seen in training" in said) is is_known


def test_several_systems_stand_in_one_table(shouting: Shouting, tmp_path: Path) -> None:
    shout, whisper = write(tmp_path / "shout", "ABC DEF\n" * 100), write(tmp_path / "whisper", "abc def\n" * 100)
    result = runner.invoke(app, ["evaluate", "-m", "chrf", "-m", "ter", "--against", shout, "--against", whisper])
    lines = result.stdout.splitlines()
    assert lines[0].split("  ")[-1] == "TER (lower is better)" and "chrF2" in lines[0]
    assert [line.split()[0] for line in lines[1:4]] == ["model", shout, whisper]
    assert [line.split()[4] for line in lines[1:4]] == ["a", "a", "b"]  # the model shouts too
    assert "Holm's correction for 3 pairs" in result.stdout and "**" not in result.stdout
    assert "100 test sentences" in result.stderr


def test_several_hypotheses_need_no_model_and_are_told_in_json_and_words(tmp_path: Path) -> None:
    good, bad = write(tmp_path / "good", "a b c d\n" * 60), write(tmp_path / "bad", "a b x y\n" * 60)
    reference = write(tmp_path / "r", "a b c d\n" * 60)
    arguments = ["evaluate", "--hypothesis", good, "--hypothesis", bad, "--reference", reference, "-m", "bleu"]
    comparison = json.loads(runner.invoke(app, [*arguments, "--json"]).stdout)
    assert [system["name"] for system in comparison["systems"]] == [good, bad]
    assert [system["scores"]["bleu"]["letters"] for system in comparison["systems"]] == ["a", "b"]
    assert comparison["systems"][0]["scores"]["bleu"]["precisions"] == [100.0] * 4
    assert (
        comparison["tests"]["bleu"][0]["systems"] == [good, bad]
        and comparison["tests"]["bleu"][0]["corrected_p"] < 0.05
    )
    assert comparison["scored"] == {"reference": [reference]}
    assert f"{good} is " in runner.invoke(app, arguments).stdout


@pytest.mark.parametrize(
    "option", ["--report r.html", "--report r.md", "--report r.tex", "--report r.csv", "--sentences s.tsv"]
)
def test_only_scores_are_replaced_unless_asked(tmp_path: Path, option: str) -> None:
    texts, (flag, name) = write(tmp_path / "r", "a b c d\n"), option.split()
    typed = ["evaluate", "--hypothesis", texts, "--reference", texts, "-m", "chrf", flag, str(tmp_path / name)]
    (tmp_path / name).write_text("mine", encoding="utf-8")
    result = runner.invoke(app, typed)
    assert (result.exit_code, result.stdout) == (ExitCode.CANNOT_WRITE, "") and "with --force" in result.stderr
    assert (tmp_path / name).read_text(encoding="utf-8") == "mine"
    for more in (["--force"], []):
        assert runner.invoke(app, [*typed, *more]).exit_code == ExitCode.OK


@pytest.mark.parametrize("suffix", [".html", ".md"])
def test_a_report_of_several_has_them_side_by_side(tmp_path: Path, suffix: str) -> None:
    good, bad = write(tmp_path / "good", "a b c d\n" * 60), write(tmp_path / "<bad>", "a b <i> y\n" * 60)
    reference = write(tmp_path / "r", "a b c d\n" * 60)
    page, table = tmp_path / f"report{suffix}", tmp_path / "s.tsv"
    arguments = ["evaluate", "--hypothesis", good, "--hypothesis", bad, "--reference", reference, "-m", "chrf"]
    result = runner.invoke(app, [*arguments, "--report", str(page), "--sentences", str(table), "--profile"])
    assert result.exit_code == 0, result.stderr
    text = page.read_text(encoding="utf-8")
    assert "differ most" in text and "&lt;bad&gt;" in text and "<i> y" not in text and "<bad>" not in text
    assert table.read_text().splitlines()[0].count("hypothesis:") == 2
    assert "chrF (sentences)" in result.stdout


def test_a_warning_names_its_system_even_if_it_contains_the_name() -> None:
    reports: Any = [SimpleNamespace(warnings=("one for all", f"{name}/ saw it", "a cut")) for name in ("a", "b")]
    reports[1].warnings = reports[1].warnings[:2]
    assert merge_warnings(["a", "b"], reports) == ["one for all", "a/ saw it", "a: a cut", "b/ saw it"]


def test_only_the_model_itself_is_reranked(shouting: Shouting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Path | None] = []
    monkeypatch.setattr(scoring, "open_translator", lambda request: asked.append(request.rerank) or shouting)
    (tmp_path / "model.json").write_text("{}")
    options = ["--rerank", str(tmp_path / "r"), "--against", str(tmp_path)]
    lines = runner.invoke(app, ["evaluate", "-m", "chrf", *options]).stdout.splitlines()
    assert [line.split("  ")[0] for line in lines[1:3]] == [f"model reranked by {tmp_path}/r", str(tmp_path)]
    assert asked == [tmp_path / "r", None]
