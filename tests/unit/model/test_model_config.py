from __future__ import annotations

import pytest

from nmt_cli.errors import OptionError
from nmt_cli.model.config import ModelConfig


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"units": 7}, "an even number is needed"),
        ({"heads": 2}, "only --attention scaled-dot has heads"),
        ({"heads": 3, "attention": "scaled-dot"}, "does not divide"),
        ({"input_feeding": True}, "--input-feeding does not go with --attention additive"),
        ({"input_feeding": True, "attention": "none"}, "--input-feeding does not go with --attention none"),
        ({"attention": "bahdanau"}, "--attention cannot be 'bahdanau'"),
    ],
)
def test_settings_that_do_not_go_together_are_told(options: dict, message: str) -> None:
    with pytest.raises(OptionError) as caught:
        ModelConfig(**options)
    assert message in caught.value.message


def test_one_direction_may_have_an_odd_width() -> None:
    assert ModelConfig(units=7, bidirectional=False).units == 7
