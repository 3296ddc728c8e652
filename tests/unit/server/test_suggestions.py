"""Corrections that clients send: the pairs that they become, and the memory that they are in at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from nmt_cli.api.translator import LoadedTranslator
from nmt_cli.errors import OutputError
from nmt_cli.languages.codes import find_language
from nmt_cli.server import suggestions
from nmt_cli.server.models import ModelPool, ServedModel
from nmt_cli.server.service import Service
from nmt_cli.server.suggestions import SuggestionFile
from nmt_cli.translation.memory.lookup import TranslationMemory
from support.fakes import FakeTranslator, make_card
from support.served import Client, make_pool


def test_a_correction_becomes_a_pair(tmp_path: Path) -> None:
    pool, _ = make_pool()
    values = {"q": "hello\tyou\nbye", "s": "hallo du\ntschüs", "source": "en", "target": "de"}
    assert Client(Service(pool)).post("/suggest", json=values).status_code == 403
    client = Client(Service(pool, suggestions=SuggestionFile(tmp_path / "s.tsv")))
    assert client.ask("/suggest", **values) == {"success": True}
    assert client.ask("/suggest", **{**values, "q": "one\nline", "s": "eine Zeile"}) == {"success": True}
    text = (tmp_path / "s.tsv").read_text(encoding="utf-8")
    assert text == "hello you\thallo du\nbye\ttschüs\none line\teine Zeile\n"
    assert client.post("/suggest", json={**values, "s": " "}).status_code == 400


def test_a_correction_has_no_control_characters(tmp_path: Path) -> None:
    client = Client(Service(make_pool()[0], suggestions=SuggestionFile(tmp_path / "s.tsv")))
    controls = "".join(map(chr, [*range(32), *range(127, 160), 0x2028, 0x2029]))
    values = {"q": f"a{controls}b \x1b]0;title\x07", "s": "c\x9b31md", "source": "en", "target": "de"}
    assert client.ask("/suggest", **values) == {"success": True}
    assert (tmp_path / "s.tsv").read_text(encoding="utf-8") == "a b ]0;title\tc 31md\n"


def test_corrections_are_refused_above_their_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suggestions, "MOST_BYTES", 12)
    client = Client(Service(make_pool()[0], suggestions=SuggestionFile(tmp_path / "s.tsv")))
    values = {"q": "a", "s": "b", "source": "en", "target": "de"}
    answers = [client.post("/suggest", json=values).status_code for _ in range(5)]
    assert answers == [200, 200, 200, 507, 507]
    assert (tmp_path / "s.tsv").read_bytes() == b"a\tb\n" * 3


@pytest.mark.parametrize(("before", "after"), [("", ""), ("a", "a\n"), ("a\tb", "a\tb\n"), ("a\tb\n", "a\tb\n")])
def test_a_correction_begins_a_line_after_whatever_is_in_the_file(tmp_path: Path, before: str, after: str) -> None:
    (tmp_path / "s.tsv").write_text(before, encoding="utf-8")
    SuggestionFile(tmp_path / "s.tsv").append(make_pool()[0].models[0], "c", "d")
    assert (tmp_path / "s.tsv").read_text(encoding="utf-8") == f"{after}c\td\n"


def test_an_unwritable_file_of_corrections_is_an_error_at_the_start(tmp_path: Path) -> None:
    for path in (tmp_path / "none" / "s.tsv", tmp_path):
        with pytest.raises(OutputError, match="--suggestions"):
            SuggestionFile(path).require_folder()
    SuggestionFile(tmp_path / "s.tsv").require_folder()
    gone = Client(Service(make_pool()[0], suggestions=SuggestionFile(tmp_path / "none" / "s.tsv")))
    assert gone.post("/suggest", json={"q": "a", "s": "b", "source": "en", "target": "de"}).status_code == 507


def test_corrections_of_several_directions_have_a_file_each(tmp_path: Path) -> None:
    pool, _ = make_pool(("eng", "deu"), ("deu", "eng"))
    client = Client(Service(pool, suggestions=SuggestionFile(tmp_path / "s.tsv", by_direction=True)))
    client.ask("/suggest", q="a", s="b", source="de", target="en")
    assert [path.name for path in tmp_path.iterdir()] == ["s.de-en.tsv"]


def make_learning_client(path: Path, *directions: tuple[str, str]) -> Client:
    """A client of a server that keeps corrections in a file, and has recalled those that are there."""
    pool, _ = make_pool(*directions)
    for model in pool.models:
        model.memory = TranslationMemory(model.card.languages[1])
    suggestions = SuggestionFile(path, by_direction=len(pool.models) > 1)
    suggestions.recall(pool.models)
    return Client(Service(pool, suggestions=suggestions))


def test_a_correction_is_in_the_memory_at_once_and_after_a_restart(tmp_path: Path) -> None:
    both = ("eng", "deu"), ("deu", "eng")
    client = make_learning_client(tmp_path / "s.tsv", *both)
    client.ask("/suggest", q="Open 2 files.", s="Öffne 2 Dateien.", source="en", target="de")
    client.ask("/suggest", q="Save it.", s="falsch", source="en", target="de")
    client.ask("/suggest", q="Save it.", s="Speichere es.", source="en", target="de")
    for each in (client, make_learning_client(tmp_path / "s.tsv", *both)):
        there, back = (model.memory for model in each.service.pool.models)
        assert there is not None and back is not None and not len(back)
        recalled = [there.find(text) for text in ("Save it.", "Open 3 files.")]
        assert recalled == [("Speichere es.", "memory"), ("Öffne 3 Dateien.", "memory_numbers")]


def test_a_near_correction_is_offered_and_not_used(tmp_path: Path) -> None:
    client = make_learning_client(tmp_path / "s.tsv")
    client.ask("/suggest", q="Save the file now.", s="Speichere die Datei jetzt.", source="en", target="de")
    values = {"q": "Save the new file now.", "source": "en", "target": "de"}
    answer = client.ask("/translate", **values, alternatives=2)
    assert answer["translatedText"] == "SAVE THE NEW FILE NOW."
    assert answer["alternatives"] == ["Speichere die Datei jetzt."]
    assert "alternatives" not in client.ask("/translate", **values)
    (line,) = client.ask("/page/translate", **values)["lines"]
    assert (line["text"], line["alternatives"]) == ("SAVE THE NEW FILE NOW.", ["Speichere die Datei jetzt."])


def make_tagged_client(path: Path) -> Client:
    """A client of one model of two languages and registers, whose server keeps corrections and has recalled them."""
    card = make_card("eng", "deu", tags={">deu": 5, ">nld": 5, "formal": 5, "informal": 5})
    model = ServedModel(Path("model"), card, find_language("eng"), find_language("deu"), size=100)
    loaded = LoadedTranslator(FakeTranslator(card), Path("model"), {})  # type: ignore[arg-type]
    pool = ModelPool(model.list_directions(), lambda path: loaded)
    for direction in pool.models:
        direction.memory = TranslationMemory(direction.card.languages[1])
    suggestions = SuggestionFile(path, by_direction=True)
    suggestions.recall(pool.models)
    return Client(Service(pool, suggestions=suggestions))


def test_a_correction_has_the_tags_that_it_was_asked_for_with(tmp_path: Path) -> None:
    (tmp_path / "s.en-de.tsv").write_text("Go.\tLos.\n", encoding="utf-8")
    client = make_tagged_client(tmp_path / "s.tsv")
    client.ask("/suggest", q="Sit.", s="Setz dich.", source="en", target="de")
    client.ask("/suggest", q="Sit.", s="Setzen Sie sich.", source="en", target="de", formality="more")
    client.ask("/suggest", q="Sit.", s="Ga zitten.", source="en", target="nl")
    assert client.post("/suggest", json={"q": "a", "s": "b", "source": "en", "target": "de", "formality": "x"}).is_error
    corrections = "Go.\tLos.\nSit.\tSetz dich.\nSit.\tSetzen Sie sich.\tformal\n"
    assert (tmp_path / "s.en-de.tsv").read_text(encoding="utf-8") == f"source\ttarget\ttags\n{corrections}"
    assert (tmp_path / "s.en-nl.tsv").read_text(encoding="utf-8") == "source\ttarget\ttags\nSit.\tGa zitten.\t>nld\n"
    asked = [("de", "default"), ("de", "more"), ("de", "less"), ("nl", "default"), ("nl", "more")]
    expected = ["Setz dich.", "Setzen Sie sich.", "Setz dich.", "Ga zitten.", "Ga zitten."]
    for each in (client, make_tagged_client(tmp_path / "s.tsv")):
        for (target, formality), text in zip(asked, expected, strict=True):
            each.ask("/translate", q="Sit.", source="en", target=target, formality=formality)
            translator = each.service.pool.open(each.service.pool.models[0])
            assert translator._translator.memories[-1].memory.find("Sit.").text == text  # type: ignore[attr-defined]
