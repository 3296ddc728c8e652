"""A network that starts from another with other subwords: which rows it keeps, and what the others are like."""

from pathlib import Path

import numpy as np
import pytest

from nmt_cli.corpus.dataset import PreparedCorpus, reverse_corpus
from nmt_cli.errors import DamagedError
from nmt_cli.model.seq2seq import Seq2Seq
from nmt_cli.text.symbols import TokenizerSettings
from nmt_cli.text.tokenizer import Tokenizer, train_tokenizer
from nmt_cli.training.checkpoints import NamedArrays, assign_weights
from nmt_cli.training.data.batches import read_vocabularies
from nmt_cli.training.transfer import (
    OUTPUT_WEIGHTS,
    SOURCE_EMBEDDING,
    TARGET_EMBEDDING,
    Blueprint,
    ParentWeights,
    PieceMatcher,
    VocabularyRows,
    list_keys,
    require_rows,
)
from nmt_cli.training.watcher import RowCounts
from support.corpora import prepare_pairs
from support.models import KINDS, USUAL_KINDS, prepare_toy, tiny_config
from support.slow import sample

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
