"""Which tokenizer BLEU counts words with."""

from pathlib import Path

import pytest

from nmt_cli.errors import DataError, MissingExtraError
from nmt_cli.evaluation.config import ScoreConfig
from nmt_cli.evaluation.metrics import sacrebleu_metrics
from nmt_cli.evaluation.metrics.sacrebleu_metrics import choose_for_text, choose_tokenizer, compute_bleu
from nmt_cli.languages.codes import guess_language
from support.tokenizers import toy_tokenizer


def test_the_language_chooses_unless_a_tokenizer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sacrebleu_metrics, "find_spec", lambda module: None)
    config = ScoreConfig()
    for language, tokenizer in (
        ("de", "13a"),
        ("", "13a"),
        ("zho", "zh"),
        ("zh-TW", "zh"),
        ("ja", "char"),
        ("ko", "13a"),
    ):
        chosen, note = choose_tokenizer(config, language)
        assert chosen.tokenizer == tokenizer
        assert bool(note) == (language not in ("de", ""))
    assert "sacrebleu[ja]" in choose_tokenizer(config, "ja")[1]
    assert choose_tokenizer(ScoreConfig(bleu_tokenizer="13a"), "zh") == (ScoreConfig(bleu_tokenizer="13a"), "")
    with pytest.raises(MissingExtraError, match="ko-mecab needs a package"):
        compute_bleu(["a"], [["a"]], ScoreConfig(bleu_tokenizer="ko-mecab"))


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("你好世界", "zh"),
        ("日本語です", "ja"),
        ("안녕하세요", "ko"),
        ("สวัสดีชาวโลก", "th"),
        ("ສະບາຍດີ", "lo"),
        ("សួស្តី​ពិភពលោក", "km"),
        ("မင်္ဂလာပါ", "my"),
        ("བཀྲ་ཤིས", "bo"),
        ("hello", ""),
        ("Привет", ""),
        ("", ""),
    ],
)
def test_scripts_tell_the_languages_that_write_no_blanks_between_words(text: str, language: str) -> None:
    assert guess_language([text]) == language


def test_half_a_sentence_of_a_language_without_blanks_counts_for_half() -> None:
    for language, reference, hypothesis in (
        ("th", "ฉันชอบกินข้าวผัด", "ฉันชอบกินขนมปัง"),
        ("", "私は東京に住んでいます", "私は大阪に住んでいます"),
    ):
        scoring, _ = choose_for_text(ScoreConfig(), language, [[reference]])
        assert compute_bleu([hypothesis], [[reference]], scoring).value > 30
        assert compute_bleu([hypothesis], [[reference]], ScoreConfig()).value < 1  # one word, and it is wrong


def test_subwords_need_their_model_as_a_file(tmp_path: Path) -> None:
    (tmp_path / "bad.model").write_bytes(b"no model")
    with pytest.raises(DataError, match="is not a SentencePiece model"):
        compute_bleu(["a"], [["a"]], ScoreConfig(bleu_tokenizer="spm", bleu_spm=str(tmp_path / "bad.model")))


def test_subwords_of_a_model_are_counted_and_stand_in_the_signature(tmp_path: Path) -> None:
    tokenizer = toy_tokenizer("unigram")
    path = tmp_path / "toy.model"
    path.write_bytes(tokenizer.model)
    config = ScoreConfig(bleu_tokenizer="flores200", bleu_spm=str(path))
    score = compute_bleu(["the red dog sees a cat"] * 3, [["the red dog sees the cat"]] * 3, config)
    assert "tok:flores200" in score.signature
    assert 0 < score.value < 100
