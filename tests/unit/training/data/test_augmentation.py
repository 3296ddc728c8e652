"""Tests of augmentation: ."""

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.arrays.rows import pad_rows
from nmt_cli.arrays.types import END, UNKNOWN
from nmt_cli.corpus.config import PrepareOptions
from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.corpus.manifest import SentencePair
from nmt_cli.corpus.prepare import prepare
from nmt_cli.text.symbols import PLACEHOLDERS, TokenizerKind
from nmt_cli.text.tokenizer import Tokenizer
from nmt_cli.training.data.augmentation import (
    Augmentation,
    TextRewrite,
    add_typing_errors,
    append_word,
    apply_rewrites,
    find_shared_words,
    insert_placeholders,
    make_rewrites,
    write_casually,
    write_source_casually,
)
from nmt_cli.training.data.batches import Batch, TrainingBatches, make_batch, shift_right
from nmt_cli.training.options import TrainOptions
from support.corpora import prepare_tagged
from support.final_marks import ENDED
from support.models import prepare_toy, toy_pairs

VARIED = TrainOptions(batch=32, careless=0.5, placeholders=0.0)


EVERYTHING = TrainOptions(batch=8, careless=0.5, placeholders=0.5)
OFF = TrainOptions(batch=8, careless=0.0, placeholders=0.0)


def equal(batch: Batch, other: Batch) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(vars(batch).values(), vars(other).values(), strict=True))


@pytest.mark.parametrize("config", [VARIED, EVERYTHING], ids=["varied", "everything"])
def test_what_varies_follows_from_seed_epoch_and_batch_alone(corpus: PreparedCorpus, config: TrainOptions) -> None:
    batches = TrainingBatches(corpus, config)
    whole, again, other = list(batches.make_epoch(2)), list(batches.make_epoch(2)), list(batches.make_epoch(3))
    assert all(map(equal, whole, again))
    assert not any(map(equal, whole, other))
    later = list(batches.make_epoch(2, skip=3))
    assert len(later) == len(whole) - 3
    assert all(map(equal, later, whole[3:]))


def test_the_previous_tokens_are_the_targets_moved_by_one(corpus: PreparedCorpus) -> None:
    pairs = {(pair.source, pair.target) for pair in corpus.read_pairs("train")}
    for batch in TrainingBatches(corpus, VARIED).make_epoch(1):
        assert (batch.previous == shift_right(batch.target)).all()
        assert {corpus.target_tokenizer.decode(row) for row in batch.target} <= {target for _, target in pairs}


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> PreparedCorpus:
    """Every eighth of the bundled English-German pairs."""
    folder = tmp_path_factory.mktemp("real")
    bundled = Path(__file__).parents[4] / "data" / "eng-deu.tsv"
    lines = bundled.read_text(encoding="utf-8").splitlines(keepends=True)[::8]
    (folder / "part.tsv").write_text("".join(lines), encoding="utf-8")
    prepare(folder / "part.tsv", folder / "prepared", PrepareOptions(vocab_size=2000, dev="100", test="100"))
    return PreparedCorpus.load(folder / "prepared")


def test_batches_of_tokens_hold_about_as_many(real: PreparedCorpus) -> None:
    batches = TrainingBatches(real, TrainOptions(batch_tokens=600, careless=0.0, placeholders=0.0))
    epoch = list(batches.make_epoch(1))
    assert len(epoch) == batches.steps
    sizes = [max(side.size for side in batch.sides) for batch in epoch]
    assert 500 < np.mean(sizes) < 600
    assert max(sizes) <= 600
    assert sum(len(batch.source) for batch in epoch) == len(real.read_pairs("train"))


@pytest.mark.parametrize("options", [{"batch": 32}, {"batch_tokens": 600}])
def test_little_is_padding_although_what_varies_has_other_lengths(
    real: PreparedCorpus, options: dict[str, Any]
) -> None:
    sides = [side for batch in TrainingBatches(real, TrainOptions(**options)).make_epoch(1) for side in batch.sides]
    assert 1 - sum((side != 0).sum() for side in sides) / sum(side.size for side in sides) < 0.10


class CountingTokenizer:
    """A tokenizer that counts its calls, and the sentences it is given."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self.calls = dict.fromkeys(("decode_all", "encode_all"), 0)
        self.sentences = dict(self.calls)

    def __getattr__(self, name: str) -> Any:
        method = getattr(self.tokenizer, name)
        if name not in self.calls:
            assert name in ("settings", "has_unknown", "tag_ids", "separator_id", "vocabulary_size"), name
            return method

        def count(sentences: Any, **options: Any) -> Any:
            sentences = list(sentences)
            self.calls[name] += 1
            self.sentences[name] += len(sentences)
            return method(sentences, **options)

        return count


def count_work(batches: TrainingBatches, monkeypatch: pytest.MonkeyPatch) -> tuple[int, list[CountingTokenizer]]:
    """The groups of an epoch, and what the tokenizers of both sides did in it."""
    augment, groups = batches.augment_batch, []
    augmentation = batches.augmentation
    assert augmentation.source_tokenizer is not None
    counting = [CountingTokenizer(augmentation.source_tokenizer), CountingTokenizer(augmentation.target_tokenizer)]
    changed: Any = replace(augmentation, source_tokenizer=counting[0], target_tokenizer=counting[1])  # type: ignore[arg-type]
    monkeypatch.setattr(batches, "augmentation", changed)
    monkeypatch.setattr(batches, "augment_batch", lambda *arguments: groups.append(1) or augment(*arguments))
    list(batches.make_epoch(1))
    return len(groups), counting


@pytest.mark.parametrize(
    "config", [EVERYTHING, TrainOptions(batch=8), replace(OFF, careless=1.0)], ids=["everything", "default", "careless"]
)
def test_a_group_is_decoded_and_encoded_once(
    corpus: PreparedCorpus, config: TrainOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    batches = TrainingBatches(corpus, config)
    pairs = len(batches.epoch_rows.select_rows(1))
    groups, counting = count_work(batches, monkeypatch)
    assert groups < batches.steps
    for tokenizer in counting:
        assert 0 < tokenizer.calls["decode_all"] <= groups
        assert max(tokenizer.calls.values()) == groups
        assert tokenizer.sentences["decode_all"] <= pairs
        assert tokenizer.sentences["encode_all"] <= tokenizer.sentences["decode_all"]


def test_without_rewrites_nothing_is_decoded(corpus: PreparedCorpus, monkeypatch: pytest.MonkeyPatch) -> None:
    groups, counting = count_work(TrainingBatches(corpus, OFF), monkeypatch)
    assert groups and not any(count for tokenizer in counting for count in tokenizer.calls.values())


def test_with_everything_off_batches_are_those_of_the_corpus(corpus: PreparedCorpus) -> None:
    batches, generator = TrainingBatches(corpus, OFF), np.random.default_rng(1)
    batch = make_batch(batches.split, np.arange(40))
    augmented = batches.augment_batch(batch, generator)
    assert all(side is before for side, before in zip(vars(augmented).values(), vars(batch).values(), strict=True))


def test_rows_that_no_rewrite_changes_keep_their_ids(corpus: PreparedCorpus) -> None:
    """They are learned in the segmentation that they have, although another one is the best."""
    tokenizer = corpus.source_tokenizer
    spelled = [piece for letter in "bade gigi" for piece in tokenizer.encode(letter)]
    rows = pad_rows([[*spelled, END], [*tokenizer.encode("gigi."), END]])
    augmentation = Augmentation(tokenizer, tokenizer, (TextRewrite(1.0, write_source_casually),))
    source, target = augmentation.augment_group(rows, rows, np.random.default_rng(1))
    assert source[0][source[0] != 0].tolist() == [*spelled, END]
    assert tokenizer.decode(source[1]) == "gigi"
    assert target is rows


@pytest.mark.parametrize("kind", ["char", "word"])
def test_unknown_tokens_stay_what_they_are_while_their_sentence_changes(kind: TokenizerKind, tmp_path: Path) -> None:
    tokenizer = prepare_toy(tmp_path, 100, tokenizer=kind, vocab_size=None).source_tokenizer
    text = "bade %s gigi %s." if kind == "word" else "ba%sde g%sgi."
    ids = tokenizer.encode(text.replace("%s", "жж"))
    assert ids.count(UNKNOWN) == 2
    careless = tokenizer.encode(text.replace("%s", "жж").rstrip("."))
    augmentation = Augmentation(tokenizer, tokenizer, (TextRewrite(1.0, write_source_casually),))
    rows = np.array([[*ids, END]])
    source, target = augmentation.augment_group(rows, rows, np.random.default_rng(1))
    assert source.tolist() == [[*careless, END]] and source[0].tolist().count(UNKNOWN) == 2
    assert target is rows


WORDS = ["Tom", "Maria", "2013", "bade", "gigi", "the", "dog", "Hund", "⟦4⟧", "a-b", "don't", "«x»"]
ends = st.sampled_from(["", ".", "?!", " .", "。"])
texts = st.tuples(st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join), ends).map("".join)


def find_placeholders(text: str) -> Counter[str]:
    return Counter(re.findall(r"⟦\d⟧", text))


@given(
    texts_of_pairs=st.lists(st.tuples(texts, texts), max_size=8),
    toys=st.lists(st.sampled_from(toy_pairs(300)), max_size=8),
    seed=st.integers(0, 2**32),
)
def test_each_rewrite_keeps_pairs_aligned(
    texts_of_pairs: list[tuple[str, str]], toys: list[tuple[str, str]], seed: int
) -> None:
    """Each pair has a number on both sides, which no rewrite takes for a word that it knows."""
    numbered = enumerate([*texts_of_pairs, *toys])
    pairs = [SentencePair(f"no{number}x {source}", f"no{number}x {target}") for number, (source, target) in numbered]
    rewrites = make_rewrites(TrainOptions(careless=1.0, placeholders=1.0))
    for _, rewrite in rewrites:
        generator = np.random.default_rng(seed)
        rewritten = [rewrite(source, target, generator) for source, target in pairs]
        for number, (before, after) in enumerate(zip(pairs, rewritten, strict=True)):
            assert all(f"no{number}x" in side for side in after)
            new = [find_placeholders(side) - find_placeholders(old) for old, side in zip(before, after, strict=True)]
            assert new[0] == new[1]
    chosen = np.random.default_rng(seed).random((len(rewrites), len(pairs))) < 0.5
    rewritten = apply_rewrites(rewrites, chosen, pairs, np.random.default_rng(seed))
    for number, (before, after) in enumerate(zip(pairs, rewritten, strict=True)):
        assert all(f"no{number}x" in side for side in after)
        assert after == before or chosen[:, number].any()


def test_no_rewrite_changes_or_learns_what_is_held_out(corpus: PreparedCorpus) -> None:
    files = {path: path.read_bytes() for path in corpus.directory.iterdir()}
    held_out = {name: corpus.load_encoded(name) for name in ("dev", "test")}
    before = {name: make_batch(split, np.arange(len(split.target))) for name, split in held_out.items()}
    batches = TrainingBatches(corpus, EVERYTHING)
    known = {word for pair in corpus.read_pairs("train") for text in pair for word in text.rstrip(".").split()}
    tokenizers = corpus.source_tokenizer, corpus.target_tokenizer
    for batch in batches.make_epoch(1):
        for side, tokenizer in zip(batch.sides, tokenizers, strict=True):
            words = {word for row in side for word in tokenizer.decode(row).rstrip(".").split()}
            assert {word for word in words if word[0] not in "⟦."} <= known
    for name, split in held_out.items():
        assert equal(make_batch(split, np.arange(len(split.target))), before[name])
        sides = [
            tokenizer.decode_all(side.tolist()) for side, tokenizer in zip(before[name].sides, tokenizers, strict=True)
        ]
        assert list(zip(*sides, strict=True)) == corpus.read_pairs(name)
    assert {path: path.read_bytes() for path in corpus.directory.iterdir()} == files


def test_tags_stay_in_front_of_what_is_rewritten_unless_they_are_dropped(tmp_path: Path) -> None:
    corpus = prepare_tagged(tmp_path)
    tag_ids = [*corpus.source_tokenizer.tag_ids.values()]
    config = TrainOptions(batch=16, placeholders=0.0, careless=1.0, tag_dropout=0.0)
    for dropout in (0.0, 1.0):
        made = TrainingBatches(corpus, replace(config, tag_dropout=dropout)).make_epoch(1)
        sources = np.concatenate([batch.source[:, :4] for batch in made])
        is_tag = np.isin(sources, tag_ids)
        assert is_tag[:, 0].all() == (dropout == 0.0)
        assert is_tag.any() == (dropout == 0.0)
        assert not (is_tag[:, 1:] & ~is_tag[:, :-1]).any()  # none behind the text


TEXT = "Where is Anna's old house, and who lives in it?"


def test_a_source_of_marks_alone_stays_as_it_is() -> None:
    generator = np.random.default_rng(1)
    assert write_source_casually("?!", "Wie?", generator) == SentencePair("?!", "Wie?")
    assert write_source_casually("Where is Tom?", "Wo ist Tom?", generator) == ("where is tom", "Wo ist Tom?")


def test_only_what_is_asked_for_draws_random_numbers() -> None:
    config = TrainOptions(placeholders=0.1)
    assert [share for share, _ in make_rewrites(config)] == [0.1, 0.3]
    assert [share for share, _ in make_rewrites(replace(config, typing_errors=0.2))] == [0.1, 0.2, 0.3]


def test_about_one_letter_in_twenty_is_mistyped() -> None:
    generator = np.random.default_rng(1)
    texts = [add_typing_errors("abcdefghij" * 10, generator) for _ in range(100)]
    changed = [sum(a != b for a, b in zip(text, "abcdefghij" * 10, strict=False)) for text in texts]
    assert 50 < sum(text != "abcdefghij" * 10 for text in texts) and min(changed) < max(changed)
    lengths = np.array([len(text) for text in texts])
    assert lengths.mean() == pytest.approx(100, abs=1)  # as many letters are left out as are doubled


@given(st.text(), st.integers(0, 100))
def test_typing_errors_change_letters_alone(text: str, seed: int) -> None:
    typed = add_typing_errors(text, np.random.default_rng(seed))
    assert [c for c in typed if not c.isalpha()] == [c for c in text if not c.isalpha()]


@given(st.integers(0, 1000))
def test_typing_errors_leave_placeholders(seed: int) -> None:
    assert "⟦3⟧" in add_typing_errors(f"{TEXT} ⟦3⟧ {TEXT}", np.random.default_rng(seed))


SOURCE, TARGET = "Tom saw Maria in 2013.", "2013 hat Tom Maria gesehen."


def restore(text: str, names: dict[str, str]) -> str:
    return re.sub(r"⟦\d⟧", lambda match: names[match[0]], text)


def test_names_and_numbers_that_stand_on_both_sides_once_are_shared() -> None:
    assert find_shared_words(SOURCE, TARGET) == ["Tom", "Maria", "2013"]
    assert find_shared_words("Tom, Tom is in Rome", "Tom ist in Rom") == []
    assert find_shared_words("Is Tom's in an us?", "Toms in an us") == []


def test_the_same_words_become_the_same_placeholders_on_both_sides() -> None:
    seen = set()
    for seed in range(60):
        source, target = insert_placeholders(SOURCE, TARGET, np.random.default_rng(seed))
        used = [name for name in PLACEHOLDERS if name in source]
        assert used == [name for name in PLACEHOLDERS if name in target]
        assert 1 <= len(used) <= 3
        words = re.split(r"[ .]", SOURCE), re.split(r"[ .]", source)
        names = {new: old for old, new in zip(*words, strict=True) if new in PLACEHOLDERS}
        assert (restore(source, names), restore(target, names)) == (SOURCE, TARGET)
        seen |= set(used)
    assert seen == set(PLACEHOLDERS)


def test_of_pairs_without_shared_words_some_get_one_at_an_end() -> None:
    pairs = [insert_placeholders("where is it?", "wo ist es?", np.random.default_rng(seed)) for seed in range(200)]
    changed = [re.sub(r"⟦\d⟧", "@", "|".join(pair)) for pair in pairs if pair != ("where is it?", "wo ist es?")]
    assert set(changed) == {"@ where is it?|@ wo ist es?", "where is it @?|wo ist es @?"}
    assert 40 < len(changed) < 100  # a third


@pytest.mark.parametrize(("words", "mark"), ENDED)
def test_a_placeholder_at_the_end_stands_before_the_final_mark(words: str, mark: str) -> None:
    assert append_word(f"{words}{mark}", "⟦0⟧") == f"{words} ⟦0⟧{mark}"


@pytest.mark.parametrize("text", [" ".join(PLACEHOLDERS)])
def test_a_pair_that_has_all_placeholders_stays(text: str) -> None:
    assert insert_placeholders(f"Tom {text}", f"Tom {text}", np.random.default_rng(1)) == (f"Tom {text}", f"Tom {text}")


def test_batches_teach_placeholders_in_source_and_target_alike(corpus: PreparedCorpus) -> None:
    ids = [corpus.source_tokenizer.encode(name)[-1] for name in PLACEHOLDERS]
    for share, least in ((0.0, 0), (1.0, 30)):
        config = TrainOptions(batch=32, careless=0.0, placeholders=share)
        rows = [
            row for batch in TrainingBatches(corpus, config).make_epoch(1) for row in zip(*batch.sides, strict=True)
        ]
        counts = [[np.isin(side, ids).sum() for side in row] for row in rows]
        assert all(source == target for source, target in counts)
        assert sum(source for source, _ in counts) >= least and (share or not any(source for source, _ in counts))


def test_about_as_many_pairs_get_placeholders_as_asked() -> None:
    """Each pair with a shared word gets a placeholder if the rewrite is given it."""
    corpus = [SentencePair(f"Tom {word} bade.", f"Tom {word} edab.") for word in ("gigi", "kolu") for _ in range(500)]
    for share in (0.1, 0.6):
        chosen = np.random.default_rng(1).random((1, len(corpus))) < share
        pairs = apply_rewrites([TextRewrite(share, insert_placeholders)], chosen, corpus, np.random.default_rng(2))
        assert np.mean(["⟦" in pair.source for pair in pairs]) == pytest.approx(share, abs=0.05)


def test_the_previous_tokens_are_those_of_the_changed_target(corpus: PreparedCorpus) -> None:
    ids = corpus.target_tokenizer.placeholder_ids
    batches = list(TrainingBatches(corpus, TrainOptions(batch=32, careless=0.0, placeholders=1.0)).make_epoch(1))
    assert any(np.isin(batch.target, ids).any() for batch in batches)
    for batch in batches:
        np.testing.assert_array_equal(batch.previous, shift_right(batch.target))


def test_only_the_chosen_rows_are_typed_casually(corpus: PreparedCorpus) -> None:
    tokenizer = corpus.source_tokenizer
    batch = next(TrainingBatches(corpus, TrainOptions(batch=8, careless=0.0, placeholders=0.0)).make_epoch(1))
    chosen = np.random.default_rng(1).random(8) < 0.5
    assert 0 < chosen.sum() < 8
    half = Augmentation(tokenizer, tokenizer, (TextRewrite(0.5, write_source_casually),))
    source, target = half.augment_group(batch.source, batch.target, np.random.default_rng(1))
    before, after = ([tokenizer.decode(row) for row in rows] for rows in (batch.source, source))
    assert after == [text.rstrip(".") if is_chosen else text for text, is_chosen in zip(before, chosen, strict=True)]
    np.testing.assert_array_equal(target, batch.target)
    none = Augmentation(tokenizer, tokenizer, (TextRewrite(0.0, write_source_casually),))
    assert none.augment_group(batch.source, batch.target, np.random.default_rng(1))[0] is batch.source


def read_sides(corpus: PreparedCorpus, careless: float) -> tuple[list[str], list[str]]:
    batches = list(TrainingBatches(corpus, TrainOptions(batch=32, careless=careless, placeholders=0.0)).make_epoch(1))
    sources = [corpus.source_tokenizer.decode(row) for batch in batches for row in batch.source]
    return sources, [corpus.target_tokenizer.decode(row) for batch in batches for row in batch.target]


def test_all_sentences_can_be_casual_and_targets_stay(corpus: PreparedCorpus) -> None:
    def targets(careless: float) -> list[str]:
        sources, texts = read_sides(corpus, careless)
        assert all(("." not in source) == (careless == 1.0) for source in sources)
        return sorted(texts)

    assert targets(1.0) == targets(0.0)


def test_about_as_many_sources_are_casual_as_asked(corpus: PreparedCorpus) -> None:
    sources, _ = read_sides(corpus, 0.3)
    assert np.mean(["." not in source for source in sources]) == pytest.approx(0.3, abs=0.07)


@pytest.mark.parametrize(
    ("text", "typed"),
    [("Hello!", "hello"), ("Where is Tom?", "where is tom"), ("Really?!", "really"), ("Mr. X.", "mr. x")],
)
def test_people_in_a_hurry_leave_out_capitals_and_the_last_mark(text: str, typed: str) -> None:
    assert write_casually(text) == typed


@pytest.mark.parametrize(("words", "mark"), ENDED)
def test_a_casual_sentence_lacks_its_final_mark(words: str, mark: str) -> None:
    assert write_casually(f"{words}{mark}") == words.lower()
