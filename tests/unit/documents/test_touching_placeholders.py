"""Placeholders in files of strings, whatever touches them: carried byte for byte, and never taken for brackets."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.translation.result import Translation
from support.documents import convert_bytes, echo_document, list_texts
from support.translations import Rule, aligned

FRAMES = {  # a file of a string, and how the format spells the signs that touch a placeholder
    "ftl": "a = {}\n",
    "json": '{{"a": "{}"}}',
    "properties": "a={}\n",
    "yaml": "a: {}\n",
    "ini": "a={}\n",
    "toml": "a = '{}'\n",
    "apple": '"a" = "{}";\n',
    "android": '<resources><string name="a">{}</string></resources>',
    "md": "{}\n",
    "html": "<p>{}</p>",
}
HELD = ("{ $x }", "{$m}", '{ NUMBER($n, style: "percent") }', "{ -brand }", "{ other }")
LONG = '{ DATETIME($changed, day: "numeric", month: "long", year: "numeric", hour: "numeric") }'
OUTSIDE = st.sampled_from(["", "`", "“", "(", "[", "x", "”", ")", "]", ",", "’", "*", "s", "Cat"])


def say_other_words(*held: str) -> Rule:
    """Translates to other words, all linked to the first, without what touches the placeholders `held`."""
    kept = re.compile("|".join(map(re.escape, held)))

    def rule(text: str) -> Translation:
        spans = [match[0] for match in kept.finditer(text)] + re.findall(r"\{\d\}", text)
        words = [word for span in dict.fromkeys(spans) for word in (f"»{span}«etwas").split()]
        return aligned(text, ["Offen", *words], [0] * (len(words) + 1))

    return rule


@pytest.mark.parametrize("name", FRAMES)
@given(before=OUTSIDE, after=OUTSIDE, held=st.sampled_from(["{name}", "{0}", "%s", "%1$d", "%(n)s"]))
def test_a_placeholder_is_spelled_as_in_the_source_whatever_touches_it(
    name: str, before: str, after: str, held: str
) -> None:
    text = f"Please open {before}{held}{after} now"
    written = convert_bytes(name, FRAMES[name].format(text).encode(), say_other_words(held)).decode()
    assert held in written and "etwas" in written


@given(before=OUTSIDE, after=OUTSIDE, held=st.sampled_from([*HELD, LONG]), other=st.sampled_from(HELD))
def test_a_placeable_of_fluent_is_one_span_whatever_touches_it(before: str, after: str, held: str, other: str) -> None:
    text = f"a = Please open {before}{held}{after} and{other}\n"
    written = convert_bytes("ftl", text.encode(), say_other_words(held, other)).decode()
    assert held in written and other in written
    assert '{"' not in written.replace(held, "").replace(other, "")


def test_a_brace_that_fluent_spells_as_a_string_is_a_brace_of_the_text() -> None:
    text = b'a = A brace {"{"} stands here, and { $x } too, { "}" }.\n'
    assert list_texts("ftl", text) == ["A brace { stands here, and { $x } too, }."]
    assert echo_document("ftl", text) == text
    assert convert_bytes("ftl", b"a = b c\n", lambda source: aligned(source, ["{b}"], [0])) == b'a = {"{"}b{"}"}\n'


def test_a_string_of_fluent_with_braces_inside_is_kept_as_a_whole() -> None:
    text = 'a = I see { "a{b}" }text and more\n'
    assert '{ "a{b}" }' in convert_bytes("ftl", text.encode(), say_other_words()).decode()
