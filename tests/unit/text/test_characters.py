"""Marks by kind: as Unicode has them, and spelled in one module alone."""

import ast
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest

from nmt_cli.text import characters
from support.package_code import MODULES, list_nodes, within_package
from support.scripts import load_script


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
    ("evaluation/metrics/overlap.py", "|split:.!?"),  # a signature, by which scores are compared
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
