"""Shared by all subtitle formats: the text of each cue is translated, the rest is kept byte for byte.

A sentence that continues in the next cue is translated as a whole and divided again where the next cue begins. Must not
know any format.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from nmt_cli.documents.cues.turns import LONGEST_SENTENCE, Turn, find_turns
from nmt_cli.documents.cues.wrapping import CUE_LINE_END, fit_lines
from nmt_cli.documents.document import Document, TranslationUnit, make_verbatim_unit
from nmt_cli.documents.marks.items import InlineItem
from nmt_cli.documents.marks.paragraph import Paragraph
from nmt_cli.documents.marks.spelling import TextSyntax
from nmt_cli.text.aligned import AlignedText
from nmt_cli.translation.placement.traced_text import TextRange

CUT = "\ufdd1"  # stands where a cue ends and the next begins: no character, and in no file


class CueDocument(Document):
    syntax: TextSyntax
    line_end = CUE_LINE_END  # within the text of a cue

    def translate_cues(self, text: str, cues: Sequence[TextRange]) -> Iterator[TranslationUnit]:
        """Yields the units of a file, given the ranges of its cue texts."""
        turns = list(find_turns(text, cues, self.syntax, self.line_end))
        is_cased = any(map(str.isupper, "".join(turn.text for turn in turns)))
        position = 0
        for chain in self.chain_turns(turns, is_cased=is_cased):
            yield make_verbatim_unit(text[position : chain[0].start])
            yield self.make_unit(chain, [text[turn.end : next_turn.start] for turn, next_turn in pairwise(chain)])
            position = chain[-1].end
        yield make_verbatim_unit(text[position:])

    def chain_turns(self, turns: Iterable[Turn], *, is_cased: bool) -> Iterator[list[Turn]]:
        """Yields the turns in order, grouped where a sentence continues from one to the next."""
        chain: list[Turn] = []
        for turn in turns:
            joins = self.source.split_sentences and not self.source.reads_back and 0 < len(chain) < LONGEST_SENTENCE
            if chain and not (joins and chain[-1].goes_on(turn, is_cased=is_cased)):
                yield chain
                chain = []
            chain.append(turn)
        if chain:
            yield chain

    def make_unit(self, turns: Sequence[Turn], between: Sequence[str]) -> TranslationUnit:
        """Returns the unit of a turn, or of several with one sentence and the texts `between` them."""
        first, *others = turns
        cut = InlineItem("cut", (CUT,), AlignedText(" ", (0,)))
        items = [*first.items, *(item for turn in others for item in (cut, *turn.items))]
        paragraph = Paragraph(items, self.syntax.escape)

        def divide(written: str) -> str:
            rows = zip(turns, written.split(CUT, len(others)), [*between, ""], strict=True)
            return "".join(fit_lines(turn.raw, text, self.line_end) + gap for turn, text, gap in rows)

        is_kept = not (paragraph.texts or self.source.reads_back)
        return make_verbatim_unit(first.raw) if is_kept else paragraph.make_unit(self.notes, divide)
