""""""

import pytest

from nmt_cli.carrying.number_values import list_longer
from nmt_cli.languages.cldr import LARGEST, NUMBERS_REMEMBERED, fold_words, load_rule_sets, read_archive, spell_number


@pytest.mark.parametrize(
    ("number", "language", "spelling"),
    [  # as ICU 72's RuleBasedNumberFormat spells them, and grammars teach
        (0, "en", "zero"),
        (21, "eng", "twenty-one"),
        (115, "en", "one hundred and fifteen"),
        (1984, "en", "nineteen eighty-four"),
        (3, "en", "third"),
        (33, "deu", "dreiunddreißig"),
        (1984, "de", "neunzehnhundertvierundachtzig"),
        (2_000_000, "ger", "zwei Millionen"),
        (71, "fr", "soixante-et-onze"),
        (80, "fra", "quatre-vingts"),
        (99, "da", "nioghalvfems"),
        (21, "es", "veintiuno"),
        (5_000, "ru", "пять тысяч"),
        (1984, "jpn", "千九百八十四"),
        (10, "ar", "عشرة"),
        (72, "hi", "बहत्तर"),
        (100_000, "tr", "yüz bin"),
    ],
)
def test_a_number_is_spelled_as_its_language_does(number: int, language: str, spelling: str) -> None:
    assert fold_words(spelling) in spell_number(number, language)


@pytest.mark.parametrize(("number", "language"), [(3, "source"), (3, ""), (LARGEST, "en"), (-1, "en")])
def test_what_nobody_spells_has_no_spelling(number: int, language: str) -> None:
    assert not spell_number(number, language)


def test_every_language_spells_every_number_in_its_own_way() -> None:
    languages = [name[8:-5] for name in read_archive().namelist() if name.startswith("numbers/")]
    assert len(languages) == 79
    for language in languages:
        assert load_rule_sets(language), language
        spellings = [spell_number(number, language) for number in (*range(1, 10), 20, 37, 100)]
        assert all(spellings), language


def test_the_licence_of_the_rules_is_beside_them() -> None:
    assert b"UNICODE LICENSE V3" in read_archive().read("LICENSE")


def test_case_blanks_and_hyphens_do_not_part_number_words() -> None:
    assert fold_words("Twenty-One") == fold_words("twenty one") == "twentyone"
    assert fold_words("नौ सौ") == "नौसौ"


def test_the_numbers_of_texts_are_remembered_up_to_a_bound() -> None:
    for remember in (spell_number, list_longer):
        for number in range(NUMBERS_REMEMBERED + 10):
            remember(10**9 + number, "und")
        assert remember.cache_info().currsize == NUMBERS_REMEMBERED
