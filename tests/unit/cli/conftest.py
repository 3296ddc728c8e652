"""What the tests of several commands share."""

import pytest

from support.shouting import Shouting, use_shouting


@pytest.fixture
def shouting(monkeypatch: pytest.MonkeyPatch) -> Shouting:
    """The translator that `TranslationRequest.load` gives; a test split of 100 sentences, of which half are right."""
    return use_shouting(monkeypatch)
