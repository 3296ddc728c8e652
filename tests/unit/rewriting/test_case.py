"""Tests of `rewriting/case.py`.

Texts are brought into the case that training has, and only those that are not in it. The first word behind a span or
a part of a sentence has no capital, unless it always has one.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.rewriting.case import Case, CasePlan, Continued, capitalise_text, lower_text, upper_text
from nmt_cli.rewriting.protocol import Written
from support.rewriting import change, model_text, read, read_profile

TRAINING = (
    "Yesterday I saw Peter in Rome with a dog.",
    "In May the old bridge may fall, I think.",
    "She works for the BBC and for NATO.",
    "We said that Peter's brother lives in the house.",
    "You know the way to the river, right?",
    "Do you know that I'm here and that she is there?",
    "The river is near the old house, they say.",
    "Where did they see the bridge? Peter knows.",
    "Please open the old window.",
)
LOWER = tuple(sentence.lower() for sentence in TRAINING)


def caser(sentences: tuple[str, ...] = TRAINING, language: str = "en") -> Case:
    profile = read_profile((sentence, sentence) for sentence in sentences)
    assert profile.source is not None
    return Case(profile.source, (language, language))


def fold(text: str, **options: bool) -> str:
    return read(caser(), text, **options)


def plan_of(text: str) -> CasePlan | None:
    cased = change(caser(), text)
    assert cased is not None
    return cased[1]


@pytest.mark.parametrize("text", TRAINING)
def test_a_text_in_usual_case_is_never_touched(text: str) -> None:
    assert change(caser(), text) is None


WORDS = ["Peter", "Rome", "BBC", "dog", "bridge", "I", "NATO", "I'm", "the", "Peter's", "xyzzy", "Qwertz", "SQL", "7"]


@given(st.lists(st.sampled_from(WORDS), min_size=1))
def test_words_in_usual_case_and_unknown_ones_stay(words: list[str]) -> None:
    text = capitalise_text(" ".join(words), "en")
    assert fold(text) in (text, capitalise_text(text.lower(), "en")) or text.isupper()


@pytest.mark.parametrize(
    ("text", "usual"),
    [
        ("WHERE IS THE OLD BRIDGE?", "Where is the old bridge?"),
        ("PETER SAW ROME.", "Peter saw Rome."),
        ("I'M IN THE BBC HOUSE", "I'm in the BBC house"),
        ("PETER'S DOG. IS SHE NEAR?", "Peter's dog. Is she near?"),
        ("⟦0⟧ HOUSE", "⟦0⟧ house"),
        ("WHERE", "Where"),
        ('THE "5TH" DOG IN ROME." IS SHE HERE?', 'The "5th" dog in Rome." Is she here?'),
    ],
)
def test_a_line_in_capitals_is_read_in_usual_case_and_gives_capitals_back(text: str, usual: str) -> None:
    assert fold(text) == usual and plan_of(text) == CasePlan("upper")


@pytest.mark.parametrize("text", ["BBC", "NATO", "SQL", "I", "I!", "⟦0⟧", "7", "XML, SQL"])
def test_acronyms_and_unknown_words_stay_in_capitals(text: str) -> None:
    assert fold(text) == text


@pytest.mark.parametrize(
    ("text", "usual", "capitals"),
    [
        ("The Old Bridge", "The old bridge", {0, 1, 2}),
        ("Where Is the Old House?", "Where is the old house?", {0, 1, 3, 4}),
        ("Peter's Dog Is Near Rome", "Peter's dog is near Rome", {0, 1, 2, 3, 4}),
        ("Open Window", "Open window", {0, 1}),
    ],
)
def test_a_heading_is_read_in_usual_case_and_gives_capitals_back(text: str, usual: str, capitals: set[int]) -> None:
    assert fold(text) == usual and plan_of(text) == CasePlan("title", frozenset(capitals))


@pytest.mark.parametrize("text", ["I saw Rome.", "We saw the Old bridge there.", "Peter Rome", "The BBC works."])
def test_names_make_no_heading(text: str) -> None:
    assert fold(text) == text


def test_single_words_in_capitals_are_put_back_by_themselves() -> None:
    assert fold("Where is the BRIDGE?") == "Where is the bridge?"
    assert plan_of("Where is the BRIDGE?") == CasePlan("words", frozenset({3}))
    assert fold("She DID see Rome, and the BBC.") == "She did see Rome, and the BBC."


def test_a_word_hardly_ever_in_capitals_is_read_in_its_usual_case() -> None:
    """NOT is the name of a function in one sentence of 300, US that of a country in one of 100."""
    rare = ["I do not see us here."] * 299 + ["We say that NOT is a word."] + ["They live in the US, I think."] * 3
    case = caser(tuple(rare))
    assert read(case, "You do NOT see it") == "You do not see it"
    assert read(case, "NOT HERE") == "Not here"
    assert read(case, "I see the US here") == "I see the US here"


@pytest.mark.parametrize(
    ("text", "usual"),
    [
        ("They say that the River is old.", "They say that the river is old."),
        ("They say that any River (the River) is old.", "They say that any river (the river) is old."),
        ("They say that the River House is old.", "They say that the River House is old."),  # a name of two words
        ("They say that the Qwertz is old.", "They say that the Qwertz is old."),  # unknown
        ("They say that Peter River is old.", "They say that Peter River is old."),
    ],
)
def test_a_role_after_a_determiner_is_read_small(text: str, usual: str) -> None:
    assert fold(text) == usual
    if text != usual:
        assert plan_of(text) is None, "attention does not say surely which word of a translation it is"
        assert change(caser(language="de"), text) is None, "where all nouns have capitals, they say nothing"


def test_a_slip_of_the_shift_key_is_not_put_back() -> None:
    assert fold("WHere is the bRIDGE?") == "Where is the bridge?" and plan_of("WHere is she?") is None
    assert fold("HAllo and PDFs") == "Hallo and PDFs"


def test_a_line_without_capitals_is_read_as_a_sentence() -> None:
    assert fold("where did i see peter's dog?") == "Where did I see Peter's dog?"
    assert fold("i'm near. where is rome?") == "I'm near. Where is Rome?"
    assert plan_of("the bbc") is None and fold("the bbc") == "The BBC"


def test_a_part_of_a_line_with_capitals_may_begin_small() -> None:
    assert fold("and the dog", has_capitals=True) == "and the dog"
    assert fold("and peter", begins_sentence=False) == "and Peter"


def test_a_corpus_in_lower_case_wants_no_capitals() -> None:
    assert change(caser(LOWER), "where is peter?") is None
    cased = change(caser(LOWER), "WHERE IS PETER?")
    assert cased is not None and cased[0].text == "Where is peter?"


def test_scripts_without_case_stay() -> None:
    assert change(caser(), "彼は「はい。」と言った。") is None and change(caser(), "") is None


@given(st.text())
def test_origins_belong_to_the_text(text: str) -> None:
    text = " ".join(text.split())
    cased = change(caser(), text)
    if cased is not None:
        folded = cased[0]
        assert len(folded.origins) == len(folded.text) and list(folded.origins) == sorted(folded.origins)
        assert all(0 <= origin < len(text) for origin in folded.origins)


def test_a_dotted_i_stays_dotted() -> None:
    assert (
        upper_text("istanbul ılık", "tr") == "İSTANBUL ILIK" and lower_text("İSTANBUL ILIK", "tur") == "istanbul ılık"
    )
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
