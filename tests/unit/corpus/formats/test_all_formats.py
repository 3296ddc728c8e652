"""What holds for every format."""

import csv
import io
import json
from xml.sax.saxutils import escape

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nmt_cli.corpus.formats import READERS
from nmt_cli.corpus.formats.reader import Row
from nmt_cli.errors import NmtError
from support.formats import TMX, UNIT, rows, texts

SENTENCES = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufeff"), max_size=30)


def empty_blanks(pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(source if source.strip() else "", target if target.strip() else "") for source, target in pairs]


@given(st.lists(st.tuples(SENTENCES, SENTENCES), min_size=1, max_size=12))
@example([("", " ")])
def test_every_format_gives_back_what_was_written(tmp_path_factory: pytest.TempPathFactory, pairs: list) -> None:
    """A text of blanks alone may come back as an empty one, which says as much."""
    folder = tmp_path_factory.mktemp("formats")
    table = io.StringIO()
    csv.writer(table, quoting=csv.QUOTE_ALL).writerows([("source", "target"), *pairs])
    written = {
        "tsv": "".join(f"{a}\t{b}\n" for a, b in pairs),
        "csv": table.getvalue(),
        "jsonl": "".join(json.dumps({"source": a, "target": b}) + "\n" for a, b in pairs),
        "tmx": TMX.format("".join(UNIT.format(escape(b), escape(a)) for a, b in pairs)),
    }
    for name, data in written.items():
        if name == "tmx" and any(ord(c) in (0xFFFE, 0xFFFF) for c in data):
            continue  # XML cannot hold them
        assert empty_blanks(texts(folder / f"a.{name}", data)) == empty_blanks(pairs), name


@given(name=st.sampled_from(sorted(READERS)), data=st.one_of(st.binary(max_size=300), st.text(max_size=200)))
def test_any_bytes_end_in_rows_or_in_an_error_of_ours(
    tmp_path_factory: pytest.TempPathFactory, name: str, data: bytes | str
) -> None:
    path = tmp_path_factory.mktemp("bytes") / f"a.{name}"
    try:
        assert all(isinstance(row, Row) for row in rows(path, data))
    except NmtError as error:
        assert error.message
