"""Tokenizers of BLEU: sacreBLEU's own, those that need another package, and those of a SentencePiece model."""

from __future__ import annotations

import dataclasses
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from nmt_cli.errors import DataError, MissingExtraError
from nmt_cli.evaluation.config import SUBWORD_TOKENIZERS, ScoreConfig
from nmt_cli.evaluation.metrics.score import References
from nmt_cli.files import require_file
from nmt_cli.languages.codes import find_language_key

SAMPLE = 1_000  # references by whose script a language is known
PACKAGES = {"ja-mecab": ("MeCab", "ja"), "ko-mecab": ("mecab_ko", "ko")}  # module, and extra of sacreBLEU
BY_LANGUAGE = {"zh": "zh", "cmn": "zh", "yue": "zh", "ja": "ja-mecab", "ko": "ko-mecab"} | dict.fromkeys(
    ("th", "lo", "km", "my", "bo", "dz"), "char"
)
# Languages that are known by their scripts, of those whose words BLEU cannot tell by blanks.
BY_SCRIPT = {
    "ko": ("\uac00", "\ud7a3"),
    "th": ("\u0e00", "\u0e7f"),
    "lo": ("\u0e80", "\u0eff"),
    "km": ("\u1780", "\u17ff"),
    "my": ("\u1000", "\u109f"),
    "bo": ("\u0f00", "\u0fff"),
}
KANA, HAN = ("\u3040", "\u30ff"), ("\u4e00", "\u9fff")


def choose_tokenizer(config: ScoreConfig, language: str) -> tuple[ScoreConfig, str]:
    """Returns the settings with the tokenizer that this target language wants, and a note where that is not 13a."""
    preferred = (
        BY_LANGUAGE.get(find_language_key(language).partition("-")[0]) if config.bleu_tokenizer == "auto" else None
    )
    if preferred is None:
        return config, ""
    chosen = preferred
    if preferred in PACKAGES and find_spec(PACKAGES[preferred][0]) is None:
        chosen = "char" if preferred == "ja-mecab" else "13a"
    note = f"BLEU of {language} counts the words of --bleu-tokenizer {chosen}"
    if chosen != preferred:
        note += f"; for {preferred}: pip install 'sacrebleu[{PACKAGES[preferred][1]}]'"
    return dataclasses.replace(config, bleu_tokenizer=chosen), note  # type: ignore[arg-type]


def choose_for_text(config: ScoreConfig, language: str, references: References) -> tuple[ScoreConfig, str]:
    """Returns the settings with the tokenizer for a language, or if it has no name for the script of the references."""
    return choose_tokenizer(config, language if language not in ("", "target") else guess_language(references))


def guess_language(references: References) -> str:
    """Returns the language of references whose script tells it, of those without blanks between words; else nothing."""
    letters = [letter for alternatives in references[:SAMPLE] for letter in alternatives[0] if letter.isalpha()]

    def count(script: tuple[str, str]) -> int:
        return sum(script[0] <= letter <= script[1] for letter in letters)

    counts = {language: count(script) for language, script in BY_SCRIPT.items()}
    kana, han = count(KANA), count(HAN)
    counts["ja" if 20 * kana > kana + han else "zh"] = kana + han
    language = max(counts, key=lambda name: counts[name])
    return language if 2 * counts[language] > len(letters) else ""


def require_tokenizer(name: str) -> str:
    """Returns the name of sacreBLEU's tokenizer. Raises MissingExtraError if its package is not installed."""
    if name in PACKAGES and find_spec(PACKAGES[name][0]) is None:
        raise MissingExtraError(
            f"--bleu-tokenizer {name} needs a package that is not installed",
            hint=f"install it with: pip install 'sacrebleu[{PACKAGES[name][1]}]'",
        )
    return "none" if name in SUBWORD_TOKENIZERS else name


class SubwordTokenizer:
    """A tokenizer of sacreBLEU that cuts into the pieces of a SentencePiece model."""

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
