"""Converts bytes to text and back in a document's declared encoding. Must not know any format."""

from __future__ import annotations

import codecs
from collections.abc import Callable
from typing import NamedTuple

from nmt_cli.documents.document import DocumentSource
from nmt_cli.errors import DataError

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

    The encoding is that of a byte order mark, else the one declared according to `find_encoding`, else UTF-8. A
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
            hint="correct the encoding that the file declares, or go on with --errors replace",
        ) from error


def find_usable(declared: str) -> str:
    """Returns a declared encoding if it extends ASCII, in which the declaration was read; else UTF-8.

    Programs that hold text as UTF-16 declare that, but write UTF-8 (cf. WHATWG, "prescan a byte stream").
    """
    try:
        return declared if "<?xml".encode(declared) == b"<?xml" else "utf-8"
    except LookupError:  # no encoding, or none of text
        return "utf-8"
