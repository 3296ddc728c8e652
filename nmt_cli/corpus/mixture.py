"""A prepared directory whose training pairs are those of another corpus plus synthetic ones.

Source of the tag: Caswell, Chelba and Grangier (2019), "Tagged Back-Translation".
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nmt_cli.arrays.ragged import Ragged
from nmt_cli.arrays.special_ids import START
from nmt_cli.carrying.masking import mask_pair
from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.corpus.manifest import FileRecord, Manifest
from nmt_cli.files import stage_directory
from nmt_cli.text.normalise import hash_text, make_sentence_key
from nmt_cli.text.profile import PROFILE_NAME
from nmt_cli.text.tags import TagSet
from nmt_cli.text.tokenizer import Tokenizer

ORIGINAL = "mixed_with"  # the entry of the options that holds the fingerprint of the corpus without synthetic pairs
SYNTHETIC = "synthetic_pairs"  # the entry that says how many there are, and from what


class SyntheticPair(NamedTuple):
    """A pair with one generated side. A tagged source begins with START, which marks it as generated."""

    source: str
    target: str
    is_tagged: bool
    tags: TagSet = ()  # of the pair, which follow


@dataclass(frozen=True)
class MixedCorpus(PreparedCorpus):
    """The corpus of a mixture. Its fingerprint is that of the corpus without the synthetic pairs."""

    @property
    def fingerprint(self) -> str:
        return str(self.manifest.options[ORIGINAL])

    @property
    def synthetic(self) -> dict[str, Any]:
        """The model card's entry about the synthetic pairs."""
        return dict(self.manifest.options[SYNTHETIC])


def write_mixture(
    corpus: PreparedCorpus, synthetic: Sequence[SyntheticPair], counts: Mapping[str, Any], directory: Path
) -> None:
    """Writes a prepared directory with several copies of each training pair, and all synthetic pairs.

    `counts` holds the number of copies ("repeats") and other facts for the model card. The development and test sets
    and the subwords are those of `corpus`. Raises OptionError if sources are pictures, and OutputError if the directory
    exists.
    """
    with stage_directory(directory, replace=True) as staged:
        # 1. The subwords, as files that belong to this directory.
        for name, tokenizer in corpus.tokenizers.items():
            (staged / name).write_bytes(tokenizer.model)
        # The profile says what real text looks like, so that of the corpus is kept.
        (staged / PROFILE_NAME).write_text(corpus.profile, encoding="utf-8")
        # 2. The development and test sets as they are.
        for split in ("dev", "test"):
            write_split(staged, split, corpus, 1, ())
        # 3. The training pairs and the synthetic ones.
        write_split(staged, "train", corpus, counts["repeats"], synthetic)
        # 4. The manifest.
        describe_mixture(corpus, staged, counts, len(synthetic)).write(staged)


def write_split(
    directory: Path, split: str, corpus: PreparedCorpus, repeats: int, synthetic: Sequence[SyntheticPair]
) -> None:
    """Writes the texts and the ids of one split."""
    with (directory / f"{split}.tsv").open("w", encoding="utf-8", newline="\n") as file:
        for pair in corpus.read_pairs(split) * repeats:
            file.write(f"{pair.source}\t{pair.target}\n")
        file.writelines(f"{pair.source}\t{pair.target}\n" for pair in synthetic)
    encoded = corpus.load_encoded(split)
    masked = [mask_pair(pair.source, pair.target) for pair in synthetic]
    sources = corpus.source_tokenizer.encode_all([source for source, _ in masked])
    marks = [[START] * pair.is_tagged + corpus.source_tokenizer.list_tag_ids(pair.tags) for pair in synthetic]
    sources = [[*mark, *ids] for mark, ids in zip(marks, sources, strict=True)]
    targets = corpus.target_tokenizer.encode_all([target for _, target in masked])
    real = encoded.source.require_sentences("synthetic pairs need text")
    append_rows(real, repeats, sources, corpus.source_tokenizer).save(directory / f"{split}.source")
    append_rows(encoded.target, repeats, targets, corpus.target_tokenizer).save(directory / f"{split}.target")


def append_rows(ragged: Ragged, repeats: int, rows: Sequence[Sequence[int]], tokenizer: Tokenizer) -> Ragged:
    """Returns `repeats` copies of the sequences of `ragged`, followed by `rows`."""
    more = Ragged.from_sequences([rows], vocabulary_size=tokenizer.vocabulary_size)
    lengths = np.concatenate([np.tile(ragged.lengths, repeats), more.lengths])
    ids = np.concatenate([np.tile(ragged.ids, repeats), more.ids])
    return Ragged(ids, np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64))


def describe_mixture(corpus: PreparedCorpus, directory: Path, counts: Mapping[str, Any], synthetic: int) -> Manifest:
    """Returns the corpus's manifest with the files and counts of the mixture."""
    manifest, names = corpus.manifest, list(corpus.tokenizers)
    source = corpus.require_text("which no synthetic pair can have")
    sides = (corpus.source_tokenizer, corpus.target_tokenizer)
    statistics = [
        dataclasses.replace(side, file=name, vocabulary=tokenizer.vocabulary_size)
        for side, name, tokenizer in zip((source, manifest.target), (names[0], names[-1]), sides, strict=True)
    ]
    train = manifest.counts.splits["train"] * counts["repeats"] + synthetic
    return dataclasses.replace(
        manifest,
        source_language=corpus.source_language,
        target_language=corpus.target_language,
        source=statistics[0],
        target=statistics[1],
        counts=dataclasses.replace(manifest.counts, splits={**manifest.counts.splits, "train": train}),
        options={**manifest.options, ORIGINAL: corpus.fingerprint, SYNTHETIC: dict(counts)},
        outputs={path.name: FileRecord.from_file(path) for path in sorted(directory.iterdir())},
        monolingual={},
    )


def hash_sentences(sentences: Sequence[str]) -> NDArray[np.uint64]:
    """Returns the key of each sentence, which ignores case and marks."""
    keys = b"".join(hash_text(make_sentence_key(sentence)) for sentence in sentences)
    return np.frombuffer(keys, np.uint64)
