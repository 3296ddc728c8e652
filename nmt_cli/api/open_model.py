"""Opens models and translation memories for commands.

`open_translator(TranslationRequest(Path("en-de"), rerank=Path("de-en")))` returns a translator whose hypotheses the
second model ranks. `load_memory(["notes.tsv"], ("en", "de"))` returns the pairs of a table; those of `notes.de-en.tsv`
would be reversed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache, partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from nmt_cli.api.options.interface import check_call
from nmt_cli.api.options.options import PathLike
from nmt_cli.api.startup import require_tensorflow, silence_onnxruntime, silent_tensorflow
from nmt_cli.errors import DataError, OptionError
from nmt_cli.formats import BY_EXTENSION
from nmt_cli.languages.codes import (
    UNNAMED,
    are_same_languages,
    find_language,
    find_languages_in_name,
    find_other_language,
)
from nmt_cli.text.aligned import MarkedText, read_context
from nmt_cli.text.tags import OTHER_SIDE, TagPurpose, find_tag_value, merge_tags, replace_languages, reverse_tags
from nmt_cli.text.wrapping import format_count

if TYPE_CHECKING:
    from nmt_cli.corpus.config import PrepareOptions
    from nmt_cli.corpus.manifest import TaggedPair
    from nmt_cli.formats.inputs import CorpusFile
    from nmt_cli.runtime.model_directory import ModelDirectory
    from nmt_cli.sources.source import PictureReader
    from nmt_cli.text.profile import CorpusProfile
    from nmt_cli.translation.forced import Judge
    from nmt_cli.translation.memory.lookup import TranslationMemory
    from nmt_cli.translation.request import TranslationRequest
    from nmt_cli.translation.translator import LineTranslator

# Opens models for commands. The network that reads pictures is loaded only once a picture is read.


def make_picture_reader(config: PrepareOptions) -> PictureReader | None:
    """Returns the reader of a corpus's pictures; None for a corpus of text."""
    if config.source_type == "text":
        return None
    from nmt_cli.sources.images import FeatureFiles  # numpy, which `nmt --help` does not need

    if config.source_type == "features":
        return FeatureFiles()
    return load_inception(Path(config.image_weights) if config.image_weights is not None else None)


def open_translator(request: TranslationRequest) -> LineTranslator:
    """Opens a model or an ensemble, with its picture reader and with any models that check or rank its output."""
    silence_onnxruntime()  # before it is imported, since it reads its environment then
    translator = request.load()
    if translator.card.source.get("type") == "image":
        from nmt_cli.sources.images import IMAGE_WEIGHTS

        reader = partial(load_own_inception, request.model / IMAGE_WEIGHTS, translator.card.checksums)
        translator = translator.with_picture_reader(cache(reader))  # loaded once, if at all
    if request.check_with is not None:
        attach_reverse(translator, request, request.check_with)
    return translator if request.rerank is None else translator.with_judge(open_judge(request, request.rerank))


def attach_reverse(translator: LineTranslator, request: TranslationRequest, check_with: Path) -> None:
    """Makes a translator read its translations back with a model for the opposite direction.

    Raises NotFoundError or DamagedError if the model cannot be opened, and OptionError if it does not translate in the
    opposite direction.
    """
    from nmt_cli.runtime.model_directory import ModelDirectory, require_reverse
    from nmt_cli.translation.forced import read_back  # numpy, as above
    from nmt_cli.translation.request import TranslationRequest

    other = ModelDirectory.open(check_with)
    require_reverse(other._replace(directory=request.model, card=translator.card), other)
    reverse = TranslationRequest(other.directory, threads=request.threads, is_private=request.is_private)
    translator.read_back = partial(read_back, reverse.load())


def open_judge(request: TranslationRequest, rerank: Path) -> Judge:
    """Opens the model that ranks the hypotheses of another. Raises OptionError unless it translates in reverse."""
    from nmt_cli.runtime.model_directory import ModelDirectory, require_reverse
    from nmt_cli.translation.config import LineOptions
    from nmt_cli.translation.forced import Judge  # numpy, as above

    require_reverse(ModelDirectory.open(request.model), ModelDirectory.open(rerank), "rerank")
    return Judge(replace(request, model=rerank, ensemble=(), lines=LineOptions()).load())


def load_own_inception(weights: Path, checksums: Mapping[str, str]) -> PictureReader:
    """Loads the InceptionV3 of a model. Raises DamagedError if its weights have changed since training."""
    from nmt_cli.runtime.model_directory import check_file  # numpy, as above

    check_file(weights, checksums.get(weights.name, ""))
    return load_inception(weights)


def load_inception(weights: Path | None) -> PictureReader:
    """Loads InceptionV3 with these weights, or with ImageNet weights. Raises MissingExtraError without TensorFlow."""
    require_tensorflow("reading pictures")
    with silent_tensorflow():
        from nmt_cli.model.encoders import InceptionV3
    return InceptionV3(weights)


# Reads translation memories from files of pairs, with the readers of `nmt prepare`.


TAGS = "tags"  # the third column of a table whose pairs have tags
HEADINGS = ["source", "target", TAGS]
REGISTERS = ("formality", "register")  # other columns of tags, in any table
LONGEST_HEADER = 10_000  # characters


class MemoryLanguageError(DataError):
    """A file of pairs whose languages differ from the model's."""


def load_memory(
    files: Iterable[str | Path],
    languages: tuple[str, str],
    *,
    links_words: bool = True,
    with_untagged: bool = True,
    profile: CorpusProfile | None = None,
) -> TranslationMemory:
    """Returns the pairs of all files; if a text has several translations, the last one wins.

    `languages` are the source and the target language. A file in the opposite direction is reversed; if a file names no
    languages, the model's `profile` tells its direction. Pairs tagged for other languages are left out. Pairs with a
    register are used only when that register is requested. Pairs without a language tag are used only if
    `with_untagged` is set. Raises NotFoundError, DataError, and MemoryLanguageError for a file in other languages.
    """
    from nmt_cli.formats.exchange import drop_codes, spell_codes
    from nmt_cli.formats.inputs import parse_input, require_input
    from nmt_cli.translation.memory.lookup import TranslationMemory

    inputs = [parse_input(str(file)) for file in files]
    for file in inputs:
        require_input(file)
    make_memory = partial(TranslationMemory, "" if languages[1] in UNNAMED else languages[1], links_words=links_words)
    memory = make_memory()
    for file in inputs:
        of_file = make_memory()
        for pair in read_file(file, languages, profile):
            is_meant = with_untagged or any(tag.kind in OTHER_SIDE for tag in pair.tags)
            if is_meant and are_same_languages(replace_languages(languages, pair.tags), languages):
                register = find_tag_value(pair.tags, TagPurpose.REGISTER)
                # For a text without any codes, and for one that spells them.
                sides = ((read(pair.source), read(pair.target)) for read in (drop_codes, spell_codes))
                for source, target in dict.fromkeys(sides):
                    of_file.add(source, target, register, read_context(pair.source))
        memory.update(of_file)
    return memory


def describe_foreign(
    name: str, pairs: Iterable[tuple[str, str]], languages: tuple[str, str], profile: CorpusProfile | None
) -> Iterator[str]:
    """Yields a warning for each side of a memory, a glossary or a test set that looks like another language.

    The language identifier is slow to load, so it is asked only if most words of the side never occurred in training.
    """
    from nmt_cli.text.profile import PAIRS_READ  # as above

    sides = () if profile is None else (profile.source, profile.target)
    for code, seen, texts in zip(languages, sides, zip(*islice(pairs, PAIRS_READ), strict=True), strict=False):
        text = " ".join(texts)
        counts = [] if seen is None else seen.count_words(text)
        other = find_other_language(text, [code]) if 2 * counts.count(0) > len(counts) else None
        if other is not None:
            yield f"{name} looks like {other.language.name}, but should be {find_language(code).name}"


def read_file(file: CorpusFile, languages: tuple[str, str], profile: CorpusProfile | None) -> list[TaggedPair]:
    """Returns the pairs of a file, reversed if it runs in the opposite direction, with their own tags and the file's.

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
    if profile is not None and {*declared} & {*UNNAMED}:
        is_turned = is_turned or profile.are_turned((pair.source, pair.target) for pair in pairs)
    if not is_turned:
        return pairs
    return [pair._replace(source=pair.target, target=pair.source, tags=reverse_tags(pair.tags)) for pair in pairs]


def read_pairs(file: CorpusFile, languages: tuple[str, str]) -> tuple[tuple[str, str], list[TaggedPair]]:
    """Returns the languages of a file, and all its pairs except those marked as unfinished."""
    from nmt_cli.corpus.manifest import TaggedPair
    from nmt_cli.formats.inputs import ReadOptions
    from nmt_cli.formats.opening import open_reader

    if texts := read_two_documents(file, languages):
        pairs = [TaggedPair(source, target, file.tags) for source, target in texts]
        return find_languages_in_name(*(path.name for path in file.files)), pairs
    source, target = (None if code in UNNAMED else code for code in languages)
    tags = find_tag_column(file.path) if file.target is None else None
    options = ReadOptions(source_language=source, target_language=target, tag_column=tags, keeps_codes=True)
    try:
        reader = open_reader(file, options)
        rows = [row for row in reader if not row.is_unfinished]
        pairs = [
            TaggedPair(
                row.source if row.context is None else MarkedText.in_context(row.source, row.context),
                row.target,
                merge_tags(file.tags, row.tags),
            )
            for row in rows
        ]
    except DataError as error:
        hint = error.hint or ""
        if "file alone" in hint:
            error.hint = f"give the translation alone: --tm {file.target}"
        elif any(words in hint for words in ("--source-file", "nmt prepare")):
            error.hint = "write a source sentence, a tab and a translation on each line"
        if "--source-language" not in hint:
            raise
        raise MemoryLanguageError(error.message, hint=describe_languages(languages)) from error
    declared = reader.languages or find_languages_in_name(*(path.name for path in file.files))
    if not are_same_languages(declared, languages) and not are_same_languages((declared[1], declared[0]), languages):
        raise MemoryLanguageError(f"{file.name} is {' -> '.join(declared)}", hint=describe_languages(languages))
    return declared, pairs


def read_two_documents(file: CorpusFile, languages: tuple[str, str]) -> list[tuple[str, str]]:
    """Returns the pairs of a document and its translation, which a person may have edited; empty for other files.

    Raises DataError if a text of one is not in the same place of the other.
    """
    from nmt_cli.documents import find_format, open_document
    from nmt_cli.documents.config import DocumentOptions
    from nmt_cli.documents.document import DocumentSource
    from nmt_cli.documents.office.cells import spell_column
    from nmt_cli.formats.inputs import ReadOptions
    from nmt_cli.formats.sheets import SpreadsheetReader
    from nmt_cli.formats.sniffing import HEAD
    from nmt_cli.text.streams import FileLines

    formats = [BY_EXTENSION.get(path.suffix.lower()) for path in file.files]
    if file.target is None or any(
        format is None or ("pairs" in format.uses and format.texts != "cells") for format in formats
    ):
        return []
    sides: list[dict[tuple[int, ...], str]] = []
    for path, language, is_read_back in zip(file.files, reversed(languages), (False, True), strict=True):
        with path.open("rb") as stream:
            format = find_format(path, None, stream.read(HEAD))
        if format.texts == "cells":  # which programs store in any order, and equal ones only once
            sides.append(
                dict(SpreadsheetReader(replace(file, path=path, target=None), ReadOptions()).read_text_lines())
            )
            continue
        source = DocumentSource(FileLines(path), str(path), DocumentOptions(), language, reads_back=is_read_back)
        source = source._replace(source_language="" if is_read_back else languages[0])  # with which its keys may begin
        units = open_document(format.name, source).read_units()
        texts = (text for unit in units for text in unit.name_context().texts)
        sides.append({(number,): text for number, text in enumerate(texts)})
    if others := sorted(sides[0].keys() ^ sides[1].keys()):
        counts = " and ".join(format_count(len(side), "text") for side in sides)
        problem = "paragraphs were added or removed"
        if len(others[0]) > 1:
            sheet, row, column, _ = others[0]
            problem = f"only one has a text in cell {spell_column(column)}{row} of sheet {sheet}"
        hint = f"{problem}: put the pairs that you corrected into a table"
        raise DataError(f"{file.name} have {counts}, but must have the same number, in the same places", hint=hint)
    return [(source, sides[1][where]) for where, source in sides[0].items()]


def find_tag_column(path: Path) -> str | None:
    """Returns the heading of a table's tag column: the one after source and target, or a column of registers."""
    headings = read_headings(path)
    registers = (heading for heading in headings if heading.lower() in REGISTERS)
    return TAGS if headings == HEADINGS else next(registers, None)


def read_headings(path: Path) -> list[str]:
    """Returns the cells in the first line of a table, separated by tabs or, if it has none, by commas."""
    if not path.is_file():
        return []
    with path.open(encoding="utf-8-sig", errors="replace") as lines:
        first = lines.readline(LONGEST_HEADER).rstrip("\r\n")
    return [cell.strip('" ') for cell in first.split("\t" if "\t" in first else ",")]


def describe_languages(languages: tuple[str, str]) -> str:
    return f"the model translates {' -> '.join(languages)}: give pairs of these languages"


# `nmt translate --export` and `nmt.export`: a trained model in the format of another program, or as a page.

ExportFormat = Literal["ctranslate2", "page"]


@check_call()
def export_model(
    model: PathLike, output: PathLike, format: ExportFormat, *, assets: PathLike | None = None, force: bool = False
) -> Path:
    """Writes a model in the format of another program into the directory `output`, and returns this directory.

        nmt.export("eng-deu", "site", "page", assets="pyodide")

    `model` is a directory, or the name of an installed model; `assets` is a folder with the files that a page needs.
    Raises OptionError for a model that the program cannot run (with the reason), NotFoundError, and OutputError.
    """
    write_export(Path(model), Path(output), format, None if assets is None else Path(assets), force=force)
    return Path(output)


def write_export(model: Path, output: Path, format: ExportFormat, assets: Path | None, *, force: bool) -> None:
    """Writes a model as `export_model` does, with errors worded for the command line."""
    from nmt_cli.files import stage_directory
    from nmt_cli.runtime.installed_models import find_model
    from nmt_cli.runtime.model_directory import ModelDirectory

    trained = ModelDirectory.load(find_model(model))
    write = choose_writer(format, assets)
    with stage_directory(output, replace=force) as staged:
        write(trained, staged)


def describe_exported_tags(model: Path) -> str:
    """Returns how another program requests a tag from an exported model; empty if the model has no tags."""
    from nmt_cli.runtime.model_directory import read_card
    from nmt_cli.text.tags import parse_tag_name

    pieces = [parse_tag_name(name).piece for name in read_card(model).tags]
    if not pieces:
        return ""
    return f"to request a tag, put it before the subwords of the source: {' '.join(pieces)}"


def choose_writer(format: ExportFormat, assets: Path | None) -> Callable[[ModelDirectory, Path], None]:
    """Returns the function that writes a format.

    Raises OptionError for assets without a page, and for a page without assets.
    """
    from nmt_cli.runtime.browser.page_export import find_assets, write_page
    from nmt_cli.runtime.ctranslate2_export import write_ctranslate2  # numpy, which `nmt --help` does not need

    if (format == "page") != (assets is not None):
        hint = "name a folder with the files that docs/page.md lists: --assets FOLDER"
        raise OptionError("--assets goes with --export page, which needs it", hint=hint)
    if assets is not None:
        return partial(write_page, assets=find_assets(assets))
    return write_ctranslate2
