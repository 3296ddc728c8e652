"""Numbers that a network loses are carried, by one that has learned placeholders and by others."""

from nmt_cli.carrying.numbers import NumberNotation
from nmt_cli.search.config import SamplingOptions, SearchOptions
from nmt_cli.sources.source import TextSource
from nmt_cli.translation.config import RepairOptions, TranslateOptions
from nmt_cli.translation.repair.asks import MOST_ASKED
from nmt_cli.translation.result import Repair
from nmt_cli.translation.translator import LineTranslator
from support.adversary import Adversary
from support.scripted_translator import SUBWORDS, ScriptedTranslator, repair_line


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


def test_a_second_search_that_loses_as_much_is_not_kept() -> None:
    brackets = str.maketrans("", "", "()")

    def rule(line: str) -> str:
        return line.replace("3", "7") if "⟦" not in line else line.translate(brackets)

    translation = repair_line(ScriptedTranslator(rule), "we have 3 cats (and dogs).")
    assert translation.text == "we have 7 cats (and dogs)." and translation.repairs == ()


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
    assert translator.given[0] == 'we don\'t "go" ⟦0⟧ it is ⟦1⟧3.'


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
