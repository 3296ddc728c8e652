"""The guarantee of documents: with a translator that returns its input, nothing changes.

Every text goes through the real writer, between sentinels that are stripped from what is written; so a short cut that
notices equal texts cannot pass.
"""

import io
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from nmt_cli.documents import open_document
from nmt_cli.documents.config import DocumentOptions
from nmt_cli.documents.document import Document, DocumentSource
from nmt_cli.text.normalise import drop_invisible
from nmt_cli.translation.placement.alignment import find_word_ranges
from nmt_cli.translation.result import Hypothesis, Translation, WordLinks
from support.translations import Rule

SAMPLES = Path(__file__).parents[1] / "samples"
FIRST, LAST = "⟪", "⟫"
CODE_FIRST, CODE_LAST = re.compile(r"\{\d+\}"), re.compile(r"\{\d+\}$")


def echo(text: str, first: str = FIRST, last: str = LAST) -> Translation:
    """The text itself, blank for blank, with sentinels around its words; none touches code, which is no text."""
    words = find_word_ranges(text)
    start, end = (words[0].start, words[-1].end) if words else (0, len(text))
    first, last = ("" if CODE_FIRST.match(text, start) else first), ("" if CODE_LAST.search(text[:end]) else last)
    written = f"{text[:start]}{first}{text[start:end]}{last}{text[end:]}"
    visible = [number for number, word in enumerate(written.split()) if drop_invisible(word)]
    links = tuple(zip(range(len(words)), visible, strict=False))
    hypothesis = Hypothesis(
        text=written,
        tokens=(3,),
        pieces=("</s>",),
        log_probability=0.0,
        score=0.0,
        token_log_probabilities=(0.0,),
        attentions=(np.ones((1, 1)),),
        finished=True,
        words=(WordLinks(range(len(words)), range(len(written.split())), links),),
    )
    return Translation(text, ("</s>",), (hypothesis,), frozenset())


def open_bytes(name: str, data: bytes, language: str = "de", *, is_file: bool = False, **options: object) -> Document:
    """A document of a format, from bytes, for a model that translates English."""
    config = DocumentOptions(**options)  # type: ignore[arg-type]
    source = DocumentSource(io.BytesIO(data), f"x.{name}", config, language, True, "eng", is_file=is_file)
    return open_document(name, source)


def write_document(document: Document, rule: Rule) -> Iterator[bytes]:
    for unit in document.read_units():
        written = unit.write([rule(text) for text in unit.texts])
        yield written if isinstance(written, bytes) else written.encode()


def convert_bytes(name: str, data: bytes, rule: Rule, language: str = "de", **options: object) -> bytes:
    """A document with every text translated by a rule."""
    return b"".join(write_document(open_bytes(name, data, language, **options), rule))


def echo_document(name: str, data: bytes, language: str = "de", **options: object) -> bytes:
    """A document whose every text went through the writer between sentinels, which are then stripped."""
    written = convert_bytes(name, data, echo, language, **options)
    for mark in (FIRST, LAST):
        written = written.replace(mark.encode(), b"").replace(f"\\u{ord(mark):04x}".encode(), b"")  # or escaped
    return written


def read_sample(name: str) -> str:
    """A file of `tests/samples`, with the line ends that it has."""
    return (SAMPLES / name).read_bytes().decode()


def list_texts(name: str, data: bytes, language: str = "de", **options: object) -> list[str]:
    """The texts of a document that a translator gets."""
    return [text for unit in open_bytes(name, data, language, **options).read_units() for text in unit.texts]
