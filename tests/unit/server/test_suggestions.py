"""Suggestions that clients send: what is kept of them, what a start reads again, and the memory that they are in."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nmt_cli.api.open_model import load_memory
from nmt_cli.api.translator import Translator
from nmt_cli.errors import DataError, OutputError
from nmt_cli.formats.jsonl import SuggestedPair, write_heading
from nmt_cli.languages.codes import find_language
from nmt_cli.server import stores
from nmt_cli.server.admission import Limits
from nmt_cli.server.models import ModelPool, ServedModel
from nmt_cli.server.service import Service
from nmt_cli.server.stores import SuggestionFile
from nmt_cli.text.streams import MAXIMUM_LINE
from nmt_cli.translation.memory.lookup import TranslationMemory
from support.fakes import FakeTranslator, make_card
from support.served import Client, make_pool

HEADING = write_heading(("eng", "deu"))
PAIR = {"source": "en", "target": "de"}


def read_kept(path: Path) -> list[tuple[str, str]]:
    """The pairs below the heading of a file."""
    heading, *lines = path.read_bytes().splitlines(keepends=True)
    assert heading == HEADING and all(line.endswith(b"\n") for line in lines)
    return [(value["source"], value["target"]) for value in map(json.loads, lines)]


def make_client(path: Path, **limits: int) -> Client:
    """A client of a server that keeps suggestions, but uses none."""
    chosen = Limits(**limits)  # type: ignore[arg-type]
    return Client(Service(make_pool()[0], chosen, suggestions=SuggestionFile(path, limits=chosen)))


def test_a_suggestion_becomes_a_pair(tmp_path: Path) -> None:
    values = {"q": "hello\tyou\nbye", "s": "hallo du\ntschüs", **PAIR}
    assert Client(Service(make_pool()[0])).post("/suggest", json=values).status_code == 403
    client = make_client(tmp_path / "s.jsonl")
    assert client.ask("/suggest", **values) == {"success": True}
    assert client.ask("/suggest", **{**values, "q": "one\nline", "s": "eine Zeile"}) == {"success": True}
    expected = [("hello you", "hallo du"), ("bye", "tschüs"), ("one line", "eine Zeile")]
    assert read_kept(tmp_path / "s.jsonl") == expected


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("a", " "),
        ("", "b"),
        ("\u200b", "b"),
        ("a", "\x1b\u2028\u200e"),
        ("a\n\nb", "c\nd\ne"),
        ("\0", "\0"),
        ("\n", "\n"),
    ],
)
def test_a_suggestion_without_a_text_on_one_side_leaves_no_byte(tmp_path: Path, source: str, target: str) -> None:
    answer = make_client(tmp_path / "s.jsonl").post("/suggest", json={"q": source, "s": target, **PAIR})
    assert (answer.status_code, answer.json()["error"]) == (400, "a correction needs a text and a translation")
    assert not (tmp_path / "s.jsonl").exists()


def test_a_suggestion_has_no_control_characters(tmp_path: Path) -> None:
    controls = "".join(map(chr, [*range(32), *range(127, 160), 0x2028, 0x2029]))
    values = {"q": f"a{controls}b \x1b]0;title\x07", "s": "c\x9b31md", **PAIR}
    assert make_client(tmp_path / "s.jsonl").ask("/suggest", **values) == {"success": True}
    assert read_kept(tmp_path / "s.jsonl") == [("a b ]0;title", "c 31md")]


def test_suggestions_are_refused_above_their_limits(tmp_path: Path) -> None:
    line = SuggestedPair("a", "b").write()
    path, values = tmp_path / "s.jsonl", {"q": "a", "s": "b", **PAIR}
    client = make_client(path, suggestions=len(HEADING) + 3 * len(line), suggestion=5)
    for side in ("q", "s"):
        assert client.post("/suggest", json={**values, side: "b" * 6}).status_code == 413
        assert (
            client.post("/suggest", json={**values, "q": "a\nb", "s": "c\nd", side: f"a\n{'b' * 6}"}).status_code == 413
        )
    assert not path.exists()
    assert [client.post("/suggest", json=values).status_code for _ in range(5)] == [200, 200, 200, 507, 507]
    assert path.read_bytes() == HEADING + 3 * line


def test_a_client_keeps_as_many_suggestions_as_it_may_on_a_day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    client, values = make_client(tmp_path / "s.jsonl", client_suggestions=3), {"q": "a\nb", "s": "c\nd", **PAIR}
    assert [client.post("/suggest", json=values).status_code for _ in range(2)] == [200, 429]
    assert len(read_kept(tmp_path / "s.jsonl")) == 2
    file = client.service.suggestions
    assert file is not None
    file.append(client.service.pool.models[0], "a\nb", "c\nd", client="key of another")
    monkeypatch.setattr(stores.time, "time", lambda: (file.day + 1) * 86_400.0)
    assert client.post("/suggest", json=values).status_code == 200


WHOLE = SuggestedPair("a", "b").write()


@pytest.mark.parametrize(
    ("before", "kept"),
    [
        (b"", HEADING),
        (HEADING[:-1], HEADING),
        (HEADING[:20], HEADING),
        (HEADING, HEADING),
        (
            b"\xef\xbb\xbf" + HEADING.replace(b"\n", b"\r\n") + WHOLE,
            b"\xef\xbb\xbf" + HEADING.replace(b"\n", b"\r\n") + WHOLE,
        ),
        (HEADING + WHOLE, HEADING + WHOLE),
        (HEADING + WHOLE[:-1], HEADING + WHOLE),
        (HEADING + WHOLE + WHOLE[:9], HEADING + WHOLE),
        (HEADING + WHOLE + '{"source": "ä'.encode()[:-1], HEADING + WHOLE),
        (HEADING + b"damaged\n", HEADING + b"damaged\n"),
    ],
)
def test_a_suggestion_begins_a_line_after_all_complete_ones(tmp_path: Path, before: bytes, kept: bytes) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(before)
    SuggestionFile(path).append(make_pool()[0].models[0], "c", "d")
    assert path.read_bytes() == kept + SuggestedPair("c", "d").write()


@pytest.mark.parametrize("room", range(0, 200, 7))
def test_a_full_disk_leaves_the_file_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room: int) -> None:
    class FullDisk:
        """The file of a disk on which there is room for a few bytes more."""

        def __init__(self, file: Any) -> None:
            self.file, self.room = file, room

        def __getattr__(self, name: str) -> Any:
            return getattr(self.file, name)

        def __enter__(self) -> FullDisk:
            return self

        def __exit__(self, *_: object) -> None:
            self.file.close()

        def write(self, data: bytes) -> int:
            if not self.room:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            written = self.file.write(data[: self.room])
            self.room -= written
            return int(written)

    path = tmp_path / "s.jsonl"
    client = make_client(path)
    client.ask("/suggest", q="a", s="b", **PAIR)
    monkeypatch.setattr(stores, "open", lambda *args, **how: FullDisk(open(*args, **how)), raising=False)
    values = {"q": "x" * 60 + "\nc", "s": "y" * 60 + "\nd", **PAIR}
    is_kept = room >= len(SuggestedPair("x" * 60, "y" * 60).write() + SuggestedPair("c", "d").write())
    assert client.post("/suggest", json=values).status_code == (200 if is_kept else 507)
    assert len(read_kept(path)) == (3 if is_kept else 1)


def test_an_unwritable_file_of_suggestions_is_an_error_at_the_start(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "none" / "s.jsonl", tmp_path, tmp_path / "pipe"):
        with pytest.raises(OutputError, match="--suggestions"):
            SuggestionFile(path).require_folder()
    SuggestionFile(tmp_path / "s.jsonl").require_folder()
    gone = Client(Service(make_pool()[0], suggestions=SuggestionFile(tmp_path / "none" / "s.jsonl")))
    assert gone.post("/suggest", json={"q": "a", "s": "b", **PAIR}).status_code == 507


OTHERS = {
    "a table": b"Hello.\tHallo.\n",
    "a table with headings": b"en\tde\nHello.\tHallo.\n",
    "earlier corrections with tags": b"source\ttarget\ttags\nSit.\tSetz dich.\tformal\n",
    "JSON Lines": b'{"source": "Hello.", "target": "Hallo."}\n',
    "a later format": HEADING.replace(b"suggestions 1", b"suggestions 2"),
    "other languages": write_heading(("fra", "deu")),
    "the other direction": write_heading(("deu", "eng")),
}


@pytest.mark.parametrize("name", OTHERS)
def test_a_file_without_that_heading_is_neither_read_nor_written(tmp_path: Path, name: str) -> None:
    path = tmp_path / "s.tsv"
    path.write_bytes(OTHERS[name])
    with pytest.raises(DataError) as caught:
        SuggestionFile(path).recall(make_pool()[0].models, print)
    assert "name" in caught.value.hint
    answer = make_client(path).post("/suggest", json={"q": "a", "s": "b", **PAIR})
    assert (answer.status_code, path.read_bytes()) == (507, OTHERS[name])


def test_a_start_goes_on_without_damaged_lines_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    damaged = [b"{", b"\xff\xfe", b"[1]", b'{"source": "a"}', b'{"source": "a", "target": " "}', b"\0", b"[" * 5_000]
    damaged += [b'{"source": "a", "target": "b", "tags": ["!"]}', b'"' + b"a" * (2 * MAXIMUM_LINE)]
    lines = [HEADING, *(line + b"\n" + SuggestedPair(f"a{n}", f"b{n}").write() for n, line in enumerate(damaged))]
    path.write_bytes(b"".join([*lines, b"\n", SuggestedPair("cut", "off").write()[:-4]]))
    said: list[str] = []
    client = make_learning_client(path, report=said.append)
    memory = client.service.pool.models[0].memory
    assert memory is not None and list(memory.targets.values()) == [f"b{n}" for n in range(len(damaged))]
    assert said[0] == f"{path}, line 2: this correction is incomplete, and was skipped"
    assert len(said) == 4 and said[-1].startswith(f"{path}: {len(damaged) + 1} lines")


SIGNS = st.sampled_from(
    ["\t", "\n", "\r\n", "\0", "\ud83d", "\ufeff", "\u2028", '"', "\\", "&", "_", "1", "€", "\x1b", "\u200b"]
)
WORDS = st.sampled_from('source target en de eng deu English German tags formal {"format": #'.split())
TEXTS = st.lists(st.one_of(SIGNS, WORDS, st.text(st.characters(exclude_categories=()), max_size=5)), max_size=6)
SENT = st.tuples(TEXTS.map("".join), TEXTS.map("".join), st.sampled_from(["default", "more"]))


@settings(max_examples=60, deadline=None)
@given(st.lists(SENT, max_size=6), st.lists(SENT, max_size=3))
def test_whatever_was_suggested_is_answered_alike_after_a_restart(
    sent: list[tuple[str, str, str]], later: list[tuple[str, str, str]]
) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "s.tsv"
        first = suggest_all(make_tagged_client(path), sent)
        again = make_tagged_client(path)
        assert list_answers(first, sent) == list_answers(again, sent)
        suggest_all(again, later)
        suggest_all(first, [])
        third = make_tagged_client(path)
        assert list_answers(again, sent + later) == list_answers(third, sent + later)
        file = path.with_name("s.en-de.tsv")
        if file.exists():
            memory, known = load_memory([file], ("eng", "deu")), third.service.pool.models[0].memory
            assert known is not None and memory.targets == known.targets
            turned = load_memory([file], ("deu", "eng"))
            assert set(turned.targets.values()) <= {pair["source"] for pair in list_lines(file)}


def list_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n")[1:] if line]


def suggest_all(client: Client, sent: list[tuple[str, str, str]]) -> Client:
    for source, target, formality in sent:
        body = json.dumps({"q": source, "s": target, "formality": formality, **PAIR})
        assert client.post("/suggest", content=body).status_code in (200, 400)
    return client


def list_answers(client: Client, sent: list[tuple[str, str, str]]) -> list[Any]:
    """What the memory of each register has for the texts, for others like them, and which it has in order."""
    memory = client.service.pool.models[0].memory
    assert memory is not None
    each = [memory, *memory.by_register.values()]
    texts = [text for source, _, _ in sent for text in (source, *source.splitlines(), f"{source} 2", f"new {source}")]
    return [
        [list(one.targets.items()) for one in each],
        [(one.find(t), one.find_near(t, 3)) for one in each for t in texts],
    ]


def test_suggestions_are_known_by_their_heading_wherever_pairs_are_read(tmp_path: Path) -> None:
    path = tmp_path / "fra-spa.tsv"
    for source, target in (("deu", "eng"), ("source", "target"), ("English", "German"), ("de", "en")):
        SuggestionFile(path).append(make_pool()[0].models[0], source, target)
    memory = load_memory([path], ("en", "de"))
    assert memory.targets == {"deu": "eng", "source": "target", "English": "German", "de": "en"}
    assert load_memory([path], ("de", "en")).targets == {right: left for left, right in memory.targets.items()}
    with pytest.raises(DataError, match="eng -> deu"):
        load_memory([path], ("fra", "deu"))
    path.write_bytes(path.read_bytes() + WHOLE[:9])
    assert load_memory([path], ("eng", "deu")).targets == memory.targets
    path.write_bytes(path.read_bytes() + b"\n" + WHOLE)
    with pytest.raises(DataError, match="row 6: not a correction"):
        load_memory([path], ("eng", "deu"))


def test_corrections_of_several_directions_have_a_file_each(tmp_path: Path) -> None:
    pool, _ = make_pool(("eng", "deu"), ("deu", "eng"))
    client = Client(Service(pool, suggestions=SuggestionFile(tmp_path / "s.tsv", by_direction=True)))
    client.ask("/suggest", q="a", s="b", source="de", target="en")
    assert [path.name for path in tmp_path.iterdir()] == ["s.de-en.tsv"]


def make_learning_client(path: Path, *directions: tuple[str, str], report: Any = print) -> Client:
    """A client of a server that keeps corrections in a file, and has recalled those that are there."""
    pool, _ = make_pool(*directions)
    for model in pool.models:
        model.memory = TranslationMemory(model.card.languages[1])
    file = SuggestionFile(path, by_direction=len(pool.models) > 1)
    file.recall(pool.models, report)
    return Client(Service(pool, suggestions=file))


def test_a_correction_is_in_the_memory_at_once_and_after_a_restart(tmp_path: Path) -> None:
    both = ("eng", "deu"), ("deu", "eng")
    client = make_learning_client(tmp_path / "s.tsv", *both)
    client.ask("/suggest", q="Open 2 files.", s="Öffne 2 Dateien.", source="en", target="de")
    client.ask("/suggest", q="Save it.", s="falsch", source="en", target="de")
    client.ask("/suggest", q="Save it.", s="Speichere es.", source="en", target="de")
    for each in (client, make_learning_client(tmp_path / "s.tsv", *both)):
        there, back = (model.memory for model in each.service.pool.models)
        assert there is not None and back is not None and not len(back)
        recalled = [(there.find(text) or ())[1:3] for text in ("Save it.", "Open 3 files.")]
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
    loaded = Translator(FakeTranslator(card), Path("model"), {})  # type: ignore[arg-type]
    pool = ModelPool(model.list_directions(), lambda path: loaded)
    for direction in pool.models:
        direction.memory = TranslationMemory(direction.card.languages[1])
    file = SuggestionFile(path, by_direction=True)
    file.recall(pool.models, print)
    return Client(Service(pool, suggestions=file))


def test_a_correction_has_the_tags_that_it_was_asked_for_with(tmp_path: Path) -> None:
    client = make_tagged_client(tmp_path / "s.tsv")
    client.ask("/suggest", q="Sit.", s="Setz dich.", source="en", target="de")
    client.ask("/suggest", q="Sit.", s="Setzen Sie sich.", source="en", target="de", formality="more")
    client.ask("/suggest", q="Sit.", s="Ga zitten.", source="en", target="nl")
    assert client.post("/suggest", json={"q": "a", "s": "b", "source": "en", "target": "de", "formality": "x"}).is_error
    kept = [(line["target"], line.get("tags")) for line in list_lines(tmp_path / "s.en-de.tsv")]
    assert kept == [("Setz dich.", None), ("Setzen Sie sich.", ["formal"])]
    assert list_lines(tmp_path / "s.en-nl.tsv") == [{"source": "Sit.", "target": "Ga zitten.", "tags": [">nld"]}]
    asked = [("de", "default"), ("de", "more"), ("de", "less"), ("nl", "default"), ("nl", "more")]
    expected = ["Setz dich.", "Setzen Sie sich.", "Setz dich.", "Ga zitten.", "Ga zitten."]
    for each in (client, make_tagged_client(tmp_path / "s.tsv")):
        for (target, formality), text in zip(asked, expected, strict=True):
            each.ask("/translate", q="Sit.", source="en", target=target, formality=formality)
            translator = each.service.pool.open(each.service.pool.models[0])
            assert translator._translator.memories[-1].find("Sit.").text == text  # type: ignore[attr-defined]
