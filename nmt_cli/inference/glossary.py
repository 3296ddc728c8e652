"""Terms and the translations that they must have.

Knows text only: the terms of a line become spans, and take the way of all protected spans.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from nmt_cli.corpus.clean import UNSPACED, normalise
from nmt_cli.corpus.spans import Span
from nmt_cli.errors import DataError


@dataclass(frozen=True)
class Glossary:
    """Target terms by source term, and by lower-cased source term."""

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
    def folded(self) -> dict[str, str]:
        """The first target by lower-cased source, for a term that is written in another case."""
        return {source.lower(): target for source, target in reversed(list(self.terms.items()))}

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Any of the terms as whole words, the longest first; any blanks stand for the blanks in a term."""
        longest_first = sorted(self.folded, key=len, reverse=True)
        return re.compile("|".join(map(whole_words, longest_first)), re.IGNORECASE)

    def find(self, text: str, spans: list[Span]) -> list[Span]:
        """`spans` and the terms in `text` that overlap none of them, in order."""
        taken = iter([*spans, Span(len(text) + 1, len(text) + 1, "", lifted=False)])
        following, found = next(taken), []
        for match in self.pattern.finditer(text):
            while following.end <= match.start():
                following = next(taken)
            if match.end() <= following.start:
                found.append(Span(match.start(), match.end(), self.target(match[0]), lifted=False))
        return sorted([*spans, *found], key=lambda span: span.start)

    def target(self, term: str) -> str:
        """What a term as it stands in a text becomes; all in capitals, or capitalised, if only the term is so."""
        written = normalise(term)
        if written in self.terms:
            return self.terms[written]
        target = self.folded[written.lower()]
        if written.isupper() and len(written) > 1:
            return target.upper()
        return target[:1].upper() + target[1:] if written[:1].isupper() else target


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
