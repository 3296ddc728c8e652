"""Tests of `rewriting/case.py`.

Texts are brought into the case that training has, and only those that are not in it. The first word after a span or
a part of a sentence has no capital, unless it always has one.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.rewriting.case import Continued, capitalise_text, lower_text, upper_text
from nmt_cli.rewriting.protocol import Written
from support.rewriting import CASED, change, make_caser, model_text, read

LOWER = tuple(sentence.lower() for sentence in CASED)


def fold(text: str, **options: bool) -> str:
    return read(make_caser(), text, **options)


@pytest.mark.parametrize("text", CASED)
def test_a_text_in_usual_case_is_never_touched(text: str) -> None:
    assert change(make_caser(), text) is None


WORDS = ["Peter", "Rome", "BBC", "dog", "bridge", "I", "NATO", "I'm", "the", "Peter's", "xyzzy", "Qwertz", "SQL", "7"]


@given(st.lists(st.sampled_from(WORDS), min_size=1))
def test_words_in_usual_case_and_unknown_ones_stay(words: list[str]) -> None:
    text = capitalise_text(" ".join(words), "en")
    assert fold(text) in (text, capitalise_text(text.lower(), "en")) or text.isupper()


def test_a_word_hardly_ever_in_capitals_is_read_in_its_usual_case() -> None:
    """NOT is the name of a function in one sentence of 300, US that of a country in one of 100."""
    rare = ["I do not see us here."] * 299 + ["We say that NOT is a word."] + ["They live in the US, I think."] * 3
    case = make_caser(tuple(rare))
    assert read(case, "You do NOT see it") == "You do not see it"
    assert read(case, "NOT HERE") == "Not here"
    assert read(case, "I see the US here") == "I see the US here"


def test_a_part_of_a_line_with_capitals_may_begin_small() -> None:
    assert fold("and the dog", has_capitals=True) == "and the dog"
    assert fold("and peter", begins_sentence=False) == "and Peter"


def test_roles_after_a_determiner_say_nothing_where_all_nouns_have_capitals() -> None:
    for text in ("They say that the River is old.", "They say that any River (the River) is old."):
        assert change(make_caser(), text) is not None and change(make_caser(language="de"), text) is None


def test_a_corpus_in_lower_case_wants_no_capitals() -> None:
    assert change(make_caser(LOWER), "where is peter?") is None
    cased = change(make_caser(LOWER), "WHERE IS PETER?")
    assert cased is not None and cased[0].text == "Where is peter?"


@given(st.text())
def test_origins_belong_to_the_text(text: str) -> None:
    text = " ".join(text.split())
    cased = change(make_caser(), text)
    if cased is not None:
        folded = cased[0]
        assert len(folded.origins) == len(folded.text) and list(folded.origins) == sorted(folded.origins)
        assert all(0 <= origin < len(text) for origin in folded.origins)


def test_a_dotted_i_stays_dotted() -> None:
    assert (
        upper_text("istanbul ılık", "tr") == "İSTANBUL ILIK" and lower_text("İSTANBUL ILIK", "tur") == "istanbul ılık"
    )
    assert capitalise_text("ꞌana", "tar") == "ꞌana"  # whose capital Ꞌ is seldom written
    assert capitalise_text("(istanbul", "tr") == "(İstanbul" and upper_text("istanbul", "en") == "ISTANBUL"


PAIRS = [("Then we go home.", "Dann gehen wir nach Hause."), ("You can do it today.", "Heute können Sie es tun.")]


def translate(text: str, translation: str, spans: tuple[str, ...] = (), **context: bool) -> str:
    rewrite = Continued.from_model(model_text(PAIRS))
    assert rewrite is not None
    changed = change(rewrite, text, **context)
    return translation if changed is None else rewrite.write(translation, changed[1], Written(spans))


@pytest.mark.parametrize(
    ("translation", "expected"),
    [
        ("Am 3. Mai Wir gehen", "Am 3. Mai wir gehen"),
        ("Am 3. Mai, Wir gehen", "Am 3. Mai, wir gehen"),
        ("<b>Am 3. Mai</b> Wir gehen", "<b>Am 3. Mai</b> wir gehen"),
        ("Am 3. Mai. Wir gehen", "Am 3. Mai. Wir gehen"),  # another sentence
        ("Am 3. Mai Sie gehen", "Am 3. Mai Sie gehen"),  # always has a capital
        ("Am 3. Mai Hause gehen", "Am 3. Mai Hause gehen"),
        ("Am 3. Mai WIR gehen", "Am 3. Mai WIR gehen"),
        ("Am 3. Mai", "Am 3. Mai"),
        ("Wir gehen Am 3. Mai", "Wir gehen Am 3. Mai"),  # the span is elsewhere
    ],
)
def test_a_word_behind_a_span_that_begins_the_sentence(translation: str, expected: str) -> None:
    assert translate("⟦0⟧ we go.", translation, ("Am 3. Mai", "<b>", "</b>")) == expected
    assert translate("⟦0⟧ We go.", translation, ("Am 3. Mai", "<b>", "</b>")) == translation


def test_the_first_word_of_a_part_of_a_sentence() -> None:
    assert translate("we go.", "Wir gehen.", begins_sentence=False) == "wir gehen."
    assert translate("We go.", "Wir gehen.", begins_sentence=False) == "Wir gehen."
    assert translate("we go.", "Wir gehen.") == "Wir gehen."


@pytest.mark.parametrize(
    ("source", "translation", "expected"),
    [
        ("Anna (we know her) sings.", "Anna, (Wir kennen sie) singt.", "Anna (wir kennen sie) singt."),
        ("Anna, (we know her) sings.", "Anna, (Wir kennen sie) singt.", "Anna, (wir kennen sie) singt."),
        ("Anna (We know her) sings.", "Anna (Wir kennen sie) singt.", "Anna (Wir kennen sie) singt."),
        ("Anna (house) sings.", "Anna (Hause) singt.", "Anna (Hause) singt."),
        ("We go.", "Anna, (Wir) gehen.", "Anna, (Wir) gehen."),
    ],
)
def test_brackets_have_no_capital_and_no_comma_that_the_source_lacks(
    source: str, translation: str, expected: str
) -> None:
    rewrite = Continued.from_model(model_text(PAIRS))
    assert rewrite is not None and rewrite.keep(source, translation) == expected


@pytest.mark.parametrize(
    ("source", "translation", "expected"),
    [
        ("The dog sleeps.", "der Hund schläft.", "Der Hund schläft."),
        ("the dog sleeps.", "der Hund schläft.", "der Hund schläft."),
        ("Peter said.", "sagte Peter.", "sagte Peter."),
        ("The dog of iRobot", "iRobot hat einen Hund", "iRobot hat einen Hund"),
        ("I see.", "ich sehe.", "ich sehe."),
        ("iOS is new.", "IOS ist neu.", "iOS ist neu."),
        ("The macOS and GitHub pages", "Die MacOS- und Github-Seiten", "Die macOS- und GitHub-Seiten"),
        ("oTm is new.", "OTM ist neu.", "OTM ist neu."),
        ("The settings of iOS", "IOS-Einstellungen", "iOS-Einstellungen"),
        ("BUY AN IPHONE", "Kaufen Sie ein iPhone", "Kaufen Sie ein iPhone"),
        ("The house is under", "der Hund", "Der Hund"),
    ],
)
def test_a_sentence_keeps_its_capital_unless_its_first_word_always_has_it(
    source: str, translation: str, expected: str
) -> None:
    assert make_caser((*CASED, "It has iOS, macOS and GitHub.")).keep(source, translation) == expected
