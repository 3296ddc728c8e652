"""Tests of `translation/memory/lookup.py`.

Near texts: at least 80 % of the words in common; found as comparing with every text would find them.
"""

import re
from difflib import SequenceMatcher

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.text.aligned import MarkedPart, MarkedText
from nmt_cli.translation.memory.lookup import (
    LEAST_SHARE,
    LONGEST,
    NUMBER,
    NearTexts,
    RecalledTranslation,
    TranslationMemory,
    find_form,
    replace_numbers,
)
from nmt_cli.translation.memory.marks import make_bare_key
from nmt_cli.translation.result import Rival, WordSpan


def remember(*pairs: tuple[str, str], language: str = "deu") -> TranslationMemory:
    memory, of_file = TranslationMemory(language), TranslationMemory(language)
    for source, target in pairs:
        of_file.add(source, target)
    memory.update(of_file)
    return memory


@pytest.mark.parametrize(
    "text", ["The caf\u00e9 is  closed.", "The cafe\u0301 is closed.", " The caf\u00e9\u00a0is clo\u00adsed.\u200e"]
)
def test_a_text_is_found_whatever_its_form_blanks_and_invisible_marks(text: str) -> None:
    memory = remember(("The café is closed.", "Das Café ist zu."))
    assert memory.find(text) == RecalledTranslation("The café is closed.", "Das Café ist zu.", "memory")


@pytest.mark.parametrize(
    "text", ["the café is closed.", "The café is closed!", "The café is closed", "The cafe is closed."]
)
def test_case_letters_and_the_final_mark_count(text: str) -> None:
    assert remember(("The café is closed.", "Das Café ist zu.")).find(text) is None


def test_the_last_of_several_translations_counts() -> None:
    memory = remember(("Save", "Sichern"), ("Save", "Speichern"), ("Save", " "), ("", "nichts"))
    assert memory.find("Save") == RecalledTranslation("Save", "Speichern", "memory")
    assert len(memory) == 1


def test_the_pair_with_the_context_of_a_text_counts_and_others_are_named_if_none_has_it() -> None:
    memory = TranslationMemory()
    for context, target in (("button", "Buchen"), ("noun", "Buch"), ("", "Buchung")):
        memory.add("Book", target, context=context)
    chosen = {context: memory.find("Book", context=context) for context in ("button", "noun", "", "menu", None)}
    assert [(pair.text, [rival.text for rival in pair.rivals]) for pair in chosen.values() if pair] == [
        *(("Buchen", []), ("Buch", []), ("Buchung", [])),
        *[("Buchung", ["Buchen", "Buch"])] * 2,
    ]
    memory.add("Open 2 books", "2 Bücher öffnen", context="noun")
    memory.add("Open 2 books", "2 Hefte öffnen", context="noun")  # in the same file, which does not say more of them
    found = memory.find("Open 3 books", context="noun")
    assert found == RecalledTranslation(
        "Open 2 books",
        "3 Hefte öffnen",
        "memory_numbers",
        rivals=(Rival("Open 2 books", "2 Bücher öffnen", "2 Hefte öffnen"),),
    )


@pytest.mark.parametrize(
    ("first", "second", "context", "expected", "rivals"),
    [
        ({None: "a"}, {None: "b"}, None, "b", ["a"]),
        ({None: "a"}, {None: "a"}, None, "a", []),
        ({"x": "a", "y": "b"}, {None: "c"}, "x", "c", ["a", "b"]),  # as a correction, which knows no contexts
        ({"x": "a", "y": "b"}, {"x": "c"}, "x", "c", ["a"]),
        ({"x": "a", "y": "b"}, {"x": "a"}, "y", "b", []),
        ({None: "a"}, {"x": "b"}, "x", "b", ["a"]),
        ({None: "a"}, {"x": "b"}, "y", "b", ["a"]),
    ],
)
def test_pairs_of_a_later_file_overrule_earlier_ones_which_are_remembered(
    first: dict[str | None, str], second: dict[str | None, str], context: str | None, expected: str, rivals: list[str]
) -> None:
    memory = TranslationMemory()
    for pairs in (first, second):
        of_file = TranslationMemory()
        for name, target in pairs.items():
            of_file.add("Book", target, context=name)
        memory.update(of_file)
    found = memory.find("Book", context=context)
    assert found is not None and (found.text, [rival.text for rival in found.rivals]) == (expected, rivals)


def test_line_breaks_of_a_translation_stay_where_its_text_has_some() -> None:
    memory = remember(("One\nTwo", "Eins\nZwei"))
    assert memory.find("One\nTwo\n") == RecalledTranslation("One Two", "Eins\nZwei", "memory")
    assert memory.find("One Two") == RecalledTranslation("One Two", "Eins Zwei", "memory")


@pytest.mark.parametrize(
    ("source", "target", "text", "expected"),
    [
        ("Run {1}.", "{1} starten.", "Run {1}.", "{1} starten."),
        ("Run `a b`.", "`a b` starten.", "Run {1}.", "{1} starten."),
        ("Run a b.", "a b starten.", "Run {1}.", "{1} starten."),
        ("Run <code>a b</code>.", "Starte <code>a b</code>.", "Run {1}.", "Starte {1}."),
        ("Run `a b`.", "Starten.", "Run {1}.", None),  # the code is lost
        ("Run `a c`.", "`a c` starten.", "Run {1}.", None),
        ("See the [page](x).", "Siehe die [Seite](y).", "See the page.", "Siehe die Seite."),
        (
            "See **the** _page_ &amp; me.",
            "Siehe **die** _Seite_ &amp; mich.",
            "See the page & me.",
            "Siehe die Seite & mich.",
        ),
        ("See <b>me</b>.", "Siehe <b>mich</b>.", "See <i>me</i>.", "Siehe <i>mich</i>."),
        ("See me.", "Siehe mich.", "See <i>me</i>.", None),  # nobody said where the tags go
        ("One<br>two <b>b</b>", "Eins<br>zwei <b>b</b>", "One two b", "Eins zwei b"),
        ("2 * 3 *b*", "2 * 3 *b*", "2 * 3 b", "2 * 3 b"),
    ],
)
def test_a_text_is_found_whatever_its_marks_and_its_translation_gets_those_of_the_text(
    source: str, target: str, text: str, expected: str | None
) -> None:
    found = remember((source, target)).find(text, codes={"{1}": "`a b`"} if "{1}" in text else None)
    assert (found and found[1:3]) == (expected and (expected, "memory"))


@pytest.mark.parametrize(
    ("source", "target", "enclosed"),
    [
        ("Click (**Save** now).", "Klicken Sie (auf **Sichern**).", [("Save", "Sichern")]),
        ("**Warn**ing: hot", "Achtung, **Warn**ung: heiß", [("Warn", "Warn")]),
        (
            "See <b>the <i>old</i> page</b>.",
            "Die <b><i>alte</i> Seite</b>.",
            [("old", "alte"), ("the old page", "alte Seite")],
        ),
        ("A [b](x) [c](y)", "[C](y) a [B](x)", [("b", "B"), ("c", "C")]),
        ("A [b](x) [c](y)", "[C](v) a [B](w)", [("b", "C"), ("c", "B")]),
        ("A *b*", "A b", [("b", None)]),
    ],
)
def test_words_between_marks_are_known_as_a_person_placed_them(
    source: str, target: str, enclosed: list[tuple[str | None, str | None]]
) -> None:
    text = make_bare_key(source)
    for memory in (remember((source, target)), remember((text, make_bare_key(target)), (source, target))):
        found = memory.find(text)
        assert found is not None and list_pairs(found, text) == enclosed


def list_pairs(found: RecalledTranslation, text: str) -> list[tuple[str | None, ...]]:
    """Returns the words between the marks that the pair of a translation has."""

    def cut(span: WordSpan | None, side: str) -> str | None:
        if span is None:
            return None
        (first, start), (last, end) = span
        words = side.split()
        length = sum(map(len, words[:last])) - sum(map(len, words[:first])) + last - first
        return " ".join(words[first:])[start : length + end]

    return [(cut(pair.source, text), cut(pair.target, found.text)) for pair in found.marked]


def mark(text: str) -> MarkedText:
    """Returns a text with its runs: of the three of `a |b:c| d`, one is bold; of `<b:c>`, b is a tag."""
    parts, bare = [], ""
    for run, tag, usual in re.findall(r"\|(\w:[^|]*)\||<(\w:[^>]*)>|([^|<]+)", text):
        kind, inside = (run or tag or f"usual:{usual}").split(":", 1)
        parts.append(MarkedPart(len(bare), len(bare) + len(inside), kind, kind if tag else ""))
        bare += inside
    return MarkedText(bare, parts=parts)


@pytest.mark.parametrize(
    ("source", "target", "enclosed"),
    [
        (
            "our |b:clean| and |u:quiet| rooms",
            "|u:ruhige| und |b:saubere| Zimmer",
            [("clean", "saubere"), ("quiet", "ruhige")],
        ),
        ("|b:Warn|ing: hot", "|b:Warn|ung: heiß", [("Warn", "Warn")]),
        ("|b:Caution:| hot", "|b:Achtung:| sehr, sehr heiß", [("hot", "sehr, sehr heiß")]),
        ("go |b:on| now", "gehe |x:weiter| jetzt", [("on", "weiter")]),  # in another font
        ("switch it |b:off|", "|b:Schalten| Sie es |b:aus|", [("off", "Schalten"), ("off", "aus")]),
        ("then |b:Stop| or |b:Quit| now", "Jetzt |b:stoppen|", [("Stop", "stoppen"), ("Quit", "stoppen")]),
        ("go |b:on| |u:now|", "gehe |x:weiter| |y:so|", [("on", None), ("now", None), (None, "weiter"), (None, "so")]),
        ("a <x:b> <x:c>", "<x:C> a b", [("b", None), ("c", None), (None, "C")]),
        ("all in one", "|b:alles| in einem", [(None, "alles")]),
    ],
)
def test_marks_of_a_document_and_of_its_edited_translation_are_paired(
    source: str, target: str, enclosed: list[tuple[str | None, str | None]]
) -> None:
    memory = TranslationMemory("deu")
    memory.add(mark(source), mark(target))
    found = memory.find(mark(source))
    assert found is not None and list_pairs(found, mark(source)) == enclosed


def test_marks_stay_around_the_same_words_if_numbers_change_and_go_with_their_pair() -> None:
    memory, source = TranslationMemory("deu"), mark("Pay |b:9|% in 3 |u:days|.")
    memory.add(source, mark("In 3 |u:Tagen| |b:9|% zahlen."))
    other = "Pay 12% in 4 days."
    found = memory.find(other)
    assert found is not None and found.text == "In 4 Tagen 12% zahlen."
    assert list_pairs(found, other) == [("12", "12"), ("days", "Tagen")]
    memory.add(str(source), "In 3 Tagen zahlen Sie 9%.")
    assert (found := memory.find(source)) is not None and found.marked == ()


def test_a_menu_entry_is_found_with_its_sign_inside_or_before_a_word() -> None:
    memory = remember(("E&xit", "Be&enden"))
    for text in ("E&xit", "&Exit"):
        assert memory.find(text) == RecalledTranslation(text, "Be&enden", "memory")


@pytest.mark.parametrize(
    ("texts", "others"),
    [
        (["Save", "Room 9"], ["Teh cat."]),
        (["&Save", "Room 5", "Teh cat."], []),
        ([], ["S&ave", "Room 5", "Teh cat."]),
    ],
)
def test_sources_that_no_text_has_are_listed_whatever_their_marks(texts: list[str], others: list[str]) -> None:
    memory = remember(
        ("Save", "Sichern"),
        ("&Save", "&Sichern"),
        ("S&ave", "S&ichern"),
        ("Room 5", "Raum 5"),
        ("Teh cat.", "Die Katze."),
    )
    recalled = [found.source for text in texts if (found := memory.find(text)) is not None]
    assert len(recalled) == len(texts) and memory.list_others(recalled) == others


@pytest.mark.parametrize(
    ("old_source", "old_target", "new_source", "new_target"),
    [
        ("Page 3 of 12", "Seite 3 von 12", "Page 7 of 40", "Seite 7 von 40"),
        ("Page 3 of 12", "von 12 die Seite 3", "Page 12 of 3", "von 3 die Seite 12"),
        ("It weighs 1,200.5 kg.", "Es wiegt 1.200,5 kg.", "It weighs 3,450.75 kg.", "Es wiegt 3.450,75 kg."),
        ("At 14:30 on 1.2.2024", "Um 14.30 Uhr am 1.2.2024", "At 9:15 on 3.4.2025", None),  # 14.30 is one number
        ("Version 1.2.3 of it", "Version 1.2.3 davon", "Version 2.0.1 of it", "Version 2.0.1 davon"),
        ("5 and 5", "5 und 5", "6 and 7", None),  # which is which?
        ("2 cats", "zwei Katzen", "3 cats", None),  # in words
        ("2 feet", "2 Fuß (0,6 m)", "3 feet", None),  # a number that depends on the other
        ("1 cats", "1 Katze", "3 cats", None),  # another form
    ],
)
def test_numbers_are_changed_where_each_stands_once_on_both_sides(
    old_source: str, old_target: str, new_source: str, new_target: str | None
) -> None:
    memory = remember((old_source, old_target))
    expected = None if new_target is None else RecalledTranslation(old_source, new_target, "memory_numbers")
    assert memory.find(new_source) == expected


def test_what_the_memory_does_not_show_of_the_notation_is_converted() -> None:
    memory = remember(("It costs 5 euros.", "Es kostet 5 Euro."))
    converted = memory.find("It costs 2,000 euros.", lambda number: number.replace(",", "."))
    assert converted == RecalledTranslation("It costs 5 euros.", "Es kostet 2.000 Euro.", "memory_numbers")


def test_a_text_with_the_very_numbers_comes_before_one_with_others() -> None:
    memory = remember(("Room 5", "Raum 5"), ("Room 6", "Zimmer 6"))
    assert memory.find("Room 5") == RecalledTranslation("Room 5", "Raum 5", "memory")
    assert memory.find("Room 9") == RecalledTranslation("Room 6", "Zimmer 9", "memory_numbers")


def test_a_line_of_numbers_alone_has_no_translation_with_others() -> None:
    assert remember(("12", "zwölf"), ("3 - 4", "3 - 4")).find("13") is None


@pytest.mark.parametrize(
    ("language", "old", "new", "same"),
    [
        ("rus", 2, 5, False),
        ("rus", 2, 3, True),
        ("pl", 5, 22, False),
        ("de", 2, 5, True),
        ("de", 1, 2, False),
        ("fr", 0, 2, False),
    ],
)
def test_the_noun_beside_a_number_must_keep_its_form(language: str, old: int, new: int, same: bool) -> None:
    assert (find_form(str(old), language) == find_form(str(new), language)) == same


@given(
    st.lists(st.integers(2, 9_999), min_size=1, max_size=4, unique=True),
    st.lists(st.integers(2, 9_999), min_size=4, max_size=4),
    st.randoms(use_true_random=False),
)
def test_new_numbers_take_the_places_of_the_old_ones(old: list[int], new: list[int], random: object) -> None:
    """With a number in each place of the source, the translation has them in the order in which it had the old ones."""
    order = list(range(len(old)))
    random.shuffle(order)  # type: ignore[attr-defined]
    source = " a ".join(map(str, old))
    target = " b ".join(str(old[index]) for index in order)
    changed = replace_numbers(source, target, " a ".join(map(str, new[: len(old)])), "de")
    assert changed == " b ".join(str(new[index]) for index in order)
    assert len(NUMBER.findall(str(changed))) == len(old)


SENTENCES = st.lists(st.sampled_from("a b c d e f".split()), min_size=1, max_size=9).map(" ".join)


def make_memory(*sources: str) -> TranslationMemory:
    memory = TranslationMemory("deu")
    for source in sources:
        memory.add(source, f"<{source}>")
    return memory


@given(texts=st.lists(SENTENCES, max_size=12, unique=True), text=SENTENCES)
def test_exactly_the_texts_with_enough_words_in_common_are_near(texts: list[str], text: str) -> None:
    near = NearTexts()
    for each in texts:
        near.add(each)
    shares = {each: SequenceMatcher(None, text.split(), each.split(), autojunk=False).ratio() for each in texts}
    found = near.find(text)
    assert set(found) == {each for each, share in shares.items() if share >= LEAST_SHARE}
    assert [shares[each] for each in found] == sorted((shares[each] for each in found), reverse=True)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Save the file now.", ["<Save the file now!>", "<Save the new file now.>"]),
        ("SAVE THE FILE NOW!", ["<Save the file now!>", "<Save the new file now.>"]),
        ("Save the file now!", ["<Save the new file now.>"]),  # itself is used, and is no alternative
        ("Close the window now.", []),
        ("", []),
        ("...", []),
    ],
)
def test_translations_of_near_texts_come_nearest_first(text: str, expected: list[str]) -> None:
    memory = make_memory("Save the file now!", "Save the new file now.", "Open the window.")
    assert memory.find_near(text, 5) == expected
    assert memory.find_near(text, 1) == expected[:1]


def test_what_is_added_later_is_found_too() -> None:
    memory = make_memory("Delete 3 files.")
    assert (memory.find("Open 5 files."), memory.find_near("Open the file now.", 3)) == (None, [])
    memory.add("Open 2 files.", "<Open 2 files.>")
    memory.add("Open the file.", "one")
    memory.add("Open the file.", "another")
    assert memory.find_near("Open the file now.", 3) == ["another"]
    adapted = memory.find("Open 5 files.")
    assert adapted is not None and (adapted.text, adapted.origin) == ("<Open 5 files.>", "memory_numbers")


def test_words_of_scripts_without_spaces_are_compared_by_character() -> None:
    memory = make_memory("请打开这个文件夹")
    assert memory.find_near("请打开那个文件夹", 3) == ["<请打开这个文件夹>"]


def test_a_long_text_is_near_to_none_since_its_words_may_recur() -> None:
    memory = TranslationMemory("de")
    for words in (LONGEST, LONGEST + 1):
        memory.add("a b " * (words // 2) + "a" * (words % 2), f"of {words}")
    texts = ["a " + "b a " * (words // 2) for words in (LONGEST - 1, LONGEST)]
    assert [memory.find_near(text, 5) for text in texts] == [[f"of {LONGEST}"], []]
