"""Converts bytes to text and back in a document's declared encoding. Must not depend on formats."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from nmt_cli.documents.document import Document, DocumentSource, TranslationUnit, make_verbatim_unit
from nmt_cli.errors import DataError
from nmt_cli.formats.sniffing import CHARSET, TEMPLATE, check_encoding
from nmt_cli.translation.result import Translation

ENCODING_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
DOCUMENT_MEBIBYTES = 256
UNICODE = ("utf-8", "utf-16", "utf-32")


class DecodedText(NamedTuple):
    """The text of a document, its byte order mark and its encoding."""

    text: str
    mark: str | bytes
    encoding: str

    def encode(self, text: str) -> str | bytes:
        """Returns text unchanged for UTF-8, else in the document's encoding.

        Characters missing from the encoding become character references.
        """
        if self.encoding == "utf-8":
            return text
        if self.encoding.startswith(UNICODE):
            return text.encode(self.encoding, "replace")
        return text.encode(self.encoding, "xmlcharrefreplace")


def decode_document(source: DocumentSource, find_encoding: Callable[[bytes], str | None]) -> DecodedText:
    """Decodes a whole document.

    A byte order mark gives the encoding, else the declaration that `find_encoding` reads; the default is UTF-8. A
    declared encoding is ignored if it does not exist or if the declaration could not have been read in it. Raises
    DataError for invalid bytes.
    """
    data = b"".join(source.limit_size(source.lines, DOCUMENT_MEBIBYTES))
    mark, encoding = next(((mark, name) for mark, name in ENCODING_MARKS if data.startswith(mark)), (b"", ""))
    encoding = encoding or find_usable(find_encoding(data) or "utf-8")
    try:
        text = data[len(mark) :].decode(encoding, source.config.errors)
        return DecodedText(text, "\ufeff" if mark == codecs.BOM_UTF8 else mark, encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start + len(mark)) + 1
        raise DataError(
            f"{source.name}, line {line:,}: byte 0x{error.object[error.start]:02x} is not valid {encoding}",
            hint="correct the encoding that the file declares, or use --errors replace",
        ) from error


def find_usable(declared: str) -> str:
    """Returns a declared encoding if it extends ASCII, since the declaration was read as ASCII; else UTF-8.

    Programs that hold text as UTF-16 may declare UTF-16 but write UTF-8 (cf. WHATWG, "prescan a byte stream").
    """
    try:
        return declared if "<?xml".encode(declared) == b"<?xml" else "utf-8"
    except LookupError:  # no encoding, or none of text
        return "utf-8"


# Documents in encodings other than UTF-8: read as text, and written in their own encoding.
#
# A gettext catalogue declares its encoding; `--encoding` names that of all others. Does not depend on formats.


HEADER_LINES = 200  # of a catalogue, in which its charset stands
UTF_8 = frozenset({"utf-8", "utf-8-sig", "ascii"})
WIDE_ENCODINGS = frozenset({"utf-16", "utf-32"})  # whose byte order mark says which of two they are


class EncodedDocument(Document):
    """A document that may not be in UTF-8; `make` opens it once its lines are in UTF-8."""

    def __init__(
        self, source: DocumentSource, make: Callable[[DocumentSource], Document], *, has_charset: bool
    ) -> None:
        super().__init__(source)
        self.make = make
        self.has_charset = has_charset

    def read_units(self) -> Iterator[TranslationUnit]:
        encoding, lines = self.find_encoding()
        if encoding is not None:
            first = next(lines, b"")
            mark = next((mark for mark, name in ENCODING_MARKS if name == encoding and first.startswith(mark)), b"")
            lines = recode_lines(chain([first[len(mark) :]], lines), self.source, encoding)
            yield make_verbatim_unit(mark)
        document = self.make(self.source._replace(lines=lines))
        document.report_to(self)
        for unit in document.read_with_domain():
            yield unit if encoding is None else unit._replace(write=self.encode_output(unit.write, encoding))

    def find_encoding(self) -> tuple[str | None, Iterator[bytes]]:
        """Returns the encoding (None for UTF-8) and all lines, including those read to detect it."""
        lines = iter(self.source.lines)
        head: list[bytes] = []
        encoding = self.source.config.encoding
        if encoding is None and self.has_charset:
            match = None
            while match is None and len(head) < HEADER_LINES and (line := next(lines, b"")):
                head.append(line)
                match = CHARSET.search(line)
            if match is not None and match[1].upper() != TEMPLATE:
                encoding = check_encoding(match[1].decode(), f"{self.source.name}: charset")
        if encoding in WIDE_ENCODINGS and (line := next(lines, b"")):
            head.append(line)
            names = (name for mark, name in ENCODING_MARKS if name.startswith(str(encoding)) and line.startswith(mark))
            encoding = next(names, encoding)
        return None if encoding in UTF_8 else encoding, chain(head, lines)

    def encode_output(
        self, write: Callable[[Sequence[Translation]], str | bytes], encoding: str
    ) -> Callable[[Sequence[Translation]], bytes]:
        """Wraps `write` to encode its text. Raises DataError for characters missing from the encoding."""

        def write_encoded(translations: Sequence[Translation]) -> bytes:
            text = write(translations)
            if isinstance(text, bytes):
                return text
            try:
                return text.encode(encoding)
            except UnicodeEncodeError as error:
                tool = "msgconv -t UTF-8" if self.has_charset else f"iconv -f {encoding} -t utf-8"
                raise DataError(
                    f"{self.source.name}: the translation has {text[error.start]!r}, which {encoding} does not have",
                    hint=f"convert the file to UTF-8 first: {tool} {self.source.name}",
                ) from error

        return write_encoded


def recode_lines(lines: Iterable[bytes], source: DocumentSource, encoding: str) -> Iterator[bytes]:
    """Recodes the lines to UTF-8. Raises DataError, naming the line, for invalid bytes."""
    decoder = codecs.getincrementaldecoder(encoding)(source.config.errors)
    rest, count = "", 0
    for data in chain(lines, [None]):
        try:
            rest += decoder.decode(data or b"", final=data is None)
        except UnicodeError as error:
            source.refuse(count + 1, f"not {encoding} ({str(error)[:80]})", "give the right encoding with --encoding")
        *complete, rest = rest.split("\n")
        count += len(complete)
        yield from (f"{line}\n".encode("utf-8", "surrogatepass") for line in complete)
    if rest:
        yield rest.encode("utf-8", "surrogatepass")
