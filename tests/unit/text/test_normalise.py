import ast
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.text import characters
from nmt_cli.text.normalise import count_words, hash_text, make_sentence_key, normalise
from nmt_cli.text.words import choose_apostrophe
from support.package_code import MODULES, list_nodes, within_package
from support.scripts import load_script

# Every code point, the lone surrogates included, and more often those that matter here.
ANY_TEXT = st.text(
    alphabet=st.one_of(
        st.characters(),
        st.characters(categories=["Cs", "Cc", "Cf", "Zs", "Zl", "Zp", "Mn"]),
        st.sampled_from(" \t\n\u00a0\u2028\u200b\u2581\u0301aé"),
    )
)


@given(ANY_TEXT)
def test_normalise_is_idempotent(text: str) -> None:
    assert normalise(normalise(text)) == normalise(text)


@given(ANY_TEXT)
def test_normalised_text_is_nfc_on_one_line_with_single_blanks(text: str) -> None:
    normal = normalise(text)
    assert unicodedata.is_normalized("NFC", normal)
    assert normal == " ".join(normal.split())
    assert not {"Cc", "Cs"} & {unicodedata.category(character) for character in normal}
    normal.encode("utf-8")


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("  two \u00a0 blanks\t", "two blanks"),
        ("e\u0301", "é"),
        ("a\u2028b\u3000c\u202fd", "a b c d"),
        ("a\0b \x1b[31m", "ab [31m"),
        ("soft\u00adhyphen\ufeff", "softhyphen"),
        ("क\u200d्ष", "क\u200d्ष"),  # a joiner that changes the letters stays
        ("\u2581", "_"),
        ("\ud800 x", "x"),
        ("", ""),
    ],
)
def test_normalise_by_example(text: str, normal: str) -> None:
    assert normalise(text) == normal


@pytest.mark.parametrize(
    ("text", "words"),
    [("", 0), ("one", 1), ("one two", 2), ("Größe zählt", 2), ("我不知道", 3), ("ありがとうございます", 6)],
)
def test_words_of_scripts_without_blanks_are_pairs_of_characters(text: str, words: int) -> None:
    assert count_words(text) == words


@pytest.mark.parametrize(
    "texts",
    [
        ("Straße", "STRASSE"),
        ("Don’t “go” – now…", 'don\'t "go" - now...'),
        ("ＡＢＣ １２", "abc 12"),
        ("Tom", "tom"),
        ("It`s me.", "It's me."),
        ("It´s me.", "It’s me."),
        ("＇Ｇｏ＇", "'go'"),
    ],
)
def test_sentences_that_differ_in_shape_only_have_one_key(texts: tuple[str, str]) -> None:
    assert make_sentence_key(normalise(texts[0])) == make_sentence_key(normalise(texts[1]))


@given(ANY_TEXT)
def test_equal_texts_in_any_case_have_one_key(text: str) -> None:
    text = normalise(text)
    assert make_sentence_key(text) == make_sentence_key(normalise(text)) == make_sentence_key(text)
    if text.isascii():
        assert make_sentence_key(text.upper()) == make_sentence_key(text.lower())


def test_digests_are_eight_bytes_and_differ() -> None:
    assert len({hash_text(str(number)) for number in range(10_000)}) == 10_000
    assert len(hash_text("")) == 8


# Marks by kind: as Unicode has them, and spelled in one module alone.


def test_the_module_is_what_its_script_writes() -> None:
    script = load_script("data/make_characters.py")
    assert script.write_module() == Path(characters.__file__).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("kind", "marks"),
    [
        (characters.FULL_STOPS, ".։۔।။።។。"),  # Armenian, Urdu, Hindi, Burmese, Amharic, Khmer, Chinese
        (characters.QUESTION_MARKS, "?؟፧？"),
        (characters.COMMAS, ",،՝፣、，၊"),
        (characters.SEMICOLONS, ";؛፤；"),
        (characters.SOLID_FINAL_MARKS, "।။።។。！？"),
        (characters.SPACED_FINAL_MARKS, ".!?։۔؟．"),
        (characters.OPENING, "([{（【《\"'“‘„‚«‹「『¿¡"),
        (characters.CLOSING, ")]}）】》\"'”’»›」』"),
    ],
)
def test_a_kind_has_the_marks_of_many_languages(kind: str, marks: str) -> None:
    assert set(marks) <= set(kind)


def test_no_mark_ends_a_sentence_and_a_clause() -> None:
    assert not set(characters.END_MARKS) & set(characters.PAUSES + characters.CLOSING + characters.DASHES)
    assert set(characters.FINAL_MARKS) == {*characters.SOLID_FINAL_MARKS, *characters.SPACED_FINAL_MARKS}
    assert set(characters.PAUSES) == {*characters.SOLID_PAUSES, *characters.SPACED_PAUSES}


def test_a_closing_bracket_follows_its_partner() -> None:
    for opening, closing in re.findall("(.)(.)", characters.BRACKETS + characters.TITLE_MARKS):
        assert unicodedata.name(opening).replace("LEFT", "RIGHT") == unicodedata.name(closing)


# Of ASCII, brackets are the syntax of expressions, formats and programs.
KINDS = (
    characters.END_MARKS,
    characters.PAUSES,
    characters.QUOTES,
    "".join(mark for mark in characters.BRACKETS + characters.TITLE_MARKS if not mark.isascii()),
    characters.HYPHENS + characters.DASHES,
    characters.THIN_BLANKS,
    characters.INVISIBLE,
)
RUN = rf"[{re.escape(''.join(KINDS) + characters.BRACKETS)}\s]{{3,}}"
GROUP = r"\(\?(?:[:=!]|<[=!])"  # syntax of regular expressions
SPELLED = 3  # distinct marks of a kind, beside each other, are a set of them
APART = {"text/characters.py", "rewriting/characters.py"}  # the latter says which mark may stand for which
OTHERWISE = {
    ("evaluation/metrics/overlap.py", "|split:.!?")  # a signature, by which scores are compared
}


def find_spelled_sets(path: Path) -> Iterator[str]:
    """Yields the strings of a module, but for docstrings, that spell a set of marks of one kind."""
    docstrings = {id(node.value) for node in list_nodes(path) if isinstance(node, ast.Expr)}
    for node in list_nodes(path):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            text = re.sub(r"\\u([0-9a-f]{4})", lambda code: chr(int(code[1], 16)), node.value)
            text = re.sub(r"\\(\W)", r"\1", re.sub(GROUP, "x", text))
            if any(len(set(run) & set(kind)) >= SPELLED for run in re.findall(RUN, text) for kind in KINDS):
                yield node.value


def test_no_other_module_spells_a_set_of_marks() -> None:
    spelled = {
        (name, text)
        for path in MODULES
        if (name := within_package(path)) not in APART
        for text in find_spelled_sets(path)
    }
    assert spelled == OTHERWISE


@pytest.mark.parametrize("text", [".!?。", r"[,;:)\]]\s+", "[«»“”]", r"[-\u2013\u2014]", "（【《"])
def test_a_spelled_set_is_seen(text: str, tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text(f"SET, WORDS = {text!r}, 'Stop! Or not? (Yes; no: who knows.)'\n", encoding="utf-8")
    assert list(find_spelled_sets(module)) == [text]


@pytest.mark.parametrize(
    ("text", "letters"),
    [
        ("Ye' tso' dawin", 2),  # at the ends of words
        ("ie'pa' kĩ", 2),
        ("He said 'be off' to ie'pa", 1),  # a quotation closes at one
        ("the '90s' music", 0),
    ],
)
def test_an_apostrophe_that_closes_no_quotation_is_a_letter(text: str, letters: int) -> None:
    assert len(choose_apostrophe(text).findall(text)) == letters
