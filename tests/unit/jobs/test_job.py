from __future__ import annotations

from nmt_cli.jobs.job import restore_text
from support.translations import aligned


def test_a_scored_translation_has_the_text_that_was_given_on_a_single_line() -> None:
    scored = aligned("a b", ["⁇", "y"], [0, 1])
    restored = restore_text(scored, "  x\u3000y\tz ")
    assert restored.text == "x y z"
    assert restored.hypotheses[0].tokens == scored.hypotheses[0].tokens
