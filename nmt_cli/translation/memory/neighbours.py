"""Guides the network by the entries of a translation memory that are like a text: that share its rarer words.

The network reads each entry once, when a text first needs it; the vectors are remembered for the next text. Spans are
masked in both, so that none of an entry reaches the network; an entry that has odd signs besides ("../%{7*7}\\") is no
text of a language, and guides nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple
from unicodedata import category

from nmt_cli.search.neighbours import GuidedModel, StoredTokens, store_targets
from nmt_cli.translation.forced import encode_pairs, match_line, match_whole

if TYPE_CHECKING:
    from typing import Any

    from nmt_cli.arrays.types import SourceArray
    from nmt_cli.search.step_model import StepModel
    from nmt_cli.text.tags import TagSet
    from nmt_cli.translation.batch_search import ModelChoice
    from nmt_cli.translation.memory.lookup import TranslationMemory
    from nmt_cli.translation.memory.stored_entries import MemoryEntry, StoredEntries
    from nmt_cli.translation.segmentation.matched_pieces import MatchedPiece
    from nmt_cli.translation.translator import Translator

ODD_SIGNS = re.compile(r"[\\@{}<>=|^`$#*]|//|\.\.(?!\.)/|\w\.\w*/")  # which text that is translated has in spans alone
NO_SIGNS = frozenset(("Cc", "Cn", "Co", "Cs"))  # the categories of control characters and the like
LONGEST_TARGET = 200  # tokens of a sentence of an entry; its others do not guide


class MemoryNeighbours(NamedTuple):
    """Implements `sentence_search.Neighbours`."""

    translator: Translator
    memory: TranslationMemory
    stored: StoredEntries
    most: int  # entries that guide the translation of a text

    def choose_model(self, texts: Sequence[str], tags: TagSet) -> ModelChoice | None:
        profile = self.translator.profile
        seen = profile.source if profile is not None else None
        sources = [self.memory.find_alike(text, self.most, seen) for text in texts]
        entries = [[(source, self.memory.targets[source], tags) for source in some] for some in sources]
        parts = self.read_entries(list(dict.fromkeys(entry for some in entries for entry in some)))
        if not parts:
            return None
        engine, vocabulary = self.translator.engine, self.translator.target.vocabulary_size

        def choose(batch: Sequence[int]) -> StepModel[Any]:
            of_texts = [[part for entry in entries[index] for part in parts[entry]] for index in batch]
            return GuidedModel(self.stored.engine, of_texts, vocabulary) if any(of_texts) else engine

        return choose

    def read_entries(self, entries: Sequence[MemoryEntry]) -> dict[MemoryEntry, list[StoredTokens]]:
        """Returns the stored tokens of each entry, one by one of its sentences."""
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
        begins = [*map(translator.target.list_beginnings, targets)]

        def store(source: SourceArray, batch: Sequence[int]) -> list[StoredTokens]:
            return store_targets(
                engine, source, [targets[index] for index in batch], [begins[index] for index in batch]
            )

        # 2. Let the network write the targets.
        engine = self.stored.engine
        stored = translator.batch_search.map_pairs(rows, targets, store)
        parts |= {entry: [] for entry in new}
        for (entry, _), part in zip(pairs, stored, strict=True):
            parts[entry].append(part)
        for entry in new:
            self.stored.add(entry, parts[entry])
        return parts


def is_language(pair: MatchedPiece) -> bool:
    """Whether both sides of a pair, without their spans, have no signs but those of words and sentences."""
    sides = [pair.piece.masked, *([pair.target.masked] if pair.target else [])]
    texts = [side.text_without_placeholders for side in sides]
    return not any(ODD_SIGNS.search(text) or any(category(sign) in NO_SIGNS for sign in text) for text in texts)
