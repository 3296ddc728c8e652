"""Mail: the subject and the text parts are translated, each in its own encoding; attachments stay.

    Subject: A letter                       SUBJECT: A LETTER is the first text; the next is "It is for you and for
                                            nobody else.", whose translation is wrapped at the same width
    It is for you and for
    nobody else.

An unchanged part is written byte for byte. A part whose charset lacks a letter of its translation becomes UTF-8.
"""

from __future__ import annotations

import base64
import binascii
import io
import quopri
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from email.header import Header, decode_header, make_header
from email.message import Message
from email.parser import BytesHeaderParser

from nmt_cli.documents.document import Document, TranslationUnit, WrappedDocument, flatten_breaks, make_verbatim_unit
from nmt_cli.documents.encodings import DOCUMENT_MEBIBYTES
from nmt_cli.documents.html import HtmlDocument
from nmt_cli.documents.reading_back import watch_units
from nmt_cli.text.words import has_letters
from nmt_cli.translation.result import Translation

BEFORE_MESSAGE = re.compile(rb"^(?=From \S[^\r\n]*\d{4}\r?$)", re.MULTILINE)  # in a file of several messages
HEADER_END = re.compile(rb"(?:\A|\n)\r?\n")
SUBJECT = re.compile(rb"(?im)^(Subject:[ \t]*)([^\r\n]*(?:\r?\n[ \t]+[^\r\n]+)*)")
REPLY_MARKS = re.compile(r"(?i)(?:(?:re|fwd?|aw|wg|sv|vs|tr|rv|ref)(?:\[\d+\])?:\s*|\[[^\]]*\]\s*)*")
PART_TYPE = rb"(?im)^Content-Type:[^\n]*\n(?:[ \t][^\n]*\n)*"
TRANSFER_ENCODING = rb"(?im)^(Content-Transfer-Encoding:)[^\r\n]*"
PART_CHARSET = rb"(?i)(charset\s*=\s*)(?:\"[^\"]*\"|[^\s;]+)"
TEXT_PARTS: dict[str, type[Document]] = {"text/plain": WrappedDocument, "text/html": HtmlDocument}
SEALED = frozenset({"multipart/signed", "multipart/encrypted"})
SEALED_NOTE = "signed or encrypted parts, left unchanged"
UNREADABLE_NOTE = "parts that are not in the encoding that they declare, left unchanged"
UTF8_SIGN = "\ufeff"  # before a part, which is UTF-8 whatever its markup declares
MOST_NESTED = 20  # of parts within parts


class MailDocument(Document):
    texts_read = 0

    def read_units(self) -> Iterator[TranslationUnit]:
        data = b"".join(self.source.limit_size(self.source.lines, DOCUMENT_MEBIBYTES))
        for message in BEFORE_MESSAGE.split(data) if data.startswith(b"From ") else [data]:
            yield from self.read_part(message, MOST_NESTED)

    def read_part(self, data: bytes, depth: int) -> Iterator[TranslationUnit]:
        """Yields the units of a message, or of a part of one."""
        end = HEADER_END.search(data)
        head, body = (data[: end.end()], data[end.end() :]) if end else (data, b"")
        header = BytesHeaderParser().parsebytes(head)
        kind, boundary = header.get_content_type(), header.get_boundary()
        is_sealed = kind in SEALED or not depth
        if not is_sealed and kind in TEXT_PARTS and header.get_content_disposition() != "attachment":
            yield self.make_unit(head, header, body)
            return
        self.notes += Counter({SEALED_NOTE: int(is_sealed)})
        yield self.make_unit(head, header, b"")
        if not is_sealed and header.get_content_maintype() == "multipart" and boundary:
            yield from self.read_parts(body, boundary.encode("ascii", "replace"), depth - 1)
        elif not is_sealed and kind == "message/rfc822":
            yield from self.read_part(body, depth - 1)
        else:
            yield make_verbatim_unit(body)

    def read_parts(self, body: bytes, boundary: bytes, depth: int) -> Iterator[TranslationUnit]:
        """Yields the units of the parts between boundaries; the text around them is kept."""
        before, *rest = re.split(rb"(?m)^(--" + re.escape(boundary) + rb"(?:--)?[ \t]*\r?(?:\n|\Z))", body)
        yield make_verbatim_unit(before)
        for line, part in zip(rest[::2], rest[1::2], strict=True):
            yield make_verbatim_unit(line)
            is_last = line.rstrip().endswith(boundary + b"--")
            yield from [make_verbatim_unit(part)] if is_last else self.read_part(part, depth)

    def make_unit(self, head: bytes, header: Message, body: bytes) -> TranslationUnit:
        """Returns the unit of a header and of the text after it, if any."""
        line = SUBJECT.search(head)
        subject = read_subject(line[2]) if line else ""
        marks = REPLY_MARKS.match(subject)
        before, title = (subject[: marks.end()], subject[marks.end() :]) if marks else ("", subject)
        titles = [title] if has_letters(title) else []
        self.texts_read += len(titles)
        charset, text = read_body(header, body)
        if text is None:
            self.notes += Counter({UNREADABLE_NOTE: 1})
        parts = self.open_part(header.get_content_type(), text) if text else []
        texts = [text for part in parts for text in part.texts]
        self.texts_read += len(texts)

        def write_unit(translations: Sequence[Translation]) -> bytes:
            new_head, remaining = head, iter(translations)
            if line and titles and (written := flatten_breaks(next(remaining).text)) != title:
                spelled = spell_subject(before + written, b"\r\n" in head)
                new_head = head[: line.start(2)] + spelled + head[line.end(2) :]
            pieces = [part.write([next(remaining) for _ in part.texts]) for part in parts]
            whole = "".join(piece if isinstance(piece, str) else piece.decode() for piece in pieces)
            new = whole.removeprefix(UTF8_SIGN)
            if not texts or new == text:
                return new_head + body
            return write_part(new_head, header, body, new, charset)

        return TranslationUnit((*titles, *texts), write_unit)

    def open_part(self, kind: str, text: str) -> list[TranslationUnit]:
        """Returns the units of a plain-text or HTML part."""
        source = self.source._replace(lines=io.BytesIO((UTF8_SIGN + text if kind == "text/html" else text).encode()))
        part = TEXT_PARTS[kind](source)
        part.report_to(self)
        part.texts_written = self.texts_read
        units = part.read_units()
        return list(watch_units(part, part.reopen, units) if kind == "text/html" else units)


def read_subject(raw: bytes) -> str:
    """Returns a decoded subject; empty if its encoding does not exist."""
    try:
        return str(make_header(decode_header(re.sub(rb"\r?\n(?=[ \t])", b"", raw).decode("utf-8"))))
    except (LookupError, ValueError):
        return ""


def spell_subject(subject: str, has_returns: bool) -> bytes:
    """Returns a subject folded to the usual line length of mail, and encoded if it is not ASCII."""
    charset = "us-ascii" if subject.isascii() else "utf-8"
    return Header(subject, charset, header_name="Subject").encode(linesep="\r\n" if has_returns else "\n").encode()


def read_body(header: Message, body: bytes) -> tuple[str, str | None]:
    """Returns the charset of a body and its text; the text is None if the body cannot be decoded."""
    transfer = read_transfer(header)
    declared = (header.get_content_charset() or "us-ascii").replace("us-ascii", "utf-8")
    try:
        data = DECODERS[transfer](body)
    except (KeyError, binascii.Error):
        return "", None
    for charset in (declared, "utf-8", "cp1252"):
        try:
            return charset, data.decode(charset)
        except (LookupError, UnicodeDecodeError):
            continue
    return "", None


def read_transfer(header: Message) -> str:
    return str(header.get("Content-Transfer-Encoding", "8bit")).strip().lower()


DECODERS: dict[str, Callable[[bytes], bytes]] = {
    **dict.fromkeys(("7bit", "8bit", "binary"), bytes),
    "quoted-printable": quopri.decodestring,
    "base64": base64.b64decode,
}


def write_part(head: bytes, header: Message, body: bytes, text: str, charset: str) -> bytes:
    """Returns a part with new text, in the part's encoding, or in UTF-8 if that encoding lacks one of the letters."""
    end, transfer = b"\r\n" if b"\r\n" in head + body else b"\n", read_transfer(header)
    is_declared = header.get_content_charset() == charset
    try:
        data = text.encode(charset)
    except UnicodeEncodeError:
        data, is_declared = text.encode(), False
    if not (is_declared or data.isascii()):
        head = declare_utf8(head, end, transfer)
        data = text.encode()
    if transfer == "quoted-printable":
        return head + quopri.encodestring(data)
    if transfer == "base64":
        return head + base64.encodebytes(data).strip().replace(b"\n", end) + body[len(body.rstrip()) :]
    return head + data


def declare_utf8(head: bytes, end: bytes, transfer: str) -> bytes:
    """Returns the header, changed to declare UTF-8."""
    blank = head[len(head.rstrip(b"\r\n")) :]
    lines = head[: len(head) - len(blank)] + end
    kind = re.search(PART_TYPE, lines)
    if kind is None:
        version = b"" if re.search(rb"(?im)^MIME-Version:", lines) else b"MIME-Version: 1.0" + end
        lines = lines.lstrip(b"\r\n") + version + b"Content-Type: text/plain; charset=utf-8" + end
    elif re.search(PART_CHARSET, kind[0]):
        lines = lines[: kind.start()] + re.sub(PART_CHARSET, rb"\1utf-8", kind[0]) + lines[kind.end() :]
    else:
        lines = lines[: kind.end()].rstrip() + b"; charset=utf-8" + end + lines[kind.end() :]
    if transfer in ("7bit", "8bit"):
        new = re.sub(TRANSFER_ENCODING, rb"\1 8bit", lines)
        lines = new if re.search(TRANSFER_ENCODING, new) else new + b"Content-Transfer-Encoding: 8bit" + end
    return lines + end
