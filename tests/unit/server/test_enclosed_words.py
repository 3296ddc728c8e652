"""Words between two marks stay between them, whichever client asks and whatever the marks are."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from nmt_cli.api.translator import load
from nmt_cli.runtime.installed_models import list_bundled_models
from nmt_cli.server.models import ModelPool, ServedModel
from nmt_cli.server.service import Service
from support.served import serve_on_port
from support.slow import sample

PAIRS = (
    *(("[X5X]", "[X12X]"), ("{0}", "{1}"), ("%s", "%s"), ("{bold}", "{/bold}"), ("%(a)s", "%(b)s"), ("{{a}}", "{{b}}")),
    *(("<b>", "</b>"), ("<b0>", "</b0>"), ("<t-1>", "</t-1>"), ("<g2>", "</g2>"), ('<g id="1">', "</g>")),
    *(('<x id="1"/>', '<x id="2"/>'), ('<x id="1"></x>', '<x id="2"></x>'), ('<bpt id="1"/>', '<ept id="1"/>')),
)
NUMBERED = (("<1>", "</1>"), ("<0>", "</0>"))  # elements that neither HTML nor XML has
SENTENCES = {"I am {}not{} hungry.": "(?:kein|nicht)", "Please open the {}door{}.": "Tür"}
LIBRETRANSLATE, DEEPL = {"source": "en", "target": "de"}, {"source_lang": "EN", "target_lang": "DE"}
OPUS_CAT = {"srcLangCode": "en", "trgLangCode": "de"}
# Each shape that docs/serve.md lists: the request for a text, and where in its answer the translation is.
SHAPES: dict[str, tuple[Callable[[str], tuple[str, dict[str, Any]]], Callable[[Any], str]]] = {
    "LibreTranslate": (lambda text: ("/translate", {"q": text, **LIBRETRANSLATE}), lambda a: a["translatedText"]),
    "LibreTranslate, HTML": (
        lambda text: ("/translate", {"q": text, "format": "html", **LIBRETRANSLATE}),
        lambda a: a["translatedText"],
    ),
    "DeepL": (lambda text: ("/v2/translate", {"text": [text], **DEEPL}), lambda a: a["translations"][0]["text"]),
    "DeepL, XML": (
        lambda text: ("/v2/translate", {"text": [text], "tag_handling": "xml", **DEEPL}),
        lambda a: a["translations"][0]["text"],
    ),
    "a list": (lambda text: ("/translate", {"text_list": [text], **DEEPL}), lambda a: a["translations"][0]["text"]),
    "DeepLX": (lambda text: ("/translate", {"text": text, **DEEPL}), lambda a: a["data"]),
    "OPUS-CAT": (
        lambda text: ("/MTRestService/TranslateJson", {"input": text, **OPUS_CAT}),
        lambda a: a["translation"],
    ),
    "XUnity": (lambda text: ("/xunity", {"text": text, "from": "en", "to": "de"}), str),
    "Sugoi": (lambda text: ("/", {"message": "translate sentences", "content": text}), str),
}


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The address of a server of the bundled model."""
    model = ServedModel.read(list_bundled_models()["eng-deu"])
    with serve_on_port(Service(ModelPool([model], load))) as (url, _):
        yield url


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("first", sample([0, 1], 0), ids=["one sentence", "the other"])
def test_a_word_between_two_marks_stays_between_them(server: str, shape: str, first: int) -> None:
    """Each pair of marks is asked of each client in one of the sentences, in turn; before a release, in both."""
    make_request, read_answer = SHAPES[shape]
    lost = []
    with httpx.Client(base_url=server, timeout=60) as client:
        for number, (opening, closing) in enumerate((*PAIRS, *NUMBERED), start=first + list(SHAPES).index(shape)):
            sentence, word = list(SENTENCES.items())[number % 2]
            path, values = make_request(sentence.format(opening, closing))
            answer = client.post(path, json=values)
            is_json = "json" in answer.headers["content-type"]
            text = read_answer(answer.json() if is_json else answer.text)
            if not re.search(rf"{re.escape(opening)}(?:[\w ]* )?{word}\w*(?: \w+)?{re.escape(closing)}", text):
                lost.append(text)
    assert lost == []
