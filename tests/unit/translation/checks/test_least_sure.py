"""A text is as sure as its worst sentence, in every format and however it is cut; the bundled model translates."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nmt_cli.api.translating.line_layout import LayoutOptions
from nmt_cli.api.translator import Translator, load
from nmt_cli.translation.result import Translation

pytestmark = pytest.mark.network
SURE = ("I am here.", "Where is Tom?", "He is at home.", "I love you.", "The door is open.")
UNSURE = (
    "Our landlord evicted the lodgers.",
    "The mason plastered the crumbling parapet.",
    "Mortgagees foreclose encumbered tenements.",
)
CUE = "1\n00:00:01,000 --> 00:00:04,000\n{}\n"
# How each format holds two texts.
FORMATS: dict[str, str] = {
    "html": '<html lang="en"><body><p>{0}</p><p><b>{1}</b></p></body></html>',
    "md": "# {0}\n\n- {1}\n",
    "txt": "{0}\n{1}\n",
    "srt": CUE + "\n2\n00:00:05,000 --> 00:00:09,000\n{}\n",
    "csv": 'id,text\n1,"{0}"\n2,"{1}"\n',
    "jsonl": '{{"text": "{0}"}}\n{{"text": "{1}"}}\n',
}


@pytest.fixture(scope="module")
def english_to_german() -> Translator:
    return load("eng-deu")


@pytest.fixture(scope="module")
def each_alone(english_to_german: Translator) -> dict[str, Translation]:
    """Each sentence by itself, also in capitals."""
    sentences = [change(text) for text in (*SURE, *UNSURE) for change in (str, str.upper)]
    return dict(zip(sentences, english_to_german.translations(sentences), strict=True))


def is_low(translation: Translation) -> bool:
    return any(check.kind == "confidence" for check in translation.checks)


def test_the_sentences_are_what_they_are_called(each_alone: dict[str, Translation]) -> None:
    assert [text for text in SURE if is_low(each_alone[text])] == []
    assert [text for text in UNSURE if not is_low(each_alone[text])] == []


@given(
    st.lists(st.sampled_from((*SURE, *UNSURE)), min_size=2, max_size=6, unique=True), st.sampled_from((str, str.upper))
)
@settings(max_examples=25, deadline=None)
def test_a_text_is_as_sure_as_its_worst_sentence(
    english_to_german: Translator,
    each_alone: dict[str, Translation],
    sentences: list[str],
    change: Callable[[str], str],
) -> None:
    sentences = [change(text) for text in sentences]
    (translated,) = english_to_german.translations([" ".join(sentences)])
    each = [each_alone[text].confidence for text in sentences]
    worst = translated.least_sure
    assert worst is not None and worst.confidences == pytest.approx(each, abs=1e-3)
    assert translated.confidence == worst.confidence == min(worst.confidences)
    assert worst.source == sentences[worst.number - 1]
    assert worst.text == each_alone[worst.source].text and worst.text in translated.text
    assert is_low(translated) == any(is_low(each_alone[text]) for text in sentences)


def test_the_message_names_the_sentence_with_its_translation_and_how_many_are_low(
    english_to_german: Translator,
) -> None:
    one, two = english_to_german.translations([f"{SURE[0]} {UNSURE[0]} {SURE[1]}", " ".join(UNSURE[:2])])
    (first,), (second,) = ([check for check in text.checks if check.kind == "confidence"] for text in (one, two))
    assert f" in sentence 2 of 3: {UNSURE[0]} -> " in first.message and one.least_sure is not None
    assert one.least_sure.text in first.message
    assert " in 2 of 2 sentences, least in " in second.message


@pytest.mark.parametrize("added", ["100.", "12:30.", "5 %.", "1. 2. 3."])
def test_a_sentence_without_words_lowers_nothing(
    english_to_german: Translator, each_alone: dict[str, Translation], added: str
) -> None:
    before, after = english_to_german.translations([f"{added} {SURE[0]}", f"{SURE[0]} {added}"])
    assert before.confidence == pytest.approx(each_alone[SURE[0]].confidence, abs=0.05)
    assert after.confidence == pytest.approx(each_alone[SURE[0]].confidence, abs=0.05)


def test_frames_and_labels_are_no_sentences(english_to_german: Translator) -> None:
    framed, labelled = english_to_german.translations(
        [f"- (a) {SURE[0]} {UNSURE[0]}[1] {SURE[2]}", f"Note: {SURE[0]} {SURE[2]}"]
    )
    assert framed.least_sure is not None and labelled.least_sure is not None
    assert (framed.least_sure.number, len(framed.least_sure.confidences)) == (2, 3)
    assert framed.least_sure.source.startswith(UNSURE[0][:-1])
    assert len(labelled.least_sure.confidences) == 2
    assert [
        text.least_sure for text in english_to_german.translations(["Yes | No | Cancel", "I\tam here.", "Tom sah"])
    ] == [None] * 3


@pytest.mark.parametrize("form", FORMATS)
def test_a_paragraph_of_each_format_names_its_worst_sentence(
    english_to_german: Translator, tmp_path: Path, form: str
) -> None:
    source, target = tmp_path / f"in.{form}", tmp_path / f"out.{form}"
    source.write_text(FORMATS[form].format(" ".join(SURE[:3]), f"{SURE[0]} {UNSURE[0]} {SURE[4]}"), encoding="utf-8")
    column = {"column": "text"} if form in ("csv", "jsonl") else {}
    report = english_to_german.translate_file(source, target, **column)  # type: ignore[arg-type]
    (_, flagged), *others = report.flagged
    assert not others and flagged.least_sure is not None
    assert (flagged.least_sure.number, flagged.least_sure.source) == (2, UNSURE[0])


def test_a_catalogue_names_the_sentence_in_its_comment(english_to_german: Translator, tmp_path: Path) -> None:
    source, target = tmp_path / "in.po", tmp_path / "out.po"
    header = 'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=UTF-8\\n"\n'
    source.write_text(f'{header}\nmsgid "{SURE[0]} {UNSURE[0]}"\nmsgstr ""\n', encoding="utf-8")
    english_to_german.translate_file(source, target)
    lines = target.read_text(encoding="utf-8").splitlines()
    (comment,) = (line for line in lines if line.startswith("# nmt: ") and "confidence" in line)
    assert f" in: {UNSURE[0]} -> " in comment and SURE[0] not in comment


def test_a_text_that_is_not_cut_has_a_worst_sentence_too() -> None:
    english_to_german = load("eng-deu", split_sentences=False)
    (translated,) = english_to_german.translations(["He is at home. Mortgagees foreclose encumbered tenements."])
    assert translated.least_sure is not None
    assert translated.least_sure.source == "Mortgagees foreclose encumbered tenements."
    assert translated.text.endswith(translated.least_sure.text)
    assert 0.0 < translated.least_sure.confidence < translated.least_sure.confidences[0]


def test_what_a_memory_has_is_certain_and_does_not_hide_the_rest(
    each_alone: dict[str, Translation], tmp_path: Path
) -> None:
    memory = tmp_path / "memory.tsv"
    memory.write_text(f"{UNSURE[0]}\tUnser Vermieter hat die Mieter hinausgeworfen.\n", encoding="utf-8")
    known, beside = load("eng-deu", tm=memory).translations([f"{UNSURE[0]} {SURE[0]}", f"{UNSURE[0]} {UNSURE[1]}"])
    assert known.confidence == pytest.approx(each_alone[SURE[0]].confidence, abs=1e-3) and not is_low(known)
    assert is_low(beside) and beside.least_sure is not None
    assert (beside.least_sure.source, beside.least_sure.confidences[0]) == (UNSURE[1], 1.0)


def test_json_has_the_sentence_only_of_several(english_to_german: Translator) -> None:
    one, several = english_to_german.translations([SURE[0], f"{SURE[0]} {UNSURE[0]}"])
    layout = LayoutOptions(json=True)
    assert json.loads(layout.format_lines(one, 1))["least_sure"] is None
    worst = json.loads(layout.format_lines(several, 1))["least_sure"]
    assert (worst["sentence"], worst["source"]) == (2, UNSURE[0])
    assert worst["confidence"] == several.confidence == worst["confidences"][1] and len(worst["confidences"]) == 2
