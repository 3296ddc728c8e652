import json
import re

import numpy as np
import pytest

from nmt_cli.visuals.html import PageSentence, encode_data, render_page
from nmt_cli.visuals.labels import LabelledAttention


def make_sentence(text: str, attention: np.ndarray) -> PageSentence:
    view = LabelledAttention((text,), (text,), attention, (1.0,), text, text)
    return PageSentence(view, view)


@pytest.mark.parametrize("text", ["</script><script>alert(1)</script>", "<!--", "a & b", "@SCRIPT@ @DATA@", "\u2028"])
def test_no_text_can_leave_the_data(text: str) -> None:
    page = render_page([make_sentence(text, np.ones((1, 1)))])
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', page)
    assert data is not None
    assert json.loads(data[1])["sentences"][0]["words"]["source"] == [text]
    assert page.count("<script") == 2


def test_a_page_names_no_address() -> None:
    page = render_page([make_sentence("a", np.ones((1, 1)))])
    assert not re.search(r"(?:https?:)?//[a-z]", re.sub(r"^\s*//.*$", "", page, flags=re.MULTILINE))


def test_data_are_json_whatever_is_in_them() -> None:
    value = {"a": "<&>\u2029'\""}
    assert json.loads(encode_data(value)) == value


@pytest.mark.parametrize(("shape", "expected"), [((1, 1), (1, 1)), ((2, 3, 1, 1), (2, 3))])
def test_attention_always_has_layers_and_heads_on_the_page(shape: tuple[int, ...], expected: tuple[int, int]) -> None:
    data = json.loads(render_page([make_sentence("a", np.ones(shape))]).split('id="data">')[1].split("</script>")[0])
    attention = np.array(data["sentences"][0]["words"]["attention"])
    assert attention.shape == (*expected, 1, 1)
