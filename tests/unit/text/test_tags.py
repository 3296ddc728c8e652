import pytest

from nmt_cli.errors import OptionError
from nmt_cli.text.tags import (
    Tag,
    TagPurpose,
    merge_tags,
    parse_stored_tags,
    parse_tag_list,
    parse_tag_name,
    parse_typed_tag,
    replace_languages,
    resolve_language,
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
    with pytest.raises(OptionError, match="is not a tag"):
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


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        *(("shp", ">shp"), ("Shipibo", ">shp"), ("to:Rarámuri", ">tar"), ("from:Spanish", "es>")),
        *(("law", "law"), ("to:law", ">law"), ("domain:shp", "shp"), ("help", "help"), ("ui", "ui")),
    ],
)
def test_a_typed_word_is_a_language_by_its_code_or_name_unless_it_rather_is_a_domain(typed: str, name: str) -> None:
    assert str(parse_typed_tag(typed)) == name


def test_a_stored_domain_stays_one_though_it_is_a_code() -> None:
    tags = parse_tag_list("domain:shp to:tar")
    assert parse_stored_tags(" ".join(map(str, tags))) == tags


def test_a_name_of_several_languages_is_refused_with_their_codes() -> None:
    with pytest.raises(OptionError, match="Tarahumara may be one of 5 languages") as error:
        resolve_language("Tarahumara")
    assert "tar (Central Tarahumara)" in str(error.value.hint)
    assert [resolve_language(code) for code in ("deu", "pt-BR", "xx", "Elbonian")] == ["deu", "pt-BR", "xx", "Elbonian"]
