"""Options in errors of the Python interface."""

import pytest

from nmt_cli.api.options.options import respell_options

NAMES = {"beam_size", "check", "no_repeat_ngram", "length_penalty"}


@pytest.mark.parametrize(
    ("typed", "spelled"),
    [
        ("--beam-size is 0", "beam_size is 0"),
        ("add --beam-size 9, or leave it out", "add beam_size=9, or leave it out"),
        ("at --length-penalty 0.6.", "at length_penalty=0.6."),
        ("beside --no-check", "beside check=False"),
        ("--no-repeat-ngram 3", "no_repeat_ngram=3"),
        ("--beam and --other-thing 3", "--beam and --other-thing 3"),
        ("nmt translate --beam-size 9", "nmt translate --beam-size 9"),
    ],
)
def test_options_are_spelled_as_arguments(typed: str, spelled: str) -> None:
    assert respell_options(typed, NAMES) == spelled
