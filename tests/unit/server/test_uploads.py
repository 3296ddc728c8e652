"""Archives made to do harm, uploaded as documents: each has its status, and nothing is written where it should not."""

import errno
import io
import stat
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import pytest

from nmt_cli.server.service import Service
from nmt_cli.translation.result import Translation
from support.archives import make_docx, pack, unpack
from support.served import Client, make_pool
from support.translations import louder

PARAGRAPH = "<w:p><w:r><w:t>hello you</w:t></w:r></w:p>"
DOCX = make_docx(PARAGRAPH)
VALUES = {"source": "en", "target": "de"}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of temporary files, in which nothing may be left."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    yield tmp_path
    assert not list(tmp_path.glob("**/upload*"))


def add_part(name: str, content: bytes, *, mode: int = 0) -> bytes:
    """The document with another part, whose entry has these modes of a file."""
    buffer = io.BytesIO(DOCX)
    with zipfile.ZipFile(buffer, "a", zipfile.ZIP_DEFLATED) as archive:
        info = zipfile.ZipInfo(name)
        info.external_attr = mode << 16
        archive.writestr(info, content, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def mark_encrypted(data: bytes) -> bytes:
    central = data.index(b"PK\x01\x02")
    return data[: central + 8] + bytes([data[central + 8] | 1]) + data[central + 9 :]


def declare_sizes(data: bytes, size: int) -> bytes:
    """The archive whose first entry claims to unpack to so many bytes."""
    central = data.index(b"PK\x01\x02")
    return data[: central + 24] + size.to_bytes(4, "little") + data[central + 28 :]


LAUGHS = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]>'
ATTACKS = {
    "a part that unpacks to a thousand times its size": ("docx", lambda: make_docx(PARAGRAPH * 400_000)),
    "a part that claims to be large": ("docx", lambda: declare_sizes(add_part("word/document2.xml", b""), 2**32 - 1)),
    "more parts than any document has": ("docx", lambda: pack({f"word/{number}": "" for number in range(50_001)})),
    "a path of the whole machine": ("docx", lambda: add_part("/etc/cron.d/x", b"x")),
    "a path that leads out": ("docx", lambda: add_part("word/../../x", b"x")),
    "a path of Windows that leads out": ("docx", lambda: add_part("word\\..\\..\\x", b"x")),
    "a drive": ("docx", lambda: add_part("C:/x", b"x")),
    "a part that appears twice": ("docx", lambda: add_part("word/document.xml", b"<x/>")),
    "an encrypted part": ("docx", lambda: mark_encrypted(DOCX)),
    "an archive in place of a document": ("docx", lambda: pack({"inner.docx": DOCX})),
    "entities that grow": ("docx", lambda: pack({"word/document.xml": f"{LAUGHS}<x>&b;</x>"})),
    "entities that grow, without an archive": (
        "xliff",
        lambda: f'<?xml version="1.0"?>{LAUGHS}<xliff>&b;</xliff>'.encode(),
    ),
    "an archive that ends early": ("docx", lambda: DOCX[:-60]),
    "no archive": ("epub", lambda: b"PK\x03\x04" + bytes(200)),
}


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_an_archive_that_is_not_safe_is_an_error_of_the_client(attack: str, folder: Path) -> None:
    suffix, make = ATTACKS[attack]
    response = Client().post("/translate_file", files={"file": (f"a.{suffix}", make())}, data=VALUES)
    assert response.status_code == 400, response.text
    error = response.json()["error"]
    assert error.startswith(f"a.{suffix}")
    assert str(folder) not in error


@pytest.mark.parametrize(("paragraph", "source"), [("bonjour", "fra"), ("hello", "eng")])
def test_the_language_of_a_document_is_detected_from_its_texts(
    paragraph: str, source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "nmt_cli.server.service.rank_languages", lambda text: {"fr" if "bonjour" in text else "en": 1.0}
    )
    pool, loaded = make_pool(("eng", "deu"), ("fra", "deu"))
    service = Service(pool)
    data = make_docx(PARAGRAPH.replace("hello you", "1") + PARAGRAPH.replace("hello you", paragraph))
    values = {"source": "auto", "target": "de"}
    answer = Client(service).post("/translate_file", files={"file": ("a.docx", data)}, data=values)
    assert (answer.status_code, [*map(str, loaded)]) == (200, [f"{source}-deu"])
    broken = Client(service).post("/translate_file", files={"file": ("a.docx", data[:-60])}, data=values)
    assert broken.status_code == 400 and broken.json()["error"].startswith("a.docx")


def test_the_page_can_ask_how_far_its_document_is() -> None:
    seen = []

    def look(text: str) -> Translation:
        seen.append(dict(service.progress))
        return louder(text)

    service = Service(make_pool(rule=look)[0])
    client = Client(service)
    service.progress["3-4"] = 5
    assert client.get("/page/progress", params={"job": "3-4"}).json() == {"texts": 5}
    files = {"file": ("a.txt", b"hello\n" * 700)}
    answer = client.post("/page/translate_file", files=files, data={**VALUES, "job": "1-2"}).json()
    assert (answer["texts"], answer["flagged"]) == (700, [])
    assert 0 < seen[-1]["1-2"] < 700 and "1-2" not in service.progress
    assert client.get("/page/progress", params={"job": "1-2"}).json() == {"texts": 0}


def test_a_full_disk_of_the_server_is_no_error_of_a_request(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(text: str) -> NoReturn:
        raise OSError(errno.ENOSPC, "No space left on device")

    said: list[str] = []
    service = Service(make_pool(("eng", "deu"), ("fra", "deu"))[0], report=said.append)
    monkeypatch.setattr("nmt_cli.server.service.rank_languages", fail)
    answer = Client(service).post("/detect", json={"q": "confidential"})
    reason = "this server cannot read or write a file: no space left on device"
    assert (answer.status_code, answer.json(), "Retry-After" in answer.headers) == (503, {"error": reason}, True)
    assert said == [f"POST /detect: {reason}"]


@pytest.mark.parametrize(
    ("name", "content", "mode"),
    [
        ("word/link", b"/etc/passwd", stat.S_IFLNK | 0o777),
        ("word/embeddings/inner.zip", pack({"../x": "x", "a": "b" * 100_000}), 0o644),
        ("word/media/large.bin", bytes(1 << 23), 0o644),
    ],
    ids=["link", "nested", "zeros"],
)
def test_parts_that_are_not_read_come_back_as_they_are(name: str, content: bytes, mode: int) -> None:
    client = Client()
    data = add_part(name, content, mode=mode)
    answer = client.post("/translate_file", files={"file": ("a.docx", data)}, data=VALUES)
    assert answer.status_code == 200, answer.text
    download = client.get(answer.json()["translatedFileUrl"].removeprefix("http://localhost"))
    parts = unpack(download.content)
    assert parts[name] == content
    assert b"HELLO YOU" in parts["word/document.xml"]
    with zipfile.ZipFile(io.BytesIO(download.content)) as archive:
        assert archive.getinfo(name).external_attr >> 16 == mode
