"""Where sentences end, in a table of twelve languages that was labelled by hand; `|` parts the sentences."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from nmt_cli.carrying.kinds import find_spans
from nmt_cli.translation.segmentation.segments import find_sentence_starts
from nmt_cli.translation.segmentation.sentence_ends import ends_with_mark
from support.final_marks import ENDED

TABLE = Path(__file__).parents[3] / "support" / "sentences.tsv"
LABELLED = [line.split("\t") for line in TABLE.read_text(encoding="utf-8").splitlines()]


def split(text: str, language: str = "") -> str:
    starts = find_sentence_starts(text, find_spans(text), language)
    return "|".join(text[start:end].strip() for start, end in zip(starts, [*starts[1:], len(text)], strict=True))


@pytest.mark.parametrize(("language", "sentences"), LABELLED)
def test_labelled_sentences_are_found(language: str, sentences: str) -> None:
    assert split(sentences.replace("|", ""), language) == sentences.replace("| ", "|")


@pytest.mark.parametrize(
    "text",
    [
        "Import java.util.List here",
        "The file a.B is gone",
        "Mr.Baker sings",
        "We use Node.JS daily",
        "I ❤ New York",
        "Ask the F.B.I. about it",
        "Es ist 3. Klasse",
        "Es ist <i>3. Klasse</i>",
        "Es ist *3. Klasse* und „3. Klasse“",
        "He said “Go!” and left.",
        "彼は「行くな！」とだけ言った。",
    ],
)
def test_what_is_one_sentence_stays_one(text: str) -> None:
    assert split(text) == text


def test_a_text_without_capitals_is_split_at_its_marks() -> None:
    assert split("one two. three four! five") == "one two.|three four!|five"


@pytest.mark.parametrize("text", ["Go.", "Go!)", "Go?”", "行け。」", "መጣ።", "यह।", "« Va ! »", "Go.\ufffa\ufffa"])
def test_a_mark_at_the_end_is_seen_before_what_closes(text: str) -> None:
    assert ends_with_mark(text)
    assert not ends_with_mark(text[:1] if text[0] != "«" else "« Va »")


@pytest.mark.parametrize(("words", "mark"), [(words, mark) for words, mark in ENDED if mark != "…"])
def test_a_sentence_ends_at_its_mark_in_any_language(words: str, mark: str) -> None:
    sentence = f"{words}{mark}"
    assert ends_with_mark(sentence) and ends_with_mark(f"“{sentence}”") and not ends_with_mark(words)
    assert split(f"{sentence} {sentence}") == f"{sentence}|{sentence}"


@pytest.mark.parametrize("part", ["a. ", "A.B", "。」", "😀 ", "1. ", "« ! » ", "... ", "x.Yz"])
def test_a_long_line_takes_no_longer_than_its_length(part: str) -> None:
    started = time.monotonic()
    split(part * (20_000 // len(part)))
    assert time.monotonic() - started < 20


@pytest.mark.parametrize(
    ("language", "sentence", "other_language", "sentences"),
    [
        ("deu", "Er braucht mind. Note 4.", "eng", "I changed my mind.|He was right."),
        ("deu", "Das gilt gem. Absatz 4.", "eng", "It was a gem.|She kept it."),
        ("eng", "The shop opened est. 1990.", "fra", "Je sais où il est.|Nous partons."),
        ("eng", "See Smith et al. Nature.", "nld", "Ik wist het al.|Hij niet."),
        ("fra", "Il habite av. Foch.", "tur", "Bu bir av.|Onu gördüm."),
        ("spa", "Así lo dijo ud. Vega.", "dan", "Han gik ud.|Hun blev."),
        ("por", "Fale com a dra. Vega.", "swe", "Det är svårt att dra.|Hon vilar."),
        ("ita", "Scelga per es. Roma.", "deu", "Ich mag es.|Er nicht."),
        ("ces", "Jsou to 2 mil. Čechů.", "spa", "Son dos mil.|Nadie lo sabe."),
        ("pol", "Byli tam m.in. Anna i Jan.", "eng", "Please come in.|It is late."),
        ("swe", "Se t.ex. Sverige.", "eng", "He met his ex.|She was kind."),
        ("hun", "Bécs ill. Budapest.", "eng", "He fell ill.|She called."),
        ("rus", "Это завод им. Ленина.", "bul", "Дадох им.|Той дойде."),
    ],
)
def test_an_abbreviation_of_one_language_is_a_word_of_another(
    language: str, sentence: str, other_language: str, sentences: str
) -> None:
    assert split(sentence, language) == sentence
    assert split(sentences.replace("|", " "), other_language) == sentences


@pytest.mark.parametrize(
    ("language", "sentences"),
    [
        ("fra", "Il y en a.|Elle en veut."),
        ("ita", "Non so dov'è.|Andiamo via."),
        ("por", "Não sei o que é.|Vamos embora."),
        ("ukr", "Хай буде як є.|Він піде."),
        ("swe", "Han bor på en ö.|Den är liten."),
        ("hun", "Ez ő.|Menjünk el."),
        ("", "So am I.|He is too."),
    ],
)
def test_a_word_of_one_letter_ends_a_sentence_an_initial_does_not(language: str, sentences: str) -> None:
    assert split(sentences.replace("|", " "), language) == sentences
    assert split("J. R. Hill came", language) == "J. R. Hill came"


@pytest.mark.parametrize("language", ["", "source", "xxx", "haw"])
def test_a_language_that_nobody_described_has_what_many_share(language: str) -> None:
    kept = "Dr. Lund met Mr. Hill at St. Olaf's, No. 5."
    assert split(kept, language) == kept
    assert split("I changed my mind. Je sais où il est. Nous partons.", language).count("|") == 2
