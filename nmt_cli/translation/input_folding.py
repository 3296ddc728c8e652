"""Folds the masked text of a piece into the characters and the case that a model knows, before the network reads it.

Where each character came from is kept, so that what is said of the original line stays right.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

from nmt_cli.text.casing import CasedText, CasePlan, Caser
from nmt_cli.text.folding import FoldedText, Folder
from nmt_cli.text.masking import MaskedText
from nmt_cli.text.profile import CorpusProfile


class FoldedMask(NamedTuple):
    """A masked text as the network reads it."""

    masked: MaskedText
    unfolded: str  # the masked text as it was
    origins: tuple[int, ...]  # for each character of the masked text, the index of the one it stands for in `unfolded`
    plan: CasePlan | None  # the case that the translation gets back

    @property
    def keeps_words(self) -> bool:
        """Whether both texts have the same number of words, each where it was."""
        words = self.words
        return words == tuple(range(len(words))) and len(words) == self.unfolded.count(" ") + 1

    @property
    def words(self) -> tuple[int, ...]:
        """For each word of the folded text, the index of the word that it stands for."""
        text = self.masked.text
        starts = (index for index in range(len(text)) if text[index] != " " and (not index or text[index - 1] == " "))
        return tuple(self.unfolded.count(" ", 0, self.origins[start]) for start in starts)


class InputFolding:
    """What a model needs to know to fold its input."""

    def __init__(self, folder: Folder, caser: Caser | None, target_caser: Caser | None = None) -> None:
        """`caser` and `target_caser` are None for a model that reads and writes everything in lower case."""
        self.folder = folder
        self.caser = caser
        self.target_caser = target_caser

    @classmethod
    def from_profile(
        cls, profile: CorpusProfile, languages: tuple[str, str], *, lowercase: bool
    ) -> InputFolding | None:
        """Returns the folding of a model with these languages; None where the sources are pictures."""
        if profile.source is None:
            return None
        folder = Folder(profile.source.character_counts)
        if lowercase:
            return cls(folder, None)
        return cls(folder, Caser(profile.source, languages[0]), Caser(profile.target, languages[1]))

    def fold(
        self, masked: MaskedText, *, begins_sentence: bool = True, has_capitals: bool = False
    ) -> FoldedMask | None:
        """Returns a masked text folded; None if it is as the network knows it, or if nothing would be left.

        `begins_sentence` says whether its first word begins a sentence, `has_capitals` whether its line has capitals.
        """
        # 1. Characters.
        folded = self.folder.fold(masked.text)
        text = folded.text if folded else masked.text
        # 2. The case of words, then that of letters which training has in one case alone.
        cased: CasedText | None = None
        if self.caser is not None:
            cased = self.caser.fold_case(text, begins_sentence=begins_sentence, has_capitals=has_capitals)
        text = cased.folded.text if cased else text
        last = self.folder.fold_letter_case(text)
        if last == masked.text or not last:
            return None
        # 3. Where each character, and each span that was taken out, stands.
        origins = compose_origins(folded, cased, len(last))
        extracted = tuple(span._replace(offset=bisect_left(origins, span.offset)) for span in masked.extracted)
        changed = masked._replace(text=last, extracted=extracted)
        return FoldedMask(changed, masked.text, origins, cased.plan if cased else None)


def compose_origins(folded: FoldedText | None, cased: CasedText | None, length: int) -> tuple[int, ...]:
    """Returns the origins of each of the `length` characters in the text before two changes; either may be None."""
    origins: Sequence[int] = cased.folded.origins if cased else range(length)
    return tuple(folded.origins[index] for index in origins) if folded else tuple(origins)
