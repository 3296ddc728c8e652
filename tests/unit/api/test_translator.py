import json
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nmt_cli as nmt
from nmt_cli.api import translator
from nmt_cli.api.drawings.attention import compute_diagonal_share, compute_entropy
from nmt_cli.api.translator import FileReport
from nmt_cli.errors import NmtError, NotFoundError, OptionError, OutputError
from nmt_cli.translation.result import CheckError, FailedCheck
from support.fakes import FakeTranslator, fake_loaded
from support.translations import louder


def test_a_string_is_one_line_and_never_its_letters() -> None:
    translator = fake_loaded()
    assert translator.translate("hello you") == "HELLO YOU"
    assert translator.translate(["hello", "", "you"]) == ["HELLO", "", "YOU"]
    assert list(translator.stream("hello you")) == ["HELLO YOU"]
    assert [translation.text for translation in translator.translations("hello you")] == ["HELLO YOU"]


def test_any_iterable_is_translated_in_order() -> None:
    assert fake_loaded().translate(word for word in ("a", "b")) == ["A", "B"]
    assert fake_loaded().translate(()) == []


def test_a_stream_holds_no_more_lines_than_a_batch() -> None:
    read: list[int] = []

    def lines() -> Iterator[str]:
        for number in range(100):
            read.append(number)
            yield f"line {number}"

    stream = fake_loaded().stream(lines(), batch=10)
    assert [next(stream) for _ in range(11)][-1] == "LINE 10"
    assert len(read) == 20


def test_options_of_a_call_win_over_those_of_loading() -> None:
    fake = FakeTranslator()
    translator = fake_loaded(fake, beam_size=2)
    translator.translate("a")
    translator.translate("a", beam_size=7, prefix=" Es  ist")
    translator.translate("a", sample=True, temperature=0.5)
    assert [config.beam_size for config in fake.configs] == [2, 7, 2]
    assert fake.configs[1].prefix == "Es ist"
    assert fake.configs[2].sampling.temperature == 0.5


def test_settings_of_equal_options_are_made_once() -> None:
    translator = fake_loaded(FakeTranslator())
    assert translator._make_options({"beam_size": 1}) is translator._make_options({"beam_size": 1})
    with pytest.raises(OptionError):
        translator.translate("a", beam_size=True)  # which equals 1


@pytest.mark.parametrize("values", [None, 5, b"hello", {"hello": 1}, ["hello", None], ["hello", b"you"], [["hello"]]])
def test_what_is_no_text_is_an_error_and_never_translated(values: Any) -> None:
    for call in (fake_loaded().translate, fake_loaded().translations, lambda texts: list(fake_loaded().stream(texts))):
        with pytest.raises(OptionError) as raised:
            call(values)
        assert "string" in raised.value.hint


def test_an_iterable_that_raises_loses_nothing_that_it_gave_before() -> None:
    def lines() -> Iterator[str]:
        yield from ("a", "b", "c")
        raise RuntimeError("the source broke")

    received = []
    with pytest.raises(RuntimeError, match="the source broke"):
        for text in fake_loaded().stream(lines(), batch=2):
            received.append(text)
    assert received == ["A", "B", "C"]


@pytest.mark.parametrize("number", [0, -1, "3", 1.5, True])
def test_a_number_of_things_is_a_whole_number_from_one(number: Any) -> None:
    for call in (
        lambda: fake_loaded().stream(["a"], batch=number),
        lambda: fake_loaded().translations("a", n_best=number),
        lambda: nmt.load("none", threads=number),
    ):
        with pytest.raises(OptionError, match="cannot be"):
            call()


def test_an_option_that_may_be_left_out_names_its_values(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("hello\n", encoding="utf-8")
    with pytest.raises(OptionError) as raised:
        fake_loaded().translate_file(tmp_path / "a.txt", tmp_path / "b.txt", format="exe")
    assert "srt" in raised.value.hint


def test_what_the_system_refuses_is_an_error_with_its_path(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("hello\n", encoding="utf-8")
    with pytest.raises(NmtError, match=str(tmp_path)):
        fake_loaded().translate_file(tmp_path / "a.txt", tmp_path)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"beam_sice": 1}, "beam_size"),
        ({"beam_size": 0}, "at least 1"),
        ({"beam_size": "many"}, "use an int"),
        ({"n_best": 9}, "n_best=9 needs a beam_size of at least 9add beam_size=9"),
        ({"temperature": 2.0}, "temperature needs sample"),
        ({"min_confidence": 0.5, "sample": True}, "min_confidence cannot be combined with sample"),
        ({"min_confidence": 0.5, "check": False}, "min_confidence cannot be combined with check=False"),
        ({"tag": 3}, "tag cannot be 3"),
        ({"report": "qa.txt"}, "report cannot be qa.txt"),
    ],
)
def test_a_wrong_option_is_an_error_that_names_the_right_one(options: dict[str, object], told: str) -> None:
    with pytest.raises(OptionError) as raised:
        fake_loaded().translations("a", **options)  # type: ignore[arg-type]
    assert told in raised.value.message + raised.value.hint


def test_options_are_checked_before_a_model_is_looked_for(tmp_path: Path) -> None:
    with pytest.raises(OptionError):
        nmt.load(tmp_path / "none", beam_sice=3)
    with pytest.raises(NotFoundError):
        nmt.load(tmp_path / "none", glossary=tmp_path / "terms.tsv", beam_size=3)


def test_a_file_is_translated_whole_and_reported(tmp_path: Path) -> None:
    (tmp_path / "film.srt").write_text("1\n00:00:01,000 --> 00:00:02,000\nhello you\n", encoding="utf-8")
    stages: list[tuple[str, int, int]] = []
    report = fake_loaded().translate_file(
        tmp_path / "film.srt", str(tmp_path / "out.srt"), progress=lambda *stage: stages.append(stage)
    )
    assert "HELLO YOU" in (tmp_path / "out.srt").read_text(encoding="utf-8")
    assert (report.path, report.texts) == (tmp_path / "out.srt", 1)
    assert stages
    with pytest.raises(OptionError, match=r"film\.vtt: nmt writes the translation in the format of .*film\.srt, "):
        fake_loaded().translate_file(tmp_path / "film.srt", tmp_path / "film.vtt")
    assert not (tmp_path / "film.vtt").exists()


def test_an_existing_file_is_only_replaced_if_that_is_asked_for(tmp_path: Path) -> None:
    source, target = tmp_path / "a.txt", tmp_path / "b.txt"
    source.write_text("hello\n", encoding="utf-8")
    target.write_text("mine\n", encoding="utf-8")
    with pytest.raises(OutputError, match=r"b\.txt already exists"):
        fake_loaded().translate_file(source, target)
    assert target.read_text(encoding="utf-8") == "mine\n"
    assert fake_loaded().translate_file(source, target, force=True).texts == 1
    report = nmt.load("eng-deu", beam_size=1).translate_file(source, target, force=True, glossary={"cat": "Katze"})
    assert list(report.notes) == ["no term of the glossary occurs in the text"]
    assert fake_loaded().translate_file(source, target, force=True).notes == {}
    assert target.read_text(encoding="utf-8") == "HELLO\n"
    (tmp_path / "link.txt").hardlink_to(source)
    for same in (source, tmp_path / "link.txt"):
        with pytest.raises(OptionError, match="is the input"):
            fake_loaded().translate_file(source, same, force=True)
    (tmp_path / "out").mkdir()
    assert fake_loaded().translate_file(source, tmp_path / "out").path == tmp_path / "out" / "a.txt"


def test_checks_that_fail_are_reported_and_raise_where_that_is_asked_for(tmp_path: Path) -> None:
    page, values = tmp_path / "qa.html", tmp_path / "qa.json"
    with pytest.raises(CheckError, match="1 of 2 texts failed a check"):
        nmt.load("eng-deu", beam_size=1).translate(
            ["Where is the station?", "Où se trouve la gare centrale ?"], report=str(page), strict=True
        )
    assert "looks like French" in page.read_text(encoding="utf-8")
    lines = nmt.load("eng-deu", beam_size=1).stream(["Où se trouve la gare centrale ?", "Good night."], strict=True)
    assert [next(lines), next(lines)][1] == "Gute Nacht."
    with pytest.raises(CheckError, match="1 of 2 texts failed") as raised:
        next(lines)
    (failed,) = raised.value.translations
    assert failed.checks and failed.hypotheses[0].alignment
    source = tmp_path / "a.txt"
    source.write_text("Good night.\nOù se trouve la gare centrale ?\n", encoding="utf-8")
    with pytest.raises(CheckError) as raised:
        nmt.load("eng-deu", beam_size=1).translate_file(source, f"{tmp_path}/{{name}}.{{lang}}{{ext}}", strict=True)
    assert raised.value.translations[0].source == failed.source and (tmp_path / "a.de.txt").exists()
    nmt.load("eng-deu", beam_size=1).translate_file(source, tmp_path / "b.txt", report=str(values))
    with pytest.raises(OutputError, match=r"qa\.json already exists"):  # which another translator wrote
        nmt.load("eng-deu", beam_size=1).translate("Good night.", report=str(values))
    written = json.loads(values.read_text(encoding="utf-8"))
    assert (written["texts"], written["failed"], written["entries"][0]["number"]) == (2, 1, 2)


def test_one_call_translates_by_a_model_that_stays_loaded() -> None:
    assert nmt.translate("Good night.", model="eng-deu", beam_size=1) == "Gute Nacht."
    assert nmt.translate(["Good night."], "eng-deu") == [nmt.load("eng-deu")("Good night.")]
    assert set(dir(nmt)) == set(nmt.__all__)
    assert nmt.CheckError is CheckError
    with pytest.raises(nmt.OptionError, match="no option 'n_best'") as raised:
        nmt.translate("Good night.", "eng-deu", n_best=3)  # type: ignore[call-arg, call-overload]
    assert raised.value.hint == "Translator.translations takes it"


def test_a_missing_file_leaves_no_target(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        fake_loaded().translate_file(tmp_path / "none.txt", tmp_path / "out.txt")
    assert list(tmp_path.iterdir()) == []


def test_progress_is_reported_in_lines() -> None:
    stages: list[tuple[str, int, int]] = []
    fake_loaded().translations(["a", "b"], progress=lambda *stage: stages.append(stage))
    assert stages == [("translating", 0, 2), ("translating", 2, 2)]


def test_a_translator_frees_its_model_at_the_end_of_a_with_block() -> None:
    with fake_loaded() as translator:
        assert translator.translate("a") == "A"
    assert translator._opened is None
    translator.close()
    assert repr(translator) == "Translator(closed, 'model')"
    for call in (translator.translate, translator.translations, lambda text: list(translator.stream(text))):
        with pytest.raises(OptionError, match="closed"):
            call("a")


# What a translated file is reported to need.


def test_a_report_keeps_as_many_doubtful_texts_as_there_is_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(translator, "MOST_FLAGGED", 2)
    report, good = FileReport(Path("a.txt")), louder("a")
    for translation in (good, *[good._replace(checks=(FailedCheck("numbers", "number 7 missing"),))] * 3):
        report.add(translation)
    assert (report.texts, report.flagged_count) == (4, 3)
    assert [number for number, _ in report.flagged] == [2, 3]


def test_another_process_loads_the_same_translator(tmp_path: Path) -> None:
    (tmp_path / "memory.tsv").write_text("Hello there.\tMoin zusammen.\n", encoding="utf-8")
    (tmp_path / "terms.tsv").write_text("station\tStation\n", encoding="utf-8")
    options: dict[str, Any] = {"beam_size": 1, "tm": iter([tmp_path / "memory.tsv"])}
    loaded = nmt.load("eng-deu", glossary=str(tmp_path / "terms.tsv"), threads=1, **options)
    copied = pickle.loads(pickle.dumps(loaded))
    assert pickle.loads(pickle.dumps(loaded)) is copied is pickle.loads(pickle.dumps(copied))  # loaded once
    texts = ["Hello there.", "Where is the station?"]
    assert copied(texts) == loaded(texts) and loaded(texts)[0] == "Moin zusammen."
    assert (copied.beam_size, copied.model, "Station" in copied(texts[1])) == (1, loaded.model, True)
    assert "Station" in loaded(texts[1]) and "Haltestelle" in loaded(texts[1], glossary={"station": "Haltestelle"})
    with_terms = nmt.load("eng-deu", glossary={"station": "Haltestelle"}, beam_size=1)
    assert "Haltestelle" in with_terms(texts[1]) and "Haltestelle" in pickle.loads(pickle.dumps(with_terms))(texts[1])
    assert "Station" in with_terms.translations(texts[1], glossary=tmp_path / "terms.tsv")[0].text
    assert next(with_terms.stream(texts[1:], glossary={})) == nmt.load("eng-deu", beam_size=1)(texts[1])
    with pytest.raises(OptionError, match="glossary cannot be"):
        loaded("a", glossary={"a": 3})
    with pytest.raises(OptionError, match="is a folder") as problem:
        loaded.translate_file(tmp_path, tmp_path / "out")
    assert f"run: nmt translate {tmp_path} -o {tmp_path / 'out'}" in problem.value.hint
    data = pickle.dumps(loaded)
    loaded.close()
    assert copied(texts[0]) == "Moin zusammen."
    copied.close()
    assert pickle.loads(data)(texts[0]) == "Moin zusammen."


def test_a_method_that_is_looked_for_in_the_package_is_named() -> None:
    with pytest.raises(
        AttributeError, match=r"no attribute 'translate_file'; call nmt\.load\(\"eng-deu\"\)\.translate_file"
    ):
        nmt.translate_file  # type: ignore[attr-defined]  # noqa: B018
    assert all(callable(getattr(nmt.Translator, name)) for name in vars(nmt)["OF_TRANSLATOR"])


# Measures of attention: its entropy, and its share near the diagonal.


def test_entropy_is_in_bits_and_a_mean_over_the_words() -> None:
    assert compute_entropy(np.array([[1.0, 0, 0, 0], [0.25] * 4])) == pytest.approx(1)


def test_the_diagonal_is_as_wide_as_a_word_at_least() -> None:
    assert compute_diagonal_share(np.eye(5)) == pytest.approx(1)
    assert compute_diagonal_share(np.eye(5)[::-1]) == pytest.approx(1 / 5)
    assert compute_diagonal_share(np.full((4, 8), 1 / 8)) < 0.5
    assert compute_diagonal_share(np.ones((1, 1))) == 1
