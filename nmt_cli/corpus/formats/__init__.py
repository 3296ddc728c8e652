"""Formats of sentence pairs: one table, by suffix. To add one, write its reader in a file here and an entry below."""

from __future__ import annotations

from nmt_cli.corpus.formats.csv import CsvReader
from nmt_cli.corpus.formats.inputs import STDIN, CorpusFile, ReadOptions
from nmt_cli.corpus.formats.jsonl import JsonLinesReader
from nmt_cli.corpus.formats.parallel import ParallelReader
from nmt_cli.corpus.formats.po import PoReader
from nmt_cli.corpus.formats.reader import Reader
from nmt_cli.corpus.formats.tmx import TmxReader
from nmt_cli.corpus.formats.tsv import TsvReader
from nmt_cli.corpus.formats.xliff import XliffReader
from nmt_cli.errors import OptionError, find_nearest

READERS: dict[str, type[Reader]] = {
    "tsv": TsvReader,
    "csv": CsvReader,
    "jsonl": JsonLinesReader,
    "tmx": TmxReader,
    "po": PoReader,
    "xliff": XliffReader,
}
SUFFIXES = {
    **{name: name for name in READERS},
    "tab": "tsv",
    "txt": "tsv",
    "json": "jsonl",
    "ndjson": "jsonl",
    "pot": "po",
    "xlf": "xliff",
    "sdlxliff": "xliff",
}
COMPRESSION_SUFFIXES = (".gz", ".xz", ".zst", ".bz2")


def open_reader(file: CorpusFile, options: ReadOptions) -> Reader:
    """Returns the reader of an input: by `--format`, otherwise by its suffix, otherwise of tab-separated text."""
    if file.target is not None:
        return ParallelReader(file, options)
    return READERS[find_format(file, options)](file, options)


def find_format(file: CorpusFile, options: ReadOptions) -> str:
    """Returns the name of the format. Raises OptionError for an unknown one; the hint names the nearest format."""
    if options.format is not None:
        if options.format not in READERS:
            nearest = find_nearest(options.format, READERS)
            raise OptionError(
                f"--format: there is no format {options.format!r}",
                hint=f"did you mean {nearest!r}?" if nearest else f"the formats are {', '.join(READERS)}",
            )
        return options.format
    name = file.path.name.lower() if file.path != STDIN else ""
    for suffix in COMPRESSION_SUFFIXES:
        name = name.removesuffix(suffix)
    return SUFFIXES.get(name.rpartition(".")[2], "tsv")
