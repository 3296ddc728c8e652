"""A network that starts from another with other subwords: which rows it keeps, and what the others are like."""

import random
from pathlib import Path

import numpy as np
import pytest
from sentencepiece import sentencepiece_model_pb2 as proto

from nmt_cli.arrays.types import UNKNOWN
from nmt_cli.corpus.dataset import PreparedCorpus, reverse_corpus
from nmt_cli.corpus.steps.subwords import select_pieces
from nmt_cli.errors import DamagedError
from nmt_cli.model.seq2seq import Seq2Seq
from nmt_cli.text.symbols import BLANK, PLACEHOLDERS, SPECIALS, TokenizerKind, TokenizerSettings
from nmt_cli.text.tokenizer import Tokenizer, train_tokenizer
from nmt_cli.training.checkpoints import NamedArrays, assign_weights
from nmt_cli.training.data.batches import read_vocabularies
from nmt_cli.training.transfer import (
    NO_MATCH,
    OUTPUT_WEIGHTS,
    SOURCE_EMBEDDING,
    TARGET_EMBEDDING,
    Blueprint,
    ParentWeights,
    PieceMatch,
    PieceMatcher,
    VocabularyRows,
    list_keys,
    require_rows,
)
from nmt_cli.training.watcher import RowCounts
from support.corpora import prepare_pairs
from support.models import KINDS, USUAL_KINDS, prepare_toy, tiny_config
from support.slow import sample
from support.tokenizers import KINDS as TOKENIZER_KINDS
from support.tokenizers import toy_tokenizer

BIAS = OUTPUT_WEIGHTS[1]
VOCABULARIES: dict[str, dict[str, object]] = {
    "joint": {"vocab_size": 330},
    "separate": {"separate_vocabularies": True, "vocab_size": 310},
    "char": {"tokenizer": "char", "vocab_size": None},
    "word": {"tokenizer": "word", "vocab_size": None},
    "separate words": {"tokenizer": "word", "vocab_size": None, "separate_vocabularies": True},
    "bpe": {"tokenizer": "bpe"},
    "lower case": {"lowercase": True},
}


@pytest.fixture(scope="module", params=list(VOCABULARIES))
def any_corpus(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> PreparedCorpus:
    return prepare_toy(tmp_path_factory.mktemp("toy"), 300, **VOCABULARIES[request.param])


@pytest.fixture(scope="module")
def small_target(tmp_path_factory: pytest.TempPathFactory) -> PreparedCorpus:
    """A corpus whose targets use a part of the joint vocabulary alone."""
    directory = tmp_path_factory.mktemp("small")
    words = [f"{first}{second}{third}" for first in "bdgk" for second in "aeiou" for third in "lmnrs"]
    targets = [" ".join(("no", "so")[number >> bit & 1] for bit in range(8)) for number in range(200)]
    pairs = [(f"{words[i % 100]} {words[(7 * i + i // 100) % 100]}", target) for i, target in enumerate(targets)]
    corpus = prepare_pairs(directory, pairs, dev="10", test="10", keep=("length-ratio",))
    assert list(corpus.tokenizer_files) == ["joint", "target"]
    return corpus


def make_parent(corpus: PreparedCorpus, **options: object) -> ParentWeights:
    """The random weights of a tiny network for a corpus, the bias too."""
    vocabularies = read_vocabularies(corpus)
    network = Seq2Seq(tiny_config(**options), vocabularies)
    arrays = {weight.path: np.asarray(weight.value) for weight in network.weights}
    arrays[BIAS] = np.random.default_rng(3).normal(size=arrays[BIAS].shape).astype(np.float32)
    source, outputs = PieceMatcher(corpus.source_tokenizer), PieceMatcher(corpus.target_tokenizer)
    joint = VocabularyRows(source, arrays[TARGET_EMBEDDING])
    if vocabularies.joint:
        return ParentWeights(arrays, joint, joint, outputs)
    tables = VocabularyRows(source, arrays[SOURCE_EMBEDDING]), VocabularyRows(outputs, arrays[TARGET_EMBEDDING])
    return ParentWeights(arrays, *tables, outputs)


def fits(arrays: NamedArrays, corpus: PreparedCorpus, **options: object) -> bool:
    """Whether these are the weights of a network for a corpus."""
    network = Seq2Seq(tiny_config(**options), read_vocabularies(corpus))
    assign_weights(network, arrays, Path("weights.npz"))
    return all(np.isfinite(array).all() for array in arrays.values())


def test_with_the_parents_own_vocabulary_all_weights_are_the_parents(any_corpus: PreparedCorpus) -> None:
    parent = make_parent(any_corpus)
    arrays, counts = parent.adapt_weights(any_corpus, seed=1)
    assert arrays.keys() == parent.arrays.keys()
    for name, array in parent.arrays.items():
        np.testing.assert_array_equal(arrays[name], array)
        assert arrays[name].dtype == array.dtype
    sizes = read_vocabularies(any_corpus)
    expected = {"joint": sizes.source} if sizes.joint else {"source": sizes.source, "target": sizes.target}
    assert counts == {side: RowCounts(size, 0, 0) for side, size in expected.items()}


@pytest.mark.parametrize("options", sample(KINDS, *USUAL_KINDS), ids=str)
def test_weights_of_every_kind_of_network_are_adapted(
    small_target: PreparedCorpus, separate: PreparedCorpus, options: dict[str, object]
) -> None:
    for first, second in ((small_target, separate), (separate, small_target)):
        arrays, _ = make_parent(first, **options).adapt_weights(second, seed=1)
        assert fits(arrays, second, **options)


@pytest.fixture(scope="module")
def separate(tmp_path_factory: pytest.TempPathFactory) -> PreparedCorpus:
    return prepare_toy(tmp_path_factory.mktemp("separate"), 300, separate_vocabularies=True, vocab_size=310)


def test_any_vocabulary_can_follow_any_other(any_corpus: PreparedCorpus, separate: PreparedCorpus) -> None:
    for parent, child in ((any_corpus, separate), (separate, any_corpus), (reverse_corpus(any_corpus), any_corpus)):
        arrays, counts = make_parent(parent).adapt_weights(child, seed=1)
        assert fits(arrays, child)
        assert all(count.kept > 14 for count in counts.values())  # symbols and placeholders at least
        table, sizes = arrays[TARGET_EMBEDDING], read_vocabularies(child)
        assert len(table) == (sizes.source if sizes.joint else sizes.target)


def test_a_parent_without_a_row_for_each_piece_is_damaged(separate: PreparedCorpus, any_corpus: PreparedCorpus) -> None:
    for corpus in (separate, any_corpus):
        vocabularies, arrays = read_vocabularies(corpus), make_parent(corpus).arrays
        require_rows(arrays, vocabularies, Path("weights.npz"))
        for name in arrays.keys() & {SOURCE_EMBEDDING, TARGET_EMBEDDING, BIAS}:
            for wrong in ({name: arrays[name][1:]}, {name: np.zeros(())}):
                with pytest.raises(DamagedError, match=r"weights\.npz"):
                    require_rows(arrays | wrong, vocabularies, Path("weights.npz"))
        without = {name: array for name, array in arrays.items() if name != TARGET_EMBEDDING}
        with pytest.raises(DamagedError, match=r"weights\.npz"):
            require_rows(without, vocabularies, Path("weights.npz"))


def test_the_weights_without_rows_stay(small_target: PreparedCorpus, separate: PreparedCorpus) -> None:
    parent = make_parent(small_target)
    arrays, _ = parent.adapt_weights(separate, seed=1)
    tables = {SOURCE_EMBEDDING, TARGET_EMBEDDING, *OUTPUT_WEIGHTS}
    for name in parent.arrays.keys() - tables:
        assert arrays[name] is parent.arrays[name]


def test_the_rows_of_shared_pieces_are_the_parents_on_each_side(
    separate: PreparedCorpus, any_corpus: PreparedCorpus
) -> None:
    parent = make_parent(any_corpus, tied=False)
    arrays, _ = parent.adapt_weights(separate, seed=1)
    joint = read_vocabularies(any_corpus).joint
    sources = parent.arrays[TARGET_EMBEDDING if joint else SOURCE_EMBEDDING]
    embeddings = (
        (any_corpus.source_tokenizer if joint else any_corpus.target_tokenizer),
        parent.arrays[TARGET_EMBEDDING],
    )
    for child, name, (tokenizer, rows) in (
        (separate.source_tokenizer, SOURCE_EMBEDDING, (any_corpus.source_tokenizer, sources)),
        (separate.target_tokenizer, TARGET_EMBEDDING, embeddings),
        *(
            (separate.target_tokenizer, path, (any_corpus.target_tokenizer, parent.arrays[path]))
            for path in OUTPUT_WEIGHTS
        ),
    ):
        places = {key: piece_id for piece_id, key in reversed(list(enumerate(list_keys(tokenizer))))}
        shared = [(i, places[key]) for i, key in enumerate(list_keys(child)) if key in places]
        assert len(shared) > 14
        for piece_id, place in shared:
            np.testing.assert_array_equal(arrays[name][piece_id], rows[place])


def test_a_joint_vocabulary_takes_from_the_target_what_is_written(small_target: PreparedCorpus) -> None:
    tokenizer, written = small_target.source_tokenizer, small_target.target_tokenizer.vocabulary_size
    size = tokenizer.vocabulary_size
    tables = [VocabularyRows(PieceMatcher(tokenizer), np.full((size, 2), value, np.float32)) for value in (1.0, 2.0)]
    rows, counts = Blueprint("", "joint", tokenizer, tuple(tables), written).fill_rows(np.random.default_rng(1))
    assert counts == RowCounts(size, 0, 0)
    np.testing.assert_array_equal(rows[:, 0], [1.0] * written + [2.0] * (size - written))


def test_a_piece_of_the_other_side_is_better_than_one_that_is_spelled() -> None:
    texts = {"source": ["abcd"] * 9, "target": ["ab cd a b c d"] * 9}
    source, target = (make_words(*lines) for lines in texts.values())
    tables = tuple(
        VocabularyRows(PieceMatcher(tokenizer), np.arange(tokenizer.vocabulary_size, dtype=np.float32))
        for tokenizer in (target, source)
    )
    child = make_words("abcd ab")
    rows, _ = Blueprint("", "joint", child, tables, child.vocabulary_size).fill_rows(np.random.default_rng(1))
    keys = list_keys(child)
    assert rows[keys.index((False, "▁abcd"))] == list_keys(source).index((False, "▁abcd"))
    assert rows[keys.index((False, "▁ab"))] == list_keys(target).index((False, "▁ab"))


def make_words(*texts: str) -> Tokenizer:
    settings = TokenizerSettings(kind="word", lowercase=False)
    return Tokenizer(train_tokenizer([*texts] * 9, settings, minimum_count=1), settings)


def test_spelled_rows_are_means_and_drawn_rows_spread_as_the_parents_do() -> None:
    """Half of the words of the child are known, and half are strange to a parent of characters."""
    settings = TokenizerSettings(kind="char", lowercase=False)
    parent = PieceMatcher(Tokenizer(train_tokenizer(["abc cab bac"] * 9, settings), settings))
    generator = np.random.default_rng(2)
    count = parent.tokenizer.vocabulary_size
    rows = generator.normal([5.0, -1.0], [0.5, 3.0], (count, 2)).astype(np.float32)
    strange = [f"{a}{b}{c}" for a in "αβγδεζηθ" for b in "ικλμνξοπ" for c in "ρστυφχψω"]
    child = make_words(" ".join(strange), "abc ca")
    blueprint = Blueprint("", "target", child, (VocabularyRows(parent, rows),))
    filled, counts = blueprint.fill_rows(np.random.default_rng(1))
    keys = list_keys(child)
    letters = [rows[list_keys(parent.tokenizer).index((False, letter))] for letter in "ca"]
    np.testing.assert_allclose(filled[keys.index((False, "▁ca"))], np.mean(letters, axis=0), rtol=1e-6)
    drawn = filled[[keys.index((False, f"▁{word}")) for word in strange]]
    learned = rows[parent.learned_ids]
    assert counts.drawn == len(strange) and counts.spelled >= 2 and counts.kept >= 14
    # 512 draws: the mean is within four standard errors, and the spread within 13 %
    assert (np.abs(drawn.mean(axis=0) - learned.mean(axis=0)) < 4 * learned.std(axis=0) / len(strange) ** 0.5).all()
    np.testing.assert_allclose(drawn.std(axis=0), learned.std(axis=0), rtol=0.13)


def test_what_is_drawn_follows_from_the_seed(small_target: PreparedCorpus, separate: PreparedCorpus) -> None:
    parent = make_parent(separate)
    first, again, other = (parent.adapt_weights(small_target, seed)[0][TARGET_EMBEDDING] for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


# Pieces of one vocabulary in another: what is the same, what is spelled, and what is neither.


def match(text: str, parent: Tokenizer, *, child: TokenizerKind = "unigram", lowercase: bool = False) -> PieceMatch:
    """The match of a piece that a vocabulary of one kind has, as that kind writes it."""
    key = (False, text.removeprefix("▁￭") if child == "word" else text)
    return PieceMatcher(parent).match_piece(key, folds=lowercase)


def texts_of(match: PieceMatch, parent: Tokenizer) -> list[str]:
    return [list_keys(parent)[piece_id][1] for piece_id in match.ids]


def shuffle_pieces(tokenizer: Tokenizer, seed: int = 1) -> tuple[Tokenizer, list[int]]:
    """The same vocabulary in another order, and the earlier ids of its pieces; symbols stay in front."""
    model = proto.ModelProto.FromString(tokenizer.model)
    others = list(range(SPECIALS, len(model.pieces)))
    random.Random(seed).shuffle(others)
    order = [*range(SPECIALS), *others]
    return Tokenizer(select_pieces(model, order), tokenizer.settings), order


@pytest.mark.parametrize("kind", TOKENIZER_KINDS)
def test_every_piece_is_itself_in_its_own_vocabulary(kind: TokenizerKind) -> None:
    tokenizer = toy_tokenizer(kind)
    matches = PieceMatcher(tokenizer).match_pieces(tokenizer)
    assert matches == [PieceMatch((piece_id,), is_shared=True) for piece_id in range(tokenizer.vocabulary_size)]


@pytest.mark.parametrize("kind", TOKENIZER_KINDS)
def test_pieces_in_another_order_are_found_where_they_were(kind: TokenizerKind) -> None:
    shuffled, order = shuffle_pieces(toy_tokenizer(kind))
    matches = PieceMatcher(toy_tokenizer(kind)).match_pieces(shuffled)
    assert [match.ids for match in matches] == [(piece_id,) for piece_id in order]


@pytest.mark.parametrize("parent", TOKENIZER_KINDS)
@pytest.mark.parametrize("child", TOKENIZER_KINDS)
def test_symbols_and_placeholders_are_themselves_in_any_kind_of_vocabulary(
    child: TokenizerKind, parent: TokenizerKind
) -> None:
    matches = PieceMatcher(toy_tokenizer(parent)).match_pieces(toy_tokenizer(child))
    assert [match.ids for match in matches[:SPECIALS]] == [(piece_id,) for piece_id in range(SPECIALS)]
    places = [list_keys(toy_tokenizer(kind)).index((False, PLACEHOLDERS[3])) for kind in (child, parent)]
    assert matches[places[0]] == PieceMatch((places[1],), is_shared=True)


@pytest.mark.parametrize("parent", ["unigram", "bpe", "char"])
@pytest.mark.parametrize("child", TOKENIZER_KINDS)
def test_the_pieces_that_spell_a_piece_make_up_its_text(child: TokenizerKind, parent: TokenizerKind) -> None:
    other, keys = toy_tokenizer(child), list_keys(toy_tokenizer(child))
    matches = PieceMatcher(toy_tokenizer(parent)).match_pieces(other)
    spelled = [(keys[i][1], match) for i, match in enumerate(matches) if match.ids and not match.is_shared]
    assert len(spelled) > 9 or child != "word"
    for text, match in spelled:
        joined = "".join(texts_of(match, toy_tokenizer(parent)))
        assert joined.removeprefix(BLANK) == text.removeprefix(BLANK)


def test_a_piece_within_a_word_is_not_spelled_by_one_that_begins_a_word() -> None:
    parent = toy_tokenizer("char")
    assert texts_of(match("og", parent), parent) == ["o", "g"]
    assert texts_of(match("▁og", parent), parent) == ["o", "g"]  # the blank alone says little of the word


def test_what_takes_bytes_or_unknown_pieces_is_not_spelled() -> None:
    for kind in TOKENIZER_KINDS:
        assert match("▁日本", toy_tokenizer(kind)) == NO_MATCH
        assert UNKNOWN not in match("▁dog", toy_tokenizer(kind)).ids
    assert match("▁日本dog", toy_tokenizer("unigram")) == NO_MATCH


def test_a_byte_is_found_among_bytes_and_spelled_by_nothing() -> None:
    matcher = PieceMatcher(toy_tokenizer("bpe"))
    assert texts_of(matcher.match_piece((True, "<0x41>"), folds=False), matcher.tokenizer) == ["<0x41>"]
    assert not matcher.match_piece((False, "<0x41>"), folds=False).is_shared
    assert PieceMatcher(toy_tokenizer("char")).match_piece((True, "<0x41>"), folds=False) == NO_MATCH


def test_a_word_is_found_in_subwords_and_a_joined_mark_without_its_joiner() -> None:
    texts = ["the dog, the cat."] * 30
    words = make_tokenizer(texts, "word")
    assert (False, ",") in list_keys(words) and (False, "▁dog") in list_keys(words)
    characters = make_tokenizer(texts, "char")
    assert match("▁￭,", characters, child="word").is_shared
    assert match(",", words).is_shared and match("▁dog", words).is_shared
    assert match("do", words) == NO_MATCH  # words are known or not


def test_case_makes_no_other_piece_where_one_side_is_lower_cased() -> None:
    texts = ["Dog dog DOG cat"] * 30
    cased, lower = make_tokenizer(texts, "word"), make_tokenizer(texts, "word", lowercase=True)
    in_lower = match("▁Dog", lower)
    assert texts_of(in_lower, lower) == ["▁dog"] and not in_lower.is_shared
    assert match("▁dog", cased, lowercase=True).is_shared  # the piece itself comes first
    only_cased = make_tokenizer(["Dog DOG"] * 30, "word")
    assert sorted(texts_of(match("▁dog", only_cased, lowercase=True), only_cased)) == ["▁DOG", "▁Dog"]
    assert match("▁dog", only_cased) == NO_MATCH  # both sides have case: another word


def make_tokenizer(texts: list[str], kind: TokenizerKind, *, lowercase: bool = False) -> Tokenizer:
    settings = TokenizerSettings(kind=kind, lowercase=lowercase)
    return Tokenizer(train_tokenizer(texts, settings), settings)
