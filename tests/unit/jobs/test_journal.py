"""A journal of blocks: what a killed process leaves of it, and that translations come back as they were."""

import json
import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nmt_cli.errors import DataError
from nmt_cli.jobs.journal import (
    BlockJournal,
    FinishedBlock,
    JournalledExecutor,
    answer_in_writing,
    decode_translation,
    encode_value,
    hash_texts,
)
from nmt_cli.rewriting.slips import ReadAs
from nmt_cli.translation.request import Block
from nmt_cli.translation.result import FailedCheck, LeastSure, Placed, Repair, Translation, WordLinks
from nmt_cli.workers.work import InProcess
from support.translations import louder

IDENTITY = {"model": ["a"], "options": {"beam_size": 5}}
BLOCKS = [("one", "two"), ("three",), ("",), ("four\n", "\udc80"), ("five",)]


def write_journal(path: Path) -> BlockJournal:
    journal = BlockJournal(path, IDENTITY)
    for texts in BLOCKS:
        journal.append(FinishedBlock.write(texts, [text.upper() for text in texts]))
    journal.close()
    return journal


def read_results(path: Path) -> list[list[str]]:
    journal = BlockJournal(path, IDENTITY)
    results = [block.results for block in journal.replay()]
    journal.close()
    return results


def test_what_was_finished_is_read_again_and_gone_on_with(tmp_path: Path) -> None:
    journal = BlockJournal(tmp_path / "new" / "x.journal", IDENTITY)
    assert journal.read_identity() is None and not journal.path.exists()
    write_journal(journal.path)
    assert journal.read_identity() == IDENTITY and journal.path.stat().st_mode & 0o077 == 0
    journal = BlockJournal(journal.path, IDENTITY)
    assert [block.digest for block in journal.replay()] == [hash_texts(texts) for texts in BLOCKS]
    assert (journal.blocks, journal.results) == (5, 7)
    journal.append(FinishedBlock.write(["six"], ["SIX"]))
    journal.close()
    assert read_results(journal.path)[-2:] == [["FIVE"], ["SIX"]]
    write_journal(journal.path)  # another job, which starts over
    assert len(read_results(journal.path)) == 5
    journal.remove()
    assert not journal.path.exists()


def test_wherever_a_process_is_killed_only_the_last_block_is_lost(tmp_path: Path) -> None:
    path = write_journal(tmp_path / "x").path
    whole = path.read_bytes()
    ends = [end for end in range(len(whole) + 1) if whole[:end].endswith(b"\n")]
    for end in range(ends[0], len(whole), 7):
        path.write_bytes(whole[:end])
        finished = sum(complete <= end for complete in ends) - 1
        assert read_results(path) == [[text.upper() for text in texts] for texts in BLOCKS[:finished]]
        assert path.read_bytes() == whole[: ends[finished]]


def test_damage_ends_what_is_believed(tmp_path: Path) -> None:
    path = write_journal(tmp_path / "x").path
    lines = path.read_bytes().splitlines(keepends=True)
    for damaged in (b"\0" * 40 + b"\n", lines[2][:-9] + b"\n", b"\n"):
        path.write_bytes(b"".join([*lines[:2], damaged, *lines[3:]]))
        assert read_results(path) == [["ONE", "TWO"]]
    for first in (b"no journal\n", b"[]\n", b"[" * 100_000 + b"\n"):
        path.write_bytes(first)
        assert BlockJournal(path, IDENTITY).read_identity() is None
    path.unlink()
    os.mkfifo(path)
    assert BlockJournal(path, IDENTITY).read_identity() is None


def make_translation() -> Translation:
    """A translation with something in each of its fields."""
    best = louder("a b").hypotheses[0]
    words = (WordLinks(range(2), range(1, 2), ((0, 1),)), WordLinks(range(0), range(3, 9, 2)))
    spans = (Placed("b", "attention", True),)
    attention = np.array([[0.1, 0.9], [1 / 3, 2 / 3]], dtype=np.float32)
    best = best._replace(words=words, spans=spans, attentions=(attention,), log_probability=np.float64(-1 / 3))
    return louder("a b")._replace(
        hypotheses=(best, best),
        unseen=frozenset("🙂ä"),
        repairs=(Repair("loop", None),),
        read_as=(ReadAs("teh", "the"),),
        checks=(FailedCheck("numbers", "number 7 missing"),),
        least_sure=LeastSure(2, "Go 7.", "Geh.", (0.9, 0.25)),
        confidence=0.1 + 0.2,
        carried=("Kazimierz",),
        read_back={"b": -0.5},
    )


def as_read(value: Any) -> Any:
    """What stands in a journal for a value."""
    return json.loads(json.dumps(value, default=encode_value))


def test_a_translation_comes_back_as_it_was(tmp_path: Path) -> None:
    journal = BlockJournal(tmp_path / "x", IDENTITY)
    before = make_translation()
    journal.append(FinishedBlock.write(["a b"], [before]))
    journal.close()
    (block,) = (again := BlockJournal(journal.path, IDENTITY)).replay()
    again.close()
    after = decode_translation(block.results[0])
    assert after.unseen == before.unseen
    after = after._replace(unseen=before.unseen)  # the order of a set's items is not told
    assert repr(after) == repr(before).replace("np.float64(-0.3333333333333333)", "-0.3333333333333333")
    assert after.hypotheses[0].attention.tobytes() == before.hypotheses[0].attention.tobytes()
    small = decode_translation(as_read(before.drop_network()))
    assert (small.text, small.checks, small.placed) == (before.text, before.checks, before.placed)
    assert small.hypotheses[0].attentions == ()


def test_only_what_is_not_finished_is_translated_again(tmp_path: Path) -> None:
    asked: list[tuple[str, ...]] = []

    def translate(block: Block) -> list[Translation]:
        asked.append(block.texts)
        return [louder(text) for text in block.texts]

    def run(blocks: list[Block], *, resumes: bool) -> list[list[str]]:
        journal = BlockJournal(tmp_path / "x", IDENTITY)
        executor = JournalledExecutor(InProcess(partial(answer_in_writing, translate)), journal, resumes)
        try:
            return [[each.text for each in translations] for translations in executor.map_blocks(blocks)]
        finally:
            journal.close()

    blocks = [Block(0, ("a", "b")), Block(2, ()), Block(2, ("c",)), Block(3, ()), Block(3, ("d",))]
    assert run(blocks[:3], resumes=False) == [["A", "B"], [], ["C"]]
    asked.clear()
    assert run(blocks, resumes=True) == [["A", "B"], [], ["C"], [], ["D"]]
    assert asked == [("d",)]
    with pytest.raises(DataError, match="belongs to different texts"):
        run([Block(0, ("a", "x"))], resumes=True)


def list_places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The keys that lead to each value within a value of JSON."""
    yield path
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        yield from list_places(part, (*path, key))


def replace_at(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    value = value.copy()
    value[path[0]] = replace_at(value[path[0]], path[1:], new)
    return value


ONE_UNSEEN = make_translation()._replace(unseen=frozenset("ä"))  # a set of several is written in order
SAVED = as_read(ONE_UNSEEN)
PLACES = list(list_places(SAVED))
OTHERS: list[Any] = [-1, True, None, "x", [], {}, [[]], 1.5, [0, 1, 0], ["<f4", [-1], ""]]


@pytest.mark.parametrize("other", OTHERS, ids=repr)
def test_a_value_of_another_type_is_damage_or_told_from_none(other: Any) -> None:
    """Whatever is accepted has the types of a translation: written again, it is what was read."""
    for path in PLACES:
        changed = replace_at(SAVED, path, other)
        try:
            decoded = decode_translation(changed)
        except (TypeError, ValueError):
            continue
        assert as_read(decoded) == changed, path
        hypothesis = decoded.hypotheses[0] if decoded.hypotheses else None
        assert isinstance(decoded.text, str) and isinstance(decoded.source, str)
        assert hypothesis is None or all(type(token) is int for token in hypothesis.tokens)


@pytest.mark.parametrize(
    "row",
    [
        5,
        replace_at(SAVED, (0,), -1),
        replace_at(SAVED, (2,), [5]),
        {"system": ["true"]},
        ["O", [1], "0"],
        [],
        {},
        ["A"],
        None,
    ],
)
def test_what_no_journal_wrote_is_no_translation(tmp_path: Path, row: object) -> None:
    journal = BlockJournal(tmp_path / "x", IDENTITY)
    journal.append(FinishedBlock.write(["a"], [] if row is None else [row]))
    journal.close()
    executor = JournalledExecutor(InProcess(lambda block: []), BlockJournal(journal.path, IDENTITY), True)
    with pytest.raises(DataError, match="x is damaged"):
        list(executor.map_blocks([Block(0, ("a",))]))
    executor.journal.close()
