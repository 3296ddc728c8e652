"""Tests of `cli/translate.py`.

What `nmt translate` refuses before it looks for a model, and what it tells after the last line. What reaches a
terminal."""

import io
import shlex
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from nmt_cli.api.open_model import MemoryLanguageError
from nmt_cli.api.serve_config import ServeOptions
from nmt_cli.api.translating.inputs import check_files
from nmt_cli.api.translating.report import TranslationReport
from nmt_cli.cli.app import app
from nmt_cli.cli.render import Screen
from nmt_cli.cli.serve import open_memories, read_keys
from nmt_cli.cli.translate import make_console, show_remark
from nmt_cli.errors import DataError, ExitCode, FailedLineError, NotFoundError
from nmt_cli.runtime import model_directory
from nmt_cli.search.config import SearchOptions
from nmt_cli.translation.result import CheckError, FailedCheck, Hypothesis, Placed, Repair, SourceCuts, Translation
from support.fakes import make_card


def summary(capsys: pytest.CaptureFixture[str], *translations: Translation, thing: str = "line") -> str:
    """What is printed on stderr after these translations, on one line."""
    report = TranslationReport(source_cuts=SourceCuts(thing), max_length=SearchOptions().max_length)
    for translation in translations:
        report.add(translation)
    for remark in report.list_remarks():
        show_remark(Screen(), remark)
    return " ".join(capsys.readouterr().err.split())


def hypothesis(*placed: Placed, finished: bool = True) -> Hypothesis:
    return Hypothesis("a", (7, 3), ("▁a", "</s>"), -1, -1, (-1, 0), (), finished, placed)


def line(*hypotheses: Hypothesis, **known: object) -> Translation:
    return Translation("x", ("▁x", "</s>"), hypotheses, frozenset(), **known)  # type: ignore[arg-type]


def test_every_sentence_that_was_searched_again_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    repairs = (Repair("loop", "wider beam"), Repair("empty", None))
    found = summary(capsys, line(hypothesis(), repairs=repairs))
    assert "1 sentence was translated again, which repaired 1 loop (line 1) " in f"{found} "
    assert "1 sentence was translated again without success; check them: 1 empty" in found


def test_untranslated_words_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    failed = [FailedCheck("untranslated", f"no translation of {words}") for words in ("evicted, lodger", "lodger")]
    found = summary(capsys, *(line(hypothesis(), checks=(check,)) for check in failed))
    assert "2 of 2 lines with untranslated words (line 1 [2 times]): evicted, lodger " in found


def test_what_was_read_is_told_of_the_first_sentence_that_was_cut(capsys: pytest.CaptureFixture[str]) -> None:
    whole, cut = line(hypothesis()), line(hypothesis(), source_cut_from=17, source_read=10)
    assert (
        "2 texts have a sentence longer than max-source-length 10, which was truncated; "
        "the first is text 2, with 17 source tokens"
    ) in summary(capsys, whole, cut, cut, thing="text")


def test_a_cut_translation_is_not_blamed_on_one_limit_alone(capsys: pytest.CaptureFixture[str]) -> None:
    found = summary(capsys, line(hypothesis(finished=False)))
    assert "at --max-length 200 or the lower limit for a short source" in found


def test_spans_to_look_at_are_counted_and_the_first_five_named(capsys: pytest.CaptureFixture[str]) -> None:
    lost = [line(hypothesis(*[Placed(f"{{{n}}}", "position", lost=True)] * 2)) for n in range(1000)]
    report = TranslationReport()
    for translation in lost:
        report.add(translation)
    assert (report.doubtful_spans, len(report.first_doubtful)) == (2000, 5)
    assert "of 2,000 protected spans, the network dropped 2,000" in (found := summary(capsys, *lost))
    assert "so check them: {0} {1} {2} ..." in found


def run_translate(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["translate", "--model", "none", *arguments])


@pytest.mark.parametrize(
    "options",
    "--n-best 3,--beam-size 5,--prefix Ja,--sample,--no-repair,--replace-unknown,--no-split-sentences".split(","),
)
def test_options_of_the_search_are_for_a_translation_that_is_searched_for(options: str) -> None:
    assert "there is no model in none/" in run_translate(*options.split()).stderr


def test_what_says_how_a_line_is_read_goes_with_score() -> None:
    assert "there is no model in none/" in run_translate("--score", "--no-protect", "--max-source-length", "9").stderr


def test_texts_that_fail_a_check_are_counted_and_the_first_named(capsys: pytest.CaptureFixture[str]) -> None:
    good, bad = line(hypothesis()), line(hypothesis(), checks=(FailedCheck("numbers", "number 7 missing"),))
    printed = summary(capsys, good, bad, *(bad._replace(source=str(number)) for number in range(5)), thing="text")
    assert "! 6 of 7 texts with numbers different from the source (texts 2, 3, 4, 5, 6 ...)" in printed
    assert "! 1 of 1 line with numbers different from the source (line 1)" in summary(capsys, bad)
    assert summary(capsys, good) == ""


def test_a_failed_check_is_an_error_only_where_that_is_wanted() -> None:
    report = TranslationReport()
    report.add(line(hypothesis()))
    report.require_faultless(strict=True)
    report.add(
        line(hypothesis(), checks=(FailedCheck("numbers", "number 7 missing"), FailedCheck("length", "too short")))
    )
    with pytest.raises(CheckError, match="1 of 2 lines failed a check") as caught:
        report.require_faultless(strict=True)
    report.require_faultless(strict=False)
    assert caught.value.exit_code == ExitCode.CHECK_FAILED == 3


def test_a_line_on_which_nmt_failed_is_told_and_ends_the_command_with_70() -> None:
    report = TranslationReport()
    report.add(line(hypothesis()))
    report.add(line(hypothesis(), checks=(FailedCheck("failed", "nmt failed (ValueError at x.py:7)"),)))
    with pytest.raises(FailedLineError) as caught:
        report.require_faultless(strict=False)
    assert caught.value.message == "1 of 2 lines copied, because nmt failed (ValueError at x.py:7) (line 2)"
    assert caught.value.exit_code == ExitCode.SOFTWARE == 70


@pytest.mark.parametrize(
    ("words", "model"),
    [
        ("Where is the station?", "eng-deu"),
        ("hallo", "deu-eng"),
        ("It costs $5!", "eng-deu"),
        ("Hello world", "eng-deu"),
        ("Wo ist der Bahnhof?", "deu-eng"),
    ],
)
@pytest.mark.parametrize("is_quoted", [True, False])
def test_a_sentence_instead_of_files_is_shown_how_to_be_translated(
    words: str, model: str, is_quoted: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    files = [Path(words)] if is_quoted else list(map(Path, words.split()))
    with pytest.raises(NotFoundError) as raised:
        check_files(files, Path("model"), [])
    command = raised.value.hint.removeprefix("to translate a sentence: ")
    assert shlex.split(command) == ["echo", words, "|", "nmt", "translate", "--model", model]


def test_the_hint_names_no_model_where_the_default_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "model.json").touch()
    with pytest.raises(NotFoundError) as raised:
        check_files([Path("hello")], Path("model"), [])
    assert raised.value.hint.endswith("| nmt translate")


@pytest.mark.parametrize(
    ("names", "hint"),
    [
        ("nwes.txt", "did you mean news.txt?"),
        ("news", "did you mean news.txt?"),
        ("news.txt new.txt", "did you mean news.txt?; for an output: -o new.txt"),
        ("one.csv b.txt", "to list the files: ls ."),
        ("data/a data/b", "to list the files: ls ."),
    ],
)
def test_files_that_are_meant_are_still_named(
    names: str, hint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "news.txt").write_text("")
    with pytest.raises(NotFoundError) as raised:
        check_files(list(map(Path, names.split())), Path("model"), [])
    assert raised.value.hint == hint


def test_where_most_lines_are_in_the_target_language_only_that_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    foreign = line(hypothesis(), checks=(FailedCheck("language", "x"), FailedCheck("length", "y")))
    report = TranslationReport(source_cuts=SourceCuts("line"), languages=("eng", "deu"))
    for translation in (foreign, foreign, line(hypothesis())):
        report.add(translation)
    remark, _rules = report.list_remarks()
    assert remark.text == "most lines are already in German; for the opposite direction: --model deu-eng"
    assert "1 of 2 lines already in the target language" in summary(capsys, foreign, line(hypothesis()))


TEXT = "Gr\u00fc\u00dfe \x1b[31m\x1b]0;title\x07 \x9b2J \x7f\ttab\r\nnext\rover\n"


@pytest.mark.parametrize("is_terminal", [True, False])
def test_a_terminal_shows_control_characters_and_files_keep_them(
    monkeypatch: pytest.MonkeyPatch, is_terminal: bool
) -> None:
    class Stream(io.BytesIO):
        def isatty(self) -> bool:
            return is_terminal

    stream = Stream()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(stream, encoding="utf-8"))
    output = make_console(Screen(), can_prompt=False).output
    output.write(TEXT.encode() + b"\xff\n")
    output.flush()
    written = stream.getvalue()
    if is_terminal:
        shown = "Gr\u00fc\u00dfe \\x1b[31m\\x1b]0;title\\x07 \\x9b2J \\x7f\ttab\nnext\\x0dover\n\\xff\n"
        assert written == shown.encode()
    else:
        assert written == TEXT.encode() + b"\xff\n"


TMX = (
    '<tmx version="1.4"><header srclang="en"/><body><tu><tuv xml:lang="en"><seg>Yes.</seg></tuv>'
    '<tuv xml:lang="{}"><seg>{}</seg></tuv></tu></body></tmx>'
)


def test_each_direction_of_a_model_has_the_memories_of_its_languages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    card = make_card("eng", "deu", tags={">deu": 9, ">nld": 9, "ui": 9})
    monkeypatch.setattr(model_directory, "read_card", lambda path: card)
    corrected = "source\ttarget\ttags\nHi.\tHallo!\t>deu\nHi.\tHoi!\t>nld\nBye.\tTschau.\t"
    files = {"eng-nld.tsv": "Yes.\tJa!", "any.tsv": "No.\tNein.", "more.tsv=to:nld": "No.\tNee.", "c.tsv": corrected}
    for name, line in files.items():
        (tmp_path / name.partition("=")[0]).write_text(f"{line}\n", encoding="utf-8")
    memories = open_memories([Path("m")], [f"{tmp_path}/{name}" for name in files], None)
    assert {languages[1]: memory.targets for (_, languages), memory in memories.items()} == {
        "deu": {"No.": "Nein.", "Hi.": "Hallo!", "Bye.": "Tschau."},
        "nld": {"Yes.": "Ja!", "No.": "Nee.", "Hi.": "Hoi!"},
    }


def test_each_served_model_has_the_memories_of_its_languages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    models = {
        Path("there"): make_card("eng", "deu"),
        Path("back"): make_card("deu", "eng"),
        Path("fr"): make_card("eng", "fra"),
    }
    monkeypatch.setattr(model_directory, "read_card", models.__getitem__)
    german, czech = str(tmp_path / "de.tmx"), str(tmp_path / "cs.tmx")
    Path(german).write_text(TMX.format("de", "Ja."), encoding="utf-8")
    Path(czech).write_text(TMX.format("cs", "Ano."), encoding="utf-8")
    expected = {"there": {"Yes.": "Ja."}, "back": {"Ja.": "Yes."}}
    for suggestions, others in ((None, {}), ("later.tsv", {"fr": {}})):  # which every model will learn from
        memories = open_memories(list(models), [german, *filter(None, [suggestions])], suggestions)
        assert {str(model): memory.targets for (model, _), memory in memories.items()} == expected | others
    assert open_memories(list(models), [], None) == {}
    with pytest.raises(MemoryLanguageError):
        open_memories(list(models), [german, czech], None)


def test_a_key_that_others_can_see_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("NMT_API_KEYS", "alice s3cret 60, bob t0ken")
    monkeypatch.setattr(sys, "argv", ["nmt", "translate", "--serve", "0"])
    assert [key.name for key in read_keys(ServeOptions(), Screen())] == ["alice", "bob"]
    in_a_file = ServeOptions(api_key="visible")
    assert read_keys(in_a_file, Screen())[-1].secret == "visible"
    assert capsys.readouterr().err == ""
    for argument in ("--api-key=visible", "visible", "api-key=visible"):
        monkeypatch.setattr(sys, "argv", ["nmt", "translate", argument])
        read_keys(in_a_file, Screen())
        assert "can see the key of --api-key" in capsys.readouterr().err
    with pytest.raises(DataError):
        read_keys(ServeOptions(api_key="a b c d"), Screen())
