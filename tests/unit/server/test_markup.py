from __future__ import annotations

import pytest

from nmt_cli.server.languages import find_language
from nmt_cli.server.markup import MarkupTexts


@pytest.mark.parametrize(
    "text",
    [
        "plain",
        "a &amp; b",
        "<b>a</b> &lt;i&gt;",
        '<a href="?x=1&y=2">a</a>',
        "1 &lt; 2 &amp; 3",
        "<x id='1'></x>",
        "a<br/>b",
    ],
)
def test_text_that_is_not_changed_keeps_its_markup(text: str) -> None:
    markup = MarkupTexts.from_texts([text], is_markup=True, kept_elements=("x",))
    assert markup.restore(markup.texts) == [text]


def test_entities_are_read_as_characters() -> None:
    assert MarkupTexts.from_texts(["Tom&#39;s &quot;tea&quot; &amp; more &lt;"], is_markup=True).texts == [
        'Tom\'s "tea" & more &lt;'
    ]


def test_elements_that_are_ignored_are_placeholders_meanwhile() -> None:
    markup = MarkupTexts.from_texts(['a <x id="1">b</x> c <x/> d'], is_markup=True, kept_elements=("x",))
    assert markup.texts == ["a {kept0} c {kept1} d"]
    assert markup.restore(["D {kept1} {kept0} {kept9}"]) == ['D <x/> <x id="1">b</x> {kept9}']


@pytest.mark.parametrize(
    ("code", "expected"),
    [("eng", "en"), ("ger", "de"), ("zh_Hans", "zh"), ("pt-BR", "pt"), ("cmn", "zh"), ("NB", "nb"), ("hsb", "hsb")],
)
def test_a_code_is_found_however_it_is_written(code: str, expected: str) -> None:
    assert find_language(code).code == expected
