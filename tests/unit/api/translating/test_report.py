import json
import pickle
import re
from pathlib import Path
from types import SimpleNamespace
from typing import get_args

import pytest

from nmt_cli.api.translating.outputs import FileSummaries
from nmt_cli.api.translating.report import LINES_MOST, NO_TERM, Failing, TranslationReport
from nmt_cli.carrying.glossary import Glossary
from nmt_cli.documents.document import TornText
from nmt_cli.errors import DataError, FailedLineError
from nmt_cli.rewriting.slips import ReadAs
from nmt_cli.translation.checks.table import CHECK_ROWS, CHECKS
from nmt_cli.translation.memory.lookup import TranslationMemory
from nmt_cli.translation.result import (
    CheckError,
    CheckKind,
    FailedCheck,
    Fault,
    Hypothesis,
    Origin,
    Placed,
    Repair,
    Rival,
    SourceCuts,
    Translation,
)
from nmt_cli.visuals.qa_report import CheckTitle, QaReport, render_page
from support.documents import open_bytes

NEVER_COUNTED = {"failed", "language", "spans", *(check.name for check in CHECKS if check.repaired)}  # told otherwise
TITLES = {check.name: CheckTitle(check.summary, check.anchor) for check in CHECKS}
PLACED = (Placed("7", "attention", lost=True),)
HYPOTHESIS = Hypothesis("a", (7, 3), ("▁a", "</s>"), -1, -1, (-1, 0), (), True)
EVENTS: dict[str, dict[str, object]] = {  # of each kind of translation that the summary counts, what it is
    **{f"check {kind}": {"checks": (FailedCheck(kind, "x"),)} for kind in get_args(CheckKind)},
    **{f"repaired {fault}": {"repairs": (Repair(fault, "beam"),)} for fault in get_args(Fault)},
    **{f"faulty {fault}": {"repairs": (Repair(fault, None),)} for fault in get_args(Fault)},
    **{f"origin {origin}": {"origin": origin} for origin in get_args(Origin)},
    "placed": {"hypotheses": (HYPOTHESIS._replace(spans=PLACED),)},
    "cut": {"hypotheses": (HYPOTHESIS._replace(finished=False),)},
    "source cut": {"source_cut_from": 17, "source_read": 10},
    "misread": {"read_as": (ReadAs("teh", "the"),)},
    "carried": {"carried": ("Kazimierz",)},
    "unknown": {"unseen": frozenset(("lodger",))},
}
NUMBERED = re.compile(r"\b(\d+) (?!of |with )([a-z-]+(?: [a-z-]+)?)")  # a number and the two words after it
NO_NOUNS = frozenset("is was has as this endless".split())


def make_report(event: str, number: int) -> TranslationReport:
    """A report of `number` translations of one kind."""
    report = TranslationReport(source_cuts=SourceCuts("line"), qa=QaReport(TITLES, "x", ("en", "de"), "line"))
    for _ in range(number):
        report.add(make_translation(EVENTS[event]))
    return report


def make_translation(fields: dict[str, object]) -> Translation:
    known = {"hypotheses": (HYPOTHESIS,), "unseen": frozenset(), **fields}
    return Translation("x", ("▁x", "</s>"), **known)  # type: ignore[arg-type]


def read_summary(report: TranslationReport) -> str:
    with pytest.raises((CheckError, FailedLineError)) if report.failed else pytest.MonkeyPatch.context() as failure:
        report.require_faultless(strict=True)
    said = str(failure.value) if isinstance(failure, pytest.ExceptionInfo) else ""
    return " ".join([*(remark.text for remark in report.list_remarks()), said])


def has_plural(words: str) -> bool:
    return any(word.endswith("s") and word not in NO_NOUNS for word in words.split()) or "were" in words


@pytest.mark.parametrize("term", ["x", "y"])
def test_a_glossary_of_which_no_term_occurs_is_reported_once(term: str) -> None:
    report = TranslationReport(source_cuts=SourceCuts("line"), terms=Glossary({term: "z"}))
    assert report.list_remarks() == []
    for event in ("origin memory", "origin memory"):
        report.add(make_translation(EVENTS[event]))
    assert (NO_TERM in [remark.text for remark in report.list_remarks()]) == (term == "y")


@pytest.mark.parametrize("event", EVENTS)
def test_a_thing_is_counted_in_the_singular_and_several_in_the_plural(event: str) -> None:
    singular, plural = (read_summary(make_report(event, number)) for number in (1, 2))
    assert [match[0] for match in NUMBERED.finditer(singular) if match[1] == "1" and has_plural(match[2])] == []
    noun = re.search(r"\b1 (line|sentence|word|protected span)\b", singular)
    if noun:
        assert f"2 {noun[1]}s" in plural and f"2 {noun[1]} " not in plural


def test_of_many_words_only_those_that_are_shown_are_remembered() -> None:
    report = TranslationReport()
    for number in range(1_000):
        report.add(make_translation({"carried": (f"Xa{number}", "Xa0"), "read_as": (ReadAs(f"teh{number}", "the"),)}))
    assert len(pickle.dumps(report)) < len(pickle.dumps(TranslationReport())) + 1_000
    carried, misread = "Xa0, Xa1, Xa2, Xa3, Xa4 ...", "teh0 as the, teh1 as the, teh2 as the"
    summary = read_summary(report)
    assert all(told in summary for told in ("2,000 source words", carried, "1,000 source words", misread))


def test_every_fault_has_a_noun() -> None:
    assert {check.name for check in CHECKS if check.repaired and check.unrepaired} == set(get_args(Fault))


@pytest.mark.parametrize("kind", get_args(CheckKind))
def test_the_summary_names_the_rule_of_a_failed_check(kind: CheckKind) -> None:
    assert "rules:" not in read_summary(make_report("carried", 1))
    assert f"rules: docs/rules.md{CHECK_ROWS[kind].anchor}; " in read_summary(make_report(f"check {kind}", 1))


def test_much_to_tell_takes_six_lines_and_names_every_kind() -> None:
    report = make_report("carried", 40)
    for event, fields in EVENTS.items():
        if event != "check language":
            report.add(make_translation(fields))
    lines = report.list_remarks()
    assert len(lines) == LINES_MOST == 6 and sum(not line.is_warning for line in lines) == 1
    told = " ".join(line.text for line in lines)
    assert all(CHECK_ROWS[kind].summary in told for kind in get_args(CheckKind) if kind not in NEVER_COUNTED)
    assert "41 source words were copied unchanged" in told and "translated again" in told
    assert re.search(rf"1 {CHECK_ROWS['confidence'].summary} \(line \d+\);", told)  # in brief, too


def test_little_to_tell_is_told_in_full_and_nothing_takes_no_line() -> None:
    assert make_report("origin network", 3).list_remarks() == []
    assert "Kazimierz" in read_summary(make_report("carried", 1))
    (unknown,) = make_report("unknown", 1).list_remarks()
    assert unknown.text == "1 source word was outside the vocabulary, and read as unknown: lodger"


def test_a_wrong_direction_is_all_that_is_told() -> None:
    report = make_report("check language", 3)
    report.add(make_translation(EVENTS["check numbers"]))
    first, ending = report.list_remarks()
    assert first.text.startswith("most lines are already in")
    assert "#check-language" in ending.text and "#check-numbers" not in ending.text


def test_a_file_in_another_language_is_an_error_that_names_it() -> None:
    report = TranslationReport(files=FileSummaries(are_apart=True), languages=("eng", "deu"))
    for name, kinds in (("a.txt", ["language"] * 3 + ["length"]), ("b.txt", ["length"] * 3), ("c.txt", ["language"])):
        report.files.begin_file(name)
        for kind in kinds:
            report.add(make_translation(EVENTS[f"check {kind}"]))
    with pytest.raises(DataError, match=r"^most lines of a\.txt are already in German\n") as raised:
        report.require_faultless(strict=False)
    assert raised.value.hint == "all lines were written; for the opposite direction: --model deu-eng"
    for _ in range(9):
        report.add(make_translation({"checks": (FailedCheck("other language", "the source looks like French"),)}))
    assert report.describe_languages("a.txt").hint == "all lines were written" and not report.describe_languages().hint
    assert report.describe_languages().message.endswith("of this model: the source looks like French")


def test_every_kind_of_check_has_one_row() -> None:
    assert sorted(check.name for check in CHECKS) == sorted(get_args(CheckKind))


@pytest.mark.parametrize(("number", "found"), [(1, "1 line, 1 needs review"), (2, "2 lines, 2 need review")])
def test_the_page_counts_its_texts(number: int, found: str) -> None:
    qa = make_report("check loop", number).qa
    assert qa is not None
    text = re.sub(r"<[^>]*>", " ", render_page(qa))
    assert found.split(", ")[0] in text and found.split(", ")[1] in text


def test_of_several_files_a_text_has_its_number_in_its_file() -> None:
    report = TranslationReport(source_cuts=SourceCuts("line"), files=FileSummaries(are_apart=True))
    report.qa = QaReport(TITLES, "x", ("en", "de"), "line")
    for name, events in (("a.txt", ("none", "check numbers", "check numbers")), ("b.txt", ("none", "check numbers"))):
        report.files.begin_file(name)
        for event in events:
            report.add(make_translation(EVENTS.get(event, {})))
    assert "(lines 2 [2 times] of a.txt; 2 of b.txt)" in read_summary(report)
    assert [(entry.where, entry.number) for entry in report.qa.entries] == [("a.txt", 2), ("a.txt", 3), ("b.txt", 2)]


def test_two_texts_of_a_line_name_it_once() -> None:
    report = TranslationReport()
    failing = [Failing("", "line", name, source) for name, source in (("6", "a"), ("6", "b"))]
    report.first_failures["number"], report.failures["number"] = failing, 2
    assert report.name_texts("number") == " (line 6)"
    failing += [Failing("", "line", "7", "c")]
    report.failures["number"] = 4
    assert report.name_texts("number") == " (lines 6, 7 ...)"


@pytest.mark.parametrize(
    ("origin", "leaves_out", "warnings"),
    [
        ("network", False, [True]),
        ("network", True, []),  # the texts of the memory may be in files that are up to date
        ("memory", False, [False]),
        ("memory", True, [False]),
    ],
)
def test_a_memory_that_has_no_text_is_reported(origin: str, leaves_out: bool, warnings: list[bool]) -> None:
    report = TranslationReport(memory=TranslationMemory(), leaves_out=leaves_out, languages=("eng", "deu"))
    report.add(make_translation({"origin": origin}))
    remarks = report.list_remarks()
    assert [remark.is_warning for remark in remarks] == warnings
    assert ["as in a --report" in remark.text for remark in remarks] == warnings


def test_a_memory_whose_pairs_guide_is_no_warning() -> None:
    report = TranslationReport(memory=TranslationMemory(), languages=("eng", "deu"), source_cuts=SourceCuts("line"))
    report.add(make_translation({"guides": (("a b", "c d"),)}))
    text = "  1 of 1 line guided by similar pairs of the translation memory"
    assert [(remark.text, remark.is_warning) for remark in report.list_remarks()] == [(text, False)]


@pytest.mark.parametrize(
    ("pairs", "recalled", "left_out", "ending"),
    [
        (2, ["pair 0"], {}, '; no text matches 1 pair: "pair 1"'),
        (
            50,
            ["pair 1"],
            {},
            '; no text matches 49 pairs: "pair 0", "pair 2", "pair 3" ... (add --report qa.html to see them all)',
        ),
        (2, ["pair 0", "pair 1"], {}, ""),
        (2, ["pair 0"], {"leaves_out": True}, ""),  # which texts that stay as they are may have
        (2, ["pair 0"], {"keeps_edited": True}, '; no text of the other files matches 1 pair: "pair 1"'),
        (51, ["pair 0"], {}, ""),  # no file of corrections
    ],
)
def test_corrections_that_no_text_has_are_named(
    pairs: int, recalled: list[str], left_out: dict[str, bool], ending: str
) -> None:
    memory, of_file, of_another = TranslationMemory(), TranslationMemory(), TranslationMemory()
    for number in range(pairs):
        of_file.add(f"pair {number}", "Paar")
    for number in range(60):
        of_another.add(f"another {number}", "anderes")
    memory.update(of_file)
    memory.update(of_another)
    report = TranslationReport(memory=memory, languages=("eng", "deu"), **left_out)  # type: ignore[arg-type]
    report.add(make_translation({})._replace(source=" "))  # which the line of its file leaves out, too
    report.add(make_translation({"origin": "memory", "recalled": tuple(recalled)}))
    assert [remark.text for remark in report.list_remarks()] == [f"  1 of 1 line from the translation memory{ending}"]


def test_texts_with_several_translations_in_the_memory_are_counted_once(tmp_path: Path) -> None:
    report = TranslationReport(memory=TranslationMemory(), languages=("eng", "deu"), path=str(tmp_path / "qa.json"))
    report.qa = QaReport(TITLES, "x", ("en", "de"), "line")
    rivals = (Rival("Book", "Buch", "Buchen"), Rival("Book", "Buchung", "Buchen"), Rival("Go", "Los", "Weiter"))
    for _ in range(2):
        report.add(make_translation({"origin": "memory", "recalled": ("Book", "Go"), "rivals": rivals}))
    said = "2 texts have several translations in the translation memory, of which the last counts: "
    assert report.list_remarks()[0].text.startswith(f'{said}"Book" is "Buchen", not "Buch"; name the file')
    report.memory = TranslationMemory()
    of_file = TranslationMemory()
    of_file.add("Book", "Buchen")
    of_file.add("Bok", "Buchen")
    report.memory.update(of_file)
    document = open_bytes("text", b"Go\n")
    document.noted.append(TornText(7, "Go <b>on</b>", "marks left out", False))
    report.add_notes([document], SimpleNamespace(replacements=0))
    report.write_qa()
    assert json.loads((tmp_path / "qa.json").read_text())["remarks"] == {
        "marks left out": ["x.text, line 7: Go <b>on</b>"],
        "pairs of the translation memory that match no text": ["Bok -> Buchen"],
    }


@pytest.mark.parametrize(
    ("bleu", "gain", "remarks"),
    [
        (4.9, None, ["this model can hardly translate: BLEU 4.9 on its development set"]),
        (5.0, None, []),
        (4.9, 9.0, []),  # words are long, and most of each is right
        (
            4.9,
            3.0,
            [
                "this model can hardly translate: BLEU 4.9, and chrF 3.0 points above that of random sentences, on its "
                "development set"
            ],
        ),
    ],
)
def test_a_model_that_can_hardly_translate_or_rate_says_so(bleu: float, gain: float | None, remarks: list[str]) -> None:
    report = TranslationReport(bleu=bleu, gain=gain, unrated="its development set has 9 sentences")
    report.add(make_translation({"origin": "network"}))
    unrated = ["  this model cannot estimate its confidence: its development set has 9 sentences"]
    assert [remark.text for remark in report.list_remarks()] == (remarks or unrated)


@pytest.mark.parametrize(
    ("thing", "texts", "expected"),
    [
        (
            "text",
            ["Ich danke Ihnen.", "Kannst du kommen?", "Haben Sie Zeit?", "Ja."],
            ["people are addressed formally in 2 texts, informally in 1 (text 2)"],
        ),
        ("text", ["Ich danke Ihnen.", "Haben Sie Zeit?"], []),
        ("line", ["Ich danke Ihnen.", "Kannst du kommen?"], []),  # which need not be one text
    ],
)
def test_a_document_that_addresses_people_in_two_ways_is_reported(
    thing: str, texts: list[str], expected: list[str]
) -> None:
    report = TranslationReport(source_cuts=SourceCuts(thing), languages=("eng", "deu"))
    for text in texts:
        report.add(make_translation({"hypotheses": (HYPOTHESIS._replace(text=text),)}))
    assert [remark.text for remark in report.list_remarks()] == expected
