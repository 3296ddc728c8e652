"""The engine of all documents that are zip archives of XML: it rewrites parts with text and copies all others.

    report.docx     [Content_Types].xml    copied          word/document.xml    rewritten, then packed and released
                    word/media/a.png       copied          word/header1.xml     rewritten

The archive is written part by part as its texts are translated, so that memory holds only the input and one part.
Unsafe archives are refused before anything is read: encrypted parts, paths that lead out of the archive, decompression
bombs, and XML with its own entities. Nothing in an archive is executed, and nothing outside it is read."""

from __future__ import annotations

import io
import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from zipfile import ZipFile, ZipInfo

from nmt_cli.documents.document import Document, DocumentSource, Location, TranslationUnit
from nmt_cli.documents.marks import InlineItem, Wrapper, read_spelled_text
from nmt_cli.documents.paragraph import Paragraph, make_units
from nmt_cli.documents.xml import (
    ATTRIBUTE_SYNTAX,
    XmlNode,
    decode_xml,
    escape_attribute,
    escape_xml,
    map_attributes,
    read_attributes,
    read_node,
    strip_prefix,
)
from nmt_cli.formats.archives import DAMAGE, MAXIMUM_ARCHIVE, open_archive, read_entry, refuse_damaged
from nmt_cli.formats.xml import MarkupToken, scan_xml
from nmt_cli.languages.codes import find_language_tag, has_same_primary_tag
from nmt_cli.translation.result import Translation

SIGNED = "digital signatures that are no longer valid, because the text has changed"


class PartialArchive(ZipFile):
    """An archive that may silently be left unfinished when an error ends its translation."""

    def __del__(self) -> None:
        """Does nothing, since `finish` closes the archive."""


class WindowBuffer(io.RawIOBase):
    """A file whose beginning is released once written; the rest can be rewritten."""

    def __init__(self) -> None:
        self.base = 0
        self.window = io.BytesIO()

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self.base + self.window.tell()

    def seek(self, offset: int, whence: int = 0) -> int:
        self.window.seek(offset - self.base if whence == 0 else offset, whence)
        return self.tell()

    def write(self, data: bytes) -> int:  # type: ignore[override]
        return self.window.write(data)

    def take(self) -> bytes:
        """Returns the content of the window and empties it."""
        data = self.window.getvalue()
        self.base += len(data)
        self.window = io.BytesIO()
        return data


class ArchiveWriter:
    """Writes an archive part by part, and releases each as soon as it is complete."""

    def __init__(self) -> None:
        self.buffer = WindowBuffer()
        self.archive = PartialArchive(self.buffer, "w")

    def write_part(self, info: ZipInfo, content: bytes) -> bytes:
        self.archive.writestr(copy_info(info), content)
        return self.buffer.take()

    def finish(self) -> bytes:
        self.archive.close()
        return self.buffer.take()


def copy_info(info: ZipInfo) -> ZipInfo:
    """Returns a copy of a part's entry without the fields that depend on its content."""
    new = ZipInfo(info.filename, info.date_time)
    new.compress_type, new.external_attr, new.comment = info.compress_type, info.external_attr, info.comment
    new.create_system = info.create_system
    return new


class ArchiveDocument(Document):
    """A document in an archive; a format defines which parts have text and how to read them."""

    kind: str  # in messages

    def __init__(self, source: DocumentSource) -> None:
        super().__init__(source)
        self.rewritten: dict[str, bytes] = {}  # the part that is read back
        self.archive = open_archive(b"".join(source.limit_size(source.lines, MAXIMUM_ARCHIVE)), source.name, self.kind)

    def read_checked(self) -> Iterator[TranslationUnit]:
        """Yields the units; each part is read back before it is packed."""
        return self.read_units()

    def read_part_checked(self, name: str) -> Iterator[TranslationUnit]:
        """Yields the units of a part; what they write is read back, unless cells are added to rows of a sheet."""
        units = self.read_part(name)
        if self.guard is None or self.source.config.column:
            return units
        return self.guard(self, partial(self.reopen_part, name), units)

    def reopen_part(self, name: str, data: bytes) -> Iterator[TranslationUnit]:
        """Yields the units of a part, read back from what was written."""
        notes, self.notes = self.notes, Counter()
        self.rewritten = {name: data}
        try:
            yield from self.read_part(name)
        finally:
            self.notes, self.rewritten = notes, {}

    def read_units(self) -> Iterator[TranslationUnit]:
        self.check_format()
        output = ArchiveWriter()
        for info in self.archive.infolist():
            self.notes += Counter({SIGNED: int(info.filename.startswith("_xmlsignatures/sig"))})
            if self.has_text(info.filename):
                written: list[bytes] = []
                yield from self.write_to(
                    written, self.read_part_checked(info.filename), self.name_chapter(info.filename)
                )
                yield TranslationUnit((), partial(self.write_part, output, info, written))
            else:
                yield TranslationUnit((), partial(self.copy_part, output, info))
        yield TranslationUnit((), lambda _: output.finish())

    def write_to(
        self, output: list[bytes], units: Iterator[TranslationUnit], chapter: str
    ) -> Iterator[TranslationUnit]:
        """Yields the units of a part, and collects their output."""
        location = Location(chapter) if chapter else None
        for unit in units:

            def write_unit(translations: Sequence[Translation], unit: TranslationUnit = unit) -> bytes:
                written = unit.write(translations)
                output.append(written if isinstance(written, bytes) else written.encode("utf-8"))
                return b""

            yield unit._replace(write=write_unit, location=unit.location or location)

    def write_part(
        self, output: ArchiveWriter, info: ZipInfo, written: list[bytes], _translations: Sequence[Translation]
    ) -> bytes:
        return output.write_part(info, b"".join(written))

    def copy_part(self, output: ArchiveWriter, info: ZipInfo, _translations: Sequence[Translation]) -> bytes:
        try:
            return output.write_part(info, self.archive.read(info))
        except DAMAGE as error:
            refuse_damaged(self.source.name, info.filename, error)

    def read_bytes(self, name: str) -> bytes:
        """Returns the content of a part. Raises DataError if it is damaged or too large."""
        return read_entry(self.archive, self.archive.getinfo(name), self.source.name)

    def open_part(self, name: str) -> DocumentSource:
        """Returns a part as the source of a document."""
        data = self.rewritten.get(name)
        lines = [self.read_bytes(name) if data is None else data]
        return self.source._replace(lines=lines, name=f"{self.source.name}, {name}", reads_back=data is not None)

    def read_tags(self, name: str, element: str) -> list[dict[str, str]]:
        """Returns the attributes of all elements with this name in a part, in order."""
        tags = re.findall(rf"<(?:\w+:)?{element}\s[^<>]*>", self.read_bytes(name).decode("utf-8", "replace"))
        return [map_attributes(tag) for tag in tags]

    def has_part(self, name: str) -> bool:
        return name in self.archive.NameToInfo

    @abstractmethod
    def check_format(self) -> None:
        """Raises DataError for an archive of another format, or one that cannot be translated."""

    @abstractmethod
    def has_text(self, name: str) -> bool:
        """Whether a part is to be translated."""

    def name_chapter(self, name: str) -> str:
        """Returns the chapter name of a part; empty if the part is not a chapter."""
        return ""

    @abstractmethod
    def read_part(self, name: str) -> Iterator[TranslationUnit]:
        """Yields the units of a part."""


# XML parts of an archive: paragraphs are translated, the rest is kept byte for byte.


DESCRIBED = frozenset({"docPr", "cNvPr"})  # of pictures and shapes, in Office Open XML
DESCRIPTION_ATTRIBUTES = ("descr", "title")
LANGUAGE_ATTRIBUTE = re.compile(
    r'(?P<before><w:lang\b[^<>]*?\bw:val="|<a:(?:r|def|endPara)RPr\b[^<>]*?\blang="|\bfo:language="'
    r"|<(?:lang|dc:language\b[^<>]*)>\s*)"
    r'(?P<language>[A-Za-z]{2,3}(?:-\w+)*)(?P<after>"|\s*</)(?P<country> fo:country=")?(?(country)\w+")'
)
FILE_NAME = re.compile(r"\S+\.\w{2,4}")


class ParagraphReader(ABC):
    """Reads the paragraphs of a part; a format defines which elements are paragraphs, and their content."""

    paragraphs: frozenset[str]  # local names
    kept: frozenset[str] = frozenset()  # elements that are kept with all inside them
    needs_text: frozenset[str] = frozenset()

    def read_units(self, source: DocumentSource, notes: Counter[str]) -> Iterator[TranslationUnit]:
        """Yields the units of a part."""
        decoded = decode_xml(source)
        tokens = scan_xml(set_language(decoded.text, source.source_language, source.target_language))
        parts = (part for token in tokens for part in self.read_token(token, tokens))
        yield from make_units(parts, decoded, source, notes)

    def read_token(self, token: MarkupToken, tokens: Iterator[MarkupToken]) -> Iterator[str | Paragraph]:
        name = strip_prefix(token.name)
        if token.kind != "open" or not (self.is_paragraph(token.name) or name in self.kept):
            yield from [token.raw] if token.kind == "close" else read_tag(token.raw, name)
            return
        node = read_node(tokens, token)
        yield from [node.raw] if name in self.kept else self.read_paragraph(node)

    def is_paragraph(self, name: str) -> bool:
        """Whether an element with this name, possibly prefixed, is a paragraph."""
        return strip_prefix(name) in self.paragraphs

    def read_paragraph(self, node: XmlNode) -> Iterator[str | Paragraph]:
        """Yields a paragraph between its tags."""
        yield node.tag
        yield Paragraph(list(self.read_items(node)), escape_xml, self.needs_text)
        yield node.end

    def read_blocks(self, node: XmlNode) -> Iterator[str | Paragraph]:
        """Yields an element within a paragraph that has paragraphs of its own."""
        if node.name in self.paragraphs and self.is_paragraph(node.tag[1:].split(maxsplit=1)[0].rstrip("/>")):
            yield from self.read_paragraph(node)
        elif node.name in self.kept or not any(node.find_all(self.paragraphs | DESCRIBED)):
            yield from [node.raw] if node.name not in DESCRIBED else read_tag(node.raw, node.name)
        else:
            yield from read_tag(node.tag, node.name)
            for child in node.children:
                yield from self.read_blocks(child) if isinstance(child, XmlNode) else (child.raw,)
            yield node.end

    @abstractmethod
    def read_items(self, node: XmlNode) -> Iterable[InlineItem]:
        """Yields the items of a paragraph."""


def set_language(text: str, source: str, target: str) -> str:
    """Replaces the source's proofing language in a part with the target's."""
    tag = find_language_tag(target)
    if not tag or has_same_primary_tag(source, target):
        return text

    def replace_language(match: re.Match[str]) -> str:
        if not has_same_primary_tag(match["language"], source):
            return match[0]
        country = match["country"] and f'{match["country"]}none"'  # of OpenDocument
        return f"{match['before']}{tag}{match['after']}{country or ''}"

    return LANGUAGE_ATTRIBUTE.sub(replace_language, text)


def read_tag(tag: str, name: str) -> Iterator[str | Paragraph]:
    """Yields a tag; attributes that describe a picture are paragraphs, unless they name a file."""
    position = 0
    for attribute in read_attributes(tag) if name in DESCRIBED else ():
        is_text = any(map(str.isalpha, attribute.value)) and not FILE_NAME.fullmatch(attribute.value)
        if attribute.name in DESCRIPTION_ATTRIBUTES and is_text:
            raw = tag[attribute.start : attribute.end]
            yield tag[position : attribute.start]
            yield Paragraph([read_spelled_text(raw, ATTRIBUTE_SYNTAX)], escape_attribute)
            position = attribute.end
    yield tag[position:]


def make_point(
    raw: str | Sequence[str | Paragraph], wrappers: Sequence[Wrapper] = (), *, name: str = "", keeps_order: bool = False
) -> InlineItem:
    template = (raw,) if isinstance(raw, str) else tuple(raw)
    return InlineItem("point", template, name=name, wrappers=tuple(wrappers), keeps_order=keeps_order)
