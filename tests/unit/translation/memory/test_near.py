"""Near texts: at least 80 % of the words in common; found as comparing with every text would find them."""

from __future__ import annotations

from difflib import SequenceMatcher

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.translation.memory.lookup import TranslationMemory
from nmt_cli.translation.memory.near import LEAST_SHARE, LONGEST, NearTexts

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
