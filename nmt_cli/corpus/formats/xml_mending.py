"""Mends invalid XML that programs commonly write: blank lines before the declaration, and control characters.

Works on the bytes of encodings that contain ASCII; anything else passes unchanged. Knows no format.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from nmt_cli.text.wrapping import format_count

REFERENCE = re.compile(rb"&#(?:x0*([0-9a-fA-F]{1,6})|0*([0-9]{1,7}));")
LONGEST_REFERENCE = 40  # bytes
CONTROLS = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")
BLANKS = b" \t\r\n"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class XmlMending:
    """Mends the chunks of a file, and counts the changes."""

    def __init__(self) -> None:
        self.characters = 0
        self.blank_start = False

    @property
    def notes(self) -> list[str]:
        """Descriptions of the changes."""
        notes = ["blanks before the XML declaration were left out"] if self.blank_start else []
        if self.characters:
            characters = format_count(self.characters, "character")
            notes.append(f"{characters} that XML forbids: read as blanks")
        return notes

    def mend_chunks(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        """Yields the mended chunks, holding back a reference divided between two chunks."""
        held = b""
        is_first, is_wide = True, False
        for chunk in chunks:
            if is_first:
                is_wide = b"\0" in chunk[:4] or chunk.startswith((b"\xff\xfe", b"\xfe\xff"))
                chunk = chunk if is_wide else self.trim_start(chunk)
                is_first = False
            if is_wide:
                yield chunk
                continue
            chunk = held + chunk
            cut = chunk.rfind(b"&", max(0, len(chunk) - LONGEST_REFERENCE))
            cut = len(chunk) if cut < 0 or b";" in chunk[cut:] else cut
            chunk, held = chunk[:cut], chunk[cut:]
            yield self.mend_characters(chunk)
        if held:
            yield self.mend_characters(held)

    def trim_start(self, chunk: bytes) -> bytes:
        """Removes blanks before the declaration, which must come first, from the first chunk."""
        bare = chunk.removeprefix(BYTE_ORDER_MARK).lstrip(BLANKS)
        if not bare.startswith(b"<?xml") or len(bare) == len(chunk.removeprefix(BYTE_ORDER_MARK)):
            return chunk
        self.blank_start = True
        return bare

    def mend_characters(self, chunk: bytes) -> bytes:
        if b"&#" in chunk:
            chunk = REFERENCE.sub(self.replace_reference, chunk)
        chunk, count = CONTROLS.subn(b" ", chunk)
        self.characters += count
        return chunk

    def replace_reference(self, match: re.Match[bytes]) -> bytes:
        """Returns a character reference unchanged, or a blank if XML forbids the character."""
        code = int(match[1], 16) if match[1] else int(match[2])
        is_allowed = code in (9, 10, 13) or 32 <= code < 0xD800 or 0xE000 <= code < 0xFFFE or 0x10000 <= code < 0x110000
        if is_allowed:
            return match[0]
        self.characters += 1
        return b" "
