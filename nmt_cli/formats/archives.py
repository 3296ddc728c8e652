"""Checks that zip archives of XML are safe to read: office documents, e-books, and spreadsheets of pairs.

    report.docx: word/document.xml, 4 MiB packed to 80 KiB       read
    bomb.xlsx: xl/worksheets/sheet1.xml, 1 GiB packed to 1 MiB   refused before it is unpacked
    ../../etc/passwd, a part named twice, an encrypted part      refused when the archive is opened

Nothing in an archive is run, and nothing outside it is read.
"""

from __future__ import annotations

import io
import lzma
import struct
import zlib
from typing import NoReturn
from zipfile import BadZipFile, ZipFile, ZipInfo

from nmt_cli.errors import DataError

MAXIMUM_ARCHIVE = 512  # MiB, which are held in memory
MAXIMUM_PART = 1 << 27  # bytes of a part with text, unpacked
MAXIMUM_TOTAL = 1 << 32  # bytes of all parts, unpacked
MAXIMUM_RATIO = 200  # of a part with text to what it is packed to; XML of real documents has up to 50
HARMLESS = 1 << 22  # bytes, of a part whose ratio does not matter
MAXIMUM_COPIED = 1 << 27  # bytes of all parts beyond that ratio, unpacked: parts without text are packed again
MAXIMUM_PARTS = 20_000
ENCRYPTED = 1  # the bit of a zip entry that says so
COMPOUND_FILE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"  # of Office before 2007, and of encrypted documents after it
SAVE_AGAIN, DIVIDE = "open and save the file once more", "split the document"  # hints
# All that zipfile raises for bytes that are no archive: it trusts the sizes and positions that stand in one.
DAMAGE = (
    *(BadZipFile, zlib.error, lzma.LZMAError, struct.error),
    *(EOFError, OSError, ValueError, RuntimeError, OverflowError),
)


def open_archive(data: bytes, name: str, kind: str) -> ZipFile:
    """Opens an archive in memory. Raises DataError if it is unsafe."""
    if data.startswith(COMPOUND_FILE):
        refuse_part(
            name,
            "the file is encrypted, or in the format of Office before 2007",
            f"save it as {kind}, without a password",
        )
    try:
        archive = ZipFile(io.BytesIO(data))
    except DAMAGE as error:
        refuse_part(name, f"{kind} must be a zip archive, but this file is not ({error})", SAVE_AGAIN)
    entries = archive.infolist()
    if len(entries) > MAXIMUM_PARTS or sum(entry.file_size for entry in entries) > MAXIMUM_TOTAL:
        refuse_part(
            name, f"the archive unpacks to more than {MAXIMUM_PARTS:,} parts or {MAXIMUM_TOTAL >> 30} GiB", DIVIDE
        )
    if sum(entry.file_size for entry in entries if is_bomb(entry)) > MAXIMUM_COPIED:
        refuse_part(name, f"parts of the archive unpack to more than {MAXIMUM_RATIO} times their size", SAVE_AGAIN)
    names: set[str] = set()
    for entry in entries:
        check_entry(entry, name)
        if entry.filename in names:
            refuse_part(name, f"the part {entry.filename} appears twice", SAVE_AGAIN)
        names.add(entry.filename)
    return archive


def check_entry(entry: ZipInfo, name: str) -> None:
    """Raises DataError for an entry that is encrypted or leads out of the archive."""
    path = entry.filename.replace("\\", "/")
    if path.startswith("/") or ".." in path.split("/") or path[1:2] == ":":
        refuse_part(name, f"the part {entry.filename[:60]!r} has a path that points outside the archive", SAVE_AGAIN)
    if entry.flag_bits & ENCRYPTED:
        refuse_part(name, f"the part {entry.filename[:60]} is encrypted", "save it without a password")


def is_bomb(entry: ZipInfo) -> bool:
    """Whether a part unpacks far beyond its packed size."""
    return entry.file_size > max(HARMLESS, MAXIMUM_RATIO * max(1, entry.compress_size))


def check_size(entry: ZipInfo, name: str) -> None:
    """Raises DataError for a part that unpacks to more than fits in memory, or far beyond its packed size."""
    if entry.file_size > MAXIMUM_PART:
        refuse_part(name, f"the part {entry.filename} has more than {MAXIMUM_PART >> 20} MiB", DIVIDE)
    if is_bomb(entry):
        refuse_part(
            name,
            f"the part {entry.filename} unpacks to {entry.file_size // max(1, entry.compress_size):,} times its size",
            SAVE_AGAIN,
        )


def read_entry(archive: ZipFile, entry: ZipInfo, name: str) -> bytes:
    """Returns the content of a part. Raises DataError if it is damaged or too large."""
    check_size(entry, name)
    try:
        return archive.read(entry)
    except DAMAGE as error:
        refuse_damaged(name, entry.filename, error)


def refuse_damaged(name: str, part: str, error: Exception) -> NoReturn:
    refuse_part(name, f"the part {part} is damaged ({error})", SAVE_AGAIN)


def refuse_part(name: str, problem: str, hint: str = "") -> NoReturn:
    """Raises DataError for a part of a document."""
    raise DataError(f"{name}: {problem}", hint=hint)
