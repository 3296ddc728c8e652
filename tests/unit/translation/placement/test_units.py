"""Tests of `translation/placement/units.py`.

Words, marks and placeholders of a translation. Links between the words of lines with spans, counted in the texts
themselves.
"""

from collections.abc import Iterable, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.search.config import SearchOptions
from nmt_cli.sources.source import TextSource
from nmt_cli.text.normalise import normalise
from nmt_cli.text.symbols import TokenizerKind
from nmt_cli.translation.config import LineOptions, TranslateOptions
from nmt_cli.translation.forced import force_translations
from nmt_cli.translation.placement.alignment import find_links
from nmt_cli.translation.placement.units import Spelling, Unit, link_words_of_units, measure_units
from nmt_cli.translation.result import Translation
from nmt_cli.translation.translator import LineTranslator
from support.adversary import Adversary, Parrot
from support.properties import examples
from support.spans import lines_with_spans
from support.tokenizers import syllable_tokenizer


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


KINDS: tuple[TokenizerKind, ...] = ("unigram", "word", "char")


def translated(
    line: str, *, kind: TokenizerKind = "unigram", seed: int = 0, copies_placeholders: bool = True, words: int = 50
) -> Translation:
    """By a network that copies; with a `seed`, by one that does what it likes."""
    tokenizer = syllable_tokenizer(kind)
    engine = Adversary(tokenizer.vocabulary_size, seed) if seed else Parrot(tokenizer.vocabulary_size)
    translator = LineTranslator(
        engine,
        TextSource(tokenizer),
        tokenizer,
        copies_placeholders=copies_placeholders,
        lines=LineOptions(max_words=words),
    )
    return translator.translate([line], TranslateOptions(SearchOptions(beam_size=1)))[0]


def linked(line: str, **options: object) -> dict[str, list[str]]:
    """By target word, the source words linked to it."""
    translation = translated(line, **options)  # type: ignore[arg-type]
    source, target = normalise(line).split(), translation.text.split()
    links: dict[str, list[str]] = {}
    for first, second in find_links(translation, translation.hypotheses[0]):
        links.setdefault(target[second], []).append(source[first])
    return links


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("copies_placeholders", [True, False])
def test_words_around_spans_are_linked_right(kind: str, copies_placeholders: bool) -> None:
    line = "bade 10 km giko 😀 luma <b>pone <i>gilu.</i></b> 😀 {x} neba."
    links = linked(line, kind=kind, copies_placeholders=copies_placeholders)
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
    translator = LineTranslator(Parrot(tokenizer.vocabulary_size), TextSource(tokenizer), tokenizer)
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
    copies_placeholders=st.booleans(),
    kind=st.sampled_from(sorted(KINDS)),
    words=st.sampled_from([3, 50]),
)
def test_links_join_words_of_the_line_and_every_ordinary_word_has_one(
    line: str, seed: int, copies_placeholders: bool, kind: str, words: int
) -> None:
    translation = translated(line, kind=kind, seed=seed, copies_placeholders=copies_placeholders, words=words)
    for hypothesis in translation.hypotheses:
        links = find_links(translation, hypothesis)
        target = hypothesis.text.split()
        assert all(0 <= first < len(normalise(line).split()) for first, _ in links)
        assert all(0 <= second < len(target) for _, second in links)
        if any(piece.startswith("<0x") for piece in hypothesis.pieces):
            continue  # bytes in any order can spell blanks
        of_spans = {part for placed in hypothesis.spans for part in placed.text.split()}
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
