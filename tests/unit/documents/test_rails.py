"""What is particular to the YAML of Rails: symbols, and the language as the only key at the top."""

import pytest

from support.documents import convert_bytes, list_texts
from support.translations import louder


def test_symbols_of_rails_and_names_with_a_colon_are_no_texts() -> None:
    data = b"order: [ :year, :month ]\nicon: ':smile:'\nnote: 'Note: this'\n"
    assert list_texts("yaml", data) == ["Note: this"]


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("# a\nen:\n  a: Hello\n", "# a\nde:\n  a: HELLO\n"),
        ("'en':\n  a: Hello\n", "de:\n  a: HELLO\n"),
        ("en:\n  a: Hello\nfr:\n  a: Bonjour\n", "en:\n  a: HELLO\nfr:\n  a: BONJOUR\n"),
        ("menu:\n  en: Hello\n", "menu:\n  en: HELLO\n"),
    ],
)
def test_the_only_top_key_becomes_the_target_language(text: str, written: str) -> None:
    assert convert_bytes("yaml", text.encode(), louder).decode() == written


def test_norwegian_as_a_top_key_is_a_string() -> None:
    assert convert_bytes("yaml", b"en:\n  a: Hi\n", louder, "no") == b'"no":\n  a: HI\n'


def test_a_truth_value_is_no_text_for_people() -> None:
    assert list_texts("properties", b"a=true\nb=false\nc=True or false\n") == ["True or false"]
