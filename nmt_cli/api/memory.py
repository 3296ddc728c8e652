"""Reads translation memories from files of pairs, with the readers of `nmt prepare`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from nmt_cli.errors import DataError
from nmt_cli.languages.codes import UNNAMED, are_same_languages
from nmt_cli.languages.file_names import find_languages_in_name
from nmt_cli.text.tags import TagPurpose, find_tag_value, merge_tags, replace_languages, reverse_tags

if TYPE_CHECKING:
    from nmt_cli.corpus.formats.inputs import CorpusFile
    from nmt_cli.corpus.sides import TaggedPair
    from nmt_cli.translation.memory.lookup import TranslationMemory


TAGS = "tags"  # the third column of a file of corrections that have tags
HEADINGS = ("source", "target", TAGS)


class MemoryLanguageError(DataError):
    """A file of pairs whose languages differ from the model's."""


def load_memory(
    files: Iterable[str | Path], languages: tuple[str, str], *, links_words: bool = True
) -> TranslationMemory:
    """Returns the pairs of all files; the last of several translations of one text wins.

    `languages` are those translated between. A file in the opposite direction is reversed, pairs whose tags name other
    languages are left out, and those of a register answer who asks for that. Raises NotFoundError, DataError, and
    MemoryLanguageError for a file in other languages.
    """
    from nmt_cli.corpus.formats.inputs import parse_input, require_input
    from nmt_cli.translation.memory.lookup import TranslationMemory

    inputs = [parse_input(str(file)) for file in files]
    for file in inputs:
        require_input(file)
    memory = TranslationMemory("" if languages[1] in UNNAMED else languages[1], links_words=links_words)
    for file in inputs:
        for pair in read_file(file, languages):
            if are_same_languages(replace_languages(languages, pair.tags), languages):
                memory.add(pair.source, pair.target, find_tag_value(pair.tags, TagPurpose.REGISTER))
    return memory


def read_file(file: CorpusFile, languages: tuple[str, str]) -> list[TaggedPair]:
    """Returns the pairs of a file, reversed if its direction is the opposite one, with their tags and its own.

    Raises NotFoundError, DataError, and MemoryLanguageError for a file in other languages.
    """
    try:
        declared, pairs = read_pairs(file, languages)
    except MemoryLanguageError as error:
        try:
            declared, pairs = read_pairs(file, (languages[1], languages[0]))
        except MemoryLanguageError:
            raise error from None
    is_turned = not are_same_languages(declared, languages) and are_same_languages(
        (declared[1], declared[0]), languages
    )
    if not is_turned:
        return pairs
    return [pair._replace(source=pair.target, target=pair.source, tags=reverse_tags(pair.tags)) for pair in pairs]


def read_pairs(file: CorpusFile, languages: tuple[str, str]) -> tuple[tuple[str, str], list[TaggedPair]]:
    """Returns the languages of a file, and its pairs but for those that it marks as unfinished."""
    from nmt_cli.corpus.formats import open_reader
    from nmt_cli.corpus.formats.inputs import ReadOptions
    from nmt_cli.corpus.sides import TaggedPair

    source, target = (None if code in UNNAMED else code for code in languages)
    tags = TAGS if file.target is None and has_tags(file.path) else None
    reader = open_reader(file, ReadOptions(source_language=source, target_language=target, tag_column=tags))
    try:
        rows = [row for row in reader if not row.is_unfinished]
        pairs = [TaggedPair(row.source, row.target, merge_tags(file.tags, row.tags)) for row in rows]
    except DataError as error:
        if "--source-language" not in (error.hint or ""):
            raise
        raise MemoryLanguageError(error.message, hint=describe_languages(languages)) from error
    declared = reader.languages or find_languages_in_name(*(path.name for path in file.files))
    if not are_same_languages(declared, languages) and not are_same_languages((declared[1], declared[0]), languages):
        raise MemoryLanguageError(f"{file.name} is {' -> '.join(declared)}", hint=describe_languages(languages))
    return declared, pairs


def has_tags(path: Path) -> bool:
    """Whether a file begins with the headings of corrections that have tags."""
    if not path.is_file():
        return False
    with path.open(encoding="utf-8", errors="replace") as lines:
        return lines.readline().rstrip("\r\n").split("\t") == list(HEADINGS)


def describe_languages(languages: tuple[str, str]) -> str:
    return f"the model translates {' -> '.join(languages)}: give pairs of these languages"
