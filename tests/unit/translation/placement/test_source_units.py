"""Links between the words of lines with spans, counted in the texts themselves."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.search.config import SearchConfig
from nmt_cli.sources.source import TextSource
from nmt_cli.text.normalise import normalise
from nmt_cli.text.tokenizer_settings import TokenizerKind
from nmt_cli.translation.config import LineConfig
from nmt_cli.translation.forced import force_translations
from nmt_cli.translation.placement.source_units import link_words_of_units
from nmt_cli.translation.placement.units import Unit
from nmt_cli.translation.placement.word_alignment import find_links
from nmt_cli.translation.result import Translation
from nmt_cli.translation.translator import Translator
from support.adversary import Adversary, Parrot
from support.properties import examples
from support.spans import lines_with_spans
from support.tokenizers import syllable_tokenizer

KINDS: tuple[TokenizerKind, ...] = ("unigram", "word", "char")


def translated(
    line: str, *, kind: TokenizerKind = "unigram", seed: int = 0, carries: bool = True, words: int = 50
) -> Translation:
    """By a network that copies; with a `seed`, by one that does what it likes."""
    tokenizer = syllable_tokenizer(kind)
    engine = Adversary(tokenizer.vocabulary_size, seed) if seed else Parrot(tokenizer.vocabulary_size)
    translator = Translator(
        engine, TextSource(tokenizer), tokenizer, carries=carries, lines=LineConfig(max_words=words)
    )
    return translator.translate([line], SearchConfig(beam_size=1))[0]


def linked(line: str, **options: object) -> dict[str, list[str]]:
    """By target word, the source words linked to it."""
    translation = translated(line, **options)  # type: ignore[arg-type]
    source, target = normalise(line).split(), translation.text.split()
    links: dict[str, list[str]] = {}
    for first, second in find_links(translation, translation.hypotheses[0]):
        links.setdefault(target[second], []).append(source[first])
    return links


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("carries", [True, False])
def test_words_around_spans_are_linked_right(kind: str, carries: bool) -> None:
    line = "bade 10 km giko 😀 luma <b>pone <i>gilu.</i></b> 😀 {x} neba."
    links = linked(line, kind=kind, carries=carries)
    assert {word: [word] for word in ("bade", "giko", "luma", "neba.")}.items() <= links.items()
    assert [word for word, sources in links.items() if sources != [word]] == []


def test_the_words_of_a_carried_span_are_linked_one_by_one() -> None:
    line = "bade 10 km giko (5 kg)."
    assert linked(line) == {word: [word] for word in line.split()}


def test_unknown_words_that_one_piece_stands_for_move_no_other() -> None:
    """SentencePiece makes one piece of unknown words that follow each other."""
    line = "bade Zoq Qox luma giko"
    links = linked(line, kind="word")
    assert {word: links[word] for word in ("bade", "luma", "giko")} == {
        word: [word] for word in ("bade", "luma", "giko")
    }
    tokenizer = syllable_tokenizer("word")
    translator = Translator(Parrot(tokenizer.vocabulary_size), TextSource(tokenizer), tokenizer)
    (translation,) = force_translations(translator, [line], [line])
    assert {(0, 0), (3, 3), (4, 4)} <= set(find_links(translation, translation.hypotheses[0]))
    (empty,) = force_translations(translator, [line], [""])
    assert empty.text == ""


def test_a_part_of_spans_alone_is_linked_to_itself_and_moves_no_other() -> None:
    assert linked("bade. {x} - {y}! giko.") == {word: [word] for word in ("bade.", "{x}", "-", "{y}!", "giko.")}


@examples(150)
@given(
    line=lines_with_spans(),
    seed=st.integers(1, 1000),
    carries=st.booleans(),
    kind=st.sampled_from(sorted(KINDS)),
    words=st.sampled_from([3, 50]),
)
def test_links_join_words_of_the_line_and_every_ordinary_word_has_one(
    line: str, seed: int, carries: bool, kind: str, words: int
) -> None:
    translation = translated(line, kind=kind, seed=seed, carries=carries, words=words)
    for hypothesis in translation.hypotheses:
        links = find_links(translation, hypothesis)
        target = hypothesis.text.split()
        assert all(0 <= first < len(normalise(line).split()) for first, _ in links)
        assert all(0 <= second < len(target) for _, second in links)
        if any(piece.startswith("<0x") for piece in hypothesis.pieces):
            continue  # bytes in any order can spell blanks
        of_spans = {part for placed in hypothesis.placed_spans for part in placed.text.split()}
        ordinary = {index for index, word in enumerate(target) if not any(part in word for part in of_spans)}
        assert ordinary <= {second for _, second in links}


@pytest.mark.parametrize(
    ("count", "width", "expected"),
    [(4, 3, [0, 0, 1, 2]), (3, 3, [0, 1, 2]), (1, 2, [0]), (2, 3, [0, 1]), (3, 1, [0] * 3)],
)
def test_the_words_of_a_rewritten_span_share_those_of_its_source_in_order(
    count: int, width: int, expected: list[int]
) -> None:
    unit = Unit(" ".join(["bis"] * count), True, np.zeros(1), masked_span=0, source=0)
    links = link_words_of_units([unit], [5], [range(width)])
    assert links == tuple((source, 5 + word) for word, source in enumerate(expected))
