"""Tests of `server/stores.py`.

Glossaries of requests: in LibreTranslate's and DeepL's shape, each for its own requests and its own key alone.
Translated documents that wait to be fetched: their names, their number, their end.
"""

import asyncio
import os
import time
from pathlib import Path

import deepl
import pytest

import nmt_cli as nmt
from nmt_cli.api.translator import answer_with_memory
from nmt_cli.carrying.glossary import Glossary
from nmt_cli.languages.codes import find_language
from nmt_cli.server import stores
from nmt_cli.server.admission import Admission, Key, RequestError
from nmt_cli.server.batching import Batcher, RequestOptions
from nmt_cli.server.service import Service
from nmt_cli.server.stores import MOST_CHARACTERS, MOST_TERMS, ClientGlossary, GlossaryStore, ResultStore, read_terms
from nmt_cli.translation.request import Block
from support.served import Client, make_pool, serve_on_port

PAIR = {"source": "en", "target": "de"}
NEW = {"name": "mine", "source_lang": "EN", "target_lang": "de", "entries": "engine\tMotor\n", "entries_format": "tsv"}


def test_the_glossary_of_a_request_is_for_that_request_alone() -> None:
    client = Client()
    with_terms = client.ask("/translate", q="the engine", glossary={"engine": "motor"}, **PAIR)
    assert with_terms == {"translatedText": "THE MOTOR"}
    assert client.ask("/translate", q="the engine", **PAIR) == {"translatedText": "THE ENGINE"}
    form = client.post("/translate", data={"q": "the engine", "glossary": "engine\tmotor\r\n", **PAIR})
    assert form.json() == {"translatedText": "THE MOTOR"}
    page = client.ask("/translate", q="<p>the engine</p>", format="html", glossary={"engine": "motor"}, **PAIR)
    assert page == {"translatedText": "<p>THE MOTOR</p>"}


def test_a_document_is_translated_with_the_glossary_of_its_form() -> None:
    client = Client()
    values = {"glossary": "engine\tmotor", **PAIR}
    answer = client.post("/translate_file", data=values, files={"file": ("a.txt", b"the engine\n")}).json()
    name = answer["translatedFileUrl"].rpartition("/")[2]
    assert client.get(f"/download_file/{name}").content == b"THE MOTOR\n"


def test_requests_of_other_glossaries_share_no_batch() -> None:
    pool, loaded = make_pool()
    words = ["motor", "maschine", "", "motor"]

    async def ask_all() -> list[str]:
        batcher = Batcher(pool)
        options = [RequestOptions(glossary=Glossary({"engine": word}) if word else None) for word in words]
        try:
            rows = await asyncio.gather(
                *(batcher.translate(pool.models[0], ["engine"] * 3, option) for option in options)
            )
        finally:
            batcher.close()
        return [row.text for translations in rows for row in translations]

    expected = [(word or "engine").upper() for word in words for _ in range(3)]
    assert asyncio.run(ask_all()) == expected
    (fake,) = loaded.values()
    assert sorted(map(len, fake.batches)) == [3, 3, 6]  # those of equal glossaries are one


def test_the_client_of_deepl_makes_reads_uses_and_deletes_glossaries() -> None:
    with serve_on_port() as (url, _):
        client = deepl.DeepLClient("any-key", server_url=url, send_platform_info=False)
        (pair,) = client.get_glossary_languages()
        assert (pair.source_lang.lower(), pair.target_lang.lower()) == ("en", "de")
        made = client.create_glossary("mine", "EN", "DE", {"engine": "motor", "#3": "nr. 3"})
        assert (made.entry_count, made.ready, made.source_lang.lower()) == (2, True, "en")
        assert client.get_glossary_entries(made) == {"engine": "motor", "#3": "nr. 3"}
        assert client.get_glossary(made.glossary_id).creation_time == made.creation_time
        found = client.translate_text("the engine", source_lang="EN", target_lang="DE", glossary=made)
        assert found.text == "THE MOTOR"  # type: ignore[union-attr]
        assert client.translate_text("the engine", target_lang="DE").text == "THE ENGINE"  # type: ignore[union-attr]
        csv = client.create_glossary_from_csv("other", "EN", "DE", '"a, b",c,en,de\n')
        assert client.get_glossary_entries(csv) == {"a, b": "c"}
        client.delete_glossary(made)
        assert [glossary.name for glossary in client.list_glossaries()] == ["other"]
        with pytest.raises(deepl.GlossaryNotFoundException):
            client.get_glossary(made.glossary_id)


def test_a_glossary_belongs_to_the_key_that_made_it() -> None:
    client = Client(Service(make_pool()[0], admission=Admission([Key("a", "first"), Key("b", "second")])))
    first, second = ({"Authorization": f"DeepL-Auth-Key {key}"} for key in ("first", "second"))
    made = client.post("/v2/glossaries", json=NEW, headers=first)
    path = f"/v2/glossaries/{made.json()['glossary_id']}"
    assert made.status_code == 201
    assert client.get(path, headers=first).json() == made.json()
    assert client.get("/v2/glossaries", headers=second).json() == {"glossaries": []}
    asked = {"text": ["engine"], "target_lang": "DE", "glossary_id": made.json()["glossary_id"]}
    refused = [
        client.get(path, headers=second),
        client.get(f"{path}/entries", headers=second),
        client.request("DELETE", path, headers=second),
        client.post("/v2/translate", json=asked, headers=second),
    ]
    assert [answer.status_code for answer in refused] == [404] * 4
    assert refused[0].json() == {"message": "Glossary not found"}
    assert client.get(path).status_code == 403
    assert client.post("/v2/translate", json=asked, headers=first).json()["translations"][0]["text"] == "MOTOR"
    assert client.request("DELETE", path, headers=first).status_code == 204


def test_a_glossary_without_a_key_belongs_to_the_address_that_made_it() -> None:
    client = Client(Service(make_pool()[0]))
    made = client.post("/v2/glossaries", json=NEW).json()["glossary_id"]
    asked = {"text": ["engine"], "target_lang": "DE", "glossary_id": made}
    for address, status in (("127.0.0.1", 200), ("192.0.2.1", 404)):
        client.address = address
        assert len(client.get("/v2/glossaries").json()["glossaries"]) == (status == 200)
        assert client.post("/v2/translate", json=asked).status_code == status
        in_disguise = {"Authorization": "DeepL-Auth-Key address 127.0.0.1"}
        assert client.get(f"/v2/glossaries/{made}", headers=in_disguise).status_code == 404


def test_a_glossary_of_other_languages_is_refused() -> None:
    client = Client(Service(make_pool(("eng", "deu"), ("deu", "eng"))[0]))
    made = client.post("/v2/glossaries", json=NEW).json()
    asked = {"text": ["engine"], "source_lang": "DE", "target_lang": "EN", "glossary_id": made["glossary_id"]}
    assert client.post("/v2/translate", json=asked).json() == {
        "message": "Invalid request: the glossary is for other languages"
    }
    assert client.post("/v2/glossaries", json={**NEW, "target_lang": "FR"}).status_code == 400


@pytest.mark.parametrize(
    ("value", "status"),
    [
        (7, 400),
        ({"a": 1}, 400),
        ({}, 400),
        ({"": "b"}, 400),
        ("a b\n", 400),
        ("a\tb\tc\n", 400),
        ("a\tb\na\tc\n", 400),
        ("a\t\ud800\n", 400),
        ({str(number): "x" for number in range(MOST_TERMS)}, None),
        ({str(number): "x" for number in range(MOST_TERMS + 1)}, 413),
        ({"a": "x" * MOST_CHARACTERS}, 413),
        ("a\tb\n" * (MOST_CHARACTERS // 4 + 1), 413),
    ],
)
def test_what_is_no_glossary_or_too_large_a_one_is_refused(value: object, status: int | None) -> None:
    if status is None:
        assert read_terms(value).terms
        return
    with pytest.raises(RequestError) as caught:
        read_terms(value)
    assert caught.value.status == status


def test_a_key_and_a_server_have_so_many_glossaries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stores, "MOST_GLOSSARIES_OF_KEY", 2)
    monkeypatch.setattr(stores, "MOST_GLOSSARIES_TOGETHER", 3)
    store, languages = GlossaryStore(), (find_language("en"), find_language("de"))

    def make(owner: str) -> ClientGlossary:
        glossary = ClientGlossary("a", *languages, Glossary({"a": "b"}), owner)
        store.add(glossary)
        return glossary

    first = make("x")
    make("x")
    with pytest.raises(RequestError, match="Quota"):
        make("x")
    make("y")
    with pytest.raises(RequestError, match="too many"):
        make("z")
    store.remove(first.identifier, "x")
    make("z")


def test_a_model_writes_the_terms_of_the_call_and_no_other() -> None:
    with nmt.load("eng-deu", beam_size=1) as translator:
        asked = "Where is the station?"
        before = translator.translate(asked)
        answer = answer_with_memory(translator, terms=Glossary({"station": "Haltestelle"}))
        found = answer(Block(0, [asked]))[0].text
        assert "Haltestelle" in found and "Haltestelle" not in before
        assert translator.translate(asked) == before


def test_names_of_uploads_become_harmless() -> None:
    store = ResultStore()
    for name in ("../../etc/passwd", "..\\..\\boot.ini", "a\x00b.txt", ".bashrc", "x" * 300 + ".txt", "", 'a";b.txt'):
        result = store.make_name(name)
        assert store.find_path(result).parent == store.folder
        store.find_path(result).write_text("")
        assert store.find(result) is not None, result
    assert store.find("../" + store.make_name("a.txt")) is None
    store.close()


def test_results_are_deleted_whether_anybody_asks_for_one_or_not() -> None:
    service = Service(make_pool()[0], results=ResultStore(seconds=0.1))
    with serve_on_port(service):
        path = service.results.find_path(service.results.make_name("a.txt"))
        path.write_text("")
        for _ in range(50):
            time.sleep(0.05)
            if not path.exists():
                break
        assert path.parent.is_dir()
        assert not path.exists()


def test_results_expire_and_end_with_the_server() -> None:
    store = ResultStore(seconds=0.05)
    name = store.make_name("a.txt")
    store.find_path(name).write_text("")
    assert store.find(name)
    time.sleep(0.1)
    assert store.find(name) is None
    folder = store.folder
    assert folder.stat().st_mode & 0o077 == 0
    store.close()
    assert not folder.exists()


def write_result(store: ResultStore, name: str, *, age: float = 0.0, size: int = 1) -> Path:
    path = store.find_path(store.make_name(name))
    path.write_bytes(bytes(size))
    os.utime(path, (time.time() - age,) * 2)
    return path


def test_results_are_bounded_together_and_the_oldest_goes_first() -> None:
    store = ResultStore(most_bytes=100)
    old, young = write_result(store, "old.txt", age=20, size=60), write_result(store, "young.txt", age=10, size=60)
    assert store.find(old.name) is None and store.find(young.name) == young
    small = write_result(store, "small.txt", size=40)
    assert store.find(small.name) == small and store.find(young.name) == young
    store.close()


def test_results_may_be_renamed_while_others_are_deleted(monkeypatch: pytest.MonkeyPatch) -> None:
    store = ResultStore()
    gone, here = write_result(store, "gone.txt"), write_result(store, "here.txt")
    names = [gone, here, store.find_path(f".{here.name}.123.partial")]
    old = write_result(store, "old.txt", age=1_000)
    unfinished = store.find_path(f".{here.name}.77.partial")  # of a document that takes longer than results are kept
    unfinished.write_text("")
    os.utime(unfinished, (0, 0))
    gone.unlink()
    monkeypatch.setattr(Path, "iterdir", lambda folder: iter([*names, old, unfinished]))
    assert store.find(here.name) == here
    assert unfinished.exists() and not old.exists()
    store.close()
