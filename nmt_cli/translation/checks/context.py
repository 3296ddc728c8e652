"""The facts that checks use besides a source and its translation. Knows only text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from nmt_cli.translation.result import FailedCheck, Placed

if TYPE_CHECKING:
    from nmt_cli.text.profile import CorpusProfile, LengthRatio
    from nmt_cli.translation.result import Translation

NAMED = 3  # words, numbers or spans that a message names


class CheckContext(NamedTuple):
    """The facts that checks use besides the two texts."""

    source_language: str = ""  # a code of two or three letters, by which number words are known
    target_language: str = ""
    reads_text: bool = True  # whether a source is text; of a picture, only the translation itself can be checked
    profile: CorpusProfile | None = None  # of the training text; None: its words and lengths are not known
    placed: Sequence[Placed] | None = None  # the spans that were put into the translation; None: not known
    is_rated: bool = False  # whether the model rates its confidence, which unseen words lower

    def find_ratio(self, length: int) -> LengthRatio | None:
        """Returns the length ratio in training for sources of `length` characters; None if unknown."""
        return self.profile.find_ratio(length) if self.profile is not None and length else None

    @property
    def same_language(self) -> bool:
        return bool(self.source_language) and self.source_language == self.target_language


TextComparison = Callable[[str, str, CheckContext], FailedCheck | None]  # of a source and its translation
Inspection = Callable[["Translation", CheckContext], FailedCheck | None]


def join_named(parts: Iterable[str]) -> str:
    """Joins the first distinct parts, with "..." for the others."""
    distinct = list(dict.fromkeys(parts))
    return ", ".join(distinct[:NAMED]) + (" ..." if len(distinct) > NAMED else "")
