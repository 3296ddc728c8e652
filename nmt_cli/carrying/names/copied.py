"""Names that training's targets write as its sources do: `Tom`, `Boston`; but not `Vienna`, which is `Wien`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from nmt_cli.carrying.kind import Attempt, Context, LostKind
from nmt_cli.carrying.spans import Span, SpanKind
from nmt_cli.text.profile import TextProfile

NAME_WRITTEN = r"(?<![^\W_])[A-ZÀ-Þ][^\W\d_]+(?![\w-]|['’](?!s\b))"
FEWEST_COPIES = 2  # occurrences; a profile has no rarer words
COPIED_SHARE = 0.8  # of a name's occurrences in sources, those in targets at least


class CopiedNameKind(LostKind):
    """Names that training copies, such as `Boston`."""

    def find_lost(self, attempt: Attempt, context: Context) -> list[Span]:
        if context.find_missing_names is None or not context.carries:
            return []
        return list(map(self.read_match, context.find_missing_names(attempt.covered, attempt.target)))


COPIED_NAMES = CopiedNameKind(
    SpanKind.RARE_NAME, cues=r"[A-ZÀ-Þ][a-zß-ÿ]", fault="untranslated", remedy="protected name"
)


def find_missing_names(
    source_text: str, target_text: str, source: TextProfile, target: TextProfile
) -> Iterator[re.Match[str]]:
    """Yields the names of a text that its translation should have, and lacks."""
    for match in re.finditer(NAME_WRITTEN, source_text):
        if match[0] not in target_text and is_copied(match[0], source, target):
            yield match


def is_copied(name: str, source: TextProfile, target: TextProfile) -> bool:
    """Whether both sides of training have a word about as often, always with a capital."""
    count = source.find_word(name).total
    if count < FEWEST_COPIES or target.find_word(name).total < COPIED_SHARE * count:
        return False
    return source.find_usual_case(name) == name == target.find_usual_case(name)
