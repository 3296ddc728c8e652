from __future__ import annotations

from nmt_cli.translation.config import LineConfig
from nmt_cli.translation.forced import force_translations
from nmt_cli.translation.placement.word_alignment import find_links
from support.adversary import adversarial_translator


def test_a_forced_pair_is_masked_and_cut_as_a_translated_line_is() -> None:
    pair = (["bade a@b.com lu ma."], ["edab a@b.com ul am."])

    def forced(protect: bool, limit: int | None = None) -> tuple[str, str, int | None]:
        translator = adversarial_translator(lines=LineConfig(protect=protect))
        (translation,) = force_translations(translator, *pair, limit=limit)
        return (
            "".join(translation.source_pieces),
            "".join(translation.hypotheses[0].pieces),
            translation.source_cut_from,
        )

    assert all("▁a@b.com" in side for side in forced(True)[:2])
    assert not any("⟦" in side for side in forced(False)[:2])
    shortened, target, length = forced(True, limit=1)
    assert length is not None and forced(True)[0].startswith(shortened.removesuffix("</s>")) and "ma" not in shortened
    assert target == forced(True)[1]


def test_words_of_a_given_translation_are_those_of_the_texts() -> None:
    """An amount is two words and one placeholder; the network reads no emoji and no tags."""
    translator = adversarial_translator()
    sources = ["bade 5 km lu 7 km ma.", "😀 bade lu.", "<b>bade</b> lu."]
    targets = ["7 km ul am 5 km.", "edab ul 😀", "<b>edab</b> ul."]
    first, second, third = force_translations(translator, sources, targets)
    assert [translation.text for translation in (first, second, third)] == targets
    links = {target: source for source, target in find_links(first, first.hypotheses[0])}
    assert (links[0], links[1], links[4], links[5]) == (4, 5, 1, 2) and set(links) == set(range(6))
    assert [target for _, target in find_links(second, second.hypotheses[0])] == [0, 1]
    assert [target for _, target in find_links(third, third.hypotheses[0])] == [0, 1]
    assert [placed.text for placed in first.placed] == ["7 km", "5 km"] and not third.unseen
    assert "7 km" in first.hypotheses[0].pieces and "5 km" in first.source_pieces
