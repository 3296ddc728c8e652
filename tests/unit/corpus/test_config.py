import pytest

from nmt_cli.corpus.config import PrepareConfig
from nmt_cli.errors import OptionError
from nmt_cli.text.symbols import TokenizerSettings


def test_tokenizer_settings_are_those_of_the_options() -> None:
    config = PrepareConfig(tokenizer="bpe", lowercase=True)
    assert config.tokenizer_settings == TokenizerSettings(kind="bpe", lowercase=True)


@pytest.mark.parametrize("options", [{"max_ratio": 0.5}, {"tokenizer": "chra"}, {"max_length": 0}])
def test_values_out_of_range_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(OptionError):
        PrepareConfig(**options)  # type: ignore[arg-type]
