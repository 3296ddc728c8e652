"""Recalls the pieces of a line from a memory, and guides the network by similar entries."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Protocol
from unicodedata import category

from nmt_cli.arrays.types import SourceArray
from nmt_cli.carrying.masking import mask
from nmt_cli.search.constraints import TextId
from nmt_cli.search.mixing import GuidedModel, StoredTokens, store_targets
from nmt_cli.search.step_model import StepModel
from nmt_cli.text.aligned import MarkedText, read_context
from nmt_cli.text.tags import TagSet
from nmt_cli.translation.batch import Tools
from nmt_cli.translation.forced import encode_pairs, force_translations, match_line, match_whole
from nmt_cli.translation.memory.lookup import MemoryEntry, RecalledTranslation, StoredEntries, TranslationMemory
from nmt_cli.translation.result import Translation
from nmt_cli.translation.search import ModelChoice
from nmt_cli.translation.segmentation.line_reader import LineReader, MatchedPiece
from nmt_cli.translation.segmentation.pieces import Piece
from nmt_cli.translation.segmentation.segments import Segment

# Recalls the pieces of a line from a translation memory: the line as a whole, or its sentences.
#
# Recalled pieces are not searched. If words must be linked (marks of a document, `--alignments`), the network reads the
# given translation, and its attention links them. Does not depend on file formats.


LONGEST_LINKED = 4_000  # characters of a translation that the network reads,
LONGEST_OF_NONE, LONGEST_PER_CHARACTER = 200, 10  # and of one of so many characters of a source


class GuidedTools(Tools, Protocol):
    """A translator whose search can be guided by entries of a translation memory."""

    @property
    def stored_entries(self) -> StoredEntries | None: ...


class RecallingMemory(NamedTuple):
    """A translation memory as used by a translator."""

    memory: TranslationMemory

    def recall_pieces(self, line: str, pieces: Sequence[Piece], reader: LineReader) -> list[Piece]:
        """Returns the pieces of a line, recalled where possible; a single piece if the memory has the whole line."""
        if not line.strip():
            return list(pieces)
        convert = reader.context.write_number or str
        codes, context = line.codes if isinstance(line, MarkedText) else None, read_context(line)
        whole = self.memory.find(line, convert, codes, context)
        if whole is not None:
            segment = Segment(line, (), blank_before=False, ends_sentence=True)
            return [make_recalled_piece(Piece(segment, mask(line, ())), whole)]
        result = list(pieces)
        for index, piece in enumerate(pieces):
            if len(pieces) > 1 and piece.is_translated and is_sentence(pieces, index):
                recalled = self.memory.find(piece.segment.text, convert, codes, context)
                result[index] = piece if recalled is None else make_recalled_piece(piece, recalled)
        return result

    def with_neighbours(self, translator: GuidedTools, most: int) -> Tools:
        """Returns a translator guided by at most `most` similar entries for each text; an ensemble is not guided."""

        if not (most and translator.reads_text and translator.stored_entries):
            return translator
        neighbours = MemoryNeighbours(translator, self.memory, translator.stored_entries, most, {})
        return translator.with_network(translator.network._replace(neighbours=neighbours))

    def link_pieces(self, translator: Tools, pieces: Mapping[TextId, Piece]) -> dict[TextId, Translation]:
        """Returns the recalled translations with the network's attention to their sources, if words are linked.

        Pieces that the network cannot read are left out: their words are linked in order.
        """
        recalled = {text_id: piece for text_id, piece in pieces.items() if is_readable(piece)}
        if not (recalled and self.memory.links_words):
            return {}
        sources = [piece.segment.text.strip() for piece in recalled.values()]
        targets = [piece.unchanged for piece in recalled.values()]
        linked, forced = {}, force_translations(translator, sources, targets)
        for (text_id, piece), translation in zip(recalled.items(), forced, strict=True):
            is_alone = text_id.piece == 0 and text_id._replace(piece=1) not in pieces
            if translation.hypotheses and (is_alone or len(translation.hypotheses[0].attentions) == 1):
                best = translation.hypotheses[0]._replace(text=piece.unchanged, spans=(), unknown=())
                # The network's probability of a recalled translation means nothing: it is certain.
                certain = (0.0,) * len(best.token_log_probabilities)
                best = best._replace(log_probability=0.0, score=0.0, token_log_probabilities=certain)
                linked[text_id] = translation._replace(source=piece.text, hypotheses=(best,), read_as=())
        return linked


def is_sentence(pieces: Sequence[Piece], index: int) -> bool:
    """Whether a piece is a whole sentence rather than a part of a long one."""
    before = pieces[index - 1].segment if index else None
    after = pieces[index + 1].segment if index + 1 < len(pieces) else None
    begins = before is None or before.is_frame or before.ends_sentence
    return begins and (after is None or after.is_frame or pieces[index].segment.ends_sentence)


def make_recalled_piece(piece: Piece, recalled: RecalledTranslation) -> Piece:
    """Returns a piece with its translation; nothing in it is masked or rewritten."""
    segment = piece.segment._replace(spans=())
    return replace(piece, segment=segment, masked=mask(segment.text, ()), rewritten=None, recalled=recalled)


def is_readable(piece: Piece) -> bool:
    """Whether the network can read a piece with its given translation: it has words and is not too long.

    A correction may be far longer than its text, and the network would read it for every text that differs only in
    numbers.
    """
    longest = min(LONGEST_LINKED, LONGEST_OF_NONE + LONGEST_PER_CHARACTER * len(piece.segment.text))
    return piece.recalled is not None and piece.masked.has_words and len(piece.recalled.text) <= longest


# Guides the network by the entries of a translation memory that are like a text: that share its rarer words.
#
# The network reads each entry once, when a text first needs it; the vectors are remembered for the next text. Spans are
# masked in both, so that none of an entry reaches the network; an entry that has odd signs besides ("../%{7*7}\") is no
# text of a language, and guides nothing.


ODD_SIGNS = re.compile(r"[\\@{}<>=|^`$#*]|//|\.\.(?!\.)/|\w\.\w*/")  # which text that is translated has in spans alone
NO_SIGNS = frozenset(("Cc", "Cn", "Co", "Cs"))  # the categories of control characters and the like
LONGEST_TARGET = 200  # tokens of a sentence of an entry; its others do not guide


class MemoryNeighbours(NamedTuple):
    """Implements `search.Neighbours`."""

    translator: Tools
    memory: TranslationMemory
    stored: StoredEntries
    most: int  # entries that guide the translation of a text
    guides: dict[str, list[tuple[str, str]]]  # the pairs that guided each text

    def find_alike(self, text: str) -> list[str]:
        profile = self.translator.profile
        return self.memory.find_alike(text, self.most, None if profile is None else profile.source)

    def choose_model(self, texts: Sequence[str], tags: TagSet) -> ModelChoice | None:
        sources = list(map(self.find_alike, texts))
        entries = [[(source, self.memory.targets[source], tags) for source in some] for some in sources]
        parts = self.read_entries(list(dict.fromkeys(entry for some in entries for entry in some)))
        if not parts:
            return None
        for text, some in zip(texts, entries, strict=True):
            self.guides[text] = [(source, target) for source, target, _ in filter(parts.get, some)]
        network = self.translator.network
        engine, vocabulary = network.engine, network.target.vocabulary_size

        def choose(batch: Sequence[int]) -> StepModel[Any]:
            of_texts = [[part for entry in entries[index] for part in parts[entry]] for index in batch]
            return GuidedModel(self.stored.engine, of_texts, vocabulary) if any(of_texts) else engine

        return choose

    def list_guides(self, text: str) -> list[tuple[str, str]]:
        return self.guides.get(text, [])

    def read_entries(self, entries: Sequence[MemoryEntry]) -> dict[MemoryEntry, list[StoredTokens]]:
        """Returns the stored tokens of each entry, separately for each of its sentences."""
        parts = {entry: some for entry in entries if (some := self.stored.find(entry)) is not None}
        new = [entry for entry in entries if entry not in parts]
        # 1. Read sources and targets as translation does.
        translator = self.translator
        matches = [
            match_line(translator, source, target) or [match_whole(translator, source, target)]
            for source, target, _ in new
        ]
        pairs = [
            (entry, pair)
            for entry, match in zip(new, matches, strict=True)
            if all(map(is_language, match))
            for pair in match
            if pair.target
        ]
        rows, ids = encode_pairs(translator, [pair for _, pair in pairs], None, [entry[2] for entry, _ in pairs])
        targets = [some[:LONGEST_TARGET] for some in ids]
        begins = [*map(translator.network.target.list_beginnings, targets)]

        def store(source: SourceArray, batch: Sequence[int]) -> list[StoredTokens]:
            return store_targets(
                engine, source, [targets[index] for index in batch], [begins[index] for index in batch]
            )

        # 2. Let the network write the targets.
        engine = self.stored.engine
        stored = translator.network.map_pairs(rows, targets, store)
        parts |= {entry: [] for entry in new}
        for (entry, _), part in zip(pairs, stored, strict=True):
            parts[entry].append(part)
        for entry in new:
            self.stored.add(entry, parts[entry])
        return parts


def is_language(pair: MatchedPiece) -> bool:
    """Whether both sides of a pair, apart from their spans, have only signs that occur in words and sentences."""
    sides = [pair.piece.masked, *([pair.target.masked] if pair.target else [])]
    texts = [side.text_without_placeholders for side in sides]
    return not any(ODD_SIGNS.search(text) or any(category(sign) in NO_SIGNS for sign in text) for text in texts)
