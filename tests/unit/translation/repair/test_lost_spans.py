"""Dates that a network loses are carried, as the target language writes them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.carrying.kinds import IF_LOST
from nmt_cli.carrying.numbers import NumberNotation
from nmt_cli.carrying.prose_marks import BRACKET_PAIRS
from nmt_cli.carrying.spans import NO_CONTEXT, Attempt
from nmt_cli.search.config import SamplingOptions, SearchOptions
from nmt_cli.sources.source import TextSource
from nmt_cli.translation.config import LineOptions, RepairOptions, TranslateOptions
from nmt_cli.translation.repair.asks import MOST_ASKED
from nmt_cli.translation.result import Repair
from nmt_cli.translation.segmentation.line_reader import LineReader
from nmt_cli.translation.translator import LineTranslator
from support.adversary import Adversary
from support.scripted_translator import SUBWORDS, ScriptedTranslator, repair_line


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
        ("they came on March 3 at 10:30 to go.", "they came am 3. März um 10:30 to go."),
        ("they came on March 3, 10:30 to go.", "they came am 3. März, 10:30 to go."),
        ("they came on March 3 at 10 miles.", "they came am 3. März at 10 miles."),
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


# Numbers that a network loses are carried, by one that has learned placeholders and by others.


def test_a_lost_small_number_is_carried_in_a_second_search() -> None:
    translator = ScriptedTranslator(lambda line: line.replace("3 cats", "7 cats"))
    translation = repair_line(translator, "we have 3 cats.")
    assert translator.given == ["we have 3 cats.", "we have ⟦0⟧ cats."]
    assert translation.text == "we have 3 cats."
    assert translation.repairs == (Repair("numbers", "protected number"),)
    assert [placed.text for placed in translation.placed] == ["3"]


def test_a_line_of_losses_is_searched_again_within_a_budget() -> None:
    translator = ScriptedTranslator(lambda line: line.replace("3 cats", "7 cats"))
    text = repair_line(translator, "we have 3 cats. " * (MOST_ASKED + 8)).text
    assert (text.count("3 cats"), text.count("7 cats")) == (MOST_ASKED, 8)
    assert len(translator.given) == 2 * MOST_ASKED + 8


def test_with_one_lost_number_all_are_carried_lest_another_is_lost() -> None:
    translator = ScriptedTranslator(lambda line: line.replace("3", "7") if "⟦" not in line else line.replace("4", "9"))
    assert repair_line(translator, "we have 3 cats and 4 dogs.").text == "we have 3 cats and 4 dogs."
    assert translator.given[1:] == ["we have ⟦0⟧ cats and ⟦1⟧ dogs."]


def test_small_numbers_that_are_right_are_left_to_the_network() -> None:
    translator = ScriptedTranslator(str)
    assert repair_line(translator, "they came in 1972 with 12 of 345 boxes.").repairs == ()
    assert translator.given == ["they came in ⟦0⟧ with 12 of ⟦1⟧ boxes."]


def test_a_network_without_placeholders_loses_no_number_either() -> None:
    line = "they came in 1972 with 12 of 345 boxes."
    translator = ScriptedTranslator(lambda text: text.replace("1972", "1927"), copies_placeholders=False)
    translation = repair_line(translator, line)
    assert translator.given[0] == line
    assert {"1972", "12", "345"} <= set(translation.text.replace(".", " ").split())
    assert translation.repairs[-1] == Repair("numbers", "protected number")


@pytest.mark.parametrize(
    ("kept", "text"), [("/", "we have 3 cats (and goats/dogs)."), (" ", "we have 7 cats (and goats/dogs).")]
)
def test_what_a_second_search_loses_is_carried_in_a_third_and_none_that_loses_as_much_is_kept(
    kept: str, text: str
) -> None:
    def rule(line: str) -> str:
        if "⟦" not in line:
            return line.replace("3", "7")
        return line.translate(str.maketrans("()", "  ")) if "(" in line else line.replace("/", kept)

    translation = repair_line(ScriptedTranslator(rule), "we have 3 cats (and goats/dogs).")
    assert translation.text == text and bool(translation.repairs) == (kept == "/")


def test_what_one_kind_lost_is_carried_though_another_stays_lost() -> None:
    rule = str.maketrans("3/", "7 ")
    translator = ScriptedTranslator(lambda line: " ".join(line.translate(rule).split()[:4]) + ".")
    translation = repair_line(translator, "we have 3 cats/dogs.")
    assert translation.text == "we have 3 cats." and translation.repairs == (Repair("numbers", "protected number"),)


def test_samples_stay_as_drawn_and_no_repair_means_no_second_search() -> None:
    translator = ScriptedTranslator(lambda line: line.replace("3", "7"))
    sampling = SearchOptions(sampling=SamplingOptions(sample=True))
    assert repair_line(translator, "we have 3 cats.", sampling).text == "we have 7 cats."
    assert translator.translate(["we have 3 cats."], TranslateOptions(SearchOptions()))[0].text == "we have 7 cats."


def test_numbers_are_written_as_the_target_writes_them() -> None:
    class Marks:
        def find_target_decimal(self, mark: str) -> str | None:
            return "," if mark == "." else None

        def find_target_thousands(self, mark: str) -> str | None:
            return None

    translator = ScriptedTranslator(str)
    translator.reader.context = translator.reader.context._replace(
        write_number=NumberNotation(".", ",", Marks()).convert
    )
    assert repair_line(translator, "it is 2.5 miles, no 10.0.0.1.").text == "it is 2,5 miles, no 10.0.0.1."
    assert repair_line(translator, " 2.5 ").text == " 2,5 "


def test_references_of_html_come_back_for_letters_and_quotes() -> None:
    translator = ScriptedTranslator(str)
    line = "we don&#39;t &quot;go&quot; &amp; it&nbsp;is &lt;3."
    assert repair_line(translator, line).text == line
    assert translator.given[0] == 'we don\'t "go" & it is ⟦0⟧3.'


def test_texts_of_an_invented_placeholder_are_found_again() -> None:
    lines = ["we have cats.", "we have {x} cats."]
    for seed in range(1, 9):
        translator = LineTranslator(Adversary(SUBWORDS.vocabulary_size, seed), TextSource(SUBWORDS), SUBWORDS)
        for translation in translator.translate(
            lines, TranslateOptions(SearchOptions(beam_size=1), repair=RepairOptions())
        ):
            failed = any(repair.remedy is None for repair in translation.repairs)
            allowed = translation.source.count("{x}")
            tokens = translation.hypotheses[0].tokens
            assert failed or sum(token in SUBWORDS.placeholder_ids for token in tokens) <= allowed


def test_a_lost_ordinal_is_written_as_the_target_writes_it() -> None:
    translator = ScriptedTranslator(lambda line: line if "⟦" in line else line.replace("3rd", ""))
    translation = repair_line(translator, "the 3rd dog is it.")
    assert translator.given == ["the 3rd dog is it.", "the ⟦0⟧ dog is it."]
    assert translation.text == "the 3. dog is it."


def test_the_stop_of_an_ordinal_ends_the_sentence_too() -> None:
    translator = ScriptedTranslator(lambda line: line if "⟦" in line else line.replace("4th", ""))
    assert repair_line(translator, "it is the 4th.").text == "it is the 4."


def test_of_two_equal_numbers_none_gets_lost() -> None:
    translator = ScriptedTranslator(lambda line: line.replace("3 cats and 3 dogs", "3 cats"))
    assert repair_line(translator, "we have 3 cats and 3 dogs.").text == "we have 3 cats and 3 dogs."
    assert translator.given[1:] == ["we have ⟦0⟧ cats and ⟦1⟧ dogs."]


def test_a_piece_of_numbers_alone_is_kept_once_they_are_found_lost() -> None:
    translator = ScriptedTranslator(lambda line: "o'clock")
    assert repair_line(translator, "4th {name}").text == "4. {name}"


def test_a_span_with_a_full_stop_ends_its_sentence_alone() -> None:
    translator = ScriptedTranslator(lambda line: line.replace("we sleep ⟦0⟧ long.", "long we sleep ⟦0⟧."))
    translator.reader.context = translator.reader.context._replace(languages=("eng", "deu"))
    assert repair_line(translator, "we sleep 3 hrs. long.").text == "long we sleep 3 Std."


# Brackets and slashes that a network loses are put around the same words again.


def translate_without_marks(line: str, *, loses: str = "()[]/") -> tuple[str, list[str], tuple[Repair, ...]]:
    """What a network writes that writes lines as they are, but for marks; what it reads; and the repairs.

    Attention places each mark between its words, so that nobody needs to check its place.
    """
    rule = str.maketrans(dict.fromkeys(loses, " "))
    translator = ScriptedTranslator(lambda text: " ".join(text.translate(rule).split()))
    translation = repair_line(translator, line)
    assert not any(placed.doubtful for placed in translation.placed if placed.text in "()[]/")
    return translation.text, translator.given, translation.repairs


@pytest.mark.parametrize(
    "line",
    [
        "we have (they came) cats.",
        "we [have] cats and (miles to) go.",
        "we have (it is [they came] to go) dogs.",
        "we have cats/dogs.",
    ],
)
def test_lost_marks_stand_around_the_same_words_again(line: str) -> None:
    text, read, repairs = translate_without_marks(line)
    assert text == line
    assert len(read) == 2 and not set("()[]/") & set(read[1])
    assert repairs == (Repair("brackets", "protected brackets"),)


@pytest.mark.parametrize("sign", ["©", "§", "†", "→", "∞", "⌘", "▶"])
def test_a_lost_sign_is_carried_but_not_many(sign: str) -> None:
    text, read, repairs = translate_without_marks(f"we {sign} have cats.", loses=sign)
    assert text == f"we {sign} have cats." and read[1] == "we ⟦0⟧ have cats."
    assert repairs == (Repair("brackets", "protected brackets"),)
    _, read, _ = translate_without_marks(f"we {sign} have {sign} cats {sign} too.", loses=sign)
    assert len(read) == 1


@pytest.mark.parametrize("line", ["we have cats.", "we have cats/dogs.", ":-( we have."])
def test_marks_that_are_there_are_left_to_the_network(line: str) -> None:
    _, read, repairs = translate_without_marks(line, loses="")
    assert len(read) == 1 and repairs == ()


@pytest.mark.parametrize(("price", "verb"), [(0.1, "have"), (0.0, "miss"), (-0.1, "miss")])
def test_where_no_bracket_is_lost_the_likelier_translation_is_taken(price: float, verb: str) -> None:
    translator = ScriptedTranslator(lambda text: text.replace("have", "miss") if "(" in text else text, price=price)
    translation = repair_line(translator, "we have (cats).")
    assert (translation.text, translation.repairs) == (f"we {verb} (cats).", ())
    assert translator.given == ["we have (cats).", "we have cats."]


@pytest.mark.parametrize("line", ["we have dog(s).", "we have (cats.", "we have 1/2 dogs.", "we have cats) and dogs."])
def test_marks_within_a_word_or_without_a_partner_are_not_searched_again(line: str) -> None:
    _, read, _ = translate_without_marks(line)
    assert len(read) == 1


def test_a_slash_between_words_for_which_one_was_written_stays_lost() -> None:
    translator = ScriptedTranslator(lambda text: "we have cats." if "/" in text else "we have cats")
    translation = repair_line(translator, "we have cats/dogs.")
    assert translation.text == "we have cats." and len(translator.given) == 2 and translation.repairs == ()


@given(st.text("ab ()[]{}/", max_size=30))
def test_brackets_come_in_pairs(text: str) -> None:
    spans = BRACKET_PAIRS.find_pairs(text)
    assert [span.text for span in spans] == [text[span.start : span.end] for span in spans]
    assert sum(not span.pair.closes for span in spans) == sum(span.pair.closes for span in spans)
    depth = 0
    for span in spans:
        depth += -1 if span.pair.closes else 1
        assert depth >= 0


@given(st.text("ab ()[]/", max_size=30))
def test_nothing_is_lost_where_the_translation_is_the_source(text: str) -> None:
    for piece in LineReader(LineOptions(), copies_placeholders=True).split_line(text):
        same = Attempt(piece.segment.text, piece.segment.spans, piece.text, piece.text, lambda span: True)
        assert [kind.list_carried(same, NO_CONTEXT) for kind in IF_LOST] == [[]] * len(IF_LOST)
