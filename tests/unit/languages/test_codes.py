"""Tests of codes: one table knows all codes and names of a language; the languages in the names of files."""

import langcodes
import pytest

from nmt_cli.carrying.number_values import list_longer
from nmt_cli.languages.cldr import LARGEST, NUMBERS_REMEMBERED, fold_words, load_rule_sets, read_archive, spell_number
from nmt_cli.languages.codes import (
    find_code,
    find_codes,
    find_language,
    find_language_tag,
    find_languages_in_name,
    find_named_language,
    guess_languages,
    has_same_primary_tag,
    is_full_name,
    is_right_to_left,
    load_names,
    load_table,
)


@pytest.mark.parametrize(
    ("name", "short", "codes"),
    [
        ("German", "de", ["de", "deu", "ger", "DE", "de-AT", "deu_AT", " de-Latn-CH "]),
        ("English", "en", ["eng"]),
        ("Chinese", "zh", ["zh_Hans", "cmn"]),
        ("Portuguese", "pt", ["pt-BR"]),
        ("Norwegian Bokmål", "nb", ["NB"]),
        ("Upper Sorbian", "hsb", ["hsb"]),
    ],
)
def test_all_codes_of_a_language_lead_to_one(name: str, short: str, codes: list[str]) -> None:
    assert {find_code(code) for code in codes} == {short}
    assert {(find_language(code).code, find_language(code).name) for code in codes} == {(short, name)}


@pytest.mark.parametrize("code", ["xyz", "target", ""])
def test_an_unknown_code_stands_for_itself(code: str) -> None:
    assert find_language(code)[:2] == (code, code)


def test_the_table_shortens_codes_as_langcodes_does() -> None:
    preferred = {"tl": "fil", "sh": "sr"}
    for code, language in load_table().by_code.items():
        assert langcodes.tag_is_valid(code), code
        short = langcodes.Language.get(code).language
        assert short in (code, preferred.get(language.code, language.code)), code


def test_each_language_of_cldr_is_in_the_table_under_its_shortest_code() -> None:
    names = [name.split("/")[1].rpartition(".")[0] for name in read_archive().namelist() if "/" in name]
    assert {find_code(name) for name in names if name in load_table().by_code} == set(names)


@pytest.mark.parametrize(
    ("code", "tag"), [("deu", "de"), ("deu-AT", "de-AT"), ("sr_Latn_RS", "sr-Latn-RS"), ("xyz", "xyz"), ("source", "")]
)
def test_documents_get_short_tags_with_their_region(code: str, tag: str) -> None:
    assert find_language_tag(code) == tag


def test_regions_do_not_part_languages_and_what_is_no_code_equals_none() -> None:
    assert has_same_primary_tag("deu", "de-CH")
    assert not has_same_primary_tag("source", "source")


@pytest.mark.parametrize("tag", ["ar", "heb", "fa-IR", "ur", "ku-Arab"])
def test_some_languages_run_from_right_to_left(tag: str) -> None:
    assert is_right_to_left(tag)
    assert not is_right_to_left("en")


@pytest.mark.parametrize(
    ("heading", "code"),
    [
        ("German", "de"),
        ("Deutsch (Text)", "de"),
        ("Norwegian Bokmål", "nb"),
        ("text_kyrgyz", "ky"),
        ("українська", "uk"),
        ("English German", None),
        ("Frase en otomí", "oto"),
        ("Shipibo (practical spelling)", "shp"),
        ("text_de", "de"),
        ("score", None),
        ("ka\N{MYANMAR VOWEL SIGN SHAN AA}de", None),
    ],
)
def test_headings_name_languages(heading: str, code: str | None) -> None:
    assert find_named_language(heading) == code


@pytest.mark.parametrize(
    ("name", "languages"),
    [
        ("eng-deu.tsv", ("eng", "deu")),
        ("corpus.en-de.tsv", ("en", "de")),
        ("news_en-pt_BR.txt", ("en", "pt_BR")),
        ("corpus.tsv", ("source", "target")),
        ("well-known.tsv", ("source", "target")),
        ("2018-05-13.tsv", ("source", "target")),
    ],
)
def test_languages_are_read_from_file_names_of_the_usual_form(name: str, languages: tuple[str, str]) -> None:
    assert guess_languages(name) == languages


def test_two_files_name_a_language_each() -> None:
    assert guess_languages("train.en", "train.de.gz") == ("en", "de")
    assert guess_languages("a.txt", "b.txt") == ("source", "target")


def test_codes_that_may_be_words_are_no_languages() -> None:
    assert find_languages_in_name("eng-deu.tsv") == ("eng", "deu")
    assert find_languages_in_name("to-do.tsv") == find_languages_in_name("m.tsv") == ("source", "target")


@pytest.mark.parametrize(
    ("name", "codes"),
    [
        *(("Shipibo", ("shp",)), ("swahili", ("sw",)), ("Plautdietsch", ("pdt",)), ("RARAMURI", ("tar",))),
        *(("k'iche’", ("quc",)), ("inglés", ("en",)), ("Deutsch", ("de",)), ("Elbonian", ()), ("", ())),
    ],
)
def test_a_name_is_looked_up_without_case_and_accents(name: str, codes: tuple[str, ...]) -> None:
    assert find_codes(name) == codes


def test_a_name_that_several_languages_share_has_all_their_codes() -> None:
    assert "tar" in find_codes("Tarahumara") and len(find_codes("Mixtec")) > 40
    assert not is_full_name("Mixtec") and not is_full_name("Twi") and is_full_name("Rarámuri")


def test_a_code_without_two_letters_has_a_name() -> None:
    assert find_language("shp").name == "Shipibo-Conibo"
    assert find_language("xqx").name == "xqx"


def test_every_language_has_a_name_and_a_code_of_its_own() -> None:
    assert len(load_names()) > 7_900
    assert all(names and 2 <= len(code) <= 3 for code, names in load_names().items())


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
