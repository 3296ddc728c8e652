"""Words, marks and placeholders of a translation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from nmt_cli.translation.placement.units import Spelling, find_units, measure_units


class Spells:
    """Stands for a tokenizer: token t spells the t-th of some pieces, with blanks."""

    def __init__(self, *pieces: str) -> None:
        self.pieces = pieces

    def decode_all(self, sequences: Iterable[Sequence[int]]) -> list[str]:
        return ["".join(self.pieces[token] for token in tokens).strip() for tokens in sequences]

    def spell_pieces(self, tokens: Sequence[int]) -> list[str]:
        return [self.pieces[token].strip() for token in tokens]


def spelling(*pieces: str) -> Spelling:
    return Spelling("".join(pieces).strip(), range(len(pieces)), Spells(*pieces))  # type: ignore[arg-type]


def units(text: str) -> list[str]:
    return [text[start:end] for start, end in find_units(text)]


def test_words_marks_and_placeholders_are_units() -> None:
    assert units("Geh jetzt, ⟦0⟧!") == ["Geh", "jetzt", ",", "⟦0⟧", "!"]


def test_characters_of_scripts_without_blanks_are_units_of_their_own() -> None:
    assert units("駅は") == ["駅", "は"]


def test_an_accent_belongs_to_its_letter() -> None:
    assert units("か\u3099") == ["か\u3099"]


def test_a_unit_has_the_mean_attention_of_the_tokens_that_spell_it() -> None:
    attention = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 1]], dtype=float)  # the last row is the end
    first, second, mark = measure_units(spelling("ge", "h", " zu!", ""), attention)
    assert [unit.text for unit in (first, second, mark)] == ["geh", "zu", "!"]
    assert [unit.blank_before for unit in (first, second, mark)] == [False, True, False]
    assert first.attention.tolist() == [0.5, 0.5, 0]
    assert second.attention.tolist() == mark.attention.tolist() == [0, 0, 1]


def test_a_part_of_a_character_ends_where_the_token_before_ends() -> None:
    half = spelling("ge", "h")._replace(text="géx", target=Spells("g", "\ufffd", "éx"), tokens=range(3))  # type: ignore[arg-type]
    assert half.ends == [1, 1, 1]
    assert spelling("geh", " jetzt").ends == [3, 9]


def test_a_spelling_is_trusted_if_no_other_token_reads_like_a_placeholder() -> None:
    assert spelling("geh", " ⟦0⟧").is_trusted
    assert not spelling("geh", " ⟦", "0⟧").is_trusted
