"""The settings of `nmt prepare`. Uses only the standard library: the command line builds options from them."""

from __future__ import annotations

import re
from typing import Literal

from nmt_cli.formats import join_formats
from nmt_cli.settings import Settings, setting
from nmt_cli.text.symbols import TokenizerSettings
from nmt_cli.text.tags import resolve_language

COUNT = re.compile(r"\d{1,12}|\d{1,3}(?:,\d{3}){1,3}")  # 1000, or 1,000 as help and messages write it
SHARE = re.compile(r"(\d{0,3}(?:\.\d{1,9})?)(%?)")

# Options whose values are names of files; those of the splits may be sizes instead.
SPLIT_OPTIONS = ("dev", "test")
FILE_OPTIONS = (*SPLIT_OPTIONS, "tokenizer_from", "image_weights", "monolingual_source", "monolingual_target")


def is_size(value: str) -> bool:
    """Whether the value of --dev or --test is a number of pairs or a share, not the name of a file."""
    return bool(value.strip(".%")) and bool(COUNT.fullmatch(value) or SHARE.fullmatch(value))


class PrepareOptions(Settings, panel="Data"):
    """How text becomes a prepared corpus: which pairs are kept, how they are split, and which subwords are learned."""

    source_language: str | None = setting(
        None,
        "Language of the first column, by code or name, or one for each file: deu,nld [from the file name, like "
        "eng-deu.tsv].",
        harmless=True,
    )
    target_language: str | None = setting(
        None,
        "Language of the second column, by code or name, or one for each file: deu,nld [from the file name, like "
        "eng-deu.tsv].",
        harmless=True,
    )
    reverse: bool = setting(
        False, "Swap the sides: the second column is the source. The splits do not change.", harmless=True
    )
    source_type: Literal["text", "features", "image"] = setting(
        "text",
        "What the first column contains: text, or paths of feature files (features: .npy, .npz) or of pictures (image: "
        "PNG, JPEG, ...).",
        harmless=False,
    )
    image_weights: str | None = setting(
        None, "Weights of InceptionV3 without its top layer, for --source-type image [ImageNet, downloaded by Keras]."
    )
    format: str | None = setting(
        None,
        f"Format of the input: {join_formats('pairs')} [from the file's content and name, else tsv].",
        panel="Reading",
        harmless=True,
    )
    encoding: str | None = setting(
        None, "Encoding of the input, such as utf-16 or cp1252 [UTF-8].", panel="Reading", harmless=True
    )
    source_column: str | None = setting(
        None, "Name or number of the source column [1].", panel="Reading", harmless=True
    )
    target_column: str | None = setting(
        None, "Name or number of the target column [2].", panel="Reading", harmless=True
    )
    monolingual_source: tuple[str, ...] = setting(
        (),
        "File of monolingual source sentences, for synthetic pairs; can be repeated.",
        panel="Reading",
        harmless=True,
    )
    monolingual_target: tuple[str, ...] = setting(
        (),
        "File of monolingual target sentences, for synthetic pairs; can be repeated.",
        panel="Reading",
        harmless=True,
    )
    max_length: int | None = setting(
        None,
        "Maximum length of a sentence, in words (two Chinese, Japanese or Thai characters count as one word) "
        "[learned from the corpus].",
        panel="Checks",
        low=1,
    )
    max_ratio: float | None = setting(
        None,
        "Maximum ratio between the word counts of the two sides; pairs of up to 5 words may have any ratio "
        "[learned from the corpus].",
        panel="Checks",
        low=1,
    )
    keep: tuple[str, ...] = setting(
        (), "Keep the pairs that this check finds, unchanged; can be repeated.", panel="Checks", harmless=True
    )
    strict: bool = setting(
        False, "Fail if a check finds anything that --keep does not accept.", panel="Checks", harmless=True
    )
    dev: str | None = setting(
        None,
        "Dev split: a number of pairs, a share such as 0.05 or 5%, or a file of pairs [1,000, at most a tenth].",
        panel="Splits",
        harmless=True,
    )
    test: str | None = setting(
        None,
        "Test split: a number of pairs, a share such as 0.05 or 5%, or a file of pairs [1,000, at most a tenth].",
        panel="Splits",
        harmless=True,
    )
    group_column: tuple[str, ...] = setting(
        (),
        "Column such as page or chapter: rows with the same value go into one split. Can be "
        "repeated; each file uses the first that it has.",
        panel="Splits",
        harmless=True,
    )
    tag_column: str | None = setting(
        None, "Column of tags, such as ui, formal or to:nld, which the model learns to follow.", harmless=True
    )
    target_language_column: str | None = setting(
        None,
        "Column with the language of each target, by code or name; none if there is no such column [a column with the "
        "heading `language`, or with only languages].",
        harmless=True,
    )
    register: Literal["none", "auto"] = setting(
        "none", "auto: tag pairs as formal or informal if their target shows how it addresses people (Sie or du)."
    )
    context: int = setting(
        0,
        "1: learn a share of the pairs together with the previous pair; each text (--group-column) is in one split.",
        low=0,
        high=1,
    )
    context_share: float = setting(
        0.3, "Share of the pairs, 0 to 1, that --context learns with the previous pair.", low=0, high=1
    )
    near_duplicates: bool = setting(
        False, "Also put near-duplicate sentences into the same split.", panel="Splits", harmless=True
    )
    seed: int = setting(
        1,
        "Random seed for the split, and for the sentences from which subwords are learned.",
        panel="Splits",
        low=0,
        high=2**32 - 1,
    )
    tokenizer: Literal["unigram", "bpe", "char", "word"] = setting("unigram", "Kind of tokenizer.", panel="Subwords")
    vocab_size: int | None = setting(
        None, "Vocabulary size [from the size of the corpus: 1,000 to 32,000].", panel="Subwords", low=5
    )
    min_count: int | None = setting(
        None,
        "With --tokenizer word: how often a word must occur in the training data to enter the vocabulary [2].",
        panel="Subwords",
        low=1,
    )
    lowercase: bool = setting(False, "Lowercase all text before it is tokenized.", panel="Subwords", harmless=True)
    separate_vocabularies: bool | None = setting(
        None,
        "Learn one vocabulary per language instead of a joint one [only if the languages share no script].",
        panel="Subwords",
        harmless=True,
    )

    max_source_length: int | None = setting(
        None,
        "Maximum number of source subwords; longer sources are truncated, with a warning [no limit].",
        panel="Subwords",
        low=1,
    )
    tokenizer_from: str | None = setting(
        None,
        "Reuse the subwords of this model, prepared corpus or .spm file instead of learning new ones.",
        panel="Subwords",
        harmless=True,
    )

    @property
    def source_languages(self) -> tuple[str, ...]:
        """The languages of the first column: none, one, or one for each file."""
        return split_languages(self.source_language)

    @property
    def target_languages(self) -> tuple[str, ...]:
        """The languages of the second column, likewise."""
        return split_languages(self.target_language)

    @property
    def text_sides(self) -> tuple[Literal["source", "target"], ...]:
        """The sides that hold text."""
        return ("source", "target") if self.source_type == "text" else ("target",)

    @property
    def tokenizer_settings(self) -> TokenizerSettings:
        return TokenizerSettings(kind=self.tokenizer, lowercase=self.lowercase)


def split_languages(names: str | None) -> tuple[str, ...]:
    """Returns the codes of the languages that an option lists by code or name, separated by commas.

    Raises OptionError for a name that several languages share.
    """
    return tuple(resolve_language(name) for name in (names or "").split(",") if name.strip())
