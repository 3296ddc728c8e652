"""Settings of `nmt prepare`. Standard library only: the command line reads its options from here."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from nmt_cli.errors import OptionError
from nmt_cli.settings import Settings, setting
from nmt_cli.text.tokenizer_settings import TokenizerSettings

LANGUAGES_IN_NAME = re.compile(r"(?:^|[._])([a-z]{2,3}(?:_[A-Za-z]{2,4})?)-([a-z]{2,3}(?:_[A-Za-z]{2,4})?)(?:\.|$)")

LANGUAGE_AS_SUFFIX = re.compile(r"[._](?!txt|tsv|tok|bpe)([a-z]{2,3}(?:_[A-Za-z]{2,4})?)(?:\.(?:txt|gz|xz|zst|bz2))*$")


@dataclass(frozen=True, kw_only=True)
class PrepareConfig(Settings):
    """How text becomes a prepared corpus: what is kept, how it is split, and into which subwords."""

    source_language: str | None = setting(
        None, "Language of the first column [from a file name like eng-deu.tsv].", panel="Data"
    )
    target_language: str | None = setting(
        None, "Language of the second column [from a file name like eng-deu.tsv].", panel="Data"
    )
    source_type: Literal["text", "features", "image"] = setting(
        "text",
        "What the first column holds: text, or names of files: features (.npy, .npz) or image (PNG, JPEG, ...).",
        panel="Data",
    )
    image_weights: str | None = setting(
        None,
        "Weights of InceptionV3 without its top, for --source-type image [ImageNet's, downloaded by Keras].",
        panel="Data",
    )
    format: str | None = setting(
        None, "Format of the input: tsv, csv, jsonl, tmx, po or xliff [by its suffix, else tsv].", panel="Reading"
    )
    encoding: str | None = setting(None, "Encoding of the input, like utf-16 or cp1252 [UTF-8].", panel="Reading")
    source_column: str | None = setting(None, "Column of the source, by name or number [1].", panel="Reading")
    target_column: str | None = setting(None, "Column of the target, by name or number [2].", panel="Reading")
    max_length: int | None = setting(
        None,
        "Longest sentence kept, in words (two Chinese, Japanese or Thai characters count as one) [learnt].",
        panel="Checks",
        low=1,
    )
    max_ratio: float | None = setting(
        None,
        "Words of one side at most for one of the other; pairs of up to 5 words have any ratio [learnt].",
        panel="Checks",
        low=1,
    )
    keep: tuple[str, ...] = setting(
        (), "A check whose pairs are neither dropped nor mended; may be given several times.", panel="Checks"
    )
    strict: bool = setting(
        False, "End with an error if any check finds something that --keep does not accept.", panel="Checks"
    )
    dev: str | None = setting(
        None,
        "Pairs for the dev split, a share like 0.05 or 5%, or a file of pairs [1,000, at most a tenth].",
        panel="Splits",
    )
    test: str | None = setting(
        None,
        "Pairs for the test split, a share like 0.05 or 5%, or a file of pairs [1,000, at most a tenth].",
        panel="Splits",
    )
    near_duplicates: bool = setting(False, "Keep sentences that are nearly equal in one split, too.", panel="Splits")
    seed: int = setting(1, "Seed of the split and of the subword sample.", panel="Splits", low=0, high=2**32 - 1)
    tokenizer: Literal["unigram", "bpe", "char", "word"] = setting("unigram", "Kind of subwords.", panel="Subwords")
    vocab_size: int | None = setting(
        None, "Size of the vocabulary [by the size of the corpus: 1,000 to 32,000].", panel="Subwords", low=5
    )
    min_count: int | None = setting(
        None, "With --tokenizer word: a word is known that stands so often in train [2].", panel="Subwords", low=1
    )
    lowercase: bool = setting(False, "Lower-case all text before it is cut into subwords.", panel="Subwords")
    separate_vocabularies: bool = setting(
        False, "One vocabulary for each language instead of a joint one.", panel="Subwords"
    )

    max_source_length: int | None = setting(
        None, "Subwords of a source at most; what is behind is cut off, and told [no limit].", panel="Subwords", low=1
    )
    tokenizer_from: str | None = setting(
        None, "Use the subwords of this model, prepared corpus or .spm file instead of learning some.", panel="Subwords"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.min_count is not None:
            self.check_minimum_count()
        if self.vocab_size is not None and self.tokenizer_from is not None:
            raise OptionError("--vocab-size and --tokenizer-from exclude each other", hint="leave out one of them")
        self.check_source_type()

    def check_source_type(self) -> None:
        if self.image_weights is not None and self.source_type != "image":
            raise OptionError(f"--image-weights is given, but --source-type is {self.source_type}")
        if self.source_type == "text":
            return
        if self.near_duplicates:
            raise OptionError("--near-duplicates compares texts", hint=f"leave it out with {self.source_type}")
        if self.max_source_length is not None:
            raise OptionError("--max-source-length counts subwords", hint=f"leave it out with {self.source_type}")
        if "empty" in self.keep:
            raise OptionError("--keep empty: a caption needs its picture", hint=f"leave it out with {self.source_type}")
        for flag, value in (("--max-length", self.max_length), ("--max-ratio", self.max_ratio)):
            if value is not None:
                raise OptionError(
                    f"{flag} belongs to a check that captions do not have", hint=f"leave it out with {self.source_type}"
                )

    def check_minimum_count(self) -> None:
        if self.tokenizer != "word":
            raise OptionError(
                f"--min-count counts words, but --tokenizer is {self.tokenizer}",
                hint="add --tokenizer word, or set the size with --vocab-size",
            )
        for flag, value in (("--vocab-size", self.vocab_size), ("--tokenizer-from", self.tokenizer_from)):
            if value is not None:
                raise OptionError(f"{flag} and --min-count exclude each other", hint="leave out one of them")

    @property
    def sides(self) -> tuple[Literal["source", "target"], ...]:
        """The sides that are text."""
        return ("source", "target") if self.source_type == "text" else ("target",)

    @property
    def tokenizer_settings(self) -> TokenizerSettings:
        return TokenizerSettings(kind=self.tokenizer, lowercase=self.lowercase)


def languages_in(file_name: str, target_name: str | None = None) -> tuple[str, str]:
    """The two languages that a name like `eng-deu.tsv` or `corpus.en-de.tsv` gives, else "source" and "target".

    Of two files each names its own: `train.en` and `train.de.gz`.
    """
    if target_name is not None:
        found = [LANGUAGE_AS_SUFFIX.search(name) for name in (file_name, target_name)]
        return (found[0][1], found[1][1]) if found[0] and found[1] else ("source", "target")
    pair = LANGUAGES_IN_NAME.search(file_name)
    return (pair[1], pair[2]) if pair else ("source", "target")
