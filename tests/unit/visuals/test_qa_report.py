import json
import re
from html import escape
from pathlib import Path

import pytest

from nmt_cli.rewriting.slips import ReadAs
from nmt_cli.translation.result import FailedCheck, Hypothesis, LeastSure, Placed, Repair, Rival
from nmt_cli.visuals.qa_report import (
    ENTRIES_SHOWN,
    UNSURE_SHOWN,
    CheckTitle,
    QaReport,
    mark_sentence,
    render_json,
    render_page,
)
from support.translations import same

TITLES = {
    "numbers": CheckTitle("with other numbers", "docs/rules.md#check-numbers"),
    "length": CheckTitle("of unusual length", "docs/rules.md#check-length"),
}
WRONG = (FailedCheck("length", "too <short>"), FailedCheck("numbers", "number 7 missing"))


def report(*texts: str, failed: tuple[FailedCheck, ...] = WRONG) -> QaReport:
    """A report of these texts, of which those with a digit failed checks."""
    collected = QaReport(TITLES, "a & b.txt", ("eng", "deu"))
    for text in texts:
        checks = failed if any(map(str.isdigit, text)) else ()
        collected.add(same(text)._replace(checks=checks, repairs=(Repair("loop", "wider beam"), Repair("empty", None))))
    return collected


def test_only_what_failed_is_kept_with_its_number() -> None:
    collected = report("good", "bad 7", "good", "bad 8")
    assert [(entry.number, entry.source) for entry in collected.entries] == [(2, "bad 7"), (4, "bad 8")]
    assert collected.texts == 4
    assert list(collected.counts.items()) == [("numbers", 2), ("length", 2)]


def test_json_has_all_of_it() -> None:
    document = json.loads(render_json(report("good", "bad 7")))
    assert (document["texts"], document["failed"], document["checks"]) == (2, 1, {"numbers": 1, "length": 1})
    assert document["rules"] == {kind: title.rule for kind, title in TITLES.items()}
    assert document["entries"] == [
        {
            "number": 2,
            "source": "bad 7",
            "translation": "bad 7",
            "checks": [
                {"kind": "length", "message": "too <short>"},
                {"kind": "numbers", "message": "number 7 missing"},
            ],
            "changes": {"translated again": ["wider beam"]},
            "confidence": None,
            "from": "network",
        }
    ]


def with_spans(*texts: str) -> Hypothesis:
    """A hypothesis in which spans were placed."""
    placed = tuple(Placed(text, "attention", False) for text in texts)
    return same("word").hypotheses[0]._replace(spans=placed)


def test_every_change_is_shown_also_of_what_failed_no_check() -> None:
    collected = QaReport(TITLES, "a.txt", ("eng", "deu"))
    changes: list[tuple[str, dict[str, object], str]] = [
        ("read", {"readings": (ReadAs("<TEH>", "the"),)}, "<TEH> as the"),
        ("protected", {"hypotheses": (with_spans("<1>", "<1>"),)}, "<1>"),
        ("kept", {"kept": ("Price",)}, "Price"),
        ("translated again", {"repairs": (Repair("loop", "wider beam"),)}, "wider beam"),
        ("other pairs of the translation memory", {"rivals": (Rival("Book", "Buch", "Buchen"),)}, "Buch"),
    ]
    for _, fields, _ in changes:
        collected.add(same("word")._replace(**fields))  # type: ignore[arg-type]
    document, page = json.loads(render_json(collected)), render_page(collected)
    assert [entry["changes"] for entry in document["changed"]] == [{name: [text]} for name, _, text in changes]
    assert all(f"<dt>{name}</dt><dd>{escape(text)}</dd>" in page for name, _, text in changes)


def test_remarks_about_the_whole_are_listed() -> None:
    remarks = {"pairs that match <no> text": ["a -> b", "<c> -> d"]}
    collected = QaReport(TITLES, "a.txt", ("eng", "deu"), remarks=remarks)
    assert json.loads(render_json(collected))["remarks"] == remarks
    page = render_page(collected)
    assert "Pairs that match &lt;no&gt; text" in page and '<li dir="auto">&lt;c&gt; -&gt; d</li>' in page


def test_the_page_is_whole_escaped_and_loads_nothing() -> None:
    page = render_page(report("<script>alert(7)</script>"))
    assert "&lt;script&gt;alert(7)&lt;/script&gt;" in page and "<script>alert" not in page
    assert "with other numbers · docs/rules.md#check-numbers" in page
    assert "too &lt;short&gt;; number 7 missing" in page and "a &amp; b.txt" in page
    assert "default-src 'none'" in page and not re.search(r'(?:src|href)="(?!data:)', page)
    assert "light-dark(" in page


def test_a_page_without_a_failure_says_so() -> None:
    page = render_page(report("good"))
    assert "Of 1 line, none failed a check." in page and "<li " not in page


def test_a_page_shows_no_more_than_a_browser_can_draw() -> None:
    page = render_page(report(*(f"7 {number}" for number in range(ENTRIES_SHOWN + 3))))
    assert page.count("<li ") == ENTRIES_SHOWN and "and 3 more" in page


def test_equal_texts_are_shown_once_with_their_number() -> None:
    page = render_page(report("7", "8 7", "7", "7"))
    assert page.count("<li ") == 2 and page.count("3 times") == 1 and "need review" in page


@pytest.mark.parametrize("name", ["qa.html", "qa.JSON"])
def test_the_ending_of_the_name_says_what_is_written(tmp_path: Path, name: str) -> None:
    report("7").write(tmp_path / name)
    assert (tmp_path / name).read_text(encoding="utf-8").startswith("<!doctype" if "html" in name else "{")


def test_the_least_sure_of_those_that_failed_no_check_are_shown_too() -> None:
    collected = QaReport(TITLES, "x", ("eng", "deu"))
    for number in range(UNSURE_SHOWN + 10):
        collected.add(same(f"word{'s' * number}")._replace(confidence=(number + 1) / 100))
    collected.add(same("bad 7")._replace(confidence=0.0, checks=WRONG))
    assert [entry.number for entry in collected.least_sure] == list(range(1, UNSURE_SHOWN + 1))
    page = render_page(collected)
    assert "Least confident" in page and "confidence 0.01" in page and "Mean confidence 0.30." in page
    assert json.loads(render_json(collected))["least_sure"][0]["confidence"] == 0.01


def test_the_worst_sentence_of_a_paragraph_is_marked_on_both_sides() -> None:
    worst = LeastSure(2, "<b> is bad.", "<b> is bad.", (0.9, 0.1, 0.8))
    collected = QaReport(TITLES, "a.txt", ("eng", "deu"))
    collected.add(same("One. <b> is bad. Three.")._replace(confidence=0.1, checks=WRONG, least_sure=worst))
    collected.add(same("One. Two.")._replace(confidence=0.3))
    marked = "One. <mark>&lt;b&gt; is bad.</mark> Three.</dd>"
    assert render_page(collected).count(marked) == 2
    (entry,) = json.loads(render_json(collected))["entries"]
    assert (entry["least_sure"]["sentence"], entry["least_sure"]["confidences"]) == (2, [0.9, 0.1, 0.8])
    assert "least_sure" not in json.loads(render_json(collected))["least_sure"][0]


def test_a_sentence_that_is_written_otherwise_in_its_paragraph_is_not_marked() -> None:
    assert mark_sentence("a < b", "") == mark_sentence("a < b", "b > a") == "a &lt; b"
