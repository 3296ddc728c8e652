"""The first word behind a span or a part of a sentence has no capital, unless it always has one."""

from __future__ import annotations

import pytest

from nmt_cli.rewriting.continued import Continued
from nmt_cli.rewriting.protocol import Written
from support.rewriting import change, model_text

PAIRS = [("Then we go home.", "Dann gehen wir nach Hause."), ("You can do it today.", "Heute können Sie es tun.")]


def translate(text: str, translation: str, spans: tuple[str, ...] = (), **context: bool) -> str:
    rewrite = Continued.from_model(model_text(PAIRS))
    assert rewrite is not None
    changed = change(rewrite, text, **context)
    return translation if changed is None else rewrite.write(translation, changed[1], Written(spans))


@pytest.mark.parametrize(
    ("translation", "expected"),
    [
        ("Am 3. Mai Wir gehen", "Am 3. Mai wir gehen"),
        ("Am 3. Mai, Wir gehen", "Am 3. Mai, wir gehen"),
        ("<b>Am 3. Mai</b> Wir gehen", "<b>Am 3. Mai</b> wir gehen"),
        ("Am 3. Mai. Wir gehen", "Am 3. Mai. Wir gehen"),  # another sentence
        ("Am 3. Mai Sie gehen", "Am 3. Mai Sie gehen"),  # always has a capital
        ("Am 3. Mai Hause gehen", "Am 3. Mai Hause gehen"),
        ("Am 3. Mai WIR gehen", "Am 3. Mai WIR gehen"),
        ("Am 3. Mai", "Am 3. Mai"),
        ("Wir gehen Am 3. Mai", "Wir gehen Am 3. Mai"),  # the span is elsewhere
    ],
)
def test_a_word_behind_a_span_that_begins_the_sentence(translation: str, expected: str) -> None:
    assert translate("⟦0⟧ we go.", translation, ("Am 3. Mai", "<b>", "</b>")) == expected
    assert translate("⟦0⟧ We go.", translation, ("Am 3. Mai", "<b>", "</b>")) == translation


def test_the_first_word_of_a_part_of_a_sentence() -> None:
    assert translate("we go.", "Wir gehen.", begins_sentence=False) == "wir gehen."
    assert translate("We go.", "Wir gehen.", begins_sentence=False) == "Wir gehen."
    assert translate("we go.", "Wir gehen.") == "Wir gehen."
