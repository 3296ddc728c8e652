"""How many of the frozen lines are read."""

import pytest
from hypothesis import settings


@pytest.fixture
def step() -> int:
    """1 for all lines; where properties are tried with fewer examples (`make check`), n for every nth line."""
    return max(1, 100 // settings().max_examples)
