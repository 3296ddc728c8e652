from __future__ import annotations

import pytest

from nmt_cli.errors import OptionError
from nmt_cli.text.tags import (
    Tag,
    TagPurpose,
    merge_tags,
    parse_tag_list,
    parse_tag_name,
    replace_languages,
    reverse_tags,
)


@pytest.mark.parametrize(
    ("text", "tag", "spelling"),
    [
        (">nld", Tag(TagPurpose.TARGET, "nld"), ">nld"),
        ("to:pt-BR", Tag(TagPurpose.TARGET, "pt-BR"), ">pt-BR"),
        ("nld>", Tag(TagPurpose.SOURCE, "nld"), "nld>"),
        ("from:nld", Tag(TagPurpose.SOURCE, "nld"), "nld>"),
        ("UI", Tag(TagPurpose.DOMAIN, "ui"), "ui"),
        ("Formal", Tag(TagPurpose.REGISTER, "formal"), "formal"),
        ("⟦informal⟧", Tag(TagPurpose.REGISTER, "informal"), "informal"),
    ],
)
def test_a_tag_says_by_its_spelling_what_it_decides(text: str, tag: Tag, spelling: str) -> None:
    assert parse_tag_name(text) == tag
    assert (str(tag), tag.piece) == (spelling, f"⟦{spelling}⟧")
    assert parse_tag_name(str(tag)) == parse_tag_name(tag.piece) == tag


@pytest.mark.parametrize("text", ["", "0", ">", "two words", "a.b", ">nld>", "=x", "x" * 40])
def test_what_is_no_tag_is_refused(text: str) -> None:
    with pytest.raises(OptionError, match="is no tag"):
        parse_tag_name(text)


@pytest.mark.parametrize(
    ("cell", "names"),
    [("", ""), (" ui ", "ui"), ("nl, ui;formal", ">nl ui formal"), ("med", "med"), ("formal to:tpi", ">tpi formal")],
)
def test_a_cell_has_several_tags_and_codes_of_common_languages(cell: str, names: str) -> None:
    assert " ".join(map(str, parse_tag_list(cell))) == names


def test_of_one_kind_the_last_group_decides_and_one_group_has_one() -> None:
    assert merge_tags(parse_tag_list("to:de ui"), parse_tag_list("to:nl formal")) == parse_tag_list("to:nl ui formal")
    with pytest.raises(OptionError, match="ui and help are both a domain"):
        parse_tag_list("ui help")


def test_in_the_other_direction_languages_swap_and_the_register_goes() -> None:
    assert reverse_tags(parse_tag_list("to:nl ui formal")) == parse_tag_list("from:nl ui")
    assert reverse_tags(parse_tag_list("from:nl")) == parse_tag_list("to:nl")


def test_tags_name_the_languages_in_place_of_the_usual_ones() -> None:
    assert replace_languages(("en", "de"), parse_tag_list("to:nl ui")) == ("en", "nl")
    assert replace_languages(("en", "de"), parse_tag_list("from:fr")) == ("fr", "de")
    assert replace_languages(("en", "de"), ()) == ("en", "de")
