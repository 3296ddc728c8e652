"""A joint vocabulary of two languages without a common word, so that what the target needs can be told."""

from contextlib import nullcontext
from functools import cache
from itertools import product
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sentencepiece.sentencepiece_model_pb2 import ModelProto

from nmt_cli.arrays.special_ids import UNKNOWN
from nmt_cli.corpus.config import PrepareConfig
from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.corpus.prepare import prepare
from nmt_cli.corpus.steps.target_vocabulary import (
    BLOCK,
    LARGEST_SHARE,
    collect_needed_pieces,
    extract_target_vocabulary,
    list_intermediate_merges,
    select_pieces,
)
from nmt_cli.errors import OptionError
from nmt_cli.text.normalise import normalise
from nmt_cli.text.symbols import PLACEHOLDERS, SPECIALS
from nmt_cli.text.tokenizer import Tokenizer
from nmt_cli.text.tokenizer_settings import TokenizerKind, TokenizerSettings
from nmt_cli.text.tokenizer_training import BYTE_PIECES, train_tokenizer
from support.corpora import write_tsv

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
    assert target.decode(target.sample_all([text], alpha=0.2, seed=1)[0]) == text


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
    prepare(corpus, tmp_path / "first", PrepareConfig(vocab_size=SIZE))
    prepare(corpus, tmp_path / "second", PrepareConfig(tokenizer_from=str(tmp_path / "first")))
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
    prepare(corpus, tmp_path / "first", PrepareConfig(vocab_size=SIZE))
    for name, refused in (("target.spm", True), ("joint.spm", False)):
        config = PrepareConfig(tokenizer_from=str(tmp_path / "first" / name))
        with pytest.raises(OptionError, match="only the target's subwords") if refused else nullcontext():
            prepare(corpus, tmp_path / name, config)
        assert (tmp_path / name).exists() != refused
