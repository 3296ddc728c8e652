""""""

from collections.abc import Iterator

import pytest

from nmt_cli.visuals import canvas
from nmt_cli.visuals.canvas import BASE, choose_fonts, list_candidates


def test_the_base_font_is_enough_for_european_arabic_and_hebrew_text() -> None:
    choice = choose_fonts("Straße ночь Ελλάδα سلام שלום ·␣…")
    assert (choice.families, choice.missing) == ((BASE,), "")


def test_a_family_is_asked_only_for_what_is_missing_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[str] = []

    def three() -> Iterator[tuple[str, list[int]]]:
        covered = ((BASE, "ab"), ("Useless", "a"), ("Han", "车"), ("Never", "站"))
        for name, characters in covered:
            tried.append(name)
            yield name, [ord(character) for character in characters]

    monkeypatch.setattr(canvas, "list_candidates", three)
    assert choose_fonts("a b车\u200e\n") == canvas.FontChoice((BASE, "Han"), "")
    assert tried == [BASE, "Useless", "Han", "Never"]
    assert choose_fonts("x车").missing == "x"


def test_fonts_that_draw_formula_parts_or_boxes_are_never_asked() -> None:
    names = [name for name, _ in list_candidates()]
    assert names[0] == BASE
    assert not [name for name in names if name.startswith(("cm", "STIX", "Last Resort"))]
