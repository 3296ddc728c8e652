"""Folds the masked text of a piece into the characters and the case that a model knows, before the network reads it.

Where each character came from is kept, so that what is said of the original line stays right.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

from nmt_cli.carrying.masking import MaskedText
from nmt_cli.carrying.names import Name, NameFinder
from nmt_cli.carrying.spans import Span, cover_spans, join_touching
from nmt_cli.rewriting.case import CasePlan, Caser
from nmt_cli.rewriting.characters import FoldedText, Folder, replace_ranges
from nmt_cli.rewriting.quotes import QUOTED_RARELY, Quotes, choose_target_quotes, find_quotes, is_quote, may_have_quotes
from nmt_cli.rewriting.slips import ReadAs, SlipFinder
from nmt_cli.text.profile import CorpusProfile, TextProfile

INNER_MARKS = frozenset("*_:/(·•‧⋅")  # that a word of several genders may have


class FoldedMask(NamedTuple):
    """A masked text as the network reads it."""

    masked: MaskedText
    unfolded: str  # the masked text as it was
    origins: tuple[int, ...]  # for each character of the masked text, the index of the one it stands for in `unfolded`
    plan: CasePlan | None = None  # the case that the translation gets back
    quotes: Quotes | None = None  # that the translation gets
    read_as: tuple[ReadAs, ...] = ()  # the mistyped words

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

    def __init__(
        self, source: TextProfile, target: TextProfile, languages: tuple[str, str], *, lowercase: bool
    ) -> None:
        """`languages` are those of both sides; with `lowercase`, a model reads and writes everything in lower case."""
        self.language = languages[0]
        self.folder = Folder(source.character_counts)
        self.caser = None if lowercase else Caser(source, languages[0])
        self.slip_finder = SlipFinder(source)
        self.name_finder = NameFinder(source, target, self.slip_finder, self.folder)
        self.target_caser = None if lowercase else Caser(target, languages[1])
        self.target_counts = target.character_counts
        # A network learns to read sentences in quotes where training has many.
        self.keeps_quotes = sum(share for mark, share in source.final_marks.items() if is_quote(mark)) > QUOTED_RARELY

    @classmethod
    def from_profile(
        cls, profile: CorpusProfile, languages: tuple[str, str], *, lowercase: bool
    ) -> InputFolding | None:
        """Returns the folding of a model with these languages; None where the sources are pictures."""
        if profile.source is None:
            return None
        return cls(profile.source, profile.target, languages, lowercase=lowercase)

    def fold(
        self, masked: MaskedText, *, begins_sentence: bool = True, has_capitals: bool = False
    ) -> FoldedMask | None:
        """Returns a masked text folded; None if it is as the network knows it, or if nothing would be left.

        `begins_sentence` says whether its first word begins a sentence, `has_capitals` whether its line has capitals.
        """
        # 1. Quotes around the whole text.
        quotes = self.find_quotes(masked)
        unquoted = take_quotes_off(masked.text, quotes) if quotes else None
        text = unquoted.text if unquoted else masked.text
        # 2. Words of several genders as one form, then characters.
        merged = self.merge_gender_forms(text)
        text = merged.text if merged else text
        folded = self.folder.fold(text)
        text = folded.text if folded else text
        # 3. The case of words, then that of letters which training has in one case alone.
        cased = None
        if self.caser is not None:
            cased = self.caser.fold_case(text, begins_sentence=begins_sentence, has_capitals=has_capitals)
        text = self.folder.fold_letter_case(cased.folded.text if cased else text)
        # 4. Mistyped words.
        respelled = self.slip_finder.respell_text(text)
        text = respelled.folded.text if respelled else text
        if text == masked.text or not text:
            return None
        # 5. Where each character, and each span that was taken out, stands.
        changes = (unquoted, merged, folded, cased.folded if cased else None, respelled.folded if respelled else None)
        origins = compose_origins(changes, len(text))
        extracted = tuple(span._replace(offset=bisect_left(origins, span.offset)) for span in masked.extracted)
        return FoldedMask(
            masked._replace(text=text, extracted=extracted),
            masked.text,
            origins,
            cased.plan if cased else None,
            choose_target_quotes(quotes, self.target_counts) if quotes else None,
            respelled.words if respelled else (),
        )

    def add_unknown_words(self, text: str, spans: list[Span], *, carries: bool) -> list[Span]:
        """Returns the spans of a text, and words that the model does not know and cannot translate, as further ones.

        These are words of other scripts and, if the network has learned to carry placeholders, names and codes.
        """
        if not text.isascii():
            words = self.folder.find_foreign_words(cover_spans(text, spans))
            foreign = (Span(*word, text[slice(*word)], is_extracted=False, is_foreign=True) for word in words)
            spans = sorted([*spans, *foreign])
        names = self.find_names(cover_spans(text, spans)) if carries else []
        if not names:
            return spans
        kept = (
            Span(name.start, name.end, text[name.start : name.end], is_extracted=False, is_name=name.is_new)
            for name in names
        )
        return join_touching(sorted([*spans, *kept]))

    def find_names(self, text: str) -> list[Name]:
        """Returns the names and codes of a text, to which words of several genders do not belong."""
        if not INNER_MARKS.isdisjoint(text):
            from nmt_cli.rewriting.gender_forms import cover_gender_forms  # which few lines need

            text = cover_gender_forms(text, self.language)
        return self.name_finder.find_names(text)

    def merge_gender_forms(self, text: str) -> FoldedText | None:
        """Returns a text with words such as `Lehrer*innen` without the mark; None if it has none."""
        if INNER_MARKS.isdisjoint(text):
            return None
        from nmt_cli.rewriting.gender_forms import find_gender_marks  # which few lines need

        marks = list(find_gender_marks(text, self.language))
        return replace_ranges(text, marks) if marks else None

    def find_quotes(self, masked: MaskedText) -> Quotes | None:
        """Returns the quotes to take off a text; None where training has such texts, or a span stands outside them."""
        text = masked.text
        if self.keeps_quotes or not may_have_quotes(text):
            return None
        quotes = find_quotes(text)
        inside = quotes.find_inside(text) if quotes else range(0)
        return quotes if all(inside.start <= span.offset <= inside.stop for span in masked.extracted) else None


def take_quotes_off(text: str, quotes: Quotes) -> FoldedText:
    """Returns a text without the quotes around it."""
    mark = len(text) - quotes.is_mark_outside
    indices = [*quotes.find_inside(text), *range(mark, len(text))]
    return FoldedText("".join(text[index] for index in indices), tuple(indices))


def compose_origins(changes: Sequence[FoldedText | None], length: int) -> tuple[int, ...]:
    """Returns the origins of each of the `length` characters in the text before several changes, any of them None."""
    origins = tuple(range(length))
    for change in reversed(changes):
        if change is not None:
            origins = tuple(change.origins[index] for index in origins)
    return origins
