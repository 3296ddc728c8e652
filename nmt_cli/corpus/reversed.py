"""A prepared directory read in the other direction: targets are sources, from the same splits and files."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np

from nmt_cli.arrays.ragged import Ragged
from nmt_cli.arrays.special_ids import UNKNOWN
from nmt_cli.corpus.dataset import EncodedSplit, PreparedCorpus
from nmt_cli.corpus.pairs import Side
from nmt_cli.corpus.sides import SentencePair
from nmt_cli.corpus.tag_rows import drop_tag_ids, prepend_tag_sets, read_tag_sets
from nmt_cli.sources.rows import Sentences
from nmt_cli.text.profiling.building import build_profile
from nmt_cli.text.tags import TagSet, reverse_tags
from nmt_cli.text.tokenizer import Tokenizer


def reverse_corpus(corpus: PreparedCorpus) -> ReversedCorpus:
    """Returns the other direction of a corpus. Raises OptionError if the sources are pictures."""
    corpus.require_text("which no network here can write")
    return ReversedCorpus(corpus.directory, corpus.manifest)


@dataclass(frozen=True)
class ReversedCorpus(PreparedCorpus):
    """The corpus with its sides swapped.

    The target of a joint vocabulary has only the first pieces, the source all of them. In the other direction both
    sides have all: the new sources are re-encoded, since a network must learn the pieces that it will read.
    """

    encoded: dict[str, EncodedSplit] = field(default_factory=dict, compare=False, repr=False)  # by split, once read

    @property
    def source_language(self) -> str:
        return self.manifest.target_language

    @property
    def target_language(self) -> str:
        return self.manifest.source_language

    @property
    def fingerprint(self) -> str:
        return self.manifest.reversed_fingerprint

    @property
    def tokenizer_files(self) -> dict[str, Path]:
        files = super().tokenizer_files
        if "joint" in files:
            return {"joint": files["joint"]}
        return {"source": files["target"], "target": files["source"]}

    def read_pairs(self, split: str) -> list[SentencePair]:
        return [SentencePair(pair.target, pair.source) for pair in super().read_pairs(split)]

    @cached_property
    def profile(self) -> str:
        return build_profile(self.read_pairs("train"))

    def list_monolingual(self) -> list[str]:
        return ["target" if side == "source" else "source" for side in super().list_monolingual()]

    def read_monolingual(self, side: Side) -> list[str]:
        return super().read_monolingual("target" if side == "source" else "source")

    def read_monolingual_tags(self, side: Side) -> list[TagSet]:
        tags = super().read_monolingual_tags("target" if side == "source" else "source")
        return list(map(reverse_tags, tags))

    def load_encoded(self, split: str) -> EncodedSplit:
        if split not in self.encoded:
            self.encoded[split] = self.swap_sides(split)
        return self.encoded[split]

    def swap_sides(self, split: str) -> EncodedSplit:
        """Returns both sides of a split, swapped."""
        encoded = super().load_encoded(split)
        target: Ragged = encoded.source.require_sentences("networks write text")
        source = self.encode_anew(encoded.target) if len(super().tokenizer_files) > 1 else encoded.target
        if self.manifest.tags:
            tags = [reverse_tags(row) for row in read_tag_sets(target, self.target_tokenizer)]
            source = prepend_tag_sets(source, tags, self.source_tokenizer)
        target = drop_tag_ids(target, self.target_tokenizer)
        return EncodedSplit(Sentences(source.ids, source.offsets), Ragged(target.ids, target.offsets))

    def encode_anew(self, ids: Ragged) -> Ragged:
        """Re-encodes sentences in the whole joint vocabulary, of which `ids` use the first pieces.

        Sentences with unknown tokens keep their ids, whose meaning is unchanged.
        """
        if not self.has_joint_vocabulary:
            return ids
        if (ids.ids == UNKNOWN).any():
            return ids
        first = Tokenizer.load(super().tokenizer_files["target"], self.tokenizer_settings)
        rows = [split_at_separator(np.asarray(ids[row]).tolist(), first.separator_id) for row in range(len(ids))]
        parts = iter(self.source_tokenizer.encode_all(first.decode_all(part for row in rows for part in row)))
        encoded = [join_contexts([next(parts) for _ in row], first.separator_id) for row in rows]
        return Ragged.from_sequences([encoded], vocabulary_size=self.source_tokenizer.vocabulary_size)


def split_at_separator(ids: list[int], separator: int | None) -> list[list[int]]:
    """Returns a sentence, behind that which is its context, if there is one."""
    if separator not in ids:
        return [ids]
    position = ids.index(separator)
    return [ids[:position], ids[position + 1 :]]


def join_contexts(parts: list[list[int]], separator: int | None) -> list[int]:
    """Returns the ids of a sentence behind those of its context."""
    return parts[0] if separator is None or len(parts) == 1 else [*parts[0], separator, *parts[1]]
