"""Streets: `12 Baker St.`, `Hauptstr. 5`.

They are found in the form of the source's and of the target's language.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from nmt_cli.carrying.kind import Context, Kind
from nmt_cli.carrying.spans import Span, SpanKind
from nmt_cli.languages.rules import find_rules


class StreetKind(Kind):
    """Streets that a number or an abbreviation shows: `Oak Ave.`, `Hauptstr. 5`; but not `a long street`."""

    def find(self, text: str, context: Context) -> Iterator[Span]:
        pattern = compile_streets(context.languages)
        if pattern is not None:
            yield from map(self.read_match, pattern.finditer(text))


STREETS = StreetKind(SpanKind.STREET, cues=r"\d|[^\W\d_]\.(?!\s*$)")


@cache
def compile_streets(languages: tuple[str, str]) -> re.Pattern[str] | None:
    """Returns the pattern of streets of these languages; None if none is known."""
    patterns = dict.fromkeys(filter(None, (find_rules(language).streets for language in languages)))
    return re.compile("|".join(rf"(?<![^\W_])(?x:{pattern})" for pattern in patterns)) if patterns else None
