"""BLEU's tokenizers: sacreBLEU's own, those that need another package, and the pieces of a SentencePiece model."""

from __future__ import annotations

import dataclasses
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from nmt_cli.errors import DataError, MissingExtraError
from nmt_cli.evaluation.config import SUBWORD_TOKENIZERS, ScoreConfig
from nmt_cli.evaluation.metrics.score import References
from nmt_cli.files import require_file
from nmt_cli.languages.rules import find_rules
from nmt_cli.languages.scripts import guess_language

SAMPLE = 1_000  # references by whose script a language is known
PACKAGES = {"ja-mecab": ("MeCab", "ja"), "ko-mecab": ("mecab_ko", "ko")}  # module, and extra of sacreBLEU


def choose_tokenizer(config: ScoreConfig, language: str) -> tuple[ScoreConfig, str]:
    """Returns the settings with this target language's tokenizer, and a note if it is not 13a."""
    preferred = find_rules(language).bleu_tokenizer if config.bleu_tokenizer == "auto" else ""
    if not preferred:
        return config, ""
    chosen = preferred
    if preferred in PACKAGES and find_spec(PACKAGES[preferred][0]) is None:
        chosen = "char" if preferred == "ja-mecab" else "13a"
    note = f"BLEU of {language} counts the words of --bleu-tokenizer {chosen}"
    if chosen != preferred:
        note += f"; for {preferred}: pip install 'sacrebleu[{PACKAGES[preferred][1]}]'"
    return dataclasses.replace(config, bleu_tokenizer=chosen), note  # type: ignore[arg-type]


def choose_for_text(config: ScoreConfig, language: str, references: References) -> tuple[ScoreConfig, str]:
    """Returns the settings with the tokenizer for a language or, if it is unknown, for the script of the references."""
    if language in ("", "target"):
        language = guess_language(alternatives[0] for alternatives in references[:SAMPLE])
    return choose_tokenizer(config, language)


def require_tokenizer(name: str) -> str:
    """Returns the name of sacreBLEU's tokenizer. Raises MissingExtraError if its package is not installed."""
    if name in PACKAGES and find_spec(PACKAGES[name][0]) is None:
        raise MissingExtraError(
            f"--bleu-tokenizer {name} needs a package that is not installed",
            hint=f"install it with: pip install 'sacrebleu[{PACKAGES[name][1]}]'",
        )
    return "none" if name in SUBWORD_TOKENIZERS else name


class SubwordTokenizer:
    """A sacreBLEU tokenizer that splits into the pieces of a SentencePiece model."""

    def __init__(self, path: Path, name: str) -> None:
        import sentencepiece

        self.name = name
        try:
            self.processor: Any = sentencepiece.SentencePieceProcessor(model_file=str(require_file(path)))
        except (OSError, RuntimeError) as error:
            raise DataError(f"{path} is not a SentencePiece model", hint="name another with --bleu-spm") from error

    def __call__(self, line: str) -> str:
        return " ".join(self.processor.encode(line, out_type=str))


def make_bleu_metric(config: ScoreConfig, **options: Any) -> Any:
    """Returns sacreBLEU's BLEU with the tokenizer of the settings."""
    from sacrebleu.metrics.bleu import BLEU  # a tenth of a second that `nmt --help` must not pay

    metric = BLEU(tokenize=require_tokenizer(config.tokenizer), **options)
    if config.tokenizer in SUBWORD_TOKENIZERS:
        metric.tokenizer = SubwordTokenizer(Path(str(config.bleu_spm)), config.tokenizer)
        metric.tokenizer_signature = config.tokenizer
    return metric
