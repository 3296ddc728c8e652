"""What makes XML safe to read, in pairs and in documents: one guard, one set of limits, one mending.

`<!DOCTYPE x [<!ENTITY a "&b;&b;">]>` is refused before `a` expands: `XmlGuard` holds the handlers for expat that do so.
Knows no format, and imports neither expat nor anything of ours."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, NoReturn

MAXIMUM_DEPTH = 200  # of nested elements, or of nested values of a document
MAXIMUM_UNIT = 1 << 22  # bytes, and characters
LONGEST_ENTITY = 1000  # characters: the name of a product or a notice


class XmlGuard:
    """Handlers for expat that refuse XML meant to exhaust the machine."""

    def __init__(self) -> None:
        self.depth = 0

    def enter(self, _tag: str, _attributes: dict[str, str]) -> None:
        self.depth += 1
        if self.depth > MAXIMUM_DEPTH:
            raise ValueError(f"more than {MAXIMUM_DEPTH} nested elements")

    def leave(self, _tag: str) -> None:
        self.depth -= 1

    def skip(self, _data: str) -> None:
        """Ignores anything without a handler."""

    def check_entity(self, name: str, is_parameter: int, value: str | None, *_external: str | None) -> None:
        """Accepts an entity that is plain text, which is kept and cannot expand."""
        if is_parameter or value is None or "&" in value or len(value) > LONGEST_ENTITY:
            self.refuse_entity(name)

    def refuse_entity(self, *_declared: Any) -> NoReturn:
        raise ValueError("it declares entities, which can be made to fill the memory")


# Mends invalid XML that programs commonly write: blank lines before the declaration, and control characters.
#
# Works on the bytes of encodings that contain ASCII; anything else passes unchanged. Knows no format.


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
