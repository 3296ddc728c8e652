"""Tests of the ladder of remedies for faulty translations."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.carrying.people import COPIED_NAMES, find_missing_names
from nmt_cli.carrying.prose_marks import QUOTED_WORDS
from nmt_cli.carrying.spans import Attempt, Context
from nmt_cli.errors import OptionError
from nmt_cli.search.config import SearchOptions
from nmt_cli.search.constraints import TextId
from nmt_cli.text.profile import CorpusProfile
from nmt_cli.text.profile_building import build_profile
from nmt_cli.text.symbols import BLANK
from nmt_cli.text.tags import SentenceContext
from nmt_cli.translation.batch import TranslationBatch
from nmt_cli.translation.checks.words import CheckContext, check_coverage
from nmt_cli.translation.config import RepairOptions, TranslateOptions
from nmt_cli.translation.repair.asks import (
    AT_ONCE,
    COPIED,
    FAULTS,
    LEFT_OUT,
    MOST_ASKED,
    Ask,
    Asker,
    PieceCase,
    ask,
    judge_hypothesis,
)
from nmt_cli.translation.repair.evidence import TEXTS_PER_TRIED_WORD, replace_unknown
from nmt_cli.translation.result import Fault, Hypothesis, Repair, Translation
from support.adversary import adversarial_translator
from support.scripted_translator import SUBWORDS, ScriptedTranslator, repair_line
from support.translations import aligned

LOOP = "und so und so und so und so"


def hypothesis(text: str, source_length: int, *, finished: bool = True) -> Hypothesis:
    pieces = (*text.split(), "</s>") if finished else tuple(text.split())
    count = len(pieces)
    attention = np.full((count, source_length), 1 / source_length)
    return Hypothesis(text, tuple(range(count)), pieces, -1.0, -1.0, (-0.1,) * count, (attention,), finished)


def translation(source: str, *texts: str, finished: bool = True) -> Translation:
    pieces = (*source.split(), "</s>")
    hypotheses = tuple(hypothesis(text, len(pieces), finished=finished) for text in texts)
    return Translation(source, pieces, hypotheses, frozenset())


class StubSearch:
    """Stands for search: answers by its settings, and records what it was asked."""

    def __init__(self, **answers: str) -> None:
        self.answers = answers
        self.target = SUBWORDS
        self.configs: list[SearchOptions] = []
        self.lines: list[str] = []
        self.sizes: list[int] = []

    def search(
        self,
        texts: Mapping[TextId, str],
        config: SearchOptions,
        contexts: Mapping[TextId, SentenceContext] | None = None,
    ) -> dict[TextId, Translation]:
        assert not contexts
        self.configs.append(config)
        self.lines += texts.values()
        self.sizes.append(len(texts))
        return {text_id: translation(text, *self.answer(config).split("|")) for text_id, text in texts.items()}

    def _replace(self, judge: None) -> StubSearch:
        return self

    def answer(self, config: SearchOptions) -> str:
        return self.answers.get("wide" if config.coverage_penalty else "ban", LOOP)


class StubTools(NamedTuple):
    """The parts of a translator that are asked about faults."""

    network: StubSearch

    def judge(self, source: str, hypothesis: Hypothesis, config: SearchOptions) -> Fault | None:
        return judge_hypothesis(source, hypothesis, config)


def repair(
    search: StubSearch,
    translations: list[Translation],
    config: SearchOptions,
    ids: list[TextId] | None = None,
    row: Ask = FAULTS,
) -> list[Translation]:
    """The translations after all ways to repair faults; by default, each is of a line by itself."""
    ids = ids or [TextId(line, 0) for line in range(len(translations))]
    batch = TranslationBatch([], config, 1, RepairOptions(), None, [])
    batch.pieces = dict.fromkeys(ids)  # type: ignore[arg-type]
    asker: Any = Asker(StubTools(search), batch)  # type: ignore[arg-type]
    cases: Any = [PieceCase(*pair, None) for pair in zip(ids, translations, strict=True)]  # type: ignore[arg-type]
    changed = {case.text_id: case.translation for case in ask(asker, cases, row)}
    return [changed.get(*pair) for pair in zip(ids, translations, strict=True)]  # type: ignore[misc]


FAULTY = translation("eins zwei, drei vier", LOOP)


@pytest.mark.parametrize(
    ("answers", "text", "remedy"),
    [
        ({"ban": "one two"}, "one two", "repeats barred"),
        ({"wide": "one two"}, "one two", "wider beam"),
        ({"wide": f"{LOOP}|{LOOP} so|one two"}, "one two", "wider beam"),
        ({"ban": "one two one two", "wide": "one two"}, "one two", "wider beam"),
        ({"ban": "one two one two"}, "one two one two", "repeats barred"),
        ({"wide": "one one|one two"}, "one two", "wider beam"),
        ({}, LOOP, None),
    ],
)
def test_the_ladder_is_climbed_until_something_helps(answers: dict[str, str], text: str, remedy: str | None) -> None:
    (repaired,) = repair(StubSearch(**answers), [FAULTY], SearchOptions())
    assert repaired.text == text
    assert repaired.repairs == (Repair("loop", remedy),)


@pytest.mark.parametrize(
    ("source", "text", "context", "asked"),
    [
        ("hello", "hello", True, 1),
        ("hello", "hallo", True, 0),
        ("hello", "hello", False, 0),
        ("so", "so", True, 1),  # the answer is a loop, and stays one
    ],
)
def test_a_copy_behind_another_sentence_is_read_without_it(source: str, text: str, context: bool, asked: int) -> None:
    copy = translation(source, text)._replace(context=SentenceContext("news", (3,)) if context else None)
    search = StubSearch(**({"ban": "hallo"} if source == "hello" else {}))
    (read,) = repair(search, [copy], SearchOptions(), row=COPIED)
    assert len([line for line in search.lines if line == source]) >= asked
    assert (read.text, read is copy) == (("hallo", False) if source == "hello" and asked else (text, True))


def test_what_is_healthy_is_the_same_object_and_nothing_is_searched() -> None:
    faultless = [translation("eins zwei", "one two"), translation("", ""), translation("ha ha ha ha", "ha ha ha ha")]
    search = StubSearch()
    repaired = repair(search, faultless, SearchOptions())
    assert all(before is after for before, after in zip(faultless, repaired, strict=True))
    assert not search.configs


def test_only_the_ill_lines_are_searched_again() -> None:
    search = StubSearch(ban="one two")
    repair(search, [translation("gut so", "good"), FAULTY], SearchOptions())
    assert search.lines == [FAULTY.source]


def test_few_are_searched_together_since_all_hypotheses_are_in_memory() -> None:
    search = StubSearch(ban="one two")
    repaired = repair(search, [FAULTY] * (2 * AT_ONCE + 1), SearchOptions())
    assert search.sizes == [AT_ONCE, AT_ONCE, 1]
    assert [one.text for one in repaired] == ["one two"] * len(repaired)


def test_of_each_line_few_sentences_are_repaired_and_the_others_told() -> None:
    search = StubSearch(ban="one two")
    ids = [TextId(line, piece) for line in (5, 6) for piece in range(MOST_ASKED + line - 5)]
    repaired = repair(search, [FAULTY] * len(ids), SearchOptions(), ids)
    assert len(search.lines) == 2 * MOST_ASKED
    assert {one.repairs for one in repaired[:-1]} == {(Repair("loop", "repeats barred"),)}
    assert (repaired[-1].text, repaired[-1].repairs) == (LOOP, (Repair("loop", None),))


def test_an_empty_translation_is_not_sought_by_a_ban_on_repetition() -> None:
    search = StubSearch(wide="one two")
    (repaired,) = repair(search, [translation("eins zwei drei", "")], SearchOptions(beam_size=1))
    assert repaired.repairs == (Repair("empty", "wider beam"),)
    assert [(config.beam_size, config.coverage_penalty > 0) for config in search.configs] == [(10, True)]


def test_a_limit_that_the_user_set_is_no_fault() -> None:
    cut = translation("eins zwei drei", "one two", finished=False)
    assert judge_hypothesis(cut.source, cut.hypotheses[0], SearchOptions(max_length=2)) is None
    assert judge_hypothesis(cut.source, cut.hypotheses[0], SearchOptions(max_length=200)) == "runaway"


def test_no_more_hypotheses_come_back_than_were_wanted() -> None:
    (repaired,) = repair(StubSearch(ban="one two|two one|three"), [FAULTY], SearchOptions(n_best=2))
    assert [candidate.text for candidate in repaired.hypotheses] == ["one two", "two one"]


def test_a_users_own_stricter_ban_stays() -> None:
    search = StubSearch(ban="one two")
    repair(search, [FAULTY], SearchOptions(no_repeat_ngram=2))
    assert search.configs[0].no_repeat_ngram == 2


def test_the_widest_beam_is_healed_without_asking_for_an_impossible_one() -> None:
    (repaired,) = repair(StubSearch(), [FAULTY], SearchOptions(beam_size=1000))
    assert repaired.repairs == (Repair("loop", None),)


@pytest.mark.parametrize("invented", ["⟦3⟧ zwei", "⟦0⟧ ⟦0⟧ zwei", "eins ⟦0⟧ ⟦7⟧"])
def test_a_placeholder_of_nothing_is_searched_again_with_it_barred(invented: str) -> None:
    search = StubSearch(ban="⟦0⟧ two")
    (result,) = repair(search, [translation("⟦0⟧ zwei drei", invented)], SearchOptions())
    assert result.text == "⟦0⟧ two"
    assert result.repairs == (Repair("placeholder", "barred placeholder"),)
    assert [config.limit_placeholders for config in search.configs] == [True]


def test_a_placeholder_that_is_moved_is_no_fault() -> None:
    moved = translation("⟦0⟧ ⟦1⟧ drei", "⟦1⟧ ⟦0⟧ three")
    assert repair(StubSearch(), [moved], SearchOptions()) == [moved]


@pytest.mark.parametrize("lost", ["⟦1⟧ three", "three"])
def test_a_lost_placeholder_is_searched_for_among_more_hypotheses(lost: str) -> None:
    search = StubSearch(wide="three|⟦1⟧ ⟦0⟧|⟦0⟧ and I ⟦1⟧ and a three|⟦1⟧ ⟦0⟧ three")
    (result,) = repair(search, [translation("⟦0⟧ ⟦1⟧ drei", lost)], SearchOptions())
    assert (result.text, result.repairs) == ("⟦1⟧ ⟦0⟧ three", (Repair("spans", "wider beam"),))


def test_a_placeholder_that_stays_lost_is_left_to_attention() -> None:
    lost = translation("⟦0⟧ ⟦1⟧ drei vier", "⟦1⟧ three")
    search = StubSearch(wide="three", half="⟦0⟧ ⟦1⟧ three")  # halves are worse than a lost span
    assert repair(search, [lost], SearchOptions()) == [lost]


def test_words_between_two_placeholders_stay_between_them() -> None:
    search = StubSearch(wide="⟦0⟧ ⟦1⟧ came|⟦0⟧ or ⟦1⟧ went|⟦0⟧ or ⟦1⟧ came")
    (result,) = repair(search, [translation("⟦0⟧ oder ⟦1⟧ kam", "⟦0⟧, ⟦1⟧ came")], SearchOptions())
    assert (result.text, result.repairs) == ("⟦0⟧ or ⟦1⟧ came", (Repair("enclosed words", "wider beam"),))


def test_an_unknown_word_becomes_the_source_word_it_looked_at_most() -> None:
    words = adversarial_translator("word")
    line = "bade Xyzzy."
    (translation,) = words.translate([line], TranslateOptions(SearchOptions(max_length=3)))
    ids = words.target.encode(line)
    assert ids.count(1) == 1
    attention = np.zeros((len(ids), len(translation.source_pieces)))
    attention[:, 1], attention[:, -1] = 0.4, 0.6  # mostly at the end of the sentence, which is no word
    hypothesis = translation.hypotheses[0]._replace(
        tokens=tuple(ids), attentions=(attention,), text=words.target.decode(ids)
    )
    replaced = replace_unknown(translation._replace(hypotheses=(hypothesis,)), words.source, words.target)
    assert replaced.text == line
    with pytest.raises(OptionError, match="no subwords for all of 'Xyzzy'"):
        words.translate([line], TranslateOptions(SearchOptions(prefix="Xyzzy")))


# Words without which a translation is no less likely are left out by it.

MEANINGS = {"Brot": "bread", "Schinken": "ham", "kaufte": "bought", "Er": "he"}  # what each target word needs
TEXTS = [("We eat the bread.", "Wir essen das Brot.")] * TEXTS_PER_TRIED_WORD


@pytest.fixture(scope="module")
def profile() -> CorpusProfile:
    return CorpusProfile.parse(build_profile([*TEXTS, ("He bought ham.", "Er kaufte Schinken.")]).encode())


def find_left_out(sentences: list[Translation], search: MeaningSearch, profile: CorpusProfile) -> list[tuple[str, ...]]:
    """The words that each translation is found to leave out."""
    reader = SimpleNamespace(context=SimpleNamespace(languages=("eng", "deu")))
    tools = SimpleNamespace(network=search, profile=profile, reader=reader)
    asker = Asker(tools, TranslationBatch([], SearchOptions(), 1, None, None, []))  # type: ignore[arg-type]
    cases: Any = [PieceCase(TextId(line, 0), sentence, None) for line, sentence in enumerate(sentences)]  # type: ignore[arg-type]
    changed = {case.text_id.line: case.translation.left_out for case in ask(asker, cases, LEFT_OUT)}
    return [changed.get(line, ()) for line in range(len(sentences))]


class MeaningSearch:
    """Finds a translation less likely if the sentence lacks what one of its words means."""

    def __init__(self) -> None:
        self.read = list[str]()
        self.source = self

    def make_rows(self, texts: list[str], limit: None, tags: list[Any], contexts: list[None]) -> list[str]:
        self.read += texts
        return texts

    def find_as_likely(self, rows: list[str], targets: list[Any], least: list[Any]) -> list[bool]:
        return [all(MEANINGS[word] in row for word in target) for row, target in zip(rows, targets, strict=True)]


def write(text: str, log_probability: float = -1.0) -> Hypothesis:
    words = tuple(text.split())
    values = (log_probability / len(words),) * len(words)
    attention = np.full((len(words), 5), 0.1)
    pieces = tuple(BLANK + word for word in words)
    return Hypothesis(text, words, pieces, log_probability, log_probability, values, (attention,), True)  # type: ignore[arg-type]


def translate(source: str, *hypotheses: Hypothesis) -> Translation:
    return Translation(source, ("he", "bought", "bread", "ham", "</s>"), hypotheses, frozenset())


def test_only_a_rare_word_that_no_token_needs_is_left_out(profile: CorpusProfile) -> None:
    whole, partly = write("Er kaufte Brot Schinken"), write("Er kaufte Brot")
    search = MeaningSearch()
    sentences = [translate("he bought bread ham", hypothesis) for hypothesis in (whole, partly)]
    assert find_left_out(sentences, search, profile) == [(), ("ham",)]
    assert "he bought ham" not in search.read, "a frequent word is not tried"


@pytest.mark.parametrize("word", ["⟦0⟧", "Brot", "3rd", "--"])
def test_what_is_copied_or_no_word_is_not_tried(word: str, profile: CorpusProfile) -> None:
    search = MeaningSearch()
    find_left_out([translate(f"he bought bread {word}", write("Er kaufte Brot"))], search, profile)
    assert f"he {'bought bread'}" not in search.read


def test_a_word_to_which_a_token_clearly_attends_is_not_tried(profile: CorpusProfile) -> None:
    hypothesis = write("Er kaufte Brot")
    attention = np.array([[0.03, 0.03, 0.03, 0.9, 0.01], *[[0.1] * 5] * 2])
    search = MeaningSearch()
    find_left_out([translate("he bought bread ham", hypothesis._replace(attentions=(attention,)))], search, profile)
    assert "he bought bread" not in search.read


def test_a_word_that_training_never_had_is_left_out_where_a_common_one_stands_for_it(profile: CorpusProfile) -> None:
    attention = np.array([*[[0.1] * 5] * 2, [0.03, 0.03, 0.03, 0.9, 0.01]])
    hypothesis = write("Er kaufte Brot")._replace(attentions=(attention,), finished=False)
    sentences = [translate(f"he bought bread {word}", hypothesis) for word in ("cheese", "ham", "braed")]
    assert find_left_out(sentences, MeaningSearch(), profile) == [("cheese",), (), ()], "a slip is understood"


def test_nothing_is_tried_of_a_translation_in_which_the_network_does_not_believe(profile: CorpusProfile) -> None:
    search = MeaningSearch()
    find_left_out([translate("he bought bread ham", write("Er kaufte Brot", -3.0))], search, profile)
    assert "he bought bread" not in search.read


# Words in quotes are also translated without them, and the likelier translation is taken.


def find_marks(text: str, target: str = "", read: str | None = None) -> list[str]:
    """The quotes that are taken out of a text, with their places, as they are written."""
    attempt = Attempt(text, (), text if read is None else read, target, lambda span: True)
    return [f"{span.start}{span.text}" for span in QUOTED_WORDS.find_doubtful(attempt)]


@pytest.mark.parametrize(
    "line", ['we "have" cats.', "we have “3 cats” and dogs.", "they 'came' to go.", "we have ‘cats’."]
)
@pytest.mark.parametrize(("price", "is_taken_out"), [(0.1, True), (-0.1, False)])
def test_the_likelier_translation_is_taken(line: str, price: float, is_taken_out: bool) -> None:
    quotes = "\"“”'‘’"
    translator = ScriptedTranslator(
        lambda text: text.replace("e", "o") if set(quotes) & set(text) else text, price=price
    )
    translation = repair_line(translator, line)
    assert len(translator.given) == 2 and not set(quotes) & set(translator.given[1])
    assert translation.text == (line if is_taken_out else line.replace("e", "o"))


def test_a_line_of_quotes_is_read_again_within_a_budget() -> None:
    translator = ScriptedTranslator(str, price=0.1)
    repair_line(translator, 'we "have" cats. ' * (MOST_ASKED + 8))
    assert len(translator.given) == 2 * MOST_ASKED + 8


@pytest.mark.parametrize(("without_quotes", "is_taken_out"), [("it is", False), ("zoom", True)])
def test_a_reading_that_loses_the_quoted_word_is_not_taken(without_quotes: str, is_taken_out: bool) -> None:
    """Words that nothing attends to count as lost if the translation is as likely without them."""
    rules = {'it is "stop".': "it is due.", "it is stop.": without_quotes, "it is.": "it is."}
    translator = ScriptedTranslator(rules.__getitem__, price=0.1)
    assert (repair_line(translator, 'it is "stop".').text == "it is due.") != is_taken_out


@pytest.mark.parametrize(
    ("text", "target", "marks"),
    [
        ('the "new" car', "das „neue“ Auto", ["4„", "8“"]),
        ("the “new” car", 'das "neue" Auto', ['4"', '8"']),
        ("le «nouveau» film", "the new film", ["3«", "11»"]),
        ('a "b" and "c d".', "„b“", ['2"', '4"', '10"', '14"']),  # fewer than there were: as in the source
        ("the 'new' and \"old\" car", "„alte“", ["4'", "8'", "14„", "18“"]),
    ],
)
def test_quotes_are_written_as_the_network_writes_them(text: str, target: str, marks: list[str]) -> None:
    assert find_marks(text, target) == marks


@pytest.mark.parametrize(
    "text",
    [
        '"Where is it?" "There."',
        'He said, "I know."',
        "the dogs' and the cats' food",
        '5" and 7" disks',
        'write "==" here',
        "don't, can't",
    ],
)
def test_speech_apostrophes_inches_and_signs_are_left_to_the_network(text: str) -> None:
    assert find_marks(text) == []


def test_quotes_that_are_off_already_are_not_looked_for() -> None:
    assert find_marks('"the new car"', read="the new car") == []


@given(st.text("ab A.'\"“”„«»‘’", max_size=30))
def test_quotes_come_in_pairs_around_letters(text: str) -> None:
    spans = QUOTED_WORDS.find_doubtful(Attempt(text, (), text, text, lambda span: True))
    assert [span.pair.closes for span in spans] == [False, True] * (len(spans) // 2)
    assert all(
        any(map(str.isalpha, text[start.end : end.start])) for start, end in zip(spans[::2], spans[1::2], strict=True)
    )


# Names that both sides of training have are copied: one that a translation lacks is carried, or told.

PAIRS = [
    ("He met Boston.", "Er traf Boston."),
    ("So Boston won.", "So siegte Boston."),
    ("We like Vienna.", "Wir mögen Wien."),
    ("In Vienna.", "In Wien."),
    ("A hand, the hand", "Eine Hand, die Hand"),
    ("I saw Mary.", "Ich sah Maria."),
    ("I know Mary.", "Ich kenne Mary."),
]
PROFILE = CorpusProfile.parse(build_profile(PAIRS).encode())


def list_missing(source: str, target: str) -> list[str]:
    assert PROFILE.source is not None
    return [name[0] for name in find_missing_names(source, target, PROFILE.source, PROFILE.target)]


@pytest.mark.parametrize(
    ("source", "target", "missing"),
    [
        ("City: Boston", "Stadt: nen", ["Boston"]),
        ("Boston's team", "Die Mannschaft", ["Boston"]),
        ("Boston won.", "Bostons Sieg.", []),
        ("Vienna won.", "Wien siegte.", []),
        ("My Hand", "Mein Arm", []),
        ("Mary won.", "Sie siegte.", []),
        ("Boston-born", "Er", []),
        ("Berlin won.", "Sie siegte.", []),
        ("— Mary,", "— Maria,", ["Mary"]),
        ("Mary won.", "Maria siegte.", []),
        ("Roman", "Römisch", []),
    ],
)
def test_names_that_both_sides_have_are_missed(source: str, target: str, missing: list[str]) -> None:
    assert list_missing(source, target) == missing


def test_a_lost_name_is_carried() -> None:
    def find(source: str, target: str) -> object:
        assert PROFILE.source is not None
        return find_missing_names(source, target, PROFILE.source, PROFILE.target)

    text = "He lives in Boston."
    attempt = Attempt(text, (), text, "Er lebt in Bein.", lambda span: True)
    context = Context(("eng", "deu"), find_missing_names=find)  # type: ignore[arg-type]
    assert COPIED_NAMES.may_be_in(text, context)
    assert [span.text for span in COPIED_NAMES.list_carried(attempt, context)] == ["Boston"]
    assert COPIED_NAMES.list_carried(attempt, context._replace(copies_placeholders=False)) == []
    assert COPIED_NAMES.list_carried(attempt._replace(target="Er lebt in Boston."), context) == []
    assert COPIED_NAMES.list_carried(attempt, Context()) == []


@pytest.mark.parametrize(("word", "message"), [("Nen", "no translation of Boston"), ("Boston", "")])
def test_a_name_that_stays_lost_is_told(word: str, message: str) -> None:
    context = CheckContext("eng", "deu", profile=PROFILE)
    failed = check_coverage(aligned("City Boston", ["Stadt", word], [0, 1]), context)
    assert (failed.message if failed is not None else "") == message
