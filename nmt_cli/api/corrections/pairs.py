"""Reads corrections, and divides them into halves: what a model learns of one half, it shows on the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from nmt_cli.api.memory import HEADINGS, MemoryLanguageError, read_file
from nmt_cli.corpus.formats.inputs import CorpusFile, parse_input, require_input
from nmt_cli.corpus.sides import TaggedPair
from nmt_cli.errors import DataError
from nmt_cli.runtime.model_directory import ModelDirectory
from nmt_cli.text.normalise import hash_text, make_sentence_key, normalise
from nmt_cli.text.tags import TagPurpose, TagSet, merge_tags, parse_tag_name
from nmt_cli.text.wrapping import format_count
from nmt_cli.translation.known_tags import find_tags

FEWEST = 50  # fewer corrections are too few to judge a model by


class Part(NamedTuple):
    """The corrections that a model learns, and the others."""

    learned: Sequence[TaggedPair]
    left_out: Sequence[TaggedPair]


def read_corrections(path: Path, model: ModelDirectory, earlier: Path | None = None) -> list[TaggedPair]:
    """Returns the corrections of a file of pairs in any format of `nmt prepare`, and before them `earlier` ones.

    Their tags are those of the model; `corrections.tsv=ui` gives one to each. The last of a source with the same tags
    counts. Raises NotFoundError, OptionError for a tag that the model does not know, and DataError, also for fewer than
    FEWEST.
    """
    latest: dict[tuple[str, TagSet], TaggedPair] = {}
    for name in [path] if earlier is None else [earlier, path]:
        file = parse_input(str(name))
        require_input(file)
        for source, target, tags in read_directions(file, model):
            pair = TaggedPair(normalise(source), normalise(target), tags)
            if pair.source and pair.target:
                latest[make_sentence_key(pair.source), tags] = pair
    if len(latest) < FEWEST:
        raise DataError(
            f"{path} has {format_count(len(latest), 'correction')}; a model learns from {FEWEST} on",
            hint="fewer count as they are: nmt translate --tm answers from them",
        )
    return list(latest.values())


def read_directions(file: CorpusFile, model: ModelDirectory) -> Iterator[TaggedPair]:
    """Yields the pairs of a file in any direction of a model, with the tags that the model reads before the source.

    Raises MemoryLanguageError for a file in other languages.
    """
    card = model.card
    languages = [tag for tag in map(parse_tag_name, card.tags) if tag.kind in (TagPurpose.TARGET, TagPurpose.SOURCE)]
    refused: list[MemoryLanguageError] = []
    for direction in ((), *((tag,) for tag in languages)):
        try:
            pairs = read_file(file, card.follow_tags(merge_tags(direction, file.tags)).languages)
        except MemoryLanguageError as error:
            refused.append(error)
            continue
        of_model = {tags: find_tags(map(str, merge_tags(direction, tags)), card, model.directory) for *_, tags in pairs}
        yield from (pair._replace(tags=card.complete_tags(of_model[pair.tags])) for pair in pairs)
        return
    raise refused[0]


def write_pairs(path: Path, pairs: Sequence[TaggedPair], *, with_tags: bool) -> None:
    """Writes normalised pairs as two columns, or as three below headings."""
    rows = [HEADINGS, *((pair.source, pair.target, " ".join(map(str, pair.tags))) for pair in pairs)]
    lines = ["\t".join(row) for row in rows] if with_tags else [f"{pair.source}\t{pair.target}" for pair in pairs]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def have_tags(pairs: Iterable[TaggedPair]) -> bool:
    return any(pair.tags for pair in pairs)


def divide(corrections: Sequence[TaggedPair]) -> Iterator[Part]:
    """Yields a part for each half to learn, all corrections of a source in the same one.

    Which half has a correction does not depend on its place in the file.
    """
    sources = sorted({pair.source for pair in corrections}, key=hash_text)
    numbers = {source: number for number, source in enumerate(sources)}
    ordered = sorted(corrections, key=lambda pair: (numbers[pair.source], pair.tags))
    halves = tuple([pair for pair in ordered if numbers[pair.source] % 2 == half] for half in (0, 1))
    yield Part(*halves)
    yield Part(*reversed(halves))
