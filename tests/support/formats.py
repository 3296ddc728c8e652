"""Files in the formats of corpora, read by the readers that `nmt prepare` has."""

from pathlib import Path
from typing import Any

import pytest

from nmt_cli.errors import DataError
from nmt_cli.formats.inputs import CorpusFile, ReadOptions
from nmt_cli.formats.opening import open_reader
from nmt_cli.formats.reader import Row

TMX = """<?xml version="1.0"?>
<!DOCTYPE tmx SYSTEM "tmx14.dtd">
<tmx version="1.4"><header srclang="en-US"/><body>
{}
</body></tmx>"""
UNIT = '<tu><tuv xml:lang="de"><seg>{}</seg></tuv>\n<tuv xml:lang="en-US"><seg>{}</seg></tuv></tu>'


def rows(path: Path, data: bytes | str, **options: Any) -> list[Row]:
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return list(open_reader(CorpusFile(path), ReadOptions(**options)))


def texts(path: Path, data: bytes | str, **options: str) -> list[tuple[str, str]]:
    return [(row.source, row.target) for row in rows(path, data, **options)]


def refusal(path: Path, data: bytes | str, **options: str) -> str:
    with pytest.raises(DataError) as caught:
        rows(path, data, **options)
    assert str(path) in caught.value.message
    return f"{caught.value.message}\n{caught.value.hint}"
