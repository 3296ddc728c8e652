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


@pytest.mark.parametrize("options", [{"max_ratio": 0.5}, {"tokenizer": "chra"}, {"max_length": 0}])
def test_values_out_of_range_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(OptionError):
        PrepareConfig(**options)  # type: ignore[arg-type]
