import copy
import inspect
import re
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import nmt_cli as nmt
from nmt_cli.api.drawings.config import DrawingOptions
from nmt_cli.api.evaluate import evaluate
from nmt_cli.api.options.command_lines import CommandLine, describe_prepare, describe_train, recall_prepare
from nmt_cli.api.options.interface import respell
from nmt_cli.api.options.options import list_paths, list_texts, make_search_options, select_options
from nmt_cli.api.options.refusals import OF_MODEL, REFUSALS, ExplicitOptions, Refusal, refuse_combinations
from nmt_cli.api.prepare import prepare
from nmt_cli.api.train import combine_watchers, train
from nmt_cli.api.translating.line_layout import map_translation
from nmt_cli.api.visualize import visualize
from nmt_cli.cli.app import app, load_command
from nmt_cli.corpus.config import PrepareOptions
from nmt_cli.corpus.prepare import PrepareReport
from nmt_cli.errors import OptionError
from nmt_cli.model.config import ATTENTIONS, AttentionKind
from nmt_cli.runtime import installed_models
from nmt_cli.training.watcher import Watcher
from nmt_cli.translation.config import LineOptions


def test_a_string_is_a_list_of_one() -> None:
    assert list_texts("abc") == ["abc"]
    assert list_texts(None) == []
    assert list_paths("abc") == [Path("abc")]
    assert list_paths(["a", Path("b")]) == [Path("a"), Path("b")]


def test_a_path_is_taken_where_an_option_is_text() -> None:
    assert select_options({"glossary": Path("terms.tsv"), "beam_size": 3}, LineOptions) == {"glossary": "terms.tsv"}


def test_a_text_is_one_of_those_that_an_option_takes() -> None:
    assert select_options({"target": "Wo?", "pairs": Path("p.tsv")}, DrawingOptions) == {
        "target": ("Wo?",),
        "pairs": "p.tsv",
    }


def test_a_training_is_reported_in_stages() -> None:
    stages: list[tuple[str, int, int]] = []
    watcher = combine_watchers(None, lambda *stage: stages.append(stage), None)
    watcher.report_validation(3)
    watcher.report_export()
    assert stages == [("validating epoch 3", 0, 0), ("exporting", 0, 0)]
    assert not combine_watchers(Watcher(), lambda *stage: None, None).should_stop()


def prepare_nothing(inputs: Any, data: Path, config: Any, **others: Any) -> Any:
    manifest: Any = SimpleNamespace(findings=())
    return PrepareReport(config.tokenizer_from, manifest, 0.0, ("name it with --data",))


def test_subwords_are_taken_from_a_model_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nmt_cli.corpus.prepare.prepare", prepare_nothing)
    monkeypatch.setattr(installed_models, "list_models", lambda: {"xxx-yyy": Path("models/xxx-yyy")})
    monkeypatch.chdir(tmp_path)
    assert prepare("a.tsv", tokenizer_from="xxx-yyy").directory == "models/xxx-yyy"
    assert prepare("a.tsv").notes == ("name it with data",)
    Path("xxx-yyy").touch()
    names = ("xxx-yyy", "none", None)
    assert [prepare("a.tsv", tokenizer_from=name).directory for name in names] == ["xxx-yyy", "none", None]


# Commands to type: what was typed stays, and no option stands there twice.


def test_an_option_that_is_added_takes_the_place_of_those_that_it_replaces() -> None:
    typed = CommandLine("train", (), (("--time", "5m"), ("--attention", "general"), ("--force",)))
    assert str(typed.extend(("--batch", "32"), ("--epochs", "60"))) == (
        "nmt train --attention general --force --batch 32 --epochs 60"
    )
    assert str(typed.extend(("--time", "60m"), ("--force",))) == "nmt train --attention general --time 60m --force"
    textbook = CommandLine("train", (), (("--epochs", "5"), ("--units", "64"), ("--no-tied",), ("--dropout", "0.2")))
    assert str(textbook.extend(("--time", "60m"))) == "nmt train --units 64 --no-tied --dropout 0.2 --time 60m"
    assert str(textbook.extend(("--init-from", "OTHER"))) == "nmt train --epochs 5 --dropout 0.2 --init-from OTHER"
    assert str(CommandLine("prepare", ("a b.tsv",)).add_input("more.tsv")) == "nmt prepare 'a b.tsv' more.tsv"


def test_a_setting_takes_the_place_of_itself_and_not_of_other_settings() -> None:
    typed = CommandLine("train", (), (("--batch-tokens", "4096"), ("--clip", "1"), ("--fixed-norm",)))
    assert str(typed.extend(("--batch", "32"), ("--clip", "5"))) == ("nmt train --fixed-norm --batch 32 --clip 5")
    assert str(typed.extend(("--init-from", "a"))) == "nmt train --batch-tokens 4096 --clip 1 --init-from a"


def test_prepare_names_files_and_options_as_they_were_typed() -> None:
    config = PrepareOptions(
        lowercase=True,
        vocab_size=500,
        keep=("script", "language"),
        source_column="my text",
        dev="in/dev.tsv",
        monolingual_target=("in/more.de", "x.de.gz"),
        max_length=80,
        near_duplicates=True,
    )
    assert str(describe_prepare(["in/a b.tsv", "c.tsv=train"], config, Path("other"))) == (
        "nmt prepare 'in/a b.tsv' c.tsv=train --source-column 'my text' --monolingual-target in/more.de "
        "--monolingual-target x.de.gz --max-length 80 --keep script --keep language --dev in/dev.tsv "
        "--near-duplicates "
        "--vocab-size 500 --lowercase --data other"
    )


def test_a_file_that_is_elsewhere_is_left_to_fill_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    manifest: Any = SimpleNamespace(inputs={"a.tsv": None, "dev.tsv": None}, options=asdict(PrepareOptions()))
    manifest.options |= {"dev": "dev.tsv", "test": "500", "monolingual_target": ["more.de"]}
    recalled = "nmt prepare CORPUS --monolingual-target MONOLINGUAL --dev DEV --test 500"
    assert str(recall_prepare(manifest, Path("prepared"))) == recalled
    for name in ("a.tsv", "dev.tsv", "more.de"):
        (tmp_path / name).touch()
    recalled = "nmt prepare a.tsv --monolingual-target more.de --dev dev.tsv --test 500"
    assert str(recall_prepare(manifest, Path("prepared"))) == recalled
    manifest.inputs |= {"b.tsv": None}
    assert str(recall_prepare(manifest, Path("prepared"))).startswith("nmt prepare CORPUS ")
    assert str(describe_train(Path("prepared"), Path("m"), ("--force",))) == "nmt train --model m --force"


# Options in errors of the Python interface.


@pytest.mark.parametrize(
    ("typed", "spelled"),
    [
        ("--beam-size is 0", "beam_size is 0"),
        ("add --beam-size 9, or leave it out", "add beam_size=9, or leave it out"),
        ("at --length-penalty 0.6.", "at length_penalty=0.6."),
        ("beside --no-check", "beside check=False"),
        ("replace it with --force, or --model french?", 'replace it with force=True, or model="french"?'),
        ("use --attention general, which has", 'use attention="general", which has'),
        ("--format tsv, csv, with --data and --source FILE", 'format="tsv", csv, with data and source="FILE"'),
        ("--model takes a directory; use --ray auto", 'model takes a directory; use ray="auto"'),
        ("make it: nmt train", "make it: nmt.train()"),
        ("go on: `nmt train --model m --resume`, or", 'go on: `nmt.train(model="m", resume=True)`, or'),
        ("`nmt prepare ... --tokenizer-from m`", '`nmt.prepare(..., tokenizer_from="m")`'),
        ('nmt visualize "where is it?" --nearest 5', 'nmt.visualize("where is it?", nearest=5)'),
        ("`nmt translate --serve 5000` reads it", "`nmt translate --serve 5000` reads it"),
        ("start one with `ray start --head`", "start one with `ray start --head`"),
        ("run: npm install --prefix '../x' y", "run: npm install --prefix '../x' y"),
        ("--assets goes with --export page, which", 'assets goes with format="page", which'),
        ("--no-repeat-ngram 3", "no_repeat_ngram=3"),
        ("--beams and --other-thing 3", "--beams and --other-thing 3"),
        ("start over with --force --clip 3", "start over with force=True clip=3"),
        ("--no-separate-vocabularies learns", "separate_vocabularies=False learns"),
        ("use this option with nmt translate --tm FILE", "use this option with nmt translate --tm FILE"),
        ("use fewer --workers", "use fewer processes"),
    ],
)
def test_options_are_spelled_as_arguments(typed: str, spelled: str) -> None:
    assert respell(typed, is_hint=True) == spelled


@pytest.mark.parametrize(
    ("call", "message", "hint"),
    [
        (lambda: nmt.load(model=3), "model cannot be 3", "a string or a path"),
        (lambda: nmt.load(b"model"), "model cannot be b'model'", "a string or a path"),
        (lambda: nmt.load("eng-deu", tm=["a", 5]), "tm[1] cannot be 5", "a string, a path or a list of them"),
        (lambda: nmt.load("eng-deu", prefix=5), "prefix cannot be 5", "a string"),
        (lambda: nmt.load("eng-deu", glossary=5), "glossary cannot be 5", "a string"),
        (lambda: nmt.translate("a", glossary=3), "glossary cannot be 3", "a string, a path or a mapping"),
        (lambda: nmt.Translator("eng-deu"), "a Translator cannot be created directly", 'call nmt.load("eng-deu")'),
        (lambda: nmt.load("eng-deu", tag=3), "tag cannot be 3", "a list of strings"),
        (lambda: nmt.load("eng-deu", precision="int9"), "precision cannot be 'int9'", "'int8'? use one of float, int8"),
        (lambda: nmt.train(attention="bahdanu"), "attention cannot be 'bahdanu'", "did you mean 'bahdanau'?"),
        (lambda: nmt.train(time=30), "time cannot be 30", "such as 90s, 30m"),
        (lambda: nmt.translate("a", nbest=3), "there is no option 'nbest'", "Translator.translations takes 'n_best'"),
        (
            lambda: nmt.translate("a", alignments=True),
            "'alignments'",
            "read Translator.translations(...)[0].hypotheses[0].alignment",
        ),
        (
            lambda: nmt.translate("a", confidence=True),
            "'confidence'",
            "read Translator.translations(...)[0].confidence",
        ),
        (lambda: nmt.load("eng-deu", tm="a.tmx", prefix="Wo"), "prefix cannot be combined with tm", "leave one"),
        (lambda: nmt.load("eng-deu", check_with="deu-eng", check=False), "check_with cannot be combined", "leave one"),
        (lambda: nmt.load("eng-deu", replace_unknown=True), "replace_unknown replaces unknown words", "tokenizer word"),
        (lambda: nmt.translate("a", "eng-deu", context=1, prefix="Wo"), "context cannot be combined with prefix", ""),
        (lambda: nmt.translate("a", "eng-deu", neighbours=3), "neighbours needs tm", "a translation memory with tm"),
        (lambda: nmt.load("eng-deu").translate_file("a.txt"), "missing a required", "translate_file(source, target)"),
        (lambda: nmt.load("eng-deu").translate_file("a", output="b"), "no option 'output'", "did you mean 'target'?"),
        (
            lambda: nmt.load("eng-deu").translate_file("a.csv", "b.csv", qa_column="q", check=False),
            "qa_column cannot be combined with check=False",
            "leave one",
        ),
        (lambda: nmt.translate("a", detailed=True), "'detailed'", "help(nmt.translate)"),
        (lambda: nmt.translate("a", target="de"), "there is no option 'target'", 'such as model="eng-deu"'),
        (lambda: nmt.load("a", source_lang="en"), "there is no option 'source_lang'", 'such as model="eng-deu"'),
        (lambda: nmt.load(modle="eng-deu"), "nmt.load: there is no option 'modle'", "'model'"),
        (lambda: nmt.load("eng-deu", beam=1), "nmt.load: there is no option 'beam'", "'beam_size'"),
        (lambda: nmt.prepare("a.tsv", output="b"), "no option 'output'", "did you mean 'data'?"),
        (lambda: nmt.train(output="b"), "no option 'output'", "did you mean 'model'?"),
        (lambda: nmt.load("eng-deuu"), "there is no model in eng-deuu/", "did you mean eng-deu?"),
        (lambda: nmt.train(vocab_size=300), "nmt.train: there is no option 'vocab_size'", "nmt.prepare takes it"),
        (lambda: nmt.train(epoch=3), "nmt.train: there is no option 'epoch'", "did you mean 'epochs'?"),
        (lambda: nmt.prepare("a.tsv", vocab_sise=9), "there is no option 'vocab_sise'", "did you mean 'vocab_size'?"),
        (lambda: nmt.evaluate(beam_sise=1), "there is no option 'beam_sise'", "did you mean 'beam_size'?"),
        (lambda: nmt.visualize("a", beam_sise=1), "there is no option 'beam_sise'", "did you mean 'beam_size'?"),
        (lambda: nmt.prepare("a.tsv", test=100), "a.tsv does not exist", ""),
        (lambda: nmt.train(data="a"), "there is no prepared corpus in a/", "nmt.prepare"),
        (lambda: nmt.evaluate(data="a", model="b", metric="bleu4"), "there is no prepared corpus in a/", "nmt.prepare"),
        (lambda: nmt.visualize("hello", model="b"), "there is no model in b/", ""),
        (lambda: nmt.train(data=3), "data cannot be 3", "a string or a path"),
        (lambda: nmt.train(progress=5), "progress cannot be 5", "a function"),
        (
            lambda: nmt.evaluate(["a"], ["b"]),
            "nmt.evaluate: too many positional arguments",
            "nmt.evaluate(metric=..., source=..., reference=..., hypothesis=...)",
        ),
        (lambda: nmt.evaluate(), "there is no prepared corpus", '`nmt.prepare("corpus.tsv")`'),
        (lambda: nmt.prepare(), "no corpus was named", 'try `nmt.prepare("corpus.tsv")`'),
        (lambda: nmt.export("eng-deu", "m"), "nmt.export: missing a required argument: 'format'", "help(nmt.export)"),
        (lambda: nmt.info(3), "model cannot be 3", "a string or a path"),
        (lambda: nmt.visualize(5), "sentences cannot be 5", "a string or a list of strings"),
    ],
)
def test_a_wrong_argument_is_an_error_that_speaks_python(
    call: Any, message: str, hint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(nmt.NmtError) as raised:
        call()
    assert message in raised.value.message
    assert hint in raised.value.hint and "--" not in raised.value.message + raised.value.hint
    assert str(raised.value) == f"{raised.value.message}\nhint: {raised.value.hint}"  # as a traceback shows it


def test_a_translator_names_the_function_that_it_lacks() -> None:
    translator: Any = nmt.load("eng-deu")
    with pytest.raises(AttributeError, match=r"no attribute 'evaluate'; call nmt.evaluate\(model=...\)"):
        translator.evaluate()
    assert not hasattr(translator, "nothing") and copy.copy(translator).model == translator.model


def test_numbers_of_numpy_are_numbers() -> None:
    translator = nmt.load("eng-deu", beam_size=np.int64(2), length_penalty=np.float32(1), threads=np.int64(1))
    best, _ = translator.translations("Where is my friend?", n_best=np.int64(2))[0].hypotheses
    assert (0, 0) in best.alignment


def test_help_shows_every_option_with_its_default_and_no_name_of_a_class_within() -> None:
    shown = {name: str(inspect.signature(getattr(nmt, name))) for name in ("load", "train", "evaluate", "visualize")}
    assert "beam_size: int = 5" in shown["load"] and shown["load"].endswith("-> Translator")
    assert "attention: " in shown["train"] and "split: " in shown["evaluate"] and "nearest: " in shown["visualize"]
    assert not re.search(r"Keywords|Glossary|TranslationMemory|TranslateBlock|'PathLike", "".join(shown.values()))
    for name in (name for name in dir(nmt) if callable(getattr(nmt, name)) and name[0].islower()):
        assert f"nmt.{name}(" in getattr(nmt, name).__doc__
    public = {name for name in dir(nmt.Translator) if not name.startswith("_")}
    assert public == {
        *("translate", "translations", "stream", "translate_file", "close"),
        *("beam_size", "card", "memory", "source_language", "target_language"),
    }


def test_a_translation_shows_what_json_has_and_its_docstring_explains() -> None:
    translation = nmt.load("eng-deu", beam_size=1).translations("See {name}.")[0]
    (span,) = translation.hypotheses[0].spans
    assert (span.text, span.placed_by, span.lost) == ("{name}", "network", False)
    for shown, others in ((translation, {"translation": "text", "from": "origin"}), (translation.hypotheses[0], {})):
        mapped = map_translation(translation, 1) if others else map_translation(translation, 1)["hypotheses"][0]
        assert {others.get(name, name) for name in mapped} - {*dir(shown)} == set()
        assert all(hasattr(shown, name) and f" {name}: " in str(shown.__doc__) for name in dir(shown))


@pytest.mark.parametrize("command", ["prepare", "train", "evaluate", "visualize"])
def test_an_option_that_repeats_takes_a_list(command: str) -> None:
    signature = inspect.signature(getattr(nmt, command)).parameters
    repeated = [name for name, option in find_parameters(command).items() if option.multiple and name in signature]
    assert repeated or command == "train"
    assert [name for name in repeated if not re.search("Iterable|tuple|list", str(signature[name].annotation))] == []


# The table of settings that cannot stand together: each row refuses what it names, and nothing else.

ROWS = [(command, row) for command, rows in REFUSALS.items() for row in rows]


def find_parameters(command: str) -> dict[str, Any]:
    parameters = load_command("translate" if command == OF_MODEL else command).params
    return {str(parameter.name): parameter for parameter in parameters}


@pytest.mark.parametrize(("command", "row"), ROWS)
def test_rows_name_settings_of_their_command(command: str, row: Refusal) -> None:
    known = find_parameters(command)
    assert row.settings and set(row.settings) - set(known) == set()
    assert set(re.findall(r"\{(\w+)\}", row.why + row.hint)) - set(known) - {"subwords"} == set()
    assert row.beside == "" or row.beside in known


@pytest.mark.parametrize(("command", "row"), [pair for pair in ROWS if pair[0] != OF_MODEL])
def test_no_row_refuses_the_defaults_of_what_it_names(command: str, row: Refusal) -> None:
    """Switches that are off by default may be off explicitly, as a file of settings has them."""
    known = find_parameters(command)
    values = {name: parameter.default for name, parameter in known.items()}
    off = {name: f"--{name}" for name in row.settings if values[name] is False}
    refuse_combinations(command, ExplicitOptions(off, {}, off=frozenset(off)), values)


@pytest.mark.parametrize(("attention", "kind"), ATTENTIONS.items())
def test_a_width_of_comparison_is_for_attention_that_compares(attention: str, kind: AttentionKind) -> None:
    explicit = ExplicitOptions.from_arguments({"attention_units": 64})
    if kind.has_comparison_width:
        refuse_combinations("train", explicit, {"attention": attention})
        return
    with pytest.raises(OptionError) as caught:
        refuse_combinations("train", explicit, {"attention": attention})
    others = [name for name, kind in ATTENTIONS.items() if kind.has_comparison_width]
    assert re.findall(r"[\w-]+", caught.value.hint.removeprefix("use --attention").replace(" or ", " ")) == others


def test_a_file_may_switch_off_what_another_option_forbids(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "c.toml").write_text("strict = false\nsample = false\nconfidence = false\n")
    result = CliRunner().invoke(app, ["translate", "--no-check", "--score", "--config", "c.toml", "--model", "none"])
    assert "there is no model in none/" in result.stderr


@pytest.mark.parametrize(
    ("options", "card", "message"),
    [
        ({"alignments": True}, {"network": {"attention": "none"}}, "--alignments needs attention"),
        ({"coverage_penalty": 0.2}, {"network": {"attention": "none"}}, "--coverage-penalty needs attention"),
        ({"coverage_penalty": 0.0}, {"network": {"attention": "none"}}, None),
        ({"glossary": "t.tsv"}, {"side": SimpleNamespace(is_text=False)}, "--glossary applies to text"),
        ({"replace_unknown": True, "subwords": "bpe"}, {}, "--replace-unknown replaces unknown words, but the bpe"),
        ({"replace_unknown": True, "subwords": "word"}, {}, None),
    ],
)
def test_what_a_model_has_no_use_for_is_refused(options: dict[str, Any], card: Any, message: str | None) -> None:
    known = SimpleNamespace(**{"network": {}, "side": SimpleNamespace(is_text=True), **card})
    explicit = ExplicitOptions.from_arguments({"glossary": None, **options})
    explicit = explicit._replace(typed={name: text.replace("_", "-") for name, text in explicit.typed.items()})
    if message is None:
        refuse_combinations(OF_MODEL, explicit, {**options, "card": known})
        return
    with pytest.raises(OptionError) as caught:
        refuse_combinations(OF_MODEL, explicit, {"subwords": "word", **options, "card": known})
    assert caught.value.message.startswith(message)


def test_functions_refuse_what_commands_refuse() -> None:
    for call, message in (
        (lambda: prepare("a.tsv", min_count=3), "min_count counts words"),
        (lambda: train(epochs=3, time="5m"), "epochs cannot be combined with time"),
        (lambda: train(force=True, resume=True), "force starts over"),
        (lambda: evaluate(source="s"), "source needs reference"),
        (lambda: visualize("hello", beam=True, curves=True), "curves cannot be combined with beam"),
        (lambda: make_search_options({"top_p": 0.5}, {}), "--top-p needs --sample"),
        (lambda: make_search_options({"beam_size": 2}, {}, n_best=3), "--n-best 3 needs a --beam-size of at least 3"),
        (lambda: make_search_options({"strict": True, "check": False}, {}), "--strict cannot be combined with"),
    ):
        with pytest.raises(OptionError, match=message):
            call()
    assert make_search_options({"strict": False, "check": False}, {}).checks.check is False


def test_options_of_an_earlier_call_give_way_to_those_of_this_one() -> None:
    made = make_search_options({"check": False, "prefix": "Wo"}, {"strict": True, "context": 1, "beam_size": 3})
    assert (made.checks.strict, made.context, made.search.beam_size) == (False, 0, 3)
    made = make_search_options({"sample": False}, {"sample": True, "top_p": 0.5})
    assert made.search.sampling == make_search_options({}, {}).search.sampling
