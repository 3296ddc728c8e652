"""The ordered list of rewrites: applied before the network reads a text, and undone in its translation, last first.

    “OPEN THE DOOR.”    the source
    Open the door.      what the network reads, after Quotes and Case
    Öffne die Tür.      what it writes
    "ÖFFNE DIE TÜR."    how Case and Quotes write it, with the quotes that are most frequent in the target

Tracks the origin of each character, so that statements about the original text remain true.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from nmt_cli.carrying.masking import MaskedText
from nmt_cli.rewriting.case import Case, CasePlan, Continued
from nmt_cli.rewriting.characters import Characters, LetterCase
from nmt_cli.rewriting.marks import FinalMarks, Quotes, Reports
from nmt_cli.rewriting.protocol import ModelText, Rewrite, TextContext, Written
from nmt_cli.rewriting.slips import ReadAs, Slips
from nmt_cli.rewriting.spelling import Abbreviations, Entities, GenderForms, SpellingVariants
from nmt_cli.text.aligned import AlignedText

REWRITES: tuple[type[Rewrite], ...] = (
    Entities,
    Quotes,
    FinalMarks,
    GenderForms,
    Characters,
    Abbreviations,
    Case,
    LetterCase,
    SpellingVariants,
    Slips,
    Continued,
    Reports,
)
NO_SURROUNDINGS = TextContext()

Memos = tuple[tuple[Rewrite, Any], ...]  # of the rewrites that changed a text, in their order


class RewrittenText(NamedTuple):
    """A text in the form that the network reads."""

    aligned: AlignedText  # with the text before as its source
    source: str
    memos: Memos

    @property
    def text(self) -> str:
        return self.aligned.text

    @property
    def keeps_words(self) -> bool:
        """Whether both texts have the same number of words, in the same places."""
        words = self.words
        return words == tuple(range(len(words))) and len(words) == self.source.count(" ") + 1

    @property
    def words(self) -> tuple[int, ...]:
        """For each word of the text, the index of its source word."""
        text, origins = self.aligned
        starts = (index for index in range(len(text)) if text[index] != " " and (not index or text[index - 1] == " "))
        return tuple(self.source.count(" ", 0, origins[start]) for start in starts)

    @property
    def read_as(self) -> tuple[ReadAs, ...]:
        """The mistyped words, each with the known word that replaced it."""
        words: tuple[ReadAs, ...] = self.find_memo(Slips) or ()
        return words

    @property
    def readings(self) -> tuple[ReadAs, ...]:
        """The source words that the network reads in another form, each with that form."""
        if self.text == self.source:
            return ()
        before = self.source.split(" ")
        pairs = zip((before[word] for word in self.words), filter(None, self.text.split(" ")), strict=True)
        return tuple(ReadAs(word, known) for word, known in pairs if word != known)

    @property
    def is_in_capitals(self) -> bool:
        """Whether the whole text was in capitals."""
        plan: CasePlan | None = self.find_memo(Case)
        return plan is not None and plan.kind == "upper"

    def find_memo(self, kind: type[Rewrite]) -> Any:
        """Returns the memo of a rewrite of this kind about its changes; None if it changed nothing."""
        return next((memo for rewrite, memo in self.memos if isinstance(rewrite, kind)), None)

    def mask(self, masked: MaskedText) -> MaskedText:
        """Returns the masked text in its rewritten form, with its spans at their new positions."""
        find = self.aligned.find_target
        extracted = tuple(span._replace(offset=find(0, span.offset).stop) for span in masked.extracted)
        return masked._replace(text=self.text, extracted=extracted)

    def write(self, translation: str, written: Written) -> str:
        """Undoes all rewrites in a translation of the text, last first."""
        for rewrite, memo in reversed(self.memos):
            translation = rewrite.write(translation, memo, written)
        return translation


class Rewriter:
    """The rewrites of a model."""

    def __init__(self, rewrites: Iterable[Rewrite], model: ModelText | None = None) -> None:
        self.rewrites = tuple(rewrites)
        self.model = model

    @classmethod
    def from_model(cls, model: ModelText) -> Rewriter:
        made = (rewrite.from_model(model) for rewrite in REWRITES)
        return cls((rewrite for rewrite in made if rewrite is not None), model)

    def select(self, choose: Callable[[Rewrite], bool]) -> Rewriter:
        """Returns a rewriter with the rewrites that `choose` accepts."""
        return Rewriter(filter(choose, self.rewrites), self.model)

    def find(self, kind: type[Any]) -> Any:
        """Returns the rewrite of this kind; None if the model lacks it."""
        return next((rewrite for rewrite in self.rewrites if isinstance(rewrite, kind)), None)

    def read_line(self, line: str) -> RewrittenText | None:
        """Returns a line rewritten for splitting; None if nothing changes."""
        return self.apply(line, TextContext(), [rewrite for rewrite in self.rewrites if rewrite.scope == "line"])

    def read(self, masked: MaskedText, context: TextContext = NO_SURROUNDINGS) -> RewrittenText | None:
        """Returns a masked sentence rewritten for the network; None if nothing changes."""
        context = context._replace(offsets=tuple(span.offset for span in masked.extracted))
        return self.apply(masked.text, context, self.sentence_rewrites)

    @cached_property
    def sentence_rewrites(self) -> list[Rewrite]:
        return [rewrite for rewrite in self.rewrites if rewrite.scope == "sentence"]

    @cached_property
    def target_case(self) -> Case | None:
        """Reads target texts in their usual case; None for a model without case."""
        return self.find(Case) and self.model and Case(self.model.target, self.model.languages[::-1])

    def apply(self, text: str, context: TextContext, rewrites: Sequence[Rewrite]) -> RewrittenText | None:
        """Applies rewrites to a text; None if nothing changes or nothing would be left."""
        aligned, memos = AlignedText.from_text(text), []
        for rewrite in rewrites:
            changed = rewrite.read(aligned, context)
            if changed is not None:
                aligned, memo = changed
                memos.append((rewrite, memo))
        return RewrittenText(aligned, text, tuple(memos)) if aligned.text and memos else None
