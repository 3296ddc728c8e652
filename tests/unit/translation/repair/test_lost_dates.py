"""Dates that a network loses are carried, as the target language writes them."""

import pytest

from nmt_cli.translation.result import Repair
from support.scripted_translator import ScriptedTranslator, repair_line


def translate_wrongly(line: str, wrong: str, written: str) -> tuple[str, list[str], tuple[Repair, ...]]:
    """What a network writes that writes lines as they are, but for something `wrong`; what it reads; the repairs."""
    translator = ScriptedTranslator(lambda text: text.replace(wrong, written))
    translation = repair_line(translator, line)
    return translation.text, translator.given, translation.repairs


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("they came March 12 to go.", "they came 12. März to go."),
        ("they came since March 12 to go.", "they came since dem 12. März to go."),
        ("they came until March 12 to go.", "they came bis zum 12. März to go."),
        ("they came by March 12 to go.", "they came bis zum 12. März to go."),
        ("they came by *March 12* to go.", "they came bis zum *12. März* to go."),
        ("they came by <b><i>March 12</i></b> to go.", "they came bis zum <b><i>12. März</i></b> to go."),
        ("they came since _March 12_ to go.", "they came since dem _12. März_ to go."),
        ("they came by *March 12 with dogs*.", "they came by *12. März with dogs*."),  # what is within it stays there
        ("they came with dogs of March 12.", "they came with dogs vom 12. März."),
        ("they came from March 3 to March 12.", "they came vom 3. März bis zum 12. März."),
        ("they came from 3 to 12 March 1972.", "they came vom 3. März bis zum 12. März 1972."),
        ("they came from the 3rd until the 12th of March.", "they came vom 3. März bis zum 12. März."),
        ("they came from March to June to go.", "they came von März bis Juni to go."),
        ("they came from May to March 1972.", "they came von Mai bis März 1972."),
        ("From March to June they came.", "Von März bis Juni they came."),
        ("they came to March 12.", "they came to 12. März."),
        ("they came im on March 3 to go.", "they came am 3. März to go."),  # one of two prepositions
        ("they came um on March 3 to go.", "they came am 3. März to go."),  # which tells the time of day
        ("they came the 3rd of March with dogs.", "they came the 3. März with dogs."),
        ("they came in March 1972.", "they came im März 1972."),
        ("On March 3, they came.", "Am 3. März, they came."),
        ("they came on the 3rd of March with dogs.", "they came am 3. März with dogs."),
        ("they came ON MARCH 3 to go.", "they came AM 3. MÄRZ to go."),
        ("they came March 3–12 to go.", "they came 3–12. März to go."),
        ("March 12, 1972 with March 3.", "12. März 1972 with 3. März."),
    ],
)
def test_a_date_without_its_month_is_carried(line: str, expected: str) -> None:
    month = "MARCH" if "MARCH" in line else "March"
    text, read, repairs = translate_wrongly(line, month, "miles")
    assert text == expected
    assert len(read) == 2 and month not in read[1]
    assert Repair("dates", "protected date") in repairs


def test_a_date_without_its_day_is_carried() -> None:
    text, _, _ = translate_wrongly("they came March 3 to go.", "March 3", "im März")
    assert text == "they came 3. März to go."


@pytest.mark.parametrize("written", ["3 of März", "März 3", "3 März"])
def test_a_date_in_another_order_is_carried(written: str) -> None:
    text, _, _ = translate_wrongly("they came March 3 to go.", "March 3", written)
    assert text == "they came 3. März to go."


def test_a_date_that_is_there_is_left_to_the_network() -> None:
    text, read, repairs = translate_wrongly("they came March 3 to go.", "March 3", "3. März")
    assert text == "they came 3. März to go." and len(read) == 1 and repairs == ()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("they came on Wednesday with dogs.", "they came am Mittwoch with dogs."),
        ("they came from Wednesday to Friday.", "they came from Mittwoch to Freitag."),
        ("they came Wednesday night with dogs.", "they came Mittwoch night with dogs."),
    ],
)
def test_a_day_of_the_week_that_is_lost_is_carried(line: str, expected: str) -> None:
    translator = ScriptedTranslator(lambda text: text.replace("Wednesday", "weeks").replace("Friday", "Freitag"))
    translation = repair_line(translator, line)
    assert translation.text == expected and "Wednesday" not in translator.given[1]
    assert Repair("dates", "protected date") in translation.repairs


@pytest.mark.parametrize("written", ["Mittwochabend", "Mi.", "MITTWOCH"])
def test_a_day_of_the_week_in_another_form_is_left_to_the_network(written: str) -> None:
    text, read, _ = translate_wrongly("they came on Wednesday with dogs.", "Wednesday", written)
    assert len(read) == 1 and written in text
