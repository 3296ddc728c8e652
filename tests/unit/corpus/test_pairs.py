"""Texts in one buffer."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.corpus.pairs import Texts


@given(st.lists(st.text(max_size=9).map(lambda text: text.encode("utf-8", "replace").decode()), max_size=20))
def test_texts_are_those_that_were_put_in(given_texts: list[str]) -> None:
    texts = Texts()
    for part in (given_texts[:7], given_texts[7:]):
        encoded = [text.encode() for text in part]
        texts.extend(b"".join(encoded), np.array([len(data) for data in encoded], np.int64))
        assert len(texts) >= len(part)
    assert list(texts) == texts[:] == given_texts
    assert list(texts.select(np.arange(len(given_texts))[::-1])) == given_texts[::-1]
