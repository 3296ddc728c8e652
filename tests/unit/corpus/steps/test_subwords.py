"""Tests of `corpus/steps/subwords.py`.

One vocabulary for both sides, or one for each: by default, the scripts of the two decide. A joint vocabulary of two
languages without a common word, so that what the target needs can be told.
"""

from contextlib import nullcontext
from functools import cache
from itertools import product
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sentencepiece.sentencepiece_model_pb2 import ModelProto

from nmt_cli.arrays.types import UNKNOWN
from nmt_cli.corpus.config import PrepareOptions
from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.corpus.prepare import prepare
from nmt_cli.corpus.steps.subwords import (
    BLOCK,
    LARGEST_SHARE,
    choose_separation,
    collect_needed_pieces,
    extract_target_vocabulary,
    list_intermediate_merges,
    measure_everyday_share,
    select_pieces,
)
from nmt_cli.errors import OptionError
from nmt_cli.text.normalise import normalise
from nmt_cli.text.symbols import PLACEHOLDERS, SPECIALS, TokenizerKind, TokenizerSettings
from nmt_cli.text.tokenizer import BYTE_PIECES, Tokenizer, train_tokenizer
from support.corpora import examine_rows, toy_pairs, write_tsv

CYRILLIC = str.maketrans("abcdefghijklmnopqrstuvwxyz", "абцдефгхијклмнопкрстуввхуз")
LETTERS = "".join(chr(0x3042 + 2 * i) for i in range(13)) + "".join(chr(0x4E00 + 5 * i) for i in range(13))
JAPANESE = str.maketrans("abcdefghijklmnopqrstuvwxyz", LETTERS)


def write_in(table: dict[int, int], count: int = 300) -> list[tuple[str, str]]:
    """Toy pairs whose target is in another script, sentence by sentence."""
    return [(source, target.lower().translate(table)) for source, target in toy_pairs(count)]


def decide(rows: list[tuple[str, str]], **options: object) -> tuple[bool | None, list[str]]:
    notes: list[str] = []
    pairs = examine_rows(rows)
    config = choose_separation(pairs, np.arange(len(pairs)), PrepareOptions(**options), notes)
    return config.separate_vocabularies, notes


def test_sides_of_other_scripts_get_a_vocabulary_each_and_it_is_said() -> None:
    separate, notes = decide(write_in(JAPANESE))
    assert separate is True
    assert notes[0].startswith("the sides share no script (Latin / Han and Kana)")
    assert "--no-separate-vocabularies" in notes[0]


@pytest.mark.parametrize(
    "rows",
    [
        toy_pairs(300),
        [(source.lower().translate(CYRILLIC), target) for source, target in write_in(CYRILLIC)],
        [("1 + 2 = 3", "3 = 2 + 1")] * 50,
        [("Good morning.", "2 - 3")] * 50,
    ],
    ids=["Latin", "Cyrillic", "no letters", "letters on one side"],
)
def test_sides_of_one_script_or_of_none_share_a_vocabulary(rows: list[tuple[str, str]]) -> None:
    assert decide(rows) == (False, [])


def test_much_text_in_the_other_script_makes_it_common_but_names_do_not() -> None:
    rows = write_in(CYRILLIC)
    assert decide([(source, f"{target} Tom" if i % 20 == 0 else target) for i, (source, target) in enumerate(rows)])[0]
    assert not decide([(source, f"{target} Tomtom" if i % 2 else target) for i, (source, target) in enumerate(rows)])[0]


@pytest.mark.parametrize("asked", [True, False])
def test_what_is_asked_for_is_done_without_a_word(asked: bool) -> None:
    assert decide(write_in(JAPANESE), separate_vocabularies=asked) == (asked, [])
    assert decide(toy_pairs(50), separate_vocabularies=asked) == (asked, [])


def test_the_prepared_corpus_has_both_vocabularies_and_its_report_says_why(tmp_path: Path) -> None:
    report = prepare(write_tsv(tmp_path / "toy.tsv", write_in(JAPANESE)), tmp_path / "prepared", PrepareOptions())
    corpus = PreparedCorpus.load(tmp_path / "prepared")
    assert list(corpus.tokenizer_files) == ["source", "target"]
    assert corpus.manifest.options["separate_vocabularies"] is True
    assert any("share no script" in note for note in report.notes)
    assert "ん" not in corpus.source_tokenizer.characters and not set(LETTERS) & corpus.source_tokenizer.characters


def test_short_sentences_with_a_final_mark_are_those_of_everyday_life() -> None:
    rows = [("Where is it?", ""), ("Save as", ""), ("a " * 15 + "b.", ""), ("Here.", "")]
    assert measure_everyday_share(examine_rows(rows).source, np.arange(4)) == 0.5
    assert measure_everyday_share(examine_rows(rows).source, np.arange(0)) == 0.0


# Of syllables, so that subwords of several lengths are learnt; many words in the source, few in the target.
RANDOM = Random(1)
SYLLABLES = ["".join(one) for one in product("bdgklm", "aeio")]
SOURCE_WORDS = ["".join(RANDOM.choices(SYLLABLES, k=RANDOM.randint(2, 4))) for _ in range(400)]
TARGET_WORDS = ["".join(one) for one in product(("pu", "ru", "sü"), ("tu", "vu"), ("wur", "xy"))]
SOURCES, TARGETS = (
    [" ".join(RANDOM.choices(words, k=6)) for _ in range(400)] for words in (SOURCE_WORDS, TARGET_WORDS)
)
SIZE = 560


@cache
def models(kind: TokenizerKind) -> tuple[Tokenizer, Tokenizer, Tokenizer]:
    """As it was learnt; in another order; its beginning."""
    settings = TokenizerSettings(kind=kind, lowercase=False)
    learnt = train_tokenizer(SOURCES + TARGETS, settings, vocabulary_size=SIZE)
    source, target = extract_target_vocabulary(learnt, settings, TARGETS)
    return Tokenizer(learnt, settings), Tokenizer(source, settings), Tokenizer(target, settings)


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_the_target_has_the_beginning_of_the_joint_vocabulary(kind: TokenizerKind) -> None:
    learnt, source, target = models(kind)
    size = target.vocabulary_size
    assert size % BLOCK == 0 and size <= LARGEST_SHARE * source.vocabulary_size
    assert source.vocabulary_size == learnt.vocabulary_size
    assert target.spell_pieces(range(size)) == source.spell_pieces(range(size))
    everything = range(learnt.vocabulary_size)
    assert sorted(source.spell_pieces(everything)) == sorted(learnt.spell_pieces(everything))
    first = SPECIALS + len(PLACEHOLDERS) + BYTE_PIECES
    assert target.spell_pieces(range(first)) == learnt.spell_pieces(range(first))


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_both_cut_their_side_as_it_was_learnt(kind: TokenizerKind) -> None:
    learnt, source, target = models(kind)
    for tokenizer, texts in ((source, SOURCES), (target, TARGETS)):
        expected = [learnt.spell_pieces(ids) for ids in learnt.encode_all(texts)]
        assert [tokenizer.spell_pieces(ids) for ids in tokenizer.encode_all(texts)] == expected
    ids = target.encode_all(TARGETS)
    assert [source.decode(one) for one in ids] == TARGETS
    assert max(map(max, source.encode_all(SOURCES))) >= target.vocabulary_size


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
@given(text=st.one_of(st.text(), st.lists(st.sampled_from(SOURCE_WORDS)).map(" ".join)).map(normalise))
def test_the_target_can_spell_whatever_it_is_given(kind: TokenizerKind, text: str) -> None:
    target = models(kind)[2]
    ids = target.encode(text)
    assert target.decode(ids) == text and UNKNOWN not in ids


def test_a_target_that_needs_most_of_it_has_the_whole_vocabulary() -> None:
    settings = TokenizerSettings(kind="word", lowercase=False)
    learnt = train_tokenizer(SOURCES + TARGETS, settings)
    assert extract_target_vocabulary(learnt, settings, SOURCES + TARGETS) == (learnt, learnt)


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_what_is_needed_suffices(kind: TokenizerKind) -> None:
    settings = TokenizerSettings(kind=kind, lowercase=False)
    learnt = train_tokenizer(SOURCES + TARGETS, settings, vocabulary_size=SIZE)
    model = ModelProto.FromString(learnt)
    needed = collect_needed_pieces(model, settings, Tokenizer(learnt, settings).encode_all(TARGETS))
    alone, whole = Tokenizer(select_pieces(model, sorted(needed)), settings), Tokenizer(learnt, settings)
    for text in TARGETS:
        assert alone.spell_pieces(alone.encode(text)) == whole.spell_pieces(whole.encode(text))


def test_what_a_piece_is_merged_from_goes_by_the_order_of_merges() -> None:
    scores = {"ab": -3.0, "bc": -1.0, "cd": -2.0, "bcd": -4.0, "abcd": -5.0}
    assert list_intermediate_merges("abcd", scores) == ["bc", "bcd"]  # cd is gone when its turn comes
    assert list_intermediate_merges("ab", scores) == []
    assert list_intermediate_merges("xyz", {}) == []


def test_a_prepared_corpus_has_both_and_hands_them_on(tmp_path: Path) -> None:
    corpus = write_tsv(tmp_path / "a.xx-yy.tsv", list(zip(SOURCES, TARGETS, strict=True)))
    prepare(corpus, tmp_path / "first", PrepareOptions(vocab_size=SIZE))
    prepare(corpus, tmp_path / "second", PrepareOptions(tokenizer_from=str(tmp_path / "first")))
    first, second = (PreparedCorpus.load(tmp_path / name) for name in ("first", "second"))
    for prepared in (first, second):
        assert prepared.has_joint_vocabulary
        assert [path.name for path in prepared.tokenizer_files.values()] == ["joint.spm", "target.spm"]
        assert prepared.target_tokenizer.vocabulary_size < prepared.source_tokenizer.vocabulary_size == SIZE
        assert prepared.load_encoded("train").target.ids.max() < prepared.target_tokenizer.vocabulary_size
    for name in ("joint.spm", "target.spm"):
        assert second.manifest.outputs[name] == first.manifest.outputs[name]


def test_the_targets_part_is_refused_for_both_sides(tmp_path: Path) -> None:
    corpus = write_tsv(tmp_path / "a.xx-yy.tsv", list(zip(SOURCES, TARGETS, strict=True)))
    prepare(corpus, tmp_path / "first", PrepareOptions(vocab_size=SIZE))
    for name, refused in (("target.spm", True), ("joint.spm", False)):
        config = PrepareOptions(tokenizer_from=str(tmp_path / "first" / name))
        with pytest.raises(OptionError, match="only the target's subwords") if refused else nullcontext():
            prepare(corpus, tmp_path / name, config)
        assert (tmp_path / name).exists() != refused
