"""Terms and the translations that they must have.

Knows text only: the terms of a line become spans, and take the way of all protected spans.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from pathlib import Path

from nmt_cli.corpus.clean import UNSPACED, normalise
from nmt_cli.corpus.spans import Span
from nmt_cli.errors import DataError


@dataclass(frozen=True)
class Glossary:
    """Target terms by source term, both normalised."""

    terms: Mapping[str, str]

    @classmethod
    def load(cls, path: Path) -> Glossary:
        """A file of `source TAB target`, a term a line; blank lines and lines that begin with `#` are passed over.

        Raises DataError naming the line for anything else, and for two targets of one source.
        """
        terms: dict[str, str] = {}
        lines: dict[str, int] = {}
        for number, raw in enumerate(path.read_bytes().removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
            where = f"{path}, line {number:,}"
            line = decoded(raw, where)
            if not line.strip() or line.startswith("#"):
                continue
            source, target = parsed(line, where)
            if terms.get(source, target) != target:
                raise DataError(
                    f"{where}: {source!r} is already {terms[source]!r} on line {lines[source]:,}",
                    hint="keep one of the two lines",
                )
            terms[source], lines[source] = target, lines.get(source, number)
        if not terms:
            raise DataError(f"{path} holds no terms", hint="write a term a line: source, tab, target")
        return cls(terms)

    @cached_property
    def longest_first(self) -> list[str]:
        return sorted(self.terms, key=len, reverse=True)

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Any of the terms as whole words, a group each, the longest first; any blanks stand for the blanks in a term.

        The group says which term it is: what is equal without regard to case here (ı and i, ſ and s) need not be so
        to `str.lower`.
        """
        return re.compile("|".join(f"({whole_words(term)})" for term in self.longest_first), re.IGNORECASE)

    def find(self, text: str, spans: list[Span]) -> list[Span]:
        """`spans` and the terms in `text` that overlap none of them, in order."""
        taken = iter([*spans, Span(len(text) + 1, len(text) + 1, "", lifted=False)])
        following, found = next(taken), []
        whole, places = composed(text)
        for match in self.pattern.finditer(whole):
            start, end = places[match.start()], places[match.end()]
            while following.end <= start:
                following = next(taken)
            if end <= following.start:
                found.append(Span(start, end, self.target(match), lifted=False))
        return sorted([*spans, *found], key=lambda span: span.start)

    def target(self, found: re.Match[str]) -> str:
        """What a term as it stands in a text becomes; all in capitals, or capitalised, if only the term is so."""
        written = normalise(found[0])
        if written in self.terms:
            return self.terms[written]
        target = self.terms[self.longest_first[(found.lastindex or 1) - 1]]
        if written.isupper() and len(written) > 1:
            return target.upper()
        return target[:1].upper() + target[1:] if written[:1].isupper() else target


def composed(text: str) -> tuple[str, Sequence[int]]:
    """`text` in NFC, as terms are, and for each of its places the one in `text`."""
    if unicodedata.is_normalized("NFC", text):
        return text, range(len(text) + 1)
    parts: list[str] = []  # of `text`, each with all that a character of NFC is composed of
    for character in text:
        if parts and nfc(parts[-1] + character) != nfc(parts[-1]) + character:
            parts[-1] += character
        else:
            parts.append(character)
    starts = accumulate(map(len, parts), initial=0)
    places = [start for start, part in zip(starts, parts, strict=False) for _ in nfc(part)]
    return "".join(map(nfc, parts)), [*places, len(text)]


def nfc(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def decoded(raw: bytes, where: str) -> str:
    try:
        return raw.removesuffix(b"\r").decode("utf-8")
    except UnicodeDecodeError as error:
        raise DataError(f"{where}: byte 0x{raw[error.start]:02x} is not valid UTF-8") from error


def parsed(line: str, where: str) -> tuple[str, str]:
    """Source and target of a line, normalised."""
    columns = [normalise(column) for column in line.split("\t")]
    if len(columns) != 2 or not all(columns):
        raise DataError(
            f"{where}: a term is two texts with a tab between them, and this is {line[:60]!r}",
            hint="write the source term, a tab and the target term",
        )
    return columns[0], columns[1]


def whole_words(term: str) -> str:
    r"""A pattern for `term` that does not match inside a longer word, unless its script has no blanks."""
    body = r"\s+".join(map(re.escape, term.split()))
    before = "" if UNSPACED.match(term[0]) or not term[0].isalnum() else r"(?<!\w)"
    after = "" if UNSPACED.match(term[-1]) or not term[-1].isalnum() else r"(?!\w)"
    if before or after:  # the next word may be of a script without blanks
        before = before and rf"(?:(?<!\w)|(?<={UNSPACED.pattern}))"
        after = after and rf"(?:(?!\w)|(?={UNSPACED.pattern}))"
    return before + body + after
