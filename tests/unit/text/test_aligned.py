"""A text that is edited keeps the origins of its characters."""

from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.text.aligned import AlignedText, Edit


@st.composite
def edited(draw: st.DrawFn, text: str) -> list[Edit]:
    ends = sorted(draw(st.lists(st.integers(0, len(text)), max_size=6)))
    pairs = zip(ends[::2], ends[1::2], strict=False)
    return [Edit(start, end, draw(st.text("xyz", max_size=3))) for start, end in pairs]


@given(st.text("abc ", max_size=20), st.data())
def test_edits_compose(text: str, data: st.DataObject) -> None:
    once = AlignedText.from_text(text).replace(data.draw(edited(text)))
    twice = once.replace(data.draw(edited(once.text)))
    alone = AlignedText.from_text(once.text).replace(edits := data.draw(edited(once.text)))
    traced = alone.trace(once)
    assert (traced.text, list(traced.origins)) == (once.replace(edits).text, list(once.replace(edits).origins))
    assert len(twice.text) == len(twice.origins)
    assert list(twice.origins) == sorted(twice.origins)
    kept = [(character, text[origin]) for character, origin in zip(*twice, strict=True) if character not in "xyz"]
    assert all(character == source for character, source in kept)


def test_a_replacement_stands_for_what_it_replaces() -> None:
    aligned = AlignedText.from_text("Lehrer*innen da").replace([Edit(6, 7, "")])
    assert aligned.text == "Lehrerinnen da"
    assert list(aligned.origins) == [*range(6), *range(7, 15)]
    assert aligned.find_target(6, 7) == range(6, 6)
    assert aligned.find_target(7, 12) == range(6, 11)
    longer = AlignedText.from_text("½ l").replace([Edit(0, 1, "1/2")])
    assert (longer.text, list(longer.origins)) == ("1/2 l", [0, 0, 0, 1, 2])


def test_what_is_inserted_at_the_end_stands_behind_the_last_character() -> None:
    aligned = AlignedText.from_text("ab").replace([Edit(2, 2, "!")])
    assert (aligned.text, list(aligned.origins)) == ("ab!", [0, 1, 2])
    assert AlignedText.from_text("").find_origin(0) == 0


@pytest.mark.parametrize("text", ["n\u0303e\u0301x", "e\u0301", "\u1112\u1161\u11ab.", "e\u0323\u0302!", "x\u0302"])
def test_a_composed_character_comes_from_its_first_part(text: str) -> None:
    composed = AlignedText.from_text(text).compose()
    assert composed.text == normalize("NFC", text)
    assert all(normalize("NFC", text[:origin]) == composed.text[:n] for n, origin in enumerate(composed.origins))
