from __future__ import annotations

from collections.abc import Sequence

import pytest

from nmt_cli.search.config import SearchConfig
from nmt_cli.translation import forced
from nmt_cli.translation.config import CheckConfig
from nmt_cli.translation.memory.lookup import TranslationMemory
from nmt_cli.translation.memory.recall import RecallingMemory
from nmt_cli.translation.placement.word_alignment import find_links
from nmt_cli.translation.result import Translation
from support.adversary import adversarial_translator


def recall_lines(lines: Sequence[str], memory: TranslationMemory | None) -> list[Translation]:
    recalling = None if memory is None else RecallingMemory(memory)
    translator = adversarial_translator()
    return translator.translate(lines, SearchConfig(beam_size=2), checks=CheckConfig(), memory=recalling)


@pytest.mark.parametrize("links_words", [False, True])
def test_known_lines_and_sentences_come_from_the_memory_and_no_others(links_words: bool) -> None:
    memory = TranslationMemory(links_words=links_words)
    memory.add("Bade lu ma.", "Am ul <b>edab</b>.")
    memory.add("Ti so 3.", "3 os it.")
    lines = ["Bade lu ma.", "Ti so 4.", "Na re. Bade lu ma. Ti so 7.", "Na re.", ""]
    with_memory, without = recall_lines(lines, memory), recall_lines(lines, None)
    origins = [translation.origin for translation in with_memory]
    assert origins == ["memory", "memory_numbers", "memory_part", "network", "network"]
    assert [translation.text for translation in with_memory[:2]] == ["Am ul <b>edab</b>.", "4 os it."]
    assert with_memory[2].text.endswith("Am ul <b>edab</b>. 7 os it.")
    assert [translation.text for translation in with_memory[3:]] == [translation.text for translation in without[3:]]
    assert with_memory[2].text.startswith(without[3].text.split()[0])
    assert all(translation.origin == "network" for translation in without)


def test_words_of_a_recalled_translation_are_linked_by_attention() -> None:
    memory = TranslationMemory()
    memory.add("bade lu ma.", "edab ul am bade.")
    (translation,) = recall_lines(["bade lu ma."], memory)
    hypothesis = translation.hypotheses[0]
    assert {target for _, target in find_links(translation, hypothesis)} == set(range(4))
    assert len(hypothesis.attentions[0]) > 2 and not any(hypothesis.token_log_probabilities)


def test_the_network_reads_no_translation_far_longer_than_its_text(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    force = forced.force_translations
    monkeypatch.setattr(forced, "force_translations", lambda *given: [read.extend(given[2]), force(*given)][1])
    memory, long = TranslationMemory(), " ".join(["edab"] * 500)
    memory.add("bade lu 3.", long)
    memory.add("ti so 3.", "os it 3.")
    translations = recall_lines(["bade lu 3.", "ti so 3."], memory)
    assert [translation.text for translation in translations] == [long, "os it 3."]
    assert read == ["os it 3."]


def test_a_part_of_a_sentence_is_not_taken_from_the_memory() -> None:
    """A line of many words is cut at commas; its parts are no sentences."""
    memory = TranslationMemory()
    memory.add("bade lu,", "NIE")
    line = ", ".join(["bade lu"] * 40)
    with_memory, without = (recall_lines([line], known)[0] for known in (memory, None))
    assert (with_memory.origin, with_memory.text) == ("network", without.text)


def test_what_a_person_translated_is_checked_and_needs_no_review() -> None:
    memory = TranslationMemory()
    memory.add("bade 1750 lu?", "edab 7150 ul")
    (translation,) = recall_lines(["bade 1750 lu?"], memory)
    kinds = [check.kind for check in translation.checks]
    assert "numbers" in kinds and "unseen words" not in kinds and not translation.needs_review
    assert translation._replace(origin="memory_numbers").needs_review
