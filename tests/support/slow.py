"""Which cases of a test `make test` tries; `make test-slow` tries the others too."""

from collections.abc import Sequence
from typing import Any

import pytest


def sample(cases: Sequence[Any], *usual: int) -> list[Any]:
    """Returns the cases of a test, all but the `usual` ones (their numbers in the list) marked as slow."""
    return [
        pytest.param(case, marks=[] if number in usual else [pytest.mark.slow]) for number, case in enumerate(cases)
    ]
