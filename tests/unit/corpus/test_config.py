import pytest

from nmt_cli.corpus.config import PrepareConfig, guess_languages
from nmt_cli.errors import OptionError
from nmt_cli.text.tokenizer_settings import TokenizerSettings


@pytest.mark.parametrize(
    ("name", "languages"),
    [
        ("eng-deu.tsv", ("eng", "deu")),
        ("corpus.en-de.tsv", ("en", "de")),
        ("news_en-pt_BR.txt", ("en", "pt_BR")),
        ("corpus.tsv", ("source", "target")),
        ("well-known.tsv", ("source", "target")),
        ("2018-05-13.tsv", ("source", "target")),
    ],
)
def test_languages_are_read_from_file_names_of_the_usual_form(name: str, languages: tuple[str, str]) -> None:
    assert guess_languages(name) == languages


def test_two_files_name_a_language_each() -> None:
    assert guess_languages("train.en", "train.de.gz") == ("en", "de")
    assert guess_languages("a.txt", "b.txt") == ("source", "target")


def test_tokenizer_settings_are_those_of_the_options() -> None:
    config = PrepareConfig(tokenizer="bpe", lowercase=True)
    assert config.tokenizer_settings == TokenizerSettings(kind="bpe", lowercase=True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"min_count": 10}, "--tokenizer is unigram"),
        ({"min_count": 10, "tokenizer": "word", "vocab_size": 500}, "--vocab-size and --min-count cannot be combined"),
        (
            {"min_count": 10, "tokenizer": "word", "tokenizer_from": "model"},
            "--tokenizer-from and --min-count cannot be combined",
        ),
        ({"vocab_size": 500, "tokenizer_from": "model"}, "--vocab-size and --tokenizer-from cannot be combined"),
    ],
)
def test_options_of_subwords_that_exclude_each_other_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(OptionError) as caught:
        PrepareConfig(**options)  # type: ignore[arg-type]
    assert message in caught.value.message


@pytest.mark.parametrize("options", [{"max_ratio": 0.5}, {"tokenizer": "chra"}, {"max_length": 0}])
def test_values_out_of_range_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(OptionError):
        PrepareConfig(**options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "options",
    [{"max_length": 20}, {"max_ratio": 3.0}, {"near_duplicates": True}, {"max_source_length": 9}, {"keep": ("empty",)}],
)
def test_what_does_nothing_for_captions_is_refused(options: dict[str, object]) -> None:
    with pytest.raises(OptionError) as caught:
        PrepareConfig(source_type="features", **options)  # type: ignore[arg-type]
    assert "leave it out with features" in caught.value.hint
