"""Documents in, translated documents out: files for Python, uploads for the server."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING

from nmt_cli.api.progress import StageReporter, ignore_progress
from nmt_cli.documents import find_format, open_document
from nmt_cli.documents.config import DocumentConfig
from nmt_cli.documents.document import DocumentSource, TornText
from nmt_cli.documents.reading_back import copy_torn
from nmt_cli.errors import FailedLineError
from nmt_cli.files import require_file, stage_file
from nmt_cli.jobs.job import TranslateBlock
from nmt_cli.jobs.pipeline import translate_units
from nmt_cli.text.sniffing import HEAD
from nmt_cli.text.stream import batch_blocks
from nmt_cli.translation.passages import ContextScope
from nmt_cli.workers.work import InProcess

if TYPE_CHECKING:
    from nmt_cli.translation.memory.lookup import TranslationMemory
    from nmt_cli.translation.result import Translation

UNITS = 256  # parts of a document that are translated together
MOST_FLAGGED = 10_000  # texts of a document, with all that is known of them: more would fill the memory


@dataclass
class FileReport:
    """The translated file, and anything in it that a person should look at."""

    path: Path
    texts: int = 0  # translated
    notes: Counter[str] = field(default_factory=Counter)  # what could not be done well, and how often
    flagged_count: int = 0  # those to look at
    flagged: list[tuple[int, Translation]] = field(default_factory=list)  # number from 1, of the first `MOST_FLAGGED`

    def add(self, translation: Translation) -> None:
        """Counts a translation, and keeps it if it failed a check, as long as there is room."""
        self.texts += 1
        if getattr(translation, "checks", ()):
            self.flagged_count += 1
            if self.flagged_count <= MOST_FLAGGED:
                self.flagged.append((self.texts, translation))

    def add_torn(self, torn: Sequence[TornText]) -> None:
        """Counts the texts that are written as in the source, since they could not be read back."""
        self.flagged_count += sum(not text.was_flagged for text in torn)
        self.flagged += [(text.number, copy_torn(text)) for text in torn][: max(0, MOST_FLAGGED - len(self.flagged))]
        self.flagged.sort(key=itemgetter(0))


def translate_file(
    translate: TranslateBlock,
    source: Path,
    target: Path,
    config: DocumentConfig,
    languages: tuple[str, str],
    *,
    split_sentences: bool = True,
    memory: TranslationMemory | None = None,
    scope: ContextScope = "nothing",
    progress: StageReporter = ignore_progress,
) -> FileReport:
    """Translates a file to another of the same format; the target appears only when complete.

    `scope` says whether its sentences are read with those before.
    """
    report = FileReport(target)
    with require_file(source).open("rb") as lines, stage_file(target) as temporary, temporary.open("wb") as output:
        document = DocumentSource(lines, str(source), config, languages[1], split_sentences, languages[0], memory)
        for written in translate_document(translate, document, source, report, scope):
            output.write(written)
            progress("translating", report.texts, 0)
    return report


def translate_document(
    translate: TranslateBlock, source: DocumentSource, path: Path, report: FileReport, scope: ContextScope
) -> Iterator[bytes]:
    """Yields the parts of the translated document in order; its format follows from the file unless named."""
    with path.open("rb") as file:
        head = file.read(HEAD)
    document = open_document(find_format(path, source.config.format, head).name, source)
    batches = batch_blocks(document.read_with_domain(), UNITS)
    yield from translate_units(batches, InProcess(translate), report.add, scope)
    report.notes += document.notes
    report.add_torn(document.torn)


def read_first_texts(path: Path) -> list[str]:
    """Returns the texts of the first parts of a document, for detecting its language."""
    with path.open("rb") as lines:
        head = lines.read(HEAD)
        lines.seek(0)
        source = DocumentSource(lines, str(path), DocumentConfig(), "")
        units = open_document(find_format(path, None, head).name, source).read_units()
        return [text for unit in islice(units, UNITS) for text in unit.texts]


def translate_fragment(
    translate: TranslateBlock, text: str, languages: tuple[str, str], kept_tags: frozenset[str] = frozenset()
) -> str:
    """Translates a piece of HTML, except elements named in `kept_tags`.

    Raises FailedLineError if nmt itself fails, since a copy of a text would pass for its translation.
    """
    source = DocumentSource(
        io.BytesIO(text.encode("utf-8")),
        "the text",
        DocumentConfig(),
        target_language=languages[1],
        source_language=languages[0],
        kept_tags=kept_tags,
    )
    batches = batch_blocks(open_document("html", source).read_with_domain(), UNITS)
    return b"".join(translate_units(batches, InProcess(translate), refuse_failure)).decode("utf-8")


def refuse_failure(translation: Translation) -> None:
    if translation.failure is not None:
        raise FailedLineError(f"a text is not translated: {translation.failure}")
