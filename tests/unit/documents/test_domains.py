"""What a program shows is translated in its own words, where a model knows them."""

import io

import pytest

from nmt_cli.documents import open_document
from nmt_cli.documents.config import DocumentOptions
from nmt_cli.documents.document import DocumentSource
from nmt_cli.search.config import SearchOptions
from nmt_cli.text.tags import parse_tag_list
from nmt_cli.translation.config import TranslateOptions
from nmt_cli.translation.lines import group_by_tags
from nmt_cli.translation.request import Block

PAGE = """<html><body><nav><ul><li>Home</li></ul></nav><p>A text.</p>
<table><tr><td>Cell</td></tr></table><p>More.</p><select><option>Choice</option></select></body></html>"""


def list_domains(name: str, text: str, **options: str) -> dict[str, str]:
    """The domain of each text of a document."""
    source = DocumentSource(io.BytesIO(text.encode()), name, DocumentOptions(**options), "de")  # type: ignore[arg-type]
    units = open_document(name, source).read_with_domain()
    return {text: unit.domain for unit in units for text in unit.texts}


BUTTONS = (
    '<form><button>Save</button><label>Name</label><input type="submit" value="Go"></form>'
    '<p>Press <button>OK</button> now.</p><p><img alt="Dog"></p>'
)


@pytest.mark.parametrize(
    ("name", "text", "domains"),
    [
        ("text", "A line.\n", {"A line.": ""}),
        ("po", 'msgid "Open"\nmsgstr ""\n', {"Open": "ui"}),
        ("properties", "open=Open\n", {"Open": "ui"}),
        ("html", BUTTONS, {"Save": "ui", "Name": "ui", "Go": "ui", "Press  now.": "", "OK": "", "Dog": ""}),
        ("html", PAGE, {"Home": "ui", "A text.": "", "Cell": "ui", "More.": "", "Choice": "ui"}),
    ],
)
def test_catalogues_cells_and_menus_are_of_programs(name: str, text: str, domains: dict[str, str]) -> None:
    assert list_domains(name, text) == domains


def test_a_column_of_a_table_is_of_programs() -> None:
    assert list_domains("tsv", "id\ttext\n1\tOpen\n", column="text") == {"Open": "ui"}


@pytest.mark.parametrize(
    ("asked", "known", "tags"),
    [("", {"ui"}, ["ui", ""]), ("help", {"ui"}, ["help"]), ("to:nl", {"ui"}, [">nl ui", ">nl"]), ("", set(), [""])],
)
def test_a_domain_is_added_where_the_model_knows_it_and_none_is_asked_for(
    asked: str, known: set[str], tags: list[str]
) -> None:
    options = TranslateOptions(SearchOptions(tags=parse_tag_list(asked)), known_domains=frozenset(known))
    block = Block(0, ("open", "a text", "save"), ("ui", "", "ui"))
    groups = group_by_tags(block.lay_out(options), options.search.tags)
    assert [" ".join(map(str, own)) for own in groups] == tags
    assert sorted(row for rows in groups.values() for row in rows) == [0, 1, 2]
