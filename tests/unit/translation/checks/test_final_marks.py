"""Headings and entries of menus get no final mark; sentences keep theirs."""

from __future__ import annotations

import io

import numpy as np
import pytest

from nmt_cli.documents import open_document
from nmt_cli.documents.config import DocumentConfig
from nmt_cli.documents.document import DocumentSource
from nmt_cli.jobs.job import InProcess
from nmt_cli.jobs.pipeline import translate_units
from nmt_cli.text.stream import batch_blocks
from nmt_cli.translation.checks.final_marks import MARK_KINDS, drop_added_mark, find_final_mark
from nmt_cli.translation.result import FailedCheck, Hypothesis, Translation
from support.final_marks import ENDED

ADDED = FailedCheck("final mark", "final mark . added")
OTHER = FailedCheck("length", "too long")


def make_translation(source: str, text: str) -> Translation:
    attention = np.eye(2, dtype=np.float32)
    hypothesis = Hypothesis(text, (7, 3), ("a", "</s>"), -1.0, -1.0, (-1.0, 0.0), (attention,), True)
    return Translation(source, ("a", "</s>"), (hypothesis,), frozenset(), checks=(ADDED, OTHER))


@pytest.mark.parametrize(
    ("source", "text", "written"),
    [
        ("Settings", "Einstellungen.", "Einstellungen"),
        ("Settings", "Einstellungen !", "Einstellungen"),
        ("設定 Settings", "Einstellungen。", "Einstellungen"),
        ("Chapter 3: The House", "Kapitel 3: das Haus!", "Kapitel 3: das Haus"),
        ("Chapter 3", "Kapitel 3.", "Kapitel 3"),
        ("Open a.pdf", "Offen a.pdf.", "Offen a.pdf"),
    ],
)
def test_a_mark_that_the_source_does_not_have_is_dropped_with_its_alarm(source: str, text: str, written: str) -> None:
    translation = drop_added_mark(make_translation(source, text))
    assert translation.text == written and translation.checks == (OTHER,)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("I am here.", "Ich bin hier."),
        ("Are you sure?", "Sicher."),
        ("Where is it", "Wo ist es?"),
        ("Loading...", "Es lädt..."),
        ("Wait…", "Warte."),
        ("So:", "So."),
        ('He said "no."', "Er sagte nein."),
        ("Settings", "Einstellungen"),
        ("Settings", "."),
        ("Wait", "Warte..."),
        ("Cats and so on", "Katzen usw."),
        ("Treffen um 17 Uhr", "Meeting at 5 p.m."),
        ("May 3rd", "Mai 3."),
    ],
)
def test_other_ends_stay(source: str, text: str) -> None:
    translation = make_translation(source, text)
    assert drop_added_mark(translation) is translation


def test_a_blank_text_and_what_a_person_wrote_stay() -> None:
    blank = Translation("", (), (), frozenset())
    assert drop_added_mark(blank) is blank
    recalled = make_translation("Settings", "Optionen.")._replace(origin="memory")
    assert drop_added_mark(recalled) is recalled


@pytest.mark.parametrize(("words", "mark"), ENDED)
def test_final_marks_of_a_kind_stand_for_each_other_in_any_language(words: str, mark: str) -> None:
    kind = "?" if mark in "؟？" else "."
    assert MARK_KINDS[find_final_mark(f"{words}{mark}")] == kind
    dropped = drop_added_mark(make_translation("Settings", f"{words}{mark}"))
    assert (dropped.text == words) == (kind == "." and mark != "…")


def test_a_semicolon_or_comma_of_any_language_is_a_pause() -> None:
    assert {MARK_KINDS[mark] for mark in ";؛፤；,،፣、"} == {":"}  # Arabic, Amharic, Chinese


def test_the_final_mark_stands_before_quotes_brackets_and_tags() -> None:
    assert [find_final_mark(text) for text in ('He said "no."', "(Yes!)", "<b>So?</b> </i>", "No", "")] == [*".!?o", ""]


@pytest.mark.parametrize(("format", "line"), [("text", "Save.\n"), ("md", "Save\n")])
def test_plain_lines_may_be_sentences_that_were_typed_in_haste(format: str, line: str) -> None:
    source = DocumentSource(io.BytesIO(b"Save\n"), "x", DocumentConfig(), "de")
    batches = batch_blocks(open_document(format, source).read_units(), 10)
    executor = InProcess(lambda block: [make_translation(text, f"{text}.") for text in block.texts])
    assert b"".join(translate_units(batches, executor, lambda translation: None)).decode() == line
