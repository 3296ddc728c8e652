"""Tests of `text/profile.py`.

What the profile of a training text says of it. How many of the words that end alike have a capital is what counting
them one by one says.
"""

import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.text import profile_building
from nmt_cli.text.lexicon import Lexicon
from nmt_cli.text.profile import (
    ENOUGH_ALIKE,
    LONGEST_ENDING,
    SHORTEST_ENDING,
    CorpusProfile,
    NumberMarks,
    TextProfile,
    WordCounts,
    WordEndings,
)
from nmt_cli.text.profile_building import TEXTS_PER_ENTRY, build_caption_profile, build_profile, merge_profiles
from nmt_cli.text.word_filter import WordFilter

PAIRS = [
    ("We saw Ann in Rome. It rained.", "Wir sahen Anna in Rom. Es regnete."),
    ("Ann's sister likes TV, too.", "Annas Schwester mag Fernsehen auch."),
    ("I know that I may go in May.", "Ich weiß, dass ich im Mai gehen darf."),
    ("You may, you may!", "Du darfst, du darfst!"),
    ("Thanks", "Danke"),
]


def profile_of(pairs: list[tuple[str, str]]) -> CorpusProfile:
    return CorpusProfile.parse(build_profile(pairs).encode())


def source_of(pairs: list[tuple[str, str]]) -> TextProfile:
    source = profile_of(pairs).source
    assert source is not None
    return source


def test_words_are_counted_in_any_case_and_compounds_by_their_rarest_part() -> None:
    source = source_of(PAIRS)
    counts = {"ann": 1, "ANN": 1, "May": 4, "may": 4, "rained": 1, "zebra": 0, "": 0, "May-go": 1, "Rome's": 0}
    assert {word: source.count_word(word) for word in counts} == counts
    assert dict(source.find_word("MAY").forms) == {"may": 3, "May": 1}
    target = profile_of([("Yes.", "はい。"), ("No.", "いいえ。")]).target  # without spaces by their rarest character
    assert [target.count_word(word) for word in ("はい", "いい", "猫")] == [1, 3, 0]


def test_the_usual_case_of_a_word_is_that_within_sentences() -> None:
    source = source_of(PAIRS)
    usual = {"ROME": "Rome", "tv": "TV", "i": "I", "MAY": "may", "go": "go", "thanks": None, "IT": None}
    assert {word: source.find_usual_case(word) for word in usual} == usual
    assert source.count_word("thanks") == source.count_word("it") == 1  # which only begin sentences


def test_characters_marks_and_lengths_are_those_of_the_text() -> None:
    profile = profile_of(PAIRS)
    assert profile.target.characters == set("".join(target for _, target in PAIRS))
    assert profile.target.character_counts["ß"] == 1
    assert profile.target.final_marks == {".": 0.6, "!": 0.2}
    assert profile.target.initial_capitals == 1
    assert profile.target.longest == max(len(target) for _, target in PAIRS)


@given(st.lists(st.tuples(st.text("aZ é.\u4e00", min_size=1), st.text("bß!1 ", min_size=1)), min_size=1))
def test_every_character_of_normalised_text_is_known(pairs: list[tuple[str, str]]) -> None:
    pairs = [(" ".join(source.split()), " ".join(target.split())) for source, target in pairs]
    profile = profile_of(pairs)
    assert profile.source is not None
    assert profile.source.character_counts == Counter("".join(source for source, _ in pairs))
    assert profile.target.character_counts == Counter("".join(target for _, target in pairs))


def test_numbers_show_how_each_side_writes_them() -> None:
    pairs = [
        *[(f"It costs {number}.5 euros.", f"Es kostet {number},5 Euro.") for number in range(4)],
        *[(f"It costs {number},000 euros.", f"Es kostet {number}.000 Euro.") for number in range(1, 5)],
        ("At 2.30", "Um 2:30"),
    ]
    profile = profile_of(pairs)
    assert profile.source is not None
    assert (profile.source.decimal_mark, profile.source.thousands_mark) == (".", ",")
    assert (profile.target.decimal_mark, profile.target.thousands_mark) == (",", ".")
    assert profile.marks.find_target_decimal(".") == "," and profile.marks.find_target_thousands(",") == "."
    assert profile.marks.find_target_decimal(",") is None


def test_dates_times_and_addresses_show_no_marks() -> None:
    text = "On 5.1.2003 at 10:30.15 from 192.168.0.1, version 1.2.3."
    profile = profile_of([(text, text)] * 5)
    assert profile.marks.decimal == profile.marks.thousands == {}


@pytest.mark.parametrize(
    ("kept", "lost", "keeps_digits"),
    [(3, 2, True), (1, 20, False), (9, 20, False), (1, 19, None), (2, 2, None), (0, 0, None)],
)
def test_small_numbers_show_whether_targets_have_digits(kept: int, lost: int, keeps_digits: bool | None) -> None:
    pairs = [("45 men in 1990", "xx 45 xx")] * kept + [("7 men in 1990", "xx yy 1990")] * lost + [("xx", "45")]
    assert profile_of(pairs).marks.keeps_digits is keeps_digits


def test_length_ratios_are_those_of_sources_of_a_similar_length() -> None:
    pairs = [("a" * 4, "b" * 8)] * 300 + [("a" * 50, "b" * 50)] * 300
    profile = profile_of(pairs)
    short, long = profile.find_ratio(3), profile.find_ratio(70)
    assert short is not None and long is not None
    assert (short.lowest, short.mean, short.highest, short.spread) == (2, 2, 2, 0)
    assert long.mean == 1


def test_the_sources_of_captions_have_no_profile_also_of_merged_ones() -> None:
    content = build_caption_profile(["A dog."]).encode()
    for profile in (CorpusProfile.parse(content), CorpusProfile.parse(merge_profiles(content, content).encode())):
        assert profile.source is None and profile.target.count_word("dog") == 1 and profile.find_ratio(5) is None


def test_rare_words_make_room_and_this_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = [("often often", f"rare{number}") for number in range(50)]
    assert source_of(pairs).has_all_words
    monkeypatch.setattr(profile_building, "MAXIMUM_BYTES", 200)
    profile = profile_of(pairs)
    assert not profile.target.has_all_words and len(profile.target.words) == 0
    assert profile.source is not None and profile.source.count_word("often") == 100


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"format": 99}', "no JSON"])
def test_what_is_no_profile_is_refused(content: str) -> None:
    with pytest.raises((ValueError, KeyError, TypeError)):
        CorpusProfile.parse(content.encode())


@given(st.lists(st.sampled_from(PAIRS)), st.lists(st.sampled_from(PAIRS)))
def test_merged_profiles_count_what_the_richer_text_has(
    earlier: list[tuple[str, str]], later: list[tuple[str, str]]
) -> None:
    contents = [build_profile(pairs).encode() for pairs in (earlier, later)]
    assert [merge_profiles(content, content).encode() for content in contents] == contents  # no more was read
    merged = CorpusProfile.parse(merge_profiles(*contents).encode())
    first, second = profile_of(earlier), profile_of(later)
    for side in ("source", "target"):
        united, old, new = (getattr(profile, side) for profile in (merged, first, second))
        assert united.texts == max(old.texts, new.texts)
        for word in ("dog", "Tom", *(word for pair in (*earlier, *later) for word in "".join(pair).split())):
            assert united.count_word(word) == max(old.count_word(word), new.count_word(word))


def test_rare_words_with_a_capital_are_listed_as_their_forms_say() -> None:
    sentences = ["We saw Anna and Bert in Ulm.", "Bert saw the BBC and Ulm.", "The ulm is Ulm, we think.", "Rain came."]
    profile = CorpusProfile.parse(build_profile([(sentence, sentence) for sentence in sentences]).encode())
    assert profile.source is not None
    words = profile.source.words
    assert words.list_capitalised(2) == ["anna", "bert"]
    assert words.list_capitalised(9) == ["anna", "bert", "ulm"]
    assert all(words.find(word).forms[0][0] == word.capitalize() for word in words.list_capitalised(9))


@pytest.mark.parametrize(
    ("counts", "usual"),
    [
        ({".": 39, "": 37, " ": 15}, "."),  # each of them differs
        ({".": 4, "": 3, ",": 3}, "."),
        ({".": 4, ",": 3, "": 1}, "."),
        ({",": 4, ".": 3, "": 2}, None),  # most change it, but not to the mark that is written most often
        ({",": 5, ".": 3, "": 2}, ","),
        ({".": 2, " ": 2}, None),  # too few
        ({}, None),
    ],
)
def test_marks_that_all_differ_from_that_of_the_source_need_no_majority(
    counts: dict[str, int], usual: str | None
) -> None:
    marks = NumberMarks({}, {(",", target): count for target, count in counts.items()} | {(".", ","): 99})
    assert marks.find_target_thousands(",") == usual


@given(st.sets(st.text(max_size=12)), st.sets(st.text(max_size=12)))
def test_a_filter_knows_its_words_when_written_and_merged(first: set[str], second: set[str]) -> None:
    filters = [WordFilter.decode(WordFilter.from_words(words).encode()) for words in (first, second)]
    assert all(word in filters[0] for word in first)
    assert all(word in filters[0].merge(filters[1]) for word in first | second)


def test_a_filter_takes_few_other_words_for_its_own() -> None:
    words = WordFilter.from_words([f"word {number}" for number in range(20_000)])
    assert sum(f"other {number}" in words for number in range(20_000)) < 400


@pytest.mark.parametrize("text", ["", "0", "no filter", "0000000"])
def test_what_is_no_filter_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        WordFilter.decode(text)


BATTERIES = [  # among other texts, for only rare words are translated in few ways
    *[("We sleep.", "Wir schlafen.")] * 3 * TEXTS_PER_ENTRY,
    ("Buy batteries.", "Kauf Batterien!"),
    ("The radio’s batteries are empty.", "Die Radiobatterien sind leer."),
    ("It runs on batteries.", "Es läuft mit Batterien."),
    ("Feed the cat!", "Füttere die Katze!"),
    ("Feed the ducks!", "Füttere die Enten!"),
    ("We feed the ducks.", "Wir füttern die Enten."),
]


@pytest.mark.parametrize(
    ("word", "target", "chance"),
    [
        ("batteries", "Katzen nicht enthalten.", {"batteries": 0.12}),
        ("batteries", "Batteriefach", {"batteries": 0}),  # another form or compound
        ("we", "Katzen", {}),  # a frequent word
        ("runs", "Katzen", {}),  # once
        ("zebra", "Katzen", {}),
        ("ducks", "Füttere die Entwicklung!", {"ducks": 0.17}),  # what ducks are fed belongs to "feed"
        ("feed", "Enten füttern", {"feed": 0}),
    ],
)
def test_a_lexicon_has_the_words_that_are_translated_alike(word: str, target: str, chance: dict[str, float]) -> None:
    assert profile_of(BATTERIES).lexicon.rate([word], target) == chance


def test_a_pair_is_as_sure_in_the_lexicon_as_training_repeats_it() -> None:
    pairs = [("Sneeze!", "Niese!"), *BATTERIES]
    profile = CorpusProfile.parse(build_profile(pairs, [2] + [1] * len(BATTERIES)).encode())
    assert (profile.lexicon.rate(["sneeze"], "Katzen"), profile.target.count_word("niese")) == ({"sneeze": 0.17}, 1)


def test_a_translation_that_training_never_misses_is_the_surest() -> None:
    assert Lexicon("flour\t0\tmehl").rate(["flour"], "Floh") == {"flour": 0.01}  # less than 1 % is written as 0
    assert Lexicon("flour\t0\tmehl").rate(["flour"], "Mehl") == {"flour": 0}


def test_what_a_later_text_reads_is_translated_as_there() -> None:
    earlier = build_profile(BATTERIES).encode()
    for later, chance in (
        ([("Hello.", "Hallo.")], 0.12),
        ([("Fire the batteries!", "Feuert die Geschütze ab!")], None),
    ):
        merged = CorpusProfile.parse(merge_profiles(earlier, build_profile(later).encode()).encode())
        assert merged.lexicon.rate(["batteries"], "Katzen").get("batteries") == chance


def test_words_for_which_a_profile_has_no_room_are_still_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(profile_building, "MAXIMUM_BYTES", 60)
    content = build_profile([*PAIRS, *PAIRS[2:3]])
    words = CorpusProfile.parse(content.encode()).target.words
    assert words.least_count > 1 and words.is_complete
    assert not words.contains("regnete") and words.has_occurred("regnete") and words.has_occurred("ich")
    assert not words.has_occurred("zebra")
    merged = CorpusProfile.parse(merge_profiles(content.encode(), build_profile([("A", "Esel")]).encode()).encode())
    assert merged.target.words.has_occurred("regnete") and merged.target.words.has_occurred("esel")


def test_a_profile_of_an_older_nmt_does_not_know_its_rare_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(profile_building, "MAXIMUM_BYTES", 60)
    header, _, rest = build_profile(PAIRS).partition("\n")
    values = json.loads(header)
    for side in ("source", "target"):
        del values[side]["rare"]
    older = f"{json.dumps(values)}\n{rest}".encode()
    assert not CorpusProfile.parse(older).target.words.is_complete
    merged = CorpusProfile.parse(merge_profiles(older, build_profile(PAIRS).encode()).encode())
    assert not merged.target.words.is_complete


def test_a_text_of_too_many_words_does_not_know_the_rare_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(profile_building, "MOST_TOKENS", 3)
    assert not profile_of(PAIRS).target.words.is_complete


WORDS = st.text("abé", min_size=1, max_size=7)
PROFILES = st.dictionaries(WORDS, st.sampled_from(["", "\t1:2", "\t0:3\t1:1", "\t1:0", "\t2:4"]), max_size=40)


@given(PROFILES, WORDS)
def test_capitals_are_counted_for_the_longest_ending_of_enough_words(forms: dict[str, str], word: str) -> None:
    content = "\n".join(f"{key}\t5{form}" for key, form in sorted(forms.items()))
    endings = [word[-length:] for length in range(LONGEST_ENDING, SHORTEST_ENDING - 1, -1) if length < len(word)]
    alike = ([key for key in forms if key.endswith(ending)] for ending in endings)
    enough = next((keys for keys in alike if len(keys) >= ENOUGH_ALIKE), None)
    expected = sum(forms[key] == "\t1:2" for key in enough) / len(enough) if enough else None
    assert WordEndings(WordCounts(content.encode(), 1)).find_capital_share(word) == expected
