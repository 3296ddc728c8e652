"""Pairs behind the sentence before, and whole texts in dev and test."""

from itertools import accumulate, pairwise
from pathlib import Path

import numpy as np
import pytest

from nmt_cli.corpus.config import PrepareOptions
from nmt_cli.corpus.dataset import PreparedCorpus, reverse_corpus
from nmt_cli.corpus.prepare import prepare
from nmt_cli.corpus.steps.context import STRETCH
from nmt_cli.text.tags import join_sentences, parse_tag_list
from support.corpora import paged_pairs, prepare_paged, prepare_pairs, toy_pairs, write_tsv

BEFORE = {row[:2]: earlier[:2] for earlier, row in zip(paged_pairs(60), paged_pairs(60)[1:], strict=False)}


@pytest.fixture(scope="module")
def paged(tmp_path_factory: pytest.TempPathFactory) -> PreparedCorpus:
    return prepare_paged(tmp_path_factory.mktemp("paged"), tokenizer="unigram", vocab_size=330)


def list_parts(corpus: PreparedCorpus, split: str) -> list[tuple[list[str], list[str]]]:
    """Both sides of each pair of a split as texts: the context, if there is one, and the sentence."""
    encoded = corpus.load_encoded(split)
    sides = (encoded.source, corpus.source_tokenizer), (encoded.target, corpus.target_tokenizer)
    columns = []
    for rows, tokenizer in sides:
        separator, column = tokenizer.separator_id, []
        for ids in (row.tolist() for row in rows):  # type: ignore[attr-defined]
            cuts = [place for place, token in enumerate(ids) if token == separator]
            parts = np.split(ids, [place for cut in cuts for place in (cut, cut + 1)])[::2]
            column.append([tokenizer.decode(part.tolist()) for part in parts])
        columns.append(column)
    return list(zip(*columns, strict=True))


def test_a_share_of_the_pairs_is_behind_the_one_before(paged: PreparedCorpus) -> None:
    """A third of them without a separator, as a line of two sentences."""
    pairs, parts = paged.read_pairs("train"), list_parts(paged, "train")
    rows = [(pair, *zip(*sides, strict=True)) for pair, sides in zip(pairs, parts, strict=True)]
    behind = [(pair, before) for pair, before, *rest in rows if rest == [pair]]
    joined = [(pair, line) for pair, line, *rest in rows if not rest and line != pair]
    assert len(behind) + len(joined) == paged.manifest.context.pairs
    assert 0.35 < paged.manifest.context.pairs / len(pairs) < 0.5  # of half, the first of a page has none
    assert 0.2 < len(joined) / paged.manifest.context.pairs < 0.45
    assert all(before == BEFORE[pair] for pair, before in behind)
    assert all(line == join(BEFORE[pair], pair) for pair, line in joined)
    assert len([pair for pair, *some in rows if some == [pair]]) == len(pairs) - paged.manifest.context.pairs


def join(before: tuple[str, str], pair: tuple[str, str]) -> tuple[str, str]:
    return f"{before[0]} {pair[0]}", f"{before[1]} {pair[1]}"


@pytest.mark.parametrize(
    ("first", "second", "line"),
    [("Go!", "Now.", "Go! Now."), ("行け。", "今。", "行け。今。"), ("行け", "Now", "行け Now"), ("", "Go!", "Go!")],
)
def test_sentences_of_scripts_without_blanks_are_joined_without_one(first: str, second: str, line: str) -> None:
    assert join_sentences(first, second) == line


def test_dev_and_test_are_whole_texts_in_order(paged: PreparedCorpus) -> None:
    for split in ("dev", "test"):
        pairs, sizes = paged.read_pairs(split), paged.read_text_sizes(split)
        assert sum(sizes) == len(pairs) and set(sizes) == {8}
        starts = {0, *accumulate(sizes)}
        for row, pair in enumerate(pairs):
            assert row in starts or BEFORE[pair] == pairs[row - 1]
        assert all(len(source) == 1 for source, _ in list_parts(paged, split))


def test_without_context_nothing_is_marked(tmp_path: Path) -> None:
    plain = prepare_pairs(tmp_path, toy_pairs(100))
    assert plain.source_tokenizer.separator_id is None
    assert plain.manifest.context.pairs == 0 and plain.read_text_sizes("test") == ()


def test_the_separator_belongs_to_the_size_and_no_text_spells_it(paged: PreparedCorpus) -> None:
    tokenizer = paged.source_tokenizer
    assert tokenizer.vocabulary_size == 330
    assert paged.target_tokenizer.separator_id == tokenizer.separator_id is not None
    assert not tokenizer.tag_ids
    assert tokenizer.separator_id not in tokenizer.encode("a ⟦|⟧ b")
    assert tokenizer.decode([tokenizer.separator_id]) == ""


@pytest.mark.parametrize("separate", [False, True])
def test_the_other_direction_has_the_context_of_its_sides(tmp_path: Path, separate: bool) -> None:
    there = prepare_paged(tmp_path, separate_vocabularies=separate)
    back = reverse_corpus(there)
    assert list_parts(back, "train") == [(target, source) for source, target in list_parts(there, "train")]
    assert back.read_text_sizes("dev") == there.read_text_sizes("dev")


def test_reused_subwords_get_the_separator_among_the_pieces_of_the_target(tmp_path: Path) -> None:
    for name, options in (("joint", {}), ("apart", {"separate_vocabularies": True})):
        (tmp_path / name / "plain").mkdir(parents=True)
        plain = prepare_paged(tmp_path / name / "plain", context=0, context_share=0.3, **options)
        reusing = prepare_paged(tmp_path / name, tokenizer_from=str(plain.directory))
        old, new = plain.source_tokenizer, reusing.source_tokenizer
        assert new.vocabulary_size == old.vocabulary_size + 1
        assert new.separator_id is not None and reusing.target_tokenizer.separator_id is not None
        assert name == "apart" or new.separator_id == reusing.target_tokenizer.separator_id
        assert reusing.manifest.context.pairs > 0


def test_a_file_without_a_column_of_pages_is_cut_into_stretches(tmp_path: Path) -> None:
    rows = [pair[:2] for pair in paged_pairs(60)]
    prepare(write_tsv(tmp_path / "en-de.tsv", rows), tmp_path / "prepared", PrepareOptions(context=1, tokenizer="word"))
    corpus = PreparedCorpus.load(tmp_path / "prepared")
    places = {pair: place for place, pair in enumerate(rows)}
    splits = ("train", "dev", "test")
    stretches = [{places[pair] // STRETCH for pair in corpus.read_pairs(split)} for split in splits]
    assert sum(map(len, stretches)) == len(set.union(*stretches)) == len(rows) // STRETCH
    assert any(len(source) == 2 for source, _ in list_parts(corpus, "train"))


def test_a_context_is_in_the_languages_of_its_pair(tmp_path: Path) -> None:
    rows = [(*row, "to:nl" if number % 2 else "to:de") for number, row in enumerate(paged_pairs(60))]
    table = write_tsv(tmp_path / "en-de.tsv", [("source", "target", "page", "tag"), *rows])
    config = PrepareOptions(context=1, context_share=1, group_column=("page",), tag_column="tag", tokenizer="word")
    prepare(table, tmp_path / "prepared", config)
    corpus = PreparedCorpus.load(tmp_path / "prepared")
    assert corpus.manifest.context.pairs == 0
    assert set(corpus.read_tags("train")) == {parse_tag_list("to:de"), parse_tag_list("to:nl")}


def read_pages(corpus: PreparedCorpus, split: str) -> list[list[tuple[str, str]]]:
    """The pairs of each whole text of a split."""
    pairs, ends = corpus.read_pairs(split), [*accumulate(corpus.read_text_sizes(split))]
    return [pairs[start:end] for start, end in zip([0, *ends], ends, strict=False)]


def test_short_lines_recur_behind_other_lines_and_long_ones_in_one_split(tmp_path: Path) -> None:
    answers = [("yes", "ja"), ("no", "nein"), ("it is very old", "es ist sehr alt")]
    long = ("this sentence is in every single page", "dieser satz ist auf jeder einzelnen seite")
    rows = []
    for number, (source, target, page) in enumerate(paged_pairs(60)):
        rows += [(source, target, page), (*answers[number % 3], page)]
        rows += [(*long, page), ("the end of page", "das ende der seite", page)] if number % 8 == 7 else []
    table = write_tsv(tmp_path / "en-de.tsv", [("source", "target", "page"), *rows])
    options = {"group_column": ("page",), "tokenizer": "word", "context_share": 1.0}
    corpora = []
    for context in (0, 1):
        prepare(table, tmp_path / str(context), PrepareOptions(context=context, **options))  # type: ignore[arg-type]
        corpora.append(PreparedCorpus.load(tmp_path / str(context)))
    alone, corpus = corpora
    assert max(alone.read_pairs("train").count(answer) for answer in answers) <= 1
    train, held_out = corpus.read_pairs("train"), [*read_pages(corpus, "dev"), *read_pages(corpus, "test")]
    assert min(train.count(answer) for answer in answers) > 50
    assert all({*answers} & {*page} for page in held_out)
    # 1. No side of a longer line is in two splits, and none of the same short line behind the same one.
    lines = [pair for page in held_out for pair in page]
    assert [(train + lines).count(pair) for pair in (long, ("the end of page", "das ende der seite"))] == [1, 1]
    assert not {*train} & {pair for pair in lines if pair not in answers}
    behind = {(source[0], source[1]) for source, _ in list_parts(corpus, "train") if len(source) == 2}
    assert not behind & {(one[0], other[0]) for page in held_out for one, other in pairwise(page)}
    # 2. What recurs is counted.
    test = corpus.read_pairs("test")
    assert corpus.manifest.context.recurring["test"] == sum(pair in answers for pair in test) > 0


def test_the_second_line_of_a_text_is_learned_behind_a_first_that_recurs(tmp_path: Path) -> None:
    hello, long = ("good day", "guten tag"), ("how do you do on this fine day", "wie geht es an diesem schönen tag")
    rows = []
    for number, (source, target, page) in enumerate(paged_pairs(60)):
        rows += [(*(hello if number % 16 else long), page)] if number % 8 == 0 else []
        rows.append((source, target, page))
    table = write_tsv(tmp_path / "en-de.tsv", [("source", "target", "page"), *rows])
    config = PrepareOptions(context=1, context_share=1, group_column=("page",), tokenizer="word")
    prepare(table, tmp_path / "prepared", config)
    corpus = PreparedCorpus.load(tmp_path / "prepared")
    pages = {source: page for source, _, page in rows[1::9]}  # by their second lines
    train = [
        (pair.source, sides)
        for pair, sides in zip(corpus.read_pairs("train"), list_parts(corpus, "train"), strict=True)
    ]
    seconds = {source: " ".join(sides[0]).removesuffix(source).strip() for source, sides in train if source in pages}
    firsts = {source: first for first, (source, *_) in zip(rows[::9], rows[1::9], strict=True)}
    assert len(seconds) > 20
    for source, before in seconds.items():
        # A longer line is a duplicate, which may be held out.
        assert before == hello[0] if firsts[source][:2] == hello else before in ("", long[0])
    assert sum(before == [long[0]] for before in seconds.values()) <= 1
