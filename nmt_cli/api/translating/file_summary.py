"""The summary of a translation file by file and chapter by chapter, in words and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from nmt_cli.documents.document import Location, TornText
from nmt_cli.errors import DataError, NmtError
from nmt_cli.text.wrapping import format_count

if TYPE_CHECKING:
    from nmt_cli.translation.result import Translation

ROWS_SHOWN = 20  # of files and chapters
NOWHERE = Location("")


@dataclass
class PartSummary:
    """The counts of a file or of one of its chapters."""

    name: str
    is_chapter: bool = False
    texts: int = 0
    carried: int = 0  # words copied unchanged
    failed: int = 0  # texts that failed a check
    rated: int = 0  # texts with a confidence
    confidence_sum: float = 0.0
    error: NmtError | None = None  # because of which the file is not translated
    kept: list[TornText] = field(default_factory=list)  # as in the source, since they could not be read back
    places: list[tuple[str, float | None]] = field(default_factory=list)  # of a chapter: verses, with their confidence

    def add(self, translation: Translation) -> None:
        """Counts one translation; one of a blank line has none."""
        self.texts += bool(translation.source.strip())
        self.carried += len(translation.carried)
        self.failed += bool(translation.checks)
        if translation.confidence is not None:
            self.rated += 1
            self.confidence_sum += translation.confidence

    def add_place(self, name: str, confidence: float | None) -> None:
        """Records the confidence of a verse; further texts of it are footnotes."""
        if name and not (self.places and self.places[-1][0] == name):
            self.places.append((name, confidence))

    @property
    def confidence(self) -> float | None:
        """The mean confidence; None if no text has one."""
        return self.confidence_sum / self.rated if self.rated else None

    def is_below(self, threshold: float | None) -> bool:
        return self.confidence is not None and threshold is not None and self.confidence < threshold

    def describe(self, thing: str, threshold: float | None) -> str:
        """Returns the line about it."""
        if self.error is not None:
            return f"{self.name}: not translated: {self.error.message.removeprefix(f'{self.name}: ')}"
        facts = [format_count(self.texts, thing)]
        facts += [f"{format_count(self.carried, 'word')} copied"] if self.carried else []
        facts += [f"{self.failed:,} failed a check"] if self.failed else []
        if self.confidence is not None:
            facts.append(f"confidence {self.confidence:.2f}{' (low)' if self.is_below(threshold) else ''}")
        return f"{self.name}: {', '.join(facts)}"

    def map_counts(self, threshold: float | None) -> dict[str, Any]:
        """Returns the counts as the values of a JSON object."""
        values = {"name": self.name, "texts": self.texts, "carried": self.carried, "failed": self.failed}
        values |= {"confidence": self.confidence, "is_low": self.is_below(threshold)}
        if self.kept:
            values["kept"] = [{"text": text.number, "source": text.source, "why": text.problem} for text in self.kept]
        if self.places:
            values["places"] = [{"name": name, "confidence": confidence} for name, confidence in self.places]
        if self.error is not None:
            values["error"] = {"message": self.error.message, "hint": self.error.hint}
        return values


@dataclass
class FileSummaries:
    """The summaries of all files with their chapters, filled translation by translation, in the order of the input."""

    thing: str = "line"  # what a text is called
    threshold: float | None = None  # below which a mean confidence is low
    are_apart: bool = False  # whether each file has an output of its own
    files: list[PartSummary] = field(default_factory=list)
    parts: list[PartSummary] = field(default_factory=list)  # each file is followed by its chapters
    chapters: dict[str, PartSummary] = field(default_factory=dict)  # of the last file, by name
    location: Location = NOWHERE  # of the next translation
    number: int = 0  # of the last translation, blank lines included: in its file, if each has an output of its own

    def begin_file(self, name: str) -> PartSummary:
        """Returns the summary of the file that begins."""
        self.location, self.chapters = NOWHERE, {}
        self.number = 0 if self.are_apart else self.number
        self.parts.append(PartSummary(name))
        self.files.append(self.parts[-1])
        return self.parts[-1]

    def begin_location(self, location: Location) -> None:
        """Records the place of the next translations, which may begin a chapter."""
        self.location = location
        if location.chapter and location.chapter not in self.chapters:
            self.chapters[location.chapter] = PartSummary(location.chapter, is_chapter=True)
            self.parts.append(self.chapters[location.chapter])

    @property
    def has_parts(self) -> bool:
        """Whether there is more to tell than of the input as a whole."""
        return self.are_apart or len(self.parts) > 1

    @property
    def file(self) -> str:
        """The file of the next translation among several; empty if there is one."""
        return self.files[-1].name if self.are_apart else ""

    @property
    def where(self) -> str:
        """The place of the next translation in a report: the file among several, and the verse or chapter."""
        return " ".join(filter(None, [self.file, self.location.name or self.location.chapter]))

    def add(self, translation: Translation) -> None:
        """Counts one translation for its file and its chapter."""
        self.number += 1
        if self.files:
            self.files[-1].add(translation)
        if self.location.chapter:
            chapter = self.chapters[self.location.chapter]
            chapter.add(translation)
            chapter.add_place(self.location.name, translation.confidence)

    def add_torn(self, name: str, torn: TornText) -> None:
        """Records a text of a file that is written as in the source."""
        part = next((part for part in self.files if part.name == name), None)
        if part is not None:
            part.failed += not torn.was_flagged
            part.kept.append(torn)

    def describe(self) -> Iterator[str]:
        """Yields a line per file and chapter; of many, those that most need a look."""
        if not self.has_parts:
            return
        shown = self.parts
        if len(shown) > ROWS_SHOWN:
            first = sorted(self.parts, key=rate_urgency)[:ROWS_SHOWN]
            shown = [part for part in self.parts if part in first]
        for part in shown:
            yield f"{'    ' if part.is_chapter else '  '}{part.describe(self.thing, self.threshold)}"
        rest = len(self.parts) - len(shown)
        if rest:
            yield f"  and {rest:,} more, which need a look less"

    def map_files(self) -> list[dict[str, Any]]:
        """Returns a JSON object per file, with its chapters."""
        files: list[dict[str, Any]] = []
        for part in self.parts:
            values = part.map_counts(self.threshold)
            if part.is_chapter:
                files[-1].setdefault("chapters", []).append(values)
            else:
                files.append(values)
        return files

    def write_json(self) -> bytes:
        """Returns one JSON object per file and line."""
        return "".join(json.dumps(values, ensure_ascii=False) + "\n" for values in self.map_files()).encode()

    def require_complete(self) -> None:
        """Raises DataError if a file could not be translated."""
        failed = [part for part in self.files if part.error is not None]
        if not failed or failed[0].error is None:
            return
        total = format_count(len(self.files), "file")
        more = " ..." if len(failed) > 1 else ""
        raise DataError(
            f"{len(failed):,} of {total} not translated: {failed[0].error.message}{more}",
            hint=f"all others are; {failed[0].error.hint}" if failed[0].error.hint else "all others are",
        )


def rate_urgency(part: PartSummary) -> tuple[bool, float]:
    """Returns the order in which parts need a look: failed ones first, then those of the least confidence."""
    return part.error is None, 1.0 if part.confidence is None else part.confidence
