"""A model of several languages and registers, asked for over HTTP."""

from pathlib import Path
from typing import Any

import pytest

from nmt_cli.api.translator import Translator
from nmt_cli.languages.codes import find_language
from nmt_cli.server.models import ModelPool, ServedModel
from nmt_cli.server.service import Service
from support.fakes import FakeTranslator, make_card
from support.served import Client

TAGS = {">deu": 500, ">nld": 300, "ui": 200, "formal": 40, "informal": 40}


class TaggedServer:
    """A client of one fake model, and the fakes that were loaded for it."""

    def __init__(self, tags: dict[str, int], **limits: Any) -> None:
        self.card = make_card("eng", "deu", tags=tags)
        self.loaded: list[FakeTranslator] = []
        languages = find_language("eng"), find_language("deu")
        model = ServedModel(Path("model"), self.card, *languages, size=100)
        self.pool = ModelPool(model.list_directions(), self.open_model, **limits)
        self.client = Client(Service(self.pool))

    def open_model(self, path: Path) -> Translator:
        self.loaded.append(FakeTranslator(self.card))
        return Translator(self.loaded[-1], path, {})  # type: ignore[arg-type]

    @property
    def tags(self) -> list[str]:
        """The tags of each call of the translator."""
        return [" ".join(map(str, config.tags)) for fake in self.loaded for config in fake.configs]


def test_each_language_of_a_model_is_a_target_and_all_share_the_model() -> None:
    server = TaggedServer(TAGS, memory_limit=100)
    (english, *_) = server.client.get("/languages").json()
    assert english == {"code": "en", "name": "English", "targets": ["de", "nl"]}
    for target in ("nl", "de", "nl"):
        server.client.ask("/translate", q="hello", source="en", target=target)
    assert len(server.loaded) == 1
    assert server.tags == [">nld", "", ">nld"]


def test_varieties_of_a_language_are_targets_of_their_own() -> None:
    server = TaggedServer({">pt-PT": 300, ">pt-BR": 500, ">deu": 100})
    (english, *others) = server.client.get("/languages").json()
    assert english["targets"] == ["de", "pt-PT", "pt-BR"]
    assert [row["name"] for row in others] == ["German", "Portuguese (PT)", "Portuguese (BR)"]
    rows = server.client.get("/v2/languages", params={"type": "target"}).json()
    assert [row["language"] for row in rows] == ["DE", "PT-PT", "PT-BR"]
    for code in ("PT-BR", "PT-PT", "PT", "DE-AT"):
        server.client.ask("/v2/translate", text=["hello"], target_lang=code)
    server.client.ask("/translate", q="hello", source="en", target="pt_br")
    assert server.tags == [">pt-BR", ">pt-PT", ">pt-PT", "", ">pt-BR"]


def test_each_source_language_of_a_model_is_a_source() -> None:
    server = TaggedServer({"deu>": 300, "nld>": 500, "eng>": 400, ">deu": 400})
    rows = server.client.get("/languages").json()
    assert {row["code"]: row["targets"] for row in rows} == {"en": ["de"], "nl": ["de"], "de": []}
    server.client.ask("/translate", q="hallo", source="nl", target="de")
    assert server.tags == ["nld>"]


@pytest.mark.parametrize(
    ("formality", "tag"),
    [("default", ""), ("more", "formal"), ("less", "informal"), ("prefer_more", "formal"), ("prefer_less", "informal")],
)
def test_deepl_asks_for_a_register(formality: str, tag: str) -> None:
    server = TaggedServer(TAGS)
    server.client.ask("/v2/translate", text=["hello"], target_lang="DE", formality=formality)
    assert server.tags == [tag]
    server.client.ask("/translate", text="hello", target_lang="DE", formality=formality)
    server.client.get("/xunity", params={"text": "hello", "to": "de", "formality": formality})
    assert server.tags == [tag] * 3
    rows = server.client.get("/v2/languages", params={"type": "target"}).json()
    assert [row["supports_formality"] for row in rows] == [True, True]


def test_a_register_unknown_to_a_model_is_refused_unless_preferred() -> None:
    server = TaggedServer({})
    values = {"text": ["hello"], "target_lang": "DE"}
    assert server.client.post("/v2/translate", json={**values, "formality": "prefer_more"}).status_code == 200
    for formality, message in (("more", "not supported for given"), ("polite", "not supported: polite")):
        refused = server.client.post("/v2/translate", json={**values, "formality": formality})
        assert refused.status_code == 400 and message in refused.text
    rows = server.client.get("/v2/languages", params={"type": "target"}).json()
    assert [row["supports_formality"] for row in rows] == [False]


def test_a_request_asks_for_a_domain_that_the_model_knows() -> None:
    server = TaggedServer({**TAGS, "help": 3})
    for form, text in (("text", "hello"), ("html", "<p>hello</p><table><tr><td>cell</td></tr></table>")):
        server.client.ask("/translate", q=text, source="en", target="nl", format=form, tag="Help", formality="more")
    assert set(server.tags) == {">nld help formal"}
    values = {"q": "hello", "source": "en", "target": "nl", "tag": "legal"}
    refused = server.client.post("/translate", json=values)
    assert refused.status_code == 400 and "legal; the model knows help, ui" in refused.text


def test_a_catalogue_is_in_the_words_of_programs(tmp_path: Path) -> None:
    server = TaggedServer(TAGS)
    catalogue = b'msgid "Open the file"\nmsgstr ""\n'
    for name, content in (("a.po", catalogue), ("a.txt", b"Open the file\n")):
        values = {"source": "en", "target": "nl"}
        assert server.client.post("/translate_file", files={"file": (name, content)}, data=values).status_code == 200
    assert server.tags == [">nld ui", ">nld"]
    values["formality"] = "more"
    assert server.client.post("/translate_file", files={"file": ("a.txt", b"Open it.\n")}, data=values).is_success
    assert server.tags[2:] == [">nld formal"]


def test_the_page_knows_who_has_registers_and_asks_for_one() -> None:
    server = TaggedServer(TAGS)
    assert [model["hasRegisters"] for model in server.client.get("/page/models").json()] == [True, True]
    values = {"q": "hello", "source": "en", "target": "nl"}
    server.client.ask("/page/translate", **values, formality="less")
    server.client.ask("/page/translate", **values, tag="")
    assert server.tags == [">nld informal", ">nld"]
    assert [model["domains"] for model in server.client.get("/page/models").json()] == [["ui"], ["ui"]]
    server.client.ask("/page/translate", **values, tag="ui")
    data = {"source": "en", "target": "de", "tag": "ui"}
    assert server.client.post("/translate_file", files={"file": ("a.txt", b"Open it.\n")}, data=data).is_success
    assert server.tags[2:] == [">nld ui", "ui"]
    (plain,) = TaggedServer({}).client.get("/page/models").json()
    assert plain["hasRegisters"] is False
